//! The SQL parser's syntax trees to ours: what is supported, and words for what is not.
//!
//! Must not know types or columns. Names of functions and aggregates, and how many arguments they take, are judged
//! here; whether the arguments fit is the binder's to say.

use super::functions;
use super::sql::{PATTERNS, Sql, field};
use super::tree::{Expr, Node, Operator};
use super::{Call, Scalar, declare, literal, unknown};
use crate::aggregate::{self, Named, Takes};
use crate::error::{Error, Result};
use crate::schema::{FieldPath, FieldType, Literal, Step};
use crate::time::Span;
use sqlparser::ast::{
    AccessExpr, BinaryOperator, CaseWhen, CastKind, CeilFloorKind, DuplicateTreatment, Expr as Ast, Function,
    FunctionArg, FunctionArgExpr, FunctionArguments, InTarget, Interval, Subscript, TrimWhereField, UnaryOperator,
    Value,
};
use sqlparser::tokenizer::Location;

/// Makes trees, and gathers the aggregate calls in them.
pub(super) struct Parse<'a> {
    /// The text.
    pub(super) sql: Sql<'a>,
    /// Where aggregate calls go; none where they cannot stand.
    calls: Option<&'a mut Vec<Call>>,
    depth: usize,
}

/// How deep trees may be: they are gone through by functions that call themselves, also in threads of little stack.
const DEPTH: usize = 100;

impl<'a> Parse<'a> {
    /// For text in which aggregate calls cannot stand.
    pub(super) fn of(sql: Sql<'a>) -> Self {
        Self { sql, calls: None, depth: 0 }
    }

    /// For text whose aggregate calls are gathered.
    pub(super) fn gathering(sql: Sql<'a>, calls: &'a mut Vec<Call>) -> Self {
        Self { sql, calls: Some(calls), depth: 0 }
    }

    /// The tree of an expression that starts at `start`, if the parser does not know better.
    pub(super) fn expr(&mut self, ast: &Ast, start: Location) -> Result<Expr> {
        let at = self.sql.place(ast, start);
        if self.depth == DEPTH {
            return Err(self.sql.error(at, "nested too deeply"));
        }
        self.depth += 1;
        let node = self.node(ast, at);
        self.depth -= 1;
        Ok(Expr { node: node?, at })
    }

    fn boxed(&mut self, ast: &Ast, at: Location) -> Result<Box<Expr>> {
        self.expr(ast, at).map(Box::new)
    }

    fn node(&mut self, ast: &Ast, at: Location) -> Result<Node> {
        if let Some(parts) = field(ast) {
            if let [name] = &parts[..]
                && !self.sql.is_quoted(at)
            {
                unknown::no_clock(self.sql, name, at)?;
            }
            return Ok(Node::Field(FieldPath::new(parts)));
        }
        match ast {
            Ast::Nested(inner) => self.node(inner, at),
            Ast::Value(value) => literal::of(self.sql, &value.value, at).map(Node::Literal),
            Ast::TypedString(typed) => {
                let (to, day) = declare::type_of(self.sql, &typed.data_type.to_string(), at)?;
                let text = literal::of(self.sql, &typed.value.value, at)?;
                let value = Box::new(Expr { node: Node::Literal(text), at });
                Ok(Node::Cast { value, to, day, or_null: false })
            }
            Ast::UnaryOp { op, expr } => self.unary(op, expr, at),
            Ast::BinaryOp { left, op, right } => self.binary(left, op, right, at),
            Ast::IsNull(x) | Ast::IsUnknown(x) => Ok(Node::IsNull(self.boxed(x, at)?)),
            Ast::IsNotNull(x) | Ast::IsNotUnknown(x) => Ok(not(Node::IsNull(self.boxed(x, at)?), at)),
            Ast::IsTrue(x) => Ok(Node::Is(self.boxed(x, at)?, true)),
            Ast::IsNotTrue(x) => Ok(not(Node::Is(self.boxed(x, at)?, true), at)),
            Ast::IsFalse(x) => Ok(Node::Is(self.boxed(x, at)?, false)),
            Ast::IsNotFalse(x) => Ok(not(Node::Is(self.boxed(x, at)?, false), at)),
            Ast::IsDistinctFrom(a, b) => self.pair(Operator::Distinct, a, b, at),
            Ast::IsNotDistinctFrom(a, b) => self.pair(Operator::NotDistinct, a, b, at),
            Ast::In { expr, target: InTarget::List(list), negated, global: false } => {
                let all = std::iter::once(expr.as_ref()).chain(list).map(|item| self.expr(item, at));
                let mut all = with_dates(all.collect::<Result<_>>()?);
                let first = Box::new(all.remove(0));
                Ok(negated_if(*negated, Node::In(first, all), at))
            }
            Ast::Between { expr, negated, low, high } => self.between(expr, *negated, low, high, at),
            Ast::Like { negated, any: false, expr, pattern, escape_char } => {
                self.like(expr, pattern, escape_char.as_deref(), *negated, false, at)
            }
            Ast::ILike { negated, any: false, expr, pattern, escape_char } => {
                self.like(expr, pattern, escape_char.as_deref(), *negated, true, at)
            }
            Ast::Case { operand, conditions, else_result, .. } => {
                self.case(operand.as_deref(), conditions, else_result.as_deref(), at)
            }
            Ast::Cast { kind, expr, data_type, format: None } => {
                let (to, day) = declare::type_of(self.sql, &data_type.to_string(), at)?;
                let or_null = matches!(kind, CastKind::TryCast | CastKind::SafeCast);
                Ok(Node::Cast { value: self.boxed(expr, at)?, to, day, or_null })
            }
            Ast::CompoundFieldAccess { root, access_chain } => self.access(root, access_chain, at),
            Ast::Function(function) => self.function(function, at),
            other => self.spelled(other, at),
        }
    }

