//! Random small jobs whose results update against the slow model, and that chunks and threads change nothing in them.

use crate::helpers;
use crate::model::{Event, Job, Kind};
use crate::oracle::{self, How, PLAIN};
use crate::rows_model::{self, Cell, HAVINGS, Query, Want};
use crate::updates_model::{self, Answer, Mode, Pane, Shape, Trigger, Updating, Written};
use proptest::prelude::*;
use serde_json::Value;
use std::fmt::Write as _;

const SECOND: i64 = 1_000_000;

/// Columns and what is expected of each.
type Columns = Vec<(String, Want)>;

/// Partitions that neither idle nor skew: those are tried by `oracle.rs`.
fn clock() -> impl Strategy<Value = Job> {
    let delay = proptest::option::weighted(0.85, (0..15i64).prop_map(|s| s * SECOND));
    let rest =
        (prop_oneof![4 => Just(0), 1 => 1..3usize], proptest::bool::weighted(0.2), proptest::bool::weighted(0.2));
    (oracle::kind(), delay, rest).prop_map(|(kind, delay, (outliers, max, concat))| Job {
        kind,
        keyed: false,
        delay,
        outliers: if delay.is_some() { outliers } else { 0 },
        idle_after: None,
        max_skew: None,
        max_policy: max && delay.is_some() && !concat,
        by_device: false,
        concat,
        since: None,
        until: None,
    })
}

fn trigger() -> impl Strategy<Value = Trigger> {
    prop_oneof![
        2 => Just(Trigger::None),
        3 => (1..6u64).prop_map(Trigger::Count),
        2 => (1..20i64).prop_map(|s| Trigger::EventTime(s * SECOND)),
        2 => (0..HAVINGS.len()).prop_map(Trigger::When),
    ]
}

fn shape() -> impl Strategy<Value = Shape> {
    prop_oneof![
        6 => Just(Shape::Timed),
        1 => any::<bool>().prop_map(|purge| Shape::Global { purge }),
        1 => (1..5usize).prop_map(Shape::Count),
    ]
}

fn job() -> impl Strategy<Value = Updating> {
    let mode = prop_oneof![1 => Just(Mode::Append), 4 => Just(Mode::Update), 2 => Just(Mode::Complete)];
    let spans =
        ((0..20i64).prop_map(|s| s * SECOND), proptest::option::weighted(0.3, (0..20i64).prop_map(|s| s * SECOND)));
    (clock(), shape(), mode, trigger(), spans, rows_model::query()).prop_map(
        |(clock, shape, mode, trigger, (lateness, keep), query)| {
            possible(Updating { clock, shape, mode, trigger, lateness, keep, query })
        },
    )
}

/// Takes away what cannot be together, and rankings of which SPEC does not say what they are over: those of rows that
/// are not written at one time.
fn possible(mut job: Updating) -> Updating {
    let live = job.clock.delay.is_some();
    let timed = matches!(job.shape, Shape::Timed);
    // Two windows of a key may have the same bounds, so that there is no telling which row takes the place of which.
    if matches!(job.shape, Shape::Count(_)) && job.mode == Mode::Update {
        job.mode = Mode::Append;
    }
    let session = timed && matches!(job.clock.kind, Kind::Session { .. });
    if !live && matches!(job.trigger, Trigger::EventTime(_)) {
        job.trigger = Trigger::Count(2);
    }
    if let Shape::Global { purge } = &mut job.shape {
        *purge = (*purge || job.mode == Mode::Append) && job.mode != Mode::Complete;
        if job.trigger == Trigger::None {
            job.trigger = Trigger::Count(3);
        }
    }
    if job.mode == Mode::Append && !matches!(job.shape, Shape::Global { .. }) {
        job.trigger = Trigger::None;
    }
    if !(live && timed && job.mode == Mode::Update) {
        job.lateness = 0;
    }
    job.keep = job.keep.filter(|_| live && timed && job.mode == Mode::Complete);
    let by_key = matches!(job.shape, Shape::Global { .. }) && matches!(job.trigger, Trigger::Count(_));
    let purged = matches!(job.shape, Shape::Global { purge: true }) && job.mode == Mode::Update;
    let apart = purged || matches!(job.shape, Shape::Count(_)) || by_key || matches!(job.trigger, Trigger::When(_));
    if apart || (session && job.mode == Mode::Update) {
        (job.query.order, job.query.top, job.query.top_by) = (None, None, false);
    }
    job
}

