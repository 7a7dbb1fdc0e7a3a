//! Whole records through each format: read as columns of all fields, written, and read again.

use super::*;
use crate::format::parquet::ParquetInput;
use crate::schema::{Column, FieldPath, Role};
use crate::time::{TimeFormat, Zone};
use arrow::array::AsArray;

fn options() -> EncodeOptions {
    EncodeOptions { zone: Zone::UTC, width: None }
}

fn time() -> TimeReader {
    TimeReader::new(TimeFormat::Auto, Zone::UTC)
}

fn wanted(names: &[String]) -> Vec<Wanted> {
    let want = |name: &String| Wanted { path: FieldPath::new(vec![name.clone()]), role: Role::Whole, declared: None };
    names.iter().map(want).collect()
}

/// A layout of all fields that a sample names.
fn layout(sample: &Sample, names: &[String]) -> Layout {
    let types = sample.types.iter().map(|ty| ty.unwrap_or(FieldType::Json));
    let columns = wanted(names).into_iter().zip(types);
    let columns = columns.map(|(w, ty)| Column { path: w.path, role: w.role, ty, declared: false }).collect();
    Layout { columns, time: None, time_reader: time(), keep_raw: false, names_all: true }
}

/// A text's records as columns. Types are taken from the first `sampled` bytes.
fn read_part(format: &str, text: &str, sampled: usize) -> Decoded {
    let Read::Text(open) = find(format).unwrap().read else { panic!("{format}") };
    let text_options = TextOptions { delimiter: None, header: true, nulls: Vec::new() };
    let decoder = open(text.as_bytes(), true, &text_options).unwrap();
    let head = &text.as_bytes()[decoder.preamble()..sampled];
    let names = decoder.sample(head, true, &[], &time()).names;
    let sample = decoder.sample(head, true, &wanted(&names), &time());
    let decoded = decoder.decode(Arc::new(text.as_bytes()[decoder.preamble()..].to_vec()), &layout(&sample, &names));
    assert!(decoded.batches.iter().all(|rows| rows.bad.is_empty()), "{:?}", decoded.batches);
    decoded
}

fn read(format: &str, text: &str) -> Vec<RecordBatch> {
    batches(read_part(format, text, text.len()))
}

fn batches(decoded: Decoded) -> Vec<RecordBatch> {
    decoded.batches.into_iter().map(|rows| rows.columns).collect()
}

fn write_bytes(format: &str, batches: &[RecordBatch]) -> Vec<u8> {
    let make = find(format).unwrap().write.unwrap();
    let mut encoder = make(&batches[0].schema(), &options()).unwrap();
    let mut out = Vec::new();
    for batch in batches {
        encoder.schema_changed(&batch.schema()).unwrap();
        encoder.write(batch, &mut out).unwrap();
    }
    encoder.finish(&mut out).unwrap();
    out
}

fn write(format: &str, batches: &[RecordBatch]) -> String {
    String::from_utf8(write_bytes(format, batches)).unwrap()
}

fn read_parquet(bytes: Vec<u8>) -> Vec<RecordBatch> {
    let file = bytes::Bytes::from(bytes);
    let input = ParquetInput::open(&file).unwrap();
    let names = input.sample(&file, &[], &time()).unwrap().names;
    let sample = input.sample(&file, &wanted(&names), &time()).unwrap();
    batches(input.decode_piece(file, 0, &layout(&sample, &names)).unwrap())
}

fn through_jsonl(text: &str) -> String {
    write("jsonl", &read("jsonl", text))
}

#[test]
fn json_records_come_out_as_they_went_in() {
    for text in [
        r#"{"a":{"b":[1,2.50,{"c":null}],"d":"\u00e9\"x"},"n":null,"t":true,"f":false,"i":-7,"s":"a"}"#,
        r#"{"big":9223372036854775807,"s":"\"quoted\" \\ back\nline\ttab"}"#,
        r#"{"beyond":12345678901234567890123456789012345678}"#,
        r#"{"far":123456789012345678901234567890123456789012345}"#,
        r#"{"huge":1e999}"#,
        r#"{"empty":"","o":{},"l":[],"e":[[],{}]}"#,
        r#"{"é ü 🦀":"日本","a.b":{"a.b":1},"":"no name","\"":1}"#,
        r#"{"nothing":null}"#,
    ] {
        assert_eq!(through_jsonl(text), format!("{text}\n"));
    }
}

