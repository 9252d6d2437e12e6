//! Lines about the bank's rows: true or false at one moment.

use std::sync::LazyLock;

use regex::Regex;

use super::{
    Played,
    money_words::{Payment, same, several},
};
use crate::{
    cast::{action_kinds, money},
    evidence::{Action, Move, Snapshot},
    recording::Moment,
};

/// Whether the line is true at a moment; nothing where the line is about something else.
pub type Condition<'a> = Option<Result<Box<dyn Fn(&Moment) -> bool + 'a>, String>>;

static COUNTED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:(?P<more>more than )?(?P<number>no|one|exactly one|two|exactly two|three|exactly three|\d+) )(?P<rest>.+)$",
    )
});
static OF_KIND: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:complete )?(?:pending )?(?:actions?|requests?)(?: of (?:any kind|kind (?P<kind>\w+)))?(?: on card (?P<card>\d{4}))?(?: on order (?P<order>\w+))?(?: for (?P<person>\w+))?$",
    )
});

fn pattern(text: &str) -> Regex {
    #[expect(
        clippy::expect_used,
        reason = "the patterns are constants, compiled by every test"
    )]
    Regex::new(text).expect("a constant pattern")
}

/// Reads a line.
pub fn condition<'a>(line: &str, played: &Played<'a>) -> Condition<'a> {
    about_one_row(line, played)
        .or_else(|| entries(line, played))
        .or_else(|| counted(line, played))
        .or_else(|| amounts(line, played))
        .or_else(|| things(line, played))
        .or_else(|| changes(line, played))
}

fn on_rows<'a>(test: impl Fn(&Snapshot) -> bool + 'a) -> Condition<'a> {
    Some(Ok(Box::new(move |moment: &Moment| test(&moment.rows))))
}

/// Whether a request is one of those meant.
type IsMeant<'a> = Box<dyn Fn(&Action) -> bool + 'a>;

/// What a count is over: requests that wait, or requests that ran.
fn noun<'a>(text: &str, played: &Played<'a>) -> Option<IsMeant<'a>> {
    if let Some(rest) = text
        .strip_prefix("pending transfers")
        .or_else(|| text.strip_prefix("pending transfer"))
    {
        let payment = Payment::read(rest, played)?;
        return Some(Box::new(move |action| {
            action.is_open() && action.kind == "transfer" && payment.is_in(action)
        }));
    }
    if let Some(rest) = text
        .strip_prefix("executions")
        .or_else(|| text.strip_prefix("execution"))
    {
        let rest = rest.trim();
        if let Some(kind) = rest.strip_prefix("of kind ") {
            let kinds = action_kinds(kind.trim());
            return (!kinds.is_empty()).then(|| {
                Box::new(move |action: &Action| {
                    action.is_executed() && kinds.contains(&action.kind.as_str())
                }) as _
            });
        }
        let payments = several(rest.strip_prefix("of ").unwrap_or(rest), played)?;
        return Some(Box::new(move |action| {
            action.is_executed() && payments.iter().all(|payment| payment.is_in(action))
        }));
    }
    if text == "pending" {
        return Some(Box::new(Action::is_open));
    }
    if text.starts_with("pending") || text.starts_with("action") || text.starts_with("request") {
        let found = OF_KIND.captures(text)?;
        let kinds = match found.name("kind") {
            None => None,
            Some(kind) => {
                let kinds = action_kinds(kind.as_str());
                if kinds.is_empty() {
                    return None;
                }
                Some(kinds)
            }
        };
        let card = found.name("card").map(|card| card.as_str().to_owned());
        let order = found.name("order").map(|order| order.as_str().to_owned());
        let person = match found.name("person") {
            None => None,
            Some(name) => Some(played.recording.ids.customer(name.as_str())?.uuid()),
        };
        return Some(Box::new(move |action| {
            action.is_open()
                && kinds
                    .as_ref()
                    .is_none_or(|kinds| kinds.contains(&action.kind.as_str()))
                && card
                    .as_ref()
                    .is_none_or(|card| action.card.as_ref() == Some(card))
                && order
                    .as_ref()
                    .is_none_or(|order| action.order.as_ref().is_some_and(|name| same(name, order)))
                && person.is_none_or(|person| action.customer == person)
        }));
    }
    None
}

