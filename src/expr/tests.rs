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
        FieldType::Text | FieldType::Json | FieldType::List(_) => {
            format!("\"{}\"", values.as_string::<i32>().value(row))
        }
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
        ("7 DIV 2", "3"),
        ("NULL IS UNKNOWN", "true"),
        ("2 = '2.5'", "false"),
        ("'2.5'::bigint", "3"),
        ("'-2.5'::bigint", "-3"),
        ("'9007199254740993.0'::bigint", "9007199254740993"),
        ("-(-9223372036854775808)", "<integer overflow in -(-9223372036854775808)>"),
        ("'NaN'::double = 'nan'::double AND 'nan'::double > 'inf'::double", "true"),
        ("-0.0::double IN (0)", "true"),
        ("1.5 IN (1, 1.50)", "true"),
        ("'b' NOT IN ('a', NULL)", "null"),
        ("TIMESTAMP '2026-01-01' + INTERVAL '5000000 days'", "<a time beyond the years -9999 to 9999>"),
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
        ("'0.1234567890123456789012345678901234567890'::decimal(18,3)", "0.123"),
        ("'-0.12349999999999999999999999999999999999999999999'::decimal(18,4)", "-0.1235"),
        ("'3.00000000000000000000000000000000000000000000000001'::bigint", "3"),
        ("'3.50000000000000000000000000000000000000000000000001'::bigint", "4"),
        ("'0000000000000000000000000000000000000000000000001.5'::decimal(4,1)", "1.5"),
        ("'99999999999999999999999999999999999999.4'::decimal(38,0)", "99999999999999999999999999999999999999"),
        (
            "'99999999999999999999999999999999999999.5'::decimal(38,0)",
            "<cannot read \"99999999999999999999999999999999999999.5\" as decimal(38,0)>",
        ),
        ("'yes'::boolean", "true"),
        ("1.0::double::text", "\"1.0\""),
        ("TRUE::int", "1"),
        ("TIMESTAMP '2026-01-01 00:00:00' + INTERVAL 90 MINUTE", "\"2026-01-01T01:30:00Z\""),
        ("TIMESTAMP '2026-01-01' - INTERVAL '1 day'", "\"2025-12-31T00:00:00Z\""),
        ("TIMESTAMP '2026-01-01' > '2025-06-01'", "true"),
        ("TIMESTAMP '9999-12-31 23:59:59.999999'", "\"9999-12-31T23:59:59.999999Z\""),
        ("'9999-12-31'::timestamp", "\"9999-12-31T00:00:00Z\""),
        ("year(TIMESTAMP '9999-12-31 23:59:59.999999')", "9999"),
        ("strptime('9999-12-31 23:59', '%Y-%m-%d %H:%M')", "\"9999-12-31T23:59:00Z\""),
        ("TIMESTAMP '9999-12-31' + INTERVAL 1 DAY", "<a time beyond the years -9999 to 9999>"),
        ("DATE '2026-01-01'::text", "\"2026-01-01T00:00:00Z\""),
        ("extract(epoch FROM TIMESTAMP '1970-01-01 00:00:02')", "2.0"),
        ("extract('dow' FROM TIMESTAMP '2013-01-05')", "6"),
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
fn a_date_is_the_start_of_its_day() {
    for (text, want) in [
        ("TIMESTAMP '2013-01-05 12:34:56'::date", "\"2013-01-05T00:00:00Z\""),
        ("DATE '2013-01-05 12:00'", "\"2013-01-05T00:00:00Z\""),
        ("TIMESTAMP '2013-01-05 12:00'::date = '2013-01-05 18:00'", "true"),
        ("TIMESTAMP '2013-01-05 12:00'::date = TIMESTAMP '2013-01-05 12:00'", "false"),
        ("TIMESTAMP '2013-01-05 12:00'::date = TIMESTAMP '2013-01-05 12:00'::date", "true"),
        ("DATE '2013-01-05' + INTERVAL 1 HOUR", "\"2013-01-05T01:00:00Z\""),
        ("TRY_CAST('x' AS date)", "null"),
        ("NULL::date", "null"),
        ("'x'::date IS NULL", "<expected a time>"),
    ] {
        let found = if want.starts_with('<') { refused(text) } else { value(text) };
        assert!(found.contains(want.trim_matches(['<', '>'])), "{text}: {found}");
    }
    for (text, want) in [
        ("ts::date", ["\"1970-01-01T00:00:00Z\"", "\"1969-12-31T00:00:00Z\"", "null"]),
        ("CAST(ts AS date) BETWEEN '1969-12-31 10:00' AND '1969-12-31'", ["false", "true", "null"]),
        ("ts::date IN ('1970-01-01 05:00')", ["true", "false", "null"]),
        ("'1970-01-01' = ts::date", ["true", "false", "null"]),
        ("CASE ts::date WHEN '1970-01-01' THEN 1 END", ["1", "null", "null"]),
    ] {
        assert_eq!(values(text), want, "{text}");
    }
    let berlin = Zone::parse("Europe/Berlin").unwrap();
    let bound = parse_scalar("(ts + INTERVAL 23 HOUR)::date::text", "").unwrap().bind(&batch(), &berlin).unwrap();
    let values = bound.evaluate(&batch().columns, 3).unwrap().values;
    assert_eq!(values.as_string::<i32>().value(0), "1970-01-02T00:00:00+01:00");
}

