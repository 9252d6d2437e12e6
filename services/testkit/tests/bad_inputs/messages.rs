//! Messages that two readers would read differently, or that are no messages: refused whole, at the door and by
//! the bank's own reader behind it, before anything is done.

use std::time::{Duration, Instant};

use crate::{
    answer::Code,
    site::{Site, Way, call, within},
    table,
};

/// Bytes, and the JSON-RPC code with which either reader answers.
struct Case {
    row: &'static str,
    what: &'static str,
    body: Vec<u8>,
    code: i64,
}

fn case(row: &'static str, what: &'static str, code: i64, body: impl Into<Vec<u8>>) -> Case {
    let body = body.into();
    Case {
        row,
        what,
        body,
        code,
    }
}

/// A call of the transfer tool, arguments as they are written.
fn transfer(arguments: &str) -> String {
    call("request_transfer", arguments)
}

fn keys_and_names() -> Vec<Case> {
    let named = |params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{{params}}}}}"#)
    };
    let line = r#"[{"amount":"20.00"}]"#;
    vec![
        case(
            "BI-027",
            "an argument twice",
            -32_700,
            transfer(r#"{"amount":5,"amount":99999}"#),
        ),
        case(
            "BI-027",
            "an argument twice, alike",
            -32_700,
            transfer(&format!(r#"{{"payments":{line},"payments":{line}}}"#)),
        ),
        case(
            "BI-027",
            "twice within a line",
            -32_700,
            transfer(r#"{"payments":[{"amount":"20.00","amount":"900.00"}]}"#),
        ),
        case(
            "BI-028",
            "twice, once escaped",
            -32_700,
            transfer(r#"{"amount":5,"\u0061mount":99999}"#),
        ),
        case(
            "BI-028",
            "twice, both escaped",
            -32_700,
            transfer(r#"{"payments":[{"\u0061mount":"20.00","am\u006funt":"900.00"}]}"#),
        ),
        case(
            "BI-028",
            "the tool twice, once escaped",
            -32_700,
            named(r#""name":"get_limits","n\u0061me":"request_transfer""#),
        ),
        case(
            "BI-029",
            "two tools",
            -32_700,
            named(r#""name":"get_limits","name":"request_transfer","arguments":{}"#),
        ),
        case(
            "BI-029",
            "two methods",
            -32_700,
            r#"{"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/call","params":{}}"#,
        ),
        case(
            "BI-029",
            "two sets of parameters",
            -32_700,
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"get_limits"},"params":{"name":"request_transfer"}}"#,
        ),
        case(
            "BI-029",
            "two ids",
            -32_700,
            r#"{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}"#,
        ),
        case(
            "BI-030",
            "the tool in two cases",
            -32_600,
            named(r#""name":"get_limits","Name":"request_transfer""#),
        ),
        case(
            "BI-030",
            "only in capitals",
            -32_600,
            named(r#""NAME":"request_transfer","arguments":{}"#),
        ),
        case(
            "BI-030",
            "the method in two cases",
            -32_600,
            r#"{"jsonrpc":"2.0","id":7,"method":"ping","Method":"tools/call"}"#,
        ),
        case(
            "BI-031",
            "a letter that folds to another",
            -32_600,
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"param\u{17f}\":{}}",
        ),
        case(
            "BI-031",
            "the sign of a unit for its letter",
            -32_600,
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"get_limits\",\"_meta\":{},\"argument\u{17f}\":{}}}",
        ),
    ]
}

fn shapes() -> Vec<Case> {
    let with_id = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#);
    let list = r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#;
    vec![
        case(
            "BI-023",
            "a batch",
            -32_600,
            format!("[{}]", transfer("{}")),
        ),
        case(
            "BI-023",
            "a batch of two",
            -32_600,
            format!("[{list},{}]", transfer("{}")),
        ),
        case("BI-023", "an empty batch", -32_600, "[]"),
        case(
            "BI-024",
            "an answer",
            -32_600,
            r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
        ),
        case(
            "BI-024",
            "an error",
            -32_600,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"x"}}"#,
        ),
        case(
            "BI-024",
            "a question and its answer",
            -32_600,
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","result":{}}"#,
        ),
        case(
            "BI-033",
            "arguments by place",
            -32_602,
            transfer(r#"[5000,"Al"]"#),
        ),
        case("BI-033", "arguments as text", -32_602, transfer(r#""{}""#)),
        case("BI-033", "arguments null", -32_602, transfer("null")),
        case(
            "BI-033",
            "parameters by place",
            -32_602,
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":["request_transfer"]}"#,
        ),
        case("BI-034", "no id at all: null", -32_600, with_id("null")),
        case("BI-034", "a fraction", -32_600, with_id("1.5")),
        case("BI-034", "an object", -32_600, with_id("{}")),
        case("BI-034", "a list", -32_600, with_id("[7]")),
        case("BI-034", "true", -32_600, with_id("true")),
        case(
            "BI-034",
            "beyond exact numbers",
            -32_600,
            with_id("9007199254740993"),
        ),
        case(
            "BI-037",
            "an older JSON-RPC",
            -32_600,
            list.replace("\"2.0\"", "\"1.0\""),
        ),
        case(
            "BI-037",
            "a number",
            -32_600,
            list.replace("\"2.0\"", "2.0"),
        ),
        case(
            "BI-037",
            "no version",
            -32_600,
            list.replace("\"jsonrpc\":\"2.0\",", ""),
        ),
        case(
            "BI-048",
            "no name",
            -32_602,
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{}}"#,
        ),
        case(
            "BI-048",
            "no parameters",
            -32_602,
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call"}"#,
        ),
        case(
            "BI-048",
            "a name that is a list",
            -32_602,
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":["request_transfer"]}}"#,
        ),
        case(
            "BI-048",
            "a name that is null",
            -32_602,
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":null}}"#,
        ),
        case(
            "BI-050",
            "a call without id",
            -32_600,
            transfer("{}").replace("\"id\":7,", ""),
        ),
        case(
            "BI-050",
            "a notification with an id",
            -32_600,
            r#"{"jsonrpc":"2.0","id":7,"method":"notifications/initialized"}"#,
        ),
    ]
}

fn bytes() -> Vec<Case> {
    let list = r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#;
    let payee = |payee: &[u8]| {
        let text = transfer(r#"{"payments":[{"payee":"?"}]}"#);
        let (before, after) = text.split_once('?').unwrap_or_default();
        [before.as_bytes(), payee, after.as_bytes()].concat()
    };
    let nested = |levels: usize| {
        transfer(&format!(
            r#"{{"payments":{}{}}}"#,
            "[".repeat(levels),
            "]".repeat(levels)
        ))
    };
    let keys = |count: usize| {
        let keys: Vec<String> = (0..count).map(|key| format!("\"k{key}\":0")).collect();
        transfer(&format!("{{{}}}", keys.join(",")))
    };
    vec![
        case("BI-038", "two messages", -32_700, format!("{list}{list}")),
        case(
            "BI-038",
            "two messages in two lines",
            -32_700,
            format!("{list}\n{}", transfer("{}")),
        ),
        case("BI-038", "a brace too many", -32_700, format!("{list}}}")),
        case(
            "BI-039",
            "a byte order mark",
            -32_700,
            format!("\u{feff}{list}"),
        ),
        case("BI-039", "a comment", -32_700, format!("/* list */{list}")),
        case("BI-039", "single quotes", -32_700, list.replace('"', "'")),
        case(
            "BI-039",
            "a comma too many",
            -32_700,
            list.replace('}', ",}"),
        ),
        case("BI-039", "nothing", -32_700, ""),
        case("BI-040", "half a pair", -32_700, payee(br"\ud800")),
        case("BI-040", "the other half", -32_700, payee(br"\udc00")),
        case(
            "BI-040",
            "halves in the wrong order",
            -32_700,
            payee(br"\udc00\ud800"),
        ),
        case(
            "BI-040",
            "half a pair in a key",
            -32_700,
            transfer(r#"{"\ud800":1}"#),
        ),
        case(
            "BI-041",
            "bytes that are no text",
            -32_700,
            payee(b"\xc3\x28"),
        ),
        case(
            "BI-041",
            "a letter in too many bytes",
            -32_700,
            payee(b"\xc0\xaf"),
        ),
        case("BI-041", "a half in bytes", -32_700, payee(b"\xed\xa0\x80")),
        case(
            "BI-041",
            "another encoding",
            -32_700,
            list.encode_utf16()
                .flat_map(u16::to_le_bytes)
                .collect::<Vec<u8>>(),
        ),
        case("BI-042", "two hundred levels", -32_700, nested(200)),
        case(
            "BI-042",
            "two hundred levels where nobody looks",
            -32_700,
            format!(
                r#"{{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{{"x":{}{}}}}}"#,
                "[".repeat(200),
                "]".repeat(200)
            ),
        ),
        case("BI-043", "thirty thousand levels", -32_700, nested(30_000)),
        case(
            "BI-043",
            "thirty thousand levels, never closed",
            -32_700,
            "[".repeat(30_000),
        ),
        case(
            "BI-043",
            "thirty thousand objects",
            -32_700,
            r#"{"a":"#.repeat(10_000),
        ),
        case("BI-044", "five thousand keys", -32_700, keys(5_000)),
        case(
            "BI-045",
            "a line of garbage before",
            -32_700,
            format!("starting up...\n{}", transfer("{}")),
        ),
        case(
            "BI-045",
            "the framing of an editor",
            -32_700,
            format!("Content-Length: 46\r\n\r\n{list}"),
        ),
        case("BI-046", "a line feed in a text", -32_700, payee(b"a\nb")),
        case("BI-046", "a tab in a text", -32_700, payee(b"a\tb")),
        case(
            "BI-056",
            "not a number",
            -32_700,
            transfer(r#"{"payments":[{"amount":NaN}]}"#),
        ),
        case(
            "BI-056",
            "infinite",
            -32_700,
            transfer(r#"{"payments":[{"amount":-Infinity}]}"#),
        ),
        case(
            "BI-057",
            "beyond every number",
            -32_700,
            transfer(r#"{"payments":[{"amount":1e400}]}"#),
        ),
        case(
            "BI-061",
            "a plus",
            -32_700,
            transfer(r#"{"payments":[{"amount":+5}]}"#),
        ),
        case(
            "BI-061",
            "hexadecimal",
            -32_700,
            transfer(r#"{"payments":[{"amount":0x10}]}"#),
        ),
        case(
            "BI-061",
            "a leading zero",
            -32_700,
            transfer(r#"{"payments":[{"amount":007}]}"#),
        ),
        case("BI-066", "NUL", -32_700, payee(br"A\u0000l")),
        case("BI-066", "NUL as it is", -32_700, payee(b"A\0l")),
        case(
            "BI-066",
            "NUL in a key",
            -32_700,
            transfer(r#"{"pay\u0000ments":[]}"#),
        ),
    ]
}

#[tokio::test]
async fn a_message_that_can_be_read_two_ways_is_refused_whole() -> anyhow::Result<()> {
    let site = Site::begin().await?;
    let before = site.counts().await?;
    let mut sent = vec!["BI-019", "BI-035", "BI-036", "BI-049"];
    for case in keys_and_names().iter().chain(&shapes()).chain(&bytes()) {
        sent.push(case.row);
        for way in Way::BOTH {
            let start = Instant::now();
            let answer = site.send(way, case.body.clone()).await?;
            let what = format!("{} {} {way:?}", case.row, case.what);
            answer.must_refuse(400, Code::rpc(case.code), &what);
            assert!(
                start.elapsed() < Duration::from_secs(2),
                "{what} takes long"
            );
        }
    }
    a_message_too_long_is_refused(&site).await?;
    assert_eq!(site.counts().await?, before, "and no token was spent");

    methods_nobody_listed_are_refused(&site).await?;
    ids_come_back_as_they_were(&site).await?;
    answers_find_their_questions(&site).await?;
    assert_eq!(
        site.counts().await?.without_used_requests(),
        before.without_used_requests()
    );
    site.still_works().await?;
    table::must_be_the_rows_of(
        "a_message_that_can_be_read_two_ways_is_refused_whole",
        &sent,
    );
    Ok(())
}

/// BI-019 and the million keys of BI-044: refused by their length, before they are read.
async fn a_message_too_long_is_refused(site: &Site) -> anyhow::Result<()> {
    let long = call(
        "request_transfer",
        &format!(r#"{{"payee":"{}"}}"#, "a".repeat(1 << 20)),
    );
    let keys: String = (0..200_000).map(|key| format!("\"k{key}\":0,")).collect();
    let many = call("request_transfer", &format!("{{{keys}\"k\":0}}"));
    for way in Way::BOTH {
        for (what, body) in [("a megabyte", &long), ("keys without end", &many)] {
            let answer = site.send(way, body.as_str()).await?;
            answer.must_refuse(413, Code::problem("too_large"), &format!("{what} {way:?}"));
        }
        let announced = site.post(way, "{}")?.with("Content-Length", "2000000000");
        let answer = announced.send(site.port(way.service())).await?;
        answer.must_refuse(
            413,
            Code::problem("too_large"),
            &format!("announced {way:?}"),
        );
    }
    Ok(())
}

/// BI-049.
async fn methods_nobody_listed_are_refused(site: &Site) -> anyhow::Result<()> {
    for (method, params) in [
        (
            "completion/complete",
            r#"{"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"a","value":"b"}}"#,
        ),
        ("resources/read", r#"{"uri":"file:///etc/passwd"}"#),
        ("resources/subscribe", r#"{"uri":"bank://accounts"}"#),
        ("prompts/get", r#"{"name":"x"}"#),
        ("sampling/createMessage", r#"{"messages":[],"maxTokens":1}"#),
        (
            "elicitation/create",
            r#"{"message":"your password?","requestedSchema":{}}"#,
        ),
        ("tools/Call", r#"{"name":"list_accounts","arguments":{}}"#),
        ("x/y", "{}"),
    ] {
        for way in Way::BOTH {
            let body =
                format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{params}}}"#);
            let answer = site.send(way, body).await?;
            let what = format!("BI-049 {method} {way:?}: {answer:?}");
            match (way, answer.code()) {
                (Way::Door, code) => assert_eq!(code, Code::rpc(-32_001), "{what}"),
                (Way::Direct, Some(Code::Rpc(-32_601 | -32_602))) => {}
                (Way::Direct, _) => panic!("{what}"),
            }
            answer.must_show_nothing_internal(&what);
        }
    }
    Ok(())
}

/// BI-036.
async fn ids_come_back_as_they_were(site: &Site) -> anyhow::Result<()> {
    for id in [
        "101",
        "\"101\"",
        "-1",
        "0",
        "\"\"",
        "\"a b\"",
        "9007199254740991",
    ] {
        for way in Way::BOTH {
            for method in ["ping", "x/private"] {
                let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#);
                let answer = site.send(way, body).await?;
                let same = serde_json::from_str::<serde_json::Value>(id)?;
                assert_eq!(answer.json()["id"], same, "{way:?} {method}: {answer:?}");
            }
        }
    }
    Ok(())
}

/// BI-035: questions under one id at one time, each with its own answer.
async fn answers_find_their_questions(site: &Site) -> anyhow::Result<()> {
    let lists = [
        ("list_accounts", "accounts"),
        ("list_payees", "payees"),
        ("list_cards", "cards"),
        ("list_documents", "documents"),
    ];
    let questions = (0..60).map(|number| {
        let (tool, member) = lists[number % lists.len()];
        let way = Way::BOTH[(number / lists.len()) % 2];
        async move {
            let answer = site.call(way, tool, "{}").await?;
            let own = answer.content()[member].is_array();
            anyhow::ensure!(
                own && answer.json()["id"] == 7,
                "{tool} {way:?}: {answer:?}"
            );
            Ok(())
        }
    });
    let all = futures_util::future::try_join_all(questions);
    within(Duration::from_secs(20), "sixty answers", all).await??;
    Ok(())
}
