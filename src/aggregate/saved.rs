//! What a state is saved as: one row of bytes per slot, and how they are read again.
//!
//! Numbers are little-endian and of fixed width, texts and lists have their length in front. Must not know any
//! function. Bytes that no state was saved as are an error, never a panic and never a huge allocation.

use super::Slot;
use crate::error::{Error, Result};
use arrow::array::{Array, ArrayRef, LargeBinaryArray, LargeBinaryBuilder};
use std::sync::Arc;

/// A column with what `write` writes for each slot.
pub(super) fn save_each(slots: &[Slot], mut write: impl FnMut(Slot, &mut Vec<u8>)) -> ArrayRef {
    let mut column = LargeBinaryBuilder::with_capacity(slots.len(), 0);
    let mut bytes = Vec::new();
    for &slot in slots {
        bytes.clear();
        write(slot, &mut bytes);
        column.append_value(&bytes);
    }
    Arc::new(column.finish())
}

/// Reads each slot's row of a column that [`save_each`] made. `read` gives none for bytes it cannot be.
pub(super) fn load_each(
    slots: &[Slot],
    saved: &ArrayRef,
    mut read: impl FnMut(Slot, &mut Reader<'_>) -> Option<()>,
) -> Result<()> {
    let column: &LargeBinaryArray = saved.as_any().downcast_ref().ok_or_else(|| {
        Error::failed(format!("the saved state is damaged: expected bytes, found {}", saved.data_type()))
    })?;
    if column.len() != slots.len() {
        let (expected, found) = (slots.len(), column.len());
        return Err(Error::failed(format!("the saved state is damaged: expected {expected} rows, found {found}")));
    }
    for (row, &slot) in slots.iter().enumerate() {
        let mut reader = Reader(if column.is_valid(row) { column.value(row) } else { &[] });
        if read(slot, &mut reader).is_none() || !reader.0.is_empty() {
            return Err(Error::failed(format!("the saved state is damaged in row {row}")));
        }
    }
    Ok(())
}

/// Writes a number.
pub(super) fn write_u64(value: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// Writes bytes and how many there are.
pub(super) fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    write_u64(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// What is left of a slot's bytes. Each method takes from the front; none when there is too little.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// So many bytes.
    pub(super) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (front, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*front)
    }

    /// A number below 256.
    pub(super) fn u8(&mut self) -> Option<u8> {
        self.take().map(u8::from_le_bytes)
    }

    /// Whether a flag is set.
    pub(super) fn flag(&mut self) -> Option<bool> {
        match self.u8()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    /// A number.
    pub(super) fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    /// A number of rows: so many that some can be added.
    pub(super) fn rows(&mut self) -> Option<u64> {
        self.u64().filter(|&rows| rows < 1 << 62)
    }

    /// An integer.
    pub(super) fn i64(&mut self) -> Option<i64> {
        self.take().map(i64::from_le_bytes)
    }

    /// A wide integer.
    pub(super) fn i128(&mut self) -> Option<i128> {
        self.take().map(i128::from_le_bytes)
    }

    /// A double, bit for bit.
    pub(super) fn f64(&mut self) -> Option<f64> {
        self.take().map(f64::from_le_bytes)
    }

    /// How many items follow, each of at least one byte.
    pub(super) fn len(&mut self) -> Option<usize> {
        let len = usize::try_from(self.u64()?).ok()?;
        (len <= self.0.len()).then_some(len)
    }

    /// Bytes with their length in front.
    pub(super) fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = self.len()?;
        let (front, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(front)
    }

    /// Fills words.
    pub(super) fn words(&mut self, words: &mut [u64]) -> Option<()> {
        for word in words {
            *word = self.u64()?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_nothing_else() {
        let slots = [Slot(3), Slot(1)];
        let saved = save_each(&slots, |slot, out| {
            write_bytes(&[7; 2], out);
            write_u64(u64::from(slot.0), out);
        });
        let mut seen = Vec::new();
        let mut read = |_: Slot, reader: &mut Reader<'_>| {
            seen.push((reader.bytes()?.to_vec(), reader.u64()?));
            Some(())
        };
        load_each(&slots, &saved, &mut read).unwrap();
        assert_eq!(load_each(&slots[..1], &saved, &mut read).unwrap_err().message(), {
            "the saved state is damaged: expected 1 rows, found 2"
        });
        assert_eq!(seen, [(vec![7, 7], 3), (vec![7, 7], 1)]);
        let short = load_each(&slots, &saved, |_, reader| reader.bytes().map(|_| ()));
        assert_eq!(short.unwrap_err().message(), "the saved state is damaged in row 0");
        assert!(Reader(&[255; 12]).bytes().is_none());
    }
}
