//! With each side judged by itself, how two sides interleave changes no row: each side's marks depend on its own records
//! alone, so they stay what they are in any order of both.

use super::model::{events, jobs};
use super::*;
use proptest::prelude::*;

/// The records of both sides in another order, each side's own kept: `turns` says whose is next.
fn interleaved(events: &[Event], turns: &[bool]) -> Vec<Event> {
    let of = |side: Side| events.iter().filter(move |event| event.side == side).cloned();
    let (mut left, mut right) = (of(Left).peekable(), of(Right).peekable());
    let mut turns = turns.iter().cycle();
    let mut all = Vec::new();
    while left.peek().is_some() || right.peek().is_some() {
        let is_left = turns.next().copied().unwrap_or_default();
        all.extend(if is_left { left.next().or_else(|| right.next()) } else { right.next().or_else(|| left.next()) });
    }
    all
}

proptest! {
    #[test]
    fn no_row_depends_on_how_two_sides_interleave(
        job in jobs(),
        events in events(),
        turns in proptest::collection::vec(any::<bool>(), 1..40),
    ) {
        let job = Job { watermark: JoinWatermark::Own, ..job };
        let sorted = |mut lines: Vec<String>| { lines.sort(); lines };
        let other = interleaved(&events, &turns);
        prop_assert_eq!(sorted(job.run(&other)), sorted(job.run(&events)), "{:?}", other);
    }
}
