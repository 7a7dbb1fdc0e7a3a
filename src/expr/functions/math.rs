//! Functions on numbers. What has no answer (the root of a negative number) fails, as in DuckDB.

use super::rows::{Outcome, each, needs_number};
use super::{Argument, FunctionKind, Resolved};
use crate::schema::FieldType::{self, Decimal, Double, Int};
use crate::schema::Literal;
use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::Decimal128Type;
use std::sync::Arc;

/// The functions of this family.
pub(super) static MATH: &[FunctionKind] = &[
    FunctionKind {
        name: "abs",
        aliases: &[],
        usage: "abs(x)",
        doc: "the number without its sign",
        example: ("abs(-2)", "2"),
        least: 1,
        most: 1,
        resolve: |a, _| {
            let overflow = || "integer overflow in abs".to_owned();
            of_each(a, move |x| x.checked_abs().map(Some).ok_or_else(overflow), |x, _| x.abs(), |x| Ok(Some(x.abs())))
        },
    },
    FunctionKind {
        name: "sign",
        aliases: &[],
        usage: "sign(x)",
        doc: "-1, 0 or 1",
        example: ("sign(-2.5)", "-1"),
        least: 1,
        most: 1,
        resolve: |a, _| {
            needs_number(a, 0)?;
            Ok(each(&[Double], |row| {
                let x = row.double(0);
                Ok(Some(i64::from(x > 0.0) - i64::from(x < 0.0)))
            }))
        },
    },
    FunctionKind {
        name: "floor",
        aliases: &[],
        usage: "floor(x)",
        doc: "the greatest whole number not above it",
        example: ("floor(-1.5::double)", "-2.0"),
        least: 1,
        most: 1,
        resolve: |a, _| of_each(a, |x| Ok(Some(x)), |x, one| x.div_euclid(one) * one, |x| Ok(Some(x.floor()))),
    },
    FunctionKind {
        name: "ceil",
        aliases: &["ceiling"],
        usage: "ceil(x)",
        doc: "the least whole number not below it",
        example: ("ceil(1.2::double)", "2.0"),
        least: 1,
        most: 1,
        resolve: |a, _| of_each(a, |x| Ok(Some(x)), |x, one| -(-x).div_euclid(one) * one, |x| Ok(Some(x.ceil()))),
    },
    FunctionKind {
        name: "trunc",
        aliases: &[],
        usage: "trunc(x)",
        doc: "the number without its fraction",
        example: ("trunc(-1.7::double)", "-1.0"),
        least: 1,
        most: 1,
        resolve: |a, _| of_each(a, |x| Ok(Some(x)), |x, one| x / one * one, |x| Ok(Some(x.trunc()))),
    },
    FunctionKind {
        name: "round",
        aliases: &[],
        usage: "round(x [, digits])",
        doc: "the nearest number with so many digits behind the point (0; negative: tens, hundreds), halves away from 0",
        example: ("round(2.345::double, 2)", "2.35"),
        least: 1,
        most: 2,
        resolve: round,
    },
    FunctionKind {
        name: "power",
        aliases: &["pow"],
        usage: "power(x, y)",
        doc: "x to the power of y, as a double",
        example: ("power(2, 10)", "1024.0"),
        least: 2,
        most: 2,
        resolve: |a, _| {
            needs_number(a, 0)?;
            needs_number(a, 1)?;
            Ok(each(&[Double, Double], |row| Ok(Some(row.double(0).powf(row.double(1))))))
        },
    },
    FunctionKind {
        name: "sqrt",
        aliases: &[],
        usage: "sqrt(x)",
        doc: "the square root",
        example: ("sqrt(9)", "3.0"),
        least: 1,
        most: 1,
        resolve: |a, _| positive(a, 0.0, "sqrt of a negative number", f64::sqrt),
    },
    FunctionKind {
        name: "exp",
        aliases: &[],
        usage: "exp(x)",
        doc: "e to the power of x",
        example: ("exp(0)", "1.0"),
        least: 1,
        most: 1,
        resolve: |a, _| {
            needs_number(a, 0)?;
            Ok(each(&[Double], |row| Ok(Some(row.double(0).exp()))))
        },
    },
    FunctionKind {
        name: "ln",
        aliases: &[],
        usage: "ln(x)",
        doc: "the natural logarithm",
        example: ("ln(1)", "0.0"),
        least: 1,
        most: 1,
        resolve: |a, _| positive(a, f64::MIN_POSITIVE, "ln of a number that is not above 0", f64::ln),
    },
    FunctionKind {
        name: "log10",
        aliases: &["log"],
        usage: "log10(x)",
        doc: "the logarithm to base 10",
        example: ("log10(1000)", "3.0"),
        least: 1,
        most: 1,
        resolve: |a, _| positive(a, f64::MIN_POSITIVE, "log10 of a number that is not above 0", f64::log10),
    },
    FunctionKind {
        name: "log2",
        aliases: &[],
        usage: "log2(x)",
        doc: "the logarithm to base 2",
        example: ("log2(8)", "3.0"),
        least: 1,
        most: 1,
        resolve: |a, _| positive(a, f64::MIN_POSITIVE, "log2 of a number that is not above 0", f64::log2),
    },
];

