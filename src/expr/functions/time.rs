//! Functions on times. Parts and beginnings go by the job's zone.

use super::rows::{constant, each, needs_number, needs_text, needs_time, texts};
use super::{Argument, FunctionKind, Resolved};
use crate::schema::FieldType::{Double, Text, Time};
use crate::time::{DayCache, Part, TimeFormat, TimeReader, Ts, Zone, strftime};

/// The functions of this family.
pub(super) static TIME: &[FunctionKind] = &[
    FunctionKind {
        name: "date_trunc",
        aliases: &["datetrunc"],
        usage: "date_trunc(unit, time)",
        doc: "the beginning of the unit (second, minute, hour, day, week, month, quarter, year) in --tz",
        example: ("date_trunc('hour', TIMESTAMP '2026-01-31 12:34:56')", "\"2026-01-31T12:00:00Z\""),
        least: 2,
        most: 2,
        resolve: |a, zone| {
            let unit = part(a)?;
            let zone = zone.clone();
            needs_time(a, 1)?;
            Ok(each(&[Text, Time], move |row| Ok(Some(unit.truncate(Ts::from_micros(row.micros(1)), &zone)))))
        },
    },
    FunctionKind {
        name: "date_part",
        aliases: &["datepart"],
        usage: "date_part(unit, time), extract(unit FROM time)",
        doc: "a part of the time in --tz: year, quarter, month, week, day, dow (Sunday is 0), isodow, doy, hour, ...",
        example: ("extract(hour FROM TIMESTAMP '2026-01-31 12:34:56')", "12"),
        least: 2,
        most: 2,
        resolve: |a, zone| {
            if constant(a, 0).is_some_and(|unit| unit.eq_ignore_ascii_case("epoch")) {
                needs_time(a, 1)?;
                return Ok(each(&[Text, Time], |row| Ok(Some(row.micros(1) as f64 / 1e6))));
            }
            let unit = part(a)?;
            needs_time(a, 1)?;
            Ok(of_part(unit, &[Text, Time], zone))
        },
    },
    short("year", "year(time)", Part::Year, "2026"),
    short("month", "month(time)", Part::Month, "1"),
    short("day", "day(time)", Part::Day, "31"),
    short("hour", "hour(time)", Part::Hour, "12"),
    short("minute", "minute(time)", Part::Minute, "34"),
    short("second", "second(time)", Part::Second, "56"),
    short("dayofweek", "dayofweek(time)", Part::DayOfWeek, "6"),
    FunctionKind {
        name: "epoch",
        aliases: &[],
        usage: "epoch(time)",
        doc: "the seconds since 1970-01-01T00:00:00Z, as a double",
        example: ("epoch(TIMESTAMP '1970-01-01 00:00:01.5')", "1.5"),
        least: 1,
        most: 1,
        resolve: |a, _| {
            needs_time(a, 0)?;
            Ok(each(&[Time], |row| Ok(Some(row.micros(0) as f64 / 1e6))))
        },
    },
    FunctionKind {
        name: "epoch_ms",
        aliases: &[],
        usage: "epoch_ms(time)",
        doc: "the milliseconds since 1970-01-01T00:00:00Z, to the nearest",
        example: ("epoch_ms(TIMESTAMP '1970-01-01 00:00:01.5')", "1500"),
        least: 1,
        most: 1,
        resolve: |a, _| {
            needs_time(a, 0)?;
            Ok(each(&[Time], |row| Ok(Some(row.micros(0).saturating_add(500).div_euclid(1_000)))))
        },
    },
    FunctionKind {
        name: "epoch_us",
        aliases: &[],
        usage: "epoch_us(time)",
        doc: "the microseconds since 1970-01-01T00:00:00Z",
        example: ("epoch_us(TIMESTAMP '1970-01-01 00:00:01.5')", "1500000"),
        least: 1,
        most: 1,
        resolve: |a, _| {
            needs_time(a, 0)?;
            Ok(each(&[Time], |row| Ok(Some(row.micros(0)))))
        },
    },
    FunctionKind {
        name: "to_timestamp",
        aliases: &[],
        usage: "to_timestamp(seconds)",
        doc: "the time so many seconds after 1970-01-01T00:00:00Z",
        example: ("to_timestamp(1.5)", "\"1970-01-01T00:00:01.500Z\""),
        least: 1,
        most: 1,
        resolve: |a, _| {
            needs_number(a, 0)?;
            Ok(each(&[Double], |row| {
                let micros = (row.double(0) * 1e6).floor();
                match micros.abs() < 9.2e18 {
                    true => Ok(Some(Ts::from_micros(micros as i64))),
                    false => Err(format!("{} seconds are no time", row.double(0))),
                }
            }))
        },
    },
    FunctionKind {
        name: "strftime",
        aliases: &[],
        usage: "strftime(time, pattern)",
        doc: "the time as a text after a pattern, in --tz",
        example: ("strftime(TIMESTAMP '2026-01-31 12:34:56', '%d.%m.%Y')", "\"31.01.2026\""),
        least: 2,
        most: 2,
        resolve: |a, zone| {
            needs_time(a, 0)?;
            needs_text(a, 1)?;
            if let Some(pattern) = constant(a, 1) {
                strftime(&six_digits(pattern), Ts::from_micros(0), zone).map_err(|e| format!("cannot read '{pattern}': {e}"))?;
            }
            let zone = zone.clone();
            Ok(texts(&[Time, Text], move |row, out| {
                out.push_str(&strftime(&six_digits(row.text(1)), Ts::from_micros(row.micros(0)), &zone)?);
                Ok(true)
            }))
        },
    },
    FunctionKind {
        name: "strptime",
        aliases: &[],
        usage: "strptime(text, pattern)",
        doc: "the time that a text after a pattern means, in UTC if it has no offset; a text that does not fit fails",
        example: ("strptime('31.01.2026', '%d.%m.%Y')", "\"2026-01-31T00:00:00Z\""),
        least: 2,
        most: 2,
        resolve: |a, _| parsed(a, false),
    },
    FunctionKind {
        name: "try_strptime",
        aliases: &[],
        usage: "try_strptime(text, pattern)",
        doc: "as strptime, but null where the text does not fit",
        example: ("try_strptime('n/a', '%d.%m.%Y')", "null"),
        least: 2,
        most: 2,
        resolve: |a, _| parsed(a, true),
    },
];

