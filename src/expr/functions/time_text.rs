//! Times to text and back by DuckDB's formats: `strftime`, `strptime`, `try_strptime`.
//!
//! A format is read once into items that both directions use. Must not know `--time-format`, whose patterns are those
//! of the time library. Invariant: what a format with a full date, time and offset writes, it reads back.

use super::kernel::{Compiled, Outcome, TextOut, What, found, resolved, takes, texts, values};
use super::time::{in_range, instants, iso_week};
use super::{Argument, FunctionKind, Resolved};
use crate::schema::FieldType;
use crate::time::{Ts, Zone, civil_from_days, days_from_civil, days_in_month};
use arrow::array::AsArray;
use arrow::datatypes::TimestampMicrosecondType as Micros;

/// `strftime`
pub(super) static STRFTIME: FunctionKind = FunctionKind {
    name: "strftime",
    aliases: &[],
    usage: "strftime(time, format)",
    doc: "the time as text, in the job's time zone: %Y-%m-%d %H:%M:%S",
    example: ("strftime(TIMESTAMP '2026-01-31 12:34:56', '%a %d %b, %-I:%M %p')", "\"Sat 31 Jan, 12:34 PM\""),
    least: 2,
    most: 2,
    resolve: strftime,
};

/// `strptime`
pub(super) static STRPTIME: FunctionKind = FunctionKind {
    name: "strptime",
    aliases: &[],
    usage: "strptime(text, format)",
    doc: "the time that a text tells; local times are in the job's time zone",
    example: ("strptime('31/Jan/2026:12:34:56 +0100', '%d/%b/%Y:%H:%M:%S %z')", "\"2026-01-31T11:34:56Z\""),
    least: 2,
    most: 2,
    resolve: |arguments, zone| strptime(arguments, zone, Err),
};

/// `try_strptime`
pub(super) static TRY_STRPTIME: FunctionKind = FunctionKind {
    name: "try_strptime",
    aliases: &[],
    usage: "try_strptime(text, format)",
    doc: "the same as strptime, but null where the text is no such time",
    example: ("try_strptime('n/a', '%Y-%m-%d')", "null"),
    least: 2,
    most: 2,
    resolve: |arguments, zone| strptime(arguments, zone, |_| Ok(None)),
};

type Resolving = Result<Resolved, String>;

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;

const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// How many characters a short name has.
const SHORT: usize = 3;

/// A part of a format.
#[derive(Clone, Debug, PartialEq)]
enum Item {
    /// Characters that stand for themselves.
    Text(String),
    /// A number and whether zeros fill it.
    Number(Number, bool),
    /// `%a`, `%A`: a day of the week, and how many characters of its name.
    Weekday(usize),
    /// `%b`, `%B`
    Month(usize),
    /// `%p`
    Half,
    /// `%z`
    Offset,
    /// `%Z`
    Zone,
}

/// A number in a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    Year,
    YearOfCentury,
    Month,
    Day,
    DayOfYear,
    /// 0 is Sunday.
    DayOfWeek,
    /// 7 is Sunday.
    IsoDayOfWeek,
    IsoYear,
    IsoWeek,
    WeekFromSunday,
    WeekFromMonday,
    Hour,
    HourOfHalf,
    Minute,
    Second,
    Milli,
    Micro,
    Nano,
}

impl Number {
    /// Digits it is filled to, and at most has when it is read.
    fn digits(self) -> usize {
        match self {
            Number::DayOfWeek | Number::IsoDayOfWeek => 1,
            Number::DayOfYear | Number::Milli => 3,
            Number::Year | Number::IsoYear => 4,
            Number::Micro => 6,
            Number::Nano => 9,
            _ => 2,
        }
    }

    /// What it may be.
    fn range(self) -> std::ops::RangeInclusive<i64> {
        match self {
            Number::Month | Number::HourOfHalf => 1..=12,
            Number::Day => 1..=31,
            Number::DayOfYear => 1..=366,
            Number::DayOfWeek => 0..=6,
            Number::IsoDayOfWeek => 1..=7,
            Number::IsoWeek => 1..=53,
            Number::WeekFromSunday | Number::WeekFromMonday => 0..=53,
            Number::Hour => 0..=23,
            Number::Minute | Number::Second => 0..=59,
            _ => 0..=i64::MAX,
        }
    }

