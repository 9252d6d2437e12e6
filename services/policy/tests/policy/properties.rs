//! What must hold for every policy and every message.
//!
//! The seed of a run is printed; `PROPTEST_RNG_SEED=…` repeats it.

use countersign_policy::{
    Circumstances, Effect, Live, Policy, RateLimiter, WRITE_WORDS, WriteWords,
};
use countersign_wire::Frame;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};

use crate::stand::{HEAD, Stand, any_pin};

/// A runner whose seed is printed, and shown whenever the test fails.
fn runner(cases: u32) -> TestRunner {
    let given = std::env::var("PROPTEST_RNG_SEED").ok();
    let seed = given.and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| {
        let now = std::time::SystemTime::now();
        let since = now.duration_since(std::time::UNIX_EPOCH).unwrap();
        since.as_nanos() as u64
    });
    println!("PROPTEST_RNG_SEED={seed}");
    TestRunner::new(Config {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..Config::default()
    })
}

const NAMES: [&str; 6] = ["read", "read_all", "list", "pay_bill", "x", "delete_it"];
const IDENTITIES: [&str; 3] = ["ada", "kabir", ""];

/// One rule without its id, and its effect.
fn rule() -> impl Strategy<Value = (String, Effect)> {
    let name = prop::sample::select(NAMES.to_vec());
    let glob = prop::sample::select(vec!["*", "read*", "*_*", "x", "pay*", "*l*"]);
    let whom = prop::sample::select(vec![
        "",
        ", identities: [ada]",
        ", identities: [kabir, 'group:g']",
    ]);
    let allow = (name, whom.clone())
        .prop_map(|(name, whom)| (format!("tool: {name}, effect: allow{whom}"), Effect::Allow));
    let deny = (glob.clone(), whom.clone())
        .prop_map(|(glob, whom)| (format!("tool: '{glob}', effect: deny{whom}"), Effect::Deny));
    let hold = (glob, whom, any::<bool>()).prop_map(|(glob, whom, countdown)| {
        let countdown = match countdown {
            true => ", reversible: true, countdown_seconds: 5",
            false => "",
        };
        let rule = format!("tool: '{glob}', effect: require_approval{whom}{countdown}");
        (rule, Effect::Hold)
    });
    prop_oneof![allow, deny, hold]
}

fn tools() -> String {
    let tools = NAMES.map(|name| format!("{name}: {{acknowledged: creates-a-request-only}}"));
    format!("tools: {{{}}}\n", tools.join(", "))
}

/// A policy of these rules under these ids; none when two say the same.
fn stand<'r>(rules: impl Iterator<Item = (&'r str, usize)>) -> Option<Stand> {
    let rules: Vec<_> = rules
        .map(|(rule, id)| format!("{{id: r{id}, {rule}}}"))
        .collect();
    let rest = format!("{}rules: [{}]\n", tools(), rules.join(", "));
    let yaml = format!("{HEAD}require_pins: false\nservers: {{s: {{}}}}\n{rest}");
    Some(Stand::with(Policy::load(&yaml).ok()?))
}

/// How much an effect lets happen.
fn looseness(effect: Effect) -> u8 {
    match effect {
        Effect::Deny => 0,
        Effect::Hold => 1,
        Effect::Allow => 2,
    }
}

#[test]
fn deny_wins_over_approval_over_allow_in_any_order() {
    let rules = prop::collection::vec(rule(), 0..7);
    let shuffled = rules.prop_flat_map(|rules| {
        let order: Vec<usize> = (0..rules.len()).collect();
        (Just(rules), Just(order).prop_shuffle())
    });
    let strategy = (shuffled, prop::sample::select(IDENTITIES.to_vec()));
    let result = runner(60).run(&strategy, |((rules, order), identity)| {
        let texts = |order: &[usize]| {
            let order = order.to_vec();
            stand(order.iter().map(|at| (rules[*at].0.as_str(), *at)))
        };
        let in_order: Vec<usize> = (0..rules.len()).collect();
        let (Some(mut one), Some(mut other)) = (texts(&in_order), texts(&order)) else {
            return Ok(());
        };
        (one.identity, other.identity) = (identity, identity);
        let mut alone = Vec::new();
        for (at, (rule, effect)) in rules.iter().enumerate() {
            if *effect != Effect::Allow {
                let mut stand = stand(std::iter::once((rule.as_str(), at))).unwrap();
                stand.identity = identity;
                alone.push(stand);
            }
        }
        for name in NAMES {
            // The same effect by the same rule.
            let said = one.call(name, "{}");
            prop_assert_eq!(&said, &other.call(name, "{}"));
            // Nothing lets more happen than the strictest of the rules does on its own.
            for alone in &alone {
                let strict = looseness(alone.call(name, "{}").effect);
                prop_assert!(looseness(said.effect) <= strict, "{} {:?}", name, rules);
            }
        }
        Ok(())
    });
    result.unwrap();
}