#[test]
fn numbers_may_be_written_in_another_way_but_stay_the_same() {
    assert_eq!(through_jsonl("{\"x\":1.50}\n{\"x\":1e3}\n{\"x\":3}"), "{\"x\":1.5}\n{\"x\":1000.0}\n{\"x\":3.0}\n");
    assert_eq!(through_jsonl(r#"{"s":"\u0041\/"}"#), "{\"s\":\"A/\"}\n");
    assert_eq!(through_jsonl("{ \"o\" : {\"a\" : 1 ,\r\"b\":[ 2 ]} }"), "{\"o\":{\"a\" : 1 , \"b\":[ 2 ]}}\n");
}

#[test]
fn an_absent_field_is_null_and_of_two_with_one_name_the_last_counts() {
    let text = "{\"a\":1,\"b\":2}\n{\"b\":{},\"c\":0,\"a\":5,\"a\":6}\n";
    assert_eq!(through_jsonl(text), "{\"a\":1,\"b\":2,\"c\":null}\n{\"a\":6,\"b\":{},\"c\":0}\n");
}

#[test]
fn values_of_several_kinds_stay_what_they_are() {
    let text = ["1", "\"1\"", "true", "\"true\"", "null", "[1,\"a\"]", "9007199254740993", "0.10", "\"\\u00e9\""];
    let lines: String = text.iter().map(|value| format!("{{\"x\":{value}}}\n")).collect();
    assert_eq!(through_jsonl(&lines), lines);
    // Also when only the first was seen before, and the other way round.
    for (first, rest) in [(text[0], &text[1..]), (text[1], &text[2..]), (text[2], &text[3..]), (text[7], &text[6..7])] {
        let first = format!("{{\"x\":{first}}}\n");
        let rest: String = rest.iter().map(|value| format!("{{\"x\":{value}}}\n")).collect();
        let decoded = read_part("jsonl", &format!("{first}{rest}"), first.len());
        assert_eq!(decoded.layout.as_ref().unwrap().columns[0].ty, FieldType::Json);
        let written = write("jsonl", &batches(decoded));
        assert_eq!(written.split_once('\n').unwrap().1, rest);
    }
}

#[test]
fn long_integers_among_fractions_keep_their_digits() {
    let lines = "{\"x\":0.5}\n{\"x\":9007199254740993}\n{\"x\":-12345678901234567890}\n";
    assert_eq!(through_jsonl(lines), lines);
    let csv = "x,y\n0.5,1\n9007199254740993,2\n";
    assert_eq!(write("csv", &read("csv", csv)), csv);
}

#[test]
fn csv_cells_are_typed_and_come_out_as_they_went_in() {
    let csv = "i,d,b,z,t,n,m,q\n1,0.5,true,007,\"a,\"\"b\"\"\",,x,\"\"\n-2,1.5,false,8,\" c\n\",,3,é\n";
    let read = read("csv", csv);
    assert_eq!(write("csv", &read), csv);
    let json = "{\"i\":1,\"d\":0.5,\"b\":true,\"z\":\"007\",\"t\":\"a,\\\"b\\\"\",\"n\":null,\"m\":\"x\",\"q\":\"\"}";
    assert_eq!(write("jsonl", &read).lines().next(), Some(json));
}

#[test]
fn a_csv_cell_that_does_not_fit_makes_json_of_its_column() {
    let csv = "x\n1\nabc\n007\n2.50\nTRUE\n\"\"\n\"a\"\"\n\"\n.5\n";
    let read = batches(read_part("csv", csv, "x\n1\n".len()));
    let values = ["1", "\"abc\"", "\"007\"", "2.50", "true", "\"\"", "\"a\\\"\\n\"", "0.5"];
    let lines: String = values.iter().map(|value| format!("{{\"x\":{value}}}\n")).collect();
    assert_eq!(write("jsonl", &read), lines);
    assert_eq!(write("csv", &read), "x\n1\nabc\n007\n2.50\ntrue\n\"\"\n\"a\"\"\n\"\n0.5\n");
}

#[test]
fn outside_of_json_a_string_is_its_text_and_all_else_its_json() {
    let read = read("jsonl", "{\"x\":\"a\\\"\"}\n{\"x\":{\"k\":\"v,w\"}}\n{\"x\":null}\n{\"x\":1.50}\n");
    assert_eq!(write("csv", &read), "x\n\"a\"\"\"\n\"{\"\"k\"\":\"\"v,w\"\"}\"\n\"\"\n1.50\n");
    assert_eq!(write("tsv", &read), "x\n\"a\"\"\"\n\"{\"\"k\"\":\"\"v,w\"\"}\"\n\"\"\n1.50\n");
    assert!(write("table", &read).contains("{\"k\":\"v,w\"}"));
    let back = read_parquet(write_bytes("parquet", &read));
    let texts: Vec<_> = back[0]
        .column(0)
        .as_any_dictionary_opt()
        .map_or_else(
            || back[0].column(0).clone(),
            |_| arrow::compute::cast(back[0].column(0), &arrow::datatypes::DataType::Utf8).unwrap(),
        )
        .as_string::<i32>()
        .iter()
        .map(|text| text.map(ToOwned::to_owned))
        .collect();
    let expected = [Some("a\""), Some("{\"k\":\"v,w\"}"), None, Some("1.50")];
    assert_eq!(texts, expected.map(|text| text.map(ToOwned::to_owned)));
}

#[test]
fn records_go_through_parquet_and_back() {
    let lines = "{\"i\":1,\"d\":0.5,\"b\":true,\"s\":\"é\\n\",\"n\":null,\"m\":12345678901234567890}\n\
        {\"i\":null,\"d\":null,\"b\":null,\"s\":\"\",\"n\":null,\"m\":null}\n";
    let back = read_parquet(write_bytes("parquet", &read("jsonl", lines)));
    assert_eq!(write("jsonl", &back), lines);
}

#[test]
fn fields_that_come_later_are_told_once_with_their_line() {
    let head = "{\"a\":1,\"b\":2}\n";
    let rest = "\n{\"a\":1,\"new\":1,\"b\":2}\n{\"a\":1,\"new\":1,\"b\":2}\n{\"broken\":1,\"a\":}\n{\"a\":3,\"broken\":null}\n\
        {\"a\":1,\"new\":1,\"o\\u0072\":{\"a\":{\"deep\":1}},\"new\":2}\n{\"broken\":1,\"late\":\"x\"}\n";
    let Read::Text(open) = find("jsonl").unwrap().read else { panic!() };
    let decoder =
        open(head.as_bytes(), true, &TextOptions { delimiter: None, header: true, nulls: Vec::new() }).unwrap();
    let names = ["a".to_owned(), "b".to_owned()];
    let sample = decoder.sample(head.as_bytes(), true, &wanted(&names), &time());
    let all = layout(&sample, &names);
    let text = format!("{head}{rest}");
    let decoded = decoder.decode(Arc::new(text.as_bytes().to_vec()), &all);
    let told: Vec<_> = decoded.unlisted.iter().map(|unlisted| (unlisted.name.as_str(), unlisted.line)).collect();
    assert_eq!(told, [("new", 2), ("broken", 5), ("or", 6), ("late", 7)]);
    let some = Layout { names_all: false, ..all };
    assert_eq!(decoder.decode(Arc::new(text.into_bytes()), &some).unlisted, []);
}

#[test]
fn not_endlessly_many_fields_are_told() {
    let lines: String = (0..300).map(|i| format!("{{\"a\":1,\"k{i}\":1}}\n")).collect();
    let decoded = read_part("jsonl", &lines, "{\"a\":1,\"k0\":1}\n".len());
    assert_eq!((decoded.unlisted.len(), decoded.records), (100, 300));
}
