//! What becomes of the rows of a window between the aggregates and the output: computed columns, which rows pass, in
//! what order, and how many.
//!
//! Three shapes of the same rows: *base* (bounds, keys, one column per aggregate call), *whole* (bounds, keys, output
//! columns, and behind them the calls again and the window's length, which conditions and orders may need), *shown*
//! (bounds, keys, output columns, `rank` where there is a top). Must not know how rows are grouped by time.

use crate::error::{Error, Result};
use crate::expr::{Bound, Computed, Order, Scalar, Scope, Selection};
use crate::keys::{self, Keys};
use crate::plan::FinishPlan;
use crate::schema::{FieldPath, FieldType};
use crate::time::{Ts, Zone, format_rfc3339};
use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, RecordBatch, UInt64Array};
use arrow::buffer::BooleanBuffer;
use arrow::compute::take;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimestampMicrosecondType};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// The columns in front of every row.
const BOUNDS: [&str; 2] = ["window_start", "window_end"];
/// The length of a row's window, for expressions.
const SECONDS: &str = "window_seconds";
/// The place of a row in its window, where only the first are shown.
pub(super) const RANK: &str = "rank";

/// A row that could not be computed, by its index, and why.
pub(super) type Failed = (usize, String);

/// What the parts of a query are called where they were typed: errors about them start with it.
#[derive(Clone, Copy, Debug)]
pub struct Called {
    /// The output columns.
    pub outputs: &'static str,
    /// Which rows are written.
    pub having: &'static str,
    /// What rows are ordered by.
    pub order: &'static str,
    /// What a trigger asks of a row.
    pub when: &'static str,
}

impl Default for Called {
    fn default() -> Self {
        Self { outputs: "output columns", having: "which rows are written", order: "the order", when: "the trigger" }
    }
}

/// What the rows of windows go through.
pub struct Finish {
    keys: Vec<String>,
    selection: Selection,
    plan: FinishPlan,
    when: Option<Scalar>,
    called: Called,
    zone: Zone,
    bound: Option<BoundFinish>,
}

/// All of it over columns of known types.
struct BoundFinish {
    /// Over base columns, the window's length, and the outputs before.
    outputs: Vec<Bound>,
    /// The rest is over whole columns.
    having: Option<Bound>,
    order: Vec<Bound>,
    when: Option<Bound>,
    whole: SchemaRef,
    shown: SchemaRef,
    /// The outputs are the calls, one by one.
    plain: bool,
}

impl Finish {
    /// For rows with keys of these names; `when`: what a trigger asks of a row. Types are told by [`Finish::bind`].
    pub fn new(keys: Vec<String>, selection: Selection, plan: FinishPlan, when: Option<Scalar>, zone: Zone) -> Self {
        Self { keys, selection, plan, when, called: Called::default(), zone, bound: None }
    }

    /// The same with other names for its parts.
    #[must_use]
    pub fn called(self, called: Called) -> Self {
        Self { called, ..self }
    }

    /// Checks what no types are needed for: names of columns, and what fails whatever the rows are.
    pub fn check(&self) -> Result<()> {
        let open = |count: usize| vec![FieldType::Text; count];
        let (keys, calls) = (open(self.keys.len()), open(self.selection.calls.len()));
        let mut names = Names { open: true, ..Names::base(&self.keys, &keys, &calls) };
        for output in &self.selection.outputs {
            output.expr.check(&names, &self.zone, None).map_err(|e| e.at(self.called.outputs))?;
            names.all.push((output.name.clone(), FieldType::Text));
        }
        let names = Names { open: true, ..self.whole_names(&keys, &open(self.selection.outputs.len()), &calls) };
        let conditions = [(&self.plan.having, self.called.having), (&self.when, self.called.when)];
        for (condition, called) in
            conditions.into_iter().filter_map(|(scalar, called)| Some((scalar.as_ref()?, called)))
        {
            condition.check(&names, &self.zone, Some(FieldType::Bool)).map_err(|e| e.at(called))?;
        }
        let order = |by: &Order| by.expr.check(&names, &self.zone, None).map_err(|e| e.at(self.called.order));
        self.plan.order.iter().try_for_each(order)
    }

