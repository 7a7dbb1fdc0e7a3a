//! Functions that choose among their arguments: `greatest`, `least`, `nullif`.
//!
//! Must not know how values are computed. Values are ordered as keys are: text by bytes, false before true, NaN above
//! all numbers, -0 equal to 0.

use super::kernel::{found, resolved};
use super::math::program;
use super::{Argument, FunctionKind, Resolved};
use crate::error::Result;
use crate::schema::{FieldType, Literal};
use crate::time::Zone;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, DynComparator, make_comparator};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::compute::{SortOptions, cast, interleave, nullif};
use arrow::datatypes::Float64Type;
use std::cmp::Ordering;
use std::sync::Arc;

/// `greatest`
pub(super) static GREATEST: FunctionKind = FunctionKind {
    name: "greatest",
    aliases: &[],
    usage: "greatest(x, ...)",
    doc: "the greatest of the values; nulls are left out",
    example: ("greatest(1, NULL, 3)", "3"),
    least: 1,
    most: usize::MAX,
    resolve: |arguments, _| best(arguments, Ordering::Greater),
};

/// `least`
pub(super) static LEAST: FunctionKind = FunctionKind {
    name: "least",
    aliases: &[],
    usage: "least(x, ...)",
    doc: "the least of the values; nulls are left out",
    example: ("least('b', 'a')", "\"a\""),
    least: 1,
    most: usize::MAX,
    resolve: |arguments, _| best(arguments, Ordering::Less),
};

/// `nullif`
pub(super) static NULLIF: FunctionKind = FunctionKind {
    name: "nullif",
    aliases: &[],
    usage: "nullif(x, y)",
    doc: "null where x is y, else x",
    example: ("nullif('-', '-')", "null"),
    least: 2,
    most: 2,
    resolve: null_if,
};

/// The type in which all arguments can be compared; a text written in the expression takes the type of a time.
fn common(arguments: &[Argument<'_>]) -> Result<FieldType, String> {
    let mut common: Option<FieldType> = None;
    for argument in arguments.iter().filter(|argument| !is_written_text(argument)) {
        common = match (common, argument.ty) {
            (common, None) => common,
            (_, Some(FieldType::List(_))) => return Err("does not take lists".into()),
            (None, ty) => ty,
            (Some(a), Some(b)) if a == b || (a.is_number() && b.is_number()) => Some(a.unify(b)),
            (a, b) => return Err(mixed(a, b)),
        };
    }
    let has_text = arguments.iter().any(is_written_text);
    match common {
        Some(ty) if has_text && !matches!(ty, FieldType::Text | FieldType::Time) => {
            Err(mixed(Some(ty), Some(FieldType::Text)))
        }
        common => Ok(common.unwrap_or(FieldType::Text)),
    }
}

fn is_written_text(argument: &Argument<'_>) -> bool {
    matches!(argument.literal, Some(Literal::Text(_)))
}

fn mixed(a: Option<FieldType>, b: Option<FieldType>) -> String {
    format!("needs values of one type, but found {} and {}", found(a), found(b))
}

fn best(arguments: &[Argument<'_>], wanted: Ordering) -> Result<Resolved, String> {
    let ty = common(arguments)?;
    resolved(vec![ty; arguments.len()], ty, move |columns, rows, _| {
        let chosen = chosen(columns, rows, wanted)?;
        let columns: Vec<&dyn Array> = columns.iter().map(AsRef::as_ref).collect();
        interleave(&columns, &chosen).map_err(program)
    })
}

/// For each row the column whose value is wanted, and the row.
fn chosen(columns: &[ArrayRef], rows: usize, wanted: Ordering) -> Result<Vec<(usize, usize)>> {
    let plain: Vec<ArrayRef> = columns.iter().map(comparable).collect();
    let mut best = vec![0; rows];
    for later in 1..plain.len() {
        let against = plain[..later].iter().map(|earlier| comparator(&plain[later], earlier));
        let against = against.collect::<Result<Vec<DynComparator>>>()?;
        for (row, best) in best.iter_mut().enumerate() {
            let better = || plain[*best].is_null(row) || against[*best](row, row) == wanted;
            if plain[later].is_valid(row) && better() {
                *best = later;
            }
        }
    }
    Ok(best.into_iter().enumerate().map(|(row, column)| (column, row)).collect())
}

fn comparator(a: &ArrayRef, b: &ArrayRef) -> Result<DynComparator> {
    make_comparator(a, b, SortOptions::default()).map_err(program)
}

/// The column with one NaN and one zero, so that arrow's total order is ours.
fn comparable(column: &ArrayRef) -> ArrayRef {
    match column.as_primitive_opt::<Float64Type>() {
        Some(doubles) => Arc::new(doubles.unary::<_, Float64Type>(|x| if x.is_nan() { f64::NAN } else { x + 0.0 })),
        None => Arc::clone(column),
    }
}

fn null_if(arguments: &[Argument<'_>], _: &Zone) -> Result<Resolved, String> {
    let common = common(arguments)?;
    // The result keeps the type of the first: nullif(1, 1.5) is 1. A written text is what it is compared with.
    let own = |argument: &Argument<'_>| match is_written_text(argument) {
        true => common,
        false => argument.ty.unwrap_or(common),
    };
    let takes: Vec<FieldType> = arguments.iter().map(own).collect();
    let gives = takes[0];
    resolved(takes, gives, move |columns, rows, _| {
        let same = |column: &ArrayRef| cast(column, &common.arrow()).map(|c| comparable(&c)).map_err(program);
        let (x, y) = (same(&columns[0])?, same(&columns[1])?);
        let compare = comparator(&x, &y)?;
        let known = |row| x.is_valid(row) && y.is_valid(row);
        let equal = BooleanBuffer::collect_bool(rows, |row| known(row) && compare(row, row) == Ordering::Equal);
        nullif(&columns[0], &BooleanArray::new(equal, None::<NullBuffer>)).map_err(program)
    })
}
