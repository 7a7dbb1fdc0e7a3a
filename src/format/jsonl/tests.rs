//! Chunks to columns: what each rule says, and the fast path held against the definition.

use super::decode::decode_with;
use super::scan::Scanner;
use super::tree::Tree;
use super::*;
use crate::event::Raw;
use crate::schema::{Column, FieldPath, FieldType, Role};
use crate::time::{TimeFormat, Unit, Zone};
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{Decimal128Type, Float64Type, Int64Type};
use proptest::prelude::*;

/// The columns `path:type` with the time first; `!` declares, `key` and the like give the role.
fn layout(columns: &str) -> Layout {
    let column = |text: &str| {
        let mut words = text.split_whitespace();
        let path = FieldPath::parse(words.next().unwrap()).unwrap();
        let mut column = Column { path, role: Role::Value, ty: FieldType::Text, declared: false };
        for word in words {
            match word {
                "time" => (column.role, column.ty) = (Role::Time, FieldType::Time),
                "key" => column.role = Role::Key,
                "declared" => column.declared = true,
                "int" => column.ty = FieldType::Int,
                "double" => column.ty = FieldType::Double,
                "bool" => column.ty = FieldType::Bool,
                "text" => column.ty = FieldType::Text,
                "instant" => column.ty = FieldType::Time,
                "decimal" => column.ty = FieldType::Decimal { precision: 6, scale: 2 },
                other => panic!("{other}"),
            }
        }
        column
    };
    let columns = columns.split(',').map(column).collect();
    let time_reader = TimeReader::new(TimeFormat::Auto, Zone::UTC);
    Layout { columns, time: Some(0), time_reader, keep_raw: false, names_all: false }
}

/// Decodes by both paths, which must agree, and hands out the result.
fn decode(text: impl AsRef<[u8]>, layout: &Layout) -> Decoded {
    let chunk = Arc::new(text.as_ref().to_vec());
    let fast = decode_with(Arc::clone(&chunk), layout, true);
    let general = decode_with(chunk, layout, false);
    assert_eq!(facts(&fast), facts(&general));
    fast
}

type Facts = (u64, u64, Vec<(RecordBatch, Vec<i64>, Option<Vec<u32>>, u32, String)>, String);

fn facts(decoded: &Decoded) -> Facts {
    let batches = decoded.batches.iter().map(|rows| {
        let times = rows.times.micros().to_vec();
        (rows.columns.clone(), times, rows.records.clone(), rows.first, format!("{:?}", rows.bad))
    });
    (decoded.records, decoded.lines, batches.collect(), format!("{:?}", decoded.layout))
}

/// A record with a good time and these other members.
fn with_time(members: &str) -> String {
    format!("{{\"t\":\"2026-03-01T00:00:00Z\",{members}}}\n")
}

/// The messages of all bad records.
fn messages(decoded: &Decoded) -> Vec<&str> {
    decoded.batches.iter().flat_map(|rows| &rows.bad).map(|bad| bad.message.as_str()).collect()
}

/// The only bad record's message.
fn message(text: impl AsRef<[u8]>, layout: &Layout) -> String {
    let decoded = decode(text, layout);
    let messages = messages(&decoded);
    assert_eq!(messages.len(), 1, "{messages:?}");
    messages[0].to_owned()
}

/// The text column at `index` of the first batch.
fn texts(decoded: &Decoded, index: usize) -> Vec<Option<&str>> {
    decoded.batches[0].columns.column(index).as_string::<i32>().iter().collect()
}

