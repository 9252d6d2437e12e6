//! Whether the place a request would take is free, taken by the same request, or taken by one that it may replace.

use countersign_domain::{ActionState, ToolCode};
use countersign_store::StoredVersion;

use crate::{
    Refusal,
    earlier::Earlier,
    facts::Facts,
    propose::Proposal,
    shape::{offers_again, shapes},
    values::same,
};

/// What stands in the place of a proposal.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place<'a> {
    /// Nothing.
    Free,
    /// An open request that a newer message lets it replace.
    Supersedes(&'a Earlier),
    /// The same request, still open.
    AlreadyWaiting(&'a Earlier),
}

/// Finds the place of a proposal.
///
/// A request counts as the same when it equals what was asked for (version 1, without the lines dropped since) or what the
/// customer has made of it on the panel since: asking again never throws away what the customer filled in.
///
/// # Errors
/// [`ToolCode::NoNewerMessage`] when the customer has said nothing since the open request, or since a card with the same
/// values expired or was refused.
pub(crate) fn find<'a>(proposal: &Proposal, facts: &'a Facts) -> Result<Place<'a>, Refusal> {
    let no_newer_message = Err(Refusal::new(ToolCode::NoNewerMessage));
    let open = in_the_way(proposal, facts);
    if let Some(open) = open {
        let is_same = open.kind == proposal.kind
            && (same(&still_asked(open), &proposal.values)
                || same(&open.current, &proposal.values));
        // Past its time it can no longer be confirmed, even where nobody has marked it expired yet.
        if is_same && open.expires_at > facts.now {
            return Ok(Place::AlreadyWaiting(open));
        }
        if facts.newest_message <= open.grounded_through {
            return no_newer_message;
        }
    }
    if leaves_target_open(&proposal.target_key)
        && waiting(facts).any(|other| {
            other.kind == proposal.kind && other.grounded_through >= facts.newest_message
        })
    {
        // The card of these very words waits with its target named. Leaving the target out does not make a second one.
        return no_newer_message;
    }
    let offered_before = facts
        .earlier
        .iter()
        .filter(|earlier| matches!(earlier.state, ActionState::Expired | ActionState::Refused))
        .filter(|earlier| earlier.kind == proposal.kind)
        .filter(|earlier| earlier.grounded_through >= facts.newest_message)
        .any(|earlier| {
            let proposed = shapes(proposal.kind, &proposal.values);
            offers_again(&shapes(earlier.kind, &earlier.first), &proposed)
                || offers_again(&shapes(earlier.kind, &earlier.current), &proposed)
        });
    if offered_before {
        return no_newer_message;
    }
    Ok(open.map_or(Place::Free, Place::Supersedes))
}

/// What was asked for, without the lines that the customer dropped: asking for those again in new words is another request.
fn still_asked(open: &Earlier) -> StoredVersion {
    let mut first = open.first.clone();
    let left = &open.current.lines;
    first
        .lines
        .retain(|line| left.iter().any(|kept| kept.line_number == line.line_number));
    first
}

fn waiting(facts: &Facts) -> impl Iterator<Item = &Earlier> {
    facts
        .earlier
        .iter()
        .filter(|earlier| earlier.state == ActionState::Pending)
}

fn leaves_target_open(target_key: &str) -> bool {
    target_key.ends_with(":open")
}

