//! Instants and lengths of time: what they are, how they are read and written, zones and calendars.
//!
//! Must not know batches, files, flags or the wall clock. Invariant: arithmetic is checked or saturates, and every
//! rounding is towards the past (floor), so 1969 behaves as 2026 does.

mod calendar;
mod civil;
mod fast;
mod flag;
mod number;
mod print;
mod read;
mod span;
mod zone;

pub use calendar::{CalendarLine, CalendarUnit, WindowSize};
pub use fast::DayCache;
pub use print::{TimeWriter, format_rfc3339};
pub use read::{BadTime, Reading, TimeFormat, TimeReader, Unit};
pub use span::Span;
pub use zone::Zone;

pub(crate) use civil::{civil_from_days, days_from_civil, days_in_month};

#[cfg(test)]
pub(crate) use zone::all as all_zones;

use std::fmt;

/// An instant: microseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Ts(i64);

impl Ts {
    /// Before every event.
    pub const MIN: Ts = Ts(i64::MIN);
    /// After every event.
    pub const MAX: Ts = Ts(i64::MAX);
    /// The first instant an event can have: -9999-01-02T01:59:59Z, where the time library begins.
    pub const FIRST: Ts = Ts(-377_705_023_201_000_000);
    /// The last instant an event can have: 9999-12-31T23:59:59.999999Z, as people write "for ever". The time library ends
    /// 26 hours before; in these, every zone has the offset it has there.
    pub const LAST: Ts = Ts(253_402_300_799_999_999);

    /// The instant `micros` microseconds after the epoch.
    pub const fn from_micros(micros: i64) -> Self {
        Ts(micros)
    }

    /// Microseconds since the epoch.
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Whether an event may have this time: every calendar and every output format can say it.
    pub const fn is_in_range(self) -> bool {
        Ts::FIRST.0 <= self.0 && self.0 <= Ts::LAST.0
    }

    /// This instant moved by a span, stopping at the ends of the line.
    pub const fn saturating_add(self, span: Span) -> Self {
        Ts(self.0.saturating_add(span.micros()))
    }

    /// This instant moved back by a span, stopping at the ends of the line.
    pub const fn saturating_sub(self, span: Span) -> Self {
        Ts(self.0.saturating_sub(span.micros()))
    }

    /// How long after `earlier` this instant is; saturates.
    pub const fn since(self, earlier: Ts) -> Span {
        Span::from_micros(self.0.saturating_sub(earlier.0))
    }
}

impl fmt::Debug for Ts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ts({})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_of_events_ends_with_the_years_that_can_be_written() {
        assert_eq!(Ts::FIRST.micros(), jiff::Timestamp::MIN.as_microsecond());
        assert_eq!(Ts::LAST.micros() + 1, days_from_civil(10_000, 1, 1) * civil::DAY);
    }
}
