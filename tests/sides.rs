//! What a newcomer meets with joins, lookups and deduplications, run as processes: sides without records, names of
//! sides, and what people are told.

use crate::folder::Folder;

const TRIPS: &str =
    "{\"ts\":\"2026-01-01T00:00:00Z\",\"id\":7,\"x\":1}\n{\"ts\":\"2026-01-01T00:01:00Z\",\"id\":8,\"x\":2}\n";
const JOIN: &str = "-t ts --on id --within 0s..1m";

/// What a command prints, which must succeed.
#[track_caller]
fn prints(folder: &Folder, command: &str) -> (String, String) {
    let ran = folder.sh(command).expect(0);
    (ran.stdout(), ran.stderr())
}

/// What a command that is refused says.
#[track_caller]
fn refuses(folder: &Folder, command: &str, code: i32) -> String {
    let ran = folder.sh(command).expect(code);
    assert_eq!(ran.stdout(), "", "{ran}");
    ran.stderr()
}

#[test]
fn a_key_that_nobody_has_seen_is_what_it_is_compared_with() {
    let nulls = "{\"ts\":\"2026-01-01T00:00:00Z\",\"id\":null,\"y\":1}\n";
    let folder = Folder::with(&[
        ("trips.jsonl", TRIPS),
        ("header.csv", "ts,id,y\n"),
        ("nulls.jsonl", nulls),
        ("empty.jsonl", ""),
        ("empty.csv", ""),
    ]);
    for (other, rows) in [("header.csv", 2), ("nulls.jsonl", 3), ("empty.jsonl", 2), ("empty.csv", 2), ("/dev/null", 2)]
    {
        let (out, _) = prints(&folder, &format!("windrow join trips.jsonl {other} {JOIN} --how full"));
        assert_eq!(out.lines().count(), rows, "{other}: {out}");
        let (turned, _) = prints(&folder, &format!("windrow join {other} trips.jsonl {JOIN} --how full"));
        assert_eq!(turned.lines().count(), rows, "{other}: {turned}");
        let (looked, _) = prints(&folder, &format!("windrow lookup trips.jsonl --table {other} --on id"));
        assert_eq!(looked.lines().count(), 2, "{other}: {looked}");
        let (looked, _) = prints(&folder, &format!("windrow lookup {other} --table trips.jsonl --on id"));
        assert_eq!(looked.lines().count(), rows - 2, "{other}: {looked}");
    }
    let (out, _) = prints(&folder, &format!("windrow join trips.jsonl /dev/null {JOIN} --how left -n 1"));
    assert_eq!(out, "{\"ts\":\"2026-01-01T00:00:00Z\",\"id\":7,\"x\":1}\n");
}

#[test]
fn a_key_that_comes_behind_the_first_records_is_read_as_its_partner() {
    let late_key = |id: &str| {
        let mut text = "{\"ts\":\"2026-01-01T00:00:00Z\",\"id\":null}\n".repeat(1_001);
        text.push_str(&format!("{{\"ts\":\"2026-01-01T00:00:00Z\",\"id\":{id}}}\n"));
        text
    };
    let folder =
        Folder::with(&[("trips.jsonl", TRIPS), ("n.jsonl", &late_key("7.0")), ("t.jsonl", &late_key("\"7\""))]);
    let join = |right: &str| prints(&folder, &format!("windrow join trips.jsonl {right} {JOIN} --select l.id,r.id"));
    assert_eq!(join("n.jsonl").0, "{\"id\":7,\"right_id\":7.0}\n");
    assert_eq!(join("t.jsonl").0, "{\"id\":7,\"right_id\":\"7\"}\n");
}

