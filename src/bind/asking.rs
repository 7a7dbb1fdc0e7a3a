//! A program as its columns are asked for, one by one.
//!
//! Must not know what they are for, or what fields the inputs have.

use super::{Computation, Program};
use crate::expr::Scalar;
use crate::plan::InputPlan;
use crate::schema::{FieldPath, Role};
use crate::time::Zone;

/// A program that is not whole yet.
pub(super) struct Asking<'a> {
    input: &'a InputPlan,
    /// Fields of which a key and a value that is passed on are one column.
    pub(super) fixed: &'a [FieldPath],
    program: Program,
}

impl<'a> Asking<'a> {
    /// Nothing yet but the event time.
    pub(super) fn of(input: &'a InputPlan, time: Scalar) -> Self {
        Self { input, fixed: &[], program: Program::of(time) }
    }

    /// What names the event time of this side alone, where the other has one.
    pub(super) fn own_time(&mut self, flag: Option<&'static str>) {
        self.program.own_time = flag;
    }

    /// The index of a column, behind the event time.
    pub(super) fn want(&mut self, expr: &Scalar, role: Role, flag: &'static str) -> usize {
        let time = self.program.time.as_field();
        if time.is_some() && expr.as_field() == time {
            return 0;
        }
        let shared = |known: &Computation| {
            role == Role::Whole
                && known.role == Role::Key
                && known.expr == *expr
                && expr.as_field().is_some_and(|path| self.fixed.contains(path))
        };
        let columns = &mut self.program.columns;
        let at = columns.iter().position(|known| same(known, expr, role) || shared(known));
        at.unwrap_or_else(|| {
            columns.push(Computation { expr: expr.clone(), role, flag });
            columns.len() - 1
        }) + 1
    }

    /// Only rows for which this is true are used.
    pub(super) fn select(&mut self, filter: Option<&Scalar>, flag: &'static str) {
        self.program.filter = filter.map(|filter| self.condition(filter, flag));
    }

    /// The index of a column that says which rows count.
    pub(super) fn condition(&mut self, expr: &Scalar, flag: &'static str) -> usize {
        let column = self.want(expr, Role::Value, flag);
        self.program.conditions.push(column);
        column
    }

    /// The index of a column that has to be of something: a key that joins, or tells duplicates.
    pub(super) fn key(&mut self, expr: &Scalar, flag: &'static str) -> usize {
        let column = self.want(expr, Role::Key, flag);
        if column > 0 {
            self.program.keyed.push(column);
        }
        column
    }

    /// A name is one of the result: what to say where a record is asked for it.
    pub(super) fn result(&mut self, name: &str, what: String) {
        self.program.results.push((name.to_owned(), what));
    }

    /// The values of this field are the partitions.
    pub(super) fn partition(&mut self, by: Option<&FieldPath>) {
        let column = by.map(|path| self.want(&Scalar::field(path.clone()), Role::Key, "--watermark-by"));
        self.program.partition = column;
    }

    /// What was asked for are all fields, as far as they are known.
    pub(super) fn all_fields(&mut self) {
        self.program.names_all = true;
    }

    /// All of it; `zone`: of times in expressions.
    pub(super) fn program(self, zone: &Zone) -> Program {
        let mut program = Program { zone: zone.clone(), ..self.program };
        program.fields = program.wanted(&self.input.declared);
        program
    }
}

/// Whether a column is what is asked for, wherever it was typed.
fn same(known: &Computation, expr: &Scalar, role: Role) -> bool {
    match (known.expr.as_field(), expr.as_field()) {
        (Some(a), Some(b)) => a == b && known.role == role,
        (None, None) => known.expr == *expr,
        _ => false,
    }
}
