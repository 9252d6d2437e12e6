//! Messages that are wrong in one thing each, beside good ones that look odd: none of the first reaches the server.

use crate::piped::{Piped, policy};

const MESSAGES: &str = include_str!("../../../../fixtures/cases/wrong-messages.tsv");
/// What the policy of this test declares for the tool.
const ARGUMENTS: &str = "{id: {type: integer, required: true, min: 1, max: 9}, text: {type: string, max_length: 10, \
                         pattern: '[a-z]+'}, tags: {type: array, items: {type: string, max_length: 3}, max_items: 2}}";

fn bytes(cell: &str) -> Vec<u8> {
    match cell.strip_prefix("hex:") {
        Some(digits) => hex::decode(digits).unwrap(),
        None => serde_json::from_str::<String>(cell).unwrap().into_bytes(),
    }
}

#[test]
fn nothing_wrong_reaches_the_server_and_nothing_odd_is_lost() {
    let declared = policy("").replacen(
        "echo: {args: {text: {type: string}}}",
        &format!("echo: {{args: {ARGUMENTS}}}"),
        1,
    );
    let mut door = Piped::with(&format!("{declared}message_rate_per_minute: 100000\n"));
    door.initialize();
    let (mut refused, mut passed, mut wrong) = (0, 0, Vec::new());
    for row in MESSAGES.lines().skip(1) {
        let [what, becomes, text] = row.split('\t').collect::<Vec<_>>()[..] else {
            panic!("three columns: {row}");
        };
        let mut line = bytes(text);
        line.push(b'\n');
        door.write_bytes(&line);
        let answer = door.message();
        let is_as_wanted = match becomes {
            "passed" => answer["result"].is_object(),
            _ => answer["error"]["code"].is_i64(),
        };
        match becomes {
            "passed" => passed += 1,
            _ => refused += 1,
        }
        if !is_as_wanted {
            wrong.push(format!("{what}: {answer}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(refused > 120 && passed > 8, "{refused} {passed}");
    let seen = door.says("seen", "");
    let calls = seen.matches(r#""tools/call""#).count();
    // The last is the question what was seen.
    assert_eq!(calls, passed + 1, "{seen}");
}