#[test]
fn an_empty_table_or_a_side_without_names_is_told() {
    let folder = Folder::with(&[("trips.jsonl", TRIPS), ("header.csv", "ts,id,y\n"), ("empty.jsonl", "")]);
    let told = |command: &str| prints(&folder, &format!("windrow {command}")).1;
    assert_eq!(
        told("lookup trips.jsonl --table empty.jsonl --on id"),
        "windrow: empty.jsonl has no records, so the output has no columns of it\n  \
         hint: --table-schema 'id bigint, name text' makes them columns\n"
    );
    assert_eq!(told("lookup trips.jsonl --table empty.jsonl --table-schema 'name text' --on id"), NO_RECORDS);
    assert_eq!(told("lookup trips.jsonl --table header.csv --on id"), "windrow: header.csv has no records\n");
    assert_eq!(
        told(&format!("join trips.jsonl empty.jsonl {JOIN} --how left")),
        "windrow: empty.jsonl has no records, so the output has no columns of it\n  \
         hint: --right-schema 'id bigint, name text' makes them columns\n"
    );
    for quiet in ["--how anti", "--how left --select l.x", "--how left --right-schema 'y text'"] {
        assert_eq!(told(&format!("join trips.jsonl empty.jsonl {JOIN} {quiet}")), "", "{quiet}");
    }
}

const NO_RECORDS: &str = "windrow: empty.jsonl has no records\n";

#[test]
fn late_records_are_told_side_by_side() {
    let late = |n: usize| {
        let old = "{\"ts\":\"2026-01-01T00:00:00Z\",\"id\":1}\n".repeat(n);
        format!("{{\"ts\":\"2026-01-01T00:01:00Z\",\"id\":1}}\n{{\"ts\":\"2026-01-01T00:02:00Z\",\"id\":1}}\n{old}")
    };
    let folder = Folder::with(&[("a.jsonl", &late(1)), ("b.jsonl", &late(2))]);
    let told = |flags: &str| prints(&folder, &format!("windrow join a.jsonl b.jsonl {JOIN} {flags}")).1;
    let (left, right) = (
        "windrow: 1 of 3 events of the left side was late, by 2m, and was",
        "windrow: 2 of 4 events of the right side were late, by up to 2m, and were",
    );
    let hints = ["left", "right"].map(|side| format!("hint: --{side}-delay 2m would have kept them all"));
    assert_eq!(
        told("-d 80s --late-left l.jsonl"),
        format!(
            "{left} kept in l.jsonl\n  {}\n{right} dropped\n  {}; --late-right FILE keeps them\n",
            hints[0], hints[1]
        )
    );
    assert_eq!(
        told("-d 80s"),
        format!(
            "{left} dropped\n  {}; --late FILE keeps them\n{right} dropped\n  {}; --late FILE keeps them\n",
            hints[0], hints[1]
        )
    );
    assert_eq!(
        told("-d 80s --late-left l.jsonl --late-right r.jsonl"),
        format!("{left} kept in l.jsonl\n  {}\n{right} kept in r.jsonl\n  {}\n", hints[0], hints[1])
    );
    let one = told("--left-delay 5m --right-delay 80s --late-right r.jsonl");
    assert_eq!(one, format!("{right} kept in r.jsonl\n  {}\n", hints[1]));
}

const TEMPS: &str = "{\"ts\":\"2026-01-01T00:00:30Z\",\"id\":7,\"temp\":3}\n";

