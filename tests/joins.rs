//! Random small joins against the slow model: rows in their order, late records, the account; and that chunks, threads
//! and formats change nothing, nor how the two sides interleave.

use crate::helpers;
use crate::join_model::{
    self, Answer, Bounds, Condition, Files, HOWS, How, Join, Marks, Next, ONS, On, Side, answer, answer_in, merged,
};
use crate::model::{Event, Place};
use crate::oracle::{Format, cases};
use crate::rows_model::CONDITIONS;
use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SECOND: i64 = 1_000_000;

/// Times on a grid that makes ties and boundaries common.
fn event() -> impl Strategy<Value = Event> {
    let time = prop_oneof![8 => (-20..30i64).prop_map(|s| s * SECOND), 1 => (-40..60i64).prop_map(|s| s * SECOND / 2),
        1 => -45_000_000..45_000_000i64];
    let key = proptest::option::weighted(0.85, select(vec!["a", "A", "B", ""]));
    let v = proptest::option::weighted(0.85, -2..4i64);
    (time, key, v, 0..3u8).prop_map(|(t, key, v, device)| Event { t, key: key.map(str::to_owned), v, device })
}

/// Files whose events mostly rise, so that not everything is late.
pub fn several(rows: usize) -> impl Strategy<Value = Vec<Vec<Event>>> {
    let file = (proptest::collection::vec(event(), 0..rows), 0..4usize).prop_map(|(mut events, disorder)| {
        if disorder > 0 {
            events.sort_by_key(|e| e.t / (SECOND * 4 * disorder as i64));
        }
        events
    });
    proptest::collection::vec(file, 1..3)
}

fn files() -> impl Strategy<Value = Files> {
    (several(25), several(25)).prop_map(|(left, right)| Files::new(left, right))
}

fn bounds() -> impl Strategy<Value = Bounds> {
    let within =
        (-12..12i64, 0..12i64, any::<bool>(), any::<bool>(), prop_oneof![4 => Just(SECOND), 1 => Just(SECOND / 2)]);
    prop_oneof![
        4 => within.prop_map(|(lo, width, open_lo, open_hi, unit)| {
            let width = if open_lo && open_hi { width.max(1) } else { width };
            let (open_lo, open_hi) = if width == 0 { (false, false) } else { (open_lo, open_hi) };
            Bounds::Within { lo: lo * unit, hi: (lo + width) * unit, open_lo, open_hi }
        }),
        1 => (1..12i64).prop_map(|s| Bounds::Window(s * SECOND)),
    ]
}

/// Delays of both sides: none, the same, or each its own. Where the watermarks are put together, both have one or none.
fn delays(marks: Marks) -> impl Strategy<Value = [Option<i64>; 2]> {
    let one = || proptest::option::weighted(0.85, (0..12i64).prop_map(|s| s * SECOND));
    (one(), one()).prop_map(move |(left, right)| match marks {
        Marks::Own => [left, right],
        _ => [left.and(right).and(left), left.and(right)],
    })
}

fn condition() -> impl Strategy<Value = Option<Condition>> {
    proptest::option::weighted(0.2, select(CONDITIONS.to_vec()))
}

fn job_of(marks: impl Strategy<Value = Marks>) -> impl Strategy<Value = Join<'static>> {
    let idle = proptest::option::weighted(0.2, (0..15i64).prop_map(|s| s * SECOND));
    let clock = marks.prop_flat_map(|marks| (Just(marks), delays(marks)));
    (select(HOWS.to_vec()), 0..ONS.len(), bounds(), clock, idle, (condition(), condition())).prop_map(
        |(how, on, bounds, (marks, delays), idle_after, wheres)| Join {
            how,
            on: &ONS[on],
            bounds,
            delays,
            idle_after: idle_after.filter(|_| delays.iter().all(Option::is_some)),
            marks,
            wheres: [wheres.0, wheres.1],
        },
    )
}

fn job() -> impl Strategy<Value = Join<'static>> {
    job_of(prop_oneof![3 => Just(Marks::Own), 1 => Just(Marks::Min), 1 => Just(Marks::Max)])
}

