//! Text that poses as something to press: markup, boxes, buttons. A reply is words, and looks like words.

use std::sync::LazyLock;

use regex::Regex;

/// Markup. The page draws text and would show it as it is; without it nothing reads like a page.
static TAG: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?is)<!--.{0,4000}?-->|<(?:script|style)\b.{0,4000}?</(?:script|style)\s*>|</?[a-z!?][^<>]{0,400}>")
        .expect("a pattern of ours")
});
/// A picture or a link of Markdown. Its address stays visible and is marked as what it is.
static MARKDOWN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"!?\[([^\[\]]{0,200})\]\(\s*<?([^()\s<>]{1,400})>?[^()]{0,100}\)")
        .expect("a pattern of ours")
});
/// A word or a few in a button's brackets, such as the card's own.
static BUTTON: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)[\[【〔⟦「『❲［]{1,2}\s*((?:confirm|send|pay|approve|ok|okay|yes|keep|cancel|freeze|accept|continue|bestätigen|senden|zahlen|überweisen|genehmigen|ja|weiter|confirmer|envoyer|payer|valider|oui|continuer|confirmar|enviar|pagar|aceptar|aprobar|sí|continuar|conferma|invia|paga|approva|sì|continua|bevestigen|versturen|betalen|doorgaan|potwierdź|wyślij|zapłać|zatwierdź|tak|dalej|aprovar|sim|aceitar)\b[^\[\]【】\n]{0,60}?)\s*[\]】〕⟧」』❳］]{1,2}").expect("a pattern of ours")
});

/// A text without markup, boxes and buttons' brackets. What remains of them is their words.
#[must_use]
pub fn plain(text: &str) -> String {
    let text = TAG.replace_all(text, "");
    let text = MARKDOWN.replace_all(&text, "$1 $2");
    let text = BUTTON.replace_all(&text, "$1");
    text.chars().filter(|c| !is_drawing(*c)).collect()
}

/// Lines, blocks, boxes to tick and buttons of the symbol fonts.
const fn is_drawing(character: char) -> bool {
    matches!(
        character,
        '\u{2500}'..='\u{259F}' | '\u{2610}'..='\u{2612}' | '\u{1F532}'..='\u{1F533}' | '\u{1F518}' | '\u{23CE}'
            | '\u{1FB00}'..='\u{1FBAF}'
    )
}
