//! The table of a lookup: its rows, and which of them have which key.
//!
//! Rows stay in the batches they came in; a key has a list of places, by time where the lookup goes by time and else in
//! the table's order. Must not know events. Invariant: rows with a null in their key are in no list.

use super::as_of::Versions;
use crate::error::{Error, Result};
use crate::event::{Position, Positions, Side};
use crate::operator::pair::plain;
use crate::operator::sides::{Equalities, as_type};
use crate::plan::{Direction, Pick};
use crate::schema::FieldType;
use crate::time::Ts;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, new_null_array};
use arrow::datatypes::{Field, Schema, TimestampMicrosecondType};
use hashbrown::HashTable;
use std::ops::Range;
use std::sync::Arc;

/// The rows of a table as they were read.
pub struct TableRows {
    /// The types of their columns.
    pub types: Vec<FieldType>,
    /// The types as the first rows had them: what could be equal then is compared as text if it no longer can.
    pub first_types: Vec<FieldType>,
    /// The rows in the table's order. The first column is their time where the lookup goes by time.
    pub batches: Vec<RecordBatch>,
    /// The column that says of a row that it ends the version before it.
    pub delete: Option<usize>,
    /// The columns of the fields that a pair has of the table.
    pub payload: Vec<usize>,
    /// Where each batch's rows stand in the inputs; may be empty.
    pub positions: Vec<Positions>,
    /// What the inputs are called.
    pub names: Vec<String>,
}

/// Where a row stands; orders as the table does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) batch: u32,
    pub(super) row: u32,
}

/// Keys to the places of their rows.
#[derive(Default)]
pub(super) struct Index {
    table: HashTable<u32>,
    lists: Vec<List>,
    arena: Vec<u8>,
    places: Vec<Place>,
    /// The times of the places; empty where time does not matter.
    times: Vec<Ts>,
    /// Whether the row at a place ends a version; empty where none does.
    ends: Vec<bool>,
}

/// The rows of one key.
#[derive(Debug)]
struct List {
    hash: u64,
    start: usize,
    len: u32,
    /// How many rows it has.
    rows: usize,
    /// Its first row in the table.
    first: Place,
    /// Where its places begin.
    from: usize,
}

impl Index {
    /// Of all rows of a table that can be picked. Refuses a second row with the same key where there may be one only.
    pub(super) fn new(table: &TableRows, on: &Equalities, pick: &Pick) -> Result<Self> {
        let mut index = Self::default();
        let mut rows = Vec::new();
        for (batch, columns) in table.batches.iter().enumerate() {
            let side = on.encode(Side::Right, columns);
            for row in (0..columns.num_rows()).filter(|&row| side.is_valid(row)) {
                let place = Place { batch: batch as u32, row: row as u32 };
                let key = side.keys.index(row);
                let list = index.list_of(side.keys.hash(key), side.keys.key(key), place);
                match pick {
                    Pick::Only if index.lists[list as usize].rows > 0 => {
                        return Err(index.second(list, place, table, on));
                    }
                    Pick::First if index.lists[list as usize].rows > 0 => {}
                    _ => {
                        index.lists[list as usize].rows += 1;
                        rows.push((list, place));
                    }
                }
            }
        }
        index.spread(&rows);
        if let Pick::AsOf(as_of) = pick {
            index.order(table, as_of.direction);
        }
        Ok(index)
    }

    /// The list of a key, which begins with `place` if it is new.
    fn list_of(&mut self, hash: u64, key: &[u8], place: Place) -> u32 {
        if let Some(list) = self.find(hash, key) {
            return list;
        }
        let list = self.lists.len() as u32;
        let (start, len) = (self.arena.len(), key.len() as u32);
        self.arena.extend_from_slice(key);
        self.lists.push(List { hash, start, len, rows: 0, first: place, from: 0 });
        let lists = &self.lists;
        self.table.insert_unique(hash, list, |&list| lists[list as usize].hash);
        list
    }

    /// The list of a key.
    #[inline]
    pub(super) fn find(&self, hash: u64, key: &[u8]) -> Option<u32> {
        let found = self.table.find(hash, |&list| {
            let list = &self.lists[list as usize];
            list.hash == hash && self.key(list) == key
        });
        found.copied()
    }

    fn key(&self, list: &List) -> &[u8] {
        &self.arena[list.start..][..list.len as usize]
    }

    /// Puts the rows of each list side by side.
    fn spread(&mut self, rows: &[(u32, Place)]) {
        let mut from = 0;
        for list in &mut self.lists {
            list.from = from;
            from += list.rows;
        }
        let mut next: Vec<usize> = self.lists.iter().map(|list| list.from).collect();
        self.places = vec![Place { batch: 0, row: 0 }; rows.len()];
        for (list, place) in rows {
            let at = &mut next[*list as usize];
            self.places[*at] = *place;
            *at += 1;
        }
    }

