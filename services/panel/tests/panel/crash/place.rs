//! A bank whose server may be crashed, and a round in it.

use std::path::PathBuf;
use std::time::Duration;

use countersign_testkit::Database;
use countersign_testkit::postgres::{Cluster, Durability};
use countersign_testkit::server::{TestServer, start_cluster};
use reqwest::StatusCode;
use serde_json::json;
use sqlx::{Connection, PgConnection};

use super::Stop;
use crate::bank::{Asked, Bank, Visitor};

/// What is ended.
#[derive(Clone, Copy, Debug)]
pub enum Victim {
    /// The panel's process, by SIGKILL.
    Panel,
    /// PostgreSQL: SIGKILL of a server process, after which all of it starts again from its log.
    Server,
    /// The panel's database connection alone.
    Connection,
}

impl Victim {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Panel, Self::Server, Self::Connection];
}

/// The bank.
pub struct Place {
    cluster: Cluster,
    folder: PathBuf,
    pub bank: Bank,
}

impl Place {
    /// Starts a server that keeps what it commits, and a panel over it.
    pub async fn open() -> Self {
        let (cluster, folder) = start_cluster(&std::env::temp_dir(), Durability::Kept)
            .await
            .expect("a server");
        let server = Box::leak(Box::new(TestServer::at(cluster.location().clone())));
        let database = Database::demo_on(server).await.expect("a database");
        let bank = Bank::over(database, |_, _| ()).await;
        Stop::prepare(&bank).await;
        bank.moves_limits_away().await;
        Self {
            cluster,
            folder,
            bank,
        }
    }

    /// One press that is ended at a step. Says whether it had been acknowledged.
    pub async fn round(&self, stop: Stop, victim: Victim, seed: u64) -> bool {
        let what = format!("{victim:?} at {stop:?}, seed {seed}");
        let bank = &self.bank;
        let ada = bank.sign_in("Ada").await;
        let (before, executed_before) = (ada.balance().await, bank.executions().await);
        // The amount and the moment of the end differ by seed.
        let euros = 1 + i64::try_from((seed * 7 + 3) % 20).expect("small");
        ada.writes(&format!("Send {euros} to Bob")).await;
        let asked = ada.is_asked(Some("Bob Smith"), Some(euros * 100)).await;
        let card = ada.card(&asked).await;
        assert!(card["confirm_hash"].is_string(), "{what}: {card}");
        let gate = stop.close(bank).await;
        let request = bank
            .post(
                &format!("/api/actions/{}/confirm", asked.text()),
                &json!({"version": 1, "confirm_hash": card["confirm_hash"], "nonce": card["nonce"], "note": ""}),
            )
            .header("cookie", &ada.cookie);
        let press = tokio::spawn(request.send());
        assert!(
            gate.is_reached(bank).await,
            "{what}: the step was not reached"
        );
        tokio::time::sleep(Duration::from_millis((seed * 37) % 90)).await;
        self.ends(victim).await;
        self.is_back(victim).await;
        gate.opens(bank).await;
        // Whoever presses may have no answer, a busy one, or one: the panel itself may have tried again.
        let answer = press.await.expect("no panic").ok();
        let status = answer.map(|answer| answer.status());
        settled(bank).await;

        let executed = bank.executions().await - executed_before;
        assert!(executed <= 1, "{what}: {executed} executions");
        // What was committed stays; everything else is there exactly when somebody was told so.
        let wanted = stop == Stop::AfterCommit || status == Some(StatusCode::OK);
        assert_eq!(executed, i64::from(wanted), "{what}: answered {status:?}");
        assert_eq!(
            ada.balance().await,
            before - executed * euros * 100,
            "{what}"
        );
        let shown = ada.card(&asked).await;
        assert_eq!(
            shown["state"],
            if executed == 1 {
                "confirmed"
            } else {
                "pending"
            },
            "{what}: {shown}"
        );

        // The same press again, twice: one truth by action id.
        for _ in 0..2 {
            let again = ada.step("confirm", &card, "").await;
            assert_eq!(
                again.status(),
                StatusCode::OK,
                "{what}: {}",
                again.text().await.unwrap_or_default()
            );
        }
        assert_eq!(bank.executions().await - executed_before, 1, "{what}");
        assert_eq!(ada.balance().await, before - euros * 100, "{what}");
        books_are_right(bank, &ada, &asked, &what).await;
        status == Some(StatusCode::OK)
    }

