//! An expression on its way: as typed ([`Scalar`]), bound to columns ([`Bound`]), computed ([`Computed`]).
//!
//! Must not know what the expression is for. Binding finds every error that does not depend on data.

use super::bind::{Binder, Step, Typed};
use super::eval::{self, Input};
use super::functions::Failures;
use super::literal;
use super::sql::Sql;
use super::tree::{Expr, Node};
use crate::error::{Error, Result};
use crate::json::as_text;
use crate::schema::{FieldPath, FieldType, Literal};
use crate::time::Zone;
use arrow::array::{Array, ArrayRef, AsArray, DictionaryArray, Int32Array, new_null_array};
use arrow::compute::{concat, take};
use arrow::datatypes::Int32Type;
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

    /// Whether the type of a column is still to be told: the one given does not count.
    fn is_open(&self, _column: usize) -> bool {
        false
    }

    /// Takes note that something takes such a column as of this type.
    fn taken_as(&self, _column: usize, _ty: FieldType) {}
}

/// An expression bound to columns of known types.
pub struct Bound {
    root: Typed,
    /// The column it reads, if it is one alone.
    only: Option<usize>,
    zone: Zone,
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

    /// A constant.
    pub fn literal(value: Literal) -> Self {
        let root = Expr { node: Node::Literal(value), at: Location::empty() };
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
        let mut all = Vec::new();
        fields_of(&self.root, Use::Value, &mut all);
        // What is calculated with anywhere is one column, and a number.
        let numbers: Vec<&FieldPath> =
            all.iter().filter(|(_, used)| *used == Use::Number).map(|(path, _)| *path).collect();
        all.iter().map(|(path, used)| (*path, if numbers.contains(path) { Use::Number } else { *used })).collect()
    }

    /// The text that was perhaps meant where this field stands in double quotes inside an expression, as it should be
    /// typed.
    pub fn as_text(&self, field: &FieldPath) -> Option<String> {
        let sql = Sql { text: &self.text, takes: "an expression" };
        let quoted = |expr: &Expr| matches!(&expr.node, Node::Field(path) if path == field) && sql.is_quoted(expr.at);
        let mut parts = self.root.node.parts();
        while let Some(part) = parts.pop() {
            if quoted(part) {
                return Some(literal::shown(&Literal::Text(field.name())));
            }
            parts.extend(part.node.parts());
        }
        None
    }

    /// Finds columns and types. Times are taken apart, and put together, in `zone`.
    pub fn bind(&self, scope: &dyn Scope, zone: &Zone) -> Result<Bound> {
        Ok(Bound::of(self.binder(scope, zone).bind(&self.root)?, zone))
    }

    /// The same for a condition.
    pub fn bind_condition(&self, scope: &dyn Scope, zone: &Zone) -> Result<Bound> {
        Ok(Bound::of(self.binder(scope, zone).truth(&self.root)?, zone))
    }

    /// Checks what can be known in a scope in which types are still to be told, and tells the scope what they are taken
    /// as. `ty`: what the whole is taken as.
    pub fn check(&self, scope: &dyn Scope, zone: &Zone, ty: Option<FieldType>) -> Result<()> {
        let binder = self.binder(scope, zone);
        let bound = if ty == Some(FieldType::Bool) { binder.truth(&self.root)? } else { binder.bind(&self.root)? };
        if let Some(ty) = ty {
            binder.take_as(&bound, ty);
        }
        binder.constants(&self.root)
    }

    fn binder<'a>(&'a self, scope: &'a dyn Scope, zone: &'a Zone) -> Binder<'a> {
        Binder { sql: Sql { text: &self.text, takes: "an expression" }, scope, zone }
    }
}

