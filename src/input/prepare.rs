//! Inputs opened, their formats told, their first records looked at: all that is known before the run begins.
//!
//! Must not know what the fields are for. Nothing that was read here is lost: the bytes go to the lanes.

use super::bytes::{self, Bytes, Chunker, Counters, Opened};
use super::columns::{ColumnReader, Columns};
use super::merge::Merge;
use super::pool::{Decoding, Lane, MAX_OPEN, Pool, Reader, Traffic, Work};
use crate::error::{Error, Result};
use crate::format::{self, Derive, FORMATS, FormatKind, Read, TextDecoder};
use crate::plan::{ClockPlan, InputPath, InputPlan};
use crate::schema::{FieldPath, Layout, SAMPLE_RECORDS, Sample, Wanted};
use crate::signals;
use crate::time::{TimeReader, Ts};
use arrow::datatypes::SchemaRef;
use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long a live input is waited for before types are inferred from what is there (SPEC section 6).
const PATIENCE: Duration = Duration::from_secs(1);

/// Enough for a thousand records of usual size in one read.
const HEAD: usize = 512 << 10;

/// The sample is not taken from more than this, however long the records are.
const MAX_HEAD: usize = 64 << 20;

/// Chunks of a single input: small enough for a core's own cache, large enough that handing one over costs nothing.
const CHUNK: usize = 512 << 10;

/// All chunks of many inputs together should not be larger than this by much.
const CHUNKS_OF_MANY: usize = 16 << 20;

/// An input that is ready to be read.
pub struct Prepared {
    /// Its name for people.
    pub name: String,
    /// Its format.
    pub format: &'static FormatKind,
    /// What its first records tell.
    pub sample: Sample,
    /// What must stand at the top of a side file of its records.
    pub header: Vec<u8>,
    /// The schema of its whole rows, of a columnar format.
    pub schema: Option<SchemaRef>,
    /// Its size, if it is a regular file.
    pub size: u64,
    path: InputPath,
    source: Source,
    counters: Counters,
    /// How the sample's times are read.
    time: TimeReader,
    /// How many bytes the sample was taken from.
    head: usize,
}

enum Source {
    Text { chunker: Chunker, decoder: Arc<dyn TextDecoder>, stream: bool },
    Columns(Arc<Columns>),
}

/// Pipes and devices among the inputs, opened.
pub struct Streams(Vec<Option<Opened>>);

impl Streams {
    /// Opens the pipes and devices of a plan, and waits for none of them: whoever writes to several opens all before
    /// writing to the first.
    pub fn open(plan: &InputPlan) -> Result<Self> {
        let open = |path: &InputPath| match path.path() {
            Some(file) if file.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) => {
                bytes::open(path).map(Some)
            }
            _ => Ok(None),
        };
        plan.paths.iter().map(open).collect::<Result<_>>().map(Self)
    }
}

/// Opens every input and looks at its first records.
pub fn prepare(plan: &InputPlan, streams: Streams, wanted: &[Wanted], traffic: &Traffic) -> Result<Vec<Prepared>> {
    let many = plan.paths.len() > MAX_OPEN;
    let mut all = Vec::with_capacity(plan.paths.len());
    for (path, stream) in plan.paths.iter().zip(streams.0) {
        let opening = Opening::of(plan, path, wanted, traffic);
        let mut prepared = opening.prepare(stream).map_err(|e| e.at(bytes::name(path)))?;
        if let (true, Source::Text { chunker, stream: false, .. }) = (many, &mut prepared.source) {
            chunker.close();
        }
        all.push(prepared);
    }
    Ok(all)
}

/// One input on its way to be prepared, and what is wanted of it.
struct Opening<'a> {
    plan: &'a InputPlan,
    path: &'a InputPath,
    wanted: &'a [Wanted],
    time: TimeReader,
    counters: Counters,
}

impl<'a> Opening<'a> {
    fn of(plan: &'a InputPlan, path: &'a InputPath, wanted: &'a [Wanted], traffic: &Traffic) -> Self {
        let time = TimeReader::new(plan.time_format.clone(), plan.zone.clone());
        let counters = Counters { all: Arc::clone(&traffic.read), ..Counters::default() };
        Self { plan, path, wanted, time, counters }
    }