    async fn ends(&self, victim: Victim) {
        let bank = &self.bank;
        match victim {
            Victim::Panel => bank.crashes(),
            Victim::Server => {
                // Kept open until it is killed: a session that ended by itself crashes nothing.
                let mut admin = bank.admin().await;
                let pid: i32 = sqlx::query_scalar("SELECT pg_backend_pid()")
                    .fetch_one(&mut admin)
                    .await
                    .expect("a process");
                let killed = std::process::Command::new("kill")
                    .args(["-KILL", &pid.to_string()])
                    .status()
                    .expect("kill");
                assert!(killed.success(), "no server process was killed");
            }
            Victim::Connection => {
                let waiting = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'panel'
                     AND datname = current_database() AND (wait_event_type = 'Lock' OR wait_event = 'SyncRep')";
                bank.count(waiting).await;
            }
        }
    }

    /// Waits until what was ended is there again.
    async fn is_back(&self, victim: Victim) {
        match victim {
            Victim::Panel => self.bank.comes_back(),
            Victim::Server => {
                // The crash is not the moment of the signal: first it goes, then it comes.
                tokio::time::sleep(Duration::from_millis(300)).await;
                for _ in 0..600 {
                    let options = self.cluster.location().as_admin(self.bank.database.name());
                    if PgConnection::connect_with(&options).await.is_ok() {
                        return;
                    }
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                panic!("the server did not come back");
            }
            Victim::Connection => {}
        }
    }

    /// Ends it all.
    pub async fn closes(self) {
        let Self {
            mut cluster,
            folder,
            bank,
        } = self;
        drop(bank);
        cluster.stop();
        std::fs::remove_dir_all(folder).expect("clean up");
    }
}

/// Waits until no session of the panel is in a transaction any more.
async fn settled(bank: &Bank) {
    let busy = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'panel' AND datname = current_database() AND (state LIKE 'idle in%'
        OR state = 'active')";
    bank.waits_for(busy, 0).await;
}

/// Entries sum to zero, balances are the sums of their entries, and every confirmed transfer has one record, one event, one line.
pub async fn books_are_right(bank: &Bank, ada: &Visitor<'_>, asked: &Asked, what: &str) {
    let wrong = bank
        .count(
            "SELECT (SELECT count(*) FROM (SELECT 1 FROM bank.entry GROUP BY customer_id, transfer_id, currency HAVING sum(amount_minor_units) <> 0) x)
                + (SELECT count(*) FROM bank.account_balance b WHERE b.balance_minor_units IS DISTINCT FROM (SELECT coalesce(sum(e.amount_minor_units), 0)
                    FROM bank.entry e WHERE e.customer_id = b.customer_id AND e.account_id = b.account_id))
                + (SELECT count(*) FROM bank.execution e WHERE 1 <> (SELECT count(*) FROM bank.transfer t WHERE t.customer_id = e.customer_id AND t.action_id = e.action_id)
                    OR 1 <> (SELECT count(*) FROM bank.bank_event v WHERE v.customer_id = e.customer_id AND v.action_id = e.action_id AND v.kind = 'confirmed'))
                + (SELECT count(*) FROM bank.transfer t WHERE t.action_id IS NOT NULL AND t.kind = 'payment_out'
                    AND NOT EXISTS (SELECT FROM bank.execution e WHERE e.action_id = t.action_id))",
        )
        .await;
    assert_eq!(wrong, 0, "{what}: the books are wrong");
    let page = ada.get(&format!("/receipts/{}", asked.text())).await;
    assert_eq!(page.status(), StatusCode::OK, "{what}: the receipt");
}

/// Closes a connection of the test's own.
pub async fn close(connection: PgConnection) {
    let _ = connection.close().await;
}
