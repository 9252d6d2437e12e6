//! Tokens that are not the turn's own, or not for this call: none opens anything, at the door and behind it.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_identity::{SigningKeyFile, generate_key};
use countersign_testkit::{Service, people::Customer, secrets::random_bytes};
use ed25519_dalek::{Signer, pkcs8::DecodePrivateKey};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{
    answer::{Answer, Code},
    site::{Site, Way, call, now},
    table,
};

/// A genuine token taken apart, to be put together again with anything changed.
#[derive(Clone)]
struct Parts {
    header: Value,
    claims: Value,
    key: SigningKeyFile,
}

impl Parts {
    fn of(site: &Site, way: Way, body: &str) -> anyhow::Result<Self> {
        let keys = site.bank.stack().keys();
        let (token, key) = match way {
            Way::Door => (site.turn.session_token().to_owned(), &keys.session),
            Way::Direct => (
                site.signed(&site.request_claims(body.as_bytes())?)?,
                &keys.request,
            ),
        };
        let part = |number: usize| -> anyhow::Result<Value> {
            let text = token.split('.').nth(number).unwrap_or_default();
            Ok(serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text)?)?)
        };
        Ok(Self {
            header: part(0)?,
            claims: part(1)?,
            key: key.clone(),
        })
    }

    fn header(mut self, name: &str, value: Value) -> Self {
        self.header[name] = value;
        self
    }

    fn claim(mut self, name: &str, value: Value) -> Self {
        self.claims[name] = value;
        self
    }

    fn without(mut self, name: &str) -> Self {
        if let Some(claims) = self.claims.as_object_mut() {
            claims.remove(name);
        }
        self
    }

    /// Signed with the genuine key, whatever it says.
    fn token(&self) -> String {
        self.signed_as_written(&self.header.to_string(), &self.claims.to_string())
    }

    fn signed_as_written(&self, header: &str, claims: &str) -> String {
        let message = message(header, claims);
        let key =
            ed25519_dalek::SigningKey::from_pkcs8_pem(self.key.pkcs8_pem.expose()).expect("a key");
        format!(
            "{message}.{}",
            URL_SAFE_NO_PAD.encode(key.sign(message.as_bytes()).to_bytes())
        )
    }

    /// The same claims, with the public key as a shared secret.
    fn keyed_hash(&self) -> String {
        let header = self.clone().header("alg", json!("HS256")).header;
        let message = message(&header.to_string(), &self.claims.to_string());
        let public = self
            .key
            .verifying_key_file()
            .expect("public half")
            .public_pem;
        format!(
            "{message}.{}",
            URL_SAFE_NO_PAD.encode(keyed_sha256(public.as_bytes(), message.as_bytes()))
        )
    }
}

fn message(header: &str, claims: &str) -> String {
    let encode = |text: &str| URL_SAFE_NO_PAD.encode(text);
    format!("{}.{}", encode(header), encode(claims))
}

