//! Values to columns: what the text formats share once they have found the fields of a record.
//!
//! An [`Assembly`] takes records in order and makes batches of them: it widens columns, sets bad records aside and
//! keeps the books. A format tells it how one cell becomes one value of one column. Must not know any format's syntax.
//!
//! Invariant: every column of a [`ColumnBuilders`] has the same number of values between two rows, and a record that
//! turns out bad leaves no trace, in the columns or in the layout.

use crate::event::{Raw, Times};
use crate::format::{BadRecord, Decoded, Rows};
use crate::schema::{Column, FieldType, Found, Layout, Misfit, Role};
use crate::time::{BadTime, DayCache, Reading, TimeFormat, TimeReader, Ts, Unit};
use arrow::array::{
    ArrayRef, BooleanArray, BooleanBufferBuilder, Decimal128Array, Float64Array, Int64Array, LargeStringArray,
    RecordBatch, RecordBatchOptions, StringArray, TimestampMicrosecondArray,
};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use std::ops::Range;
use std::sync::Arc;

/// Where a record stands in its chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its number, from 0.
    pub record: u32,
    /// How many line ends stand before it.
    pub line: u64,
    /// Its bytes without the line end.
    pub bytes: Range<usize>,
}

/// Why a cell is no value of its column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// What was found, for [`Column::misfit`].
    pub found: Found,
    /// The phrase behind the column's name: `expected a bigint, found "n/a"`.
    pub phrase: String,
}

impl From<BadTime> for Unfit {
    fn from(bad: BadTime) -> Self {
        Unfit { found: Found::Other, phrase: bad.in_full() }
    }
}

/// Makes batches of the records of one chunk.
pub struct Assembly {
    chunk: Arc<Vec<u8>>,
    layout: Arc<Layout>,
    changed: bool,
    columns: ColumnBuilders,
    times: TimeCells,
    records: Vec<u32>,
    spans: Vec<(u32, u32)>,
    bad: Vec<BadRecord>,
    batches: Vec<Rows>,
}

impl Assembly {
    /// Starts on a chunk that is expected to hold about `rows` records.
    pub fn new(chunk: Arc<Vec<u8>>, layout: &Layout, rows: usize) -> Self {
        Assembly {
            chunk,
            columns: ColumnBuilders::new(layout, rows),
            layout: Arc::new(layout.clone()),
            changed: false,
            times: TimeCells::default(),
            records: Vec::with_capacity(rows),
            spans: Vec::with_capacity(if layout.keep_raw { rows } else { 0 }),
            bad: Vec::new(),
            batches: Vec::new(),
        }
    }

