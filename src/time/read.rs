//! Texts and numbers to instants, as `--time-format` says.
//!
//! Must not know columns, files or flags beyond its own. The general parser is jiff's: it defines the language, and
//! the short ways in `fast` and `number` must agree with it.

use super::civil::{DAY, SECOND, days_from_civil};
use super::fast::{self, DayCache};
use super::number::Decimal;
use super::{Ts, Zone};
use crate::error::{Error, Result};
use jiff::civil::{Date, Time};
use jiff::fmt::strtime::{self, BrokenDownTime};
use jiff::fmt::temporal::Pieces;
use std::borrow::Cow;
use std::fmt;
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

impl Unit {
    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Seconds => "seconds",
            Unit::Millis => "milliseconds",
            Unit::Micros => "microseconds",
            Unit::Nanos => "nanoseconds",
        }
    }

    /// The value of `--time-format` that means it.
    pub fn flag(self) -> &'static str {
        match self {
            Unit::Seconds => "unix-s",
            Unit::Millis => "unix-ms",
            Unit::Micros => "unix-us",
            Unit::Nanos => "unix-ns",
        }
    }

    /// The unit that a number's size tells, by its digits before the point: below 1e11 seconds, below 1e14
    /// milliseconds, below 1e17 microseconds.
    fn of_magnitude(digits: i64) -> Self {
        match digits {
            ..=11 => Unit::Seconds,
            12..=14 => Unit::Millis,
            15..=17 => Unit::Micros,
            _ => Unit::Nanos,
        }
    }

    /// The power of ten that makes microseconds of it.
    fn power(self) -> i64 {
        match self {
            Unit::Seconds => 6,
            Unit::Millis => 3,
            Unit::Micros => 0,
            Unit::Nanos => -3,
        }
    }
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

impl TimeFormat {
    /// The formats that have a name, in the order help lists them.
    const NAMED: [(&'static str, TimeFormat); 6] = [
        ("auto", TimeFormat::Auto),
        ("rfc3339", TimeFormat::Rfc3339),
        ("unix-s", TimeFormat::Unix(Unit::Seconds)),
        ("unix-ms", TimeFormat::Unix(Unit::Millis)),
        ("unix-us", TimeFormat::Unix(Unit::Micros)),
        ("unix-ns", TimeFormat::Unix(Unit::Nanos)),
    ];

    /// Reads the value of `--time-format`: a name, or a strptime pattern, which must hold a `%` and give a date.
    pub fn parse(text: &str) -> Result<TimeFormat> {
        if let Some((_, format)) = Self::NAMED.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)) {
            return Ok(format.clone());
        }
        if text.contains('%') {
            check_pattern(text)?;
            return Ok(TimeFormat::Pattern(text.into()));
        }
        let names = Self::NAMED.map(|(name, _)| name);
        let error = Error::usage(format!("expected {} or a strptime pattern, found \"{text}\"", names.join(", ")));
        Err(match names.iter().find(|name| strsim::damerau_levenshtein(name, &text.to_ascii_lowercase()) <= 2) {
            Some(name) => error.hint(format!("did you mean {name}?")),
            None => error.hint("a pattern looks like '%d/%b/%Y:%H:%M:%S %z'"),
        })
    }
}

impl fmt::Display for TimeFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TimeFormat::Auto => f.write_str("auto"),
            TimeFormat::Rfc3339 => f.write_str("rfc3339"),
            TimeFormat::Unix(unit) => f.write_str(unit.flag()),
            TimeFormat::Pattern(pattern) => f.write_str(pattern),
        }
    }
}

/// Tries a pattern on a time of its own making, so that a hopeless one is refused before any input is read.
fn check_pattern(pattern: &str) -> Result<()> {
    let sample = jiff::civil::date(2024, 11, 23).at(21, 35, 46, 123_456_000).to_zoned_datetime(jiff::tz::TimeZone::UTC);
    let wrong = |e: jiff::Error| Error::usage(format!("the pattern \"{pattern}\" cannot be read: {e}"));
    let written = strtime::format(pattern, &sample.map_err(wrong)?).map_err(wrong)?;
    let read = BrokenDownTime::parse(pattern, &written).map_err(wrong)?;
    if read.timestamp().is_none() && read.to_date().is_err() {
        return Err(Error::usage(format!("the pattern \"{pattern}\" has no full date"))
            .hint("year, month and day (%Y-%m-%d) or seconds since 1970 (%s) are needed"));
    }
    Ok(())
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

/// Why a value is no event time; prints as the phrase behind the column's name, `expected a time, found "n/a"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadTime {
    /// The phrase.
    pub message: String,
    /// The flag that would read such values, if one is known.
    pub hint: Option<&'static str>,
}

