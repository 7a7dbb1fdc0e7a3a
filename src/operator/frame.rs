//! What every grouped aggregation has: its keys and aggregates, the range it writes, its results and its account.
//!
//! Must not know how rows are grouped by time.

use super::results::Results;
use super::{Aggregates, Range, Tally};
use crate::error::Result;
use crate::event::EventBatch;
use crate::keys::Keys;
use crate::schema::FieldType;
use arrow::array::ArrayRef;
use arrow::datatypes::SchemaRef;
use std::sync::Arc;

/// The part that windows and sessions share.
pub(super) struct Frame {
    pub(super) range: Range,
    types: Vec<FieldType>,
    key_columns: Vec<usize>,
    pub(super) aggregates: Aggregates,
    pub(super) results: Results,
    pub(super) tally: Tally,
}

impl Frame {
    /// Over batches with columns of `types`, grouped by `keys` (output name and column).
    pub(super) fn new(range: Range, types: Vec<FieldType>, keys: Vec<(String, usize)>, aggregates: Aggregates) -> Self {
        let (names, key_columns): (Vec<String>, Vec<usize>) = keys.into_iter().unzip();
        let key_types = key_columns.iter().map(|&column| types[column]).collect();
        let results = Results::new(names, key_types);
        Self { range, types, key_columns, aggregates, results, tally: Tally::default() }
    }

    /// The keys of a batch's rows.
    pub(super) fn keys_of(&self, batch: &EventBatch) -> Keys {
        let columns: Vec<ArrayRef> =
            self.key_columns.iter().map(|&column| Arc::clone(batch.rows.column(column))).collect();
        Keys::encode(&columns, batch.times.len())
    }

    /// The schema of the results.
    pub(super) fn schema(&self) -> SchemaRef {
        self.results.schema(&self.aggregates)
    }

    /// Widens the aggregates to the columns' new types; the new types of the keys, if they changed. The caller gives
    /// its groups their new keys before it sets them.
    pub(super) fn widen(&mut self, types: &[FieldType]) -> Result<Option<Vec<FieldType>>> {
        self.aggregates.retype(&self.types, types)?;
        self.types = types.to_vec();
        let keys: Vec<FieldType> = self.key_columns.iter().map(|&column| types[column]).collect();
        Ok((keys != self.results.key_types()).then_some(keys))
    }
}
