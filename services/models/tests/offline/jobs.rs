//! The main jobs: every request tool, from ordinary English to the right arguments.

use serde_json::{Value, json};

use crate::bank::{Chat, id, refused};

/// The one request of a conversation's last turn, with its arguments.
fn request(turns: &[&str]) -> (String, Value, String) {
    let mut chat = Chat::new();
    let (last, before) = turns.split_last().unwrap();
    for turn in before {
        chat.says(turn);
    }
    let played = chat.says(last);
    let [tool] = played.requests()[..] else {
        panic!("{turns:?}: {:?} {}", played.requests(), played.reply)
    };
    let tool = tool.to_owned();
    let arguments = played.arguments(&tool).remove(0);
    (tool, arguments, played.reply)
}

fn transfer(turns: &[&str]) -> Value {
    let (tool, arguments, _) = request(turns);
    assert_eq!(tool, "request_transfer", "{turns:?}");
    arguments
}

fn pays(payee: u32, amount: &str) -> Value {
    json!({"payments": [{"payee": id("pye", payee), "amount": amount}]})
}

#[test]
fn a_payment_is_prepared_with_the_id_of_the_payee() {
    for (text, payee, amount) in [
        ("Send 20 to Bob", 2, "20"),
        ("please send twenty to bob", 2, "20"),
        ("Pay Alice 1,050", 1, "1050"),
        ("transfer 64.10 to maria silva", 5, "64.10"),
        ("can you pay jose 5?", 7, "5"),
        ("Do not send 50 to Alice; send 20 to Bob", 2, "20"),
        ("I'd like to send my mum 50 please", 4, "50"),
    ] {
        assert_eq!(transfer(&[text]), pays(payee, amount), "{text}");
    }
}

#[test]
fn a_correction_prepares_the_corrected_payment() {
    assert_eq!(transfer(&["Send 20 to Bob", "actually 30"]), pays(2, "30"));
    assert_eq!(
        transfer(&["Send 20 to Bob", "actually 30", "no, to Alice"]),
        pays(1, "30")
    );
    assert_eq!(transfer(&["Pay Bob", "500"]), pays(2, "500"));
    assert_eq!(
        transfer(&["Send 20 to Bob", "how much do I have?", "make it 25"]),
        pays(2, "25")
    );
}

#[test]
fn a_currency_is_passed_only_where_it_was_named() {
    let mut with_currency = pays(2, "20");
    with_currency["currency"] = json!("EUR");
    assert_eq!(transfer(&["Send 20 euros to Bob"]), with_currency);
    let mut yen = pays(9, "3000");
    yen["currency"] = json!("JPY");
    assert_eq!(
        transfer(&["how many yen do i have", "send 3000 of them to Noor"]),
        yen
    );
}

#[test]
fn the_account_is_passed_only_where_it_was_named() {
    let mut from_savings = pays(2, "20");
    from_savings["from_account"] = json!(id("acc", 2));
    assert_eq!(transfer(&["send 20 to Bob from my savings"]), from_savings);
    assert_eq!(
        transfer(&["move 100 from savings to current"]),
        json!({"payments": [{"payee": id("acc", 1), "amount": "100"}], "from_account": id("acc", 2)})
    );
}

#[test]
fn what_is_unclear_is_left_open() {
    assert_eq!(
        transfer(&["Pay Bob"]),
        json!({"payments": [{"payee": id("pye", 2)}]})
    );
    assert_eq!(
        transfer(&["I need to make a transfer"]),
        json!({"payments": [{}]})
    );
    assert_eq!(
        transfer(&["send 1.234 to Bob"]),
        json!({"payments": [{"payee": id("pye", 2)}]})
    );
    assert_eq!(
        transfer(&["send at most 100 to Bob"]),
        json!({"payments": [{"payee": id("pye", 2)}]})
    );
    let (_, arguments, reply) = request(&["send 20 to Maria"]);
    assert_eq!(arguments, json!({"payments": [{"amount": "20"}]}));
    assert!(reply.contains("Maria Silva and Maria Lopez"), "{reply}");
}

#[test]
fn an_unknown_payee_is_not_guessed() {
    let mut chat = Chat::new();
    let played = chat.says("send 20 to Kabir");
    assert_eq!(played.requests(), Vec::<&str>::new());
    assert!(played.reply.contains("“Kabir”"), "{}", played.reply);
    let played = chat.says("send 20 to Alcie");
    assert!(
        played.reply.contains("Did you mean Alice?"),
        "{}",
        played.reply
    );
}

#[test]
fn all_payments_of_a_message_are_one_request() {
    let two = json!({"payments": [
        {"payee": id("pye", 1), "amount": "30"}, {"payee": id("pye", 3), "amount": "45"},
    ]});
    for message in ["Pay Alice 30 and Carol 45", "Pay Alice 30. Pay Carol 45."] {
        assert_eq!(transfer(&[message]), two, "{message}");
    }
    // What the bank does not find in the words is not made to fit: no pair is left out without the customer.
    let mut chat = Chat::with(|call| {
        (call.tool == "request_transfer").then(|| refused("not_grounded", Some("amount")))
    });
    let played = chat.says("Pay Alice 30 and Carol 45");
    assert_eq!(played.arguments("request_transfer"), [two]);
    assert!(
        played.reply.contains("Nothing was prepared"),
        "{}",
        played.reply
    );
}

