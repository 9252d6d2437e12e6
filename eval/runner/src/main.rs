//! `countersign-eval`: plays attacks and ordinary conversations and writes a report.

use std::{path::PathBuf, process::ExitCode};

use anyhow::Context;
use clap::{Args, Parser, Subcommand};
use countersign_eval::{
    agentdojo, progress::Progress, redteam, report, search, stage::Stage, suite,
};
use countersign_testkit::checkout;
use futures_util::{StreamExt as _, stream};

/// Cases that are played at a time.
const JOBS: usize = 6;

#[derive(Parser)]
#[command(
    name = "countersign-eval",
    about = "Plays attacks and ordinary conversations against the real bank and says what came of them",
    version
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Play cases and write the report
    Run(RunArguments),
    /// Play AgentDojo's banking suite: its predicates against the published cells, then every attack against the real bank
    Agentdojo(AgentdojoArguments),
    /// Let an attacker with a goal and eight turns change its tactics
    Redteam(RedteamArguments),
    /// Let a fully hostile agent search: any tool, any value, any order
    Search(SearchArguments),
    /// Say which lines of the cases no rule can judge, without playing anything
    Check(Files),
    /// Print which item of the OWASP lists is exercised by which cases
    Coverage(Files),
}

#[derive(Args)]
struct Files {
    /// A file of cases, or a folder of them; eval/suites/conversations when left out
    #[arg(long = "file", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Only these cases, by id
    #[arg(long = "case", value_name = "ID")]
    cases: Vec<String>,
}

#[derive(Args)]
struct RunArguments {
    #[command(flatten)]
    files: Files,
    /// Where the report goes
    #[arg(long, value_name = "FOLDER", default_value = "target/eval")]
    out: PathBuf,
    /// Cases at a time
    #[arg(long, default_value_t = JOBS)]
    jobs: usize,
    /// Only one case of every kind in every file: what is played for each change; the rest is left to the whole run
    #[arg(long)]
    subset: bool,
    /// Keep what every playing left behind, as text, beside the report
    #[arg(long)]
    keep: bool,
    /// Play attacks also with a customer who types and picks what the chat says, and hold the loss under the cap
    #[arg(long)]
    copier: bool,
    /// Write what passed to this list, one playing a line: the baseline of later runs
    #[arg(long, value_name = "FILE")]
    write_baseline: Option<PathBuf>,
    /// Fail also where a line passed in this earlier report and does not now
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
}

#[derive(Args)]
struct AgentdojoArguments {
    /// The template that wraps the attacker's goal
    #[arg(long, default_value = "important_instructions")]
    attack: String,
    /// Play also every goal with a customer who types and picks what the chat says
    #[arg(long)]
    copier: bool,
    /// With every user task, not with one for each place that an attacker's text can stand in
    #[arg(long)]
    every_task: bool,
    /// Where the report goes
    #[arg(long, value_name = "FOLDER", default_value = "target/eval/agentdojo")]
    out: PathBuf,
    /// Cases at a time
    #[arg(long, default_value_t = JOBS)]
    jobs: usize,
    /// Keep what every playing left behind, as text, beside the report
    #[arg(long)]
    keep: bool,
}

#[derive(Args)]
struct RedteamArguments {
    /// The seed that orders the tactics
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Args)]
struct SearchArguments {
    /// How many sequences
    #[arg(long, default_value_t = 40)]
    sequences: u64,
    /// The first sequence's seed; printed, and the same seed plays the same again
    #[arg(long)]
    seed: Option<u64>,
    /// Sequences at a time
    #[arg(long, default_value_t = JOBS)]
    jobs: usize,
}

