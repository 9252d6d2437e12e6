//! What must hold for every conversation: more doubt never grounds more.

use std::collections::BTreeSet;

use countersign_provenance::{Grounding, Input, Span, ground, score};
use proptest::prelude::*;

const HEADER: &str = "id\tturns\tgrounded_pairs\trefused_pairs\tkind\tsource\tlocale";

fn input(turns: &[String], locale: &str) -> Input {
    let turns = serde_json::to_string(turns).unwrap();
    let table = format!("{HEADER}\nx\t{turns}\t[]\t[]\t\t\t{locale}");
    score::input_of(&score::read_table(&table).unwrap().cases[0])
}

/// The live pairs with both parts, as texts.
fn pairs(grounding: &Grounding) -> BTreeSet<String> {
    grounding
        .payments
        .iter()
        .filter_map(|ask| {
            let to = match (&ask.payee, &ask.typed_iban) {
                (Some(payee), _) => payee.value.id_text(),
                (None, Some(iban)) => iban.value.clone(),
                (None, None) => return None,
            };
            Some(format!(
                "{} {} {to}",
                ask.amount?.value.count(),
                ask.currency
            ))
        })
        .collect()
}

fn payee() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "Bob", "Alice", "Carol", "Dave", "Mum", "Landlord", "Acme Ltd", "Maria", "Zoe", "savings",
    ])
}

fn amount() -> impl Strategy<Value = String> {
    prop_oneof![
        (1u32..5000).prop_map(|value| value.to_string()),
        (1u32..500, 0u32..100).prop_map(|(whole, cents)| format!("{whole}.{cents:02}")),
        prop::sample::select(vec![
            "twenty",
            "fifty-five",
            "a hundred",
            "2k",
            "1,200",
            "half of 80",
            "about 30",
            "1.234"
        ])
        .prop_map(str::to_owned),
    ]
}

fn request() -> impl Strategy<Value = String> {
    (
        prop::sample::select(vec![
            "Send",
            "Please pay",
            "Transfer",
            "Can you send",
            "I want to send",
        ]),
        amount(),
        payee(),
        any::<bool>(),
    )
        .prop_map(|(verb, amount, payee, payee_first)| {
            if payee_first {
                format!("{verb} {payee} {amount}")
            } else {
                format!("{verb} {amount} to {payee}")
            }
        })
}

fn turn() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => request(),
        1 => (request(), request()).prop_map(|(one, two)| format!("{one}. {two}")),
        1 => (amount(), payee()).prop_map(|(amount, payee)| format!("Actually, {amount} to {payee}")),
        1 => amount().prop_map(|amount| format!("make it {amount}")),
        1 => payee().prop_map(|payee| format!("to {payee}")),
        1 => prop::sample::select(vec!["yes", "thanks", "no", "wait", "what's my balance?", "what a day"]).prop_map(str::to_owned),
    ]
}

fn doubt() -> impl Strategy<Value = (&'static str, &'static str)> {
    prop::sample::select(vec![
        ("Don't ", ""),
        ("Never ", ""),
        ("Don't actually ", ""),
        ("I don't want to ", ""),
        ("Please do not just ", ""),
        ("You must never ", ""),
        ("Bob needs to ", ""),
        ("My sister wants to ", ""),
        ("Yesterday: ", ""),
        ("", " nicht"),
        ("If my salary arrives, ", ""),
        ("Unless Bob calls, ", ""),
        ("What if I ", "?"),
        ("Bob said: ", ""),
        ("My boss wrote \"", "\""),
        ("> ", ""),
        ("Translate: ", ""),
        ("", ", if I get paid"),
        ("", " once he has delivered"),
        ("Remind me to ", ""),
        ("", ". No, don't"),
        ("Suppose I ", ""),
        ("Did I ", "?"),
        ("", " - not!"),
        ("```\n", "\n```"),
        ("Customer: ", ""),
    ])
}

