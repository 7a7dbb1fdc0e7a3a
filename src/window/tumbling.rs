//! Tumbling windows: each instant lies in exactly one.

use super::axis::{self, Axis};
use super::{Grid, Grouping, Window, WindowKind, Windower};
use crate::error::Result;
use crate::time::{Ts, WindowSize};
use std::sync::Arc;

/// The row of the table of windows.
pub(super) static TUMBLING: WindowKind =
    WindowKind { name: "tumbling", value: "SIZE", doc: "windows of SIZE one after another: 5m, 1h, 1d, 1mo", parse };

#[derive(Debug)]
struct Tumbling {
    axis: Axis,
    size: i64,
}

fn parse(text: &str, grid: &Grid) -> Result<Grouping> {
    let (axis, size) = axis::of_size(WindowSize::parse(text)?, grid);
    Ok(Grouping::Windows(Arc::new(Tumbling { axis, size })))
}

impl Windower for Tumbling {
    fn windows_of(&self, ts: Ts, out: &mut Vec<Window>) {
        out.push(self.pane_of(ts));
    }

    fn pane_of(&self, ts: Ts) -> Window {
        let start = axis::floor(self.axis.cell_of(ts), self.size);
        self.axis.window(start, self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, local, shown, windows};
    use super::*;
    use crate::time::{Span, Zone};
    use proptest::prelude::*;

    #[test]
    fn windows_start_at_multiples_of_the_size_also_before_1970() {
        assert_eq!(shown("tumbling", "10s", 0), ["0..10"]);
        assert_eq!(shown("tumbling", "10s", 9), ["0..10"]);
        assert_eq!(shown("tumbling", "10s", 10), ["10..20"]);
        assert_eq!(shown("tumbling", "10s", -1), ["-10..0"]);
        assert_eq!(shown("tumbling", "10s", -10), ["-10..0"]);
    }

    #[test]
    fn an_offset_shifts_the_grid_whatever_its_sign_and_size() {
        for offset in [3, -7, 23] {
            let grid = Grid { offset: Span::from_secs(offset), ..Grid::default() };
            let Grouping::Windows(windower) = parse("10s", &grid).unwrap() else { panic!("a session") };
            let window = windower.pane_of(Ts::from_micros(2_000_000));
            assert_eq!((window.start.micros(), window.end.micros()), (-7_000_000, 3_000_000));
        }
    }

    #[test]
    fn days_are_as_long_as_the_zone_makes_them() {
        let days = |at: &str| local("tumbling", "1d", "Europe/Berlin", at);
        assert_eq!(days("2024-03-31T12:00"), ["2024-03-31T00:00:00+01:00..2024-04-01T00:00:00+02:00"]);
        assert_eq!(days("2024-10-27T23:59"), ["2024-10-27T00:00:00+02:00..2024-10-28T00:00:00+01:00"]);
        assert_eq!(
            local("tumbling", "24h", "Europe/Berlin", "2024-03-31T12:00"),
            ["2024-03-31T01:00:00+01:00..2024-04-01T02:00:00+02:00"]
        );
    }

    #[test]
    fn calendar_units_are_counted_from_1970() {
        let at = "2024-05-15T12:00";
        let utc = |size: &str| local("tumbling", size, "UTC", at);
        assert_eq!(utc("1w"), ["2024-05-13T00:00:00Z..2024-05-20T00:00:00Z"]);
        assert_eq!(utc("1mo"), ["2024-05-01T00:00:00Z..2024-06-01T00:00:00Z"]);
        assert_eq!(utc("1q"), ["2024-04-01T00:00:00Z..2024-07-01T00:00:00Z"]);
        assert_eq!(utc("4mo"), ["2024-05-01T00:00:00Z..2024-09-01T00:00:00Z"]);
        assert_eq!(utc("1y"), ["2024-01-01T00:00:00Z..2025-01-01T00:00:00Z"]);
        assert_eq!(utc("4y"), ["2022-01-01T00:00:00Z..2026-01-01T00:00:00Z"]);
        assert_eq!(local("tumbling", "2d", "UTC", "1970-01-02"), ["1970-01-01T00:00:00Z..1970-01-03T00:00:00Z"]);
        assert_eq!(local("tumbling", "2w", "UTC", "1970-01-02"), ["1969-12-29T00:00:00Z..1970-01-12T00:00:00Z"]);
    }

    #[test]
    fn weeks_may_start_on_sunday() {
        let grid = Grid { sunday_weeks: true, ..Grid::default() };
        let Grouping::Windows(windower) = parse("1w", &grid).unwrap() else { panic!("a session") };
        let window = windower.pane_of(Ts::from_micros(0));
        let sunday = Ts::parse_flag("1969-12-28", &Zone::UTC, Ts::MIN).unwrap();
        assert_eq!((window.start, window.end.since(sunday)), (sunday, Span::from_secs(7 * 86_400)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn each_instant_lies_in_the_one_window_of_the_formula(
            ts in -1_000_000i64..1_000_000, size in 1i64..5_000, offset in -9_000i64..9_000,
        ) {
            let windower = windows("tumbling", &format!("{size}us"), offset);
            let start = (ts - offset).div_euclid(size) * size + offset;
            let expected = Window::new(Ts::from_micros(start), Ts::from_micros(start + size));
            prop_assert_eq!(windower.pane_of(Ts::from_micros(ts)), expected);
            check(&*windower, Ts::from_micros(ts));
        }
    }
}
