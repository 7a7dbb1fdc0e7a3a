//! Every error a person can meet while a job runs, word for word: where, what was expected, what was found, and the
//! next step. Errors of the command line alone are pinned beside `cli`.

use crate::folder::{Folder, gzip, zst};

const JOB: &str = "--time ts --tumbling 1m";
const OK: &str = r#"{"ts":"2026-03-01T09:00:00Z","user":"a","amount":1}
{"ts":"2026-03-01T09:00:30Z","user":"b","amount":2.5}
{"ts":"2026-03-01T09:01:00Z","user":"a","amount":3}
"#;
const OK_CSV: &str = "ts,user,amount\n2026-03-01T09:00:00Z,a,1\n2026-03-01T09:00:30Z,b,2.5\n";
const SET_ASIDE: &str = "\n  hint: --bad FILE sets such records aside and goes on";
const OTHER_FORMS: &str =
    "\n  hint: --time-format reads other forms, such as '%Y/%m/%d %H:%M'; --bad FILE sets such records aside";
const CUT_OFF: &str = "\n  hint: its writer was stopped, or is not done yet, or a copy broke off";

/// The hint of a malformed record: text that is no time is perhaps one in another form.
fn hint_for(error: &str) -> &'static str {
    if error.contains("expected a time, found \"") { OTHER_FORMS } else { SET_ASIDE }
}

/// Runs `windrow window REST`; it must end with `code`, print nothing to standard output and `error` to people.
#[track_caller]
fn fails(folder: &Folder, rest: &str, code: i32, error: &str) {
    let ran = folder.sh(&format!("windrow window {rest}")).expect(code);
    assert_eq!(ran.stderr(), format!("windrow: {error}\n"), "{ran}");
    assert_eq!(ran.stdout(), "", "{ran}");
}

/// Runs the job on a file of `content`; the error is `NAME:` and `error`.
#[track_caller]
fn malformed(name: &str, content: &str, error: &str) {
    let folder = Folder::with(&[(name, content), ("out.jsonl", "as it was\n")]);
    fails(&folder, &format!("{name} {JOB} -o out.jsonl"), 1, &format!("{name}:{error}"));
    assert_eq!(folder.text("out.jsonl"), "as it was\n");
    assert_eq!(folder.names().len(), 2, "{:?}", folder.names());
}

#[test]
fn what_is_no_file_of_events() {
    let folder = Folder::with(&[("ok.jsonl", OK), ("logs/a.jsonl", OK)]);
    folder.put("a.bin", b"\x7fELF\x02\x01\x01\0\0\0\xff\xfe");
    let case = |rest: &str, error: &str| fails(&folder, &format!("{rest} {JOB}"), 1, error);
    case("nowhere.jsonl", "nowhere.jsonl: no such file or directory\n  hint: check the path; `-` is standard input");
    case(
        "ok.jsonl nowhere.jsonl",
        "nowhere.jsonl: no such file or directory\n  hint: check the path; `-` is standard input",
    );
    case("logs", "logs: is a folder\n  hint: name the files in it: FOLDER/*.jsonl");
    case(
        "a.bin",
        "a.bin: cannot tell the format from the first bytes\n  hint: name it with --input-format: jsonl, parquet, csv, tsv",
    );
}

