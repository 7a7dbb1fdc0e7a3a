//! What a run leaves behind: files whole or not at all, formats, side files, the account, and what is said to whom.

use crate::folder::{Folder, gzip};
use crate::helpers;
use arrow::array::{
    Array, ArrayRef, AsArray, Int64Array, RecordBatch, TimestampMicrosecondArray, TimestampSecondArray,
};
use arrow::datatypes::{DataType, Int64Type, TimeUnit};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::io::Write as _;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

const JOB: &str = "--time ts --tumbling 1m";

/// Records of the given minutes after nine, with a key.
fn minutes(all: &[(u32, &str)]) -> String {
    all.iter().map(|(m, k)| format!("{{\"ts\":\"2026-03-01T09:{m:02}:00Z\",\"k\":\"{k}\"}}\n")).collect()
}

fn three() -> String {
    minutes(&[(0, "a"), (0, "b"), (1, "a")])
}

/// 2,000 records, every seventh of them far behind, in an odd but valid spelling.
fn disordered() -> String {
    let line = |i: i64| {
        let at = 1_772_355_600 + i - if i % 7 == 3 { (i * 37) % 900 } else { 0 };
        format!("{{ \"k\" : \"k{}\",\t\"ts\":{at}, \"n\":{i} , \"x\":[1, 2]}}\n", i % 3)
    };
    (0..2_000).map(line).collect()
}

// --- Whole or not at all ---

#[test]
fn a_run_that_fails_leaves_every_file_as_it_was() {
    let bad = three() + "{\"ts\":\"n/a\"}\n";
    let folder = Folder::with(&[("in.jsonl", &bad)]);
    let outputs = ["out.jsonl", "late.jsonl", "bad.jsonl", "sum.json"];
    outputs.iter().for_each(|name| folder.put(name, "as it was\n"));
    let job = format!("windrow window in.jsonl {JOB} -d 0s -o out.jsonl --late late.jsonl --summary sum.json");
    folder.sh(&job).expect(1);
    folder.sh(&format!("{job} --bad bad.jsonl --max-bad 0")).expect(3);
    outputs.iter().for_each(|name| assert_eq!(folder.text(name), "as it was\n", "{name}"));
    assert_eq!(folder.names().len(), 5, "{:?}", folder.names());
    folder.sh(&format!("{job} --bad bad.jsonl")).expect(0);
    outputs.iter().for_each(|name| assert_ne!(folder.text(name), "as it was\n", "{name}"));
    assert_eq!(folder.names().len(), 5, "{:?}", folder.names());
}

fn kill(signal: &str, child: &Child) {
    let status = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// The exit status of a child that must end soon.
#[track_caller]
fn ends(child: &mut Child) -> i32 {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(20) {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code().unwrap_or(-1);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    panic!("still running");
}

#[test]
fn an_interrupted_run_leaves_every_file_as_it_was() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        for written in [true, false] {
            let folder = Folder::with(&[("out.jsonl", "as it was\n")]);
            folder.sh("mkfifo pipe").ok();
            let mut command = helpers::windrow();
            command.current_dir(folder.path()).args("window pipe -t ts --tumbling 1m -d 0s -o out.jsonl".split(' '));
            let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
            // Held open, so that the input does not end. Without a writer the run waits in open().
            let writer = written.then(|| {
                let mut writer = std::fs::File::create(folder.at("pipe")).unwrap();
                writer.write_all(minutes(&[(0, "a"), (5, "a"), (9, "b")]).as_bytes()).unwrap();
                writer
            });
            std::thread::sleep(Duration::from_millis(300));
            kill(signal, &child);
            assert_eq!(ends(&mut child), code, "{signal}, something written: {written}");
            drop(writer);
            assert_eq!(folder.text("out.jsonl"), "as it was\n");
            assert_eq!(folder.names(), ["out.jsonl", "pipe"]);
        }
    }
}

