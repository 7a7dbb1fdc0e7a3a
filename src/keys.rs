//! Key columns to bytes and back: what groups are found, compared and ordered by.
//!
//! The bytes of a key order as SPEC section 4 orders keys: nulls first, false before true, text by bytes, numbers by
//! value with -0 equal to 0 and NaN above all. So a table of groups never looks at a column again, and sorting groups
//! is comparing bytes. Must not know windows, aggregates or files.

use crate::json::{as_text, of_column};
use crate::schema::{FieldType, number_text};
use crate::time::{Ts, Zone, format_rfc3339};
use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Decimal128Array, Float64Array, Int64Array, StringBuilder,
    TimestampMicrosecondArray,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Decimal128Type, Float64Type, Int32Type, Int64Type, TimestampMicrosecondType};
use std::hash::BuildHasher;
use std::sync::Arc;

const NULL: u8 = 0;
const VALUE: u8 = 1;

/// A key's hash. The seed is fixed: no result depends on it, and runs repeat to the byte of their memory.
pub fn hash(key: &[u8]) -> u64 {
    foldhash::fast::FixedState::with_seed(0x77_69_6e_64_72_6f_77).hash_one(key)
}

/// The keys of a batch's rows.
#[derive(Debug, Default)]
pub struct Keys {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    hashes: Vec<u64>,
    /// Which key each row has, when several rows share one (dictionaries, no key at all).
    of_row: Option<Vec<u32>>,
}

impl Keys {
    /// Encodes the key columns of `rows` rows.
    pub fn encode(columns: &[ArrayRef], rows: usize) -> Self {
        match columns {
            [] => Self::constant(rows),
            [column] if is_small_dictionary(column) => Self::encode_dictionary(column),
            [column] => Self::encode_rows(&[plain(column)], rows),
            _ => Self::encode_rows(columns, rows),
        }
    }

    /// One key for every row: a job without `--by` has one group.
    fn constant(rows: usize) -> Self {
        Self { bytes: Vec::new(), ends: vec![0], hashes: vec![hash(&[])], of_row: Some(vec![0; rows]) }
    }

    /// A dictionary's values are encoded once each; a null row points behind them.
    fn encode_dictionary(column: &ArrayRef) -> Self {
        let dictionary = column.as_dictionary::<Int32Type>();
        let values = dictionary.values();
        let mut keys = Self::encode_rows(std::slice::from_ref(values), values.len());
        let null = keys.ends.len() as u32;
        keys.push_key(&[NULL]);
        let indices = dictionary.keys();
        let of_row = match indices.nulls() {
            None => indices.values().iter().map(|&i| i as u32).collect(),
            Some(nulls) => {
                let each = indices.values().iter().zip(nulls.iter());
                each.map(|(&i, valid)| if valid { i as u32 } else { null }).collect()
            }
        };
        keys.of_row = Some(of_row);
        keys
    }

    fn encode_rows(columns: &[ArrayRef], rows: usize) -> Self {
        let mut keys = Self::default();
        keys.ends.reserve(rows);
        match columns {
            [column] if *column.data_type() == DataType::Utf8 => keys.encode_text(column),
            _ => {
                let columns: Vec<ArrayRef> = columns.iter().map(plain).collect();
                let last = columns.len() - 1;
                for row in 0..rows {
                    for (i, column) in columns.iter().enumerate() {
                        push_value(column, row, i == last, &mut keys.bytes);
                    }
                    keys.ends.push(keys.bytes.len() as u32);
                }
            }
        }
        keys.hashes = (0..keys.ends.len()).map(|i| hash(keys.key(i))).collect();
        keys
    }

    fn encode_text(&mut self, column: &ArrayRef) {
        let column = column.as_string::<i32>();
        self.bytes.reserve(column.value_data().len() + column.len());
        for value in column {
            match value {
                None => self.bytes.push(NULL),
                Some(text) => {
                    self.bytes.push(VALUE);
                    self.bytes.extend_from_slice(text.as_bytes());
                }
            }
            self.ends.push(self.bytes.len() as u32);
        }
    }

