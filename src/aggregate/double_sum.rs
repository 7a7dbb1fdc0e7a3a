//! Sums of doubles per slot, exact whatever the order: two doubles while they hold the sum exactly, else an
//! [`ExactSum`].
//!
//! The pair (hi, lo) takes a value with two error-free additions. When the second has an error the slot spills, for
//! good until it is opened again. Amounts of money or sensor readings stay in the pair, 106 bits wide; only
//! values some 30 orders of magnitude apart leave it. Must not know columns.

use super::Slot;
use super::exact_sum::ExactSum;
use super::saved::Reader;
use std::collections::HashMap;

/// What an opened slot holds: no rows. No addition ever leaves a negative zero in `lo`, so it marks the empty slot.
const EMPTY: Pair = Pair { hi: -0.0, lo: -0.0 };

#[derive(Clone, Copy)]
struct Pair {
    hi: f64,
    /// NaN in a slot that has spilled.
    lo: f64,
}

/// The sums.
#[derive(Default)]
pub(super) struct DoubleSums {
    pairs: Vec<Pair>,
    spilled: HashMap<u32, Box<ExactSum>, foldhash::fast::FixedState>,
}

impl DoubleSums {
    /// Makes a slot the sum of nothing.
    pub(super) fn open(&mut self, slot: Slot) {
        super::reset(&mut self.pairs, slot, || EMPTY);
        if !self.spilled.is_empty() {
            self.spilled.remove(&slot.0);
        }
    }

    /// Adds one value.
    #[inline]
    pub(super) fn add(&mut self, slot: usize, x: f64) {
        let pair = &mut self.pairs[slot];
        let (hi, error) = two_sum(pair.hi, x);
        let (lo, lost) = two_sum(pair.lo, error);
        // False for NaN too: overflow, infinities and spilled slots all end there.
        if lost == 0.0 {
            *pair = Pair { hi, lo };
        } else {
            self.add_exactly(slot, x);
        }
    }

    /// Adds the rows of one slot to another.
    pub(super) fn merge(&mut self, into: Slot, from: Slot) {
        let pair = self.pairs[from.index()];
        if pair.is_empty() {
            return;
        }
        match self.spilled.remove(&from.0) {
            None => {
                self.add(into.index(), pair.hi);
                self.add(into.index(), pair.lo);
            }
            Some(sum) => {
                self.spill(into.index()).merge(&sum);
                self.spilled.insert(from.0, sum);
            }
        }
    }

    /// The nearest double to the sum; none over nothing.
    pub(super) fn sum(&self, slot: Slot) -> Option<f64> {
        let pair = self.pairs[slot.index()];
        if pair.is_empty() {
            return None;
        }
        Some(match self.spilled.get(&slot.0) {
            Some(sum) => sum.rounded(),
            None => pair.hi + pair.lo,
        })
    }

    /// The nearest double to the sum divided by the number of rows; none over nothing.
    pub(super) fn mean(&self, slot: Slot, rows: u64) -> Option<f64> {
        let pair = self.pairs[slot.index()];
        if pair.is_empty() || rows == 0 {
            return None;
        }
        Some(match self.spilled.get(&slot.0) {
            Some(sum) => sum.divided(&[rows]),
            None => quotient(&[pair.hi, pair.lo], &[rows]),
        })
    }

    /// Writes a slot's sum.
    pub(super) fn write(&self, slot: Slot, out: &mut Vec<u8>) {
        let pair = self.pairs[slot.index()];
        let spilled = self.spilled.get(&slot.0);
        out.push(u8::from(spilled.is_some()));
        match spilled {
            Some(sum) => sum.write(out),
            None => [pair.hi, pair.lo].iter().for_each(|part| out.extend_from_slice(&part.to_le_bytes())),
        }
    }

    /// Reads what was written.
    pub(super) fn read(&mut self, slot: Slot, reader: &mut Reader<'_>) -> Option<()> {
        self.open(slot);
        if reader.flag()? {
            let sum = ExactSum::read(reader)?;
            self.spilled.insert(slot.0, Box::new(sum));
            self.pairs[slot.index()] = Pair { hi: 0.0, lo: f64::NAN };
            return Some(());
        }
        let pair = Pair { hi: reader.f64()?, lo: reader.f64()? };
        let holds = pair.hi.is_finite() && pair.lo.is_finite();
        self.pairs[slot.index()] = if holds { pair } else { EMPTY };
        holds.then_some(())
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.pairs.capacity() * size_of::<Pair>() + self.spilled.len() * (size_of::<ExactSum>() + 24)
    }

    #[cold]
    fn add_exactly(&mut self, slot: usize, x: f64) {
        self.spill(slot).add(x);
    }

    /// The slot's exact sum, which it has from now on.
    fn spill(&mut self, slot: usize) -> &mut ExactSum {
        let pair = &mut self.pairs[slot];
        let (hi, lo) = (pair.hi, std::mem::replace(&mut pair.lo, f64::NAN));
        self.spilled.entry(slot as u32).or_insert_with(|| Box::new(ExactSum::of(&[hi, lo])))
    }
}

impl Pair {
    fn is_empty(self) -> bool {
        self.lo.to_bits() == EMPTY.lo.to_bits()
    }
}

/// The rounded sum and what the rounding lost, which together are the exact sum (Knuth). NaN when it overflows.
#[inline]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    (sum, (a - (sum - b_part)) + (b - b_part))
}

