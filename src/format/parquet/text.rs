//! Values of any Arrow type as the text that JSON would have for them.
//!
//! Must not know columns of a job or their rules. A scalar that JSON writes in quotes (text, dates, instants) stands
//! without them when it is the whole value and with them inside an array or object. Instants are cut to microseconds.

use crate::time::civil_from_days;
use arrow::array::{Array, ArrayRef, AsArray, MapArray, StructArray};
use arrow::datatypes::{
    DataType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType,
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType,
    Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use std::fmt::Write;

const DAY: i64 = 86_400_000_000;

/// The whole value of a row as text; `null` for a null.
pub(super) fn value_text(array: &dyn Array, row: usize) -> String {
    let mut out = String::new();
    write_value(array, row, false, &mut out);
    out
}

/// The whole value of a row as it stands in JSON.
pub(super) fn value_json(array: &dyn Array, row: usize) -> String {
    let mut out = String::new();
    write_value(array, row, true, &mut out);
    out
}

/// The value of a row as it stands in JSON, cut to about 40 characters: for error messages.
pub(super) fn shown(array: &dyn Array, row: usize) -> String {
    const LONGEST: usize = 40;
    let mut out = value_json(array, row);
    if let Some((end, _)) = out.char_indices().nth(LONGEST) {
        out.truncate(end);
        out.push_str("...");
    }
    out
}

/// Appends the value of a row; `quoted`: as a part of a JSON document.
fn write_value(array: &dyn Array, row: usize, quoted: bool, out: &mut String) {
    if array.is_null(row) {
        return out.push_str("null");
    }
    match array.data_type() {
        DataType::Null => out.push_str("null"),
        DataType::Boolean => out.push_str(if array.as_boolean().value(row) { "true" } else { "false" }),
        ty if ty.is_integer() => write_integer(array, row, out),
        ty if ty.is_floating() => write_double(double_at(array, row), quoted, out),
        ty if ty.is_decimal() => write_decimal(array, row, out),
        DataType::Dictionary(..) => {
            let one = array.slice(row, 1);
            let dictionary = one.as_any_dictionary();
            write_value(dictionary.values(), dictionary.normalized_keys()[0], quoted, out);
        }
        ty if ty.is_nested() => write_nested(array, row, out),
        _ => write_scalar_text(array, row, quoted, out),
    }
}

fn write_integer(array: &dyn Array, row: usize, out: &mut String) {
    let mut buffer = itoa::Buffer::new();
    out.push_str(match array.data_type() {
        DataType::Int8 => buffer.format(array.as_primitive::<Int8Type>().value(row)),
        DataType::Int16 => buffer.format(array.as_primitive::<Int16Type>().value(row)),
        DataType::Int32 => buffer.format(array.as_primitive::<Int32Type>().value(row)),
        DataType::Int64 => buffer.format(array.as_primitive::<Int64Type>().value(row)),
        DataType::UInt8 => buffer.format(array.as_primitive::<UInt8Type>().value(row)),
        DataType::UInt16 => buffer.format(array.as_primitive::<UInt16Type>().value(row)),
        DataType::UInt32 => buffer.format(array.as_primitive::<UInt32Type>().value(row)),
        _ => buffer.format(array.as_primitive::<UInt64Type>().value(row)),
    });
}

/// The value of a row of a floating column of any width.
pub(super) fn double_at(array: &dyn Array, row: usize) -> f64 {
    match array.data_type() {
        DataType::Float16 => array.as_primitive::<Float16Type>().value(row).to_f64(),
        DataType::Float32 => f64::from(array.as_primitive::<Float32Type>().value(row)),
        _ => array.as_primitive::<Float64Type>().value(row),
    }
}

/// The shortest text that reads back as the same double. JSON has no text for NaN and the infinities.
fn write_double(value: f64, quoted: bool, out: &mut String) {
    match value {
        v if v.is_finite() => out.push_str(zmij::Buffer::new().format_finite(v)),
        _ if quoted => out.push_str("null"),
        v if v.is_nan() => out.push_str("NaN"),
        v => out.push_str(if v > 0.0 { "Infinity" } else { "-Infinity" }),
    }
}

fn write_decimal(array: &dyn Array, row: usize, out: &mut String) {
    fn format<T: DecimalType>(array: &dyn Array, row: usize, precision: u8, scale: i8) -> String {
        T::format_decimal(array.as_primitive::<T>().value(row), precision, scale)
    }
    out.push_str(&match *array.data_type() {
        DataType::Decimal32(p, s) => format::<Decimal32Type>(array, row, p, s),
        DataType::Decimal64(p, s) => format::<Decimal64Type>(array, row, p, s),
        DataType::Decimal256(p, s) => format::<Decimal256Type>(array, row, p, s),
        DataType::Decimal128(p, s) => format::<Decimal128Type>(array, row, p, s),
        _ => String::new(),
    });
}

fn write_nested(array: &dyn Array, row: usize, out: &mut String) {
    match array.data_type() {
        DataType::Struct(_) => write_struct(array.as_struct(), row, out),
        DataType::Map(..) => write_map(array.as_map(), row, out),
        DataType::List(_) => write_items(&array.as_list::<i32>().value(row), out),
        DataType::LargeList(_) => write_items(&array.as_list::<i64>().value(row), out),
        DataType::FixedSizeList(..) => write_items(&array.as_fixed_size_list().value(row), out),
        DataType::ListView(_) => write_items(&array.as_list_view::<i32>().value(row), out),
        DataType::LargeListView(_) => write_items(&array.as_list_view::<i64>().value(row), out),
        _ => write_json_string(&displayed(array, row), out),
    }
}

fn write_items(items: &ArrayRef, out: &mut String) {
    out.push('[');
    for i in 0..items.len() {
        if i > 0 {
            out.push(',');
        }
        write_value(items, i, true, out);
    }
    out.push(']');
}

fn write_struct(array: &StructArray, row: usize, out: &mut String) {
    out.push('{');
    for (i, (name, column)) in array.column_names().into_iter().zip(array.columns()).enumerate() {
        if i > 0 {
            out.push(',');
        }
        write_json_string(name, out);
        out.push(':');
        write_value(column, row, true, out);
    }
    out.push('}');
}

fn write_map(array: &MapArray, row: usize, out: &mut String) {
    let entries = array.value(row);
    out.push('{');
    for i in 0..entries.len() {
        if i > 0 {
            out.push(',');
        }
        write_json_string(&value_text(entries.column(0), i), out);
        out.push(':');
        write_value(entries.column(1), i, true, out);
    }
    out.push('}');
}

/// Text, bytes, dates and times: what JSON writes in quotes.
fn write_scalar_text(array: &dyn Array, row: usize, quoted: bool, out: &mut String) {
    let text = match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(row).into(),
        DataType::LargeUtf8 => array.as_string::<i64>().value(row).into(),
        DataType::Utf8View => array.as_string_view().value(row).into(),
        _ => std::borrow::Cow::from(odd_text(array, row)),
    };
    match quoted {
        true => write_json_string(&text, out),
        false => out.push_str(&text),
    }
}

