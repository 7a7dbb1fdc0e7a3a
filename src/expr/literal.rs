//! Constants: read from SQL, negated, shown.
//!
//! Must not know columns. A number with a point is a decimal, as in DuckDB; one with an exponent a double.

use super::sql::Sql;
use crate::error::{Error, Result};
use crate::schema::{FieldType, Literal};
use crate::time::{DayCache, TimeFormat, TimeReader, Ts, Zone, format_rfc3339};
use sqlparser::ast::Value;
use sqlparser::tokenizer::Location;

/// The most digits a decimal can have.
pub(super) const DIGITS: usize = 38;

/// The constant that was written.
pub(super) fn of(sql: Sql<'_>, value: &Value, at: Location) -> Result<Literal> {
    match value {
        Value::Null => Ok(Literal::Null),
        Value::Boolean(truth) => Ok(Literal::Bool(*truth)),
        Value::Number(text, _) => {
            number(text).ok_or_else(|| sql.error(at, format!("expected a number, found \"{text}\"")))
        }
        Value::SingleQuotedString(text) | Value::EscapedStringLiteral(text) | Value::UnicodeStringLiteral(text) => {
            Ok(Literal::Text(text.clone()))
        }
        Value::DollarQuotedString(text) => Ok(Literal::Text(text.value.clone())),
        other => Err(sql.error(at, format!("expected a number or a text in single quotes, found {other}"))),
    }
}

/// A number as written, without sign.
fn number(text: &str) -> Option<Literal> {
    if let Ok(value) = text.parse() {
        return Some(Literal::Int(value));
    }
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let scale = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    if plain && digits <= DIGITS {
        let value = text.replace('.', "").parse().ok()?;
        return Some(Literal::Decimal { value, scale: i8::try_from(scale).ok()? });
    }
    text.parse().ok().filter(|value: &f64| value.is_finite()).map(Literal::Double)
}

/// A text as an instant; without an offset it is in `zone`.
pub(super) fn time(text: &str, zone: &Zone) -> Option<Ts> {
    time_reader(zone).text(text.as_bytes(), &mut DayCache::default()).ok().map(|reading| reading.ts)
}

/// What reads texts as instants.
pub(super) fn time_reader(zone: &Zone) -> TimeReader {
    TimeReader::new(TimeFormat::Rfc3339, zone.clone())
}

/// The error about an unknown name in double quotes, where perhaps this text was meant.
pub fn or_text(error: Error, text: &str) -> Error {
    let text = format!("text takes single quotes: {text}");
    match error.hint_text().map(str::to_owned) {
        Some(hint) => error.hint(format!("{text}; if it is a name: {hint}")),
        None => error.hint(text),
    }
}

/// The number with the other sign, if it has one.
pub(super) fn negated(literal: &Literal) -> Option<Literal> {
    match literal {
        Literal::Int(value) => value.checked_neg().map(Literal::Int),
        Literal::Double(value) => Some(Literal::Double(-value)),
        Literal::Decimal { value: 9_223_372_036_854_775_808, scale: 0 } => Some(Literal::Int(i64::MIN)),
        Literal::Decimal { value, scale } => Some(Literal::Decimal { value: -value, scale: *scale }),
        _ => None,
    }
}

/// The type of a constant; none for `NULL`.
pub(super) fn type_of(literal: &Literal) -> Option<FieldType> {
    Some(match literal {
        Literal::Null => return None,
        Literal::Int(_) => FieldType::Int,
        Literal::Double(_) => FieldType::Double,
        Literal::Bool(_) => FieldType::Bool,
        Literal::Text(_) => FieldType::Text,
        Literal::Time(_) => FieldType::Time,
        Literal::Decimal { value, scale } => {
            let digits = value.unsigned_abs().to_string().len().max(scale.unsigned_abs().into());
            FieldType::Decimal { precision: digits.min(DIGITS) as u8, scale: *scale }
        }
    })
}

/// As it is typed.
pub(super) fn shown(literal: &Literal) -> String {
    match literal {
        Literal::Null => "NULL".to_owned(),
        Literal::Int(value) => value.to_string(),
        Literal::Double(value) => format!("{value:e}"),
        Literal::Bool(true) => "TRUE".to_owned(),
        Literal::Bool(false) => "FALSE".to_owned(),
        Literal::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Literal::Decimal { value, scale } => decimal(*value, *scale),
        Literal::Time(ts) => {
            let mut text = Vec::new();
            format_rfc3339(*ts, &Zone::UTC, &mut text);
            format!("TIMESTAMP '{}'", String::from_utf8_lossy(&text))
        }
    }
}

/// `value * 10^-scale` with all digits: `-0.05`.
pub(super) fn decimal(value: i128, scale: i8) -> String {
    let sign = if value < 0 { "-" } else { "" };
    let scale = usize::try_from(scale).unwrap_or(0);
    let digits = format!("{:0>width$}", value.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_of_the_narrowest_type_that_holds_them_exactly() {
        assert_eq!(number("12"), Some(Literal::Int(12)));
        assert_eq!(number("0.10"), Some(Literal::Decimal { value: 10, scale: 2 }));
        assert_eq!(number("9223372036854775808"), Some(Literal::Decimal { value: 1 << 63, scale: 0 }));
        assert_eq!(number("1e3"), Some(Literal::Double(1000.0)));
        assert_eq!(number("1e999"), None);
        assert_eq!(negated(&Literal::Decimal { value: 1 << 63, scale: 0 }), Some(Literal::Int(i64::MIN)));
    }

    #[test]
    fn constants_are_shown_as_they_are_typed() {
        assert_eq!(shown(&Literal::Text("it's".into())), "'it''s'");
        assert_eq!(shown(&Literal::Decimal { value: -5, scale: 2 }), "-0.05");
        assert_eq!(shown(&Literal::Time(Ts::from_micros(0))), "TIMESTAMP '1970-01-01T00:00:00Z'");
    }
}
