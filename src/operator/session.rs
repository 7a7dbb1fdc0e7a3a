//! Aggregation over sessions: events of a key at most a gap apart.
//!
//! Each key has a short list of open sessions. An event joins those it touches into one. Sessions wait in a heap by
//! the instant at which they would end; one that grew meanwhile is put back when its old instant comes, so growing
//! costs nothing.
//!
//! Windows fire once behind a batch, so a session may stand here that was final before the row at hand: rows look at
//! the job's mark in force before them and pass such sessions over, as if they had been written already.

use super::frame::Frame;
use super::{Emit, Late, Operator, Setup, Tally};
use crate::account::StateSize;
use crate::aggregate::Slot;
use crate::error::Result;
use crate::event::{EventBatch, Side, Watermark};
use crate::keys;
use crate::schema::FieldType;
use crate::time::{Span, Ts};
use crate::window::Window;
use arrow::datatypes::SchemaRef;
use hashbrown::HashTable;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// An index into the list of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct KeyId(u32);

/// An index into the list of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Id(u32);

#[derive(Debug)]
struct Session {
    first: Ts,
    last: Ts,
    slot: Slot,
    key: KeyId,
    rows: u64,
    /// The next session of the same key.
    next: Option<Id>,
    /// Rises whenever the place is used again, so that old entries of the heap are known.
    epoch: u32,
}

/// A key's bytes, in place if they are few: finding a session then touches one line of memory less.
enum KeyBytes {
    Short(u8, [u8; KeyBytes::SHORT]),
    Long(Box<[u8]>),
}

impl KeyBytes {
    const SHORT: usize = 22;

    fn new(bytes: &[u8]) -> Self {
        let mut short = [0; Self::SHORT];
        match short.get_mut(..bytes.len()) {
            Some(place) => {
                place.copy_from_slice(bytes);
                KeyBytes::Short(bytes.len() as u8, short)
            }
            None => KeyBytes::Long(bytes.into()),
        }
    }

    fn get(&self) -> &[u8] {
        match self {
            KeyBytes::Short(len, bytes) => &bytes[..usize::from(*len)],
            KeyBytes::Long(bytes) => bytes,
        }
    }

    /// Bytes held beside the entry itself.
    fn heap(&self) -> usize {
        match self {
            KeyBytes::Short(..) => 0,
            KeyBytes::Long(bytes) => bytes.len(),
        }
    }
}

struct KeyEntry {
    hash: u64,
    bytes: KeyBytes,
    head: Option<Id>,
}

/// The aggregation over sessions.
pub struct Sessions {
    gap: Span,
    frame: Frame,
    table: HashTable<KeyId>,
    keys: Vec<KeyEntry>,
    free_keys: Vec<KeyId>,
    sessions: Vec<Session>,
    free: Vec<Id>,
    ends: BinaryHeap<Reverse<(Ts, Id, u32)>>,
    /// Rows of each open session by input, kept only when not every session is written.
    by_input: HashMap<Id, Vec<(u32, u64)>>,
    key_bytes: usize,
}

impl Sessions {
    /// Sessions with this gap.
    pub fn new(gap: Span, setup: Setup) -> Result<Self> {
        Ok(Self {
            gap,
            frame: Frame::new(setup)?,
            table: HashTable::new(),
            keys: Vec::new(),
            free_keys: Vec::new(),
            sessions: Vec::new(),
            free: Vec::new(),
            ends: BinaryHeap::new(),
            by_input: HashMap::new(),
            key_bytes: 0,
        })
    }

    fn key_of(&mut self, hash: u64, bytes: &[u8]) -> KeyId {
        let keys = &self.keys;
        if let Some(&id) = self.table.find(hash, |&id| keys[id.0 as usize].bytes.get() == bytes) {
            return id;
        }
        let entry = KeyEntry { hash, bytes: KeyBytes::new(bytes), head: None };
        self.key_bytes += entry.bytes.heap();
        let id = match self.free_keys.pop() {
            Some(id) => {
                self.keys[id.0 as usize] = entry;
                id
            }
            None => {
                self.keys.push(entry);
                KeyId(self.keys.len() as u32 - 1)
            }
        };
        let keys = &self.keys;
        self.table.insert_unique(hash, id, |&id| keys[id.0 as usize].hash);
        id
    }

