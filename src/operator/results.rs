//! Result rows on their way out: collected over windows, then made into columns at once.

use super::heavy::Heavy;
use super::{Aggregates, Emit, Finish, Tally};
use crate::aggregate::Slot;
use crate::error::{Error, Result};
use crate::keys;
use crate::schema::FieldType;
use crate::time::Ts;
use crate::window::Window;
use arrow::array::{ArrayRef, RecordBatch, TimestampMicrosecondArray};
use arrow::datatypes::SchemaRef;
use std::sync::Arc;

/// Rows are handed on in batches of about this many.
const BATCH: usize = 8_192;

/// How many of the heaviest keys are told.
const HEAVIEST: usize = 5;

/// Collects rows and writes them in batches.
pub(super) struct Results {
    finish: Finish,
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
        self.finish.bind(&self.key_types, calls)
    }

    pub(super) fn schema(&self) -> SchemaRef {
        self.finish.schema()
    }

    /// Adds a row. `spent`: its slot is free once the row is written.
    pub(super) fn push(&mut self, window: Window, key: &[u8], slot: Slot, spent: bool, tally: &mut Tally) {
        tally.row_at(window.start);
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

    pub(super) fn is_full(&self) -> bool {
        self.slots.len() >= BATCH
    }

    /// Writes what was collected and gives its slots back.
    pub(super) fn write(&mut self, aggregates: &mut Aggregates, out: &mut dyn Emit) -> Result<()> {
        if !self.slots.is_empty() {
            out.rows(self.batch(aggregates)?)?;
        }
        self.spent.drain(..).for_each(|slot| aggregates.release(slot));
        self.starts.clear();
        self.ends.clear();
        self.key_bytes.clear();
        self.key_ends.clear();
        self.slots.clear();
        Ok(())
    }

    fn batch(&self, aggregates: &Aggregates) -> Result<RecordBatch> {
        let bound = |values: &[i64]| -> ArrayRef {
            Arc::new(TimestampMicrosecondArray::from(values.to_vec()).with_timezone("UTC"))
        };
        let mut columns = vec![bound(&self.starts), bound(&self.ends)];
        let keys: Vec<&[u8]> = (0..self.slots.len()).map(|row| self.key(row)).collect();
        columns.extend(keys::decode(&keys, &self.key_types));
        columns.extend(
            aggregates.values(&self.slots).map_err(|(name, field, error)| self.out_of_range(&name, &field, &error))?,
        );
        RecordBatch::try_new(self.schema(), columns)
            .map_err(|e| Error::failed(format!("cannot put result columns together: {e}")))
    }

    fn key(&self, row: usize) -> &[u8] {
        let start = if row == 0 { 0 } else { self.key_ends[row - 1] };
        &self.key_bytes[start..self.key_ends[row]]
    }

    fn out_of_range(&self, name: &str, field: &str, error: &crate::aggregate::OutOfRange) -> Error {
        let bound = |micros| {
            let mut text = Vec::new();
            crate::time::format_rfc3339(Ts::from_micros(micros), &crate::time::Zone::UTC, &mut text);
            String::from_utf8_lossy(&text).into_owned()
        };
        let window = format!("window {} to {}", bound(self.starts[error.index]), bound(self.ends[error.index]));
        let key = match self.keyed {
            false => String::new(),
            true => format!(", key {}", keys::show(self.key(error.index), &self.key_types)),
        };
        Error::failed(format!("{window}{key}: {name}: {}", error.what)).hint(error.hint.replace("FIELD", field))
    }

    /// The heaviest keys so far, for people.
    pub(super) fn heaviest(&self) -> Vec<(String, u64)> {
        let top = self.heavy.top(HEAVIEST).into_iter();
        top.map(|(key, rows)| (keys::show(key, &self.key_types), rows)).collect()
    }
}
