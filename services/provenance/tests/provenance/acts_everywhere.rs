//! Every act in every language: asked for, and not asked for.

use crate::ilse::*;
use countersign_domain::CardId;
use countersign_provenance::{Act, Grounding, Locale, ground};

fn in_language(locale: &str, turns: &[&str]) -> Grounding {
    let mut input = ilse(turns);
    input.locale = Locale(locale.to_owned());
    ground(&input)
}

/// What the last of the messages leaves live, as "act target".
fn live(locale: &str, turns: &str) -> Vec<String> {
    let turns: Vec<&str> = turns.split(" / ").collect();
    let grounding = in_language(locale, &turns);
    let acts = grounding.acts.iter().map(|ask| {
        let card = ask.card.map(|card| {
            if card.value == CardId::from_uuid(id(2)) {
                "0077"
            } else {
                "4821"
            }
        });
        let order = ask.order.map(|_| "rent");
        let transaction = ask.transaction.map(|_| "found");
        let amount = ask.amount.map(|amount| amount.value.count().to_string());
        let mut words = vec![format!("{:?}", ask.act)];
        words.extend(card.map(str::to_owned));
        words.extend(order.map(str::to_owned));
        words.extend(transaction.map(str::to_owned));
        words.extend(amount);
        words.join(" ")
    });
    let payments = grounding.payments.iter().map(|ask| {
        let rhythm = if ask.recurring { "order" } else { "payment" };
        format!(
            "{rhythm} {:?}",
            ask.amount.map(|amount| amount.value.count())
        )
    });
    acts.chain(payments).collect()
}