fn odd_text(array: &dyn Array, row: usize) -> String {
    if let Some(bytes) = bytes_at(array, row) {
        return String::from_utf8(bytes.to_vec()).unwrap_or_else(|_| hex(bytes));
    }
    match array.data_type() {
        DataType::FixedSizeBinary(_) => hex(array.as_fixed_size_binary().value(row)),
        DataType::Date32 => date_text(i64::from(array.as_primitive::<Date32Type>().value(row))),
        DataType::Date64 => date_text(array.as_primitive::<Date64Type>().value(row).div_euclid(86_400_000)),
        DataType::Time32(_) | DataType::Time64(_) => clock_text(clock_micros(array, row)),
        DataType::Timestamp(unit, zone) => instant_text(stamp_micros(array, *unit, row), zone.is_some()),
        _ => displayed(array, row),
    }
}

/// The bytes of a row of a column of byte strings of any layout; none for other columns.
pub(super) fn bytes_at(array: &dyn Array, row: usize) -> Option<&[u8]> {
    Some(match array.data_type() {
        DataType::Binary => array.as_binary::<i32>().value(row),
        DataType::LargeBinary => array.as_binary::<i64>().value(row),
        DataType::BinaryView => array.as_binary_view().value(row),
        _ => return None,
    })
}

fn displayed(array: &dyn Array, row: usize) -> String {
    match ArrayFormatter::try_new(array, &FormatOptions::default()) {
        Ok(formatter) => formatter.value(row).to_string(),
        Err(_) => "null".to_owned(),
    }
}

/// Lower-case hexadecimal digits, two a byte.
pub(super) fn hex(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(out, "{byte:02x}");
    }
    out
}

fn date_text(days: i64) -> String {
    match civil(i128::from(days) * i128::from(DAY)) {
        Some(date) => date.date().to_string(),
        None => days.to_string(),
    }
}

/// The civil time so many microseconds after 1970-01-01T00:00; none beyond the years -9999 to 9999.
fn civil(micros: i128) -> Option<jiff::civil::DateTime> {
    let day = i64::try_from(micros.div_euclid(i128::from(DAY))).ok().filter(|day| day.abs() < 10_000 * 366)?;
    let (year, month, of_month) = civil_from_days(day);
    let date = jiff::civil::Date::new(i16::try_from(year).ok()?, month as i8, of_month as i8).ok()?;
    let micros = i64::try_from(micros.rem_euclid(i128::from(DAY))).ok()?;
    date.at(0, 0, 0, 0).checked_add(jiff::Span::new().microseconds(micros)).ok()
}

fn clock_micros(array: &dyn Array, row: usize) -> i64 {
    match array.data_type() {
        DataType::Time32(TimeUnit::Second) => {
            i64::from(array.as_primitive::<Time32SecondType>().value(row)) * 1_000_000
        }
        DataType::Time32(_) => i64::from(array.as_primitive::<Time32MillisecondType>().value(row)) * 1_000,
        DataType::Time64(TimeUnit::Microsecond) => array.as_primitive::<Time64MicrosecondType>().value(row),
        _ => array.as_primitive::<Time64NanosecondType>().value(row).div_euclid(1_000),
    }
}

