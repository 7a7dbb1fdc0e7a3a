//! Rows of two sides put side by side: the columns of pairs, from wherever their rows are.
//!
//! Must not know why two rows are a pair, nor keys or marks.

use super::store::{Place, RowId, Store};
use crate::error::{Error, Result};
use crate::pairing::Bounds;
use crate::schema::FieldType;
use crate::time::Ts;
use arrow::array::{Array, ArrayRef, AsArray, DictionaryArray, TimestampMicrosecondArray, UInt32Array, new_null_array};
use arrow::compute::{interleave, take};
use arrow::datatypes::{DataType, Int32Type};
use arrow::error::ArrowError;
use std::sync::Arc;

/// A row of each side, one of which may be missing.
pub(super) type Pairing = [Option<RowId>; 2];

/// The columns `window_start` and `window_end` of pairs, if there are windows.
pub(super) fn bounds_of(pairs: &[Pairing], stores: &[Store; 2], bounds: &Bounds) -> Vec<ArrayRef> {
    if !bounds.has_windows() {
        return Vec::new();
    }
    let windows = pairs.iter().map(|pair| bounds.window_of(time_of(pair, stores)?));
    let (starts, ends): (Vec<_>, Vec<_>) =
        windows.map(|window| (window.map(|w| w.start.micros()), window.map(|w| w.end.micros()))).unzip();
    [starts, ends].into_iter().map(instants).collect()
}

fn instants(micros: Vec<Option<i64>>) -> ArrayRef {
    Arc::new(TimestampMicrosecondArray::from(micros).with_timezone("UTC"))
}

fn time_of(pair: &Pairing, stores: &[Store; 2]) -> Option<Ts> {
    let (id, store) = pair.iter().zip(stores).find_map(|(id, store)| Some(((*id)?, store)))?;
    let (segment, row) = store.place(id)?;
    Some(store.segments()[segment].time(row))
}

/// The columns of one side of pairs, null where the row is missing.
pub(super) fn columns_of(
    ids: impl Iterator<Item = Option<RowId>>,
    store: &Store,
    types: &[FieldType],
) -> Result<Vec<ArrayRef>> {
    let sources = Sources::of(ids.map(|id| store.place(id?)), store.segments().len());
    types.iter().enumerate().map(|(at, ty)| sources.column(store, at, *ty)).collect()
}

/// Which segments rows are taken from, and which row of which of them each is.
struct Sources {
    segments: Vec<usize>,
    /// Behind the last of the segments: a row that is missing.
    rows: Vec<Place>,
    has_missing: bool,
}

impl Sources {
    fn of(places: impl Iterator<Item = Option<Place>>, segments: usize) -> Self {
        let rows = Vec::with_capacity(places.size_hint().0);
        let mut sources = Sources { segments: Vec::new(), rows, has_missing: false };
        let mut source_of = vec![usize::MAX; segments];
        for place in places {
            let Some((segment, row)) = place else {
                sources.has_missing = true;
                sources.rows.push((usize::MAX, 0));
                continue;
            };
            if source_of[segment] == usize::MAX {
                source_of[segment] = sources.segments.len();
                sources.segments.push(segment);
            }
            sources.rows.push((source_of[segment], row));
        }
        let behind = sources.segments.len();
        sources.rows.iter_mut().filter(|(source, _)| *source == usize::MAX).for_each(|place| place.0 = behind);
        sources
    }

    fn column(&self, store: &Store, at: usize, ty: FieldType) -> Result<ArrayRef> {
        let columns: Vec<&ArrayRef> =
            self.segments.iter().map(|&segment| store.segments()[segment].column(at)).collect();
        match columns[..] {
            [] => Ok(new_null_array(&ty.arrow(), self.rows.len())),
            _ if columns.iter().any(|column| is_dictionary(column)) => self.texts(&columns),
            [column] if !self.has_missing => {
                let rows: UInt32Array = self.rows.iter().map(|(_, row)| *row as u32).collect::<Vec<_>>().into();
                take(column, &rows, None).map_err(cannot_pair)
            }
            _ => interleaved(columns.iter().map(|column| column.as_ref()).collect(), &self.rows),
        }
    }

    /// Texts, some of which are dictionaries: values are taken right from those.
    fn texts(&self, columns: &[&ArrayRef]) -> Result<ArrayRef> {
        let dictionaries: Vec<Option<&DictionaryArray<Int32Type>>> =
            columns.iter().map(|column| column.as_dictionary_opt()).collect();
        let values = columns.iter().zip(&dictionaries).map(|(column, dictionary)| match dictionary {
            Some(dictionary) => dictionary.values().as_ref(),
            None => column.as_ref(),
        });
        let place = |&(source, row): &Place| match dictionaries.get(source) {
            Some(Some(dictionary)) => dictionary.key(row).map_or((columns.len(), 0), |key| (source, key)),
            _ => (source, row),
        };
        let rows: Vec<Place> = self.rows.iter().map(place).collect();
        interleaved(values.collect(), &rows)
    }
}

/// Rows of several columns; a source behind the last of them is null.
fn interleaved(values: Vec<&dyn Array>, rows: &[Place]) -> Result<ArrayRef> {
    let missing = new_null_array(values[0].data_type(), 1);
    let sources: Vec<&dyn Array> = values.into_iter().chain([missing.as_ref()]).collect();
    interleave(&sources, rows).map_err(cannot_pair)
}

fn is_dictionary(column: &ArrayRef) -> bool {
    matches!(column.data_type(), DataType::Dictionary(..))
}

fn cannot_pair(error: ArrowError) -> Error {
    Error::failed(format!("cannot put two rows side by side: {error}"))
}