    /// Adds a record. `cell` appends exactly one value for the column of the index it is given, or says why it cannot;
    /// it is asked again for the whole record when a column had to be widened.
    #[inline]
    pub fn row<F>(&mut self, place: Place, mut cell: F)
    where
        F: FnMut(CellOf<'_>, &mut ColumnBuilder, &mut TimeCells) -> Result<(), Unfit>,
    {
        self.times.found = None;
        match self.columns.push_row(&self.layout, &mut self.times, &mut cell) {
            Ok(()) => self.keep(place),
            Err((column, unfit)) => self.widen(place, column, unfit, &mut cell),
        }
    }

    /// Sets a record aside.
    pub fn bad(&mut self, place: Place, message: String) {
        self.bad.push(BadRecord {
            record: place.record,
            before_row: self.columns.rows(),
            line: place.line,
            message,
            bytes: place.bytes,
            row: None,
        });
    }

    /// Whether this record, the last that was added, became a row.
    pub fn kept(&self, record: u32) -> bool {
        self.records.last() == Some(&record)
    }

    /// All batches; the caller counted the chunk's records and lines.
    pub fn finish(mut self, records: u64, lines: u64) -> Decoded {
        self.close_batch(None);
        let layout = self.changed.then_some(self.layout);
        Decoded { batches: self.batches, layout, records, lines, unlisted: Vec::new() }
    }

    #[inline]
    fn keep(&mut self, place: Place) {
        self.columns.end_row();
        self.records.push(place.record);
        if self.layout.keep_raw {
            self.spans.push((place.bytes.start as u32, place.bytes.end as u32));
        }
        if let Some(unit) = self.times.found {
            self.keep_unit(unit);
        }
    }

    /// From this record on the layout knows the unit of numeric times.
    #[cold]
    fn keep_unit(&mut self, unit: Unit) {
        if self.layout.time_reader.unit.is_none() {
            Arc::make_mut(&mut self.layout).time_reader.unit = Some(unit);
            self.changed = true;
        }
    }

    /// Tries the record with ever wider columns. Only a record that is good in the end changes the layout.
    #[cold]
    fn widen<F>(&mut self, place: Place, mut column: usize, mut unfit: Unfit, cell: &mut F)
    where
        F: FnMut(CellOf<'_>, &mut ColumnBuilder, &mut TimeCells) -> Result<(), Unfit>,
    {
        let mut layout = Arc::clone(&self.layout);
        self.columns.rollback();
        loop {
            match misfit(&layout, column, unfit.found) {
                Misfit::Widen(ty) => layout = Arc::new(layout.with_type(column, ty)),
                Misfit::Bad => {
                    let message = format!("column \"{}\": {}", layout.columns[column].path, unfit.phrase);
                    return self.bad(place, message);
                }
            }
            self.times.found = None;
            let mut columns = ColumnBuilders::new(&layout, self.records.capacity());
            match columns.push_row(&layout, &mut self.times, cell) {
                Ok(()) => {
                    self.close_batch(Some(columns));
                    self.layout = layout;
                    self.changed = true;
                    return self.keep(place);
                }
                Err(again) => (column, unfit) = again,
            }
        }
    }

    /// Makes a batch of what has gathered, if anything has, and goes on with `next`.
    fn close_batch(&mut self, next: Option<ColumnBuilders>) {
        let columns = match next {
            Some(next) => std::mem::replace(&mut self.columns, next),
            None => std::mem::take(&mut self.columns),
        };
        let records = std::mem::take(&mut self.records);
        let bad = std::mem::take(&mut self.bad);
        let firsts = [records.first().copied(), bad.first().map(|b| b.record)];
        let Some(first) = firsts.into_iter().flatten().min() else { return };
        let contiguous = records.iter().zip(first..).all(|(&record, expected)| record == expected);
        let raw = match self.layout.keep_raw {
            true => Raw::Text(Arc::clone(&self.chunk), std::mem::take(&mut self.spans)),
            false => Raw::None,
        };
        let (columns, times) = columns.finish(&self.layout);
        let records = (!contiguous).then_some(records);
        self.batches.push(Rows { columns, times, records, first, raw, bad, types: None, selected: None });
    }
}

/// A record without a usable time is bad, whatever else the column is used for.
fn misfit(layout: &Layout, column: usize, found: Found) -> Misfit {
    match Some(column) == layout.time {
        true => Misfit::Bad,
        false => layout.columns[column].misfit(found),
    }
}

/// Reads the cells of time columns.
#[derive(Debug, Default)]
pub struct TimeCells {
    cache: DayCache,
    found: Option<Unit>,
    /// Reads the columns that are not the event time: how that is written says nothing of them.
    others: Option<TimeReader>,
}

impl TimeCells {
    /// Reads a text cell.
    #[inline]
    pub fn text(&mut self, at: CellOf<'_>, text: &[u8]) -> Result<Ts, Unfit> {
        let reading = reader(&mut self.others, at).text(text, &mut self.cache)?;
        Ok(self.take(at, reading))
    }

    /// Reads a number cell, as its decimal text.
    #[inline]
    pub fn number(&mut self, at: CellOf<'_>, text: &[u8]) -> Result<Ts, Unfit> {
        let reading = reader(&mut self.others, at).number(text)?;
        Ok(self.take(at, reading))
    }

    /// Only the event time decides on the input's unit.
    #[inline]
    fn take(&mut self, at: CellOf<'_>, reading: Reading) -> Ts {
        if reading.unit.is_some() && Some(at.index) == at.layout.time {
            self.found = reading.unit;
        }
        reading.ts
    }
}

/// What reads a cell: the event time's own reader, or one of any time.
#[inline]
fn reader<'a>(others: &'a mut Option<TimeReader>, at: CellOf<'a>) -> &'a TimeReader {
    let time = &at.layout.time_reader;
    match Some(at.index) == at.layout.time {
        true => time,
        false => others.get_or_insert_with(|| TimeReader::new(TimeFormat::Auto, time.zone.clone())),
    }
}

/// Which cell of a record is asked for.
#[derive(Clone, Copy)]
pub struct CellOf<'a> {
    /// The layout in force.
    pub layout: &'a Layout,
    /// The index of the column.
    pub index: usize,
}

impl<'a> CellOf<'a> {
    /// The column it is for.
    pub fn column(self) -> &'a Column {
        &self.layout.columns[self.index]
    }

