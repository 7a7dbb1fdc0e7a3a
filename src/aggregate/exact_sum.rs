//! An exact sum of doubles: a fixed-point number wide enough for every double and for 2^63 of them.
//!
//! It is what a sum falls back to when two doubles no longer hold it exactly, and what divides it for a mean that is
//! rounded once. Must not know slots or columns. The result is the double nearest to the true value (ties to even),
//! so it cannot depend on the order of the additions; infinities and NaN are kept apart and decide as in IEEE 754.

use super::saved::Reader;

/// The exponent of the lowest bit of any double.
const LOWEST: i32 = -1074;
/// Bits per limb that hold the number; the other half of a limb takes carries until they are moved up.
const DIGIT_BITS: usize = 32;
/// The digit part of a limb.
const DIGIT: i64 = 0xffff_ffff;
/// 2098 bits from the lowest to the highest double, and 64 more for carries.
const LIMBS: usize = 68;
/// Each addition changes a limb by less than 2^32, so after this many all are below 2^63.
const CARRY_EVERY: u32 = 1 << 30;
/// Digits below the lowest double, for the quotient of a division.
const FRACTION_DIGITS: usize = 4;
/// The digits of a magnitude: fraction, limbs, and the upper half of the top limb.
const DIGITS: usize = FRACTION_DIGITS + LIMBS + 1;

/// The exact sum of the doubles added so far.
#[derive(Clone)]
pub(super) struct ExactSum {
    limbs: [i64; LIMBS],
    pending: u32,
    not_a_number: bool,
    plus_infinity: bool,
    minus_infinity: bool,
}

impl ExactSum {
    /// The sum of nothing.
    pub(super) fn new() -> Self {
        Self { limbs: [0; LIMBS], pending: 0, not_a_number: false, plus_infinity: false, minus_infinity: false }
    }

    /// The sum of these.
    pub(super) fn of(parts: &[f64]) -> Self {
        let mut sum = Self::new();
        parts.iter().for_each(|&part| sum.add(part));
        sum
    }

    /// Adds one double.
    pub(super) fn add(&mut self, x: f64) {
        if !x.is_finite() {
            return self.note(x);
        }
        let bits = x.to_bits();
        let exponent = ((bits >> 52) & 0x7ff) as usize;
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, at) = if exponent == 0 { (fraction, 0) } else { (fraction | 1 << 52, exponent - 1) };
        let sign = if x.is_sign_negative() { -1 } else { 1 };
        let mut digits = u128::from(mantissa) << (at % DIGIT_BITS);
        for limb in &mut self.limbs[at / DIGIT_BITS..][..3] {
            *limb += sign * (digits as i64 & DIGIT);
            digits >>= DIGIT_BITS;
        }
        self.pending += 1;
        if self.pending >= CARRY_EVERY {
            self.carry();
        }
    }

    /// Adds all that was added to another sum.
    pub(super) fn merge(&mut self, other: &Self) {
        let mut other = other.clone();
        other.carry();
        self.carry();
        for (limb, more) in self.limbs.iter_mut().zip(other.limbs) {
            *limb += more;
        }
        self.pending = 1;
        self.not_a_number |= other.not_a_number;
        self.plus_infinity |= other.plus_infinity;
        self.minus_infinity |= other.minus_infinity;
    }

    /// Writes the sum, to be read again.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let mut carried = self.clone();
        carried.carry();
        carried.limbs.iter().for_each(|limb| out.extend_from_slice(&limb.to_le_bytes()));
        let special = [self.not_a_number, self.plus_infinity, self.minus_infinity];
        out.extend(special.map(u8::from));
    }

    /// Reads what was written.
    pub(super) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let mut sum = Self::new();
        for limb in &mut sum.limbs {
            *limb = reader.i64()?;
        }
        let (top, digits) = sum.limbs.split_last()?;
        let holds = digits.iter().all(|digit| (0..=DIGIT).contains(digit)) && top.unsigned_abs() < 1 << 62;
        sum.not_a_number = reader.flag()?;
        sum.plus_infinity = reader.flag()?;
        sum.minus_infinity = reader.flag()?;
        sum.pending = 1;
        holds.then_some(sum)
    }

    /// The nearest double to the sum; a sum of zeros of either sign is 0.
    pub(super) fn rounded(&self) -> f64 {
        self.divided(&[])
    }

    /// The nearest double to the sum divided by all of `divisors` (none of them 0).
    pub(super) fn divided(&self, divisors: &[u64]) -> f64 {
        match (self.not_a_number, self.plus_infinity, self.minus_infinity) {
            (false, false, false) => {}
            (false, true, false) => return f64::INFINITY,
            (false, false, true) => return f64::NEG_INFINITY,
            _ => return f64::NAN,
        }
        let (negative, mut digits) = self.magnitude();
        let mut inexact = false;
        for &divisor in divisors {
            inexact |= divide(&mut digits, divisor) != 0;
        }
        let magnitude = round(&digits, LOWEST - (FRACTION_DIGITS * DIGIT_BITS) as i32, inexact);
        if negative { 0.0 - magnitude } else { magnitude }
    }

    fn note(&mut self, x: f64) {
        self.not_a_number |= x.is_nan();
        self.plus_infinity |= x == f64::INFINITY;
        self.minus_infinity |= x == f64::NEG_INFINITY;
    }

    /// Moves carries up: all limbs but the top one are digits then, and the top one has the sign.
    fn carry(&mut self) {
        let mut carry = 0;
        for limb in &mut self.limbs[..LIMBS - 1] {
            let total = *limb + carry;
            *limb = total & DIGIT;
            carry = total >> DIGIT_BITS;
        }
        self.limbs[LIMBS - 1] += carry;
        self.pending = 0;
    }

    /// Whether the sum is negative, and the digits of its magnitude, lowest first.
    fn magnitude(&self) -> (bool, [u32; DIGITS]) {
        let mut sum = self.clone();
        sum.carry();
        let negative = sum.limbs[LIMBS - 1] < 0;
        if negative {
            sum.limbs.iter_mut().for_each(|limb| *limb = -*limb);
            sum.carry();
        }
        let mut digits = [0; DIGITS];
        for (digit, limb) in digits[FRACTION_DIGITS..].iter_mut().zip(sum.limbs) {
            *digit = limb as u32;
        }
        digits[DIGITS - 1] = (sum.limbs[LIMBS - 1] >> DIGIT_BITS) as u32;
        (negative, digits)
    }
}

