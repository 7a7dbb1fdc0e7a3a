//! Whole jobs in SQL: conditions, computed keys and times, expressions over aggregates, orders, ranks, filled windows.

use crate::folder::Folder;
use crate::helpers::{Ran, windrow};

const ORDERS: &str = r#"{"day":"2026-01-01","time":"00:00:01","ts":"2026-01-01T00:00:01Z","city":"Rome","price":"19.99","qty":2}
{"day":"2026-01-01","time":"00:00:02","ts":"2026-01-01T00:00:02Z","city":"rome","price":"0.01","qty":1}
{"day":"2026-01-01","time":"00:00:40","ts":"2026-01-01T00:00:40Z","city":"Oslo","price":"5.00","qty":0}
{"day":"2026-01-01","time":"00:01:05","ts":"2026-01-01T00:01:05Z","city":null,"price":"7.50","qty":3}
{"day":"2026-01-01","time":"00:05:00","ts":"2026-01-01T00:05:00Z","city":"Oslo","price":"1.00","qty":4}
"#;

fn folder() -> Folder {
    Folder::with(&[("orders.jsonl", ORDERS)])
}

/// Runs a job in a folder.
fn run(folder: &Folder, args: &[&str]) -> Ran {
    let output = windrow().args(args).current_dir(folder.path()).output().unwrap();
    Ran::of(format!("windrow {}", args.join(" ")), folder.path(), output)
}

/// The rows of a job over the orders, as CSV without the bounds' seconds.
#[track_caller]
fn rows(flags: &[&str]) -> Vec<String> {
    let mut all = vec!["window", "orders.jsonl", "--tumbling=1m", "-O=csv", "--schema=price decimal(9,2)"];
    if !flags.iter().any(|flag| flag.starts_with("--time=")) {
        all.push("--time=ts");
    }
    all.extend(flags);
    let out = run(&folder(), &all).ok();
    out.lines().skip(1).map(|line| line.replace("2026-01-01T00:", "").replace(":00Z", "")).collect()
}

#[test]
fn keys_conditions_and_arguments_are_expressions() {
    let flags = ["--by=lower(city) AS c", "--agg=sum(price * qty) AS revenue, count(*) AS n", "--where=qty > 0"];
    assert_eq!(rows(&flags), ["00,01,rome,39.99,2", "01,02,,22.50,1", "05,06,oslo,4.00,1"]);
}

#[test]
fn a_filter_of_one_call_leaves_the_others_alone() {
    let flags = ["--agg=count(*) FILTER (WHERE city ILIKE 'r%') AS r, count(*) AS n, sum(qty) / count(*) AS mean"];
    assert_eq!(rows(&flags), ["00,01,2,3,1.0", "01,02,0,1,3.0", "05,06,0,1,4.0"]);
}

#[test]
fn outputs_may_name_keys_bounds_and_each_other() {
    let flags = [
        "--by=city",
        "--agg=sum(qty) AS q, q * 2 AS twice, upper(city) AS loud, window_seconds AS s",
        "--where=qty > 1",
    ];
    assert_eq!(rows(&flags), ["00,01,Rome,2,4,ROME,60.0", "01,02,,3,6,,60.0", "05,06,Oslo,4,8,OSLO,60.0"]);
}

#[test]
fn the_event_time_is_computed() {
    let flags = ["--time=day || ' ' || time", "--agg=count(*) AS n, min(ts) AS first"];
    assert_eq!(rows(&flags), ["00,01,3,00:01Z", "01,02,1,01:05Z", "05,06,1,05"]);
}

#[test]
fn a_time_that_cannot_be_computed_makes_a_bad_record() {
    let folder = folder();
    let ran = run(&folder, &["window", "orders.jsonl", "--tumbling=1m", "--time=city || day"]).expect(1);
    assert!(ran.stderr().starts_with("windrow: orders.jsonl:1: time: expected a time, found \"Rome2026"), "{ran}");
    let flags =
        ["window", "orders.jsonl", "--tumbling=1m", "--time=nullif(day, '2026-01-01')", "--bad=bad.jsonl", "-q"];
    assert_eq!(run(&folder, &flags).ok(), "");
    assert_eq!(folder.text("bad.jsonl"), ORDERS);
}

