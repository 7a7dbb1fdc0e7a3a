//! The records that others are duplicates of: their keys, and their times in order.
//!
//! Keys stand in one arena, which is written anew when more than half of it belongs to keys that left. Times wait in
//! buckets, each a small part of the horizon, so that letting them go costs no more in disorder than in order; only
//! the bucket that the watermark stands in is ever sorted. Must not know columns or what a duplicate is told to.
//!
//! Whether a record is near a kept one is decided by the watermark before that record, not by when memory was freed,
//! so that batch cuts cannot change it.

use crate::event::Watermark;
use crate::keys;
use crate::schema::FieldType;
use crate::time::{Span, Ts};
use hashbrown::HashTable;
use std::collections::{BTreeMap, BTreeSet};

/// Into so many parts the horizon is cut.
const BUCKETS: i64 = 64;
/// An arena is not written anew for fewer bytes than this.
const WASTE: usize = 1 << 16;
/// So many keys change type at a time.
const REKEYED: usize = 1 << 16;

/// The index of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct KeyId(u32);

/// Keys and the times of their kept records.
#[derive(Debug)]
pub(super) struct Kept {
    within: Option<Span>,
    table: HashTable<KeyId>,
    entries: Vec<Entry>,
    free: Vec<KeyId>,
    arena: Vec<u8>,
    /// Bytes of the arena that no key has any more.
    waste: usize,
    records: usize,
    leaving: Leaving,
}

#[derive(Debug)]
struct Entry {
    hash: u64,
    start: usize,
    len: u32,
    times: Times,
}

/// The times of one key's kept records: nearly always one.
#[derive(Debug, Default)]
enum Times {
    #[default]
    None,
    One(Ts),
    Many(BTreeSet<Ts>),
}

impl Kept {
    /// Nothing yet. Records are near each other up to `within` apart; without it at any distance, and none ever leaves.
    pub(super) fn new(within: Option<Span>) -> Self {
        Self {
            within,
            table: HashTable::new(),
            entries: Vec::new(),
            free: Vec::new(),
            arena: Vec::new(),
            waste: 0,
            records: 0,
            leaving: Leaving::new(within.unwrap_or_default()),
        }
    }

    /// The key with these bytes.
    #[inline]
    pub(super) fn find(&self, hash: u64, key: &[u8]) -> Option<KeyId> {
        let found = self.table.find(hash, |id| {
            let entry = &self.entries[id.0 as usize];
            entry.hash == hash && entry.key(&self.arena) == key
        });
        found.copied()
    }

    /// Whether a record of a key at `ts` is a duplicate of a kept one that `mark` has not passed.
    #[inline]
    pub(super) fn is_near(&self, id: KeyId, ts: Ts, mark: Watermark) -> bool {
        let Some(within) = self.within else { return true };
        let near = ts.saturating_sub(within)..=ts.saturating_add(within);
        let is_held = |kept: Ts| !mark.has_passed(kept.saturating_add(within));
        match &self.entries[id.0 as usize].times {
            Times::None => false,
            Times::One(kept) => near.contains(kept) && is_held(*kept),
            Times::Many(all) => all.range(near).any(|kept| is_held(*kept)),
        }
    }

    /// Keeps a record. `known`: its key, if it has been found.
    pub(super) fn keep(&mut self, known: Option<KeyId>, hash: u64, key: &[u8], ts: Ts) {
        let id = known.unwrap_or_else(|| self.insert(hash, key));
        if self.entries[id.0 as usize].times.insert(ts) {
            self.records += 1;
            if self.within.is_some() {
                self.leaving.push(ts, id);
            }
        }
    }

    fn insert(&mut self, hash: u64, key: &[u8]) -> KeyId {
        let entry = Entry { hash, start: self.arena.len(), len: key.len() as u32, times: Times::None };
        self.arena.extend_from_slice(key);
        let id = match self.free.pop() {
            Some(id) => {
                self.entries[id.0 as usize] = entry;
                id
            }
            None => {
                self.entries.push(entry);
                KeyId(self.entries.len() as u32 - 1)
            }
        };
        let entries = &self.entries;
        self.table.insert_unique(hash, id, |id| entries[id.0 as usize].hash);
        id
    }

    /// Lets go of all that `mark` has passed.
    pub(super) fn release(&mut self, mark: Watermark) {
        while let Some(left) = self.leaving.take(mark) {
            self.records -= left.len();
            left.into_iter().for_each(|(ts, id)| self.forget(ts, id));
        }
        if self.waste > WASTE.max(self.arena.len() / 2) {
            self.rewrite();
        }
    }

