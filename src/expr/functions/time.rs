//! Functions of instants: rounding down, parts of the calendar, counts since 1970.
//!
//! Calendar and clock are those of the zone that `resolve` was given. Must not know how times are written; that is in
//! `time_text.rs`.

use super::kernel::{Compiled, Outcome, What, resolved, takes, unfit, values};
use super::{Argument, FunctionKind, Resolved};
use crate::schema::{FieldType, Literal};
use crate::time::{CalendarLine, Span, Ts, Zone, civil_from_days, days_from_civil};
use arrow::array::{ArrayRef, AsArray, PrimitiveArray};
use arrow::datatypes::{Decimal128Type, Float64Type, Int64Type, TimestampMicrosecondType as Micros};
use std::cell::Cell;
use std::sync::Arc;

/// `date_trunc`
pub(super) static DATE_TRUNC: FunctionKind = FunctionKind {
    name: "date_trunc",
    aliases: &["datetrunc"],
    usage: "date_trunc(unit, time)",
    doc: "the start of its hour, day, week, month, ... in the job's zone",
    example: ("date_trunc('month', TIMESTAMP '2026-01-31 12:34:56')", "\"2026-01-01T00:00:00Z\""),
    least: 2,
    most: 2,
    resolve: date_trunc,
};

/// `date_part`
pub(super) static DATE_PART: FunctionKind = FunctionKind {
    name: "date_part",
    aliases: &["datepart"],
    usage: "date_part(unit, time)",
    doc: "a part of a time as a number; also extract(unit FROM time)",
    example: ("date_part('hour', TIMESTAMP '2026-01-31 12:34:56')", "12"),
    least: 2,
    most: 2,
    resolve: date_part,
};

/// `year`
pub(super) static YEAR: FunctionKind = FunctionKind {
    name: "year",
    aliases: &[],
    usage: "year(time)",
    doc: "its year",
    example: ("year(TIMESTAMP '2026-01-31 12:34:56')", "2026"),
    least: 1,
    most: 1,
    resolve: |arguments, zone| whole_part(arguments, 0, Part::Year, zone),
};

/// `quarter`
pub(super) static QUARTER: FunctionKind = FunctionKind {
    name: "quarter",
    aliases: &[],
    usage: "quarter(time)",
    doc: "its quarter, 1 to 4",
    example: ("quarter(TIMESTAMP '2026-01-31 12:34:56')", "1"),
    least: 1,
    most: 1,
    resolve: |arguments, zone| whole_part(arguments, 0, Part::Quarter, zone),
};

/// `month`
pub(super) static MONTH: FunctionKind = FunctionKind {
    name: "month",
    aliases: &[],
    usage: "month(time)",
    doc: "its month, 1 to 12",
    example: ("month(TIMESTAMP '2026-01-31 12:34:56')", "1"),
    least: 1,
    most: 1,
    resolve: |arguments, zone| whole_part(arguments, 0, Part::Month, zone),
};

/// `week`
pub(super) static WEEK: FunctionKind = FunctionKind {
    name: "week",
    aliases: &["weekofyear"],
    usage: "week(time)",
    doc: "its ISO week, 1 to 53",
    example: ("week(TIMESTAMP '2026-01-31 12:34:56')", "5"),
    least: 1,
    most: 1,
    resolve: |arguments, zone| whole_part(arguments, 0, Part::Week, zone),
};

/// `day`
pub(super) static DAY: FunctionKind = FunctionKind {
    name: "day",
    aliases: &["dayofmonth"],
    usage: "day(time)",
    doc: "its day of the month, 1 to 31",
    example: ("day(TIMESTAMP '2026-01-31 12:34:56')", "31"),
    least: 1,
    most: 1,
    resolve: |arguments, zone| whole_part(arguments, 0, Part::Day, zone),
};

