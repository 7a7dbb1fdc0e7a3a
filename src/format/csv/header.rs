//! What the start of a CSV input tells: the delimiter, the names of the fields, where the records begin.
//!
//! Must not know types or jobs. All of it is a function of the first record alone, so that it never depends on how
//! much of an input was at hand.
//!
//! A name that is empty becomes `column3` (its index from 0), as in DuckDB, and so do all without a header; a name
//! that was there before gets the first of `_1`, `_2` .. that makes it a new one.

use super::scan::{Record, field_text, first_record};
use crate::error::{Error, Result};
use crate::format::TextOptions;
use std::collections::HashSet;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Delimiters that are thought of when none was given, the usual one first.
const COMMON: &[u8] = b",;\t|";

/// How the records of an input are to be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Header {
    /// The fields' names, all different.
    pub(super) names: Vec<String>,
    /// The byte between fields.
    pub(super) delimiter: u8,
    /// How many bytes stand before the first record.
    pub(super) preamble: usize,
    /// How many line ends those bytes hold.
    pub(super) lines: u64,
    /// The header as it stands, with a line end; empty when there is none.
    pub(super) verbatim: Vec<u8>,
}

/// Reads the first record in `head`. `usual` is the delimiter when the options give none and, for CSV (`guess`), the
/// first record does not show another.
pub(super) fn read(head: &[u8], last: bool, options: &TextOptions, usual: u8, guess: bool) -> Result<Header> {
    refuse_utf16(head)?;
    let mark = if head.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let bytes = &head[mark..];
    let delimiter = match options.delimiter {
        Some(delimiter) => checked(delimiter)?,
        None if guess => guessed(bytes),
        None => usual,
    };
    let found = first_record(bytes, delimiter);
    refuse_cut(found.as_ref(), head, last)?;
    let Some((record, ends, behind)) = found else {
        return Ok(Header { delimiter, preamble: mark, ..Header::default() });
    };
    if !options.header {
        let names = unique(vec![String::new(); ends.len()]);
        return Ok(Header { names, delimiter, preamble: mark, ..Header::default() });
    }
    Ok(Header {
        names: unique(names(bytes, record, &ends)?),
        delimiter,
        preamble: mark + behind,
        lines: memchr::memchr_iter(b'\n', &bytes[..behind]).count() as u64,
        verbatim: with_line_end(&bytes[record.start..behind], record.end == behind),
    })
}

/// A delimiter must be told from quotes and line ends, and must not be a piece of a character.
fn checked(delimiter: u8) -> Result<u8> {
    match delimiter {
        b'"' | b'\n' | b'\r' | 0x80.. => {
            let shown = char::from(delimiter).escape_default();
            Err(Error::usage(format!(
                "the delimiter '{shown}': expected one ASCII character that is no quote or line end"
            )))
        }
        _ => Ok(delimiter),
    }
}

/// The delimiter that the first record shows: a comma, unless it has none at all but another common one. Of several
/// the most frequent.
fn guessed(bytes: &[u8]) -> u8 {
    let usual = COMMON[0];
    let Some((record, ..)) = first_record(bytes, usual) else { return usual };
    let text = &bytes[record.start..record.end];
    let count = |delimiter: u8| memchr::memchr_iter(delimiter, text).count();
    if count(usual) > 0 {
        return usual;
    }
    let best = COMMON.iter().rev().copied().max_by_key(|&delimiter| count(delimiter));
    best.filter(|&delimiter| count(delimiter) > 0).unwrap_or(usual)
}

fn refuse_utf16(head: &[u8]) -> Result<()> {
    match head {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            Err(Error::failed("expected UTF-8 text, found UTF-16").hint("iconv -f UTF-16 -t UTF-8 converts it"))
        }
        _ => Ok(()),
    }
}

/// The first record must be there as a whole.
fn refuse_cut(found: Option<&(Record, Vec<usize>, usize)>, head: &[u8], last: bool) -> Result<()> {
    match found {
        Some((record, _, behind)) if record.end < *behind => Ok(()),
        _ if last => Ok(()),
        _ => Err(Error::failed(format!("expected a line of CSV, found none in the first {} bytes", head.len()))),
    }
}

fn names(bytes: &[u8], record: Record, ends: &[usize]) -> Result<Vec<String>> {
    if record.unclosed {
        return Err(Error::failed("header: expected a closing quote, found the end of the input"));
    }
    let mut start = record.start;
    let mut names = Vec::with_capacity(ends.len());
    for &end in ends {
        let mut scratch = Vec::new();
        let (name, _) = field_text(&bytes[start..end], &mut scratch);
        let name = std::str::from_utf8(name).map_err(|_| not_text(names.len(), name))?;
        names.push(name.to_owned());
        start = end + 1;
    }
    Ok(names)
}

