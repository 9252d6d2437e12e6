//! What a policy says about a message, without a server, a record or a count.

use std::path::PathBuf;

use anyhow::bail;
use countersign_policy::{
    Call, CapLedger, Circumstances, Decision, Effect, Live, Mode, Pin, Policy, RateLimiter, Step,
};
use countersign_wire::{Frame, FrameError, Kind};

use super::definitions::{Definitions, only_server};
use super::policy_file::read_bytes;
use crate::clock;
use crate::judge::methods::{Route, route};

/// The call is refused.
const DENIED: u8 = 2;
/// The call waits for a person.
const HELD: u8 = 3;

/// What a message is judged by.
#[derive(Debug, clap::Args)]
pub struct Question {
    /// The policy file.
    #[arg(long)]
    pub policy: PathBuf,
    /// The message: one JSON-RPC request, as a client would send it. `-` reads standard input.
    #[arg(long, default_value = "-")]
    message: PathBuf,
    /// The server it is for, where the policy names several and the tool's name does not say.
    #[arg(long)]
    server: Option<String>,
    /// Who sends it.
    #[arg(long, default_value = "local")]
    identity: String,
    /// A group the sender belongs to; may be given several times.
    #[arg(long = "group")]
    groups: Vec<String>,
    /// The session it belongs to.
    #[arg(long, default_value = "local")]
    session: String,
    /// What the servers offer now: the JSON of a `tools/list` answer, as SERVER=FILE or as FILE. Without it, every
    /// tool is taken to be as it was pinned.
    #[arg(long)]
    definitions: Vec<String>,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

/// A message before a policy.
#[derive(Debug)]
pub enum Judged<'p> {
    /// It is no message; the code is JSON-RPC's.
    Malformed {
        /// The code of the error.
        code: i32,
        /// What is wrong.
        reason: String,
    },
    /// It passes whatever the policy says: it reads nothing and changes nothing.
    Plumbing {
        /// Its method.
        method: String,
    },
    /// The policy decided.
    Decided {
        /// Its method.
        method: String,
        /// The tool it calls, as the client names it.
        tool: Option<String>,
        /// Every check that was made.
        steps: Vec<Step<'p>>,
        /// What came of them.
        decision: Box<Decision<'p>>,
    },
}

impl Judged<'_> {
    /// What happens to the message.
    pub fn effect(&self) -> Effect {
        match self {
            Self::Malformed { .. } => Effect::Deny,
            Self::Plumbing { .. } => Effect::Allow,
            Self::Decided { decision, .. } => decision.effect,
        }
    }

    /// The command's exit code: 0 allow, 2 deny, 3 hold.
    pub fn exit_code(&self) -> u8 {
        match self.effect() {
            Effect::Allow => 0,
            Effect::Deny => DENIED,
            Effect::Hold => HELD,
        }
    }

    /// The reason's code.
    pub fn reason(&self) -> &str {
        match self {
            Self::Malformed { reason, .. } => reason,
            Self::Plumbing { .. } => "plumbing",
            Self::Decided { decision, .. } => decision.reason.code(),
        }
    }
}

/// Judges the message that the arguments name.
///
/// # Errors
/// When a file cannot be read, or the policy names several servers and none is meant.
pub fn judge<'p>(policy: &'p Policy, arguments: &Question) -> anyhow::Result<Judged<'p>> {
    let definitions = Definitions::read(policy, &arguments.definitions)?;
    let bytes = read_bytes(&arguments.message)?;
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let frame = match Frame::read(bytes.strip_suffix(b"\r").unwrap_or(bytes)) {
        Ok(frame) => frame,
        Err(error) => return Ok(malformed(&error)),
    };
    if frame.kind() == Kind::Answer {
        return Ok(Judged::Malformed {
            code: -32_600,
            reason: "answer_not_asked_for".to_owned(),
        });
    }
    let method = frame.method().unwrap_or_default();
    let (rates, caps) = (RateLimiter::new(), CapLedger::new());
    let groups: Vec<_> = arguments.groups.iter().map(String::as_str).collect();
    let circumstances = Circumstances {
        groups: &groups,
        session: Some(&arguments.session),
        unix_seconds: i64::try_from(clock::unix_seconds()).unwrap_or(0),
        caps: Some(&caps),
    };
    match route(method) {
        Route::Plumbing | Route::List(_) => Ok(Judged::Plumbing {
            method: method.to_owned(),
        }),
        Route::Decided => {
            let caller = (arguments.identity.as_str(), 0);
            let (steps, decision) =
                policy.explain_method(method, frame.params(), caller, &circumstances, &rates);
            Ok(Judged::Decided {
                method: method.to_owned(),
                tool: None,
                steps,
                decision: Box::new(decision),
            })
        }
        Route::CallTool => {
            let params = frame.params();
            let name = params
                .and_then(|params| params.get("name"))
                .and_then(|name| name.as_str());
            let Some(called) = name else {
                return Ok(Judged::Malformed {
                    code: -32_602,
                    reason: "missing_name".to_owned(),
                });
            };
            let (server, name) = whose(policy, arguments.server.as_deref(), &called)?;
            let call = Call {
                server,
                name,
                arguments: params.and_then(|params| params.get("arguments")),
                live: live(policy, arguments, &definitions, server, name)?,
                identity: &arguments.identity,
                now_milliseconds: 0,
            };
            let (steps, decision) = policy.explain_call(&call, &circumstances, &rates);
            Ok(Judged::Decided {
                method: method.to_owned(),
                tool: Some(called.into_owned()),
                steps,
                decision: Box::new(decision),
            })
        }
    }
}

fn malformed<'p>(error: &FrameError) -> Judged<'p> {
    Judged::Malformed {
        code: error.code(),
        reason: error.to_string(),
    }
}

/// The server a call is for, and the tool's own name there.
fn whose<'c>(
    policy: &'c Policy,
    named: Option<&str>,
    called: &'c str,
) -> anyhow::Result<(&'c str, &'c str)> {
    if named.is_none()
        && policy.servers().count() > 1
        && let Some((server, name)) = called.split_once("__")
        && policy.server(server).is_some()
    {
        return Ok((server, name));
    }
    if named.is_none() && policy.servers().count() != 1 {
        // No server offers it under this name, and the policy says so.
        return Ok(("", called));
    }
    Ok((only_server(policy, named)?, called))
}

/// What the server says about a tool now, or is taken to say.
fn live(
    policy: &Policy,
    arguments: &Question,
    definitions: &Definitions,
    server: &str,
    name: &str,
) -> anyhow::Result<Live> {
    if arguments.definitions.is_empty() {
        // As pinned. A tool without a pin has some definition.
        let some = match countersign_policy::definition_pin("{}") {
            Ok(pin) => pin,
            Err(error) => bail!("{error}"),
        };
        return Ok(Live::Offered(policy.pin_of(server, name).unwrap_or(some)));
    }
    let key = super::definitions::key(policy, server, name);
    let pin: Option<Pin> = definitions.get(&key).map(|definition| definition.pin);
    Ok(pin.map_or(Live::NotOffered, Live::Offered))
}

/// The policy in one line: its name, its hash, and whether it binds.
pub fn policy_line(policy: &Policy) -> String {
    let observing = match policy.mode() {
        Mode::Enforce => "",
        Mode::Observe => ", observing: nothing is refused",
    };
    format!(
        "{} (sha256 {}){observing}",
        policy.id(),
        hex::encode(policy.hash())
    )
}
