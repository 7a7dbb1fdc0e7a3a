//! The number of values, their sum and the sum of their squares per slot, all exact: what a variance is made of.
//!
//! A value is an integer times a power of two, and so are both sums: wide integers over a unit that the slot's first
//! double sets, with room for doubles some 2^40 times smaller or larger. A slot that meets others spills into integers
//! wide enough for every double. The result is made of exact sums, so no order of the rows can show. Must not know
//! columns.

use super::Slot;
use super::saved::{Reader, write_u64};
use std::collections::HashMap;

/// 64-bit words of a sum: 172 bits a value, 40 for the number of rows, a sign.
const SUM: usize = 4;
/// Words of a sum of squares: 344 bits a value, 40 for the number of rows.
const SQUARES: usize = 6;
/// The most bits that one row may set in a sum of squares.
const SQUARE_BITS: u32 = 344;
/// A value may lie so many bits above the slot's unit.
const MOST_SHIFT: i32 = 119;
/// The unit of a spilled slot: below that of every window.
const LOWEST: i32 = -1152;
const WIDE_SUM: usize = 36;
const WIDE_SQUARES: usize = 70;
/// Words of `rows * squares - sum * sum`.
const PRODUCT: usize = 2 * WIDE_SUM + 2;
/// The unit of integers once they have become doubles.
const WIDENED: i32 = -64;
/// In place of a unit: all values were 0, so none is needed yet.
const NO_UNIT: i32 = 1 << 20;
/// In place of a unit: the sums stand elsewhere.
const SPILLED: i32 = 1 << 21;

#[derive(Clone)]
struct Window {
    rows: u64,
    /// The exponent of the sums' lowest bit; that of the squares' is twice it.
    unit: i32,
    /// A value was infinite or not a number.
    broken: bool,
    sum: [u64; SUM],
    squares: [u64; SQUARES],
}

#[derive(Clone)]
struct Wide {
    sum: [u64; WIDE_SUM],
    squares: [u64; WIDE_SQUARES],
}

/// The sums.
pub(super) struct PowerSums {
    windows: Vec<Window>,
    spilled: HashMap<u32, Box<Wide>, foldhash::fast::FixedState>,
    /// The unit of a slot that has seen nothing.
    unit: i32,
}

/// A result: `mantissa * 2^exponent`, which may lie beyond any double.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scaled {
    pub(super) mantissa: f64,
    pub(super) exponent: i32,
}

impl PowerSums {
    /// Sums of integers.
    pub(super) fn of_integers() -> Self {
        Self { windows: Vec::new(), spilled: HashMap::default(), unit: 0 }
    }

    /// Sums of doubles.
    pub(super) fn of_doubles() -> Self {
        Self { windows: Vec::new(), spilled: HashMap::default(), unit: NO_UNIT }
    }

    /// Makes a slot that of no rows.
    pub(super) fn open(&mut self, slot: Slot) {
        let unit = self.unit;
        super::reset(&mut self.windows, slot, || Window::new(unit));
        if !self.spilled.is_empty() {
            self.spilled.remove(&slot.0);
        }
    }

    /// Adds an integer.
    #[inline]
    pub(super) fn add_integer(&mut self, slot: usize, x: i128) {
        let window = &mut self.windows[slot];
        let magnitude = x.unsigned_abs();
        let (high, low) = ((magnitude >> 64) as u64, magnitude as u64);
        window.rows += 1;
        add(&mut window.sum, magnitude, 0, x < 0);
        add(&mut window.squares, square(low), 0, false);
        if high != 0 {
            add(&mut window.squares, u128::from(high) * u128::from(low), 65, false);
            add(&mut window.squares, square(high), 128, false);
        }
    }

