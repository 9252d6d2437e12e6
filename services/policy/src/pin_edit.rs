//! Writing pins into a policy file, leaving every other line as it is.

use std::collections::BTreeMap;

use crate::pin::Pin;
use crate::read::{PolicyError, read};

/// Why pins could not be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PinEditError {
    /// The file was no policy before.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The file is written in a form whose lines cannot be edited one by one.
    #[error("write pins: every tool needs a line of its own under `tools:`")]
    Form,
}

/// Sets `schema_sha256` of every tool that has a pin here; other tools keep theirs.
///
/// The result is read back and compared: nothing but those pins may have changed.
///
/// # Errors
/// [`PinEditError`] when the file is no policy or cannot be edited so.
pub fn write_pins(yaml: &str, pins: &BTreeMap<String, Pin>) -> Result<String, PinEditError> {
    let before = read(yaml)?;
    let edited = edit(yaml, pins);
    let after = read(&edited).map_err(|_| PinEditError::Form)?;
    let mut expected = before;
    for (name, tool) in &mut expected.tools {
        if let Some(pin) = pins.get(name) {
            tool.schema_sha256 = Some(pin.to_string());
        }
    }
    if format!("{expected:?}") == format!("{after:?}") {
        Ok(edited)
    } else {
        Err(PinEditError::Form)
    }
}

/// The edit itself, line by line; [`write_pins`] checks what came of it.
fn edit(yaml: &str, pins: &BTreeMap<String, Pin>) -> String {
    let ending = if yaml.contains("\r\n") { "\r\n" } else { "\n" };
    let lines: Vec<_> = yaml.lines().collect();
    let mut edited: Vec<String> = Vec::with_capacity(lines.len() + pins.len());
    let mut in_tools = false;
    // How far the tools are indented, and the tool whose lines are being copied.
    let mut tools_indent = None;
    let mut replacing = false;
    for (at, line) in lines.iter().enumerate() {
        let Some(indent) = content_indent(line) else {
            edited.push((*line).to_owned());
            continue;
        };
        let content = line.trim();
        if indent == 0 {
            in_tools = content.split('#').next().map(str::trim_end) == Some("tools:");
            (tools_indent, replacing) = (None, false);
        } else if in_tools && indent == *tools_indent.get_or_insert(indent) {
            let (key, rest) = content.split_once(':').unwrap_or((content, ""));
            let pin = pins.get(key.trim_matches(['"', '\'']));
            replacing = pin.is_some();
            if let Some(pin) = pin {
                let inner = lines[at + 1..].iter().find_map(|line| content_indent(line));
                let inner = inner.filter(|inner| *inner > indent).unwrap_or(indent + 2);
                write_tool(&mut edited, (indent, inner), key, rest, pin);
                continue;
            }
        } else if replacing && content.starts_with("schema_sha256:") {
            // The new pin stands at the head of the tool already. An argument of this name stands
            // deeper, and is found out by the comparison if it does not.
            replacing = false;
            continue;
        }
        edited.push((*line).to_owned());
    }
    let mut edited = edited.join(ending);
    edited.push_str(ending);
    edited
}

/// How far a line is indented that holds more than a comment.
fn content_indent(line: &str) -> Option<usize> {
    let content = line.trim_start();
    let indent = line.len() - content.len();
    (!content.is_empty() && !content.starts_with('#')).then_some(indent)
}

/// The head of a tool with its pin, in the style it was written in.
fn write_tool(
    edited: &mut Vec<String>,
    (indent, inner): (usize, usize),
    key: &str,
    rest: &str,
    pin: &Pin,
) {
    let (space, inner) = (" ".repeat(indent), " ".repeat(inner));
    let entry = format!("schema_sha256: \"{pin}\"");
    let flow = rest.trim_start().strip_prefix('{');
    match flow {
        None => {
            edited.push(format!("{space}{key}:{rest}"));
            edited.push(format!("{inner}{entry}"));
        }
        Some(members) if members.trim_start().starts_with('}') => {
            edited.push(format!("{space}{key}:"));
            edited.push(format!("{inner}{entry}"));
        }
        Some(members) => {
            let members = without_pin(members);
            let parted = if members.trim_start().starts_with('}') {
                ""
            } else {
                ", "
            };
            edited.push(format!(
                "{space}{key}: {{{entry}{parted}{}",
                members.trim_start()
            ));
        }
    }
}

