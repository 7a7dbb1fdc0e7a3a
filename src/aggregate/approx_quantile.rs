//! `approx_quantile`: a value near the quantile, in bounded memory.
//!
//! How many values lie in each bucket, 128 to a power of two. No crate was found that does the same: t-digest, KLL and
//! REQ depend on the order of the rows or on chance, and sketches-ddsketch takes logarithms, which differ between
//! machines, merges buckets when there are many, which voids its bound, and holds a kilobyte for the first value.
//! A bucket here is the leading bits of a double: no rounding, no merging, and a group of a few values is small.

use super::cells::cannot_widen;
use super::column::{argument, each, typed};
use super::quantile::Share;
use super::saved::{Reader, load_each, save_each, write_u64};
use super::value::{Value, double_of_word, word_of_double};
use super::value_map::ValueMap;
use super::{Accumulator, AggregateKind, Arguments, OutOfRange, Slot, Takes, distinct_of};
use crate::error::Result;
use crate::schema::FieldType;
use arrow::array::{Array, ArrayRef, Decimal128Array, Float64Array, Int64Array};

/// `approx_quantile(x, q)`.
pub(super) static APPROX_QUANTILE: AggregateKind = AggregateKind {
    name: "approx_quantile",
    usage: "approx_quantile(x, q)",
    doc: "a value within 0.4 % of quantile_disc(x, q), of whole numbers up to 256 that value itself; its memory grows \
          with the range of the values, not with their number; null over nothing",
    aliases: &[],
    takes: &[Takes::Number, Takes::Share],
    optional: 0,
    rows: false,
    distinct: true,
    ordered: false,
    build: |arguments| distinct_of::wrap::<false>(arguments, build),
};

/// Bits of a double below those that name its bucket: sign, exponent and 7 bits of the fraction.
const BELOW: u32 = 45;

fn build(arguments: Arguments<'_>) -> Box<dyn Accumulator> {
    let ty = arguments.first().unwrap_or(FieldType::Double);
    Box::new(ApproxQuantile { ty, share: Share::of(arguments.constants), cells: Vec::new(), heap: 0 })
}

/// The values of a slot. Doubles are words here.
#[derive(Default)]
struct Buckets {
    rows: u64,
    least: i64,
    greatest: i64,
    counts: ValueMap<i64, u64>,
}

impl Buckets {
    #[inline]
    fn add(&mut self, x: f64, heap: &mut usize) {
        let word = word_of_double(x);
        self.note(1, word, word);
        self.counts.fold(&(word >> BELOW), 1, |rows, more| *rows += more, heap);
    }

    fn note(&mut self, rows: u64, least: i64, greatest: i64) {
        let first = self.rows == 0;
        self.least = if first { least } else { self.least.min(least) };
        self.greatest = if first { greatest } else { self.greatest.max(greatest) };
        self.rows = self.rows.saturating_add(rows);
    }

    fn merge(&mut self, other: &Self, heap: &mut usize) {
        if other.rows > 0 {
            self.note(other.rows, other.least, other.greatest);
            let counts = &mut self.counts;
            other.counts.for_each(|bucket, &rows| {
                counts.fold(bucket, rows, |all, more| *all = all.saturating_add(more), heap);
            });
        }
    }

    /// The value that stands for the one asked for; none over nothing.
    fn quantile(&self, share: Share, whole: bool) -> Option<f64> {
        let index = share.index(self.rows.checked_sub(1)? + 1);
        let mut buckets = Vec::new();
        self.counts.for_each(|&bucket, &rows| buckets.push((bucket, rows)));
        buckets.sort_unstable();
        let mut seen = 0u64;
        let found = buckets.iter().find(|(_, rows)| {
            seen = seen.saturating_add(*rows);
            seen > index
        });
        let word = found.map_or(self.greatest, |(bucket, _)| middle(*bucket, whole));
        Some(double_of_word(word.max(self.least).min(self.greatest)))
    }

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let (rows, least, greatest) = (reader.rows()?, reader.i64()?, reader.i64()?);
        let counts = ValueMap::read(reader, |reader| reader.rows())?;
        let mut sum = Some(0u64);
        counts.for_each(|_, &rows| sum = sum.and_then(|sum| sum.checked_add(rows)));
        let holds = sum == Some(rows) && least <= greatest && (rows > 0) != counts.is_empty();
        holds.then_some(Self { rows, least, greatest, counts })
    }
}

/// The word that stands for a bucket: its middle, or the whole number in it where there is one alone.
fn middle(bucket: i64, whole: bool) -> i64 {
    let Some(low) = bucket.checked_shl(BELOW).filter(|low| low >> BELOW == bucket) else { return bucket };
    let (first, last) = (double_of_word(low), double_of_word(low | ((1 << BELOW) - 1)));
    let inner = first.max(last).floor();
    if bucket == 0 || bucket == -1 {
        0
    } else if !first.is_finite() || !last.is_finite() {
        // The bucket of an infinity, or of NaN, holds nothing else; below minus infinity lie words of no double.
        word_of_double(if last.is_infinite() { last } else { first })
    } else if whole && inner == first.min(last).ceil() {
        word_of_double(inner)
    } else {
        low + (1 << (BELOW - 1))
    }
}

struct ApproxQuantile {
    ty: FieldType,
    share: Share,
    cells: Vec<Buckets>,
    heap: usize,
}

