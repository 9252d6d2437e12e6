//! The record of one door: appending, waiting, signing heads, and staying shut when it must.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_receipts::{
    CanonicalWriter, Checkpoint, Frontier, Hash, LOG_LINE_BYTES_MAX, LogEntry, LogSigner,
    SignedCheckpoint, leaf_hash,
};
use serde::Serialize;

use crate::heads::Heads;
use crate::own::Own;
use crate::queue::Queue;
use crate::segment::Segment;
use crate::settle::{Batches, Synced};
use crate::state_file::{self, Mark};
use crate::{Files, Mode, OpenError, Options, WriteError, open};

/// The record of one door.
#[derive(Debug)]
pub struct Journal {
    signer: LogSigner,
    files: Files,
    mode: Mode,
    segment_bytes_max: u64,
    now: fn() -> String,
    inner: Mutex<Inner>,
    heads: Mutex<Option<Heads>>,
    batches: Batches,
    /// One signing of a head at a time.
    signing: Mutex<()>,
    /// One writing of the files that hold it.
    head_files: Mutex<()>,
}

/// What changes with every line.
#[derive(Debug)]
pub(crate) struct Inner {
    pub segment: Segment,
    pub frontier: Frontier,
    pub writer: CanonicalWriter,
    /// Where the record stood when its last head was signed.
    pub signed: Mark,
    /// Where the disk last said it had everything.
    pub synced: Mark,
    /// Counts the times that lines were taken back.
    pub epoch: u64,
    /// No head could be written; nothing is appended until one is.
    pub head_failed: bool,
    /// The kernel may hold lines for written that the disk never had.
    pub doubtful: bool,
    /// Lines that could not be written since the last one that was.
    pub refused: u64,
    /// Lines that are chained and not handed to the kernel yet.
    pub queue: Queue,
    /// Held as long as the record is open.
    pub lock: std::fs::File,
}

/// A line that is chained, and may still have to be waited for.
#[derive(Clone, Copy, Debug)]
#[must_use = "what the line is about must not happen before the ticket is settled"]
pub struct Ticket {
    leaf: Hash,
    size: u64,
    epoch: u64,
    /// In the mode that signs each.
    root: Option<Hash>,
}

impl Ticket {
    /// The line's leaf hash.
    #[must_use]
    pub const fn leaf(&self) -> Hash {
        self.leaf
    }

    /// Whether settling `later` settles this one too, where lines are not signed one by one.
    #[must_use]
    pub const fn is_settled_with(&self, later: &Self) -> bool {
        self.epoch == later.epoch && self.size <= later.size
    }
}

impl Inner {
    fn mark(&self) -> Mark {
        Mark {
            frontier: self.frontier.clone(),
            start: self.segment.start,
            bytes: self.segment.bytes,
        }
    }

    /// Chains one event and writes it at once; nothing may be queued.
    fn write(&mut self, event: &impl Serialize) -> Result<Hash, WriteError> {
        let leaf = self.chain(event)?;
        let written = self.segment.write(&self.queue.bytes);
        if written.is_err() {
            self.frontier.clone_from(&self.queue.before);
        }
        self.queue.clear();
        written?;
        Ok(leaf)
    }

    /// Chains one event behind what is queued.
    fn chain(&mut self, event: &impl Serialize) -> Result<Hash, WriteError> {
        let entry = LogEntry {
            event,
            previous: self.frontier.last(),
            sequence: self.frontier.size(),
        };
        let line = self.writer.write(&entry)?;
        if line.len() > LOG_LINE_BYTES_MAX {
            return Err(WriteError::TooLong);
        }
        let leaf = leaf_hash(line);
        self.queue.push(&self.frontier, line);
        self.frontier.append(leaf);
        Ok(leaf)
    }

    /// How many lines the kernel has.
    const fn handed_over(&self) -> u64 {
        self.frontier.size() - self.queue.lines
    }

    /// Takes back what is queued: none of it was written, and whoever waits for it is told.
    fn take_back(&mut self) {
        if self.queue.lines > 0 {
            self.frontier.clone_from(&self.queue.before);
            self.refused = self.refused.saturating_add(self.queue.refused());
            self.queue.clear();
            self.epoch += 1;
        }
    }

    fn roll_back(&mut self) {
        self.take_back();
        self.frontier = self.synced.frontier.clone();
        self.segment.roll_back(self.synced.bytes);
        self.epoch += 1;
    }
}

