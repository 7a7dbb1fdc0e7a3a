//! Typed trees over columns to values, a batch at a time.
//!
//! Failures are data: a row that cannot be computed is null and told, and whether that matters is decided by what stands
//! above it, so that `x <> 0 AND 1 % x = 0` or a branch that is not taken never fails. Must not know what the expression
//! is for.

use super::arithmetic;
use super::bind::{Step, Typed};
use super::cast::cast;
pub(super) use super::cast::{can_cast, one, read};
use super::functions::{Failures, Kernel, MOST_OF_A_BATCH, too_much_text};
use super::set;
use super::tree::Operator;
use crate::error::{Error, Result};
use crate::json::as_text;
use crate::schema::FieldType;
use crate::time::{Ts, Zone};
use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Datum, Float64Array, Scalar, StringArray, TimestampMicrosecondArray,
    UInt32Array, new_null_array,
};
use arrow::compute::kernels::zip::zip;
use arrow::compute::kernels::{cmp, comparison};
use arrow::compute::{and_kleene, is_not_null, is_null, not, or_kleene, prep_null_mask_filter, take};
use arrow::datatypes::{DataType, Float64Type, Int64Type, TimestampMicrosecondType};
use arrow::error::ArrowError;
use std::sync::Arc;

/// What the columns of a batch are.
pub(super) struct Input<'a> {
    pub(super) columns: &'a [ArrayRef],
    pub(super) rows: usize,
    pub(super) zone: &'a Zone,
}

/// Values: one for each row, or one for all.
pub(super) struct Values {
    pub(super) array: ArrayRef,
    /// The array has one row, which stands for all.
    pub(super) constant: bool,
    pub(super) failures: Failures,
}

impl Values {
    fn each(array: ArrayRef, failures: Failures) -> Self {
        Self { array, constant: false, failures }
    }

    /// As an operand of a kernel.
    pub(super) fn datum(&self) -> Box<dyn Datum> {
        match self.constant {
            true => Box::new(Scalar::new(Arc::clone(&self.array))),
            false => Box::new(Arc::clone(&self.array)),
        }
    }

    /// One value a row.
    pub(super) fn full(&self, rows: usize) -> Result<ArrayRef> {
        match self.constant {
            true if text_bytes(&self.array).saturating_mul(rows) > MOST_OF_A_BATCH => Err(too_much_text()),
            true => take(&self.array, &UInt32Array::from(vec![0; rows]), None).map_err(|e| wrong(&e)),
            false => Ok(Arc::clone(&self.array)),
        }
    }
}

/// How long the texts of a column are together.
fn text_bytes(array: &ArrayRef) -> usize {
    array.as_string_opt::<i32>().map_or(0, |texts| texts.value_data().len())
}

fn wrong(error: &ArrowError) -> Error {
    Error::failed(format!("cannot compute: {error}"))
}

/// Computes a tree. A row that fails is null, and a constant that fails does so in every row.
pub(super) fn evaluate(typed: &Typed, input: &Input<'_>) -> Result<Values> {
    let values = step(typed, input)?;
    if values.failures.is_empty() {
        return Ok(values);
    }
    let array = values.full(input.rows)?;
    let failures = spread(values.failures, values.constant, input.rows);
    Ok(Values::each(null_where(array, &failures)?, failures))
}

