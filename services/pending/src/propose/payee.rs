//! A new payee, whose name and account the customer types on the panel.

use countersign_domain::{ActionKind, ToolCode};
use countersign_provenance::Act;

use super::{Proposal, asks};
use crate::{Refusal, facts::Facts, values::blank};

/// Stores that a payee is to be saved, and nothing about which.
pub(super) fn propose(facts: &Facts) -> Result<Proposal, Refusal> {
    let ask = asks(Act::PayeeAdd, facts)?
        .best(|_| true)
        .ok_or(Refusal::new(ToolCode::ActNotRequested))?;
    Ok(Proposal {
        kind: ActionKind::Payee,
        target_key: "payee".to_owned(),
        values: blank(&facts.rules_version),
        clause: ask.clause,
    })
}
