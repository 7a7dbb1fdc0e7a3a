//! An expression on its way: as typed ([`Scalar`]), bound to columns ([`Bound`]), computed ([`Computed`]).
//!
//! Must not know what the expression is for. Binding finds every error that does not depend on data.

use super::functions::Failures;
use super::tree::{Expr, Node};
use crate::error::{Error, Result};
use crate::schema::{FieldPath, FieldType};
use crate::time::Zone;
use arrow::array::ArrayRef;
use sqlparser::tokenizer::Location;
use std::sync::Arc;

/// An expression as it was typed, with its text for errors that point into it.
#[derive(Clone, Debug)]
pub struct Scalar {
    /// The whole text of the flag.
    pub(super) text: Arc<str>,
    /// The expression.
    pub(super) root: Expr,
}

/// The same expression, wherever it was typed.
impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        self.root == other.root
    }
}

/// What an expression does with a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// Takes it as it is.
    Value,
    /// Calculates with it, so that a field nobody has seen is a number.
    Number,
}

/// What names stand for where an expression is bound.
pub trait Scope {
    /// The column of a field and its type. The error is the message and perhaps a hint, without place.
    fn field(&self, path: &FieldPath) -> Result<(usize, FieldType)>;

    /// The column of an aggregate call's result and its type.
    fn aggregate(&self, call: usize) -> Result<(usize, FieldType)>;
}

/// An expression bound to columns of known types.
pub struct Bound {
    column: usize,
    ty: FieldType,
}

/// What an expression comes to.
pub struct Computed {
    /// One value a row; a text column may come with its dictionary.
    pub values: ArrayRef,
    /// Rows that failed; their value is null.
    pub failures: Failures,
}

impl Scalar {
    /// A field alone.
    pub fn field(path: FieldPath) -> Self {
        let root = Expr { node: Node::Field(path), at: Location::empty() };
        Self { text: "".into(), root }
    }

    /// It as it was typed, for messages and names of columns.
    pub fn shown(&self) -> String {
        self.root.to_string()
    }

    /// The field, if it is nothing but one.
    pub fn as_field(&self) -> Option<&FieldPath> {
        match &self.root.node {
            Node::Field(path) => Some(path),
            _ => None,
        }
    }

    /// Every field in it and what is done with it, in the order of the text; a field may come more than once.
    pub fn fields(&self) -> Vec<(&FieldPath, Use)> {
        self.as_field().into_iter().map(|path| (path, Use::Value)).collect()
    }

    /// Finds columns and types. Times are taken apart, and put together, in `zone`.
    pub fn bind(&self, scope: &dyn Scope, _zone: &Zone) -> Result<Bound> {
        match &self.root.node {
            Node::Field(path) => scope.field(path).map(|(column, ty)| Bound { column, ty }),
            Node::Aggregate(call) => scope.aggregate(*call).map(|(column, ty)| Bound { column, ty }),
            _ => Err(Error::usage("expressions are not supported here yet")),
        }
    }
}

impl Bound {
    /// The type of its values.
    pub fn ty(&self) -> FieldType {
        self.ty
    }

    /// The column, if it is nothing but one.
    pub fn as_column(&self) -> Option<usize> {
        Some(self.column)
    }

    /// Computes it for `rows` rows of columns.
    pub fn evaluate(&self, columns: &[ArrayRef], _rows: usize) -> Result<Computed> {
        Ok(Computed { values: Arc::clone(&columns[self.column]), failures: Failures::new() })
    }
}