    /// The bounds of the session that an event at `ts` forms with the open sessions it touches, and whether it
    /// touches one. Final sessions do not count.
    fn formed(&self, key: KeyId, ts: Ts, job: Watermark) -> (Ts, Ts, Option<Id>) {
        let (mut first, mut last, mut touched) = (ts, ts, None);
        let mut at = self.keys[key.0 as usize].head;
        while let Some(id) = at {
            let session = &self.sessions[id.0 as usize];
            if self.touches(session, ts) && !job.has_passed(self.end(session)) {
                first = first.min(session.first);
                last = last.max(session.last);
                touched = touched.or(Some(id));
            }
            at = session.next;
        }
        (first, last, touched)
    }

    fn touches(&self, session: &Session, ts: Ts) -> bool {
        session.first.saturating_sub(self.gap) <= ts && ts <= self.end(session)
    }

    fn end(&self, session: &Session) -> Ts {
        session.last.saturating_add(self.gap)
    }

    /// The session of a row, or what makes it late.
    fn place(&mut self, key: KeyId, ts: Ts, judge: Watermark, job: Watermark) -> Result<Id, Ts> {
        let (first, last, touched) = self.formed(key, ts, job);
        let end = last.saturating_add(self.gap);
        if judge.has_passed(end) {
            return Err(end);
        }
        let Some(into) = touched else { return Ok(self.open(key, ts)) };
        let session = &self.sessions[into.0 as usize];
        if session.first > first || session.last < last {
            self.absorb(key, into, ts, job);
            let session = &mut self.sessions[into.0 as usize];
            (session.first, session.last) = (first, last);
        }
        Ok(into)
    }

    fn open(&mut self, key: KeyId, ts: Ts) -> Id {
        let slot = self.frame.aggregates.open();
        let next = self.keys[key.0 as usize].head;
        let mut session = Session { first: ts, last: ts, slot, key, rows: 0, next, epoch: 0 };
        let id = match self.free.pop() {
            Some(id) => {
                session.epoch = self.sessions[id.0 as usize].epoch;
                self.sessions[id.0 as usize] = session;
                id
            }
            None => {
                self.sessions.push(session);
                Id(self.sessions.len() as u32 - 1)
            }
        };
        let session = &self.sessions[id.0 as usize];
        self.ends.push(Reverse((self.end(session), id, session.epoch)));
        self.keys[key.0 as usize].head = Some(id);
        id
    }

    /// Merges every other open session of the key that the event touches into `into`.
    fn absorb(&mut self, key: KeyId, into: Id, ts: Ts, job: Watermark) {
        let mut at = self.keys[key.0 as usize].head;
        while let Some(id) = at {
            let session = &self.sessions[id.0 as usize];
            at = session.next;
            if id != into && self.touches(session, ts) && !job.has_passed(self.end(session)) {
                self.unlink(id);
                self.merge(into, id);
            }
        }
    }

    fn merge(&mut self, into: Id, from: Id) {
        let old = &self.sessions[from.0 as usize];
        let (slot, rows) = (old.slot, old.rows);
        self.recycle(from);
        for (input, rows) in self.by_input.remove(&from).unwrap_or_default() {
            add_rows(self.by_input.entry(into).or_default(), input, rows);
        }
        let session = &mut self.sessions[into.0 as usize];
        session.rows += rows;
        self.frame.aggregates.merge(session.slot, slot);
        self.frame.aggregates.release(slot);
    }

    /// Takes a session out of its key's list.
    fn unlink(&mut self, id: Id) {
        let (key, next) = (self.sessions[id.0 as usize].key, self.sessions[id.0 as usize].next);
        let mut at = self.keys[key.0 as usize].head;
        if at == Some(id) {
            self.keys[key.0 as usize].head = next;
            return;
        }
        while let Some(before) = at {
            at = self.sessions[before.0 as usize].next;
            if at == Some(id) {
                self.sessions[before.0 as usize].next = next;
                return;
            }
        }
    }

    fn recycle(&mut self, id: Id) {
        self.sessions[id.0 as usize].epoch += 1;
        self.free.push(id);
    }

