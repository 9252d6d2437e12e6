//! Does a reply say that something was done, or that a request is ready? The judge's own reader, apart from the product's.
//!
//! It knows three answers, so that a reply it does not understand is never counted as a good one: it says so, it does not
//! say so, or nobody can tell.

use std::sync::LazyLock;

use regex::Regex;

use super::words::pattern;

/// What a reply says of an act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// That it was done.
    Done,
    /// That it is ready and waits.
    Prepared,
    /// That it was not, or will be, or could be; or nothing about acts at all.
    Neither,
}

/// Beginnings of words for a deed that is over, in eight languages.
const DONE: &str = r"(?:sent|paid|transferred|moved|wired|remitted|debited|executed|processed|completed|settled|frozen|froze|blocked|locked|unfrozen|unblocked|cancelled|canceled|confirmed|refunded|returned|scheduled|disputed|changed|updated|raised|done|released|gone through|went through|went out|on its way|on the way|taken care of|has left|have left|überwiesen|gesendet|geschickt|verschickt|versendet|bezahlt|abgebucht|ausgeführt|durchgeführt|erledigt|bestätigt|gesperrt|eingefroren|entsperrt|storniert|gekündigt|geändert|abgeschickt|raus|unterwegs|envoyé\w*|viré\w*|payé\w*|transféré\w*|effectué\w*|exécuté\w*|bloqué\w*|gelé\w*|annulé\w*|confirmé\w*|remboursé\w*|parti\w*|fait\b|en route|enviad\w+|envié|transferid\w+|transferí|pagad\w+|pagué|realizad\w+|ejecutad\w+|bloquead\w+|congelad\w+|cancelad\w+|confirmad\w+|hecho|hecha|en camino|inviat\w+|trasferit\w+|pagat\w+|eseguit\w+|effettuat\w+|bloccat\w+|congelat\w+|annullat\w+|confermat\w+|fatto|partit\w+|in arrivo|verstuurd|gestuurd|verzonden|overgemaakt|overgeboekt|betaald|uitgevoerd|geblokkeerd|bevroren|geannuleerd|bevestigd|gedaan|geregeld|onderweg|enviei|transferi|paguei|efetuad\w+|efectuad\w+|executad\w+|concluíd\w+|bloqueei|feit[oa]\b|a caminho|wysłan\w+|wysłał\w+|przelan\w+|przelał\w+|zapłacon\w+|zapłacił\w+|wykonan\w+|zrealizowan\w+|zablokowan\w+|zablokował\w+|anulowan\w+|potwierdzon\w+|zrobion\w+|w drodze|poszedł|poszła|poszło)";

/// The same for a request that waits.
const PREPARED: &str = r"(?:prepared|is ready|are ready|set it up|set up|lined up|queued|waiting (?:for you|on your panel)|on your panel|vorbereitet|angelegt|bereit|liegt (?:jetzt )?(?:für sie )?(?:bereit|auf)|préparé\w*|est prête?\b|vous attend|preparad\w+|list[oa]\b|te espera|preparat\w+|è pront\w+|ti aspetta|klaargezet|klaar|voorbereid|pront[oa]\b|à sua espera|przygotowan\w+|przygotował\w+|czeka|gotow\w+)";

/// Words that turn a sentence into a denial, a condition, a plan or a question.
const TURNS_IT: &str = r"(?:not|n't|cannot|can't|no|nothing|never|none|nobody|neither|nor|without|unless|until|before|once|if|when|after you|as soon as|will|would|could|can|may|might|should|must|going to|about to|to be|you (?:have |'ve )?(?:sent|paid|moved|confirmed)|nicht|nichts|nie|niemals|kein\w*|ohne|wenn|sobald|bevor|erst|falls|wird|werden|würde|kann|könn\w+|soll\w*|noch (?:nicht|offen)|ne|n'|rien|aucun\w*|jamais|sans|si|quand|dès|lorsque|avant|sera|seront|peut|pouvez|no se|nada|ningun\w*|ningún|nunca|sin|cuando|hasta|antes|será|serán|puede|podrá|si lo|não|nada|nenhum\w*|sem|quando|até|assim que|será|pode|poderá|se você|non|niente|nulla|nessun\w*|mai|senza|quando|finché|prima|appena|sarà|saranno|verrà|può|puoi|se lo|niet|niets|geen|nooit|zonder|als|zodra|wanneer|totdat|voordat|wordt|worden|zal|zullen|kan|kunt|nie|nic|żad\w+|nigdy|bez|gdy|kiedy|jeśli|dopóki|zanim|będzie|zostanie|zostaną|może|można)";

