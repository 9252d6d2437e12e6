//! What stands around a place of a view.

/// Characters looked back over for a word that says what a number is.
const CONTEXT_BYTES: usize = 64;

/// Whether a byte belongs to a word or a number. Bytes beyond ASCII do: they spell letters.
pub(super) const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Whether a word ends or nothing stands in front of a place.
pub(super) fn is_free_before(text: &[u8], at: usize) -> bool {
    at == 0 || !is_word(text[at - 1])
}

/// Whether a word begins or nothing stands behind a place.
pub(super) fn is_free_after(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|byte| !is_word(*byte))
}

/// The last word in front of a place, over quotes, colons, spaces and the end of a member name.
pub(super) fn word_before(text: &str, at: usize) -> &str {
    let bytes = text.as_bytes();
    let mut end = at;
    let from = at.saturating_sub(CONTEXT_BYTES);
    while end > from && !is_word(bytes[end - 1]) {
        end -= 1;
    }
    let mut start = end;
    while start > from && (is_word(bytes[start - 1]) || bytes[start - 1] == b'-') {
        start -= 1;
    }
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.get(start..end).unwrap_or_default()
}

/// Whether one of these words (in lower case) stands shortly before a place, whole or inside a longer one
/// such as `cardNumber`.
pub(super) fn has_before(text: &str, at: usize, words: &[&str]) -> bool {
    let from = text.ceil_char_boundary(at.saturating_sub(CONTEXT_BYTES));
    // What a placeholder says is not about the number behind it.
    let from = text[from..at].rfind(']').map_or(from, |end| from + end);
    let lower = text[from..at].to_lowercase();
    words.iter().any(|word| {
        lower.match_indices(word).any(|(position, _)| {
            let before = lower[..position].bytes().next_back();
            before.is_none_or(|byte| !byte.is_ascii_lowercase() || word.len() > 3)
        })
    })
}

/// Whether a name or word says that the number behind it is an id, a time or a count.
pub(super) fn names_an_id(word: &str) -> bool {
    const WHOLE: &[&str] = &[
        "id",
        "ids",
        "uuid",
        "guid",
        "txn",
        "tx",
        "transaction",
        "transfer",
        "order",
        "invoice",
        "tracking",
        "ticket",
        "case",
        "timestamp",
        "time",
        "ts",
        "ms",
        "epoch",
        "nonce",
        "seq",
        "sequence",
        "offset",
        "build",
        "version",
        "serial",
        "hash",
        "barcode",
        "ean",
        "isbn",
        "imei",
        "imsi",
        "iccid",
        "bestellung",
        "auftrag",
        "rechnung",
        "vorgang",
        "commande",
        "facture",
        "pedido",
        "factura",
        "ordine",
        "fattura",
        "bestelling",
        "factuur",
        "zamówienie",
        "faktura",
        "encomenda",
        "fatura",
    ];
    const ENDS: &[&str] = &[
        "_id",
        "Id",
        "ID",
        "-id",
        "_ids",
        "Ids",
        "_ms",
        "Ms",
        "_ts",
        "_at",
        "At",
        "_time",
        "Time",
        "_timestamp",
        "Timestamp",
        "_us",
        "_ns",
        "Millis",
        "_millis",
        "_seq",
        "_uuid",
        "_nr",
        "_hash",
    ];
    let lower = word.to_lowercase();
    WHOLE.contains(&lower.as_str()) || ENDS.iter().any(|end| word.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_before_is_found_over_what_separates() {
        for (text, word) in [
            ("order 12", "order"),
            ("transferId: 12", "transferId"),
            ("booked_at_ms\u{0}12", "booked_at_ms"),
            ("id = \"12", "id"),
            ("zamówienie nr #12", "nr"),
            ("12", ""),
            ("é12", "é"),
        ] {
            let at = text.find("12").unwrap();
            assert_eq!(word_before(text, at), word, "{text}");
        }
    }

    #[test]
    fn a_word_that_says_card_is_found_whole_or_in_front() {
        assert!(has_before("your Card number: 4", 18, &["card"]));
        assert!(has_before("cardNumber\u{0}4", 11, &["card"]));
        assert!(!has_before("span: 4", 6, &["pan"]));
        assert!(has_before("PAN: 4", 5, &["pan"]));
    }
}
