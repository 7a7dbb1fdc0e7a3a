//! What expressions come to: a table of facts, most of which DuckDB states alike, and the examples of every function.

use super::*;
use crate::error::Result;
use crate::schema::{FieldPath, FieldType};
use crate::time::{Ts, Zone, format_rfc3339};
use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Decimal128Array, DictionaryArray, Float64Array, Int64Array, StringArray,
    TimestampMicrosecondArray,
};
use arrow::datatypes::{Decimal128Type, Float64Type, Int32Type, Int64Type, TimestampMicrosecondType};
use std::collections::HashSet;
use std::sync::Arc;

/// The columns of the batch that facts are about.
struct Batch {
    names: Vec<(&'static str, FieldType)>,
    columns: Vec<ArrayRef>,
}

impl Scope for Batch {
    fn field(&self, path: &FieldPath) -> Result<(usize, FieldType)> {
        let at = self.names.iter().position(|(name, _)| *name == path.name());
        let at = at.ok_or_else(|| Error::usage(format!("there is no field {path}")))?;
        Ok((at, self.names[at].1))
    }

    fn aggregate(&self, _: usize) -> Result<(usize, FieldType)> {
        Err(Error::usage("no aggregates here"))
    }
}

const PRICE: FieldType = FieldType::Decimal { precision: 18, scale: 2 };

/// Three rows: ordinary values, other ones, nulls.
fn batch() -> Batch {
    let names = vec![
        ("i", FieldType::Int),
        ("d", FieldType::Double),
        ("t", FieldType::Text),
        ("b", FieldType::Bool),
        ("p", PRICE),
        ("ts", FieldType::Time),
    ];
    let prices = Decimal128Array::from(vec![Some(1999), Some(-5), None]).with_data_type(PRICE.arrow());
    let times = TimestampMicrosecondArray::from(vec![Some(1_500_000), Some(-1), None]).with_timezone("UTC");
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(vec![Some(7), Some(-2), None])),
        Arc::new(Float64Array::from(vec![Some(2.5), Some(f64::NAN), None])),
        Arc::new(StringArray::from(vec![Some("Äpfel"), Some(""), None])),
        Arc::new(BooleanArray::from(vec![Some(true), Some(false), None])),
        Arc::new(prices),
        Arc::new(times),
    ];
    Batch { names, columns }
}

fn cell(values: &ArrayRef, ty: FieldType, row: usize) -> String {
    if values.is_null(row) {
        return "null".to_owned();
    }
    match ty {
        FieldType::Int => values.as_primitive::<Int64Type>().value(row).to_string(),
        FieldType::Double => zmij::Buffer::new().format(values.as_primitive::<Float64Type>().value(row)).to_owned(),
        FieldType::Bool => values.as_boolean().value(row).to_string(),
        FieldType::Decimal { scale, .. } => literal::decimal(values.as_primitive::<Decimal128Type>().value(row), scale),
        FieldType::Time => {
            let mut text = Vec::new();
            let micros = values.as_primitive::<TimestampMicrosecondType>().value(row);
            format_rfc3339(Ts::from_micros(micros), &Zone::UTC, &mut text);
            format!("\"{}\"", String::from_utf8(text).unwrap())
        }
        FieldType::Text | FieldType::List(_) => format!("\"{}\"", values.as_string::<i32>().value(row)),
    }
}

/// The values in the three rows, failures in angle brackets.
fn values(text: &str) -> Vec<String> {
    let batch = batch();
    let bound = parse_scalar(text, "an expression").and_then(|scalar| scalar.bind(&batch, &Zone::UTC));
    let bound = bound.unwrap_or_else(|error| panic!("{error}"));
    let computed = bound.evaluate(&batch.columns, 3).unwrap();
    assert_eq!(*computed.values.data_type(), bound.ty().arrow(), "{text}");
    let cell = |row: usize| match computed.failures.get(&row) {
        Some(why) => format!("<{why}>"),
        None => cell(&computed.values, bound.ty(), row),
    };
    (0..3).map(cell).collect()
}

/// A constant's value.
fn value(text: &str) -> String {
    let all = values(text);
    assert!(all.iter().all(|one| *one == all[0]), "{text}: {all:?}");
    all[0].clone()
}

fn refused(text: &str) -> String {
    let bound = parse_scalar(text, "an expression").and_then(|scalar| scalar.bind(&batch(), &Zone::UTC));
    bound.map(|_| ()).unwrap_err().to_string()
}

#[test]
fn every_function_is_in_the_table_once_and_its_example_is_true() {
    let mut names = HashSet::new();
    for kind in functions::FUNCTIONS.iter().copied() {
        for name in kind.aliases.iter().chain([&kind.name]) {
            assert!(names.insert(*name), "{name} stands twice");
            assert_eq!(functions::find(&name.to_uppercase()), Some(kind), "{name}");
            assert!(crate::aggregate::find(name).is_none(), "{name} is an aggregate too");
        }
        assert!(kind.usage.contains(kind.name) && kind.least <= kind.most, "{}", kind.name);
        assert!(!kind.doc.is_empty() && kind.doc.len() <= 130, "{}", kind.name);
        assert_eq!(value(kind.example.0), kind.example.1, "{}", kind.example.0);
    }
}

