//! Random small jobs against the slow model, and the invariants: nothing depends on batch size, read chunk, format,
//! thread count, or on how the files interleave where SPEC section 1.1 says so.

use crate::helpers::{self, instant};
use crate::model::{self, Answer, Event, Gate, Job, Kind, Place};
use crate::rows_model::{self, Cell, Query, Row, Want};
use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SECOND: i64 = 1_000_000;

/// Times around the epoch, on a grid that makes ties and boundaries common.
fn time() -> impl Strategy<Value = i64> {
    prop_oneof![8 => (-40..60i64).prop_map(|s| s * SECOND), 1 => (-400..600i64).prop_map(|s| s * SECOND / 10),
        1 => -90_000_000..90_000_000i64]
}

fn event() -> impl Strategy<Value = Event> {
    let key = proptest::option::weighted(0.8, "[ab\u{e9}]{0,2}");
    let v = proptest::option::weighted(0.8, -3..4i64);
    (time(), key, v, 0..3u8).prop_map(|(t, key, v, device)| Event { t, key, v, device })
}

/// Files whose events mostly rise, so that not everything is late.
pub fn files() -> impl Strategy<Value = Vec<Vec<Event>>> {
    let file = (proptest::collection::vec(event(), 0..40), 0..4usize).prop_map(|(mut events, disorder)| {
        if disorder > 0 {
            events.sort_by_key(|e| e.t / (SECOND * 5 * disorder as i64));
        }
        events
    });
    proptest::collection::vec(file, 1..4)
}

/// Kinds of windows, small next to the times.
pub fn kind() -> impl Strategy<Value = Kind> {
    let offset = prop_oneof![2 => Just(0), 1 => -9..9i64];
    let s = |n: i64| n * SECOND;
    prop_oneof![
        (1..12i64, offset.clone()).prop_map(move |(size, o)| Kind::Tumbling { size: s(size), offset: s(o) }),
        (1..12i64, 1..12i64, offset.clone()).prop_map(move |(a, b, o)| Kind::Sliding {
            size: s(a.max(b)),
            slide: s(a.min(b)),
            offset: s(o)
        }),
        (1..5i64, 1..5i64, offset).prop_map(move |(step, n, o)| Kind::Cumulate {
            size: s(step * n),
            step: s(step),
            offset: s(o)
        }),
        (1..9i64).prop_map(move |gap| Kind::Session { gap: s(gap) }),
    ]
}

fn job() -> impl Strategy<Value = Job> {
    let delay = proptest::option::weighted(0.8, prop_oneof![Just(0), (0..15i64).prop_map(|s| s * SECOND)]);
    let span = |weight| proptest::option::weighted(weight, (0..20i64).prop_map(|s| s * SECOND));
    let clock = (delay, prop_oneof![3 => Just(0), 1 => 1..3usize], span(0.3), span(0.2), any::<bool>());
    let rest = (proptest::bool::weighted(0.7), proptest::bool::weighted(0.25), proptest::bool::weighted(0.2));
    (kind(), clock, rest, proptest::option::weighted(0.2, -30..30i64), proptest::option::weighted(0.2, 0..40i64))
        .prop_map(|(kind, (delay, outliers, idle, skew, max), (keyed, by_device, concat), since, width)| {
            let live = delay.is_some();
            let by_device = by_device && live && !concat;
            let since = since.map(|s| s * SECOND);
            Job {
                kind,
                keyed,
                delay,
                outliers: if live { outliers } else { 0 },
                idle_after: if by_device { idle.or(Some(5 * SECOND)) } else { idle.filter(|_| live && !concat) },
                max_skew: skew.filter(|_| live && !concat),
                max_policy: live && max && !concat,
                by_device,
                concat,
                since,
                until: width.map(|w| since.unwrap_or(0) + w * SECOND + SECOND),
            }
        })
}

/// A span as it is typed.
pub fn span(micros: i64) -> String {
    format!("{}s", micros / SECOND)
}

/// The kind of windows as it is typed. Everything is written with an equals sign, since offsets may be negative.
pub fn kind_args(kind: &Kind) -> Vec<String> {
    let (window, offset) = match *kind {
        Kind::Tumbling { size, offset } => (format!("--tumbling={}", span(size)), offset),
        Kind::Sliding { size, slide, offset } => (format!("--sliding={}/{}", span(size), span(slide)), offset),
        Kind::Cumulate { size, step, offset } => (format!("--cumulate={}/{}", span(size), span(step)), offset),
        Kind::Session { gap } => (format!("--session={}", span(gap)), 0),
    };
    let offset = (offset != 0).then(|| format!("--offset={}", span(offset)));
    std::iter::once(window).chain(offset).collect()
}

