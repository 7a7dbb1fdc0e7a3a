//! Trees to typed trees over columns: every error that types can tell is found here.
//!
//! Must not know where columns come from ([`Scope`]) or how values are computed (`eval`).

use super::functions::{self, Argument, FunctionKind, Kernel, Resolved};
use super::scalar::Scope;
use super::set::Set;
use super::sql::Sql;
use super::tree::{Expr, Node, Operator};
use super::{eval, literal};
use crate::error::{Error, Result};
use crate::schema::{FieldPath, FieldType, Literal};
use crate::time::{Ts, Zone};
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::concat;
use arrow::datatypes::TimestampMicrosecondType;
use sqlparser::tokenizer::Location;

/// A step of a computation and the type of what it gives.
pub(super) struct Typed {
    pub(super) step: Step,
    pub(super) ty: FieldType,
}

/// What is done. Operands have the types that the step needs.
pub(super) enum Step {
    /// `NULL`, of any type.
    Null,
    Column(usize),
    /// A column whose type is still to be told: what is bound with one is never computed.
    Open(usize),
    /// One value, as a column of one row, and as it was typed.
    Constant(ArrayRef, Literal),
    Not(Box<Typed>),
    Negate(Box<Typed>),
    IsNull(Box<Typed>),
    Is(Box<Typed>, bool),
    And(Box<Typed>, Box<Typed>),
    Or(Box<Typed>, Box<Typed>),
    Compare(Operator, Box<Typed>, Box<Typed>),
    Arithmetic(Operator, Box<Typed>, Box<Typed>),
    Shift(Box<Typed>, i64),
    In(Box<Typed>, Set),
    Concat(Box<Typed>, Box<Typed>),
    Like {
        text: Box<Typed>,
        pattern: Box<Typed>,
        escape: Option<char>,
        any_case: bool,
    },
    Case {
        branches: Vec<(Typed, Typed)>,
        otherwise: Box<Typed>,
    },
    Coalesce(Vec<Typed>),
    Cast {
        value: Box<Typed>,
        or_null: bool,
    },
    Call {
        arguments: Vec<Typed>,
        kernel: Box<dyn Kernel>,
    },
}

/// Binds the expressions of one text.
pub(super) struct Binder<'a> {
    pub(super) sql: Sql<'a>,
    pub(super) scope: &'a dyn Scope,
    pub(super) zone: &'a Zone,
}

impl Typed {
    fn boxed(self) -> Box<Self> {
        Box::new(self)
    }

    fn is_null(&self) -> bool {
        matches!(self.step, Step::Null)
    }

    fn literal(&self) -> Option<&Literal> {
        match &self.step {
            Step::Constant(_, literal) => Some(literal),
            Step::Null => Some(&Literal::Null),
            _ => None,
        }
    }

    /// Its type; none for `NULL` and for what has any type until the types of columns are told.
    pub(super) fn known(&self) -> Option<FieldType> {
        (!self.is_null() && !self.is_open()).then_some(self.ty)
    }

    /// Whether its type depends on that of a column whose type is still to be told.
    fn is_open(&self) -> bool {
        match &self.step {
            Step::Open(_) => true,
            Step::Coalesce(all) => any_open(all.iter()),
            Step::Case { branches, otherwise } => {
                any_open(branches.iter().map(|(_, result)| result).chain([otherwise.as_ref()]))
            }
            Step::Call { arguments, .. } => arguments.iter().any(Typed::is_open),
            Step::Arithmetic(_, a, b) => a.is_open() || b.is_open(),
            Step::Negate(x) => x.is_open(),
            _ => false,
        }
    }

    /// Calls `f` for each column that is read.
    pub(super) fn columns(&self, f: &mut dyn FnMut(usize)) {
        match &self.step {
            Step::Null | Step::Constant(..) => {}
            Step::Column(column) | Step::Open(column) => f(*column),
            Step::Not(x) | Step::Negate(x) | Step::IsNull(x) | Step::Is(x, _) | Step::In(x, _) => x.columns(f),
            Step::Shift(x, _) | Step::Cast { value: x, .. } => x.columns(f),
            Step::And(a, b) | Step::Or(a, b) | Step::Compare(_, a, b) | Step::Arithmetic(_, a, b) => {
                a.columns(f);
                b.columns(f);
            }
            Step::Concat(a, b) | Step::Like { text: a, pattern: b, .. } => {
                a.columns(f);
                b.columns(f);
            }
            Step::Case { branches, otherwise } => {
                for (condition, result) in branches {
                    condition.columns(f);
                    result.columns(f);
                }
                otherwise.columns(f);
            }
            Step::Coalesce(all) | Step::Call { arguments: all, .. } => all.iter().for_each(|x| x.columns(f)),
        }
    }
}

