//! Texts as values: numbers, decimals and truth values, and a value as it is shown in an error. The syntax of numbers is
//! JSON's in all text formats.
//!
//! Must not know columns or records. Short numbers, which most are, are read some bytes at a time; each quick way has a
//! plain one that it must agree with.

use crate::schema::Found;

/// What kind of number a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberKind {
    /// Digits with perhaps a minus sign.
    Integer,
    /// With a fraction or an exponent; also `-0`, which no integer is.
    Fraction,
}

/// The length and kind of the JSON number at the start of `text`: no plus sign, no leading zeros, digits on both sides
/// of a point. What follows it is the caller's to judge.
#[inline]
pub fn number_prefix(text: &[u8]) -> Option<(usize, NumberKind)> {
    let start = usize::from(text.first() == Some(&b'-'));
    match text.get(start..start + 8).and_then(<[u8]>::first_chunk).and_then(short_number) {
        Some((end, NumberKind::Integer)) if start == 1 && text[1] == b'0' => Some((start + end, NumberKind::Fraction)),
        Some((end, kind)) => Some((start + end, kind)),
        None => any_number(text),
    }
}

/// The same for a number without sign and exponent that ends within these bytes. All of them are looked at at once,
/// as numbers of one column differ in length, which a loop over them cannot foresee.
#[inline]
fn short_number(text: &[u8; 8]) -> Option<(usize, NumberKind)> {
    let word = u64::from_le_bytes(*text);
    let others = not_digits(word ^ ZEROS);
    let behind = others & others.wrapping_sub(1);
    let (whole, fraction) = (first_byte(others), first_byte(behind));
    let stop = |at: usize| (word >> (8 * at)) as u8;
    let no_exponent = |at: usize| stop(at) | 0x20 != b'e';
    if whole == 0 || whole == 8 || (whole > 1 && stop(0) == b'0') {
        return None;
    }
    if stop(whole) != b'.' {
        return no_exponent(whole).then_some((whole, NumberKind::Integer));
    }
    (fraction < 8 && fraction > whole + 1 && no_exponent(fraction)).then_some((fraction, NumberKind::Fraction))
}

/// A one in each byte of a word.
const ONES: u64 = 0x0101_0101_0101_0101;
/// Eight times the digit zero.
const ZEROS: u64 = ONES * 0x30;

/// The top bits of those bytes that are above 9, that is of those that were no digits before `ZEROS` was taken off.
#[inline]
fn not_digits(values: u64) -> u64 {
    ((values & (ONES * 0x7F)).wrapping_add(ONES * 0x76) | values) & (ONES * 0x80)
}

/// The index of the first byte that has a bit set, 8 if none has.
#[inline]
fn first_byte(bits: u64) -> usize {
    bits.trailing_zeros() as usize / 8
}

/// The definition that [`number_prefix`] must agree with.
fn any_number(text: &[u8]) -> Option<(usize, NumberKind)> {
    let start = usize::from(text.first() == Some(&b'-'));
    let whole = start + digits(&text[start..]);
    if whole == start || (text[start] == b'0' && whole > start + 1) {
        return None;
    }
    let mut end = whole;
    if text.get(end) == Some(&b'.') {
        let fraction = digits(&text[end + 1..]);
        if fraction == 0 {
            return None;
        }
        end += 1 + fraction;
    }
    if let Some(b'e' | b'E') = text.get(end) {
        let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(&text[end + 1 + sign..]);
        if exponent == 0 {
            return None;
        }
        end += 1 + sign + exponent;
    }
    let integer = end == whole && &text[..end] != b"-0";
    Some((end, if integer { NumberKind::Integer } else { NumberKind::Fraction }))
}

#[inline]
fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|b| b.is_ascii_digit()).count()
}

/// The kind of number that the whole of `text` is.
pub fn number_kind(text: &[u8]) -> Option<NumberKind> {
    number_prefix(text).filter(|&(end, _)| end == text.len()).map(|(_, kind)| kind)
}