/// All else of a job but what is asked of the rows.
pub fn clock_args(job: &Job) -> Vec<String> {
    let mut all = vec!["window".to_owned(), "--time=t".into(), "--time-format=unix-us".into()];
    all.push("--schema=v bigint, k text, d bigint".into());
    all.extend(job.delay.map(|d| format!("--delay={}", span(d))));
    all.extend((job.outliers > 0).then(|| format!("--outliers={}", job.outliers)));
    all.extend(job.idle_after.map(|d| format!("--idle-after={}", span(d))));
    all.extend(job.max_skew.map(|d| format!("--max-skew={}", span(d))));
    all.extend(job.max_policy.then(|| "--watermark-policy=max".to_owned()));
    all.extend(job.by_device.then(|| "--watermark-by=d".to_owned()));
    all.extend(job.concat.then(|| "--concat".to_owned()));
    all.extend(job.since.map(|t| format!("--since={}", instant(t))));
    all.extend(job.until.map(|t| format!("--until={}", instant(t))));
    all
}

/// The job as it would be typed.
fn args(job: &Job) -> Vec<String> {
    let mut all = clock_args(job);
    all.extend(kind_args(&job.kind));
    all.extend(job.keyed.then(|| "--by=k".to_owned()));
    all.push(
        "--agg=count(*) AS n, count(v) AS c, count(DISTINCT v) AS d, sum(v) AS s, avg(v) AS a, min(v) AS lo, \
         max(v) AS hi, first(v) AS f, last(v) AS l"
            .into(),
    );
    all
}

/// A record as it stands in a file.
pub fn json_line(e: &Event) -> String {
    let mut fields = vec![format!("\"t\":{}", e.t), format!("\"d\":{}", e.device)];
    fields.extend(e.key.as_ref().map(|k| format!("\"k\":{}", Value::from(k.as_str()))));
    fields.extend(e.v.map(|v| format!("\"v\":{v}")));
    format!("{{{}}}", fields.join(","))
}

/// Null is nothing, an empty text is a pair of quotes.
fn csv_line(e: &Event) -> String {
    let key = e.key.as_ref().map_or(String::new(), |k| format!("\"{k}\""));
    format!("{},{},{},{}", e.t, e.device, key, e.v.map_or(String::new(), |v| v.to_string()))
}

/// How the files are written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Format {
    Jsonl,
    Csv,
    Parquet,
}

/// Row groups of a few rows, so that pieces end everywhere.
fn parquet(events: &[Event]) -> Vec<u8> {
    let field = |name: &str, ty, nullable| Field::new(name, ty, nullable);
    let schema = Arc::new(Schema::new(vec![
        field("t", DataType::Int64, false),
        field("d", DataType::Int64, false),
        field("k", DataType::Utf8, true),
        field("v", DataType::Int64, true),
    ]));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(events.iter().map(|e| e.t))),
        Arc::new(Int64Array::from_iter_values(events.iter().map(|e| i64::from(e.device)))),
        Arc::new(events.iter().map(|e| e.key.clone()).collect::<StringArray>()),
        Arc::new(events.iter().map(|e| e.v).collect::<Int64Array>()),
    ];
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(7)).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), Arc::clone(&schema), Some(properties)).unwrap();
    writer.write(&RecordBatch::try_new(schema, columns).unwrap()).unwrap();
    writer.into_inner().unwrap()
}

/// Writes the files, and gives their paths.
pub fn write_files(folder: &Path, format: Format, files: &[Vec<Event>]) -> Vec<PathBuf> {
    let each = files.iter().enumerate().map(|(i, events)| {
        let lines = |header: &str, line: fn(&Event) -> String| {
            events.iter().fold(header.to_owned(), |text, event| text + &line(event) + "\n").into_bytes()
        };
        let (name, bytes) = match format {
            Format::Jsonl => ("jsonl", lines("", json_line)),
            Format::Csv => ("csv", lines("t,d,k,v\n", csv_line)),
            Format::Parquet => ("parquet", parquet(events)),
        };
        let path = folder.join(format!("in{i}.{name}"));
        std::fs::write(&path, bytes).unwrap();
        path
    });
    each.collect()
}

/// What a run wrote: result lines, late lines, and the ledger of the summary.
#[derive(Debug, PartialEq)]
pub struct Written {
    pub results: String,
    pub late: String,
    pub ledger: [u64; 6],
    pub watermark: Value,
}

/// What must not change a result.
#[derive(Clone, Copy, Debug)]
pub struct How {
    pub format: Format,
    pub threads: usize,
    pub chunk: Option<usize>,
}

