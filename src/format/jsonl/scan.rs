//! The fast path: finds the wanted values of a common line in one walk over its members.
//!
//! It accepts nothing that [`general`](super::general) would not, with the same cells; a line it does not understand
//! (`None`) is read there. So a `?` too many costs time, never a result. Every member is checked, wanted or not.
//!
//! What makes it quick: records of one file look alike, so the member that came next in the records before is guessed
//! and compared as a whole (`"user_id":`), which spares finding the end of its key and looking it up. Values are not
//! guessed. UTF-8 and control characters are the caller's to check, for a whole chunk at once.

use super::cell::Cell;
use super::tree::{NodeId, ROOT, Tree};
use crate::format::build::number_prefix;
use std::ops::Range;

/// Deeper nesting is left to the general path, which knows the limit.
const MOST_DEPTH: u32 = 100;
/// Members remembered for one object; then learning starts afresh.
const MOST_MEMBERS: usize = 256;
/// How many members in a row may be missing from a record without being learned again.
const LOOKAHEAD: usize = 4;

/// Walks over the lines of one chunk.
pub(super) struct Scanner<'a, 't> {
    bytes: &'a [u8],
    tree: &'t Tree,
    /// Of each node: the members seen in its objects, in order.
    shapes: Vec<Vec<Member>>,
    cells: Vec<Cell<'a>>,
    /// The end of the line.
    end: usize,
}

/// A member's bytes from behind the `{` or `,` to its value: `"user_id": `.
#[derive(Clone, Debug)]
struct Member {
    bytes: Range<usize>,
    child: Option<NodeId>,
}

impl<'a, 't> Scanner<'a, 't> {
    /// A scanner for lines of `bytes`.
    pub(super) fn new(bytes: &'a [u8], tree: &'t Tree) -> Self {
        let shapes = vec![Vec::new(); tree.len()];
        Scanner { bytes, tree, shapes, cells: vec![Cell::Absent; tree.len()], end: 0 }
    }

    /// What the last record held, by node.
    #[inline]
    pub(super) fn cells(&mut self) -> &mut [Cell<'a>] {
        &mut self.cells
    }

    /// Finds the wanted values of a line, which is UTF-8 without control characters.
    #[inline]
    pub(super) fn record(&mut self, line: Range<usize>) -> Option<()> {
        self.cells.fill(Cell::Absent);
        self.end = line.end;
        let at = self.skip_space(line.start);
        if self.byte(at) != b'{' {
            return None;
        }
        let end = self.object(ROOT, at + 1, 1)?;
        (self.skip_space(end) == line.end).then_some(())
    }

    /// The byte at `at`, 0 behind the chunk. The line end stops every walk, since no token goes on with it.
    #[inline]
    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    #[inline]
    fn skip_space(&self, mut at: usize) -> usize {
        while self.byte(at) == b' ' {
            at += 1;
        }
        at
    }

    /// An object on the way to wanted fields, from behind its `{`; the result is behind its `}`.
    fn object(&mut self, node: NodeId, mut at: usize, depth: u32) -> Option<usize> {
        let first = self.skip_space(at);
        if self.byte(first) == b'}' {
            return Some(first + 1);
        }
        let mut expected = 0;
        loop {
            let (child, value) = match self.guess(node, &mut expected, at) {
                Some(found) => found,
                None => self.learn(node, &mut expected, at)?,
            };
            let end = match child {
                None => self.skip_value(value, depth)?,
                Some(child) => self.wanted_value(child, value, depth)?,
            };
            let end = self.skip_space(end);
            match self.byte(end) {
                b',' => at = end + 1,
                b'}' => return Some(end + 1),
                _ => return None,
            }
        }
    }

    /// The next member, if it is one of those that came next before.
    #[inline]
    fn guess(&self, node: NodeId, expected: &mut usize, at: usize) -> Option<(Option<NodeId>, usize)> {
        let shape = self.shapes[node].get(*expected..)?;
        for (i, member) in shape.iter().take(LOOKAHEAD).enumerate() {
            let end = at + member.bytes.len();
            if self.bytes.get(at..end).is_some_and(|bytes| same(bytes, &self.bytes[member.bytes.clone()])) {
                *expected += i + 1;
                return Some((member.child, end));
            }
        }
        None
    }

    /// Reads a member's key and remembers it as the next.
    fn learn(&mut self, node: NodeId, expected: &mut usize, at: usize) -> Option<(Option<NodeId>, usize)> {
        let (key, value) = self.key(self.skip_space(at))?;
        if key.contains(&b'\\') {
            return None;
        }
        let child = self.tree.child(node, key);
        let shape = &mut self.shapes[node];
        if shape.len() >= MOST_MEMBERS {
            shape.clear();
            *expected = 0;
        }
        shape.insert(*expected, Member { bytes: at..value, child });
        *expected += 1;
        Some((child, value))
    }

    /// The key at `at`, without its quotes, and where its value starts.
    fn key(&self, at: usize) -> Option<(&'a [u8], usize)> {
        if self.byte(at) != b'"' {
            return None;
        }
        let (end, _) = self.string(at)?;
        let colon = self.skip_space(end);
        (self.byte(colon) == b':').then(|| (&self.bytes[at + 1..end - 1], self.skip_space(colon + 1)))
    }

    /// A value at or above a wanted field.
    #[inline]
    fn wanted_value(&mut self, node: NodeId, at: usize, depth: u32) -> Option<usize> {
        let at = self.skip_space(at);
        if self.tree.has_children(node) {
            return self.parent_value(node, at, depth);
        }
        let (cell, end) = self.cell(at, depth)?;
        self.cells[node] = cell;
        Some(end)
    }

