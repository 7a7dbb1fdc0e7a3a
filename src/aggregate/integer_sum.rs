//! Sums of integers and decimals per slot, in 128 bits and, for decimals, a count of how often they wrapped.
//!
//! Only a result must fit its type, never what stands on the way there, so the order of the rows cannot decide
//! whether a sum is an error. Must not know columns.

use super::Slot;
use super::double_sum::quotient;
use super::saved::Reader;

/// The sum over no rows; no sum of 64-bit integers comes near it.
const NO_INTEGERS: i128 = i128::MIN;

/// Sums of 64-bit integers.
#[derive(Default)]
pub(super) struct IntSums {
    sums: Vec<i128>,
}

impl IntSums {
    /// Makes a slot the sum of nothing.
    pub(super) fn open(&mut self, slot: Slot) {
        super::reset(&mut self.sums, slot, || NO_INTEGERS);
    }

    /// Adds one value.
    #[inline]
    pub(super) fn add(&mut self, slot: usize, x: i64) {
        let sum = &mut self.sums[slot];
        *sum = if *sum == NO_INTEGERS { i128::from(x) } else { *sum + i128::from(x) };
    }

    /// Adds the rows of one slot to another.
    pub(super) fn merge(&mut self, into: Slot, from: Slot) {
        let Some(more) = self.sum(from) else { return };
        self.sums[into.index()] = self.sum(into).map_or(more, |sum| sum + more);
    }

    /// The sum; none over nothing.
    pub(super) fn sum(&self, slot: Slot) -> Option<i128> {
        Some(self.sums[slot.index()]).filter(|&sum| sum != NO_INTEGERS)
    }

    /// The nearest double to the mean; none over nothing.
    pub(super) fn mean(&self, slot: Slot, rows: u64) -> Option<f64> {
        let sum = self.sum(slot).filter(|_| rows > 0)?;
        Some(quotient(&doubles(sum), &[rows]))
    }

    /// Writes a slot's sum.
    pub(super) fn write(&self, slot: Slot, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.sums[slot.index()].to_le_bytes());
    }

    /// Reads what was written. No sum of integers needs the two highest bits, so later additions cannot overflow.
    pub(super) fn read(&mut self, slot: Slot, reader: &mut Reader<'_>) -> Option<()> {
        let sum = reader.i128()?;
        let holds = sum == NO_INTEGERS || sum.unsigned_abs() < 1 << 126;
        self.sums[slot.index()] = if holds { sum } else { NO_INTEGERS };
        holds.then_some(())
    }

    /// How many slots there are.
    pub(super) fn len(&self) -> usize {
        self.sums.len()
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.sums.capacity() * size_of::<i128>()
    }
}

/// Doubles whose exact sum is this integer, greatest first.
pub(super) fn doubles(integer: i128) -> [f64; 3] {
    let mut rest = integer;
    [(); 3].map(|()| {
        let part = rest as f64;
        // Wraps only when 2^127 stands for i128::MAX, and then gives the right difference.
        rest = if part == 2f64.powi(127) { (rest - i128::MAX) - 1 } else { rest - part as i128 };
        part
    })
}

/// The sum of decimals of one scale: `low + wraps * 2^128`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WideSum {
    /// The lowest 128 bits, signed.
    pub(super) low: i128,
    /// How often they wrapped upwards.
    pub(super) wraps: i64,
}

/// The sum over no rows.
const NO_DECIMALS: WideSum = WideSum { low: 0, wraps: i64::MIN };

/// Sums of decimals.
#[derive(Default)]
pub(super) struct DecimalSums {
    sums: Vec<WideSum>,
}

impl DecimalSums {
    /// Makes a slot the sum of nothing.
    pub(super) fn open(&mut self, slot: Slot) {
        super::reset(&mut self.sums, slot, || NO_DECIMALS);
    }

    /// Adds one value.
    #[inline]
    pub(super) fn add(&mut self, slot: usize, x: i128) {
        let sum = &mut self.sums[slot];
        if *sum == NO_DECIMALS {
            sum.wraps = 0;
        }
        sum.add(x);
    }

    /// Adds the rows of one slot to another.
    pub(super) fn merge(&mut self, into: Slot, from: Slot) {
        if let Some(more) = self.sum(from) {
            self.add(into.index(), more.low);
            self.sums[into.index()].wraps += more.wraps;
        }
    }

    /// The sum; none over nothing.
    pub(super) fn sum(&self, slot: Slot) -> Option<WideSum> {
        Some(self.sums[slot.index()]).filter(|&sum| sum != NO_DECIMALS)
    }

    /// The nearest double to the mean of values of this scale; none over nothing.
    pub(super) fn mean(&self, slot: Slot, rows: u64, scale: i8) -> Option<f64> {
        let sum = self.sum(slot).filter(|_| rows > 0)?;
        Some(sum.divided(rows, scale))
    }

