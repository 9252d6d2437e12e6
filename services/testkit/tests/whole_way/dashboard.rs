//! What an operator sees, and what reading a customer's words leaves behind.

use anyhow::Context as _;
use countersign_testkit::Bank;
use countersign_testkit::people::Operator;
use sqlx::{Connection as _, Executor as _, Row as _};

const REASON: &str = "Complaint 4711: why was nothing offered?";

async fn operator(bank: &Bank) -> anyhow::Result<Operator> {
    let mut operator = bank.operator()?;
    let token = bank.operator_token("grace").await?;
    assert!(operator.signs_in(token.expose()).await?);
    Ok(operator)
}

#[tokio::test]
async fn an_operator_finds_a_payment_by_its_short_code_and_sees_every_step() -> anyhow::Result<()> {
    let bank = Bank::start().await?;
    let ada = bank.sign_in("Ada").await?;
    ada.asks("Send 20 to Bob").await?;
    let card = ada.open_card().await?;
    let confirmed = ada.confirms(&card).await?;
    let code = confirmed.body["short_code"]
        .as_str()
        .context("a short code")?;
    let action = card["action"].as_str().context("an id")?;

    let grace = operator(&bank).await?;
    for asked in [code, action, &format!("/receipts/{action}.json")] {
        let found = grace
            .opens(&format!("/find?q={}", asked.replace('/', "%2F")))
            .await?;
        assert_eq!(found.location, format!("/actions/{action}"), "{asked}");
    }
    assert_eq!(grace.opens("/find?q=BBBB-BBBB").await?.status, 404);
    let shown = grace.opens(&format!("/actions/{action}")).await?;
    for step in ["request_created", "card_shown", "confirmed"] {
        assert!(shown.html.contains(step), "{step}");
    }
    assert!(
        !shown.html.contains("Send 20 to Bob"),
        "no words without a reason"
    );
    let leaf = shown.html.split("class=\"code leaf\">").nth(1);
    let leaf = leaf.and_then(|rest| rest.get(..64)).context("a leaf")?;
    let found = grace.opens(&format!("/find?q={leaf}")).await?;
    assert_eq!(found.location, format!("/actions/{action}"), "by its leaf");
    let overview = grace.opens("/").await?;
    assert!(overview.html.contains(action) && overview.html.contains("transfer"));
    // From a number to the requests behind it, on the page and as a file.
    for (wanted, here) in [
        ("event=confirmed&hours=24", true),
        ("event=refused&hours=24", false),
        ("kind=transfer&state=confirmed", true),
        ("reason=limits", false),
    ] {
        let list = grace.opens(&format!("/?{wanted}")).await?;
        assert_eq!(
            list.html.contains(&format!("/actions/{action}")),
            here,
            "{wanted}"
        );
        let file = grace.opens(&format!("/requests.csv?{wanted}")).await?;
        assert!(
            file.html.starts_with("\"request\",\"kind\""),
            "{}",
            file.html
        );
        assert_eq!(file.html.contains(action), here, "{wanted}");
    }
    for span in ["day", "week", "month"] {
        let history = grace.opens(&format!("/history?span={span}")).await?;
        assert!(
            history.html.contains("<svg") && history.html.contains("Requests made"),
            "{span}"
        );
        let file = grace.opens(&format!("/history.csv?span={span}")).await?;
        assert!(file.html.contains("\"confirmed\""), "{}", file.html);
    }
    assert_eq!(grace.opens("/history?span=year").await?.status, 400);
    let door = grace.opens("/door").await?;
    assert!(door.html.contains("never here"), "{}", door.html);
    assert!(!overview.html.contains("Bob"));
    Ok(())
}

