//! Twelve lines that pass through other proxies, sent to a careless server directly and through the door, over pipes
//! and over HTTP. What came of them is a published page, and a run that finds anything else fails.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Context;
use countersign_testkit::checkout;
use countersign_testkit::stack::programs;
use serde_json::Value;

use crate::counts::Counts;
use crate::doors::DoorPlace;
use crate::processes::{self, Listening};
use crate::speaker::Speaker;

/// The server that sees what the door lets through.
pub const SERVER: &str = "countersign-misbehaving-server";
/// The policy's name.
pub const POLICY: &str = "misbehaving";
/// The published page.
const PAGE: &str = "docs/attack-lines.md";
/// How long an answer over HTTP may take.
const ANSWER_TIME: Duration = Duration::from_secs(10);

/// One line.
struct Line {
    name: &'static str,
    bytes: &'static str,
    /// Whether it is right that the door lets it through.
    passes: bool,
}

const LINES: [Line; 12] = [
    Line {
        name: "`tools/list`, of which `secret` is no part",
        bytes: r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#,
        passes: true,
    },
    Line {
        name: "a call of `secret`",
        bytes: r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"secret","arguments":{}}}"#,
        passes: false,
    },
    Line {
        name: "a batch with the call",
        bytes: r#"[{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"secret","arguments":{}}}]"#,
        passes: false,
    },
    Line {
        name: "`name` twice, `secret` and `echo`",
        bytes: r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"secret","name":"echo","arguments":{}}}"#,
        passes: false,
    },
    Line {
        name: "`method` twice, `tools/call` and `ping`",
        bytes: r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","method":"ping","params":{"name":"secret","arguments":{}}}"#,
        passes: false,
    },
    Line {
        name: "a further key `Name: secret`",
        bytes: r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","Name":"secret","arguments":{}}}"#,
        passes: false,
    },
    Line {
        name: "an argument nobody declared",
        bytes: r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a","extra":"b"}}}"#,
        passes: false,
    },
    Line {
        name: "an unknown method, `x/private`",
        bytes: r#"{"jsonrpc":"2.0","id":7,"method":"x/private","params":{}}"#,
        passes: false,
    },
    Line {
        name: "`resources/read` of any address",
        bytes: r#"{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"file:///customer"}}"#,
        passes: false,
    },
    Line {
        name: "`NaN` in an argument",
        bytes: r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":NaN}}}"#,
        passes: false,
    },
    Line {
        name: "a line that is not JSON",
        bytes: "GET / HTTP/1.1",
        passes: false,
    },
    Line {
        name: "`notifications/initialized`, to which there is no answer",
        bytes: r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        passes: true,
    },
];

/// What came of a line on one way.
struct Came {
    /// Whether the server was reached, by its own log.
    reached: bool,
    /// The answer in a few words.
    answer: String,
}

impl Came {
    fn words(&self) -> String {
        let reached = if self.reached {
            "reached it"
        } else {
            "did not"
        };
        format!("{reached}; {}", self.answer)
    }
}

/// Sends all lines all ways and holds what came against the published page.
///
/// # Errors
/// When a program does not start.
pub fn test() -> anyhow::Result<Counts> {
    let server = programs::folder()?.join(SERVER);
    let place = DoorPlace::new("attack-lines")?;
    let definitions = processes::fed(Command::new(&server).arg("--definitions"), b"")?;
    let policy = place.pinned_policy(POLICY, definitions.as_bytes())?;
    let mut counts = Counts::default();
    let mut rows = String::new();
    for (number, line) in LINES.iter().enumerate() {
        let log = |way: &str| place.folder().join(format!("{number}-{way}.log"));
        let mut direct = Command::new(&server);
        let direct = over_pipes(&mut direct, &log("direct"), line)?;
        let mut door = place.run(&policy, &format!("{number}-pipes"))?;
        let piped = over_pipes(door.arg(&server), &log("pipes"), line)?;
        let served = over_http(&place, &policy, &server, &log("http"), line)?;
        let good = [&piped, &served]
            .iter()
            .all(|came| came.reached == line.passes);
        counts.passed += u32::from(good);
        counts.failed += u32::from(!good);
        if !good {
            println!(
                "FAILED: {}: pipes {}, HTTP {}",
                line.name,
                piped.words(),
                served.words()
            );
        }
        rows.push_str(&format!(
            "| {} | {} | {} | {} |\n",
            line.name,
            direct.words(),
            piped.words(),
            served.words()
        ));
    }
    let page = format!("{HEAD}{rows}");
    compare(PAGE, &page, &mut counts)?;
    Ok(counts)
}

