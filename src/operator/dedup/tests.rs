//! Every rule of dedup by itself, and all of them against a slow model.

use super::*;
use crate::event::{Marks, Position, Positions, Times};
use crate::time::Ts;
use arrow::array::{AsArray, Float64Array, Int64Array, StringArray};
use arrow::datatypes::Int64Type;
use proptest::prelude::*;

/// What came out, in rows numbered over all batches.
#[derive(Default, PartialEq, Debug)]
struct Told {
    passed: Vec<u32>,
    duplicates: Vec<u32>,
    late: Vec<u32>,
    rows: Vec<i64>,
    base: u32,
}

impl Emit for Told {
    fn rows(&mut self, rows: RecordBatch) -> Result<()> {
        self.rows.extend(rows.column(0).as_primitive::<Int64Type>().values());
        Ok(())
    }

    fn late(&mut self, late: Late) -> Result<()> {
        assert!(late.mark.is_after(late.window_end) && late.side == Side::Left);
        self.late.push(self.base + late.row as u32);
        Ok(())
    }

    fn pass(&mut self, rows: &[u32]) -> Result<()> {
        assert!(!rows.is_empty());
        self.passed.extend(rows.iter().map(|row| self.base + row));
        Ok(())
    }

    fn duplicate(&mut self, row: u32) -> Result<()> {
        self.duplicates.push(self.base + row);
        Ok(())
    }
}