    fn push_key(&mut self, key: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len() as u32);
        self.hashes.push(hash(key));
    }

    /// Adds the keys of some rows of another batch, each for itself.
    pub fn extend(&mut self, other: &Keys, rows: impl Iterator<Item = usize>) {
        debug_assert!(self.of_row.is_none());
        for row in rows {
            let index = other.index(row);
            self.bytes.extend_from_slice(other.key(index));
            self.ends.push(self.bytes.len() as u32);
            self.hashes.push(other.hash(index));
        }
    }

    /// The same keys after their columns changed type.
    #[must_use]
    pub fn retyped(&self, from: &[FieldType], to: &[FieldType]) -> Keys {
        let all: Vec<&[u8]> = (0..self.len()).map(|index| self.key(index)).collect();
        Keys { of_row: self.of_row.clone(), ..retype(&all, from, to) }
    }

    /// Bytes of memory held.
    pub fn bytes(&self) -> usize {
        let of_row = self.of_row.as_ref().map_or(0, |of_row| of_row.capacity() * 4);
        self.bytes.capacity() + self.ends.capacity() * 4 + self.hashes.capacity() * 8 + of_row
    }

    /// How many distinct indices [`Keys::index`] may give.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Whether rows share keys, so that looking a key up once per key pays.
    pub fn is_shared(&self) -> bool {
        self.of_row.is_some()
    }

    /// The index of a row's key.
    #[inline]
    pub fn index(&self, row: usize) -> usize {
        match &self.of_row {
            Some(of_row) => of_row[row] as usize,
            None => row,
        }
    }

    /// The bytes of a key.
    #[inline]
    pub fn key(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        &self.bytes[start..self.ends[index] as usize]
    }

    /// The hash of a key.
    #[inline]
    pub fn hash(&self, index: usize) -> u64 {
        self.hashes[index]
    }
}

/// Whether a column is a dictionary that encoding once each value pays for.
fn is_small_dictionary(column: &ArrayRef) -> bool {
    matches!(column.data_type(), DataType::Dictionary(..))
        && column.as_dictionary::<Int32Type>().values().len() <= column.len() / 2
}

/// A dictionary as the column it stands for, JSON as text.
fn plain(column: &ArrayRef) -> ArrayRef {
    match column.data_type() {
        DataType::Dictionary(_, values) => cast(column, values).unwrap_or_else(|_| Arc::clone(column)),
        _ => as_text(column),
    }
}

/// Appends each row's value, so that the bytes order as rows do that are ordered by several columns; `descending`: with
/// the greatest first.
pub fn push_ordered(column: &ArrayRef, descending: bool, nulls_first: bool, rows: &mut [Vec<u8>]) {
    let column = plain(column);
    for (row, out) in rows.iter_mut().enumerate() {
        let start = out.len() + 1;
        out.push(u8::from(!nulls_first));
        if column.is_null(row) {
            continue;
        }
        out[start - 1] ^= 1;
        push_value(&column, row, false, out);
        if descending {
            out[start..].iter_mut().for_each(|byte| *byte = !*byte);
        }
    }
}

/// Appends one value. Fixed-size values are big-endian with the sign turned; text that is not last is ended by two
/// zero bytes, its own zero bytes escaped, so that "a" < "a\0" < "aa" whatever follows.
fn push_value(column: &ArrayRef, row: usize, last: bool, out: &mut Vec<u8>) {
    if column.is_null(row) {
        out.push(NULL);
        return;
    }
    out.push(VALUE);
    match column.data_type() {
        DataType::Int64 => out.extend(ordered_i64(column.as_primitive::<Int64Type>().value(row))),
        DataType::Timestamp(..) => {
            out.extend(ordered_i64(column.as_primitive::<TimestampMicrosecondType>().value(row)));
        }
        DataType::Float64 => out.extend(ordered_f64(column.as_primitive::<Float64Type>().value(row))),
        DataType::Decimal128(..) => {
            let value = column.as_primitive::<Decimal128Type>().value(row);
            out.extend(((value as u128) ^ (1 << 127)).to_be_bytes());
        }
        DataType::Boolean => out.push(u8::from(column.as_boolean().value(row))),
        _ => push_text(column.as_string::<i32>().value(row).as_bytes(), last, out),
    }
}

