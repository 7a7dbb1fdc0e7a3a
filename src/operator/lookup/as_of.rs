//! Which of a key's rows is nearest to an event: pure arithmetic over times that stand in order.
//!
//! A row that ends a version is none itself. Looking back an event that falls on it has no match, since what was before
//! it no longer holds; looking ahead it is passed over, since it hides nothing that comes after it. Must not know rows
//! or keys.

use crate::plan::Direction;
use crate::time::{Span, Ts};

/// One key's rows, by time and then in the table's order.
#[derive(Clone, Copy)]
pub(super) struct Versions<'a> {
    pub(super) times: &'a [Ts],
    /// Whether each row ends the version before it; empty when none does.
    pub(super) ends: &'a [bool],
}

impl Versions<'_> {
    /// The row that belongs to an event, if one does.
    pub(super) fn pick(self, direction: Direction, tolerance: Option<Span>, ts: Ts) -> Option<usize> {
        let found = match direction {
            Direction::Backward => self.backward(ts),
            Direction::Forward => self.forward(ts),
            Direction::Nearest => match (self.backward(ts), self.forward(ts)) {
                (Some(before), Some(after)) if self.distance(after, ts) < self.distance(before, ts) => Some(after),
                (before, after) => before.or(after),
            },
        };
        found.filter(|&at| tolerance.is_none_or(|most| self.distance(at, ts) <= most.micros().max(0) as u64))
    }

    /// The newest not after the event, of equal ones the last.
    fn backward(self, ts: Ts) -> Option<usize> {
        let newest = self.times.partition_point(|&time| time <= ts).checked_sub(1)?;
        (!self.is_end(newest)).then_some(newest)
    }

    /// The oldest not before the event, of equal ones the first.
    fn forward(self, ts: Ts) -> Option<usize> {
        (self.times.partition_point(|&time| time < ts)..self.times.len()).find(|&at| !self.is_end(at))
    }

    fn is_end(self, at: usize) -> bool {
        self.ends.get(at).copied().unwrap_or(false)
    }

    /// Microseconds between a row and an event.
    fn distance(self, at: usize, ts: Ts) -> u64 {
        self.times[at].micros().abs_diff(ts.micros())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Direction::{Backward, Forward, Nearest};

    fn pick(rows: &[(i64, bool)], direction: Direction, tolerance: Option<i64>, ts: i64) -> Option<usize> {
        let times: Vec<Ts> = rows.iter().map(|row| Ts::from_micros(row.0)).collect();
        let ends: Vec<bool> = rows.iter().map(|row| row.1).collect();
        let versions = Versions { times: &times, ends: if ends.contains(&true) { &ends } else { &[] } };
        versions.pick(direction, tolerance.map(Span::from_micros), Ts::from_micros(ts))
    }

    const ROWS: &[(i64, bool)] = &[(10, false), (20, false), (20, false), (30, false)];

    #[test]
    fn backward_is_the_newest_not_after_and_of_equal_ones_the_last() {
        let each = [9, 10, 19, 20, 29, 30, 99].map(|ts| pick(ROWS, Backward, None, ts));
        assert_eq!(each, [None, Some(0), Some(0), Some(2), Some(2), Some(3), Some(3)]);
    }

    #[test]
    fn forward_is_the_oldest_not_before_and_of_equal_ones_the_first() {
        let each = [9, 10, 11, 20, 21, 30, 31].map(|ts| pick(ROWS, Forward, None, ts));
        assert_eq!(each, [Some(0), Some(0), Some(1), Some(1), Some(3), Some(3), None]);
    }

    #[test]
    fn nearest_is_the_smaller_distance_and_of_equal_ones_backward() {
        let each = [1, 14, 15, 16, 20, 25, 26, 99].map(|ts| pick(ROWS, Nearest, None, ts));
        assert_eq!(each, [Some(0), Some(0), Some(0), Some(1), Some(2), Some(2), Some(3), Some(3)]);
    }

    #[test]
    fn tolerance_is_inclusive_and_nothing_overflows() {
        assert_eq!(pick(ROWS, Backward, Some(5), 35), Some(3));
        assert_eq!(pick(ROWS, Backward, Some(4), 35), None);
        assert_eq!(pick(ROWS, Forward, Some(5), 5), Some(0));
        assert_eq!(pick(ROWS, Forward, Some(4), 5), None);
        assert_eq!(pick(ROWS, Nearest, Some(0), 20), Some(2));
        let far = &[(i64::MIN + 1, false), (i64::MAX, false)];
        assert_eq!(pick(far, Nearest, Some(i64::MAX), i64::MAX - 1), Some(1));
        assert_eq!(pick(far, Backward, Some(i64::MAX), i64::MAX - 1), None);
    }

    #[test]
    fn an_end_hides_what_is_before_it_and_nothing_after() {
        let rows = &[(10, false), (20, true), (30, false)];
        assert_eq!([19, 20, 29, 30].map(|ts| pick(rows, Backward, None, ts)), [Some(0), None, None, Some(2)]);
        assert_eq!([9, 11, 20, 31].map(|ts| pick(rows, Forward, None, ts)), [Some(0), Some(2), Some(2), None]);
        assert_eq!([19, 20, 21, 35].map(|ts| pick(rows, Nearest, None, ts)), [Some(0), Some(2), Some(2), Some(2)]);
        assert_eq!(pick(rows, Nearest, Some(9), 20), None);
    }

    #[test]
    fn at_one_instant_the_last_row_of_the_table_decides() {
        assert_eq!(pick(&[(10, true), (10, false)], Backward, None, 10), Some(1));
        assert_eq!(pick(&[(10, false), (10, true)], Backward, None, 10), None);
    }
}
