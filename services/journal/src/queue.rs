//! Lines that are chained and wait to be handed to the kernel, all with one write.

use countersign_receipts::Frontier;

/// From how many bytes on the next line has to wait until these are handed over.
const BYTES_MAX: usize = 256 << 10;

/// The lines, and where the record stood before them.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// The lines with their ends.
    pub bytes: Vec<u8>,
    /// How many there are.
    pub lines: u64,
    /// The frontier before the first of them.
    pub before: Frontier,
    /// How many of them say that earlier ones could not be written, and how many those were.
    tells: (u64, u64),
}

impl Queue {
    /// Adds a line, without its end, that follows from this frontier.
    pub fn push(&mut self, frontier: &Frontier, line: &[u8]) {
        if self.lines == 0 {
            self.before.clone_from(frontier);
        }
        self.bytes.extend_from_slice(line);
        self.bytes.push(b'\n');
        self.lines += 1;
    }

    /// The line that was added last says that so many earlier ones could not be written.
    pub const fn note_telling(&mut self, refused: u64) {
        self.tells.0 += 1;
        self.tells.1 += refused;
    }

    /// How many lines are not written when these are not: those, and the ones they tell of.
    pub const fn refused(&self) -> u64 {
        self.lines - self.tells.0 + self.tells.1
    }

    /// Whether it must be handed over before more is added.
    pub const fn is_full(&self) -> bool {
        self.bytes.len() >= BYTES_MAX
    }

    /// Nothing waits any more.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(BYTES_MAX);
        self.lines = 0;
        self.tells = (0, 0);
    }
}