    fn prepare(self, stream: Option<Opened>) -> Result<Prepared> {
        let opened = stream.map_or_else(|| bytes::open(self.path), Ok).map_err(|e| strip_name(e, self.path))?;
        bytes::wait_for_writer(&opened)?;
        if opened.regular && opened.size == 0 && self.path.path().is_some_and(format::is_compressed) {
            return Err(bytes::read_error(&std::io::ErrorKind::UnexpectedEof.into()));
        }
        let said = self.plan.format.or_else(|| by_name(self.path));
        match said.map(|kind| (kind, kind.read)) {
            Some((kind, Read::Columns)) if !self.path.path().is_some_and(format::is_compressed) => {
                self.columns(kind, opened)
            }
            _ => self.bytes(said, opened),
        }
    }

    fn bytes(self, said: Option<&'static FormatKind>, opened: Opened) -> Result<Prepared> {
        let (stream, size) = (!opened.regular, opened.size);
        let mut head = Head::read(opened, self.counters.clone())?;
        let kind = said.map_or_else(|| sniff(&head.read), Ok)?;
        let open = match kind.read {
            Read::Text(open) => open,
            Read::Columns => return self.piped_columns(kind, head),
            Read::No => return Err(Error::usage(format!("{} is an output format only", kind.name))),
        };
        loop {
            match open(&head.read, head.ended, &self.plan.text) {
                Ok(decoder) => {
                    let records = &head.read[decoder.preamble().min(head.read.len())..];
                    let sample = decoder.sample(records, head.ended, self.wanted, &self.time);
                    if sample.records >= SAMPLE_RECORDS || !head.can_grow() {
                        return Ok(self.text(kind, decoder.into(), sample, head, stream, size));
                    }
                }
                // A header may be longer than what was read.
                Err(error) if head.is_whole() => return Err(error),
                Err(_) => {}
            }
            head.grow()?;
        }
    }

    fn text(
        self,
        format: &'static FormatKind,
        decoder: Arc<dyn TextDecoder>,
        sample: Sample,
        head: Head,
        stream: bool,
        size: u64,
    ) -> Prepared {
        let header = decoder.header().to_vec();
        let chunker = Chunker::new(head.bytes, Arc::clone(&decoder), head.read, head.ended, self.counters.clone());
        let source = Source::Text { chunker, decoder, stream };
        self.prepared(format, sample, header, None, size, source)
    }

    fn columns(self, kind: &'static FormatKind, opened: Opened) -> Result<Prepared> {
        let size = opened.size;
        let columns = Columns::open(opened, self.counters.clone())?;
        let sample = columns.input.sample(columns.file(), self.wanted, &self.time)?;
        let schema = Some(columns.input.full_schema());
        Ok(self.prepared(kind, sample, Vec::new(), schema, size, Source::Columns(Arc::new(columns))))
    }

    /// Columns whose format was only told by their first bytes: a pipe, or a file with another extension. Copying
    /// them does not count as reading.
    fn piped_columns(self, kind: &'static FormatKind, head: Head) -> Result<Prepared> {
        let opened = super::columns::spool(std::io::Cursor::new(head.read).chain(head.bytes.into_read()))?;
        self.counters.all.store(0, Ordering::Relaxed);
        self.counters.own.store(0, Ordering::Relaxed);
        self.columns(kind, opened)
    }

    fn prepared(
        self,
        format: &'static FormatKind,
        sample: Sample,
        header: Vec<u8>,
        schema: Option<SchemaRef>,
        size: u64,
        source: Source,
    ) -> Prepared {
        let (name, path) = (bytes::name(self.path), self.path.clone());
        let head = match &source {
            Source::Text { chunker, .. } => chunker.head().0.len(),
            Source::Columns(_) => 0,
        };
        let (counters, time) = (self.counters, self.time);
        Prepared { name, format, sample, header, schema, size, path, source, counters, time, head }
    }
}

/// The first bytes of an input, as many as are needed to know it.
struct Head {
    bytes: Bytes,
    read: Vec<u8>,
    ended: bool,
    /// A live input is not waited for beyond this.
    patience: Instant,
}