#[tokio::test]
async fn words_are_shown_for_a_reason_that_is_on_record_first() -> anyhow::Result<()> {
    let bank = Bank::start().await?;
    let ada = bank.sign_in("Ada").await?;
    ada.asks("What is my <b>balance</b>?").await?;
    ada.asks("Send 20 to Bob").await?;
    let card = ada.open_card().await?;
    let path = format!(
        "/actions/{}/explain",
        card["action"].as_str().context("an id")?
    );
    let grace = operator(&bank).await?;
    for bad in ["", "because", &"x".repeat(301)] {
        assert_eq!(grace.submits(&path, &[("reason", bad)]).await?.status, 422);
    }
    assert!(grace.opens("/reads").await?.html.contains("Nobody has."));
    let shown = grace.submits(&path, &[("reason", REASON)]).await?;
    assert_eq!(shown.status, 200);
    assert!(
        shown.html.contains(r#"<mark class="amount">20</mark>"#),
        "{}",
        shown.html
    );
    assert!(shown.html.contains(r#"<mark class="payee">Bob</mark>"#));
    assert!(
        !shown.html.contains("<b>balance</b>"),
        "a customer's words are text"
    );
    let reads = grace.opens("/reads").await?;
    assert!(reads.html.contains("Complaint 4711") && reads.html.contains("grace"));
    Ok(())
}

#[tokio::test]
async fn nobody_reads_without_a_session_and_a_token_works_once() -> anyhow::Result<()> {
    let bank = Bank::start().await?;
    let mut grace = bank.operator()?;
    for path in [
        "/",
        "/explain",
        "/reads",
        "/find?q=x",
        "/history",
        "/door",
        "/alarms",
        "/requests.csv",
        "/alarms.csv",
        "/history.csv",
    ] {
        assert_eq!(grace.opens(path).await?.status, 401, "{path}");
    }
    let form = [
        ("messages", "Send 20 to Bob"),
        ("payees", "Bob"),
        ("locale", "en"),
        ("currency", "EUR"),
    ];
    assert_eq!(grace.submits("/explain", &form).await?.status, 401);
    assert!(!grace.signs_in(&"0".repeat(64)).await?);
    let customers = bank.login_token("Ada").await?;
    assert!(
        !grace.signs_in(customers.expose()).await?,
        "a customer is no operator"
    );
    let token = bank.operator_token("grace").await?;
    assert!(grace.signs_in(token.expose()).await?);
    assert!(
        !bank.operator()?.signs_in(token.expose()).await?,
        "used before"
    );
    let explained = grace.submits("/explain", &form).await?;
    assert!(explained.html.contains(r#"<mark class="amount">20</mark>"#));
    assert_eq!(grace.submits("/logout", &[]).await?.status, 303);
    assert_eq!(grace.opens("/").await?.status, 401, "the session has ended");
    Ok(())
}

/// The dashboard's own login, in an attacker's hands with a live operator's secret.
#[tokio::test]
async fn a_read_cannot_be_taken_back_by_the_transaction_that_read() -> anyhow::Result<()> {
    let bank = Bank::start().await?;
    bank.sign_in("Ada").await?.asks("Send 20 to Bob").await?;
    let token = bank.operator_token("mallory").await?;
    let mut login = bank.database().login("dashboard").await?;
    let secret = "5".repeat(64);
    let opened: Option<String> = sqlx::query_scalar(
        "SELECT bank.open_operator_session($1, sha256(convert_to($2, 'UTF8')), 600)",
    )
    .bind(token.expose())
    .bind(&secret)
    .fetch_one(&mut login)
    .await?;
    assert_eq!(opened.as_deref(), Some("mallory"));
    let row = bank
        .database()
        .admin()
        .await?
        .fetch_one("SELECT customer_id::text AS customer, conversation_id::text AS conversation FROM bank.utterance LIMIT 1")
        .await?;
    let (customer, conversation): (String, String) = (row.get("customer"), row.get("conversation"));
    let record = format!("bank.record_text_access('{customer}', '{conversation}', '{REASON}')");

    for savepoint in [false, true] {
        let mut transaction = login.begin().await?;
        sqlx::query("SELECT set_config('countersign.session', $1, true)")
            .bind(&secret)
            .execute(&mut *transaction)
            .await?;
        if savepoint {
            transaction.execute("SAVEPOINT s").await?;
        }
        let text: Option<serde_json::Value> = sqlx::query_scalar(sqlx::AssertSqlSafe(format!(
            "SELECT bank.read_text(a) FROM (SELECT {record} AS a OFFSET 0) AS recorded"
        )))
        .fetch_one(&mut *transaction)
        .await?;
        assert_eq!(
            text, None,
            "what this transaction recorded it cannot read by"
        );
        transaction.rollback().await?;
    }
    for forbidden in [
        "SELECT body FROM bank.utterance",
        "SELECT payload FROM bank.bank_event",
        "SELECT record FROM bank.execution",
        "SELECT note FROM bank.execution",
        "SELECT display_name FROM bank.customer",
        "SELECT typed FROM bank.pending_version",
        "INSERT INTO bank.text_access (access_id) VALUES (gen_random_uuid())",
        "UPDATE bank.pending_action SET state = 'confirmed'",
        "SELECT bank.current_customer()",
    ] {
        assert!(login.execute(forbidden).await.is_err(), "{forbidden}");
    }
    let seen: i64 = sqlx::query_scalar("SELECT count(*) FROM bank.pending_action")
        .fetch_one(&mut login)
        .await?;
    assert_eq!(seen, 0, "without a session nothing is seen");
    Ok(())
}
