//! `DISTINCT` before the argument of any function: each slot keeps its different values, and a state of the function
//! itself is fed with them whenever results are asked for.
//!
//! Beside each value stands the first moment it came, so that functions that go by time see it there. Must not know
//! any one function.

use super::cells::{Cells, Family};
use super::column::{Moment, order_columns};
use super::saved::Reader;
use super::value::Value;
use super::value_map::ValueMap;
use super::{Accumulator, Arguments, OutOfRange, Slot};
use crate::error::Error;
use crate::schema::{FieldType, Literal};
use arrow::array::ArrayRef;

type Build = fn(Arguments<'_>) -> Box<dyn Accumulator>;

/// The state that `build` makes, over different values where `DISTINCT` was said.
pub(super) fn wrap<const ORDERED: bool>(arguments: Arguments<'_>, build: Build) -> Box<dyn Accumulator> {
    match arguments.first().filter(|_| arguments.distinct) {
        None => build(arguments),
        Some(ty) => {
            let options = Function { build, constants: arguments.constants.to_vec() };
            Box::new(Cells::<DistinctOf<ORDERED>>::new(ty, options))
        }
    }
}

/// The function that is fed.
#[derive(Clone)]
pub(super) struct Function {
    build: Build,
    constants: Vec<Literal>,
}

impl Function {
    fn state(&self, ty: FieldType) -> Box<dyn Accumulator> {
        (self.build)(Arguments { types: &[ty], constants: &self.constants, distinct: false })
    }
}

/// Different values and the first moment of each; null apart.
pub(super) struct Firsts<V> {
    values: ValueMap<V, Moment>,
    null: Option<Moment>,
}

impl<V> Default for Firsts<V> {
    fn default() -> Self {
        Self { values: ValueMap::Empty, null: None }
    }
}

impl<V: Value> Firsts<V> {
    #[inline]
    fn add(&mut self, value: &V::Ref, at: Moment, heap: &mut usize) {
        self.values.fold(value, at, |first, at| *first = at.min(*first), heap);
    }

    fn add_null(&mut self, at: Moment) {
        self.null = Some(self.null.map_or(at, |first| first.min(at)));
    }
}

struct DistinctOf<const ORDERED: bool>;

impl<const ORDERED: bool> Family for DistinctOf<ORDERED> {
    type Options = Function;
    type Cell<V: Value> = Firsts<V>;

    const ORDERED: bool = ORDERED;
    const NULLS: bool = ORDERED;

    #[inline]
    fn take<V: Value>(cell: &mut Firsts<V>, at: Moment, value: &V::Ref, heap: &mut usize) {
        cell.add(value, at, heap);
    }

    fn take_null<V: Value>(cell: &mut Firsts<V>, at: Moment, _: &mut usize) {
        cell.add_null(at);
    }

    fn merge<V: Value>(into: &mut Firsts<V>, from: &Firsts<V>, heap: &mut usize) {
        from.values.for_each(|value, at| into.add(value.borrow(), *at, heap));
        from.null.into_iter().for_each(|at| into.add_null(at));
    }

    fn map<V: Value, W: Value>(cell: &Firsts<V>, to: impl Fn(&V) -> W, heap: &mut usize) -> Firsts<W> {
        let mut new = Firsts { values: ValueMap::Empty, null: cell.null };
        cell.values.for_each(|value, at| new.add(to(value).borrow(), *at, heap));
        new
    }

    fn may_become_text(_: FieldType) -> bool {
        true
    }

    fn heap<V: Value>(cell: &Firsts<V>) -> usize {
        cell.values.heap()
    }

    fn is_empty<V: Value>(cell: &Firsts<V>) -> bool {
        cell.values.is_empty() && cell.null.is_none()
    }

    fn write<V: Value>(cell: &Firsts<V>, out: &mut Vec<u8>) {
        cell.values.write(out, |at, out| at.write(out));
        out.push(u8::from(cell.null.is_some()));
        cell.null.into_iter().for_each(|at| at.write(out));
    }

    fn read<V: Value>(reader: &mut Reader<'_>) -> Option<Firsts<V>> {
        let values = ValueMap::read(reader, Moment::read)?;
        let null = if reader.flag()? { Some(Moment::read(reader)?) } else { None };
        Some(Firsts { values, null })
    }

    fn output(function: &Function, ty: FieldType) -> FieldType {
        function.state(ty).output()
    }

    fn values<'a, V: Value>(
        function: &Function,
        ty: FieldType,
        cells: impl Iterator<Item = &'a Firsts<V>>,
    ) -> Result<ArrayRef, OutOfRange> {
        let mut state = function.state(ty);
        let mut fed = Fed::default();
        let mut asked = Vec::new();
        for (index, cell) in cells.enumerate() {
            let slot = Slot(index as u32);
            state.open(slot);
            asked.push(slot);
            cell.values.for_each(|value, at| fed.push(slot, *at, Some(value)));
            cell.null.into_iter().for_each(|at| fed.push(slot, at, None));
        }
        let rows: Vec<u32> = (0..fed.slots.len() as u32).collect();
        let mut args = vec![V::array(ty, fed.values.iter().map(|value| value.map(V::borrow)))];
        if ORDERED {
            args.extend(order_columns(&fed.moments));
        }
        state.update(&fed.slots, &rows, &args).map_err(|error| unfit(&error))?;
        state.values(&asked)
    }
}

/// Rows for the function.
struct Fed<'a, V> {
    slots: Vec<Slot>,
    moments: Vec<Moment>,
    values: Vec<Option<&'a V>>,
}

impl<V> Default for Fed<'_, V> {
    fn default() -> Self {
        Self { slots: Vec::new(), moments: Vec::new(), values: Vec::new() }
    }
}

impl<'a, V> Fed<'a, V> {
    fn push(&mut self, slot: Slot, at: Moment, value: Option<&'a V>) {
        self.slots.push(slot);
        self.moments.push(at);
        self.values.push(value);
    }
}

fn unfit(error: &Error) -> OutOfRange {
    OutOfRange { index: 0, what: error.message().to_string(), hint: "declare the type of FIELD with --schema" }
}
