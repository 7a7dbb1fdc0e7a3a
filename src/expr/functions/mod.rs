//! The functions of expressions: what one is, and the table of them.
//!
//! Names and results are DuckDB's where it has the function. A function is a row of [`FUNCTIONS`]: help, man page,
//! binder and tests go by the table. Must not know fields, or how arguments were computed.

mod choose;
mod hash;
mod json;
mod kernel;
mod math;
mod pattern;
#[cfg(test)]
mod tests;
mod text;
mod time;
mod time_text;

pub(super) use kernel::{MOST_OF_A_BATCH, too_much_text};

use crate::error::Result;
use crate::schema::{FieldType, Literal};
use crate::time::Zone;
use arrow::array::ArrayRef;
use std::collections::BTreeMap;
use std::fmt;

/// Rows for which a value could not be computed, and why: `integer overflow in 9223372036854775807 + 1`. Their values
/// are null. Whether a failure matters is decided above: a branch that is not taken may fail.
pub type Failures = BTreeMap<usize, String>;

/// A row of the table of functions.
pub struct FunctionKind {
    /// Its SQL name, in lower case.
    pub name: &'static str,
    /// Other names it is known by, in lower case.
    pub aliases: &'static [&'static str],
    /// The form of a call, for help: `substr(text, start [, length])`.
    pub usage: &'static str,
    /// One line of what it gives.
    pub doc: &'static str,
    /// A call and what it gives as JSON, for help; tests run all of them.
    pub example: (&'static str, &'static str),
    /// The least number of arguments.
    pub least: usize,
    /// The greatest number of arguments.
    pub most: usize,
    /// What a call with arguments like these does. The error is a phrase behind the function's name:
    /// `needs a text, but found a number`.
    pub resolve: fn(arguments: &[Argument<'_>], zone: &Zone) -> Result<Resolved, String>,
}

/// What is known of an argument before any input is read.
#[derive(Clone, Copy, Debug)]
pub struct Argument<'a> {
    /// Its type; none for `NULL`.
    pub ty: Option<FieldType>,
    /// Its value, if it is a constant: patterns and formats are read once.
    pub literal: Option<&'a Literal>,
}

/// How a call is computed.
pub struct Resolved {
    /// What each argument is converted to before the call.
    pub takes: Vec<FieldType>,
    /// The type of the result.
    pub gives: FieldType,
    /// What computes it.
    pub kernel: Box<dyn Kernel>,
}

/// Computes a function for all rows of a batch.
pub trait Kernel: Send + Sync {
    /// `arguments` are plain columns (no dictionaries) of `rows` rows, of the types that [`Resolved::takes`] tells. The
    /// result has [`Resolved::gives`]'s type. A row that fails is null and told. An `Err` is an error of the program.
    fn run(&self, arguments: &[ArrayRef], rows: usize, failures: &mut Failures) -> Result<ArrayRef>;
}

/// Every function there is, one family behind the other.
pub static FUNCTIONS: &[&FunctionKind] = &[
    &text::LOWER,
    &text::UPPER,
    &text::LENGTH,
    &text::TRIM,
    &text::LTRIM,
    &text::RTRIM,
    &text::SUBSTR,
    &text::LEFT,
    &text::RIGHT,
    &text::REPLACE,
    &text::SPLIT_PART,
    &text::STARTS_WITH,
    &text::ENDS_WITH,
    &text::CONTAINS,
    &text::STRPOS,
    &text::CONCAT,
    &text::CONCAT_WS,
    &text::REPEAT,
    &text::LPAD,
    &text::RPAD,
    &text::REVERSE,
    &pattern::REGEXP_MATCHES,
    &pattern::REGEXP_FULL_MATCH,
    &pattern::REGEXP_EXTRACT,
    &pattern::REGEXP_REPLACE,
    &math::ABS,
    &math::SIGN,
    &math::ROUND,
    &math::TRUNC,
    &math::FLOOR,
    &math::CEIL,
    &math::MOD,
    &math::POWER,
    &math::SQRT,
    &math::EXP,
    &math::LN,
    &math::LOG10,
    &math::LOG2,
    &choose::GREATEST,
    &choose::LEAST,
    &choose::NULLIF,
    &time::DATE_TRUNC,
    &time::DATE_PART,
    &time::YEAR,
    &time::QUARTER,
    &time::MONTH,
    &time::WEEK,
    &time::DAY,
    &time::DAYOFWEEK,
    &time::ISODOW,
    &time::DAYOFYEAR,
    &time::HOUR,
    &time::MINUTE,
    &time::SECOND,
    &time::EPOCH,
    &time::EPOCH_MS,
    &time::EPOCH_US,
    &time::TO_TIMESTAMP,
    &time::MAKE_TIMESTAMP,
    &time_text::STRFTIME,
    &time_text::STRPTIME,
    &time_text::TRY_STRPTIME,
    &json::JSON_EXTRACT,
    &json::JSON_EXTRACT_STRING,
    &json::CARDINALITY,
    &hash::HASH,
];

/// The function of this name, in any case.
pub fn find(name: &str) -> Option<&'static FunctionKind> {
    let name = name.to_ascii_lowercase();
    FUNCTIONS.iter().copied().find(|kind| kind.name == name || kind.aliases.contains(&name.as_str()))
}

impl FunctionKind {
    /// Whether a call with so many arguments calculates with the one at `place`, so that a field there that nobody has
    /// seen yet is a number.
    pub fn calculates_with(&self, place: usize, count: usize) -> bool {
        let unknown = vec![Argument { ty: None, literal: None }; count];
        let resolved = (self.resolve)(&unknown, &Zone::UTC);
        resolved.is_ok_and(|resolved| resolved.takes.get(place).is_some_and(|ty| ty.is_number()))
    }
}

impl fmt::Debug for FunctionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for FunctionKind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}