fn args(job: &Updating) -> Vec<String> {
    let mut all = oracle::clock_args(&job.clock);
    match &job.shape {
        Shape::Timed => all.extend(oracle::kind_args(&job.clock.kind)),
        Shape::Global { purge } => {
            all.push("--global".into());
            all.extend(purge.then(|| "--purge".to_owned()));
        }
        Shape::Count(n) => all.push(format!("--count={n}")),
    }
    all.push(format!("--mode={}", format!("{:?}", job.mode).to_lowercase()));
    all.extend(match job.trigger {
        Trigger::None => None,
        Trigger::Count(n) => Some(format!("--trigger=count:{n}")),
        Trigger::EventTime(d) => Some(format!("--trigger=event-time:{}", oracle::span(d))),
        Trigger::When(at) => Some(format!("--trigger=when:{}", HAVINGS[at].0)),
    });
    all.extend((job.lateness > 0).then(|| format!("--allowed-lateness={}", oracle::span(job.lateness))));
    all.extend(job.keep.map(|keep| format!("--keep={}", oracle::span(keep))));
    all.extend(job.query.args());
    all
}

fn columns(job: &Updating, written: &Written) -> Columns {
    let mut all = written.row.columns(&job.query);
    if job.mode != Mode::Update {
        return all;
    }
    if written.delete {
        let named = 2 + job.query.keys.len();
        all.iter_mut().skip(named).for_each(|(_, want)| *want = Want::Is(Cell::Null));
    }
    let pane = match written.pane {
        Pane::Early => "early",
        Pane::OnTime => "on_time",
        Pane::Late => "late",
    };
    let text = |name: &str, text: &str| (name.to_owned(), Want::Is(Cell::Text(text.to_owned())));
    all.push(text("op", if written.delete { "delete" } else { "upsert" }));
    all.push(text("pane", pane));
    all.push(("revision".to_owned(), Want::Is(Cell::Int(written.revision as i64))));
    all
}

/// The rows that are written, firing by firing. A file holds the last table of a job that writes tables.
fn written(job: &Updating, answer: Answer, all_tables: bool) -> Vec<(usize, Written)> {
    let last = answer.firings.len().saturating_sub(1);
    let firings = answer.firings.into_iter().enumerate();
    let kept = firings.filter(|(i, _)| job.mode != Mode::Complete || all_tables || *i == last);
    kept.flat_map(|(i, rows)| rows.into_iter().map(move |row| (i, row))).collect()
}

/// Which of a window's ranked rows is deleted first is not said, nor how several rankings of a window lie between each
/// other, nor which of a key's count windows with the same bounds stands first in a table: lines that stand where such rows are expected are brought into their order.
fn settled(job: &Updating, want: &[(usize, Written)], got: &str) -> String {
    let mut lines: Vec<&str> = got.lines().collect();
    let mut start = 0;
    for run in want.chunk_by(|(i, a), (j, b)| i == j && a.delete == b.delete && a.row.bounds == b.row.bounds) {
        let end = start + run.len();
        let counted = matches!(job.shape, Shape::Count(_)) && job.mode == Mode::Complete;
        let open = counted || job.query.top_by || (run[0].1.delete && job.query.order.is_some());
        if let Some(lines) = lines.get_mut(start..end).filter(|_| open) {
            for (at, (_, written)) in run.iter().enumerate() {
                let want = columns(job, written);
                let equal = |line: &&str| rows_model::differs(&want, &serde_json::from_str(line).unwrap()).is_none();
                if let Some(found) = lines[at..].iter().position(equal) {
                    lines.swap(at, at + found);
                }
            }
        }
        start = end;
    }
    lines.iter().fold(String::new(), |mut all, line| {
        writeln!(all, "{line}").unwrap();
        all
    })
}

fn compare(job: &Updating, want: &[(usize, Written)], got: &str) -> Result<(), TestCaseError> {
    let columns: Vec<Columns> = want.iter().map(|(_, written)| columns(job, written)).collect();
    oracle::compare(&columns, &settled(job, want, got))
}

fn run(job: &Updating, files: &[Vec<Event>], how: &How) -> oracle::Written {
    let late = matches!(job.shape, Shape::Timed) && (job.mode != Mode::Complete || job.keep.is_some());
    oracle::run_args(args(job), late && job.clock.delay.is_some(), files, how)
}

