//! `first` and `last`: the value at the earliest and at the latest event time, ties by position; nulls do not count.
//!
//! Must not know columns. A position belongs to one row alone, so the order in which rows arrive cannot show.

use super::cells::{Cells, Family};
use super::column::Moment;
use super::saved::Reader;
use super::value::Value;
use super::{Accumulator, AggregateKind, Arguments, OutOfRange, Takes};
use crate::schema::FieldType;
use arrow::array::ArrayRef;

/// `first(x)`.
pub(super) static FIRST: AggregateKind = AggregateKind {
    name: "first",
    usage: "first(x)",
    doc: "the value at the earliest event time, ties by position; null over nothing",
    aliases: &[],
    takes: &[Takes::Anything],
    optional: 0,
    rows: false,
    distinct: false,
    ordered: true,
    build: build::<false>,
};

/// `last(x)`.
pub(super) static LAST: AggregateKind = AggregateKind {
    name: "last",
    usage: "last(x)",
    doc: "the value at the latest event time, ties by position; null over nothing",
    aliases: &[],
    takes: &[Takes::Anything],
    optional: 0,
    rows: false,
    distinct: false,
    ordered: true,
    build: build::<true>,
};

/// `any_value(x)`: the first, so that it is the same in every run.
pub(super) static ANY_VALUE: AggregateKind = AggregateKind {
    name: "any_value",
    usage: "any_value(x)",
    doc: "one of the values, in every run the same: that of first(x); null over nothing",
    aliases: &["arbitrary"],
    takes: &[Takes::Anything],
    optional: 0,
    rows: false,
    distinct: true,
    ordered: true,
    build: build::<false>,
};

fn build<const LATEST: bool>(arguments: Arguments<'_>) -> Box<dyn Accumulator> {
    Box::new(Cells::<FirstLast<LATEST>>::new(arguments.first().unwrap_or(FieldType::Text), ()))
}

struct FirstLast<const LATEST: bool>;

impl<const LATEST: bool> Family for FirstLast<LATEST> {
    type Options = ();
    type Cell<V: Value> = Option<(Moment, V)>;

    const ORDERED: bool = true;

    #[inline]
    fn take<V: Value>(cell: &mut Option<(Moment, V)>, at: Moment, value: &V::Ref, heap: &mut usize) {
        let stays = cell.as_ref().is_some_and(|&(old, _)| if LATEST { old >= at } else { old <= at });
        if !stays {
            let new = V::own(value);
            *heap += new.heap();
            *heap -= cell.replace((at, new)).map_or(0, |(_, old)| old.heap());
        }
    }

    fn merge<V: Value>(into: &mut Option<(Moment, V)>, from: &Option<(Moment, V)>, heap: &mut usize) {
        if let Some((at, value)) = from {
            Self::take(into, *at, value.borrow(), heap);
        }
    }

    fn map<V: Value, W: Value>(
        cell: &Option<(Moment, V)>,
        to: impl Fn(&V) -> W,
        heap: &mut usize,
    ) -> Option<(Moment, W)> {
        let new = cell.as_ref().map(|(at, value)| (*at, to(value)));
        *heap += Self::heap(&new);
        new
    }

    fn may_become_text(_: FieldType) -> bool {
        true
    }

    fn heap<V: Value>(cell: &Option<(Moment, V)>) -> usize {
        cell.as_ref().map_or(0, |(_, value)| value.heap())
    }

    fn is_empty<V: Value>(cell: &Option<(Moment, V)>) -> bool {
        cell.is_none()
    }

    fn write<V: Value>(cell: &Option<(Moment, V)>, out: &mut Vec<u8>) {
        out.push(u8::from(cell.is_some()));
        if let Some((at, value)) = cell {
            at.write(out);
            value.write(out);
        }
    }

    fn read<V: Value>(reader: &mut Reader<'_>) -> Option<Option<(Moment, V)>> {
        Some(if reader.flag()? { Some((Moment::read(reader)?, V::read(reader)?)) } else { None })
    }

    fn output(_: &(), ty: FieldType) -> FieldType {
        ty
    }

    fn values<'a, V: Value>(
        _: &(),
        ty: FieldType,
        cells: impl Iterator<Item = &'a Option<(Moment, V)>>,
    ) -> Result<ArrayRef, OutOfRange> {
        Ok(V::array(ty, cells.map(|cell| cell.as_ref().map(|(_, value)| value.borrow()))))
    }
}
