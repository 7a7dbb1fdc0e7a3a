//! Lengths of time: their arithmetic, and the words people write and read them in.
//!
//! Must not know calendars: a day is 24 hours here, a week seven of them, and months are refused.

use super::civil::{DAY, SECOND};
use crate::error::{Error, Result};
use std::fmt;

const MILLI: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;

/// A length of time in microseconds; negative is towards the past.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(i64);

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
        Span(seconds.saturating_mul(SECOND))
    }

    /// Its length in microseconds.
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Its length in seconds, for people and charts.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Reads a duration that is not negative: `500ms`, `1h30m`, `2 hours`, `PT5M`; `1d` is 24 hours.
    pub fn parse(text: &str) -> Result<Span> {
        match Self::parse_signed(text)? {
            span if span.0 < 0 => Err(Error::usage(format!("expected a duration of zero or more, found \"{text}\""))),
            span => Ok(span),
        }
    }

    /// Whether a text is a duration, but longer than any that can be read.
    pub fn is_too_long(text: &str) -> bool {
        is_too_long(text.trim()) && Self::parse_signed(text).is_err()
    }

    /// Reads a duration that may be negative: `-1h`, `1h ago`.
    pub fn parse_signed(text: &str) -> Result<Span> {
        let span = friendly(text)?;
        if span.get_years() != 0 || span.get_months() != 0 {
            return Err(Error::usage(format!("months and years have no fixed length, found \"{text}\""))
                .hint("write it in days, as in 30d"));
        }
        match fixed_micros(&span) {
            Some(micros) => Ok(Span(micros)),
            None => Err(Error::usage(format!("expected a duration of at most 292,000 years, found \"{text}\""))),
        }
    }

    /// The next rounder length at or above this one, for advice: whole seconds up to 10, then steps of 5 s to a
    /// minute, whole minutes to 10, steps of 5 min to an hour, whole hours to a day, whole days. Below a second 1, 2
    /// or 5 times a power of ten milliseconds.
    #[must_use]
    pub fn round_up_friendly(self) -> Span {
        const STEPS: [(i64, i64); 5] =
            [(10 * SECOND, SECOND), (MINUTE, 5 * SECOND), (10 * MINUTE, MINUTE), (HOUR, 5 * MINUTE), (DAY, HOUR)];
        const SHORT: [i64; 9] = [1, 2, 5, 10, 20, 50, 100, 200, 500];
        if self.0 <= 0 {
            return Span::ZERO;
        }
        if let Some(short) = SHORT.iter().map(|ms| ms * MILLI).find(|&short| self.0 <= short) {
            return Span(short);
        }
        let step = STEPS.iter().find(|(limit, _)| self.0 <= *limit).map_or(DAY, |(_, step)| *step);
        let steps = self.0 / step + i64::from(self.0 % step != 0);
        Span(steps.saturating_mul(step))
    }
}

/// Reads any friendly or ISO 8601 duration, calendar units too.
pub(super) fn friendly(text: &str) -> Result<jiff::Span> {
    let trimmed = text.trim();
    if trimmed == "0" {
        return Ok(jiff::Span::new());
    }
    if trimmed.trim_start_matches(['-', '+']).bytes().all(|b| b.is_ascii_digit() || b == b'.') && !trimmed.is_empty() {
        return Err(Error::usage(format!("expected a duration with a unit, found \"{text}\""))
            .hint(format!("{trimmed}s is in seconds, {trimmed}m in minutes")));
    }
    trimmed.parse().map_err(|_| match is_too_long(trimmed) {
        true => Error::usage(format!("expected a duration of at most 19,998 years, found \"{text}\"")),
        false => {
            let error = Error::usage(format!("expected a duration, found \"{text}\""));
            error.hint("write it as 500ms, 30s, 5m, 1h30m or 1d")
        }
    })
}

/// Whether it would be a duration if its numbers were smaller.
fn is_too_long(text: &str) -> bool {
    let mut short = String::with_capacity(text.len());
    for c in text.chars().filter(|c| *c != ',') {
        if !c.is_ascii_digit() || !short.ends_with('1') {
            short.push(if c.is_ascii_digit() { '1' } else { c });
        }
    }
    short != text && short.parse::<jiff::Span>().is_ok()
}

/// The length of the units up to weeks, floored to microseconds.
pub(super) fn fixed_micros(span: &jiff::Span) -> Option<i64> {
    let units = [
        (i64::from(span.get_weeks()), 7 * DAY),
        (i64::from(span.get_days()), DAY),
        (i64::from(span.get_hours()), HOUR),
        (span.get_minutes(), MINUTE),
        (span.get_seconds(), SECOND),
        (span.get_milliseconds(), MILLI),
        (span.get_microseconds(), 1),
    ];
    let micros: i128 = units.iter().map(|&(count, unit)| i128::from(count) * i128::from(unit)).sum();
    let nanos = micros * 1_000 + i128::from(span.get_nanoseconds());
    i64::try_from(nanos.div_euclid(1_000)).ok()
}

