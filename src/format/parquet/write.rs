//! Batches to a Parquet file.
//!
//! Must not know files: bytes are appended to what the caller passes and leave as soon as a row group is complete.
//! Invariant: the same batches give the same bytes, so nothing of the machine or the moment gets in.

use super::reason;
use crate::error::{Error, Result};
use crate::format::{EncodeOptions, Encoder};
use crate::json::as_text;
use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::{Compression, ZstdLevel};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use std::sync::Arc;

/// Rows of a row group at most. Readers work by row group: smaller ones would compress worse, larger ones share worse.
const GROUP_ROWS: usize = 1 << 20;
/// Bytes gathered for a row group at most, which bounds the writer's memory.
const GROUP_BYTES: usize = 64 << 20;

/// Makes an encoder for results: their instants are labelled with the output zone.
pub(super) fn results(schema: &SchemaRef, options: &EncodeOptions) -> Result<Box<dyn Encoder>> {
    let zone: Arc<str> = options.zone.name().into();
    Ok(Box::new(ParquetEncoder::new(labelled(schema, &zone), Some(zone))))
}

/// Makes an encoder for whole rows of an input (side files), which keep their schema.
pub fn rows_encoder(schema: &SchemaRef) -> Box<dyn Encoder> {
    Box::new(ParquetEncoder::new(Arc::clone(schema), None))
}

struct ParquetEncoder {
    /// The schema of the file.
    schema: SchemaRef,
    /// The label of instants; none: as they are.
    zone: Option<Arc<str>>,
    /// Rows of a row group at most.
    group_rows: usize,
    /// None before the first row.
    writer: Option<ArrowWriter<Vec<u8>>>,
}

impl Encoder for ParquetEncoder {
    fn write(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let batch = fitted(batch, &self.schema)?;
        let writer = self.writer()?;
        writer.write(&batch).map_err(|e| failed(&e))?;
        if writer.memory_size() > GROUP_BYTES {
            writer.flush().map_err(|e| failed(&e))?;
        }
        out.append(writer.inner_mut());
        Ok(())
    }

    fn schema_changed(&mut self, schema: &SchemaRef) -> Result<()> {
        let schema = match &self.zone {
            Some(zone) => labelled(schema, zone),
            None => Arc::clone(schema),
        };
        if self.writer.is_none() {
            self.schema = schema;
            return Ok(());
        }
        match self.schema.fields().iter().zip(schema.fields()).find(|(old, new)| !same_type(old, new)) {
            Some((old, new)) => Err(changed(old, new)),
            None => Ok(()),
        }
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        self.writer()?;
        let Some(writer) = self.writer.take() else { return Ok(()) };
        out.append(&mut writer.into_inner().map_err(|e| failed(&e))?);
        Ok(())
    }
}

impl ParquetEncoder {
    fn new(schema: SchemaRef, zone: Option<Arc<str>>) -> Self {
        Self { schema, zone, group_rows: GROUP_ROWS, writer: None }
    }

    fn writer(&mut self) -> Result<&mut ArrowWriter<Vec<u8>>> {
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None => {
                let schema = Arc::clone(&self.schema);
                ArrowWriter::try_new(Vec::new(), schema, Some(properties(self.group_rows)?)).map_err(|e| failed(&e))?
            }
        };
        Ok(self.writer.insert(writer))
    }
}

fn properties(group_rows: usize) -> Result<WriterProperties> {
    let level = ZstdLevel::try_new(3).map_err(|e| failed(&e))?;
    Ok(WriterProperties::builder()
        .set_created_by("windrow".to_owned())
        .set_compression(Compression::ZSTD(level))
        .set_max_row_group_row_count(Some(group_rows))
        .build())
}

fn failed(error: &ParquetError) -> Error {
    Error::failed(format!("cannot write Parquet: {}", reason(error)))
}

/// The schema with all its instants labelled with a zone (the instants are the same) and JSON as text.
fn labelled(schema: &SchemaRef, zone: &Arc<str>) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| match field.data_type() {
        DataType::Timestamp(TimeUnit::Microsecond, Some(_)) => {
            let ty = DataType::Timestamp(TimeUnit::Microsecond, Some(Arc::clone(zone)));
            Arc::new(Field::clone(field).with_data_type(ty))
        }
        DataType::LargeUtf8 => Arc::new(Field::clone(field).with_data_type(DataType::Utf8)),
        _ => Arc::clone(field),
    });
    Arc::new(Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone()))
}

/// The batch under the file's schema: zones are labels, dictionaries are taken apart, JSON is text.
fn fitted(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    if batch.schema_ref() == schema {
        return Ok(batch.clone());
    }
    let columns = batch.columns().iter().zip(schema.fields()).map(|(array, field)| {
        let array: ArrayRef = match array.data_type() == field.data_type() {
            true => Arc::clone(array),
            false if *array.data_type() == DataType::LargeUtf8 => as_text(array),
            false => cast(array, field.data_type())?,
        };
        Ok(array)
    });
    let fitted = columns.collect::<Result<_, arrow::error::ArrowError>>();
    fitted
        .and_then(|columns| RecordBatch::try_new(Arc::clone(schema), columns))
        .map_err(|e| Error::failed(format!("cannot write Parquet: {e}")))
}

/// Whether values of both go into one column of a file.
fn same_type(old: &Field, new: &Field) -> bool {
    let plain = |field: &Field| match field.data_type() {
        DataType::Dictionary(_, value) => DataType::clone(value),
        other => other.clone(),
    };
    plain(old) == plain(new)
}