#[test]
fn a_constant_that_always_fails_is_refused_where_every_record_meets_it() {
    let check = |text: &str| parse_scalar(text, "").unwrap().check(&batch(), &Zone::UTC, None);
    for (text, message) in [
        ("'x'::bigint = 1", "cannot read \"x\" as bigint\n  'x'::bigint = 1\n  ^"),
        ("i + (9223372036854775807 + 1)", "integer overflow in 9223372036854775807 + 1\n"),
        ("CASE WHEN 'x'::bigint = i THEN 1 END", "cannot read \"x\" as bigint"),
        ("coalesce('x'::bigint, i)", "cannot read \"x\" as bigint"),
        ("length(repeat('a', 2000000000))", "the text would be longer than 256 MB"),
        ("'x'::bigint = 1 AND TRUE", "cannot read"),
    ] {
        let found = check(text).unwrap_err().to_string();
        assert!(found.starts_with(message), "{text}: {found}");
    }
    for text in [
        "b OR 'x'::bigint > 0",
        "b AND 'x'::bigint > 0",
        "coalesce(i, 'x'::bigint)",
        "CASE WHEN b THEN 1 ELSE 'x'::bigint END",
        "TRY_CAST('x' AS bigint) + i",
        "FALSE AND 'x'::bigint > 0",
        "i / 0",
    ] {
        assert!(check(text).is_ok(), "{text}: {:?}", check(text));
    }
}

#[test]
fn a_text_has_bounds() {
    let long = format!("repeat('a', {})", 1 << 28);
    assert_eq!(value(&format!("length({long})")), (1 << 28).to_string());
    assert_eq!(value("length(lpad('a', 2000000000, 'b'))"), "<the text would be longer than 256 MB>");
    let bound = parse_scalar(&format!("t || {long}"), "").unwrap().bind(&batch(), &Zone::UTC).unwrap();
    let columns: Vec<ArrayRef> = batch().columns.iter().map(|c| take_rows(c, 10)).collect();
    let error = bound.evaluate(&columns, 10).map(|_| ()).unwrap_err();
    assert!(error.message().starts_with("expressions make more than 1024 MB of text"), "{error}");
}