#[test]
fn an_expression_that_fails_makes_a_bad_record_unless_the_record_is_filtered() {
    let folder = folder();
    let job = |extra: &[&str]| {
        let head =
            ["window", "orders.jsonl", "-t=ts", "--tumbling=10m", "-O=csv", "-q", "--agg=sum(city::bigint) AS s"];
        run(&folder, &[&head[..], extra].concat())
    };
    let ran = job(&[]).expect(1);
    assert!(ran.stderr().starts_with("windrow: orders.jsonl:1: cannot read \"Rome\" as bigint"), "{ran}");
    assert!(job(&["--where=city IS NULL"]).ok().ends_with(",\n"));
    assert!(job(&["--bad=bad.jsonl", "--summary=s.json"]).ok().ends_with(",\n"));
    assert_eq!(folder.text("bad.jsonl").lines().count(), 4);
    let summary: serde_json::Value = serde_json::from_str(&folder.text("s.json")).unwrap();
    assert_eq!((&summary["total"]["bad"], &summary["total"]["balances"]), (&4.into(), &true.into()));
}

#[test]
fn filtered_records_are_counted_and_move_the_watermark() {
    let folder = folder();
    let flags =
        ["window", "orders.jsonl", "-t=ts", "--tumbling=1m", "-d=0s", "--where=qty >= 3", "-q", "--summary=s.json"];
    run(&folder, &flags).ok();
    let summary: serde_json::Value = serde_json::from_str(&folder.text("s.json")).unwrap();
    assert_eq!((&summary["total"]["filtered"], &summary["total"]["used"]), (&3.into(), &2.into()));
    assert_eq!(summary["watermark"], "2026-01-01T00:05:00Z");
}

#[test]
fn records_know_their_file_and_line() {
    assert_eq!(
        rows(&["--by=_file, _line % 2 AS odd", "--where=_line > 2"]),
        ["00,01,orders.jsonl,1,1", "01,02,orders.jsonl,0,1", "05,06,orders.jsonl,1,1"]
    );
}

