//! Zones: wall-clock times to instants and back.
//!
//! Must not know calendars or texts of instants. The rules are those compiled into the binary, never the machine's.
//! A wall-clock time is microseconds since local 1970-01-01T00:00:00, as if every day had 24 hours.

use super::Ts;
use super::civil::SECOND;
use crate::error::{Error, Result};
use jiff::Timestamp;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone, TimeZoneDatabase};
use std::sync::{Arc, LazyLock};

/// The zones the binary carries.
static DATABASE: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// A time zone from the compiled-in database; UTC and fixed offsets take a short cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    tz: TimeZone,
    /// Its name; none is UTC, so that UTC is a constant.
    name: Option<Arc<str>>,
    /// The offset in microseconds of a zone that never changes it.
    fixed: Option<i64>,
}

impl Zone {
    /// Coordinated universal time.
    pub const UTC: Zone = Zone { tz: TimeZone::UTC, name: None, fixed: Some(0) };

    /// The zone of an IANA name (in any case), `UTC`, `Z`, or an offset such as `+02:00`.
    pub fn parse(name: &str) -> Result<Zone> {
        let name = name.trim();
        if ["z", "utc", "etc/utc"].contains(&name.to_ascii_lowercase().as_str()) {
            return Ok(Zone::UTC);
        }
        if let Some(seconds) = parse_offset(name) {
            return Ok(Zone::fixed(seconds));
        }
        match DATABASE.get(name) {
            Ok(tz) if !tz.is_unknown() => Ok(Zone::from_tz(tz)),
            _ => Err(unknown(name)),
        }
    }

    /// The zone's name: an IANA name, or an offset such as `+02:00`. [`Zone::parse`] reads it back.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or("UTC")
    }

    /// Whether it is UTC, whose times end in `Z`.
    pub fn is_utc(&self) -> bool {
        self.name.is_none()
    }

    /// The zone of a bracketed annotation (`[Europe/Berlin]`) in a time's text.
    pub(super) fn of_annotation(pieces: &jiff::fmt::temporal::Pieces<'_>) -> Option<Zone> {
        pieces.to_time_zone_with(&DATABASE).ok().flatten().map(Zone::from_tz)
    }

    fn from_tz(tz: TimeZone) -> Zone {
        if tz == TimeZone::UTC {
            return Zone::UTC;
        }
        match (tz.iana_name(), tz.to_fixed_offset()) {
            (Some(name), _) => Zone { name: Some(name.into()), tz, fixed: None },
            (None, Ok(offset)) => Zone::fixed(offset.seconds()),
            (None, Err(_)) => Zone { name: Some("local".into()), tz, fixed: None },
        }
    }

    fn fixed(seconds: i32) -> Zone {
        if seconds == 0 {
            return Zone::UTC;
        }
        let offset = Offset::from_seconds(seconds).unwrap_or(Offset::UTC);
        let (sign, minutes) = (if seconds < 0 { '-' } else { '+' }, seconds.unsigned_abs() / 60);
        let name = format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60);
        Zone { tz: offset.to_time_zone(), name: Some(name.into()), fixed: Some(micros(offset)) }
    }

    /// The distance from UTC in microseconds, if it is the same for ever.
    pub(super) fn fixed_offset(&self) -> Option<i64> {
        self.fixed
    }

    /// The distance from UTC in microseconds at an instant; beyond the library's range, that at the range's end.
    pub(super) fn offset(&self, ts: Ts) -> i64 {
        self.fixed.unwrap_or_else(|| micros(self.tz.to_offset(stamp(ts.micros()))))
    }

    /// The wall-clock time at an instant.
    pub fn wall(&self, ts: Ts) -> i64 {
        ts.micros().saturating_add(self.offset(ts))
    }

    /// The instant of a wall-clock time: in a gap, moved forward by the gap; in a fold, the earlier one (RFC 5545).
    pub fn instant(&self, wall: i64) -> Ts {
        let offset = match self.ambiguous(wall) {
            AmbiguousOffset::Unambiguous { offset } => offset,
            AmbiguousOffset::Gap { before, .. } | AmbiguousOffset::Fold { before, .. } => before,
        };
        Ts::from_micros(wall.saturating_sub(micros(offset)))
    }

    /// The first instant whose wall-clock time is not before `wall`. Never decreases as `wall` grows.
    pub fn first_not_before(&self, wall: i64) -> Ts {
        if let Some(offset) = self.fixed {
            return Ts::from_micros(wall.saturating_sub(offset));
        }
        match self.ambiguous(wall) {
            AmbiguousOffset::Gap { before, after } => self.end_of_gap(wall, micros(before), micros(after)),
            _ => self.instant(wall),
        }
    }

    /// The instant of the jump that skips `wall`, found by halving: the wall clock shows less just before it.
    fn end_of_gap(&self, wall: i64, before: i64, after: i64) -> Ts {
        let (mut early, mut late) = (wall.saturating_sub(after), wall.saturating_sub(before));
        while late - early > 1 {
            let middle = early + (late - early) / 2;
            if self.wall(Ts::from_micros(middle)) < wall {
                early = middle;
            } else {
                late = middle;
            }
        }
        Ts::from_micros(late)
    }

    fn ambiguous(&self, wall: i64) -> AmbiguousOffset {
        match self.fixed {
            Some(offset) => AmbiguousOffset::Unambiguous { offset: seconds(offset) },
            None => self.tz.to_ambiguous_timestamp(Offset::UTC.to_datetime(stamp(wall))).offset(),
        }
    }
}

