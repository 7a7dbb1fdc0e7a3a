//! The worked cases of joins, as-of lookups and deduplications in `testdata/cases/`: what other engines' tests state,
//! held against the model moment by moment, and against the program row by row.

use crate::cases::{cases, micros};
use crate::join_model::{self, Answer, Bounds, Files, How, Join, Marks, Next, ONS, answer_in};
use crate::joins::{self, PLAIN};
use crate::model::{Event, NEVER, Place};
use serde_json::Value;
use std::path::Path;

fn list<'a>(value: &'a Value, name: &str) -> Vec<&'a Value> {
    value[name].as_array().map_or(Vec::new(), |all| all.iter().collect())
}

/// The names of the fields a case joins by. Where it has none, all records share one.
fn keys(case: &Value) -> Vec<&str> {
    let on: Vec<&str> = list(&case["parameters"], "on").into_iter().filter_map(Value::as_str).collect();
    if on.is_empty() { vec!["all"] } else { on }
}

/// The records of a case, and where each stands in the files of its side. Those without a time are in no file.
struct Sides {
    files: Files,
    /// Places by the number of the input record.
    places: Vec<Option<Place>>,
    order: Vec<Next>,
}

fn sides(case: &Value) -> Sides {
    let mut all = vec![Vec::new(), Vec::new()];
    let (mut places, mut order) = (Vec::new(), Vec::new());
    for record in list(case, "input") {
        let file = usize::from(record["side"] == "R" || record["input"] == "b");
        let place = record["ts"].is_i64().then_some((file, all[file].len()));
        if place.is_some() {
            all[file].push(event(case, record));
            order.push((file, Some(all[file].len() - 1)));
        }
        places.push(place);
    }
    order.extend([(0, None), (1, None)]);
    Sides { files: Files { all, left: 1 }, places, order }
}

/// All keys of a record as one; none where one of them is null.
fn event(case: &Value, record: &Value) -> Event {
    let values: Option<Vec<String>> =
        keys(case)
            .into_iter()
            .map(|key| {
                if key == "all" {
                    Some(String::new())
                } else {
                    (!record[key].is_null()).then(|| record[key].to_string())
                }
            })
            .collect();
    Event { t: micros(case, &record["ts"]), key: values.map(|values| values.join(" ")), v: None, device: 0 }
}

fn how(case: &Value) -> How {
    let name = case["parameters"]["type"].as_str().unwrap();
    *join_model::HOWS.iter().find(|how| format!("{how:?}").to_lowercase() == name).unwrap()
}

/// None where a side of the interval is open: the job is refused.
fn bounds(case: &Value) -> Option<Bounds> {
    let p = &case["parameters"];
    if p["window"].is_object() {
        return Some(Bounds::Window(micros(case, &p["window"]["size"])));
    }
    let end = |name: &str| p[name].as_i64().map(|_| micros(case, &p[name]));
    Some(Bounds::Within { lo: end("lower")?, hi: end("upper")?, open_lo: false, open_hi: false })
}

fn job(case: &Value, marks: Marks) -> Option<Join<'static>> {
    let delay = Some(micros(case, &case["parameters"]["watermark_delay"]));
    let (bounds, delays) = (bounds(case)?, [delay, delay]);
    Some(Join { how: how(case), on: &ONS[0], bounds, delays, idle_after: None, marks, wheres: [None, None] })
}

/// Cases of joins that are not refused.
fn bounded() -> Vec<(Value, Sides)> {
    let all: Vec<_> = cases("join").into_iter().filter(|case| bounds(case).is_some()).map(|c| (sides(&c), c)).collect();
    assert_eq!(all.len(), 17);
    all.into_iter().map(|(sides, case)| (case, sides)).collect()
}

/// A row as the texts of its records, without what tells only where they stood.
type Row = (Option<String>, Option<String>);

fn plain(record: &Value) -> Option<String> {
    let mut record = record.clone();
    record.as_object_mut()?.remove("side");
    Some(record.to_string())
}

/// The rows as the case states them, each with its moment.
fn stated(case: &Value, own: bool) -> Vec<(Row, usize)> {
    let end = list(case, "input").len();
    let row = |row: &Value| {
        let at = if own && !row["at_own"].is_null() { &row["at_own"] } else { &row["at"] };
        ((plain(&row["left"]), plain(&row["right"])), at.as_u64().map_or(end, |at| at as usize))
    };
    let mut rows: Vec<_> = list(&case["expected"], "append").into_iter().map(row).collect();
    rows.sort_by_key(|row| row.1);
    settled(rows, end)
}

/// The order of what comes at the end is not stated.
fn settled(mut rows: Vec<(Row, usize)>, end: usize) -> Vec<(Row, usize)> {
    let before = rows.iter().take_while(|row| row.1 < end).count();
    rows[before..].sort_unstable();
    rows
}

