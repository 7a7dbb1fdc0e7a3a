//! The aggregates of a job side by side: one slot is the same group in all of them.

use crate::aggregate::{Accumulator, AggregateKind, OutOfRange, Slot};
use crate::error::Result;
use crate::event::EventBatch;
use crate::schema::FieldType;
use arrow::array::{ArrayRef, Int64Array, UInt64Array};
use arrow::datatypes::{DataType, Field};
use std::sync::Arc;

struct Call {
    name: String,
    /// The argument's field, for messages.
    field: String,
    state: Box<dyn Accumulator>,
    column: Option<usize>,
    ordered: bool,
}

/// All aggregates of a job and the slots they share.
#[derive(Default)]
pub struct Aggregates {
    calls: Vec<Call>,
    free: Vec<Slot>,
    opened: u32,
}

impl Aggregates {
    /// Adds a call: its output name, its function, and its argument's field, column and type.
    pub fn add(
        &mut self,
        name: String,
        kind: &'static AggregateKind,
        argument: Option<(String, usize, FieldType)>,
        distinct: bool,
    ) {
        let state = (kind.build)(argument.as_ref().map(|(_, _, ty)| *ty), distinct);
        let (field, column) = argument.map_or_else(Default::default, |(field, column, _)| (field, Some(column)));
        self.calls.push(Call { name, field, state, column, ordered: kind.ordered });
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
        let mut order: Option<[ArrayRef; 2]> = None;
        for call in &mut self.calls {
            let mut args: Vec<ArrayRef> =
                call.column.iter().map(|&column| Arc::clone(batch.rows.column(column))).collect();
            if call.ordered {
                args.extend(order.get_or_insert_with(|| order_columns(batch)).iter().cloned());
            }
            call.state.update(slots, rows, &args)?;
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
        each.map(|call| call.state.values(slots).map_err(|e| (call.name.clone(), call.field.clone(), e))).collect()
    }

    /// The result columns' fields.
    pub(super) fn fields(&self) -> impl Iterator<Item = Field> + '_ {
        self.calls.iter().map(|call| Field::new(&call.name, call.state.output().arrow(), true))
    }

    /// The argument columns have these types from now on.
    pub(super) fn retype(&mut self, from: &[FieldType], to: &[FieldType]) -> Result<()> {
        for call in &mut self.calls {
            if let Some(column) = call.column.filter(|&column| from[column] != to[column]) {
                call.state.widen(to[column])?;
            }
        }
        Ok(())
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

/// What an ordered function goes by: event time, then position.
fn order_columns(batch: &EventBatch) -> [ArrayRef; 2] {
    let rows = batch.times.len();
    let positions: UInt64Array = (0..rows).map(|row| Some(batch.positions.get(row).as_u64())).collect();
    [Arc::new(Int64Array::new(batch.times.micros().clone(), None)), Arc::new(positions)]
}

/// The Arrow field of a window bound.
pub(super) fn bound_field(name: &str) -> Field {
    let ty: DataType = FieldType::Time.arrow();
    Field::new(name, ty, false)
}
