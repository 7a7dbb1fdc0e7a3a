//! An expression as it was typed: what was said, and where, before any type is known.
//!
//! Must not know columns. Names are as typed; what they mean is a [`Scope`](super::Scope)'s to say.

use super::functions::FunctionKind;
use super::{literal, sql};
use crate::schema::{FieldPath, FieldType, Literal, Step};
use crate::time::Span;
use sqlparser::tokenizer::Location;
use std::fmt;

/// A node and where it starts in the text.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    /// What it is.
    pub(super) node: Node,
    /// Its first character.
    pub(super) at: Location,
}

/// What can be said.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    /// A constant.
    Literal(Literal),
    /// A field of the record, or a column of the result, whatever the scope.
    Field(FieldPath),
    /// The result of the call of this number among the aggregate calls of the job, and the call as it was typed.
    Aggregate(usize, String),
    /// `-x`
    Negate(Box<Expr>),
    /// `NOT x`
    Not(Box<Expr>),
    /// A time moved by a number of microseconds.
    Shift(Box<Expr>, i64),
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
        /// To a date: the time at which its day starts.
        day: bool,
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
pub(super) enum Operator {
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

/// The same expression, wherever it was typed.
impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        self.node == other.node
    }
}

impl Node {
    /// What it is made of.
    pub(super) fn parts(&self) -> Vec<&Expr> {
        match self {
            Node::Literal(_) | Node::Field(_) | Node::Aggregate(..) => Vec::new(),
            Node::Negate(x) | Node::Not(x) | Node::IsNull(x) | Node::Is(x, _) | Node::Cast { value: x, .. } => vec![x],
            Node::Shift(x, _) => vec![x],
            Node::Binary(_, a, b) | Node::Like { text: a, pattern: b, .. } => vec![a, b],
            Node::In(x, list) => std::iter::once(x.as_ref()).chain(list).collect(),
            Node::Case { branches, otherwise } => {
                let each = branches.iter().flat_map(|(condition, result)| [condition, result]);
                each.chain(otherwise.as_deref()).collect()
            }
            Node::Coalesce(all) | Node::Call(_, all) => all.iter().collect(),
        }
    }

    /// What it is made of, to be changed.
    pub(super) fn parts_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Node::Literal(_) | Node::Field(_) | Node::Aggregate(..) => Vec::new(),
            Node::Negate(x) | Node::Not(x) | Node::IsNull(x) | Node::Is(x, _) | Node::Cast { value: x, .. } => vec![x],
            Node::Shift(x, _) => vec![x],
            Node::Binary(_, a, b) | Node::Like { text: a, pattern: b, .. } => vec![a, b],
            Node::In(x, list) => std::iter::once(x.as_mut()).chain(list).collect(),
            Node::Case { branches, otherwise } => {
                let each = branches.iter_mut().flat_map(|(condition, result)| [condition, result]);
                each.chain(otherwise.as_deref_mut()).collect()
            }
            Node::Coalesce(all) | Node::Call(_, all) => all.iter_mut().collect(),
        }
    }
}

impl Operator {
    /// As it is typed.
    pub(super) fn sign(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::DivideInteger => "//",
            Operator::Modulo => "%",
            Operator::Concat => "||",
            Operator::Equal => "=",
            Operator::NotEqual => "<>",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
            Operator::Distinct => "IS DISTINCT FROM",
            Operator::NotDistinct => "IS NOT DISTINCT FROM",
            Operator::And => "AND",
            Operator::Or => "OR",
        }
    }

    /// Whether it compares.
    pub(super) fn compares(self) -> bool {
        !self.is_arithmetic() && !matches!(self, Operator::Concat | Operator::And | Operator::Or)
    }

    /// Whether it calculates.
    pub(super) fn is_arithmetic(self) -> bool {
        use Operator::{Add, Divide, DivideInteger, Modulo, Multiply, Subtract};
        matches!(self, Add | Subtract | Multiply | Divide | DivideInteger | Modulo)
    }
}

/// A path as it is typed: odd names in double quotes.
pub(super) fn path_text(path: &FieldPath) -> String {
    let mut text = path.parts().iter().map(|part| sql::quoted(part)).collect::<Vec<_>>().join(".");
    for step in path.inside() {
        match step {
            Step::Index(index) => text.push_str(&format!("[{index}]")),
            Step::Member(name) => text.push_str(&format!(".{}", sql::quoted(name))),
        }
    }
    text
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |all: &[Expr]| all.iter().map(Expr::to_string).collect::<Vec<_>>().join(", ");
        match &self.node {
            Node::Literal(value) => f.write_str(&literal::shown(value)),
            Node::Field(path) => f.write_str(&path_text(path)),
            Node::Aggregate(_, shown) => f.write_str(shown),
            Node::Negate(x) => match Inner(x).to_string() {
                negative if negative.starts_with('-') => write!(f, "-({negative})"),
                positive => write!(f, "-{positive}"),
            },
            Node::Not(x) => write!(f, "NOT {}", Inner(x)),
            Node::Shift(x, by) => {
                let sign = if *by < 0 { '-' } else { '+' };
                write!(f, "{} {sign} INTERVAL '{}'", Inner(x), Span::from_micros(by.saturating_abs()))
            }
            Node::Binary(operator @ (Operator::And | Operator::Or), a, b) => {
                let side = |x: &Expr| match &x.node {
                    Node::Binary(same, ..) if same == operator => x.to_string(),
                    _ => Inner(x).to_string(),
                };
                write!(f, "{} {} {}", side(a), operator.sign(), side(b))
            }
            Node::Binary(operator, a, b) => write!(f, "{} {} {}", Inner(a), operator.sign(), Inner(b)),
            Node::IsNull(x) => write!(f, "{} IS NULL", Inner(x)),
            Node::Is(x, truth) => write!(f, "{} IS {}", Inner(x), if *truth { "TRUE" } else { "FALSE" }),
            Node::In(x, all) => write!(f, "{} IN ({})", Inner(x), list(all)),
            Node::Like { text, pattern, any_case, .. } => {
                write!(f, "{} {} {}", Inner(text), if *any_case { "ILIKE" } else { "LIKE" }, Inner(pattern))
            }
            Node::Case { branches, otherwise } => {
                f.write_str("CASE")?;
                branches.iter().try_for_each(|(when, then)| write!(f, " WHEN {when} THEN {then}"))?;
                otherwise.iter().try_for_each(|x| write!(f, " ELSE {x}"))?;
                f.write_str(" END")
            }
            Node::Cast { value, to, day, or_null } => {
                let ty = if *day { "date".to_owned() } else { to.name() };
                write!(f, "{}CAST({value} AS {ty})", if *or_null { "TRY_" } else { "" })
            }
            Node::Coalesce(all) => write!(f, "coalesce({})", list(all)),
            Node::Call(kind, all) => write!(f, "{}({})", kind.name, list(all)),
        }
    }
}

/// An operand: in brackets where it is made of several words.
struct Inner<'a>(&'a Expr);

impl fmt::Display for Inner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.node {
            Node::Binary(..)
            | Node::Not(_)
            | Node::IsNull(_)
            | Node::Is(..)
            | Node::In(..)
            | Node::Like { .. }
            | Node::Shift(..) => {
                write!(f, "({})", self.0)
            }
            _ => write!(f, "{}", self.0),
        }
    }
}
