//! How many tests passed, read off what the runners themselves print.

use std::fmt;
use std::io::{BufRead, BufReader};
use std::ops::Add;
use std::process::{Command, Stdio};

use anyhow::{Context, bail};

/// Tests that passed and tests that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Passed.
    pub passed: u32,
    /// Failed.
    pub failed: u32,
}

impl Add for Counts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

/// Runs a check that says nothing but yes or no.
///
/// # Errors
/// When it says no.
pub fn of_check(command: &mut Command) -> anyhow::Result<Counts> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("start {shown}"))?;
    if !status.success() {
        bail!("it said no");
    }
    Ok(Counts::default())
}

/// Runs a test runner, shows what it prints, and adds its counts up.
///
/// # Errors
/// When it cannot be started, ran no test at all, or failed in another way than by a failed test.
pub fn of_tests(command: &mut Command) -> anyhow::Result<Counts> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("start {shown}"))?;
    let mut counts = Counts::default();
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).split(b'\n') {
            let line = line?;
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            counts = counts + in_line(&line);
        }
    }
    let status = child.wait()?;
    if counts.passed == 0 && counts.failed == 0 {
        bail!("{shown} ran no test ({status})");
    }
    if !status.success() && counts.failed == 0 {
        bail!("{shown} ended with {status} after {counts}");
    }
    Ok(counts)
}

/// The counts in a closing line of Rust's own runner or of Node's; nothing in any other line.
fn in_line(line: &str) -> Counts {
    if let Some(rest) = line.strip_prefix("test result: ") {
        return Counts {
            passed: number_before(rest, " passed"),
            failed: number_before(rest, " failed"),
        };
    }
    let node = line.strip_prefix("# ").or_else(|| line.strip_prefix("ℹ "));
    match node.and_then(|rest| rest.split_once(' ')) {
        Some(("pass", number)) => Counts {
            passed: number.parse().unwrap_or(0),
            failed: 0,
        },
        Some(("fail", number)) => Counts {
            passed: 0,
            failed: number.parse().unwrap_or(0),
        },
        _ => Counts::default(),
    }
}

fn number_before(text: &str, word: &str) -> u32 {
    text.split_once(word)
        .and_then(|(before, _)| before.rsplit(|c: char| !c.is_ascii_digit()).next())
        .and_then(|digits| digits.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_are_counted_and_others_are_not() {
        let rust =
            "test result: FAILED. 14 passed; 2 failed; 0 ignored; 0 measured; finished in 3.39s";
        assert_eq!(
            in_line(rust),
            Counts {
                passed: 14,
                failed: 2
            }
        );
        assert_eq!(
            in_line("# pass 12"),
            Counts {
                passed: 12,
                failed: 0
            }
        );
        assert_eq!(
            in_line("ℹ fail 3"),
            Counts {
                passed: 0,
                failed: 3
            }
        );
        for other in [
            "test a ... ok",
            "# tests 12",
            "# passing 12 things",
            "running 3 tests",
            "",
        ] {
            assert_eq!(in_line(other), Counts::default(), "{other}");
        }
    }

    #[test]
    fn a_runner_that_ran_nothing_or_broke_is_a_failure() {
        let shell = |script: &str| of_tests(Command::new("sh").args(["-c", script]));
        assert!(shell("exit 0").is_err());
        assert!(shell("echo '# pass 3'; exit 7").is_err());
        assert_eq!(
            shell("echo '# pass 3'").expect("ran"),
            Counts {
                passed: 3,
                failed: 0
            }
        );
        let failed = shell("echo '# fail 1'; exit 1").expect("ran, and a test failed");
        assert_eq!(
            failed,
            Counts {
                passed: 0,
                failed: 1
            }
        );
    }
}
