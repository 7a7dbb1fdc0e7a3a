//! Columns of any type as instants: timestamps and dates by their own unit and zone, text and numbers by the reader.
//!
//! Must not know which column is the event time. Invariant: a short cut gives what [`TimeReader`] gives; what lies
//! outside the years that can be written as text (-9999 to 9999) is no time, in whatever unit it comes.

use super::text::{bytes_at, shown, stamp_micros, value_text};
use crate::time::{BadTime, DayCache, Reading, TimeFormat, TimeReader, Ts, Unit};
use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray};
use arrow::buffer::ScalarBuffer;
use arrow::compute::cast;
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Date64Type, Int64Type, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The microseconds that can be written as a date.
const RANGE: RangeInclusive<i64> = Ts::FIRST.micros()..=Ts::LAST.micros();
const DAY: i64 = 86_400_000_000;

/// A column as instants.
pub(super) struct Instants {
    /// Microseconds since 1970; anything where the value is null or no time.
    pub micros: ScalarBuffer<i64>,
    /// Rows whose value is no time and why: `expected a time, found "n/a"`. Ascending; nulls are not among them.
    pub bad: Vec<(usize, String)>,
    /// The unit of these numbers, if the reader knew none and one of them told.
    pub unit: Option<Unit>,
}

/// Reads a column.
pub(super) fn read(array: &ArrayRef, reader: &TimeReader) -> Instants {
    match array.data_type() {
        DataType::Timestamp(unit, zone) => {
            let utc = zone.is_some() || reader.zone.is_utc();
            quick_stamps(array, *unit, utc).map_or_else(|| stamps(array, *unit, utc, reader), all_good)
        }
        DataType::Date32 => days(array, reader, |row| i64::from(array.as_primitive::<Date32Type>().value(row))),
        DataType::Date64 => {
            days(array, reader, |row| array.as_primitive::<Date64Type>().value(row).div_euclid(86_400_000))
        }
        DataType::Dictionary(_, value) => match cast(array, value) {
            Ok(flat) => read(&flat, reader),
            Err(_) => no_times(array),
        },
        DataType::UInt64 => by_number_text(array, reader),
        ty if ty.is_integer() => match cast(array, &DataType::Int64) {
            Ok(wide) => integers(wide.as_primitive(), reader),
            Err(_) => no_times(array),
        },
        ty if ty.is_floating() || ty.is_decimal() => by_number_text(array, reader),
        DataType::Utf8 => by_text(array, reader, |row| array.as_string::<i32>().value(row).as_bytes()),
        DataType::LargeUtf8 => by_text(array, reader, |row| array.as_string::<i64>().value(row).as_bytes()),
        DataType::Utf8View => by_text(array, reader, |row| array.as_string_view().value(row).as_bytes()),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
            by_text(array, reader, |row| bytes_at(array, row).unwrap_or_default())
        }
        _ => no_times(array),
    }
}

fn all_good(micros: ScalarBuffer<i64>) -> Instants {
    Instants { micros, bad: Vec::new(), unit: None }
}

fn no_time(array: &dyn Array, row: usize) -> String {
    format!("expected a time, found {}", shown(array, row))
}

/// The general way, row by row.
fn each(array: &dyn Array, mut one: impl FnMut(usize) -> Result<i64, String>) -> Instants {
    let mut bad = Vec::new();
    let micros = (0..array.len()).map(|row| match array.is_null(row) {
        true => 0,
        false => one(row).unwrap_or_else(|why| {
            bad.push((row, why));
            0
        }),
    });
    let micros: Vec<i64> = micros.collect();
    Instants { micros: micros.into(), bad, unit: None }
}

fn no_times(array: &dyn Array) -> Instants {
    each(array, |row| Err(no_time(array, row)))
}

/// Timestamps that need no zone: whole columns at once, unless one is out of range.
fn quick_stamps(array: &ArrayRef, unit: TimeUnit, utc: bool) -> Option<ScalarBuffer<i64>> {
    let scaled = |values: &ScalarBuffer<i64>, by: i64| -> Option<ScalarBuffer<i64>> {
        all_within(values, RANGE.start() / by..=RANGE.end() / by).then(|| values.iter().map(|v| v * by).collect())
    };
    if !utc {
        return None;
    }
    match unit {
        TimeUnit::Second => scaled(values::<TimestampSecondType>(array), 1_000_000),
        TimeUnit::Millisecond => scaled(values::<TimestampMillisecondType>(array), 1_000),
        TimeUnit::Microsecond => {
            let values = values::<TimestampMicrosecondType>(array);
            all_within(values, RANGE).then(|| values.clone())
        }
        TimeUnit::Nanosecond => {
            Some(values::<TimestampNanosecondType>(array).iter().map(|v| v.div_euclid(1_000)).collect())
        }
    }
}