/// Reads a number's text as a 64-bit integer.
#[inline]
pub fn integer(text: &[u8]) -> Result<i64, Found> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let plain = matches!(digits.len(), 1..=18) && digits[0] != b'0' && digits.iter().all(u8::is_ascii_digit);
    if !plain {
        return odd_integer(text);
    }
    let value = digits.iter().fold(0, |value, digit| value * 10 + i64::from(digit - b'0'));
    Ok(if digits.len() == text.len() { value } else { -value })
}

/// Integers of 19 digits and more, zero, and all that is none.
fn odd_integer(text: &[u8]) -> Result<i64, Found> {
    match number_kind(text) {
        None => Err(Found::Other),
        Some(NumberKind::Fraction) => Err(Found::Fraction),
        Some(NumberKind::Integer) => {
            std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).ok_or(Found::BigInteger)
        }
    }
}

/// Reads any number's text as the nearest double. Beyond the greatest double there is none: `Found::Other`.
pub fn double(text: &[u8]) -> Result<f64, Found> {
    number_kind(text).ok_or(Found::Other).and_then(|_| double_of_number(text))
}

/// The same for text that is known to be a number.
#[inline]
pub fn double_of_number(text: &[u8]) -> Result<f64, Found> {
    match short_double(text) {
        Some(value) => Ok(value),
        None => fast_float2::parse::<f64, _>(text).ok().filter(|value| value.is_finite()).ok_or(Found::Other),
    }
}

/// The same where the field is only passed on: an integer that might lose digits is none.
pub fn double_without_loss(text: &[u8]) -> Result<f64, Found> {
    match number_kind(text) {
        Some(NumberKind::Integer) if is_long_integer(text) => Err(Found::BigInteger),
        Some(_) => double_of_number(text),
        None => Err(Found::Other),
    }
}

/// Whether a text is an integer beyond those that doubles tell apart.
pub fn is_long_integer(text: &[u8]) -> bool {
    const EXACT: u64 = 1 << 53;
    text.len() >= 16
        && number_kind(text) == Some(NumberKind::Integer)
        && integer(text).map_or(true, |value| value.unsigned_abs() > EXACT)
}

/// The nearest double of a number of at most eight bytes without exponent: both the digits and the power of ten are
/// exact as doubles, so one division rounds once.
#[inline]
fn short_double(text: &[u8]) -> Option<f64> {
    const POWERS: [f64; 8] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7];
    let (negative, text) = match text.split_first()? {
        (b'-', digits) => (true, digits),
        _ => (false, text),
    };
    let mut values = last_of_eight(text)?;
    let point = values ^ (ONES * u64::from(b'.' ^ b'0'));
    let point = first_byte(point.wrapping_sub(ONES) & !point & (ONES * 0x80));
    let mut places = 0;
    if point < 7 {
        let before = (1 << (8 * point)) - 1;
        values = (values & before) << 8 | values & !(before << 8 | 0xFF);
        places = 7 - point;
    }
    if not_digits(values) != 0 {
        return None;
    }
    let value = f64::from(eight_digits(values)) / POWERS[places];
    Some(if negative { -value } else { value })
}

/// At most eight bytes as the last ones of a word, with the zeros' code taken off them; the others are 0.
#[inline]
fn last_of_eight(text: &[u8]) -> Option<u64> {
    let missing = 8 * 8_usize.checked_sub(text.len())?;
    let word = match (text.first_chunk(), text.last_chunk()) {
        (Some(&head), Some(&tail)) => {
            u64::from(u32::from_le_bytes(head)) << missing | u64::from(u32::from_le_bytes(tail)) << 32
        }
        _ => {
            let &[first, .., last] = text else { return text.first().map(|&one| u64::from(one ^ b'0') << 56) };
            u64::from(first) << missing | u64::from(text[1]) << (missing + 8) | u64::from(last) << 56
        }
    };
    Some(word ^ ZEROS << missing)
}

