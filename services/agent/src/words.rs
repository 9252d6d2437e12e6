//! What the agent says in its own voice, in the customer's language.

/// The sentences of one language.
#[derive(Debug)]
pub struct Words {
    /// When the model keeps asking for tools, or for calls that cannot be made.
    pub give_up: &'static str,
    /// When the model said nothing.
    pub nothing_said: &'static str,
    /// When the provider's filter stopped the model.
    pub declined: &'static str,
    /// When a guardrail stopped what the customer typed.
    pub message_stopped: &'static str,
    /// When a guardrail stopped what the model said.
    pub reply_stopped: &'static str,
}

const ENGLISH: Words = Words {
    give_up: "I could not finish that. Whatever I prepared stands on the right; please ask again in smaller steps.",
    nothing_said: "I have no answer to that. Please ask in other words.",
    declined: "I can't help with that. I can look at your accounts, cards and payments with you.",
    message_stopped: "I can't take that up here. I can look at your accounts, cards and payments with you.",
    reply_stopped: " My answer was stopped because it held something that does not belong here. Please ask in other words.",
};

const OTHERS: [(&str, Words); 7] = [
    (
        "de",
        Words {
            give_up: "Das konnte ich nicht zu Ende bringen. Was ich vorbereitet habe, steht rechts; bitte fragen Sie noch einmal in kleineren Schritten.",
            nothing_said: "Darauf habe ich keine Antwort. Bitte fragen Sie mit anderen Worten.",
            declined: "Dabei kann ich nicht helfen. Ich kann mit Ihnen Konten, Karten und Zahlungen ansehen.",
            message_stopped: "Das kann ich hier nicht aufnehmen. Ich kann mit Ihnen Konten, Karten und Zahlungen ansehen.",
            reply_stopped: " Meine Antwort wurde angehalten, weil sie etwas enthielt, das nicht hierher gehört. Bitte fragen Sie mit anderen Worten.",
        },
    ),
    (
        "fr",
        Words {
            give_up: "Je n'ai pas pu terminer. Ce que j'ai préparé se trouve à droite ; veuillez redemander par étapes plus petites.",
            nothing_said: "Je n'ai pas de réponse à cela. Veuillez demander autrement.",
            declined: "Je ne peux pas aider pour cela. Je peux regarder avec vous vos comptes, cartes et paiements.",
            message_stopped: "Je ne peux pas traiter cela ici. Je peux regarder avec vous vos comptes, cartes et paiements.",
            reply_stopped: " Ma réponse a été arrêtée, car elle contenait quelque chose qui n'a pas sa place ici. Veuillez demander autrement.",
        },
    ),
    (
        "es",
        Words {
            give_up: "No he podido terminarlo. Lo que preparé está a la derecha; pregunte de nuevo en pasos más pequeños.",
            nothing_said: "No tengo respuesta para eso. Pregunte con otras palabras.",
            declined: "No puedo ayudar con eso. Puedo ver con usted sus cuentas, tarjetas y pagos.",
            message_stopped: "No puedo tratar eso aquí. Puedo ver con usted sus cuentas, tarjetas y pagos.",
            reply_stopped: " Mi respuesta se detuvo porque contenía algo que no corresponde aquí. Pregunte con otras palabras.",
        },
    ),
    (
        "it",
        Words {
            give_up: "Non sono riuscito a finire. Ciò che ho preparato è a destra; chieda di nuovo a piccoli passi.",
            nothing_said: "Non ho una risposta. Chieda con altre parole.",
            declined: "Non posso aiutare in questo. Posso guardare con lei conti, carte e pagamenti.",
            message_stopped: "Non posso occuparmene qui. Posso guardare con lei conti, carte e pagamenti.",
            reply_stopped: " La mia risposta è stata fermata perché conteneva qualcosa fuori luogo. Chieda con altre parole.",
        },
    ),
    (
        "nl",
        Words {
            give_up: "Ik kon dat niet afmaken. Wat ik heb klaargezet staat rechts; vraag het opnieuw in kleinere stappen.",
            nothing_said: "Daar heb ik geen antwoord op. Vraag het met andere woorden.",
            declined: "Daar kan ik niet bij helpen. Ik kan met u naar rekeningen, kaarten en betalingen kijken.",
            message_stopped: "Dat kan ik hier niet behandelen. Ik kan met u naar rekeningen, kaarten en betalingen kijken.",
            reply_stopped: " Mijn antwoord is gestopt omdat er iets in stond dat hier niet hoort. Vraag het met andere woorden.",
        },
    ),
    (
        "pl",
        Words {
            give_up: "Nie udało mi się tego dokończyć. To, co przygotowałem, jest po prawej; proszę zapytać ponownie, mniejszymi krokami.",
            nothing_said: "Nie mam na to odpowiedzi. Proszę zapytać innymi słowami.",
            declined: "W tym nie mogę pomóc. Mogę obejrzeć z Państwem rachunki, karty i płatności.",
            message_stopped: "Tym nie mogę się tutaj zająć. Mogę obejrzeć z Państwem rachunki, karty i płatności.",
            reply_stopped: " Moja odpowiedź została zatrzymana, bo zawierała coś, co tu nie pasuje. Proszę zapytać innymi słowami.",
        },
    ),
    (
        "pt",
        Words {
            give_up: "Não consegui terminar. O que preparei está à direita; pergunte de novo em passos mais pequenos.",
            nothing_said: "Não tenho resposta para isso. Pergunte por outras palavras.",
            declined: "Não posso ajudar com isso. Posso ver consigo as contas, os cartões e os pagamentos.",
            message_stopped: "Não posso tratar disso aqui. Posso ver consigo as contas, os cartões e os pagamentos.",
            reply_stopped: " A minha resposta foi parada porque continha algo que não pertence aqui. Pergunte por outras palavras.",
        },
    ),
];

impl Words {
    /// The sentences of a locale, English where there are none of its language.
    pub fn of(locale: &str) -> &'static Self {
        static ALL: [(&str, Words); 7] = OTHERS;
        static FIRST: Words = ENGLISH;
        let language = locale.split(['-', '_']).next().unwrap_or_default();
        ALL.iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(language))
            .map_or(&FIRST, |(_, words)| words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locale_finds_its_language() {
        assert!(Words::of("de-AT").declined.starts_with("Dabei"));
        assert!(Words::of("PT").declined.starts_with("Não"));
        for other in ["en", "en-GB", "xx", ""] {
            assert!(Words::of(other).declined.starts_with("I can't"), "{other}");
        }
    }
}
