//! Result rows on their way out: collected over windows, then made into columns at once.

use super::fill::Filler;
use super::heavy::Heavy;
use super::{Aggregates, Emit, Finish, Tally};
use crate::aggregate::Slot;
use crate::error::{Error, Result};
use crate::keys;
use crate::schema::FieldType;
use crate::time::Ts;
use crate::window::Window;
use arrow::array::{ArrayRef, AsArray, RecordBatch, TimestampMicrosecondArray};
use arrow::datatypes::{SchemaRef, TimestampMicrosecondType};
use std::ops::Range;
use std::sync::Arc;

/// Rows are handed on in batches of about this many.
const BATCH: usize = 8_192;

/// How many of the heaviest keys are told.
pub(super) const HEAVIEST: usize = 5;

/// Collects rows and writes them in batches.
pub(super) struct Results {
    finish: Finish,
    fill: Option<Filler>,
    keyed: bool,
    key_types: Vec<FieldType>,
    starts: Vec<i64>,
    ends: Vec<i64>,
    key_bytes: Vec<u8>,
    key_ends: Vec<usize>,
    slots: Vec<Slot>,
    /// Slots to give back once the rows are written.
    spent: Vec<Slot>,
    heavy: Heavy,
}

impl Results {
    pub(super) fn new(finish: Finish, key_types: Vec<FieldType>) -> Self {
        Self {
            finish,
            fill: None,
            keyed: !key_types.is_empty(),
            key_types,
            starts: Vec::new(),
            ends: Vec::new(),
            key_bytes: Vec::new(),
            key_ends: Vec::new(),
            slots: Vec::new(),
            spent: Vec::new(),
            heavy: Heavy::default(),
        }
    }

    pub(super) fn key_types(&self) -> &[FieldType] {
        &self.key_types
    }

    /// The keys have these types from now on.
    pub(super) fn set_key_types(&mut self, types: Vec<FieldType>) {
        self.key_types = types;
        self.heavy.clear();
    }

    /// Results of the calls have these types from now on.
    pub(super) fn bind(&mut self, calls: &[FieldType]) -> Result<()> {
        self.finish.bind(&self.key_types, calls)?;
        match &mut self.fill {
            Some(fill) => fill.retype(&self.finish.whole_types(), self.key_types.len()),
            None => Ok(()),
        }
    }

    /// Windows without rows are written too.
    pub(super) fn fill(&mut self, fill: Filler) -> Result<()> {
        self.fill = Some(fill);
        let (types, keys) = (self.finish.whole_types(), self.key_types.len());
        self.fill.as_mut().map_or(Ok(()), |fill| fill.retype(&types, keys))
    }

    pub(super) fn schema(&self) -> SchemaRef {
        self.finish.schema()
    }

    /// Adds a row. `spent`: its slot is free once the row is written.
    pub(super) fn push(&mut self, window: Window, key: &[u8], slot: Slot, spent: bool) {
        self.starts.push(window.start.micros());
        self.ends.push(window.end.micros());
        self.key_bytes.extend_from_slice(key);
        self.key_ends.push(self.key_bytes.len());
        self.slots.push(slot);
        if spent {
            self.spent.push(slot);
        }
    }

    /// Counts a key's records for the summary.
    pub(super) fn weigh(&mut self, hash: u64, key: &[u8], rows: u64) {
        if self.keyed {
            self.heavy.add(hash, key, rows);
        }
    }

    /// Whether the order of the rows depends on what fires at once.
    pub(super) fn goes_by_firing(&self) -> bool {
        self.fill.is_some()
    }

    /// Whether rows should be written before more are added. Windows that are filled wait for the whole firing.
    pub(super) fn is_full(&self) -> bool {
        self.slots.len() >= BATCH && self.fill.is_none()
    }

