//! What a policy says that is probably not meant, or looser than it need be.

mod arguments;
mod rules;
mod servers;
mod tools;

use std::fmt;

use crate::file::{Mode, OnChangedTool, PolicyFile};
use crate::places::Places;
use crate::read::read;
use crate::{Policy, PolicyError, WriteWords};

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The policy does not do what it says.
    Error,
    /// The policy is looser than it need be, or says something in vain.
    Warning,
}

impl Severity {
    /// The word in outputs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// Something to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How much it weighs.
    pub severity: Severity,
    /// Its stable name.
    pub code: &'static str,
    /// The keys that lead there.
    pub path: String,
    /// Counted from one.
    pub line: u64,
    /// Counted from one.
    pub column: u64,
    /// What it is and what to do.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}:{}: {} [{}] {}: {}",
            self.line,
            self.column,
            self.severity.name(),
            self.code,
            self.path,
            self.message
        )
    }
}

/// Everything the checks look at, and what they found.
struct Lint<'f> {
    file: &'f PolicyFile,
    places: &'f Places,
    words: WriteWords,
    unix_seconds: i64,
    findings: Vec<Finding>,
}

impl Lint<'_> {
    fn error(&mut self, code: &'static str, path: &str, message: impl Into<String>) {
        self.find(Severity::Error, code, path, message.into());
    }

    fn warn(&mut self, code: &'static str, path: &str, message: impl Into<String>) {
        self.find(Severity::Warning, code, path, message.into());
    }

    fn find(&mut self, severity: Severity, code: &'static str, path: &str, message: String) {
        let (line, column) = self.places.of(path);
        self.findings.push(Finding {
            severity,
            code,
            path: path.to_owned(),
            line,
            column,
            message,
        });
    }

    /// Whether a key stands in the file, also with nothing in it.
    fn is_written(&self, path: &str) -> bool {
        self.places.holds(path)
    }
}

/// Looks a policy over, in the order of its lines. `unix_seconds` is the wall clock.
///
/// # Errors
/// [`PolicyError`] when it is no policy.
pub fn lint(yaml: &str, unix_seconds: i64) -> Result<Vec<Finding>, PolicyError> {
    Policy::load(yaml)?;
    let file = read(yaml)?;
    let places = Places::read(yaml);
    let mut lint = Lint {
        file: &file,
        places: &places,
        words: WriteWords::with(&file.never_allow),
        unix_seconds,
        findings: Vec::new(),
    };
    whole(&mut lint);
    servers::look(&mut lint);
    tools::look(&mut lint);
    rules::look(&mut lint);
    let mut findings = lint.findings;
    findings.sort_by(|one, other| {
        (one.line, one.column, one.code).cmp(&(other.line, other.column, other.code))
    });
    Ok(findings)
}

/// What the head of the file says.
fn whole(lint: &mut Lint<'_>) {
    if lint.file.mode == Mode::Observe {
        lint.warn(
            "observe",
            "mode",
            "refused calls pass and are only recorded: use `enforce` once the policy is right",
        );
    }
    if !lint.file.require_pins {
        lint.warn(
            "pins_not_required",
            "require_pins",
            "a tool without a pin may change what it does: pin all of them, and take this away",
        );
    }
    if lint.file.on_changed_tool == OnChangedTool::RequireApproval {
        lint.warn(
            "changed_tool_may_pass",
            "on_changed_tool",
            "a person may release a call of a tool that nobody has looked at: prefer `block`",
        );
    }
    if lint.file.allow_dots {
        lint.warn(
            "dots",
            "allow_dots",
            "some clients turn a dot into an underscore, and two tools into one",
        );
    }
    if lint.file.servers.is_empty() {
        lint.warn(
            "no_server",
            "servers",
            "no server is named: every call of a tool is refused",
        );
    }
    if lint.file.tools.is_empty() && lint.file.methods.is_empty() {
        lint.warn(
            "nothing_allowed",
            "tools",
            "nothing is allowed: every call is refused",
        );
    }
}
