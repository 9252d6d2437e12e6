//! Currency signs and codes, the same in every language. The words for them are in the language files.
//!
//! Some signs and words belong to several currencies ("$", "kr", "dinars"). They mean the account's where it bears that
//! sign or word, otherwise the one they name everywhere, if there is one.

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

/// A sign or word that several currencies bear.
#[derive(Clone, Copy)]
enum Shared {
    Dollar,
    /// "$" is also how pesos are written.
    DollarSign,
    Peso,
    Crown,
    Dinar,
    Yen,
}

impl Shared {
    /// The currency meant on an account.
    fn on(self, account: Currency) -> CurrencyName {
        use Currency::{Ars, Aud, Bhd, Cad, Czk, Dkk, Jpy, Kwd, Mxn, Nok, Nzd, Sek, Tnd, Usd};
        let (bearers, otherwise): (&[Currency], _) = match self {
            Self::Dollar => (&[Usd, Cad, Aud, Nzd], Some(Usd)),
            Self::DollarSign => (&[Usd, Cad, Aud, Nzd, Mxn, Ars], Some(Usd)),
            Self::Peso => (&[Mxn, Ars], None),
            Self::Crown => (&[Sek, Nok, Dkk, Czk], None),
            Self::Dinar => (&[Kwd, Tnd, Bhd], Some(Kwd)),
            Self::Yen => (&[Jpy], Some(Jpy)),
        };
        if bearers.contains(&account) {
            return CurrencyName::Known(account);
        }
        otherwise.map_or(CurrencyName::Foreign, CurrencyName::Known)
    }
}

/// Reads the value a language file gives a currency's word: a code, `account`, `foreign`, or the name of a word that
/// several currencies share.
pub(crate) fn of_word(value: &str, account: Currency) -> Option<CurrencyName> {
    let shared = match value {
        "account" => return Some(CurrencyName::Account),
        "foreign" => return Some(CurrencyName::Foreign),
        "dollar" => Shared::Dollar,
        "peso" => Shared::Peso,
        "crown" => Shared::Crown,
        "dinar" => Shared::Dinar,
        code => return read(code, account),
    };
    Some(shared.on(account))
}

/// Reads a sign or code.
pub(crate) fn read(text: &str, account: Currency) -> Option<CurrencyName> {
    // None is longer: most words end here.
    if text.len() > 4 {
        return None;
    }
    let code = match text {
        "€" => "EUR",
        "£" => "GBP",
        "zł" => "PLN",
        "kč" => "CZK",
        "₹" => "INR",
        "$" => return Some(Shared::DollarSign.on(account)),
        "¥" => return Some(Shared::Yen.on(account)),
        "₽" | "₺" | "₩" | "₿" | "₴" | "huf" | "ron" | "try" | "cny" | "rmb" | "hkd" | "sgd"
        | "zar" | "rub" | "uah" | "krw" | "thb" | "aed" | "sar" | "btc" | "eth" | "usdt"
        | "usdc" => {
            return Some(CurrencyName::Foreign);
        }
        code => code,
    };
    if code.len() != 3 {
        return None;
    }
    Currency::ALL
        .into_iter()
        .find(|currency| currency.code().eq_ignore_ascii_case(code))
        .map(CurrencyName::Known)
}

/// Whether a text is a sign or code, whatever the account.
pub(crate) fn is_code(text: &str) -> bool {
    read(text, Currency::Eur).is_some()
}

/// The currency of letters that stand right before a dollar sign ("R$", "CA$").
pub(crate) fn before_dollar_sign(letters: &str) -> Option<CurrencyName> {
    Some(CurrencyName::Known(match letters {
        "r" => Currency::Brl,
        "us" => Currency::Usd,
        "ca" | "c" | "can" => Currency::Cad,
        "a" | "au" => Currency::Aud,
        "nz" => Currency::Nzd,
        "mx" | "mex" => Currency::Mxn,
        "ar" => Currency::Ars,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_sign_means_the_accounts_currency_where_it_bears_it() {
        use Currency::{Cad, Dkk, Eur, Kwd, Mxn, Sek, Tnd, Usd};
        let known = |currency| Some(CurrencyName::Known(currency));
        assert_eq!(read("$", Cad), known(Cad));
        assert_eq!(read("$", Mxn), known(Mxn));
        assert_eq!(read("$", Eur), known(Usd));
        assert_eq!(of_word("dollar", Mxn), known(Usd));
        assert_eq!(of_word("crown", Sek), known(Sek));
        assert_eq!(of_word("crown", Dkk), known(Dkk));
        assert_eq!(of_word("crown", Eur), Some(CurrencyName::Foreign));
        assert_eq!(of_word("dinar", Tnd), known(Tnd));
        assert_eq!(of_word("dinar", Eur), known(Kwd));
        assert_eq!(of_word("peso", Usd), Some(CurrencyName::Foreign));
    }
}