fn not_text(index: usize, name: &[u8]) -> Error {
    let shown = String::from_utf8_lossy(name).escape_debug().to_string();
    Error::failed(format!("header: expected UTF-8 text, found \"{shown}\" as the name of column {}", index + 1))
}

fn with_line_end(header: &[u8], missing: bool) -> Vec<u8> {
    let mut header = header.to_vec();
    if missing {
        header.push(b'\n');
    }
    header
}

/// The same names, none empty and no two alike.
fn unique(names: Vec<String>) -> Vec<String> {
    let mut taken = HashSet::new();
    let named = names.into_iter().enumerate().map(|(index, name)| match name.is_empty() {
        true => format!("column{index}"),
        false => name,
    });
    named.map(|name| new_name(name, &mut taken)).collect()
}

fn new_name(name: String, taken: &mut HashSet<String>) -> String {
    let mut new = name.clone();
    let mut number = 0_usize;
    while !taken.insert(new.clone()) {
        number += 1;
        new = format!("{name}_{number}");
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> TextOptions {
        TextOptions { delimiter: None, header: true, nulls: Vec::new() }
    }

    fn header(head: &str) -> Header {
        read(head.as_bytes(), true, &options(), b',', true).unwrap()
    }

    #[test]
    fn names_are_unquoted_filled_and_made_unique() {
        assert_eq!(header("\"a\"\"b\", c,$x\n").names, ["a\"b", " c", "$x"]);
        assert_eq!(header("a,,a,a_1,a\n").names, ["a", "column1", "a_1", "a_1_1", "a_2"]);
        assert_eq!(header("column1,\n").names, ["column1", "column1_1"]);
    }

    #[test]
    fn the_preamble_is_mark_blank_lines_and_header() {
        let found = header("\u{feff}\n\"a\nb\",c\r\n1,2\n");
        assert_eq!((found.preamble, found.lines), (13, 3));
        assert_eq!(found.verbatim, b"\"a\nb\",c\r\n");
        assert_eq!(header("a,b").verbatim, b"a,b\n");
        assert_eq!(header("a,b").preamble, 3);
    }

    #[test]
    fn without_a_header_the_first_record_gives_the_width() {
        let without = TextOptions { header: false, ..options() };
        let found = read("\u{feff}7,8\n".as_bytes(), true, &without, b',', true).unwrap();
        assert_eq!((found.names, found.preamble), (vec!["column0".to_owned(), "column1".into()], 3));
        assert!(found.verbatim.is_empty());
    }

    #[test]
    fn a_header_without_commas_shows_the_delimiter() {
        for (head, delimiter) in [
            ("a;b|c;d\n", b';'),
            ("a\tb\n", b'\t'),
            ("a|b\n", b'|'),
            ("a,b;c;d\n", b','),
            ("ab\n", b','),
            ("a;b|c", b';'),
        ] {
            assert_eq!(header(head).delimiter, delimiter, "{head}");
        }
        assert_eq!(header("a;\"b\nc\"\n").names, ["a", "b\nc"]);
        let given = TextOptions { delimiter: Some(b'|'), ..options() };
        assert_eq!(read(b"a;b\n", true, &given, b',', true).unwrap().names, ["a;b"]);
        assert_eq!(read(b"a;b\n", true, &options(), b'\t', false).unwrap().names, ["a;b"]);
    }

    #[test]
    fn nothing_at_all_has_no_fields() {
        for head in ["", "\u{feff}", "\n\r\n"] {
            assert!(header(head).names.is_empty());
        }
    }

    #[test]
    fn what_cannot_be_a_header_is_refused() {
        let refusal = |head: &[u8], last| read(head, last, &options(), b',', true).unwrap_err().to_string();
        assert_eq!(refusal(b"a,\"b\n", true), "header: expected a closing quote, found the end of the input");
        assert_eq!(refusal(b"a,b", false), "expected a line of CSV, found none in the first 3 bytes");
        assert_eq!(refusal(b"\n", false), "expected a line of CSV, found none in the first 1 bytes");
        assert!(refusal(b"a,\xff\n", true).starts_with("header: expected UTF-8 text, found \"\u{fffd}\""));
        assert!(refusal(b"\xff\xfea\0", true).contains("UTF-16"));
    }

    #[test]
    fn a_delimiter_must_be_one_that_can_be_told_apart() {
        for bad in [b'"', b'\n', b'\r', 0xa7] {
            let given = TextOptions { delimiter: Some(bad), ..options() };
            assert!(read(b"a\n", true, &given, b',', true).is_err());
        }
    }
}
