//! The only things that flow from the clock to an operator: events with the marks they are judged by.
//!
//! Must not know windows or operators. Invariant: a watermark never falls, and every row carries the marks that were
//! in force *before* it, which is why the size of a batch can never change a result.

use crate::time::{Span, Ts};
use arrow::array::RecordBatch;
use arrow::buffer::{BooleanBuffer, ScalarBuffer};
use arrow::datatypes::Schema;
use std::sync::Arc;

/// The promise that no on-time event before this instant will come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Watermark(Ts);

impl Watermark {
    /// Nothing is promised yet.
    pub const NEVER: Watermark = Watermark(Ts::MIN);
    /// Every partition is finished: no event will come at all.
    pub const END: Watermark = Watermark(Ts::MAX);

    /// What an event at `greatest` promises when events come at most `delay` late.
    pub fn after(greatest: Ts, delay: Span) -> Self {
        Watermark(greatest.saturating_sub(delay))
    }

    /// A watermark at an instant.
    pub fn at(ts: Ts) -> Self {
        Watermark(ts)
    }

    /// Whether a window that ends (exclusively) at `end` is final: the one definition of "final".
    pub fn has_reached(self, end: Ts) -> bool {
        self.0 >= end
    }

    /// Whether an instant that still counts itself (a session's `last + gap`, a join's inclusive bound) is past.
    pub fn has_passed(self, last: Ts) -> bool {
        self.0 > last
    }

    /// Whether an event at `ts` is behind the mark.
    pub fn is_after(self, ts: Ts) -> bool {
        self.0 > ts
    }

    /// The greater of two: how a watermark rises, and never falls.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Ord::max(self, other)
    }

    /// The instant itself.
    pub fn ts(self) -> Ts {
        self.0
    }
}

/// Which input of a two-sided operator an event belongs to; one-sided operators get `Left`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The first, or only, side.
    Left,
    /// The second side of a join.
    Right,
}

impl Side {
    /// Both, in their order.
    pub const BOTH: [Side; 2] = [Side::Left, Side::Right];

    /// The other one.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Side::Left => Side::Right,
            Side::Right => Side::Left,
        }
    }

    /// Its place in an array of both.
    pub fn index(self) -> usize {
        self as usize
    }
}

/// Where a record stands among all: inputs in command-line order, then record number. Breaks ties between equal times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(u64);

impl Position {
    const RECORD_BITS: u32 = 40;

    /// The record `record` (from 0) of input `input`.
    pub fn new(input: usize, record: u64) -> Self {
        debug_assert!(record < 1 << Self::RECORD_BITS && input < 1 << (64 - Self::RECORD_BITS));
        Position((input as u64) << Self::RECORD_BITS | record)
    }

    /// The input's index on the command line.
    pub fn input(self) -> usize {
        (self.0 >> Self::RECORD_BITS) as usize
    }

    /// The record's number in its input, from 0.
    pub fn record(self) -> u64 {
        self.0 & ((1 << Self::RECORD_BITS) - 1)
    }

    /// As one ordered number, for an accumulator's column.
    pub fn as_u64(self) -> u64 {
        self.0
    }
}

/// The event times of a batch: the time column's own buffer.
#[derive(Clone, Debug)]
pub struct Times(ScalarBuffer<i64>);

impl Times {
    /// Wraps the values of a microsecond timestamp column without nulls.
    pub fn new(values: ScalarBuffer<i64>) -> Self {
        Times(values)
    }

    /// The time of a row.
    #[inline]
    pub fn get(&self, row: usize) -> Ts {
        Ts::from_micros(self.0[row])
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All times in row order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Ts> + '_ {
        self.0.iter().map(|&micros| Ts::from_micros(micros))
    }

    /// Rows `offset .. offset + len`, sharing the buffer.
    #[must_use]
    pub fn slice(&self, offset: usize, len: usize) -> Self {
        Times(self.0.slice(offset, len))
    }

    /// The raw microseconds, for column kernels.
    pub fn micros(&self) -> &ScalarBuffer<i64> {
        &self.0
    }
}

/// For each row the marks in force before it. Without a delay nothing is ever late and no mark is kept.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    judge: Vec<Watermark>,
    job: Option<Vec<Watermark>>,
}

impl Marks {
    /// No row is late for anything (a run without a delay).
    pub fn never() -> Self {
        Self::default()
    }

    /// One partition: the job's mark is the mark each row is judged by.
    pub fn single(marks: Vec<Watermark>) -> Self {
        Self { judge: marks, job: None }
    }

