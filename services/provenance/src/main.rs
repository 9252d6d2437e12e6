//! `countersign-provenance`: measures and explains the grounding. Reads the file it is given and nothing else.

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use countersign_provenance::score::Score;

const USAGE: &str = "usage:
  countersign-provenance score FILE.tsv      measure a table of cases
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
        println!("{}", outcome.explanation());
    }
    Ok(ExitCode::SUCCESS)
}
