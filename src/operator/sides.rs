//! Keys over two sides: what `--on` says is equal, and the types in which both sides are compared.
//!
//! Must not know how rows are found by their keys. Invariant: two rows have equal keys exactly if their bytes from
//! [`Equalities::encode`] are equal and neither has a null.

use crate::error::{Error, Result};
use crate::event::Side;
use crate::keys::{self, Keys};
use crate::schema::FieldType;
use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::buffer::NullBuffer;
use std::sync::Arc;

/// What must be equal: a column of each side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Equality {
    /// Both as they are called: `l.id`, `r.user_id`.
    pub names: [String; 2],
    /// Their columns in the batches of the left and of the right side.
    pub columns: [usize; 2],
}

/// All that must be equal, and as what it is compared.
#[derive(Clone, Debug)]
pub(super) struct Equalities {
    all: Vec<Equality>,
    types: Vec<FieldType>,
}

/// The keys of a side's rows.
pub(super) struct SideKeys {
    pub(super) keys: Keys,
    /// Rows with a null in their key: these equal nothing.
    pub(super) nulls: Option<NullBuffer>,
}

impl Equalities {
    /// Over columns of these types; refuses pairs that could never be equal.
    pub(super) fn new(all: Vec<Equality>, types: [&[FieldType]; 2]) -> Result<Self> {
        let common = all.iter().map(|equality| {
            let [left, right] = equality.types(types);
            if is_comparable(left, right) { Ok(left.unify(right)) } else { Err(equality.refusal(left, right)) }
        });
        let types = common.collect::<Result<_>>()?;
        Ok(Self { all, types })
    }

    /// The types in which both sides are compared.
    pub(super) fn types(&self) -> &[FieldType] {
        &self.types
    }

    /// The columns have these types from now on. Whether keys are compared as other types than before: a column that
    /// became text makes text of what it is compared with.
    pub(super) fn retype(&mut self, types: [&[FieldType]; 2]) -> bool {
        let common = self.all.iter().map(|equality| {
            let [left, right] = equality.types(types);
            left.unify(right)
        });
        let common: Vec<FieldType> = common.collect();
        let changed = common != self.types;
        self.types = common;
        changed
    }

    /// The keys of a batch of one side.
    pub(super) fn encode(&self, side: Side, rows: &RecordBatch) -> SideKeys {
        let each = self.all.iter().zip(&self.types);
        let columns: Vec<ArrayRef> = each.map(|(e, ty)| as_type(rows.column(e.columns[side.index()]), *ty)).collect();
        let nulls = columns.iter().fold(None, |nulls, column| {
            NullBuffer::union(nulls.as_ref(), column.logical_nulls().as_ref()).filter(|nulls| nulls.null_count() > 0)
        });
        SideKeys { keys: Keys::encode(&columns, rows.num_rows()), nulls }
    }

    /// A key as people read it: `l.id = 7, l.day = 2026-01-31T00:00:00Z`.
    pub(super) fn show(&self, side: Side, key: &[u8]) -> String {
        let names = self.all.iter().map(|equality| equality.names[side.index()].as_str()).collect::<Vec<_>>();
        format!("{} = {}", names.join(", "), keys::show(key, &self.types))
    }
}

impl SideKeys {
    /// Whether a row's key equals anything at all.
    #[inline]
    pub(super) fn is_valid(&self, row: usize) -> bool {
        self.nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row))
    }
}

impl Equality {
    fn types(&self, types: [&[FieldType]; 2]) -> [FieldType; 2] {
        [types[0][self.columns[0]], types[1][self.columns[1]]]
    }

    fn refusal(&self, left: FieldType, right: FieldType) -> Error {
        let [l, r] = &self.names;
        let what = format!("--on: {l} is {}, {r} is {}, which are never equal", named(left), named(right));
        // What was cast to text already is not to be cast back.
        let either = |text: &str, other: &str, ty: FieldType| match text.starts_with("CAST(") {
            true => format!("CAST({other} AS text) makes them one type"),
            false => format!("CAST({text} AS {}) reads the text, CAST({other} AS text) makes one", ty.name()),
        };
        Error::usage(what).hint(match (left, right) {
            (FieldType::Text, ty) => either(l, r, ty),
            (ty, FieldType::Text) => either(r, l, ty),
            _ => format!("CAST({l} AS text) = CAST({r} AS text) compares them as they are written"),
        })
    }
}

/// Whether values of two types can be equal: those of one type, and numbers of any.
fn is_comparable(left: FieldType, right: FieldType) -> bool {
    left == right || left.is_number() && right.is_number()
}

/// The type with its article, for messages.
fn named(ty: FieldType) -> String {
    match ty {
        FieldType::Text => "text".to_owned(),
        other => format!("a {}", other.name()),
    }
}