/// The open request about the same thing; else one of the same kind that leaves open what this one names ("freeze my card",
/// then "the one ending 4821"): the customer is shown one card for it, not two.
fn in_the_way<'a>(proposal: &Proposal, facts: &'a Facts) -> Option<&'a Earlier> {
    waiting(facts)
        .find(|open| open.target_key == proposal.target_key)
        .or_else(|| {
            waiting(facts)
                .find(|open| open.kind == proposal.kind && leaves_target_open(&open.target_key))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fixture::{NOW, earlier, facts, payee, proposal, units},
        values::{blank, line},
    };
    use countersign_provenance::Target;

    fn transfer(to: u128, amount: Option<i64>) -> Proposal {
        let mut values = blank("rules/1");
        values.lines = vec![line(1, Some(Target::Payee(payee(to))), amount.map(units))];
        proposal(1, values)
    }

    #[test]
    fn only_a_newer_message_opens_a_taken_place() {
        let open = transfer(1, Some(2000));
        for (newest, allowed) in [(4, false), (5, false), (6, true)] {
            let mut facts = facts(newest, vec![]);
            facts.earlier = vec![earlier(&open, ActionState::Pending, 5)];
            let place = find(&transfer(1, Some(2500)), &facts);
            assert_eq!(matches!(place, Ok(Place::Supersedes(_))), allowed);
            assert_eq!(place.is_err(), !allowed);
            // The same request never needs one.
            assert!(matches!(find(&open, &facts), Ok(Place::AlreadyWaiting(_))));
        }
    }

    #[test]
    fn what_the_customer_made_of_a_request_is_that_request() {
        let mut facts = facts(6, vec![]);
        let mut filled = earlier(&transfer(1, None), ActionState::Pending, 5);
        filled.current = transfer(1, Some(1500)).values;
        filled.current.version = 2;
        facts.earlier = vec![filled];
        for same in [transfer(1, None), transfer(1, Some(1500))] {
            assert!(matches!(find(&same, &facts), Ok(Place::AlreadyWaiting(_))));
        }
        let other = find(&transfer(1, Some(1600)), &facts);
        assert!(matches!(other, Ok(Place::Supersedes(_))));
    }

    #[test]
    fn a_dropped_line_makes_what_is_left_the_request() {
        let lines = |lines: &[(i16, u128, Option<i64>)]| {
            let mut values = blank("rules/1");
            values.lines = lines
                .iter()
                .map(|(number, to, amount)| {
                    line(*number, Some(Target::Payee(payee(*to))), amount.map(units))
                })
                .collect();
            proposal(1, values)
        };
        let both = lines(&[(1, 1, Some(3000)), (2, 2, None)]);
        let mut dropped = earlier(&both, ActionState::Pending, 5);
        dropped.current = lines(&[(2, 2, Some(4500))]).values;
        dropped.current.version = 3;
        let mut facts = facts(6, vec![]);
        facts.earlier = vec![dropped];
        for same in [transfer(2, None), transfer(2, Some(4500))] {
            assert!(matches!(find(&same, &facts), Ok(Place::AlreadyWaiting(_))));
        }
        for other in [both, transfer(1, Some(3000))] {
            assert!(matches!(find(&other, &facts), Ok(Place::Supersedes(_))));
        }
    }

    #[test]
    fn a_card_past_its_time_no_longer_waits() {
        let open = transfer(1, Some(2000));
        let mut late = earlier(&open, ActionState::Pending, 5);
        late.expires_at = NOW;
        for (newest, allowed) in [(5, false), (6, true)] {
            let mut facts = facts(newest, vec![]);
            facts.earlier = vec![late.clone()];
            let place = find(&open, &facts);
            assert_eq!(matches!(place, Ok(Place::Supersedes(_))), allowed);
            assert_eq!(place.is_err(), !allowed);
        }
    }

    #[test]
    fn what_ended_by_itself_needs_a_word_before_it_is_offered_again() {
        for state in [ActionState::Expired, ActionState::Refused] {
            for (newest, allowed) in [(5, false), (6, true)] {
                let mut facts = facts(newest, vec![]);
                facts.earlier = vec![earlier(&transfer(1, Some(2000)), state, 5)];
                for again in [transfer(1, Some(2000)), transfer(1, None)] {
                    assert_eq!(find(&again, &facts).is_ok(), allowed);
                }
                assert!(find(&transfer(2, Some(2000)), &facts).is_ok());
            }
        }
    }
}
