//! Bytes gathered in front of a sink, so that it gets few large writes.
//!
//! Must not know what the bytes mean. Encoders append to [`Buffer::bytes`] directly: no copy on the way.

use super::{Commit, Opened, Sink};
use crate::error::Result;

/// How much is gathered before it is handed on.
pub(super) const LARGE: usize = 256 << 10;
/// The same where there may be thousands of buffers.
pub(super) const SMALL: usize = 16 << 10;

/// A sink with bytes in front of it.
pub(super) struct Buffer {
    bytes: Vec<u8>,
    full: usize,
    seen: bool,
    sink: Box<dyn Sink>,
}

impl Buffer {
    /// Gathers `full` bytes at a time for an open output.
    pub(super) fn new(opened: Opened, full: usize) -> Self {
        Self { bytes: Vec::new(), full, seen: opened.seen, sink: opened.sink }
    }

    /// What to append to; [`settle`](Self::settle) afterwards.
    pub(super) fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Hands on what was gathered if it is enough.
    pub(super) fn settle(&mut self) -> Result<()> {
        if self.bytes.len() >= self.full { self.hand_on() } else { Ok(()) }
    }

    /// Lets a reader see all so far, if there can be one.
    pub(super) fn flush(&mut self) -> Result<()> {
        if !self.seen {
            return Ok(());
        }
        self.hand_on()?;
        self.sink.flush()
    }

    fn hand_on(&mut self) -> Result<()> {
        if !self.bytes.is_empty() {
            self.sink.write(&self.bytes)?;
            self.bytes.clear();
            // One huge batch (or Parquet row group) must not be paid for to the end of the run.
            self.bytes.shrink_to(4 * self.full);
        }
        Ok(())
    }
}

impl Commit for Buffer {
    fn prepare(&mut self) -> Result<()> {
        self.hand_on()?;
        self.sink.prepare()
    }

    fn commit(&mut self) -> Result<()> {
        self.sink.commit()
    }
}
