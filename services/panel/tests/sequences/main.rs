//! Random sequences of everything that can happen to a request, on a real database, against a small model; after every step the ledger's
//! invariants are asked of the database itself.
//!
//! `cargo test -p countersign-panel --test sequences -- --count 1000 --seed 7`: sequence n has the seed 7 + n, and a failure names the one to
//! give to `--seed` with `--count 1`.

mod model;
mod play;
mod world;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

/// Sequences of one ordinary run.
const COUNT: u64 = 1_000;
/// Databases at once; in each, one sequence after the other.
const WORKERS: u64 = 3;

struct Arguments {
    count: u64,
    seed: u64,
    workers: u64,
}

fn arguments() -> anyhow::Result<Arguments> {
    let mut read = Arguments {
        count: COUNT,
        seed: 0x5eed,
        workers: WORKERS,
    };
    let mut given = std::env::args().skip(1);
    while let Some(name) = given.next() {
        let number = match name.as_str() {
            "--count" => &mut read.count,
            "--seed" => &mut read.seed,
            "--workers" => &mut read.workers,
            // What cargo hands to every runner of tests.
            _ => continue,
        };
        *number = given
            .next()
            .ok_or_else(|| anyhow::anyhow!("{name} wants a number"))?
            .parse()?;
    }
    Ok(read)
}

fn main() -> anyhow::Result<()> {
    // Somebody who lists or filters tests gets none of this.
    if std::env::args().any(|argument| argument == "--list") {
        return Ok(());
    }
    let arguments = arguments()?;
    let began = Instant::now();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()?;
    let outcome = runtime.block_on(run(&arguments));
    let seconds = began.elapsed().as_secs_f32();
    match outcome {
        Ok(tally) => {
            println!(
                "{} sequences, {} steps, {} of two at once: {tally}",
                arguments.count,
                tally.steps(),
                tally.pairs()
            );
            println!(
                "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; finished in {seconds:.1}s"
            );
            Ok(())
        }
        Err(failure) => {
            println!("{failure:#}");
            println!(
                "test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; finished in {seconds:.1}s"
            );
            std::process::exit(101);
        }
    }
}

async fn run(arguments: &Arguments) -> anyhow::Result<play::Tally> {
    let next = Arc::new(AtomicU64::new(0));
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..arguments.workers.min(arguments.count).max(1) {
        let (next, count, seed) = (next.clone(), arguments.count, arguments.seed);
        workers.spawn(async move {
            let mut bank = world::Bank::open(count.min(100)).await?;
            let mut tally = play::Tally::default();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    return anyhow::Ok(tally);
                }
                let seed = seed.wrapping_add(number);
                if let Err(failure) = play::sequence(&mut bank, seed, &mut tally).await {
                    // Nobody begins another one.
                    next.store(count, Ordering::Relaxed);
                    anyhow::bail!("{failure:#}\nreplay: cargo test -p countersign-panel --test sequences -- --count 1 --seed {seed}");
                }
            }
        });
    }
    let mut all = play::Tally::default();
    while let Some(done) = workers.join_next().await {
        all.add(done??);
    }
    Ok(all)
}