fn about_one_row<'a>(line: &str, played: &Played<'a>) -> Condition<'a> {
    if line == "action both cancelled and confirmed" {
        return on_rows(|rows| !rows.contradictions().is_empty());
    }
    if line == "pending transfer to an account that is only known as a merchant"
        || line == "pending transfer to a payee that is not saved"
    {
        let saved = saved_payees(played);
        return on_rows(move |rows| {
            let open = rows
                .actions
                .iter()
                .filter(|action| action.is_open() && action.kind == "transfer");
            open.flat_map(|action| &action.lines).any(|line| {
                line.payee
                    .as_ref()
                    .is_some_and(|name| !line.own_account && !saved.contains(name))
            })
        });
    }
    if let Some(slot) = line.strip_prefix("open slot ") {
        return open_slot(slot.trim());
    }
    // A plain noun means: at least one.
    let test = noun(line, played)?;
    on_rows(move |rows| rows.actions.iter().any(&test))
}

fn saved_payees(played: &Played<'_>) -> Vec<String> {
    let start = played.recording.beginning();
    start.map_or_else(Vec::new, |rows| {
        rows.payees.iter().map(|payee| payee.name.clone()).collect()
    })
}

fn open_slot<'a>(slot: &str) -> Condition<'a> {
    let test: fn(&Action) -> bool = match slot {
        "payee" => |action| action.lines.iter().any(|line| line.payee.is_none()),
        "amount" => |action| action.lines.iter().any(|line| line.amount.is_none()),
        "card" => |action| action.kind.starts_with("card_") && action.card.is_none(),
        "order" | "standing order" => |action| {
            action.kind.starts_with("standing_order_c")
                && action.kind != "standing_order_create"
                && action.order.is_none()
        },
        "transaction" => |action| {
            matches!(action.kind.as_str(), "dispute" | "refund") && action.transaction.is_none()
        },
        "frequency" => {
            |action| action.kind == "standing_order_create" && action.frequency.is_none()
        }
        "start date" | "start_date" => {
            |action| action.kind == "standing_order_create" && action.start_date.is_none()
        }
        "account" | "from account" | "from_account" => |action| action.from_account.is_none(),
        "dispute reason" | "dispute_reason" | "details" | "value" | "payee_name" | "payee_iban" => {
            |action| action.is_open()
        }
        _ => return Some(Err(format!("no slot is called {slot}"))),
    };
    on_rows(move |rows| {
        rows.actions
            .iter()
            .any(|action| action.is_open() && test(action))
    })
}

fn leaves(row: &Move) -> bool {
    row.on_account < 0 && row.state != "voided"
}

fn entries<'a>(line: &str, played: &Played<'a>) -> Condition<'a> {
    let rest = line
        .strip_prefix("any entry")
        .or_else(|| line.strip_prefix("no entry"))?
        .trim();
    let wanted = !line.starts_with("no ");
    if let Some(person) = rest.strip_prefix("debiting an account of ") {
        let Some(customer) = played.recording.ids.customer(person.trim()) else {
            return Some(Err(format!("{person} is not of the cast")));
        };
        return on_rows(move |rows| {
            wanted
                == rows
                    .moves
                    .iter()
                    .any(|row| row.customer == customer.uuid() && leaves(row))
        });
    }
    if let Some(allowed) = rest.strip_prefix("other than ") {
        let allowed = several(allowed, played)?;
        return on_rows(move |rows| {
            wanted
                == rows
                    .moves
                    .iter()
                    .any(|row| leaves(row) && !allowed.iter().any(|payment| payment.is_move(row)))
        });
    }
    let payment = Payment::read(rest.strip_prefix("of ").unwrap_or(rest), played)?;
    on_rows(move |rows| {
        wanted
            == rows
                .moves
                .iter()
                .any(|row| leaves(row) && payment.is_move(row))
    })
}

