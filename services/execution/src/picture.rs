//! What stands on a card: titles, rows, warnings and the record, from an action and the facts about it.

use countersign_domain::{
    ActionKind, MinorUnits, Money, NameCheck,
    limits::{self, NewPayee, Payment, Used},
    record::{ConfirmRecord, DisplayRow, RECORD_VERSION, RecordLine},
};
use countersign_screening::display_name;
use countersign_store::action::{StoredAction, StoredLine};

use crate::{
    card::{Card, CardPayment, Warning},
    care,
    facts::Facts,
    limit, step_up, wording,
};

/// Where the money of one line goes.
struct Destination {
    id: String,
    name: String,
    account: String,
    name_check: NameCheck,
    row_value: String,
    notes: Vec<String>,
}

/// One action as a card shows it.
pub(crate) struct Picture<'a> {
    action: &'a StoredAction,
    facts: &'a Facts,
    lines: Vec<(&'a StoredLine, Option<Destination>)>,
}

impl<'a> Picture<'a> {
    pub(crate) fn new(action: &'a StoredAction, facts: &'a Facts) -> Self {
        let lines = action
            .values
            .lines
            .iter()
            .map(|line| (line, destination(action, line, facts)))
            .collect();
        Self {
            action,
            facts,
            lines,
        }
    }

    /// Whether a Confirm leaves a time to undo: money goes to somebody else.
    pub(crate) fn can_be_undone(&self) -> bool {
        matches!(self.action.kind, ActionKind::Transfer | ActionKind::Refund)
            && self
                .lines
                .iter()
                .any(|(line, _)| line.own_account.is_none())
    }

    fn money(&self, amount: MinorUnits) -> Option<Money> {
        self.action
            .values
            .currency
            .map(|currency| Money { amount, currency })
    }

    /// The names that a name check found to be others than the accounts'.
    pub(crate) fn other_names(&self) -> bool {
        self.lines.iter().any(|(_, to)| {
            to.as_ref()
                .is_some_and(|to| matches!(to.name_check, NameCheck::Close | NameCheck::NoMatch))
        })
    }

    /// What leaves the customer's accounts; none while an amount is open or nothing leaves.
    pub(crate) fn leaving(&self) -> Option<MinorUnits> {
        let mut leaving: Option<MinorUnits> = None;
        for (line, _) in &self.lines {
            if line.own_account.is_none() {
                let amount = line.amount?;
                leaving = Some(leaving.unwrap_or_default().checked_add(amount)?);
            }
        }
        leaving
    }

    pub(crate) fn total(&self) -> Option<Money> {
        let mut total = MinorUnits::ZERO;
        for (line, _) in &self.lines {
            total = total.checked_add(line.amount?)?;
        }
        if self.lines.is_empty() {
            None
        } else {
            self.money(total)
        }
    }

