//! A value of a column as plain text: what CSV and tables share.
//!
//! Must not know quotes, widths or terminals. Every text reads back as the same value: doubles are the shortest such
//! text, decimals are exact, instants are RFC 3339.

use super::jsonl::encode::Values as Json;
use crate::error::{Error, Result};
use crate::json::text_of;
use crate::time::{TimeWriter, Ts, Zone};
use arrow::array::{
    Array, AsArray, BooleanArray, Decimal128Array, Float64Array, Int64Array, LargeStringArray, StringArray,
    StringViewArray, TimestampMicrosecondArray, UInt64Array, make_array,
};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{
    DataType, Decimal128Type, Float64Type, Int64Type, TimeUnit, TimestampMicrosecondType, UInt64Type,
};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use std::io::Write;

/// A column whose values can be written.
pub(super) struct PlainColumn<'a> {
    values: Values<'a>,
    nulls: Option<NullBuffer>,
}

enum Values<'a> {
    Int(&'a Int64Array),
    Unsigned(&'a UInt64Array),
    Double(&'a Float64Array),
    Bool(&'a BooleanArray),
    Text(&'a StringArray),
    TextView(&'a StringViewArray),
    Decimal(&'a Decimal128Array),
    Time(&'a TimestampMicrosecondArray, TimeWriter),
    /// For each row the index of its value.
    Dictionary(Vec<usize>, Box<PlainColumn<'a>>),
    /// Lists are written as JSON.
    List(Json),
    /// JSON texts, of which a string is written as the text that it stands for.
    Json(&'a LargeStringArray),
    /// Types that results seldom have, in Arrow's own words.
    Other(ArrayFormatter<'a>),
}

impl<'a> PlainColumn<'a> {
    /// Looks at a column; instants are written in `zone`.
    pub(super) fn new(array: &'a dyn Array, zone: &'a Zone) -> Result<Self> {
        let values = match array.data_type() {
            DataType::Int64 => Values::Int(array.as_primitive::<Int64Type>()),
            DataType::UInt64 => Values::Unsigned(array.as_primitive::<UInt64Type>()),
            DataType::Float64 => Values::Double(array.as_primitive::<Float64Type>()),
            DataType::Boolean => Values::Bool(array.as_boolean()),
            DataType::Utf8 => Values::Text(array.as_string()),
            DataType::Utf8View => Values::TextView(array.as_string_view()),
            DataType::Decimal128(..) => Values::Decimal(array.as_primitive::<Decimal128Type>()),
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                Values::Time(array.as_primitive::<TimestampMicrosecondType>(), TimeWriter::new(zone))
            }
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                let values = PlainColumn::new(dictionary.values().as_ref(), zone)?;
                Values::Dictionary(dictionary.normalized_keys(), Box::new(values))
            }
            DataType::LargeUtf8 => Values::Json(array.as_string()),
            DataType::List(_) => Values::List(Json::of(&make_array(array.to_data()), zone)?),
            _ => Values::Other(formatter(array)?),
        };
        Ok(PlainColumn { values, nulls: array.logical_nulls() })
    }

    /// Appends the value of a row; false, and nothing appended, for a null.
    pub(super) fn append(&self, row: usize, out: &mut Vec<u8>) -> Result<bool> {
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return Ok(false);
        }
        match &self.values {
            Values::Int(values) => out.extend_from_slice(itoa::Buffer::new().format(values.value(row)).as_bytes()),
            Values::Unsigned(values) => out.extend_from_slice(itoa::Buffer::new().format(values.value(row)).as_bytes()),
            Values::Double(values) => out.extend_from_slice(zmij::Buffer::new().format(values.value(row)).as_bytes()),
            Values::Bool(values) => out.extend_from_slice(if values.value(row) { b"true" } else { b"false" }),
            Values::Text(values) => out.extend_from_slice(values.value(row).as_bytes()),
            Values::TextView(values) => out.extend_from_slice(values.value(row).as_bytes()),
            Values::Decimal(values) => out.extend_from_slice(values.value_as_string(row).as_bytes()),
            Values::Time(values, writer) => writer.append(Ts::from_micros(values.value(row)), out),
            Values::Dictionary(keys, values) => return values.append(keys[row], out),
            Values::List(values) => values.write(row, out),
            Values::Json(values) => out.extend_from_slice(text_of(values.value(row)).as_bytes()),
            Values::Other(values) => write!(out, "{}", values.value(row)).map_err(|error| unwritable(&error))?,
        }
        Ok(true)
    }

    /// Whether a value may hold any character at all.
    pub(super) fn is_free_text(&self) -> bool {
        match &self.values {
            Values::Text(_) | Values::TextView(_) | Values::List(_) | Values::Json(_) | Values::Other(_) => true,
            Values::Dictionary(_, values) => values.is_free_text(),
            _ => false,
        }
    }
}

/// Whether columns of this type line up at the right: numbers do.
pub(super) fn is_number(ty: &DataType) -> bool {
    match ty {
        DataType::Dictionary(_, value) => is_number(value),
        _ => ty.is_numeric(),
    }
}

fn formatter(array: &dyn Array) -> Result<ArrayFormatter<'_>> {
    const OPTIONS: FormatOptions<'static> = FormatOptions::new();
    ArrayFormatter::try_new(array, &OPTIONS).map_err(|error| unwritable(&error))
}

#[cold]
fn unwritable(error: &dyn std::fmt::Display) -> Error {
    Error::failed(format!("a value has no text: {error}"))
}
