//! SQL text to what a job computes: today plain fields and aggregate calls over them.
//!
//! Must not know windows or files. Invariant: every error that does not depend on data is found here, before any
//! input is read.

mod call;
mod declare;
mod key;
mod sql;

pub use call::parse_calls;
pub use declare::parse_schema;
pub use key::parse_keys;

use crate::aggregate::AggregateKind;
use crate::error::{Error, Result};
use crate::schema::FieldPath;
use std::collections::HashSet;

/// The columns that stand in front of every result (SPEC section 4).
const BOUNDS: [&str; 2] = ["window_start", "window_end"];

/// A field to group by and the name of its output column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The field.
    pub path: FieldPath,
    /// The output column.
    pub name: String,
}

/// One aggregate call and the name of its output column.
#[derive(Clone)]
pub struct Call {
    /// The function.
    pub kind: &'static AggregateKind,
    /// Its argument; none for `count(*)`.
    pub argument: Option<FieldPath>,
    /// `DISTINCT` stood before the argument.
    pub distinct: bool,
    /// The output column: the alias, or the call as it was typed.
    pub name: String,
}

/// Refuses output columns that cannot be told apart. The parsers check their own lists; this is for both together.
pub fn check_names(keys: &[Key], calls: &[Call]) -> Result<()> {
    let mut seen = HashSet::new();
    for name in keys.iter().map(|key| &key.name).chain(calls.iter().map(|call| &call.name)) {
        if BOUNDS.contains(&name.as_str()) {
            return Err(Error::usage(format!("\"{name}\" is a column that every result has"))
                .hint(format!("give yours another name: {} AS other", sql::quoted(name))));
        }
        if !seen.insert(name) {
            return Err(Error::usage(format!("two columns would be called \"{name}\""))
                .hint("name one of them with AS, or leave one out"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_and_a_call_may_not_share_a_name() {
        let keys = parse_keys("page, total").unwrap();
        let calls = parse_calls("sum(x) AS total").unwrap();
        let error = check_names(&keys, &calls).unwrap_err();
        assert_eq!(
            error.to_string(),
            "two columns would be called \"total\"\n  hint: name one of them with AS, or leave one out"
        );
        assert!(check_names(&keys[..1], &calls).is_ok());
    }

    #[test]
    fn the_bounds_names_are_taken() {
        let error = parse_keys("page, window_end").unwrap_err();
        assert_eq!(
            error.to_string(),
            "\"window_end\" is a column that every result has\n  hint: give yours another name: window_end AS other"
        );
        assert!(parse_calls("count(*) AS window_start").is_err());
        assert!(parse_keys("window_end AS closed").is_ok());
    }
}