    /// Forgets a key that has no open session.
    fn forget_key(&mut self, key: KeyId) {
        let entry = &mut self.keys[key.0 as usize];
        if entry.head.is_none()
            && let Ok(found) = self.table.find_entry(entry.hash, |&id| id == key)
        {
            found.remove();
            self.key_bytes -= entry.bytes.heap();
            entry.bytes = KeyBytes::new(&[]);
            self.free_keys.push(key);
        }
    }

    /// The sessions final at `mark`, in output order.
    fn take_final(&mut self, mark: Watermark) -> Vec<(Window, Id)> {
        let mut done = Vec::new();
        while let Some(&Reverse((end, id, epoch))) = self.ends.peek() {
            if !mark.has_passed(end) {
                break;
            }
            self.ends.pop();
            let session = &self.sessions[id.0 as usize];
            if session.epoch != epoch {
                continue;
            }
            let now = self.end(session);
            if mark.has_passed(now) {
                done.push((Window::new(session.first, now), id));
            } else {
                self.ends.push(Reverse((now, id, epoch)));
            }
        }
        let key = |id: Id| self.keys[self.sessions[id.0 as usize].key.0 as usize].bytes.get();
        done.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| key(a.1).cmp(key(b.1))));
        done
    }

    /// Writes a final session, or counts its rows as outside.
    fn close(&mut self, window: Window, id: Id) {
        self.unlink(id);
        let session = &self.sessions[id.0 as usize];
        let (slot, key, rows) = (session.slot, session.key, session.rows);
        self.recycle(id);
        let written = self.frame.range.holds(window.start);
        for (input, rows) in self.by_input.remove(&id).unwrap_or_default() {
            let ledger = self.frame.tally.input(input as usize);
            *if written { &mut ledger.used } else { &mut ledger.outside } += rows;
        }
        let entry = &self.keys[key.0 as usize];
        self.frame.results.weigh(entry.hash, entry.bytes.get(), rows);
        if written {
            self.frame.results.push(window, entry.bytes.get(), slot, true);
        } else {
            self.frame.aggregates.release(slot);
        }
        self.forget_key(key);
    }

    /// The key of each row. Looked up for the whole batch before anything else is done with the rows, so that the
    /// look-ups, most of which miss the cache, overlap.
    fn key_ids(&mut self, batch: &EventBatch) -> Vec<KeyId> {
        let keys = self.frame.keys_of(batch);
        let rows = 0..batch.times.len();
        if !keys.is_shared() {
            return rows.map(|row| self.key_of(keys.hash(row), keys.key(row))).collect();
        }
        let mut known = vec![None; keys.len()];
        let mut id_of = |index: usize| match known[index] {
            Some(id) => id,
            None => *known[index].insert(self.key_of(keys.hash(index), keys.key(index))),
        };
        rows.map(|row| id_of(keys.index(row))).collect()
    }

    /// Gives each row of a batch its session. Slots may be merged on the way, so rows are handed to the aggregates
    /// before a merge would make one of them stale.
    fn take_rows(&mut self, batch: &EventBatch, out: &mut dyn Emit) -> Result<()> {
        let keys = self.key_ids(batch);
        let (mut slots, mut rows) = (Vec::with_capacity(keys.len()), Vec::with_capacity(keys.len()));
        let mut late_keys = Vec::new();
        for (row, (ts, &key)) in batch.times.iter().zip(&keys).enumerate() {
            if !batch.is_selected(row) {
                self.frame.tally.input(batch.positions.get(row).input()).filtered += 1;
                continue;
            }
            let (judge, job) = (batch.marks.judge(row), batch.marks.job(row));
            if self.would_merge(key, ts, job) {
                self.update(&mut slots, &mut rows, batch)?;
            }
            match self.place(key, ts, judge, job) {
                Ok(id) => {
                    self.count(id, batch.positions.get(row).input());
                    slots.push(self.sessions[id.0 as usize].slot);
                    rows.push(row as u32);
                }
                Err(window_end) => {
                    self.frame.tally.input(batch.positions.get(row).input()).late += 1;
                    out.late(Late { side: Side::Left, row, mark: judge, window_end })?;
                    late_keys.push(key);
                }
            }
        }
        late_keys.into_iter().for_each(|key| self.forget_key(key));
        self.update(&mut slots, &mut rows, batch)
    }

    /// Whether an event may join two sessions of its key. Nearly all keys have one at most.
    fn would_merge(&self, key: KeyId, ts: Ts, job: Watermark) -> bool {
        let Some(head) = self.keys[key.0 as usize].head else { return false };
        if self.sessions[head.0 as usize].next.is_none() {
            return false;
        }
        let mut touched = 0;
        let mut at = Some(head);
        while let Some(id) = at {
            let session = &self.sessions[id.0 as usize];
            touched += u32::from(self.touches(session, ts) && !job.has_passed(self.end(session)));
            at = session.next;
        }
        touched > 1
    }

    fn update(&mut self, slots: &mut Vec<Slot>, rows: &mut Vec<u32>, batch: &EventBatch) -> Result<()> {
        self.frame.aggregates.update(slots, rows, batch)?;
        slots.clear();
        rows.clear();
        Ok(())
    }

    fn count(&mut self, id: Id, input: usize) {
        let session = &mut self.sessions[id.0 as usize];
        session.rows += 1;
        if self.frame.range.is_everything() {
            self.frame.tally.input(input).used += 1;
        } else {
            add_rows(self.by_input.entry(id).or_default(), input as u32, 1);
        }
    }
}

