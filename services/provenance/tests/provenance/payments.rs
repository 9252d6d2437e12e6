//! Payments with their terms.

use crate::ilse::*;
use countersign_domain::*;
use countersign_provenance::*;

#[test]
fn a_payment_points_at_the_words_that_ground_it() {
    let turn = "Hello! Please send 20 euros to Bob for lunch.";
    let ask = one_payment(&[turn]);
    assert_eq!(words(turn, ask.amount.unwrap().at.span), "20 euros");
    assert_eq!(words(turn, ask.payee.unwrap().at.span), "Bob");
    assert_eq!(
        words(turn, ask.clause.span),
        "Please send 20 euros to Bob for lunch"
    );
    assert_eq!(
        (ask.payee.unwrap().value, ask.amount.unwrap().value),
        (bob(), units(2_000))
    );
    assert_eq!(ask.open_because, None);
}

#[test]
fn an_open_slot_says_what_is_missing() {
    assert_eq!(
        one_payment(&["Pay Bob"]).open_because,
        Some(Reason::NoAmount)
    );
    assert_eq!(
        one_payment(&["Send 20"]).open_because,
        Some(Reason::NoPayee)
    );
    assert_eq!(
        one_payment(&["Send 20 to Zoe"]).open_because,
        Some(Reason::UnknownPayee)
    );
    assert_eq!(
        one_payment(&["Send 20 to B\u{1d0f}b"]).open_because,
        Some(Reason::LookAlike)
    );
    assert_eq!(
        one_payment(&["Send 20 to \u{410}lice"]).open_because,
        Some(Reason::LookAlike)
    );
    assert_eq!(
        one_payment(&["Send half of 20 to Bob"]).open_because,
        Some(Reason::Computed)
    );
    assert_eq!(
        one_payment(&["Send 1.234 to Bob"]).open_because,
        Some(Reason::AmbiguousAmount)
    );
    assert_eq!(
        one_payment(&["Send 20 to GB29 NWBK 6016 1331 9268 18"]).open_because,
        Some(Reason::BadIban)
    );
}

#[test]
fn a_typed_iban_is_grounded_as_typed() {
    let ask = one_payment(&["Send 20 to GB29 NWBK 6016 1331 9268 19"]);
    assert_eq!(
        ask.typed_iban.map(|iban| iban.value).as_deref(),
        Some("GB29NWBK60161331926819")
    );
    assert_eq!(ask.payee, None);
    assert_eq!(ask.open_because, None);
}

#[test]
fn an_account_is_taken_only_where_it_was_named() {
    let savings = AccountId::from_uuid(id(2));
    assert_eq!(one_payment(&["Send 20 to Bob"]).from, None);
    assert_eq!(
        one_payment(&["Send 20 from savings to Bob"])
            .from
            .unwrap()
            .value,
        savings
    );
    assert_eq!(
        one_payment(&["Send 20 to Bob from my savings account"])
            .from
            .unwrap()
            .value,
        savings
    );
    assert_eq!(
        one_payment(&["Pay Bob 20 out of savings"])
            .from
            .unwrap()
            .value,
        savings
    );
    assert_eq!(
        one_payment(&["Send 20 to Bob", "from savings please"])
            .from
            .unwrap()
            .value,
        savings
    );
    let moved = one_payment(&["Move 50 from savings to current"]);
    assert_eq!(
        moved.payee.unwrap().value,
        Target::Own(AccountId::from_uuid(id(1)))
    );
    assert_eq!(moved.from.unwrap().value, savings);
    // The account keeps yen: which currency the bare number is in is not said.
    assert_eq!(one_payment(&["Send 20 to Bob from travel"]).amount, None);
}

#[test]
fn a_standing_order_has_a_rhythm_only_where_it_was_asked() {
    let once = one_payment(&["Send 25 to Mum"]);
    assert!(!once.recurring && once.frequency.is_none());
    let monthly = one_payment(&["Send 25 to Mum every month starting 1 March 2027"]);
    assert!(monthly.recurring);
    assert_eq!(monthly.frequency.unwrap().value, Frequency::Monthly);
    assert_eq!(monthly.start.unwrap().value, (2027, 3, 1));
    assert_eq!(
        one_payment(&["Pay Mum 25 weekly"]).frequency.unwrap().value,
        Frequency::Weekly
    );
    assert_eq!(
        one_payment(&["Pay Mum 25 every 3 months"])
            .frequency
            .unwrap()
            .value,
        Frequency::Quarterly
    );
    let open = one_payment(&["Set up a standing order of 25 to Mum"]);
    assert!(open.recurring && open.frequency.is_none());
    assert_eq!(open.amount.unwrap().value, units(2_500));
    let odd = one_payment(&["Pay Mum 25 every two weeks"]);
    assert!(odd.recurring && odd.frequency.is_none(), "{odd:?}");
    let later = one_payment(&["Set up a standing order of 25 to Mum", "monthly"]);
    assert_eq!(later.frequency.unwrap().value, Frequency::Monthly);
}

#[test]
fn an_explanation_says_what_each_clause_does_and_where() {
    let input = ilse(&[
        "Send 20 to Bob for lunch",
        "let me sleep on it",
        "Pay 5 to Zoe",
    ]);
    let explanation = explain(&input);
    let does: Vec<&str> = explanation
        .messages
        .iter()
        .flat_map(|message| message.clauses.iter().map(|clause| clause.does.as_str()))
        .collect();
    assert_eq!(
        does,
        [
            "asks for a payment",
            "speaks against the request before",
            "asks for a payment"
        ]
    );
    assert_eq!(explanation.refusals.last().unwrap().reason, "taken_back");
    let open = &explanation.payments[0];
    assert_eq!(
        (
            open.payee.as_deref(),
            open.amount.as_deref(),
            open.open_because.as_deref()
        ),
        (None, Some("5.00 EUR"), Some("unknown_payee"))
    );
    assert_eq!(open.asked.words, "Pay 5 to Zoe");
    let json = serde_json::to_value(&explanation).unwrap();
    assert_eq!(json["messages"][0]["clauses"][0]["end"], 24);
}

#[test]
fn small_talk_leaves_a_request_and_what_speaks_against_it_ends_it() {
    let asked = "Send 20 to Bob";
    for talk in [
        "the cat just knocked my tea over",
        "what a week, I'm shattered",
        "we won 3-1 on Sunday",
        "he asked me twice already",
        "I'm not quite awake yet",
    ] {
        let live = ground(&ilse(&[asked, talk])).payments;
        assert_eq!(live.len(), 1, "{talk:?} took it back");
        assert_eq!(
            live[0].amount.map(|amount| amount.value),
            Some(units(2_000))
        );
    }
    for against in [
        "he did that already",
        "my wife sorted that this morning",
        "we've fallen out",
        "I need that money for the car",
        "I don't trust him",
    ] {
        let grounding = ground(&ilse(&[asked, against]));
        let whole = |ask: &PaymentAsk| ask.amount.is_some() && ask.payee.is_some();
        assert!(
            !grounding.payments.iter().any(whole),
            "{against:?} left it live"
        );
    }
}

#[test]
fn how_old_somebody_is_corrects_no_amount() {
    let ask = one_payment(&["Send 20 to Bob", "he turns 30"]);
    assert_eq!(ask.amount.unwrap().value, units(2_000));
}
