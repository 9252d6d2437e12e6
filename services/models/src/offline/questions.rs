//! Sentences that ask to see something, and small talk.

use time::Date;

use super::{
    amount::currency_of,
    ask::{Activity, Ask, Named, Spending},
    day::month,
    phrase::Clause,
    text::pattern,
    understand::Memory,
};

/// "Show me Kabir's balance": only the customer's own things can be seen.
pub(crate) fn about_others(clause: &Clause) -> Option<Ask> {
    let theirs = pattern!(
        r"\b(?P<who>[\p{L}]{2,})'s? (?:\w+ )?(?:balance|accounts?|transactions?|payments?|spending|cards?|limits?|money|statement|details|iban)\b|\b(?:balance|transactions|details|accounts?) of (?P<whom>another|other|some) (?:customer|person|user|client)s?\b|\b(?:another|other) (?:customer|client|user)'?s?'?\b|\ball customers\b"
    );
    let captures = theirs.captures(&clause.text)?;
    let ours = captures.name("who").is_some_and(|who| {
        pattern!(r"^(?:what|that|it|there|who|how|here|let|today|yesterday|month|week|year|bank|card|account|where|he|she)$").is_match(who.as_str())
    });
    (!ours).then_some(Ask::Others)
}

/// A question about the customer's own things.
pub(crate) fn read(clause: &Clause, memory: &Memory, today: Date) -> Option<Ask> {
    let text = clause.text.as_str();
    let is = |pattern: &regex::Regex| pattern.is_match(text);
    let asks = is(pattern!(
        r"\?|^(?:please |can you |could you |can i |i want to |i'd like to )*(?:what|what's|whats|how|who|which|when|where|show|list|tell|see|view|check|give me|get|display|do i|have i|did|has|is|are|any|my|look|find|search)\b"
    ));
    if is(pattern!(
        r"\b(?:did (?:it|that|the (?:payment|transfer|money))|has (?:it|that|the (?:payment|transfer|money)|my (?:payment|transfer)))(?: \w+)? (?:go|gone|been|arrive|work|happen|sent)|\bis (?:it|that) (?:done|sent|through)\b|\bwent through\b|\bis (?:the )?(?:request|payment|transfer)\b.*\b(?:done|sent|confirmed|through)\b|\bstatus\b"
    )) {
        return Some(Ask::Outcome);
    }
    if is(pattern!(
        r"\b(?:waiting|pending|outstanding|open requests?|to confirm|unconfirmed|on the panel)\b"
    )) && asks
    {
        return Some(Ask::Waiting);
    }
    if is(pattern!(
        r"\blimits?\b|\bhow much can i (?:send|pay|transfer|spend)\b|\bdaily (?:maximum|max)\b"
    )) {
        return Some(Ask::Limits);
    }
    if is(pattern!(r"\b(?:spend|spent|spending|expenses|outgoings)\b")) {
        return Some(Ask::Spending(Spending {
            month: month(text, today),
            category: category(text),
        }));
    }
    if clause.amounts.is_empty()
        && is(pattern!(
            r"\b(?:letters?|documents?|inbox|mail|post|bills?|invoices?)\b"
        ))
        && asks
    {
        return Some(Ask::Documents);
    }
    if is(pattern!(
        r"\b(?:payees?|beneficiar(?:y|ies)|recipients?|contacts?)\b|\bwho (?:can|do) i (?:pay|send)\b"
    )) {
        return Some(Ask::Payees);
    }
    if is(pattern!(r"\bstanding[ -]orders?\b")) {
        return Some(Ask::Orders);
    }
    if is(pattern!(
        r"\b(?:transactions?|activity|movements?|history|payments?|purchases?|statement)\b"
    )) && (asks || is(pattern!(r"^(?:last|latest|recent)\b")))
    {
        return Some(Ask::Activity(Activity {
            account: account(clause),
            with: with(clause),
            page: 0,
        }));
    }
    if asks
        && is(pattern!(
            r"\b(?:when|what|how much) (?:did|have) i (?:last )?(?:pay|paid|send|sent|get|got|receive|received)\b|\bwho (?:paid|sent) me\b|\bdid .+ (?:pay|send) me\b"
        ))
    {
        return Some(Ask::Activity(Activity {
            account: None,
            with: with(clause),
            page: 0,
        }));
    }
    if is(pattern!(
        r"\bbalances?\b|\bhow (?:much|many)\b.*\b(?:have|got|left|is in|there|in my|in the|on my)\b|\bmy (?:accounts?|money)\b|\bhow much money\b|\bam i (?:broke|rich)\b|\bwhat(?:'s| is) (?:in|on) my\b|\baccounts?\b"
    )) && (asks || text.split_whitespace().count() <= 3)
    {
        return Some(Ask::Balance(Named {
            name: account(clause),
            currency: currency(text),
        }));
    }
    if is(pattern!(r"\bcards?\b")) && asks {
        return Some(Ask::Cards);
    }
    // "and in yen?" after a balance.
    if let (Some(Ask::Balance(_)), Some(code)) = (&memory.question, currency(text))
        && is(pattern!(r"^(?:and|what about|how about)\b"))
    {
        return Some(Ask::Balance(Named {
            name: None,
            currency: Some(code),
        }));
    }
    None
}

