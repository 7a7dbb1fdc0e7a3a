//! The watermarks of two sides, and which of them judges a record and forgets a row.
//!
//! Must not know rows or keys. Invariant: the mark that judges and the one that forgets never fall, also not when a
//! side ends that was ahead of the other.

use crate::event::{Side, Watermark};
use crate::pairing::JoinWatermark;
use crate::time::Ts;

/// Both sides' watermarks.
pub(super) struct Clocks {
    how: JoinWatermark,
    marks: [Watermark; 2],
    /// The smaller or the greater of the two, where one serves both sides.
    common: Watermark,
}

impl Clocks {
    /// Nothing is promised yet.
    pub(super) fn new(how: JoinWatermark) -> Self {
        Clocks { how, marks: [Watermark::NEVER; 2], common: Watermark::NEVER }
    }

    /// The mark that a record is judged by, `own` being that of its side.
    #[inline]
    pub(super) fn judge(&self, own: Watermark) -> Watermark {
        match self.how {
            JoinWatermark::Own => own,
            JoinWatermark::Min | JoinWatermark::Max => self.common,
        }
    }

    /// Moves a side's mark. Whether rows may have to be forgotten for it.
    #[inline]
    pub(super) fn advance(&mut self, side: Side, mark: Watermark) -> bool {
        let old = &mut self.marks[side.index()];
        if mark <= *old {
            return false;
        }
        *old = mark;
        self.common = self.common.max(self.combined());
        true
    }

    /// The two marks as one. A side that has ended has no say unless both have.
    fn combined(&self) -> Watermark {
        match (self.how, self.marks) {
            (_, [left, Watermark::END]) => left,
            (_, [Watermark::END, right]) => right,
            (JoinWatermark::Min, [left, right]) => left.min(right),
            (_, [left, right]) => left.max(right),
        }
    }

    /// Whether rows of `side` are forgotten whose last possible partner comes at `last`.
    #[inline]
    pub(super) fn forgets(&self, side: Side, last: Ts) -> bool {
        let mark = match self.how {
            JoinWatermark::Own => self.marks[side.other().index()],
            JoinWatermark::Min | JoinWatermark::Max => self.common,
        };
        mark == Watermark::END || mark.has_passed(last)
    }

    /// Whether no record of either side will come.
    pub(super) fn have_ended(&self) -> bool {
        self.marks == [Watermark::END; 2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: i64) -> Watermark {
        Watermark::at(Ts::from_micros(micros))
    }

    /// The common mark after each of these moves.
    fn common(how: JoinWatermark, moves: &[(Side, Watermark)]) -> Vec<Watermark> {
        let mut clocks = Clocks::new(how);
        let step = |&(side, mark): &(Side, Watermark)| {
            clocks.advance(side, mark);
            clocks.judge(Watermark::NEVER)
        };
        moves.iter().map(step).collect()
    }

    #[test]
    fn a_side_that_has_ended_has_no_say_unless_both_have() {
        use Side::{Left, Right};
        let moves = [(Left, at(50)), (Right, at(20)), (Left, Watermark::END), (Right, at(70)), (Right, Watermark::END)];
        let min = common(JoinWatermark::Min, &moves);
        assert_eq!(min, [Watermark::NEVER, at(20), at(20), at(70), Watermark::END]);
        let max = common(JoinWatermark::Max, &moves);
        assert_eq!(max, [at(50), at(50), at(50), at(70), Watermark::END]);
    }

    #[test]
    fn rows_are_forgotten_by_the_other_sides_mark_once_it_is_past() {
        let mut clocks = Clocks::new(JoinWatermark::Own);
        assert!(clocks.advance(Side::Right, at(10)) && !clocks.advance(Side::Right, at(9)));
        assert!(clocks.forgets(Side::Left, Ts::from_micros(9)) && !clocks.forgets(Side::Left, Ts::from_micros(10)));
        assert!(!clocks.forgets(Side::Right, Ts::from_micros(0)));
        clocks.advance(Side::Right, Watermark::END);
        assert!(clocks.forgets(Side::Left, Ts::MAX) && !clocks.have_ended());
    }
}
