//! What one append costs, beside the bare parts of it: `cargo run --release -p countersign-journal
//! --example append [DIRECTORY]`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use countersign_domain::Secret;
use countersign_journal::{Journal, Mode, Options};
use countersign_receipts::{
    CanonicalWriter, Compact, LogEntry, LogKeyFile, LogSigner, canonical, leaf_hash,
};
use ed25519_dalek::Signer as _;
use ed25519_dalek::pkcs8::EncodePrivateKey as _;
use serde::Serialize;

/// A line like the ones a door writes: about a kilobyte, half of it hashes.
#[derive(Serialize)]
struct Line {
    v: u32,
    at: &'static str,
    event: &'static str,
    call: String,
    customer: &'static str,
    conversation: &'static str,
    turn: &'static str,
    server: &'static str,
    method: &'static str,
    tool: &'static str,
    definition: String,
    policy: Policy,
    rule: &'static str,
    reason: &'static str,
    arguments: Arguments,
    received: String,
    forwarded: String,
}

#[derive(Serialize)]
struct Policy {
    id: &'static str,
    sha256: String,
}

#[derive(Serialize)]
struct Arguments {
    names: [&'static str; 3],
    unnamed: usize,
    commitment: String,
}

fn line() -> Line {
    let hash = || leaf_hash(b"a hash").to_string();
    Line {
        v: 1,
        at: "2026-11-30T08:00:00.000Z",
        event: "allowed",
        call: hash()[..32].to_owned(),
        customer: "cus_0198f2a0c0de70008000000000000001",
        conversation: "cnv_0198f2a0c0de70008000000000000002",
        turn: "trn_0198f2a0c0de70008000000000000003",
        server: "bank",
        method: "tools/call",
        tool: "list_transactions",
        definition: hash(),
        policy: Policy {
            id: "bank",
            sha256: hash(),
        },
        rule: "tools.list_transactions",
        reason: "allowed",
        arguments: Arguments {
            names: ["account", "from", "to"],
            unnamed: 0,
            commitment: hash(),
        },
        received: hash(),
        forwarded: hash(),
    }
}

/// Median and 99th percentile of what it costs, in microseconds.
fn measure(
    name: &str,
    times: usize,
    mut act: impl FnMut() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    for _ in 0..times / 10 {
        act()?;
    }
    let mut took: Vec<Duration> = Vec::with_capacity(times);
    for _ in 0..times {
        let begun = Instant::now();
        act()?;
        took.push(begun.elapsed());
    }
    took.sort_unstable();
    let at = |share: usize| took[(took.len() - 1) * share / 100].as_nanos();
    let show =
        |nanoseconds: u128| format!("{}.{:02}", nanoseconds / 1_000, nanoseconds % 1_000 / 10);
    println!(
        "{name:<44} p50 {:>8} µs   p99 {:>8} µs",
        show(at(50)),
        show(at(99))
    );
    Ok(())
}

fn main() -> anyhow::Result<()> {
    let directory = std::env::args_os().nth(1).map_or_else(
        || std::env::temp_dir().join(format!("append-{}", std::process::id())),
        PathBuf::from,
    );
    let key = ed25519_dalek::SigningKey::from_bytes(&[7; 32]);
    let pem = key.to_pkcs8_pem(Default::default())?;
    let file = LogKeyFile {
        key_id: "bench".into(),
        pkcs8_pem: Secret::new(pem.as_str()),
    };
    let line = line();
    let bytes = canonical(&line)?;
    println!(
        "a line of {} bytes, in {}",
        bytes.len(),
        directory.display()
    );
    let mut writer = CanonicalWriter::new();
    measure("write it canonically", 100_000, || {
        std::hint::black_box(writer.write(&line)?);
        Ok(())
    })?;
    measure("write it as an entry of a chain", 100_000, || {
        let entry = LogEntry {
            event: &line,
            previous: Some(leaf_hash(b"")),
            sequence: 7,
        };
        std::hint::black_box(writer.write(&entry)?);
        Ok(())
    })?;
    measure("the same with the general library", 20_000, || {
        std::hint::black_box(serde_json_canonicalizer::to_vec(&line)?);
        Ok(())
    })?;
    measure("hash it", 100_000, || {
        std::hint::black_box(leaf_hash(&bytes));
        Ok(())
    })?;
    let mut tree = Compact::new();
    let leaf = leaf_hash(&bytes);
    measure("put it into the tree", 100_000, || {
        tree.push(leaf);
        Ok(())
    })?;
    measure("one Ed25519 signature", 5_000, || {
        std::hint::black_box(key.sign(leaf.as_bytes()));
        Ok(())
    })?;
    std::fs::create_dir_all(&directory)?;
    let bare = std::fs::File::create(directory.join("bare"))?;
    measure("write(2) and fdatasync(2) of its bytes", 2_000, || {
        std::io::Write::write_all(&mut &bare, &bytes)?;
        Ok(bare.sync_data()?)
    })?;
    let path = directory.join("bare");
    measure("ask whether a file is still in its place", 20_000, || {
        std::hint::black_box(std::fs::metadata(&path)?);
        Ok(())
    })?;
    let mut at = 8 << 20;
    measure("write(2) of its bytes", 100_000, || {
        std::os::unix::fs::FileExt::write_all_at(&bare, &bytes, at)?;
        at += bytes.len() as u64;
        Ok(())
    })?;
    for (mode, times) in [
        (Mode::Written, 100_000),
        (Mode::Durable, 2_000),
        (Mode::SignEach, 5_000),
    ] {
        let place = directory.join(format!("{mode:?}"));
        let _ = std::fs::remove_dir_all(&place);
        let options = Options {
            mode,
            ..Options::default()
        };
        let signer = LogSigner::new("log.example/bench", &file)?;
        let (journal, _) = Journal::open_with(&place, signer, options).context("open")?;
        measure(&format!("append, {mode:?}"), times, || {
            journal.append(&line)?;
            Ok(())
        })?;
        if mode == Mode::Durable {
            let begun = Instant::now();
            std::thread::scope(|scope| {
                for _ in 0..32 {
                    scope.spawn(|| (0..100).try_for_each(|_| journal.append(&line).map(|_| ())));
                }
            });
            let each = begun.elapsed().as_micros() / 3_200;
            println!("{:<44} {each} µs a line", "append, Durable, 32 at a time");
        }
    }
    let place = directory.join("Written");
    let open = || {
        let signer = LogSigner::new("log.example/bench", &file)?;
        let (journal, _) = Journal::open(&place, signer)?;
        journal.append(&line)?;
        anyhow::Ok(journal)
    };
    open()?.sign_head()?;
    measure("start of a run: open, and its first line", 50, || {
        open().map(|_| ())
    })?;
    let begun = Instant::now();
    let walked =
        countersign_journal::walk(&countersign_journal::line_files(&place)?, false, |_| {})?;
    let each = begun.elapsed().as_nanos() / u128::from(walked.frontier.size());
    println!(
        "{:<44} {}.{} µs a line of {}",
        "whole audit",
        each / 1_000,
        each % 1_000 / 100,
        walked.frontier.size()
    );
    std::fs::remove_dir_all(&directory)?;
    Ok(())
}
