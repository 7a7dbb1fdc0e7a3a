//! Columns of a file's types to columns of a job's types.
//!
//! Must not know files or row groups. What a value of another type means is the same as in the text formats: a number
//! stands for itself in any column of numbers that can hold it exactly (doubles: nearly), everything has its JSON text,
//! and nothing else fits.

use super::text::{bytes_at, double_at, shown, value_json, value_text};
use super::times;
use crate::format::number::{decimal, double_of_number};
use crate::schema::{FieldType, Found};
use crate::time::TimeReader;
use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, BooleanArray, DictionaryArray, LargeStringArray, PrimitiveArray,
    StringArray, StringBuilder, TimestampMicrosecondArray, new_null_array,
};
use arrow::buffer::NullBuffer;
use arrow::compute::{CastOptions, cast, cast_with_options};
use arrow::datatypes::{DataType, Decimal128Type, Float64Type, Int32Type, Int64Type};
use arrow::error::ArrowError;
use std::sync::Arc;

/// A value that its column cannot hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unfit {
    /// Where it is.
    pub row: usize,
    /// What it is.
    pub found: Found,
    /// The phrase behind the column's name: `expected a bigint, found "n/a"`.
    pub phrase: String,
}

/// A column of a job's type, null where a value does not fit, and those values in ascending order.
pub(super) type Converted = (ArrayRef, Vec<Unfit>);

/// The type of text columns that keep their file's dictionary.
pub(super) fn dictionary_of_text() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// Converts a column. Text may come out [with its dictionary](dictionary_of_text). `times` reads texts as instants.
pub(super) fn convert(array: &ArrayRef, ty: FieldType, times: &TimeReader) -> Result<Converted, ArrowError> {
    let all_fit = |array| Ok((array, Vec::new()));
    match (ty, array.data_type()) {
        (_, DataType::Null) => all_fit(new_null_array(&ty.arrow(), array.len())),
        (FieldType::Text, _) => text(array),
        (_, DataType::Dictionary(_, value)) => convert(&cast(array, value)?, ty, times),
        (FieldType::Json, _) => all_fit(Arc::new(json_values(array))),
        (FieldType::Time, _) => Ok(instants(array, times)),
        (FieldType::Int, from) if from.is_integer() && *from != DataType::UInt64 => {
            all_fit(cast(array, &DataType::Int64)?)
        }
        (FieldType::Double, from) if from.is_integer() || from.is_floating() => {
            all_fit(cast(array, &DataType::Float64)?)
        }
        (FieldType::Bool, DataType::Boolean) => all_fit(Arc::clone(array)),
        (FieldType::Decimal { scale, .. }, from) if keeps_digits(from, scale) => match strict_cast(array, ty) {
            Ok(array) => all_fit(array),
            Err(_) => each(array, ty),
        },
        _ => each(array, ty),
    }
}

/// Whether every value of a file's type fits a job's type.
pub(super) fn always_fits(from: &DataType, ty: FieldType) -> bool {
    match (ty, from) {
        (_, DataType::Null) | (FieldType::Json, _) => true,
        (FieldType::List(_), _) => false,
        (_, DataType::Dictionary(_, value)) => always_fits(value, ty),
        (FieldType::Text, from) => !is_bytes(from),
        (FieldType::Int, from) => from.is_integer() && *from != DataType::UInt64,
        (FieldType::Double, from) => from.is_numeric(),
        (FieldType::Bool, from) => *from == DataType::Boolean,
        (FieldType::Decimal { precision, scale }, from) => match *from {
            DataType::Decimal128(p, s) => scale >= s && i16::from(precision) - i16::from(p) >= i16::from(scale - s),
            _ => from.is_integer() && i16::from(precision) - i16::from(scale) >= 20,
        },
        // The coarser units reach beyond the years we can write.
        (FieldType::Time, DataType::Timestamp(unit, Some(_))) => *unit == arrow::datatypes::TimeUnit::Nanosecond,
        (FieldType::Time, _) => false,
    }
}

fn is_bytes(ty: &DataType) -> bool {
    matches!(ty, DataType::Binary | DataType::LargeBinary | DataType::BinaryView)
}

