//! The proleptic Gregorian calendar as plain integers: days since 1970-01-01 and back.
//!
//! Must not know zones. Works far beyond the years a time library supports, because the line of instants does.

/// Microseconds of a second.
pub(super) const SECOND: i64 = 1_000_000;
/// Microseconds of a day of 24 hours.
pub(super) const DAY: i64 = 86_400 * SECOND;
/// Days of 400 years, after which the calendar repeats.
const ERA: i64 = 146_097;
/// Days from 0000-03-01 to 1970-01-01.
const EPOCH: i64 = 719_468;

/// The day number of a date; the date must exist.
pub(crate) const fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // Years that begin in March have their leap day last.
    let year = if month <= 2 { year - 1 } else { year };
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year.div_euclid(400) * ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year - EPOCH
}

/// Year, month (1 to 12) and day (1 to 31) of a day number.
pub(crate) const fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + EPOCH;
    // Only this division is 64 bits wide: printing a time is mostly divisions.
    let of_era = days.rem_euclid(ERA) as u32;
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year as i64 + days.div_euclid(ERA) * 400 + if month <= 2 { 1 } else { 0 };
    (year, month as i64, day as i64)
}

/// How many days a month has.
pub(crate) const fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_three_eras_is_the_one_after_the_day_before() {
        let mut day = days_from_civil(-401, 1, 1);
        for year in -401..=801 {
            for month in 1..=12 {
                for of_month in 1..=days_in_month(year, month) {
                    assert_eq!(days_from_civil(year, month, of_month), day);
                    assert_eq!(civil_from_days(day), (year, month, of_month));
                    day += 1;
                }
            }
        }
    }

    #[test]
    fn day_numbers_count_from_1970() {
        assert_eq!(days_from_civil(1970, 1, 1), 0);
        assert_eq!(days_from_civil(2000, 3, 1), 11_017);
        assert_eq!(civil_from_days(-1), (1969, 12, 31));
        assert_eq!(civil_from_days(i64::MAX / DAY), (294_247, 1, 10));
    }
}