#[test]
fn constants_and_operators() {
    for (text, want) in [
        ("1 + 2 * 3", "7"),
        ("7 / 2", "3.5"),
        ("-7 // 2", "-3"),
        ("-7 % 3", "-1"),
        ("1 / 0", "null"),
        ("1 // 0", "null"),
        ("1 % 0", "null"),
        ("1.10 + 2", "3.10"),
        ("0.1 + 0.2", "0.3"),
        ("1.5 * 1.5", "2.25"),
        ("-7.5 % 2", "-1.5"),
        ("0.1 + 1e0", "1.1"),
        ("9223372036854775807 + 1", "<integer overflow in 9223372036854775807 + 1>"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("'a' || 'b' || 1", "\"ab1\""),
        ("'a' || NULL", "null"),
        ("1 = 1.0", "true"),
        ("2 <> 3 AND 2 != 3 AND 2 == 2", "true"),
        ("NULL = NULL", "null"),
        ("NULL IS NULL", "true"),
        ("NULL IS DISTINCT FROM NULL", "false"),
        ("1 IS DISTINCT FROM NULL", "true"),
        ("1 IS NOT DISTINCT FROM 1", "true"),
        ("NULL AND FALSE", "false"),
        ("NULL OR TRUE", "true"),
        ("NOT NULL", "null"),
        ("NULL IS TRUE", "false"),
        ("FALSE IS FALSE", "true"),
        ("2 BETWEEN 1 AND 3", "true"),
        ("2 NOT BETWEEN 1 AND 3", "false"),
        ("2 IN (1, NULL)", "null"),
        ("2 IN (1, 2, NULL)", "true"),
        ("2 NOT IN (1, 3)", "true"),
        ("'100%' LIKE '100\\%'", "false"),
        ("'100%' LIKE '100#%' ESCAPE '#'", "true"),
        ("'Abc' LIKE 'a_c'", "false"),
        ("'Abc' ILIKE 'a_c'", "true"),
        ("'abc' NOT LIKE '%b%'", "false"),
        ("CASE WHEN NULL THEN 1 WHEN TRUE THEN 2 ELSE 3 END", "2"),
        ("CASE 3 WHEN 1 THEN 'a' WHEN 3 THEN 'c' END", "\"c\""),
        ("CASE WHEN FALSE THEN 1 END", "null"),
        ("coalesce(NULL, 1, 2.5)", "1.0"),
        ("ifnull(NULL, 'x')", "\"x\""),
        ("CAST('12' AS bigint)", "12"),
        ("' 12 '::int", "12"),
        ("'1e3'::bigint", "1000"),
        ("'x'::bigint", "<cannot read \"x\" as bigint>"),
        ("TRY_CAST('x' AS double)", "null"),
        ("2.5::double::int", "2"),
        ("3.5::double::int", "4"),
        ("(-2.5)::int", "-3"),
        ("2.675::double::decimal(9,2)", "2.68"),
        ("'yes'::boolean", "true"),
        ("1.0::double::text", "\"1.0\""),
        ("TRUE::int", "1"),
        ("TIMESTAMP '2026-01-01 00:00:00' + INTERVAL 90 MINUTE", "\"2026-01-01T01:30:00Z\""),
        ("TIMESTAMP '2026-01-01' - INTERVAL '1 day'", "\"2025-12-31T00:00:00Z\""),
        ("TIMESTAMP '2026-01-01' > '2025-06-01'", "true"),
        ("DATE '2026-01-01'::text", "\"2026-01-01T00:00:00Z\""),
        ("extract(epoch FROM TIMESTAMP '1970-01-01 00:00:02')", "2.0"),
        ("substring('hello' FROM 2 FOR 2)", "\"el\""),
        ("trim(both 'x' from 'xax')", "\"a\""),
        ("position('l' in 'hello')", "3"),
        ("substr('hello', 0, 2)", "\"h\""),
        ("substr('hello', -3, 2)", "\"ll\""),
        ("substr('hello', 3, -2)", "\"he\""),
        ("substr('hello', -10, 7)", "\"he\""),
        ("left('hello', -2) || right('hello', -2)", "\"helllo\""),
        ("split_part('a/b', '/', 0) || split_part('a/b', '/', -1)", "\"b\""),
        ("round(2.567::decimal(9,3), 1)", "2.6"),
        ("round(1250, -2)", "1300"),
        ("round(-2.5::double)", "-3.0"),
        ("sqrt(-1)", "NaN"),
        ("'{\"a\": 1}' ->> 'a'", "\"1\""),
    ] {
        assert_eq!(value(text), want, "{text}");
    }
}

#[test]
fn columns_and_nulls() {
    for (text, want) in [
        ("i * 2", ["14", "-4", "null"]),
        ("i + p", ["26.99", "-2.05", "null"]),
        ("p * i", ["139.93", "0.10", "null"]),
        ("-i", ["-7", "2", "null"]),
        ("i / 2", ["3.5", "-1.0", "null"]),
        ("d > 2", ["true", "true", "null"]),
        ("d = d", ["true", "true", "null"]),
        ("t = 'Äpfel'", ["true", "false", "null"]),
        ("upper(t)", ["\"ÄPFEL\"", "\"\"", "null"]),
        ("length(t)", ["5", "0", "null"]),
        ("b AND i > 0", ["true", "false", "null"]),
        ("b OR i < 0", ["true", "true", "null"]),
        ("i > 0 IS TRUE", ["true", "false", "false"]),
        ("coalesce(i, 0)", ["7", "-2", "0"]),
        ("CASE WHEN i > 0 THEN 'up' WHEN i < 0 THEN 'down' ELSE '?' END", ["\"up\"", "\"down\"", "\"?\""]),
        ("i IS NULL", ["false", "false", "true"]),
        ("hour(ts)", ["0", "23", "null"]),
        ("date_trunc('second', ts)", ["\"1970-01-01T00:00:01Z\"", "\"1969-12-31T23:59:59Z\"", "null"]),
        ("ts < '1970-01-01'", ["false", "true", "null"]),
        ("i::text || t", ["\"7Äpfel\"", "\"-2\"", "null"]),
        ("greatest(i, 0)", ["7", "0", "0"]),
    ] {
        assert_eq!(values(text), want, "{text}");
    }
}

#[test]
fn a_failure_counts_only_where_its_value_does() {
    let fails = "cannot read \"Äpfel\" as bigint";
    let empty = "cannot read \"\" as bigint";
    assert_eq!(values("t::bigint"), [format!("<{fails}>"), format!("<{empty}>"), "null".to_owned()]);
    for (text, want) in [
        ("b AND t::bigint > 0", [&*format!("<{fails}>"), "false", "null"]),
        ("t::bigint > 0 AND b", [&*format!("<{fails}>"), "false", "null"]),
        ("b OR t::bigint > 0", ["true", &*format!("<{empty}>"), "null"]),
        ("CASE WHEN b THEN 1 ELSE t::bigint END", ["1", &*format!("<{empty}>"), "null"]),
        ("coalesce(i, t::bigint)", ["7", "-2", "null"]),
        ("coalesce(t::bigint, i)", [&*format!("<{fails}>"), &*format!("<{empty}>"), "null"]),
    ] {
        assert_eq!(values(text), want, "{text}");
    }
}

#[test]
fn types_that_do_not_go_together_are_refused_where_they_stand() {
    assert_eq!(
        refused("1 + t"),
        "expected a number, but t is text\n  1 + t\n      ^\n  \
         hint: TRY_CAST(t AS double) reads it as one; || puts texts together"
    );
    assert_eq!(
        refused("i = t"),
        "i is a bigint, and t is text\n  i = t\n  ^\n  hint: CAST(t AS bigint) reads the text"
    );
    for (text, message) in [
        ("i = 'seven'", "expected a bigint, found 'seven'"),
        ("NOT i", "expected a condition, but i is a bigint"),
        ("lower(i)", "lower needs a text, but found an integer"),
        ("date_trunc('eon', ts)", "date_trunc does not know the unit 'eon'"),
        ("regexp_matches(t, '(')", "regexp_matches"),
        ("CAST(i AS timestamp)", "i is a bigint, which cannot become a timestamp"),
        ("ts + 1", "expected a number, but ts is a timestamp"),
        ("ts + INTERVAL 1 MONTH", "expected an interval of a fixed length"),
        ("nowhere + 1", "there is no field nowhere"),
        ("lower()", "lower takes one argument, found 0"),
        ("CASE WHEN b THEN 1 ELSE 'x' END", "expected a bigint, found 'x'"),
        ("i::nonsense", "there is no type \"nonsense\""),
        ("sum(i)", "sum is an aggregate, which cannot stand here"),
        ("(SELECT 1)", "this is SQL that windrow does not know"),
    ] {
        let found = refused(text);
        assert!(found.starts_with(message), "{text}: {found}");
    }
}

#[test]
fn a_dictionary_gives_what_its_text_gives() {
    let words: Vec<Option<&str>> =
        [Some("a"), Some("B"), None, Some("12"), Some("a")].into_iter().cycle().take(40).collect();
    let plain: ArrayRef = Arc::new(StringArray::from(words.clone()));
    let coded: ArrayRef = Arc::new(words.into_iter().collect::<DictionaryArray<Int32Type>>());
    let scope = Batch { names: vec![("t", FieldType::Text)], columns: Vec::new() };
    for text in ["upper(t)", "coalesce(t, 'none')", "length(t)", "t = 'a'", "t::bigint", "t || t", "1 + 1"] {
        let bound = parse_scalar(text, "").unwrap().bind(&scope, &Zone::UTC).unwrap();
        let [a, b] = [&plain, &coded].map(|column| bound.evaluate(std::slice::from_ref(column), 40).unwrap());
        let flat = arrow::compute::cast(&b.values, a.values.data_type()).unwrap();
        assert_eq!(&flat, &a.values, "{text}");
        assert_eq!(b.failures, a.failures, "{text}");
    }
}
