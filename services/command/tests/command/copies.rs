//! The bank copied as the role that only reads, put back, and what is noticed when a copy or a bank was changed.

use anyhow::Context as _;
use countersign_journal::keys::KeyRing;
use countersign_receipts::{Checkpoint, Compact, leaf_hash};
use countersign_testkit::database::Database;
use countersign_testkit::installed::{BACKUP_ROLE, set_password};
use countersign_testkit::postgres;
use sha2::{Digest as _, Sha256};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _};

use crate::place::Place;

/// A bank with three events of one customer in its log, under a signed head.
struct Bank {
    place: Place,
    database: Database,
    programs: String,
}

impl Bank {
    async fn new() -> anyhow::Result<Self> {
        let place = Place::with_keys();
        let database = Database::demo().await?;
        let mut admin = database.admin().await?;
        set_password(
            &mut admin,
            BACKUP_ROLE,
            &database.server().password(BACKUP_ROLE),
        )
        .await?;
        let signer = KeyRing::open(&place.0.join("keys/checkpoint"), false)?.signer;
        let (mut tree, mut chain) = (Compact::new(), [0; 32]);
        let customer: String = sqlx::query_scalar(
            "SELECT customer_id::text FROM bank.customer ORDER BY created_at LIMIT 1",
        )
        .fetch_one(&mut admin)
        .await?;
        for sequence in 1..=3_i64 {
            let payload = format!("{{\"event\":\"card_shown\",\"sequence\":{sequence}}}");
            let leaf = leaf_hash(payload.as_bytes());
            let mut next = Sha256::new_with_prefix(chain);
            next.update(leaf.as_bytes());
            chain = next.finalize().into();
            tree.push(leaf);
            sqlx::query(
                "INSERT INTO bank.bank_event (customer_id, sequence, kind, payload, leaf_hash, chain_hash, leaf_index)
                 VALUES ($1::text::uuid, $2, 'card_shown', $3, $4, $5, $2 - 1)",
            )
            .bind(&customer)
            .bind(sequence)
            .bind(payload.as_bytes())
            .bind(&leaf.as_bytes()[..])
            .bind(&chain[..])
            .execute(&mut admin)
            .await
            .context("plant an event")?;
        }
        sqlx::query("UPDATE bank.event_head SET sequence = 3, chain_hash = $2 WHERE customer_id = $1::text::uuid")
            .bind(&customer)
            .bind(&chain[..])
            .execute(&mut admin)
            .await?;
        let head = Checkpoint {
            origin: signer.origin().to_owned(),
            size: 3,
            root: tree.root(),
        };
        let head = head.sign(&signer)?;
        sqlx::query(
            "INSERT INTO bank.log_checkpoint (tree_size, root_hash, note) VALUES (3, $1, $2)",
        )
        .bind(&tree.root().as_bytes()[..])
        .bind(&head.note)
        .execute(&mut admin)
        .await?;
        let bank = Self {
            programs: postgres::find()?.folder.to_string_lossy().into_owned(),
            place,
            database,
        };
        bank.name("backup.url", &bank.database.url(BACKUP_ROLE));
        bank.name("panel.url", &bank.database.url("panel"));
        Ok(bank)
    }

    fn name(&self, file: &str, address: &str) {
        std::fs::write(self.place.0.join(file), address).expect("written");
    }

    /// Arguments of a command for the database that a file names.
    fn words(&self, command: &str, file: &str, more: &[&str]) -> Vec<String> {
        let key = self.place.path("keys/checkpoint/keys.json");
        let (file, programs) = (self.place.path(file), self.programs.clone());
        let own = [
            command,
            "--database-file",
            &file,
            "--programs",
            &programs,
            "--key",
            &key,
        ];
        own.iter()
            .chain(more)
            .map(|word| (*word).to_owned())
            .collect()
    }

