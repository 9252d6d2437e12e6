//! Arguments that are refused before a rule or a statement sees them.

use serde_json::{Value, json};

use crate::bank::Bank;

const MONEY: &str =
    "SELECT coalesce(sum(balance_minor_units), 0)::bigint FROM bank.account_balance";
const ACTIONS: &str = "SELECT count(*) FROM bank.pending_action";

fn transfer(payment: Value) -> Value {
    json!({"payments": [payment]})
}

fn rows() -> Vec<(&'static str, &'static str, Value)> {
    let payee = format!("pye_{}", "0".repeat(32));
    let amount = |text: &str| transfer(json!({"payee": payee, "amount": text}));
    let mut rows = vec![
        (
            "a number",
            "request_transfer",
            transfer(json!({"amount": 50})),
        ),
        (
            "a fraction",
            "request_transfer",
            transfer(json!({"amount": 100.0})),
        ),
        (
            "a negative number",
            "request_transfer",
            transfer(json!({"amount": -5})),
        ),
        (
            "beyond exact numbers",
            "request_transfer",
            transfer(json!({"amount": 9_007_199_254_740_993_i64})),
        ),
        (
            "yen with decimals",
            "request_transfer",
            json!({"payments": [{"amount": "10.50"}], "currency": "JPY"}),
        ),
        (
            "dinar with four",
            "request_transfer",
            json!({"payments": [{"amount": "1.2345"}], "currency": "KWD"}),
        ),
        (
            "euro with three",
            "request_transfer",
            json!({"payments": [{"amount": "1.234"}], "currency": "EUR"}),
        ),
        (
            "nothing",
            "request_transfer",
            json!({"payments": [{"amount": "0.00"}], "currency": "EUR"}),
        ),
        (
            "an unknown currency",
            "request_transfer",
            json!({"payments": [{}], "currency": "BTC"}),
        ),
        (
            "a customer",
            "request_transfer",
            json!({"payments": [{}], "customer_id": "c2"}),
        ),
        (
            "a customer in a line",
            "request_transfer",
            transfer(json!({"customer_id": "c2"})),
        ),
        (
            "approval",
            "request_transfer",
            json!({"payments": [{}], "approved": true}),
        ),
        (
            "no confirmation",
            "request_transfer",
            json!({"payments": [{}], "skip_confirm": 1}),
        ),
        (
            "a note",
            "request_transfer",
            transfer(json!({"note": "rent"})),
        ),
        (
            "a note beside",
            "request_transfer",
            json!({"payments": [{}], "note": "rent"}),
        ),
        (
            "a prototype",
            "request_transfer",
            transfer(json!({"__proto__": {"amount": "5.00"}})),
        ),
        (
            "a payee's name",
            "request_transfer",
            transfer(json!({"payee": "Bob"})),
        ),
        (
            "a payee's account number",
            "request_transfer",
            transfer(json!({"payee": "DE63888888000000006819"})),
        ),
        (
            "another kind of id",
            "request_transfer",
            transfer(json!({"payee": format!("crd_{}", "0".repeat(32))})),
        ),
        (
            "a carriage return",
            "request_transfer",
            transfer(json!({"payee": "A\rl"})),
        ),
        (
            "turned writing",
            "request_transfer",
            transfer(json!({"payee": "ecilA\u{202e}"})),
        ),
        (
            "an id with a tail",
            "request_transfer",
            transfer(json!({"payee": format!("{payee}\u{200b}")})),
        ),
        (
            "an id in capitals",
            "request_transfer",
            transfer(json!({"payee": payee.to_uppercase()})),
        ),
        (
            "ten thousand letters",
            "request_transfer",
            transfer(json!({"payee": "x".repeat(10_000)})),
        ),
        ("null", "request_transfer", transfer(json!({"payee": null}))),
        (
            "a line as an array",
            "request_transfer",
            transfer(json!([payee, "20.00"])),
        ),
        ("no lines", "request_transfer", json!({"payments": []})),
        (
            "eleven lines",
            "request_transfer",
            json!({"payments": vec![json!({}); 11]}),
        ),
        ("lines missing", "request_transfer", json!({})),
        (
            "a customer when reading",
            "list_accounts",
            json!({"customer": "cus_1"}),
        ),
        (
            "an account for all",
            "list_accounts",
            json!({"account": "*"}),
        ),
        ("a page number", "list_transactions", json!({"page": 2})),
        (
            "a forged cursor",
            "list_transactions",
            json!({"cursor": "' OR 1=1 --"}),
        ),
        (
            "a month of prose",
            "get_spending_by_category",
            json!({"month": "last month"}),
        ),
        (
            "a month too many",
            "get_spending_by_category",
            json!({"month": "2026-13"}),
        ),
        (
            "a path",
            "read_document",
            json!({"document": "../../etc/passwd"}),
        ),
        (
            "an address",
            "read_document",
            json!({"document": "http://127.0.0.1:8480/"}),
        ),
        (
            "payee details",
            "request_payee",
            json!({"name": "Eve", "iban": "DE63888888000000006819"}),
        ),
        (
            "a new address",
            "request_profile_change",
            json!({"field": "address", "value": "1 New Street"}),
        ),
        (
            "a field that is none",
            "request_profile_change",
            json!({"field": "password"}),
        ),
        (
            "dispute prose",
            "request_dispute",
            json!({"details": "they cheated"}),
        ),
        (
            "a reason of their own",
            "request_dispute",
            json!({"reason": "because"}),
        ),
        (
            "a card number",
            "request_card_freeze",
            json!({"card": "0077"}),
        ),
        (
            "an operation of their own",
            "request_standing_order",
            json!({"operation": "pause"}),
        ),
        (
            "a day no calendar has",
            "request_standing_order",
            json!({"operation": "create", "start_date": "2027-02-30"}),
        ),
        (
            "a rhythm of their own",
            "request_standing_order",
            json!({"operation": "create", "frequency": "hourly"}),
        ),
    ];
    for text in [
        "50.000000001",
        "-5.00",
        "NaN",
        "inf",
        "Infinity",
        "9223372036854775808",
        "1e400",
        "\u{661}\u{660}",
        "\u{ff11}\u{ff10}",
        "1.000,00",
        "1,000",
        "+5",
        "5-",
        "(5)",
        "0x10",
        "007",
        " 5",
        "5 ",
        "",
        ".5",
        "5.",
    ] {
        rows.push(("an amount", "request_transfer", amount(text)));
    }
    rows
}

#[tokio::test]
async fn bad_arguments_are_refused_and_leave_nothing() {
    let bank = Bank::demo().await;
    let ada = bank.turn("Ada", "Send 20 to Bob").await;
    let (money, actions) = (bank.count(MONEY).await, bank.count(ACTIONS).await);
    for (name, tool, arguments) in rows() {
        let answer = bank.door.call(&ada, tool, arguments.clone()).await;
        assert_eq!(answer.status, 200, "{name}");
        assert_eq!(answer.refusal(), "invalid_argument", "{name}: {arguments}");
        // Nothing of what was sent comes back.
        assert!(
            !answer.text.contains("Eve") && !answer.text.contains("xxxx"),
            "{}",
            answer.text
        );
    }
    assert_eq!(
        (bank.count(MONEY).await, bank.count(ACTIONS).await),
        (money, actions)
    );
}
