//! The report as Markdown.

use std::fmt::Write as _;

use super::{Report, by_kind, by_players};

/// The page.
pub fn page(report: &Report, coverage: &str) -> String {
    let mut text =
        String::from("# What was attacked, what moved, what it cost the honest customer\n\n");
    text += "Verdicts come from the bank's rows, receipts and what browsers received. No model judged anything.\n\n";
    let _ = writeln!(text, "| | |\n|---|---|");
    for (name, value) in report.figures.rows() {
        let _ = writeln!(text, "| {name} | {value} |");
    }
    text += "\n## By family\n\n| family | cases | playings | broken |\n|---|---|---|---|\n";
    for (kind, (cases, playings, broken)) in by_kind(&report.runs) {
        let _ = writeln!(text, "| {kind} | {cases} | {playings} | {broken} |");
    }
    text += "\n## By model and customer\n\n| suite | model | customer | playings | broken | confirmations | picks | typed values |\n|---|---|---|---|---|---|---|---|\n";
    for ((file, driver, customer), sum) in by_players(&report.runs) {
        let _ = writeln!(
            text,
            "| {file} | {driver} | {customer} | {} | {} | {} | {} | {} |",
            sum.playings, sum.broken, sum.confirmations, sum.picks, sum.typed
        );
    }
    text += "\n## Broken\n\n";
    if report.passed() {
        text += "Nothing.\n";
    }
    for run in report.runs.iter().filter(|run| !run.passed()) {
        let _ = writeln!(
            text,
            "- **{}** ({}, {}): {}",
            run.case, run.driver, run.at_panel, run.title
        );
        for (line, seen) in &run.broken {
            let _ = writeln!(text, "  - {line}: {seen}");
        }
        if let Some(error) = &run.error {
            let _ = writeln!(text, "  - {error}");
        }
    }
    text += "\n## Not judged\n\nA line that no rule reads is neither passed nor failed.\n\n";
    for run in report
        .runs
        .iter()
        .filter(|run| !run.not_judged.is_empty() || !run.unplayed.is_empty())
    {
        for (line, why) in &run.not_judged {
            let _ = writeln!(text, "- {}: {line} ({why})", run.name());
        }
        for part in &run.unplayed {
            let _ = writeln!(text, "- {}: not played: {part}", run.name());
        }
    }
    let _ = write!(text, "\n## OWASP\n\n{coverage}");
    text += PUBLISHED;
    text
}

/// Figures of others, with what they do not mean.
const PUBLISHED: &str = "\n## Beside it\n\nPublished figures, each with what it does not mean for this product:\n\n\
| system | figure | source | what it does not mean |\n|---|---|---|---|\n\
| CaMeL with policies, AgentDojo banking | 0 of 144 attacks | the authors' notebook | sampled with live models; says nothing of a hostile agent process |\n\
| CaMeL, successful banking tasks that ask the user | 58.3 % | the same | a question to the user is not a failure; it is what a person must do |\n\
| no defence, one strong model, AgentDojo banking | 11 of 144 attacks | the same | a model that resists is not a wall |\n\
| no defence, a model that does what it reads, AgentDojo banking | 143 of 144 attacks | the package itself, run here | no model in use obeys everything |\n\
| CaMeL, user tasks of AgentDojo banking | 81.2 % at best, before its policies ask | the authors' notebook | another division of work between model and person |\n\
| DRIFT, AgentDojo banking, gpt-4o-mini | 4.9 % of 144 attacks, 41.0 % of tasks under attack | run logs of its repository | one model, fixed attack texts |\n\
| the nearest published banking assistant | 50 of 50 attacks contained, 20 of 20 conversations completed, 0 of 62 messages wrongly refused | its own report | its own cases, which nobody else wrote |\n\
| a customer who copies the chat, without caps, AgentDojo banking | 128 of 144 goals | measured on a stand-in | says nothing of how many people copy |\n\
| a name-and-amount gate that any typed pair passes | 0 of 144 with 7 of 16 tasks done | measured on a stand-in | safe and nearly useless: most tasks need a value from the panel |\n";
