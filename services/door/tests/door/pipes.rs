//! A client on the door's own pipes and a server it starts.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::piped::{Piped, is_alive, policy, server_program, wait_until_gone, zombies_of};

#[test]
fn a_client_and_a_server_meet() {
    let mut door = Piped::with(&policy(""));
    let met = door.initialize();
    assert_eq!(met["result"]["serverInfo"]["name"], "pipes");
    let listed = door.ask("tools/list", json!({}));
    let count = listed["result"]["tools"].as_array().unwrap().len();
    assert_eq!(count, 15);
    assert_eq!(door.says("echo", "hello"), "hello");
    let allowed = door.events("allowed");
    let call = allowed.iter().find(|line| line["tool"] == "echo").unwrap();
    assert_eq!(
        (call["identity"].as_str(), call["server"].as_str()),
        (Some("local"), Some("toy"))
    );
}

#[test]
fn what_the_policy_does_not_allow_never_arrives() {
    let mut door = Piped::ready();
    for (method, params, reason) in [
        ("tools/call", json!({"name": "secret"}), "not_listed"),
        ("tools/call", json!({"name": "transfer"}), "write_word"),
        (
            "tools/call",
            json!({"name": "echo", "arguments": {"hidden": 1}}),
            "undeclared_argument",
        ),
        ("tools/call", json!({"name": "absent"}), "not_offered"),
        (
            "resources/read",
            json!({"uri": "file:///etc/passwd"}),
            "unknown_method",
        ),
        ("x/private", json!({}), "unknown_method"),
    ] {
        let answer = door.ask(method, params);
        assert_eq!(answer["error"]["code"], -32_001, "{answer}");
        assert_eq!(answer["error"]["data"]["reason"], reason, "{answer}");
    }
    let seen = door.says("seen", "");
    for absent in [
        "secret", "transfer", "hidden", "absent", "passwd", "private",
    ] {
        assert!(!seen.contains(absent), "{seen}");
    }
}

#[test]
fn bytes_arrive_as_they_were_written_on_one_line() {
    let mut door = Piped::ready();
    let call = "{\"jsonrpc\":\"2.0\", \"id\":\"caf\\u00e9\",\t\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\r\"arguments\":{\"text\":\"\\u0041\"}}}";
    door.write(call);
    assert_eq!(door.message()["result"]["content"][0]["text"], "A");
    // A lone CR would end a line for some readers.
    assert!(door.says("seen", "").contains(&call.replace('\r', " ")));
}

#[test]
fn an_answer_carries_the_id_as_the_client_wrote_it() {
    let mut door = Piped::ready();
    door.write(r#"{"jsonrpc":"2.0","id":"caf\u00e9","method":"tools/call","params":{"name":"echo","arguments":{}}}"#);
    let line = door.line();
    assert!(line.contains(r#""id":"caf\u00e9""#), "{line}");
}

#[test]
fn lines_end_in_every_way_and_may_arrive_in_halves() {
    let mut door = Piped::ready();
    door.write_bytes(b"\r\n\n  \n{\"jsonrpc\":\"2.0\",\"id\":1,\"meth");
    assert!(door.is_silent());
    door.write_bytes(b"od\":\"ping\"}\r\n");
    assert_eq!(door.message()["id"], 1);
    assert_eq!(door.says("crlf", ""), "crlf");
    assert_eq!(door.says("spaced", "x"), "x");
}

#[test]
fn malformed_lines_are_answered_and_do_not_pass() {
    let mut door = Piped::ready();
    for (line, code) in [
        ("not json", -32_700),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32_600),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}"#,
            -32_700,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
            -32_700,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#,
            -32_602,
        ),
        (
            r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo"}}"#,
            -32_600,
        ),
        (r#"{"jsonrpc":"2.0","id":9,"result":{}}"#, -32_600),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":NaN}}}"#,
            -32_700,
        ),
    ] {
        door.write(line);
        if line.contains("\"result\"") {
            // An answer is not answered, whatever becomes of it.
            assert!(door.is_silent(), "{line}");
            continue;
        }
        let answer = door.message();
        assert_eq!(answer["error"]["code"], code, "{line} {answer}");
    }
    let long = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":"{}"}}}}"#,
        "x".repeat(2 << 20)
    );
    door.write(&long);
    let answer = door.message();
    assert_eq!(answer["error"]["data"]["reason"], "too_long", "{answer}");
    assert_eq!(door.says("echo", "still here"), "still here");
}

