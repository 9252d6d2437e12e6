//! Does a reply say that something was done? A hint for showing the record beside it, and nothing more.
//!
//! The assistant can do nothing, so such a sentence is wrong unless the customer confirmed something. The page
//! then shows what the record says, which is true whatever this reader thought; a miss or a false alarm changes
//! no request and no money.

/// Verbs of the first person that say both what was done and who did it: "enviei", "wysłałem".
const I_DID: &[&str] = &[
    "enviei",
    "transferi",
    "paguei",
    "bloqueei",
    "cancelei",
    "confirmei",
    "envié",
    "transferí",
    "pagué",
    "bloqueé",
    "cancelé",
    "wysłałem",
    "wysłałam",
    "przelałem",
    "przelałam",
    "zapłaciłem",
    "zapłaciłam",
    "zablokowałem",
    "zablokowałam",
];

/// Words that report an act as done, in the eight languages of the chat; those of [`I_DID`] besides.
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
    "transféré",
    "transférée",
    "gelée",
    "remboursé",
    "exécuté",
    "validé",
    "ejecutado",
    "completado",
    "congelada",
    "reembolsado",
    "transferida",
    "pagada",
    "eingefroren",
    "erstattet",
    "abgeschlossen",
    "durchgeführt",
    "versendet",
    "verschickt",
    "pago",
    "feito",
    "concluído",
    "efetuado",
    "realizado",
    "inviato",
    "inviata",
    "inviati",
    "trasferito",
    "trasferita",
    "pagato",
    "pagata",
    "bloccata",
    "bloccato",
    "annullato",
    "annullata",
    "confermato",
    "confermata",
    "fatto",
    "eseguito",
    "eseguita",
    "effettuato",
    "completato",
    "overgemaakt",
    "verstuurd",
    "betaald",
    "gestuurd",
    "geblokkeerd",
    "bevestigd",
    "uitgevoerd",
    "geannuleerd",
    "gedaan",
    "voltooid",
    "wysłano",
    "wysłane",
    "wysłany",
    "przelano",
    "przelane",
    "zapłacono",
    "opłacono",
    "zablokowano",
    "zablokowana",
    "zablokowane",
    "zrobione",
    "wykonano",
    "wykonane",
    "wykonany",
    "potwierdzono",
    "potwierdzone",
    "anulowano",
    "anulowane",
    "zrealizowano",
    "zrealizowany",
];

/// Words that turn such a sentence into a denial, a condition, a plan or a report of what the customer did.
const TURNS_IT: &[&str] = &[
    "not", "no", "nothing", "never", "none", "cannot", "can't", "cant", "won't", "will", "would",
    "could", "once", "until", "unless", "if", "when", "before", "after", "you", "you've", "to",
    "be", "yet", "nicht", "nichts", "kein", "keine", "wird", "werden", "wenn", "sobald", "bis",
    "bevor", "sie", "pas", "rien", "sera", "si", "quand", "jamais", "vous", "nada", "nunca",
    "será", "cuando", "hasta", "usted", "não", "ninguém", "quando", "non", "niente", "nulla",
    "sarà", "verrà", "finché", "prima", "niet", "niets", "geen", "nooit", "wordt", "zal", "zodra",
    "voordat", "nie", "nic", "nigdy", "zostanie", "będzie", "gdy", "jeśli", "kiedy", "dopóki",
    "zanim", "aucun", "aucune", "ninguna", "ningún", "nenhum", "nenhuma", "nessun", "nessuna",
];

/// Words after which "you" or "to" are part of a claim: "I have sent 20 to Bob for you".
const SPEAKS_OF_ITSELF: &[&str] = &[
    "i", "i've", "we", "we've", "ich", "wir", "j'ai", "nous", "he", "hemos", "ho", "abbiamo", "ik",
    "wij", "heb", "hebben", "tenho",
];

/// Words that make a sentence a report of something that happened: "was sent", "is now frozen".
const HAPPENED: &[&str] = &[
    "been",
    "was",
    "were",
    "now",
    "just",
    "already",
    "successfully",
    "wurde",
    "wurden",
    "jetzt",
    "été",
    "maintenant",
    "sido",
    "fue",
    "ahora",
    "stato",
    "stata",
    "stati",
    "state",
    "ora",
    "adesso",
    "già",
    "werd",
    "werden",
    "nu",
    "foi",
    "foram",
    "agora",
    "já",
    "został",
    "została",
    "zostało",
    "zostały",
    "teraz",
    "już",
    "déjà",
    "ya",
    "quedó",
];

/// Words that are a claim when a sentence begins with them: "Sent 20 to Bob", "Done".
const BEGINS: &[&str] = &[
    "sent",
    "done",
    "transferred",
    "frozen",
    "cancelled",
    "canceled",
    "refunded",
    "confirmed",
    "completed",
    "erledigt",
    "gesendet",
    "überwiesen",
    "envoyé",
    "hecho",
    "enviado",
    "paid",
    "wysłano",
    "wysłane",
    "zrobione",
    "przelano",
    "gedaan",
    "verstuurd",
    "overgemaakt",
    "betaald",
    "feito",
    "inviato",
    "fatto",
    "pagato",
    "effectué",
    "viré",
    "ejecutado",
    "versendet",
    "ausgeführt",
];

