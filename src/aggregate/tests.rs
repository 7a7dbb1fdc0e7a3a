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
        FieldType::Json | FieldType::List(_) => panic!("no argument is JSON or a list"),
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

/// Argument columns and behind them times (with ties) and positions.
fn with_order(mut columns: Vec<ArrayRef>) -> Vec<ArrayRef> {
    let rows = columns[0].len() as i64;
    let times = Int64Array::from_iter_values((0..rows).map(|row| row * 7 % 5));
    columns.push(Arc::new(times));
    columns.push(Arc::new(UInt64Array::from_iter_values(0..rows as u64)));
    columns
}

fn args(values: ArrayRef) -> Vec<ArrayRef> {
    with_order(vec![values])
}

fn feed(state: &mut dyn Accumulator, slot: Slot, rows: &[u32], args: &[ArrayRef]) {
    state.update(&vec![slot; rows.len()], rows, args).unwrap();
}

fn opened(kind: &'static AggregateKind, ty: Option<FieldType>, distinct: bool) -> Box<dyn Accumulator> {
    Call { kind, types: ty.into_iter().collect(), constants: constants(kind), distinct }.opened()
}

fn constants(kind: &AggregateKind) -> Vec<Literal> {
    let given = kind.takes.iter().filter(|takes| takes.is_constant());
    let constant = |takes: &Takes| match takes {
        Takes::Share => Literal::Decimal { value: 7, scale: 1 },
        _ => Literal::Text("; ".into()),
    };
    given.map(constant).collect()
}

/// A function over columns of types.
struct Call {
    kind: &'static AggregateKind,
    types: Vec<FieldType>,
    constants: Vec<Literal>,
    distinct: bool,
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:?} {}", self.kind.name, self.types, self.distinct)
    }
}

impl Call {
    fn built(&self, types: &[FieldType]) -> Box<dyn Accumulator> {
        let arguments = Arguments { types, constants: &self.constants, distinct: self.distinct };
        let mut state = (self.kind.build)(arguments);
        [A, B, C].into_iter().for_each(|slot| state.open(slot));
        state
    }

    fn opened(&self) -> Box<dyn Accumulator> {
        self.built(&self.types)
    }

    /// Columns of these types from seeds; the second has other values, and nulls elsewhere.
    fn args_as(&self, types: &[FieldType], seeds: &[Option<i64>]) -> Vec<ArrayRef> {
        let types = if types.is_empty() { &[FieldType::Int] } else { types };
        let others: Vec<_> = seeds.iter().rev().map(|seed| seed.map(|seed| seed * 5 % 14)).collect();
        with_order(types.iter().zip([seeds, &others]).map(|(ty, seeds)| column(*ty, seeds)).collect())
    }

    fn args(&self, seeds: &[Option<i64>]) -> Vec<ArrayRef> {
        self.args_as(&self.types, seeds)
    }

    fn is_count(&self) -> bool {
        matches!(self.kind.name, "count" | "approx_distinct")
    }
}

/// Every function with every type it takes, and whether `DISTINCT`; of two arguments each is of every type.
fn every_call() -> impl Iterator<Item = Call> {
    let calls = |kind: &'static AggregateKind| {
        let columns = kind.takes.iter().filter(|takes| !takes.is_constant()).count();
        let mut lists: Vec<Vec<FieldType>> = if kind.rows { vec![vec![]] } else { vec![] };
        for ty in TYPES {
            match columns {
                1 => lists.push(vec![ty]),
                _ => lists.extend([vec![ty, FieldType::Int], vec![FieldType::Int, ty], vec![ty, ty]]),
            }
        }
        let fits = |types: &Vec<FieldType>| types.iter().enumerate().all(|(i, ty)| kind.check(i, "x", *ty).is_ok());
        let lists: Vec<_> = lists.into_iter().filter(fits).collect();
        lists.into_iter().flat_map(move |types| {
            [false, true]
                .into_iter()
                .filter(move |&distinct| !distinct || kind.distinct)
                .map(move |distinct| Call { kind, types: types.clone(), constants: constants(kind), distinct })
                .filter(|call| !call.distinct || !call.types.is_empty())
                .collect::<Vec<_>>()
        })
    };
    AGGREGATES.iter().copied().flat_map(calls)
}

