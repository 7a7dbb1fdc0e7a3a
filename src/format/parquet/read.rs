//! Opens a file by its footer, tells what is in it, and decodes its row groups.
//!
//! Must not know how a value becomes a column's ([`super::convert`]) or which records are bad ([`super::rows`]).
//! Invariants: only the columns that a layout asks for are read, unless it keeps whole rows; a row group is skipped
//! only when nothing in it could have been counted as bad.

use super::convert::{always_fits, dictionary_of_text};
use super::{MAGIC, fields, reason, rows, text, times};
use crate::error::{Error, Result};
use crate::format::Decoded;
use crate::schema::{FieldInfo, FieldType, Layout, Role, SAMPLE_RECORDS, Sample, Wanted};
use crate::time::{TimeFormat, TimeReader, Ts, Unit};
use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use ::parquet::basic::{Encoding, Type as PhysicalType};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader};
use ::parquet::file::reader::ChunkReader;
use ::parquet::file::statistics::Statistics;
use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::datatypes::{
    DataType, Date32Type, Int64Type, SchemaRef, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use std::collections::HashMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Rows decoded at a time: large enough that a column's start-up cost vanishes, small enough for the cache.
const BATCH_ROWS: usize = 32_768;

/// A Parquet file whose footer has been read; shared by all threads that decode its pieces.
pub struct ParquetInput {
    metadata: Arc<ParquetMetaData>,
    /// How whole rows are read.
    whole: ArrowReaderMetadata,
    pieces: Vec<Piece>,
}

/// A unit of parallel work: a row group, or a part of one that is too large to be held whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The row group's index.
    group: usize,
    /// How many rows of the row group stand before it.
    offset: u64,
    /// How many rows it has.
    pub rows: u64,
    /// How many rows of the file stand before it.
    pub first_row: u64,
    /// Bytes of all its columns, as they are in the file (of a part: its share).
    pub compressed: u64,
}

impl ParquetInput {
    /// Reads the footer. Pieces may be read by several threads at once, so a file's reader must not share one
    /// position between its clones (as `std::fs::File` does).
    pub fn open<R: ChunkReader>(reader: &R) -> Result<Self> {
        Self::open_in_parts(reader, LARGE_GROUP, PART)
    }

    /// As [`ParquetInput::open`]; row groups with more than `large` rows come in parts of `part` rows.
    pub(super) fn open_in_parts<R: ChunkReader>(reader: &R, large: u64, part: u64) -> Result<Self> {
        check_magic(reader)?;
        let metadata = guarded(|| ParquetMetaDataReader::new().parse_and_finish(reader)).map_err(damaged_footer)?;
        let metadata = Arc::new(metadata);
        let whole = guarded(|| whole_rows(&metadata)).map_err(damaged_footer)?;
        let pieces = pieces(&metadata, large, part)?;
        Ok(Self { metadata, whole, pieces })
    }

