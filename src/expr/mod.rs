//! SQL text to what a job computes: today plain fields and aggregate calls over them.
//!
//! Must not know windows or files. Invariant: every error that does not depend on data is found here, before any
//! input is read.

use crate::aggregate::AggregateKind;
use crate::schema::FieldPath;

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
