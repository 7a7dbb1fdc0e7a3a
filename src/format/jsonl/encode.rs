//! Columns to JSON objects: one a line, or all in one array.
//!
//! Every object has the schema's fields in the schema's order, nulls included, so that readers find stable columns.
//! What JSON cannot say is null (NaN, infinities); decimals are written with all their digits. Must not know where the
//! bytes go.

use crate::error::{Error, Result};
use crate::format::{EncodeOptions, Encoder};
use crate::time::{TimeWriter, Ts, Zone};
use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Decimal128Array, Float64Array, Int64Array, LargeStringArray, ListArray,
    RecordBatch, StringArray, StringViewArray, TimestampMicrosecondArray, UInt64Array,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Decimal128Type, DecimalType, Float64Type, Int64Type, SchemaRef, TimeUnit};
use arrow::datatypes::{TimestampMicrosecondType, UInt64Type};

/// Makes the encoder of one object a line.
pub(super) fn lines(schema: &SchemaRef, options: &EncodeOptions) -> Result<Box<dyn Encoder>> {
    Ok(Box::new(Objects::new(schema, options, &LINES)))
}

/// Makes the encoder of one array of objects.
pub(super) fn array(schema: &SchemaRef, options: &EncodeOptions) -> Result<Box<dyn Encoder>> {
    Ok(Box::new(Objects::new(schema, options, &ARRAY)))
}

/// What stands around the objects.
struct Frame {
    before_first: &'static [u8],
    between: &'static [u8],
    after_each: &'static [u8],
    after_last: &'static [u8],
    /// In place of all that when there are no objects.
    empty: &'static [u8],
}

static LINES: Frame = Frame { before_first: b"", between: b"", after_each: b"\n", after_last: b"", empty: b"" };
static ARRAY: Frame =
    Frame { before_first: b"[\n", between: b",\n", after_each: b"", after_last: b"\n]\n", empty: b"[]\n" };

struct Objects {
    /// For each column `{"name":` or `,"name":`.
    keys: Vec<Vec<u8>>,
    zone: Zone,
    frame: &'static Frame,
    empty: bool,
}

impl Objects {
    fn new(schema: &SchemaRef, options: &EncodeOptions, frame: &'static Frame) -> Self {
        Objects { keys: keys(schema), zone: options.zone.clone(), frame, empty: true }
    }
}

fn keys(schema: &SchemaRef) -> Vec<Vec<u8>> {
    let key = |(i, name): (usize, &String)| {
        let mut key = vec![if i == 0 { b'{' } else { b',' }];
        write_text(name, &mut key);
        key.push(b':');
        key
    };
    schema.fields().iter().map(|field| field.name()).enumerate().map(key).collect()
}

impl Encoder for Objects {
    fn write(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        let columns =
            batch.columns().iter().map(|column| Values::of(column, &self.zone)).collect::<Result<Vec<_>>>()?;
        for row in 0..batch.num_rows() {
            let before = if self.empty { self.frame.before_first } else { self.frame.between };
            self.empty = false;
            out.extend_from_slice(before);
            for (key, column) in self.keys.iter().zip(&columns) {
                out.extend_from_slice(key);
                column.write(row, out);
            }
            out.extend_from_slice(if self.keys.is_empty() { b"{}" } else { b"}" });
            out.extend_from_slice(self.frame.after_each);
        }
        Ok(())
    }

    fn schema_changed(&mut self, schema: &SchemaRef) -> Result<()> {
        self.keys = keys(schema);
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        out.extend_from_slice(if self.empty { self.frame.empty } else { self.frame.after_last });
        Ok(())
    }
}

/// A column under its type, looked at once a batch.
pub(in crate::format) enum Values {
    Null,
    Int(Int64Array),
    UInt(UInt64Array),
    Double(Float64Array),
    Bool(BooleanArray),
    Text(StringArray),
    TextView(StringViewArray),
    Json(LargeStringArray),
    Decimal(Decimal128Array),
    Time(TimestampMicrosecondArray, TimeWriter),
    List(ListArray, Box<Values>),
}

