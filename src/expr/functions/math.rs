//! Functions of numbers. Integers and decimals stay exact where the function allows it; the rest is done in doubles.
//!
//! Must not know operators. As in DuckDB, doubles follow IEEE 754 (`sqrt(-1)` is NaN, `ln(0)` minus infinity), and
//! halves round away from zero. Logarithms and powers come from one library in the binary, the same on every machine.

use super::kernel::{Outcome, What, double_to_double, resolved, takes, unfit, values};
use super::{Argument, FunctionKind, Resolved};
use crate::schema::{FieldType, Literal};
use crate::time::Zone;
use arrow::array::{ArrayRef, AsArray, PrimitiveArray};
use arrow::compute::binary;
use arrow::datatypes::{Decimal128Type, Float64Type, Int64Type};
use std::sync::Arc;

/// `abs`
pub(super) static ABS: FunctionKind = FunctionKind {
    name: "abs",
    aliases: &[],
    usage: "abs(x)",
    doc: "the number without its sign",
    example: ("abs(-5)", "5"),
    least: 1,
    most: 1,
    resolve: abs,
};

/// `sign`
pub(super) static SIGN: FunctionKind = FunctionKind {
    name: "sign",
    aliases: &[],
    usage: "sign(x)",
    doc: "-1, 0 or 1",
    example: ("sign(-5)", "-1"),
    least: 1,
    most: 1,
    resolve: sign,
};

/// `round`
pub(super) static ROUND: FunctionKind = FunctionKind {
    name: "round",
    aliases: &[],
    usage: "round(x [, digits])",
    doc: "rounded to this many digits behind the point, halves away from zero",
    example: ("round(2.675, 2)", "2.68"),
    least: 1,
    most: 2,
    resolve: |arguments, _| with_digits(arguments, Rounding::Nearest),
};

/// `trunc`
pub(super) static TRUNC: FunctionKind = FunctionKind {
    name: "trunc",
    aliases: &[],
    usage: "trunc(x [, digits])",
    doc: "cut to this many digits behind the point",
    example: ("trunc(2.675, 2)", "2.67"),
    least: 1,
    most: 2,
    resolve: |arguments, _| with_digits(arguments, Rounding::Zero),
};

/// `floor`
pub(super) static FLOOR: FunctionKind = FunctionKind {
    name: "floor",
    aliases: &[],
    usage: "floor(x)",
    doc: "the greatest whole number that is not above x",
    example: ("floor(-1.5)", "-2"),
    least: 1,
    most: 1,
    resolve: |arguments, _| with_digits(arguments, Rounding::Down),
};

/// `ceil`
pub(super) static CEIL: FunctionKind = FunctionKind {
    name: "ceil",
    aliases: &["ceiling"],
    usage: "ceil(x)",
    doc: "the least whole number that is not below x",
    example: ("ceil(1.2)", "2"),
    least: 1,
    most: 1,
    resolve: |arguments, _| with_digits(arguments, Rounding::Up),
};

/// `mod`
pub(super) static MOD: FunctionKind = FunctionKind {
    name: "mod",
    aliases: &[],
    usage: "mod(x, y)",
    doc: "what is left of x after division by y, with the sign of x; null if y is 0",
    example: ("mod(-5, 3)", "-2"),
    least: 2,
    most: 2,
    resolve: modulo,
};

/// `power`
pub(super) static POWER: FunctionKind = FunctionKind {
    name: "power",
    aliases: &["pow"],
    usage: "power(x, y)",
    doc: "x to the power of y, as a double",
    example: ("power(2, 0.5)", "1.4142135623730951"),
    least: 2,
    most: 2,
    resolve: power,
};

/// `sqrt`
pub(super) static SQRT: FunctionKind = FunctionKind {
    name: "sqrt",
    aliases: &[],
    usage: "sqrt(x)",
    doc: "the square root",
    example: ("sqrt(2.25)", "1.5"),
    least: 1,
    most: 1,
    resolve: |arguments, _| double_to_double(arguments, f64::sqrt),
};

/// `exp`
pub(super) static EXP: FunctionKind = FunctionKind {
    name: "exp",
    aliases: &[],
    usage: "exp(x)",
    doc: "e to the power of x",
    example: ("exp(1)", "2.718281828459045"),
    least: 1,
    most: 1,
    resolve: |arguments, _| double_to_double(arguments, exp),
};

