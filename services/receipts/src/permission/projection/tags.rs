//! The lists of §3.7: facts of the format, in its order. A list never changes; a new one is a new
//! tag.

/// What may stand at a path.
#[derive(Clone, Copy, Debug)]
pub(super) enum Slot {
    /// A scalar or an array of scalars.
    Value,
    /// 1 to 128 plain characters.
    Identifier,
    /// One of these words.
    OneOf(&'static [&'static str]),
}

/// Whose identity a path gives away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guard {
    None,
    /// The repository's: shown of public ones only.
    Repository,
    /// The matched rule's: since `deploy_gate/v2`, shown of public repositories only.
    Rule,
}

/// One path of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub path: &'static str,
    pub slot: Slot,
    guard: Guard,
}

impl Field {
    /// What the path would give away about a private repository under this tag; nothing for most.
    pub fn guarded(&self, tag: &str) -> Option<&'static str> {
        match self.guard {
            Guard::Repository => Some("the identity"),
            Guard::Rule if tag == "deploy_gate/v2" => Some("the policy rule"),
            Guard::Rule | Guard::None => None,
        }
    }
}

const fn value(path: &'static str) -> Field {
    Field {
        path,
        slot: Slot::Value,
        guard: Guard::None,
    }
}

const fn identifier(path: &'static str) -> Field {
    Field {
        path,
        slot: Slot::Identifier,
        guard: Guard::None,
    }
}

const fn one_of(path: &'static str, words: &'static [&'static str]) -> Field {
    Field {
        path,
        slot: Slot::OneOf(words),
        guard: Guard::None,
    }
}

const fn repository(field: Field) -> Field {
    Field {
        guard: Guard::Repository,
        ..field
    }
}

const fn rule(path: &'static str) -> Field {
    Field {
        guard: Guard::Rule,
        ..value(path)
    }
}

const REVERSIBILITY: &[&str] = &["REVERSIBLE", "PARTIALLY_REVERSIBLE", "IRREVERSIBLE"];
const VISIBILITY: &[&str] = &["public", "private"];

const DEPLOY_GATE: &[Field] = &[
    value("intent.name"),
    value("intent.category"),
    value("action.tool"),
    value("action.operation"),
    identifier("context.environment"),
    one_of("context.reversibility", REVERSIBILITY),
    identifier("scope.env"),
    identifier("scope.capability"),
    identifier("scope.commitSha"),
    identifier("scope.artifact_digest"),
    one_of("scope.visibility", VISIBILITY),
    repository(identifier("scope.repo")),
    repository(identifier("scope.ref")),
    repository(identifier("scope.workflow")),
    value("policy.expiresAt"),
    value("policy.decision.outcome"),
    rule("policy.decision.ruleId"),
    rule("policy.decision.ruleVersion"),
    value("policy.decision.matchedInputs.changeClass"),
    value("policy.decision.matchedInputs.analysisComplete"),
    repository(value("policy.decision.matchedInputs.targetBranch")),
    repository(value("policy.decision.matchedInputs.defaultBranch")),
    repository(value("policy.decision.matchedInputs.changedPaths")),
    value("policy.authorizationBinding.version"),
    value("policy.authorizationBinding.path"),
    value("policy.authorizationBinding.commitSha"),
    value("policy.authorizationBinding.rulesHash"),
    repository(value("policy.authorizationBinding.repository")),
    repository(value("policy.authorizationBinding.branch")),
    repository(value("policy.authorizationBinding.prNumber")),
    value("policyAuthorization.version"),
    value("policyAuthorization.evaluatorVersion"),
    value("policyAuthorization.policyBlob"),
    value("policyAuthorization.headSha"),
    repository(value("policyAuthorization.branch")),
    value("policyAuthorization.recordedDecisions[].displayName"),
    value("policyAuthorization.recordedDecisions[].at"),
    value("metadata.deployGateRequestId"),
    value("metadata.denial.category"),
    value("metadata.denial.decisionClass"),
    rule("metadata.denial.ruleId"),
    value("metadata.denial.final"),
    value("metadata.denial.requireNewRequest"),
    value("metadata.denial.decidedAt"),
    value("metadata.override.overriddenReceiptId"),
    value("metadata.override.overriddenDecisionClass"),
    rule("metadata.override.ruleId"),
    rule("metadata.override.ruleVersion"),
    value("metadata.override.deniedAt"),
    value("metadata.override.grantsAuthorization"),
    value("metadata.override.nextState"),
    repository(value("metadata.pullRequest")),
    value("metadata.demo"),
    value("metadata.demoScope"),
    value("metadata.approverDisplayName"),
    value("deploymentRenewal.purpose"),
    value("deploymentRenewal.previousReceiptId"),
    value("deploymentRenewal.mergeCommitSha"),
    value("deploymentRenewal.rulesHash"),
    value("deploymentRenewal.recordedDecisions[].displayName"),
    value("deploymentRenewal.recordedDecisions[].at"),
];

const EXECUTE: &[Field] = &[
    identifier("intent.name"),
    identifier("intent.category"),
    identifier("action.tool"),
    identifier("action.operation"),
    one_of(
        "context.environment",
        &["development", "staging", "production"],
    ),
    one_of("context.reversibility", REVERSIBILITY),
];

const REVOCATION: &[Field] = &[
    value("intent.name"),
    value("metadata.revokedReceiptId"),
    value("metadata.deployGateRequestId"),
    identifier("scope.env"),
    identifier("scope.capability"),
    identifier("scope.commitSha"),
    identifier("scope.artifact_digest"),
    one_of("scope.visibility", VISIBILITY),
    repository(identifier("scope.repo")),
    repository(identifier("scope.ref")),
    repository(identifier("scope.workflow")),
];

/// The list of a tag; nothing for one that is not known.
pub(super) fn fields_of(tag: &str) -> Option<&'static [Field]> {
    match tag {
        "deploy_gate/v1" | "deploy_gate/v2" => Some(DEPLOY_GATE),
        "execute/v1" => Some(EXECUTE),
        "revocation/v1" => Some(REVOCATION),
        _ => None,
    }
}