/// What a process writes to a pipe: of a job that writes tables, all of them.
fn piped(job: &Updating, files: &[Vec<Event>]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let paths = oracle::write_files(folder.path(), oracle::Format::Jsonl, files);
    let args = args(job);
    let output = helpers::windrow().args(&args).args(paths).arg("--quiet").output().unwrap();
    helpers::Ran::of(format!("windrow {}", args.join(" ")), folder.path(), output).ok()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: oracle::cases(400), ..ProptestConfig::default() })]

    #[test]
    fn every_updating_job_gives_what_the_model_gives(job in job(), files in oracle::files()) {
        let answer = updates_model::answer(&job, &files);
        let got = run(&job, &files, &PLAIN);
        let late = oracle::lines_of(&files, &answer.late);
        let (used, filtered) = (answer.used, answer.filtered);
        compare(&job, &written(&job, answer, false), &got.results)?;
        prop_assert_eq!(late, got.late);
        prop_assert_eq!((used, filtered), (got.ledger[1], got.ledger[2]));
    }

    #[test]
    fn chunks_and_threads_change_no_update(job in job(), files in oracle::files(), chunk in 1..400usize, threads in 1..4usize) {
        let want = run(&job, &files, &PLAIN);
        let got = run(&job, &files, &How { format: oracle::Format::Jsonl, threads, chunk: Some(chunk) });
        prop_assert_eq!(&got, &want);
        let parquet = run(&job, &files, &How { format: oracle::Format::Parquet, threads, chunk: None });
        prop_assert_eq!(parquet.results, want.results);
        prop_assert_eq!(parquet.ledger, want.ledger);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: oracle::cases(400) / 10, ..ProptestConfig::default() })]

    #[test]
    fn a_pipe_gets_every_table(job in job(), files in oracle::files()) {
        let job = possible(Updating { mode: Mode::Complete, ..job });
        let answer = updates_model::answer(&job, &files);
        compare(&job, &written(&job, answer, true), &piped(&job, &files))?;
    }
}

/// A job over one file of events with a key, `n` and `s`.
fn small(shape: Shape, kind: Kind, trigger: Trigger, query: Query) -> Updating {
    let clock = Job {
        kind,
        keyed: false,
        delay: Some(0),
        outliers: 0,
        idle_after: None,
        max_skew: None,
        max_policy: false,
        by_device: false,
        concat: false,
        since: None,
        until: None,
    };
    Updating { clock, shape, mode: Mode::Update, trigger, lateness: 10 * SECOND, keep: None, query }
}

/// Events of key `a` at these seconds, each of value 1.
fn at(seconds: &[i64]) -> Vec<Event> {
    let event = |s: &i64| Event { t: s * SECOND, key: Some("a".to_owned()), v: Some(1), device: 0 };
    seconds.iter().map(event).collect()
}

/// `window_start..window_end n op pane revision` of each row.
fn told(results: &str) -> Vec<String> {
    let second = |value: &Value| value.as_str().map_or("-".to_owned(), |text| text[17..19].to_owned());
    let each = results.lines().map(|line| {
        let row: Value = serde_json::from_str(line).unwrap();
        let word = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let (start, end) = (second(&row["window_start"]), second(&row["window_end"]));
        format!("{start}..{end} n={} {} {} {}", row["n"], word("op"), word("pane"), row["revision"])
    });
    each.collect()
}

/// The model itself, and the program, against rows worked out by hand from SPEC section 5.
#[track_caller]
fn is(job: &Updating, events: Vec<Event>, want: &[&str]) {
    let files = [events];
    let answer = updates_model::answer(job, &files);
    let rows = written(job, answer, false);
    let model: String = rows.iter().map(|(_, w)| json(&columns(job, w)) + "\n").collect();
    assert_eq!(told(&model), want, "the model");
    assert_eq!(told(&run(job, &files, &PLAIN).results), want);
}

fn json(columns: &Columns) -> String {
    let value = |want: &Want| match want {
        Want::Is(cell) => cell.json(),
        other => panic!("{other:?} is no value"),
    };
    let row: serde_json::Map<String, Value> = columns.iter().map(|(name, want)| (name.clone(), value(want))).collect();
    Value::from(row).to_string()
}

const TEN: Kind = Kind::Tumbling { size: 10 * SECOND, offset: 0 };

