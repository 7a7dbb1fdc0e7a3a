//! A table that events are looked up in, read to its end before the first of them.
//!
//! Must not know what it is looked up by.

use super::one::Seen;
use super::side::{Ready, SideRun};
use super::side_files::SideFiles;
use crate::bind::WholeTable;
use crate::error::{Error, Result};
use crate::event::{EventBatch, Positions, Side};
use crate::input::{Item, Start};
use crate::keys;
use crate::operator::Tally;
use crate::plan::{ClockPlan, LookupPlan};
use crate::report::{Part, Summary};
use crate::schema::FieldType;
use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{Field, Schema};
use std::sync::Arc;

/// A table that was read.
pub(super) struct Table {
    /// All of it.
    pub(super) rows: WholeTable,
    /// The types of its columns.
    pub(super) types: Vec<FieldType>,
    /// Where its records went.
    pub(super) account: Summary,
}

/// Reads a table to its end.
pub(super) fn read(plan: &LookupPlan, ready: Ready, files: &mut SideFiles, seen: &Seen<'_>) -> Result<Table> {
    let clock = ClockPlan::default();
    let mut run = SideRun::new(&plan.table, &clock, &ready, None);
    let names = ready.inputs.iter().map(|input| input.name.clone()).collect();
    let mut rows = WholeTable { names, ..WholeTable::default() };
    let mut types = ready.types()?;
    rows.first_types.clone_from(&types);
    let mut tally = Tally::default();
    let how = ready.decode(&plan.table, false);
    let mut merge = ready.start(how, &Start::of(&plan.table, &clock, plan.threads), None)?;
    while let Some(item) = merge.next_item(None)? {
        match item {
            Item::Rows(merged) => {
                let batch = run.stamp(&merged);
                for row in 0..batch.times.len() {
                    let ledger = tally.input(batch.positions.get(row).input());
                    match batch.is_selected(row) {
                        true => ledger.used += 1,
                        false => ledger.filtered += 1,
                    }
                }
                let (kept, positions) = selected(batch)?;
                rows.batches.push(kept);
                rows.positions.push(positions);
            }
            Item::Bad(bad) => {
                run.account.bad(&bad);
                files.bad(Side::Right, &bad)?;
            }
            Item::Types { types: fields, input, record } => types = run.retype(&fields, input, record)?,
            Item::Skipped(..) | Item::Finished(_) | Item::Waiting => {}
        }
        seen.tell_read(run.account.read());
    }
    run.account.unlisted(merge.unlisted());
    rows.batches = rows.batches.iter().map(|batch| widened(batch, &types)).collect::<Result<_>>()?;
    let empty = run.empty(Part::Table).into_iter().collect();
    Ok(Table { rows, types, account: Summary { empty, ..run.summary(&tally) } })
}

/// The rows that are in the table, and where they stand.
fn selected(batch: EventBatch) -> Result<(RecordBatch, Positions)> {
    let Some(selected) = batch.selected else { return Ok((batch.rows, batch.positions)) };
    let positions = selected.set_indices().map(|row| batch.positions.get(row)).collect();
    let rows = filter_record_batch(&batch.rows, &BooleanArray::new(selected, None))
        .map_err(|e| Error::failed(format!("cannot leave rows of the table out: {e}")))?;
    Ok((rows, Positions::Each(positions)))
}

/// Rows that were read before a column became wider.
fn widened(batch: &RecordBatch, types: &[FieldType]) -> Result<RecordBatch> {
    let columns: Vec<_> = batch.columns().iter().zip(types).map(|(column, ty)| keys::to_type(column, *ty)).collect();
    let fields =
        columns.iter().enumerate().map(|(i, column)| Field::new(i.to_string(), column.data_type().clone(), true));
    RecordBatch::try_new(Arc::new(Schema::new(fields.collect::<Vec<_>>())), columns)
        .map_err(|e| Error::failed(format!("cannot widen a column of the table: {e}")))
}