    /// Whether the field is only passed on, so that its values must stay what they are.
    #[inline]
    pub fn is_whole(self) -> bool {
        self.column().role == Role::Whole && !self.column().declared
    }

    /// That `shown` (as [`shown`](super::number::shown) writes it) is no value of this column.
    #[cold]
    pub fn unfit(self, found: Found, shown: &str) -> Unfit {
        let phrase = match Some(self.index) == self.layout.time {
            true => format!("expected a time, found {shown}"),
            false => format!("expected a {}, found {shown}", self.column().ty.name()),
        };
        Unfit { found, phrase }
    }
}

/// One builder per column of a layout.
#[derive(Default)]
pub struct ColumnBuilders {
    columns: Vec<ColumnBuilder>,
    rows: usize,
}

impl ColumnBuilders {
    /// Empty columns with room for `rows` values.
    pub fn new(layout: &Layout, rows: usize) -> Self {
        let builder = |(i, column): (usize, &Column)| match Some(i) == layout.time {
            true => ColumnBuilder::EventTime(Vec::with_capacity(rows)),
            false => ColumnBuilder::new(column.ty, rows),
        };
        ColumnBuilders { columns: layout.columns.iter().enumerate().map(builder).collect(), rows: 0 }
    }

    /// How many rows are complete.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The builder of a column. Each takes one value between two [`end_row`](Self::end_row)s.
    #[inline]
    pub fn column(&mut self, index: usize) -> &mut ColumnBuilder {
        &mut self.columns[index]
    }

    /// A row is complete.
    #[inline]
    pub fn end_row(&mut self) {
        self.rows += 1;
    }

    /// Takes the values of an incomplete row back.
    pub fn rollback(&mut self) {
        let rows = self.rows;
        self.columns.iter_mut().for_each(|column| column.truncate(rows));
    }

