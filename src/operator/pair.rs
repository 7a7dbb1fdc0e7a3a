//! Two rows side by side: what is asked of them beside their keys, and what is written of them.
//!
//! Must not know how the two found each other. One of them may be missing; its columns are then null.

use crate::error::{Error, Result};
use crate::event::Side;
use crate::expr::{Bound, Computed, Output, Scalar, Scope};
use crate::json::of_column;
use crate::schema::{FieldPath, FieldType};
use crate::time::Zone;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::buffer::BooleanBuffer;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use std::sync::Arc;

/// The columns in front where both rows lie in one window.
const BOUNDS: [&str; 2] = ["window_start", "window_end"];

/// A field of one side that a pair has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairField {
    /// Its path in the record.
    pub path: FieldPath,
    /// The output column that shows it as it is, if one does.
    pub shown: Option<String>,
}

/// What pairs are made of and what is written of them. Types are told by [`Pair::bind`].
#[derive(Clone)]
pub struct Pair {
    /// The fields of the left and of the right side, in the order of their columns.
    pub fields: [Vec<PairField>; 2],
    /// What must be true of a pair.
    pub condition: Option<Scalar>,
    /// What is written instead of the fields that are shown.
    pub select: Option<Vec<Output>>,
    /// Columns `window_start` and `window_end` come first.
    pub windows: bool,
    /// The zone of times in expressions.
    pub zone: Zone,
}

/// The same over columns of known types: those of the bounds, if there are windows, of the left, of the right.
pub struct BoundPair {
    condition: Option<Bound>,
    columns: Vec<Column>,
    schema: SchemaRef,
}

/// What an output column is made of.
enum Column {
    /// A field as it is.
    Field(usize, FieldType),
    /// Something computed.
    Computed(Bound),
}

impl Column {
    fn ty(&self) -> FieldType {
        match self {
            Column::Field(_, ty) => *ty,
            Column::Computed(bound) => bound.ty(),
        }
    }
}

