//! Every field of the confirm record that can change between the showing and the press, changed: the press is refused, nothing moves, and
//! the card comes back as it is now.

use serde_json::json;

use crate::bank::{Bank, problem};

/// Fields of the record, and what changes each of them for the request `$1`. Guards of the database are out of the way here: even what they
/// would not let anybody write must not run under an older H.
const CHANGES: [(&str, &str); 14] = [
    ("action_version",
     "INSERT INTO bank.pending_version (customer_id, action_id, version, currency, from_account_id, rules_version, provenance_version)
        SELECT customer_id, action_id, 2, currency, from_account_id, rules_version, provenance_version FROM bank.pending_version WHERE action_id = $1;
      INSERT INTO bank.pending_line (customer_id, action_id, version, line_number, payee_id, amount_minor_units)
        SELECT customer_id, action_id, 2, line_number, payee_id, amount_minor_units FROM bank.pending_line WHERE action_id = $1;
      UPDATE bank.pending_action SET current_version = 2 WHERE action_id = $1"),
    ("kind", "UPDATE bank.pending_action SET kind = 'standing_order_create' WHERE action_id = $1"),
    ("from",
     "UPDATE bank.pending_version v SET from_account_id = a.account_id FROM bank.account a
       WHERE v.action_id = $1 AND a.customer_id = v.customer_id AND a.kind = 'savings'"),
    ("currency", "UPDATE bank.pending_version SET currency = 'USD' WHERE action_id = $1"),
    ("lines.payee",
     "UPDATE bank.pending_line l SET payee_id = p.payee_id FROM bank.payee p WHERE l.action_id = $1 AND p.customer_id = l.customer_id AND p.name = 'Carol'"),
    ("lines.payee_account", "UPDATE bank.payee SET iban = 'GB33BUKB20201555555555' WHERE name = 'Bob Smith' AND $1 = $1"),
    ("lines.payee_name", "UPDATE bank.payee SET name = 'Bob Smyth' WHERE name = 'Bob Smith' AND $1 = $1"),
    ("lines.amount", "UPDATE bank.pending_line SET amount_minor_units = amount_minor_units + 1 WHERE action_id = $1"),
    ("rules_version", "UPDATE bank.setting SET rules_version = 'rules/2' WHERE $1 = $1"),
    ("grounding", "UPDATE bank.utterance SET salt = substr(sha256(salt), 1, 16) WHERE customer_id = (SELECT customer_id FROM bank.pending_action WHERE action_id = $1)"),
    ("display",
     "UPDATE bank.account SET label = label || ' 2' WHERE is_default AND customer_id = (SELECT customer_id FROM bank.pending_action WHERE action_id = $1)"),
    ("created", "UPDATE bank.pending_action SET created_at = created_at - interval '1 millisecond' WHERE action_id = $1"),
    ("expires", "UPDATE bank.pending_action SET expires_at = expires_at + interval '1 millisecond' WHERE action_id = $1"),
    ("warnings",
     "INSERT INTO bank.operator_rule (rule_id, customer_id, currency, above_minor_units, operator)
        SELECT gen_random_uuid(), customer_id, 'EUR', 1000, 'grace' FROM bank.pending_action WHERE action_id = $1"),
];

#[tokio::test]
async fn a_press_under_an_older_record_is_refused_whichever_field_has_changed() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let before = ada.balance().await;
    for (field, change) in CHANGES {
        ada.writes("Send 20 to Bob").await;
        // A payee that got another name is still the one that is called Bob.
        let name = if field == "lines.payee_name" || !renamed(field) {
            "Bob Smith"
        } else {
            "Bob Smyth"
        };
        let asked = ada.is_asked(Some(name), Some(2_000)).await;
        let card = ada.card(&asked).await;
        assert!(
            card["confirm_hash"].is_string(),
            "{field}: the card has a button before the change: {card}"
        );
        // As the superuser, and past the guards.
        let change = change.replace("$1", &format!("'{}'::uuid", asked.id));
        bank.plant_past_guards(&change).await;
        let (status, code, body) = problem(ada.step("confirm", &card, "").await).await;
        assert_eq!((status, code.as_str()), (409, "stale_card"), "{field}");
        assert_ne!(
            body["card"]["confirm_hash"], card["confirm_hash"],
            "{field}: the card as it is now"
        );
        assert_eq!(bank.executions().await, 0, "{field}");
        let version = body["card"]["version"].clone();
        let path = format!("/api/actions/{}/cancel", asked.text());
        assert_eq!(
            ada.post(&path, &json!({"version": version})).await.status(),
            200,
            "{field}"
        );
    }
    assert_eq!(ada.balance().await, before);
}

/// Whether Bob's new name is there before the change of this field.
fn renamed(field: &str) -> bool {
    let place = |wanted: &str| CHANGES.iter().position(|(field, _)| *field == wanted);
    place(field) > place("lines.payee_name")
}

#[tokio::test]
async fn the_record_of_one_request_confirms_no_other_and_nobody_else_s() {
    let bank = Bank::start().await;
    let (ada, kabir) = (bank.sign_in("Ada").await, bank.sign_in("Kabir").await);
    let (first, card) = ada.sees_twenty_to_bob().await;
    ada.writes("Send 20 to Bob").await;
    let second = ada
        .supersedes(Some(&first), Some("Bob Smith"), Some(2_000))
        .await;
    // The action: everything else is the same payment.
    let mut moved = card.clone();
    moved["action"] = json!(second.text());
    assert_eq!(ada.step("confirm", &moved, "").await.status(), 409);
    assert_eq!(
        kabir.step("confirm", &moved, "").await.status(),
        404,
        "the customer"
    );
    // The name check, and the language.
    ada.writes("Send 20 to Kabir").await;
    let asked = ada
        .supersedes(Some(&second), Some("Kabir Rao"), Some(2_000))
        .await;
    for (field, change) in [
        (
            "lines.name_check",
            "UPDATE bank.customer SET display_name = 'Somebody Else' WHERE display_name = 'Kabir'",
        ),
        (
            "locale",
            "UPDATE bank.customer SET locale = 'de' WHERE display_name = 'Ada'",
        ),
    ] {
        let card = ada.card(&asked).await;
        assert!(card["confirm_hash"].is_string(), "{field}: {card}");
        bank.plant(change).await;
        // Without the passkey that is due it would not run either; it is the record that is refused.
        let (status, code, _) = problem(ada.step("prepare", &card, "").await).await;
        assert_eq!((status, code.as_str()), (409, "stale_card"), "{field}");
    }
    assert_eq!(bank.executions().await, 0);
}
