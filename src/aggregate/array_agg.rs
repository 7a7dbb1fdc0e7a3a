//! `array_agg`: all values as a list, nulls too, by event time, then position.
//!
//! Must not know columns.

use super::cells::Cells;
use super::collected::{All, Collected, Form};
use super::value::Value;
use super::{AggregateKind, OutOfRange, Takes, distinct_of};
use crate::schema::FieldType;
use arrow::array::{ArrayRef, ListArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::Field;
use std::sync::Arc;

/// `array_agg(x)`.
pub(super) static ARRAY_AGG: AggregateKind = AggregateKind {
    name: "array_agg",
    usage: "array_agg(x) or array_agg(DISTINCT x)",
    doc: "all values, nulls too, as a list by event time, then position; of equal ones with DISTINCT the first; null \
          over no rows",
    aliases: &["list"],
    takes: &[Takes::Anything],
    optional: 0,
    rows: false,
    distinct: true,
    ordered: true,
    build: |arguments| {
        distinct_of::wrap::<true>(arguments, |arguments| {
            Box::new(Cells::<All<Lists>>::new(arguments.first().unwrap_or(FieldType::Text), ()))
        })
    },
};

struct Lists;

impl Form for Lists {
    type Options = ();

    const NULLS: bool = true;

    fn output(ty: FieldType) -> FieldType {
        ty.list().unwrap_or(ty)
    }

    fn values<'a, V: Value>(
        _: &(),
        ty: FieldType,
        cells: impl Iterator<Item = &'a Collected<V>>,
    ) -> Result<ArrayRef, OutOfRange> {
        let (mut items, mut lengths, mut filled) = (Vec::new(), Vec::new(), Vec::new());
        for cell in cells {
            let before = items.len();
            items.extend(cell.sorted());
            lengths.push(items.len() - before);
            filled.push(!cell.is_empty());
            if i32::try_from(items.len()).is_err() {
                return Err(too_long(filled.len() - 1));
            }
        }
        let items = V::array(ty, items.into_iter().map(|value| value.map(V::borrow)));
        let field = Arc::new(Field::new_list_field(ty.arrow(), true));
        let nulls = NullBuffer::from(filled);
        Ok(Arc::new(ListArray::new(field, OffsetBuffer::from_lengths(lengths), items, Some(nulls))))
    }
}

fn too_long(index: usize) -> OutOfRange {
    let what = "lists of more than 2147483647 values in all do not fit a column".into();
    OutOfRange { index, what, hint: "a smaller window has shorter lists of FIELD" }
}