/// HMAC with SHA-256.
fn keyed_sha256(key: &[u8], message: &[u8]) -> Vec<u8> {
    let mut block = [0; 64];
    if key.len() > block.len() {
        block[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let padded = |byte: u8| block.map(|own| own ^ byte);
    let inner = Sha256::new()
        .chain_update(padded(0x36))
        .chain_update(message)
        .finalize();
    Sha256::new()
        .chain_update(padded(0x5c))
        .chain_update(inner)
        .finalize()
        .to_vec()
}

/// Rows, and tokens made of a good one.
fn bad_tokens(good: &Parts) -> anyhow::Result<Vec<(&'static str, &'static str, String)>> {
    let whole = good.token();
    let (start, signature) = whole.rsplit_once('.').unwrap_or_default();
    let unsigned = |alg: &str| {
        let header = good.clone().header("alg", json!(alg)).header;
        format!(
            "{}.",
            message(&header.to_string(), &good.claims.to_string())
        )
    };
    let header = |name: &str, value: Value| good.clone().header(name, value).token();
    let claim = |name: &str, value: Value| good.clone().claim(name, value).token();
    let own = ed25519_dalek::SigningKey::from_bytes(&random_bytes()?);
    let own_key = URL_SAFE_NO_PAD.encode(own.verifying_key().to_bytes());
    let mut stranger = good.clone();
    stranger.key = generate_key(random_bytes()?, &good.key.key_id);
    let time = now()?;
    let text = good.claims.to_string();
    let mut late = good.clone().claim("iat", json!(time + 120));
    late = late.claim("exp", json!(time + 150));
    let mut past = good.clone().claim("iat", json!(time - 200));
    past = past.claim("exp", json!(time - 120));
    let mut tokens = vec![
        ("BI-085", "no algorithm", unsigned("none")),
        ("BI-085", "None", unsigned("None")),
        ("BI-085", "nOnE", unsigned("nOnE")),
        (
            "BI-085",
            "none, signed all the same",
            header("alg", json!("none")),
        ),
        ("BI-085", "no signature", format!("{start}.")),
        ("BI-086", "the public key as a secret", good.keyed_hash()),
        (
            "BI-086",
            "another name of a good algorithm",
            header("alg", json!("Ed25519")),
        ),
        (
            "BI-086",
            "an algorithm in small letters",
            header("alg", json!("eddsa")),
        ),
        (
            "BI-087",
            "an end as text",
            claim("exp", json!((time + 20).to_string())),
        ),
        ("BI-087", "an end as a fraction", claim("exp", json!(1.5e9))),
        (
            "BI-087",
            "an end beyond numbers",
            claim("exp", json!(u64::MAX)),
        ),
        ("BI-087", "an end before time", claim("exp", json!(-1))),
        (
            "BI-089",
            "a key of its own",
            header("jwk", json!({"kty": "OKP", "crv": "Ed25519", "x": own_key})),
        ),
        (
            "BI-089",
            "a place to fetch keys",
            header("jku", json!("http://127.0.0.1:1/keys")),
        ),
        (
            "BI-089",
            "a certificate's place",
            header("x5u", json!("http://127.0.0.1:1/c")),
        ),
        ("BI-089", "a certificate", header("x5c", json!(["MIIB"]))),
        ("BI-090", "a key's path", header("kid", json!("../../k"))),
        (
            "BI-090",
            "a key by SQL",
            header("kid", json!("k' OR 1=1 --")),
        ),
        (
            "BI-090",
            "an unknown key",
            header("kid", json!("k-unknown")),
        ),
        ("BI-090", "no key", header("kid", json!(""))),
        ("BI-090", "a key that is a number", header("kid", json!(1))),
        ("BI-090", "a stranger under a known name", stranger.token()),
        (
            "BI-091",
            "what must be understood",
            header("crit", json!(["exp"])),
        ),
        (
            "BI-091",
            "nothing that must be understood",
            header("crit", json!([])),
        ),
        ("BI-092", "for the panel", claim("aud", json!("panel"))),
        (
            "BI-092",
            "for several",
            claim("aud", json!(["door", "bank-mcp", "panel"])),
        ),
        (
            "BI-092",
            "from somebody else",
            claim("iss", json!("countersign-agent")),
        ),
        ("BI-093", "any JWT", header("typ", json!("JWT"))),
        ("BI-093", "an access token", header("typ", json!("at+jwt"))),
        (
            "BI-093",
            "capitals",
            header(
                "typ",
                json!(
                    good.header["typ"]
                        .as_str()
                        .unwrap_or_default()
                        .to_uppercase()
                ),
            ),
        ),
        ("BI-096", "made in two minutes", late.token()),
        ("BI-096", "ended two minutes ago", past.token()),
        (
            "BI-096",
            "good for a year",
            claim("exp", json!(time + 31_536_000)),
        ),
        (
            "BI-098",
            "two customers",
            good.signed_as_written(
                &good.header.to_string(),
                &text.replacen('{', "{\"sub\":\"cus_00000000000000000000000000000001\",", 1),
            ),
        ),
        (
            "BI-098",
            "two customers, one escaped",
            good.signed_as_written(
                &good.header.to_string(),
                &text.replacen(
                    '{',
                    "{\"s\\u0075b\":\"cus_00000000000000000000000000000001\",",
                    1,
                ),
            ),
        ),
        (
            "BI-098",
            "a claim nobody declared",
            claim("admin", json!(true)),
        ),
        ("BI-099", "padding", format!("{whole}==")),
        (
            "BI-099",
            "a line feed inside",
            format!("{start}.{}%0a{}", &signature[..4], &signature[4..]),
        ),
        (
            "BI-099",
            "one bit that carries nothing",
            other_last_letter(&whole),
        ),
        (
            "BI-099",
            "a signature too short",
            whole[..whole.len() - 4].to_owned(),
        ),
        ("BI-099", "a part too many", format!("{whole}.e30")),
        (
            "BI-099",
            "an alphabet with plus and slash",
            format!("{start}.{}+/", &signature[..signature.len() - 2]),
        ),
        (
            "BI-099",
            "too long",
            format!("{whole}{}", "A".repeat(5_000)),
        ),
        ("BI-097", "two in one", format!("{whole},{whole}")),
        (
            "BI-097",
            "two in one, with a space",
            format!("{whole}, {whole}"),
        ),
        ("BI-097", "with a scheme", format!("Bearer {whole}")),
        ("BI-097", "empty", String::new()),
    ];
    let names: Vec<String> = good
        .claims
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name.clone())
        .collect();
    for name in names {
        tokens.push((
            "BI-088",
            "a claim missing",
            good.clone().without(&name).token(),
        ));
    }
    Ok(tokens)
}

/// The same signature with a last letter whose extra bits are not zero.
fn other_last_letter(token: &str) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let last = token.bytes().last().unwrap_or_default();
    let place = LETTERS
        .iter()
        .position(|letter| *letter == last)
        .unwrap_or_default();
    let other = char::from(LETTERS[place ^ 1]);
    format!("{}{other}", &token[..token.len() - 1])
}

