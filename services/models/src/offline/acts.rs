//! Sentences that ask for something to be done.

use time::Date;

use super::{
    ask::{Ask, Card, Dispute, Line, Movement, Order, Pay},
    day::frequency,
    payment,
    phrase::Clause,
    text::pattern,
    understand::Memory,
};

/// "Do not send 50 to Alice": nothing to be done.
pub(crate) fn refrain(clause: &Clause) -> Option<Ask> {
    let negated = pattern!(
        r"\b(?:don't|dont|do not|never|shouldn't|should not|mustn't|won't|not to|no need to|rather you didn't|didn't want (?:you )?to|no way i'm|neither)(?: want(?: you)? to| you| even)? ?(?:\w+ ){0,2}?(?:send|pay|paying|transfer|wire|move|give|freeze|block|cancel|refund)\b|\b(?:send|pay) neither\b"
    );
    let positive = pattern!(r"\b(?:don't|dont|do not|never) forget to\b|\bwhy (?:don't|not)\b");
    let text = &clause.text;
    // "Pay Do Not Disturb Ltd 15": a verb before the words makes them a name.
    let found = negated.find(text).filter(|_| !positive.is_match(text))?;
    let verb_before = pattern!(r"^(?:please )?(?:send|pay|transfer|give) \S").is_match(text)
        && !text[found.start()..].contains("neither")
        && !found.as_str().to_lowercase().contains("neither");
    (!verb_before || found.start() == 0).then_some(Ask::Refrain)
}

/// Under a condition, for later, or as a question: nothing to be done now.
pub(crate) fn not_now(clause: &Clause) -> Option<Ask> {
    let text = clause
        .text
        .trim_start_matches(|c: char| !c.is_alphanumeric());
    let verb = pattern!(&format!(
        r"\b(?:{}|freeze|block|cancel|refund|dispute)\b",
        payment::VERBS
    ));
    let condition = pattern!(
        r"^(?:if|when|once|unless|in case|as soon as|after|remind me|what (?:happens |would happen )?if|what would|should i|shall i|would it|do you think|how (?:do|can|would) i|can i|could i|is it (?:ok|okay|possible|safe)|why|translate|summari[sz]e|explain|imagine|suppose|pretend|let's say)\b|\b(?:if|unless|once|as soon as) (?:i|my|he|she|they|it|the)\b"
    );
    (verb.is_match(text) && condition.is_match(text)).then_some(Ask::NotNow)
}

/// Everything to be done but paying, which shares its verbs with questions.
pub(crate) fn read(clause: &Clause, memory: &Memory, sentence: &str) -> Option<Ask> {
    profile(clause)
        .or_else(|| new_payee(clause))
        .or_else(|| order(clause))
        .or_else(|| card(clause, memory))
        .or_else(|| dispute(clause))
        .or_else(|| refund(clause))
        .or_else(|| read_document(sentence))
}

/// A payment.
pub(crate) fn pay(clause: &Clause, memory: &Memory, today: Date) -> Option<Ask> {
    // "… - no, 40 to Carol": a whole pair after a repair stands for all before it.
    let repair =
        pattern!(r"(?:^|[-,;.] ?)(?:no|sorry|actually|i mean(?:t)?|rather|scratch that)\b,? ");
    if let Some(tail) = repair.find_iter(&clause.text).last() {
        let tail = Clause::read(&clause.text[tail.end()..], today);
        let payee = payment::payee(&tail);
        if payee.is_some() && !tail.amounts.is_empty() {
            let line = Line {
                payee,
                sum: tail.last_sum(),
            };
            return Some(Ask::Pay(Pay {
                lines: vec![line],
                from: tail.paying_account(),
                account_number: tail.account_number,
            }));
        }
    }
    if payment::is_unclear(clause) {
        return Some(Ask::Unclear);
    }
    let mut pay = payment::read(clause)?;
    carry_over(&mut pay, clause, memory);
    Some(Ask::Pay(pay))
}