/// The members of a tool on one line without the pin that leads them, or stands among them.
fn without_pin(members: &str) -> String {
    let Some((before, pinned)) = members.split_once("schema_sha256:") else {
        return members.to_owned();
    };
    let end = pinned.find([',', '}']).unwrap_or(pinned.len());
    let after = pinned[end..].strip_prefix(',').unwrap_or(&pinned[end..]);
    match after.trim_start().starts_with('}') {
        true => format!("{}{after}", before.trim_end().trim_end_matches(',')),
        false => format!("{before}{}", after.trim_start()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policy;
    use crate::definition_pin;

    const FILE: &str = "# The head.\nversion: 1\nid: t\ndefault: deny\nservers:\n  s: {}\n\ntools:\n  # First.\n  one: {}\n  two: # Second.\n    # Old:\n    schema_sha256: \"0000000000000000000000000000000000000000000000000000000000000000\"\n    args:\n      schema_sha256: {type: string}\n  three: {}\n\nrules: []\n";

    #[test]
    fn pins_are_written_and_nothing_else_changes() {
        let pin = definition_pin(r#"{"name":"x"}"#).unwrap();
        let pins = ["one", "two", "absent"]
            .map(|name| (name.to_owned(), pin))
            .into();
        let edited = write_pins(FILE, &pins).unwrap();
        let policy = Policy::load(&edited).unwrap();
        assert_eq!(policy.tool("one").unwrap().pin, Some(pin));
        assert_eq!(policy.tool("two").unwrap().pin, Some(pin));
        assert_eq!(policy.tool("three").unwrap().pin, None);
        assert_eq!(write_pins(&edited, &pins).unwrap(), edited);
        for kept in [
            "# The head.",
            "# First.",
            "# Second.",
            "# Old:",
            "schema_sha256: {type: string}",
        ] {
            assert!(edited.contains(kept), "{kept}");
        }
    }

    #[test]
    fn every_common_style_is_kept() {
        let pin = definition_pin(r#"{"name":"x"}"#).unwrap();
        let old = "0".repeat(64);
        let pins = [("one".to_owned(), pin)].into();
        for (form, written) in [
            (
                "  one: {args: {}}",
                format!("  one: {{schema_sha256: \"{pin}\", args: {{}}}}"),
            ),
            (
                &format!("  one: {{schema_sha256: '{old}'}}"),
                format!("  one: {{schema_sha256: \"{pin}\"}}"),
            ),
            (
                &format!(
                    "  one: {{args: {{}}, schema_sha256: '{old}', rate_per_minute: 1}} # Why."
                ),
                format!(
                    "  one: {{schema_sha256: \"{pin}\", args: {{}}, rate_per_minute: 1}} # Why."
                ),
            ),
            (
                &format!("  one: {{args: {{}}, schema_sha256: {old}a}}")
                    .replace(&format!("{old}a"), &"ab".repeat(32)),
                format!("  one: {{schema_sha256: \"{pin}\", args: {{}}}}"),
            ),
            (
                "  \"one\": {}",
                format!("  \"one\":\n    schema_sha256: \"{pin}\""),
            ),
            (
                "  one:\n      args: {}",
                format!("  one:\n      schema_sha256: \"{pin}\"\n      args: {{}}"),
            ),
        ] {
            let file = FILE.replace("  one: {}", form);
            let edited = write_pins(&file, &pins).unwrap_or_else(|error| panic!("{file}\n{error}"));
            assert_eq!(edited, FILE.replace("  one: {}", &written), "{form}");
            let windows = write_pins(&file.replace('\n', "\r\n"), &pins).unwrap();
            assert_eq!(windows, edited.replace('\n', "\r\n"));
        }
    }

    #[test]
    fn a_file_that_cannot_be_edited_line_by_line_is_left_alone() {
        let pin = definition_pin(r#"{"name":"x"}"#).unwrap();
        let pins = [("one".to_owned(), pin)].into();
        for form in [
            "  ? one\n  : {}",
            "  \"\\x6fne\": {}",
            "  one:\n    {args:\n    {}}",
        ] {
            let other = FILE.replace("  one: {}", form);
            assert_eq!(write_pins(&other, &pins), Err(PinEditError::Form), "{form}");
        }
        let all = FILE.replace("tools:\n", "tools: # All.\n");
        assert!(write_pins(&all, &pins).is_ok());
        assert!(matches!(
            write_pins("a: b", &pins),
            Err(PinEditError::Policy(_))
        ));
    }
}
