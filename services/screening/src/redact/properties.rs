//! What holds for every document and every secret, whatever stands around them.

use proptest::prelude::*;

use super::*;

/// A secret of each kind, and whether its rule is opt-in.
const SECRETS: &[&str] = &[
    "AKIAIOSFODNN7EXAMPLE",
    "AIzaSyA1234567890abcdefghijklmnopqrstuv",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "glpat-abcdefGHIJ1234567890",
    "xoxb-123456789012-abcdefghijkl",
    "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
    "sk-ant-api03-abcdefghijklmnop1234567890",
    "sk-proj-abcdefghijklmnopqrstuvwx12345678",
    "hf_abcdefghijklmnopqrstuvwxyz12345678",
    "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJlc2lnbmF0dXJl",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\n-----END PRIVATE KEY-----",
    "4111 1111 1111 1111",
    "378282246310005",
    "5555-5555-5555-4444",
    "DE89 3704 0044 0532 0130 00",
    "gb82west12345698765432",
    "kim.lee@example.com",
    "203.0.113.7",
    "2001:db8::8a2e:370:7334",
    "RSSMRA85T10A562S",
];

/// How a JSON string spells a text: some characters as escapes, some with something invisible behind them.
fn spelled(text: &str, escapes: &[u8]) -> String {
    let mut spelled = String::new();
    for (position, character) in text.chars().enumerate() {
        match escapes
            .get(position % escapes.len().max(1))
            .copied()
            .unwrap_or(0)
        {
            1 => spelled.push_str(&format!("\\u{:04x}", u32::from(character))),
            2 if character.is_ascii_alphanumeric() => {
                spelled.push(character);
                spelled.push_str("\\u200b");
            }
            3 if character.is_ascii_digit() => {
                spelled.push(char::from_u32(0xFF10 + u32::from(character) - 0x30).unwrap_or('0'));
            }
            _ if character == '\n' => spelled.push_str("\\n"),
            _ => spelled.push(character),
        }
    }
    spelled
}

fn value() -> impl Strategy<Value = serde_json::Value> {
    let secrets = proptest::sample::select(SECRETS)
        .prop_map(|secret| serde_json::Value::String(secret.to_owned()));
    let leaf = prop_oneof![
        "[^\0]{0,24}".prop_map(serde_json::Value::String),
        "[A-Za-z0-9+/=_. :@-]{0,40}".prop_map(serde_json::Value::String),
        (
            "[a-z :=]{0,9}",
            proptest::sample::select(SECRETS),
            "[ -~]{0,9}"
        )
            .prop_map(|(before, secret, after)| serde_json::Value::String(format!(
                "{before} {secret} {after}"
            ))),
        any::<i64>().prop_map(serde_json::Value::from),
        Just(serde_json::json!(4111111111111111_u64)),
        Just(serde_json::Value::Null),
        secrets,
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        let keys = prop_oneof![
            "[a-z_]{1,12}",
            proptest::sample::select(SECRETS).prop_map(String::from)
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(serde_json::Value::Array),
            proptest::collection::vec((keys, inner), 0..6)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

fn redactor() -> Redactor {
    static REDACTOR: std::sync::LazyLock<Redactor> =
        std::sync::LazyLock::new(|| Redactor::new(&Rules::all()));
    REDACTOR.clone()
}

/// What is left between the edits, in the original and in the result.
fn kept(original: &str, redacted: &Redacted<'_>) -> Vec<String> {
    let mut at = 0;
    let mut kept = Vec::new();
    for edit in &redacted.edits {
        if edit.span.start >= at {
            kept.push(original[at..edit.span.start].to_owned());
            at = edit.span.end;
        }
    }
    kept.push(original[at..].to_owned());
    kept
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn json_stays_json_and_only_reported_spans_change(value in value()) {
        let original = value.to_string();
        let redacted = redactor().redact_json(original.as_bytes()).unwrap();
        let reread: Result<serde_json::Value, _> = serde_json::from_str(&redacted.text);
        prop_assert!(reread.is_ok(), "{}", redacted.text);
        prop_assert!(redactor().redact_json(redacted.text.as_bytes()).is_ok(), "{}", redacted.text);
        let mut rest: &str = &redacted.text;
        for part in kept(&original, &redacted) {
            let at = rest.find(&part);
            prop_assert!(at.is_some(), "{part:?} in {}", redacted.text);
            rest = &rest[at.unwrap_or(0) + part.len()..];
        }
        prop_assert_eq!(redacted.edits.is_empty(), redacted.text == original);
    }

    #[test]
    fn redacting_twice_is_redacting_once(value in value(), text in "[^\0]{0,80}") {
        let once = redactor().redact_json(value.to_string().as_bytes()).unwrap().text.into_owned();
        let twice = redactor().redact_json(once.as_bytes()).unwrap();
        prop_assert_eq!(&twice.text, &once);
        let once = redactor().redact_text(&text).text.into_owned();
        prop_assert_eq!(&redactor().redact_text(&once).text, &once);
    }

    #[test]
    fn a_planted_secret_is_always_taken_out(
        secret in proptest::sample::select(SECRETS),
        before in "[ -!#-\\[\\]-~é中]{0,20}[ \n(,;>]",
        after in "[ \n),;<][ -!#-\\[\\]-~é中]{0,20}",
        escapes in proptest::collection::vec(0_u8..4, 1..9),
        place in 0_usize..6,
    ) {
        // What stands around may be read as part of a longer number, which is another case.
        prop_assume!(!before.trim_end().ends_with(|c: char| c.is_ascii_alphanumeric() || "-+.,/_*".contains(c)));
        prop_assume!(!after.trim_start().starts_with(|c: char| c.is_ascii_alphanumeric() || "-+.,/_*".contains(c)));
        let string = format!("{}{}{}", before.replace('\n', "\\n"), spelled(secret, &escapes), after.replace('\n', "\\n"));
        let json = match place {
            0 => format!("\"{string}\""),
            1 => format!("{{\"a\":[\"{string}\"]}}"),
            2 => format!("{{\"{string}\":1}}"),
            3 => format!("{{\"content\":[{{\"type\":\"text\",\"text\":\"{string}\"}}],\"_meta\":{{\"n\":1.0}}}}"),
            4 => format!("{{\"error\":{{\"code\":-1,\"message\":\"{string}\"}}}}"),
            _ => format!("[[[{{\"structuredContent\":{{\"deep\":\"{string}\"}}}}]]]"),
        };
        let redacted = redactor().redact_json(json.as_bytes()).unwrap();
        prop_assert!(!redacted.edits.is_empty(), "{json}");
        let reread: serde_json::Value = serde_json::from_str(&redacted.text).unwrap();
        let bare: String = reread.to_string().chars().filter(|c| c.is_ascii_alphanumeric()).collect();
        let secret: String = secret.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
        prop_assert!(!bare.contains(&secret), "{}", redacted.text);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), text in "\\PC{0,80}") {
        let _ = redactor().redact_json(&bytes);
        let _ = redactor().redact_text(&text);
        let _ = redactor().redact_text(&String::from_utf8_lossy(&bytes));
    }
}