fn step(typed: &Typed, input: &Input<'_>) -> Result<Values> {
    let ty = typed.ty;
    match &typed.step {
        Step::Null | Step::Open(_) => {
            Ok(Values { array: new_null_array(&ty.arrow(), 1), constant: true, failures: Failures::new() })
        }
        Step::Constant(array, _) => Ok(Values { array: Arc::clone(array), constant: true, failures: Failures::new() }),
        Step::Column(column) => Ok(Values::each(plain(&input.columns[*column])?, Failures::new())),
        Step::Not(x) => unary(evaluate(x, input)?, |array| Ok(Arc::new(not(array.as_boolean())?))),
        Step::IsNull(x) => unary(evaluate(x, input)?, |array| Ok(Arc::new(is_null(array)?))),
        Step::Is(x, truth) => unary(evaluate(x, input)?, |array| {
            let array = array.as_boolean();
            let wanted = if *truth { array.clone() } else { not(array)? };
            Ok(Arc::new(without_nulls(&wanted)))
        }),
        Step::Negate(x) => arithmetic::negate(evaluate(x, input)?, ty),
        Step::Shift(x, micros) => Ok(shift(evaluate(x, input)?, *micros)),
        Step::And(a, b) => logic(evaluate(a, input)?, evaluate(b, input)?, input.rows, false),
        Step::Or(a, b) => logic(evaluate(a, input)?, evaluate(b, input)?, input.rows, true),
        Step::Compare(operator, a, b) => compare(*operator, evaluate(a, input)?, evaluate(b, input)?, a.ty),
        Step::Arithmetic(operator, a, b) => {
            let types = (a.ty, b.ty, ty);
            arithmetic::compute(*operator, evaluate(a, input)?, evaluate(b, input)?, types)
        }
        Step::In(x, set) => unary(evaluate(x, input)?, |array| Ok(Arc::new(set.contains(array)))),
        Step::Concat(a, b) => concat(evaluate(a, input)?, evaluate(b, input)?, input.rows),
        Step::Like { text, pattern, escape, any_case } => {
            like(evaluate(text, input)?, evaluate(pattern, input)?, *escape, *any_case)
        }
        Step::Case { branches, otherwise } => case(branches, otherwise, input),
        Step::Coalesce(all) => coalesce(all, input),
        Step::Cast { value, or_null } => {
            let Values { array, constant, failures: mut all } = evaluate(value, input)?;
            let mut failures = Failures::new();
            let array = cast(&array, value.ty, ty, input.zone, &mut failures)?;
            if !or_null {
                merge(&mut all, failures);
            }
            Ok(Values { array, constant, failures: all })
        }
        Step::Call { arguments, kernel } => call(arguments, kernel.as_ref(), input),
    }
}

/// A function of constants alone is computed once.
fn call(arguments: &[Typed], kernel: &dyn Kernel, input: &Input<'_>) -> Result<Values> {
    let all = arguments.iter().map(|argument| evaluate(argument, input)).collect::<Result<Vec<_>>>()?;
    let constant = all.iter().all(|values| values.constant);
    let rows = if constant { 1 } else { input.rows };
    let arrays = all.iter().map(|values| values.full(rows)).collect::<Result<Vec<_>>>()?;
    let mut own = Failures::new();
    let array = kernel.run(&arrays, rows, &mut own)?;
    let mut failures = Failures::new();
    all.into_iter().map(|values| values.failures).chain([own]).for_each(|more| merge(&mut failures, more));
    Ok(Values { array, constant, failures })
}

/// Truth values, where null is false.
fn without_nulls(values: &BooleanArray) -> BooleanArray {
    if values.null_count() == 0 { values.clone() } else { prep_null_mask_filter(values) }
}

/// A column without its dictionary.
fn plain(column: &ArrayRef) -> Result<ArrayRef> {
    match column.data_type() {
        DataType::Dictionary(_, values) => arrow::compute::cast(column, values).map_err(|e| wrong(&e)),
        // JSON is a text here.
        _ => Ok(as_text(column)),
    }
}

/// Adds failures; the first reason counts.
pub(super) fn merge(all: &mut Failures, more: Failures) {
    more.into_iter().for_each(|(row, why)| {
        all.entry(row).or_insert(why);
    });
}

/// The failure of a constant is that of every row.
fn spread(failures: Failures, constant: bool, rows: usize) -> Failures {
    match (constant, failures.get(&0)) {
        (true, Some(why)) => (0..rows).map(|row| (row, why.clone())).collect(),
        _ => failures,
    }
}

