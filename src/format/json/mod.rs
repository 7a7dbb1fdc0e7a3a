//! JSON values: what type one has, the way into it, and how it becomes a value of its column. A line of JSONL is made of
//! them, and the text of a CSV field may be one.
//!
//! JSON strings are never numbers, except where the user declared the column to be one. Must not know how a record is
//! scanned.

pub(super) mod check;

use crate::format::build::{CellOf, ColumnBuilder, Texts, TimeCells, Unfit, Values};
use crate::format::number::{
    NumberKind, boolean, decimal, double, double_of_number, double_without_loss, integer, number_kind, shown,
};
use crate::schema::{FieldType, Found, Role, Step};
use crate::time::{DayCache, TimeReader, Ts, Unit};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;

/// A value in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Cell<'a> {
    /// The record has no such field.
    #[default]
    Absent,
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number as written.
    Number(&'a [u8]),
    /// A string without escapes, without its quotes.
    Text(&'a [u8]),
    /// A string with escapes, with its quotes.
    Escaped(&'a [u8]),
    /// An object or array as written.
    Nested(&'a [u8]),
}

impl<'a> Cell<'a> {
    /// The cell of a valid JSON value without space around it.
    pub(super) fn of(json: &'a [u8]) -> Self {
        match json {
            [b'n', ..] => Cell::Null,
            [b't', ..] => Cell::Bool(true),
            [b'f', ..] => Cell::Bool(false),
            [b'{' | b'[', ..] => Cell::Nested(json),
            [b'"', text @ .., b'"'] if !text.contains(&b'\\') => Cell::Text(text),
            [b'"', ..] => Cell::Escaped(json),
            _ => Cell::Number(json),
        }
    }

    /// The cell of a text that may be an object or array; any other text has nothing inside. None if it begins as one but
    /// is no JSON.
    pub(super) fn of_text(text: &'a [u8]) -> Option<Self> {
        let text = text.trim_ascii();
        match text.first() {
            Some(b'{' | b'[') => {
                std::str::from_utf8(text).is_ok_and(|text| check::value(text).is_ok()).then_some(Cell::Nested(text))
            }
            _ => Some(Cell::Absent),
        }
    }

    /// The cell at the end of a way into an array or object; absent where it does not lead anywhere.
    pub(super) fn inside(self, steps: &[Step]) -> Self {
        steps.iter().fold(self, |cell, step| match cell {
            Cell::Nested(json) => into(json, step).map_or(Cell::Absent, Cell::of),
            _ => Cell::Absent,
        })
    }

    /// The text that a string stands for.
    pub(super) fn string(self) -> Option<Cow<'a, [u8]>> {
        match self {
            Cell::Text(text) => Some(Cow::Borrowed(text)),
            Cell::Escaped(json) => Some(Cow::Owned(unescape(json))),
            _ => None,
        }
    }

    /// The text of a number; in a declared column also that of a string, which may then be one.
    #[inline]
    fn digits(&self, declared: bool) -> Option<Cow<'a, [u8]>> {
        match *self {
            Cell::Number(text) => Some(Cow::Borrowed(text)),
            _ if declared => self.string(),
            _ => None,
        }
    }

    /// The value for an error text.
    pub(super) fn shown(self) -> String {
        match self {
            Cell::Absent => "nothing".into(),
            Cell::Null => "null".into(),
            Cell::Bool(value) => value.to_string(),
            Cell::Number(text) | Cell::Nested(text) => shown(text),
            Cell::Text(_) | Cell::Escaped(_) => {
                format!("\"{}\"", shown(&self.string().unwrap_or_default()))
            }
        }
    }

    /// Appends the value to its column, or says why it is none. By reference: a copy of a cell that was written part by
    /// part just before would have to wait for it.
    #[inline]
    pub(super) fn push(&self, at: CellOf<'_>, to: &mut ColumnBuilder, times: &mut TimeCells) -> Result<(), Unfit> {
        match to {
            ColumnBuilder::EventTime(values) => values.push(self.instant(at, times)?.micros()),
            ColumnBuilder::Text(texts) => self.push_text(at, texts)?,
            ColumnBuilder::Json(texts) => self.push_json(texts),
            ColumnBuilder::Int(values) => self.push_value(at, values, |cell| cell.number(at, integer))?,
            ColumnBuilder::Double(values) => self.push_value(at, values, |cell| cell.double(at))?,
            ColumnBuilder::Bool(values) => self.push_value(at, values, |cell| cell.boolean(at))?,
            ColumnBuilder::Decimal(values, precision, scale) => {
                let (precision, scale) = (*precision, *scale);
                self.push_value(at, values, |cell| cell.number(at, |text| decimal(text, precision, scale)))?;
            }
            ColumnBuilder::Time(values) => match *self {
                Cell::Absent | Cell::Null => values.push_null(),
                _ => values.push(self.instant(at, times)?.micros()),
            },
        }
        Ok(())
    }

    #[inline]
    fn push_value<T: Copy + Default>(
        &self,
        at: CellOf<'_>,
        values: &mut Values<T>,
        read: impl FnOnce(&Self) -> Result<T, Found>,
    ) -> Result<(), Unfit> {
        match *self {
            Cell::Absent | Cell::Null => values.push_null(),
            _ => values.push(read(self).map_err(|found| self.unfit(at, found))?),
        }
        Ok(())
    }

    #[inline]
    fn push_text(&self, at: CellOf<'_>, texts: &mut Texts) -> Result<(), Unfit> {
        match *self {
            Cell::Absent | Cell::Null => texts.push_null(),
            Cell::Text(text) => texts.push(text),
            Cell::Escaped(json) => texts.push(&unescape(json)),
            // As a text it could not be told from a string.
            Cell::Number(_) | Cell::Nested(_) | Cell::Bool(_) if at.is_whole() => {
                return Err(self.unfit(at, Found::Other));
            }
            Cell::Number(text) | Cell::Nested(text) => texts.push(text),
            Cell::Bool(value) => texts.push(bool_text(value)),
        }
        Ok(())
    }

    /// Appends the value as it stands, on one line: within a value a carriage return can only be a space.
    fn push_json(&self, texts: &mut Texts) {
        match *self {
            Cell::Absent | Cell::Null => return texts.push_null(),
            Cell::Bool(value) => return texts.push(bool_text(value)),
            Cell::Number(json) | Cell::Escaped(json) => return texts.push(json),
            Cell::Nested(json) if !json.contains(&b'\r') => return texts.push(json),
            Cell::Nested(json) => texts.open().extend(json.iter().map(|&b| if b == b'\r' { b' ' } else { b })),
            Cell::Text(text) => [b"\"", text, b"\""].iter().for_each(|part| texts.open().extend_from_slice(part)),
        }
        texts.close();
    }

    #[inline]
    fn number<T>(&self, at: CellOf<'_>, read: impl FnOnce(&[u8]) -> Result<T, Found>) -> Result<T, Found> {
        read(&self.digits(at.column().declared).ok_or(Found::Other)?)
    }

    /// A number's grammar was checked when it was found, a declared string's was not.
    #[inline]
    fn double(&self, at: CellOf<'_>) -> Result<f64, Found> {
        match *self {
            Cell::Number(text) if text.len() >= 16 && at.is_whole() => double_without_loss(text),
            Cell::Number(text) => double_of_number(text),
            _ => self.number(at, double),
        }
    }

    fn boolean(&self, at: CellOf<'_>) -> Result<bool, Found> {
        match *self {
            Cell::Bool(value) => Ok(value),
            _ if at.column().declared => self.string().ok_or(Found::Other).and_then(|text| boolean(&text)),
            _ => Err(Found::Other),
        }
    }

    #[inline]
    fn instant(&self, at: CellOf<'_>, times: &mut TimeCells) -> Result<Ts, Unfit> {
        match *self {
            Cell::Text(text) => times.text(at, text),
            Cell::Number(text) => times.number(at, text),
            Cell::Escaped(json) => times.text(at, &unescape(json)),
            _ => Err(self.unfit(at, Found::Other)),
        }
    }

    /// An overflow is no wrong type, so it has words of its own.
    #[cold]
    fn unfit(self, at: CellOf<'_>, found: Found) -> Unfit {
        match (self, at.column().ty) {
            (Cell::Number(text), FieldType::Double) => {
                Unfit { found, phrase: format!("{} does not fit a double", shown(text)) }
            }
            _ => at.unfit(found, &self.shown()),
        }
    }
}

fn bool_text(value: bool) -> &'static [u8] {
    if value { b"true" } else { b"false" }
}

