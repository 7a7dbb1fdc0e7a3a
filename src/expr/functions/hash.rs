//! `hash`: a number for any values, the same for ever on every machine.
//!
//! The algorithm is part of what is promised: 64-bit FNV-1a over the bytes below, then the finaliser of MurmurHash3
//! (`fmix64`), then the topmost bit cleared, so that `hash(x) % 100` is never negative. DuckDB's values are others: it
//! promises none. For each argument come a byte for its kind and its value, numbers with the least byte first:
//! 0 null; 1 truth value, one byte; 2 a number that is an integer of 64 bits, eight bytes; 3 any other number, the eight
//! bytes of the nearest double, NaN being 0x7ff8000000000000; 4 text, its UTF-8 and its length in eight bytes;
//! 5 an instant, eight bytes of microseconds. So values that are equal in SQL have one hash whatever their types.

use super::kernel::{resolved, unfit, values};
use super::{Argument, FunctionKind, Resolved};
use crate::schema::FieldType;
use crate::time::Zone;
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{Decimal128Type, Float64Type, Int64Type, TimestampMicrosecondType};
use std::sync::Arc;

/// `hash`
pub(super) static HASH: FunctionKind = FunctionKind {
    name: "hash",
    aliases: &[],
    usage: "hash(x, ...)",
    doc: "a number from 0 to 2^63 - 1, the same for ever; not that of DuckDB",
    example: ("hash('user-17')", "3072057766091840650"),
    least: 1,
    most: usize::MAX,
    resolve: hash,
};

fn hash(arguments: &[Argument<'_>], _: &Zone) -> Result<Resolved, String> {
    if let Some(index) = arguments.iter().position(|argument| matches!(argument.ty, Some(FieldType::List(_)))) {
        return Err(unfit(arguments, index, "plain values"));
    }
    let takes: Vec<FieldType> = arguments.iter().map(|argument| argument.ty.unwrap_or(FieldType::Text)).collect();
    let types = takes.clone();
    resolved(takes, FieldType::Int, move |columns, rows, failures| {
        let mut states = vec![Hasher::new(); rows];
        for (column, ty) in columns.iter().zip(&types) {
            add_column(column, *ty, &mut states);
        }
        let finish = |row: usize| Ok(Some(states[row].finish()));
        Ok(Arc::new(values::<Int64Type>(&[], rows, failures, finish)))
    })
}

fn add_column(column: &ArrayRef, ty: FieldType, states: &mut [Hasher]) {
    match ty {
        FieldType::Int => {
            let values = column.as_primitive::<Int64Type>();
            each(column, states, |state, row| state.integer(values.value(row)));
        }
        FieldType::Double => {
            let values = column.as_primitive::<Float64Type>();
            each(column, states, |state, row| state.double(values.value(row)));
        }
        FieldType::Decimal { scale, .. } => {
            let values = column.as_primitive::<Decimal128Type>();
            each(column, states, |state, row| state.decimal(values.value(row), scale));
        }
        FieldType::Bool => {
            let values = column.as_boolean();
            each(column, states, |state, row| state.bytes(1, &[u8::from(values.value(row))]));
        }
        FieldType::Time => {
            let values = column.as_primitive::<TimestampMicrosecondType>();
            each(column, states, |state, row| state.bytes(5, &values.value(row).to_le_bytes()));
        }
        FieldType::Text | FieldType::Json | FieldType::List(_) => {
            let values = column.as_string::<i32>();
            each(column, states, |state, row| state.text(values.value(row)));
        }
    }
}

fn each(column: &ArrayRef, states: &mut [Hasher], add: impl Fn(&mut Hasher, usize)) {
    for (row, state) in states.iter_mut().enumerate() {
        match column.is_null(row) {
            true => state.bytes(0, &[]),
            false => add(state, row),
        }
    }
}

/// The state of a row.
#[derive(Clone, Copy)]
struct Hasher(u64);

impl Hasher {
    fn new() -> Self {
        Hasher(0xcbf2_9ce4_8422_2325)
    }

    fn bytes(&mut self, kind: u8, bytes: &[u8]) {
        self.add(&[kind]);
        self.add(bytes);
    }

    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn text(&mut self, text: &str) {
        self.bytes(4, text.as_bytes());
        self.add(&(text.len() as u64).to_le_bytes());
    }

    fn integer(&mut self, value: i64) {
        self.bytes(2, &value.to_le_bytes());
    }

    fn double(&mut self, value: f64) {
        const LIMIT: f64 = 9_223_372_036_854_775_808.0;
        if value.fract() == 0.0 && (-LIMIT..LIMIT).contains(&value) {
            self.integer(value as i64);
        } else {
            let bits = if value.is_nan() { 0x7ff8_0000_0000_0000 } else { value.to_bits() };
            self.bytes(3, &bits.to_le_bytes());
        }
    }

    fn decimal(&mut self, value: i128, scale: i8) {
        let unit = 10_i128.pow(u32::from(scale.unsigned_abs()));
        let whole = if scale < 0 { value.checked_mul(unit) } else { (value % unit == 0).then_some(value / unit) };
        match whole.and_then(|whole| i64::try_from(whole).ok()) {
            Some(whole) => self.integer(whole),
            None => self.double(super::math::decimal_to_double(value, scale)),
        }
    }

    fn finish(self) -> i64 {
        let mut hash = self.0;
        hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        hash ^= hash >> 33;
        (hash & i64::MAX as u64) as i64
    }
}
