//! Which windows an instant lies in: pure arithmetic, half-open `[start, end)`.
//!
//! Must not know rows, keys or aggregates. Invariant: every window of `windows_of(ts)` holds `ts`. A kind of window is
//! one row of [`WINDOWS`] with its own file; nothing else in the crate lists the kinds.

mod axis;
mod count;
mod cumulate;
mod global;
mod session;
mod sliding;
mod tumbling;

use crate::error::Result;
use crate::time::{Span, Ts, Zone};
use std::fmt::Debug;
use std::sync::Arc;

/// A half-open stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Window {
    /// Its exclusive end. First, so that windows sort by (end, start).
    pub end: Ts,
    /// Its first instant.
    pub start: Ts,
}

impl Window {
    /// The window `[start, end)`.
    pub fn new(start: Ts, end: Ts) -> Self {
        Window { end, start }
    }

    /// Whether `ts` lies in it.
    pub fn holds(self, ts: Ts) -> bool {
        self.start <= ts && ts < self.end
    }
}

/// Assigns instants to windows that are known from the instant alone.
pub trait Windower: Debug + Send + Sync {
    /// Appends every window that holds `ts`, ascending by (end, start). Never appends nothing.
    fn windows_of(&self, ts: Ts, out: &mut Vec<Window>);

    /// A stretch around `ts` all of whose instants lie in exactly the same windows. Records of one pane are
    /// aggregated once and shared by the windows; the longer the pane, the fewer there are. Panes never overlap:
    /// any two instants of one pane name the same pane.
    fn pane_of(&self, ts: Ts) -> Window;
}

/// What a job groups by time.
#[derive(Debug)]
pub enum Grouping {
    /// Windows known from each event alone.
    Windows(Arc<dyn Windower>),
    /// Sessions: events of a key at most `gap` apart.
    Session {
        /// The greatest distance between two neighbours of one session.
        gap: Span,
    },
    /// One endless window per key.
    Global {
        /// Whether a key's rows are forgotten once they were written.
        purge: bool,
    },
    /// Every so many used records of a key.
    Count(u64),
}

impl Grouping {
    /// What one of them is called.
    pub fn noun(&self) -> &'static str {
        match self {
            Grouping::Session { .. } => "session",
            Grouping::Windows(_) | Grouping::Global { .. } | Grouping::Count(_) => "window",
        }
    }
}

/// What windows are laid out by, beside their sizes.
#[derive(Clone, Debug)]
pub struct Grid {
    /// The zone whose wall clock calendar windows follow (`--tz`).
    pub zone: Zone,
    /// Moves the grid (`--offset`).
    pub offset: Span,
    /// Whether weeks start on Sunday instead of Monday.
    pub sunday_weeks: bool,
}

impl Default for Grid {
    /// UTC, no offset, weeks from Monday.
    fn default() -> Self {
        Grid { zone: Zone::UTC, offset: Span::ZERO, sunday_weeks: false }
    }
}

/// A kind of window: what it is called, what it means, and how its sizes are read.
pub struct WindowKind {
    /// The flag's name, also its name in the table.
    pub name: &'static str,
    /// The form of its value, for help: `SIZE`, `SIZE/SLIDE`; empty for a kind that takes none.
    pub value: &'static str,
    /// One line for `-h`.
    pub doc: &'static str,
    /// Reads the value. The error says which size is wrong and why, without naming the flag.
    pub parse: fn(text: &str, grid: &Grid) -> Result<Grouping>,
}

/// Every kind of window there is.
pub static WINDOWS: &[&WindowKind] =
    &[&tumbling::TUMBLING, &sliding::SLIDING, &cumulate::CUMULATE, &session::SESSION, &global::GLOBAL, &count::COUNT];

