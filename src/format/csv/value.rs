//! CSV texts as values: which are null, what type a text has, and how it goes into a column.
//!
//! Must not know records or files. Numbers are JSON's, as everywhere, beside `.5`, which other programs write for 0.5;
//! a plus sign or a leading zero makes a text of it. `inf` and `nan` are numbers in a column of numbers, and do not make
//! one: they may be names.

use crate::format::build::{CellOf, ColumnBuilder, Texts, TimeCells, Unfit};
use crate::format::jsonl::encode::write_string;
use crate::format::number::{self, NumberKind};
use crate::schema::{FieldType, Found};

/// A field of a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value<'a> {
    /// Its text without quotes.
    pub(super) text: &'a [u8],
    /// Whether it stood in quotes.
    pub(super) quoted: bool,
}

impl<'a> Value<'a> {
    /// The text, or nothing for a null: no text outside quotes, or one of `nulls` outside quotes.
    #[inline]
    pub(super) fn present(self, nulls: &[String]) -> Option<&'a [u8]> {
        let null = !self.quoted && (self.text.is_empty() || nulls.iter().any(|null| null.as_bytes() == self.text));
        (!null).then_some(self.text)
    }
}

/// The narrowest type of a text.
pub(super) fn narrowest(text: &[u8]) -> FieldType {
    let text = &*whole_number_first(text);
    match number::number_kind(text) {
        Some(NumberKind::Integer) => integer_type(text),
        Some(NumberKind::Fraction) if number::double(text).is_ok() => FieldType::Double,
        None if number::boolean(text).is_ok() => FieldType::Bool,
        _ => FieldType::Text,
    }
}

fn integer_type(text: &[u8]) -> FieldType {
    match number::integer(text) {
        Ok(_) => FieldType::Int,
        Err(_) if number::decimal(text, 38, 0).is_ok() => FieldType::Decimal { precision: 38, scale: 0 },
        Err(_) if number::double(text).is_ok() => FieldType::Double,
        Err(_) => FieldType::Text,
    }
}

/// Whether a text is a number.
pub(super) fn is_number(text: &[u8]) -> bool {
    number::number_kind(&whole_number_first(text)).is_some()
}

/// The double that is no finite number: `nan`, `inf` or `infinity` in any case, perhaps with a minus sign.
pub(super) fn not_finite(text: &[u8]) -> Option<f64> {
    let (name, sign) = match text {
        [b'-', name @ ..] => (name, -1.0),
        name => (name, 1.0),
    };
    let is = |word: &str| name.eq_ignore_ascii_case(word.as_bytes());
    match is("inf") || is("infinity") {
        true => Some(sign * f64::INFINITY),
        false => is("nan").then_some(f64::NAN),
    }
}

/// `0.5` for `.5`, and every other text as it stands.
#[inline]
fn whole_number_first(text: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    match text {
        [b'.', ..] => [b"0".as_slice(), text].concat().into(),
        [b'-', b'.', ..] => [b"-0".as_slice(), &text[1..]].concat().into(),
        _ => text.into(),
    }
}

/// Appends a text to its column; no text is a null. Quotes around nothing are a text where texts are expected, else
/// a null too.
#[inline]
pub(super) fn push(
    text: Option<&[u8]>,
    at: CellOf<'_>,
    builder: &mut ColumnBuilder,
    times: &mut TimeCells,
) -> Result<(), Unfit> {
    let takes_empty = matches!(builder, ColumnBuilder::Text(_) | ColumnBuilder::Json(_));
    let Some(text) = text.filter(|text| takes_empty || !text.is_empty()) else {
        return push_null(at, builder);
    };
    let misfit = |found| unfit(at, found, text);
    match builder {
        ColumnBuilder::Text(values) => values.push(text),
        ColumnBuilder::Json(values) => push_json(text, values),
        ColumnBuilder::EventTime(values) => values.push(times.text(at, text)?.micros()),
        ColumnBuilder::Time(values) => values.push(times.text(at, text)?.micros()),
        ColumnBuilder::Int(values) => values.push(number::integer(text).map_err(misfit)?),
        ColumnBuilder::Double(values) => {
            let read = if at.is_whole() { number::double_without_loss } else { number::double };
            let value = read(&whole_number_first(text)).or_else(|found| not_finite(text).ok_or(found));
            values.push(value.map_err(misfit)?);
        }
        ColumnBuilder::Bool(values) => values.push(number::boolean(text).map_err(misfit)?),
        ColumnBuilder::Decimal(values, precision, scale) => {
            values.push(number::decimal(&whole_number_first(text), *precision, *scale).map_err(misfit)?);
        }
    }
    Ok(())
}

