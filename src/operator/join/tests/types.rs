//! Keys and fields of several types, and types that change on the way.

use super::*;
use arrow::array::{Decimal128Array, Float64Array};

fn setup(types: [FieldType; 2]) -> JoinSetup {
    let mut setup = Job::new("full", within(0, 5)).setup();
    for (side, ty) in setup.sides.iter_mut().zip(types) {
        side.types[1] = ty;
    }
    setup
}

/// One row per key, all at one time.
fn side(keys: ArrayRef) -> EventBatch {
    let rows = keys.len();
    let times = vec![0; rows];
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("t", Arc::new(TimestampMicrosecondArray::from(times.clone()).with_timezone("UTC"))),
        ("k", keys),
        ("n", Arc::new((0..rows as i64).collect::<Int64Array>())),
    ];
    EventBatch {
        rows: RecordBatch::try_from_iter(columns).unwrap(),
        times: Times::new(times.into()),
        marks: Marks::never(),
        last_mark: Watermark::NEVER,
        positions: Positions::Run(Position::new(0, 0)),
        selected: None,
    }
}

fn both(left: ArrayRef, right: ArrayRef) -> TwoSided {
    let runs = vec![(Left, left.len() as u32), (Right, right.len() as u32)];
    TwoSided { sides: [side(left), side(right)], runs }
}

fn ints(values: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

fn doubles(values: &[f64]) -> ArrayRef {
    Arc::new(Float64Array::from(values.to_vec()))
}

fn texts(values: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

#[test]
fn numbers_of_different_kinds_are_equal_by_value() {
    let mut join = Join::new(setup([FieldType::Int, FieldType::Double])).unwrap();
    let mut told = Told::default();
    join.on_batch(&both(ints(&[1, 2, 0]), doubles(&[2.0, 1.5, -0.0])), &mut told).unwrap();
    assert_eq!(told.lines, ["2 1 2.0 0", "0 2 -0.0 2"]);
    let decimal = FieldType::Decimal { precision: 10, scale: 2 };
    let mut join = Join::new(setup([FieldType::Int, decimal])).unwrap();
    let mut told = Told::default();
    let decimals = Decimal128Array::from(vec![150, 200]).with_precision_and_scale(10, 2).unwrap();
    join.on_batch(&both(ints(&[1, 2]), Arc::new(decimals)), &mut told).unwrap();
    assert_eq!(told.lines, ["2 1 2.00 1"]);
}

#[test]
fn types_that_are_never_equal_are_refused() {
    let error = |types| Join::new(setup(types)).err().unwrap().to_string();
    let text = error([FieldType::Text, FieldType::Int]);
    assert!(text.starts_with("--on: l.k is text, r.k is a bigint, which are never equal"), "{text}");
    assert!(text.contains("hint: CAST(l.k AS bigint) reads the text, CAST(r.k AS text) makes one"), "{text}");
    let text = error([FieldType::Int, FieldType::Text]);
    assert!(text.contains("hint: CAST(r.k AS bigint) reads the text, CAST(l.k AS text) makes one"), "{text}");
    assert!(error([FieldType::Bool, FieldType::Int]).contains("l.k is a boolean"));
    assert!(error([FieldType::Time, FieldType::Int]).contains("r.k is a bigint"));
}

#[test]
fn rows_that_wait_keep_their_partners_when_a_key_becomes_text() {
    let mut join = Join::new(setup([FieldType::Int, FieldType::Int])).unwrap();
    let mut told = Told::default();
    join.on_batch(&both(ints(&[7, 8, 9]), ints(&[])), &mut told).unwrap();
    join.retype(Right, &[FieldType::Time, FieldType::Text, FieldType::Int]).unwrap();
    join.on_batch(&both(ints(&[10]), texts(&["8", "x", "10"])), &mut told).unwrap();
    assert_eq!(told.lines, ["8 1 8 0", "10 0 10 2"]);
    join.retype(Left, &[FieldType::Time, FieldType::Text, FieldType::Int]).unwrap();
    join.on_batch(&both(texts(&["x"]), texts(&["7"])), &mut told).unwrap();
    assert_eq!(told.lines[2..], ["x 0 x 1", "7 0 7 0"]);
    let types: Vec<_> = join.schema().fields().iter().map(|field| field.data_type().clone()).collect();
    assert_eq!(types, [FieldType::Text, FieldType::Int, FieldType::Text, FieldType::Int].map(FieldType::arrow));
}

#[test]
fn a_key_that_widens_meets_what_waits_and_fields_follow() {
    let mut join = Join::new(setup([FieldType::Int, FieldType::Int])).unwrap();
    let mut told = Told::default();
    join.on_batch(&both(ints(&[7]), ints(&[5])), &mut told).unwrap();
    join.retype(Left, &[FieldType::Time, FieldType::Double, FieldType::Int]).unwrap();
    join.on_batch(&both(doubles(&[5.0, 5.5]), ints(&[7])), &mut told).unwrap();
    assert_eq!(told.lines, ["5.0 0 5 0", "7.0 0 7 0"]);
}

#[test]
fn several_keys_must_all_be_equal() {
    let mut setup = setup([FieldType::Int, FieldType::Int]);
    setup.on.push(equal("n", 2));
    let mut join = Join::new(setup).unwrap();
    let mut told = Told::default();
    join.on_batch(&both(ints(&[7, 7]), ints(&[8, 7])), &mut told).unwrap();
    assert_eq!(told.lines, ["7 1 7 1"]);
}

#[test]
fn dictionaries_are_kept_and_come_out_as_text() {
    let mut join = Join::new(setup([FieldType::Text, FieldType::Text])).unwrap();
    let mut told = Told::default();
    let few = ["a", "b", "a", "b", "a", "b"].into_iter().map(Some);
    let dictionary = |n: usize| -> ArrayRef { Arc::new(few.clone().take(n).collect::<DictionaryArray<Int32Type>>()) };
    join.on_batch(&both(dictionary(6), texts(&[])), &mut told).unwrap();
    join.on_batch(&both(texts(&["b"]), dictionary(2)), &mut told).unwrap();
    assert_eq!(told.lines, ["a 0 a 0", "a 2 a 0", "a 4 a 0", "b 1 b 1", "b 3 b 1", "b 5 b 1", "b 0 b 1"]);
    assert_eq!(told.rows, 7);
}
