//! Exact decimal numbers, for caps and bounds. No floats.

use std::fmt;
use std::str::FromStr;

/// Digits after the point that are kept. A number with more is refused, never rounded.
const SCALE: u32 = 18;
/// Most digits before the point.
const WHOLE_DIGITS_MAX: usize = 20;

/// A decimal number, exact to 18 digits after the point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decimal(i128);

/// The text is no decimal number that can be kept exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read a decimal number: at most 20 digits before and 18 after the point are wanted")]
pub struct DecimalError;

impl Decimal {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// More than any cap.
    pub const MAX: Self = Self(i128::MAX);

    /// A whole number.
    #[must_use]
    pub const fn from_whole(number: i64) -> Self {
        Self(number as i128 * 10_i128.pow(SCALE))
    }

    /// Reads a JSON number, which may have an exponent, exactly.
    ///
    /// # Errors
    /// [`DecimalError`] when it has more digits than are kept.
    pub fn from_json_number(text: &str) -> Result<Self, DecimalError> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            None => (text, 0),
            Some((mantissa, exponent)) => {
                let digits = exponent.strip_prefix('+').unwrap_or(exponent);
                (mantissa, digits.parse::<i32>().map_err(|_| DecimalError)?)
            }
        };
        let (negative, digits) = match mantissa.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, mantissa),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let magnitude = scaled(whole, fraction, exponent)?;
        Ok(Self(if negative { -magnitude } else { magnitude }))
    }

    /// The sum, unless it is too large to keep.
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// What is left when something is taken away, and nothing less than zero.
    #[must_use]
    pub fn less(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0).max(0))
    }

    /// Whether it is below zero.
    #[must_use]
    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }
}

/// An amount as it is written: digits, perhaps a point and more digits. No sign, no exponent, no
/// separator, no zero in front of another digit, and ASCII alone.
impl FromStr for Decimal {
    type Err = DecimalError;

    fn from_str(text: &str) -> Result<Self, DecimalError> {
        let (whole, fraction) = match text.split_once('.') {
            Some((_, "")) => return Err(DecimalError),
            Some(parts) => parts,
            None => (text, ""),
        };
        if whole.len() > 1 && whole.starts_with('0') {
            return Err(DecimalError);
        }
        scaled(whole, fraction, 0).map(Self)
    }
}

/// The digits as units of the last kept place, moved by an exponent of ten.
fn scaled(whole: &str, fraction: &str, exponent: i32) -> Result<i128, DecimalError> {
    let plain = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !plain(whole) || !plain(fraction) {
        return Err(DecimalError);
    }
    let digits = format!("{whole}{fraction}");
    let leading = digits.trim_start_matches('0');
    let digits = leading.trim_end_matches('0');
    if digits.is_empty() {
        return Ok(0);
    }
    // How many places the last digit that counts stands after the point.
    let trailing = (leading.len() - digits.len()) as i64;
    let places = fraction.len() as i64 - trailing - i64::from(exponent);
    let shift = i64::from(SCALE) - places;
    let whole_digits = digits.len() as i64 - places;
    if shift < 0 || whole_digits > WHOLE_DIGITS_MAX as i64 {
        return Err(DecimalError);
    }
    let units: i128 = digits.parse().map_err(|_| DecimalError)?;
    let shift = u32::try_from(shift).map_err(|_| DecimalError)?;
    10_i128
        .checked_pow(shift)
        .and_then(|power| units.checked_mul(power))
        .ok_or(DecimalError)
}

impl fmt::Display for Decimal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = 10_u128.pow(SCALE);
        let magnitude = self.0.unsigned_abs();
        let sign = if self.is_negative() { "-" } else { "" };
        let (whole, fraction) = (magnitude / unit, magnitude % unit);
        if fraction == 0 {
            return write!(formatter, "{sign}{whole}");
        }
        let fraction = format!("{fraction:018}");
        write!(
            formatter,
            "{sign}{whole}.{}",
            fraction.trim_end_matches('0')
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_exactly_or_not_at_all() {
        for text in [
            "0",
            "20",
            "20.00",
            "0.005",
            "99999999999999999999.999999999999999999",
        ] {
            let read: Decimal = text.parse().unwrap();
            let shown = if text.contains('.') {
                text.trim_end_matches('0').trim_end_matches('.')
            } else {
                text
            };
            assert_eq!(read.to_string(), shown);
        }
        for text in [
            "",
            ".",
            "5.",
            ".5",
            "+5",
            "-5",
            "1e3",
            "007",
            "00",
            " 5",
            "5 ",
            "5\n",
            "1,000",
            "1.000,00",
            "0x10",
            "NaN",
            "inf",
            "(5)",
            "\u{661}\u{660}",
            "\u{ff11}",
            "1_000",
            "0.0000000000000000001",
            "100000000000000000000",
            "1.2.3",
            "--1",
        ] {
            assert_eq!(text.parse::<Decimal>(), Err(DecimalError), "{text}");
        }
    }

    #[test]
    fn json_numbers_are_read_exactly() {
        let read = |text: &str| Decimal::from_json_number(text).map(|number| number.to_string());
        for (text, shown) in [
            ("5", "5"),
            ("-5.50", "-5.5"),
            ("1e2", "100"),
            ("1.5E+2", "150"),
            ("25e-1", "2.5"),
            ("-0", "0"),
            ("0e999999", "0"),
            ("9007199254740993", "9007199254740993"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(shown), "{text}");
        }
        for text in ["1e20", "1e400", "1e-19", "1e99999999999"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn tenths_add_up() {
        let tenth: Decimal = "0.1".parse().unwrap();
        let sum = (0..10).try_fold(Decimal::ZERO, |sum, _| sum.checked_add(tenth));
        assert_eq!(sum, Some(Decimal::from_whole(1)));
        assert_eq!(Decimal(i128::MAX).checked_add(tenth), None);
        assert_eq!(tenth.less(Decimal::from_whole(1)), Decimal::ZERO);
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_is_read_back(units in 0_i128..10_i128.pow(38)) {
            let number = Decimal(units);
            proptest::prop_assert_eq!(number.to_string().parse(), Ok(number));
        }
    }
}