#[test]
fn a_replaced_file_keeps_its_mode_owner_and_links() {
    let folder = Folder::with(&[("in.jsonl", &three()), ("real/out.jsonl", "old")]);
    let real = folder.at("real/out.jsonl");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
    let root = std::fs::metadata(&real).unwrap().uid() == 0;
    let owner = if root {
        (4_711, 4_712)
    } else {
        (std::fs::metadata(&real).unwrap().uid(), std::fs::metadata(&real).unwrap().gid())
    };
    std::os::unix::fs::chown(&real, Some(owner.0), Some(owner.1)).unwrap();
    std::os::unix::fs::symlink("real/out.jsonl", folder.at("link.jsonl")).unwrap();
    folder.sh(&format!("windrow window in.jsonl {JOB} -o link.jsonl")).ok();
    assert!(std::fs::symlink_metadata(folder.at("link.jsonl")).unwrap().is_symlink());
    assert_eq!(folder.text("real/out.jsonl").lines().count(), 2);
    let after = std::fs::metadata(&real).unwrap();
    assert_eq!((after.permissions().mode() & 0o7777, after.uid(), after.gid()), (0o640, owner.0, owner.1));
    // A link that points nowhere yet is followed, too.
    std::os::unix::fs::symlink("real/new.jsonl", folder.at("new.jsonl")).unwrap();
    folder.sh(&format!("windrow window in.jsonl {JOB} -o new.jsonl")).ok();
    assert_eq!(folder.text("real/new.jsonl"), folder.text("real/out.jsonl"));
    // A new file has the mode that a shell's redirection would give it.
    folder.sh(&format!("umask 027; windrow window in.jsonl {JOB} -o fresh.jsonl; : > shell")).ok();
    let mode = |name: &str| std::fs::metadata(folder.at(name)).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode("fresh.jsonl"), mode("shell"));
}

#[test]
fn pipes_and_devices_are_written_directly() {
    let folder = Folder::with(&[("in.jsonl", &three())]);
    let want = folder.sh(&format!("windrow window in.jsonl {JOB}")).ok();
    folder.sh(&format!("mkfifo p; cat p > got & windrow window in.jsonl {JOB} -o p; wait")).ok();
    assert_eq!(folder.text("got"), want);
    assert!(std::fs::metadata(folder.at("p")).unwrap().file_type().is_fifo());
    assert_eq!(folder.sh(&format!("windrow window in.jsonl {JOB} -o /dev/stdout | cat")).ok(), want);
    assert_eq!(folder.sh(&format!("windrow window in.jsonl {JOB} -o -")).ok(), want);
    folder.sh(&format!("windrow window in.jsonl {JOB} -o /dev/null")).ok();
    folder.sh(&format!("windrow window in.jsonl {JOB} -o /dev/stdout > file")).ok();
    assert_eq!(folder.text("file"), want);
    let append = folder.sh(&format!("echo first > log; windrow window in.jsonl {JOB} >> log; cat log")).ok();
    assert_eq!(append, format!("first\n{want}"));
}

#[test]
fn a_closed_pipe_is_a_quiet_success() {
    let text: String = (0..3_000).map(|m| format!("{{\"ts\":{}}}\n", 1_772_355_600 + m * 60)).collect();
    let folder = Folder::with(&[("in.jsonl", &text)]);
    for more in ["", "-d 1m", "-O csv", "-O parquet"] {
        let command = format!("(windrow window in.jsonl {JOB} {more}; echo $? > code) | head -c 20 > /dev/null");
        folder.sh(&command).ok();
        assert_eq!(folder.text("code"), "0\n", "{more}");
    }
}

#[test]
fn at_most_so_many_rows() {
    let folder = Folder::with(&[("in.jsonl", &three())]);
    let all = folder.sh(&format!("windrow window in.jsonl {JOB} -g k")).ok();
    for n in 1..=4 {
        let want: String = all.split_inclusive('\n').take(n).collect();
        assert_eq!(folder.sh(&format!("windrow window in.jsonl {JOB} -g k -n {n}")).ok(), want);
        assert_eq!(folder.sh(&format!("windrow window in.jsonl {JOB} -g k -n {n} -d 0s")).ok(), want);
    }
    // Enough is enough, even if the input has no end.
    let endless = "i=0; while :; do i=$((i+60)); echo \"{\\\"ts\\\":$((1772355600+i))}\" || exit; done";
    let rows = folder.sh(&format!("({endless}) 2>/dev/null | windrow window {JOB} -d 0s -n 3")).ok();
    assert_eq!(rows.lines().count(), 3, "{rows}");
}