/// Values as they are shown, so that NaN is itself.
fn shown(values: &ArrayRef) -> String {
    format!("{values:?}")
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
    let aliases = AGGREGATES.iter().flat_map(|kind| kind.aliases);
    assert!(aliases.clone().all(|alias| !names.contains(alias) && find(alias).is_some()));
    assert_eq!(aliases.collect::<std::collections::HashSet<_>>().len(), 11);
}

#[test]
fn percentiles_are_quantiles_with_a_share_in_their_name() {
    let named = |name: &str| find(name).map(|named| (named.kind.name, named.preset));
    assert_eq!(named("p95"), Some(("quantile_cont", vec![Literal::Double(0.95)])));
    assert_eq!(named("P50"), Some(("quantile_cont", vec![Literal::Double(0.5)])));
    assert!(["p49", "p100", "p5", "p", "p+5", "pp"].iter().all(|name| find(name).is_none()));
}

#[test]
fn results_have_the_type_that_output_tells() {
    for call in every_call() {
        let mut state = call.opened();
        assert_eq!(*state.values(&[A]).unwrap().data_type(), state.output().arrow(), "{call:?}");
        feed(&mut *state, A, &[0, 1, 2], &call.args(&[Some(1), None, Some(3)]));
        assert_eq!(*state.values(&[A]).unwrap().data_type(), state.output().arrow(), "{call:?}");
    }
}

#[test]
fn over_nothing_or_nulls_alone_all_are_null_and_counts_are_0() {
    for call in every_call().filter(|call| !call.types.is_empty()) {
        let mut state = call.opened();
        feed(&mut *state, A, &[0, 1], &call.args(&[None, None]));
        let values = state.values(&[A, B]).unwrap();
        match call.kind.name {
            _ if call.is_count() => assert_eq!(values.as_primitive::<Int64Type>().values(), &[0, 0]),
            "array_agg" => {
                let len = if call.distinct { 1 } else { 2 };
                assert_eq!((values.as_list::<i32>().value(0).null_count(), values.is_null(1)), (len, true));
            }
            _ => assert_eq!(values.null_count(), 2, "{call:?}"),
        }
    }
}

#[test]
fn an_opened_slot_remembers_nothing() {
    for call in every_call() {
        let mut state = call.opened();
        let rows = call.args(&[Some(3), Some(9), Some(10), Some(7)]);
        let fresh = state.values(&[A]).unwrap();
        feed(&mut *state, A, &[0, 1, 2, 3], &rows);
        assert_ne!(&state.values(&[A]).unwrap(), &fresh, "{call:?}");
        state.open(A);
        assert_eq!(&state.values(&[A]).unwrap(), &fresh, "{call:?}");
    }
}