    /// Adds a double.
    #[inline]
    pub(super) fn add_double(&mut self, slot: usize, x: f64) {
        let window = &mut self.windows[slot];
        window.rows += 1;
        if !x.is_finite() {
            window.broken = true;
            return;
        }
        let (mantissa, exponent) = parts(x);
        let shift = exponent - window.unit;
        if (0..=MOST_SHIFT).contains(&shift) {
            add(&mut window.sum, u128::from(mantissa), shift as usize, x < 0.0);
            add(&mut window.squares, square(mantissa), 2 * shift as usize, false);
        } else if mantissa != 0 {
            self.add_elsewhere(slot, mantissa, exponent, x < 0.0);
        }
    }

    #[cold]
    fn add_elsewhere(&mut self, slot: usize, mantissa: u64, exponent: i32, negative: bool) {
        let window = &mut self.windows[slot];
        if window.unit == NO_UNIT {
            window.unit = unit_for(exponent);
            let shift = (exponent - window.unit) as usize;
            add(&mut window.sum, u128::from(mantissa), shift, negative);
            add(&mut window.squares, square(mantissa), 2 * shift, false);
        } else {
            let shift = (exponent - LOWEST) as usize;
            let wide = self.spill(slot);
            add(&mut wide.sum, u128::from(mantissa), shift, negative);
            add(&mut wide.squares, square(mantissa), 2 * shift, false);
        }
    }

    /// The wide sums of a slot, which it has from now on.
    fn spill(&mut self, slot: usize) -> &mut Wide {
        let window = &mut self.windows[slot];
        let unit = std::mem::replace(&mut window.unit, SPILLED);
        let window = &*window;
        self.spilled.entry(slot as u32).or_insert_with(|| {
            let mut wide = Box::new(Wide { sum: [0; WIDE_SUM], squares: [0; WIDE_SQUARES] });
            wide.add(unit, window);
            wide
        })
    }

    /// Adds the rows of one slot to another.
    pub(super) fn merge(&mut self, into: Slot, from: Slot) {
        let other = self.windows[from.index()].clone();
        let window = &mut self.windows[into.index()];
        window.rows += other.rows;
        window.broken |= other.broken;
        if other.unit == SPILLED {
            if let Some(more) = self.spilled.get(&from.0).cloned() {
                let wide = self.spill(into.index());
                add_words(&mut wide.sum, &more.sum);
                add_words(&mut wide.squares, &more.squares);
            }
        } else if !window.add(&other) {
            self.spill(into.index()).add(other.unit, &other);
        }
    }

    /// Integers become doubles.
    pub(super) fn to_doubles(&self) -> Self {
        let mut new = Self::of_doubles();
        new.windows = self.windows.iter().map(Window::widened).collect();
        new
    }

    /// The variance times `10^(2 * scale)`: of all there is, or of what a sample of it tells. None over too few rows.
    pub(super) fn variance(&self, slot: Slot, sample: bool, scale: u32) -> Option<Scaled> {
        let window = &self.windows[slot.index()];
        let rows = window.rows;
        if rows <= u64::from(sample) {
            return None;
        }
        if window.broken {
            return Some(Scaled { mantissa: f64::NAN, exponent: 0 });
        }
        let divisor = u128::from(rows) * u128::from(if sample { rows - 1 } else { rows });
        Some(match (window.unit, self.spilled.get(&slot.0)) {
            (SPILLED, Some(wide)) => spread(rows, &wide.sum, &wide.squares, divisor, scale, 2 * LOWEST),
            (NO_UNIT, _) => Scaled { mantissa: 0.0, exponent: 0 },
            (unit, _) => spread(rows, &window.sum, &window.squares, divisor, scale, 2 * unit),
        })
    }

    /// Writes a slot's sums.
    pub(super) fn write(&self, slot: Slot, out: &mut Vec<u8>) {
        let window = &self.windows[slot.index()];
        write_u64(window.rows, out);
        out.extend_from_slice(&window.unit.to_le_bytes());
        out.push(u8::from(window.broken));
        match self.spilled.get(&slot.0) {
            Some(wide) => wide.sum.iter().chain(&wide.squares).for_each(|&word| write_u64(word, out)),
            None => window.sum.iter().chain(&window.squares).for_each(|&word| write_u64(word, out)),
        }
    }

