//! Functions that choose one of their arguments, whatever the type.

use super::{Argument, Failures, FunctionKind, Kernel, Resolved};
use crate::error::{Error, Result};
use crate::keys::Keys;
use crate::schema::FieldType;
use arrow::array::{Array, ArrayRef, UInt32Array, new_null_array};
use arrow::compute::{interleave, take};

/// The functions of this family.
pub(super) static CHOOSE: &[FunctionKind] = &[
    FunctionKind {
        name: "greatest",
        aliases: &[],
        usage: "greatest(a, b, ...)",
        doc: "the greatest of the arguments that are not null",
        example: ("greatest(1, NULL, 3)", "3"),
        least: 1,
        most: usize::MAX,
        resolve: |a, _| extreme(a, true),
    },
    FunctionKind {
        name: "least",
        aliases: &[],
        usage: "least(a, b, ...)",
        doc: "the least of the arguments that are not null",
        example: ("least(2, 1)", "1"),
        least: 1,
        most: usize::MAX,
        resolve: |a, _| extreme(a, false),
    },
    FunctionKind {
        name: "nullif",
        aliases: &[],
        usage: "nullif(a, b)",
        doc: "null where both are equal, else the first",
        example: ("nullif('-', '-')", "null"),
        least: 2,
        most: 2,
        resolve: |a, _| {
            let ty = common(a)?;
            Ok(Resolved { takes: vec![ty; 2], gives: ty, kernel: Box::new(NullIf) })
        },
    },
];

/// The type all arguments can have.
fn common(arguments: &[Argument<'_>]) -> Result<FieldType, String> {
    let mut types =
        arguments.iter().filter(|a| a.literal.is_none_or(|l| !matches!(l, crate::schema::Literal::Text(_))));
    let mut all: Vec<FieldType> = types.by_ref().filter_map(|argument| argument.ty).collect();
    if all.is_empty() {
        all = arguments.iter().filter_map(|argument| argument.ty).collect();
    }
    let first = all.first().copied().unwrap_or(FieldType::Text);
    all.into_iter().try_fold(first, |common, ty| match (common, ty) {
        (a, b) if a == b => Ok(a),
        (a, b) if a.is_number() && b.is_number() => Ok(a.unify(b)),
        (a, b) => Err(format!("needs arguments of one type, but found a {} and a {}", a.name(), b.name())),
    })
}

fn extreme(arguments: &[Argument<'_>], greatest: bool) -> Result<Resolved, String> {
    let ty = common(arguments)?;
    Ok(Resolved { takes: vec![ty; arguments.len()], gives: ty, kernel: Box::new(Extreme { greatest }) })
}

/// Compares by key bytes, which order as values do everywhere.
struct Extreme {
    greatest: bool,
}

impl Kernel for Extreme {
    fn run(&self, arguments: &[ArrayRef], rows: usize, _: &mut Failures) -> Result<ArrayRef> {
        let keys: Vec<Keys> = arguments.iter().map(|column| Keys::encode(std::slice::from_ref(column), rows)).collect();
        let choose = |row: usize| {
            let known = (0..arguments.len()).filter(|&i| arguments[i].is_valid(row));
            let key = |i: &usize| keys[*i].key(keys[*i].index(row));
            let best = if self.greatest { known.max_by_key(key) } else { known.min_by_key(key) };
            (best.unwrap_or(0), row)
        };
        let chosen: Vec<(usize, usize)> = (0..rows).map(choose).collect();
        let columns: Vec<&dyn Array> = arguments.iter().map(|column| column.as_ref()).collect();
        interleave(&columns, &chosen).map_err(|e| Error::failed(format!("cannot choose: {e}")))
    }
}

struct NullIf;

impl Kernel for NullIf {
    fn run(&self, arguments: &[ArrayRef], rows: usize, _: &mut Failures) -> Result<ArrayRef> {
        let keys = [0, 1].map(|i| Keys::encode(std::slice::from_ref(&arguments[i]), rows));
        let equal = |row: usize| keys[0].key(keys[0].index(row)) == keys[1].key(keys[1].index(row));
        let rows: UInt32Array = (0..rows).map(|row| (!equal(row)).then_some(row as u32)).collect();
        match arguments[0].is_empty() {
            true => Ok(new_null_array(arguments[0].data_type(), 0)),
            false => take(&arguments[0], &rows, None).map_err(|e| Error::failed(format!("cannot choose: {e}"))),
        }
    }
}
