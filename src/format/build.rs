//! Values to columns: what the text formats share once they have found the fields of a record.
//!
//! An [`Assembly`] takes records in order and makes batches of them: it widens columns, sets bad records aside and
//! keeps the books. A format tells it how one cell becomes one value of one column. Must not know any format's syntax
//! beside that of numbers, which is JSON's everywhere.
//!
//! Invariant: every column of a [`ColumnBuilders`] has the same number of values between two rows, and a record that
//! turns out bad leaves no trace, in the columns or in the layout.

use crate::event::{Raw, Times};
use crate::format::{BadRecord, Decoded, Rows};
use crate::schema::{Column, FieldType, Found, Layout, Misfit};
use crate::time::{BadTime, DayCache, Reading, TimeFormat, TimeReader, Ts, Unit};
use arrow::array::{
    ArrayRef, BooleanArray, BooleanBufferBuilder, Decimal128Array, Float64Array, Int64Array, RecordBatch,
    RecordBatchOptions, StringArray, TimestampMicrosecondArray,
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

    /// All batches; the caller counted the chunk's records and lines.
    pub fn finish(mut self, records: u64, lines: u64) -> Decoded {
        self.close_batch(None);
        let layout = self.changed.then_some(self.layout);
        Decoded { batches: self.batches, layout, records, lines }
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

    /// That `shown` (as [`shown`] writes it) is no value of this column.
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
            ColumnBuilder::Text(values) => values.truncate(rows),
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
}

/// What kind of number a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberKind {
    /// Digits with perhaps a minus sign.
    Integer,
    /// With a fraction or an exponent; also `-0`, which no integer is.
    Fraction,
}

/// The length and kind of the JSON number at the start of `text`: no plus sign, no leading zeros, digits on both sides
/// of a point. What follows it is the caller's to judge.
#[inline]
pub fn number_prefix(text: &[u8]) -> Option<(usize, NumberKind)> {
    let start = usize::from(text.first() == Some(&b'-'));
    match text.get(start..start + 8).and_then(<[u8]>::first_chunk).and_then(short_number) {
        Some((end, NumberKind::Integer)) if start == 1 && text[1] == b'0' => Some((start + end, NumberKind::Fraction)),
        Some((end, kind)) => Some((start + end, kind)),
        None => any_number(text),
    }
}

/// The same for a number without sign and exponent that ends within these bytes. All of them are looked at at once,
/// as numbers of one column differ in length, which a loop over them cannot foresee.
#[inline]
fn short_number(text: &[u8; 8]) -> Option<(usize, NumberKind)> {
    let word = u64::from_le_bytes(*text);
    let others = not_digits(word ^ ZEROS);
    let behind = others & others.wrapping_sub(1);
    let (whole, fraction) = (first_byte(others), first_byte(behind));
    let stop = |at: usize| (word >> (8 * at)) as u8;
    let no_exponent = |at: usize| stop(at) | 0x20 != b'e';
    if whole == 0 || whole == 8 || (whole > 1 && stop(0) == b'0') {
        return None;
    }
    if stop(whole) != b'.' {
        return no_exponent(whole).then_some((whole, NumberKind::Integer));
    }
    (fraction < 8 && fraction > whole + 1 && no_exponent(fraction)).then_some((fraction, NumberKind::Fraction))
}

/// A one in each byte of a word.
const ONES: u64 = 0x0101_0101_0101_0101;
/// Eight times the digit zero.
const ZEROS: u64 = ONES * 0x30;

/// The top bits of those bytes that are above 9, that is of those that were no digits before `ZEROS` was taken off.
#[inline]
fn not_digits(values: u64) -> u64 {
    ((values & (ONES * 0x7F)).wrapping_add(ONES * 0x76) | values) & (ONES * 0x80)
}

/// The index of the first byte that has a bit set, 8 if none has.
#[inline]
fn first_byte(bits: u64) -> usize {
    bits.trailing_zeros() as usize / 8
}

