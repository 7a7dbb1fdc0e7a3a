//! The functions of expressions: what one is, and the table of them.
//!
//! Names and results are DuckDB's where it has the function. A function is a row of the table ([`all`]): help, man page,
//! binder and tests go by the table. Must not know fields, or how arguments were computed.

mod choose;
mod json;
mod math;
mod pattern;
mod rows;
mod text;
mod time;

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

/// Every function there is, by family.
static FAMILIES: [&[FunctionKind]; 6] =
    [text::TEXT, pattern::PATTERN, math::MATH, choose::CHOOSE, time::TIME, json::JSON];

/// Every function there is.
pub fn all() -> impl Iterator<Item = &'static FunctionKind> {
    FAMILIES.into_iter().flatten()
}

/// The function of this name, in any case.
pub fn find(name: &str) -> Option<&'static FunctionKind> {
    let name = name.to_ascii_lowercase();
    all().find(|kind| kind.name == name || kind.aliases.contains(&name.as_str()))
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
