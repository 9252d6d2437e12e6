//! `countersign-provenance`: measures and explains the grounding. Reads the file it is given and nothing else.

use std::{
    process::ExitCode,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context as _, bail};
use countersign_provenance::{
    baselines::{Baseline, Figures},
    chats, ground,
    score::{Outcome, Score, input_of, read_table},
};

const USAGE: &str = "usage:
  countersign-provenance score FILE.tsv      measure a table of cases
  countersign-provenance baselines FILE.tsv…  the same of naive checks, beside ours
  countersign-provenance chats COUNT [SEED]  what must hold in generated chats
  countersign-provenance time                how long 50 messages of 200 characters take
  countersign-provenance explain-rows FILE.tsv [ID…]  explain rows of a table: these, or those not right
  countersign-provenance explain [LOCALE]    explain a conversation: one message a line on standard input";

fn main() -> anyhow::Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        ["score", file] => score(file),
        ["baselines", files @ ..] if !files.is_empty() => baselines(files),
        ["chats", count] => check_chats(count, None),
        ["chats", count, seed] => check_chats(count, Some(seed)),
        ["time"] => time(),
        ["explain-rows", file, ids @ ..] => explain_rows(file, ids),
        ["explain"] => explain("en"),
        ["explain", locale] => explain(locale),
        _ => bail!("{USAGE}"),
    }
}

fn score(file: &str) -> anyhow::Result<ExitCode> {
    let table = std::fs::read_to_string(file).with_context(|| format!("read {file}"))?;
    let score = Score::of_table(&table).with_context(|| format!("score {file}"))?;
    for outcome in score.outcomes.iter().filter(|outcome| !outcome.is_right()) {
        println!("{}\n", outcome.explanation());
    }
    for row in &score.skipped {
        println!("{} skipped: the bank keeps no {}", row.id, row.currency);
    }
    let wrong = score.wrongly_grounded();
    let (found, wanted) = score.found();
    let (right, cases) = score.whole();
    println!("wrongly grounded  {wrong} of {}", score.refusable());
    println!("found             {found} of {wanted}");
    println!("whole cases right {right} of {cases}");
    Ok(if wrong == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn baselines(files: &[&str]) -> anyhow::Result<ExitCode> {
    let mut ours = Figures::default();
    let mut naive = Baseline::ALL.map(|baseline| (baseline.title(), Figures::default()));
    for file in files {
        let table = std::fs::read_to_string(file).with_context(|| format!("read {file}"))?;
        let score = Score::of_table(&table).with_context(|| format!("score {file}"))?;
        ours.add(Figures::of_score(&score));
        for (baseline, (_, figures)) in Baseline::ALL.into_iter().zip(&mut naive) {
            figures.add(baseline.measure(&score));
        }
    }
    println!(
        "{:32}{:>12}{:>10}{:>20}",
        "check", "found", "wrong", "whole cases right"
    );
    for (title, figures) in naive.into_iter().chain([("this crate", ours)]) {
        println!(
            "{title:32}{:>12}{:>10}{:>20}",
            percent(figures.found, figures.wanted),
            percent(figures.wrong, figures.refusable),
            percent(figures.whole, figures.cases),
        );
    }
    println!(
        "{} cases, {} pairs to find, {} pairs to refuse",
        ours.cases, ours.wanted, ours.refusable
    );
    Ok(ExitCode::SUCCESS)
}

/// In tenths of a percent, rounded down.
fn percent(part: usize, whole: usize) -> String {
    let tenths = (part * 1000).checked_div(whole).unwrap_or(0);
    format!("{}.{} %", tenths / 10, tenths % 10)
}

fn check_chats(count: &str, seed: Option<&str>) -> anyhow::Result<ExitCode> {
    let count: u64 = count.parse().context("how many chats")?;
    let seed: u64 = match seed {
        Some(seed) => seed.parse().context("the seed")?,
        None => SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(1, |since| since.as_secs()),
    };
    println!("{count} chats, seed {seed}");
    let start = Instant::now();
    let report = chats::check(count, seed, |done| {
        if done % (count / 20).max(1_000) < 1_000 {
            println!("{done} chats after {} s", start.elapsed().as_secs());
        }
    });
    for violation in &report.violations {
        println!("{violation}");
    }
    println!(
        "{} chats, {} conversations grounded, {} violations, seed {seed}, {} s",
        report.chats,
        report.groundings,
        report.violations.len(),
        start.elapsed().as_secs()
    );
    Ok(if report.violations.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn time() -> anyhow::Result<ExitCode> {
    const RUNS: usize = 2_000;
    let text = format!(
        "Please send 20 to Bob. {}",
        "The weather has been lovely and the garden is full of birds. ".repeat(4)
    );
    let message: String = text.chars().take(200).collect();
    let turns = serde_json::to_string(&vec![message; 50]).context("write the turns")?;
    let header = "id\tturns\tgrounded_pairs\trefused_pairs\tkind\tsource";
    let table = read_table(&format!("{header}\nlong\t{turns}\t[]\t[]\t\t"))?;
    let input = input_of(table.cases.first().context("one case")?);
    let mut micros: Vec<u128> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(ground(std::hint::black_box(&input)));
            start.elapsed().as_micros()
        })
        .collect();
    micros.sort_unstable();
    let build = if cfg!(debug_assertions) {
        "debug build: not a figure to publish"
    } else {
        "release build"
    };
    println!("50 messages of 200 characters, {RUNS} runs, {build}");
    println!("p50 {} µs", micros[RUNS / 2]);
    println!("p99 {} µs", micros[RUNS * 99 / 100]);
    Ok(ExitCode::SUCCESS)
}

fn explain(locale: &str) -> anyhow::Result<ExitCode> {
    let text = std::io::read_to_string(std::io::stdin()).context("read the conversation")?;
    let turns: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let turns = serde_json::to_string(&turns).context("write the turns")?;
    let header = "id\tturns\tgrounded_pairs\trefused_pairs\tkind\tsource\tlocale";
    let score = Score::of_table(&format!(
        "{header}\nconversation\t{turns}\t[]\t[]\t\t\t{locale}"
    ))?;
    for outcome in &score.outcomes {
        explain_outcome(outcome);
    }
    Ok(ExitCode::SUCCESS)
}

fn explain_rows(file: &str, ids: &[&str]) -> anyhow::Result<ExitCode> {
    let table = std::fs::read_to_string(file).with_context(|| format!("read {file}"))?;
    let score = Score::of_table(&table).with_context(|| format!("score {file}"))?;
    let wanted = |outcome: &&Outcome| {
        ids.contains(&outcome.case.id.as_str()) || ids.is_empty() && !outcome.is_right()
    };
    for outcome in score.outcomes.iter().filter(wanted) {
        explain_outcome(outcome);
    }
    Ok(ExitCode::SUCCESS)
}

fn explain_outcome(outcome: &Outcome) {
    println!("{}", outcome.explanation());
    for message in countersign_provenance::explain(&input_of(&outcome.case)).messages {
        for clause in &message.clauses {
            let words = message
                .text
                .get(clause.start..clause.end)
                .unwrap_or_default();
            println!("  read {words:?}: {}", clause.does);
        }
    }
}
