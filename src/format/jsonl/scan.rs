//! The fast path: finds the wanted values of a common line in one walk over its members.
//!
//! It accepts nothing that [`general`](super::general) would not, with the same cells; a line it does not understand
//! (`None`) is read there. So a `?` too many costs time, never a result. Every member is checked, wanted or not.
//!
//! What makes it quick: records of one file look alike, so the member that came next in the records before is guessed
//! and compared as a whole (`"user_id":`), which spares finding the end of its key and looking it up. Values are not
//! guessed. UTF-8 and control characters are the caller's to check, for a whole chunk at once.

use super::tree::{NodeId, ROOT, Tree};
use super::unlisted::Found;
use crate::format::Unlisted;
use crate::format::json::Cell;
use crate::format::number::number_prefix;
use std::ops::Range;

/// Deeper nesting is left to the general path, which knows the limit.
const MOST_DEPTH: u32 = 100;
/// Members remembered for one object; then learning starts afresh.
const MOST_MEMBERS: usize = 256;
/// How many bytes of a string are looked at before a search is called for.
const NEAR: usize = 16;
/// How many members in a row may be missing from a record without being learned again.
const LOOKAHEAD: usize = 4;

/// Walks over the lines of one chunk.
pub(super) struct Scanner<'a, 't> {
    bytes: &'a [u8],
    tree: &'t Tree,
    /// Of each node: the members seen in its objects, in order.
    shapes: Vec<Vec<Member>>,
    cells: Vec<Cell<'a>>,
    /// Fields that are in no tree of all fields.
    unlisted: Found,
}

/// A member's bytes from behind the `{` or `,` to its value: `"user_id": `.
#[derive(Clone, Debug)]
struct Member {
    bytes: Range<usize>,
    /// The first eight of them and the last eight, where there are so many.
    ends: Option<(u64, u64)>,
    child: Child,
    /// Its last value was a string longer than [`NEAR`].
    long: bool,
}

/// What a member is for.
#[derive(Clone, Copy, Debug)]
enum Child {
    /// Nothing.
    Other,
    /// A wanted field.
    Field(NodeId),
    /// Wanted fields are below of it.
    Parent(NodeId),
}

impl Member {
    fn new(all: &[u8], bytes: Range<usize>, child: Child) -> Self {
        let text = &all[bytes.clone()];
        let ends = text.first_chunk().zip(text.last_chunk());
        let ends = ends.map(|(&head, &tail)| (u64::from_le_bytes(head), u64::from_le_bytes(tail)));
        Member { bytes, ends, child, long: false }
    }

    /// Where its value starts, if it stands at `at`. Most keys fit into two words, which spares a call.
    #[inline]
    fn value(&self, all: &[u8], at: usize) -> Option<usize> {
        let text = all.get(at..at + self.bytes.len())?;
        let same = match (self.ends, text.first_chunk(), text.last_chunk()) {
            (Some((head, tail)), Some(&first), Some(&last)) => {
                head == u64::from_le_bytes(first)
                    && tail == u64::from_le_bytes(last)
                    && (text.len() <= 16 || *text == all[self.bytes.clone()])
            }
            _ => *text == all[self.bytes.clone()],
        };
        same.then_some(at + text.len())
    }
}

impl<'a, 't> Scanner<'a, 't> {
    /// A scanner for lines of `bytes`. `names_all`: behind the tree's cells is one for fields of any other name.
    pub(super) fn new(bytes: &'a [u8], tree: &'t Tree, names_all: bool) -> Self {
        let shapes = vec![Vec::new(); tree.len()];
        let cells = vec![Cell::Absent; tree.len() + usize::from(names_all)];
        Scanner { bytes, tree, shapes, cells, unlisted: Found::default() }
    }

    /// What the last record held, by node.
    #[inline]
    pub(super) fn cells(&mut self) -> &mut [Cell<'a>] {
        &mut self.cells
    }