const ROWS: [&str; 20] = [
    "BI-085", "BI-086", "BI-087", "BI-088", "BI-089", "BI-090", "BI-091", "BI-092", "BI-093",
    "BI-094", "BI-095", "BI-096", "BI-097", "BI-098", "BI-099", "BI-101", "BI-102", "BI-103",
    "BI-134", "BI-135",
];

const fn header_of(way: Way) -> &'static str {
    match way {
        Way::Door => "Countersign-Session",
        Way::Direct => "Countersign-Request",
    }
}

async fn send_with(site: &Site, way: Way, token: &str, body: &str) -> anyhow::Result<Answer> {
    let request = site.post(way, body)?.set(header_of(way), token);
    request.send(site.port(way.service())).await
}

#[tokio::test]
async fn a_token_that_is_not_this_calls_own_opens_nothing() -> anyhow::Result<()> {
    let site = Site::begin().await?;
    let before = site.counts().await?;
    let body = call("list_accounts", "{}");
    for way in Way::BOTH {
        let good = Parts::of(&site, way, &body)?;
        for (row, what, token) in bad_tokens(&good)? {
            let answer = send_with(&site, way, &token, &body).await?;
            answer.must_refuse(
                401,
                Code::problem("unauthorized"),
                &format!("{row} {what} {way:?}"),
            );
        }
    }
    tokens_in_each_others_place(&site, &body).await?;
    for (what, claim, value) in [
        ("another path", "htu", "/other"),
        ("another method", "htm", "GET"),
        (
            "another body",
            "bd",
            "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU",
        ),
        ("another actor", "act", "agent"),
    ] {
        let token = Parts::of(&site, Way::Direct, &body)?
            .claim(claim, json!(value))
            .token();
        let answer = send_with(&site, Way::Direct, &token, &body).await?;
        answer.must_refuse(
            401,
            Code::problem("unauthorized"),
            &format!("BI-095 {what}"),
        );
    }
    assert_eq!(site.counts().await?, before, "and no token was spent");
    one_token_one_call(&site, &body).await?;
    // Put together again unchanged, each is accepted: so it was the change that was refused.
    for way in Way::BOTH {
        let token = Parts::of(&site, way, &body)?.token();
        let answer = send_with(&site, way, &token, &body).await?;
        assert!(
            answer.content()["accounts"].is_array(),
            "{way:?}: {answer:?}"
        );
    }
    handles_are_no_authority(&site).await?;
    answers_do_not_mix(&site).await?;
    table::must_be_the_rows_of("a_token_that_is_not_this_calls_own_opens_nothing", &ROWS);
    Ok(())
}

/// BI-092, BI-097 and BI-134.
async fn tokens_in_each_others_place(site: &Site, body: &str) -> anyhow::Result<()> {
    let session = site.turn.session_token().to_owned();
    let request = site.signed(&site.request_claims(body.as_bytes())?)?;
    for (way, token) in [(Way::Door, &request), (Way::Direct, &session)] {
        let answer = send_with(site, way, token, body).await?;
        answer.must_refuse(
            401,
            Code::problem("unauthorized"),
            &format!("BI-092 {way:?}"),
        );
    }
    let panel = site.ada.cookie().split('=').nth(1).unwrap_or_default();
    for way in Way::BOTH {
        let own = match way {
            Way::Door => &session,
            Way::Direct => &request,
        };
        for secret in [panel, site.ada.bearer()] {
            let answer = send_with(site, way, secret, body).await?;
            answer.must_refuse(
                401,
                Code::problem("unauthorized"),
                &format!("BI-092 {way:?}"),
            );
        }
        for elsewhere in [
            "Authorization",
            "Cookie",
            "X-Session",
            "X-Countersign-Session",
        ] {
            let sent = site
                .post(way, body)?
                .without(header_of(way))
                .with(elsewhere, own);
            let answer = sent.send(site.port(way.service())).await?;
            answer.must_refuse(
                401,
                Code::problem("unauthorized"),
                &format!("BI-134 {elsewhere} {way:?}"),
            );
        }
        let twice = site.post(way, body)?.with(header_of(way), own);
        let answer = twice.send(site.port(way.service())).await?;
        answer.must_refuse(
            401,
            Code::problem("unauthorized"),
            &format!("BI-097 twice {way:?}"),
        );
    }
    Ok(())
}