/// A function of one number that keeps its type. `decimal` gets the value and what 1 is in its scale.
fn of_each(
    arguments: &[Argument<'_>],
    int: impl Fn(i64) -> Outcome<i64> + Send + Sync + 'static,
    decimal: impl Fn(i128, i128) -> i128 + Send + Sync + 'static,
    double: impl Fn(f64) -> Outcome<f64> + Send + Sync + 'static,
) -> Result<Resolved, String> {
    needs_number(arguments, 0)?;
    Ok(match arguments[0].ty {
        Some(ty @ Decimal { scale, .. }) => {
            let one = 10i128.pow(scale.unsigned_abs().into());
            decimals(ty, ty, move |x| decimal(x, one))
        }
        Some(Double) => each(&[Double], move |row| double(row.double(0))),
        _ => each(&[Int], move |row| int(row.int(0))),
    })
}

/// A function of decimals.
struct Decimals<F> {
    gives: FieldType,
    compute: F,
}

impl<F: Fn(i128) -> i128 + Send + Sync> super::Kernel for Decimals<F> {
    fn run(&self, arguments: &[ArrayRef], _: usize, _: &mut super::Failures) -> crate::error::Result<ArrayRef> {
        let values = arguments[0].as_primitive::<Decimal128Type>();
        let computed = values.unary::<_, Decimal128Type>(&self.compute);
        Ok(Arc::new(computed.with_data_type(self.gives.arrow())))
    }
}

fn decimals(takes: FieldType, gives: FieldType, compute: impl Fn(i128) -> i128 + Send + Sync + 'static) -> Resolved {
    Resolved { takes: vec![takes], gives, kernel: Box::new(Decimals { gives, compute }) }
}

fn positive(
    arguments: &[Argument<'_>],
    least: f64,
    what: &'static str,
    compute: fn(f64) -> f64,
) -> Result<Resolved, String> {
    needs_number(arguments, 0)?;
    Ok(each(&[Double], move |row| match row.double(0) {
        x if x < least => Err(format!("{what}: {x}")),
        x => Ok(Some(compute(x))),
    }))
}

fn round(arguments: &[Argument<'_>], _: &crate::time::Zone) -> Result<Resolved, String> {
    needs_number(arguments, 0)?;
    needs_number(arguments, 1)?;
    let digits = match arguments.get(1).map(|argument| argument.literal) {
        None => Some(0),
        Some(Some(Literal::Int(digits))) => Some((*digits).clamp(-38, 38)),
        Some(_) => None,
    };
    let rest: &[FieldType] = if arguments.len() > 1 { &[Int] } else { &[] };
    let takes = |first: FieldType| [&[first], rest].concat();
    match (arguments[0].ty, digits) {
        (Some(Decimal { precision, scale }), Some(digits)) => {
            let to = i8::try_from(digits.clamp(0, scale.into())).unwrap_or(0);
            let ty = Decimal { precision, scale: to };
            let cut = i128::from(10).pow((i64::from(scale) - digits).clamp(0, 38) as u32);
            let down = i128::from(10).pow((scale - to).unsigned_abs().into());
            let rounded = decimals(Decimal { precision, scale }, ty, move |x| nearest(x, cut) / down);
            Ok(Resolved { takes: takes(Decimal { precision, scale }), ..rounded })
        }
        (None | Some(Int), Some(digits)) => {
            let cut = 10i128.pow((-digits).clamp(0, 30) as u32);
            Ok(each(&takes(Int), move |row| {
                let rounded = nearest(row.int(0).into(), cut);
                i64::try_from(rounded).map(Some).map_err(|_| format!("integer overflow in round({})", row.int(0)))
            }))
        }
        (_, digits) => Ok(each(&takes(Double), move |row| {
            let digits = digits.unwrap_or_else(|| if row.len() > 1 { row.int(1) } else { 0 });
            Ok(Some(rounded(row.double(0), digits)))
        })),
    }
}

/// The multiple of `unit` that is nearest, halves away from 0.
fn nearest(x: i128, unit: i128) -> i128 {
    let (quotient, rest) = (x / unit, x % unit);
    let up = rest.unsigned_abs() * 2 >= unit.unsigned_abs();
    (if up { quotient + x.signum() } else { quotient }) * unit
}

fn rounded(x: f64, digits: i64) -> f64 {
    let power = 10f64.powi(digits.clamp(-308, 308) as i32);
    let scaled = (x * power).round() / power;
    if digits == 0 {
        x.round()
    } else if scaled.is_finite() {
        scaled
    } else {
        x
    }
}
