//! Rows between aggregates and output, collected over many firings: their bounds, their keys and, as they are read,
//! the results of the calls.
//!
//! Must not know why rows are written.

use super::Finish;
use super::finish::Failed;
use crate::error::{Error, Result};
use crate::keys;
use crate::schema::FieldType;
use crate::time::Ts;
use crate::window::Window;
use arrow::array::{Array, ArrayRef, RecordBatch, TimestampMicrosecondArray, new_empty_array};
use arrow::compute::concat;
use std::ops::Range;
use std::sync::Arc;

/// The bounds that stand for none: those of an endless window.
pub(super) const ENDLESS: Window = Window { start: Ts::MIN, end: Ts::MAX };

/// Bounds and keys, row by row.
#[derive(Default)]
pub(super) struct Heads {
    windows: Vec<Window>,
    key_bytes: Vec<u8>,
    key_ends: Vec<usize>,
}

impl Heads {
    /// Adds a row; its index.
    pub(super) fn push(&mut self, window: Window, key: &[u8]) -> usize {
        self.windows.push(window);
        self.key_bytes.extend_from_slice(key);
        self.key_ends.push(self.key_bytes.len());
        self.windows.len() - 1
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.windows.len()
    }

    /// The bounds of a row.
    pub(super) fn window(&self, row: usize) -> Window {
        self.windows[row]
    }

    /// The key of a row.
    pub(super) fn key(&self, row: usize) -> &[u8] {
        let start = if row == 0 { 0 } else { self.key_ends[row - 1] };
        &self.key_bytes[start..self.key_ends[row]]
    }

    /// What rows are ordered by.
    pub(super) fn order(&self, row: usize) -> (Window, &[u8]) {
        (self.window(row), self.key(row))
    }

    /// The columns of these rows.
    pub(super) fn columns(&self, rows: impl Iterator<Item = usize> + Clone, keys: &[FieldType]) -> Vec<ArrayRef> {
        let bound = |of: fn(Window) -> Ts| -> ArrayRef {
            let each = rows.clone().map(|row| Some(self.window(row)).filter(|w| *w != ENDLESS).map(|w| of(w).micros()));
            Arc::new(each.collect::<TimestampMicrosecondArray>().with_timezone("UTC"))
        };
        let mut columns = vec![bound(|w| w.start), bound(|w| w.end)];
        let bytes: Vec<&[u8]> = rows.clone().map(|row| self.key(row)).collect();
        columns.extend(keys::decode(&bytes, keys));
        columns
    }

    fn clear(&mut self) {
        self.windows.clear();
        self.key_bytes.clear();
        self.key_ends.clear();
    }
}

/// Whole rows in the making.
#[derive(Default)]
pub(super) struct Base {
    pub(super) heads: Heads,
    /// Results of the calls for the first rows, part by part.
    parts: Vec<Vec<ArrayRef>>,
    read: usize,
    bytes: usize,
}

impl Base {
    /// Adds the results of the calls for as many rows, behind those that have theirs. The other way to end is the
    /// error of one of them: the index of its row among these, and why.
    pub(super) fn add_values(
        &mut self,
        values: Result<Vec<ArrayRef>, (String, String, crate::aggregate::OutOfRange)>,
        rows: usize,
        finish: &Finish,
        keys: &[FieldType],
    ) -> Result<()> {
        let values = values.map_err(|(name, field, error)| {
            let columns = self.heads.columns(self.read..self.heads.len(), keys);
            let what = format!("{name}: {}", error.what);
            finish.failed(&columns, error.index, &what).hint(error.hint.replace("FIELD", &field))
        })?;
        self.bytes += values.iter().map(|column| column.get_buffer_memory_size()).sum::<usize>();
        self.parts.push(values);
        self.read += rows;
        Ok(())
    }

    /// The base columns.
    pub(super) fn columns(&self, keys: &[FieldType]) -> Result<Vec<ArrayRef>> {
        let mut columns = self.heads.columns(0..self.heads.len(), keys);
        let calls = self.parts.first().map_or(0, Vec::len);
        for call in 0..calls {
            let parts: Vec<&dyn arrow::array::Array> = self.parts.iter().map(|part| part[call].as_ref()).collect();
            columns.push(concat(&parts).map_err(|e| together(&e))?);
        }
        Ok(columns)
    }

    /// A batch of shown rows where nothing more has to be done, else of whole ones.
    pub(super) fn whole(&self, finish: &Finish, keys: &[FieldType]) -> Result<RecordBatch> {
        let mut columns = self.columns(keys)?;
        if columns.first().is_none_or(|first| first.is_empty()) {
            // There may be no values to tell how many columns there are.
            let types = if finish.is_plain() { finish.schema() } else { finish.whole_types() };
            columns = types.fields().iter().map(|field| new_empty_array(field.data_type())).collect();
            return RecordBatch::try_new(types, columns).map_err(|e| together(&e));
        }
        if finish.is_plain() {
            return RecordBatch::try_new(finish.schema(), columns).map_err(|e| together(&e));
        }
        let heads = columns.clone();
        finish.whole(columns).map_err(|(row, what)| finish.failed(&heads, row, &what))
    }

    /// The rows of each window: those with the same bounds stand together, within a firing that begins where `starts`
    /// says so.
    pub(super) fn windows(&self, starts: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
        let mut all: Vec<Range<usize>> = Vec::new();
        for row in 0..self.heads.len() {
            match all.last_mut() {
                Some(last) if !starts(row) && self.heads.window(row) == self.heads.window(last.start) => {
                    last.end = row + 1;
                }
                _ => all.push(row..row + 1),
            }
        }
        all
    }

    /// The rows that are shown, by window and in their order, with their ranks.
    pub(super) fn ranked(
        &self,
        whole: &RecordBatch,
        finish: &Finish,
        starts: impl Fn(usize) -> bool,
    ) -> Result<Vec<(usize, i64)>> {
        if finish.is_plain() {
            return Ok((0..self.heads.len()).map(|row| (row, 0)).collect());
        }
        let failed = |(row, what): Failed| finish.failed(whole.columns(), row, &what);
        let passing = finish.passing(whole).map_err(failed)?;
        finish.ranked_each(whole, &passing, &self.windows(starts)).map_err(failed)
    }

    /// The shown rows of whole ones.
    pub(super) fn shown(whole: &RecordBatch, finish: &Finish, ranked: &[(usize, i64)]) -> Result<RecordBatch> {
        if finish.is_plain() { Ok(whole.clone()) } else { finish.shown(whole, ranked) }
    }

    /// Forgets all rows and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.heads.clear();
        self.parts.clear();
        (self.read, self.bytes) = (0, 0);
    }

    /// Bytes of the values read so far.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// The error of columns that do not fit together.
pub(super) fn together(e: &arrow::error::ArrowError) -> Error {
    Error::failed(format!("cannot put result columns together: {e}"))
}