// --- Formats ---

#[test]
fn every_output_format() {
    let folder = Folder::with(&[("in.jsonl", &minutes(&[(0, "a, \\\"b\\\""), (1, "x")]))]);
    let case = |flags: &str, want: &str| {
        assert_eq!(folder.sh(&format!("windrow window in.jsonl {JOB} -g k {flags}")).ok(), want)
    };
    let rows = [
        r#"{"window_start":"2026-03-01T09:00:00Z","window_end":"2026-03-01T09:01:00Z","k":"a, \"b\"","count":1}"#,
        r#"{"window_start":"2026-03-01T09:01:00Z","window_end":"2026-03-01T09:02:00Z","k":"x","count":1}"#,
    ];
    let jsonl = format!("{}\n{}\n", rows[0], rows[1]);
    let csv = "window_start,window_end,k,count\n\
               2026-03-01T09:00:00Z,2026-03-01T09:01:00Z,\"a, \"\"b\"\"\",1\n\
               2026-03-01T09:01:00Z,2026-03-01T09:02:00Z,x,1\n";
    case("", &jsonl);
    case("-O jsonl", &jsonl);
    case("-O json", &format!("[\n{},\n{}\n]\n", rows[0], rows[1]));
    case("-O csv", csv);
    case(
        "-O tsv -S 2026-03-01T09:01:00Z",
        "window_start\twindow_end\tk\tcount\n2026-03-01T09:01:00Z\t2026-03-01T09:02:00Z\tx\t1\n",
    );
    case(
        "-O table",
        "window_start          window_end            k       count\n\
         ────────────────────  ────────────────────  ──────  ─────\n\
         2026-03-01T09:00:00Z  2026-03-01T09:01:00Z  a, \"b\"      1\n\
         2026-03-01T09:01:00Z  2026-03-01T09:02:00Z  x           1\n",
    );
    for (name, want) in [("o.jsonl", jsonl.as_str()), ("o.csv", csv), ("o", jsonl.as_str())] {
        case(&format!("-o {name}"), "");
        assert_eq!(folder.text(name), want, "{name}");
    }
    case("-O csv -o o.txt", "");
    assert_eq!(folder.text("o.txt"), csv);
}

#[test]
fn output_that_is_compressed() {
    let folder = Folder::with(&[("in.jsonl", &three())]);
    let want = folder.sh(&format!("windrow window in.jsonl {JOB} -O csv")).ok();
    for (name, magic) in [("o.csv.gz", [0x1f, 0x8b]), ("o.csv.zst", [0x28, 0xb5])] {
        folder.sh(&format!("windrow window in.jsonl {JOB} -o {name}")).ok();
        let bytes = folder.bytes(name);
        assert_eq!(bytes[..2], magic, "{name}");
        let mut text = String::new();
        let read: &mut dyn std::io::Read = match name {
            "o.csv.gz" => &mut flate2::read::GzDecoder::new(&bytes[..]),
            _ => &mut zstd::Decoder::new(&bytes[..]).unwrap(),
        };
        read.read_to_string(&mut text).unwrap();
        assert_eq!(text, want, "{name}");
    }
}

/// All rows of a Parquet file.
fn rows_of(folder: &Folder, name: &str) -> RecordBatch {
    let file = std::fs::File::open(folder.at(name)).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let schema = reader.schema().clone();
    let batches: Vec<_> = reader.build().unwrap().map(Result::unwrap).collect();
    arrow::compute::concat_batches(&schema, &batches).unwrap()
}

