//! One message of a client: the checks in their order, and the record of what came out.

mod call;
mod told;

use std::hash::{Hash as _, Hasher as _};
use std::sync::{Arc, Mutex};
use std::time::{Instant, SystemTime};

use countersign_journal::Ticket;
use countersign_policy::{Circumstances, Counted, Decision, Effect, Hold, Reservation};
use countersign_receipts::Hash;
use countersign_wire::{Frame, FrameError, Kind};

use super::asked::Asked;
use super::catalogue::CatalogueMark;
use super::edits::Edits;
use super::ending::Ending;
use super::hold::Held;
use super::methods::{self, List, Route};
use super::refusal::{Code, Refusal};
use crate::approval::meta;
use crate::caller::Caller;
use crate::clock;
use crate::door::{Door, Rules};
use crate::record::{Decided, Subject};
use crate::telemetry::{Parent, Span};

/// Longest message of a client, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 1 << 20;

/// What becomes of a message.
#[derive(Debug)]
pub enum Ruling {
    /// It goes on, and its line stands in the record.
    Pass(Passage),
    /// A person has to decide; that it is held stands in the record. Where it goes on, it goes on
    /// under the leaf of the line that released it.
    Hold(Passage, OnHold),
    /// It does not go on, and its line stands in the record.
    Refuse(Refusal),
    /// The definitions of its server have to be read first; then it is judged again.
    ReadDefinitions,
}

/// A message on its way to a server.
#[derive(Debug)]
pub struct Passage {
    /// The leaf of the line that let it pass.
    pub leaf: Hash,
    /// Settled before the message goes on; none where that was waited for.
    pub ticket: Option<Ticket>,
    /// What to change in its bytes.
    pub edits: Edits,
    /// What its answer has to be; of requests.
    pub asked: Option<Asked>,
    /// What caps have counted for it.
    pub counted: Reservation,
}

impl Passage {
    /// The tool, of a call.
    pub fn tool(&self) -> Option<Box<str>> {
        self.asked.as_ref()?.tool.clone()
    }

    /// It stays where it is: nothing has begun that could end, and what it would have used up is
    /// there again.
    pub fn never_went_on(self, door: &Door) {
        door.caps.give_back(self.counted);
        if let Some(asked) = self.asked {
            asked.ending.never_went_on();
        }
    }

    /// The same message, released by a line of its own.
    pub fn under(mut self, leaf: Hash, door: &Door) -> Self {
        if let Some(asked) = &mut self.asked {
            // A held call has not ended: the ending of the line that held it is never written.
            let released = door.ending(leaf, asked.server);
            let mut held = std::mem::replace(&mut asked.ending, released);
            asked.ending.set_span(held.take_span());
            held.never_went_on();
        }
        self.leaf = leaf;
        self.ticket = None;
        self
    }
}

/// What an approver has to know besides the message itself.
#[derive(Debug)]
pub struct OnHold {
    /// The rule that asks for a person.
    pub rule: Box<str>,
    /// For how long and by which ways.
    pub hold: Option<Hold>,
    /// The pin of the tool's definition as it was judged.
    pub definition: Option<String>,
    /// The refusal when nobody can be asked.
    pub refusal: Refusal,
}

/// A message whose sender is known.
pub struct Message<'m> {
    /// The door it came to.
    pub door: &'m Door,
    /// The rules it is judged by, all of it by the same ones.
    pub rules: Arc<Rules>,
    /// Who sent it.
    pub caller: &'m Caller,
    /// Its own name, random.
    pub call: [u8; 16],
    /// The server it is for, by its place among the door's servers.
    pub server: usize,
    /// Its bytes.
    pub bytes: &'m [u8],
    /// When it was taken in; only where that is told.
    since: Option<Instant>,
    /// The same by the time of day.
    began: Option<SystemTime>,
    /// The span it was sent in, where its transport says so.
    parent: Option<Parent>,
    /// Its own span, until whatever ends it is there.
    span: Mutex<Option<Span>>,
}

