//! The held calls, and the one place where a hold ends.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use countersign_receipts::{
    Approval, ApprovalDecision, ApprovalError, ApprovalReason, ApprovalWay, Approver, Hash,
    HeldCall, SignedApproval,
};

use super::decision::{
    Ask, Choice, DecideError, Decision, Ended, HoldError, HoldId, Past, Seen, Still, Tell, Why,
};
use super::keeper::Keeper;
use super::record::{Line, NotWritten, Record};
use super::terms::{TIME_TO_LIVE_MAX, Terms, Ways};
use crate::clock::Now;

/// Most calls held at once.
pub const HOLDS_MAX: usize = 64;
/// Most calls of one caller held at once, so that one cannot take every place.
pub const HOLDS_OF_ONE_MAX: usize = 32;
/// Most bytes of held messages at once.
pub const HELD_BYTES_MAX: usize = 16 << 20;
/// Most ended holds remembered, so that a late decision is told how it ended.
const ENDED_MAX: usize = 256;

/// The held calls of one door.
pub struct Holds {
    record: Arc<dyn Record>,
    available: Ways,
    registry: Mutex<Registry>,
    changes: tokio::sync::watch::Sender<u64>,
    keeper: Option<Keeper>,
}

#[derive(Default)]
struct Registry {
    open: HashMap<HoldId, Arc<Entry>>,
    by_call: HashMap<[u8; 16], HoldId>,
    bytes: usize,
    past: VecDeque<Past>,
    stopping: bool,
}

struct Entry {
    held: Arc<HeldCall>,
    digest: Hash,
    terms: Terms,
    expires_at: u64,
    /// Whoever ends the hold has this lock from the first check to the last line. One wins.
    ending: Mutex<Ending>,
}

struct Ending {
    ended: Option<Why>,
    countdown_at: Option<u64>,
    still: Still,
    tell: Option<Tell>,
}

