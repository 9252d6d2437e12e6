//! The words of a claim, in the eight languages of the chat: acts, what they are about, and what turns a sentence.

use std::{collections::HashMap, sync::LazyLock};

use super::Act;

/// Words that report an act as finished. Verbs of the first person stand in [`I_DID`].
const FINISHED: &[(Act, &str)] = &[
    (
        Act::Transfer,
        "sent paid transferred moved wired repaid remitted transmitted posted credited debited dispatched
         überwiesen gesendet bezahlt versendet verschickt gezahlt gebucht abgebucht gutgeschrieben abgeschickt geschickt
         überbucht umgebucht angewiesen beglichen
         réglé acheminé transmis débité crédité
         girado abonado cargado mandado depositado
         mandato accreditato addebitato versato bonificato
         afgeschreven bijgeschreven verzonden voldaan
         mandado creditado debitado depositado
         opłacony zapłacony przekazany przesłany zaksięgowany przekazano przesłano zaksięgowano
         envoyé envoyée envoyés viré virée payé payée transféré transférée versé
         enviado enviada pagado pagada transferido transferida
         pago paga
         inviato inviata inviati trasferito trasferita pagato pagata versato
         overgemaakt verstuurd betaald gestuurd overgeschreven overgeboekt
         wysłano wysłane wysłany wysłana przelano przelane zapłacono opłacono",
    ),
    (
        Act::Freeze,
        "frozen froze blocked locked suspended gesperrt eingefroren blockiert bloquée bloqué gelée gelé bloqueada bloqueado congelada congelado
         bloccata bloccato congelata sospesa geblokkeerd bevroren zablokowano zablokowana zablokowane zamrożono zamrożona",
    ),
    (
        Act::Unfreeze,
        "unfrozen unblocked unlocked reactivated entsperrt freigegeben débloquée débloqué dégelée desbloqueada desbloqueado descongelada
         sbloccata sbloccato gedeblokkeerd odblokowano odblokowana odblokowane",
    ),
    (
        Act::Cancel,
        "cancelled canceled withdrawn revoked storniert zurückgenommen widerrufen abgebrochen annulé annulée
         cancelado cancelada anulado anulada annullato annullata revocato geannuleerd ingetrokken
         anulowano anulowane anulowany anulowana odwołano odwołany wycofano wycofany wstrzymano wstrzymany undone
         gekündigt aufgehoben gestoppt résilié arrêté revocado interrumpido disdetto revogado opgezegd stopped",
    ),
    (
        Act::Dispute,
        "disputed filed lodged reklamiert beanstandet contesté contestée contestado contestada disputado
         contestato contestata betwist zareklamowano zgłoszono",
    ),
    (
        Act::Refund,
        "refunded reimbursed reversed recalled erstattet zurückerstattet zurückgeholt zurückgebucht zurückgezahlt
         remboursé remboursée récupéré reembolsado reembolsada devuelto devuelta recuperado devolvido devolvida
         rimborsato rimborsata restituito recuperato terugbetaald teruggehaald teruggestort teruggeboekt
         zwrócono zwrócone zwrócona odzyskano",
    ),
    (
        Act::Order,
        "scheduled booked ordered eingeplant terminiert bestellt gebucht reservado pedido encargado commandé réservé ordinato
         prenotato besteld geboekt zamówiono zamówiony zarezerwowano scheduled programado programada agendado agendada programmato programmata ingepland gepland zaplanowano
         zaplanowane geplant programmé programmée planifié",
    ),
    (
        Act::Any,
        "executed confirmed completed processed done activated authorised authorized signed authenticated cleared deactivated approved finalised finalized settled
         ausgeführt erledigt bestätigt freigegeben genehmigt autorisiert unterschrieben abgeschlossen durchgeführt vollzogen veranlasst freigeschaltet
         autorisé signé approuvé traité terminé confirmé confirmée effectué effectuée exécuté exécutée validé validée réalisé
         autorizado firmado aprobado tramitado procesado hecho ejecutado ejecutada completado completada confirmado confirmada realizado realizada efectuado
         autorizado assinado aprovado processado feito feita concluído concluída efetuado efetuada executado
         autorizzato firmato approvato elaborato concluso confermato confermata fatto eseguito eseguita effettuato effettuata completato completata
         bevestigd uitgevoerd gedaan voltooid afgerond verwerkt goedgekeurd geautoriseerd ondertekend geregeld
         autoryzowano autoryzowany zatwierdzony załatwiono załatwiony zakończony zrobiony zrobione wykonano wykonane wykonany potwierdzono potwierdzone zrealizowano zrealizowany zatwierdzono",
    ),
];

