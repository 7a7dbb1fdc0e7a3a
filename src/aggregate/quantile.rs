//! `median`, `quantile_cont` (and `p50` to `p99`), `quantile_disc`: exact, so every value is kept.
//!
//! A list per slot, in the order the rows came; results are found by selection, which no order can change. A slot that
//! is opened again keeps a short list's memory. Must not know columns.

use super::cells::{Cells, Family};
use super::column::Moment;
use super::saved::{Reader, write_u64};
use super::value::{Value, between_type};
use super::{Accumulator, AggregateKind, Arguments, OutOfRange, Takes, distinct_of};
use crate::schema::{FieldType, Literal};
use arrow::array::ArrayRef;

/// `quantile_cont(x, q)`.
pub(super) static QUANTILE_CONT: AggregateKind = AggregateKind {
    name: "quantile_cont",
    usage: "quantile_cont(x, q), or p50(x) to p99(x)",
    doc: "the value with a share q of all below it, between two values where it falls between them: of integers a \
          double, of decimals cut to their digits; p95(x) is quantile_cont(x, 0.95); null over nothing",
    aliases: &[],
    takes: &[Takes::Measure, Takes::Share],
    optional: 0,
    rows: false,
    distinct: true,
    ordered: false,
    build: |arguments| distinct_of::wrap::<false>(arguments, |arguments| build(arguments, true)),
};

/// `quantile_disc(x, q)`.
pub(super) static QUANTILE_DISC: AggregateKind = AggregateKind {
    name: "quantile_disc",
    usage: "quantile_disc(x, q)",
    doc: "the least value with at least a share q of all at or below it; null over nothing",
    aliases: &["quantile"],
    takes: &[Takes::Anything, Takes::Share],
    build: |arguments| distinct_of::wrap::<false>(arguments, |arguments| build(arguments, false)),
    ..QUANTILE_CONT
};

/// `median(x)`.
pub(super) static MEDIAN: AggregateKind = AggregateKind {
    name: "median",
    usage: "median(x)",
    doc: "the value in the middle: quantile_cont(x, 0.5), of text and truth values quantile_disc(x, 0.5)",
    aliases: &[],
    takes: &[Takes::Anything],
    build: |arguments| {
        distinct_of::wrap::<false>(arguments, |arguments| {
            let continuous = !matches!(arguments.first(), Some(FieldType::Text | FieldType::Bool));
            build(Arguments { constants: &[], ..arguments }, continuous)
        })
    },
    ..QUANTILE_CONT
};

fn build(arguments: Arguments<'_>, continuous: bool) -> Box<dyn Accumulator> {
    let ty = arguments.first().unwrap_or(FieldType::Double);
    Box::new(Cells::<Quantile>::new(ty, Rank { share: Share::of(arguments.constants), continuous }))
}

/// A constant from 0 to 1.
#[derive(Clone, Copy, Debug)]
pub(super) enum Share {
    /// As a double.
    Double(f64),
    /// `digits / unit`, as it was typed.
    Decimal { digits: u128, unit: u128 },
}

impl Share {
    /// The first of the constants; a half where there is none.
    pub(super) fn of(constants: &[Literal]) -> Self {
        match constants.first() {
            Some(Literal::Int(whole)) => Share::Double(*whole as f64),
            Some(Literal::Double(share)) => Share::Double(*share),
            Some(Literal::Decimal { value, scale: scale @ 0..=18 }) => {
                Share::Decimal { digits: value.unsigned_abs(), unit: 10u128.pow(u32::from(scale.unsigned_abs())) }
            }
            Some(Literal::Decimal { value, scale }) => Share::Double(*value as f64 / 10f64.powi(i32::from(*scale))),
            _ => Share::Double(0.5),
        }
    }

    fn double(self) -> f64 {
        match self {
            Share::Double(share) => share,
            Share::Decimal { digits, unit } => digits as f64 / unit as f64,
        }
    }

    /// The index of the least of `len` sorted values with at least this share at or below it. `len` is not 0.
    pub(super) fn index(self, len: u64) -> u64 {
        let above = match self {
            Share::Double(share) => (len as f64 - len as f64 * share) as u64,
            Share::Decimal { digits, unit } => {
                ((u128::from(len) * unit).saturating_sub(u128::from(len) * digits) / unit) as u64
            }
        };
        len.saturating_sub(above).max(1).min(len) - 1
    }
}

