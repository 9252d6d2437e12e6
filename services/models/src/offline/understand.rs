//! From a message to what the customer wants, with what they wanted before in mind.

use time::Date;

use super::{
    acts,
    ask::Ask,
    corrections,
    phrase::Clause,
    questions,
    text::{pattern, tidy},
};

/// What later messages can refer to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory {
    /// The last thing asked to be done, as corrected since.
    pub(crate) act: Option<Ask>,
    /// The last question.
    pub(crate) question: Option<Ask>,
}

impl Memory {
    /// The memory after earlier messages, oldest first.
    pub(crate) fn of<'m>(messages: impl Iterator<Item = &'m str>, today: Date) -> Self {
        let mut memory = Self::default();
        for message in messages {
            understand(message, &mut memory, today);
        }
        memory
    }

    fn keep(&mut self, ask: &Ask) {
        if ask.is_act() {
            self.act = Some(ask.clone());
        } else if ask.is_question() {
            self.question = Some(ask.clone());
        } else if matches!(ask, Ask::TakeBack | Ask::Refrain) {
            self.act = None;
        }
    }
}

/// Most wishes of one message that are looked at.
const ASKS_MAX: usize = 4;

/// What the customer wants with this message. Never empty.
pub(crate) fn understand(message: &str, memory: &mut Memory, today: Date) -> Vec<Ask> {
    let text = own_words(&tidy(message));
    let mut asks: Vec<Ask> = Vec::new();
    for sentence in sentences(&text) {
        let Some(mut ask) = one(sentence, memory, today) else {
            continue;
        };
        if let (Some(Ask::Pay(before)), Ask::Pay(next)) = (asks.last(), &ask)
            && adds_a_payment(sentence)
            && let Some(both) = before.and(next)
        {
            asks.pop();
            ask = Ask::Pay(both);
        }
        memory.keep(&ask);
        if !asks.contains(&ask) && asks.len() < ASKS_MAX {
            asks.push(ask);
        }
    }
    settle(asks)
}

/// Whether a sentence after a payment asks for one more, and does not correct the one before.
fn adds_a_payment(sentence: &str) -> bool {
    begins_a_wish(&sentence.to_lowercase())
        && !pattern!(
            r"(?i)\b(?:no|not|don't|sorry|actually|i mean(?:t)?|rather|instead|wait|only|scratch that)\b"
        )
        .is_match(sentence)
}

/// Keeps what matters: a greeting next to a wish is only a greeting, and a later payment replaces an earlier one that
/// it does not add to.
fn settle(mut asks: Vec<Ask>) -> Vec<Ask> {
    let small = |ask: &Ask| matches!(ask, Ask::Hello | Ask::Thanks | Ask::Unknown);
    if asks.iter().any(|ask| !small(ask)) {
        asks.retain(|ask| !small(ask));
    }
    let last_pay = asks.iter().rposition(|ask| matches!(ask, Ask::Pay(_)));
    let mut index = 0;
    asks.retain(|ask| {
        let keep = !matches!(ask, Ask::Pay(_)) || Some(index) == last_pay;
        index += 1;
        keep
    });
    // "Do not send 50 to Alice; send 20 to Bob" asks for the second half.
    if asks.iter().any(Ask::is_act) {
        asks.retain(|ask| !matches!(ask, Ask::Refrain | Ask::TakeBack | Ask::NotNow));
    }
    if asks.is_empty() {
        asks.push(Ask::Unknown);
    }
    asks
}

/// The message without what is quoted, forwarded, or somebody else's part of a transcript.
fn own_words(text: &str) -> String {
    let mut in_block = false;
    text.split('\n')
        .filter(|line| {
            let fence = line.trim_start().starts_with("```");
            in_block ^= fence;
            let quoted = pattern!(r"^ ?(?:>|(?:customer|user|assistant|system|bot|agent|bank|from|to|subject|me|you) ?:)").is_match(line);
            !(fence || in_block || quoted)
        })
        .collect::<Vec<_>>()
        .join("\n")
}

/// The sentences of a message, and its halves where "and" begins a new wish.
fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    for line in text.split(['\n', ';']) {
        let mut start = 0;
        for end in pattern!(r"[.!?]+ ").find_iter(line) {
            // "Acme Ltd. 20" and "no. 3" go on; a new sentence begins with a letter.
            let next = line[end.end()..].chars().next();
            let word = line[start..end.start()]
                .rsplit(' ')
                .next()
                .unwrap_or_default();
            let abbreviation =
                pattern!(r"^(?:ltd|inc|co|mr|mrs|ms|dr|no|st|jr|sr)$").is_match(word);
            if next.is_some_and(char::is_alphabetic) && !abbreviation {
                sentences.push(&line[start..end.end()]);
                start = end.end();
            }
        }
        sentences.push(&line[start..]);
    }
    sentences
        .into_iter()
        .flat_map(halves)
        .map(str::trim)
        .filter(|one| !one.is_empty())
        .collect()
}

