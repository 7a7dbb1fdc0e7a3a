//! `count`: of rows, of values, of different values.
//!
//! Must not know any type: whether a value is there is all that counts. Over nothing it is 0.

use super::column::{argument, each};
use super::saved::{Reader, load_each, save_each, write_u64};
use super::{Accumulator, AggregateKind, Arguments, OutOfRange, Slot, Takes, distinct};
use crate::error::Result;
use crate::schema::FieldType;
use arrow::array::{Array, ArrayRef, Int64Array};
use std::sync::Arc;

/// `count(*)`, `count(x)`, `count(DISTINCT x)`.
pub(super) static COUNT: AggregateKind = AggregateKind {
    name: "count",
    usage: "count(*), count(x) or count(DISTINCT x)",
    doc: "the number of rows, of values that are not null, or of different values; 0 over nothing",
    aliases: &[],
    takes: &[Takes::Anything],
    optional: 0,
    rows: true,
    distinct: true,
    ordered: false,
    build,
};

fn build(arguments: Arguments<'_>) -> Box<dyn Accumulator> {
    match arguments.first() {
        Some(ty) if arguments.distinct => distinct::build(ty),
        Some(_) => Box::new(Count { of_values: true, counts: Counts::default() }),
        None => Box::new(Count { of_values: false, counts: Counts::default() }),
    }
}

/// Numbers of rows per slot.
#[derive(Default)]
pub(super) struct Counts(Vec<u64>);

impl Counts {
    /// Makes a slot's count 0.
    pub(super) fn open(&mut self, slot: Slot) {
        super::reset(&mut self.0, slot, || 0);
    }

    /// Counts rows.
    pub(super) fn add_rows(&mut self, slots: &[Slot]) {
        for slot in slots {
            self.0[slot.index()] += 1;
        }
    }

    /// Counts rows where the column is not null.
    pub(super) fn add_values(&mut self, slots: &[Slot], rows: &[u32], column: &ArrayRef) {
        // A dictionary may have null among its values: those rows are null as well.
        let nulls = column.logical_nulls();
        each(slots, rows, nulls.as_ref(), |slot, _| self.0[slot] += 1);
    }

    /// Adds the rows of one slot to another.
    pub(super) fn merge(&mut self, into: Slot, from: Slot) {
        self.0[into.index()] += self.0[from.index()];
    }

    /// How many.
    pub(super) fn get(&self, slot: Slot) -> u64 {
        self.0[slot.index()]
    }

    /// Writes a slot's count.
    pub(super) fn write(&self, slot: Slot, out: &mut Vec<u8>) {
        write_u64(self.get(slot), out);
    }

    /// Reads what was written.
    pub(super) fn read(&mut self, slot: Slot, reader: &mut Reader<'_>) -> Option<()> {
        self.0[slot.index()] = reader.rows()?;
        Some(())
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<u64>()
    }
}

struct Count {
    of_values: bool,
    counts: Counts,
}

impl Accumulator for Count {
    fn open(&mut self, slot: Slot) {
        self.counts.open(slot);
    }

    fn update(&mut self, slots: &[Slot], rows: &[u32], args: &[ArrayRef]) -> Result<()> {
        if self.of_values {
            self.counts.add_values(slots, rows, argument(args, 0)?);
        } else {
            self.counts.add_rows(slots);
        }
        Ok(())
    }

    fn merge(&mut self, into: Slot, from: Slot) {
        self.counts.merge(into, from);
    }

    fn widen(&mut self, _: &[FieldType]) -> Result<()> {
        Ok(())
    }

    fn values(&self, slots: &[Slot]) -> Result<ArrayRef, OutOfRange> {
        Ok(Arc::new(Int64Array::from_iter_values(slots.iter().map(|&slot| self.counts.get(slot) as i64))))
    }

    fn output(&self) -> FieldType {
        FieldType::Int
    }

    fn save(&self, slots: &[Slot]) -> Result<ArrayRef> {
        Ok(save_each(slots, |slot, out| self.counts.write(slot, out)))
    }

    fn load(&mut self, slots: &[Slot], saved: &ArrayRef) -> Result<()> {
        load_each(slots, saved, |slot, reader| self.counts.read(slot, reader))
    }

    fn bytes(&self) -> usize {
        self.counts.bytes()
    }
}
