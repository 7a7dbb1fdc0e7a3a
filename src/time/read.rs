//! Texts and numbers to instants, and instants to text.

use super::{Ts, Zone};
use std::sync::Arc;

/// The unit of a number that stands for an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Millis,
    /// Microseconds.
    Micros,
    /// Nanoseconds.
    Nanos,
}

/// How an input writes its event times (`--time-format`).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum TimeFormat {
    /// RFC 3339 / ISO 8601 text, or numbers whose unit their size tells.
    #[default]
    Auto,
    /// RFC 3339 / ISO 8601 text only.
    Rfc3339,
    /// Numbers of a unit.
    Unix(Unit),
    /// A strptime pattern.
    Pattern(Arc<str>),
}

/// Reads event times of one input.
#[derive(Clone, Debug)]
pub struct TimeReader {
    /// How they are written.
    pub format: TimeFormat,
    /// The zone of local times.
    pub zone: Zone,
    /// The unit of numbers, once known.
    pub unit: Option<Unit>,
}

/// An instant that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The instant.
    pub ts: Ts,
    /// The unit this number showed, when the reader did not know one: the caller keeps it for all that follow.
    pub unit: Option<Unit>,
}

/// Why a value is no event time: the phrase behind the column's name, `expected a time, found "n/a"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadTime(pub String);

/// What a reader remembers from one value to the next, to be quick: the last day seen. Never changes a result.
#[derive(Clone, Debug, Default)]
pub struct DayCache {
    day: Option<([u8; 10], i64)>,
}

impl TimeReader {
    /// A reader that knows no unit yet.
    pub fn new(format: TimeFormat, zone: Zone) -> Self {
        let unit = match format {
            TimeFormat::Unix(unit) => Some(unit),
            _ => None,
        };
        Self { format, zone, unit }
    }

    /// Reads text (digit-only text is a number, where the format allows one).
    pub fn text(&self, text: &[u8], cache: &mut DayCache) -> Result<Reading, BadTime> {
        let _ = &mut cache.day;
        let shown = String::from_utf8_lossy(text);
        let stamp: jiff::Timestamp =
            shown.parse().map_err(|_| BadTime(format!("expected a time, found \"{shown}\"")))?;
        Ok(Reading { ts: Ts::from_micros(stamp.as_microsecond()), unit: None })
    }

    /// Reads a number, as its decimal text (`1700000000.25`, `1.7e9`); the rest beyond microseconds is floored.
    pub fn number(&self, text: &[u8]) -> Result<Reading, BadTime> {
        self.text(text, &mut DayCache::default())
    }
}

/// Appends an instant as RFC 3339 in a zone.
pub fn format_rfc3339(ts: Ts, _zone: &Zone, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("{}", ts.micros()).as_bytes());
}
