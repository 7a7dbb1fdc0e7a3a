//! Finds a job's fields in a file's schema: dotted paths through structs, leaf numbers, the types we know them by.
//!
//! Must not know rows, layouts or row groups. Leaves are numbered depth first, as Parquet numbers its columns.

use crate::schema::{FieldInfo, FieldPath, FieldType, Role, Step};
use arrow::array::{Array, ArrayRef, AsArray, Int64Array, ListArray, RecordBatch, make_array};
use arrow::buffer::NullBuffer;
use arrow::compute::{cast, take};
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// Where a field is in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Its leaves; several when it is an object or array.
    pub leaves: Range<usize>,
    /// Its type.
    pub ty: DataType,
}

/// Finds a field by its path. One that leads into an array needs all leaves of the array.
pub(super) fn find(schema: &Schema, path: &FieldPath) -> Option<Found> {
    let mut fields = schema.fields();
    let mut first = 0;
    let mut parts = path.parts().iter().peekable();
    loop {
        let part = parts.next()?;
        let at = fields.iter().position(|f| f.name() == part)?;
        first += fields[..at].iter().map(|f| leaf_count(f.data_type())).sum::<usize>();
        let ty = fields[at].data_type();
        match ty {
            _ if parts.peek().is_none() => {
                let leaves = first..first + leaf_count(ty);
                let plain = boxed_item(ty).map(DataType::List);
                let ty = path.inside().iter().try_fold(plain.as_ref().unwrap_or(ty), type_inside)?.clone();
                return Some(Found { leaves, ty });
            }
            DataType::Struct(inner) => fields = inner,
            _ => return None,
        }
    }
}

/// The type one step into an array or object.
fn type_inside<'a>(ty: &'a DataType, step: &Step) -> Option<&'a DataType> {
    match (step, ty) {
        (Step::Index(_), DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _)) => {
            Some(item.data_type())
        }
        (Step::Member(name), DataType::Struct(fields)) => fields.find(name).map(|(_, field)| field.data_type()),
        _ => None,
    }
}

/// The values one step into arrays or objects; null where there is none.
fn inside(array: &ArrayRef, step: &Step) -> Option<ArrayRef> {
    match step {
        Step::Member(name) => member(array, name),
        Step::Index(index) => {
            let lists = cast(array, &DataType::LargeList(Arc::clone(item(array.data_type())?))).ok()?;
            let lists = lists.as_list::<i64>();
            let at = |row: usize| {
                let from_end = if *index < 0 { lists.value_length(row) } else { 0 };
                let at = index + from_end;
                let there = lists.is_valid(row) && (0..lists.value_length(row)).contains(&at);
                there.then(|| lists.value_offsets()[row] + at)
            };
            let indices: Int64Array = (0..lists.len()).map(at).collect();
            take(lists.values(), &indices, None).ok()
        }
    }
}

/// A member of objects, with their nulls.
fn member(array: &ArrayRef, name: &str) -> Option<ArrayRef> {
    let object = array.as_struct_opt()?;
    let inner = Arc::clone(object.column_by_name(name)?);
    match object.nulls() {
        Some(outer) if outer.null_count() > 0 => with_outer_nulls(&inner, outer),
        _ => Some(inner),
    }
}

/// The values of a field in a batch that has it, with the nulls of the objects around it.
pub(super) fn column(batch: &RecordBatch, path: &FieldPath) -> Option<ArrayRef> {
    let mut parts = path.parts().iter();
    let mut array = Arc::clone(batch.column_by_name(parts.next()?)?);
    for part in parts {
        array = member(&array, part)?;
    }
    let array = unboxed(&array).unwrap_or(array);
    path.inside().iter().try_fold(array, |array, step| inside(&array, step))
}

/// The elements of a list as old writers store it: each in an object of its own, `element`, in a group called `array`.
/// By the letter of the format these are lists of objects; but nobody means them so, and other readers do not.
fn boxed_item(ty: &DataType) -> Option<FieldRef> {
    let DataType::List(item) = ty else { return None };
    match item.data_type() {
        DataType::Struct(fields) if item.name() == "array" => match &fields[..] {
            [only] if only.name() == "element" => Some(Arc::new(Field::clone(only).with_nullable(true))),
            _ => None,
        },
        _ => None,
    }
}

/// Such a list without the objects.
fn unboxed(array: &ArrayRef) -> Option<ArrayRef> {
    let item = boxed_item(array.data_type())?;
    let list = array.as_list::<i32>();
    let values = member(list.values(), item.name())?;
    let list = ListArray::try_new(item, list.offsets().clone(), values, list.nulls().cloned()).ok()?;
    Some(Arc::new(list))
}

