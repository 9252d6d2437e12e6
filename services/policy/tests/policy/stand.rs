//! A policy with a caller, for tests.

use countersign_policy::{
    Call, CapLedger, Circumstances, Effect, Live, Pin, Policy, PolicyError, RateLimiter,
    definition_pin,
};
use countersign_wire::{Caps, Document};

/// The head of every policy here; `servers` follows.
pub const HEAD: &str = "version: 1\nid: t\ndefault: deny\n";

/// A policy, its counts, and who calls.
pub struct Stand {
    pub policy: Policy,
    pub caps: CapLedger,
    pub rates: RateLimiter,
    pub identity: &'static str,
    pub groups: Vec<&'static str>,
    pub session: Option<&'static str>,
    pub unix_seconds: i64,
}

/// What a decision said, without its borrow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub effect: Effect,
    pub reason: &'static str,
    pub rule: String,
}

impl Stand {
    /// One server `s` without pins, and these lines more.
    pub fn new(rest: &str) -> Self {
        let yaml = format!("{HEAD}require_pins: false\nservers: {{s: {{}}}}\n{rest}");
        Self::with(Policy::load(&yaml).unwrap_or_else(|error| panic!("{yaml}\n{error}")))
    }

    /// A policy with server `s`.
    pub fn with(policy: Policy) -> Self {
        Self {
            policy,
            caps: CapLedger::new(),
            rates: RateLimiter::new(),
            identity: "ada",
            groups: Vec::new(),
            session: Some("s1"),
            unix_seconds: 0,
        }
    }

    /// Decides about a call of a tool of server `s` and gives the decision to a closure.
    pub fn decided<T>(
        &self,
        name: &str,
        arguments: &str,
        with: impl FnOnce(countersign_policy::Decision<'_>) -> T,
    ) -> T {
        let document = Document::read(arguments.as_bytes(), &Caps::MESSAGE).unwrap();
        let call = Call {
            server: "s",
            name,
            arguments: Some(document.root()),
            live: Live::Offered(any_pin()),
            identity: self.identity,
            now_milliseconds: 0,
        };
        let circumstances = Circumstances {
            groups: &self.groups,
            session: self.session,
            unix_seconds: self.unix_seconds,
            caps: Some(&self.caps),
        };
        with(
            self.policy
                .decide_call_in(&call, &circumstances, &self.rates),
        )
    }

    pub fn call(&self, name: &str, arguments: &str) -> Said {
        self.decided(name, arguments, |decision| Said {
            effect: decision.effect,
            reason: decision.reason.code(),
            rule: decision.rule.to_owned(),
        })
    }

    pub fn reason(&self, name: &str, arguments: &str) -> &'static str {
        self.call(name, arguments).reason
    }
}

/// The pin of some definition.
pub fn any_pin() -> Pin {
    definition_pin(r#"{"name":"any"}"#).unwrap()
}

/// Why these lines after the head are refused.
pub fn refused(rest: &str) -> PolicyError {
    let yaml = format!("{HEAD}require_pins: false\nservers: {{s: {{}}}}\n{rest}");
    match Policy::load(&yaml) {
        Ok(_) => panic!("must be refused:\n{yaml}"),
        Err(error) => error,
    }
}

/// The path and the line of a refusal of what these lines say.
pub fn refused_at(rest: &str) -> (String, u64) {
    match refused(rest) {
        PolicyError::Meaning { path, line, .. } => (path, line),
        error @ PolicyError::Syntax { .. } => panic!("{rest}\n{error}"),
    }
}
