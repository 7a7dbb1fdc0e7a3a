//! `sum` and `avg`: exact sums of integers, decimals and doubles, and their quotient with the count.
//!
//! Must not know how a sum is kept. A sum of integers must fit 64 bits and one of decimals 38 digits when it is asked
//! for, not before; a sum of doubles is the double nearest to the true sum, so neither can depend on the rows' order.
//! A mean is the double nearest to the true mean: one rounding, of the quotient, for every type.

use super::cells::cannot_widen;
use super::column::{argument, each, typed};
use super::count::Counts;
use super::double_sum::DoubleSums;
use super::integer_sum::{DecimalSums, IntSums, WideSum, doubles};
use super::saved::{Reader, load_each, save_each};
use super::value::decimal_text;
use super::{Accumulator, AggregateKind, OutOfRange, Slot, Takes, distinct_of};
use crate::error::Result;
use crate::schema::FieldType;
use arrow::array::{Array, ArrayRef, Decimal128Array, Float64Array, Int64Array};
use std::sync::Arc;

/// `sum(x)`.
pub(super) static SUM: AggregateKind = AggregateKind {
    name: "sum",
    usage: "sum(x)",
    doc: "the sum, exact before it is rounded to its type; null over nothing",
    aliases: &[],
    takes: &[Takes::Number],
    optional: 0,
    rows: false,
    distinct: true,
    ordered: false,
    build: |arguments| distinct_of::wrap::<false>(arguments, |arguments| Box::new(Sum(Totals::new(arguments.first())))),
};

/// `avg(x)`.
pub(super) static AVG: AggregateKind = AggregateKind {
    name: "avg",
    usage: "avg(x)",
    doc: "the mean as a double, rounded once; null over nothing",
    aliases: &["mean"],
    takes: &[Takes::Number],
    optional: 0,
    rows: false,
    distinct: true,
    ordered: false,
    build: |arguments| {
        distinct_of::wrap::<false>(arguments, |arguments| {
            Box::new(Average { totals: Totals::new(arguments.first()), counts: Counts::default() })
        })
    },
};

/// The most digits a decimal can have.
const PRECISION: u8 = 38;

/// Sums of one type of number.
enum Totals {
    Int(IntSums),
    Decimal(DecimalSums, i8),
    Double(DoubleSums),
}

impl Totals {
    /// Sums of arguments of this type. One that is no number fails at its first batch; the planner refuses it before.
    fn new(argument: Option<FieldType>) -> Self {
        match argument {
            Some(FieldType::Int) => Totals::Int(IntSums::default()),
            Some(FieldType::Decimal { scale, .. }) => Totals::Decimal(DecimalSums::default(), scale),
            _ => Totals::Double(DoubleSums::default()),
        }
    }

    fn open(&mut self, slot: Slot) {
        match self {
            Totals::Int(sums) => sums.open(slot),
            Totals::Decimal(sums, _) => sums.open(slot),
            Totals::Double(sums) => sums.open(slot),
        }
    }

    fn update(&mut self, slots: &[Slot], rows: &[u32], array: &ArrayRef) -> Result<()> {
        match self {
            Totals::Int(sums) => {
                let values = typed::<Int64Array>(array)?.values();
                each(slots, rows, array.nulls(), |slot, row| sums.add(slot, values[row]));
            }
            Totals::Decimal(sums, _) => {
                let values = typed::<Decimal128Array>(array)?.values();
                each(slots, rows, array.nulls(), |slot, row| sums.add(slot, values[row]));
            }
            Totals::Double(sums) => {
                let values = typed::<Float64Array>(array)?.values();
                each(slots, rows, array.nulls(), |slot, row| sums.add(slot, values[row]));
            }
        }
        Ok(())
    }

    fn merge(&mut self, into: Slot, from: Slot) {
        match self {
            Totals::Int(sums) => sums.merge(into, from),
            Totals::Decimal(sums, _) => sums.merge(into, from),
            Totals::Double(sums) => sums.merge(into, from),
        }
    }

    fn widen(&mut self, argument: FieldType) -> Result<()> {
        match (&*self, argument) {
            (Totals::Int(sums), FieldType::Double) => *self = Totals::Double(to_doubles(sums)),
            _ if self.takes(argument) => {}
            _ => return Err(cannot_widen(self.ty(), argument)),
        }
        Ok(())
    }

    fn takes(&self, argument: FieldType) -> bool {
        match (self.ty(), argument) {
            (FieldType::Decimal { scale, .. }, FieldType::Decimal { scale: other, .. }) => scale == other,
            (own, other) => own == other,
        }
    }

    /// The type of the sums.
    fn ty(&self) -> FieldType {
        match self {
            Totals::Int(_) => FieldType::Int,
            Totals::Decimal(_, scale) => FieldType::Decimal { precision: PRECISION, scale: *scale },
            Totals::Double(_) => FieldType::Double,
        }
    }

    fn sums(&self, slots: &[Slot]) -> Result<ArrayRef, OutOfRange> {
        let indexed = slots.iter().copied().enumerate();
        Ok(match self {
            Totals::Int(sums) => {
                let fit = indexed.map(|(index, slot)| sums.sum(slot).map(|sum| fit_int(sum, index)).transpose());
                Arc::new(fit.collect::<Result<Int64Array, _>>()?)
            }
            Totals::Decimal(sums, scale) => {
                let fit = indexed.map(|(index, slot)| sums.sum(slot).map(|sum| fit_38(sum, *scale, index)).transpose());
                Arc::new(fit.collect::<Result<Decimal128Array, _>>()?.with_data_type(self.ty().arrow()))
            }
            Totals::Double(sums) => Arc::new(slots.iter().map(|&slot| sums.sum(slot)).collect::<Float64Array>()),
        })
    }

