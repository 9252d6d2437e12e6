//! Does a reply ask the customer for a secret? The bank's assistant has no use for any, so such a sentence is not the
//! bank's, whoever put it into the model's mouth.

use super::{sentences, words};

/// Secrets by name. A word behind `*` counts only where a [`TELL`] verb asks for it: "code" alone is many things.
const SECRETS: &[&str] = &[
    "pin",
    "pins",
    "password",
    "passwords",
    "passcode",
    "passphrase",
    "cvv",
    "cvc",
    "cvv2",
    "otp",
    "tan",
    "*code",
    "*codes",
    "passwort",
    "kennwort",
    "geheimzahl",
    "sicherheitscode",
    "prüfziffer",
    "kartenprüfnummer",
    "*zugangsdaten",
    "*credentials",
    "*login",
    "mot de passe",
    "cryptogramme",
    "*identifiants",
    "contraseña",
    "*código",
    "*clave",
    "parola d'ordine",
    "*codice",
    "wachtwoord",
    "pincode",
    "beveiligingscode",
    "hasło",
    "hasła",
    "*kod",
    "*kodu",
    "senha",
    "palavra-passe",
    "palavra passe",
    "token",
    "secret key",
    "seed phrase",
    "recovery phrase",
];

/// Verbs that ask to be told something.
const TELL: &[&str] = &[
    "tell",
    "send",
    "give",
    "share",
    "provide",
    "reply",
    "text",
    "message",
    "read",
    "disclose",
    "supply",
    "need",
    "require",
    "sag",
    "sage",
    "sagen",
    "nenn",
    "nenne",
    "nennen",
    "schick",
    "schicke",
    "schicken",
    "sende",
    "senden",
    "teile",
    "teilen",
    "gib",
    "geben",
    "verrate",
    "verraten",
    "brauche",
    "benötige",
    "donnez",
    "donne",
    "envoyez",
    "envoie",
    "dites",
    "dis",
    "communiquez",
    "fournissez",
    "partagez",
    "indiquez",
    "dime",
    "dígame",
    "diga",
    "envía",
    "envíe",
    "envíame",
    "envíeme",
    "dame",
    "deme",
    "comparte",
    "comparta",
    "facilite",
    "indique",
    "necesito",
    "dimmi",
    "mi dica",
    "dica",
    "inviami",
    "invia",
    "mandami",
    "dammi",
    "comunichi",
    "comunicami",
    "fornisci",
    "fornisca",
    "geef",
    "stuur",
    "deel",
    "vertel",
    "verstrek",
    "podaj",
    "proszę podać",
    "podać",
    "wyślij",
    "prześlij",
    "przekaż",
    "powiedz",
    "diga-me",
    "envie",
    "informe",
    "forneça",
    "mande",
    "partilhe",
    "compartilhe",
];

/// Verbs that ask for something to be put in, which a cash machine asks as well: they count with [`HERE`].
const ENTER: &[&str] = &[
    "enter",
    "type",
    "confirm",
    "input",
    "write",
    "verify",
    "gib",
    "geben",
    "eingeben",
    "tippe",
    "tippen",
    "bestätige",
    "bestätigen",
    "saisissez",
    "entrez",
    "tapez",
    "confirmez",
    "introduzca",
    "introduce",
    "escriba",
    "escribe",
    "confirme",
    "confirma",
    "inserisci",
    "inserisca",
    "digita",
    "digiti",
    "scrivi",
    "conferma",
    "voer",
    "typ",
    "bevestig",
    "wpisz",
    "wprowadź",
    "potwierdź",
    "digite",
    "insira",
    "introduza",
    "escreva",
];

/// Where a chat asks for it.
const HERE: &[&str] = &[
    "here",
    "below",
    "chat",
    "conversation",
    "message",
    "reply",
    "me",
    "us",
    "hier",
    "unten",
    "antwort",
    "mir",
    "uns",
    "ici",
    "dessous",
    "réponse",
    "moi",
    "nous",
    "aquí",
    "abajo",
    "respuesta",
    "mí",
    "qui",
    "sotto",
    "risposta",
    "me",
    "hieronder",
    "antwoord",
    "mij",
    "ons",
    "tutaj",
    "tu",
    "poniżej",
    "odpowiedzi",
    "mi",
    "aqui",
    "abaixo",
    "resposta",
    "mim",
];

/// How a question for something begins.
const QUESTIONS: &[&str] = &[
    "what is your",
    "what's your",
    "what’s your",
    "and your",
    "your",
    "wie lautet",
    "wie ist ihr",
    "wie ist deine",
    "und ihr",
    "quel est",
    "quelle est",
    "et votre",
    "cuál es su",
    "cuál es tu",
    "y su",
    "qual è",
    "e il suo",
    "e la sua",
    "wat is uw",
    "wat is je",
    "en uw",
    "jaki jest",
    "jakie jest",
    "a twój",
    "a twoje",
    "qual é",
];

