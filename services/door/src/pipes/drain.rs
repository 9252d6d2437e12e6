//! What servers write on their standard error: read at once whatever happens, and passed on to the
//! door's own as far as somebody reads it.

use std::io::{Read, Write as _};
use std::sync::mpsc::{SyncSender, sync_channel};

use super::lines::{Line, Lines};

/// Longest line that is passed on, in bytes.
const LINE_BYTES_MAX: usize = 4 << 10;
/// Most lines that wait for a reader; later ones are dropped.
const WAITING_MAX: usize = 256;

/// Where all servers' lines go.
#[derive(Clone)]
pub struct Drain(SyncSender<String>);

impl Drain {
    /// Starts the thread that writes.
    ///
    /// # Errors
    /// When there is no thread.
    pub fn start() -> std::io::Result<Self> {
        let (sender, receiver) = sync_channel::<String>(WAITING_MAX);
        std::thread::Builder::new()
            .name("stderr".into())
            .stack_size(128 << 10)
            .spawn(move || {
                for line in receiver {
                    let _ = std::io::stderr().write_all(line.as_bytes());
                }
            })?;
        Ok(Self(sender))
    }

    /// Reads a server's standard error to its end, on a thread of its own.
    ///
    /// # Errors
    /// When there is no thread.
    pub fn read(&self, server: &str, from: impl Read + Send + 'static) -> std::io::Result<()> {
        let (sender, server) = (self.0.clone(), server.to_owned());
        std::thread::Builder::new()
            .name(format!("stderr of {server}"))
            .stack_size(128 << 10)
            .spawn(move || {
                let mut lines = Lines::new(from, LINE_BYTES_MAX);
                while lines.fill().unwrap_or(false) {
                    while let Some(line) = lines.next() {
                        // When nobody reads the door's own output the server must not wait for it.
                        let _ = sender.try_send(marked(&server, line));
                    }
                }
            })
            .map(drop)
    }
}

/// A line with its server's name, and nothing in it that moves a terminal's cursor.
fn marked(server: &str, line: Line<'_>) -> String {
    let text = match line {
        Line::Whole(line) => String::from_utf8_lossy(line),
        Line::TooLong => "(a line too long to show)".into(),
    };
    let mut marked = format!("[{server}] ");
    for character in text.chars() {
        match character.is_control() && character != '\t' {
            true => marked.extend(character.escape_default()),
            false => marked.push(character),
        }
    }
    marked.push('\n');
    marked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_cannot_write_to_the_terminal() {
        assert_eq!(
            marked("s", Line::Whole(b"a\x1b[2Jb\tc\xff")),
            "[s] a\\u{1b}[2Jb\tc\u{fffd}\n"
        );
    }
}