#[test]
fn more_payments_than_a_card_holds_are_said() {
    let many = (1..=11).map(|amount| format!("{amount} to Alice"));
    let message = format!("Send {}", many.collect::<Vec<_>>().join(", "));
    let (_, arguments, reply) = request(&[&message]);
    assert_eq!(arguments["payments"].as_array().map(Vec::len), Some(10));
    assert!(reply.contains("10 payments at a time"), "{reply}");
}

#[test]
fn cards_are_frozen_by_the_name_the_customer_gave() {
    let card = |number: u32| json!({ "card": id("crd", number) });
    for (turns, tool, arguments) in [
        (
            &["freeze my debit card"][..],
            "request_card_freeze",
            card(1),
        ),
        (
            &["freeze my debit card", "unfreeze it"],
            "request_card_unfreeze",
            card(1),
        ),
        (
            &["block the card ending in 0077"],
            "request_card_freeze",
            card(2),
        ),
        (&["please freeze my card"], "request_card_freeze", json!({})),
        (
            &["freeze my card", "the credit one"],
            "request_card_freeze",
            card(2),
        ),
        (
            &["unblock my credit card"],
            "request_card_unfreeze",
            card(2),
        ),
    ] {
        let (used, passed, _) = request(turns);
        assert_eq!((used.as_str(), passed), (tool, arguments), "{turns:?}");
    }
}

#[test]
fn a_dispute_names_the_transaction_and_the_reason() {
    for (text, arguments) in [
        (
            "dispute the 64.10 at Nordwind, I don't recognise it",
            json!({"transaction": id("trf", 2), "reason": "not_recognised"}),
        ),
        (
            "I want to dispute the Bottega Verdi payment, it never arrived",
            json!({"transaction": id("trf", 40), "reason": "not_received"}),
        ),
        (
            "I don't recognise the 64.10 charge",
            json!({"transaction": id("trf", 2), "reason": "not_recognised"}),
        ),
        (
            "dispute 19.99 at Blue Kiosk, charged twice",
            json!({"reason": "charged_twice"}),
        ),
        ("I want to dispute a payment", json!({})),
    ] {
        let (tool, passed, _) = request(&[text]);
        assert_eq!(
            (tool.as_str(), passed),
            ("request_dispute", arguments),
            "{text}"
        );
    }
}

#[test]
fn an_incoming_payment_is_sent_back() {
    for text in [
        "send back the 10 from Bob",
        "refund the 10 from Bob",
        "give Bob's 10 back",
        "return the payment from Bob Smith",
    ] {
        let (tool, arguments, _) = request(&[text]);
        assert_eq!(
            (tool.as_str(), arguments),
            ("request_refund", json!({"transaction": id("trf", 3)})),
            "{text}"
        );
    }
    let played = Chat::new().says("send back the 99 from Bob");
    assert_eq!(played.requests(), Vec::<&str>::new());
}

#[test]
fn a_standing_order_is_set_up_changed_and_ended() {
    for (text, arguments) in [
        (
            "set up a monthly standing order of 50 to Mum from 1 December",
            json!({"operation": "create", "payee": id("pye", 4), "amount": "50", "frequency": "monthly", "start_date": "2026-12-01"}),
        ),
        (
            "pay Mum 25 every week from my savings",
            json!({"operation": "create", "payee": id("pye", 4), "amount": "25", "frequency": "weekly", "from_account": id("acc", 2)}),
        ),
        ("create a standing order", json!({"operation": "create"})),
        (
            "cancel the rent standing order",
            json!({"operation": "cancel", "order": id("ord", 1)}),
        ),
        (
            "stop my standing order to Mum",
            json!({"operation": "cancel", "order": id("ord", 2)}),
        ),
        (
            "cancel my rent",
            json!({"operation": "cancel", "order": id("ord", 1)}),
        ),
        (
            "change the rent standing order to 900",
            json!({"operation": "change", "order": id("ord", 1), "amount": "900"}),
        ),
        (
            "change the standing order for landlord to that",
            json!({"operation": "change", "order": id("ord", 1)}),
        ),
    ] {
        let (tool, passed, _) = request(&[text]);
        assert_eq!(
            (tool.as_str(), passed),
            ("request_standing_order", arguments),
            "{text}"
        );
    }
}

#[test]
fn new_details_are_typed_by_the_customer_alone() {
    for (text, tool, arguments) in [
        ("add a new payee", "request_payee", json!({})),
        (
            "add Kabir as a payee, IBAN DE89 3704 0044 0532 0130 00",
            "request_payee",
            json!({}),
        ),
        (
            "change my address",
            "request_profile_change",
            json!({"field": "address"}),
        ),
        (
            "I moved house",
            "request_profile_change",
            json!({"field": "address"}),
        ),
        (
            "update my phone number to 555 1234",
            "request_profile_change",
            json!({"field": "phone"}),
        ),
        (
            "I have a new email",
            "request_profile_change",
            json!({"field": "email"}),
        ),
    ] {
        let (used, passed, _) = request(&[text]);
        assert_eq!((used.as_str(), passed), (tool, arguments), "{text}");
    }
}

#[test]
fn two_wishes_of_one_message_are_both_served() {
    let played = Chat::new()
        .says("freeze my card ending 0077 and tell me what i spent on groceries last month");
    assert_eq!(
        played.arguments("request_card_freeze"),
        [json!({"card": id("crd", 2)})]
    );
    assert!(played.reply.contains("412.30 EUR"), "{}", played.reply);
}