    /// Several partitions: `judge[i]` = max(W_p, W), `job[i]` = W, both before row i.
    pub fn partitioned(judge: Vec<Watermark>, job: Vec<Watermark>) -> Self {
        debug_assert_eq!(judge.len(), job.len());
        Self { judge, job: Some(job) }
    }

    /// The mark that decides whether row `row` is late.
    #[inline]
    pub fn judge(&self, row: usize) -> Watermark {
        self.judge.get(row).copied().unwrap_or(Watermark::NEVER)
    }

    /// The job's watermark before row `row`: what has fired by then.
    #[inline]
    pub fn job(&self, row: usize) -> Watermark {
        match &self.job {
            Some(job) => job.get(row).copied().unwrap_or(Watermark::NEVER),
            None => self.judge(row),
        }
    }

    /// The marks all rows are judged by, empty when nothing can be late.
    pub fn judges(&self) -> &[Watermark] {
        &self.judge
    }
}

/// A record as it stood in its input, kept for side files.
#[derive(Clone, Debug)]
pub enum Raw {
    /// Not kept.
    None,
    /// Bytes of a text format: the rows' spans in a shared chunk, without their line ends.
    Text(Arc<Vec<u8>>, Vec<(u32, u32)>),
    /// Whole rows of a columnar format.
    Rows(RecordBatch),
}

/// Rows of one or several inputs in merge order, with all that an operator may ask about them.
#[derive(Clone, Debug)]
pub struct EventBatch {
    /// The job's columns.
    pub rows: RecordBatch,
    /// The event times.
    pub times: Times,
    /// The marks before each row.
    pub marks: Marks,
    /// The job's watermark after the last row.
    pub last_mark: Watermark,
    /// Each row's place among all records.
    pub positions: Positions,
    /// The rows that `--where` is true for; none: all. The others move the watermark and nothing else.
    pub selected: Option<BooleanBuffer>,
}

impl EventBatch {
    /// No row, at a watermark.
    pub fn empty(mark: Watermark) -> Self {
        Self {
            rows: RecordBatch::new_empty(Arc::new(Schema::empty())),
            times: Times::new(ScalarBuffer::from(Vec::new())),
            marks: Marks::never(),
            last_mark: mark,
            positions: Positions::Each(Vec::new()),
            selected: None,
        }
    }

    /// Whether a row is to be used.
    #[inline]
    pub fn is_selected(&self, row: usize) -> bool {
        self.selected.as_ref().is_none_or(|selected| selected.value(row))
    }

    /// The job's watermark after a row: what fires behind it.
    #[inline]
    pub fn mark_after(&self, row: usize) -> Watermark {
        if row + 1 < self.times.len() { self.marks.job(row + 1) } else { self.last_mark }
    }
}

/// Rows of two sides, and the one order that they came in.
#[derive(Clone, Debug)]
pub struct TwoSided {
    /// The rows of the left and the right side.
    pub sides: [EventBatch; 2],
    /// Which side's next rows come next, and how many. All rows of both sides are in it.
    pub runs: Vec<(Side, u32)>,
}

/// The positions of a batch's rows.
#[derive(Clone, Debug)]
pub enum Positions {
    /// Consecutive records of one input.
    Run(Position),
    /// Any records.
    Each(Vec<Position>),
}

impl Positions {
    /// The position of a row.
    #[inline]
    pub fn get(&self, row: usize) -> Position {
        match self {
            Positions::Run(first) => Position(first.0 + row as u64),
            Positions::Each(all) => all[row],
        }
    }

    /// Those of rows `start .. start + len`.
    #[must_use]
    pub fn slice(&self, start: usize, len: usize) -> Self {
        match self {
            Positions::Run(first) => Positions::Run(Position(first.0 + start as u64)),
            Positions::Each(all) => Positions::Each(all[start..start + len].to_vec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_final_at_its_end_and_a_session_after_it() {
        let mark = Watermark::after(Ts::from_micros(15), Span::from_micros(5));
        let ten = Ts::from_micros(10);
        assert!(mark.has_reached(ten) && !mark.has_passed(ten) && !mark.is_after(ten));
        assert!(!Watermark::NEVER.has_reached(ten) && Watermark::END.has_passed(ten));
    }

    #[test]
    fn positions_order_by_input_then_record() {
        assert!(Position::new(0, 99) < Position::new(1, 0));
        let p = Position::new(3, 7);
        assert_eq!((p.input(), p.record()), (3, 7));
    }
}