#[test]
fn another_denial_or_hold_never_lets_more_happen() {
    let strategy = (
        prop::collection::vec(rule(), 0..5),
        rule().prop_filter("takes away", |(_, effect)| *effect != Effect::Allow),
        prop::sample::select(IDENTITIES.to_vec()),
    );
    let result = runner(60).run(&strategy, |(rules, more, identity)| {
        let few = stand(
            rules
                .iter()
                .enumerate()
                .map(|(at, (rule, _))| (rule.as_str(), at)),
        );
        let all = rules.iter().chain([&more]).enumerate();
        let many = stand(all.map(|(at, (rule, _))| (rule.as_str(), at)));
        let (Some(mut few), Some(mut many)) = (few, many) else {
            return Ok(());
        };
        (few.identity, many.identity) = (identity, identity);
        for name in NAMES {
            let (before, after) = (few.call(name, "{}"), many.call(name, "{}"));
            prop_assert!(
                looseness(after.effect) <= looseness(before.effect),
                "{}",
                name
            );
            let countdown = |stand: &Stand| {
                stand.decided(name, "{}", |decision| {
                    decision.hold.and_then(|hold| hold.countdown_seconds)
                })
            };
            if before.effect == Effect::Hold && countdown(&few).is_none() {
                prop_assert!(countdown(&many).is_none(), "{}", name);
            }
        }
        Ok(())
    });
    result.unwrap();
}

#[test]
fn more_words_never_let_more_pass() {
    let word = "[a-zA-Z]{1,8}";
    let strategy = (
        prop::collection::vec(word, 0..4),
        prop::collection::vec(word, 1..4),
        "[a-zA-Z_-]{1,16}|(get|list|read)_[a-z]{1,8}",
    );
    let result = runner(120).run(&strategy, |(words, more, name)| {
        let few = WriteWords::with(&words);
        let many = WriteWords::with(&[words.clone(), more].concat());
        prop_assert!(!few.in_name(&name) || many.in_name(&name));
        let reason = |words: &[String]| {
            let words = words.join(", ");
            // A word such as `true` or `null` has to stand in quotes.
            let words = words.split(", ").filter(|word| !word.is_empty());
            let words: Vec<_> = words.map(|word| format!("'{word}'")).collect();
            let rest = format!(
                "never_allow: [{}]\ntools: {{'{name}': {{}}}}\n",
                words.join(", ")
            );
            Stand::new(&rest).call(&name, "{}").effect
        };
        let all = [words.clone(), WRITE_WORDS.map(String::from).to_vec()].concat();
        prop_assert!(looseness(reason(&all)) <= looseness(reason(&words)));
        Ok(())
    });
    result.unwrap();
}

#[test]
fn no_file_makes_the_loader_panic_or_opens_what_it_does_not_name() {
    const FILES: [&str; 2] = [
        include_str!("../../../../fixtures/policy/bank.yaml"),
        countersign_policy::EXAMPLE,
    ];
    let piece = prop::sample::select(vec![
        "",
        " ",
        "  ",
        "\n",
        "\t",
        ":",
        ": ",
        "- ",
        "{",
        "}",
        "[",
        "]",
        ",",
        "'",
        "\"",
        "#",
        "|",
        ">",
        "&a ",
        "*a",
        "!!str ",
        "<<: ",
        "---\n",
        "...\n",
        "%YAML 1.1\n",
        "? ",
        "null",
        "~",
        "true",
        "no",
        "0",
        "-1",
        "1e9",
        "0x10",
        ".inf",
        "\u{feff}",
        "\u{85}",
        "\u{2028}",
        "\0",
        "\r\n",
        "${",
        "${X}",
        "tools:\n",
        "effect: allow",
        "effect: deny",
        "mode: observe\n",
        "pattern: '(a'",
        "\u{1f600}",
        "default: allow\n",
    ]);
    let edit = (any::<prop::sample::Index>(), 0_usize..12, piece);
    let strategy = (
        prop::sample::select(FILES.to_vec()),
        prop::collection::vec(edit, 1..6),
    );
    let mut loaded = 0_u32;
    let result = runner(120).run(&strategy, |(file, edits)| {
        let mut characters: Vec<char> = file.chars().collect();
        for (at, length, piece) in edits {
            let at = at.index(characters.len());
            let end = (at + length).min(characters.len());
            characters.splice(at..end, piece.chars());
        }
        let yaml: String = characters.into_iter().collect();
        let linted = countersign_policy::lint(&yaml, 0);
        match Policy::load(&yaml) {
            Err(error) => {
                prop_assert!(error.line() >= 1);
                prop_assert!(linted.is_err());
            }
            Ok(policy) => {
                let stand = Stand::with(policy);
                if stand.policy.mode() == countersign_policy::Mode::Enforce {
                    prop_assert_eq!(stand.call("zzz_unlisted", "{}").effect, Effect::Deny);
                }
                let pins = [("list_accounts".to_owned(), any_pin())].into();
                let _ = countersign_policy::write_pins(&yaml, &pins);
            }
        }
        Ok(())
    });
    result.unwrap();
    for file in FILES {
        loaded += u32::from(Policy::load(file).is_ok());
    }
    assert_eq!(loaded, 2);
}

