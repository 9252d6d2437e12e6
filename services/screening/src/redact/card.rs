//! Payment cards: issuer prefix, length for that issuer, check digit (ISO/IEC 7812), as people write them.

use std::ops::Range;

use super::place::{has_before, is_word, names_an_id, word_before};

/// Shortest and longest card number, in digits.
const DIGITS_MIN: usize = 12;
const DIGITS_MAX: usize = 19;
/// Most characters between two groups of digits.
const GAP_MAX: usize = 3;
/// Groupings that are printed on cards; others are read only when all groups are of one size.
const PRINTED: &[&[u8]] = &[
    &[4, 4, 4, 4],
    &[4, 6, 5],
    &[4, 6, 4],
    &[4, 4, 4, 4, 3],
    &[4, 4, 4, 4, 2],
    &[4, 4, 4, 4, 1],
    &[4, 4, 4, 3],
    &[4, 4, 4, 2],
    &[6, 13],
    &[6, 10],
    &[8, 8],
    &[4, 12],
    &[12, 4],
    &[6, 6, 4],
    &[4, 4, 8],
    &[8, 4, 4],
];
/// Words that say a number is a card's, in lower case.
const CARD_WORDS: &[&str] = &[
    "card",
    "pan",
    "karte",
    "carte",
    "tarjeta",
    "carta",
    "kaart",
    "karta",
    "karty",
    "kartę",
    "cartao",
    "cartão",
    "visa",
    "mastercard",
    "amex",
    "american express",
    "maestro",
    "discover",
    "diners",
    "jcb",
    "unionpay",
];

/// A run of digits and groups of digits that is a card.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Card {
    pub span: Range<usize>,
    pub last_four: [u8; 4],
}

/// One group of digits.
#[derive(Clone, Copy)]
struct Group {
    start: usize,
    end: usize,
}

/// The card that begins with the digits at `start`, which are the first of their run.
pub(super) fn card_at(text: &str, start: usize) -> Option<Card> {
    let bytes = text.as_bytes();
    // 0, 1 and 7 begin no payment card that is issued to people; 8 and 9 belong to national schemes.
    if !matches!(bytes[start], b'2'..=b'6' | b'8' | b'9') || !may_begin(text, start) {
        return None;
    }
    if !has_enough(bytes, start) {
        return None;
    }
    let mut groups = [Group { start: 0, end: 0 }; DIGITS_MAX];
    let mut sizes = [0_u8; DIGITS_MAX];
    let mut digits = [0_u8; DIGITS_MAX];
    let (mut count, mut total, mut at) = (0, 0, start);
    let mut best = None;
    loop {
        let end = digits_end(bytes, at);
        let size = end - at;
        if size == 0 || total + size > DIGITS_MAX {
            break;
        }
        for (place, byte) in digits[total..].iter_mut().zip(&bytes[at..end]) {
            *place = byte - b'0';
        }
        groups[count] = Group { start: at, end };
        sizes[count] = size as u8;
        count += 1;
        total += size;
        if total >= DIGITS_MIN && is_card(text, &digits[..total], &sizes[..count], &groups[..count])
        {
            best = Some((end, total));
        }
        match gap(bytes, end) {
            Some(next) if count < DIGITS_MAX => at = next,
            _ => break,
        }
    }
    let (end, total) = best?;
    let mut last_four = [b'0'; 4];
    for (place, digit) in last_four.iter_mut().zip(&digits[total - 4..total]) {
        *place = b'0' + digit;
    }
    Some(Card {
        span: start..end,
        last_four,
    })
}

/// Whether as many digits as the shortest card has follow, with no more than gaps between.
fn has_enough(bytes: &[u8], start: usize) -> bool {
    let (mut at, mut total) = (start, 0);
    loop {
        let end = digits_end(bytes, at);
        total += end - at;
        if total >= DIGITS_MIN {
            return true;
        }
        match gap(bytes, end) {
            Some(next) => at = next,
            None => return false,
        }
    }
}

/// One past the digits that begin at a place.
pub(super) fn digits_end(bytes: &[u8], at: usize) -> usize {
    bytes[at..]
        .iter()
        .position(|byte| !byte.is_ascii_digit())
        .map_or(bytes.len(), |length| at + length)
}

/// Where the next group of digits begins, when only separators lie between.
fn gap(bytes: &[u8], from: usize) -> Option<usize> {
    let length = bytes[from..]
        .iter()
        .take(GAP_MAX + 1)
        .take_while(|byte| {
            matches!(
                byte,
                b' ' | b'-' | b'.' | b'_' | b'/' | b'\n' | b'\r' | b'\t' | b'*'
            )
        })
        .count();
    let next = from + length;
    ((1..=GAP_MAX).contains(&length) && bytes.get(next).is_some_and(u8::is_ascii_digit))
        .then_some(next)
}

