//! Cumulating windows: each window of SIZE is also seen growing, STEP by STEP, from its start.

use super::axis::{self, Axis};
use super::{Grid, Grouping, Window, WindowKind, Windower};
use crate::error::{Error, Result};
use crate::time::Ts;
use std::sync::Arc;

/// The row of the table of windows.
pub(super) static CUMULATE: WindowKind = WindowKind {
    name: "cumulate",
    value: "SIZE/STEP",
    doc: "windows of SIZE, also written as they grow by STEP: 1d/1h",
    parse,
};

/// Sizes are in cells of the axis; the size is a multiple of the step.
#[derive(Debug)]
struct Cumulate {
    axis: Axis,
    size: i64,
    step: i64,
}

fn parse(text: &str, grid: &Grid) -> Result<Grouping> {
    let (size, step) = axis::pair(text, "SIZE/STEP", "1d/1h is the day so far, every hour")?;
    let laid = axis::of_pair(size, step, size, grid)?;
    if laid.size % laid.step != 0 {
        return Err(Error::usage(format!("{size} is not a whole number of steps of {step}"))
            .hint("the last step must end with the window"));
    }
    axis::bounded(laid.size / laid.step)?;
    Ok(Grouping::Windows(Arc::new(Cumulate { axis: laid.axis, size: laid.size, step: laid.step })))
}

impl Windower for Cumulate {
    fn windows_of(&self, ts: Ts, out: &mut Vec<Window>) {
        let cell = self.axis.cell_of(ts);
        let base = axis::floor(cell, self.size);
        let start = self.axis.instant(base);
        let first_row = out.len();
        let mut length = axis::floor(cell.saturating_sub(base), self.step);
        while length < self.size {
            length += self.step;
            let window = Window::new(start, self.axis.instant(base.saturating_add(length)));
            // Where clocks skip a step, it ends with the one before.
            if out[first_row..].last() != Some(&window) {
                out.push(window);
            }
        }
    }

    fn pane_of(&self, ts: Ts) -> Window {
        // The size is a multiple of the step, so steps of the axis are steps of the window.
        self.axis.window(axis::floor(self.axis.cell_of(ts), self.step), self.step)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, local, refused, shown, windows};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_instant_lies_in_the_window_so_far_from_its_own_step_on() {
        assert_eq!(shown("cumulate", "15s/5s", 0), ["0..5", "0..10", "0..15"]);
        assert_eq!(shown("cumulate", "15s/5s", 9), ["0..10", "0..15"]);
        assert_eq!(shown("cumulate", "15s/5s", 14), ["0..15"]);
        assert_eq!(shown("cumulate", "15s/5s", -1), ["-15..0"]);
    }

    #[test]
    fn a_day_grows_by_the_hours_its_clock_shows() {
        let ends = |at: &str| local("cumulate", "1d/1h", "Europe/Berlin", at);
        assert_eq!(ends("2024-03-31T00:00").len(), 23, "02:00 does not exist");
        assert_eq!(ends("2024-10-27T00:00").len(), 24, "02:00 exists twice, and is one step");
        assert_eq!(ends("2024-03-31T23:00"), ["2024-03-31T00:00:00+01:00..2024-04-01T00:00:00+02:00"]);
        assert_eq!(
            ends("2024-03-31T01:30")[..2],
            [
                "2024-03-31T00:00:00+01:00..2024-03-31T03:00:00+02:00",
                "2024-03-31T00:00:00+01:00..2024-03-31T04:00:00+02:00"
            ]
        );
    }

    #[test]
    fn calendar_sizes_grow_by_their_own_kind() {
        assert_eq!(local("cumulate", "1y/1mo", "UTC", "2024-11-15").len(), 2);
        let days = local("cumulate", "1w/1d", "UTC", "2024-05-18");
        assert_eq!(days, ["2024-05-13T00:00:00Z..2024-05-19T00:00:00Z", "2024-05-13T00:00:00Z..2024-05-20T00:00:00Z"]);
    }

    #[test]
    fn a_size_of_broken_steps_is_refused() {
        assert_eq!(refused("cumulate", "10m/3m"), "10m is not a whole number of steps of 3m");
        assert_eq!(refused("cumulate", "1m/5m"), "1m is not a whole number of steps of 5m");
        assert_eq!(refused("cumulate", "1d/5h"), "5h does not divide a day, which 1 day with a fixed step needs");
        assert_eq!(refused("cumulate", "1h"), "expected SIZE/STEP, found \"1h\"");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn the_windows_are_those_that_a_walk_over_all_finds(
            ts in -30_000i64..30_000, step in 1i64..300, steps in 1i64..12, offset in -900i64..900,
        ) {
            let size = step * steps;
            let windower = windows("cumulate", &format!("{size}us/{step}us"), offset);
            let mut found = Vec::new();
            windower.windows_of(Ts::from_micros(ts), &mut found);
            let start = (ts - offset).div_euclid(size) * size + offset;
            let expected: Vec<_> = (1..=steps)
                .map(|n| Window::new(Ts::from_micros(start), Ts::from_micros(start + n * step)))
                .filter(|window| window.holds(Ts::from_micros(ts)))
                .collect();
            prop_assert_eq!(found, expected);
            check(&*windower, Ts::from_micros(ts));
        }
    }
}