    /// Reads what was written.
    pub(super) fn read(&mut self, slot: Slot, reader: &mut Reader<'_>) -> Option<()> {
        self.open(slot);
        let mut window = Window::new(self.unit);
        window.rows = reader.rows()?;
        window.unit = i32::from_le_bytes(reader.take()?);
        window.broken = reader.flag()?;
        let of_integers = self.unit == 0;
        match window.unit {
            SPILLED if !of_integers => {
                let mut wide = Wide { sum: [0; WIDE_SUM], squares: [0; WIDE_SQUARES] };
                reader.words(&mut wide.sum)?;
                reader.words(&mut wide.squares)?;
                self.spilled.insert(slot.0, Box::new(wide));
            }
            0 | NO_UNIT | LOWEST..=1023 if window.unit == 0 || !of_integers => {
                reader.words(&mut window.sum)?;
                reader.words(&mut window.squares)?;
            }
            _ => return None,
        }
        self.windows[slot.index()] = window;
        Some(())
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.windows.capacity() * size_of::<Window>() + self.spilled.len() * (size_of::<Wide>() + 24)
    }
}

impl Window {
    fn new(unit: i32) -> Self {
        Self { rows: 0, unit, broken: false, sum: [0; SUM], squares: [0; SQUARES] }
    }

    /// Adds the sums of another that has not spilled, where both fit one unit.
    fn add(&mut self, other: &Window) -> bool {
        if other.unit == NO_UNIT {
            return true;
        }
        if self.unit == NO_UNIT {
            (self.unit, self.sum, self.squares) = (other.unit, other.sum, other.squares);
            return true;
        }
        let unit = self.unit.min(other.unit);
        let (Some(own), Some(others)) = (self.over(unit), other.over(unit)) else { return false };
        (self.unit, self.sum, self.squares) = (unit, own.0, own.1);
        add_words(&mut self.sum, &others.0);
        add_words(&mut self.squares, &others.1);
        true
    }

    /// The sums over a unit that is not above their own; none if they get too wide.
    fn over(&self, unit: i32) -> Option<([u64; SUM], [u64; SQUARES])> {
        let shift = self.unit.checked_sub(unit).filter(|&shift| self.unit < NO_UNIT && shift <= MOST_SHIFT)? as u32;
        if shift == 0 {
            return Some((self.sum, self.squares));
        }
        let fits = bits(&self.squares) + 2 * shift <= SQUARE_BITS;
        fits.then(|| (shifted(&self.sum, shift), shifted(&self.squares, 2 * shift)))
    }

    fn widened(&self) -> Self {
        let mut new = self.clone();
        if bits(&self.squares) == 0 {
            new.unit = NO_UNIT;
        } else {
            new.unit = WIDENED;
            new.sum = shifted(&self.sum, WIDENED.unsigned_abs());
            new.squares = shifted(&self.squares, 2 * WIDENED.unsigned_abs());
        }
        new
    }
}

impl Wide {
    /// Adds sums over a unit.
    fn add(&mut self, unit: i32, window: &Window) {
        if unit == NO_UNIT {
            return;
        }
        let shift = (unit - LOWEST) as usize;
        let (sum, negative) = magnitude(window.sum);
        for (i, &word) in sum.iter().enumerate() {
            add(&mut self.sum, u128::from(word), shift + 64 * i, negative);
        }
        for (i, &word) in window.squares.iter().enumerate() {
            add(&mut self.squares, u128::from(word), 2 * shift + 64 * i, false);
        }
    }
}

/// The integer and the exponent that a finite double is made of.
#[inline]
fn parts(x: f64) -> (u64, i32) {
    let bits = x.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    match exponent {
        0 => (fraction, -1074),
        _ => (fraction | 1 << 52, exponent - 1075),
    }
}

#[inline]
fn square(x: u64) -> u128 {
    u128::from(x) * u128::from(x)
}

/// The unit of a slot whose first double has this exponent. Coarse, so that slots mostly have the same.
fn unit_for(exponent: i32) -> i32 {
    ((exponent - 44) >> 5) << 5
}

