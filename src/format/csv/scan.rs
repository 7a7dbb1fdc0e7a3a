//! Where CSV fields and records end: the quote-aware scan.
//!
//! Must not know types, columns or headers. The definition is the `csv` crate with its default settings: `"` opens a
//! quoted field only where a field starts, a doubled quote in it is one quote, what follows the closing quote belongs
//! to the field as it stands; `\n`, `\r` and `\r\n` end a record; a record without a byte is none. Tests hold this
//! scan against that crate. It differs in one point: a quote that is never closed is told, not swallowed.
//!
//! Bytes are looked at 64 at a time as bit masks. The masks come from plain comparisons, which the compiler turns into
//! vector code, and some arithmetic that gathers one bit of each; there is no need for intrinsics.

use memchr::{memchr, memrchr2};

/// How many bytes are looked at in one step: one bit each in a mask.
const BLOCK: usize = 64;

/// A record of a chunk, as byte offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// Where it starts.
    pub(super) start: usize,
    /// Where it ends, without its line end.
    pub(super) end: usize,
    /// Whether it ends in a quoted field that the end of the bytes cut off.
    pub(super) unclosed: bool,
}

/// The length of the longest prefix of whole records, where `bytes` start at a record.
pub(super) fn whole_records(bytes: &[u8], delimiter: u8) -> usize {
    let mut whole = 0;
    let mut outside = 0;
    let mut from = 0;
    while let Some(at) = memchr(b'"', &bytes[from..]).map(|at| from + at) {
        from = at + 1;
        if at > 0 && !is_end(bytes[at - 1], delimiter) {
            continue;
        }
        whole = last_record_end(bytes, outside, at).unwrap_or(whole);
        match behind_closing_quote(bytes, from) {
            Some(behind) => (outside, from) = (behind, behind),
            None => return whole,
        }
    }
    last_record_end(bytes, outside, bytes.len()).unwrap_or(whole)
}

/// The first record, its field ends, and the offset behind its line end (both bytes of `\r\n`).
pub(super) fn first_record(bytes: &[u8], delimiter: u8) -> Option<(Record, Vec<usize>, usize)> {
    let mut ends = Vec::new();
    let record = Records::new(bytes, delimiter).next(&mut ends)?;
    let line_end = match bytes.get(record.end..) {
        Some([b'\r', b'\n', ..]) => 2,
        Some([_, ..]) => 1,
        _ => 0,
    };
    Some((record, ends, record.end + line_end))
}

/// Whether a byte ends a field.
fn is_end(byte: u8, delimiter: u8) -> bool {
    byte == delimiter || byte == b'\n' || byte == b'\r'
}

/// The offset behind the last line end in an unquoted stretch.
fn last_record_end(bytes: &[u8], from: usize, to: usize) -> Option<usize> {
    memrchr2(b'\n', b'\r', &bytes[from..to]).map(|at| from + at + 1)
}

/// The offset behind the quote that closes a field, where `from` is inside it.
fn behind_closing_quote(bytes: &[u8], mut from: usize) -> Option<usize> {
    loop {
        let behind = from + memchr(b'"', &bytes[from..])? + 1;
        if bytes.get(behind) != Some(&b'"') {
            return Some(behind);
        }
        from = behind + 1;
    }
}

/// The text of a field, and whether it was quoted. `scratch` is used for texts that do not stand as such in `raw`.
#[inline]
pub(super) fn field_text<'a>(raw: &'a [u8], scratch: &'a mut Vec<u8>) -> (&'a [u8], bool) {
    match raw {
        [b'"', inner @ ..] => (quoted_text(inner, scratch), true),
        _ => (raw, false),
    }
}

/// The text of a quoted field, from behind its opening quote.
fn quoted_text<'a>(inner: &'a [u8], scratch: &'a mut Vec<u8>) -> &'a [u8] {
    match memchr(b'"', inner) {
        Some(at) if at + 1 == inner.len() => &inner[..at],
        _ => {
            scratch.clear();
            unquote(inner, scratch);
            scratch
        }
    }
}

/// Appends the text of a quoted field, from behind its opening quote: doubled quotes are one, and what stands behind
/// the closing quote is text.
fn unquote(inner: &[u8], text: &mut Vec<u8>) {
    let mut rest = inner;
    while let Some(at) = memchr(b'"', rest) {
        text.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        match rest {
            [b'"', after @ ..] => {
                text.push(b'"');
                rest = after;
            }
            _ => break,
        }
    }
    text.extend_from_slice(rest);
}

