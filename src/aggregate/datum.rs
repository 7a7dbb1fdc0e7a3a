//! Single values of any type, where a state holds several columns or must look at values as they stand.
//!
//! Must not know what is done with the values. They compare as [`Value`]s of their type do; values of different types
//! never meet.

use super::column::{Texts, typed};
use super::saved::Reader;
use super::value::{Value, word_of_double};
use crate::error::Result;
use crate::schema::FieldType;
use arrow::array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, Float64Array, Int64Array, TimestampMicrosecondArray,
};

/// A kept value.
#[derive(Clone, Debug)]
pub(super) enum Datum {
    /// Of up to 64 bits.
    Word(i64),
    /// A decimal.
    Decimal(i128),
    /// A text.
    Text(Box<str>),
}

/// A look at a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Look<'a> {
    /// Of up to 64 bits.
    Word(i64),
    /// A decimal.
    Decimal(i128),
    /// A text.
    Text(&'a str),
}

impl Look<'_> {
    /// Keeps the value.
    pub(super) fn own(self) -> Datum {
        match self {
            Look::Word(word) => Datum::Word(word),
            Look::Decimal(value) => Datum::Decimal(value),
            Look::Text(text) => Datum::Text(text.into()),
        }
    }
}

impl Datum {
    /// A look at it.
    pub(super) fn look(&self) -> Look<'_> {
        match self {
            Datum::Word(word) => Look::Word(*word),
            Datum::Decimal(value) => Look::Decimal(*value),
            Datum::Text(text) => Look::Text(text),
        }
    }

    /// The value once its column has changed from one type to another, which is double or text.
    pub(super) fn widened(&self, from: FieldType, to: FieldType) -> Datum {
        match (self, to) {
            (Datum::Word(integer), FieldType::Double) => Datum::Word(word_of_double(*integer as f64)),
            (Datum::Word(word), _) => Datum::Text(word.text(from)),
            (Datum::Decimal(value), _) => Datum::Text(value.text(from)),
            (Datum::Text(text), _) => Datum::Text(text.clone()),
        }
    }

    /// Bytes held outside of it.
    pub(super) fn heap(&self) -> usize {
        match self {
            Datum::Text(text) => text.len(),
            Datum::Word(_) | Datum::Decimal(_) => 0,
        }
    }

    /// Writes it, to be read again.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Datum::Word(word) => word.write(out),
            Datum::Decimal(value) => value.write(out),
            Datum::Text(text) => text.write(out),
        }
    }

    /// Reads what was written of a value of this type.
    pub(super) fn read(ty: FieldType, reader: &mut Reader<'_>) -> Option<Datum> {
        match ty {
            FieldType::Text | FieldType::Json | FieldType::List(_) => Value::read(reader).map(Datum::Text),
            FieldType::Decimal { .. } => Value::read(reader).map(Datum::Decimal),
            FieldType::Int | FieldType::Double | FieldType::Bool | FieldType::Time => {
                Value::read(reader).map(Datum::Word)
            }
        }
    }

    fn word(&self) -> Option<&i64> {
        if let Datum::Word(word) = self { Some(word) } else { None }
    }

    fn decimal(&self) -> Option<&i128> {
        if let Datum::Decimal(value) = self { Some(value) } else { None }
    }

    fn as_text(&self) -> Option<&str> {
        if let Datum::Text(text) = self { Some(text) } else { None }
    }
}

/// A column of values of one type.
pub(super) fn array<'a>(ty: FieldType, values: impl Iterator<Item = Option<&'a Datum>>) -> ArrayRef {
    match ty {
        FieldType::Text | FieldType::Json | FieldType::List(_) => {
            <Box<str> as Value>::array(ty, values.map(|value| value.and_then(Datum::as_text)))
        }
        FieldType::Decimal { .. } => i128::array(ty, values.map(|value| value.and_then(Datum::decimal))),
        FieldType::Int | FieldType::Double | FieldType::Bool | FieldType::Time => {
            i64::array(ty, values.map(|value| value.and_then(Datum::word)))
        }
    }
}

/// A column read value by value.
pub(super) enum Column<'a> {
    /// Integers.
    Ints(&'a Int64Array),
    /// Doubles.
    Doubles(&'a Float64Array),
    /// Truth values.
    Bools(&'a BooleanArray),
    /// Instants.
    Times(&'a TimestampMicrosecondArray),
    /// Decimals.
    Decimals(&'a Decimal128Array),
    /// Texts.
    Texts(Texts<'a>),
}

impl<'a> Column<'a> {
    /// Reads a column of this type.
    pub(super) fn of(array: &'a ArrayRef, ty: FieldType) -> Result<Self> {
        Ok(match ty {
            FieldType::Int => Column::Ints(typed(array)?),
            FieldType::Double => Column::Doubles(typed(array)?),
            FieldType::Bool => Column::Bools(typed(array)?),
            FieldType::Time => Column::Times(typed(array)?),
            FieldType::Decimal { .. } => Column::Decimals(typed(array)?),
            FieldType::Text | FieldType::Json | FieldType::List(_) => Column::Texts(Texts::of(array)?),
        })
    }

    /// The value of a row; none for null.
    #[inline]
    pub(super) fn get(&self, row: usize) -> Option<Look<'a>> {
        match self {
            Column::Ints(values) => values.is_valid(row).then(|| Look::Word(values.value(row))),
            Column::Doubles(values) => values.is_valid(row).then(|| Look::Word(word_of_double(values.value(row)))),
            Column::Bools(values) => values.is_valid(row).then(|| Look::Word(i64::from(values.value(row)))),
            Column::Times(values) => values.is_valid(row).then(|| Look::Word(values.value(row))),
            Column::Decimals(values) => values.is_valid(row).then(|| Look::Decimal(values.value(row))),
            Column::Texts(texts) => texts.get(row).map(Look::Text),
        }
    }
}
