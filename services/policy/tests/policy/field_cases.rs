//! Inputs that other software has tripped over, as kinds: what is decided about each.

use countersign_policy::{Effect, Live, Policy, check_name, definition_pin};
use countersign_wire::Frame;

use crate::stand::{Stand, refused};

const TOOLS: &str = "tools:\n  list_transactions:\n    args:\n      account: {type: string, required: \
                     true, pattern: '[a-z]+', max_length: 20}\n      limit: {type: integer, min: 1, \
                     max: 100}\n      from: {type: string, max_length: 10}\n      flag: {type: \
                     boolean}\n";

fn reason(arguments: &str) -> &'static str {
    Stand::new(TOOLS).reason("list_transactions", arguments)
}

#[test]
fn null_is_no_value_for_anything() {
    // The bank server refuses it as well, so door and server agree.
    for name in ["limit", "from", "flag"] {
        let arguments = format!(r#"{{"account":"main","{name}":null}}"#);
        let stand = Stand::new(TOOLS);
        stand.decided("list_transactions", &arguments, |decision| {
            assert_eq!(decision.reason.code(), "argument_type");
            assert_eq!(decision.argument, Some(name));
        });
    }
    assert_eq!(reason(r#"{"account":null}"#), "argument_type");
}

#[test]
fn an_integer_is_written_as_one() {
    for number in ["3", "1", "100"] {
        let arguments = format!(r#"{{"account":"main","limit":{number}}}"#);
        assert_eq!(reason(&arguments), "allowed", "{number}");
    }
    for number in [
        "3.0",
        "3e0",
        "3E0",
        "30e-1",
        "-0",
        "0",
        "101",
        "3.5",
        "9007199254740993",
    ] {
        let arguments = format!(r#"{{"account":"main","limit":{number}}}"#);
        assert_eq!(reason(&arguments), "argument_range", "{number}");
    }
    for value in ["\"3\"", "true", "[3]", "{}"] {
        let arguments = format!(r#"{{"account":"main","limit":{value}}}"#);
        assert_eq!(reason(&arguments), "argument_type", "{value}");
    }
}

#[test]
fn what_is_undeclared_is_refused_whatever_it_says() {
    for extra in [
        r#""customer_id":"c-2""#,
        r#""confirmed":true"#,
        r#""approved":true"#,
        r#""skip_confirm":1"#,
        r#""__proto__":{"amount":5}"#,
        r#""constructor":{}"#,
        r#""_meta":{"traceparent":"00"}"#,
        r#""":1"#,
        r#""account ":"b""#,
        r#""acc\u00f6unt":"b""#,
        r#""\u0430ccount":"b""#,
    ] {
        let arguments = format!(r#"{{"account":"main",{extra}}}"#);
        assert_eq!(reason(&arguments), "undeclared_argument", "{extra}");
    }
}

#[test]
fn a_pattern_is_about_the_whole_value() {
    for account in [
        "main\\n",
        "main ",
        " main",
        "Main",
        "m\\u0430in",
        "main\\u200b",
        "main\\u202e",
        "\\uff4dain",
        "main' OR 1=1",
        "ma\\u0301in",
    ] {
        let arguments = format!(r#"{{"account":"{account}"}}"#);
        assert_eq!(reason(&arguments), "argument_pattern", "{account}");
    }
    let long = format!(r#"{{"account":"{}"}}"#, "a".repeat(10_000));
    assert_eq!(reason(&long), "argument_length");
}

#[test]
fn a_name_is_exactly_one_tool() {
    let stand = Stand::new(
        "allow_dots: true\ntools: {get_balance: {args: {a: {type: boolean}}}, get.balance: {}, \
         get-balance: {}}\nrules: [{id: no-dash, tool: get-balance, effect: deny}]\n",
    );
    let arguments = r#"{"a":true}"#;
    assert_eq!(stand.reason("get_balance", arguments), "allowed");
    assert_eq!(
        stand.reason("get.balance", arguments),
        "undeclared_argument"
    );
    assert_eq!(stand.reason("get.balance", "{}"), "allowed");
    assert_eq!(stand.reason("get-balance", "{}"), "denied_by_rule");
    for name in [
        "get_balance ",
        " get_balance",
        "getBalance",
        "GET_BALANCE",
        "Get_Balance",
        "get_balance_",
        "get_balanc",
        "get__balance",
    ] {
        assert_eq!(stand.call(name, "{}").effect, Effect::Deny, "{name}");
    }
    for name in [
        "get\u{200b}_balance",
        "get_balance\u{200d}",
        "request_transf\u{435}r",
        "get_b\u{430}lance",
        "get_balance\0",
        "get_balance\n",
        "get/balance",
        "get balance",
        "\u{202e}get",
        "",
        "get_balance\u{e0041}",
        &"a".repeat(129),
        "ge\u{301}t",
    ] {
        assert!(!check_name(name, true), "{name:?}");
        assert_eq!(stand.reason(name, "{}"), "bad_name", "{name:?}");
    }
}

#[test]
fn numbers_in_place_of_text_are_refused_with_their_line() {
    for value in [
        "01234567", "0012", "07-50-30", "1e3", "0x1f", "1_000", "12:30:45", ".5", "~",
    ] {
        let yaml = format!(
            "tools:\n  a:\n    args:\n      b:\n        type: string\n        enum: [{value}]\n"
        );
        // A sort code is text to every reader; the others are numbers or nothing to some.
        if value.starts_with("07-") {
            Stand::new(&yaml);
            continue;
        }
        let error = refused(&yaml);
        assert_eq!(error.line(), 11, "{value} {error}");
        Stand::new(&yaml.replace(value, &format!("'{value}'")));
    }
}

#[test]
fn a_message_with_two_readings_never_reaches_a_decision() {
    for frame in [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","Name":"b"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"amount":"5.00","amount":"5000.00"}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"amount":5,"\u0061mount":99999}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"payee":"\ud800"}}}"#,
        r#"[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}]"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}{"jsonrpc":"2.0","id":2,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"ping"}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"a"}}"#,
    ] {
        assert!(Frame::read(frame.as_bytes()).is_err(), "{frame}");
    }
}

#[test]
fn methods_nobody_listed_are_denied() {
    let stand = Stand::new(
        "methods: {resources/read: {args: {uri: {type: string, required: true, pattern: 'note://[a-z]+'}}}}\n",
    );
    let decide = |method: &str, params: &str| {
        let document =
            countersign_wire::Document::read(params.as_bytes(), &countersign_wire::Caps::MESSAGE)
                .unwrap();
        stand
            .policy
            .decide_method(method, Some(document.root()), "ada", 0, &stand.rates)
            .reason
            .code()
    };
    assert_eq!(decide("resources/read", r#"{"uri":"note://a"}"#), "allowed");
    assert_eq!(
        decide("resources/read", r#"{"uri":"file:///etc/passwd"}"#),
        "argument_pattern"
    );
    assert_eq!(decide("resources/read", "{}"), "missing_argument");
    for method in [
        "completion/complete",
        "resources/subscribe",
        "prompts/get",
        "x/y",
        "Resources/Read",
        "resources/read ",
        "tasks/get",
        "sampling/createMessage",
        "elicitation/create",
        "",
    ] {
        assert_eq!(
            decide(method, r#"{"uri":"note://a"}"#),
            "unknown_method",
            "{method}"
        );
    }
}

#[test]
fn what_a_server_says_about_itself_decides_nothing() {
    let plain = r#"{"name":"delete_all","inputSchema":{"type":"object"}}"#;
    let kind = r#"{"name":"delete_all","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#;
    let (plain, kind) = (
        definition_pin(plain).unwrap(),
        definition_pin(kind).unwrap(),
    );
    assert_ne!(plain, kind);
    let stand = Stand::new(&format!(
        "tools: {{delete_all: {{schema_sha256: '{kind}'}}}}\n"
    ));
    assert_eq!(stand.reason("delete_all", "{}"), "write_word");
    assert!(
        !stand
            .policy
            .would_pass("s", "delete_all", Live::Offered(kind))
    );
}

#[test]
fn every_part_of_a_definition_is_pinned() {
    let definition = r#"{"name":"a","title":"t","description":"d","inputSchema":{"type":"object","properties":{"x":{"type":"string","description":"p","default":"q","enum":["r"]}}},"outputSchema":{"type":"object","description":"o"},"annotations":{"readOnlyHint":true},"icons":[{"src":"i"}],"_meta":{"m":1},"execution":{"taskSupport":"forbidden"},"$unknown":{"u":"v"}}"#;
    let pin = definition_pin(definition).unwrap();
    for part in [
        "\"t\"",
        "\"d\"",
        "\"p\"",
        "\"q\"",
        "\"r\"",
        "\"o\"",
        "true",
        "\"i\"",
        "\"m\":1",
        "\"forbidden\"",
        "\"v\"",
        "\"$unknown\"",
    ] {
        let other = match part {
            "true" => "false".to_owned(),
            "\"m\":1" => "\"m\":2".to_owned(),
            part => part.replace('"', "\"\u{200b}").replacen("\u{200b}", "", 1),
        };
        let changed = definition.replacen(part, &other, 1);
        assert_ne!(changed, definition, "{part}");
        assert_ne!(definition_pin(&changed), Ok(pin), "{part}");
    }
}

#[test]
fn a_definition_of_any_shape_is_hashed_in_no_time() {
    let start = std::time::Instant::now();
    let mut schema = r#"{"type":"string"}"#.to_owned();
    for _ in 0..16 {
        schema = format!(r#"{{"allOf":[{schema},{schema}]}}"#);
    }
    let definition = format!(r#"{{"name":"a","inputSchema":{schema}}}"#);
    assert!(definition_pin(&definition).is_ok());
    let deep = format!(
        r#"{{"name":"a","x":{}1{}}}"#,
        "[".repeat(500),
        "]".repeat(500)
    );
    assert!(definition_pin(&deep).is_err());
    assert!(start.elapsed() < std::time::Duration::from_secs(20));
    for schema in [
        r#"{"type":["string","null"]}"#,
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}"##,
        r#"{"anyOf":[{"type":"string"},{"type":"integer"}]}"#,
        r#"{"pattern":"^(a+)+$"}"#,
    ] {
        assert!(definition_pin(&format!(r#"{{"name":"a","inputSchema":{schema}}}"#)).is_ok());
    }
}

#[test]
fn a_policy_with_windows_line_ends_is_the_same_policy_with_another_hash() {
    let yaml = format!("{}tools: {{a: {{}}}}\n", crate::stand::HEAD);
    let windows = Policy::load(&yaml.replace('\n', "\r\n")).unwrap();
    let unix = Policy::load(&yaml).unwrap();
    assert_eq!(windows.tools().count(), unix.tools().count());
    assert_ne!(windows.hash(), unix.hash());
}
