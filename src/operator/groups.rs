//! One table of groups: the keys of one pane or window, and the slot that each has.
//!
//! Keys stand one behind another in the table's own arena, so that closing a window frees them all at once and
//! walking them is a walk through memory. Must not know windows or what is aggregated.

use super::Aggregates;
use crate::aggregate::Slot;
use crate::keys;
use crate::schema::FieldType;
use hashbrown::HashTable;

/// One group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    hash: u64,
    start: u32,
    len: u32,
    /// Where its aggregates are.
    pub(super) slot: Slot,
    /// Rows taken in.
    pub(super) rows: u32,
}

/// Keys to groups.
#[derive(Debug, Default)]
pub(super) struct Groups {
    table: HashTable<u32>,
    groups: Vec<Group>,
    arena: Vec<u8>,
}

impl Groups {
    /// The index of a key's group. A new key gets a slot from `open`.
    #[inline]
    pub(super) fn find_or_insert(&mut self, hash: u64, key: &[u8], open: impl FnOnce() -> Slot) -> usize {
        let (groups, arena) = (&self.groups, &self.arena);
        let found = self.table.find(hash, |&i| {
            let group = &groups[i as usize];
            group.hash == hash && same(bytes(arena, group), key)
        });
        match found {
            Some(&index) => index as usize,
            None => self.insert(hash, key, open()),
        }
    }

    #[cold]
    fn insert(&mut self, hash: u64, key: &[u8], slot: Slot) -> usize {
        let index = self.groups.len();
        let start = self.arena.len() as u32;
        self.arena.extend_from_slice(key);
        self.groups.push(Group { hash, start, len: key.len() as u32, slot, rows: 0 });
        let groups = &self.groups;
        self.table.insert_unique(hash, index as u32, |&i| groups[i as usize].hash);
        index
    }

    /// The group at an index.
    #[inline]
    pub(super) fn group(&mut self, index: usize) -> &mut Group {
        &mut self.groups[index]
    }

    /// The key of a group.
    pub(super) fn key(&self, group: &Group) -> &[u8] {
        bytes(&self.arena, group)
    }

    /// All groups, in the order of their first rows.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &Group> {
        self.groups.iter()
    }

    /// The hash of a group's key.
    pub(super) fn hash(group: &Group) -> u64 {
        group.hash
    }

    /// All groups by their keys.
    pub(super) fn sorted(&self) -> Vec<&Group> {
        let shared = self.shared_prefix();
        let mut order: Vec<(u64, &Group)> = self.groups.iter().map(|g| (prefix(&self.key(g)[shared..]), g)).collect();
        order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| self.key(a.1).cmp(self.key(b.1))));
        order.into_iter().map(|(_, group)| group).collect()
    }

    /// The same groups under keys of other types. Groups whose keys become one are merged.
    pub(super) fn rekeyed(&self, from: &[FieldType], to: &[FieldType], aggregates: &mut Aggregates) -> Self {
        let old: Vec<&[u8]> = self.iter().map(|group| self.key(group)).collect();
        let keys = keys::retype(&old, from, to);
        let mut new = Self::default();
        for (i, group) in self.iter().enumerate() {
            let at = new.find_or_insert(keys.hash(i), keys.key(i), || group.slot);
            if new.groups[at].slot != group.slot {
                aggregates.merge(new.groups[at].slot, group.slot);
                aggregates.release(group.slot);
            }
            new.groups[at].rows += group.rows;
        }
        new
    }

    /// How many bytes all keys begin with: `page-`.
    fn shared_prefix(&self) -> usize {
        let Some(first) = self.groups.first().map(|group| self.key(group)) else { return 0 };
        self.groups.iter().fold(first.len(), |shared, group| {
            let same = first[..shared].iter().zip(self.key(group)).take_while(|(a, b)| a == b);
            same.count()
        })
    }

    /// Forgets all groups and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.table.clear();
        self.groups.clear();
        self.arena.clear();
    }

    /// Bytes of memory held.
    pub(super) fn bytes(&self) -> usize {
        self.table.capacity() * 5 + self.groups.capacity() * size_of::<Group>() + self.arena.capacity()
    }
}

fn bytes<'a>(arena: &'a [u8], group: &Group) -> &'a [u8] {
    &arena[group.start as usize..][..group.len as usize]
}

/// Whether two keys are equal. Most fit into two words, which spares a call.
#[inline]
fn same(a: &[u8], b: &[u8]) -> bool {
    match (a.first_chunk::<8>(), b.first_chunk::<8>(), a.last_chunk::<8>(), b.last_chunk::<8>()) {
        (Some(a_head), Some(b_head), Some(a_tail), Some(b_tail)) if a.len() == b.len() && a.len() <= 16 => {
            a_head == b_head && a_tail == b_tail
        }
        _ => a == b,
    }
}

/// The first eight bytes as a number that orders as they do; most comparisons end here.
fn prefix(key: &[u8]) -> u64 {
    let mut first = [0; 8];
    let shown = key.len().min(8);
    first[..shown].copy_from_slice(&key[..shown]);
    u64::from_be_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn groups_come_out_by_key_and_each_once(keys in proptest::collection::vec("(page-)?[a-c]{0,20}", 0..60)) {
            let mut groups = Groups::default();
            for (i, key) in keys.iter().enumerate() {
                let at = groups.find_or_insert(keys::hash(key.as_bytes()), key.as_bytes(), || Slot(i as u32));
                groups.group(at).rows += 1;
            }
            let mut want: Vec<&str> = keys.iter().map(String::as_str).collect();
            let rows = want.len() as u32;
            want.sort_unstable();
            want.dedup();
            let sorted = groups.sorted();
            let got: Vec<&[u8]> = sorted.iter().map(|group| groups.key(group)).collect();
            prop_assert_eq!(got, want.iter().map(|key| key.as_bytes()).collect::<Vec<_>>());
            prop_assert_eq!(sorted.iter().map(|group| group.rows).sum::<u32>(), rows);
        }
    }
}
