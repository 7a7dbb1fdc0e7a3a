//! Values of one type as values of another, and constants as columns.
//!
//! Must not know expressions. What DuckDB does is done: doubles round half to even, decimals half away from zero.

use super::functions::Failures;
use super::literal;
use crate::error::{Error, Result};
use crate::schema::{FieldType, Literal};
use crate::time::{DayCache, TimeWriter, Ts, Zone};
use arrow::array::{
    ArrayRef, AsArray, BooleanArray, Decimal128Array, Float64Array, Int64Array, PrimitiveArray, StringArray,
    StringBuilder, TimestampMicrosecondArray, new_null_array,
};
use arrow::compute::cast as arrow_cast;
use arrow::datatypes::{ArrowPrimitiveType, Decimal128Type, Float64Type, Int64Type, TimestampMicrosecondType};
use std::cell::RefCell;
use std::sync::Arc;

/// The most digits a decimal can have.
const DIGITS: u8 = 38;

/// Whether values of one type can be cast to another at all.
pub(super) fn can_cast(from: FieldType, to: FieldType) -> bool {
    use FieldType::{Bool, Decimal, Double, Int, Json, List, Text, Time};
    match (from.in_expressions(), to) {
        (List(_), _) | (_, List(_) | Json) => false,
        (Time, Int | Double | Bool | Decimal { .. }) | (Int | Double | Bool | Decimal { .. }, Time) => false,
        (Bool, Decimal { .. }) | (Decimal { .. }, Bool) => false,
        (Int | Double | Bool | Text | Json | Decimal { .. } | Time, _) => true,
    }
}

/// A constant as a column of one row.
pub(super) fn one(value: &Literal, ty: FieldType) -> ArrayRef {
    match value {
        Literal::Null => new_null_array(&ty.arrow(), 1),
        Literal::Int(value) => Arc::new(Int64Array::from(vec![*value])),
        Literal::Double(value) => Arc::new(Float64Array::from(vec![*value])),
        Literal::Bool(value) => Arc::new(BooleanArray::from(vec![*value])),
        Literal::Text(value) => Arc::new(StringArray::from(vec![value.as_str()])),
        Literal::Decimal { value, .. } => Arc::new(Decimal128Array::from(vec![*value]).with_data_type(ty.arrow())),
        Literal::Time(ts) => Arc::new(TimestampMicrosecondArray::from(vec![ts.micros()]).with_timezone("UTC")),
    }
}

/// A text read as another type, as a column of one row.
pub(super) fn read(text: &str, to: FieldType, zone: &Zone) -> Result<ArrayRef, String> {
    let mut failures = Failures::new();
    let texts: ArrayRef = Arc::new(StringArray::from(vec![text]));
    let values = cast(&texts, FieldType::Text, to, zone, &mut failures).map_err(|e| e.message().to_owned())?;
    failures.pop_first().map_or(Ok(values), |(_, why)| Err(why))
}

