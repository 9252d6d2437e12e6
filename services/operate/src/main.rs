//! `countersign-operate`: writes what is generated, prints what is counted.

use std::process::ExitCode;

use anyhow::Context;
use clap::{Parser, Subcommand};
use countersign_operate::cloud::{Prices, Template};
use countersign_operate::history::{self, Allowed};
use countersign_operate::{bill, files, openapi};

#[derive(Parser)]
#[command(
    name = "countersign-operate",
    version,
    about = "What an operator is handed beside the programs"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write the OpenAPI documents of every surface to docs/openapi
    Openapi,
    /// Print the bill of materials (CycloneDX 1.6) of the released programs
    Sbom,
    /// Look for secrets in every text of the history
    Secrets,
    /// Print what an hour of the cloud template costs
    Cost,
}

fn main() -> anyhow::Result<ExitCode> {
    match Arguments::parse().command {
        Command::Openapi => {
            let folder = files::root().join("docs/openapi");
            std::fs::create_dir_all(&folder)?;
            for surface in &openapi::SURFACES {
                let path = folder.join(format!("{}.json", surface.name));
                let text = serde_json::to_string_pretty(&openapi::document(surface)?)?;
                std::fs::write(&path, text + "\n")
                    .with_context(|| format!("write {}", path.display()))?;
                println!("Wrote docs/openapi/{}.json", surface.name);
            }
        }
        Command::Sbom => println!("{}", serde_json::to_string_pretty(&bill::materials()?)?),
        Command::Secrets => {
            let finds = history::finds()?;
            let (bad, idle) = Allowed::read()?.judge(&finds);
            for find in &bad {
                println!(
                    "{}: {} (sha256 {}…): git show {}",
                    find.path, find.rule, find.digest, find.object
                );
            }
            for path in &idle {
                println!(
                    "{path}: an exception of {} that nothing needs any more",
                    history::ALLOWED
                );
            }
            println!(
                "{} finds, {} of them without an exception.",
                finds.len(),
                bad.len()
            );
            if !bad.is_empty() || !idle.is_empty() {
                return Ok(ExitCode::FAILURE);
            }
        }
        Command::Cost => {
            let prices = Prices::read()?;
            let lines = Template::read()?.cost(&prices)?;
            println!("{}", prices.stated);
            for (name, micros) in &lines {
                println!("{name:<24} {}", shown(*micros));
            }
            println!(
                "{:<24} {}",
                "an hour",
                shown(lines.iter().map(|(_, micros)| micros).sum())
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Millionths as units with four digits.
fn shown(micros: u64) -> String {
    format!("{}.{:04}", micros / 1_000_000, micros % 1_000_000 / 100)
}