fn push_text(text: &[u8], last: bool, out: &mut Vec<u8>) {
    if last {
        out.extend_from_slice(text);
        return;
    }
    for &byte in text {
        out.push(byte);
        if byte == 0 {
            out.push(0xff);
        }
    }
    out.extend([0, 0]);
}

fn ordered_i64(value: i64) -> [u8; 8] {
    ((value as u64) ^ (1 << 63)).to_be_bytes()
}

fn ordered_f64(value: f64) -> [u8; 8] {
    let value = if value.is_nan() {
        f64::NAN
    } else if value == 0.0 {
        0.0
    } else {
        value
    };
    let bits = value.to_bits();
    let bits = if bits >> 63 == 0 { bits ^ (1 << 63) } else { !bits };
    bits.to_be_bytes()
}

fn read_f64(bytes: [u8; 8]) -> f64 {
    let bits = u64::from_be_bytes(bytes);
    f64::from_bits(if bits >> 63 == 1 { bits ^ (1 << 63) } else { !bits })
}

fn read_i64(bytes: [u8; 8]) -> i64 {
    (u64::from_be_bytes(bytes) ^ (1 << 63)) as i64
}

/// Takes keys apart again: one column per type.
pub fn decode(keys: &[&[u8]], types: &[FieldType]) -> Vec<ArrayRef> {
    let mut rest: Vec<&[u8]> = keys.to_vec();
    let last = types.len().saturating_sub(1);
    types.iter().enumerate().map(|(i, ty)| decode_column(&mut rest, *ty, i == last)).collect()
}

fn decode_column(rest: &mut [&[u8]], ty: FieldType, last: bool) -> ArrayRef {
    match ty {
        FieldType::Int => Arc::new(rest.iter_mut().map(|r| take_fixed(r).map(read_i64)).collect::<Int64Array>()),
        FieldType::Double => Arc::new(rest.iter_mut().map(|r| take_fixed(r).map(read_f64)).collect::<Float64Array>()),
        FieldType::Bool => {
            Arc::new(rest.iter_mut().map(|r| take_fixed(r).map(|[b]: [u8; 1]| b == 1)).collect::<BooleanArray>())
        }
        FieldType::Time => {
            let values = rest.iter_mut().map(|r| take_fixed(r).map(read_i64));
            Arc::new(values.collect::<TimestampMicrosecondArray>().with_timezone("UTC"))
        }
        FieldType::Decimal { precision, scale } => {
            let values = rest.iter_mut().map(|r| take_fixed(r).map(|b| (u128::from_be_bytes(b) ^ (1 << 127)) as i128));
            let values = values.collect::<Decimal128Array>();
            Arc::new(values.with_data_type(DataType::Decimal128(precision, scale)))
        }
        // A list is no key.
        FieldType::Text | FieldType::Json | FieldType::List(_) => decode_text(rest, last),
    }
}

/// Splits off the tag and, unless it says null, `N` bytes.
fn take_fixed<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (&tag, after) = rest.split_first()?;
    *rest = after;
    if tag == NULL {
        return None;
    }
    let (value, after) = after.split_first_chunk::<N>()?;
    *rest = after;
    Some(*value)
}

fn decode_text(rest: &mut [&[u8]], last: bool) -> ArrayRef {
    let mut column = StringBuilder::with_capacity(rest.len(), rest.iter().map(|r| r.len()).sum());
    for key in rest {
        match key.split_first() {
            Some((&VALUE, text)) if last => {
                column.append_value(String::from_utf8_lossy(text));
                *key = &[];
            }
            Some((&VALUE, text)) => {
                let (value, after) = take_escaped(text);
                column.append_value(String::from_utf8_lossy(&value));
                *key = after;
            }
            Some((_, after)) => {
                column.append_null();
                *key = after;
            }
            None => column.append_null(),
        }
    }
    Arc::new(column.finish())
}

fn take_escaped(text: &[u8]) -> (Vec<u8>, &[u8]) {
    let mut value = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        match (text[at], text.get(at + 1)) {
            (0, Some(0)) => return (value, &text[at + 2..]),
            (0, Some(0xff)) => {
                value.push(0);
                at += 2;
            }
            (byte, _) => {
                value.push(byte);
                at += 1;
            }
        }
    }
    (value, &[])
}

