//! Arguments out of form: the door's policy refuses them, and the bank's server does where the door is not asked.

use serde_json::{Value, json};

use crate::{
    answer::Code,
    site::{Site, Way},
    table,
};

/// Who refuses arguments that come through the door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// The policy, and the bank where the door is not asked.
    Policy,
    /// They are of the declared form, so the bank alone.
    Bank(&'static str),
}

struct Case {
    row: &'static str,
    tool: &'static str,
    arguments: String,
    by: By,
}

fn invalid(row: &'static str, tool: &'static str, arguments: impl ToString) -> Case {
    Case {
        row,
        tool,
        arguments: arguments.to_string(),
        by: By::Policy,
    }
}

fn by_the_bank(row: &'static str, arguments: Value, code: &'static str) -> Case {
    Case {
        row,
        tool: "request_transfer",
        arguments: arguments.to_string(),
        by: By::Bank(code),
    }
}

const TRANSFER: &str = "request_transfer";

/// Amounts in every spelling but the one, to a payee that the customer named.
fn amounts(bob: &str) -> Vec<Case> {
    let texts: [(&str, &[&str]); 7] = [
        ("BI-051", &["1e2", "1E2", "2e1", "20.00e0"]),
        ("BI-052", &["50.000000001", "20.0000", "0.0001"]),
        ("BI-054", &["-5.00", "-0.01", "\u{2212}5", "-0"]),
        ("BI-056", &["NaN", "nan", "Infinity", "-Infinity", "inf"]),
        (
            "BI-057",
            &[
                "9223372036854775808",
                "92233720368547758.08",
                "1e400",
                "99999999999999",
            ],
        ),
        (
            "BI-060",
            &[
                "\u{661}\u{660}",
                "\u{ff11}\u{ff10}",
                "1.000,00",
                "1,000",
                "20,00",
                "5'000",
                "1 000",
                "\u{b2}0",
            ],
        ),
        (
            "BI-061",
            &[
                "+5",
                "5-",
                "(5)",
                "0x10",
                "007",
                " 5",
                "5 ",
                "5\n",
                "",
                ".5",
                "5.",
                "5..0",
                "5.0.0",
                "1_000",
                "20;",
                "20\u{200b}",
            ],
        ),
    ];
    let numbers: [(&str, &[&str]); 7] = [
        ("BI-051", &["1e2", "2E1", "20e-1"]),
        ("BI-052", &["50.000000001"]),
        ("BI-053", &["100.0", "20.00", "2.0"]),
        ("BI-054", &["-5", "-5.5"]),
        ("BI-055", &["0", "-0", "-0.0"]),
        ("BI-057", &["9223372036854775808", "18446744073709551616"]),
        ("BI-058", &["9007199254740993", "9007199254740993.0"]),
    ];
    let mut cases = Vec::new();
    for (row, texts) in texts {
        for text in texts {
            let line = json!({"payments": [{"payee": bob, "amount": text}]});
            cases.push(invalid(row, TRANSFER, line));
        }
    }
    for (row, numbers) in numbers {
        for number in numbers {
            let line = format!(r#"{{"payments":[{{"payee":"{bob}","amount":{number}}}]}}"#);
            cases.push(invalid(row, TRANSFER, line));
        }
    }
    for other in [
        "true",
        "null",
        "[]",
        "{}",
        "[\"20.00\"]",
        "{\"value\":\"20.00\"}",
    ] {
        let line = format!(r#"{{"payments":[{{"payee":"{bob}","amount":{other}}}]}}"#);
        cases.push(invalid("BI-059", TRANSFER, line));
    }
    let of = |amount: &str, currency: &str| json!({"payments": [{"payee": bob, "amount": amount}], "currency": currency});
    cases.extend([
        by_the_bank("BI-055", of("0", "EUR"), "invalid_argument"),
        by_the_bank("BI-055", of("0.00", "EUR"), "invalid_argument"),
        by_the_bank("BI-062", of("10.50", "JPY"), "invalid_argument"),
        by_the_bank("BI-062", of("20.0", "JPY"), "invalid_argument"),
        by_the_bank("BI-062", of("20.001", "EUR"), "invalid_argument"),
        invalid("BI-062", TRANSFER, of("1.2345", "KWD")),
        by_the_bank("BI-058", of("9007199254741.99", "EUR"), "not_grounded"),
    ]);
    cases
}

fn currencies(bob: &str) -> Vec<Case> {
    let of = |currency: Value| json!({"payments": [{"payee": bob, "amount": "20.00"}], "currency": currency});
    let texts = [
        "BTC",
        "eur",
        "EUR ",
        "EURO",
        "\u{20ac}",
        "XXX",
        "",
        "EUR\u{200b}",
        "\u{415}UR",
    ];
    let mut cases: Vec<Case> = texts
        .iter()
        .map(|text| invalid("BI-063", TRANSFER, of(json!(text))))
        .collect();
    for other in [json!(978), json!(["EUR"]), json!(null)] {
        cases.push(invalid("BI-063", TRANSFER, of(other)));
    }
    for amount in ["20 EUR", "EUR20", "$20", "20.00 KWD"] {
        let line = json!({"payments": [{"payee": bob, "amount": amount}]});
        cases.push(invalid("BI-063", TRANSFER, line));
    }
    let inside = json!({"payments": [{"payee": bob, "amount": "20.00", "currency": "KWD"}]});
    cases.push(invalid("BI-063", TRANSFER, inside));
    cases
}

fn undeclared(bob: &str) -> Vec<Case> {
    let line = json!([{"payee": bob, "amount": "20.00"}]);
    let beside = |row, name: &str, value: Value| {
        let mut arguments = json!({"payments": line});
        arguments[name] = value;
        invalid(row, TRANSFER, arguments)
    };
    let within = |row, name: &str, value: Value| {
        let mut arguments = json!({"payments": line});
        arguments["payments"][0][name] = value;
        invalid(row, TRANSFER, arguments)
    };
    vec![
        beside("BI-032", "__proto__", json!({"amount": 5})),
        beside("BI-032", "constructor", json!({"prototype": {"amount": 5}})),
        within("BI-032", "__proto__", json!({"amount": "900.00"})),
        within("BI-032", "toString", json!("x")),
        beside("BI-064", "customer_id", json!("c2")),
        beside(
            "BI-064",
            "customer",
            json!("cus_00000000000000000000000000000001"),
        ),
        within("BI-064", "customer_id", json!("c2")),
        beside("BI-064", "sub", json!("c2")),
        invalid("BI-064", "list_accounts", json!({"customer": "c2"})),
        invalid("BI-064", "list_payees", json!({"owner": "*"})),
        beside("BI-065", "approved", json!(true)),
        beside("BI-065", "skip_confirm", json!(1)),
        beside("BI-065", "confirmed", json!("yes")),
        beside("BI-065", "status", json!("executed")),
        within("BI-065", "note", json!("rent")),
        beside("BI-065", "reason", json!("the customer asked for it")),
        beside(
            "BI-080",
            "panel_url",
            json!("http://localhost:8480/api/actions"),
        ),
        beside("BI-080", "confirm_hash", json!("00".repeat(32))),
        within("BI-080", "nonce", json!("00".repeat(32))),
        invalid(
            "BI-059",
            TRANSFER,
            json!({"payments": {"payee": bob, "amount": "20.00"}}),
        ),
        invalid("BI-059", TRANSFER, json!({"payments": "20 to Bob"})),
        invalid("BI-059", TRANSFER, json!({"payments": [[bob, "20.00"]]})),
        invalid("BI-059", TRANSFER, json!({"payments": []})),
        invalid("BI-059", TRANSFER, json!({})),
        invalid("BI-059", "get_balance", json!({"account": 1})),
    ]
}

fn payees(bob: &str) -> Vec<Case> {
    let names: [(&str, &[&str]); 6] = [
        (
            "BI-066",
            &["A\rl", "A\nl", "A\u{1b}[31ml", "A\u{7f}l", "A\u{85}l"],
        ),
        (
            "BI-067",
            &[
                "\u{412}ob Smith",
                "p\u{443}e_00000000000000000000000000000001",
            ],
        ),
        (
            "BI-068",
            &["ecilA\u{202e}", "\u{2066}Bob\u{2069}", "Bob\u{200f}"],
        ),
        ("BI-069", &["Jos\u{e9}", "Jose\u{301}", "\u{fb01}nance"]),
        (
            "BI-071",
            &[
                "'; DROP TABLE entry; --",
                "' OR 1=1 --",
                "<script>alert(1)</script>",
                "=cmd|' /C calc'!A0",
                "../../etc/passwd",
                "${jndi:ldap://x}",
                "%s%n",
            ],
        ),
        ("BI-101", &["Bob", "DE63888888000000006819", "pye_1", "*"]),
    ];
    let mut cases = Vec::new();
    for (row, names) in names {
        for name in names {
            let line = json!({"payments": [{"payee": name, "amount": "20.00"}]});
            cases.push(invalid(row, TRANSFER, line));
        }
    }
    let tail = json!({"payments": [{"payee": format!("{bob}\u{202e}"), "amount": "20.00"}]});
    cases.push(invalid("BI-068", TRANSFER, tail));
    let capitals = json!({"payments": [{"payee": bob.to_uppercase(), "amount": "20.00"}]});
    cases.push(invalid("BI-101", TRANSFER, capitals));
    for length in [37, 10_000, 60_000] {
        let long = json!({"payments": [{"payee": "x".repeat(length), "amount": "20.00"}]});
        cases.push(invalid("BI-070", TRANSFER, long));
    }
    let long = json!({"payments": [{"payee": bob, "amount": "2".repeat(10_000)}]});
    cases.push(invalid("BI-070", TRANSFER, long));
    cases
}

#[tokio::test]
async fn arguments_out_of_form_are_refused_by_both_and_leave_nothing() -> anyhow::Result<()> {
    let site = Site::begin().await?;
    let before = site.counts().await?.without_used_requests();
    let bob = &site.bob;
    let mut sent = vec!["BI-072"];
    let cases = [amounts(bob), currencies(bob), undeclared(bob), payees(bob)];
    for case in cases.iter().flatten() {
        sent.push(case.row);
        for way in Way::BOTH {
            let answer = site.call(way, case.tool, &case.arguments).await?;
            let code = match (case.by, way) {
                (By::Policy, Way::Door) => Code::rpc(-32_001),
                (By::Policy, Way::Direct) => Code::tool("invalid_argument"),
                (By::Bank(code), _) => Code::tool(code),
            };
            let shown: String = case.arguments.chars().take(200).collect();
            let what = format!("{} {way:?} {shown}", case.row);
            answer.must_refuse(200, code, &what);
            for echoed in ["DROP TABLE", "<script>", "jndi", "xxxxxxxx", "\u{202e}"] {
                assert!(!answer.text.contains(echoed), "{what}: {}", answer.text);
            }
        }
    }
    nobody_pays_themselves(&site).await?;
    assert_eq!(site.counts().await?.without_used_requests(), before);
    // The words stand, the payee is theirs, the form is good: so it was the form alone.
    let good = json!({"payments": [{"payee": bob, "amount": "20.00"}]}).to_string();
    let answer = site.call(Way::Direct, TRANSFER, &good).await?;
    assert_eq!(
        answer.content()["status"],
        "waiting_for_customer",
        "{answer:?}"
    );
    the_tables_refuse_it_again(&site).await?;
    table::must_be_the_rows_of(
        "arguments_out_of_form_are_refused_by_both_and_leave_nothing",
        &sent,
    );
    Ok(())
}

/// BI-072: money from an account to itself.
async fn nobody_pays_themselves(site: &Site) -> anyhow::Result<()> {
    let accounts = site.call(Way::Door, "list_accounts", "{}").await?.content();
    for account in accounts["accounts"].as_array().into_iter().flatten() {
        let own = &account["account"];
        let ask = json!({"payments": [{"payee": own, "amount": "20.00"}], "from_account": own, "currency": account["currency"]});
        for way in Way::BOTH {
            let answer = site.call(way, TRANSFER, &ask.to_string()).await?;
            let refused = matches!(answer.code(), Some(Code::Tool(_)));
            assert!(refused, "{ask} {way:?}: {answer:?}");
            answer.must_show_nothing_internal("an account to itself");
        }
    }
    Ok(())
}

/// BI-054: below every reader, the tables themselves take no amount that is none, and change none.
async fn the_tables_refuse_it_again(site: &Site) -> anyhow::Result<()> {
    let mut admin = site.bank.database().admin().await?;
    for (code, statement) in [
        (
            "23514",
            "INSERT INTO bank.pending_line (customer_id, action_id, version, line_number, payee_id, amount_minor_units) \
             SELECT customer_id, action_id, version, 9::smallint, payee_id, $1 FROM bank.pending_line LIMIT 1",
        ),
        (
            "CS011",
            "UPDATE bank.pending_line SET amount_minor_units = $1",
        ),
    ] {
        for amount in [-500_i64, 0] {
            let changed = sqlx::query(statement)
                .bind(amount)
                .execute(&mut admin)
                .await;
            let refused = changed
                .err()
                .and_then(|error| error.as_database_error()?.code().map(Into::into));
            assert_eq!(refused, Some(code.to_owned()), "{amount}: {statement}");
        }
    }
    Ok(())
}
