//! Which acts and values the customer asked for, in the customer's own words.
//!
//! Pure: everything the customer typed in one conversation goes in, and out come the payments and other
//! acts that are live, each with the byte spans that ground it, and a reason for whatever was refused.
//! It fails closed: a text that is not clearly a request by the customer grounds nothing, and a value
//! with two readings is an open slot that the customer fills on the panel. This crate may touch
//! nothing but its arguments.

mod acts;
mod amends;
mod amounts;
mod arguments;
mod asides;
pub mod baselines;
mod blocks;
mod case_input;
mod cents;
pub mod chats;
mod clauses;
mod context;
mod corrections;
mod counts;
mod currencies;
mod dates;
mod days;
mod decimal;
mod denials;
mod dialogue;
mod digits;
mod endings;
mod explain;
mod fold;
mod forms;
mod ground;
mod hashing;
mod input;
mod inversions;
mod labels;
mod language_files;
mod lexemes;
mod lexicon;
mod life;
mod loosely;
mod masks;
mod moves;
mod names;
mod negations;
mod neighbours;
mod numerals;
mod other_acts;
mod other_sums;
mod outcome;
mod pairing;
mod parties;
mod pieces;
mod prepositions;
mod quotes;
mod reading;
mod reference;
mod remarks;
mod replaced;
mod retags;
mod scan;
pub mod score;
mod sentences;
mod settled;
mod signs;
mod slots;
mod speech;
mod table;
mod tags;
mod telling;
mod terms;
mod tokens;
mod told;
mod topics;
mod transactions;
mod typos;
mod unsettled;

pub use explain::{
    ExplainedAct, ExplainedClause, ExplainedMessage, ExplainedPayment, ExplainedRefusal,
    ExplainedWords, Explanation, explain,
};
pub use ground::ground;
pub use input::{
    Card, Consumed, ConsumedAct, Input, Locale, Message, OwnAccount, Payee, Span, StandingOrder,
    Transaction,
};
pub use outcome::{
    Act, ActAsk, Grounded, Grounding, MessageSpan, PaymentAsk, Reason, Refusal, Target,
};

/// The version of the grammar and its rules. It goes into every confirm record.
pub const VERSION: &str = "provenance/5";