    /// Notes the fields of the last record that the tree does not list.
    #[inline]
    pub(super) fn note_unlisted(&mut self, record: Range<usize>, line: u64) {
        if self.cells.get(self.tree.len()).is_some_and(|cell| *cell != Cell::Absent) && !self.unlisted.is_full() {
            self.unlisted.add(&self.bytes[record], line, self.tree);
            self.overlook_known();
        }
    }

    /// All fields that were noted.
    pub(super) fn into_unlisted(self) -> Vec<Unlisted> {
        self.unlisted.into_all()
    }

    /// Has members passed over from here on that need not be noted again.
    fn overlook_known(&mut self) {
        let json = Json(self.bytes);
        let noticed = |child: Child| matches!(child, Child::Field(node) if node == self.tree.len());
        for member in self.shapes[ROOT].iter_mut().filter(|member| noticed(member.child)) {
            let key = json.key(json.skip_space(member.bytes.start));
            if key.is_some_and(|(key, _)| self.unlisted.knows(key)) {
                member.child = Child::Other;
            }
        }
    }

    /// Finds the wanted values of a line, which is UTF-8 without control characters.
    #[inline]
    pub(super) fn record(&mut self, line: Range<usize>) -> Option<()> {
        self.cells.fill(Cell::Absent);
        // Beyond its end, so that a search near it need not be slow: what runs over the end is refused below.
        let json = Json(&self.bytes[..self.bytes.len().min(line.end + NEAR)]);
        let at = json.skip_space(line.start);
        if json.byte(at) != b'{' {
            return None;
        }
        let end = self.object(json, ROOT, at + 1, 1)?;
        (json.skip_space(end) == line.end).then_some(())
    }

    /// An object on the way to wanted fields, from behind its `{`; the result is behind its `}`.
    fn object(&mut self, json: Json<'a>, node: NodeId, at: usize, depth: u32) -> Option<usize> {
        let first = json.skip_space(at);
        if json.byte(first) == b'}' {
            return Some(first + 1);
        }
        // Taken out for as long: no object of this node is inside of another.
        let mut shape = std::mem::take(&mut self.shapes[node]);
        let end = self.members(json, node, &mut shape, at, depth);
        self.shapes[node] = shape;
        end
    }

    /// The members of an object that has some, like those of its node's objects before.
    #[inline]
    fn members(
        &mut self,
        json: Json<'a>,
        node: NodeId,
        shape: &mut Vec<Member>,
        mut at: usize,
        depth: u32,
    ) -> Option<usize> {
        let mut expected = 0;
        loop {
            let (member, value) = match guess(json, shape, &mut expected, at) {
                Some(found) => found,
                None => self.learn(json, node, shape, &mut expected, at)?,
            };
            let value = json.skip_space(value);
            let end = match (json.byte(value), member.child) {
                (b'"', Child::Other | Child::Field(_)) => {
                    let (end, escaped) = json.expected_string(value, member.long)?;
                    member.long = end - value > NEAR;
                    if let Child::Field(node) = member.child {
                        self.cells[node] = json.string_cell(value..end, escaped);
                    }
                    end
                }
                (_, Child::Other) => json.skip_value(value, depth)?,
                (_, Child::Field(node)) => self.cell(json, node, value, depth)?,
                (_, Child::Parent(node)) => self.parent_value(json, node, value, depth)?,
            };
            let end = json.skip_space(end);
            match json.byte(end) {
                b',' => at = end + 1,
                b'}' => return Some(end + 1),
                _ => return None,
            }
        }
    }