/// Whether a cast to decimals of this scale rounds nothing.
fn keeps_digits(from: &DataType, scale: i8) -> bool {
    match from {
        &DataType::Decimal32(_, s) | &DataType::Decimal64(_, s) | &DataType::Decimal128(_, s) => scale >= s,
        other => other.is_integer(),
    }
}

fn strict_cast(array: &ArrayRef, ty: FieldType) -> Result<ArrayRef, ArrowError> {
    cast_with_options(array, &ty.arrow(), &CastOptions { safe: false, ..CastOptions::default() })
}

fn instants(array: &ArrayRef, times: &TimeReader) -> Converted {
    let read = times::read(array, times);
    let unfit = |(row, phrase): (usize, String)| Unfit { row, found: Found::Other, phrase };
    let bad: Vec<Unfit> = read.bad.into_iter().map(unfit).collect();
    let nulls = without(array.logical_nulls(), array.len(), &bad);
    (Arc::new(TimestampMicrosecondArray::new(read.micros, nulls).with_timezone("UTC")), bad)
}

fn without(nulls: Option<NullBuffer>, len: usize, unfit: &[Unfit]) -> Option<NullBuffer> {
    if unfit.is_empty() {
        return nulls;
    }
    let mut valid: Vec<bool> = (0..len).map(|row| nulls.as_ref().is_none_or(|n| n.is_valid(row))).collect();
    unfit.iter().for_each(|u| valid[u.row] = false);
    Some(valid.into())
}

fn text(array: &ArrayRef) -> Result<Converted, ArrowError> {
    let all_fit = |array| Ok((array, Vec::new()));
    match array.data_type() {
        DataType::Utf8 => all_fit(Arc::clone(array)),
        DataType::LargeUtf8 | DataType::Utf8View => all_fit(cast(array, &DataType::Utf8)?),
        ty if *ty == dictionary_of_text() => all_fit(Arc::clone(array)),
        DataType::Dictionary(key, value) if **key == DataType::Int32 && **value == DataType::Binary => {
            dictionary_of_bytes(array, value)
        }
        DataType::Dictionary(_, value) => match **value {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => all_fit(cast(array, &dictionary_of_text())?),
            _ => text(&cast(array, value)?),
        },
        ty if is_bytes(ty) => Ok(text_of_bytes(array)),
        _ => all_fit(Arc::new(json_texts(array))),
    }
}

/// Byte strings that turn out to be text need no look at every row.
fn dictionary_of_bytes(array: &ArrayRef, value: &DataType) -> Result<Converted, ArrowError> {
    let dictionary = array.as_dictionary::<Int32Type>();
    let bytes = dictionary.values().as_binary::<i32>();
    match StringArray::try_new(bytes.offsets().clone(), bytes.values().clone(), bytes.nulls().cloned()) {
        Ok(words) => {
            let keys = dictionary.keys().clone();
            Ok((Arc::new(DictionaryArray::<Int32Type>::try_new(keys, Arc::new(words))?), Vec::new()))
        }
        Err(_) => Ok(text_of_bytes(&cast(array, value)?)),
    }
}

fn text_of_bytes(array: &ArrayRef) -> Converted {
    let mut texts = StringBuilder::with_capacity(array.len(), 0);
    let mut unfit = Vec::new();
    for row in 0..array.len() {
        let bytes = bytes_at(array, row).filter(|_| array.is_valid(row));
        match bytes.map(std::str::from_utf8) {
            Some(Ok(text)) => texts.append_value(text),
            None => texts.append_null(),
            Some(Err(_)) => {
                texts.append_null();
                let phrase = format!("expected UTF-8 text, found the bytes {}", shown(array, row));
                unfit.push(Unfit { row, found: Found::Other, phrase });
            }
        }
    }
    (Arc::new(texts.finish()), unfit)
}

fn json_texts(array: &dyn Array) -> StringArray {
    (0..array.len()).map(|row| array.is_valid(row).then(|| value_text(array, row))).collect()
}

/// Each value as it stands in JSON.
fn json_values(array: &dyn Array) -> LargeStringArray {
    (0..array.len()).map(|row| array.is_valid(row).then(|| value_json(array, row))).collect()
}