#[test]
fn a_malformed_json_line() {
    let good = r#"{"ts":"2026-03-01T09:00:00Z"}"#;
    let case = |line: &str, error: &str| {
        malformed("in.jsonl", &format!("{good}\n\n{line}\n{good}\n"), &format!("3: {error}{}", hint_for(error)));
    };
    case(
        r#"{"ts":"2026-03-01T09:00:00Z","a":tru}"#,
        "not valid JSON: expected `true`, `false` or `null` at column 37, near `00Z\",\"a\":tru}`",
    );
    case(
        r#"{"ts":"2026-03-01T09:00:00Z""#,
        "not valid JSON: the line ends inside an object at column 28, near `01T09:00:00Z\"`",
    );
    case("[1,2]", "expected a JSON object, found an array, near `[1,2]`");
    case("\"text\"", "expected a JSON object, found a string, near `\"text\"`");
    case("7", "expected a JSON object, found a number, near `7`");
    case("null", "expected a JSON object, found null, near `null`");
    case(r#"{"ts":"n/a"}"#, "column \"ts\": expected a time, found \"n/a\"");
    case(r#"{"ts":null}"#, "column \"ts\": expected a time, found null");
    case(r#"{"x":1}"#, "column \"ts\": expected a time, found nothing");
    case(r#"{"ts":{"x":1}}"#, "column \"ts\": expected a time, found {\"x\":1}");
    case(r#"{"ts":true}"#, "column \"ts\": expected a time, found true");
}

/// A fault in a field that no flag names is found all the same.
#[test]
fn a_malformed_line_is_found_whatever_is_projected() {
    let good = r#"{"ts":"2026-03-01T09:00:00Z"}"#;
    for broken in [r#""x":[1,}"#, r#""x":01"#, r#""x":"\q""#, r#""x":"a"#, r#""x":1 2"#, r#""x" 1"#, r#""x":nul"#] {
        let folder = Folder::with(&[("in.jsonl", &format!("{good}\n{{\"ts\":\"2026-03-01T09:00:00Z\",{broken}}}\n"))]);
        let ran = folder.sh(&format!("windrow window in.jsonl {JOB}")).expect(1);
        assert!(ran.stderr().starts_with("windrow: in.jsonl:2: not valid JSON: "), "{broken}{ran}");
        assert!(ran.stderr().contains(", near `"), "{broken}{ran}");
    }
}

#[test]
fn a_file_of_malformed_lines_alone() {
    let folder = Folder::new();
    folder.put("binary.jsonl", b"\x7fELF\x02\x01\x01\0\0\n\0\xff\xfe\n");
    let ran = folder.sh(&format!("windrow window binary.jsonl {JOB}")).expect(1);
    assert!(ran.stderr().starts_with("windrow: binary.jsonl:1: not valid JSON: "), "{ran}");
}

#[test]
fn a_malformed_csv_record() {
    let case = |record: &str, error: &str| {
        let good = "2026-03-01T09:00:00Z,\"a\nb\"\n";
        malformed("in.csv", &format!("ts,user\n{good}{record}\n"), &format!("4: {error}{}", hint_for(error)));
    };
    case("2026-03-01T09:00:00Z", "expected 2 fields, found 1");
    case("2026-03-01T09:00:00Z,a,c", "expected 2 fields, found 3");
    case(
        "2026-03-01T09:00:00Z,\"b\nc",
        "expected a closing quote for the one that opens on this line, found the end of the input",
    );
    case("n/a,a", "column \"ts\": expected a time, found \"n/a\"");
    case(",a", "column \"ts\": expected a time, found nothing");
}

#[test]
fn a_number_of_another_unit() {
    malformed(
        "in.jsonl",
        "{\"ts\":1767225600}\n{\"ts\":1767225600000}\n",
        &format!(
            "2: column \"ts\": expected a time in seconds like those before, found 1767225600000, which looks like \
             milliseconds (--time-format unix-s|unix-ms|unix-us|unix-ns says what the numbers are){SET_ASIDE}"
        ),
    );
}

#[test]
fn a_value_that_does_not_fit_its_column() {
    let folder = Folder::with(&[("in.jsonl", "{\"ts\":1767225600,\"n\":1}\n{\"ts\":1767225600,\"n\":\"x\"}\n")]);
    fails(
        &folder,
        &format!("in.jsonl {JOB} --schema 'n bigint' -a 'sum(n)'"),
        1,
        &format!("in.jsonl:2: column \"n\": expected a bigint, found \"x\"{SET_ASIDE}"),
    );
}

#[test]
fn the_time_field() {
    let folder = Folder::with(&[("ok.jsonl", OK), ("ok.csv", OK_CSV), ("plain.csv", "user,page\na,b\n")]);
    folder.sh(&format!("windrow window ok.jsonl {JOB} -o ok.parquet")).ok();
    let case = |rest: &str, code: i32, error: &str| fails(&folder, &format!("{rest} --tumbling 1m"), code, error);
    let which = "which field is the event time? --time FIELD names it\n  hint: ";
    case("ok.jsonl", 2, &format!("{which}this one looks like a time: ts"));
    case("ok.csv", 2, &format!("{which}this one looks like a time: ts"));
    case("ok.parquet", 2, &format!("{which}these look like times: window_start, window_end"));
    case("- < ok.jsonl", 2, &format!("{which}this one looks like a time: ts"));
    case("plain.csv", 2, &format!("{which}no field of the first record looks like a time; the fields are user, page"));
    case("ok.jsonl -t tz", 1, "ok.jsonl: no field \"tz\" in the first 3 records\n  hint: these look like times: ts");
    case("ok.csv -t tz", 1, "ok.csv: there is no column \"tz\"\n  hint: these look like times: ts");
    case(
        "ok.parquet -t ts",
        1,
        "ok.parquet: there is no column \"ts\"\n  hint: these look like times: window_start, window_end",
    );
    case("plain.csv -t ts", 1, "plain.csv: there is no column \"ts\"\n  hint: the columns are user, page");
}

#[test]
fn fields_that_are_not_there() {
    let folder = Folder::with(&[("ok.jsonl", OK), ("ok.csv", OK_CSV)]);
    folder.sh(&format!("windrow window ok.jsonl {JOB} -o ok.parquet")).ok();
    let case = |rest: &str, error: &str| fails(&folder, rest, 1, error);
    case(&format!("ok.csv {JOB} -g usr"), "ok.csv: there is no column \"usr\"\n  hint: did you mean \"user\"?");
    case(
        &format!("ok.csv {JOB} -g planet"),
        "ok.csv: there is no column \"planet\"\n  hint: the columns are ts, user, amount",
    );
    case(
        "ok.parquet -t window_start --tumbling 1h -a 'sum(cont)'",
        "ok.parquet: there is no column \"cont\"\n  hint: did you mean \"count\"?",
    );
    // JSON has no columns: a field may come later. It is told, and the run goes on.
    let ran = folder.sh(&format!("windrow window ok.jsonl {JOB} -g usr")).expect(0);
    let told = "windrow: none of the first records has a field \"usr\"; where it is absent it is null\n  \
                hint: did you mean \"user\"?\n";
    assert_eq!(ran.stderr(), told);
    assert!(ran.stdout().contains("\"usr\":null,\"count\":2"), "{ran}");
}

#[test]
fn a_sum_of_text() {
    let folder = Folder::with(&[("ok.jsonl", OK), ("ok.csv", OK_CSV)]);
    for (file, nulls) in [("ok.jsonl", ""), ("ok.csv", "; texts that mean nothing: --null NA")] {
        fails(
            &folder,
            &format!("{file} {JOB} -a 'sum(user)'"),
            1,
            &format!(
                "sum needs a number, but \"user\" is text\n  \
                 hint: --schema 'user double' reads it as a number{nulls}"
            ),
        );
    }
}

#[test]
fn a_sum_that_does_not_fit_names_window_and_key() {
    let line = |n: &str| format!("{{\"ts\":\"2026-03-01T09:10:00Z\",\"k\":\"x\",\"n\":{n}}}\n");
    let folder = Folder::with(&[("in.jsonl", &(line("9223372036854775807") + &line("1")))]);
    fails(
        &folder,
        &format!("in.jsonl {JOB} -g k -a 'sum(n)' -o out.jsonl"),
        1,
        "window 2026-03-01T09:10:00Z to 2026-03-01T09:11:00Z, key x: sum(n): sum 9223372036854775808 does not fit a \
         64-bit integer\n  hint: --schema 'n decimal(38,0)' sums in 128 bits",
    );
    assert_eq!(folder.names(), ["in.jsonl"]);
    // Only the result must fit: on the way there it may be greater.
    folder.put("in.jsonl", line("9223372036854775807") + &line("1") + &line("-5"));
    let ran = folder.sh(&format!("windrow window in.jsonl {JOB} -a 'sum(n)'")).ok();
    assert!(ran.ends_with("\"sum(n)\":9223372036854775803}\n"), "{ran}");
    // And the hint is right.
    folder.put("in.jsonl", line("9223372036854775807") + &line("1"));
    let ran = folder.sh(&format!("windrow window in.jsonl {JOB} --schema 'n decimal(38,0)' -a 'sum(n)'")).ok();
    assert!(ran.contains("9223372036854775808"), "{ran}");
}

#[test]
fn files_that_are_cut_off() {
    let folder = Folder::with(&[("ok.jsonl", OK)]);
    let noise: String =
        (0..3_000_u64).map(|i| format!("{{\"ts\":{},\"x\":{}}}\n", 1_767_225_600 + i, i * i % 7_919)).collect();
    for (name, bytes) in [("t.jsonl.gz", gzip(noise.as_bytes())), ("t.jsonl.zst", zst(noise.as_bytes()))] {
        for keep in [bytes.len() / 2, bytes.len() - 3] {
            folder.put(name, &bytes[..keep]);
            fails(
                &folder,
                &format!("{name} {JOB} -o out.jsonl"),
                1,
                &format!("{name}: the compressed data ends too early{CUT_OFF}"),
            );
        }
    }
    folder.sh(&format!("windrow window ok.jsonl {JOB} -o whole.parquet")).ok();
    let whole = folder.bytes("whole.parquet");
    folder.put("t.parquet", &whole[..whole.len() - 20]);
    fails(
        &folder,
        &format!("t.parquet {JOB}"),
        1,
        "t.parquet: expected the end of a Parquet file (PAR1), found other bytes: the file is cut off\n  \
         hint: its writer was stopped, or is not done yet, or a copy broke off",
    );
    folder.put("t.parquet", "");
    fails(&folder, &format!("t.parquet {JOB}"), 1, "t.parquet: expected a Parquet file, found an empty one");
    assert!(!folder.at("out.jsonl").exists());
}

#[test]
fn compressed_data_that_was_damaged() {
    let folder = Folder::new();
    let mut damaged = gzip(OK.as_bytes());
    let crc = damaged.len() - 6;
    damaged[crc] ^= 0xff;
    folder.put("d.jsonl.gz", damaged);
    let ran = folder.sh(&format!("windrow window d.jsonl.gz {JOB} -o out.jsonl")).expect(1);
    assert!(ran.stderr().starts_with("windrow: d.jsonl.gz: "), "{ran}");
    assert_eq!(folder.names(), ["d.jsonl.gz"]);
}

/// Nothing in, nothing out: not an error, for a log of a quiet day is empty.
#[test]
fn empty_inputs() {
    let folder = Folder::with(&[
        ("empty.jsonl", ""),
        ("empty.csv", ""),
        ("empty", ""),
        ("h.csv", "ts,user\n"),
        ("blank.jsonl", "\n\n"),
    ]);
    folder.put("e.jsonl.gz", gzip(b""));
    folder.put("e.zst", zst(b""));
    for file in ["empty.jsonl", "empty.csv", "empty", "-", "h.csv", "blank.jsonl", "e.jsonl.gz", "e.zst"] {
        assert_eq!(folder.sh(&format!("windrow window {file} {JOB}")).ok(), "", "{file}");
    }
    let header = folder.sh(&format!("windrow window h.csv {JOB} -g user -O csv")).ok();
    assert_eq!(header, "window_start,window_end,user,count\n");
    fails(
        &folder,
        "h.csv -t tx --tumbling 1m",
        1,
        "h.csv: there is no column \"tx\"\n  hint: the columns are ts, user",
    );
}

/// Flags are judged before anything is opened: neither the missing input nor the output matters.
#[test]
fn what_cannot_go_together_is_refused_before_anything_is_opened() {
    let folder = Folder::with(&[("out.jsonl", "as it was\n")]);
    let case = |rest: &str, error: &str| fails(&folder, &format!("nowhere.jsonl -t ts {rest} -o out.jsonl"), 2, error);
    case(
        "--global",
        "--global needs --trigger, as an endless window is never final: --trigger event-time:1h writes it every hour",
    );
    case(
        "--tumbling 1m --trigger count:5",
        "--trigger writes windows before they are final, and --mode append writes each once: use --mode update or \
         complete, or --global --purge",
    );
    case(
        "--tumbling 1m -d 1m --allowed-lateness 5m",
        "--allowed-lateness corrects rows, and --mode append writes each once: use --mode update, or a longer --delay",
    );
    case(
        "--session 1m --fill zero",
        "--fill needs windows that follow each other: use it with --tumbling or --sliding",
    );
    assert_eq!((folder.text("out.jsonl").as_str(), folder.names().len()), ("as it was\n", 1));
}

#[test]
fn output_where_it_must_not_go() {
    let folder = Folder::with(&[("ok.jsonl", OK), ("logs/a.jsonl", OK)]);
    std::os::unix::fs::symlink("ok.jsonl", folder.at("link.jsonl")).unwrap();
    std::fs::hard_link(folder.at("ok.jsonl"), folder.at("hard.jsonl")).unwrap();
    fails(&folder, &format!("ok.jsonl {JOB} -o ok.jsonl"), 2, "--output ok.jsonl: this is an input too");
    let also = |name: &str| {
        format!(
            "{name}: is also an input, and would be overwritten while it is read\n  \
             hint: write to another file, and rename it when the run is done"
        )
    };
    for name in ["link.jsonl", "./logs/../ok.jsonl", "hard.jsonl"] {
        fails(&folder, &format!("ok.jsonl {JOB} -o {name}"), 2, &also(name));
    }
    for flag in ["--late", "--bad", "--summary"] {
        let ran = folder.sh(&format!("windrow window ok.jsonl {JOB} --delay 1s {flag} link.jsonl"));
        assert_eq!(ran.code(), 2, "{flag}{ran}");
    }
    assert_eq!(folder.text("ok.jsonl"), OK);
    let rest = |out: &str| format!("ok.jsonl {JOB} --delay 1s {out}");
    fails(
        &folder,
        &rest("-o no/out.jsonl"),
        1,
        "no/out.jsonl: there is no folder no\n  hint: make it first: mkdir -p no",
    );
    fails(&folder, &rest("-o logs"), 1, "logs: is a folder\n  hint: name a file in it: logs/out.jsonl");
    fails(&folder, &rest("-o a.jsonl --late a.jsonl"), 2, "--late a.jsonl: this is --output too");
    let ran = folder.sh(&format!("windrow window {}", rest("--bad x --late ./x")));
    assert!([1, 2].contains(&ran.code()), "{ran}");
}

#[test]
fn a_full_disk() {
    let folder = Folder::with(&[("ok.jsonl", OK)]);
    fails(&folder, &format!("ok.jsonl {JOB} -o /dev/full"), 1, "/dev/full: no space left on device");
    fails(&folder, &format!("ok.jsonl {JOB} > /dev/full"), 1, "standard output: no space left on device");
    fails(&folder, &format!("ok.jsonl {JOB} -O parquet > /dev/full"), 1, "standard output: no space left on device");
}

#[test]
fn too_many_bad_records() {
    let ten: String =
        (0..10).map(|i| if i % 5 == 4 { "{\"ts\":\"n/a\"}\n".into() } else { format!("{{\"ts\":{i}}}\n") }).collect();
    let folder = Folder::with(&[("in.jsonl", &ten)]);
    let case = |bound: &str, error: &str| {
        fails(&folder, &format!("in.jsonl {JOB} --max-bad {bound} -o out.jsonl"), 3, error);
        assert_eq!(folder.names(), ["in.jsonl"]);
    };
    let no_output = "\n  hint: no output was written";
    case(
        "0",
        &format!(
            "in.jsonl:5: column \"ts\": expected a time, found \"n/a\"; that is more than --max-bad 0 allows{no_output}"
        ),
    );
    case(
        "1",
        &format!(
            "in.jsonl:10: column \"ts\": expected a time, found \"n/a\"; that is more than --max-bad 1 allows{no_output}"
        ),
    );
    let first = "the first is in.jsonl:5: column \"ts\": expected a time, found \"n/a\"";
    case(
        "19%",
        &format!("2 of 10 records were bad, more than --max-bad 19% allows\n  hint: {first}; no output was written"),
    );
    for bound in ["2", "20%"] {
        let ran = folder.sh(&format!("windrow window in.jsonl {JOB} --max-bad {bound}")).expect(0);
        let told = "windrow: 2 of 10 records were bad, and were skipped\n  hint: the first is in.jsonl:5: column \"ts\": \
                    expected a time, found \"n/a\"; --bad FILE keeps them\n";
        assert_eq!(ran.stderr(), told, "{ran}");
        assert!(ran.stdout().contains("\"count\":8"), "{ran}");
    }
}

#[test]
fn too_many_late_records() {
    let minute = |m: u32| format!("{{\"ts\":\"2026-03-01T09:{m:02}:00Z\"}}\n");
    let text: String = [10, 11, 20, 2, 21].map(minute).concat();
    let folder = Folder::with(&[("in.jsonl", &text)]);
    for bound in ["0", "19%"] {
        let ran = folder.sh(&format!("windrow window in.jsonl {JOB} -d 1m --max-late {bound} -o out.jsonl")).expect(3);
        let told = format!(
            "windrow: 1 of 5 records was late, more than --max-late {bound} allows\n  \
             hint: the output was written; a greater --delay would have fewer late\n"
        );
        assert!(ran.stderr().ends_with(&told), "{ran}");
        assert_eq!(folder.text("out.jsonl").lines().count(), 4, "the output is written all the same");
    }
    for bound in ["1", "20%"] {
        folder.sh(&format!("windrow window in.jsonl {JOB} -d 1m --max-late {bound}")).expect(0);
    }
}

/// A stray record is blamed only when it moved the clock.
#[test]
fn the_first_record_is_no_jump() {
    let text = "{\"ts\":\"2026-03-01T09:10:00Z\"}\n{\"ts\":\"2026-03-01T09:00:00Z\"}\n";
    let folder = Folder::with(&[("in.jsonl", text)]);
    let ran = folder.sh(&format!("windrow window in.jsonl {JOB} -d 1m")).expect(0);
    assert!(!ran.stderr().contains("moved the clock ahead by 0s"), "{ran}");
}
