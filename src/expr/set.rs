//! The constants of `x IN (1, 2, 3)`, looked up rather than compared one by one.
//!
//! Must not know expressions. Values are the same where they compare equal: -0 is 0, and NaN is one value.

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use arrow::datatypes::{DataType, Decimal128Type, Float64Type, Int64Type, TimestampMicrosecondType};
use foldhash::fast::FixedState;
use std::collections::HashSet;

/// Values of one type.
pub(super) struct Set {
    values: Values,
    /// Null is among them, so that nothing is surely not.
    null: bool,
}

enum Values {
    Words(HashSet<i64, FixedState>),
    Decimals(HashSet<i128, FixedState>),
    Texts(HashSet<String, FixedState>),
}

impl Set {
    /// The values of a column.
    pub(super) fn of(array: &ArrayRef) -> Self {
        let values = match array.data_type() {
            DataType::Decimal128(..) => {
                Values::Decimals(array.as_primitive::<Decimal128Type>().iter().flatten().collect())
            }
            DataType::Utf8 => Values::Texts(array.as_string::<i32>().iter().flatten().map(ToOwned::to_owned).collect()),
            _ => Values::Words((0..array.len()).filter_map(|row| word(array, row)).collect()),
        };
        Self { values, null: array.null_count() > 0 }
    }

    /// Which rows of a column of the same type are among them; null where it cannot be known.
    pub(super) fn contains(&self, array: &ArrayRef) -> BooleanArray {
        let answer = |found: bool| if !found && self.null { None } else { Some(found) };
        match &self.values {
            Values::Decimals(set) => {
                let column = array.as_primitive::<Decimal128Type>();
                column.iter().map(|value| answer(set.contains(&value?))).collect()
            }
            Values::Texts(set) => array.as_string::<i32>().iter().map(|value| answer(set.contains(value?))).collect(),
            Values::Words(set) => (0..array.len()).map(|row| answer(set.contains(&word(array, row)?))).collect(),
        }
    }
}

/// A value of up to 64 bits as an integer; none for null.
fn word(array: &ArrayRef, row: usize) -> Option<i64> {
    if array.is_null(row) {
        return None;
    }
    Some(match array.data_type() {
        DataType::Float64 => canonical(array.as_primitive::<Float64Type>().value(row)).to_bits() as i64,
        DataType::Boolean => i64::from(array.as_boolean().value(row)),
        DataType::Timestamp(..) => array.as_primitive::<TimestampMicrosecondType>().value(row),
        _ => array.as_primitive::<Int64Type>().value(row),
    })
}

/// A double as it compares: -0 is 0, and NaN one value above all.
pub(super) fn canonical(value: f64) -> f64 {
    if value.is_nan() { f64::NAN.abs() } else { value + 0.0 }
}