fn run(job: &Job, files: &[Vec<Event>], how: &How) -> Written {
    run_args(args(job), job.delay.is_some(), files, how)
}

/// Runs `windrow ARGS` over the files; with a file of late records where there may be some.
pub fn run_args(args: Vec<String>, late: bool, files: &[Vec<Event>], how: &How) -> Written {
    let folder = tempfile::tempdir().unwrap();
    let paths = write_files(folder.path(), how.format, files);
    let out = |name: &str| folder.path().join(name).display().to_string();
    let mut all = args;
    all.push(format!("--threads={}", how.threads));
    all.push(format!("--output={}", out("out.jsonl")));
    all.push(format!("--summary={}", out("summary.json")));
    all.extend(late.then(|| format!("--late={}", out("late"))));
    all.extend(paths.iter().map(|p| p.display().to_string()));
    helpers::run(&all, how.chunk).unwrap_or_else(|e| panic!("windrow {}: {e}", all.join(" ")));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    let summary: Value = serde_json::from_str(&read("summary.json")).unwrap();
    let count = |name: &str| summary["total"][name].as_u64().unwrap_or_else(|| panic!("{name} in {summary}"));
    Written {
        results: read("out.jsonl"),
        late: read("late"),
        ledger: ["read", "used", "filtered", "late", "outside", "partially_late"].map(count),
        watermark: summary["watermark"].clone(),
    }
}

/// The model's answer in the program's words.
fn expected(files: &[Vec<Event>], answer: &Answer) -> Written {
    let mut results = String::new();
    for ((end, start, key), rows) in &answer.windows {
        let key: String = key.iter().map(|key| format!(",\"k\":{}", key.json())).collect();
        let bounds = format!("\"window_start\":\"{}\",\"window_end\":\"{}\"", instant(*start), instant(*end));
        writeln!(results, "{{{bounds}{key},{}}}", aggregates(rows)).unwrap();
    }
    besides(files, answer, results)
}

/// Results with all that is expected beside them.
fn besides(files: &[Vec<Event>], answer: &Answer, results: String) -> Written {
    let read = files.iter().map(Vec::len).sum::<usize>() as u64;
    let late = answer.late.len() as u64;
    let ledger = [read, answer.used, answer.filtered, late, answer.outside, answer.partially_late];
    let watermark = match answer.watermark {
        model::NEVER => Value::Null,
        micros => instant(micros).into(),
    };
    Written { results, late: lines_of(files, &answer.late), ledger, watermark }
}

/// Records as they stand in a file of late ones.
pub fn lines_of(files: &[Vec<Event>], places: &[Place]) -> String {
    places.iter().map(|&(file, row)| json_line(&files[file][row]) + "\n").collect()
}

fn aggregates(rows: &[(Place, Event)]) -> String {
    let mut ordered: Vec<&(Place, Event)> = rows.iter().filter(|(_, e)| e.v.is_some()).collect();
    ordered.sort_by_key(|(place, e)| (e.t, *place));
    let values: Vec<i64> = ordered.iter().filter_map(|(_, e)| e.v).collect();
    let mut distinct = values.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let or_null = |v: Option<i64>| v.map_or(Value::Null, Value::from);
    let sum = (!values.is_empty()).then(|| values.iter().sum::<i64>());
    let avg = sum.map_or(Value::Null, |sum| Value::from(sum as f64 / values.len() as f64));
    format!(
        "\"n\":{},\"c\":{},\"d\":{},\"s\":{},\"a\":{avg},\"lo\":{},\"hi\":{},\"f\":{},\"l\":{}",
        rows.len(),
        values.len(),
        distinct.len(),
        or_null(sum),
        or_null(values.iter().min().copied()),
        or_null(values.iter().max().copied()),
        or_null(values.first().copied()),
        or_null(values.last().copied()),
    )
}

/// A row, and the end of the window it is written with; none: it comes at the end of the input.
type Due = (Option<i64>, Row);

/// The rows of a query, in their order (SPEC section 4). Without filling the whole output is in one order, however many
/// firings it took.
fn rows(job: &Job, query: &Query, answer: &Answer) -> Vec<Row> {
    let mut keyed: BTreeMap<&Vec<Cell>, Vec<Row>> = BTreeMap::new();
    for ((end, start, keys), rows) in &answer.windows {
        keyed.entry(keys).or_default().push(query.row((Some(*start), Some(*end)), keys.clone(), rows));
    }
    let passed = |end: i64| answer.marks.iter().position(|&mark| mark != model::NEVER && mark >= end);
    let mut fired: BTreeMap<(usize, Option<i64>, Option<i64>), Vec<Row>> = BTreeMap::new();
    for (with, row) in keyed.into_values().flat_map(|rows| filled(job, query, rows)) {
        let firing = match query.fill {
            Some(_) => with.and_then(passed).unwrap_or(answer.marks.len()),
            None => 0,
        };
        fired.entry((firing, row.bounds.1, row.bounds.0)).or_default().push(row);
    }
    fired.into_values().flat_map(|rows| query.finish(rows)).collect()
}