/// A column as another type. Values that cannot be are null, and told.
pub(super) fn cast(
    array: &ArrayRef,
    from: FieldType,
    to: FieldType,
    zone: &Zone,
    failures: &mut Failures,
) -> Result<ArrayRef> {
    use FieldType::{Bool, Decimal, Double, Int, Text, Time};
    let arrow = || arrow_cast(array, &to.arrow()).map_err(|e| Error::failed(format!("cannot cast: {e}")));
    match (from, to) {
        (from, to) if from == to => Ok(Arc::clone(array)),
        (Int, Double) | (Int | Double, Bool) | (Bool, Int | Double | Text) | (Int, Text) => arrow(),
        (Decimal { scale, .. }, Double) => {
            let power = 10f64.powi(scale.into());
            Ok(Arc::new(array.as_primitive::<Decimal128Type>().unary::<_, Float64Type>(|value| value as f64 / power)))
        }
        (Double, Int) => numbers::<Float64Type, Int64Type>(array, failures, to, whole),
        (Double, Decimal { precision, scale }) => {
            let array = numbers::<Float64Type, Decimal128Type>(array, failures, to, |value| {
                let scaled = (value * 10f64.powi(scale.into())).round();
                (scaled.abs() < 1e38).then_some(scaled as i128).filter(|value| fits(*value, precision))
            })?;
            Ok(typed_decimals(&array, to))
        }
        (Int, Decimal { precision, scale }) => {
            let power = 10i128.pow(scale.unsigned_abs().into());
            let array = numbers::<Int64Type, Decimal128Type>(array, failures, to, |value| {
                i128::from(value).checked_mul(power).filter(|value| fits(*value, precision))
            })?;
            Ok(typed_decimals(&array, to))
        }
        (Decimal { scale, .. }, Int) => numbers::<Decimal128Type, Int64Type>(array, failures, to, |value| {
            i64::try_from(rescaled(value, scale, 0)?).ok()
        }),
        (Decimal { scale, .. }, Decimal { precision, scale: wanted }) => {
            let array = numbers::<Decimal128Type, Decimal128Type>(array, failures, to, |value| {
                rescaled(value, scale, wanted).filter(|value| fits(*value, precision))
            })?;
            Ok(typed_decimals(&array, to))
        }
        (Decimal { scale, .. }, Text) => {
            let values = array.as_primitive::<Decimal128Type>();
            Ok(Arc::new(values.iter().map(|v| v.map(|v| literal::decimal(v, scale))).collect::<StringArray>()))
        }
        (Double, Text) => Ok(Arc::new(double_texts(array.as_primitive::<Float64Type>()))),
        (Time, Text) => Ok(Arc::new(time_texts(array.as_primitive::<TimestampMicrosecondType>(), zone))),
        (Text, to) => Ok(from_text(array.as_string::<i32>(), to, zone, failures)),
        (from, to) => Err(Error::failed(format!("a {} cannot become a {}", from.name(), to.name()))),
    }
}

/// Numbers one by one. None: it cannot be.
fn numbers<A: ArrowPrimitiveType, B: ArrowPrimitiveType>(
    array: &ArrayRef,
    failures: &mut Failures,
    to: FieldType,
    convert: impl Fn(A::Native) -> Option<B::Native>,
) -> Result<ArrayRef>
where
    A::Native: std::fmt::Display,
{
    let values = array.as_primitive::<A>();
    let each = values.iter().enumerate().map(|(row, value)| {
        let converted = convert(value?);
        if converted.is_none() {
            failures.insert(row, format!("{} does not fit a {}", shown(values, row), to.name()));
        }
        converted
    });
    Ok(Arc::new(each.collect::<PrimitiveArray<B>>()))
}

fn shown<A: ArrowPrimitiveType>(values: &PrimitiveArray<A>, row: usize) -> String {
    arrow::util::display::array_value_to_string(values, row).unwrap_or_default()
}

/// Half to even, as DuckDB.
fn whole(value: f64) -> Option<i64> {
    let rounded = value.round_ties_even();
    (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&rounded).then_some(rounded as i64)
}

/// Whether a decimal has no more digits than this.
pub(super) fn fits(value: i128, precision: u8) -> bool {
    value.unsigned_abs() < 10u128.pow(u32::from(precision.min(38)))
}

/// The same decimal with another number of digits behind the point, rounded half away from zero.
pub(super) fn rescaled(value: i128, from: i8, to: i8) -> Option<i128> {
    if to >= from {
        return value.checked_mul(10i128.checked_pow((to - from).unsigned_abs().into())?);
    }
    let divisor = 10i128.checked_pow((from - to).unsigned_abs().into())?;
    let (quotient, rest) = (value / divisor, value % divisor);
    let up = rest.unsigned_abs() * 2 >= divisor.unsigned_abs();
    Some(if up { quotient + value.signum() } else { quotient })
}

pub(super) fn typed_decimals(array: &ArrayRef, ty: FieldType) -> ArrayRef {
    Arc::new(array.as_primitive::<Decimal128Type>().clone().with_data_type(ty.arrow()))
}