/// What a hand does to a button. Only where somebody says that they did it: "I pressed Confirm for you".
const PRESSED: &str = "pressed tapped clicked hit pushed gedrückt getippt geklickt angeklickt angetippt betätigt appuyé cliqué tapé validé
     pulsado presionado apretado clicado tocado premido pressionado clicado carregado premuto cliccato schiacciato toccato
     gedrukt geklikt aangeklikt ingedrukt getikt";

/// Verbs of the first person: they say both what was done and who did it.
const I_DID: &[(Act, &str)] = &[
    (
        Act::Transfer,
        "enviei transferi paguei mandei depositei envié transferí pagué mandé giré aboné inviai pagai przekazałem przekazałam przesłałem
         przesłałam opłaciłem opłaciłam wysłałem wysłałam przelałem przelałam zapłaciłem zapłaciłam",
    ),
    (
        Act::Freeze,
        "bloqueei bloqueé congelé congelei zablokowałem zablokowałam zamroziłem zamroziłam",
    ),
    (
        Act::Unfreeze,
        "desbloqueei desbloqueé odblokowałem odblokowałam",
    ),
    (
        Act::Cancel,
        "cancelei cancelé anulé anulei anulowałem anulowałam odwołałem odwołałam wycofałem wycofałam wstrzymałem wstrzymałam revoqué revoguei",
    ),
    (
        Act::Dispute,
        "contestei disputé reklamowałem zareklamowałem zareklamowałam zgłosiłem zgłosiłam",
    ),
    (
        Act::Refund,
        "reembolsei reembolsé devolví devolvi recuperé recuperei zwróciłem zwróciłam odzyskałem odzyskałam",
    ),
    (
        Act::Order,
        "programé agendei programei reservé reservei pedi encargué encomendei zaplanowałem zaplanowałam zamówiłem zamówiłam
         zarezerwowałem",
    ),
    (
        Act::Any,
        "confirmei confirmé ejecuté realicé completé executei concluí realizei potwierdziłem potwierdziłam zrealizowałem wykonałem wykonałam zrobiłem zrobiłam zatwierdziłem zatwierdziłam
         autoricé autorizei firmé assinei pulsé presioné apreté cliqué carreguei premi pressionei cliquei nacisnąłem nacisnęłam kliknąłem
         kliknęłam wcisnąłem wcisnęłam autoryzowałem załatwiłem załatwiłam",
    ),
];

/// Words that report a change, and are a claim only beside what was changed: a limit, an address, an order.
const CHANGED: &str = "raised increased lifted lowered reduced changed updated set added saved opened ended removed deleted submitted adjusted
     started stopped created registered reset
     erhöht angehoben gesenkt geändert aktualisiert gesetzt hinzugefügt gespeichert eröffnet beendet gelöscht eingereicht angepasst eingerichtet
     augmenté augmentée relevé relevée baissé changé changée modifié modifiée actualisé ajouté ajoutée enregistré ouvert ouverte supprimé supprimée déposé déposée
     aumentado aumentada subido elevado bajado reducido cambiado cambiada modificado modificada actualizado actualizada añadido agregado guardado abierto abierta eliminado eliminada presentado presentada
     alterado alterada mudado atualizado atualizada adicionado adicionada aberto aberta removido removida apresentado apresentada
     alzato alzata aumentato aumentata abbassato ridotto cambiato cambiata modificato modificata aggiornato aggiunto aggiunta aperto aperta eliminato eliminata presentato presentata impostato impostata
     verhoogd verlaagd gewijzigd veranderd aangepast toegevoegd opgeslagen geopend verwijderd ingediend ingesteld beëindigd stopgezet
     podniesiono podniesiony zwiększono zwiększony obniżono zmieniono zmieniony zaktualizowano dodano otwarto usunięto złożono ustawiono zakończono";