/// The rows of an answer in the words of the case. All that comes with the ends comes at the end.
fn told(case: &Value, sides: &Sides, answer: &Answer) -> Vec<(Row, usize)> {
    let input = list(case, "input");
    let number = |place: Place| sides.places.iter().position(|p| *p == Some(place)).unwrap();
    let text = |place: Option<Place>| place.and_then(|place| plain(input[number(place)]));
    let at = |step: usize| match sides.order[step] {
        (file, Some(row)) => number((file, row)),
        _ => input.len(),
    };
    let rows = answer.rows.iter().map(|row| ((text(row.left), text(row.right)), at(row.at))).collect();
    settled(rows, input.len())
}

fn late(case: &Value, sides: &Sides) -> Vec<Place> {
    list(&case["expected"], "late").into_iter().map(|i| sides.places[i.as_u64().unwrap() as usize].unwrap()).collect()
}

fn sorted<T: Ord>(mut all: Vec<T>) -> Vec<T> {
    all.sort_unstable();
    all
}

/// Under one combined watermark the moments are those of the sources; with each side judged by itself outer rows may
/// come earlier.
#[test]
fn rows_of_the_model_come_at_the_moments_that_are_stated() {
    for (case, sides) in bounded() {
        for marks in [Marks::Min, Marks::Own] {
            let answer = answer_in(&job(&case, marks).unwrap(), &sides.files, &sides.order);
            let want = stated(&case, marks == Marks::Own);
            assert_eq!(told(&case, &sides, &answer), want, "{} {marks:?}", case["id"]);
            assert_eq!(answer.late, late(&case, &sides), "{} {marks:?}", case["id"]);
        }
    }
}

/// The combined watermark after each record, also of sides with delays of their own.
#[test]
fn watermarks_put_together_are_as_stated() {
    let two = cases("join_watermark").into_iter().map(|case| (sides(&case), case));
    for (case, sides) in two.map(|(sides, case)| (case, sides)).chain(bounded()) {
        let delay = |input: &str| Some(micros(&case, &case["parameters"]["inputs"][input]));
        let bounds = Bounds::Window(1);
        let job = job_or(&case, || Join {
            how: How::Inner,
            on: &ONS[0],
            bounds,
            delays: [delay("a"), delay("b")],
            idle_after: None,
            marks: Marks::Min,
            wheres: [None, None],
        });
        let answer = answer_in(&job, &sides.files, &sides.order);
        let mut marks = answer.marks.iter().map(|mark| if *mark == NEVER { Value::Null } else { (*mark).into() });
        let stated = list(&case["expected"], "watermarks");
        for (number, want) in stated.into_iter().enumerate().filter(|(number, _)| sides.places[*number].is_some()) {
            let want = if want.is_null() { Value::Null } else { micros(&case, want).into() };
            assert_eq!(marks.next(), Some(want), "{} after record {number}", case["id"]);
        }
    }
}

fn job_or(case: &Value, other: impl Fn() -> Join<'static>) -> Join<'static> {
    if case["operation"] == "join" { job(case, Marks::Min).unwrap() } else { other() }
}

/// Each side judged by itself: the same rows and the same late records however the sides interleave.
#[test]
fn every_interleaving_gives_the_rows_that_are_stated() {
    for (case, sides) in bounded() {
        let job = job(&case, Marks::Own).unwrap();
        let want = sorted(stated(&case, true).into_iter().map(|row| row.0).collect());
        // A full period of a generator whose high bits are all that is looked at.
        let mut state: u32 = 1;
        for _ in 0..500 {
            let mut turn = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                state >> 31 == 1
            };
            let (mut left, mut right): (Vec<Next>, Vec<Next>) = sides.order.iter().rev().partition(|next| next.0 == 0);
            let mut order = Vec::new();
            while !left.is_empty() || !right.is_empty() {
                order.extend(if turn() { left.pop() } else { right.pop() });
            }
            let answer = answer_in(&job, &sides.files, &order);
            let input = list(&case, "input");
            let text =
                |place: Option<Place>| plain(input[sides.places.iter().position(|p| p.is_some() && *p == place)?]);
            let got = answer.rows.iter().map(|row| (text(row.left), text(row.right))).collect();
            assert_eq!(sorted(got), want, "{} in {order:?}", case["id"]);
            assert_eq!(sorted(answer.late), sorted(late(&case, &sides)), "{} in {order:?}", case["id"]);
        }
    }
}

/// A record as it stands in a file: with its number, its time in microseconds, and a key that all records share.
fn line(case: &Value, number: usize, record: &Value) -> String {
    let mut record = record.clone();
    record["t"] = if record["ts"].is_null() { Value::Null } else { micros(case, &record["ts"]).into() };
    record["n"] = number.into();
    record["all"] = 1.into();
    record.to_string() + "\n"
}

