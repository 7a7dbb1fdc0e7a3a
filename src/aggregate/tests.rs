//! Tests over the whole table: every function, every type it takes, against a plain model and against itself split.

use super::*;
use arrow::array::{
    Array, AsArray, BooleanArray, Decimal128Array, DictionaryArray, Float64Array, Int64Array, StringArray,
    TimestampMicrosecondArray, UInt64Array,
};
use arrow::datatypes::{Float64Type, Int32Type, Int64Type};
use proptest::prelude::*;
use std::sync::Arc;

const PRICE: FieldType = FieldType::Decimal { precision: 20, scale: 2 };
const TYPES: [FieldType; 6] =
    [FieldType::Int, FieldType::Double, FieldType::Bool, FieldType::Text, PRICE, FieldType::Time];
const A: Slot = Slot(0);
const B: Slot = Slot(1);
const C: Slot = Slot(2);

/// A column of a type from small integers: few different values, so that ties and repeats happen.
fn column(ty: FieldType, seeds: &[Option<i64>]) -> ArrayRef {
    let seeds = seeds.iter().copied();
    match ty {
        FieldType::Int => Arc::new(Int64Array::from_iter(seeds)),
        FieldType::Double => Arc::new(Float64Array::from_iter(seeds.map(|s| s.map(double)))),
        FieldType::Bool => Arc::new(BooleanArray::from_iter(seeds.map(|s| s.map(|s| s % 2 == 0)))),
        FieldType::Text => Arc::new(StringArray::from_iter(seeds.map(|s| s.map(|s| s.to_string())))),
        FieldType::Decimal { .. } => {
            let values = seeds.map(|s| s.map(i128::from));
            Arc::new(Decimal128Array::from_iter(values).with_data_type(ty.arrow()))
        }
        FieldType::Time => Arc::new(TimestampMicrosecondArray::from_iter(seeds).with_timezone("UTC")),
        FieldType::List(_) => panic!("no argument is a list"),
    }
}

fn double(seed: i64) -> f64 {
    match seed {
        7 => f64::NAN,
        8 => -0.0,
        9 => 1e300,
        10 => 1e-300,
        seed => seed as f64 / 10.0,
    }
}

/// All rows of a column with their times (with ties) and positions.
fn args(values: ArrayRef) -> Vec<ArrayRef> {
    let rows = values.len() as i64;
    let times = Int64Array::from_iter_values((0..rows).map(|row| row * 7 % 5));
    vec![values, Arc::new(times), Arc::new(UInt64Array::from_iter_values(0..rows as u64))]
}

fn feed(state: &mut dyn Accumulator, slot: Slot, rows: &[u32], args: &[ArrayRef]) {
    state.update(&vec![slot; rows.len()], rows, args).unwrap();
}

fn opened(kind: &AggregateKind, ty: Option<FieldType>, distinct: bool) -> Box<dyn Accumulator> {
    let mut state = (kind.build)(Arguments { types: ty.as_slice(), constants: &[], distinct });
    [A, B, C].into_iter().for_each(|slot| state.open(slot));
    state
}

/// Every function with every type it takes: its row of the table, the type, and whether `DISTINCT`.
fn every_call() -> impl Iterator<Item = (&'static AggregateKind, Option<FieldType>, bool)> {
    let types = || TYPES.into_iter().map(Some).chain([None]);
    AGGREGATES
        .iter()
        .flat_map(move |&kind| types().map(move |ty| (kind, ty)))
        .filter(|(kind, ty)| ty.map_or(kind.rows, |ty| kind.check(0, "x", ty).is_ok()))
        .flat_map(|(kind, ty)| [false, true].map(|distinct| (kind, ty, distinct)))
        .filter(|&(kind, ty, distinct)| !distinct || (kind.distinct && ty.is_some()))
}

fn result(call: &str, ty: FieldType, values: ArrayRef) -> ArrayRef {
    let (name, distinct) = call.strip_suffix(" distinct").map_or((call, false), |name| (name, true));
    let mut state = opened(find(name).unwrap().kind, Some(ty), distinct);
    let rows: Vec<u32> = (0..values.len() as u32).collect();
    feed(&mut *state, A, &rows, &args(values));
    state.values(&[A]).unwrap()
}

fn doubles(call: &str, values: &[f64]) -> f64 {
    let array = Arc::new(Float64Array::from(values.to_vec()));
    result(call, FieldType::Double, array).as_primitive::<Float64Type>().value(0)
}

#[test]
fn the_table_is_complete() {
    let mut names: Vec<_> = AGGREGATES.iter().map(|kind| kind.name).collect();
    for kind in AGGREGATES {
        assert_eq!(kind.name, kind.name.to_lowercase());
        assert!(!kind.doc.is_empty() && kind.usage.contains(kind.name), "{}", kind.name);
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), AGGREGATES.len());
    assert_eq!(find("SUM").map(|named| named.kind.name), Some("sum"));
    assert!(find("summ").is_none());
}

