//! The short way for the commonest layout of a time: `YYYY-MM-DDThh:mm:ss[.fff](Z|±hh:mm|)`.
//!
//! Must give what the general parser in `read` gives, or nothing at all: `None` only means "not here". A test
//! compares the two. The day is remembered, because neighbours in a file are mostly of one day.

use super::civil::{DAY, SECOND, days_from_civil, days_in_month};

/// What a reader remembers from one value to the next, to be quick: the last day seen. Never changes a result.
#[derive(Clone, Debug, Default)]
pub struct DayCache {
    day: Option<([u8; 10], i64)>,
}

impl DayCache {
    /// Microseconds of the start (in UTC) of the day written as `YYYY-MM-DD`.
    #[inline]
    fn day(&mut self, date: &[u8; 10]) -> Option<i64> {
        match self.day {
            Some((known, micros)) if known == *date => Some(micros),
            _ => {
                let micros = day_micros(date)?;
                self.day = Some((*date, micros));
                Some(micros)
            }
        }
    }
}

/// Microseconds since the epoch, if `text` has the common layout. A text without offset is read `local` microseconds
/// ahead of UTC, or left to others if that is unknown.
#[inline]
pub(super) fn micros(text: &[u8], local: Option<i64>, cache: &mut DayCache) -> Option<i64> {
    let (date, rest) = text.split_first_chunk::<10>()?;
    let (clock, rest) = rest.split_first_chunk::<9>()?;
    let clock = clock_micros(clock)?;
    let (fraction, rest) = fraction_micros(rest)?;
    let offset = offset_micros(rest, local)?;
    Some(cache.day(date)? + clock + fraction - offset)
}

fn day_micros(date: &[u8; 10]) -> Option<i64> {
    let &[a, b, c, d, b'-', e, f, b'-', g, h] = date else { return None };
    let (year, month, day) = (two(a, b)? * 100 + two(c, d)?, two(e, f)?, two(g, h)?);
    let exists = (1..=12).contains(&month) && 1 <= day && day <= days_in_month(year, month);
    exists.then(|| days_from_civil(year, month, day) * DAY)
}

/// `Thh:mm:ss`; a leap second is left to the general parser. The eight bytes behind the `T` are read as one word.
#[inline]
fn clock_micros(clock: &[u8; 9]) -> Option<i64> {
    const DIGITS: u64 = 0x0F0F_000F_0F00_0F0F;
    let (b'T' | b't' | b' ', clock) = (clock[0], clock.last_chunk()?) else { return None };
    // What is left of each digit is its value and of each colon is 0.
    let values = u64::from_le_bytes(*clock) ^ u64::from_le_bytes(*b"00:00:00");
    let in_bounds = (values & DIGITS) + 0x0606_0006_0600_0606;
    if (values & !DIGITS) | (in_bounds & !DIGITS) != 0 {
        return None;
    }
    let pairs = values.wrapping_mul(10).wrapping_add(values >> 8);
    let [hour, minute, second] = [0, 24, 48].map(|shift| (pairs >> shift & 0xFF) as i64);
    (hour < 24 && minute < 60 && second < 60).then_some(((hour * 60 + minute) * 60 + second) * SECOND)
}

/// `.fff` of any length, floored, and what follows it. Milliseconds are common enough to go first.
#[inline]
fn fraction_micros(text: &[u8]) -> Option<(i64, &[u8])> {
    let [b'.', digits @ ..] = text else { return Some((0, text)) };
    if let Some((&[a, b, c], rest @ (b"" | b"Z"))) = digits.split_first_chunk() {
        let [a, b, c] = [a, b, c].map(|digit| i64::from(digit.wrapping_sub(b'0')));
        if a.max(b).max(c) < 10 {
            return Some((((a * 10 + b) * 10 + c) * 1_000, rest));
        }
    }
    let (mut micros, mut weight, mut length) = (0, SECOND / 10, 0);
    while let Some(digit) = digits.get(length).map(|d| d.wrapping_sub(b'0')).filter(|&d| d < 10) {
        micros += i64::from(digit) * weight;
        weight /= 10;
        length += 1;
    }
    (length > 0).then(|| (micros, &digits[length..]))
}

#[inline]
fn offset_micros(text: &[u8], local: Option<i64>) -> Option<i64> {
    match *text {
        [b'Z' | b'z'] => Some(0),
        [] => local,
        [sign @ (b'+' | b'-'), a, b, b':', c, d] => {
            let (hours, minutes) = (two(a, b)?, two(c, d)?);
            let offset = (hours < 24 && minutes < 60).then_some((hours * 60 + minutes) * 60 * SECOND)?;
            Some(if sign == b'-' { -offset } else { offset })
        }
        _ => None,
    }
}

/// The number that two digits write.
#[inline]
fn two(tens: u8, ones: u8) -> Option<i64> {
    let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
    (tens < 10 && ones < 10).then_some(i64::from(tens) * 10 + i64::from(ones))
}
