//! An instant taken apart by a zone's wall clock: fields, beginnings of units, texts after a pattern.
//!
//! Must not know columns or expressions. Week numbers are ISO 8601's.

use super::civil::{DAY, SECOND, civil_from_days, days_from_civil};
use super::{Ts, Zone};
use jiff::Timestamp;
use jiff::fmt::strtime;

/// A part of a date or time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Microseconds, with the seconds of the minute.
    Microsecond,
    /// Milliseconds, with the seconds of the minute.
    Millisecond,
    /// Second of the minute.
    Second,
    /// Minute of the hour.
    Minute,
    /// Hour of the day.
    Hour,
    /// Day of the month.
    Day,
    /// Day of the week, 0 is Sunday.
    DayOfWeek,
    /// Day of the week, 1 is Monday and 7 Sunday.
    IsoDayOfWeek,
    /// Day of the year, from 1.
    DayOfYear,
    /// ISO week of the year.
    Week,
    /// Year of the ISO week.
    IsoYear,
    /// Month of the year.
    Month,
    /// Quarter of the year.
    Quarter,
    /// Year.
    Year,
    /// Ten years.
    Decade,
    /// A hundred years.
    Century,
}

impl Part {
    /// The part of this name, in any case.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "microsecond" | "microseconds" | "us" => Part::Microsecond,
            "millisecond" | "milliseconds" | "ms" => Part::Millisecond,
            "second" | "seconds" | "s" | "sec" => Part::Second,
            "minute" | "minutes" | "m" | "min" => Part::Minute,
            "hour" | "hours" | "h" | "hr" => Part::Hour,
            "day" | "days" | "d" | "dayofmonth" => Part::Day,
            "dow" | "dayofweek" | "weekday" => Part::DayOfWeek,
            "isodow" => Part::IsoDayOfWeek,
            "doy" | "dayofyear" => Part::DayOfYear,
            "week" | "weeks" | "w" | "weekofyear" => Part::Week,
            "isoyear" => Part::IsoYear,
            "month" | "months" | "mon" => Part::Month,
            "quarter" | "quarters" => Part::Quarter,
            "year" | "years" | "y" | "yr" => Part::Year,
            "decade" => Part::Decade,
            "century" => Part::Century,
            _ => return None,
        })
    }

    /// Its value at an instant.
    pub fn of(self, ts: Ts, zone: &Zone) -> i64 {
        let wall = zone.wall(ts);
        let (days, time) = (wall.div_euclid(DAY), wall.rem_euclid(DAY));
        let (year, month, day) = civil_from_days(days);
        let monday = (days + 3).rem_euclid(7);
        match self {
            Part::Microsecond => time % (60 * SECOND),
            Part::Millisecond => time % (60 * SECOND) / 1_000,
            Part::Second => time / SECOND % 60,
            Part::Minute => time / (60 * SECOND) % 60,
            Part::Hour => time / (3_600 * SECOND),
            Part::Day => day,
            Part::DayOfWeek => (monday + 1) % 7,
            Part::IsoDayOfWeek => monday + 1,
            Part::DayOfYear => days - days_from_civil(year, 1, 1) + 1,
            Part::Week => iso_week(days).1,
            Part::IsoYear => iso_week(days).0,
            Part::Month => month,
            Part::Quarter => (month - 1) / 3 + 1,
            Part::Year => year,
            Part::Decade => year.div_euclid(10),
            Part::Century => (year - 1).div_euclid(100) + 1,
        }
    }

    /// The beginning of the unit that an instant lies in; of a day that begins in a gap, its first instant.
    pub fn truncate(self, ts: Ts, zone: &Zone) -> Ts {
        let wall = zone.wall(ts);
        let days = wall.div_euclid(DAY);
        let (year, month, _) = civil_from_days(days);
        let below = |unit: i64| Ts::from_micros(ts.micros().saturating_sub(wall.rem_euclid(unit)));
        let first_day = match self {
            Part::Microsecond => return ts,
            Part::Millisecond => return below(1_000),
            Part::Second => return below(SECOND),
            Part::Minute => return below(60 * SECOND),
            Part::Hour => return below(3_600 * SECOND),
            Part::Day | Part::DayOfWeek | Part::IsoDayOfWeek | Part::DayOfYear => days,
            Part::Week => days - (days + 3).rem_euclid(7),
            Part::IsoYear => first_monday(iso_week(days).0),
            Part::Month => days_from_civil(year, month, 1),
            Part::Quarter => days_from_civil(year, (month - 1) / 3 * 3 + 1, 1),
            Part::Year => days_from_civil(year, 1, 1),
            Part::Decade => days_from_civil(year.div_euclid(10) * 10, 1, 1),
            Part::Century => days_from_civil((year - 1).div_euclid(100) * 100 + 1, 1, 1),
        };
        zone.first_not_before(first_day.saturating_mul(DAY))
    }
}