/// `ln`
pub(super) static LN: FunctionKind = FunctionKind {
    name: "ln",
    aliases: &[],
    usage: "ln(x)",
    doc: "the natural logarithm",
    example: ("ln(10)", "2.302585092994046"),
    least: 1,
    most: 1,
    resolve: |arguments, _| double_to_double(arguments, libm::log),
};

/// `log10`
pub(super) static LOG10: FunctionKind = FunctionKind {
    name: "log10",
    aliases: &["log"],
    usage: "log10(x)",
    doc: "the logarithm to base 10",
    example: ("log10(0.001)", "-3.0"),
    least: 1,
    most: 1,
    resolve: |arguments, _| double_to_double(arguments, libm::log10),
};

/// `log2`
pub(super) static LOG2: FunctionKind = FunctionKind {
    name: "log2",
    aliases: &[],
    usage: "log2(x)",
    doc: "the logarithm to base 2",
    example: ("log2(8)", "3.0"),
    least: 1,
    most: 1,
    resolve: |arguments, _| double_to_double(arguments, libm::log2),
};

type Resolving = Result<Resolved, String>;

/// A decimal as the nearest double that arithmetic finds.
pub(super) fn decimal_to_double(value: i128, scale: i8) -> f64 {
    value as f64 / 10_f64.powi(i32::from(scale))
}

