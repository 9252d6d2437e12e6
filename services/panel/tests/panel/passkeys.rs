//! When a press wants a passkey, whose answer counts, and who may change the passkeys.

use countersign_soft_passkey::{self as soft_passkey, Saying, SoftPasskey, USER_PRESENT};
use serde_json::{Value, json};

use crate::bank::{Asked, Bank, Visitor, problem};

/// A payment that wants a passkey: to somebody Ada never paid.
async fn to_a_stranger(ada: &Visitor<'_>) -> (Asked, Value) {
    ada.writes("Send 20 to Bright Solar").await;
    let asked = ada.is_asked(Some("Bright Solar"), Some(2_000)).await;
    let card = ada.card(&asked).await;
    (asked, card)
}

/// What the panel asks a passkey for a card and a note.
async fn prompt(ada: &Visitor<'_>, card: &Value, note: &str) -> Vec<u8> {
    let prepared: Value = ada.step("prepare", card, note).await.json().await.unwrap();
    assert_eq!(
        prepared["step_up"]["options"]["userVerification"],
        "required"
    );
    soft_passkey::challenge(&prepared["step_up"]["options"])
}

async fn refused(answer: reqwest::Response) -> String {
    let (status, code, _) = problem(answer).await;
    assert_eq!(status, 403, "{code}");
    code
}

fn codes(card: &Value) -> Vec<String> {
    card["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|warning| warning["code"].as_str())
        .filter(|code| code.starts_with("passkey_"))
        .map(str::to_owned)
        .collect()
}

#[tokio::test]
async fn a_payment_to_somebody_new_wants_a_passkey_and_its_receipt_names_it() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let before = ada.balance().await;
    let (asked, card) = to_a_stranger(&ada).await;
    assert_eq!(card["step_up"], "not_enrolled");
    assert_eq!(codes(&card), ["passkey_new_payee"]);
    assert_eq!(
        refused(ada.step("prepare", &card, "").await).await,
        "step_up_no_passkey"
    );
    assert_eq!(
        refused(ada.step("confirm", &card, "").await).await,
        "step_up_due"
    );

    let passkey = SoftPasskey::new(1);
    assert_eq!(ada.enrols(&passkey).await.status(), 204);
    let card = ada.card(&asked).await;
    assert_eq!(card["step_up"], "ready");
    assert_eq!(
        refused(ada.step("confirm", &card, "").await).await,
        "step_up_due"
    );
    let answer = passkey.get(&bank.origin, &prompt(&ada, &card, "").await);
    let confirmed: Value = ada.agrees(&card, "", &answer).await.json().await.unwrap();
    assert_eq!(ada.balance().await, before - 2_000);

    // The same again is the same answer, and nothing more.
    let again: Value = ada.agrees(&card, "", &answer).await.json().await.unwrap();
    assert_eq!(again, confirmed);
    assert_eq!(ada.balance().await, before - 2_000);
    assert_eq!(
        bank.count(
            "SELECT count(*) FROM bank.step_up WHERE used_at IS NOT NULL AND purpose = 'confirm'"
        )
        .await,
        1
    );

    let receipt = ada.page(confirmed["receipt"].as_str().unwrap()).await;
    let event: Value = serde_json::from_slice(
        &sqlx::query_scalar::<_, Vec<u8>>(
            "SELECT payload FROM bank.bank_event WHERE kind = 'confirmed'",
        )
        .fetch_one(&mut bank.admin().await)
        .await
        .unwrap(),
    )
    .unwrap();
    assert_eq!(event["step_up"]["kind"], "webauthn.get");
    for hash in ["credential", "client_data"] {
        let hash = event["step_up"][hash].as_str().unwrap();
        assert!(hash.len() == 64 && receipt.contains(hash), "{hash}");
    }
}

