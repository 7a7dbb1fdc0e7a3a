//! Arithmetic on columns: integers that never wrap, exact decimals, doubles; a division by zero is null.
//!
//! Arrow's checked kernels do whole batches; only a batch in which one row overflows is gone through row by row.

use super::cast::{fits, rescaled, typed_decimals};
use super::eval::{Values, both, integers};
use super::functions::Failures;
use super::literal;
use super::tree::Operator;
use crate::error::{Error, Result};
use crate::schema::FieldType;
use arrow::array::{Array, ArrayRef, AsArray, Decimal128Array, Float64Array, Int64Array};
use arrow::compute::kernels::numeric;
use arrow::datatypes::{Decimal128Type, Float64Type, Int64Type};
use std::sync::Arc;

/// `-x`
pub(super) fn negate(x: Values, ty: FieldType) -> Result<Values> {
    let mut failures = x.failures;
    let array: ArrayRef = match ty {
        FieldType::Double => Arc::new(x.array.as_primitive::<Float64Type>().unary::<_, Float64Type>(|x| -x)),
        FieldType::Decimal { .. } => {
            let negative = x.array.as_primitive::<Decimal128Type>().unary::<_, Decimal128Type>(|x| -x);
            Arc::new(negative.with_data_type(ty.arrow()))
        }
        _ => {
            let values = x.array.as_primitive::<Int64Type>().iter().enumerate();
            let each = values.map(|(row, value)| {
                let negative = value?.checked_neg();
                if negative.is_none() {
                    failures.insert(row, format!("integer overflow in -({})", i64::MIN));
                }
                negative
            });
            Arc::new(each.collect::<Int64Array>())
        }
    };
    Ok(Values { array, constant: x.constant, failures })
}

/// Two operands of the types that the binder has made them: `types` are those of the operands and of the result.
pub(super) fn compute(
    operator: Operator,
    a: Values,
    b: Values,
    types: (FieldType, FieldType, FieldType),
) -> Result<Values> {
    let mut failures = Failures::new();
    let array = match types {
        (_, _, FieldType::Int) => whole(operator, &a, &b, &mut failures)?,
        (FieldType::Decimal { scale: s, .. }, FieldType::Decimal { scale: t, .. }, to @ FieldType::Decimal { .. }) => {
            decimals(operator, &a, &b, (s, t, to), &mut failures)
        }
        _ => doubles(operator, &a, &b)?,
    };
    let mut values = both(array, a, b);
    super::eval::merge(&mut values.failures, failures);
    Ok(values)
}

fn whole(operator: Operator, a: &Values, b: &Values, failures: &mut Failures) -> Result<ArrayRef> {
    let kernel = match operator {
        Operator::Add => numeric::add,
        Operator::Subtract => numeric::sub,
        Operator::Multiply => numeric::mul,
        _ => return Ok(whole_rows(operator, a, b, failures)),
    };
    match kernel(&*a.datum(), &*b.datum()) {
        Ok(array) => Ok(array),
        Err(_) => Ok(whole_rows(operator, a, b, failures)),
    }
}

/// The rows of two operands: how many, and where each is.
fn rows(a: &Values, b: &Values) -> usize {
    if a.constant { b.array.len() } else { a.array.len() }
}

fn at(values: &Values, row: usize) -> usize {
    if values.constant { 0 } else { row }
}

fn whole_rows(operator: Operator, a: &Values, b: &Values, failures: &mut Failures) -> ArrayRef {
    let (left, right) = (integers(a), integers(b));
    let each = (0..rows(a, b)).map(|row| {
        let (i, j) = (at(a, row), at(b, row));
        if left.is_null(i) || right.is_null(j) {
            return None;
        }
        let (x, y) = (left.value(i), right.value(j));
        if matches!(operator, Operator::DivideInteger | Operator::Modulo) && y == 0 {
            return None;
        }
        let result = match operator {
            Operator::Add => x.checked_add(y),
            Operator::Subtract => x.checked_sub(y),
            Operator::Multiply => x.checked_mul(y),
            Operator::DivideInteger => x.checked_div(y),
            _ => Some(x.wrapping_rem(y)),
        };
        if result.is_none() {
            failures.insert(row, format!("integer overflow in {x} {} {y}", operator.sign()));
        }
        result
    });
    Arc::new(each.collect::<Int64Array>())
}

fn doubles(operator: Operator, a: &Values, b: &Values) -> Result<ArrayRef> {
    let wrong = |e| Error::failed(format!("cannot compute: {e}"));
    let kernel = match operator {
        Operator::Add => numeric::add,
        Operator::Subtract => numeric::sub,
        Operator::Multiply => numeric::mul,
        _ => return Ok(quotients(operator, a, b)),
    };
    kernel(&*a.datum(), &*b.datum()).map_err(wrong)
}

/// Division and remainder of doubles; `//` is that of DuckDB, which divides them truly.
fn quotients(operator: Operator, a: &Values, b: &Values) -> ArrayRef {
    let (left, right) = (a.array.as_primitive::<Float64Type>(), b.array.as_primitive::<Float64Type>());
    let each = (0..rows(a, b)).map(|row| {
        let (i, j) = (at(a, row), at(b, row));
        let known = left.is_valid(i) && right.is_valid(j) && right.value(j) != 0.0;
        known.then(|| match operator {
            Operator::Modulo => left.value(i) % right.value(j),
            _ => left.value(i) / right.value(j),
        })
    });
    Arc::new(each.collect::<Float64Array>())
}

fn decimals(
    operator: Operator,
    a: &Values,
    b: &Values,
    (s, t, to): (i8, i8, FieldType),
    failures: &mut Failures,
) -> ArrayRef {
    let (left, right) = (a.array.as_primitive::<Decimal128Type>(), b.array.as_primitive::<Decimal128Type>());
    let (precision, scale) = match to {
        FieldType::Decimal { precision, scale } => (precision, scale),
        _ => (38, 0),
    };
    let each = (0..rows(a, b)).map(|row| {
        let (i, j) = (at(a, row), at(b, row));
        if left.is_null(i) || right.is_null(j) || (operator == Operator::Modulo && right.value(j) == 0) {
            return None;
        }
        let (x, y) = (left.value(i), right.value(j));
        let result = decimal(operator, (x, s), (y, t), scale).filter(|value| fits(*value, precision));
        if result.is_none() {
            let (x, y) = (literal::decimal(x, s), literal::decimal(y, t));
            failures.insert(row, format!("more than {precision} digits in {x} {} {y}", operator.sign()));
        }
        result
    });
    typed_decimals(&(Arc::new(each.collect::<Decimal128Array>()) as ArrayRef), to)
}

fn decimal(operator: Operator, (x, s): (i128, i8), (y, t): (i128, i8), scale: i8) -> Option<i128> {
    if operator == Operator::Multiply {
        return x.checked_mul(y);
    }
    let (x, y) = (rescaled(x, s, scale)?, rescaled(y, t, scale)?);
    match operator {
        Operator::Add => x.checked_add(y),
        Operator::Subtract => x.checked_sub(y),
        _ => x.checked_rem(y),
    }
}
