//! Measures a table of cases: what must be live, and what must not.
//!
//! A table is tab-separated without quoting, with a header. Columns: `id`, `turns` (a JSON array of the
//! customer's messages), `grounded_pairs` and `refused_pairs` (JSON arrays of `[amount, payee]` or
//! `[amount, payee, currency]`), `kind`, `source`; optional `locale`, `currency`, `payees` (a JSON array of
//! names, or of objects with `name`, `aliases`, `iban`). A row in a currency the bank does not keep cannot be
//! measured; it is skipped and counted apart.

use countersign_domain::{AccountId, Currency, MinorUnits, Money, PayeeId};
use serde::Deserialize;
use uuid::Uuid;

use crate::{
    Grounding, Input, Locale, Message, OwnAccount, Payee, PaymentAsk, Target, fold::folded_name,
    ground, lexicon,
};

/// Payees of a case that names none.
const PAYEES: &[&str] = &[
    "Alice",
    "Bob",
    "Carol",
    "Dave",
    "Mum",
    "Landlord",
    "Acme Ltd",
    "Maria Silva",
    "Maria Lopez",
    "José",
    "Diego",
    "Kiran1",
    "Studio 54",
    "Seven Eleven",
    "Nobody Inc",
    "Do Not Disturb Ltd",
];

/// Why a table cannot be scored.
#[derive(Debug, thiserror::Error)]
pub enum ScoreError {
    /// A column that must be there is missing from the header.
    #[error("the table has no column {0:?}")]
    MissingColumn(&'static str),
    /// A cell is not what its column holds.
    #[error("line {line}: {what} cannot be read")]
    Cell {
        /// Counted from 1, the header included.
        line: usize,
        /// Which cell, and what stands there.
        what: String,
    },
}

/// One case of a table.
#[derive(Clone, Debug)]
pub struct Case {
    /// The row's id.
    pub id: String,
    /// What kind of case it is.
    pub kind: String,
    /// What the customer typed.
    pub turns: Vec<String>,
    /// Pairs that must be live: amount, payee, currency.
    pub grounded: Vec<(MinorUnits, String, Currency)>,
    /// Pairs that must not be live. An amount the currency cannot hold is never live and is left out.
    pub refused: Vec<(MinorUnits, String, Currency)>,
    /// How many pairs must be refused, those left out included.
    pub refused_count: usize,
    /// The locale.
    pub locale: String,
    /// The account's currency.
    pub currency: Currency,
    /// The saved payees.
    pub payees: Vec<Payee>,
}

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

/// A row in a currency the bank does not keep: its amounts cannot even be written down here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The row's id.
    pub id: String,
    /// The code of the row's currency.
    pub currency: String,
}