/// The same in the first person.
const I_CHANGED: &str = "aumenté subí elevé cambié modifiqué actualicé añadí agregué abrí eliminé presenté
     aumentei subi elevei alterei mudei atualizei adicionei abri removi apresentei
     podniosłem podniosłam zwiększyłem zwiększyłam obniżyłem zmieniłem zmieniłam zaktualizowałem dodałem dodałam otworzyłem usunąłem usunęłam złożyłem złożyłam ustawiłem ustawiłam";

/// Words that say that a request was made and waits.
const PREPARED: &str = "prepared queued drafted vorbereitet préparé préparée préparés préparées preparado preparada preparados
     preparato preparata preparati klaargezet klaargemaakt voorbereid przygotowano przygotowany przygotowana przygotowane
     preparei przygotowałem przygotowałam";

/// Words that say so only of a payment, a request and the like, or of an amount.
const READY: &str = "ready waiting waits awaiting bereit wartet prêt prête prêts prêtes attend attendent listo lista listos espera esperando
     pronto pronta prontos aguarda aguardando aspetta attesa klaar wacht wachten gotowy gotowa gotowe czeka czekają";

/// Things a request is about. `Any` is a request of an unnamed kind.
const ABOUT: &[(Act, &str)] = &[
    (
        Act::Transfer,
        "payment payments transfer transfers money zahlung überweisung geld paiement virement argent transferencia dinero pago pagos
         pagamento transferência dinheiro bonifico trasferimento soldi betaling overschrijving overboeking geld przelew przelewu płatność płatności pieniądze",
    ),
    (
        Act::Freeze,
        "freeze block sperre sperrung blocage opposition bloqueo bloqueio blocco blokkade blokada blokadę",
    ),
    (
        Act::Dispute,
        "dispute complaint claim reklamation beanstandung litige contestation réclamation disputa reclamación reclamação contestação
         contestazione reclamo geschil betwisting klacht reklamacja reklamację reklamacji spór",
    ),
    (
        Act::Refund,
        "refund erstattung rückzahlung remboursement reembolso devolución devolução rimborso terugbetaling zwrot",
    ),
    (
        Act::Order,
        "standing dauerauftrag permanent permanente periodico doorlopende periodieke stałe zlecenie zlecenia",
    ),
    (
        Act::Limit,
        "limit limits tageslimit plafond límite limite limiet daglimiet limitu limity",
    ),
    (
        Act::Payee,
        "payee recipient empfänger bénéficiaire beneficiario beneficiário begunstigde ontvanger odbiorca odbiorcę",
    ),
    (
        Act::Profile,
        "address pin password phone email adresse passwort kennwort telefonnummer téléphone dirección contraseña teléfono
         endereço senha telefone indirizzo password telefono adres wachtwoord telefoonnummer hasło telefon adresu",
    ),
    (
        Act::Any,
        "request order it everything all auftrag antrag es alles demande ordre tout cela solicitud orden todo pedido ordem tudo
         richiesta ordine tutto verzoek opdracht het wniosek dyspozycja dyspozycję wszystko to",
    ),
];

/// Cards are things that wait as well, but no word for a card makes "ready" a claim: new ones are sent by post.
const CARDS: &str = "card karte carte tarjeta cartão carta kaart karta";

/// Words that deny or defer, wherever they stand in their clause.
const DENIES: &str = "not no nothing never none cannot can't cant won't will would could yet nicht nichts kein keine keinen nie wird werden
     pas rien aucun aucune jamais sera seront nada nunca ninguna ningún no será não ninguém nenhum nenhuma
     non niente nulla nessun nessuna sarà verrà niet niets geen nooit wordt zal nic nigdy nie zostanie będzie
     can may might could shall should verrà verranno saranno seront serán serão zostaną będą zullen worden sollen würde würden pourra podrá poderá potrà könnte
     kann können möchten soll peux puis pouvez puedo puede posso può possiamo kan mag mogę może można chcesz";

/// Words of a condition.
const CONDITIONS: &str = "once until unless if when before after wenn sobald bis bevor falls quand lorsque dès avant cuando hasta
     quando finché prima zodra voordat als gdy jeśli kiedy dopóki zanim jak";

/// Words that make a report of what the customer did; harmless behind the act, and where the assistant speaks of itself.
const OF_THE_CUSTOMER: &str =
    "you you've be sie du vous tu usted ustedes tú si lei você vocês jij u jullie pan pani";