/// A key's rows with those of its empty windows: those before a row come with it, those behind the last at the end.
fn filled(job: &Job, query: &Query, rows: Vec<Row>) -> Vec<Due> {
    let Some(slide) = rows_model::slide(&job.kind).filter(|_| query.fill.is_some()) else {
        return rows.into_iter().map(|row| (row.bounds.1, row)).collect();
    };
    let start = |row: &Row| row.bounds.0.unwrap();
    let mut all: Vec<Due> = Vec::new();
    let mut last: Option<&Row> = None;
    for row in &rows {
        let from = last.map(|last| start(last) + 1).or(job.since);
        let gap = from.map_or(Vec::new(), |from| starts(from, start(row), start(row), slide));
        all.extend(empty(query, &gap, row, last).into_iter().map(|empty| (row.bounds.1, empty)));
        all.push((row.bounds.1, row.clone()));
        last = Some(row);
    }
    if let (Some(row), Some(until)) = (last, job.until) {
        let gap = starts(start(row) + 1, until, start(row), slide);
        all.extend(empty(query, &gap, row, last).into_iter().map(|empty| (None, empty)));
    }
    all
}

/// The starts of windows from one instant to before another, where `start` is one.
fn starts(from: i64, to: i64, start: i64, slide: i64) -> Vec<i64> {
    let first = from + (start - from).rem_euclid(slide);
    (0..).map(|n| first + n * slide).take_while(|at| *at < to).collect()
}

/// The rows of empty windows of the key of `row`, unless there are too many.
fn empty(query: &Query, gap: &[i64], row: &Row, last: Option<&Row>) -> Vec<Row> {
    let Some((filling, _)) = query.fill.filter(|(_, max)| gap.len() <= *max) else { return Vec::new() };
    let size = row.bounds.1.unwrap() - row.bounds.0.unwrap();
    let bounds = gap.iter().map(|start| (Some(*start), Some(start + size)));
    bounds.map(|bounds| query.filled(filling, bounds, row.keys.clone(), last)).collect()
}

/// Says where lines that were written are not these rows.
pub fn compare(want: &[Vec<(String, Want)>], got: &str) -> Result<(), TestCaseError> {
    let lines: Vec<Value> = got.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (i, (want, line)) in want.iter().zip(&lines).enumerate() {
        if let Some(wrong) = rows_model::differs(want, line) {
            prop_assert!(false, "row {i}: {wrong}\n  expected {want:?}\n  got {line}\nin\n{got}");
        }
    }
    prop_assert_eq!(lines.len(), want.len(), "expected\n{:?}\ngot\n{}", want, got);
    Ok(())
}

/// A job and what is asked of its rows. With a delay a filled row comes when the rest of its window is written, so it
/// cannot be ranked, and stands by itself in any order.
fn asked() -> impl Strategy<Value = (Job, Query)> {
    let fill = proptest::option::weighted(0.4, rows_model::filling());
    (job(), rows_model::query(), fill).prop_map(|(job, mut query, fill)| {
        query.fill = fill.filter(|_| matches!(job.kind, Kind::Tumbling { .. } | Kind::Sliding { .. }));
        if query.fill.is_some() && job.delay.is_some() {
            (query.order, query.top, query.top_by) = (None, None, false);
        }
        (job, query)
    })
}

fn asked_args(job: &Job, query: &Query) -> Vec<String> {
    let mut all = clock_args(job);
    all.extend(kind_args(&job.kind));
    all.extend(query.args());
    all
}

