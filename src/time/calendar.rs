//! Calendar sizes of windows, and the line of local days or months that instants lie on.
//!
//! Must not know kinds of windows. Invariant: a line's boundaries never step back, so what lies between two of them
//! tiles time, whatever clocks do; a boundary is the first instant whose wall-clock time is not before it.

use super::civil::{DAY, civil_from_days, days_from_civil};
use super::span::{fixed_micros, friendly};
use super::{Span, Ts, Zone};
use crate::error::{Error, Result};
use std::fmt;

/// A unit whose length the calendar decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CalendarUnit {
    /// From local midnight to local midnight.
    Day,
    /// Seven days.
    Week,
    /// A month of the Gregorian calendar.
    Month,
    /// Three months.
    Quarter,
    /// Twelve months.
    Year,
}

impl CalendarUnit {
    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            CalendarUnit::Day => "day",
            CalendarUnit::Week => "week",
            CalendarUnit::Month => "month",
            CalendarUnit::Quarter => "quarter",
            CalendarUnit::Year => "year",
        }
    }

    /// Whether it is counted in months; else it is counted in days.
    pub fn is_of_months(self) -> bool {
        matches!(self, CalendarUnit::Month | CalendarUnit::Quarter | CalendarUnit::Year)
    }

    /// How many months, or days, it has.
    pub fn count(self) -> i64 {
        match self {
            CalendarUnit::Day | CalendarUnit::Month => 1,
            CalendarUnit::Week => 7,
            CalendarUnit::Quarter => 3,
            CalendarUnit::Year => 12,
        }
    }
}

/// The size of a window: a length of time, or a whole number of one calendar unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WindowSize {
    /// A length of time (`90m`, `24h`).
    Fixed(Span),
    /// Calendar units (`1d`, `2 weeks`, `1mo`, `1q`, `1y`).
    Calendar {
        /// The unit.
        unit: CalendarUnit,
        /// How many; never 0.
        n: u32,
    },
}

impl WindowSize {
    /// Reads a size longer than zero.
    pub fn parse(text: &str) -> Result<WindowSize> {
        if let Some((n, unit)) = quarters_or_word(text) {
            return calendar(unit, n, text);
        }
        let span = friendly(text)?;
        let counts = [
            (CalendarUnit::Year, i64::from(span.get_years())),
            (CalendarUnit::Month, i64::from(span.get_months())),
            (CalendarUnit::Week, i64::from(span.get_weeks())),
            (CalendarUnit::Day, i64::from(span.get_days())),
        ];
        let mut named = counts.iter().filter(|(_, n)| *n != 0);
        let clock = fixed_micros(&span.years(0).months(0).weeks(0).days(0));
        match (named.next(), named.next(), clock) {
            (Some(&(unit, n)), None, Some(0)) => calendar(unit, n, text),
            (None, _, Some(micros)) if micros > 0 => Ok(WindowSize::Fixed(Span::from_micros(micros))),
            (None, _, Some(_)) => Err(not_positive(text)),
            (_, _, None) => Err(Error::usage(format!("expected a size of at most 292,000 years, found \"{text}\""))),
            _ => Err(Error::usage(format!("a calendar size is a whole number of one unit, found \"{text}\""))
                .hint("1d is a day of the calendar, 24h a length of time: 36h, 2d and 1mo are sizes")),
        }
    }
}

fn calendar(unit: CalendarUnit, n: i64, text: &str) -> Result<WindowSize> {
    match u32::try_from(n) {
        Ok(n) if n > 0 => Ok(WindowSize::Calendar { unit, n }),
        _ => Err(not_positive(text)),
    }
}

fn not_positive(text: &str) -> Error {
    Error::usage(format!("a size must be longer than zero, found \"{text}\""))
}

/// What the library's durations do not know: quarters, and a unit without a number (`month` is `1 month`).
fn quarters_or_word(text: &str) -> Option<(i64, CalendarUnit)> {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = (&text[..split], text[split..].trim().to_ascii_lowercase());
    if number.is_empty() {
        let units =
            [CalendarUnit::Day, CalendarUnit::Week, CalendarUnit::Month, CalendarUnit::Quarter, CalendarUnit::Year];
        return units.into_iter().find(|u| u.name() == unit).map(|u| (1, u));
    }
    // No calendar holds more quarters than this, so a longer number is no size.
    let n = number.parse().ok().filter(|n| *n <= 80_000)?;
    ["q", "qtr", "qtrs", "quarter", "quarters"].contains(&unit.as_str()).then_some((n, CalendarUnit::Quarter))
}

impl fmt::Display for WindowSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WindowSize::Fixed(span) => span.fmt(f),
            WindowSize::Calendar { unit, n: 1 } => write!(f, "1 {}", unit.name()),
            WindowSize::Calendar { unit, n } => write!(f, "{n} {}s", unit.name()),
        }
    }
}