/// The offset of the quote that is still open at the end of a record with [`Record::unclosed`].
pub(super) fn open_quote(record: &[u8], delimiter: u8) -> usize {
    let mut from = 0;
    while let Some(at) = memchr(b'"', &record[from..]).map(|at| from + at) {
        from = at + 1;
        if at == 0 || is_end(record[at - 1], delimiter) {
            match behind_closing_quote(record, from) {
                Some(behind) => from = behind,
                None => return at,
            }
        }
    }
    record.len()
}

/// Walks the records of a chunk.
pub(super) struct Records<'a> {
    bytes: &'a [u8],
    delimiter: u8,
    /// Where the block behind the current one starts.
    next_block: usize,
    /// The field ends of the current block that were not visited yet.
    ends: u64,
    /// Where the next record starts.
    start: usize,
    quotes: Quotes,
}

impl<'a> Records<'a> {
    /// A walk over `bytes`, which start at a record.
    pub(super) fn new(bytes: &'a [u8], delimiter: u8) -> Self {
        Self { bytes, delimiter, next_block: 0, ends: 0, start: 0, quotes: Quotes { inside: false, may_open: true } }
    }

    /// The next record; `ends` gets the end of each of its fields (the next one starts a byte behind it).
    #[inline]
    pub(super) fn next(&mut self, ends: &mut Vec<usize>) -> Option<Record> {
        ends.clear();
        loop {
            while self.ends != 0 {
                let at = self.next_block - BLOCK + self.ends.trailing_zeros() as usize;
                self.ends &= self.ends - 1;
                if self.bytes[at] == self.delimiter {
                    ends.push(at);
                } else if at == self.start {
                    self.start += 1;
                } else {
                    ends.push(at);
                    let start = std::mem::replace(&mut self.start, at + 1);
                    return Some(Record { start, end: at, unclosed: false });
                }
            }
            if self.next_block >= self.bytes.len() {
                return self.last(ends);
            }
            self.read_block();
        }
    }

    /// What stands behind the last line end.
    fn last(&mut self, ends: &mut Vec<usize>) -> Option<Record> {
        let end = self.bytes.len();
        if self.start == end {
            return None;
        }
        ends.push(end);
        let start = std::mem::replace(&mut self.start, end);
        Some(Record { start, end, unclosed: self.quotes.inside })
    }

    /// Finds the field ends of the next block.
    #[inline]
    fn read_block(&mut self) {
        let rest = &self.bytes[self.next_block..];
        let masks = match rest.first_chunk::<BLOCK>() {
            Some(block) => Masks::new(block, self.delimiter),
            None => {
                let mut block = [0; BLOCK];
                block[..rest.len()].copy_from_slice(rest);
                Masks::new(&block, self.delimiter).first(rest.len())
            }
        };
        self.next_block += BLOCK;
        self.ends = masks.ends & !self.quotes.inside_of(masks);
    }
}

/// A bit for each byte of a block.
#[derive(Clone, Copy)]
struct Masks {
    /// Quotes.
    quotes: u64,
    /// Delimiters and line ends, also those between quotes.
    ends: u64,
}

impl Masks {
    #[inline]
    fn new(block: &[u8; BLOCK], delimiter: u8) -> Self {
        Self {
            quotes: gather(&block.map(|b| flag(b == b'"'))),
            ends: gather(&block.map(|b| flag(b == delimiter) | flag(b == b'\n') | flag(b == b'\r'))),
        }
    }

    /// The masks of the first `len` bytes alone.
    fn first(self, len: usize) -> Self {
        let keep = (1 << len) - 1;
        Self { quotes: self.quotes & keep, ends: self.ends & keep }
    }
}

/// All bits set, or none: the form in which vector comparisons answer.
#[inline]
fn flag(is: bool) -> u8 {
    if is { 0xff } else { 0 }
}

/// One bit of each byte. Of the bytes in row `r` (of eight rows of eight) bit `r` is kept, so that all rows fit into
/// one number, where byte `c` holds column `c`; turning that square of bits over puts them in order.
#[inline]
fn gather(flags: &[u8; BLOCK]) -> u64 {
    let mut square = 0;
    for (row, eight) in flags.as_chunks::<8>().0.iter().enumerate() {
        square |= u64::from_le_bytes(*eight) & (0x0101_0101_0101_0101 << row);
    }
    transposed(square)
}

/// An 8 by 8 square of bits with rows and columns exchanged: first within squares of two, then of four, then of eight.
#[inline]
fn transposed(mut square: u64) -> u64 {
    for (by, upper) in [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)] {
        let exchanged = (square ^ (square >> by)) & upper;
        square ^= exchanged ^ (exchanged << by);
    }
    square
}

