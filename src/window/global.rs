//! One endless window per key. Nothing is ever final in it, so when it is written is a trigger's to say.

use super::{Grid, Grouping, WindowKind};
use crate::error::Result;

/// The row of the table of windows.
pub(super) static GLOBAL: WindowKind =
    WindowKind { name: "global", value: "", doc: "one endless window per key, written at each --trigger", parse };

fn parse(_text: &str, _grid: &Grid) -> Result<Grouping> {
    Ok(Grouping::Global { purge: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_its_rows_unless_it_is_told_otherwise() {
        assert!(matches!(parse("", &Grid::default()), Ok(Grouping::Global { purge: false })));
    }
}
