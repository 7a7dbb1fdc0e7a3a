//! Results as DuckDB 2.0.1 gives them, call by call: `(call and constants, type, values, result)`.
//!
//! Rows come in the order shown. Left out is where ours differ on purpose: `mode` of values that are equally frequent
//! is the smallest, deviations do not overflow, nor do large integers lose theirs. A variance may differ in the last digits, as DuckDB rounds at every row.

use super::*;
use arrow::array::{Array, StringArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use std::sync::Arc;

#[rustfmt::skip]
const FACTS: &[(&str, &str, &str, &str)] = &[
    ("stddev", "double", "7.5", "null"),
    ("stddev_pop", "double", "7.5", "0.0"),
    ("variance", "double", "7.5", "null"),
    ("var_pop", "double", "7.5", "0.0"),
    ("median", "double", "7.5", "7.5"),
    ("quantile_cont 0.29", "double", "7.5", "7.5"),
    ("quantile_cont 0.95", "double", "7.5", "7.5"),
    ("quantile_disc 0.29", "double", "7.5", "7.5"),
    ("quantile_disc 0.95", "double", "7.5", "7.5"),
    ("stddev", "double", "1.5 -2.25", "2.6516504294495533"),
    ("stddev_pop", "double", "1.5 -2.25", "1.875"),
    ("variance", "double", "1.5 -2.25", "7.03125"),
    ("var_pop", "double", "1.5 -2.25", "3.515625"),
    ("median", "double", "1.5 -2.25", "-0.375"),
    ("quantile_cont 0.29", "double", "1.5 -2.25", "-1.1625"),
    ("quantile_cont 0.95", "double", "1.5 -2.25", "1.3124999999999998"),
    ("quantile_disc 0.29", "double", "1.5 -2.25", "-2.25"),
    ("quantile_disc 0.95", "double", "1.5 -2.25", "1.5"),
    ("stddev", "double", "0.1 0.2 0.3", "0.09999999999999998"),
    ("stddev_pop", "double", "0.1 0.2 0.3", "0.08164965809277258"),
    ("variance", "double", "0.1 0.2 0.3", "0.009999999999999995"),
    ("var_pop", "double", "0.1 0.2 0.3", "0.006666666666666664"),
    ("median", "double", "0.1 0.2 0.3", "0.2"),
    ("quantile_cont 0.29", "double", "0.1 0.2 0.3", "0.158"),
    ("quantile_cont 0.95", "double", "0.1 0.2 0.3", "0.29"),
    ("quantile_disc 0.29", "double", "0.1 0.2 0.3", "0.1"),
    ("quantile_disc 0.95", "double", "0.1 0.2 0.3", "0.3"),
    ("median", "double", "1e308 1e308 -1e308", "1e+308"),
    ("quantile_cont 0.29", "double", "1e308 1e308 -1e308", "1.5999999999999995e+307"),
    ("quantile_cont 0.95", "double", "1e308 1e308 -1e308", "1e+308"),
    ("quantile_disc 0.29", "double", "1e308 1e308 -1e308", "-1e+308"),
    ("quantile_disc 0.95", "double", "1e308 1e308 -1e308", "1e+308"),
    ("stddev", "double", "1 inf 2", "-nan"),
    ("stddev_pop", "double", "1 inf 2", "-nan"),
    ("variance", "double", "1 inf 2", "-nan"),
    ("var_pop", "double", "1 inf 2", "-nan"),
    ("median", "double", "1 inf 2", "2.0"),
    ("quantile_cont 0.29", "double", "1 inf 2", "1.58"),
    ("quantile_cont 0.95", "double", "1 inf 2", "inf"),
    ("quantile_disc 0.29", "double", "1 inf 2", "1.0"),
    ("quantile_disc 0.95", "double", "1 inf 2", "inf"),
    ("stddev", "double", "1 nan 2", "nan"),
    ("stddev_pop", "double", "1 nan 2", "nan"),
    ("variance", "double", "1 nan 2", "nan"),
    ("var_pop", "double", "1 nan 2", "nan"),
    ("median", "double", "1 nan 2", "2.0"),
    ("quantile_cont 0.29", "double", "1 nan 2", "1.58"),
    ("quantile_cont 0.95", "double", "1 nan 2", "nan"),
    ("quantile_disc 0.29", "double", "1 nan 2", "1.0"),
    ("quantile_disc 0.95", "double", "1 nan 2", "nan"),
    ("stddev", "double", "-inf 3 inf", "-nan"),
    ("stddev_pop", "double", "-inf 3 inf", "-nan"),
    ("variance", "double", "-inf 3 inf", "-nan"),
    ("var_pop", "double", "-inf 3 inf", "-nan"),
    ("median", "double", "-inf 3 inf", "3.0"),
    ("quantile_cont 0.29", "double", "-inf 3 inf", "-inf"),
    ("quantile_cont 0.95", "double", "-inf 3 inf", "inf"),
    ("quantile_disc 0.29", "double", "-inf 3 inf", "-inf"),
    ("quantile_disc 0.95", "double", "-inf 3 inf", "inf"),
    ("stddev", "double", "5 null 5 null 9", "2.3094010767585034"),
    ("stddev_pop", "double", "5 null 5 null 9", "1.8856180831641267"),
    ("variance", "double", "5 null 5 null 9", "5.333333333333334"),
    ("var_pop", "double", "5 null 5 null 9", "3.555555555555556"),
    ("median", "double", "5 null 5 null 9", "5.0"),
    ("quantile_cont 0.29", "double", "5 null 5 null 9", "5.0"),
    ("quantile_cont 0.95", "double", "5 null 5 null 9", "8.6"),
    ("quantile_disc 0.29", "double", "5 null 5 null 9", "5.0"),
    ("quantile_disc 0.95", "double", "5 null 5 null 9", "9.0"),
    ("stddev", "double", "256.0 334.0 -20.32 3.543 -36.201", "174.03264201953607"),
    ("stddev_pop", "double", "256.0 334.0 -20.32 3.543 -36.201", "155.65952714382757"),
    ("variance", "double", "256.0 334.0 -20.32 3.543 -36.201", "30287.360488299993"),
    ("var_pop", "double", "256.0 334.0 -20.32 3.543 -36.201", "24229.888390639993"),
    ("median", "double", "256.0 334.0 -20.32 3.543 -36.201", "3.543"),
    ("quantile_cont 0.29", "double", "256.0 334.0 -20.32 3.543 -36.201", "-16.501920000000002"),
    ("quantile_cont 0.95", "double", "256.0 334.0 -20.32 3.543 -36.201", "318.4"),
    ("quantile_disc 0.29", "double", "256.0 334.0 -20.32 3.543 -36.201", "-20.32"),
    ("quantile_disc 0.95", "double", "256.0 334.0 -20.32 3.543 -36.201", "334.0"),
    ("stddev", "double", "136.0 377.0 164.729 366.971 36.0 593.689 942.48 544.0", "295.56457670215656"),
    ("stddev_pop", "double", "136.0 377.0 164.729 366.971 36.0 593.689 942.48 544.0", "276.47534542158434"),
    ("variance", "double", "136.0 377.0 164.729 366.971 36.0 593.689 942.48 544.0", "87358.41900112499"),
    ("var_pop", "double", "136.0 377.0 164.729 366.971 36.0 593.689 942.48 544.0", "76438.61662598436"),
    ("median", "double", "136.0 377.0 164.729 366.971 36.0 593.689 942.48 544.0", "371.9855"),
    ("quantile_cont 0.29", "double", "136.0 377.0 164.729 366.971 36.0 593.689 942.48 544.0", "170.79625999999996"),
    ("quantile_cont 0.95", "double", "136.0 377.0 164.729 366.971 36.0 593.689 942.48 544.0", "820.4031499999999"),
    ("quantile_disc 0.29", "double", "136.0 377.0 164.729 366.971 36.0 593.689 942.48 544.0", "164.729"),
    ("quantile_disc 0.95", "double", "136.0 377.0 164.729 366.971 36.0 593.689 942.48 544.0", "942.48"),
    ("stddev", "int", "4", "null"),
    ("var_pop", "int", "4", "0.0"),
    ("median", "int", "4", "4.0"),
    ("quantile_cont 0.95", "int", "4", "4.0"),
    ("quantile_disc 0.5", "int", "4", "4"),
    ("quantile 0.95", "int", "4", "4"),
    ("mode", "int", "4", "4"),
    ("sum distinct", "int", "4", "4"),
    ("avg distinct", "int", "4", "4.0"),
    ("stddev distinct", "int", "4", "null"),
    ("median distinct", "int", "4", "4.0"),
    ("min distinct", "int", "4", "4"),
    ("string_agg '; '", "int", "4", "4"),
    ("string_agg", "int", "4", "4"),
    ("stddev", "int", "1 2", "0.7071067811865476"),
    ("var_pop", "int", "1 2", "0.25"),
    ("median", "int", "1 2", "1.5"),
    ("quantile_cont 0.95", "int", "1 2", "1.95"),
    ("quantile_disc 0.5", "int", "1 2", "1"),
    ("quantile 0.95", "int", "1 2", "2"),
    ("sum distinct", "int", "1 2", "3"),
    ("avg distinct", "int", "1 2", "1.5"),
    ("stddev distinct", "int", "1 2", "0.7071067811865476"),
    ("median distinct", "int", "1 2", "1.5"),
    ("min distinct", "int", "1 2", "1"),
    ("string_agg '; '", "int", "1 2", "1; 2"),
    ("string_agg", "int", "1 2", "1,2"),
    ("stddev", "int", "3 1 2 null 3", "0.9574271077563381"),
    ("var_pop", "int", "3 1 2 null 3", "0.6875"),
    ("median", "int", "3 1 2 null 3", "2.5"),
    ("quantile_cont 0.95", "int", "3 1 2 null 3", "3.0"),
    ("quantile_disc 0.5", "int", "3 1 2 null 3", "2"),
    ("quantile 0.95", "int", "3 1 2 null 3", "3"),
    ("mode", "int", "3 1 2 null 3", "3"),
    ("sum distinct", "int", "3 1 2 null 3", "6"),
    ("avg distinct", "int", "3 1 2 null 3", "2.0"),
    ("stddev distinct", "int", "3 1 2 null 3", "1.0"),
    ("median distinct", "int", "3 1 2 null 3", "2.0"),
    ("min distinct", "int", "3 1 2 null 3", "1"),
    ("string_agg '; '", "int", "3 1 2 null 3", "3; 1; 2; 3"),
    ("string_agg", "int", "3 1 2 null 3", "3,1,2,3"),
    ("median", "int", "9223372036854775807 9223372036854775805", "9.223372036854776e+18"),
    ("quantile_cont 0.95", "int", "9223372036854775807 9223372036854775805", "9.223372036854776e+18"),
    ("quantile_disc 0.5", "int", "9223372036854775807 9223372036854775805", "9223372036854775805"),
    ("quantile 0.95", "int", "9223372036854775807 9223372036854775805", "9223372036854775807"),
    ("mode", "int", "9223372036854775807 9223372036854775805", "9223372036854775805"),
    ("avg distinct", "int", "9223372036854775807 9223372036854775805", "9.223372036854776e+18"),
    ("median distinct", "int", "9223372036854775807 9223372036854775805", "9.223372036854776e+18"),
    ("min distinct", "int", "9223372036854775807 9223372036854775805", "9223372036854775805"),
    ("string_agg '; '", "int", "9223372036854775807 9223372036854775805", "9223372036854775807; 9223372036854775805"),
    ("string_agg", "int", "9223372036854775807 9223372036854775805", "9223372036854775807,9223372036854775805"),
    ("stddev", "int", "10 20 30 40 50 60 70", "21.602468994692867"),
    ("var_pop", "int", "10 20 30 40 50 60 70", "400.0"),
    ("median", "int", "10 20 30 40 50 60 70", "40.0"),
    ("quantile_cont 0.95", "int", "10 20 30 40 50 60 70", "67.0"),
    ("quantile_disc 0.5", "int", "10 20 30 40 50 60 70", "40"),
    ("quantile 0.95", "int", "10 20 30 40 50 60 70", "70"),
    ("mode", "int", "10 20 30 40 50 60 70", "10"),
    ("sum distinct", "int", "10 20 30 40 50 60 70", "280"),
    ("avg distinct", "int", "10 20 30 40 50 60 70", "40.0"),
    ("stddev distinct", "int", "10 20 30 40 50 60 70", "21.602468994692867"),
    ("median distinct", "int", "10 20 30 40 50 60 70", "40.0"),
    ("min distinct", "int", "10 20 30 40 50 60 70", "10"),
    ("string_agg '; '", "int", "10 20 30 40 50 60 70", "10; 20; 30; 40; 50; 60; 70"),
    ("string_agg", "int", "10 20 30 40 50 60 70", "10,20,30,40,50,60,70"),
    ("stddev", "price", "1.10 1.15 1.17 1.18", "0.03559026084010434"),
    ("variance", "price", "1.10 1.15 1.17 1.18", "0.0012666666666666642"),
    ("median", "price", "1.10 1.15 1.17 1.18", "1.16"),
    ("quantile_cont 0.1", "price", "1.10 1.15 1.17 1.18", "1.11"),
    ("quantile_cont 0.3", "price", "1.10 1.15 1.17 1.18", "1.14"),
    ("quantile_disc 0.3", "price", "1.10 1.15 1.17 1.18", "1.15"),
    ("mode", "price", "1.10 1.15 1.17 1.18", "1.10"),
    ("sum distinct", "price", "1.10 1.15 1.17 1.18", "4.60"),
    ("string_agg", "price", "1.10 1.15 1.17 1.18", "1.10,1.15,1.17,1.18"),
    ("stddev", "price", "-1.10 -1.15 -1.17 -1.18", "0.03559026084010434"),
    ("variance", "price", "-1.10 -1.15 -1.17 -1.18", "0.0012666666666666642"),
    ("median", "price", "-1.10 -1.15 -1.17 -1.18", "-1.16"),
    ("quantile_cont 0.1", "price", "-1.10 -1.15 -1.17 -1.18", "-1.18"),
    ("quantile_cont 0.3", "price", "-1.10 -1.15 -1.17 -1.18", "-1.18"),
    ("quantile_disc 0.3", "price", "-1.10 -1.15 -1.17 -1.18", "-1.17"),
    ("sum distinct", "price", "-1.10 -1.15 -1.17 -1.18", "-4.60"),
    ("string_agg", "price", "-1.10 -1.15 -1.17 -1.18", "-1.10,-1.15,-1.17,-1.18"),
    ("stddev", "price", "0.05", "null"),
    ("variance", "price", "0.05", "null"),
    ("median", "price", "0.05", "0.05"),
    ("quantile_cont 0.1", "price", "0.05", "0.05"),
    ("quantile_cont 0.3", "price", "0.05", "0.05"),
    ("quantile_disc 0.3", "price", "0.05", "0.05"),
    ("mode", "price", "0.05", "0.05"),
    ("sum distinct", "price", "0.05", "0.05"),
    ("string_agg", "price", "0.05", "0.05"),
    ("stddev", "price", "2.50 null 2.50 7.75", "3.031088913245535"),
    ("variance", "price", "2.50 null 2.50 7.75", "9.1875"),
    ("median", "price", "2.50 null 2.50 7.75", "2.50"),
    ("quantile_cont 0.1", "price", "2.50 null 2.50 7.75", "2.50"),
    ("quantile_cont 0.3", "price", "2.50 null 2.50 7.75", "2.50"),
    ("quantile_disc 0.3", "price", "2.50 null 2.50 7.75", "2.50"),
    ("mode", "price", "2.50 null 2.50 7.75", "2.50"),
    ("sum distinct", "price", "2.50 null 2.50 7.75", "10.25"),
    ("string_agg", "price", "2.50 null 2.50 7.75", "2.50,2.50,7.75"),
    ("quantile_cont 0.1", "money", "-1.10 -1.15 -1.17 -1.18", "-1.17"),
    ("quantile_cont 0.3", "money", "-1.10 -1.15 -1.17 -1.18", "-1.17"),
    ("quantile_cont 0.3", "money", "1.10 1.15 1.17 1.18", "1.14"),
    ("median", "text", "b a null c a", "a"),
    ("quantile_disc 0.3", "text", "b a null c a", "a"),
    ("quantile_disc 0.9", "text", "b a null c a", "c"),
    ("mode", "text", "b a null c a", "a"),
    ("string_agg", "text", "b a null c a", "b,a,c,a"),
    ("string_agg '-'", "text", "b a null c a", "b-a-c-a"),
    ("min distinct", "text", "b a null c a", "a"),
    ("median", "text", "x", "x"),
    ("quantile_disc 0.3", "text", "x", "x"),
    ("quantile_disc 0.9", "text", "x", "x"),
    ("mode", "text", "x", "x"),
    ("string_agg", "text", "x", "x"),
    ("string_agg '-'", "text", "x", "x"),
    ("min distinct", "text", "x", "x"),
    ("median", "bool", "true false true", "true"),
    ("quantile_disc 0.3", "bool", "true false true", "false"),
    ("bool_and", "bool", "true false true", "false"),
    ("bool_or", "bool", "true false true", "true"),
    ("mode", "bool", "true false true", "true"),
    ("median", "bool", "false null false", "false"),
    ("quantile_disc 0.3", "bool", "false null false", "false"),
    ("bool_and", "bool", "false null false", "false"),
    ("bool_or", "bool", "false null false", "false"),
    ("mode", "bool", "false null false", "false"),
    ("median", "bool", "null", "null"),
    ("quantile_disc 0.3", "bool", "null", "null"),
    ("bool_and", "bool", "null", "null"),
    ("bool_or", "bool", "null", "null"),
    ("mode", "bool", "null", "null"),
    ("median", "bool", "true", "true"),
    ("quantile_disc 0.3", "bool", "true", "true"),
    ("bool_and", "bool", "true", "true"),
    ("bool_or", "bool", "true", "true"),
    ("mode", "bool", "true", "true"),
    ("median", "time", "0 3", "2"),
    ("quantile_cont 0.3", "time", "0 3", "1"),
    ("quantile_cont 0.95", "time", "0 3", "3"),
    ("quantile_disc 0.5", "time", "0 3", "0"),
    ("median", "time", "-7 0 1000001", "0"),
    ("quantile_cont 0.3", "time", "-7 0 1000001", "-3"),
    ("quantile_cont 0.95", "time", "-7 0 1000001", "900001"),
    ("quantile_disc 0.5", "time", "-7 0 1000001", "0"),
    ("median", "time", "5", "5"),
    ("quantile_cont 0.3", "time", "5", "5"),
    ("quantile_cont 0.95", "time", "5", "5"),
    ("quantile_disc 0.5", "time", "5", "5"),
];

fn ty(name: &str) -> FieldType {
    match name {
        "int" => FieldType::Int,
        "double" => FieldType::Double,
        "text" => FieldType::Text,
        "bool" => FieldType::Bool,
        "time" => FieldType::Time,
        "price" => FieldType::Decimal { precision: 20, scale: 2 },
        _ => FieldType::Decimal { precision: 18, scale: 2 },
    }
}

fn column(ty: FieldType, values: &str) -> ArrayRef {
    let texts = StringArray::from_iter(values.split(' ').map(|text| (text != "null").then_some(text)));
    let texts: ArrayRef = Arc::new(texts);
    match ty {
        FieldType::Time => cast(&cast(&texts, &DataType::Int64).unwrap(), &ty.arrow()).unwrap(),
        ty => cast(&texts, &ty.arrow()).unwrap(),
    }
}

fn constants(text: &str) -> Vec<Literal> {
    match (text.strip_prefix('\''), text.split_once('.')) {
        (Some(quoted), _) => vec![Literal::Text(quoted.trim_end_matches('\'').into())],
        (_, Some((_, digits))) => vec![Literal::Decimal { value: digits.parse().unwrap(), scale: digits.len() as i8 }],
        _ => Vec::new(),
    }
}

fn result(call: &str, ty: FieldType, values: &str) -> ArrayRef {
    let (name, rest) = call.split_once(' ').unwrap_or((call, ""));
    let (distinct, constants) = (rest == "distinct", constants(rest));
    let arguments = Arguments { types: &[ty], constants: &constants, distinct };
    let mut state = (find(name).unwrap().kind.build)(arguments);
    let column = column(ty, values);
    let rows = column.len() as u32;
    let times: ArrayRef = Arc::new(arrow::array::Int64Array::from_iter_values(0..i64::from(rows)));
    let positions: ArrayRef = Arc::new(arrow::array::UInt64Array::from_iter_values(0..u64::from(rows)));
    state.open(Slot(0));
    let rows: Vec<u32> = (0..rows).collect();
    state.update(&vec![Slot(0); rows.len()], &rows, &[column, times, positions]).unwrap();
    state.values(&[Slot(0)]).unwrap()
}

fn agrees(found: &ArrayRef, expected: &str, nearly: bool) -> bool {
    if found.is_null(0) || expected == "null" {
        return found.is_null(0) && expected == "null";
    }
    let found = match found.data_type() {
        DataType::Timestamp(..) => cast(found, &DataType::Int64).unwrap(),
        _ => Arc::clone(found),
    };
    if *found.data_type() == DataType::Float64 {
        let value = arrow::array::AsArray::as_primitive::<arrow::datatypes::Float64Type>(&found).value(0);
        let expected: f64 = expected.parse().unwrap();
        let near = nearly && (value / expected - 1.0).abs() < 1e-14;
        return near || value == expected || value.is_nan() && expected.is_nan();
    }
    let text = cast(&found, &DataType::Utf8).unwrap();
    arrow::array::AsArray::as_string::<i32>(&text).value(0) == expected
}

#[test]
fn deviations_are_those_of_the_values() {
    for (call, name, values, expected) in [
        ("stddev", "double", "1e308 1e308 -1e308", "1.1547005383792515e308"),
        ("variance", "double", "1e308 1e308 -1e308", "inf"),
        ("var_pop", "int", "9223372036854775807 9223372036854775805", "1"),
        ("var_pop", "double", "1e16 1.0000000000000002e16", "1"),
        ("mode", "int", "2 1 2 1 3", "1"),
        ("stddev distinct", "int", "5 5 5", "null"),
    ] {
        let found = result(call, ty(name), values);
        assert!(agrees(&found, expected, false), "{call} {values}: {found:?}, expected {expected}");
    }
}

#[test]
fn results_are_those_of_duckdb() {
    for &(call, name, values, expected) in FACTS {
        let found = result(call, ty(name), values);
        let nearly = call.starts_with("std") || call.starts_with("var");
        assert!(agrees(&found, expected, nearly), "{call} {values}: {found:?}, expected {expected}");
    }
}