fn double_texts(values: &Float64Array) -> StringArray {
    let mut buffer = zmij::Buffer::new();
    let mut out = StringBuilder::new();
    for value in values {
        match value {
            None => out.append_null(),
            Some(value) if value.is_nan() => out.append_value("nan"),
            Some(value) if value.is_infinite() => out.append_value(if value > 0.0 { "inf" } else { "-inf" }),
            Some(value) => out.append_value(buffer.format(value)),
        }
    }
    out.finish()
}

fn time_texts(values: &TimestampMicrosecondArray, zone: &Zone) -> StringArray {
    let writer = TimeWriter::new(zone);
    let text = |micros: i64| {
        let mut text = Vec::new();
        writer.append(Ts::from_micros(micros), &mut text);
        String::from_utf8_lossy(&text).into_owned()
    };
    values.iter().map(|value| value.map(text)).collect()
}

fn from_text(texts: &StringArray, to: FieldType, zone: &Zone, failures: &mut Failures) -> ArrayRef {
    match to {
        FieldType::Int => Arc::new(each(texts, to, failures, read_int).collect::<Int64Array>()),
        FieldType::Double => Arc::new(each(texts, to, failures, read_double).collect::<Float64Array>()),
        FieldType::Bool => Arc::new(each(texts, to, failures, read_bool).collect::<BooleanArray>()),
        FieldType::Time => {
            let (reader, cache) = (literal::time_reader(zone), RefCell::new(DayCache::default()));
            let read = |text: &str| reader.text(text.as_bytes(), &mut cache.borrow_mut()).ok();
            let times = each(texts, to, failures, |text| read(text).map(|reading| reading.ts.micros()));
            Arc::new(times.collect::<TimestampMicrosecondArray>().with_timezone("UTC"))
        }
        FieldType::Decimal { precision, scale } => {
            let values = each(texts, to, failures, |text| read_decimal(text, precision, scale));
            typed_decimals(&(Arc::new(values.collect::<Decimal128Array>()) as ArrayRef), to)
        }
        FieldType::Text | FieldType::Json | FieldType::List(_) => Arc::new(texts.clone()),
    }
}

fn each<'a, T>(
    texts: &'a StringArray,
    to: FieldType,
    failures: &'a mut Failures,
    read: impl Fn(&str) -> Option<T> + 'a,
) -> impl Iterator<Item = Option<T>> + 'a {
    texts.iter().enumerate().map(move |(row, text)| {
        let text = text?;
        let value = read(text.trim());
        if value.is_none() {
            let short: String = text.chars().take(40).collect();
            failures.insert(row, format!("cannot read \"{short}\" as {}", to.name()));
        }
        value
    })
}

/// Fractions of a text round half away from zero, those of a double half to even: so does DuckDB.
fn read_int(text: &str) -> Option<i64> {
    text.parse().ok().or_else(|| read_decimal(text, DIGITS, 0).and_then(|value| i64::try_from(value).ok()))
}

/// Rust's grammar of numbers is SQL's, with `inf` and `nan`; a lone point is none of it.
fn read_double(text: &str) -> Option<f64> {
    text.parse().ok()
}

fn read_bool(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "t" | "1" | "yes" | "y" | "on" => Some(true),
        "false" | "f" | "0" | "no" | "n" | "off" => Some(false),
        _ => None,
    }
}

fn read_decimal(text: &str, precision: u8, scale: i8) -> Option<i128> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_plain = whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit());
    if !is_plain || whole.len() + fraction.len() == 0 {
        let value: f64 = text.parse().ok().filter(|value: &f64| value.is_finite())?;
        let scaled = (value * 10f64.powi(scale.into())).round();
        return (scaled.abs() < 1e38).then_some(scaled as i128).filter(|value| fits(*value, precision));
    }
    // Digits behind the scale only round, so that there may be any number of them.
    let scale = usize::try_from(scale).unwrap_or(0);
    let kept: String = whole.chars().chain(fraction.chars().chain(std::iter::repeat('0')).take(scale)).collect();
    let value = if kept.is_empty() { 0 } else { kept.parse::<i128>().ok()? };
    let up = fraction.as_bytes().get(scale).is_some_and(|digit| *digit >= b'5');
    let value = value.checked_add(i128::from(up))?;
    Some(if negative { -value } else { value }).filter(|value| fits(*value, precision))
}