fn span(micros: i64) -> String {
    format!("{}ms", micros / 1_000)
}

/// `--within` or `--window`, as typed.
fn bounds_arg(bounds: Bounds) -> String {
    match bounds {
        Bounds::Within { lo, hi, open_lo, open_hi } => {
            let (open, close) = (if open_lo { "(" } else { "[" }, if open_hi { ")" } else { "]" });
            let bare = !open_lo && !open_hi;
            let (open, close) = if bare { ("", "") } else { (open, close) };
            format!("--within={open}{}..{}{close}", span(lo), span(hi))
        }
        Bounds::Window(size) => format!("--window={}", span(size)),
    }
}

fn lower(name: &impl std::fmt::Debug) -> String {
    format!("{name:?}").to_lowercase()
}

/// The flags of times and types: those of both sides.
fn common() -> Vec<String> {
    ["--time=t", "--time-format=unix-us", "--schema=n bigint, d bigint, k text, v bigint"].map(String::from).to_vec()
}

/// The job as it would be typed.
fn args(job: &Join<'_>) -> Vec<String> {
    let mut all = vec!["join".to_owned()];
    all.extend(common());
    all.push(format!("--on={}", job.on.text));
    all.push(bounds_arg(job.bounds));
    all.push(format!("--how={}", lower(&job.how)));
    match job.delays {
        [Some(left), Some(right)] if left == right => all.push(format!("--delay={}", span(left))),
        [left, right] => {
            all.extend(left.map(|d| format!("--left-delay={}", span(d))));
            all.extend(right.map(|d| format!("--right-delay={}", span(d))));
        }
    }
    all.extend(job.idle_after.map(|d| format!("--idle-after={}", span(d))));
    all.extend((job.marks != Marks::Own).then(|| format!("--join-watermark={}", lower(&job.marks))));
    let [left, right] = job.wheres;
    all.extend(left.map(|w| format!("--left-where={}", w.0)));
    all.extend(right.map(|w| format!("--right-where={}", w.0)));
    all
}

/// The columns by which rows are known.
fn selected(how: How) -> String {
    let right = if how.pairs() { ", r.n AS rn" } else { "" };
    format!("--select=l.n AS ln{right}")
}

/// A number that no other record has.
fn number((file, row): Place) -> i64 {
    (file * 1_000 + row) as i64
}

/// A record as it stands in a file.
pub fn json_line(place: Place, e: &Event) -> String {
    let mut fields = vec![format!("\"n\":{},\"t\":{},\"d\":{}", number(place), e.t, e.device)];
    fields.extend(e.key.as_ref().map(|k| format!("\"k\":{}", Value::from(k.as_str()))));
    fields.extend(e.v.map(|v| format!("\"v\":{v}")));
    format!("{{{}}}", fields.join(","))
}

fn csv_line(place: Place, e: &Event) -> String {
    let key = e.key.as_ref().map_or(String::new(), |k| format!("\"{k}\""));
    format!("{},{},{},{key},{}", number(place), e.t, e.device, e.v.map_or(String::new(), |v| v.to_string()))
}

/// Row groups of a few rows, so that pieces end everywhere.
fn parquet(file: usize, events: &[Event]) -> Vec<u8> {
    let int = |name: &str, nullable| Field::new(name, DataType::Int64, nullable);
    let fields =
        vec![int("n", false), int("t", false), int("d", false), Field::new("k", DataType::Utf8, true), int("v", true)];
    let schema = Arc::new(Schema::new(fields));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values((0..events.len()).map(|row| number((file, row))))),
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
    let each = files.iter().enumerate().map(|(file, events)| {
        let lines = |header: &str, line: fn(Place, &Event) -> String| {
            let each = events.iter().enumerate().map(|(row, event)| line((file, row), event) + "\n");
            (header.to_owned() + &each.collect::<String>()).into_bytes()
        };
        let (name, bytes) = match format {
            Format::Jsonl => ("jsonl", lines("", json_line)),
            Format::Csv => ("csv", lines("n,t,d,k,v\n", csv_line)),
            Format::Parquet => ("parquet", parquet(file, events)),
        };
        let path = folder.join(format!("in{file}.{name}"));
        std::fs::write(&path, bytes).unwrap();
        path
    });
    each.collect()
}