/// Cases of one language: messages, and what must be live behind them.
fn check(locale: &str, cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(turns, wanted)| {
            let live = live(locale, turns).join(", ");
            (live != *wanted)
                .then(|| format!("{locale}: {turns:?} leaves {live:?} live, not {wanted:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn english() {
    check(
        "en",
        &[
            ("freeze my card ending 0077", "CardFreeze 0077"),
            ("please block my card, I lost it", "CardFreeze"),
            ("can you lock the card ending in 4821", "CardFreeze 4821"),
            ("Freeze my debit card / unfreeze it", "CardUnfreeze 4821"),
            (
                "Freeze my card / found it, you can unfreeze it again",
                "CardUnfreeze",
            ),
            ("unblock the card ending 0077 please", "CardUnfreeze 0077"),
            ("don't freeze my card", ""),
            ("my card was stolen last year", ""),
            ("Freeze my card / no wait, don't", ""),
            ("Freeze my card / I found it, never mind", ""),
            ("if I lose my card, freeze it", ""),
            ("dispute the Nordwind charge", "Dispute found"),
            ("I don't recognise the 64.10 at Nordwind", "Dispute found"),
            (
                "I never made that 64.10 payment to Nordwind",
                "Dispute found",
            ),
            ("I want to dispute a payment", "Dispute"),
            ("should I dispute the Nordwind charge?", ""),
            ("don't dispute the Nordwind charge", ""),
            ("refund Bob's payment", "Refund found"),
            ("send back what Zoe paid me", "Refund"),
            ("refund the money from Zoe", "Refund"),
            ("don't refund Bob", ""),
            (
                "set up a standing order of 25 to Mum every month",
                "order Some(2500)",
            ),
            (
                "change the rent standing order to 900",
                "OrderChange rent 90000",
            ),
            ("cancel the rent standing order", "OrderCancel rent"),
            ("don't cancel the rent standing order", ""),
            ("add a new payee", "PayeeAdd"),
            ("new payee", "PayeeAdd"),
            ("save a new recipient please", "PayeeAdd"),
            ("do I have a new payee?", ""),
            ("change my address", "ProfileChange"),
            ("update my phone number please", "ProfileChange"),
            ("don't change my address", ""),
            ("raise my daily limit", ""),
        ],
    );
}

#[test]
fn german() {
    check(
        "de",
        &[
            ("Sperre meine Karte mit der Endung 0077", "CardFreeze 0077"),
            ("Bitte meine Karte sperren", "CardFreeze"),
            (
                "Sperr bitte meine Karte, ich hab sie verloren",
                "CardFreeze",
            ),
            ("Sperre meine Karte / entsperre sie wieder", "CardUnfreeze"),
            ("Bitte die Karte 0077 entsperren", "CardUnfreeze 0077"),
            ("Sperr meine Karte nicht", ""),
            ("Meine Karte wurde gesperrt", ""),
            ("Sperre meine Karte / nein, doch nicht", ""),
            ("Wenn ich sie verliere, sperre meine Karte", ""),
            ("Reklamiere die Zahlung bei Nordwind", "Dispute found"),
            ("Die 64,10 bei Nordwind kenne ich nicht", "Dispute found"),
            ("Soll ich Nordwind reklamieren?", ""),
            ("Erstatte die Zahlung von Bob", "Refund found"),
            (
                "Richte einen Dauerauftrag über 25 an Mum monatlich ein",
                "order Some(2500)",
            ),
            (
                "Ändere den Dauerauftrag an Landlord auf 900",
                "OrderChange rent 90000",
            ),
            ("Lösche den Dauerauftrag an Landlord", "OrderCancel rent"),
            ("Lösche den Dauerauftrag an Landlord nicht", ""),
            ("Neuer Empfänger", "PayeeAdd"),
            ("Lege einen neuen Empfänger an", "PayeeAdd"),
            ("Ändere meine Adresse", "ProfileChange"),
            ("Ich möchte meine Telefonnummer ändern", "ProfileChange"),
            ("Ändere meine Adresse nicht", ""),
            ("Erhöhe mein Tageslimit", ""),
        ],
    );
}

#[test]
fn french() {
    check(
        "fr",
        &[
            ("Bloque ma carte se terminant par 0077", "CardFreeze 0077"),
            ("Tu peux bloquer ma carte ?", "CardFreeze"),
            ("Bloque ma carte, je l'ai perdue", "CardFreeze"),
            ("Bloque ma carte / débloque-la", "CardUnfreeze"),
            (
                "Débloque la carte se terminant par 0077",
                "CardUnfreeze 0077",
            ),
            ("Ne bloque pas ma carte", ""),
            ("Ma carte a été bloquée", ""),
            ("Bloque ma carte / non, finalement non", ""),
            ("Si je la perds, bloque ma carte", ""),
            ("Je conteste le paiement Nordwind", "Dispute found"),
            ("Conteste le paiement Nordwind", "Dispute found"),
            (
                "Je ne reconnais pas les 64,10 chez Nordwind",
                "Dispute found",
            ),
            ("Rembourse le paiement de Bob", "Refund found"),
            (
                "Mets en place un virement permanent de 25 à Mum chaque mois",
                "order Some(2500)",
            ),
            (
                "Change le virement permanent à Landlord à 900",
                "OrderChange rent 90000",
            ),
            (
                "Annule le virement permanent à Landlord",
                "OrderCancel rent",
            ),
            ("N'annule pas le virement permanent à Landlord", ""),
            ("Nouveau bénéficiaire", "PayeeAdd"),
            ("Ajoute un bénéficiaire", "PayeeAdd"),
            ("Change mon adresse", "ProfileChange"),
            (
                "Je voudrais changer mon numéro de téléphone",
                "ProfileChange",
            ),
            ("Ne change pas mon adresse", ""),
            ("Augmente mon plafond", ""),
        ],
    );
}

#[test]
fn spanish() {
    check(
        "es",
        &[
            ("Bloquea mi tarjeta terminada en 0077", "CardFreeze 0077"),
            ("¿Puedes bloquear mi tarjeta?", "CardFreeze"),
            ("Bloquea mi tarjeta, la he perdido", "CardFreeze"),
            ("Bloquea mi tarjeta / desbloquéala", "CardUnfreeze"),
            (
                "Desbloquea la tarjeta terminada en 0077",
                "CardUnfreeze 0077",
            ),
            ("No bloquees mi tarjeta", ""),
            ("Mi tarjeta fue bloqueada", ""),
            ("Bloquea mi tarjeta / no, déjalo", ""),
            ("Si la pierdo, bloquea mi tarjeta", ""),
            ("Disputa el cargo de Nordwind", "Dispute found"),
            ("No reconozco los 64,10 de Nordwind", "Dispute found"),
            ("Devuelve el pago de Bob", "Refund found"),
            (
                "Crea una transferencia periódica de 25 a Mum cada mes",
                "order Some(2500)",
            ),
            (
                "Cambia la transferencia periódica a Landlord a 900",
                "OrderChange rent 90000",
            ),
            (
                "Cancela la transferencia periódica a Landlord",
                "OrderCancel rent",
            ),
            ("No canceles la transferencia periódica a Landlord", ""),
            ("Nuevo beneficiario", "PayeeAdd"),
            ("Añade un beneficiario", "PayeeAdd"),
            ("Cambia mi dirección", "ProfileChange"),
            ("Quiero cambiar mi teléfono", "ProfileChange"),
            ("No cambies mi dirección", ""),
            ("Sube mi límite diario", ""),
        ],
    );
}

#[test]
fn portuguese() {
    check(
        "pt",
        &[
            ("Bloqueia o meu cartão terminado em 0077", "CardFreeze 0077"),
            ("Podes bloquear o meu cartão?", "CardFreeze"),
            ("Bloqueia o meu cartão, perdi-o", "CardFreeze"),
            ("Bloqueia o meu cartão / desbloqueia-o", "CardUnfreeze"),
            (
                "Desbloqueia o cartão terminado em 0077",
                "CardUnfreeze 0077",
            ),
            ("Não bloqueies o meu cartão", ""),
            ("O meu cartão foi bloqueado", ""),
            ("Bloqueia o meu cartão / não, deixa", ""),
            ("Se o perder, bloqueia o meu cartão", ""),
            ("Contesta o pagamento da Nordwind", "Dispute found"),
            ("Não reconheço os 64,10 da Nordwind", "Dispute found"),
            ("Devolve o pagamento do Bob", "Refund found"),
            (
                "Cria uma ordem permanente de 25 para a Mum todos os meses",
                "order Some(2500)",
            ),
            (
                "Muda a ordem permanente ao Landlord para 900",
                "OrderChange rent 90000",
            ),
            ("Cancela a ordem permanente ao Landlord", "OrderCancel rent"),
            ("Não canceles a ordem permanente ao Landlord", ""),
            ("Novo beneficiário", "PayeeAdd"),
            ("Adiciona um beneficiário", "PayeeAdd"),
            ("Muda a minha morada", "ProfileChange"),
            ("Quero mudar o meu telefone", "ProfileChange"),
            ("Não mudes a minha morada", ""),
            ("Aumenta o meu limite", ""),
        ],
    );
}

#[test]
fn italian() {
    check(
        "it",
        &[
            (
                "Blocca la mia carta che finisce con 0077",
                "CardFreeze 0077",
            ),
            ("Puoi bloccare la mia carta?", "CardFreeze"),
            ("Blocca la mia carta, l'ho persa", "CardFreeze"),
            ("Blocca la mia carta / sbloccala", "CardUnfreeze"),
            ("Sblocca la carta che finisce con 0077", "CardUnfreeze 0077"),
            ("Non bloccare la mia carta", ""),
            ("La mia carta è stata bloccata", ""),
            ("Blocca la mia carta / no, lascia stare", ""),
            ("Se la perdo, blocca la mia carta", ""),
            ("Contesta il pagamento Nordwind", "Dispute found"),
            ("Non riconosco i 64,10 di Nordwind", "Dispute found"),
            ("Rimborsa il pagamento di Bob", "Refund found"),
            (
                "Imposta un bonifico periodico di 25 a Mum ogni mese",
                "order Some(2500)",
            ),
            (
                "Cambia il bonifico periodico a Landlord a 900",
                "OrderChange rent 90000",
            ),
            (
                "Annulla il bonifico periodico a Landlord",
                "OrderCancel rent",
            ),
            ("Non annullare il bonifico periodico a Landlord", ""),
            ("Nuovo beneficiario", "PayeeAdd"),
            ("Aggiungi un beneficiario", "PayeeAdd"),
            ("Cambia il mio indirizzo", "ProfileChange"),
            ("Vorrei cambiare il mio numero di telefono", "ProfileChange"),
            ("Non cambiare il mio indirizzo", ""),
            ("Alza il mio limite", ""),
        ],
    );
}

#[test]
fn dutch() {
    check(
        "nl",
        &[
            ("Blokkeer mijn kaart eindigend op 0077", "CardFreeze 0077"),
            ("Kun je mijn pas blokkeren?", "CardFreeze"),
            ("Blokkeer mijn pas, ik ben hem kwijt", "CardFreeze"),
            ("Blokkeer mijn pas / deblokkeer hem", "CardUnfreeze"),
            ("Deblokkeer de kaart eindigend op 0077", "CardUnfreeze 0077"),
            ("Blokkeer mijn pas niet", ""),
            ("Mijn pas is geblokkeerd", ""),
            ("Blokkeer mijn pas / nee, laat maar", ""),
            ("Als ik hem verlies, blokkeer mijn pas", ""),
            ("Betwist de betaling aan Nordwind", "Dispute found"),
            ("De 64,10 bij Nordwind herken ik niet", "Dispute found"),
            ("Stort de betaling van Bob terug", "Refund found"),
            (
                "Stel een periodieke overschrijving in van 25 naar Mum elke maand",
                "order Some(2500)",
            ),
            (
                "Wijzig de periodieke overschrijving naar Landlord naar 900",
                "OrderChange rent 90000",
            ),
            (
                "Annuleer de periodieke overschrijving naar Landlord",
                "OrderCancel rent",
            ),
            (
                "Annuleer de periodieke overschrijving naar Landlord niet",
                "",
            ),
            ("Nieuwe begunstigde", "PayeeAdd"),
            ("Voeg een begunstigde toe", "PayeeAdd"),
            ("Wijzig mijn adres", "ProfileChange"),
            ("Ik wil mijn telefoonnummer wijzigen", "ProfileChange"),
            ("Wijzig mijn adres niet", ""),
            ("Verhoog mijn limiet", ""),
        ],
    );
}

#[test]
fn polish() {
    check(
        "pl",
        &[
            ("Zablokuj moją kartę o końcówce 0077", "CardFreeze 0077"),
            ("Czy możesz zablokować moją kartę?", "CardFreeze"),
            ("Zablokuj moją kartę, zgubiłem ją", "CardFreeze"),
            ("Zablokuj moją kartę / odblokuj ją", "CardUnfreeze"),
            ("Odblokuj kartę o końcówce 0077", "CardUnfreeze 0077"),
            ("Nie blokuj mojej karty", ""),
            ("Moja karta została zablokowana", ""),
            ("Zablokuj moją kartę / nie, jednak nie", ""),
            ("Jeśli ją zgubię, zablokuj moją kartę", ""),
            ("Zareklamuj płatność Nordwind", "Dispute found"),
            ("Nie rozpoznaję 64,10 w Nordwind", "Dispute found"),
            ("Zwróć płatność od Boba", "Refund found"),
            (
                "Ustaw zlecenie stałe 25 dla Mum co miesiąc",
                "order Some(2500)",
            ),
            (
                "Zmień zlecenie stałe dla Landlord na 900",
                "OrderChange rent 90000",
            ),
            ("Anuluj zlecenie stałe dla Landlord", "OrderCancel rent"),
            ("Nie anuluj zlecenia stałego dla Landlord", ""),
            ("Nowy odbiorca", "PayeeAdd"),
            ("Dodaj nowego odbiorcę", "PayeeAdd"),
            ("Zmień mój adres", "ProfileChange"),
            ("Chcę zmienić numer telefonu", "ProfileChange"),
            ("Nie zmieniaj mojego adresu", ""),
            ("Podnieś mój limit", ""),
        ],
    );
}

#[test]
fn an_act_that_was_asked_for_is_the_one_that_counts() {
    let acts = in_language("en", &["Freeze my debit card", "unfreeze it"]).acts;
    assert_eq!(acts.len(), 1);
    assert_eq!(acts[0].act, Act::CardUnfreeze);
}
