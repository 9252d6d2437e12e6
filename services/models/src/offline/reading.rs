//! Finding one's way in what the tools answer, without trusting a word of it.

use serde_json::Value;

/// The items of an answer that is, or holds, one list.
pub(crate) fn items(answer: &Value) -> &[Value] {
    if let Some(items) = answer.as_array() {
        return items;
    }
    answer
        .as_object()
        .and_then(|members| members.values().find_map(Value::as_array))
        .map_or(&[], Vec::as_slice)
}

/// The items of a list under a name; none when it is not there.
pub(crate) fn items_at<'v>(answer: &'v Value, name: &str) -> &'v [Value] {
    answer[name].as_array().map_or(&[], Vec::as_slice)
}

/// The first id with this prefix among the members of an item. The item's own id comes before ids it points to.
pub(crate) fn id<'v>(item: &'v Value, prefix: &str) -> Option<&'v str> {
    let is_one = |value: &&str| {
        value
            .strip_prefix(prefix)
            .is_some_and(|rest| rest.starts_with('_'))
    };
    if let Some(own) = item["id"].as_str().filter(is_one) {
        return Some(own);
    }
    item.as_object()?
        .values()
        .filter_map(Value::as_str)
        .find(is_one)
}

/// A text member, whether the bank's own or an outsider's.
pub(crate) fn text<'v>(item: &'v Value, names: &[&str]) -> Option<&'v str> {
    names.iter().find_map(|name| bare_text(&item[*name]))
}

/// A value that is a text, whether the bank's own or an outsider's.
pub(crate) fn bare_text(value: &Value) -> Option<&str> {
    value
        .as_str()
        .or_else(|| value["untrusted_text"].as_str())
        .filter(|text| !text.trim().is_empty())
}

/// An amount with its currency: `{amount, currency}` under a name, or two members of the item itself.
pub(crate) fn money(item: &Value, names: &[&str]) -> Option<(String, String)> {
    names.iter().find_map(|name| {
        let value = &item[*name];
        let (amount, currency) = match value {
            Value::Object(_) => (&value["amount"], &value["currency"]),
            _ => (value, &item["currency"]),
        };
        Some((amount.as_str()?.to_owned(), currency.as_str()?.to_owned()))
    })
}

/// An amount for people: `1,240.50 EUR`.
pub(crate) fn shown_money((amount, currency): &(String, String)) -> String {
    let (sign, digits) = match amount.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", amount.as_str()),
    };
    let (whole, decimals) = match digits.split_once('.') {
        Some((whole, decimals)) => (whole, format!(".{decimals}")),
        None => (digits, String::new()),
    };
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}{decimals} {currency}")
}

/// Whether a typed amount is this amount: `64.1`, `64.10` and `64.100` are.
pub(crate) fn same_amount(typed: &str, amount: &str) -> bool {
    let bare = |text: &str| -> (String, String) {
        let text = text.trim_start_matches(['-', '+']);
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        (
            whole.trim_start_matches('0').to_owned(),
            decimals.trim_end_matches('0').to_owned(),
        )
    };
    bare(typed) == bare(amount)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_items_own_id_comes_before_the_ids_it_points_to() {
        let item = json!({"account": "acc_2", "id": "acc_1", "payee": "pye_9"});
        assert_eq!(id(&item, "acc"), Some("acc_1"));
        assert_eq!(id(&item, "pye"), Some("pye_9"));
        assert_eq!(id(&item, "crd"), None);
    }

    #[test]
    fn money_is_grouped_for_people() {
        let shown = |amount: &str| shown_money(&(amount.into(), "EUR".into()));
        assert_eq!(shown("1240.50"), "1,240.50 EUR");
        assert_eq!(shown("48000"), "48,000 EUR");
        assert_eq!(shown("-1000000.00"), "-1,000,000.00 EUR");
        assert_eq!(shown("20.00"), "20.00 EUR");
    }

    #[test]
    fn a_typed_amount_is_compared_by_value() {
        assert!(same_amount("64.1", "-64.10"));
        assert!(same_amount("10", "10.00"));
        assert!(!same_amount("10", "100"));
        assert!(!same_amount("1", "10"));
    }
}
