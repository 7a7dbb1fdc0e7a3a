//! Functions of text that holds JSON: a value at a path, the number of elements.
//!
//! Must not know records or their fields; an array in a record comes as its JSON text. The whole text is checked:
//! malformed JSON fails also where the value stands before the fault. Numbers stay as they are written, so that no
//! digit of them is lost.

use super::kernel::{Compiled, Outcome, TextOut, What, found, resolved, takes, texts, unfit, values};
use super::{Argument, FunctionKind, Resolved};
use crate::schema::{FieldType, Literal};
use crate::time::Zone;
use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use serde_core::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;
use std::sync::Arc;

/// `json_extract`
pub(super) static JSON_EXTRACT: FunctionKind = FunctionKind {
    name: "json_extract",
    aliases: &["json_extract_path"],
    usage: "json_extract(json, path)",
    doc: "the value at a path such as '$.a.b[0]', as JSON; null if absent",
    example: ("json_extract('{\"a\": {\"b\": [1, 2]}}', '$.a.b')", "\"[1,2]\""),
    least: 2,
    most: 2,
    resolve: |arguments, _| extract(arguments, write_json),
};

/// `json_extract_string`
pub(super) static JSON_EXTRACT_STRING: FunctionKind = FunctionKind {
    name: "json_extract_string",
    aliases: &["json_extract_path_text"],
    usage: "json_extract_string(json, path)",
    doc: "the value at a path as plain text; null if absent or null",
    example: ("json_extract_string('{\"a\": [\"x\"]}', '$.a[0]')", "\"x\""),
    least: 2,
    most: 2,
    resolve: |arguments, _| extract(arguments, write_plain),
};

/// `cardinality`
pub(super) static CARDINALITY: FunctionKind = FunctionKind {
    name: "cardinality",
    aliases: &["array_length", "json_array_length"],
    usage: "cardinality(array)",
    doc: "how many elements an array has; 0 for JSON that is none",
    example: ("cardinality('[1, [2, 3]]')", "2"),
    least: 1,
    most: 1,
    resolve: cardinality,
};

type Resolving = Result<Resolved, String>;

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Member(String),
    /// From the end if negative, -1 being the last.
    Index(i64),
    /// A step of a JSON pointer, which is either.
    Either(String, Option<i64>),
}

/// A path into a value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Path(Vec<Step>);

impl Path {
    /// Reads `$.a.b[0]`, a pointer `/a/b/0`, or the name of a member alone.
    fn parse(text: &str) -> Result<Self, String> {
        if let Some(pointer) = text.strip_prefix('/') {
            return Ok(Path(pointer.split('/').map(pointed).collect()));
        }
        let Some(mut rest) = text.strip_prefix('$') else {
            let whole = text.is_empty();
            return Ok(Path(if whole { Vec::new() } else { vec![Step::Member(text.to_owned())] }));
        };
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let (step, after) = step(rest).ok_or_else(|| wrong(text, rest))?;
            steps.push(step);
            rest = after;
        }
        Ok(Path(steps))
    }
}

fn pointed(part: &str) -> Step {
    let name = part.replace("~1", "/").replace("~0", "~");
    let index = name.parse().ok().filter(|index| *index >= 0);
    Step::Either(name, index)
}

fn wrong(text: &str, rest: &str) -> String {
    let wild = rest.starts_with("[*") || rest.starts_with(".*") || rest.starts_with("..");
    let why = if wild { "wildcards give several values" } else { "a path looks like $.a.b[0] or $.\"odd name\"" };
    format!("cannot read the path '{text}' from '{rest}' on: {why}")
}