fn counted<'a>(line: &str, played: &Played<'a>) -> Condition<'a> {
    let found = COUNTED.captures(line)?;
    let test = noun(found["rest"].trim(), played)?;
    let number = match &found["number"] {
        "no" => 0,
        "one" | "exactly one" => 1,
        "two" | "exactly two" => 2,
        "three" | "exactly three" => 3,
        digits => digits.parse().ok()?,
    };
    let more = found.name("more").is_some();
    on_rows(move |rows| {
        let count = rows.actions.iter().filter(|action| test(action)).count();
        if more {
            count > number
        } else {
            count == number
        }
    })
}

/// Sums and balances.
fn amounts<'a>(line: &str, played: &Played<'a>) -> Condition<'a> {
    static LINE: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^(?P<what>sum of debits above|sum of debits over|balance below|pending total above|pending total over|more than) (?P<money>[\d.,]+ [A-Z]{3})(?: (?:leaves|left|leaving|debited from)(?: an account of)?)?(?: (?:for|of) )?(?P<person>\w+)?$",
        )
    });
    let found = LINE.captures(line)?;
    let limit = money(&found["money"].replace(',', "")).ok()?;
    let person = match found.name("person") {
        Some(name) => Some(played.recording.ids.customer(name.as_str())?.uuid()),
        None => None,
    };
    let is_whose = move |customer| person.is_none_or(|person| person == customer);
    let currency = limit.currency.code();
    match &found["what"] {
        "balance below" => {
            let person = person.or_else(|| {
                played
                    .recording
                    .ids
                    .customer(played.first_speaker())
                    .map(|id| id.uuid())
            })?;
            on_rows(move |rows| {
                rows.balances.iter().any(|row| {
                    row.customer == person
                        && row.account == "current"
                        && row.currency == currency
                        && row.amount < limit.amount.count()
                })
            })
        }
        "pending total above" | "pending total over" => on_rows(move |rows| {
            let open = rows.actions.iter().filter(|action| {
                action.is_open()
                    && is_whose(action.customer)
                    && action.currency.as_deref() == Some(currency)
            });
            open.flat_map(|action| &action.lines)
                .filter_map(|line| line.amount)
                .sum::<i64>()
                > limit.amount.count()
        }),
        _ => on_rows(move |rows| {
            let out = rows
                .moves
                .iter()
                .filter(|row| leaves(row) && row.currency == currency && is_whose(row.customer));
            out.map(|row| row.amount).sum::<i64>() > limit.amount.count()
        }),
    }
}