#[tokio::test]
async fn a_small_payment_to_somebody_known_wants_none() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let (_, card) = ada.sees_twenty_to_bob().await;
    assert_eq!(card["step_up"], Value::Null);
    assert_eq!(codes(&card), Vec::<String>::new());
    assert_eq!(ada.step("confirm", &card, "").await.status(), 200);
}

#[tokio::test]
async fn the_policy_says_when() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let table: [(&str, i64, &[&str]); 4] = [
        ("Bob Smith", 25_000, &[]),
        ("Bob Smith", 25_001, &["passkey_amount"]),
        ("Bright Solar", 100, &["passkey_new_payee"]),
        ("Mum", 30_000, &["passkey_amount"]),
    ];
    for (payee, amount, expected) in table {
        let money = format!("{}.{:02}", amount / 100, amount % 100);
        ada.writes(&format!("Send {money} to {payee}")).await;
        let asked = ada.is_asked(Some(payee), Some(amount)).await;
        let card = ada.card(&asked).await;
        assert_eq!(codes(&card), expected, "{payee} {amount}");
        assert_eq!(card["step_up"].is_null(), expected.is_empty());
        let body = json!({"version": card["version"]});
        ada.post(&format!("/api/actions/{}/cancel", asked.text()), &body)
            .await;
    }
    // The customer's own threshold.
    bank.plant("UPDATE bank.customer_limit SET step_up_over_minor_units = 1000")
        .await;
    ada.writes("Send 20 to Bob").await;
    let asked = ada.is_asked(Some("Bob Smith"), Some(2_000)).await;
    assert_eq!(codes(&ada.card(&asked).await), ["passkey_amount"]);
    // Whatever the amount: what took the place of an earlier request.
    ada.writes("no, 5 to Bob").await;
    let next = ada
        .supersedes(Some(&asked), Some("Bob Smith"), Some(500))
        .await;
    assert_eq!(codes(&ada.card(&next).await), ["passkey_replaced"]);
}

#[tokio::test]
async fn an_account_in_another_name_wants_a_passkey_and_the_database_reads_so_in_the_record() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    bank.plant(
        "UPDATE bank.payee SET name = 'Kabirah Raoul', alias = NULL WHERE name = 'Kabir Rao'",
    )
    .await;
    ada.writes("Send 20 to Kabirah Raoul").await;
    let asked = ada.is_asked(Some("Kabirah Raoul"), Some(2_000)).await;
    let card = ada.card(&asked).await;
    assert_eq!(codes(&card), ["passkey_name"], "{card}");
    assert_eq!(
        refused(ada.step("confirm", &card, "").await).await,
        "step_up_due"
    );
    assert_eq!(ada.presses(&card, "").await.status(), 200);
}

