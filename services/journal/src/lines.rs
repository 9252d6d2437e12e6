//! Reading a file of lines from somewhere on, one line in memory at a time.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};

use countersign_receipts::LOG_LINE_BYTES_MAX;

/// One step of reading.
#[derive(Debug, PartialEq, Eq)]
pub enum Read<'a> {
    /// A line without its end.
    Line(&'a [u8]),
    /// Bytes behind the last line that never became one; so many.
    Torn(u64),
    /// More bytes without an end than any line has.
    TooLong,
    /// Nothing more.
    End,
}

/// Reads the lines of one file.
#[derive(Debug)]
pub struct LineReader {
    reader: BufReader<File>,
    line: Vec<u8>,
    end: u64,
}

impl LineReader {
    /// Reads from a place in the file, which must be the beginning of a line.
    ///
    /// # Errors
    /// When the file has no such place.
    pub fn new(mut file: File, from: u64) -> std::io::Result<Self> {
        file.seek(SeekFrom::Start(from))?;
        Ok(Self {
            reader: BufReader::with_capacity(64 << 10, file),
            line: Vec::new(),
            end: from,
        })
    }

    /// Where the last whole line ended, in bytes.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.end
    }

    /// The next line.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(&mut self) -> std::io::Result<Read<'_>> {
        self.line.clear();
        let most = LOG_LINE_BYTES_MAX as u64 + 1;
        let read = (&mut self.reader)
            .take(most)
            .read_until(b'\n', &mut self.line)?;
        if read == 0 {
            return Ok(Read::End);
        }
        if self.line.last() == Some(&b'\n') {
            self.end += read as u64;
            return Ok(Read::Line(&self.line[..read - 1]));
        }
        // A crash of the machine can leave any number of zeros where lines were to stand.
        let mut torn = read as u64;
        let mut zeros = self.line.iter().all(|byte| *byte == 0);
        while torn >= most && zeros {
            self.line.clear();
            let read = (&mut self.reader).take(most).read_to_end(&mut self.line)?;
            if read == 0 {
                return Ok(Read::Torn(torn));
            }
            zeros = self.line.iter().all(|byte| *byte == 0);
            torn += read as u64;
        }
        Ok(if torn < most || zeros {
            Read::Torn(torn)
        } else {
            Read::TooLong
        })
    }
}
