//! The attacks, each as a client makes it.

use super::speaker::{Heard, Speaker};

/// One attack.
pub struct Attack {
    /// A short name, the same in every report.
    pub name: &'static str,
    /// What is tried, in a sentence.
    pub what: &'static str,
    /// The tool that must not be reached, if the attack is on one.
    pub tool: Option<&'static str>,
    /// Makes it, and gives back what came of it.
    pub make: fn(&mut Speaker) -> anyhow::Result<Heard>,
}

/// A line under this id is in no other attack.
const RAW_ID: u64 = 77;

/// All of them, in the order of the report.
pub const ATTACKS: &[Attack] = &[
    Attack {
        name: "undocumented arguments",
        what: "A read tool pays when it is called with arguments that nobody documented.",
        tool: Some("get_balance"),
        make: |speaker| {
            speaker.look(1)?;
            speaker.call(
                "get_balance",
                r#"{"account":"ACC-1","transfer_to":"ACC-THIEF","amount":"900.00"}"#,
            )?;
            Ok(speaker.heard())
        },
    },
    Attack {
        name: "rug pull",
        what: "A tool becomes another one once somebody has looked at it.",
        tool: Some("list_payees"),
        make: |speaker| {
            speaker.look(2)?;
            speaker.call("list_payees", "{}")?;
            Ok(speaker.heard())
        },
    },
    Attack {
        name: "renamed payment",
        what: "A payment tool comes back under a name that sounds like reading.",
        tool: Some("get_invoice"),
        make: |speaker| {
            speaker.look(2)?;
            speaker.call("get_invoice", r#"{"invoice":"7"}"#)?;
            Ok(speaker.heard())
        },
    },
    Attack {
        name: "payment by its name",
        what: "A payment tool that says it only reads, and that somebody put on the list.",
        tool: Some("pay_invoice"),
        make: |speaker| {
            speaker.look(1)?;
            speaker.call("pay_invoice", r#"{"invoice":"7"}"#)?;
            Ok(speaker.heard())
        },
    },
    Attack {
        name: "a batch",
        what: "A call of a tool that is not allowed, in an array.",
        tool: Some("secret"),
        make: |speaker| {
            speaker.write(&format!(
                r#"[{{"jsonrpc":"2.0","id":{RAW_ID},"method":"tools/call","params":{{"name":"secret","arguments":{{}}}}}}]"#
            ))?;
            speaker.wait(RAW_ID);
            Ok(speaker.heard())
        },
    },
    Attack {
        name: "a second name",
        what: "A call with `name` and `Name`, of which two readers take different ones.",
        tool: Some("secret"),
        make: |speaker| {
            speaker.write(&format!(
                r#"{{"jsonrpc":"2.0","id":{RAW_ID},"method":"tools/call","params":{{"name":"echo","Name":"secret","arguments":{{}}}}}}"#
            ))?;
            speaker.wait(RAW_ID);
            Ok(speaker.heard())
        },
    },
    Attack {
        name: "another method",
        what: "A file read by a method that nobody thought of.",
        tool: None,
        make: |speaker| {
            speaker.ask("resources/read", r#"{"uri":"file:///customer"}"#)?;
            Ok(speaker.heard())
        },
    },
    Attack {
        name: "leaked secrets",
        what: "An answer with keys, a card number and a private key in it.",
        tool: None,
        make: |speaker| {
            speaker.call("get_statement", r#"{"month":"2026-11"}"#)?;
            Ok(speaker.heard())
        },
    },
    Attack {
        name: "orders in an answer",
        what: "An answer that tells the model to pay.",
        tool: None,
        make: |speaker| {
            speaker.call("get_messages", "{}")?;
            Ok(speaker.heard())
        },
    },
    Attack {
        name: "orders in a definition",
        what: "A tool whose description tells the model to pay.",
        tool: None,
        make: |speaker| {
            speaker.ask("tools/list", "{}")?;
            Ok(speaker.heard())
        },
    },
    Attack {
        name: "requests of its own",
        what: "The server asks the client's model, and the customer, for a PIN.",
        tool: None,
        make: |speaker| {
            speaker.call("get_weather", "{}")?;
            Ok(speaker.heard())
        },
    },
    Attack {
        name: "answers nobody asked for",
        what: "Answers under somebody else's id, and a second one under the right id.",
        tool: None,
        make: |speaker| {
            speaker.call("get_date", "{}")?;
            Ok(speaker.heard())
        },
    },
    Attack {
        name: "a flood",
        what: "An answer of more than 32 MiB.",
        tool: None,
        make: |speaker| {
            speaker.call("get_history", "{}")?;
            Ok(speaker.heard())
        },
    },
];
