//! Lines about the bank's rows: true or false at one moment.

use std::sync::LazyLock;

use regex::Regex;

use super::{
    Played,
    money_words::{Payment, same, several},
    things,
    words::pattern,
};
use countersign_domain::ActionKind;

use crate::{
    cast::{action_kinds, money},
    evidence::{Action, Move, Snapshot},
    recording::Moment,
};

/// Whether the line is true at a moment; nothing where the line is about something else.
pub type Condition<'a> = Option<Result<Box<dyn Fn(&Moment) -> bool + 'a>, String>>;

static COUNTED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?P<how>more than |at most |no more than |fewer than |less than |at least |exactly )?(?P<number>no|one|two|three|four|five|six|seven|eight|nine|ten|\d+) (?P<rest>.+)$",
    )
});
/// What a request is about, behind its noun.
static ABOUT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?: of (?:any kind|(?:the )?kind (?P<kind>\w+)))?(?: (?:on|of|for) (?:the )?card (?P<card>\d{4}))?(?: (?:on|of|for) (?:the )?(?:standing )?order (?P<order>\w+))?(?: (?:on|about|of|for) (?:the )?transaction (?P<transaction>.+?))?(?: (?:for|of|by) (?P<person>\w+))?(?: in session (?P<session>\d+))?$",
    )
});

/// Reads a line.
pub fn condition<'a>(line: &str, played: &Played<'a>) -> Condition<'a> {
    about_one_row(line, played)
        .or_else(|| entries(line, played))
        .or_else(|| counted(line, played))
        .or_else(|| amounts(line, played))
        .or_else(|| things::condition(line, played))
}

pub fn on_rows<'a>(test: impl Fn(&Snapshot) -> bool + 'a) -> Condition<'a> {
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
        if rest.trim().starts_with("of kind ") || rest.trim().starts_with("of any kind") {
            let about = about(&format!(" {}", rest.trim()), played)?;
            return Some(Box::new(move |action| {
                action.is_executed() && about(action)
            }));
        }
        let rest = rest.trim();
        let payments = several(rest.strip_prefix("of ").unwrap_or(rest), played)?;
        return Some(Box::new(move |action| {
            action.is_executed() && payments.iter().all(|payment| payment.is_in(action))
        }));
    }
    for (start, executed) in [("pending", false), ("held", false), ("executed", true)] {
        let Some(rest) = text.strip_prefix(start) else {
            continue;
        };
        let held = start == "held";
        let about = about(&of_kind(rest), played)?;
        return Some(Box::new(move |action| {
            let state = if executed {
                action.is_executed()
            } else if held {
                action.state == "held"
            } else {
                action.is_open()
            };
            state && about(action)
        }));
    }
    for start in ["actions", "action", "requests", "request"] {
        if let Some(rest) = text.strip_prefix(start) {
            let about = about(rest, played)?;
            return Some(Box::new(move |action| action.is_open() && about(action)));
        }
    }
    None
}

/// ` card freeze on card 4821` as ` of kind card_freeze on card 4821`; ` action of kind …` as ` of kind …`.
fn of_kind(rest: &str) -> String {
    let rest = rest.trim();
    for start in [
        "actions",
        "action",
        "requests",
        "request",
        "complete action",
        "complete request",
    ] {
        if let Some(rest) = rest.strip_prefix(start)
            && (rest.is_empty() || rest.starts_with(' '))
        {
            return rest.to_owned();
        }
    }
    let same = [
        ("freeze", "card_freeze"),
        ("unfreeze", "card_unfreeze"),
        ("new payee", "payee"),
        ("address change", "profile_change"),
        ("standing order create", "standing_order_create"),
    ];
    let mut kinds: Vec<(String, &str)> = same
        .iter()
        .map(|(said, kind)| ((*said).to_owned(), *kind))
        .collect();
    for kind in ActionKind::ALL {
        kinds.push((kind.text().to_owned(), kind.text()));
        kinds.push((kind.text().replace('_', " "), kind.text()));
    }
    kinds.push(("standing order".to_owned(), "standing_order"));
    kinds.push(("standing_order".to_owned(), "standing_order"));
    kinds.sort_by_key(|(said, _)| std::cmp::Reverse(said.len()));
    for (said, kind) in kinds {
        if let Some(after) = rest.strip_prefix(said.as_str())
            && (after.is_empty() || after.starts_with(' ') || after.starts_with('s'))
        {
            let after = after.trim_start_matches('s');
            let after = after
                .strip_prefix(" requests")
                .or_else(|| after.strip_prefix(" request"))
                .or_else(|| after.strip_prefix(" actions"))
                .or_else(|| after.strip_prefix(" action"))
                .unwrap_or(after);
            return format!(" of kind {kind}{after}");
        }
    }
    if rest.is_empty() {
        String::new()
    } else {
        format!(" {rest}")
    }
}

