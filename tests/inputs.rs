//! What may be read, and that it is read alike: formats and their oddities, compression, pipes, many files, types, and
//! ways to write a time.

use crate::folder::{Folder, gzip, parquet, zst};
use crate::helpers;
use arrow::array::{
    ArrayRef, Date32Array, Decimal128Array, DictionaryArray, Int64Array, StringArray, StructArray,
    TimestampMicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray,
};
use arrow::datatypes::{DataType, Field, Int32Type};
use std::fmt::Write as _;
use std::sync::Arc;

const JOB: &str = "--time ts --tumbling 1m";
const AT: &str = r#""ts":"2026-03-01T09:00:00Z""#;

/// What a quiet `windrow window REST` prints, without the bounds of the first window.
#[track_caller]
fn prints(folder: &Folder, rest: &str) -> String {
    let window = r#""window_start":"2026-03-01T09:00:00Z","window_end":"2026-03-01T09:01:00Z","#;
    folder.sh(&format!("windrow window {rest}")).ok().replace(window, "")
}

/// One file, one job, and what it prints.
#[track_caller]
fn check(name: &str, content: &[u8], flags: &str, want: &str) {
    let folder = Folder::new();
    folder.put(name, content);
    assert_eq!(prints(&folder, &format!("{name} {JOB} {flags}")), want, "{}", String::from_utf8_lossy(content));
}

