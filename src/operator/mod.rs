//! What is done with events as time goes on: the trait every job's heart implements, and its two kinds.
//!
//! Must not know formats, files, flags, stderr or the wall clock. Invariant: the output depends on the input and its
//! marks only. An operator is told what time it is and what happened; it never asks for input and never prints.
//!
//! A batch is taken in as one sweep and windows fire once behind it. That gives the same bytes as firing record by
//! record: whether an event is late was decided by the marks it carries, and what fires is ordered by window end.

mod aggregates;
mod base;
mod changes;
mod core;
mod dedup;
mod endless;
mod fill;
mod finish;
mod frame;
mod gather;
mod groups;
mod heavy;
mod held;
mod join;
mod lookup;
mod pair;
mod ranks;
mod results;
mod session;
mod sides;
mod updating;
mod updating_sessions;
mod updating_windows;
mod windowed;

#[cfg(test)]
mod tests;

pub use aggregates::{Aggregates, CallOver};
pub use dedup::{Dedup, DedupOutput, DedupSetup};
pub use finish::{Called, Finish};
pub use join::{Join, JoinSetup, JoinSide};
pub use lookup::{Lookup, LookupSetup, TableRows};
pub use pair::{BoundPair, Pair, PairField};
pub use session::Sessions;
pub use sides::Equality;
pub use updating::Updating;
pub use windowed::Windowed;

use crate::account::{Ledger, StateSize};
use crate::error::Result;
use crate::event::{EventBatch, Side, Watermark};
use crate::plan::Fill;
use crate::schema::FieldType;
use crate::time::{Span, Ts};
use crate::window::Window;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

/// Where an operator's results go.
pub trait Emit {
    /// Result rows, in output order.
    fn rows(&mut self, rows: RecordBatch) -> Result<()>;

    /// Whether to go on: an error if not. Asked within work that may take long and give out nothing.
    fn go_on(&mut self) -> Result<()> {
        Ok(())
    }

    /// The rows that follow are a whole table, which takes the place of the one before.
    fn table(&mut self) -> Result<()> {
        Ok(())
    }

    /// A row of the current batch was late for all its windows.
    fn late(&mut self, late: Late) -> Result<()>;

    /// Whether no more rows are wanted, nor an account of what comes.
    fn is_done(&self) -> bool {
        false
    }

    /// Rows of the current batch are results as they stood in the input, in this order.
    fn pass(&mut self, _rows: &[u32]) -> Result<()> {
        Ok(())
    }

    /// A row of the current batch is a duplicate.
    fn duplicate(&mut self, _row: u32) -> Result<()> {
        Ok(())
    }
}

/// A late row and why it was late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Late {
    /// The side it came from.
    pub side: Side,
    /// Its index in that side's batch.
    pub row: usize,
    /// The mark it was judged by.
    pub mark: Watermark,
    /// The end of the last window it would have counted in (of a session: `last + gap`; without windows: its time).
    pub window_end: Ts,
}

/// Takes in events and gives out results as they become final.
pub trait Operator: Send {
    /// Takes in a batch. Late rows are told at once, in row order.
    fn on_batch(&mut self, batch: &EventBatch, out: &mut dyn Emit) -> Result<()>;

    /// Gives out what is final at `mark`, and forgets it.
    fn on_watermark(&mut self, mark: Watermark, out: &mut dyn Emit) -> Result<()>;

    /// Some time has passed by the wall clock: gives out what changed, if that is what the time is for.
    fn on_tick(&mut self, _out: &mut dyn Emit) -> Result<()> {
        Ok(())
    }

    /// Columns of the batches to come have these types.
    fn retype(&mut self, types: &[FieldType]) -> Result<()>;

    /// The schema of the results as it is now.
    fn schema(&self) -> SchemaRef;

    /// How much is held.
    fn state(&self) -> StateSize;

    /// What became of the rows so far, beyond what was told late.
    fn tally(&self) -> &Tally;
}

/// What every grouped aggregation is made of.
pub struct Setup {
    /// Which windows are written.
    pub range: Range,
    /// The types of the batches' columns.
    pub types: Vec<FieldType>,
    /// The columns that rows are grouped by.
    pub keys: Vec<usize>,
    /// What is computed of a group.
    pub aggregates: Aggregates,
    /// What becomes of its row.
    pub finish: Finish,
    /// What stands for windows without rows, if they are written.
    pub fill: Option<Fill>,
}

/// Which windows are written: those whose start lies in `[since, until)`.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// The first start that is written.
    pub since: Ts,
    /// The first start that is not.
    pub until: Ts,
}

impl Default for Range {
    fn default() -> Self {
        Self { since: Ts::MIN, until: Ts::MAX }
    }
}

impl Range {
    /// Whether a window that starts here is written.
    pub fn holds(self, start: Ts) -> bool {
        self.since <= start && (start < self.until || self.until == Ts::MAX)
    }

    /// Whether every window is written.
    pub fn is_everything(self) -> bool {
        self.since == Ts::MIN && self.until == Ts::MAX
    }
}

/// What became of rows, per input, and what fired.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// One ledger per input; only the gates an operator decides are filled.
    pub inputs: Vec<Ledger>,
    /// Windows or sessions fired by the watermark.
    pub fired_by_watermark: u64,
    /// Windows or sessions fired by the end of the input.
    pub fired_by_end: u64,
    /// Result rows.
    pub rows: u64,
    /// How far result rows' starts step back behind the greatest start before them.
    pub disorder: Span,
    /// Gaps of a key that were too long to be filled.
    pub gaps: u64,
    /// How far behind the mark a record was at most that was late for some of its windows.
    pub partly_behind: Option<Span>,
    /// The keys with the most records, as their bytes, and how many they had at least.
    pub heaviest: Vec<(String, u64)>,
    greatest_start: Option<Ts>,
}

impl Tally {
    /// The ledger of an input, growing the list if need be.
    pub fn input(&mut self, input: usize) -> &mut Ledger {
        if self.inputs.len() <= input {
            self.inputs.resize_with(input + 1, Ledger::default);
        }
        &mut self.inputs[input]
    }

    fn fired(&mut self, mark: Watermark, windows: u64) {
        match mark == Watermark::END {
            true => self.fired_by_end += windows,
            false => self.fired_by_watermark += windows,
        }
    }

    fn row_in(&mut self, window: Window) {
        match window == base::ENDLESS {
            true => self.rows += 1,
            false => self.row_at(window.start),
        }
    }

    fn row_at(&mut self, start: Ts) {
        self.rows += 1;
        match self.greatest_start {
            Some(greatest) if start < greatest => self.disorder = self.disorder.max(greatest.since(start)),
            _ => self.greatest_start = Some(start),
        }
    }
}
