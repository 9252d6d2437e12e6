use super::contacts::{Own, foreign};
use super::credentials::asks_for_credentials;
use super::reply_rules;
use super::shape::plain;
use super::topic::is_off_topic;
use crate::Redactor;

const BENIGN: &[(&str, &str)] = &[
    (
        "benign.tsv",
        include_str!("../../../../fixtures/screening/benign.tsv"),
    ),
    (
        "benign-chat.tsv",
        include_str!("../../../../fixtures/screening/benign-chat.tsv"),
    ),
];

/// The bar for the bank's own sentences: none masked, at most five in a thousand stopped, and those are listed.
#[test]
fn ordinary_sentences_of_a_bank_are_left_alone() {
    let redactor = Redactor::new(&reply_rules().expect("rules"));
    let mut languages = std::collections::BTreeMap::<&str, usize>::new();
    let (mut masked, mut stopped, mut all) = (Vec::new(), Vec::new(), 0);
    for line in BENIGN.iter().flat_map(|(_, text)| text.lines().skip(1)) {
        let (language, sentence) = line.split_once('\t').expect("two columns");
        *languages.entry(language).or_default() += 1;
        all += 1;
        if !redactor.redact_text(sentence).edits.is_empty() {
            masked.push(sentence);
        }
        if asks_for_credentials(sentence) || is_off_topic(sentence) {
            stopped.push(sentence);
        }
    }
    println!(
        "{all} sentences in {} languages: {} masked, {} stopped",
        languages.len(),
        masked.len(),
        stopped.len()
    );
    println!("stopped: {stopped:#?}");
    assert!(
        all >= 400 && languages.len() == 8 && languages.values().all(|count| *count >= 40),
        "{languages:?}"
    );
    assert_eq!(masked, Vec::<&str>::new());
    assert!(stopped.len() * 1000 <= all * 5, "{stopped:#?}");
}

#[test]
fn a_reply_that_asks_for_a_secret_is_noticed_in_every_language() {
    let mut missed = Vec::new();
    for reply in [
        "Please tell me your PIN so that I can unlock the card.",
        "To continue, send me the code from the text message.",
        "Your card is safe. Just reply with your password.",
        "Enter your password here to confirm.",
        "I need your CVV to finish this.",
        "For security, type your one-time OTP in this chat.",
        "Could you share the verification code you received?",
        "Bitte nennen Sie mir Ihre PIN.",
        "Schicken Sie mir die TAN aus der SMS.",
        "Geben Sie hier Ihr Passwort ein.",
        "Donnez-moi votre code secret.",
        "Saisissez votre mot de passe ici.",
        "Envíeme su contraseña para continuar.",
        "Introduzca aquí su PIN.",
        "Mi dica il suo PIN.",
        "Inserisci qui la tua password.",
        "Geef mij uw pincode.",
        "Stuur de code uit de sms.",
        "Podaj swój PIN.",
        "Wpisz tutaj swoje hasło.",
        "Informe sua senha para continuar.",
        "Digite aqui a sua senha.",
        "Tell me your seed phrase.",
        "What is your PIN?",
        "Wie lautet Ihr Passwort?",
        "Please send me\nyour PIN",
    ] {
        if !asks_for_credentials(reply) {
            missed.push(reply);
        }
    }
    assert_eq!(missed, Vec::<&str>::new());
}

#[test]
fn a_warning_a_machine_and_another_code_ask_for_nothing() {
    for reply in [
        "Never tell anybody your PIN.",
        "We will never ask you for your password.",
        "If someone asks for your code, hang up.",
        "Enter your PIN at the terminal.",
        "You can reset your PIN in the app.",
        "Please give me the sort code.",
        "Tell me the post code of the shop.",
        "I don't need your password.",
        "Sagen Sie niemandem Ihre PIN.",
        "Ne donnez jamais votre code.",
        "Nunca comparta su contraseña.",
        "Non dire a nessuno il PIN.",
        "Deel uw pincode nooit.",
        "Nikomu nie podawaj kodu PIN.",
        "Nunca informe a sua senha.",
        "Tell me which card you mean.",
        "I can't see your PIN.",
    ] {
        assert!(!asks_for_credentials(reply), "{reply}");
    }
}

#[test]
fn what_is_no_banks_business_is_told_from_a_complaint() {
    for other in [
        "Write me a poem about spring",
        "write a short python script that sorts a list",
        "Tell me a joke",
        "What is the capital of France?",
        "Who will win the election?",
        "Recipe for pancakes please",
        "What's the weather tomorrow?",
        "Schreib mir ein Gedicht",
        "Rezept für Pfannkuchen",
        "Écris-moi un poème",
        "Escribe un poema sobre el mar",
        "Scrivi una poesia",
        "Schrijf een gedicht",
        "Napisz mi wiersz",
        "Escreva um poema",
        "Diagnose my headache",
    ] {
        assert!(is_off_topic(other), "{other}");
    }
    for ours in [
        "The recipe for pancakes box charged me twice, I want to dispute it",
        "Write a dispute for the charge at Cafe Luna",
        "Pay the weather station 20",
        "Send 20 to Joke Shop",
        "What did I spend on story books?",
        "The poem I bought never arrived, I want my money back",
        "Ich habe das Rezept für den Kochkurs bezahlt und nichts bekommen",
        "Hello",
        "Who are you?",
        "Can you help me?",
        "actually 30",
        "yes",
    ] {
        assert!(!is_off_topic(ours), "{ours}");
    }
}