/// BI-094.
async fn one_token_one_call(site: &Site, body: &str) -> anyhow::Result<()> {
    for body in [body, r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#] {
        let token = site.signed(&site.request_claims(body.as_bytes())?)?;
        let longer = format!("{body} ");
        let other = send_with(site, Way::Direct, &token, &longer).await?;
        other.must_refuse(401, Code::problem("unauthorized"), "BI-094 another body");
        let first = send_with(site, Way::Direct, &token, body).await?;
        assert!(first.code().is_none() && first.status == 200, "{first:?}");
        let again = send_with(site, Way::Direct, &token, body).await?;
        assert!(again.code().is_some(), "BI-094 {again:?}");
        again.must_show_nothing_internal("BI-094 a token twice");
    }
    Ok(())
}

/// BI-101 and BI-102: an id that was guessed or seen is worth nothing.
async fn handles_are_no_authority(site: &Site) -> anyhow::Result<()> {
    let kabir: Customer = site.bank.sign_in("Kabir").await?;
    let words = "Freeze my card";
    let reply = kabir.sends(words);
    let turn = site.agent.turn(words).await?;
    let asked = turn
        .calls(&site.bank.door()?, "request_card_freeze", json!({}))
        .await?;
    let action = asked.content()["action"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    assert!(action.starts_with("act_"), "{}", asked.body);
    turn.ends();
    reply.await??;
    for way in Way::BOTH {
        let ask = |action: &str| json!({"action": action}).to_string();
        let foreign = site.call(way, "get_request_status", &ask(&action)).await?;
        let nobodys = site
            .call(
                way,
                "get_request_status",
                &ask("act_00000000000000000000000000000001"),
            )
            .await?;
        foreign.must_refuse(200, Code::tool("not_found"), "BI-101");
        assert_eq!(
            foreign.content(),
            nobodys.content(),
            "not yours and not there read the same"
        );
        let open = site.call(way, "list_open_requests", "{}").await?;
        assert!(
            open.code().is_none() && !open.text.contains(&action),
            "{open:?}"
        );
        let two = site
            .post(way, call("list_accounts", "{}"))?
            .with("Mcp-Session-Id", "one")
            .with("Mcp-Session-Id", "two");
        let answer = two.send(site.port(way.service())).await?;
        let own = site.call(way, "list_accounts", "{}").await?.content();
        // The door passes the bank's refusal on as an answer it could not read.
        let unmoved = answer.code().is_some() || answer.content() == own;
        assert!(unmoved, "BI-102 {way:?}: {answer:?}");
        answer.must_show_nothing_internal("BI-102");
        // No tool of the bank hands out a state, so one that is brought back was made up.
        for member in [
            r#""requestState":"forged""#,
            r#""requestState":{"customer":"somebody"}"#,
            r#""inputResponses":{"confirm":{"action":"accept"}}"#,
        ] {
            let body = call("list_accounts", "{}").replacen(
                "\"arguments\"",
                &format!("{member},\"arguments\""),
                1,
            );
            let answer = site.send(way, body).await?;
            let unmoved = answer.code().is_some() || answer.content() == own;
            assert!(unmoved, "BI-103 {way:?} {member}: {answer:?}");
        }
    }
    Ok(())
}

/// BI-135: two customers ask the same, in turns and at once.
async fn answers_do_not_mix(site: &Site) -> anyhow::Result<()> {
    let kabir = site.bank.session_token("Kabir").await?;
    let body = call("list_accounts", "{}");
    let port = site.port(Service::Door);
    let of = async |token: &str| -> anyhow::Result<Value> {
        let request = site
            .post(Way::Door, body.as_str())?
            .set("Countersign-Session", token);
        Ok(request.send(port).await?.content())
    };
    let ada = site.turn.session_token();
    let (hers, his) = (of(ada).await?, of(&kabir).await?);
    assert!(hers["accounts"].is_array() && his["accounts"].is_array() && hers != his);
    for _ in 0..10 {
        let (first, second) = tokio::try_join!(of(ada), of(&kabir))?;
        assert_eq!((first, second), (hers.clone(), his.clone()));
    }
    Ok(())
}
