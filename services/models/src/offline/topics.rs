//! One file a topic: which tools answer it, in which order, and what is said in the end.

mod activity;
mod cards;
mod disputes;
mod documents;
mod money;
mod orders;
mod payees;
mod payments;
mod refunds;
mod talk;

use serde_json::{Value, json};

use super::{
    ask::Ask,
    turn::{Part, Stop, Turn},
    words::{self, Kind},
};

/// The part of the reply that a wish comes to.
pub(crate) fn answer(turn: &Turn<'_>, ask: &Ask) -> Part {
    match ask {
        Ask::Pay(pay) => payments::pay(turn, pay),
        Ask::Refund(movement) => refunds::refund(turn, movement),
        Ask::Order(order) => orders::request(turn, order),
        Ask::Card(card) => cards::request(turn, card),
        Ask::Dispute(dispute) => disputes::request(turn, dispute),
        Ask::NewPayee => payees::add(turn),
        Ask::Profile(field) => request(turn, "request_profile_change", json!({ "field": field }), Kind::PROFILE),
        Ask::Balance(named) => money::balance(turn, named),
        Ask::Activity(activity) => activity::show(turn, activity),
        Ask::Spending(spending) => money::spending(turn, spending),
        Ask::Payees => payees::show(turn),
        Ask::Cards => cards::show(turn),
        Ask::Orders => orders::show(turn),
        Ask::Limits => money::limits(turn),
        Ask::Waiting => talk::waiting(turn),
        Ask::Documents => documents::show(turn),
        Ask::Read(name) => documents::read(turn, name),
        Ask::Outcome => talk::outcome(turn),
        Ask::Confirm => talk::confirm(turn),
        Ask::TakeBack => talk::take_back(turn),
        Ask::Refrain => Ok("All right, I won't.".to_owned()),
        Ask::NotNow => Ok("I only prepare what you ask me for right now, in your own words. For example: Send 20 to Bob".to_owned()),
        Ask::Unclear => Ok("I can't tell who should get how much. Please type one payment at a time, for example: Send 20 to Bob".to_owned()),
        Ask::Others => Ok("I can only see your own accounts, nobody else's.".to_owned()),
        Ask::Lost => Ok(
            "I'm sorry. To block it right away, type: Freeze my card\nOr use Freeze everything at the top of the page."
                .to_owned(),
        ),
        Ask::AboutYou => Ok(format!(
            "{} I can look things up and prepare requests. I cannot confirm anything.",
            words::WHO_I_AM
        )),
        Ask::Help => Ok(words::HELP.to_owned()),
        Ask::Hello => Ok("Hello! What would you like to do? For example: Send 20 to Bob".to_owned()),
        Ask::Thanks => Ok("You're welcome.".to_owned()),
        Ask::Unknown => Ok(format!("{} {}", words::UNKNOWN, words::HELP)),
    }
}

/// Makes a request once and says what came of it.
fn request(turn: &Turn<'_>, tool: &'static str, arguments: Value, kind: Kind) -> Part {
    match turn.call(tool, arguments)? {
        Ok(answer) => Ok(words::prepared(answer, kind)),
        Err(refused) => Ok(words::request_refusal(&refused, kind)),
    }
}

/// Makes a request; where the bank cannot match a value to the customer's words, makes it without that value.
///
/// That is another request, not the same again: the first was refused and left nothing behind.
/// `droppable` maps what the bank calls the value to the argument that may be left out.
fn request_or_leave_open(
    turn: &Turn<'_>,
    tool: &'static str,
    mut arguments: Value,
    droppable: &[(&str, &str)],
    kind: Kind,
) -> Part {
    for _ in 0..=droppable.len() {
        match turn.call(tool, arguments.clone())? {
            Ok(answer) => return Ok(words::prepared(answer, kind)),
            Err(refused) => {
                let can_leave_open = matches!(refused.code.as_str(), "not_grounded" | "not_found");
                let argument = droppable
                    .iter()
                    .find(|(what, _)| Some(*what) == refused.what.as_deref())
                    .map(|(_, argument)| *argument);
                let removed = argument
                    .filter(|_| can_leave_open)
                    .and_then(|argument| remove(&mut arguments, argument));
                if removed.is_none() {
                    return Ok(words::request_refusal(&refused, kind));
                }
            }
        }
    }
    let refused = super::turn::Refused {
        code: "not_grounded".to_owned(),
        what: None,
    };
    Err(Stop::Say(words::request_refusal(&refused, kind)))
}

/// Removes an argument; a dot leads into the first payment.
fn remove(arguments: &mut Value, path: &str) -> Option<Value> {
    let (object, name) = match path.strip_prefix("payments.") {
        Some(name) => (arguments.get_mut("payments")?.get_mut(0)?, name),
        None => (arguments, path),
    };
    object.as_object_mut()?.remove(name)
}