/// The same keys after their columns changed type (an integer column met a fraction, a key column became text).
pub fn retype(keys: &[&[u8]], from: &[FieldType], to: &[FieldType]) -> Keys {
    let columns = decode(keys, from);
    let columns: Vec<ArrayRef> = columns.iter().zip(to).map(|(c, ty)| to_type(c, *ty)).collect();
    Keys::encode_rows(&columns, keys.len())
}

/// A column as another type: only the widenings of [`Column::misfit`](crate::schema::Column::misfit) happen.
/// Numbers become [their text](number_text).
pub fn to_type(column: &ArrayRef, ty: FieldType) -> ArrayRef {
    match (column.data_type(), ty) {
        (DataType::Float64, FieldType::Text) => {
            let column = column.as_primitive::<Float64Type>();
            let mut text = StringBuilder::new();
            column.iter().for_each(|v| text.append_option(v.map(number_text)));
            Arc::new(text.finish())
        }
        (from, _) if *from == ty.arrow() => Arc::clone(column),
        (_, FieldType::Json) => of_column(column),
        (DataType::LargeUtf8, FieldType::Text) => as_text(column),
        _ => cast(column, &ty.arrow()).unwrap_or_else(|_| Arc::clone(column)),
    }
}

/// A key as people read it: `page-7`, `DE, 12`.
pub fn show(key: &[u8], types: &[FieldType]) -> String {
    let columns = decode(&[key], types);
    let parts = columns.iter().zip(types).map(|(column, ty)| match (column.is_null(0), ty) {
        (true, _) => "null".to_owned(),
        (_, FieldType::Time) => instant(column.as_primitive::<TimestampMicrosecondType>().value(0)),
        _ => arrow::util::display::array_value_to_string(column, 0).unwrap_or_default(),
    });
    shortened(&parts.collect::<Vec<_>>().join(", "))
}

