//! Questions about the customer's own money.

use serde_json::json;

use crate::bank::{Chat, id};

fn reply(turns: &[&str]) -> String {
    let mut chat = Chat::new();
    let mut last = String::new();
    for turn in turns {
        let played = chat.says(turn);
        assert_eq!(played.requests(), Vec::<&str>::new(), "{turn}");
        last = played.reply;
    }
    last
}

#[test]
fn questions_are_answered_from_the_lists() {
    for (text, expected) in [
        ("how much do I have?", "Current: 1,240.50 EUR"),
        ("what's my balance", "Savings: 3,000.00 EUR"),
        ("how many yen do i have", "Travel: 48,000 JPY"),
        (
            "how much is in my savings account?",
            "Savings: 3,000.00 EUR",
        ),
        (
            "what did I spend on groceries last month",
            "412.30 EUR on groceries in 2026-10",
        ),
        (
            "how much did I spend on eating out this month?",
            "88.00 EUR on eating_out in 2026-11",
        ),
        ("what did i spend last month?", "eating_out: 88.00 EUR"),
        ("who are my payees", "• Carol ·· 6819"),
        ("what are my limits", "1,480.00 EUR left today"),
        ("how much can I send?", "1,500.00 EUR for one transfer"),
        ("what is waiting", "Nothing is waiting for you."),
        ("show my cards", "Credit card ·· 0077"),
        (
            "what standing orders do I have?",
            "Rent: 850.00 EUR to Landlord, monthly",
        ),
        (
            "what letters do I have?",
            "Your assessment, from Tax office",
        ),
        ("read the letter from the tax office", "Dear customer."),
        ("show my last transactions", "64.10 EUR · Nordwind"),
        ("what did I pay at Nordwind?", "64.10 EUR · Nordwind"),
    ] {
        let reply = reply(&[text]);
        assert!(reply.contains(expected), "{text}: {reply}");
    }
}

#[test]
fn a_balance_of_one_account_shows_no_other() {
    let reply = reply(&["how much is in my savings account?"]);
    assert!(!reply.contains("1,240.50"), "{reply}");
}

#[test]
fn more_goes_back_page_by_page() {
    let mut chat = Chat::new();
    let played = chat.says("show my last transactions");
    assert_eq!(played.reply.matches("• ").count(), 10);
    assert!(played.reply.contains("more"));
    let played = chat.says("more");
    assert_eq!(played.arguments("list_transactions"), [json!({})]);
    assert_eq!(played.reply.matches("• ").count(), 10);
    chat.says("more");
    let played = chat.says("more please");
    assert_eq!(
        played.arguments("list_transactions"),
        [json!({}), json!({"cursor": "25"})]
    );
    assert_eq!(played.reply.matches("• ").count(), 10);
    chat.says("more");
    let played = chat.says("more");
    assert_eq!(played.reply.matches("• ").count(), 3, "{}", played.reply);
    assert!(!played.reply.contains("Type “more”"));
    assert!(chat.says("more").reply.contains("no older ones"));
}

#[test]
fn the_document_that_is_read_is_the_one_that_was_named() {
    let played = Chat::new().says("read the electricity bill");
    assert_eq!(
        played.arguments("read_document"),
        [json!({"document": id("doc", 2)})]
    );
    let played = Chat::new().says("read the letter from the tax office");
    assert_eq!(
        played.arguments("read_document"),
        [json!({"document": id("doc", 1)})]
    );
    let played = Chat::new().says("read the letter from Mars");
    assert_eq!(
        played.arguments("read_document"),
        Vec::<serde_json::Value>::new()
    );
}