/// What a run wrote: result lines, the late lines of each side, and the ledger of each file.
#[derive(Debug, PartialEq)]
struct Written {
    results: String,
    late: [String; 2],
    ledgers: Vec<[u64; 4]>,
}

/// What must not change a result.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    pub format: Format,
    pub threads: usize,
    pub chunk: Option<usize>,
}

/// One thread, and chunks as they come.
pub const PLAIN: Manner = Manner { format: Format::Jsonl, threads: 1, chunk: None };

/// Runs `windrow ARGS` in a folder, where `flags` are names of files to write; gives the content of each, and the summary.
pub fn run_in(folder: &Path, args: &[String], flags: &[&str], manner: &Manner) -> (Vec<String>, Value) {
    let at = |name: &str| folder.join(name).display().to_string();
    let mut all = args.to_vec();
    all.extend(flags.iter().map(|flag| format!("--{flag}={}", at(flag))));
    all.extend([format!("--threads={}", manner.threads), format!("--summary={}", at("summary.json"))]);
    all.push("--output-format=jsonl".into());
    helpers::run(&all, manner.chunk).unwrap_or_else(|e| panic!("windrow {}: {e}", all.join(" ")));
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
    let files = flags.iter().map(|flag| read(flag)).collect();
    (files, serde_json::from_str(&read("summary.json")).unwrap())
}

/// The account of each input: read, used, filtered, late; and that nothing is missing in it.
pub fn ledgers(summary: &Value, names: [&str; 4]) -> Vec<[u64; 4]> {
    let inputs = summary["inputs"].as_array().unwrap_or_else(|| panic!("inputs in {summary}"));
    let of = |input: &Value| {
        assert_eq!(input["ledger"]["balances"], true, "{summary}");
        names.map(|name| input["ledger"][name].as_u64().unwrap_or_else(|| panic!("{name} in {summary}")))
    };
    inputs.iter().map(of).collect()
}

fn run(job: &Join<'_>, more: &[String], files: &Files, manner: &Manner) -> Written {
    let folder = tempfile::tempdir().unwrap();
    let paths = write_files(folder.path(), manner.format, &files.all);
    let mut all = args(job);
    all.extend_from_slice(more);
    // Files by flags, or the two sides as they are named first in the manual.
    if files.all.len() == 2 {
        all.extend(paths.iter().map(|path| path.display().to_string()));
    } else {
        let flag = |file: usize| if files.side(file) == Side::Left { "left" } else { "right" };
        all.extend(paths.iter().enumerate().map(|(file, path)| format!("--{}={}", flag(file), path.display())));
    }
    let mut flags = vec!["output"];
    let late = [("late-left", job.delays[0]), ("late-right", job.delays[1])];
    flags.extend(late.iter().filter(|(_, delay)| delay.is_some()).map(|(flag, _)| *flag));
    let (written, summary) = run_in(folder.path(), &all, &flags, manner);
    let of = |flag: &str| flags.iter().position(|f| *f == flag).map_or(String::new(), |at| written[at].clone());
    Written {
        results: of("output"),
        late: [of("late-left"), of("late-right")],
        ledgers: ledgers(&summary, ["read", "used", "filtered", "late"]),
    }
}

/// The late records of each side as they stand in its file.
fn late_lines(files: &Files, late: &[Place]) -> [String; 2] {
    [Side::Left, Side::Right].map(|side| {
        let own = late.iter().filter(|place| files.side(place.0) == side);
        own.map(|place| json_line(*place, files.at(*place)) + "\n").collect()
    })
}

/// Rows by the numbers of their records.
type Numbers = Vec<(Option<i64>, Option<i64>)>;

fn numbers(rows: impl IntoIterator<Item = (Option<Place>, Option<Place>)>) -> Numbers {
    rows.into_iter().map(|(left, right)| (left.map(number), right.map(number))).collect()
}

