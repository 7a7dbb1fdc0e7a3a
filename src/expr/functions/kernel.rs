//! How a kernel is made of what happens in one row: nulls, failures and the building of columns are seen to here.
//!
//! Must not know what any function does.

use super::{Argument, Failures, Kernel, Resolved};
use crate::error::{Error, Result};
use crate::schema::{FieldType, Literal};
use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, BooleanArray, BooleanBufferBuilder, PrimitiveArray, PrimitiveBuilder,
    StringArray, StringBuilder,
};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::datatypes::Float64Type;
use std::collections::HashMap;
use std::sync::Arc;

/// What a row comes to: a value, null, or why there is none.
pub(super) type Outcome<T> = Result<Option<T>, String>;

/// A kernel that is a closure over columns.
struct Function<F>(F);

impl<F> Kernel for Function<F>
where
    F: Fn(&[ArrayRef], usize, &mut Failures) -> Result<ArrayRef> + Send + Sync,
{
    fn run(&self, arguments: &[ArrayRef], rows: usize, failures: &mut Failures) -> Result<ArrayRef> {
        (self.0)(arguments, rows, failures)
    }
}

/// A call that is computed by a closure over columns.
pub(super) fn resolved(
    takes: Vec<FieldType>,
    gives: FieldType,
    run: impl Fn(&[ArrayRef], usize, &mut Failures) -> Result<ArrayRef> + Send + Sync + 'static,
) -> Result<Resolved, String> {
    Ok(Resolved { takes, gives, kernel: Box::new(Function(run)) })
}

/// The rows in which any argument is null.
pub(super) fn nulls(arguments: &[ArrayRef]) -> Option<NullBuffer> {
    NullBuffer::union_many(arguments.iter().map(|argument| argument.nulls()))
}

/// The text that a row is written to. One that would be too long fails.
pub(super) struct TextOut {
    builder: StringBuilder,
    /// Where the row's text starts.
    start: usize,
    overflow: bool,
}

impl TextOut {
    /// The most bytes of one text: no record can mean more, and a slip of the hand must not fill memory.
    const MOST: usize = 1 << 28;

    /// Adds to the row.
    #[inline]
    pub(super) fn add(&mut self, text: &str) {
        if text.len() > self.room() {
            self.overflow = true;
        } else {
            // Writing to memory does not fail.
            let _ = std::fmt::Write::write_str(&mut self.builder, text);
        }
    }

    /// Adds a character to the row.
    #[inline]
    pub(super) fn add_char(&mut self, c: char) {
        self.add(c.encode_utf8(&mut [0; 4]));
    }

    /// Adds a text many times; stops where there is no more room.
    pub(super) fn add_times(&mut self, text: &str, times: usize) {
        if text.len().saturating_mul(times) > self.room() {
            self.overflow = true;
            return;
        }
        for _ in 0..times {
            self.add(text);
        }
    }

    fn room(&self) -> usize {
        Self::MOST - (self.builder.values_slice().len() - self.start)
    }

    /// Ends the row.
    fn end(&mut self, outcome: Outcome<()>) -> Result<(), String> {
        let outcome = match std::mem::take(&mut self.overflow) {
            true => Err(format!("the text would be longer than {} MB", Self::MOST >> 20)),
            false => outcome,
        };
        match outcome {
            Ok(Some(())) => self.builder.append_value(""),
            _ => self.builder.append_null(),
        }
        self.start = self.builder.values_slice().len();
        outcome.map(|_| ())
    }
}

/// The most bytes that the texts of a batch may have together. Which record is the first beyond them depends on how the
/// input is cut, so that the job ends there.
pub(in crate::expr) const MOST_OF_A_BATCH: usize = 1 << 30;

/// The error about more text than memory should hold.
pub(in crate::expr) fn too_much_text() -> Error {
    Error::failed(format!("expressions make more than {} MB of text of a few records", MOST_OF_A_BATCH >> 20))
        .hint("repeat, lpad and rpad make long texts of short ones")
}

