//! What stands on a card: titles, rows, warnings and the record, from an action and the facts about it.

use countersign_domain::{
    ActionKind, MinorUnits, Money, NameCheck, ProfileField,
    limits::{self, Payment, Used},
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

    /// Whether the money stays the customer's.
    fn moves(&self) -> bool {
        !self.lines.is_empty()
            && self
                .lines
                .iter()
                .all(|(line, _)| line.own_account.is_some())
    }

    fn shown(&self, money: Money) -> String {
        self.facts.texts.money(money)
    }

    /// The button of several lines: `Send 75.00 EUR to 2 payees`.
    fn button_of_all(&self, total: &str) -> String {
        let texts = self.facts.texts;
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
        let (lines, several) = (self.lines.len().to_string(), ids.len().to_string());
        match (self.lines.as_slice(), ids.len()) {
            ([(_, Some(to)), ..], 1) => {
                let values = [
                    ("total", total),
                    ("name", to.name.as_str()),
                    ("count", lines.as_str()),
                ];
                if self.moves() {
                    texts.with("Move {total} to {name} in {count} payments", &values)
                } else {
                    texts.with("Send {total} to {name} in {count} payments", &values)
                }
            }
            (_, _) if own == 0 => texts.with(
                "Send {total} to {count} payees",
                &[("total", total), ("count", &several)],
            ),
            (all, _) if own == all.len() => texts.with(
                "Move {total} to {count} accounts",
                &[("total", total), ("count", &several)],
            ),
            _ => texts.with(
                "Send {total} in {count} payments",
                &[("total", total), ("count", &lines)],
            ),
        }
    }

    pub(crate) fn title(&self) -> String {
        let texts = self.facts.texts;
        let total = self.total().map(|total| self.shown(total));
        match (self.action.kind, total) {
            (ActionKind::Transfer, Some(total)) if self.moves() => {
                texts.with("Move {total}", &[("total", &total)])
            }
            (ActionKind::Transfer, Some(total)) => texts.with("Send {total}", &[("total", &total)]),
            (ActionKind::Refund, Some(total)) => {
                texts.with("Send {total} back", &[("total", &total)])
            }
            (kind, _) => texts.say(wording::plain_title(kind)).to_owned(),
        }
    }

    pub(crate) fn button(&self) -> String {
        let texts = self.facts.texts;
        let values = &self.action.values;
        let card = values
            .card
            .and_then(|card| self.facts.card(card))
            .map(|card| format!("{} ·· {}", card.label, card.last_four));
        let total = self.total().map(|total| self.shown(total));
        let plain = match self.action.kind {
            ActionKind::Transfer => match (total, self.lines.as_slice()) {
                (Some(total), [(_, Some(to))]) => {
                    let values = [("total", total.as_str()), ("name", to.name.as_str())];
                    return if self.moves() {
                        texts.with("Move {total} to {name}", &values)
                    } else {
                        texts.with("Send {total} to {name}", &values)
                    };
                }
                (Some(total), lines) if lines.len() > 1 => return self.button_of_all(&total),
                _ => "Send",
            },
            ActionKind::Refund => match (total, self.lines.first()) {
                (Some(total), Some((_, Some(to)))) => {
                    let values = [("total", total.as_str()), ("name", to.name.as_str())];
                    return texts.with("Send {total} back to {name}", &values);
                }
                _ => "Send back",
            },
            ActionKind::CardFreeze => match card {
                Some(card) => return texts.with("Freeze {card}", &[("card", &card)]),
                None => "Freeze card",
            },
            ActionKind::CardUnfreeze => match card {
                Some(card) => return texts.with("Unfreeze {card}", &[("card", &card)]),
                None => "Unfreeze card",
            },
            ActionKind::StandingOrderCreate => "Set up this standing order",
            ActionKind::StandingOrderChange => "Change this standing order",
            ActionKind::StandingOrderCancel => "End this standing order",
            ActionKind::Dispute => "Open this dispute",
            ActionKind::Payee => "Save this payee",
            ActionKind::LimitChange => return limit::button(texts, self.action),
            ActionKind::ProfileChange => match values.profile_field {
                Some(ProfileField::Address) => "Change my address",
                Some(ProfileField::Phone) => "Change my phone number",
                Some(ProfileField::Email) => "Change my e-mail address",
                None => "Change",
            },
        };
        texts.say(plain).to_owned()
    }

    pub(crate) fn rows(&self) -> Vec<DisplayRow> {
        let values = &self.action.values;
        let mut rows = Vec::new();
        let texts = self.facts.texts;
        let mut row = |label: &str, value: String| {
            rows.push(DisplayRow {
                label: texts.say(label).to_owned(),
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
                format!(
                    "{} {}",
                    self.shown(order.amount),
                    texts.say(wording::frequency(order.frequency))
                ),
            );
            row("Paid to", payee);
        }
        if let Some(transaction) = values.transaction.and_then(|id| self.facts.transaction(id)) {
            row(
                "Transaction",
                texts.with(
                    "{amount} on {day}",
                    &[
                        ("amount", &self.shown(transaction.amount)),
                        ("day", &texts.day(transaction.day)),
                    ],
                ),
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
            for (label, value) in self.line_rows(line, destination.as_ref()) {
                row(label, value);
            }
        }
        if self.lines.len() > 1
            && let Some(total) = self.total()
        {
            row("Total", self.shown(total));
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
        rows.extend(self.terms());
        rows
    }

    /// The names on the card that outsiders chose: wherever one stands in a sentence of it, the page isolates it.
    pub(crate) fn names(&self) -> Vec<String> {
        let values = &self.action.values;
        let order = values.order.and_then(|order| self.facts.order(order));
        let ordered = order.and_then(|order| self.facts.payee(order.payee));
        let transaction = values.transaction.and_then(|id| self.facts.transaction(id));
        let typed = values
            .typed
            .get("payee_name")
            .and_then(|name| name.as_str());
        let mut names: Vec<String> = ordered
            .map(|payee| display_name(&payee.name).text)
            .into_iter()
            .chain(transaction.map(|row| display_name(&row.counterparty).text))
            .chain(
                self.lines
                    .iter()
                    .filter_map(|(_, to)| to.as_ref().map(|to| to.name.clone())),
            )
            .chain(typed.map(str::to_owned))
            .collect();
        let mut seen = std::collections::HashSet::new();
        names.retain(|name| seen.insert(name.clone()));
        names
    }

    /// The rows of one payment.
    fn line_rows(
        &self,
        line: &StoredLine,
        destination: Option<&Destination>,
    ) -> Vec<(&'static str, String)> {
        let label = if self.action.values.order.is_some() {
            "New amount"
        } else {
            "Amount"
        };
        let amount = line.amount.and_then(|amount| self.money(amount));
        amount
            .map(|amount| (label, self.shown(amount)))
            .into_iter()
            .chain(
                destination
                    .into_iter()
                    .flat_map(|to| [("To", to.name.clone()), ("Account", to.row_value.clone())]),
            )
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
                let texts = self.facts.texts;
                let about = match (amount, to) {
                    (Some(amount), Some(to)) => texts.with(
                        "{amount} to {name}",
                        &[("amount", &self.shown(amount)), ("name", &to.name)],
                    ),
                    (Some(amount), None) => self.shown(amount),
                    (None, Some(to)) => texts.with("the payment to {name}", &[("name", &to.name)]),
                    (None, None) => texts.with(
                        "payment {number}",
                        &[("number", &line.line_number.to_string())],
                    ),
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
        let texts = self.facts.texts;
        let mut terms = Vec::new();
        let mut term = |label: &str, value: String| {
            terms.push(DisplayRow {
                label: texts.say(label).to_owned(),
                value,
            });
        };
        if let Some(frequency) = values.frequency {
            term(
                "How often",
                texts.say(wording::frequency(frequency)).to_owned(),
            );
        }
        if let Some(date) = values.start_date {
            term("First payment", texts.day(date));
        }
        if let Some(reason) = values.dispute_reason {
            term(
                "Reason",
                texts.say(wording::dispute_reason(reason)).to_owned(),
            );
        }
        if let Some(field) = values.profile_field {
            term("Changes", texts.say(wording::your_field(field)).to_owned());
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
            term("What it is for", texts.say(purpose.label).to_owned());
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
                let texts = self.facts.texts;
                let note = texts.note(note);
                let text = if self.lines.len() > 1 {
                    texts.with(
                        "The name {name}: {note}.",
                        &[("name", &to.name), ("note", &note)],
                    )
                } else {
                    texts.with("This name: {note}.", &[("note", &note)])
                };
                warnings.push(Warning {
                    code: "name_hides_something",
                    text,
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
                first_after: payee
                    .filter(|payee| payee.is_new)
                    .map(|_| care::sent_to_new(self.action, self.facts)),
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
        if !matches!(self.action.kind, ActionKind::Transfer | ActionKind::Refund) || self.moves() {
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
        Some(self.shown(Money {
            amount: left,
            currency,
        }))
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
            locale: self.facts.texts.lang.clone(),
            created: card.created.clone(),
            expires: card.expires.clone(),
        }
    }
}

fn destination(action: &StoredAction, line: &StoredLine, facts: &Facts) -> Option<Destination> {
    let texts = facts.texts;
    if let Some(payee) = line.payee.and_then(|payee| facts.payee(payee)) {
        let name = display_name(&payee.name);
        return Some(Destination {
            id: payee.id.to_string(),
            account: payee.iban.clone(),
            name_check: payee.name_check,
            // The end of the number is not shown to somebody who is asked to type it.
            row_value: if care::wants_last_four(action, line, facts) {
                texts.with("saved {year}", &[("year", &payee.saved_year.to_string())])
            } else {
                texts.with(
                    "·· {digits}, saved {year}",
                    &[
                        ("digits", countersign_domain::text::last_four(&payee.iban)),
                        ("year", &payee.saved_year.to_string()),
                    ],
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
            row_value: texts.with(
                "·· {digits}, your own account",
                &[("digits", countersign_domain::text::last_four(&account.iban))],
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
            row_value: texts.with(
                "·· {digits}, where it came from",
                &[("digits", countersign_domain::text::last_four(&iban))],
            ),
            account: iban,
            name: name.text,
            notes: name.notes,
        });
    }
    None
}
