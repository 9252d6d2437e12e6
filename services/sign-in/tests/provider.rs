//! What a provider, or somebody who plays one, may say, over a real socket.

mod fake;

use countersign_domain::Secret;
use countersign_sign_in::{Answer, Provider, Round, Settings, SignInError};
use fake::{Claims, Fake};
use serde_json::{Value, json};

const ORIGIN: &str = "http://localhost:8480";

fn provider(fake: &Fake) -> Provider {
    let settings = Settings {
        issuer: fake.issuer(),
        client_id: "panel".into(),
        client_secret: Secret::new("shown-at-the-token-endpoint"),
    };
    Provider::new(&settings, ORIGIN).expect("settings")
}

/// What the address of the way there asks for.
struct Asked(url::Url);

impl Asked {
    fn value(&self, name: &str) -> String {
        self.0
            .query_pairs()
            .find(|(key, _)| key == name)
            .unwrap_or_else(|| panic!("{name} is asked for"))
            .1
            .into_owned()
    }
}

async fn asked(provider: &Provider, round: &Round) -> Asked {
    Asked(provider.way_there(round).await.expect("a way there"))
}

fn answer(members: Value) -> Answer {
    serde_json::from_value(members).expect("an answer")
}

/// Signs in with claims that `change` has been at.
async fn with_claims(change: impl FnOnce(&mut Claims)) -> Result<String, SignInError> {
    let fake = Fake::start().await;
    let provider = provider(&fake);
    let round = Round::begin();
    let asked = asked(&provider, &round).await;
    let mut claims = fake.claims(&asked.value("nonce"));
    change(&mut claims);
    fake.answer_with(&claims);
    let back = answer(json!({"code": "c", "state": asked.value("state"), "iss": fake.issuer()}));
    provider.way_back(&round, back).await.map(|who| who.subject)
}

#[tokio::test]
async fn a_person_is_sent_there_and_comes_back_as_who_the_token_says() {
    let fake = Fake::start().await;
    let provider = provider(&fake);
    let round = Round::begin();
    let asked = asked(&provider, &round).await;
    for (name, value) in [
        ("response_type", "code"),
        ("client_id", "panel"),
        ("scope", "openid"),
        ("redirect_uri", "http://localhost:8480/sign-in/back"),
        ("code_challenge_method", "S256"),
        ("max_age", "300"),
    ] {
        assert_eq!(asked.value(name), value, "{name}");
    }
    fake.answer_with(&fake.claims(&asked.value("nonce")));
    let back =
        answer(json!({"code": "a-code", "state": asked.value("state"), "iss": fake.issuer()}));
    let who = provider.way_back(&round, back).await.expect("signed in");
    assert_eq!(who.subject, "person-1");
    assert_eq!(who.issuer, fake.issuer());
    assert_eq!(who.session.as_deref(), Some("session-1"));
    // The token endpoint was shown the verifier of exactly the challenge in the address.
    let shown = fake.token_request();
    assert_eq!(shown["code"], "a-code");
    assert_eq!(
        fake::challenge(&shown["code_verifier"]),
        asked.value("code_challenge")
    );
}