fn with_outer_nulls(array: &ArrayRef, outer: &NullBuffer) -> Option<ArrayRef> {
    if matches!(array.data_type(), DataType::Null) {
        return Some(Arc::clone(array));
    }
    let nulls = NullBuffer::union(array.nulls(), Some(outer));
    array.to_data().into_builder().nulls(nulls).build().ok().map(make_array)
}

/// The type we know values of an Arrow type by; none for the type of nothing but nulls.
pub(super) fn field_type(ty: &DataType) -> Option<FieldType> {
    Some(match ty {
        DataType::Null => return None,
        DataType::UInt64 => FieldType::Decimal { precision: 38, scale: 0 },
        ty if ty.is_integer() => FieldType::Int,
        ty if ty.is_floating() => FieldType::Double,
        DataType::Boolean => FieldType::Bool,
        &DataType::Decimal32(precision, scale)
        | &DataType::Decimal64(precision, scale)
        | &DataType::Decimal128(precision, scale)
        | &DataType::Decimal256(precision @ ..=38, scale) => FieldType::Decimal { precision, scale },
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => FieldType::Time,
        DataType::Dictionary(_, value) => return field_type(value),
        _ => FieldType::Text,
    })
}

/// The type of a column that is there for `role`: what is only passed on keeps objects and arrays as JSON.
pub(super) fn type_for(role: Role, ty: &DataType) -> Option<FieldType> {
    if role == Role::Whole && ty.is_nested() { Some(FieldType::Json) } else { field_type(ty) }
}

/// The names of the fields at the top, of those with one name the first.
pub(super) fn names(schema: &Schema) -> Vec<String> {
    let mut seen = HashSet::new();
    schema.fields().iter().map(|field| field.name().clone()).filter(|name| seen.insert(name.clone())).collect()
}

/// Every field that a path leads to the end of, in the file's order; arrays and maps are one field each.
pub(super) fn all(schema: &Schema) -> Vec<FieldInfo> {
    let mut infos = Vec::new();
    list(schema.fields(), &mut Vec::new(), &mut infos);
    infos
}

fn list(fields: &Fields, above: &mut Vec<String>, infos: &mut Vec<FieldInfo>) {
    for field in fields {
        above.push(field.name().clone());
        match field.data_type() {
            DataType::Struct(inner) => list(inner, above, infos),
            ty => {
                let ty = field_type(ty);
                let looks_like_time = ty == Some(FieldType::Time);
                infos.push(FieldInfo { path: FieldPath::new(above.clone()), ty, looks_like_time, nested: false });
            }
        }
        above.pop();
    }
}

/// How many Parquet columns a field of this type is stored as.
pub(super) fn leaf_count(ty: &DataType) -> usize {
    match ty {
        DataType::Struct(fields) => fields.iter().map(|f| leaf_count(f.data_type())).sum(),
        other => item(other).map_or(1, |inner| leaf_count(inner.data_type())),
    }
}

fn item(ty: &DataType) -> Option<&FieldRef> {
    match ty {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => Some(item),
        _ => None,
    }
}

/// The schema with other types for some leaves: `change` is asked with each leaf's number and type.
pub(super) fn retype(schema: &Schema, change: &dyn Fn(usize, &DataType) -> Option<DataType>) -> Schema {
    let mut next = 0;
    Schema::new_with_metadata(retype_all(schema.fields(), &mut next, change), schema.metadata().clone())
}

type Change<'a> = &'a dyn Fn(usize, &DataType) -> Option<DataType>;

fn retype_all(fields: &Fields, next: &mut usize, change: Change<'_>) -> Fields {
    fields.iter().map(|field| retype_field(field, next, change)).collect()
}

