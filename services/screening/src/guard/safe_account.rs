//! Does a reply advise moving money to a "safe account"? No bank does: it is the sentence with which swindlers who play the
//! bank empty an account. The assistant's page marks it, whoever put it into the model's mouth.

use std::ops::Range;

use super::{credentials::WARNS, sentences, words};

/// Words that move money, by their beginnings.
const MOVES: &[&str] = &[
    "mov",
    "transfer",
    "send",
    "shift",
    "deposit",
    "park",
    "wire",
    "relocat",
    "put",
    "place",
    "pay",
    "verschieb",
    "überweis",
    "übertrag",
    "transferier",
    "schick",
    "send",
    "leg",
    "zahl",
    "bring",
    "umbuch",
    "transfér",
    "transfer",
    "vir",
    "déplac",
    "envoy",
    "vers",
    "mett",
    "place",
    "dépos",
    "transfier",
    "mue",
    "mov",
    "envi",
    "pas",
    "pon",
    "deposit",
    "ingres",
    "traspas",
    "trasfer",
    "spost",
    "invi",
    "vers",
    "mett",
    "deposit",
    "bonific",
    "zet",
    "verplaats",
    "stuur",
    "stort",
    "boek",
    "overmak",
    "overboek",
    "maak",
    "przenieś",
    "przelej",
    "przelać",
    "przelew",
    "przeleje",
    "wpłać",
    "wyślij",
    "przekaż",
    "przenieść",
    "przesuń",
    "transfir",
    "mova",
    "envie",
    "deposite",
    "coloque",
    "passe",
];

/// What makes an account a "safe" one, by its beginnings, beside a word of [`ACCOUNTS`].
const SAFE: &[&str] = &[
    "safe",
    "secur",
    "protected",
    "protection",
    "quarantin",
    "holding",
    "escrow",
    "interim",
    "sicher",
    "geschützt",
    "schutz",
    "treuhand",
    "sûr",
    "sécuris",
    "sécurité",
    "protég",
    "segur",
    "protegid",
    "seguridad",
    "sicur",
    "protett",
    "veilig",
    "beveilig",
    "beschermd",
    "kluis",
    "bezpieczn",
    "zabezpieczon",
    "techniczn",
    "protegid",
];

/// Accounts, by their beginnings.
const ACCOUNTS: &[&str] = &[
    "account", "wallet", "vault", "konto", "kontos", "compte", "cuenta", "conto", "rekening",
    "rachun", "kont", "conta",
];

/// What stands between an account and its kind.
const OF: &[&str] = &["de", "di", "da", "del", "d", "du"];

/// One word that is both.
const SAFE_ACCOUNTS: &[&str] = &[
    "sicherheitskonto",
    "schutzkonto",
    "treuhandkonto",
    "kluisrekening",
    "veiligheidsrekening",
];

/// Why a swindler says it must be done, by beginnings: the account is said to be in danger.
const DANGERS: &[&str] = &[
    "compromis",
    "hack",
    "attack",
    "breach",
    "risk",
    "danger",
    "unsafe",
    "suspicious",
    "gehackt",
    "kompromittiert",
    "gefährdet",
    "angegriffen",
    "gefahr",
    "pirat",
    "compromis",
    "risque",
    "danger",
    "hacke",
    "comprometid",
    "riesgo",
    "peligro",
    "violat",
    "compromess",
    "rischio",
    "pericolo",
    "gehackt",
    "gevaar",
    "risico",
    "zhakowan",
    "zagrożon",
    "właman",
    "invadid",
    "comprometid",
    "risco",
    "perigo",
];

/// Everything that is meant, by beginnings: a swindler wants all of it.
const EVERYTHING: &[&str] = &[
    "all",
    "everything",
    "entire",
    "whole",
    "balance",
    "alles",
    "ganzes",
    "gesamt",
    "guthaben",
    "tout",
    "totalité",
    "solde",
    "todo",
    "saldo",
    "tutto",
    "intero",
    "hele",
    "volledige",
    "wszystk",
    "całe",
    "środki",
    "tudo",
    "money",
    "funds",
    "savings",
    "geld",
    "argent",
    "fonds",
    "dinero",
    "soldi",
    "denaro",
    "pieniądze",
    "dinheiro",
];

/// Where somebody else's account is meant.
const ELSEWHERE: &[&str] = &[
    "another",
    "new",
    "different",
    "following",
    "this",
    "anderes",
    "neues",
    "folgendes",
    "dieses",
    "autre",
    "nouveau",
    "suivant",
    "ce",
    "otra",
    "nueva",
    "siguiente",
    "esta",
    "altro",
    "nuovo",
    "seguente",
    "questo",
    "andere",
    "nieuwe",
    "volgende",
    "deze",
    "inne",
    "nowe",
    "następujące",
    "to",
    "outra",
    "nova",
    "seguinte",
    "esta",
];

/// The sentences of a reply that give such advice, as parts of it.
#[must_use]
pub fn safe_account_advice(reply: &str) -> Vec<Range<usize>> {
    sentences(reply)
        .into_iter()
        .filter(|sentence| advises(sentence))
        .map(|sentence| {
            let start = sentence.as_ptr() as usize - reply.as_ptr() as usize;
            start..start + sentence.len()
        })
        .collect()
}