/// The general way to numbers and truth values, row by row.
fn each(array: &ArrayRef, ty: FieldType) -> Result<Converted, ArrowError> {
    let rows = Rows { array, ty };
    Ok(match ty {
        FieldType::Int => rows.numbers::<Int64Type>(|text| whole(&text)),
        FieldType::Double => rows.numbers::<Float64Type>(|text| double_of_number(text.as_bytes())),
        FieldType::Decimal { precision, scale } => {
            let (array, unfit) = rows.numbers::<Decimal128Type>(|text| decimal(text.as_bytes(), precision, scale));
            let array = array.as_primitive::<Decimal128Type>().clone().with_precision_and_scale(precision, scale)?;
            (Arc::new(array), unfit)
        }
        FieldType::Bool | FieldType::Text | FieldType::Json | FieldType::Time | FieldType::List(_) => rows.none_fit(),
    })
}

/// The integer that a number's text stands for, if it is one: a column of doubles may well hold whole numbers.
fn whole(text: &str) -> Result<i64, Found> {
    let value = decimal(text.as_bytes(), 38, 0)?;
    i64::try_from(value).map_err(|_| Found::BigInteger)
}

struct Rows<'a> {
    array: &'a ArrayRef,
    ty: FieldType,
}

impl Rows<'_> {
    fn unfit(&self, row: usize, found: Found) -> Unfit {
        let phrase = format!("expected a {}, found {}", self.ty.name(), shown(self.array, row));
        Unfit { row, found, phrase }
    }

    fn numbers<T: ArrowPrimitiveType>(&self, read: impl Fn(String) -> Result<T::Native, Found>) -> Converted {
        let mut unfit = Vec::new();
        let values = (0..self.array.len()).map(|row| {
            let read = match self.array.is_null(row) {
                true => return None,
                false => number_text(self.array, row).and_then(&read),
            };
            read.inspect_err(|&found| unfit.push(self.unfit(row, found))).ok()
        });
        let values: PrimitiveArray<T> = values.collect();
        (Arc::new(values), unfit)
    }

    fn none_fit(&self) -> Converted {
        let rows = (0..self.array.len()).filter(|&row| self.array.is_valid(row));
        let unfit = rows.map(|row| self.unfit(row, Found::Other)).collect();
        match self.ty {
            FieldType::Bool => (Arc::new(BooleanArray::new_null(self.array.len())), unfit),
            ty => (new_null_array(&ty.arrow(), self.array.len()), unfit),
        }
    }
}