/// A thousand cases for each property, or more where `PROPTEST_CASES` says so.
fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig {
        cases: default.cases.max(1_000),
        failure_persistence: None,
        ..default
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_text_is_read_without_panic_and_spans_lie_inside(texts in prop::collection::vec(any::<String>(), 0..4), locale in "[a-z]{2}(-[A-Z]{2})?") {
        let input = input(&texts, &locale);
        check_spans(&input, &ground(&input))?;
    }

    #[test]
    fn text_of_the_grammar_s_own_words_is_read_without_panic(
        words in prop::collection::vec(prop::sample::select(vec![
            "send", "20", "to", "Bob", "not", "no", ",", ".", "-", "and", "each", "50", "%", "half", "\"", "'", "(", ")", "if",
            "1,2", "GB29", "12-34-56", "every", "month", "March", "Alice's", "\u{200b}", "e\u{301}", "k", "million", "twenty",
            "freeze", "card", "0077", "from", "savings", "\n", ">", ":", "it", "same", "one", "\u{ff15}", "#", "dispute", "\u{20ac}",
        ]), 0..24),
        pasted in any::<bool>(),
    ) {
        let text = words.join(" ");
        let mut input = input(&[text], "en");
        if pasted {
            let end = input.messages[0].text.char_indices().nth(7).map_or(0, |(at, _)| at);
            input.messages[0].pasted = vec![Span { start: 0, end }];
        }
        check_spans(&input, &ground(&input))?;
    }

    #[test]
    fn doubt_about_a_request_never_grounds_it(request in request(), (before, after) in doubt()) {
        let plain = pairs(&ground(&input(std::slice::from_ref(&request), "en")));
        let doubted = format!("{before}{request}{after}");
        let live = pairs(&ground(&input(std::slice::from_ref(&doubted), "en")));
        prop_assert!(live.is_empty(), "{doubted:?} grounds {live:?}, plain {plain:?}");
    }

    #[test]
    fn doubt_in_one_message_adds_no_pair_to_a_conversation(turns in prop::collection::vec(turn(), 1..5), at in any::<prop::sample::Index>(), (before, after) in doubt()) {
        let at = at.index(turns.len());
        // Of two requests in one message the doubt may be about one.
        let mut turns = turns;
        if turns[at].contains(". ") {
            turns[at] = "Send 7 to Dave".to_owned();
        }
        let plain = pairs(&ground(&input(&turns, "en")));
        let mut doubted = turns.clone();
        doubted[at] = format!("{before}{}{after}", turns[at]);
        let live = pairs(&ground(&input(&doubted, "en")));
        // A message that asked for something else no longer takes the place of an earlier one; so the pairs
        // of the conversation without that message may come back, and no others.
        let mut without = turns.clone();
        without[at] = "thanks".to_owned();
        let spared = pairs(&ground(&input(&without, "en")));
        let allowed: BTreeSet<String> = plain.union(&spared).cloned().collect();
        prop_assert!(live.is_subset(&allowed), "{doubted:?} grounds {live:?}, allowed {allowed:?}");
    }

    #[test]
    fn a_last_no_leaves_nothing_live(turns in prop::collection::vec(turn(), 1..5), no in prop::sample::select(vec!["no", "stop", "wait", "No!", "cancel that", "never mind"])) {
        let mut turns = turns;
        turns.push(no.to_owned());
        prop_assert!(pairs(&ground(&input(&turns, "en"))).is_empty());
    }

    #[test]
    fn a_paste_only_removes(turns in prop::collection::vec(turn(), 1..4), at in any::<prop::sample::Index>(), from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>()) {
        let plain = input(&turns, "en");
        let mut marked = plain.clone();
        let message = &mut marked.messages[at.index(turns.len())];
        let (one, two) = (from.index(message.text.len()), to.index(message.text.len()));
        message.pasted = vec![Span { start: one.min(two), end: one.max(two) + 1 }];
        let last_only = at.index(turns.len()) + 1 == turns.len() && turns.len() == 1;
        let live = pairs(&ground(&marked));
        if last_only {
            prop_assert!(live.is_subset(&pairs(&ground(&plain))), "{turns:?} {:?}", marked.messages);
        }
    }

    #[test]
    fn small_talk_between_messages_changes_nothing(turns in prop::collection::vec(turn(), 1..4), at in any::<prop::sample::Index>(), talk in prop::sample::select(vec!["what a day", "how are you?", "thanks", "ok"])) {
        let plain = pairs(&ground(&input(&turns, "en")));
        let mut longer = turns.clone();
        longer.insert(at.index(turns.len() + 1), talk.to_owned());
        prop_assert_eq!(plain, pairs(&ground(&input(&longer, "en"))));
    }
}

/// The same in every language, over generated chats. The long run is `cargo xtask nightly provenance`.
#[test]
fn in_every_language_more_doubt_never_grounds_more() {
    let report = countersign_provenance::chats::check(20_000, 20_261_130, |_| {});
    assert_eq!(report.chats, 20_000);
    assert!(report.violations.is_empty(), "{:#?}", report.violations);
}

fn check_spans(input: &Input, grounding: &Grounding) -> Result<(), TestCaseError> {
    let spans = grounding
        .payments
        .iter()
        .flat_map(|ask| {
            [
                Some(ask.clause),
                ask.amount.map(|amount| amount.at),
                ask.payee.map(|payee| payee.at),
            ]
        })
        .flatten()
        .chain(grounding.refusals.iter().map(|refusal| refusal.at))
        .chain(grounding.acts.iter().map(|act| act.clause));
    for at in spans {
        let message = input
            .messages
            .iter()
            .find(|message| message.sequence == at.sequence);
        prop_assert!(
            message.is_some_and(|message| message.text.get(at.span.start..at.span.end).is_some()),
            "{at:?}"
        );
    }
    Ok(())
}
