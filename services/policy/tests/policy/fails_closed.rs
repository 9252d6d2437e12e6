//! Whatever is broken denies, or does not start.

use std::time::{Duration, Instant};

use countersign_policy::{Call, Effect, Live, Policy, RateLimiter};

use crate::stand::{HEAD, Stand, any_pin};

/// No policy comes of it, and the error has a line and words.
fn does_not_start(yaml: &str) -> String {
    match Policy::load(yaml) {
        Ok(_) => panic!("must be refused:\n{yaml}"),
        Err(error) => {
            assert!(error.line() >= 1, "{error}");
            let text = error.to_string();
            assert!(text.len() > 20, "{text}");
            text
        }
    }
}

#[test]
fn an_empty_allow_list_allows_nothing() {
    for rest in ["tools: {}\n", "", "methods: {}\nrules: []\ntools: {}\n"] {
        let stand = Stand::new(rest);
        for name in ["read", "list_accounts", "*", "tools"] {
            assert_eq!(stand.call(name, "{}").effect, Effect::Deny, "{rest} {name}");
        }
        for method in ["resources/read", "prompts/get", "x/private", "tools/call"] {
            let decision = stand
                .policy
                .decide_method(method, None, "ada", 0, &stand.rates);
            assert_eq!(decision.effect, Effect::Deny, "{rest} {method}");
        }
    }
    // `null` is no list, whatever else a reader makes of it.
    for key in ["tools", "rules", "servers", "never_allow", "methods"] {
        does_not_start(&format!("{HEAD}{key}:\n"));
        does_not_start(&format!("{HEAD}{key}: null\n"));
        does_not_start(&format!("{HEAD}{key}: ''\n"));
    }
}

#[test]
fn a_policy_without_servers_lets_nothing_pass() {
    let policy = Policy::load(&format!(
        "{HEAD}require_pins: false\ntools: {{read: {{}}}}\n"
    ))
    .unwrap();
    for server in ["", "s", "bank"] {
        let call = Call {
            server,
            name: "read",
            arguments: None,
            live: Live::Offered(any_pin()),
            identity: "ada",
            now_milliseconds: 0,
        };
        let decision = policy.decide_call(&call, &RateLimiter::new());
        assert_eq!(decision.effect, Effect::Deny, "{server}");
    }
}