/// A poisoned lock still guards whole values: every change below is one assignment.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Holds {
    /// No held calls yet. `available` says which ways are open at this door.
    pub fn new(record: Arc<dyn Record>, available: Ways) -> Self {
        Self {
            record,
            available,
            registry: Mutex::default(),
            changes: tokio::sync::watch::Sender::new(0),
            keeper: None,
        }
    }

    /// The same, with a thread of its own that ends what is due. It starts with the first hold.
    pub fn kept(record: Arc<dyn Record>, available: Ways) -> Arc<Self> {
        Arc::new_cyclic(|holds| Self {
            keeper: Some(Keeper::new(holds.clone())),
            ..Self::new(record, available)
        })
    }

    /// Holds a call and returns at once.
    ///
    /// # Errors
    /// [`HoldError`]; nobody is told then.
    pub fn hold(&self, ask: Ask, now: Now) -> Result<HoldId, HoldError> {
        let Ask {
            held,
            mut terms,
            still,
            tell,
        } = ask;
        terms.ways = self.available.both(terms.ways);
        if !terms.ways.any() {
            return Err(HoldError::NoApprover);
        }
        // A countdown that no person can stop is none that may end by itself.
        if !terms.ways.page && !terms.ways.webhook {
            terms.countdown = None;
        }
        let hold = held.approval;
        let bytes = held.opening.message.len();
        let forward = |wait: std::time::Duration| {
            let wait = u64::try_from(wait.min(TIME_TO_LIVE_MAX).as_millis()).unwrap_or(u64::MAX);
            now.monotonic_milliseconds.saturating_add(wait)
        };
        let entry = Arc::new(Entry {
            digest: held.opening.digest(),
            expires_at: forward(terms.time_to_live),
            ending: Mutex::new(Ending {
                ended: None,
                countdown_at: terms.countdown.map(forward),
                still,
                tell: Some(tell),
            }),
            held: Arc::new(held),
            terms,
        });
        {
            let mut registry = locked(&self.registry);
            if registry.stopping {
                return Err(HoldError::Stopping);
            }
            let identity = &entry.held.opening.identity;
            let is_theirs = |other: &&Arc<Entry>| other.held.opening.identity == *identity;
            let full = registry.open.len() >= HOLDS_MAX
                || registry.open.values().filter(is_theirs).count() >= HOLDS_OF_ONE_MAX
                || registry.bytes.saturating_add(bytes) > HELD_BYTES_MAX
                || registry.open.contains_key(&hold);
            if full {
                return Err(HoldError::Full);
            }
            registry.bytes += bytes;
            registry.by_call.insert(entry.held.call, hold);
            registry.open.insert(hold, entry);
        }
        self.changed();
        Ok(hold)
    }

    /// Decides about a held call: signs, checks the own signature, writes it down, and only then
    /// tells whoever waits.
    ///
    /// # Errors
    /// [`DecideError`]; the hold is as it was before, unless it had ended or ends now otherwise.
    pub fn decide(&self, decision: Decision, now: Now) -> Result<Past, DecideError> {
        let entry = self.find(&decision.hold)?;
        let ending = locked(&entry.ending);
        if let Some(why) = ending.ended {
            return Err(DecideError::Final(why));
        }
        if now.monotonic_milliseconds >= entry.expires_at {
            self.end_alone(&entry, ending, Why::Expired, now);
            return Err(DecideError::Final(Why::Expired));
        }
        if decision.digest != entry.digest {
            return Err(DecideError::OtherCall);
        }
        if !entry.terms.ways.has(decision.approver.way) {
            return Err(DecideError::WrongWay);
        }
        match (&entry.held.commit, &decision.commit) {
            (held, Some(looked_at)) if held.as_ref() != Some(looked_at) => {
                return Err(DecideError::OtherCommit);
            }
            // Another system looked at a commit, so it has to say which.
            (Some(_), None) if decision.approver.way == ApprovalWay::Webhook => {
                return Err(DecideError::OtherCommit);
            }
            _ => {}
        }
        let why = match decision.choice {
            Choice::Deny => Why::Denied,
            Choice::Approve if (ending.still)() => Why::Released,
            Choice::Approve => {
                self.end_alone(&entry, ending, Why::Changed, now);
                return Err(DecideError::Final(Why::Changed));
            }
        };
        let by = Some(decision.approver);
        self.end(&entry, ending, why, by, decision.note, now)
    }

    /// Stops a countdown: from now on only a person decides.
    ///
    /// # Errors
    /// [`DecideError`], among them that there is no countdown any more.
    pub fn stop_countdown(
        &self,
        hold: &HoldId,
        by: &Approver,
        now: Now,
    ) -> Result<(), DecideError> {
        let entry = self.find(hold)?;
        let mut ending = locked(&entry.ending);
        if let Some(why) = ending.ended {
            return Err(DecideError::Final(why));
        }
        if !by.way.is_a_person() || !entry.terms.ways.has(by.way) {
            return Err(DecideError::WrongWay);
        }
        // Stopped first and written down afterwards: stopping is the careful side.
        ending.countdown_at = None;
        drop(ending);
        self.changed();
        let mut line = Line::about(
            &entry.held,
            now.text(),
            "countdown_stopped",
            "held_by_a_person",
        );
        line.by = Some(&by.name);
        self.record.write(&line)?;
        Ok(())
    }

    /// Whoever asked went away: recorded as a denial, nobody has to decide any more.
    pub fn withdraw_call(&self, call: &[u8; 16], now: Now) {
        let entry = {
            let registry = locked(&self.registry);
            let hold = registry.by_call.get(call);
            hold.and_then(|hold| registry.open.get(hold))
                .map(Arc::clone)
        };
        if let Some(entry) = entry {
            self.end_now(&entry, Why::Withdrawn, now);
        }
    }

    /// Ends what is due: countdowns that nobody stopped, and holds that nobody decided. Returns when
    /// the next one is due, on the forward clock.
    pub fn sweep(&self, now: Now) -> Option<u64> {
        let open: Vec<_> = locked(&self.registry).open.values().cloned().collect();
        let mut next: Option<u64> = None;
        for entry in open {
            let countdown_at = locked(&entry.ending).countdown_at;
            if entry.expires_at <= now.monotonic_milliseconds {
                self.end_now(&entry, Why::Expired, now);
                continue;
            }
            if countdown_at.is_some_and(|at| at <= now.monotonic_milliseconds) {
                self.end_countdown(&entry, now);
                continue;
            }
            let due = countdown_at.map_or(entry.expires_at, |at| at.min(entry.expires_at));
            next = Some(next.map_or(due, |next| next.min(due)));
        }
        next
    }

    /// Denies everything that is held and holds nothing more: the door stops.
    pub fn shut_down(&self, now: Now) {
        let open: Vec<_> = {
            let mut registry = locked(&self.registry);
            registry.stopping = true;
            registry.open.values().cloned().collect()
        };
        for entry in open {
            self.end_now(&entry, Why::ShutDown, now);
        }
    }

    /// Has everything that was written covered by a signed head: a receipt is shown under one.
    pub fn seal(&self) -> Result<(), NotWritten> {
        self.record.seal()
    }

    /// The held calls, oldest first.
    pub fn open(&self) -> Vec<Seen> {
        let entries: Vec<_> = locked(&self.registry).open.values().cloned().collect();
        let mut seen: Vec<_> = entries.iter().map(|entry| entry.seen()).collect();
        seen.sort_by(|one, other| {
            (&one.held.held_at, one.held.approval).cmp(&(&other.held.held_at, other.held.approval))
        });
        seen
    }

    /// One held call.
    pub fn seen(&self, hold: &HoldId) -> Option<Seen> {
        let entry = locked(&self.registry).open.get(hold).cloned();
        entry.map(|entry| entry.seen())
    }

    /// The hold of a call.
    pub fn seen_of_call(&self, call: &[u8; 16]) -> Option<Seen> {
        let hold = locked(&self.registry).by_call.get(call).copied()?;
        self.seen(&hold)
    }

    /// How holds ended, newest first.
    pub fn past(&self) -> Vec<Past> {
        locked(&self.registry).past.iter().rev().cloned().collect()
    }

    /// Tells of changes: the number grows with each.
    pub fn changes(&self) -> tokio::sync::watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn changed(&self) {
        self.changes.send_modify(|version| *version += 1);
        if let Some(keeper) = &self.keeper {
            keeper.wake();
        }
    }

    fn find(&self, hold: &HoldId) -> Result<Arc<Entry>, DecideError> {
        let registry = locked(&self.registry);
        if let Some(entry) = registry.open.get(hold) {
            return Ok(Arc::clone(entry));
        }
        let past = registry.past.iter().find(|past| past.hold == *hold);
        Err(past.map_or(DecideError::Unknown, |past| DecideError::Final(past.why)))
    }

    /// Ends a hold without anybody's decision, unless it has ended.
    fn end_now(&self, entry: &Entry, why: Why, now: Now) {
        let ending = locked(&entry.ending);
        if ending.ended.is_none() {
            self.end_alone(entry, ending, why, now);
        }
    }

    /// Releases a hold whose countdown ended, unless somebody stopped it or it has ended.
    fn end_countdown(&self, entry: &Entry, now: Now) {
        let mut ending = locked(&entry.ending);
        let due = |at| at <= now.monotonic_milliseconds;
        if ending.ended.is_some() || !ending.countdown_at.is_some_and(due) {
            return;
        }
        if !(ending.still)() {
            return self.end_alone(entry, ending, Why::Changed, now);
        }
        // Tried once: what cannot be written down now waits for a person.
        ending.countdown_at = None;
        let by = Approver {
            way: ApprovalWay::Countdown,
            name: entry.held.rule.clone(),
        };
        if let Err(error) = self.end(entry, ending, Why::Released, Some(by), None, now) {
            tracing::error!(%error, "A countdown could not release its call");
        }
    }

    /// Ends a hold as the door itself may: by denying. It ends even where it cannot be written
    /// down, since nothing passes by it.
    fn end_alone(&self, entry: &Entry, ending: MutexGuard<'_, Ending>, why: Why, now: Now) {
        let written = self.write(entry, why, None, None, now);
        if let Err(error) = &written {
            tracing::error!(%error, "Could not record how a held call ended");
        }
        self.finish(entry, ending, (why, None), written.ok(), now);
    }

    /// Ends a hold by somebody's decision, once it is signed, checked and written down.
    fn end(
        &self,
        entry: &Entry,
        ending: MutexGuard<'_, Ending>,
        why: Why,
        by: Option<Approver>,
        note: Option<String>,
        now: Now,
    ) -> Result<Past, DecideError> {
        let way = by.as_ref().map(|by| by.way);
        let written = self.write(entry, why, by, note, now)?;
        Ok(self.finish(entry, ending, (why, way), Some(written), now))
    }

    fn write(
        &self,
        entry: &Entry,
        why: Why,
        by: Option<Approver>,
        note: Option<String>,
        now: Now,
    ) -> Result<(Hash, SignedApproval), DecideError> {
        let (event, decision) = match why {
            Why::Released => ("released", ApprovalDecision::Released),
            _ => ("denied", ApprovalDecision::Denied),
        };
        let by_countdown = by
            .as_ref()
            .is_some_and(|by| by.way == ApprovalWay::Countdown);
        let reason = match by_countdown {
            true => ApprovalReason::Countdown,
            false => why.reason(),
        };
        let signer = self.record.signer();
        let mut approval = Approval::about(&entry.held, decision, reason, now.text(), signer);
        approval.decided_by = by;
        approval.note = note;
        let signed = approval.sign(signer)?;
        // The own receipt is checked as a stranger would check it, before anything rests on it.
        let read = signed.verify(&signer.verifier())?;
        if read != approval || read.digest != entry.digest {
            return Err(ApprovalError::Malformed.into());
        }
        let mut line = Line::about(&entry.held, now.text(), event, why.code());
        line.approval = Some(&signed);
        let leaf = self.record.write(&line)?;
        Ok((leaf, signed))
    }

    fn finish(
        &self,
        entry: &Entry,
        mut ending: MutexGuard<'_, Ending>,
        (why, by): (Why, Option<ApprovalWay>),
        written: Option<(Hash, SignedApproval)>,
        now: Now,
    ) -> Past {
        ending.ended = Some(why);
        ending.countdown_at = None;
        let tell = ending.tell.take();
        let (leaf, signed) = written.unzip();
        let hold = entry.held.approval;
        let opening = &entry.held.opening;
        let past = Past {
            hold,
            server: opening.server.clone(),
            name: opening.tool.as_ref().unwrap_or(&opening.method).clone(),
            why,
            leaf,
            signed,
            at: now.text(),
        };
        {
            let mut registry = locked(&self.registry);
            if registry.open.remove(&hold).is_some() {
                registry.bytes -= opening.message.len();
                registry.by_call.remove(&entry.held.call);
            }
            if registry.past.len() >= ENDED_MAX {
                registry.past.pop_front();
            }
            registry.past.push_back(past.clone());
        }
        drop(ending);
        self.changed();
        if let Some(tell) = tell {
            tell(Ended {
                hold,
                leaf,
                why,
                by,
            });
        }
        past
    }
}

impl Entry {
    fn seen(&self) -> Seen {
        Seen {
            held: Arc::clone(&self.held),
            digest: self.digest,
            terms: self.terms.clone(),
            countdown_at: locked(&self.ending).countdown_at,
            expires_at: self.expires_at,
        }
    }
}

#[cfg(test)]
mod tests;
