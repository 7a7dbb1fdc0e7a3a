//! Windows in which a key has no rows: written between its others, or up to the ends of the range asked for.
//!
//! Works on whole rows, firing by firing: a key's empty windows are known when its next row comes. So the last row of
//! every key is remembered, for as long as the run lasts. Must not know aggregates: a filled row is made of constants
//! or of the row before it.

use super::{Range, Tally};
use crate::error::{Error, Result};
use crate::keys::Keys;
use crate::plan::{Fill, Filling};
use crate::schema::FieldType;
use crate::time::Ts;
use crate::window::{Window, Windower};
use arrow::array::{
    Array, ArrayRef, AsArray, Decimal128Array, Float64Array, Int64Array, RecordBatch, TimestampMicrosecondArray,
    new_null_array,
};
use arrow::compute::{cast, interleave};
use arrow::datatypes::{Schema, SchemaRef, TimestampMicrosecondType};
use std::collections::HashMap;
use std::sync::Arc;

/// Where the values of a row come from.
const NEW: usize = 0;
const KEPT: usize = 1;
const CONSTANT: usize = 2;

/// How many columns the bounds are.
const BOUNDS: usize = 2;

/// Adds the rows of empty windows.
pub(super) struct Filler {
    fill: Fill,
    windower: Arc<dyn Windower>,
    range: Range,
    schema: SchemaRef,
    /// The last row of each key, in the order of their keys' first rows.
    kept: Option<RecordBatch>,
    /// Which of them is whose.
    known: HashMap<Vec<u8>, usize>,
}

/// A row to be written: its window and key, and where its values come from.
struct Row {
    window: Window,
    key: usize,
    source: (usize, usize),
}

/// A key's rows of one firing.
struct Key {
    bytes: Vec<u8>,
    /// Its values for the row itself: the first row of the firing, or the last one remembered.
    source: (usize, usize),
    last: Option<(Window, (usize, usize))>,
}

impl Filler {
    /// As a plan says, for windows of this kind that are written in this range.
    pub(super) fn new(fill: Fill, windower: Arc<dyn Windower>, range: Range) -> Self {
        let schema = Arc::new(Schema::empty());
        Self { fill, windower, range, schema, kept: None, known: HashMap::new() }
    }

    /// Rows have these columns from now on.
    pub(super) fn retype(&mut self, schema: &SchemaRef, keys: usize) -> Result<()> {
        if let Some(kept) = self.kept.take() {
            let columns =
                kept.columns().iter().zip(schema.fields()).map(|(column, field)| cast(column, field.data_type()));
            let columns = columns.collect::<Result<Vec<_>, _>>().map_err(|e| together(&e))?;
            let kept = RecordBatch::try_new(Arc::clone(schema), columns).map_err(|e| together(&e))?;
            let encoded = encode(&kept, keys);
            self.known = (0..kept.num_rows()).map(|row| (encoded.key(encoded.index(row)).to_vec(), row)).collect();
            self.kept = Some(kept);
        }
        self.schema = Arc::clone(schema);
        Ok(())
    }

    /// The rows of one firing, ordered, with those of empty windows between them. `last`: no firing will follow.
    pub(super) fn take(&mut self, new: RecordBatch, keys: usize, last: bool, tally: &mut Tally) -> Result<RecordBatch> {
        let mut all = self.remembered(keys);
        let mut index: HashMap<Vec<u8>, usize> = self.known.clone();
        let encoded = encode(&new, keys);
        let bound = |i: usize| new.column(i).as_primitive::<TimestampMicrosecondType>().values();
        let mut rows = Vec::with_capacity(new.num_rows());
        for row in 0..new.num_rows() {
            let window = Window::new(Ts::from_micros(bound(0)[row]), Ts::from_micros(bound(1)[row]));
            let bytes = encoded.key(encoded.index(row));
            let at = *index.entry(bytes.to_vec()).or_insert_with(|| {
                all.push(Key { bytes: bytes.to_vec(), source: (NEW, row), last: None });
                all.len() - 1
            });
            self.fill_before(&all[at], at, window, &mut rows, tally);
            all[at].last = Some((window, (NEW, row)));
            rows.push(Row { window, key: at, source: (NEW, row) });
        }
        if last && self.range.until != Ts::MAX {
            (0..all.len()).for_each(|at| self.fill_behind(&all[at], at, &mut rows, tally));
        }
        rows.sort_by(|a, b| a.window.cmp(&b.window).then_with(|| all[a.key].bytes.cmp(&all[b.key].bytes)));
        let filled = self.batch(&new, &all, &rows, keys)?;
        if !last {
            self.remember(&new, &all)?;
        }
        Ok(filled)
    }

    fn remembered(&self, keys: usize) -> Vec<Key> {
        let Some(kept) = &self.kept else { return Vec::new() };
        let encoded = encode(kept, keys);
        let bound = |i: usize| kept.column(i).as_primitive::<TimestampMicrosecondType>().values();
        let key = |row: usize| Key {
            bytes: encoded.key(encoded.index(row)).to_vec(),
            source: (KEPT, row),
            last: Some((Window::new(Ts::from_micros(bound(0)[row]), Ts::from_micros(bound(1)[row])), (KEPT, row))),
        };
        (0..kept.num_rows()).map(key).collect()
    }

    /// The empty windows between a key's last row and a new one.
    fn fill_before(&self, key: &Key, at: usize, next: Window, rows: &mut Vec<Row>, tally: &mut Tally) {
        let first = match key.last {
            Some((window, _)) => self.next(window),
            None if self.range.since == Ts::MIN => return,
            None => self.first_from(self.range.since),
        };
        self.fill(key, at, first, |window| window.start < next.start, rows, tally);
    }