#[test]
fn an_answer_nobody_asked_for_does_not_pass() {
    let mut door = Piped::ready();
    assert_eq!(door.says("wrong_id", ""), "right");
    assert_eq!(door.says("twice", ""), "first");
    assert_eq!(door.says("noise", ""), "after the noise");
    assert!(door.is_silent());
}

#[test]
fn an_id_is_in_use_until_it_is_answered() {
    let mut door = Piped::ready();
    let id = door.send(
        "tools/call",
        json!({"name": "late", "arguments": {"text": "wait"}}),
    );
    door.write(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
    let refused = door.message();
    assert_eq!(refused["error"]["data"]["reason"], "id_in_use", "{refused}");
    door.send(
        "tools/call",
        json!({"name": "late", "arguments": {"text": "go"}}),
    );
    let answers = [door.message(), door.message()];
    assert_eq!(answers[1]["id"], id);
    assert_eq!(answers[1]["result"]["content"][0]["text"], "late");
}

#[test]
fn many_calls_at_once_get_their_own_answers() {
    let mut door = Piped::ready();
    let ids: Vec<_> = (0..32)
        .map(|_| {
            door.send(
                "tools/call",
                json!({"name": "late", "arguments": {"text": "wait"}}),
            )
        })
        .collect();
    door.send(
        "tools/call",
        json!({"name": "late", "arguments": {"text": "go"}}),
    );
    door.message();
    let answered: Vec<_> = ids
        .iter()
        .map(|_| door.message()["id"].as_i64().unwrap())
        .collect();
    let reversed: Vec<_> = ids.into_iter().rev().collect();
    assert_eq!(answered, reversed);
    let mut batch = String::new();
    for id in 1_000..1_032 {
        batch += &format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"echo\",\"arguments\":{{\"text\":\"{id}\"}}}}}}\n"
        );
    }
    door.write_bytes(batch.as_bytes());
    for id in 1_000..1_032 {
        let answer = door.message();
        assert_eq!(answer["id"], id);
        assert_eq!(answer["result"]["content"][0]["text"], id.to_string());
    }
}

#[test]
fn a_cancelled_call_has_no_answer_and_its_end_is_recorded() {
    let mut door = Piped::ready();
    door.says("echo", "");
    let id = door.send(
        "tools/call",
        json!({"name": "late", "arguments": {"text": "wait"}}),
    );
    door.write(&format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
    ));
    let next = door.send(
        "tools/call",
        json!({"name": "late", "arguments": {"text": "go"}}),
    );
    assert_eq!(door.message()["id"], next);
    assert!(door.is_silent());
    assert_eq!(door.events("cancelled").len(), 1);
}

