//! Constants that fail in every record, found before any is read.
//!
//! A constant fails nobody where it may not be reached: in a branch, behind `AND`, `OR` or `coalesce`, in `TRY_CAST`.
//! Must not know columns.

use super::bind::Binder;
use super::eval::{self, Input};
use super::tree::{Expr, Node, Operator};
use crate::error::Result;

impl Binder<'_> {
    /// Refuses constants that fail whatever the records are.
    pub(super) fn constants(&self, expr: &Expr) -> Result<()> {
        if is_constant(expr) {
            return self.holds(expr);
        }
        reached(expr).into_iter().try_for_each(|part| self.constants(part))
    }

    /// The error is about the smallest part that fails.
    fn holds(&self, expr: &Expr) -> Result<()> {
        if matches!(expr.node, Node::Literal(_)) {
            return Ok(());
        }
        let computed = eval::evaluate(&self.bind(expr)?, &Input { columns: &[], rows: 1, zone: self.zone })?;
        let Some(why) = computed.failures.into_values().next() else { return Ok(()) };
        reached(expr).into_iter().try_for_each(|part| self.holds(part))?;
        Err(self.sql.error(expr.at, why))
    }
}

fn is_constant(expr: &Expr) -> bool {
    match &expr.node {
        Node::Field(_) | Node::Aggregate(..) => false,
        node => node.parts().into_iter().all(is_constant),
    }
}

/// The parts that every record reaches.
fn reached(expr: &Expr) -> Vec<&Expr> {
    match &expr.node {
        Node::Case { branches, .. } => branches.iter().take(1).map(|(condition, _)| condition).collect(),
        Node::Coalesce(all) => all.iter().take(1).collect(),
        Node::Binary(Operator::And | Operator::Or, ..) | Node::Cast { or_null: true, .. } => Vec::new(),
        node => node.parts(),
    }
}
