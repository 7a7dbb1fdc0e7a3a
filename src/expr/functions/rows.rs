//! Functions computed row by row: a closure over the values of a row becomes a kernel.
//!
//! Null in gives null out. Must not know any one function.

use super::{Argument, Failures, Kernel, Resolved};
use crate::error::Result;
use crate::schema::{FieldType, Literal};
use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Float64Array, Int64Array, StringBuilder, TimestampMicrosecondArray,
};
use arrow::datatypes::{Float64Type, Int64Type, TimestampMicrosecondType};
use std::sync::Arc;

/// A row's arguments; a getter is asked only for arguments that are not null.
pub(super) struct Row<'a> {
    arguments: &'a [ArrayRef],
    row: usize,
}

impl<'a> Row<'a> {
    /// How many arguments there are.
    pub(super) fn len(&self) -> usize {
        self.arguments.len()
    }

    /// Whether an argument is null.
    pub(super) fn is_null(&self, i: usize) -> bool {
        self.arguments[i].is_null(self.row)
    }

    /// A text.
    pub(super) fn text(&self, i: usize) -> &'a str {
        self.arguments[i].as_string::<i32>().value(self.row)
    }

    /// A whole number.
    pub(super) fn int(&self, i: usize) -> i64 {
        self.arguments[i].as_primitive::<Int64Type>().value(self.row)
    }

    /// A double.
    pub(super) fn double(&self, i: usize) -> f64 {
        self.arguments[i].as_primitive::<Float64Type>().value(self.row)
    }

    /// An instant in microseconds.
    pub(super) fn micros(&self, i: usize) -> i64 {
        self.arguments[i].as_primitive::<TimestampMicrosecondType>().value(self.row)
    }
}

/// What a row comes to: a value, null, or why it fails.
pub(super) type Outcome<T> = Result<Option<T>, String>;

/// Values a closure may give.
pub(super) trait Gives: Sized + 'static {
    /// Their type.
    const TYPE: FieldType;

    /// A column of them.
    fn column(values: impl Iterator<Item = Option<Self>>) -> ArrayRef;
}

impl Gives for i64 {
    const TYPE: FieldType = FieldType::Int;

    fn column(values: impl Iterator<Item = Option<Self>>) -> ArrayRef {
        Arc::new(values.collect::<Int64Array>())
    }
}

impl Gives for f64 {
    const TYPE: FieldType = FieldType::Double;

    fn column(values: impl Iterator<Item = Option<Self>>) -> ArrayRef {
        Arc::new(values.collect::<Float64Array>())
    }
}

impl Gives for bool {
    const TYPE: FieldType = FieldType::Bool;

    fn column(values: impl Iterator<Item = Option<Self>>) -> ArrayRef {
        Arc::new(values.collect::<BooleanArray>())
    }
}

impl Gives for crate::time::Ts {
    const TYPE: FieldType = FieldType::Time;

    fn column(values: impl Iterator<Item = Option<Self>>) -> ArrayRef {
        let micros = values.map(|value| value.map(crate::time::Ts::micros));
        Arc::new(micros.collect::<TimestampMicrosecondArray>().with_timezone("UTC"))
    }
}

/// A kernel that gives values of one type.
struct Rows<F> {
    nulls: bool,
    compute: F,
}

impl<T: Gives, F: Fn(&Row<'_>) -> Outcome<T> + Send + Sync> Kernel for Rows<(F, std::marker::PhantomData<fn() -> T>)> {
    fn run(&self, arguments: &[ArrayRef], rows: usize, failures: &mut Failures) -> Result<ArrayRef> {
        let each = (0..rows).map(|row| {
            let row_of = Row { arguments, row };
            if !self.nulls && (0..arguments.len()).any(|i| row_of.is_null(i)) {
                return None;
            }
            (self.compute.0)(&row_of).unwrap_or_else(|why| {
                failures.insert(row, why);
                None
            })
        });
        Ok(T::column(each))
    }
}

/// A kernel that appends texts: true for a value, false for null.
struct Texts<F> {
    nulls: bool,
    compute: F,
}