impl fmt::Display for Span {
    /// As people write it, without loss: `2d`, `1h 5m`, `8m 30.25s`, `500ms`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0.unsigned_abs();
        let unit = |unit: i64| unit.unsigned_abs();
        if self.0 < 0 {
            f.write_str("-")?;
        }
        let parts = [
            (micros / unit(DAY), "d"),
            (micros % unit(DAY) / unit(HOUR), "h"),
            (micros % unit(HOUR) / unit(MINUTE), "m"),
        ];
        let mut gap = "";
        for (count, name) in parts.iter().filter(|(count, _)| *count > 0) {
            write!(f, "{gap}{count}{name}")?;
            gap = " ";
        }
        match micros % unit(MINUTE) {
            0 if gap.is_empty() => f.write_str("0s"),
            0 => Ok(()),
            rest if micros >= unit(SECOND) => write!(f, "{gap}{}s", decimal(rest, unit(SECOND), 6)),
            rest if rest >= unit(MILLI) => write!(f, "{}ms", decimal(rest, unit(MILLI), 3)),
            rest => write!(f, "{rest}us"),
        }
    }
}

/// `value / unit` with as many of the `digits` digits of fraction as are not zeros at the end.
fn decimal(value: u64, unit: u64, digits: usize) -> String {
    let text = format!("{}.{:0digits$}", value / unit, value % unit);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Span({})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn micros(text: &str) -> i64 {
        Span::parse(text).unwrap().micros()
    }

    fn refused(text: &str) -> String {
        Span::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn durations_are_read_as_people_write_them() {
        assert_eq!(micros("500ms"), 500 * MILLI);
        assert_eq!(micros("30s"), 30 * SECOND);
        assert_eq!(micros("1h30m"), 90 * MINUTE);
        assert_eq!(micros("1h 30m"), 90 * MINUTE);
        assert_eq!(micros("2 hours"), 2 * HOUR);
        assert_eq!(micros("PT5M"), 5 * MINUTE);
        assert_eq!(micros("1d"), 24 * HOUR);
        assert_eq!(micros("1w"), 168 * HOUR);
        assert_eq!(micros("1.5h"), 90 * MINUTE);
        assert_eq!(micros("1999ns"), 1);
        assert_eq!(micros("0s"), 0);
    }

    #[test]
    fn what_has_no_fixed_length_or_no_unit_is_refused() {
        assert_eq!(
            refused("90"),
            "expected a duration with a unit, found \"90\"\n  hint: 90s is in seconds, 90m in minutes"
        );
        assert_eq!(
            refused("1mo"),
            "months and years have no fixed length, found \"1mo\"\n  hint: write it in days, as in 30d"
        );
        assert!(refused("P1Y").contains("no fixed length"));
        assert_eq!(refused("-5m"), "expected a duration of zero or more, found \"-5m\"");
        for text in ["", "m", "5 lightyears", "5m5"] {
            assert!(refused(text).starts_with("expected a duration"), "{text}");
        }
    }

    #[test]
    fn only_who_asks_gets_negative_durations() {
        assert_eq!(Span::parse_signed("-1h").unwrap().micros(), -HOUR);
        assert_eq!(Span::parse_signed("1h ago").unwrap().micros(), -HOUR);
        assert_eq!(Span::parse_signed("-1ns").unwrap().micros(), -1);
    }

    #[test]
    fn durations_are_shown_as_people_read_them() {
        let shown = |text: &str| Span::parse_signed(text).unwrap().to_string();
        for text in ["8m 30s", "1h 5m", "500ms", "2d", "1.5ms", "30us", "8m 30.25s", "0s", "1d 1s", "-1h 5m", "59s"] {
            assert_eq!(shown(text), text);
        }
        assert_eq!(shown("90m"), "1h 30m");
        assert_eq!(Span::from_micros(i64::MIN).to_string(), "-106751991d 4h 54.775808s");
    }

    #[test]
    fn advice_is_rounded_up_to_a_length_one_would_choose() {
        let round = |text: &str| Span::parse(text).unwrap().round_up_friendly().to_string();
        for (from, to) in [
            ("0s", "0s"),
            ("1us", "1ms"),
            ("3ms", "5ms"),
            ("501ms", "1s"),
            ("3.2s", "4s"),
            ("11s", "15s"),
            ("60s", "1m"),
            ("61s", "2m"),
            ("7m 12s", "8m"),
            ("47m", "50m"),
            ("61m", "2h"),
            ("25h", "2d"),
            ("3d", "3d"),
        ] {
            assert_eq!(round(from), to, "{from}");
        }
        assert_eq!(Span::MAX.round_up_friendly(), Span::MAX);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn a_shown_span_reads_back(micros in -600_000_000_000_000_000i64..600_000_000_000_000_000, shift in 0u32..50) {
            let span = Span::from_micros(micros >> shift);
            prop_assert_eq!(Span::parse_signed(&span.to_string()).unwrap(), span);
        }

        #[test]
        fn rounding_up_never_shortens_and_is_done_once(micros in 0i64..1 << 40, shift in 0u32..40) {
            let span = Span::from_micros(micros >> shift);
            let round = span.round_up_friendly();
            prop_assert!(round >= span);
            prop_assert_eq!(round.round_up_friendly(), round);
        }
    }
}