    fn must(&self, command: &str, file: &str, more: &[&str]) -> String {
        let words = self.words(command, file, more);
        self.place
            .must(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn refuses(&self, command: &str, file: &str, more: &[&str], why: &str) {
        let words = self.words(command, file, more);
        self.place
            .refuses(&words.iter().map(String::as_str).collect::<Vec<_>>(), why);
    }

    /// Does what no login of the bank can.
    async fn as_thief(&self, statement: &str) -> anyhow::Result<()> {
        let mut admin = self.database.admin().await?;
        admin
            .execute("SET session_replication_role = replica")
            .await?;
        admin.execute(AssertSqlSafe(statement.to_owned())).await?;
        admin.close().await?;
        Ok(())
    }
}

#[tokio::test]
async fn a_copy_is_taken_by_a_role_that_only_reads_and_comes_back_whole() -> anyhow::Result<()> {
    let bank = Bank::new().await?;
    let checked = bank.must("check", "backup.url", &[]);
    assert!(
        checked.contains("3 events") && checked.contains("over 3 leaves"),
        "{checked}"
    );
    // A role that sees its own rows alone must not count nothing and call it good.
    bank.refuses("check", "panel.url", &[], "error");

    let out = bank.place.path("copy");
    bank.must("backup", "backup.url", &["--out", &out]);
    bank.refuses("backup", "backup.url", &["--out", &out], "make the folder");
    let names = std::fs::read_dir(&out)?
        .map(|entry| Ok(entry?.file_name().into_string().unwrap_or_default()));
    let mut names = names.collect::<std::io::Result<Vec<_>>>()?;
    names.sort();
    assert_eq!(
        names,
        ["bank.dump", "manifest.json"],
        "and no password is left"
    );

    let mut copier = bank.database.login(BACKUP_ROLE).await?;
    copier
        .execute("SET default_transaction_read_only = off")
        .await?;
    for statement in [
        "UPDATE bank.setting SET session_idle_seconds = 1",
        "DELETE FROM bank.bank_event",
        "INSERT INTO bank.log_checkpoint (tree_size, root_hash, note) VALUES (9, '', '')",
        "SELECT bank.lock_customer()",
        "CREATE TABLE bank.mine (a int)",
    ] {
        let refused = copier.execute(statement).await.expect_err(statement);
        assert!(
            refused.to_string().contains("permission denied"),
            "{statement}: {refused}"
        );
    }

    let name = format!("{}_back", bank.database.name());
    let server = bank.database.server();
    let mut admin = bank.database.admin().await?;
    admin
        .execute(AssertSqlSafe(format!("CREATE DATABASE {name}")))
        .await?;
    let location = server.location();
    bank.name(
        "new.url",
        &location.url(postgres::ADMIN, location.superuser_password(), &name),
    );
    let restored = bank.must("restore", "new.url", &["--from", &out]);
    assert!(
        restored.contains("3 events") && restored.contains("remembers more than 3 leaves"),
        "{restored}"
    );
    bank.refuses("restore", "new.url", &["--from", &out], "give an empty one");
    // Row-level security, triggers and grants came back, too.
    let mut back = server.admin(&name).await?;
    for (statement, found) in [
        (
            "SELECT count(*) FROM pg_class WHERE relnamespace = 'bank'::regnamespace AND relforcerowsecurity",
            0,
        ),
        ("SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal", 0),
        (
            "SELECT count(*) FROM pg_policies WHERE schemaname = 'bank'",
            0,
        ),
        ("SELECT count(*) FROM bank.utterance", -1),
    ] {
        let here: i64 = sqlx::query_scalar(statement).fetch_one(&mut admin).await?;
        let there: i64 = sqlx::query_scalar(statement).fetch_one(&mut back).await?;
        assert!(
            here == there && here > found,
            "{statement}: {here} and {there}"
        );
    }
    back.close().await?;
    admin
        .execute(AssertSqlSafe(format!("DROP DATABASE {name}")))
        .await?;

    let dump = bank.place.0.join("copy/bank.dump");
    let mut bytes = std::fs::read(&dump)?;
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&dump, bytes)?;
    bank.refuses("restore", "new.url", &["--from", &out], "its bytes changed");
    std::fs::remove_file(bank.place.0.join("copy/manifest.json"))?;
    bank.refuses("restore", "new.url", &["--from", &out], "no whole copy");
    Ok(())
}

#[tokio::test]
async fn a_bank_that_was_changed_behind_its_own_back_is_not_copied() -> anyhow::Result<()> {
    for (statement, words) in [
        ("UPDATE bank.entry SET amount_minor_units = amount_minor_units + 1 WHERE ctid = (SELECT ctid FROM bank.entry LIMIT 1)",
         "do not sum to zero"),
        ("DELETE FROM bank.bank_event WHERE sequence = 3", "does not end at its head"),
        ("DELETE FROM bank.bank_event WHERE sequence = 2", "event 2 of a customer's chain is missing"),
        ("UPDATE bank.bank_event SET payload = '{}' WHERE sequence = 2", "other bytes than its leaf"),
        ("DELETE FROM bank.bank_event WHERE sequence = 3; UPDATE bank.event_head h SET sequence = 2, chain_hash =
            (SELECT e.chain_hash FROM bank.bank_event e WHERE e.sequence = 2) WHERE h.sequence = 3",
         "holds 2 leaves, and its head was signed for 3"),
        ("UPDATE bank.log_checkpoint SET tree_size = 2", "another thing than its signed note"),
        ("DELETE FROM bank.log_checkpoint", "leaves and no signed head"),
    ] {
        let bank = Bank::new().await?;
        bank.as_thief(statement).await?;
        let out = bank.place.path("copy");
        bank.refuses("backup", "backup.url", &["--out", &out], words);
        assert!(!std::path::Path::new(&out).exists(), "{statement}");
    }
    // And under keys that are not the bank's.
    let (bank, other) = (Bank::new().await?, Place::with_keys());
    let words = bank.words("check", "backup.url", &[]);
    let other_key = other.path("keys/checkpoint/keys.json");
    let own_key = bank.place.path("keys/checkpoint/keys.json");
    let words: Vec<&str> = words
        .iter()
        .map(|word| {
            if *word == own_key {
                other_key.as_str()
            } else {
                word
            }
        })
        .collect();
    bank.place.refuses(&words, "not signed by a key");
    Ok(())
}