    /// Whether its digits stand behind the point of a second.
    fn is_fraction(self) -> bool {
        matches!(self, Number::Milli | Number::Micro | Number::Nano)
    }
}

/// A format, read.
struct Format {
    items: Vec<Item>,
}

impl Format {
    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("needs a format that is not empty, such as '%Y-%m-%d'".into());
        }
        let mut format = Format { items: Vec::new() };
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            if c != '%' {
                format.text(c);
                continue;
            }
            let mut specifier = chars.next();
            let filled = specifier != Some('-');
            if !filled {
                specifier = chars.next();
            }
            let c = specifier.ok_or_else(|| format!("cannot read the format '{text}': it ends in a lone %"))?;
            format.specifier(c, filled).ok_or_else(|| unknown(text, c, filled))?;
        }
        Ok(format)
    }

    fn text(&mut self, c: char) {
        match self.items.last_mut() {
            Some(Item::Text(text)) => text.push(c),
            _ => self.items.push(Item::Text(c.into())),
        }
    }

    /// Adds what a specifier stands for; none if there is no such.
    fn specifier(&mut self, c: char, filled: bool) -> Option<()> {
        let item = match c {
            '%' if filled => {
                self.text('%');
                return Some(());
            }
            'c' if filled => return self.all_of("%Y-%m-%d %H:%M:%S"),
            'x' if filled => return self.all_of("%Y-%m-%d"),
            'X' if filled => return self.all_of("%H:%M:%S"),
            'a' if filled => Item::Weekday(SHORT),
            'A' if filled => Item::Weekday(usize::MAX),
            'b' | 'h' if filled => Item::Month(SHORT),
            'B' if filled => Item::Month(usize::MAX),
            'p' if filled => Item::Half,
            'z' if filled => Item::Offset,
            'Z' if filled => Item::Zone,
            _ => Item::Number(number(c, filled)?, filled),
        };
        self.items.push(item);
        Some(())
    }

    /// Adds what a longer format says.
    fn all_of(&mut self, format: &str) -> Option<()> {
        self.items.extend(Format::parse(format).ok()?.items);
        Some(())
    }
}

/// The number of a specifier; those that may stand without zeros are fewer.
fn number(c: char, filled: bool) -> Option<Number> {
    Some(match c {
        'd' => Number::Day,
        'm' => Number::Month,
        'y' => Number::YearOfCentury,
        'H' => Number::Hour,
        'I' => Number::HourOfHalf,
        'M' => Number::Minute,
        'S' => Number::Second,
        'j' => Number::DayOfYear,
        _ if !filled => return None,
        'Y' => Number::Year,
        'w' => Number::DayOfWeek,
        'u' => Number::IsoDayOfWeek,
        'G' => Number::IsoYear,
        'V' => Number::IsoWeek,
        'U' => Number::WeekFromSunday,
        'W' => Number::WeekFromMonday,
        'g' => Number::Milli,
        'f' => Number::Micro,
        'n' => Number::Nano,
        _ => return None,
    })
}

fn unknown(text: &str, c: char, filled: bool) -> String {
    let dash = if filled { "" } else { "-" };
    let instead = match c {
        'F' => "; %Y-%m-%d is a date",
        'T' => "; %H:%M:%S is a time of day",
        's' => "; epoch and to_timestamp are for seconds since 1970",
        _ => "",
    };
    format!("cannot read the format '{text}': there is no %{dash}{c}{instead}")
}