/// The text of a number; NaN, the infinities and all other types are none.
fn number_text(array: &dyn Array, row: usize) -> Result<String, Found> {
    match array.data_type() {
        ty if ty.is_floating() && !double_at(array, row).is_finite() => Err(Found::Other),
        ty if ty.is_numeric() => Ok(value_text(array, row)),
        _ => Err(Found::Other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{TimeFormat, Zone};
    use arrow::array::{
        BinaryArray, Date32Array, Decimal128Array, Float64Array, Int32Array, LargeStringArray, UInt64Array,
    };

    fn converted(array: impl Array + 'static, ty: FieldType) -> (Vec<String>, Vec<(usize, Found, String)>) {
        let array: ArrayRef = Arc::new(array);
        let reader = TimeReader::new(TimeFormat::Auto, Zone::UTC);
        let (out, unfit) = convert(&array, ty, &reader).unwrap();
        assert_eq!(out.len(), array.len());
        if ty != FieldType::Text {
            assert_eq!(out.data_type(), &ty.arrow());
        }
        if always_fits(array.data_type(), ty) {
            assert_eq!(unfit, []);
        }
        let texts = (0..out.len()).map(|row| value_text(&out, row)).collect();
        (texts, unfit.into_iter().map(|u| (u.row, u.found, u.phrase)).collect())
    }

    fn fits(array: impl Array + 'static, ty: FieldType) -> Vec<String> {
        let (texts, unfit) = converted(array, ty);
        assert_eq!(unfit, []);
        texts
    }

    fn unfit(array: impl Array + 'static, ty: FieldType) -> Vec<(usize, Found, String)> {
        converted(array, ty).1
    }

    const MONEY: FieldType = FieldType::Decimal { precision: 5, scale: 2 };

    #[test]
    fn numbers_go_where_they_fit_exactly() {
        assert_eq!(fits(Int32Array::from(vec![Some(3), None]), FieldType::Int), ["3", "null"]);
        assert_eq!(fits(Int32Array::from(vec![3]), FieldType::Double), ["3.0"]);
        assert_eq!(fits(Int32Array::from(vec![3]), MONEY), ["3.00"]);
        assert_eq!(fits(Float64Array::from(vec![2.0, 1e18]), FieldType::Int), ["2", "1000000000000000000"]);
        assert_eq!(fits(Float64Array::from(vec![2.5]), MONEY), ["2.50"]);
        let decimal = Decimal128Array::from(vec![110]).with_precision_and_scale(5, 1).unwrap();
        assert_eq!(fits(decimal.clone(), FieldType::Int), ["11"]);
        assert_eq!(fits(decimal.clone(), FieldType::Double), ["11.0"]);
        assert_eq!(fits(decimal, MONEY), ["11.00"]);
        assert_eq!(
            fits(UInt64Array::from(vec![u64::MAX]), FieldType::Decimal { precision: 38, scale: 0 }),
            ["18446744073709551615"]
        );
    }

    #[test]
    fn numbers_that_do_not_fit_say_why() {
        let fraction = unfit(Float64Array::from(vec![1.0, 0.5]), FieldType::Int);
        assert_eq!(fraction, [(1, Found::Fraction, "expected a bigint, found 0.5".into())]);
        assert_eq!(unfit(UInt64Array::from(vec![u64::MAX]), FieldType::Int)[0].1, Found::BigInteger);
        assert_eq!(unfit(Float64Array::from(vec![f64::NAN]), FieldType::Int)[0].1, Found::Other);
        assert_eq!(unfit(Int32Array::from(vec![1000, 999]), MONEY)[0].1, Found::BigInteger);
        assert_eq!(unfit(Float64Array::from(vec![0.125]), MONEY)[0].1, Found::Fraction);
        let text = unfit(StringArray::from(vec![Some("7"), None]), FieldType::Double);
        assert_eq!(text, [(0, Found::Other, "expected a double, found \"7\"".into())]);
        assert_eq!(unfit(Int32Array::from(vec![0]), FieldType::Bool)[0].1, Found::Other);
    }

    #[test]
    fn everything_has_its_text() {
        assert_eq!(fits(LargeStringArray::from(vec!["a"]), FieldType::Text), ["a"]);
        assert_eq!(fits(Float64Array::from(vec![Some(1.0), None]), FieldType::Text), ["1.0", "null"]);
        assert_eq!(fits(Date32Array::from(vec![0]), FieldType::Text), ["1970-01-01"]);
    }

    #[test]
    fn bytes_are_text_when_they_are_utf8() {
        let (texts, bad) = converted(BinaryArray::from(vec![b"ok".as_slice(), b"\xff\x00"]), FieldType::Text);
        assert_eq!(texts, ["ok", "null"]);
        assert_eq!(bad, [(1, Found::Other, "expected UTF-8 text, found the bytes \"ff00\"".into())]);
        let words = |last: &'static [u8]| -> ArrayRef { Arc::new(BinaryArray::from(vec![b"a".as_slice(), last])) };
        let keys = Int32Array::from(vec![Some(1), None, Some(0)]);
        let dictionary = |last| DictionaryArray::<Int32Type>::try_new(keys.clone(), words(last)).unwrap();
        assert_eq!(fits(dictionary(b"b"), FieldType::Text), ["b", "null", "a"]);
        assert_eq!(unfit(dictionary(b"\xff"), FieldType::Text)[0].0, 0);
    }

    #[test]
    fn a_column_of_nothing_is_null_in_any_type() {
        assert_eq!(fits(arrow::array::NullArray::new(1), MONEY), ["null"]);
        assert_eq!(fits(arrow::array::NullArray::new(1), FieldType::Text), ["null"]);
    }
}