    fn forget(&mut self, ts: Ts, id: KeyId) {
        let entry = &mut self.entries[id.0 as usize];
        entry.times.remove(ts);
        if let Times::None = entry.times {
            self.waste += entry.len as usize;
            if let Ok(found) = self.table.find_entry(entry.hash, |other| *other == id) {
                found.remove();
                self.free.push(id);
            }
        }
    }

    /// Writes the arena anew, without the keys that left.
    fn rewrite(&mut self) {
        let mut arena = Vec::with_capacity((self.arena.len() - self.waste) * 3 / 2);
        for id in &self.table {
            let entry = &mut self.entries[id.0 as usize];
            let start = arena.len();
            arena.extend_from_slice(entry.key(&self.arena));
            entry.start = start;
        }
        (self.arena, self.waste) = (arena, 0);
    }

    /// The same records under keys of other types; keys that become one have the records of both.
    pub(super) fn rekey(&mut self, from: &[FieldType], to: &[FieldType]) {
        let old = std::mem::replace(self, Self::new(self.within));
        let ids: Vec<&Entry> = old.table.iter().map(|id| &old.entries[id.0 as usize]).collect();
        for some in ids.chunks(REKEYED) {
            let bytes: Vec<&[u8]> = some.iter().map(|entry| entry.key(&old.arena)).collect();
            let keys = keys::retype(&bytes, from, to);
            for (i, entry) in some.iter().enumerate() {
                for ts in entry.times.iter() {
                    let known = self.find(keys.hash(i), keys.key(i));
                    self.keep(known, keys.hash(i), keys.key(i), ts);
                }
            }
        }
    }

    /// How many records are kept.
    pub(super) fn len(&self) -> usize {
        self.records
    }

    /// Bytes of memory held.
    pub(super) fn bytes(&self) -> usize {
        let several = self.records - (self.entries.len() - self.free.len()).min(self.records);
        self.table.capacity() * 5
            + self.entries.capacity() * size_of::<Entry>()
            + self.free.capacity() * size_of::<KeyId>()
            + self.arena.capacity()
            + several * 2 * size_of::<Ts>()
            + self.leaving.records * size_of::<(Ts, KeyId)>()
    }
}

impl Entry {
    fn key<'a>(&self, arena: &'a [u8]) -> &'a [u8] {
        &arena[self.start..][..self.len as usize]
    }
}

impl Times {
    /// Adds a time; whether it is a new one.
    fn insert(&mut self, ts: Ts) -> bool {
        match self {
            Times::None => *self = Times::One(ts),
            Times::One(only) if *only == ts => return false,
            Times::One(only) => *self = Times::Many(BTreeSet::from([*only, ts])),
            Times::Many(all) => return all.insert(ts),
        }
        true
    }

    fn remove(&mut self, ts: Ts) {
        if let Times::Many(all) = self {
            all.remove(&ts);
        }
        let is_gone = match self {
            Times::None => true,
            Times::One(only) => *only == ts,
            Times::Many(all) => all.is_empty(),
        };
        if is_gone {
            *self = Times::None;
        }
    }

    fn iter(&self) -> impl Iterator<Item = Ts> + '_ {
        let (one, many) = match self {
            Times::None => (None, None),
            Times::One(only) => (Some(*only), None),
            Times::Many(all) => (None, Some(all.iter().copied())),
        };
        one.into_iter().chain(many.into_iter().flatten())
    }
}

/// Kept records by the time at which they leave.
#[derive(Debug)]
struct Leaving {
    within: Span,
    /// Microseconds of a bucket.
    width: i64,
    buckets: BTreeMap<i64, Bucket>,
    records: usize,
}

#[derive(Debug, Default)]
struct Bucket {
    records: Vec<(Ts, KeyId)>,
    greatest: Option<Ts>,
    /// The latest first.
    is_sorted: bool,
}

impl Leaving {
    fn new(within: Span) -> Self {
        Self { within, width: (within.micros() / BUCKETS).max(1), buckets: BTreeMap::new(), records: 0 }
    }

    fn push(&mut self, ts: Ts, id: KeyId) {
        let index = ts.micros().div_euclid(self.width);
        self.records += 1;
        match self.buckets.last_entry() {
            Some(mut last) if *last.key() == index => last.get_mut().push(ts, id),
            _ => self.buckets.entry(index).or_default().push(ts, id),
        }
    }

