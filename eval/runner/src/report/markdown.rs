//! The report as Markdown.

use std::fmt::Write as _;

use super::{Report, by_kind};

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
            let _ = writeln!(
                text,
                "- {} ({}, {}): {line} ({why})",
                run.case, run.driver, run.at_panel
            );
        }
        for part in &run.unplayed {
            let _ = writeln!(
                text,
                "- {} ({}, {}): not played: {part}",
                run.case, run.driver, run.at_panel
            );
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
| a name-and-amount gate that any typed pair passes | 0 of 144 with 7 of 16 tasks done | measured on a stand-in | safe and nearly useless: most tasks need a value from the panel |\n";