    fn mean(&self, slot: Slot, rows: u64) -> Option<f64> {
        match self {
            Totals::Int(sums) => sums.mean(slot, rows),
            Totals::Decimal(sums, scale) => sums.mean(slot, rows, *scale),
            Totals::Double(sums) => sums.mean(slot, rows),
        }
    }

    fn write(&self, slot: Slot, out: &mut Vec<u8>) {
        match self {
            Totals::Int(sums) => sums.write(slot, out),
            Totals::Decimal(sums, _) => sums.write(slot, out),
            Totals::Double(sums) => sums.write(slot, out),
        }
    }

    fn read(&mut self, slot: Slot, reader: &mut Reader<'_>) -> Option<()> {
        match self {
            Totals::Int(sums) => sums.read(slot, reader),
            Totals::Decimal(sums, _) => sums.read(slot, reader),
            Totals::Double(sums) => sums.read(slot, reader),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Totals::Int(sums) => sums.bytes(),
            Totals::Decimal(sums, _) => sums.bytes(),
            Totals::Double(sums) => sums.bytes(),
        }
    }
}

fn to_doubles(integers: &IntSums) -> DoubleSums {
    let mut sums = DoubleSums::default();
    for slot in (0..integers.len() as u32).map(Slot) {
        sums.open(slot);
        for part in integers.sum(slot).map(doubles).into_iter().flatten() {
            sums.add(slot.index(), part);
        }
    }
    sums
}

fn fit_int(sum: i128, index: usize) -> Result<i64, OutOfRange> {
    i64::try_from(sum).map_err(|_| OutOfRange {
        index,
        what: format!("sum {sum} does not fit a 64-bit integer"),
        hint: "--schema 'FIELD decimal(38,0)' sums in 128 bits",
    })
}

fn fit_38(sum: WideSum, scale: i8, index: usize) -> Result<i128, OutOfRange> {
    let limit = 10u128.pow(u32::from(PRECISION));
    if sum.wraps == 0 && sum.low.unsigned_abs() < limit {
        return Ok(sum.low);
    }
    let shown = match sum.wraps {
        0 => decimal_text(sum.low, scale),
        _ => format!("of about {:e}", sum.divided(1, scale)),
    };
    Err(OutOfRange {
        index,
        what: format!("sum {shown} does not fit decimal({PRECISION},{scale})"),
        hint: "--schema 'FIELD double' sums beyond 38 digits, rounded to 16",
    })
}

struct Sum(Totals);

impl Accumulator for Sum {
    fn open(&mut self, slot: Slot) {
        self.0.open(slot);
    }

    fn update(&mut self, slots: &[Slot], rows: &[u32], args: &[ArrayRef]) -> Result<()> {
        self.0.update(slots, rows, argument(args, 0)?)
    }

    fn merge(&mut self, into: Slot, from: Slot) {
        self.0.merge(into, from);
    }

    fn widen(&mut self, arguments: &[FieldType]) -> Result<()> {
        self.0.widen(arguments[0])
    }

    fn values(&self, slots: &[Slot]) -> Result<ArrayRef, OutOfRange> {
        self.0.sums(slots)
    }

    fn output(&self) -> FieldType {
        self.0.ty()
    }

    fn save(&self, slots: &[Slot]) -> Result<ArrayRef> {
        Ok(save_each(slots, |slot, out| self.0.write(slot, out)))
    }

    fn load(&mut self, slots: &[Slot], saved: &ArrayRef) -> Result<()> {
        load_each(slots, saved, |slot, reader| self.0.read(slot, reader))
    }

    fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

struct Average {
    totals: Totals,
    counts: Counts,
}

impl Accumulator for Average {
    fn open(&mut self, slot: Slot) {
        self.totals.open(slot);
        self.counts.open(slot);
    }

    fn update(&mut self, slots: &[Slot], rows: &[u32], args: &[ArrayRef]) -> Result<()> {
        let column = argument(args, 0)?;
        self.totals.update(slots, rows, column)?;
        self.counts.add_values(slots, rows, column);
        Ok(())
    }

    fn merge(&mut self, into: Slot, from: Slot) {
        self.totals.merge(into, from);
        self.counts.merge(into, from);
    }

    fn widen(&mut self, arguments: &[FieldType]) -> Result<()> {
        self.totals.widen(arguments[0])
    }

    fn values(&self, slots: &[Slot]) -> Result<ArrayRef, OutOfRange> {
        let means = slots.iter().map(|&slot| self.totals.mean(slot, self.counts.get(slot)));
        Ok(Arc::new(means.collect::<Float64Array>()))
    }

    fn output(&self) -> FieldType {
        FieldType::Double
    }

    fn save(&self, slots: &[Slot]) -> Result<ArrayRef> {
        Ok(save_each(slots, |slot, out| {
            self.totals.write(slot, out);
            self.counts.write(slot, out);
        }))
    }

    fn load(&mut self, slots: &[Slot], saved: &ArrayRef) -> Result<()> {
        load_each(slots, saved, |slot, reader| {
            self.totals.read(slot, reader)?;
            self.counts.read(slot, reader)
        })
    }

    fn bytes(&self) -> usize {
        self.totals.bytes() + self.counts.bytes()
    }
}