fn instant(micros: i64) -> String {
    let mut text = Vec::new();
    format_rfc3339(Ts::from_micros(micros), &Zone::UTC, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// A text of at most 60 characters, for people.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{DictionaryArray, StringArray};
    use proptest::prelude::*;

    type Columns = (Vec<Option<String>>, Vec<Option<f64>>, Vec<Option<i64>>);

    fn columns() -> impl Strategy<Value = Columns> {
        let text = proptest::option::of("[a\\x00b\u{ff}]{0,4}");
        let double = proptest::option::of(prop_oneof![
            Just(f64::NAN),
            Just(-f64::NAN),
            Just(-0.0),
            Just(0.0),
            Just(f64::INFINITY),
            any::<f64>(),
            -2.0..2.0f64
        ]);
        let int = proptest::option::of(prop_oneof![any::<i64>(), -2..2i64]);
        (1..40usize).prop_flat_map(move |n| {
            (
                proptest::collection::vec(text.clone(), n),
                proptest::collection::vec(double.clone(), n),
                proptest::collection::vec(int.clone(), n),
            )
        })
    }

    fn rank(value: Option<f64>) -> (u8, f64) {
        match value {
            None => (0, 0.0),
            Some(v) if v.is_nan() => (2, 0.0),
            Some(v) => (1, if v == 0.0 { 0.0 } else { v }),
        }
    }

    proptest! {
        #[test]
        fn bytes_order_as_the_values_and_come_back((texts, doubles, ints) in columns()) {
            let n = texts.len();
            let cols: Vec<ArrayRef> = vec![
                Arc::new(StringArray::from(texts.clone())),
                Arc::new(Float64Array::from(doubles.clone())),
                Arc::new(Int64Array::from(ints.clone())),
            ];
            let keys = Keys::encode(&cols, n);
            for a in 0..n {
                for b in 0..n {
                    let want = texts[a].cmp(&texts[b])
                        .then(rank(doubles[a]).partial_cmp(&rank(doubles[b])).unwrap())
                        .then(ints[a].cmp(&ints[b]));
                    prop_assert_eq!(keys.key(a).cmp(keys.key(b)), want);
                }
            }
            let all: Vec<&[u8]> = (0..n).map(|i| keys.key(i)).collect();
            let back = decode(&all, &[FieldType::Text, FieldType::Double, FieldType::Int]);
            prop_assert_eq!(&back[0], &cols[0]);
            prop_assert_eq!(&back[2], &cols[2]);
            let again = Keys::encode(&back, n);
            prop_assert!((0..n).all(|i| again.key(i) == keys.key(i)));
        }
    }

    #[test]
    fn a_dictionary_gives_the_keys_of_its_text() {
        let values = vec![Some("b"), None, Some("a"), Some("b")];
        let plain: ArrayRef = Arc::new(StringArray::from(values.clone()));
        let dictionary: ArrayRef = Arc::new(values.into_iter().collect::<DictionaryArray<Int32Type>>());
        let large = dictionary.slice(0, 2);
        let (a, b, c) = (Keys::encode(&[plain], 4), Keys::encode(&[dictionary], 4), Keys::encode(&[large], 2));
        for row in 0..4 {
            assert_eq!(a.key(a.index(row)), b.key(b.index(row)));
            assert_eq!(a.hash(a.index(row)), b.hash(b.index(row)));
        }
        assert_eq!(b.index(0), b.index(3));
        assert!(b.is_shared() && !c.is_shared());
        assert_eq!((c.key(0), c.key(1)), (a.key(0), a.key(1)));
    }

    #[test]
    fn an_integer_key_that_became_text_is_the_text_of_the_number() {
        let ints: ArrayRef = Arc::new(Int64Array::from(vec![Some(-7), None]));
        let keys = Keys::encode(&[ints], 2);
        let text = retype(&[keys.key(0), keys.key(1)], &[FieldType::Int], &[FieldType::Text]);
        let want = Keys::encode(&[Arc::new(StringArray::from(vec![Some("-7"), None])) as ArrayRef], 2);
        assert_eq!((text.key(0), text.key(1)), (want.key(0), want.key(1)));
        assert_eq!(show(keys.key(0), &[FieldType::Int]), "-7");
        let epoch: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![0]).with_timezone("UTC"));
        let keys = Keys::encode(&[epoch], 1);
        assert_eq!(show(keys.key(0), &[FieldType::Time]), "1970-01-01T00:00:00Z");
    }

    #[test]
    fn a_whole_number_keeps_its_text_by_way_of_a_double() {
        let ints: ArrayRef = Arc::new(Int64Array::from(vec![1, -20]));
        let keys = Keys::encode(&[ints], 2);
        let doubles = retype(&[keys.key(0), keys.key(1)], &[FieldType::Int], &[FieldType::Double]);
        let text = retype(&[doubles.key(0), doubles.key(1)], &[FieldType::Double], &[FieldType::Text]);
        let want = Keys::encode(&[Arc::new(StringArray::from(vec!["1", "-20"])) as ArrayRef], 2);
        assert_eq!((text.key(0), text.key(1)), (want.key(0), want.key(1)));
    }

    #[test]
    fn a_double_becomes_the_text_it_most_likely_was() {
        let doubles: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 0.1, 1e16, 1.5e300, 1e-7]));
        let keys = Keys::encode(&[doubles], 5);
        let old: Vec<&[u8]> = (0..5).map(|i| keys.key(i)).collect();
        let new = retype(&old, &[FieldType::Double], &[FieldType::Text]);
        let shown: Vec<String> = (0..5).map(|i| show(new.key(i), &[FieldType::Text])).collect();
        assert_eq!(shown, ["1", "0.1", "1e+16", "1.5e+300", "1e-7"]);
    }

    #[test]
    fn a_key_of_json_is_that_of_its_text() {
        let json: ArrayRef = Arc::new(arrow::array::LargeStringArray::from(vec![Some("\"a\""), Some("[1]"), None]));
        let text: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), Some("[1]"), None]));
        for columns in [[&json, &json], [&text, &json]] {
            let (keys, same) =
                (Keys::encode(&columns.map(Arc::clone), 3), Keys::encode(&[text.clone(), text.clone()], 3));
            (0..3).for_each(|row| assert_eq!(keys.key(row), same.key(row)));
        }
        assert_eq!(Keys::encode(&[json], 3).key(0), Keys::encode(&[text], 3).key(0));
    }
}
