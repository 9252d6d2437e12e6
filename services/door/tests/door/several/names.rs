//! Which server a message is for.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{fixtures, names, policy, toy, two};
use crate::piped::Piped;

const UNAVAILABLE: &str = "dev.countersign/unavailable";

#[test]
fn real_servers_and_a_misbehaving_one_stand_behind_one_door() {
    let folder = fixtures();
    let directory = crate::stand::fresh_directory();
    std::fs::create_dir_all(&directory).unwrap();
    let log = directory.join("calls.jsonl");
    let program = |name: &str, words: &str| {
        format!("{{command: ['{}'{words}]}}\n", folder.join(name).display())
    };
    let bad_log = format!(", '--log', '{}'", log.display());
    let servers = [
        format!(
            "  bad: {}",
            program("countersign-misbehaving-server", &bad_log)
        ),
        format!("  dead: {}", program("no-such-program", "")),
        format!("  good: {}", program("countersign-conforming-server", "")),
        toy("toy", ""),
    ];
    let tools = [
        "bad__echo",
        "bad__get_balance",
        "dead__echo",
        "good__test_simple_text",
        "toy__echo",
    ];
    let methods = "methods:\n  prompts/get: {args: {name: {type: string}}}\n";
    let mut door = Piped::started(&policy(&servers, &tools, methods), &[], &[]);
    let met = door.initialize();
    assert_eq!(met["result"]["protocolVersion"], "2025-11-25", "{met}");
    assert_eq!(met["result"]["serverInfo"]["name"], "countersign-door");
    assert_eq!(met["result"]["capabilities"]["tools"]["listChanged"], true);
    assert!(
        met["result"]["capabilities"]["prompts"].is_object(),
        "{met}"
    );
    assert_eq!(met["result"]["_meta"][UNAVAILABLE], json!(["dead"]));
    let instructions = met["result"]["instructions"].as_str().unwrap();
    assert!(
        instructions.contains("Not available now: dead."),
        "{instructions}"
    );

    let listed = door.ask("tools/list", json!({}));
    assert_eq!(
        names(&listed, "tools"),
        [
            "bad__echo",
            "bad__get_balance",
            "good__test_simple_text",
            "toy__echo"
        ]
    );
    assert_eq!(listed["result"]["_meta"][UNAVAILABLE], json!(["dead"]));
    let prompts = door.ask("prompts/list", json!({}));
    let prompts = names(&prompts, "prompts");
    assert!(
        prompts.contains(&"good__test_simple_prompt".to_owned()),
        "{prompts:?}"
    );
    assert!(prompts.contains(&"toy__greet".to_owned()), "{prompts:?}");

    assert_eq!(door.says("toy__echo", "mine"), "mine");
    let answer = door.ask("tools/call", json!({"name": "good__test_simple_text"}));
    assert!(
        answer["result"]["content"][0]["text"].is_string(),
        "{answer}"
    );
    let answer = door.call("dead__echo", "x");
    assert_eq!(answer["error"]["code"], -32_603, "{answer}");
    assert_eq!(answer["error"]["data"]["reason"], "unreachable");
    let refused = door.ask(
        "tools/call",
        json!({"name": "bad__get_balance", "arguments": {"transfer_to": "ACC-THIEF", "amount": "900.00"}}),
    );
    assert_eq!(
        refused["error"]["data"]["reason"], "undeclared_argument",
        "{refused}"
    );
    assert_eq!(door.says("bad__echo", "hello"), "hello");
    // The servers know nothing of the names in front, and what was refused never arrived.
    let seen = std::fs::read_to_string(&log).unwrap();
    assert!(!seen.contains("THIEF") && !seen.contains("bad__"), "{seen}");
    // Each call stands in the record under its own server.
    let allowed = door.events("allowed");
    let server = |tool: &str| {
        let line = allowed.iter().find(|line| line["tool"] == tool).unwrap();
        line["server"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        (server("bad__echo"), server("toy__echo")),
        ("bad".into(), "toy".into())
    );
}

#[test]
fn a_tool_passes_only_under_its_servers_name() {
    let tools = ["one__echo", "one__deep__name", "two__seen"];
    let mut door = two(&tools, "");
    for (name, reason) in [
        ("echo", "unknown_server"),
        ("seen", "unknown_server"),
        ("three__echo", "unknown_server"),
        ("__echo", "unknown_server"),
        ("One__echo", "unknown_server"),
        ("two__echo", "not_listed"),
        ("one__seen", "not_listed"),
        ("one__", "bad_name"),
        ("one____echo", "not_listed"),
        ("two__one__echo", "not_listed"),
        ("deep__name", "unknown_server"),
    ] {
        let answer = door.call(name, "x");
        assert_eq!(
            answer["error"]["data"]["reason"], reason,
            "{name}: {answer}"
        );
    }
    assert_eq!(
        door.says("one__echo", "same name, other server"),
        "same name, other server"
    );
    let deep = door.call("one__deep__name", "x");
    assert_eq!(deep["error"]["code"], -32_602, "its own answer: {deep}");
    let seen = door.says("two__seen", "");
    assert!(!seen.contains("echo"), "{seen}");
}

#[test]
fn the_pin_of_one_server_says_nothing_about_another() {
    let pin = |edition: &str| {
        let definition = format!(
            r#"{{"name":"echo","description":"{edition}","inputSchema":{{"type":"object"}}}}"#
        );
        countersign_policy::definition_pin(&definition).unwrap()
    };
    let tool = |server: &str, pinned: &str| {
        format!(
            "  {server}__echo: {{schema_sha256: '{}', args: {{text: {{type: string}}}}}}\n",
            pin(pinned)
        )
    };
    let policy = policy(&[toy("one", ""), toy("two", "")], &[], "")
        .replace("require_pins: false", "require_pins: true");
    let policy = policy + &tool("one", "one") + &tool("two", "one");
    let mut door = Piped::started(&policy, &[], &[]);
    door.initialize();
    assert_eq!(door.says("one__echo", "x"), "x");
    let answer = door.call("two__echo", "x");
    assert_eq!(
        answer["error"]["data"]["reason"], "definition_changed",
        "{answer}"
    );
    assert_eq!(
        names(&door.ask("tools/list", json!({})), "tools"),
        ["one__echo"]
    );
}

#[test]
fn lists_go_on_where_each_server_left_off() {
    let tools = ["one__echo", "one__forge", "two__echo", "two__deep__name"];
    let mut door = two(&tools, "");
    let first = door.ask("tools/list", json!({}));
    assert_eq!(names(&first, "tools"), ["one__echo", "two__echo"]);
    let cursor = first["result"]["nextCursor"].as_str().unwrap().to_owned();
    let second = door.ask("tools/list", json!({"cursor": cursor}));
    assert_eq!(names(&second, "tools"), ["one__forge", "two__deep__name"]);
    assert!(second["result"].get("nextCursor").is_none(), "{second}");
    let mut tampered = cursor.clone().into_bytes();
    let last = tampered.len() - 2;
    tampered[last] = if tampered[last] == b'A' { b'B' } else { b'A' };
    for bad in [
        String::from_utf8(tampered).unwrap(),
        "10".to_owned(),
        String::new(),
        format!("{cursor}{cursor}"),
    ] {
        let answer = door.ask("tools/list", json!({"cursor": bad}));
        assert_eq!(answer["error"]["code"], -32_602, "{answer}");
        assert_eq!(answer["error"]["data"]["reason"], "unknown_cursor");
    }
    // A good one, of another list.
    let answer = door.ask("prompts/list", json!({"cursor": cursor}));
    assert_eq!(
        answer["error"]["data"]["reason"], "unknown_cursor",
        "{answer}"
    );
}

#[test]
fn resources_go_to_whoever_lists_them_and_nobody_elses_are_guessed() {
    let mut door = two(
        &["one__echo"],
        "methods:\n  resources/read: {args: {uri: {type: string}}}\n",
    );
    let read = |door: &mut Piped, uri: &str| door.ask("resources/read", json!({"uri": uri}));
    let before = read(&mut door, "toy://two");
    assert_eq!(
        before["error"]["data"]["reason"], "unknown_resource",
        "{before}"
    );
    let listed = door.ask("resources/list", json!({}));
    assert_eq!(
        listed["result"]["resources"].as_array().unwrap().len(),
        4,
        "{listed}"
    );
    door.ask("resources/templates/list", json!({}));
    for (uri, edition) in [
        ("toy://one", Some("one")),
        ("toy://two", Some("two")),
        ("toy://two/7", Some("two")),
        ("toy://shared", None),
        ("toy://three", None),
        ("file:///etc/passwd", None),
    ] {
        let answer = read(&mut door, uri);
        match edition {
            Some(edition) => assert_eq!(answer["result"]["edition"], edition, "{uri}: {answer}"),
            None => assert_eq!(answer["error"]["code"], -32_001, "{uri}: {answer}"),
        }
    }
    let shared = read(&mut door, "toy://shared");
    assert_eq!(shared["error"]["data"]["reason"], "ambiguous_resource");
}

#[test]
fn prompts_completions_and_log_levels_find_their_servers() {
    let methods = "methods:\n  prompts/get: {args: {name: {type: string}}}\n  completion/complete: {args: {ref: {type: object, properties: {type: {type: string}, name: {type: string}}}, argument: {type: object, properties: {name: {type: string}, value: {type: string}}}}}\n  x/private: {}\n";
    let mut door = two(&["one__echo", "one__seen", "two__seen"], methods);
    let prompt = door.ask("prompts/get", json!({"name": "two__greet"}));
    assert_eq!(prompt["result"]["edition"], "two", "{prompt}");
    assert_eq!(prompt["result"]["said"]["name"], "greet");
    door.write(r#"{"jsonrpc":"2.0","id":"e","method":"prompts/get","params":{"name":"\u006fne__gr\u0065et"}}"#);
    assert_eq!(door.message()["result"]["said"]["name"], "greet");
    let bare = door.ask("prompts/get", json!({"name": "greet"}));
    assert_eq!(bare["error"]["data"]["reason"], "unknown_server", "{bare}");
    let complete = door.ask(
        "completion/complete",
        json!({"ref": {"type": "ref/prompt", "name": "one__greet"}, "argument": {"name": "a", "value": "b"}}),
    );
    assert_eq!(complete["result"]["edition"], "one", "{complete}");
    assert_eq!(complete["result"]["said"]["ref"]["name"], "greet");
    let level = door.ask("logging/setLevel", json!({"level": "error"}));
    assert!(level["result"].is_object(), "{level}");
    for server in ["one", "two"] {
        let seen = door.says(&format!("{server}__seen"), "");
        assert!(seen.contains("logging/setLevel"), "{seen}");
    }
    assert_eq!(door.ask("ping", json!({}))["result"], json!({}));
    let private = door.ask("x/private", json!({}));
    assert_eq!(
        private["error"]["data"]["reason"], "unknown_server",
        "{private}"
    );
    let unknown = door.ask("x/other", json!({}));
    assert_eq!(
        unknown["error"]["data"]["reason"], "unknown_method",
        "{unknown}"
    );
}

#[test]
fn a_task_is_asked_about_at_the_server_that_answered_with_it() {
    let task = "  one__echo: {task: true, args: {text: {type: string}}}\n  two__echo: {task: true, args: {text: {type: string}}}\n";
    let id = "{args: {taskId: {type: string}}}";
    let methods =
        format!("methods:\n  tasks/get: {id}\n  tasks/cancel: {id}\n  tasks/list: {{}}\n");
    let policy = policy(&[toy("one", ""), toy("two", "")], &["one__forge"], "") + task + &methods;
    let mut door = Piped::started(&policy, &[], &[]);
    door.initialize();
    let get = |door: &mut Piped, id: &str| door.ask("tasks/get", json!({"taskId": id}));
    let before = get(&mut door, "task-two");
    assert_eq!(
        before["error"]["data"]["reason"], "unknown_task",
        "{before}"
    );
    let begun = door.ask(
        "tools/call",
        json!({"name": "two__echo", "arguments": {"text": "x"}, "task": {"ttl": 1_000}}),
    );
    assert_eq!(begun["result"]["task"]["taskId"], "task-two", "{begun}");
    let got = get(&mut door, "task-two");
    assert_eq!(got["result"]["edition"], "two", "{got}");
    // News of it come from its server alone.
    let news = |id: &str| {
        json!({"jsonrpc": "2.0", "method": "notifications/tasks/status", "params": {"taskId": id, "status": "completed"}})
            .to_string()
    };
    assert_eq!(door.says("one__forge", &news("task-two")), "forged");
    let listed = door.ask("tasks/list", json!({}));
    let tasks = listed["result"]["tasks"].as_array().unwrap();
    assert_eq!(tasks.len(), 4, "{listed}");
    assert_eq!(get(&mut door, "task-one")["result"]["edition"], "one");
    let shared = get(&mut door, "task-shared");
    assert_eq!(
        shared["error"]["data"]["reason"], "ambiguous_task",
        "{shared}"
    );
    // What the policy does not name stays unknown, whoever's task it is.
    let result = door.ask("tasks/result", json!({"taskId": "task-two"}));
    assert_eq!(
        result["error"]["data"]["reason"], "unknown_method",
        "{result}"
    );
}

#[test]
fn the_oldest_revision_counts_and_one_that_nobody_knows_takes_no_part() {
    let servers = [
        toy("new", ""),
        toy("old", ", '2025-06-18'"),
        toy("strange", ", '1999-01-01'"),
    ];
    let tools = ["new__echo", "old__echo", "strange__echo"];
    let mut door = Piped::started(&policy(&servers, &tools, ""), &[], &[]);
    let met = door.initialize();
    assert_eq!(met["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(met["result"]["_meta"][UNAVAILABLE], json!(["strange"]));
    let instructions = met["result"]["instructions"].as_str().unwrap();
    assert!(
        instructions.contains("The server old says:\nold"),
        "{instructions}"
    );
    assert_eq!(door.says("old__echo", "x"), "x");
    assert_eq!(
        door.call("strange__echo", "x")["error"]["data"]["reason"],
        "unreachable"
    );
}

#[test]
fn a_server_that_says_nothing_keeps_nobody() {
    let servers = [
        "  silent: {command: [sleep, '600']}\n".to_owned(),
        toy("toy", ""),
    ];
    let tools = ["silent__echo", "toy__echo"];
    let mut door = Piped::started(&policy(&servers, &tools, ""), &[], &[]);
    let since = Instant::now();
    let met = door.initialize();
    assert!(since.elapsed() < Duration::from_secs(8));
    assert_eq!(met["result"]["_meta"][UNAVAILABLE], json!(["silent"]));
    let since = Instant::now();
    let listed = door.ask("tools/list", json!({}));
    assert_eq!(names(&listed, "tools"), ["toy__echo"]);
    assert_eq!(listed["result"]["_meta"][UNAVAILABLE], json!(["silent"]));
    assert!(
        since.elapsed() < Duration::from_secs(2),
        "it is not waited for twice"
    );
    assert_eq!(door.says("toy__echo", "x"), "x");
}

#[test]
fn a_server_that_dies_is_missed_until_it_is_back() {
    let mut door = two(&["one__exit", "one__echo", "two__echo"], "");
    let answer = door.call("one__exit", "");
    assert_eq!(
        answer["error"]["data"]["reason"], "server_ended",
        "{answer}"
    );
    // Its lists changed twice: when it went and when it came.
    let mut told = 0;
    let since = Instant::now();
    while told < 6 {
        let message = door.message();
        assert!(
            message["method"]
                .as_str()
                .unwrap()
                .ends_with("list_changed"),
            "{message}"
        );
        told += 1;
        assert!(since.elapsed() < Duration::from_secs(10));
    }
    assert_eq!(door.says("two__echo", "on"), "on");
    assert_eq!(door.says("one__echo", "again"), "again");
}
