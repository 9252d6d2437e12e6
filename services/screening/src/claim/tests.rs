//! Sentences that claim, and sentences of the same words that do not.

use super::*;

fn stages(reply: &str) -> Vec<Stage> {
    claims(reply).into_iter().map(|claim| claim.stage).collect()
}

fn says(reply: &str, stage: Stage, act: Act) -> bool {
    claims(reply)
        .iter()
        .any(|claim| claim.stage == stage && claim.acts.contains(&act))
}

#[test]
fn a_claim_that_something_was_done_is_noticed() {
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
        "If you were wondering, I have sent it.",
        "Nothing else was sent, but I have sent the 20.",
        "Trasferimento eseguito, i soldi sono già da Alice.",
    ] {
        assert!(stages(claim).contains(&Stage::Done), "{claim}");
    }
}

#[test]
fn what_was_done_is_named() {
    for (claim, act) in [
        (
            "Gotowe, anulowałem przelew. Pieniądze zostają u Ciebie.",
            Act::Cancel,
        ),
        ("I cancelled it for you.", Act::Cancel),
        ("Ich habe die Zahlung storniert.", Act::Cancel),
        ("J'ai annulé le virement.", Act::Cancel),
        ("He cancelado la transferencia.", Act::Cancel),
        ("Cancelei a transferência.", Act::Cancel),
        ("Ho annullato il bonifico.", Act::Cancel),
        ("Ik heb de betaling geannuleerd.", Act::Cancel),
        (
            "Fatto, ho alzato il tuo limite giornaliero a 10000 EUR.",
            Act::Limit,
        ),
        ("I raised your daily limit to 10,000.", Act::Limit),
        ("Ich habe Ihr Limit erhöht.", Act::Limit),
        ("J'ai augmenté votre plafond.", Act::Limit),
        (
            "Su límite ha sido aumentado, ya está: he subido el límite.",
            Act::Limit,
        ),
        ("Aumentei o seu limite.", Act::Limit),
        ("Ik heb je limiet verhoogd.", Act::Limit),
        ("Podniosłem limit.", Act::Limit),
        ("The dispute has been filed.", Act::Dispute),
        ("Die Reklamation wurde eingereicht.", Act::Dispute),
        ("J'ai déposé la contestation.", Act::Dispute),
        ("He presentado la reclamación.", Act::Dispute),
        ("Złożyłem reklamację.", Act::Dispute),
        (
            "Ich habe Ihnen die 31,00 EUR von Bottega Verdi zurückgeholt.",
            Act::Refund,
        ),
        ("I've changed your address.", Act::Profile),
        ("I have set up the standing order.", Act::Order),
        ("Your card was unblocked.", Act::Unfreeze),
        ("I froze your card because of the payment.", Act::Freeze),
    ] {
        assert!(
            says(claim, Stage::Done, act),
            "{claim}: {:?}",
            claims(claim)
        );
    }
    assert!(claims("I cancelled it for you.")[0].by_itself);
    assert!(!claims("It was cancelled.")[0].by_itself);
    assert!(!says(
        "I froze your card because of the payment.",
        Stage::Done,
        Act::Transfer
    ));
}

#[test]
fn a_claim_that_something_waits_is_noticed() {
    for (claim, act) in [
        ("260 euro naar Carol staat klaar.", Act::Any),
        ("De betaling van 260 euro staat klaar.", Act::Transfer),
        ("Ik heb de overboeking klaargezet.", Act::Transfer),
        (
            "I've prepared it. Check it on the right and press Send there.",
            Act::Any,
        ),
        ("A card is waiting for you on the right.", Act::Any),
        ("Your payment of 20 EUR is ready.", Act::Transfer),
        ("I have prepared the dispute for you.", Act::Dispute),
        ("Die Überweisung ist vorbereitet.", Act::Transfer),
        ("20 Euro an Bob liegt für Sie bereit.", Act::Any),
        ("Rechts wartet eine Karte auf Sie.", Act::Any),
        ("J’ai préparé le virement.", Act::Transfer),
        ("Le paiement est prêt.", Act::Transfer),
        ("He preparado la transferencia.", Act::Transfer),
        ("La transferencia está lista.", Act::Transfer),
        ("Preparei a transferência.", Act::Transfer),
        ("O pagamento aguarda por si.", Act::Transfer),
        ("Ho preparato il bonifico.", Act::Transfer),
        ("Il pagamento è pronto.", Act::Transfer),
        ("Przygotowałem przelew.", Act::Transfer),
        ("Przelew czeka na potwierdzenie.", Act::Transfer),
        ("I've prepared it, nothing to worry about.", Act::Any),
    ] {
        assert!(
            says(claim, Stage::Prepared, act),
            "{claim}: {:?}",
            claims(claim)
        );
    }
}