fn clock_text(micros: i64) -> String {
    let seconds = micros.div_euclid(1_000_000);
    let mut out = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    write_fraction(micros.rem_euclid(1_000_000), &mut out);
    out
}

/// None, three or six digits of a fraction of a second, as needed.
fn write_fraction(micros: i64, out: &mut String) {
    let _ = match micros {
        0 => Ok(()),
        m if m % 1_000 == 0 => write!(out, ".{:03}", m / 1_000),
        m => write!(out, ".{m:06}"),
    };
}

/// A timestamp's distance from 1970 in microseconds, floored.
pub(super) fn stamp_micros(array: &dyn Array, unit: TimeUnit, row: usize) -> i128 {
    match unit {
        TimeUnit::Second => i128::from(array.as_primitive::<TimestampSecondType>().value(row)) * 1_000_000,
        TimeUnit::Millisecond => i128::from(array.as_primitive::<TimestampMillisecondType>().value(row)) * 1_000,
        TimeUnit::Microsecond => i128::from(array.as_primitive::<TimestampMicrosecondType>().value(row)),
        TimeUnit::Nanosecond => {
            i128::from(array.as_primitive::<TimestampNanosecondType>().value(row).div_euclid(1_000))
        }
    }
}

fn instant_text(micros: i128, utc: bool) -> String {
    let Some(civil) = civil(micros) else { return micros.to_string() };
    let mut out = civil.with().subsec_nanosecond(0).build().unwrap_or(civil).to_string();
    write_fraction(micros.rem_euclid(1_000_000) as i64, &mut out);
    if utc {
        out.push('Z');
    }
    out
}

fn write_json_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{
        BinaryArray, Date32Array, Decimal128Array, DictionaryArray, FixedSizeBinaryArray, Float32Array, Float64Array,
        Int64Array, ListArray, MapBuilder, StringArray, StringBuilder, Time64MicrosecondArray,
        TimestampNanosecondArray,
    };
    use arrow::datatypes::{Field, Fields, Int32Type};
    use std::sync::Arc;

    fn text(array: impl Array) -> String {
        value_text(&array, 0)
    }

    #[test]
    fn scalars_are_their_json_text_without_quotes() {
        assert_eq!(text(Int64Array::from(vec![-7])), "-7");
        assert_eq!(text(Float64Array::from(vec![1.5])), "1.5");
        assert_eq!(text(Float64Array::from(vec![f64::NEG_INFINITY])), "-Infinity");
        assert_eq!(text(Float32Array::from(vec![0.1])), "0.10000000149011612");
        assert_eq!(text(StringArray::from(vec!["a\"b"])), "a\"b");
        assert_eq!(text(Date32Array::from(vec![-1])), "1969-12-31");
        assert_eq!(text(Time64MicrosecondArray::from(vec![3_723_000_500])), "01:02:03.000500");
        assert_eq!(text(TimestampNanosecondArray::from(vec![-1])), "1969-12-31T23:59:59.999999");
        assert_eq!(text(TimestampNanosecondArray::from(vec![0]).with_timezone("Asia/Tokyo")), "1970-01-01T00:00:00Z");
        assert_eq!(text(BinaryArray::from(vec![b"ok".as_slice()])), "ok");
        assert_eq!(text(FixedSizeBinaryArray::try_from_iter([[0u8, 255]].iter()).unwrap()), "00ff");
        let decimal = Decimal128Array::from(vec![-105]).with_precision_and_scale(5, 2).unwrap();
        assert_eq!(text(decimal), "-1.05");
    }

    #[test]
    fn nested_values_are_json() {
        let list = ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1), None])]);
        assert_eq!(text(list), "[1,null]");
        let words: DictionaryArray<Int32Type> = ["a\n\u{1}", "b"].into_iter().collect();
        let fields = Fields::from(vec![
            Field::new("w", words.data_type().clone(), true),
            Field::new("n", DataType::Float64, true),
        ]);
        let columns: Vec<ArrayRef> = vec![Arc::new(words), Arc::new(Float64Array::from(vec![f64::NAN, 2.0]))];
        let object = StructArray::new(fields, columns, None);
        assert_eq!(value_text(&object, 0), r#"{"w":"a\n\u0001","n":null}"#);
        assert_eq!(value_text(&object, 1), r#"{"w":"b","n":2.0}"#);
    }

    #[test]
    fn maps_are_objects() {
        let mut map = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
        map.keys().append_value("k");
        map.values().append_value("v");
        map.append(true).unwrap();
        assert_eq!(text(map.finish()), r#"{"k":"v"}"#);
    }

    #[test]
    fn what_is_shown_is_quoted_and_short() {
        let array = StringArray::from(vec!["n/a".to_owned(), "é".repeat(90)]);
        assert_eq!(shown(&array, 0), "\"n/a\"");
        assert_eq!(shown(&array, 1), format!("\"{}...", "é".repeat(39)));
    }
}