/// Whether a number may begin here: not in the middle of a word, an id, a decimal or a phone number.
fn may_begin(text: &str, start: usize) -> bool {
    let bytes = text.as_bytes();
    let Some(before) = start.checked_sub(1).map(|at| bytes[at]) else {
        return true;
    };
    match before {
        b'+' => false,
        b'.' | b',' => start < 2 || !bytes[start - 2].is_ascii_digit(),
        b'-' | b'_' => {
            start < 2 || !is_word(bytes[start - 2]) || says_card(word_before(text, start))
        }
        byte if is_word(byte) => says_card(word_before(text, start)),
        _ => true,
    }
}

/// Whether the number may end here.
fn may_end(bytes: &[u8], end: usize) -> bool {
    match bytes.get(end) {
        None => true,
        Some(b'.' | b',') => !bytes.get(end + 1).is_some_and(u8::is_ascii_digit),
        // What follows a dash is part of an id when it mixes letters and digits.
        Some(b'-') => {
            let tail = bytes[end + 1..]
                .iter()
                .take_while(|byte| byte.is_ascii_alphanumeric());
            let (mut letters, mut digits) = (false, false);
            for byte in tail {
                letters |= byte.is_ascii_alphabetic();
                digits |= byte.is_ascii_digit();
            }
            !(letters && digits)
        }
        Some(byte) => !is_word(*byte) || *byte >= 0x80,
    }
}

fn says_card(word: &str) -> bool {
    let lower = word.to_lowercase();
    let mut bare = lower.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '-' | '_'));
    for end in ["number", "num", "no", "nr", "_", "-"] {
        bare = bare.strip_suffix(end).unwrap_or(bare);
    }
    CARD_WORDS.contains(&bare) || matches!(bare, "cc" | "kk")
}

fn is_card(text: &str, digits: &[u8], sizes: &[u8], groups: &[Group]) -> bool {
    let (Some(first), Some(last)) = (groups.first(), groups.last()) else {
        return false;
    };
    let Some(certainty) = issued(digits) else {
        return false;
    };
    if !is_grouping(sizes, text.as_bytes(), groups)
        || !luhn(digits)
        || !may_end(text.as_bytes(), last.end)
    {
        return false;
    }
    let word = word_before(text, first.start);
    let named = || has_before(text, first.start, CARD_WORDS);
    match certainty {
        Certainty::OnlyIfNamed => named(),
        // An id of that length passes the check digit one time in ten.
        Certainty::Full if sizes.len() == 1 && names_an_id(word) => says_card(word) || named(),
        Certainty::Full => true,
    }
}