impl Journal {
    /// Opens the record in a directory, in the mode [`Mode::Written`]. See [`Journal::open_with`].
    ///
    /// # Errors
    /// [`OpenError`]; the door does not start then.
    pub fn open(directory: &Path, signer: LogSigner) -> Result<(Self, u64), OpenError> {
        Self::open_with(directory, signer, Options::default())
    }

    /// Opens the record in a directory, checks what is there against the last signed head, and
    /// goes on from it. Returns how many bytes of an unfinished last line were cut off, too.
    ///
    /// What was signed for is not read again: it takes the same time however long the record is.
    ///
    /// # Errors
    /// [`OpenError`]; the door does not start then.
    pub fn open_with(
        directory: &Path,
        signer: LogSigner,
        options: Options,
    ) -> Result<(Self, u64), OpenError> {
        // A limit on file sizes must fail the write, not end the process before it can say so.
        let _ = signal_hook::flag::register(
            signal_hook::consts::SIGXFSZ,
            Arc::new(AtomicBool::new(false)),
        );
        let files = Files::new(directory);
        let opened = open::open(&files, &signer, &options)?;
        let heads = match options.mode {
            Mode::SignEach => {
                let path = files.heads();
                let heads = Heads::open(&path);
                Some(heads.map_err(|source| OpenError::File { path, source })?)
            }
            Mode::Written | Mode::Durable => None,
        };
        let journal = Self {
            signer,
            files,
            mode: options.mode,
            segment_bytes_max: options.segment_bytes_max,
            now: options.now,
            inner: Mutex::new(opened.inner),
            heads: Mutex::new(heads),
            batches: Batches::default(),
            signing: Mutex::new(()),
            head_files: Mutex::new(()),
        };
        if opened.is_new {
            // A record always has a head beside it, so that lines without one are missing theirs.
            // This one covers nothing yet and need not be waited for: a start stays quick.
            let mark = journal.inner().mark();
            let written = journal.put_head(&mark, false);
            written.map_err(OpenError::Write)?;
        }
        if let Some(earlier) = opened.earlier_key {
            let to = journal.signer.verifier().line();
            journal.append(&Own::key_changed((journal.now)(), &earlier, &to))?;
        }
        Ok((journal, opened.torn_bytes))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes one event down, waits as the mode asks, and returns its leaf hash.
    ///
    /// # Errors
    /// [`WriteError`]; what the event is about must not happen then.
    pub fn append(&self, event: &impl Serialize) -> Result<Hash, WriteError> {
        let ticket = self.note(event)?;
        self.settle(&ticket)?;
        Ok(ticket.leaf)
    }

    /// Chains one event, without waiting for anything. It goes to the kernel with the next line that
    /// is settled, or with [`Journal::hand_over`].
    ///
    /// For what has already happened, and for several lines that are settled together: in
    /// [`Mode::Written`] and [`Mode::Durable`] settling the last of them settles them all, in
    /// [`Mode::SignEach`] every ticket is settled.
    ///
    /// # Errors
    /// [`WriteError`]; what the event is about must not happen then.
    pub fn note(&self, event: &impl Serialize) -> Result<Ticket, WriteError> {
        let mut inner = self.inner();
        let leaf = self.note_in(&mut inner, event).inspect_err(|_| {
            inner.refused = inner.refused.saturating_add(1);
        })?;
        Ok(Ticket {
            leaf,
            size: inner.frontier.size(),
            epoch: inner.epoch,
            root: (self.mode == Mode::SignEach).then(|| inner.frontier.root()),
        })
    }

    fn note_in(&self, inner: &mut Inner, event: &impl Serialize) -> Result<Hash, WriteError> {
        if inner.head_failed {
            return Err(WriteError::OutOfOrder);
        }
        if inner.queue.is_full() {
            self.hand_over_in(inner)?;
        }
        if inner.queue.lines == 0 {
            self.make_ready(inner)?;
        }
        if inner.refused > 0 {
            inner.chain(&Own::recovered((self.now)(), inner.refused))?;
            inner.queue.note_telling(std::mem::take(&mut inner.refused));
        }
        inner.chain(event)
    }

    /// Hands everything that was noted to the kernel.
    ///
    /// # Errors
    /// [`WriteError`]; the lines are taken back then, and none of their tickets can be settled.
    pub fn hand_over(&self) -> Result<(), WriteError> {
        self.hand_over_in(&mut self.inner())
    }

    fn hand_over_in(&self, inner: &mut Inner) -> Result<(), WriteError> {
        if inner.queue.lines == 0 {
            return Ok(());
        }
        let written = self.write_queue(inner);
        if written.is_err() {
            inner.take_back();
            self.batches.taken_back(inner.epoch);
        }
        written
    }

    fn write_queue(&self, inner: &mut Inner) -> Result<(), WriteError> {
        if !inner.segment.is_in_place() {
            // Where the record goes on after that, it goes on without these lines.
            inner.take_back();
            self.find_again(inner)?;
            return Err(WriteError::Unsettled);
        }
        inner.segment.tidy()?;
        inner.segment.write(&inner.queue.bytes)?;
        inner.queue.clear();
        Ok(())
    }

    /// Makes sure that the file is the one under the name, tidy, and not too long.
    fn make_ready(&self, inner: &mut Inner) -> Result<(), WriteError> {
        if !inner.segment.is_in_place() {
            self.find_again(inner)?;
        }
        inner.segment.tidy()?;
        if inner.segment.bytes >= self.segment_bytes_max {
            self.set_aside(inner)?;
        }
        Ok(())
    }

    /// Looks for the record after its file was gone from under its name: it is back, or its
    /// directory is there again without it.
    fn find_again(&self, inner: &mut Inner) -> Result<(), WriteError> {
        let path = self.files.lines();
        if std::fs::metadata(&path).is_ok_and(|found| found.len() > 0) {
            let found = Segment::open(&path, inner.segment.start)?;
            let longest = LOG_LINE_BYTES_MAX as u64;
            let goes_on = found.bytes >= inner.segment.bytes
                && match inner.frontier.last() {
                    Some(last) if inner.segment.bytes > 0 => found
                        .line_before(inner.segment.bytes, longest)?
                        .is_some_and(|line| leaf_hash(&line) == last),
                    _ => true,
                };
            if !goes_on {
                return Err(WriteError::Replaced(path));
            }
            let bytes = inner.segment.bytes;
            inner.segment = found;
            inner.segment.roll_back(bytes);
            inner.doubtful = true;
            return Ok(());
        }
        if !self.files.directory().is_dir() {
            return Err(WriteError::Gone(self.files.directory().to_owned()));
        }
        let lost = inner.frontier.size();
        inner.lock =
            open::take_lock(&self.files).map_err(|_| WriteError::Replaced(self.files.lock()))?;
        let peaks = inner.frontier.peaks().to_vec();
        inner.segment = Segment::create(&path, lost)?;
        inner.write(&Own::resumed((self.now)(), &peaks, lost))?;
        inner.segment.file.sync_data()?;
        inner.synced = inner.mark();
        // The new directory must say what it stands for before anything else is written there.
        self.write_head(&inner.synced)?;
        inner.signed = inner.synced.clone();
        Ok(())
    }

    /// Sets the full file aside and goes on in a new one, whose first line names the last of it.
    fn set_aside(&self, inner: &mut Inner) -> Result<(), WriteError> {
        inner.segment.file.sync_data()?;
        let next = self.files.next();
        let start = inner.frontier.size();
        let peaks = inner.frontier.peaks().to_vec();
        let full = std::mem::replace(&mut inner.segment, Segment::create(&next, start)?);
        let before = inner.frontier.clone();
        let aside = self.files.aside(full.start);
        let moved = inner
            .write(&Own::segment_opened((self.now)(), &peaks))
            .and_then(|_| Ok(inner.segment.file.sync_data()?))
            .and_then(|()| Ok(std::fs::rename(&full.path, &aside)?))
            .and_then(|()| {
                Ok(std::fs::rename(&next, self.files.lines()).inspect_err(|_| {
                    let _ = std::fs::rename(&aside, &full.path);
                })?)
            });
        if let Err(error) = moved {
            inner.segment = full;
            inner.frontier = before;
            return Err(error);
        }
        inner.segment.renamed(self.files.lines());
        if self.mode == Mode::SignEach {
            // Whoever adds the next head finds the name free and begins a new file.
            std::fs::rename(self.files.heads(), self.files.heads_aside(full.start))?;
        }
        inner.synced = inner.mark();
        open::sync_directory(&self.files)?;
        Ok(())
    }

    /// Waits until a noted line is as sure as the mode asks.
    ///
    /// # Errors
    /// [`WriteError`]; what the line is about must not happen then.
    pub fn settle(&self, ticket: &Ticket) -> Result<(), WriteError> {
        {
            let mut inner = self.inner();
            if ticket.epoch != inner.epoch {
                return Err(WriteError::Unsettled);
            }
            if inner.handed_over() < ticket.size {
                self.hand_over_in(&mut inner)?;
            }
        }
        match self.mode {
            Mode::Written => Ok(()),
            Mode::Durable => self
                .batches
                .wait(ticket.size, ticket.epoch, || self.sync_once()),
            Mode::SignEach => {
                let Some(root) = ticket.root else {
                    return Err(WriteError::Unsettled);
                };
                let head = self.head(ticket.size, root)?;
                let mut heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
                let heads = heads.as_mut().ok_or(WriteError::Unsettled)?;
                Ok(heads.append(&head)?)
            }
        }
    }

    fn sync_once(&self) -> Synced {
        let (mark, epoch, file) = {
            let mut inner = self.inner();
            if self.hand_over_in(&mut inner).is_err() {
                return Synced::TakenBack { epoch: inner.epoch };
            }
            (inner.mark(), inner.epoch, Arc::clone(&inner.segment.file))
        };
        let synced = file.sync_data();
        let mut inner = self.inner();
        if synced.is_err() {
            inner.roll_back();
            return Synced::TakenBack { epoch: inner.epoch };
        }
        let size = mark.frontier.size();
        if inner.epoch == epoch && size > inner.synced.frontier.size() {
            inner.synced = mark;
        }
        Synced::Until(size)
    }

    /// Signs the head when there are lines since the last one. Blocks on the disk.
    ///
    /// # Errors
    /// [`WriteError`]; nothing is appended again before a head could be signed.
    pub fn sign_head(&self) -> Result<(), WriteError> {
        let _one_at_a_time = self.signing.lock().unwrap_or_else(PoisonError::into_inner);
        let written = self.sign_head_now();
        self.inner().head_failed = written.is_err();
        written
    }

    fn sign_head_now(&self) -> Result<(), WriteError> {
        let (mark, epoch, file) = {
            let mut inner = self.inner();
            self.hand_over_in(&mut inner)?;
            if !inner.segment.is_in_place() {
                self.find_again(&mut inner)?;
            }
            inner.segment.tidy()?;
            if inner.signed.frontier.size() == inner.frontier.size() && !inner.head_failed {
                return Ok(());
            }
            if inner.doubtful {
                let signed_here = inner.signed.start == inner.segment.start;
                let from = if signed_here { inner.signed.bytes } else { 0 };
                inner.segment.write_again(from)?;
            }
            (inner.mark(), inner.epoch, Arc::clone(&inner.segment.file))
        };
        // A head never speaks of lines that a power cut could take away.
        if self.mode == Mode::Durable {
            // A failed sync is told once, so nobody may ask the disk past the others who wait.
            self.batches
                .wait(mark.frontier.size(), epoch, || self.sync_once())?;
        } else if let Err(error) = file.sync_data() {
            self.inner().doubtful = true;
            return Err(error.into());
        }
        self.write_head(&mark)?;
        let mut inner = self.inner();
        inner.doubtful = false;
        inner.signed = mark;
        Ok(())
    }

    fn head(&self, size: u64, root: Hash) -> Result<SignedCheckpoint, WriteError> {
        let checkpoint = Checkpoint {
            origin: self.signer.origin().to_owned(),
            size,
            root,
        };
        Ok(checkpoint.sign(&self.signer)?)
    }

    fn write_head(&self, mark: &Mark) -> Result<(), WriteError> {
        self.put_head(mark, true)
    }

    fn put_head(&self, mark: &Mark, synced: bool) -> Result<(), WriteError> {
        let head = self.head(mark.frontier.size(), mark.frontier.root())?;
        let text = state_file::write(mark, &head.note);
        let _one_at_a_time = self
            .head_files
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        state_file::put(&self.files.state(), &text, synced)?;
        state_file::put(&self.files.head(), &head.note, synced)?;
        Ok(())
    }

    /// Signs the heads, and what else the owner of the record signs beside it.
    #[must_use]
    pub const fn signer(&self) -> &LogSigner {
        &self.signer
    }

    /// The salt of commitments about one call.
    #[must_use]
    pub fn salt(&self, call: &[u8; 16]) -> [u8; 32] {
        self.signer.salt(call)
    }

    /// The name of the key that signs the heads.
    #[must_use]
    pub fn key_id(&self) -> &str {
        self.signer.key_id()
    }

    /// The record's name in its heads.
    #[must_use]
    pub fn origin(&self) -> &str {
        self.signer.origin()
    }

    /// What an append waits for.
    #[must_use]
    pub const fn mode(&self) -> Mode {
        self.mode
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        let inner = self.inner.get_mut().unwrap_or_else(PoisonError::into_inner);
        if inner.queue.lines > 0 {
            // Nobody is left who could be told.
            let _ = inner.segment.write(&inner.queue.bytes);
        }
    }
}