/// Adds `value * 2^shift` to a number in words, lowest first, or subtracts it. Wraps.
#[inline(always)]
fn add(words: &mut [u64], value: u128, shift: usize, subtract: bool) {
    let (word, bit) = (shift / 64, shift % 64);
    let low = value << bit;
    let high = ((value >> 1) >> (127 - bit)) as u64;
    let Some((target, above)) = words.get_mut(word..).and_then(|rest| rest.split_first_chunk_mut()) else {
        return add_at_end(words, [low as u64, (low >> 64) as u64, high], word, subtract);
    };
    let old = u128::from(target[0]) | u128::from(target[1]) << 64;
    let carries = match subtract {
        false => {
            let (new, first) = old.overflowing_add(low);
            let (top, second) = carrying(target[2], high, first);
            *target = [new as u64, (new >> 64) as u64, top];
            second
        }
        true => {
            let (new, first) = old.overflowing_sub(low);
            let (top, second) = borrowing(target[2], high, first);
            *target = [new as u64, (new >> 64) as u64, top];
            second
        }
    };
    if carries {
        ripple(above, subtract);
    }
}

/// Takes a carry, or a borrow, upwards. Small sums of either sign have many, but only a word or two above.
fn ripple(words: &mut [u64], subtract: bool) {
    for word in words {
        let (new, carries) = if subtract { word.overflowing_sub(1) } else { word.overflowing_add(1) };
        *word = new;
        if !carries {
            return;
        }
    }
}

/// The same where fewer words are left than parts; what they have no room for is nothing.
#[cold]
fn add_at_end(words: &mut [u64], parts: [u64; 3], word: usize, subtract: bool) {
    let mut carry = false;
    for (target, part) in words.iter_mut().skip(word).zip(parts) {
        (*target, carry) = if subtract { borrowing(*target, part, carry) } else { carrying(*target, part, carry) };
    }
}

#[inline]
fn carrying(a: u64, b: u64, carry: bool) -> (u64, bool) {
    let (sum, first) = a.overflowing_add(b);
    let (sum, second) = sum.overflowing_add(u64::from(carry));
    (sum, first | second)
}

#[inline]
fn borrowing(a: u64, b: u64, borrow: bool) -> (u64, bool) {
    let (rest, first) = a.overflowing_sub(b);
    let (rest, second) = rest.overflowing_sub(u64::from(borrow));
    (rest, first | second)
}

fn add_words(words: &mut [u64], more: &[u64]) {
    let mut carry = false;
    for (word, &more) in words.iter_mut().zip(more) {
        (*word, carry) = carrying(*word, more, carry);
    }
}

/// How many bits are in use.
fn bits(words: &[u64]) -> u32 {
    words.iter().rposition(|&word| word != 0).map_or(0, |top| 64 * top as u32 + 64 - words[top].leading_zeros())
}

fn shifted<const N: usize>(words: &[u64; N], shift: u32) -> [u64; N] {
    let (whole, bit) = ((shift / 64) as usize, shift % 64);
    let at = |i: usize| words.get(i).copied().unwrap_or(0);
    std::array::from_fn(|i| {
        let Some(from) = i.checked_sub(whole) else { return 0 };
        let below = from.checked_sub(1).filter(|_| bit > 0).map_or(0, |below| at(below) >> (64 - bit));
        at(from) << bit | below
    })
}

/// The magnitude of a signed number, and whether it was negative.
fn magnitude<const N: usize>(words: [u64; N]) -> ([u64; N], bool) {
    let negative = words[N - 1] >> 63 == 1;
    let mut positive = words;
    if negative {
        let mut carry = true;
        for word in &mut positive {
            (*word, carry) = carrying(!*word, 0, carry);
        }
    }
    (positive, negative)
}