impl BadTime {
    /// The phrase with its advice behind it, where a message has no place for a hint of its own.
    pub fn in_full(self) -> String {
        match self.hint {
            Some(hint) => format!("{} ({hint})", self.message),
            None => self.message,
        }
    }
}

impl fmt::Display for BadTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// What to do about numbers of a unit that was not expected.
const NUMBER_HINT: &str = "--time-format unix-s|unix-ms|unix-us|unix-ns says what the numbers are";

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
    #[inline]
    pub fn text(&self, text: &[u8], cache: &mut DayCache) -> Result<Reading, BadTime> {
        let plain = matches!(self.format, TimeFormat::Auto | TimeFormat::Rfc3339);
        if plain && let Some(micros) = fast::micros(text, self.zone.fixed_offset(), cache) {
            let ts = Ts::from_micros(micros);
            if ts.is_in_range() {
                return Ok(Reading { ts, unit: None });
            }
        }
        self.any_text(text.trim_ascii())
    }

    /// Reads a number, as its decimal text (`1700000000.25`, `1.7e9`); the rest beyond microseconds is floored.
    pub fn number(&self, text: &[u8]) -> Result<Reading, BadTime> {
        match (&self.format, Decimal::parse(text)) {
            (TimeFormat::Auto | TimeFormat::Unix(_), Some(number)) => self.decimal(number, text),
            // A column of digits like 20240131 is a number to some formats and text to others; the pattern reads both.
            (TimeFormat::Pattern(pattern), _) => self.pattern(pattern, text),
            _ => Err(self.bad(text, &as_found(text))),
        }
    }

    fn any_text(&self, text: &[u8]) -> Result<Reading, BadTime> {
        if let TimeFormat::Pattern(pattern) = &self.format {
            return self.pattern(pattern, text);
        }
        match (Decimal::parse(text), &self.format) {
            (Some(number), TimeFormat::Auto | TimeFormat::Unix(_)) => self.decimal(number, text),
            (None, TimeFormat::Auto | TimeFormat::Rfc3339) => {
                let ts = iso(text, &self.zone).ok_or_else(|| self.bad(text, &quoted(text)))?;
                reading(ts, || quoted(text))
            }
            _ => Err(self.bad(text, &quoted(text))),
        }
    }

    fn pattern(&self, pattern: &str, text: &[u8]) -> Result<Reading, BadTime> {
        let ts = strptime(pattern, text, &self.zone).ok_or_else(|| self.bad(text, &quoted(text)))?;
        reading(ts, || quoted(text))
    }

    /// A number of the format's unit, of the unit known so far, or of the unit that its own size tells.
    fn decimal(&self, number: Decimal<'_>, text: &[u8]) -> Result<Reading, BadTime> {
        let shown = number.magnitude().map(Unit::of_magnitude);
        let unit = match (&self.format, self.unit, shown) {
            (TimeFormat::Unix(unit), _, _) => *unit,
            (_, _, None) => return Ok(Reading { ts: Ts::default(), unit: None }),
            (_, Some(known), Some(shown)) if known != shown => return Err(contradiction(known, shown, text)),
            (_, _, Some(shown)) => shown,
        };
        let ts = number.floor(unit.power()).map_or(Ts::MAX, Ts::from_micros);
        let news = if self.unit.is_none() { shown.map(|_| unit) } else { None };
        Ok(Reading { unit: news, ..reading(ts, || as_found(text))? })
    }

    /// The error for something that this format does not read.
    #[cold]
    fn bad(&self, text: &[u8], found: &str) -> BadTime {
        let is_number = Decimal::parse(text).is_some();
        let (expected, hint) = match &self.format {
            TimeFormat::Auto => ("a time".into(), None),
            TimeFormat::Rfc3339 if is_number => ("a time in RFC 3339".into(), Some(NUMBER_HINT)),
            TimeFormat::Rfc3339 => ("a time in RFC 3339".into(), None),
            TimeFormat::Unix(unit) => (format!("a time in {}", unit.name()), None),
            TimeFormat::Pattern(pattern) => (format!("a time like \"{pattern}\""), None),
        };
        BadTime { message: format!("expected {expected}, found {found}"), hint }
    }
}

