//! The server-drawn pages: whose rows they show, and that a name stays letters.

use crate::bank::{Bank, problem};

#[tokio::test]
async fn each_customer_sees_their_own() {
    let bank = Bank::start().await;
    let (ada, kabir) = (bank.sign_in("Ada").await, bank.sign_in("Kabir").await);
    let (accounts, other) = (ada.page("/accounts").await, kabir.page("/accounts").await);
    assert!(
        accounts.contains("1,240.50 EUR")
            && accounts.contains("48,000 JPY")
            && accounts.contains("95.250 KWD")
    );
    assert!(!other.contains("1,240.50 EUR"));
    let of_ada: String = sqlx::query_scalar(
        "SELECT 'acc_' || replace(account_id::text, '-', '') FROM bank.account a JOIN bank.customer c USING (customer_id)
          WHERE display_name = 'Ada' AND is_default",
    )
    .fetch_one(&mut bank.admin().await)
    .await
    .unwrap();
    assert_eq!(
        ada.get(&format!("/activity?account={of_ada}"))
            .await
            .status(),
        200
    );
    assert_eq!(
        kabir
            .get(&format!("/activity?account={of_ada}"))
            .await
            .status(),
        404
    );
    assert!(ada.page("/limits").await.contains("Left today"));
}

#[tokio::test]
async fn a_name_that_looks_like_markup_is_letters() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    sqlx::query(
        "INSERT INTO bank.transfer (customer_id, transfer_id, account_id, kind, state, amount_minor_units, currency, counterparty_name, reference, posted_at)
         SELECT a.customer_id, gen_random_uuid(), a.account_id, 'card_payment', 'posted', 100, 'EUR',
                '<img src=x onerror=alert(1)>\"''&', E'</li><script>x</script>\\u202E', bank.bank_clock()
           FROM bank.account a JOIN bank.customer c USING (customer_id) WHERE display_name = 'Ada' AND is_default",
    )
    .execute(&mut bank.admin().await)
    .await
    .unwrap();
    let page = ada.page("/activity").await;
    assert!(
        !page.contains("<img") && !page.contains("<script>x"),
        "{page}"
    );
    assert!(!page.contains('\u{202e}'));
    assert!(page.contains("turns the writing around"));
}

#[tokio::test]
async fn activity_goes_on_page_by_page_and_ends() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    let mut path = "/activity".to_owned();
    let mut pages = 0;
    let mut rows = 0;
    loop {
        let page = ada.page(&path).await;
        rows += page.matches("<li>").count();
        pages += 1;
        match page.split("href=\"").find(|part| part.contains(">Older<")) {
            Some(older) => {
                path = older
                    .split('"')
                    .next()
                    .unwrap()
                    .replace("&#38;", "&")
                    .replace("&amp;", "&")
            }
            None => break,
        }
        assert!(pages < 200, "it ends");
    }
    let all: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM bank.transfer t JOIN bank.customer c USING (customer_id)
          WHERE display_name = 'Ada' AND kind <> 'opening'",
    )
    .fetch_one(&mut bank.admin().await)
    .await
    .unwrap();
    assert_eq!(i64::try_from(rows).unwrap(), all);
    assert!(pages > 1);
}

#[tokio::test]
async fn a_statement_holds_what_the_filter_says_and_runs_nothing() {
    let bank = Bank::start().await;
    let (ada, kabir) = (bank.sign_in("Ada").await, bank.sign_in("Kabir").await);
    bank.plant(
        "INSERT INTO bank.transfer (customer_id, transfer_id, account_id, kind, state, amount_minor_units, currency, counterparty_name, reference, posted_at)
         SELECT a.customer_id, gen_random_uuid(), a.account_id, 'payment_in', 'posted', 12345, 'EUR', '=1+1, \"x\"', 'Für Öl', bank.bank_clock()
           FROM bank.account a JOIN bank.customer c USING (customer_id) WHERE display_name = 'Ada' AND is_default",
    )
    .await;
    let file = ada.get("/activity.csv?way=in&text=%C3%96L").await;
    assert_eq!(
        file.headers()["content-disposition"],
        "attachment; filename=\"statement.csv\""
    );
    let text = file.text().await.unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(
        lines[1].contains(r#""'=1+1, ""x""""#) && lines[1].contains("123.45,EUR,done"),
        "{text}"
    );
    let all = ada.get("/activity.csv").await.text().await.unwrap();
    assert!(
        all.lines().count() > 100 && all.contains(",-"),
        "in and out"
    );
    assert!(
        !kabir
            .get("/activity.csv")
            .await
            .text()
            .await
            .unwrap()
            .contains("=1+1")
    );
    assert!(
        ada.get("/activity.csv?from=2000-01-01&to=2000-01-02")
            .await
            .text()
            .await
            .unwrap()
            .lines()
            .count()
            == 1
    );
    let page = ada.page("/activity?way=in&text=%C3%96L").await;
    assert_eq!(
        page.matches("<li>").count(),
        1,
        "the page has the same filter"
    );
    assert!(page.contains("/activity.csv?way=in"), "{page}");
    for wrong in ["way=up", "from=yesterday", "account=x", "text=%00"] {
        for place in ["/activity", "/activity.csv"] {
            assert_eq!(
                ada.get(&format!("{place}?{wrong}")).await.status(),
                404,
                "{place} {wrong}"
            );
        }
    }
}

#[tokio::test]
async fn what_is_not_there_is_not_there() {
    let bank = Bank::start().await;
    let ada = bank.sign_in("Ada").await;
    for path in [
        "/receipts/act_1",
        "/receipts/x",
        &format!("/receipts/act_{}", "0".repeat(32)),
        "/activity?account=acc_1",
        "/activity?account=acc_1&account=acc_2",
        &format!("/activity?after=trf_{}", "0".repeat(32)),
        "/activity?page=2",
    ] {
        assert_eq!(ada.get(path).await.status(), 404, "{path}");
    }
    for path in [
        "/nowhere",
        "/receipts/act_1.json",
        "/assets/0/panel/main.js",
        "/api/actions",
    ] {
        assert_eq!(problem(ada.get(path).await).await.0, 404, "{path}");
    }
    assert_eq!(problem(ada.get("/login").await).await.0, 405);
    assert_eq!(
        bank.get("/health")
            .send()
            .await
            .unwrap()
            .text()
            .await
            .unwrap(),
        "{\"status\":\"ok\"}"
    );
}
