//! `min` and `max`: the least and the greatest value, of any type; of truth values these are `bool_and` and `bool_or`.
//! `DISTINCT` makes no difference to them.
//!
//! Must not know columns. The order is [`Value`]'s, so equal values are the same value and the rows' order cannot show.

use super::cells::{Cells, Family};
use super::column::Moment;
use super::saved::Reader;
use super::value::Value;
use super::{Accumulator, AggregateKind, Arguments, OutOfRange, Takes};
use crate::schema::FieldType;
use arrow::array::ArrayRef;

/// `min(x)`.
pub(super) static MIN: AggregateKind =
    least("min", "min(x)", "the least value; text by bytes, false before true; null over nothing", &[Takes::Anything]);

/// `max(x)`.
pub(super) static MAX: AggregateKind =
    greatest("max", "max(x)", "the greatest value; NaN is above all numbers; null over nothing", &[Takes::Anything]);

/// `bool_and(x)`: the least truth value.
pub(super) static BOOL_AND: AggregateKind =
    least("bool_and", "bool_and(x)", "whether all values are true; null over nothing", &[Takes::Truth]);

/// `bool_or(x)`: the greatest truth value.
pub(super) static BOOL_OR: AggregateKind =
    greatest("bool_or", "bool_or(x)", "whether any value is true; null over nothing", &[Takes::Truth]);

const fn least(name: &'static str, usage: &'static str, doc: &'static str, takes: &'static [Takes]) -> AggregateKind {
    AggregateKind {
        name,
        usage,
        doc,
        aliases: &[],
        takes,
        optional: 0,
        rows: false,
        distinct: true,
        ordered: false,
        build: build::<false>,
    }
}

const fn greatest(
    name: &'static str,
    usage: &'static str,
    doc: &'static str,
    takes: &'static [Takes],
) -> AggregateKind {
    AggregateKind { build: build::<true>, ..least(name, usage, doc, takes) }
}

fn build<const GREATEST: bool>(arguments: Arguments<'_>) -> Box<dyn Accumulator> {
    Box::new(Cells::<Extremum<GREATEST>>::new(arguments.first().unwrap_or(FieldType::Text), ()))
}

struct Extremum<const GREATEST: bool>;

impl<const GREATEST: bool> Family for Extremum<GREATEST> {
    type Options = ();
    type Cell<V: Value> = Option<V>;

    const ORDERED: bool = false;

    #[inline]
    fn take<V: Value>(cell: &mut Option<V>, _: Moment, value: &V::Ref, heap: &mut usize) {
        let stays = cell.as_ref().is_some_and(|old| keeps::<V, GREATEST>(old, value));
        if !stays {
            let new = V::own(value);
            *heap += new.heap();
            *heap -= cell.replace(new).map_or(0, |old| old.heap());
        }
    }

    fn merge<V: Value>(into: &mut Option<V>, from: &Option<V>, heap: &mut usize) {
        if let Some(value) = from {
            Self::take(into, Moment::default(), value.borrow(), heap);
        }
    }

    fn map<V: Value, W: Value>(cell: &Option<V>, to: impl Fn(&V) -> W, heap: &mut usize) -> Option<W> {
        let new = cell.as_ref().map(to);
        *heap += Self::heap(&new);
        new
    }

    /// Text orders `10` before `9`, so the least number tells nothing of the least text.
    fn may_become_text(ty: FieldType) -> bool {
        ty == FieldType::Bool
    }

    fn heap<V: Value>(cell: &Option<V>) -> usize {
        cell.as_ref().map_or(0, V::heap)
    }

    fn is_empty<V: Value>(cell: &Option<V>) -> bool {
        cell.is_none()
    }

    fn write<V: Value>(cell: &Option<V>, out: &mut Vec<u8>) {
        out.push(u8::from(cell.is_some()));
        cell.iter().for_each(|value| value.write(out));
    }

    fn read<V: Value>(reader: &mut Reader<'_>) -> Option<Option<V>> {
        Some(if reader.flag()? { Some(V::read(reader)?) } else { None })
    }

    fn output(_: &(), ty: FieldType) -> FieldType {
        ty
    }

    fn values<'a, V: Value>(
        _: &(),
        ty: FieldType,
        cells: impl Iterator<Item = &'a Option<V>>,
    ) -> Result<ArrayRef, OutOfRange> {
        Ok(V::array(ty, cells.map(|cell| cell.as_ref().map(V::borrow))))
    }
}

/// Whether the old value stays when `new` comes.
#[inline]
fn keeps<V: Value, const GREATEST: bool>(old: &V, new: &V::Ref) -> bool {
    let order = old.borrow().cmp(new);
    if GREATEST { order.is_ge() } else { order.is_le() }
}