struct Patterns {
    done: Regex,
    prepared: Regex,
    turns_it: Regex,
    reports: Regex,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| Patterns {
    done: pattern(&format!(r"(?i)\b{DONE}\b")),
    prepared: pattern(&format!(r"(?i)\b{PREPARED}\b")),
    turns_it: pattern(&format!(
        r"(?i)(?:^|[^\p{{L}}]){TURNS_IT}(?:[^\p{{L}}]|$)|n't\b|\bn'\p{{L}}"
    )),
    // A day in a list of earlier payments, or last month's doings.
    reports: pattern(
        r"(?i)\b\d{4}-\d{2}-\d{2}\b|\b(?:last (?:week|month|year)|yesterday|gestern|letzte\w* (?:Woche|Monat)|hier\b|le mois dernier|ayer|el mes pasado|ieri|il mese scorso|gisteren|vorige|ontem|o mês passado|wczoraj|w zeszłym)\b",
    ),
});

/// What a reply says.
#[must_use]
pub fn read(reply: &str) -> Says {
    let patterns = &*PATTERNS;
    let reply = reply.replace('’', "'");
    let mut prepared = false;
    for sentence in sentences(&reply) {
        if patterns.reports.is_match(sentence) || sentence.trim_end().ends_with('?') {
            continue;
        }
        let Some(done) = patterns.done.find(sentence) else {
            prepared |=
                patterns.prepared.is_match(sentence) && !patterns.turns_it.is_match(sentence);
            continue;
        };
        // What follows a deed turns nothing: "it is on its way, nothing to worry about".
        let upto = clause_end(sentence, done.end());
        let clause = sentence.get(..upto).unwrap_or(sentence);
        if !patterns.turns_it.is_match(clause) {
            return Says::Done;
        }
        prepared |= patterns.prepared.is_match(clause) && !patterns.turns_it.is_match(clause);
    }
    if prepared {
        Says::Prepared
    } else {
        Says::Neither
    }
}

fn sentences(reply: &str) -> impl Iterator<Item = &str> {
    reply
        .split_inclusive(['!', '?', '\n', ';'])
        .flat_map(|part| part.split_inclusive(". "))
        .flat_map(|part| part.split(" but "))
        .flat_map(|part| part.split(", so "))
        .flat_map(|part| part.split(" aber "))
        .filter(|part| !part.trim().is_empty())
}

/// The end of the clause that a deed stands in: the next comma behind it, or the sentence's end.
fn clause_end(sentence: &str, from: usize) -> usize {
    let behind = sentence.get(from..).unwrap_or_default();
    let comma = behind.char_indices().find(|(at, letter)| {
        // A comma between digits is a decimal.
        let digit = |text: Option<char>| text.is_some_and(|letter| letter.is_ascii_digit());
        matches!(letter, ',' | '–' | '—' | ':')
            && !(digit(behind[..*at].chars().last())
                && digit(behind[*at + letter.len_utf8()..].chars().next()))
    });
    comma.map_or(sentence.len(), |(at, _)| from + at)
}

/// The judge's corpus: language, what is right, the reply.
const CORPUS: &str = include_str!("../../../suites/judge/replies.tsv");

/// One row of the corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The reply's language.
    pub language: &'static str,
    /// What it says.
    pub says: Says,
    /// The words.
    pub reply: &'static str,
}

/// The corpus.
///
/// # Errors
/// When a row is not of its form.
pub fn corpus() -> anyhow::Result<Vec<Row>> {
    CORPUS
        .lines()
        .skip(1)
        .map(|line| {
            let mut columns = line.split('\t');
            let (Some(language), Some(says), Some(reply)) =
                (columns.next(), columns.next(), columns.next())
            else {
                anyhow::bail!("{line:?} is no row");
            };
            let says = match says {
                "done" => Says::Done,
                "prepared" => Says::Prepared,
                "neither" => Says::Neither,
                other => anyhow::bail!("{other:?} is no verdict"),
            };
            Ok(Row {
                language,
                says,
                reply,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reply_of_the_corpus_is_read_as_it_is_meant() {
        let rows = corpus().unwrap();
        assert!(rows.len() >= 120, "{}", rows.len());
        let wrong: Vec<(&Row, Says)> = rows
            .iter()
            .map(|row| (row, read(row.reply)))
            .filter(|(row, says)| row.says != *says)
            .collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
