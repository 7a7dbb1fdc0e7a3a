//! The records that others are duplicates of: their keys, by the time at which they leave.
//!
//! Records are kept in buckets, each a small part of the horizon with an arena for the keys of its own. A bucket leaves
//! as a whole, so letting go is a walk through memory, and costs no more in disorder than in order. Must not know
//! columns or what a duplicate is told to.
//!
//! Whether a record is near a kept one is decided by the watermark before that record, not by when memory was freed, so
//! that batch cuts cannot change it. Of a key with several times only the latest is in the table: it leaves last, and
//! has the others beside it.

use crate::event::Watermark;
use crate::keys;
use crate::schema::FieldType;
use crate::time::{Span, Ts};
use hashbrown::HashTable;
use std::collections::{BTreeMap, BTreeSet};

/// Into so many parts the horizon is cut.
const PARTS: i64 = 64;
/// Microseconds of a bucket, at least: a bucket costs more than a record.
const NARROWEST: i64 = 1_000;
/// Once the keys of a slice take so many bytes, the next begins: no arena is ever copied to grow beyond it.
const SLICE: usize = 1 << 20;

/// Where a record stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RecordId {
    slice: u32,
    row: u32,
}

/// Keys and the times of their kept records.
#[derive(Debug)]
pub(super) struct Kept {
    within: Option<Span>,
    /// Microseconds of a bucket.
    width: i64,
    /// The latest record of each key.
    table: HashTable<RecordId>,
    slices: Vec<Slice>,
    /// Slices that are empty, to be used again.
    free: Vec<u32>,
    buckets: BTreeMap<i64, Bucket>,
    /// Bytes of records and of their keys.
    held: usize,
}

/// Records whose times lie side by side.
#[derive(Debug)]
struct Bucket {
    greatest: Ts,
    /// Never empty.
    slices: Vec<u32>,
}

/// Records and the bytes of their keys.
#[derive(Debug, Default)]
struct Slice {
    records: Vec<Record>,
    arena: Vec<u8>,
}

#[derive(Debug)]
struct Record {
    ts: Ts,
    /// Other times of the same key; those that left may still be among them. Only the latest record has them.
    others: Option<Box<Others>>,
    start: u32,
    len: u32,
    is_latest: bool,
}

/// Times of one key.
type Others = BTreeSet<Ts>;

impl Kept {
    /// Nothing yet. Records are near each other up to `within` apart; without it at any distance, and none ever leaves.
    pub(super) fn new(within: Option<Span>) -> Self {
        Self {
            within,
            width: within.map_or(i64::MAX, |within| (within.micros() / PARTS).max(NARROWEST)),
            table: HashTable::new(),
            slices: Vec::new(),
            free: Vec::new(),
            buckets: BTreeMap::new(),
            held: 0,
        }
    }

    /// The latest record with this key.
    #[inline]
    pub(super) fn find(&self, hash: u64, key: &[u8]) -> Option<RecordId> {
        self.table.find(hash, |&id| key_of(&self.slices, id) == key).copied()
    }

    /// Whether a record at `ts` is a duplicate of one with its key that `mark` has not passed. `latest`: what was found.
    #[inline]
    pub(super) fn is_near(&self, latest: RecordId, ts: Ts, mark: Watermark) -> bool {
        let Some(within) = self.within else { return true };
        let near = ts.saturating_sub(within)..=ts.saturating_add(within);
        let is_held = |kept: Ts| !mark.has_passed(kept.saturating_add(within));
        let record = self.record(latest);
        let is_near_other = |others: &Others| others.range(near.clone()).any(|other| is_held(*other));
        near.contains(&record.ts) && is_held(record.ts) || record.others.as_deref().is_some_and(is_near_other)
    }

    /// Keeps a record that no other is near. `latest`: what was found of its key; `mark`: the watermark before it.
    pub(super) fn keep(&mut self, latest: Option<RecordId>, hash: u64, key: &[u8], ts: Ts, mark: Watermark) {
        match latest {
            None => {
                let id = self.push(key, ts);
                let slices = &self.slices;
                self.table.insert_unique(hash, id, |&id| keys::hash(key_of(slices, id)));
            }
            Some(latest) => self.keep_another(latest, hash, key, ts, mark),
        }
    }

    #[cold]
    fn keep_another(&mut self, latest: RecordId, hash: u64, key: &[u8], ts: Ts, mark: Watermark) {
        let Some(within) = self.within else { return };
        let record = &mut self.slices[latest.slice as usize].records[latest.row as usize];
        let mut others = record.others.take().unwrap_or_default();
        while others.first().is_some_and(|first| mark.has_passed(first.saturating_add(within))) {
            others.pop_first();
        }
        if ts <= record.ts {
            others.insert(ts);
            record.others = Some(others);
            return;
        }
        others.insert(record.ts);
        record.is_latest = false;
        let id = self.push(key, ts);
        self.slices[id.slice as usize].records[id.row as usize].others = Some(others);
        if let Some(entry) = self.table.find_mut(hash, |&id| id == latest) {
            *entry = id;
        }
    }

