//! Messages that only make sense after the one before: "actually 30", "no, to Alice", "more".

use time::Date;

use super::{
    acts::{card_name, reason},
    ask::{Activity, Ask, Line, Pay, Sum},
    day::{frequency, month},
    payment,
    phrase::Clause,
    text::pattern,
    understand::Memory,
};

/// Words that open a correction and carry nothing themselves.
const OPENINGS: &str = "no|nope|actually|sorry|oops|wait|hang on|hold on|hmm?|i mean|i meant|i said|rather|instead|ok|okay|and|but|so|please|just|let's|lets|let us|do|say|use|make it|make that|make|it|that|change it|change that|change the amount|set the amount|set it|the amount is|should be|it should be|be|to be|only|well|yes|the";

/// Longest correction, in words after its opening.
const CORRECTION_WORDS_MAX: usize = 10;

/// Messages that are clear as a whole, whatever they are made of: yes, stop, more.
pub(crate) fn whole_message(clause: &Clause, memory: &Memory) -> Option<Ask> {
    let text = clause.text.trim_matches(|c: char| !c.is_alphanumeric());
    if pattern!(r"^(?:yes|yep|yeah|yup|ok|okay|sure|correct|right|confirm(?:ed|ing)?|confirm (?:it|that|this|now)|confirming now|i confirm|do it|go ahead|approved?|approve (?:it|that)|send it|yes,? (?:please|do it|send it|confirm(?: it)?|go ahead)|(?:please |can you |just )*(?:press|click|hit|tap) (?:send|confirm|the button|it)(?: for me)?|(?:please |can you )*confirm (?:it|that|this)?(?: for me)?)$").is_match(text) {
        return Some(Ask::Confirm);
    }
    let stop = pattern!(
        r"^(?:(?:no|oh|wait|please|ok|okay|sorry|actually|hm+),? )*(?:stop(?: (?:it|that|this))?|cancel|cancel (?:it|that|this|everything|(?:the|this|that|my) (?:payment|transfer|request|one))|never ?mind|forget (?:it|that|about it)|scratch that|leave it|don't|do not|don't do (?:it|that)|do nothing|abort|undo(?: (?:it|that))?|take (?:it|that) back|i changed my mind|hm+,? no|no|nope|no thanks?(?: you)?)$"
    );
    if stop.is_match(text) {
        return Some(Ask::TakeBack);
    }
    if pattern!(r"^(?:(?:show|see|and|any|yes) )?(?:me )?(?:some |the )?(?:more|next|older|earlier|next page|older ones|continue|go on)(?: (?:of them|transactions|please|ones))*$").is_match(text)
        && let Some(Ask::Activity(before)) = &memory.question
    {
        return Some(Ask::Activity(Activity { page: before.page + 1, ..before.clone() }));
    }
    None
}

/// A change of what was asked before, or an answer to what was left open.
pub(crate) fn read(clause: &Clause, memory: &Memory, today: Date) -> Option<Ask> {
    let text = clause.text.trim();
    if let Some(question) = follow_up(text, memory, today) {
        return Some(question);
    }
    let sum = clause.last_sum();
    let Some(act) = memory.act.clone() else {
        return pair_alone(clause, sum);
    };
    let opened = pattern!(&format!(r"^(?:(?:{OPENINGS})\b[, ]*)+"))
        .find(text)
        .map_or(0, |found| found.end());
    let rest = text[opened..]
        .trim_matches(|c: char| !c.is_alphanumeric() && c != '€' && c != '£' && c != '$');
    let words = rest.split_whitespace().count();
    let short = words <= 4;
    // What tells of something is no correction: "Bob lives at 12 Elm Road".
    let tells =
        pattern!(r"\b(?:is|was|were|are|lives|has|had|costs?|paid|got|bought)\b").is_match(rest);
    if (tells && opened == 0) || words > CORRECTION_WORDS_MAX {
        return None;
    }
    match act {
        Ask::Pay(mut pay) => {
            let from = clause.paying_account();
            let payee = swapped(clause)
                .or_else(|| clause.name_after(pattern!(r"\b(?:the )?same (?:again )?for (?:my )?")))
                .or_else(|| payment::payee(clause))
                .or_else(|| {
                    let named = opened > 0 || pay.first().payee.is_none() || stands_alone(rest);
                    bare_name(clause, rest, short && from.is_none() && named)
                });
            let pair = payee.is_some() && sum.is_some();
            if payee.is_none() && sum.is_none() && from.is_none() {
                return None;
            }
            if pair {
                pay.lines.clear();
            }
            change(&mut pay.first().payee, payee);
            let before = pay.first().sum.clone();
            change(
                &mut pay.first().sum,
                sum.map(|sum| keep_currency(sum, before.as_ref())),
            );
            change(&mut pay.from, from);
            Some(Ask::Pay(pay))
        }
        Ask::Order(mut order) => {
            let start = clause
                .days
                .iter()
                .find_map(|day| day.date)
                .map(|date| date.to_string());
            let rhythm = frequency(text);
            let name = payment::payee(clause).or_else(|| {
                bare_name(
                    clause,
                    rest,
                    short && order.name.is_none() && rhythm.is_none(),
                )
            });
            if start.is_none() && rhythm.is_none() && sum.is_none() && name.is_none() {
                return None;
            }
            change(&mut order.start, start);
            change(&mut order.frequency, rhythm);
            change(&mut order.sum, sum);
            change(&mut order.name, name);
            Some(Ask::Order(order))
        }
        Ask::Card(mut card) => {
            card.which = Some(card_name(clause).or_else(|| four_digits(rest))?);
            Some(Ask::Card(card))
        }
        Ask::Dispute(mut dispute) => {
            let why = reason(text);
            let name = bare_name(
                clause,
                rest,
                short && dispute.movement.name.is_none() && why.is_none(),
            );
            if why.is_none() && sum.is_none() && name.is_none() {
                return None;
            }
            change(&mut dispute.reason, why);
            change(&mut dispute.movement.sum, sum);
            change(&mut dispute.movement.name, name);
            Some(Ask::Dispute(dispute))
        }
        Ask::Refund(mut movement) => {
            let name = clause
                .name_after(pattern!(r"\b(?:from|by)(?: my| the)? "))
                .or_else(|| bare_name(clause, rest, short && movement.name.is_none()));
            if sum.is_none() && name.is_none() {
                return None;
            }
            change(&mut movement.sum, sum);
            change(&mut movement.name, name);
            Some(Ask::Refund(movement))
        }
        _ => None,
    }
}

