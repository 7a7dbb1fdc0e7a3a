//! Whole files through the decoder: written here, or kept under `testdata/parquet` where only others can write them.

use super::*;
use crate::event::Raw;
use crate::format::{Decoded, Rows};
use crate::schema::{Column, FieldPath, FieldType, Layout, Role, Wanted};
use crate::time::{TimeFormat, TimeReader, Ts, Unit, Zone};
use ::parquet::arrow::ArrowWriter;
use ::parquet::file::properties::WriterProperties;
use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, Date32Array, Date64Array, Decimal128Array, Float32Array, Int8Array,
    Int32Array, Int64Array, ListArray, RecordBatch, StringArray, StructArray, Time64MicrosecondArray,
    TimestampMicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray, UInt64Array,
};
use arrow::datatypes::{DataType, Field, Fields, Int32Type};
use bytes::Bytes;
use std::sync::Arc;

/// A little more than are decoded at a time.
const GROUP_ROWS: usize = 33_000;

fn file(columns: Vec<(&str, ArrayRef)>) -> Bytes {
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(GROUP_ROWS));
    file_with(columns, properties.build())
}

fn file_with(columns: Vec<(&str, ArrayRef)>, properties: WriterProperties) -> Bytes {
    let fields: Vec<_> = columns.iter().map(|(name, a)| Field::new(*name, a.data_type().clone(), true)).collect();
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    let batch = RecordBatch::try_new(Arc::new(arrow::datatypes::Schema::new(fields)), arrays).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap().into()
}

fn path(name: &str) -> FieldPath {
    FieldPath::parse(name).unwrap()
}

fn reader() -> TimeReader {
    TimeReader::new(TimeFormat::Auto, Zone::UTC)
}

/// The first column is the time.
fn layout(columns: &[(&str, Role, FieldType)]) -> Layout {
    let columns =
        columns.iter().map(|&(name, role, ty)| Column { path: path(name), role, ty, declared: false }).collect();
    Layout { columns, time: Some(0), time_reader: reader(), keep_raw: false, names_all: false }
}

fn time_only() -> Layout {
    layout(&[("t", Role::Time, FieldType::Time)])
}

fn decode(file: &Bytes, layout: &Layout) -> Decoded {
    let input = ParquetInput::open(file).unwrap();
    assert_eq!(input.pieces().len(), 1);
    input.decode_piece(file.clone(), 0, layout).unwrap()
}

/// The instants of the column `t`, and the complaints about it.
fn instants_with(array: ArrayRef, reader: TimeReader) -> (Vec<i64>, Vec<String>) {
    let layout = Layout { time_reader: reader, ..time_only() };
    let mut decoded = decode(&file(vec![("t", array)]), &layout);
    let rows = decoded.batches.remove(0);
    (rows.times.iter().map(Ts::micros).collect(), rows.bad.into_iter().map(|b| b.message).collect())
}

fn instants(array: impl Array + 'static) -> Vec<i64> {
    let (micros, bad) = instants_with(Arc::new(array), reader());
    assert_eq!(bad, Vec::<String>::new());
    micros
}

#[test]
fn times_carry_their_own_unit_and_are_floored() {
    assert_eq!(instants(TimestampSecondArray::from(vec![-1, 2])), [-1_000_000, 2_000_000]);
    assert_eq!(instants(TimestampMillisecondArray::from(vec![-1, 2])), [-1_000, 2_000]);
    assert_eq!(instants(TimestampMicrosecondArray::from(vec![-1, 2])), [-1, 2]);
    assert_eq!(instants(TimestampNanosecondArray::from(vec![-1, -1_001, 1_999])), [-1, -2, 1]);
    assert_eq!(instants(TimestampMillisecondArray::from(vec![7]).with_timezone("Asia/Tokyo")), [7_000]);
    assert_eq!(instants(TimestampSecondArray::from(vec![7]).with_timezone("UTC")), [7_000_000]);
    assert_eq!(instants(Date32Array::from(vec![-1, 1])), [-86_400_000_000, 86_400_000_000]);
    assert_eq!(instants(Date64Array::from(vec![86_400_000])), [86_400_000_000]);
}

#[test]
fn texts_are_read_as_everywhere() {
    let dictionary: arrow::array::DictionaryArray<Int32Type> = ["1970-01-01T00:00:01Z"; 3].into_iter().collect();
    assert_eq!(instants(dictionary), [1_000_000; 3]);
    let (micros, bad) =
        instants_with(Arc::new(StringArray::from(vec![Some("n/a"), Some("1970-01-01T00:00:01Z"), None])), reader());
    assert_eq!(micros, [1_000_000]);
    assert_eq!(bad.len(), 2);
    assert_eq!(bad[1], "column \"t\": expected a time, found null");
}

