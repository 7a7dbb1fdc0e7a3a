//! Joins as they are run: pipes on both sides, bounds, memory, errors, what the summary says.

use crate::folder::Folder;
use serde_json::json;

const NINE: i64 = 1_772_355_600;

/// Left and right records with one key, `rows` of each, a second apart; the right ones half a second later.
fn two_sides(rows: i64) -> Folder {
    let line = |name: &str, ts: f64, i: i64| format!("{{\"ts\":{ts},\"id\":{},\"{name}\":{i}}}\n", i % 7);
    let folder = Folder::new();
    folder.put("l.jsonl", (0..rows).map(|i| line("l", (NINE + i) as f64, i)).collect::<String>());
    folder.put("r.jsonl", (0..rows).map(|i| line("r", (NINE + i) as f64 + 0.5, i)).collect::<String>());
    folder
}

const JOB: &str = "-t ts --on id --within 0s..1s --select l.l,r.r";

#[test]
fn either_side_may_be_a_pipe() {
    let folder = two_sides(50);
    let want = folder.sh(&format!("windrow join l.jsonl r.jsonl {JOB}")).ok();
    assert_eq!(want.lines().count(), 50);
    for command in [
        format!("cat l.jsonl | windrow join - r.jsonl {JOB}"),
        format!("cat r.jsonl | windrow join l.jsonl - {JOB}"),
        format!("mkfifo a b; cat l.jsonl > a & cat r.jsonl > b & windrow join a b {JOB}"),
        // One writer of both, which opens the second before it writes to the first.
        format!("mkfifo c d; (exec 3>c 4>d; cat r.jsonl >&4; cat l.jsonl >&3) & windrow join c d {JOB}"),
    ] {
        assert_eq!(folder.sh(&command).ok(), want, "{command}");
    }
}

#[test]
fn a_bound_on_late_records_counts_both_sides_whichever_has_the_delay() {
    let folder = two_sides(5);
    folder.put("late.jsonl", format!("{{\"ts\":{},\"id\":1}}\n{{\"ts\":{NINE},\"id\":1}}\n", NINE + 60));
    let job = "-t ts --on id --within 0s..1s --max-late 0";
    for flags in [
        "join l.jsonl late.jsonl --right-delay 10s",
        "join l.jsonl late.jsonl -d 10s",
        "join late.jsonl r.jsonl --left-delay 10s",
    ] {
        folder.sh(&format!("windrow {flags} {job}")).expect(3);
    }
}

#[test]
fn memory_holds_what_the_interval_needs() {
    let folder = two_sides(20_000);
    let held = |delay: &str| {
        folder.sh(&format!("windrow join l.jsonl r.jsonl {JOB} {delay} --how full -o out --summary s")).ok();
        folder.json("s")["peak"]["rows"].as_u64().unwrap()
    };
    let (bounded, whole) = (held("-d 2s"), held(""));
    assert!(bounded < 5_000 && whole > 30_000, "{bounded} and {whole} rows");
}

#[test]
fn hot_keys_are_named_with_what_they_cost() {
    let folder = two_sides(400);
    let job = "-t ts --on id --within=-1h..1h --select l.l";
    let ran = folder.sh(&format!("windrow join l.jsonl r.jsonl {job} -v --summary s -o out"));
    assert!(ran.stderr().contains("\n  costliest   0 ("), "{ran}");
    let summary = folder.json("s");
    assert!(summary["costliest"][0]["pairs"].as_u64().unwrap() >= 100, "{summary}");
    let sides: Vec<_> = summary["heaviest"].as_array().unwrap().iter().map(|heavy| &heavy["side"]).collect();
    assert!(sides.contains(&&json!("left")) && sides.contains(&&json!("right")), "{summary}");
}

#[test]
fn whole_records_keep_their_nested_values_whatever_else_is_asked() {
    let folder = Folder::with(&[("a.jsonl", "{\"ts\":1,\"id\":1,\"o\":{\"x\":[1]}}\n"), ("t.csv", "id,name\n1,a\n")]);
    for command in [
        "windrow join a.jsonl a.jsonl -t ts --on id --within 0s..1s --how semi",
        "windrow join a.jsonl a.jsonl -t ts --on id --within 0s..1s --how semi --left-where 'id = 1'",
        "windrow join a.jsonl a.jsonl -t 'ts + 1' --on id --within 0s..1s --how semi",
        "windrow lookup a.jsonl --table t.csv --on id",
        "windrow dedup a.jsonl --by 'id + 1' -O json",
    ] {
        let rows = folder.sh(command).ok();
        assert!(rows.contains("\"o\":{\"x\":[1]}"), "{command}: {rows}");
    }
}

