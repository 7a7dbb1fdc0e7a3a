//! What the operators hold, and when they let it go. What they answer is held against a model in `tests/`.

use super::*;
use crate::event::{Marks, Position, Positions, Times};
use crate::expr::parse_calls;
use crate::plan::FinishPlan;
use crate::time::Zone;
use crate::window::{self, Grid, Grouping};
use arrow::array::{ArrayRef, AsArray, Int64Array, TimestampMicrosecondArray};
use arrow::datatypes::Int64Type;
use std::sync::Arc;

/// What an operator gave out.
#[derive(Default)]
struct Told {
    counts: Vec<i64>,
    late: u64,
    window_end: Option<Ts>,
    rows: u64,
}

impl Emit for Told {
    fn rows(&mut self, rows: RecordBatch) -> Result<()> {
        self.rows += rows.num_rows() as u64;
        self.counts.extend(rows.column(3).as_primitive::<Int64Type>().values());
        Ok(())
    }

    fn late(&mut self, late: Late) -> Result<()> {
        self.late += 1;
        self.window_end = Some(late.window_end);
        Ok(())
    }
}

/// Events (microsecond, key, the mark it is judged by); `job`: the job's mark all along.
fn batch(events: &[(i64, i64, i64)], job: i64) -> EventBatch {
    let times: Vec<i64> = events.iter().map(|event| event.0).collect();
    let keys: Int64Array = events.iter().map(|event| Some(event.1)).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("t", Arc::new(TimestampMicrosecondArray::from(times.clone()).with_timezone("UTC"))),
        ("k", Arc::new(keys)),
    ];
    let mark = |micros| Watermark::at(Ts::from_micros(micros));
    EventBatch {
        rows: RecordBatch::try_from_iter(columns).unwrap(),
        times: Times::new(times.into()),
        marks: Marks::partitioned(events.iter().map(|event| mark(event.2)).collect(), vec![mark(job); events.len()]),
        last_mark: mark(job),
        positions: Positions::Run(Position::new(0, 0)),
        selected: None,
    }
}

/// One event, judged by `mark` and followed by it.
fn event(ts: i64, key: i64, mark: i64) -> EventBatch {
    batch(&[(ts, key, mark)], mark)
}

/// `count(*)` by `k`, in windows or sessions.
fn counting(kind: &str, size: &str) -> Box<dyn Operator> {
    let mut aggregates = Aggregates::default();
    let selection = parse_calls("count(*) AS count").unwrap();
    let call = &selection.calls[0];
    aggregates.add(CallOver { call, columns: Vec::new(), filter: None, field: String::new() });
    let finish = Finish::new(vec!["k".to_owned()], selection.clone(), FinishPlan::default(), None, Zone::UTC);
    let types = vec![FieldType::Time, FieldType::Int];
    let setup = Setup { range: Range::default(), types, keys: vec![1], aggregates, finish, fill: None };
    match (window::find(kind).unwrap().parse)(size, &Grid::default()).unwrap() {
        Grouping::Windows(windower) => Box::new(Windowed::new(windower, setup).unwrap()),
        Grouping::Session { gap } => Box::new(Sessions::new(gap, setup).unwrap()),
        other => panic!("{other:?}"),
    }
}

/// Events of ever new keys with the watermark right behind them; the bytes held after the first hundred and at the end.
fn passing(operator: &mut dyn Operator, told: &mut Told) -> (u64, u64) {
    let mut early = 0;
    for i in 0..5_000 {
        operator.on_batch(&event(i * 100, i, i * 100 - 50), told).unwrap();
        if i == 100 {
            early = operator.state().bytes;
        }
    }
    (early, operator.state().bytes)
}

#[test]
fn what_is_written_holds_no_memory() {
    for (kind, size) in
        [("tumbling", "100us"), ("sliding", "100us/50us"), ("cumulate", "100us/50us"), ("session", "20us")]
    {
        let (mut operator, mut told) = (counting(kind, size), Told::default());
        let (early, late) = passing(&mut *operator, &mut told);
        assert_eq!(early, late, "{kind}");
        assert!(operator.state().windows <= 3, "{kind}: {:?}", operator.state());
        operator.on_watermark(Watermark::END, &mut told).unwrap();
        assert_eq!((operator.state().windows, operator.state().groups), (0, 0), "{kind}");
        assert!(told.rows >= 5_000 && told.late == 0, "{kind}");
    }
}