#[test]
fn a_servers_question_is_refused_or_forwarded_and_never_left_alone() {
    let mut door = Piped::ready();
    let refused: Value = serde_json::from_str(&door.says("ask", "sampling/createMessage")).unwrap();
    assert_eq!(refused["error"]["code"], -32_601, "{refused}");
    drop(door);
    let mut door = Piped::with(&policy("methods: {elicitation/create: {}}\n"));
    door.initialize();
    let id = door.send(
        "tools/call",
        json!({"name": "ask", "arguments": {"text": "elicitation/create"}}),
    );
    let question = door.message();
    assert_eq!(question["method"], "elicitation/create");
    door.write(r#"{"jsonrpc":"2.0","id":"another","result":{}}"#);
    door.write(r#"{"jsonrpc":"2.0","id":"server-1","result":{"action":"accept"}}"#);
    let answer = door.message();
    assert_eq!(answer["id"], id);
    assert!(answer.to_string().contains("accept"), "{answer}");
    assert!(!answer.to_string().contains("another"), "{answer}");
}

#[test]
fn a_server_that_dies_is_answered_for_and_started_again() {
    let mut door = Piped::ready();
    let answer = door.call("exit", "");
    assert_eq!(answer["error"]["code"], -32_603, "{answer}");
    assert_eq!(answer["error"]["data"]["reason"], "server_ended");
    let since = Instant::now();
    loop {
        let answer = door.call("echo", "again");
        if answer["result"]["content"][0]["text"] == "again" {
            break;
        }
        assert_eq!(answer["error"]["data"]["reason"], "unreachable", "{answer}");
        assert!(since.elapsed() < Duration::from_secs(10));
        std::thread::sleep(Duration::from_millis(20));
    }
    // It came to terms with the client again, and the call that killed it was not sent twice.
    let seen = door.says("seen", "");
    assert!(
        seen.contains("\"initialize\"") && seen.contains("notifications/initialized"),
        "{seen}"
    );
    assert!(!seen.contains("\"exit\""), "{seen}");
    assert_eq!(zombies_of(door.child.id()), 0);
    assert_eq!(door.events("failed").len(), 1);
}

#[test]
fn a_line_without_end_costs_the_server_its_life_and_no_memory() {
    let mut door = Piped::ready();
    let answer = door.call("long_line", "");
    assert_eq!(
        answer["error"]["data"]["reason"], "server_ended",
        "{answer}"
    );
}

#[test]
fn what_a_server_writes_to_its_standard_error_is_read_and_marked() {
    let mut door = Piped::ready();
    assert_eq!(door.says("chatter", ""), "after the chatter");
    let since = Instant::now();
    while !door
        .errors
        .recv_timeout(Duration::from_secs(5))
        .unwrap()
        .starts_with("[toy] eee")
    {
        assert!(since.elapsed() < Duration::from_secs(5));
    }
}

#[test]
fn a_server_gets_no_variable_of_the_doors() {
    let mut door = Piped::ready();
    let names = door.says("env", "");
    let names: Vec<_> = names.split(' ').collect();
    assert!(
        names.contains(&"PATH") && names.contains(&"GIVEN"),
        "{names:?}"
    );
    let plain = [
        "PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "SHELL", "TERM", "TMPDIR", "USER",
        "GIVEN",
    ];
    assert!(names.iter().all(|name| plain.contains(name)), "{names:?}");
}

#[test]
fn the_end_of_the_client_ends_everything_after_the_last_answers() {
    let mut door = Piped::ready();
    let family = door.says("family", "");
    let id = door.send(
        "tools/call",
        json!({"name": "echo", "arguments": {"text": "last"}}),
    );
    door.close();
    assert_eq!(door.message()["id"], id);
    assert!(door.wait().success());
    for pid in family.split(' ') {
        wait_until_gone(pid);
    }
    assert_eq!(door.events("log_closed").len(), 1);
}

#[test]
fn a_server_that_hangs_does_not_keep_the_door() {
    let mut door = Piped::ready();
    let family = door.says("family", "");
    door.send("tools/call", json!({"name": "hang"}));
    let asked = Command::new("kill")
        .arg(door.child.id().to_string())
        .status();
    assert!(asked.unwrap().success());
    let since = Instant::now();
    door.wait();
    assert!(since.elapsed() < Duration::from_secs(8));
    for pid in family.split(' ') {
        wait_until_gone(pid);
    }
}

#[test]
fn a_killed_door_leaves_no_process_behind() {
    let mut door = Piped::ready();
    let family = door.says("family", "");
    assert!(family.split(' ').all(is_alive), "{family}");
    door.child.kill().unwrap();
    door.wait();
    for pid in family.split(' ') {
        wait_until_gone(pid);
    }
}

#[test]
fn a_door_without_a_good_key_does_not_start() {
    let door = Piped::ready();
    let keys = door.directory.join("keys");
    let run = || {
        let output = Command::new(env!("CARGO_BIN_EXE_countersign-door"))
            .args(["run", "--policy"])
            .arg(door.directory.join("policy.yaml"))
            .arg("--log")
            .arg(door.directory.join("other"))
            .arg("--keys")
            .arg(&keys)
            .args(["--", "cat"])
            .output()
            .unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let private = std::fs::read_dir(&keys)
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|extension| extension == "key"))
        .unwrap();
    let opened = Command::new("chmod").arg("644").arg(&private).status();
    assert!(opened.unwrap().success());
    let exposed = run();
    assert!(exposed.contains("others than its owner"), "{exposed}");
    std::fs::remove_dir_all(&keys).unwrap();
    let missing = run();
    assert!(missing.contains("keys init"), "{missing}");
}

#[test]
fn another_policy_takes_its_place_whole_or_not_at_all() {
    let mut door = Piped::ready();
    assert_eq!(door.says("echo", "before"), "before");
    let path = door.directory.join("policy.yaml");
    let until = |door: &mut Piped, reason: Option<&str>| {
        let since = Instant::now();
        loop {
            let answer = door.call("echo", "x");
            if answer["error"]["data"]["reason"].as_str() == reason {
                return answer;
            }
            assert!(since.elapsed() < Duration::from_secs(10), "{answer}");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let without = policy("").replace("  echo: ", "  other: ");
    std::fs::write(&path, &without).unwrap();
    until(&mut door, Some("not_listed"));
    assert_eq!(door.events("policy_changed").len(), 1);
    std::fs::write(&path, policy("default: allow\n")).unwrap();
    std::thread::sleep(Duration::from_millis(1_200));
    until(&mut door, Some("not_listed"));
    std::fs::remove_file(&path).unwrap();
    std::thread::sleep(Duration::from_millis(1_200));
    until(&mut door, Some("not_listed"));
    std::fs::write(&path, policy("")).unwrap();
    until(&mut door, None);
    assert_eq!(door.events("policy_changed").len(), 2);
}

#[test]
fn a_record_that_is_waited_for_lets_as_much_pass() {
    for mode in ["durable", "sign-each"] {
        let program = server_program();
        let words = ["--record", mode];
        let mut door = Piped::started(&policy(""), &words, &[program.to_str().unwrap()]);
        door.initialize();
        assert_eq!(door.says("echo", "first"), "first");
        let ids: Vec<_> = (0..32)
            .map(|_| {
                door.send(
                    "tools/call",
                    json!({"name": "echo", "arguments": {"text": mode}}),
                )
            })
            .collect();
        for id in ids {
            let answer = door.message();
            assert_eq!(answer["id"], id, "{answer}");
            assert_eq!(answer["result"]["content"][0]["text"], mode);
        }
        door.close();
        door.wait();
        assert_eq!(door.events("answered").len(), 35);
    }
}

#[test]
fn none_of_many_calls_passes_while_the_record_is_gone() {
    for mode in ["written", "durable"] {
        let program = server_program();
        let words = ["--record", mode];
        let mut door = Piped::started(&policy(""), &words, &[program.to_str().unwrap()]);
        door.initialize();
        assert_eq!(door.says("echo", "first"), "first");
        let (log, away) = (door.directory.join("log"), door.directory.join("away"));
        std::fs::rename(&log, &away).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        let call = |id: i64| {
            let params = json!({"name": "echo", "arguments": {"text": "lost"}});
            let call =
                json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
            format!("{call}\n")
        };
        let calls: String = (100..132).map(call).collect();
        door.write_bytes(calls.as_bytes());
        for id in 100..132 {
            let answer = door.message();
            assert_eq!(answer["id"], id, "{answer}");
            assert_eq!(
                answer["error"]["data"]["reason"], "not_recorded",
                "{answer}"
            );
        }
        std::fs::rename(&away, &log).unwrap();
        let seen = door.says("seen", "");
        assert!(seen.contains("first") && !seen.contains("lost"), "{seen}");
    }
}

#[test]
fn calls_that_wait_for_the_definitions_keep_their_order() {
    for _ in 0..5 {
        let mut door = Piped::ready();
        for text in ["wait", "wait", "go"] {
            door.send(
                "tools/call",
                json!({"name": "late", "arguments": {"text": text}}),
            );
        }
        let order: Vec<_> = (0..3)
            .map(|_| door.message()["id"].as_i64().unwrap())
            .collect();
        assert_eq!(order, [4, 3, 2]);
    }
}