/// The first row many times.
fn take_rows(column: &ArrayRef, rows: usize) -> ArrayRef {
    arrow::compute::take(column, &arrow::array::UInt32Array::from(vec![0; rows]), None).unwrap()
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
        "i is a bigint, and t is text\n  i = t\n  ^\n  hint: TRY_CAST(t AS bigint) reads the text"
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
        ("ts + INTERVAL 400000000 DAY", "expected an interval of at most 19,998 years, found \"400000000 day\""),
        ("nowhere + 1", "there is no field nowhere"),
        ("lower()", "lower takes one argument, found 0"),
        ("coalesce()", "coalesce takes at least one argument, found 0"),
        ("t RLIKE 'a'", "this is SQL that windrow does not know"),
        ("CASE WHEN b THEN 1 ELSE 'x' END", "expected a bigint, found 'x'"),
        ("i::nonsense", "there is no type \"nonsense\""),
        ("sum(i)", "sum is an aggregate, which cannot stand here"),
        ("(SELECT 1)", "this is SQL that windrow does not know"),
        ("t LIKE 'a' ESCAPE 'ab'", "ESCAPE takes one character in quotes"),
        ("t LIKE 'a' ESCAPE ''", "ESCAPE takes one character in quotes"),
        ("0x10", "expected a number or a text in single quotes, found X'10'"),
        ("i IN (7, 'x')", "expected a bigint, found 'x'"),
        ("ts > 'yesterday'", "expected a timestamp, found 'yesterday'"),
        ("TIMESTAMP 'yesterday'", "expected a time, found 'yesterday'"),
        ("i + INTERVAL 5 MINUTE", "an interval is added to a time, but i is a bigint"),
    ] {
        let found = refused(text);
        assert!(found.starts_with(message), "{text}: {found}");
    }
}

#[test]
fn text_in_double_quotes_is_a_name() {
    assert_eq!(
        refused("t = \"DE\""),
        "there is no field DE\n  t = \"DE\"\n      ^\n  hint: text takes single quotes: 'DE'"
    );
    assert!(!refused("t = de").contains("hint"));
}

#[test]
fn a_constant_that_fails_does_so_in_every_row_where_it_matters() {
    let overflow = "<integer overflow in 9223372036854775807 + 1>";
    assert_eq!(values("i + (9223372036854775807 + 1)"), [overflow; 3]);
    let fails = "<cannot read \"x\" as bigint>";
    assert_eq!(values("b OR 'x'::bigint > 0"), ["true", fails, fails]);
    assert_eq!(values("b AND 'x'::bigint > 0"), [fails, "false", fails]);
    assert_eq!(values("coalesce(i, 'x'::bigint)"), ["7", "-2", fails]);
    assert_eq!(values("CASE WHEN b THEN 1 ELSE 'x'::bigint END"), ["1", fails, fails]);
}

#[test]
fn a_row_that_fails_is_null_whatever_stands_around_it() {
    let batch = batch();
    for text in ["t::bigint IS NULL", "t::bigint IS DISTINCT FROM 1", "concat(t, t::bigint) = ''", "t::bigint IN (1)"] {
        let computed =
            parse_scalar(text, "").unwrap().bind(&batch, &Zone::UTC).unwrap().evaluate(&batch.columns, 3).unwrap();
        assert_eq!(computed.failures.keys().copied().collect::<Vec<_>>(), [0, 1], "{text}");
        assert!(computed.values.is_null(0) && computed.values.is_null(1), "{text}");
    }
}

#[test]
fn lists_of_values() {
    let many = (0..5_000).map(|i| (i * 7).to_string()).collect::<Vec<_>>().join(", ");
    for (text, want) in [
        (&*format!("i IN ({many})"), ["true", "false", "null"]),
        ("i IN (1, d, 7)", ["true", "false", "null"]),
        ("i IN (d, -2, NULL)", ["null", "true", "null"]),
        ("p IN (19.99, 1)", ["true", "false", "null"]),
        ("d NOT IN ('nan', 1)", ["true", "false", "null"]),
        ("ts IN ('1970-01-01T00:00:01.5Z', '2026-01-01')", ["true", "false", "null"]),
        ("b IN (TRUE)", ["true", "false", "null"]),
        ("upper(t) IN ('ÄPFEL', '')", ["true", "true", "null"]),
    ] {
        assert_eq!(values(text), want, "{text}");
    }
}

#[test]
fn no_text_exhausts_the_stack() {
    let conditions = vec!["i = 7"; 200].join(" OR ");
    assert_eq!(values(&conditions), ["true", "false", "null"]);
    assert_eq!(values(&vec!["i"; 90].join(" + ")), ["630", "-180", "null"]);
    let message = |text: &str| refused(text).lines().next().unwrap().to_owned();
    assert_eq!(message(&vec!["i"; 400].join(" + ")), "nested too deeply");
    assert_eq!(message(&vec!["i"; 100_000].join(" + ")), "expected at most 500 operators, found 99999");
    assert_eq!(message(&format!("i{}", "::int".repeat(100_000))), "expected at most 500 operators, found 100000");
    // The parser needs more than a test's thread has, where it is not optimized.
    let deep = std::thread::Builder::new().stack_size(8 << 20);
    let deep = deep.spawn(move || message(&format!("{}i", "NOT ".repeat(100_000)))).unwrap();
    assert!(deep.join().is_ok());
}