/// "Send 3000 of them to Noor" after a question about yen; "send the same to Carol".
fn carry_over(pay: &mut Pay, clause: &Clause, memory: &Memory) {
    let line = pay.first();
    if let (Some(sum), Some(Ask::Balance(asked))) = (&mut line.sum, &memory.question)
        && pattern!(r"\bof (?:them|those|it|that)\b").is_match(&clause.text)
    {
        sum.currency = sum.currency.or(asked.currency);
    }
    if let (None, Some(Ask::Pay(before))) = (&line.payee, &memory.act)
        && pattern!(r"\b(?:him|her|them)\b").is_match(&clause.text)
    {
        line.payee = before.lines.first().and_then(|line| line.payee.clone());
    }
    if let (None, Some(Ask::Pay(before))) = (&line.sum, &memory.act)
        && pattern!(r"\bthe same\b|\bsame amount\b").is_match(&clause.text)
    {
        line.sum = before.lines.first().and_then(|line| line.sum.clone());
    }
}

fn profile(clause: &Clause) -> Option<Ask> {
    let text = &clause.text;
    let change =
        pattern!(r"\b(?:change|update|edit|correct|new|moved|moving|wrong)\b").is_match(text);
    let field = if pattern!(r"\be-?mail\b").is_match(text) {
        "email"
    } else if pattern!(r"\b(?:phone|mobile|telephone|cell|phone number)\b").is_match(text) {
        "phone"
    } else if pattern!(r"\baddress\b|\bmoved (?:house|home|flat)\b|\bi(?:'ve| have)? moved\b")
        .is_match(text)
    {
        "address"
    } else {
        return None;
    };
    change.then_some(Ask::Profile(field))
}

fn new_payee(clause: &Clause) -> Option<Ask> {
    pattern!(r"\b(?:add|create|save|new|set up|register|store)\b.*\b(?:payee|beneficiary|recipient|contact)\b|\badd .+ (?:to|as) (?:my )?payees?\b|\b(?:add|save) (?:someone|somebody) new\b")
        .is_match(&clause.text)
        .then_some(Ask::NewPayee)
}

fn order(clause: &Clause) -> Option<Ask> {
    let text = &clause.text;
    let named = pattern!(r"\b(?:standing[ -]orders?|(?:recurring|regular|repeating|weekly|monthly|quarterly|yearly|annual) (?:payments?|transfers?))\b")
        .is_match(text);
    let rhythm = frequency(text);
    let pays = payment::read(clause).is_some();
    let rent = pattern!(r"\b(?:stop|cancel|end) (?:my |the )?(?:monthly |weekly |regular )?(?:rent|payment of rent)\b").is_match(text);
    if !(named || rent || (pays && rhythm.is_some())) {
        return None;
    }
    let asks = pattern!(r"^(?:what|which|show|list|see|do i|have i|how many|tell me|any|are there|my standing orders)\b").is_match(text);
    let operation = if pattern!(r"\b(?:cancel|stop|end|delete|remove|terminate)\b").is_match(text) {
        "cancel"
    } else if pattern!(r"\b(?:change|increase|raise|lower|reduce|decrease|update|amend|edit|adjust|make (?:my|the))\b").is_match(text) {
        "change"
    } else if asks {
        return Some(Ask::Orders);
    } else if pattern!(r"\b(?:set up|create|start|new|make|add|open|schedule|want|need|like)\b").is_match(text) || pays {
        "create"
    } else {
        return Some(Ask::Orders);
    };
    let name = if operation == "create" {
        payment::payee(clause)
            .or_else(|| clause.name_after(pattern!(r"\bfor ")))
            .or_else(|| payment::read(clause).and_then(|pay| pay.lines.first()?.payee.clone()))
            .filter(|name| !pattern!(r"standing|order|recurring|payment").is_match(name))
    } else {
        order_name(clause)
    };
    let start = clause
        .days
        .iter()
        .find_map(|day| day.date)
        .map(|date| date.to_string());
    Some(Ask::Order(Order {
        operation,
        name,
        sum: clause.last_sum(),
        frequency: rhythm,
        start,
        from: clause.paying_account(),
    }))
}

