//! Record formats: bytes to columns and columns to bytes, decode and encode side by side. No IO.
//!
//! Must not know files, watermarks or operators: bytes in, batches out; an error says which line or row, never a path.
//! A format is one row of [`FORMATS`]; nothing else in the crate lists the formats.
//!
//! Decoding a chunk is a pure function of the chunk and a [`Layout`], so that several threads decode chunks of one
//! input at once and hand them over in order. When a chunk changes the layout (an integer column meets a fraction),
//! the chunks behind it that were decoded too early are simply decoded again.

pub mod build;
pub mod csv;
mod json;
pub mod jsonl;
pub mod number;
pub mod parquet;
mod plain;
pub mod table;
#[cfg(test)]
mod tests;

use crate::error::{Error, Result};
use crate::event::{Raw, Times};
use crate::schema::{FieldType, Layout, Sample, Wanted};
use crate::time::TimeReader;
use arrow::array::{BooleanArray, RecordBatch};
use arrow::buffer::BooleanBuffer;
use arrow::compute::filter_record_batch;
use arrow::datatypes::SchemaRef;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// How a text input is written, where the flags say so.
#[derive(Clone, Debug)]
pub struct TextOptions {
    /// The byte between fields (`--delimiter`); none: the format's own.
    pub delimiter: Option<u8>,
    /// Whether the first record names the fields (`--no-header` clears it).
    pub header: bool,
    /// Texts that mean null (`--null`).
    pub nulls: Vec<String>,
}

/// Reads one text input: made once per input from its first bytes, shared by all threads that decode its chunks.
pub trait TextDecoder: Send + Sync {
    /// How many bytes at the start of the input are not records: a byte order mark, a header.
    fn preamble(&self) -> usize;

    /// How many lines those bytes are.
    fn preamble_lines(&self) -> u64;

    /// The length of the longest prefix of `bytes`, which start at a record, that is made of whole records with their
    /// line ends. `last`: nothing follows, so an unended record is whole.
    fn frame(&self, bytes: &[u8], last: bool) -> usize;

    /// What the first records (at most [`SAMPLE_RECORDS`](crate::schema::SAMPLE_RECORDS)) in `bytes` tell.
    /// `bytes` start behind the preamble; an unended record at the end is left out unless `last`. Bad records are
    /// passed over.
    fn sample(&self, bytes: &[u8], last: bool, wanted: &[Wanted], time: &TimeReader) -> Sample;

    /// Turns a chunk of whole records into columns.
    fn decode(&self, chunk: Arc<Vec<u8>>, layout: &Layout) -> Decoded;

    /// What must stand at the top of a side file so that records of this input can be read again: a CSV header with
    /// its line end, else nothing.
    fn header(&self) -> &[u8];
}

/// A chunk as columns.
#[derive(Debug, Default)]
pub struct Decoded {
    /// The rows in order. More than one batch when the layout changed in the middle: each has the schema in force.
    pub batches: Vec<Rows>,
    /// The layout after the chunk, if the chunk changed it.
    pub layout: Option<Arc<Layout>>,
    /// Records in the chunk, good and bad.
    pub records: u64,
    /// Lines in the chunk.
    pub lines: u64,
    /// Fields of good records that a layout of [all fields](Layout::names_all) does not list: each name once, and not
    /// endlessly many. Other formats than JSONL say at the start which fields there are.
    pub unlisted: Vec<Unlisted>,
}

/// A field that a layout does not list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unlisted {
    /// Its name.
    pub name: String,
    /// The line within the chunk, from 0, on which it came first.
    pub line: u64,
}

/// Rows with one schema.
#[derive(Debug)]
pub struct Rows {
    /// The columns of the layout in force.
    pub columns: RecordBatch,
    /// The event times (the buffer of the time column).
    pub times: Times,
    /// For each row the number of its record within the chunk, from 0; none when they are `first..`.
    pub records: Option<Vec<u32>>,
    /// The record number of the first row (or bad record) of this batch within the chunk.
    pub first: u32,
    /// The records as they stood, if the layout asked for them.
    pub raw: Raw,
    /// Records that are not rows, in order.
    pub bad: Vec<BadRecord>,
    /// The types of the layout's columns, once [`Derive`] has made other columns of them.
    pub types: Option<Arc<[FieldType]>>,
    /// The rows to be used, if not all are.
    pub selected: Option<BooleanBuffer>,
}

/// What is computed of decoded columns before anything else looks at them: the event time, keys, arguments and which
/// rows are used. A pure function of a piece, so it runs wherever pieces are decoded.
pub trait Derive: Send + Sync {
    /// Makes the job's columns of the layout's, sets aside records that fail, and finds the unit of times.
    ///
    /// `before` matters only if [`Derive::needs_places`]. None: a record failed, and to set it aside the records are
    /// needed as they stood ([`Layout::keep_raw`]).
    fn derive(&self, decoded: Decoded, layout: &Layout, before: Before) -> Result<Option<Decoded>>;

