//! An expression as it was typed: what was said, and where, before any type is known.
//!
//! Must not know columns. Names are as typed; what they mean is a [`Scope`](super::Scope)'s to say.

use super::functions::FunctionKind;
use crate::schema::{FieldPath, FieldType, Literal};
use sqlparser::tokenizer::Location;

/// A node and where it starts in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub node: Node,
    /// Its first character.
    pub at: Location,
}

/// What can be said.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A constant.
    Literal(Literal),
    /// A field of the record, or a column of the result, whatever the scope.
    Field(FieldPath),
    /// The result of the call of this number among the aggregate calls of the job.
    Aggregate(usize),
    /// `-x`
    Negate(Box<Expr>),
    /// `NOT x`
    Not(Box<Expr>),
    /// Two operands.
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// `x IS NULL`
    IsNull(Box<Expr>),
    /// `x IS TRUE`, `x IS FALSE`
    Is(Box<Expr>, bool),
    /// `x IN (a, b)`
    In(Box<Expr>, Vec<Expr>),
    /// `x LIKE pattern`
    Like {
        /// The text.
        text: Box<Expr>,
        /// The pattern.
        pattern: Box<Expr>,
        /// The character that takes the meaning from the next one.
        escape: Option<char>,
        /// `ILIKE`
        any_case: bool,
    },
    /// `CASE WHEN a THEN b ELSE c END`; a `CASE x WHEN y` is spelled out as `x = y`.
    Case {
        /// Conditions and what they give.
        branches: Vec<(Expr, Expr)>,
        /// What is given when none is true.
        otherwise: Option<Box<Expr>>,
    },
    /// `CAST(x AS ty)`, `x::ty`, `TRY_CAST(x AS ty)`
    Cast {
        /// What is cast.
        value: Box<Expr>,
        /// To what.
        to: FieldType,
        /// Null where it cannot be, instead of a failure.
        or_null: bool,
    },
    /// `COALESCE(a, b)`: the first that is not null; later ones do not matter.
    Coalesce(Vec<Expr>),
    /// A function of the table.
    Call(&'static FunctionKind, Vec<Expr>),
}

/// What stands between two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`, always true division
    Divide,
    /// `//`, integer division
    DivideInteger,
    /// `%`
    Modulo,
    /// `||`
    Concat,
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `IS DISTINCT FROM`
    Distinct,
    /// `IS NOT DISTINCT FROM`
    NotDistinct,
    /// `AND`
    And,
    /// `OR`
    Or,
}
