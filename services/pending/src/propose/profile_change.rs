//! A line of the profile, whose new value the customer types on the panel.

use countersign_domain::{ActionKind, ProfileField};
use countersign_provenance::{Act, ActAsk};

use super::{Proposal, asks, settle};
use crate::{Refusal, facts::Facts, values::blank};

/// The customer must have named the line.
pub(super) fn propose(field: ProfileField, facts: &Facts) -> Result<Proposal, Refusal> {
    let of_ask = |ask: &ActAsk| ask.profile_field.as_ref().map(|named| named.value);
    let asks = asks(Act::ProfileChange, facts)?.naming("field", Some(field), |ask, field| {
        of_ask(ask) == Some(*field)
    })?;
    let ask = settle(
        ActionKind::ProfileChange,
        asks,
        |ask| of_ask(ask).map(|field| field.to_string()),
        Some(field.to_string()),
        facts,
    )?;
    let mut values = blank(&facts.rules_version);
    values.profile_field = Some(field);
    Ok(Proposal {
        kind: ActionKind::ProfileChange,
        target_key: format!("profile:{field}"),
        values,
        clause: ask.clause,
    })
}