/// Words of a warning: "never tell anybody your PIN", "if somebody asks for your code".
pub(super) const WARNS: &[&str] = &[
    "never",
    "not",
    "don't",
    "dont",
    "won't",
    "cannot",
    "can't",
    "nobody",
    "noone",
    "anyone",
    "anybody",
    "someone",
    "somebody",
    "no",
    "without",
    "if",
    "whoever",
    "scam",
    "scammer",
    "scammers",
    "fraud",
    "fraudster",
    "fraudsters",
    "phishing",
    "nie",
    "niemals",
    "nicht",
    "niemand",
    "niemandem",
    "kein",
    "keine",
    "keinen",
    "keiner",
    "wenn",
    "jemand",
    "betrüger",
    "ohne",
    "jamais",
    "ne",
    "n'",
    "pas",
    "personne",
    "aucun",
    "aucune",
    "quelqu'un",
    "si",
    "fraude",
    "fraudeurs",
    "nunca",
    "jamás",
    "nadie",
    "alguien",
    "estafa",
    "estafadores",
    "sin",
    "mai",
    "non",
    "nessuno",
    "qualcuno",
    "se",
    "truffa",
    "truffatori",
    "senza",
    "nooit",
    "niet",
    "geen",
    "iemand",
    "als",
    "oplichters",
    "zonder",
    "nigdy",
    "nikomu",
    "nikt",
    "jeśli",
    "ktoś",
    "oszust",
    "oszuści",
    "bez",
    "não",
    "nunca",
    "ninguém",
    "alguém",
    "golpe",
    "golpistas",
    "sem",
];

/// What makes a code another thing than a secret, in front of it or right behind.
const OTHER_CODES: &[&str] = &[
    "sort",
    "post",
    "postal",
    "zip",
    "bic",
    "swift",
    "country",
    "currency",
    "promo",
    "short",
    "qr",
    "bank",
    "category",
    "reason",
    "dress",
    "error",
    "reference",
    "booking",
    "postcode",
    "postleitzahl",
    "postaux",
    "fiscale",
    "fiscal",
    "postale",
    "pocztowy",
    "pocztowego",
    "transaction",
    "merchant",
    "discount",
];

/// Whether a reply asks the customer for a password, a PIN, a code.
#[must_use]
pub fn asks_for_credentials(reply: &str) -> bool {
    sentences(reply).into_iter().any(asks)
}

fn asks(sentence: &str) -> bool {
    let words = words(sentence);
    let is_one_of = |list: &[&str], word: &String| {
        let bare = word.trim_matches('\'');
        list.contains(&bare)
            || bare
                .split_once('\'')
                .is_some_and(|(_, rest)| list.contains(&rest))
    };
    if words
        .iter()
        .any(|word| is_one_of(WARNS, word) || word.ends_with("n't") || word.starts_with("n'"))
    {
        return false;
    }
    // "What is your PIN?"
    let questions = sentence.ends_with('?')
        && QUESTIONS
            .iter()
            .any(|begin| sentence.to_lowercase().starts_with(begin));
    let tells = questions || words.iter().any(|word| is_one_of(TELL, word)) || holds(&words, TELL);
    let enters = words.iter().any(|word| is_one_of(ENTER, word))
        && words.iter().any(|word| is_one_of(HERE, word));
    if !tells && !enters {
        return false;
    }
    SECRETS.iter().any(|secret| {
        let (name, vague) = match secret.strip_prefix('*') {
            Some(name) => (name, true),
            None => (*secret, false),
        };
        if vague && !tells {
            return false;
        }
        let parts: Vec<&str> = name.split([' ', '-']).collect();
        words.windows(parts.len()).enumerate().any(|(at, window)| {
            let named = window.iter().zip(&parts).all(|(word, part)| {
                word == part || word.split_once('\'').is_some_and(|(_, rest)| rest == *part)
            });
            let beside = at
                .checked_sub(1)
                .and_then(|at| words.get(at))
                .into_iter()
                .chain(words.get(at + parts.len()));
            named && !(vague && beside.into_iter().any(|word| is_one_of(OTHER_CODES, word)))
        })
    })
}

/// Whether one of the entries of several words stands in a sentence.
fn holds(words: &[String], list: &[&str]) -> bool {
    list.iter()
        .filter(|entry| entry.contains([' ', '-']))
        .any(|entry| {
            let parts: Vec<&str> = entry.split([' ', '-']).collect();
            words
                .windows(parts.len())
                .any(|window| window.iter().zip(&parts).all(|(word, part)| word == part))
        })
}