/// What is known about quotes at the start of a block.
#[derive(Clone, Copy)]
struct Quotes {
    /// Whether it is inside a quoted field.
    inside: bool,
    /// Whether the byte before it lets a quote open: the end of a field, or a closing quote (which the two then
    /// turn out to be one quote inside the field; leaving and entering it again comes to the same).
    may_open: bool,
}

impl Quotes {
    /// Which bytes of a block are inside quotes, and moves on behind it. A bit at a quote tells how it is behind it.
    #[inline]
    fn inside_of(&mut self, masks: Masks) -> u64 {
        let carried = if self.inside { u64::MAX } else { 0 };
        let mut quotes = masks.quotes;
        let mut inside = parity(quotes) ^ carried;
        let may_open = (masks.ends | quotes) << 1 | u64::from(self.may_open);
        if quotes & inside & !may_open != 0 {
            quotes = self.effective(masks);
            inside = parity(quotes) ^ carried;
        }
        self.may_open = (masks.ends | quotes) >> 63 != 0;
        self.inside = inside >> 63 != 0;
        inside
    }

    /// The quotes of a block that open or close a field; the others are text.
    #[cold]
    fn effective(self, masks: Masks) -> u64 {
        let mut inside = self.inside;
        let mut may_open = masks.ends << 1 | u64::from(self.may_open);
        let mut effective = 0;
        let mut rest = masks.quotes;
        while rest != 0 {
            let quote = rest & rest.wrapping_neg();
            rest ^= quote;
            if inside {
                may_open |= quote << 1;
            } else if may_open & quote == 0 {
                continue;
            }
            effective |= quote;
            inside = !inside;
        }
        effective
    }
}

