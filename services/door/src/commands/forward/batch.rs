//! The next lines of a record, from a number on, without reading what was sent already.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use countersign_journal::{Files, LineReader, Read};
use serde::Deserialize;

/// Most lines of one batch.
pub const LINES_MAX: u64 = 1_000;
/// Most bytes of one batch, unless its one line is longer.
const BYTES_MAX: usize = 256 << 10;

/// Lines that follow one another.
pub struct Batch {
    /// The number of the first.
    pub first: u64,
    /// How many.
    pub count: u64,
    /// The lines with their ends.
    pub body: Vec<u8>,
}

/// What is looked at of a line.
#[derive(Deserialize)]
struct Numbered {
    sequence: u64,
}

/// Where reading goes on.
struct Place {
    path: PathBuf,
    next: u64,
    offset: u64,
}

/// Reads batches.
pub struct Reader {
    files: Files,
    place: Option<Place>,
}

impl Reader {
    /// Reads the record in this folder.
    pub fn new(record: &Path) -> Self {
        Self {
            files: Files::new(record),
            place: None,
        }
    }

    /// The lines from number `next` on; none when they are not written yet.
    pub fn read(&mut self, next: u64, lines_max: u64) -> anyhow::Result<Batch> {
        // The file may have been set aside since; the remembered place is only good for its lines.
        let remembered = self.place.take().filter(|place| place.next == next);
        let (path, offset) = match remembered {
            Some(place) if first_number(&place.path)?.is_some_and(|first| first <= next) => {
                (place.path, place.offset)
            }
            _ => match self.find(next)? {
                Some(path) => (path, 0),
                None => return Ok(Batch::none(next)),
            },
        };
        let batch = self.from(&path, offset, next, lines_max)?;
        if batch.count == 0 && path != self.files.lines() {
            // Everything of a file that was set aside is sent: the next one goes on.
            if let Some(following) = self.find(next)?.filter(|following| *following != path) {
                return self.from(&following, 0, next, lines_max);
            }
        }
        Ok(batch)
    }

    /// The last file that does not begin behind this line; the first of all when every one does.
    fn find(&self, next: u64) -> anyhow::Result<Option<PathBuf>> {
        let paths = match self.files.all_lines() {
            Ok(paths) => paths,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).context("read the record's folder"),
        };
        let mut found = None;
        for path in paths {
            let Some(first) = first_number(&path)? else {
                continue;
            };
            if first <= next || found.is_none() {
                found = Some(path);
            }
        }
        Ok(found)
    }

    fn from(
        &mut self,
        path: &Path,
        offset: u64,
        next: u64,
        lines_max: u64,
    ) -> anyhow::Result<Batch> {
        let file = File::open(path).context("open the record")?;
        let mut reader = LineReader::new(file, offset).context("read the record")?;
        let mut batch = Batch::none(next);
        let mut end = offset;
        while batch.count < lines_max {
            match reader.read().context("read the record")? {
                Read::Line(line) => {
                    let Numbered { sequence } =
                        serde_json::from_slice(line).context("read a line of the record")?;
                    if sequence >= next {
                        if batch.count == 0 {
                            batch.first = sequence;
                        } else if batch.body.len() + line.len() > BYTES_MAX {
                            break;
                        }
                        if sequence != batch.first + batch.count {
                            bail!("line {sequence} of the record does not follow");
                        }
                        batch.body.extend_from_slice(line);
                        batch.body.push(b'\n');
                        batch.count += 1;
                    }
                }
                Read::TooLong => bail!("a line of the record is too long"),
                // The door is writing it, or was cut off while it did.
                Read::Torn(_) | Read::End => break,
            }
            end = reader.end();
        }
        self.place = Some(Place {
            path: path.to_owned(),
            next: batch.first + batch.count,
            offset: end,
        });
        Ok(batch)
    }
}

impl Batch {
    const fn none(next: u64) -> Self {
        Self {
            first: next,
            count: 0,
            body: Vec::new(),
        }
    }
}

/// The number of a file's first line; nothing while it has none.
fn first_number(path: &Path) -> anyhow::Result<Option<u64>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).context("open the record"),
    };
    let mut reader = LineReader::new(file, 0).context("read the record")?;
    let Read::Line(line) = reader.read().context("read the record")? else {
        return Ok(None);
    };
    let Numbered { sequence } =
        serde_json::from_slice(line).context("read a line of the record")?;
    Ok(Some(sequence))
}