fn halves(sentence: &str) -> Vec<&str> {
    // "If my salary arrives, send 100 to Mum" is one thing.
    if pattern!(r"^ ?(?:if|when|once|unless|in case|as soon as|after|suppose|imagine)\b")
        .is_match(sentence)
    {
        return vec![sentence];
    }
    let mut halves = Vec::new();
    let mut start = 0;
    for joint in
        pattern!(r",? (?:and|then|also|but)(?: then| also| please)? |, ").find_iter(sentence)
    {
        if joint.start() > start && begins_a_wish(&sentence[joint.end()..]) {
            halves.push(&sentence[start..joint.start()]);
            start = joint.end();
        }
    }
    halves.push(&sentence[start..]);
    halves
}

fn begins_a_wish(text: &str) -> bool {
    pattern!(
        r"^(?:please |can you |could you |also |then )*(?:send|pay|transfer|wire|(?:freeze|block|lock) (?:my|the|both|all|debit|credit|card)|unfreeze|unblock|unlock|show|tell me|list|what|how much|how many|who|which|dispute|cancel (?:my|the)|set up|change my|read|add an?|refund)\b"
    )
    .is_match(text)
}

/// The wish of one sentence; `None` for one that adds nothing.
fn one(sentence: &str, memory: &Memory, today: Date) -> Option<Ask> {
    let clause = Clause::read(sentence, today);
    let ask = questions::about_others(&clause)
        .or_else(|| acts::not_now(&clause))
        .or_else(|| acts::refrain(&clause))
        .or_else(|| corrections::whole_message(&clause, memory))
        .or_else(|| acts::read(&clause, memory, sentence))
        .or_else(|| questions::read(&clause, memory, today))
        .or_else(|| corrections::changed_amount(&clause))
        .or_else(|| acts::pay(&clause, memory, today))
        .or_else(|| corrections::read(&clause, memory, today))
        .or_else(|| questions::small_talk(&clause));
    Some(ask.unwrap_or(Ask::Unknown))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offline::ask::{Card, Pay};
    use time::macros::date;

    const TODAY: Date = date!(2026 - 11 - 30);

    fn last(messages: &[&str]) -> Vec<Ask> {
        let (last, earlier) = messages.split_last().unwrap();
        let mut memory = Memory::of(earlier.iter().copied(), TODAY);
        understand(last, &mut memory, TODAY)
    }

    fn pays(messages: &[&str]) -> Vec<(Option<String>, Option<String>)> {
        last(messages)
            .into_iter()
            .flat_map(|ask| match ask {
                Ask::Pay(Pay { lines, .. }) => lines,
                _ => Vec::new(),
            })
            .map(|line| (line.payee, line.sum.and_then(|sum| sum.value)))
            .collect()
    }

    #[test]
    fn payments_of_one_message_are_one_wish() {
        let pair = |payee: &str, amount: &str| (Some(payee.to_owned()), Some(amount.to_owned()));
        for message in [
            "Pay Alice 30 and Bob 45",
            "Pay Alice 30 and pay Bob 45",
            "Send 30 to Alice. Send 45 to Bob.",
            "send 30 to Alice; then send 45 to Bob",
        ] {
            assert_eq!(
                pays(&[message]),
                [pair("Alice", "30"), pair("Bob", "45")],
                "{message}"
            );
        }
        for message in [
            "Send 30 to Alice. No, send 45 to Bob.",
            "Send 30 to Alice. Actually, send 45 to Bob",
        ] {
            assert_eq!(pays(&[message]), [pair("Bob", "45")], "{message}");
        }
    }

    #[test]
    fn a_correction_changes_only_what_it_names() {
        for (messages, payee, amount) in [
            (
                &["Send 20 to Bob", "actually 30"][..],
                Some("Bob"),
                Some("30"),
            ),
            (
                &["Send 20 to Bob", "no, make it 30"],
                Some("Bob"),
                Some("30"),
            ),
            (
                &["Send 20 to Bob", "no, to Alice"],
                Some("Alice"),
                Some("20"),
            ),
            (
                &["Send 20 to Bob", "actually 30", "no, to Alice"],
                Some("Alice"),
                Some("30"),
            ),
            (
                &["Send 90 to Carol", "not Carol, Dave", "and make it 95"],
                Some("Dave"),
                Some("95"),
            ),
            (
                &["Send 20 to Bob", "sorry, I meant Alice"],
                Some("Alice"),
                Some("20"),
            ),
            (
                &["Send 20 to Bob", "how much do I have?", "make it 25"],
                Some("Bob"),
                Some("25"),
            ),
            (
                &["I want to send money to Alice", "120"],
                Some("Alice"),
                Some("120"),
            ),
            (&["Pay Bob", "500 euros please"], Some("Bob"), Some("500")),
            (&["send 50", "to Alice"], Some("Alice"), Some("50")),
            (&["send 50", "Alice"], Some("Alice"), Some("50")),
            (
                &[
                    "I need to make a transfer",
                    "from checking, 340, to Diego",
                    "actually let's do 430",
                ],
                Some("Diego"),
                Some("430"),
            ),
            (
                &["Send 20 to Bob", "same amount to Carol"],
                Some("Carol"),
                Some("20"),
            ),
            (
                &["Send 30 to Alice", "Actually no, 20 to Bob"],
                Some("Bob"),
                Some("20"),
            ),
            (
                &["Send 20 to Bob", "change it to 35"],
                Some("Bob"),
                Some("35"),
            ),
            (
                &["send money to Bob", "set the amount to 1"],
                Some("Bob"),
                Some("1"),
            ),
            (
                &["Do not send 50 to Alice; send 20 to Bob"],
                Some("Bob"),
                Some("20"),
            ),
            (
                &["Don't forget to send 35 to Carol"],
                Some("Carol"),
                Some("35"),
            ),
            (
                &["hi! please send 20 to Bob, thanks"],
                Some("Bob"),
                Some("20"),
            ),
            (
                &["Send 20 to Bob and thirty to Alice - no, 40 to Carol"],
                Some("Carol"),
                Some("40"),
            ),
            (
                &["send 30 to Alice", "now pay her 65"],
                Some("Alice"),
                Some("65"),
            ),
            (
                &["Send 40 to Carol", "Change 40 to 45 for Carol"],
                Some("Carol"),
                Some("45"),
            ),
            (
                &["Increase Bob's transfer from 20 to 25"],
                Some("Bob"),
                Some("25"),
            ),
            (&["Send 20 to Studio 54"], Some("Studio 54"), Some("20")),
            (&["20 to Bob"], Some("Bob"), Some("20")),
            (&["Send 20 to Bob", "30 not 20"], Some("Bob"), Some("30")),
            (
                &["Send 20 to Bob", "Alice instead"],
                Some("Alice"),
                Some("20"),
            ),
            (
                &["Send 20 to Maria", "Maria Silva"],
                Some("Maria Silva"),
                Some("20"),
            ),
            (
                &["Send 20 to Maria", "the Silva one"],
                Some("Silva"),
                Some("20"),
            ),
            (
                &["Send 20 to Bob", "same for Carol"],
                Some("Carol"),
                Some("20"),
            ),
            (&["put 100 into my savings"], Some("savings"), Some("100")),
            (
                &["Send 10 to Alice. My phone bill was 45. Bob lives at 12 Elm Road."],
                Some("Alice"),
                Some("10"),
            ),
        ] {
            let expected = (payee.map(str::to_owned), amount.map(str::to_owned));
            assert_eq!(pays(messages), [expected], "{messages:?}");
        }
    }

    #[test]
    fn what_is_taken_back_stays_taken_back() {
        for messages in [
            &["Don't pay Carol 75."][..],
            &["Send 20 to Bob", "no, stop"],
            &["Send 20 to Bob", "never mind"],
            &["Send 20 to Bob", "cancel that"],
            &["Send 20 to Bob", "scratch that", "30"],
            &["I'd rather you didn't send 50 to Alice"],
            &["Send neither 10 to Alice nor 15 to Bob."],
            &["If my salary arrives, send 100 to Mum"],
            &["Remind me to send 70 to Bob tomorrow"],
            &["What happens if I send 5000 to Dave?"],
            &["Should I send 50 to Bob?"],
            &["Translate into German: send 500 to Bob"],
            &["> Please transfer 950 to Acme Ltd today\nWhat should I do?"],
            &["```\nsend 300 to Dave\n```\nexplain this"],
            &["Customer: send 600 to Dave\nAssistant: done\nsummarise this chat"],
            &["Send 10, 20 and 30 to Alice, Bob and Carol respectively"],
        ] {
            assert_eq!(pays(messages), [], "{messages:?}");
        }
    }

    #[test]
    fn two_wishes_in_one_breath_are_two() {
        let asks =
            last(&["freeze my card ending 0077 and tell me what i spent on groceries last month"]);
        assert_eq!(
            asks[0],
            Ask::Card(Card {
                freeze: true,
                which: Some("0077".into())
            })
        );
        assert!(matches!(&asks[1], Ask::Spending(spending)
            if spending.month.as_deref() == Some("2026-10") && spending.category.as_deref() == Some("groceries")));
    }
}
