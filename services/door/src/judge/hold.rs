//! Calls that wait for a person: where a front leaves them and how they come back.

use countersign_receipts::Hash;
use countersign_wire::Frame;

use super::refusal::Refusal;
use crate::approval::Wishes;
use crate::record::PolicyMark;

/// A call that stands in the record as held and waits.
pub struct Held<'a> {
    /// The call's own name.
    pub call: [u8; 16],
    /// Whose call it is.
    pub identity: &'a str,
    /// The server it would go to.
    pub server: &'a str,
    /// The method, `tools/call` mostly.
    pub method: &'a str,
    /// The tool, of a call.
    pub tool: Option<&'a str>,
    /// The message exactly as the server would receive it.
    pub bytes: &'a [u8],
    /// The rule that asks for a person.
    pub rule: &'a str,
    /// For how long and by which ways.
    pub hold: Option<&'a countersign_policy::Hold>,
    /// The leaf of the line that says it is held.
    pub leaf: Hash,
    /// The pin of the tool's definition as it was judged.
    pub definition: Option<&'a str>,
    /// The policy it was judged by.
    pub policy: &'a PolicyMark,
    /// What the agent said to the door beside the call.
    pub wishes: Wishes,
    /// Whether its client takes questions of the door's.
    pub client_takes_questions: bool,
}

/// What became of a held call.
#[derive(Debug)]
pub enum Decided {
    /// It goes on now, exactly as it was held; the leaf is that of the line that says so.
    Released(Hash),
    /// It does not.
    Refused(Refusal),
}

/// Takes the decision to whoever waits for it. Called once, from any thread; it may write to a pipe.
pub type Tell = Box<dyn FnOnce(Decided) + Send>;

/// Holds calls until a person has decided.
pub trait Holds: Send + Sync {
    /// Takes in a held call and returns at once; `tell` is called later, once.
    ///
    /// # Errors
    /// The refusal to answer with, when nobody can decide.
    fn hold(&self, held: &Held<'_>, tell: Tell) -> Result<(), Refusal>;

    /// The client went away or took the call back: nobody has to decide any more.
    fn withdraw(&self, call: &[u8; 16]);

    /// How many calls of this caller are held.
    fn held_of(&self, identity: &str) -> usize;

    /// How many calls are held, whoever's they are.
    fn held_in_all(&self) -> usize;

    /// A question for the client about a held call, where its rule takes the client's word.
    fn question(&self, call: &[u8; 16]) -> Option<String>;

    /// Takes the client's answer to such a question. False when it is an answer to something else.
    fn take_answer(&self, identity: &str, frame: &Frame<'_>) -> bool;
}