/// The reading of an instant, unless no calendar reaches it.
fn reading(ts: Ts, found: impl FnOnce() -> String) -> Result<Reading, BadTime> {
    if ts.is_in_range() {
        return Ok(Reading { ts, unit: None });
    }
    let message = format!("expected a time from -9999-01-03 to 9999-12-31 in UTC, found {}", found());
    Err(BadTime { message, hint: None })
}

#[cold]
fn contradiction(known: Unit, shown: Unit, text: &[u8]) -> BadTime {
    let (known, shown, found) = (known.name(), shown.name(), as_found(text));
    let message = format!("expected a time in {known} like those before, found {found}, which looks like {shown}");
    BadTime { message, hint: Some(NUMBER_HINT) }
}

/// A value as it stands, cut short where it is long.
fn as_found(text: &[u8]) -> String {
    const SHOWN: usize = 60;
    let text = String::from_utf8_lossy(text);
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into_owned(),
    }
}

fn quoted(text: &[u8]) -> String {
    format!("\"{}\"", as_found(text).escape_debug())
}

/// RFC 3339 / ISO 8601 text, as jiff defines it; local times and dates in `zone`. May be out of range.
fn iso(text: &[u8], zone: &Zone) -> Option<Ts> {
    let text = shorten_fraction(text);
    let pieces = Pieces::parse(&*text).ok()?;
    let offset = pieces.to_numeric_offset().map(|offset| i64::from(offset.seconds()) * SECOND);
    if let Some(offset) = offset {
        let wall = wall_micros(pieces.date(), pieces.time().unwrap_or(Time::midnight()));
        return Some(Ts::from_micros(wall - offset));
    }
    if pieces.time_zone_annotation().is_some() {
        return Some(local(pieces.date(), pieces.time(), &Zone::of_annotation(&pieces)?));
    }
    Some(local(pieces.date(), pieces.time(), zone))
}

/// Cuts a fraction to the nine digits that the library reads. What is cut is below a microsecond: it is floored.
fn shorten_fraction(text: &[u8]) -> Cow<'_, [u8]> {
    let Some(point) = text.iter().position(|b| matches!(b, b'.' | b',')) else { return Cow::Borrowed(text) };
    let digits = text[point + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
    if digits <= 9 {
        return Cow::Borrowed(text);
    }
    Cow::Owned([&text[..point + 10], &text[point + 1 + digits..]].concat())
}

/// Text by a strptime pattern; a local time in `zone`, a date alone is the start of its day.
fn strptime(pattern: &str, text: &[u8], zone: &Zone) -> Option<Ts> {
    let read = BrokenDownTime::parse(pattern, text).ok()?;
    if let Some(stamp) = read.timestamp() {
        let micros = stamp.as_nanosecond().div_euclid(1_000);
        let fraction = i64::from(read.subsec_nanosecond().unwrap_or(0)) / 1_000;
        return Some(Ts::from_micros(i64::try_from(micros).ok()? + fraction));
    }
    let date = read.to_date().ok()?;
    let time = match (read.hour(), read.minute(), read.second()) {
        (None, None, None) => None,
        _ => Some(read.to_time().ok()?),
    };
    match (read.offset(), read.iana_time_zone()) {
        (Some(offset), _) => {
            let wall = wall_micros(date, time.unwrap_or(Time::midnight()));
            Some(Ts::from_micros(wall - i64::from(offset.seconds()) * SECOND))
        }
        (None, Some(name)) => Some(local(date, time, &Zone::parse(name).ok()?)),
        (None, None) => Some(local(date, time, zone)),
    }
}