/// Whether values that may stand for each other are all of any type, and some of a type still to be told.
fn any_open<'a>(mut all: impl Iterator<Item = &'a Typed>) -> bool {
    let mut any = false;
    let mut of_any_type = |value: &Typed| {
        any |= value.is_open();
        value.known().is_none() || matches!(value.literal(), Some(Literal::Text(_)))
    };
    all.all(&mut of_any_type) && any
}

fn constant(value: Literal) -> Typed {
    match literal::type_of(&value) {
        None => Typed { step: Step::Null, ty: FieldType::Text },
        Some(ty) => Typed { step: Step::Constant(eval::one(&value, ty), value), ty },
    }
}

impl Binder<'_> {
    /// Binds an expression.
    pub(super) fn bind(&self, expr: &Expr) -> Result<Typed> {
        let at = expr.at;
        match &expr.node {
            Node::Literal(value) => Ok(constant(value.clone())),
            Node::Field(path) => {
                let (column, ty) = self.scope.field(path).map_err(|error| self.unknown(at, path, &error))?;
                Ok(self.column(column, ty))
            }
            Node::Aggregate(call, _) => {
                let (column, ty) = self.scope.aggregate(*call).map_err(|error| self.placed(at, &error))?;
                Ok(self.column(column, ty))
            }
            Node::Negate(x) => self.negate(x),
            Node::Not(x) => Ok(bool_of(Step::Not(self.truth(x)?.boxed()))),
            Node::IsNull(x) => Ok(bool_of(Step::IsNull(self.bind(x)?.boxed()))),
            Node::Is(x, truth) => Ok(bool_of(Step::Is(self.truth(x)?.boxed(), *truth))),
            Node::Shift(x, by) => self.shift(x, *by),
            Node::Binary(Operator::And, a, b) => Ok(bool_of(Step::And(self.truth(a)?.boxed(), self.truth(b)?.boxed()))),
            Node::Binary(Operator::Or, a, b) => Ok(bool_of(Step::Or(self.truth(a)?.boxed(), self.truth(b)?.boxed()))),
            Node::Binary(Operator::Concat, a, b) => {
                let step = Step::Concat(self.text(a)?.boxed(), self.text(b)?.boxed());
                Ok(Typed { step, ty: FieldType::Text })
            }
            Node::Binary(operator, a, b) if operator.is_arithmetic() => self.arithmetic(*operator, a, b, at),
            Node::Binary(operator, a, b) => self.compare(*operator, self.bind(a)?, self.bind(b)?, (a, b), at),
            Node::In(x, list) => self.is_in(x, list, at),
            Node::Like { text, pattern, escape, any_case } => {
                let (text, pattern) = (self.exactly_text(text)?.boxed(), self.exactly_text(pattern)?.boxed());
                Ok(bool_of(Step::Like { text, pattern, escape: *escape, any_case: *any_case }))
            }
            Node::Case { branches, otherwise } => self.case(branches, otherwise.as_deref()),
            Node::Cast { value, to, day: false, or_null } => self.cast(value, *to, *or_null, at),
            Node::Cast { value, to, day: true, or_null } => self.day(self.cast(value, *to, *or_null, at)?, at),
            Node::Coalesce(all) => {
                let bound = all.iter().map(|x| self.bind(x)).collect::<Result<Vec<_>>>()?;
                let (bound, ty) = self.alike(bound, all.iter().collect())?;
                Ok(Typed { step: Step::Coalesce(bound), ty })
            }
            Node::Call(kind, all) => self.call(kind, all, at),
        }
    }

    fn column(&self, column: usize, ty: FieldType) -> Typed {
        let step = if self.scope.is_open(column) { Step::Open(column) } else { Step::Column(column) };
        Typed { step, ty: ty.in_expressions() }
    }

    /// Tells the scope what the columns of a value are taken as whose types are still to be told.
    pub(super) fn take_as(&self, value: &Typed, ty: FieldType) {
        match &value.step {
            Step::Open(column) => self.scope.taken_as(*column, ty),
            Step::Coalesce(all) => all.iter().for_each(|value| self.take_as(value, ty)),
            Step::Case { branches, otherwise } => {
                branches.iter().for_each(|(_, result)| self.take_as(result, ty));
                self.take_as(otherwise, ty);
            }
            _ => {}
        }
    }

    /// A value of any type as one of this type.
    fn any_as(&self, value: &Typed, ty: FieldType) -> Typed {
        self.take_as(value, ty);
        Typed { step: Step::Null, ty }
    }

    fn error(&self, at: Location, message: impl std::fmt::Display) -> Error {
        self.sql.error(at, message)
    }

    /// An error of the scope, with the place.
    fn placed(&self, at: Location, error: &Error) -> Error {
        let placed =
            if self.sql.text.is_empty() { Error::usage(error.message()) } else { self.error(at, error.message()) };
        match error.hint_text() {
            Some(hint) => placed.hint(hint),
            None => placed,
        }
    }

    /// The error about a name that the scope does not have: in double quotes it may be meant as text.
    fn unknown(&self, at: Location, path: &FieldPath, error: &Error) -> Error {
        let placed = self.placed(at, error);
        if !self.sql.is_quoted(at) {
            return placed;
        }
        literal::or_text(placed, &literal::shown(&Literal::Text(path.name())))
    }

    /// A condition.
    pub(super) fn truth(&self, expr: &Expr) -> Result<Typed> {
        let bound = self.bind(expr)?;
        match bound.known() {
            None => Ok(self.any_as(&bound, FieldType::Bool)),
            Some(FieldType::Bool) => Ok(bound),
            Some(ty) => Err(self
                .error(expr.at, format!("expected a condition, but {expr} is {}", named(ty)))
                .hint("a condition is true or false: amount > 0; text stands in single quotes, names in double ones")),
        }
    }

    /// Anything as text: numbers and times are written out.
    fn text(&self, expr: &Expr) -> Result<Typed> {
        let bound = self.bind(expr)?;
        self.convert(bound, FieldType::Text, expr)
    }

    /// A text, and nothing else.
    fn exactly_text(&self, expr: &Expr) -> Result<Typed> {
        let bound = self.bind(expr)?;
        match bound.known() {
            None => Ok(self.any_as(&bound, FieldType::Text)),
            Some(FieldType::Text) => Ok(bound),
            Some(ty) => Err(self
                .error(expr.at, format!("expected a text, but {expr} is {}", named(ty)))
                .hint(format!("CAST({expr} AS text) writes it out"))),
        }
    }

    fn number(&self, expr: &Expr) -> Result<Typed> {
        let bound = self.bind(expr)?;
        match bound.known() {
            None => {
                self.take_as(&bound, FieldType::Int);
                Ok(Typed { ty: FieldType::Int, ..bound })
            }
            Some(ty) if ty.is_number() => Ok(bound),
            Some(ty) => Err(self.no_number(expr, ty)),
        }
    }

    fn no_number(&self, expr: &Expr, ty: FieldType) -> Error {
        let error = self.error(expr.at, format!("expected a number, but {expr} is {}", named(ty)));
        match ty {
            FieldType::Time => {
                error.hint(format!("epoch({expr}) is its seconds since 1970; INTERVAL 5 MINUTE moves a time"))
            }
            FieldType::Text => {
                error.hint(format!("TRY_CAST({expr} AS double) reads it as one; || puts texts together"))
            }
            _ => error,
        }
    }

    fn negate(&self, x: &Expr) -> Result<Typed> {
        let bound = self.number(x)?;
        let ty = bound.ty;
        Ok(Typed { step: Step::Negate(bound.boxed()), ty })
    }

    fn shift(&self, x: &Expr, by: i64) -> Result<Typed> {
        let bound = self.bind(x)?;
        match bound.known() {
            None => Ok(self.any_as(&bound, FieldType::Time)),
            Some(FieldType::Time) => Ok(Typed { step: Step::Shift(bound.boxed(), by), ty: FieldType::Time }),
            Some(ty) => Err(self
                .error(x.at, format!("an interval is added to a time, but {x} is {}", named(ty)))
                .hint(format!("{} makes a time of it", as_time(x, ty)))),
        }
    }

    fn arithmetic(&self, operator: Operator, a: &Expr, b: &Expr, at: Location) -> Result<Typed> {
        let (left, right) = (self.number(a)?, self.number(b)?);
        let ty = arithmetic_type(operator, left.ty, right.ty);
        let operand = |bound: Typed, expr: &Expr| match ty {
            // Each decimal keeps its own scale.
            FieldType::Decimal { .. } if bound.ty != FieldType::Int => Ok(bound),
            FieldType::Decimal { .. } => self.convert(bound, FieldType::Decimal { precision: 19, scale: 0 }, expr),
            _ => self.convert(bound, if operator == Operator::Divide { FieldType::Double } else { ty }, expr),
        };
        if let FieldType::Decimal { scale: 39.., .. } = ty {
            return Err(self
                .error(at, "a product of decimals has 38 digits at most")
                .hint("CAST one of them AS double"));
        }
        let step = Step::Arithmetic(operator, operand(left, a)?.boxed(), operand(right, b)?.boxed());
        Ok(Typed { step, ty })
    }

    fn compare(&self, operator: Operator, a: Typed, b: Typed, typed: (&Expr, &Expr), at: Location) -> Result<Typed> {
        let ty = self.common(&a, &b, typed.0, typed.1, at)?;
        let (a, b) = (self.convert(a, ty, typed.0)?, self.convert(b, ty, typed.1)?);
        Ok(bool_of(Step::Compare(operator, a.boxed(), b.boxed())))
    }

    /// The type in which two values are compared.
    fn common(&self, a: &Typed, b: &Typed, left: &Expr, right: &Expr, at: Location) -> Result<FieldType> {
        match (a.known(), b.known()) {
            (None, _) => Ok(b.ty),
            (_, None) => Ok(a.ty),
            (Some(a), Some(b)) if a == b => Ok(a),
            // A constant that a decimal column can hold leaves the column as it is.
            (Some(ty @ FieldType::Decimal { .. }), Some(_)) if b.literal().is_some_and(|b| holds(ty, b)) => Ok(ty),
            (Some(_), Some(ty @ FieldType::Decimal { .. })) if a.literal().is_some_and(|a| holds(ty, a)) => Ok(ty),
            (Some(a), Some(b)) if a.is_number() && b.is_number() => Ok(a.unify(b)),
            (Some(FieldType::Text), Some(ty)) if matches!(a.literal(), Some(Literal::Text(_))) => Ok(ty),
            (Some(ty), Some(FieldType::Text)) if matches!(b.literal(), Some(Literal::Text(_))) => Ok(ty),
            (Some(a), Some(b)) => {
                let what = format!("{left} is {}, and {right} is {}", named(a), named(b));
                Err(self.error(at, what).hint(match (a, b) {
                    (FieldType::Text, _) => format!("TRY_CAST({left} AS {}) reads the text", b.name()),
                    (_, FieldType::Text) => format!("TRY_CAST({right} AS {}) reads the text", a.name()),
                    _ => format!("CAST({left} AS {}) makes them alike", b.name()),
                }))
            }
        }
    }

    /// Values that may stand for each other, all of one type.
    fn alike(&self, bound: Vec<Typed>, typed: Vec<&Expr>) -> Result<(Vec<Typed>, FieldType)> {
        let mut ty: Option<usize> = None;
        let mut common = FieldType::Text;
        for (i, value) in bound.iter().enumerate().filter(|(_, value)| value.known().is_some()) {
            common = match ty {
                None => value.ty,
                Some(_) if common == value.ty => common,
                Some(_) if common.is_number() && value.ty.is_number() => common.unify(value.ty),
                Some(first) => self.common(&bound[first], value, typed[first], typed[i], typed[i].at)?,
            };
            ty = ty.filter(|first| !matches!(bound[*first].literal(), Some(Literal::Text(_)))).or(Some(i));
        }
        let each = bound.into_iter().zip(typed).map(|(value, expr)| self.convert(value, common, expr));
        Ok((each.collect::<Result<_>>()?, common))
    }

    fn is_in(&self, x: &Expr, list: &[Expr], at: Location) -> Result<Typed> {
        let bound = std::iter::once(x).chain(list).map(|x| self.bind(x)).collect::<Result<Vec<_>>>()?;
        let (mut bound, ty) = self.alike(bound, std::iter::once(x).chain(list).collect())?;
        let mut constants = Vec::new();
        let mut any = Vec::new();
        for (value, item) in bound.drain(1..).zip(list) {
            match self.constant(&value, ty)? {
                Some(constant) => constants.push(constant),
                None => any.push(self.compare(Operator::Equal, self.bind(x)?, value, (x, item), item.at)?),
            }
        }
        let constants: Vec<&dyn Array> = constants.iter().map(AsRef::as_ref).collect();
        if !constants.is_empty() {
            let all = concat(&constants).map_err(|e| self.error(at, format!("IN: {e}")))?;
            let value = bound.pop().ok_or_else(|| self.error(at, "IN takes a value"))?;
            any.push(bool_of(Step::In(value.boxed(), Set::of(&all))));
        }
        any_of(any).ok_or_else(|| self.error(at, "IN takes at least one value"))
    }

    /// The value of a constant that does not fail, as a column of one row.
    fn constant(&self, value: &Typed, ty: FieldType) -> Result<Option<ArrayRef>> {
        let mut is_constant = true;
        value.columns(&mut |_| is_constant = false);
        if !is_constant || matches!(ty, FieldType::List(_)) {
            return Ok(None);
        }
        let computed = eval::evaluate(value, &eval::Input { columns: &[], rows: 1, zone: self.zone })?;
        Ok(computed.failures.is_empty().then_some(computed.array))
    }

    fn case(&self, branches: &[(Expr, Expr)], otherwise: Option<&Expr>) -> Result<Typed> {
        let conditions = branches.iter().map(|(condition, _)| self.truth(condition)).collect::<Result<Vec<_>>>()?;
        let mut results = branches.iter().map(|(_, result)| self.bind(result)).collect::<Result<Vec<_>>>()?;
        let mut typed: Vec<&Expr> = branches.iter().map(|(_, result)| result).collect();
        if let Some(otherwise) = otherwise {
            results.push(self.bind(otherwise)?);
            typed.push(otherwise);
        }
        let (mut results, ty) = self.alike(results, typed)?;
        let last = if otherwise.is_some() { results.pop() } else { None };
        let otherwise = last.unwrap_or(Typed { step: Step::Null, ty }).boxed();
        Ok(Typed { step: Step::Case { branches: conditions.into_iter().zip(results).collect(), otherwise }, ty })
    }

    fn cast(&self, value: &Expr, to: FieldType, or_null: bool, at: Location) -> Result<Typed> {
        let bound = self.bind(value)?;
        if bound.is_open() {
            return Ok(Typed { step: Step::Cast { value: bound.boxed(), or_null }, ty: to });
        }
        if bound.is_null() || bound.ty == to {
            return Ok(Typed { ty: to, ..bound });
        }
        if let (Some(Literal::Text(text)), FieldType::Time, false) = (bound.literal(), to, or_null) {
            return self.time(text, at);
        }
        if !eval::can_cast(bound.ty, to) {
            let error = self.error(at, format!("{value} is {}, which cannot become {}", named(bound.ty), named(to)));
            return Err(match to {
                FieldType::Time => error.hint(format!("to_timestamp({value}) takes seconds since 1970")),
                _ => error.hint(format!("epoch({value}) is its seconds since 1970")),
            });
        }
        Ok(Typed { step: Step::Cast { value: bound.boxed(), or_null }, ty: to })
    }

    /// A time that was written: it is read once.
    fn time(&self, text: &str, at: Location) -> Result<Typed> {
        let ts = literal::time(text, self.zone).ok_or_else(|| {
            self.error(at, format!("expected a time, found '{text}'")).hint("TIMESTAMP '2026-01-31 12:00:00'")
        })?;
        Ok(constant(Literal::Time(ts)))
    }

    /// The start of a time's day.
    fn day(&self, time: Typed, at: Location) -> Result<Typed> {
        let Some(kind) = functions::find("date_trunc") else { return Err(self.error(at, "there are no dates")) };
        let unit = constant(Literal::Text("day".to_owned()));
        let resolved = self.resolved(kind, &[&unit, &time], at)?;
        let start =
            Typed { step: Step::Call { arguments: vec![unit, time], kernel: resolved.kernel }, ty: resolved.gives };
        let constant = self.constant(&start, FieldType::Time)?;
        Ok(match constant.as_ref().and_then(|time| time.as_primitive_opt::<TimestampMicrosecondType>()) {
            Some(time) if time.is_valid(0) => self::constant(Literal::Time(Ts::from_micros(time.value(0)))),
            _ => start,
        })
    }

    fn resolved(&self, kind: &'static FunctionKind, bound: &[&Typed], at: Location) -> Result<Resolved> {
        let arguments: Vec<Argument<'_>> =
            bound.iter().map(|x| Argument { ty: x.known(), literal: x.literal() }).collect();
        (kind.resolve)(&arguments, self.zone)
            .map_err(|what| self.error(at, format!("{} {what}", kind.name)).hint(format!("write {}", kind.usage)))
    }

    fn call(&self, kind: &'static FunctionKind, all: &[Expr], at: Location) -> Result<Typed> {
        let bound = all.iter().map(|x| self.bind(x)).collect::<Result<Vec<_>>>()?;
        let resolved = self.resolved(kind, &bound.iter().collect::<Vec<_>>(), at)?;
        let each = bound.into_iter().zip(all).zip(resolved.takes);
        let arguments = each.map(|((value, expr), ty)| self.convert(value, ty, expr)).collect::<Result<_>>()?;
        Ok(Typed { step: Step::Call { arguments, kernel: resolved.kernel }, ty: resolved.gives })
    }

    /// A value as another type, where that goes without saying.
    fn convert(&self, value: Typed, to: FieldType, expr: &Expr) -> Result<Typed> {
        use FieldType::{Decimal, Double, Int, Text};
        if value.known().is_none() {
            self.take_as(&value, to);
            return Ok(Typed { ty: to, ..value });
        }
        if value.ty == to {
            return Ok(value);
        }
        match (&value.step, value.ty, to) {
            (Step::Constant(_, Literal::Text(text)), Text, to) => {
                let read = eval::read(text, to, self.zone).map_err(|_| {
                    self.error(expr.at, format!("expected {}, found '{text}'", named(to)))
                        .hint(format!("it stands beside {}, so it has to read as one", named(to)))
                })?;
                Ok(Typed { step: Step::Constant(read, Literal::Text(text.clone())), ty: to })
            }
            (_, Int | Decimal { .. }, Double) | (_, Int | Decimal { .. }, Decimal { .. }) | (_, _, Text) => {
                Ok(Typed { step: Step::Cast { value: value.boxed(), or_null: false }, ty: to })
            }
            (_, from, to) => Err(self
                .error(expr.at, format!("expected {}, but {expr} is {}", named(to), named(from)))
                .hint(format!("CAST({expr} AS {}) makes it one", to.name()))),
        }
    }
}