fn values<T: ArrowPrimitiveType>(array: &ArrayRef) -> &ScalarBuffer<T::Native> {
    array.as_primitive::<T>().values()
}

/// Whether all values lie in a range; without an early exit, so that it runs in vectors.
fn all_within(values: &[i64], range: RangeInclusive<i64>) -> bool {
    let (low, high) = (*range.start(), *range.end());
    values.iter().fold(true, |ok, &v| ok & (v >= low) & (v <= high))
}

fn stamps(array: &ArrayRef, unit: TimeUnit, utc: bool, reader: &TimeReader) -> Instants {
    each(array, |row| {
        let wall = i64::try_from(stamp_micros(array, unit, row)).ok();
        let instant = wall.map(|wall| if utc { Ts::from_micros(wall) } else { reader.zone.instant(wall) });
        in_range(instant).ok_or_else(|| no_time(array, row))
    })
}

fn days(array: &ArrayRef, reader: &TimeReader, day: impl Fn(usize) -> i64) -> Instants {
    each(array, |row| {
        let instant = day(row).checked_mul(DAY).map(|wall| reader.zone.first_not_before(wall));
        in_range(instant).ok_or_else(|| no_time(array, row))
    })
}

fn in_range(instant: Option<Ts>) -> Option<i64> {
    instant.filter(|ts| ts.is_in_range()).map(Ts::micros)
}

/// Keeps the unit that a first number tells for those behind it.
struct UnitFinder {
    reader: TimeReader,
    found: Option<Unit>,
}

impl UnitFinder {
    fn new(reader: &TimeReader) -> Self {
        Self { reader: reader.clone(), found: None }
    }

    fn keep(&mut self, reading: Result<Reading, BadTime>) -> Result<i64, String> {
        let reading = reading.map_err(|bad| bad.in_full())?;
        if reading.unit.is_some() {
            self.reader.unit = reading.unit;
            self.found = reading.unit;
        }
        Ok(reading.ts.micros())
    }
}

fn by_text<'a>(array: &'a ArrayRef, reader: &TimeReader, text: impl Fn(usize) -> &'a [u8]) -> Instants {
    let mut finder = UnitFinder::new(reader);
    let mut cache = DayCache::default();
    let instants = each(array, |row| {
        let reading = finder.reader.text(text(row), &mut cache);
        finder.keep(reading)
    });
    Instants { unit: finder.found, ..instants }
}

fn by_number_text(array: &ArrayRef, reader: &TimeReader) -> Instants {
    let mut finder = UnitFinder::new(reader);
    let instants = each(array, |row| {
        let reading = finder.reader.number(value_text(array, row).as_bytes());
        finder.keep(reading)
    });
    Instants { unit: finder.found, ..instants }
}

fn integers(array: &PrimitiveArray<Int64Type>, reader: &TimeReader) -> Instants {
    if let Some(micros) = quick_integers(array, reader) {
        return all_good(micros);
    }
    let mut finder = UnitFinder::new(reader);
    let mut text = itoa::Buffer::new();
    let instants = each(array, |row| {
        let value = array.value(row);
        match known_unit(&finder.reader) {
            Some(unit) if plain_range(&finder.reader, unit).contains(&value) => Ok(micros(value, unit)),
            _ => {
                let reading = finder.reader.number(text.format(value).as_bytes());
                finder.keep(reading)
            }
        }
    });
    Instants { unit: finder.found, ..instants }
}

/// Whole columns at once, when the unit is known and all numbers are plain.
fn quick_integers(array: &PrimitiveArray<Int64Type>, reader: &TimeReader) -> Option<ScalarBuffer<i64>> {
    let (unit, values) = (known_unit(reader)?, array.values());
    all_within(values, plain_range(reader, unit)).then(|| match unit {
        Unit::Seconds => values.iter().map(|&v| micros(v, Unit::Seconds)).collect(),
        Unit::Millis => values.iter().map(|&v| micros(v, Unit::Millis)).collect(),
        Unit::Micros => values.clone(),
        Unit::Nanos => values.iter().map(|&v| micros(v, Unit::Nanos)).collect(),
    })
}