    /// Asks for one value per column; the first that cannot be had ends it, with its column's index.
    #[inline]
    fn push_row<F>(&mut self, layout: &Layout, times: &mut TimeCells, cell: &mut F) -> Result<(), (usize, Unfit)>
    where
        F: FnMut(CellOf<'_>, &mut ColumnBuilder, &mut TimeCells) -> Result<(), Unfit>,
    {
        for (index, builder) in self.columns.iter_mut().enumerate() {
            cell(CellOf { layout, index }, builder, times).map_err(|unfit| (index, unfit))?;
        }
        Ok(())
    }

    /// The columns as a batch, and the event times.
    #[expect(clippy::expect_used, reason = "one value per column and row, of the type that the schema was made from")]
    pub fn finish(self, layout: &Layout) -> (RecordBatch, Times) {
        let mut times = Times::new(ScalarBuffer::from(Vec::new()));
        let arrays = self.columns.into_iter().map(|column| match column {
            ColumnBuilder::EventTime(values) => {
                let values = ScalarBuffer::from(values);
                times = Times::new(values.clone());
                instants(values, None)
            }
            other => other.finish(),
        });
        let arrays: Vec<ArrayRef> = arrays.collect();
        // A job may read no field at all: a constant, or a line number.
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        let batch = RecordBatch::try_new_with_options(layout.schema(), arrays, &options);
        let batch = batch.expect("columns agree with their layout");
        (batch, times)
    }
}

/// Gathers the values of one column.
pub enum ColumnBuilder {
    /// The event time, in microseconds: no nulls.
    EventTime(Vec<i64>),
    /// 64-bit integers.
    Int(Values<i64>),
    /// Doubles.
    Double(Values<f64>),
    /// Truth values.
    Bool(Values<bool>),
    /// Text.
    Text(Texts),
    /// JSON texts of one line.
    Json(Texts),
    /// Decimals as whole numbers of their last digit, with precision and scale.
    Decimal(Values<i128>, u8, i8),
    /// Other instants, in microseconds.
    Time(Values<i64>),
}

impl ColumnBuilder {
    fn new(ty: FieldType, rows: usize) -> Self {
        match ty {
            FieldType::Int => ColumnBuilder::Int(Values::new(rows)),
            FieldType::Double => ColumnBuilder::Double(Values::new(rows)),
            FieldType::Bool => ColumnBuilder::Bool(Values::new(rows)),
            // No field of an input is a list: its text stands for it.
            FieldType::Text | FieldType::List(_) => ColumnBuilder::Text(Texts::new(rows)),
            FieldType::Json => ColumnBuilder::Json(Texts::new(rows)),
            FieldType::Decimal { precision, scale } => ColumnBuilder::Decimal(Values::new(rows), precision, scale),
            FieldType::Time => ColumnBuilder::Time(Values::new(rows)),
        }
    }

    fn truncate(&mut self, rows: usize) {
        match self {
            ColumnBuilder::EventTime(values) => values.truncate(rows),
            ColumnBuilder::Int(values) | ColumnBuilder::Time(values) => values.truncate(rows),
            ColumnBuilder::Double(values) => values.truncate(rows),
            ColumnBuilder::Bool(values) => values.truncate(rows),
            ColumnBuilder::Text(values) | ColumnBuilder::Json(values) => values.truncate(rows),
            ColumnBuilder::Decimal(values, ..) => values.truncate(rows),
        }
    }

    #[expect(clippy::expect_used, reason = "a layout's precision and scale were checked when it was declared")]
    fn finish(self) -> ArrayRef {
        match self {
            ColumnBuilder::EventTime(values) => instants(ScalarBuffer::from(values), None),
            ColumnBuilder::Int(values) => {
                let (values, nulls) = values.finish();
                Arc::new(Int64Array::new(values.into(), nulls))
            }
            ColumnBuilder::Double(values) => {
                let (values, nulls) = values.finish();
                Arc::new(Float64Array::new(values.into(), nulls))
            }
            ColumnBuilder::Bool(values) => {
                let (values, nulls) = values.finish();
                Arc::new(BooleanArray::new(values.into(), nulls))
            }
            ColumnBuilder::Text(values) => Arc::new(values.finish()),
            ColumnBuilder::Json(values) => Arc::new(values.finish_json()),
            ColumnBuilder::Decimal(values, precision, scale) => {
                let (values, nulls) = values.finish();
                let array = Decimal128Array::new(values.into(), nulls).with_precision_and_scale(precision, scale);
                Arc::new(array.expect("a decimal type that exists"))
            }
            ColumnBuilder::Time(values) => {
                let (values, nulls) = values.finish();
                instants(values.into(), nulls)
            }
        }
    }
}

fn instants(values: ScalarBuffer<i64>, nulls: Option<NullBuffer>) -> ArrayRef {
    Arc::new(TimestampMicrosecondArray::new(values, nulls).with_timezone("UTC"))
}

/// The rows that are null, ascending: a column without nulls pays nothing for them.
#[derive(Default)]
struct NullRows(Vec<u32>);

impl NullRows {
    fn truncate(&mut self, rows: usize) {
        while self.0.last().is_some_and(|&row| row as usize >= rows) {
            self.0.pop();
        }
    }

