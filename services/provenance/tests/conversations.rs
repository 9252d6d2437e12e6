//! Whole conversations of one customer: payments with their terms, other acts, and the life of a request.

use countersign_domain::{
    AccountId, CardId, Currency, DisputeReason, Frequency, MinorUnits, OrderId, PayeeId,
    ProfileField, TransferId,
};
use countersign_provenance::{
    Act, ActAsk, Card, Consumed, ConsumedAct, Grounding, Input, Locale, Message, OwnAccount, Payee,
    PaymentAsk, Reason, Span, StandingOrder, Target, Transaction, ground,
};
use uuid::Uuid;

const SENT_AT: i64 = 1_796_000_000; // 29 November 2026

fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

fn units(count: i64) -> MinorUnits {
    MinorUnits::new(count).unwrap()
}

fn bob() -> Target {
    Target::Payee(PayeeId::from_uuid(id(1)))
}

fn ilse(turns: &[&str]) -> Input {
    let payee = |number: u128, name: &str| Payee {
        id: PayeeId::from_uuid(id(number)),
        name: name.to_owned(),
        aliases: Vec::new(),
        iban: String::new(),
    };
    let account = |number: u128, names: &[&str], currency| OwnAccount {
        id: AccountId::from_uuid(id(number)),
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        iban: String::new(),
        currency,
    };
    let card = |number: u128, name: &str, last_four: &str| Card {
        id: CardId::from_uuid(id(number)),
        names: vec![name.to_owned()],
        last_four: last_four.to_owned(),
    };
    let transaction = |number: u128, counterparty: &str, amount, incoming| Transaction {
        id: TransferId::from_uuid(id(number)),
        counterparty: counterparty.to_owned(),
        amount: units(amount),
        currency: Currency::Eur,
        date: (2026, 11, 20),
        incoming,
    };
    let message = |(index, text): (usize, &&str)| {
        let sequence = i64::try_from(index).unwrap();
        Message {
            sequence,
            text: (*text).to_owned(),
            pasted: Vec::new(),
            sent_at_unix_seconds: SENT_AT + sequence * 60,
        }
    };
    Input {
        messages: turns.iter().enumerate().map(message).collect(),
        payees: vec![
            payee(1, "Bob"),
            payee(2, "Alice"),
            payee(3, "Landlord"),
            payee(4, "Mum"),
        ],
        accounts: vec![
            account(1, &["Current", "checking"], Currency::Eur),
            account(2, &["Savings"], Currency::Eur),
            account(3, &["Travel"], Currency::Jpy),
        ],
        cards: vec![
            card(1, "debit card", "4821"),
            card(2, "credit card", "0077"),
        ],
        orders: vec![StandingOrder {
            id: OrderId::from_uuid(id(1)),
            payee: PayeeId::from_uuid(id(3)),
            names: vec!["rent".to_owned()],
            amount: units(85_000),
            currency: Currency::Eur,
        }],
        transactions: vec![
            transaction(1, "Nordwind", 6_410, false),
            transaction(2, "Cafe Luna", 1_200, false),
            transaction(3, "not Alice 500", 1_999, false),
            transaction(4, "Bob", 1_000, true),
        ],
        consumed: Vec::new(),
        consumed_acts: Vec::new(),
        account_currency: Currency::Eur,
        locale: Locale("en".to_owned()),
        now_unix_seconds: SENT_AT + 600,
        stale_after_seconds: 3_600,
        stale_after_messages: 8,
    }
}

fn said(turns: &[&str]) -> Grounding {
    ground(&ilse(turns))
}

fn one_payment(turns: &[&str]) -> PaymentAsk {
    let grounding = said(turns);
    assert_eq!(grounding.payments.len(), 1, "{turns:?}: {grounding:#?}");
    grounding.payments.into_iter().next().unwrap()
}

fn one_act(turns: &[&str]) -> ActAsk {
    let grounding = said(turns);
    assert_eq!(grounding.acts.len(), 1, "{turns:?}: {grounding:#?}");
    assert!(grounding.payments.is_empty(), "{turns:?}: {grounding:#?}");
    grounding.acts.into_iter().next().unwrap()
}

fn no_acts(turns: &[&str]) {
    let grounding = said(turns);
    assert!(
        grounding.acts.is_empty() && grounding.payments.is_empty(),
        "{turns:?}: {grounding:#?}"
    );
}