fn write(path: &Path, lines: impl Iterator<Item = String>) -> String {
    std::fs::write(path, lines.collect::<String>()).unwrap();
    path.display().to_string()
}

/// Rows by the numbers of their records.
type Numbers = Vec<(Option<u64>, Option<u64>)>;

/// Rows, and the rest that was written, for `windrow ARGS`.
fn numbers(folder: &Path, args: &[String], flags: &[&str]) -> (Numbers, Vec<String>, Value) {
    let all: Vec<&str> = ["output"].into_iter().chain(flags.iter().copied()).collect();
    let (mut written, summary) = joins::run_in(folder, args, &all, &PLAIN);
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        (row["ln"].as_u64(), row["rn"].as_u64())
    };
    (written.remove(0).lines().map(row).collect(), written, summary)
}

fn flags_of_join(case: &Value) -> Vec<String> {
    let job = job(case, Marks::Own).unwrap();
    let mut args = ["join", "--time=t", "--time-format=unix-us", "--max-bad=2"].map(String::from).to_vec();
    args.push(format!("--on={}", keys(case).join(", ")));
    args.push(match job.bounds {
        Bounds::Within { lo, hi, .. } => format!("--within={}ms..{}ms", lo / 1_000, hi / 1_000),
        Bounds::Window(size) => format!("--window={}ms", size / 1_000),
    });
    args.push(format!("--how={}", format!("{:?}", job.how).to_lowercase()));
    args.push(format!("--delay={}us", job.delays[0].unwrap()));
    args.push(format!("--select=l.n AS ln{}", if job.how.pairs() { ", r.n AS rn" } else { "" }));
    args
}

#[test]
fn joins_are_as_other_engines_state_them() {
    for (case, sides) in bounded() {
        let folder = tempfile::tempdir().unwrap();
        let input = list(&case, "input");
        let mut args = flags_of_join(&case);
        for side in ["L", "R"] {
            let own = input.iter().enumerate().filter(|(_, record)| record["side"] == side);
            let lines = own.map(|(number, record)| line(&case, number, record));
            args.push(write(&folder.path().join(format!("{side}.jsonl")), lines));
        }
        let (rows, late_files, summary) = numbers(folder.path(), &args, &["late-left", "late-right"]);
        let text = |number: Option<u64>| number.and_then(|number| plain(input[number as usize]));
        let got = rows.iter().map(|(left, right)| (text(*left), text(*right))).collect();
        assert_eq!(sorted(got), sorted(stated(&case, true).into_iter().map(|row| row.0).collect()), "{}", case["id"]);
        let late: Vec<u64> = late_files.concat().lines().map(|line| field(line, "n")).collect();
        assert_eq!(Value::from(sorted(late)), case["expected"]["late"], "{}", case["id"]);
        let rejected = list(&case["expected"], "rejected").len();
        assert_eq!(summary["total"]["bad"], rejected, "{}", case["id"]);
        // In the order of the model, which takes the records as the program does.
        let answer = join_model::answer(&job(&case, Marks::Own).unwrap(), &sides.files);
        let number = |place: Place| sides.places.iter().position(|p| *p == Some(place)).unwrap() as u64;
        let want: Vec<_> = answer.rows.iter().map(|row| (row.left.map(number), row.right.map(number))).collect();
        assert_eq!(rows, want, "{}", case["id"]);
    }
}

fn field(line: &str, name: &str) -> u64 {
    serde_json::from_str::<Value>(line).unwrap()[name].as_u64().unwrap()
}

/// A join by equality alone can never forget a row; with a bound the case's rows come out.
#[test]
fn a_join_without_a_bound_is_refused() {
    let mut case = cases("join").into_iter().find(|case| bounds(case).is_none()).unwrap();
    let mut args = ["join", "--time=t", "--on=key", "--delay=5s", "l.jsonl", "r.jsonl"].map(String::from).to_vec();
    let error = crate::helpers::run(&args, None).unwrap_err();
    assert_eq!(error.exit_code(), 2, "{error}");
    assert!(error.to_string().contains("--within"), "{error}");
    args.push("--within=..0s".into());
    assert_eq!(crate::helpers::run(&args, None).unwrap_err().exit_code(), 2);
    case["parameters"]["lower"] = (-60).into();
    let sides = sides(&case);
    for marks in [Marks::Own, Marks::Min] {
        let answer = answer_in(&job(&case, marks).unwrap(), &sides.files, &sides.order);
        assert_eq!(told(&case, &sides, &answer), stated(&case, false));
    }
}