    fn finish(self, rows: usize) -> Option<NullBuffer> {
        if self.0.is_empty() {
            return None;
        }
        let mut valid = BooleanBufferBuilder::new(rows);
        valid.append_n(rows, true);
        self.0.iter().for_each(|&row| valid.set_bit(row as usize, false));
        Some(NullBuffer::new(valid.finish()))
    }
}

/// Values of a fixed width.
pub struct Values<T> {
    values: Vec<T>,
    nulls: NullRows,
}

impl<T: Copy + Default> Values<T> {
    fn new(rows: usize) -> Self {
        Values { values: Vec::with_capacity(rows), nulls: NullRows::default() }
    }

    /// Appends a value.
    #[inline]
    pub fn push(&mut self, value: T) {
        self.values.push(value);
    }

    /// Appends a null.
    #[inline]
    pub fn push_null(&mut self) {
        self.nulls.0.push(self.values.len() as u32);
        self.values.push(T::default());
    }

    fn truncate(&mut self, rows: usize) {
        self.values.truncate(rows);
        self.nulls.truncate(rows);
    }

    fn finish(self) -> (Vec<T>, Option<NullBuffer>) {
        let nulls = self.nulls.finish(self.values.len());
        (self.values, nulls)
    }
}

/// Text values.
pub struct Texts {
    offsets: Vec<i32>,
    bytes: Vec<u8>,
    nulls: NullRows,
}

impl Texts {
    fn new(rows: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Texts { offsets, bytes: Vec::with_capacity(rows * 8), nulls: NullRows::default() }
    }

    /// Appends a value, which is UTF-8.
    #[inline]
    pub fn push(&mut self, text: &[u8]) {
        match (text.first_chunk::<8>(), text.last_chunk::<8>()) {
            // Most texts are two words that overlap, which spares a call to copy them.
            (Some(head), Some(tail)) if text.len() <= 16 => {
                self.bytes.extend_from_slice(head);
                self.bytes.truncate(self.bytes.len() - (16 - text.len()));
                self.bytes.extend_from_slice(tail);
            }
            _ => self.bytes.extend_from_slice(text),
        }
        self.close();
    }