/// One thread, and chunks as they come.
pub const PLAIN: How = How { format: Format::Jsonl, threads: 1, chunk: None };

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(400), ..ProptestConfig::default() })]

    #[test]
    fn every_job_gives_what_the_model_gives(job in job(), files in files()) {
        let want = expected(&files, &model::answer(&job, &files));
        let got = run(&job, &files, &PLAIN);
        prop_assert_eq!(&got.results, &want.results);
        prop_assert_eq!(got, want);
    }

    /// Conditions, computed keys, every aggregate, expressions over them, conditions on rows, ranks, filled windows.
    #[test]
    fn every_query_gives_what_the_model_gives((job, query) in asked(), files in files()) {
        let gate = Gate { keep: &|e| query.keeps(e), keys: &|e| query.keys_of(e) };
        let answer = model::answer_through(&job, &files, &gate);
        let got = run_args(asked_args(&job, &query), job.delay.is_some(), &files, &PLAIN);
        let mut want: Vec<_> = rows(&job, &query, &answer).iter().map(|row| row.columns(&query)).collect();
        let mut results = got.results.clone();
        if query.top_by {
            // How the rankings of one window lie between each other is not said.
            want.sort_by_key(|columns| format!("{columns:?}"));
            results = sorted_like(&want, &results);
        }
        compare(&want, &results)?;
        prop_assert_eq!(Written { results: String::new(), ..got }, besides(&files, &answer, String::new()));
    }

    #[test]
    fn chunks_threads_and_format_change_no_query(
        (job, query) in asked(), files in files(), chunk in 1..400usize, threads in 1..4usize
    ) {
        let args = asked_args(&job, &query);
        let live = job.delay.is_some();
        let want = run_args(args.clone(), live, &files, &PLAIN);
        let got = run_args(args.clone(), live, &files, &How { format: Format::Jsonl, threads, chunk: Some(chunk) });
        prop_assert_eq!(&got, &want);
        let parquet = run_args(args, live, &files, &How { format: Format::Parquet, threads, chunk: None });
        prop_assert_eq!(parquet.results, want.results);
        prop_assert_eq!(whole_groups(parquet.ledger), whole_groups(want.ledger));
    }

    #[test]
    fn chunks_threads_and_format_change_nothing(job in job(), files in files(), chunk in 1..400usize, threads in 1..4usize) {
        let want = run(&job, &files, &PLAIN);
        let got = run(&job, &files, &How { format: Format::Jsonl, threads, chunk: Some(chunk) });
        prop_assert_eq!(&got, &want);
        let csv = run(&job, &files, &How { format: Format::Csv, threads, chunk: Some(chunk) });
        prop_assert_eq!(&csv.results, &want.results);
        prop_assert_eq!(csv.ledger, want.ledger);
        let parquet = run(&job, &files, &How { format: Format::Parquet, threads, chunk: None });
        prop_assert_eq!(parquet.results, want.results);
        prop_assert_eq!(parquet.ledger, want.ledger);
    }

    /// Time windows over partitions that neither idle nor skew: another interleaving gives the same rows, the same
    /// late records and the same account.
    #[test]
    fn the_order_of_files_changes_nothing(job in job(), files in files()) {
        let session = matches!(job.kind, Kind::Session { .. });
        let job = Job { idle_after: None, max_skew: None, max_policy: false, by_device: false, concat: false, ..job };
        prop_assume!(!session || job.delay.is_none());
        let mut reversed = files.clone();
        reversed.reverse();
        let (a, b) = (run(&job, &files, &PLAIN), run(&job, &reversed, &PLAIN));
        // first() and last() break ties by the files' order, which was turned.
        let untied = |text: &str| -> Vec<String> {
            text.lines().map(|line| line.split(",\"f\":").next().unwrap_or(line).to_owned()).collect()
        };
        prop_assert_eq!(untied(&a.results), untied(&b.results));
        prop_assert_eq!(a.ledger, b.ledger);
        let sorted = |text: &str| { let mut lines: Vec<String> = text.lines().map(str::to_owned).collect(); lines.sort(); lines };
        prop_assert_eq!(sorted(&a.late), sorted(&b.late));
    }
}

/// An account in which it does not matter whether a record is filtered or outside: row groups that lie outside are not
/// read, so no condition is asked of their records.
fn whole_groups([read, used, filtered, late, outside, partially_late]: [u64; 6]) -> [u64; 5] {
    [read, used, filtered + outside, late, partially_late]
}

/// Lines in the order of the wanted rows they are equal to; lines equal to none come last.
fn sorted_like(want: &[Vec<(String, Want)>], lines: &str) -> String {
    let place = |line: &&str| {
        let value: Value = serde_json::from_str(line).unwrap();
        want.iter().position(|want| rows_model::differs(want, &value).is_none()).unwrap_or(want.len())
    };
    let mut lines: Vec<&str> = lines.lines().collect();
    lines.sort_by_key(place);
    lines.into_iter().map(|line| line.to_owned() + "\n").collect()
}

/// How many random jobs; `WINDROW_CASES` asks for more.
pub fn cases(default: u32) -> u32 {
    std::env::var("WINDROW_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}
