//! Lists and single expressions as flags take them: keys, output columns, conditions, orders.
//!
//! Must not know flags. The error shows the place in the text; the flag's name is the caller's to add.

use super::parse::Parse;
use super::sql::{Item, Sql};
use super::tree::Node;
use super::{Call, Key, Order, Output, Scalar, Selection, check_names};
use crate::error::Result;
use sqlparser::ast::OrderBySort;

/// Reads what is grouped by: a list of expressions over fields, with optional names.
pub fn parse_keys(text: &str) -> Result<Vec<Key>> {
    let sql = Sql { text, takes: "a field" };
    let keys = sql.items()?.into_iter().map(|item| {
        let root = Parse { sql, calls: None }.expr(&item.expr, item.start)?;
        let expr = Scalar { text: text.into(), root };
        let name = item.alias.clone().unwrap_or_else(|| match expr.as_field() {
            Some(path) => path.name(),
            None => typed(&item),
        });
        Ok(Key { expr, name })
    });
    let keys = keys.collect::<Result<Vec<_>>>()?;
    check_names(&keys, &[])?;
    Ok(keys)
}

/// Reads one expression over fields of a record; `takes`: what it should be.
pub fn parse_scalar(text: &str, takes: &'static str) -> Result<Scalar> {
    let sql = Sql { text, takes };
    let (ast, start) = sql.expression()?;
    let root = Parse { sql, calls: None }.expr(&ast, start)?;
    Ok(Scalar { text: text.into(), root })
}

/// Reads output columns: [`Selection::add_outputs`] to nothing.
pub fn parse_calls(text: &str) -> Result<Selection> {
    let mut selection = Selection::default();
    selection.add_outputs(text)?;
    Ok(selection)
}

impl Selection {
    /// Reads a list of expressions over aggregate calls, with optional names.
    pub fn add_outputs(&mut self, text: &str) -> Result<()> {
        let sql = Sql { text, takes: "a call like sum(amount)" };
        for item in sql.items()? {
            let root = Parse { sql, calls: Some(&mut self.calls) }.expr(&item.expr, item.start)?;
            let name = match (&item.alias, &root.node) {
                (Some(alias), _) => alias.clone(),
                (None, Node::Aggregate(call)) => self.calls[*call].shown.clone(),
                (None, Node::Field(path)) => path.name(),
                (None, _) => typed(&item),
            };
            self.outputs.push(Output { expr: Scalar { text: text.into(), root }, name });
        }
        check_names(&[], &self.outputs)
    }

    /// Reads a condition over results; the calls in it are added to the others.
    pub fn condition(&mut self, text: &str, takes: &'static str) -> Result<Scalar> {
        let sql = Sql { text, takes };
        let (ast, start) = sql.expression()?;
        let root = Parse { sql, calls: Some(&mut self.calls) }.expr(&ast, start)?;
        Ok(Scalar { text: text.into(), root })
    }

    /// Reads what rows are ordered by: `clicks DESC NULLS FIRST, page`. Nulls come last unless it is said.
    pub fn order(&mut self, text: &str) -> Result<Vec<Order>> {
        let sql = Sql { text, takes: "a column" };
        let items = sql.orders()?;
        let each = items.into_iter().map(|(item, start)| {
            let root = Parse { sql, calls: Some(&mut self.calls) }.expr(&item.expr, start)?;
            Ok(Order {
                expr: Scalar { text: text.into(), root },
                descending: matches!(item.options.sort, Some(OrderBySort::Desc)),
                nulls_first: item.options.nulls_first.unwrap_or(false),
            })
        });
        each.collect()
    }
}

impl Call {
    /// Whether it is the same call, wherever it was typed.
    pub(super) fn same(&self, other: &Call) -> bool {
        self.kind.name == other.kind.name
            && self.distinct == other.distinct
            && self.arguments == other.arguments
            && self.constants == other.constants
            && self.filter == other.filter
    }
}

/// An item as it was typed, in the parser's spacing.
fn typed(item: &Item) -> String {
    item.expr.to_string()
}