#[test]
fn a_selection_may_take_all_fields_of_a_side() {
    let folder = Folder::with(&[("a.jsonl", TRIPS), ("b.jsonl", TEMPS)]);
    let join = |select: &str| prints(&folder, &format!("windrow join a.jsonl b.jsonl {JOIN} --select '{select}'")).0;
    let (l, r) =
        (r#""ts":"2026-01-01T00:00:00Z","id":7,"x":1"#, r#""right_ts":"2026-01-01T00:00:30Z","right_id":7,"temp":3"#);
    let default = prints(&folder, &format!("windrow join a.jsonl b.jsonl {JOIN}")).0;
    assert_eq!(default, format!("{{{l},{r}}}\n"));
    assert_eq!(join("*"), default);
    assert_eq!(join("l.*, r.*"), default);
    assert_eq!(join("r.*, l.*"), format!("{{{r},{l}}}\n"));
    assert_eq!(join("l.*, r.temp AS t"), format!("{{{l},\"t\":3}}\n"));
    assert_eq!(join("r.temp, l.*"), format!("{{\"temp\":3,{l}}}\n"));
    assert_eq!(join("l.* EXCLUDE (id, ts), r.* EXCLUDE ts"), "{\"x\":1,\"id\":7,\"temp\":3}\n");
    assert_eq!(join("r.*"), format!("{{{}}}\n", r.replace("right_", "")));
    let semi = prints(&folder, &format!("windrow join a.jsonl b.jsonl {JOIN} --how semi --select '*, l.x + 1 AS y'")).0;
    assert_eq!(semi, format!("{{{l},\"y\":2}}\n"));
    let looked = prints(&folder, "windrow lookup b.jsonl --table a.jsonl --on id --select 'l.temp, r.*'").0;
    assert_eq!(looked, format!("{{\"temp\":3,{l}}}\n"));
    let refused =
        |select: &str| refuses(&folder, &format!("windrow join a.jsonl b.jsonl {JOIN} --select '{select}'"), 2);
    assert_eq!(
        refused("l.*, r.temp AS x"),
        "windrow: --select: two columns would be called \"x\"\n  \
         hint: name one of them with AS, or leave it out: 'l.* EXCLUDE (a)'\n"
    );
    assert_eq!(refused("l.* EXCLUDE (y)"), "windrow: --select: EXCLUDE leaves out \"y\", which is no field there\n");
}

#[test]
fn a_field_behind_the_first_records_is_told_where_all_of_its_side_are_taken() {
    let more = format!("{}{}", TRIPS.repeat(600), "{\"ts\":\"2026-01-01T00:01:00Z\",\"id\":9,\"late\":1}\n");
    let folder = Folder::with(&[("a.jsonl", &more), ("b.jsonl", TEMPS)]);
    let told = |select: &str| {
        prints(&folder, &format!("windrow join a.jsonl b.jsonl {JOIN} --select '{select}' -o out.jsonl")).1
    };
    assert!(told("l.*").contains("the field \"late\" is in none of the first 1,000 records"), "{}", told("l.*"));
    assert_eq!(told("r.*"), "");
}

#[test]
fn a_condition_of_one_side_may_name_it() {
    let folder = Folder::with(&[("a.jsonl", TRIPS), ("b.jsonl", TEMPS), ("n.jsonl", "{\"l\":{\"x\":5},\"x\":1}\n")]);
    let rows = |command: &str| prints(&folder, &format!("windrow {command}")).0.lines().count();
    assert_eq!(rows(&format!("join a.jsonl b.jsonl {JOIN} --left-where 'l.x = 1' --right-where 'r.temp = 3'")), 1);
    assert_eq!(rows("lookup a.jsonl --table b.jsonl --on id --where 'l.x = 2'"), 1);
    assert_eq!(rows("lookup a.jsonl --table b.jsonl --on id --how inner --table-where 'r.temp > 3'"), 0);
    assert_eq!(rows("dedup a.jsonl --by l.id"), 2);
    assert_eq!(rows("lookup n.jsonl --table n.jsonl --on x --where 'l.x = 5'"), 1);
    assert_eq!(
        refuses(&folder, &format!("windrow join a.jsonl b.jsonl {JOIN} --left-where 'r.temp = 3'"), 2),
        "windrow: --left-where: r.temp is a field of the other side\n  \
         hint: --left-where judges records by their own fields, before they have a partner\n"
    );
}

#[test]
fn a_lookup_writes_events_without_a_row_and_takes_part_of_a_table() {
    let folder = Folder::with(&[("a.jsonl", TRIPS), ("b.jsonl", TEMPS), ("two.csv", "id,v\n7,old\n7,new\n8,new\n")]);
    let lookup = |flags: &str| prints(&folder, &format!("windrow lookup a.jsonl {flags}")).0;
    let second = TRIPS.lines().nth(1).unwrap();
    assert_eq!(lookup("--table b.jsonl --on id --how anti"), format!("{second}\n"));
    assert_eq!(lookup("--table b.jsonl --on id --how anti --select 'l.x'"), "{\"x\":2}\n");
    assert_eq!(lookup("--table b.jsonl --on id -t ts --as-of ts --how anti"), TRIPS);
    assert_eq!(
        lookup("--table two.csv --on id --table-where \"v = 'new'\" --select 'l.x, r.v'"),
        "{\"x\":1,\"v\":\"new\"}\n{\"x\":2,\"v\":\"new\"}\n"
    );
    lookup("--table two.csv --on id --table-where \"v = 'new'\" --summary s.json");
    let ledger = folder.json("s.json")["inputs"][1]["ledger"].clone();
    assert_eq!((&ledger["read"], &ledger["used"], &ledger["filtered"]), (&3.into(), &2.into(), &1.into()));
    assert_eq!(
        refuses(&folder, "windrow lookup a.jsonl --table b.jsonl --on id --how anti --select 'l.x, r.temp'", 2),
        "windrow: --select: \"temp\" is of the right side, and --how anti writes left rows alone\n  \
         hint: --how inner writes pairs\n"
    );
}

#[test]
fn what_other_tools_call_otherwise_is_told() {
    let folder = Folder::with(&[("a.jsonl", TRIPS), ("b.jsonl", TEMPS)]);
    for (command, expected) in [
        (
            "join a.jsonl b.jsonl --where x",
            "unexpected flag --where\n  hint: --left-where and --right-where judge the records of a side; what a pair has \
             to meet stands in --on",
        ),
        (
            "join a.jsonl b.jsonl --tumbling 5m",
            "unexpected flag --tumbling\n  hint: --window SIZE joins what lies in the same window of SIZE",
        ),
        (
            "lookup a.jsonl --within 5m",
            "unexpected flag --within\n  hint: --tolerance D finds no row that is further than D from the event",
        ),
        ("dedup a.jsonl --on id", "unexpected flag --on\n  hint: --by says what makes two events the same"),
        (
            "asof a.jsonl",
            "unknown command asof\n  hint: windrow lookup EVENTS --table FILE --on KEYS --as-of FIELD finds the row that \
             was in force",
        ),
        (
            "join a.jsonl b.jsonl --left-time ts --on id --within 0s..1m",
            "which field of b.jsonl is the event time? --right-time FIELD names it\n  hint: this one looks like a time: ts",
        ),
        (
            "join a.jsonl b.jsonl -t ts --on 'l.id = CAST(r.id AS text)' --within 0s..1m",
            "--on: l.id is a bigint, CAST(r.id AS text) is text, which are never equal\n  \
             hint: CAST(l.id AS text) makes them one type",
        ),
        (
            "dedup a.jsonl -o out.xlsx",
            "--output out.xlsx: .xlsx is no format that is written\n  hint: formats are jsonl, json, parquet, csv, tsv, \
             table; --output-format FORMAT writes one of them under any name",
        ),
    ] {
        assert_eq!(refuses(&folder, &format!("windrow {command}"), 2), format!("windrow: {expected}\n"), "{command}");
    }
    for name in ["out.txt", "out.log", "out", "out.md.txt"] {
        prints(&folder, &format!("windrow dedup a.jsonl -o {name}"));
        assert_eq!(folder.text(name), TRIPS);
    }
}

#[test]
fn a_field_of_any_kind_may_be_declared_json_and_is_told_once() {
    let mixed = format!("{}{}", TRIPS.repeat(600), "{\"ts\":\"2026-01-01T00:01:00Z\",\"id\":\"a\",\"x\":[1]}\n");
    let folder = Folder::with(&[("a.jsonl", &mixed), ("b.jsonl", TEMPS)]);
    let told = |flags: &str| {
        prints(&folder, &format!("windrow join a.jsonl b.jsonl {JOIN} --how left -o out.jsonl {flags}")).1
    };
    assert_eq!(told("").matches("column \"id\"").count(), 1, "{}", told(""));
    assert_eq!(told("").matches("column \"x\"").count(), 1, "{}", told(""));
    assert_eq!(told("--left-schema 'x json'").matches("column \"x\"").count(), 0);
    let out = folder.text("out.jsonl");
    assert!(out.contains("\"x\":[1]") && out.contains("\"x\":2"), "{out}");
}

#[test]
fn a_field_that_no_record_has_is_told_with_the_file_of_its_side() {
    let folder = Folder::with(&[("a.jsonl", TRIPS), ("b.jsonl", TRIPS)]);
    let told = |command: &str| prints(&folder, &format!("windrow {command} --select l.x")).1;
    let expected = |file: &str| {
        format!("windrow: {file}: none of the first records has a field \"price\"; where it is absent it is null\n")
    };
    assert_eq!(told(&format!("join a.jsonl b.jsonl {JOIN} --right-where 'price > 1'")), expected("b.jsonl"));
    assert_eq!(told(&format!("join a.jsonl b.jsonl {JOIN} --left-where 'price > 1'")), expected("a.jsonl"));
}