/// A column of text, written row by row; null where any of `arguments` is.
pub(super) fn texts(
    arguments: &[ArrayRef],
    rows: usize,
    failures: &mut Failures,
    mut row_text: impl FnMut(usize, &mut TextOut) -> Outcome<()>,
) -> Result<ArrayRef> {
    let nulls = nulls(arguments);
    let mut out = TextOut { builder: StringBuilder::with_capacity(rows, rows * 8), start: 0, overflow: false };
    for row in 0..rows {
        let outcome = match nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            true => Ok(None),
            false => row_text(row, &mut out),
        };
        if let Err(why) = out.end(outcome) {
            failures.insert(row, why);
        }
        if out.start > MOST_OF_A_BATCH {
            return Err(too_much_text());
        }
    }
    Ok(Arc::new(out.builder.finish()))
}

/// A column of numbers or instants, row by row; null where any of `arguments` is.
pub(super) fn values<T: ArrowPrimitiveType>(
    arguments: &[ArrayRef],
    rows: usize,
    failures: &mut Failures,
    mut row_value: impl FnMut(usize) -> Outcome<T::Native>,
) -> PrimitiveArray<T> {
    let nulls = nulls(arguments);
    let mut out = PrimitiveBuilder::<T>::with_capacity(rows);
    for row in 0..rows {
        let outcome = match nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            true => Ok(None),
            false => row_value(row),
        };
        out.append_option(outcome.unwrap_or_else(|why| {
            failures.insert(row, why);
            None
        }));
    }
    out.finish()
}

/// A column of truth values, row by row; null where any of `arguments` is.
pub(super) fn truths(arguments: &[ArrayRef], rows: usize, mut row_truth: impl FnMut(usize) -> bool) -> ArrayRef {
    let nulls = nulls(arguments);
    let is_null = |row| nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
    let values = BooleanBuffer::collect_bool(rows, |row| !is_null(row) && row_truth(row));
    Arc::new(BooleanArray::new(values, nulls))
}

/// A column of truth values whose rows may fail; null where any of `arguments` is.
pub(super) fn truths_or_failures(
    arguments: &[ArrayRef],
    rows: usize,
    failures: &mut Failures,
    mut row_truth: impl FnMut(usize) -> Result<bool, String>,
) -> ArrayRef {
    let mut failed = Vec::new();
    let truths = truths(arguments, rows, |row| {
        row_truth(row).unwrap_or_else(|why| {
            failures.insert(row, why);
            failed.push(row);
            false
        })
    });
    without(truths, &failed)
}

/// The column with null in these rows.
fn without(truths: ArrayRef, failed: &[usize]) -> ArrayRef {
    if failed.is_empty() {
        return truths;
    }
    let mut stands = BooleanBufferBuilder::new(truths.len());
    stands.append_n(truths.len(), true);
    failed.iter().for_each(|&row| stands.set_bit(row, false));
    let nulls = NullBuffer::union(truths.nulls(), Some(&NullBuffer::new(stands.finish())));
    Arc::new(BooleanArray::new(truths.as_boolean().values().clone(), nulls))
}

