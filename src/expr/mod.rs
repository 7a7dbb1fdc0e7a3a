//! SQL text to what a job computes: today plain fields and aggregate calls over them.
//!
//! Must not know windows or files. Invariant: every error that does not depend on data is found here, before any
//! input is read.

mod arithmetic;
mod bind;
mod cast;
mod declare;
mod eval;
mod failing;
pub mod functions;
mod literal;
mod on;
mod parse;
mod scalar;
mod select;
mod set;
mod sql;
#[cfg(test)]
mod tests;
mod tree;
mod unknown;

pub use declare::parse_schema;
pub use literal::or_text;
pub use on::{On, PairColumn, SIDES, on_side, parse_pair_columns, side_of};
pub use scalar::{Bound, Computed, Scalar, Scope, Use};
pub use select::{parse_calls, parse_keys, parse_list, parse_scalar, parse_unnamed};

use crate::aggregate::AggregateKind;
use crate::error::{Error, Result};
use crate::schema::Literal;
use std::collections::HashSet;

/// The columns that stand in front of every result (SPEC section 4).
const BOUNDS: [&str; 2] = ["window_start", "window_end"];

/// What is grouped by, and the name of its output column.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// Over fields of the record.
    pub expr: Scalar,
    /// The output column.
    pub name: String,
}

/// One aggregate call.
#[derive(Clone)]
pub struct Call {
    /// The function.
    pub kind: &'static AggregateKind,
    /// Its arguments that are columns, over fields of the record; none for `count(*)`.
    pub arguments: Vec<Scalar>,
    /// Its arguments that are constants.
    pub constants: Vec<Literal>,
    /// `DISTINCT` stood before the arguments.
    pub distinct: bool,
    /// `FILTER (WHERE ...)`: only rows for which this is true count.
    pub filter: Option<Scalar>,
    /// The call as it was typed, in our spacing: `count(DISTINCT user_id)`.
    pub shown: String,
}

/// An output column: an expression over the results of calls, keys and bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Over results: [`Scope::aggregate`] and names of columns that stand before it.
    pub expr: Scalar,
    /// Its name: the alias, or the expression as it was typed.
    pub name: String,
}

/// One criterion that rows are ordered by.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// Over results and all output columns.
    pub expr: Scalar,
    /// Greatest first.
    pub descending: bool,
    /// Nulls before all others (else behind them).
    pub nulls_first: bool,
}

/// What is computed of every group: the calls that all expressions over results need, and the output columns.
#[derive(Clone, Default)]
pub struct Selection {
    /// Every different call, also those that only conditions and orders need.
    pub calls: Vec<Call>,
    /// The output columns.
    pub outputs: Vec<Output>,
}

/// Refuses output columns that cannot be told apart. The parsers check their own lists; this is for both together.
pub fn check_names(keys: &[Key], outputs: &[Output]) -> Result<()> {
    let mut seen = HashSet::new();
    for name in keys.iter().map(|key| &key.name).chain(outputs.iter().map(|output| &output.name)) {
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
mod name_tests {
    use super::*;

    #[test]
    fn a_key_and_a_call_may_not_share_a_name() {
        let keys = parse_keys("page, total").unwrap();
        let calls = parse_calls("sum(x) AS total").unwrap().outputs;
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