const HEAD: &str = "\
# Twelve lines that pass through other proxies

A careless server offers `echo` and `secret`; the policy allows `echo`. Each line is sent to a fresh server directly, through
`countersign-door run` over pipes and through `countersign-door serve` over HTTP. *Reached it* is by the server's own log of
what arrived. `cargo xtask test --only attacks` makes this page again and fails where it differs.

| line | directly | through the door, pipes | through the door, HTTP |
|---|---|---|---|
";

/// Holds a page against the committed one, and leaves what it should be under `target`.
///
/// # Errors
/// When a file cannot be written.
pub fn compare(path: &str, page: &str, counts: &mut Counts) -> anyhow::Result<()> {
    let committed = fs::read_to_string(checkout::root().join(path)).unwrap_or_default();
    if committed == page {
        counts.passed += 1;
        return Ok(());
    }
    let found = checkout::root().join("target").join(path.replace('/', "-"));
    fs::write(&found, page)?;
    println!(
        "FAILED: {path} is not what this run found; that stands in {}",
        found.display()
    );
    counts.failed += 1;
    Ok(())
}

fn over_pipes(program: &mut Command, log: &Path, line: &Line) -> anyhow::Result<Came> {
    let mut speaker = Speaker::greeting(program.arg("--log").arg(log))?;
    // The greeting's own notification is the same as one of the lines.
    let before = arrived(log, line)?;
    speaker.write(line.bytes.as_bytes())?;
    let answer = if line.bytes.contains(r#""method":"notifications/"#) {
        match speaker.silence() {
            None => "no answer".to_owned(),
            Some(_) => "an answer".to_owned(),
        }
    } else {
        in_words(&speaker.answer()?)
    };
    drop(speaker);
    Ok(Came {
        reached: arrived(log, line)? > before,
        answer,
    })
}

fn over_http(
    place: &DoorPlace,
    policy: &Path,
    server: &Path,
    log: &Path,
    line: &Line,
) -> anyhow::Result<Came> {
    let mut command = Command::new(server);
    command.args(["--http", "127.0.0.1:0", "--log"]).arg(log);
    let server = Listening::start(&mut command, None)?;
    let record = log
        .file_stem()
        .context("the log has a name")?
        .to_string_lossy()
        .into_owned();
    let url = format!("http://{}/mcp", server.address());
    let door = place.serve(policy, &record, &format!("url: \"{url}\""))?;
    let (status, body) = post(door.address(), line.bytes)?;
    let answer = match serde_json::from_str(&body) {
        Ok(answer) => in_words(&answer),
        Err(_) => format!("HTTP {status}"),
    };
    Ok(Came {
        reached: arrived(log, line)? > 0,
        answer,
    })
}

/// How often the line stands in the server's log.
fn arrived(log: &Path, line: &Line) -> anyhow::Result<usize> {
    // The door asks for the list under an id of its own, and a forwarded line is the same bytes.
    let text = fs::read_to_string(log).unwrap_or_default();
    let mut count = 0;
    // A line without its end is being written: the answer to a line of ours comes only after its note.
    for noted in text
        .split_inclusive('\n')
        .filter(|noted| noted.ends_with('\n'))
    {
        let noted: Value = serde_json::from_str(noted)?;
        count += usize::from(noted["line"].as_str() == Some(line.bytes));
    }
    Ok(count)
}

/// An answer in a few words.
fn in_words(answer: &Value) -> String {
    let error = &answer["error"];
    if let Some(reason) = error["data"]["reason"].as_str() {
        return format!("{} `{reason}`", error["code"]);
    }
    if !error.is_null() {
        return format!("error {}", error["code"]);
    }
    let text = answer["result"]["content"][0]["text"].as_str();
    match (text, answer["result"]["tools"].as_array()) {
        (Some("the secret"), _) => "**ran `secret`**".to_owned(),
        (_, Some(tools)) if tools.iter().any(|tool| tool["name"] == "secret") => {
            "**shows `secret`**".to_owned()
        }
        (_, Some(_)) => "does not show `secret`".to_owned(),
        _ => "answered".to_owned(),
    }
}

/// Posts a body and reads the whole answer.
fn post(address: &str, body: &str) -> anyhow::Result<(u16, String)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(ANSWER_TIME))?;
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).context("read the answer")?;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer
        .split_once("\r\n\r\n")
        .context("an answer has a head")?;
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    // A chunked body is one chunk here: what stands between braces is it.
    let json = match (body.find('{'), body.rfind('}')) {
        (Some(start), Some(end)) => body[start..=end].to_owned(),
        _ => String::new(),
    };
    Ok((status.unwrap_or_default(), json))
}
