//! Some rows of one side that came one after another: columns, keys and flags.
//!
//! Must not know other segments, windows or kinds of join.

use super::index::Keyed;
use super::store::RowId;
use crate::error::{Error, Result};
use crate::keys::{self, Keys};
use crate::schema::FieldType;
use crate::time::Ts;
use arrow::array::{Array, ArrayRef, AsArray, UInt32Array, new_empty_array};
use arrow::compute::{cast, concat, take};
use arrow::datatypes::{DataType, Int32Type};
use arrow::error::ArrowError;

/// Bytes that a segment may hold for nothing.
const SLACK: usize = 4_096;

/// Rows as they come in.
pub(super) struct Incoming {
    pub(super) times: Vec<i64>,
    pub(super) keys: Keys,
    pub(super) columns: Vec<ArrayRef>,
}

/// Rows that came one after another.
pub(super) struct Segment {
    first: RowId,
    /// How far behind the first id each row's is, where some rows between them are gone.
    offsets: Option<Vec<u32>>,
    times: Vec<i64>,
    keys: Keys,
    columns: Vec<ArrayRef>,
    waits: Bits,
    matched: Bits,
    waiting: usize,
    /// The last instant at which a partner of any of them can come.
    last: Ts,
    bytes: usize,
}

impl Segment {
    /// Rows none of which waits yet.
    pub(super) fn new(first: RowId, incoming: Incoming) -> Self {
        let Incoming { times, keys, columns } = incoming;
        let rows = times.len();
        let (waits, matched) = (Bits::new(rows), Bits::new(rows));
        let (offsets, waiting, last, bytes) = (None, 0, Ts::MIN, 0);
        let mut new = Segment { first, offsets, times, keys, columns, waits, matched, waiting, last, bytes };
        new.bytes = new.measure();
        new
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.times.len()
    }

    /// The first row's id.
    pub(super) fn first(&self) -> RowId {
        self.first
    }

    /// How many rows wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    /// The index of a row, if it is here.
    #[inline]
    pub(super) fn row_of(&self, id: RowId) -> Option<usize> {
        let offset = id.since(self.first);
        match &self.offsets {
            None => (offset < self.times.len()).then_some(offset),
            Some(offsets) => offsets.binary_search(&(u32::try_from(offset).ok()?)).ok(),
        }
    }

    fn id_of(&self, row: usize) -> RowId {
        self.first.plus(self.offsets.as_ref().map_or(row, |offsets| offsets[row] as usize))
    }

    /// A row's time.
    #[inline]
    pub(super) fn time(&self, row: usize) -> Ts {
        Ts::from_micros(self.times[row])
    }

    /// The last instant at which a partner of a row that waits, or waited, can come.
    pub(super) fn last(&self) -> Ts {
        self.last
    }

