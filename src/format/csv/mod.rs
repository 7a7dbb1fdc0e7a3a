//! CSV and TSV: delimited text with quotes.
//!
//! Must not know files or jobs. What CSV is, is defined by the `csv` crate with its default settings, see `scan`.

mod decode;
mod encode;
mod header;
mod sample;
mod scan;
mod value;

use super::{FormatKind, Read, TextDecoder, TextOptions};
use crate::error::Result;

/// Fields between commas.
pub static CSV: FormatKind = FormatKind {
    name: "csv",
    extensions: &["csv"],
    doc: "fields between commas (or --delimiter), a header first",
    sniff: looks_like_csv,
    read: Read::Text(open_csv),
    write: Some(encode::csv),
};

/// Fields between tabs.
pub static TSV: FormatKind = FormatKind {
    name: "tsv",
    extensions: &["tsv", "tab"],
    doc: "fields between tabs, a header first",
    sniff: looks_like_tsv,
    read: Read::Text(open_tsv),
    write: Some(encode::tsv),
};

fn open_csv(head: &[u8], last: bool, options: &TextOptions) -> Result<Box<dyn TextDecoder>> {
    Ok(Box::new(decode::Decoder::new(head, last, options, b',', true)?))
}

fn open_tsv(head: &[u8], last: bool, options: &TextOptions) -> Result<Box<dyn TextDecoder>> {
    Ok(Box::new(decode::Decoder::new(head, last, options, b'\t', false)?))
}

/// Whether the first line is text with a comma or another delimiter that a CSV header may show.
fn looks_like_csv(head: &[u8]) -> bool {
    first_line(head).is_some_and(|line| line.iter().any(|b| b",;|".contains(b)))
}

/// Whether the first line is text with tabs and without commas.
fn looks_like_tsv(head: &[u8]) -> bool {
    first_line(head).is_some_and(|line| line.contains(&b'\t'))
}

/// The first line that is not blank, if it is text without control characters.
fn first_line(head: &[u8]) -> Option<&[u8]> {
    let line = head.split(|&b| b == b'\n' || b == b'\r').find(|line| !line.is_empty())?;
    let text = std::str::from_utf8(line).ok()?;
    text.chars().all(|c| c == '\t' || !c.is_control()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_tells_csv_from_tsv_and_from_other_things() {
        assert!(looks_like_csv(b"a,b\n1,2\n") && looks_like_csv(b"\xef\xbb\xbfa;b") && looks_like_csv(b"a|b\n"));
        assert!(!looks_like_csv(b"a\tb\n1,5\t2\n") && looks_like_tsv(b"a\tb\n1,5\t2\n"));
        for other in [b"".as_slice(), b"word\n", b"PAR1\x15\x04,\n", b"\xff\xfe,\n", b"\n\n"] {
            assert!(!looks_like_csv(other) && !looks_like_tsv(other));
        }
    }
}
