//! What becomes of the rows of a window between the aggregates and the output: computed columns, which rows pass, in
//! what order, and how many.
//!
//! Three shapes of the same rows: *base* (bounds, keys, one column per aggregate call), *whole* (bounds, keys, output
//! columns, and behind them the calls again, which conditions and orders may need), *shown* (bounds, keys, output
//! columns, `rank` where there is a top). Must not know how rows are grouped by time.

use crate::error::{Error, Result};
use crate::expr::Selection;
use crate::plan::FinishPlan;
use crate::schema::FieldType;
use crate::time::Zone;
use arrow::array::{ArrayRef, RecordBatch};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::{Field, Schema, SchemaRef};
use std::sync::Arc;

/// What the rows of windows go through.
pub struct Finish {
    keys: Vec<String>,
    selection: Selection,
    #[expect(dead_code, reason = "replaced at once")]
    plan: FinishPlan,
    #[expect(dead_code, reason = "replaced at once")]
    zone: Zone,
    shown: SchemaRef,
}

impl Finish {
    /// For rows with keys of these names. Types are told by [`Finish::bind`].
    pub fn new(keys: Vec<String>, selection: Selection, plan: FinishPlan, zone: Zone) -> Self {
        Self { keys, selection, plan, zone, shown: Arc::new(Schema::empty()) }
    }

    /// Finds columns and types: of the keys, and of the results of the calls. Again when they change.
    pub fn bind(&mut self, keys: &[FieldType], calls: &[FieldType]) -> Result<()> {
        let bounds = ["window_start", "window_end"].map(super::aggregates::bound_field);
        let keys = self.keys.iter().zip(keys).map(|(name, ty)| Field::new(name, ty.arrow(), true));
        let outputs = self.selection.outputs.iter().zip(calls);
        let outputs = outputs.map(|(output, ty)| Field::new(&output.name, ty.arrow(), true));
        self.shown = Arc::new(Schema::new(bounds.into_iter().chain(keys).chain(outputs).collect::<Vec<_>>()));
        Ok(())
    }

    /// The schema of shown rows.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.shown)
    }

    /// Whole rows of base rows. An error names the row by its index, for a message that names window and key.
    pub fn whole(&self, base: Vec<ArrayRef>) -> Result<RecordBatch, (usize, String)> {
        RecordBatch::try_new(self.schema(), base).map_err(|e| (0, e.to_string()))
    }

    /// Whether every whole row is shown as it comes, so that nothing below needs to be asked.
    pub fn is_plain(&self) -> bool {
        true
    }

    /// Whether which rows of a window are shown, or their ranks, depends on the other rows of the window.
    pub fn compares_rows(&self) -> bool {
        false
    }

    /// The whole rows that `--having` is true for.
    pub fn passing(&self, whole: &RecordBatch) -> Result<BooleanBuffer, (usize, String)> {
        Ok(BooleanBuffer::new_set(whole.num_rows()))
    }

    /// The rows of one window in their order, given those that pass, with their ranks: `--order-by`, `--top`.
    /// Rows must come ordered by key.
    pub fn ranked(&self, whole: &RecordBatch, passing: &BooleanBuffer) -> Result<Vec<(usize, i64)>, (usize, String)> {
        Ok((0..whole.num_rows()).filter(|&row| passing.value(row)).map(|row| (row, row as i64 + 1)).collect())
    }

    /// Shown rows: these whole rows with these ranks (looked at only where there is a top).
    pub fn shown(&self, whole: &RecordBatch, _rows: &[(usize, i64)]) -> Result<RecordBatch> {
        Ok(whole.clone())
    }

    /// The error of a row that could not be computed.
    pub fn failed(window: &str, key: &str, what: &str) -> Error {
        Error::failed(format!("{window}{key}: {what}"))
    }
}