/// A function of doubles that never fails.
pub(super) fn double_to_double(arguments: &[Argument<'_>], f: fn(f64) -> f64) -> Result<Resolved, String> {
    resolved(takes(arguments, &[What::Double])?, FieldType::Double, move |columns, _, _| {
        Ok(Arc::new(columns[0].as_primitive::<Float64Type>().unary::<_, Float64Type>(f)))
    })
}

/// A function of a text that writes a text and never fails.
pub(super) fn text_to_text(arguments: &[Argument<'_>], f: fn(&str, &mut TextOut)) -> Result<Resolved, String> {
    resolved(takes(arguments, &[What::Text])?, FieldType::Text, move |columns, rows, failures| {
        let text = columns[0].as_string::<i32>();
        texts(columns, rows, failures, |row, out| {
            f(text.value(row), out);
            Ok(Some(()))
        })
    })
}

/// A question about a text and another one.
pub(super) fn texts_to_truth(arguments: &[Argument<'_>], f: fn(&str, &str) -> bool) -> Result<Resolved, String> {
    resolved(takes(arguments, &[What::Text, What::Text])?, FieldType::Bool, move |columns, rows, _| {
        let (text, part) = (columns[0].as_string::<i32>(), columns[1].as_string::<i32>());
        Ok(truths(columns, rows, |row| f(text.value(row), part.value(row))))
    })
}

/// What a function takes in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Text.
    Text,
    /// An integer.
    Int,
    /// Any number, as a double.
    Double,
    /// An instant.
    Time,
    /// Any plain value, as text.
    AsText,
}

impl What {
    /// What an argument is converted to; none: it is of the wrong type.
    fn accept(self, ty: Option<FieldType>) -> Option<FieldType> {
        match (self, ty) {
            (What::Text, None | Some(FieldType::Text)) => Some(FieldType::Text),
            (What::Int, None | Some(FieldType::Int)) => Some(FieldType::Int),
            (What::Double, None) => Some(FieldType::Double),
            (What::Double, Some(ty)) if ty.is_number() => Some(FieldType::Double),
            (What::Time, None | Some(FieldType::Time)) => Some(FieldType::Time),
            (What::AsText, Some(FieldType::List(_))) => None,
            (What::AsText, _) => Some(FieldType::Text),
            _ => None,
        }
    }

    fn phrase(self) -> &'static str {
        match self {
            What::Text => "a text",
            What::Int => "an integer",
            What::Double => "a number",
            What::Time => "a time",
            What::AsText => "plain values",
        }
    }
}

/// What the arguments are converted to; the last of `wanted` also stands for all that follow.
pub(super) fn takes(arguments: &[Argument<'_>], wanted: &[What]) -> Result<Vec<FieldType>, String> {
    let one = |(index, argument): (usize, &Argument<'_>)| {
        let what = wanted.get(index).or(wanted.last()).copied().unwrap_or(What::AsText);
        what.accept(argument.ty).ok_or_else(|| unfit(arguments, index, what.phrase()))
    };
    arguments.iter().enumerate().map(one).collect()
}

/// The phrase for an argument of the wrong type.
pub(super) fn unfit(arguments: &[Argument<'_>], index: usize, wanted: &str) -> String {
    let place = if arguments.len() > 1 { format!(" as argument {}", index + 1) } else { String::new() };
    format!("needs {wanted}{place}, but found {}", found(arguments[index].ty))
}

/// A type as it is said in a phrase.
pub(super) fn found(ty: Option<FieldType>) -> &'static str {
    match ty {
        None => "NULL",
        Some(FieldType::Int) => "an integer",
        Some(FieldType::Double | FieldType::Decimal { .. }) => "a number with a fraction",
        Some(FieldType::Bool) => "a truth value",
        Some(FieldType::Text | FieldType::Json) => "a text",
        Some(FieldType::Time) => "a time",
        Some(FieldType::List(_)) => "a list",
    }
}

type Compile<T> = Box<dyn Fn(&str) -> Result<T, String> + Send + Sync>;

/// Something that is made of a text argument: once of a constant, else once for each text that a batch has.
pub(super) enum Compiled<T> {
    /// Made before any input was read.
    Constant(T),
    /// Made as rows come.
    PerText(Compile<T>),
}

impl<T> Compiled<T> {
    /// What `compile` makes of an argument; fails if it is a constant that is wrong.
    pub(super) fn new(
        argument: &Argument<'_>,
        compile: impl Fn(&str) -> Result<T, String> + Send + Sync + 'static,
    ) -> Result<Self, String> {
        match argument.literal {
            Some(Literal::Text(text)) => compile(text).map(Compiled::Constant),
            _ => Ok(Compiled::PerText(Box::new(compile))),
        }
    }

    /// It for the rows of a batch, whose texts are in `column`.
    pub(super) fn reader<'a>(&'a self, column: &'a StringArray) -> Reader<'a, T> {
        Reader { compiled: self, column, known: HashMap::new() }
    }
}

/// [`Compiled`] for the rows of one batch.
pub(super) struct Reader<'a, T> {
    compiled: &'a Compiled<T>,
    column: &'a StringArray,
    known: HashMap<&'a str, Result<T, String>>,
}

impl<T> Reader<'_, T> {
    /// More texts than this are not remembered at once: a pattern that differs in each row must not fill memory.
    const MOST: usize = 64;

    /// It in a row whose text is not null.
    pub(super) fn get(&mut self, row: usize) -> Result<&T, String> {
        let compile = match self.compiled {
            Compiled::Constant(value) => return Ok(value),
            Compiled::PerText(compile) => compile,
        };
        let text = self.column.value(row);
        if self.known.len() >= Self::MOST && !self.known.contains_key(text) {
            self.known.clear();
        }
        self.known.entry(text).or_insert_with(|| compile(text)).as_ref().map_err(Clone::clone)
    }
}