    /// Finds columns and types: of the keys, and of the results of the calls. Again when they change.
    pub fn bind(&mut self, keys: &[FieldType], calls: &[FieldType]) -> Result<()> {
        let mut names = Names::base(&self.keys, keys, calls);
        let mut outputs = Vec::new();
        for output in &self.selection.outputs {
            let bound = output.expr.bind(&names, &self.zone).map_err(|e| e.at(self.called.outputs))?;
            names.all.push((output.name.clone(), bound.ty()));
            outputs.push(bound);
        }
        let first_call = BOUNDS.len() + self.keys.len();
        let plain = calls.len() == outputs.len()
            && outputs.iter().enumerate().all(|(i, output)| output.as_column() == Some(first_call + i));
        let output_types: Vec<FieldType> = outputs.iter().map(Bound::ty).collect();
        let names = self.whole_names(keys, &output_types, calls);
        let condition = |scalar: &Option<Scalar>, called: &'static str| {
            let bound = scalar.as_ref().map(|scalar| scalar.bind_condition(&names, &self.zone));
            bound.transpose().map_err(|e| e.at(called))
        };
        let criterion = |by: &Order| criterion(&by.expr, &names, &self.zone).map_err(|e| e.at(self.called.order));
        let bound = BoundFinish {
            having: condition(&self.plan.having, self.called.having)?,
            when: condition(&self.when, self.called.when)?,
            order: self.plan.order.iter().map(criterion).collect::<Result<_>>()?,
            outputs,
            whole: names.schema(names.all.len()),
            shown: self.shown_schema(&names),
            plain,
        };
        self.bound = Some(bound);
        Ok(())
    }

    fn whole_names(&self, keys: &[FieldType], outputs: &[FieldType], calls: &[FieldType]) -> Names {
        let mut names = Names::bounds_and_keys(&self.keys, keys);
        names.all.extend(self.selection.outputs.iter().map(|output| output.name.clone()).zip(outputs.iter().copied()));
        names.add_calls(calls);
        names
    }

    fn shown_schema(&self, whole: &Names) -> SchemaRef {
        let shown = whole.schema(self.shown_columns());
        match self.plan.top {
            None => shown,
            Some(_) => {
                let rank = Arc::new(Field::new(RANK, DataType::Int64, true));
                Arc::new(Schema::new(shown.fields().iter().cloned().chain([rank]).collect::<Vec<_>>()))
            }
        }
    }

    /// The types of whole columns.
    pub(super) fn whole_types(&self) -> SchemaRef {
        self.bound.as_ref().map_or_else(|| Arc::new(Schema::empty()), |bound| Arc::clone(&bound.whole))
    }

    /// How many of the whole columns are shown.
    fn shown_columns(&self) -> usize {
        BOUNDS.len() + self.keys.len() + self.selection.outputs.len()
    }

    /// The schema of shown rows.
    pub fn schema(&self) -> SchemaRef {
        self.bound.as_ref().map_or_else(|| Arc::new(Schema::empty()), |bound| Arc::clone(&bound.shown))
    }

    /// Whether every base row is shown as it is, so that nothing below needs to be asked.
    pub fn is_plain(&self) -> bool {
        let plain = self.bound.as_ref().is_some_and(|bound| bound.plain);
        plain && self.plan.having.is_none() && self.plan.order.is_empty() && self.plan.top.is_none()
    }

    /// How many rows of a ranking are shown; none: which rows of a window are shown does not depend on the others.
    pub(super) fn most(&self) -> Option<usize> {
        self.plan.top.as_ref().map(|top| top.rows)
    }

    /// Whole rows of base rows. A row that cannot be computed is told by its index.
    pub fn whole(&self, base: Vec<ArrayRef>) -> Result<RecordBatch, Failed> {
        let Some(bound) = &self.bound else { return Err((0, "its columns are not known".to_owned())) };
        let rows = base.first().map_or(0, |column| column.len());
        let (calls, mut columns) = (base[BOUNDS.len() + self.keys.len()..].to_vec(), base);
        let seconds = seconds(&columns);
        columns.push(Arc::clone(&seconds));
        let before = columns.len();
        for output in &bound.outputs {
            columns.push(values(output.evaluate(&columns, rows))?);
        }
        let outputs = columns.split_off(before);
        columns.truncate(BOUNDS.len() + self.keys.len());
        columns.extend(outputs.into_iter().chain(calls).chain([seconds]));
        RecordBatch::try_new(Arc::clone(&bound.whole), columns).map_err(|e| (0, e.to_string()))
    }

    /// The whole rows that `--having` is true for.
    pub fn passing(&self, whole: &RecordBatch) -> Result<BooleanBuffer, Failed> {
        holds(self.bound.as_ref().and_then(|bound| bound.having.as_ref()), whole)
    }

    /// The whole rows that the trigger's condition is true for.
    pub fn holds(&self, whole: &RecordBatch) -> Result<BooleanBuffer, Failed> {
        holds(self.bound.as_ref().and_then(|bound| bound.when.as_ref()), whole)
    }

    /// The passing rows of one window in their order, with their ranks. Rows must come ordered by key.
    pub fn ranked(&self, whole: &RecordBatch, passing: &BooleanBuffer) -> Result<Vec<(usize, i64)>, Failed> {
        self.ranked_each(whole, passing, std::slice::from_ref(&(0..whole.num_rows())))
    }

    /// The same for several windows, each of which has a range of the rows.
    pub(super) fn ranked_each(
        &self,
        whole: &RecordBatch,
        passing: &BooleanBuffer,
        windows: &[Range<usize>],
    ) -> Result<Vec<(usize, i64)>, Failed> {
        let order = self.criteria(whole)?;
        let mut all = Vec::with_capacity(whole.num_rows());
        for window in windows {
            let mut rows: Vec<usize> = window.clone().filter(|&row| passing.value(row)).collect();
            if !order.is_empty() {
                rows.sort_by(|&a, &b| order.iter().map(|by| by.compare(a, b)).find(|o| o.is_ne()).unwrap_or(a.cmp(&b)));
            }
            self.rank(whole, &rows, &mut all);
        }
        Ok(all)
    }

    /// What each row is ranked by, as bytes that order as the rows of a window do. They end with the key, so that no two
    /// are equal.
    pub(super) fn orders(&self, whole: &RecordBatch) -> Result<Vec<Vec<u8>>, Failed> {
        let mut orders = vec![Vec::new(); whole.num_rows()];
        if let Some(bound) = &self.bound {
            for (expr, order) in bound.order.iter().zip(&self.plan.order) {
                let values = values(expr.evaluate(whole.columns(), whole.num_rows()))?;
                keys::push_ordered(&values, order.descending, order.nulls_first, &mut orders);
            }
        }
        let keys = Keys::encode(&whole.columns()[BOUNDS.len()..][..self.keys.len()], whole.num_rows());
        let each = orders.iter_mut().enumerate();
        each.for_each(|(row, order)| order.extend_from_slice(keys.key(keys.index(row))));
        Ok(orders)
    }

    /// Which of its window's rankings each row is in.
    pub(super) fn rankings(&self, whole: &RecordBatch) -> Keys {
        let by = self.plan.top.iter().flat_map(|top| &top.by);
        let columns: Vec<ArrayRef> = by.map(|&key| Arc::clone(whole.column(BOUNDS.len() + key))).collect();
        Keys::encode(&columns, whole.num_rows())
    }

    /// The output columns of whole rows.
    pub(super) fn outputs<'a>(&self, whole: &'a RecordBatch) -> &'a [ArrayRef] {
        &whole.columns()[BOUNDS.len() + self.keys.len()..self.shown_columns()]
    }

    fn criteria(&self, whole: &RecordBatch) -> Result<Vec<Criterion>, Failed> {
        let Some(bound) = &self.bound else { return Ok(Vec::new()) };
        let each = bound.order.iter().zip(&self.plan.order);
        each.map(|(expr, order)| {
            let values = values(expr.evaluate(whole.columns(), whole.num_rows()))?;
            let keys = Keys::encode(std::slice::from_ref(&values), whole.num_rows());
            Ok(Criterion { values, keys, descending: order.descending, nulls_first: order.nulls_first })
        })
        .collect()
    }

    /// Numbers ordered rows, and keeps the first of each ranking.
    fn rank(&self, whole: &RecordBatch, rows: &[usize], all: &mut Vec<(usize, i64)>) {
        let Some(top) = &self.plan.top else {
            all.extend(rows.iter().zip(1..).map(|(&row, rank)| (row, rank)));
            return;
        };
        let most = i64::try_from(top.rows).unwrap_or(i64::MAX);
        if top.by.is_empty() {
            all.extend(rows.iter().zip(1..=most).map(|(&row, rank)| (row, rank)));
            return;
        }
        let keys = self.rankings(whole);
        let mut ranks: HashMap<&[u8], i64> = HashMap::new();
        for &row in rows {
            let rank = ranks.entry(keys.key(keys.index(row))).or_default();
            *rank += 1;
            if *rank <= most {
                all.push((row, *rank));
            }
        }
    }

    /// The error about a row (base, whole or shown), which names window and key.
    pub(super) fn failed(&self, rows: &[ArrayRef], row: usize, what: &str) -> Error {
        let instant = |column: &ArrayRef| match column.is_null(row) {
            true => String::new(),
            false => instant(column.as_primitive::<TimestampMicrosecondType>().value(row)),
        };
        let [start, end] = [0, 1].map(|bound| rows.get(bound).map(instant).unwrap_or_default());
        let window = if start.is_empty() { String::new() } else { format!("window {start} to {end}") };
        let keys: Vec<ArrayRef> =
            rows.iter().skip(BOUNDS.len()).take(self.keys.len()).map(|c| c.slice(row, 1)).collect();
        let types: Vec<FieldType> = keys.iter().map(|column| FieldType::of(column.data_type())).collect();
        let encoded = Keys::encode(&keys, 1);
        let key = match keys.is_empty() {
            true => String::new(),
            false => format!("key {}", keys::show(encoded.key(encoded.index(0)), &types)),
        };
        let place = [window, key].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
        if place.is_empty() { Error::failed(what) } else { Error::failed(what).at(place) }
    }

    /// Shown rows: these whole rows with these ranks (which are shown only where there is a top).
    pub fn shown(&self, whole: &RecordBatch, rows: &[(usize, i64)]) -> Result<RecordBatch> {
        let together = |e| Error::failed(format!("cannot put result columns together: {e}"));
        let as_they_come = rows.len() == whole.num_rows() && rows.iter().enumerate().all(|(i, (row, _))| i == *row);
        let shown = &whole.columns()[..self.shown_columns()];
        let mut columns: Vec<ArrayRef> = match as_they_come {
            true => shown.to_vec(),
            false => {
                let indices = UInt64Array::from_iter_values(rows.iter().map(|(row, _)| *row as u64));
                shown.iter().map(|column| take(column, &indices, None)).collect::<Result<_, _>>().map_err(together)?
            }
        };
        if self.plan.top.is_some() {
            columns.push(Arc::new(Int64Array::from_iter_values(rows.iter().map(|(_, rank)| *rank))));
        }
        RecordBatch::try_new(self.schema(), columns).map_err(together)
    }
}