fn unary(values: Values, apply: impl Fn(&ArrayRef) -> Result<ArrayRef, ArrowError>) -> Result<Values> {
    Ok(Values { array: apply(&values.array).map_err(|e| wrong(&e))?, ..values })
}

/// A time beyond the range of calendars fails.
fn shift(values: Values, micros: i64) -> Values {
    let times = values.array.as_primitive::<TimestampMicrosecondType>();
    let mut failures = Failures::new();
    let each = times.iter().enumerate().map(|(row, time)| {
        let moved = time?.checked_add(micros).filter(|moved| Ts::from_micros(*moved).is_in_range());
        if moved.is_none() {
            failures.insert(row, "a time beyond the years -9999 to 9999".to_owned());
        }
        moved
    });
    let moved = each.collect::<TimestampMicrosecondArray>().with_timezone("UTC");
    merge(&mut failures, values.failures);
    Values { array: Arc::new(moved), constant: values.constant, failures }
}

/// `AND` and `OR`: `decides` on either side is the answer, whatever the other side is, or fails to be.
fn logic(a: Values, b: Values, rows: usize, decides: bool) -> Result<Values> {
    let (left, right) = (a.full(rows)?, b.full(rows)?);
    let (left, right) = (left.as_boolean(), right.as_boolean());
    let answer = if decides { or_kleene(left, right) } else { and_kleene(left, right) };
    let answer = answer.map_err(|e| wrong(&e))?;
    let settled = |side: &BooleanArray, row: usize| side.is_valid(row) && side.value(row) == decides;
    let mut failures = Failures::new();
    merge(&mut failures, a.failures.into_iter().filter(|(row, _)| !settled(right, *row)).collect());
    merge(&mut failures, b.failures.into_iter().filter(|(row, _)| !settled(left, *row)).collect());
    Ok(Values::each(Arc::new(answer), failures))
}

fn compare(operator: Operator, a: Values, b: Values, ty: FieldType) -> Result<Values> {
    let (a, b) = if ty == FieldType::Double { (canonical(a), canonical(b)) } else { (a, b) };
    let kernel = match operator {
        Operator::Equal => cmp::eq,
        Operator::NotEqual => cmp::neq,
        Operator::Less => cmp::lt,
        Operator::LessOrEqual => cmp::lt_eq,
        Operator::Greater => cmp::gt,
        Operator::GreaterOrEqual => cmp::gt_eq,
        Operator::Distinct => cmp::distinct,
        _ => cmp::not_distinct,
    };
    let answer = kernel(&*a.datum(), &*b.datum()).map_err(|e| wrong(&e))?;
    Ok(both(Arc::new(answer), a, b))
}

/// The values of two operands: constant if both are.
pub(super) fn both(array: ArrayRef, a: Values, b: Values) -> Values {
    let mut failures = a.failures;
    merge(&mut failures, b.failures);
    Values { array, constant: a.constant && b.constant, failures }
}

/// Doubles as they compare: -0 is 0, and NaN one value above all.
fn canonical(values: Values) -> Values {
    let doubles = values.array.as_primitive::<Float64Type>();
    let canonical: Float64Array = doubles.unary(set::canonical);
    Values { array: Arc::new(canonical), ..values }
}

fn concat(a: Values, b: Values, rows: usize) -> Result<Values> {
    let rows = if a.constant && b.constant { 1 } else { rows };
    let (left, right) = (a.full(rows)?, b.full(rows)?);
    if text_bytes(&left) + text_bytes(&right) > MOST_OF_A_BATCH {
        return Err(too_much_text());
    }
    let joined = arrow::compute::kernels::concat_elements::concat_elements_utf8(left.as_string(), right.as_string());
    let joined: StringArray = joined.map_err(|e| wrong(&e))?;
    Ok(both(Arc::new(joined), a, b))
}

