//! The presets: each loads, lints without an error, and denies what it says it denies.

use std::path::PathBuf;
use std::process::Command;

use countersign_policy::{Call, Effect, Live, Pin, Policy, RateLimiter, Reason};

/// Presets that people run, and how many warnings each has: a template allows nothing, and pins of a server that
/// nobody could ask are not there.
const PRESETS: [(&str, usize); 6] = [
    ("bank", 0),
    ("bankmcp", 5),
    ("everything", 0),
    ("filesystem", 0),
    ("memory", 0),
    ("read-only", 1),
];

fn path(preset: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/policy");
    folder.join(format!("{preset}.yaml"))
}

fn load(preset: &str) -> Policy {
    Policy::load(&std::fs::read_to_string(path(preset)).unwrap()).unwrap()
}

/// The decision about a call without arguments of a tool with this definition.
fn decide(policy: &Policy, server: &str, name: &str, live: Live) -> (Effect, Reason) {
    let call = Call {
        server,
        name,
        arguments: None,
        live,
        identity: "somebody",
        now_milliseconds: 0,
    };
    let rates = RateLimiter::new();
    let decision = policy.decide_call(&call, &rates);
    (decision.effect, decision.reason)
}

#[test]
fn every_preset_lints_without_an_error() {
    for (preset, warnings) in PRESETS {
        let mut lint = Command::new(env!("CARGO_BIN_EXE_countersign-door"));
        let output = lint
            .args(["lint", "--policy"])
            .arg(path(preset))
            .output()
            .unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{preset}: {said}");
        let found = said.matches(": warning [").count();
        assert_eq!(found, warnings, "{preset}: {said}");
    }
}

#[test]
fn bankmcp_denies_what_is_no_reading_and_everything_until_it_is_pinned() {
    let policy = load("bankmcp");
    let live = Live::Offered(Pin::from_text(&"ab".repeat(32)).unwrap());
    for name in [
        "start_consent",
        "disconnect_bank",
        "set_account_label",
        "create_watch",
        "delete_watch",
        "check_watches",
        "list_banks",
    ] {
        let (effect, reason) = decide(&policy, "bank", name, live);
        assert_eq!(effect, Effect::Deny, "{name}");
        let meant = matches!(reason, Reason::DeniedByRule | Reason::WriteWord);
        assert!(meant, "{name}: {reason:?}");
    }
    for name in [
        "consent_status",
        "list_accounts",
        "get_balances",
        "get_transactions",
        "list_watches",
    ] {
        let decided = decide(&policy, "bank", name, live);
        assert_eq!(decided, (Effect::Deny, Reason::NotPinned), "{name}");
    }
}

#[test]
fn presets_with_pins_take_no_other_definition() {
    let live = Live::Offered(Pin::from_text(&"ab".repeat(32)).unwrap());
    for (preset, server, name) in [
        ("filesystem", "filesystem", "list_allowed_directories"),
        ("memory", "memory", "read_graph"),
        ("everything", "everything", "get-tiny-image"),
    ] {
        let policy = load(preset);
        let decided = decide(&policy, server, name, live);
        assert_eq!(
            decided,
            (Effect::Deny, Reason::DefinitionChanged),
            "{preset}"
        );
        let pinned = Live::Offered(policy.pin(name).expect("a pin"));
        assert_eq!(
            decide(&policy, server, name, pinned).0,
            Effect::Allow,
            "{preset}"
        );
    }
}