#[tokio::test]
async fn an_answer_counts_for_its_own_card_showing_and_note_alone() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let before = ada.balance().await;
    let passkey = SoftPasskey::new(1);
    ada.enrols(&passkey).await;
    let (asked, card) = to_a_stranger(&ada).await;
    let challenge = prompt(&ada, &card, "").await;
    let answer = passkey.get(&bank.origin, &challenge);

    assert_eq!(
        refused(ada.agrees(&card, "another note", &answer).await).await,
        "step_up_refused"
    );
    let shown_again = ada.card(&asked).await;
    assert_ne!(shown_again["nonce"], card["nonce"]);
    assert_eq!(
        refused(ada.agrees(&shown_again, "", &answer).await).await,
        "step_up_refused"
    );
    // A challenge that nobody issued, though it is the right one.
    let right = {
        let prepared: Value = ada
            .step("prepare", &shown_again, "")
            .await
            .json()
            .await
            .unwrap();
        bank.plant("DELETE FROM bank.step_up").await;
        soft_passkey::challenge(&prepared["step_up"]["options"])
    };
    assert_eq!(
        refused(
            ada.agrees(&shown_again, "", &passkey.get(&bank.origin, &right))
                .await
        )
        .await,
        "step_up_refused"
    );
    // Another origin, a page of another name, nobody verified, a frame, another kind of answer.
    let card = ada.card(&asked).await;
    let challenge = prompt(&ada, &card, "").await;
    let honest = Saying::honest(&bank.origin, &challenge);
    let changes: [&dyn Fn(&mut Saying); 5] = [
        &|saying| saying.client_data["origin"] = json!("http://localhost:1"),
        &|saying| saying.rp_id = "evil.example".into(),
        &|saying| saying.flags = USER_PRESENT,
        &|saying| saying.client_data["crossOrigin"] = json!(true),
        &|saying| saying.client_data["type"] = json!("webauthn.create"),
    ];
    for change in changes {
        let mut saying = honest.clone();
        change(&mut saying);
        let code = refused(ada.agrees(&card, "", &passkey.get_saying(&saying)).await).await;
        assert_eq!(code, "step_up_refused", "{saying:?}");
    }
    // Somebody else's passkey, and one that was taken away.
    let stranger = SoftPasskey::new(2);
    let kabir = bank.sign_in("Kabir").await;
    kabir.enrols(&stranger).await;
    let by_kabir = stranger.get(&bank.origin, &challenge);
    assert_eq!(
        refused(ada.agrees(&card, "", &by_kabir).await).await,
        "step_up_refused"
    );
    assert_eq!(ada.balance().await, before);
    assert_eq!(bank.executions().await, 0);
    assert_eq!(
        ada.agrees(&card, "", &passkey.get(&bank.origin, &challenge))
            .await
            .status(),
        200
    );
}

#[tokio::test]
async fn an_answer_is_good_for_a_minute_and_a_counter_only_grows() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let mut passkey = SoftPasskey::new(1);
    passkey.counter = 3;
    ada.enrols(&passkey).await;
    let (_, card) = to_a_stranger(&ada).await;
    let challenge = prompt(&ada, &card, "").await;
    passkey.counter = 4;
    let answer = passkey.get(&bank.origin, &challenge);
    bank.database.set_clock_ahead(61).await.unwrap();
    assert_eq!(
        refused(ada.agrees(&card, "", &answer).await).await,
        "step_up_late"
    );
    for went_back in [3, 0] {
        passkey.counter = went_back;
        let challenge = prompt(&ada, &card, "").await;
        let answer = passkey.get(&bank.origin, &challenge);
        assert_eq!(
            refused(ada.agrees(&card, "", &answer).await).await,
            "step_up_counter"
        );
    }
    passkey.counter = 4;
    let challenge = prompt(&ada, &card, "").await;
    assert_eq!(
        ada.agrees(&card, "", &passkey.get(&bank.origin, &challenge))
            .await
            .status(),
        200
    );
    assert_eq!(bank.count("SELECT sign_count FROM bank.passkey").await, 4);
}

#[tokio::test]
async fn what_the_browser_displayed_must_be_what_the_card_shows() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let passkey = SoftPasskey::new(1);
    ada.enrols(&passkey).await;
    let (_, card) = to_a_stranger(&ada).await;
    let prepared: Value = ada.step("prepare", &card, "").await.json().await.unwrap();
    let payment = &prepared["step_up"]["payment"];
    assert_eq!(payment["payeeName"], "Bright Solar");
    assert_eq!(
        payment["total"],
        json!({"value": "20.00", "currency": "EUR"})
    );
    let challenge = soft_passkey::challenge(&prepared["step_up"]["options"]);
    let mut saying = Saying::honest(&bank.origin, &challenge);
    saying.client_data["type"] = json!("payment.get");
    saying.client_data["payment"] = json!({
        "rpId": "localhost", "topOrigin": bank.origin, "payeeName": "Bright Solar",
        "total": {"value": "2.00", "currency": "EUR"},
        "instrument": {"displayName": payment["instrument"], "icon": "data:,"},
    });
    let code = refused(ada.agrees(&card, "", &passkey.get_saying(&saying)).await).await;
    assert_eq!(code, "step_up_refused");
    saying.client_data["payment"]["total"]["value"] = json!("20.00");
    assert_eq!(
        ada.agrees(&card, "", &passkey.get_saying(&saying))
            .await
            .status(),
        200
    );
}