#[test]
fn check_names_the_argument() {
    let check = |name: &str, ty| find(name).unwrap().kind.check(0, "page", ty);
    assert_eq!(check("sum", FieldType::Text), Err("sum needs a number, but \"page\" is text".into()));
    assert_eq!(check("avg", FieldType::Bool), Err("avg needs a number, but \"page\" is a boolean".into()));
    assert!(check("max", FieldType::Text).is_ok());
    assert_eq!(check("p95", FieldType::Text), {
        Err("quantile_cont needs a number or a time, but \"page\" is text".into())
    });
    assert_eq!(check("string_agg", FieldType::Time), Err("string_agg needs text, but \"page\" is a timestamp".into()));
    assert_eq!(check("bool_or", FieldType::Int), Err("bool_or needs true or false, but \"page\" is a bigint".into()));
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
    let texts = [Some("a"), None, Some("b"), Some("a")];
    let coded: ArrayRef = Arc::new(texts.into_iter().collect::<DictionaryArray<Int32Type>>());
    let plain: ArrayRef = Arc::new(StringArray::from(texts.to_vec()));
    for call in every_call().filter(|call| call.types.iter().all(|ty| *ty == FieldType::Text)) {
        let result = |column: &ArrayRef| {
            let mut state = call.opened();
            let columns = vec![Arc::clone(column); call.types.len().max(1)];
            feed(&mut *state, A, &[0, 1, 2, 3], &with_order(columns));
            state.values(&[A]).unwrap()
        };
        assert_eq!(&result(&coded), &result(&plain), "{call:?}");
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
    for call in every_call() {
        let mut state = call.opened();
        let before = state.bytes();
        assert!(before > 0, "{call:?}");
        let seeds: Vec<_> = (0..9_000).map(|seed| Some(seed * 1_000_001)).collect();
        let rows: Vec<u32> = (0..9_000).collect();
        feed(&mut *state, A, &rows, &call.args(&seeds));
        let outside = match call.kind.name {
            "min" | "max" | "first" | "last" | "any_value" | "min_by" | "max_by" | "bool_and" | "bool_or" => {
                call.types.contains(&FieldType::Text)
            }
            "median" | "quantile_cont" | "quantile_disc" | "array_agg" | "string_agg" | "mode" => true,
            "approx_quantile" | "approx_distinct" => true,
            _ => call.distinct,
        };
        assert_eq!(state.bytes() > before, outside, "{call:?}");
        state.open(A);
        assert_eq!(state.bytes(), before, "{call:?}");
    }
}

#[test]
fn what_is_saved_is_loaded() {
    let seeds: Vec<Option<i64>> = (0..40).map(|i| (i % 6 != 0).then_some(i * 11 % 17)).collect();
    let rows: Vec<u32> = (0..40).collect();
    for call in every_call() {
        let args = call.args(&seeds);
        let mut state = call.opened();
        feed(&mut *state, A, &rows[..25], &args);
        feed(&mut *state, C, &rows[25..26], &args);
        let saved = state.save(&[A, B, C]).unwrap();
        let mut loaded = call.opened();
        loaded.load(&[C, A, B], &saved).unwrap();
        let order = [[A, B, C], [C, A, B]];
        assert_eq!(shown(&state.values(&order[0]).unwrap()), shown(&loaded.values(&order[1]).unwrap()), "{call:?}");
        feed(&mut *state, B, &rows[20..], &args);
        feed(&mut *loaded, A, &rows[20..], &args);
        for (state, order) in [(&mut state, order[0]), (&mut loaded, order[1])] {
            state.merge(order[0], order[1]);
            state.merge(order[2], order[0]);
        }
        assert_eq!(shown(&state.values(&order[0]).unwrap()), shown(&loaded.values(&order[1]).unwrap()), "{call:?}");
        let again = loaded.save(&order[1]).unwrap();
        let mut third = call.opened();
        third.load(&order[0], &again).unwrap();
        assert_eq!(shown(&third.values(&order[0]).unwrap()), shown(&state.values(&order[0]).unwrap()), "{call:?}");
    }
}

#[test]
fn what_was_not_saved_is_an_error() {
    for call in every_call() {
        let mut state = call.opened();
        feed(&mut *state, A, &[0, 1], &call.args(&[Some(1), Some(7)]));
        let saved = state.save(&[A]).unwrap();
        assert!(state.load(&[A, B], &saved).is_err(), "{call:?}");
        assert!(state.load(&[A], &column(FieldType::Int, &[Some(1)])).is_err(), "{call:?}");
        let bytes = saved.as_binary::<i64>().value(0).to_vec();
        for bytes in [&bytes[..bytes.len() - 1], &[bytes.as_slice(), &[0]].concat(), &[]] {
            let damaged: ArrayRef = Arc::new(arrow::array::LargeBinaryArray::from(vec![bytes]));
            let mut state = call.opened();
            let error = state.load(&[A], &damaged).unwrap_err();
            assert_eq!(error.message(), "the saved state is damaged in row 0", "{call:?}");
            state.open(A);
        }
    }
}

/// Rows of small values with nulls.
fn seeds() -> impl Strategy<Value = Vec<Option<i64>>> {
    prop::collection::vec(prop::option::weighted(0.8, 0i64..14), 0..60)
}

fn to_doubles(integers: &ArrayRef) -> ArrayRef {
    Arc::new(integers.as_primitive::<Int64Type>().unary::<_, Float64Type>(|integer| integer as f64))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn order_and_split_never_matter(seeds in seeds(), cut in 0usize..60, salt in any::<u64>()) {
        let mut rows: Vec<u32> = (0..seeds.len() as u32).collect();
        for call in every_call() {
            let args = call.args(&seeds);
            let mut state = call.opened();
            rows.sort_unstable();
            feed(&mut *state, A, &rows, &args);
            rows.sort_by_key(|&row| u64::from(row).wrapping_mul(salt | 1).rotate_left(17));
            let (left, right) = rows.split_at(cut.min(rows.len()));
            feed(&mut *state, B, right, &args);
            feed(&mut *state, C, left, &args);
            let kept = shown(&state.values(&[C]).unwrap());
            state.merge(B, C);
            prop_assert_eq!(shown(&state.values(&[B]).unwrap()), shown(&state.values(&[A]).unwrap()), "{:?}", call);
            prop_assert_eq!(shown(&state.values(&[C]).unwrap()), kept, "{:?}", call);
        }
    }

    #[test]
    fn merging_three_is_the_same_from_either_end(seeds in seeds(), cuts in [0usize..60, 0usize..60]) {
        let rows: Vec<u32> = (0..seeds.len() as u32).collect();
        let mut cuts = cuts.map(|cut| cut.min(rows.len()));
        cuts.sort_unstable();
        let parts = [&rows[..cuts[0]], &rows[cuts[0]..cuts[1]], &rows[cuts[1]..]];
        for call in every_call() {
            let args = call.args(&seeds);
            let (mut left, mut right) = (call.opened(), call.opened());
            for (slot, part) in [A, B, C].into_iter().zip(parts) {
                feed(&mut *left, slot, part, &args);
                feed(&mut *right, slot, part, &args);
            }
            left.merge(A, B);
            left.merge(A, C);
            right.merge(C, B);
            right.merge(C, A);
            prop_assert_eq!(shown(&left.values(&[A]).unwrap()), shown(&right.values(&[C]).unwrap()), "{:?}", call);
        }
    }

    #[test]
    fn a_widened_state_is_that_of_the_wider_column(seeds in seeds(), cut in 0usize..60) {
        let rows: Vec<u32> = (0..seeds.len() as u32).collect();
        let (before, after) = rows.split_at(cut.min(rows.len()));
        let is_int = |call: &Call| !call.types.is_empty() && call.types.iter().all(|ty| *ty == FieldType::Int);
        for call in every_call().filter(is_int) {
            let wide = vec![FieldType::Double; call.types.len()];
            let integers = call.args(&seeds);
            let mut doubles = integers.clone();
            doubles[..wide.len()].iter_mut().for_each(|column| *column = to_doubles(column));
            let mut widened = call.opened();
            feed(&mut *widened, A, before, &integers);
            widened.widen(&wide).unwrap();
            feed(&mut *widened, A, after, &doubles);
            let mut whole = call.built(&wide);
            feed(&mut *whole, A, &rows, &doubles);
            prop_assert_eq!(shown(&widened.values(&[A]).unwrap()), shown(&whole.values(&[A]).unwrap()), "{:?}", call);
            prop_assert_eq!(widened.output(), whole.output());
        }
    }

    #[test]
    fn many_slots_in_one_batch_are_one_slot_each(seeds in seeds()) {
        let slots: Vec<Slot> = (0..seeds.len() as u32).map(|row| Slot(row % 3)).collect();
        let rows: Vec<u32> = (0..seeds.len() as u32).collect();
        for call in every_call() {
            let args = call.args(&seeds);
            let mut mixed = call.opened();
            mixed.update(&slots, &rows, &args).unwrap();
            let mut apart = call.opened();
            for slot in [A, B, C] {
                let own: Vec<u32> = rows.iter().copied().filter(|row| row % 3 == slot.0).collect();
                feed(&mut *apart, slot, &own, &args);
            }
            let order = [C, A, B];
            prop_assert_eq!(shown(&mixed.values(&order).unwrap()), shown(&apart.values(&order).unwrap()), "{:?}", call);
        }
    }

    #[test]
    fn damaged_states_never_panic(at in any::<prop::sample::Index>(), bit in 0u8..8, seeds in seeds()) {
        for call in every_call() {
            let args = call.args(&seeds);
            let rows: Vec<u32> = (0..seeds.len() as u32).collect();
            let mut state = call.opened();
            feed(&mut *state, A, &rows, &args);
            let mut bytes = state.save(&[A]).unwrap().as_binary::<i64>().value(0).to_vec();
            let place = at.index(bytes.len());
            bytes[place] ^= 1 << bit;
            let damaged: ArrayRef = Arc::new(arrow::array::LargeBinaryArray::from(vec![bytes.as_slice()]));
            let mut state = call.opened();
            if state.load(&[B], &damaged).is_err() {
                state.open(B);
            }
            feed(&mut *state, B, &rows, &args);
            state.merge(C, B);
            state.merge(B, C);
            drop(state.values(&[B, C]));
        }
    }
}
