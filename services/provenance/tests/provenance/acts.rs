//! Acts other than paying.

use crate::ilse::*;
use countersign_domain::*;
use countersign_provenance::*;

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
    // Said of one transaction, it asks to look into it; of none, it is only told.
    let unknown = one_act(&["I don't recognise the Nordwind payment"]);
    assert_eq!(unknown.act, Act::Dispute);
    no_acts(&["I don't recognise that payment"]);
    no_acts(&["Don't I recognise the Nordwind payment?"]);
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