/// Divides in place and tells the remainder.
fn divide(digits: &mut [u32; DIGITS], divisor: u64) -> u64 {
    let divisor = u128::from(divisor);
    let mut rest: u128 = 0;
    for digit in digits.iter_mut().rev() {
        let part = rest << DIGIT_BITS | u128::from(*digit);
        *digit = (part / divisor) as u32;
        rest = part % divisor;
    }
    rest as u64
}

/// The nearest double to `digits * 2^lowest`, where `inexact` says that something smaller was cut off.
fn round(digits: &[u32; DIGITS], lowest: i32, inexact: bool) -> f64 {
    let Some(top) = digits.iter().rposition(|&digit| digit != 0) else {
        return 0.0;
    };
    let high = (top * DIGIT_BITS) as i32 + 31 - digits[top].leading_zeros() as i32;
    let exponent = high + lowest;
    if exponent > 1023 {
        return f64::INFINITY;
    }
    let unit = (exponent - 52).max(LOWEST);
    let low = (unit - lowest) as usize;
    let mantissa = bits_from(digits, low);
    let half = bits_from(digits, low - 1) & 1 == 1;
    let up = half && (mantissa & 1 == 1 || inexact || any_below(digits, low - 1));
    // The encoding of doubles counts on through subnormals, powers of two and up to infinity.
    f64::from_bits((((unit - LOWEST) as u64) << 52) + mantissa + u64::from(up))
}

/// 64 bits from bit `low` on.
fn bits_from(digits: &[u32; DIGITS], low: usize) -> u64 {
    let three = digits[low / DIGIT_BITS..].iter().take(3).rev();
    let bits = three.fold(0u128, |bits, &digit| bits << DIGIT_BITS | u128::from(digit));
    (bits >> (low % DIGIT_BITS)) as u64
}

