//! `mode`: the value that is there most often; of several the smallest.
//!
//! Must not know columns.

use super::cells::{Cells, Family};
use super::column::Moment;
use super::saved::{Reader, write_u64};
use super::value::Value;
use super::value_map::ValueMap;
use super::{AggregateKind, OutOfRange, Takes, distinct_of};
use crate::schema::FieldType;
use arrow::array::ArrayRef;
use std::cmp::Reverse;

/// `mode(x)`.
pub(super) static MODE: AggregateKind = AggregateKind {
    name: "mode",
    usage: "mode(x)",
    doc: "the most frequent value, of several the smallest; null over nothing",
    aliases: &[],
    takes: &[Takes::Anything],
    optional: 0,
    rows: false,
    distinct: true,
    ordered: false,
    build: |arguments| {
        distinct_of::wrap::<false>(arguments, |arguments| {
            Box::new(Cells::<Mode>::new(arguments.first().unwrap_or(FieldType::Text), ()))
        })
    },
};

struct Mode;

type Counts<V> = ValueMap<V, u64>;

fn add<V: Value>(cell: &mut Counts<V>, value: &V::Ref, rows: u64, heap: &mut usize) {
    cell.fold(value, rows, |all, more| *all = all.saturating_add(more), heap);
}

impl Family for Mode {
    type Options = ();
    type Cell<V: Value> = Counts<V>;

    const ORDERED: bool = false;

    #[inline]
    fn take<V: Value>(cell: &mut Counts<V>, _: Moment, value: &V::Ref, heap: &mut usize) {
        add(cell, value, 1, heap);
    }

    fn merge<V: Value>(into: &mut Counts<V>, from: &Counts<V>, heap: &mut usize) {
        from.for_each(|value, &rows| add(into, value.borrow(), rows, heap));
    }

    fn map<V: Value, W: Value>(cell: &Counts<V>, to: impl Fn(&V) -> W, heap: &mut usize) -> Counts<W> {
        let mut new = Counts::Empty;
        cell.for_each(|value, &rows| add(&mut new, to(value).borrow(), rows, heap));
        new
    }

    fn may_become_text(_: FieldType) -> bool {
        true
    }

    fn heap<V: Value>(cell: &Counts<V>) -> usize {
        cell.heap()
    }

    fn is_empty<V: Value>(cell: &Counts<V>) -> bool {
        cell.is_empty()
    }

    fn write<V: Value>(cell: &Counts<V>, out: &mut Vec<u8>) {
        cell.write(out, |&rows, out| write_u64(rows, out));
    }

    fn read<V: Value>(reader: &mut Reader<'_>) -> Option<Counts<V>> {
        ValueMap::read(reader, |reader| reader.rows())
    }

    fn output(_: &(), ty: FieldType) -> FieldType {
        ty
    }

    fn values<'a, V: Value>(
        _: &(),
        ty: FieldType,
        cells: impl Iterator<Item = &'a Counts<V>>,
    ) -> Result<ArrayRef, OutOfRange> {
        Ok(V::array(ty, cells.map(|cell| most_frequent(cell).map(V::borrow))))
    }
}

fn most_frequent<V: Value>(cell: &Counts<V>) -> Option<&V> {
    let mut best: Option<(&V, u64)> = None;
    cell.for_each(|value, &rows| {
        if best.is_none_or(|(old, most)| (rows, Reverse(value.key())) > (most, Reverse(old.key()))) {
            best = Some((value, rows));
        }
    });
    best.map(|(value, _)| value)
}