fn abs(arguments: &[Argument<'_>], _: &Zone) -> Resolving {
    let ty = number(arguments, 0)?;
    let overflow = |x: i64| move || format!("integer overflow in abs({x})");
    resolved(vec![ty], ty, move |columns, rows, failures| {
        Ok(match ty {
            FieldType::Int => {
                let x = columns[0].as_primitive::<Int64Type>();
                let row = |row| x.value(row).checked_abs().map(Some).ok_or_else(overflow(x.value(row)));
                Arc::new(values::<Int64Type>(columns, rows, failures, row))
            }
            FieldType::Decimal { .. } => {
                let x = columns[0].as_primitive::<Decimal128Type>();
                Arc::new(x.unary::<_, Decimal128Type>(i128::wrapping_abs).with_data_type(ty.arrow()))
            }
            _ => Arc::new(columns[0].as_primitive::<Float64Type>().unary::<_, Float64Type>(f64::abs)),
        })
    })
}

/// The type of a number; one that is not known is a double.
fn number(arguments: &[Argument<'_>], index: usize) -> Result<FieldType, String> {
    match arguments[index].ty {
        None => Ok(FieldType::Double),
        Some(ty) if ty.is_number() => Ok(ty),
        Some(_) => Err(unfit(arguments, index, "a number")),
    }
}

fn sign(arguments: &[Argument<'_>], _: &Zone) -> Resolving {
    let ty = number(arguments, 0)?;
    resolved(vec![ty], FieldType::Int, move |columns, _, _| {
        let signs: PrimitiveArray<Int64Type> = match ty {
            FieldType::Int => columns[0].as_primitive::<Int64Type>().unary(i64::signum),
            FieldType::Decimal { .. } => columns[0].as_primitive::<Decimal128Type>().unary(|x| x.signum() as i64),
            _ => columns[0].as_primitive::<Float64Type>().unary(|x| i64::from(x > 0.0) - i64::from(x < 0.0)),
        };
        Ok(Arc::new(signs))
    })
}

fn power(arguments: &[Argument<'_>], _: &Zone) -> Resolving {
    resolved(takes(arguments, &[What::Double])?, FieldType::Double, |columns, _, _| {
        let (x, y) = (columns[0].as_primitive::<Float64Type>(), columns[1].as_primitive::<Float64Type>());
        binary::<_, _, _, Float64Type>(x, y, libm::pow).map(|powers| Arc::new(powers) as ArrayRef).map_err(program)
    })
}

/// e to the power of x, to little more than half of the last digit; that of `libm` has another last digit for e itself.
///
/// x = k ln 2 + r; the first two terms of the series of r are added exactly, the rest is too small to do harm.
fn exp(x: f64) -> f64 {
    // The upper 32 bits of ln 2, so that a multiple of them is exact, and the rest.
    const UPPER: f64 = 0.693_147_180_369_123_8;
    const LOWER: f64 = 1.908_214_929_270_587_7e-10;
    const TERMS: u32 = 15;
    match x {
        _ if x > 710.0 => return f64::INFINITY,
        _ if x < -746.0 => return 0.0,
        _ if x.is_nan() => return x,
        _ => {}
    }
    let k = (x / std::f64::consts::LN_2).round();
    let (upper, lower) = (x - k * UPPER, k * LOWER);
    let r = upper - lower;
    let lost = (upper - r) - lower;
    let series = (2..=TERMS).rev().fold(1.0, |sum, n| 1.0 + sum * r / f64::from(n + 1));
    let sum = 1.0 + r;
    let rest = r - (sum - 1.0) + lost + r * r / 2.0 * series;
    libm::scalbn(sum + rest, k as i32)
}

/// An error of arrow that only a wrong program causes.
pub(super) fn program(error: arrow::error::ArrowError) -> crate::error::Error {
    crate::error::Error::failed(format!("a function got columns it did not ask for: {error}"))
}

fn modulo(arguments: &[Argument<'_>], _: &Zone) -> Resolving {
    let ty = number(arguments, 0)?.unify(number(arguments, 1)?);
    resolved(vec![ty; 2], ty, move |columns, rows, failures| {
        Ok(match ty {
            FieldType::Int => {
                let (x, y) = (columns[0].as_primitive::<Int64Type>(), columns[1].as_primitive::<Int64Type>());
                let row = |row| Ok((y.value(row) != 0).then(|| x.value(row).wrapping_rem(y.value(row))));
                Arc::new(values::<Int64Type>(columns, rows, failures, row))
            }
            FieldType::Decimal { .. } => {
                let (x, y) = (columns[0].as_primitive::<Decimal128Type>(), columns[1].as_primitive::<Decimal128Type>());
                let row = |row| Ok((y.value(row) != 0).then(|| x.value(row).wrapping_rem(y.value(row))));
                Arc::new(values::<Decimal128Type>(columns, rows, failures, row).with_data_type(ty.arrow()))
            }
            _ => {
                let (x, y) = (columns[0].as_primitive::<Float64Type>(), columns[1].as_primitive::<Float64Type>());
                let row = |row| Ok((y.value(row) != 0.0).then(|| x.value(row) % y.value(row)));
                Arc::new(values::<Float64Type>(columns, rows, failures, row))
            }
        })
    })
}

/// Which way a number goes that is not whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rounding {
    Nearest,
    Zero,
    Down,
    Up,
}

impl Rounding {
    fn double(self, x: f64) -> f64 {
        match self {
            Rounding::Nearest => x.round(),
            Rounding::Zero => x.trunc(),
            Rounding::Down => x.floor(),
            Rounding::Up => x.ceil(),
        }
    }

    /// To digits behind the point, or before it if negative. What cannot be scaled is too big to have such digits.
    fn double_to(self, x: f64, digits: i64) -> f64 {
        let unit = libm::pow(10.0, digits.unsigned_abs() as f64);
        if digits < 0 {
            let rounded = self.double(x / unit) * unit;
            return if rounded.is_finite() || !x.is_finite() { rounded } else { 0.0 };
        }
        let rounded = self.scaled(x, unit) / unit;
        if rounded.is_finite() { rounded } else { x }
    }

    /// `x * unit` as a whole number. A product that only seems to be a half (of 1.005, which is a little less, by 100)
    /// is rounded as what it is.
    fn scaled(self, x: f64, unit: f64) -> f64 {
        let product = x * unit;
        let lost = libm::fma(x, unit, -product);
        let seems_half = self == Rounding::Nearest && (product - product.trunc()).abs() == 0.5;
        match seems_half && lost != 0.0 && (lost < 0.0) != (product < 0.0) {
            true => product.trunc(),
            false => self.double(product),
        }
    }

    /// `x / unit` as a whole number; `unit` is positive.
    fn quotient(self, x: i128, unit: i128) -> i128 {
        let (quotient, rest) = (x / unit, x % unit);
        let away = match self {
            Rounding::Nearest => rest.unsigned_abs() >= unit.unsigned_abs().div_ceil(2),
            Rounding::Zero => false,
            Rounding::Down => rest < 0,
            Rounding::Up => rest > 0,
        };
        quotient + if away { rest.signum() } else { 0 }
    }

    /// To a multiple of a power of ten, of which there may be none but zero.
    fn multiple(self, x: i128, digits: u64) -> Option<i128> {
        match power_of_ten(digits) {
            Some(unit) => self.quotient(x, unit).checked_mul(unit),
            None => Some(0),
        }
    }
}

fn power_of_ten(digits: u64) -> Option<i128> {
    10_i128.checked_pow(u32::try_from(digits).ok()?)
}

/// `round(x, digits)` and its like.
fn with_digits(arguments: &[Argument<'_>], rounding: Rounding) -> Resolving {
    let ty = number(arguments, 0)?;
    let mut takes = takes(&arguments[1..], &[What::Int]).map_err(|_| unfit(arguments, 1, "an integer"))?;
    takes.insert(0, ty);
    match (ty, arguments.get(1).map(|digits| digits.literal)) {
        (FieldType::Int, None) => resolved(takes, ty, |columns, _, _| Ok(Arc::clone(&columns[0]))),
        (FieldType::Int, _) => resolved(takes, ty, move |columns, rows, failures| {
            let x = columns[0].as_primitive::<Int64Type>();
            let digits = columns[1].as_primitive::<Int64Type>();
            let row = |row| rounded_integer(x.value(row), digits.value(row), rounding);
            Ok(Arc::new(values::<Int64Type>(columns, rows, failures, row)))
        }),
        (FieldType::Decimal { precision, scale }, digits) => {
            let digits = match digits {
                None => Some(0),
                Some(Some(Literal::Int(digits))) => Some(*digits),
                Some(_) => None,
            };
            decimals(takes, (precision, scale), digits, rounding)
        }
        (_, None) => resolved(takes, ty, move |columns, _, _| {
            let x = columns[0].as_primitive::<Float64Type>();
            Ok(Arc::new(x.unary::<_, Float64Type>(|x| rounding.double(x))))
        }),
        (_, Some(_)) => resolved(takes, ty, move |columns, _, _| {
            let (x, digits) = (columns[0].as_primitive::<Float64Type>(), columns[1].as_primitive::<Int64Type>());
            let rounded = binary::<_, _, _, Float64Type>(x, digits, |x, digits| rounding.double_to(x, digits));
            rounded.map(|rounded| Arc::new(rounded) as ArrayRef).map_err(program)
        }),
    }
}

fn rounded_integer(x: i64, digits: i64, rounding: Rounding) -> Outcome<i64> {
    if digits >= 0 {
        return Ok(Some(x));
    }
    let rounded = rounding.multiple(x.into(), digits.unsigned_abs());
    let fits = rounded.and_then(|rounded| i64::try_from(rounded).ok());
    fits.map(Some).ok_or_else(|| format!("integer overflow in rounding {x} to {digits} digits"))
}

/// Decimals rounded to constant digits get a scale of that many; else they keep theirs.
fn decimals(takes: Vec<FieldType>, (precision, scale): (u8, i8), digits: Option<i64>, rounding: Rounding) -> Resolving {
    let scale = scale.max(0);
    let kept = digits.map_or(scale, |digits| i8::try_from(digits.max(0)).map_or(scale, |digits| digits.min(scale)));
    // Without a digit behind the point to give away, rounding up may need one more in front.
    let wider = kept == scale && digits.is_none_or(|digits| digits < i64::from(scale));
    let ty = FieldType::Decimal { precision: if wider { (precision + 1).min(38) } else { precision }, scale: kept };
    let most = 10_i128.pow(38) - 1;
    resolved(takes, ty, move |columns, rows, failures| {
        let x = columns[0].as_primitive::<Decimal128Type>();
        let places = columns.get(1).map(|digits| digits.as_primitive::<Int64Type>());
        let row = |row| {
            let digits = places.map_or(0, |places| places.value(row));
            let rounded = rounded_decimal(x.value(row), scale, digits, kept, rounding);
            let fits = rounded.filter(|rounded| rounded.unsigned_abs() <= most.unsigned_abs());
            fits.map(Some).ok_or_else(|| "a decimal beyond 38 digits came of rounding".to_owned())
        };
        Ok(Arc::new(values::<Decimal128Type>(columns, rows, failures, row).with_data_type(ty.arrow())))
    })
}

/// `x` of `scale`, rounded to `digits`, with the scale `kept`.
fn rounded_decimal(x: i128, scale: i8, digits: i64, kept: i8, rounding: Rounding) -> Option<i128> {
    let scale = i64::from(scale);
    let cut = scale.saturating_sub(digits).max(0).unsigned_abs();
    let rounded = rounding.multiple(x, cut)?;
    // The digits that the new scale has no place for are zeros now.
    power_of_ten((scale - i64::from(kept)).unsigned_abs()).map(|unit| rounded / unit)
}
