//! `countersign-door witness`: signs a record's head when the record still holds all it held.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use countersign_journal::{AuditError, Files, keys, line_files, replace_file, walk};
use countersign_receipts::{
    AddCheckpoint, CheckpointError, Hash, SignedCheckpoint, TrustedKeys, WitnessRefusal,
    WitnessSigner,
};
use sha2::{Digest as _, Sha256};

use crate::clock;

/// Signs the head of somebody's record when the record still holds all it held when it was last
/// seen.
///
/// Run it under another user, better on another machine, with a key and a state folder of its own.
/// Exit codes: 0 signed; 1 a signature does not hold; 2 not this log's key; 3 malformed; 11 a line
/// does not follow from the one before; 12 rolled back or cut off; 13 forked.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The record's folder: every line is read.
    #[arg(long, required_unless_present = "request", conflicts_with = "request")]
    record: Option<PathBuf>,
    /// A request of the C2SP tlog-witness kind instead: a head and the proof that it follows. `-`
    /// reads standard input.
    #[arg(long)]
    request: Option<PathBuf>,
    /// The record's public keys.
    #[arg(long)]
    log_keys: PathBuf,
    /// The folder of the witness's own key; its origin is the witness's name.
    #[arg(long)]
    keys: PathBuf,
    /// The folder where the last head seen of each record is kept.
    #[arg(long)]
    state: PathBuf,
    /// Where to write the head with the witness's signature; otherwise the signature is printed.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Accept a witness's key that was made for demonstrations.
    #[arg(long)]
    demo: bool,
}

/// Why nothing is signed.
struct Refused(u8, String);

impl From<CheckpointError> for Refused {
    fn from(error: CheckpointError) -> Self {
        let code = match error {
            CheckpointError::Malformed => 3,
            CheckpointError::WrongOrigin | CheckpointError::UnknownKey => 2,
            CheckpointError::BadSignature => 1,
        };
        Self(code, error.to_string())
    }
}

impl From<WitnessRefusal> for Refused {
    fn from(refusal: WitnessRefusal) -> Self {
        let code = match &refusal {
            WitnessRefusal::Signature(error) => return (*error).into(),
            WitnessRefusal::UnknownLog => 2,
            WitnessRefusal::RolledBack { .. } => 12,
            WitnessRefusal::Forked(_) => 13,
            WitnessRefusal::Malformed | WitnessRefusal::Conflict(_) | WitnessRefusal::Proof(_) => 3,
        };
        let status = refusal.status();
        Self(code, format!("{refusal} (status {status})"))
    }
}

/// Runs the command.
pub fn run(arguments: &Args) -> anyhow::Result<ExitCode> {
    let trusted = std::fs::read_to_string(&arguments.log_keys).context("read the record's keys")?;
    let trusted = TrustedKeys::read(&trusted).context("read the record's keys")?;
    let witness = keys::open_witness(&arguments.keys, arguments.demo)?;
    std::fs::create_dir_all(&arguments.state).context("make the state folder")?;
    let about = match (&arguments.record, &arguments.request) {
        (Some(record), _) => About::Head(
            std::fs::read_to_string(Files::new(record).head()).context("read the head")?,
        ),
        (None, Some(request)) => About::Request(read_request(request)?),
        (None, None) => anyhow::bail!("give --record or --request"),
    };
    // One issuer may write several records; what was seen of each is kept apart.
    let trusted = trusted.for_note(about.note());
    let origin = trusted.origin().to_owned();
    let state = State::open(&arguments.state, &origin)?;
    let seen = state.seen(&trusted, &witness)?;
    let judged = match (&arguments.record, &about) {
        (Some(record), About::Head(note)) => follow(record, note, &trusted, seen)?,
        (_, About::Head(note) | About::Request(note)) => add(note, &trusted, seen),
    };
    let head = match judged {
        Ok(head) => head,
        Err(Refused(code, what)) => {
            eprintln!("REFUSED: {what}");
            return Ok(ExitCode::from(code));
        }
    };
    let line = witness.cosign(&head, clock::unix_seconds());
    let note = format!("{}{line}", head.note);
    // Kept before it is handed out: a signature that is forgotten could be given to a fork later.
    state.keep(&note)?;
    match &arguments.out {
        Some(out) => replace_file(out, &note).context("write the signed head")?,
        None => print!("{line}"),
    }
    eprintln!("witnessed {} lines of {origin}", head.checkpoint.size);
    Ok(ExitCode::SUCCESS)
}

