//! Rows of one key in the order of their times.
//!
//! A few stand in a vector, where moving some along costs less than a tree; more of them in a tree, so that a hot key
//! is neither searched nor moved from end to end. Must not know keys, sides or marks.

use super::store::RowId;
use crate::time::Ts;
use std::collections::BTreeSet;

/// As many rows as stand in a vector.
const FEW: usize = 32;

/// Rows by time, then by arrival.
pub(super) enum Ordered {
    /// At most [`FEW`].
    Few(Vec<(Ts, RowId)>),
    Many(BTreeSet<(Ts, RowId)>),
}

impl Ordered {
    /// Two rows.
    pub(super) fn of(a: (Ts, RowId), b: (Ts, RowId)) -> Self {
        let mut rows = Vec::with_capacity(4);
        rows.extend([a.min(b), a.max(b)]);
        Ordered::Few(rows)
    }

    /// Adds a row.
    pub(super) fn insert(&mut self, row: (Ts, RowId)) {
        match self {
            Ordered::Many(rows) => drop(rows.insert(row)),
            Ordered::Few(rows) if rows.len() < FEW => {
                let at = rows.partition_point(|other| *other < row);
                rows.insert(at, row);
            }
            Ordered::Few(rows) => *self = Ordered::Many(rows.drain(..).chain([row]).collect()),
        }
    }

    /// Takes a row out. Whether it was there.
    pub(super) fn remove(&mut self, row: (Ts, RowId)) -> bool {
        match self {
            Ordered::Many(rows) => rows.remove(&row),
            Ordered::Few(rows) => rows.binary_search(&row).map(|at| rows.remove(at)).is_ok(),
        }
    }

    /// Whether a row is there.
    pub(super) fn holds(&self, row: (Ts, RowId)) -> bool {
        match self {
            Ordered::Many(rows) => rows.contains(&row),
            Ordered::Few(rows) => rows.binary_search(&row).is_ok(),
        }
    }

    /// Takes the rows out that are past, which are those of the earliest times: how many.
    pub(super) fn sweep(&mut self, is_past: impl Fn(Ts) -> bool) -> usize {
        match self {
            Ordered::Few(rows) => {
                let past = rows.partition_point(|(ts, _)| is_past(*ts));
                rows.drain(..past).len()
            }
            Ordered::Many(rows) => {
                let before = rows.len();
                while rows.first().is_some_and(|(ts, _)| is_past(*ts)) {
                    rows.pop_first();
                }
                before - rows.len()
            }
        }
    }

    /// Appends the rows from one instant to another that are wanted, at most so many, by their arrival.
    pub(super) fn find(
        &self,
        (from, last): (Ts, Ts),
        most: usize,
        is_wanted: impl Fn(RowId) -> bool,
        found: &mut Vec<RowId>,
    ) {
        let start = found.len();
        match self {
            Ordered::Few(rows) => {
                let within = rows.iter().filter(|(ts, id)| from <= *ts && *ts <= last && is_wanted(*id));
                found.extend(within.map(|(_, id)| *id).take(most));
            }
            Ordered::Many(rows) => {
                let within = rows.range((from, RowId::FIRST)..=(last, RowId::LAST));
                found.extend(within.map(|(_, id)| *id).filter(|id| is_wanted(*id)).take(most));
            }
        }
        found[start..].sort_unstable();
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Ordered::Few(rows) => rows.is_empty(),
            Ordered::Many(rows) => rows.is_empty(),
        }
    }
}
