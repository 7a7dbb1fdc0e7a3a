//! When rows of one side are forgotten: a queue by the instant of their last possible partner, then by arrival.
//!
//! Must not know rows or marks. Rows that come in order, most do, cost a push and a pop at the ends of a queue; the
//! others wait in a heap.

use super::store::RowId;
use crate::time::Ts;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The instant after which no partner can come, and the row.
pub(super) type Due = (Ts, RowId);

/// Rows by when they are due.
#[derive(Default)]
pub(super) struct Expiry {
    in_order: VecDeque<Due>,
    others: BinaryHeap<Reverse<Due>>,
}

impl Expiry {
    /// Adds a row that came after all before it. Of two that are out of order the one goes to the heap that lets the
    /// other stay in the queue: a single row far ahead does not send all that follow there.
    #[inline]
    pub(super) fn push(&mut self, due: Due) {
        match self.in_order.back() {
            Some(last) if due < *last => self.push_out_of_order(due),
            _ => self.in_order.push_back(due),
        }
    }

    fn push_out_of_order(&mut self, due: Due) {
        let before_last = self.in_order.len().checked_sub(2).map(|at| self.in_order[at]);
        if before_last.is_some_and(|before| due < before) {
            self.others.push(Reverse(due));
        } else {
            self.others.extend(self.in_order.pop_back().map(Reverse));
            self.in_order.push_back(due);
        }
    }

    /// The row that is due first.
    #[inline]
    pub(super) fn first(&self) -> Option<Due> {
        match (self.in_order.front(), self.others.peek()) {
            (Some(a), Some(Reverse(b))) => Some(*a.min(b)),
            (Some(a), None) => Some(*a),
            (None, Some(Reverse(b))) => Some(*b),
            (None, None) => None,
        }
    }

    /// Takes the first row off.
    pub(super) fn pop(&mut self) {
        match (self.in_order.front(), self.others.peek()) {
            (Some(a), Some(Reverse(b))) if b < a => drop(self.others.pop()),
            (None, _) => drop(self.others.pop()),
            _ => drop(self.in_order.pop_front()),
        }
    }

    /// Bytes of memory held.
    pub(super) fn bytes(&self) -> usize {
        (self.in_order.capacity() + self.others.capacity()) * size_of::<Due>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_come_out_by_instant_then_arrival(times in proptest::collection::vec(0..20i64, 0..50)) {
            let mut expiry = Expiry::default();
            let mut want = Vec::new();
            for (i, &t) in times.iter().enumerate() {
                let due = (Ts::from_micros(t), RowId::FIRST.plus(i));
                expiry.push(due);
                want.push(due);
                if i % 5 == 4 {
                    want.sort_unstable();
                    prop_assert_eq!(expiry.first(), Some(want.remove(0)));
                    expiry.pop();
                }
            }
            want.sort_unstable();
            for due in want {
                prop_assert_eq!(expiry.first(), Some(due));
                expiry.pop();
            }
            prop_assert_eq!(expiry.first(), None);
        }
    }
}