fn known_unit(reader: &TimeReader) -> Option<Unit> {
    match reader.format {
        TimeFormat::Unix(unit) => Some(unit),
        _ => reader.unit,
    }
}

/// Only for numbers in the [plain range](plain_range): no other is sure to fit.
#[inline]
fn micros(value: i64, unit: Unit) -> i64 {
    match unit {
        Unit::Seconds => value * 1_000_000,
        Unit::Millis => value * 1_000,
        Unit::Micros => value,
        Unit::Nanos => value.div_euclid(1_000),
    }
}

/// Numbers of which the reader could say nothing but that they are of this unit (SPEC section 2): where it goes by
/// size, positive ones of the right size. The rest is left to the reader.
fn plain_range(reader: &TimeReader, unit: Unit) -> RangeInclusive<i64> {
    let by_size = [1, 100_000_000_000, 100_000_000_000_000, 100_000_000_000_000_000];
    match (&reader.format, unit) {
        (TimeFormat::Auto, Unit::Seconds) => by_size[0]..=by_size[1] - 1,
        (TimeFormat::Auto, Unit::Millis) => by_size[1]..=by_size[2] - 1,
        (TimeFormat::Auto, Unit::Micros) => by_size[2]..=by_size[3] - 1,
        (TimeFormat::Auto, Unit::Nanos) => by_size[3]..=i64::MAX,
        (TimeFormat::Unix(_), Unit::Seconds) => RANGE.start() / 1_000_000..=RANGE.end() / 1_000_000,
        (TimeFormat::Unix(_), Unit::Millis) => RANGE.start() / 1_000..=RANGE.end() / 1_000,
        (TimeFormat::Unix(_), Unit::Micros) => RANGE,
        (TimeFormat::Unix(_), Unit::Nanos) => i64::MIN..=i64::MAX,
        #[expect(clippy::reversed_empty_ranges, reason = "no number is a time to readers of texts")]
        (TimeFormat::Rfc3339 | TimeFormat::Pattern(_), _) => 1..=0,
    }
}

/// The least and greatest instant of a column whose least and greatest values these two rows are; none when they do
/// not bound the values in between (local times jump at a change of clocks, numbers may change their unit).
pub(super) fn bounds(ends: &ArrayRef, reader: &TimeReader) -> Option<(Ts, Ts)> {
    let instants = read(ends, reader);
    if !instants.bad.is_empty() || ends.null_count() > 0 || ends.len() != 2 {
        return None;
    }
    let widened = match ends.data_type() {
        DataType::Timestamp(_, Some(_)) => 0,
        DataType::Timestamp(_, None) | DataType::Date32 | DataType::Date64 if reader.zone.is_utc() => 0,
        DataType::Timestamp(_, None) | DataType::Date32 | DataType::Date64 => DAY,
        _ => {
            quick_integers(ends.as_primitive_opt()?, reader)?;
            0
        }
    };
    Some((Ts::from_micros(instants.micros[0] - widened), Ts::from_micros(instants.micros[1] + widened)))
}

/// The event times of a column, where a null is bad too.
pub(super) fn event_times(array: &ArrayRef, reader: &TimeReader) -> Instants {
    let mut instants = read(array, reader);
    if array.logical_null_count() > 0 {
        let nulls = array.logical_nulls();
        let nulls = nulls.iter().flat_map(|n| (0..n.len()).filter(|&row| n.is_null(row)));
        instants.bad.extend(nulls.map(|row| (row, NULL_TIME.to_owned())));
        instants.bad.sort_by_key(|(row, _)| *row);
    }
    instants
}

const NULL_TIME: &str = "expected a time, found null";

/// The event times of a column that a file does not have.
pub(super) fn missing(rows: usize) -> Instants {
    let bad = (0..rows).map(|row| (row, NULL_TIME.to_owned())).collect();
    Instants { micros: vec![0; rows].into(), bad, unit: None }
}