    /// Writes what was collected, the windows of one firing or a part of them, and gives its slots back. At the end
    /// of the input (`last`) windows are filled up to the end of the range.
    pub(super) fn write(
        &mut self,
        aggregates: &mut Aggregates,
        tally: &mut Tally,
        last: bool,
        out: &mut dyn Emit,
    ) -> Result<()> {
        let fills = last && self.fill.is_some();
        if !self.slots.is_empty() || fills {
            let shown = self.shown(aggregates, tally, last)?;
            shown.column(0).as_primitive::<TimestampMicrosecondType>().iter().flatten().for_each(|start| {
                tally.row_at(Ts::from_micros(start));
            });
            if shown.num_rows() > 0 {
                out.rows(shown)?;
            }
        }
        self.spent.drain(..).for_each(|slot| aggregates.release(slot));
        self.starts.clear();
        self.ends.clear();
        self.key_bytes.clear();
        self.key_ends.clear();
        self.slots.clear();
        Ok(())
    }

    /// The rows as they are shown.
    fn shown(&mut self, aggregates: &Aggregates, tally: &mut Tally, last: bool) -> Result<RecordBatch> {
        let base = self.base(aggregates)?;
        if self.finish.is_plain() && self.fill.is_none() {
            return RecordBatch::try_new(self.schema(), base)
                .map_err(|e| Error::failed(format!("cannot put result columns together: {e}")));
        }
        let for_messages = base.clone();
        let failed = |(row, what): (usize, String)| self.finish.failed(&for_messages, row, &what);
        let mut whole = self.finish.whole(base).map_err(failed)?;
        if let Some(fill) = &mut self.fill {
            whole = fill.take(whole, self.key_types.len(), last, tally)?;
        }
        let failed = |(row, what): (usize, String)| self.finish.failed(whole.columns(), row, &what);
        let passing = self.finish.passing(&whole).map_err(failed)?;
        let rows = self.finish.ranked_each(&whole, &passing, &windows(&whole)).map_err(failed)?;
        self.finish.shown(&whole, &rows)
    }

    fn base(&self, aggregates: &Aggregates) -> Result<Vec<ArrayRef>> {
        let bound = |values: &[i64]| -> ArrayRef {
            Arc::new(TimestampMicrosecondArray::from(values.to_vec()).with_timezone("UTC"))
        };
        let mut columns = vec![bound(&self.starts), bound(&self.ends)];
        let keys: Vec<&[u8]> = (0..self.slots.len()).map(|row| self.key(row)).collect();
        columns.extend(keys::decode(&keys, &self.key_types));
        let values = aggregates.values(&self.slots);
        let values = values.map_err(|(name, field, error)| {
            let what = format!("{name}: {}", error.what);
            self.finish.failed(&columns, error.index, &what).hint(error.hint.replace("FIELD", &field))
        })?;
        columns.extend(values);
        Ok(columns)
    }

    fn key(&self, row: usize) -> &[u8] {
        let start = if row == 0 { 0 } else { self.key_ends[row - 1] };
        &self.key_bytes[start..self.key_ends[row]]
    }

    /// The heaviest keys so far, for people.
    pub(super) fn heaviest(&self) -> Vec<(String, u64)> {
        let top = self.heavy.top(HEAVIEST).into_iter();
        top.map(|(key, rows)| (keys::show(key, &self.key_types), rows)).collect()
    }
}

/// The rows of each window: those with the same bounds stand together.
fn windows(whole: &RecordBatch) -> Vec<Range<usize>> {
    let bound = |i: usize| whole.column(i).as_primitive::<TimestampMicrosecondType>().values();
    let (starts, ends) = (bound(0), bound(1));
    let mut all: Vec<Range<usize>> = Vec::new();
    for row in 0..whole.num_rows() {
        match all.last_mut() {
            Some(window) if (starts[window.start], ends[window.start]) == (starts[row], ends[row]) => {
                window.end = row + 1;
            }
            _ => all.push(row..row + 1),
        }
    }
    all
}