/// Whether one of several conditions is true, in a tree that is not deep.
fn any_of(mut all: Vec<Typed>) -> Option<Typed> {
    while all.len() > 1 {
        let mut pairs = Vec::with_capacity(all.len().div_ceil(2));
        let mut rest = all.into_iter();
        while let Some(a) = rest.next() {
            pairs.push(match rest.next() {
                Some(b) => bool_of(Step::Or(a.boxed(), b.boxed())),
                None => a,
            });
        }
        all = pairs;
    }
    all.pop()
}

/// Whether a constant is a value of a decimal type as it stands.
fn holds(ty: FieldType, literal: &Literal) -> bool {
    match (ty, literal::type_of(literal)) {
        (FieldType::Decimal { precision, scale }, Some(FieldType::Decimal { precision: p, scale: s })) => {
            s <= scale && i16::from(p) - i16::from(s) <= i16::from(precision) - i16::from(scale)
        }
        (FieldType::Decimal { precision, scale }, Some(FieldType::Int)) => {
            literal::shown(literal).trim_start_matches('-').len() as i16 <= i16::from(precision) - i16::from(scale)
        }
        _ => false,
    }
}

/// What makes a time of a value.
fn as_time(x: &Expr, ty: FieldType) -> String {
    if ty.is_number() { format!("to_timestamp({x})") } else { format!("CAST({x} AS timestamp)") }
}