#[tokio::test]
async fn the_first_passkey_wants_a_login_of_a_moment_ago_and_the_next_the_leave_of_the_first() {
    let bank = Bank::careful().await;
    let ada = bank.sign_in("Ada").await;
    let (first, second) = (SoftPasskey::new(1), SoftPasskey::new(2));
    bank.database.set_clock_ahead(301).await.unwrap();
    assert_eq!(refused(ada.enrols(&first).await).await, "login_too_old");
    let ada = bank.sign_in("Ada").await;
    assert_eq!(ada.enrols(&first).await.status(), 204);
    assert_eq!(refused(ada.enrols(&second).await).await, "step_up_due");
    let by_itself = ada.enrols_with(&second, Some(&second)).await;
    assert_eq!(refused(by_itself).await, "step_up_refused");
    assert_eq!(ada.enrols_with(&second, Some(&first)).await.status(), 204);
    let twice = ada.enrols_with(&second, Some(&first)).await;
    assert_eq!(problem(twice).await.0, 422);
    let page = ada.page("/passkeys").await;
    assert_eq!(page.matches("data-passkey=").count(), 2);
    let kinds = bank
        .count("SELECT count(*) FROM bank.bank_event WHERE kind = 'passkey_enrolled'")
        .await;
    assert_eq!(kinds, 2);
}

#[tokio::test]
async fn under_a_new_passkey_the_limit_of_a_first_payment_counts_for_a_day() {
    let bank = Bank::careful().await;
    let ada = bank.sign_in("Ada").await;
    let passkey = SoftPasskey::new(1);
    ada.enrols(&passkey).await;
    ada.writes("Send 300 to Mum").await;
    let asked = ada.is_asked(Some("Mum"), Some(30_000)).await;
    let card = ada.card(&asked).await;
    assert_eq!(card["confirm_hash"], Value::Null, "{card}");
    assert!(
        card["message"]
            .as_str()
            .unwrap()
            .contains("your passkey is new")
    );
    bank.plant("UPDATE bank.pending_action SET state = 'cancelled' WHERE state = 'pending'")
        .await;
    bank.database.set_clock_ahead(86_401).await.unwrap();
    let ada = bank.sign_in("Ada").await;
    ada.writes("Send 300 to Mum").await;
    let asked = ada.is_asked(Some("Mum"), Some(30_000)).await;
    let card = ada.card(&asked).await;
    assert_eq!(card["step_up"], "ready");
}

#[tokio::test]
async fn who_lost_every_passkey_waits_for_the_bank_and_pays_nothing_that_wants_one_meanwhile() {
    let bank = Bank::careful().await;
    let ada = bank.sign_in("Ada").await;
    let (lost, new) = (SoftPasskey::new(1), SoftPasskey::new(2));
    ada.enrols(&lost).await;
    assert_eq!(
        ada.post("/api/recovery/ask", &json!({})).await.status(),
        204
    );
    let (asked, card) = to_a_stranger(&ada).await;
    assert_eq!(card["step_up"], "frozen");
    assert_eq!(
        refused(ada.step("prepare", &card, "").await).await,
        "step_up_frozen"
    );
    assert_eq!(
        refused(ada.step("confirm", &card, "").await).await,
        "step_up_frozen"
    );
    assert_eq!(refused(ada.enrols(&new).await).await, "step_up_frozen");

    // The owner of a passkey stops it; a second one goes its way.
    assert_eq!(
        ada.post("/api/recovery/cancel", &json!({})).await.status(),
        204
    );
    assert_eq!(ada.card(&asked).await["step_up"], "ready");
    ada.post("/api/recovery/ask", &json!({})).await;
    bank.plant("SELECT bank.approve_recovery(customer_id, recovery_id, 'grace') FROM bank.passkey_recovery")
        .await;
    assert_eq!(
        refused(ada.enrols(&new).await).await,
        "step_up_frozen",
        "approved, and still waiting"
    );
    bank.database.set_clock_ahead(259_201).await.unwrap();
    let ada = bank.sign_in("Ada").await;
    assert!(
        ada.page("/passkeys")
            .await
            .contains("You can set up a new passkey now")
    );
    assert_eq!(ada.enrols(&new).await.status(), 204);
    let left = bank
        .count("SELECT count(*) FROM bank.passkey WHERE removed_at IS NULL")
        .await;
    assert_eq!(left, 1);
}