#[test]
fn jsonl_oddities() {
    let line = |rest: &str| format!("{{{AT},{rest}}}\n");
    let case = |content: &str, flags: &str, want: &str| check("in.jsonl", content.as_bytes(), flags, want);
    // Names and values.
    case(
        &line(r#""actor":{"login":"a","x":[{"login":"z"}]}"#),
        "-g actor.login",
        "{\"actor.login\":\"a\",\"count\":1}\n",
    );
    case(&line(r#""a b":{"@c":"a"}"#), r#"-g '"a b"."@c" AS k'"#, "{\"k\":\"a\",\"count\":1}\n");
    case(&(line(r#""k":"caf\u00e9""#) + &line(r#""k":"café""#)), "-g k", "{\"k\":\"café\",\"count\":2}\n");
    case(&line(r#""\u006b":"a\n\t\"\\\/""#), "-g k", "{\"k\":\"a\\n\\t\\\"\\\\/\",\"count\":1}\n");
    case(&line(r#""k":"\ud83d\ude00""#), "-g k", "{\"k\":\"😀\",\"count\":1}\n");
    case(&line(r#""k":"a","k":"b""#), "-g k", "{\"k\":\"b\",\"count\":1}\n");
    case(&line(r#""k":{"x":"a"},"k":{"y":"b"}"#), "-g k.x,k.y", "{\"k.x\":null,\"k.y\":\"b\",\"count\":1}\n");
    case(
        &(line(r#""k":null"#) + &line(r#""k":"a""#) + &line(r#""x":1"#)),
        "-g k",
        "{\"k\":null,\"count\":2}\n{\"k\":\"a\",\"count\":1}\n",
    );
    // Numbers.
    case(&line(r#""n":9223372036854775807"#), "-a 'max(n)'", "{\"max(n)\":9223372036854775807}\n");
    case(&line(r#""n":-9223372036854775808"#), "-g n", "{\"n\":-9223372036854775808,\"count\":1}\n");
    case(
        &(line(r#""n":9007199254740993"#) + &line(r#""n":9007199254740992"#)),
        "-g n",
        "{\"n\":9007199254740992,\"count\":1}\n{\"n\":9007199254740993,\"count\":1}\n",
    );
    case(&(line(r#""n":1e16"#) + &line(r#""n":1.0"#) + &line(r#""n":-1e16"#)), "-a 'sum(n)'", "{\"sum(n)\":1.0}\n");
    case(&(line(r#""n":-0.0"#) + &line(r#""n":0.0"#)), "-a 'count(DISTINCT n)'", "{\"count(DISTINCT n)\":1}\n");
    case(&(line(r#""n":1e3"#) + &line(r#""n":1"#)), "-a 'sum(n)'", "{\"sum(n)\":1001.0}\n");
    // Mixed keys are text, and 1 is "1".
    case(
        &(line(r#""k":1"#) + &line(r#""k":"1""#) + &line(r#""k":true"#)),
        "-g k",
        "{\"k\":\"1\",\"count\":2}\n{\"k\":\"true\",\"count\":1}\n",
    );
    // Lines.
    let two = "{\"count\":2}\n";
    let one = format!("{{{AT}}}");
    case(&format!("{one}\n\n  \n\t{one}  \n\n"), "", two);
    case(&format!("\u{feff}{one}\n{one}\n"), "", two);
    case(&format!("{one}\r\n\r\n{one}\r\n"), "", two);
    case(&format!("{one}\n{one}"), "", two);
    case(&format!(" {{ {AT} , \"k\" : [ 1 , {{ }} ] }}\n{one}"), "", two);
}

#[test]
fn lines_that_are_no_records_are_kept_as_they_were() {
    let bad = "[1]\n\"x\"\n7\nnull\n{\"ts\":\"2026-03-01T09:00:00Z\"\n{\"ts\":\"soon\"}\n{}\n";
    let folder = Folder::with(&[("in.jsonl", &format!("{{{AT}}}\n{bad}{{{AT}}}\n"))]);
    let ran = folder.sh(&format!("windrow window in.jsonl {JOB} --bad bad.jsonl")).expect(0);
    assert!(ran.stdout().ends_with("\"count\":2}\n"), "{ran}");
    assert_eq!(folder.text("bad.jsonl"), bad);
}

#[test]
fn csv_oddities() {
    let case = |name: &str, content: &str, flags: &str, want: &str| check(name, content.as_bytes(), flags, want);
    const T: &str = "2026-03-01T09:00:00Z";
    case("a.csv", &format!("ts,k\n{T},\"a, \"\"b\"\"\"\n"), "-g k", "{\"k\":\"a, \\\"b\\\"\",\"count\":1}\n");
    case("a.csv", &format!("ts,k\n{T},\"a\nb\"\n{T},\"a\nb\"\n"), "-g k", "{\"k\":\"a\\nb\",\"count\":2}\n");
    case("a.csv", &format!("ts,user name\n{T},a\n"), "-g '\"user name\"'", "{\"user name\":\"a\",\"count\":1}\n");
    case("a.csv", &format!("\u{feff}\"ts\",k\r\n{T},a\r\n{T},a"), "-g k", "{\"k\":\"a\",\"count\":2}\n");
    case("a.csv", &format!("ts,k\n\n{T},a\n\n"), "-g k", "{\"k\":\"a\",\"count\":1}\n");
    case(
        "a.csv",
        &format!("ts,k\n{T},007\n{T},+7\n"),
        "-g k",
        "{\"k\":\"+7\",\"count\":1}\n{\"k\":\"007\",\"count\":1}\n",
    );
    case("a.csv", &format!("ts,k\n{T},\n{T},x\n"), "-g k", "{\"k\":null,\"count\":1}\n{\"k\":\"x\",\"count\":1}\n");
    case(
        "a.csv",
        &format!("ts,n\n{T},NA\n{T},-\n{T},2\n"),
        "--null NA,- -a 'sum(n), count(n), count(*)'",
        "{\"sum(n)\":2,\"count(n)\":1,\"count(*)\":3}\n",
    );
    case("a.csv", &format!("ts;k\n{T};a,b\n"), "--delimiter ';' -g k", "{\"k\":\"a,b\",\"count\":1}\n");
    case("a.csv", &format!("ts\tk\n{T}\ta,b\n"), "--delimiter tab -g k", "{\"k\":\"a,b\",\"count\":1}\n");
    case("a.tsv", &format!("ts\tk\n{T}\ta,b\n"), "-g k", "{\"k\":\"a,b\",\"count\":1}\n");
    let folder = Folder::with(&[("a.csv", &format!("{T},a\n{T},a\n"))]);
    assert_eq!(
        prints(&folder, "a.csv -t column0 --tumbling 1m --no-header -g column1"),
        "{\"column1\":\"a\",\"count\":2}\n"
    );
}

#[test]
fn ragged_csv_records_are_kept_as_they_were() {
    const T: &str = "2026-03-01T09:00:00Z";
    let bad = format!("{T}\n{T},\"x\ny\",z\n");
    let folder = Folder::with(&[("in.csv", &format!("ts,k\n{T},a\n{bad}{T},b\n"))]);
    let ran = folder.sh(&format!("windrow window in.csv {JOB} --bad bad.csv")).expect(0);
    assert!(ran.stdout().ends_with("\"count\":2}\n"), "{ran}");
    assert_eq!(folder.text("bad.csv"), format!("ts,k\n{bad}"));
}

const NINE: i64 = 1_772_355_600;

#[test]
fn parquet_times_of_every_unit() {
    let times: [(&str, ArrayRef); 8] = [
        ("s", Arc::new(TimestampSecondArray::from(vec![NINE]))),
        ("ms", Arc::new(TimestampMillisecondArray::from(vec![NINE * 1_000]).with_timezone("UTC"))),
        ("us", Arc::new(TimestampMicrosecondArray::from(vec![NINE * 1_000_000]).with_timezone("+02:00"))),
        (
            "ns",
            Arc::new(TimestampNanosecondArray::from(vec![NINE * 1_000_000_000 + 999]).with_timezone("Europe/Vienna")),
        ),
        ("number in s", Arc::new(Int64Array::from(vec![NINE]))),
        ("number in ms", Arc::new(Int64Array::from(vec![NINE * 1_000]))),
        ("text", Arc::new(StringArray::from(vec!["2026-03-01T10:00:00+01:00"]))),
        ("text in s", Arc::new(StringArray::from(vec![NINE.to_string()]))),
    ];
    for (what, column) in times {
        let folder = Folder::new();
        folder.put("in.parquet", parquet(&[("ts", column)], 100));
        assert_eq!(prints(&folder, &format!("in.parquet {JOB}")), "{\"count\":1}\n", "{what}");
        assert_eq!(prints(&folder, &format!("- {JOB} < in.parquet")), "{\"count\":1}\n", "{what} from a pipe");
    }
}

#[test]
fn parquet_times_without_a_zone_are_local() {
    let folder = Folder::new();
    let local: ArrayRef = Arc::new(TimestampMillisecondArray::from(vec![(NINE + 3_600) * 1_000]));
    folder.put("in.parquet", parquet(&[("ts", local)], 100));
    assert_eq!(prints(&folder, &format!("in.parquet {JOB} --input-tz Europe/Vienna")), "{\"count\":1}\n");
    folder.put("day.parquet", parquet(&[("ts", Arc::new(Date32Array::from(vec![20_513])))], 100));
    let day = prints(&folder, "day.parquet -t ts --tumbling 1h --input-tz Europe/Vienna");
    assert_eq!(
        day,
        "{\"window_start\":\"2026-02-28T23:00:00Z\",\"window_end\":\"2026-03-01T00:00:00Z\",\"count\":1}\n"
    );
}

#[test]
fn parquet_columns_of_every_kind() {
    let ts: ArrayRef = Arc::new(TimestampSecondArray::from(vec![NINE, NINE, NINE]));
    let words: DictionaryArray<Int32Type> = vec![Some("a"), None, Some("a")].into_iter().collect();
    let login: ArrayRef = Arc::new(StringArray::from(vec![Some("x"), Some("x"), None]));
    let actor = StructArray::from(vec![(Arc::new(Field::new("login", DataType::Utf8, true)), login)]);
    let price = Decimal128Array::from(vec![Some(1_050), Some(25), None]).with_precision_and_scale(18, 2).unwrap();
    let folder = Folder::new();
    let columns: [(&str, ArrayRef); 4] =
        [("ts", ts), ("word", Arc::new(words)), ("actor", Arc::new(actor)), ("price", Arc::new(price))];
    folder.put("in.parquet", parquet(&columns, 2));
    let case =
        |flags: &str, want: &str| assert_eq!(prints(&folder, &format!("in.parquet {JOB} {flags}")), want, "{flags}");
    case("-g word", "{\"word\":null,\"count\":1}\n{\"word\":\"a\",\"count\":2}\n");
    case("-g actor.login", "{\"actor.login\":null,\"count\":1}\n{\"actor.login\":\"x\",\"count\":2}\n");
    case("-a 'sum(price), max(price)'", "{\"sum(price)\":10.75,\"max(price)\":10.50}\n");
}

/// Row groups that no window of the range can hold are not read: one that is damaged does no harm. They are counted.
#[test]
fn parquet_row_groups_out_of_range_are_skipped_and_counted() {
    let ts: Vec<i64> = (0..300).map(|i| NINE + i * 60).collect();
    let folder = Folder::new();
    let mut bytes = parquet(&[("ts", Arc::new(TimestampSecondArray::from(ts)) as ArrayRef)], 100);
    bytes[4..40].fill(0xff);
    folder.put("in.parquet", &bytes);
    folder.sh(&format!("windrow window in.parquet {JOB}")).expect(1);
    let rows = folder.sh(&format!("windrow window in.parquet {JOB} -S 2026-03-01T11:00:00Z --summary s.json")).ok();
    assert_eq!(rows.lines().count(), 180);
    let total = folder.json("s.json")["total"].clone();
    assert_eq!((&total["read"], &total["used"], &total["outside"]), (&300.into(), &180.into(), &120.into()));
}

/// A window that starts inside the range holds events behind its end, and those may stand in row groups of their own.
#[test]
fn row_groups_that_only_the_last_window_reaches_are_read() {
    let ts: Vec<i64> = (0..120).map(|i| NINE + i * 60).collect();
    let folder = Folder::with(&[("in.jsonl", &ts.iter().map(|ts| format!("{{\"ts\":{ts}}}\n")).collect::<String>())]);
    folder.put("in.parquet", parquet(&[("ts", Arc::new(TimestampSecondArray::from(ts)) as ArrayRef)], 5));
    for kind in ["--tumbling 20m", "--sliding 30m/10m", "--cumulate 40m/10m"] {
        let rows =
            |file| prints(&folder, &format!("{file} -t ts {kind} -S 2026-03-01T09:15:00Z -U 2026-03-01T09:25:00Z"));
        assert_eq!(rows("in.parquet"), rows("in.jsonl"), "{kind}");
    }
}

#[test]
fn since_and_until_pick_whole_windows() {
    let text: String = (0..60).map(|m| format!("{{\"ts\":\"2026-03-01T09:{m:02}:30Z\"}}\n")).collect();
    let folder = Folder::with(&[("in.jsonl", &text)]);
    let range = "-S 2026-03-01T09:10:00Z -U 2026-03-01T09:30:00Z";
    let job = format!("in.jsonl -t ts --tumbling 10m {range} --summary s.json");
    let rows = folder.sh(&format!("windrow window {job}")).ok();
    assert_eq!(rows.matches("\"count\":10").count(), 2, "{rows}");
    let total = folder.json("s.json")["total"].clone();
    assert_eq!((&total["used"], &total["outside"]), (&20.into(), &40.into()));
    // A window that starts inside the range takes events past its end.
    let job = "in.jsonl -t ts --tumbling 20m -S 2026-03-01T09:15:00Z -U 2026-03-01T09:25:00Z";
    assert_eq!(prints(&folder, job).matches("\"count\":20").count(), 1);
}

#[test]
fn compression_is_told_by_content() {
    let line = format!("{{{AT}}}\n");
    let (first, second) = (line.as_bytes(), line.repeat(2));
    let folder = Folder::new();
    folder.put("members", [gzip(first), gzip(second.as_bytes())].concat());
    folder.put("frames", [zst(first), zst(second.as_bytes())].concat());
    for name in ["members", "frames"] {
        let bytes = folder.bytes(name);
        let extension = if name == "members" { "gz" } else { "zst" };
        for other in [format!("a.jsonl.{extension}"), "a.jsonl".into(), "a.log".into(), format!("a.{extension}")] {
            folder.put(&other, &bytes);
            assert_eq!(prints(&folder, &format!("{other} {JOB}")), "{\"count\":3}\n", "{name} as {other}");
        }
        assert_eq!(prints(&folder, &format!("{JOB} < {name}")), "{\"count\":3}\n", "{name} from a pipe");
    }
    // A name that promises compression does not make plain text unreadable.
    folder.put("plain.jsonl.gz", first);
    assert_eq!(prints(&folder, &format!("plain.jsonl.gz {JOB}")), "{\"count\":1}\n");
    folder.put("a.csv.gz", gzip(b"ts,k\n2026-03-01T09:00:00Z,a\n"));
    assert_eq!(prints(&folder, &format!("a.csv.gz {JOB} -g k")), "{\"k\":\"a\",\"count\":1}\n");
}

#[test]
fn formats_are_told_by_the_first_bytes() {
    let folder = Folder::with(&[
        ("a.log", &format!("\n {{{AT}}}\n")),
        ("b.log", "ts,k\n2026-03-01T09:00:00Z,a\n"),
        ("c.log", "ts\tk\n2026-03-01T09:00:00Z\ta\n"),
    ]);
    folder.put("d.log", parquet(&[("ts", Arc::new(TimestampSecondArray::from(vec![NINE])) as ArrayRef)], 10));
    for name in ["a.log", "d.log"] {
        assert_eq!(prints(&folder, &format!("{name} {JOB}")), "{\"count\":1}\n", "{name}");
    }
    for (name, format) in [("b.log", "csv"), ("c.log", "tsv")] {
        assert_eq!(prints(&folder, &format!("{name} {JOB} -i {format}")), "{\"count\":1}\n", "{name}");
    }
}

#[test]
fn pipes_and_fifos() {
    let folder = Folder::with(&[("in.jsonl", &format!("{{{AT}}}\n"))]);
    let case = |command: &str, want: usize| {
        let rows = folder.sh(command).ok();
        assert!(rows.ends_with(&format!("\"count\":{want}}}\n")), "{command}: {rows}");
    };
    case(&format!("cat in.jsonl in.jsonl | windrow window {JOB}"), 2);
    case(&format!("cat in.jsonl | windrow window in.jsonl - {JOB}"), 2);
    case(&format!("mkfifo pipe; cat in.jsonl in.jsonl > pipe & windrow window pipe {JOB}"), 2);
    case(&format!("mkfifo a b; cat in.jsonl > a & cat in.jsonl > b & windrow window a b {JOB} --delay 1m"), 2);
    case(&format!("(cat in.jsonl; sleep 0.1; cat in.jsonl) | windrow window {JOB} --delay 1m"), 2);
}

/// Ten days of one log and ten hosts' logs of one day both come out right, with a delay that covers each file alone.
#[test]
fn several_files_are_merged_by_time() {
    let folder = Folder::new();
    let line = |s: i64| format!("{{\"ts\":{}}}\n", NINE + s);
    for part in 0..3 {
        folder.put(&format!("day{part}.jsonl"), (0..200).map(|i| line(part * 6_000 + i * 30)).collect::<String>());
        folder.put(&format!("host{part}.jsonl"), (0..200).map(|i| line(part + i * 30)).collect::<String>());
    }
    for files in
        ["day0.jsonl day1.jsonl day2.jsonl", "day2.jsonl day0.jsonl day1.jsonl", "host2.jsonl host0.jsonl host1.jsonl"]
    {
        let rows = folder.sh(&format!("windrow window {files} {JOB} --delay 0s --max-late 0")).ok();
        assert_eq!(rows, folder.sh(&format!("cat {files} | windrow window {JOB}")).ok(), "{files}");
    }
    // As one partition, the days in the wrong order are late.
    let concat =
        folder.sh(&format!("windrow window day2.jsonl day0.jsonl {JOB} --delay 0s --concat --max-late 0")).expect(3);
    assert!(concat.stderr().contains("200 of 400 "), "{concat}");
    folder.sh(&format!("windrow window day0.jsonl day2.jsonl {JOB} --delay 0s --concat --max-late 0")).ok();
}

/// Ties go by the order on the command line, and a bad record takes its input nowhere.
#[test]
fn records_set_aside_come_in_merge_order() {
    let of = |file: &str, times: &[&str]| -> String {
        times.iter().map(|ts| format!("{{\"ts\":{ts},\"f\":\"{file}\"}}\n")).collect()
    };
    let folder = Folder::with(&[
        ("a.jsonl", &of("a", &["100", "5", "110", "null", "900"])),
        ("b.jsonl", &of("b", &["50", "100", "5", "120", "null", "130"])),
    ]);
    let late = of("a", &["5"]) + &of("b", &["5"]);
    let bad = of("a", &["null"]) + &of("b", &["null"]);
    let flags = "-t ts --tumbling 10s -d 0s --late late.jsonl --bad bad.jsonl -q";
    folder.sh(&format!("windrow window a.jsonl b.jsonl {flags}")).expect(0);
    assert_eq!((folder.text("late.jsonl"), folder.text("bad.jsonl")), (late, bad));
}

#[test]
fn more_files_than_descriptors() {
    let folder = Folder::new();
    for i in 0..150 {
        let name = ["jsonl", "csv", "jsonl.gz"][i % 3];
        let line = if name == "csv" {
            format!("ts\n{}\n", NINE + i as i64)
        } else {
            format!("{{\"ts\":{}}}\n", NINE + i as i64)
        };
        let bytes = if name == "jsonl.gz" { gzip(line.as_bytes()) } else { line.into_bytes() };
        folder.put(&format!("in/{i:03}.{name}"), bytes);
    }
    for delay in ["", "--delay 10s"] {
        let rows = folder.sh(&format!("ulimit -n 40; windrow window in/* {JOB} {delay}")).ok();
        assert_eq!(rows.matches("\"count\":60").count(), 2, "{rows}");
        assert_eq!(rows.matches("\"count\":30").count(), 1, "{rows}");
    }
}

/// Files that are closed between reads go on where they were left, whatever their format.
#[test]
fn many_files_are_read_piece_by_piece() {
    let folder = Folder::new();
    for i in 0..70 {
        let times = (0..20).map(|n| NINE + n * 70 + i as i64);
        let (name, header, before, after) = [
            ("jsonl", "", "{\"ts\":", "}\n"),
            ("csv", "ts\n", "", "\n"),
            ("jsonl.gz", "", "{\"ts\":", "}\n"),
            ("jsonl.zst", "", "{\"ts\":", "}\n"),
        ][i % 4];
        let text = times.fold(header.to_owned(), |text, ts| text + before + &ts.to_string() + after).into_bytes();
        let bytes = if name.ends_with("gz") { gzip(&text) } else { text };
        folder.put(&format!("in/{i:02}.{name}"), if name.ends_with("zst") { zst(&bytes) } else { bytes });
    }
    let inputs: Vec<String> = folder.names_in("in").iter().map(|name| format!("DIR/in/{name}")).collect();
    let rows =
        at_any_chunk(&folder, &format!("window -t ts --tumbling 100s -d 0s -o DIR/out.jsonl {}", inputs.join(" ")));
    assert_eq!(rows.matches("\"count\":100}").count(), 14, "{rows}");
    assert_eq!(rows.lines().count(), 14, "{rows}");
}

/// Runs a job in this process with reads of several sizes; all give the same bytes.
#[track_caller]
fn at_any_chunk(folder: &Folder, args: &str) -> String {
    let mut results = [Some(1), Some(64), Some(1_000), Some(65_536), None].map(|chunk| {
        let args: Vec<String> =
            args.split(' ').map(|arg| arg.replace("DIR", &folder.path().display().to_string())).collect();
        helpers::run(&args, chunk).unwrap_or_else(|e| panic!("{args:?} by {chunk:?}: {e}"));
        (chunk, folder.text("out.jsonl"))
    });
    let (_, first) = std::mem::take(&mut results[0]);
    results[1..].iter().for_each(|(chunk, rows)| assert_eq!(rows, &first, "{args} by {chunk:?}"));
    first
}

/// 1,500 records with one misfit among the last, as JSONL and as CSV.
fn late_misfit(value: &str, json: &str) -> Folder {
    let (mut jsonl, mut csv) = (String::new(), "ts,v\n".to_owned());
    for i in 0..1_500_i64 {
        let (ts, plain) = (NINE + i, (i % 3).to_string());
        let (v, json) = if i == 1_400 { (value, json) } else { (plain.as_str(), plain.as_str()) };
        writeln!(jsonl, "{{\"ts\":{ts},\"v\":{json}}}").unwrap();
        writeln!(csv, "{ts},{v}").unwrap();
    }
    Folder::with(&[("in.jsonl", &jsonl), ("in.csv", &csv)])
}

#[test]
fn an_integer_column_that_meets_a_fraction_becomes_double() {
    let folder = late_misfit("0.5", "0.5");
    for delay in ["", " --delay 1m"] {
        let job = |file: &str| format!("window DIR/{file} -t ts --tumbling 1d -a sum(v) -o DIR/out.jsonl{delay}");
        let (jsonl, csv) = (at_any_chunk(&folder, &job("in.jsonl")), at_any_chunk(&folder, &job("in.csv")));
        assert!(jsonl.ends_with("\"sum(v)\":1498.5}\n"), "{jsonl}");
        assert_eq!(jsonl, csv);
    }
}

#[test]
fn a_key_column_that_meets_text_becomes_text() {
    let folder = late_misfit("x", "\"x\"");
    for delay in ["", " --delay 1m"] {
        let job = |file: &str| format!("window DIR/{file} -t ts --tumbling 1d -g v -o DIR/out.jsonl{delay}");
        let (jsonl, csv) = (at_any_chunk(&folder, &job("in.jsonl")), at_any_chunk(&folder, &job("in.csv")));
        let rows = [
            "\"v\":\"0\",\"count\":500",
            "\"v\":\"1\",\"count\":500",
            "\"v\":\"2\",\"count\":499",
            "\"v\":\"x\",\"count\":1",
        ];
        assert_eq!(jsonl.lines().count(), 4, "{jsonl}");
        rows.iter().zip(jsonl.lines()).for_each(|(row, line)| assert!(line.contains(row), "{line}"));
        assert_eq!(jsonl, csv);
        // Rows written before the misfit came have the type of then, at any chunk size too.
        let job = format!("window DIR/in.jsonl -t ts --tumbling 1m -g v -o DIR/out.jsonl{delay}");
        at_any_chunk(&folder, &job);
    }
}

/// The file that is read alongside has integers only; what it has given already is not given again.
#[test]
fn a_column_is_widened_by_another_file_midway() {
    let folder = Folder::new();
    let mut lines = [String::new(), String::new()];
    for i in 0..2_400 {
        writeln!(lines[0], "{{\"ts\":{},\"v\":1}}", NINE + i).unwrap();
        writeln!(lines[1], "{{\"ts\":{},\"v\":{}}}", NINE + i, if i == 2_000 { "0.5" } else { "1" }).unwrap();
        if i == 1_500 {
            lines.iter_mut().for_each(|text| text.push_str("{\"ts\":\"n/a\"}\n"));
        }
    }
    lines.iter().enumerate().for_each(|(i, text)| folder.put(&format!("{i}.jsonl"), text));
    for files in ["DIR/0.jsonl DIR/1.jsonl", "DIR/1.jsonl DIR/0.jsonl"] {
        let flags = "-t ts --tumbling 1d -g v -o DIR/out.jsonl --bad DIR/bad.jsonl --summary DIR/s.json";
        let rows = at_any_chunk(&folder, &format!("window {files} {flags}"));
        assert_eq!(rows.lines().count(), 2, "{rows}");
        assert!(rows.contains("\"v\":0.5,\"count\":1}") && rows.contains("\"v\":1.0,\"count\":4799}"), "{rows}");
        assert_eq!(folder.text("bad.jsonl"), "{\"ts\":\"n/a\"}\n".repeat(2));
        assert_eq!(folder.json("s.json")["total"]["bad"], 2);
    }
}

/// What the samples of all inputs show is known before the first record.
#[test]
fn types_are_those_of_all_inputs_from_the_start() {
    let folder = Folder::with(&[
        ("a.jsonl", &format!("{{\"ts\":{NINE},\"k\":1,\"n\":1}}\n")),
        ("b.jsonl", &format!("{{\"ts\":{},\"k\":\"x\",\"n\":0.5}}\n", NINE + 3_600)),
    ]);
    for files in ["a.jsonl b.jsonl", "b.jsonl a.jsonl"] {
        let rows = prints(&folder, &format!("{files} {JOB} -d 0s -g k -a 'sum(n)'"));
        assert!(rows.starts_with("{\"k\":\"1\",\"sum(n)\":1.0}\n"), "{files}: {rows}");
    }
}

/// Each change of type takes effect at its own record, wherever the pieces of either file end.
#[test]
fn a_column_is_widened_twice_by_two_files() {
    let file = |at: i64, odd: &str| -> String {
        let value = |i: i64| if i == at { odd } else { "1" };
        (0..2_400).map(|i| format!("{{\"ts\":{},\"v\":{}}}\n", NINE + i, value(i))).collect()
    };
    let folder = Folder::with(&[("a.jsonl", &file(1_900, "\"x\"")), ("b.jsonl", &file(1_300, "0.5"))]);
    let rows = at_any_chunk(&folder, "window DIR/a.jsonl DIR/b.jsonl -t ts --tumbling 1m -g v -d 0s -o DIR/out.jsonl");
    let key = |n: usize| rows.matches(&format!("\"v\":{},", ["1", "1.0", "\"1.0\"", "\"1\""][n])).count();
    // A whole double becomes the text of its integer, so the window at hand has one group and not two.
    assert_eq!([key(0), key(1), key(2), key(3)], [21, 10, 0, 9], "{rows}");
}

/// Lines are counted through blank ones and line ends inside quotes, over all pieces before.
#[test]
fn records_set_aside_know_their_lines_at_any_chunk() {
    let (mut jsonl, mut csv) = (String::new(), "ts,k\n".to_owned());
    for i in 0..300 {
        let ts = NINE + if i == 250 { 0 } else { i * 60 };
        writeln!(jsonl, "{{\"ts\":{ts}}}\n").unwrap();
        writeln!(csv, "{ts},\"a\nb\"").unwrap();
    }
    let folder = Folder::with(&[("in.jsonl", &jsonl), ("in.csv", &csv)]);
    for (file, late) in [("in.jsonl", "\"_line\":501,"), ("in.csv", ",502,")] {
        let flags = "-t ts --tumbling 1m -d 0s --late-details --late";
        let out = file.replace("in.", "late.");
        for chunk in [Some(1), Some(100), None] {
            let all = format!("window DIR/{file} {flags} DIR/{out} -o DIR/out.jsonl");
            let args: Vec<_> = all.split(' ').map(|a| a.replace("DIR", &folder.path().display().to_string())).collect();
            helpers::run(&args, chunk).unwrap();
            assert!(folder.text(&out).contains(late), "{chunk:?}: {}", folder.text(&out));
        }
        folder.put(file, folder.text(file) + "n/a\n");
        let line = if file == "in.csv" { "in.csv:602: " } else { "in.jsonl:601: " };
        for chunk in [Some(1), Some(100), None] {
            let all = format!("window DIR/{file} -t ts --tumbling 1m -o DIR/out.jsonl --max-bad 0");
            let args: Vec<_> = all.split(' ').map(|a| a.replace("DIR", &folder.path().display().to_string())).collect();
            let error = helpers::run(&args, chunk).unwrap_err().to_string();
            assert!(error.contains(line), "{chunk:?}: {error}");
        }
    }
}

#[test]
fn a_value_that_meets_text_is_bad() {
    let folder = late_misfit("x", "\"x\"");
    for file in ["in.jsonl", "in.csv"] {
        let ran = folder.sh(&format!("windrow window {file} -t ts --tumbling 1d -a 'sum(v)' --max-bad 1")).expect(0);
        assert!(ran.stdout().ends_with("\"sum(v)\":1497}\n") || ran.stdout().ends_with("\"sum(v)\":1498}\n"), "{ran}");
        assert!(ran.stderr().contains("1 of 1,500 records was bad"), "{ran}");
    }
}

#[test]
fn declared_types_win() {
    let line = |k: &str| format!("{{{AT},\"k\":{k}}}\n");
    let folder = Folder::with(&[("in.jsonl", &(line("1") + &line("\"1\"") + &line("2")))]);
    let case =
        |flags: &str, want: &str| assert_eq!(prints(&folder, &format!("in.jsonl {JOB} {flags}")), want, "{flags}");
    case("--schema 'k varchar' -g k", "{\"k\":\"1\",\"count\":2}\n{\"k\":\"2\",\"count\":1}\n");
    folder.put("in.jsonl", line("1") + &line("2"));
    case("--schema 'k double' -a 'sum(k)'", "{\"sum(k)\":3.0}\n");
    case("--schema 'k decimal(18,2)' -a 'sum(k)'", "{\"sum(k)\":3.00}\n");
}

/// Zero tells no unit, so the first other number does, also behind the sample; a later one of another size is bad.
#[test]
fn a_unit_shown_late_holds_from_there_on() {
    let mut times = vec![0; 1_100];
    times.extend([NINE, NINE * 1_000, NINE + 1, 0, NINE * 1_000_000]);
    let text = |before: &str, after: &str| times.iter().map(|ts| format!("{before}{ts}{after}\n")).collect::<String>();
    let folder = Folder::with(&[("in.jsonl", &text("{\"ts\":", "}")), ("in.csv", &format!("ts\n{}", text("", "")))]);
    folder.put("in.parquet", parquet(&[("ts", Arc::new(Int64Array::from(times.clone())) as ArrayRef)], 30));
    for file in ["in.jsonl", "in.csv", "in.parquet"] {
        let bad = file.replace("in.", "bad.");
        let flags = format!("-t ts --tumbling 1h -o DIR/out.jsonl --bad DIR/{bad} --summary DIR/s.json");
        let rows = at_any_chunk(&folder, &format!("window DIR/{file} {flags}"));
        assert!(
            rows.contains("T00:00:00Z\",\"window_end\":\"1970-01-01T01:00:00Z\",\"count\":1101}"),
            "{file}: {rows}"
        );
        assert!(rows.ends_with("\"window_end\":\"2026-03-01T10:00:00Z\",\"count\":2}\n"), "{file}: {rows}");
        assert_eq!(folder.json("s.json")["total"]["bad"], 2, "{file}");
    }
}

/// The start of the hour that holds one event, as the output has it.
#[track_caller]
fn hour_of(ts: &str, flags: &str) -> String {
    let folder = Folder::with(&[("in.jsonl", &format!("{{\"ts\":{ts}}}\n"))]);
    let row = prints(&folder, &format!("in.jsonl -t ts --tumbling 1h {flags}"));
    let row: serde_json::Value = serde_json::from_str(&row).unwrap();
    row["window_start"].as_str().unwrap().to_owned()
}

#[test]
fn ways_to_write_a_time() {
    let nine = "2026-03-01T09:00:00Z";
    for (ts, flags) in [
        (r#""2026-03-01T09:30:00Z""#, ""),
        (r#""2026-03-01T09:30:00.123456789Z""#, ""),
        (r#""2026-03-01 09:30:00""#, ""),
        (r#""2026-03-01T10:30:00+01:00""#, ""),
        (r#""2026-03-01t09:30:00z""#, ""),
        (r#""2026-03-01T09:30""#, ""),
        (r#""1772357400""#, ""),
        ("1772357400", ""),
        ("1772357400.25", ""),
        ("1772357400000", ""),
        ("1772357400000000", ""),
        ("1772357400000000000", ""),
        ("1772357400", "--time-format unix-s"),
        ("1772357400000", "--time-format unix-ms"),
        (r#""2026-03-01T09:30:00Z""#, "--time-format rfc3339"),
        (r#""01/Mar/2026:10:30:00 +0100""#, "--time-format '%d/%b/%Y:%H:%M:%S %z'"),
        (r#""01.03.2026 10:30""#, "--time-format '%d.%m.%Y %H:%M' --input-tz Europe/Vienna"),
        (r#""2026-03-01T10:30:00""#, "--input-tz Europe/Vienna"),
    ] {
        assert_eq!(hour_of(ts, flags), nine, "{ts} {flags}");
    }
    assert_eq!(hour_of("\"2026-03-01\"", ""), "2026-03-01T00:00:00Z");
    assert_eq!(hour_of("\"1969-12-31T23:30:00Z\"", ""), "1969-12-31T23:00:00Z");
    assert_eq!(hour_of("-1", "--time-format unix-us"), "1969-12-31T23:00:00Z");
    assert_eq!(hour_of("0", ""), "1970-01-01T00:00:00Z");
}

/// RFC 5545: a local time that is skipped moves forward by the gap, one that comes twice is the earlier.
#[test]
fn local_times_around_daylight_saving() {
    let vienna = "--input-tz Europe/Vienna";
    assert_eq!(hour_of("\"2026-03-29T01:59:00\"", vienna), "2026-03-29T00:00:00Z");
    assert_eq!(hour_of("\"2026-03-29T02:30:00\"", vienna), "2026-03-29T01:00:00Z");
    assert_eq!(hour_of("\"2026-03-29T03:30:00\"", vienna), "2026-03-29T01:00:00Z");
    assert_eq!(hour_of("\"2026-10-25T02:30:00\"", vienna), "2026-10-25T00:00:00Z");
    assert_eq!(hour_of("\"2026-10-25T03:30:00\"", vienna), "2026-10-25T02:00:00Z");
}

#[test]
fn output_in_a_zone() {
    let folder = Folder::with(&[(
        "in.jsonl",
        "{\"ts\":\"2026-03-29T12:00:00Z\"}\n{\"ts\":\"2026-10-25T00:30:00Z\"}\n{\"ts\":\"2026-10-25T01:30:00Z\"}\n",
    )]);
    let days = prints(&folder, "in.jsonl -t ts --tumbling 1d --tz Europe/Vienna -O csv");
    assert_eq!(
        days,
        "window_start,window_end,count\n\
         2026-03-29T00:00:00+01:00,2026-03-30T00:00:00+02:00,1\n\
         2026-10-25T00:00:00+02:00,2026-10-26T00:00:00+01:00,2\n"
    );
    let hours = prints(&folder, "in.jsonl -t ts --tumbling 1h --tz Europe/Vienna -O csv -S 2026-10-01");
    assert_eq!(
        hours,
        "window_start,window_end,count\n\
         2026-10-25T02:00:00+02:00,2026-10-25T02:00:00+01:00,1\n\
         2026-10-25T02:00:00+01:00,2026-10-25T03:00:00+01:00,1\n"
    );
    let fine = prints(&folder, "in.jsonl -t ts --tumbling 1500us -n 1 -O csv -S 2026-10-01");
    assert!(fine.ends_with("2026-10-25T00:30:00Z,2026-10-25T00:30:00.001500Z,1\n"), "{fine}");
}

/// 400 events as JSONL, CSV, TSV and Parquet.
fn four_formats() -> Folder {
    let (mut jsonl, mut csv) = (String::new(), "ts,k,n,x\n".to_owned());
    let (mut ts, mut k, mut n, mut x) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for i in 0..400_i64 {
        let t = NINE + (i * 7 + (i * i) % 90 - 45).max(0);
        let key = (i % 5 > 0).then(|| format!("page {}", i % 5));
        let (number, fraction) = (i * i % 101, (i * 31 % 1_000) as f64 / 8.0);
        let json = key.as_ref().map_or("null".into(), |key| format!("\"{key}\""));
        writeln!(jsonl, "{{\"ts\":{t},\"k\":{json},\"n\":{number},\"x\":{fraction:?}}}").unwrap();
        writeln!(csv, "{t},{},{number},{fraction:?}", key.as_deref().unwrap_or("")).unwrap();
        ts.push(t);
        k.push(key);
        n.push(number);
        x.push(fraction);
    }
    let folder = Folder::with(&[("in.jsonl", &jsonl), ("in.csv", &csv), ("in.tsv", &csv.replace(',', "\t"))]);
    let columns: [(&str, ArrayRef); 4] = [
        ("ts", Arc::new(TimestampSecondArray::from(ts))),
        ("k", Arc::new(StringArray::from(k))),
        ("n", Arc::new(Int64Array::from(n))),
        ("x", Arc::new(arrow::array::Float64Array::from(x))),
    ];
    folder.put("in.parquet", parquet(&columns, 90));
    folder
}

#[test]
fn the_same_rows_give_the_same_answer_in_any_format() {
    let folder = four_formats();
    let aggs = "-a 'count(*) AS c, sum(n) AS s, avg(x) AS a, min(x), max(n), first(n), last(x), count(DISTINCT n)'";
    for job in [
        format!("--tumbling 1m -g k {aggs}"),
        format!("--tumbling 1m -g k {aggs} --delay 20s"),
        format!("--sliding 10m/1m -g k {aggs} --delay 1m"),
        format!("--cumulate 10m/2m {aggs} --delay 40s"),
        format!("--session 20s -g k {aggs}"),
        format!("--session 20s -g k {aggs} --delay 20s"),
        format!("--tumbling 5m -g k,n {aggs} -S 2026-03-01T09:10:00Z"),
    ] {
        let rows = |file: &str, more: &str| {
            let ran = folder.sh(&format!("windrow window {file} -t ts {job} {more}")).expect(0);
            (ran.stdout(), ran.stderr().replace(file, "FILE"))
        };
        let jsonl = rows("in.jsonl", "");
        assert!(jsonl.0.lines().count() > 5, "{job}: {}", jsonl.0);
        for file in ["in.csv", "in.tsv", "in.parquet"] {
            assert_eq!(rows(file, ""), jsonl, "{file} {job}");
        }
        assert_eq!(rows("in.jsonl", "-j 1"), jsonl, "one thread: {job}");
        assert_eq!(rows("in.parquet", "-j 5"), jsonl, "five threads: {job}");
    }
}

#[test]
fn a_time_format_is_the_event_times_alone() {
    let folder = Folder::new();
    folder.put("in.csv", b"ts,x,y\n1772355600,2026-01-01T00:00:00Z,1767225600000\n");
    folder.put("in.jsonl", b"{\"ts\":1772355600,\"x\":\"2026-01-01T00:00:00Z\",\"y\":1767225600000}\n");
    for name in ["in.csv", "in.jsonl"] {
        let job = format!(
            "{name} {JOB} --time-format unix-s --schema 'x timestamp, y timestamp' -a 'min(x) AS x, max(y) AS y'"
        );
        let want = "{\"x\":\"2026-01-01T00:00:00Z\",\"y\":\"2026-01-01T00:00:00Z\"}\n";
        assert_eq!(prints(&folder, &job), want, "{name}");
    }
}

#[test]
fn csv_has_numbers_that_are_not_finite() {
    let csv = |values: &[&str]| {
        let rows: String = values.iter().map(|value| format!("2026-03-01T09:00:00Z,{value}\n")).collect();
        format!("ts,v\n{rows}").into_bytes()
    };
    let maximum = |values: &[&str], flags: &str, want: &str| {
        check("in.csv", &csv(values), &format!("-a 'max(v) AS v, min(v) AS w' -O csv {flags}"), want);
    };
    let head = "window_start,window_end,v,w\n2026-03-01T09:00:00Z,2026-03-01T09:01:00Z,";
    maximum(&["1", "-inf", "2", "Infinity"], "", &format!("{head}inf,-inf\n"));
    maximum(&["nan", "NaN"], "--schema 'v double'", &format!("{head}NaN,NaN\n"));
    // By themselves they may be names.
    maximum(&["Nan", "Bob", "inf"], "", &format!("{head}inf,Bob\n"));
    check("in.csv", &csv(&["Nan", "Inf"]), "-g v", "{\"v\":\"Inf\",\"count\":1}\n{\"v\":\"Nan\",\"count\":1}\n");
    // Behind the records that types are inferred from.
    let many: Vec<&str> = std::iter::repeat_n("1", 1_100).chain(["inf"]).collect();
    maximum(&many, "-q", &format!("{head}inf,1.0\n"));
    // What is written reads back.
    let folder = Folder::new();
    folder.put("in.csv", csv(&["-inf", "2", "nan"]));
    let back = "-a 'max(v) AS v, min(v) AS w' -O csv | windrow window - -i csv -t window_start --tumbling 1m \
                -a 'max(v) AS v, min(w) AS w' -O csv --schema 'v double, w double'";
    assert_eq!(prints(&folder, &format!("in.csv {JOB} {back}")), format!("{head}NaN,-inf\n"));
}

#[test]
fn the_last_day_of_the_calendar_is_a_time() {
    let folder = Folder::new();
    folder.put("in.jsonl", format!("{{{AT},\"x\":\"9999-12-31\",\"y\":\"9999-12-31T23:59:59.999999Z\"}}\n").as_bytes());
    let want = "{\"x\":\"9999-12-31T00:00:00Z\",\"y\":\"9999-12-31T23:59:59.999999Z\",\"z\":true}\n";
    let values = "--schema 'x timestamp, y timestamp' -a \"max(x) AS x, max(y) AS y, bool_and(x = '9999-12-31') AS z\"";
    assert_eq!(prints(&folder, &format!("in.jsonl {JOB} {values}")), want);
    folder.sh(&format!("windrow window in.jsonl {JOB} {values} -o out.parquet")).ok();
    let want = "{\"window_start\":\"9999-12-31T00:00:00Z\",\"window_end\":\"9999-12-31T01:00:00Z\",\"y\":\"9999-12-31T23:59:59.999999Z\"}\n";
    assert_eq!(prints(&folder, "out.parquet -t x --tumbling 1h -a 'max(y) AS y'"), want);
}
