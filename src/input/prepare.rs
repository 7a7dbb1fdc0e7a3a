//! Inputs opened, their formats told, their first records looked at: all that is known before the run begins.
//!
//! Must not know what the fields are for. Nothing that was read here is lost: the bytes go to the lanes.

use super::bytes::{self, Bytes, Chunker, Counters, Opened};
use super::columns::{ColumnReader, Columns};
use super::merge::Merge;
use super::pool::{Decoding, Lane, MAX_OPEN, Pool, Reader, Traffic};
use crate::error::{Error, Result};
use crate::format::{self, FORMATS, FormatKind, Read, TextDecoder};
use crate::plan::{InputPath, InputPlan, Plan};
use crate::schema::{Layout, SAMPLE_RECORDS, Sample, Wanted};
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
}

enum Source {
    Text { chunker: Chunker, decoder: Arc<dyn TextDecoder>, stream: bool },
    Columns(Arc<Columns>),
}

/// Opens every input and looks at its first records.
pub fn prepare(plan: &InputPlan, wanted: &[Wanted], traffic: &Traffic) -> Result<Vec<Prepared>> {
    let many = plan.paths.len() > MAX_OPEN;
    let mut all = Vec::with_capacity(plan.paths.len());
    for path in &plan.paths {
        let mut prepared = prepare_one(plan, path, wanted, traffic).map_err(|e| e.at(bytes::name(path)))?;
        if let (true, Source::Text { chunker, stream: false, .. }) = (many, &mut prepared.source) {
            chunker.close();
        }
        all.push(prepared);
    }
    Ok(all)
}