/// `dayofweek`
pub(super) static DAYOFWEEK: FunctionKind = FunctionKind {
    name: "dayofweek",
    aliases: &["weekday"],
    usage: "dayofweek(time)",
    doc: "its day of the week, 0 (Sunday) to 6",
    example: ("dayofweek(TIMESTAMP '2026-01-31 12:34:56')", "6"),
    least: 1,
    most: 1,
    resolve: |arguments, zone| whole_part(arguments, 0, Part::DayOfWeek, zone),
};

/// `isodow`
pub(super) static ISODOW: FunctionKind = FunctionKind {
    name: "isodow",
    aliases: &[],
    usage: "isodow(time)",
    doc: "its day of the week, 1 (Monday) to 7",
    example: ("isodow(TIMESTAMP '2026-01-31 12:34:56')", "6"),
    least: 1,
    most: 1,
    resolve: |arguments, zone| whole_part(arguments, 0, Part::IsoDayOfWeek, zone),
};

/// `dayofyear`
pub(super) static DAYOFYEAR: FunctionKind = FunctionKind {
    name: "dayofyear",
    aliases: &[],
    usage: "dayofyear(time)",
    doc: "its day of the year, 1 to 366",
    example: ("dayofyear(TIMESTAMP '2026-01-31 12:34:56')", "31"),
    least: 1,
    most: 1,
    resolve: |arguments, zone| whole_part(arguments, 0, Part::DayOfYear, zone),
};

/// `hour`
pub(super) static HOUR: FunctionKind = FunctionKind {
    name: "hour",
    aliases: &[],
    usage: "hour(time)",
    doc: "its hour, 0 to 23",
    example: ("hour(TIMESTAMP '2026-01-31 12:34:56')", "12"),
    least: 1,
    most: 1,
    resolve: |arguments, zone| whole_part(arguments, 0, Part::Hour, zone),
};

/// `minute`
pub(super) static MINUTE: FunctionKind = FunctionKind {
    name: "minute",
    aliases: &[],
    usage: "minute(time)",
    doc: "its minute, 0 to 59",
    example: ("minute(TIMESTAMP '2026-01-31 12:34:56')", "34"),
    least: 1,
    most: 1,
    resolve: |arguments, zone| whole_part(arguments, 0, Part::Minute, zone),
};

/// `second`
pub(super) static SECOND: FunctionKind = FunctionKind {
    name: "second",
    aliases: &[],
    usage: "second(time)",
    doc: "its second, 0 to 59, without a fraction",
    example: ("second(TIMESTAMP '2026-01-31 12:34:56.7')", "56"),
    least: 1,
    most: 1,
    resolve: |arguments, zone| whole_part(arguments, 0, Part::Second, zone),
};

/// `epoch`
pub(super) static EPOCH: FunctionKind = FunctionKind {
    name: "epoch",
    aliases: &[],
    usage: "epoch(time)",
    doc: "seconds since 1970, as a double",
    example: ("epoch(TIMESTAMP '2026-01-31 12:34:56.5')", "1769862896.5"),
    least: 1,
    most: 1,
    resolve: |arguments, _| epoch(arguments, 0),
};

/// `epoch_ms`
pub(super) static EPOCH_MS: FunctionKind = FunctionKind {
    name: "epoch_ms",
    aliases: &[],
    usage: "epoch_ms(time)",
    doc: "milliseconds since 1970; of an integer: the time that has this many",
    example: ("epoch_ms(TIMESTAMP '2026-01-31 12:34:56.5')", "1769862896500"),
    least: 1,
    most: 1,
    resolve: epoch_ms,
};

/// `epoch_us`
pub(super) static EPOCH_US: FunctionKind = FunctionKind {
    name: "epoch_us",
    aliases: &[],
    usage: "epoch_us(time)",
    doc: "microseconds since 1970",
    example: ("epoch_us(TIMESTAMP '2026-01-31 12:34:56.5')", "1769862896500000"),
    least: 1,
    most: 1,
    resolve: |arguments, _| since_1970(arguments, 1),
};

