//! Forms that no page of the bank's sends: of a press, of a note, of the other acts on a card, of a message.

use countersign_testkit::Service;
use serde_json::{Value, json};

use super::{Shown, page_post};
use crate::{
    answer::{Answer, Code},
    raw::Request,
    site::Site,
};

/// OW-001 to OW-003.
pub async fn of_another_form(shown: &Shown<'_>, act: &str) -> anyhow::Result<()> {
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

/// OW-004.
pub async fn with_a_note_that_is_none(shown: &Shown<'_>, act: &str) -> anyhow::Result<()> {
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

/// OW-007: what else a customer can do to a card, and how they come in.
pub async fn other_acts_in_other_forms(shown: &Shown<'_>) -> anyhow::Result<()> {
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
pub async fn messages_in_other_forms(site: &Site) -> anyhow::Result<()> {
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
