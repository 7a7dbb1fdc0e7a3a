//! The first record of every key passes, the others are duplicates (SPEC section 7).
//!
//! Must not know what a record looks like. Order of gates: a record behind the watermark is a duplicate if one is kept
//! that it repeats, since redeliveries are old; only otherwise it is late.

mod kept;
#[cfg(test)]
mod tests;

use super::gather::Picked;
use super::pair::plain;
use super::{Emit, Late, Operator, Tally};
use crate::account::{Ledger, StateSize};
use crate::error::{Error, Result};
use crate::event::{EventBatch, Side, Watermark};
use crate::keys::Keys;
use crate::schema::FieldType;
use crate::time::Span;
use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::{Field, Schema, SchemaRef};
use kept::Kept;
use std::sync::Arc;

/// What a dedup is made of.
pub struct DedupSetup {
    /// The types of the batches' columns.
    pub types: Vec<FieldType>,
    /// The columns of the key; never empty. Whole records are compared by one column with their bytes.
    pub keys: Vec<usize>,
    /// A record whose key is null in every part is nobody's duplicate.
    pub all_null_passes: bool,
    /// How far the times of two records with one key may be apart; none: any distance.
    pub within: Option<Span>,
    /// What is written of records that pass.
    pub output: DedupOutput,
}

/// What is written of records that pass.
pub enum DedupOutput {
    /// Themselves, as they stood in the input.
    Verbatim,
    /// These columns of the batch under these names.
    Columns(Vec<(usize, String)>),
}

/// Lets the first record of every key pass.
pub struct Dedup {
    setup: DedupSetup,
    schema: SchemaRef,
    kept: Kept,
    tally: Tally,
}

/// Where a record stops.
enum Gate {
    Filtered,
    Duplicate,
    Late,
    Passes,
}

/// The keys of a batch.
struct BatchKeys {
    keys: Keys,
    /// Rows that are nobody's duplicate.
    free: Option<BooleanBuffer>,
}

impl Dedup {
    /// As a setup says.
    pub fn new(setup: DedupSetup) -> Result<Self> {
        let (schema, kept) = (setup.schema(), Kept::new(setup.within.map(|within| within.max(Span::ZERO))));
        Ok(Self { setup, schema, kept, tally: Tally::default() })
    }

    fn gate(&mut self, batch: &EventBatch, keys: &BatchKeys, row: usize) -> Gate {
        if !batch.is_selected(row) {
            return Gate::Filtered;
        }
        let (ts, judge) = (batch.times.get(row), batch.marks.judge(row));
        if keys.free.as_ref().is_some_and(|free| free.value(row)) {
            return if judge.is_after(ts) { Gate::Late } else { Gate::Passes };
        }
        let index = keys.keys.index(row);
        let (hash, key) = (keys.keys.hash(index), keys.keys.key(index));
        let (latest, mark) = (self.kept.find(hash, key), batch.marks.job(row));
        if latest.is_some_and(|latest| self.kept.is_near(latest, ts, mark)) {
            return Gate::Duplicate;
        }
        if judge.is_after(ts) {
            return Gate::Late;
        }
        self.kept.keep(latest, hash, key, ts, mark);
        Gate::Passes
    }

    fn write(&mut self, batch: &EventBatch, rows: &[u32], out: &mut dyn Emit) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        rows.iter().for_each(|&row| self.tally.row_at(batch.times.get(row as usize)));
        match &self.setup.output {
            DedupOutput::Verbatim => out.pass(rows),
            DedupOutput::Columns(columns) => {
                let picked = Picked::new(rows, batch.times.len());
                let each = columns.iter().zip(self.schema.fields());
                let each = each.map(|((at, _), field)| plain(&picked.of(&batch.rows, *at)?, field.data_type()));
                out.rows(whole(&self.schema, each.collect::<Result<_>>()?)?)
            }
        }
    }
}

impl DedupSetup {
    fn schema(&self) -> SchemaRef {
        let columns: &[(usize, String)] = match &self.output {
            DedupOutput::Verbatim => &[],
            DedupOutput::Columns(columns) => columns,
        };
        let fields = columns.iter().map(|(at, name)| Field::new(name, self.types[*at].arrow(), true));
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    }

    fn key_types(&self) -> Vec<FieldType> {
        self.keys.iter().map(|&column| self.types[column]).collect()
    }

    fn keys_of(&self, batch: &EventBatch) -> BatchKeys {
        let columns: Vec<ArrayRef> = self.keys.iter().map(|&column| Arc::clone(batch.rows.column(column))).collect();
        let free = if self.all_null_passes { null_in_all(&columns) } else { None };
        BatchKeys { keys: Keys::encode(&columns, batch.times.len()), free }
    }
}

impl Operator for Dedup {
    fn on_batch(&mut self, batch: &EventBatch, out: &mut dyn Emit) -> Result<()> {
        let keys = self.setup.keys_of(batch);
        let mut passed = Vec::with_capacity(batch.times.len());
        for row in 0..batch.times.len() {
            let gate = self.gate(batch, &keys, row);
            *gate.of(self.tally.input(batch.positions.get(row).input())) += 1;
            match gate {
                Gate::Filtered => {}
                Gate::Duplicate => out.duplicate(row as u32)?,
                Gate::Late => {
                    let (mark, window_end) = (batch.marks.judge(row), batch.times.get(row));
                    out.late(Late { side: Side::Left, row, mark, window_end })?;
                }
                Gate::Passes => passed.push(row as u32),
            }
        }
        self.write(batch, &passed, out)?;
        self.on_watermark(batch.last_mark, out)
    }

    fn on_watermark(&mut self, mark: Watermark, _: &mut dyn Emit) -> Result<()> {
        self.kept.release(mark);
        Ok(())
    }

    fn retype(&mut self, types: &[FieldType]) -> Result<()> {
        let before = self.setup.key_types();
        self.setup.types = types.to_vec();
        let after = self.setup.key_types();
        if before != after {
            self.kept.rekey(&before, &after);
        }
        self.schema = self.setup.schema();
        Ok(())
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn state(&self) -> StateSize {
        StateSize { rows: self.kept.len() as u64, bytes: self.kept.bytes() as u64, ..StateSize::default() }
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }
}

impl Gate {
    /// Where records that stop here are counted.
    fn of<'a>(&self, ledger: &'a mut Ledger) -> &'a mut u64 {
        match self {
            Gate::Filtered => &mut ledger.filtered,
            Gate::Duplicate => &mut ledger.duplicate,
            Gate::Late => &mut ledger.late,
            Gate::Passes => &mut ledger.used,
        }
    }
}

/// The rows that are null in every column; none when there are none.
fn null_in_all(columns: &[ArrayRef]) -> Option<BooleanBuffer> {
    let each = columns.iter().map(|column| column.logical_nulls().filter(|nulls| nulls.null_count() > 0));
    let valid = each.map(|nulls| nulls.map(|nulls| nulls.into_inner())).collect::<Option<Vec<_>>>()?;
    valid.into_iter().reduce(|a, b| &a | &b).map(|any| !&any)
}

fn whole(schema: &SchemaRef, columns: Vec<ArrayRef>) -> Result<RecordBatch> {
    RecordBatch::try_new(Arc::clone(schema), columns)
        .map_err(|e| Error::failed(format!("cannot put rows together: {e}")))
}
