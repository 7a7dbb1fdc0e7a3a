//! Accumulators that keep values of any type: one cell per slot, and what a cell does is its family's to say.
//!
//! Here is all that the families share: reading columns, slots, changes of type. Must not know any one family.

use super::column::{Moment, Moments, argument, each};
use super::saved::{Reader, load_each, save_each};
use super::value::{Value, word_of_double};
use super::{Accumulator, OutOfRange, Slot};
use crate::error::{Error, Result};
use crate::schema::FieldType;
use arrow::array::{Array, ArrayRef};
use arrow::buffer::NullBuffer;

/// What a cell keeps of the values it was given.
pub(super) trait Family: 'static {
    /// What a call says beside its argument columns.
    type Options: Send;

    /// The state of one slot; the default is that of no rows.
    type Cell<V: Value>: Default + Send;

    /// Whether [`Family::take`] looks at the moment.
    const ORDERED: bool;

    /// Whether nulls are given to [`Family::take_null`].
    const NULLS: bool = false;

    /// Takes in a value. `heap` counts the bytes that cells hold outside of themselves.
    fn take<V: Value>(cell: &mut Self::Cell<V>, at: Moment, value: &V::Ref, heap: &mut usize);

    /// Takes in a null.
    fn take_null<V: Value>(_: &mut Self::Cell<V>, _: Moment, _: &mut usize) {}

    /// Makes the cell that of no rows; it may keep memory for those to come.
    fn clear<V: Value>(cell: &mut Self::Cell<V>) {
        *cell = Self::Cell::default();
    }

    /// Takes in all that another cell was given.
    fn merge<V: Value>(into: &mut Self::Cell<V>, from: &Self::Cell<V>, heap: &mut usize);

    /// The cell that would be here if all values had been `to` of themselves.
    fn map<V: Value, W: Value>(cell: &Self::Cell<V>, to: impl Fn(&V) -> W, heap: &mut usize) -> Self::Cell<W>;

    /// Whether [`Family::map`] is right for values of this type becoming text.
    fn may_become_text(ty: FieldType) -> bool;

    /// Bytes the cell holds outside of itself.
    fn heap<V: Value>(cell: &Self::Cell<V>) -> usize;

    /// Whether no value was taken in.
    fn is_empty<V: Value>(cell: &Self::Cell<V>) -> bool;

    /// Writes a cell, to be read again.
    fn write<V: Value>(cell: &Self::Cell<V>, out: &mut Vec<u8>);

    /// Reads what was written; none for bytes that no cell was written as.
    fn read<V: Value>(reader: &mut Reader<'_>) -> Option<Self::Cell<V>>;

    /// The type of results over arguments of this type.
    fn output(options: &Self::Options, ty: FieldType) -> FieldType;

    /// The results of cells.
    fn values<'a, V: Value>(
        options: &Self::Options,
        ty: FieldType,
        cells: impl Iterator<Item = &'a Self::Cell<V>>,
    ) -> Result<ArrayRef, OutOfRange>;
}

/// The accumulator of a family.
pub(super) struct Cells<F: Family> {
    ty: FieldType,
    options: F::Options,
    kept: Kept<F>,
}

enum Kept<F: Family> {
    Words(Store<F, i64>),
    Decimals(Store<F, i128>),
    Texts(Store<F, Box<str>>),
}

struct Store<F: Family, V: Value> {
    cells: Vec<F::Cell<V>>,
    heap: usize,
}

impl<F: Family> Cells<F> {
    /// The state for arguments of this type.
    pub(super) fn new(ty: FieldType, options: F::Options) -> Self {
        let kept = match ty {
            FieldType::Text | FieldType::Json | FieldType::List(_) => Kept::Texts(Store::new()),
            FieldType::Decimal { .. } => Kept::Decimals(Store::new()),
            FieldType::Int | FieldType::Double | FieldType::Bool | FieldType::Time => Kept::Words(Store::new()),
        };
        Self { ty, options, kept }
    }

    fn to_text(&self) -> Result<Store<F, Box<str>>> {
        let ty = self.ty;
        match &self.kept {
            _ if ty == FieldType::Time => Err(cannot_widen(ty, FieldType::Text)),
            Kept::Words(store) => store.to_text(ty),
            Kept::Decimals(store) => store.to_text(ty),
            Kept::Texts(store) => Ok(store.map(Box::clone)),
        }
    }
}

/// The error for a change of type that the state cannot follow.
pub(super) fn cannot_widen(from: FieldType, to: FieldType) -> Error {
    Error::failed(format!("its field changed from {} to {} after values were taken in", from.name(), to.name()))
        .hint("declare the field's type with --schema")
}

impl<F: Family> Accumulator for Cells<F> {
    fn open(&mut self, slot: Slot) {
        match &mut self.kept {
            Kept::Words(store) => store.open(slot),
            Kept::Decimals(store) => store.open(slot),
            Kept::Texts(store) => store.open(slot),
        }
    }

    fn update(&mut self, slots: &[Slot], rows: &[u32], args: &[ArrayRef]) -> Result<()> {
        match &mut self.kept {
            Kept::Words(store) => store.update(self.ty, slots, rows, args),
            Kept::Decimals(store) => store.update(self.ty, slots, rows, args),
            Kept::Texts(store) => store.update(self.ty, slots, rows, args),
        }
    }