fn bool_of(step: Step) -> Typed {
    Typed { step, ty: FieldType::Bool }
}

/// A type with its article.
fn named(ty: FieldType) -> String {
    match ty {
        FieldType::Text => "text".to_owned(),
        FieldType::List(_) => format!("a list ({})", ty.name()),
        other => format!("a {}", other.name()),
    }
}

/// The type that arithmetic gives: DuckDB's rules, and at most 38 digits.
fn arithmetic_type(operator: Operator, a: FieldType, b: FieldType) -> FieldType {
    use FieldType::{Decimal, Double, Int};
    let digits = |ty: FieldType| match ty {
        Decimal { precision, scale } => (i16::from(precision), i16::from(scale)),
        _ => (19, 0),
    };
    match (operator, a, b) {
        (Operator::Divide, ..) | (_, Double, _) | (_, _, Double) => Double,
        (_, Int, Int) => Int,
        (Operator::DivideInteger, ..) => Double,
        _ => {
            let ((p, s), (q, t)) = (digits(a), digits(b));
            let scale = if operator == Operator::Multiply { s + t } else { s.max(t) };
            let precision = match operator {
                Operator::Multiply => p + q,
                Operator::Modulo => p.max(q),
                _ => (p - s).max(q - t) + scale + 1,
            };
            Decimal { precision: precision.clamp(1, 38) as u8, scale: scale as i8 }
        }
    }
}
