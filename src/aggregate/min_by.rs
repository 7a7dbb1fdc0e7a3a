//! `min_by` and `max_by`: the value of one argument where another is least or greatest.
//!
//! Rows where either is null do not count. Of several rows with the same least value the earliest counts, by event
//! time, then position, which belongs to one row alone: the order in which rows arrive cannot show.

use super::cells::cannot_widen;
use super::column::{Moment, Moments, argument, each};
use super::datum::{self, Column, Datum, Look};
use super::saved::{Reader, load_each, save_each};
use super::{Accumulator, AggregateKind, Arguments, OutOfRange, Slot, Takes};
use crate::error::Result;
use crate::schema::FieldType;
use arrow::array::ArrayRef;
use std::cmp::Ordering;

/// `min_by(x, y)`.
pub(super) static MIN_BY: AggregateKind = AggregateKind {
    name: "min_by",
    usage: "min_by(x, y)",
    doc: "x where y is least, ties by event time, then position; rows where either is null do not count; null over \
          nothing",
    aliases: &["arg_min"],
    takes: &[Takes::Anything, Takes::Anything],
    optional: 0,
    rows: false,
    distinct: false,
    ordered: true,
    build: build::<false>,
};

/// `max_by(x, y)`.
pub(super) static MAX_BY: AggregateKind = AggregateKind {
    name: "max_by",
    usage: "max_by(x, y)",
    doc: "x where y is greatest, ties by event time, then position; rows where either is null do not count; null over \
          nothing",
    aliases: &["arg_max"],
    build: build::<true>,
    ..MIN_BY
};

fn build<const GREATEST: bool>(arguments: Arguments<'_>) -> Box<dyn Accumulator> {
    let ty = |place: usize| arguments.types.get(place).copied().unwrap_or(FieldType::Text);
    Box::new(Best::<GREATEST> { types: [ty(0), ty(1)], cells: Vec::new(), heap: 0 })
}

/// The best row so far.
struct Row {
    shown: Datum,
    by: Datum,
    at: Moment,
}

impl Row {
    fn heap(&self) -> usize {
        self.shown.heap() + self.by.heap()
    }

    fn read(types: [FieldType; 2], reader: &mut Reader<'_>) -> Option<Row> {
        let [shown, by] = types;
        Some(Row { shown: Datum::read(shown, reader)?, by: Datum::read(by, reader)?, at: Moment::read(reader)? })
    }
}

struct Best<const GREATEST: bool> {
    types: [FieldType; 2],
    cells: Vec<Option<Row>>,
    heap: usize,
}

impl<const GREATEST: bool> Best<GREATEST> {
    #[inline]
    fn take(cell: &mut Option<Row>, shown: Look<'_>, by: Look<'_>, at: Moment, heap: &mut usize) {
        let stays = cell.as_ref().is_some_and(|row| {
            let order = row.by.look().cmp(&by);
            let order = if GREATEST { order.reverse() } else { order };
            order.then_with(|| row.at.cmp(&at)) != Ordering::Greater
        });
        if !stays {
            let row = Row { shown: shown.own(), by: by.own(), at };
            *heap += row.heap();
            *heap -= cell.replace(row).map_or(0, |old| old.heap());
        }
    }

    fn check(&self, to: [FieldType; 2]) -> Result<()> {
        let empty = self.cells.iter().all(Option::is_none);
        for (place, (from, to)) in self.types.into_iter().zip(to).enumerate() {
            let ordered = place == 1;
            let follows = match (from, to) {
                _ if from == to || empty => true,
                (FieldType::Int, FieldType::Double) => true,
                // Text orders 10 before 9, so the row with the least number need not have the least text.
                (_, FieldType::Text) => from != FieldType::Time && (!ordered || from == FieldType::Bool),
                _ => false,
            };
            if !follows {
                return Err(cannot_widen(from, to));
            }
        }
        Ok(())
    }
}

impl<const GREATEST: bool> Accumulator for Best<GREATEST> {
    fn open(&mut self, slot: Slot) {
        if let Some(Some(old)) = self.cells.get(slot.index()) {
            self.heap -= old.heap();
        }
        super::reset(&mut self.cells, slot, || None);
    }

    fn update(&mut self, slots: &[Slot], rows: &[u32], args: &[ArrayRef]) -> Result<()> {
        let shown = Column::of(argument(args, 0)?, self.types[0])?;
        let by = Column::of(argument(args, 1)?, self.types[1])?;
        let moments = Moments::of(args, 2)?;
        let Self { cells, heap, .. } = self;
        each(slots, rows, None, |slot, row| {
            if let (Some(by), Some(shown)) = (by.get(row), shown.get(row)) {
                Self::take(&mut cells[slot], shown, by, moments.get(row), heap);
            }
        });
        Ok(())
    }

    fn merge(&mut self, into: Slot, from: Slot) {
        let Some(other) = self.cells[from.index()].take() else { return };
        Self::take(&mut self.cells[into.index()], other.shown.look(), other.by.look(), other.at, &mut self.heap);
        self.cells[from.index()] = Some(other);
    }

    fn widen(&mut self, arguments: &[FieldType]) -> Result<()> {
        let to = [arguments[0], arguments[1]];
        self.check(to)?;
        let [shown, by] = self.types;
        for row in self.cells.iter_mut().flatten() {
            self.heap -= row.heap();
            if shown != to[0] {
                row.shown = row.shown.widened(shown, to[0]);
            }
            if by != to[1] {
                row.by = row.by.widened(by, to[1]);
            }
            self.heap += row.heap();
        }
        self.types = to;
        Ok(())
    }

    fn values(&self, slots: &[Slot]) -> Result<ArrayRef, OutOfRange> {
        let rows = slots.iter().map(|slot| self.cells[slot.index()].as_ref());
        Ok(datum::array(self.types[0], rows.map(|row| row.map(|row| &row.shown))))
    }

    fn output(&self) -> FieldType {
        self.types[0]
    }

    fn save(&self, slots: &[Slot]) -> Result<ArrayRef> {
        Ok(save_each(slots, |slot, out| {
            let cell = &self.cells[slot.index()];
            out.push(u8::from(cell.is_some()));
            if let Some(Row { shown, by, at }) = cell {
                shown.write(out);
                by.write(out);
                at.write(out);
            }
        }))
    }

    fn load(&mut self, slots: &[Slot], saved: &ArrayRef) -> Result<()> {
        let types = self.types;
        load_each(slots, saved, |slot, reader| {
            self.open(slot);
            if reader.flag()? {
                let row = Row::read(types, reader)?;
                self.heap += row.heap();
                self.cells[slot.index()] = Some(row);
            }
            Some(())
        })
    }

    fn bytes(&self) -> usize {
        self.cells.capacity() * size_of::<Option<Row>>() + self.heap
    }
}
