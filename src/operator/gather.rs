//! Rows picked out of columns, in any order.
//!
//! Must not know why they were picked.

use crate::error::{Error, Result};
use arrow::array::{Array, ArrayRef, RecordBatch, UInt32Array};
use arrow::compute::{interleave, take};
use std::sync::Arc;

/// Rows of a batch that come one after another, all of them or some, once or several times.
pub(super) struct Picked(Option<UInt32Array>);

impl Picked {
    /// These rows of a batch of `of` rows.
    pub(super) fn new(rows: &[u32], of: usize) -> Self {
        let is_all = rows.len() == of && rows.iter().enumerate().all(|(at, &row)| at == row as usize);
        Picked((!is_all).then(|| UInt32Array::from(rows.to_vec())))
    }

    /// The values of a column.
    pub(super) fn of(&self, batch: &RecordBatch, column: usize) -> Result<ArrayRef> {
        let column = batch.column(column);
        match &self.0 {
            None => Ok(Arc::clone(column)),
            Some(rows) => take(column, rows, None).map_err(|e| failed(&e)),
        }
    }
}

/// Values of one column that stands in pieces: (piece, row) each.
pub(super) fn gather(pieces: &[ArrayRef], places: &[(usize, usize)]) -> Result<ArrayRef> {
    let pieces: Vec<&dyn Array> = pieces.iter().map(AsRef::as_ref).collect();
    interleave(&pieces, places).map_err(|e| failed(&e))
}

fn failed(e: &arrow::error::ArrowError) -> Error {
    Error::failed(format!("cannot put rows together: {e}"))
}