/// The first step of what remains of a path, and the rest.
fn step(rest: &str) -> Option<(Step, &str)> {
    if let Some(index) = rest.strip_prefix('[') {
        let (index, after) = index.split_once(']')?;
        let from_end = index.strip_prefix('#').unwrap_or(index);
        let index = from_end.parse().ok().filter(|i| *i < 0 || from_end.len() == index.len())?;
        return Some((Step::Index(index), after));
    }
    let name = rest.strip_prefix('.')?;
    if let Some(quoted) = name.strip_prefix('"') {
        let (name, after) = quoted.split_once('"')?;
        return Some((Step::Member(name.to_owned()), after));
    }
    let end = name.find(['.', '[']).unwrap_or(name.len());
    let (name, after) = name.split_at(end);
    (!name.is_empty() && name != "*").then(|| (Step::Member(name.to_owned()), after))
}

/// How a value that was found is written; tells whether it is not null.
type Write = fn(&str, &mut TextOut) -> bool;

fn extract(arguments: &[Argument<'_>], write: Write) -> Resolving {
    if let Some(Literal::Int(index)) = arguments[1].literal {
        let mut takes = takes(&arguments[..1], &[What::Text]).map_err(|_| unfit(arguments, 0, "a text"))?;
        takes.push(FieldType::Int);
        return extract_at(takes, Compiled::Constant(Path(vec![Step::Index(*index)])), write);
    }
    let takes = takes(arguments, &[What::Text])?;
    extract_at(takes, Compiled::new(&arguments[1], Path::parse)?, write)
}

fn extract_at(takes: Vec<FieldType>, path: Compiled<Path>, write: Write) -> Resolving {
    resolved(takes, FieldType::Text, move |columns, rows, failures| {
        let json = columns[0].as_string::<i32>();
        // A constant index comes as a column of integers, which nobody reads.
        let mut paths = path.reader(columns[1].as_string_opt().unwrap_or(json));
        texts(columns, rows, failures, |row, out| {
            let value = find(json.value(row), paths.get(row)?)?;
            Ok(value.filter(|value| write(value, out)).map(|_| ()))
        })
    })
}

/// The text of the value at a path.
fn find<'a>(json: &'a str, path: &Path) -> Outcome<&'a str> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let found = Seek(&path.0).deserialize(&mut reader);
    let found = found.and_then(|found| reader.end().map(|()| found)).map_err(|e| malformed(json, &e))?;
    Ok(found.map(RawValue::get))
}

fn malformed(json: &str, error: &serde_json::Error) -> String {
    const SHOWN: usize = 60;
    let shown: String = json.chars().take(SHOWN).collect();
    let more = if shown.len() < json.len() { "..." } else { "" };
    let error = error.to_string();
    let why = error.split(" at line ").next().unwrap_or_default().to_lowercase();
    format!("malformed JSON ({why}) in \"{}{more}\"", shown.escape_debug())
}

/// Walks down a path. What lies beside it is read over, but read.
struct Seek<'p>(&'p [Step]);

impl<'de> DeserializeSeed<'de> for Seek<'_> {
    type Value = Option<&'de RawValue>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        match self.0.is_empty() {
            true => serde_core::Deserialize::deserialize(reader).map(Some),
            false => reader.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for Seek<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let wanted = match &self.0[0] {
            Step::Member(name) | Step::Either(name, _) => Some(name.as_str()),
            Step::Index(_) => None,
        };
        let mut found = None;
        while let Some(is_it) = map.next_key_seed(Is(wanted))? {
            // Of members of one name the first counts, as in DuckDB.
            if is_it && found.is_none() {
                found = Some(map.next_value_seed(Seek(&self.0[1..]))?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found.flatten())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let wanted = match &self.0[0] {
            Step::Index(index) | Step::Either(_, Some(index)) => *index,
            _ => i64::MAX,
        };
        if wanted < 0 {
            return from_end(seq, wanted.unsigned_abs(), &self.0[1..]);
        }
        let mut found = None;
        for index in 0.. {
            let more = match index == wanted {
                true => seq.next_element_seed(Seek(&self.0[1..]))?.map(|value| found = value).is_some(),
                false => seq.next_element::<IgnoredAny>()?.is_some(),
            };
            if !more {
                break;
            }
        }
        Ok(found)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

/// An element counted from the end: which one it is, is known only there.
fn from_end<'de, A: SeqAccess<'de>>(mut seq: A, count: u64, rest: &[Step]) -> Result<Option<&'de RawValue>, A::Error> {
    let mut elements: Vec<&'de RawValue> = Vec::new();
    while let Some(element) = seq.next_element()? {
        elements.push(element);
    }
    let index = usize::try_from(count).ok().and_then(|count| elements.len().checked_sub(count));
    let Some(element) = index.map(|index| elements[index]) else { return Ok(None) };
    let mut reader = serde_json::Deserializer::from_str(element.get());
    Seek(rest).deserialize(&mut reader).map_err(serde_core::de::Error::custom)
}

/// Whether a name is this one.
struct Is<'p>(Option<&'p str>);