#[test]
fn parquet_output_has_instants_in_their_zone() {
    let folder = Folder::with(&[("in.jsonl", &three())]);
    for zone in ["UTC", "Europe/Vienna"] {
        folder.sh(&format!("windrow window in.jsonl {JOB} --tz {zone} -o o.parquet")).ok();
        let rows = rows_of(&folder, "o.parquet");
        let ty = DataType::Timestamp(TimeUnit::Microsecond, Some(zone.into()));
        assert_eq!(rows.schema().field(0).data_type(), &ty);
        assert_eq!(rows.schema().field(1).data_type(), &ty);
        let starts = rows.column(0).as_any().downcast_ref::<TimestampMicrosecondArray>().unwrap();
        assert_eq!(starts.values(), &[1_772_355_600_000_000, 1_772_355_660_000_000]);
        let counts = rows.column(2).as_any().downcast_ref::<Int64Array>().unwrap();
        assert_eq!(counts.values(), &[2, 1]);
    }
    let piped = folder.sh(&format!("windrow window in.jsonl {JOB} -O parquet > p.parquet")).ok();
    assert_eq!((piped.as_str(), rows_of(&folder, "p.parquet").num_rows()), ("", 2));
}

// --- Late and bad records ---

#[test]
fn late_records_are_kept_verbatim() {
    let text = disordered();
    let folder = Folder::with(&[("in.jsonl", &text)]);
    folder.sh(&format!("windrow window in.jsonl {JOB} -d 10s --late late.jsonl -o o.jsonl -q")).ok();
    let late = folder.text("late.jsonl");
    assert!(late.lines().count() > 100);
    let mut lines = text.lines();
    late.lines().for_each(|l| assert!(lines.any(|line| line == l), "{l}: not in the input, or out of order"));
}

/// Counts by window and key.
fn counts(rows: &str) -> std::collections::BTreeMap<(String, String), i64> {
    let mut all = std::collections::BTreeMap::new();
    for row in rows.lines() {
        let row: serde_json::Value = serde_json::from_str(row).unwrap();
        *all.entry((row["window_start"].to_string(), row["k"].to_string())).or_default() +=
            row["count"].as_i64().unwrap();
    }
    all
}

/// What was used and what was late, read again, is everything: the account is whole, in any format.
#[test]
fn late_records_fed_back_make_the_account_whole() {
    let folder = Folder::with(&[("in.jsonl", &disordered())]);
    let csv: String = disordered()
        .lines()
        .map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            format!("{},\"{}\",{}\n", line["ts"], line["k"].as_str().unwrap(), line["n"])
        })
        .collect();
    folder.put("in.csv", format!("ts,k,n\n{csv}"));
    folder.put("in.jsonl.gz", gzip(disordered().as_bytes()));
    // A Parquet file of the same events comes from windrow itself: one window each.
    folder.sh("windrow window in.jsonl -t ts --tumbling 1us -g k -a 'min(n) AS n' -o sorted.parquet").ok();
    let exact =
        |file: &str, ts: &str| counts(&folder.sh(&format!("windrow window {file} -t {ts} --tumbling 1m -g k")).ok());
    for file in ["in.jsonl", "in.csv", "in.jsonl.gz"] {
        let all = exact(file, "ts");
        for details in ["", "--late-details"] {
            let late = format!("late.{}", file.strip_prefix("in.").unwrap());
            let job = format!("windrow window {file} {JOB} -g k -d 10s --late {late} {details} --summary sum.json -q");
            let mut used = counts(&folder.sh(&job).ok());
            let total = folder.json("sum.json")["total"].clone();
            let late_rows = exact(&late, "ts");
            assert_eq!(late_rows.values().sum::<i64>(), total["late"].as_i64().unwrap(), "{file} {details}");
            assert_eq!(used.values().sum::<i64>(), total["used"].as_i64().unwrap(), "{file} {details}");
            late_rows.into_iter().for_each(|(window, n)| *used.entry(window).or_default() += n);
            assert_eq!(used, all, "{file} {details}");
        }
    }
}

