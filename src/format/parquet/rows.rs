//! A batch as the file has it to rows as a layout wants them: bad records set aside, columns widened on the way.
//!
//! Must not know where the batch came from. Invariant: every row of the batch becomes a row or a bad record, and a
//! bad record never widens a column.

use super::convert::{Unfit, convert};
use super::{fields, times};
use crate::error::{Error, Result};
use crate::event::{Raw, Times};
use crate::format::{BadRecord, Decoded, Rows};
use crate::schema::{Column, FieldType, Layout, Misfit};
use crate::time::{TimeFormat, TimeReader, Unit};
use arrow::array::{
    Array, ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, TimestampMicrosecondArray, new_null_array,
};
use arrow::buffer::ScalarBuffer;
use arrow::compute::filter_record_batch;
use arrow::datatypes::{Field, Schema};
use arrow::error::ArrowError;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Appends the rows of `batch` to `out`, whose records they follow. The layout in force is `out`'s, if it has one.
pub(super) fn append(batch: &RecordBatch, layout: &Layout, out: &mut Decoded) -> Result<()> {
    let mut layout = out.layout.clone().unwrap_or_else(|| Arc::new(layout.clone()));
    let mut from = 0;
    while from < batch.num_rows() {
        let rest = batch.slice(from, batch.num_rows() - from);
        let view = View::new(&rest, &layout).map_err(|e| failed(&e))?;
        let end = view.widening.map_or(rest.num_rows(), |(row, ..)| row);
        if end > 0 {
            out.batches.push(view.rows(end, out.records).map_err(|e| failed(&e))?);
            out.records += end as u64;
        }
        let (unit, widening) = (view.unit, view.widening);
        if let Some(unit) = unit.filter(|_| layout.time_reader.unit.is_none()) {
            Arc::make_mut(&mut layout).time_reader.unit = Some(unit);
            out.layout = Some(Arc::clone(&layout));
        }
        if let Some((_, column, ty)) = widening {
            layout = Arc::new(layout.with_type(column, ty));
            out.layout = Some(Arc::clone(&layout));
        }
        from += end;
    }
    out.lines = out.records;
    Ok(())
}

fn failed(error: &ArrowError) -> Error {
    Error::failed(format!("cannot convert a column: {error}"))
}

/// A batch with its columns converted.
struct View<'a> {
    source: &'a RecordBatch,
    layout: &'a Layout,
    columns: Vec<ArrayRef>,
    times: ScalarBuffer<i64>,
    unit: Option<Unit>,
    /// Row and message of each bad record.
    bad: BTreeMap<usize, String>,
    /// The first row that fits only after a column has become wider: the row, the column, its new type.
    widening: Option<(usize, usize, FieldType)>,
}

impl<'a> View<'a> {
    fn new(source: &'a RecordBatch, layout: &'a Layout) -> Result<Self, ArrowError> {
        let mut view = View {
            source,
            layout,
            columns: Vec::with_capacity(layout.columns.len()),
            times: ScalarBuffer::from(Vec::new()),
            unit: None,
            bad: BTreeMap::new(),
            widening: None,
        };
        let mut wide = Vec::new();
        for (index, column) in layout.columns.iter().enumerate() {
            match Some(index) == layout.time {
                true => view.take_times(column),
                false => view.take(index, column, &mut wide)?,
            }
        }
        view.widening = wide.into_iter().filter(|(row, ..)| !view.bad.contains_key(row)).min_by_key(|w| (w.0, w.1));
        Ok(view)
    }

    fn take_times(&mut self, column: &Column) {
        let instants = match fields::column(self.source, &column.path) {
            Some(array) => times::event_times(&array, &self.layout.time_reader),
            None => times::missing(self.source.num_rows()),
        };
        instants.bad.into_iter().for_each(|(row, phrase)| self.set_aside(row, column, &phrase));
        self.unit = instants.unit;
        self.columns.push(Arc::new(TimestampMicrosecondArray::new(instants.micros.clone(), None).with_timezone("UTC")));
        self.times = instants.micros;
    }