#[test]
fn results_have_the_type_that_output_tells() {
    for (kind, ty, distinct) in every_call() {
        let state = opened(kind, ty, distinct);
        assert_eq!(*state.values(&[A]).unwrap().data_type(), state.output().arrow(), "{} {ty:?}", kind.name);
    }
}

#[test]
fn over_nothing_or_nulls_alone_all_are_null_and_counts_are_0() {
    for (kind, ty, distinct) in every_call().filter(|(_, ty, _)| ty.is_some()) {
        let mut state = opened(kind, ty, distinct);
        feed(&mut *state, A, &[0, 1], &args(column(ty.unwrap(), &[None, None])));
        let values = state.values(&[A, B]).unwrap();
        match kind.name {
            "count" => assert_eq!(values.as_primitive::<Int64Type>().values(), &[0, 0]),
            name => assert_eq!(values.null_count(), 2, "{name} {ty:?}"),
        }
    }
}

#[test]
fn an_opened_slot_remembers_nothing() {
    for (kind, ty, distinct) in every_call() {
        let mut state = opened(kind, ty, distinct);
        let rows = args(column(ty.unwrap_or(FieldType::Int), &[Some(3), Some(9), Some(10), Some(7)]));
        let fresh = state.values(&[A]).unwrap();
        feed(&mut *state, A, &[0, 1, 2, 3], &rows);
        assert_ne!(&state.values(&[A]).unwrap(), &fresh, "{} {ty:?}", kind.name);
        state.open(A);
        assert_eq!(&state.values(&[A]).unwrap(), &fresh, "{} {ty:?}", kind.name);
    }
}

#[test]
fn check_names_the_argument() {
    let check = |name: &str, ty| find(name).unwrap().kind.check(0, "page", ty);
    assert_eq!(check("sum", FieldType::Text), Err("sum needs a number, but \"page\" is text".into()));
    assert_eq!(check("avg", FieldType::Bool), Err("avg needs a number, but \"page\" is a boolean".into()));
    assert!(check("max", FieldType::Text).is_ok());
}

#[test]
fn integer_sums_must_fit_in_the_end_only() {
    let mut state = opened(find("sum").unwrap().kind, Some(FieldType::Int), false);
    let rows = args(Arc::new(Int64Array::from(vec![i64::MAX, 1, -5])));
    feed(&mut *state, A, &[2], &rows);
    feed(&mut *state, B, &[0, 1], &rows);
    let error = state.values(&[A, B]).unwrap_err();
    assert_eq!((error.index, &*error.what), (1, "sum 9223372036854775808 does not fit a 64-bit integer"));
    feed(&mut *state, B, &[2], &rows);
    let sums = state.values(&[A, B]).unwrap();
    assert_eq!(sums.as_primitive::<Int64Type>().values(), &[-5, 9_223_372_036_854_775_803]);
}

#[test]
fn decimal_sums_have_38_digits() {
    let ty = FieldType::Decimal { precision: 38, scale: 2 };
    let most = 10i128.pow(38) - 1;
    let mut state = opened(find("sum").unwrap().kind, Some(ty), false);
    let rows = args(Arc::new(Decimal128Array::from(vec![most, 1, most]).with_data_type(ty.arrow())));
    feed(&mut *state, A, &[0, 1], &rows);
    feed(&mut *state, B, &[0, 2], &rows);
    let what = |slot| state.values(&[slot]).unwrap_err().what;
    assert_eq!(what(A), "sum 1000000000000000000000000000000000000.00 does not fit decimal(38,2)");
    assert_eq!(what(B), "sum of about 2e36 does not fit decimal(38,2)");
}

#[test]
fn nan_is_greatest_and_zeros_are_equal() {
    assert!(doubles("max", &[1.0, f64::NAN, f64::INFINITY]).is_nan());
    assert_eq!(doubles("min", &[f64::NAN, 2.0]), 2.0);
    for zeros in [[0.0, -0.0], [-0.0, 0.0]] {
        assert!(doubles("min", &zeros).is_sign_positive() && doubles("max", &zeros).is_sign_positive());
        let zeros = Arc::new(Float64Array::from(vec![zeros[0], zeros[1], f64::NAN, -f64::NAN]));
        let count = result("count distinct", FieldType::Double, zeros);
        assert_eq!(count.as_primitive::<Int64Type>().value(0), 2);
    }
}

#[test]
fn text_goes_by_bytes() {
    let texts = || Arc::new(StringArray::from(vec!["b", "B", "é", "10", "9"]));
    assert_eq!(result("min", FieldType::Text, texts()).as_string::<i32>().value(0), "10");
    assert_eq!(result("max", FieldType::Text, texts()).as_string::<i32>().value(0), "é");
}

