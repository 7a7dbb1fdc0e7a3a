//! `variance`, `stddev` and those of a whole population.
//!
//! Made of exact sums of the values and of their squares, so neither cancellation nor the rows' order can show.
//! An infinity or NaN among the values gives NaN. Must not know how sums are kept.

use super::cells::cannot_widen;
use super::column::{argument, each, typed};
use super::power_sums::PowerSums;
use super::saved::{load_each, save_each};
use super::{Accumulator, AggregateKind, Arguments, OutOfRange, Slot, Takes, distinct_of};
use crate::error::Result;
use crate::schema::FieldType;
use arrow::array::{Array, ArrayRef, Decimal128Array, Float64Array, Int64Array};
use std::sync::Arc;

/// `stddev(x)`.
pub(super) static STDDEV: AggregateKind = AggregateKind {
    name: "stddev",
    usage: "stddev(x)",
    doc: "the standard deviation that a sample tells, as a double; null over fewer than two values",
    aliases: &["stddev_samp"],
    takes: &[Takes::Number],
    optional: 0,
    rows: false,
    distinct: true,
    ordered: false,
    build: |arguments| distinct_of::wrap::<false>(arguments, build::<true, true>),
};

/// `stddev_pop(x)`.
pub(super) static STDDEV_POP: AggregateKind = AggregateKind {
    name: "stddev_pop",
    usage: "stddev_pop(x)",
    doc: "the standard deviation of the values themselves, as a double; null over nothing",
    aliases: &[],
    build: |arguments| distinct_of::wrap::<false>(arguments, build::<false, true>),
    ..STDDEV
};

/// `variance(x)`.
pub(super) static VARIANCE: AggregateKind = AggregateKind {
    name: "variance",
    usage: "variance(x)",
    doc: "the variance that a sample tells, as a double; null over fewer than two values",
    aliases: &["var_samp"],
    build: |arguments| distinct_of::wrap::<false>(arguments, build::<true, false>),
    ..STDDEV
};

/// `var_pop(x)`.
pub(super) static VAR_POP: AggregateKind = AggregateKind {
    name: "var_pop",
    usage: "var_pop(x)",
    doc: "the variance of the values themselves, as a double; null over nothing",
    aliases: &[],
    build: |arguments| distinct_of::wrap::<false>(arguments, build::<false, false>),
    ..STDDEV
};

fn build<const SAMPLE: bool, const ROOT: bool>(arguments: Arguments<'_>) -> Box<dyn Accumulator> {
    let ty = arguments.first().unwrap_or(FieldType::Double);
    let sums = match ty {
        FieldType::Int | FieldType::Decimal { .. } => PowerSums::of_integers(),
        _ => PowerSums::of_doubles(),
    };
    Box::new(Variance::<SAMPLE, ROOT> { ty, sums })
}

struct Variance<const SAMPLE: bool, const ROOT: bool> {
    ty: FieldType,
    sums: PowerSums,
}

impl<const SAMPLE: bool, const ROOT: bool> Variance<SAMPLE, ROOT> {
    fn value(&self, slot: Slot) -> Option<f64> {
        let scale = match self.ty {
            FieldType::Decimal { scale, .. } => u32::try_from(scale).unwrap_or(0),
            _ => 0,
        };
        let variance = self.sums.variance(slot, SAMPLE, scale)?;
        Some(if ROOT { variance.root() } else { variance.value() })
    }
}

impl<const SAMPLE: bool, const ROOT: bool> Accumulator for Variance<SAMPLE, ROOT> {
    fn open(&mut self, slot: Slot) {
        self.sums.open(slot);
    }

    fn update(&mut self, slots: &[Slot], rows: &[u32], args: &[ArrayRef]) -> Result<()> {
        let array = argument(args, 0)?;
        let sums = &mut self.sums;
        match self.ty {
            FieldType::Int => {
                let values = typed::<Int64Array>(array)?.values();
                each(slots, rows, array.nulls(), |slot, row| sums.add_integer(slot, i128::from(values[row])));
            }
            FieldType::Decimal { .. } => {
                let values = typed::<Decimal128Array>(array)?.values();
                each(slots, rows, array.nulls(), |slot, row| sums.add_integer(slot, values[row]));
            }
            _ => {
                let values = typed::<Float64Array>(array)?.values();
                each(slots, rows, array.nulls(), |slot, row| sums.add_double(slot, values[row]));
            }
        }
        Ok(())
    }

    fn merge(&mut self, into: Slot, from: Slot) {
        self.sums.merge(into, from);
    }

    fn widen(&mut self, arguments: &[FieldType]) -> Result<()> {
        match (self.ty, arguments[0]) {
            (FieldType::Int, FieldType::Double) => self.sums = self.sums.to_doubles(),
            (from, to) if from == to => {}
            (from, to) => return Err(cannot_widen(from, to)),
        }
        self.ty = arguments[0];
        Ok(())
    }

    fn values(&self, slots: &[Slot]) -> Result<ArrayRef, OutOfRange> {
        Ok(Arc::new(slots.iter().map(|&slot| self.value(slot)).collect::<Float64Array>()))
    }

    fn output(&self) -> FieldType {
        FieldType::Double
    }

    fn save(&self, slots: &[Slot]) -> Result<ArrayRef> {
        Ok(save_each(slots, |slot, out| self.sums.write(slot, out)))
    }

    fn load(&mut self, slots: &[Slot], saved: &ArrayRef) -> Result<()> {
        load_each(slots, saved, |slot, reader| self.sums.read(slot, reader))
    }

    fn bytes(&self) -> usize {
        self.sums.bytes()
    }
}