/// The number that eight digits write, of which the first is the lowest byte.
#[inline]
fn eight_digits(values: u64) -> u32 {
    const PAIRS: u64 = 0x0000_00FF_0000_00FF;
    let pairs = values.wrapping_mul(10).wrapping_add(values >> 8);
    let high = (pairs & PAIRS).wrapping_mul(100 | 1_000_000 << 32);
    let low = (pairs >> 16 & PAIRS).wrapping_mul(1 | 10_000 << 32);
    (high.wrapping_add(low) >> 32) as u32
}

/// Reads any number's text as an exact decimal: the whole number of its `scale`th digit behind the point. Digits
/// beyond the scale must be zero, since rounding would lose something silently.
pub fn decimal(text: &[u8], precision: u8, scale: i8) -> Result<i128, Found> {
    number_kind(text).ok_or(Found::Other)?;
    let exponent_at = text.iter().position(|b| matches!(b, b'e' | b'E')).unwrap_or(text.len());
    let mantissa = text[..exponent_at].strip_prefix(b"-").unwrap_or(&text[..exponent_at]);
    let fraction = mantissa.iter().position(|&b| b == b'.').map_or(0, |point| mantissa.len() - point - 1);
    let digits = || mantissa.iter().filter(|b| b.is_ascii_digit());
    let shift = i64::from(scale) + exponent(&text[exponent_at..]) - fraction as i64;
    let kept = (digits().count() as i64).saturating_add(shift.min(0)).max(0) as usize;
    if digits().skip(kept).any(|&b| b != b'0') {
        return Err(Found::Fraction);
    }
    let push = |value: i128, digit: u8| value.checked_mul(10)?.checked_add(i128::from(digit - b'0'));
    let value = digits().take(kept).try_fold(0, |value, &digit| push(value, digit)).ok_or(Found::BigInteger)?;
    let value = if value == 0 { 0 } else { scale_up(value, shift.max(0)).ok_or(Found::BigInteger)? };
    if value >= 10_i128.pow(u32::from(precision.min(38))) {
        return Err(Found::BigInteger);
    }
    Ok(if text[0] == b'-' { -value } else { value })
}

/// The value of `e-12`, `E+3` or nothing; beyond any use when it has more than 9 digits.
fn exponent(text: &[u8]) -> i64 {
    let Some((_, digits)) = text.split_first() else { return 0 };
    let (sign, digits) = match digits {
        [b'-', digits @ ..] => (-1, digits),
        [b'+', digits @ ..] => (1, digits),
        digits => (1, digits),
    };
    sign * digits.iter().fold(0, |value: i64, digit| (value * 10 + i64::from(digit - b'0')).min(1_000_000_000))
}

fn scale_up(value: i128, by: i64) -> Option<i128> {
    10_i128.checked_pow(u32::try_from(by).ok()?).and_then(|factor| value.checked_mul(factor))
}

/// Reads `true` or `false`, in any case.
pub fn boolean(text: &[u8]) -> Result<bool, Found> {
    match text {
        t if t.eq_ignore_ascii_case(b"true") => Ok(true),
        t if t.eq_ignore_ascii_case(b"false") => Ok(false),
        _ => Err(Found::Other),
    }
}

/// A value for an error text: at most 40 characters of it, control characters escaped.
pub fn shown(value: &[u8]) -> String {
    const MOST: usize = 40;
    // 4 bytes a character at most; cutting one in half shows the sign for that.
    let head = String::from_utf8_lossy(&value[..value.len().min(4 * MOST)]);
    let mut text: String =
        head.chars().take(MOST).flat_map(|c| if c.is_control() { escape(c) } else { vec![c] }).collect();
    if text.len() < value.len() && head.chars().nth(MOST).is_some() {
        text.push_str("...");
    }
    text
}