#[tokio::test]
async fn a_passkey_is_renamed_at_will_and_removed_with_leave() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let passkey = SoftPasskey::new(1);
    ada.enrols(&passkey).await;
    let page = ada.page("/passkeys").await;
    let id = page
        .split("data-passkey=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap()
        .to_owned();
    let kabir = bank.sign_in("Kabir").await;
    let rename = format!("/api/passkeys/{id}/rename");
    assert_eq!(
        kabir.post(&rename, &json!({"name": "Mine"})).await.status(),
        404
    );
    for bad in ["", "  ", "a\u{202e}b", &"x".repeat(61)] {
        assert_eq!(
            ada.post(&rename, &json!({"name": bad})).await.status(),
            422,
            "{bad:?}"
        );
    }
    assert_eq!(
        ada.post(&rename, &json!({"name": "Blue key"}))
            .await
            .status(),
        204
    );
    assert!(ada.page("/passkeys").await.contains("Blue key"));

    let begun: Value = ada
        .post("/api/passkeys/change", &json!({}))
        .await
        .json()
        .await
        .unwrap();
    let leave = |passkey: &SoftPasskey| {
        let answer = passkey.get(&bank.origin, &soft_passkey::challenge(&begun["leave"]));
        json!({"leave": soft_passkey::answered(&begun["leave"], &answer)})
    };
    let remove = format!("/api/passkeys/{id}/remove");
    assert_eq!(
        refused(ada.post(&remove, &leave(&SoftPasskey::new(2))).await).await,
        "step_up_refused"
    );
    assert_eq!(ada.post(&remove, &leave(&passkey)).await.status(), 204);
    assert!(
        ada.page("/passkeys")
            .await
            .contains("You have no passkey yet")
    );
}

