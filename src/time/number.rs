//! Decimal text to whole microseconds, exactly: digits are moved, never rounded through a double.
//!
//! Must not know formats or who is asked; a number is `-?digits[.digits][e[+-]digits]`.

/// A decimal number, still as its digits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decimal<'a> {
    negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
    exponent: i64,
}

impl<'a> Decimal<'a> {
    /// The number in a text; `None` when it is anything else.
    #[inline]
    pub(super) fn parse(text: &'a [u8]) -> Option<Self> {
        let (negative, text) = match text {
            [b'-', rest @ ..] => (true, rest),
            _ => (false, text),
        };
        let (whole, rest) = digits(text)?;
        let (fraction, rest) = match rest {
            [b'.', rest @ ..] => digits(rest)?,
            _ => (&rest[..0], rest),
        };
        let exponent = match rest {
            [] => 0,
            [b'e' | b'E', rest @ ..] => exponent(rest)?,
            _ => return None,
        };
        Some(Self { negative, whole, fraction, exponent })
    }

    fn digit(&self, at: usize) -> u8 {
        let (whole, fraction) = (self.whole, self.fraction);
        whole.get(at).or_else(|| fraction.get(at.wrapping_sub(whole.len()))).map_or(0, |d| d - b'0')
    }

    fn digits(&self) -> usize {
        self.whole.len() + self.fraction.len()
    }

    /// Where the first digit stands that is not 0.
    fn first(&self) -> Option<usize> {
        (0..self.digits()).find(|&at| self.digit(at) != 0)
    }

    /// How many digits stand before the point when it is written out (0 or less for a pure fraction): the number's
    /// absolute value is below ten to this power and not below a tenth of that. `None` is zero.
    pub(super) fn magnitude(&self) -> Option<i64> {
        self.first().map(|first| self.point() - first as i64)
    }

    /// Where the decimal point stands among the digits; beyond them for large exponents.
    fn point(&self) -> i64 {
        self.exponent.saturating_add(self.whole.len() as i64)
    }

    /// The greatest whole number not above `self * 10^power`; `None` when it does not fit.
    pub(super) fn floor(&self, power: i64) -> Option<i64> {
        let Some(first) = self.first() else { return Some(0) };
        let end = self.point().saturating_add(power);
        if end.saturating_sub(first as i64) > 19 {
            return None;
        }
        let end = usize::try_from(end).unwrap_or(0);
        // At most 19 digits: they fit.
        let value = (first..end).fold(0u64, |value, at| value * 10 + u64::from(self.digit(at)));
        let rest = (end.max(first)..self.digits()).any(|at| self.digit(at) != 0);
        let value = i64::try_from(value).ok()?;
        if self.negative { (-value).checked_sub(i64::from(rest)) } else { Some(value) }
    }
}

/// Splits one or more digits off.
fn digits(text: &[u8]) -> Option<(&[u8], &[u8])> {
    match text.iter().take_while(|b| b.is_ascii_digit()).count() {
        0 => None,
        n => Some(text.split_at(n)),
    }
}

/// The whole of `text` as an exponent; one too large to matter is clamped.
fn exponent(text: &[u8]) -> Option<i64> {
    let (negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let (digits, []) = digits(text)? else { return None };
    let value = digits.iter().fold(0i64, |v, d| (v * 10 + i64::from(d - b'0')).min(1 << 40));
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn floor(text: &str, power: i64) -> Option<i64> {
        Decimal::parse(text.as_bytes()).expect("a number").floor(power)
    }

    #[test]
    fn digits_are_moved_and_the_rest_is_floored() {
        assert_eq!(floor("1700000000.123456789", 6), Some(1_700_000_000_123_456));
        assert_eq!(floor("-0.0000001", 6), Some(-1));
        assert_eq!(floor("-1.5", 0), Some(-2));
        assert_eq!(floor("1700000000123456789", -3), Some(1_700_000_000_123_456));
        assert_eq!(floor("-1", -3), Some(-1));
        assert_eq!(floor("1.7e9", 6), Some(1_700_000_000_000_000));
        assert_eq!(floor("17E-1", 0), Some(1));
        assert_eq!(floor("0e999999999999999999999", 6), Some(0));
        assert_eq!(floor("0.001e3", 0), Some(1));
        // A double would make these two the same.
        assert_eq!(floor("9007199254740993", 0), Some(9_007_199_254_740_993));
    }

    #[test]
    fn what_does_not_fit_is_refused_and_what_is_tiny_is_not() {
        for text in ["1e19", "99999999999999999999", "9223372036854775808", "1e999999999999999999999"] {
            assert_eq!(floor(text, 0), None, "{text}");
        }
        assert_eq!(floor("1e-999999999999999999999", 6), Some(0));
        assert_eq!(floor("-1e-999999999999999999999", 6), Some(-1));
        assert_eq!(floor("9223372036854775807", 0), Some(i64::MAX));
    }

    #[test]
    fn other_texts_are_no_numbers() {
        for text in ["", "-", "+1", "1.", ".5", "1e", "1e+", "0x1", "1_0", " 1", "1 ", "NaN", "--1", "1.2.3"] {
            assert!(Decimal::parse(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn the_magnitude_is_that_of_the_value() {
        let magnitude = |text: &str| Decimal::parse(text.as_bytes()).unwrap().magnitude();
        assert_eq!(magnitude("00012.5"), Some(2));
        assert_eq!(magnitude("-99999999999"), Some(11));
        assert_eq!(magnitude("1e11"), Some(12));
        assert_eq!(magnitude("0.05"), Some(-1));
        assert_eq!(magnitude("0.00"), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn flooring_is_division_of_the_written_integer(n in any::<i64>(), scale in 0u32..18, power in -3i64..=6) {
            let text = format!("{n}e-{scale}");
            let shift = power - i64::from(scale);
            let exact = match shift {
                0.. => i128::from(n).checked_mul(10i128.pow(shift as u32)),
                _ => Some(i128::from(n).div_euclid(10i128.pow(shift.unsigned_abs() as u32))),
            };
            let fits = exact.and_then(|e| i64::try_from(e).ok()).filter(|&e| e != i64::MIN);
            prop_assert_eq!(floor(&text, power), fits);
        }
    }
}