/// Whether any bit below bit `end` is set.
fn any_below(digits: &[u32; DIGITS], end: usize) -> bool {
    let (whole, part) = (end / DIGIT_BITS, end % DIGIT_BITS);
    digits[..whole].iter().any(|&digit| digit != 0) || digits[whole] & ((1 << part) - 1) != 0
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Another exact algorithm: a list of doubles that do not overlap (Shewchuk), rounded from the top.
    /// Its intermediate sums must not overflow.
    pub(crate) fn reference(values: &[f64]) -> f64 {
        let mut parts: Vec<f64> = Vec::new();
        for &value in values {
            let mut x = value;
            let mut kept = Vec::new();
            for &y in &parts {
                let (big, small) = if x.abs() < y.abs() { (y, x) } else { (x, y) };
                let high = big + small;
                let low = small - (high - big);
                if low != 0.0 {
                    kept.push(low);
                }
                x = high;
            }
            kept.push(x);
            parts = kept;
        }
        round_parts(&parts)
    }

    fn round_parts(parts: &[f64]) -> f64 {
        let mut rest = parts.iter().rev().copied();
        let mut high = rest.next().unwrap_or(0.0);
        let mut low = 0.0;
        for y in rest.by_ref() {
            let x = high;
            high = x + y;
            low = y - (high - x);
            if low != 0.0 {
                break;
            }
        }
        if let Some(next) = rest.next()
            && (low < 0.0) == (next < 0.0)
            && low != 0.0
        {
            let twice = low * 2.0;
            if high + twice - high == twice {
                high += twice;
            }
        }
        high + 0.0
    }

    /// Doubles of every size, so small or so few that no intermediate sum overflows.
    pub(crate) fn any_double() -> impl Strategy<Value = f64> {
        let wide = any::<u64>().prop_map(f64::from_bits).prop_filter("small", |x| x.abs() < 1e300);
        let near = (-1_000_000_000_000i64..1_000_000_000_000, -60i32..10).prop_map(|(m, e)| m as f64 * 2f64.powi(e));
        let tiny = (0u64..1 << 54, any::<bool>())
            .prop_map(|(bits, minus)| f64::from_bits(bits) * if minus { -1.0 } else { 1.0 });
        prop_oneof![wide, near, tiny, Just(0.0), Just(-0.0), Just(1e16), Just(-1e16), Just(1.0)]
    }

    fn sum(values: &[f64]) -> f64 {
        ExactSum::of(values).rounded()
    }

    #[test]
    fn known_sums() {
        assert_eq!(sum(&[]), 0.0);
        assert_eq!(sum(&[0.1; 10]), 1.0);
        assert_eq!(sum(&[1e16, 1.0, -1e16]), 1.0);
        assert_eq!(sum(&[f64::MAX, f64::MAX, -f64::MAX]), f64::MAX);
        assert_eq!(sum(&[f64::MAX, f64::MAX]), f64::INFINITY);
        assert_eq!(sum(&[-f64::MAX, -f64::MAX]), f64::NEG_INFINITY);
        assert_eq!(sum(&[5e-324, 5e-324]), 1e-323);
        assert_eq!(sum(&[1e308, 5e-324, -1e308]), 5e-324);
        assert_eq!(sum(&[1e308, -5e-324, -1e308]), -5e-324);
        assert!(sum(&[-0.0, -0.0]).is_sign_positive());
    }

    #[test]
    fn ties_go_to_even_and_one_bit_far_below_breaks_them() {
        let half = 2f64.powi(-53);
        assert_eq!(sum(&[1.0, half]), 1.0);
        assert_eq!(sum(&[1.0, half, 5e-324]), 1.0 + 2.0 * half);
        assert_eq!(sum(&[1.0, 3.0 * half]), 1.0 + 4.0 * half);
        assert_eq!(sum(&[1.0, 3.0 * half, -5e-324]), 1.0 + 2.0 * half);
        let unit = f64::MAX - f64::from_bits(f64::MAX.to_bits() - 1);
        assert_eq!(sum(&[f64::MAX, unit / 2.0]), f64::INFINITY);
        assert_eq!(sum(&[f64::MAX, unit / 2.0, -5e-324]), f64::MAX);
    }

    #[test]
    fn infinities_and_nan_decide() {
        let inf = f64::INFINITY;
        assert_eq!(sum(&[inf, f64::MAX, -f64::MAX]), inf);
        assert_eq!(sum(&[1.0, -inf]), -inf);
        assert!(sum(&[inf, -inf]).is_nan() && sum(&[f64::NAN, inf]).is_nan());
    }

    #[test]
    fn carries_move_up_in_time() {
        let mut sum = ExactSum::of(&[f64::MAX; 40]);
        sum.pending = CARRY_EVERY - 1;
        sum.add(-f64::MAX);
        assert_eq!(sum.pending, 0);
        assert_eq!(sum.divided(&[39]), f64::MAX);
    }

    #[test]
    fn quotients_are_rounded_once() {
        assert_eq!(ExactSum::of(&[1.0]).divided(&[3]), 1.0 / 3.0);
        assert_eq!(ExactSum::of(&[1.0]).divided(&[10, 10]), 0.01);
        assert_eq!(ExactSum::of(&[0.7, 0.7, 0.7]).divided(&[3]), 0.7);
        assert_eq!(ExactSum::of(&[5e-324]).divided(&[2]), 0.0);
        assert_eq!(ExactSum::of(&[5e-324, 1e-323]).divided(&[2]), 1e-323);
        assert_eq!(ExactSum::of(&[-1e-323, -5e-324]).divided(&[4]), -5e-324);
    }

    proptest! {
        #[test]
        fn the_sum_is_the_nearest_double(values in prop::collection::vec(any_double(), 0..40)) {
            prop_assert_eq!(sum(&values).to_bits(), reference(&values).to_bits());
        }

        #[test]
        fn integers_are_the_model(values in prop::collection::vec(any::<i64>(), 1..40), e in -1070i32..900) {
            let halves = values.iter().flat_map(|&v| [v >> 32 << 32, v & 0xffff_ffff]);
            let doubles: Vec<f64> = halves.map(|v| v as f64 * 2f64.powi(e)).collect();
            let total: i128 = values.iter().map(|&v| i128::from(v)).sum();
            prop_assert_eq!(sum(&doubles), total as f64 * 2f64.powi(e));
        }

        #[test]
        fn small_quotients_are_as_hardware_divides(x in any_double(), n in 1u64..1 << 53) {
            prop_assert_eq!(ExactSum::of(&[x]).divided(&[n]), x / n as f64);
        }

        #[test]
        fn merging_parts_is_adding_all(values in prop::collection::vec(any_double(), 0..40), at in 0usize..40) {
            let (left, right) = values.split_at(at.min(values.len()));
            let mut merged = ExactSum::of(right);
            merged.merge(&ExactSum::of(left));
            prop_assert_eq!(merged.rounded(), sum(&values));
        }
    }
}