/// For each bit the parity of the bits up to and with it.
#[inline]
fn parity(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All records as texts, and whether the last one was cut off in quotes.
    pub(crate) fn scan(bytes: &[u8], delimiter: u8) -> (Vec<Vec<Vec<u8>>>, bool) {
        let (mut records, mut ends, mut all) = (Records::new(bytes, delimiter), Vec::new(), Vec::new());
        let mut unclosed = false;
        while let Some(record) = records.next(&mut ends) {
            assert!(!unclosed, "only the last record can be cut off");
            unclosed = record.unclosed;
            let mut start = record.start;
            let mut fields = Vec::new();
            for &end in &ends {
                fields.push(field_text(&bytes[start..end], &mut Vec::new()).0.to_vec());
                start = end + 1;
            }
            assert_eq!(start, record.end + 1);
            all.push(fields);
        }
        (all, unclosed)
    }

    fn definition(bytes: &[u8], delimiter: u8) -> Vec<Vec<Vec<u8>>> {
        let mut reader =
            csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(bytes);
        reader.byte_records().map(|r| r.unwrap().iter().map(<[u8]>::to_vec).collect()).collect()
    }

    /// Bytes full of what matters here, in pieces long enough to cross blocks.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            8 => prop::sample::select(vec!["\"", ",", "\n", "\r", "\r\n", "a", " ", "\"\"", ",\"", "\",", "\"\n"])
                .prop_map(|s| s.as_bytes().to_vec()),
            1 => prop::collection::vec(any::<u8>(), 0..3),
            1 => (0usize..70).prop_map(|n| vec![b'x'; n]),
            1 => "\"[a,\n]{0,80}\"".prop_map(String::into_bytes),
        ];
        prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
    }

    /// A byte order mark is the header's business here, while the crate always skips it.
    fn no_mark(bytes: &[u8]) -> bool {
        !bytes.starts_with(b"\xef\xbb\xbf")
    }

    proptest! {
        #[test]
        fn the_scan_agrees_with_the_csv_crate(bytes in bytes().prop_filter("mark", |b| no_mark(b))) {
            prop_assert_eq!(scan(&bytes, b',').0, definition(&bytes, b','));
            prop_assert_eq!(scan(&bytes, b'a').0, definition(&bytes, b'a'));
        }

        #[test]
        fn a_frame_is_the_longest_prefix_of_whole_records(bytes in bytes()) {
            let whole = whole_records(&bytes, b',');
            let (all, unclosed) = scan(&bytes, b',');
            let (before, cut) = scan(&bytes[..whole], b',');
            let (after, _) = scan(&bytes[whole..], b',');
            prop_assert!(!cut);
            prop_assert!(after.len() <= 1);
            prop_assert_eq!(after.is_empty(), whole == bytes.len());
            prop_assert!(!unclosed || after.len() == 1);
            prop_assert_eq!([before, after].concat(), all);
        }

        #[test]
        fn frames_at_any_cut_give_the_same_records(bytes in bytes(), cut in any::<prop::sample::Index>()) {
            let cut = cut.index(bytes.len() + 1);
            let whole = whole_records(&bytes[..cut], b',');
            let parts = [scan(&bytes[..whole], b',').0, scan(&bytes[whole..], b',').0].concat();
            prop_assert_eq!(parts, scan(&bytes, b',').0);
        }
    }

    #[test]
    fn a_quote_opens_at_the_start_of_a_field_alone() {
        let texts = |b: &str| {
            scan(b.as_bytes(), b',')
                .0
                .concat()
                .iter()
                .map(|t| String::from_utf8_lossy(t).into())
                .collect::<Vec<String>>()
        };
        assert_eq!(texts("x\"y\",z\n"), ["x\"y\"", "z"]);
        assert_eq!(texts("\"x\"y\"z,1\n"), ["xy\"z", "1"]);
        assert_eq!(texts(" \"x,y\"\n"), [" \"x", "y\""]);
        assert_eq!(texts("\"a\"\"b\",\"\"\n"), ["a\"b", ""]);
    }

    #[test]
    fn a_quote_that_is_never_closed_is_told() {
        for bytes in ["a,\"b\nc,d\n", "\"", "a\n\"\"\"", "\"\",\""] {
            assert!(scan(bytes.as_bytes(), b',').1, "{bytes}");
        }
        assert!(!scan(b"a,\"b\"", b',').1);
        assert_eq!(open_quote(b"\"a\"\"\",b\",\"c\n", b','), 9);
    }

    #[test]
    fn the_first_record_has_its_whole_line_end() {
        let behind = |bytes: &[u8]| first_record(bytes, b',').map(|(record, _, behind)| (record.end, behind));
        assert_eq!(behind(b"\n\r\na,\"b\n\"\r\nc"), Some((9, 11)));
        assert_eq!(behind(b"a\rb"), Some((1, 2)));
        assert_eq!(behind(b"a,b"), Some((3, 3)));
        assert_eq!(behind(b"\r\n\n"), None);
    }

    /// The cases of max ogden's csv-spectrum, with their line ends as they are there.
    #[test]
    fn the_known_torture_cases_come_out_right() {
        let case = |text: &str, expected: &[&[&str]]| {
            let (records, unclosed) = scan(text.as_bytes(), b',');
            let shown = |field: &Vec<u8>| String::from_utf8(field.clone()).unwrap();
            let records: Vec<Vec<String>> = records.iter().map(|record| record.iter().map(shown).collect()).collect();
            assert!(records == expected && !unclosed, "{text:?}: {records:?}");
        };
        case(
            "first,city,zip\nJohn,\"Anytown, WW\",08123",
            &[&["first", "city", "zip"], &["John", "Anytown, WW", "08123"]],
        );
        case("a,b,c\n1,\"\",\"\"\n2,3,4", &[&["a", "b", "c"], &["1", "", ""], &["2", "3", "4"]]);
        case("a,b,c\r\n1,\"\",\"\"\r\n2,3,4", &[&["a", "b", "c"], &["1", "", ""], &["2", "3", "4"]]);
        case("a,b\n1,\"ha \"\"ha\"\" ha\"\n3,4\n", &[&["a", "b"], &["1", "ha \"ha\" ha"], &["3", "4"]]);
        case("key,val\n1,\"{\"\"x\"\": [102.0, 0.5]}\"\n", &[&["key", "val"], &["1", "{\"x\": [102.0, 0.5]}"]]);
        case(
            "id,at\n5,37\u{fffd}36'37.8\"N 121\u{fffd}2'17.9\"W",
            &[&["id", "at"], &["5", "37\u{fffd}36'37.8\"N 121\u{fffd}2'17.9\"W"]],
        );
        case("a,b\n1,2\n\"Once upon \na time\",5\n", &[&["a", "b"], &["1", "2"], &["Once upon \na time", "5"]]);
        case(
            "a,b\r\n\"Once upon \r\na time\",5\r\n7,8\r\n",
            &[&["a", "b"], &["Once upon \r\na time", "5"], &["7", "8"]],
        );
        case("a,b\n1,\"ha \n\"\"ha\"\" \nha\"\n3,4\n", &[&["a", "b"], &["1", "ha \n\"ha\" \nha"], &["3", "4"]]);
        case("a,b,c\n4,5,\u{2a4}\n", &[&["a", "b", "c"], &["4", "5", "\u{2a4}"]]);
    }
}
