//! The values accumulators keep: one Rust type for each way that values compare.
//!
//! A *word* is any type of up to 64 bits, mapped to an `i64` that orders as the values do; decimals are `i128`; text is
//! bytes. Must not know what is done with the values. One order for all rooms: -0 equals 0, NaN is one value above
//! all numbers, text goes by bytes, false comes before true.

use super::Slot;
use super::column::{Texts, each, typed};
use super::saved::{Reader, write_bytes};
use crate::error::Result;
use crate::schema::{FieldType, number_text};
use arrow::array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, Float64Array, Int64Array, StringArray, TimestampMicrosecondArray,
};
use std::hash::Hash;
use std::sync::Arc;

/// A value that can be kept, compared and written out again.
pub(super) trait Value: Clone + Send + 'static {
    /// A value where it stands in a column.
    type Ref: ?Sized + Ord + Hash + 'static;

    /// A small copy of a value that orders as it does.
    type Key<'a>: Copy + Ord;

    /// Whether a kept value holds bytes outside of itself.
    const ON_HEAP: bool;

    /// A look at a kept value.
    fn borrow(&self) -> &Self::Ref;

    /// What the value is ordered by.
    fn key(&self) -> Self::Key<'_>;

    /// Keeps the value of a key.
    fn own_key(key: Self::Key<'_>) -> Self;

    /// The value at a share of the way between two values of this type, where there is one, in the type that
    /// [`between_type`] tells; else the lower.
    fn between(low: Self::Key<'_>, high: Self::Key<'_>, share: f64, ty: FieldType) -> Self;

    /// Keeps a value.
    fn own(value: &Self::Ref) -> Self;

    /// Bytes a kept value holds outside of itself.
    fn heap(&self) -> usize;

    /// Calls `take(slot, row, value)` for each row that is not null.
    fn scan(
        array: &ArrayRef,
        ty: FieldType,
        slots: &[Slot],
        rows: &[u32],
        take: impl FnMut(usize, usize, &Self::Ref),
    ) -> Result<()>;

    /// A column of values.
    fn array<'a>(ty: FieldType, values: impl Iterator<Item = Option<&'a Self::Ref>>) -> ArrayRef;

    /// The value as text: what a key column shows once it has become text.
    fn text(&self, ty: FieldType) -> Box<str>;

    /// Writes the value, to be read again.
    fn write(&self, out: &mut Vec<u8>);

    /// Reads what was written.
    fn read(reader: &mut Reader<'_>) -> Option<Self>;
}

/// The type of values between values: integers have fractions between them.
pub(super) fn between_type(ty: FieldType) -> FieldType {
    if ty == FieldType::Int { FieldType::Double } else { ty }
}

/// A share of the way from one number to another, to the last bit as DuckDB has it; equal infinities stay what they are.
fn double_between(low: f64, high: f64, share: f64) -> f64 {
    if low == high { low } else { low.mul_add(1.0 - share, high * share) }
}

/// Maps a double to an integer that orders as doubles do here.
#[inline]
pub(super) fn word_of_double(x: f64) -> i64 {
    let canonical = if x.is_nan() { f64::NAN.abs() } else { x + 0.0 };
    flip_negative(canonical.to_bits() as i64)
}

/// The double that was mapped to this integer.
pub(super) fn double_of_word(word: i64) -> f64 {
    f64::from_bits(flip_negative(word) as u64)
}

/// Negative doubles are ordered backwards by their bits. Its own inverse.
#[inline]
fn flip_negative(bits: i64) -> i64 {
    bits ^ ((bits >> 63) as u64 >> 1) as i64
}

impl Value for i64 {
    type Ref = i64;
    type Key<'a> = i64;

    const ON_HEAP: bool = false;

    #[inline]
    fn borrow(&self) -> &i64 {
        self
    }

    fn key(&self) -> i64 {
        *self
    }

    fn own_key(key: i64) -> Self {
        key
    }

