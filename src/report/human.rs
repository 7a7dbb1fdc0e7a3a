//! Numbers as people read them: with separators, units and no more digits than mean something.
//!
//! Must not know what the numbers are of. Lengths of time round up, so that "at most 8m" is never a lie.

use crate::time::{Span, Ts, Zone, format_rfc3339};

/// A count with separators between thousands: `2,310,551`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count and what is counted: `1 record`, `2 records`.
pub fn counted(n: u64, what: &str) -> String {
    format!("{} {what}{}", count(n), if n == 1 { "" } else { "s" })
}

/// A number of bytes in decimal units: `3.1 GB`.
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if n < 1000 {
        return counted(n, "byte");
    }
    let mut value = n as f64 / 1000.0;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{} {}", short(value), UNITS[unit])
}

/// Bytes per second: `740 MB/s`.
pub fn byte_rate(bytes_read: u64, seconds: f64) -> String {
    format!("{}/s", bytes(per_second(bytes_read, seconds)))
}

/// Things per second, in three digits: `550,000 records/s`.
pub fn rate(n: u64, what: &str, seconds: f64) -> String {
    format!("{} {what}s/s", count(three_digits(per_second(n, seconds))))
}

/// A length of time in its two greatest units, rounded up: `7m 12s`.
pub fn span(span: Span) -> String {
    const SECOND: u64 = 1_000_000;
    let micros = span.micros().max(0) as u64;
    match micros.div_ceil(SECOND) {
        _ if micros == 0 => "0s".into(),
        _ if micros < 1_000 => format!("{micros}us"),
        _ if micros <= 999_900 => format!("{}ms", tenths(micros.div_ceil(100))),
        _ if micros <= 59_900_000 => format!("{}s", tenths(micros.div_ceil(SECOND / 10))),
        seconds if seconds < 3_600 => two_units(seconds, 60, "m", "s"),
        seconds if seconds.div_ceil(60) < 1_440 => two_units(seconds.div_ceil(60), 60, "h", "m"),
        seconds => two_units(seconds.div_ceil(3_600), 24, "d", "h"),
    }
}

/// A length of time as a flag takes it, without loss: `1h10m`.
pub fn flag_span(length: Span) -> String {
    length.to_string().replace(' ', "")
}

/// A number of seconds the run took: `4.2s`, `3m 20s`.
pub fn seconds(seconds: f64) -> String {
    span(Span::from_micros((seconds * 1e6) as i64))
}

/// An instant as the output shows it.
pub fn instant(ts: Ts, zone: &Zone) -> String {
    let mut text = Vec::new();
    format_rfc3339(ts, zone, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

fn two_units(small: u64, per: u64, big_unit: &str, small_unit: &str) -> String {
    match (small / per, small % per) {
        (big, 0) => format!("{big}{big_unit}"),
        (big, rest) => format!("{big}{big_unit} {rest}{small_unit}"),
    }
}

/// Tenths as a decimal number without a needless `.0`.
fn tenths(n: u64) -> String {
    match n % 10 {
        0 => (n / 10).to_string(),
        digit => format!("{}.{digit}", n / 10),
    }
}

fn short(value: f64) -> String {
    if value < 9.95 { format!("{value:.1}") } else { format!("{value:.0}") }
}

fn per_second(n: u64, seconds: f64) -> u64 {
    (n as f64 / seconds.max(1e-6)) as u64
}

/// Three digits are all that a rate means.
fn three_digits(n: u64) -> u64 {
    let step = 10u64.pow(n.checked_ilog10().unwrap_or(0).saturating_sub(2));
    n / step * step
}

/// A name in quotes, unless it has its own.
pub fn quoted(name: &str) -> String {
    if name.starts_with('\'') { name.to_owned() } else { format!("\"{name}\"") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_separators_and_units() {
        let shown: Vec<_> = [0, 999, 1_000, 2_310_551].into_iter().map(count).collect();
        assert_eq!(shown, ["0", "999", "1,000", "2,310,551"]);
        assert_eq!((counted(1, "record"), counted(2, "record")), ("1 record".into(), "2 records".into()));
    }

    #[test]
    fn bytes_are_decimal_with_two_digits() {
        let shown: Vec<_> = [0, 999, 1_000, 9_960, 999_999, 3_100_000_000, u64::MAX].into_iter().map(bytes).collect();
        assert_eq!(shown, ["0 bytes", "999 bytes", "1.0 kB", "10 kB", "1.0 MB", "3.1 GB", "18 EB"]);
    }

    #[test]
    fn rates_keep_three_digits() {
        assert_eq!(rate(2_310_551, "record", 4.2), "550,000 records/s");
        assert_eq!(byte_rate(3_100_000_000, 4.2), "738 MB/s");
        assert_eq!(rate(5, "record", 0.0), "5,000,000 records/s");
    }

    #[test]
    fn spans_show_two_units_and_round_up() {
        let shown = |micros| span(Span::from_micros(micros));
        assert_eq!([shown(0), shown(7), shown(1_234), shown(1_500_000)], ["0s", "7us", "1.3ms", "1.5s"]);
        assert_eq!([shown(999_901), shown(59_900_001), shown(432_000_000)], ["1s", "1m", "7m 12s"]);
        assert_eq!([shown(432_000_001), shown(3_599_000_001), shown(3_600_000_000)], ["7m 13s", "1h", "1h"]);
        assert_eq!([shown(86_399_999_999), shown(90_000_000_001)], ["1d", "1d 2h"]);
        assert_eq!(flag_span(Span::from_secs(4_200)), "1h10m");
    }
}
