//! What of a reply reaches the browser. Runs between the agent, which may be hostile, and the page.

#[cfg(test)]
mod cuts;
mod record;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use countersign_domain::{ActionId, UtteranceId};
use serde::Serialize;

use crate::store::looked_at::Looked;
pub use record::{Record, correction};
use words::Words;
pub use words::{Mark, Piece, Screens, Stopped};

/// Longest reply, in characters; the record holds no longer one.
pub const REPLY_LENGTH_MAX: usize = 20_000;
/// Most lines of one reply other than text.
pub const REMARKS_MAX: usize = 64;

/// The tools that only look. Names of others, and of tools there are none of, are not passed on.
const LOOKING_TOOLS: &[&str] = &[
    "list_accounts",
    "get_balance",
    "list_transactions",
    "list_payees",
    "list_cards",
    "get_limits",
    "list_open_requests",
    "get_request_status",
    "get_spending_by_category",
    "list_standing_orders",
    "list_documents",
    "read_document",
];

/// Codes with which the agent may say that it gave up. Others become `agent_failed`.
const AGENT_CODES: &[&str] = &[
    "model_unavailable",
    "budget",
    "door_refused",
    "door_unavailable",
    "timeout",
];

/// One line to the browser.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Out<'a> {
    /// The message is on record. Always the first line.
    Recorded {
        /// Its id.
        utterance: UtteranceId,
    },
    /// A piece of the reply.
    Text {
        /// To be put behind what came before.
        text: &'a str,
    },
    /// A piece of the reply that names a link, a mailbox or a number that is not the bank's. Put behind what came before
    /// as text that does nothing, and marked.
    Foreign {
        /// The words.
        text: &'a str,
    },
    /// A piece of the reply that advises what no bank advises: money to a "safe account". Marked, and warned of.
    Warned {
        /// The words.
        text: &'a str,
    },
    /// Something was read, as the record says.
    LookedAt {
        /// The tool's name, one of a fixed list.
        tool: &'static str,
        /// The door's receipt of the call.
        receipt: String,
    },
    /// A request of this conversation waits on the panel; the record says so too.
    Prepared {
        /// The request.
        action: ActionId,
    },
    /// The assistant was given an order by a text that somebody else wrote, and was told that it is data.
    Flagged {
        /// The tool that read the text, one of a fixed list.
        tool: &'a str,
    },
    /// The reply says that something was prepared or done, and the record, which follows, says otherwise.
    Corrected {
        /// What the record says.
        record: &'a Record,
    },
    /// The reply is whole.
    Done,
    /// It is not, and nothing more comes.
    Failed {
        /// Why, one of a fixed list.
        code: &'static str,
    },
}

impl Out<'_> {
    /// The line's bytes, its end included.
    pub fn line(&self) -> Bytes {
        // Strings and ids always serialise; an empty line would be passed over by the page.
        let mut line = serde_json::to_vec(self).unwrap_or_default();
        line.push(b'\n');
        line.into()
    }
}

/// What the record says was looked at, as a line; none for a tool that does more than look.
pub fn looked_at(looked: Looked) -> Option<Out<'static>> {
    let tool = looking_tool(&looked.tool)?;
    Some(Out::LookedAt {
        tool,
        receipt: looked.receipt,
    })
}

/// Of what the record says, what only looked.
pub fn only_looks(looked: Vec<Looked>) -> Vec<Looked> {
    let mut looked = looked;
    looked.retain(|one| looking_tool(&one.tool).is_some());
    looked
}

/// The name of a tool that only looks, from the list of them.
fn looking_tool(name: &str) -> Option<&'static str> {
    LOOKING_TOOLS.iter().copied().find(|known| *known == name)
}

/// The agent's own word for giving up, or `agent_failed`.
pub fn known_code(code: &str) -> &'static str {
    AGENT_CODES
        .iter()
        .copied()
        .find(|known| *known == code)
        .unwrap_or("agent_failed")
}

