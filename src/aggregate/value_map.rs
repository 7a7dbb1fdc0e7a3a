//! Different values, each with something kept beside it: the sets of `count(DISTINCT x)`, the counts of `mode`.
//!
//! Most groups see a handful of values, so the first stands in the map itself, the next few in a short list that is
//! searched from end to end, and only more make a hash table. Must not know columns or slots. No result may depend on
//! the order in which [`ValueMap::for_each`] goes.

use super::saved::{Reader, write_u64};
use super::value::Value;
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// A list longer than this becomes a table.
const LIST: usize = 8;

/// Different values of one type and what is kept beside each.
#[derive(Default)]
pub(super) enum ValueMap<V, T> {
    /// Nothing.
    #[default]
    Empty,
    /// One value.
    One(V, T),
    /// A few.
    List(Vec<(V, T)>),
    /// Many.
    Table(HashTable<(V, T)>),
}

impl<V: Value, T> ValueMap<V, T> {
    /// How many different values there are.
    pub(super) fn len(&self) -> usize {
        match self {
            ValueMap::Empty => 0,
            ValueMap::One(..) => 1,
            ValueMap::List(list) => list.len(),
            ValueMap::Table(table) => table.len(),
        }
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        matches!(self, ValueMap::Empty)
    }

    /// Goes through the values in any order.
    pub(super) fn for_each<'a>(&'a self, mut take: impl FnMut(&'a V, &'a T)) {
        match self {
            ValueMap::Empty => {}
            ValueMap::One(value, kept) => take(value, kept),
            ValueMap::List(list) => list.iter().for_each(|(value, kept)| take(value, kept)),
            ValueMap::Table(table) => table.iter().for_each(|(value, kept)| take(value, kept)),
        }
    }

    /// Adds a value with `new`, or combines `new` with what is kept beside it. `heap` counts bytes held outside.
    #[inline]
    pub(super) fn fold(&mut self, value: &V::Ref, new: T, combine: impl FnOnce(&mut T, T), heap: &mut usize) {
        let found = match self {
            ValueMap::Empty => None,
            ValueMap::One(old, kept) => (V::borrow(old) == value).then_some(kept),
            ValueMap::List(list) => list.iter_mut().find(|(old, _)| old.borrow() == value).map(|(_, kept)| kept),
            ValueMap::Table(table) => {
                table.find_mut(hash::<V>(value), |(old, _)| old.borrow() == value).map(|(_, kept)| kept)
            }
        };
        match found {
            Some(kept) => combine(kept, new),
            None => self.add(value, new, heap),
        }
    }

    /// Adds a value that is not there yet.
    fn add(&mut self, value: &V::Ref, new: T, heap: &mut usize) {
        let before = self.own_bytes();
        let value = V::own(value);
        *heap += value.heap();
        if let ValueMap::Table(table) = self {
            insert_new(table, (value, new));
        } else {
            self.grow((value, new));
        }
        *heap = *heap + self.own_bytes() - before;
    }

    fn grow(&mut self, new: (V, T)) {
        *self = match std::mem::take(self) {
            ValueMap::Empty => ValueMap::One(new.0, new.1),
            ValueMap::One(value, kept) => ValueMap::List(vec![(value, kept), new]),
            ValueMap::List(list) if list.len() == LIST => {
                let mut table = HashTable::with_capacity(2 * LIST);
                list.into_iter().chain([new]).for_each(|entry| insert_new(&mut table, entry));
                ValueMap::Table(table)
            }
            ValueMap::List(mut list) => {
                list.push(new);
                ValueMap::List(list)
            }
            ValueMap::Table(mut table) => {
                insert_new(&mut table, new);
                ValueMap::Table(table)
            }
        };
    }

    fn own_bytes(&self) -> usize {
        match self {
            ValueMap::Empty | ValueMap::One(..) => 0,
            ValueMap::List(list) => list.capacity() * size_of::<(V, T)>(),
            ValueMap::Table(table) => table.allocation_size(),
        }
    }

    /// Bytes held outside of the map itself.
    pub(super) fn heap(&self) -> usize {
        let mut values = 0;
        self.for_each(|value, _| values += value.heap());
        values + self.own_bytes()
    }

    /// Writes all values, with what `write` writes for what is kept beside each.
    pub(super) fn write(&self, out: &mut Vec<u8>, mut write: impl FnMut(&T, &mut Vec<u8>)) {
        write_u64(self.len() as u64, out);
        self.for_each(|value, kept| {
            value.write(out);
            write(kept, out);
        });
    }

    /// Reads what was written.
    pub(super) fn read(
        reader: &mut Reader<'_>,
        mut read: impl FnMut(&mut Reader<'_>) -> Option<T>,
    ) -> Option<ValueMap<V, T>> {
        let mut map = ValueMap::Empty;
        let len = reader.len()?;
        for _ in 0..len {
            let value = V::read(reader)?;
            map.fold(value.borrow(), read(reader)?, |_, _| {}, &mut 0);
        }
        (map.len() == len).then_some(map)
    }
}

/// The same hash in every run: results do not depend on it, and neither should times.
#[inline]
fn hash<V: Value>(value: &V::Ref) -> u64 {
    FixedState::default().hash_one(value)
}

fn insert_new<V: Value, T>(table: &mut HashTable<(V, T)>, entry: (V, T)) {
    table.insert_unique(hash::<V>(entry.0.borrow()), entry, |(old, _)| hash::<V>(old.borrow()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_group_of_one_holds_nothing_outside() {
        let (mut map, mut heap) = (ValueMap::<i64, ()>::Empty, 0);
        (0..5).for_each(|_| map.fold(&7, (), |_, ()| {}, &mut heap));
        assert_eq!((map.len(), heap), (1, 0));
        assert!(size_of::<ValueMap<i64, ()>>() <= 40 && size_of::<ValueMap<Box<str>, ()>>() <= 40);
    }

    proptest! {
        #[test]
        fn it_is_a_map(values in prop::collection::vec(0i64..40, 0..120)) {
            let (mut map, mut model, mut heap) = (ValueMap::<Box<str>, u64>::Empty, BTreeMap::new(), 0);
            for value in values {
                map.fold(&value.to_string(), 1, |kept, more| *kept += more, &mut heap);
                *model.entry(value.to_string()).or_insert(0) += 1;
                prop_assert_eq!(heap, map.heap());
            }
            let mut found = BTreeMap::new();
            map.for_each(|value, kept| assert!(found.insert(value.to_string(), *kept).is_none()));
            prop_assert_eq!(&found, &model);
            let mut bytes = Vec::new();
            map.write(&mut bytes, |kept, out| write_u64(*kept, out));
            prop_assert_eq!(map.len(), model.len());
        }
    }
}