fn prepare_one(plan: &InputPlan, path: &InputPath, wanted: &[Wanted], traffic: &Traffic) -> Result<Prepared> {
    let opened = bytes::open(path).map_err(|e| strip_name(e, path))?;
    bytes::wait_for_writer(&opened)?;
    if opened.regular && opened.size == 0 && path.path().is_some_and(format::is_compressed) {
        return Err(bytes::read_error(&std::io::ErrorKind::UnexpectedEof.into()));
    }
    let said = plan.format.or_else(|| by_name(path));
    let time = TimeReader::new(plan.time_format.clone(), plan.zone.clone());
    match said.map(|kind| (kind, kind.read)) {
        Some((kind, Read::Columns)) => prepare_columns(kind, opened, path, wanted, &time, traffic),
        _ => prepare_bytes(plan, said, opened, path, wanted, &time, traffic),
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

fn prepare_bytes(
    plan: &InputPlan,
    said: Option<&'static FormatKind>,
    opened: Opened,
    path: &InputPath,
    wanted: &[Wanted],
    time: &TimeReader,
    traffic: &Traffic,
) -> Result<Prepared> {
    let (regular, size) = (opened.regular, opened.size);
    let failed = |e: std::io::Error| Error::failed(crate::error::io_reason(&e));
    let counters = Counters { all: Arc::clone(&traffic.read), ..Counters::default() };
    let mut bytes = Bytes::new(opened, counters.clone()).map_err(failed)?;
    let mut head = Vec::new();
    let patience = Instant::now() + PATIENCE;
    let mut ended = fill(&mut bytes, &mut head, HEAD, patience)?;
    let kind = said.map_or_else(|| sniff(&head), Ok)?;
    let open = match kind.read {
        Read::Text(open) => open,
        Read::Columns => return prepare_piped_columns(kind, bytes, head, path, wanted, time, traffic),
        Read::No => return Err(Error::usage(format!("{} is an output format only", kind.name))),
    };
    loop {
        let decoder: Arc<dyn TextDecoder> = match open(&head, ended, &plan.text) {
            Ok(decoder) => decoder.into(),
            // A header may be longer than what was read.
            Err(_) if !ended && head.len() < MAX_HEAD => {
                let more = head.len() * 2;
                ended = fill(&mut bytes, &mut head, more, patience)?;
                continue;
            }
            Err(error) => return Err(error),
        };
        let records = &head[decoder.preamble().min(head.len())..];
        let sample = decoder.sample(records, ended, wanted, time);
        let enough = sample.records >= SAMPLE_RECORDS || ended || head.len() >= MAX_HEAD;
        if enough || !bytes.is_ready(patience) {
            let header = decoder.header().to_vec();
            let chunker = Chunker::new(bytes, Arc::clone(&decoder), head, ended, counters.clone());
            let source = Source::Text { chunker, decoder, stream: !regular };
            let name = bytes::name(path);
            return Ok(Prepared {
                name,
                format: kind,
                sample,
                header,
                schema: None,
                size,
                path: path.clone(),
                source,
                counters,
            });
        }
        let more = head.len() * 2;
        ended = fill(&mut bytes, &mut head, more, patience)?;
    }
}

/// Reads until `head` holds `size` bytes or the input ends; true at the end. A live input that has given a whole line
/// is not waited for beyond `patience`.
fn fill(bytes: &mut Bytes, head: &mut Vec<u8>, size: usize, patience: Instant) -> Result<bool> {
    while head.len() < size {
        while !bytes.is_ready(patience.max(Instant::now() + signals::TICK)) {
            signals::check()?;
            if head.ends_with(b"\n") {
                return Ok(false);
            }
        }
        if bytes.fill(head, size).map_err(|e| bytes::read_error(&e))? {
            return Ok(true);
        }
    }
    Ok(false)
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

fn prepare_columns(
    kind: &'static FormatKind,
    opened: Opened,
    path: &InputPath,
    wanted: &[Wanted],
    time: &TimeReader,
    traffic: &Traffic,
) -> Result<Prepared> {
    let size = opened.size;
    let counters = Counters { all: Arc::clone(&traffic.read), ..Counters::default() };
    let columns = Columns::open(opened, counters.clone())?;
    let sample = columns.input.sample(columns.file(), wanted, time)?;
    let schema = Some(columns.input.full_schema());
    let source = Source::Columns(Arc::new(columns));
    let name = bytes::name(path);
    Ok(Prepared { name, format: kind, sample, header: Vec::new(), schema, size, path: path.clone(), source, counters })
}

/// Columns whose format was only told by their first bytes: a pipe, or a file with another extension.
fn prepare_piped_columns(
    kind: &'static FormatKind,
    bytes: Bytes,
    head: Vec<u8>,
    path: &InputPath,
    wanted: &[Wanted],
    time: &TimeReader,
    traffic: &Traffic,
) -> Result<Prepared> {
    let opened = super::columns::spool(std::io::Cursor::new(head).chain(bytes.into_read()))?;
    traffic.read.store(0, Ordering::Relaxed);
    prepare_columns(kind, opened, path, wanted, time, traffic)
}

/// Puts prepared inputs to work. `matter`: rows with event times outside of it need not be read.
pub fn start(inputs: Vec<Prepared>, layouts: Vec<Arc<Layout>>, how: &Start, matter: Option<(Ts, Ts)>) -> Result<Merge> {
    let first_lines: Vec<u64> = inputs.iter().map(Prepared::preamble_lines).collect();
    let lanes = inputs.into_iter().zip(&layouts);
    let lanes: Vec<Lane> = lanes.map(|(input, layout)| input.into_lane(Arc::clone(layout), matter)).collect();
    let chunk = how.chunk.unwrap_or_else(|| (CHUNKS_OF_MANY / lanes.len()).clamp(64 << 10, CHUNK));
    let pool = Pool::new(lanes, how.threads, chunk)?;
    Ok(Merge::new(pool, layouts, &first_lines, how.outliers, how.concat))
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
    /// As a plan says.
    pub fn of(plan: &Plan) -> Self {
        Self {
            threads: plan.threads,
            outliers: plan.clock.outliers,
            concat: plan.input.concat,
            chunk: plan.input.chunk,
        }
    }
}

impl Prepared {
    /// Whether the input says which fields all its records have: a header, or a schema.
    pub fn lists_all_fields(&self) -> bool {
        self.schema.is_some() || !self.header.is_empty()
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

    fn into_lane(self, layout: Arc<Layout>, matter: Option<(Ts, Ts)>) -> Lane {
        let path = self.path;
        match self.source {
            Source::Text { chunker, decoder, stream } => {
                Lane { path, reader: Reader::Text(chunker), decoding: Decoding::Text(decoder), layout, stream }
            }
            Source::Columns(columns) => {
                let reader = Reader::Columns(ColumnReader::new(columns.chunks(&layout, matter)));
                Lane { path, reader, decoding: Decoding::Columns(columns), layout, stream: false }
            }
        }
    }
}
