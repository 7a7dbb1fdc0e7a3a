//! Random small lookups against the slow model, and that chunks, threads and formats change nothing.

use crate::join_model::ONS;
use crate::joins::{self, Manner, PLAIN};
use crate::lookup_model::{self, Direction, Lookup, Several, Way};
use crate::model::Event;
use crate::oracle::{Format, cases};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

const SECOND: i64 = 1_000_000;

fn job() -> impl Strategy<Value = Lookup<'static>> {
    let several = select(vec![None, Some(Several::First), Some(Several::All)]);
    let direction = select(vec![Direction::Backward, Direction::Forward, Direction::Nearest]);
    let tolerance = proptest::option::weighted(0.5, (0..12i64).prop_map(|s| s * SECOND / 2));
    let as_of = (direction, tolerance, proptest::bool::weighted(0.4)).prop_map(|(direction, tolerance, deletes)| {
        Way::AsOf { direction, tolerance, deletes: deletes && direction == Direction::Backward }
    });
    let way = prop_oneof![1 => several.prop_map(Way::Static), 2 => as_of];
    // Those without a residual condition.
    let how = select(vec!["left", "left", "inner", "anti"]);
    let positive = proptest::bool::weighted(0.3);
    (0..4usize, way, how, positive).prop_map(|(on, way, how, positive)| Lookup { on: &ONS[on], way, how, positive })
}

/// The table of a job that takes no duplicates has none.
fn asked() -> impl Strategy<Value = (Lookup<'static>, Vec<Vec<Event>>, Vec<Event>)> {
    (job(), joins::several(25), joins::several(25)).prop_map(|(job, events, mut tables)| {
        let mut table = tables.remove(0);
        if job.way == Way::Static(None) {
            let mut unique: Vec<Event> = Vec::new();
            for row in table {
                unique.push(row);
                if lookup_model::has_duplicates(job.on, &unique) {
                    unique.pop();
                }
            }
            table = unique;
        }
        (job, events, table)
    })
}

fn args(job: &Lookup<'_>) -> Vec<String> {
    let mut all: Vec<String> = ["lookup", "--time=t", "--time-format=unix-us"].map(String::from).to_vec();
    all.extend(["schema", "table-schema"].map(|flag| format!("--{flag}=n bigint, d bigint, k text, v bigint")));
    all.push(format!("--on={}", job.on.text));
    all.push(format!("--how={}", job.how));
    all.push(if job.how == "anti" { "--select=l.n AS ln" } else { "--select=l.n AS ln, r.n AS rn" }.into());
    all.extend(job.positive.then(|| "--table-where=v > 0".to_owned()));
    match job.way {
        Way::Static(several) => all.extend(several.map(|s| format!("--{s:?}").to_lowercase())),
        Way::AsOf { direction, tolerance, deletes } => {
            all.push("--as-of=t".into());
            all.push(format!("--direction={direction:?}").to_lowercase());
            all.extend(tolerance.map(|t| format!("--tolerance={}ms", t / 1_000)));
            all.extend(deletes.then(|| "--delete-when=v = 0".to_owned()));
        }
    }
    all
}

/// The number of an event and of the row it got, and the account of the files of events.
type Told = (Vec<(i64, Option<i64>)>, Vec<[u64; 4]>);

fn run(job: &Lookup<'_>, events: &[Vec<Event>], table: &[Event], manner: &Manner) -> Told {
    let folder = tempfile::tempdir().unwrap();
    let mut files = events.to_vec();
    files.push(table.to_vec());
    let mut paths = joins::write_files(folder.path(), manner.format, &files);
    let table = paths.pop().unwrap();
    let mut all = args(job);
    all.push(format!("--table={}", table.display()));
    all.extend(paths.iter().map(|path| path.display().to_string()));
    let (written, summary) = joins::run_in(folder.path(), &all, &["output"], manner);
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        (row["ln"].as_i64().unwrap(), row["rn"].as_i64())
    };
    let mut ledgers = joins::ledgers(&summary, ["read", "used", "filtered", "late"]);
    ledgers.truncate(events.len());
    (written[0].lines().map(row).collect(), ledgers)
}

