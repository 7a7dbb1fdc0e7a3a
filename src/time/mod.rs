//! Instants and lengths of time: what they are, how they are read and written, zones and calendars.
//!
//! Must not know batches, files, flags or the wall clock. Invariant: arithmetic is checked or saturates, and every
//! rounding is towards the past (floor), so 1969 behaves as 2026 does.

mod read;
mod zone;

pub use read::{BadTime, DayCache, Reading, TimeFormat, TimeReader, Unit, format_rfc3339};
pub use zone::Zone;

use std::fmt;

/// An instant: microseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Ts(i64);

/// A length of time in microseconds; negative is towards the past.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(i64);

impl Ts {
    /// Before every event.
    pub const MIN: Ts = Ts(i64::MIN);
    /// After every event.
    pub const MAX: Ts = Ts(i64::MAX);

    /// The instant `micros` microseconds after the epoch.
    pub const fn from_micros(micros: i64) -> Self {
        Ts(micros)
    }

    /// Microseconds since the epoch.
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// This instant moved by a span, stopping at the ends of the line.
    pub const fn saturating_add(self, span: Span) -> Self {
        Ts(self.0.saturating_add(span.0))
    }

    /// This instant moved back by a span, stopping at the ends of the line.
    pub const fn saturating_sub(self, span: Span) -> Self {
        Ts(self.0.saturating_sub(span.0))
    }

    /// How long after `earlier` this instant is; saturates.
    pub const fn since(self, earlier: Ts) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);
    /// The longest span there is.
    pub const MAX: Span = Span(i64::MAX);

    /// A span of `micros` microseconds.
    pub const fn from_micros(micros: i64) -> Self {
        Span(micros)
    }

    /// A span of `seconds` seconds; saturates.
    pub const fn from_secs(seconds: i64) -> Self {
        Span(seconds.saturating_mul(1_000_000))
    }

    /// Its length in microseconds.
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Its length in seconds, for people and charts.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl fmt::Debug for Ts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ts({})", self.0)
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Span({})", self.0)
    }
}
