//! The aggregates of a job side by side: one slot is the same group in all of them.

use crate::aggregate::{Accumulator, Arguments, OutOfRange, Slot};
use crate::error::{Error, Result};
use crate::event::EventBatch;
use crate::schema::FieldType;
use arrow::array::{Array, ArrayRef, AsArray, Int64Array, UInt64Array};
use std::collections::HashMap;
use std::sync::Arc;

struct Call {
    /// As it was typed, for messages.
    shown: String,
    /// The first argument, for messages.
    field: String,
    state: Box<dyn Accumulator>,
    columns: Vec<usize>,
    /// The column of truth values that says which rows count.
    filter: Option<usize>,
    ordered: bool,
}

/// A call over columns of a batch.
pub struct CallOver<'a> {
    /// The call.
    pub call: &'a crate::expr::Call,
    /// Its argument columns and their types.
    pub columns: Vec<(usize, FieldType)>,
    /// The column of its `FILTER`.
    pub filter: Option<usize>,
    /// The first argument as it was typed.
    pub field: String,
}

/// The columns of a batch that each call takes.
pub(super) struct Feed {
    arguments: Vec<Vec<ArrayRef>>,
    filters: Vec<Option<ArrayRef>>,
}

/// All aggregates of a job and the slots they share.
#[derive(Default)]
pub struct Aggregates {
    calls: Vec<Call>,
    free: Vec<Slot>,
    opened: u32,
}

impl Aggregates {
    /// Adds a call.
    pub fn add(&mut self, over: CallOver<'_>) {
        let CallOver { call, columns, filter, field } = over;
        let types: Vec<FieldType> = columns.iter().map(|(_, ty)| *ty).collect();
        let arguments = Arguments { types: &types, constants: &call.constants, distinct: call.distinct };
        self.calls.push(Call {
            shown: call.shown.clone(),
            field,
            state: (call.kind.build)(arguments),
            columns: columns.into_iter().map(|(column, _)| column).collect(),
            filter,
            ordered: call.kind.ordered,
        });
    }

    /// A slot that holds no rows yet.
    pub(super) fn open(&mut self) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.opened += 1;
            Slot(self.opened - 1)
        });
        self.calls.iter_mut().for_each(|call| call.state.open(slot));
        slot
    }

    /// Gives a slot back.
    pub(super) fn release(&mut self, slot: Slot) {
        self.free.push(slot);
    }

    /// Takes rows `rows[i]` of a batch into `slots[i]`.
    pub(super) fn update(&mut self, slots: &[Slot], rows: &[u32], batch: &EventBatch) -> Result<()> {
        let feed = self.feed(batch);
        self.take(slots, rows, &feed)
    }

    /// A batch as the functions take it, for who takes it in bit by bit.
    pub(super) fn feed(&self, batch: &EventBatch) -> Feed {
        let order = self.calls.iter().any(|call| call.ordered).then(|| order_columns(batch));
        let arguments = self.calls.iter().map(|call| {
            let columns = call.columns.iter().map(|&column| Arc::clone(batch.rows.column(column)));
            columns.chain(order.iter().filter(|_| call.ordered).flatten().cloned()).collect()
        });
        let filters = self.calls.iter().map(|call| call.filter.map(|column| Arc::clone(batch.rows.column(column))));
        Feed { arguments: arguments.collect(), filters: filters.collect() }
    }

    /// Takes rows `rows[i]` of a feed into `slots[i]`.
    pub(super) fn take(&mut self, slots: &[Slot], rows: &[u32], feed: &Feed) -> Result<()> {
        let mut kept: HashMap<usize, (Vec<Slot>, Vec<u32>)> = HashMap::new();
        for (call, (args, filter)) in self.calls.iter_mut().zip(feed.arguments.iter().zip(&feed.filters)) {
            match (call.filter, filter) {
                (Some(column), Some(filter)) => {
                    let (slots, rows) = kept.entry(column).or_insert_with(|| filtered(slots, rows, filter));
                    call.state.update(slots, rows, args)?;
                }
                _ => call.state.update(slots, rows, args)?,
            }
        }
        Ok(())
    }

    /// Adds the rows of `from` to `into`.
    pub(super) fn merge(&mut self, into: Slot, from: Slot) {
        self.calls.iter_mut().for_each(|call| call.state.merge(into, from));
    }

    /// One result column per call. An error names the call, its field, and which slot it was.
    pub(super) fn values(&self, slots: &[Slot]) -> Result<Vec<ArrayRef>, (String, String, OutOfRange)> {
        let each = self.calls.iter();
        each.map(|call| call.state.values(slots).map_err(|e| (call.shown.clone(), call.field.clone(), e))).collect()
    }

    /// The types of the result columns.
    pub(super) fn types(&self) -> Vec<FieldType> {
        self.calls.iter().map(|call| call.state.output()).collect()
    }

    /// The argument columns have these types from now on.
    pub(super) fn retype(&mut self, from: &[FieldType], to: &[FieldType]) -> Result<()> {
        for call in &mut self.calls {
            if call.columns.iter().any(|&column| from[column] != to[column]) {
                let types: Vec<FieldType> = call.columns.iter().map(|&column| to[column]).collect();
                call.state.widen(&types)?;
            }
        }
        Ok(())
    }

    /// What these slots hold, one column per call.
    pub fn save(&self, slots: &[Slot]) -> Result<Vec<ArrayRef>> {
        self.calls.iter().map(|call| call.state.save(slots)).collect()
    }

    /// Makes these opened slots hold what was saved of as many, by the same calls over the same types.
    pub fn load(&mut self, slots: &[Slot], saved: &[ArrayRef]) -> Result<()> {
        if saved.len() != self.calls.len() {
            let (expected, found) = (self.calls.len(), saved.len());
            return Err(Error::failed(format!(
                "the saved state is damaged: expected {expected} columns, found {found}"
            )));
        }
        self.calls.iter_mut().zip(saved).try_for_each(|(call, saved)| call.state.load(slots, saved))
    }

    /// Slots in use.
    pub(super) fn len(&self) -> usize {
        self.opened as usize - self.free.len()
    }

    /// Bytes of memory held.
    pub(super) fn bytes(&self) -> usize {
        self.calls.iter().map(|call| call.state.bytes()).sum::<usize>() + self.free.capacity() * size_of::<Slot>()
    }
}

/// The rows, and their slots, for which a column is true.
fn filtered(slots: &[Slot], rows: &[u32], column: &ArrayRef) -> (Vec<Slot>, Vec<u32>) {
    let column = column.as_boolean();
    let holds = |row: u32| column.is_valid(row as usize) && column.value(row as usize);
    slots.iter().zip(rows).filter(|(_, row)| holds(**row)).map(|(slot, row)| (*slot, *row)).unzip()
}

/// What an ordered function goes by: event time, then position.
fn order_columns(batch: &EventBatch) -> [ArrayRef; 2] {
    let rows = batch.times.len();
    let positions: UInt64Array = (0..rows).map(|row| Some(batch.positions.get(row).as_u64())).collect();
    [Arc::new(Int64Array::new(batch.times.micros().clone(), None)), Arc::new(positions)]
}