const fn short(name: &'static str, usage: &'static str, part: Part, result: &'static str) -> FunctionKind {
    FunctionKind {
        name,
        aliases: &[],
        usage,
        doc: "that part of the time in --tz",
        example: (short_example(part), result),
        least: 1,
        most: 1,
        resolve: match part {
            Part::Year => |a, zone| one_part(a, Part::Year, zone),
            Part::Month => |a, zone| one_part(a, Part::Month, zone),
            Part::Day => |a, zone| one_part(a, Part::Day, zone),
            Part::Hour => |a, zone| one_part(a, Part::Hour, zone),
            Part::Minute => |a, zone| one_part(a, Part::Minute, zone),
            Part::Second => |a, zone| one_part(a, Part::Second, zone),
            _ => |a, zone| one_part(a, Part::DayOfWeek, zone),
        },
    }
}

const fn short_example(part: Part) -> &'static str {
    match part {
        Part::Year => "year(TIMESTAMP '2026-01-31 12:34:56')",
        Part::Month => "month(TIMESTAMP '2026-01-31 12:34:56')",
        Part::Day => "day(TIMESTAMP '2026-01-31 12:34:56')",
        Part::Hour => "hour(TIMESTAMP '2026-01-31 12:34:56')",
        Part::Minute => "minute(TIMESTAMP '2026-01-31 12:34:56')",
        Part::Second => "second(TIMESTAMP '2026-01-31 12:34:56')",
        _ => "dayofweek(TIMESTAMP '2026-01-31 12:34:56')",
    }
}

fn one_part(arguments: &[Argument<'_>], part: Part, zone: &Zone) -> Result<Resolved, String> {
    needs_time(arguments, 0)?;
    Ok(of_part(part, &[Time], zone))
}

fn of_part(part: Part, takes: &[crate::schema::FieldType], zone: &Zone) -> Resolved {
    let (zone, last) = (zone.clone(), takes.len() - 1);
    each(takes, move |row| Ok(Some(part.of(Ts::from_micros(row.micros(last)), &zone))))
}

/// A pattern in which `%f` has six digits, as in DuckDB and C++.
fn six_digits(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 1);
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        out.push(c);
        if c == '%' {
            match chars.next() {
                Some('f') => out.push_str("6f"),
                other => out.extend(other),
            }
        }
    }
    out
}

/// The unit that the first argument names.
fn part(arguments: &[Argument<'_>]) -> Result<Part, String> {
    let name = constant(arguments, 0).ok_or("needs a constant unit in single quotes: 'hour'")?;
    Part::parse(name).ok_or_else(|| {
        format!("knows no unit '{name}'; units are second, minute, hour, day, week, month, quarter, year")
    })
}

fn parsed(arguments: &[Argument<'_>], or_null: bool) -> Result<Resolved, String> {
    needs_text(arguments, 0)?;
    let pattern = constant(arguments, 1).ok_or("needs a constant pattern in single quotes: '%d.%m.%Y'")?;
    let format = TimeFormat::parse(pattern).map_err(|e| e.message().to_owned())?;
    let reader = TimeReader::new(format, Zone::UTC);
    Ok(each(&[Text, Text], move |row| match reader.text(row.text(0).as_bytes(), &mut DayCache::default()) {
        Ok(reading) => Ok(Some(reading.ts)),
        Err(_) if or_null => Ok(None),
        Err(bad) => Err(bad.message),
    }))
}