    fn take(
        &mut self,
        index: usize,
        column: &Column,
        wide: &mut Vec<(usize, usize, FieldType)>,
    ) -> Result<(), ArrowError> {
        let Some(array) = fields::column(self.source, &column.path) else {
            self.columns.push(new_null_array(&column.ty.arrow(), self.source.num_rows()));
            return Ok(());
        };
        let reader = TimeReader::new(TimeFormat::Auto, self.layout.time_reader.zone.clone());
        let (array, unfit) = convert(&array, column.ty, &reader)?;
        for Unfit { row, found, phrase } in unfit {
            match column.misfit(found) {
                Misfit::Widen(ty) if ty != column.ty => wide.push((row, index, ty)),
                _ => self.set_aside(row, column, &phrase),
            }
        }
        self.columns.push(array);
        Ok(())
    }

    /// The first reason counts.
    fn set_aside(&mut self, row: usize, column: &Column, phrase: &str) {
        self.bad.entry(row).or_insert_with(|| format!("column \"{}\": {phrase}", column.path));
    }

    /// The first `end` rows, of which the first is record `first` of its chunk.
    fn rows(&self, end: usize, first: u64) -> Result<Rows, ArrowError> {
        let first = u32::try_from(first).map_err(|_| ArrowError::ComputeError("more than 2^32 rows at once".into()))?;
        let bad: Vec<usize> = self.bad.range(..end).map(|(&row, _)| row).collect();
        let whole = self.batch()?.slice(0, end);
        let raw = |rows: RecordBatch| if self.layout.keep_raw { Raw::Rows(rows) } else { Raw::None };
        if bad.is_empty() {
            let times = Times::new(self.times.slice(0, end.min(self.times.len())));
            let raw = raw(self.source.slice(0, end));
            return Ok(Rows {
                columns: whole,
                times,
                records: None,
                first,
                raw,
                bad: Vec::new(),
                types: None,
                selected: None,
            });
        }
        let good: BooleanArray = (0..end).map(|row| Some(!self.bad.contains_key(&row))).collect();
        let columns = filter_record_batch(&whole, &good)?;
        let kept = (0..end).filter(|&row| good.value(row));
        let records = kept.clone().map(|row| first + row as u32).collect();
        let times = Times::new(kept.map(|row| self.times[row]).collect());
        let raw = match self.layout.keep_raw {
            true => Raw::Rows(filter_record_batch(&self.source.slice(0, end), &good)?),
            false => Raw::None,
        };
        let bad = self.bad_records(&bad, first);
        Ok(Rows { columns, times, records: Some(records), first, raw, bad, types: None, selected: None })
    }

    fn bad_records(&self, rows: &[usize], first: u32) -> Vec<BadRecord> {
        let one = |(before, &row): (usize, &usize)| BadRecord {
            record: first + row as u32,
            before_row: row - before,
            line: u64::from(first) + row as u64,
            message: self.bad[&row].clone(),
            bytes: 0..0,
            row: self.layout.keep_raw.then(|| self.source.slice(row, 1)),
        };
        rows.iter().enumerate().map(one).collect()
    }