    /// The row groups in the file's order.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// How many rows the file has.
    pub fn total_rows(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.rows).sum()
    }

    /// The schema of whole rows, as a layout that keeps them gets them.
    pub fn full_schema(&self) -> SchemaRef {
        Arc::clone(self.whole.schema())
    }

    /// Tells the fields and their types, from the schema. Values are read only to find the unit of times that are
    /// numbers (up to the first that tells) and, when no time field is wanted or the file lacks it, to see which
    /// fields look like times.
    pub fn sample<R: ChunkReader + Clone + 'static>(
        &self,
        reader: &R,
        wanted: &[Wanted],
        time: &TimeReader,
    ) -> Result<Sample> {
        let schema = self.whole.schema();
        let find = |wanted: &Wanted| fields::find(schema, &wanted.path);
        let mut fields = fields::all(schema);
        let time_unit = match wanted.iter().find(|w| w.role == Role::Time).and_then(find) {
            Some(found) => self.time_unit(reader, &found, time)?,
            None => {
                self.see_times(reader, &mut fields, time)?;
                None
            }
        };
        let types = wanted.iter().map(|w| find(w).and_then(|found| fields::type_for(w.role, &found.ty))).collect();
        let names = fields::names(schema);
        let records = usize::try_from(self.total_rows()).unwrap_or(SAMPLE_RECORDS).min(SAMPLE_RECORDS);
        Ok(Sample { fields, names, types, time_unit, records })
    }

    /// The unit that the first number of a time column tells.
    fn time_unit<R>(&self, reader: &R, found: &fields::Found, time: &TimeReader) -> Result<Option<Unit>>
    where
        R: ChunkReader + Clone + 'static,
    {
        let ty = fields::field_type(&found.ty);
        let told_by_size = time.format == TimeFormat::Auto && time.unit.is_none();
        if !told_by_size || found.leaves.len() != 1 || matches!(ty, None | Some(FieldType::Time)) {
            return Ok(None);
        }
        for piece in 0..self.pieces.len() {
            let mask = self.mask([found.leaves.clone()]);
            for batch in Batches::new(reader.clone(), self.whole.clone(), mask, &self.pieces[piece], SAMPLE_RECORDS)? {
                let Some(array) = only_leaf(&batch?) else { return Ok(None) };
                let instants = times::read(&array, time);
                let text_told = ty == Some(FieldType::Text) && instants.micros.iter().any(|&micros| micros != 0);
                if instants.unit.is_some() || text_told {
                    return Ok(instants.unit);
                }
            }
        }
        Ok(None)
    }

    /// Marks the fields whose first value looks like a time.
    fn see_times<R>(&self, reader: &R, infos: &mut [FieldInfo], time: &TimeReader) -> Result<()>
    where
        R: ChunkReader + Clone + 'static,
    {
        if self.pieces.is_empty() {
            return Ok(());
        }
        let mut batches =
            Batches::new(reader.clone(), self.whole.clone(), ProjectionMask::all(), &self.pieces[0], SAMPLE_RECORDS)?;
        let Some(batch) = batches.next() else { return Ok(()) };
        let batch = batch?;
        for info in infos.iter_mut().filter(|info| info.ty != Some(FieldType::Time)) {
            info.looks_like_time = fields::column(&batch, &info.path).is_some_and(|a| looks_like_time(&a, time));
        }
        Ok(())
    }

    /// Least and greatest event time of a piece, or a little beyond them. None when they are not known for sure, or
    /// when some record of the piece might be bad: then it must be read to be counted rightly.
    pub fn time_range(&self, piece: usize, layout: &Layout) -> Option<(Ts, Ts)> {
        let schema = self.whole.schema();
        for (index, column) in layout.columns.iter().enumerate() {
            let found = fields::find(schema, &column.path);
            if Some(index) != layout.time && !found.is_none_or(|f| always_fits(&f.ty, column.ty)) {
                return None;
            }
        }
        let found = fields::find(schema, &layout.columns[layout.time?].path)?;
        let chunk = self.metadata.row_group(self.pieces[piece].group).columns().get(found.leaves.start)?;
        let statistics = chunk.statistics()?;
        let no_nulls = chunk.column_descr().max_def_level() == 0 || statistics.null_count_opt() == Some(0);
        let ends = no_nulls.then(|| ends(statistics, &found.ty)).flatten()?;
        times::bounds(&ends, &layout.time_reader)
    }

    /// Decodes a whole piece. All numbers of the result count from the piece's first row.
    pub fn decode_piece<R: ChunkReader + 'static>(&self, reader: R, piece: usize, layout: &Layout) -> Result<Decoded> {
        let mut decoded = Decoded::default();
        for batch in self.batches(reader, piece, layout)? {
            rows::append(&batch?, layout, &mut decoded).map_err(|e| in_group(e, self.pieces[piece].group))?;
        }
        Ok(decoded)
    }

    fn batches<R: ChunkReader + 'static>(&self, reader: R, piece: usize, layout: &Layout) -> Result<Batches> {
        let piece = &self.pieces[piece];
        let metadata = self.with_dictionaries(piece.group, layout).map_err(|e| failed_in(piece.group, &e))?;
        Batches::new(reader, metadata, self.projection(layout), piece, BATCH_ROWS)
    }

    fn mask(&self, leaves: impl IntoIterator<Item = Range<usize>>) -> ProjectionMask {
        ProjectionMask::leaves(self.metadata.file_metadata().schema_descr(), leaves.into_iter().flatten())
    }

    fn projection(&self, layout: &Layout) -> ProjectionMask {
        match layout.keep_raw {
            true => ProjectionMask::all(),
            false => self.mask(
                layout.columns.iter().filter_map(|c| fields::find(self.whole.schema(), &c.path)).map(|f| f.leaves),
            ),
        }
    }

    /// Has text columns read as dictionaries where all their pages are: half the work for them, and grouping by them
    /// costs a table look-up. Whole rows keep the file's own types.
    fn with_dictionaries(&self, group: usize, layout: &Layout) -> Result<ArrowReaderMetadata, ParquetError> {
        if layout.keep_raw {
            return Ok(self.whole.clone());
        }
        let schema = self.whole.schema();
        let group = self.metadata.row_group(group);
        let mut changes = HashMap::new();
        // Which leaf of an array a path leads to is not known here.
        let whole = layout.columns.iter().enumerate().filter(|(_, column)| column.path.inside().is_empty());
        for (index, column) in whole {
            let Some(found) = fields::find(schema, &column.path) else { continue };
            let Some(chunk) = group.columns().get(found.leaves.start) else { continue };
            let dictionary = Some(index) != layout.time && column.ty == FieldType::Text && all_dictionary(chunk);
            if let Some(ty) = text_type(&found.ty, dictionary) {
                changes.insert(found.leaves.start, ty);
            }
        }
        let schema = fields::retype(schema, &|leaf, _| changes.get(&leaf).cloned());
        let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
        ArrowReaderMetadata::try_new(Arc::clone(&self.metadata), options)
    }
}

