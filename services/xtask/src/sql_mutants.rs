//! Mutants of the execution path's SQL against the tests that use a database: none may survive that changes behaviour.

mod list;
mod programs;
mod source;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use clap::Args;
use countersign_testkit::server::start_throwaway;

use list::{Expected, Mutant};
use programs::{Outcome, Program};
use source::Source;

/// Which mutants are tried.
#[derive(Args, Debug, Default)]
pub struct MutantArguments {
    /// Only mutants whose name or function holds this text
    #[arg(long)]
    only: Option<String>,
    /// Only the tests that the lists name: a mutant that they do not kill counts as a survivor
    #[arg(long)]
    quick: bool,
}

/// Tries every mutant of the lists and prints what became of each.
///
/// # Errors
/// When the tests fail without a mutant, a mutant does not apply, or one lives or dies against what its list says.
pub async fn run(arguments: &MutantArguments) -> anyhow::Result<()> {
    let source = Source::installed();
    let chosen: Vec<(Mutant, String)> = list::all()?
        .into_iter()
        .filter(|mutant| {
            arguments
                .only
                .as_ref()
                .is_none_or(|text| mutant.name.contains(text) || mutant.function.contains(text))
        })
        .map(|mutant| Ok((source.mutate(&mutant)?, mutant)))
        .map(|pair: anyhow::Result<_>| pair.map(|(sql, mutant)| (mutant, sql)))
        .collect::<anyhow::Result<_>>()?;
    ensure!(!chosen.is_empty(), "no mutant has that in its name");
    let programs = programs::build()?;
    let (mut cluster, folder) = start_throwaway(&std::env::temp_dir()).await?;
    let tried = Trial {
        programs: &programs,
        server_url: cluster.admin_url("postgres"),
        file: folder.join("mutant.sql"),
        quick: arguments.quick,
        unchanged: RefCell::default(),
    }
    .all(&chosen);
    cluster.stop();
    fs::remove_dir_all(folder)?;
    tried
}

struct Trial<'a> {
    programs: &'a [Program],
    server_url: String,
    file: std::path::PathBuf,
    quick: bool,
    /// Tests that were run without a mutant, and whether they passed.
    unchanged: RefCell<BTreeMap<String, bool>>,
}

impl Trial<'_> {
    fn all(&self, chosen: &[(Mutant, String)]) -> anyhow::Result<()> {
        let (mut killed, mut same, mut wrong) = (0, 0, Vec::new());
        for (mutant, sql) in chosen {
            fs::write(&self.file, sql)?;
            let began = Instant::now();
            let died = match self.try_one(mutant) {
                Ok(died) => died,
                Err(error) => {
                    println!("error     {:<48} {error:#}", mutant.name);
                    wrong.push(mutant.name.as_str());
                    continue;
                }
            };
            let seconds = began.elapsed().as_secs();
            match (&mutant.expected, died) {
                (Expected::Killed { .. }, Some(test)) => {
                    killed += 1;
                    println!("killed    {:<48} {seconds:>3} s  {test}", mutant.name);
                }
                (Expected::Survives(why), None) => {
                    same += 1;
                    println!("the same  {:<48} {seconds:>3} s  {why}", mutant.name);
                }
                (Expected::Survives(_), Some(test)) => {
                    println!(
                        "KILLED    {:<48} {seconds:>3} s  {test}: its list says that nothing can",
                        mutant.name
                    );
                    wrong.push(mutant.name.as_str());
                }
                (Expected::Killed { .. }, None) => {
                    println!(
                        "SURVIVED  {:<48} {seconds:>3} s  {}",
                        mutant.name, mutant.because
                    );
                    wrong.push(mutant.name.as_str());
                }
            }
        }
        println!(
            "{killed} killed, {same} that nothing can tell from the original, {} wrong",
            wrong.len()
        );
        ensure!(
            wrong.is_empty(),
            "not as the lists say: {}",
            wrong.join(", ")
        );
        Ok(())
    }

    /// Whether a test passes without a mutant: one that does not proves nothing.
    fn passes_unchanged(&self, program: &Program, test: &str) -> anyhow::Result<bool> {
        let name = format!("{} {test}", program.name);
        if let Some(known) = self.unchanged.borrow().get(&name) {
            return Ok(*known);
        }
        let passes = matches!(
            program.run(&self.server_url, None, test)?,
            Outcome::Passed(1..)
        );
        self.unchanged.borrow_mut().insert(name, passes);
        Ok(passes)
    }

    /// The test that told the mutant from the original.
    fn try_one(&self, mutant: &Mutant) -> anyhow::Result<Option<String>> {
        let run = |program: &Program, filter: &str| -> anyhow::Result<Option<String>> {
            let outcome = program
                .run(&self.server_url, Some(&self.file), filter)
                .with_context(|| format!("try {}", mutant.name))?;
            match outcome {
                Outcome::Failed(test) if self.passes_unchanged(program, &test)? => {
                    Ok(Some(format!("{} {test}", program.name)))
                }
                Outcome::Failed(test) => {
                    bail!("without a mutant {} {test} fails too", program.name)
                }
                Outcome::Passed(0) => bail!("no test of {} has {filter} in its name", program.name),
                Outcome::Passed(_) => Ok(None),
            }
        };
        if let Expected::Killed {
            program: named,
            filter,
        } = &mutant.expected
        {
            let program = self
                .programs
                .iter()
                .find(|program| program.name == named)
                .with_context(|| format!("{} names the test program {named}", mutant.name))?;
            if let Some(test) = run(program, filter)? {
                return Ok(Some(test));
            }
            if self.quick {
                return Ok(None);
            }
        }
        for program in self.programs {
            if let Some(test) = run(program, "")? {
                return Ok(Some(test));
            }
        }
        Ok(None)
    }
}
