//! The commands, one file each: `Args` and `run(Args) -> anyhow::Result<ExitCode>`.

/// Prints a line, to whoever still reads.
macro_rules! say {
    ($($text:tt)*) => {
        $crate::commands::put(&format!("{}\n", format_args!($($text)*)))
    };
}

mod ask;
pub mod completion;
pub mod configured;
pub mod decide;
mod definitions;
pub mod demo;
pub mod explain;
pub mod export;
pub mod forward;
pub mod init;
mod judgement;
pub mod keys;
pub mod lint;
pub mod pin;
pub mod place;
mod policy_file;
pub mod report;
pub mod run;
pub mod screen;
pub mod serve;
pub mod verify;
pub mod witness;

/// An error and what led to it, one line each.
pub fn told(error: &anyhow::Error) -> String {
    use std::fmt::Write as _;
    let mut text = format!("Error: {error}");
    let causes: Vec<_> = error.chain().skip(1).collect();
    if !causes.is_empty() {
        text.push_str("\n\nCaused by:");
    }
    for (number, cause) in causes.iter().enumerate() {
        let _ = match causes.len() {
            1 => write!(text, "\n    {cause}"),
            _ => write!(text, "\n{number:>5}: {cause}"),
        };
    }
    text
}

/// Prints a text. A reader that has had enough, `head` say, is no error: the exit code still tells.
fn put(text: &str) {
    let _ = std::io::Write::write_all(&mut std::io::stdout().lock(), text.as_bytes());
}