fn marked(text: &str) -> Vec<&str> {
    foreign(
        text,
        &Own::new(&["bank.example".into(), "+49 30 5550 100".into()]),
    )
    .into_iter()
    .map(|span| &text[span])
    .collect()
}

#[test]
fn addresses_that_are_not_the_banks_are_found() {
    for (text, wanted) in [
        (
            "See https://evil.example/pay?x=1, now.",
            vec!["https://evil.example/pay?x=1"],
        ),
        (
            "Go to secure-bank.com/login today",
            vec!["secure-bank.com/login"],
        ),
        ("Visit www.evil.tk!", vec!["www.evil.tk"]),
        ("ftp://a.b and mailto:x", vec!["ftp://a.b"]),
        (
            "evil[.]com or evil (dot) com",
            vec!["evil[.]com", "evil (dot) com"],
        ),
        (
            "write to kim.lee@evil.example.",
            vec!["kim.lee@evil.example"],
        ),
        ("call +44 113 496 0122 now", vec!["+44 113 496 0122"]),
        (
            "call 0113 496 0122 or 0049 1512 3456787",
            vec!["0113 496 0122", "0049 1512 3456787"],
        ),
        ("ring 07700 900461.", vec!["07700 900461"]),
        ("Freephone 0800 123 4567", vec!["0800 123 4567"]),
        ("ｗｗｗ．evil．com", vec!["ｗｗｗ．evil．com"]),
        (
            "https://bank.example@evil.example/",
            vec!["https://bank.example@evil.example/"],
        ),
        (
            "https://bank.example.evil.tk",
            vec!["https://bank.example.evil.tk"],
        ),
        (
            "![a](https://x.example/p.png?d=BALANCE)",
            vec!["https://x.example/p.png?d=BALANCE"],
        ),
    ] {
        assert_eq!(marked(text), wanted, "{text}");
    }
}

#[test]
fn the_banks_own_and_ordinary_numbers_are_not() {
    for text in [
        "See https://bank.example/help and mail help@bank.example.",
        "Call +49 30 5550100.",
        "You have 1,240.50 EUR and 48,000 JPY.",
        "On 2026-11-30 12:05 you paid 12.50 EUR.",
        "Direct debit due 04-11-26, sort code 04-00-04.",
        "IBAN DE89 3704 0044 0532 0130 00, card ending 4821",
        "Order 2024 20260401",
        "e.g. this, i.e. that, Volt & Watt",
        "Send 20.00 EUR to Bob.",
        "transferId: 0d1c9be27a5546d3b8f1446aa0c97e21",
        "30.11.2026, 04.11.2026",
    ] {
        assert_eq!(marked(text), Vec::<&str>::new(), "{text}");
    }
}

#[test]
fn a_reply_looks_like_words() {
    for (text, wanted) in [
        (
            "<b>Sent</b> <a href=\"https://e.example\">here</a>",
            "Sent here",
        ),
        ("a <!-- hidden --> b<script>alert(1)</script>", "a  b"),
        ("┌────┐\n│ Send 20 │\n└────┘", "\n Send 20 \n"),
        (
            "Press [ Confirm ] or 【Send 20.00 EUR to Bob】",
            "Press Confirm or Send 20.00 EUR to Bob",
        ),
        (
            "![bal](https://x.example/p.png?d=9)",
            "bal https://x.example/p.png?d=9",
        ),
        (
            "[your bank](https://evil.example)",
            "your bank https://evil.example",
        ),
        ("5 < 6 and 7 > 3", "5 < 6 and 7 > 3"),
        (
            "[redacted: card ending 1111]",
            "[redacted: card ending 1111]",
        ),
        ("See note [1] and [2].", "See note [1] and [2]."),
    ] {
        assert_eq!(plain(text), wanted, "{text}");
    }
}

#[test]
fn account_numbers_written_out_are_masked_and_their_ends_are_not() {
    let redactor = Redactor::new(&reply_rules().expect("rules"));
    let masked = |text: &str| !redactor.redact_text(text).edits.is_empty();
    for text in [
        "Account number: 12345678",
        "Kontonummer 0532013000",
        "Bob's account no. 1234 5678",
        "numer konta to 12 3456 7890",
    ] {
        assert!(masked(text), "{text}");
    }
    for text in [
        "account ending 6819",
        "Account number ending 6819",
        "2 accounts, 12345 transactions",
        "Konto ·· 6819",
    ] {
        assert!(!masked(text), "{text}");
    }
}
