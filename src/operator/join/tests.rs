//! What a join answers, rule by rule, and held against a slow model over random small streams.

use super::super::PairField;
use super::*;
use crate::event::{Marks, Position, Positions, Times};
use crate::expr::parse_scalar;
use crate::pairing::{self, Within};
use crate::schema::FieldPath;
use crate::time::{Span, Zone};
use crate::window::{self, Grid, Grouping};
use Side::{Left, Right};
use arrow::array::{
    Array, AsArray, BooleanArray, DictionaryArray, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use arrow::datatypes::Int32Type;
use arrow::util::display::array_value_to_string;
use std::sync::Arc;

mod interleave;
mod model;
mod rules;
mod types;

/// A record, and its side's marks behind it.
#[derive(Clone, Debug)]
struct Event {
    side: Side,
    ts: i64,
    key: Option<&'static str>,
    n: i64,
    selected: bool,
    /// How far its partition's mark is ahead of the side's before it.
    ahead: i64,
    /// The side's mark after it.
    mark: i64,
}

/// No mark.
const NEVER: i64 = i64::MIN;

/// A record that the mark does not move for.
fn event(side: Side, ts: i64, key: &'static str, n: i64) -> Event {
    Event { side, ts, key: Some(key), n, selected: true, ahead: 0, mark: NEVER }
}

impl Event {
    fn then(self, mark: i64) -> Self {
        Event { mark, ..self }
    }

    fn null(self) -> Self {
        Event { key: None, ..self }
    }
}

/// A column that must be equal on both sides.
fn equal(name: &str, column: usize) -> Equality {
    Equality { names: [format!("l.{name}"), format!("r.{name}")], columns: [column; 2] }
}

fn within(lo: i64, hi: i64) -> Bounds {
    Bounds::Within(Within::new(Span::from_micros(lo), Span::from_micros(hi)))
}

fn tumbling(size: &str) -> Bounds {
    match (window::find("tumbling").unwrap().parse)(size, &Grid::default()).unwrap() {
        Grouping::Windows(windower) => Bounds::Window(windower),
        other => panic!("{other:?}"),
    }
}

/// What a join is to be, over sides with the fields t, k and n.
#[derive(Clone, Debug)]
struct Job {
    how: &'static str,
    bounds: Bounds,
    watermark: JoinWatermark,
    condition: Option<&'static str>,
}

impl Job {
    fn new(how: &'static str, bounds: Bounds) -> Self {
        Job { how, bounds, watermark: JoinWatermark::Own, condition: None }
    }

    fn kind(&self) -> &'static JoinKind {
        pairing::find(self.how).unwrap()
    }

    fn fields(&self, side: Side) -> Vec<PairField> {
        let prefix = if side == Left { "" } else { "right_" };
        let is_shown = self.kind().pairs || side == Left;
        let field = |name: &str| PairField {
            path: FieldPath::parse(name).unwrap(),
            shown: is_shown.then(|| format!("{prefix}{name}")),
        };
        vec![field("k"), field("n")]
    }

    fn setup(&self) -> JoinSetup {
        let side = || JoinSide { types: vec![FieldType::Time, FieldType::Text, FieldType::Int], payload: vec![1, 2] };
        let pair = Pair {
            fields: [self.fields(Left), self.fields(Right)],
            condition: self.condition.map(|text| parse_scalar(text, "a condition").unwrap()),
            select: None,
            windows: self.bounds.has_windows(),
            zone: Zone::UTC,
        };
        let (kind, bounds, watermark) = (self.kind(), self.bounds.clone(), self.watermark);
        JoinSetup { kind, bounds, watermark, sides: [side(), side()], on: vec![equal("k", 1)], pair }
    }

    fn join(&self) -> Join {
        Join::new(self.setup()).unwrap()
    }

    /// All that is told of these records and of the end of both sides.
    fn run(&self, events: &[Event]) -> Vec<String> {
        self.run_in(events, &[events.len()])
    }

    /// The same in batches of these sizes.
    fn run_in(&self, events: &[Event], sizes: &[usize]) -> Vec<String> {
        let (mut join, mut told) = (self.join(), Told::default());
        let mut marks = [NEVER; 2];
        let mut rest = events;
        for size in sizes.iter().cycle() {
            let (now, later) = rest.split_at((*size).clamp(1, rest.len().max(1)).min(rest.len()));
            join.on_batch(&two_sided(now, &mut marks), &mut told).unwrap();
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        for side in Side::BOTH {
            join.on_watermark(side, Watermark::END, &mut told).unwrap();
        }
        assert_eq!(join.state().rows, 0, "rows are held behind the end");
        assert_eq!(join.tally(Left).rows, told.rows);
        told.lines
    }
}

fn mark(micros: i64) -> Watermark {
    if micros == NEVER { Watermark::NEVER } else { Watermark::at(Ts::from_micros(micros)) }
}

/// Records as a batch; `marks`: those before it, and afterwards those behind it.
fn two_sided(events: &[Event], marks: &mut [i64; 2]) -> TwoSided {
    let runs = events.iter().map(|event| (event.side, 1)).collect();
    let sides = Side::BOTH.map(|side| {
        let own: Vec<&Event> = events.iter().filter(|event| event.side == side).collect();
        one_sided(&own, &mut marks[side.index()])
    });
    TwoSided { sides, runs }
}

fn one_sided(events: &[&Event], job: &mut i64) -> EventBatch {
    let times: Vec<i64> = events.iter().map(|event| event.ts).collect();
    let (mut judges, mut jobs) = (Vec::new(), Vec::new());
    for event in events {
        jobs.push(mark(*job));
        judges.push(if *job == NEVER { Watermark::NEVER } else { mark(*job + event.ahead) });
        *job = (*job).max(event.mark);
    }
    let keys = events.iter().map(|event| event.key);
    let keys: ArrayRef = match events.len() % 2 {
        0 => Arc::new(keys.collect::<DictionaryArray<Int32Type>>()),
        _ => Arc::new(keys.collect::<StringArray>()),
    };
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("t", Arc::new(TimestampMicrosecondArray::from(times.clone()).with_timezone("UTC"))),
        ("k", keys),
        ("n", Arc::new(events.iter().map(|event| Some(event.n)).collect::<Int64Array>())),
    ];
    let selected: BooleanArray = events.iter().map(|event| Some(event.selected)).collect();
    EventBatch {
        rows: RecordBatch::try_from_iter(columns).unwrap(),
        times: Times::new(times.into()),
        marks: Marks::partitioned(judges, jobs),
        last_mark: mark(*job),
        positions: Positions::Run(Position::new(0, 0)),
        selected: Some(selected.values().clone()),
    }
}

/// Each row that came out, its values separated by spaces, a null as `-`; `late` with its side for each late one.
#[derive(Default)]
struct Told {
    lines: Vec<String>,
    rows: u64,
    late: Vec<Late>,
}

impl Emit for Told {
    fn rows(&mut self, rows: RecordBatch) -> Result<()> {
        self.rows += rows.num_rows() as u64;
        let text = |column: &ArrayRef, row: usize| match (column.is_null(row), column.data_type()) {
            (true, _) => "-".to_owned(),
            (_, arrow::datatypes::DataType::Timestamp(..)) => {
                column.as_primitive::<arrow::datatypes::TimestampMicrosecondType>().value(row).to_string()
            }
            _ => array_value_to_string(column, row).unwrap(),
        };
        let line = |row| rows.columns().iter().map(|column| text(column, row)).collect::<Vec<_>>().join(" ");
        self.lines.extend((0..rows.num_rows()).map(line));
        Ok(())
    }

    fn late(&mut self, late: Late) -> Result<()> {
        self.late.push(late);
        Ok(())
    }
}
