//! The writer against the library that defines the one spelling here.

use proptest::prelude::*;
use serde_json::{Map, Number, Value, json};

use super::CanonicalWriter;

fn written(value: &impl serde::Serialize) -> Vec<u8> {
    CanonicalWriter::new().write(value).unwrap().clone()
}

fn numbers() -> impl Strategy<Value = Number> {
    prop_oneof![
        (-(1_i64 << 53)..=1 << 53).prop_map(Number::from),
        any::<f64>().prop_filter_map("a number", Number::from_f64),
        any::<i8>().prop_map(Number::from),
    ]
}

/// Values with every kind of text: controls, quotes, both sides of the surrogates.
fn values() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        any::<String>(),
        "[\\x00-\\x7f]{0,8}",
        "[\u{e000}-\u{ffff}\u{10000}-\u{10ffff}]{0,3}"
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        numbers().prop_map(Value::Number),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((text.clone(), inner), 0..8)
                .prop_map(|members| Value::from(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #[test]
    fn every_value_is_spelled_as_the_library_spells_it(value in values()) {
        let expected = serde_json_canonicalizer::to_vec(&value).unwrap();
        prop_assert_eq!(written(&value), expected);
    }
}

#[derive(serde::Serialize)]
struct Outer<'a> {
    zebra: Option<u8>,
    #[serde(flatten)]
    inner: Inner<'a>,
    alpha: (u8, char),
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<u8>,
}

#[derive(serde::Serialize)]
struct Inner<'a> {
    text: &'a str,
    kind: Kind,
    kinds: Vec<Kind>,
}

#[derive(serde::Serialize)]
enum Kind {
    Plain,
    Wrapped(u8),
    Pair(u8, u8),
    Named { z: u8, a: u8 },
}

#[test]
fn derived_types_are_spelled_as_the_library_spells_them() {
    let value = Outer {
        zebra: None,
        inner: Inner {
            text: "\u{1}\u{7f}\"\\/é",
            kind: Kind::Plain,
            kinds: vec![
                Kind::Wrapped(1),
                Kind::Pair(2, 3),
                Kind::Named { z: 4, a: 5 },
            ],
        },
        alpha: (1, '\n'),
        left_out: None,
    };
    let expected = serde_json_canonicalizer::to_vec(&value).unwrap();
    assert_eq!(written(&value), expected);
}

#[test]
fn the_order_is_that_of_utf_16() {
    let value = json!({"\u{1f600}": 1, "\u{fb33}": 2, "\r": 3, "1": 4, "\u{80}": 5});
    assert_eq!(
        String::from_utf8(written(&value)).unwrap(),
        "{\"\\r\":3,\"1\":4,\"\u{80}\":5,\"\u{1f600}\":1,\"\u{fb33}\":2}"
    );
}

#[test]
fn what_readers_could_take_differently_is_refused() {
    let mut writer = CanonicalWriter::new();
    assert!(writer.write(&((1_u64 << 53) + 1)).is_err());
    assert!(writer.write(&-((1_i64 << 53) + 1)).is_err());
    assert!(writer.write(&f64::NAN).is_err());
    let raw = serde_json::value::RawValue::from_string("{ }".into()).unwrap();
    assert!(writer.write(&raw).is_err());
    #[derive(serde::Serialize)]
    struct Twice {
        #[serde(flatten)]
        event: Value,
        sequence: u8,
    }
    let twice = Twice {
        event: json!({"sequence": 7}),
        sequence: 0,
    };
    assert!(writer.write(&twice).is_err());
    // What failed leaves nothing behind.
    assert_eq!(
        writer.write(&json!({"b": 1, "a": 2})).unwrap(),
        br#"{"a":2,"b":1}"#
    );
}