fn told(results: &str) -> Numbers {
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        (row["ln"].as_i64(), row["rn"].as_i64())
    };
    results.lines().map(row).collect()
}

fn sorted(mut rows: Numbers) -> Numbers {
    rows.sort_unstable();
    rows
}

/// The same records of each side in another interleaving of the two.
fn interleaved(files: &Files, turns: &[bool]) -> Vec<Next> {
    let order = merged(&files.all);
    let (mut left, mut right): (Vec<Next>, Vec<Next>) =
        order.into_iter().rev().partition(|next| files.side(next.0) == Side::Left);
    let mut mixed = Vec::new();
    for turn in turns {
        mixed.extend(if *turn { left.pop() } else { right.pop() });
    }
    mixed.extend(left.into_iter().rev());
    mixed.extend(right.into_iter().rev());
    mixed
}

/// The model alone.
mod model_alone {
    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: cases(1_000), ..ProptestConfig::default() })]

        /// Whatever is late, the rest is what SQL makes of it, and each row comes once.
        #[test]
        fn rows_are_those_of_sql(job in job(), files in files()) {
            let answer = answer(&job, &files);
            prop_assert_eq!(answer.set(), join_model::sql(&job, &files, &answer.used));
        }

        /// Each side is judged by itself, so the other's pace changes neither what is late nor what comes out.
        #[test]
        fn any_interleaving_gives_the_same_rows(
            job in job_of(Just(Marks::Own)), files in files(), turns in proptest::collection::vec(any::<bool>(), 0..120)
        ) {
            let want = answer(&job, &files);
            let got = answer_in(&job, &files, &interleaved(&files, &turns));
            prop_assert_eq!(got.set(), want.set());
            prop_assert_eq!(sorted_places(&got.late), sorted_places(&want.late));
        }
    }

    fn sorted_places(places: &[Place]) -> Vec<Place> {
        let mut places = places.to_vec();
        places.sort_unstable();
        places
    }
}