/// The nearest double to the exact sum of `parts` divided by all of `divisors` (none of them 0).
pub(super) fn quotient(parts: &[f64], divisors: &[u64]) -> f64 {
    let product = divisors.iter().try_fold(1u64, |product, &divisor| product.checked_mul(divisor));
    let quick = match (parts, product) {
        (&[hi, lo] | &[hi, lo, 0.0], Some(divisor)) if divisor < 1 << 53 => quick_quotient(hi, lo, divisor as f64),
        _ => None,
    };
    quick.unwrap_or_else(|| ExactSum::of(parts).divided(divisors))
}

/// The same by a division and its remainder; none where that cannot tell which double is nearest.
fn quick_quotient(hi: f64, lo: f64, divisor: f64) -> Option<f64> {
    let (sum, error) = two_sum(hi, lo);
    if sum == 0.0 {
        return Some(0.0);
    }
    // Outside of this range the remainder may underflow.
    if !(1e-200..1e300).contains(&sum.abs()) {
        return None;
    }
    let first = sum / divisor;
    let remainder = f64::mul_add(-first, divisor, sum) + error;
    let correction = remainder / divisor;
    // The correction has two roundings; if twice their error makes no difference, neither did they.
    let (below, above) =
        (first + correction * (1.0 - 4.0 * f64::EPSILON), first + correction * (1.0 + 4.0 * f64::EPSILON));
    (below == above).then_some(above)
}

#[cfg(test)]
mod tests {
    use super::super::exact_sum::tests::{any_double, reference};
    use super::*;
    use proptest::prelude::*;

    fn filled(parts: &[&[f64]]) -> DoubleSums {
        let mut sums = DoubleSums::default();
        for (i, values) in parts.iter().enumerate() {
            sums.open(Slot(i as u32));
            values.iter().for_each(|&x| sums.add(i, x));
        }
        sums
    }

    fn sum(values: &[f64]) -> Option<f64> {
        filled(&[values]).sum(Slot(0))
    }

    #[test]
    fn empty_zero_and_negative_zero_are_told_apart() {
        assert_eq!(sum(&[]), None);
        for zeros in [&[0.0][..], &[-0.0], &[-0.0, -0.0], &[1.0, -1.0], &[-0.0, 5.0, -5.0, -0.0]] {
            assert_eq!(sum(zeros).map(f64::to_bits), Some(0), "{zeros:?}");
        }
    }

    #[test]
    fn amounts_stay_in_the_pair_and_wide_values_spill() {
        let amounts: Vec<f64> = (0..10_000).map(|i| f64::from(i * 7919 % 100_000) / 100.0).collect();
        assert!(filled(&[&amounts]).spilled.is_empty());
        let sums = filled(&[&[1e100, 1.0, 1e-100, -1e100]]);
        assert_eq!((sums.spilled.len(), sums.sum(Slot(0))), (1, Some(1.0)));
    }

    #[test]
    fn overflow_on_the_way_is_none_in_the_end() {
        assert_eq!(sum(&[f64::MAX, f64::MAX, -f64::MAX]), Some(f64::MAX));
        assert_eq!(sum(&[-f64::MAX, 1e300, -1e300]), Some(-f64::MAX));
        assert_eq!(sum(&[f64::MAX, f64::MAX]), Some(f64::INFINITY));
        assert_eq!(sum(&[f64::INFINITY, 1.0]), Some(f64::INFINITY));
        assert!(sum(&[f64::INFINITY, 1.0, f64::NEG_INFINITY]).is_some_and(f64::is_nan));
        assert_eq!(filled(&[&[f64::MAX, f64::MAX]]).mean(Slot(0), 2), Some(f64::MAX));
    }

    #[test]
    fn opening_again_forgets_a_spill() {
        let mut sums = filled(&[&[1e300, 1e-300]]);
        sums.open(Slot(0));
        assert_eq!((sums.sum(Slot(0)), sums.spilled.len()), (None, 0));
        sums.add(0, 2.0);
        assert_eq!(sums.sum(Slot(0)), Some(2.0));
    }

    #[test]
    fn the_mean_of_equal_values_is_the_value() {
        for x in [0.7, 1.4, 0.1, 1e-310, 1.7e308] {
            for n in 1..60 {
                assert_eq!(filled(&[&vec![x; n]]).mean(Slot(0), n as u64), Some(x), "{x} {n}");
            }
        }
    }

    proptest! {
        #[test]
        fn sum_and_mean_are_the_nearest_doubles(values in prop::collection::vec(any_double(), 1..40)) {
            let sums = filled(&[&values]);
            prop_assert_eq!(sums.sum(Slot(0)).map(f64::to_bits), Some(reference(&values).to_bits()));
            let n = values.len() as u64;
            prop_assert_eq!(sums.mean(Slot(0), n), Some(ExactSum::of(&values).divided(&[n])));
        }

        #[test]
        fn order_and_split_do_not_matter(
            values in prop::collection::vec(any_double(), 2..40).prop_shuffle(), at in 0usize..40,
        ) {
            let (left, right) = values.split_at(at.min(values.len()));
            let mut sums = filled(&[left, right]);
            sums.merge(Slot(0), Slot(1));
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            prop_assert_eq!(sums.sum(Slot(0)), sum(&sorted));
            prop_assert_eq!(sums.sum(Slot(1)), sum(right));
        }

        #[test]
        fn the_quick_quotient_is_the_exact_one(hi in any_double(), lo in any_double(), n in 1u64..100_000) {
            if let Some(quick) = quick_quotient(hi, lo, n as f64) {
                prop_assert_eq!(quick, ExactSum::of(&[hi, lo]).divided(&[n]));
            }
        }
    }
}
