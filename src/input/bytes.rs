//! Bytes of an input: files, standard input, pipes and devices, decompressed, cut at record ends.
//!
//! Must not know watermarks or operators. Files are read with plain reads into fresh buffers, not mapped: memory
//! stays flat, and a file that is cut short while it is read is an end, not a crash.

use crate::error::{Error, Result};
use crate::format::TextDecoder;
use crate::plan::InputPath;
use crate::signals;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A longer record is an error rather than a reason to fill the memory.
const MAX_RECORD: usize = 256 << 20;

/// How many bytes tell a compression, and are kept back until it is known.
const MAGIC: usize = 4;

/// An input that was opened.
pub(super) struct Opened {
    /// Its bytes as they stand in the file.
    pub(super) file: File,
    /// Whether it can be opened again and sought: a regular file.
    pub(super) regular: bool,
    /// Its size in bytes, of a regular file.
    pub(super) size: u64,
}

/// Opens an input. A FIFO is opened at once, whether somebody writes to it yet or not: the waiting is done where a
/// signal can end it.
pub(super) fn open(path: &InputPath) -> Result<Opened> {
    let file = match path {
        InputPath::Stdin => io::stdin().as_fd().try_clone_to_owned().map(File::from),
        InputPath::File(path) if is_fifo(path) => open_fifo(path),
        InputPath::File(path) => File::open(path),
    };
    let file = file.map_err(|e| open_error(path, &e))?;
    let metadata = file.metadata().map_err(|e| open_error(path, &e))?;
    if metadata.is_dir() {
        return Err(Error::failed(format!("{}: is a folder", name(path))).hint("name the files in it: FOLDER/*.jsonl"));
    }
    Ok(Opened { file, regular: metadata.is_file(), size: if metadata.is_file() { metadata.len() } else { 0 } })
}

fn is_fifo(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.file_type().is_fifo())
}

fn open_fifo(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path)?;
    let flags = fcntl_getfl(&file)?;
    fcntl_setfl(&file, flags - OFlags::NONBLOCK)?;
    Ok(file)
}

/// Waits until a pipe or device has something to read or has ended; an error when a signal asks to stop meanwhile.
pub(super) fn wait_for_writer(opened: &Opened) -> Result<()> {
    while !opened.regular && !is_readable(&opened.file, signals::TICK) {
        signals::check()?;
    }
    Ok(())
}

/// Whether a read would not wait, looked at for up to `patience`.
fn is_readable(file: &impl AsFd, patience: Duration) -> bool {
    let mut fds = [PollFd::new(file, PollFlags::IN)];
    let patience = Timespec::try_from(patience).ok();
    // When it cannot be asked, the read itself will tell; when a signal came, the caller looks at that.
    match poll(&mut fds, patience.as_ref()) {
        Ok(ready) => ready > 0,
        Err(error) => error != rustix::io::Errno::INTR,
    }
}

fn open_error(path: &InputPath, error: &io::Error) -> Error {
    let failed = Error::io(name(path), error);
    match error.kind() {
        io::ErrorKind::NotFound => failed.hint("check the path; `-` is standard input"),
        _ => failed,
    }
}

/// An input's name for people: its path as given, or `-`.
pub fn name(path: &InputPath) -> String {
    match path {
        InputPath::Stdin => "-".to_owned(),
        InputPath::File(path) => path.display().to_string(),
    }
}

/// Where bytes read are counted: those of all inputs, for progress, and those of this one.
#[derive(Clone, Debug, Default)]
pub(super) struct Counters {
    pub(super) all: Arc<AtomicU64>,
    pub(super) own: Arc<AtomicU64>,
}