/// The definition that [`number_prefix`] must agree with.
fn any_number(text: &[u8]) -> Option<(usize, NumberKind)> {
    let start = usize::from(text.first() == Some(&b'-'));
    let whole = start + digits(&text[start..]);
    if whole == start || (text[start] == b'0' && whole > start + 1) {
        return None;
    }
    let mut end = whole;
    if text.get(end) == Some(&b'.') {
        let fraction = digits(&text[end + 1..]);
        if fraction == 0 {
            return None;
        }
        end += 1 + fraction;
    }
    if let Some(b'e' | b'E') = text.get(end) {
        let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(&text[end + 1 + sign..]);
        if exponent == 0 {
            return None;
        }
        end += 1 + sign + exponent;
    }
    let integer = end == whole && &text[..end] != b"-0";
    Some((end, if integer { NumberKind::Integer } else { NumberKind::Fraction }))
}

#[inline]
fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|b| b.is_ascii_digit()).count()
}

/// The kind of number that the whole of `text` is.
pub fn number_kind(text: &[u8]) -> Option<NumberKind> {
    number_prefix(text).filter(|&(end, _)| end == text.len()).map(|(_, kind)| kind)
}

/// Reads a number's text as a 64-bit integer.
#[inline]
pub fn integer(text: &[u8]) -> Result<i64, Found> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let plain = matches!(digits.len(), 1..=18) && digits[0] != b'0' && digits.iter().all(u8::is_ascii_digit);
    if !plain {
        return odd_integer(text);
    }
    let value = digits.iter().fold(0, |value, digit| value * 10 + i64::from(digit - b'0'));
    Ok(if digits.len() == text.len() { value } else { -value })
}

/// Integers of 19 digits and more, zero, and all that is none.
fn odd_integer(text: &[u8]) -> Result<i64, Found> {
    match number_kind(text) {
        None => Err(Found::Other),
        Some(NumberKind::Fraction) => Err(Found::Fraction),
        Some(NumberKind::Integer) => {
            std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).ok_or(Found::BigInteger)
        }
    }
}

/// Reads any number's text as the nearest double. Beyond the greatest double there is none: `Found::Other`.
pub fn double(text: &[u8]) -> Result<f64, Found> {
    number_kind(text).ok_or(Found::Other).and_then(|_| double_of_number(text))
}

/// The same for text that is known to be a number.
#[inline]
pub fn double_of_number(text: &[u8]) -> Result<f64, Found> {
    match short_double(text) {
        Some(value) => Ok(value),
        None => fast_float2::parse::<f64, _>(text).ok().filter(|value| value.is_finite()).ok_or(Found::Other),
    }
}

/// The nearest double of a number of at most eight bytes without exponent: both the digits and the power of ten are
/// exact as doubles, so one division rounds once.
#[inline]
fn short_double(text: &[u8]) -> Option<f64> {
    const POWERS: [f64; 8] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7];
    let (negative, text) = match text.split_first()? {
        (b'-', digits) => (true, digits),
        _ => (false, text),
    };
    let mut values = last_of_eight(text)?;
    let point = values ^ (ONES * u64::from(b'.' ^ b'0'));
    let point = first_byte(point.wrapping_sub(ONES) & !point & (ONES * 0x80));
    let mut places = 0;
    if point < 7 {
        let before = (1 << (8 * point)) - 1;
        values = (values & before) << 8 | values & !(before << 8 | 0xFF);
        places = 7 - point;
    }
    if not_digits(values) != 0 {
        return None;
    }
    let value = f64::from(eight_digits(values)) / POWERS[places];
    Some(if negative { -value } else { value })
}

/// At most eight bytes as the last ones of a word, with the zeros' code taken off them; the others are 0.
#[inline]
fn last_of_eight(text: &[u8]) -> Option<u64> {
    let missing = 8 * 8_usize.checked_sub(text.len())?;
    let word = match (text.first_chunk(), text.last_chunk()) {
        (Some(&head), Some(&tail)) => {
            u64::from(u32::from_le_bytes(head)) << missing | u64::from(u32::from_le_bytes(tail)) << 32
        }
        _ => {
            let &[first, .., last] = text else { return text.first().map(|&one| u64::from(one ^ b'0') << 56) };
            u64::from(first) << missing | u64::from(text[1]) << (missing + 8) | u64::from(last) << 56
        }
    };
    Some(word ^ ZEROS << missing)
}