fn micros(offset: Offset) -> i64 {
    i64::from(offset.seconds()) * SECOND
}

fn seconds(offset_micros: i64) -> Offset {
    i32::try_from(offset_micros / SECOND).ok().and_then(|s| Offset::from_seconds(s).ok()).unwrap_or(Offset::UTC)
}

/// The library's instant, clamped to its range.
fn stamp(micros: i64) -> Timestamp {
    let micros = micros.clamp(Timestamp::MIN.as_microsecond(), Timestamp::MAX.as_microsecond());
    Timestamp::from_microsecond(micros).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Reads `+hh`, `+hhmm`, `+hh:mm` (or with minus) into seconds.
fn parse_offset(text: &str) -> Option<i32> {
    let (sign, digits) = match text.as_bytes() {
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = match *digits {
        [a, b] => ([a, b], [b'0', b'0']),
        [a, b, c, d] | [a, b, b':', c, d] => ([a, b], [c, d]),
        _ => return None,
    };
    let number =
        |d: [u8; 2]| d.iter().all(u8::is_ascii_digit).then(|| i32::from(d[0] - b'0') * 10 + i32::from(d[1] - b'0'));
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
}

fn unknown(name: &str) -> Error {
    let error = Error::usage(format!("unknown time zone \"{name}\""));
    match nearest(name) {
        Some(zone) => error.hint(format!("did you mean \"{zone}\"?")),
        None => error.hint("a zone is an IANA name such as Europe/Berlin, an offset such as +02:00, or UTC"),
    }
}

/// The zone whose name, or last part of the name, is nearest to a misspelt one.
fn nearest(name: &str) -> Option<String> {
    let wanted = name.to_ascii_lowercase().replace(' ', "_");
    let allowed = 1 + wanted.len() / 5;
    DATABASE
        .available()
        .map(|zone| {
            let lower = zone.as_str().to_ascii_lowercase();
            let place = lower.rsplit('/').next().unwrap_or_default();
            let whole = strsim::damerau_levenshtein(&wanted, &lower);
            // A place alone must beat whole names: "berlin" means Europe/Berlin.
            let distance = whole.min(strsim::damerau_levenshtein(&wanted, place) + usize::from(lower != place));
            (distance, zone.as_str().to_owned())
        })
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, zone)| zone)
}

/// Every zone the binary carries, for tests that hold for all of them.
#[cfg(test)]
pub(crate) fn all() -> Vec<Zone> {
    DATABASE.available().map(|name| Zone::parse(name.as_str()).expect("a listed zone")).collect()
}