    /// Functions that SQL spells in a way of its own.
    fn spelled(&mut self, ast: &Ast, at: Location) -> Result<Node> {
        match ast {
            Ast::Extract { field, expr, .. } => {
                let unit = field.to_string().to_lowercase().trim_matches('\'').to_owned();
                let unit = Expr { node: Node::Literal(Literal::Text(unit)), at };
                let value = self.expr(expr, at)?;
                self.call("date_part", vec![unit, value], at)
            }
            Ast::Ceil { expr, field } if is_plain(field) => self.call_over("ceil", &[expr], at),
            Ast::Floor { expr, field } if is_plain(field) => self.call_over("floor", &[expr], at),
            Ast::Position { expr, r#in } => self.call_over("strpos", &[r#in, expr], at),
            Ast::Substring { expr, substring_from, substring_for, .. } => {
                let mut all = vec![expr.as_ref()];
                all.extend(substring_from.as_deref());
                all.extend(substring_for.as_deref());
                self.call_over("substr", &all, at)
            }
            Ast::Trim { expr, trim_where, trim_what, trim_characters } => {
                let name = match trim_where {
                    Some(TrimWhereField::Leading) => "ltrim",
                    Some(TrimWhereField::Trailing) => "rtrim",
                    _ => "trim",
                };
                let mut all = vec![expr.as_ref()];
                all.extend(trim_what.as_deref());
                all.extend(trim_characters.iter().flatten());
                self.call_over(name, &all, at)
            }
            Ast::Interval(_) => Err(self
                .sql
                .error(at, "an interval is no value of its own")
                .hint("add it to a time or take it off: ts + INTERVAL 5 MINUTE")),
            Ast::RLike { .. } | Ast::SimilarTo { .. } => {
                Err(self.sql.error(at, "this is SQL that windrow does not know").hint(PATTERNS))
            }
            _ => Err(self.unsupported(at)),
        }
    }

    fn unsupported(&self, at: Location) -> Error {
        self.sql
            .error(at, "this is SQL that windrow does not know")
            .hint("windrow-window(1) lists operators and functions; an odd name goes in double quotes: \"user-agent\"")
    }

    fn unary(&mut self, op: &UnaryOperator, x: &Ast, at: Location) -> Result<Node> {
        match op {
            UnaryOperator::Not => Ok(Node::Not(self.boxed(x, at)?)),
            UnaryOperator::Plus => self.node(x, at),
            UnaryOperator::Minus => match self.expr(x, at)?.node {
                Node::Literal(number) => Ok(match literal::negated(&number) {
                    Some(negative) => Node::Literal(negative),
                    None => Node::Negate(Box::new(Expr { node: Node::Literal(number), at })),
                }),
                node => Ok(Node::Negate(Box::new(Expr { node, at }))),
            },
            _ => Err(self.unsupported(at)),
        }
    }

    fn binary(&mut self, left: &Ast, op: &BinaryOperator, right: &Ast, at: Location) -> Result<Node> {
        let operator = match op {
            BinaryOperator::Plus | BinaryOperator::Minus if matches!(right, Ast::Interval(_)) => {
                return self.shifted(left, *op == BinaryOperator::Minus, right, at);
            }
            BinaryOperator::Plus => Operator::Add,
            BinaryOperator::Minus => Operator::Subtract,
            BinaryOperator::Multiply => Operator::Multiply,
            BinaryOperator::Divide => Operator::Divide,
            BinaryOperator::DuckIntegerDivide | BinaryOperator::MyIntegerDivide => Operator::DivideInteger,
            BinaryOperator::Modulo => Operator::Modulo,
            BinaryOperator::StringConcat => Operator::Concat,
            BinaryOperator::Eq => Operator::Equal,
            BinaryOperator::NotEq => Operator::NotEqual,
            BinaryOperator::Lt => Operator::Less,
            BinaryOperator::LtEq => Operator::LessOrEqual,
            BinaryOperator::Gt => Operator::Greater,
            BinaryOperator::GtEq => Operator::GreaterOrEqual,
            BinaryOperator::And => return self.chain(Operator::And, op, left, right, at),
            BinaryOperator::Or => return self.chain(Operator::Or, op, left, right, at),
            BinaryOperator::Arrow => return self.call_over("json_extract", &[left, right], at),
            BinaryOperator::LongArrow => return self.call_over("json_extract_string", &[left, right], at),
            BinaryOperator::PGRegexMatch => return self.call_over("regexp_full_match", &[left, right], at),
            _ => return Err(self.unsupported(at)),
        };
        self.pair(operator, left, right, at)
    }

    fn pair(&mut self, operator: Operator, left: &Ast, right: &Ast, at: Location) -> Result<Node> {
        let mut both = vec![self.expr(left, at)?, self.expr(right, at)?];
        if operator.compares() {
            both = with_dates(both);
        }
        match <[Expr; 2]>::try_from(both) {
            Ok([left, right]) => Ok(Node::Binary(operator, Box::new(left), Box::new(right))),
            Err(_) => Err(self.unsupported(at)),
        }
    }

    /// `a AND b AND c AND d`, which the parser nests to the left, as a tree that is not deep.
    fn chain(
        &mut self,
        operator: Operator,
        op: &BinaryOperator,
        left: &Ast,
        right: &Ast,
        at: Location,
    ) -> Result<Node> {
        let mut operands = vec![right];
        let mut first = left;
        while let Ast::BinaryOp { left, op: same, right } = first
            && same == op
        {
            operands.push(right);
            first = left;
        }
        operands.push(first);
        let mut all = operands.into_iter().rev().map(|ast| self.expr(ast, at)).collect::<Result<Vec<_>>>()?;
        while all.len() > 2 {
            let mut pairs = Vec::with_capacity(all.len().div_ceil(2));
            let mut rest = all.into_iter();
            while let Some(a) = rest.next() {
                pairs.push(match rest.next() {
                    Some(b) => Expr { at: a.at, node: Node::Binary(operator, Box::new(a), Box::new(b)) },
                    None => a,
                });
            }
            all = pairs;
        }
        match <[Expr; 2]>::try_from(all) {
            Ok([a, b]) => Ok(Node::Binary(operator, Box::new(a), Box::new(b))),
            Err(_) => Err(self.unsupported(at)),
        }
    }

    /// `x + INTERVAL ...`
    fn shifted(&mut self, left: &Ast, back: bool, interval: &Ast, at: Location) -> Result<Node> {
        let Ast::Interval(interval) = interval else { return Err(self.unsupported(at)) };
        let micros = self.length(interval, at)?;
        Ok(Node::Shift(self.boxed(left, at)?, if back { micros.saturating_neg() } else { micros }))
    }

    fn length(&self, interval: &Interval, at: Location) -> Result<i64> {
        let (sign, value) = match interval.value.as_ref() {
            Ast::UnaryOp { op: UnaryOperator::Minus, expr } => ("-", expr.as_ref()),
            Ast::UnaryOp { op: UnaryOperator::Plus, expr } => ("", expr.as_ref()),
            value => ("", value),
        };
        let number = match value {
            Ast::Value(value) => match &value.value {
                Value::Number(number, _) => format!("{sign}{number}"),
                other => other.clone().into_string().unwrap_or_default(),
            },
            _ => return Err(self.sql.error(at, "the length of an interval is a constant")),
        };
        let unit = interval.leading_field.as_ref().map(|unit| format!(" {}", unit.to_string().to_lowercase()));
        let text = format!("{number}{}", unit.unwrap_or_default());
        Span::parse_signed(&text).map(|span| span.micros()).map_err(|error| match Span::is_too_long(&text) {
            true => self.sql.error(at, error.message().replace("a duration", "an interval")),
            false => self
                .sql
                .error(at, format!("expected an interval of a fixed length, found \"{text}\""))
                .hint("INTERVAL '90 seconds', INTERVAL 5 MINUTE, INTERVAL 1 DAY; months have no fixed length"),
        })
    }

    fn between(&mut self, x: &Ast, negated: bool, low: &Ast, high: &Ast, at: Location) -> Result<Node> {
        let least = Expr { node: self.pair(Operator::GreaterOrEqual, x, low, at)?, at };
        let most = Expr { node: self.pair(Operator::LessOrEqual, x, high, at)?, at };
        Ok(negated_if(negated, Node::Binary(Operator::And, Box::new(least), Box::new(most)), at))
    }

    fn like(
        &mut self,
        x: &Ast,
        pattern: &Ast,
        escape: Option<&Ast>,
        negated: bool,
        any_case: bool,
        at: Location,
    ) -> Result<Node> {
        let escape = match escape {
            None => None,
            Some(ast) => match self.node(ast, at)? {
                Node::Literal(Literal::Text(text)) if text.chars().count() == 1 => text.chars().next(),
                _ => return Err(self.sql.error(self.sql.place(ast, at), "ESCAPE takes one character in quotes")),
            },
        };
        let (text, pattern) = (self.boxed(x, at)?, self.boxed(pattern, at)?);
        Ok(negated_if(negated, Node::Like { text, pattern, escape, any_case }, at))
    }

    fn case(
        &mut self,
        operand: Option<&Ast>,
        conditions: &[CaseWhen],
        otherwise: Option<&Ast>,
        at: Location,
    ) -> Result<Node> {
        let mut branches = Vec::with_capacity(conditions.len());
        for CaseWhen { condition, result } in conditions {
            let condition = match operand {
                None => self.expr(condition, at)?,
                Some(operand) => Expr { node: self.pair(Operator::Equal, operand, condition, at)?, at },
            };
            branches.push((condition, self.expr(result, at)?));
        }
        let otherwise = otherwise.map(|x| self.boxed(x, at)).transpose()?;
        Ok(Node::Case { branches, otherwise })
    }

    /// `items[0].sku`
    fn access(&mut self, root: &Ast, chain: &[AccessExpr], at: Location) -> Result<Node> {
        let Some(mut parts) = field(root) else { return Err(self.unsupported(at)) };
        let mut inside = Vec::new();
        for access in chain {
            match access {
                AccessExpr::Dot(Ast::Identifier(name)) if inside.is_empty() => parts.push(name.value.clone()),
                AccessExpr::Dot(Ast::Identifier(name)) => inside.push(Step::Member(name.value.clone())),
                AccessExpr::Subscript(Subscript::Index { index }) => match self.expr(index, at)?.node {
                    Node::Literal(Literal::Int(index)) => inside.push(Step::Index(index)),
                    Node::Literal(Literal::Text(name)) if inside.is_empty() => parts.push(name),
                    Node::Literal(Literal::Text(name)) => inside.push(Step::Member(name)),
                    _ => {
                        let error = self.sql.error(at, "an index is a whole number, from 0");
                        return Err(error.hint("items[0] is the first element, items[-1] the last"));
                    }
                },
                _ => return Err(self.unsupported(at)),
            }
        }
        Ok(Node::Field(FieldPath::new(parts).into_array(inside)))
    }

    fn function(&mut self, function: &Function, at: Location) -> Result<Node> {
        let name = function.name.to_string();
        let FunctionArguments::List(list) = &function.args else { return Err(self.unsupported(at)) };
        let bare = function.within_group.is_empty() && function.null_treatment.is_none() && function.over.is_none();
        if !bare || !list.clauses.is_empty() || function.parameters != FunctionArguments::None {
            return Err(self
                .sql
                .error(at, format!("{} takes no OVER, ORDER BY, WITHIN GROUP or IGNORE NULLS", name.to_lowercase()))
                .hint("first, last and array_agg go by event time; windows are what windrow's flags say"));
        }
        let distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
        if let Some(named) = aggregate::find(&name) {
            return self.aggregate(&named, &list.args, distinct, function.filter.as_deref(), at);
        }
        if distinct || function.filter.is_some() {
            return Err(self.sql.error(at, format!("{name} is no aggregate, so DISTINCT and FILTER mean nothing")));
        }
        // A misspelt count(*) is an unknown name, whatever its arguments.
        if functions::find(&name).is_none() && !is_coalesce(&name) {
            return Err(unknown::function(self.sql, &name, at));
        }
        let mut arguments = Vec::new();
        for argument in &list.args {
            match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(ast)) => arguments.push(self.expr(ast, at)?),
                _ => return Err(self.unsupported(at)),
            }
        }
        self.call(&name, arguments, at)
    }

    fn call_over(&mut self, name: &str, arguments: &[&Ast], at: Location) -> Result<Node> {
        let arguments = arguments.iter().map(|ast| self.expr(ast, at)).collect::<Result<_>>()?;
        self.call(name, arguments, at)
    }

    fn call(&self, name: &str, arguments: Vec<Expr>, at: Location) -> Result<Node> {
        if is_coalesce(name) {
            return match arguments.is_empty() {
                true => Err(self
                    .sql
                    .error(at, "coalesce takes at least one argument, found 0")
                    .hint("write coalesce(x, y)")),
                false => Ok(Node::Coalesce(arguments)),
            };
        }
        let Some(kind) = functions::find(name) else { return Err(unknown::function(self.sql, name, at)) };
        if arguments.len() < kind.least || arguments.len() > kind.most {
            let found = arguments.len();
            return Err(self
                .sql
                .error(at, format!("{} takes {}, found {found}", kind.name, counted(kind.least, kind.most)))
                .hint(format!("write {}", kind.usage)));
        }
        Ok(Node::Call(kind, arguments))
    }

    /// A call of an aggregate: one of the job's, if it is not among them yet.
    fn aggregate(
        &mut self,
        named: &Named,
        arguments: &[FunctionArg],
        distinct: bool,
        filter: Option<&Ast>,
        at: Location,
    ) -> Result<Node> {
        let Some(calls) = self.calls.take() else {
            return Err(self
                .sql
                .error(at, format!("{} is an aggregate, which cannot stand here", named.kind.name))
                .hint("aggregates stand in --agg, --having and --order-by, and not within each other"));
        };
        let call = self.aggregate_call(named, arguments, distinct, filter, at);
        let index = call.map(|call| match calls.iter().position(|known| known.same(&call)) {
            Some(index) => index,
            None => {
                calls.push(call);
                calls.len() - 1
            }
        });
        let node = index.map(|index| Node::Aggregate(index, calls[index].shown.clone()));
        self.calls = Some(calls);
        node
    }

    fn aggregate_call(
        &mut self,
        named: &Named,
        arguments: &[FunctionArg],
        distinct: bool,
        filter: Option<&Ast>,
        at: Location,
    ) -> Result<Call> {
        let kind = named.kind;
        let usage = || format!("write {}", kind.usage);
        let rows = match arguments {
            [] | [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)] => kind.rows,
            _ => false,
        };
        let given: &[FunctionArg] = if rows { &[] } else { arguments };
        if rows && distinct {
            return Err(self.sql.error(at, "DISTINCT needs a field").hint(usage()));
        }
        if distinct && !kind.distinct {
            return Err(self.sql.error(at, format!("{} does not take DISTINCT", kind.name)).hint(usage()));
        }
        let most = kind.takes.len() - named.preset.len();
        if !rows && (given.len() > most || given.len() < most - kind.optional) {
            let found = match given {
                [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)] => "*".to_owned(),
                [] => "none".to_owned(),
                all => all.len().to_string(),
            };
            let takes = counted(most - kind.optional, most);
            return Err(self.sql.error(at, format!("{} takes {takes}, found {found}", kind.name)).hint(usage()));
        }
        let mut call =
            Call { kind, arguments: vec![], constants: vec![], distinct, filter: None, shown: String::new() };
        let mut shown = Vec::new();
        for (argument, takes) in given.iter().zip(kind.takes) {
            let FunctionArg::Unnamed(FunctionArgExpr::Expr(ast)) = argument else {
                let found = argument.to_string();
                return Err(self.sql.error(at, format!("{} takes a field, found {found}", kind.name)).hint(usage()));
            };
            let root = self.expr(ast, at)?;
            shown.push(root.to_string());
            match takes.is_constant() {
                true => call.constants.push(self.constant(*takes, &root, kind.name)?),
                false => call.arguments.push(Scalar { text: self.sql.text.into(), root }),
            }
        }
        call.constants.extend(named.preset.iter().cloned());
        if let Some(filter) = filter {
            call.filter = Some(Scalar { text: self.sql.text.into(), root: self.expr(filter, at)? });
        }
        call.shown = shown_call(named, rows, distinct, &shown, &call);
        Ok(call)
    }

    fn constant(&self, takes: Takes, expr: &Expr, name: &str) -> Result<Literal> {
        match (takes, &expr.node) {
            (Takes::Share, Node::Literal(literal)) if share(literal).is_some() => {
                Ok(Literal::Double(share(literal).unwrap_or_default()))
            }
            (Takes::Share, _) => Err(self.sql.error(expr.at, format!("{name} takes a constant from 0 to 1"))),
            (_, Node::Literal(Literal::Text(text))) => Ok(Literal::Text(text.clone())),
            _ => Err(self.sql.error(expr.at, format!("{name} takes a constant text in single quotes"))),
        }
    }
}