#[tokio::test]
async fn the_database_wants_the_passkey_whoever_calls_it() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    ada.enrols(&SoftPasskey::new(1)).await;
    let stranger = SoftPasskey::new(2);
    let kabir = bank.sign_in("Kabir").await;
    kabir.enrols(&stranger).await;
    let (_, card) = to_a_stranger(&ada).await;
    let challenge = prompt(&ada, &card, "").await;
    // As the panel's own login, with the session's secret: a panel whose code forgot to ask.
    let secret = ada.cookie.split_once('=').unwrap().1.to_owned();
    let mut panel = bank.database.login("panel").await.unwrap();
    let mut transaction = sqlx::Connection::begin(&mut panel).await.unwrap();
    sqlx::query("SELECT set_config('countersign.session', $1, true)")
        .bind(&secret)
        .execute(&mut *transaction)
        .await
        .unwrap();
    for forbidden in [
        "INSERT INTO bank.step_up (customer_id, challenge, purpose, panel_grant_id) SELECT bank.current_customer(), sha256('x'), 'manage', bank.current_grant()",
        "UPDATE bank.step_up SET answered_at = now()",
        "UPDATE bank.passkey SET sign_count = 0",
        "INSERT INTO bank.passkey (customer_id) SELECT bank.current_customer()",
        "UPDATE bank.passkey_recovery SET approved_at = now()",
        "SELECT bank.approve_recovery(bank.current_customer(), gen_random_uuid(), 'panel')",
        "SELECT bank.use_answer(bank.current_customer(), 'confirm', sha256('x'))",
    ] {
        let mut point = sqlx::Connection::begin(&mut *transaction).await.unwrap();
        let error = sqlx::query(forbidden)
            .execute(&mut *point)
            .await
            .unwrap_err();
        assert_eq!(
            error.as_database_error().unwrap().code().as_deref(),
            Some("42501"),
            "{forbidden}"
        );
        point.rollback().await.unwrap();
    }
    // Bytes that do not say what was asked are no answer, whatever the caller thinks of their signature.
    for (client_data, authenticator_data) in [
        (
            json!({"type": "webauthn.get", "challenge": "AAAA"}).to_string(),
            vec![5_u8; 37],
        ),
        ("not json".to_owned(), vec![5; 37]),
        (client_data(&challenge, "webauthn.create"), vec![5; 37]),
        (client_data(&challenge, "webauthn.get"), vec![5; 36]),
        (client_data(&challenge, "webauthn.get"), vec![0; 37]),
        (client_data(&challenge, "webauthn.get"), vec![1; 37]),
    ] {
        let answer: String = sqlx::query_scalar(
            "SELECT bank.answer_step_up($1, (SELECT credential_hash FROM bank.passkey), convert_to($2, 'UTF8'), $3, 's')",
        )
        .bind(&challenge)
        .bind(&client_data)
        .bind(authenticator_data)
        .fetch_one(&mut *transaction)
        .await
        .unwrap();
        assert_eq!(answer, "step_up_refused", "{client_data}");
    }
    // A counter that does not grow, whatever was verified before. These bytes count 0x05050505.
    bank.plant("UPDATE bank.passkey SET sign_count = 84215045")
        .await;
    let answer: String = sqlx::query_scalar(
        "SELECT bank.answer_step_up($1, (SELECT credential_hash FROM bank.passkey), convert_to($2, 'UTF8'), $3, 's')",
    )
    .bind(&challenge)
    .bind(client_data(&challenge, "webauthn.get"))
    .bind(vec![5_u8; 37])
    .fetch_one(&mut *transaction)
    .await
    .unwrap();
    assert_eq!(answer, "step_up_counter");
    // Another customer's passkey is not there, though it answers well.
    let theirs: [u8; 32] = sha2::Digest::finalize(sha2::Digest::chain_update(
        <sha2::Sha256 as sha2::Digest>::new(),
        stranger.id(),
    ))
    .into();
    let answer: String =
        sqlx::query_scalar("SELECT bank.answer_step_up($1, $2, convert_to($3, 'UTF8'), $4, 's')")
            .bind(&challenge)
            .bind(theirs.as_slice())
            .bind(client_data(&challenge, "webauthn.get"))
            .bind(vec![5_u8; 37])
            .fetch_one(&mut *transaction)
            .await
            .unwrap();
    assert_eq!(answer, "step_up_unknown");
    let outcome: String = sqlx::query_scalar(
        "SELECT bank.confirm_action($1, 1, $2, decode($3, 'hex'), sha256('e'), '', $4, ARRAY[gen_random_uuid()], '{}')",
    )
    .bind(uuid::Uuid::try_parse(card["action"].as_str().unwrap().trim_start_matches("act_")).unwrap())
    .bind(card["nonce"].as_str())
    .bind(card["confirm_hash"].as_str())
    .bind(b"{}".as_slice())
    .fetch_one(&mut *transaction)
    .await
    .unwrap();
    assert_eq!(outcome, "stale_card", "a record that H does not name");
}

fn client_data(challenge: &[u8], kind: &str) -> String {
    Saying::honest("http://localhost", challenge)
        .client_data
        .to_string()
        .replace("webauthn.get", kind)
}
