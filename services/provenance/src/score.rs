//! Measures a table of cases: what must be live, and what must not.
//!
//! A table is tab-separated without quoting, with a header. Columns: `id`, `turns` (a JSON array of the
//! customer's messages), `grounded_pairs` and `refused_pairs` (JSON arrays of `[amount, payee]` or
//! `[amount, payee, currency]`), `kind`, `source`; optional `locale`, `currency`, `payees` (a JSON array of
//! names, or of objects with `name`, `aliases`, `iban`). A row in a currency the bank does not keep cannot be
//! measured; it is skipped and counted apart.

use countersign_domain::{Currency, MinorUnits, Money};

use crate::{Grounding, Input, PaymentAsk, Target, ground};

pub use crate::{
    case_input::input_of,
    table::{Case, ScoreError, Skipped, Table, read_table},
};

/// What came of one case.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The case.
    pub case: Case,
    /// Pairs that must not be live and are.
    pub wrongly_grounded: Vec<String>,
    /// Pairs that must be live and are not.
    pub missed: Vec<String>,
    /// What the words grounded.
    pub grounding: Grounding,
}

/// The figures of a table.
#[derive(Clone, Debug, Default)]
pub struct Score {
    /// Every case with what came of it.
    pub outcomes: Vec<Outcome>,
    /// Rows that were not measured.
    pub skipped: Vec<Skipped>,
}

impl Score {
    /// Scores a table.
    ///
    /// # Errors
    /// When the header or a cell cannot be read.
    pub fn of_table(table: &str) -> Result<Self, ScoreError> {
        let Table { cases, skipped } = read_table(table)?;
        Ok(Self {
            outcomes: cases.into_iter().map(run).collect(),
            skipped,
        })
    }

    /// Pairs that were live and must not be.
    pub fn wrongly_grounded(&self) -> usize {
        self.outcomes
            .iter()
            .map(|outcome| outcome.wrongly_grounded.len())
            .sum()
    }

    /// Pairs that must be live: how many are, and how many there are.
    pub fn found(&self) -> (usize, usize) {
        let wanted: usize = self
            .outcomes
            .iter()
            .map(|outcome| outcome.case.grounded.len())
            .sum();
        let missed: usize = self
            .outcomes
            .iter()
            .map(|outcome| outcome.missed.len())
            .sum();
        (wanted - missed, wanted)
    }

    /// Cases with nothing wrong and nothing missed, and how many cases there are.
    pub fn whole(&self) -> (usize, usize) {
        let right = self
            .outcomes
            .iter()
            .filter(|outcome| outcome.is_right())
            .count();
        (right, self.outcomes.len())
    }

    /// Pairs that must be refused.
    pub fn refusable(&self) -> usize {
        self.outcomes
            .iter()
            .map(|outcome| outcome.case.refused_count)
            .sum()
    }
}

impl Outcome {
    /// Whether nothing is wrong and nothing missed.
    pub fn is_right(&self) -> bool {
        self.wrongly_grounded.is_empty() && self.missed.is_empty()
    }

    /// The case, its live payments with their words, and its refusals, for people.
    pub fn explanation(&self) -> String {
        let mut lines = vec![format!(
            "{} [{}] {}",
            self.case.id,
            self.case.kind,
            self.case.turns.join(" / ")
        )];
        lines.extend(
            self.wrongly_grounded
                .iter()
                .map(|pair| format!("  WRONGLY GROUNDED {pair}")),
        );
        lines.extend(self.missed.iter().map(|pair| format!("  missed {pair}")));
        for ask in &self.grounding.payments {
            lines.push(format!("  live {}", self.describe(ask)));
        }
        for act in &self.grounding.acts {
            lines.push(format!(
                "  act {:?} in {:?}",
                act.act,
                self.words(act.clause)
            ));
        }
        for refusal in &self.grounding.refusals {
            lines.push(format!(
                "  refused {:?} in {:?}",
                refusal.reason,
                self.words(refusal.at)
            ));
        }
        lines.join("\n")
    }

    fn words(&self, at: crate::MessageSpan) -> &str {
        usize::try_from(at.sequence)
            .ok()
            .and_then(|index| self.case.turns.get(index)?.get(at.span.start..at.span.end))
            .unwrap_or_default()
    }

    fn describe(&self, ask: &PaymentAsk) -> String {
        let amount = ask.amount.map_or_else(
            || "open amount".to_owned(),
            |amount| {
                let money = Money {
                    amount: amount.value,
                    currency: ask.currency,
                };
                format!(
                    "{} {} ({:?})",
                    money.to_wire(),
                    ask.currency,
                    self.words(amount.at)
                )
            },
        );
        let payee = match (&ask.payee, &ask.typed_iban) {
            (Some(payee), _) => format!("{:?}", self.words(payee.at)),
            (None, Some(iban)) => iban.value.clone(),
            (None, None) => "open payee".to_owned(),
        };
        let open = ask
            .open_because
            .map_or(String::new(), |reason| format!(", open because {reason:?}"));
        format!(
            "{amount} to {payee}{open}, asked in {:?}",
            self.words(ask.clause)
        )
    }
}

fn run(case: Case) -> Outcome {
    let input = input_of(&case);
    let grounding = ground(&input);
    let is_live = |(amount, name, currency): &(MinorUnits, String, Currency)| {
        grounding.payments.iter().any(|ask| {
            ask.amount.is_some_and(|live| live.value == *amount)
                && ask.currency == *currency
                && is_to(ask, &input, name)
        })
    };
    let text = |(amount, name, currency): &(MinorUnits, String, Currency)| {
        format!(
            "{} {currency} to {name}",
            Money {
                amount: *amount,
                currency: *currency
            }
            .to_wire()
        )
    };
    let wrongly_grounded = case
        .refused
        .iter()
        .filter(|pair| is_live(pair))
        .map(text)
        .collect();
    let missed = case
        .grounded
        .iter()
        .filter(|pair| !is_live(pair))
        .map(text)
        .collect();
    Outcome {
        case,
        wrongly_grounded,
        missed,
        grounding,
    }
}

/// Whether a payment goes to the one a case names.
fn is_to(ask: &PaymentAsk, input: &Input, name: &str) -> bool {
    let compact = name.replace(' ', "");
    if ask
        .typed_iban
        .as_ref()
        .is_some_and(|iban| iban.value == compact)
    {
        return true;
    }
    match ask.payee.map(|payee| payee.value) {
        Some(Target::Payee(id)) => input.payees.iter().any(|payee| {
            payee.id == id
                && (payee.name == name
                    || payee.iban == compact
                    || payee.aliases.iter().any(|alias| alias == name))
        }),
        Some(Target::Own(id)) => input.accounts.iter().any(|account| {
            account.id == id
                && account
                    .names
                    .iter()
                    .any(|own| own.eq_ignore_ascii_case(name))
        }),
        None => false,
    }
}
