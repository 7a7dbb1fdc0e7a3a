//! What every grouped aggregation has: its keys and aggregates, the range it writes, its results and its account.
//!
//! Must not know how rows are grouped by time.

use super::results::Results;
use super::{Aggregates, Emit, Range, Setup, Tally};
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
    /// As a setup says.
    pub(super) fn new(setup: Setup) -> Result<Self> {
        let Setup { range, types, keys, aggregates, finish, .. } = setup;
        let key_types = keys.iter().map(|&column| types[column]).collect();
        let mut results = Results::new(finish, key_types);
        results.bind(&aggregates.types())?;
        Ok(Self { range, types, key_columns: keys, aggregates, results, tally: Tally::default() })
    }

    /// The keys of a batch's rows.
    pub(super) fn keys_of(&self, batch: &EventBatch) -> Keys {
        let columns: Vec<ArrayRef> =
            self.key_columns.iter().map(|&column| Arc::clone(batch.rows.column(column))).collect();
        Keys::encode(&columns, batch.times.len())
    }

    /// Writes the rows that were collected; `last`: no more will come.
    pub(super) fn write(&mut self, last: bool, out: &mut dyn Emit) -> Result<()> {
        self.results.write(&mut self.aggregates, &mut self.tally, last, out)
    }

    /// The schema of the results.
    pub(super) fn schema(&self) -> SchemaRef {
        self.results.schema()
    }

    /// Widens the aggregates to the columns' new types; the new types of the keys, if they changed. The caller gives
    /// its groups their new keys, and then calls [`Frame::rebind`].
    pub(super) fn widen(&mut self, types: &[FieldType]) -> Result<Option<Vec<FieldType>>> {
        self.aggregates.retype(&self.types, types)?;
        self.types = types.to_vec();
        let keys: Vec<FieldType> = self.key_columns.iter().map(|&column| types[column]).collect();
        Ok((keys != self.results.key_types()).then_some(keys))
    }

    /// Keys have these types from now on, if they changed, and aggregates perhaps others.
    pub(super) fn rebind(&mut self, keys: Option<Vec<FieldType>>) -> Result<()> {
        if let Some(keys) = keys {
            self.results.set_key_types(keys);
        }
        self.results.bind(&self.aggregates.types())
    }
}
