//! Argument columns as accumulators read them: downcast once per batch, walked without a look at nulls where there
//! are none.
//!
//! Must not know slots' states. A text column may be plain or dictionary-coded; both read the same.

use super::Slot;
use super::saved::{Reader, write_u64};
use crate::error::{Error, Result};
use arrow::array::{Array, ArrayRef, DictionaryArray, Int64Array, StringArray, TimestampMicrosecondArray, UInt64Array};
use arrow::buffer::{NullBuffer, ScalarBuffer};
use arrow::datatypes::Int32Type;
use std::sync::Arc;

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

impl Moment {
    /// Writes it, to be read again.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.time.to_le_bytes());
        write_u64(self.position, out);
    }

    /// Reads what was written.
    pub(super) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        Some(Self { time: reader.i64()?, position: reader.u64()? })
    }
}

/// The columns that say these moments.
pub(super) fn order_columns(moments: &[Moment]) -> [ArrayRef; 2] {
    let times = Int64Array::from_iter_values(moments.iter().map(|moment| moment.time));
    let positions = UInt64Array::from_iter_values(moments.iter().map(|moment| moment.position));
    [Arc::new(times), Arc::new(positions)]
}

/// The order columns, which stand behind the argument columns.
pub(super) struct Moments<'a> {
    times: &'a ScalarBuffer<i64>,
    positions: &'a ScalarBuffer<u64>,
}

impl<'a> Moments<'a> {
    /// Reads the order columns behind so many argument columns.
    pub(super) fn of(args: &'a [ArrayRef], behind: usize) -> Result<Self> {
        let times = argument(args, behind)?;
        let times = match times.as_any().downcast_ref::<TimestampMicrosecondArray>() {
            Some(instants) => instants.values(),
            None => typed::<Int64Array>(times)?.values(),
        };
        Ok(Self { times, positions: typed::<UInt64Array>(argument(args, behind + 1)?)?.values() })
    }

    /// When and where a row is.
    #[inline]
    pub(super) fn get(&self, row: usize) -> Moment {
        Moment { time: self.times[row], position: self.positions[row] }
    }
}