/// Whether digits are grouped as on a card, or evenly with the same separator all along.
fn is_grouping(sizes: &[u8], bytes: &[u8], groups: &[Group]) -> bool {
    if sizes.len() == 1 || PRINTED.contains(&sizes) {
        return true;
    }
    let [first, middle @ .., last] = sizes else {
        return false;
    };
    let even = *first <= 5 && middle.iter().all(|size| size == first) && last <= first;
    let separator = |pair: &[Group]| &bytes[pair[0].end..pair[1].start];
    let mut separators = groups.windows(2).map(separator);
    let one = separators.next();
    let same = separators.all(|other| Some(other) == one);
    // A longer row of such groups is a list of numbers and no card.
    let goes_on = groups
        .last()
        .is_some_and(|last| gap(bytes, last.end).is_some());
    even && same && !goes_on
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Certainty {
    Full,
    OnlyIfNamed,
}

/// Whether an issuer gives out numbers with this prefix and length.
fn issued(digits: &[u8]) -> Option<Certainty> {
    use Certainty::{Full, OnlyIfNamed};
    let prefix = |length: usize| {
        digits[..length]
            .iter()
            .fold(0_u32, |n, digit| n * 10 + u32::from(*digit))
    };
    let (two, three, four, six) = (prefix(2), prefix(3), prefix(4), prefix(6));
    let length = digits.len();
    let found = match two {
        // Visa; the thirteen-digit numbers are retired and look like phone numbers.
        40..=49 => match length {
            16 | 19 => Some(Full),
            13 | 18 => Some(OnlyIfNamed),
            _ => None,
        },
        // Mastercard.
        51..=55 if length == 16 => Some(Full),
        _ if (2221..=2720).contains(&four) && length == 16 => Some(Full),
        // Mir.
        _ if (2200..=2204).contains(&four) && (16..=19).contains(&length) => Some(Full),
        // American Express.
        34 | 37 if length == 15 => Some(Full),
        // Diners Club.
        _ if (300..=305).contains(&three) || three == 309 || matches!(two, 36 | 38 | 39) => {
            match length {
                14 => Some(Full),
                15..=19 => Some(OnlyIfNamed),
                _ => None,
            }
        }
        // JCB.
        _ if (3528..=3589).contains(&four) && (16..=19).contains(&length) => Some(Full),
        // Discover, RuPay, UnionPay, Maestro and national schemes. Eighteen digits are also what a German
        // account number has.
        60 | 62 | 64 | 65 | 50 | 56..=58 | 61 | 63 | 66..=69 => match length {
            16 | 19 => Some(Full),
            12..=18 => Some(OnlyIfNamed),
            _ => None,
        },
        81 | 82 if length == 16 => Some(Full),
        _ if four == 9792 && length == 16 => Some(Full),
        _ => None,
    };
    // Test numbers of no issuer, and one digit over and over.
    found.filter(|_| six != 0 && digits.iter().any(|digit| *digit != digits[0]))
}

fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(position, digit)| match position % 2 {
            0 => u32::from(*digit),
            _ => u32::from(*digit) * 2 - if *digit > 4 { 9 } else { 0 },
        })
        .sum();
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let bytes = text.as_bytes();
        let mut found = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            if !bytes[at].is_ascii_digit() {
                at += 1;
                continue;
            }
            match card_at(text, at) {
                Some(card) => {
                    found.push(&text[card.span.clone()]);
                    at = card.span.end;
                }
                None => at = digits_end(bytes, at),
            }
        }
        found
    }

    #[test]
    fn cards_of_every_issuer_are_found() {
        // Published test numbers.
        for card in [
            "4111111111111111",
            "4242424242424242",
            "5555555555554444",
            "2221000000000009",
            "2223003122003222",
            "378282246310005",
            "371449635398431",
            "30569309025904",
            "38520000023237",
            "6011111111111117",
            "3530111333300000",
            "6200000000000005",
            "6304000000000000",
            "4000056655665556",
            "6011000990139424",
            "5019717010103742",
        ] {
            assert_eq!(found(&format!("Card {card} was used.")), [card], "{card}");
            assert_eq!(found(card), [card]);
        }
    }

    #[test]
    fn separators_of_people_and_printers_are_seen_through() {
        for card in [
            "4111 1111 1111 1111",
            "4111-1111-1111-1111",
            "4111.1111.1111.1111",
            "4111  1111  1111  1111",
            "4111 - 1111 - 1111 - 1111",
            "4111 1111-1111 1111",
            "3782 822463 10005",
            "3782-822463-10005",
            "41111111 11111111",
            "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
            "41 11 11 11 11 11 11 11",
            "4111\n1111\n1111\n1111",
            "4111/1111/1111/1111",
            "411111 1111111111",
        ] {
            assert_eq!(found(&format!("pay with {card}, please")), [card], "{card}");
        }
        assert_eq!(
            found("4111 1111 1111 1111 20.00 EUR 12/28"),
            ["4111 1111 1111 1111"]
        );
        assert_eq!(found("4111 1111 1111 1111 123"), ["4111 1111 1111 1111"]);
        assert_eq!(found("7 4111 1111 1111 1111"), ["4111 1111 1111 1111"]);
        assert_eq!(found("VISA-4111111111111111"), ["4111111111111111"]);
    }

    #[test]
    fn numbers_that_are_no_card_stay() {
        for text in [
            "4111111111111112",
            "1748503543012",
            "+4915123456787",
            "0000000000000000",
            "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
            "Your card ending 4821 is frozen",
            "****4821",
            "card xx4821 due 30/11",
            "Order 2024 20260401",
            "Paid on 2026-11-30 12:05, next 2026-12-30 12",
            "transferId: 4111111111111111",
            "TXN4111111111111111",
            "4111111111111111AB",
            "a4111111111111111",
            "9a-4111111111111111-c3",
            "4111111111111111-a3f2",
            "41111111111111111111",
            "0.4111111111111111",
            "4111111111111111.25",
            "order 4539578763621486",
            "4444444444444444",
            "07700 900461",
            "20261130120500",
            "9007199254740993",
            "1 4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 5",
            "500105175407324931",
        ] {
            assert_eq!(found(text), Vec::<&str>::new(), "{text}");
        }
    }

    #[test]
    fn a_rare_length_counts_where_it_is_called_a_card() {
        assert_eq!(found("Visa 4222222222222"), ["4222222222222"]);
        assert_eq!(found("ring 4222222222222"), Vec::<&str>::new());
        assert_eq!(found("card id 4111111111111111"), ["4111111111111111"]);
    }
}
