//! `string_agg`: all values as one text, by event time, then position.
//!
//! Numbers and truth values stand in it as text. Must not know columns.

use super::cells::Cells;
use super::collected::{All, Collected, Form};
use super::value::Value;
use super::{AggregateKind, OutOfRange, Takes, distinct_of};
use crate::schema::{FieldType, Literal};
use arrow::array::{ArrayRef, StringBuilder};
use std::sync::Arc;

/// `string_agg(x, sep)`.
pub(super) static STRING_AGG: AggregateKind = AggregateKind {
    name: "string_agg",
    usage: "string_agg(x), string_agg(x, ', ') or string_agg(DISTINCT x)",
    doc: "all values as one text by event time, then position, with a comma or another text between them; null over \
          nothing",
    aliases: &["group_concat", "listagg"],
    takes: &[Takes::Words, Takes::Text],
    optional: 1,
    rows: false,
    distinct: true,
    ordered: true,
    build: |arguments| {
        distinct_of::wrap::<true>(arguments, |arguments| {
            let ty = arguments.first().unwrap_or(FieldType::Text);
            Box::new(Cells::<All<Joined>>::new(ty, separator(arguments.constants)))
        })
    },
};

fn separator(constants: &[Literal]) -> String {
    match constants.first() {
        Some(Literal::Text(text)) => text.clone(),
        _ => ",".into(),
    }
}

struct Joined;

impl Form for Joined {
    type Options = String;

    const NULLS: bool = false;

    fn output(_: FieldType) -> FieldType {
        FieldType::Text
    }

    fn values<'a, V: Value>(
        separator: &String,
        ty: FieldType,
        cells: impl Iterator<Item = &'a Collected<V>>,
    ) -> Result<ArrayRef, OutOfRange> {
        let mut texts = StringBuilder::new();
        let mut bytes = 0;
        for (index, cell) in cells.enumerate() {
            let text = (!cell.is_empty())
                .then(|| cell.sorted().flatten().map(|value| value.text(ty)).collect::<Vec<_>>().join(separator));
            bytes += text.as_ref().map_or(0, String::len);
            if i32::try_from(bytes).is_err() {
                return Err(too_long(index));
            }
            texts.append_option(text);
        }
        Ok(Arc::new(texts.finish()))
    }
}

fn too_long(index: usize) -> OutOfRange {
    let what = "texts of more than 2147483647 bytes in all do not fit a column".into();
    OutOfRange { index, what, hint: "a smaller window has shorter texts of FIELD" }
}