#[test]
fn a_late_parquet_row_keeps_its_schema() {
    let folder = Folder::with(&[("in.jsonl", &disordered())]);
    folder.sh("windrow window in.jsonl -t ts --tumbling 1us -g k -a 'min(n) AS n' -o in.parquet").ok();
    // Ordered by time, so backwards in n: a later time comes first.
    let job = "windrow window in.parquet in.parquet --concat -t window_start --tumbling 1m -d 1m --late late.parquet --summary sum.json -q";
    folder.sh(job).ok();
    let (whole, late) = (rows_of(&folder, "in.parquet"), rows_of(&folder, "late.parquet"));
    assert_eq!(late.schema().fields(), whole.schema().fields());
    assert_eq!(folder.json("sum.json")["total"]["late"], late.num_rows());
    assert!(late.num_rows() > 1_000, "{}", late.num_rows());
    assert_eq!(late, whole.slice(0, late.num_rows()), "the second reading of the file is late, from its start");
}

#[test]
fn late_details() {
    let folder = Folder::with(&[
        ("in.jsonl", &minutes(&[(10, "a"), (20, "a"), (2, "b")])),
        ("in.csv", "ts,k\n2026-03-01T09:20:00Z,a\n2026-03-01T09:02:00.5Z,\"b, c\"\n"),
    ]);
    let late = |file: &str| {
        let out = file.replace("in.", "late.");
        folder.sh(&format!("windrow window {file} {JOB} -d 1m --late {out} --late-details -q")).ok();
        folder.text(&out)
    };
    assert_eq!(
        late("in.jsonl"),
        "{\"ts\":\"2026-03-01T09:02:00Z\",\"k\":\"b\",\"_file\":\"in.jsonl\",\"_line\":3,\"_lateness\":1080,\
         \"_watermark\":\"2026-03-01T09:19:00Z\",\"_window_end\":\"2026-03-01T09:03:00Z\"}\n"
    );
    assert_eq!(
        late("in.csv"),
        "ts,k,_file,_line,_lateness,_watermark,_window_end\n\
         2026-03-01T09:02:00.5Z,\"b, c\",in.csv,3,1079.5,2026-03-01T09:19:00Z,2026-03-01T09:03:00Z\n"
    );
}

/// Of a columnar input `_line` is the row, bad rows and row groups before it counted in.
#[test]
fn late_details_of_parquet_name_the_row() {
    let times = (0..9).map(|i| match i {
        1 | 5 => None,
        7 => Some(1_772_355_600),
        _ => Some(1_772_355_600 + i * 600),
    });
    let folder = Folder::new();
    let column: ArrayRef = Arc::new(TimestampSecondArray::from_iter(times));
    folder.put("in.parquet", crate::folder::parquet(&[("ts", column)], 4));
    let job = format!("windrow window in.parquet {JOB} -d 0s --late late.parquet --late-details --bad bad.parquet -q");
    folder.sh(&job).expect(0);
    let late = rows_of(&folder, "late.parquet");
    let lines = late.column_by_name("_line").unwrap().as_primitive::<Int64Type>().values().to_vec();
    assert_eq!((lines, rows_of(&folder, "bad.parquet").num_rows()), (vec![8], 2));
}

