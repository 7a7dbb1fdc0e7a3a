//! The keys of both sides: the types in which they are compared, and whose keys match none.
//!
//! Must not know rows that wait. Invariant: equal values of both sides have equal bytes.

use super::JoinSide;
use crate::error::{Error, Result};
use crate::event::Side;
use crate::keys::{self, Keys};
use crate::schema::FieldType;
use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::buffer::NullBuffer;

/// Which columns are compared, and as what.
pub(super) struct On {
    columns: [Vec<usize>; 2],
    /// The types of the columns of either side.
    types: [Vec<FieldType>; 2],
    /// The types that both are compared in.
    common: Vec<FieldType>,
}

impl On {
    /// The keys of two sides. Types that cannot be equal are refused.
    pub(super) fn new(sides: &[JoinSide; 2]) -> Result<Self> {
        let types = [0, 1].map(|side| types_of(&sides[side].keys, &sides[side].types));
        for (at, (left, right)) in types[0].iter().zip(&types[1]).enumerate() {
            if !are_comparable(*left, *right) {
                return Err(never_equal(at, sides, [*left, *right]));
            }
        }
        let common = common(&types);
        Ok(On { columns: [sides[0].keys.clone(), sides[1].keys.clone()], types, common })
    }

    /// The types that keys are compared in.
    pub(super) fn types(&self) -> &[FieldType] {
        &self.common
    }

    /// The keys of a batch's rows, and which of them have no null in them, if not all.
    pub(super) fn encode(&self, side: Side, rows: &RecordBatch) -> (Keys, Option<NullBuffer>) {
        let columns = self.columns[side.index()].iter().zip(&self.common);
        let columns: Vec<ArrayRef> = columns.map(|(&column, ty)| as_type(rows.column(column), *ty)).collect();
        let nulls = columns.iter().map(|column| column.logical_nulls());
        let nulls = nulls.fold(None, |all, column| NullBuffer::union(all.as_ref(), column.as_ref()));
        (Keys::encode(&columns, rows.num_rows()), nulls.filter(|nulls| nulls.null_count() > 0))
    }

    /// The columns of a side have these types from now on: the types that were compared in before, if they changed.
    pub(super) fn retype(&mut self, side: Side, types: &[FieldType]) -> Option<Vec<FieldType>> {
        self.types[side.index()] = types_of(&self.columns[side.index()], types);
        let common = common(&self.types);
        (common != self.common).then(|| std::mem::replace(&mut self.common, common))
    }
}

fn types_of(keys: &[usize], types: &[FieldType]) -> Vec<FieldType> {
    keys.iter().map(|&column| types[column]).collect()
}

fn common(types: &[Vec<FieldType>; 2]) -> Vec<FieldType> {
    types[0].iter().zip(&types[1]).map(|(left, right)| left.unify(*right)).collect()
}

/// A column in a type that it is compared in; a dictionary of text stays one.
fn as_type(column: &ArrayRef, ty: FieldType) -> ArrayRef {
    match FieldType::of(column.data_type()) == ty {
        true => ArrayRef::clone(column),
        false => keys::to_type(column, ty),
    }
}

fn are_comparable(left: FieldType, right: FieldType) -> bool {
    left == right && !matches!(left, FieldType::List(_)) || left.is_number() && right.is_number()
}

fn never_equal(at: usize, sides: &[JoinSide; 2], types: [FieldType; 2]) -> Error {
    let names = [0, 1].map(|side: usize| sides[side].key_names.get(at).map_or("a key", String::as_str));
    let [left, right] = types.map(with_article);
    let message = format!("--on: {} is {left}, {} is {right}, which are never equal", names[0], names[1]);
    let (name, ty) = match types[1] {
        FieldType::Text => (names[0], FieldType::Text),
        _ => (names[1], types[0]),
    };
    Error::usage(message).hint(format!("CAST({name} AS {}) makes them one type", ty.name()))
}

fn with_article(ty: FieldType) -> String {
    match ty {
        FieldType::Text => ty.name(),
        _ => format!("a {}", ty.name()),
    }
}