/// "Increase Bob's transfer from 20 to 25", "change 40 to 45 for Carol": the payee stands there, the later amount counts.
pub(crate) fn changed_amount(clause: &Clause) -> Option<Ask> {
    let lead = pattern!(
        r"^(?:please |can you |could you )*(?:increase|raise|lower|reduce|decrease|change|update|make|set)\b"
    );
    if !lead.is_match(&clause.text) || clause.amounts.is_empty() {
        return None;
    }
    let owner = pattern!(r"\b(?P<name>[\p{L}][\p{L} ]*?)'s (?:transfer|payment|money|amount)\b");
    let payee = owner
        .captures(&clause.text[lead.find(&clause.text)?.end()..])
        .map(|captures| captures["name"].trim().to_owned())
        .or_else(|| clause.name_after(pattern!(r"\bfor (?:my )?")))?;
    let line = Line {
        payee: Some(payee),
        sum: clause.last_sum(),
    };
    Some(Ask::Pay(Pay {
        lines: vec![line],
        from: None,
        account_number: false,
    }))
}

/// "And last month?", "and on transport?" after a question about spending.
fn follow_up(text: &str, memory: &Memory, today: Date) -> Option<Ask> {
    let Some(Ask::Spending(before)) = &memory.question else {
        return None;
    };
    if !pattern!(r"^(?:and|what about|how about)\b").is_match(text) {
        return None;
    }
    let mut spending = before.clone();
    let month = month(text, today);
    let category = super::questions::category(text);
    if month.is_none() && category.is_none() {
        return None;
    }
    change(&mut spending.month, month);
    change(&mut spending.category, category);
    Some(Ask::Spending(spending))
}

/// "not Carol, Dave" and "not to Bob but to Alice".
fn swapped(clause: &Clause) -> Option<String> {
    let swap = pattern!(r"\bnot (?:to )?[^,]+?(?:,| but)(?: rather| to)* ");
    let found = swap.find(&clause.text)?;
    clause.name_at(found.end())
}

/// "20 to Bob", without a verb and out of nothing.
fn pair_alone(clause: &Clause, sum: Option<Sum>) -> Option<Ask> {
    let (sum, payee) = (sum?, payment::payee(clause)?);
    let short = clause.text.split_whitespace().count() <= 6;
    short.then(|| {
        let line = Line {
            payee: Some(payee),
            sum: Some(sum),
        };
        Ask::Pay(Pay {
            lines: vec![line],
            ..Pay::default()
        })
    })
}

/// "Maria Silva" or "the Silva one" as a whole message: a name, where one was asked for.
fn stands_alone(rest: &str) -> bool {
    let name = pattern!(
        r"^(?:the )?(?-i:\p{Lu})[\p{L}'.-]*(?: (?-i:\p{Lu})[\p{L}'.-]*)*(?: one| instead)?$"
    );
    name.is_match(rest)
}

/// The whole rest as a name, where a name is what is missing.
fn bare_name(clause: &Clause, rest: &str, expected: bool) -> Option<String> {
    if !expected || rest.is_empty() || !rest.chars().any(char::is_alphabetic) {
        return None;
    }
    let question = pattern!(
        r"\?|^(?:what|how|who|when|where|why|which|can|could|do|does|is|are|help|hi|hello|hey|thanks|thank|cheers|bye|good|great|nice|perfect|cool|lovely|super|wow|hm+|later|maybe|not yet|one moment|please wait)\b"
    );
    if question.is_match(rest) || question.is_match(&clause.text) {
        return None;
    }
    let start = clause.text.find(rest)?;
    let name = clause.name_at(start)?;
    let name = name.strip_suffix(" one").map_or(name.as_str(), |name| name);
    Some(name.to_owned())
}

fn four_digits(rest: &str) -> Option<String> {
    pattern!(r"^(?:the )?(?:one )?(?:ending )?(?:in )?\d{4}$")
        .is_match(rest)
        .then(|| rest[rest.len() - 4..].to_owned())
}

fn change<T>(old: &mut Option<T>, new: Option<T>) {
    if new.is_some() {
        *old = new;
    }
}

fn keep_currency(sum: Sum, before: Option<&Sum>) -> Sum {
    Sum {
        currency: sum.currency.or(before.and_then(|before| before.currency)),
        ..sum
    }
}