/// What is counted along a [`CalendarLine`].
#[derive(Clone, Copy, Debug)]
enum Cell {
    /// Equal lengths of the wall clock, in microseconds; the first begins `origin` after local 1970-01-01.
    Wall { length: i64, origin: i64 },
    /// Months since January 1970.
    Months,
}

/// The cells (days, steps of a day, months) of a zone's wall clock, numbered along the line of instants.
#[derive(Clone, Debug)]
pub struct CalendarLine {
    cell: Cell,
    zone: Zone,
    /// Moves every boundary along the wall clock; microseconds.
    offset: i64,
}

impl CalendarLine {
    /// Days, of which the one with number 0 is `first_day` days after local 1970-01-01.
    pub fn days(first_day: i64, zone: Zone, offset: Span) -> Self {
        let cell = Cell::Wall { length: DAY, origin: first_day.saturating_mul(DAY) };
        Self { cell, zone, offset: offset.micros() }
    }

    /// Steps of the wall clock from local midnight on; `None` unless they divide 24 hours.
    pub fn steps(length: Span, zone: Zone, offset: Span) -> Option<Self> {
        let length = length.micros();
        let cell = Cell::Wall { length, origin: 0 };
        (length > 0 && DAY % length == 0).then_some(Self { cell, zone, offset: offset.micros() })
    }

    /// Months, counted from January 1970.
    pub fn months(zone: Zone, offset: Span) -> Self {
        Self { cell: Cell::Months, zone, offset: offset.micros() }
    }

    /// The first instant of a cell; that of the next is its end. A cell that clocks skip has no length.
    pub fn instant(&self, cell: i64) -> Ts {
        let wall = match self.cell {
            Cell::Wall { length, origin } => cell.saturating_mul(length).saturating_add(origin),
            Cell::Months => month_start(cell),
        };
        self.zone.first_not_before(wall.saturating_add(self.offset))
    }

    /// The cell that holds an instant: `instant(cell) <= ts < instant(cell + 1)` (but for the very ends of the line).
    pub fn cell_of(&self, ts: Ts) -> i64 {
        let wall = self.zone.wall(ts).saturating_sub(self.offset);
        let mut cell = match self.cell {
            Cell::Wall { length, origin } => wall.saturating_sub(origin).div_euclid(length),
            Cell::Months => month_of(wall),
        };
        if self.zone.fixed_offset().is_some() || !ts.is_in_range() {
            return cell;
        }
        // When the clock was set back across a boundary, it shows the time of a cell that has already ended.
        while self.instant(cell + 1) <= ts {
            cell += 1;
        }
        cell
    }
}

/// Which month since January 1970 a wall-clock time is in.
fn month_of(wall: i64) -> i64 {
    let (year, month, _) = civil_from_days(wall.div_euclid(DAY));
    (year - 1970) * 12 + month - 1
}

/// The wall-clock time at which a month begins; saturates.
fn month_start(month: i64) -> i64 {
    // Beyond the line of instants, and far from overflowing a year.
    let month = month.clamp(-12_000_000, 12_000_000);
    let (year, of_year) = (1970 + month.div_euclid(12), month.rem_euclid(12));
    days_from_civil(year, of_year + 1, 1).saturating_mul(DAY)
}

#[cfg(test)]
mod tests {
    use super::super::format_rfc3339;
    use super::super::zone::all;
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> String {
        WindowSize::parse(text).map_or_else(|e| e.message().to_owned(), |size| size.to_string())
    }

    #[test]
    fn calendar_units_are_told_from_lengths_of_time() {
        for (text, size) in [
            ("1d", "1 day"),
            ("2 weeks", "2 weeks"),
            ("1mo", "1 month"),
            ("1 month", "1 month"),
            ("month", "1 month"),
            ("P1M", "1 month"),
            ("1q", "1 quarter"),
            ("2 quarters", "2 quarters"),
            ("quarter", "1 quarter"),
            ("1y", "1 year"),
            ("24h", "1d"),
            ("90m", "1h 30m"),
            ("PT1M", "1m"),
            ("1h30m", "1h 30m"),
        ] {
            assert_eq!(parse(text), size, "{text}");
        }
        assert_eq!(WindowSize::parse("24h").unwrap(), WindowSize::Fixed(Span::from_secs(86_400)));
    }

    #[test]
    fn mixtures_and_nothing_are_no_sizes() {
        for text in ["1d12h", "1 month 2 days", "P1Y6M", "1w1d"] {
            assert_eq!(parse(text), format!("a calendar size is a whole number of one unit, found \"{text}\""));
        }
        for text in ["0s", "-5m", "0d", "-1d", "0q", "10ns"] {
            assert_eq!(parse(text), format!("a size must be longer than zero, found \"{text}\""));
        }
        assert_eq!(parse("5"), "expected a duration with a unit, found \"5\"");
        for text in ["1.5d", "m", "", "99999999999999999999q"] {
            assert_eq!(parse(text), format!("expected a duration, found \"{text}\""));
        }
    }

