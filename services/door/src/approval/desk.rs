//! The door's side of holding: what is judged to need a person is left here, and comes back decided.

use std::sync::{Arc, Weak};
use std::time::Duration;

use countersign_policy::{Live, Way};
use countersign_receipts::{ApprovalWay, Approver, CallOpening, Hash, HeldCall, LogSigner};
use countersign_wire::Frame;

use super::decision::{Ask, Decision, Ended, HoldError, Seen, Still, Why};
use super::elicit;
use super::holds::Holds;
use super::record::{Line, NotWritten, Record};
use super::terms::{Terms, Ways};
use crate::clock::{self, Now};
use crate::door::Door;
use crate::judge::hold::{self, Decided, Held, Tell};
use crate::judge::refusal::{Code, Refusal};
use crate::log::DecisionLog;

impl Record for DecisionLog {
    fn signer(&self) -> &LogSigner {
        self.signer()
    }

    fn write(&self, line: &Line<'_>) -> Result<Hash, NotWritten> {
        self.append(line).map_err(|error| NotWritten(error.into()))
    }

    fn seal(&self) -> Result<(), NotWritten> {
        self.sign_head().map_err(|error| NotWritten(error.into()))
    }
}

/// Where the door leaves calls that wait for a person.
pub struct Desk {
    /// The held calls.
    pub holds: Arc<Holds>,
    /// Asked what holds when a call would be released. The door keeps this desk, not the reverse.
    door: Weak<Door>,
    log: Arc<DecisionLog>,
}

impl Desk {
    /// The desk of a door, over these ways.
    pub fn new(door: &Arc<Door>, available: Ways) -> Self {
        let log = Arc::clone(&door.log);
        Self {
            holds: Holds::kept(Arc::clone(&log) as Arc<dyn Record>, available),
            door: Arc::downgrade(door),
            log,
        }
    }

    /// Whether a call is judged by the same policy, and its tool is the same, as when it was held.
    fn still(&self, held: &Held<'_>) -> Still {
        let door = Weak::clone(&self.door);
        let policy = held.policy.clone();
        let tool = held.tool.map(str::to_owned);
        let definition = held.definition.map(str::to_owned);
        let server = held.server.to_owned();
        Box::new(move || {
            let Some(door) = door.upgrade() else {
                return false;
            };
            if door.rules().mark != policy {
                return false;
            }
            let (Some(tool), Some(definition)) = (&tool, &definition) else {
                return true;
            };
            let server = door.servers.iter().find(|one| *one.name == *server);
            let live = server.and_then(|server| server.catalogue.last_seen(tool));
            matches!(live, Some(Live::Offered(pin)) if pin.to_string() == *definition)
        })
    }

    fn held_call(&self, held: &Held<'_>, terms: &Terms, now: Now) -> Result<HeldCall, Refusal> {
        let not_recorded = |_| Refusal::new(Code::NotRecorded, "not_recorded");
        let approval = clock::random_id().map_err(not_recorded)?;
        // Strict JSON is UTF-8, and only such bytes are judged.
        let message = String::from_utf8(held.bytes.to_vec())
            .map_err(|_| Refusal::malformed(-32_700, "malformed"))?;
        Ok(HeldCall {
            approval,
            call: held.call,
            held: held.leaf,
            opening: CallOpening {
                salt: self.log.salt(&approval).into(),
                server: held.server.to_owned(),
                method: held.method.to_owned(),
                tool: held.tool.map(str::to_owned),
                definition: held.definition.map(str::to_owned),
                identity: held.identity.to_owned(),
                policy_sha256: held.policy.sha256().to_owned(),
                message,
            },
            rule: held.rule.to_owned(),
            policy: held.policy.id().to_owned(),
            commit: held.wishes.commit.clone(),
            held_at: now.text(),
            expires_at: now.text_after(terms.time_to_live),
        })
    }
}