/// The batches of a row group as the file has them; nothing after an error.
struct Batches {
    reader: Option<ParquetRecordBatchReader>,
    group: usize,
    missing: u64,
}

impl Batches {
    fn new<R: ChunkReader + 'static>(
        reader: R,
        metadata: ArrowReaderMetadata,
        mask: ProjectionMask,
        piece: &Piece,
        batch_rows: usize,
    ) -> Result<Self> {
        let whole = unsigned(metadata.metadata().row_group(piece.group).num_rows()) == piece.rows;
        let mut builder = ParquetRecordBatchReaderBuilder::new_with_metadata(reader, metadata)
            .with_row_groups(vec![piece.group])
            .with_projection(mask)
            .with_batch_size(batch_rows);
        if !whole {
            let rows = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
            builder = builder.with_offset(rows(piece.offset)).with_limit(rows(piece.rows));
        }
        let reader = guarded(|| builder.build()).map_err(|e| failed_in(piece.group, &e))?;
        Ok(Self { reader: Some(reader), group: piece.group, missing: piece.rows })
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Result<RecordBatch>> {
        let mut reader = self.reader.take()?;
        match guarded(|| reader.next().transpose().map_err(ParquetError::from)) {
            Ok(Some(batch)) => {
                self.missing = self.missing.saturating_sub(batch.num_rows() as u64);
                self.reader = Some(reader);
                Some(Ok(batch))
            }
            Ok(None) if self.missing == 0 => None,
            Ok(None) => {
                let short = format!("it lacks {} of the rows that the footer tells", self.missing);
                Some(Err(failed_in(self.group, &ParquetError::General(short))))
            }
            Err(error) => Some(Err(failed_in(self.group, &error))),
        }
    }
}