    /// All rows under the layout's schema, except that text columns may have a dictionary.
    fn batch(&self) -> Result<RecordBatch, ArrowError> {
        let schema = self.layout.schema();
        let fields = schema.fields().iter().zip(&self.columns).map(|(field, array)| {
            match field.data_type() == array.data_type() {
                true => Arc::clone(field),
                false => Arc::new(Field::clone(field).with_data_type(array.data_type().clone())),
            }
        });
        let schema = Schema::new(fields.collect::<Vec<_>>());
        let options = RecordBatchOptions::new().with_row_count(Some(self.source.num_rows()));
        RecordBatch::try_new_with_options(Arc::new(schema), self.columns.clone(), &options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{FieldPath, Role};
    use crate::time::{Ts, Zone};
    use arrow::array::{AsArray, Float64Array, Int64Array, StringArray};
    use arrow::datatypes::Int64Type;

    fn column(name: &str, role: Role, ty: FieldType) -> Column {
        Column { path: FieldPath::new(vec![name.into()]), role, ty, declared: false }
    }

    fn layout(columns: Vec<Column>) -> Layout {
        let time_reader = TimeReader::new(TimeFormat::Unix(Unit::Millis), Zone::UTC);
        Layout { columns, time: Some(0), time_reader, keep_raw: true, names_all: false }
    }

    fn batch(times: Vec<Option<i64>>, others: Vec<(&str, ArrayRef)>) -> RecordBatch {
        let times: ArrayRef = Arc::new(Int64Array::from(times));
        RecordBatch::try_from_iter([("t", times)].into_iter().chain(others)).unwrap()
    }

    fn decode(batch: &RecordBatch, layout: &Layout) -> Decoded {
        let mut out = Decoded::default();
        append(batch, layout, &mut out).unwrap();
        assert_eq!((out.records, out.lines), (batch.num_rows() as u64, batch.num_rows() as u64));
        out
    }

    #[test]
    fn a_row_without_a_time_is_set_aside_whole() {
        let x: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
        let source = batch(
            vec![Some(5), None, Some(7)],
            vec![("x", x), ("more", Arc::new(StringArray::from(vec!["a", "b", "c"])))],
        );
        let layout = layout(vec![column("t", Role::Time, FieldType::Time), column("x", Role::Number, FieldType::Int)]);
        let decoded = decode(&source, &layout);
        let rows = &decoded.batches[0];
        assert_eq!(rows.columns.column(1).as_primitive::<Int64Type>().values(), &[1, 3]);
        assert_eq!(rows.times.iter().collect::<Vec<_>>(), [Ts::from_micros(5_000), Ts::from_micros(7_000)]);
        assert_eq!(rows.records, Some(vec![0, 2]));
        let bad = &rows.bad[0];
        assert_eq!((bad.record, bad.before_row, bad.line), (1, 1, 1));
        assert_eq!(bad.message, "column \"t\": expected a time, found null");
        assert_eq!(bad.row, Some(source.slice(1, 1)));
        assert!(matches!(&rows.raw, Raw::Rows(raw) if raw.num_rows() == 2 && raw.num_columns() == 3));
    }

    #[test]
    fn numbers_of_records_go_on_over_batches() {
        let layout = layout(vec![column("t", Role::Time, FieldType::Time)]);
        let mut out = decode(&batch(vec![Some(1), Some(2)], vec![]), &layout);
        append(&batch(vec![None, Some(4)], vec![]), &layout, &mut out).unwrap();
        let rows = &out.batches[1];
        assert_eq!((rows.first, rows.records.clone(), rows.bad[0].record), (2, Some(vec![3]), 2));
    }

    #[test]
    fn an_integer_column_widens_at_the_first_fraction_of_a_good_record() {
        let x: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 0.5, 2.0, 2.5]));
        let source = batch(vec![Some(1), None, Some(3), Some(4)], vec![("x", x)]);
        let layout = layout(vec![column("t", Role::Time, FieldType::Time), column("x", Role::Number, FieldType::Int)]);
        let decoded = decode(&source, &layout);
        let types: Vec<_> = decoded.batches.iter().map(|r| r.columns.schema().field(1).data_type().clone()).collect();
        assert_eq!(types, [FieldType::Int.arrow(), FieldType::Double.arrow()]);
        assert_eq!(decoded.batches[0].columns.num_rows(), 2);
        assert_eq!((decoded.batches[1].first, decoded.batches[1].columns.num_rows()), (3, 1));
        assert_eq!(decoded.layout.unwrap().columns[1].ty, FieldType::Double);
    }

    #[test]
    fn a_key_becomes_text_and_a_declared_column_stays() {
        let x: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None]));
        let source = batch(vec![Some(1), Some(2)], vec![("x", x)]);
        let mut layout = layout(vec![column("t", Role::Time, FieldType::Time), column("x", Role::Key, FieldType::Int)]);
        let decoded = decode(&source, &layout);
        assert_eq!(decoded.layout.unwrap().columns[1].ty, FieldType::Text);
        assert_eq!(decoded.batches.len(), 1);
        layout.columns[1].declared = true;
        let decoded = decode(&source, &layout);
        assert!(decoded.layout.is_none());
        assert_eq!(decoded.batches[0].bad[0].message, "column \"x\": expected a bigint, found \"a\"");
    }

    #[test]
    fn a_missing_field_is_null_and_a_missing_time_is_bad() {
        let mut layout =
            layout(vec![column("t", Role::Time, FieldType::Time), column("y", Role::Value, FieldType::Bool)]);
        let source = batch(vec![Some(1)], vec![]);
        assert_eq!(decode(&source, &layout).batches[0].columns.column(1).null_count(), 1);
        layout.columns[0].path = FieldPath::new(vec!["nowhere".into()]);
        assert_eq!(decode(&source, &layout).batches[0].bad.len(), 1);
    }
}
