//! Presses that are not the customer's own on the card that was shown: of other pages, other people, other cards,
//! in other forms. And the customer's own, twenty times at once.

use countersign_testkit::{
    Service,
    people::{Customer, Turn},
};
use serde_json::{Value, json};

use crate::{
    answer::{Answer, Code},
    raw::Request,
    site::Site,
    table,
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

/// OW-001 to OW-003.
async fn of_another_form(shown: &Shown<'_>, act: &str) -> anyhow::Result<()> {
    let body = &shown.body;
    let by_place = json!([
        body["version"],
        body["confirm_hash"],
        body["nonce"],
        body["note"]
    ]);
    let text = body.to_string();
    let version =
        |version: &str| text.replacen("\"version\":1", &format!("\"version\":{version}"), 1);
    let hash = body["confirm_hash"].as_str().unwrap_or_default();
    for (what, body) in [
        ("an unknown member", shown.with("amount", json!("900.00"))),
        ("a prototype", shown.with("__proto__", json!({"note": "x"}))),
        ("members by place", by_place.to_string()),
        ("an empty object", "{}".to_owned()),
        ("null", "null".to_owned()),
        ("a member twice", text.replacen('{', "{\"version\":1,", 1)),
        (
            "a member twice, once escaped",
            text.replacen('{', "{\"v\\u0065rsion\":1,", 1),
        ),
        ("a version as text", version("\"1\"")),
        ("a fraction", version("1.0")),
        ("an exponent", version("1e0")),
        ("no version", version("null")),
        ("true", version("true")),
        ("beyond 32 bits", version("4294967297")),
        ("beyond 64 bits", version("18446744073709551617")),
        ("no hash", shown.with("confirm_hash", Value::Null)),
        ("an empty hash", shown.with("confirm_hash", json!(""))),
        (
            "a hash too short",
            shown.with("confirm_hash", json!(&hash[1..])),
        ),
        (
            "a hash too long",
            shown.with("confirm_hash", json!(format!("{hash}0"))),
        ),
        (
            "two hashes",
            shown.with("confirm_hash", json!(format!("{hash}{hash}"))),
        ),
        (
            "a hash that is no number",
            shown.with("confirm_hash", json!("z".repeat(64))),
        ),
        (
            "a hash with a prefix",
            shown.with("confirm_hash", json!(format!("0x{}", &hash[2..]))),
        ),
        (
            "a hash as bytes",
            shown.with("confirm_hash", json!([0, 1, 2])),
        ),
        ("a nonce as a number", shown.with("nonce", json!(7))),
        (
            "a nonce of bytes",
            shown.with("nonce", json!("\u{0}\u{202e}")),
        ),
        (
            "a nonce with a line end",
            shown.with("nonce", json!("7\n8")),
        ),
        ("a note as a list", shown.with("note", json!(["rent"]))),
        ("no note: null", shown.with("note", Value::Null)),
        // Reading ends at the first level that has no business there.
        (
            "levels without end",
            format!("{{\"note\":{}", "[".repeat(5_000)),
        ),
    ] {
        let request = shown.press(act).body(body);
        shown
            .refused(request, 422, "invalid_body", &format!("{act} with {what}"))
            .await?;
    }
    for (what, body) in [
        ("nothing", String::new()),
        ("a form", "version=1".to_owned()),
        ("two documents", format!("{text}{text}")),
        (
            "half a pair",
            text.replacen("\"note\":\"\"", "\"note\":\"\\ud800\"", 1),
        ),
        ("a number beyond all", version("1e400")),
        ("a mark of byte order", format!("\u{feff}{text}")),
    ] {
        let request = shown.press(act).body(body);
        shown
            .refused(request, 400, "invalid_json", &format!("{act} with {what}"))
            .await?;
    }
    let mut bytes = text.clone().into_bytes();
    bytes.splice(bytes.len() - 2.., [0xc3, 0x28, b'"', b'}']);
    shown
        .refused(shown.press(act).body(bytes), 400, "invalid_json", "no text")
        .await?;
    let long = shown
        .press(act)
        .body(shown.with("note", json!("x".repeat(20_000))));
    shown
        .refused(long, 413, "too_large", "a note of pages")
        .await
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

/// OW-004.
async fn with_a_note_that_is_none(shown: &Shown<'_>, act: &str) -> anyhow::Result<()> {
    for note in [
        "a\u{0}b",
        "a\nb",
        "a\r\nb",
        "a\u{1b}[31mb",
        "a\u{202e}b",
        "\u{2066}a",
        "a\u{200b}b",
        "a\u{2028}b",
        "a\u{e0041}b",
        "a\u{85}b",
        &"e\u{301}".repeat(101),
        &"é".repeat(201),
    ] {
        let request = shown.press(act).body(shown.with("note", json!(note)));
        shown
            .refused(
                request,
                422,
                "invalid_value",
                &format!("{act} with {note:?}"),
            )
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

/// OW-007: what else a customer can do to a card, and how they come in.
async fn other_acts_in_other_forms(shown: &Shown<'_>) -> anyhow::Result<()> {
    let site = shown.site;
    let post = async |path: &str, body: Value| -> anyhow::Result<Answer> {
        let request = page_post(site, &site.ada, path).body(body.to_string());
        request.send(site.port(Service::Panel)).await
    };
    let act = |act: &str| format!("/api/actions/{}/{act}", shown.action);
    for (path, body) in [
        (act("cancel"), json!({})),
        (act("cancel"), json!({"version": 1, "reason": "x"})),
        (act("cancel"), json!([1])),
        (act("keep"), json!({"version": "1"})),
        (act("keep"), json!({"version": 9_000_000_000_i64})),
        (act("keep"), json!({"version": 1})),
        (
            act("fill"),
            json!({"version": 1, "slot": "amount", "line": 70_000, "value": "5"}),
        ),
        (
            act("fill"),
            json!({"version": 1, "slot": "amount", "line": 1, "value": 5}),
        ),
        (
            act("fill"),
            json!({"version": 1, "slot": "amount", "line": 1, "value": "900.00"}),
        ),
        (
            act("fill"),
            json!({"version": 1, "slot": "amount", "line": -1, "value": "900.00"}),
        ),
        (
            act("fill"),
            json!({"version": 1, "slot": "customer", "line": 1, "value": "x"}),
        ),
        (
            act("fill"),
            json!({"version": 1, "slot": "payee\u{0}", "line": 1, "value": "\u{0}"}),
        ),
        (act("fill"), json!([1, "amount", 1, "900.00"])),
        ("/login".to_owned(), json!({"token": "0".repeat(64)})),
        ("/login".to_owned(), json!({"token": "\u{0}"})),
        ("/login".to_owned(), json!({"token": "x".repeat(10_000)})),
        ("/login".to_owned(), json!({"token": [0]})),
        (
            "/login".to_owned(),
            json!({"token": site.turn.session_token()}),
        ),
        ("/demo/switch".to_owned(), json!({"customer": "Kabir' --"})),
        (
            "/demo/switch".to_owned(),
            json!({"customer": "cus_00000000000000000000000000000001"}),
        ),
    ] {
        let answer = post(&path, body.clone()).await?;
        let what = format!("{path} {body}: {answer:?}");
        let typed = matches!(answer.code(), Some(Code::Problem(_)));
        assert!((400..500).contains(&answer.status) && typed, "{what}");
        assert!(
            !answer
                .head
                .contains("set-cookie: __host-countersign-panel=0"),
            "{what}"
        );
        if answer.status != 409 {
            answer.must_show_nothing_internal(&what);
        }
    }
    for path in [act("cancel"), act("keep")] {
        let kabir = site.bank.sign_in("Kabir").await?;
        let request = page_post(site, &kabir, &path).body(r#"{"version":1}"#);
        shown.refused(request, 404, "not_found", &path).await?;
    }
    Ok(())
}

/// OW-008: the chat's own addresses.
async fn messages_in_other_forms(site: &Site) -> anyhow::Result<()> {
    let chat = site.bank.origin(Service::Intake);
    let post = |path: &str| {
        Request::new("POST", path, &site.host(Service::Intake))
            .with("Origin", &chat)
            .with("Content-Type", "application/json")
            .with("Authorization", format!("Bearer {}", site.ada.bearer()))
    };
    let id = "0f7e9c4e-6a93-4a57-8a1c-0d6f4c1f2b11";
    let message =
        |text: &str, spans: Value| json!({"client_message_id": id, "text": text, "spans": spans});
    let mut with_customer = message("Send 900 to Bob", json!([]));
    with_customer["customer"] = json!("c2");
    let mut elsewhere = message("Send 900 to Bob", json!([]));
    elsewhere["conversation"] = json!("con_00000000000000000000000000000001");
    let body = |body: Value| post("/messages").body(body.to_string());
    let good = || body(message("Send 900 to Bob", json!([])));
    let cases = [
        (
            "NUL",
            body(message("Send 900\u{0} to Bob", json!([]))),
            422,
            "message_characters",
        ),
        (
            "nothing",
            body(message(" \n", json!([]))),
            422,
            "message_empty",
        ),
        (
            "2001 characters",
            body(message(&"é".repeat(2_001), json!([]))),
            422,
            "message_too_long",
        ),
        (
            "a mark outside",
            body(message(
                "Send",
                json!([{"kind": "paste", "start": 0, "end": 99}]),
            )),
            422,
            "invalid_spans",
        ),
        (
            "a mark backwards",
            body(message(
                "Send",
                json!([{"kind": "paste", "start": 3, "end": 1}]),
            )),
            422,
            "invalid_spans",
        ),
        (
            "a mark through a letter",
            body(message(
                "é",
                json!([{"kind": "drop", "start": 0, "end": 1}]),
            )),
            422,
            "invalid_spans",
        ),
        (
            "a mark of their own",
            body(message(
                "Send",
                json!([{"kind": "typed", "start": 0, "end": 1}]),
            )),
            422,
            "invalid_body",
        ),
        ("a customer", body(with_customer), 422, "invalid_body"),
        (
            "by place",
            body(json!([id, null, "Send 900 to Bob", []])),
            422,
            "invalid_body",
        ),
        (
            "a conversation of nobody",
            body(elsewhere),
            404,
            "not_found",
        ),
        (
            "half a pair",
            post("/messages").body(format!(
                r#"{{"client_message_id":"{id}","text":"\ud800","spans":[]}}"#
            )),
            400,
            "invalid_json",
        ),
        (
            "a form",
            good().set("Content-Type", "text/plain"),
            415,
            "unsupported_media_type",
        ),
        (
            "a foreign page",
            good().set("Origin", "https://evil.example"),
            403,
            "wrong_origin",
        ),
        (
            "the panel's page",
            good().set("Origin", site.bank.origin(Service::Panel)),
            403,
            "wrong_origin",
        ),
        ("no origin", good().without("Origin"), 403, "wrong_origin"),
        (
            "no bearer",
            good().without("Authorization"),
            401,
            "not_signed_in",
        ),
        (
            "the panel's cookie",
            good()
                .without("Authorization")
                .with("Cookie", site.ada.cookie()),
            401,
            "not_signed_in",
        ),
        (
            "the agent's token",
            good().set(
                "Authorization",
                format!("Bearer {}", site.turn.session_token()),
            ),
            401,
            "not_signed_in",
        ),
        (
            "two bearers",
            good().with("Authorization", format!("Bearer {}", site.ada.bearer())),
            401,
            "not_signed_in",
        ),
        (
            "a book",
            body(message(&"x".repeat(70_000), json!([]))),
            413,
            "too_large",
        ),
        (
            "an answer as a question",
            good().method("GET").body(""),
            405,
            "method_not_allowed",
        ),
    ];
    for (what, request, status, code) in cases {
        let answer = request.send(site.port(Service::Intake)).await?;
        answer.must_refuse(status, Code::problem(code), &format!("OW-008 {what}"));
    }
    for code in [
        "0".repeat(64),
        "\u{0}".to_owned(),
        String::new(),
        "x".repeat(10_000),
    ] {
        let request = post("/redeem").body(json!({"code": code}).to_string());
        let answer = request.send(site.port(Service::Intake)).await?;
        let typed = matches!(answer.code(), Some(Code::Problem(_)));
        assert!((400..500).contains(&answer.status) && typed, "{answer:?}");
        answer.must_show_nothing_internal("a code that opens nothing");
    }
    Ok(())
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