    /// Puts a record into the bucket of its time.
    fn push(&mut self, key: &[u8], ts: Ts) -> RecordId {
        let slice = self.slice_of(ts);
        let Slice { records, arena } = &mut self.slices[slice as usize];
        let (start, len) = (arena.len() as u32, key.len() as u32);
        arena.extend_from_slice(key);
        self.held += size_of::<Record>() + key.len();
        records.push(Record { ts, others: None, start, len, is_latest: true });
        RecordId { slice, row: records.len() as u32 - 1 }
    }

    /// The slice that a record at `ts` goes to.
    #[inline]
    fn slice_of(&mut self, ts: Ts) -> u32 {
        let index = ts.micros().div_euclid(self.width);
        let bucket = match self.buckets.last_entry() {
            Some(last) if *last.key() == index => last.into_mut(),
            _ => self.buckets.entry(index).or_insert(Bucket { greatest: ts, slices: Vec::new() }),
        };
        bucket.greatest = bucket.greatest.max(ts);
        match bucket.slices.last() {
            Some(&slice) if self.slices[slice as usize].arena.len() < SLICE => slice,
            full => {
                if let Some(&full) = full {
                    self.slices[full as usize].shrink();
                }
                let slice = self.free.pop().unwrap_or_else(|| {
                    self.slices.push(Slice::default());
                    self.slices.len() as u32 - 1
                });
                bucket.slices.push(slice);
                slice
            }
        }
    }

    /// Lets go of the buckets that `mark` has passed.
    pub(super) fn release(&mut self, mark: Watermark) {
        let Some(within) = self.within else { return };
        while let Some(first) = self.buckets.first_entry() {
            if !mark.has_passed(first.get().greatest.saturating_add(within)) {
                break;
            }
            let bucket = first.remove();
            bucket.slices.into_iter().for_each(|slice| self.forget(slice));
        }
    }

    fn forget(&mut self, slice: u32) {
        let Slice { records, arena } = std::mem::take(&mut self.slices[slice as usize]);
        self.held -= records.len() * size_of::<Record>() + arena.len();
        for (row, record) in records.iter().enumerate().filter(|(_, record)| record.is_latest) {
            let id = RecordId { slice, row: row as u32 };
            if let Ok(found) = self.table.find_entry(keys::hash(record.key(&arena)), |&other| other == id) {
                found.remove();
            }
        }
        self.free.push(slice);
    }

    /// The same records under keys of other types; keys that become one have the records of both.
    pub(super) fn rekey(&mut self, from: &[FieldType], to: &[FieldType]) {
        let old = std::mem::replace(self, Self::new(self.within));
        for Slice { records, arena } in old.slices.iter().filter(|slice| !slice.records.is_empty()) {
            let latest: Vec<&Record> = records.iter().filter(|record| record.is_latest).collect();
            let bytes: Vec<&[u8]> = latest.iter().map(|record| record.key(arena)).collect();
            let keys = keys::retype(&bytes, from, to);
            for (i, record) in latest.into_iter().enumerate() {
                let (hash, key) = (keys.hash(i), keys.key(i));
                for ts in record.others.iter().flat_map(|others| others.iter()).chain([&record.ts]) {
                    self.keep(self.find(hash, key), hash, key, *ts, Watermark::NEVER);
                }
            }
        }
    }

    fn record(&self, id: RecordId) -> &Record {
        &self.slices[id.slice as usize].records[id.row as usize]
    }

    /// How many keys are held.
    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// Bytes of memory held, without room to grow.
    pub(super) fn bytes(&self) -> usize {
        self.table.capacity() * (size_of::<RecordId>() + 1)
            + self.held
            + self.slices.capacity() * size_of::<Slice>()
            + self.buckets.len() * size_of::<(i64, Bucket)>()
    }
}

impl Slice {
    /// Gives back what it will not use.
    fn shrink(&mut self) {
        self.records.shrink_to_fit();
        self.arena.shrink_to_fit();
    }
}

impl Record {
    fn key<'a>(&self, arena: &'a [u8]) -> &'a [u8] {
        &arena[self.start as usize..][..self.len as usize]
    }
}