    fn shown(ts: Ts, zone: &Zone) -> String {
        let mut out = Vec::new();
        format_rfc3339(ts, zone, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn months_begin_where_the_calendar_says() {
        let line = CalendarLine::months(Zone::UTC, Span::ZERO);
        assert_eq!(shown(line.instant(-1), &Zone::UTC), "1969-12-01T00:00:00Z");
        assert_eq!(shown(line.instant(649), &Zone::UTC), "2024-02-01T00:00:00Z");
        assert_eq!(line.cell_of(line.instant(649)), 649);
        assert_eq!(line.cell_of(line.instant(650).saturating_sub(Span::from_micros(1))), 649);
    }

    #[test]
    fn an_offset_moves_the_wall_clock() {
        let berlin = Zone::parse("Europe/Berlin").unwrap();
        let line = CalendarLine::days(0, berlin.clone(), Span::from_secs(6 * 3_600));
        let days = [("2024-03-30", 19_812), ("2024-03-31", 19_813), ("2024-04-01", 19_814)];
        for (date, cell) in days {
            let start = shown(line.instant(cell), &berlin);
            assert!(start.starts_with(&format!("{date}T06:00:00")), "{start}");
        }
    }

    #[test]
    fn a_clock_set_back_over_midnight_does_not_revive_the_day_before() {
        // Sao Paulo's clocks went from 24:00 back to 23:00, Havana's go from 01:00 back to 00:00.
        for (name, day) in [("America/Sao_Paulo", (2018, 2, 17)), ("America/Havana", (2023, 11, 5))] {
            let cell = days_from_civil(day.0, day.1, day.2);
            let line = CalendarLine::days(0, Zone::parse(name).unwrap(), Span::ZERO);
            let length = line.instant(cell + 1).since(line.instant(cell));
            assert_eq!(length, Span::from_secs(25 * 3_600), "{name}");
        }
    }

    /// Every cell found for an instant holds it, and the cells around it touch.
    fn tiles(line: &CalendarLine, ts: Ts) -> std::result::Result<(), String> {
        let cell = line.cell_of(ts);
        let (start, end) = (line.instant(cell), line.instant(cell + 1));
        if !(start <= ts && ts < end) {
            return Err(format!("{ts:?} is not in [{start:?}, {end:?}) of {line:?}"));
        }
        let same = [start, Ts::from_micros(end.micros() - 1)].map(|t| line.cell_of(t));
        if same != [cell; 2] {
            return Err(format!("the ends of cell {cell} are in {same:?} of {line:?}"));
        }
        let order = [cell - 1, cell, cell + 1, cell + 2].map(|c| line.instant(c));
        order.is_sorted().then_some(()).ok_or_else(|| format!("boundaries step back: {order:?} of {line:?}"))
    }

    fn lines(zone: &Zone, offset: Span) -> [CalendarLine; 4] {
        let hour = Span::from_secs(3_600);
        [
            CalendarLine::days(0, zone.clone(), offset),
            CalendarLine::days(-3, zone.clone(), offset),
            CalendarLine::months(zone.clone(), offset),
            CalendarLine::steps(hour, zone.clone(), offset).unwrap(),
        ]
    }

    #[test]
    fn cells_tile_the_line_around_every_transition_of_every_zone() {
        let mut seen = std::collections::HashSet::new();
        for zone in all() {
            let transitions = zone.transitions();
            // Many names mean the same zone.
            if !seen.insert(transitions.clone()) {
                continue;
            }
            let [days, _, months, hours] = lines(&zone, Span::ZERO);
            for (at, line) in transitions.iter().flat_map(|at| [&days, &months, &hours].map(|line| (at, line))) {
                for micros in [-1, 0, 3_599_999_999] {
                    let ts = Ts::from_micros(at.micros() + micros);
                    tiles(line, ts).unwrap_or_else(|e| panic!("{}: {e}", zone.name()));
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn cells_tile_the_line_in_every_zone(
            zone in prop::sample::select(all()),
            micros in prop_oneof![
                any::<i64>().prop_map(|t| t / 2),
                -400_000_000_000_000_000i64..400_000_000_000_000_000,
                -4_000_000_000_000_000i64..5_000_000_000_000_000,
            ],
            offset in prop_oneof![Just(0), -200_000_000_000i64..200_000_000_000],
        ) {
            for line in lines(&zone, Span::from_micros(offset)) {
                prop_assert_eq!(tiles(&line, Ts::from_micros(micros)), Ok(()));
            }
        }

        #[test]
        fn the_ends_of_the_line_do_not_panic(zone in prop::sample::select(all()), near in 0i64..100_000_000_000_000) {
            for line in lines(&zone, Span::MAX).into_iter().chain(lines(&zone, Span::ZERO)) {
                for ts in [Ts::from_micros(i64::MIN + near), Ts::from_micros(i64::MAX - near), Ts::MIN, Ts::MAX] {
                    let cell = line.cell_of(ts);
                    prop_assert!(line.instant(cell) <= line.instant(cell + 1));
                }
                line.instant(i64::MIN);
                line.instant(i64::MAX);
            }
        }
    }
}