#[test]
fn a_key_of_nothing_is_refused_and_one_of_something_is_not() {
    let folder = Folder::with(&[("a.jsonl", "{\"ts\":1,\"id\":1}\n{\"ts\":2,\"id\":1}\n")]);
    let ran = folder.sh("windrow dedup a.jsonl --by idd").expect(1);
    assert_eq!(ran.stdout(), "");
    assert_eq!(
        ran.stderr(),
        "windrow: --by: a.jsonl: no field \"idd\" in the first 2 records\n  hint: did you mean \"id\"?\n"
    );
    let rare = "windrow join a.jsonl a.jsonl -t ts --on 'coalesce(l.rare, l.id) = r.id' --within 0s..0s --how semi -q";
    assert_eq!(folder.sh(rare).ok().lines().count(), 2);
    assert_eq!(folder.sh("windrow dedup a.jsonl --by idd --schema 'idd text' -q").ok().lines().count(), 2);
}

#[test]
fn keys_that_cannot_match_are_refused() {
    let folder = two_sides(5);
    folder.put("t.jsonl", format!("{{\"ts\":{NINE},\"name\":\"a\",\"page\":\"x\"}}\n"));
    let says = |command: &str, code: i32| {
        let ran = folder.sh(command).expect(code);
        assert_eq!(ran.stdout(), "", "{command}");
        ran.stderr()
    };
    assert_eq!(
        says("windrow join l.jsonl t.jsonl -t ts --on 'l.id = r.nam' --within 0s..1s", 1),
        "windrow: --on: t.jsonl: no field \"nam\" in the first record\n  hint: did you mean \"name\"?\n"
    );
    assert_eq!(
        says("windrow join l.jsonl t.jsonl -t ts --on 'l.id = r.name' --within 0s..1s", 2),
        "windrow: --on: l.id is a bigint, r.name is text, which are never equal\n  \
         hint: CAST(r.name AS bigint) reads the text, CAST(l.id AS text) makes one\n"
    );
}

#[test]
fn details_of_late_records_are_ignored_when_they_are_read_again() {
    let folder = Folder::with(&[("in.jsonl", "{\"ts\":100,\"id\":1}\n{\"ts\":1,\"id\":2}\n")]);
    let job = "--on id --within 0s..1s -t ts";
    folder.sh(&format!("windrow join in.jsonl in.jsonl {job} -d 0s --late late.jsonl --late-details -q")).ok();
    assert!(folder.text("late.jsonl").contains("_lateness"));
    let again = folder.sh(&format!("windrow join late.jsonl late.jsonl {job} --how semi")).expect(0);
    assert_eq!(
        (again.stdout().lines().next(), again.stderr().as_str()),
        (Some("{\"ts\":\"1970-01-01T00:00:01Z\",\"id\":2}"), "")
    );
}

#[test]
fn a_limit_ends_the_run_within_a_batch() {
    let folder = Folder::with(&[("hot.jsonl", &"{\"ts\":1,\"id\":1}\n".repeat(2_000))]);
    let ran = folder.sh("windrow join hot.jsonl hot.jsonl --on id --within 0s..0s -t ts -n 1 -v").expect(0);
    assert_eq!(ran.stdout().lines().count(), 1);
    let account = ran.stderr().lines().find(|line| line.contains("account")).unwrap().to_owned();
    let read: u64 = account.split_whitespace().nth(2).unwrap().replace(',', "").parse().unwrap();
    assert!(
        read < 2_100 && account.ends_with(&format!("= used {}", account.split_whitespace().nth(2).unwrap())),
        "{ran}"
    );
}

/// The table is typed by all of its rows, the events by their first ones.
#[test]
fn a_table_whose_key_turns_to_text_is_looked_up_in_as_text() {
    let rows: String = (0..1_200).map(|k| format!("{{\"k\":{k}}}\n")).collect();
    let folder = Folder::with(&[("t.jsonl", &(rows + "{\"k\":\"x\"}\n"))]);
    let found = folder.sh("windrow lookup t.jsonl --table t.jsonl --on k --how inner --select 'r.k' -q").ok();
    assert_eq!((found.lines().count(), found.lines().last()), (1_201, Some("{\"k\":\"x\"}")));
}
