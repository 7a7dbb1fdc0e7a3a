//! `count(DISTINCT x)`: how many different values, exactly.
//!
//! One set per slot. Must not know columns.

use super::Accumulator;
use super::OutOfRange;
use super::cells::{Cells, Family};
use super::column::Moment;
use super::saved::Reader;
use super::value::Value;
use super::value_map::ValueMap;
use crate::schema::FieldType;
use arrow::array::{ArrayRef, Int64Array};
use std::sync::Arc;

/// The state for arguments of this type.
pub(super) fn build(argument: FieldType) -> Box<dyn Accumulator> {
    Box::new(Cells::<Distinct>::new(argument, ()))
}

struct Distinct;

type Set<V> = ValueMap<V, ()>;

impl Family for Distinct {
    type Options = ();
    type Cell<V: Value> = Set<V>;

    const ORDERED: bool = false;

    #[inline]
    fn take<V: Value>(cell: &mut Set<V>, _: Moment, value: &V::Ref, heap: &mut usize) {
        cell.fold(value, (), |_, ()| {}, heap);
    }

    fn merge<V: Value>(into: &mut Set<V>, from: &Set<V>, heap: &mut usize) {
        from.for_each(|value, _| into.fold(value.borrow(), (), |_, ()| {}, heap));
    }

    fn map<V: Value, W: Value>(cell: &Set<V>, to: impl Fn(&V) -> W, heap: &mut usize) -> Set<W> {
        let mut new = Set::Empty;
        cell.for_each(|value, _| new.fold(to(value).borrow(), (), |_, ()| {}, heap));
        new
    }

    fn may_become_text(_: FieldType) -> bool {
        true
    }

    fn heap<V: Value>(cell: &Set<V>) -> usize {
        cell.heap()
    }

    fn is_empty<V: Value>(cell: &Set<V>) -> bool {
        cell.is_empty()
    }

    fn write<V: Value>(cell: &Set<V>, out: &mut Vec<u8>) {
        cell.write(out, |_, _| {});
    }

    fn read<V: Value>(reader: &mut Reader<'_>) -> Option<Set<V>> {
        ValueMap::read(reader, |_| Some(()))
    }

    fn output(_: &(), _: FieldType) -> FieldType {
        FieldType::Int
    }

    fn values<'a, V: Value>(
        _: &(),
        _: FieldType,
        cells: impl Iterator<Item = &'a Set<V>>,
    ) -> Result<ArrayRef, OutOfRange> {
        Ok(Arc::new(Int64Array::from_iter_values(cells.map(|set| set.len() as i64))))
    }
}
