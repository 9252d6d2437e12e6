//! Account numbers: country, length for that country, check digits (ISO 13616).

use std::ops::Range;

use iban::IbanLike as _;

use super::place::is_word;

/// Shortest and longest IBAN, in characters.
const LENGTHS: std::ops::RangeInclusive<usize> = 15..=34;

/// An IBAN as somebody wrote it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Account {
    pub span: Range<usize>,
    pub last_four: [u8; 4],
}

/// The IBAN whose check digits stand at `digits`.
pub(super) fn iban_at(text: &[u8], digits: usize) -> Option<Account> {
    let start = digits.checked_sub(2)?;
    if !text[start..digits].iter().all(u8::is_ascii_alphabetic)
        || !text.get(digits + 1).is_some_and(u8::is_ascii_digit)
        || !may_begin(text, start)
    {
        return None;
    }
    let mut compact = Vec::with_capacity(*LENGTHS.end());
    let mut ends = [0_usize; 35];
    let mut at = start;
    while let Some(byte) = text.get(at) {
        if byte.is_ascii_alphanumeric() {
            if compact.len() == *LENGTHS.end() {
                break;
            }
            compact.push(byte.to_ascii_uppercase());
            at += 1;
            ends[compact.len()] = at;
        } else {
            let gap = text[at..].iter().take_while(|byte| is_gap(**byte)).count();
            if gap == 0 || gap > 3 {
                break;
            }
            at += gap;
        }
    }
    // The shortest that passes: what follows may be the next word.
    LENGTHS
        .take_while(|length| *length <= compact.len())
        .find_map(|length| {
            let end = ends[length];
            if text
                .get(end)
                .is_some_and(|byte| is_word(*byte) && *byte < 0x80)
            {
                return None;
            }
            let candidate = std::str::from_utf8(&compact[..length]).ok()?;
            let account = candidate.parse::<iban::BaseIban>().ok()?;
            is_of_its_country(account.country_code(), length).then_some(())?;
            let mut last_four = [0; 4];
            last_four.copy_from_slice(&compact[length - 4..length]);
            Some(Account {
                span: start..end,
                last_four,
            })
        })
}

const fn is_gap(byte: u8) -> bool {
    matches!(byte, b' ' | b'-' | b'.' | b'\n' | b'\r' | b'\t' | b'/')
}

/// Not in the middle of a word, except behind the word IBAN itself.
fn may_begin(text: &[u8], start: usize) -> bool {
    if start == 0 || !is_word(text[start - 1]) {
        return true;
    }
    start >= 4 && text[start - 4..start].eq_ignore_ascii_case(b"iban")
}

/// Lengths by country, from the registry that SWIFT keeps for ISO 13616.
const COUNTRIES: &[(&str, usize)] = &[
    ("AD", 24),
    ("AE", 23),
    ("AL", 28),
    ("AT", 20),
    ("AZ", 28),
    ("BA", 20),
    ("BE", 16),
    ("BG", 22),
    ("BH", 22),
    ("BI", 27),
    ("BR", 29),
    ("BY", 28),
    ("CH", 21),
    ("CR", 22),
    ("CY", 28),
    ("CZ", 24),
    ("DE", 22),
    ("DJ", 27),
    ("DK", 18),
    ("DO", 28),
    ("EE", 20),
    ("EG", 29),
    ("ES", 24),
    ("FI", 18),
    ("FK", 18),
    ("FO", 18),
    ("FR", 27),
    ("GB", 22),
    ("GE", 22),
    ("GI", 23),
    ("GL", 18),
    ("GR", 27),
    ("GT", 28),
    ("HN", 28),
    ("HR", 21),
    ("HU", 28),
    ("IE", 22),
    ("IL", 23),
    ("IQ", 23),
    ("IS", 26),
    ("IT", 27),
    ("JO", 30),
    ("KW", 30),
    ("KZ", 20),
    ("LB", 28),
    ("LC", 32),
    ("LI", 21),
    ("LT", 20),
    ("LU", 20),
    ("LV", 21),
    ("LY", 25),
    ("MC", 27),
    ("MD", 24),
    ("ME", 22),
    ("MK", 19),
    ("MN", 20),
    ("MR", 27),
    ("MT", 31),
    ("MU", 30),
    ("NI", 28),
    ("NL", 18),
    ("NO", 15),
    ("OM", 23),
    ("PK", 24),
    ("PL", 28),
    ("PS", 29),
    ("PT", 25),
    ("QA", 29),
    ("RO", 24),
    ("RS", 22),
    ("RU", 33),
    ("SA", 24),
    ("SC", 31),
    ("SD", 18),
    ("SE", 24),
    ("SI", 19),
    ("SK", 24),
    ("SM", 27),
    ("SO", 23),
    ("ST", 25),
    ("SV", 28),
    ("TL", 23),
    ("TN", 24),
    ("TR", 26),
    ("UA", 29),
    ("VA", 22),
    ("VG", 24),
    ("XK", 20),
    ("YE", 30),
];

fn is_of_its_country(country: &str, length: usize) -> bool {
    COUNTRIES
        .binary_search_by(|(code, _)| (*code).cmp(country))
        .is_ok_and(|index| COUNTRIES[index].1 == length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<&str> {
        let digits = text
            .bytes()
            .enumerate()
            .filter(|(_, byte)| byte.is_ascii_digit());
        digits
            .filter_map(|(at, _)| iban_at(text.as_bytes(), at))
            .map(|account| &text[account.span])
            .next()
    }

    #[test]
    fn ibans_are_found_in_any_case_and_grouping() {
        assert!(COUNTRIES.is_sorted());
        for iban in [
            "gb82 west 1234 5698 7654 32",
            "DE89370400440532013000",
            "DE89 3704 0044 0532 0130 00",
            "FR14 2004 1010 0505 0001 3M02 606",
            "NO9386011117947",
            "MT84 MALT 0110 0001 2345 MTLC AST0 01S",
            "ES91-2100-0418-4502-0005-1332",
            "NL91ABNA0417164300",
            "PL61109010140000071219812874",
            "IT60X0542811101000000123456",
            "PT50000201231234567890154",
            "BE68 5390 0754 7034",
        ] {
            assert_eq!(found(iban), Some(iban));
            assert_eq!(found(&format!("to {iban} and more")), Some(iban));
            assert_eq!(found(&format!("IBAN:{iban}.")), Some(iban));
            assert_eq!(found(&format!("IBAN{iban}")), Some(iban));
        }
    }

    #[test]
    fn what_fails_the_checksum_or_the_length_stays() {
        for text in [
            "Ref DE44ORDER5001051754073",
            "DE89370400440532013001",
            "DE8937040044053201300",
            "XX89370400440532013000",
            "MODE89370400440532013000",
            "GB82",
            "in DE89 people live",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
