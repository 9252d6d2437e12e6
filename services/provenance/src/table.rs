//! Reading a table of cases.

use countersign_domain::{Currency, MinorUnits, Money, PayeeId};
use serde::Deserialize;
use uuid::Uuid;

use crate::Payee;

/// A pair whose amount its currency cannot hold is `None`.
type PairCell = Option<(MinorUnits, String, Currency)>;

/// Payees of a case that names none.
const PAYEES: &[&str] = &[
    "Alice",
    "Bob",
    "Carol",
    "Dave",
    "Erin",
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
    // An empty list says nothing of whom the customer knows.
    let cells: Vec<PayeeCell> = match cell.filter(|json| json.trim() != "[]") {
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
