//! The whole redactor over texts and documents.

use super::*;

fn text(input: &str) -> String {
    Redactor::new(&Rules::standard())
        .redact_text(input)
        .text
        .into_owned()
}

fn json(input: &str) -> String {
    let redactor = Redactor::new(&Rules::standard());
    let redacted = redactor.redact_json(input.as_bytes()).unwrap();
    assert!(
        serde_json::from_str::<serde_json::Value>(&redacted.text).is_ok(),
        "{}",
        redacted.text
    );
    redacted.text.into_owned()
}

#[test]
fn only_the_span_of_a_secret_changes() {
    assert_eq!(
        text("Card 4111 1111 1111 1111 was used."),
        "Card [redacted: card ending 1111] was used."
    );
    assert_eq!(
        json(r#"{ "a" : "x AKIAIOSFODNN7EXAMPLE\ty", "n": 1.50e2 }"#),
        r#"{ "a" : "x [redacted: cloud_key]\ty", "n": 1.50e2 }"#
    );
}

#[test]
fn escapes_forms_and_hidden_characters_hide_nothing() {
    for spelled in [
        r"AKIAIOSFODNN7EXAMPLE",
        r"\u0041KIAIOSFODNN7EXAMPLE",
        r"AKIAIOSFODNN7EXAMPL\u0045",
        r"AKIA\u200bIOSFODNN7EXAMPLE",
        r"ＡKIAIOSFODNN7EXAMPLE",
        r"AKIAIOSF\u00adODNN7EXAMPLE",
        r"\\u0041KIAIOSFODNN7EXAMPLE",
    ] {
        assert_eq!(
            json(&format!(r#"{{"a":"é {spelled} ü"}}"#)),
            r#"{"a":"é [redacted: cloud_key] ü"}"#,
            "{spelled}"
        );
    }
    assert_eq!(
        text("\u{FF14}\u{FF11}\u{FF11}\u{FF11}111111111111"),
        "[redacted: card ending 1111]"
    );
}

#[test]
fn a_number_that_is_a_card_becomes_a_text_and_others_stay_numbers() {
    assert_eq!(
        json(r#"{"pan":4111111111111111,"n":2}"#),
        r#"{"pan":"[redacted: card ending 1111]","n":2}"#
    );
    for same in [
        r#"{"booked_at_ms":1748503543012,"t":"1748503543012"}"#,
        r#"{"reference":9007199254740993}"#,
        r#"{"transaction_id":4111111111111111}"#,
    ] {
        assert_eq!(json(same), same);
    }
}

#[test]
fn member_names_are_redacted_and_stay_unique() {
    assert_eq!(
        json(
            r#"{"[redacted: cloud_key]":0,"AKIAIOSFODNN7EXAMPLE":1,"AKIAIOSFODNN7EXAMPL2":{"AKIAIOSFODNN7EXAMPLE":2}}"#
        ),
        r#"{"[redacted: cloud_key]":0,"[redacted: cloud_key 2]":1,"[redacted: cloud_key 3]":{"[redacted: cloud_key 4]":2}}"#
    );
}

#[test]
fn both_tokens_of_a_list_go_and_the_rest_stays() {
    assert_eq!(
        json(r#"{"auth":["Bearer aaa.bbb","Bearer ccc.ddd"],"n":1,"after":"stay"}"#),
        r#"{"auth":["Bearer [redacted: named_secret]","Bearer [redacted: named_secret]"],"n":1,"after":"stay"}"#
    );
}

#[test]
fn a_secret_inside_base64_goes_and_the_blob_stays_one() {
    use base64::Engine as _;
    let engine = base64::engine::general_purpose::STANDARD;
    let blob = engine.encode("the key is AKIAIOSFODNN7EXAMPLE, keep it");
    let redacted = json(&format!(r#"{{"blob":"{blob}"}}"#));
    let inner = redacted
        .trim_start_matches(r#"{"blob":""#)
        .trim_end_matches("\"}");
    assert_eq!(
        engine.decode(inner).unwrap(),
        b"the key is [redacted: cloud_key], keep it"
    );
    // Pictures and other bytes are no text.
    let picture = format!(
        r#"{{"data":"{}"}}"#,
        engine.encode([0x89, b'P', b'N', b'G', 0, 1, 2, 3].repeat(10))
    );
    assert_eq!(json(&picture), picture);
}

#[test]
fn json_inside_a_text_loses_its_key_and_stays_json() {
    let inner = r#"{"private_key":"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\n-----END PRIVATE KEY-----\n","n":1}"#;
    let outer = serde_json::json!({"content": [{"type": "text", "text": inner}]}).to_string();
    let redacted: serde_json::Value = serde_json::from_str(&json(&outer)).unwrap();
    let inner: serde_json::Value =
        serde_json::from_str(redacted["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(inner["private_key"], "[redacted: private_key]\n");
    assert_eq!(inner["n"], 1);
}

#[test]
fn hidden_text_goes_and_flags_stay() {
    let hidden: String = "pay 900"
        .chars()
        .filter_map(|c| char::from_u32(0xE0000 + c as u32))
        .collect();
    assert_eq!(
        text(&format!("Gas bill{hidden}!")),
        "Gas bill[redacted: hidden_text]!"
    );
    let england = "\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}";
    assert_eq!(text(england), england);
    assert_eq!(
        text("a\u{200B}\u{200C}\u{200B}\u{200D}\u{200B}b"),
        "a[redacted: hidden_text]b"
    );
    assert_eq!(text("می\u{200C}خواهم"), "می\u{200C}خواهم");
}

#[test]
fn a_rule_of_ones_own_sees_decoded_text_and_no_placeholder() {
    let rules = Rules::none()
        .with_custom("ticket", "TCK-[0-9]{6}|redacted")
        .unwrap();
    let redactor = Redactor::new(&rules);
    let redacted = redactor
        .redact_json(br#"["TCK\u002d123456","TCK-","TCK-1","23456"]"#)
        .unwrap();
    assert_eq!(
        redacted.text,
        r#"["[redacted: ticket]","TCK-","TCK-1","23456"]"#
    );
    assert_eq!(
        redacted.edits,
        [Edit {
            rule: "ticket".into(),
            span: 2..17
        }]
    );
    let again = redactor.redact_json(redacted.text.as_bytes()).unwrap();
    assert_eq!(again.edits, []);
}

#[test]
fn a_rule_that_is_left_out_finds_nothing() {
    let redactor = Redactor::new(&Rules::standard());
    let without = redactor.without(redactor.set(["card", "no_such_rule"]));
    let input = "4111111111111111 AKIAIOSFODNN7EXAMPLE";
    assert_eq!(
        without.redact_text(input).text,
        "4111111111111111 [redacted: cloud_key]"
    );
}

#[test]
fn a_part_of_a_document_alone_is_redacted() {
    let input = r#"{"id":"AKIAIOSFODNN7EXAMPLE","result":"AKIAIOSFODNN7EXAMPLE"}"#;
    let document = Document::read(input.as_bytes(), &Caps::ANSWER).unwrap();
    let scope = document.root().get("result").unwrap().span();
    let redacted = Redactor::new(&Rules::standard()).redact_document(&document, &scope);
    assert_eq!(
        redacted.text,
        r#"{"id":"AKIAIOSFODNN7EXAMPLE","result":"[redacted: cloud_key]"}"#
    );
}

#[test]
fn a_hostile_text_costs_a_time_linear_in_its_length() {
    let redactor = Redactor::new(&Rules::all());
    let time = |part: &str, bytes: usize| {
        let text = part.repeat(bytes / part.len());
        let began = std::time::Instant::now();
        let _ = redactor.redact_text(&text);
        began.elapsed()
    };
    for part in [
        "eyJ",
        "-----BEGIN PRIVATE KEY-----",
        "password=",
        "bearer ",
        "sk-",
        "4",
        "4 ",
        "DE89",
        "4111 ",
        "://a:",
        "@a.",
        "AKIA",
        "1.",
        "a:",
        "\\u0041",
        "\u{200B}",
        "-----END ",
        "GB82 ",
        "token:a1 ",
        "[redacted: ",
        "x1y2",
    ] {
        let (small, large) = (time(part, 8_000), time(part, 80_000));
        assert!(
            large < small * 40 + std::time::Duration::from_millis(300),
            "{part:?}: {small:?} then {large:?}"
        );
    }
}
