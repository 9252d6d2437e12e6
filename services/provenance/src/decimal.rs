//! An exact decimal number, before it is known which currency it counts.

use countersign_domain::{Currency, MinorUnits};

/// `mantissa` divided by ten to the power of `scale`. Never negative, never rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    pub mantissa: u128,
    pub scale: u32,
}

impl Decimal {
    pub(crate) const fn whole(value: u128) -> Self {
        Self {
            mantissa: value,
            scale: 0,
        }
    }

    /// The product with a whole number, or `None` when it does not fit.
    pub(crate) fn times(self, factor: u128) -> Option<Self> {
        Some(Self {
            mantissa: self.mantissa.checked_mul(factor)?,
            scale: self.scale,
        })
    }

    /// In minor units; `None` for zero, for decimals the currency lacks, and for what is too large.
    pub(crate) fn minor_units(self, currency: Currency) -> Option<MinorUnits> {
        let exponent = currency.exponent();
        let count = if self.scale <= exponent {
            self.mantissa
                .checked_mul(10u128.checked_pow(exponent - self.scale)?)?
        } else {
            let divisor = 10u128.checked_pow(self.scale - exponent)?;
            if !self.mantissa.is_multiple_of(divisor) {
                return None;
            }
            self.mantissa / divisor
        };
        let units = MinorUnits::new(i64::try_from(count).ok()?)?;
        (!units.is_zero()).then_some(units)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_rounded() {
        let value = Decimal {
            mantissa: 55_555,
            scale: 3,
        };
        assert_eq!(value.minor_units(Currency::Eur), None);
        assert_eq!(value.minor_units(Currency::Kwd), MinorUnits::new(55_555));
        let value = Decimal {
            mantissa: 500,
            scale: 3,
        };
        assert_eq!(value.minor_units(Currency::Eur), MinorUnits::new(50));
        assert_eq!(Decimal::whole(0).minor_units(Currency::Eur), None);
    }
}