/// `(rows * squares - sum * sum) / (divisor * 10^(2 * scale)) * 2^exponent`.
fn spread<const N: usize, const M: usize>(
    rows: u64,
    sum: &[u64; N],
    squares: &[u64; M],
    divisor: u128,
    scale: u32,
    exponent: i32,
) -> Scaled {
    let (sum, _) = magnitude(*sum);
    let (sum, squares) = (used(&sum), used(squares));
    let mut product = [0; PRODUCT];
    let product = &mut product[..(squares.len() + 2).max(2 * sum.len() + 1).min(PRODUCT)];
    for (i, &word) in squares.iter().enumerate() {
        add(product, u128::from(word) * u128::from(rows), 64 * i, false);
    }
    for (i, &a) in sum.iter().enumerate().filter(|(_, word)| **word != 0) {
        for (j, &b) in sum.iter().enumerate() {
            add(product, u128::from(a) * u128::from(b), 64 * (i + j), true);
        }
    }
    let (top, shift, inexact) = leading(product);
    Scaled { exponent: shift + exponent, ..quotient(top, inexact, divisor, scale) }
}

fn used(words: &[u64]) -> &[u64] {
    let len = words.iter().rposition(|&word| word != 0).map_or(0, |top| top + 1);
    &words[..len]
}

/// The 128 leading bits, where the lowest of them stands, and whether any is set below.
fn leading(words: &[u64]) -> (u128, i32, bool) {
    let bits = bits(words) as i32;
    let low = bits - 128;
    let at = |bit: i32| -> u64 {
        let word = |i: i32| usize::try_from(i).ok().and_then(|i| words.get(i)).copied().unwrap_or(0);
        let (whole, part) = (bit.div_euclid(64), bit.rem_euclid(64));
        let above = if part == 0 { 0 } else { word(whole + 1) << (64 - part) };
        word(whole) >> part | above
    };
    let top = u128::from(at(low + 64)) << 64 | u128::from(at(low));
    let below = (0..low.max(0)).step_by(64).any(|bit| {
        let count = (low - bit).min(64);
        let word = words[(bit / 64) as usize];
        word << (64 - count) != 0
    });
    (top, low, below)
}

/// The nearest double to the quotient; rounded more than once only for billions of rows, or decimals of many digits.
fn quotient(top: u128, inexact: bool, divisor: u128, scale: u32) -> Scaled {
    let whole = 10u128.checked_pow(2 * scale).and_then(|power| power.checked_mul(divisor));
    let mantissa = match whole.filter(|&whole| whole <= u128::from(u64::MAX)) {
        // A quotient of 64 bits or more: what is cut off can be told by its lowest bit.
        Some(whole) => {
            let cut_off = inexact || !top.is_multiple_of(whole);
            ((top / whole) | u128::from(cut_off)) as f64
        }
        None => (0..2).fold(top as f64 / divisor as f64, |scaled, _| scaled / power_of_ten(scale)),
    };
    Scaled { mantissa, exponent: 0 }
}

/// `10^scale`, as near as a double can be.
fn power_of_ten(scale: u32) -> f64 {
    10u128.checked_pow(scale).map_or(f64::INFINITY, |power| power as f64)
}

impl Scaled {
    /// As a double.
    pub(super) fn value(self) -> f64 {
        scale_by(self.mantissa, self.exponent)
    }

    /// Its square root as a double.
    pub(super) fn root(self) -> f64 {
        let odd = self.exponent.rem_euclid(2);
        scale_by((self.mantissa * f64::from(1 + odd)).sqrt(), (self.exponent - odd) / 2)
    }
}

/// `x * 2^exponent`, in steps that are exact until the last.
fn scale_by(x: f64, exponent: i32) -> f64 {
    let power = |exponent: i32| f64::from_bits(((exponent + 1023) as u64) << 52);
    let (mut scaled, mut rest) = (x, exponent);
    while rest.abs() > 1000 {
        let step = rest.clamp(-1000, 1000);
        scaled *= power(step);
        rest -= step;
    }
    scaled * power(rest)
}

#[cfg(test)]
mod tests {
    use super::super::exact_sum::tests::any_double;
    use super::*;
    use proptest::prelude::*;

    const S: Slot = Slot(0);