impl Pair {
    /// Finds columns and types, given the types of both sides' fields.
    pub fn bind(&self, types: [&[FieldType]; 2]) -> Result<BoundPair> {
        let scope = Fields { pair: self, types };
        let condition = self.condition.as_ref().map(|condition| self.bind_condition(condition, &scope)).transpose()?;
        let outputs = self.outputs();
        let columns = outputs.iter().map(|output| self.bind_output(output, &scope));
        let columns = columns.collect::<Result<Vec<_>>>().map_err(|error| error.at("--select"))?;
        let named = outputs.iter().zip(&columns);
        let fields = named.map(|(output, column)| Field::new(&output.name, column.ty().arrow(), true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        Ok(BoundPair { condition, columns, schema })
    }

    fn bind_output(&self, output: &Output, scope: &Fields<'_>) -> Result<Column> {
        match output.expr.as_field() {
            Some(path) if scope.has(path) => scope.field(path).map(|(at, ty)| Column::Field(at, ty)),
            _ => output.expr.bind(scope, &self.zone).map(Column::Computed),
        }
    }

    fn bind_condition(&self, condition: &Scalar, scope: &Fields<'_>) -> Result<Bound> {
        let bound = condition.bind(scope, &self.zone).map_err(|error| error.at("--on"))?;
        match bound.ty() {
            FieldType::Bool => Ok(bound),
            ty => Err(Error::usage(format!("--on: expected a condition, found a {}", ty.name()))),
        }
    }

    /// All output columns in their order.
    fn outputs(&self) -> Vec<Output> {
        let bounds = BOUNDS.iter().filter(|_| self.windows).map(|name| field((*name).to_owned(), bound_path(name)));
        let rest = match &self.select {
            Some(select) => select.clone(),
            None => Side::BOTH.into_iter().flat_map(|side| self.shown(side)).collect(),
        };
        bounds.chain(rest).collect()
    }

    fn shown(&self, side: Side) -> Vec<Output> {
        let each = self.fields[side.index()].iter();
        each.filter_map(|f| Some(field(f.shown.clone()?, qualified(side, &f.path)))).collect()
    }

    /// How many columns stand before those of a side.
    fn before(&self, side: Side) -> usize {
        let bounds = if self.windows { BOUNDS.len() } else { 0 };
        match side {
            Side::Left => bounds,
            Side::Right => bounds + self.fields[0].len(),
        }
    }
}

impl BoundPair {
    /// The schema of what is written.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Whether pairs have to be asked before they are one.
    pub fn asks(&self) -> bool {
        self.condition.is_some()
    }

    /// The pairs for which the condition is true. `columns`: the bounds if there are windows, the left's, the right's.
    pub fn holds(&self, columns: &[ArrayRef], rows: usize) -> Result<BooleanBuffer> {
        let Some(condition) = &self.condition else { return Ok(BooleanBuffer::new_set(rows)) };
        let values = all_of(condition.evaluate(columns, rows)?).map_err(|error| error.at("--on"))?;
        let values = values.as_boolean();
        Ok(match values.nulls() {
            None => values.values().clone(),
            Some(nulls) => values.values() & nulls.inner(),
        })
    }

    /// What is written of pairs. `columns` as for [`BoundPair::holds`].
    pub fn rows(&self, columns: &[ArrayRef], rows: usize) -> Result<RecordBatch> {
        let each = self.columns.iter().zip(self.schema.fields());
        let each = each.map(|(column, field)| match column {
            Column::Field(at, _) => plain(&columns[*at], field.data_type()),
            Column::Computed(bound) => {
                let values = all_of(bound.evaluate(columns, rows)?).map_err(|error| error.at(field.name()))?;
                plain(&values, field.data_type())
            }
        });
        let all = each.collect::<Result<Vec<_>>>()?;
        RecordBatch::try_new(Arc::clone(&self.schema), all)
            .map_err(|e| Error::failed(format!("cannot put two rows side by side: {e}")))
    }
}

/// A column of the type that the schema says, whatever it was kept as.
pub(super) fn plain(values: &ArrayRef, ty: &DataType) -> Result<ArrayRef> {
    match ty {
        _ if values.data_type() == ty => Ok(Arc::clone(values)),
        DataType::LargeUtf8 => Ok(of_column(values)),
        _ => cast(values, ty).map_err(|e| Error::failed(format!("cannot put two rows side by side: {e}"))),
    }
}

/// Values of which none failed.
fn all_of(computed: Computed) -> Result<ArrayRef> {
    match computed.failures.into_iter().next() {
        None => Ok(computed.values),
        Some((_, why)) => Err(Error::failed(why)),
    }
}

fn field(name: String, path: FieldPath) -> Output {
    Output { expr: Scalar::field(path), name }
}

fn bound_path(name: &str) -> FieldPath {
    FieldPath::new(vec![name.to_owned()])
}

/// The name of a side in expressions.
fn letter(side: Side) -> &'static str {
    match side {
        Side::Left => "l",
        Side::Right => "r",
    }
}

/// A field as it is called in expressions over both sides.
fn qualified(side: Side, path: &FieldPath) -> FieldPath {
    let parts = std::iter::once(letter(side).to_owned()).chain(path.parts().iter().cloned()).collect();
    FieldPath::new(parts).into_array(path.inside().to_vec())
}

/// What names stand for: `l.x` and `r.x`; `x` alone where one side has it.
struct Fields<'a> {
    pair: &'a Pair,
    types: [&'a [FieldType]; 2],
}

impl Fields<'_> {
    /// Whether a name stands for one field; otherwise binding says where it stands and what is wrong.
    fn has(&self, path: &FieldPath) -> bool {
        self.field(path).is_ok()
    }

    fn on(&self, side: Side, path: &FieldPath) -> Option<(usize, FieldType)> {
        let at = self.pair.fields[side.index()].iter().position(|field| field.path == *path)?;
        Some((self.pair.before(side) + at, self.types[side.index()][at]))
    }
}