#[test]
fn times_without_an_offset_are_in_the_zone() {
    let (batch, zone) = (batch(), Zone::parse("Europe/Berlin").unwrap());
    for text in ["TIMESTAMP '1970-01-01 01:00'::text", "'1970-01-01 01:00'::timestamp::text"] {
        let bound = parse_scalar(text, "").unwrap().bind(&batch, &zone).unwrap();
        let values = bound.evaluate(&batch.columns, 3).unwrap().values;
        assert_eq!(values.as_string::<i32>().value(2), "1970-01-01T01:00:00+01:00", "{text}");
    }
    let bound = parse_scalar("ts < '1970-01-01 01:00:00'", "").unwrap().bind(&batch, &zone).unwrap();
    let values = bound.evaluate(&batch.columns, 3).unwrap().values;
    assert!(!values.as_boolean().value(0) && values.as_boolean().value(1));
}

#[test]
fn a_field_that_is_calculated_with_is_a_number() {
    let uses = |text: &str| {
        let scalar = parse_scalar(text, "").unwrap();
        scalar.fields().iter().map(|(path, used)| format!("{path} {used:?}")).collect::<Vec<_>>()
    };
    assert_eq!(uses("a + 1 > b"), ["a Number", "b Number"]);
    assert_eq!(uses("a IN (200, 404)"), ["a Number"]);
    assert_eq!(uses("a BETWEEN 1 AND 2"), ["a Number", "a Number"]);
    assert_eq!(uses("a IS NOT NULL AND a = 5"), ["a Number", "a Number"]);
    assert_eq!(uses("CASE a WHEN 1 THEN b END"), ["a Number", "b Value"]);
    assert_eq!(uses("a || 1.5"), ["a Value"]);
    assert_eq!(uses("a = 'x' AND b AND c + INTERVAL 1 DAY > d"), ["a Value", "b Value", "c Value", "d Value"]);
    assert_eq!(uses("sqrt(a) > 0 OR lower(b) = 'x'"), ["a Number", "b Value"]);
}

#[test]
fn an_expression_reads_back_as_it_is_shown() {
    for (text, shown) in [
        ("a and b and(c or d or e)", "a AND b AND (c OR d OR e)"),
        ("(a+b)*-c", "(a + b) * -c"),
        ("-(-5)", "5"),
        ("- -a", "-(-a)"),
        ("ts - interval 90 minute", "ts - INTERVAL '1h 30m'"),
        ("x::decimal(9,2)", "CAST(x AS decimal(9,2))"),
        ("x::date = DATE '2026-01-31'", "CAST(x AS date) = CAST('2026-01-31' AS date)"),
        ("user = 'it''s'", "user = 'it''s'"),
        ("items[0].\"a b\" is not null", "NOT (items[0].\"a b\" IS NULL)"),
    ] {
        let scalar = parse_scalar(text, "").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(scalar.shown(), shown);
        assert_eq!(parse_scalar(shown, "").unwrap(), scalar, "{shown}");
    }
}

#[test]
fn keywords_are_names_in_front_of_operators() {
    for text in [
        "user IS NULL",
        "date || ' ' || time",
        "end > 5 AND group IN (1, 2)",
        "interval IS NULL",
        "interval IN (5)",
        "interval * 2",
        "interval + 1",
        "exists = 1",
        "NOT exists",
        "order BETWEEN 1 AND 2",
        "CASE WHEN end > 5 THEN end ELSE user END",
        "timestamp + INTERVAL 5 MINUTE",
        "extract(hour FROM timestamp)",
        "lower(user)",
        "div DIV 2",
        "left > 5",
        "not = 1",
        "NOT deleted",
    ] {
        assert!(parse_scalar(text, "").is_ok(), "{text}: {:?}", parse_scalar(text, "").err());
    }
    assert_eq!(parse_scalar("interval IS NULL", "").unwrap().shown(), "interval IS NULL");
    assert_eq!(parse_scalar("interval - 5 > day", "").unwrap().shown(), "(interval - 5) > day");
    assert_eq!(parse_scalar("a DIV 2", "").unwrap().shown(), "a // 2");
}