#[test]
fn numbers_need_a_unit() {
    let known = TimeReader { unit: Some(Unit::Millis), ..reader() };
    let (micros, bad) = instants_with(Arc::new(Int64Array::from(vec![1_700_000_000_000])), known);
    assert_eq!((micros, bad.len()), (vec![1_700_000_000_000_000], 0));
    let seconds = TimeReader::new(TimeFormat::Unix(Unit::Seconds), Zone::UTC);
    let (micros, bad) = instants_with(Arc::new(Int32Array::from(vec![Some(-2), None, Some(5)])), seconds);
    assert_eq!((micros, bad.len()), (vec![-2_000_000, 5_000_000], 1));
}

#[test]
fn what_no_calendar_reaches_is_no_time() {
    let times = Arc::new(TimestampMicrosecondArray::from(vec![i64::MAX, 1, i64::MIN]));
    let (micros, bad) = instants_with(times, reader());
    assert_eq!((micros, bad.len()), (vec![1], 2));
    let (micros, bad) = instants_with(Arc::new(TimestampSecondArray::from(vec![i64::MAX / 10, 1])), reader());
    assert_eq!((micros, bad.len()), (vec![1_000_000], 1));
    let (_, bad) = instants_with(Arc::new(Float32Array::from(vec![f32::NAN])), reader());
    assert_eq!(bad.len(), 1);
}

#[test]
fn int96_reaches_beyond_nanoseconds() {
    let bytes = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/parquet/int96.parquet")).unwrap();
    let bytes = Bytes::from(bytes);
    let rows = decode(&bytes, &Layout { keep_raw: true, ..time_only() }).batches.remove(0);
    let expected = [0, -1, 1_700_000_000_123_456, 95_617_584_000_000_000];
    assert_eq!(rows.times.iter().map(Ts::micros).collect::<Vec<_>>(), expected);
    assert_eq!(rows.bad[0].line, 3);
    assert_eq!(rows.bad[0].row.as_ref().map(RecordBatch::num_columns), Some(2));
}

fn three_rows() -> Vec<(&'static str, ArrayRef)> {
    let ids: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), Some(2), None]));
    let names: ArrayRef = Arc::new(StringArray::from(vec!["x", "y", "z"]));
    let fields = Fields::from(vec![Field::new("id", DataType::Int32, true), Field::new("a.b", DataType::Utf8, true)]);
    let nulls = arrow::buffer::NullBuffer::from(vec![true, false, true]);
    let actor = StructArray::new(fields, vec![ids, names], Some(nulls));
    let tags = ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1), None]), None, Some(Vec::new())]);
    let price = Decimal128Array::from(vec![Some(150), None, Some(-1)]).with_precision_and_scale(9, 2).unwrap();
    vec![
        ("skipped", Arc::new(StringArray::from(vec!["", "", ""]))),
        ("actor", Arc::new(actor)),
        ("t", Arc::new(TimestampMillisecondArray::from(vec![1, 2, 3]))),
        ("tags", Arc::new(tags)),
        ("price", Arc::new(price)),
        ("big", Arc::new(UInt64Array::from(vec![u64::MAX, 0, 1]))),
    ]
}

/// The cells of a column, as text.
fn cells(rows: &Rows, column: usize) -> Vec<String> {
    let array = rows.columns.column(column);
    (0..array.len()).map(|row| text::value_text(array, row)).collect()
}