#[test]
fn side_files_of_several_inputs() {
    let late = minutes(&[(10, "a"), (2, "b")]);
    let csv = "ts,k\n2026-03-01T09:10:00Z,a\n2026-03-01T09:02:00Z,b\n";
    let folder = Folder::with(&[
        ("a.jsonl", &late),
        ("x/a.jsonl", &late),
        ("a.csv", csv),
        ("b.csv", csv),
        ("c.csv", "ts,other\n2026-03-01T09:10:00Z,a\n2026-03-01T09:01:00Z,c\n"),
    ]);
    let run = |inputs: &str, to: &str| folder.sh(&format!("windrow window {inputs} {JOB} -d 1m -q --late {to}"));
    // One format and header share a file.
    run("a.csv b.csv", "late.csv").ok();
    assert_eq!(folder.text("late.csv"), "ts,k\n2026-03-01T09:02:00Z,b\n2026-03-01T09:02:00Z,b\n");
    run("a.jsonl x/a.jsonl", "late.jsonl").ok();
    assert_eq!(folder.text("late.jsonl"), minutes(&[(2, "b"), (2, "b")]));
    // Others need a folder, and say so.
    for inputs in ["a.jsonl a.csv", "a.csv c.csv"] {
        let ran = run(inputs, "late").expect(1);
        assert_eq!(
            ran.stderr(),
            "windrow: late: the inputs differ in format or header, so their records cannot share one file\n  \
             hint: name a folder, and each input gets a file of its own in it: late/\n"
        );
    }
    run("a.jsonl x/a.jsonl a.csv c.csv", "kept/").ok();
    let texts: Vec<String> = std::fs::read_dir(folder.at("kept"))
        .unwrap()
        .map(|e| std::fs::read_to_string(e.unwrap().path()).unwrap())
        .collect();
    assert_eq!(texts.len(), 4, "inputs of one name do not overwrite each other: {texts:?}");
    assert_eq!(texts.iter().filter(|text| **text == minutes(&[(2, "b")])).count(), 2);
    // What was kept can be read again, all together.
    let again = folder.sh(&format!("windrow window kept/* {JOB}")).ok();
    assert_eq!(again.matches("\"count\":3").count(), 1, "{again}");
    assert_eq!(again.matches("\"count\":1").count(), 1, "{again}");
}

// --- The account, and what is said ---

#[test]
fn the_summary_proves_the_account() {
    let folder = Folder::with(&[("a.jsonl", &(disordered() + "{}\n[]\n")), ("b.jsonl", &three())]);
    let job = format!(
        "windrow window a.jsonl b.jsonl {JOB} -d 10s --max-bad 2 -S 2026-03-01T09:05:00Z --summary sum.json -o o.jsonl -q"
    );
    folder.sh(&job).ok();
    let summary = folder.json("sum.json");
    assert_eq!(summary["version"], 1);
    let inputs = summary["inputs"].as_array().unwrap();
    assert_eq!(inputs.iter().map(|input| input["name"].as_str().unwrap()).collect::<Vec<_>>(), ["a.jsonl", "b.jsonl"]);
    let gates = ["used", "filtered", "late", "bad", "duplicate", "outside"];
    let sum = |ledger: &serde_json::Value| gates.iter().map(|gate| ledger[gate].as_u64().unwrap()).sum::<u64>();
    for ledger in inputs.iter().map(|input| &input["ledger"]).chain([&summary["total"]]) {
        assert_eq!(ledger["read"], sum(ledger), "{ledger}");
        assert_eq!(ledger["balances"], true);
    }
    for gate in gates.iter().chain(&["read"]) {
        let parts: u64 = inputs.iter().map(|input| input["ledger"][gate].as_u64().unwrap()).sum();
        assert_eq!(summary["total"][gate], parts, "{gate}");
    }
    let total = &summary["total"];
    assert_eq!((&total["read"], &total["bad"]), (&2_005.into(), &2.into()));
    assert!(total["late"].as_u64() > Some(0) && total["outside"].as_u64() > Some(0), "{total}");
    assert_eq!(summary["rows"], folder.text("o.jsonl").lines().count());
    // The advice is right: with that delay nothing is late.
    let delay = summary["delay_to_keep_all_seconds"].as_f64().unwrap();
    folder.sh(&format!("windrow window a.jsonl b.jsonl {JOB} -d {delay}s --max-bad 2 --max-late 0 -q")).ok();
}