    /// Whether a column tells where a record stands, which is only known once all pieces before it are decoded.
    fn needs_places(&self) -> bool;
}

/// What stands before a piece in its input.
#[derive(Clone, Copy, Debug, Default)]
pub struct Before {
    /// Lines.
    pub lines: u64,
    /// Records.
    pub records: u64,
}

impl Rows {
    /// The types of the columns that a decoder made.
    pub fn field_types(&self) -> Vec<FieldType> {
        self.columns.schema().fields().iter().map(|field| FieldType::of(field.data_type())).collect()
    }

    /// The number of a row's record within its chunk.
    pub fn record(&self, row: usize) -> u32 {
        match &self.records {
            Some(records) => records[row],
            None => self.first + row as u32,
        }
    }

    /// The line of each row in the input, from 1 (of a columnar format: its record), if the records were kept.
    pub fn lines(&self, before: Before) -> Vec<i64> {
        match &self.raw {
            Raw::Text(chunk, spans) => {
                lines_of(chunk, spans).into_iter().map(|line| (before.lines + u64::from(line)) as i64 + 1).collect()
            }
            _ => (0..self.columns.num_rows())
                .map(|row| (before.records + u64::from(self.record(row))) as i64 + 1)
                .collect(),
        }
    }

    /// Takes rows out that turned out bad. None if the records were not kept.
    pub fn set_aside(self, bad: &BTreeMap<usize, String>) -> Result<Option<Self>> {
        let lines = match &self.raw {
            Raw::None => return Ok(None),
            Raw::Text(chunk, spans) => Some(lines_of(chunk, spans)),
            Raw::Rows(_) => None,
        };
        let rows = self.columns.num_rows();
        let kept: Vec<usize> = (0..rows).filter(|row| !bad.contains_key(row)).collect();
        let good: BooleanArray = (0..rows).map(|row| Some(!bad.contains_key(&row))).collect();
        let filter = |batch: &RecordBatch| {
            filter_record_batch(batch, &good).map_err(|e| Error::failed(format!("cannot set records aside: {e}")))
        };
        let record_of: Vec<u32> = kept.iter().map(|&row| self.record(row)).collect();
        let more = bad.iter().map(|(&row, message)| BadRecord {
            record: self.record(row),
            before_row: 0,
            line: lines.as_ref().map_or_else(|| u64::from(self.record(row)), |lines| u64::from(lines[row])),
            message: message.clone(),
            bytes: match &self.raw {
                Raw::Text(_, spans) => spans[row].0 as usize..spans[row].1 as usize,
                _ => 0..0,
            },
            row: match &self.raw {
                Raw::Rows(rows) => Some(rows.slice(row, 1)),
                _ => None,
            },
        });
        let mut all: Vec<BadRecord> = self.bad.iter().cloned().chain(more).collect();
        all.sort_by_key(|bad| bad.record);
        all.iter_mut().for_each(|bad| bad.before_row = record_of.partition_point(|&record| record < bad.record));
        let raw = match &self.raw {
            Raw::Text(chunk, spans) => Raw::Text(Arc::clone(chunk), kept.iter().map(|&row| spans[row]).collect()),
            Raw::Rows(rows) => Raw::Rows(filter(rows)?),
            Raw::None => Raw::None,
        };
        let selected = self.selected.as_ref().map(|all| kept.iter().map(|&row| all.value(row)).collect());
        Ok(Some(Rows {
            columns: filter(&self.columns)?,
            times: Times::new(kept.iter().map(|&row| self.times.micros()[row]).collect()),
            records: Some(record_of),
            first: self.first,
            raw,
            bad: all,
            types: self.types,
            selected,
        }))
    }
}

/// How many lines of a chunk stand before each row.
pub fn lines_of(chunk: &[u8], spans: &[(u32, u32)]) -> Vec<u32> {
    let (mut line, mut at) = (0, 0);
    let each = spans.iter().map(|&(start, _)| {
        line += memchr::memchr_iter(b'\n', &chunk[at..start as usize]).count() as u32;
        at = start as usize;
        line
    });
    each.collect()
}

/// A record that could not become a row.
#[derive(Clone, Debug)]
pub struct BadRecord {
    /// Its number within the chunk.
    pub record: u32,
    /// How many rows of its batch stand before it.
    pub before_row: usize,
    /// Its first line within the chunk, from 0 (of a columnar format: its row within the piece).
    pub line: u64,
    /// What was expected and found: `column "ts": expected a time, found "n/a"`.
    pub message: String,
    /// Its bytes within the chunk without the line end; empty for a columnar format.
    pub bytes: Range<usize>,
    /// The whole row, for a columnar format.
    pub row: Option<RecordBatch>,
}