/// The fields of a tree, and what is done with each.
fn fields_of<'a>(expr: &'a Expr, used: Use, all: &mut Vec<(&'a FieldPath, Use)>) {
    let of = |number: bool| if number { Use::Number } else { Use::Value };
    match &expr.node {
        Node::Field(path) => all.push((path, used)),
        Node::Negate(x) => fields_of(x, Use::Number, all),
        Node::Binary(operator, a, b) => {
            let number = operator.is_arithmetic() || (operator.compares() && (is_number(a) || is_number(b)));
            fields_of(a, of(number), all);
            fields_of(b, of(number), all);
        }
        Node::In(x, list) => {
            let number = is_number(x) || list.iter().any(is_number);
            std::iter::once(x.as_ref()).chain(list).for_each(|part| fields_of(part, of(number), all));
        }
        Node::Call(kind, arguments) => {
            for (place, argument) in arguments.iter().enumerate() {
                let number = kind.calculates_with(place, arguments.len());
                fields_of(argument, of(number), all);
            }
        }
        node => node.parts().into_iter().for_each(|part| fields_of(part, Use::Value, all)),
    }
}

/// Whether it is a number whatever the fields are.
fn is_number(expr: &Expr) -> bool {
    match &expr.node {
        Node::Literal(value) => literal::type_of(value).is_some_and(FieldType::is_number),
        Node::Negate(_) => true,
        Node::Binary(operator, ..) => operator.is_arithmetic(),
        Node::Cast { to, .. } => to.is_number(),
        _ => false,
    }
}

impl Bound {
    fn of(root: Typed, zone: &Zone) -> Self {
        let mut columns = Vec::new();
        root.columns(&mut |column| columns.push(column));
        columns.sort_unstable();
        columns.dedup();
        let only = if let [column] = columns[..] { Some(column) } else { None };
        Self { root, only, zone: zone.clone() }
    }

    /// The type of its values.
    pub fn ty(&self) -> FieldType {
        self.root.ty
    }

    /// The column, if it is nothing but one.
    pub fn as_column(&self) -> Option<usize> {
        match self.root.step {
            Step::Column(column) => Some(column),
            _ => None,
        }
    }

    /// Computes it for `rows` rows of columns.
    pub fn evaluate(&self, columns: &[ArrayRef], rows: usize) -> Result<Computed> {
        if let Some(column) = self.as_column() {
            return Ok(Computed { values: as_text(&columns[column]), failures: Failures::new() });
        }
        if let Some(column) = self.only
            && let Some(dictionary) = columns[column].as_dictionary_opt::<Int32Type>()
            && dictionary.values().len() < rows
        {
            return self.of_dictionary(columns, column, dictionary);
        }
        let values = eval::evaluate(&self.root, &Input { columns, rows, zone: &self.zone })?;
        Ok(Computed { values: values.full(rows)?, failures: values.failures })
    }

    /// Computes it once for each value of a dictionary, and once for null, which stands behind them.
    fn of_dictionary(
        &self,
        columns: &[ArrayRef],
        column: usize,
        dictionary: &DictionaryArray<Int32Type>,
    ) -> Result<Computed> {
        let wrong = |e| Error::failed(format!("cannot compute over a dictionary: {e}"));
        let null = new_null_array(dictionary.values().data_type(), 1);
        let words = concat(&[dictionary.values().as_ref(), null.as_ref()]).map_err(wrong)?;
        let count = words.len();
        let mut over: Vec<ArrayRef> = columns.to_vec();
        over[column] = words;
        let values = eval::evaluate(&self.root, &Input { columns: &over, rows: count, zone: &self.zone })?;
        let failed = &values.failures;
        let keys = dictionary.keys().iter().map(|key| key.unwrap_or(count as i32 - 1));
        let keys = Int32Array::from_iter_values(keys);
        let failures = match failed.is_empty() {
            true => Failures::new(),
            false => {
                let each = keys.values().iter().enumerate();
                each.filter_map(|(row, key)| Some((row, failed.get(&(*key as usize))?.clone()))).collect()
            }
        };
        let full = values.full(count)?;
        let values: ArrayRef = match self.ty() {
            FieldType::Text => Arc::new(DictionaryArray::new(keys, full)),
            _ => take(&full, &keys, None).map_err(wrong)?,
        };
        Ok(Computed { values, failures })
    }
}