fn like(a: Values, b: Values, escape: Option<char>, any_case: bool) -> Result<Values> {
    // Arrow's kernel knows the backslash as escape, SQL none unless it is said.
    let patterns = b.array.as_string::<i32>();
    let spelled: StringArray = patterns.iter().map(|p| p.map(|p| escaped(p, escape))).collect();
    let b = Values { array: Arc::new(spelled), ..b };
    let kernel = if any_case { comparison::ilike } else { comparison::like };
    let answer = kernel(&*a.datum(), &*b.datum()).map_err(|e| wrong(&e))?;
    Ok(both(Arc::new(answer), a, b))
}

/// A pattern in which only a backslash escapes.
fn escaped(pattern: &str, escape: Option<char>) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            c if Some(c) == escape => {
                out.push('\\');
                out.extend(chars.next());
            }
            '\\' => out.push_str("\\\\"),
            c => out.push(c),
        }
    }
    out
}

fn case(branches: &[(Typed, Typed)], otherwise: &Typed, input: &Input<'_>) -> Result<Values> {
    let mut all = Vec::with_capacity(branches.len());
    for (condition, result) in branches {
        let condition = evaluate(condition, input)?;
        let mask = without_nulls(condition.full(input.rows)?.as_boolean());
        all.push((mask, condition.failures, evaluate(result, input)?));
    }
    let otherwise = evaluate(otherwise, input)?;
    let mut array = otherwise.full(input.rows)?;
    for (mask, _, result) in all.iter().rev() {
        array = zip(mask, &*result.datum(), &array).map_err(|e| wrong(&e))?;
    }
    let mut failures = Failures::new();
    let failing = all.iter().flat_map(|(_, condition, result)| condition.keys().chain(result.failures.keys()));
    for &row in failing.chain(otherwise.failures.keys()) {
        let why = all.iter().find_map(|(mask, condition, result)| match condition.get(&row) {
            Some(why) => Some(Some(why)),
            None if mask.value(row) => Some(result.failures.get(&row)),
            None => None,
        });
        if let Some(why) = why.unwrap_or_else(|| otherwise.failures.get(&row)) {
            failures.insert(row, why.clone());
        }
    }
    Ok(Values::each(null_where(array, &failures)?, failures))
}

fn coalesce(all: &[Typed], input: &Input<'_>) -> Result<Values> {
    let all = all.iter().map(|x| evaluate(x, input)).collect::<Result<Vec<_>>>()?;
    let Some((last, rest)) = all.split_last() else { return Err(Error::failed("coalesce takes arguments")) };
    let mut array = last.full(input.rows)?;
    for values in rest.iter().rev() {
        let full = values.full(input.rows)?;
        let mask = is_not_null(&full).map_err(|e| wrong(&e))?;
        array = zip(&mask, &full, &array).map_err(|e| wrong(&e))?;
    }
    let mut failures = Failures::new();
    for &row in all.iter().flat_map(|values| values.failures.keys()) {
        let at = |values: &Values| if values.constant { 0 } else { row };
        let first = all.iter().find(|v| v.failures.contains_key(&row) || v.array.is_valid(at(v)));
        if let Some(why) = first.and_then(|values| values.failures.get(&row)) {
            failures.insert(row, why.clone());
        }
    }
    Ok(Values::each(null_where(array, &failures)?, failures))
}

/// A failed row is null, also where another value stood behind the failure.
fn null_where(array: ArrayRef, failures: &Failures) -> Result<ArrayRef> {
    if failures.is_empty() {
        return Ok(array);
    }
    let failed: BooleanArray = (0..array.len()).map(|row| Some(failures.contains_key(&row))).collect();
    arrow::compute::nullif(&array, &failed).map_err(|e| wrong(&e))
}

/// The rows of integers, for code that goes row by row.
pub(super) fn integers(values: &Values) -> &arrow::array::PrimitiveArray<Int64Type> {
    values.array.as_primitive()
}