/// The number that eight digits write, of which the first is the lowest byte.
#[inline]
fn eight_digits(values: u64) -> u32 {
    const PAIRS: u64 = 0x0000_00FF_0000_00FF;
    let pairs = values.wrapping_mul(10).wrapping_add(values >> 8);
    let high = (pairs & PAIRS).wrapping_mul(100 | 1_000_000 << 32);
    let low = (pairs >> 16 & PAIRS).wrapping_mul(1 | 10_000 << 32);
    (high.wrapping_add(low) >> 32) as u32
}

/// Reads any number's text as an exact decimal: the whole number of its `scale`th digit behind the point. Digits
/// beyond the scale must be zero, since rounding would lose something silently.
pub fn decimal(text: &[u8], precision: u8, scale: i8) -> Result<i128, Found> {
    number_kind(text).ok_or(Found::Other)?;
    let exponent_at = text.iter().position(|b| matches!(b, b'e' | b'E')).unwrap_or(text.len());
    let mantissa = text[..exponent_at].strip_prefix(b"-").unwrap_or(&text[..exponent_at]);
    let fraction = mantissa.iter().position(|&b| b == b'.').map_or(0, |point| mantissa.len() - point - 1);
    let digits = || mantissa.iter().filter(|b| b.is_ascii_digit());
    let shift = i64::from(scale) + exponent(&text[exponent_at..]) - fraction as i64;
    let kept = (digits().count() as i64).saturating_add(shift.min(0)).max(0) as usize;
    if digits().skip(kept).any(|&b| b != b'0') {
        return Err(Found::Fraction);
    }
    let push = |value: i128, digit: u8| value.checked_mul(10)?.checked_add(i128::from(digit - b'0'));
    let value = digits().take(kept).try_fold(0, |value, &digit| push(value, digit)).ok_or(Found::BigInteger)?;
    let value = if value == 0 { 0 } else { scale_up(value, shift.max(0)).ok_or(Found::BigInteger)? };
    if value >= 10_i128.pow(u32::from(precision.min(38))) {
        return Err(Found::BigInteger);
    }
    Ok(if text[0] == b'-' { -value } else { value })
}

/// The value of `e-12`, `E+3` or nothing; beyond any use when it has more than 9 digits.
fn exponent(text: &[u8]) -> i64 {
    let Some((_, digits)) = text.split_first() else { return 0 };
    let (sign, digits) = match digits {
        [b'-', digits @ ..] => (-1, digits),
        [b'+', digits @ ..] => (1, digits),
        digits => (1, digits),
    };
    sign * digits.iter().fold(0, |value: i64, digit| (value * 10 + i64::from(digit - b'0')).min(1_000_000_000))
}

fn scale_up(value: i128, by: i64) -> Option<i128> {
    10_i128.checked_pow(u32::try_from(by).ok()?).and_then(|factor| value.checked_mul(factor))
}

/// Reads `true` or `false`, in any case.
pub fn boolean(text: &[u8]) -> Result<bool, Found> {
    match text {
        t if t.eq_ignore_ascii_case(b"true") => Ok(true),
        t if t.eq_ignore_ascii_case(b"false") => Ok(false),
        _ => Err(Found::Other),
    }
}

/// A value for an error text: at most 40 characters of it, control characters escaped.
pub fn shown(value: &[u8]) -> String {
    const MOST: usize = 40;
    // 4 bytes a character at most; cutting one in half shows the sign for that.
    let head = String::from_utf8_lossy(&value[..value.len().min(4 * MOST)]);
    let mut text: String =
        head.chars().take(MOST).flat_map(|c| if c.is_control() { escape(c) } else { vec![c] }).collect();
    if text.len() < value.len() && head.chars().nth(MOST).is_some() {
        text.push_str("...");
    }
    text
}

