//! The report as one page that needs nothing else: figures, a bar for each family, and every playing in a table.

use std::fmt::Write as _;

use super::{Report, by_kind, by_players, junit::escaped};

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1a1c20;background:#fff}\
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #d8dbe0;vertical-align:top}\
.bad{color:#a3161f;font-weight:600}.good{color:#14622f}.big{display:flex;flex-wrap:wrap;gap:1rem;margin:1rem 0}\
.big div{border:1px solid #d8dbe0;border-radius:.5rem;padding:.8rem 1rem;min-width:11rem}.big b{display:block;font-size:1.6rem}\
svg text{font:13px system-ui,sans-serif;fill:currentColor}details{margin:1rem 0}\
@media(prefers-color-scheme:dark){body{background:#15171a;color:#e8e9eb}td,th,.big div{border-color:#3a3e45}.bad{color:#ff8a8f}.good{color:#7fd39b}}";

/// The page.
pub fn page(report: &Report) -> String {
    let mut html = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
         <title>Countersign: what was attacked, what moved</title><style>{STYLE}</style>\
         <h1>What was attacked, what moved, what it cost the honest customer</h1>\
         <p>Verdicts come from the bank’s rows, receipts and what browsers received. No model judged anything.</p><div class=\"big\">"
    );
    for (name, value) in report.figures.rows() {
        let _ = write!(html, "<div><b>{}</b>{name}</div>", escaped(&value));
    }
    html += "</div><h2>By model and customer</h2><table><thead><tr><th>Suite<th>Model<th>Customer<th>Playings<th>Broken<th>Confirmations<th>Picks<th>Typed values</tr></thead><tbody>";
    for ((file, driver, customer), sum) in by_players(&report.runs) {
        let _ = write!(
            html,
            "<tr><td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}</tr>",
            escaped(file),
            escaped(driver),
            escaped(customer),
            sum.playings,
            sum.broken,
            sum.confirmations,
            sum.picks,
            sum.typed
        );
    }
    html += "</tbody></table><h2>By family</h2>";
    html += &bars(report);
    html += "<h2>Every playing</h2><table><thead><tr><th>Case<th>Family<th>Model, customer<th>Result<th>Seen</tr></thead><tbody>";
    for run in &report.runs {
        let result = if run.passed() {
            "<span class=\"good\">as it must be</span>"
        } else {
            "<span class=\"bad\">broken</span>"
        };
        let mut seen: Vec<String> = run
            .broken
            .iter()
            .map(|(line, seen)| format!("{line}: {seen}"))
            .collect();
        seen.extend(run.error.clone());
        seen.extend(
            run.not_judged
                .iter()
                .map(|(line, _)| format!("not judged: {line}")),
        );
        let _ = write!(
            html,
            "<tr><td>{}<br><small>{}</small><td>{}<td>{}, {}<td>{result}<td>{}</tr>",
            escaped(&run.case),
            escaped(&run.title),
            escaped(&run.kind),
            escaped(&run.driver),
            escaped(&run.at_panel),
            seen.iter()
                .map(|line| escaped(line))
                .collect::<Vec<_>>()
                .join("<br>")
        );
    }
    html + "</tbody></table></html>\n"
}

fn bars(report: &Report) -> String {
    const ROW: usize = 24;
    const WIDTH: usize = 420;
    let kinds = by_kind(&report.runs);
    let most = kinds.values().map(|kind| kind.1).max().unwrap_or(1).max(1);
    let mut svg = format!(
        "<svg role=\"img\" aria-label=\"Playings of each family, broken ones marked; the table below has every playing\" viewBox=\"0 0 760 {}\" width=\"100%\">",
        kinds.len() * ROW + 4
    );
    for (row, (kind, (cases, playings, broken))) in kinds.iter().enumerate() {
        let y = row * ROW;
        let all = playings * WIDTH / most;
        let bad = (broken * WIDTH).div_ceil(most).min(all);
        let _ = write!(
            svg,
            "<text x=\"0\" y=\"{}\">{}</text><rect x=\"220\" y=\"{}\" width=\"{}\" height=\"14\" fill=\"#3a7d44\"/><rect x=\"{}\" y=\"{}\" width=\"{bad}\" height=\"14\" fill=\"#c0303a\"/><text x=\"{}\" y=\"{}\">{cases} cases, {playings} playings, {broken} broken</text>",
            y + 16,
            escaped(kind),
            y + 5,
            all - bad,
            220 + all - bad,
            y + 5,
            228 + all,
            y + 16
        );
    }
    svg + "</svg>"
}