/// The kind of window of this name.
pub fn find(name: &str) -> Option<&'static WindowKind> {
    WINDOWS.iter().copied().find(|kind| kind.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{all_zones, format_rfc3339};
    use proptest::prelude::*;

    #[test]
    fn every_kind_of_window_has_a_name_of_its_own_and_says_what_it_is() {
        let mut names = std::collections::HashSet::new();
        for kind in WINDOWS {
            assert!(names.insert(kind.name), "{} stands twice", kind.name);
            assert!(!kind.doc.is_empty(), "{}", kind.name);
            assert_eq!(find(kind.name).map(|found| found.name), Some(kind.name));
            assert_eq!((kind.parse)("", &Grid::default()).is_ok(), kind.value.is_empty(), "{}", kind.name);
        }
    }

    fn parse(kind: &str, text: &str, grid: &Grid) -> Arc<dyn Windower> {
        match (find(kind).expect("a kind").parse)(text, grid) {
            Ok(Grouping::Windows(windower)) => windower,
            other => panic!("{kind} {text}: {other:?}"),
        }
    }

    /// Windows on the UTC grid, moved by `offset` microseconds.
    pub(super) fn windows(kind: &str, text: &str, offset: i64) -> Arc<dyn Windower> {
        parse(kind, text, &Grid { offset: Span::from_micros(offset), ..Grid::default() })
    }

    /// What a value is refused with, without its hint.
    pub(super) fn refused(kind: &str, text: &str) -> String {
        (find(kind).expect("a kind").parse)(text, &Grid::default()).expect_err("an error").message().to_owned()
    }

    /// The windows of a second since the epoch, in seconds.
    pub(super) fn shown(kind: &str, text: &str, second: i64) -> Vec<String> {
        let mut found = Vec::new();
        windows(kind, text, 0).windows_of(Ts::from_micros(second * 1_000_000), &mut found);
        let second = |ts: Ts| ts.micros() / 1_000_000;
        found.iter().map(|w| format!("{}..{}", second(w.start), second(w.end))).collect()
    }

    /// The windows of a local time, in that zone.
    pub(super) fn local(kind: &str, text: &str, zone: &str, at: &str) -> Vec<String> {
        let zone = Zone::parse(zone).expect("a zone");
        let ts = Ts::parse_flag(at, &zone, Ts::MIN).expect("a time");
        let windower = parse(kind, text, &Grid { zone: zone.clone(), ..Grid::default() });
        check(&*windower, ts);
        let mut found = Vec::new();
        windower.windows_of(ts, &mut found);
        let text = |ts: Ts| {
            let mut out = Vec::new();
            format_rfc3339(ts, &zone, &mut out);
            String::from_utf8(out).expect("text")
        };
        found.iter().map(|w| format!("{}..{}", text(w.start), text(w.end))).collect()
    }

    /// What every windower promises about an instant.
    pub(super) fn check(windower: &dyn Windower, ts: Ts) {
        let mut found = Vec::new();
        windower.windows_of(ts, &mut found);
        assert!(!found.is_empty() && found.iter().all(|w| w.holds(ts)), "{ts:?} in {found:?} of {windower:?}");
        assert!(found.is_sorted_by(|a, b| a < b), "{found:?} of {windower:?}");
        let pane = windower.pane_of(ts);
        assert!(pane.holds(ts), "{ts:?} in {pane:?} of {windower:?}");
        let last = Ts::from_micros(pane.end.micros() - 1);
        let middle = Ts::from_micros(pane.start.micros() + pane.end.since(pane.start).micros() / 2);
        for other in [pane.start, middle, last] {
            let mut same = Vec::new();
            windower.windows_of(other, &mut same);
            assert_eq!((windower.pane_of(other), same), (pane, found.clone()), "{ts:?} and {other:?} of {windower:?}");
        }
    }

    const LAYOUTS: [(&str, &str); 15] = [
        ("tumbling", "1d"),
        ("tumbling", "3w"),
        ("tumbling", "1q"),
        ("tumbling", "7h"),
        ("sliding", "1d/1h"),
        ("sliding", "1d/30m"),
        ("sliding", "3d/2d"),
        ("sliding", "1w/2d"),
        ("sliding", "1y/5mo"),
        ("sliding", "7h/5h"),
        ("cumulate", "1d/15m"),
        ("cumulate", "2d/6h"),
        ("cumulate", "1w/1d"),
        ("cumulate", "1y/1q"),
        ("cumulate", "1h/1m"),
    ];

    #[test]
    fn every_promise_holds_where_clocks_change_most() {
        for name in ["Europe/Berlin", "Pacific/Apia", "Pacific/Kwajalein", "Australia/Lord_Howe", "America/Sao_Paulo"] {
            let zone = Zone::parse(name).expect("a zone");
            for (kind, text) in LAYOUTS {
                let windower = parse(kind, text, &Grid { zone: zone.clone(), ..Grid::default() });
                for at in zone.transitions() {
                    for micros in [-86_400_000_000, -1, 0, 1_800_000_000, 3_600_000_000] {
                        check(&*windower, Ts::from_micros(at.micros() + micros));
                    }
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn every_promise_holds_in_every_zone(
            zone in prop::sample::select(all_zones()),
            layout in prop::sample::select(&LAYOUTS[..]),
            micros in prop_oneof![
                Ts::FIRST.micros()..=Ts::LAST.micros(),
                -4_000_000_000_000_000i64..5_000_000_000_000_000,
            ],
            offset in prop_oneof![Just(0), -200_000_000_000i64..200_000_000_000],
            sunday_weeks: bool,
        ) {
            let grid = Grid { zone, offset: Span::from_micros(offset), sunday_weeks };
            check(&*parse(layout.0, layout.1, &grid), Ts::from_micros(micros));
        }

        #[test]
        fn no_instant_makes_a_windower_panic(
            micros in prop_oneof![any::<i64>(), Just(i64::MIN), Just(i64::MAX), (0i64..1 << 50).prop_map(|n| i64::MIN + n)],
            layout in prop::sample::select(&LAYOUTS[..]),
            offset: i64,
        ) {
            let grid = Grid { offset: Span::from_micros(offset), ..Grid::default() };
            let (windower, mut found) = (parse(layout.0, layout.1, &grid), Vec::new());
            windower.windows_of(Ts::from_micros(micros), &mut found);
            windower.pane_of(Ts::from_micros(micros));
            prop_assert!(!found.is_empty());
        }
    }
}