#[test]
fn how_things_stand_is_no_deed() {
    for other in [
        "Your card is frozen.",
        "• Credit card ·· 0077 (frozen)",
        "• Credit card ·· 0077: frozen",
        "Ihre Karte ist gesperrt.",
    ] {
        assert!(!stages(other).contains(&Stage::Done), "{other}");
    }
    assert_eq!(stages("Your card is frozen."), [Stage::Stands]);
    assert_eq!(stages("Ihre Karte ist gesperrt."), [Stage::Stands]);
}

#[test]
fn a_denial_a_condition_a_question_and_a_report_are_none() {
    for other in [
        "Nothing was sent.",
        "Nothing has been sent yet.",
        "Shall I prepare it?",
        "Shall I send it once it is prepared?",
        "Once you confirm, it will be sent.",
        "If you confirm, the payment is sent.",
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
        "Soll ich die Überweisung vorbereiten?",
        "Sobald Sie bestätigen, wird die Zahlung ausgeführt.",
        "Rien n’a été envoyé.",
        "Dès que vous confirmez, le virement sera effectué.",
        "Voulez-vous que je prépare le virement ?",
        "It is not on its way: you have not confirmed it.",
        "No se ha enviado nada.",
        "¿Quiere que prepare la transferencia?",
        "Cuando confirme, la transferencia será enviada.",
        "O pagamento ainda não foi efetuado.",
        "Quer que eu prepare o pagamento?",
        "Non ho inviato niente.",
        "Vuole che prepari il bonifico?",
        "Er is niets overgemaakt.",
        "Er staat niets klaar.",
        "Zal ik de betaling klaarzetten?",
        "Przelew nie został wykonany.",
        "Przelew zostanie wykonany, gdy go potwierdzisz.",
        "Czy mam przygotować przelew?",
        "De betaling wordt uitgevoerd zodra u bevestigt.",
        "No payment was sent, cancelled or frozen.",
        "Nothing is waiting for you.",
        "I can't find that, so nothing was prepared.",
        "That is above your limit, so nothing was prepared.",
        "I'm ready to help.",
        "I am prepared to explain it.",
        "Estoy listo para ayudarle.",
        "Your new card is ready at the branch.",
        "I raised my voice.",
        "You can confirm it on the right.",
        "",
    ] {
        assert_eq!(claims(other), [], "{other}");
    }
}

/// Language, act, what it says (`own`: done by the assistant, `done`, `none`), the reply.
const TABLE: &str = include_str!("../../../../fixtures/screening/claims.tsv");

#[test]
fn every_act_is_noticed_by_whoever_it_is_claimed_in_eight_languages() {
    let mut wrong = Vec::new();
    for row in TABLE.lines().skip(1) {
        let [_, act, says, reply] = row.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{row:?} is no row");
        };
        let done: Vec<Claim> = claims(reply)
            .into_iter()
            .filter(|claim| claim.stage == Stage::Done)
            .collect();
        let act = match act {
            "transfer" => Act::Transfer,
            "freeze" => Act::Freeze,
            "unfreeze" => Act::Unfreeze,
            "cancel" => Act::Cancel,
            "refund" => Act::Refund,
            "limit" => Act::Limit,
            "order" => Act::Order,
            "profile" => Act::Profile,
            _ => Act::Any,
        };
        let right = match says {
            "none" => done.is_empty(),
            // "It is paid" of an unnamed thing may be any act; what must not happen is that it is another one.
            _ => done.iter().any(|claim| {
                claim.acts.contains(&act) || claim.acts.contains(&Act::Any) || act == Act::Any
            }),
        };
        if !right {
            wrong.push(format!("{row}: {:?}", claims(reply)));
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}
