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
