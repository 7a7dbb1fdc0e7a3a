//! `count(DISTINCT x)`: how many different values, exactly.
//!
//! One set per slot. Most groups see a handful of values, so the first stands in the cell, the next few in a short
//! list that is searched from end to end, and only more make a hash table. Must not know columns.

use super::Accumulator;
use super::cells::{Cells, Family};
use super::column::Moment;
use super::value::Value;
use crate::schema::FieldType;
use arrow::array::{ArrayRef, Int64Array};
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher;
use std::sync::Arc;

/// A list longer than this becomes a table.
const LIST: usize = 8;

/// The state for arguments of this type.
pub(super) fn build(argument: FieldType) -> Box<dyn Accumulator> {
    Box::new(Cells::<Distinct>::new(argument))
}

struct Distinct;

/// A set of values.
#[derive(Default)]
enum Set<V> {
    #[default]
    Empty,
    One(V),
    List(Vec<V>),
    Table(HashTable<V>),
}

impl<V: Value> Set<V> {
    fn len(&self) -> usize {
        match self {
            Set::Empty => 0,
            Set::One(_) => 1,
            Set::List(list) => list.len(),
            Set::Table(table) => table.len(),
        }
    }

    fn for_each<'a>(&'a self, mut take: impl FnMut(&'a V)) {
        match self {
            Set::Empty => {}
            Set::One(value) => take(value),
            Set::List(list) => list.iter().for_each(take),
            Set::Table(table) => table.iter().for_each(take),
        }
    }

    #[inline]
    fn insert(&mut self, value: &V::Ref, heap: &mut usize) {
        match self {
            Set::One(old) if old.borrow() == value => {}
            Set::List(list) if list.iter().any(|old| old.borrow() == value) => {}
            Set::Table(table) => insert_into_table(table, value, heap),
            _ => self.grow(value, heap),
        }
    }

    /// Adds a value that is not in this set, which is not a table.
    fn grow(&mut self, value: &V::Ref, heap: &mut usize) {
        let before = self.heap();
        let value = V::own(value);
        *self = match std::mem::take(self) {
            Set::Empty => Set::One(value),
            Set::One(old) => Set::List(vec![old, value]),
            Set::List(list) if list.len() == LIST => {
                let mut table = HashTable::with_capacity(2 * LIST);
                list.into_iter().chain([value]).for_each(|value| insert_new(&mut table, value));
                Set::Table(table)
            }
            Set::List(mut list) => {
                list.push(value);
                Set::List(list)
            }
            Set::Table(mut table) => {
                insert_new(&mut table, value);
                Set::Table(table)
            }
        };
        *heap = *heap + self.heap() - before;
    }

    fn heap(&self) -> usize {
        let mut values = 0;
        self.for_each(|value| values += value.heap());
        let own = match self {
            Set::Empty | Set::One(_) => 0,
            Set::List(list) => list.capacity() * size_of::<V>(),
            Set::Table(table) => table.allocation_size(),
        };
        values + own
    }
}

/// The same hash in every run: results do not depend on it, and neither should times.
#[inline]
fn hash<V: Value>(value: &V::Ref) -> u64 {
    FixedState::default().hash_one(value)
}

#[inline]
fn insert_into_table<V: Value>(table: &mut HashTable<V>, value: &V::Ref, heap: &mut usize) {
    if table.find(hash::<V>(value), |old| old.borrow() == value).is_none() {
        let before = table.allocation_size();
        let value = V::own(value);
        *heap += value.heap();
        insert_new(table, value);
        *heap += table.allocation_size() - before;
    }
}

fn insert_new<V: Value>(table: &mut HashTable<V>, value: V) {
    table.insert_unique(hash::<V>(value.borrow()), value, |old| hash::<V>(old.borrow()));
}

impl Family for Distinct {
    type Cell<V: Value> = Set<V>;

    const ORDERED: bool = false;

    #[inline]
    fn take<V: Value>(cell: &mut Set<V>, _: Moment, value: &V::Ref, heap: &mut usize) {
        cell.insert(value, heap);
    }

    fn merge<V: Value>(into: &mut Set<V>, from: &Set<V>, heap: &mut usize) {
        from.for_each(|value| into.insert(value.borrow(), heap));
    }

    fn map<V: Value, W: Value>(cell: &Set<V>, to: impl Fn(&V) -> W, heap: &mut usize) -> Set<W> {
        let mut new = Set::Empty;
        cell.for_each(|value| new.insert(to(value).borrow(), heap));
        new
    }

    fn may_become_text(_: FieldType) -> bool {
        true
    }

    fn heap<V: Value>(cell: &Set<V>) -> usize {
        cell.heap()
    }

    fn is_empty<V: Value>(cell: &Set<V>) -> bool {
        matches!(cell, Set::Empty)
    }

    fn output(_: FieldType) -> FieldType {
        FieldType::Int
    }

    fn values<'a, V: Value>(_: FieldType, cells: impl Iterator<Item = &'a Set<V>>) -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(cells.map(|set| set.len() as i64)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_group_of_one_holds_nothing_outside_its_cell() {
        let (mut set, mut heap) = (Set::<i64>::Empty, 0);
        (0..5).for_each(|_| set.insert(&7, &mut heap));
        assert_eq!((set.len(), heap), (1, 0));
        assert!(size_of::<Set<i64>>() <= 40 && size_of::<Set<Box<str>>>() <= 40);
    }

    proptest! {
        #[test]
        fn it_counts_as_a_set_does(values in prop::collection::vec(0i64..40, 0..120), at in 0usize..120) {
            let (left, right) = values.split_at(at.min(values.len()));
            let (mut a, mut b, mut heap) = (Set::<Box<str>>::Empty, Set::<Box<str>>::Empty, 0);
            left.iter().for_each(|v| a.insert(&v.to_string(), &mut heap));
            right.iter().for_each(|v| b.insert(&v.to_string(), &mut heap));
            prop_assert_eq!(heap, a.heap() + b.heap());
            Distinct::merge(&mut a, &b, &mut heap);
            prop_assert_eq!(a.len(), values.iter().collect::<BTreeSet<_>>().len());
            prop_assert_eq!(heap, a.heap() + b.heap());
        }
    }
}