/// Which value is asked for.
struct Rank {
    share: Share,
    continuous: bool,
}

impl Rank {
    /// The value asked for. `keys` come in any order, and not empty.
    fn of<V: Value>(&self, keys: &mut [V::Key<'_>], ty: FieldType) -> V {
        let last = keys.len() - 1;
        if !self.continuous {
            let index = self.share.index(keys.len() as u64) as usize;
            let (_, value, _) = keys.select_nth_unstable(index);
            return V::own_key(*value);
        }
        let place = (last as f64 * self.share.double()).clamp(0.0, last as f64);
        let (_, low, above) = keys.select_nth_unstable(place as usize);
        let low = *low;
        let high = if place.fract() == 0.0 { low } else { above.iter().copied().min().unwrap_or(low) };
        V::between(low, high, place.fract(), ty)
    }
}

struct Quantile;

/// An opened slot keeps the memory of so many values.
const KEPT: usize = 1_024;

impl Family for Quantile {
    type Options = Rank;
    type Cell<V: Value> = Vec<V>;

    const ORDERED: bool = false;

    #[inline]
    fn take<V: Value>(cell: &mut Vec<V>, _: Moment, value: &V::Ref, heap: &mut usize) {
        let before = cell.capacity();
        let value = V::own(value);
        *heap += value.heap();
        cell.push(value);
        *heap += (cell.capacity() - before) * size_of::<V>();
    }

    fn clear<V: Value>(cell: &mut Vec<V>) {
        cell.clear();
        if cell.capacity() > KEPT {
            *cell = Vec::new();
        }
    }

    fn merge<V: Value>(into: &mut Vec<V>, from: &Vec<V>, heap: &mut usize) {
        let before = into.capacity();
        into.extend_from_slice(from);
        *heap += (into.capacity() - before) * size_of::<V>() + from.iter().map(V::heap).sum::<usize>();
    }

    fn map<V: Value, W: Value>(cell: &Vec<V>, to: impl Fn(&V) -> W, heap: &mut usize) -> Vec<W> {
        let new = cell.iter().map(to).collect();
        *heap += Self::heap(&new);
        new
    }

    /// Of text there is no middle between two, so the kind of result would change.
    fn may_become_text(_: FieldType) -> bool {
        false
    }

    fn heap<V: Value>(cell: &Vec<V>) -> usize {
        cell.capacity() * size_of::<V>() + if V::ON_HEAP { cell.iter().map(V::heap).sum() } else { 0 }
    }

    fn is_empty<V: Value>(cell: &Vec<V>) -> bool {
        cell.is_empty()
    }

    fn write<V: Value>(cell: &Vec<V>, out: &mut Vec<u8>) {
        write_u64(cell.len() as u64, out);
        cell.iter().for_each(|value| value.write(out));
    }

    fn read<V: Value>(reader: &mut Reader<'_>) -> Option<Vec<V>> {
        (0..reader.len()?).map(|_| V::read(reader)).collect()
    }

    fn output(rank: &Rank, ty: FieldType) -> FieldType {
        if rank.continuous { between_type(ty) } else { ty }
    }

    fn values<'a, V: Value>(
        rank: &Rank,
        ty: FieldType,
        cells: impl Iterator<Item = &'a Vec<V>>,
    ) -> Result<ArrayRef, OutOfRange> {
        let mut keys: Vec<V::Key<'a>> = Vec::new();
        let found: Vec<Option<V>> = cells
            .map(|cell| {
                keys.clear();
                keys.extend(cell.iter().map(V::key));
                (!keys.is_empty()).then(|| rank.of(&mut keys, ty))
            })
            .collect();
        Ok(V::array(Self::output(rank, ty), found.iter().map(|value| value.as_ref().map(V::borrow))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_that_were_typed_with_a_point_are_exact() {
        let decimal = |value, scale| Share::of(&[Literal::Decimal { value, scale }]);
        assert_eq!(decimal(29, 2).index(100), 28);
        assert_eq!(decimal(1, 1).index(100), 9);
        assert_eq!(decimal(10_001, 5).index(100), 10);
        for (share, index) in [(0, 0), (1, 9)] {
            assert_eq!(Share::of(&[Literal::Int(share)]).index(10), index);
        }
        assert_eq!(Share::of(&[]).index(2), 0);
    }
}
