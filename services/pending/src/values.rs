//! The values of a request, as version 1 of an action holds them.

use countersign_provenance::Target;
use countersign_store::{StoredLine, StoredVersion};

/// Version 1 without a value: every part of it is an open slot.
pub(crate) fn blank(rules_version: &str) -> StoredVersion {
    StoredVersion {
        version: 1,
        currency: None,
        from_account: None,
        card: None,
        order: None,
        transaction: None,
        frequency: None,
        start_date: None,
        dispute_reason: None,
        profile_field: None,
        typed: serde_json::Map::new(),
        rules_version: rules_version.to_owned(),
        provenance_version: countersign_provenance::VERSION.to_owned(),
        lines: Vec::new(),
    }
}

/// Whom a line pays.
pub(crate) fn target(line: &StoredLine) -> Option<Target> {
    line.payee
        .map(Target::Payee)
        .or(line.own_account.map(Target::Own))
}

/// A line with its parts.
pub(crate) fn line(
    line_number: i16,
    target: Option<Target>,
    amount: Option<countersign_domain::MinorUnits>,
) -> StoredLine {
    let (payee, own_account) = match target {
        Some(Target::Payee(id)) => (Some(id), None),
        Some(Target::Own(id)) => (None, Some(id)),
        None => (None, None),
    };
    StoredLine {
        line_number,
        payee,
        own_account,
        amount,
    }
}

/// Whether two versions ask for the same thing. Under which rules each was made, what was typed on the panel beside the
/// values, and which numbers the lines kept when one of them was dropped, does not make them differ.
pub(crate) fn same(one: &StoredVersion, other: &StoredVersion) -> bool {
    let essence = |version: &StoredVersion| {
        let mut version = version.clone();
        version.version = 1;
        version.typed = serde_json::Map::new();
        version.rules_version = String::new();
        version.provenance_version = String::new();
        for (number, line) in (1..).zip(&mut version.lines) {
            line.line_number = number;
        }
        version
    };
    essence(one) == essence(other)
}