/// Greetings, thanks, and questions about the assistant.
pub(crate) fn small_talk(clause: &Clause) -> Option<Ask> {
    let text = clause.text.trim_matches(|c: char| !c.is_alphanumeric());
    if pattern!(r"\b(?:who|what) are you\b|\bare you (?:a|an|the|real|human|ai|chatgpt|claude)\b|\bwhich model\b|\bsystem prompt\b|\byour (?:instructions|prompt|rules)\b|\bdo you use ai\b").is_match(text) {
        return Some(Ask::AboutYou);
    }
    if pattern!(r"^(?:help|help me|menu|options|commands|\?)$|\bwhat (?:can|do) you do\b|\bhow does this work\b|\bwhat can i (?:do|ask|say)\b").is_match(text) || clause.text.trim() == "?" {
        return Some(Ask::Help);
    }
    if pattern!(r"^(?:hi|hello|hey|hiya|good (?:morning|afternoon|evening|day)|yo|greetings)\b")
        .is_match(text)
    {
        return Some(Ask::Hello);
    }
    if pattern!(r"\b(?:thanks|thank you|thx|cheers|great|perfect|nice|lovely|cool|good|bye|goodbye|see you)\b").is_match(text) {
        return Some(Ask::Thanks);
    }
    None
}

/// The account a question names: "in my savings", "of my travel account".
fn account(clause: &Clause) -> Option<String> {
    if let Some(kind) =
        pattern!(r"\b(?:current|checking|savings?|travel|reserve)\b").find(&clause.text)
    {
        let kind = kind.as_str().to_lowercase();
        return Some(match kind.as_str() {
            "checking" => "current".to_owned(),
            "saving" => "savings".to_owned(),
            _ => kind,
        });
    }
    let named = pattern!(r"\bmy (?P<name>[\p{L}\p{N}]+(?: [\p{L}\p{N}]+)?) accounts?\b");
    named
        .captures(&clause.text)
        .map(|captures| captures["name"].to_owned())
        .filter(|name| !pattern!(r"^(?:bank|own|all|other|two|three)$").is_match(name))
}

fn currency(text: &str) -> Option<&'static str> {
    pattern!(r"[€£$¥]|\b(?:euros?|eur|pounds?|gbp|dollars?|usd|yen|jpy|francs?|chf|zlotys?|pln|dinars?|kwd)\b")
        .find(text)
        .and_then(|word| currency_of(word.as_str()))
}

/// Whose transactions: "at Nordwind", "to Bob", "from my employer".
fn with(clause: &Clause) -> Option<String> {
    let name = clause.name_after(pattern!(
        r"\b(?:at|to|from|with|by)(?: my| the)? |\bdid i (?:last )?pay(?: my| the)? |\bdid "
    ))?;
    let own = pattern!(
        r"\baccounts?\b|^(?:current|savings?|travel|reserve|last|this|i|january|february|march|april|may|june|july|august|september|october|november|december)\b"
    );
    (!own.is_match(&name)).then_some(name)
}

/// The category after "on": "on groceries".
pub(crate) fn category(text: &str) -> Option<String> {
    let on = pattern!(
        r"\b(?:on|for) (?:my |the )?(?P<category>[\p{L}][\p{L} &]*?)(?: (?:last|this|in|during|so|per|each|and|month|lately|recently|then|overall)\b|[?.!,]|$)"
    );
    on.captures(text)
        .map(|captures| captures["category"].trim().to_owned())
        .filter(|name| !pattern!(r"^(?:average|everything|it|that|me|january|february|march|april|may|june|july|august|september|october|november|december)$").is_match(name))
}
