//! Instants as a person types them on a command line.
//!
//! Must not ask what time it is: the caller says.

use super::civil::DAY;
use super::{DayCache, Span, TimeFormat, TimeReader, Ts, Zone};
use crate::error::{Error, Result};

impl Ts {
    /// Reads `--since` and `--until`: a time as in the data (local ones in `zone`), `now`, `today`, `yesterday`,
    /// `tomorrow` (the start of that local day), or a distance from now such as `-1h`.
    pub fn parse_flag(text: &str, zone: &Zone, now: Ts) -> Result<Ts> {
        let word = text.trim().to_ascii_lowercase();
        match word.as_str() {
            "now" => return Ok(now),
            "today" => return Ok(start_of_day(now, 0, zone)),
            "yesterday" => return Ok(start_of_day(now, -1, zone)),
            "tomorrow" => return Ok(start_of_day(now, 1, zone)),
            _ => {}
        }
        if let Some(distance) = distance(&word) {
            return Ok(now.saturating_add(distance));
        }
        let reader = TimeReader::new(TimeFormat::Auto, zone.clone());
        match reader.text(text.as_bytes(), &mut DayCache::default()) {
            Ok(reading) => Ok(reading.ts),
            Err(bad) => {
                Err(Error::usage(bad.message).hint("2024-05-01T12:00, 2024-05-01, yesterday and -1h are times"))
            }
        }
    }
}

/// A signed duration; without a sign it would be no distance from anything.
fn distance(word: &str) -> Option<Span> {
    let signed = word.starts_with(['-', '+']) || word.ends_with("ago");
    signed.then(|| Span::parse_signed(word).ok()).flatten()
}

/// The first instant of the local day that is `days` after that of `ts`.
fn start_of_day(ts: Ts, days: i64, zone: &Zone) -> Ts {
    let day = zone.wall(ts).div_euclid(DAY) + days;
    zone.first_not_before(day.saturating_mul(DAY))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        let berlin = Zone::parse("Europe/Berlin").unwrap();
        // 2024-03-31T14:00:00+02:00, on a day of 23 hours.
        let now = Ts::from_micros(1_711_886_400_000_000);
        match Ts::parse_flag(text, &berlin, now) {
            Ok(ts) => {
                let mut out = Vec::new();
                super::super::format_rfc3339(ts, &berlin, &mut out);
                String::from_utf8(out).unwrap()
            }
            Err(e) => e.to_string(),
        }
    }

    #[test]
    fn words_and_distances_count_from_now() {
        assert_eq!(read("now"), "2024-03-31T14:00:00+02:00");
        assert_eq!(read("today"), "2024-03-31T00:00:00+01:00");
        assert_eq!(read("Yesterday"), "2024-03-30T00:00:00+01:00");
        assert_eq!(read("tomorrow"), "2024-04-01T00:00:00+02:00");
        assert_eq!(read("-1h"), "2024-03-31T13:00:00+02:00");
        assert_eq!(read("1h ago"), "2024-03-31T13:00:00+02:00");
        assert_eq!(read("+30m"), "2024-03-31T14:30:00+02:00");
        assert_eq!(read("-1d"), "2024-03-30T13:00:00+01:00");
    }

    #[test]
    fn times_are_read_as_in_the_data() {
        assert_eq!(read("2024-07-01"), "2024-07-01T00:00:00+02:00");
        assert_eq!(read("2024-07-01 12:00"), "2024-07-01T12:00:00+02:00");
        assert_eq!(read("2024-07-01T12:00:00Z"), "2024-07-01T14:00:00+02:00");
        assert_eq!(read("1719828000"), "2024-07-01T12:00:00+02:00");
        assert_eq!(read("-3600"), "1970-01-01T00:00:00+01:00");
    }

    #[test]
    fn anything_else_is_refused_with_examples() {
        assert_eq!(
            read("noon"),
            "expected a time, found \"noon\"\n  hint: 2024-05-01T12:00, 2024-05-01, yesterday and -1h are times"
        );
        assert!(read("1h").starts_with("expected a time, found"));
    }
}