#[test]
fn first_and_last_go_by_time_then_position_and_skip_nulls() {
    // Times 0 2 4 1 3 0: rows 0 and 5 share the earliest.
    let values = column(FieldType::Int, &[None, Some(1), None, Some(3), Some(4), Some(5)]);
    assert_eq!(result("first", FieldType::Int, values.clone()).as_primitive::<Int64Type>().value(0), 5);
    assert_eq!(result("last", FieldType::Int, values).as_primitive::<Int64Type>().value(0), 4);
}

#[test]
fn an_average_is_rounded_once() {
    assert_eq!(doubles("avg", &[0.7, 0.7, 0.7]), 0.7);
    assert_eq!(doubles("avg", &[f64::MAX, f64::MAX]), f64::MAX);
    let large = Arc::new(Int64Array::from(vec![i64::MAX, i64::MAX - 2]));
    assert_eq!(result("avg", FieldType::Int, large).as_primitive::<Float64Type>().value(0), 2f64.powi(63));
    let prices = column(PRICE, &[Some(10), Some(25), None]);
    assert_eq!(result("avg", PRICE, prices).as_primitive::<Float64Type>().value(0), 0.175);
}

/// A dictionary may say null in its list of values instead of at the row.
#[test]
fn a_null_among_the_values_of_a_dictionary_is_null() {
    let values: ArrayRef = Arc::new(StringArray::from(vec![None, Some("a")]));
    let coded = DictionaryArray::<Int32Type>::new(vec![1, 0, 1, 0, 0].into(), values);
    for (call, count) in [("count", 2), ("count distinct", 1)] {
        let counted = result(call, FieldType::Text, Arc::new(coded.clone()));
        assert_eq!(counted.as_primitive::<Int64Type>().value(0), count, "{call}");
    }
    let least = result("min", FieldType::Text, Arc::new(coded));
    assert_eq!(least.as_string::<i32>().value(0), "a");
}

#[test]
fn dictionary_text_is_text() {
    let coded: DictionaryArray<Int32Type> = [Some("a"), None, Some("b"), Some("a")].into_iter().collect();
    let plain: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("b"), Some("a")]));
    for (kind, ty, distinct) in every_call().filter(|(_, ty, _)| *ty == Some(FieldType::Text)) {
        let call = if distinct { "count distinct" } else { kind.name };
        let coded = result(call, ty.unwrap(), Arc::new(coded.clone()));
        assert_eq!(&coded, &result(call, FieldType::Text, plain.clone()), "{call}");
    }
}

#[test]
fn a_column_of_another_type_is_an_error() {
    let mut state = opened(find("sum").unwrap().kind, Some(FieldType::Int), false);
    let error = state.update(&[A], &[0], &args(column(FieldType::Text, &[Some(1)]))).unwrap_err();
    assert_eq!(error.message(), "an aggregate cannot read a column of type Utf8");
}

#[test]
fn a_sum_of_integers_that_becomes_double_stays_exact() {
    for (call, want) in [("sum", 1.0), ("avg", 0.5)] {
        let mut state = opened(find(call).unwrap().kind, Some(FieldType::Int), false);
        feed(&mut *state, A, &[0], &args(column(FieldType::Int, &[Some((1 << 53) + 1)])));
        state.widen(&[FieldType::Double]).unwrap();
        feed(&mut *state, A, &[0], &args(Arc::new(Float64Array::from(vec![-2f64.powi(53)]))));
        assert_eq!(state.values(&[A]).unwrap().as_primitive::<Float64Type>().value(0), want, "{call}");
    }
}

#[test]
fn extremes_of_numbers_cannot_become_text() {
    let mut state = opened(find("min").unwrap().kind, Some(FieldType::Int), false);
    state.widen(&[FieldType::Double]).unwrap();
    feed(&mut *state, A, &[0], &args(column(FieldType::Double, &[Some(1)])));
    let error = state.widen(&[FieldType::Text]).unwrap_err();
    assert_eq!(error.message(), "its field changed from double to text after values were taken in");
    state.open(A);
    state.widen(&[FieldType::Text]).unwrap();
    assert_eq!(state.output(), FieldType::Text);
}

#[test]
fn counts_firsts_and_truths_become_text() {
    for (call, ty, expected) in
        [("first", FieldType::Int, "3"), ("last", PRICE, "0.04"), ("max", FieldType::Bool, "true")]
    {
        let mut state = opened(find(call).unwrap().kind, Some(ty), false);
        feed(&mut *state, A, &[0, 1], &args(column(ty, &[Some(3), Some(4)])));
        state.widen(&[FieldType::Text]).unwrap();
        assert_eq!(state.values(&[A]).unwrap().as_string::<i32>().value(0), expected);
    }
    let mut state = opened(find("count").unwrap().kind, Some(FieldType::Int), true);
    feed(&mut *state, A, &[0, 1], &args(column(FieldType::Int, &[Some(3), Some(4)])));
    state.widen(&[FieldType::Text]).unwrap();
    feed(&mut *state, A, &[0, 1], &args(column(FieldType::Text, &[Some(3), Some(5)])));
    assert_eq!(state.values(&[A]).unwrap().as_primitive::<Int64Type>().value(0), 3);
}