#[test]
fn what_is_no_policy_does_not_start() {
    for yaml in [
        "",
        " ",
        "\n\n",
        "# only a comment\n",
        "---\n",
        "...\n",
        "null\n",
        "[]\n",
        "{}\n",
        "deny\n",
        "version: 1\n",
        "\0",
        "version: 1\nid: t\ndefault: deny\0\n",
        "\u{1b}]0;x\u{7}",
        "{\"version\": 1, \"id\": \"t\"",
        "version: 1\nid: t\ndefault: [deny]\n",
        "version: 1\nid: t\ndefault: deny\n...\nmode: observe\n",
    ] {
        does_not_start(yaml);
    }
    // JSON is YAML, and the smallest policy is one.
    assert!(Policy::load(r#"{"version": 1, "id": "t", "default": "deny"}"#).is_ok());
}

#[test]
fn anchors_aliases_and_merges_are_refused_in_no_time() {
    let start = Instant::now();
    let mut bomb = format!("{HEAD}never_allow:\n  - &a0 lol\n");
    for level in 1..40 {
        let before = level - 1;
        bomb.push_str(&format!(
            "  - &a{level} [{}]\n",
            format!("*a{before},").repeat(9)
        ));
    }
    does_not_start(&bomb);
    for yaml in [
        format!("{HEAD}servers: {{a: &x {{}}, b: *x}}\n"),
        format!("{HEAD}servers: {{a: &x {{}}, b: &x {{}}}}\n"),
        format!("{HEAD}servers: &x\n  a: {{}}\n"),
        format!("{HEAD}servers: {{a: *unknown}}\n"),
        format!("{HEAD}servers: &x {{a: *x}}\n"),
        format!("{HEAD}servers: {{a: {{<<: {{label: x}}}}}}\n"),
        format!("{HEAD}servers: {{a: !include x}}\n"),
        "&x version: 1\nid: t\ndefault: deny\n".to_owned(),
        "version: 1\n*x : t\ndefault: deny\n".to_owned(),
    ] {
        does_not_start(&yaml);
    }
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[test]
fn what_is_too_deep_or_too_large_is_refused_in_no_time() {
    let start = Instant::now();
    for depth in [65, 1_000, 100_000] {
        does_not_start(&format!(
            "{HEAD}never_allow: {}{}\n",
            "[".repeat(depth),
            "]".repeat(depth)
        ));
        does_not_start(&format!("{HEAD}servers: {}\n", "{a: ".repeat(depth)));
        does_not_start(&format!(
            "{HEAD}servers:\n{}",
            (1..depth.min(400))
                .map(|n| format!("{}a:\n", " ".repeat(n)))
                .collect::<String>()
        ));
    }
    let item = "{type: array, items: ".repeat(9);
    does_not_start(&format!(
        "{HEAD}tools: {{a: {{args: {{b: {item}{{type: string}}{}}}}}}}\n",
        "}".repeat(9)
    ));
    does_not_start(&format!("{HEAD}id2: {}\n", "x".repeat(1 << 20)));
    does_not_start(&format!(
        "{HEAD}servers:\n{}",
        (0..200_000)
            .map(|n| format!("  s{n}: {{}}\n"))
            .collect::<String>()
    ));
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn what_other_readers_read_otherwise_is_refused() {
    for yaml in [
        // A byte order mark.
        format!("\u{feff}{HEAD}"),
        // Tabs.
        format!("{HEAD}servers:\n\ts: {{}}\n"),
        format!("{HEAD}servers:\n  s:\n\t  label: x\n"),
        // The same key twice, in any spelling.
        format!("{HEAD}mode: enforce\nmode: observe\n"),
        format!("{HEAD}mode: enforce\n\"mode\": observe\n"),
        format!("{HEAD}mode: enforce\n'mode': observe\n"),
        format!("{HEAD}mode: enforce\n? mode\n: observe\n"),
        format!("{HEAD}tools: {{a: {{}}, a: {{}}}}\n"),
        format!("{HEAD}tools: {{a: {{}}, \"\\x61\": {{}}}}\n"),
        // Two documents.
        format!("{HEAD}---\n{HEAD}"),
        // Words that are truth values in one version of YAML and not in the other.
        format!("{HEAD}require_pins: yes\n"),
        format!("{HEAD}require_pins: no\n"),
        format!("{HEAD}require_pins: off\n"),
        format!("{HEAD}require_pins: 0\n"),
        // Numbers with more than one reading.
        format!("{HEAD}rate_per_minute: 1e3\n"),
        format!("{HEAD}rate_per_minute: 010\n"),
        format!("{HEAD}rate_per_minute: 1_000\n"),
        format!("{HEAD}rate_per_minute: 1:30\n"),
        format!("{HEAD}rate_per_minute: -5\n"),
        format!("{HEAD}rate_per_minute: 5.0\n"),
        format!("{HEAD}rate_per_minute: .inf\n"),
        format!("{HEAD}rate_per_minute: 99999999999\n"),
        "version: 1.0\nid: t\ndefault: deny\n".to_owned(),
    ] {
        does_not_start(&yaml);
    }
}

#[test]
fn what_a_person_does_not_see_is_refused_with_its_place() {
    for hidden in [
        "\u{85}",
        "\u{2028}",
        "\u{2029}",
        "\u{200b}",
        "\u{200d}",
        "\u{202e}",
        "\u{2066}",
        "\u{2063}",
        "\u{feff}",
        "\u{ad}",
        "\u{e0041}",
        "\u{7f}",
        "\u{9b}",
        "\u{b}",
        "\u{c}",
    ] {
        // In a comment a reader of YAML 1.1 may see a line of its own.
        let text = does_not_start(&format!("{HEAD}# note{hidden}mode: observe\n"));
        assert!(text.starts_with("line 4, column 7: "), "{text}");
        let text = does_not_start(&format!("{HEAD}servers: {{s: {{label: 'a{hidden}b'}}}}\n"));
        assert!(text.starts_with("line 4, column "), "{text}");
    }
    for visible in ["é", "ü", "日本", "€", "😀"] {
        assert!(
            Policy::load(&format!(
                "{HEAD}# {visible}\nservers: {{s: {{label: '{visible}'}}}}\n"
            ))
            .is_ok()
        );
    }
}

#[test]
fn tags_and_directives_are_refused() {
    for yaml in [
        "version: 1\nid: !!str t\ndefault: deny\n",
        "version: 1\nid: !mine t\ndefault: deny\n",
        "version: !!int '1'\nid: t\ndefault: deny\n",
        "version: 1\nid: t\ndefault: deny\nrequire_pins: !!bool 'false'\n",
        "version: 1\nid: t\ndefault: deny\nservers: !!map {}\n",
        "version: 1\nid: t\ndefault: deny\nnever_allow: !!seq []\n",
        "version: 1\nid: t\ndefault: deny\nservers: {s: {label: !!binary aGVsbG8=}}\n",
        "%YAML 1.1\n---\nversion: 1\nid: t\ndefault: deny\n",
        "%TAG ! tag:x,2000:\n---\nversion: 1\nid: !a t\ndefault: deny\n",
    ] {
        does_not_start(yaml);
    }
    assert!(Policy::load("---\nversion: 1\nid: t\ndefault: deny\n").is_ok());
}

#[test]
fn an_unknown_key_anywhere_is_refused_with_a_suggestion() {
    for (rest, meant) in [
        ("tool: {}\n", "tools"),
        ("never_alow: []\n", "never_allow"),
        ("requirepins: true\n", "require_pins"),
        ("on_change_tool: block\n", "on_changed_tool"),
        ("servers: {s: {comand: [a]}}\n", "command"),
        ("tools: {a: {schema_sha265: x}}\n", "schema_sha256"),
        ("tools: {a: {arguments: {}}}\n", "args"),
        ("tools: {a: {args: {b: {type: strng}}}}\n", "string"),
        (
            "tools: {a: {args: {b: {type: string, maxlength: 1}}}}\n",
            "max_length",
        ),
        (
            "tools: {a: {args: {b: {type: string, regex: x}}}}\n",
            "pattern",
        ),
        (
            "tools: {a: {args: {b: {type: string, maximum: x}}}}\n",
            "max",
        ),
        (
            "tools: {a: {acknowledged: creates-a-request}}\n",
            "creates-a-request-only",
        ),
        ("tools: {a: {acknowledged: true}}\n", ""),
        (
            "tools: {a: {cap: {argument: x, per_cal: '1'}}}\n",
            "per_call",
        ),
        (
            "rules: [{id: a, tool: x, effect: require_aproval}]\n",
            "require_approval",
        ),
        ("rules: [{id: a, tool: x, effect: Deny}]\n", "deny"),
        (
            "rules: [{id: a, tool: x, effect: deny, identity: [a]}]\n",
            "identities",
        ),
        ("mode: Observe\n", "observe"),
        ("mode: off\n", ""),
        ("on_changed_tool: allow\n", ""),
        ("injection: {results: blok}\n", "block"),
        (
            "redaction: {suppress: [{server: s, rule: x, reason: y}]}\n",
            "",
        ),
    ] {
        let text = does_not_start(&format!("{HEAD}{rest}"));
        assert!(text.starts_with("line 4, column "), "{rest}{text}");
        if !meant.is_empty() {
            assert!(
                text.ends_with(&format!("(did you mean `{meant}`?)")),
                "{rest}{text}"
            );
        }
    }
}

#[test]
fn a_pattern_that_cannot_be_matched_in_time_does_not_start() {
    for pattern in [
        "a{1000}{1000}",
        "(a{100}){100}{100}",
        "((((((((((a{10}){10}){10}){10}){10}){10}){10}){10}){10}){10})",
        "(?P<a>",
        "[",
        "\\\\1",
        "(a)\\\\1",
        "(?=a)",
        "(?!a)",
        "(?<=a)b",
        "*",
        "\\\\d+",
        "\\\\w+",
        "(?i)a",
        "\\\\bword",
        "a)|(b",
        "a)\\\\z|(?:b",
        "(?x)a",
        "(?s:.)",
        "(?-u)a",
        "[\\\\d]",
    ] {
        let start = Instant::now();
        let text = does_not_start(&format!(
            "{HEAD}tools: {{a: {{args: {{b: {{type: string, pattern: \"{pattern}\"}}}}}}}}\n"
        ));
        assert!(text.contains("tools.a.args.b.pattern"), "{pattern} {text}");
        assert!(start.elapsed() < Duration::from_secs(1), "{pattern}");
    }
}

#[test]
fn an_error_shows_no_more_than_its_line() {
    let secret = "hunter2-hunter2";
    let text = does_not_start(&format!(
        "{HEAD}servers: {{s: {{url: 'http://a/', headers: {{Authorization: '{secret}'}}, lable: x}}}}\n"
    ));
    assert!(!text.contains(secret), "{text}");
}