fn expected(job: &Lookup<'_>, events: &[Vec<Event>], table: &[Event]) -> Told {
    let number = |file: usize, row: usize| (file * 1_000 + row) as i64;
    let found = lookup_model::answer(job, events, table);
    let rows = found.iter().map(|((file, row), at)| (number(*file, *row), at.map(|at| number(events.len(), at))));
    (rows.collect(), events.iter().map(|file| [file.len() as u64, file.len() as u64, 0, 0]).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(120), ..ProptestConfig::default() })]

    #[test]
    fn every_lookup_gives_what_the_model_gives((job, events, table) in asked()) {
        prop_assert_eq!(run(&job, &events, &table, &PLAIN), expected(&job, &events, &table));
    }

    #[test]
    fn chunks_threads_and_format_change_no_lookup(
        (job, events, table) in asked(), chunk in 1..400usize, threads in 1..4usize
    ) {
        let want = expected(&job, &events, &table);
        for format in [Format::Jsonl, Format::Csv, Format::Parquet] {
            let chunk = (format != Format::Parquet).then_some(chunk);
            prop_assert_eq!(run(&job, &events, &table, &Manner { format, threads, chunk }), want.clone());
        }
    }
}

/// Rows of a table at these seconds with these values.
fn versions(rows: &[(i64, i64)]) -> Vec<Event> {
    rows.iter().map(|&(s, v)| Event { t: s * SECOND, key: Some("a".to_owned()), v: Some(v), device: 0 }).collect()
}

/// The model and the program against what was worked out by hand: the row of the table each event gets.
#[track_caller]
fn is(way: Way, seconds: &[i64], table: &[(i64, i64)], want: &[Option<usize>]) {
    let (events, table) = ([joins::at(seconds)], versions(table));
    let job = Lookup { on: &ONS[0], way, how: "left", positive: false };
    let got: Vec<_> = lookup_model::answer(&job, &events, &table).into_iter().map(|found| found.1).collect();
    assert_eq!(got, want, "the model");
    assert_eq!(run(&job, &events, &table, &PLAIN), expected(&job, &events, &table));
}

fn as_of(direction: Direction, tolerance: Option<i64>) -> Way {
    Way::AsOf { direction, tolerance: tolerance.map(|s| s * SECOND), deletes: false }
}

#[test]
fn the_newest_row_not_after_the_event_and_the_last_of_equal_ones() {
    let table = [(5, 1), (2, 1), (5, 1), (9, 1)];
    is(as_of(Direction::Backward, None), &[1, 2, 5, 6, 10], &table, &[None, Some(1), Some(2), Some(2), Some(3)]);
    is(as_of(Direction::Backward, Some(1)), &[1, 2, 4, 6, 7], &table, &[None, Some(1), None, Some(2), None]);
}

#[test]
fn the_oldest_row_not_before_the_event_and_the_first_of_equal_ones() {
    let table = [(5, 1), (2, 1), (5, 1), (9, 1)];
    is(as_of(Direction::Forward, None), &[1, 2, 5, 6, 10], &table, &[Some(1), Some(1), Some(0), Some(3), None]);
    is(as_of(Direction::Forward, Some(1)), &[1, 3, 4], &table, &[Some(1), None, Some(0)]);
}

#[test]
fn the_nearest_row_and_backward_of_equally_distant_ones() {
    let table = [(4, 1), (8, 1), (4, 1), (8, 1)];
    is(as_of(Direction::Nearest, None), &[1, 4, 5, 6, 7, 9], &table, &[0, 2, 2, 2, 1, 3].map(Some));
    is(as_of(Direction::Nearest, Some(1)), &[2, 3, 6, 9, 10], &table, &[None, Some(0), None, Some(3), None]);
}

/// From 5 on there is none, and a new one from 8 on. Of rows of one time the last one counts.
#[test]
fn a_deleted_version_is_no_version() {
    let way = Way::AsOf { direction: Direction::Backward, tolerance: None, deletes: true };
    let table = [(1, 1), (5, 1), (5, 0), (8, 0), (8, 1)];
    is(way, &[1, 4, 5, 7, 8], &table, &[Some(0), Some(0), None, None, Some(4)]);
}

#[test]
fn rows_of_a_key_without_times_are_all_or_the_first() {
    let table = [(9, 1), (1, 2)];
    is(Way::Static(Some(Several::First)), &[3], &table, &[Some(0)]);
    is(Way::Static(Some(Several::All)), &[3], &table, &[Some(0), Some(1)]);
}

#[test]
fn a_key_twice_in_a_table_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let paths = joins::write_files(folder.path(), Format::Jsonl, &[joins::at(&[1]), versions(&[(1, 1), (2, 2)])]);
    let mut all = args(&Lookup { on: &ONS[0], way: Way::Static(None), how: "left", positive: false });
    all.extend([format!("--table={}", paths[1].display()), paths[0].display().to_string()]);
    all.push(format!("--output={}", folder.path().join("out").display()));
    let error = crate::helpers::run(&all, None).unwrap_err().to_string();
    assert!(error.contains("in1.jsonl") && error.contains("--first") && error.contains("--all"), "{error}");
}