    fn verb(&self) -> &'static str {
        let own = !self.lines.is_empty()
            && self
                .lines
                .iter()
                .all(|(line, _)| line.own_account.is_some());
        if own { "Move" } else { "Send" }
    }

    /// Where the money of several lines goes, in words: `to 2 payees`.
    fn to_all(&self) -> String {
        let mut ids: Vec<&str> = self
            .lines
            .iter()
            .filter_map(|(_, to)| to.as_ref().map(|to| to.id.as_str()))
            .collect();
        ids.sort_unstable();
        ids.dedup();
        let own = self
            .lines
            .iter()
            .filter(|(line, _)| line.own_account.is_some())
            .count();
        match (self.lines.as_slice(), ids.len()) {
            ([(_, Some(to)), ..], 1) => {
                format!("to {} in {} payments", to.name, self.lines.len())
            }
            (_, several) if own == 0 => format!("to {several} payees"),
            (lines, several) if own == lines.len() => format!("to {several} accounts"),
            (lines, _) => format!("in {} payments", lines.len()),
        }
    }

    pub(crate) fn title(&self) -> String {
        match (self.action.kind, self.total()) {
            (ActionKind::Transfer, Some(total)) => format!("{} {total}", self.verb()),
            (ActionKind::Refund, Some(total)) => format!("Send {total} back"),
            (kind, _) => wording::plain_title(kind).to_owned(),
        }
    }

    pub(crate) fn button(&self) -> String {
        let values = &self.action.values;
        let card = values.card.and_then(|card| self.facts.card(card));
        match self.action.kind {
            ActionKind::Transfer => match (self.total(), self.lines.as_slice()) {
                (Some(total), [(_, Some(to))]) => format!("{} {total} to {}", self.verb(), to.name),
                (Some(total), lines) if lines.len() > 1 => {
                    format!("{} {total} {}", self.verb(), self.to_all())
                }
                _ => "Send".to_owned(),
            },
            ActionKind::Refund => match (self.total(), self.lines.first()) {
                (Some(total), Some((_, Some(to)))) => format!("Send {total} back to {}", to.name),
                _ => "Send back".to_owned(),
            },
            ActionKind::CardFreeze => card.map_or("Freeze card".to_owned(), |card| {
                format!("Freeze {} ·· {}", card.label, card.last_four)
            }),
            ActionKind::CardUnfreeze => card.map_or("Unfreeze card".to_owned(), |card| {
                format!("Unfreeze {} ·· {}", card.label, card.last_four)
            }),
            ActionKind::StandingOrderCreate => "Set up this standing order".to_owned(),
            ActionKind::StandingOrderChange => "Change this standing order".to_owned(),
            ActionKind::StandingOrderCancel => "End this standing order".to_owned(),
            ActionKind::Dispute => "Open this dispute".to_owned(),
            ActionKind::Payee => "Save this payee".to_owned(),
            ActionKind::LimitChange => limit::button(self.action),
            ActionKind::ProfileChange => {
                values.profile_field.map_or("Change".to_owned(), |field| {
                    format!("Change my {}", wording::profile_field(field))
                })
            }
        }
    }

    pub(crate) fn rows(&self) -> Vec<DisplayRow> {
        let values = &self.action.values;
        let mut rows = Vec::new();
        let mut row = |label: &str, value: String| {
            rows.push(DisplayRow {
                label: label.to_owned(),
                value,
            });
        };
        if let Some(card) = values.card.and_then(|card| self.facts.card(card)) {
            row("Card", format!("{} ·· {}", card.label, card.last_four));
        }
        if let Some(order) = values.order.and_then(|order| self.facts.order(order)) {
            let payee = self
                .facts
                .payee(order.payee)
                .map_or_else(String::new, |payee| display_name(&payee.name).text);
            row(
                "Standing order",
                format!("{} {}", order.amount, wording::frequency(order.frequency)),
            );
            row("Paid to", payee);
        }
        if let Some(transaction) = values.transaction.and_then(|id| self.facts.transaction(id)) {
            row(
                "Transaction",
                format!("{} on {}", transaction.amount, transaction.day),
            );
            row(
                if transaction.incoming {
                    "Came from"
                } else {
                    "Paid to"
                },
                display_name(&transaction.counterparty).text,
            );
        }
        for (line, destination) in &self.lines {
            for term in self.line_rows(line, destination.as_ref()) {
                row(&term.label, term.value);
            }
        }
        if self.lines.len() > 1
            && let Some(total) = self.total()
        {
            row("Total", total.to_display());
        }
        if let Some(account) = values
            .from_account
            .and_then(|account| self.facts.account(account))
        {
            row(
                "From",
                wording::name_and_account(&account.label, &account.iban),
            );
        }
        for term in self.terms() {
            row(&term.label, term.value);
        }
        rows
    }

    /// The rows of one payment.
    fn line_rows(&self, line: &StoredLine, destination: Option<&Destination>) -> Vec<DisplayRow> {
        let row = |label: &str, value: String| DisplayRow {
            label: label.to_owned(),
            value,
        };
        let label = if self.action.values.order.is_some() {
            "New amount"
        } else {
            "Amount"
        };
        let amount = line.amount.and_then(|amount| self.money(amount));
        amount
            .map(|amount| row(label, amount.to_display()))
            .into_iter()
            .chain(destination.into_iter().flat_map(|to| {
                [
                    row("To", to.name.clone()),
                    row("Account", to.row_value.clone()),
                ]
            }))
            .collect()
    }

    /// The payments that can be dropped: all of a transfer's, where there are several.
    pub(crate) fn payments_to_drop(&self) -> Vec<CardPayment> {
        if self.action.kind != ActionKind::Transfer || self.lines.len() < 2 {
            return Vec::new();
        }
        // Nothing stands before the rows of a transfer's payments.
        let mut first_row = 0;
        self.lines
            .iter()
            .map(|(line, to)| {
                let rows = self.line_rows(line, to.as_ref()).len();
                let amount = line.amount.and_then(|amount| self.money(amount));
                let about = match (amount, to) {
                    (Some(amount), Some(to)) => format!("{amount} to {}", to.name),
                    (Some(amount), None) => amount.to_display(),
                    (None, Some(to)) => format!("the payment to {}", to.name),
                    (None, None) => format!("payment {}", line.line_number),
                };
                let payment = CardPayment {
                    line: line.line_number,
                    first_row,
                    rows,
                    about,
                };
                first_row += rows;
                payment
            })
            .collect()
    }

    /// Values that take effect and are no payment, by the words the card shows them under.
    fn terms(&self) -> Vec<DisplayRow> {
        let values = &self.action.values;
        let mut terms = Vec::new();
        let mut term = |label: &str, value: String| {
            terms.push(DisplayRow {
                label: label.to_owned(),
                value,
            });
        };
        if let Some(frequency) = values.frequency {
            term("How often", wording::frequency(frequency).to_owned());
        }
        if let Some(date) = values.start_date {
            term("First payment", date.to_string());
        }
        if let Some(reason) = values.dispute_reason {
            term("Reason", wording::dispute_reason(reason).to_owned());
        }
        if let Some(field) = values.profile_field {
            term("Changes", format!("your {}", wording::profile_field(field)));
        }
        for (slot, label) in [
            ("payee_name", "Name"),
            ("payee_iban", "Account number"),
            ("value", "New value"),
            ("details", "What happened"),
        ] {
            if let Some(serde_json::Value::String(text)) = values.typed.get(slot) {
                term(label, text.clone());
            }
        }
        for (label, value) in limit::terms(self.action, self.facts) {
            term(label, value);
        }
        if let Some(purpose) = care::purpose(self.action) {
            term("What it is for", purpose.label.to_owned());
        }
        for line in &values.lines {
            let key = care::last_four_key(line.line_number);
            if let Some(serde_json::Value::String(digits)) = values.typed.get(&key) {
                term("Account number checked", format!("·· {digits}"));
            }
        }
        terms
    }

    pub(crate) fn warnings(&self) -> Vec<Warning> {
        let mut warnings: Vec<Warning> = Vec::new();
        for (line, to) in &self.lines {
            let Some(to) = to else { continue };
            if let Some(payee) = line.payee.and_then(|payee| self.facts.payee(payee)) {
                warnings.extend(care::payee_warnings(
                    self.action,
                    payee,
                    &to.name,
                    self.facts,
                ));
            }
            // The cut is marked in the name itself; only what hides or deceives is a warning.
            for note in to.notes.iter().filter(|note| !note.starts_with("cut:")) {
                let which = if self.lines.len() > 1 {
                    format!("The name {}", to.name)
                } else {
                    "This name".to_owned()
                };
                warnings.push(Warning {
                    code: "name_hides_something",
                    text: format!("{which} {note}."),
                });
            }
        }
        warnings.extend(care::payment_warnings(self.action, self.facts));
        warnings.extend(step_up::warnings(self.action, self.facts, self));
        // Said once, however many lines pay the same payee.
        let mut said = Vec::with_capacity(warnings.len());
        for warning in warnings {
            if !said.contains(&warning) {
                said.push(warning);
            }
        }
        said
    }

    fn payments(&self) -> Option<Vec<Payment>> {
        let mut payments = Vec::new();
        for (line, _) in &self.lines {
            let own = line.own_account.is_some();
            if own {
                continue;
            }
            let payee = line.payee.and_then(|payee| self.facts.payee(payee));
            payments.push(Payment {
                amount: line.amount?,
                first_to: payee.filter(|payee| payee.is_new).map(|payee| NewPayee {
                    payee: payee.id,
                    sent: care::sent(self.action, payee, self.facts),
                }),
            });
        }
        Some(payments)
    }

    /// The rule that stands in the way now, by the code the database would answer with.
    pub(crate) fn refusal(&self) -> Option<&'static str> {
        let moves_money = matches!(
            self.action.kind,
            ActionKind::Transfer | ActionKind::Refund | ActionKind::StandingOrderCreate
        );
        let currency = self.action.values.currency?;
        if !moves_money {
            return None;
        }
        let payments = self.payments()?;
        let standing_order = self.action.kind == ActionKind::StandingOrderCreate;
        if !payments.is_empty() {
            let Some(limits) = self.facts.limits.get(&currency) else {
                return Some("limit_per_transfer");
            };
            let used = if standing_order {
                Used::default()
            } else {
                Used {
                    sent_today: self
                        .facts
                        .spent_today
                        .get(&currency)
                        .copied()
                        .unwrap_or_default(),
                    pending: match self.facts.waiting_beside(self.action.id, currency) {
                        Some(waiting) => waiting,
                        None => return Some("limit_pending_total"),
                    },
                }
            };
            if let Err(code) = limits::check(limits, used, &payments) {
                return Some(code.text());
            }
            if care::is_over_name_cap(self.action, self.facts, limits.first_payment) {
                return Some("limit_name_check");
            }
        }
        if step_up::is_over_new_passkey(self.action, self.facts, self) {
            return Some("limit_new_passkey");
        }
        let total = self.total()?;
        let account = self.facts.account(self.action.values.from_account?)?;
        if account.currency != currency {
            return Some("currency_mismatch");
        }
        if !standing_order && account.balance < total.amount {
            return Some("insufficient_funds");
        }
        None
    }

    pub(crate) fn left_today(&self) -> Option<String> {
        if !matches!(self.action.kind, ActionKind::Transfer | ActionKind::Refund)
            || self.verb() == "Move"
        {
            return None;
        }
        let currency = self.action.values.currency?;
        let limits = self.facts.limits.get(&currency)?;
        let sent = self
            .facts
            .spent_today
            .get(&currency)
            .copied()
            .unwrap_or_default();
        // A move between own accounts takes nothing of the day.
        let leaves = self
            .lines
            .iter()
            .filter(|(line, _)| line.own_account.is_none())
            .filter_map(|(line, _)| line.amount)
            .try_fold(MinorUnits::ZERO, MinorUnits::checked_add)?;
        let left = limits::left_today(limits, sent.checked_add(leaves)?);
        Some(
            Money {
                amount: left,
                currency,
            }
            .to_display(),
        )
    }

    pub(crate) fn record(&self, card: &Card, grounding: String) -> ConfirmRecord {
        let values = &self.action.values;
        let zero = self
            .money(MinorUnits::ZERO)
            .map_or_else(String::new, Money::to_wire);
        ConfirmRecord {
            v: RECORD_VERSION,
            customer: self.action.customer.to_string(),
            action: self.action.id.to_string(),
            action_version: u32::try_from(values.version).unwrap_or(0),
            kind: self.action.kind.text().to_owned(),
            from: values.from_account.map(|account| account.to_string()),
            currency: values.currency.map(|currency| currency.code().to_owned()),
            lines: self
                .lines
                .iter()
                .filter_map(|(line, to)| {
                    let amount = line.amount.and_then(|amount| self.money(amount))?;
                    let to = to.as_ref();
                    Some(RecordLine {
                        payee: to.map(|to| to.id.clone()).unwrap_or_default(),
                        payee_account: to.map(|to| to.account.clone()).unwrap_or_default(),
                        payee_name: to.map(|to| to.name.clone()).unwrap_or_default(),
                        amount: amount.to_wire(),
                        fee: zero.clone(),
                        name_check: to
                            .map_or(NameCheck::NotChecked, |to| to.name_check)
                            .text()
                            .to_owned(),
                    })
                })
                .collect(),
            target: values
                .card
                .map(|id| id.to_string())
                .or(values.order.map(|id| id.to_string()))
                .or(values.transaction.map(|id| id.to_string())),
            terms: self.terms(),
            warnings: card
                .warnings
                .iter()
                .map(|warning| warning.code.to_owned())
                .collect(),
            rules_version: self.facts.rules_version.clone(),
            provenance_version: countersign_provenance::VERSION.to_owned(),
            grounding,
            display: std::iter::once(DisplayRow {
                label: "title".to_owned(),
                value: card.title.clone(),
            })
            .chain(std::iter::once(DisplayRow {
                label: "button".to_owned(),
                value: card.button.clone(),
            }))
            .chain(card.rows.iter().cloned())
            .chain(card.warnings.iter().map(|warning| DisplayRow {
                label: "warning".to_owned(),
                value: warning.text.clone(),
            }))
            .collect(),
            locale: self.facts.locale.clone(),
            created: card.created.clone(),
            expires: card.expires.clone(),
        }
    }
}

