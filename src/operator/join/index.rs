//! Keys to the rows of both sides that wait under them.
//!
//! One table serves both sides, so that a record looks its key up once. Most keys have a row or two, which stand in
//! the table itself; more rows of one side are ordered by time, so that a hot key is not searched from end to end.
//! Must not know windows, marks or kinds of join. The bytes of keys are the stores'.

use super::store::{RowId, Store};
use crate::event::Side;
use crate::keys;
use crate::operator::heavy::Heavy;
use crate::operator::results::HEAVIEST;
use crate::schema::FieldType;
use crate::time::Ts;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Place;
use std::collections::BTreeSet;

/// Keys with fewer rows or pairs while they were held are not weighed: they cost nothing.
const WEIGHED: u64 = 16;

/// Keys to rows.
#[derive(Default)]
pub(super) struct Index {
    table: HashTable<Entry>,
    records: [Heavy; 2],
    pairs: Heavy,
}

/// The rows of one key. At least one side has some.
struct Entry {
    hash: u64,
    rows: [Rows; 2],
}

/// Rows of one key and side.
#[derive(Default)]
enum Rows {
    #[default]
    None,
    One(Ts, RowId),
    Many(Box<Many>),
}

#[derive(Default)]
struct Many {
    rows: BTreeSet<(Ts, RowId)>,
    /// How many there were in all.
    records: u64,
    /// How many rows of the other side met them, each counted per row met.
    pairs: u64,
}

/// A row with a key.
#[derive(Clone, Copy)]
pub(super) struct Keyed<'a> {
    pub(super) side: Side,
    pub(super) ts: Ts,
    pub(super) id: RowId,
    pub(super) hash: u64,
    pub(super) key: &'a [u8],
}

/// What a row looks for, and whether it waits for more.
#[derive(Clone, Copy)]
pub(super) struct Wish {
    /// The first and last instant of its partners.
    pub(super) partners: (Ts, Ts),
    /// How many are enough; a row that found them does not wait.
    pub(super) enough: usize,
    /// Others may still come.
    pub(super) waits: bool,
}

impl Index {
    /// Finds the rows of the other side that a row meets, in the order of their arrival, and keeps it unless it has
    /// enough or none can come. Whether it was kept.
    pub(super) fn meet(&mut self, stores: &[Store; 2], row: Keyed<'_>, wish: Wish, found: &mut Vec<RowId>) -> bool {
        let same = |entry: &Entry| entry.hash == row.hash && entry.key(stores) == row.key;
        match self.table.entry(row.hash, same, |entry| entry.hash) {
            Place::Occupied(mut place) => {
                let entry = place.get_mut();
                entry.rows[row.side.other().index()].find(wish, found);
                let is_kept = wish.waits && found.len() < wish.enough;
                if is_kept {
                    entry.rows[row.side.index()].insert(row.ts, row.id);
                }
                is_kept
            }
            Place::Vacant(place) => {
                if wish.waits {
                    let mut rows = [Rows::None, Rows::None];
                    rows[row.side.index()] = Rows::One(row.ts, row.id);
                    place.insert(Entry { hash: row.hash, rows });
                }
                wish.waits
            }
        }
    }

    /// Takes a row out that was kept.
    pub(super) fn remove(&mut self, row: Keyed<'_>) {
        let holds = |entry: &Entry| entry.hash == row.hash && entry.rows[row.side.index()].holds(row.ts, row.id);
        let Ok(mut place) = self.table.find_entry(row.hash, holds) else { return };
        let rows = &mut place.get_mut().rows;
        let gone = rows[row.side.index()].remove(row.ts, row.id);
        if matches!(rows, [Rows::None, Rows::None]) {
            place.remove();
        }
        if let Some(gone) = gone {
            self.weigh(&gone, row);
        }
    }

    fn weigh(&mut self, gone: &Many, row: Keyed<'_>) {
        if gone.records >= WEIGHED {
            self.records[row.side.index()].add(row.hash, row.key, gone.records);
        }
        if gone.pairs >= WEIGHED {
            self.pairs.add(row.hash, row.key, gone.pairs);
        }
    }

    /// The keys with the most rows of a side, of those that are no longer held.
    pub(super) fn heaviest(&self, side: Side, types: &[FieldType]) -> Vec<(String, u64)> {
        shown(&self.records[side.index()], types)
    }

    /// The keys whose rows met the most, of those that are no longer held.
    pub(super) fn costliest(&self, types: &[FieldType]) -> Vec<(String, u64)> {
        shown(&self.pairs, types)
    }

    /// Bytes of memory held, those of hot keys aside.
    pub(super) fn bytes(&self) -> usize {
        self.table.capacity() * (size_of::<Entry>() + 1)
    }
}

fn shown(heavy: &Heavy, types: &[FieldType]) -> Vec<(String, u64)> {
    heavy.top(HEAVIEST).into_iter().map(|(key, count)| (keys::show(key, types), count)).collect()
}

impl Entry {
    /// The key's bytes, which any of its rows has.
    fn key<'a>(&self, stores: &'a [Store; 2]) -> &'a [u8] {
        let [left, right] = &self.rows;
        match (left.any(), right.any()) {
            (Some(id), _) => stores[0].key(id),
            (None, Some(id)) => stores[1].key(id),
            (None, None) => &[],
        }
    }
}

impl Rows {
    fn any(&self) -> Option<RowId> {
        match self {
            Rows::None => None,
            Rows::One(_, id) => Some(*id),
            Rows::Many(many) => many.rows.first().map(|(_, id)| *id),
        }
    }

    fn find(&mut self, wish: Wish, found: &mut Vec<RowId>) {
        let (from, last) = wish.partners;
        match self {
            Rows::None => {}
            Rows::One(ts, id) if from <= *ts && *ts <= last => found.push(*id),
            Rows::One(..) => {}
            Rows::Many(many) => {
                let within = many.rows.range((from, RowId::FIRST)..=(last, RowId::LAST));
                found.extend(within.map(|(_, id)| *id).take(wish.enough));
                found.sort_unstable();
                many.pairs += found.len() as u64;
            }
        }
    }

    fn holds(&self, ts: Ts, id: RowId) -> bool {
        match self {
            Rows::None => false,
            Rows::One(_, one) => *one == id,
            Rows::Many(many) => many.rows.contains(&(ts, id)),
        }
    }

    fn insert(&mut self, ts: Ts, id: RowId) {
        match self {
            Rows::None => *self = Rows::One(ts, id),
            Rows::One(first, one) => {
                let rows = BTreeSet::from([(*first, *one), (ts, id)]);
                *self = Rows::Many(Box::new(Many { rows, records: 2, pairs: 0 }));
            }
            Rows::Many(many) => {
                many.rows.insert((ts, id));
                many.records += 1;
            }
        }
    }

    /// Takes a row out; what is known of many when the last of them has gone.
    fn remove(&mut self, ts: Ts, id: RowId) -> Option<Box<Many>> {
        match self {
            Rows::Many(many) => {
                many.rows.remove(&(ts, id));
                if !many.rows.is_empty() {
                    return None;
                }
            }
            Rows::None | Rows::One(..) => {
                *self = Rows::None;
                return None;
            }
        }
        match std::mem::take(self) {
            Rows::Many(many) => Some(many),
            Rows::None | Rows::One(..) => None,
        }
    }
}