fn expected(files: &Files, answer: &Answer) -> (Numbers, [String; 2], Vec<[u64; 4]>) {
    let rows = numbers(answer.rows.iter().map(|row| row.places()));
    (rows, late_lines(files, &answer.late), (0..files.all.len()).map(|file| answer.ledger(file)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(400), ..ProptestConfig::default() })]

    #[test]
    fn every_join_gives_what_the_model_gives(job in job(), files in files()) {
        let (rows, late, ledgers) = expected(&files, &answer(&job, &files));
        let got = run(&job, &[selected(job.how)], &files, &PLAIN);
        prop_assert_eq!(told(&got.results), rows);
        prop_assert_eq!(got.late, late);
        prop_assert_eq!(got.ledgers, ledgers);
    }

    #[test]
    fn chunks_threads_and_format_change_no_join(
        job in job(), files in files(), chunk in 1..400usize, threads in 1..4usize
    ) {
        let more = [selected(job.how)];
        let want = run(&job, &more, &files, &PLAIN);
        let got = run(&job, &more, &files, &Manner { format: Format::Jsonl, threads, chunk: Some(chunk) });
        prop_assert_eq!(&got, &want);
        for (format, chunk) in [(Format::Csv, Some(chunk)), (Format::Parquet, None)] {
            let got = run(&job, &more, &files, &Manner { format, threads, chunk });
            prop_assert_eq!(&got.results, &want.results);
            prop_assert_eq!(&got.ledgers, &want.ledgers);
        }
    }

    /// Without a delay nothing is late, so it does not matter which file of its side a record stands in.
    #[test]
    fn splitting_files_changes_no_row(job in job_of(Just(Marks::Own)), files in files(), to in proptest::collection::vec(any::<bool>(), 25)) {
        let job = Join { delays: [None, None], idle_after: None, ..job };
        let first = Files { all: vec![files.all[0].clone(), files.all[files.left].clone()], left: 1 };
        let half = |file: usize, part: bool| {
            let own = first.all[file].iter().enumerate().filter(|(row, _)| to[*row] == part);
            own.map(|(_, event)| event.clone()).collect::<Vec<_>>()
        };
        let split = Files::new(vec![half(0, true), half(0, false)], vec![half(1, true), half(1, false)]);
        let whole = run(&job, &[selected(job.how)], &first, &PLAIN);
        let parts = run(&job, &[selected(job.how)], &split, &PLAIN);
        let place = |n: Option<i64>| n.map(|n| split.at(((n / 1_000) as usize, (n % 1_000) as usize)).clone());
        let place_first = |n: Option<i64>| n.map(|n| first.at(((n / 1_000) as usize, (n % 1_000) as usize)).clone());
        let mut a: Vec<String> = told(&whole.results).iter().map(|row| format!("{:?}", (place_first(row.0), place_first(row.1)))).collect();
        let mut b: Vec<String> = told(&parts.results).iter().map(|row| format!("{:?}", (place(row.0), place(row.1)))).collect();
        a.sort_unstable();
        b.sort_unstable();
        prop_assert_eq!(a, b);
    }

    /// The same file on both sides.
    #[test]
    fn a_file_can_be_joined_to_itself(job in job(), file in several(20)) {
        let files = Files::new(vec![file[0].clone()], vec![file[0].clone()]);
        let folder = tempfile::tempdir().unwrap();
        let path = write_files(folder.path(), Format::Jsonl, &files.all)[0].display().to_string();
        let mut all = args(&job);
        all.extend([selected(job.how), path.clone(), path]);
        let (written, _) = run_in(folder.path(), &all, &["output"], &PLAIN);
        let own = |place: Place| number((0, place.1));
        let want: Numbers =
            answer(&job, &files).rows.iter().map(|row| (row.left.map(own), row.right.map(own))).collect();
        prop_assert_eq!(told(&written[0]), want);
    }

    /// A join is its mirror image with the sides, the bounds and the kind turned round.
    #[test]
    fn sides_can_be_turned_round(job in job_of(Just(Marks::Own)), files in files()) {
        prop_assume!(job.how.pairs());
        let on = On { left: ONS[1].right, right: ONS[1].left, ..ONS[1] };
        let how = match job.how {
            How::Left => How::Right,
            How::Right => How::Left,
            other => other,
        };
        let bounds = match job.bounds {
            Bounds::Within { lo, hi, open_lo, open_hi } => {
                Bounds::Within { lo: -hi, hi: -lo, open_lo: open_hi, open_hi: open_lo }
            }
            window => window,
        };
        let job = Join { on: &on, ..job };
        let [left, right] = job.delays;
        let turned = Join { how, bounds, delays: [right, left], wheres: [job.wheres[1], job.wheres[0]], ..job.clone() };
        let (of_left, of_right) = files.all.split_at(files.left);
        let files_turned = Files::new(of_right.to_vec(), of_left.to_vec());
        let here = run(&job, &[selected(job.how)], &files, &PLAIN);
        let there = run(&turned, &[selected(how)], &files_turned, &PLAIN);
        let back = |n: Option<i64>| {
            let n = n?;
            let (file, row) = ((n / 1_000) as usize, n % 1_000);
            let right = of_right.len();
            let file = if file < right { file + files.left } else { file - right };
            Some(file as i64 * 1_000 + row)
        };
        let there = told(&there.results).into_iter().map(|(a, b)| (back(b), back(a))).collect();
        prop_assert_eq!(sorted(told(&here.results)), sorted(there));
    }
}

/// Events of key `a` at these seconds.
pub fn at(seconds: &[i64]) -> Vec<Event> {
    let event = |s: &i64| Event { t: s * SECOND, key: Some("a".to_owned()), v: Some(1), device: 0 };
    seconds.iter().map(event).collect()
}

fn small(how: How, bounds: Bounds, delay: Option<i64>) -> Join<'static> {
    let delay = delay.map(|s| s * SECOND);
    let delays = [delay, delay];
    Join { how, on: &ONS[0], bounds, delays, idle_after: None, marks: Marks::Own, wheres: [None, None] }
}