    /// A value that wanted fields are below of. What an earlier member of the same key held is forgotten.
    fn parent_value(&mut self, node: NodeId, at: usize, depth: u32) -> Option<usize> {
        self.cells[self.tree.below(node)].fill(Cell::Absent);
        let (cell, end) = match self.byte(at) {
            b'{' if depth >= MOST_DEPTH => return None,
            b'{' => {
                let end = self.object(node, at + 1, depth + 1)?;
                (Cell::Nested(&self.bytes[at..end]), end)
            }
            _ => self.cell(at, depth)?,
        };
        if self.tree.is_wanted(node) {
            self.cells[node] = cell;
        }
        Some(end)
    }

    #[inline]
    fn cell(&self, at: usize, depth: u32) -> Option<(Cell<'a>, usize)> {
        Some(match self.byte(at) {
            b'"' => match self.string(at)? {
                (end, false) => (Cell::Text(&self.bytes[at + 1..end - 1]), end),
                (end, true) => (Cell::Escaped(&self.bytes[at..end]), end),
            },
            b'-' | b'0'..=b'9' => {
                let end = self.number(at)?;
                (Cell::Number(&self.bytes[at..end]), end)
            }
            _ => {
                let end = self.skip_value(at, depth)?;
                (Cell::of(&self.bytes[at..end]), end)
            }
        })
    }

    /// Checks a value that nobody wants; the result is behind it.
    #[inline]
    fn skip_value(&self, at: usize, depth: u32) -> Option<usize> {
        let at = self.skip_space(at);
        match self.byte(at) {
            b'"' => self.string(at).map(|(end, _)| end),
            b'-' | b'0'..=b'9' => self.number(at),
            b't' => self.literal(at, b"true"),
            b'f' => self.literal(at, b"false"),
            b'n' => self.literal(at, b"null"),
            b'{' | b'[' if depth >= MOST_DEPTH => None,
            b'{' => self.skip_object(at + 1, depth + 1),
            b'[' => self.skip_array(at + 1, depth + 1),
            _ => None,
        }
    }

    fn skip_object(&self, at: usize, depth: u32) -> Option<usize> {
        let mut at = self.skip_space(at);
        if self.byte(at) == b'}' {
            return Some(at + 1);
        }
        loop {
            let (_, value) = self.key(at)?;
            let end = self.skip_space(self.skip_value(value, depth)?);
            match self.byte(end) {
                b',' => at = self.skip_space(end + 1),
                b'}' => return Some(end + 1),
                _ => return None,
            }
        }
    }

    fn skip_array(&self, at: usize, depth: u32) -> Option<usize> {
        let mut at = self.skip_space(at);
        if self.byte(at) == b']' {
            return Some(at + 1);
        }
        loop {
            let end = self.skip_space(self.skip_value(at, depth)?);
            match self.byte(end) {
                b',' => at = end + 1,
                b']' => return Some(end + 1),
                _ => return None,
            }
        }
    }

    #[inline]
    fn number(&self, at: usize) -> Option<usize> {
        number_prefix(&self.bytes[at..]).map(|(length, _)| at + length)
    }

    #[inline]
    fn literal(&self, at: usize, word: &[u8]) -> Option<usize> {
        self.bytes[at..].starts_with(word).then(|| at + word.len())
    }

    /// The end of the string whose quote is at `at`, behind its closing quote, and whether it has escapes.
    #[inline]
    fn string(&self, at: usize) -> Option<(usize, bool)> {
        let stop = self.quote_or_backslash(at + 1)?;
        match self.bytes[stop] {
            b'"' => Some((stop + 1, false)),
            _ => self.escaped_string(stop).map(|end| (end, true)),
        }
    }

    /// Where the next `"` or `\` of this line stands.
    #[inline]
    fn quote_or_backslash(&self, from: usize) -> Option<usize> {
        // The search runs over the whole chunk, as short texts are slow to search; a string that runs over the line's
        // end is no string.
        let stop = from + memchr::memchr2(b'"', b'\\', self.bytes.get(from..)?)?;
        (stop < self.end).then_some(stop)
    }

    /// The end of a string whose first backslash is at `at`.
    #[cold]
    fn escaped_string(&self, mut at: usize) -> Option<usize> {
        while self.bytes[at] == b'\\' {
            let next = at + self.escape(at)?;
            at = self.quote_or_backslash(next)?;
        }
        Some(at + 1)
    }

    /// The length of the escape at `at`. Half a surrogate pair stands for nothing.
    fn escape(&self, at: usize) -> Option<usize> {
        match self.byte(at + 1) {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(2),
            b'u' => match self.hex4(at + 2)? {
                0xDC00..=0xDFFF => None,
                0xD800..=0xDBFF => {
                    let low = self.bytes.get(at + 6..at + 8) == Some(b"\\u");
                    let low = low.then(|| self.hex4(at + 8)).flatten()?;
                    (0xDC00..=0xDFFF).contains(&low).then_some(12)
                }
                _ => Some(6),
            },
            _ => None,
        }
    }

    fn hex4(&self, at: usize) -> Option<u32> {
        let digits = self.bytes.get(at..at + 4)?;
        digits.iter().try_fold(0, |value, &digit| Some(value << 4 | char::from(digit).to_digit(16)?))
    }
}

/// Whether two texts of one length are equal. Most keys fit into two words, which spares a call.
#[inline]
fn same(a: &[u8], b: &[u8]) -> bool {
    match (a.first_chunk::<8>(), b.first_chunk::<8>(), a.last_chunk::<8>(), b.last_chunk::<8>()) {
        (Some(a_head), Some(b_head), Some(a_tail), Some(b_tail)) => {
            a_head == b_head && a_tail == b_tail && (a.len() <= 16 || a == b)
        }
        _ => a == b,
    }
}