impl Values {
    /// Types that no column of ours has are written as what they can be cast to.
    pub(in crate::format) fn of(array: &ArrayRef, zone: &Zone) -> Result<Self> {
        Ok(match array.data_type() {
            DataType::Null => Values::Null,
            DataType::Int64 => Values::Int(array.as_primitive::<Int64Type>().clone()),
            DataType::UInt64 => Values::UInt(array.as_primitive::<UInt64Type>().clone()),
            DataType::Float64 => Values::Double(array.as_primitive::<Float64Type>().clone()),
            DataType::Boolean => Values::Bool(array.as_boolean().clone()),
            DataType::Utf8 => Values::Text(array.as_string::<i32>().clone()),
            DataType::Utf8View => Values::TextView(array.as_string_view().clone()),
            DataType::LargeUtf8 => Values::Json(array.as_string::<i64>().clone()),
            DataType::Decimal128(..) => Values::Decimal(array.as_primitive::<Decimal128Type>().clone()),
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                Values::Time(array.as_primitive::<TimestampMicrosecondType>().clone(), TimeWriter::new(zone))
            }
            DataType::List(_) => {
                let list = array.as_list::<i32>();
                Values::List(list.clone(), Box::new(Values::of(list.values(), zone)?))
            }
            other => Values::of(&cast_to(array, &stand_in(other))?, zone)?,
        })
    }

    #[inline]
    fn is_null(&self, row: usize) -> bool {
        match self {
            Values::Null => true,
            Values::Int(array) => array.is_null(row),
            Values::UInt(array) => array.is_null(row),
            Values::Double(array) => array.is_null(row) || !array.value(row).is_finite(),
            Values::Bool(array) => array.is_null(row),
            Values::Text(array) => array.is_null(row),
            Values::TextView(array) => array.is_null(row),
            Values::Json(array) => array.is_null(row),
            Values::Decimal(array) => array.is_null(row),
            Values::Time(array, _) => array.is_null(row),
            Values::List(array, _) => array.is_null(row),
        }
    }

    /// Appends the value of a row as JSON.
    #[inline]
    pub(in crate::format) fn write(&self, row: usize, out: &mut Vec<u8>) {
        if self.is_null(row) {
            return out.extend_from_slice(b"null");
        }
        match self {
            Values::Null => {}
            Values::Int(array) => out.extend_from_slice(itoa::Buffer::new().format(array.value(row)).as_bytes()),
            Values::UInt(array) => out.extend_from_slice(itoa::Buffer::new().format(array.value(row)).as_bytes()),
            Values::Double(array) => {
                out.extend_from_slice(zmij::Buffer::new().format_finite(array.value(row)).as_bytes());
            }
            Values::Bool(array) => out.extend_from_slice(if array.value(row) { b"true" } else { b"false" }),
            Values::Text(array) => write_text(array.value(row), out),
            Values::TextView(array) => write_text(array.value(row), out),
            Values::Json(array) => out.extend_from_slice(array.value(row).as_bytes()),
            Values::Decimal(array) => write_decimal(array, row, out),
            Values::Time(array, writer) => {
                out.push(b'"');
                writer.append(Ts::from_micros(array.value(row)), out);
                out.push(b'"');
            }
            Values::List(array, items) => write_list(array, items, row, out),
        }
    }
}

/// The type of ours that comes nearest.
fn stand_in(ty: &DataType) -> DataType {
    match ty {
        DataType::Dictionary(_, values) => values.as_ref().clone(),
        ty if ty.is_signed_integer() => DataType::Int64,
        ty if ty.is_unsigned_integer() => DataType::UInt64,
        ty if ty.is_floating() => DataType::Float64,
        DataType::Timestamp(_, zone) => DataType::Timestamp(TimeUnit::Microsecond, zone.clone()),
        DataType::LargeList(item) | DataType::FixedSizeList(item, _) => DataType::List(item.clone()),
        _ => DataType::Utf8,
    }
}

fn cast_to(array: &ArrayRef, ty: &DataType) -> Result<ArrayRef> {
    cast(array, ty).map_err(|_| {
        Error::failed(format!("a column of type {} cannot be written as JSON", array.data_type()))
            .hint("-O parquet keeps every type")
    })
}

fn write_list(array: &ListArray, items: &Values, row: usize, out: &mut Vec<u8>) {
    let offsets = array.value_offsets();
    out.push(b'[');
    for item in offsets[row]..offsets[row + 1] {
        if item != offsets[row] {
            out.push(b',');
        }
        items.write(item as usize, out);
    }
    out.push(b']');
}

fn write_decimal(array: &Decimal128Array, row: usize, out: &mut Vec<u8>) {
    let (precision, scale) = (array.precision(), array.scale());
    out.extend_from_slice(Decimal128Type::format_decimal(array.value(row), precision, scale).as_bytes());
}

/// Appends text in quotes. Only what must be escaped is.
fn write_text(text: &str, out: &mut Vec<u8>) {
    write_string(text.as_bytes(), out);
}