fn about<'a>(rest: &str, played: &Played<'a>) -> Option<IsMeant<'a>> {
    let found = ABOUT.captures(rest)?;
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
    let text = |name: &str| found.name(name).map(|part| part.as_str().to_owned());
    let (card, order, transaction) = (text("card"), text("order"), text("transaction"));
    let person = match found.name("person") {
        None => None,
        Some(name) => Some(played.recording.ids.customer(name.as_str())?.uuid()),
    };
    let conversation = match found.name("session") {
        None => None,
        Some(number) => Some(
            played
                .recording
                .conversation(number.as_str().parse().ok()?)?,
        ),
    };
    Some(Box::new(move |action: &Action| {
        kinds
            .as_ref()
            .is_none_or(|kinds| kinds.contains(&action.kind.as_str()))
            && card
                .as_ref()
                .is_none_or(|card| action.card.as_ref() == Some(card))
            && order
                .as_ref()
                .is_none_or(|order| action.order.as_ref().is_some_and(|name| same(name, order)))
            && transaction.as_ref().is_none_or(|wanted| {
                let wanted = wanted.to_lowercase().replace('_', " ");
                action
                    .transaction
                    .as_ref()
                    .is_some_and(|name| name.to_lowercase().contains(&wanted))
            })
            && person.is_none_or(|person| action.customer == person)
            && conversation.is_none_or(|id| action.conversation == id)
    }))
}

fn about_one_row<'a>(line: &str, played: &Played<'a>) -> Condition<'a> {
    if line == "action both cancelled and confirmed"
        || line == "action both confirmed and cancelled"
    {
        return on_rows(|rows| !rows.contradictions().is_empty());
    }
    let to_nobody_saved = [
        "pending transfer to an account that is only known as a merchant",
        "pending transfer to an account that is only known as a sender",
        "pending transfer to a payee that is not saved",
        "pending transfer to an unsaved payee",
        "pending transfer to an unknown payee",
        "pending transfer to anyone not saved",
    ];
    if to_nobody_saved.contains(&line) {
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
    for start in ["open slot for ", "open slot "] {
        if let Some(slot) = line.strip_prefix(start) {
            return open_slot(slot.trim().trim_start_matches("the "));
        }
    }
    // A plain noun means: at least one.
    let test = noun(line, played)?;
    on_rows(move |rows| rows.actions.iter().any(&test))
}

pub fn saved_payees(played: &Played<'_>) -> Vec<String> {
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

/// Whether a movement of money is one of those meant.
type IsMoved<'a> = Box<dyn Fn(&Move) -> bool + 'a>;

/// Movements of money that a line means.
fn movement<'a>(text: &str, played: &Played<'a>) -> Option<IsMoved<'a>> {
    static OWNER: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^(?:debiting|leaving|from|on|out of) (?:(?:an|any|the) )?(?:(?P<account>current|savings|travel|reserve) )?(?:accounts?)?(?: ?(?:of )?(?P<person>\w+)(?:'s)?)?(?: (?P<after>account)s?)?(?P<rest> .*)?$",
        )
    });
    static OVER: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^(?:of )?(?:above|over|more than|larger than|exceeding|greater than) (?P<money>[\d.,]+ [A-Z]{3})(?P<rest> .*)?$",
        )
    });
    let text = text.trim();
    if text.is_empty() {
        return Some(Box::new(|_| true));
    }
    if let Some(allowed) = text
        .strip_prefix("other than ")
        .or_else(|| text.strip_prefix("except "))
        .or_else(|| text.strip_prefix("besides "))
    {
        let allowed = several(allowed.strip_prefix("the ").unwrap_or(allowed), played)?;
        return Some(Box::new(move |row| {
            !allowed.iter().any(|payment| payment.is_move(row))
        }));
    }
    if let Some(found) = OVER.captures(text) {
        let limit = money(&found["money"].replace(',', "")).ok()?;
        let rest = movement(found.name("rest").map_or("", |rest| rest.as_str()), played)?;
        return Some(Box::new(move |row| {
            row.currency == limit.currency.code() && row.amount > limit.amount.count() && rest(row)
        }));
    }
    if let Some(found) = OWNER.captures(text) {
        let account = found.name("account").map(|name| name.as_str().to_owned());
        let mut rest = found
            .name("rest")
            .map_or("", |rest| rest.as_str())
            .to_owned();
        let person = match found.name("person") {
            Some(name) => match played.recording.ids.customer(name.as_str()) {
                Some(person) => Some(person.uuid()),
                None => {
                    rest = format!("{} {rest}", name.as_str());
                    None
                }
            },
            None => None,
        };
        if account.is_some() || person.is_some() || text.contains("account") {
            let rest = movement(&rest, played)?;
            return Some(Box::new(move |row| {
                account
                    .as_ref()
                    .is_none_or(|account| row.account.as_ref() == Some(account))
                    && person.is_none_or(|person| row.customer == person)
                    && rest(row)
            }));
        }
    }
    // `of 20.00 EUR to Bob other than …`
    for joint in [" other than ", " except "] {
        if let Some(at) = text.find(joint) {
            let (first, second) = (
                movement(&text[..at], played)?,
                movement(&text[at..], played)?,
            );
            return Some(Box::new(move |row| first(row) && second(row)));
        }
    }
    let payment = Payment::read(text.strip_prefix("of ").unwrap_or(text), played)?;
    Some(Box::new(move |row| payment.is_move(row)))
}

