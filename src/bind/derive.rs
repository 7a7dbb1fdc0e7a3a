//! The columns of a job computed from the fields of a piece: the event time, what rows are used, keys and arguments.
//!
//! Must not know files beyond the name it was given, or what the columns are for. Binding is done again for each set of
//! types, of which a run sees very few.

use super::{BoundProgram, Program, RECORD};
use crate::error::{Error, Result};
use crate::event::{Raw, Times};
use crate::expr::functions::Failures;
use crate::expr::{Bound, Computed};
use crate::format::{Before, Decoded, Derive, Rows};
use crate::schema::{FieldType, Layout};
use crate::time::{DayCache, TimeReader, Ts};
use arrow::array::{
    Array, ArrayRef, AsArray, DictionaryArray, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray, new_null_array,
};
use arrow::buffer::{BooleanBuffer, ScalarBuffer};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema, TimestampMicrosecondType};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Programs bound to types seen so far.
type Known = Vec<(Vec<FieldType>, Arc<BoundProgram>)>;

/// The program of one input.
pub(super) struct Derivation {
    program: Arc<Program>,
    file: String,
    known: Mutex<Known>,
}

/// Why rows are bad.
type Bad = BTreeMap<usize, String>;

impl Derivation {
    pub(super) fn new(program: Arc<Program>, file: String) -> Self {
        Self { program, file, known: Mutex::new(Vec::new()) }
    }

    fn bound(&self, types: &[FieldType]) -> Result<Arc<BoundProgram>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, bound)) = known.iter().find(|(seen, _)| seen == types) {
            return Ok(Arc::clone(bound));
        }
        let bound = Arc::new(self.program.bind(&self.program.typed(types))?);
        known.push((types.to_vec(), Arc::clone(&bound)));
        Ok(bound)
    }

    fn rows(&self, rows: Rows, reader: &mut TimeReader, layout: &Layout, before: Before) -> Result<Option<Rows>> {
        let mut types = rows.field_types();
        if let Some(time) = layout.time {
            types[time] = FieldType::Time;
        }
        let bound = self.bound(&types)?;
        let count = rows.columns.num_rows();
        let mut bad = Bad::new();
        let fields = self.fields(&rows, before);
        let times = match &bound.time {
            None => rows.times.clone(),
            Some(time) => instants(time.evaluate(&fields, count)?, reader, &mut bad)?,
        };
        let time: ArrayRef =
            Arc::new(TimestampMicrosecondArray::new(times.micros().clone(), None).with_timezone("UTC"));
        let computed =
            bound.columns.iter().map(|column| compute(column, &fields, count)).collect::<Result<Vec<_>>>()?;
        let selected = self.program.filter.map(|filter| select(&computed[filter - 1], &mut bad));
        for computed in computed.iter().enumerate().filter(|(i, _)| Some(i + 1) != self.program.filter) {
            let matters = |row: &usize| selected.as_ref().is_none_or(|selected: &BooleanBuffer| selected.value(*row));
            for (row, why) in computed.1.failures.iter().filter(|(row, _)| matters(row)) {
                bad.entry(*row).or_insert_with(|| why.clone());
            }
        }
        let columns = std::iter::once(time).chain(computed.into_iter().map(|computed| computed.values)).collect();
        let derived = Rows {
            columns: batch(columns)?,
            times,
            types: Some(types.into()),
            selected: selected.filter(|selected| selected.count_set_bits() < count),
            ..rows
        };
        if bad.is_empty() { Ok(Some(derived)) } else { derived.set_aside(&bad) }
    }

    /// The fields' columns, and behind them the file's name and the line, made only where an expression has them.
    fn fields(&self, rows: &Rows, before: Before) -> Vec<ArrayRef> {
        let mut fields = rows.columns.columns().to_vec();
        let count = rows.columns.num_rows();
        fields.push(match self.program.names_file() {
            true => repeated(&self.file, count),
            false => new_null_array(&DataType::Utf8, 0),
        });
        fields.push(match self.needs_places() {
            true => Arc::new(Int64Array::from_iter_values(rows.lines(before))),
            false => new_null_array(&DataType::Int64, 0),
        });
        fields.push(match self.program.reads(RECORD) {
            true => Arc::new(records(&rows.raw)),
            false => new_null_array(&DataType::Utf8, 0),
        });
        fields
    }
}

