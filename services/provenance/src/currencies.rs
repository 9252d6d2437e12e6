//! Currency signs and codes, the same in every language. The words for them are in the language files.

use countersign_domain::Currency;

/// What a currency's sign, code or word names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CurrencyName {
    /// A currency the bank keeps accounts in.
    Known(Currency),
    /// The account's own, whichever it is ("bucks").
    Account,
    /// A currency the bank does not have: such an amount is open.
    Foreign,
}

/// Reads the value a language file gives a currency's word: a code, `account` or `foreign`.
pub(crate) fn of_word(value: &str) -> Option<CurrencyName> {
    match value {
        "account" => Some(CurrencyName::Account),
        "foreign" => Some(CurrencyName::Foreign),
        code => read(code),
    }
}

/// Reads a sign or code.
pub(crate) fn read(text: &str) -> Option<CurrencyName> {
    let known = match text {
        "€" | "eur" => Currency::Eur,
        "£" | "gbp" => Currency::Gbp,
        "$" | "usd" | "us$" => Currency::Usd,
        "¥" | "jpy" => Currency::Jpy,
        "chf" => Currency::Chf,
        "pln" | "zł" => Currency::Pln,
        "kwd" => Currency::Kwd,
        "₹" | "₽" | "₺" | "₩" | "₿" | "₴" | "aud" | "cad" | "nzd" | "inr" | "sek" | "nok"
        | "dkk" | "czk" | "huf" | "ron" | "try" | "cny" | "rmb" | "hkd" | "sgd" | "brl" | "mxn"
        | "zar" | "rub" | "uah" | "krw" | "thb" | "aed" | "sar" | "btc" | "eth" | "usdt"
        | "usdc" => return Some(CurrencyName::Foreign),
        _ => return None,
    };
    Some(CurrencyName::Known(known))
}