    /// Reads a member's key and remembers it as the next.
    fn learn<'s>(
        &self,
        json: Json<'a>,
        node: NodeId,
        shape: &'s mut Vec<Member>,
        expected: &mut usize,
        at: usize,
    ) -> Option<(&'s mut Member, usize)> {
        let (key, value) = json.key(json.skip_space(at))?;
        if key.contains(&b'\\') {
            return None;
        }
        let child = match self.tree.child(node, key) {
            None if node == ROOT && self.cells.len() > self.tree.len() && !self.unlisted.knows(key) => {
                Child::Field(self.tree.len())
            }
            None => Child::Other,
            Some(child) if self.tree.has_children(child) => Child::Parent(child),
            Some(child) => Child::Field(child),
        };
        if shape.len() >= MOST_MEMBERS {
            shape.clear();
            *expected = 0;
        }
        shape.insert(*expected, Member::new(self.bytes, at..value, child));
        *expected += 1;
        Some((shape.get_mut(*expected - 1)?, value))
    }

    /// A value that wanted fields are below of. What an earlier member of the same key held is forgotten.
    fn parent_value(&mut self, json: Json<'a>, node: NodeId, at: usize, depth: u32) -> Option<usize> {
        self.cells[self.tree.below(node)].fill(Cell::Absent);
        let end = match json.byte(at) {
            b'{' if depth >= MOST_DEPTH => return None,
            b'{' => {
                let end = self.object(json, node, at + 1, depth + 1)?;
                self.cells[node] = Cell::Nested(&self.bytes[at..end]);
                end
            }
            _ => self.cell(json, node, at, depth)?,
        };
        if !self.tree.is_wanted(node) {
            self.cells[node] = Cell::Absent;
        }
        Some(end)
    }

    /// Puts a value into its cell: in place, since a cell handed up through memory would stall its reader.
    #[inline]
    fn cell(&mut self, json: Json<'a>, node: NodeId, at: usize, depth: u32) -> Option<usize> {
        match json.byte(at) {
            b'"' => {
                let (end, escaped) = json.string(at)?;
                self.cells[node] = json.string_cell(at..end, escaped);
                Some(end)
            }
            b'-' | b'0'..=b'9' => {
                let end = json.number(at)?;
                self.cells[node] = Cell::Number(&json.0[at..end]);
                Some(end)
            }
            _ => {
                let end = json.skip_value(at, depth)?;
                self.cells[node] = Cell::of(&json.0[at..end]);
                Some(end)
            }
        }
    }
}

/// The next member, if it is one of those that came next before.
#[inline]
fn guess<'s>(
    json: Json<'_>,
    shape: &'s mut [Member],
    expected: &mut usize,
    at: usize,
) -> Option<(&'s mut Member, usize)> {
    let first = *expected;
    for (i, member) in shape.get_mut(first..)?.iter_mut().take(LOOKAHEAD).enumerate() {
        if let Some(value) = member.value(json.0, at) {
            *expected = first + i + 1;
            return Some((member, value));
        }
    }
    None
}

/// The chunk up to a line's end or a little farther, as a text to walk over.
#[derive(Clone, Copy)]
struct Json<'a>(&'a [u8]);

impl<'a> Json<'a> {
    /// The byte at `at`, 0 behind the chunk. The line end stops every walk, since no token goes on with it.
    #[inline]
    fn byte(self, at: usize) -> u8 {
        self.0.get(at).copied().unwrap_or(0)
    }

    #[inline]
    fn skip_space(self, mut at: usize) -> usize {
        while self.byte(at) == b' ' {
            at += 1;
        }
        at
    }

    /// The key at `at`, without its quotes, and where its value starts.
    fn key(self, at: usize) -> Option<(&'a [u8], usize)> {
        if self.byte(at) != b'"' {
            return None;
        }
        let (end, _) = self.string(at)?;
        let colon = self.skip_space(end);
        (self.byte(colon) == b':').then(|| (&self.0[at + 1..end - 1], self.skip_space(colon + 1)))
    }