/// The rows of a table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Rows that can be measured.
    pub cases: Vec<Case>,
    /// Rows that cannot.
    pub skipped: Vec<Skipped>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum PayeeCell {
    Name(String),
    Full {
        name: String,
        #[serde(default)]
        aliases: Vec<String>,
        #[serde(default)]
        iban: String,
    },
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

/// Reads the cases of a table.
///
/// # Errors
/// When the header or a cell cannot be read.
pub fn read_table(table: &str) -> Result<Table, ScoreError> {
    let mut lines = table.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    let column = |name: &str| header.iter().position(|column| *column == name);
    let must = |name: &'static str| column(name).ok_or(ScoreError::MissingColumn(name));
    let (id, turns, grounded, refused, kind) = (
        must("id")?,
        must("turns")?,
        must("grounded_pairs")?,
        must("refused_pairs")?,
        must("kind")?,
    );
    let (locale, currency, payees) = (column("locale"), column("currency"), column("payees"));
    let mut cases = Vec::new();
    let mut skipped = Vec::new();
    for (index, line) in lines
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
    {
        let cells: Vec<&str> = line.split('\t').collect();
        let cell = |at: usize| cells.get(at).copied().unwrap_or_default();
        let optional = |at: Option<usize>| at.map(cell).filter(|cell| !cell.is_empty());
        let wrong = |what: &str| ScoreError::Cell {
            line: index + 2,
            what: what.to_owned(),
        };
        let currency = match optional(currency).map(str::parse::<Currency>) {
            Some(Ok(currency)) => currency,
            Some(Err(_)) => {
                let code = optional(currency).unwrap_or_default();
                if code.len() != 3 || !code.bytes().all(|byte| byte.is_ascii_uppercase()) {
                    return Err(wrong(code));
                }
                skipped.push(Skipped {
                    id: cell(id).to_owned(),
                    currency: code.to_owned(),
                });
                continue;
            }
            None => Currency::Eur,
        };
        let grounded_cell = pairs(cell(grounded), currency).ok_or_else(|| wrong(cell(grounded)))?;
        let refused_cell = pairs(cell(refused), currency).ok_or_else(|| wrong(cell(refused)))?;
        if grounded_cell.iter().any(Option::is_none) {
            return Err(wrong(cell(grounded)));
        }
        cases.push(Case {
            id: cell(id).to_owned(),
            kind: cell(kind).to_owned(),
            turns: serde_json::from_str(cell(turns)).map_err(|_| wrong(cell(turns)))?,
            grounded: grounded_cell.into_iter().flatten().collect(),
            refused_count: refused_cell.len(),
            refused: refused_cell.into_iter().flatten().collect(),
            locale: optional(locale).map_or_else(|| locale_in(cell(kind)), str::to_owned),
            currency,
            payees: read_payees(optional(payees)).ok_or_else(|| wrong("payees"))?,
        });
    }
    Ok(Table { cases, skipped })
}

/// A kind may name its locale in words ("…; locale de").
fn locale_in(kind: &str) -> String {
    kind.split_once("locale ")
        .and_then(|(_, rest)| rest.split([' ', ';', ',', ')']).next())
        .unwrap_or("en")
        .to_owned()
}

/// A pair whose amount its currency cannot hold is `None`.
type PairCell = Option<(MinorUnits, String, Currency)>;

fn pairs(cell: &str, account: Currency) -> Option<Vec<PairCell>> {
    let rows: Vec<Vec<String>> = serde_json::from_str(cell).ok()?;
    rows.into_iter()
        .map(|row| {
            let (amount, payee) = (row.first()?, row.get(1)?);
            let (number, named) = match amount.split_once(' ') {
                Some((number, code)) => (number, Some(code)),
                None => (amount.as_str(), row.get(2).map(String::as_str)),
            };
            let currency = match named {
                Some(code) => match code.parse() {
                    Ok(currency) => currency,
                    // A currency the bank does not keep is never live.
                    Err(_) => return Some(None),
                },
                None => account,
            };
            let number = number.strip_suffix(".00").unwrap_or(number);
            Some(
                Money::parse_wire(number, currency)
                    .ok()
                    .map(|money| (money.amount, payee.clone(), currency)),
            )
        })
        .collect()
}

fn read_payees(cell: Option<&str>) -> Option<Vec<Payee>> {
    let cells: Vec<PayeeCell> = match cell {
        None => PAYEES
            .iter()
            .map(|name| PayeeCell::Name((*name).to_owned()))
            .collect(),
        Some(json) if json.starts_with('[') => serde_json::from_str(json).ok()?,
        Some(list) => list
            .split([',', ';'])
            .map(|name| PayeeCell::Name(name.trim().to_owned()))
            .collect(),
    };
    let payee = |(index, cell)| {
        let id = PayeeId::from_uuid(Uuid::from_u128(index as u128 + 1));
        match cell {
            PayeeCell::Name(name) => Payee {
                id,
                name,
                aliases: Vec::new(),
                iban: String::new(),
            },
            PayeeCell::Full {
                name,
                aliases,
                iban,
            } => Payee {
                id,
                name,
                aliases,
                iban,
            },
        }
    };
    Some(cells.into_iter().enumerate().map(payee).collect())
}

/// The own accounts of a case: four usual ones, and those among its payees that bear the name of a kind of
/// account, each in the place of the usual one of its kind.
fn accounts(case: &Case) -> Vec<OwnAccount> {
    let currency = case.currency;
    let account = |number: u128, names: &[&str], currency| OwnAccount {
        id: AccountId::from_uuid(Uuid::from_u128(number)),
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        iban: String::new(),
        currency,
    };
    let mut accounts = vec![
        account(1, &["current", "checking", "current account"], currency),
        account(2, &["savings", "savings account"], currency),
        account(3, &["travel"], Currency::Jpy),
        account(4, &["reserve"], Currency::Kwd),
    ];
    for (number, payee) in case.payees.iter().enumerate() {
        let Some(kind) = own_kind(payee) else {
            continue;
        };
        let usual = if kind == "current" { "checking" } else { kind };
        accounts.retain(|account| !account.names.iter().any(|name| name == usual));
        accounts.push(account(5 + number as u128, &[&payee.name, kind], currency));
    }
    accounts
}

/// The kind of own account that a name in the payees' column stands for.
fn own_kind(payee: &Payee) -> Option<&'static str> {
    let name = folded_name(&payee.name);
    lexicon::all()
        .iter()
        .flat_map(|language| &language.account_kinds)
        .find(|(words, _)| *words == name)
        .map(|(_, kind)| *kind)
}

/// The input a case stands for: all messages a minute apart, nothing consumed or stale.
pub fn input_of(case: &Case) -> Input {
    let message = |(index, text): (usize, &String)| {
        let sequence = i64::try_from(index).unwrap_or(i64::MAX);
        Message {
            sequence,
            text: text.clone(),
            pasted: Vec::new(),
            sent_at_unix_seconds: 1_796_000_000 + sequence * 60,
        }
    };
    Input {
        messages: case.turns.iter().enumerate().map(message).collect(),
        payees: case
            .payees
            .iter()
            .filter(|payee| own_kind(payee).is_none())
            .cloned()
            .collect(),
        accounts: accounts(case),
        cards: Vec::new(),
        orders: Vec::new(),
        transactions: Vec::new(),
        consumed: Vec::new(),
        consumed_acts: Vec::new(),
        account_currency: case.currency,
        locale: Locale(case.locale.clone()),
        now_unix_seconds: 1_796_000_000 + 3_600,
        stale_after_seconds: 86_400,
        stale_after_messages: 100,
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
