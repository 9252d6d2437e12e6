//! The panel in the customer's language: every word of a card, and so of its record.

use reqwest::StatusCode;
use serde_json::Value;

use crate::bank::{Bank, Visitor, problem};

async fn chooses(visitor: &Visitor<'_>, language: &str) -> StatusCode {
    visitor
        .bank
        .http
        .post(format!("{}/language", visitor.bank.origin))
        .header("origin", &visitor.bank.origin)
        .header("sec-fetch-site", "same-origin")
        .header("cookie", &visitor.cookie)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(format!("language={language}"))
        .send()
        .await
        .expect("answer")
        .status()
}

#[tokio::test]
async fn a_card_and_its_record_speak_the_customer_s_language() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    ada.writes("Send 1200 to Bob").await;
    let asked = ada.is_asked(Some("Bob Smith"), Some(120_000)).await;
    let english = ada.card(&asked).await;
    assert_eq!(chooses(&ada, "de").await, StatusCode::SEE_OTHER);

    // What was displayed in English is not what a press on it would now confirm.
    let (status, code, body) = problem(ada.step("confirm", &english, "").await).await;
    assert_eq!((status, code.as_str()), (409, "stale_card"));
    let card = &body["card"];
    assert_eq!(card["button"], "1.200,00 EUR an Bob Smith senden");
    assert_eq!(card["title"], "1.200,00 EUR senden");
    assert_eq!(card["names"], serde_json::json!(["Bob Smith"]));
    assert_ne!(card["confirm_hash"], english["confirm_hash"]);
    // The customer's own words stay theirs.
    let mut said = card.clone();
    said["you_wrote"] = Value::Null;
    let said = said.to_string();
    for word in ["Send", "Amount", "From", "saved", "passkey:", "more than"] {
        assert!(!said.contains(word), "{word} in {said}");
    }

    let answer = ada.presses(card, "").await;
    assert_eq!(answer.status(), StatusCode::OK);
    let confirmed: Value = answer.json().await.unwrap();
    assert!(
        confirmed["message"]
            .as_str()
            .unwrap()
            .contains("1.200,00 EUR")
    );
    let record: Vec<u8> = sqlx::query_scalar("SELECT record FROM bank.execution")
        .fetch_one(&mut bank.admin().await)
        .await
        .unwrap();
    let record: Value = serde_json::from_slice(&record).unwrap();
    assert_eq!(record["locale"], "de");
    let labels: Vec<&str> = record["display"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|row| row["label"].as_str())
        .collect();
    assert!(
        labels.contains(&"Betrag") && !labels.contains(&"Amount"),
        "{labels:?}"
    );
    // For programs an amount is the same in every language.
    assert_eq!(record["lines"][0]["amount"], "1200.00");
}

#[tokio::test]
async fn a_page_names_its_language_and_direction_and_its_script_s_sentences() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let page = ada.page("/").await;
    assert!(page.contains(r#"<html lang="en" dir="ltr">"#) && !page.contains(r#"id="sentences""#));
    assert_eq!(chooses(&ada, "ar").await, StatusCode::SEE_OTHER);
    for path in [
        "/",
        "/accounts",
        "/activity",
        "/receipts",
        "/limits",
        "/passkeys",
    ] {
        let page = ada.page(path).await;
        assert!(page.contains(r#"<html lang="ar" dir="rtl">"#), "{path}");
        let data = page
            .split(r#"id="sentences">"#)
            .nth(1)
            .unwrap()
            .split("</script>")
            .next()
            .unwrap();
        let sentences: Value = serde_json::from_str(data).unwrap();
        assert_eq!(sentences["sentences"]["Cancel"], "إلغاء");
    }
    // The choice is the customer's and stays; nobody else's changes.
    let again = bank.sign_in("Ada").await;
    assert!(again.page("/limits").await.contains(r#"lang="ar""#));
    let kabir = bank.sign_in("Kabir").await;
    assert!(kabir.page("/limits").await.contains(r#"<html lang="en""#));
    for bad in ["xx", "EN", "", "de%27"] {
        assert_eq!(
            chooses(&ada, bad).await,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{bad}"
        );
    }
}