/// `make_timestamp`
pub(super) static MAKE_TIMESTAMP: FunctionKind = FunctionKind {
    name: "make_timestamp",
    aliases: &[],
    usage: "make_timestamp(microseconds)",
    doc: "the time that is this many microseconds after 1970",
    example: ("make_timestamp(1769862896500000)", "\"2026-01-31T12:34:56.500Z\""),
    least: 1,
    most: 1,
    resolve: |arguments, _| resolved(takes(arguments, &[What::Int])?, FieldType::Time, times_of_integers(1)),
};

/// `to_timestamp`
pub(super) static TO_TIMESTAMP: FunctionKind = FunctionKind {
    name: "to_timestamp",
    aliases: &[],
    usage: "to_timestamp(seconds)",
    doc: "the time that is this many seconds after 1970",
    example: ("to_timestamp(1769862896.5)", "\"2026-01-31T12:34:56.500Z\""),
    least: 1,
    most: 1,
    resolve: to_timestamp,
};

type Resolving = Result<Resolved, String>;

const MICROS_OF_SECOND: i64 = 1_000_000;
const MICROS_OF_MINUTE: i64 = 60 * MICROS_OF_SECOND;
const MICROS_OF_HOUR: i64 = 60 * MICROS_OF_MINUTE;
const MICROS_OF_DAY: i64 = 24 * MICROS_OF_HOUR;

/// The instant, unless no calendar reaches it.
pub(super) fn in_range(micros: i64) -> Outcome<i64> {
    match Ts::from_micros(micros).is_in_range() {
        true => Ok(Some(micros)),
        false => Err("the time is beyond the years -9999 to 9999".into()),
    }
}

/// Instants as a column.
pub(super) fn instants(times: PrimitiveArray<Micros>) -> ArrayRef {
    Arc::new(times.with_timezone("UTC"))
}

/// A unit of clock or calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Microsecond,
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
    DayOfWeek,
    IsoDayOfWeek,
    DayOfYear,
    Week,
    Month,
    Quarter,
    Year,
    IsoYear,
    YearWeek,
    Decade,
    Century,
    Millennium,
    Era,
    Timezone,
    TimezoneHour,
    TimezoneMinute,
}

/// Units and their names, the first of which is shown.
const PARTS: &[(Part, &[&str])] = &[
    (Part::Microsecond, &["microsecond", "microseconds", "us", "usec", "usecs", "usecond", "useconds"]),
    (Part::Millisecond, &["millisecond", "milliseconds", "ms", "msec", "msecs", "msecond", "mseconds"]),
    (Part::Second, &["second", "seconds", "s", "sec", "secs"]),
    (Part::Minute, &["minute", "minutes", "m", "min", "mins"]),
    (Part::Hour, &["hour", "hours", "h", "hr", "hrs"]),
    (Part::Day, &["day", "days", "d", "dayofmonth"]),
    (Part::Week, &["week", "weeks", "w", "weekofyear"]),
    (Part::Month, &["month", "months", "mon", "mons"]),
    (Part::Quarter, &["quarter", "quarters"]),
    (Part::Year, &["year", "years", "y", "yr", "yrs"]),
    (Part::Decade, &["decade", "decades", "dec", "decs"]),
    (Part::Century, &["century", "centuries", "c", "cent"]),
    (Part::Millennium, &["millennium", "millennia", "millenniums", "millenium", "mil", "mils"]),
    (Part::DayOfWeek, &["dow", "dayofweek", "weekday"]),
    (Part::IsoDayOfWeek, &["isodow"]),
    (Part::DayOfYear, &["doy", "dayofyear"]),
    (Part::IsoYear, &["isoyear"]),
    (Part::YearWeek, &["yearweek"]),
    (Part::Era, &["era"]),
    (Part::Timezone, &["timezone"]),
    (Part::TimezoneHour, &["timezone_hour"]),
    (Part::TimezoneMinute, &["timezone_minute"]),
];