impl hold::Holds for Desk {
    fn hold(&self, held: &Held<'_>, tell: Tell) -> Result<(), Refusal> {
        let now = Now::read();
        let mut terms = held.hold.map_or(Terms::DEFAULT, terms);
        terms.ways.client &= held.client_takes_questions;
        if held.wishes.person {
            terms = terms.for_a_person();
        }
        let call = self.held_call(held, &terms, now)?;
        let rule: Box<str> = held.rule.into();
        let ask = Ask {
            held: call.clone(),
            terms,
            still: self.still(held),
            tell: Box::new(move |ended| tell(decided(&ended, &rule))),
        };
        let Err(error) = self.holds.hold(ask, now) else {
            tracing::info!(rule = held.rule, "A call waits for a person");
            return Ok(());
        };
        let reason = match error {
            HoldError::NoApprover => "no_approver",
            HoldError::Full => "too_many_held",
            HoldError::Stopping => "door_stops",
        };
        let line = Line::about(&call, now.text(), "denied", reason);
        let leaf = self.log.append(&line).map_err(|error| {
            tracing::error!(%error, "Could not record that a call is not held");
            Refusal::new(Code::NotRecorded, "not_recorded")
        })?;
        Err(Refusal::new(Code::ApprovalNeeded, reason)
            .with_rule(held.rule)
            .with_receipt(leaf))
    }

    fn withdraw(&self, call: &[u8; 16]) {
        self.holds.withdraw_call(call, Now::read());
    }

    fn held_of(&self, identity: &str) -> usize {
        let open = self.holds.open();
        let is_theirs = |seen: &&Seen| seen.held.opening.identity == identity;
        open.iter().filter(is_theirs).count()
    }

    fn held_in_all(&self) -> usize {
        self.holds.open().len()
    }

    fn question(&self, call: &[u8; 16]) -> Option<String> {
        let seen = self.holds.seen_of_call(call)?;
        seen.terms.ways.client.then(|| elicit::question(&seen))
    }

    fn take_answer(&self, identity: &str, frame: &Frame<'_>) -> bool {
        let Some((hold, digest, choice)) = elicit::read(frame) else {
            return false;
        };
        let decision = Decision {
            hold,
            digest,
            choice,
            approver: Approver {
                way: ApprovalWay::Client,
                name: identity.to_owned(),
            },
            note: None,
            commit: None,
        };
        if let Err(error) = self.holds.decide(decision, Now::read()) {
            // Somebody else was faster, mostly. The client learns it by the answer to its call.
            tracing::warn!(%error, "A client's answer about a held call does not count");
        }
        true
    }
}

/// The policy's terms, as holds know them.
fn terms(hold: &countersign_policy::Hold) -> Terms {
    let seconds = |seconds: u32| Duration::from_secs(seconds.into());
    Terms {
        time_to_live: seconds(hold.ttl_seconds),
        // Said twice on purpose: what cannot be undone never goes on by itself.
        countdown: hold
            .countdown_seconds
            .filter(|_| hold.reversible)
            .map(seconds),
        ways: Ways {
            page: hold.ways.contains(&Way::Page),
            webhook: hold.ways.contains(&Way::Webhook),
            client: hold.ways.contains(&Way::Elicitation),
        },
    }
}

/// How a hold ended, for the front that waits.
fn decided(ended: &Ended, rule: &str) -> Decided {
    let (code, reason) = match (ended.why, ended.leaf) {
        (Why::Released, Some(leaf)) => return Decided::Released(leaf),
        (Why::Released, None) => (Code::NotRecorded, "not_recorded"),
        (Why::Denied, _) if ended.by == Some(ApprovalWay::Client) => {
            (Code::DeniedByPerson, "denied_by_client")
        }
        (Why::Denied, _) => (Code::DeniedByPerson, "denied_by_person"),
        (Why::Expired, _) => (Code::ApprovalExpired, "approval_expired"),
        (Why::Withdrawn, _) => (Code::ApprovalExpired, "withdrawn"),
        (Why::ShutDown, _) => (Code::ApprovalNeeded, "door_stops"),
        (Why::Changed, _) => (Code::ReleaseRefused, "changed_while_held"),
    };
    let mut refusal = Refusal::new(code, reason)
        .with_rule(rule)
        .with_approval(&hex::encode(ended.hold));
    if let Some(leaf) = ended.leaf {
        refusal = refusal.with_receipt(leaf);
    }
    Decided::Refused(refusal)
}