impl Scope for Fields<'_> {
    fn field(&self, path: &FieldPath) -> Result<(usize, FieldType)> {
        if self.pair.windows
            && path.inside().is_empty()
            && let [name] = path.parts()
            && let Some(at) = BOUNDS.iter().position(|bound| bound == name)
        {
            return Ok((at, FieldType::Time));
        }
        for side in Side::BOTH {
            if path.parts()[0] == letter(side) && path.parts().len() > 1 {
                let inner = FieldPath::new(path.parts()[1..].to_vec()).into_array(path.inside().to_vec());
                if let Some(found) = self.on(side, &inner) {
                    return Ok(found);
                }
            }
        }
        match (self.on(Side::Left, path), self.on(Side::Right, path)) {
            (Some(found), None) | (None, Some(found)) => Ok(found),
            (Some(_), Some(_)) => Err(Error::usage(format!("both sides have a field \"{path}\""))
                .hint(format!("l.{path} is the left one, r.{path} the right one"))),
            (None, None) => Err(Error::usage(format!("no field \"{path}\" on either side"))),
        }
    }

    fn aggregate(&self, _: usize) -> Result<(usize, FieldType)> {
        Err(Error::usage("an aggregate cannot stand here")
            .hint("windrow window computes aggregates of what this writes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::parse_scalar;
    use arrow::array::{Int64Array, StringArray};

    fn path(text: &str) -> FieldPath {
        FieldPath::parse(text).unwrap()
    }

    fn shown(text: &str, name: &str) -> PairField {
        PairField { path: path(text), shown: Some(name.to_owned()) }
    }

    /// Left: id, n; right: id (shown as right_id), n hidden.
    fn pair(condition: Option<&str>, select: Option<&[&str]>) -> Pair {
        let select = select.map(|all| {
            all.iter().map(|t| Output { expr: parse_scalar(t, "x").unwrap(), name: (*t).to_owned() }).collect()
        });
        Pair {
            fields: [
                vec![shown("id", "id"), shown("n", "n")],
                vec![shown("id", "right_id"), PairField { path: path("m.n"), shown: None }],
            ],
            condition: condition.map(|text| parse_scalar(text, "a condition").unwrap()),
            select,
            windows: false,
            zone: Zone::UTC,
        }
    }

    const TYPES: [&[FieldType]; 2] = [&[FieldType::Text, FieldType::Int], &[FieldType::Text, FieldType::Int]];

    fn columns() -> Vec<ArrayRef> {
        let text = |all: [Option<&str>; 2]| Arc::new(StringArray::from(all.to_vec())) as ArrayRef;
        let int = |all: [Option<i64>; 2]| Arc::new(Int64Array::from(all.to_vec())) as ArrayRef;
        vec![text([Some("a"), Some("b")]), int([Some(1), Some(2)]), text([Some("c"), None]), int([Some(3), None])]
    }

    #[test]
    fn shown_fields_come_left_then_right_unless_a_selection_says_otherwise() {
        let bound = pair(None, None).bind(TYPES).unwrap();
        let rows = bound.rows(&columns(), 2).unwrap();
        let names: Vec<_> = rows.schema().fields().iter().map(|f| f.name().clone()).collect();
        assert_eq!(names, ["id", "n", "right_id"]);
        let bound = pair(None, Some(&["l.n + r.m.n", "n"])).bind(TYPES).unwrap();
        let rows = bound.rows(&columns(), 2).unwrap();
        assert_eq!(rows.column(0).as_ref(), &Int64Array::from(vec![Some(4), None]) as &dyn Array);
    }

    #[test]
    fn a_condition_that_is_null_does_not_hold() {
        let bound = pair(Some("l.n < r.m.n"), None).bind(TYPES).unwrap();
        let holds = bound.holds(&columns(), 2).unwrap();
        assert_eq!((holds.value(0), holds.value(1)), (true, false));
    }

    #[test]
    fn names_that_both_sides_have_must_say_which() {
        let error = |select: &str| pair(None, Some(&[select])).bind(TYPES).err().unwrap().to_string();
        assert!(error("id").contains("both sides have a field \"id\""), "{}", error("id"));
        assert!(error("l.zzz").contains("no field \"l.zzz\""), "{}", error("l.zzz"));
        let error = pair(Some("l.n"), None).bind(TYPES).err().unwrap().to_string();
        assert!(error.contains("--on: expected a condition, found a bigint"), "{error}");
    }
}