/// What a witness is asked to sign.
enum About {
    /// The signed head of a record.
    Head(String),
    /// A request with a head and its proof.
    Request(String),
}

impl About {
    /// The note, from its first line on.
    fn note(&self) -> &str {
        match self {
            Self::Head(note) => note,
            Self::Request(text) => text.split_once("\n\n").map_or("", |(_, note)| note),
        }
    }
}

fn read_request(request: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    if request.as_os_str() == "-" {
        std::io::stdin()
            .take(1 << 20)
            .read_to_string(&mut text)
            .context("read standard input")?;
    } else {
        text = std::fs::read_to_string(request).context("read the request")?;
    }
    Ok(text)
}

/// Reads the whole record and looks for what was seen in it.
fn follow(
    record: &Path,
    note: &str,
    trusted: &TrustedKeys,
    seen: Option<(u64, Hash)>,
) -> anyhow::Result<Result<SignedCheckpoint, Refused>> {
    let head = match trusted.verify(note) {
        Ok(head) => head,
        Err(error) => return Ok(Err(error.into())),
    };
    let (size, root) = (head.checkpoint.size, head.checkpoint.root);
    let (seen_size, seen_root) = seen.unwrap_or((0, countersign_receipts::empty_root()));
    if size < seen_size {
        let refusal = WitnessRefusal::RolledBack {
            seen: seen_size,
            now: size,
        };
        return Ok(Err(refusal.into()));
    }
    let (mut then, mut now) = (None, None);
    let mut look = |at: u64, root: Hash| {
        if at == seen_size {
            then = Some(root);
        }
        if at == size {
            now = Some(root);
        }
    };
    look(0, countersign_receipts::empty_root());
    let walked = line_files(record).and_then(|paths| {
        walk(&paths, true, |step| {
            look(step.frontier.size(), step.frontier.root());
        })
    });
    let walked = match walked {
        Ok(walked) => walked,
        Err(error @ AuditError::File { .. }) => return Err(error.into()),
        Err(error) => return Ok(Err(Refused(11, error.to_string()))),
    };
    let lines = walked.frontier.size();
    Ok(if lines < size {
        let what = format!("{lines} lines where the head was signed for {size}: cut off");
        Err(Refused(12, what))
    } else if now != Some(root) {
        let what = format!("the first {size} lines are not the ones the head was signed for");
        Err(Refused(13, what))
    } else if walked.first > seen_size {
        let what = format!("the lines since {seen_size} are not there, so nobody can follow them");
        Err(Refused(12, what))
    } else if then.is_some_and(|then| then != seen_root) {
        Err(WitnessRefusal::Forked(seen_size).into())
    } else {
        Ok(head)
    })
}

/// Checks a request with its proof.
fn add(
    text: &str,
    trusted: &TrustedKeys,
    seen: Option<(u64, Hash)>,
) -> Result<SignedCheckpoint, Refused> {
    let judged = AddCheckpoint::read(text).and_then(|add| add.check(trusted, seen));
    judged.map_err(Refused::from)
}

/// The last head that was signed of one record.
struct State {
    path: PathBuf,
    /// Two at once could each sign one side of a fork.
    _lock: File,
}

impl State {
    fn open(directory: &Path, origin: &str) -> anyhow::Result<Self> {
        let name = hex::encode(&Sha256::digest(origin)[..16]);
        let lock = directory.join(format!("{name}.lock"));
        let lock = File::create(lock).context("lock the state")?;
        lock.lock().context("lock the state")?;
        Ok(Self {
            path: directory.join(format!("{name}.checkpoint")),
            _lock: lock,
        })
    }

    fn seen(
        &self,
        trusted: &TrustedKeys,
        witness: &WitnessSigner,
    ) -> anyhow::Result<Option<(u64, Hash)>> {
        let note = match std::fs::read_to_string(&self.path) {
            Ok(note) => note,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).context("read the last head seen"),
        };
        let path = self.path.display();
        let head = trusted
            .verify(&note)
            .with_context(|| format!("{path} is not a head of this record"))?;
        anyhow::ensure!(
            witness.verifier().signed_at(&note).is_some(),
            "{path} was not signed by this witness"
        );
        Ok(Some((head.checkpoint.size, head.checkpoint.root)))
    }

    fn keep(&self, note: &str) -> anyhow::Result<()> {
        replace_file(&self.path, note).context("keep the head")
    }
}
