//! Writing pins into a policy file, leaving every other line as it is.

use std::collections::BTreeMap;
use std::fmt::Write as _;

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

fn edit(yaml: &str, pins: &BTreeMap<String, Pin>) -> String {
    let mut edited = String::with_capacity(yaml.len() + pins.len() * 90);
    let mut in_tools = false;
    // The tool whose lines are being copied, and whether its pin still has to be replaced.
    let mut replacing = None;
    for line in yaml.lines() {
        let content = line.trim_start();
        let indent = line.len() - content.len();
        if !content.is_empty() && !content.starts_with('#') {
            if indent == 0 {
                in_tools = content.trim_end() == "tools:";
                replacing = None;
            } else if in_tools && indent == 2 {
                let (name, rest) = content.split_once(':').unwrap_or((content, ""));
                replacing = pins.get(name);
                if let Some(pin) = replacing {
                    write_tool(&mut edited, name, rest, pin);
                    continue;
                }
            } else if in_tools && indent == 4 && content.starts_with("schema_sha256:") {
                // The new pin stands at the head of the tool already.
                if replacing.is_some() {
                    continue;
                }
            }
        }
        edited.push_str(line);
        edited.push('\n');
    }
    edited
}

/// The head of a tool with its pin, in the style it was written in.
fn write_tool(edited: &mut String, name: &str, rest: &str, pin: &Pin) {
    // Writing into a string cannot fail.
    let _ = match rest.trim() {
        "{}" => writeln!(edited, "  {name}:\n    schema_sha256: \"{pin}\""),
        _ => writeln!(edited, "  {name}:{rest}\n    schema_sha256: \"{pin}\""),
    };
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
    fn a_file_that_cannot_be_edited_line_by_line_is_left_alone() {
        let pin = definition_pin(r#"{"name":"x"}"#).unwrap();
        let pins = [("one".to_owned(), pin)].into();
        let flow = FILE.replace("  one: {}", "  one: {args: {}}");
        assert_eq!(write_pins(&flow, &pins), Err(PinEditError::Form));
        // A name in quotes is one that the line by line edit does not find.
        let quoted = FILE.replace("  one: {}", "  \"one\": {}");
        assert_eq!(write_pins(&quoted, &pins), Err(PinEditError::Form));
        assert!(matches!(
            write_pins("a: b", &pins),
            Err(PinEditError::Policy(_))
        ));
    }
}