fn key_of(slices: &[Slice], id: RecordId) -> &[u8] {
    let slice = &slices[id.slice as usize];
    slice.records[id.row as usize].key(&slice.arena)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(ms: i64) -> Ts {
        Ts::from_micros(ms * 1_000)
    }

    fn kept(within: i64) -> Kept {
        Kept::new(Some(Span::from_micros(within * 1_000)))
    }

    fn keep(kept: &mut Kept, key: &[u8], at: i64, mark: Watermark) {
        let hash = keys::hash(key);
        kept.keep(kept.find(hash, key), hash, key, ms(at), mark);
    }

    fn has(kept: &Kept, key: &[u8], at: i64, mark: Watermark) -> bool {
        kept.find(keys::hash(key), key).is_some_and(|id| kept.is_near(id, ms(at), mark))
    }

    #[test]
    fn what_left_gives_its_memory_back() {
        let mut kept = kept(6_400);
        for i in 0..50_000i64 {
            keep(&mut kept, format!("key-{i:020}").as_bytes(), i * 10, Watermark::NEVER);
            kept.release(Watermark::at(ms(i * 10)));
        }
        assert!((641..=651).contains(&kept.len()), "{}", kept.len());
        assert!(kept.slices.len() < 80 && kept.bytes() < 150_000, "{} {}", kept.slices.len(), kept.bytes());
        kept.release(Watermark::at(ms(506_400)));
        assert_eq!((kept.len(), kept.buckets.len(), kept.held), (0, 0, 0));
    }

    #[test]
    fn a_slice_is_not_grown_without_end() {
        let mut kept = Kept::new(None);
        let key = |i: i64| format!("{i:01000}").into_bytes();
        (0..3_000).for_each(|i| keep(&mut kept, &key(i), 0, Watermark::NEVER));
        assert!(kept.slices.len() == 3 && kept.slices.iter().all(|slice| slice.arena.len() < SLICE + 1_001));
        assert!((0..3_000).all(|i| has(&kept, &key(i), 9, Watermark::NEVER)) && !has(&kept, b"x", 0, Watermark::NEVER));
    }

    #[test]
    fn a_hot_key_with_many_times_stays_quick_and_small() {
        let mut kept = kept(1);
        for i in 0..20_000 {
            keep(&mut kept, b"hot", i * 3, Watermark::at(ms(i * 3 - 30_000)));
        }
        let mark = Watermark::at(ms(30_001));
        assert!(
            has(&kept, b"hot", 30_001, mark) && has(&kept, b"hot", 59_998, mark) && !has(&kept, b"hot", 29_998, mark)
        );
        kept.release(mark);
        assert!(has(&kept, b"hot", 30_001, mark) && kept.len() == 1);
        let id = kept.find(keys::hash(b"hot"), b"hot").unwrap();
        assert!(kept.record(id).others.as_ref().unwrap().len() <= 10_001);
    }

    #[test]
    fn keys_that_become_one_have_the_records_of_both() {
        let mut kept = kept(5);
        let column = |v: Vec<i64>| std::sync::Arc::new(arrow::array::Int64Array::from(v)) as arrow::array::ArrayRef;
        let big = 1i64 << 53;
        let keys = keys::Keys::encode(&[column(vec![big, big + 1])], 2);
        let never = Watermark::NEVER;
        [(0, 10), (1, 10), (1, 30)].into_iter().for_each(|(key, at)| keep(&mut kept, keys.key(key), at, never));
        kept.rekey(&[FieldType::Int], &[FieldType::Double]);
        let key = keys::retype(&[keys.key(1)], &[FieldType::Int], &[FieldType::Double]);
        assert_eq!([10, 20, 30].map(|at| has(&kept, key.key(0), at, never)), [true, false, true]);
        kept.release(Watermark::at(ms(16)));
        assert_eq!(kept.len(), 1);
        kept.release(Watermark::at(ms(36)));
        assert_eq!((kept.len(), kept.held), (0, 0));
    }

    proptest! {
        #[test]
        fn a_record_is_near_what_the_mark_has_not_passed(
            steps in proptest::collection::vec((0..4u8, 0..400i64, 0..400i64), 0..120), within in 0..150i64,
        ) {
            let (mut kept, mut model, mut mark) = (kept(within), std::collections::BTreeSet::new(), 0);
            for (key, at, rise) in steps {
                let before = Watermark::at(ms(mark));
                for key in 0..4 {
                    let near = |t: &i64| (t - at).abs() <= within && mark <= t + within;
                    let want = model.iter().any(|(k, t)| *k == key && near(t));
                    prop_assert_eq!(has(&kept, &[key], at, before), want);
                }
                keep(&mut kept, &[key], at, before);
                model.insert((key, at));
                if rise % 3 == 0 {
                    mark = mark.max(rise);
                    kept.release(Watermark::at(ms(mark)));
                    model.retain(|(_, at)| mark <= at + within);
                    let keys: std::collections::BTreeSet<u8> = model.iter().map(|(key, _)| *key).collect();
                    prop_assert!(kept.len() >= keys.len());
                }
            }
        }
    }
}