/// The library panics on some damaged files; that is an error like any other.
fn guarded<T>(work: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(ParquetError::General("its bytes make no sense".into())))
}

fn failed_in(group: usize, error: &ParquetError) -> Error {
    in_group(Error::failed(format!("cannot be decoded: {}", reason(error))), group)
}

fn in_group(error: Error, group: usize) -> Error {
    error.at(format_args!("row group {}", group + 1))
}

fn damaged_footer(error: ParquetError) -> Error {
    let message = format!("the footer of this Parquet file cannot be read: {}", reason(&error));
    Error::failed(message).hint("the file may have been cut off or changed on its way here")
}

fn check_magic<R: ChunkReader>(reader: &R) -> Result<()> {
    const ENCRYPTED: &[u8] = b"PARE";
    let len = reader.len();
    if len == 0 {
        return Err(Error::failed("expected a Parquet file, found an empty one"));
    }
    let bytes_at = |at: u64| reader.get_bytes(at, MAGIC.len()).map_err(|e| Error::failed(reason(&e)));
    let ends = (len >= 8).then(|| Ok::<_, Error>((bytes_at(0)?, bytes_at(len - 4)?))).transpose()?;
    match ends.as_ref().map(|(head, tail)| (&head[..], &tail[..])) {
        Some((MAGIC, MAGIC)) => Ok(()),
        Some((ENCRYPTED, _) | (_, ENCRYPTED)) => {
            Err(Error::failed("expected a plain Parquet file, found an encrypted one").hint("decrypt it first"))
        }
        Some((MAGIC, _)) => {
            let message = "expected the end of a Parquet file (PAR1), found other bytes: the file is cut off";
            Err(Error::failed(message).hint("its writer was stopped, or is not done yet, or a copy broke off"))
        }
        _ => Err(Error::failed("expected a Parquet file, found bytes that do not begin and end with PAR1")
            .hint("-i FORMAT says what the file is")),
    }
}

/// How whole rows are read. The types are those of the file's writer, unless it lies about them, with two exceptions:
/// INT96 is taken as microseconds, since its days reach beyond what nanoseconds can count; dictionaries of text get
/// the wide keys that no row group can overflow.
fn whole_rows(metadata: &Arc<ParquetMetaData>) -> Result<ArrowReaderMetadata, ParquetError> {
    let load = |options| ArrowReaderMetadata::try_new(Arc::clone(metadata), options);
    let own =
        load(ArrowReaderOptions::new()).or_else(|_| load(ArrowReaderOptions::new().with_skip_arrow_metadata(true)))?;
    let columns = metadata.file_metadata().schema_descr();
    let schema = fields::retype(own.schema(), &|leaf, ty| match ty {
        DataType::Timestamp(TimeUnit::Nanosecond, _)
            if leaf < columns.num_columns() && columns.column(leaf).physical_type() == PhysicalType::INT96 =>
        {
            Some(DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())))
        }
        DataType::Dictionary(_, value) if is_text(value) => Some(dictionary_of_text()),
        _ => None,
    });
    load(ArrowReaderOptions::new().with_schema(Arc::new(schema)))
}

/// A row group with more rows than this is decoded in parts, so that memory does not grow with it.
const LARGE_GROUP: u64 = 2 << 20;

/// Rows of a part. Pages before it are passed over by their headers; only the page at a seam is decoded twice.
const PART: u64 = 1 << 20;