/// The instant of a local time; without a time, the start of the day.
fn local(date: Date, time: Option<Time>, zone: &Zone) -> Ts {
    match time {
        Some(time) => zone.instant(wall_micros(date, time)),
        None => zone.first_not_before(wall_micros(date, Time::midnight())),
    }
}

fn wall_micros(date: Date, time: Time) -> i64 {
    let day = days_from_civil(date.year().into(), date.month().into(), date.day().into());
    let seconds = (i64::from(time.hour()) * 60 + i64::from(time.minute())) * 60 + i64::from(time.second());
    // The fraction counts upwards in any year, so cutting it is flooring.
    day * DAY + seconds * SECOND + i64::from(time.subsec_nanosecond()) / 1_000
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn auto() -> TimeReader {
        TimeReader::new(TimeFormat::Auto, Zone::UTC)
    }

    fn read(reader: &TimeReader, text: &str) -> Result<i64, String> {
        reader.text(text.as_bytes(), &mut DayCache::default()).map(|r| r.ts.micros()).map_err(|e| e.message)
    }

    fn zoned(zone: &str, text: &str) -> String {
        let reader = TimeReader::new(TimeFormat::Auto, Zone::parse(zone).unwrap());
        let ts = reader.text(text.as_bytes(), &mut DayCache::default()).unwrap().ts;
        let mut out = Vec::new();
        super::super::format_rfc3339(ts, &Zone::UTC, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_way_to_write_one_instant_is_that_instant() {
        for text in [
            "2024-02-29T12:30:00Z",
            "2024-02-29t12:30:00z",
            "2024-02-29 12:30:00",
            "2024-02-29T12:30",
            "2024-02-29 12:30Z",
            "2024-02-29T12:30:00.000000000000+00:00",
            "2024-02-29T13:30:00+01:00",
            "2024-02-29T13:30:00+0100",
            "2024-02-29T13:30:00+01",
            "2024-02-29T07:00:00-05:30",
            "2024-02-29T13:30:00+01:00[Europe/Berlin]",
            "2024-02-29T13:30:00[Europe/Berlin]",
            " 2024-02-29T12:30:00Z ",
            "20240229T123000Z",
            "1709209800",
            "1709209800000",
            "1709209800000000",
            "1709209800000000000",
            "1.7092098e9",
        ] {
            assert_eq!(read(&auto(), text), Ok(1_709_209_800_000_000), "{text}");
        }
    }

    #[test]
    fn fractions_of_any_length_are_floored_before_1970_too() {
        assert_eq!(read(&auto(), "1969-12-31T23:59:59.9999999999999Z"), Ok(-1));
        assert_eq!(read(&auto(), "1969-12-31T23:59:59.9999999999999+00"), Ok(-1));
        assert_eq!(read(&auto(), "1970-01-01T00:00:00.0000009Z"), Ok(0));
        assert_eq!(read(&auto(), "1970-01-01T00:00:00,123456789Z"), Ok(123_456));
        assert_eq!(read(&auto(), "-0.0000001"), Ok(-1));
    }

    #[test]
    fn years_reach_as_far_as_the_calendar_of_the_library() {
        assert_eq!(read(&auto(), "0001-01-01T00:00:00Z"), Ok(-62_135_596_800_000_000));
        assert!(read(&auto(), "-009999-01-03").is_ok());
        assert!(read(&auto(), "9999-12-30T22:00:00.999999Z").is_ok());
        assert!(read(&auto(), "9999-12-31T23:59:59-01:00").unwrap_err().contains("to 9999-12-31 in UTC"));
        assert!(read(&auto(), "1e30").unwrap_err().contains("to 9999-12-31"));
    }

    #[test]
    fn what_is_no_time_is_named() {
        let found =
            ["n/a", "", "2024-13-01", "2024-02-30", "2024-01-01T24:00:00Z", "2024-01-01T00:00:00+25:99", "12:30"];
        for text in found {
            assert_eq!(read(&auto(), text), Err(format!("expected a time, found \"{text}\"")));
        }
        assert_eq!(read(&auto(), &"x".repeat(70)), Err(format!("expected a time, found \"{}...\"", "x".repeat(60))));
        assert!(auto().text(b"\xff\xfe", &mut DayCache::default()).is_err());
    }

    #[test]
    fn a_leap_second_is_the_second_before_it() {
        assert_eq!(read(&auto(), "2016-12-31T23:59:60Z"), read(&auto(), "2016-12-31T23:59:59Z"));
    }

    #[test]
    fn local_times_are_read_in_the_zone() {
        assert_eq!(zoned("Europe/Berlin", "2024-07-01T12:00:00"), "2024-07-01T10:00:00Z");
        assert_eq!(zoned("Europe/Berlin", "2024-03-31 02:30:00"), "2024-03-31T01:30:00Z");
        assert_eq!(zoned("Europe/Berlin", "2024-10-27 02:30:00"), "2024-10-27T00:30:00Z");
        assert_eq!(zoned("+05:30", "2024-01-01 00:00:00"), "2023-12-31T18:30:00Z");
        assert_eq!(zoned("America/Sao_Paulo", "2018-11-04"), "2018-11-04T03:00:00Z");
        assert_eq!(zoned("Europe/Berlin", "2024-07-01T12:00:00Z"), "2024-07-01T12:00:00Z");
    }

    #[test]
    fn the_first_number_that_is_not_zero_shows_the_unit_by_its_size() {
        for (text, unit) in [
            ("99999999999", Unit::Seconds),
            ("-1", Unit::Seconds),
            ("100000000000", Unit::Millis),
            ("99999999999999.9", Unit::Millis),
            ("100000000000000", Unit::Micros),
            ("-99999999999999999", Unit::Micros),
            ("100000000000000000", Unit::Nanos),
        ] {
            assert_eq!(auto().number(text.as_bytes()).unwrap().unit, Some(unit), "{text}");
        }
        assert_eq!(auto().number(b"0.0").unwrap(), Reading { ts: Ts::default(), unit: None });
    }

    #[test]
    fn a_later_number_of_another_size_is_bad_and_names_the_flag() {
        let known = TimeReader { unit: Some(Unit::Millis), ..auto() };
        let bad = known.number(b"1700000000").unwrap_err();
        assert_eq!(
            bad.to_string(),
            "expected a time in milliseconds like those before, found 1700000000, which looks like seconds"
        );
        assert!(bad.hint.unwrap().contains("--time-format"));
        assert_eq!(known.number(b"0").unwrap(), Reading { ts: Ts::default(), unit: None });
        assert_eq!(known.number(b"1700000000000.9").unwrap().ts.micros(), 1_700_000_000_000_900);
    }

    #[test]
    fn a_unit_that_was_given_is_never_doubted() {
        let millis = TimeReader::new(TimeFormat::Unix(Unit::Millis), Zone::UTC);
        assert_eq!(read(&millis, "1700000000"), Ok(1_700_000_000_000));
        assert_eq!(millis.number(b"1700000000").unwrap().unit, None);
        assert_eq!(read(&millis, "-1.5"), Ok(-1_500));
        let text = read(&millis, "2024-01-01T00:00:00Z").unwrap_err();
        assert_eq!(text, "expected a time in milliseconds, found \"2024-01-01T00:00:00Z\"");
    }

    #[test]
    fn rfc3339_refuses_numbers() {
        let strict = TimeReader::new(TimeFormat::Rfc3339, Zone::UTC);
        assert_eq!(read(&strict, "1970-01-01T00:00:01Z"), Ok(SECOND));
        assert!(read(&strict, "1700000000").is_err());
        assert!(strict.number(b"1700000000").unwrap_err().hint.is_some());
    }

    #[test]
    fn patterns_read_local_zoned_and_counted_times() {
        let read_as = |pattern: &str, zone: &str, text: &str| {
            let format = TimeFormat::parse(pattern).unwrap();
            read(&TimeReader::new(format, Zone::parse(zone).unwrap()), text)
        };
        let noon = Ok(1_709_209_800_000_000);
        assert_eq!(read_as("%d/%b/%Y:%H:%M:%S %z", "UTC", "29/Feb/2024:13:30:00 +0100"), noon);
        assert_eq!(read_as("%Y%m%d%H%M", "Europe/Berlin", "202402291330"), noon);
        assert_eq!(read_as("%s", "Europe/Berlin", "1709209800"), noon);
        assert_eq!(read_as("%F %T %Q", "UTC", "2024-02-29 13:30:00 Europe/Berlin"), noon);
        assert_eq!(read_as("%F %T%.f", "UTC", "2024-02-29 12:30:00.0000009"), noon);
        assert_eq!(read_as("%s%.f", "UTC", "1709209800.25"), Ok(1_709_209_800_250_000));
        assert_eq!(read_as("%Y-%m-%d", "+01:00", "2024-02-29"), Ok(1_709_161_200_000_000));
        assert_eq!(
            read_as("%Y-%m-%d", "UTC", "29.2.2024"),
            Err("expected a time like \"%Y-%m-%d\", found \"29.2.2024\"".into())
        );
        let digits = TimeReader::new(TimeFormat::parse("%Y%m%d").unwrap(), Zone::UTC);
        assert_eq!(digits.number(b"19700102").unwrap().ts.micros(), DAY);
    }

    #[test]
    fn a_value_of_the_flag_that_cannot_work_is_refused_early() {
        let refused = |text: &str| TimeFormat::parse(text).unwrap_err().to_string();
        assert!(refused("%H:%M").contains("has no full date"));
        assert!(refused("%Y-%m-%d %!").contains("cannot be read"));
        assert!(refused("unix").contains("did you mean unix-s?"));
        assert!(refused("something").contains("a pattern looks like"));
        for name in ["auto", "rfc3339", "unix-s", "unix-ms", "unix-us", "unix-ns", "%d.%m.%Y %H:%M"] {
            assert_eq!(TimeFormat::parse(name).unwrap().to_string(), name);
        }
    }

    /// Texts of the common layout, mostly right, with some of their bytes spoilt.
    fn nearly_common() -> impl Strategy<Value = Vec<u8>> {
        let date = (0u32..10_000, 0u32..15, 0u32..34).prop_map(|(y, m, d)| format!("{y:04}-{m:02}-{d:02}"));
        let time = (0u32..26, 0u32..62, 0u32..63).prop_map(|(h, m, s)| format!("{h:02}:{m:02}:{s:02}"));
        let parts = (date, "[Tt ]", time, "(\\.[0-9]{0,12})?", "(Z|z||[+-][0-2][0-9]:[0-6][0-9])");
        let text = parts.prop_map(|(d, t, c, f, o)| format!("{d}{t}{c}{f}{o}").into_bytes());
        let spoil =
            proptest::option::weighted(0.3, (any::<proptest::sample::Index>(), "[ -~]".prop_map(|s| s.as_bytes()[0])));
        (text, spoil).prop_map(|(mut text, spoil)| {
            if let Some((at, byte)) = spoil {
                let at = at.index(text.len());
                text[at] = byte;
            }
            text
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn the_short_way_reads_what_the_general_parser_reads(texts in prop::collection::vec(nearly_common(), 1..20)) {
            let mut cache = DayCache::default();
            for text in texts {
                if let Some(micros) = fast::micros(&text, Some(0), &mut cache) {
                    prop_assert_eq!(Some(micros), iso(&text, &Zone::UTC).map(Ts::micros), "{:?}", text);
                }
            }
        }

        #[test]
        fn the_short_way_is_taken_for_every_valid_common_text(micros in -62_135_596_800_000_000i64..253_000_000_000_000_000) {
            let text = jiff::Timestamp::from_microsecond(micros).unwrap().to_string();
            prop_assert_eq!(fast::micros(text.as_bytes(), None, &mut DayCache::default()), Some(micros));
        }

        #[test]
        fn no_bytes_make_a_reader_panic(text in prop::collection::vec(any::<u8>(), 0..40)) {
            for format in ["auto", "rfc3339", "unix-ns", "%Y-%m-%d %H:%M:%S%.f"] {
                let reader = TimeReader::new(TimeFormat::parse(format).unwrap(), Zone::parse("Europe/Berlin").unwrap());
                let _ = (reader.text(&text, &mut DayCache::default()), reader.number(&text));
            }
        }
    }
}