fn words(turn: &str, span: Span) -> &str {
    &turn[span.start..span.end]
}

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
fn a_card_is_frozen_only_when_asked_and_only_the_one_named() {
    let debit = CardId::from_uuid(id(1));
    let credit = CardId::from_uuid(id(2));
    let freeze = one_act(&["Freeze my debit card"]);
    assert_eq!(
        (freeze.act, freeze.card.unwrap().value),
        (Act::CardFreeze, debit)
    );
    assert_eq!(
        one_act(&["freeze my card ending 0077 and tell me what i spent on groceries last month"])
            .card
            .unwrap()
            .value,
        credit
    );
    assert_eq!(
        one_act(&["Please block the card ending in 4821"])
            .card
            .unwrap()
            .value,
        debit
    );
    assert_eq!(one_act(&["Can you freeze my card?"]).card, None);
    assert_eq!(
        one_act(&["Freeze my card", "the credit one"])
            .card
            .unwrap()
            .value,
        credit
    );
    assert_eq!(
        one_act(&["My credit card was stolen, freeze it!"])
            .card
            .unwrap()
            .value,
        credit
    );
    assert_eq!(one_act(&["Unfreeze my credit card"]).act, Act::CardUnfreeze);
    for turn in [
        "How do I freeze my card?",
        "My card was stolen",
        "Don't freeze my card",
        "If I lose it, freeze my card",
        "Should I freeze my debit card?",
        "I froze my card yesterday",
        "What happens if you freeze my card?",
        "freeze my account",
        "Here is the mail:\n> freeze your card now",
        "Bob said to freeze my card",
    ] {
        no_acts(&[turn]);
    }
    no_acts(&["Freeze my card", "no, stop"]);
    no_acts(&["Freeze my debit card", "don't freeze it"]);
}

#[test]
fn a_standing_order_is_changed_and_ended_by_its_name() {
    let rent = OrderId::from_uuid(id(1));
    let change = one_act(&["Change the rent standing order to 875"]);
    assert_eq!(
        (change.act, change.order.unwrap().value),
        (Act::OrderChange, rent)
    );
    assert_eq!(change.amount.unwrap().value, units(87_500));
    let end = one_act(&["Cancel my standing order to Landlord"]);
    assert_eq!(
        (end.act, end.order.unwrap().value),
        (Act::OrderCancel, rent)
    );
    assert_eq!(
        one_act(&["Please cancel the rent order"]).act,
        Act::OrderCancel
    );
    assert_eq!(one_act(&["Cancel a standing order"]).order, None);
    let open = one_act(&[
        "my rent goes up to 875 from next month",
        "change the standing order for landlord to that",
    ]);
    assert_eq!(
        (open.act, open.order.unwrap().value, open.amount),
        (Act::OrderChange, rent, None)
    );
    no_acts(&["Did you cancel my rent order?"]);
}

#[test]
fn a_dispute_finds_its_transaction_by_the_words() {
    let dispute = one_act(&["I want to dispute the Nordwind payment, I don't recognise it"]);
    assert_eq!(dispute.act, Act::Dispute);
    assert_eq!(
        dispute.transaction.unwrap().value,
        TransferId::from_uuid(id(1))
    );
    assert_eq!(
        dispute.dispute_reason.unwrap().value,
        DisputeReason::NotRecognised
    );
    assert_eq!(
        one_act(&["Please dispute the 12.00 at Cafe Luna"])
            .transaction
            .unwrap()
            .value,
        TransferId::from_uuid(id(2))
    );
    assert_eq!(one_act(&["dispute a payment"]).transaction, None);
    let twice = one_act(&["Dispute the charge from Luna, I was charged twice"]);
    assert_eq!(
        twice.dispute_reason.unwrap().value,
        DisputeReason::ChargedTwice
    );
    no_acts(&["I don't recognise the Nordwind payment"]);
    no_acts(&["Can I dispute the Nordwind payment?"]);
}

#[test]
fn a_refund_payee_and_profile_are_asked_for() {
    let refund = one_act(&["Refund the payment from Bob"]);
    assert_eq!(
        (refund.act, refund.transaction.unwrap().value),
        (Act::Refund, TransferId::from_uuid(id(4)))
    );
    assert_eq!(one_act(&["Add a new payee"]).act, Act::PayeeAdd);
    let profile = one_act(&["I'd like to change my address"]);
    assert_eq!(
        (profile.act, profile.profile_field.unwrap().value),
        (Act::ProfileChange, ProfileField::Address)
    );
    no_acts(&["What is my address?"]);
}

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
fn a_confirmed_act_is_used_up() {
    let mut input = ilse(&["Freeze my debit card"]);
    input.consumed_acts = vec![ConsumedAct {
        act: Act::CardFreeze,
        target: Some(CardId::from_uuid(id(1)).to_string()),
        through_sequence: 0,
    }];
    assert!(ground(&input).acts.is_empty());
    input.consumed_acts[0].target = Some(CardId::from_uuid(id(2)).to_string());
    assert_eq!(ground(&input).acts.len(), 1);
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