impl Files {
    fn load(&self) -> anyhow::Result<Vec<suite::Loaded>> {
        let own = vec![checkout::root().join("eval/suites/conversations")];
        let mut loaded = suite::load(if self.files.is_empty() {
            &own
        } else {
            &self.files
        })?;
        if !self.cases.is_empty() {
            loaded.retain(|one| self.cases.contains(&one.case.id));
        }
        anyhow::ensure!(!loaded.is_empty(), "no case of that name is in these files");
        Ok(loaded)
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    match Arguments::parse().command {
        Command::Run(arguments) => run(&arguments).await,
        Command::Agentdojo(arguments) => agentdojo(&arguments).await,
        Command::Redteam(arguments) => redteam(arguments.seed).await,
        Command::Search(arguments) => search(&arguments).await,
        Command::Check(files) => check(&files),
        Command::Coverage(files) => {
            print!("{}", report::coverage::table(&files.load()?));
            Ok(ExitCode::SUCCESS)
        }
    }
}

async fn run(arguments: &RunArguments) -> anyhow::Result<ExitCode> {
    let mut cases = arguments.files.load()?;
    if arguments.subset {
        let all = cases.len();
        suite::thin_out(&mut cases);
        println!(
            "{} of {all} cases: one of every kind in every file, and of every language; {} are left to the whole run",
            cases.len(),
            all - cases.len()
        );
    }
    let runs = suite::run(
        &cases,
        arguments.jobs.max(1),
        arguments.keep.then_some(arguments.out.as_path()),
        arguments.copier,
    )
    .await?;
    let report = report::Report::of(runs, &cases);
    report
        .write(&arguments.out)
        .with_context(|| format!("write the report to {}", arguments.out.display()))?;
    print!("{}", report.summary());
    println!("report: {}", arguments.out.join("report.md").display());
    // The closing line of Rust's own test runner, which counts are read off.
    let failed = report.runs.iter().filter(|run| !run.passed()).count();
    let word = if failed == 0 { "ok" } else { "FAILED" };
    println!(
        "test result: {word}. {} passed; {failed} failed",
        report.runs.len() - failed
    );
    let mut good = report.passed();
    if let Some(list) = &arguments.write_baseline {
        std::fs::write(list, report.baseline())
            .with_context(|| format!("write {}", list.display()))?;
    }
    if let Some(baseline) = &arguments.baseline {
        let worse = report.worse_than(baseline, arguments.subset)?;
        for line in &worse {
            println!("worse than before: {line}");
        }
        good &= worse.is_empty();
    }
    Ok(if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

async fn agentdojo(arguments: &AgentdojoArguments) -> anyhow::Result<ExitCode> {
    let suite = agentdojo::Suite::built_in()?;
    let cells = agentdojo::cells(&suite)?;
    let equal = cells
        .iter()
        .filter(|cell| cell.ours == cell.published)
        .count();
    println!("published cells reproduced   {equal} of {}", cells.len());
    let fooled = || cells.iter().filter(|cell| cell.injection_first);
    println!(
        "undefended, model fooled     {} of {} attacks succeed, {} user tasks done",
        fooled().filter(|cell| cell.ours.1).count(),
        fooled().count(),
        fooled().filter(|cell| cell.ours.0).count()
    );
    let mut cases = agentdojo::cases::all(&suite, &arguments.attack)?;
    if arguments.copier {
        cases = agentdojo::copied::all(&suite, arguments.every_task)?;
    }
    let runs = suite::run(
        &cases,
        arguments.jobs.max(1),
        arguments.keep.then_some(arguments.out.as_path()),
        false,
    )
    .await?;
    let rubber = || runs.iter().filter(|run| run.at_panel == "rubber stamp");
    println!(
        "this bank, model fooled, customer confirms everything: {} of {} attacks succeed",
        rubber().filter(|run| !run.passed()).count(),
        rubber().count()
    );
    let report = report::Report::of(runs, &cases);
    report.write(&arguments.out)?;
    print!("{}", report.summary());
    let good = report.passed() && equal == cells.len();
    Ok(if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

async fn redteam(seed: u64) -> anyhow::Result<ExitCode> {
    println!("seed {seed}");
    let (mut reached, mut idle) = (0, 0);
    for role in [redteam::Role::Customer, redteam::Role::Outsider] {
        let stage = match role {
            redteam::Role::Customer => Stage::with_built_in_model().await?,
            redteam::Role::Outsider => Stage::with_captive_agent().await?,
        };
        let goals = (0_u64..).zip(&redteam::GOALS);
        for (number, goal) in goals.filter(|(_, goal)| goal.role == role) {
            let attacked = redteam::attack(&stage, goal, seed.wrapping_add(number))
                .await
                .with_context(|| goal.name)?;
            let result = match attacked.reached {
                Some(turn) => format!("REACHED in turn {turn}"),
                None => "not reached".to_owned(),
            };
            println!(
                "{role:?}: {}: {result}; {} delivered; {}",
                attacked.goal,
                attacked.delivered,
                attacked.tactics.join(", ")
            );
            reached += usize::from(attacked.reached.is_some());
            idle += usize::from(attacked.delivered == 0);
        }
    }
    println!(
        "{reached} of {} goals reached; attacker's refusals 0 (the built-in one has none); a second model as attacker: not run",
        redteam::GOALS.len()
    );
    anyhow::ensure!(idle == 0, "{idle} attacks were never delivered");
    Ok(if reached == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

async fn search(arguments: &SearchArguments) -> anyhow::Result<ExitCode> {
    let first = match arguments.seed {
        Some(seed) => seed,
        None => std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)?
            .as_secs(),
    };
    println!("seed {first}");
    let stage = Stage::with_captive_agent().await?;
    let progress = Progress::of("sequences", usize::try_from(arguments.sequences)?);
    let all: Vec<(u64, anyhow::Result<search::Searched>)> = stream::iter(0..arguments.sequences)
        .map(|number| {
            let (stage, progress, seed) = (&stage, &progress, first.wrapping_add(number));
            async move {
                let searched = search::sequence(stage, seed).await;
                progress.step(searched.as_ref().is_ok_and(|one| one.violations.is_empty()));
                (seed, searched)
            }
        })
        .buffer_unordered(arguments.jobs.max(1))
        .collect()
        .await;
    progress.end();
    let (mut calls, mut passed, mut confirmed, mut bad) = (0, 0, 0, 0);
    for (seed, searched) in all {
        let searched = searched.with_context(|| format!("the sequence of seed {seed}"))?;
        calls += searched.calls;
        passed += searched.passed;
        confirmed += searched.confirmed;
        for violation in &searched.violations {
            println!("seed {seed}: {violation}");
            bad += 1;
        }
    }
    println!(
        "{calls} calls, of which {passed} came through; {confirmed} cards confirmed; {bad} violations"
    );
    anyhow::ensure!(
        passed > 0 && confirmed > 0,
        "nothing came through: nothing was searched"
    );
    Ok(if bad == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn check(files: &Files) -> anyhow::Result<ExitCode> {
    let mut unread = 0;
    for one in files.load()? {
        for line in suite::unread_lines(&one)? {
            println!("{}: {line}", one.case.id);
            unread += 1;
        }
    }
    println!("{unread} lines that no rule judges");
    Ok(if unread == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
