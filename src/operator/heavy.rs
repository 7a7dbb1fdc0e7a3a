//! The heaviest keys of a run, in bounded memory: Misra-Gries over groups instead of single records.
//!
//! Every count is a lower bound; a key with more than 1/[`KEPT`] of all records is always among those kept.

use hashbrown::HashTable;

const KEPT: usize = 256;

/// Keys and at least how many records each had.
#[derive(Debug, Default)]
pub(super) struct Heavy {
    table: HashTable<usize>,
    kept: Vec<(u64, Vec<u8>, u64)>,
}

impl Heavy {
    /// Adds a group's rows to its key.
    pub(super) fn add(&mut self, hash: u64, key: &[u8], rows: u64) {
        let kept = &self.kept;
        if let Some(&at) = self.table.find(hash, |&at| kept[at].1 == key) {
            self.kept[at].2 += rows;
        } else if self.kept.len() < KEPT * 2 {
            self.insert(hash, key.to_vec(), rows);
        } else {
            self.make_room();
            self.insert(hash, key.to_vec(), rows);
        }
    }

    fn insert(&mut self, hash: u64, key: Vec<u8>, rows: u64) {
        self.kept.push((hash, key, rows));
        let kept = &self.kept;
        self.table.insert_unique(hash, kept.len() - 1, |&at| kept[at].0);
    }

    /// Takes the count of the key at rank [`KEPT`] off all, and forgets those at zero: at least half of them, so that
    /// the work is shared by as many additions.
    fn make_room(&mut self) {
        let mut kept = std::mem::take(&mut self.kept);
        let (_, median, _) = kept.select_nth_unstable_by(KEPT, |a, b| (b.2, &a.1).cmp(&(a.2, &b.1)));
        let less = median.2;
        kept.retain(|entry| entry.2 > less);
        kept.sort_unstable_by(|a, b| a.1.cmp(&b.1));
        self.table.clear();
        for (hash, key, rows) in kept {
            self.insert(hash, key, rows - less);
        }
    }

    /// The `n` heaviest, most records first.
    pub(super) fn top(&self, n: usize) -> Vec<(&[u8], u64)> {
        let mut all: Vec<(&[u8], u64)> = self.kept.iter().map(|(_, key, rows)| (key.as_slice(), *rows)).collect();
        all.sort_unstable_by(|a, b| (b.1, a.0).cmp(&(a.1, b.0)));
        all.truncate(n);
        all
    }

    /// Forgets everything (the keys changed type).
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heavy_key_survives_many_light_ones() {
        let mut heavy = Heavy::default();
        for i in 0..20_000u64 {
            let light = i.to_be_bytes();
            heavy.add(crate::keys::hash(&light), &light, 1);
            if i % 50 == 0 {
                heavy.add(crate::keys::hash(b"hot"), b"hot", 2);
            }
        }
        let top = heavy.top(1);
        assert_eq!(top[0].0, b"hot");
        assert!(top[0].1 > 700 && top[0].1 <= 800, "{}", top[0].1);
    }
}