    /// Takes out records that `mark` has passed; none when there is none.
    fn take(&mut self, mark: Watermark) -> Option<Vec<(Ts, KeyId)>> {
        let within = self.within;
        let has_left = |ts: Ts| mark.has_passed(ts.saturating_add(within));
        let mut first = self.buckets.first_entry()?;
        let left = match first.get().greatest.is_some_and(has_left) {
            true => first.remove().records,
            false => first.get_mut().take(has_left),
        };
        self.records -= left.len();
        Some(left).filter(|left| !left.is_empty())
    }
}

impl Bucket {
    fn push(&mut self, ts: Ts, id: KeyId) {
        self.records.push((ts, id));
        self.greatest = self.greatest.max(Some(ts));
        self.is_sorted = false;
    }

    fn take(&mut self, has_left: impl Fn(Ts) -> bool) -> Vec<(Ts, KeyId)> {
        if !self.is_sorted {
            self.records.sort_unstable_by(|a, b| b.cmp(a));
            self.is_sorted = true;
        }
        let held = self.records.partition_point(|(ts, _)| !has_left(*ts));
        self.records.split_off(held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ts(micros: i64) -> Ts {
        Ts::from_micros(micros)
    }

    fn keep(kept: &mut Kept, key: &[u8], at: i64) {
        let hash = keys::hash(key);
        kept.keep(kept.find(hash, key), hash, key, ts(at));
    }

    fn has(kept: &Kept, key: &[u8], at: i64) -> bool {
        kept.find(keys::hash(key), key).is_some_and(|id| kept.is_near(id, ts(at), Watermark::NEVER))
    }

    #[test]
    fn what_left_gives_its_memory_back() {
        let mut kept = Kept::new(Some(Span::from_micros(100)));
        for i in 0..50_000i64 {
            keep(&mut kept, format!("key-{i:020}").as_bytes(), i);
            if i % 64 == 0 {
                kept.release(Watermark::at(ts(i)));
            }
        }
        assert!(kept.len() <= 165 && kept.entries.len() < 200, "{} {}", kept.len(), kept.entries.len());
        assert!(kept.bytes() < 4 * WASTE, "{}", kept.bytes());
        kept.release(Watermark::at(ts(50_100)));
        assert_eq!((kept.len(), kept.table.len(), kept.leaving.buckets.len()), (0, 0, 0));
    }

    #[test]
    fn a_hot_key_with_many_times_stays_quick() {
        let mut kept = Kept::new(Some(Span::from_micros(1)));
        (0..20_000).for_each(|i| keep(&mut kept, b"hot", i * 3));
        assert!(has(&kept, b"hot", 29_998) && has(&kept, b"hot", 30_001) && kept.len() == 20_000);
        kept.release(Watermark::at(ts(30_001)));
        assert!(has(&kept, b"hot", 30_001) && !has(&kept, b"hot", 29_998) && kept.len() == 10_000);
    }

    #[test]
    fn keys_that_become_one_have_the_records_of_both() {
        let mut kept = Kept::new(Some(Span::from_micros(5)));
        let column = |v: Vec<i64>| std::sync::Arc::new(arrow::array::Int64Array::from(v)) as arrow::array::ArrayRef;
        let big = 1i64 << 53;
        let keys = keys::Keys::encode(&[column(vec![big, big + 1])], 2);
        keep(&mut kept, keys.key(0), 10);
        keep(&mut kept, keys.key(1), 10);
        keep(&mut kept, keys.key(1), 30);
        kept.rekey(&[FieldType::Int], &[FieldType::Double]);
        assert_eq!((kept.table.len(), kept.len()), (1, 2));
        kept.release(Watermark::at(ts(16)));
        assert_eq!((kept.table.len(), kept.len()), (1, 1));
        kept.release(Watermark::at(ts(36)));
        assert_eq!((kept.table.len(), kept.len()), (0, 0));
    }

    proptest! {
        #[test]
        fn records_leave_exactly_when_the_mark_has_passed_them(
            steps in proptest::collection::vec((0..6u8, 0..400i64, 0..400i64), 0..120), within in 0..150i64,
        ) {
            let mut kept = Kept::new(Some(Span::from_micros(within)));
            let (mut model, mut mark) = (std::collections::BTreeSet::new(), i64::MIN);
            for (key, at, rise) in steps {
                keep(&mut kept, &[key], at);
                model.insert((key, at));
                if rise % 3 == 0 {
                    mark = mark.max(rise);
                    kept.release(Watermark::at(ts(mark)));
                    model.retain(|(_, at)| mark <= at + within);
                }
                prop_assert_eq!(kept.len(), model.len());
                for key in 0..6 {
                    let near = model.iter().any(|(k, t)| *k == key && (t - at).abs() <= within);
                    prop_assert_eq!(has(&kept, &[key], at), near);
                }
            }
        }
    }
}