impl<F: Fn(&Row<'_>, &mut String) -> Result<bool, String> + Send + Sync> Kernel for Texts<F> {
    fn run(&self, arguments: &[ArrayRef], rows: usize, failures: &mut Failures) -> Result<ArrayRef> {
        let mut out = StringBuilder::with_capacity(rows, rows * 16);
        let mut text = String::new();
        for row in 0..rows {
            let row_of = Row { arguments, row };
            text.clear();
            let known = self.nulls || (0..arguments.len()).all(|i| !row_of.is_null(i));
            match known.then(|| (self.compute)(&row_of, &mut text)) {
                Some(Ok(true)) => out.append_value(&text),
                Some(Err(why)) => {
                    failures.insert(row, why);
                    out.append_null();
                }
                _ => out.append_null(),
            }
        }
        Ok(Arc::new(out.finish()))
    }
}

/// A function of arguments of these types; null in, null out.
pub(super) fn each<T: Gives>(
    takes: &[FieldType],
    compute: impl Fn(&Row<'_>) -> Outcome<T> + Send + Sync + 'static,
) -> Resolved {
    let kernel = Box::new(Rows { nulls: false, compute: (compute, std::marker::PhantomData) });
    Resolved { takes: takes.to_vec(), gives: T::TYPE, kernel }
}

/// A function that sees nulls.
pub(super) fn with_nulls<T: Gives>(
    takes: &[FieldType],
    compute: impl Fn(&Row<'_>) -> Outcome<T> + Send + Sync + 'static,
) -> Resolved {
    let kernel = Box::new(Rows { nulls: true, compute: (compute, std::marker::PhantomData) });
    Resolved { takes: takes.to_vec(), gives: T::TYPE, kernel }
}

/// A function that appends a text; null in, null out.
pub(super) fn texts(
    takes: &[FieldType],
    compute: impl Fn(&Row<'_>, &mut String) -> Result<bool, String> + Send + Sync + 'static,
) -> Resolved {
    Resolved { takes: takes.to_vec(), gives: FieldType::Text, kernel: Box::new(Texts { nulls: false, compute }) }
}

/// The same for a function that sees nulls.
pub(super) fn texts_with_nulls(
    takes: &[FieldType],
    compute: impl Fn(&Row<'_>, &mut String) -> Result<bool, String> + Send + Sync + 'static,
) -> Resolved {
    Resolved { takes: takes.to_vec(), gives: FieldType::Text, kernel: Box::new(Texts { nulls: true, compute }) }
}

/// Refuses an argument that is not text.
pub(super) fn needs_text(arguments: &[Argument<'_>], place: usize) -> Result<(), String> {
    match arguments.get(place).and_then(|argument| argument.ty) {
        None | Some(FieldType::Text) => Ok(()),
        Some(other) => Err(format!("needs a text, but found a {}", other.name())),
    }
}

/// Refuses an argument that is no number.
pub(super) fn needs_number(arguments: &[Argument<'_>], place: usize) -> Result<(), String> {
    match arguments.get(place).and_then(|argument| argument.ty) {
        None => Ok(()),
        Some(ty) if ty.is_number() => Ok(()),
        Some(FieldType::Text) => Err("needs a number, but found text".to_owned()),
        Some(other) => Err(format!("needs a number, but found a {}", other.name())),
    }
}

/// Refuses an argument that is no time.
pub(super) fn needs_time(arguments: &[Argument<'_>], place: usize) -> Result<(), String> {
    match arguments.get(place) {
        Some(Argument { ty: None | Some(FieldType::Time), .. }) | None => Ok(()),
        Some(Argument { literal: Some(Literal::Text(_)), .. }) => Ok(()),
        Some(Argument { ty: Some(other), .. }) => {
            Err(format!("needs a time, but found a {}; CAST(x AS timestamp) reads a text", other.name()))
        }
    }
}

/// The text of a constant argument.
pub(super) fn constant<'a>(arguments: &[Argument<'a>], place: usize) -> Option<&'a str> {
    match arguments.get(place)?.literal? {
        Literal::Text(text) => Some(text),
        _ => None,
    }
}