impl Counters {
    pub(super) fn add(&self, bytes: u64) {
        self.all.fetch_add(bytes, Ordering::Relaxed);
        self.own.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// Counts the bytes that pass.
pub(super) struct Counted {
    file: File,
    read: Counters,
}

impl Read for Counted {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(buf)?;
        self.read.add(n as u64);
        Ok(n)
    }
}

enum Source {
    /// A plain regular file. By its own type, since std reads such a one into memory that it has not cleared before.
    File(Counted),
    Other(Box<dyn Read + Send>),
}

impl Read for Source {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Source::File(file) => file.read(buf),
            Source::Other(other) => other.read(buf),
        }
    }
}

impl Source {
    /// Reads up to `want` bytes, fewer only at the end.
    fn read_to(&mut self, want: u64, buf: &mut Vec<u8>) -> io::Result<usize> {
        match self {
            Source::File(Counted { file, read }) => {
                let n = file.by_ref().take(want).read_to_end(buf)?;
                read.add(n as u64);
                Ok(n)
            }
            Source::Other(other) => other.by_ref().take(want).read_to_end(buf),
        }
    }
}

/// The decompressed bytes of an input.
pub(super) struct Bytes {
    source: Source,
    /// Of a pipe or device, where a read may wait for somebody to write: its descriptor.
    stream: Option<OwnedFd>,
}

impl Bytes {
    /// Wraps an open input, looking at its first bytes for a compression.
    pub(super) fn new(opened: Opened, read: Counters) -> io::Result<Self> {
        let stream = if opened.regular { None } else { Some(opened.file.as_fd().try_clone_to_owned()?) };
        let mut counted = Counted { file: opened.file, read };
        let mut magic = Vec::with_capacity(MAGIC);
        counted.file.by_ref().take(MAGIC as u64).read_to_end(&mut magic)?;
        let zipped = magic.starts_with(&[0x1f, 0x8b]);
        let zstd = magic == [0x28, 0xb5, 0x2f, 0xfd];
        if stream.is_none() && !zipped && !zstd {
            counted.file.seek(SeekFrom::Current(-(magic.len() as i64)))?;
            return Ok(Self { source: Source::File(counted), stream });
        }
        counted.read.add(magic.len() as u64);
        let whole = io::Cursor::new(magic).chain(counted);
        let source: Box<dyn Read + Send> = match (zipped, zstd) {
            (true, _) => Box::new(flate2::read::MultiGzDecoder::new(io::BufReader::with_capacity(1 << 17, whole))),
            (_, true) => Box::new(zstd::stream::read::Decoder::new(whole)?),
            _ => Box::new(whole),
        };
        Ok(Self { source: Source::Other(source), stream })
    }

    /// Waits until there is something to read, but not beyond `until`. What was decompressed and not yet taken is
    /// not seen, which only makes the wait longer than need be.
    pub(super) fn is_ready(&self, until: Instant) -> bool {
        let Some(stream) = &self.stream else { return true };
        is_readable(stream, until.saturating_duration_since(Instant::now()))
    }

    /// All that is still to come.
    pub(super) fn into_read(self) -> impl Read {
        self.source
    }

    /// Reads on until `buf` holds `size` bytes or the input ends; of a stream, what is there. True at the end.
    pub(super) fn fill(&mut self, buf: &mut Vec<u8>, size: usize) -> io::Result<bool> {
        let want = size.saturating_sub(buf.len()).max(1);
        buf.reserve(want);
        if self.stream.is_none() {
            let n = self.source.read_to(want as u64, buf)?;
            return Ok(n < want);
        }
        let start = buf.len();
        buf.resize(start + want.min(1 << 16), 0);
        let n = loop {
            match self.source.read(&mut buf[start..]) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                done => break done,
            }
        };
        buf.truncate(start + *n.as_ref().unwrap_or(&0));
        n.map(|n| n == 0)
    }
}

/// Cuts an input's bytes into chunks of whole records.
pub(super) struct Chunker {
    bytes: Option<Bytes>,
    decoder: Arc<dyn TextDecoder>,
    /// Bytes read and not handed out: the beginning of a record.
    carry: Vec<u8>,
    ended: bool,
    /// Decompressed bytes handed out since the start of the input, the preamble included.
    offset: u64,
    counters: Counters,
}