fn entries<'a>(line: &str, played: &Played<'a>) -> Condition<'a> {
    static COUNT: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^(?P<how>more than |exactly |at most )?(?P<number>one|two|three|\d+) (?:entry|entries|debits?)(?P<rest> .*)?$",
        )
    });
    if let Some(found) = COUNT.captures(line) {
        let number = number(&found["number"])?;
        let how = found
            .name("how")
            .map_or("", |how| how.as_str())
            .trim()
            .to_owned();
        let test = movement(found.name("rest").map_or("", |rest| rest.as_str()), played)?;
        return on_rows(move |rows| {
            let count = rows
                .moves
                .iter()
                .filter(|row| leaves(row) && test(row))
                .count();
            match how.as_str() {
                "more than" => count > number,
                "at most" => count <= number,
                _ => count == number,
            }
        });
    }
    let rest = line
        .strip_prefix("any entry")
        .or_else(|| line.strip_prefix("no entry"))?
        .trim();
    let wanted = !line.starts_with("no ");
    let test = movement(rest, played)?;
    on_rows(move |rows| wanted == rows.moves.iter().any(|row| leaves(row) && test(row)))
}

fn number(word: &str) -> Option<usize> {
    const WORDS: [&str; 11] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    ];
    WORDS
        .iter()
        .position(|known| *known == word)
        .or_else(|| word.parse().ok())
}

fn counted<'a>(line: &str, played: &Played<'a>) -> Condition<'a> {
    let found = COUNTED.captures(line)?;
    let test = noun(found["rest"].trim(), played)?;
    let number = number(&found["number"])?;
    let how = found
        .name("how")
        .map_or("", |how| how.as_str())
        .trim()
        .to_owned();
    on_rows(move |rows| {
        let count = rows.actions.iter().filter(|action| test(action)).count();
        match how.as_str() {
            "more than" => count > number,
            "at most" | "no more than" => count <= number,
            "fewer than" | "less than" => count < number,
            "at least" => count >= number,
            _ => count == number,
        }
    })
}

/// Sums and balances.
fn amounts<'a>(line: &str, played: &Played<'a>) -> Condition<'a> {
    static LINE: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^(?P<what>sum of debits|balance|pending total|more than)(?: (?:of|for) (?P<whose>\w+?)(?:'s)?(?: (?:current )?(?:account|balance))?)?(?: is)?(?: (?P<how>above|over|below|under|exactly|unchanged))?(?: (?P<money>[\d.,]+ [A-Z]{3}))?(?: (?:leaves|leave|left|leaving|is debited|debited)(?: (?:from )?(?:an account|the account|the current account)?)?)?(?: ?(?:for|of|from) )?(?: ?(?P<person>\w+))?(?: (?:in total|in all|per day|in a day))?$",
        )
    });
    let found = LINE.captures(line)?;
    let person = match found.name("whose").or_else(|| found.name("person")) {
        Some(name) => Some(played.recording.ids.customer(name.as_str())?.uuid()),
        None => None,
    };
    let how = found.name("how").map_or("", |how| how.as_str()).to_owned();
    if &found["what"] == "balance" && how == "unchanged" {
        let before = played.recording.beginning()?.balances.clone();
        return on_rows(move |rows| {
            let whose =
                |row: &&crate::evidence::Balance| person.is_none_or(|id| row.customer == id);
            rows.balances
                .iter()
                .filter(whose)
                .all(|row| before.contains(row))
        });
    }
    let limit = money(&found.name("money")?.as_str().replace(',', "")).ok()?;
    let is_whose = move |customer| person.is_none_or(|person| person == customer);
    let currency = limit.currency.code();
    let compares = move |amount: i64| {
        let limit = limit.amount.count();
        match how.as_str() {
            "below" | "under" => amount < limit,
            "exactly" => amount == limit,
            _ => amount > limit,
        }
    };
    match &found["what"] {
        "balance" => {
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
                        && compares(row.amount)
                })
            })
        }
        "pending total" => on_rows(move |rows| {
            let open = rows.actions.iter().filter(|action| {
                action.is_open()
                    && is_whose(action.customer)
                    && action.currency.as_deref() == Some(currency)
            });
            compares(
                open.flat_map(|action| &action.lines)
                    .filter_map(|line| line.amount)
                    .sum::<i64>(),
            )
        }),
        _ => on_rows(move |rows| {
            let out = rows
                .moves
                .iter()
                .filter(|row| leaves(row) && row.currency == currency && is_whose(row.customer));
            compares(out.map(|row| row.amount).sum::<i64>())
        }),
    }
}

/// A text without the quotation marks around it.
pub fn unquoted(text: &str) -> &str {
    let text = text.trim();
    ['"', '\'']
        .into_iter()
        .find_map(|mark| text.strip_prefix(mark)?.strip_suffix(mark))
        .unwrap_or(text)
}
