//! A chunk of lines to columns.
//!
//! A record is one line that is not blank. Must not know where the chunk came from: all places are within it.

use super::general;
use super::scan::Scanner;
use super::tree::Tree;
use crate::format::Decoded;
use crate::format::build::{Assembly, Place};
use crate::format::json::Cell;
use crate::schema::Layout;
use std::ops::Range;
use std::sync::Arc;

/// Decodes a chunk of whole lines.
pub(super) fn decode(chunk: Arc<Vec<u8>>, layout: &Layout) -> Decoded {
    decode_with(chunk, layout, true)
}

/// The same with or without the fast path, which makes no difference but for speed.
pub(super) fn decode_with(chunk: Arc<Vec<u8>>, layout: &Layout, fast: bool) -> Decoded {
    let bytes = chunk.as_slice();
    let tree = Tree::new(layout.columns.iter().map(|column| &column.path));
    let mut assembly = Assembly::new(Arc::clone(&chunk), layout, expected_rows(bytes));
    let mut reader = LineReader::new(bytes, &tree, layout.names_all, fast);
    let indexed = layout.columns.iter().any(|column| !column.path.inside().is_empty());
    let mut records = 0;
    let mut lines = 0;
    for line in lines_of(bytes) {
        if !is_blank(&bytes[line.clone()]) {
            let place = Place { record: records, line: lines, bytes: line.clone() };
            match reader.read(place.bytes.clone()) {
                Ok(cells) if indexed => assembly.row(place, |at, to, times| {
                    cells[tree.slot(at.index)].inside(at.column().path.inside()).push(at, to, times)
                }),
                Ok(cells) => assembly.row(place, |at, to, times| cells[tree.slot(at.index)].push(at, to, times)),
                Err(message) => assembly.bad(place, message),
            }
            if layout.names_all && assembly.kept(records) {
                reader.scanner.note_unlisted(line, lines);
            }
            records += 1;
        }
        lines += 1;
    }
    let decoded = assembly.finish(u64::from(records), lines);
    Decoded { unlisted: reader.scanner.into_unlisted(), ..decoded }
}

/// Reads lines of a chunk, by the fast path where it can.
struct LineReader<'a, 't> {
    bytes: &'a [u8],
    tree: &'t Tree,
    scanner: Scanner<'a, 't>,
    fast: bool,
    /// The end of the block of lines that was looked at last.
    checked: usize,
    /// All of that block is UTF-8.
    utf8: bool,
    /// All of that block has no control characters beside line feeds.
    clean: bool,
}

/// About how many bytes are looked at for UTF-8 and control characters at once: few enough to be still in the nearest
/// cache when they are read.
const BLOCK: usize = 16 << 10;

impl<'a, 't> LineReader<'a, 't> {
    fn new(bytes: &'a [u8], tree: &'t Tree, names_all: bool, fast: bool) -> Self {
        LineReader {
            bytes,
            tree,
            scanner: Scanner::new(bytes, tree, names_all),
            fast,
            checked: 0,
            utf8: true,
            clean: true,
        }
    }

    /// The wanted values of a line, by node, or why it is no record.
    #[inline]
    fn read(&mut self, line: Range<usize>) -> Result<&[Cell<'a>], String> {
        let understood = self.fast && self.is_plain(line.clone()) && self.scanner.record(line.clone()).is_some();
        if !understood {
            general::record(&self.bytes[line], self.tree, self.scanner.cells())?;
        }
        Ok(self.scanner.cells())
    }

    /// Whether the line is UTF-8 without control characters.
    #[inline]
    fn is_plain(&mut self, line: Range<usize>) -> bool {
        if line.end > self.checked {
            self.check_block(line.clone());
        }
        let line = &self.bytes[line];
        (self.clean || !has_control(line)) && (self.utf8 || std::str::from_utf8(line).is_ok())
    }

    /// Looks at this line and those behind it, up to a block.
    fn check_block(&mut self, line: Range<usize>) {
        let least = line.end.max(self.bytes.len().min(line.start + BLOCK));
        let rest = &self.bytes[least..];
        self.checked = least + memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let block = &self.bytes[line.start..self.checked];
        self.utf8 = simdutf8::basic::from_utf8(block).is_ok();
        self.clean = !has_control(block);
    }
}

/// The lines without their line ends (a line feed, perhaps behind a carriage return).
fn lines_of(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
        let start = at;
        let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        at = start + length + 1;
        let line = &rest[..length];
        Some(start..start + line.strip_suffix(b"\r").unwrap_or(line).len())
    })
}

/// The lines that are records: those that are not blank.
pub(super) fn records_of(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> {
    lines_of(bytes).filter(|line| !is_blank(&bytes[line.clone()]))
}

/// About how many records the chunk holds, by the length of its first line.
fn expected_rows(bytes: &[u8]) -> usize {
    let first = lines_of(bytes).next().map_or(0, |line| line.len());
    bytes.len() / (first + 1).max(32) + 1
}

#[inline]
fn is_blank(line: &[u8]) -> bool {
    line.first() != Some(&b'{') && line.iter().all(u8::is_ascii_whitespace)
}

/// Whether a control character other than a line feed is among the bytes.
fn has_control(bytes: &[u8]) -> bool {
    // Line feeds become 255 and other control characters 0 to 30, the least of all: the compiler makes vector
    // instructions of it.
    bytes.iter().fold(u8::MAX, |least, &b| least.min((b ^ b'\n').wrapping_sub(1))) < 0x1F
}
