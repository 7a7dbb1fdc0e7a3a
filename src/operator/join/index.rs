//! The rows of one side that wait, by the hash of their keys.
//!
//! An entry has the hash and the time of its row, so nothing else is touched for a record that meets none. Rows with
//! one hash stand together; whether keys are equal is asked of the rows that are close enough in time. Rows that no
//! partner can come for are not taken out one by one: those of the whole table are swept out once as many rows came in
//! as the last sweep left, or some times as many looked for others. So a sweep costs each row a step or two.
//! Must not know windows, marks or kinds of join. The bytes of keys are the stores'.

use super::ordered::Ordered;
use super::store::RowId;
use crate::event::Side;
use crate::keys;
use crate::operator::heavy::Heavy;
use crate::operator::results::HEAVIEST;
use crate::schema::FieldType;
use crate::time::Ts;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Place;

/// Keys with fewer rows or pairs while they were held are not weighed: they cost nothing.
const WEIGHED: u64 = 16;

/// At least so many rows come in between two sweeps, if rows come in.
const SWEPT: usize = 256;

/// As many look-ups as bring the next sweep as near as one row that comes in.
const LOOK_UPS: usize = 4;

/// Hashes of keys to rows of one side.
#[derive(Default)]
pub(super) struct Index {
    table: HashTable<Entry>,
    rows: usize,
    /// Look-ups since the last sweep, and rows that came in, each as so many.
    used: usize,
    /// Rows that the last sweep left.
    left: usize,
}

/// The rows of one hash, at least one.
struct Entry {
    hash: u64,
    rows: Rows,
}

enum Rows {
    One(Ts, RowId),
    Many(Box<Many>),
}

struct Many {
    rows: Ordered,
    /// How many there were in all.
    records: u64,
    /// How many rows of the other side met them, each counted per row met.
    pairs: u64,
    /// The key, once it is worth being told.
    key: Option<Box<[u8]>>,
}

/// A row with a key.
#[derive(Clone, Copy)]
pub(super) struct Keyed<'a> {
    pub(super) ts: Ts,
    pub(super) id: RowId,
    pub(super) hash: u64,
    pub(super) key: &'a [u8],
}

/// What a row looks for.
#[derive(Clone, Copy)]
pub(super) struct Wish {
    /// The first and last instant of its partners.
    pub(super) partners: (Ts, Ts),
    /// How many are enough.
    pub(super) enough: usize,
}

/// The keys with the most rows and the most pairs, of those that are no longer held.
#[derive(Default)]
pub(super) struct Weights {
    records: [Heavy; 2],
    pairs: Heavy,
}

impl Index {
    /// Finds the rows that a row of the other side meets, in the order of their arrival. `has_key`: whether a row has
    /// that row's key.
    #[inline]
    pub(super) fn find(&mut self, row: Keyed<'_>, wish: Wish, has_key: impl Fn(RowId) -> bool, found: &mut Vec<RowId>) {
        self.used += 1;
        let Some(entry) = self.table.find_mut(row.hash, |entry| entry.hash == row.hash) else { return };
        match &mut entry.rows {
            Rows::One(ts, id) => {
                if wish.partners.0 <= *ts && *ts <= wish.partners.1 && has_key(*id) {
                    found.push(*id);
                }
            }
            Rows::Many(many) => {
                many.rows.find(wish.partners, wish.enough, has_key, found);
                many.pairs += found.len() as u64;
                many.name(row.key);
            }
        }
    }

    /// Lets a row be found.
    #[inline]
    pub(super) fn insert(&mut self, row: Keyed<'_>) {
        match self.table.entry(row.hash, |entry| entry.hash == row.hash, |entry| entry.hash) {
            Place::Vacant(place) => drop(place.insert(Entry { hash: row.hash, rows: Rows::One(row.ts, row.id) })),
            Place::Occupied(mut place) => place.get_mut().rows.insert(row),
        }
        self.rows += 1;
        self.used += LOOK_UPS;
    }

