//! Reasons in words: what it is, and what to do about it.

use super::Reason;
use crate::{ArgumentProblem, CapProblem};

impl Reason {
    /// Every reason, for the reference.
    #[must_use]
    pub fn all() -> Vec<Self> {
        use ArgumentProblem as Problem;
        let arguments = [
            Problem::NotAnObject,
            Problem::TooMany,
            Problem::Undeclared,
            Problem::Missing,
            Problem::WrongType,
            Problem::OutOfRange,
            Problem::WrongLength,
            Problem::WrongPattern,
            Problem::NotInEnum,
        ];
        let caps = [
            CapProblem::Missing,
            CapProblem::NotANumber,
            CapProblem::PerCall,
            CapProblem::PerDay,
            CapProblem::PerSession,
            CapProblem::NotCounted,
        ];
        let mut all = vec![
            Self::Allowed,
            Self::BadName,
            Self::UnknownServer,
            Self::WriteWord,
            Self::DeniedByRule,
            Self::NotListed,
            Self::UnknownMethod,
            Self::NotAllowedToCaller,
            Self::NotOffered,
            Self::NotPinned,
            Self::DefinitionChanged,
        ];
        all.extend(arguments.map(Self::Arguments));
        all.push(Self::Rate);
        all.extend(caps.map(Self::Cap));
        all.push(Self::ApprovalNeeded);
        all
    }

    /// What it is, in a sentence.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Allowed => "every check passed",
            Self::BadName => "the name is not plain: letters, digits, `_` and `-`, 128 at most",
            Self::UnknownServer => "the policy names no such server",
            Self::WriteWord => {
                "the name holds a payment or write word, and the tool is not acknowledged"
            }
            Self::NotListed => "the policy does not allow the tool",
            Self::UnknownMethod => "the policy does not allow the method",
            Self::DeniedByRule => "a rule denies it",
            Self::NotAllowedToCaller => "rules allow it to others, and not to this caller",
            Self::NotOffered => "the server does not offer the tool, or offers it twice",
            Self::NotPinned => "the tool has no pin",
            Self::DefinitionChanged => "the definition is not the pinned one",
            Self::Arguments(problem) => match problem {
                ArgumentProblem::NotAnObject => "the arguments are no object",
                ArgumentProblem::TooMany => "there are more than 32 arguments",
                ArgumentProblem::Undeclared => "an argument is not declared",
                ArgumentProblem::Missing => "a required argument is missing",
                ArgumentProblem::WrongType => "an argument has another type",
                ArgumentProblem::OutOfRange => {
                    "a number is out of its range, or not written plainly"
                }
                ArgumentProblem::WrongLength => "a string or a list is too short or too long",
                ArgumentProblem::WrongPattern => "a string does not look as declared",
                ArgumentProblem::NotInEnum => "a string is none of the declared ones",
            },
            Self::Rate => "there were too many calls in the last minute",
            Self::Cap(problem) => match problem {
                CapProblem::Missing => "the amount that a cap counts is missing",
                CapProblem::NotANumber => "the amount that a cap counts is no plain number",
                CapProblem::PerCall => "the call reaches the cap of one call",
                CapProblem::PerDay => "the call would reach the cap of the day",
                CapProblem::PerSession => {
                    "the call would reach the cap of the session, or has no session"
                }
                CapProblem::NotCounted => "caps cannot be counted here",
            },
            Self::ApprovalNeeded => "a person has to approve it",
        }
    }

    /// What to do about it; nothing for a call that passes.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        match self {
            Self::Allowed => "",
            Self::BadName => "Rename the tool at its server.",
            Self::UnknownServer => "Add the server under `servers`.",
            Self::WriteWord => {
                "If it only asks for what a person confirms elsewhere, give its entry \
                 `acknowledged: creates-a-request-only`."
            }
            Self::NotListed => {
                "If it should pass, add it under `tools` with its arguments, and pin it."
            }
            Self::UnknownMethod => "If it should pass, add it under `methods`.",
            Self::DeniedByRule => "If it should pass, take the rule away. Nothing wins over it.",
            Self::NotAllowedToCaller => {
                "If it should pass, name the caller in a rule that allows it."
            }
            Self::NotOffered => "Ask the server what it offers: `countersign-door pin --diff`.",
            Self::NotPinned => "Look at its definition, then run `countersign-door pin --approve`.",
            Self::DefinitionChanged => {
                "Look at what changed: `countersign-door pin --diff`. Pin it again only if it is good."
            }
            Self::Arguments(_) => {
                "Send what the policy declares, or declare what should pass under `args`."
            }
            Self::Rate => "Wait a minute, or raise `rate_per_minute`.",
            Self::Cap(_) => "Ask for less, or raise the cap.",
            Self::ApprovalNeeded => "It waits until somebody approves or denies it.",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_reason_has_a_code_and_a_sentence_of_its_own() {
        let all = Reason::all();
        let codes: BTreeSet<_> = all.iter().map(|reason| reason.code()).collect();
        let sentences: BTreeSet<_> = all.iter().map(|reason| reason.sentence()).collect();
        assert_eq!(codes.len(), all.len());
        assert_eq!(sentences.len(), all.len());
        let silent = all.iter().filter(|reason| reason.advice().is_empty());
        assert_eq!(silent.count(), 1);
    }
}
