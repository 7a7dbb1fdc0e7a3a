//! Argument columns as accumulators read them: downcast once per batch, walked without a look at nulls where there
//! are none.
//!
//! Must not know slots' states. A text column may be plain or dictionary-coded; both read the same.

use super::Slot;
use crate::error::{Error, Result};
use arrow::array::{Array, ArrayRef, DictionaryArray, Int64Array, StringArray, TimestampMicrosecondArray, UInt64Array};
use arrow::buffer::{NullBuffer, ScalarBuffer};
use arrow::datatypes::Int32Type;

/// Calls `take(slot, row)` for each row that is not null.
#[inline]
pub(super) fn each(slots: &[Slot], rows: &[u32], nulls: Option<&NullBuffer>, mut take: impl FnMut(usize, usize)) {
    debug_assert_eq!(slots.len(), rows.len());
    let pairs = slots.iter().zip(rows).map(|(slot, &row)| (slot.index(), row as usize));
    match nulls.filter(|nulls| nulls.null_count() > 0) {
        None => pairs.for_each(|(slot, row)| take(slot, row)),
        Some(nulls) => pairs.filter(|&(_, row)| nulls.is_valid(row)).for_each(|(slot, row)| take(slot, row)),
    }
}

/// One of the argument columns.
pub(super) fn argument(args: &[ArrayRef], index: usize) -> Result<&ArrayRef> {
    args.get(index).ok_or_else(|| Error::failed(format!("expected argument column {index}, found {}", args.len())))
}

/// A column as an array of the type it should have.
pub(super) fn typed<A: Array + 'static>(array: &ArrayRef) -> Result<&A> {
    array.as_any().downcast_ref().ok_or_else(|| unexpected(array))
}

fn unexpected(array: &ArrayRef) -> Error {
    Error::failed(format!("an aggregate cannot read a column of type {}", array.data_type()))
}

/// A text column.
pub(super) enum Texts<'a> {
    /// One text per row.
    Plain(&'a StringArray),
    /// One number of a text per row.
    Dictionary(&'a DictionaryArray<Int32Type>, &'a StringArray),
}

impl<'a> Texts<'a> {
    /// Reads a column as text.
    pub(super) fn of(array: &'a ArrayRef) -> Result<Self> {
        if let Some(plain) = array.as_any().downcast_ref() {
            return Ok(Texts::Plain(plain));
        }
        let coded: &DictionaryArray<Int32Type> = typed(array)?;
        let values = coded.values().as_any().downcast_ref().ok_or_else(|| unexpected(array))?;
        Ok(Texts::Dictionary(coded, values))
    }

    /// The text of a row; none for null.
    #[inline]
    pub(super) fn get(&self, row: usize) -> Option<&'a str> {
        match self {
            Texts::Plain(texts) => texts.is_valid(row).then(|| texts.value(row)),
            Texts::Dictionary(coded, texts) => {
                let key = coded.key(row)?;
                texts.is_valid(key).then(|| texts.value(key))
            }
        }
    }
}

/// Event time in microseconds and position of a row. Rows are told apart by it, as no two have the same position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment {
    time: i64,
    position: u64,
}

/// The order columns: argument 1 and 2.
pub(super) struct Moments<'a> {
    times: &'a ScalarBuffer<i64>,
    positions: &'a ScalarBuffer<u64>,
}

impl<'a> Moments<'a> {
    /// Reads the order columns.
    pub(super) fn of(args: &'a [ArrayRef]) -> Result<Self> {
        let times = argument(args, 1)?;
        let times = match times.as_any().downcast_ref::<TimestampMicrosecondArray>() {
            Some(instants) => instants.values(),
            None => typed::<Int64Array>(times)?.values(),
        };
        Ok(Self { times, positions: typed::<UInt64Array>(argument(args, 2)?)?.values() })
    }

    /// When and where a row is.
    #[inline]
    pub(super) fn get(&self, row: usize) -> Moment {
        Moment { time: self.times[row], position: self.positions[row] }
    }
}
