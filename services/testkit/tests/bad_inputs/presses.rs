//! Presses that are not the customer's own on the card that was shown: of other pages, other people, other cards,
//! in other forms. And the customer's own, twenty times at once.

mod forms;

use countersign_testkit::{
    Service,
    people::{Customer, Turn},
};
use serde_json::{Value, json};

use crate::{answer::Code, raw::Request, site::Site, table};
use forms::{
    messages_in_other_forms, of_another_form, other_acts_in_other_forms, with_a_note_that_is_none,
};

/// Ada's open card, and how to press it.
struct Shown<'a> {
    site: &'a Site,
    action: String,
    /// What the page sends.
    body: Value,
}

impl<'a> Shown<'a> {
    fn of(site: &'a Site, card: &Value) -> Self {
        let action = card["action"].as_str().unwrap_or_default().to_owned();
        let body = json!({
            "version": card["version"], "confirm_hash": card["confirm_hash"], "nonce": card["nonce"], "note": "",
        });
        Self { site, action, body }
    }

    /// A press as the page makes it.
    fn press(&self, act: &str) -> Request {
        let path = format!("/api/actions/{}/{act}", self.action);
        page_post(self.site, &self.site.ada, &path).body(self.body.to_string())
    }

    /// The body with one member changed.
    fn with(&self, name: &str, value: Value) -> String {
        let mut body = self.body.clone();
        body[name] = value;
        body.to_string()
    }

    async fn refused(
        &self,
        request: Request,
        status: u16,
        code: &str,
        what: &str,
    ) -> anyhow::Result<()> {
        let answer = request.send(self.site.port(Service::Panel)).await?;
        let card_beside = matches!(code, "stale_card" | "not_open");
        if card_beside {
            // The card as it is now comes with the refusal.
            assert_eq!(
                (answer.status, answer.code()),
                (status, Code::problem(code)),
                "{what}: {answer:?}"
            );
        } else {
            answer.must_refuse(status, Code::problem(code), what);
        }
        Ok(())
    }
}

/// A POST of JSON as the panel's own page makes it.
fn page_post(site: &Site, who: &Customer, path: &str) -> Request {
    Request::new("POST", path, &site.host(Service::Panel))
        .with("Origin", site.bank.origin(Service::Panel))
        .with("Content-Type", "application/json")
        .with("Cookie", who.cookie())
}

#[tokio::test]
async fn a_press_that_is_not_the_customers_own_moves_nothing() -> anyhow::Result<()> {
    let site = Site::begin().await?;
    let card = site.card().await?;
    let shown = Shown::of(&site, &card);
    let before = site.counts().await?;
    for act in ["confirm", "prepare"] {
        of_another_page(&shown, act).await?;
        of_somebody_else(&shown, act).await?;
        of_another_form(&shown, act).await?;
        of_another_card(&shown, act).await?;
        with_a_note_that_is_none(&shown, act).await?;
        at_another_address(&shown, act).await?;
    }
    other_acts_in_other_forms(&shown).await?;
    messages_in_other_forms(&site).await?;
    assert_eq!(site.counts().await?, before);
    assert_eq!(site.ada.open_card().await?["version"], card["version"]);
    twenty_presses_are_one(&site, &shown).await?;
    after_its_time(&site).await?;
    table::must_be_the_rows_of(
        "a_press_that_is_not_the_customers_own_moves_nothing",
        &[
            "BI-073", "BI-075", "BI-078", "BI-081", "BI-082", "OW-001", "OW-002", "OW-003",
            "OW-004", "OW-005", "OW-006", "OW-007", "OW-008",
        ],
    );
    Ok(())
}

