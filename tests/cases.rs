//! The worked cases of `testdata/cases/`: what other engines' tests state, under our rules.

use crate::helpers;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

/// Reads every case, so that a new file is a new test.
fn cases(operation: &str) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/cases");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "json"));
    paths.sort();
    let all = paths.iter().map(|path| serde_json::from_str::<Value>(&std::fs::read_to_string(path).unwrap()).unwrap());
    all.filter(|case| case["operation"] == operation).collect()
}

fn micros(case: &Value, value: &Value) -> i64 {
    let unit = if case["time_unit"] == "ms" { 1_000 } else { 1_000_000 };
    value.as_i64().unwrap_or_else(|| panic!("{value} in {}", case["id"])) * unit
}

fn span(case: &Value, name: &str) -> String {
    format!("{}us", micros(case, &case["parameters"][name]))
}

/// The flags of a case. A list of values is looked at as its length.
fn args(case: &Value) -> Vec<String> {
    let p = &case["parameters"];
    let window = match p["kind"].as_str().unwrap() {
        "tumbling" => format!("--tumbling={}", span(case, "size")),
        "sliding" => format!("--sliding={}/{}", span(case, "size"), span(case, "slide")),
        "cumulate" => format!("--cumulate={}/{}", span(case, "size"), span(case, "step")),
        _ => format!("--session={}", span(case, "gap")),
    };
    let mut all = vec!["window".to_owned(), "--time=t".into(), "--time-format=unix-us".into(), window];
    all.push(format!("--delay={}", span(case, "watermark_delay")));
    if p["offset"].as_i64().unwrap_or(0) != 0 {
        all.push(format!("--offset={}", span(case, "offset")));
    }
    let keys: Vec<&str> = p["keys"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    all.extend((!keys.is_empty()).then(|| format!("--by={}", keys.join(","))));
    let calls = p["aggs"].as_array().unwrap().iter().map(|agg| {
        let (name, function, column) = (agg[0].as_str().unwrap(), agg[1].as_str().unwrap(), agg[2].as_str());
        match (function, column) {
            ("list", Some(column)) => format!("count({column}) AS \"{name}\""),
            (_, Some(column)) => format!("{function}({column}) AS \"{name}\""),
            (_, None) => format!("{function}(*) AS \"{name}\""),
        }
    });
    all.push(format!("--agg={}", calls.collect::<Vec<_>>().join(", ")));
    all
}

fn line(case: &Value, record: &Value) -> String {
    let mut record = record.clone();
    let object = record.as_object_mut().unwrap();
    let t = match &object["ts"] {
        Value::Null => Value::Null,
        ts => micros(case, ts).into(),
    };
    object.insert("t".into(), t);
    record.to_string()
}

/// Runs the first `n` records of a case; gives the result rows, the late lines and the summary.
fn run(case: &Value, n: usize) -> (Vec<Value>, String, Value) {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::new();
    case["input"].as_array().unwrap()[..n].iter().for_each(|r| writeln!(text, "{}", line(case, r)).unwrap());
    std::fs::write(folder.path().join("in.jsonl"), text).unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let mut all = args(case);
    for (flag, file) in [("output", "out.jsonl"), ("late", "late.jsonl"), ("bad", "bad.jsonl"), ("summary", "sum.json")]
    {
        all.push(format!("--{flag}={}", at(file)));
    }
    all.push(at("in.jsonl"));
    helpers::run(&all, None).unwrap_or_else(|e| panic!("{}: {e}", case["id"]));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let rows = read("out.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (rows, read("late.jsonl"), serde_json::from_str(&read("sum.json")).unwrap())
}

/// An expected row in our words.
fn expected(case: &Value, row: &Value) -> Value {
    let mut new = serde_json::Map::new();
    for (name, value) in row.as_object().unwrap() {
        let value = match name.as_str() {
            "at" => continue,
            "window_start" | "window_end" => helpers::instant(micros(case, value)).into(),
            _ if value.is_array() => value.as_array().unwrap().len().into(),
            _ => value.clone(),
        };
        new.insert(name.clone(), value);
    }
    new.into()
}

#[test]
fn windows_are_as_other_engines_state_them() {
    let all = cases("window");
    assert!(all.len() > 30, "{} cases", all.len());
    for case in all {
        let id = case["id"].as_str().unwrap();
        let input = case["input"].as_array().unwrap();
        let (rows, late, summary) = run(&case, input.len());
        let want: Vec<Value> =
            case["expected"]["append"].as_array().unwrap().iter().map(|row| expected(&case, row)).collect();
        let sorted = |rows: Vec<Value>| rows.iter().map(Value::to_string).collect::<BTreeSet<_>>();
        assert_eq!(sorted(rows), sorted(want), "{id}");
        let late_of = |indices: &Value| -> String {
            let each = indices.as_array().unwrap().iter().map(|i| line(&case, &input[i.as_u64().unwrap() as usize]));
            each.map(|line| line + "\n").collect()
        };
        assert_eq!(late, late_of(&case["expected"]["late"]), "{id}: late records");
        let rejected = case["expected"]["rejected"].as_array().map_or(0, Vec::len);
        assert_eq!(summary["total"]["bad"], rejected, "{id}: bad records");
    }
}

/// `at`: the record whose arrival made a row final. Of the first n records alone, as many windows have fired by the
/// watermark as are final at or before the last of them.
#[test]
fn windows_fire_at_the_record_that_makes_them_final() {
    for case in cases("window") {
        let input = case["input"].as_array().unwrap();
        let rows = case["expected"]["append"].as_array().unwrap();
        let session = case["parameters"]["kind"] == "session";
        for n in 1..=input.len() {
            let final_by = rows.iter().filter(|row| row["at"].as_u64().is_some_and(|at| (at as usize) < n));
            let fired = final_by.map(|row| {
                let key = if session { expected(&case, row).to_string() } else { String::new() };
                (row["window_start"].to_string(), row["window_end"].to_string(), key)
            });
            let fired: BTreeSet<_> = fired.collect();
            let (_, _, summary) = run(&case, n);
            let got = summary["fired_by_watermark"].as_u64().unwrap();
            assert_eq!(got, fired.len() as u64, "{} after record {}", case["id"], n - 1);
        }
    }
}

#[test]
fn impossible_windows_are_refused() {
    for case in cases("config_error") {
        let p = &case["parameters"];
        let window = match p["kind"].as_str().unwrap() {
            "sliding" => format!("--sliding={}ms/{}ms", p["size"], p["slide"]),
            _ => format!("--cumulate={}ms/{}ms", p["size"], p["step"]),
        };
        let args: Vec<String> = ["window", "--time=t", &window, "nowhere.jsonl"].map(String::from).to_vec();
        let error = helpers::plan(&args).err().unwrap_or_else(|| panic!("{} was accepted", case["id"]));
        assert_eq!(error.exit_code(), 2, "{}: {error}", case["id"]);
    }
}

/// One input's watermark after each record: it never moves back.
#[test]
fn watermarks_are_as_other_engines_state_them() {
    let all = cases("multi_watermark");
    assert_eq!(all.len(), 2);
    for case in all {
        let delay = micros(&case, &case["parameters"]["inputs"]["a"]);
        let marks = case["expected"]["watermarks"].as_array().unwrap();
        for n in 1..=marks.len() {
            let folder = tempfile::tempdir().unwrap();
            let at = |name: &str| folder.path().join(name).display().to_string();
            let lines = case["input"].as_array().unwrap()[..n].iter().map(|record| line(&case, record) + "\n");
            std::fs::write(at("in.jsonl"), lines.collect::<String>()).unwrap();
            let args = ["window", "-t=t", "--time-format=unix-us", "--tumbling=1h", "-o=/dev/null"].map(String::from);
            let more = [format!("--delay={delay}us"), format!("--summary={}", at("sum.json")), at("in.jsonl")];
            helpers::run(&args.into_iter().chain(more).collect::<Vec<_>>(), None).unwrap();
            let summary: Value = serde_json::from_str(&std::fs::read_to_string(at("sum.json")).unwrap()).unwrap();
            let want = if marks[n - 1].is_null() {
                Value::Null
            } else {
                helpers::instant(micros(&case, &marks[n - 1])).into()
            };
            assert_eq!(summary["watermark"], want, "{} after record {}", case["id"], n - 1);
        }
    }
}
