//! The definition: a record as `serde_json` reads it.
//!
//! Every line that the scanner does not understand ends here, and every error text comes from here. The whole line is
//! checked first, strings included, because serde_json is lax in values it is told to skip; then the wanted values are
//! taken out by their text. Must not know columns or their types.

use super::tree::{NodeId, ROOT, Tree};
use crate::format::json::{Cell, check};
use crate::format::number::shown;
use serde_core::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// Finds the wanted values of a record, or says why the line is none.
pub(super) fn record<'a>(line: &'a [u8], tree: &Tree, cells: &mut [Cell<'a>]) -> Result<(), String> {
    let text = check(line)?;
    cells.fill(Cell::Absent);
    extract(text, tree, ROOT, cells).map_err(|error| describe(text, &error))
}

/// The line's text, if it is one JSON object.
pub(super) fn check(line: &[u8]) -> Result<&str, String> {
    let text = std::str::from_utf8(line).map_err(|error| not_utf8(line, error.valid_up_to()))?;
    check::value(text).map_err(|error| describe(text, &error))?;
    let found = match text.trim_start().as_bytes().first() {
        Some(b'{') => return Ok(text),
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    };
    Err(format!("expected a JSON object, found {found}, near `{}`", shown(text.trim().as_bytes())))
}

fn extract<'a>(object: &'a str, tree: &Tree, node: NodeId, cells: &mut [Cell<'a>]) -> serde_json::Result<()> {
    let mut result = Ok(());
    each_member(object, |key, value| {
        let Some(child) = tree.child(node, key.as_bytes()) else {
            return notice(node, tree, cells);
        };
        cells[tree.below(child)].fill(Cell::Absent);
        if tree.is_wanted(child) {
            cells[child] = Cell::of(value.as_bytes());
        }
        if tree.has_children(child) && value.starts_with('{') && result.is_ok() {
            result = extract(value, tree, child, cells);
        }
    })?;
    result
}

/// Marks that the record has a field of another name, where a cell behind the tree's asks for it.
fn notice(node: NodeId, tree: &Tree, cells: &mut [Cell<'_>]) {
    if let (ROOT, Some(cell)) = (node, cells.get_mut(tree.len())) {
        *cell = Cell::Null;
    }
}

/// Calls `take` with each member's key and its value's text, for the text of an object.
pub(super) fn each_member<'a>(object: &'a str, take: impl FnMut(&str, &'a str)) -> serde_json::Result<()> {
    serde_json::Deserializer::from_str(object).deserialize_map(Members { take, key: String::new() })
}

struct Members<F> {
    take: F,
    key: String,
}

impl<'de, F: FnMut(&str, &'de str)> Visitor<'de> for Members<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while map.next_key_seed(KeyInto(&mut self.key))?.is_some() {
            (self.take)(&self.key, map.next_value::<&'de RawValue>()?.get());
        }
        Ok(())
    }
}

/// Reads a key into a buffer that all keys share.
struct KeyInto<'k>(&'k mut String);

impl<'de> DeserializeSeed<'de> for KeyInto<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_str(self)
    }
}

impl Visitor<'_> for KeyInto<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<(), E> {
        self.0.clear();
        self.0.push_str(key);
        Ok(())
    }
}

/// Whether the whole of `text` is one JSON value of any kind.
pub(super) fn is_json(text: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(text).is_ok()
}

fn not_utf8(line: &[u8], at: usize) -> String {
    format!("not valid UTF-8 at column {}, near `{}`", at + 1, near(line, at))
}

/// serde_json's words without its line number, which is always 1 here, and with the text around the place.
fn describe(line: &str, error: &serde_json::Error) -> String {
    let words = error.to_string();
    let words = words.split(" at line ").next().unwrap_or(&words);
    let words = match words {
        "recursion limit exceeded" => "nested more than 127 levels deep".to_owned(),
        "expected ident" => "expected `true`, `false` or `null`".to_owned(),
        _ => words.replace("EOF while parsing", "the line ends inside"),
    };
    let column = error.column();
    let place = near(line.as_bytes(), column.saturating_sub(1));
    format!("not valid JSON: {words} at column {column}, near `{place}`")
}

/// Some text around byte `at`.
fn near(line: &[u8], at: usize) -> String {
    const BEFORE: usize = 12;
    const LENGTH: usize = 32;
    let at = at.min(line.len());
    let is_start = |&i: &usize| line.get(i).is_none_or(|b| b & 0xC0 != 0x80);
    let start = (at.saturating_sub(BEFORE)..=at).find(is_start).unwrap_or(at);
    let end = (start + LENGTH..line.len()).find(is_start).unwrap_or(line.len());
    shown(&line[start..end])
}
