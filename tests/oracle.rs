//! Random small jobs against the slow model, and the invariants: nothing depends on batch size, read chunk, format,
//! thread count, or on how the files interleave where SPEC section 1.1 says so.

use crate::helpers::{self, instant};
use crate::model::{self, Answer, Event, Job, Kind, Place};
use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;
use serde_json::Value;
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
fn files() -> impl Strategy<Value = Vec<Vec<Event>>> {
    let file = (proptest::collection::vec(event(), 0..40), 0..4usize).prop_map(|(mut events, disorder)| {
        if disorder > 0 {
            events.sort_by_key(|e| e.t / (SECOND * 5 * disorder as i64));
        }
        events
    });
    proptest::collection::vec(file, 1..4)
}

fn kind() -> impl Strategy<Value = Kind> {
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

fn span(micros: i64) -> String {
    format!("{}s", micros / SECOND)
}

/// The job as it would be typed. Everything is written with an equals sign, since offsets may be negative.
fn args(job: &Job) -> Vec<String> {
    let mut all = vec!["window".to_owned(), "--time=t".into(), "--time-format=unix-us".into()];
    let mut offset_of = 0;
    all.push(match job.kind {
        Kind::Tumbling { size, offset } => {
            offset_of = offset;
            format!("--tumbling={}", span(size))
        }
        Kind::Sliding { size, slide, offset } => {
            offset_of = offset;
            format!("--sliding={}/{}", span(size), span(slide))
        }
        Kind::Cumulate { size, step, offset } => {
            offset_of = offset;
            format!("--cumulate={}/{}", span(size), span(step))
        }
        Kind::Session { gap } => format!("--session={}", span(gap)),
    });
    if offset_of != 0 {
        all.push(format!("--offset={}", span(offset_of)));
    }
    if job.keyed {
        all.push("--by=k".into());
    }
    all.extend(job.delay.map(|d| format!("--delay={}", span(d))));
    all.extend((job.outliers > 0).then(|| format!("--outliers={}", job.outliers)));
    all.extend(job.idle_after.map(|d| format!("--idle-after={}", span(d))));
    all.extend(job.max_skew.map(|d| format!("--max-skew={}", span(d))));
    all.extend(job.max_policy.then(|| "--watermark-policy=max".to_owned()));
    all.extend(job.by_device.then(|| "--watermark-by=d".to_owned()));
    all.extend(job.concat.then(|| "--concat".to_owned()));
    all.extend(job.since.map(|t| format!("--since={}", instant(t))));
    all.extend(job.until.map(|t| format!("--until={}", instant(t))));
    all.push(
        "--agg=count(*) AS n, count(v) AS c, count(DISTINCT v) AS d, sum(v) AS s, avg(v) AS a, min(v) AS lo, \
         max(v) AS hi, first(v) AS f, last(v) AS l"
            .into(),
    );
    all
}

fn json_line(e: &Event) -> String {
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

#[derive(Clone, Copy, Debug, PartialEq)]
enum Format {
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

fn write_files(folder: &Path, format: Format, files: &[Vec<Event>]) -> Vec<PathBuf> {
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
struct Written {
    results: String,
    late: String,
    ledger: [u64; 5],
    watermark: Value,
}

struct How {
    format: Format,
    threads: usize,
    chunk: Option<usize>,
}

fn run(job: &Job, files: &[Vec<Event>], how: &How) -> Written {
    let folder = tempfile::tempdir().unwrap();
    let paths = write_files(folder.path(), how.format, files);
    let out = |name: &str| folder.path().join(name).display().to_string();
    let mut all = args(job);
    all.push(format!("--threads={}", how.threads));
    all.push(format!("--output={}", out("out.jsonl")));
    all.push(format!("--summary={}", out("summary.json")));
    if job.delay.is_some() {
        all.push(format!("--late={}", out("late")));
    }
    all.push("--schema=v bigint, k text, d bigint".into());
    all.extend(paths.iter().map(|p| p.display().to_string()));
    helpers::run(&all, how.chunk).unwrap_or_else(|e| panic!("windrow {}: {e}", all.join(" ")));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    let summary: Value = serde_json::from_str(&read("summary.json")).unwrap();
    let count = |name: &str| summary["total"][name].as_u64().unwrap_or_else(|| panic!("{name} in {summary}"));
    Written {
        results: read("out.jsonl"),
        late: read("late"),
        ledger: ["read", "used", "late", "outside", "partially_late"].map(count),
        watermark: summary["watermark"].clone(),
    }
}

/// The model's answer in the program's words.
fn expected(job: &Job, files: &[Vec<Event>], answer: &Answer) -> Written {
    let mut results = String::new();
    for ((end, start, key), rows) in &answer.windows {
        let key = if job.keyed { format!(",\"k\":{}", Value::from(key.as_deref())) } else { String::new() };
        let bounds = format!("\"window_start\":\"{}\",\"window_end\":\"{}\"", instant(*start), instant(*end));
        writeln!(results, "{{{bounds}{key},{}}}", aggregates(rows)).unwrap();
    }
    let late: String = answer.late.iter().map(|&(file, row)| json_line(&files[file][row]) + "\n").collect();
    let read = files.iter().map(Vec::len).sum::<usize>() as u64;
    let ledger = [read, answer.used, answer.late.len() as u64, answer.outside, answer.partially_late];
    let watermark = match answer.watermark {
        i64::MIN => Value::Null,
        micros => instant(micros).into(),
    };
    Written { results, late, ledger, watermark }
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

const PLAIN: How = How { format: Format::Jsonl, threads: 1, chunk: None };

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(400), ..ProptestConfig::default() })]

    #[test]
    fn every_job_gives_what_the_model_gives(job in job(), files in files()) {
        let want = expected(&job, &files, &model::answer(&job, &files));
        let got = run(&job, &files, &PLAIN);
        prop_assert_eq!(&got.results, &want.results);
        prop_assert_eq!(got, want);
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

/// How many random jobs; `WINDROW_CASES` asks for more.
fn cases(default: u32) -> u32 {
    std::env::var("WINDROW_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}