#[test]
fn rows_are_ordered_ranked_and_cut_within_each_window() {
    let by = ["--by=city", "--agg=sum(qty) AS q"];
    let order = |more: &[&'static str]| rows(&[&by[..], more].concat());
    assert_eq!(order(&["--order-by=q DESC"])[..3], ["00,01,Rome,2", "00,01,rome,1", "00,01,Oslo,0"]);
    assert_eq!(order(&["--order-by=q", "--top=1"]), ["00,01,Oslo,0,1", "01,02,,3,1", "05,06,Oslo,4,1"]);
    assert_eq!(order(&["--order-by=q", "--top=1", "--having=q > 0"])[0], "00,01,rome,1,1");
    assert_eq!(order(&["--having=count(*) > 0 AND city = 'Oslo'"]), ["00,01,Oslo,0", "05,06,Oslo,4"]);
    let flags = ["--by=lower(city) AS c, city", "--agg=sum(qty) AS q", "--order-by=q DESC", "--top=1", "--top-by=c"];
    assert_eq!(rows(&flags)[..2], ["00,01,rome,Rome,2,1", "00,01,oslo,Oslo,0,1"]);
}

#[test]
fn empty_windows_are_filled() {
    let fill = |flags: &[&'static str]| rows(&[&["--by=city", "--agg=sum(qty) AS q, max(city) AS m"], flags].concat());
    let oslo = |rows: Vec<String>| -> Vec<String> { rows.into_iter().filter(|row| row.contains("Oslo")).collect() };
    assert_eq!(
        oslo(fill(&["--fill=zero"])),
        ["00,01,Oslo,0,Oslo", "01,02,Oslo,0,", "02,03,Oslo,0,", "03,04,Oslo,0,", "04,05,Oslo,0,", "05,06,Oslo,4,Oslo"]
    );
    assert_eq!(oslo(fill(&["--fill=null"]))[1], "01,02,Oslo,,");
    assert_eq!(oslo(fill(&["--fill=previous"]))[4], "04,05,Oslo,0,Oslo");
    assert_eq!(oslo(fill(&["--fill=zero", "--fill-max=3"])).len(), 2);
    let range = ["--fill=zero", "--since=2025-12-31T23:59:00Z", "--until=2026-01-01T00:07:00Z"];
    let filled = fill(&range);
    assert_eq!(filled.len(), 4 * 8);
    assert_eq!(filled[0], "2025-12-31T23:59,00,,0,");
    assert_eq!(oslo(filled).last().unwrap(), "06,07,Oslo,0,");
    // Filled rows pass --having like others: the silent keys.
    assert_eq!(fill(&[&range[..], &["--having=q = 0 AND city = 'rome'"]].concat()).len(), 7);
}

#[test]
fn windows_are_filled_alike_as_they_fire() {
    let batch = |flags: &[&'static str]| {
        let mut all = rows(&[&["--by=city", "--agg=sum(qty) AS q", "--fill=previous"], flags].concat());
        all.sort();
        all
    };
    assert_eq!(batch(&["--delay=0s"]), batch(&[]));
}

#[test]
fn a_unit_that_was_guessed_is_told_of_a_computed_time_too() {
    let events = "{\"received\":1767225600000}\n{\"ts\":1767225660000}\n";
    let folder = Folder::with(&[("a.jsonl", events), ("b.csv", "ts,received\n,1767225600\n1767225660,\n")]);
    let units = |file: &str, flags: &[&'static str]| {
        let ran = run(&folder, &[&["window", file, "--tumbling=1m", "-v"], flags].concat());
        ran.expect(0).stderr().lines().find(|line| line.starts_with("  units")).map(str::to_owned)
    };
    let computed = &["--time=coalesce(ts, received)"][..];
    assert_eq!(
        units("a.jsonl", computed).as_deref(),
        Some("  units       time numbers are milliseconds, by their size")
    );
    assert_eq!(units("b.csv", computed).as_deref(), Some("  units       time numbers are seconds, by their size"));
    assert_eq!(units("a.jsonl", &[computed[0], "--time-format=unix-ms"]), None);
    assert_eq!(units("a.jsonl", &["--time=to_timestamp(coalesce(ts, received) / 1000)"]), None);
}

#[test]
fn errors_name_the_flag_and_the_place() {
    let folder = folder();
    let refused = |flag: &str| {
        let ran = run(&folder, &["window", "orders.jsonl", "-t=ts", "--tumbling=1m", flag]);
        assert_ne!(ran.code(), 0, "{flag}");
        ran.stderr()
    };
    for (flag, message) in [
        ("--where=qty + 1", "windrow: --where: expected a condition, but qty + 1 is a bigint"),
        (
            "--agg=epoch(max(ts::timestamp) - min(ts::timestamp))",
            "windrow: --agg: expected a number, but max(CAST(ts AS",
        ),
        ("--where=city > 3", "windrow: --where: city is text, and 3 is a bigint\n  city > 3\n  ^"),
        ("--by=lower(qty)", "windrow: --by: lower needs a text, but found an integer\n  lower(qty)\n  ^"),
        (
            "--agg=sum(qty) + city",
            "windrow: --agg: there is no column \"city\" in the result\n  sum(qty) + city\n             ^",
        ),
        ("--having=sum(qty)", "windrow: --having: expected a condition, but sum(qty) is a"),
        ("--having=count > city", "windrow: --having: there is no column \"city\" in the result\n  count > city\n"),
        ("--order-by=count, city", "windrow: --order-by: there is no column \"city\" in the result\n  count, city\n"),
        ("--order-by=array_agg(city)", "windrow: --order-by: rows cannot be ordered by a list: array_agg(city)"),
        ("--where=sum(qty) > 1", "windrow: --where: sum is an aggregate, which cannot stand here"),
    ] {
        let found = refused(flag);
        assert!(found.starts_with(message), "{flag}: {found}");
    }
    let when = ["window", "orders.jsonl", "-t=ts", "--tumbling=1m", "--mode=update", "--trigger=when:count"];
    let found = run(&folder, &when).expect(2).stderr();
    assert!(found.starts_with("windrow: --trigger when: expected a condition, but count is a bigint"), "{found}");
}

#[test]
fn text_in_double_quotes_is_told_to_take_single_ones() {
    let folder = folder();
    folder.put("orders.csv", b"ts,city\n2026-01-01T00:00:00Z,Oslo\n");
    let hint = |file: &str, flag: &str| {
        let ran = run(&folder, &["window", file, "-t=ts", "--tumbling=1m", flag]);
        ran.stderr().lines().last().unwrap_or_default().trim().to_owned()
    };
    let text = "hint: text takes single quotes: 'paid'";
    assert_eq!(hint("orders.jsonl", "--where=city = \"paid\""), text);
    assert_eq!(hint("orders.jsonl", "--agg=count(*) FILTER (WHERE city IN ('Oslo', \"paid\")) AS n"), text);
    assert_eq!(
        hint("orders.csv", "--where=city = \"paid\""),
        format!("{text}; if it is a name: the columns are ts, city")
    );
    assert_eq!(
        hint("orders.csv", "--having=max(city) = \"paid\""),
        format!("{text}; if it is a name: a field of the records stands inside an aggregate: max(paid)")
    );
    // A name alone is one.
    assert_eq!(hint("orders.csv", "--by=\"paid\""), "hint: the columns are ts, city");
    assert_eq!(hint("orders.csv", "--where=city = paid"), "hint: the columns are ts, city");
}

const CARTS: &str = r#"{"ts":"2026-01-01T00:00:01Z","items":[{"sku":"a","qty":2,"tags":["x","y"]},{"sku":"b","qty":1}]}
{"ts":"2026-01-01T00:00:02Z","items":[]}
{"ts":"2026-01-01T00:00:03Z","items":null}
{"ts":"2026-01-01T00:00:04Z","items":[{"sku":"c\u00e9","qty":5,"tags":[]}]}
{"ts":"2026-01-01T00:00:05Z","items":7}
"#;

#[test]
fn elements_of_arrays_are_fields() {
    let folder = Folder::with(&[("carts.jsonl", CARTS)]);
    let job = |flags: &[&str]| {
        run(&folder, &[&["window", "carts.jsonl", "-t=ts", "--tumbling=1m", "-O=csv"], flags].concat())
    };
    let rows = job(&["--by=items[0].sku AS sku", "--agg=sum(items[0].qty) AS q, max(items[-1].sku) AS last"]).ok();
    let rows: Vec<&str> =
        rows.lines().skip(1).filter_map(|line| line.split_once("Z,")?.1.split_once("Z,")).map(|r| r.1).collect();
    assert_eq!(rows, [",,", "a,2,b", "c\u{e9},5,c\u{e9}"]);
    let rows = job(&["--agg=max(items[0].tags[1]) AS tag, sum(cardinality(items)) AS n"]).ok();
    assert!(rows.ends_with(",y,3\n"), "{rows}");
}

/// The same carts as CSV: what is no text is JSON.
const CARTS_CSV: &str = r#"ts,items
2026-01-01T00:00:01Z,"[{""sku"":""a"",""qty"":2,""tags"":[""x"",""y""]},{""sku"":""b"",""qty"":1}]"
2026-01-01T00:00:02Z,[]
2026-01-01T00:00:03Z,
2026-01-01T00:00:04Z,"[{""sku"":""c\u00e9"",""qty"":5,""tags"":[]}]"
2026-01-01T00:00:05Z,7
"#;

#[test]
fn json_in_the_texts_of_a_csv_column_is_gone_into_as_in_jsonl() {
    let folder = Folder::with(&[("carts.jsonl", CARTS), ("carts.csv", CARTS_CSV)]);
    let nested = "ts,user\n2026-01-01,\"{\"\"at\"\":{\"\"id\"\":7},\"\"a.b\"\":[4,1.5],\"\"ms\"\":1767225600000}\"\n";
    folder.put("nested.csv", nested.as_bytes());
    let of = |file: &str, flags: &[&str]| {
        run(&folder, &[&["window", file, "--tumbling=1m", "-O=csv", "-q"], flags].concat())
    };
    for flags in [
        &["-t=ts", "--by=items[0].sku AS sku", "--agg=sum(items[0].qty) AS q, max(items[-1].sku) AS last"][..],
        &["-t=ts", "--agg=max(items[0].tags[1]) AS tag, sum(cardinality(items)) AS n"],
        &["-t=ts", "--agg=count(*) AS n", "--where=items[0].qty > 2"],
    ] {
        assert_eq!(of("carts.csv", flags).ok(), of("carts.jsonl", flags).ok(), "{flags:?}");
    }
    let rows =
        of("nested.csv", &["-t=user.ms", "--agg=sum(user.at.id + user.\"a.b\"[1]) AS x, max(user.none) AS y"]).ok();
    assert!(rows.ends_with("\n2026-01-01T00:00:00Z,2026-01-01T00:01:00Z,8.5,\n"), "{rows}");
    // A column of other texts has nothing inside; the name of a column comes before the way into another.
    let ran = of("nested.csv", &["-t=ts", "--by=ts.user"]).expect(1);
    assert!(ran.stderr().starts_with("windrow: nested.csv: there is no column \"ts.user\"\n  hint: "), "{ran}");
    folder.put("both.csv", b"ts,user,user.id\n2026-01-01,\"{\"\"id\"\":7}\",8\n");
    assert!(of("both.csv", &["-t=ts", "--by=user.id AS id"]).ok().ends_with(",8,1\n"));
    folder.put("python.csv", b"ts,items\n2026-01-01,[]\n2026-01-01,[{'sku': 'a'}]\n");
    let ran = of("python.csv", &["-t=ts", "--by=items[0].sku AS id"]).expect(1);
    let message = "windrow: python.csv:3: column \"items\": expected JSON, found `[{'sku': 'a'}]`\n  hint: --bad FILE";
    assert!(ran.stderr().starts_with(message), "{ran}");
}

#[test]
fn a_list_is_written_by_every_format() {
    let folder = folder();
    let job = |name: &str| {
        let calls = "--agg=array_agg(city) AS cities, array_agg(ts) AS times, array_agg(price) AS prices";
        let schema = "--schema=price decimal(9,2)";
        run(&folder, &["window", "orders.jsonl", "-t=ts", "--tumbling=1m", "-n=1", calls, schema, "-o", name]).ok();
    };
    let json = r#"["Rome","rome","Oslo"]"#;
    let times = r#"["2026-01-01T00:00:01Z","2026-01-01T00:00:02Z","2026-01-01T00:00:40Z"]"#;
    job("a.jsonl");
    assert!(folder.text("a.jsonl").contains(&format!(r#""cities":{json},"times":{times},"prices":[19.99,0.01,5.00]"#)));
    job("a.csv");
    assert!(folder.text("a.csv").contains(&format!("\"{}\"", json.replace('"', "\"\""))), "{}", folder.text("a.csv"));
    job("a.table");
    assert!(folder.text("a.table").contains(json));
    job("a.parquet");
    let job =
        ["window", "a.parquet", "-t=window_start", "--tumbling=1m", "--agg=max(cities[-1]) AS c, max(times[0]) AS t"];
    assert!(run(&folder, &job).ok().ends_with("\"c\":\"Oslo\",\"t\":\"2026-01-01T00:00:01Z\"}\n"));
}

#[test]
fn a_job_may_read_no_field_at_all() {
    let folder = folder();
    let job = |time: &str| run(&folder, &["window", "orders.jsonl", "--tumbling=3s", "-O=csv", "-q", time]);
    let rows = "1970-01-01T00:00:00Z,1970-01-01T00:00:03Z,2\n1970-01-01T00:00:03Z,1970-01-01T00:00:06Z,3\n";
    assert!(job("--time=to_timestamp(_line)").ok().ends_with(rows));
    let ran = job("--time=1 // 0").expect(1);
    assert!(ran.stderr().contains("orders.jsonl:1: time: expected a time, found null"), "{ran}");
}

/// The error of a job whose input is not there: what needs no input comes first.
#[track_caller]
fn unread(flags: &[&str]) -> String {
    let folder = folder();
    let mut all = vec!["window", "no-such-file.jsonl", "--tumbling=1m"];
    if !flags.iter().any(|flag| flag.starts_with("--time=")) {
        all.push("--time=ts");
    }
    all.extend(flags);
    run(&folder, &all).stderr()
}

#[test]
fn what_needs_no_input_is_refused_before_any_is_opened() {
    for (flag, message) in [
        ("--having=nope > 1", "--having: there is no column \"nope\" in the result"),
        ("--order-by=zzz", "--order-by: there is no column \"zzz\" in the result"),
        ("--agg=nope + 1", "--agg: there is no column \"nope\" in the result"),
        ("--where='a' AND true", "--where: expected a condition, but 'a' is text"),
        ("--where=strftime(1, '%Y') = 'a'", "--where: strftime needs a time"),
        ("--where=1=2=3", "--where: "),
        ("--where='a'::bigint = 1", "--where: cannot read \"a\" as bigint"),
        ("--agg=max(9223372036854775807 + 1)", "--agg: integer overflow"),
        ("--having=count(*) > 'many'::bigint", "--having: cannot read \"many\" as bigint"),
        ("--time=date_trunc('eon', ts)", "--time: date_trunc does not know the unit 'eon'"),
    ] {
        let error = unread(&[flag]);
        assert!(error.contains(message), "{flag}: {error}");
    }
    for flag in ["--where=qty = 'a' OR 'a'::bigint = 1", "--having=count(*) > 1 AND window_seconds > 1"] {
        assert!(unread(&[flag]).contains("no-such-file.jsonl"), "{flag}: {}", unread(&[flag]));
    }
}

#[test]
fn a_field_that_nobody_has_seen_is_of_the_type_of_its_use() {
    let flags = [
        "--agg=sum(coalesce(z, 0)) AS a, max(CASE WHEN qty > 1 THEN z ELSE 0 END) AS b, max(greatest(1, qty, z)) AS c, \
         count(nullif(qty, z)) AS d, count(*) FILTER (WHERE s) AS e, max(date_trunc('day', y)) AS f",
        "--where=coalesce(x < qty, true) AND (qty IN (w) IS NULL)",
        "--time=coalesce(v, ts)",
        "--quiet",
    ];
    assert_eq!(rows(&flags), ["00,01,0,0,2,3,0,", "01,02,0,,3,1,0,", "05,06,0,,4,1,0,"]);
}

#[test]
fn names_of_results_are_told_where_records_do_not_have_them() {
    for (flags, hint) in [
        (&["--where=window_seconds > 1"][..], "window_seconds is known after aggregation only"),
        (
            &["--by=lower(city) AS c", "--where=c = 'rome'"],
            "c is a key of the result and no field: over records, write lower(city) itself",
        ),
        (&["--agg=sum(qty) AS q", "--where=q > 1"], "q is known after aggregation only, as sum(qty)"),
    ] {
        let mut all = vec!["window", "orders.jsonl", "--tumbling=1m", "--time=ts"];
        all.extend(flags);
        let folder = folder();
        let output = windrow().args(&all).current_dir(folder.path()).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.contains(hint), "{flags:?}: {told}");
    }
}

#[test]
fn a_list_has_a_length() {
    let flags = ["--agg=len(array_agg(city)) AS n, length(array_agg(qty)) AS m, length(max(city)) AS l"];
    assert_eq!(rows(&flags), ["00,01,3,3,4", "01,02,1,1,", "05,06,1,1,4"]);
}

#[test]
fn text_that_should_be_a_number_is_told_how_to_become_one() {
    let folder = Folder::with(&[
        ("f.csv", "ts,delay\n2026-01-01T00:00:01Z,NA\n2026-01-01T00:00:02Z,70\n"),
        ("o.jsonl", "{\"ts\":\"2026-01-01T00:00:01Z\",\"items\":[\"a\"]}\n"),
    ]);
    let told = |file: &str, flag: &str| run(&folder, &["window", file, "-t=ts", "--tumbling=1m", flag]).stderr();
    for (file, flag, hint) in [
        ("f.csv", "--where=delay > 60", "TRY_CAST(delay AS bigint) reads the text; texts that mean nothing: --null NA"),
        ("f.csv", "--where=delay * 2 > 60", "texts that mean nothing: --null NA"),
        (
            "f.csv",
            "--agg=sum(delay)",
            "--schema 'delay double' reads it as a number; texts that mean nothing: --null NA",
        ),
        ("o.jsonl", "--agg=sum(items[0])", "TRY_CAST(items[0] AS double) makes a number of what reads as one"),
    ] {
        let found = told(file, flag);
        assert!(found.contains(hint), "{flag}: {found}");
    }
    let flags = ["window", "f.csv", "-t=ts", "--tumbling=1m", "--null=NA", "--where=delay > 60", "-O=csv"];
    assert!(run(&folder, &flags).ok().ends_with(",1\n"));
}