/// Writes one output: columns in, bytes out.
pub trait Encoder: Send {
    /// Appends the bytes for a batch. Batches have the schema the encoder was made with.
    fn write(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()>;

    /// Appends what was held back only for looks: a reader is waiting for the rows so far.
    fn flush(&mut self, _out: &mut Vec<u8>) -> Result<()> {
        Ok(())
    }

    /// The column types changed (an integer column met a fraction). Text formats go on; a typed format explains.
    fn schema_changed(&mut self, schema: &SchemaRef) -> Result<()>;

    /// Appends what stands at the end.
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()>;
}

/// How output is written, beside its format.
#[derive(Clone, Debug)]
pub struct EncodeOptions {
    /// The zone output times are written in.
    pub zone: crate::time::Zone,
    /// The width of the terminal, for tables; none when unlimited.
    pub width: Option<usize>,
}

/// Makes a decoder from the first bytes of an input (all of them, if `last`).
pub type OpenText = fn(head: &[u8], last: bool, options: &TextOptions) -> Result<Box<dyn TextDecoder>>;

/// Makes an encoder for results of a schema.
pub type MakeEncoder = fn(schema: &SchemaRef, options: &EncodeOptions) -> Result<Box<dyn Encoder>>;

/// How a format's input is read.
#[derive(Clone, Copy)]
pub enum Read {
    /// It is not an input format.
    No,
    /// Records framed in bytes, read as a stream.
    Text(OpenText),
    /// Columns with a directory at the end; needs a file that can be sought. See [`parquet`].
    Columns,
}

/// A row of the table of formats.
pub struct FormatKind {
    /// Its name for `-i` and `-O`.
    pub name: &'static str,
    /// File name extensions, without the dot.
    pub extensions: &'static [&'static str],
    /// One line for help.
    pub doc: &'static str,
    /// Whether these first bytes are of this format; asked in the table's order, after the extension did not tell.
    pub sniff: fn(head: &[u8]) -> bool,
    /// How it is read.
    pub read: Read,
    /// Makes an encoder; none when it is not an output format. The schema is that of the results.
    pub write: Option<MakeEncoder>,
}

/// Every format there is.
pub static FORMATS: &[&FormatKind] =
    &[&jsonl::JSONL, &jsonl::JSON, &parquet::PARQUET, &csv::CSV, &csv::TSV, &table::TABLE];

/// The format of this name.
pub fn find(name: &str) -> Option<&'static FormatKind> {
    FORMATS.iter().copied().find(|kind| kind.name.eq_ignore_ascii_case(name))
}

/// Whether a file name tells that its bytes are compressed.
pub fn is_compressed(path: &std::path::Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gz") || e.eq_ignore_ascii_case("zst"))
}

/// The format that a file name's extension tells (behind a compression's extension).
pub fn by_extension(path: &std::path::Path) -> Option<&'static FormatKind> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    match extension.as_str() {
        "gz" | "zst" => by_extension(std::path::Path::new(path.file_stem()?)),
        _ => FORMATS.iter().copied().find(|kind| kind.extensions.contains(&extension.as_str())),
    }
}

#[cfg(test)]
mod table_tests {
    use super::*;
    use std::collections::HashSet;
    use std::path::Path;

    #[test]
    fn every_format_is_found_by_its_name_and_extensions_and_says_what_it_is() {
        let mut names = HashSet::new();
        let mut extensions = HashSet::new();
        for kind in FORMATS {
            assert!(names.insert(kind.name), "{} stands twice", kind.name);
            assert!(!kind.doc.is_empty() && kind.doc.len() < 100, "{}", kind.name);
            assert!(!matches!(kind.read, Read::No) || kind.write.is_some(), "{} is good for nothing", kind.name);
            assert_eq!(find(&kind.name.to_uppercase()).map(|found| found.name), Some(kind.name));
            for extension in kind.extensions {
                assert!(extensions.insert(*extension), "{extension} stands twice");
                for name in [format!("a.{extension}"), format!("a.{extension}.GZ"), format!("a.{extension}.zst")] {
                    assert_eq!(by_extension(Path::new(&name)).map(|found| found.name), Some(kind.name), "{name}");
                }
            }
        }
        assert!(by_extension(Path::new("a.gz")).is_none() && by_extension(Path::new("jsonl")).is_none());
    }

    #[test]
    fn first_bytes_tell_one_input_format_at_most() {
        for head in [&b"{\"a\":1}\n"[..], b"a,b\n1,2\n", b"a\tb\n1\t2\n", b"PAR1\x15\x04"] {
            let sniffed = FORMATS.iter().filter(|kind| (kind.sniff)(head)).count();
            assert_eq!(sniffed, 1, "{}", String::from_utf8_lossy(head));
        }
    }
}
