//! The groups that an updating aggregation holds: each a key's rows in one window, session or endless window, and what
//! the next writing has to know of it.
//!
//! Places are used again, so an index stands for a group only as long as that is held. Must not know what is
//! aggregated, or when rows are written.

use super::changes::Standing;
use crate::aggregate::Slot;
use crate::keys::{self, Keys};
use crate::schema::FieldType;
use crate::window::Window;
use hashbrown::HashTable;
use std::collections::BTreeSet;

/// An index into the list of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct KeyId(u32);

/// An index into the list of groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct GroupId(u32);

/// A key's rows in one window.
#[derive(Debug)]
pub(super) struct Group {
    /// Whose rows they are.
    pub(super) key: KeyId,
    /// Its bounds as they are now.
    pub(super) window: Window,
    /// Where its aggregates are.
    pub(super) slot: Slot,
    /// Rows since it was opened, or since it was purged.
    pub(super) rows: u64,
    /// It took in a row since it was last written.
    pub(super) changed: bool,
    /// It was final, and written as such.
    pub(super) fired: bool,
    /// Its values are to be read before it takes in another row.
    pub(super) awaited: bool,
    /// What stands in the output of it as it is now; none before it was first evaluated.
    pub(super) standing: Option<Standing>,
    /// What may still stand in the output of it as it was, with the bounds it had then.
    pub(super) stale: Vec<(Window, Standing)>,
    held: bool,
}

struct KeyEntry {
    hash: u64,
    bytes: Box<[u8]>,
    groups: u32,
    rows: u64,
}

/// A key that no group has any more.
pub(super) struct Gone {
    pub(super) hash: u64,
    pub(super) bytes: Box<[u8]>,
    /// The records it had.
    pub(super) rows: u64,
}

/// All groups and their keys.
#[derive(Default)]
pub(super) struct Held {
    table: HashTable<KeyId>,
    keys: Vec<KeyEntry>,
    free_keys: Vec<KeyId>,
    groups: Vec<Group>,
    free: Vec<GroupId>,
    /// The groups to be evaluated when their window is, where the rows of one are compared: those that changed.
    awaiting: Option<BTreeSet<(Window, GroupId)>>,
    key_bytes: usize,
}

impl Held {
    /// Holds nothing yet; `compares`: the changed groups of a window will be asked for.
    pub(super) fn new(compares: bool) -> Self {
        Self { awaiting: compares.then(BTreeSet::new), ..Self::default() }
    }