    fn doubles(parts: &[&[f64]]) -> PowerSums {
        let mut sums = PowerSums::of_doubles();
        for (i, values) in parts.iter().enumerate() {
            sums.open(Slot(i as u32));
            values.iter().for_each(|&x| sums.add_double(i, x));
        }
        sums
    }

    fn population(sums: &PowerSums) -> Option<f64> {
        sums.variance(S, false, 0).map(Scaled::value)
    }

    #[test]
    fn known_variances() {
        assert_eq!(population(&doubles(&[&[]])), None);
        assert_eq!(population(&doubles(&[&[5.5]])), Some(0.0));
        assert_eq!(population(&doubles(&[&[1.0, 2.0, 4.0]])), Some(14.0 / 9.0));
        assert_eq!(population(&doubles(&[&[1e16, 1e16 + 2.0]])), Some(1.0));
        assert_eq!(doubles(&[&[1.0]]).variance(S, true, 0).map(Scaled::value), None);
        assert_eq!(population(&doubles(&[&[0.1; 1000]])), Some(0.0));
    }

    #[test]
    fn extremes_spill_and_keep_their_deviation() {
        let sums = doubles(&[&[1e300, -1e300, 1e-300]]);
        assert_eq!(sums.spilled.len(), 1);
        let deviation = sums.variance(S, false, 0).map(Scaled::root);
        assert_eq!(deviation, Some(1e300 * (2.0f64 / 3.0).sqrt()));
        assert_eq!(population(&sums), Some(f64::INFINITY));
        let tiny = doubles(&[&[5e-324, 1.5e-323]]);
        assert_eq!(tiny.variance(S, false, 0).map(Scaled::root), Some(5e-324));
        assert!(population(&doubles(&[&[1.0, f64::INFINITY]])).is_some_and(f64::is_nan));
    }

    #[test]
    fn integers_use_all_their_bits() {
        let mut sums = PowerSums::of_integers();
        sums.open(S);
        [i128::from(i64::MAX), i128::from(i64::MIN)].into_iter().for_each(|x| sums.add_integer(0, x));
        assert_eq!(population(&sums), Some(2f64.powi(126)));
        sums.open(S);
        let most = 10i128.pow(38) - 1;
        [most, most - 2, most, most - 2].into_iter().for_each(|x| sums.add_integer(0, x));
        assert_eq!(population(&sums), Some(1.0));
        assert_eq!(sums.variance(S, false, 2).map(Scaled::value), Some(1e-4));
        assert_eq!(sums.to_doubles().windows[0].unit, WIDENED);
    }

    proptest! {
        #[test]
        fn order_and_split_do_not_matter(
            values in prop::collection::vec(any_double(), 2..40).prop_shuffle(), at in 0usize..40,
        ) {
            let (left, right) = values.split_at(at.min(values.len()));
            let mut sums = doubles(&[left, right]);
            sums.merge(S, Slot(1));
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let whole = doubles(&[&sorted]);
            prop_assert_eq!(population(&sums).map(f64::to_bits), population(&whole).map(f64::to_bits));
        }

        #[test]
        fn it_is_the_nearest_double(values in prop::collection::vec(-1_000_000i64..1_000_000, 2..50)) {
            let n = values.len() as i128;
            let sum: i128 = values.iter().map(|&x| i128::from(x)).sum();
            let squares: i128 = values.iter().map(|&x| i128::from(x).pow(2)).sum();
            let want = (n * squares - sum * sum) as f64 / (n * (n - 1)) as f64;
            let mut sums = PowerSums::of_integers();
            sums.open(S);
            values.iter().for_each(|&x| sums.add_integer(0, i128::from(x)));
            prop_assert_eq!(sums.variance(S, true, 0).map(Scaled::value), Some(want));
            let quarters: Vec<f64> = values.iter().map(|&x| x as f64 / 4.0).collect();
            prop_assert_eq!(doubles(&[&quarters]).variance(S, true, 0).map(Scaled::value), Some(want / 16.0));
        }
    }
}