    /// Writes a slot's sum.
    pub(super) fn write(&self, slot: Slot, out: &mut Vec<u8>) {
        let WideSum { low, wraps } = self.sums[slot.index()];
        out.extend_from_slice(&low.to_le_bytes());
        out.extend_from_slice(&wraps.to_le_bytes());
    }

    /// Reads what was written. Sums wrap at most once a row, so later additions cannot overflow.
    pub(super) fn read(&mut self, slot: Slot, reader: &mut Reader<'_>) -> Option<()> {
        let sum = WideSum { low: reader.i128()?, wraps: reader.i64()? };
        let holds = sum == NO_DECIMALS || sum.wraps.unsigned_abs() < 1 << 62;
        self.sums[slot.index()] = if holds { sum } else { NO_DECIMALS };
        holds.then_some(())
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.sums.capacity() * size_of::<WideSum>()
    }
}

impl WideSum {
    #[inline]
    fn add(&mut self, x: i128) {
        let (low, wrapped) = self.low.overflowing_add(x);
        self.low = low;
        if wrapped {
            self.wraps += if x > 0 { 1 } else { -1 };
        }
    }

    /// The nearest double to `sum / rows * 10^-scale` (rounded twice for a scale below 0, which no input has).
    pub(super) fn divided(self, rows: u64, scale: i8) -> f64 {
        let [a, b, c] = doubles(self.low);
        let powers = powers_of_ten(scale);
        let divisors = [rows, powers[0], powers[1], powers[2]];
        let quotient = match self.wraps {
            0 => quotient(&[a, b, c], &divisors),
            wraps => quotient(&[a, b, c, wraps as f64 * 2f64.powi(128)], &divisors),
        };
        (scale..0).fold(quotient, |scaled, _| scaled * 10.0)
    }
}

/// Three factors of `10^scale`, all 1 for a scale below 1.
fn powers_of_ten(scale: i8) -> [u64; 3] {
    let scale = u32::from(scale.max(0).unsigned_abs());
    [0, 1, 2].map(|i: u32| 10u64.pow(scale.saturating_sub(i * 19).min(19)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const S: Slot = Slot(0);

    fn decimals(values: &[i128]) -> DecimalSums {
        let mut sums = DecimalSums::default();
        sums.open(S);
        values.iter().for_each(|&x| sums.add(0, x));
        sums
    }

    #[test]
    fn integers_pass_64_bits_on_the_way() {
        let mut sums = IntSums::default();
        sums.open(S);
        assert_eq!((sums.sum(S), sums.mean(S, 0)), (None, None));
        for x in [i64::MAX, i64::MAX, i64::MIN, i64::MIN, 5] {
            sums.add(0, x);
        }
        assert_eq!((sums.sum(S), sums.mean(S, 2)), (Some(3), Some(1.5)));
    }

    #[test]
    fn decimals_pass_128_bits_on_the_way() {
        let max = 10i128.pow(38) - 1;
        assert_eq!(decimals(&[]).sum(S), None);
        assert_eq!(decimals(&[max, max, -max, -max, 7]).sum(S), Some(WideSum { low: 7, wraps: 0 }));
        assert_eq!(decimals(&[-max, -max, max, max, -7]).sum(S), Some(WideSum { low: -7, wraps: 0 }));
        assert_ne!(decimals(&[max, max]).sum(S).map(|sum| sum.wraps), Some(0));
        assert_eq!(decimals(&[max; 9]).mean(S, 9, 0), Some(1e38));
        assert_eq!(decimals(&[-max; 9]).mean(S, 9, 38), Some(-1.0));
    }

    #[test]
    fn a_mean_of_decimals_is_the_nearest_double() {
        assert_eq!(decimals(&[10, 20]).mean(S, 2, 2), Some(0.15));
        assert_eq!(decimals(&[1]).mean(S, 3, 20), Some("3.3333333333333333333333e-21".parse().unwrap()));
        assert_eq!(decimals(&[3, 4]).mean(S, 2, -2), Some(350.0));
    }

    proptest! {
        #[test]
        fn parts_sum_to_the_integer(integer in any::<i128>()) {
            let parts = doubles(integer);
            prop_assert_eq!(super::super::exact_sum::ExactSum::of(&parts).rounded(), integer as f64);
            prop_assert_eq!(parts[0], integer as f64);
        }

        #[test]
        fn merged_decimals_are_the_decimals(values in prop::collection::vec(any::<i128>(), 1..20), at in 0usize..20) {
            let (left, right) = values.split_at(at.min(values.len()));
            let mut parts = decimals(left);
            parts.open(Slot(1));
            right.iter().for_each(|&x| parts.add(1, x));
            parts.merge(S, Slot(1));
            prop_assert_eq!(parts.sum(S), decimals(&values).sum(S));
        }
    }
}
