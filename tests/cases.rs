//! The worked cases of `testdata/cases/`: what other engines' tests state, under our rules.

use crate::helpers;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

/// Reads every case, so that a new file is a new test.
pub fn cases(operation: &str) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/cases");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "json"));
    paths.sort();
    let all = paths.iter().map(|path| serde_json::from_str::<Value>(&std::fs::read_to_string(path).unwrap()).unwrap());
    all.filter(|case| case["operation"] == operation).collect()
}

/// A time or a length of a case, in microseconds.
pub fn micros(case: &Value, value: &Value) -> i64 {
    let unit = if case["time_unit"] == "ms" { 1_000 } else { 1_000_000 };
    value.as_i64().unwrap_or_else(|| panic!("{value} in {}", case["id"])) * unit
}

fn span(case: &Value, name: &str) -> String {
    format!("{}us", micros(case, &case["parameters"][name]))
}

/// The flags of a case. A list of values is looked at as its length.
fn args(case: &Value) -> Vec<String> {
    let p = &case["parameters"];
    let window = match p["kind"].as_str().unwrap_or("global") {
        "global" => "--global".to_owned(),
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
    run_with(case, n, &[])
}

/// The same with more flags.
fn run_with(case: &Value, n: usize, more: &[String]) -> (Vec<Value>, String, Value) {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::new();
    case["input"].as_array().unwrap()[..n].iter().for_each(|r| writeln!(text, "{}", line(case, r)).unwrap());
    std::fs::write(folder.path().join("in.jsonl"), text).unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let mut all = args(case);
    all.extend_from_slice(more);
    for (flag, file) in [("output", "out.jsonl"), ("bad", "bad.jsonl"), ("summary", "sum.json")] {
        all.push(format!("--{flag}={}", at(file)));
    }
    // Where nothing is late, there is no file of late records to ask for.
    let never_late = case["parameters"]["kind"].is_null() || more.iter().any(|flag| flag == "--mode=complete");
    all.extend((!never_late).then(|| format!("--late={}", at("late.jsonl"))));
    all.push(at("in.jsonl"));
    helpers::run(&all, None).unwrap_or_else(|e| panic!("{}: {e}", case["id"]));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let rows = read("out.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let late = if never_late { String::new() } else { read("late.jsonl") };
    (rows, late, serde_json::from_str(&read("sum.json")).unwrap())
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

/// Cases of windows that are written once.
fn once() -> Vec<Value> {
    cases("window").into_iter().filter(|case| case["parameters"]["allowed_lateness"].is_null()).collect()
}

/// The records of a case at these places, as they stand in its file.
fn lines_at(case: &Value, indices: &Value) -> String {
    let at = |i: &Value| &case["input"][i.as_u64().unwrap() as usize];
    indices.as_array().unwrap().iter().map(|i| line(case, at(i)) + "\n").collect()
}

#[test]
fn windows_are_as_other_engines_state_them() {
    let all = once();
    assert!(all.len() > 30, "{} cases", all.len());
    for case in all {
        let id = case["id"].as_str().unwrap();
        let input = case["input"].as_array().unwrap();
        let (rows, late, summary) = run(&case, input.len());
        let want: Vec<Value> =
            case["expected"]["append"].as_array().unwrap().iter().map(|row| expected(&case, row)).collect();
        let sorted = |rows: Vec<Value>| rows.iter().map(Value::to_string).collect::<BTreeSet<_>>();
        assert_eq!(sorted(rows), sorted(want), "{id}");
        assert_eq!(late, lines_at(&case, &case["expected"]["late"]), "{id}: late records");
        let rejected = case["expected"]["rejected"].as_array().map_or(0, Vec::len);
        assert_eq!(summary["total"]["bad"], rejected, "{id}: bad records");
    }
}

/// `at`: the record whose arrival made a row final. Of the first n records alone, as many windows have fired by the
/// watermark as are final at or before the last of them.
#[test]
fn windows_fire_at_the_record_that_makes_them_final() {
    for case in once() {
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
            "tumbling" => format!("--tumbling={}ms", p["size"]),
            "sliding" => format!("--sliding={}ms/{}ms", p["size"], p["slide"]),
            _ => format!("--cumulate={}ms/{}ms", p["size"], p["step"]),
        };
        let mut args = ["window", "--time=t", &window, "nowhere.jsonl"].map(String::from).to_vec();
        if let Some(lateness) = p["allowed_lateness"].as_i64() {
            args.extend(["--mode=update", "--delay=0s", &format!("--allowed-lateness={lateness}ms")].map(String::from));
        }
        let error = helpers::plan(&args).err().unwrap_or_else(|| panic!("{} was accepted", case["id"]));
        assert_eq!(error.exit_code(), 2, "{}: {error}", case["id"]);
    }
}

/// An update row in our words, and where it stands among rows.
fn words(row: &Value) -> (String, String, i64) {
    let word = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
    (word("op"), word("pane"), row["revision"].as_i64().unwrap_or(-1))
}

/// The row without the columns of updates.
fn plain(row: &Value) -> Value {
    let mut row = row.clone();
    let object = row.as_object_mut().unwrap();
    ["op", "pane", "revision"].iter().for_each(|name| drop(object.remove(*name)));
    row
}

/// The upserted rows of a pane.
fn upserts(rows: &[Value], pane: &str) -> Vec<Value> {
    let wanted = |row: &&Value| row["op"] == "upsert" && row["pane"] == pane;
    rows.iter().filter(wanted).map(plain).collect()
}

/// `update`: a row for each record and window it went to, which is our `count:1`, the default; then each window once
/// when final. Sessions that grew are deleted as what they were, which the source leaves to whoever reads it.
#[test]
fn updates_are_as_other_engines_state_them() {
    let all: Vec<Value> = once().into_iter().filter(|case| !case["expected"]["update"].is_null()).collect();
    assert_eq!(all.len(), 4);
    for case in all {
        let n = case["input"].as_array().unwrap().len();
        let (rows, late, _) = run_with(&case, n, &["--mode=update".to_owned()]);
        let want = |name: &str| -> Vec<Value> {
            case["expected"][name].as_array().unwrap().iter().map(|row| expected(&case, row)).collect()
        };
        assert_eq!(upserts(&rows, "early"), want("update"), "{}", case["id"]);
        let sorted = |rows: Vec<Value>| rows.iter().map(Value::to_string).collect::<BTreeSet<_>>();
        assert_eq!(sorted(upserts(&rows, "on_time")), sorted(want("append")), "{}", case["id"]);
        assert_eq!(late, lines_at(&case, &case["expected"]["late"]), "{}: late records", case["id"]);
        let grown = case["parameters"]["kind"] == "session";
        assert_eq!(rows.iter().any(|row| row["op"] == "delete"), grown, "{}: deletes", case["id"]);
    }
}

/// `complete`: the last table, in which nothing is late.
#[test]
fn tables_are_as_other_engines_state_them() {
    let all: Vec<Value> = once().into_iter().filter(|case| !case["expected"]["complete"].is_null()).collect();
    assert_eq!(all.len(), 2);
    for case in all {
        let n = case["input"].as_array().unwrap().len();
        let (rows, late, _) = run_with(&case, n, &["--mode=complete".to_owned()]);
        let want = case["expected"]["complete"].as_array().unwrap().iter().map(|row| expected(&case, row));
        assert_eq!(rows, want.collect::<Vec<_>>(), "{}", case["id"]);
        assert_eq!(late, "", "{}", case["id"]);
    }
}

/// Windows are kept for late events: fired when final, and again by each event that is accepted later. Nothing is
/// written early here, as in the sources, which have no early trigger. Where the source discards (a refire holds only
/// what came since), ours holds all of the window: 3 instead of 1.
#[test]
fn late_events_are_accepted_as_other_engines_state_it() {
    let late: Vec<Value> =
        cases("window").into_iter().filter(|case| !case["parameters"]["allowed_lateness"].is_null()).collect();
    assert_eq!(late.len(), 2);
    for case in late {
        let lateness = format!("--allowed-lateness={}", span(&case, "allowed_lateness"));
        let more = ["--mode=update".to_owned(), lateness, "--trigger=count:1000".into()];
        let n = case["input"].as_array().unwrap().len();
        let (rows, late, _) = run_with(&case, n, &more);
        let stated = case["expected"]["append"].as_array().unwrap();
        let (again, first): (Vec<&Value>, Vec<&Value>) = stated.iter().partition(|row| row["refire"] == true);
        let first: Vec<Value> = first.into_iter().map(|row| expected(&case, row)).collect();
        assert_eq!(upserts(&rows, "on_time"), first, "{}", case["id"]);
        let sums = |rows: &[Value]| rows.iter().map(|row| row["sum"].as_i64().unwrap()).collect::<Vec<_>>();
        let want: &[i64] = if case["parameters"]["accumulate"] == false { &[3] } else { &[] };
        assert_eq!(again.len(), want.len(), "{}", case["id"]);
        assert_eq!(sums(&upserts(&rows, "late")), want, "{}", case["id"]);
        assert_eq!(rows.len(), first.len() + want.len(), "{}: {rows:?}", case["id"]);
        assert_eq!(late, lines_at(&case, &case["expected"]["late"]), "{}: late records", case["id"]);
    }
}

/// The source fires every key at each multiple of 3 s, also without new data, from the key's own first multiple on. Ours
/// fires at each crossing the keys that changed since. So key1 and key2 stand with the source's sums as soon as the
/// watermark moved after their last record, and once more at the end.
#[test]
fn a_global_window_fires_as_the_watermark_crosses_multiples() {
    for case in cases("global_trigger") {
        let every = micros(&case, &case["parameters"]["trigger"]["interval"]);
        let n = case["input"].as_array().unwrap().len();
        let (rows, late, _) =
            run_with(&case, n, &["--mode=update".to_owned(), format!("--trigger=event-time:{every}us")]);
        let told = rows.iter().map(|row| {
            let (op, pane, revision) = words(row);
            format!("{} {} {op} {pane} {revision}", row["key"].as_str().unwrap(), row["sum"])
        });
        // Watermarks: -20000, then -17000 (over -18000), 1001 (over -15000 to 0), 3001, 6001, and at last 8001.
        let want = [
            "key1 1 upsert early 0",
            "key2 1 upsert early 0",
            "key1 3 upsert early 1",
            "key2 5 upsert early 1",
            "~tick null upsert early 0",
            "~tick null upsert early 1",
            "~tick null upsert early 2",
            "key1 3 upsert on_time 2",
            "key2 5 upsert on_time 2",
            "~tick null upsert on_time 3",
        ];
        assert_eq!(told.collect::<Vec<_>>(), want, "{}", case["id"]);
        assert_eq!(late, "");
    }
}

/// An input that declares itself idle in the source is one that fell 2 s behind here (`--idle-after`), so the watermark
/// moves on one record earlier; it ends where the source's does, and one that wakes up behind does not pull it back.
/// Two inputs with delays of their own, or one that is idle before its first record, are not to be said of a job with
/// one kind of input.
#[test]
fn watermarks_of_several_inputs_are_as_other_engines_state_them() {
    let all: Vec<Value> = cases("multi_watermark").into_iter().filter(|case| inputs(case) > 1).collect();
    assert_eq!(all.len(), 2);
    for case in all {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        let records = case["input"].as_array().unwrap().iter().filter(|record| record["ts"].is_i64());
        std::fs::write(at("in.jsonl"), records.map(|r| line(&case, r) + "\n").collect::<String>()).unwrap();
        let args = ["window", "-t=t", "--time-format=unix-us", "--tumbling=1h", "-o=/dev/null", "--delay=0s"];
        let more =
            ["--watermark-by=input", "--idle-after=2s", &format!("--summary={}", at("sum.json")), &at("in.jsonl")];
        helpers::run(&args.iter().chain(&more).map(|arg| (*arg).to_owned()).collect::<Vec<_>>(), None).unwrap();
        let summary: Value = serde_json::from_str(&std::fs::read_to_string(at("sum.json")).unwrap()).unwrap();
        let last = case["expected"]["watermarks"].as_array().unwrap().last().unwrap();
        assert_eq!(summary["watermark"], helpers::instant(micros(&case, last)), "{}", case["id"]);
    }
}

fn inputs(case: &Value) -> usize {
    case["parameters"]["inputs"].as_object().unwrap().len()
}

/// One input's watermark after each record: it never moves back.
#[test]
fn watermarks_are_as_other_engines_state_them() {
    let all: Vec<Value> = cases("multi_watermark").into_iter().filter(|case| inputs(case) == 1).collect();
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