/// The Monday that begins the first ISO week of a year: the one with January 4th.
fn first_monday(year: i64) -> i64 {
    let fourth = days_from_civil(year, 1, 4);
    fourth - (fourth + 3).rem_euclid(7)
}

/// The ISO year and week of a day.
fn iso_week(days: i64) -> (i64, i64) {
    let thursday = days - (days + 3).rem_euclid(7) + 3;
    let (year, _, _) = civil_from_days(thursday);
    (year, (days - first_monday(year)).div_euclid(7) + 1)
}

/// An instant as a text after a strftime pattern. The error says what is wrong with the pattern.
pub fn strftime(pattern: &str, ts: Ts, zone: &Zone) -> Result<String, String> {
    let stamp = Timestamp::from_microsecond(ts.micros()).map_err(|e| e.to_string())?;
    strtime::format(pattern, &zone.zoned(stamp)).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Ts {
        Ts::from_micros(text.parse::<Timestamp>().unwrap().as_microsecond())
    }

    fn parts(text: &str, names: &[&str]) -> Vec<i64> {
        names.iter().map(|name| Part::parse(name).unwrap().of(at(text), &Zone::UTC)).collect()
    }

    /// As DuckDB answers.
    #[test]
    fn an_instant_is_taken_apart() {
        let names = ["year", "quarter", "month", "week", "isoyear", "day", "dow", "isodow", "doy"];
        assert_eq!(parts("2026-01-01T00:00:00Z", &names), [2026, 1, 1, 1, 2026, 1, 4, 4, 1]);
        assert_eq!(parts("2024-12-30T23:59:59Z", &names), [2024, 4, 12, 1, 2025, 30, 1, 1, 365]);
        assert_eq!(parts("1969-12-28T12:00:00Z", &names), [1969, 4, 12, 52, 1969, 28, 0, 7, 362]);
        let clock = ["hour", "minute", "second", "millisecond", "microsecond", "decade", "century"];
        assert_eq!(parts("1969-12-31T23:59:58.250001Z", &clock), [23, 59, 58, 58_250, 58_250_001, 196, 20]);
    }

    #[test]
    fn units_begin_by_the_wall_clock() {
        let berlin = Zone::parse("Europe/Berlin").unwrap();
        for (unit, zone, want) in [
            ("day", &Zone::UTC, "2026-03-29T00:00:00Z"),
            ("day", &berlin, "2026-03-28T23:00:00Z"),
            ("hour", &berlin, "2026-03-29T12:00:00Z"),
            ("week", &Zone::UTC, "2026-03-23T00:00:00Z"),
            ("month", &berlin, "2026-02-28T23:00:00Z"),
            ("quarter", &Zone::UTC, "2026-01-01T00:00:00Z"),
            ("year", &Zone::UTC, "2026-01-01T00:00:00Z"),
        ] {
            let found = Part::parse(unit).unwrap().truncate(at("2026-03-29T12:34:56.7Z"), zone);
            assert_eq!(found, at(want), "{unit} {}", zone.name());
        }
    }

    #[test]
    fn a_pattern_writes_local_times() {
        let berlin = Zone::parse("Europe/Berlin").unwrap();
        assert_eq!(strftime("%Y-%m-%d %H:%M", at("2026-07-01T10:00:00Z"), &berlin).unwrap(), "2026-07-01 12:00");
        assert!(strftime("%J", at("2026-07-01T10:00:00Z"), &berlin).is_err());
    }
}