    /// The bytes of the next value may be appended here piece by piece, up to [`close`](Self::close).
    pub fn open(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Ends a value that was appended piece by piece.
    ///
    /// # Panics
    /// When the texts of one chunk come to 2 GiB; a chunk is some MB, a record at most 256 MB.
    #[expect(clippy::expect_used, reason = "a chunk's texts are far below 2 GiB")]
    #[inline]
    pub fn close(&mut self) {
        self.offsets.push(i32::try_from(self.bytes.len()).expect("texts of one chunk below 2 GiB"));
    }

    /// Appends a null.
    #[inline]
    pub fn push_null(&mut self) {
        self.nulls.0.push(self.offsets.len() as u32 - 1);
        self.close();
    }

    fn truncate(&mut self, rows: usize) {
        self.offsets.truncate(rows + 1);
        self.bytes.truncate(self.offsets[self.offsets.len() - 1] as usize);
        self.nulls.truncate(rows);
    }

    #[expect(clippy::expect_used, reason = "decoders check UTF-8 before they hand text over")]
    fn finish(self) -> StringArray {
        let nulls = self.nulls.finish(self.offsets.len() - 1);
        let offsets = OffsetBuffer::new(self.offsets.into());
        StringArray::try_new(offsets, Buffer::from_vec(self.bytes), nulls).expect("texts are UTF-8")
    }

    #[expect(clippy::expect_used, reason = "decoders check UTF-8 before they hand text over")]
    fn finish_json(self) -> LargeStringArray {
        let nulls = self.nulls.finish(self.offsets.len() - 1);
        let offsets: Vec<i64> = self.offsets.into_iter().map(i64::from).collect();
        let offsets = OffsetBuffer::new(offsets.into());
        LargeStringArray::try_new(offsets, Buffer::from_vec(self.bytes), nulls).expect("texts are UTF-8")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::number::{double, integer};
    use crate::schema::{FieldPath, Role};
    use crate::time::Zone;

    #[test]
    fn a_row_taken_back_leaves_values_nulls_and_text_as_they_were() {
        let mut values = Values::<i64>::new(4);
        let mut texts = Texts::new(4);
        values.push_null();
        values.push(7);
        values.push_null();
        texts.push_null();
        texts.push(b"ab");
        texts.push(b"cd");
        values.truncate(2);
        texts.truncate(2);
        texts.push(b"e");
        let (values, nulls) = values.finish();
        assert_eq!((values, nulls.map(|n| n.null_count())), (vec![0, 7], Some(1)));
        let texts = texts.finish();
        assert_eq!(texts.iter().collect::<Vec<_>>(), [None, Some("ab"), Some("e")]);
    }

    /// The event time, an integer that may widen, and one that is declared.
    fn assembled(records: &[[&str; 3]]) -> Decoded {
        let column =
            |name: &str, role, ty, declared| Column { path: FieldPath::parse(name).unwrap(), role, ty, declared };
        let columns = vec![
            column("t", Role::Time, FieldType::Time, false),
            column("n", Role::Number, FieldType::Int, false),
            column("id", Role::Value, FieldType::Int, true),
        ];
        let time_reader = TimeReader::new(TimeFormat::Auto, Zone::UTC);
        let layout = Layout { columns, time: Some(0), time_reader, keep_raw: false, names_all: false };
        let mut assembly = Assembly::new(Arc::default(), &layout, 8);
        for (record, cells) in (0..).zip(records) {
            assembly.row(Place { record, line: u64::from(record), bytes: 0..0 }, |at, builder, times| {
                let text = cells[at.index];
                let unfit = |found| at.unfit(found, text);
                match builder {
                    ColumnBuilder::EventTime(values) => values.push(times.number(at, text.as_bytes())?.micros()),
                    ColumnBuilder::Double(values) => values.push(double(text.as_bytes()).map_err(unfit)?),
                    ColumnBuilder::Int(values) => values.push(integer(text.as_bytes()).map_err(unfit)?),
                    _ => panic!("no such column"),
                }
                Ok(())
            });
        }
        assembly.finish(records.len() as u64, 0)
    }

    #[test]
    fn a_bad_record_changes_neither_types_nor_unit() {
        let bad = ["1700000000000", "0.5", "x"];
        let decoded = assembled(&[bad, ["1700000000", "1", "2"], bad]);
        let [only] = decoded.batches.as_slice() else { panic!("{} batches", decoded.batches.len()) };
        assert_eq!((only.times.len(), only.bad.len()), (1, 2));
        let layout = decoded.layout.unwrap();
        assert_eq!(layout.time_reader.unit, Some(Unit::Seconds));
        assert_eq!(layout.types(), [FieldType::Time, FieldType::Int, FieldType::Int]);
        let wider = assembled(&[["1700000000", "1", "2"], ["1700000001", "0.5", "2"]]);
        assert_eq!(wider.layout.unwrap().types(), [FieldType::Time, FieldType::Double, FieldType::Int]);
        assert_eq!(wider.batches.len(), 2);
    }

    #[test]
    fn texts_of_any_length_stand_as_they_were_pushed() {
        let expected: Vec<String> = (0..40).map(|length| ('a'..='z').cycle().take(length).collect()).collect();
        let mut texts = Texts::new(1);
        expected.iter().for_each(|text| texts.push(text.as_bytes()));
        assert_eq!(texts.finish().iter().flatten().collect::<Vec<_>>(), expected);
    }
}