    /// Orders each list by time, and leaves out the ends of versions that change nothing.
    fn order(&mut self, table: &TableRows, direction: Direction) {
        let source = Source::new(table);
        let (places, mut rows) = (std::mem::take(&mut self.places), Vec::new());
        for list in &mut self.lists {
            rows.clear();
            rows.extend(places[list.from..][..list.rows].iter().map(|&place| (source.time(place), place)));
            rows.sort_unstable();
            list.from = self.places.len();
            let mut version_is_over = true;
            for &(ts, place) in &rows {
                let ends = source.ends(place);
                if !ends || !version_is_over && direction != Direction::Forward {
                    self.places.push(place);
                    self.times.push(ts);
                    self.ends.extend(source.delete.is_some().then_some(ends));
                }
                version_is_over = ends;
            }
            list.rows = self.places.len() - list.from;
        }
    }

    /// The places of all rows of a list.
    pub(super) fn places(&self, list: u32) -> &[Place] {
        &self.places[self.range(list)]
    }

    /// The times of the same.
    pub(super) fn versions(&self, list: u32) -> Versions<'_> {
        let range = self.range(list);
        Versions { times: &self.times[range.clone()], ends: self.ends.get(range).unwrap_or_default() }
    }

    fn range(&self, list: u32) -> Range<usize> {
        let list = &self.lists[list as usize];
        list.from..list.from + list.rows
    }

    /// How many rows may be picked.
    pub(super) fn rows(&self) -> usize {
        self.places.len()
    }

    /// Bytes of memory held.
    pub(super) fn bytes(&self) -> usize {
        self.table.capacity() * 5
            + self.lists.capacity() * size_of::<List>()
            + self.arena.capacity()
            + self.places.capacity() * size_of::<Place>()
            + self.times.capacity() * size_of::<Ts>()
            + self.ends.capacity()
    }

    fn second(&self, list: u32, place: Place, table: &TableRows, on: &Equalities) -> Error {
        let list = &self.lists[list as usize];
        let places = table.describe(list.first, place);
        Error::failed(format!("{places} have the same key: {}", on.show(Side::Right, self.key(list))))
            .hint("--first takes the first row of a key, --all every one")
    }
}

/// The columns of a table that time has to do with.
struct Source<'a> {
    batches: &'a [RecordBatch],
    delete: Option<usize>,
}

impl<'a> Source<'a> {
    fn new(table: &'a TableRows) -> Self {
        Self { batches: &table.batches, delete: table.delete }
    }

    fn time(&self, place: Place) -> Ts {
        let times = self.batches[place.batch as usize].column(0).as_primitive::<TimestampMicrosecondType>();
        Ts::from_micros(times.value(place.row as usize))
    }

    /// Whether a row ends the version before it: null is not true.
    fn ends(&self, place: Place) -> bool {
        self.delete.is_some_and(|column| {
            let ends = self.batches[place.batch as usize].column(column).as_boolean();
            ends.is_valid(place.row as usize) && ends.value(place.row as usize)
        })
    }
}

impl TableRows {
    /// The same with every column of its own type, none of them a dictionary: rows are picked one by one.
    pub(super) fn plain(mut self) -> Result<Self> {
        let each = self.types.iter().enumerate().map(|(i, ty)| Field::new(i.to_string(), ty.arrow(), true));
        let schema = Arc::new(Schema::new(each.collect::<Vec<_>>()));
        for batch in &mut self.batches {
            let each = batch.columns().iter().zip(&self.types);
            let columns = each.map(|(column, ty)| plain(&as_type(column, *ty), &ty.arrow())).collect::<Result<_>>()?;
            *batch = RecordBatch::try_new(Arc::clone(&schema), columns)
                .map_err(|e| Error::failed(format!("cannot put the table together: {e}")))?;
        }
        Ok(self)
    }

    /// The columns that a pair has: batch by batch, and a null behind them.
    pub(super) fn columns(&self) -> Vec<Vec<ArrayRef>> {
        let each = self.payload.iter().map(|&column| {
            let pieces = self.batches.iter().map(|batch| Arc::clone(batch.column(column)));
            pieces.chain([new_null_array(&self.types[column].arrow(), 1)]).collect()
        });
        each.collect()
    }

    /// Bytes of memory that its rows take.
    pub(super) fn bytes(&self) -> usize {
        let columns = self.batches.iter().flat_map(RecordBatch::columns);
        columns.map(|column| column.to_data().get_slice_memory_size().unwrap_or_default()).sum()
    }

    /// Where a row stands in its input, if that is known.
    fn position(&self, place: Place) -> Option<Position> {
        self.positions.get(place.batch as usize).map(|positions| positions.get(place.row as usize))
    }

    fn name(&self, input: usize) -> &str {
        self.names.get(input).map_or("the table", String::as_str)
    }

    /// Two rows as people find them: `users.csv: records 3 and 17`.
    fn describe(&self, first: Place, second: Place) -> String {
        match (self.position(first), self.position(second)) {
            (Some(a), Some(b)) if a.input() == b.input() => {
                format!("{}: records {} and {}", self.name(a.input()), a.record() + 1, b.record() + 1)
            }
            (Some(a), Some(b)) => {
                let [a, b] = [a, b].map(|p| format!("{}: record {}", self.name(p.input()), p.record() + 1));
                format!("{a} and {b}")
            }
            _ => format!("{}: two rows", self.name(0)),
        }
    }
}