#[test]
fn a_text_column_takes_every_value_by_its_json_text() {
    let layout = layout("t time,x text");
    for (json, expected) in [
        (r#""a b""#, Some("a b")),
        (r#""a\n\u00e9\ud83d\ude00\/""#, Some("a\né😀/")),
        ("1", Some("1")),
        ("-0.10E+2", Some("-0.10E+2")),
        ("true", Some("true")),
        ("null", None),
        (r#"{"b": [1, 2]}"#, Some(r#"{"b": [1, 2]}"#)),
        ("[ ]", Some("[ ]")),
        ("12345678901234567890123", Some("12345678901234567890123")),
    ] {
        let decoded = decode(with_time(&format!("\"x\":{json}")), &layout);
        assert_eq!(texts(&decoded, 1), [expected], "{json}");
    }
    assert_eq!(texts(&decode(with_time("\"y\":1"), &layout), 1), [None], "an absent field is null");
}

#[test]
fn numbers_are_read_by_their_columns_type() {
    let layout = layout("t time,i int,d double,b bool,m decimal");
    let text = with_time(r#""i":-9223372036854775808,"d":1e3,"b":false,"m":12.50"#);
    let decoded = decode(text + &with_time(r#""i":0,"d":null,"b":null,"m":-1e2"#), &layout);
    let columns = &decoded.batches[0].columns;
    assert_eq!(columns.column(1).as_primitive::<Int64Type>().values(), &[i64::MIN, 0]);
    let doubles: Vec<_> = columns.column(2).as_primitive::<Float64Type>().iter().collect();
    assert_eq!(doubles, [Some(1000.0), None]);
    assert_eq!(columns.column(3).as_boolean().iter().collect::<Vec<_>>(), [Some(false), None]);
    assert_eq!(columns.column(4).as_primitive::<Decimal128Type>().values(), &[1250, -10000]);
    assert!(decoded.layout.is_none() && messages(&decoded).is_empty());
}

#[test]
fn a_value_that_does_not_fit_is_named_with_its_column() {
    let layout = layout("t time,i int,d double,b bool,m decimal");
    for (member, expected) in [
        (r#""i":"n/a""#, r#"column "i": expected a bigint, found "n/a""#),
        (r#""i":"12""#, r#"column "i": expected a bigint, found "12""#),
        (r#""i":92233720368547758080"#, r#"column "i": expected a bigint, found 92233720368547758080"#),
        (r#""i":[1,2]"#, r#"column "i": expected a bigint, found [1,2]"#),
        (r#""d":1e400"#, r#"column "d": 1e400 does not fit a double"#),
        (r#""d":true"#, r#"column "d": expected a double, found true"#),
        (r#""b":1"#, r#"column "b": expected a boolean, found 1"#),
        (r#""m":1.005"#, r#"column "m": expected a decimal(6,2), found 1.005"#),
        (r#""m":10000"#, r#"column "m": expected a decimal(6,2), found 10000"#),
    ] {
        assert_eq!(message(with_time(member), &layout), expected);
    }
}

#[test]
fn a_record_without_a_usable_time_is_bad() {
    let layout = layout("t time key");
    for (record, found) in [
        ("{}", "nothing"),
        (r#"{"t":null}"#, "null"),
        (r#"{"t":"n/a"}"#, "\"n/a\""),
        (r#"{"t":true}"#, "true"),
        (r#"{"t":{"t":1}}"#, "{\"t\":1}"),
    ] {
        assert_eq!(message(record, &layout), format!("column \"t\": expected a time, found {found}"));
    }
}

#[test]
fn the_first_number_that_shows_a_unit_sets_it_for_all_that_follow() {
    let layout = layout("t time,x int");
    let text = "{\"t\":0}\n{\"t\":1772323200000,\"x\":true}\n{\"t\":1772323200,\"x\":1}\n{\"t\":1772323201,\"x\":2}\n";
    let decoded = decode(text, &layout);
    assert_eq!(decoded.batches.len(), 1, "the columns did not change");
    assert_eq!(decoded.batches[0].times.micros()[..], [0, 1_772_323_200_000_000, 1_772_323_201_000_000]);
    assert_eq!(decoded.batches[0].bad.len(), 1, "and a bad record sets no unit");
    assert_eq!(decoded.layout.unwrap().time_reader.unit, Some(Unit::Seconds));
}

#[test]
fn declared_columns_take_the_text_of_their_type_and_never_change() {
    let layout = layout("t time,i int key declared,d double declared,b bool declared,w instant declared");
    let record = with_time(r#""i":"12","d":"-1.5e0","b":"true","w":"1969-12-31T23:59:59Z""#);
    let decoded = decode(&record, &layout);
    let columns = &decoded.batches[0].columns;
    assert_eq!(columns.column(1).as_primitive::<Int64Type>().value(0), 12);
    assert_eq!(columns.column(2).as_primitive::<Float64Type>().value(0), -1.5);
    assert!(columns.column(3).as_boolean().value(0) && columns.column(4).is_valid(0));
    let bad = decode(with_time("\"i\":1.5") + &with_time("\"i\":\"x\"") + &with_time("\"w\":\"x\""), &layout);
    assert_eq!(messages(&bad).len(), 3);
    assert!(bad.layout.is_none());
}

#[test]
fn an_integer_column_that_meets_a_fraction_is_double_from_that_record_on() {
    let layout = layout("t time,x int,k int key");
    let text = [r#""x":1,"k":1"#, r#""x":1.5,"k":2"#, r#""x":2,"k":"a""#, r#""x":3,"k":4"#].map(with_time).concat();
    let decoded = decode(text, &layout);
    let rows: Vec<_> = decoded.batches.iter().map(|rows| (rows.first, rows.columns.num_rows())).collect();
    assert_eq!(rows, [(0, 1), (1, 1), (2, 2)]);
    let types: Vec<_> = decoded.batches.iter().map(|rows| rows.columns.schema().field(2).data_type().clone()).collect();
    assert_eq!(types, [FieldType::Int.arrow(), FieldType::Int.arrow(), FieldType::Text.arrow()]);
    assert_eq!(decoded.batches[2].columns.column(1).as_primitive::<Float64Type>().values(), &[2.0, 3.0]);
    let last = decoded.layout.unwrap();
    assert_eq!(last.types()[1..], [FieldType::Double, FieldType::Text]);
}

#[test]
fn a_bad_record_leaves_no_trace() {
    let layout = layout("t time,x int,y int,z text");
    let text = [r#""x":1,"y":1,"z":"a""#, r#""x":1.5,"y":"bad","z":"b""#, r#""x":3,"y":4,"z":"c""#].map(with_time);
    let decoded = decode(text.concat(), &layout);
    assert!(decoded.layout.is_none(), "the record that would have widened x is bad");
    let rows = &decoded.batches[0];
    assert_eq!((rows.records.as_deref(), rows.bad[0].record, rows.bad[0].before_row), (Some(&[0, 2][..]), 1, 1));
    assert_eq!(texts(&decoded, 3), [Some("a"), Some("c")]);
}

#[test]
fn the_last_of_two_members_with_one_key_counts() {
    let flat = layout("t time,x text");
    assert_eq!(texts(&decode(with_time(r#""x":1,"x":2"#), &flat), 1), [Some("2")]);
    assert_eq!(texts(&decode(with_time(r#""x":1,"\u0078":2"#), &flat), 1), [Some("2")], "keys match unescaped");
    let nested = layout("t time,a.b text,a text,a.c.d text,\"\" text".replace(",\"\" text", "").as_str());
    let decoded = decode(with_time(r#""a":{"b":1,"c":{"d":2}},"a":{"c":{}}"#), &nested);
    assert_eq!((texts(&decoded, 1), texts(&decoded, 3)), (vec![None], vec![None]));
    assert_eq!(texts(&decoded, 2), [Some(r#"{"c":{}}"#)]);
}

#[test]
fn a_path_may_repeat_and_keys_may_be_odd() {
    let layout = layout("t time,t text,\"a.b\" text,a.b text,@x text,t instant");
    let decoded = decode(with_time(r#""":0,"a.b":1,"a":{"b":2},"@x":3"#), &layout);
    assert_eq!(texts(&decoded, 1), [Some("2026-03-01T00:00:00Z")]);
    assert_eq!((texts(&decoded, 2), texts(&decoded, 3)), (vec![Some("1")], vec![Some("2")]));
    assert_eq!(texts(&decoded, 4), [Some("3")]);
}

#[test]
fn lines_are_records_unless_blank() {
    let mut layout = layout("t time,x text");
    layout.keep_raw = true;
    let record = with_time("\"x\":1");
    let record = record.trim_end();
    let text = format!("\n{record}\r\n \t \r\n[1]\n{record}");
    let decoded = decode(&text, &layout);
    assert_eq!((decoded.records, decoded.lines), (3, 5));
    let rows = &decoded.batches[0];
    let bad = &rows.bad[0];
    assert_eq!((bad.record, bad.line, &text[bad.bytes.clone()]), (1, 3, "[1]"));
    let Raw::Text(chunk, spans) = &rows.raw else { panic!("raw text was asked for") };
    let raw: Vec<_> = spans.iter().map(|&(start, end)| &chunk[start as usize..end as usize]).collect();
    assert_eq!(raw, [record.as_bytes(), record.as_bytes()]);
    assert!(decode("\n\n", &layout).batches.is_empty() && decode("", &layout).lines == 0);
}

#[test]
fn malformed_records_are_found_whatever_is_wanted() {
    let layout = layout("t time");
    for (line, expected) in [
        (r#"{"x":01}"#, "invalid number at column 7"),
        (r#"{"x":1.}"#, "invalid number at column 8"),
        (r#"{"x":+1}"#, "expected value at column 6"),
        (r#"{"x":tru}"#, "expected `true`, `false` or `null` at column 9"),
        (r#"{"x":NaN}"#, "expected value at column 6"),
        (r#"{"x":1,}"#, "trailing comma at column 8"),
        (r#"{"x":1}}"#, "trailing characters at column 8"),
        (r#"{"x":"\q"}"#, "invalid escape at column 8"),
        (r#"{"x":}"#, "expected value at column 6"),
        (r#"{"x":1 "y":2}"#, "expected `,` or `}` at column 8"),
    ] {
        assert_eq!(message(line, &layout), format!("not valid JSON: {expected}, near `{line}`"));
    }
    let long = message(with_time(r#""x":tru"#), &layout);
    assert!(long.ends_with("near `00Z\",\"x\":tru}`"), "{long}");
    let bad = [
        r#""x":"\ud800""#,
        r#""x":"\udc00\ud800""#,
        r#""x":"\ud800\ud800""#,
        r#""x":["\ud83d"]"#,
        r#""x":{"\ud83d":1}"#,
        r#""\ud83d":1"#,
        r#""x":"\u12g4""#,
        "\"x\":\"a\tb\"",
        "\"x\":{\"a\":\"\u{1}\"}",
        r#""x":[1,]"#,
        r#""x":[1 2]"#,
        r#""x":{"a"}"#,
        r#""x":{,}"#,
        r#"x:1"#,
        r#""x":'1'"#,
        r#""x":-"#,
        r#""x":1e"#,
        r#""x":.5"#,
        r#""x":nul"#,
        r#""x":"open"#,
        r#""x":1 "y":2"#,
    ];
    for member in bad {
        let decoded = decode(with_time(member), &layout);
        assert!(messages(&decoded)[0].starts_with("not valid JSON: "), "{member}: {:?}", messages(&decoded));
    }
}

#[test]
fn only_objects_are_records() {
    let layout = layout("t time");
    for (line, expected) in [
        ("[1,2]", "expected a JSON object, found an array, near `[1,2]`"),
        ("\"a\"", "expected a JSON object, found a string, near `\"a\"`"),
        ("-1", "expected a JSON object, found a number, near `-1`"),
        ("null", "expected a JSON object, found null, near `null`"),
        ("hello", "not valid JSON: expected value at column 1, near `hello`"),
        ("{", "not valid JSON: the line ends inside an object at column 1, near `{`"),
    ] {
        assert_eq!(message(line, &layout), expected);
    }
}

#[test]
fn one_line_that_is_not_utf8_spoils_no_other() {
    let layout = layout("t time,x text");
    let good = with_time("\"x\":\"é\"");
    let bad = b"{\"t\":\"2026-03-01T00:00:00Z\",\"y\":\"a\xFF\"}\n";
    let decoded = decode([good.as_bytes(), bad, good.as_bytes()].concat(), &layout);
    assert_eq!(messages(&decoded), ["not valid UTF-8 at column 35, near `:00Z\",\"y\":\"a\u{fffd}\"}`"]);
    assert_eq!(texts(&decoded, 1), [Some("é"), Some("é")]);
}

#[test]
fn a_string_that_goes_on_behind_its_line_is_none() {
    let layout = layout("t time,x text");
    for tail in ["\",\"y\":1}", "\"}", "\"", "", "b\"}", " "] {
        let decoded = decode(with_time("\"x\":1") + &with_time("\"x\":\"a").replace('}', "") + tail, &layout);
        assert!(messages(&decoded)[0].contains("the line ends inside a string"), "{tail}: {:?}", messages(&decoded));
        assert_eq!(texts(&decoded, 1), [Some("1")]);
    }
}

#[test]
fn a_bad_line_is_found_in_any_block() {
    let layout = layout("t time,x text");
    let good = with_time("\"x\":\"é\"");
    let bad: [&[u8]; 3] = [b"\xFF", b"\xC3", b"\x01"];
    for (bad, before) in bad.into_iter().zip([0, 400, 4_000]) {
        for ending in ["\n", "\r\n"] {
            let (head, rest) = good.split_at(good.find('é').unwrap());
            let bad = [head.as_bytes(), bad, rest.as_bytes()].concat();
            let text = [good.repeat(before).as_bytes(), &bad, good.repeat(500).as_bytes()].concat();
            let lines: Vec<&[u8]> = text.split(|&b| b == b'\n').collect();
            let decoded = decode(lines.join(ending.as_bytes()), &layout);
            let records: Vec<_> = decoded.batches[0].bad.iter().map(|bad| bad.record as usize).collect();
            assert_eq!((records, decoded.records as usize), (vec![before], before + 501));
        }
    }
}

#[test]
fn nesting_ends_at_127_levels() {
    let layout = layout("t time,a text");
    let nested = |levels: usize| with_time(&format!("\"a\":{}{}", "[".repeat(levels - 1), "]".repeat(levels - 1)));
    assert!(messages(&decode(nested(127), &layout)).is_empty());
    assert!(messages(&decode(nested(128), &layout))[0].starts_with("not valid JSON: nested more than 127 levels deep"));
}

#[test]
fn common_lines_take_the_fast_path() {
    let columns = layout("t time,a.b text,x int");
    let tree = Tree::new(columns.columns.iter().map(|column| &column.path));
    for line in [
        r#"{"t":"2026","x":1,"a":{"b":2}}"#,
        r#"{"t": "2026", "x": -1.5e3, "skipped": {"k": [1, {"z": "\n\ud83d\ude00"}, null]}, "a": {"b": "\""}}"#,
        r#" { } "#,
        r#"{"é":"ü","x":[],"a":{}}"#,
    ] {
        // Twice: learned, then guessed.
        let twice = format!("{line}\n{line}");
        let mut scanner = Scanner::new(twice.as_bytes(), &tree, false);
        assert_eq!(scanner.record(0..line.len()), Some(()), "{line}");
        assert_eq!(scanner.record(line.len() + 1..twice.len()), Some(()), "{line}");
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_record() {
    let options = TextOptions { delimiter: None, header: true, nulls: Vec::new() };
    let decoder = open(b"\xEF\xBB\xBF{\"a\":1}\n", true, &options).unwrap();
    assert_eq!((decoder.preamble(), decoder.preamble_lines()), (3, 0));
    assert_eq!((decoder.frame(b"{}\n{}\n{", false), decoder.frame(b"{}\n{", true)), (6, 4));
    assert!(sniff(b"\xEF\xBB\xBF \n{\"a\"") && sniff(b"[ {\"a\"") && !sniff(b"[1] started\n") && !sniff(b"a,b\n"));
}

#[test]
fn documents_are_refused_with_advice() {
    let options = TextOptions { delimiter: None, header: true, nulls: Vec::new() };
    let refused = |head: &[u8]| open(head, true, &options).err().map(|error| error.to_string());
    let array = "this is one JSON array, not one object a line\n  hint: jq -c '.[]' makes lines of it";
    for head in ["[{\"a\":1},\n{\"a\":2}]\n", "[{\"a\":1},{\"a\":2}]", "[\n  {\n"] {
        assert_eq!(refused(head.as_bytes()).as_deref(), Some(array), "{head}");
    }
    let spread =
        "this is JSON over several lines, not one object a line\n  hint: jq -c . writes each object on one line";
    assert_eq!(refused(b"{\n  \"a\": 1\n}\n").as_deref(), Some(spread));
    assert_eq!(refused(b"[1,2]\n{\"a\":1}\n"), None);
}

/// Lines made of pieces that matter, in an order that mostly makes sense.
fn json_value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|b| b.to_string()),
        any::<i64>().prop_map(|i| i.to_string()),
        (-1000..1000i32).prop_map(|i| i.to_string()),
        any::<f64>().prop_filter("finite", |f| f.is_finite()).prop_map(|f| format!("{f:?}").replace("inf", "0")),
        prop::sample::select(vec![
            "-0",
            "1E+2",
            "0.10",
            "1e400",
            "123456789012345678901234567890",
            "-9223372036854775809"
        ])
        .prop_map(str::to_owned),
        prop::sample::select(vec![
            r#""2026-03-01T00:00:00Z""#,
            r#""a""#,
            r#""""#,
            r#""\u0041\n""#,
            r#""\ud83d\ude00""#,
            r#""\\""#,
            r#""é""#,
            r#""12""#,
            r#""1.5""#,
            r#""true""#,
            r#""{\"x\":1}""#,
            r#""a long text that needs more than one look, and more""#,
        ])
        .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec((json_key(), inner), 0..4).prop_map(|members| object(&members, ",", ":")),
        ]
    })
}

fn json_key() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["t", "x", "a", "b", "c", "", r"\u0061", "y", "é", "trace_id", "\\\""])
        .prop_map(str::to_owned)
}

fn object(members: &[(String, String)], comma: &str, colon: &str) -> String {
    let members: Vec<_> = members.iter().map(|(key, value)| format!("\"{key}\"{colon}{value}")).collect();
    format!("{{{}}}", members.join(comma))
}

fn record() -> impl Strategy<Value = String> {
    let spaces = prop::sample::select(vec![(",", ":"), (", ", ": "), (" , ", " :\t"), (",  ", ":")]);
    (prop::collection::vec((json_key(), json_value()), 0..6), spaces, any::<bool>()).prop_map(
        |(mut members, (comma, colon), timed)| {
            if timed {
                members.insert(members.len() / 2, ("t".into(), "\"2026-03-01T00:00:00Z\"".into()));
            }
            object(&members, comma, colon)
        },
    )
}

proptest! {
    #[test]
    fn the_fast_path_means_what_the_definition_means(
        lines in prop::collection::vec(record(), 1..8),
        edits in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(
            b"\"\\{}[],:0159.-+eEtfnul aud8\n\r\t\x01\xC3\xA9\xFF".to_vec()), 0..3u8), 0..4),
        ending in prop::sample::select(vec!["\n", "\r\n"]),
    ) {
        let mut text: Vec<u8> = lines.join(ending).into_bytes();
        for (at, byte, how) in edits {
            let at = at.index(text.len());
            match how {
                0 => text[at] = byte,
                1 => text.insert(at, byte),
                _ => drop(text.remove(at)),
            }
            if text.is_empty() {
                text.push(byte);
            }
        }
        decode(&text, &layout("t time,x int,a.b text key,c double,a text,y bool,x int key,a.c.x decimal declared"));
    }
}
