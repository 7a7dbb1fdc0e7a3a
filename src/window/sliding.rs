//! Sliding windows: a window of SIZE begins at every multiple of SLIDE, so an instant lies in several.

use super::axis::{self, Axis};
use super::{Grid, Grouping, Window, WindowKind, Windower};
use crate::error::{Error, Result};
use crate::time::Ts;
use std::sync::Arc;

/// The row of the table of windows.
pub(super) static SLIDING: WindowKind = WindowKind {
    name: "sliding",
    value: "SIZE/SLIDE",
    doc: "windows of SIZE, one starting every SLIDE: 10m/1m, 1d/1h",
    parse,
};

/// Sizes are in cells of the axis; `slide <= size`.
#[derive(Debug)]
struct Sliding {
    axis: Axis,
    size: i64,
    slide: i64,
}

fn parse(text: &str, grid: &Grid) -> Result<Grouping> {
    let (size, slide) = axis::pair(text, "SIZE/SLIDE", "10m/1m is ten minutes, starting every minute")?;
    let laid = axis::of_pair(size, slide, slide, grid)?;
    if laid.step > laid.size {
        return Err(Error::usage("the slide is longer than the window, so events in between would be in none"));
    }
    axis::bounded(laid.size / laid.step)?;
    Ok(Grouping::Windows(Arc::new(Sliding { axis: laid.axis, size: laid.size, slide: laid.step })))
}

impl Sliding {
    /// The start of the last window that began at or before a cell.
    fn last_start(&self, cell: i64) -> i64 {
        axis::floor(cell, self.slide)
    }

    /// The start of the last window that ended at or before a cell.
    fn last_ended(&self, cell: i64) -> i64 {
        axis::floor(cell.saturating_sub(self.size), self.slide)
    }
}

impl Windower for Sliding {
    fn windows_of(&self, ts: Ts, out: &mut Vec<Window>) {
        let cell = self.axis.cell_of(ts);
        let last = self.last_start(cell);
        let mut start = self.last_ended(cell).saturating_add(self.slide).min(last);
        let first_row = out.len();
        while start <= last {
            let window = self.axis.window(start, self.size);
            // Where clocks skip a step, two windows can be the same one.
            if out[first_row..].last() != Some(&window) {
                out.push(window);
            }
            start = start.saturating_add(self.slide);
        }
    }

    /// From the latest start or end of any window to the next one.
    fn pane_of(&self, ts: Ts) -> Window {
        let cell = self.axis.cell_of(ts);
        let (start, end) = (self.last_start(cell), self.last_ended(cell).saturating_add(self.size));
        let from = start.max(end.min(cell));
        let to = start.saturating_add(self.slide).min(end.saturating_add(self.slide));
        Window::new(self.axis.instant(from), self.axis.instant(to))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, local, refused, shown, windows};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_instant_lies_in_every_window_that_holds_it() {
        assert_eq!(shown("sliding", "10s/5s", 7), ["0..10", "5..15"]);
        assert_eq!(shown("sliding", "10s/5s", -1), ["-10..0", "-5..5"]);
        assert_eq!(shown("sliding", "10s/10s", 10), ["10..20"]);
    }

    #[test]
    fn the_size_need_not_be_a_multiple_of_the_slide() {
        assert_eq!(shown("sliding", "7s/3s", 6), ["0..7", "3..10", "6..13"]);
        assert_eq!(shown("sliding", "7s/3s", 7), ["3..10", "6..13"]);
    }

    #[test]
    fn months_slide_by_months_and_days_by_days_and_hours() {
        assert_eq!(
            local("sliding", "1q/1mo", "UTC", "2024-03-15"),
            [
                "2024-01-01T00:00:00Z..2024-04-01T00:00:00Z",
                "2024-02-01T00:00:00Z..2024-05-01T00:00:00Z",
                "2024-03-01T00:00:00Z..2024-06-01T00:00:00Z"
            ]
        );
        assert_eq!(local("sliding", "1w/1d", "Europe/Berlin", "2024-03-31").len(), 7);
        let windows = local("sliding", "1d/12h", "Europe/Berlin", "2024-03-31T12:00");
        assert_eq!(
            windows,
            [
                "2024-03-31T00:00:00+01:00..2024-04-01T00:00:00+02:00",
                "2024-03-31T12:00:00+02:00..2024-04-01T12:00:00+02:00"
            ]
        );
    }

    #[test]
    fn weeks_that_slide_start_on_their_first_day() {
        assert_eq!(
            local("sliding", "2w/1w", "UTC", "1970-01-01"),
            ["1969-12-22T00:00:00Z..1970-01-05T00:00:00Z", "1969-12-29T00:00:00Z..1970-01-12T00:00:00Z"]
        );
    }

    #[test]
    fn sizes_that_do_not_fit_together_are_refused() {
        let slide = "the slide is longer than the window, so events in between would be in none";
        assert_eq!(refused("sliding", "1m/5m"), slide);
        assert_eq!(refused("sliding", "1d/1w"), slide);
        assert_eq!(refused("sliding", "1mo/1y"), slide);
        assert_eq!(refused("sliding", "1mo/1d"), "1 month and 1 day cannot be mixed: a month is not a number of days");
        assert_eq!(
            refused("sliding", "1mo/1h"),
            "1 month and 1h cannot be mixed: a calendar size needs a step of its own kind"
        );
        assert_eq!(
            refused("sliding", "24h/1d"),
            "24h and 1 day cannot be mixed: a calendar size needs a step of its own kind"
        );
        assert_eq!(refused("sliding", "1d/7h"), "7h does not divide a day, which 1 day with a fixed step needs");
        assert_eq!(refused("sliding", "1d/48h"), slide);
        assert_eq!(refused("sliding", "5m"), "expected SIZE/SLIDE, found \"5m\"");
        assert_eq!(refused("sliding", "5m/0s"), "a size must be longer than zero, found \"0s\"");
        assert!(refused("sliding", "1d/1us").contains("windows"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn the_windows_are_those_that_a_walk_over_all_finds(
            ts in -30_000i64..30_000, slide in 1i64..500, longer in 0i64..3_000, offset in -900i64..900,
        ) {
            let size = slide + longer;
            let windower = windows("sliding", &format!("{size}us/{slide}us"), offset);
            let mut found = Vec::new();
            windower.windows_of(Ts::from_micros(ts), &mut found);
            let all = (-80_000 / slide..80_000 / slide).map(|k| k * slide + offset);
            let expected: Vec<_> = all
                .filter(|start| (*start..start + size).contains(&ts))
                .map(|start| Window::new(Ts::from_micros(start), Ts::from_micros(start + size)))
                .collect();
            prop_assert_eq!(found, expected);
            check(&*windower, Ts::from_micros(ts));
        }
    }
}