/// BI-078.
async fn of_another_page(shown: &Shown<'_>, act: &str) -> anyhow::Result<()> {
    let press = || shown.press(act);
    let own = shown.site.bank.origin(Service::Panel);
    let chat = shown.site.bank.origin(Service::Intake);
    let form = |request: Request| {
        request
            .set("Content-Type", "application/x-www-form-urlencoded")
            .body("version=1&note=")
    };
    let foreign = [
        ("no origin", press().without("Origin")),
        ("an opaque origin", press().set("Origin", "null")),
        ("the chat's page", press().set("Origin", chat)),
        (
            "a foreign page",
            press().set("Origin", "https://evil.example"),
        ),
        (
            "our page over TLS",
            press().set("Origin", own.replace("http:", "https:")),
        ),
        (
            "two origins",
            press().with("Origin", "https://evil.example"),
        ),
        (
            "a foreign form",
            form(press()).set("Origin", "https://evil.example"),
        ),
        ("a sandboxed form", form(press()).set("Origin", "null")),
        ("a neighbour", press().with("Sec-Fetch-Site", "same-site")),
        ("another site", press().with("Sec-Fetch-Site", "cross-site")),
    ];
    for (what, request) in foreign {
        shown
            .refused(request, 403, "wrong_origin", &format!("{act} by {what}"))
            .await?;
    }
    for (what, kind) in [
        ("a form", "application/x-www-form-urlencoded"),
        ("plain text", "text/plain"),
        ("a form with files", "multipart/form-data; boundary=x"),
    ] {
        let request = press().set("Content-Type", kind);
        shown
            .refused(
                request,
                415,
                "unsupported_media_type",
                &format!("{act} as {what}"),
            )
            .await?;
    }
    let untyped = press().without("Content-Type");
    shown
        .refused(untyped, 415, "unsupported_media_type", act)
        .await
}

/// BI-081 and OW-006: another customer, nobody, and everything else that is held as a credential.
async fn of_somebody_else(shown: &Shown<'_>, act: &str) -> anyhow::Result<()> {
    let site = shown.site;
    let kabir = site.bank.sign_in("Kabir").await?;
    let foreign = shown.press(act).set("Cookie", kabir.cookie());
    shown
        .refused(
            foreign,
            404,
            "not_found",
            &format!("{act} by another customer"),
        )
        .await?;
    let cookie = |value: &str| format!("__Host-countersign-panel={value}");
    let own = site.ada.cookie();
    let others = [
        ("nobody", shown.press(act).without("Cookie")),
        (
            "an empty cookie",
            shown.press(act).set("Cookie", cookie("")),
        ),
        (
            "the chat's bearer",
            shown.press(act).set("Cookie", cookie(site.ada.bearer())),
        ),
        (
            "the agent's token",
            shown
                .press(act)
                .set("Cookie", cookie(site.turn.session_token())),
        ),
        (
            "a bearer",
            shown
                .press(act)
                .without("Cookie")
                .with("Authorization", format!("Bearer {}", site.ada.bearer())),
        ),
        (
            "two cookies",
            shown
                .press(act)
                .set("Cookie", format!("{own}; {}", kabir.cookie())),
        ),
        (
            "two cookie headers",
            shown.press(act).with("Cookie", kabir.cookie()),
        ),
        (
            "a cookie without its prefix",
            shown.press(act).set("Cookie", own.replace("__Host-", "")),
        ),
        (
            "capitals",
            shown.press(act).set("Cookie", own.to_uppercase()),
        ),
    ];
    for (what, request) in others {
        shown
            .refused(request, 401, "not_signed_in", &format!("{act} by {what}"))
            .await?;
    }
    Ok(())
}

/// BI-075: well formed, and not the card that was shown.
async fn of_another_card(shown: &Shown<'_>, act: &str) -> anyhow::Result<()> {
    let flipped = |name: &str| {
        let text = shown.body[name].as_str().unwrap_or_default();
        let first = if text.starts_with('0') { '1' } else { '0' };
        json!(format!("{first}{}", text.get(1..).unwrap_or_default()))
    };
    for (what, body) in [
        (
            "another record",
            shown.with("confirm_hash", flipped("confirm_hash")),
        ),
        ("the next version", shown.with("version", json!(2))),
        (
            "the largest version",
            shown.with("version", json!(i32::MAX)),
        ),
        (
            "the version before all",
            shown.with("version", json!(i32::MIN)),
        ),
        ("version nothing", shown.with("version", json!(0))),
        ("another showing", shown.with("nonce", flipped("nonce"))),
        ("no showing", shown.with("nonce", json!(""))),
    ] {
        // A challenge over a showing that was none opens nothing: Confirm is what looks it up, and spends it.
        if act == "prepare" && what.ends_with("showing") {
            continue;
        }
        let request = shown.press(act).body(body);
        shown
            .refused(request, 409, "stale_card", &format!("{act} of {what}"))
            .await?;
    }
    Ok(())
}