#[cfg(test)]
impl Zone {
    /// The instants at which the zone's clocks change, up to a year in which all that repeats has been seen.
    pub(crate) fn transitions(&self) -> Vec<Ts> {
        let from: Timestamp = "1700-01-01T00:00:00Z".parse().expect("a time");
        let to: Timestamp = "2027-01-01T00:00:00Z".parse().expect("a time");
        let all = self.tz.following(from).take_while(|t| t.timestamp() < to);
        all.map(|t| Ts::from_micros(t.timestamp().as_microsecond())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::civil::{DAY, days_from_civil};
    use super::*;

    fn wall(y: i64, m: i64, d: i64, hour: i64, minute: i64) -> i64 {
        days_from_civil(y, m, d) * DAY + (hour * 60 + minute) * 60 * SECOND
    }

    fn utc(text: &str) -> Ts {
        Ts::from_micros(text.parse::<Timestamp>().unwrap().as_microsecond())
    }

    #[test]
    fn zones_are_found_in_any_case_and_offsets_name_themselves() {
        assert_eq!(Zone::parse("europe/berlin").unwrap().name(), "Europe/Berlin");
        assert_eq!(Zone::parse("utc").unwrap(), Zone::UTC);
        assert_eq!(Zone::parse("+0000").unwrap(), Zone::UTC);
        for (text, name) in [("+02:00", "+02:00"), ("-0530", "-05:30"), ("+1", ""), ("+9", ""), ("+05", "+05:00")] {
            match Zone::parse(text) {
                Ok(zone) => assert_eq!(zone.name(), name),
                Err(_) => assert_eq!(name, ""),
            }
        }
        assert!(Zone::parse("+24:00").is_err());
        assert!(Zone::parse("Etc/Unknown").is_err());
    }

    #[test]
    fn a_misspelt_zone_gets_the_nearest_name() {
        let hint = |name| Zone::parse(name).unwrap_err().to_string();
        assert_eq!(hint("Europe/Berln"), "unknown time zone \"Europe/Berln\"\n  hint: did you mean \"Europe/Berlin\"?");
        assert!(hint("berlin").contains("Europe/Berlin"), "{}", hint("berlin"));
        assert!(hint("New York").contains("America/New_York"), "{}", hint("New York"));
        assert!(hint("xxxxxxxxxxxxx").contains("an IANA name such as"));
    }

    #[test]
    fn a_gap_moves_forward_and_its_end_is_its_first_instant() {
        let berlin = Zone::parse("Europe/Berlin").unwrap();
        let gap = wall(2024, 3, 31, 2, 30);
        assert_eq!(berlin.instant(gap), utc("2024-03-31T01:30:00Z"));
        assert_eq!(berlin.first_not_before(gap), utc("2024-03-31T01:00:00Z"));
    }

    #[test]
    fn a_fold_is_the_earlier_instant() {
        let berlin = Zone::parse("Europe/Berlin").unwrap();
        assert_eq!(berlin.instant(wall(2024, 10, 27, 2, 30)), utc("2024-10-27T00:30:00Z"));
        assert_eq!(berlin.first_not_before(wall(2024, 10, 27, 2, 30)), utc("2024-10-27T00:30:00Z"));
        assert_eq!(berlin.first_not_before(wall(2024, 10, 27, 3, 0)), utc("2024-10-27T02:00:00Z"));
    }

    #[test]
    fn a_skipped_day_has_no_length() {
        let apia = Zone::parse("Pacific/Apia").unwrap();
        let starts = [30, 31].map(|day| apia.first_not_before(wall(2011, 12, day, 0, 0)));
        assert_eq!(starts, [utc("2011-12-30T10:00:00Z"); 2]);
    }

    #[test]
    fn a_day_without_midnight_starts_where_the_clock_jumped_to() {
        let zone = Zone::parse("America/Sao_Paulo").unwrap();
        assert_eq!(zone.first_not_before(wall(2018, 11, 4, 0, 0)), utc("2018-11-04T03:00:00Z"));
    }

    #[test]
    fn the_ends_of_the_line_do_not_panic() {
        for zone in ["UTC", "Europe/Berlin", "+14:00", "-12:00"].map(|z| Zone::parse(z).unwrap()) {
            for end in [i64::MIN, i64::MIN + 1, i64::MAX - 1, i64::MAX] {
                zone.wall(Ts::from_micros(end));
                zone.instant(end);
                zone.first_not_before(end);
            }
        }
    }
}
