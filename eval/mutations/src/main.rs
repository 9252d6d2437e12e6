//! A mutation run on the stable toolchain: seeds from the saved corpus, changed again and again for a given time.

mod mutate;
mod node;

use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use clap::Parser;
use countersign_mutations::{TARGETS, Target};

use crate::mutate::Mutator;
use crate::node::Node;

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
    /// How many targets run at a time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// A Node, to compare with what it reads
    #[arg(long)]
    node: Option<PathBuf>,
    /// The same number makes the same run, machine speed aside
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// What is done with one input.
type Reader<'r> = Box<dyn FnMut(&[u8]) -> bool + 'r>;

/// One thing to run: the name it is told by, the folder of its seeds, and how its reader is made.
struct Job {
    name: &'static str,
    corpus: &'static str,
    reader: Box<dyn Fn() -> anyhow::Result<Reader<'static>> + Send + Sync>,
}

/// What came of a run.
struct Outcome {
    said: String,
    find: Option<Vec<u8>>,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    // A find is told once, below.
    std::panic::set_hook(Box::new(|_| {}));
    let jobs: Vec<Job> = jobs(arguments.node.clone())
        .into_iter()
        .filter(|job| {
            arguments
                .target
                .as_deref()
                .is_none_or(|only| only == job.name)
        })
        .collect();
    ensure!(!jobs.is_empty(), "no target has that name");
    let next = AtomicUsize::new(0);
    let (mut passed, mut failed) = (0, 0);
    let outcomes = thread::scope(|scope| {
        let worker = || {
            let mut outcomes = Vec::new();
            while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                outcomes.push((job.name, run(job, &arguments)));
            }
            outcomes
        };
        let workers: Vec<_> = (0..arguments.jobs.max(1))
            .map(|_| scope.spawn(worker))
            .collect();
        workers
            .into_iter()
            .map(thread::ScopedJoinHandle::join)
            .collect::<Result<Vec<_>, _>>()
    });
    let Ok(outcomes) = outcomes else {
        bail!("a worker of this program itself broke");
    };
    for (name, outcome) in outcomes.into_iter().flatten() {
        let outcome = outcome.with_context(|| format!("run {name}"))?;
        println!("{}", outcome.said);
        match outcome.find {
            None => passed += 1,
            Some(find) => {
                failed += 1;
                let file = arguments.finds.join(format!("find-{name}"));
                fs::write(&file, find)?;
                println!("FAILED: {name}: the input stands in {}", file.display());
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    ensure!(failed == 0, "a reader broke");
    Ok(())
}

/// Every target, and the comparison with Node where there is one.
fn jobs(node: Option<PathBuf>) -> Vec<Job> {
    let mut jobs: Vec<Job> = TARGETS
        .into_iter()
        .map(|target: Target| Job {
            name: target.name,
            corpus: target.corpus,
            reader: Box::new(move || Ok(Box::new(target.run))),
        })
        .collect();
    if let Some(program) = node {
        jobs.push(Job {
            name: "differential-node",
            corpus: "json",
            reader: Box::new(move || {
                let mut node = Node::start(&program)?;
                Ok(Box::new(move |bytes: &[u8]| {
                    node.judged_is_what_is_read(bytes)
                }))
            }),
        });
    }
    jobs
}

/// Runs one target for its time.
fn run(job: &Job, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let seeds = seeds(&arguments.corpus.join(job.corpus))?;
    let mut reader = (job.reader)()?;
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
        match panic::catch_unwind(AssertUnwindSafe(|| reader(&input))) {
            Ok(was_read) => read += u64::from(was_read),
            Err(_) => {
                return Ok(Outcome {
                    said: format!("broken: {} by input {inputs}", job.name),
                    find: Some(input),
                });
            }
        }
        inputs += 1;
    }
    ensure!(
        read > 0,
        "{} read nothing at all: its seeds are no good",
        job.name
    );
    Ok(Outcome {
        said: format!(
            "ok: {}: {inputs} inputs from {} seeds, {read} of them read",
            job.name,
            seeds.len()
        ),
        find: None,
    })
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