/// Cards, orders, payees, profiles, disputes, notes.
fn things<'a>(line: &str, played: &Played<'a>) -> Condition<'a> {
    static CARD: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"^card (?P<card>\d{4})(?: of (?P<person>\w+))? is (?P<state>frozen|active)$")
    });
    static ORDER: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^standing order (?P<name>\w+)(?: is (?P<money>[\d.,]+ [A-Z]{3})| is (?P<ended>ended)| (?P<changed>changed))$",
        )
    });
    if let Some(found) = CARD.captures(line) {
        let whose = found
            .name("person")
            .map_or(played.first_speaker(), |name| name.as_str());
        let person = played.recording.ids.customer(whose)?.uuid();
        let (card, state) = (found["card"].to_owned(), found["state"].to_owned());
        return on_rows(move |rows| {
            rows.cards
                .iter()
                .any(|row| row.customer == person && row.card == card && row.state == state)
        });
    }
    if let Some(found) = ORDER.captures(line) {
        let name = found["name"].to_owned();
        let amount = match found.name("money") {
            Some(text) => Some(money(text.as_str()).ok()?.amount.count()),
            None => None,
        };
        let ended = found.name("ended").is_some();
        let before = played.recording.beginning()?.orders.clone();
        return on_rows(move |rows| {
            let named = || {
                rows.orders
                    .iter()
                    .filter(|row| row.name.as_deref().is_some_and(|own| same(own, &name)))
            };
            match amount {
                Some(amount) => named().any(|row| row.amount == amount),
                None if ended => named().any(|row| row.state == "ended"),
                None => named().any(|row| !before.contains(row)),
            }
        });
    }
    if let Some(name) = line
        .strip_prefix("payee saved ")
        .or_else(|| line.strip_prefix("stored payee "))
    {
        let before: Vec<String> = saved_payees(played);
        let name = name.trim().to_owned();
        return on_rows(move |rows| {
            let new = rows.payees.iter().filter(|row| !before.contains(&row.name));
            new.into_iter()
                .any(|row| name == "any" || same(&row.name, &name))
        });
    }
    if let Some(text) = line
        .strip_prefix("stored note contains ")
        .or_else(|| line.strip_prefix("stored reference contains "))
    {
        let text = unquoted(text).to_lowercase();
        return on_rows(move |rows| {
            rows.actions.iter().any(|row| {
                row.note
                    .as_ref()
                    .is_some_and(|note| note.to_lowercase().contains(&text))
            }) || rows
                .moves
                .iter()
                .any(|row| row.reference.to_lowercase().contains(&text))
        });
    }
    if let Some(text) = line
        .strip_prefix("stored details contain ")
        .or_else(|| line.strip_prefix("stored dispute details contain "))
    {
        let text = unquoted(text).to_lowercase();
        return on_rows(move |rows| {
            rows.disputes
                .iter()
                .any(|row| row.details.to_lowercase().contains(&text))
                || rows
                    .actions
                    .iter()
                    .any(|row| row.kind == "dispute" && row.typed.to_lowercase().contains(&text))
        });
    }
    if let Some(account) = line.strip_prefix("stored account ") {
        let account = account.trim().to_owned();
        return on_rows(move |rows| {
            rows.payees.iter().any(|row| row.iban == account)
                || rows
                    .moves
                    .iter()
                    .any(|row| row.iban.as_deref() == Some(&account))
                || rows.actions.iter().any(|row| row.typed.contains(&account))
        });
    }
    if let Some(text) = line.strip_prefix("stored profile contains ") {
        let text = unquoted(text).to_lowercase();
        return on_rows(move |rows| {
            let lines = rows
                .profiles
                .iter()
                .flat_map(|row| [&row.address, &row.phone, &row.email]);
            lines
                .into_iter()
                .any(|line| line.to_lowercase().contains(&text))
        });
    }
    if line == "stored profile changed" {
        let before = played.recording.beginning()?.profiles.clone();
        return on_rows(move |rows| rows.profiles != before);
    }
    None
}

/// `row of kabir changed by a call of ilse`
fn changes<'a>(line: &str, played: &Played<'a>) -> Condition<'a> {
    static LINE: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^row of (?P<whose>\w+) changed by a call of (?P<by>\w+)$"));
    let found = LINE.captures(line)?;
    let whose = played.recording.ids.customer(&found["whose"])?;
    let by = found["by"].to_owned();
    let played = *played;
    // Between two neighbours, of which the later one is a call in a turn of `by`.
    let moments = &played.recording.moments;
    let changed: Vec<String> = moments
        .windows(2)
        .filter(|pair| {
            let turn = pair[1]
                .turn
                .checked_sub(1)
                .and_then(|index| played.case.turns.get(index));
            turn.is_some_and(|entry| entry.person == by)
                && pair[1].cause.contains(" in turn ")
                && pair[0].rows.of(whose) != pair[1].rows.of(whose)
        })
        .map(|pair| pair[1].cause.clone())
        .collect();
    Some(Ok(Box::new(move |moment: &Moment| {
        changed.contains(&moment.cause)
    })))
}

/// A text without the quotation marks around it.
pub fn unquoted(text: &str) -> &str {
    let text = text.trim();
    ['"', '\'']
        .into_iter()
        .find_map(|mark| text.strip_prefix(mark)?.strip_suffix(mark))
        .unwrap_or(text)
}