#[test]
fn the_summary_tells_inputs_and_keys_apart() {
    let a = minutes(&[(0, "a"), (4, "a"), (2, "b"), (6, "a")]);
    let folder = Folder::with(&[("a.jsonl", &a), ("b.jsonl", &minutes(&[(1, "b"), (3, "c"), (5, "a")]))]);
    let summary = |rest: &str| {
        folder.sh(&format!("windrow window {rest} -g k -o o.jsonl --summary s.json")).ok();
        folder.json("s.json")
    };
    let heaviest = |summary: &serde_json::Value| -> Vec<(String, u64)> {
        let all = summary["heaviest"].as_array().unwrap().iter();
        all.map(|key| (key["key"].as_str().unwrap().to_owned(), key["records"].as_u64().unwrap())).collect()
    };
    for kind in ["--tumbling 1m", "--sliding 10m/1m", "--session 2m"] {
        let summary = summary(&format!("a.jsonl b.jsonl -t ts {kind}"));
        let times: Vec<_> =
            ["first_time", "last_time"].map(|name| [0, 1].map(|i| summary["inputs"][i][name].clone())).concat();
        let want = ["00", "01", "06", "05"].map(|minute| format!("2026-03-01T09:{minute}:00Z"));
        assert_eq!(times, want, "{kind}");
        assert_eq!(heaviest(&summary), [("a".into(), 4), ("b".into(), 2), ("c".into(), 1)], "{kind}");
    }
    // Text of a columnar file comes as a dictionary.
    folder.put("many.jsonl", disordered());
    folder.sh("windrow window many.jsonl -t ts --tumbling 1us -g k,n -o many.parquet").ok();
    let columnar = summary("many.parquet -t window_start --tumbling 1h");
    assert_eq!(heaviest(&columnar), [("k0".into(), 667), ("k1".into(), 667), ("k2".into(), 666)]);
}

#[test]
fn the_peak_is_of_the_whole_run() {
    let records = minutes(&[(0, "a"), (1, "a"), (2, "a"), (3, "a"), (50, "a"), (59, "a")]);
    let folder = Folder::with(&[("in.jsonl", &records)]);
    let at = |name: &str| folder.at(name).display().to_string();
    let job = format!("window {} {JOB} -d 5m -o {} --summary {}", at("in.jsonl"), at("o"), at("s.json"));
    helpers::run(&job.split(' ').map(str::to_owned).collect::<Vec<_>>(), Some(1)).unwrap();
    assert_eq!(folder.json("s.json")["peak"]["windows"], 4);
}

/// A summary is of all records, also where all rows asked for were written long before.
#[test]
fn a_row_limit_does_not_cut_the_account() {
    let folder = Folder::with(&[("in.jsonl", &disordered())]);
    let at = |name: &str| folder.at(name).display().to_string();
    for more in ["", "--max-late 100%", "--max-bad 0"] {
        let flags =
            format!("window {} {JOB} -d 1s -n 1 -o {} --summary {} {more}", at("in.jsonl"), at("o"), at("s.json"));
        helpers::run(&flags.split_whitespace().map(str::to_owned).collect::<Vec<_>>(), Some(1_000)).unwrap();
        assert_eq!(folder.json("s.json")["total"]["read"], 2_000);
        assert_eq!(folder.text("o").lines().count(), 1);
    }
}

#[test]
fn only_what_needs_attention_is_said() {
    let folder =
        Folder::with(&[("ok.jsonl", &three()), ("late.jsonl", &minutes(&[(1, "a"), (10, "a"), (2, "b"), (11, "a")]))]);
    let said = |rest: &str| folder.sh(&format!("windrow window {rest} {JOB}")).expect(0).stderr();
    assert_eq!(said("ok.jsonl"), "");
    assert_eq!(said("ok.jsonl -d 1m"), "");
    let verbose = said("ok.jsonl -v");
    assert!(verbose.contains("read 3 = used 3"), "{verbose}");
    let late = said("late.jsonl -d 1m");
    assert!(late.starts_with("windrow: 1 of 4 events was late, by "), "{late}");
    assert!(late.contains("--late FILE keeps them"), "{late}");
    assert!(!late.contains("read 4 ="), "{late}");
    assert!(!said("late.jsonl -d 1m --late kept.jsonl").contains("--late FILE"), "no advice to do what was done");
    assert_eq!(said("late.jsonl -d 1m -q"), "");
    let error = folder.sh(&format!("windrow window nowhere.jsonl {JOB} -q")).expect(1);
    assert!(error.stderr().starts_with("windrow: nowhere.jsonl: "), "errors are said all the same{error}");
}