/// A time and a format, which may stand in any order.
fn strftime(arguments: &[Argument<'_>], zone: &Zone) -> Resolving {
    let (time_at, wanted) = match arguments[1].ty {
        Some(FieldType::Time) => (1, [What::Text, What::Time]),
        _ => (0, [What::Time, What::Text]),
    };
    let takes = takes(arguments, &wanted)?;
    let format = Compiled::new(&arguments[1 - time_at], Format::parse)?;
    let zone = zone.clone();
    resolved(takes, FieldType::Text, move |columns, rows, failures| {
        let time = columns[time_at].as_primitive::<Micros>();
        let mut formats = format.reader(columns[1 - time_at].as_string());
        texts(columns, rows, failures, |row, out| {
            let moment = Moment::new(time.value(row), &zone);
            formats.get(row)?.items.iter().for_each(|item| moment.write(item, &zone, out));
            Ok(Some(()))
        })
    })
}

/// A time on the calendar and clock of a zone.
struct Moment {
    days: i64,
    date: (i64, i64, i64),
    /// Microseconds since midnight.
    of_day: i64,
    /// Microseconds away from UTC.
    offset: i64,
}

impl Moment {
    fn new(micros: i64, zone: &Zone) -> Self {
        let wall = zone.wall(Ts::from_micros(micros));
        let days = wall.div_euclid(DAY);
        let offset = wall.saturating_sub(micros);
        Self { days, date: civil_from_days(days), of_day: wall.rem_euclid(DAY), offset }
    }

    fn write(&self, item: &Item, zone: &Zone, out: &mut TextOut) {
        let short = |name: &'static str, most: usize| &name[..name.len().min(most)];
        match item {
            Item::Text(text) => out.add(text),
            Item::Number(number, filled) => add_number(self.number(*number), *number, *filled, out),
            Item::Weekday(most) => out.add(short(WEEKDAYS[self.weekday() as usize], *most)),
            Item::Month(most) => out.add(short(MONTHS[self.date.1 as usize - 1], *most)),
            Item::Half => out.add(if self.hour() < 12 { "AM" } else { "PM" }),
            Item::Offset => self.write_offset(out),
            Item::Zone => out.add(zone.name()),
        }
    }

    /// `+02`, `+05:30`, `-00:44:30`
    fn write_offset(&self, out: &mut TextOut) {
        let seconds = self.offset.abs() / SECOND;
        out.add(if self.offset < 0 { "-" } else { "+" });
        add_digits(seconds / 3_600, 2, out);
        for part in [seconds / 60 % 60, seconds % 60].iter().take(2 - usize::from(seconds % 60 == 0)) {
            if seconds % 3_600 != 0 {
                out.add(":");
                add_digits(*part, 2, out);
            }
        }
    }

    /// 0 is Sunday.
    fn weekday(&self) -> i64 {
        (self.days + 4).rem_euclid(7)
    }

    fn day_of_year(&self) -> i64 {
        self.days - days_from_civil(self.date.0, 1, 1) + 1
    }

    fn hour(&self) -> i64 {
        self.of_day / (3_600 * SECOND)
    }

    fn number(&self, number: Number) -> i64 {
        let (year, month, day) = self.date;
        match number {
            Number::Year => year,
            Number::YearOfCentury => (year % 100).abs(),
            Number::Month => month,
            Number::Day => day,
            Number::DayOfYear => self.day_of_year(),
            Number::DayOfWeek => self.weekday(),
            Number::IsoDayOfWeek => (self.weekday() + 6) % 7 + 1,
            Number::IsoYear => iso_week(self.days).0,
            Number::IsoWeek => iso_week(self.days).1,
            Number::WeekFromSunday => (self.day_of_year() + 6 - self.weekday()) / 7,
            Number::WeekFromMonday => (self.day_of_year() + 6 - (self.weekday() + 6) % 7) / 7,
            Number::Hour => self.hour(),
            Number::HourOfHalf => (self.hour() + 11) % 12 + 1,
            Number::Minute => self.of_day / (60 * SECOND) % 60,
            Number::Second => self.of_day / SECOND % 60,
            Number::Milli => self.of_day % SECOND / 1_000,
            Number::Micro => self.of_day % SECOND,
            Number::Nano => self.of_day % SECOND * 1_000,
        }
    }
}

fn add_number(value: i64, number: Number, filled: bool, out: &mut TextOut) {
    match (value < 0, filled) {
        (true, _) => out.add(itoa::Buffer::new().format(value)),
        (false, true) => add_digits(value, number.digits(), out),
        (false, false) => add_digits(value, 1, out),
    }
}

/// Digits with zeros in front, to `least` of them.
fn add_digits(value: i64, least: usize, out: &mut TextOut) {
    const ZEROS: &str = "000000000";
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(value);
    out.add(&ZEROS[..least.saturating_sub(digits.len())]);
    out.add(digits);
}

fn strptime(arguments: &[Argument<'_>], zone: &Zone, otherwise: fn(String) -> Outcome<i64>) -> Resolving {
    let takes = takes(arguments, &[What::Text]).map_err(|why| match arguments[0].ty {
        Some(FieldType::Time) => format!("needs a text, but found {}, which needs no reading", found(arguments[0].ty)),
        _ => why,
    })?;
    let format = Compiled::new(&arguments[1], Format::parse)?;
    let zone = zone.clone();
    resolved(takes, FieldType::Time, move |columns, rows, failures| {
        let (text, pattern) = (columns[0].as_string::<i32>(), columns[1].as_string::<i32>());
        let mut formats = format.reader(pattern);
        Ok(instants(values::<Micros>(columns, rows, failures, |row| {
            let format = formats.get(row)?;
            match Reading::of(text.value(row), format).and_then(|read| read.instant(&zone)) {
                Some(micros) => in_range(micros).or_else(otherwise),
                None => otherwise(unreadable(text.value(row), pattern.value(row))),
            }
        })))
    })
}

fn unreadable(text: &str, pattern: &str) -> String {
    const SHOWN: usize = 60;
    let shown: String = text.chars().take(SHOWN).collect();
    let more = if shown.len() < text.len() { "..." } else { "" };
    format!("expected a time like \"{pattern}\", found \"{}{more}\"", shown.escape_debug())
}

/// What has been read of a text.
#[derive(Default)]
struct Reading<'a> {
    rest: &'a str,
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    day_of_year: Option<i64>,
    /// 0 is Sunday.
    weekday: Option<i64>,
    iso: (Option<i64>, Option<i64>),
    /// The week, and the day of the week that it begins with.
    week: Option<(i64, i64)>,
    hour: Option<i64>,
    after_noon: Option<bool>,
    minute: Option<i64>,
    second: Option<i64>,
    fraction: Option<i64>,
    offset: Option<i64>,
    zone: Option<Zone>,
}

impl<'a> Reading<'a> {
    /// Spaces around the text do not matter; between items one stands for any number.
    fn of(text: &'a str, format: &Format) -> Option<Self> {
        let mut reading = Reading { rest: text.trim_ascii_start(), ..Reading::default() };
        for item in &format.items {
            reading.item(item)?;
        }
        reading.rest.trim_ascii_start().is_empty().then_some(reading)
    }

    fn item(&mut self, item: &Item) -> Option<()> {
        match item {
            Item::Text(text) => self.plain(text)?,
            Item::Number(number, _) => self.number(*number)?,
            // The name of a day says nothing that the date does not.
            Item::Weekday(most) => {
                self.name(&WEEKDAYS, *most)?;
            }
            Item::Month(most) => self.month = Some(self.name(&MONTHS, *most)? + 1),
            Item::Half => self.after_noon = Some(self.name(&["AM", "PM"], usize::MAX)? == 1),
            Item::Offset => self.offset = Some(self.offset()?),
            Item::Zone => self.zone = Some(self.zone()?),
        }
        Some(())
    }

    fn plain(&mut self, text: &str) -> Option<()> {
        for c in text.chars() {
            if c.is_ascii_whitespace() {
                let trimmed = self.rest.trim_ascii_start();
                if trimmed.len() == self.rest.len() && !trimmed.is_empty() {
                    return None;
                }
                self.rest = trimmed;
            } else {
                self.rest = self.rest.strip_prefix(c)?;
            }
        }
        Some(())
    }

    /// Takes digits, at least one.
    fn digits(&mut self, most: usize) -> Option<(i64, usize)> {
        let count = self.rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at(count);
        self.rest = rest;
        digits.parse().ok().map(|value| (value, count))
    }

    fn number(&mut self, number: Number) -> Option<()> {
        let (value, count) = self.digits(number.digits())?;
        if number.is_fraction() {
            let missing = u32::try_from(9 - count).ok()?;
            self.fraction = Some(value * 10_i64.pow(missing) / 1_000);
            return Some(());
        }
        if !number.range().contains(&value) {
            return None;
        }
        match number {
            Number::Year => self.year = Some(value),
            Number::YearOfCentury => self.year = Some(if value < 69 { 2000 } else { 1900 } + value),
            Number::Month => self.month = Some(value),
            Number::Day => self.day = Some(value),
            Number::DayOfYear => self.day_of_year = Some(value),
            Number::DayOfWeek => self.weekday = Some(value),
            Number::IsoDayOfWeek => self.weekday = Some(value % 7),
            Number::IsoYear => self.iso.0 = Some(value),
            Number::IsoWeek => self.iso.1 = Some(value),
            Number::WeekFromSunday => self.week = Some((value, 0)),
            Number::WeekFromMonday => self.week = Some((value, 1)),
            Number::Hour | Number::HourOfHalf => self.hour = Some(value),
            Number::Minute => self.minute = Some(value),
            _ => self.second = Some(value),
        }
        Some(())
    }

    /// Takes one of these names, in any case; tells which. Short names are their first characters.
    fn name(&mut self, names: &[&str], most: usize) -> Option<i64> {
        let starts = |name: &str| {
            let length = name.len().min(most);
            let start = self.rest.get(..length)?;
            start.eq_ignore_ascii_case(&name[..length]).then_some(length)
        };
        let (index, length) = names.iter().enumerate().find_map(|(index, name)| Some((index, starts(name)?)))?;
        self.rest = &self.rest[length..];
        i64::try_from(index).ok()
    }

    /// `Z`, `+02`, `+0200`, `+02:00`, `+02:00:30`; microseconds.
    fn offset(&mut self) -> Option<i64> {
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Some(0);
        }
        let sign = if self.rest.starts_with('-') { -1 } else { 1 };
        self.rest = self.rest.strip_prefix(['+', '-'])?;
        let mut seconds = self.two_digits()? * 3_600;
        for unit in [60, 1] {
            let colon = self.rest.strip_prefix(':');
            if colon.is_none() && !self.rest.starts_with(|c: char| c.is_ascii_digit()) {
                break;
            }
            self.rest = colon.unwrap_or(self.rest);
            seconds += self.two_digits()? * unit;
        }
        Some(sign * seconds * SECOND)
    }

    fn two_digits(&mut self) -> Option<i64> {
        self.digits(2).filter(|(_, count)| *count == 2).map(|(value, _)| value)
    }

    fn zone(&mut self) -> Option<Zone> {
        let of_name = |c: char| c.is_ascii_alphanumeric() || "/_+-".contains(c);
        let end = self.rest.find(|c| !of_name(c)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        Zone::parse(name).ok()
    }

    /// What has been read as an instant; a local time is one in `zone`.
    fn instant(&self, zone: &Zone) -> Option<i64> {
        let midnight = self.days()? * DAY;
        let wall = midnight + self.of_day()?;
        let zone = self.zone.as_ref().unwrap_or(zone);
        let has_clock = self.hour.or(self.minute).or(self.second).or(self.fraction).is_some();
        Some(match self.offset {
            Some(offset) => wall - offset,
            None if has_clock => zone.instant(wall).micros(),
            None => zone.first_not_before(midnight).micros(),
        })
    }

    /// Days since 1970; what is not said is that of 1900-01-01.
    fn days(&self) -> Option<i64> {
        let year = self.year.unwrap_or(1900);
        match (self.month.or(self.day), self.day_of_year, self.iso, self.week) {
            (None, Some(day), ..) => {
                let first = days_from_civil(year, 1, 1);
                (first + day <= days_from_civil(year + 1, 1, 1)).then_some(first + day - 1)
            }
            (None, _, (Some(year), Some(week)), _) => {
                let fourth = days_from_civil(year, 1, 4);
                let monday = fourth - (fourth + 3).rem_euclid(7);
                Some(monday + (week - 1) * 7 + (self.weekday.unwrap_or(1) + 6) % 7)
            }
            (None, _, (None, None), Some((week, first))) => {
                let january = days_from_civil(year, 1, 1);
                // The first such day of the year begins week 1.
                let start = january + (first - (january + 4)).rem_euclid(7);
                Some(start + (week - 1) * 7 + (self.weekday.unwrap_or(first) - first).rem_euclid(7))
            }
            (_, _, (None, None) | (Some(_), Some(_)), _) => {
                let (month, day) = (self.month.unwrap_or(1), self.day.unwrap_or(1));
                (day <= days_in_month(year, month)).then(|| days_from_civil(year, month, day))
            }
            _ => None,
        }
    }

    /// Microseconds since midnight.
    fn of_day(&self) -> Option<i64> {
        let hour = match (self.hour.unwrap_or(0), self.after_noon) {
            (13.., Some(_)) => return None,
            (hour, Some(after_noon)) => hour % 12 + if after_noon { 12 } else { 0 },
            (hour, None) => hour,
        };
        let seconds = (hour * 60 + self.minute.unwrap_or(0)) * 60 + self.second.unwrap_or(0);
        Some(seconds * SECOND + self.fraction.unwrap_or(0))
    }
}
