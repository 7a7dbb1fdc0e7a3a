//! Instants to RFC 3339 text.
//!
//! Must not know columns or formats. Appends to the caller's bytes and never fails: instants beyond the years -9999
//! to 9999 print as the end they are beyond.

use super::civil::{DAY, SECOND, civil_from_days};
use super::{Ts, Zone};

/// Appends an instant as RFC 3339 in a zone: `Z` for UTC, else the offset; none, 3 or 6 digits of fraction as needed.
///
/// RFC 3339 has no seconds in offsets. Where a zone's offset has some (local mean times of old), the offset is cut to
/// minutes and the clock time follows it, so the text still means the same instant.
pub fn format_rfc3339(ts: Ts, zone: &Zone, out: &mut Vec<u8>) {
    let ts = ts.clamp(Ts::FIRST, Ts::LAST);
    let minutes = zone.offset(ts).div_euclid(60 * SECOND);
    let wall = ts.micros() + minutes * 60 * SECOND;
    push_date(wall.div_euclid(DAY), out);
    push_clock(wall.rem_euclid(DAY), out);
    if zone.is_utc() {
        out.push(b'Z');
    } else {
        push_offset(minutes, out);
    }
}

fn push_date(day: i64, out: &mut Vec<u8>) {
    let (year, month, day) = civil_from_days(day);
    if year < 0 {
        out.extend_from_slice(b"-00");
    }
    let year = year.unsigned_abs();
    let ([a, b], [c, d]) = (two(year / 100), two(year % 100));
    let ([e, f], [g, h]) = (two(month.unsigned_abs()), two(day.unsigned_abs()));
    out.extend_from_slice(&[a, b, c, d, b'-', e, f, b'-', g, h]);
}

fn push_clock(of_day: i64, out: &mut Vec<u8>) {
    let (seconds, micros) = ((of_day / SECOND) as u64, (of_day % SECOND) as u64);
    let ([a, b], [c, d], [e, f]) = (two(seconds / 3_600), two(seconds / 60 % 60), two(seconds % 60));
    out.extend_from_slice(&[b'T', a, b, b':', c, d, b':', e, f]);
    if micros == 0 {
        return;
    }
    let ([a, b], [c, d], [e, f]) = (two(micros / 10_000), two(micros / 100 % 100), two(micros % 100));
    let digits = [b'.', a, b, c, d, e, f];
    out.extend_from_slice(if micros % 1_000 == 0 { &digits[..4] } else { &digits });
}

fn push_offset(minutes: i64, out: &mut Vec<u8>) {
    let sign = if minutes < 0 { b'-' } else { b'+' };
    let minutes = minutes.unsigned_abs();
    let ([a, b], [c, d]) = (two(minutes / 60), two(minutes % 60));
    out.extend_from_slice(&[sign, a, b, b':', c, d]);
}

/// The two digits of a number below 100.
#[inline]
fn two(number: u64) -> [u8; 2] {
    let number = number as u8;
    [b'0' + number / 10, b'0' + number % 10]
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
        assert_eq!(shown(i64::MAX, "UTC"), "9999-12-30T22:00:00.999999Z");
        assert_eq!(shown(i64::MIN, "UTC"), "-009999-01-02T01:59:59Z");
        assert_eq!(shown(i64::MAX, "+14:00"), "9999-12-31T12:00:00.999999+14:00");
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
