//! What expressions give, against DuckDB's answers (`testdata/expressions/facts.json`, made by the script beside it), and
//! the few things that are meant to differ.

use crate::helpers;
use arrow::array::{Array, TimestampMicrosecondArray};
use arrow::array::{ArrayRef, BooleanArray, Decimal128Array, Float64Array, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// Functions beyond those that were asked for: what they give must be DuckDB's where they exist.
const MORE: &[&str] = &[
    "reverse",
    "ltrim",
    "rtrim",
    "concat_ws",
    "strlen",
    "lpad",
    "rpad",
    "repeat",
    "left",
    "right",
    "ends_with",
    "suffix",
    "contains",
    "strpos",
    "instr",
    "position",
    "ascii",
    "chr",
    "regexp_replace",
    "regexp_full_match",
    "sign",
    "ceiling",
    "trunc",
    "pow",
    "log",
    "log2",
    "exp",
    "cbrt",
    "mod",
    "pi",
    "isnan",
    "isinf",
    "isfinite",
    "sin",
    "cos",
    "degrees",
    "radians",
    "atan2",
    "gcd",
    "year",
    "month",
    "day",
    "hour",
    "minute",
    "second",
    "epoch_ms",
    "epoch_us",
    "dayofweek",
    "to_timestamp",
    "make_timestamp",
    "try_strptime",
    "ifnull",
    "if",
    "substring",
];

/// Operators likewise.
const MORE_OPERATORS: &[&str] = &["**", "=="];

/// Where windrow means to differ from DuckDB, and why. A fact of these that holds after all is a failure.
const MEANT: &[(&str, &str)] = &[
    ("CAST(ts AS VARCHAR)", "an instant is text as it is written: RFC 3339"),
    ("ts::VARCHAR", "the same"),
    ("TRY_CAST(ts AS VARCHAR)", "the same"),
    ("TRY_CAST(1e-5::DOUBLE AS VARCHAR)", "a double is text as it is written"),
    ("TRY_CAST(p AS INTEGER)", "integers are 64 bits wide, whatever their type is called"),
    ("TRY_CAST(3000000000 AS INTEGER)", "the same"),
];

fn facts() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/expressions/facts.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn cells(rows: &[Value], column: usize) -> impl Iterator<Item = &Value> {
    rows.iter().map(move |row| &row[column])
}

fn texts(rows: &[Value], column: usize) -> Vec<Option<&str>> {
    cells(rows, column).map(Value::as_str).collect()
}

/// Doubles that JSON cannot say are texts in the table.
fn double(cell: &Value) -> Option<f64> {
    cell.as_f64().or_else(|| cell.as_str()?.parse().ok())
}

fn micros(text: &str) -> i64 {
    format!("{text}Z").parse::<jiff::Timestamp>().unwrap().as_microsecond()
}

fn decimals(rows: &[Value], column: usize, precision: u8, scale: i8) -> ArrayRef {
    let digits = |text: &str| text.replace('.', "").parse::<i128>().unwrap();
    let all: Decimal128Array = texts(rows, column).into_iter().map(|text| text.map(digits)).collect();
    Arc::new(all.with_precision_and_scale(precision, scale).unwrap())
}

fn column(ty: &str, rows: &[Value], at: usize) -> ArrayRef {
    match ty {
        "BIGINT" => Arc::new(cells(rows, at).map(Value::as_i64).collect::<Int64Array>()),
        "DOUBLE" => Arc::new(cells(rows, at).map(double).collect::<Float64Array>()),
        "BOOLEAN" => Arc::new(cells(rows, at).map(Value::as_bool).collect::<BooleanArray>()),
        "VARCHAR" => Arc::new(StringArray::from(texts(rows, at))),
        "DECIMAL(18,2)" => decimals(rows, at, 18, 2),
        "DECIMAL(9,3)" => decimals(rows, at, 9, 3),
        "TIMESTAMP" => {
            let all: TimestampMicrosecondArray = texts(rows, at).into_iter().map(|text| text.map(micros)).collect();
            Arc::new(all.with_timezone("UTC"))
        }
        other => panic!("no column of type {other}"),
    }
}

/// The table, with a time of its own for each row: one second each, in a column `at`.
fn write_table(facts: &Value, path: &Path) {
    let rows = facts["table"]["rows"].as_array().unwrap();
    let times = Int64Array::from_iter_values((0..rows.len() as i64).map(|second| second * 1_000_000));
    let mut columns: Vec<(String, ArrayRef)> = vec![("at".to_owned(), Arc::new(times))];
    // The order of the columns is that of the rows' cells, which an object does not keep.
    for (at, name) in ["i", "j", "x", "y", "p", "q", "b", "c", "s", "u", "ts"].into_iter().enumerate() {
        let ty = facts["table"]["columns"][name].as_str().unwrap();
        columns.push((name.to_owned(), column(ty, rows, at)));
    }
    let with_nulls = columns.into_iter().map(|(name, column)| {
        let nullable = column.is_nullable() || name != "at";
        (name, column, nullable)
    });
    let batch = RecordBatch::try_from_iter_with_nullable(with_nulls).unwrap();
    let mut writer = ArrowWriter::try_new(std::fs::File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// Each expression's value for each row, by one run. Rows that failed are set aside and have no values.
fn values(folder: &Path, expressions: &[&str]) -> windrow::error::Result<Vec<Vec<Option<Value>>>> {
    let at = |name: &str| folder.join(name).display().to_string();
    let calls = expressions.iter().enumerate().map(|(i, text)| format!("any_value({text}) AS e{i}"));
    let args = [
        "window".to_owned(),
        "--time=at".into(),
        "--time-format=unix-us".into(),
        "--tumbling=1s".into(),
        format!("--agg={}", calls.collect::<Vec<_>>().join(", ")),
        format!("--bad={}", at("bad")),
        format!("--output={}", at("out.jsonl")),
        at("table.parquet"),
    ];
    helpers::run(&args, None)?;
    let text = std::fs::read_to_string(folder.join("out.jsonl")).unwrap();
    let mut all = vec![vec![None; 8]; expressions.len()];
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let second: usize = row["window_start"].as_str().unwrap()[17..19].parse().unwrap();
        for (i, values) in all.iter_mut().enumerate() {
            values[second] = Some(row[format!("e{i}")].clone());
        }
    }
    Ok(all)
}

/// A decimal number without what does not count.
fn digits(text: &str) -> String {
    let text = match text.split_once('.') {
        Some((whole, fraction)) => format!("{whole}.{}", fraction.trim_end_matches('0')),
        None => text.to_owned(),
    };
    let text = text.trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

fn close(want: f64, got: &Value, tolerance: f64) -> bool {
    got.as_f64().is_some_and(|x| x == want || (x - want).abs() <= tolerance * want.abs())
}

/// Whether a value is the fact's. NaN and infinities are null in JSON.
fn is(fact: &Value, got: &Value) -> bool {
    let text = fact["v"].as_str().unwrap_or_default();
    match fact["t"].as_str() {
        None => got.is_null(),
        Some("double") if fact["v"].is_string() => got.is_null(),
        Some("double") => close(fact["v"].as_f64().unwrap(), got, 1e-13),
        Some("int" | "decimal") => {
            let own = got.as_str().map_or_else(|| got.to_string(), str::to_owned);
            let few = text.len() < 16;
            digits(&own) == digits(text) || (few && close(text.parse().unwrap(), got, 0.0))
        }
        _ => *got == fact["v"],
    }
}

/// What is wrong with an expression's values.
fn wrong(text: &str, facts: &[Value], got: &[Option<Value>]) -> Vec<String> {
    let rows = facts.iter().zip(got).enumerate().filter(|(_, (fact, _))| fact["t"] != "error");
    let bad = rows.filter(|(_, (fact, got))| !got.as_ref().is_some_and(|got| is(fact, got)));
    bad.map(|(row, (fact, got))| {
        let got = got.as_ref().map_or("a bad record".to_owned(), Value::to_string);
        format!("{text}: row {row}: expected {fact}, got {got}")
    })
    .collect()
}

fn is_more(text: &str) -> bool {
    let calls = |name: &&str| {
        text.match_indices(&format!("{name}("))
            .any(|(at, _)| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    MORE.iter().any(|name| calls(name)) || MORE_OPERATORS.iter().any(|operator| text.contains(operator))
}

/// One expression alone. What need not exist may be refused.
fn alone(folder: &Path, text: &str, facts: &[Value]) -> Vec<String> {
    match values(folder, &[text]) {
        Ok(got) if MEANT.iter().any(|(meant, _)| *meant == text) => match wrong(text, facts, &got[0]).is_empty() {
            true => vec![format!("{text}: is DuckDB's after all")],
            false => Vec::new(),
        },
        Ok(got) => wrong(text, facts, &got[0]),
        Err(_) if is_more(text) => Vec::new(),
        Err(error) => vec![format!("{text}: {error}")],
    }
}

/// All facts of a topic: those without failures a few dozen at a time, and each alone where that did not go well.
fn check(topic: &str) {
    let facts = facts();
    let folder = tempfile::tempdir().unwrap();
    write_table(&facts, &folder.path().join("table.parquet"));
    let all: Vec<(&str, &[Value])> = facts["facts"][topic]
        .as_array()
        .unwrap_or_else(|| panic!("no facts of {topic}"))
        .iter()
        .map(|fact| (fact[0].as_str().unwrap(), fact[1].as_array().unwrap().as_slice()))
        .collect();
    let fails = |facts: &[Value]| facts.iter().any(|fact| fact["t"] == "error");
    let meant = |text: &str| MEANT.iter().any(|(meant, _)| *meant == text);
    let (failing, whole): (Vec<_>, Vec<_>) = all.iter().partition(|(text, facts)| fails(facts) || meant(text));
    let mut wrongs: Vec<String> = failing.iter().flat_map(|(text, facts)| alone(folder.path(), text, facts)).collect();
    for chunk in whole.chunks(40) {
        let texts: Vec<&str> = chunk.iter().map(|(text, _)| *text).collect();
        let together = values(folder.path(), &texts).ok().filter(|got| got.iter().flatten().all(Option::is_some));
        match together {
            Some(got) => wrongs.extend(chunk.iter().zip(got).flat_map(|((text, facts), got)| wrong(text, facts, &got))),
            None => wrongs.extend(chunk.iter().flat_map(|(text, facts)| alone(folder.path(), text, facts))),
        }
    }
    assert!(wrongs.is_empty(), "{} of {} facts of {topic}:\n{}", wrongs.len(), 8 * all.len(), wrongs.join("\n"));
}

/// One test a topic; a topic of the facts that is not here is a failure of the last.
macro_rules! topics {
    ($($name:ident: $topic:literal,)*) => {
        $(#[test] fn $name() { check($topic); })*
        const TOPICS: &[&str] = &[$($topic),*];
    };
}

topics! {
    arithmetic_is_duckdbs: "arithmetic",
    comparison_is_duckdbs: "comparison",
    logic_is_duckdbs: "logic",
    membership_is_duckdbs: "membership",
    patterns_are_duckdbs: "patterns",
    choices_are_duckdbs: "choices",
    casts_are_duckdbs: "casts",
    text_functions_are_duckdbs: "text",
    regular_expressions_are_duckdbs: "regular expressions",
    functions_of_numbers_are_duckdbs: "numbers",
    functions_of_times_are_duckdbs: "times",
}

#[test]
fn every_topic_is_tested_and_there_are_many_facts() {
    let facts = facts();
    let topics = facts["facts"].as_object().unwrap();
    assert!(topics.keys().all(|topic| TOPICS.contains(&topic.as_str())));
    let n: usize = topics.values().map(|some| some.as_array().unwrap().len()).sum();
    assert!(n > 800, "{n} facts");
}

/// A run over a few JSON lines: its output, or its error.
fn over(lines: &str, flags: &[&str]) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(at("in.jsonl"), lines).unwrap();
    let mut args: Vec<String> =
        ["window", "--time=t", "--time-format=unix-s", "--tumbling=1m"].map(String::from).to_vec();
    args.extend(flags.iter().map(|flag| (*flag).to_owned()));
    args.extend([format!("--output={}", at("out.jsonl")), at("in.jsonl")]);
    helpers::run(&args, None).map_err(|error| error.to_string())?;
    Ok(std::fs::read_to_string(at("out.jsonl")).unwrap())
}

/// The values of some expressions over one line, as JSON.
#[track_caller]
fn gives(line: &str, expressions: &[(&str, &str)]) {
    let calls = expressions.iter().enumerate().map(|(i, (text, _))| format!("any_value({text}) AS e{i}"));
    let agg = format!("--agg={}", calls.collect::<Vec<_>>().join(", "));
    let text = over(&format!("{line}\n"), &[&agg]).unwrap_or_else(|error| panic!("{agg}: {error}"));
    let row: Value = serde_json::from_str(&text).unwrap();
    for (i, (text, want)) in expressions.iter().enumerate() {
        assert_eq!(row[format!("e{i}")].to_string(), *want, "{text}");
    }
}

/// DuckDB gives infinities for `/`, and an error for `//` and `%`.
#[test]
fn division_by_zero_is_null() {
    let all = [
        ("v / 0", "null"),
        ("v / (v - v)", "null"),
        ("x / 0", "null"),
        ("v // 0", "null"),
        ("v % 0", "null"),
        ("x % 0", "null"),
        ("0 / 0", "null"),
        ("coalesce(v / 0, -1) = -1", "true"),
        ("v / 0 IS NULL", "true"),
    ];
    gives("{\"t\":0,\"v\":5,\"x\":1.5}", &all);
}

/// What fails in a record makes it a bad one; `TRY_CAST` and a branch that is not taken do not.
#[test]
fn integer_overflow_is_an_error() {
    let line = "{\"t\":0,\"v\":9223372036854775807}\n";
    for expression in ["v + 1", "v * 2", "-v - 2", "abs(-v - 1)"] {
        let error = over(line, &[&format!("--agg=max({expression}) AS m")]).expect_err(expression);
        assert!(error.contains("overflow") || error.contains("range"), "{expression}: {error}");
        assert!(error.contains("in.jsonl:1"), "{expression}: {error}");
    }
    gives(line.trim(), &[("CASE WHEN v < 0 THEN v + 1 ELSE 0 END", "0"), ("coalesce(v, v + 1) > 0", "true")]);
}

/// The sum is formed in 128 bits; only the result must fit.
#[test]
fn a_sum_that_does_not_fit_is_an_error_and_one_that_does_is_none() {
    let lines = "{\"t\":0,\"v\":9223372036854775807}\n{\"t\":1,\"v\":9223372036854775807}\n";
    assert!(over(lines, &["--agg=sum(v) AS s"]).is_err());
    let back = format!("{lines}{{\"t\":2,\"v\":-9223372036854775807}}\n");
    assert!(over(&back, &["--agg=sum(v) AS s"]).unwrap().contains("\"s\":9223372036854775807"));
}

#[test]
fn nested_fields_and_lists_are_reached() {
    let line = r#"{"t":0,"user":{"name":"Ann","tags":["a","b"]},"items":[{"sku":"x1","n":2},{"sku":"x2","n":3}]}"#;
    let all = [
        ("user.name", "\"Ann\""),
        ("items[0].sku", "\"x1\""),
        ("items[1].n + 1", "4"),
        ("items[5].sku", "null"),
        ("user.tags[1]", "\"b\""),
        ("cardinality(items)", "2"),
        ("cardinality(user.tags)", "2"),
        ("upper(user.name) || '!'", "\"ANN!\""),
        ("user.missing IS NULL", "true"),
    ];
    gives(line, &all);
}

#[test]
fn equal_values_have_equal_hashes() {
    let all = [("hash(a) = hash(b)", "true"), ("hash(a) = hash(c)", "false"), ("hash(a) IS NULL", "false")];
    gives(r#"{"t":0,"a":"one","b":"one","c":"two"}"#, &all);
}

#[test]
fn the_time_is_an_instant_and_may_be_computed() {
    let line = r#"{"t":5,"date":"2026-03-01","clock":"10:11:12"}"#;
    gives(line, &[("extract(second FROM t)", "5"), ("epoch(t)", "5.0")]);
    let flags = ["--time=date || ' ' || clock", "--time-format=auto"];
    let text = over(&format!("{line}\n"), &flags).unwrap();
    assert!(text.contains("\"window_start\":\"2026-03-01T10:11:00Z\""), "{text}");
}

#[test]
fn a_record_says_where_it_came_from() {
    let lines = "{\"t\":0}\n{\"t\":1}\n{\"t\":2}\n";
    let text = over(lines, &["--where=_line > 1", "--agg=min(_line) AS a, max(_line) AS b, count(*) AS n"]).unwrap();
    assert!(text.contains("\"a\":2,\"b\":3,\"n\":2"), "{text}");
    let text = over(lines, &["--agg=first(_file LIKE '%in.jsonl') AS here"]).unwrap();
    assert!(text.contains("\"here\":true"), "{text}");
}

#[test]
fn a_window_says_what_it_is() {
    let agg = "--agg=count(*) / window_seconds * 60 AS rate, epoch(window_end) - epoch(window_start) AS span";
    let row: Value = serde_json::from_str(&over("{\"t\":0}\n{\"t\":1}\n", &[agg]).unwrap()).unwrap();
    assert_eq!((row["rate"].as_f64(), row["span"].as_f64()), (Some(2.0), Some(60.0)));
}

/// Money adds up to the cent, and only what is true is kept.
#[test]
fn decimals_add_up_and_unknown_is_not_true() {
    let lines = "{\"t\":0,\"p\":0.10}\n{\"t\":1,\"p\":0.20}\n{\"t\":2,\"p\":0.70}\n{\"t\":3}\n";
    let flags = ["--schema=p decimal(18,2)", "--where=p < 0.5", "--agg=sum(p) AS s, count(*) AS n"];
    let row: Value = serde_json::from_str(&over(lines, &flags).unwrap()).unwrap();
    let sum = row["s"].as_str().map_or_else(|| row["s"].to_string(), str::to_owned);
    assert_eq!((digits(&sum).as_str(), row["n"].as_u64()), ("0.3", Some(2)));
}
