//! Inputs whose format has a directory at the end: a file that several threads read pieces of.
//!
//! Must not know how a piece is decoded. What comes through a pipe is first written to a temporary file that has no
//! name.

use super::bytes::{Counters, Opened};
use crate::error::{Error, Result};
use crate::format::Decoded;
use crate::format::parquet::{ChunkReader, Length, ParquetInput};
use crate::schema::Layout;
use crate::time::Ts;
use bytes::{Bytes, BytesMut};
use parquet::errors::Result as ParquetResult;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// A file read at any place by any thread: reads name their place, so no position is shared.
#[derive(Clone)]
pub(super) struct SharedFile {
    file: Arc<File>,
    size: u64,
}

/// Reads a shared file from a place on.
pub(super) struct From {
    file: SharedFile,
    at: u64,
}

impl Read for From {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.file.file.read_at(buf, self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}

impl Length for SharedFile {
    fn len(&self) -> u64 {
        self.size
    }
}

impl ChunkReader for SharedFile {
    type T = BufReader<From>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(BufReader::new(From { file: self.clone(), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let mut buf = BytesMut::zeroed(length);
        self.file.read_exact_at(&mut buf, start)?;
        Ok(buf.freeze())
    }
}

/// An opened input of columns, shared by the threads that decode its pieces.
pub(super) struct Columns {
    file: SharedFile,
    pub(super) input: ParquetInput,
    read: Counters,
}

/// A piece to decode, or rows that need not be read.
#[derive(Clone, Copy, Debug)]
pub(super) enum ColumnChunk {
    Piece(usize),
    Skipped(u64),
}

/// Hands out the pieces of an input in order.
pub(super) struct ColumnReader {
    chunks: std::vec::IntoIter<ColumnChunk>,
}

impl ColumnReader {
    pub(super) fn new(chunks: Vec<ColumnChunk>) -> Self {
        Self { chunks: chunks.into_iter() }
    }

    pub(super) fn next(&mut self) -> Option<ColumnChunk> {
        self.chunks.next()
    }
}

impl Columns {
    /// Opens an input; one that cannot be sought is copied to a nameless temporary file first.
    pub(super) fn open(opened: Opened, read: Counters) -> Result<Self> {
        let opened = if opened.regular { opened } else { spool(opened.file)? };
        let file = SharedFile { file: Arc::new(opened.file), size: opened.size };
        let input = ParquetInput::open(&file)?;
        Ok(Self { file, input, read })
    }

    pub(super) fn file(&self) -> &SharedFile {
        &self.file
    }

    pub(super) fn decode(&self, chunk: &ColumnChunk, layout: &Layout) -> Result<Decoded> {
        match *chunk {
            ColumnChunk::Skipped(rows) => Ok(Decoded { records: rows, ..Decoded::default() }),
            ColumnChunk::Piece(piece) => {
                let decoded = self.input.decode_piece(self.file.clone(), piece, layout);
                self.read.add(self.input.pieces()[piece].compressed);
                decoded
            }
        }
    }

    /// All pieces in order. Those whose event times all lie outside `[from, to)` are skipped; `None` skips nothing.
    pub(super) fn chunks(&self, layout: &Layout, matter: Option<(Ts, Ts)>) -> Vec<ColumnChunk> {
        let pieces = self.input.pieces().iter().enumerate();
        pieces
            .map(|(i, piece)| match (matter, self.input.time_range(i, layout)) {
                (Some((from, to)), Some((least, greatest))) if greatest < from || least >= to => {
                    ColumnChunk::Skipped(piece.rows)
                }
                _ => ColumnChunk::Piece(i),
            })
            .collect()
    }
}

/// Copies what cannot be sought to a temporary file without a name.
pub(super) fn spool(mut source: impl Read) -> Result<Opened> {
    let failed = |e: io::Error| Error::io("cannot copy the pipe to a temporary file", &e);
    let mut file = tempfile::tempfile().map_err(failed)?;
    let size = io::copy(&mut source, &mut file).map_err(failed)?;
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    Ok(Opened { file, regular: true, size })
}