#[test]
fn early_then_on_time_then_one_row_per_late_event() {
    let want = [
        "00..10 n=1 upsert early 0",
        "00..10 n=2 upsert early 1",
        "00..10 n=2 upsert on_time 2",
        "10..20 n=1 upsert early 0",
        "00..10 n=3 upsert late 3",
        "00..10 n=4 upsert late 4",
        // Final by the watermark of 20, and so gone from the one of 10 s before.
        "10..20 n=1 upsert on_time 1",
        "20..30 n=1 upsert early 0",
        "20..30 n=1 upsert on_time 1",
    ];
    is(&small(Shape::Timed, TEN, Trigger::None, Query::default()), at(&[1, 2, 12, 3, 4, 20, 5]), &want);
}

#[test]
fn a_late_event_may_be_the_first_of_its_window() {
    let want = ["20..30 n=1 upsert early 0", "10..20 n=1 upsert late 0", "20..30 n=1 upsert on_time 1"];
    is(&small(Shape::Timed, TEN, Trigger::None, Query::default()), at(&[25, 15]), &want);
}

#[test]
fn a_session_that_grew_deletes_what_it_was() {
    let kind = Kind::Session { gap: 5 * SECOND };
    let want = [
        "01..06 n=1 upsert early 0",
        "01..06 n=null delete early 1",
        "01..08 n=2 upsert early 0",
        "01..08 n=2 upsert on_time 1",
        "17..22 n=1 upsert early 0",
        // Late data that joins: the written one goes, and the new one is final.
        "01..08 n=null delete late 2",
        "01..12 n=3 upsert late 0",
        "17..22 n=1 upsert on_time 1",
    ];
    is(&small(Shape::Timed, kind, Trigger::None, Query::default()), at(&[1, 3, 17, 7]), &want);
}

#[test]
fn late_data_that_joins_a_final_session_to_an_open_one_is_set_right_at_once() {
    let kind = Kind::Session { gap: 5 * SECOND };
    let want = [
        "01..06 n=1 upsert on_time 0",
        "01..06 n=null delete early 1",
        "01..13 n=3 upsert early 0",
        "01..13 n=3 upsert on_time 1",
    ];
    is(&small(Shape::Timed, kind, Trigger::Count(100), Query::default()), at(&[1, 8, 4]), &want);
}

#[test]
fn what_no_longer_passes_is_deleted() {
    // n % 2 = 1 AND s <> 0
    let query = Query { having: Some(3), ..Query::default() };
    let want = [
        "00..10 n=1 upsert early 0",
        "00..10 n=null delete early 1",
        "00..10 n=3 upsert early 2",
        "00..10 n=3 upsert on_time 3",
    ];
    is(&small(Shape::Timed, TEN, Trigger::None, query), at(&[1, 2, 3]), &want);
}

#[test]
fn triggers_by_event_time_write_what_changed() {
    let want = [
        // The mark went from 1 to 4, over 3; then to 9 over 6 and 9, once.
        "00..10 n=2 upsert early 0",
        "00..10 n=4 upsert early 1",
        "00..10 n=4 upsert on_time 2",
    ];
    let job = small(Shape::Timed, TEN, Trigger::EventTime(3 * SECOND), Query::default());
    is(&job, at(&[1, 4, 5, 9]), &want);
}

#[test]
fn count_windows_are_full_or_left_over() {
    let job = small(Shape::Count(2), TEN, Trigger::None, Query::default());
    let job = Updating { lateness: 0, mode: Mode::Append, ..job };
    let want = ["03..08 n=2   null", "01..04 n=2   null", "09..09 n=1   null"];
    is(&job, at(&[8, 3, 4, 1, 9]), &want);
}

#[test]
fn a_global_window_is_written_per_key_and_at_the_end() {
    let job = small(Shape::Global { purge: false }, TEN, Trigger::Count(2), Query::default());
    let job = Updating { lateness: 0, ..job };
    let want = ["-..- n=2 upsert early 0", "-..- n=4 upsert early 1", "-..- n=5 upsert on_time 2"];
    is(&job, at(&[1, 2, 3, 4, 5]), &want);
}

/// op, pane and revision stand last.
#[test]
fn the_columns_of_updates_stand_last() {
    let job = small(Shape::Timed, TEN, Trigger::None, Query::default());
    let line = run(&job, &[at(&[1])], &PLAIN).results;
    let first = line.lines().next().unwrap_or_default();
    assert!(first.ends_with("\"op\":\"upsert\",\"pane\":\"early\",\"revision\":0}"), "{first}");
}
