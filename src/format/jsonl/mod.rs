//! JSONL: one JSON object a line. Reads it, writes it, and writes `json`, one array of such objects.
//!
//! What JSON is, `serde_json` says (see `general`); a scanner of our own (see `scan`) is quicker on common lines and
//! understands nothing else. Must not know files.
//!
//! Of members with the same key the last counts. Keys match after their escapes. Nesting ends at 127 levels.
//!
//! A record that is passed on whole keeps its values: an object or array to the letter (on one line), a string by its
//! characters, an integer with all its digits. A number with a fraction or exponent may be written in another way, as
//! the double that it is, and digits that no double has end there; so may an integer where its field has fractions,
//! too (`3` as `3.0`). A field that a record lacks is null, as one that is null in it.

mod decode;
pub(super) mod encode;
mod general;
mod sample;
mod scan;
#[cfg(test)]
mod tests;
mod tree;
mod unlisted;

use super::{Decoded, FormatKind, Read, TextDecoder, TextOptions};
use crate::error::{Error, Result};
use crate::schema::{Layout, Sample, Wanted};
use crate::time::TimeReader;
use std::sync::Arc;

/// One JSON object a line.
pub static JSONL: FormatKind = FormatKind {
    name: "jsonl",
    extensions: &["jsonl", "ndjson", "json"],
    doc: "one JSON object a line",
    sniff,
    read: Read::Text(open),
    write: Some(encode::lines),
};

/// One JSON array of objects, for output alone.
pub static JSON: FormatKind = FormatKind {
    name: "json",
    extensions: &[],
    doc: "one JSON array of objects",
    sniff: |_| false,
    read: Read::No,
    write: Some(encode::array),
};

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Objects are ours. So is an array of them, to be refused with good advice.
fn sniff(head: &[u8]) -> bool {
    let text = without_mark(head).trim_ascii_start();
    match text.strip_prefix(b"[") {
        Some(inside) => matches!(inside.trim_ascii_start().first(), Some(b'{')),
        None => text.first() == Some(&b'{'),
    }
}

fn without_mark(head: &[u8]) -> &[u8] {
    head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head)
}

fn open(head: &[u8], _last: bool, _options: &TextOptions) -> Result<Box<dyn TextDecoder>> {
    let text = without_mark(head);
    refuse_documents(text)?;
    Ok(Box::new(Jsonl { mark: head.len() - text.len() }))
}

/// JSON that is not one object a line would be nothing but bad records.
fn refuse_documents(text: &[u8]) -> Result<()> {
    let text = text.trim_ascii_start();
    let first = text.split(|&b| b == b'\n').next().unwrap_or_default();
    let rest = text[first.len()..].trim_ascii_start();
    let first = first.trim_ascii_end();
    match first.first() {
        // A line that is an array by itself is one bad record among others.
        Some(b'[') if rest.is_empty() || !general::is_json(first) => {
            Err(Error::failed("this is one JSON array, not one object a line").hint("jq -c '.[]' makes lines of it"))
        }
        Some(b'{') if first == b"{" && !rest.is_empty() => {
            Err(Error::failed("this is JSON over several lines, not one object a line")
                .hint("jq -c . writes each object on one line"))
        }
        _ => Ok(()),
    }
}

/// Reads one JSONL input.
struct Jsonl {
    /// Length of the byte order mark.
    mark: usize,
}

impl TextDecoder for Jsonl {
    fn preamble(&self) -> usize {
        self.mark
    }

    fn preamble_lines(&self) -> u64 {
        0
    }

    fn frame(&self, bytes: &[u8], last: bool) -> usize {
        match last {
            true => bytes.len(),
            false => memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1),
        }
    }

    fn sample(&self, bytes: &[u8], last: bool, wanted: &[Wanted], time: &TimeReader) -> Sample {
        sample::sample(&bytes[..self.frame(bytes, last)], wanted, time)
    }

    fn decode(&self, chunk: Arc<Vec<u8>>, layout: &Layout) -> Decoded {
        decode::decode(chunk, layout)
    }

    fn header(&self) -> &[u8] {
        &[]
    }
}