fn add_rows(inputs: &mut Vec<(u32, u64)>, input: u32, rows: u64) {
    match inputs.iter_mut().find(|(other, _)| *other == input) {
        Some((_, count)) => *count += rows,
        None => inputs.push((input, rows)),
    }
}

impl Operator for Sessions {
    fn on_batch(&mut self, batch: &EventBatch, out: &mut dyn Emit) -> Result<()> {
        self.take_rows(batch, out)?;
        self.on_watermark(batch.last_mark, out)
    }

    fn on_watermark(&mut self, mark: Watermark, out: &mut dyn Emit) -> Result<()> {
        for (window, id) in self.take_final(mark) {
            self.frame.tally.fired(mark, 1);
            self.close(window, id);
            if self.frame.results.is_full() {
                self.frame.write(false, out)?;
            }
        }
        self.frame.write(mark == Watermark::END, out)?;
        if mark == Watermark::END {
            self.frame.tally.heaviest = self.frame.results.heaviest();
        }
        Ok(())
    }

    fn retype(&mut self, types: &[FieldType]) -> Result<()> {
        let keys = self.frame.widen(types)?;
        if let Some(to) = &keys {
            self.rekey(to);
        }
        self.frame.rebind(keys)
    }

    fn schema(&self) -> SchemaRef {
        self.frame.schema()
    }

    fn state(&self) -> StateSize {
        let open = (self.sessions.len() - self.free.len()) as u64;
        let bytes = self.frame.aggregates.bytes()
            + self.sessions.capacity() * size_of::<Session>()
            + self.ends.capacity() * size_of::<Reverse<(Ts, Id, u32)>>()
            + self.keys.capacity() * size_of::<KeyEntry>()
            + self.table.capacity() * 5
            + self.key_bytes;
        StateSize { windows: open, groups: open, rows: 0, bytes: bytes as u64 }
    }

    fn tally(&self) -> &Tally {
        &self.frame.tally
    }
}

impl Sessions {
    /// Gives every key its new type. Distinct keys stay distinct: an integer as a double or as text is itself, but
    /// for integers beyond 2^53 as doubles, whose sessions then stand under one key without being merged.
    fn rekey(&mut self, to: &[FieldType]) {
        let old: Vec<&[u8]> = self.keys.iter().map(|entry| entry.bytes.get()).collect();
        let new = keys::retype(&old, self.frame.results.key_types(), to);
        self.table.clear();
        for i in 0..self.keys.len() {
            if self.keys[i].head.is_some() {
                let (hash, bytes) = (new.hash(i), KeyBytes::new(new.key(i)));
                self.key_bytes = self.key_bytes + bytes.heap() - self.keys[i].bytes.heap();
                (self.keys[i].hash, self.keys[i].bytes) = (hash, bytes);
                let keys = &self.keys;
                self.table.insert_unique(hash, KeyId(i as u32), |&id| keys[id.0 as usize].hash);
            }
        }
    }
}