/// Turns of phrase that report an act as done.
const ON_ITS_WAY: &[&str] = &[
    "on its way",
    "gone through",
    "went through",
    "has left your account",
    "all taken care of",
    "unterwegs",
    "en route",
    "en camino",
    "a caminho",
    "in arrivo",
    "onderweg",
    "w drodze",
];

/// How clearly a reply says that something was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Claim {
    /// It says no such thing.
    None,
    /// It may only describe how things stand: "your card is frozen".
    Unclear,
    /// It speaks of a deed: "I have frozen your card".
    Clear,
}

/// How clearly the reply says that something was done: as its clearest sentence does.
pub fn claims_done(reply: &str) -> Claim {
    reply
        .split(['!', '?', '\n', ';'])
        // An amount's point and a time's colon end no sentence.
        .flat_map(|part| part.split(". "))
        .flat_map(|part| part.split(": "))
        .map(claim_of_sentence)
        .max()
        .unwrap_or(Claim::None)
}

fn is_done(word: &str) -> bool {
    DONE.contains(&word) || I_DID.contains(&word)
}

fn claim_of_sentence(sentence: &str) -> Claim {
    let lower = sentence.to_lowercase().replace('’', "'");
    let words: Vec<&str> = lower
        .split(|c: char| !(c.is_alphanumeric() || c == '\''))
        .filter(|word| !word.is_empty())
        .collect();
    if let Some(at) = ON_ITS_WAY.iter().find_map(|phrase| lower.find(phrase)) {
        // What comes after it turns nothing: "nothing to worry about".
        let mut before = lower[..at].split(|c: char| !(c.is_alphanumeric() || c == '\''));
        let turned = before.any(|word| word.ends_with("n't") || TURNS_IT.contains(&word));
        return if turned { Claim::None } else { Claim::Clear };
    }
    let Some(done) = words.iter().position(|word| is_done(word)) else {
        return Claim::None;
    };
    let before = &words[..done];
    let speaks_of_itself =
        I_DID.contains(&words[done]) || before.iter().any(|word| SPEAKS_OF_ITSELF.contains(word));
    let turned = words.iter().enumerate().any(|(position, word)| {
        let negates = word.ends_with("n't") || TURNS_IT.contains(word);
        let harmless =
            matches!(*word, "you" | "to" | "si") && (speaks_of_itself || position > done);
        negates && !harmless
    });
    if turned || has_date(&words) {
        return Claim::None;
    }
    let happened = before.iter().any(|word| HAPPENED.contains(word));
    let alone = done == 0 && (words.len() > 1 || words[0] == "done") && BEGINS.contains(&words[0]);
    if speaks_of_itself || happened || alone {
        Claim::Clear
    } else {
        Claim::Unclear
    }
}

/// Whether a sentence names a day, as lists of past payments do: `2026-11-30`, cut at its dashes.
fn has_date(words: &[&str]) -> bool {
    let number = |word: &str, length: usize| {
        word.len() == length && word.bytes().all(|b| b.is_ascii_digit())
    };
    words
        .windows(3)
        .any(|part| number(part[0], 4) && number(part[1], 2) && number(part[2], 2))
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
            "Sent 20 EUR to Bob",
            "Good news: your card is now frozen.",
            "The payment was processed.",
            "Your card has been blocked to protect you.",
            "Ich habe 20 Euro an Bob überwiesen.",
            "Ihre Karte wurde gesperrt.",
            "J’ai envoyé 20 euros.",
            "He enviado 20 euros a Bob.",
            "It is waiting.\nSent 20 EUR to Bob",
            "It is already on its way, nothing to worry about.",
            "Das Geld ist unterwegs.",
            "Ihre Zahlung wurde durchgeführt.",
            "Votre carte a été bloquée.",
            "Votre virement est en route.",
            "Su tarjeta fue bloqueada.",
            "Envié 20 euros a Bob.",
            "O pagamento foi efetuado.",
            "Transferi 20 euros para o Bob.",
            "Ho inviato 20 euro a Bob.",
            "La carta è stata bloccata.",
            "Ik heb 20 euro overgemaakt naar Bob.",
            "De betaling werd uitgevoerd.",
            "Wysłałem 20 euro do Boba.",
            "Przelew został wykonany.",
        ] {
            assert_eq!(claims_done(claim), Claim::Clear, "{claim}");
        }
    }

    #[test]
    fn how_things_stand_is_no_clear_claim() {
        for other in [
            "Your card is frozen.",
            "• Credit card ·· 0077 (frozen)",
            "• Credit card ·· 0077: frozen",
            "Ihre Karte ist gesperrt.",
        ] {
            assert_eq!(claims_done(other), Claim::Unclear, "{other}");
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
            "• 2026-11-28 90.00 EUR was sent to Savings",
            "340.00 EUR to the landlord, paid monthly",
            "Your balance is 1,480.00 EUR.",
            "I cannot confirm; only you can.",
            "Es wurde nichts überwiesen.",
            "Rien n’a été envoyé.",
            "It is not on its way: you have not confirmed it.",
            "No se ha enviado nada.",
            "O pagamento ainda não foi efetuado.",
            "Non ho inviato niente.",
            "Er is niets overgemaakt.",
            "Przelew nie został wykonany.",
            "Przelew zostanie wykonany, gdy go potwierdzisz.",
            "De betaling wordt uitgevoerd zodra u bevestigt.",
            "",
        ] {
            assert_eq!(claims_done(other), Claim::None, "{other}");
        }
    }
}
