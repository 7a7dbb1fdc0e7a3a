//! Parts of JSON texts, and hashes. An array or object in a record is its JSON text.

use super::FunctionKind;
use super::rows::{each, needs_text, texts, with_nulls};
use crate::schema::FieldType::Text;
use serde_json::Value;

/// The functions of this family.
pub(super) static JSON: &[FunctionKind] = &[
    FunctionKind {
        name: "json_extract_string",
        aliases: &["json_extract_path_text"],
        usage: "json_extract_string(json, path), json ->> path",
        doc: "the value at a path ('a.b[0]' or '$.a.b[0]') of a JSON text, as text without quotes; null where none is",
        example: ("json_extract_string('{\"a\":[{\"b\":\"x\"}]}', '$.a[0].b')", "\"x\""),
        least: 2,
        most: 2,
        resolve: |a, _| {
            needs_text(a, 0)?;
            Ok(texts(&[Text, Text], |row, out| {
                let json = parsed(row.text(0))?;
                match at(&json, row.text(1)) {
                    None | Some(Value::Null) => return Ok(false),
                    Some(Value::String(text)) => out.push_str(text),
                    Some(other) => out.push_str(&other.to_string()),
                }
                Ok(true)
            }))
        },
    },
    FunctionKind {
        name: "json_extract",
        aliases: &["json_extract_path"],
        usage: "json_extract(json, path), json -> path",
        doc: "the value at a path of a JSON text, as JSON; null where none is",
        example: ("json_extract('{\"a\":[1,2]}', 'a')", "\"[1,2]\""),
        least: 2,
        most: 2,
        resolve: |a, _| {
            needs_text(a, 0)?;
            Ok(texts(&[Text, Text], |row, out| {
                let json = parsed(row.text(0))?;
                Ok(at(&json, row.text(1)).map(|found| out.push_str(&found.to_string())).is_some())
            }))
        },
    },
    FunctionKind {
        name: "cardinality",
        aliases: &["array_length", "json_array_length"],
        usage: "cardinality(items)",
        doc: "the number of elements of an array, 0 for any other JSON",
        example: ("cardinality('[1,2,3]')", "3"),
        least: 1,
        most: 1,
        resolve: |a, _| {
            needs_text(a, 0)?;
            Ok(each(&[Text], |row| Ok(Some(parsed(row.text(0))?.as_array().map_or(0, |items| items.len() as i64)))))
        },
    },
    FunctionKind {
        name: "hash",
        aliases: &[],
        usage: "hash(a, b, ...)",
        doc: "a whole number that depends on the values' texts alone: the same on every machine and in every version",
        example: ("hash('a')", "-1974798585736099004"),
        least: 1,
        most: usize::MAX,
        resolve: |a, _| {
            Ok(with_nulls(&vec![Text; a.len()], |row| {
                let mut hash = Fnv::new();
                for i in 0..row.len() {
                    match row.is_null(i) {
                        true => hash.add(&[0]),
                        false => {
                            hash.add(&[1]);
                            hash.add(&(row.text(i).len() as u64).to_le_bytes());
                            hash.add(row.text(i).as_bytes());
                        }
                    }
                }
                Ok(Some(hash.0 as i64))
            }))
        },
    },
];

/// FNV-1a of 64 bits: a dozen lines that will never change, unlike the hash of any library. DuckDB's own values are
/// not promised by it either.
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

fn parsed(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| {
        let short: String = text.chars().take(40).collect();
        format!("expected JSON, found \"{short}\" ({error})")
    })
}

/// The value at `a.b[0]`, which may begin with `$`.
fn at<'a>(json: &'a Value, path: &str) -> Option<&'a Value> {
    let mut rest = path.strip_prefix('$').unwrap_or(path);
    let mut value = json;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('[') {
            let (index, after) = after.split_once(']')?;
            let items = value.as_array()?;
            let index: i64 = index.strip_prefix('#').unwrap_or(index).parse().ok()?;
            let index = if index < 0 { index + items.len() as i64 } else { index };
            value = items.get(usize::try_from(index).ok()?)?;
            rest = after;
            continue;
        }
        let name = rest.strip_prefix('.').unwrap_or(rest);
        let (name, after) = match name.strip_prefix('"').and_then(|quoted| quoted.split_once('"')) {
            Some(parts) => parts,
            None => name.split_at(name.find(['.', '[']).unwrap_or(name.len())),
        };
        value = value.get(name)?;
        rest = after;
    }
    Some(value)
}
