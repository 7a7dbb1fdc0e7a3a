//! The account of every record read: one ledger per input, and the proof that nothing was lost.
//!
//! Plain numbers, filled by the loop and the operators, printed by the report. Must not know arrow, files or flags.

use crate::time::{Span, Ts};

/// Where the records of one input went (SPEC section 1.2). Each record is counted at the first gate that stops it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Records taken from the input.
    pub read: u64,
    /// Malformed, or without a usable time, or with a field that does not fit.
    pub bad: u64,
    /// `--where` was not true.
    pub filtered: u64,
    /// Already seen.
    pub duplicate: u64,
    /// Late for all their windows.
    pub late: u64,
    /// No window of theirs is written (`--since`, `--until`).
    pub outside: u64,
    /// In at least one result.
    pub used: u64,
    /// Of those used: late for some of their windows.
    pub partially_late: u64,
}

impl Ledger {
    /// Whether `read = used + filtered + late + bad + duplicate + outside`.
    pub fn balances(&self) -> bool {
        self.read == self.taken()
    }

    /// How many were stopped by any gate, or used.
    pub fn taken(&self) -> u64 {
        self.used + self.filtered + self.late + self.bad + self.duplicate + self.outside
    }

    /// Adds another input's numbers.
    pub fn add(&mut self, other: &Ledger) {
        self.read += other.read;
        self.bad += other.bad;
        self.filtered += other.filtered;
        self.duplicate += other.duplicate;
        self.late += other.late;
        self.outside += other.outside;
        self.used += other.used;
        self.partially_late += other.partially_late;
    }
}

/// How large an operator's state is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateSize {
    /// Windows or sessions open.
    pub windows: u64,
    /// Groups (window and key) held.
    pub groups: u64,
    /// Rows held: of a join those that wait for a partner, of a dedup the keys, of a lookup the table.
    pub rows: u64,
    /// Bytes held, as far as they are known.
    pub bytes: u64,
}

impl StateSize {
    /// The greater of each number.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            windows: self.windows.max(other.windows),
            groups: self.groups.max(other.groups),
            rows: self.rows.max(other.rows),
            bytes: self.bytes.max(other.bytes),
        }
    }
}

/// How far behind the greatest time seen before them (in their own partition) records were.
///
/// Counts per bucket of about 6 % width, so any percentile is known to that precision without keeping the values.
#[derive(Clone, Debug)]
pub struct Lateness {
    counts: Vec<u64>,
    total: u64,
    max: Span,
}

const SUB_BITS: u32 = 4;

impl Default for Lateness {
    fn default() -> Self {
        Self { counts: vec![0; 61 << SUB_BITS], total: 0, max: Span::ZERO }
    }
}

impl Lateness {
    /// Counts one record that was `behind` (zero or more).
    #[inline]
    pub fn record(&mut self, behind: Span) {
        self.counts[bucket(behind.micros().max(0) as u64)] += 1;
        self.total += 1;
        self.max = self.max.max(behind);
    }

    /// Takes over what another has counted.
    pub fn add(&mut self, other: &Lateness) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
        self.total += other.total;
        self.max = self.max.max(other.max);
    }

    /// How many records were counted.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The greatest seen, exactly.
    pub fn max(&self) -> Span {
        self.max
    }

    /// The least bucket limit that at least this share (0 to 1) of the records does not exceed.
    pub fn quantile(&self, share: f64) -> Span {
        let rank = (share * self.total as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (i, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return Span::from_micros(bucket_limit(i).min(self.max.micros() as u64) as i64);
            }
        }
        self.max
    }
}

#[inline]
fn bucket(value: u64) -> usize {
    if value < 1 << SUB_BITS {
        return value as usize;
    }
    let exponent = 63 - value.leading_zeros();
    let sub = (value >> (exponent - SUB_BITS)) & ((1 << SUB_BITS) - 1);
    (((exponent - SUB_BITS + 1) as usize) << SUB_BITS) + sub as usize
}

/// The greatest value that falls into a bucket.
fn bucket_limit(index: usize) -> u64 {
    if index < 1 << SUB_BITS {
        return index as u64;
    }
    let exponent = (index >> SUB_BITS) as u32 + SUB_BITS - 1;
    let sub = (index & ((1 << SUB_BITS) - 1)) as u64;
    ((1 << SUB_BITS | sub) << (exponent - SUB_BITS)) + ((1u64 << (exponent - SUB_BITS)) - 1)
}

/// The record after which many others were late: a jump of the clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jump {
    /// The input's index.
    pub input: usize,
    /// The record's number in it, from 0.
    pub record: u64,
    /// Its event time.
    pub time: Ts,
    /// How far it moved its partition's greatest time.
    pub by: Span,
    /// How many records were late before the clock moved again.
    pub late: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_within_its_bucket_and_near_its_limit() {
        for value in (0..5000).chain((0..63).map(|e| 1u64 << e)).chain([u64::MAX >> 1]) {
            let limit = bucket_limit(bucket(value));
            assert!(limit >= value && limit as f64 <= value as f64 * 1.07 + 1.0, "{value} {limit}");
            assert!(bucket(limit) == bucket(value) && bucket(limit + 1) == bucket(value) + 1);
        }
    }

    #[test]
    fn quantiles_are_of_what_was_recorded() {
        let mut l = Lateness::default();
        (1..=100).for_each(|ms| l.record(Span::from_micros(ms * 1000)));
        assert_eq!(l.max(), Span::from_micros(100_000));
        assert_eq!(l.quantile(1.0), Span::from_micros(100_000));
        let half = l.quantile(0.5).micros();
        assert!((50_000..54_000).contains(&half), "{half}");
    }
}
