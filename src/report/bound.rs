//! Whether the bounds the user set on bad and late records held.
//!
//! Must not know where the records are: the numbers alone.

use super::human::{count, counted};
use crate::error::{Error, ErrorKind, Result};
use crate::plan::Bound;

/// Fails (exit 3) when more records were late than `--max-late` allows.
pub fn check_late(bound: Option<Bound>, late: u64, read: u64) -> Result<()> {
    check(bound, late, read, "late", "--max-late")
        .map_err(|e| e.hint("the output was written; a greater --delay would have fewer late"))
}

/// Fails (exit 3) when more records were bad than `--max-bad` allows.
pub fn check_bad(bound: Option<Bound>, bad: u64, read: u64) -> Result<()> {
    check(bound, bad, read, "bad", "--max-bad").map_err(|e| e.hint("no output was written"))
}

fn check(bound: Option<Bound>, n: u64, read: u64, what: &str, flag: &str) -> Result<()> {
    match bound {
        Some(bound) if !bound.holds(n, read) => {
            let were = if n == 1 { "was" } else { "were" };
            let message =
                format!("{} of {} {were} {what}, more than {flag} {bound} allows", count(n), counted(read, "record"));
            Err(Error::new(ErrorKind::Bound, message))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_holds_up_to_its_number() {
        assert_eq!(check_bad(Some(Bound::Count(2)), 2, 10), Ok(()));
        assert_eq!(check_late(Some(Bound::Percent(20.0)), 2, 10), Ok(()));
        assert_eq!(check_late(None, 10, 10), Ok(()));
        assert_eq!(check_late(Some(Bound::Percent(0.0)), 0, 0), Ok(()));
    }

    #[test]
    fn a_bound_exceeded_says_by_what() {
        let text = |result: Result<()>| result.map_err(|e| (e.exit_code(), e.to_string()));
        let expected = "3 of 1,000 records were bad, more than --max-bad 2 allows\n  hint: no output was written";
        assert_eq!(text(check_bad(Some(Bound::Count(2)), 3, 1_000)), Err((3, expected.into())));
        let expected = "1 of 10 records was late, more than --max-late 0.5% allows\n  \
                        hint: the output was written; a greater --delay would have fewer late";
        assert_eq!(text(check_late(Some(Bound::Percent(0.5)), 1, 10)), Err((3, expected.into())));
    }
}