    /// The empty windows from a key's last row to the end of the range.
    fn fill_behind(&self, key: &Key, at: usize, rows: &mut Vec<Row>, tally: &mut Tally) {
        let Some((window, _)) = key.last else { return };
        let range = self.range;
        self.fill(key, at, self.next(window), |window| range.holds(window.start), rows, tally);
    }

    fn fill(
        &self,
        key: &Key,
        at: usize,
        first: Window,
        more: impl Fn(Window) -> bool,
        rows: &mut Vec<Row>,
        tally: &mut Tally,
    ) {
        let windows = std::iter::successors(Some(first), |window| Some(self.next(*window)));
        let most = usize::try_from(self.fill.max).unwrap_or(usize::MAX);
        let empty: Vec<Window> = windows.take_while(|window| more(*window)).take(most.saturating_add(1)).collect();
        if empty.len() > most {
            tally.gaps += 1;
            return;
        }
        let source = match (self.fill.with, key.last) {
            (Filling::Previous, Some((_, source))) => source,
            _ => (CONSTANT, 0),
        };
        rows.extend(empty.into_iter().map(|window| Row { window, key: at, source }));
    }

    /// The window that starts next behind the start of this one.
    fn next(&self, window: Window) -> Window {
        let mut windows = Vec::new();
        let last_instant = Ts::from_micros(window.end.micros().saturating_sub(1));
        self.windower.windows_of(last_instant, &mut windows);
        self.windower.windows_of(window.end, &mut windows);
        windows.into_iter().filter(|other| other.start > window.start).min_by_key(|w| w.start).unwrap_or(window)
    }

    /// The first window that starts at this instant or later.
    fn first_from(&self, since: Ts) -> Window {
        let mut windows = Vec::new();
        self.windower.windows_of(since, &mut windows);
        let latest = windows.into_iter().max_by_key(|window| window.start);
        match latest {
            Some(window) if window.start < since => self.next(window),
            Some(window) => window,
            None => Window::new(since, since),
        }
    }

    fn batch(&self, new: &RecordBatch, all: &[Key], rows: &[Row], keys: usize) -> Result<RecordBatch> {
        let constants = self.constants();
        let kept = self.kept.clone().unwrap_or_else(|| RecordBatch::new_empty(Arc::clone(&self.schema)));
        let indices: Vec<(usize, usize)> = rows.iter().map(|row| row.source).collect();
        let own: Vec<(usize, usize)> = rows.iter().map(|row| all[row.key].source).collect();
        let column = |i: usize| {
            let parts: [&dyn Array; 3] = [new.column(i), kept.column(i), &constants[i]];
            let indices = if i < BOUNDS + keys { &own } else { &indices };
            interleave(&parts, indices)
        };
        let bound = |of: fn(&Row) -> Ts| -> ArrayRef {
            let each = rows.iter().map(|row| of(row).micros());
            Arc::new(TimestampMicrosecondArray::from_iter_values(each).with_timezone("UTC"))
        };
        let mut columns = vec![bound(|row| row.window.start), bound(|row| row.window.end)];
        for i in BOUNDS..self.schema.fields().len().saturating_sub(1) {
            columns.push(column(i).map_err(|e| together(&e))?);
        }
        let seconds = rows.iter().map(|row| row.window.end.since(row.window.start).as_secs_f64());
        columns.push(Arc::new(Float64Array::from_iter_values(seconds)));
        RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(|e| together(&e))
    }

    /// One row of what is filled in where there is no row before.
    fn constants(&self) -> Vec<ArrayRef> {
        let zero = self.fill.with == Filling::Zero;
        let constant = |field: &Arc<arrow::datatypes::Field>| -> ArrayRef {
            let ty = field.data_type();
            match FieldType::of(ty) {
                FieldType::Int if zero => Arc::new(Int64Array::from(vec![0])),
                FieldType::Double if zero => Arc::new(Float64Array::from(vec![0.0])),
                FieldType::Decimal { .. } if zero => {
                    Arc::new(Decimal128Array::from(vec![0]).with_data_type(ty.clone()))
                }
                _ => new_null_array(ty, 1),
            }
        };
        self.schema.fields().iter().map(constant).collect()
    }

    /// Keeps the last row of every key.
    fn remember(&mut self, new: &RecordBatch, all: &[Key]) -> Result<()> {
        let kept = self.kept.clone().unwrap_or_else(|| RecordBatch::new_empty(Arc::clone(&self.schema)));
        let indices: Vec<(usize, usize)> = all.iter().map(|key| key.last.map_or(key.source, |(_, at)| at)).collect();
        let column = |i: usize| interleave(&[new.column(i) as &dyn Array, kept.column(i)], &indices);
        let columns =
            (0..self.schema.fields().len()).map(column).collect::<Result<Vec<_>, _>>().map_err(|e| together(&e))?;
        self.kept = Some(RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(|e| together(&e))?);
        for (at, key) in all.iter().enumerate().skip(self.known.len()) {
            self.known.insert(key.bytes.clone(), at);
        }
        Ok(())
    }
}

fn encode(rows: &RecordBatch, keys: usize) -> Keys {
    Keys::encode(&rows.columns()[BOUNDS..BOUNDS + keys], rows.num_rows())
}

fn together(error: &arrow::error::ArrowError) -> Error {
    Error::failed(format!("cannot put filled rows together: {error}"))
}
