//! The report as JUnit XML, for continuous integration.

use std::fmt::Write as _;

use crate::suite::Run;

/// The document.
pub fn document(runs: &[Run]) -> String {
    let failures = runs.iter().filter(|run| !run.passed()).count();
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"countersign-eval\" tests=\"{}\" failures=\"{failures}\">\n",
        runs.len()
    );
    for run in runs {
        let _ = write!(
            xml,
            "  <testcase classname=\"{}\" name=\"{}\" time=\"{}.{:03}\"",
            escaped(&run.kind),
            escaped(&run.name()),
            run.milliseconds / 1000,
            run.milliseconds % 1000
        );
        if run.passed() {
            xml += "/>\n";
            continue;
        }
        xml += ">\n";
        for (line, seen) in &run.broken {
            let _ = writeln!(
                xml,
                "    <failure message=\"{}\">{}</failure>",
                escaped(line),
                escaped(seen)
            );
        }
        if let Some(error) = &run.error {
            let _ = writeln!(xml, "    <error message=\"{}\"/>", escaped(error));
        }
        xml += "  </testcase>\n";
    }
    xml + "</testsuite>\n"
}

/// A text inside XML or HTML.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // XML 1.0 §2.2 has no other control characters.
            letter if letter.is_control() && !matches!(letter, '\n' | '\t') => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_its_place() {
        assert_eq!(escaped("a<b>&\"\u{7}"), "a&lt;b&gt;&amp;&quot;\u{fffd}");
    }
}