/// OW-005.
async fn at_another_address(shown: &Shown<'_>, act: &str) -> anyhow::Result<()> {
    let capitals = shown.action.to_uppercase();
    for action in [
        "act_00000000000000000000000000000001",
        "act_1",
        "1",
        "*",
        "%00",
        "..%2f..%2flogin",
        "act_0000000000000000000000000000000g",
        &capitals,
        &format!("{}%20", shown.action),
        &format!("{}%00", shown.action),
    ] {
        let path = format!("/api/actions/{action}/{act}");
        let request = page_post(shown.site, &shown.site.ada, &path).body(shown.body.to_string());
        shown
            .refused(request, 404, "not_found", &format!("{act} of {action}"))
            .await?;
    }
    for path in [
        "/api/actions//confirm",
        "/api/confirm",
        "/API/actions/x/confirm",
        "/api/actions/x/execute",
    ] {
        let request = page_post(shown.site, &shown.site.ada, path).body(shown.body.to_string());
        shown.refused(request, 404, "not_found", path).await?;
    }
    let read = shown.press(act).method("GET").body("");
    shown
        .refused(read, 405, "method_not_allowed", "a GET")
        .await
}

/// BI-073.
async fn twenty_presses_are_one(site: &Site, shown: &Shown<'_>) -> anyhow::Result<()> {
    let (money, balance) = (
        site.bank.money().await?,
        site.bank.balance("Ada", "Current").await?,
    );
    let presses =
        (0..20).map(|_| async { shown.press("confirm").send(site.port(Service::Panel)).await });
    let answers = futures_util::future::try_join_all(presses).await?;
    for answer in &answers {
        // The same outcome for each, or a plain "busy" for who could not wait for the lock.
        let busy = answer.code() == Code::problem("busy");
        assert!(
            busy || answer.json()["outcome"] == "confirmed",
            "{answer:?}"
        );
    }
    assert!(answers.iter().any(|answer| answer.status == 200));
    assert_eq!(site.bank.balance("Ada", "Current").await?, balance - 2_000);
    let executed: i64 = sqlx::query_scalar("SELECT count(*) FROM bank.execution")
        .fetch_one(&mut site.bank.database().admin().await?)
        .await?;
    assert_eq!(executed, 1);
    let entries = site.bank.money().await?.1 - money.1;
    assert!(
        matches!(entries, 2 | 4),
        "one payment's entries, and its arrival's: {entries}"
    );
    Ok(())
}

/// BI-082.
async fn after_its_time(site: &Site) -> anyhow::Result<()> {
    let words = "Send 30 to Bob";
    let ada = site.ada.in_a_new_conversation().await?;
    let reply = ada.sends(words);
    let turn: Turn = site.agent.turn(words).await?;
    let ask = json!({"payments": [{"payee": site.bob, "amount": "30.00"}]});
    let asked = turn
        .calls(&site.bank.door()?, "request_transfer", ask)
        .await?;
    assert!(asked.succeeded(), "{}", asked.body);
    turn.ends();
    reply.await??;
    let card = ada.open_card().await?;
    let money = site.bank.balance("Ada", "Current").await?;
    site.bank.database().set_clock_ahead(3_600).await?;
    let answer = Shown::of(site, &card)
        .press("confirm")
        .send(site.port(Service::Panel))
        .await?;
    answer.must_refuse(410, Code::problem("expired"), "BI-082");
    assert_eq!(site.bank.balance("Ada", "Current").await?, money);
    Ok(())
}
