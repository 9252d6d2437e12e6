//! What of a reply reaches the browser. Runs between the agent, which may be hostile, and the page.

use bytes::Bytes;
use countersign_domain::{ActionId, UtteranceId};
use countersign_screening::ReplyCleaner;
use serde::Serialize;

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
    /// The agent read something.
    LookedAt {
        /// The tool's name, one of a fixed list.
        tool: &'a str,
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
    /// The reply says that something was done, and the record says otherwise.
    NothingDone,
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

/// The agent's own word for giving up, or `agent_failed`.
pub fn known_code(code: &str) -> &'static str {
    AGENT_CODES
        .iter()
        .copied()
        .find(|known| *known == code)
        .unwrap_or("agent_failed")
}

/// What was shown of a reply so far, and what may be shown of the rest.
#[derive(Debug, Default)]
pub struct Shown {
    cleaner: ReplyCleaner,
    body: String,
    length: usize,
    looked_at: Vec<String>,
    flagged: Vec<&'static str>,
    prepared: Vec<ActionId>,
}

/// The reply grew past [`REPLY_LENGTH_MAX`].
#[derive(Debug, PartialEq, Eq)]
pub struct TooLong;

impl Shown {
    /// Takes a piece of text and returns what of it may be shown by now.
    ///
    /// # Errors
    /// [`TooLong`]; the reply ends there.
    pub fn text(&mut self, piece: &str) -> Result<String, TooLong> {
        let clean = self.cleaner.push(piece);
        self.keep(clean)
    }

    /// Takes the end of the reply and returns what was held back.
    pub fn rest(&mut self) -> String {
        let clean = self.cleaner.finish();
        self.keep(clean).unwrap_or_default()
    }

    fn keep(&mut self, clean: String) -> Result<String, TooLong> {
        self.length += clean.chars().count();
        if self.length > REPLY_LENGTH_MAX {
            return Err(TooLong);
        }
        self.body.push_str(&clean);
        Ok(clean)
    }

    /// Takes a remark about a tool; answers its name when it is to be shown: known, and for the first time.
    pub fn looked_at(&mut self, tool: &str) -> Option<&'static str> {
        let known = LOOKING_TOOLS.iter().copied().find(|known| *known == tool)?;
        if self.looked_at.iter().any(|seen| seen == known) {
            return None;
        }
        self.looked_at.push(known.to_owned());
        Some(known)
    }

    /// Takes a remark about a flagged answer; answers the tool's name when it is to be shown: known, and for the first
    /// time.
    pub fn flagged(&mut self, tool: &str) -> Option<&'static str> {
        let known = LOOKING_TOOLS.iter().copied().find(|known| *known == tool)?;
        if self.flagged.contains(&known) {
            return None;
        }
        self.flagged.push(known);
        Some(known)
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

    #[test]
    fn a_reply_without_end_is_cut() {
        let mut shown = Shown::default();
        let piece = "é".repeat(1000);
        let mut pieces = 0;
        while shown.text(&piece).is_ok() {
            pieces += 1;
            assert!(pieces <= 20, "not cut");
        }
        assert!(shown.body().chars().count() <= REPLY_LENGTH_MAX);
    }

    #[test]
    fn hidden_characters_do_not_reach_the_page_or_the_record() {
        let mut shown = Shown::default();
        assert_eq!(shown.text("Hel\u{202e}lo\u{e0041}").as_deref(), Ok("Hello"));
        assert_eq!(shown.rest(), "");
        assert_eq!(shown.body(), "Hello");
    }

    #[test]
    fn only_known_tools_are_named_and_each_once() {
        let mut shown = Shown::default();
        assert_eq!(shown.looked_at("list_payees"), Some("list_payees"));
        assert_eq!(shown.looked_at("list_payees"), None);
        for other in ["request_transfer", "your money was sent", ""] {
            assert_eq!(shown.looked_at(other), None);
        }
        assert_eq!(shown.tools(), ["list_payees"]);
    }

    #[test]
    fn a_code_of_the_agents_own_making_is_not_passed_on() {
        assert_eq!(known_code("budget"), "budget");
        assert_eq!(known_code("call +49 151 now"), "agent_failed");
    }

    #[test]
    fn lines_have_their_fixed_form() {
        let line = |out: Out<'_>| String::from_utf8(out.line().to_vec()).expect("text");
        assert_eq!(line(Out::NothingDone), "{\"type\":\"nothing_done\"}\n");
        assert_eq!(line(Out::Done), "{\"type\":\"done\"}\n");
        assert_eq!(
            line(Out::Text { text: "a\nb" }),
            "{\"type\":\"text\",\"text\":\"a\\nb\"}\n"
        );
        assert_eq!(
            line(Out::Failed { code: "budget" }),
            "{\"type\":\"failed\",\"code\":\"budget\"}\n"
        );
        assert_eq!(
            line(Out::LookedAt { tool: "list_cards" }),
            "{\"type\":\"looked_at\",\"tool\":\"list_cards\"}\n"
        );
    }
}