fn retype_field(field: &FieldRef, next: &mut usize, change: Change<'_>) -> FieldRef {
    let mut inner = |field: &FieldRef| retype_field(field, next, change);
    let ty = match field.data_type() {
        DataType::Struct(fields) => DataType::Struct(retype_all(fields, next, change)),
        DataType::List(item) => DataType::List(inner(item)),
        DataType::LargeList(item) => DataType::LargeList(inner(item)),
        DataType::ListView(item) => DataType::ListView(inner(item)),
        DataType::LargeListView(item) => DataType::LargeListView(inner(item)),
        DataType::FixedSizeList(item, len) => DataType::FixedSizeList(inner(item), *len),
        DataType::Map(entries, sorted) => DataType::Map(inner(entries), *sorted),
        leaf => {
            let leaf = change(*next, leaf).unwrap_or_else(|| leaf.clone());
            *next += 1;
            leaf
        }
    };
    match &ty == field.data_type() {
        true => Arc::clone(field),
        false => Arc::new(Field::clone(field).with_data_type(ty)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Int64Array, StructArray};
    use arrow::datatypes::TimeUnit;

    fn schema() -> Schema {
        let stamp = DataType::Timestamp(TimeUnit::Nanosecond, None);
        let list = DataType::List(Arc::new(Field::new("item", stamp.clone(), true)));
        let inner = Fields::from(vec![Field::new("id", DataType::Int64, true), Field::new("l", list, true)]);
        Schema::new(vec![
            Field::new("a", DataType::Utf8, true),
            Field::new("actor", DataType::Struct(inner), true),
            Field::new("ts", stamp, true),
        ])
    }

    fn path(text: &str) -> FieldPath {
        FieldPath::parse(text).unwrap()
    }

    #[test]
    fn a_path_leads_through_objects_to_its_leaves() {
        let found = |text| find(&schema(), &path(text)).map(|f| f.leaves);
        assert_eq!(found("a"), Some(0..1));
        assert_eq!(found("actor"), Some(1..3));
        assert_eq!(found("actor.l"), Some(2..3));
        assert_eq!(found("ts"), Some(3..4));
        for absent in ["b", "a.b", "actor.x", "actor.l.item"] {
            assert_eq!(found(absent), None, "{absent}");
        }
    }

    #[test]
    fn every_field_is_listed_with_its_type() {
        let listed: Vec<_> = all(&schema()).into_iter().map(|f| (f.path.name(), f.ty, f.looks_like_time)).collect();
        let text = Some(FieldType::Text);
        assert_eq!(
            listed,
            [
                ("a".into(), text, false),
                ("actor.id".into(), Some(FieldType::Int), false),
                ("actor.l".into(), text, false),
                ("ts".into(), Some(FieldType::Time), true),
            ]
        );
    }

    #[test]
    fn a_leaf_is_retyped_wherever_it_is() {
        let new = retype(&schema(), &|leaf, _| (leaf == 2).then_some(DataType::Boolean));
        let item = find(&new, &path("actor.l")).and_then(|f| item(&f.ty).cloned());
        assert_eq!(item.map(|f| f.data_type().clone()), Some(DataType::Boolean));
        assert_eq!(new.field(2), schema().field(2));
    }

    #[test]
    fn the_elements_of_an_old_list_are_what_is_in_their_objects() {
        let values: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(3)]));
        let fields = Fields::from(vec![Field::new("element", DataType::Int64, true)]);
        let object: ArrayRef = Arc::new(StructArray::new(fields.clone(), vec![values], None));
        let list = |name: &str| {
            let item = Arc::new(Field::new(name, DataType::Struct(fields.clone()), false));
            let offsets = arrow::buffer::OffsetBuffer::new(vec![0, 2, 3].into());
            let list: ArrayRef = Arc::new(ListArray::new(item, offsets, Arc::clone(&object), None));
            RecordBatch::try_from_iter([("l", list)]).unwrap()
        };
        let path = |steps: Vec<Step>| FieldPath::new(vec!["l".into()]).into_array(steps);
        let (old, other) = (list("array"), list("item"));
        let first = column(&old, &path(vec![Step::Index(0)])).unwrap();
        assert_eq!(first.as_ref(), &Int64Array::from(vec![1, 3]));
        let found = find(&old.schema(), &path(vec![Step::Index(0)])).unwrap();
        assert_eq!((found.leaves, found.ty), (0..1, DataType::Int64));
        let whole = column(&old, &path(vec![])).unwrap();
        assert_eq!(Some(whole.data_type().clone()), find(&old.schema(), &path(vec![])).map(|f| f.ty.clone()));
        let object = [Step::Index(0), Step::Member("element".into())];
        assert_eq!(column(&other, &path(object.to_vec())).map(|c| c.len()), Some(2));
    }

    #[test]
    fn a_field_of_an_absent_object_is_null() {
        let ids: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), Some(2), None]));
        let fields = Fields::from(vec![Field::new("id", DataType::Int64, true)]);
        let object = StructArray::new(fields, vec![ids], Some(NullBuffer::from(vec![true, false, true])));
        let batch = RecordBatch::try_from_iter([("o", Arc::new(object) as ArrayRef)]).unwrap().slice(1, 2);
        let id = column(&batch, &path("o.id")).unwrap();
        assert_eq!((id.len(), id.null_count()), (2, 2));
    }
}
