//! Does a reply say that something was done? A hint for showing the record beside it, and nothing more.
//!
//! The assistant can do nothing, so such a sentence is wrong unless the customer confirmed something. The page
//! then shows what the record says, which is true whatever this reader thought; a miss or a false alarm changes
//! no request and no money.

/// Words that report an act as done: English, German, French, Spanish.
const DONE: &[&str] = &[
    "sent",
    "paid",
    "transferred",
    "moved",
    "wired",
    "frozen",
    "froze",
    "blocked",
    "unfrozen",
    "unblocked",
    "cancelled",
    "canceled",
    "refunded",
    "executed",
    "confirmed",
    "completed",
    "processed",
    "disputed",
    "done",
    "scheduled",
    "activated",
    "deactivated",
    "überwiesen",
    "gesendet",
    "bezahlt",
    "gesperrt",
    "entsperrt",
    "ausgeführt",
    "erledigt",
    "bestätigt",
    "storniert",
    "envoyé",
    "envoyée",
    "viré",
    "payé",
    "bloquée",
    "bloqué",
    "annulé",
    "confirmé",
    "effectué",
    "enviado",
    "enviada",
    "pagado",
    "transferido",
    "bloqueada",
    "bloqueado",
    "cancelado",
    "confirmado",
    "hecho",
];

/// Words that turn such a sentence into a denial, a condition, a plan or a report of what the customer did.
const TURNS_IT: &[&str] = &[
    "not", "no", "nothing", "never", "none", "cannot", "can't", "cant", "won't", "will", "would",
    "could", "once", "until", "unless", "if", "when", "before", "after", "you", "you've", "to",
    "be", "yet", "nicht", "nichts", "kein", "keine", "wird", "werden", "wenn", "sobald", "bis",
    "bevor", "sie", "pas", "rien", "sera", "si", "quand", "jamais", "vous", "nada", "nunca",
    "será", "cuando", "hasta", "usted",
];

/// Words after which "you" or "to" are part of a claim: "I have sent 20 to Bob for you".
const SPEAKS_OF_ITSELF: &[&str] = &[
    "i", "i've", "we", "we've", "ich", "wir", "j'ai", "nous", "he", "hemos",
];

/// Whether a sentence of the reply says that something was done.
pub fn claims_done(reply: &str) -> bool {
    reply
        .split(['.', '!', '?', '\n', ';', ':'])
        .any(sentence_claims)
}

fn sentence_claims(sentence: &str) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    let words: Vec<&str> = lower
        .split(|c: char| !(c.is_alphanumeric() || c == '\''))
        .filter(|word| !word.is_empty())
        .collect();
    let Some(done) = words.iter().position(|word| DONE.contains(word)) else {
        return false;
    };
    let speaks_of_itself = words[..done]
        .iter()
        .any(|word| SPEAKS_OF_ITSELF.contains(word));
    !words.iter().enumerate().any(|(position, word)| {
        let negates = word.ends_with("n't") || TURNS_IT.contains(word);
        let harmless =
            matches!(*word, "you" | "to" | "si") && (speaks_of_itself || position > done);
        negates && !harmless
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_noticed() {
        for claim in [
            "I've sent 20 to Bob.",
            "I have transferred the money for you.",
            "Done!",
            "Good news: your card is now frozen.",
            "The payment was processed.",
            "Your card has been blocked to protect you.",
            "Ich habe 20 Euro an Bob überwiesen.",
            "Ihre Karte ist gesperrt.",
            "J’ai envoyé 20 euros.",
            "He enviado 20 euros a Bob.",
            "It is waiting.\nSent 20 EUR to Bob",
        ] {
            assert!(claims_done(claim), "{claim}");
        }
    }

    #[test]
    fn a_denial_a_condition_and_a_report_are_none() {
        for other in [
            "I've prepared it. Check it on the right and press Send there.",
            "Nothing was sent.",
            "It has not been sent.",
            "I haven't sent it yet.",
            "It will be sent once you confirm.",
            "When you press the button it is sent.",
            "You sent 20 to Bob on 12 May.",
            "You have paid 340.00 EUR for groceries this month.",
            "Your balance is 1,480.00 EUR.",
            "I cannot confirm; only you can.",
            "Es wurde nichts überwiesen.",
            "Rien n’a été envoyé.",
            "",
        ] {
            assert!(!claims_done(other), "{other}");
        }
    }
}