    fn merge(&mut self, into: Slot, from: Slot) {
        match &mut self.kept {
            Kept::Words(store) => store.merge(into, from),
            Kept::Decimals(store) => store.merge(into, from),
            Kept::Texts(store) => store.merge(into, from),
        }
    }

    fn widen(&mut self, arguments: &[FieldType]) -> Result<()> {
        let argument = arguments[0];
        let kept = match (self.ty, argument, &self.kept) {
            (from, to, _) if from == to => return Ok(()),
            (FieldType::Int, FieldType::Double, Kept::Words(store)) => {
                Kept::Words(store.map(|&integer| word_of_double(integer as f64)))
            }
            (_, FieldType::Text, _) => Kept::Texts(self.to_text()?),
            (from, to, _) => return Err(cannot_widen(from, to)),
        };
        self.kept = kept;
        self.ty = argument;
        Ok(())
    }

    fn values(&self, slots: &[Slot]) -> Result<ArrayRef, OutOfRange> {
        match &self.kept {
            Kept::Words(store) => store.values(&self.options, self.ty, slots),
            Kept::Decimals(store) => store.values(&self.options, self.ty, slots),
            Kept::Texts(store) => store.values(&self.options, self.ty, slots),
        }
    }

    fn output(&self) -> FieldType {
        F::output(&self.options, self.ty)
    }

    fn save(&self, slots: &[Slot]) -> Result<ArrayRef> {
        Ok(match &self.kept {
            Kept::Words(store) => store.save(slots),
            Kept::Decimals(store) => store.save(slots),
            Kept::Texts(store) => store.save(slots),
        })
    }

    fn load(&mut self, slots: &[Slot], saved: &ArrayRef) -> Result<()> {
        match &mut self.kept {
            Kept::Words(store) => store.load(slots, saved),
            Kept::Decimals(store) => store.load(slots, saved),
            Kept::Texts(store) => store.load(slots, saved),
        }
    }

    fn bytes(&self) -> usize {
        match &self.kept {
            Kept::Words(store) => store.bytes(),
            Kept::Decimals(store) => store.bytes(),
            Kept::Texts(store) => store.bytes(),
        }
    }
}

impl<F: Family, V: Value> Store<F, V> {
    fn new() -> Self {
        Self { cells: Vec::new(), heap: 0 }
    }

    fn open(&mut self, slot: Slot) {
        let Some(cell) = self.cells.get_mut(slot.index()) else {
            return super::reset(&mut self.cells, slot, F::Cell::default);
        };
        self.heap -= F::heap(cell);
        F::clear(cell);
        self.heap += F::heap(cell);
    }

    fn update(&mut self, ty: FieldType, slots: &[Slot], rows: &[u32], args: &[ArrayRef]) -> Result<()> {
        let Self { cells, heap } = self;
        let column = argument(args, 0)?;
        if F::ORDERED {
            let moments = Moments::of(args, 1)?;
            if F::NULLS
                && let Some(nulls) = column.logical_nulls()
            {
                each(slots, rows, Some(&NullBuffer::new(!nulls.inner())), |slot, row| {
                    F::take_null(&mut cells[slot], moments.get(row), heap)
                });
            }
            V::scan(column, ty, slots, rows, |slot, row, value| {
                F::take(&mut cells[slot], moments.get(row), value, heap);
            })
        } else {
            V::scan(column, ty, slots, rows, |slot, _, value| {
                F::take(&mut cells[slot], Moment::default(), value, heap);
            })
        }
    }

    fn merge(&mut self, into: Slot, from: Slot) {
        let other = std::mem::take(&mut self.cells[from.index()]);
        F::merge(&mut self.cells[into.index()], &other, &mut self.heap);
        self.cells[from.index()] = other;
    }

    fn map<W: Value>(&self, to: impl Fn(&V) -> W) -> Store<F, W> {
        let mut heap = 0;
        let cells = self.cells.iter().map(|cell| F::map(cell, &to, &mut heap)).collect();
        Store { cells, heap }
    }

    fn to_text(&self, ty: FieldType) -> Result<Store<F, Box<str>>> {
        if !F::may_become_text(ty) && !self.cells.iter().all(F::is_empty) {
            return Err(cannot_widen(ty, FieldType::Text));
        }
        Ok(self.map(|value| value.text(ty)))
    }

    fn values(&self, options: &F::Options, ty: FieldType, slots: &[Slot]) -> Result<ArrayRef, OutOfRange> {
        F::values(options, ty, slots.iter().map(|slot| &self.cells[slot.index()]))
    }

    fn save(&self, slots: &[Slot]) -> ArrayRef {
        save_each(slots, |slot, out| F::write(&self.cells[slot.index()], out))
    }

    fn load(&mut self, slots: &[Slot], saved: &ArrayRef) -> Result<()> {
        let Self { cells, heap } = self;
        load_each(slots, saved, |slot, reader| {
            let cell = &mut cells[slot.index()];
            *heap -= F::heap(cell);
            let read = F::read(reader);
            let is_read = read.is_some();
            *cell = read.unwrap_or_default();
            *heap += F::heap(cell);
            is_read.then_some(())
        })
    }

    fn bytes(&self) -> usize {
        self.cells.capacity() * size_of::<F::Cell<V>>() + self.heap
    }
}