#[test]
fn late_records_hold_no_memory() {
    for (kind, size) in [("tumbling", "100us"), ("session", "20us")] {
        let (mut operator, mut told) = (counting(kind, size), Told::default());
        operator.on_batch(&event(10_000, 0, 9_990), &mut told).unwrap();
        operator.on_batch(&event(500, 1, 9_990), &mut told).unwrap();
        let before = operator.state().bytes;
        (2..2_000).for_each(|key| operator.on_batch(&event(500, key, 9_990), &mut told).unwrap());
        assert_eq!((operator.state().bytes, told.late), (before, 1_999), "{kind}");
    }
}

#[test]
fn a_late_record_is_told_the_end_of_its_last_window() {
    for (kind, size, end) in [
        ("tumbling", "100us", 600),
        ("sliding", "100us/50us", 650),
        ("cumulate", "400us/100us", 800),
        ("session", "20us", 580),
    ] {
        let (mut operator, mut told) = (counting(kind, size), Told::default());
        operator.on_batch(&event(560, 0, 9_990), &mut told).unwrap();
        assert_eq!(told.window_end, Some(Ts::from_micros(end)), "{kind}");
    }
}

/// Two partitions: the second is far ahead of the job, so its row is late for the first window, which is still open.
#[test]
fn a_row_late_for_a_window_does_not_follow_the_row_before_into_it() {
    let (mut operator, mut told) = (counting("sliding", "100us/50us"), Told::default());
    operator.on_batch(&batch(&[(525, 0, 0), (525, 0, 560), (525, 0, 0)], 0), &mut told).unwrap();
    operator.on_watermark(Watermark::END, &mut told).unwrap();
    assert_eq!((told.counts, told.late), (vec![2, 3], 0));
    assert_eq!(operator.tally().inputs[0].partially_late, 1);
}

/// The same batch with its keys as doubles.
fn as_doubles(batch: EventBatch) -> EventBatch {
    let double = FieldType::Double.arrow();
    let keys = arrow::compute::cast(batch.rows.column(1), &double).unwrap();
    let rows = RecordBatch::try_from_iter([("t", Arc::clone(batch.rows.column(0))), ("k", keys)]).unwrap();
    EventBatch { rows, ..batch }
}

#[test]
fn keys_of_another_type_go_on_in_their_groups() {
    let long = 1 << 53;
    for (kind, size) in [("tumbling", "100us"), ("sliding", "100us/100us"), ("session", "20us")] {
        let (mut operator, mut told) = (counting(kind, size), Told::default());
        operator.on_batch(&batch(&[(510, 7, 0), (510, long, 0), (510, -7, 0)], 0), &mut told).unwrap();
        operator.retype(&[FieldType::Time, FieldType::Double]).unwrap();
        operator.on_batch(&as_doubles(batch(&[(520, 7, 0), (520, long, 0), (520, 8, 0)], 0)), &mut told).unwrap();
        operator.on_watermark(Watermark::END, &mut told).unwrap();
        told.counts.sort_unstable();
        assert_eq!(told.counts, [1, 1, 2, 2], "{kind}");
        assert_eq!(*operator.schema().field(2).data_type(), FieldType::Double.arrow(), "{kind}");
    }
}

#[test]
fn groups_whose_keys_become_one_are_merged() {
    let (mut operator, mut told) = (counting("tumbling", "100us"), Told::default());
    operator.on_batch(&batch(&[(510, 1 << 53, 0), (510, (1 << 53) + 1, 0)], 0), &mut told).unwrap();
    operator.retype(&[FieldType::Time, FieldType::Double]).unwrap();
    operator.on_watermark(Watermark::END, &mut told).unwrap();
    assert_eq!(told.counts, [2]);
}

/// The second session of key 7 is joined to the first by its third event.
#[test]
fn the_heaviest_keys_are_told_with_all_their_records() {
    for (kind, size) in [("tumbling", "100us"), ("sliding", "100us/50us"), ("session", "20us")] {
        let (mut operator, mut told) = (counting(kind, size), Told::default());
        operator.on_batch(&batch(&[(500, 7, 0), (540, 7, 0), (510, 8, 0), (520, 7, 0)], 0), &mut told).unwrap();
        operator.on_watermark(Watermark::END, &mut told).unwrap();
        assert_eq!(operator.tally().heaviest, [("7".to_owned(), 3), ("8".to_owned(), 1)], "{kind}");
    }
}

#[test]
fn starts_that_step_back_are_measured() {
    let (mut operator, mut told) = (counting("session", "300us"), Told::default());
    let events = [(100, 7, 0), (400, 7, 0), (700, 7, 0), (300, 8, 0), (350, 9, 0)];
    operator.on_batch(&batch(&events, 0), &mut told).unwrap();
    operator.on_watermark(Watermark::END, &mut told).unwrap();
    assert_eq!((operator.tally().disorder, operator.tally().rows), (Span::from_micros(250), 3));
}