/// The value one step into an array or object, which was checked when it was found.
fn into<'a>(json: &'a [u8], step: &Step) -> Option<&'a [u8]> {
    let found: &RawValue = match step {
        Step::Index(index) => {
            let items: Vec<&RawValue> = serde_json::from_slice(json).ok()?;
            let from_end = if *index < 0 { items.len() as i64 } else { 0 };
            items.get(usize::try_from(index + from_end).ok()?)?
        }
        // Of members with one name the last counts, as everywhere.
        Step::Member(name) => {
            let members: HashMap<Cow<'_, str>, &RawValue> = serde_json::from_slice(json).ok()?;
            members.get(name.as_str())?
        }
    };
    Some(found.get().as_bytes())
}

/// The text of a JSON string with escapes, which was checked when it was found.
#[cold]
fn unescape(json: &[u8]) -> Vec<u8> {
    serde_json::from_slice::<String>(json).unwrap_or_default().into_bytes()
}

/// Widens a type to hold one more value.
pub(super) fn add_type(ty: &mut Option<FieldType>, cell: Cell<'_>, role: Role) {
    if let Some(new) = type_of(cell, role) {
        *ty = Some(ty.map_or(new, |old| role.unify(old, new)));
    }
}

/// The narrowest type of a value; none for null. Where it is only passed on it must be able to come out as it went in.
fn type_of(cell: Cell<'_>, role: Role) -> Option<FieldType> {
    let whole = role == Role::Whole;
    match cell {
        Cell::Nested(_) if whole => Some(FieldType::Json),
        Cell::Number(text) if whole && number_type(text) == FieldType::Double && double_without_loss(text).is_err() => {
            Some(FieldType::Json)
        }
        Cell::Absent | Cell::Null => None,
        Cell::Bool(_) => Some(FieldType::Bool),
        Cell::Number(text) => Some(number_type(text)),
        Cell::Text(_) | Cell::Escaped(_) | Cell::Nested(_) => Some(FieldType::Text),
    }
}

fn number_type(text: &[u8]) -> FieldType {
    match (number_kind(text), integer(text)) {
        (_, Ok(_)) => FieldType::Int,
        (Some(NumberKind::Integer), _) if decimal(text, 38, 0).is_ok() => {
            FieldType::Decimal { precision: 38, scale: 0 }
        }
        _ => FieldType::Double,
    }
}

/// The unit that a number (or the text of one) shows by its size.
pub(super) fn time_unit(cell: Cell<'_>, time: &TimeReader) -> Option<Unit> {
    let reading = match cell {
        Cell::Number(text) => time.number(text),
        _ => time.text(&cell.string()?, &mut DayCache::default()),
    };
    reading.ok()?.unit
}