impl Part {
    fn parse(text: &str) -> Result<Self, String> {
        let name = text.to_lowercase();
        let found = PARTS.iter().find(|(_, names)| names.contains(&name.as_str()));
        found.map(|(part, _)| *part).ok_or_else(|| {
            let names: Vec<&str> = PARTS.iter().map(|(_, names)| names[0]).collect();
            format!("does not know the unit '{text}'; units are {}, epoch", names.join(", "))
        })
    }

    /// Its value of a wall-clock time that is `offset` away from UTC.
    fn of(self, wall: i64, offset: i64) -> i64 {
        let (days, of_day) = (wall.div_euclid(MICROS_OF_DAY), wall.rem_euclid(MICROS_OF_DAY));
        match self {
            Part::Microsecond => of_day % MICROS_OF_MINUTE,
            Part::Millisecond => of_day % MICROS_OF_MINUTE / 1_000,
            Part::Second => of_day % MICROS_OF_MINUTE / MICROS_OF_SECOND,
            Part::Minute => of_day % MICROS_OF_HOUR / MICROS_OF_MINUTE,
            Part::Hour => of_day / MICROS_OF_HOUR,
            Part::DayOfWeek => (days + 4).rem_euclid(7),
            Part::IsoDayOfWeek => (days + 3).rem_euclid(7) + 1,
            Part::Week => iso_week(days).1,
            Part::IsoYear => iso_week(days).0,
            Part::YearWeek => {
                let (year, week) = iso_week(days);
                year * 100 + if year < 0 { -week } else { week }
            }
            Part::Timezone => offset / MICROS_OF_SECOND,
            Part::TimezoneHour => offset / MICROS_OF_HOUR,
            Part::TimezoneMinute => offset % MICROS_OF_HOUR / MICROS_OF_MINUTE,
            _ => self.of_date(days),
        }
    }

    fn of_date(self, days: i64) -> i64 {
        let (year, month, day) = civil_from_days(days);
        // There is no year 0 in centuries: 1 to 100 are the first, 0 to -99 the first before.
        let hundreds = |unit| if year > 0 { (year - 1) / unit + 1 } else { year / unit - 1 };
        match self {
            Part::Day => day,
            Part::DayOfYear => days - days_from_civil(year, 1, 1) + 1,
            Part::Month => month,
            Part::Quarter => (month + 2) / 3,
            Part::Decade => year / 10,
            Part::Century => hundreds(100),
            Part::Millennium => hundreds(1_000),
            Part::Era => i64::from(year > 0),
            _ => year,
        }
    }
}

/// The ISO year and week of a day: the week belongs to the year of its Thursday.
pub(super) fn iso_week(days: i64) -> (i64, i64) {
    let thursday = days - (days + 3).rem_euclid(7) + 3;
    let (year, _, _) = civil_from_days(thursday);
    (year, (thursday - days_from_civil(year, 1, 1)) / 7 + 1)
}