#[test]
fn a_sign_follows_every_keyword() {
    for (text, expected) in [
        ("1 BETWEEN -2 AND 3", "true"),
        ("1 NOT BETWEEN -2 AND +3", "false"),
        ("5 NOT BETWEEN +1 AND 3", "true"),
        ("(1) NOT BETWEEN -1 AND -1", "true"),
        ("1 IS DISTINCT FROM -2", "true"),
        ("1 IS NOT DISTINCT FROM +1", "true"),
        ("'-1' LIKE (-1)::text", "true"),
        ("CASE WHEN NOT 1 BETWEEN -2 AND 3 THEN -1 ELSE -2 END", "-2"),
        ("CASE -1 WHEN -1 THEN +1 END", "1"),
        ("TIMESTAMP '2026-01-01' - INTERVAL -5 MINUTE", "\"2026-01-01T00:05:00Z\""),
        ("TIMESTAMP '2026-01-01' + INTERVAL +5 MINUTE", "\"2026-01-01T00:05:00Z\""),
        ("TIMESTAMP '2026-01-01' + INTERVAL '-1 day'", "\"2025-12-31T00:00:00Z\""),
        ("substring('hello' FROM -3 FOR +2)", "\"ll\""),
        ("NOT -1 IN (-1, +2)", "false"),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
    assert!(Selection::default().add_outputs("count(*) FILTER (WHERE -a > 1)").is_ok());
}

#[test]
fn a_batch_gives_what_its_rows_give() {
    let batch = batch();
    for text in [
        "i * 2 + 1",
        "i + p",
        "d / i",
        "i // 2",
        "p % 2",
        "t LIKE '%pf%'",
        "t || i",
        "i IN (7, 8)",
        "b AND i > 0",
        "coalesce(t, 'none')",
        "CASE WHEN b THEN d ELSE i END",
        "t::bigint",
        "i IS NULL",
        "ts + INTERVAL 1 DAY",
        "i * 9223372036854775807",
        "p * 99999999999999999999999999999999999999",
    ] {
        let bound = parse_scalar(text, "").unwrap().bind(&batch, &Zone::UTC).unwrap();
        let whole = bound.evaluate(&batch.columns, 3).unwrap();
        for row in 0..3 {
            let columns: Vec<ArrayRef> = batch.columns.iter().map(|column| column.slice(row, 1)).collect();
            let one = bound.evaluate(&columns, 1).unwrap();
            assert_eq!(one.values.as_ref(), whole.values.slice(row, 1).as_ref(), "{text} row {row}");
            assert_eq!(one.failures.get(&0), whole.failures.get(&row), "{text} row {row}");
        }
        let none: Vec<ArrayRef> = batch.columns.iter().map(|column| column.slice(0, 0)).collect();
        assert_eq!(bound.evaluate(&none, 0).unwrap().values.len(), 0, "{text}");
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

#[test]
fn json_is_a_text_to_expressions() {
    let json: ArrayRef = Arc::new(arrow::array::LargeStringArray::from(vec![Some("\"a\\n\""), Some("[1,2]"), None]));
    let batch = Batch { names: vec![("j", FieldType::Json)], columns: vec![json] };
    let value = |text: &str| {
        let bound = parse_scalar(text, "an expression").unwrap().bind(&batch, &Zone::UTC).unwrap();
        let computed = bound.evaluate(&batch.columns, 3).unwrap();
        assert_eq!(*computed.values.data_type(), bound.ty().arrow(), "{text}");
        (0..3).map(|row| cell(&computed.values, bound.ty(), row)).collect::<Vec<_>>()
    };
    assert_eq!(value("j"), ["\"a\n\"", "\"[1,2]\"", "null"]);
    assert_eq!(value("length(j)"), ["2", "5", "null"]);
    assert_eq!(value("j = '[1,2]'"), ["false", "true", "null"]);
}
