//! Standing orders.

use serde_json::{Value, json};

use crate::offline::{
    ask::{Order, Sum},
    reading::{id, money, shown_money, text},
    text::{best_fits, shown_name},
    turn::{Part, Turn},
    words::{Kind, joined},
};

use super::{
    payments::{Found, find, own_account},
    request_or_leave_open,
};

const DROPPABLE: [(&str, &str); 7] = [
    ("amount", "amount"),
    ("payee", "payee"),
    ("order", "order"),
    ("frequency", "frequency"),
    ("start_date", "start_date"),
    ("from_account", "from_account"),
    ("currency", "currency"),
];

/// Prepares setting up, changing or ending a standing order.
pub(super) fn request(turn: &Turn<'_>, order: &Order) -> Part {
    let mut arguments = json!({ "operation": order.operation });
    let mut notes = Vec::new();
    if order.operation == "create" {
        if let Some(name) = &order.name {
            match find(turn, name)? {
                Found::One(payee) => arguments["payee"] = json!(payee),
                Found::Several(names) => notes.push(format!(
                    "More than one payee fits “{}”: {}. Choose on the right.",
                    shown_name(name),
                    joined(&names)
                )),
                Found::None(_) => {
                    return Ok(format!(
                        "I don't find “{}” among your payees, so nothing was prepared. To save somebody new, type: Add a new payee",
                        shown_name(name)
                    ));
                }
            }
        }
    } else {
        match existing(turn, order)? {
            Ok(Some(id)) => arguments["order"] = json!(id),
            Ok(None) => {}
            Err(said) => return Ok(said),
        }
    }
    if order.operation != "cancel" {
        if let Some(Sum {
            value: Some(value),
            currency,
        }) = &order.sum
        {
            arguments["amount"] = json!(value);
            if let Some(currency) = currency {
                arguments["currency"] = json!(currency);
            }
        }
        if let Some(frequency) = order.frequency {
            arguments["frequency"] = json!(frequency);
        }
        if let Some(start) = &order.start {
            arguments["start_date"] = json!(start);
        }
        if let Some(from) = &order.from
            && let Some(account) = own_account(turn, from)?
        {
            arguments["from_account"] = json!(account);
        }
    }
    let said = request_or_leave_open(
        turn,
        "request_standing_order",
        arguments,
        &DROPPABLE,
        Kind::ORDER,
    )?;
    notes.insert(0, said);
    Ok(notes.join(" "))
}

/// The existing order that is meant: its id, nothing when it stays open, or what to say instead.
fn existing(
    turn: &Turn<'_>,
    order: &Order,
) -> Result<Result<Option<String>, String>, crate::offline::turn::Stop> {
    let orders = turn.list("list_standing_orders")?;
    if orders.is_empty() {
        return Ok(Err("You have no standing orders.".to_owned()));
    }
    let Some(name) = &order.name else {
        return Ok(Ok(None));
    };
    let fits = best_fits(name, orders, names);
    Ok(match fits[..] {
        [one] => Ok(id(one, "ord").map(str::to_owned)),
        [] => Err(format!(
            "I don't find a standing order “{}”. You have:\n{}",
            shown_name(name),
            lines(orders).join("\n")
        )),
        _ => Ok(None),
    })
}

/// Lists the standing orders.
pub(super) fn show(turn: &Turn<'_>) -> Part {
    let lines = lines(turn.list("list_standing_orders")?);
    if lines.is_empty() {
        return Ok("You have no standing orders.".to_owned());
    }
    Ok(format!("Your standing orders:\n{}", lines.join("\n")))
}

fn names(order: &Value) -> Vec<String> {
    ["name", "label", "payee_name", "payee", "reference"]
        .into_iter()
        .filter_map(|member| text(order, &[member]))
        .map(str::to_owned)
        .collect()
}

fn lines(orders: &[Value]) -> Vec<String> {
    orders
        .iter()
        .filter_map(|order| {
            let money = shown_money(&money(order, &["amount", "money"])?);
            let label = text(order, &["name", "label"])
                .map_or_else(String::new, |name| format!("{}: ", shown_name(name)));
            let payee = text(order, &["payee_name", "payee"])
                .filter(|payee| !payee.starts_with("pye_"))
                .map_or_else(String::new, |payee| format!(" to {}", shown_name(payee)));
            let rhythm = text(order, &["frequency"])
                .map_or_else(String::new, |rhythm| format!(", {rhythm}"));
            Some(format!("• {label}{money}{payee}{rhythm}"))
        })
        .collect()
}
