//! Files that belong to others.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use crate::outcome::Outcome;

/// Most that is reported of a file.
const SHOWN_BYTES_MAX: u64 = 200;

/// Reads the one, writes the other.
pub fn run(read: &[String], write: &[String]) -> Vec<Outcome> {
    let reads = read
        .iter()
        .map(|path| Outcome::of(format!("read {path}"), read_one(Path::new(path))));
    let writes = write
        .iter()
        .map(|path| Outcome::of(format!("write {path}"), write_one(Path::new(path))));
    reads.chain(writes).collect()
}

fn read_one(path: &Path) -> io::Result<String> {
    if path.is_dir() {
        let names: io::Result<Vec<String>> = fs::read_dir(path)?
            .take(3)
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect();
        return Ok(names?.join(", "));
    }
    let file = fs::File::open(path)?;
    // The memory of a process opens or does not; its first page is never there.
    if path.ends_with("mem") {
        return Ok("opened".to_owned());
    }
    let mut bytes = Vec::new();
    file.take(SHOWN_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).replace('\0', " "))
}

fn write_one(path: &Path) -> io::Result<&'static str> {
    if path.is_dir() {
        let name = format!("countersign-hostile-{}", std::process::id());
        let made = path.join(name);
        fs::write(&made, "here")?;
        fs::remove_file(made)?;
        return Ok("made a file");
    }
    // Opened and left as it is: were this let happen, the control run must not break what it proves.
    fs::OpenOptions::new().append(true).open(path)?;
    Ok("opened for writing")
}