impl ApproxQuantile {
    fn array(&self, found: &[Option<f64>]) -> ArrayRef {
        match self.ty {
            FieldType::Double => {
                let words: Vec<_> = found.iter().map(|value| value.map(word_of_double)).collect();
                i64::array(self.ty, words.iter().map(Option::as_ref))
            }
            FieldType::Decimal { precision, .. } => {
                let most = 10i128.pow(u32::from(precision.min(38))) - 1;
                let values: Vec<_> =
                    found.iter().map(|value| value.map(|x| (x.round() as i128).clamp(-most, most))).collect();
                i128::array(self.ty, values.iter().map(Option::as_ref))
            }
            _ => {
                let values: Vec<_> = found.iter().map(|value| value.map(|x| x.round() as i64)).collect();
                i64::array(self.ty, values.iter().map(Option::as_ref))
            }
        }
    }
}

impl Accumulator for ApproxQuantile {
    fn open(&mut self, slot: Slot) {
        self.heap -= self.cells.get(slot.index()).map_or(0, |cell| cell.counts.heap());
        super::reset(&mut self.cells, slot, Buckets::default);
    }

    fn update(&mut self, slots: &[Slot], rows: &[u32], args: &[ArrayRef]) -> Result<()> {
        let array = argument(args, 0)?;
        let Self { cells, heap, .. } = self;
        match self.ty {
            FieldType::Int => {
                let values = typed::<Int64Array>(array)?.values();
                each(slots, rows, array.nulls(), |slot, row| cells[slot].add(values[row] as f64, heap));
            }
            FieldType::Decimal { .. } => {
                let values = typed::<Decimal128Array>(array)?.values();
                each(slots, rows, array.nulls(), |slot, row| cells[slot].add(values[row] as f64, heap));
            }
            _ => {
                let values = typed::<Float64Array>(array)?.values();
                each(slots, rows, array.nulls(), |slot, row| cells[slot].add(values[row], heap));
            }
        }
        Ok(())
    }

    fn merge(&mut self, into: Slot, from: Slot) {
        let other = std::mem::take(&mut self.cells[from.index()]);
        self.cells[into.index()].merge(&other, &mut self.heap);
        self.cells[from.index()] = other;
    }

    fn widen(&mut self, arguments: &[FieldType]) -> Result<()> {
        match (self.ty, arguments[0]) {
            (FieldType::Int, FieldType::Double) => {}
            (from, to) if from == to => {}
            (from, to) => return Err(cannot_widen(from, to)),
        }
        self.ty = arguments[0];
        Ok(())
    }

    fn values(&self, slots: &[Slot]) -> Result<ArrayRef, OutOfRange> {
        let whole = self.ty != FieldType::Double;
        let found = slots.iter().map(|slot| self.cells[slot.index()].quantile(self.share, whole));
        Ok(self.array(&found.collect::<Vec<_>>()))
    }

    fn output(&self) -> FieldType {
        self.ty
    }

    fn save(&self, slots: &[Slot]) -> Result<ArrayRef> {
        Ok(save_each(slots, |slot, out| {
            let cell = &self.cells[slot.index()];
            write_u64(cell.rows, out);
            cell.least.write(out);
            cell.greatest.write(out);
            cell.counts.write(out, |&rows, out| write_u64(rows, out));
        }))
    }

    fn load(&mut self, slots: &[Slot], saved: &ArrayRef) -> Result<()> {
        load_each(slots, saved, |slot, reader| {
            self.open(slot);
            let cell = Buckets::read(reader)?;
            self.heap += cell.counts.heap();
            self.cells[slot.index()] = cell;
            Some(())
        })
    }

    fn bytes(&self) -> usize {
        self.cells.capacity() * size_of::<Buckets>() + self.heap
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Literal;
    use proptest::prelude::*;

    fn quantile(values: &[f64], share: f64, whole: bool) -> Option<f64> {
        let mut buckets = Buckets::default();
        values.iter().for_each(|&x| buckets.add(x, &mut 0));
        buckets.quantile(Share::of(&[Literal::Double(share)]), whole)
    }

    #[test]
    fn extremes_and_what_is_no_number_stand_for_themselves() {
        let odd = [f64::NEG_INFINITY, -1e308, 0.0, 5e-324, f64::INFINITY, f64::NAN];
        let at = |index: usize| quantile(&odd, (index as f64 + 0.5) / 6.0, false).unwrap();
        assert_eq!([at(0), at(2), at(3), at(4)], [f64::NEG_INFINITY, 0.0, 0.0, f64::INFINITY]);
        assert!(at(5).is_nan() && (at(1) / -1e308 - 1.0).abs() < 0.004);
        assert_eq!(quantile(&[100.3; 3], 0.5, false), Some(100.3));
        assert_eq!(quantile(&[], 0.5, false), None);
    }

    #[test]
    fn small_whole_numbers_are_exact() {
        let values: Vec<f64> = (-256..=256).map(f64::from).collect();
        for index in 0..values.len() {
            let share = (index as f64 + 0.5) / values.len() as f64;
            assert_eq!(quantile(&values, share, true), Some(values[index]));
        }
    }

    proptest! {
        #[test]
        fn it_is_near(
            values in prop::collection::vec(prop_oneof![-1e9..1e9f64, -1.0..1.0f64, 1e-200..1e200f64], 1..200),
            share in 0.0..=1.0f64,
        ) {
            let found = quantile(&values, share, false).unwrap();
            let mut sorted = values;
            sorted.sort_by(f64::total_cmp);
            let exact = sorted[Share::of(&[Literal::Double(share)]).index(sorted.len() as u64) as usize];
            prop_assert!((found - exact).abs() <= exact.abs() * 0.004, "{} {}", found, exact);
        }
    }
}