/// Appends the JSON of a text: a number or truth value where it reads as one, else a string.
fn push_json(text: &[u8], values: &mut Texts) {
    match (narrowest(text), number::boolean(text)) {
        (FieldType::Bool, Ok(true)) => values.push(b"true"),
        (FieldType::Bool, _) => values.push(b"false"),
        (ty, _) if ty.is_number() => values.push(&whole_number_first(text)),
        _ => {
            write_string(text, values.open());
            values.close();
        }
    }
}

fn push_null(at: CellOf<'_>, builder: &mut ColumnBuilder) -> Result<(), Unfit> {
    match builder {
        ColumnBuilder::EventTime(_) => return Err(at.unfit(Found::Other, "nothing")),
        ColumnBuilder::Int(values) | ColumnBuilder::Time(values) => values.push_null(),
        ColumnBuilder::Double(values) => values.push_null(),
        ColumnBuilder::Bool(values) => values.push_null(),
        ColumnBuilder::Text(values) | ColumnBuilder::Json(values) => values.push_null(),
        ColumnBuilder::Decimal(values, ..) => values.push_null(),
    }
    Ok(())
}

#[cold]
fn unfit(at: CellOf<'_>, found: Found, text: &[u8]) -> Unfit {
    // To an integer column `.5` is no number at all, nor is `nan`.
    let is_double = || narrowest(text) == FieldType::Double || not_finite(text).is_some();
    let fraction = found == Found::Other && is_double();
    let found = if fraction { Found::Fraction } else { found };
    at.unfit(found, &format!("\"{}\"", number::shown(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_the_narrowest_type() {
        let big = FieldType::Decimal { precision: 38, scale: 0 };
        let far = "9".repeat(39);
        for (text, ty) in [
            ("0", FieldType::Int),
            ("-12", FieldType::Int),
            ("9223372036854775807", FieldType::Int),
            ("9223372036854775808", big),
            (far.as_str(), FieldType::Double),
            ("-0", FieldType::Double),
            ("1.50", FieldType::Double),
            (".5", FieldType::Double),
            ("-.5e3", FieldType::Double),
            ("1E5", FieldType::Double),
            ("true", FieldType::Bool),
            ("FALSE", FieldType::Bool),
        ] {
            assert_eq!(narrowest(text.as_bytes()), ty, "{text}");
        }
        for text in ["007", "+1", "1.", ".", "-", "1e999", "inf", "NaN", " 1", "1 ", "yes", "0x1", "1_000", "..5", "é"]
        {
            assert_eq!(narrowest(text.as_bytes()), FieldType::Text, "{text}");
        }
    }

    #[test]
    fn what_is_not_finite_has_these_names() {
        for (text, value) in [("inf", f64::INFINITY), ("-Infinity", f64::NEG_INFINITY), ("-INF", f64::NEG_INFINITY)] {
            assert_eq!(not_finite(text.as_bytes()), Some(value), "{text}");
        }
        assert!(["nan", "NaN", "-nan"].iter().all(|text| not_finite(text.as_bytes()).is_some_and(f64::is_nan)));
        assert!(
            ["", "-", "nana", "in", "+inf", " nan", "1", "infinit"].iter().all(|t| not_finite(t.as_bytes()).is_none())
        );
    }

    #[test]
    fn nulls_are_texts_outside_quotes() {
        let nulls = ["NA".to_owned()];
        let present = |text: &'static str, quoted| Value { text: text.as_bytes(), quoted }.present(&nulls).is_some();
        assert!(!present("", false) && !present("NA", false));
        assert!(present("", true) && present("NA", true) && present("na", false));
    }
}