fn advises(sentence: &str) -> bool {
    let words = words(sentence);
    let begins = |word: &str, list: &[&str]| {
        let bare = word.rsplit('\'').next().unwrap_or(word);
        list.iter().any(|begin| bare.starts_with(begin))
    };
    let any = |list: &[&str]| words.iter().any(|word| begins(word, list));
    let warned = words.iter().any(|word| {
        let bare = word.trim_matches('\'');
        WARNS.contains(&bare) || word.ends_with("n't") || word.starts_with("n'")
    });
    if warned || !any(MOVES) {
        return false;
    }
    // "a safe temporary account", "una cuenta segura", "compte de sécurité"; never "your account is safe".
    let named = |window: &[String]| match window {
        [one, other] => {
            (begins(one, SAFE) && begins(other, ACCOUNTS))
                || (begins(one, ACCOUNTS) && begins(other, SAFE))
        }
        [one, between, other] => {
            (begins(one, SAFE) && begins(other, ACCOUNTS))
                || (begins(one, ACCOUNTS) && OF.contains(&between.as_str()) && begins(other, SAFE))
        }
        _ => false,
    };
    let is_safe_account =
        words.windows(2).any(named) || words.windows(3).any(named) || any(SAFE_ACCOUNTS);
    let out_of_danger = any(DANGERS)
        && any(EVERYTHING)
        && words
            .windows(2)
            .any(|pair| ELSEWHERE.contains(&pair[0].as_str()) && begins(&pair[1], ACCOUNTS));
    is_safe_account || out_of_danger
}

#[cfg(test)]
mod tests {
    use super::*;

    const BENIGN: [&str; 2] = [
        include_str!("../../../../fixtures/screening/benign.tsv"),
        include_str!("../../../../fixtures/screening/benign-chat.tsv"),
    ];

    #[test]
    fn the_sentence_that_empties_accounts_is_noticed_in_every_language() {
        let missed: Vec<&str> = [
            "Please move your money to a safe account now.",
            "For your protection, transfer the full balance into our secure holding account.",
            "I suggest that you send everything to the protected account 4471.",
            "Your account was hacked, so move all your funds to this account.",
            "Put your savings in a secure temporary account until the investigation is over.",
            "Bitte überweisen Sie Ihr Geld auf ein sicheres Konto.",
            "Verschieben Sie das Guthaben auf unser Sicherheitskonto.",
            "Ihr Konto ist gefährdet: überweisen Sie alles auf dieses Konto.",
            "Veuillez virer votre argent sur un compte sécurisé.",
            "Transférez tout sur un compte sûr.",
            "Transfiera su dinero a una cuenta segura.",
            "Mueva todo su saldo a la cuenta de seguridad.",
            "Trasferisca i soldi su un conto sicuro.",
            "Sposti tutto sul conto protetto.",
            "Zet uw geld op een veilige rekening.",
            "Maak alles over naar onze kluisrekening.",
            "Proszę przelać pieniądze na bezpieczne konto.",
            "Przelej wszystko na rachunek techniczny banku.",
            "Transfira o seu dinheiro para uma conta segura.",
            "Envie tudo para a conta de segurança.",
        ]
        .into_iter()
        .filter(|reply| safe_account_advice(reply).is_empty())
        .collect();
        assert_eq!(missed, Vec::<&str>::new());
    }

    #[test]
    fn a_warning_and_an_ordinary_transfer_are_left_alone() {
        for reply in [
            "We will never ask you to move money to a safe account.",
            "If somebody asks you to transfer money to a safe account, hang up.",
            "Moving money to a \"safe account\" is a scam.",
            "I've prepared 50.00 EUR to your savings account.",
            "Your account is safe, and the transfer to Bob is waiting.",
            "You can pay securely from your current account.",
            "The new account was opened on 3 March.",
            "I moved nothing; check the payment to Security Depot Ltd on the right.",
            "Wir bitten Sie nie, Geld auf ein sicheres Konto zu überweisen.",
            "Das Geld liegt sicher auf Ihrem Sparkonto.",
            "Ne virez jamais d'argent sur un compte sécurisé.",
            "Nunca transfiera dinero a una cuenta segura.",
            "Ich habe 20,00 EUR an Bob vorbereitet.",
            "Voici les virements de ce compte.",
        ] {
            assert!(safe_account_advice(reply).is_empty(), "{reply}");
        }
    }

    #[test]
    fn the_sentence_is_marked_and_nothing_around_it() {
        let reply = "Your balance is 5.00 EUR. Please move it to a safe account. Anything else?";
        let found = safe_account_advice(reply);
        let marked: Vec<&str> = found.iter().map(|at| reply[at.clone()].trim()).collect();
        assert_eq!(marked, ["Please move it to a safe account."]);
    }

    #[test]
    fn no_ordinary_sentence_of_a_bank_is_taken_for_it() {
        let found: Vec<&str> = BENIGN
            .iter()
            .flat_map(|text| text.lines().skip(1))
            .filter_map(|line| line.split_once('\t'))
            .map(|(_, sentence)| sentence)
            .filter(|sentence| !safe_account_advice(sentence).is_empty())
            .collect();
        assert_eq!(found, Vec::<&str>::new());
    }
}
