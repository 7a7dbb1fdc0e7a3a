//! What the operators hold, and when they let it go. What they answer is held against a model in `tests/`.

use super::*;
use crate::aggregate;
use crate::event::{Marks, Position, Positions, Times};
use crate::window::{self, Grid, Grouping};
use arrow::array::{ArrayRef, Int64Array, TimestampMicrosecondArray};
use std::sync::Arc;

/// Counts late records and result rows.
#[derive(Default)]
struct Told {
    late: u64,
    rows: u64,
}

impl Emit for Told {
    fn rows(&mut self, rows: RecordBatch) -> Result<()> {
        self.rows += rows.num_rows() as u64;
        Ok(())
    }

    fn late(&mut self, _: Late) -> Result<()> {
        self.late += 1;
        Ok(())
    }
}

/// One event, judged by `mark` and followed by it.
fn event(ts: i64, key: i64, mark: i64) -> EventBatch {
    let times = vec![ts];
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("t", Arc::new(TimestampMicrosecondArray::from(times.clone()).with_timezone("UTC"))),
        ("k", Arc::new(Int64Array::from(vec![key]))),
    ];
    let mark = Watermark::at(Ts::from_micros(mark));
    EventBatch {
        rows: RecordBatch::try_from_iter(columns).unwrap(),
        times: Times::new(times.into()),
        marks: Marks::single(vec![mark]),
        last_mark: mark,
        positions: Positions::Run(Position::new(0, 0)),
    }
}

/// `count(*)` by `k`, in windows or sessions.
fn counting(kind: &str, size: &str) -> Box<dyn Operator> {
    let mut aggregates = Aggregates::default();
    aggregates.add("count".into(), aggregate::find("count").unwrap(), None, false);
    let (types, keys) = (vec![FieldType::Time, FieldType::Int], vec![("k".to_owned(), 1)]);
    match (window::find(kind).unwrap().parse)(size, &Grid::default()).unwrap() {
        Grouping::Windows(windower) => Box::new(Windowed::new(windower, Range::default(), types, keys, aggregates)),
        Grouping::Session { gap } => Box::new(Sessions::new(gap, Range::default(), types, keys, aggregates)),
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