fn escape(control: char) -> Vec<char> {
    control.escape_default().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn integers_end_at_64_bits() {
        assert_eq!(integer(b"0"), Ok(0));
        assert_eq!(integer(b"-12"), Ok(-12));
        assert_eq!(integer(b"-9223372036854775808"), Ok(i64::MIN));
        assert_eq!(integer(b"9223372036854775807"), Ok(i64::MAX));
        assert_eq!(integer(b"9223372036854775808"), Err(Found::BigInteger));
        for text in ["-0", "1.0", "1e2"] {
            assert_eq!(integer(text.as_bytes()), Err(Found::Fraction), "{text}");
        }
        for text in ["", "-", "+1", "007", "1 ", "0x1", "--1", "1_000", "n/a"] {
            assert_eq!(integer(text.as_bytes()), Err(Found::Other), "{text}");
        }
    }

    #[test]
    fn doubles_are_numbers_that_are_finite() {
        assert_eq!(double(b"1e3"), Ok(1000.0));
        assert_eq!(double(b"1e-400"), Ok(0.0));
        for text in ["1e400", "inf", "NaN", "1.", ".5", "+1", "01"] {
            assert_eq!(double(text.as_bytes()), Err(Found::Other), "{text}");
        }
    }

    #[test]
    fn decimals_are_exact_or_refused() {
        for (text, expected) in [
            ("12.5", Ok(1250)),
            ("-0.01", Ok(-1)),
            ("1.500", Ok(150)),
            ("1.5e1", Ok(1500)),
            ("150e-2", Ok(150)),
            ("0e999999999999", Ok(0)),
            ("0.00e-99999999999999999999", Ok(0)),
            ("9999.99", Ok(999_999)),
            ("10000", Err(Found::BigInteger)),
            ("1e99999999999999999999", Err(Found::BigInteger)),
            ("0.001", Err(Found::Fraction)),
            ("1e-99999999999999999999", Err(Found::Fraction)),
            ("1,5", Err(Found::Other)),
        ] {
            assert_eq!(decimal(text.as_bytes(), 6, 2), expected, "{text}");
        }
        assert_eq!(decimal(b"1200", 4, -2), Ok(12));
        assert_eq!(decimal(b"1250", 4, -2), Err(Found::Fraction));
        assert_eq!(decimal(&[b'9'; 38], 38, 0), Ok(10_i128.pow(38) - 1));
        assert_eq!(decimal(&[b'9'; 39], 38, 0), Err(Found::BigInteger));
    }

    #[test]
    fn long_values_are_cut_in_error_texts() {
        assert_eq!(shown("é".repeat(40).as_bytes()), "é".repeat(40));
        assert_eq!(shown("é".repeat(41).as_bytes()), "é".repeat(40) + "...");
        assert_eq!(shown(b"a\tb\x00"), r"a\tb\u{0}");
    }

    #[test]
    fn zero_keeps_its_sign() {
        for text in ["-0", "-0.0", "-0.000000", "-0e1"] {
            assert_eq!(double(text.as_bytes()).map(|zero| (zero, zero.is_sign_negative())), Ok((0.0, true)), "{text}");
        }
    }

    proptest! {
        #[test]
        fn short_doubles_are_read_as_the_standard_library_does(text in "-?(0|[1-9][0-9]{0,7})(\\.[0-9]{1,7})?") {
            prop_assert_eq!(double_of_number(text.as_bytes()).ok(), text.parse::<f64>().ok());
        }

        #[test]
        fn a_number_ends_where_the_definition_says(text in "-?[0-9]{0,5}[.,]?[0-9]{0,5}[-+.eE,}\\]\"é :/0]{0,4}[a-z0-9]{0,9}") {
            prop_assert_eq!(number_prefix(text.as_bytes()), any_number(text.as_bytes()));
        }

        #[test]
        fn doubles_are_read_as_the_standard_library_does(text in "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?") {
            let expected: f64 = text.parse().unwrap();
            prop_assert_eq!(double(text.as_bytes()).ok(), Some(expected).filter(|f| f.is_finite()));
        }

        #[test]
        fn a_text_is_a_number_when_serde_json_says_so(text in "[-+.eE0-9]{0,8}") {
            let is_number = serde_json::from_str::<serde_json::Number>(&text).is_ok();
            prop_assert_eq!(number_kind(text.as_bytes()).is_some(), is_number);
        }
    }
}
