//! Instants to RFC 3339 text.
//!
//! Must not know columns or formats. Appends to the caller's bytes and never fails: instants beyond the years -9999
//! to 9999 print as the end they are beyond.

use super::civil::{DAY, SECOND, civil_from_days, days_from_civil};
use super::{Ts, Zone};
use std::cell::RefCell;

/// Appends an instant as RFC 3339 in a zone: `Z` for UTC, else the offset; none, 3 or 6 digits of fraction as needed.
///
/// RFC 3339 has no seconds in offsets. Where a zone's offset has some (local mean times of old), the offset is cut to
/// minutes and the clock time follows it, so the text still means the same instant.
pub fn format_rfc3339(ts: Ts, zone: &Zone, out: &mut Vec<u8>) {
    let ts = ts.clamp(Ts::FIRST, Ts::LAST);
    let minutes = zone.offset(ts).div_euclid(MINUTE);
    let wall = ts.micros() + minutes * MINUTE;
    if wall > Ts::LAST.micros() {
        // It is the year 10000 there, for which RFC 3339 has no digits.
        return format_rfc3339(ts, &Zone::UTC, out);
    }
    let (day, of_day) = (wall.div_euclid(DAY), wall.rem_euclid(DAY));
    let micros = (of_day % SECOND) as u32;
    if wall < YEAR_ZERO {
        out.extend_from_slice(b"-00");
    }
    let text = date_and_clock(day, (of_day / SECOND) as u32, micros);
    out.extend_from_slice(match micros {
        0 => &text[..19],
        _ if micros.is_multiple_of(1_000) => &text[..23],
        _ => &text,
    });
    if zone.is_utc() {
        out.push(b'Z');
    } else {
        out.extend_from_slice(&offset(minutes));
    }
}

/// Writes the instants of a column: rows of one window repeat their bounds, which are then copied.
#[derive(Debug)]
pub struct TimeWriter {
    zone: Zone,
    last: RefCell<(Ts, Vec<u8>)>,
}

impl TimeWriter {
    /// A writer of instants in a zone.
    pub fn new(zone: &Zone) -> Self {
        let mut text = Vec::new();
        format_rfc3339(Ts::MIN, zone, &mut text);
        Self { zone: zone.clone(), last: RefCell::new((Ts::MIN, text)) }
    }

    /// Appends an instant, as [`format_rfc3339`] does.
    pub fn append(&self, ts: Ts, out: &mut Vec<u8>) {
        let mut last = self.last.borrow_mut();
        if last.0 != ts {
            last.0 = ts;
            last.1.clear();
            format_rfc3339(ts, &self.zone, &mut last.1);
        }
        out.extend_from_slice(&last.1);
    }
}

/// Microseconds of a minute.
const MINUTE: i64 = 60 * SECOND;
/// The wall-clock time before which years are negative, and take six digits.
const YEAR_ZERO: i64 = days_from_civil(0, 1, 1) * DAY;

/// `YYYY-MM-DDThh:mm:ss.ffffff`, without the year's sign.
#[inline]
fn date_and_clock(day: i64, second: u32, micros: u32) -> [u8; 26] {
    let (year, month, day) = civil_from_days(day);
    let year = year.unsigned_abs() as u32;
    let ([y0, y1], [y2, y3]) = (two(year / 100), two(year % 100));
    let ([m0, m1], [d0, d1]) = (two(month as u32), two(day as u32));
    let ([h0, h1], [n0, n1], [s0, s1]) = (two(second / 3_600), two(second / 60 % 60), two(second % 60));
    let ([f0, f1], [f2, f3], [f4, f5]) = (two(micros / 10_000), two(micros / 100 % 100), two(micros % 100));
    [y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1, b'T', h0, h1, b':', n0, n1, b':', s0, s1, b'.', f0, f1, f2, f3, f4, f5]
}

/// `+hh:mm`.
fn offset(minutes: i64) -> [u8; 6] {
    let sign = if minutes < 0 { b'-' } else { b'+' };
    let minutes = minutes.unsigned_abs() as u32;
    let ([a, b], [c, d]) = (two(minutes / 60), two(minutes % 60));
    [sign, a, b, b':', c, d]
}

/// The two digits of a number below 100.
#[inline]
fn two(number: u32) -> [u8; 2] {
    [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8]
}

#[cfg(test)]
mod tests {
    use super::super::{DayCache, TimeFormat, TimeReader};
    use super::*;
    use proptest::prelude::*;

    fn shown(micros: i64, zone: &str) -> String {
        let mut out = Vec::new();
        format_rfc3339(Ts::from_micros(micros), &Zone::parse(zone).unwrap(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn digits_of_fraction_come_as_needed() {
        assert_eq!(shown(0, "UTC"), "1970-01-01T00:00:00Z");
        assert_eq!(shown(1_500_000, "UTC"), "1970-01-01T00:00:01.500Z");
        assert_eq!(shown(1, "UTC"), "1970-01-01T00:00:00.000001Z");
        assert_eq!(shown(-1, "UTC"), "1969-12-31T23:59:59.999999Z");
    }

    #[test]
    fn a_zone_shows_its_offset_and_utc_alone_shows_z() {
        assert_eq!(shown(0, "Europe/Berlin"), "1970-01-01T01:00:00+01:00");
        assert_eq!(shown(0, "-03:30"), "1969-12-31T20:30:00-03:30");
        assert_eq!(shown(1_720_000_000_000_000, "Europe/London"), "2024-07-03T10:46:40+01:00");
        assert_eq!(shown(0, "Africa/Abidjan"), "1970-01-01T00:00:00+00:00");
    }

    #[test]
    fn the_ends_of_the_line_print_as_the_ends_of_the_calendar() {
        assert_eq!(shown(i64::MAX, "UTC"), "9999-12-31T23:59:59.999999Z");
        assert_eq!(shown(i64::MIN, "UTC"), "-009999-01-02T01:59:59Z");
        assert_eq!(shown(i64::MAX, "-05:00"), "9999-12-31T18:59:59.999999-05:00");
        assert_eq!(shown(i64::MAX, "America/New_York"), "9999-12-31T18:59:59.999999-05:00");
        assert_eq!(shown(i64::MAX, "+14:00"), "9999-12-31T23:59:59.999999Z");
        assert_eq!(shown(i64::MIN, "-23:59"), "-009999-01-01T02:00:59-23:59");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn what_is_printed_reads_back(
            micros in -377_000_000_000_000_000i64..253_000_000_000_000_000,
            zone in prop::sample::select(super::super::zone::all()),
        ) {
            let mut out = Vec::new();
            format_rfc3339(Ts::from_micros(micros), &zone, &mut out);
            let reader = TimeReader::new(TimeFormat::Rfc3339, Zone::UTC);
            let read = reader.text(&out, &mut DayCache::default()).map(|r| r.ts.micros());
            prop_assert_eq!(read, Ok(micros), "{}", String::from_utf8_lossy(&out));
        }

        #[test]
        fn utc_prints_as_the_library_prints_it(seconds in -60_000_000_000i64..250_000_000_000) {
            let expected = jiff::Timestamp::from_second(seconds).unwrap().to_string();
            prop_assert_eq!(shown(seconds * SECOND, "UTC"), expected);
        }
    }
}