impl Chunker {
    /// Goes on behind `head`, the bytes already read from the start of `bytes`.
    pub(super) fn new(
        bytes: Bytes,
        decoder: Arc<dyn TextDecoder>,
        mut head: Vec<u8>,
        ended: bool,
        counters: Counters,
    ) -> Self {
        let preamble = decoder.preamble().min(head.len());
        head.drain(..preamble);
        Self { bytes: Some(bytes), decoder, carry: head, ended, offset: preamble as u64, counters }
    }

    /// What was read behind the preamble and not handed out, and whether nothing follows it.
    pub(super) fn head(&self) -> (&[u8], bool) {
        (&self.carry, self.ended)
    }

    /// Closes the file until it is wanted again.
    pub(super) fn close(&mut self) {
        self.bytes = None;
        self.carry = Vec::new();
        self.ended = false;
    }

    /// Whether the file is open.
    pub(super) fn is_open(&self) -> bool {
        self.bytes.is_some()
    }

    /// Opens the file again and goes to where it was left: by seeking, or by reading again what was compressed.
    pub(super) fn reopen(&mut self, path: &InputPath) -> Result<()> {
        let read = self.counters.clone();
        let failed = |e: io::Error| Error::io("cannot go on reading", &e);
        let mut opened = open(path)?;
        let mut magic = Vec::new();
        opened.file.by_ref().take(MAGIC as u64).read_to_end(&mut magic).map_err(failed)?;
        let compressed = magic.starts_with(&[0x1f, 0x8b]) || magic == [0x28, 0xb5, 0x2f, 0xfd];
        let start = if compressed { 0 } else { self.offset };
        opened.file.seek(SeekFrom::Start(start)).map_err(failed)?;
        if compressed {
            let mut bytes = Bytes::new(opened, read).map_err(failed)?;
            io::copy(&mut bytes.source.by_ref().take(self.offset), &mut io::sink()).map_err(failed)?;
            self.bytes = Some(bytes);
        } else {
            self.bytes = Some(Bytes { source: Source::File(Counted { file: opened.file, read }), stream: None });
        }
        Ok(())
    }

    /// The next chunk of about `size` bytes, or none at the end.
    pub(super) fn next(&mut self, size: usize) -> Result<Option<Vec<u8>>> {
        let mut buf = std::mem::take(&mut self.carry);
        let mut target = size;
        loop {
            if !self.ended && buf.len() < target {
                let Some(bytes) = &mut self.bytes else { return Ok(None) };
                // What is at hand is not held back for what somebody may write later.
                if bytes.is_ready(Instant::now()) || self.decoder.frame(&buf, false) == 0 {
                    self.ended = bytes.fill(&mut buf, target).map_err(|e| read_error(&e))?;
                }
            }
            // The beginning of an input may have been read further than a chunk is to be.
            let last = self.ended && buf.len() <= target;
            let whole = self.decoder.frame(&buf[..buf.len().min(target)], last);
            if buf.len().min(target) > MAX_RECORD && self.decoder.frame(&buf[..MAX_RECORD], false) == 0 {
                return Err(Error::failed(format!("a record is longer than {} MB", MAX_RECORD >> 20))
                    .hint("is this the right format? -i names it"));
            }
            if whole > 0 {
                self.carry = buf[whole..].to_vec();
                buf.truncate(whole);
                self.offset += whole as u64;
                return Ok(Some(buf));
            }
            if last {
                return Ok(None);
            }
            if buf.len() >= target {
                target = (target * 2).min(MAX_RECORD + 1);
            }
        }
    }
}

/// What went wrong while reading, for people.
pub(super) fn read_error(error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => Error::failed("the compressed data ends too early")
            .hint("its writer was stopped, or is not done yet, or a copy broke off"),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            Error::failed(format!("the compressed data is damaged: {error}"))
        }
        _ => Error::failed(crate::error::io_reason(error)),
    }
}