/// The values of a column. A field that stands alone stays what it is: a JSON value is a text to expressions only.
fn compute(column: &Bound, fields: &[ArrayRef], count: usize) -> Result<Computed> {
    match column.as_column() {
        Some(field) => Ok(Computed { values: Arc::clone(&fields[field]), failures: Failures::new() }),
        None => column.evaluate(fields, count),
    }
}

/// The records of a text format as they stand.
fn records(raw: &Raw) -> StringArray {
    match raw {
        Raw::Text(chunk, spans) => {
            let each = spans.iter().map(|&(start, end)| String::from_utf8_lossy(&chunk[start as usize..end as usize]));
            StringArray::from_iter_values(each)
        }
        Raw::Rows(_) | Raw::None => StringArray::from_iter_values(std::iter::empty::<&str>()),
    }
}

/// A column of one text, as a dictionary.
fn repeated(text: &str, count: usize) -> ArrayRef {
    let keys = Int32Array::from_value(0, count);
    let values = StringArray::from(vec![text]);
    Arc::new(DictionaryArray::new(keys, Arc::new(values)))
}

impl Derive for Derivation {
    fn derive(&self, decoded: Decoded, layout: &Layout, before: Before) -> Result<Option<Decoded>> {
        let mut reader = layout.time_reader.clone();
        let mut batches = Vec::with_capacity(decoded.batches.len());
        for rows in decoded.batches {
            match self.rows(rows, &mut reader, layout, before)? {
                Some(rows) => batches.push(rows),
                None => return Ok(None),
            }
        }
        let mut after = decoded.layout;
        if layout.time.is_none() && reader.unit != layout.time_reader.unit {
            let mut changed = after.as_deref().unwrap_or(layout).clone();
            changed.time_reader.unit = reader.unit;
            after = Some(Arc::new(changed));
        }
        Ok(Some(Decoded { batches, layout: after, ..decoded }))
    }

    fn needs_places(&self) -> bool {
        self.program.needs_places()
    }
}

fn batch(columns: Vec<ArrayRef>) -> Result<RecordBatch> {
    let fields =
        columns.iter().enumerate().map(|(i, column)| Field::new(i.to_string(), column.data_type().clone(), i > 0));
    RecordBatch::try_new(Arc::new(Schema::new(fields.collect::<Vec<_>>())), columns)
        .map_err(|e| Error::failed(format!("cannot put computed columns together: {e}")))
}

/// The rows for which a condition is true. One that fails makes its record bad.
fn select(condition: &Computed, bad: &mut Bad) -> BooleanBuffer {
    bad.extend(condition.failures.iter().map(|(row, why)| (*row, why.clone())));
    let values = condition.values.as_boolean();
    match values.nulls() {
        None => values.values().clone(),
        Some(nulls) => values.values() & nulls.inner(),
    }
}

/// Computed values as instants. One that is none makes its record bad.
fn instants(computed: Computed, reader: &mut TimeReader, bad: &mut Bad) -> Result<Times> {
    bad.extend(computed.failures);
    let values = computed.values;
    if let Some(instants) = values.as_primitive_opt::<TimestampMicrosecondType>() {
        for row in (0..values.len()).filter(|&row| values.is_null(row)) {
            bad.entry(row).or_insert_with(|| "time: expected a time, found null".to_owned());
        }
        return Ok(Times::new(instants.values().clone()));
    }
    let is_text = matches!(values.data_type(), DataType::Utf8 | DataType::Dictionary(..));
    let texts = cast(&values, &DataType::Utf8).map_err(|e| Error::failed(format!("cannot read times: {e}")))?;
    let mut cache = DayCache::default();
    let mut micros = Vec::with_capacity(values.len());
    for (row, text) in texts.as_string::<i32>().iter().enumerate() {
        let read = match text {
            None => Err("expected a time, found null".to_owned()),
            Some(text) if is_text => reader.text(text.as_bytes(), &mut cache).map_err(|e| e.in_full()),
            Some(number) => reader.number(number.as_bytes()).map_err(|e| e.in_full()),
        };
        let ts = match read {
            Ok(reading) => {
                reader.unit = reader.unit.or(reading.unit);
                reading.ts
            }
            Err(why) => {
                bad.entry(row).or_insert_with(|| format!("time: {why}"));
                Ts::MIN
            }
        };
        micros.push(ts.micros());
    }
    Ok(Times::new(ScalarBuffer::from(micros)))
}
