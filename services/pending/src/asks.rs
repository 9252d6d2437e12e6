//! Finds the one thing the customer asked for that a proposal stands on.
//!
//! Every value that a model proposes must be in the same ask. So the asks are narrowed value by value, and the value that
//! leaves none is the one the refusal names.

use countersign_domain::{Currency, MinorUnits, Money, ToolCode};

use crate::Refusal;

/// Asks of one kind that a proposal may still stand on.
pub(crate) struct Narrowing<'a, A>(Vec<&'a A>);

impl<'a, A> Narrowing<'a, A> {
    /// The asks of the kind.
    ///
    /// # Errors
    /// [`ToolCode::ActNotRequested`] when there is none.
    pub(crate) fn from(asks: impl Iterator<Item = &'a A>) -> Result<Self, Refusal> {
        let asks: Vec<_> = asks.collect();
        if asks.is_empty() {
            return Err(Refusal::new(ToolCode::ActNotRequested));
        }
        Ok(Self(asks))
    }

    /// Keeps the asks that hold a proposed value; a value that was left out keeps them all.
    ///
    /// # Errors
    /// [`ToolCode::NotGrounded`] naming the value when no ask is left.
    pub(crate) fn naming<V>(
        self,
        what: &'static str,
        value: Option<V>,
        holds: impl Fn(&A, &V) -> bool,
    ) -> Result<Self, Refusal> {
        let Some(value) = value else { return Ok(self) };
        let left: Vec<_> = self
            .0
            .into_iter()
            .filter(|ask| holds(ask, &value))
            .collect();
        if left.is_empty() {
            return Err(Refusal::about(ToolCode::NotGrounded, what));
        }
        Ok(Self(left))
    }

    /// Drops the asks that a rule takes out, such as those a Confirm or Cancel has used up.
    ///
    /// # Errors
    /// [`ToolCode::ActNotRequested`] when none is left.
    pub(crate) fn without(self, used_up: impl Fn(&A) -> bool) -> Result<Self, Refusal> {
        Self::from(self.0.into_iter().filter(|ask| !used_up(ask)))
    }

    /// The ask to stand on: one with the proposal's own open slots before one that has more, the newest first.
    pub(crate) fn best(self, same_slots: impl Fn(&A) -> bool) -> Option<&'a A> {
        let newest = self.0.iter().rev();
        newest
            .clone()
            .find(|ask| same_slots(ask))
            .or(newest.clone().next())
            .copied()
    }
}

/// Checks that an amount has the wire's form, whatever its currency.
///
/// # Errors
/// [`ToolCode::InvalidArgument`] for a text that is no amount in any currency.
pub(crate) fn check_amount(text: Option<&str>) -> Result<(), Refusal> {
    match text {
        Some(text)
            if Currency::ALL
                .iter()
                .all(|currency| amount_in(text, *currency).is_none()) =>
        {
            Err(Refusal::about(ToolCode::InvalidArgument, "amount"))
        }
        _ => Ok(()),
    }
}

/// What an amount's text is worth in a currency. `None` where it has decimals that the currency does not have.
pub(crate) fn amount_in(text: &str, currency: Currency) -> Option<MinorUnits> {
    Money::parse_wire(text, currency)
        .ok()
        .map(|money| money.amount)
}