fn date_part(arguments: &[Argument<'_>], zone: &Zone) -> Resolving {
    let part = match (arguments[0].ty, arguments[0].literal) {
        // The only part that is not a whole number.
        (_, Some(Literal::Text(text))) if text.eq_ignore_ascii_case("epoch") => return epoch(arguments, 1),
        (_, Some(Literal::Text(text))) => Part::parse(text)?,
        (None, _) => Part::Year,
        _ => return Err("needs its unit as a constant text such as 'hour'".into()),
    };
    whole_part(arguments, 1, part, zone)
}

/// A part of the time in argument `at`; a unit before it may be null.
fn whole_part(arguments: &[Argument<'_>], at: usize, part: Part, zone: &Zone) -> Resolving {
    let zone = zone.clone();
    resolved(unit_and_time(arguments, at)?, FieldType::Int, move |columns, rows, failures| {
        let time = columns[at].as_primitive::<Micros>();
        Ok(Arc::new(values::<Int64Type>(columns, rows, failures, |row| {
            let wall = zone.wall(Ts::from_micros(time.value(row)));
            Ok(Some(part.of(wall, wall - time.value(row))))
        })))
    })
}

fn unit_and_time(arguments: &[Argument<'_>], at: usize) -> Result<Vec<FieldType>, String> {
    takes(arguments, &[What::Text, What::Time][1 - at..]).map_err(|why| match arguments[at].ty {
        Some(FieldType::Text) => format!("{}; ::timestamp reads one", unfit(arguments, at, "a time")),
        Some(FieldType::Int) => format!("{}; to_timestamp or epoch_ms makes one", unfit(arguments, at, "a time")),
        _ => why,
    })
}

fn epoch(arguments: &[Argument<'_>], at: usize) -> Resolving {
    resolved(unit_and_time(arguments, at)?, FieldType::Double, move |columns, rows, failures| {
        let time = columns[at].as_primitive::<Micros>();
        let seconds = |row| Ok(Some(time.value(row) as f64 / MICROS_OF_SECOND as f64));
        Ok(Arc::new(values::<Float64Type>(columns, rows, failures, seconds)))
    })
}

fn since_1970(arguments: &[Argument<'_>], micros: i64) -> Resolving {
    resolved(unit_and_time(arguments, 0)?, FieldType::Int, move |columns, _, _| {
        let time = columns[0].as_primitive::<Micros>();
        // To the nearest, halves away from zero, as DuckDB.
        Ok(Arc::new(time.unary::<_, Int64Type>(|time| (time.saturating_abs() + micros / 2) / micros * time.signum())))
    })
}

fn epoch_ms(arguments: &[Argument<'_>], _: &Zone) -> Resolving {
    match arguments[0].ty {
        Some(FieldType::Int) => resolved(vec![FieldType::Int], FieldType::Time, times_of_integers(1_000)),
        _ => since_1970(arguments, 1_000),
    }
}

type Run = fn(&[ArrayRef], usize, &mut super::Failures) -> crate::error::Result<ArrayRef>;

fn to_timestamp(arguments: &[Argument<'_>], _: &Zone) -> Resolving {
    match arguments[0].ty {
        Some(FieldType::Int) => resolved(vec![FieldType::Int], FieldType::Time, times_of_integers(MICROS_OF_SECOND)),
        Some(decimal @ FieldType::Decimal { scale, .. }) => {
            resolved(vec![decimal], FieldType::Time, move |columns, rows, failures| {
                let seconds = columns[0].as_primitive::<Decimal128Type>();
                Ok(times(columns, rows, failures, |row| decimal_micros(seconds.value(row), scale)))
            })
        }
        _ => resolved(takes(arguments, &[What::Double])?, FieldType::Time, times_of_doubles as Run),
    }
}

fn times(
    columns: &[ArrayRef],
    rows: usize,
    failures: &mut super::Failures,
    micros: impl Fn(usize) -> Option<i64>,
) -> ArrayRef {
    // What 64 bits cannot hold is beyond all calendars too.
    instants(values::<Micros>(columns, rows, failures, |row| in_range(micros(row).unwrap_or(i64::MAX))))
}

/// Times of integers that count so many microseconds.
fn times_of_integers(
    unit: i64,
) -> impl Fn(&[ArrayRef], usize, &mut super::Failures) -> crate::error::Result<ArrayRef> + Send + Sync + 'static {
    move |columns, rows, failures| {
        let counts = columns[0].as_primitive::<Int64Type>();
        Ok(times(columns, rows, failures, |row| counts.value(row).checked_mul(unit)))
    }
}

/// To the nearest microsecond: a double of today's seconds is exact to a quarter of one.
fn times_of_doubles(
    columns: &[ArrayRef],
    rows: usize,
    failures: &mut super::Failures,
) -> crate::error::Result<ArrayRef> {
    let seconds = columns[0].as_primitive::<Float64Type>();
    Ok(times(columns, rows, failures, |row| {
        let micros = (seconds.value(row) * MICROS_OF_SECOND as f64).round();
        micros.is_finite().then_some(micros as i64)
    }))
}

/// Decimal seconds, floored to microseconds.
fn decimal_micros(value: i128, scale: i8) -> Option<i64> {
    let unit = 10_i128.checked_pow(u32::from(scale.unsigned_abs()))?;
    let (whole, rest) = match scale < 0 {
        true => (value.checked_mul(unit)?, 0),
        false => (value.div_euclid(unit), value.rem_euclid(unit)),
    };
    let micros = i128::from(MICROS_OF_SECOND);
    let fraction = if scale > 6 { rest / (unit / micros) } else { rest * micros / unit };
    i64::try_from(whole.checked_mul(micros)?.checked_add(fraction)?).ok()
}

/// How an instant is moved back to the start of a unit.
enum Start {
    /// Of equal lengths of the clock, in microseconds.
    Clock(i64, Zone),
    /// Of so many days or months on their line, of which number `first` begins such a unit.
    Calendar { line: CalendarLine, count: i64, first: i64 },
}

/// 1969-12-29, a Monday, in days since 1970.
const MONDAY: i64 = -3;
/// January of the year 0 in months since 1970.
const YEAR_ZERO: i64 = -1970 * 12;

impl Start {
    fn of(unit: Part, zone: &Zone) -> Result<Self, String> {
        let days =
            |count| Start::Calendar { line: CalendarLine::days(MONDAY, zone.clone(), Span::ZERO), count, first: 0 };
        let months =
            |count| Start::Calendar { line: CalendarLine::months(zone.clone(), Span::ZERO), count, first: YEAR_ZERO };
        Ok(match unit {
            Part::Microsecond => Start::Clock(1, zone.clone()),
            Part::Millisecond => Start::Clock(1_000, zone.clone()),
            Part::Second => Start::Clock(MICROS_OF_SECOND, zone.clone()),
            Part::Minute => Start::Clock(MICROS_OF_MINUTE, zone.clone()),
            Part::Hour => Start::Clock(MICROS_OF_HOUR, zone.clone()),
            Part::Day | Part::DayOfWeek | Part::IsoDayOfWeek | Part::DayOfYear => days(1),
            Part::Week | Part::YearWeek => days(7),
            Part::Month => months(1),
            Part::Quarter => months(3),
            Part::Year => months(12),
            Part::Decade => months(120),
            Part::Century => months(1_200),
            Part::Millennium => months(12_000),
            _ => return Err("cannot cut a time to that unit; hour, day, week, month and their like are units".into()),
        })
    }

    /// The start of the unit that holds an instant. `last` keeps the bounds of the one found before.
    fn before(&self, micros: i64, last: &Cell<(i64, i64)>) -> i64 {
        let (line, count, first) = match self {
            Start::Clock(length, zone) => {
                let wall = zone.wall(Ts::from_micros(micros));
                return micros.saturating_sub(wall.rem_euclid(*length));
            }
            Start::Calendar { line, count, first } => (line, count, first),
        };
        let (start, end) = last.get();
        if (start..end).contains(&micros) {
            return start;
        }
        let cell = (line.cell_of(Ts::from_micros(micros)) - first).div_euclid(*count) * count + first;
        let (start, end) = (line.instant(cell).micros(), line.instant(cell + count).micros());
        last.set((start, end));
        start
    }
}

fn date_trunc(arguments: &[Argument<'_>], zone: &Zone) -> Resolving {
    let takes = unit_and_time(arguments, 1)?;
    let zone = zone.clone();
    let unit = Compiled::new(&arguments[0], move |text| Start::of(Part::parse(text)?, &zone))?;
    resolved(takes, FieldType::Time, move |columns, rows, failures| {
        let time = columns[1].as_primitive::<Micros>();
        let mut units = unit.reader(columns[0].as_string());
        let is_constant = matches!(unit, Compiled::Constant(_));
        let last = Cell::new((0, 0));
        Ok(instants(values::<Micros>(columns, rows, failures, |row| {
            let start = units.get(row)?;
            if !is_constant {
                last.set((0, 0));
            }
            in_range(start.before(time.value(row), &last))
        })))
    })
}