#[test]
fn bytes_grow_with_what_is_held_and_shrink_when_slots_are_opened() {
    for (kind, ty, distinct) in every_call() {
        let mut state = opened(kind, ty, distinct);
        let before = state.bytes();
        assert!(before > 0, "{}", kind.name);
        let seeds: Vec<_> = (0..100).map(|seed| Some(seed * 1_000_000)).collect();
        let rows: Vec<u32> = (0..100).collect();
        feed(&mut *state, A, &rows, &args(column(ty.unwrap_or(FieldType::Int), &seeds)));
        let holds = distinct || matches!(kind.name, "min" | "max" | "first" | "last");
        let outside = holds && ty == Some(FieldType::Text) || distinct && ty != Some(FieldType::Bool);
        assert_eq!(state.bytes() > before, outside, "{} {ty:?}", kind.name);
        state.open(A);
        assert_eq!(state.bytes(), before, "{} {ty:?}", kind.name);
    }
}

/// Rows of small values with nulls.
fn seeds() -> impl Strategy<Value = Vec<Option<i64>>> {
    prop::collection::vec(prop::option::weighted(0.8, 0i64..14), 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn order_and_split_never_matter(seeds in seeds(), cut in 0usize..60, salt in any::<u64>()) {
        let mut rows: Vec<u32> = (0..seeds.len() as u32).collect();
        for (kind, ty, distinct) in every_call() {
            let args = args(column(ty.unwrap_or(FieldType::Int), &seeds));
            let mut state = opened(kind, ty, distinct);
            rows.sort_unstable();
            feed(&mut *state, A, &rows, &args);
            rows.sort_by_key(|&row| u64::from(row).wrapping_mul(salt | 1).rotate_left(17));
            let (left, right) = rows.split_at(cut.min(rows.len()));
            feed(&mut *state, B, right, &args);
            feed(&mut *state, C, left, &args);
            let kept = state.values(&[C]).unwrap();
            state.merge(B, C);
            prop_assert_eq!(format!("{:?}", state.values(&[B]).unwrap()), format!("{:?}", state.values(&[A]).unwrap()));
            prop_assert_eq!(&state.values(&[C]).unwrap(), &kept);
        }
    }

    #[test]
    fn a_widened_state_is_that_of_the_wider_column(seeds in seeds(), cut in 0usize..60) {
        let integers = args(column(FieldType::Int, &seeds));
        let cast = Float64Array::from_iter(seeds.iter().map(|seed| seed.map(|seed| seed as f64)));
        let doubles = args(Arc::new(cast));
        let rows: Vec<u32> = (0..seeds.len() as u32).collect();
        let (before, after) = rows.split_at(cut.min(rows.len()));
        for (kind, _, distinct) in every_call().filter(|(_, ty, _)| *ty == Some(FieldType::Int)) {
            let mut widened = opened(kind, Some(FieldType::Int), distinct);
            feed(&mut *widened, A, before, &integers);
            widened.widen(&[FieldType::Double]).unwrap();
            feed(&mut *widened, A, after, &doubles);
            let mut whole = opened(kind, Some(FieldType::Double), distinct);
            feed(&mut *whole, A, &rows, &doubles);
            prop_assert_eq!(&widened.values(&[A]).unwrap(), &whole.values(&[A]).unwrap());
            prop_assert_eq!(widened.output(), whole.output());
        }
    }

    #[test]
    fn many_slots_in_one_batch_are_one_slot_each(seeds in seeds()) {
        let slots: Vec<Slot> = (0..seeds.len() as u32).map(|row| Slot(row % 3)).collect();
        let rows: Vec<u32> = (0..seeds.len() as u32).collect();
        for (kind, ty, distinct) in every_call() {
            let args = args(column(ty.unwrap_or(FieldType::Int), &seeds));
            let mut mixed = opened(kind, ty, distinct);
            mixed.update(&slots, &rows, &args).unwrap();
            let mut apart = opened(kind, ty, distinct);
            for slot in [A, B, C] {
                let own: Vec<u32> = rows.iter().copied().filter(|row| row % 3 == slot.0).collect();
                feed(&mut *apart, slot, &own, &args);
            }
            let order = [C, A, B];
            let (mixed, apart) = (mixed.values(&order).unwrap(), apart.values(&order).unwrap());
            prop_assert_eq!(format!("{mixed:?}"), format!("{apart:?}"));
        }
    }
}