fn pieces(metadata: &ParquetMetaData, large: u64, part: u64) -> Result<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut first_row = 0;
    for (group, data) in metadata.row_groups().iter().enumerate() {
        let negative = |_| damaged_footer(ParquetError::General("a row group has a negative size".into()));
        let rows = u64::try_from(data.num_rows()).map_err(negative)?;
        let compressed: u64 = data.columns().iter().map(|chunk| unsigned(chunk.compressed_size())).sum();
        let part = if rows > large { part } else { rows.max(1) };
        let share = compressed / rows.max(1).div_ceil(part);
        for offset in (0..rows.max(1)).step_by(usize::try_from(part).unwrap_or(usize::MAX)) {
            let rows = part.min(rows - offset);
            pieces.push(Piece { group, offset, rows, first_row, compressed: share });
            first_row += rows;
        }
    }
    Ok(pieces)
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

fn is_text(ty: &DataType) -> bool {
    matches!(ty, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// How to read a column of text, when not as the file's writer had it.
fn text_type(ty: &DataType, dictionary: bool) -> Option<DataType> {
    match (ty, dictionary) {
        (ty, true) if is_text(ty) => Some(dictionary_of_text()),
        (DataType::Binary, true) => Some(DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Binary))),
        (DataType::Dictionary(_, value), false) if is_text(value) => Some(DataType::Utf8),
        (DataType::LargeUtf8 | DataType::Utf8View, false) => Some(DataType::Utf8),
        _ => None,
    }
}

/// Whether every data page of a column chunk is in dictionary encoding.
fn all_dictionary(chunk: &ColumnChunkMetaData) -> bool {
    const DICTIONARY: [Encoding; 2] = [Encoding::RLE_DICTIONARY, Encoding::PLAIN_DICTIONARY];
    match chunk.page_encoding_stats_mask() {
        Some(mask) => DICTIONARY.iter().any(|&encoding| mask.is_only(encoding)),
        // Older writers list the encodings alone; PLAIN among them may be the dictionary itself or pages after it.
        None => {
            let all: Vec<Encoding> = chunk.encodings().collect();
            DICTIONARY.iter().any(|e| all.contains(e)) && !all.contains(&Encoding::PLAIN)
        }
    }
}

/// The one leaf of a batch that was projected to one.
fn only_leaf(batch: &RecordBatch) -> Option<ArrayRef> {
    let path = fields::all(batch.schema_ref()).into_iter().next()?.path;
    fields::column(batch, &path)
}

fn looks_like_time(array: &ArrayRef, time: &TimeReader) -> bool {
    /// As seconds, 1973: smaller numbers are more likely to be anything else.
    const LEAST: f64 = 1e8;
    let text_column = matches!(array.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let Some(row) = (0..array.len()).find(|&row| array.is_valid(row)) else { return false };
    let value = array.slice(row, 1);
    let likely = match text::value_text(&value, 0).parse::<f64>() {
        Ok(number) => number >= LEAST && !text_column,
        Err(_) => true,
    };
    likely && times::read(&value, time).bad.is_empty()
}

/// The least and greatest value of a chunk as a column of the file's type; none for types whose statistics are not
/// exact or not in the order of time.
fn ends(statistics: &Statistics, ty: &DataType) -> Option<ArrayRef> {
    let (low, high) = match statistics {
        Statistics::Int64(values) => (*values.min_opt()?, *values.max_opt()?),
        Statistics::Int32(values) => (i64::from(*values.min_opt()?), i64::from(*values.max_opt()?)),
        _ => return None,
    };
    Some(match ty {
        DataType::Timestamp(TimeUnit::Second, _) => times::ends::<TimestampSecondType>(low, high, ty),
        DataType::Timestamp(TimeUnit::Millisecond, _) => times::ends::<TimestampMillisecondType>(low, high, ty),
        DataType::Timestamp(TimeUnit::Microsecond, _) => times::ends::<TimestampMicrosecondType>(low, high, ty),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => times::ends::<TimestampNanosecondType>(low, high, ty),
        DataType::Date32 => times::ends::<Date32Type>(i32::try_from(low).ok()?, i32::try_from(high).ok()?, ty),
        ty if ty.is_signed_integer() => times::ends::<Int64Type>(low, high, &DataType::Int64),
        _ => return None,
    })
}