    /// The index of a key.
    pub(super) fn key_of(&mut self, hash: u64, bytes: &[u8]) -> KeyId {
        let keys = &self.keys;
        if let Some(&id) = self.table.find(hash, |&id| *keys[id.0 as usize].bytes == *bytes) {
            return id;
        }
        let entry = KeyEntry { hash, bytes: bytes.into(), groups: 0, rows: 0 };
        self.key_bytes += bytes.len();
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

    /// The key of a row of a batch; `known` remembers those of the batch.
    pub(super) fn key_of_row(&mut self, keys: &Keys, row: usize, known: &mut Vec<Option<KeyId>>) -> KeyId {
        let index = keys.index(row);
        if !keys.is_shared() {
            return self.key_of(keys.hash(index), keys.key(index));
        }
        known.resize(keys.len(), None);
        let (hash, bytes) = (keys.hash(index), keys.key(index));
        // It may have been forgotten meanwhile, and its place used again.
        let stands = |id: &KeyId| self.keys[id.0 as usize].groups > 0 && *self.keys[id.0 as usize].bytes == *bytes;
        match known[index].filter(stands) {
            Some(id) => id,
            None => *known[index].insert(self.key_of(hash, bytes)),
        }
    }

    /// The bytes of a key.
    pub(super) fn key(&self, id: KeyId) -> &[u8] {
        &self.keys[id.0 as usize].bytes
    }

    /// Counts a record of a key.
    pub(super) fn count(&mut self, id: KeyId) {
        self.keys[id.0 as usize].rows += 1;
    }

    /// Forgets a key that has no group.
    pub(super) fn forget_key(&mut self, id: KeyId) -> Option<Gone> {
        let entry = &mut self.keys[id.0 as usize];
        if entry.groups > 0 {
            return None;
        }
        self.table.find_entry(entry.hash, |&other| other == id).ok()?.remove();
        self.key_bytes -= entry.bytes.len();
        self.free_keys.push(id);
        Some(Gone { hash: entry.hash, bytes: std::mem::take(&mut entry.bytes), rows: entry.rows })
    }

    /// A new group.
    pub(super) fn open(&mut self, key: KeyId, window: Window, slot: Slot) -> GroupId {
        let group = Group {
            key,
            window,
            slot,
            rows: 0,
            changed: false,
            fired: false,
            awaited: false,
            standing: None,
            stale: Vec::new(),
            held: true,
        };
        let id = match self.free.pop() {
            Some(id) => {
                self.groups[id.0 as usize] = group;
                id
            }
            None => {
                self.groups.push(group);
                GroupId(self.groups.len() as u32 - 1)
            }
        };
        self.keys[key.0 as usize].groups += 1;
        id
    }

    /// A group.
    #[inline]
    pub(super) fn get(&self, id: GroupId) -> &Group {
        &self.groups[id.0 as usize]
    }

    /// A group, to be changed; its bounds only by [`Held::move_to`].
    #[inline]
    pub(super) fn get_mut(&mut self, id: GroupId) -> &mut Group {
        &mut self.groups[id.0 as usize]
    }

    /// Whether the index stands for a group.
    pub(super) fn is_held(&self, id: GroupId) -> bool {
        self.groups[id.0 as usize].held
    }

    /// Gives a group other bounds. What stands in the output of it becomes stale.
    pub(super) fn move_to(&mut self, id: GroupId, window: Window) {
        let group = &mut self.groups[id.0 as usize];
        let old = std::mem::replace(&mut group.window, window);
        if let Some(standing) = group.standing.take() {
            group.stale.push((old, standing));
        }
        if let Some(awaiting) = &mut self.awaiting
            && awaiting.remove(&(old, id))
        {
            awaiting.insert((window, id));
        }
    }

    /// Gives a group's place back. What is left of it is the caller's to dispose of.
    pub(super) fn drop_group(&mut self, id: GroupId) {
        let group = &mut self.groups[id.0 as usize];
        (group.held, group.changed) = (false, false);
        let (key, window) = (group.key, group.window);
        self.keys[key.0 as usize].groups -= 1;
        self.free.push(id);
        if let Some(awaiting) = &mut self.awaiting {
            awaiting.remove(&(window, id));
        }
    }

    /// A group takes in a row; whether it is the first since it was evaluated.
    pub(super) fn change(&mut self, id: GroupId) -> bool {
        let is_first = !std::mem::replace(&mut self.get_mut(id).changed, true);
        if is_first {
            self.revisit(id);
        }
        is_first
    }

    /// A group is to be evaluated when its window is.
    fn revisit(&mut self, id: GroupId) {
        let window = self.get(id).window;
        if let Some(awaiting) = &mut self.awaiting {
            awaiting.insert((window, id));
        }
    }

    /// All groups that hold rows are to be evaluated when their windows are.
    pub(super) fn revisit_all(&mut self) {
        let mut groups = self.all();
        groups.retain(|id| self.get(*id).rows > 0);
        groups.into_iter().for_each(|id| self.revisit(id));
    }

    /// A group is evaluated; whether it changed since it was before.
    pub(super) fn settle(&mut self, id: GroupId) -> bool {
        let group = self.get_mut(id);
        let (window, changed) = (group.window, std::mem::take(&mut group.changed));
        if let Some(awaiting) = &mut self.awaiting {
            awaiting.remove(&(window, id));
        }
        changed
    }

    /// The groups of a window that are to be evaluated with it.
    pub(super) fn awaiting(&self, window: Window) -> impl Iterator<Item = GroupId> {
        let all = (window, GroupId(0))..=(window, GroupId(u32::MAX));
        self.awaiting.iter().flat_map(move |awaiting| awaiting.range(all.clone())).map(|(_, id)| *id)
    }

    /// Whether the rows of a window are compared.
    pub(super) fn compares(&self) -> bool {
        self.awaiting.is_some()
    }

    /// All groups.
    pub(super) fn all(&self) -> Vec<GroupId> {
        (0..self.groups.len() as u32).map(GroupId).filter(|id| self.is_held(*id)).collect()
    }

    /// Orders groups by (end, start, key).
    pub(super) fn sort(&self, groups: &mut [GroupId]) {
        let order = |id: &GroupId| {
            let group = self.get(*id);
            (group.window, self.key(group.key))
        };
        groups.sort_unstable_by(|a, b| order(a).cmp(&order(b)));
    }

    /// How many groups there are.
    pub(super) fn len(&self) -> usize {
        self.groups.len() - self.free.len()
    }

    /// Gives every key another type. Keys that become one (integers beyond 2^53 as doubles) keep their own groups.
    pub(super) fn rekey(&mut self, from: &[FieldType], to: &[FieldType]) {
        let old: Vec<&[u8]> = self.keys.iter().map(|entry| &*entry.bytes).collect();
        let new = keys::retype(&old, from, to);
        self.table.clear();
        for i in 0..self.keys.len() {
            if self.keys[i].groups > 0 {
                let entry = &mut self.keys[i];
                self.key_bytes = self.key_bytes + new.key(i).len() - entry.bytes.len();
                (entry.hash, entry.bytes) = (new.hash(i), new.key(i).into());
                let keys = &self.keys;
                self.table.insert_unique(new.hash(i), KeyId(i as u32), |&id| keys[id.0 as usize].hash);
            }
        }
    }

    /// Bytes of memory held.
    pub(super) fn bytes(&self) -> usize {
        self.groups.capacity() * size_of::<Group>()
            + self.keys.capacity() * size_of::<KeyEntry>()
            + self.table.capacity() * 5
            + self.key_bytes
            + self.awaiting.as_ref().map_or(0, |awaiting| awaiting.len() * 2 * size_of::<(Window, GroupId)>())
    }
}