    /// Checks a value that nobody wants; the result is behind it.
    #[inline]
    fn skip_value(self, at: usize, depth: u32) -> Option<usize> {
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

    fn skip_object(self, at: usize, depth: u32) -> Option<usize> {
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

    fn skip_array(self, at: usize, depth: u32) -> Option<usize> {
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
    fn number(self, at: usize) -> Option<usize> {
        number_prefix(&self.0[at..]).map(|(length, _)| at + length)
    }

    #[inline]
    fn literal(self, at: usize, word: &[u8]) -> Option<usize> {
        self.0[at..].starts_with(word).then(|| at + word.len())
    }

    /// The end of the string whose quote is at `at`, behind its closing quote, and whether it has escapes.
    #[inline]
    fn string(self, at: usize) -> Option<(usize, bool)> {
        self.expected_string(at, false)
    }

    /// The same, quicker if it is known beforehand whether it is longer than [`NEAR`].
    #[inline]
    fn expected_string(self, at: usize, long: bool) -> Option<(usize, bool)> {
        let rest = self.0.get(at + 1..)?;
        let near = if long { None } else { rest.first_chunk().and_then(near) };
        let stop = match near {
            Some(length) => at + 1 + length,
            None => self.quote_or_backslash(at + 1)?,
        };
        match self.0[stop] {
            b'"' => Some((stop + 1, false)),
            _ => self.escaped_string(stop).map(|end| (end, true)),
        }
    }

    /// The cell of a string.
    #[inline]
    fn string_cell(self, string: Range<usize>, escaped: bool) -> Cell<'a> {
        match escaped {
            true => Cell::Escaped(&self.0[string]),
            false => Cell::Text(&self.0[string.start + 1..string.end - 1]),
        }
    }

    /// Where the next `"` or `\` stands.
    #[inline]
    fn quote_or_backslash(self, from: usize) -> Option<usize> {
        Some(from + memchr::memchr2(b'"', b'\\', self.0.get(from..)?)?)
    }

    /// The end of a string whose first backslash is at `at`.
    #[cold]
    fn escaped_string(self, mut at: usize) -> Option<usize> {
        while self.0[at] == b'\\' {
            let next = at + self.escape(at)?;
            at = self.quote_or_backslash(next)?;
        }
        Some(at + 1)
    }

    /// The length of the escape at `at`. Half a surrogate pair stands for nothing.
    fn escape(self, at: usize) -> Option<usize> {
        match self.byte(at + 1) {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(2),
            b'u' => match self.hex4(at + 2)? {
                0xDC00..=0xDFFF => None,
                0xD800..=0xDBFF => {
                    let low = self.0.get(at + 6..at + 8) == Some(b"\\u");
                    let low = low.then(|| self.hex4(at + 8)).flatten()?;
                    (0xDC00..=0xDFFF).contains(&low).then_some(12)
                }
                _ => Some(6),
            },
            _ => None,
        }
    }

    fn hex4(self, at: usize) -> Option<u32> {
        let digits = self.0.get(at..at + 4)?;
        digits.iter().try_fold(0, |value, &digit| Some(value << 4 | char::from(digit).to_digit(16)?))
    }
}

/// The first `"` or `\` among so many bytes, within which most strings end: two words at once spare a call.
#[inline]
fn near(bytes: &[u8; NEAR]) -> Option<usize> {
    let [low, high] = bytes.as_chunks::<8>().0 else { return None };
    let (low, high) = (stops(*low), stops(*high));
    let (word, skipped) = if low == 0 { (high, 8) } else { (low, 0) };
    (word != 0).then(|| skipped + word.trailing_zeros() as usize / 8)
}

/// The top bit of the first byte that is `"` or `\`, and perhaps others above it.
#[inline]
fn stops(word: [u8; 8]) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let word = u64::from_le_bytes(word);
    let (quote, backslash) = (word ^ (ONES * 0x22), word ^ (ONES * 0x5C));
    let zero = |x: u64| x.wrapping_sub(ONES) & !x;
    (zero(quote) | zero(backslash)) & (ONES * 0x80)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_near_search_finds_what_a_search_finds(
            text in prop::collection::vec(prop_oneof![Just(b'"'), Just(b'\\'), Just(b'#'), Just(b'!'), any::<u8>()], NEAR),
        ) {
            prop_assert_eq!(near(text.first_chunk().unwrap()), memchr::memchr2(b'"', b'\\', &text));
            let plain: Vec<u8> = text.iter().map(|b| b & 0xF0).collect();
            prop_assert_eq!(near(plain.first_chunk().unwrap()), None);
        }
    }
}
