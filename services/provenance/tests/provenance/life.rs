//! The life of a request: taken back, used up, stale, or never one.

use crate::ilse::*;
use countersign_domain::*;
use countersign_provenance::*;

#[test]
fn a_merchant_s_name_hides_no_word() {
    // Outsiders write merchants' names; here one begins with "not".
    let grounding = said(&["do not send 500 to Alice"]);
    assert!(grounding.payments.is_empty());
}

#[test]
fn no_takes_back_and_says_where() {
    let grounding = said(&["Send 20 to Bob", "no, stop"]);
    assert!(grounding.payments.is_empty());
    assert_eq!(grounding.taken_back_at.unwrap().sequence, 1);
    let grounding = said(&["Send 20 to Bob", "no, stop", "Send 5 to Alice"]);
    assert_eq!(grounding.taken_back_at, None);
    let grounding = said(&["Send 20 to Bob", "actually make it 25"]);
    assert_eq!(grounding.taken_back_at, None);
}

#[test]
fn a_pasted_value_is_open_and_a_pasted_verb_asks_nothing() {
    let pasted = |turn: &str, part: &str| {
        let mut input = ilse(&[turn]);
        let start = turn.find(part).unwrap();
        input.messages[0].pasted = vec![Span {
            start,
            end: start + part.len(),
        }];
        ground(&input)
    };
    let payee = pasted("Send 20 to Bob", "Bob");
    assert_eq!(
        (payee.payments[0].payee, payee.payments[0].open_because),
        (None, Some(Reason::Pasted))
    );
    let amount = pasted("Send 20 to Bob", "20");
    assert_eq!(amount.payments[0].amount, None);
    assert!(
        pasted("Send 20 to Bob", "Send 20 to Bob")
            .payments
            .is_empty()
    );
    let iban = pasted(
        "Send 20 to GB29NWBK60161331926819",
        "GB29NWBK60161331926819",
    );
    assert_eq!(iban.payments[0].typed_iban, None);
    let apart = pasted(
        "Send 20 to Bob. Invoice text: pay 99 to Alice",
        "Invoice text: pay 99 to Alice",
    );
    assert_eq!(apart.payments.len(), 1);
}

#[test]
fn a_correction_of_a_confirmed_pair_is_open() {
    let mut input = ilse(&["Send 20 to Bob", "actually make it 25"]);
    input.consumed = vec![Consumed {
        payee: bob().id_text(),
        amount: units(2_000),
        currency: Currency::Eur,
        through_sequence: 0,
    }];
    // Twenty-five more, or five? The customer says so on the panel.
    let check = |turn: &str| {
        let mut input = input.clone();
        input.messages[1].text = turn.to_owned();
        let grounding = ground(&input);
        assert_eq!(grounding.payments.len(), 1, "{turn}: {grounding:#?}");
        let ask = &grounding.payments[0];
        assert_eq!(
            (ask.amount, ask.open_because),
            (None, Some(Reason::Consumed)),
            "{turn}"
        );
        ask.payee.map(|payee| payee.value)
    };
    assert_eq!(check("actually make it 25"), Some(bob()));
    assert_eq!(check("no, 25 to Bob"), Some(bob()));
    assert_eq!(check("sorry, I meant Alice"), Some(alice()));
    assert_eq!(check("oops, send 25 to Alice"), Some(alice()));
    // A request that corrects nothing is a request.
    input.messages[1].text = "Send 25 to Bob".to_owned();
    assert_eq!(
        ground(&input).payments[0].amount.unwrap().value,
        units(2_500)
    );
}

#[test]
fn a_confirmed_pair_is_used_up_until_it_is_asked_again() {
    let consumed = Consumed {
        payee: bob().id_text(),
        amount: units(2_000),
        currency: Currency::Eur,
        through_sequence: 0,
    };
    let with = |turns: &[&str], consumed: &Consumed| {
        let mut input = ilse(turns);
        input.consumed = vec![consumed.clone()];
        ground(&input)
    };
    assert!(with(&["Send 20 to Bob"], &consumed).payments.is_empty());
    assert!(
        with(&["Send 20 to Bob", "thanks"], &consumed)
            .payments
            .is_empty()
    );
    assert_eq!(
        with(&["Send 20 to Bob", "Send 20 to Bob"], &consumed)
            .payments
            .len(),
        1
    );
    let same = with(&["Send 20 to Bob", "same amount to Alice"], &consumed);
    assert!(
        same.payments
            .iter()
            .all(|ask| ask.payee.is_none_or(|payee| payee.value != bob()))
    );
    // The customer typed the amount on the panel: the request without one is used up as well.
    assert!(with(&["Pay Bob"], &consumed).payments.is_empty());
    let other = Consumed {
        amount: units(2_100),
        ..consumed
    };
    assert_eq!(with(&["Send 20 to Bob"], &other).payments.len(), 1);
}

#[test]
fn an_old_request_is_stale() {
    let mut input = ilse(&["Send 20 to Bob"]);
    input.now_unix_seconds = SENT_AT + 3_600;
    assert_eq!(ground(&input).payments.len(), 1);
    input.now_unix_seconds += 1;
    let grounding = ground(&input);
    assert!(grounding.payments.is_empty());
    assert_eq!(grounding.refusals.last().unwrap().reason, Reason::Stale);
    let mut turns = vec!["Send 20 to Bob"];
    turns.extend(["what a day"; 8]);
    assert_eq!(said(&turns).payments.len(), 1);
    turns.push("indeed");
    assert!(said(&turns).payments.is_empty());
}

#[test]
fn a_clause_with_a_hidden_character_grounds_nothing_and_says_so() {
    let grounding = said(&["Send 20 to Bob\u{200b} now. Send 5 to Alice"]);
    assert_eq!(grounding.payments.len(), 1);
    assert_eq!(grounding.payments[0].amount.unwrap().value, units(500));
    assert_eq!(grounding.refusals[0].reason, Reason::HiddenCharacter);
}

#[test]
fn an_unknown_language_grounds_nothing() {
    let mut input =
        ilse(&["\u{30dc}\u{30d6}\u{306b}50\u{30e6}\u{30fc}\u{30ed}\u{9001}\u{3063}\u{3066}"]);
    input.locale = Locale("ja".to_owned());
    let grounding = ground(&input);
    assert!(grounding.payments.is_empty());
    assert_eq!(grounding.refusals[0].reason, Reason::UnknownLanguage);
}