impl<'m> Message<'m> {
    /// Takes in a message for a server.
    ///
    /// # Errors
    /// The refusal when the kernel gives no random bytes: it could not be recorded.
    pub fn new(
        door: &'m Door,
        caller: &'m Caller,
        server: usize,
        bytes: &'m [u8],
    ) -> Result<Self, Refusal> {
        let call =
            clock::random_id().map_err(|_| Refusal::new(Code::NotRecorded, "not_recorded"))?;
        Ok(Self {
            door,
            rules: door.rules(),
            caller,
            call,
            server,
            bytes,
            since: door.telemetry().map(|_| clock::stopwatch()),
            began: door.telemetry().map(|_| clock::time_of_day()),
            parent: None,
            span: Mutex::default(),
        })
    }

    /// A message that was taken in before, under the rules it was judged by then.
    pub fn again(
        door: &'m Door,
        rules: Arc<Rules>,
        caller: &'m Caller,
        call: [u8; 16],
        server: usize,
        bytes: &'m [u8],
    ) -> Self {
        Self {
            door,
            rules,
            caller,
            call,
            server,
            bytes,
            since: None,
            began: None,
            parent: None,
            span: Mutex::default(),
        }
    }

    /// The same message, sent in this span.
    pub const fn sent_in(mut self, parent: Option<Parent>) -> Self {
        self.parent = parent;
        self
    }

    /// Counts the message, whatever it says. A flood of refused ones must not fill the disk with
    /// their record: of those beyond the limit only the first is written down.
    pub fn count(&self) -> Counted {
        let now = clock::monotonic_milliseconds();
        let identity = &self.caller.identity;
        let counted = self
            .rules
            .policy
            .take_message(identity, now, &self.door.rates);
        if counted == Counted::FirstBeyond {
            tracing::warn!(%identity, "Refused a flood of messages of {identity}");
            let refusal = Refusal::new(Code::Blocked, "flood");
            self.refuse(None, "message_rate_per_minute", refusal);
        }
        counted
    }

    /// Judges a request or a notification. An answer was not asked for here: see `Session`.
    pub fn judge(&self, frame: &Frame<'_>) -> Ruling {
        let ruled = match frame.kind() {
            Kind::Answer => {
                let refusal = Refusal::malformed(-32_600, "answer_not_asked_for");
                Err(self.refuse(Some(frame), "frame", refusal))
            }
            Kind::Request | Kind::Notification => self.route(frame),
        };
        ruled.unwrap_or_else(Ruling::Refuse)
    }

    /// Records that bytes are no message, and says so.
    pub fn malformed(&self, error: &FrameError) -> Refusal {
        self.refuse(None, "frame", Refusal::malformed(error.code(), "malformed"))
    }

    /// Records an answer that passes to the server that asked for it.
    ///
    /// # Errors
    /// The refusal when it cannot be recorded.
    pub fn pass_answer(&self, frame: &Frame<'_>) -> Result<Hash, Refusal> {
        self.write(&Decided::plumbing(&self.subject(Some(frame))))
    }

    /// Records a refusal that the policy was not asked about, and says so.
    pub fn refuse(&self, frame: Option<&Frame<'_>>, rule: &str, refusal: Refusal) -> Refusal {
        let subject = self.subject(frame);
        match self.write(&Decided::refused(&subject, rule, refusal.reason())) {
            Ok(leaf) => refusal.with_rule(rule).with_receipt(leaf),
            Err(not_recorded) => not_recorded,
        }
    }