    fn between(low: i64, high: i64, share: f64, ty: FieldType) -> Self {
        match ty {
            FieldType::Int => word_of_double(double_between(low as f64, high as f64, share)),
            FieldType::Double => word_of_double(double_between(double_of_word(low), double_of_word(high), share)),
            FieldType::Time => {
                let way = (i128::from(high) - i128::from(low)) as f64 * share;
                low.saturating_add(way.round_ties_even() as i64)
            }
            _ => low,
        }
    }

    #[inline]
    fn own(value: &i64) -> Self {
        *value
    }

    #[inline]
    fn heap(&self) -> usize {
        0
    }

    fn scan(
        array: &ArrayRef,
        ty: FieldType,
        slots: &[Slot],
        rows: &[u32],
        mut take: impl FnMut(usize, usize, &i64),
    ) -> Result<()> {
        match ty {
            FieldType::Double => {
                let values = typed::<Float64Array>(array)?.values();
                each(slots, rows, array.nulls(), |slot, row| take(slot, row, &word_of_double(values[row])));
            }
            FieldType::Bool => {
                let values = typed::<BooleanArray>(array)?.values();
                each(slots, rows, array.nulls(), |slot, row| take(slot, row, &i64::from(values.value(row))));
            }
            FieldType::Time => {
                let values = typed::<TimestampMicrosecondArray>(array)?.values();
                each(slots, rows, array.nulls(), |slot, row| take(slot, row, &values[row]));
            }
            _ => {
                let values = typed::<Int64Array>(array)?.values();
                each(slots, rows, array.nulls(), |slot, row| take(slot, row, &values[row]));
            }
        }
        Ok(())
    }

    fn array<'a>(ty: FieldType, values: impl Iterator<Item = Option<&'a i64>>) -> ArrayRef {
        match ty {
            FieldType::Double => Arc::new(Float64Array::from_iter(values.map(|v| v.copied().map(double_of_word)))),
            FieldType::Bool => Arc::new(BooleanArray::from_iter(values.map(|v| v.map(|&v| v != 0)))),
            FieldType::Time => {
                Arc::new(TimestampMicrosecondArray::from_iter(values.map(Option::<&i64>::copied)).with_timezone("UTC"))
            }
            _ => Arc::new(Int64Array::from_iter(values.map(Option::<&i64>::copied))),
        }
    }

    fn text(&self, ty: FieldType) -> Box<str> {
        match ty {
            FieldType::Double => number_text(double_of_word(*self)).into(),
            FieldType::Bool => if *self == 0 { "false" } else { "true" }.into(),
            _ => itoa::Buffer::new().format(*self).into(),
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        reader.i64()
    }
}

impl Value for i128 {
    type Ref = i128;
    type Key<'a> = i128;

    const ON_HEAP: bool = false;

    #[inline]
    fn borrow(&self) -> &i128 {
        self
    }

    fn key(&self) -> i128 {
        *self
    }

    fn own_key(key: i128) -> Self {
        key
    }

    /// Digits that the scale has no room for are cut off: of the value where doubles hold it, else of the way to it.
    fn between(low: i128, high: i128, share: f64, ty: FieldType) -> Self {
        const EXACT: u128 = 1 << 53;
        let narrow = matches!(ty, FieldType::Decimal { precision: ..=18, .. });
        if narrow && low.unsigned_abs() < EXACT && high.unsigned_abs() < EXACT {
            double_between(low as f64, high as f64, share) as i128
        } else {
            low + (high.saturating_sub(low) as f64 * share) as i128
        }
    }

    #[inline]
    fn own(value: &i128) -> Self {
        *value
    }

    #[inline]
    fn heap(&self) -> usize {
        0
    }

    fn scan(
        array: &ArrayRef,
        _: FieldType,
        slots: &[Slot],
        rows: &[u32],
        mut take: impl FnMut(usize, usize, &i128),
    ) -> Result<()> {
        let values = typed::<Decimal128Array>(array)?.values();
        each(slots, rows, array.nulls(), |slot, row| take(slot, row, &values[row]));
        Ok(())
    }

