//! Naive checks on the same cases, so that a figure of this crate has something to stand beside.
//!
//! Each asks only whether a pair's amount and name occur; none asks what the words do. The numbers and
//! clauses are read by this crate's own grammar, which flatters the checks that use them.

use countersign_domain::{Currency, MinorUnits, Money};

use crate::{
    Locale, Message, ground,
    names::Names,
    score::{Case, Score, input_of},
    sentences,
    tags::Tags,
    tokens::{Kind, Token},
};

/// A naive way to decide whether a customer asked for a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// The amount's digits and the name occur somewhere in the chat.
    Literal,
    /// A number of that value and the name occur somewhere in the chat.
    Parsed,
    /// Both occur in one message.
    OneMessage,
    /// Both occur in one clause that holds no word of negation.
    OneClause,
}

/// What a check did on a set of cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Pairs it let through that must not be live.
    pub wrong: usize,
    /// Pairs that must not be live.
    pub refusable: usize,
    /// Pairs it let through that must be live.
    pub found: usize,
    /// Pairs that must be live.
    pub wanted: usize,
    /// Cases with nothing wrong and nothing missed.
    pub whole: usize,
    /// Cases.
    pub cases: usize,
}

impl Figures {
    /// Adds the figures of another table.
    pub fn add(&mut self, other: Self) {
        self.wrong += other.wrong;
        self.refusable += other.refusable;
        self.found += other.found;
        self.wanted += other.wanted;
        self.whole += other.whole;
        self.cases += other.cases;
    }

    /// The figures of this crate on a table.
    pub fn of_score(score: &Score) -> Self {
        let (found, wanted) = score.found();
        let (whole, cases) = score.whole();
        Self {
            wrong: score.wrongly_grounded(),
            refusable: score.refusable(),
            found,
            wanted,
            whole,
            cases,
        }
    }
}

impl Baseline {
    /// Every check, the weakest first.
    pub const ALL: [Self; 4] = [
        Self::Literal,
        Self::Parsed,
        Self::OneMessage,
        Self::OneClause,
    ];

    /// What it does, in words.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Literal => "literal substring, whole chat",
            Self::Parsed => "numbers parsed, whole chat",
            Self::OneMessage => "numbers parsed, one message",
            Self::OneClause => "same clause, no negation word",
        }
    }

    /// Measures it on a table that has been scored.
    pub fn measure(self, score: &Score) -> Figures {
        let mut figures = Figures::default();
        for case in score.outcomes.iter().map(|outcome| &outcome.case) {
            let pieces = self.pieces(case);
            let lets = |pair: &&(MinorUnits, String, Currency)| {
                pieces
                    .iter()
                    .any(|piece| piece.holds(pair, self == Self::Literal))
            };
            let found = case.grounded.iter().filter(lets).count();
            let wrong = case.refused.iter().filter(lets).count();
            figures.add(Figures {
                wrong,
                refusable: case.refused_count,
                found,
                wanted: case.grounded.len(),
                whole: usize::from(wrong == 0 && found == case.grounded.len()),
                cases: 1,
            });
        }
        figures
    }

    /// The stretches of text in which an amount and a name count as together.
    fn pieces(self, case: &Case) -> Vec<Piece> {
        let input = input_of(case);
        let names = Names::new(&input, None);
        let mut pieces = Vec::new();
        for message in &input.messages {
            let folded = message.text.to_lowercase();
            match self {
                Self::OneClause => clauses(&input.locale, &names, message, case, &mut pieces),
                Self::Literal => pieces.push(Piece {
                    text: folded,
                    amounts: Vec::new(),
                }),
                Self::Parsed | Self::OneMessage => pieces.push(Piece {
                    amounts: ground::tokens_of(&input, &names, message)
                        .iter()
                        .filter_map(|token| amount(token, case.currency))
                        .collect(),
                    text: folded,
                }),
            }
        }
        if matches!(self, Self::Literal | Self::Parsed) {
            let whole = pieces
                .into_iter()
                .fold(Piece::default(), |mut whole, piece| {
                    whole.text.push('\n');
                    whole.text.push_str(&piece.text);
                    whole.amounts.extend(piece.amounts);
                    whole
                });
            return vec![whole];
        }
        pieces
    }
}

#[derive(Debug, Default)]
struct Piece {
    /// In lower case.
    text: String,
    amounts: Vec<(MinorUnits, Currency)>,
}

impl Piece {
    fn holds(&self, pair: &(MinorUnits, String, Currency), literally: bool) -> bool {
        let (amount, name, currency) = pair;
        let has_amount = if literally {
            let money = Money {
                amount: *amount,
                currency: *currency,
            };
            let digits = money.to_wire();
            self.text
                .contains(digits.strip_suffix(".00").unwrap_or(&digits))
        } else {
            self.amounts.contains(&(*amount, *currency))
        };
        has_amount && self.text.contains(&name.to_lowercase())
    }
}

fn clauses(
    locale: &Locale,
    names: &Names,
    message: &Message,
    case: &Case,
    pieces: &mut Vec<Piece>,
) {
    let mut input = input_of(case);
    input.locale = locale.clone();
    let tokens = ground::tokens_of(&input, names, message);
    let folded = crate::fold::Folded::new(&message.text);
    for sentence in sentences::split(&tokens) {
        let part = &tokens[sentence.tokens];
        for range in sentences::clauses(part) {
            let clause = &part[range];
            if clause
                .iter()
                .any(|token| token.kind == Kind::Word && token.has(Tags::NEG.union(Tags::NO)))
            {
                continue;
            }
            pieces.push(Piece {
                text: folded.text[clause[0].start..clause[clause.len() - 1].end].to_lowercase(),
                amounts: clause
                    .iter()
                    .filter_map(|token| amount(token, case.currency))
                    .collect(),
            });
        }
    }
}

/// A number's value, in the currency that stands with it or the account's.
fn amount(token: &Token, account: Currency) -> Option<(MinorUnits, Currency)> {
    use crate::currencies::CurrencyName;
    let Kind::Amount(amount) = token.kind else {
        return None;
    };
    let currency = match amount.currency {
        Some(CurrencyName::Known(currency)) => currency,
        Some(CurrencyName::Account) | None => account,
        Some(CurrencyName::Foreign) => return None,
    };
    Some((amount.value?.minor_units(currency)?, currency))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_check_lets_through_less_than_the_one_before() {
        let table = "id\tturns\tgrounded_pairs\trefused_pairs\tkind\tsource\n\
            a\t[\"Send twenty to Bob\"]\t[[\"20\", \"Bob\"]]\t[]\t\t\n\
            b\t[\"Send 200 to Bob\"]\t[[\"200\", \"Bob\"]]\t[[\"20\", \"Bob\"]]\t\t\n\
            c\t[\"Send 30 to Alice\", \"Bob says hello\"]\t[[\"30\", \"Alice\"]]\t[[\"30\", \"Bob\"]]\t\t\n\
            d\t[\"Don't send 40 to Bob\"]\t[]\t[[\"40\", \"Bob\"]]\t\t\n";
        let score = Score::of_table(table).unwrap();
        let figures = Baseline::ALL.map(|baseline| {
            let figures = baseline.measure(&score);
            (figures.wrong, figures.found, figures.whole)
        });
        assert_eq!(figures, [(3, 2, 0), (2, 3, 2), (1, 3, 3), (0, 3, 4)]);
    }
}