/// An event gets the row of the table that is stated. Strict comparisons: the table's times move by a microsecond away
/// from the event, which at whole seconds is the same.
#[test]
fn lookups_are_as_other_engines_state_them() {
    let all = cases("asof");
    assert_eq!(all.len(), 7);
    for case in all {
        let p = &case["parameters"];
        let folder = tempfile::tempdir().unwrap();
        let (left, right) = (list(&case, "left"), list(&case, "right"));
        let away = match (p["strict"] == true, p["direction"] == "backward") {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => -1,
        };
        let events = left.iter().enumerate().map(|(number, record)| line(&case, number, record));
        let table = right.iter().enumerate().map(|(number, record)| {
            let mut moved: Value = serde_json::from_str(&line(&case, number, record)).unwrap();
            moved["t"] = moved["t"].as_i64().map_or(Value::Null, |t| (t + away).into());
            moved.to_string() + "\n"
        });
        let mut args =
            ["lookup", "--time=t", "--time-format=unix-us", "--as-of=t", "--max-bad=1"].map(String::from).to_vec();
        args.extend([format!("--on={}", keys(&case).join(", ")), "--select=l.n AS ln, r.n AS rn".into()]);
        args.extend(["how", "direction"].map(|name| format!("--{name}={}", p[name].as_str().unwrap())));
        args.push(format!("--table={}", write(&folder.path().join("table.jsonl"), table)));
        args.push(write(&folder.path().join("events.jsonl"), events));
        let (rows, _, _) = numbers(folder.path(), &args, &[]);
        let text = |all: &[&Value], number: Option<u64>| number.and_then(|number| plain(all[number as usize]));
        let got: Vec<Row> = rows.into_iter().map(|(l, r)| (text(&left, l), text(&right, r))).collect();
        // Events come in the order of their times.
        assert_eq!(sorted(got), sorted(stated(&case, false).into_iter().map(|row| row.0).collect()), "{}", case["id"]);
    }
}

#[test]
fn dedups_are_as_other_engines_state_them() {
    let all = cases("dedup");
    assert_eq!(all.len(), 4);
    for case in all {
        let p = &case["parameters"];
        let folder = tempfile::tempdir().unwrap();
        let lines = list(&case, "input").into_iter().enumerate().map(|(number, record)| line(&case, number, record));
        let by: Vec<&str> = list(p, "keys").into_iter().filter_map(Value::as_str).collect();
        let mut args = ["dedup", "--time=t", "--time-format=unix-us"].map(String::from).to_vec();
        args.push(format!("--by={}", by.join(", ")));
        args.push(format!("--delay={}us", micros(&case, &p["watermark_delay"])));
        args.extend(p["horizon"].as_i64().map(|_| format!("--within={}us", micros(&case, &p["horizon"]))));
        args.push(write(&folder.path().join("in.jsonl"), lines));
        let (written, _) = joins::run_in(folder.path(), &args, &["output", "duplicates", "late"], &PLAIN);
        let numbers = |text: &str| text.lines().map(|line| field(line, "n")).collect::<Vec<_>>();
        let passed: Vec<u64> =
            list(&case["expected"], "append").into_iter().map(|row| row["at"].as_u64().unwrap()).collect();
        assert_eq!(numbers(&written[0]), passed, "{}", case["id"]);
        assert_eq!(Value::from(numbers(&written[1])), case["expected"]["duplicates"], "{}", case["id"]);
        assert_eq!(Value::from(numbers(&written[2])), case["expected"]["late"], "{}", case["id"]);
    }
}

/// A right column that the left side has too gets a prefix, and overwrites nothing.
#[test]
fn columns_of_both_sides_are_told_apart() {
    for case in cases("columns") {
        let folder = tempfile::tempdir().unwrap();
        let record = |side: &str| {
            let fields = list(&case["parameters"], side).into_iter().filter_map(Value::as_str);
            let each: Vec<String> = fields.map(|name| format!("\"{name}\":\"{side} {name}\"")).collect();
            each.join(",").replace(&format!("\"{side} B\""), "\"b\"")
        };
        let mut args = ["join", "--on=B", "--within=0s..0s", "--time=C", "--how=inner"].map(String::from).to_vec();
        for side in ["left", "right"] {
            let text = record(side).replace(&format!("{side} C"), "2026-03-01");
            args.push(write(&folder.path().join(side), std::iter::once(format!("{{{text}}}\n"))));
        }
        args.push("--input-format=jsonl".into());
        let (written, _) = joins::run_in(folder.path(), &args, &["output"], &PLAIN);
        let want: Vec<&str> = list(&case["expected"], "columns").into_iter().filter_map(Value::as_str).collect();
        assert_eq!(joins::names(&written[0]), want, "{}", case["id"]);
    }
}