    /// A row, given its id, with its key.
    #[inline]
    pub(super) fn keyed(&self, row: usize, id: RowId) -> Keyed<'_> {
        let index = self.keys.index(row);
        Keyed { ts: self.time(row), id, hash: self.keys.hash(index), key: self.keys.key(index) }
    }

    /// The bytes of a row's key.
    #[inline]
    pub(super) fn key(&self, row: usize) -> &[u8] {
        self.keys.key(self.keys.index(row))
    }

    /// Whether a row waits.
    #[inline]
    pub(super) fn waits(&self, row: usize) -> bool {
        self.waits.get(row)
    }

    /// Lets a row wait until `last`.
    #[inline]
    pub(super) fn keep(&mut self, row: usize, last: Ts) {
        self.waiting += usize::from(self.waits.set(row));
        self.last = self.last.max(last);
    }

    /// The rows whose times are past wait no more.
    pub(super) fn sweep(&mut self, is_past: impl Fn(Ts) -> bool) {
        for row in 0..self.len() {
            if self.waits.get(row) && is_past(self.time(row)) {
                self.drop_row(row);
            }
        }
    }

    /// A row waits no more.
    #[inline]
    pub(super) fn drop_row(&mut self, row: usize) {
        self.waiting -= usize::from(self.waits.unset(row));
    }

    /// Remembers that a row has a partner. Whether it is the first.
    #[inline]
    pub(super) fn matched(&mut self, row: usize) -> bool {
        self.matched.set(row)
    }

    /// Whether a row has a partner.
    #[inline]
    pub(super) fn is_matched(&self, row: usize) -> bool {
        self.matched.get(row)
    }

    /// A column.
    pub(super) fn column(&self, at: usize) -> &ArrayRef {
        &self.columns[at]
    }

    /// The rows that wait, in the order of their arrival.
    pub(super) fn all_waiting(&self) -> impl Iterator<Item = RowId> + '_ {
        (0..self.len()).filter(|&row| self.waits.get(row)).map(|row| self.id_of(row))
    }

    /// After a batch: copies what waits if it is little of what its columns hold in memory.
    pub(super) fn settle(&mut self) -> Result<()> {
        let held: usize = self.columns.iter().map(|column| column.get_buffer_memory_size()).sum();
        let used: usize = self.columns.iter().map(|column| column.to_data().get_slice_memory_size().unwrap_or(0)).sum();
        match self.waiting * 4 < self.len() * 3 || held > 2 * used + SLACK {
            true => self.compact(),
            false => Ok(()),
        }
    }

    /// Copies what waits if it is little of all.
    pub(super) fn shrink(&mut self) -> Result<()> {
        match self.waiting * 4 < self.len() {
            true => self.compact(),
            false => Ok(()),
        }
    }

    fn compact(&mut self) -> Result<()> {
        let rows: Vec<u32> = (0..self.len() as u32).filter(|&row| self.waits.get(row as usize)).collect();
        let offsets: Vec<u32> = rows.iter().map(|&row| self.id_of(row as usize).since(self.first) as u32).collect();
        let picked = UInt32Array::from(rows);
        for column in &mut self.columns {
            *column = taken(column, &picked)?;
        }
        let rows = || picked.values().iter().map(|&row| row as usize);
        self.times = rows().map(|row| self.times[row]).collect();
        self.matched = Bits::of(rows().map(|row| self.matched.get(row)));
        self.waits = Bits::of(rows().map(|_| true));
        let mut keys = Keys::default();
        keys.extend(&self.keys, rows());
        self.keys = keys;
        self.offsets = Some(offsets);
        self.bytes = self.measure();
        Ok(())
    }

    /// Whether offsets from this segment's first row reach the last one of another.
    pub(super) fn reaches(&self, after: &Segment) -> bool {
        after.len() > 0 && u32::try_from(after.id_of(after.len() - 1).since(self.first)).is_ok()
    }

    /// Adds the rows of the segment behind this one, which it reaches.
    pub(super) fn append(&mut self, after: &Segment) -> Result<()> {
        let ids = |segment: &Segment| (0..segment.len()).map(|row| segment.id_of(row)).collect::<Vec<_>>();
        let ids = [ids(self), ids(after)].concat();
        let offsets = ids.iter().map(|id| id.since(self.first) as u32).collect();
        for (column, more) in self.columns.iter_mut().zip(&after.columns) {
            *column = concat(&[&flat(column)?, &flat(more)?]).map_err(cannot_keep)?;
        }
        let both = |a: &Bits, b: &Bits| Bits::of(bits_of(a, self.len()).chain(bits_of(b, after.len())));
        (self.waits, self.matched) = (both(&self.waits, &after.waits), both(&self.matched, &after.matched));
        let mut keys = Keys::default();
        keys.extend(&self.keys, 0..self.len());
        keys.extend(&after.keys, 0..after.len());
        self.keys = keys;
        self.times.extend_from_slice(&after.times);
        self.waiting += after.waiting;
        self.last = self.last.max(after.last);
        self.offsets = Some(offsets);
        self.bytes = self.measure();
        Ok(())
    }

    /// Columns have other types from now on.
    pub(super) fn retype(&mut self, types: &[FieldType]) -> Result<()> {
        for (column, ty) in self.columns.iter_mut().zip(types) {
            if FieldType::of(column.data_type()) != *ty {
                *column = keys::to_type(&flat(column)?, *ty);
            }
        }
        self.bytes = self.measure();
        Ok(())
    }

    /// Keys have other types from now on.
    pub(super) fn rekey(&mut self, from: &[FieldType], to: &[FieldType]) {
        self.keys = self.keys.retyped(from, to);
    }

    /// Bytes of memory held.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    fn measure(&self) -> usize {
        let columns: usize = self.columns.iter().map(|column| column.get_array_memory_size()).sum();
        let offsets = self.offsets.as_ref().map_or(0, |offsets| offsets.len() * size_of::<u32>());
        columns + offsets + self.times.len() * size_of::<i64>() + self.keys.bytes() + self.len() / 4 + size_of::<Self>()
    }
}

fn cannot_keep(error: ArrowError) -> Error {
    Error::failed(format!("cannot keep rows of a join: {error}"))
}

/// Some rows of a column. A dictionary stays one while its rows share values.
fn taken(column: &ArrayRef, rows: &UInt32Array) -> Result<ArrayRef> {
    let taken = take(column, rows, None).map_err(cannot_keep)?;
    match taken.data_type() {
        DataType::Dictionary(..) if taken.as_dictionary::<Int32Type>().values().len() > taken.len() / 2 => flat(&taken),
        _ => Ok(taken),
    }
}

/// A dictionary as the column it stands for.
fn flat(column: &ArrayRef) -> Result<ArrayRef> {
    match column.data_type() {
        DataType::Dictionary(_, values) if column.is_empty() => Ok(new_empty_array(values)),
        DataType::Dictionary(_, values) => cast(column, values).map_err(cannot_keep),
        _ => Ok(ArrayRef::clone(column)),
    }
}

fn bits_of(bits: &Bits, rows: usize) -> impl Iterator<Item = bool> + '_ {
    (0..rows).map(|row| bits.get(row))
}

/// A flag per row.
struct Bits(Vec<u64>);

impl Bits {
    fn new(rows: usize) -> Self {
        Bits(vec![0; rows.div_ceil(64)])
    }

    fn of(flags: impl Iterator<Item = bool>) -> Self {
        let mut bits = Bits(Vec::new());
        for (row, flag) in flags.enumerate() {
            if row % 64 == 0 {
                bits.0.push(0);
            }
            if flag {
                bits.set(row);
            }
        }
        bits
    }

    #[inline]
    fn get(&self, row: usize) -> bool {
        self.0[row / 64] >> (row % 64) & 1 == 1
    }

    /// Whether it was not set.
    #[inline]
    fn set(&mut self, row: usize) -> bool {
        let (word, bit) = (&mut self.0[row / 64], 1 << (row % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Whether it was set.
    #[inline]
    fn unset(&mut self, row: usize) -> bool {
        let (word, bit) = (&mut self.0[row / 64], 1 << (row % 64));
        let was_set = *word & bit != 0;
        *word &= !bit;
        was_set
    }
}