/// The same of bytes that are UTF-8.
pub(in crate::format) fn write_string(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text;
    while let Some(at) = rest.iter().position(|&b| needs_escape(b)) {
        out.extend_from_slice(&rest[..at]);
        write_escape(rest[at], out);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

#[inline]
fn needs_escape(b: u8) -> bool {
    b < 0x20 || b == b'"' || b == b'\\'
}

fn write_escape(b: u8, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match b {
        b'"' | b'\\' => b,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0C => b'f',
        _ => {
            out.extend_from_slice(b"\\u00");
            return out.extend_from_slice(&[HEX[usize::from(b >> 4)], HEX[usize::from(b & 15)]]);
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{DictionaryArray, Float32Array, Int32Array, NullArray, TimestampSecondArray, types::Int32Type};
    use proptest::prelude::*;
    use std::sync::Arc;

    fn encode(make: fn(&SchemaRef, &EncodeOptions) -> Result<Box<dyn Encoder>>, batches: &[RecordBatch]) -> String {
        let options = EncodeOptions { zone: Zone::UTC, width: None };
        let mut encoder = make(&batches[0].schema(), &options).unwrap();
        let mut out = Vec::new();
        batches.iter().for_each(|batch| encoder.write(batch, &mut out).unwrap());
        encoder.finish(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
    }

    fn one(array: impl Array + 'static) -> String {
        encode(lines, &[batch(vec![("x", Arc::new(array))])])
    }

    #[test]
    fn every_type_has_its_json() {
        assert_eq!(one(Int64Array::from(vec![Some(i64::MIN), None])), "{\"x\":-9223372036854775808}\n{\"x\":null}\n");
        assert_eq!(one(UInt64Array::from(vec![u64::MAX])), "{\"x\":18446744073709551615}\n");
        assert_eq!(one(BooleanArray::from(vec![true, false])), "{\"x\":true}\n{\"x\":false}\n");
        assert_eq!(one(NullArray::new(1)), "{\"x\":null}\n");
        assert_eq!(one(StringViewArray::from(vec!["é"])), "{\"x\":\"é\"}\n");
        let decimals = Decimal128Array::from(vec![-5, 1250]).with_precision_and_scale(6, 2).unwrap();
        assert_eq!(one(decimals), "{\"x\":-0.05}\n{\"x\":12.50}\n");
        let times = TimestampMicrosecondArray::from(vec![-1, 0]).with_timezone("UTC");
        assert_eq!(one(times), "{\"x\":\"1969-12-31T23:59:59.999999Z\"}\n{\"x\":\"1970-01-01T00:00:00Z\"}\n");
        let list = ListArray::from_iter_primitive::<Int64Type, _, _>([Some(vec![Some(1), None]), Some(vec![]), None]);
        assert_eq!(one(list), "{\"x\":[1,null]}\n{\"x\":[]}\n{\"x\":null}\n");
    }

    #[test]
    fn other_types_are_written_as_what_they_come_nearest() {
        assert_eq!(one(Int32Array::from(vec![7])), "{\"x\":7}\n");
        assert_eq!(one(Float32Array::from(vec![0.5])), "{\"x\":0.5}\n");
        assert_eq!(one(TimestampSecondArray::from(vec![60])), "{\"x\":\"1970-01-01T00:01:00Z\"}\n");
        let words: DictionaryArray<Int32Type> = [Some("a"), None, Some("a")].into_iter().collect();
        assert_eq!(one(words), "{\"x\":\"a\"}\n{\"x\":null}\n{\"x\":\"a\"}\n");
    }

    #[test]
    fn doubles_are_shortest_and_what_json_cannot_say_is_null() {
        let doubles = Float64Array::from(vec![0.1, 3.0, -0.0, 1e300, f64::NAN, f64::INFINITY]);
        let values = ["0.1", "3.0", "-0.0", "1e+300", "null", "null"].map(|value| format!("{{\"x\":{value}}}\n"));
        assert_eq!(one(doubles), values.concat());
    }

    #[test]
    fn names_are_escaped_and_stay_in_order() {
        let ones: ArrayRef = Arc::new(Int64Array::from(vec![1]));
        let rows = batch(vec![("b\"", Arc::clone(&ones)), ("a", ones)]);
        assert_eq!(encode(lines, &[rows]), "{\"b\\\"\":1,\"a\":1}\n");
    }

    #[test]
    fn an_array_is_whole_however_many_batches_it_came_in() {
        let ones = || batch(vec![("a", Arc::new(Int64Array::from(vec![1, 2])))]);
        assert_eq!(encode(array, &[ones(), ones().slice(0, 1)]), "[\n{\"a\":1},\n{\"a\":2},\n{\"a\":1}\n]\n");
        assert_eq!(encode(array, &[ones().slice(0, 0)]), "[]\n");
        assert_eq!(encode(lines, &[ones().slice(0, 0)]), "");
    }

    proptest! {
        #[test]
        fn text_and_doubles_read_back_as_they_were(text in any::<String>(), double in prop::num::f64::NORMAL) {
            let texts: ArrayRef = Arc::new(StringArray::from(vec![text.as_str()]));
            let rows = batch(vec![("s", texts), ("d", Arc::new(Float64Array::from(vec![double])))]);
            let json: serde_json::Value = serde_json::from_str(&encode(lines, &[rows])).unwrap();
            prop_assert_eq!(json["s"].as_str(), Some(text.as_str()));
            prop_assert_eq!(json["d"].as_f64(), Some(double));
        }
    }
}