/// Whether it is a name of the tree's own node, which the table of functions does not have.
fn is_coalesce(name: &str) -> bool {
    ["coalesce", "ifnull"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// A number from 0 to 1.
fn share(literal: &Literal) -> Option<f64> {
    let value = match literal {
        Literal::Int(value) => *value as f64,
        Literal::Double(value) => *value,
        Literal::Decimal { .. } => literal::shown(literal).parse().ok()?,
        _ => return None,
    };
    (0.0..=1.0).contains(&value).then_some(value)
}

/// The call as its column is called by default.
fn shown_call(named: &Named, rows: bool, distinct: bool, arguments: &[String], call: &Call) -> String {
    let distinct = if distinct { "DISTINCT " } else { "" };
    let arguments = if rows { "*".to_owned() } else { arguments.join(", ") };
    let filter = match &call.filter {
        Some(filter) => format!(" FILTER (WHERE {})", filter.shown()),
        None => String::new(),
    };
    format!("{}({distinct}{arguments}){filter}", named.name())
}

fn counted(least: usize, most: usize) -> String {
    match (least, most) {
        (1, 1) => "one argument".to_owned(),
        (least, most) if least == most => format!("{least} arguments"),
        (least, usize::MAX) => format!("at least {least} arguments"),
        (least, most) => format!("{least} to {most} arguments"),
    }
}

fn is_plain(field: &CeilFloorKind) -> bool {
    matches!(field, CeilFloorKind::DateTimeField(sqlparser::ast::DateTimeField::NoDateTime))
}

/// What is compared with each other: a text beside a date is read as a date too.
fn with_dates(all: Vec<Expr>) -> Vec<Expr> {
    if !all.iter().any(|expr| matches!(expr.node, Node::Cast { day: true, .. })) {
        return all;
    }
    let as_date = |expr: Expr| match &expr.node {
        Node::Literal(Literal::Text(_)) => {
            let at = expr.at;
            Expr { node: Node::Cast { value: Box::new(expr), to: FieldType::Time, day: true, or_null: false }, at }
        }
        _ => expr,
    };
    all.into_iter().map(as_date).collect()
}

fn not(node: Node, at: Location) -> Node {
    Node::Not(Box::new(Expr { node, at }))
}

fn negated_if(negated: bool, node: Node, at: Location) -> Node {
    if negated { not(node, at) } else { node }
}