fn within(lo: i64, hi: i64) -> Bounds {
    Bounds::Within { lo: lo * SECOND, hi: hi * SECOND, open_lo: false, open_hi: false }
}

/// Rows as `left|right`, in seconds; a dot is no partner.
fn words(files: &Files, rows: &[(Option<Place>, Option<Place>)]) -> Vec<String> {
    let second = |place: Option<Place>| place.map_or(".".to_owned(), |place| (files.at(place).t / SECOND).to_string());
    rows.iter().map(|(left, right)| format!("{}|{}", second(*left), second(*right))).collect()
}

/// The model and the program against rows worked out by hand from SPEC section 7.
#[track_caller]
fn is(job: &Join<'_>, files: &Files, want: &[&str], late: &[i64]) {
    let answer = answer(job, files);
    let rows: Vec<_> = answer.rows.iter().map(|row| row.places()).collect();
    assert_eq!(words(files, &rows), want, "the model");
    assert_eq!(answer.late.iter().map(|place| files.at(*place).t / SECOND).collect::<Vec<_>>(), late, "the model");
    let got = run(job, &[selected(job.how)], files, &PLAIN);
    assert_eq!(told(&got.results), numbers(rows));
    assert_eq!(got.late, late_lines(files, &answer.late));
}

/// Taken in this order: l1 r1 l4 r5 l9 r20, and then the ends.
fn sides() -> Files {
    Files::new(vec![at(&[1, 4, 9])], vec![at(&[1, 5, 20])])
}

#[test]
fn pairs_come_with_their_second_record_and_unmatched_rows_once_no_partner_can_come() {
    let all = within(0, 3);
    is(&small(How::Inner, all, Some(0)), &sides(), &["1|1", "4|5"], &[]);
    // The left side has ended at 9, so its rows wait for the right one: 9 for more than 12.
    is(&small(How::Left, all, Some(0)), &sides(), &["1|1", "4|5", "9|."], &[]);
    is(&small(How::Full, all, Some(0)), &sides(), &["1|1", "4|5", "9|.", ".|20"], &[]);
    is(&small(How::Semi, all, Some(0)), &sides(), &["1|.", "4|."], &[]);
    is(&small(How::Anti, all, Some(0)), &sides(), &["9|."], &[]);
    is(&small(How::Right, within(0, 0), Some(0)), &sides(), &["1|1", ".|5", ".|20"], &[]);
}

/// Bounds, one step around each end.
#[test]
fn ends_of_bounds_are_inclusive_unless_they_are_open() {
    let files = Files::new(vec![at(&[10])], vec![at(&[7, 8, 12, 13])]);
    let open = |open_lo, open_hi| Bounds::Within { lo: -2 * SECOND, hi: 2 * SECOND, open_lo, open_hi };
    is(&small(How::Inner, open(false, false), None), &files, &["10|8", "10|12"], &[]);
    is(&small(How::Inner, open(true, false), None), &files, &["10|12"], &[]);
    is(&small(How::Inner, open(false, true), None), &files, &["10|8"], &[]);
    is(&small(How::Inner, open(true, true), None), &files, &[], &[]);
}

/// Several pairs of one record: by the arrival of the other.
#[test]
fn pairs_of_one_record_go_by_the_arrival_of_their_first() {
    let files = Files::new(vec![at(&[3, 1, 2])], vec![at(&[4])]);
    is(&small(How::Inner, within(0, 5), None), &files, &["3|4", "1|4", "2|4"], &[]);
}

/// Nobody finds a partner in this job.
fn alone() -> On {
    On { text: "l.k = r.k AND l.v > 1", rest: |_, _| Some(false), ..ONS[8] }
}

/// Left rows are released by `l + 5`, right ones by `r + 5`; at equal instants left ones come first.
#[test]
fn rows_of_one_release_go_by_instant_then_side_then_arrival() {
    let files = Files::new(vec![at(&[10, 3, 5])], vec![at(&[100, 15, 5])]);
    let job = Join { marks: Marks::Min, on: &alone(), ..small(How::Full, within(-5, 5), Some(200)) };
    is(&job, &files, &["3|.", "5|.", ".|5", "10|.", ".|15", ".|100"], &[]);
}