/// What rows are ordered by.
fn criterion(scalar: &Scalar, names: &Names, zone: &Zone) -> Result<Bound> {
    let bound = scalar.bind(names, zone)?;
    match bound.ty() {
        FieldType::List(_) => Err(Error::usage(format!("rows cannot be ordered by a list: {}", scalar.shown()))),
        _ => Ok(bound),
    }
}

fn values(computed: Result<Computed>) -> Result<ArrayRef, Failed> {
    let Computed { values, failures } = computed.map_err(|e| (0, e.message().to_owned()))?;
    match failures.into_iter().next() {
        Some(failed) => Err(failed),
        None => Ok(values),
    }
}

/// The rows a condition is true for; all, without one.
fn holds(condition: Option<&Bound>, whole: &RecordBatch) -> Result<BooleanBuffer, Failed> {
    let Some(condition) = condition else { return Ok(BooleanBuffer::new_set(whole.num_rows())) };
    let values = values(condition.evaluate(whole.columns(), whole.num_rows()))?;
    let values = values.as_boolean();
    Ok(match values.nulls() {
        None => values.values().clone(),
        Some(nulls) => values.values() & nulls.inner(),
    })
}

fn instant(micros: i64) -> String {
    let mut text = Vec::new();
    format_rfc3339(Ts::from_micros(micros), &Zone::UTC, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// The length of each row's window; null for one without bounds.
fn seconds(columns: &[ArrayRef]) -> ArrayRef {
    let bound = |i: usize| columns[i].as_primitive::<TimestampMicrosecondType>();
    let each = bound(0).iter().zip(bound(1).iter());
    Arc::new(each.map(|(start, end)| Some((end?.saturating_sub(start?)) as f64 / 1e6)).collect::<Float64Array>())
}

/// One criterion's values, in a form that is compared quickly.
struct Criterion {
    values: ArrayRef,
    keys: Keys,
    descending: bool,
    nulls_first: bool,
}

impl Criterion {
    fn compare(&self, a: usize, b: usize) -> Ordering {
        match (self.values.is_null(a), self.values.is_null(b)) {
            (true, true) => return Ordering::Equal,
            (true, false) => return if self.nulls_first { Ordering::Less } else { Ordering::Greater },
            (false, true) => return if self.nulls_first { Ordering::Greater } else { Ordering::Less },
            (false, false) => {}
        }
        let key = |row| self.keys.key(self.keys.index(row));
        let order = key(a).cmp(key(b));
        if self.descending { order.reverse() } else { order }
    }
}

/// What columns are called, in their order, and where the calls' results are.
struct Names {
    all: Vec<(String, FieldType)>,
    first_call: usize,
    calls: Vec<FieldType>,
    /// Types are still to be told, but for the bounds.
    open: bool,
}

impl Names {
    fn bounds_and_keys(keys: &[String], types: &[FieldType]) -> Self {
        let bounds = BOUNDS.map(|name| (name.to_owned(), FieldType::Time));
        let keys = keys.iter().cloned().zip(types.iter().copied());
        Self { all: bounds.into_iter().chain(keys).collect(), first_call: 0, calls: Vec::new(), open: false }
    }

    /// The columns of base rows and the window's length.
    fn base(keys: &[String], types: &[FieldType], calls: &[FieldType]) -> Self {
        let mut names = Self::bounds_and_keys(keys, types);
        names.add_calls(calls);
        names
    }

    /// Results of calls have no names.
    fn add_calls(&mut self, calls: &[FieldType]) {
        self.first_call = self.all.len();
        self.calls = calls.to_vec();
        self.all.extend(calls.iter().map(|ty| (String::new(), *ty)));
        self.all.push((SECONDS.to_owned(), FieldType::Double));
    }

    fn schema(&self, columns: usize) -> SchemaRef {
        let fields = self.all[..columns].iter().map(|(name, ty)| Field::new(name, ty.arrow(), true));
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    }

    fn unknown(&self, name: &str) -> Error {
        let error = Error::usage(format!("there is no column \"{name}\" in the result"));
        let names = || self.all.iter().map(|(name, _)| name.as_str()).filter(|name| !name.is_empty());
        let near = names().map(|known| (strsim::damerau_levenshtein(known, name), known)).min();
        match near.filter(|(distance, known)| *distance <= (known.len() / 2).clamp(1, 2)) {
            Some((_, known)) => error.hint(format!("did you mean {known}?")),
            None => error.hint(format!("a field of the records stands inside an aggregate: max({name})")),
        }
    }
}

impl Scope for Names {
    fn field(&self, path: &FieldPath) -> Result<(usize, FieldType)> {
        let name = path.name();
        // An output may be called like the window's length: it is nearer.
        let found = self.all.iter().rposition(|(known, _)| *known == name && !known.is_empty());
        found.map(|at| (at, self.all[at].1)).ok_or_else(|| self.unknown(&name))
    }

    fn aggregate(&self, call: usize) -> Result<(usize, FieldType)> {
        let missing = || Error::failed(format!("there is no aggregate call {call}"));
        Ok((self.first_call + call, *self.calls.get(call).ok_or_else(missing)?))
    }

    fn is_open(&self, column: usize) -> bool {
        self.open && column >= BOUNDS.len()
    }
}