/// "the rent standing order", "standing order for rent", "my standing order to Landlord".
fn order_name(clause: &Clause) -> Option<String> {
    let before = pattern!(
        r"\b(?:cancel|stop|end|delete|remove|terminate|change|increase|raise|lower|reduce|decrease|update|amend|edit|adjust) (?:my |the |our )?(?P<name>[\p{L}\p{N}][\p{L}\p{N}' ]*?) ?(?:standing[ -]orders?|recurring|regular|payment|order\b|$|[.!?])"
    );
    if let Some(name) = before
        .captures(&clause.text)
        .and_then(|captures| captures.name("name"))
    {
        let plain = pattern!(
            r"^(?:monthly|weekly|quarterly|yearly|standing|standing[ -]orders?|recurring|regular|my|the)$"
        );
        if !plain.is_match(name.as_str()) {
            return Some(name.as_str().to_owned());
        }
    }
    clause.name_after(pattern!(
        r"\b(?:order|orders|payment|payments) (?:for|to|with)(?: my| the)? "
    ))
}

fn card(clause: &Clause, memory: &Memory) -> Option<Ask> {
    let text = &clause.text;
    let thaw = pattern!(r"\b(?:unfreeze|un-freeze|unblock|unlock|thaw|reactivate|defrost)\b")
        .is_match(text);
    let freeze = pattern!(r"\b(?:freeze|block|lock|suspend|deactivate|disable)\b").is_match(text);
    let card_word = pattern!(r"\bcards?\b").is_match(text);
    let about_card = card_word
        || clause.card_digits.is_some()
        || pattern!(r"\b(?:debit|credit)\b").is_match(text)
        || (matches!(memory.act, Some(Ask::Card(_)))
            && pattern!(r"\b(?:it|that|again)\b").is_match(text));
    if !(thaw || (freeze && about_card)) {
        let lost = card_word
            && pattern!(r"\b(?:lost|stolen|stole|missing|can't find|cannot find)\b").is_match(text);
        return lost.then_some(Ask::Lost);
    }
    let which = card_name(clause).or_else(|| match &memory.act {
        // "unfreeze it" means the card of before.
        Some(Ask::Card(before)) if !card_word => before.which.clone(),
        _ => None,
    });
    Some(Ask::Card(Card {
        freeze: !thaw,
        which,
    }))
}

/// Four digits, or what stands before "card".
pub(crate) fn card_name(clause: &Clause) -> Option<String> {
    if let Some(digits) = &clause.card_digits {
        return Some(digits.clone());
    }
    if let Some(kind) = pattern!(r"\b(?:debit|credit)\b").find(&clause.text) {
        return Some(kind.as_str().to_lowercase());
    }
    let label = pattern!(
        r"\b(?:freeze|unfreeze|block|unblock|lock|unlock|suspend|thaw|reactivate|disable|deactivate) (?:my |the )?(?P<label>[\p{L}\p{N}][\p{L}\p{N} ]*?) cards?\b"
    );
    label
        .captures(&clause.text)
        .map(|captures| captures["label"].to_owned())
        .filter(|label| !pattern!(r"^(?:my|the|a|bank|payment|other|all)$").is_match(label))
}

fn dispute(clause: &Clause) -> Option<Ask> {
    let text = &clause.text;
    let asked =
        pattern!(r"\b(?:dispute|disputing|contest|challenge|charge ?back|report)\b").is_match(text);
    let reason = reason(text);
    let denies = pattern!(
        r"\b(?:don't|do not|dont|didn't|did not) (?:recogni[sz]e|know|make|authori[sz]e)\b"
    )
    .is_match(text)
        && (!clause.amounts.is_empty()
            || pattern!(r"\b(?:payment|charge|transaction|debit)\b").is_match(text));
    if !(asked || denies)
        || pattern!(
            r"\bdisputes?\b.*\b(?:answer|status|reply|going)\b|^(?:what|how|which|show|list)\b"
        )
        .is_match(text)
    {
        return None;
    }
    Some(Ask::Dispute(Dispute {
        movement: movement(clause),
        reason,
    }))
}