/// A record: its time in seconds, key and whether it is selected.
type Record = (i64, Option<&'static str>, bool);

fn ts(seconds: i64) -> Ts {
    Ts::from_micros(seconds * 1_000_000)
}

/// The marks before each record of one partition, and behind the last.
fn marks(records: &[Record], delay: Option<i64>) -> Vec<Watermark> {
    let mut greatest = None;
    let mut before = Vec::new();
    let mark = |greatest: Option<i64>| match (greatest, delay) {
        (Some(greatest), Some(delay)) => Watermark::after(ts(greatest), Span::from_secs(delay)),
        _ => Watermark::NEVER,
    };
    for record in records {
        before.push(mark(greatest));
        greatest = greatest.max(Some(record.0));
    }
    before.push(mark(greatest));
    before
}

fn batch(records: &[Record], marks: &[Watermark], delay: Option<i64>, first: usize) -> EventBatch {
    let times: Vec<i64> = records.iter().map(|record| ts(record.0).micros()).collect();
    let keys: StringArray = records.iter().map(|record| record.1).collect();
    let numbers: Int64Array = (first as i64..).take(records.len()).map(Some).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![("k", Arc::new(keys)), ("n", Arc::new(numbers))];
    EventBatch {
        rows: RecordBatch::try_from_iter(columns).unwrap(),
        times: Times::new(times.into()),
        marks: if delay.is_some() { Marks::single(marks[..records.len()].to_vec()) } else { Marks::never() },
        last_mark: marks[records.len()],
        positions: Positions::Run(Position::new(0, first as u64)),
        selected: Some(records.iter().map(|record| record.2).collect()),
    }
}

fn dedup(within: Option<i64>, output: DedupOutput) -> Dedup {
    let types = vec![FieldType::Text, FieldType::Int];
    let within = within.map(Span::from_secs);
    Dedup::new(DedupSetup { types, keys: vec![0], all_null_passes: true, within, output }).unwrap()
}

/// Runs records in batches of `cut`.
fn run(records: &[Record], within: Option<i64>, delay: Option<i64>, cut: usize) -> (Told, Dedup) {
    let (mut told, mut dedup) = (Told::default(), dedup(within, DedupOutput::Verbatim));
    let marks = marks(records, delay);
    for (i, some) in records.chunks(cut).enumerate() {
        told.base = (i * cut) as u32;
        dedup.on_batch(&batch(some, &marks[i * cut..], delay, i * cut), &mut told).unwrap();
    }
    told.base = 0;
    (told, dedup)
}

const A: Option<&str> = Some("a");

#[test]
fn a_duplicate_is_at_most_within_away_on_either_side_of_a_kept_one() {
    let records =
        [(100, A, true), (110, A, true), (90, A, true), (111, A, true), (89, A, true), (100, Some("b"), true)];
    let (told, dedup) = run(&records, Some(10), None, 10);
    assert_eq!((told.passed, told.duplicates), (vec![0, 3, 4, 5], vec![1, 2]));
    assert_eq!(dedup.state().rows, 2);
    let (told, dedup) = run(&records, None, None, 10);
    assert_eq!((told.passed, dedup.state().rows), (vec![0, 5], 2));
}

#[test]
fn duplicates_are_no_reference_for_others() {
    let (told, _) = run(&[(0, A, true), (10, A, true), (20, A, true)], Some(10), None, 10);
    assert_eq!((told.passed, told.duplicates), (vec![0, 2], vec![1]));
}

#[test]
fn a_redelivery_behind_the_watermark_is_a_duplicate_and_not_late() {
    let records = [(100, A, true), (105, Some("b"), true), (100, A, true), (104, Some("c"), true), (85, A, true)];
    let (told, dedup) = run(&records, Some(10), Some(0), 10);
    assert_eq!((told.passed, told.duplicates, told.late), (vec![0, 1], vec![2], vec![3, 4]));
    let ledger = &dedup.tally().inputs[0];
    assert_eq!((ledger.used, ledger.duplicate, ledger.late, ledger.filtered), (2, 1, 2, 0));
}

#[test]
fn a_record_leaves_when_the_watermark_has_passed_it_by_more_than_within() {
    for (greatest, duplicate) in [(110, true), (111, false)] {
        let records = [(100, A, true), (greatest, Some("b"), true), (100, A, true)];
        for cut in 1..=3 {
            let (told, dedup) = run(&records, Some(10), Some(0), cut);
            assert_eq!((told.duplicates.len() == 1, told.late.len() == 1), (duplicate, !duplicate), "{greatest}");
            assert_eq!(dedup.state().rows, 1 + u64::from(duplicate));
        }
    }
}

#[test]
fn several_times_of_a_key_are_kept_and_leave_one_by_one() {
    let records = [(100, A, true), (120, A, true), (140, A, true), (131, A, true), (109, A, true)];
    let (told, dedup) = run(&records, Some(10), Some(30), 10);
    assert_eq!((told.passed, told.duplicates, told.late), (vec![0, 1, 2], vec![3, 4], vec![]));
    assert_eq!(dedup.state().rows, 1);
}

#[test]
fn what_is_filtered_is_neither_kept_nor_a_duplicate() {
    let (told, dedup) = run(&[(1, A, false), (2, A, true), (3, A, false)], None, None, 10);
    assert_eq!((told.passed, told.duplicates), (vec![1], vec![]));
    assert_eq!((dedup.tally().inputs[0].filtered, dedup.tally().rows), (2, 1));
}

#[test]
fn a_null_key_always_passes_unless_it_is_late() {
    let (told, dedup) = run(&[(5, None, true), (5, None, true), (4, None, true)], Some(10), Some(0), 10);
    assert_eq!((told.passed, told.late, dedup.state().rows), (vec![0, 1], vec![2], 0));
}

#[test]
fn a_key_that_is_null_in_part_is_a_key() {
    let parts = |a: Option<&str>, b: Option<i64>| -> Vec<(&'static str, ArrayRef)> {
        vec![("a", Arc::new(StringArray::from(vec![a; 2]))), ("b", Arc::new(Int64Array::from(vec![b; 2])))]
    };
    for (columns, free, want) in [
        (parts(None, Some(1)), true, vec![0]),
        (parts(A, None), true, vec![0]),
        (parts(None, None), true, vec![0, 1]),
        (parts(None, None), false, vec![0]),
    ] {
        let setup = DedupSetup {
            types: vec![FieldType::Text, FieldType::Int],
            keys: vec![0, 1],
            all_null_passes: free,
            within: None,
            output: DedupOutput::Verbatim,
        };
        let mut told = Told::default();
        let marks = vec![Watermark::NEVER; 3];
        let mut events = batch(&[(1, A, true), (2, A, true)], &marks, None, 0);
        events.rows = RecordBatch::try_from_iter(columns).unwrap();
        Dedup::new(setup).unwrap().on_batch(&events, &mut told).unwrap();
        assert_eq!(told.passed, want);
    }
}

#[test]
fn columns_are_those_of_the_records_that_pass() {
    let mut dedup = dedup(None, DedupOutput::Columns(vec![(1, "number".into()), (0, "k".into())]));
    assert_eq!(dedup.schema().field(0).name(), "number");
    let mut told = Told::default();
    let records = [(1, A, true), (2, A, true), (3, Some("b"), true)];
    dedup.on_batch(&batch(&records, &[Watermark::NEVER; 4], None, 40), &mut told).unwrap();
    assert_eq!((told.rows, told.passed), (vec![40, 42], vec![]));
}

#[test]
fn keys_that_change_type_stay_what_they_were() {
    let setup = DedupSetup {
        types: vec![FieldType::Int],
        keys: vec![0],
        all_null_passes: true,
        within: Some(Span::from_secs(10)),
        output: DedupOutput::Columns(vec![(0, "k".into())]),
    };
    let mut dedup = Dedup::new(setup).unwrap();
    let never = vec![Watermark::NEVER; 3];
    let mut events = batch(&[(1, A, true), (2, A, true)], &never, None, 0);
    let of = |column: ArrayRef| RecordBatch::try_from_iter([("k", column)]).unwrap();
    events.rows = of(Arc::new(Int64Array::from(vec![1, 2])));
    dedup.on_batch(&events, &mut Told::default()).unwrap();
    dedup.retype(&[FieldType::Double]).unwrap();
    assert_eq!(dedup.schema().field(0).data_type(), &FieldType::Double.arrow());
    events.rows = of(Arc::new(Float64Array::from(vec![2.0, 1.0])));
    dedup.on_batch(&events, &mut Told::default()).unwrap();
    dedup.retype(&[FieldType::Text]).unwrap();
    events.rows = of(Arc::new(StringArray::from(vec!["1", "2"])));
    dedup.on_batch(&events, &mut Told::default()).unwrap();
    let ledger = &dedup.tally().inputs[0];
    assert_eq!((ledger.used, ledger.duplicate, dedup.state().rows), (2, 4, 2));
}

#[test]
fn the_end_lets_everything_go_that_has_a_horizon() {
    let (_, mut dedup) = run(&[(1, A, true), (2, Some("b"), true)], Some(10), None, 10);
    dedup.on_watermark(Watermark::END, &mut Told::default()).unwrap();
    assert_eq!(dedup.state().rows, 0);
}

#[test]
fn a_partition_ahead_of_the_job_is_judged_by_itself_and_remembered_by_the_job() {
    let records = [(100, A, true), (100, A, true), (99, Some("b"), true), (89, A, true)];
    let (mut told, mut dedup) = (Told::default(), dedup(Some(10), DedupOutput::Verbatim));
    let at = |seconds| Watermark::at(ts(seconds));
    let mut events = batch(&records, &[at(110); 5], Some(0), 0);
    events.marks = Marks::partitioned(vec![at(90), at(500), at(500), at(500)], vec![at(110); 4]);
    dedup.on_batch(&events, &mut told).unwrap();
    assert_eq!((&*told.passed, &*told.duplicates, &*told.late), (&[0][..], &[1][..], &[2, 3][..]));
    events.marks = Marks::partitioned(vec![at(500); 4], vec![at(111); 4]);
    dedup.on_batch(&events, &mut told).unwrap();
    assert_eq!((told.duplicates, told.late), (vec![1], vec![2, 3, 0, 1, 2, 3]));
}

/// SPEC section 7, word by word.
fn model(records: &[Record], within: Option<i64>, delay: Option<i64>) -> Told {
    let (mut told, mut kept) = (Told::default(), Vec::<(i64, &str)>::new());
    let marks = marks(records, delay);
    for (row, &(at, key, selected)) in records.iter().enumerate() {
        let mark = marks[row];
        kept.retain(|(time, _)| within.is_none_or(|within| !mark.has_passed(ts(time + within))));
        let near = |time: i64| within.is_none_or(|within| (time - at).abs() <= within);
        let row = row as u32;
        match key {
            _ if !selected => {}
            Some(key) if kept.iter().any(|(time, other)| *other == key && near(*time)) => told.duplicates.push(row),
            _ if mark.is_after(ts(at)) => told.late.push(row),
            _ => {
                told.passed.push(row);
                kept.extend(key.map(|key| (at, key)));
            }
        }
    }
    told
}

fn records() -> impl Strategy<Value = Vec<Record>> {
    let key = prop_oneof![4 => Just(A), 2 => Just(Some("b")), 1 => Just(Some("")), 1 => Just(None)];
    proptest::collection::vec((-40..40i64, key, proptest::bool::weighted(0.9)), 0..40)
}

proptest! {
    #[test]
    fn dedup_is_as_the_specification_says_for_any_cut(
        records in records(), within in proptest::option::of(0..30i64), delay in proptest::option::of(0..40i64),
        cut in 1..12usize,
    ) {
        let want = model(&records, within, delay);
        prop_assert_eq!(&run(&records, within, delay, cut).0, &want);
    }
}