#[test]
fn fields_are_found_by_their_paths_and_converted() {
    let decimal = |precision, scale| FieldType::Decimal { precision, scale };
    let layout = layout(&[
        ("t", Role::Time, FieldType::Time),
        ("actor.id", Role::Number, FieldType::Int),
        ("actor.\"a.b\"", Role::Key, FieldType::Text),
        ("tags", Role::Key, FieldType::Text),
        ("price", Role::Number, decimal(9, 2)),
        ("big", Role::Number, decimal(38, 0)),
        ("actor", Role::Key, FieldType::Text),
        ("absent.x", Role::Number, FieldType::Double),
    ]);
    let rows = decode(&file(three_rows()), &layout).batches.remove(0);
    assert_eq!(cells(&rows, 1), ["1", "null", "null"]);
    assert_eq!(cells(&rows, 2), ["x", "null", "z"]);
    assert_eq!(cells(&rows, 3), ["[1,null]", "null", "[]"]);
    assert_eq!(cells(&rows, 4), ["1.50", "null", "-0.01"]);
    assert_eq!(cells(&rows, 5), [u64::MAX.to_string().as_str(), "0", "1"]);
    assert_eq!(cells(&rows, 6), [r#"{"id":1,"a.b":"x"}"#, "null", r#"{"id":null,"a.b":"z"}"#]);
    assert_eq!(cells(&rows, 7), ["null"; 3]);
    assert!(matches!(rows.raw, Raw::None));
}

#[test]
fn whole_rows_are_kept_when_asked_for() {
    let file = file(three_rows());
    let input = ParquetInput::open(&file).unwrap();
    let whole = Layout { keep_raw: true, ..time_only() };
    let rows = decode(&file, &whole).batches.remove(0);
    let Raw::Rows(raw) = &rows.raw else { panic!("rows were asked for") };
    assert_eq!(raw.schema(), input.full_schema());
    assert_eq!(raw.columns().to_vec(), three_rows().into_iter().map(|c| c.1).collect::<Vec<_>>());
}

#[test]
fn rows_written_again_are_the_same_rows() {
    let original = file(three_rows());
    let layout = Layout { keep_raw: true, ..time_only() };
    let input = ParquetInput::open(&original).unwrap();
    let rows = decode(&original, &layout).batches.remove(0);
    let Raw::Rows(raw) = rows.raw else { panic!("rows were asked for") };
    let mut encoder = rows_encoder(&input.full_schema());
    let mut bytes = Vec::new();
    for row in 0..raw.num_rows() {
        encoder.write(&raw.slice(row, 1), &mut bytes).unwrap();
    }
    encoder.finish(&mut bytes).unwrap();
    let again = decode(&Bytes::from(bytes), &layout).batches.remove(0);
    assert!(matches!(again.raw, Raw::Rows(again) if again == raw));
}

/// Three row groups, the last of five rows; the last rows of the others have no time.
fn groups_of(group_rows: usize) -> Bytes {
    let rows = group_rows as i64 * 2 + 5;
    let timeless = group_rows as i64 - 1;
    let times = (0..rows).map(|i| (i % group_rows as i64 != timeless).then_some(i));
    let times = TimestampMillisecondArray::from_iter(times);
    let words = StringArray::from_iter_values((0..rows).map(|i| format!("w{}", i % 7)));
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(group_rows)).build();
    file_with(vec![("t", Arc::new(times)), ("w", Arc::new(words))], properties)
}

#[test]
fn pieces_are_row_groups_and_batches_add_up_to_them() {
    let file = groups_of(GROUP_ROWS);
    let input = ParquetInput::open(&file).unwrap();
    let sizes: Vec<_> = input.pieces().iter().map(|p| (p.first_row, p.rows)).collect();
    assert_eq!(sizes, [(0, 33_000), (33_000, 33_000), (66_000, 5)]);
    assert_eq!(input.total_rows(), 66_005);
    let layout = Arc::new(layout(&[("t", Role::Time, FieldType::Time), ("w", Role::Key, FieldType::Text)]));
    for piece in 0..3 {
        let whole = input.decode_piece(file.clone(), piece, &layout).unwrap();
        assert_eq!(whole.records, input.pieces()[piece].rows);
    }
    let last = &input.decode_piece(file.clone(), 1, &layout).unwrap().batches[1];
    assert_eq!((last.bad[0].record, last.bad[0].line), (32_999, 32_999));
}

#[test]
fn parts_of_a_large_row_group_add_up_to_it() {
    let file = groups_of(GROUP_ROWS);
    let (whole, parted) =
        (ParquetInput::open(&file).unwrap(), ParquetInput::open_in_parts(&file, 20_000, 7_001).unwrap());
    assert_eq!(parted.pieces().len(), 5 + 5 + 1);
    assert_eq!(parted.total_rows(), whole.total_rows());
    let layout = layout(&[("t", Role::Time, FieldType::Time), ("w", Role::Key, FieldType::Text)]);
    let times = |input: &ParquetInput| -> Vec<i64> {
        let pieces = (0..input.pieces().len()).map(|i| input.decode_piece(file.clone(), i, &layout).unwrap());
        let times = pieces.flat_map(|piece| piece.batches).flat_map(|b| b.times.micros().to_vec());
        times.collect()
    };
    assert_eq!(times(&parted), times(&whole));
    let first_of = |i: usize| parted.pieces()[i].first_row;
    assert_eq!((first_of(1), first_of(5), first_of(6)), (7_001, 33_000, 40_001));
}

#[test]
fn text_keeps_its_dictionary_where_every_page_has_it() {
    let layout = layout(&[("t", Role::Time, FieldType::Time), ("w", Role::Key, FieldType::Text)]);
    let ty = |file: &Bytes| {
        let rows = ParquetInput::open(file).unwrap().decode_piece(file.clone(), 0, &layout).unwrap().batches.remove(0);
        (rows.columns.column(1).data_type().clone(), cells(&rows, 1)[8].clone())
    };
    assert_eq!(ty(&groups_of(100)), (convert::dictionary_of_text(), "w1".into()));
    let times: ArrayRef = Arc::new(TimestampMillisecondArray::from(vec![0; 9]));
    let words: ArrayRef = Arc::new(StringArray::from(vec!["w1"; 9]));
    let plain = WriterProperties::builder().set_dictionary_enabled(false).build();
    assert_eq!(ty(&file_with(vec![("t", times), ("w", words)], plain)), (DataType::Utf8, "w1".into()));
}

#[test]
fn a_row_group_that_cannot_matter_is_known_by_its_times() {
    let file = groups_of(100);
    let input = ParquetInput::open(&file).unwrap();
    let layout = layout(&[("t", Role::Time, FieldType::Time), ("w", Role::Key, FieldType::Text)]);
    let ms = |ms: i64| Ts::from_micros(ms * 1_000);
    assert_eq!(input.time_range(0, &layout), None, "it holds a null");
    assert_eq!(input.time_range(2, &layout), Some((ms(200), ms(204))));
    let fallible = layout.with_type(1, FieldType::Int);
    assert_eq!(input.time_range(2, &fallible), None, "its other column may be bad");
    let mut absent = layout.clone();
    absent.columns[0].path = path("nowhere");
    assert_eq!(input.time_range(2, &absent), None);
}

#[test]
fn numbers_bound_a_row_group_when_all_between_are_of_one_unit() {
    let range = |low, high, reader: TimeReader| {
        let file = file(vec![("t", Arc::new(Int64Array::from(vec![low, high])))]);
        let layout = Layout { time_reader: reader, ..time_only() };
        ParquetInput::open(&file).unwrap().time_range(0, &layout)
    };
    let auto = || TimeReader { unit: Some(Unit::Millis), ..reader() };
    let now = 1_700_000_000_000;
    let expected = Some((Ts::from_micros(now * 1_000), Ts::from_micros((now + 1) * 1_000)));
    assert_eq!(range(now, now + 1, auto()), expected);
    assert_eq!(range(-now, now, auto()), None, "a number in between may look like seconds");
    assert_eq!(range(now, now + 1, reader()), None, "no unit is known yet");
    let unix = TimeReader::new(TimeFormat::Unix(Unit::Millis), Zone::UTC);
    assert_eq!(range(-1, 1, unix), Some((Ts::from_micros(-1_000), Ts::from_micros(1_000))));
}

#[test]
fn the_unit_is_that_of_the_first_number_that_tells() {
    let rows = GROUP_ROWS + 3;
    let numbers = |last: i64| (0..rows).map(move |i| if i < rows - 1 { (i % 2 == 0).then_some(0) } else { Some(last) });
    let wanted = [Wanted { path: path("t"), role: Role::Time, declared: None }];
    let unit = |array: ArrayRef| {
        let file = file(vec![("t", array)]);
        ParquetInput::open(&file).unwrap().sample(&file, &wanted, &reader()).unwrap().time_unit
    };
    assert_eq!(unit(Arc::new(Int64Array::from_iter(numbers(1_700_000_000_000)))), Some(Unit::Millis));
    assert_eq!(unit(Arc::new(Int64Array::from_iter(numbers(0)))), None);
    assert_eq!(unit(Arc::new(StringArray::from(vec!["n/a", "0", "1700000000"]))), Some(Unit::Seconds));
    assert_eq!(unit(Arc::new(StringArray::from(vec!["2026-01-01T00:00:00Z"]))), None);
}

#[test]
fn a_unit_found_on_the_way_is_handed_on() {
    let file = file(vec![("t", Arc::new(Int64Array::from(vec![1_700_000_000_000, 5])))]);
    let decoded = decode(&file, &time_only());
    assert_eq!(decoded.layout.map(|l| l.time_reader.unit), Some(Some(Unit::Millis)));
    assert_eq!(decoded.batches[0].bad.len(), 1, "5 are seconds by their size");
}

#[test]
fn a_sample_tells_fields_and_types_without_reading_values() {
    let file = file(three_rows());
    let input = ParquetInput::open(&file).unwrap();
    let wanted = |name, role| Wanted { path: path(name), role, declared: None };
    let wanted = [wanted("t", Role::Time), wanted("actor.id", Role::Number), wanted("nowhere", Role::Key)];
    let sample = input.sample(&file, &wanted, &reader()).unwrap();
    assert_eq!(sample.types, [Some(FieldType::Time), Some(FieldType::Int), None]);
    let names: Vec<_> = sample.fields.iter().map(|f| f.path.name()).collect();
    assert_eq!(names, ["skipped", "actor.id", "actor.a.b", "t", "tags", "price", "big"]);
    assert_eq!((sample.time_unit, sample.records), (None, 3));
}

#[test]
fn without_a_time_field_the_values_tell_what_looks_like_one() {
    let texts = StringArray::from(vec![None, Some("2026-01-02T03:04:05Z")]);
    let words = StringArray::from(vec!["a", "b"]);
    let file = file(vec![
        ("at", Arc::new(texts)),
        ("word", Arc::new(words)),
        ("small", Arc::new(Int64Array::from(vec![7, 7]))),
        ("day", Arc::new(Date32Array::from(vec![7, 7]))),
    ]);
    let sample = ParquetInput::open(&file).unwrap().sample(&file, &[], &reader()).unwrap();
    let likely: Vec<_> = sample.fields.iter().map(|f| f.looks_like_time).collect();
    assert_eq!(likely, [true, false, false, true]);
}

#[test]
fn an_empty_file_has_a_schema_and_no_pieces() {
    let file = file(vec![("t", Arc::new(Int64Array::from(Vec::<i64>::new())))]);
    let input = ParquetInput::open(&file).unwrap();
    assert_eq!((input.pieces().len(), input.total_rows(), input.full_schema().fields().len()), (0, 0, 1));
    assert_eq!(input.sample(&file, &[], &reader()).unwrap().records, 0);
}

fn open_error(bytes: impl Into<Bytes>) -> String {
    ParquetInput::open(&bytes.into()).err().unwrap().to_string()
}

#[test]
fn what_is_no_parquet_file_says_what_it_is() {
    let whole = file(three_rows());
    assert_eq!(open_error(Vec::new()), "expected a Parquet file, found an empty one");
    let text = open_error(b"a,b\n1,2\n".to_vec());
    assert_eq!(
        text,
        "expected a Parquet file, found bytes that do not begin and end with PAR1\n  hint: -i FORMAT says what the file is"
    );
    let cut = open_error(whole.slice(..whole.len() - 9));
    assert!(
        cut.starts_with("expected the end of a Parquet file (PAR1), found other bytes: the file is cut off"),
        "{cut}"
    );
    assert!(open_error(b"PARE....PARE".to_vec()).contains("an encrypted one\n  hint: decrypt it first"));
    let mut damaged = whole.to_vec();
    let footer = damaged.len() - 40;
    damaged[footer..].iter_mut().take(30).for_each(|b| *b = 0xff);
    assert!(open_error(damaged).contains("the footer of this Parquet file cannot be read: "));
    let mut long_footer = whole.to_vec();
    let length = long_footer.len() - 8;
    long_footer[length..length + 4].fill(0x7f);
    assert!(open_error(long_footer).contains("the footer of this Parquet file cannot be read: "));
}

#[test]
fn damage_is_an_error_and_never_a_panic() {
    let whole = file(three_rows());
    let layout = layout(&[
        ("t", Role::Time, FieldType::Time),
        ("actor", Role::Key, FieldType::Text),
        ("tags", Role::Key, FieldType::Text),
    ]);
    let mut errors = 0;
    for at in (4..whole.len() - 8).step_by(5) {
        let mut damaged = whole.to_vec();
        damaged[at] ^= 0xa5;
        let damaged = Bytes::from(damaged);
        let Ok(input) = ParquetInput::open(&damaged) else { continue };
        for piece in 0..input.pieces().len() {
            if let Err(error) = input.decode_piece(damaged.clone(), piece, &layout) {
                assert!(error.message().starts_with("row group "), "{error}");
                errors += 1;
            }
        }
    }
    assert!(errors > 5);
}

#[test]
fn the_format_is_known_by_name_extension_and_first_bytes() {
    assert!(crate::format::find("PARQUET").is_some_and(|kind| kind.name == "parquet"));
    assert!(crate::format::by_extension("x.pq".as_ref()).is_some());
    assert!((PARQUET.sniff)(&file(three_rows())) && !(PARQUET.sniff)(b"PAR"));
}

/// A column's type and its values.
type Passed = (FieldType, Vec<String>);

/// The column `x` as a whole field: its type, and each value as JSON has it.
fn whole(array: impl Array + 'static) -> Passed {
    let file = file(vec![("x", Arc::new(array))]);
    let input = ParquetInput::open(&file).unwrap();
    let wanted = [Wanted { path: path("x"), role: Role::Whole, declared: None }];
    let ty = input.sample(&file, &wanted, &reader()).unwrap().types[0].unwrap_or(FieldType::Json);
    let layout = Layout { time: None, ..layout(&[("x", Role::Whole, ty)]) };
    let decoded = input.decode_piece(file, 0, &layout).unwrap();
    assert!(decoded.batches.iter().all(|rows| rows.bad.is_empty()), "{:?}", decoded.batches);
    let ty = decoded.layout.map_or(ty, |layout| layout.columns[0].ty);
    let json = decoded.batches.iter().map(|rows| crate::json::of_column(rows.columns.column(0)));
    let texts = json.flat_map(|json| {
        let texts = json.as_string::<i64>().iter().map(|text| text.unwrap_or("null").to_owned());
        texts.collect::<Vec<_>>()
    });
    (ty, texts.collect())
}

#[test]
fn what_is_passed_on_has_the_type_that_values_have() {
    let big = FieldType::Decimal { precision: 38, scale: 0 };
    let cents = FieldType::Decimal { precision: 6, scale: 2 };
    let words: arrow::array::DictionaryArray<Int32Type> = ["a\"", "b"].into_iter().collect();
    let decimals = Decimal128Array::from(vec![150]).with_precision_and_scale(6, 2).unwrap();
    let table: [(Passed, FieldType, &[&str]); 14] = [
        (whole(Int8Array::from(vec![Some(-8), None])), FieldType::Int, &["-8", "null"]),
        (whole(UInt64Array::from(vec![u64::MAX])), big, &["18446744073709551615"]),
        (whole(Float32Array::from(vec![0.5, f32::NAN])), FieldType::Double, &["0.5", "null"]),
        (whole(decimals), cents, &["1.50"]),
        (whole(arrow::array::BooleanArray::from(vec![true])), FieldType::Bool, &["true"]),
        (whole(words), FieldType::Text, &["\"a\\\"\"", "\"b\""]),
        (whole(BinaryArray::from(vec![b"ok".as_slice()])), FieldType::Text, &["\"ok\""]),
        (whole(BinaryArray::from(vec![b"ok".as_slice(), b"\xff\x00"])), FieldType::Json, &["\"ok\"", "\"ff00\""]),
        (whole(Date32Array::from(vec![0])), FieldType::Time, &["\"1970-01-01T00:00:00Z\""]),
        (whole(TimestampNanosecondArray::from(vec![1_500])), FieldType::Time, &["\"1970-01-01T00:00:00.000001Z\""]),
        (whole(Time64MicrosecondArray::from(vec![3_723_000_000])), FieldType::Text, &["\"01:02:03\""]),
        (whole(arrow::array::NullArray::new(1)), FieldType::Json, &["null"]),
        (
            whole(ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1), None]), None])),
            FieldType::Json,
            &["[1,null]", "null"],
        ),
        (whole(object()), FieldType::Json, &["{\"id\":1}"]),
    ];
    for ((ty, values), expected, texts) in table {
        assert_eq!((ty, values.iter().map(String::as_str).collect::<Vec<_>>()), (expected, texts.to_vec()));
    }
}

#[test]
fn a_time_beyond_the_calendar_is_passed_on_as_json() {
    let (ty, texts) = whole(TimestampMicrosecondArray::from(vec![0, i64::MAX]).with_timezone("UTC"));
    assert_eq!((ty, texts.len(), texts[0].as_str()), (FieldType::Json, 2, "\"1970-01-01T00:00:00Z\""));
}

fn object() -> StructArray {
    let fields = Fields::from(vec![Field::new("id", DataType::Int64, true)]);
    StructArray::new(fields, vec![Arc::new(Int64Array::from(vec![1]))], None)
}