/// Forms of "to be" that are no future: "the payment is done". Beside [`super::Act::Freeze`] and the like they tell how
/// things stand.
const BEING: &str =
    "is are ist sind est sont está están estão è sono é são es son zijn jest są that's it's";

/// Words of a habit, or of a list: "the rent is paid on the first of every month".
const HABITS: &str = "every each monthly weekly yearly quarterly usually always automatically normally first last jeden jede jedes monatlich
     wöchentlich jährlich immer automatisch gewöhnlich chaque mensuel mensuellement toujours automatiquement cada mensual mensualmente
     siempre automáticamente todos todas ogni mensile mensilmente sempre automaticamente elke iedere maandelijks wekelijks altijd
     automatisch mensalmente semanalmente automaticamente każdego co miesiąc zawsze automatycznie by von par por da door przez
     when how only nur seulement sólo solo só soltanto alleen tylko same";

/// Words with which the assistant speaks of itself.
const OF_ITSELF: &str =
    "i i've we we've ich wir j'ai nous he hemos ho abbiamo ik wij heb hebben tenho temos";

/// Words that make a sentence a report of something that happened: "was sent", "is now frozen".
const HAPPENED: &str = "been was were now just already got gone hereby successfully wurde wurden jetzt été maintenant sido fue ahora stato stata stati state
     ora adesso già werd werden nu foi foram agora já został została zostało zostały teraz już déjà ya quedó quedado has have gotten
     bereits schon soeben gerade eben hiermit vient désormais quedan acaba acabo appena reeds zojuist zonet al acabou właśnie";

/// Words that are a claim when a sentence begins with them: "Sent 20 to Bob".
const BEGINS: &str = "sent done transferred frozen cancelled canceled refunded confirmed completed erledigt gesendet überwiesen envoyé
     hecho enviado paid wysłano wysłane zrobione przelano gedaan verstuurd overgemaakt betaald feito inviato fatto pagato
     effectué viré ejecutado versendet ausgeführt anulowano cancelado storniert annulé annullato geannuleerd";

/// Words that are a claim on their own.
const ALONE: &str =
    "done erledigt hecho listo feito fatto gedaan klaar gotowe zrobione completed sent fertig";

/// Words of a readiness that is the assistant's own: "I am prepared to help".
const READY_ITSELF: &str = "am i'm bin estoy estou sono suis ben jestem";

/// Words that open a question.
const ASKS: &str = "shall should do does did may can could want would was were is are has have soll sollen möchten darf kann wollen dürfen dois voulez
     souhaitez puis faut quiere quieres desea deseas debo puedo vuole vuoi devo posso wilt wil zal mag moet czy quer deseja podemos est ist is";

/// Turns of phrase that report an act as done, and what they are about.
pub(super) const PHRASES: &[(&str, Act)] = &[
    ("on its way", Act::Transfer),
    ("gone through", Act::Any),
    ("went through", Act::Any),
    ("has left your account", Act::Transfer),
    ("all taken care of", Act::Any),
    ("taken care of it", Act::Any),
    ("money is back", Act::Refund),
    ("c'est fait", Act::Any),
    ("unterwegs", Act::Transfer),
    ("en route", Act::Transfer),
    ("en camino", Act::Transfer),
    ("a caminho", Act::Transfer),
    ("in arrivo", Act::Transfer),
    ("onderweg", Act::Transfer),
    ("w drodze", Act::Transfer),
    ("on the way", Act::Transfer),
    ("has reached", Act::Transfer),
    ("have reached", Act::Transfer),
    ("has arrived", Act::Transfer),
    ("have arrived", Act::Transfer),
    ("has gone out", Act::Transfer),
    ("has been taken care of", Act::Any),
    ("consider it done", Act::Any),
    ("geld ist raus", Act::Transfer),
    ("ist angekommen", Act::Transfer),
    ("argent est parti", Act::Transfer),
    ("virement est parti", Act::Transfer),
    ("est bien arrivé", Act::Transfer),
    ("dinero ya salió", Act::Transfer),
    ("dinero ha llegado", Act::Transfer),
    ("dinero ya ha salido", Act::Transfer),
    ("soldi sono partiti", Act::Transfer),
    ("soldi sono arrivati", Act::Transfer),
    ("bonifico è partito", Act::Transfer),
    ("geld is aangekomen", Act::Transfer),
    ("geld is weg", Act::Transfer),
    ("dinheiro já saiu", Act::Transfer),
    ("dinheiro chegou", Act::Transfer),
    ("pieniądze poszły", Act::Transfer),
    ("pieniądze dotarły", Act::Transfer),
    ("przelew poszedł", Act::Transfer),
    ("przelew dotarł", Act::Transfer),
];