    fn array<'a>(ty: FieldType, values: impl Iterator<Item = Option<&'a i128>>) -> ArrayRef {
        Arc::new(Decimal128Array::from_iter(values.map(Option::<&i128>::copied)).with_data_type(ty.arrow()))
    }

    fn text(&self, ty: FieldType) -> Box<str> {
        let FieldType::Decimal { scale, .. } = ty else {
            return itoa::Buffer::new().format(*self).into();
        };
        decimal_text(*self, scale).into()
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        reader.i128()
    }
}

impl Value for Box<str> {
    type Ref = str;
    type Key<'a> = &'a str;

    const ON_HEAP: bool = true;

    #[inline]
    fn borrow(&self) -> &str {
        self
    }

    fn key(&self) -> &str {
        self
    }

    fn own_key(key: &str) -> Self {
        key.into()
    }

    fn between(low: &str, _: &str, _: f64, _: FieldType) -> Self {
        low.into()
    }

    fn own(value: &str) -> Self {
        value.into()
    }

    #[inline]
    fn heap(&self) -> usize {
        self.len()
    }

    fn scan(
        array: &ArrayRef,
        _: FieldType,
        slots: &[Slot],
        rows: &[u32],
        mut take: impl FnMut(usize, usize, &str),
    ) -> Result<()> {
        let texts = Texts::of(array)?;
        each(slots, rows, None, |slot, row| {
            if let Some(text) = texts.get(row) {
                take(slot, row, text);
            }
        });
        Ok(())
    }

    fn array<'a>(_: FieldType, values: impl Iterator<Item = Option<&'a str>>) -> ArrayRef {
        Arc::new(StringArray::from_iter(values))
    }

    fn text(&self, _: FieldType) -> Box<str> {
        self.clone()
    }

    fn write(&self, out: &mut Vec<u8>) {
        write_bytes(self.as_bytes(), out);
    }

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        std::str::from_utf8(reader.bytes()?).ok().map(Box::from)
    }
}

/// `value * 10^-scale` with all digits: `-0.05`.
pub(super) fn decimal_text(value: i128, scale: i8) -> String {
    let sign = if value < 0 { "-" } else { "" };
    let digits = value.unsigned_abs().to_string();
    let Ok(scale @ 1..) = usize::try_from(scale) else {
        let zeros = if value == 0 { 0 } else { usize::from(scale.unsigned_abs()) };
        return format!("{sign}{digits}{}", "0".repeat(zeros));
    };
    let padded = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = padded.split_at(padded.len() - scale);
    format!("{sign}{whole}.{fraction}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn doubles_order_as_specified() {
        let sorted = [f64::NEG_INFINITY, -1.5, -5e-324, 0.0, 5e-324, 1.0, f64::INFINITY, f64::NAN];
        assert!(sorted.map(word_of_double).is_sorted_by(|a, b| a < b));
        assert_eq!(word_of_double(-0.0), word_of_double(0.0));
        assert_eq!(word_of_double(-f64::NAN), word_of_double(f64::NAN));
    }

    #[test]
    fn decimals_have_all_their_digits() {
        let cases = [(-5, 2, "-0.05"), (12345, 2, "123.45"), (7, 0, "7"), (7, -2, "700"), (0, -2, "0"), (0, 1, "0.0")];
        for (value, scale, text) in cases {
            assert_eq!(decimal_text(value, scale), text);
        }
        assert_eq!(decimal_text(i128::MIN, 38).len(), 41);
    }

    #[test]
    fn values_read_as_text() {
        assert_eq!(&*(-7i64).text(FieldType::Int), "-7");
        assert_eq!(&*word_of_double(0.1).text(FieldType::Double), "0.1");
        assert_eq!(&*1i64.text(FieldType::Bool), "true");
        assert_eq!(&*150i128.text(FieldType::Decimal { precision: 5, scale: 2 }), "1.50");
    }

    proptest! {
        #[test]
        fn words_of_doubles_order_and_come_back(a in any::<f64>(), b in any::<f64>()) {
            prop_assert_eq!(double_of_word(word_of_double(a)), a);
            prop_assert_eq!(Some(word_of_double(a).cmp(&word_of_double(b))), a.partial_cmp(&b));
        }
    }
}