/// Why a transaction is disputed, if the customer says so.
pub(crate) fn reason(text: &str) -> Option<&'static str> {
    [
        (pattern!(r"\b(?:don't|do not|dont|didn't|did not) (?:recogni[sz]e|know|make|authori[sz]e)\b|\bwasn't me\b|\bnot me\b|\bnever (?:bought|ordered|made)\b|\bnot mine\b|\bunknown\b|\bfraud"), "not_recognised"),
        (pattern!(r"\b(?:twice|double|two times|duplicate)\b"), "charged_twice"),
        (pattern!(r"\bwrong amount\b|\btoo much\b|\bovercharged\b|\bshould (?:have been|be) (?:only )?\d|\bincorrect amount\b"), "wrong_amount"),
        (pattern!(r"\bnever (?:came|arrived|got|received|delivered)\b|\b(?:didn't|did not|hasn't|has not) (?:come|arrive|arrived|get|receive|received)\b|\bnot (?:received|delivered)\b"), "not_received"),
        (pattern!(r"\b(?:cancelled|canceled) (?:\w+ ){0,3}(?:subscription|membership|it|before)\b|\bsubscription\b"), "cancelled_subscription"),
    ]
    .into_iter()
    .find(|(pattern, _)| pattern.is_match(text))
    .map(|(_, reason)| reason)
}

fn refund(clause: &Clause) -> Option<Ask> {
    let back = pattern!(
        r"\b(?:send|give|pay|transfer|wire)\b.*\bback\b|\brefund\b|\breturn\b.*\b(?:payment|money|transfer|\d)"
    );
    if !back.is_match(&clause.text)
        || pattern!(r"^(?:what|how|when|where|did|has|have|is|show|list)\b").is_match(&clause.text)
    {
        return None;
    }
    Some(Ask::Refund(movement(clause)))
}

/// The movement a clause speaks of: its amount, and the name after "from", "at", "to" or "by".
fn movement(clause: &Clause) -> Movement {
    let name = clause
        .name_after(pattern!(r"\b(?:from|at|by|with)(?: my| the)? "))
        .or_else(|| payment::payee(clause))
        .or_else(|| {
            clause.name_after(pattern!(
                r"\b(?:dispute|contest|challenge|report|refund|return)(?: my| the| that| this| a)? "
            ))
        });
    let name = name
        .map(|name| name.trim_end_matches("'s").to_owned())
        .map(|name| {
            pattern!(r"\b(?:payments?|charges?|transactions?|transfers?|debits?|purchases?)\b")
                .replace_all(&name, "")
                .trim()
                .to_owned()
        })
        .filter(|name| !name.is_empty());
    Movement {
        sum: clause.amounts.first().map(super::phrase::sum),
        name,
    }
}

fn read_document(sentence: &str) -> Option<Ask> {
    let read = pattern!(
        r"\b(?:read|open|show(?: me)?|what (?:does|is in|did)|summari[sz]e)(?: me)?\b.*\b(?P<what>letter|document|bill|invoice|statement|notice|message|mail)\b(?P<rest>.*)$"
    );
    let captures = read.captures(sentence)?;
    let rest = captures["rest"].trim_matches(|c: char| !c.is_alphanumeric());
    let name = pattern!(r"^(?:from|about|by|of|on|called|titled)(?: the| my)? ").replace(rest, "");
    let name = pattern!(r"\b(?:say|says|about|please|for me|to me)$")
        .replace(&name, "")
        .trim()
        .to_owned();
    if !name.is_empty() {
        return Some(Ask::Read(name));
    }
    // "read the electricity bill": the name stands before.
    let before = pattern!(
        r"\b(?:read|open|show(?: me)?|in|does|summari[sz]e)(?: me)? (?:my |the |that )?(?P<name>[\p{L}\p{N}][\p{L}\p{N} ]*? )?(?P<kind>letter|document|bill|invoice|statement|notice|message|mail)\b"
    );
    let captures = before.captures(sentence)?;
    let name = captures
        .name("name")
        .map_or("", |name| name.as_str().trim());
    let newest = pattern!(r"^(?:last|latest|newest|new|first|my|the)?$").is_match(name);
    Some(Ask::Read(if newest {
        String::new()
    } else {
        name.to_owned()
    }))
}