impl Head {
    fn read(opened: Opened, counters: Counters) -> Result<Self> {
        let failed = |e: std::io::Error| Error::failed(crate::error::io_reason(&e));
        let bytes = Bytes::new(opened, counters).map_err(failed)?;
        let mut head = Self { bytes, read: Vec::new(), ended: false, patience: Instant::now() + PATIENCE };
        head.fill(HEAD)?;
        Ok(head)
    }

    /// Whether nothing more will be looked at.
    fn is_whole(&self) -> bool {
        self.ended || self.read.len() >= MAX_HEAD
    }

    /// Whether there is more to look at now.
    fn can_grow(&self) -> bool {
        !self.is_whole() && self.bytes.is_ready(self.patience)
    }

    fn grow(&mut self) -> Result<()> {
        self.fill(self.read.len() * 2)
    }

    /// Reads until `size` bytes are there or the input ends. A live input that has given a whole line is not waited
    /// for beyond the patience there is.
    fn fill(&mut self, size: usize) -> Result<()> {
        while self.read.len() < size && !self.ended {
            while !self.bytes.is_ready(self.patience.max(Instant::now() + signals::TICK)) {
                signals::check()?;
                if self.read.ends_with(b"\n") {
                    return Ok(());
                }
            }
            self.ended = self.bytes.fill(&mut self.read, size).map_err(|e| bytes::read_error(&e))?;
        }
        Ok(())
    }
}

/// The caller puts the name in front of every error alike.
fn strip_name(error: Error, path: &InputPath) -> Error {
    let prefix = format!("{}: ", bytes::name(path));
    let message = error.message().strip_prefix(&prefix).unwrap_or(error.message()).to_owned();
    let bare = Error::new(error.kind(), message);
    match error.hint_text() {
        Some(hint) => bare.hint(hint),
        None => bare,
    }
}

fn by_name(path: &InputPath) -> Option<&'static FormatKind> {
    match path {
        InputPath::Stdin => None,
        InputPath::File(path) => format::by_extension(path).filter(|kind| !matches!(kind.read, Read::No)),
    }
}

/// What format the first bytes are of. An empty input is of any: the first in the table.
fn sniff(head: &[u8]) -> Result<&'static FormatKind> {
    let reads = |kind: &&&'static FormatKind| !matches!(kind.read, Read::No);
    let mut kinds = FORMATS.iter().filter(reads);
    if head.iter().all(u8::is_ascii_whitespace) {
        return kinds.next().copied().ok_or_else(|| Error::failed("no input format is known"));
    }
    kinds.find(|kind| (kind.sniff)(head)).copied().ok_or_else(|| {
        let names: Vec<&str> = FORMATS.iter().filter(reads).map(|kind| kind.name).collect();
        Error::failed("cannot tell the format from the first bytes")
            .hint(format!("name it with --input-format: {}", names.join(", ")))
    })
}

/// Puts prepared inputs to work. `matter`: rows with event times outside of it need not be read.
pub fn start(inputs: Vec<Prepared>, how: Vec<Decode>, start: &Start, matter: Option<(Ts, Ts)>) -> Result<Merge> {
    let first_lines: Vec<u64> = inputs.iter().map(Prepared::preamble_lines).collect();
    let layouts = how.iter().map(|how| Arc::clone(&how.layout)).collect();
    let lanes: Vec<Lane> = inputs.into_iter().zip(how).map(|(input, how)| input.into_lane(how, matter)).collect();
    let chunk = start.chunk.unwrap_or_else(|| (CHUNKS_OF_MANY / lanes.len()).clamp(64 << 10, CHUNK));
    let pool = Pool::new(lanes, start.threads, chunk)?;
    Ok(Merge::new(pool, layouts, &first_lines, start.outliers, start.concat))
}

/// How the bytes of an input become the job's columns.
pub struct Decode {
    /// Its fields.
    pub layout: Arc<Layout>,
    /// What is computed of them; none: the fields are the columns.
    pub derive: Option<Arc<dyn Derive>>,
}