/// A policy that has one of everything.
fn everything() -> Stand {
    Stand::new(
        "allow_dots: true\nrate_per_minute: 100000\ntools:\n  read:\n    args:\n      \
         a: {type: string, pattern: '[a-z]{1,5}', max_length: 9}\n      n: {type: integer}\n      \
         d: {type: number, min: -5, max: 5}\n      b: {type: boolean}\n      \
         l: {type: array, items: {type: object, properties: {amount: {type: string}}}}\n    \
         cap: {argument: 'l[].amount', per_call: '10', per_day: '50', per_session: '20'}\n  \
         pay: {acknowledged: creates-a-request-only}\nmethods:\n  x/y: {args: {u: {type: string}}}\n\
         rules:\n  - {id: h, tool: 'p*', effect: require_approval, reversible: true, countdown_seconds: 3}\n  \
         - {id: no-x, tool: '*x*', effect: deny, identities: ['b*', 'group:*']}\n",
    )
}

/// JSON that often looks like a call of that policy.
fn json() -> impl Strategy<Value = String> + Clone {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        "-?[0-9]{1,25}(\\.[0-9]{1,25})?([eE][+-]?[0-9]{1,4})?",
        "\"[a-z0-9.]{0,6}\"",
        "\"(\\\\u[0-9a-f]{4}|[ -!#-\\[\\]-~])*\"",
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let key = prop::sample::select(vec![
            "a",
            "n",
            "d",
            "b",
            "l",
            "amount",
            "u",
            "name",
            "arguments",
            "_meta",
            "x",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|elements| format!("[{}]", elements.join(","))),
            prop::collection::vec((key, inner), 0..4).prop_map(|members| {
                let members: Vec<_> = members
                    .into_iter()
                    .map(|(key, value)| format!("\"{key}\":{value}"))
                    .collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

/// Decides about whatever bytes are a frame, twice, and the same way.
fn decide(stand: &Stand, bytes: &[u8]) -> Option<Effect> {
    let frame = Frame::read(bytes).ok()?;
    let circumstances = Circumstances {
        groups: &["g"],
        session: Some("s"),
        unix_seconds: 1,
        caps: Some(&stand.caps),
    };
    let params = frame.params();
    let method = frame.method()?;
    let name = params
        .and_then(|params| params.get("name"))
        .and_then(|name| name.as_str());
    let rates = RateLimiter::new();
    let effect = match name {
        Some(name) if method == "tools/call" => {
            let call = countersign_policy::Call {
                server: "s",
                name: &name,
                arguments: params.and_then(|params| params.get("arguments")),
                live: Live::Offered(any_pin()),
                identity: "ada",
                now_milliseconds: 0,
            };
            let (steps, decision) = stand.policy.explain_call(&call, &circumstances, &rates);
            assert!(!steps.is_empty());
            decision.effect
        }
        _ => {
            stand
                .policy
                .decide_method_in(method, params, ("ada", 0), &circumstances, &rates)
                .effect
        }
    };
    Some(effect)
}

#[test]
fn no_frame_makes_a_decision_panic() {
    let stand = everything();
    let name = prop::sample::select(vec!["read", "pay", "x", "", "read.x", "a b", "p\u{430}y"]);
    let call = (name, json()).prop_map(|(name, arguments)| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{name}","arguments":{arguments}}}}}"#
        )
        .into_bytes()
    });
    let method = (
        prop::sample::select(vec!["x/y", "tools/call", "a/b"]),
        json(),
    )
        .prop_map(|(method, params)| {
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#)
                .into_bytes()
        });
    let noise = prop::collection::vec(any::<u8>(), 0..200);
    let mut decided = [0_u32; 3];
    let cut = (call.clone(), any::<prop::sample::Index>(), any::<u8>()).prop_map(
        |(mut call, at, byte)| {
            let at = at.index(call.len());
            call[at] = byte;
            call
        },
    );
    let result = runner(1_500).run(
        &prop_oneof![4 => call, 2 => method, 1 => noise, 2 => cut],
        |bytes: Vec<u8>| {
            decide(&stand, &bytes);
            Ok(())
        },
    );
    result.unwrap();
    // The generator reaches every effect, so the property is about something.
    for frame in [
        &br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"l":[{"amount":"0"}]}}}"#[..],
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":{}}}"#,
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{}}}"#,
    ] {
        decided[usize::from(looseness(decide(&stand, frame).unwrap()))] += 1;
    }
    assert_eq!(decided, [1, 1, 1]);
}