    /// Whether a sweep is due.
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.used > LOOK_UPS * self.left.max(SWEPT)
    }

    /// Takes out a row that was let in, if it is still there.
    pub(super) fn remove(&mut self, row: Keyed<'_>, side: Side, weights: &mut Weights) {
        let holds = |entry: &Entry| entry.hash == row.hash && entry.rows.holds(row.ts, row.id);
        let Ok(mut place) = self.table.find_entry(row.hash, holds) else { return };
        self.rows -= 1;
        let is_empty = match &mut place.get_mut().rows {
            Rows::One(..) => true,
            Rows::Many(many) => many.rows.remove((row.ts, row.id)) && many.rows.is_empty(),
        };
        if is_empty {
            let (entry, _) = place.remove();
            weights.weigh(&entry, side);
        }
    }

    /// Takes out all rows whose times are past, which are the earliest ones.
    pub(super) fn sweep(&mut self, is_past: impl Fn(Ts) -> bool, side: Side, weights: &mut Weights) {
        let rows = &mut self.rows;
        self.table.retain(|entry| match &mut entry.rows {
            Rows::One(ts, _) => {
                let stays = !is_past(*ts);
                *rows -= usize::from(!stays);
                stays
            }
            Rows::Many(many) => {
                *rows -= many.rows.sweep(&is_past);
                let stays = !many.rows.is_empty();
                if !stays {
                    weights.weigh(entry, side);
                }
                stays
            }
        });
        if self.table.capacity() > 4 * self.table.len().max(SWEPT) {
            self.table.shrink_to(2 * self.table.len(), |entry| entry.hash);
        }
        (self.used, self.left) = (0, self.rows);
    }

    /// Bytes of memory held, those of hot keys aside.
    pub(super) fn bytes(&self) -> usize {
        self.table.capacity() * (size_of::<Entry>() + 1)
    }
}

impl Rows {
    fn holds(&self, ts: Ts, id: RowId) -> bool {
        match self {
            Rows::One(_, one) => *one == id,
            Rows::Many(many) => many.rows.holds((ts, id)),
        }
    }

    fn insert(&mut self, row: Keyed<'_>) {
        match self {
            Rows::One(first, one) => {
                let rows = Ordered::of((*first, *one), (row.ts, row.id));
                *self = Rows::Many(Box::new(Many { rows, records: 2, pairs: 0, key: None }));
            }
            Rows::Many(many) => {
                many.rows.insert((row.ts, row.id));
                many.records += 1;
                many.name(row.key);
            }
        }
    }
}

impl Many {
    /// Keeps the key if it is to be told.
    #[inline]
    fn name(&mut self, key: &[u8]) {
        if self.key.is_none() && self.records.max(self.pairs) >= WEIGHED {
            self.key = Some(key.into());
        }
    }
}

impl Weights {
    fn weigh(&mut self, gone: &Entry, side: Side) {
        let Rows::Many(many) = &gone.rows else { return };
        let Some(key) = &many.key else { return };
        if many.records >= WEIGHED {
            self.records[side.index()].add(gone.hash, key, many.records);
        }
        if many.pairs >= WEIGHED {
            self.pairs.add(gone.hash, key, many.pairs);
        }
    }

    /// The keys with the most rows of a side.
    pub(super) fn heaviest(&self, side: Side, types: &[FieldType]) -> Vec<(String, u64)> {
        shown(&self.records[side.index()], types)
    }

    /// The keys whose rows met the most.
    pub(super) fn costliest(&self, types: &[FieldType]) -> Vec<(String, u64)> {
        shown(&self.pairs, types)
    }
}

fn shown(heavy: &Heavy, types: &[FieldType]) -> Vec<(String, u64)> {
    heavy.top(HEAVIEST).into_iter().map(|(key, count)| (keys::show(key, types), count)).collect()
}