fn escape(control: char) -> Vec<char> {
    control.escape_default().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{FieldPath, Role};
    use crate::time::Zone;
    use proptest::prelude::*;

    #[test]
    fn integers_end_at_64_bits() {
        assert_eq!(integer(b"0"), Ok(0));
        assert_eq!(integer(b"-12"), Ok(-12));
        assert_eq!(integer(b"-9223372036854775808"), Ok(i64::MIN));
        assert_eq!(integer(b"9223372036854775807"), Ok(i64::MAX));
        assert_eq!(integer(b"9223372036854775808"), Err(Found::BigInteger));
        for text in ["-0", "1.0", "1e2"] {
            assert_eq!(integer(text.as_bytes()), Err(Found::Fraction), "{text}");
        }
        for text in ["", "-", "+1", "007", "1 ", "0x1", "--1", "1_000", "n/a"] {
            assert_eq!(integer(text.as_bytes()), Err(Found::Other), "{text}");
        }
    }

    #[test]
    fn doubles_are_numbers_that_are_finite() {
        assert_eq!(double(b"1e3"), Ok(1000.0));
        assert_eq!(double(b"1e-400"), Ok(0.0));
        for text in ["1e400", "inf", "NaN", "1.", ".5", "+1", "01"] {
            assert_eq!(double(text.as_bytes()), Err(Found::Other), "{text}");
        }
    }

    #[test]
    fn decimals_are_exact_or_refused() {
        for (text, expected) in [
            ("12.5", Ok(1250)),
            ("-0.01", Ok(-1)),
            ("1.500", Ok(150)),
            ("1.5e1", Ok(1500)),
            ("150e-2", Ok(150)),
            ("0e999999999999", Ok(0)),
            ("0.00e-99999999999999999999", Ok(0)),
            ("9999.99", Ok(999_999)),
            ("10000", Err(Found::BigInteger)),
            ("1e99999999999999999999", Err(Found::BigInteger)),
            ("0.001", Err(Found::Fraction)),
            ("1e-99999999999999999999", Err(Found::Fraction)),
            ("1,5", Err(Found::Other)),
        ] {
            assert_eq!(decimal(text.as_bytes(), 6, 2), expected, "{text}");
        }
        assert_eq!(decimal(b"1200", 4, -2), Ok(12));
        assert_eq!(decimal(b"1250", 4, -2), Err(Found::Fraction));
        assert_eq!(decimal(&[b'9'; 38], 38, 0), Ok(10_i128.pow(38) - 1));
        assert_eq!(decimal(&[b'9'; 39], 38, 0), Err(Found::BigInteger));
    }

    #[test]
    fn long_values_are_cut_in_error_texts() {
        assert_eq!(shown("é".repeat(40).as_bytes()), "é".repeat(40));
        assert_eq!(shown("é".repeat(41).as_bytes()), "é".repeat(40) + "...");
        assert_eq!(shown(b"a\tb\x00"), r"a\tb\u{0}");
    }

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
        let layout = Layout { columns, time: Some(0), time_reader, keep_raw: false };
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

    #[test]
    fn zero_keeps_its_sign() {
        for text in ["-0", "-0.0", "-0.000000", "-0e1"] {
            assert_eq!(double(text.as_bytes()).map(|zero| (zero, zero.is_sign_negative())), Ok((0.0, true)), "{text}");
        }
    }

    proptest! {
        #[test]
        fn short_doubles_are_read_as_the_standard_library_does(text in "-?(0|[1-9][0-9]{0,7})(\\.[0-9]{1,7})?") {
            prop_assert_eq!(double_of_number(text.as_bytes()).ok(), text.parse::<f64>().ok());
        }

        #[test]
        fn a_number_ends_where_the_definition_says(text in "-?[0-9]{0,5}[.,]?[0-9]{0,5}[-+.eE,}\\]\"é :/0]{0,4}[a-z0-9]{0,9}") {
            prop_assert_eq!(number_prefix(text.as_bytes()), any_number(text.as_bytes()));
        }

        #[test]
        fn doubles_are_read_as_the_standard_library_does(text in "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?") {
            let expected: f64 = text.parse().unwrap();
            prop_assert_eq!(double(text.as_bytes()).ok(), Some(expected).filter(|f| f.is_finite()));
        }

        #[test]
        fn a_text_is_a_number_when_serde_json_says_so(text in "[-+.eE0-9]{0,8}") {
            let is_number = serde_json::from_str::<serde_json::Number>(&text).is_ok();
            prop_assert_eq!(number_kind(text.as_bytes()).is_some(), is_number);
        }
    }
}