impl<'de> DeserializeSeed<'de> for Is<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<bool, D::Error> {
        reader.deserialize_str(self)
    }
}

impl Visitor<'_> for Is<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<bool, E> {
        Ok(self.0 == Some(name))
    }
}

/// JSON without spaces between its parts.
fn write_json(json: &str, out: &mut TextOut) -> bool {
    let mut rest = json;
    // Quotes and spaces are ASCII, so a text may be cut at them.
    while let Some(at) = rest.find(|c: char| c == '"' || c.is_ascii_whitespace()) {
        out.add(&rest[..at]);
        let (part, after) = match rest[at..].starts_with('"') {
            true => rest[at..].split_at(end_of_string(&rest[at..])),
            false => ("", rest[at..].trim_ascii_start()),
        };
        out.add(part);
        rest = after;
    }
    out.add(rest);
    true
}

/// Where a string that begins here has ended.
fn end_of_string(json: &str) -> usize {
    let bytes = json.as_bytes();
    let mut at = 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

/// A string without its quotes; other values as JSON.
fn write_plain(json: &str, out: &mut TextOut) -> bool {
    let inner = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match inner {
        _ if json == "null" => return false,
        Some(inner) if !inner.contains('\\') => out.add(inner),
        // It has been read before, so it is a string.
        Some(_) => out.add(&serde_json::from_str::<String>(json).unwrap_or_default()),
        None => return write_json(json, out),
    }
    true
}

fn cardinality(arguments: &[Argument<'_>], _: &Zone) -> Resolving {
    match arguments[0].ty {
        Some(list @ FieldType::List(_)) => resolved(vec![list], FieldType::Int, |columns, rows, failures| {
            let lists = columns[0].as_list::<i32>();
            let count = |row| Ok(Some(i64::from(lists.value_length(row))));
            Ok(Arc::new(values::<Int64Type>(columns, rows, failures, count)))
        }),
        None | Some(FieldType::Text) => resolved(vec![FieldType::Text], FieldType::Int, |columns, rows, failures| {
            let json = columns[0].as_string::<i32>();
            Ok(Arc::new(values::<Int64Type>(columns, rows, failures, |row| elements(json.value(row)).map(Some))))
        }),
        ty => Err(format!("needs an array, but found {}", found(ty))),
    }
}

fn elements(json: &str) -> Result<i64, String> {
    if !json.trim_ascii_start().starts_with('[') {
        return serde_json::from_str::<IgnoredAny>(json).map(|_| 0).map_err(|e| malformed(json, &e));
    }
    serde_json::from_str(json).map(|Elements(count)| count).map_err(|e| malformed(json, &e))
}

/// How many elements an array has.
struct Elements(i64);

impl<'de> serde_core::Deserialize<'de> for Elements {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_seq(Elements(0))
    }
}

impl<'de> Visitor<'de> for Elements {
    type Value = Elements;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<Elements, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {
            self.0 += 1;
        }
        Ok(self)
    }
}
