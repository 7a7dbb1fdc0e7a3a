//! Sessions: the events of a key that follow each other closely. Which events those are only the operator knows, so
//! this file has no arithmetic, only the gap.

use super::{Grid, Grouping, WindowKind};
use crate::error::{Error, Result};
use crate::time::Span;

/// The row of the table of windows.
pub(super) static SESSION: WindowKind =
    WindowKind { name: "session", value: "GAP", doc: "per key, events at most GAP apart: 30m", parse };

fn parse(text: &str, _grid: &Grid) -> Result<Grouping> {
    match Span::parse(text)? {
        Span::ZERO => Err(Error::usage(format!("the gap must be longer than zero, found \"{text}\""))),
        gap => Ok(Grouping::Session { gap }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::refused;
    use super::*;

    #[test]
    fn a_gap_is_a_length_of_time_never_of_the_calendar() {
        let Ok(Grouping::Session { gap }) = parse("1d", &Grid::default()) else { panic!("no session") };
        assert_eq!(gap, Span::from_secs(86_400));
        assert!(refused("session", "1mo").contains("no fixed length"));
        assert_eq!(refused("session", "0s"), "the gap must be longer than zero, found \"0s\"");
    }
}
