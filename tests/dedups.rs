//! Random small deduplications against the slow model, and that chunks, threads and formats change nothing.

use crate::dedup_model::{self, Answer, Dedup, KeyOf};
use crate::folder::{Folder, parquet};
use crate::joins::{self, Manner, PLAIN, json_line};
use crate::model::{Event, Job, Kind, Place};
use crate::oracle::{self, Format, cases};
use crate::rows_model::{CONDITIONS, Cell};
use arrow::array::{ArrayRef, Int64Array, StringArray, StructArray};
use arrow::datatypes::{DataType, Field};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;
use std::sync::Arc;

const SECOND: i64 = 1_000_000;

/// Keys of every shape.
const KEYS: &[KeyOf] = &[
    ("k", |e| vec![Cell::text(e.key.as_deref())]),
    ("d", |e| vec![Cell::Int(e.device.into())]),
    ("k, v", |e| vec![Cell::text(e.key.as_deref()), e.v.map_or(Cell::Null, Cell::Int)]),
    ("upper(k)", |e| vec![Cell::text(e.key.as_ref().map(|k| k.to_uppercase()).as_deref())]),
    ("v % 2", |e| vec![e.v.map_or(Cell::Null, |v| Cell::Int(v % 2))]),
];

fn clock(delay: Option<i64>, idle_after: Option<i64>) -> Job {
    Job {
        kind: Kind::Session { gap: 0 },
        keyed: false,
        delay,
        outliers: 0,
        idle_after: idle_after.filter(|_| delay.is_some()),
        max_skew: None,
        max_policy: false,
        by_device: false,
        concat: false,
        since: None,
        until: None,
    }
}

fn job() -> impl Strategy<Value = Dedup> {
    let span = |weight| proptest::option::weighted(weight, (0..12i64).prop_map(|s| s * SECOND));
    let keep = proptest::option::weighted(0.2, select(CONDITIONS.to_vec()));
    (span(0.8), span(0.2), 0..KEYS.len(), span(0.75), keep).prop_map(|(delay, idle, by, within, keep)| Dedup {
        clock: clock(delay, idle),
        by: Some(KEYS[by]),
        within,
        keep,
    })
}

fn args(job: &Dedup) -> Vec<String> {
    let mut all: Vec<String> =
        ["dedup", "--time=t", "--time-format=unix-us", "--schema=n bigint, d bigint, k text, v bigint"]
            .map(String::from)
            .to_vec();
    all.extend(job.by.map(|by| format!("--by={}", by.0)));
    all.extend(job.within.map(|within| format!("--within={}ms", within / 1_000)));
    all.extend(job.clock.delay.map(|d| format!("--delay={}ms", d / 1_000)));
    all.extend(job.clock.idle_after.map(|d| format!("--idle-after={}ms", d / 1_000)));
    all.extend(job.keep.map(|keep| format!("--where={}", keep.0)));
    all
}

/// The numbers of records that passed, duplicates and late records as they stand, and the account of each file.
#[derive(Clone, Debug, PartialEq)]
struct Told {
    passed: Vec<i64>,
    duplicates: String,
    late: String,
    ledgers: Vec<[u64; 5]>,
}

fn run(job: &Dedup, files: &[Vec<Event>], manner: &Manner) -> Told {
    let folder = tempfile::tempdir().unwrap();
    let mut all = args(job);
    let paths = joins::write_files(folder.path(), manner.format, files);
    all.extend(paths.iter().map(|path| path.display().to_string()));
    let mut flags = vec!["output", "duplicates"];
    flags.extend(job.clock.delay.map(|_| "late"));
    let (written, summary) = joins::run_in(folder.path(), &all, &flags, manner);
    let number = |line: &str| serde_json::from_str::<Value>(line).unwrap()["n"].as_i64().unwrap();
    let names = ["read", "used", "filtered", "late"];
    let duplicates = joins::ledgers(&summary, ["duplicate"; 4]);
    let ledgers = joins::ledgers(&summary, names).into_iter().zip(duplicates);
    Told {
        passed: written[0].lines().map(number).collect(),
        duplicates: written[1].clone(),
        late: written.get(2).cloned().unwrap_or_default(),
        ledgers: ledgers.map(|([read, used, filtered, late], d)| [read, used, filtered, late, d[0]]).collect(),
    }
}

fn expected(files: &[Vec<Event>], answer: &Answer) -> Told {
    let lines = |places: &[Place]| places.iter().map(|p| json_line(*p, &files[p.0][p.1]) + "\n").collect();
    Told {
        passed: answer.passed.iter().map(|(file, row)| (file * 1_000 + row) as i64).collect(),
        duplicates: lines(&answer.duplicate),
        late: lines(&answer.late),
        ledgers: (0..files.len()).map(|file| answer.ledger(file)).collect(),
    }
}