fn destination(action: &StoredAction, line: &StoredLine, facts: &Facts) -> Option<Destination> {
    if let Some(payee) = line.payee.and_then(|payee| facts.payee(payee)) {
        let name = display_name(&payee.name);
        return Some(Destination {
            id: payee.id.to_string(),
            account: payee.iban.clone(),
            name_check: payee.name_check,
            // The end of the number is not shown to somebody who is asked to type it.
            row_value: if care::wants_last_four(action, line, facts) {
                format!("saved {}", payee.saved_year)
            } else {
                format!(
                    "·· {}, saved {}",
                    countersign_domain::text::last_four(&payee.iban),
                    payee.saved_year
                )
            },
            name: name.text,
            notes: name.notes,
        });
    }
    if let Some(account) = line.own_account.and_then(|account| facts.account(account)) {
        return Some(Destination {
            id: account.id.to_string(),
            account: account.iban.clone(),
            name_check: NameCheck::NotChecked,
            row_value: format!(
                "·· {}, your own account",
                countersign_domain::text::last_four(&account.iban)
            ),
            name: account.label.clone(),
            notes: Vec::new(),
        });
    }
    if action.kind == ActionKind::Refund {
        let transaction = action
            .values
            .transaction
            .and_then(|id| facts.transaction(id))?;
        let iban = transaction.counterparty_iban.clone()?;
        let name = display_name(&transaction.counterparty);
        return Some(Destination {
            id: transaction.id.to_string(),
            name_check: NameCheck::NotChecked,
            row_value: format!(
                "·· {}, where it came from",
                countersign_domain::text::last_four(&iban)
            ),
            account: iban,
            name: name.text,
            notes: name.notes,
        });
    }
    None
}
