//! A mutation run on the stable toolchain: seeds from the saved corpus, changed again and again for a given time.

mod mutate;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use clap::Parser;
use countersign_mutations::{TARGETS, Target};

use crate::mutate::Mutator;

#[derive(Parser)]
#[command(about = "Throws changed seeds at every reader for a while", version)]
struct Arguments {
    /// Seconds for each target
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// Only this target
    #[arg(long)]
    target: Option<String>,
    /// The corpus
    #[arg(long, default_value = "fixtures/fuzz")]
    corpus: PathBuf,
    /// Where an input that broke something is written
    #[arg(long, default_value = "target")]
    finds: PathBuf,
    /// The same number makes the same run, machine speed aside
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    // A find is told once, below.
    std::panic::set_hook(Box::new(|_| {}));
    let (mut passed, mut failed) = (0, 0);
    for target in TARGETS {
        if arguments
            .target
            .as_deref()
            .is_some_and(|only| only != target.name)
        {
            continue;
        }
        match run(&target, &arguments)? {
            None => passed += 1,
            Some(find) => {
                failed += 1;
                let file = arguments.finds.join(format!("find-{}", target.name));
                fs::write(&file, find)?;
                println!(
                    "FAILED: {}: the input stands in {}",
                    target.name,
                    file.display()
                );
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    ensure!(failed == 0, "a reader broke");
    ensure!(passed > 0, "no target has that name");
    Ok(())
}

/// Runs one target for its time. Returns the input that broke it, if one did.
fn run(target: &Target, arguments: &Arguments) -> anyhow::Result<Option<Vec<u8>>> {
    let seeds = seeds(&arguments.corpus.join(target.corpus))?;
    let mut mutator = Mutator::new(arguments.seed);
    let until = Instant::now() + Duration::from_secs(arguments.seconds);
    let (mut inputs, mut read) = (0_u64, 0_u64);
    // Every seed as it is, then changed ones until the time is over.
    let mut unchanged = seeds.iter();
    while Instant::now() < until || unchanged.len() > 0 {
        let input = match unchanged.next() {
            Some(seed) => seed.clone(),
            None => mutator.change(&seeds),
        };
        match std::panic::catch_unwind(|| (target.run)(&input)) {
            Ok(was_read) => read += u64::from(was_read),
            Err(_) => return Ok(Some(input)),
        }
        inputs += 1;
    }
    println!(
        "ok: {}: {inputs} inputs from {} seeds, {read} of them read",
        target.name,
        seeds.len()
    );
    ensure!(
        read > 0,
        "{} read nothing at all: its seeds are no good",
        target.name
    );
    Ok(None)
}

fn seeds(folder: &Path) -> anyhow::Result<Vec<Vec<u8>>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("read {}", folder.display()))? {
        paths.push(entry?.path());
    }
    // The order of a folder is nobody's; the run's is.
    paths.sort();
    let seeds = paths.iter().map(fs::read).collect::<Result<Vec<_>, _>>()?;
    if seeds.is_empty() {
        bail!("{} holds no seed", folder.display());
    }
    Ok(seeds)
}
