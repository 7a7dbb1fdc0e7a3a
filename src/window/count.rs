//! Windows of a number of records of a key, whatever their times. Which records those are only the operator knows, so
//! this file has no arithmetic, only the number.

use super::{Grid, Grouping, WindowKind};
use crate::error::{Error, Result};

/// The row of the table of windows.
pub(super) static COUNT: WindowKind =
    WindowKind { name: "count", value: "N", doc: "every N records of a key: 1000", parse };

fn parse(text: &str, _grid: &Grid) -> Result<Grouping> {
    match text.replace('_', "").parse() {
        Ok(0) | Err(_) => Err(Error::usage(format!("expected a number of records from 1, found \"{text}\""))),
        Ok(records) => Ok(Grouping::Count(records)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::refused;
    use super::*;

    #[test]
    fn a_window_has_at_least_one_record() {
        assert!(matches!(parse("1_000", &Grid::default()), Ok(Grouping::Count(1_000))));
        for wrong in ["0", "-1", "1.5", "5m", ""] {
            assert_eq!(refused("count", wrong), format!("expected a number of records from 1, found \"{wrong}\""));
        }
    }
}