fn changed(old: &Field, new: &Field) -> Error {
    let (from, to) = (type_name(old.data_type()), type_name(new.data_type()));
    let message = format!(
        "column \"{}\" became {to} after rows with {from} were written, and a Parquet column has one type",
        new.name()
    );
    Error::failed(message).hint(format!("--schema '{} {to}' declares it from the start", field_of(new.name())))
}

/// The field behind a result column: `amount` of `sum(amount)`.
fn field_of(column: &str) -> &str {
    column.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).unwrap_or(column)
}

/// The name of a type as `--schema` knows it.
fn type_name(ty: &DataType) -> String {
    super::fields::field_type(ty).map_or_else(|| ty.to_string(), crate::schema::FieldType::name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Zone;
    use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use arrow::array::{DictionaryArray, Float64Array, Int64Array, TimestampMicrosecondArray};
    use arrow::datatypes::Int32Type;

    fn options(zone: Zone) -> EncodeOptions {
        EncodeOptions { zone, width: None }
    }

    fn results_schema(sum: DataType) -> SchemaRef {
        let time = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
        Arc::new(Schema::new(vec![
            Field::new("window_start", time, true),
            Field::new("page", DataType::Utf8, true),
            Field::new("sum(amount)", sum, true),
        ]))
    }

    fn batch(rows: i64) -> RecordBatch {
        let words: DictionaryArray<Int32Type> = (0..rows).map(|i| Some(if i % 2 == 0 { "a" } else { "b" })).collect();
        RecordBatch::try_from_iter([
            (
                "window_start",
                Arc::new(TimestampMicrosecondArray::from_iter_values(0..rows).with_timezone("UTC")) as ArrayRef,
            ),
            ("page", Arc::new(words)),
            ("sum(amount)", Arc::new(Int64Array::from_iter_values(0..rows))),
        ])
        .unwrap()
    }

    fn written(encoder: &mut dyn Encoder, batches: &[RecordBatch]) -> Vec<u8> {
        let mut bytes = Vec::new();
        batches.iter().for_each(|b| encoder.write(b, &mut bytes).unwrap());
        encoder.finish(&mut bytes).unwrap();
        bytes
    }

    fn read(bytes: Vec<u8>) -> (SchemaRef, usize, usize) {
        let builder = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).unwrap();
        let (schema, groups) = (Arc::clone(builder.schema()), builder.metadata().num_row_groups());
        (schema, groups, builder.build().unwrap().map(|b| b.unwrap().num_rows()).sum())
    }

    #[test]
    fn results_carry_the_zone_and_are_the_same_bytes_each_time() {
        let make = || results(&results_schema(DataType::Int64), &options(Zone::UTC)).unwrap();
        let bytes = written(make().as_mut(), &[batch(3), batch(2)]);
        assert_eq!(bytes, written(make().as_mut(), &[batch(3), batch(2)]));
        let (schema, groups, rows) = read(bytes);
        assert_eq!((groups, rows), (1, 5));
        assert_eq!(schema.field(0).data_type(), results_schema(DataType::Int64).field(0).data_type());
        assert_eq!(schema.field(1).data_type(), &DataType::Utf8);
        let tokyo: Arc<str> = "Asia/Tokyo".into();
        let labelled = labelled(&results_schema(DataType::Int64), &tokyo);
        assert_eq!(labelled.field(0).data_type(), &DataType::Timestamp(TimeUnit::Microsecond, Some(tokyo)));
    }

    #[test]
    fn no_rows_are_a_file_with_a_schema() {
        let schema = results_schema(DataType::Int64);
        let bytes = written(results(&schema, &options(Zone::UTC)).unwrap().as_mut(), &[]);
        assert_eq!(read(bytes), (schema, 0, 0));
    }

    #[test]
    fn row_groups_are_cut() {
        let mut encoder = ParquetEncoder { group_rows: 10_000, ..ParquetEncoder::new(batch(1).schema(), None) };
        let mut bytes = Vec::new();
        encoder.write(&batch(10_001), &mut bytes).unwrap();
        assert!(bytes.len() > 1_000, "a complete row group has left the writer");
        encoder.finish(&mut bytes).unwrap();
        let (schema, groups, rows) = read(bytes);
        assert_eq!((groups, rows), (2, 10_001));
        assert_eq!(schema, batch(1).schema());
    }

    #[test]
    fn a_type_may_change_before_the_first_row_only() {
        let mut encoder = results(&results_schema(DataType::Int64), &options(Zone::UTC)).unwrap();
        encoder.schema_changed(&results_schema(DataType::Float64)).unwrap();
        let mut columns = batch(1).columns().to_vec();
        columns[2] = Arc::new(Float64Array::from(vec![0.5]));
        columns[1] = cast(&columns[1], &DataType::Utf8).unwrap();
        let doubles = RecordBatch::try_new(results_schema(DataType::Float64), columns).unwrap();
        let mut out = Vec::new();
        encoder.write(&doubles, &mut out).unwrap();
        encoder.schema_changed(&results_schema(DataType::Float64)).unwrap();
        let error = encoder.schema_changed(&results_schema(DataType::Utf8)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "column \"sum(amount)\" became text after rows with double were written, and a Parquet column has one type\n  \
             hint: --schema 'amount text' declares it from the start"
        );
    }
}
