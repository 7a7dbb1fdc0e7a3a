//! Columns of JSON texts ([`FieldType::Json`](crate::schema::FieldType::Json)): what other columns become in them, and
//! the texts they are where nothing but text will do (an expression, a key, a cell of CSV).
//!
//! Must not know records, formats or jobs. Both ways a value stays what it is: a string has quotes in JSON and none as
//! a text; numbers, truth values, objects and arrays look alike in both.

use crate::time::{Ts, Zone, format_rfc3339};
use arrow::array::{Array, ArrayRef, AsArray, LargeStringArray, StringArray, new_null_array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Decimal128Type, Float64Type, TimestampMicrosecondType};
use std::borrow::Cow;
use std::sync::Arc;

/// The text that a JSON string stands for; any other value as it stands.
pub fn text_of(json: &str) -> Cow<'_, str> {
    match json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(plain) if !plain.contains('\\') => Cow::Borrowed(plain),
        Some(_) => serde_json::from_str(json).map_or(Cow::Borrowed(json), Cow::Owned),
        None => Cow::Borrowed(json),
    }
}

/// A column of JSON as [texts](text_of); any other column as it is.
pub fn as_text(column: &ArrayRef) -> ArrayRef {
    match column.as_string_opt::<i64>() {
        Some(json) => Arc::new(json.iter().map(|json| json.map(text_of)).collect::<StringArray>()),
        None => Arc::clone(column),
    }
}

/// A column of the types that a record's fields have as JSON: what rows become that were read before their column
/// [was widened](crate::schema::Column::misfit). What JSON cannot say (NaN, the infinities) is null.
pub fn of_column(column: &ArrayRef) -> ArrayRef {
    let rows = 0..column.len();
    let valid = |row: &usize| column.is_valid(*row);
    let each = |write: &dyn Fn(usize) -> Option<String>| -> ArrayRef {
        Arc::new(rows.clone().map(|row| Some(row).filter(valid).and_then(write)).collect::<LargeStringArray>())
    };
    match column.data_type() {
        DataType::Float64 => {
            let doubles = column.as_primitive::<Float64Type>();
            each(&|row| of_double(doubles.value(row)))
        }
        DataType::Decimal128(..) => {
            let decimals = column.as_primitive::<Decimal128Type>();
            each(&|row| Some(decimals.value_as_string(row)))
        }
        DataType::Timestamp(..) => {
            let times = column.as_primitive::<TimestampMicrosecondType>();
            each(&|row| Some(of_instant(times.value(row))))
        }
        DataType::Utf8 => {
            let texts = column.as_string::<i32>();
            each(&|row| serde_json::to_string(texts.value(row)).ok())
        }
        DataType::Dictionary(_, values) => {
            cast(column, values).map_or_else(|_| nulls(column), |plain| of_column(&plain))
        }
        // Integers and truth values have one text everywhere, and JSON is JSON.
        _ => cast(column, &DataType::LargeUtf8).unwrap_or_else(|_| nulls(column)),
    }
}

fn nulls(column: &ArrayRef) -> ArrayRef {
    new_null_array(&DataType::LargeUtf8, column.len())
}

fn of_double(value: f64) -> Option<String> {
    value.is_finite().then(|| zmij::Buffer::new().format_finite(value).to_owned())
}

fn of_instant(micros: i64) -> String {
    let mut text = vec![b'"'];
    format_rfc3339(Ts::from_micros(micros), &Zone::UTC, &mut text);
    text.push(b'"');
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{
        BooleanArray, Decimal128Array, DictionaryArray, Float64Array, Int64Array, TimestampMicrosecondArray,
    };
    use arrow::datatypes::Int32Type;
    use proptest::prelude::*;

    fn shown(column: impl Array + 'static) -> Vec<Option<String>> {
        let json = of_column(&(Arc::new(column) as ArrayRef));
        json.as_string::<i64>().iter().map(|json| json.map(ToOwned::to_owned)).collect()
    }

    #[test]
    fn every_column_has_its_json_with_all_digits() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(shown(Int64Array::from(vec![Some(i64::MIN), None])), [some("-9223372036854775808"), None]);
        assert_eq!(shown(Float64Array::from(vec![3.0, 0.1, f64::NAN])), [some("3.0"), some("0.1"), None]);
        assert_eq!(shown(BooleanArray::from(vec![true, false])), [some("true"), some("false")]);
        let decimal = Decimal128Array::from(vec![10_i128.pow(37)]).with_precision_and_scale(38, 0).unwrap();
        assert_eq!(shown(decimal), [some("10000000000000000000000000000000000000")]);
        let times = TimestampMicrosecondArray::from(vec![0]).with_timezone("UTC");
        assert_eq!(shown(times), [some("\"1970-01-01T00:00:00Z\"")]);
        let words: DictionaryArray<Int32Type> = [Some("a\"\n"), None].into_iter().collect();
        assert_eq!(shown(words), [some("\"a\\\"\\n\""), None]);
        assert_eq!(shown(LargeStringArray::from(vec!["{}"])), [some("{}")]);
    }

    #[test]
    fn only_a_string_loses_its_quotes_as_a_text() {
        for (json, text) in [("\"a\"", "a"), ("\"\\u00e9\\\"\"", "é\""), ("1.50", "1.50"), ("[\"a\"]", "[\"a\"]")] {
            assert_eq!(text_of(json), text);
        }
    }

    proptest! {
        #[test]
        fn a_text_comes_back_from_its_json(text in any::<String>()) {
            let column: ArrayRef = Arc::new(StringArray::from(vec![Some(text), None]));
            prop_assert_eq!(&as_text(&of_column(&column)), &column);
        }
    }
}