/// What one word can say. A word of several languages may say several things.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Senses {
    pub finished: Option<Act>,
    pub i_did: Option<Act>,
    pub pressed: bool,
    pub being: bool,
    pub habit: bool,
    pub changed: bool,
    pub i_changed: bool,
    pub prepared: bool,
    pub ready: bool,
    pub about: Option<Act>,
    pub card: bool,
    pub denies: bool,
    pub condition: bool,
    pub of_the_customer: bool,
    pub of_itself: bool,
    pub happened: bool,
    pub begins: bool,
    pub alone: bool,
    pub ready_itself: bool,
    pub asks: bool,
}

static SENSES: LazyLock<HashMap<&'static str, Senses>> = LazyLock::new(|| {
    let mut senses: HashMap<&'static str, Senses> = HashMap::new();
    let mut mark = |words: &'static str, set: &dyn Fn(&mut Senses)| {
        for word in words.split_whitespace() {
            set(senses.entry(word).or_default());
        }
    };
    for (act, words) in FINISHED {
        mark(words, &|word| word.finished = Some(*act));
    }
    for (act, words) in I_DID {
        mark(words, &|word| word.i_did = Some(*act));
    }
    for (act, words) in ABOUT {
        mark(words, &|word| word.about = Some(*act));
    }
    mark(PRESSED, &|word| word.pressed = true);
    mark(BEING, &|word| word.being = true);
    mark(HABITS, &|word| word.habit = true);
    mark(CHANGED, &|word| word.changed = true);
    mark(I_CHANGED, &|word| word.i_changed = true);
    mark(PREPARED, &|word| word.prepared = true);
    mark(READY, &|word| word.ready = true);
    mark(CARDS, &|word| word.card = true);
    mark(DENIES, &|word| word.denies = true);
    mark(CONDITIONS, &|word| word.condition = true);
    mark(OF_THE_CUSTOMER, &|word| word.of_the_customer = true);
    mark(OF_ITSELF, &|word| word.of_itself = true);
    mark(HAPPENED, &|word| word.happened = true);
    mark(BEGINS, &|word| word.begins = true);
    mark(ALONE, &|word| word.alone = true);
    mark(READY_ITSELF, &|word| word.ready_itself = true);
    mark(ASKS, &|word| word.asks = true);
    senses
});

/// Endings of one participle that agrees with its noun.
const AGREEMENT: [&[&str]; 9] = [
    &["ado", "ada", "ados", "adas"],
    &["ido", "ida", "idos", "idas"],
    &["é", "ée", "és", "ées"],
    &["ato", "ata", "ati", "ate"],
    &["uto", "uta", "uti", "ute"],
    &["any", "ana", "ane", "ano"],
    &["ony", "ona", "one", "ono"],
    &["to", "ta", "tos", "tas", "ti", "te"],
    &["cho", "cha", "chos", "chas"],
];

/// What a word, in lower case, can say; a participle as well where only another of its forms is listed.
pub(super) fn senses(word: &str) -> Senses {
    let listed = SENSES.get(word).copied();
    let mut senses = listed.unwrap_or_default();
    if senses.finished.is_none() && senses.i_did.is_none() && !senses.changed {
        let forms = AGREEMENT.iter().flat_map(|family| {
            let stems = family.iter().filter_map(|ending| word.strip_suffix(ending));
            stems.flat_map(|stem| family.iter().map(move |ending| format!("{stem}{ending}")))
        });
        for form in forms {
            if let Some(other) = SENSES.get(form.as_str()) {
                senses.finished = senses.finished.or(other.finished);
                senses.changed |= other.changed;
                senses.prepared |= other.prepared;
                senses.pressed |= other.pressed;
            }
        }
    }
    senses.denies |= word.ends_with("n't");
    senses
}