/// How inputs are read and merged.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// Threads, the caller's among them.
    pub threads: usize,
    /// How many of the greatest event times do not count as progress.
    pub outliers: usize,
    /// One input after the other.
    pub concat: bool,
    /// Bytes per chunk; none: as fits the number of inputs. No result depends on it.
    pub chunk: Option<usize>,
}

impl Start {
    /// As plans say.
    pub fn of(input: &InputPlan, clock: &ClockPlan, threads: usize) -> Self {
        Self { threads, outliers: clock.outliers, concat: input.concat, chunk: input.chunk }
    }
}

impl Prepared {
    /// Whether the input says which fields all its records have: a header, or a schema.
    pub fn lists_all_fields(&self) -> bool {
        self.schema.is_some() || !self.header.is_empty()
    }

    /// The fields at the top of its records, one part each: in the order of appearance in the sample, of the header, or
    /// of the schema. Fields of JSONL that come first behind the sample are [told](super::Merge::unlisted).
    pub fn field_names(&self) -> Vec<FieldPath> {
        self.sample.names.iter().map(|name| FieldPath::new(vec![name.clone()])).collect()
    }

    /// Whether a field at the top is a column of one type, whatever its values, and neither a list nor an object.
    pub fn is_fixed(&self, field: &FieldPath) -> bool {
        let column = self.schema.as_ref().and_then(|schema| schema.field_with_name(&field.name()).ok());
        column.is_some_and(|column| !column.data_type().is_nested())
    }

    /// Looks at the first records again, for fields that became known by the first look. A stream is not read any
    /// further for that.
    pub fn sample_again(&mut self, wanted: &[Wanted]) -> Result<()> {
        self.sample = match &self.source {
            Source::Text { chunker, decoder, .. } if chunker.is_open() => {
                let (head, last) = chunker.head();
                decoder.sample(head, last, wanted, &self.time)
            }
            Source::Text { decoder, .. } => self.sample_of_closed(&**decoder, wanted).map_err(|e| e.at(&self.name))?,
            Source::Columns(columns) => {
                columns.input.sample(columns.file(), wanted, &self.time).map_err(|e| e.at(&self.name))?
            }
        };
        Ok(())
    }

    /// One of many files is closed by now; what is read twice does not count.
    fn sample_of_closed(&self, decoder: &dyn TextDecoder, wanted: &[Wanted]) -> Result<Sample> {
        let opened = bytes::open(&self.path).map_err(|e| strip_name(e, &self.path))?;
        let mut head = Head::read(opened, Counters::default())?;
        let before = decoder.preamble();
        head.fill(before + self.head)?;
        Ok(decoder.sample(&head.read[before.min(head.read.len())..], head.ended, wanted, &self.time))
    }

    /// Bytes of all regular files together; 0 when there are others, whose size nobody knows.
    pub fn total_size(inputs: &[Prepared]) -> u64 {
        match inputs.iter().any(Prepared::is_stream) {
            true => 0,
            false => inputs.iter().map(|input| input.size).sum(),
        }
    }

    /// Counts the bytes read of it, before decompression.
    pub fn bytes_read(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.counters.own)
    }

    /// Whether it is a pipe or a device.
    pub fn is_stream(&self) -> bool {
        matches!(self.source, Source::Text { stream: true, .. })
    }

    fn preamble_lines(&self) -> u64 {
        match &self.source {
            Source::Text { decoder, .. } => decoder.preamble_lines(),
            Source::Columns(_) => 0,
        }
    }

    fn into_lane(self, how: Decode, matter: Option<(Ts, Ts)>) -> Lane {
        let (path, Decode { layout, derive }) = (self.path, how);
        match self.source {
            Source::Text { chunker, decoder, stream } => {
                let work = Work { decoding: Decoding::Text(decoder), derive };
                Lane { path, reader: Reader::Text(chunker), work, layout, stream }
            }
            Source::Columns(columns) => {
                let reader = Reader::Columns(ColumnReader::new(columns.chunks(&layout, matter)));
                let work = Work { decoding: Decoding::Columns(columns), derive };
                Lane { path, reader, work, layout, stream: false }
            }
        }
    }
}
