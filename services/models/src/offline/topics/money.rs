//! Balances, limits and spending.

use serde_json::{Value, json};

use crate::offline::{
    ask::{Named, Spending},
    reading::{id, items, items_at, money, shown_money, text},
    text::{best_fits, shown_name, words_of},
    turn::{Part, Stop, Turn},
};

/// Says balances: of the named account, of a currency, or of all.
pub(super) fn balance(turn: &Turn<'_>, named: &Named) -> Part {
    let accounts = turn.list("list_accounts")?;
    let mut wanted: Vec<&Value> = accounts.iter().collect();
    if let Some(name) = &named.name {
        let fits = best_fits(name, accounts, |account| {
            ["label", "name", "kind"]
                .into_iter()
                .filter_map(|member| text(account, &[member]))
                .map(str::to_owned)
                .collect()
        });
        if !fits.is_empty() {
            wanted = fits;
        }
    }
    if let Some(currency) = named.currency {
        wanted.retain(|account| account_currency(account) == Some(currency));
        if wanted.is_empty() {
            return Ok(format!("You have no account in {currency}."));
        }
    }
    let mut lines = Vec::new();
    let mut need = None;
    for account in wanted {
        match account_balance(turn, account) {
            Ok(Some(money)) => lines.push(format!("• {}: {}", label(account), shown_money(&money))),
            Ok(None) => {}
            Err(stop) => need = need.or(Some(stop)),
        }
    }
    match need {
        Some(stop) => Err(stop),
        None if lines.is_empty() => Ok("I can't see a balance right now.".to_owned()),
        None => Ok(format!("You have:\n{}", lines.join("\n"))),
    }
}

fn label(account: &Value) -> String {
    text(account, &["label", "name", "kind"]).map_or_else(|| "Account".to_owned(), shown_name)
}

fn account_currency(account: &Value) -> Option<&str> {
    account["currency"]
        .as_str()
        .or_else(|| account["balance"]["currency"].as_str())
}

/// From the list if it says so, else from the account itself.
fn account_balance(turn: &Turn<'_>, account: &Value) -> Result<Option<(String, String)>, Stop> {
    if let Some(money) = money(account, &["balance", "available", "available_balance"]) {
        return Ok(Some(money));
    }
    let Some(id) = id(account, "acc") else {
        return Ok(None);
    };
    let answer = turn.read("get_balance", json!({ "account": id }))?;
    Ok(money(
        answer,
        &["balance", "available", "available_balance", "amount"],
    ))
}

/// Says limits, and what is left of them today.
pub(super) fn limits(turn: &Turn<'_>) -> Part {
    let answer = turn.read("get_limits", json!({}))?;
    let mut lines = Vec::new();
    if answer.is_object() && items(answer).is_empty() {
        limit_lines(answer, &mut lines);
    }
    for limits in items(answer) {
        limit_lines(limits, &mut lines);
    }
    if lines.is_empty() {
        return Ok(
            "I can't see your limits right now. They stand under Limits on the page.".to_owned(),
        );
    }
    Ok(format!("Your limits:\n{}", lines.join("\n")))
}

/// One line a currency.
fn limit_lines(limits: &Value, lines: &mut Vec<String>) {
    let parts: Vec<String> = [
        (&["per_transfer"][..], "for one transfer"),
        (&["per_day", "daily"], "a day"),
        (&["left_today"], "left today"),
        (&["pending_total"], "in open requests at one time"),
        (&["first_payment"], "for a first payment to a new payee"),
    ]
    .into_iter()
    .filter_map(|(names, words)| Some(format!("{} {words}", shown_money(&money(limits, names)?))))
    .collect();
    if !parts.is_empty() {
        lines.push(format!("• {}", parts.join(", ")));
    }
}

/// Says what was spent, in all or in one category.
pub(super) fn spending(turn: &Turn<'_>, spending: &Spending) -> Part {
    let arguments = match &spending.month {
        Some(month) => json!({ "month": month }),
        None => json!({}),
    };
    let answer = turn.read("get_spending_by_category", arguments)?;
    let categories = match items_at(answer, "categories") {
        [] => items(answer),
        categories => categories,
    };
    let month = answer["month"].as_str().or(spending.month.as_deref());
    let when = month.map_or_else(String::new, |month| format!(" in {month}"));
    let lines: Vec<(String, String)> = categories.iter().filter_map(category_line).collect();
    let Some(asked) = &spending.category else {
        if lines.is_empty() {
            return Ok(format!("I see no spending{when}."));
        }
        let list: Vec<String> = lines
            .iter()
            .map(|(name, money)| format!("• {}: {money}", shown_name(name)))
            .collect();
        return Ok(format!("You spent{when}:\n{}", list.join("\n")));
    };
    let fits: Vec<&(String, String)> = lines
        .iter()
        .filter(|(name, _)| same_category(asked, name))
        .collect();
    if fits.is_empty() {
        let known: Vec<String> = lines.iter().map(|(name, _)| shown_name(name)).collect();
        let known = if known.is_empty() {
            String::new()
        } else {
            format!(" There is: {}.", known.join(", "))
        };
        return Ok(format!(
            "I see no spending on {}{when}.{known}",
            shown_name(asked)
        ));
    }
    let sums: Vec<&str> = fits.iter().map(|(_, money)| money.as_str()).collect();
    Ok(format!(
        "You spent {} on {}{when}.",
        sums.join(" and "),
        shown_name(&fits[0].0)
    ))
}

fn category_line(category: &Value) -> Option<(String, String)> {
    let name = text(category, &["category", "name", "label"])?;
    let money = money(category, &["spent", "total", "amount", "sum"])?;
    Some((name.to_owned(), shown_money(&money)))
}

/// "groceries" and "grocery", "eating out" and "eating_out".
fn same_category(asked: &str, known: &str) -> bool {
    let stem = |name: &str| -> Vec<String> {
        words_of(name)
            .iter()
            .map(|word| match word.strip_suffix("ies") {
                Some(stem) => format!("{stem}y"),
                None => word.strip_suffix('s').unwrap_or(word).to_owned(),
            })
            .collect()
    };
    let (asked, known) = (stem(asked), stem(known));
    asked == known
        || asked
            .iter()
            .any(|word| word.len() > 3 && known.contains(word))
}