    /// The message as an approver sees it. `bytes` are those the server would receive; `leaf` is that
    /// of the line that says it is held.
    pub fn held<'h>(
        &'h self,
        frame: &'h Frame<'h>,
        tool: Option<&'h str>,
        on_hold: &'h OnHold,
        leaf: Hash,
        bytes: &'h [u8],
    ) -> Held<'h> {
        Held {
            call: self.call,
            identity: &self.caller.identity,
            server: &self.door.servers[self.server].name,
            method: frame.method().unwrap_or_default(),
            tool,
            bytes,
            rule: &on_hold.rule,
            hold: on_hold.hold.as_ref(),
            leaf,
            definition: on_hold.definition.as_deref(),
            policy: &self.rules.mark,
            // Read when the message was judged; one that says what nobody understands is refused there.
            wishes: meta::read(frame).unwrap_or_default(),
            client_takes_questions: false,
        }
    }

    fn route(&self, frame: &Frame<'_>) -> Result<Ruling, Refusal> {
        if meta::read(frame).is_err() {
            let refusal = Refusal::malformed(-32_602, "unknown_door_member");
            return Err(self.refuse(Some(frame), "frame", refusal));
        }
        let method = frame.method().unwrap_or_default();
        match methods::route(method) {
            Route::Plumbing => self.plumbing(frame, None),
            Route::List(list) => self.plumbing(frame, Some(list)),
            Route::CallTool => self.call_tool(frame),
            Route::Decided => {
                let groups = self.caller.group_names();
                let decision = self.rules.policy.decide_method_in(
                    method,
                    frame.params(),
                    (&self.caller.identity, clock::monotonic_milliseconds()),
                    &self.circumstances(&groups),
                    &self.door.rates,
                );
                self.bind(frame, &self.subject(Some(frame)), decision, None)
            }
        }
    }

    fn plumbing(&self, frame: &Frame<'_>, list: Option<List>) -> Result<Ruling, Refusal> {
        let ticket = self.note(&Decided::plumbing(&self.subject(Some(frame))))?;
        Ok(Ruling::Pass(self.passage(frame, ticket, None, list)))
    }

    /// What rules may want to know besides the call.
    fn circumstances<'c>(&'c self, groups: &'c [&'c str]) -> Circumstances<'c> {
        Circumstances {
            groups,
            session: Some(&self.caller.session),
            unix_seconds: i64::try_from(clock::unix_seconds()).unwrap_or(0),
            caps: Some(self.door.caps.ledger()),
        }
    }

    /// Writes a decision down and does what it says.
    fn bind(
        &self,
        frame: &Frame<'_>,
        subject: &Subject<'_>,
        decision: Decision<'_>,
        tool: Option<&str>,
    ) -> Result<Ruling, Refusal> {
        if let Err(error) = self.door.caps.keep(&decision.counted) {
            tracing::error!(%error, "What a cap counted cannot be kept");
            self.door.caps.give_back(decision.counted);
            let refusal = Refusal::new(Code::NotRecorded, "cap_not_kept");
            return Err(self.refuse(Some(frame), decision.rule, refusal));
        }
        let line = Decided::new(subject, &decision);
        let ticket = match self.note(&line) {
            Ok(ticket) => ticket,
            Err(not_recorded) => {
                self.door.caps.give_back(decision.counted);
                return Err(not_recorded);
            }
        };
        if decision.effect != Effect::Allow {
            // What is refused or held is told at once; what goes on is settled with its neighbours.
            self.door.settle(&ticket).map_err(|_| not_recorded())?;
        }
        let leaf = ticket.leaf();
        let refusal = |code| {
            Refusal::new(code, decision.reason.code())
                .with_rule(decision.rule)
                .with_argument(decision.argument)
                .with_receipt(leaf)
        };
        let redactions = match decision.effect {
            Effect::Deny => Edits::NONE,
            Effect::Allow | Effect::Hold => self
                .rules
                .screens
                .arguments(self.door, subject.server, leaf, frame, self.bytes)
                .inspect_err(|_| self.door.caps.give_back(decision.counted.clone()))?,
        };
        let passage = |counted| {
            let mut passage = self.passage(frame, ticket, tool, None);
            passage.edits.extend(redactions);
            Passage { counted, ..passage }
        };
        match decision.effect {
            Effect::Allow => Ok(Ruling::Pass(passage(decision.counted))),
            Effect::Deny => Err(refusal(Code::Blocked)),
            Effect::Hold => {
                let on_hold = OnHold {
                    rule: decision.rule.into(),
                    hold: decision.hold.clone(),
                    definition: subject.definition.clone(),
                    refusal: refusal(Code::ApprovalNeeded),
                };
                Ok(Ruling::Hold(passage(decision.counted), on_hold))
            }
        }
    }

    fn passage(
        &self,
        frame: &Frame<'_>,
        ticket: Ticket,
        tool: Option<&str>,
        list: Option<List>,
    ) -> Passage {
        let leaf = ticket.leaf();
        let ending = || {
            let mut ending = self.door.ending(leaf, self.server);
            ending.set_span(self.take_span());
            ending
        };
        let asked = frame.id_raw().map(|id| Asked {
            server: self.server,
            method: frame.method().unwrap_or_default().into(),
            tool: tool.map(Into::into),
            list,
            id: id.into(),
            progress: None,
            arguments: None,
            ending: ending(),
        });
        if let Some(telemetry) = self.door.telemetry().filter(|_| asked.is_none()) {
            // Nothing answers a notification.
            telemetry.tell(self.take_span(), "allowed");
        }
        let mut edits = meta::strip(frame, self.bytes);
        if let Some(inner) = tool.filter(|_| self.door.has_several())
            && let Some(name) = frame.params().and_then(|params| params.get("name"))
        {
            // The server knows its tool without its own name in front.
            edits.replace(name.span(), serde_json::Value::from(inner).to_string());
        }
        Passage {
            leaf,
            ticket: Some(ticket),
            edits,
            asked,
            counted: Reservation::default(),
        }
    }

    /// What the record says about the server's catalogue, as this caller sees it.
    fn catalogue(&self) -> Option<Arc<CatalogueMark>> {
        let server = &self.door.servers[self.server];
        let groups = self.caller.group_names();
        let identity = &self.caller.identity;
        let mut hasher = std::hash::DefaultHasher::new();
        (self.rules.policy.hash(), identity, &groups).hash(&mut hasher);
        server.catalogue.mark(hasher.finish(), |name, live| {
            self.rules
                .policy
                .would_pass_for(&server.name, name, live, identity, &groups)
        })
    }

    fn subject<'s>(&'s self, frame: Option<&'s Frame<'s>>) -> Subject<'s> {
        Subject {
            catalogue: self.catalogue(),
            caller: self.caller,
            call: &self.call,
            salt: self.door.log.salt(&self.call),
            server: &self.door.servers[self.server].name,
            policy: &self.rules.mark,
            body: self.bytes,
            frame,
            definition: None,
        }
    }

    /// Writes a line down, or refuses the message.
    fn write(&self, line: &Decided<'_>) -> Result<Hash, Refusal> {
        let ticket = self.note(line)?;
        self.door.settle(&ticket).map_err(|_| not_recorded())?;
        Ok(ticket.leaf())
    }

    /// Hands a line to the record. What it is about waits until it is settled.
    fn note(&self, line: &Decided<'_>) -> Result<Ticket, Refusal> {
        let noted = self.door.log.note(line);
        if let Some(telemetry) = self.door.telemetry() {
            self.tell(telemetry, line, noted.as_ref().ok());
        }
        noted.map_err(|error| {
            tracing::error!(%error, "Could not record a decision");
            not_recorded()
        })
    }
}

fn not_recorded() -> Refusal {
    Refusal::new(Code::NotRecorded, "not_recorded")
}

/// The door's own question, recorded like any other.
///
/// # Errors
/// The refusal when it cannot be recorded; it must not be asked then.
pub fn record_own_question(
    door: &Door,
    caller: &Caller,
    server: usize,
    bytes: &[u8],
) -> Result<([u8; 16], Ending), Refusal> {
    let message = Message::new(door, caller, server, bytes)?;
    let frame = Frame::read(bytes).ok();
    let leaf = message.write(&Decided::own(&message.subject(frame.as_ref())))?;
    Ok((message.call, door.ending(leaf, server)))
}
