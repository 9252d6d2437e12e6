//! One call of a tool: whose it is, what its definition is, and what else it brings.

use std::borrow::Cow;

use countersign_policy::{Call, Live, Mode};
use countersign_wire::{Frame, Type, Value};

use super::{Message, Ruling, not_recorded};
use crate::approval::OwnTools;
use crate::clock;
use crate::judge::refusal::{Code, Refusal};
use crate::judge::rounds::{self, Round};
use crate::record::Decided;

/// What the parameters of a call may hold besides its name and `_meta`. Anything else is refused: a
/// server might do something about it that nobody judged.
#[derive(Default)]
struct Members<'f> {
    arguments: Option<Value<'f>>,
    /// The call asks to go on as a task.
    task: Option<Value<'f>>,
    /// What the client answers to an earlier answer of the server's.
    responses: Option<Value<'f>>,
    /// What the server gave the client to bring back.
    state: Option<Cow<'f, str>>,
}

impl<'f> Members<'f> {
    fn of(params: Value<'f>) -> Result<Self, Refusal> {
        let mut members = Self::default();
        let malformed = |reason| Refusal::malformed(-32_602, reason);
        for (name, value) in params.members() {
            match (&*name, value.kind()) {
                ("name" | "_meta", _) => {}
                ("arguments", _) => members.arguments = Some(value),
                ("task", Type::Object) => {
                    let fits = value.members().all(|(name, time)| {
                        let is_known = matches!(&*name, "ttl" | "pollInterval");
                        is_known && time.as_exact_integer().is_some_and(|time| time >= 0)
                    });
                    if !fits {
                        return Err(malformed("task_malformed"));
                    }
                    members.task = Some(value);
                }
                ("inputResponses", Type::Object) => members.responses = Some(value),
                ("requestState", Type::String) => members.state = value.as_str(),
                ("task" | "inputResponses" | "requestState", _) => {
                    return Err(malformed("member_malformed"));
                }
                _ => return Err(malformed("unknown_member")),
            }
        }
        Ok(members)
    }
}

impl Message<'_> {
    pub(super) fn call_tool(&self, frame: &Frame<'_>) -> Result<Ruling, Refusal> {
        let params = frame.params();
        let name = params
            .and_then(|params| params.get("name"))
            .and_then(|name| name.as_str());
        let Some(name) = name else {
            let refusal = Refusal::malformed(-32_602, "missing_name");
            return Err(self.refuse(Some(frame), "frame", refusal));
        };
        let members = match params.map(Members::of).transpose() {
            Ok(members) => members.unwrap_or_default(),
            Err(unknown) => return Err(self.refuse(Some(frame), "frame", unknown)),
        };
        let arguments = members.arguments;
        if arguments.is_some_and(|arguments| !arguments.is_object()) {
            let refusal = Refusal::malformed(-32_602, "arguments_not_an_object");
            return Err(self.refuse(Some(frame), "frame", refusal));
        }
        if let Some(own) = self.door.own_tools().filter(|_| OwnTools::has(&name)) {
            return Err(self.answer_own(frame, own, &name, arguments));
        }
        let now = clock::monotonic_milliseconds();
        let server = &self.door.servers[self.server];
        let Some((_, inner)) = self
            .door
            .resolve(&name)
            .filter(|(server, _)| *server == self.server)
        else {
            // A name without its server's is no other server's tool.
            let refusal = Refusal::new(Code::Blocked, "unknown_server");
            return Err(self.refuse(Some(frame), "server", refusal));
        };
        let live = if self.rules.policy.names_tool(inner) {
            match server.catalogue.live(inner, now) {
                Some(live) => live,
                None => return Ok(Ruling::ReadDefinitions),
            }
        } else {
            // Whatever the server says: the policy has no line for it.
            Live::NotOffered
        };
        if let Some(rule) = server.catalogue.blocked(inner)
            && live == Live::NotOffered
            && self.rules.policy.names_tool(inner)
        {
            let refusal = Refusal::new(Code::Blocked, "injection_in_definition");
            return Err(self.refuse(Some(frame), rule, refusal));
        }
        if members.task.is_some() && !self.rules.policy.allows_task(&server.name, inner) {
            let refusal = Refusal::new(Code::Blocked, "task_not_allowed");
            return Err(self.refuse(Some(frame), "task", refusal));
        }
        let round = self.round(inner, &members);
        if let Some(round) = &round
            && !self.door.rounds.take(round)
            && self.rules.policy.mode() == Mode::Enforce
        {
            let refusal = Refusal::new(Code::Blocked, "input_not_asked_for");
            return Err(self.refuse(Some(frame), "rounds", refusal));
        }
        let groups = self.caller.group_names();
        let decision = self.rules.policy.decide_call_in(
            &Call {
                server: &server.name,
                name: inner,
                arguments,
                live,
                identity: &self.caller.identity,
                now_milliseconds: now,
            },
            &self.circumstances(&groups),
            &self.door.rates,
        );
        let mut subject = self.subject(Some(frame));
        if let Live::Offered(pin) = live {
            subject.definition = Some(pin.to_string());
        }
        let mut ruling = self.bind(frame, &subject, decision, Some(inner));
        match &mut ruling {
            Ok(Ruling::Pass(passage) | Ruling::Hold(passage, _)) => {
                if let Some(asked) = &mut passage.asked {
                    asked.arguments = rounds::kept(frame, arguments);
                }
            }
            Ok(Ruling::Refuse(_) | Ruling::ReadDefinitions) | Err(_) => {
                // The round has not begun: what was asked for may still be brought.
                if let Some(round) = round {
                    self.door.rounds.remember(round, now);
                }
            }
        }
        ruling
    }

    /// The round that a call goes on with, where it brings what its server asked for.
    fn round(&self, tool: &str, members: &Members<'_>) -> Option<Round> {
        if members.responses.is_none() && members.state.is_none() {
            return None;
        }
        let arguments = members.arguments.map(|arguments| arguments.raw());
        let state = members.state.as_deref();
        let server = &self.door.servers[self.server].name;
        Some(Round::of(self.caller, server, tool, arguments, state))
    }

    /// The answer of one of the door's own tools, recorded like any other call.
    fn answer_own(
        &self,
        frame: &Frame<'_>,
        own: &OwnTools,
        name: &str,
        arguments: Option<Value<'_>>,
    ) -> Refusal {
        let Ok(result) = own.call(self.door, &self.caller.identity, name, arguments) else {
            let refusal = Refusal::malformed(-32_602, "undeclared_argument");
            return self.refuse(Some(frame), "door", refusal);
        };
        let recorded = self.note(&Decided::answered(&self.subject(Some(frame))));
        match recorded.and_then(|ticket| self.door.settle(&ticket).map_err(|_| not_recorded())) {
            Ok(()) => Refusal::own_result(result),
            Err(not_recorded) => not_recorded,
        }
    }
}