/// The left side has ended at 10, so the right rows to come wait for nobody.
#[test]
fn rows_wait_for_the_other_side_only() {
    let files = Files::new(vec![at(&[10, 3, 5])], vec![at(&[100, 15])]);
    let job = Join { on: &alone(), ..small(How::Full, within(-5, 5), None) };
    is(&job, &files, &[".|100", ".|15", "3|.", "5|.", "10|."], &[]);
}

#[test]
fn each_side_is_judged_by_its_own_watermark() {
    // Left at most at 10, right at 20: 15 is not behind its own side.
    let files = Files::new(vec![at(&[10, 5, 15])], vec![at(&[10, 20, 14])]);
    is(&small(How::Inner, within(-100, 100), Some(0)), &files, &["10|10", "15|10", "10|20", "15|20"], &[5, 14]);
}

#[test]
fn null_keys_match_nothing_and_come_at_once() {
    let mut left = at(&[1, 2]);
    left[0].key = None;
    let mut right = at(&[1, 2]);
    right[0].key = None;
    let files = Files::new(vec![left], vec![right]);
    is(&small(How::Inner, within(0, 0), Some(5)), &files, &["2|2"], &[]);
    is(&small(How::Full, within(0, 0), Some(5)), &files, &["1|.", ".|1", "2|2"], &[]);
    is(&small(How::Anti, within(0, 0), Some(5)), &files, &["1|."], &[]);
    is(&small(How::Semi, within(0, 0), Some(5)), &files, &["2|."], &[]);
}

#[test]
fn a_window_joins_what_lies_in_it_and_is_over_at_its_end() {
    let files = Files::new(vec![at(&[1, 9, 10, 8])], vec![at(&[0, 10, 11])]);
    // 8 comes at a watermark of 10, the end of its window.
    let want = ["1|0", "9|0", "10|10", "10|11"];
    is(&small(How::Full, Bounds::Window(10 * SECOND), Some(0)), &files, &want, &[8]);
}

/// The smaller of both judges both: 12 is behind its own side's 20, not behind the other's 10. The greater: 10 is.
#[test]
fn watermarks_put_together_judge_both_sides() {
    let files = Files::new(vec![at(&[10, 21])], vec![at(&[20, 12, 22])]);
    let job = |marks| Join { marks, ..small(How::Inner, within(0, 0), Some(0)) };
    let order = [(0, Some(0)), (1, Some(0)), (1, Some(1)), (0, Some(1)), (1, Some(2)), (0, None), (1, None)];
    let late = |marks| answer_in(&job(marks), &files, &order).late;
    assert_eq!(late(Marks::Own), [(1, 1)]);
    assert_eq!(late(Marks::Min), []);
    let order = [(1, Some(0)), (0, Some(0)), (1, Some(1)), (0, Some(1)), (1, Some(2)), (0, None), (1, None)];
    assert_eq!(answer_in(&job(Marks::Max), &files, &order).late, [(0, 0), (1, 1)]);
}

#[test]
fn columns_are_the_left_fields_then_the_right_ones() {
    let files = Files::new(vec![at(&[1])], vec![at(&[1])]);
    let got = run(&small(How::Inner, within(0, 0), None), &[], &files, &PLAIN);
    assert_eq!(names(&got.results), ["n", "t", "d", "k", "v", "right_n", "right_t", "right_d", "right_k", "right_v"]);
    let windowed = run(&small(How::Semi, Bounds::Window(SECOND), None), &[], &files, &PLAIN).results;
    assert_eq!(names(&windowed), ["window_start", "window_end", "n", "t", "d", "k", "v"]);
    assert!(windowed.contains("\"window_end\":\"1970-01-01T00:00:02Z\""), "{windowed}");
}

/// The columns of a row without texts that hold commas, in their order.
pub fn names(results: &str) -> Vec<&str> {
    let line = results.trim_matches(|c| "{}\n".contains(c));
    line.split(',').filter_map(|field| field.split("\":").next()).map(|name| name.trim_matches('"')).collect()
}