/// A column of two values, for [`bounds`].
pub(super) fn ends<T: ArrowPrimitiveType>(low: T::Native, high: T::Native, ty: &DataType) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::from_iter_values([low, high]).with_data_type(ty.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Zone;
    use arrow::array::{Date32Array, Int64Array, StringArray, TimestampMicrosecondArray, TimestampSecondArray};
    use proptest::prelude::*;

    fn berlin() -> TimeReader {
        TimeReader::new(TimeFormat::Auto, Zone::parse("Europe/Berlin").unwrap())
    }

    /// What the reader says of the same values as text.
    fn as_text(texts: &[&str], reader: &TimeReader) -> Vec<i64> {
        read(&(Arc::new(StringArray::from(texts.to_vec())) as ArrayRef), reader).micros.to_vec()
    }

    #[test]
    fn local_times_are_read_in_the_reader_s_zone() {
        let texts = ["2024-03-31T02:30:00", "2024-10-27T02:30:00", "2024-07-01T00:00:00"];
        let walls = texts.map(|t| t.parse::<jiff::civil::DateTime>().unwrap());
        let walls = walls.map(|w| jiff::tz::Offset::UTC.to_timestamp(w).unwrap().as_second());
        let local: ArrayRef = Arc::new(TimestampSecondArray::from(walls.to_vec()));
        assert_eq!(read(&local, &berlin()).micros.to_vec(), as_text(&texts, &berlin()));
        let zoned: ArrayRef = Arc::new(TimestampSecondArray::from(walls.to_vec()).with_timezone("Asia/Tokyo"));
        assert_eq!(read(&zoned, &berlin()).micros[0], walls[0] * 1_000_000);
    }

    #[test]
    fn a_date_is_the_start_of_its_day() {
        // In Toronto the last minutes of 30 March 1919 were skipped together with the first of the day after.
        let reader = TimeReader::new(TimeFormat::Auto, Zone::parse("America/Toronto").unwrap());
        let days: ArrayRef = Arc::new(Date32Array::from(vec![-18_539, -18_538, 0]));
        let texts = ["1919-03-31", "1919-04-01", "1970-01-01"];
        assert_eq!(read(&days, &reader).micros.to_vec(), as_text(&texts, &reader));
        assert_eq!(read(&days, &reader).micros[2], 5 * 3_600_000_000);
    }

    #[test]
    fn bounds_of_local_times_allow_for_a_change_of_clocks() {
        let local: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![0, 5]));
        let exact = Some((Ts::from_micros(0), Ts::from_micros(5)));
        assert_eq!(bounds(&local, &TimeReader::new(TimeFormat::Auto, Zone::UTC)), exact);
        let (low, high) = bounds(&local, &berlin()).unwrap();
        assert!(low < Ts::from_micros(-DAY) && high > Ts::from_micros(DAY / 2));
    }

    fn unit() -> impl Strategy<Value = Unit> {
        prop_oneof![Just(Unit::Seconds), Just(Unit::Millis), Just(Unit::Micros), Just(Unit::Nanos)]
    }

    fn readers() -> impl Strategy<Value = TimeReader> {
        let format = prop_oneof![
            Just(TimeFormat::Auto),
            Just(TimeFormat::Rfc3339),
            Just(TimeFormat::Pattern("%Y%m%d".into())),
            unit().prop_map(TimeFormat::Unix),
        ];
        (format, proptest::option::of(unit())).prop_map(|(format, unit)| {
            let reader = TimeReader::new(format, Zone::UTC);
            TimeReader { unit: reader.unit.or(unit), ..reader }
        })
    }

    fn number() -> impl Strategy<Value = i64> {
        let near = (0..63u32, -2..=2i64).prop_map(|(bits, off)| (1i64 << bits).saturating_add(off));
        let limits = (0..19u32, -2..=2i64).prop_map(|(digits, off)| 10i64.pow(digits).saturating_add(off));
        prop_oneof![any::<i64>(), near, limits.clone(), limits.prop_map(|v| -v), Just(20_240_131)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn numbers_are_read_as_the_reader_reads_them(values in prop::collection::vec(number(), 1..4), reader in readers()) {
            let instants = read(&(Arc::new(Int64Array::from(values.clone())) as ArrayRef), &reader);
            let mut expected = reader.clone();
            for (row, value) in values.into_iter().enumerate() {
                let bad = instants.bad.iter().find(|(at, _)| *at == row);
                match expected.number(value.to_string().as_bytes()) {
                    Ok(reading) => {
                        prop_assert!(bad.is_none());
                        prop_assert_eq!(reading.ts.micros(), instants.micros[row]);
                        expected.unit = expected.unit.or(reading.unit);
                    }
                    Err(why) => prop_assert_eq!(Some(&(row, why.in_full())), bad),
                }
            }
            prop_assert_eq!(instants.unit, expected.unit.filter(|_| reader.unit.is_none()));
        }
    }
}
