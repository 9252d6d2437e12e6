//! Is a message about something else than money? Only a clear frame ("write me a poem") without any word of banking
//! counts: a complaint about a recipe box is a complaint.

use std::sync::LazyLock;

use regex::RegexSet;

/// Frames of requests that no bank answers.
const FRAMES: &[&str] = &[
    // Texts and programs to be written.
    r"\b(?:write|compose|generate|draft|create|make)\s+(?:me\s+|us\s+)?(?:an?\s+|some\s+|the\s+)?(?:\w+\s+){0,2}(?:poem|song|story|essay|haiku|limerick|novel|joke|rap|python|javascript|java|rust|sql|html|code|script|program|regex|blog|homework|cover letter)\b",
    r"\bschreib(?:e|en sie)?\s+(?:mir\s+|uns\s+)?(?:ein(?:en|e)?\s+)?(?:\w+\s+){0,2}(?:gedicht|lied|geschichte|aufsatz|roman|witz|programm|skript|python|code)\b",
    r"\b(?:écris|écrivez|rédige|rédigez|compose)(?:-moi)?\s+(?:une?\s+)?(?:\w+\s+){0,2}(?:poème|chanson|histoire|dissertation|roman|blague|programme|script|code)\b",
    r"\b(?:escribe|escríbeme|escriba|redacta|compón)\s+(?:una?\s+)?(?:\w+\s+){0,2}(?:poema|canción|historia|ensayo|cuento|novela|chiste|programa|script|código)\b",
    r"\b(?:scrivi|scrivimi|scriva|componi)\s+(?:una?\s+|un')?(?:\w+\s+){0,2}(?:poesia|canzone|storia|saggio|tema|romanzo|barzelletta|programma|script|codice)\b",
    r"\b(?:schrijf|maak)\s+(?:me\s+|voor mij\s+)?(?:een\s+)?(?:\w+\s+){0,2}(?:gedicht|lied|verhaal|opstel|roman|mop|programma|script)\b",
    r"\b(?:napisz|ułóż|stwórz)\s+(?:mi\s+)?(?:\w+\s+){0,2}(?:wiersz|piosenkę|opowiadanie|wypracowanie|esej|powieść|żart|dowcip|program|skrypt|kod)\b",
    r"\b(?:escreva|escreve|escreve-me|componha)\s+(?:uma?\s+)?(?:\w+\s+){0,2}(?:poema|canção|história|redação|ensaio|romance|piada|programa|script|código)\b",
    // Jokes, recipes, games.
    r"\b(?:tell|give)\s+me\s+(?:a|another)\s+(?:joke|story|riddle|recipe)\b",
    r"\b(?:recipe for|rezept für|recette (?:de|du|pour)|receta (?:de|para)|ricetta (?:per|di|della)|recept voor|przepis na|receita (?:de|para))\b",
    r"\b(?:erzähl(?:e)?\s+mir\s+einen\s+witz|raconte(?:z)?-moi\s+une\s+(?:blague|histoire)|cuéntame\s+un\s+(?:chiste|cuento)|raccontami\s+una\s+(?:barzelletta|storia)|vertel\s+(?:me\s+)?een\s+(?:mop|verhaal)|opowiedz\s+mi\s+(?:żart|dowcip|kawał)|conta(?:-me)?\s+uma\s+(?:piada|história))\b",
    // The world at large.
    r"\b(?:who (?:will|is going to) win|capital of|president of|population of|how tall is|how far is the (?:moon|sun)|meaning of life)\b",
    r"\b(?:hauptstadt von|wer gewinnt|wer wird (?:präsident|kanzler)|capitale (?:de|du|della|dell)|qui va gagner|capital (?:de|da|do)|quién ganará|chi vincerà|hoofdstad van|wie wint|stolica (?:polski|francji|niemiec|\w+ii)|kto wygra|quem vai ganhar)\b",
    r"\b(?:weather|wetter|météo|tiempo hará|che tempo fa|weer morgen|pogoda|previsão do tempo|horoscope|horoskop|horóscopo|oroscopo)\b",
    // Health.
    r"\b(?:diagnose|diagnosiere|symptoms|symptome|symptômes|síntomas|sintomi|symptomen|objawy|sintomas|dosage of|headache|kopfschmerzen|mal de tête|dolor de cabeza|mal di testa|hoofdpijn|ból głowy|dor de cabeça)\b",
];

/// Words of banking: with one of them a message is the bank's business, whatever else it says.
const BANKING: &str = r"(?:\b(?:account|acct|card|pay|paid|payee|transfer|money|bank|balance|charg|refund|disput|fee|bill|invoice|subscri|spen[dt]|cost|bought|purchas|merchant|order|iban|loan|mortgage|saving|interest|overdraft|statement|receipt|deposit|withdraw|cash|atm|currency|insur|tax|credit|debit|price|fraud|stolen|limit|konto|karte|zahl|bezahl|überweis|geld|guthaben|saldo|abgebuch|abbuch|erstatt|reklam|gebühr|rechnung|ausgab|ausgegeben|kauf|gekauft|händler|bestell|kredit|zins|dauerauftrag|lastschrift|abos?\b|kost|betrag|betrug|versicher|steuer|compte|carte|paie|payé|payer|virement|argent|banque|solde|débit|rembours|contest|litige|frais|facture|dépens|achat|commerçant|command|prêt|épargne|intérêt|prélèvement|abonnement|assurance|impôt|cuenta|tarjeta|pag|transfer|dinero|banco|cobr|reembols|reclam|disput|comisión|factura|gast|compr|comercio|pedido|préstamo|ahorro|interés|domiciliación|suscri|seguro|impuesto|conto|pagament|bonifico|denaro|soldi|addebit|rimbors|contest|commission|fattura|spes|acquist|negozio|ordin|prestito|risparmi|interess|abbonament|assicura|tasse|rekening|kaart|betal|overschrijv|overboek|geld|afgeschreven|terug|bezwaar|kosten|factuur|uitgegeven|gekocht|winkel|bestel|lening|sparen|rente|incasso|verzeker|belasting|kont|kart|płac|zapłac|przelew|pienią|bank|obciąż|zwrot|reklamac|opłat|faktur|rachun|wyda|kupi|sklep|zamówi|kredyt|oszczęd|odset|subskry|ubezpiecz|podat|(?:minha|a|na|da) conta\b|conta (?:corrente|poupança)|cartão|transfer|dinheiro|cobr|estorn|contest|taxa|fatura|gast|compra|loja|encomend|empréstimo|poupança|juros|débito|assinatura|girokonto|sparkonto|kreditkart|bankkart|eur\b|euros?\b|usd\b|gbp\b|pln\b)|[€$£¥])";

static OFF: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new(FRAMES.iter().map(|frame| format!("(?i){frame}"))).expect("patterns of ours")
});
static ON: LazyLock<regex::Regex> =
    LazyLock::new(|| regex::Regex::new(&format!("(?i){BANKING}")).expect("a pattern of ours"));

/// Whether a message is clearly about something that a bank has no part in.
#[must_use]
pub fn is_off_topic(message: &str) -> bool {
    OFF.is_match(message) && !ON.is_match(message)
}