#[tokio::test]
async fn a_token_that_does_not_hold_signs_nobody_in() {
    assert_eq!(with_claims(|_| {}).await.expect("as it is"), "person-1");
    type Change = fn(&mut Claims);
    let now = fake::now();
    assert!(now > 0);
    let changes: [(&str, Change); 18] = [
        ("of another issuer", |c| {
            c.body["iss"] = json!("https://other.example")
        }),
        ("for another client", |c| c.body["aud"] = json!("dashboard")),
        ("for another client too", |c| {
            c.body["aud"] = json!(["panel", "dashboard"])
        }),
        ("for nobody", |c| c.drop("aud")),
        ("of another sign-in", |c| {
            c.body["nonce"] = json!("0".repeat(64))
        }),
        ("without a nonce", |c| c.drop("nonce")),
        ("too old", |c| c.body["exp"] = json!(fake::now() - 1)),
        ("without an end", |c| c.drop("exp")),
        ("from the future", |c| {
            c.body["iat"] = json!(fake::now() + 600)
        }),
        ("without a person", |c| c.drop("sub")),
        ("of a login of yesterday", |c| {
            c.body["auth_time"] = json!(fake::now() - 86_400)
        }),
        ("without the time of the login", |c| c.drop("auth_time")),
        ("for another access token", |c| {
            c.body["at_hash"] = json!("AAAAAAAAAAAAAAAAAAAAAA")
        }),
        (
            "that is a logout",
            |c| {
                c.body["events"] = json!({"http://schemas.openid.net/event/backchannel-logout": {}})
            },
        ),
        ("without a signature", |c| c.unsigned()),
        ("signed in a way that is not on the list", |c| {
            c.signed_in_another_way();
        }),
        ("signed with the client's secret", |c| {
            c.signed_by_secret("shown-at-the-token-endpoint")
        }),
        ("signed by somebody else", |c| c.signed_by_stranger()),
    ];
    for (what, change) in changes {
        match with_claims(change).await {
            Err(SignInError::Token(_) | SignInError::Provider(_)) => {}
            other => panic!("a token {what}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn an_answer_counts_in_the_browser_that_began_and_from_the_issuer_alone() {
    let fake = Fake::start().await;
    let provider = provider(&fake);
    let round = Round::begin();
    let asked = asked(&provider, &round).await;
    fake.answer_with(&fake.claims(&asked.value("nonce")));
    let (state, iss) = (asked.value("state"), fake.issuer());
    let good = || json!({"code": "c", "state": state, "iss": iss});
    let judged =
        async |round: &Round, members: Value| provider.way_back(round, answer(members)).await;

    let elsewhere = Round::begin();
    assert!(matches!(
        judged(&elsewhere, good()).await,
        Err(SignInError::NoRound)
    ));
    for wrong in [
        json!({"code": "c", "iss": iss}),
        json!({"code": "c", "state": "", "iss": iss}),
    ] {
        assert!(matches!(
            judged(&round, wrong).await,
            Err(SignInError::NoRound)
        ));
    }
    for wrong in [
        json!({"code": "c", "state": state, "iss": "https://other.example"}),
        // The fake promises to name itself.
        json!({"code": "c", "state": state}),
    ] {
        assert!(matches!(
            judged(&round, wrong).await,
            Err(SignInError::Issuer)
        ));
    }
    let declined = json!({"error": "access_denied\n\u{1b}[31m", "state": state, "iss": iss});
    match judged(&round, declined).await {
        Err(SignInError::Declined(word)) => assert_eq!(word, "access_deniedm"),
        other => panic!("{other:?}"),
    }
    assert!(
        fake.token_requests() == 0,
        "nothing was fetched for any of them"
    );
    judged(&round, good())
        .await
        .expect("the good one still counts");
}

#[tokio::test]
async fn a_new_key_of_the_provider_is_found() {
    let fake = Fake::start().await;
    let provider = provider(&fake);
    let first = Round::begin();
    let there = asked(&provider, &first).await;
    fake.new_key();
    fake.answer_with(&fake.claims(&there.value("nonce")));
    let back = || answer(json!({"code": "c", "state": there.value("state"), "iss": fake.issuer()}));
    // Right after the first look at it the provider is not asked again: a forger cannot make us ask as often as he likes.
    assert!(provider.way_back(&first, back()).await.is_err());
    let asked_before = fake.discoveries();
    assert!(provider.way_back(&first, back()).await.is_err());
    assert_eq!(fake.discoveries(), asked_before);
    // A service that starts now knows the new key.
    let later = self::provider(&fake);
    later
        .way_back(&first, back())
        .await
        .expect("the new key holds");
}

#[tokio::test]
async fn a_provider_that_is_away_or_wrong_signs_nobody_in() {
    let away = Provider::new(
        &Settings {
            issuer: "http://127.0.0.1:9".into(),
            client_id: "panel".into(),
            client_secret: Secret::new("s"),
        },
        ORIGIN,
    )
    .expect("settings");
    assert!(matches!(
        away.way_there(&Round::begin()).await,
        Err(SignInError::Provider(_))
    ));
    type Break = fn(&Fake);
    let breaks: [(&str, Break); 4] = [
        ("another's name", |fake| {
            fake.discovery("issuer", json!("http://127.0.0.1:1"))
        }),
        ("a way there in the clear", |fake| {
            fake.discovery(
                "authorization_endpoint",
                json!("http://login.bank.example/auth"),
            );
        }),
        ("keys in the clear", |fake| {
            fake.discovery("jwks_uri", json!("http://keys.bank.example/jwks"))
        }),
        ("an endless answer", |fake| {
            fake.discovery("x", json!("x".repeat(300_000)))
        }),
    ];
    for (what, spoil) in breaks {
        let fake = Fake::start().await;
        spoil(&fake);
        let there = provider(&fake).way_there(&Round::begin()).await;
        assert!(
            matches!(there, Err(SignInError::Provider(_))),
            "{what}: {there:?}"
        );
    }
}

#[tokio::test]
async fn a_logout_token_that_holds_names_whose_sessions_end() {
    let fake = Fake::start().await;
    let provider = provider(&fake);
    let whom = provider
        .logged_out(&fake.logout_claims().token())
        .await
        .expect("a logout");
    assert_eq!(whom.subject, "person-1");
    assert_eq!(whom.session.as_deref(), Some("session-1"));
    assert_eq!(whom.token_id, "logout-1");
    let mut everywhere = fake.logout_claims();
    everywhere.drop("sid");
    assert_eq!(
        provider
            .logged_out(&everywhere.token())
            .await
            .expect("a logout")
            .session,
        None
    );

    type Change = fn(&mut Claims);
    let changes: [(&str, Change); 14] = [
        ("an ID token", |c| {
            c.drop("events");
            c.body["nonce"] = json!("n");
        }),
        ("with a nonce", |c| c.body["nonce"] = json!("n")),
        ("of another event", |c| {
            c.body["events"] = json!({"http://schemas.openid.net/event/other": {}})
        }),
        (
            "whose event is no object",
            |c| c.body["events"] = json!({"http://schemas.openid.net/event/backchannel-logout": 1}),
        ),
        ("without an id", |c| c.drop("jti")),
        ("of another issuer", |c| {
            c.body["iss"] = json!("https://other.example")
        }),
        ("for another client", |c| c.body["aud"] = json!("dashboard")),
        ("too old", |c| c.body["iat"] = json!(fake::now() - 900)),
        ("from the future", |c| {
            c.body["iat"] = json!(fake::now() + 900)
        }),
        ("without a signature", |c| c.unsigned()),
        ("signed in a way that is not on the list", |c| {
            c.signed_in_another_way();
        }),
        ("signed with the client's secret", |c| {
            c.signed_by_secret("shown-at-the-token-endpoint")
        }),
        ("signed by somebody else", |c| c.signed_by_stranger()),
        ("of another type", |c| c.head["typ"] = json!("at+jwt")),
    ];
    for (what, change) in changes {
        let mut claims = fake.logout_claims();
        change(&mut claims);
        let judged = provider.logged_out(&claims.token()).await;
        assert!(
            matches!(judged, Err(SignInError::Token(_))),
            "{what}: {judged:?}"
        );
    }
    for garbage in ["", "a.b.c", "a.b", &"x".repeat(9_000)] {
        assert!(matches!(
            provider.logged_out(garbage).await,
            Err(SignInError::Token(_))
        ));
    }
}