/// Records of one input and format are written in that format: only their number is compared.
fn told_by_numbers(told: &Told) -> (Vec<i64>, Vec<[u64; 5]>) {
    (told.passed.clone(), told.ledgers.clone())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(120), ..ProptestConfig::default() })]

    #[test]
    fn every_dedup_gives_what_the_model_gives(job in job(), files in joins::several(40)) {
        prop_assert_eq!(run(&job, &files, &PLAIN), expected(&files, &dedup_model::answer(&job, &files)));
    }

    #[test]
    fn chunks_threads_and_format_change_no_dedup(
        job in job(), files in joins::several(40), chunk in 1..400usize, threads in 1..4usize
    ) {
        let want = run(&job, &files, &PLAIN);
        prop_assert_eq!(&run(&job, &files, &Manner { format: Format::Jsonl, threads, chunk: Some(chunk) }), &want);
        for format in [Format::Csv, Format::Parquet] {
            let chunk = (format != Format::Parquet).then_some(chunk);
            let got = run(&job, &files, &Manner { format, threads, chunk });
            prop_assert_eq!(told_by_numbers(&got), told_by_numbers(&want));
        }
    }

    /// Without `--by` the whole record is the key; each file holds every record twice.
    #[test]
    fn whole_records_are_known_by_their_bytes(job in job(), files in joins::several(15)) {
        let job = Dedup { by: None, ..job };
        let files: Vec<Vec<Event>> = files.into_iter().map(|file| [file.clone(), file].concat()).collect();
        let answer = dedup_model::answer(&job, &files);
        let folder = tempfile::tempdir().unwrap();
        let mut all = args(&job);
        let paths = oracle::write_files(folder.path(), Format::Jsonl, &files);
        all.extend(paths.iter().map(|path| path.display().to_string()));
        let (written, summary) = joins::run_in(folder.path(), &all, &["output", "duplicates"], &PLAIN);
        prop_assert_eq!(&written[1], &oracle::lines_of(&files, &answer.duplicate));
        prop_assert_eq!(written[0].lines().count(), answer.passed.len());
        let used = joins::ledgers(&summary, ["used", "duplicate", "late", "filtered"]);
        let want = (0..files.len()).map(|file| answer.ledger(file)).map(|l| [l[1], l[4], l[3], l[2]]);
        prop_assert_eq!(used, want.collect::<Vec<_>>());
    }
}

/// The model and the program against what was worked out by hand: at which places records passed, were duplicates,
/// were late.
#[track_caller]
fn is(delay: Option<i64>, within: Option<i64>, seconds: &[i64], want: [&[usize]; 3]) {
    let delay = delay.map(|s| s * SECOND);
    let job = Dedup { clock: clock(delay, None), by: Some(KEYS[0]), within: within.map(|s| s * SECOND), keep: None };
    let files = [joins::at(seconds)];
    let answer = dedup_model::answer(&job, &files);
    let rows = |places: &[Place]| places.iter().map(|place| place.1).collect::<Vec<_>>();
    let got = [rows(&answer.passed), rows(&answer.duplicate), rows(&answer.late)];
    assert_eq!(got, want.map(<[usize]>::to_vec), "the model");
    assert_eq!(run(&job, &files, &PLAIN), expected(&files, &answer));
}

/// Duplicates of what passed, on either side; what was a duplicate is nothing to be compared with.
#[test]
fn a_record_near_one_that_passed_is_a_duplicate() {
    is(None, Some(5), &[10, 15, 20, 5, 4, 16], [&[0, 2, 4], &[1, 3, 5], &[]]);
}

#[test]
fn a_redelivery_is_a_duplicate_before_it_is_late() {
    // At 20 the watermark is 18: 17 is remembered until it is over 22.
    is(Some(2), Some(5), &[17, 20, 17, 11], [&[0], &[1, 2], &[3]]);
    is(Some(2), Some(2), &[17, 20, 17], [&[0, 1], &[2], &[]]);
    // Over 17 + 2: forgotten, and late.
    is(Some(2), Some(2), &[17, 22, 17], [&[0, 1], &[], &[2]]);
    // Exactly at 17 + 2: remembered.
    is(Some(2), Some(2), &[17, 21, 17], [&[0, 1], &[2], &[]]);
}

#[test]
fn without_a_horizon_a_key_is_remembered_for_the_run() {
    is(Some(0), None, &[1, 1_000_000, 1], [&[0], &[1, 2], &[]]);
}

#[test]
fn records_without_a_key_pass() {
    let mut events = joins::at(&[1, 1, 2]);
    events.iter_mut().for_each(|event| event.key = None);
    let job = Dedup { clock: clock(None, None), by: Some(KEYS[0]), within: None, keep: None };
    let files = [events];
    let answer = dedup_model::answer(&job, &files);
    assert_eq!(answer.passed.len(), 3);
    assert_eq!(run(&job, &files, &PLAIN), expected(&files, &answer));
}

#[test]
fn nested_values_stay_nested_in_another_format() {
    let id: ArrayRef = Arc::new(Int64Array::from(vec![1, 1]));
    let name: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
    let user: ArrayRef = Arc::new(StructArray::from(vec![(Arc::new(Field::new("name", DataType::Utf8, true)), name)]));
    let folder = Folder::new();
    folder.put("in.parquet", parquet(&[("id", id), ("user", user)], 10));
    assert_eq!(folder.sh("windrow dedup in.parquet --by id").ok(), "{\"id\":1,\"user\":{\"name\":\"a\"}}\n");
    folder.put("in.jsonl", "{\"id\":1,\"user\":{\"name\":\"a\"}}\n");
    assert_eq!(folder.sh("windrow dedup in.jsonl -O csv").ok(), "id,user\n1,\"{\"\"name\"\":\"\"a\"\"}\"\n");
}