/// A column as it is compared. A number that the common type cannot hold becomes null: it equals none of the other
/// side's, which all fit.
pub(super) fn as_type(column: &ArrayRef, ty: FieldType) -> ArrayRef {
    match FieldType::of(column.data_type()) == ty {
        true => Arc::clone(column),
        false => keys::to_type(column, ty),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{BooleanArray, Decimal128Array, DictionaryArray, Float64Array, Int64Array, StringArray};
    use arrow::datatypes::Int32Type;

    const DECIMAL: FieldType = FieldType::Decimal { precision: 5, scale: 2 };

    fn on(columns: usize) -> Vec<Equality> {
        let names = ["a", "b", "c"];
        let each =
            (0..columns).map(|i| Equality { names: ["l", "r"].map(|s| format!("{s}.{}", names[i])), columns: [i; 2] });
        each.collect()
    }

    fn of(left: FieldType, right: FieldType) -> Result<Equalities> {
        Equalities::new(on(1), [&[left], &[right]])
    }

    fn batch(columns: Vec<ArrayRef>) -> RecordBatch {
        RecordBatch::try_from_iter(columns.into_iter().enumerate().map(|(i, c)| (i.to_string(), c))).unwrap()
    }

    /// Whether the first rows of two columns are equal keys.
    fn equal(on: &Equalities, left: ArrayRef, right: ArrayRef) -> bool {
        let (left, right) = (on.encode(Side::Left, &batch(vec![left])), on.encode(Side::Right, &batch(vec![right])));
        left.is_valid(0) && right.is_valid(0) && left.keys.key(left.keys.index(0)) == right.keys.key(0)
    }

    #[test]
    fn numbers_of_any_type_are_compared_by_value() {
        let int = |v: i64| Arc::new(Int64Array::from(vec![v])) as ArrayRef;
        let double = |v: f64| Arc::new(Float64Array::from(vec![v])) as ArrayRef;
        let decimal =
            |v: i128| -> ArrayRef { Arc::new(Decimal128Array::from(vec![v]).with_precision_and_scale(5, 2).unwrap()) };
        let on = of(FieldType::Int, FieldType::Double).unwrap();
        assert!(equal(&on, int(2), double(2.0)) && !equal(&on, int(2), double(2.5)));
        let on = of(DECIMAL, FieldType::Int).unwrap();
        assert!(equal(&on, decimal(200), int(2)) && !equal(&on, decimal(201), int(2)));
        let on = of(DECIMAL, FieldType::Double).unwrap();
        assert!(equal(&on, decimal(250), double(2.5)));
    }

    #[test]
    fn types_that_are_never_equal_are_refused_with_what_to_write() {
        let refused = |left, right| of(left, right).unwrap_err().to_string();
        assert_eq!(
            refused(FieldType::Text, FieldType::Int),
            "--on: l.a is text, r.a is a bigint, which are never equal\n  \
             hint: CAST(l.a AS bigint) reads the text, CAST(r.a AS text) makes one"
        );
        assert_eq!(
            refused(FieldType::Time, FieldType::Text),
            "--on: l.a is a timestamp, r.a is text, which are never equal\n  \
             hint: CAST(r.a AS timestamp) reads the text, CAST(l.a AS text) makes one"
        );
        assert_eq!(
            refused(FieldType::Bool, FieldType::Int),
            "--on: l.a is a boolean, r.a is a bigint, which are never equal\n  \
             hint: CAST(l.a AS text) = CAST(r.a AS text) compares them as they are written"
        );
    }

    #[test]
    fn a_column_that_becomes_text_later_makes_text_of_the_other() {
        let mut on = of(FieldType::Int, FieldType::Double).unwrap();
        assert!(!on.retype([&[FieldType::Double], &[FieldType::Double]]));
        assert!(on.retype([&[FieldType::Text], &[FieldType::Double]]));
        assert_eq!(on.types, [FieldType::Text]);
        let text: ArrayRef = Arc::new(StringArray::from(vec!["7"]));
        assert!(equal(&on, text, Arc::new(Float64Array::from(vec![7.0]))));
    }

    #[test]
    fn a_null_in_any_part_equals_nothing() {
        let types = [FieldType::Text, FieldType::Bool];
        let on = Equalities::new(on(2), [&types, &types]).unwrap();
        let words: DictionaryArray<Int32Type> = [Some("a"), None, Some("a"), Some("a")].into_iter().collect();
        let flags = BooleanArray::from(vec![Some(true), Some(true), None, Some(true)]);
        let keys = on.encode(Side::Left, &batch(vec![Arc::new(words), Arc::new(flags)]));
        assert_eq!([0, 1, 2, 3].map(|row| keys.is_valid(row)), [true, false, false, true]);
        assert_eq!(keys.keys.key(0), keys.keys.key(3));
        assert_eq!(on.show(Side::Right, keys.keys.key(0)), "r.a, r.b = a, true");
    }

    #[test]
    fn what_the_common_type_cannot_hold_equals_nothing() {
        let wide = FieldType::Decimal { precision: 38, scale: 30 };
        let on = of(FieldType::Int, wide).unwrap();
        let int: ArrayRef = Arc::new(Int64Array::from(vec![i64::MAX]));
        let keys = on.encode(Side::Left, &batch(vec![int]));
        assert!(!keys.is_valid(0));
    }
}
