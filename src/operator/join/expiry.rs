//! When rows of one side come out without a partner: a queue by the instant of their last possible partner, then by
//! arrival.
//!
//! Rows that are due far ahead lie in buckets of time, unsorted; a bucket is sorted when its time begins. Rows that are
//! due within buckets that were opened stand in a queue if they come in order, most do, and otherwise in a heap. Must
//! not know rows or marks.

use super::store::RowId;
use crate::time::{Span, Ts};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// Into how many buckets at least the time falls that rows wait for.
const BUCKETS: u64 = 32;

/// The shortest bucket has two to the power of so many microseconds: a second.
const SHORTEST: u32 = 20;

/// An empty queue keeps room for so many rows.
const SPARE: usize = 256;

/// The instant after which no partner can come, and the row.
pub(super) type Due = (Ts, RowId);

/// Rows by when they are due.
pub(super) struct Expiry {
    in_order: VecDeque<Due>,
    others: BinaryHeap<Reverse<Due>>,
    /// Rows of each bucket that was not opened.
    later: BTreeMap<i64, Vec<Due>>,
    rows_later: usize,
    /// The first bucket that may not have been opened.
    edge: i64,
    /// A bucket has two to the power of so many microseconds.
    bits: u32,
}

impl Expiry {
    /// No rows yet, which will be due about so long after their own time.
    pub(super) fn new(wait: Span) -> Self {
        let bits = u64::BITS - (wait.micros().unsigned_abs() / BUCKETS).leading_zeros();
        Expiry {
            in_order: VecDeque::new(),
            others: BinaryHeap::new(),
            later: BTreeMap::new(),
            rows_later: 0,
            edge: i64::MIN,
            bits: bits.max(SHORTEST),
        }
    }

    /// Adds a row that came after all before it.
    #[inline]
    pub(super) fn push(&mut self, due: Due) {
        let bucket = due.0.micros() >> self.bits;
        if bucket >= self.edge {
            self.later.entry(bucket).or_default().push(due);
            self.rows_later += 1;
        } else {
            self.push_soon(due);
        }
    }

    /// Of two that are out of order the one goes to the heap that lets the other stay in the queue: a single row far
    /// ahead does not send all that follow there.
    fn push_soon(&mut self, due: Due) {
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

    /// The first row, if its instant is past.
    #[inline]
    pub(super) fn first(&mut self, is_past: impl Fn(Ts) -> bool) -> Option<Due> {
        while let Some((&bucket, _)) = self.later.first_key_value()
            && is_past(Ts::from_micros(bucket << self.bits))
        {
            self.open();
        }
        let first = match (self.in_order.front(), self.others.peek()) {
            (Some(a), Some(Reverse(b))) => *a.min(b),
            (Some(a), None) => *a,
            (None, Some(Reverse(b))) => *b,
            (None, None) => return None,
        };
        is_past(first.0).then_some(first)
    }

    /// Puts the first bucket's rows behind all that are due before them.
    fn open(&mut self) {
        if let Some((bucket, mut rows)) = self.later.pop_first() {
            rows.sort_unstable();
            self.rows_later -= rows.len();
            match self.in_order.is_empty() {
                true => self.in_order = rows.into(),
                false => self.in_order.extend(rows),
            }
            self.edge = bucket + 1;
        }
    }

    /// Takes the first row off.
    pub(super) fn pop(&mut self) {
        match (self.in_order.front(), self.others.peek()) {
            (Some(a), Some(Reverse(b))) if b < a => drop(self.others.pop()),
            (None, _) => drop(self.others.pop()),
            _ => drop(self.in_order.pop_front()),
        }
        if self.in_order.is_empty() && self.in_order.capacity() > SPARE {
            self.in_order = VecDeque::new();
        }
    }

    /// Bytes of memory held.
    pub(super) fn bytes(&self) -> usize {
        (self.in_order.capacity() + self.others.capacity() + self.rows_later) * size_of::<Due>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pop(expiry: &mut Expiry, is_past: impl Fn(Ts) -> bool) -> Option<Due> {
        let first = expiry.first(is_past)?;
        expiry.pop();
        Some(first)
    }

    proptest! {
        #[test]
        fn rows_come_out_by_instant_then_arrival(
            times in proptest::collection::vec(-9_000_000..9_000_000i64, 0..90), unit in prop_oneof![Just(1), Just(1_000_000)]
        ) {
            let mut expiry = Expiry::new(Span::ZERO);
            let mut want: Vec<Due> = Vec::new();
            let mut mark = Ts::MIN;
            for (i, &t) in times.iter().enumerate() {
                // Rows that are past never come in.
                let ts = Ts::from_micros(t / unit * unit).max(mark);
                expiry.push((ts, RowId::FIRST.plus(i)));
                want.push((ts, RowId::FIRST.plus(i)));
                if i % 7 == 6 {
                    want.sort_unstable();
                    mark = want[want.len() / 3].0;
                    while want.first().is_some_and(|due| due.0 < mark) {
                        prop_assert_eq!(pop(&mut expiry, |ts| ts < mark), Some(want.remove(0)));
                    }
                    prop_assert_eq!(expiry.first(|ts| ts < mark), None);
                }
            }
            want.sort_unstable();
            for due in want {
                prop_assert_eq!(pop(&mut expiry, |_| true), Some(due));
            }
            prop_assert_eq!((expiry.first(|_| true), expiry.rows_later), (None, 0));
        }
    }

    #[test]
    fn buckets_follow_the_time_that_rows_wait_for() {
        let bits = |micros| Expiry::new(Span::from_micros(micros)).bits;
        assert_eq!((bits(0), bits(-5), bits(1_800_000_000), bits(i64::MIN)), (20, 20, 26, 59));
    }
}