/// What was noticed in a reply, for the record: how often which rule held.
pub type Noticed = BTreeMap<(&'static str, String), u32>;

/// What was shown of a reply so far, and what may be shown of the rest.
#[derive(Debug)]
pub struct Shown {
    words: Words,
    body: String,
    looked_at: Vec<String>,
    said_looked_at: BTreeSet<&'static str>,
    flagged: Vec<&'static str>,
    prepared: Vec<ActionId>,
    noticed: Noticed,
}

impl Shown {
    /// Begins a reply.
    pub fn new(screens: &Screens) -> Self {
        Self {
            words: Words::new(screens),
            body: String::new(),
            looked_at: Vec::new(),
            said_looked_at: BTreeSet::new(),
            flagged: Vec::new(),
            prepared: Vec::new(),
            noticed: Noticed::new(),
        }
    }

    /// Takes a piece of text and returns what of it may be shown by now, as far as its own words go.
    ///
    /// # Errors
    /// [`Stopped`]; the reply ends there.
    pub fn text(&mut self, piece: &str) -> Result<Vec<Piece>, Stopped> {
        self.words.push(piece)
    }

    /// Takes the end of the reply and returns what was held back.
    ///
    /// # Errors
    /// [`Stopped`]; what was held back is not shown.
    pub fn rest(&mut self) -> Result<Vec<Piece>, Stopped> {
        self.words.finish()
    }

    /// Takes note of what is shown.
    pub fn keep(&mut self, pieces: &[Piece]) {
        for piece in pieces {
            self.body.push_str(&piece.text);
            match piece.mark {
                Mark::Plain => {}
                Mark::Foreign => self.notice("foreign_contact", "reply"),
                Mark::Warned => self.notice("scam_advice", "safe_account"),
            }
        }
    }

    /// Takes note of a rule that held.
    pub fn notice(&mut self, kind: &'static str, rule: &str) {
        *self.noticed.entry((kind, rule.to_owned())).or_default() += 1;
    }

    /// Everything that was noticed, secrets that were masked included.
    pub fn noticed(&self) -> Noticed {
        let masked = self
            .words
            .masked()
            .map(|(rule, number)| (("masked", rule), number));
        self.noticed.clone().into_iter().chain(masked).collect()
    }

    /// Takes a remark about a tool; answers whether the record is to be asked: it names one that looks, and for the
    /// first time. What the record does not know of is noticed at the turn's end.
    pub fn says_it_looked_at(&mut self, tool: &str) -> bool {
        let Some(known) = looking_tool(tool) else {
            self.notice("agent_misreport", "unknown_tool");
            return false;
        };
        self.said_looked_at.insert(known) && !self.looked_at.iter().any(|seen| seen == known)
    }

    /// Takes what the record says was looked at; answers the lines that were not shown yet.
    pub fn looked_at(&mut self, on_record: Vec<Looked>) -> Vec<Out<'static>> {
        let mut lines = Vec::new();
        for looked in only_looks(on_record) {
            if !self.looked_at.contains(&looked.tool) {
                self.looked_at.push(looked.tool.clone());
                lines.extend(looked_at(looked));
            }
        }
        lines
    }

    /// Notices the remarks about tools that the record knows no call of. Once, when the turn is over.
    pub fn compare_remarks(&mut self) {
        let unknown = self
            .said_looked_at
            .iter()
            .filter(|said| !self.looked_at.iter().any(|seen| seen == *said));
        for _ in 0..unknown.count() {
            self.notice("agent_misreport", "not_looked_at");
        }
    }

    /// Takes a remark about a flagged answer; answers the tool's name when it is to be shown: known, and for the first
    /// time.
    pub fn flagged(&mut self, tool: &str, rules: &[String]) -> Option<&'static str> {
        let Some(known) = looking_tool(tool) else {
            self.notice("agent_misreport", "unknown_tool");
            return None;
        };
        if self.flagged.contains(&known) {
            return None;
        }
        self.flagged.push(known);
        let is_rule = |rule: &&String| {
            (1..=64).contains(&rule.len())
                && rule.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
        };
        for rule in rules.iter().filter(is_rule).take(REMARKS_MAX) {
            self.notice("injection_flagged", rule);
        }
        Some(known)
    }

    /// Takes a remark about a guardrail of the agent's.
    pub fn guardrail(&mut self, guardrail: &str, rule: &str) {
        let name = format!("{guardrail}_{rule}");
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        if (1..=64).contains(&name.len())
            && name.bytes().all(plain)
            && self.noticed.len() < REMARKS_MAX
        {
            self.notice("guardrail_hit", &name);
        }
    }

    /// Takes a remark about a request; answers whether the record is to be asked about it.
    pub fn prepared(&mut self, action: ActionId) -> bool {
        if self.prepared.contains(&action) || self.prepared.len() >= REMARKS_MAX {
            return false;
        }
        self.prepared.push(action);
        true
    }

    /// Whether the agent spoke of a request in this reply, true or not.
    pub fn prepared_anything(&self) -> bool {
        !self.prepared.is_empty()
    }

    /// The text shown so far.
    pub fn body(&self) -> &str {
        &self.body
    }

    /// The tools named so far.
    pub fn tools(&self) -> &[String] {
        &self.looked_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown() -> Shown {
        Shown::new(&Screens::new(&[]).expect("screens"))
    }

    #[test]
    fn what_the_record_says_is_shown_once_and_what_the_agent_says_is_compared_with_it() {
        let mut shown = shown();
        let looked = |tool: &str| Looked {
            tool: tool.to_owned(),
            receipt: "0a".to_owned(),
        };
        assert!(shown.says_it_looked_at("list_payees"));
        assert!(!shown.says_it_looked_at("list_payees"));
        assert!(shown.says_it_looked_at("get_limits"));
        for other in ["request_transfer", "your money was sent", ""] {
            assert!(!shown.says_it_looked_at(other));
        }
        let on_record = vec![
            looked("list_payees"),
            looked("request_transfer"),
            looked("list_cards"),
        ];
        let lines = shown.looked_at(on_record.clone());
        let line = |tool| Out::LookedAt {
            tool,
            receipt: "0a".to_owned(),
        };
        assert_eq!(lines, [line("list_payees"), line("list_cards")]);
        assert_eq!(shown.looked_at(on_record), []);
        assert_eq!(shown.tools(), ["list_payees", "list_cards"]);
        shown.compare_remarks();
        let noticed = shown.noticed();
        assert_eq!(noticed[&("agent_misreport", "unknown_tool".to_owned())], 3);
        assert_eq!(noticed[&("agent_misreport", "not_looked_at".to_owned())], 1);
    }

    #[test]
    fn only_known_tools_are_flagged_and_each_once() {
        let mut shown = shown();
        let rules = ["tool_order".to_owned(), "Call +49 151".to_owned()];
        assert_eq!(shown.flagged("list_payees", &rules), Some("list_payees"));
        assert_eq!(shown.flagged("list_payees", &rules), None);
        assert_eq!(shown.flagged("Call +49 151", &rules), None);
        let noticed: Vec<_> = shown.noticed().into_keys().collect();
        assert_eq!(
            noticed,
            [
                ("agent_misreport", "unknown_tool".to_owned()),
                ("injection_flagged", "tool_order".to_owned())
            ]
        );
    }

    #[test]
    fn a_code_of_the_agents_own_making_is_not_passed_on() {
        assert_eq!(known_code("budget"), "budget");
        assert_eq!(known_code("call +49 151 now"), "agent_failed");
    }

    #[test]
    fn lines_have_their_fixed_form() {
        let line = |out: Out<'_>| String::from_utf8(out.line().to_vec()).expect("text");
        let record = Record {
            waiting: ["transfer".to_owned()].into(),
            ..Record::default()
        };
        assert_eq!(
            line(Out::Corrected { record: &record }),
            "{\"type\":\"corrected\",\"record\":{\"confirmed\":[],\"waiting\":[\"transfer\"],\"dropped\":[]}}\n"
        );
        assert_eq!(line(Out::Done), "{\"type\":\"done\"}\n");
        assert_eq!(
            line(Out::Text { text: "a\nb" }),
            "{\"type\":\"text\",\"text\":\"a\\nb\"}\n"
        );
        assert_eq!(
            line(Out::Foreign {
                text: "evil.example"
            }),
            "{\"type\":\"foreign\",\"text\":\"evil.example\"}\n"
        );
        assert_eq!(
            line(Out::Failed { code: "budget" }),
            "{\"type\":\"failed\",\"code\":\"budget\"}\n"
        );
        assert_eq!(
            line(Out::Flagged { tool: "list_cards" }),
            "{\"type\":\"flagged\",\"tool\":\"list_cards\"}\n"
        );
        assert_eq!(
            line(Out::LookedAt {
                tool: "list_cards",
                receipt: "0a".to_owned()
            }),
            "{\"type\":\"looked_at\",\"tool\":\"list_cards\",\"receipt\":\"0a\"}\n"
        );
    }
}
