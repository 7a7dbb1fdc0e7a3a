//! The command line as a whole: what is understood, what is refused and in which words, and the committed texts.

use super::*;
use crate::plan::{Bound, Fill, Filling, InputPath, Mode, Policy, Top, Trigger};
use crate::time::{Span, Ts};
use crate::window::Grouping;
use std::path::{Path, PathBuf};

fn environment() -> Environment {
    Environment {
        stdin_is_terminal: true,
        stdout_is_terminal: false,
        stderr_is_terminal: false,
        width: None,
        cores: 3,
        now: Ts::from_micros(1_767_225_600_000_000),
    }
}

/// Words of a command line; `'...'` keeps blanks together.
fn words(line: &str) -> Vec<OsString> {
    let mut words = vec![String::new()];
    for (i, part) in line.split('\'').enumerate() {
        for (j, word) in part.split(if i % 2 == 0 { ' ' } else { '\0' }).enumerate() {
            if j > 0 {
                words.push(String::new());
            }
            words.last_mut().unwrap().push_str(word);
        }
    }
    words.into_iter().map(OsString::from).collect()
}

pub(super) fn parse_line(line: &str) -> Result<Command> {
    parse(words(format!("windrow {line}").trim_end()).into_iter(), &environment())
}

fn plan(flags: &str) -> Plan {
    match parse_line(&format!("window {flags}")) {
        Ok(Command::Window(plan)) => *plan,
        Ok(_) => panic!("{flags}: another command"),
        Err(error) => panic!("{flags}: {error}"),
    }
}

pub(super) fn refused(line: &str) -> String {
    match parse_line(line) {
        Err(error) => {
            assert_eq!(error.exit_code(), 2, "{line}");
            error.to_string()
        }
        Ok(_) => panic!("{line}: accepted"),
    }
}

fn printed(line: &str) -> String {
    match parse_line(line) {
        Ok(Command::Print(text)) => text,
        _ => panic!("{line}: printed nothing"),
    }
}

#[test]
fn the_least_that_makes_a_job() {
    let plan = plan("- -t ts --tumbling 1m");
    assert_eq!(plan.input.paths, [InputPath::Stdin]);
    assert_eq!(plan.input.time.unwrap().shown(), "ts");
    assert!(plan.keys.is_empty());
    assert_eq!(plan.selection.outputs.iter().map(|output| output.name.as_str()).collect::<Vec<_>>(), ["count"]);
    assert_eq!((plan.clock.delay, plan.clock.outliers, plan.clock.policy), (None, 0, Policy::Min));
    assert_eq!((plan.threads, plan.output.format.name, plan.output.limit), (3, "jsonl", None));
    assert!(plan.input.text.header && plan.input.text.nulls.is_empty() && plan.input.text.delimiter.is_none());
}

#[test]
fn every_flag_reaches_the_plan() {
    let plan = plan(
        "a.csv b.csv --session 30m -t a.b --time-format unix-ms --input-tz Europe/Vienna --tz Asia/Tokyo -d 1m \
         --late l.csv --late-details --max-late 5% --watermark-by host --idle-after 1h --max-skew 2h --outliers 2 \
         --watermark-policy max -S 2026-01-01 -U -1h -g page -g 'a, b' -a 'count(*) AS n, sum(x)' -n 1_000 -i csv \
         --schema 'x double' --delimiter ; --no-header --null NA,- --bad b --max-bad 7 -o out.csv -O jsonl \
         --summary s.json -q -j 8",
    );
    assert_eq!(plan.input.paths[1], InputPath::File(PathBuf::from("b.csv")));
    assert_eq!(plan.input.time_format.to_string(), "unix-ms");
    assert_eq!((plan.input.zone.name(), plan.output.zone.name()), ("Europe/Vienna", "Asia/Tokyo"));
    let clock = &plan.clock;
    assert_eq!((clock.delay, clock.idle_after), (Some(Span::from_secs(60)), Some(Span::from_secs(3_600))));
    assert_eq!((clock.max_skew, clock.outliers, clock.policy), (Some(Span::from_secs(7_200)), 2, Policy::Max));
    assert_eq!(clock.by.as_ref().unwrap().name(), "host");
    assert_eq!((plan.late.path.as_deref(), plan.late.details), (Some(Path::new("l.csv")), true));
    assert_eq!((plan.late.max, plan.bad.max), (Some(Bound::Percent(5.0)), Some(Bound::Count(7))));
    let midnight_in_tokyo = Ts::from_micros(1_767_193_200_000_000);
    assert_eq!((plan.since, plan.until), (Some(midnight_in_tokyo), Some(Ts::from_micros(1_767_222_000_000_000))));
    assert_eq!(plan.keys.iter().map(|key| key.name.as_str()).collect::<Vec<_>>(), ["page", "a", "b"]);
    assert_eq!(plan.selection.calls.len(), 2);
    assert_eq!(plan.output.limit, Some(1_000));
    assert_eq!((plan.input.format.unwrap().name, plan.output.format.name), ("csv", "jsonl"));
    assert_eq!(plan.input.declared.len(), 1);
    let text = &plan.input.text;
    assert_eq!(
        (text.delimiter, text.header, text.nulls.as_slice()),
        (Some(b';'), false, &["NA".into(), "-".into()][..])
    );
    assert!(plan.report.quiet && plan.report.summary == Some("s.json".into()) && plan.threads == 8);
    assert!(matches!(plan.grouping, Grouping::Session { gap } if gap == Span::from_secs(1_800)));
}

#[test]
fn the_last_of_a_repeated_flag_wins_and_lists_add_up() {
    let plan = plan("- -d 1m --tumbling 1m -g a -d 2m --tumbling 5m -g b -q -q");
    assert_eq!(plan.clock.delay, Some(Span::from_secs(120)));
    assert_eq!(plan.keys.len(), 2);
    let Grouping::Windows(windower) = plan.grouping else { panic!("windows") };
    let mut windows = Vec::new();
    windower.windows_of(Ts::from_micros(0), &mut windows);
    assert_eq!(windows[0].end, Ts::from_micros(300_000_000));
}

#[test]
fn the_output_format_is_said_or_told_by_the_name_or_fits_the_reader() {
    let format = |flags: &str| plan(&format!("- --tumbling 1m {flags}")).output.format.name;
    assert_eq!(
        [format("-o x.csv"), format("-o x.csv.gz"), format("-o x"), format("-o x.csv -O tsv")],
        ["csv", "csv", "jsonl", "tsv"]
    );
    let env = Environment { stdout_is_terminal: true, width: Some(80), ..environment() };
    let on_terminal = |flags: &str| match parse(
        words(format!("windrow window - --tumbling 1m {flags}").trim_end()).into_iter(),
        &env,
    ) {
        Ok(Command::Window(plan)) => Ok((plan.output.format.name, plan.output.width)),
        Ok(_) => panic!("{flags}: another command"),
        Err(error) => Err(error.to_string()),
    };
    assert_eq!(on_terminal(""), Ok(("table", Some(80))));
    assert_eq!(on_terminal("-o x.jsonl"), Ok(("jsonl", None)));
    let garbled = "parquet is not text, and would garble the terminal: add -o FILE";
    assert_eq!(on_terminal("-O parquet"), Err(garbled.into()));
}

#[test]
fn standard_input_is_read_when_something_is_piped_in() {
    let piped = Environment { stdin_is_terminal: false, ..environment() };
    let parsed = parse(words("windrow window --tumbling 1m").into_iter(), &piped);
    assert!(matches!(parsed, Ok(Command::Window(plan)) if plan.input.paths == [InputPath::Stdin]));
    assert_eq!(
        refused("window --tumbling 1m"),
        "no input: name files, or pipe records in\n  hint: windrow window FILE... reads files; - is standard input"
    );
}

/// Flags behind `window -`, and the refusal in full.
const REFUSALS: &[(&str, &str)] = &[
    ("--tumling 1m", "unexpected flag --tumling\n  hint: did you mean --tumbling?"),
    ("--zzz", "unexpected flag --zzz\n  hint: --help lists all flags; a file of this name goes behind --"),
    ("--tumbling", "--tumbling needs a value\n  hint: write --tumbling SIZE"),
    ("--tumbling 1m --quiet=x", "--quiet takes no value, found \"x\""),
    (
        "",
        "a job needs one kind of window\n  \
         hint: --tumbling SIZE, --sliding SIZE/SLIDE, --cumulate SIZE/STEP, --session GAP, --global or --count N",
    ),
    ("--tumbling 1m --session 5m", "--tumbling and --session are two kinds of window, and a job has one"),
    ("--sliding 1m/5m", "--sliding 1m/5m: the slide is longer than the window, so events in between would be in none"),
    ("--session 5m --offset 1m", "--offset moves a grid of windows, and sessions have none"),
    ("--count 5 --offset 1m", "--offset moves a grid of windows, and --count 5 has none"),
    ("--global=1", "--global takes no value, found \"1\""),
    (
        "--count 9 --mode update",
        "--mode update tells rows apart by window and key, and two windows of --count may have \
      the same first and last time: use --mode append or complete",
    ),
    (
        "--count 9 --order-by count --top 3",
        "--top ranks the keys of a window, and each window of --count has a single \
      one: use windows of time, or --global",
    ),
    ("--tumbling 1m --limit -1", "--limit: expected a whole number of zero or more, found \"-1\""),
    ("--tumbling 1m --delay -5s", "--delay: expected a duration of zero or more, found \"-5s\""),
    ("--tumbling -5m", "--tumbling -5m: a size must be longer than zero, found \"-5m\""),
    (
        "--tumbling 1m --max-bad -1",
        "--max-bad: expected a number or a percentage, found \"-1\"\n  hint: such as 100 or 0.5%",
    ),
    ("--count 0", "--count 0: expected a number of records from 1, found \"0\""),
    (
        "--global --week-start sunday",
        "--week-start moves windows of weeks, and --global has none\n  hint: weeks are sizes such as 1w",
    ),
    ("--tumbling 1m --mode upsert", "--mode: expected append or update or complete, found \"upsert\""),
    (
        "--tumbling 1m --mode update --trigger hourly",
        "--trigger: expected count:N, event-time:D, wall:D or when:EXPR, found \"hourly\"\n  hint: count:1000 is every \
         1,000 records, event-time:1h every hour of the events, wall:1m every minute",
    ),
    ("--tumbling 1m --mode update --trigger count:0", "--trigger: expected a number from 1, found \"0\""),
    ("--tumbling 1m --mode update --trigger count", "--trigger: expected a whole number, found \"\""),
    ("--tumbling 1m --mode update --trigger wall:0s", "--trigger: expected a duration longer than zero, found \"0s\""),
    (
        "--tumbling 1m --mode update --trigger when:",
        "--trigger: expected a condition such as count(*) > 100, found nothing",
    ),
    ("--tumbling 1m --having ' '", "--having: expected a condition such as count(*) > 100, found nothing"),
    ("--tumbling 1m -w ' '", "--where: expected a condition such as amount > 0 AND status = 'paid', found nothing"),
    ("--tumbling 1m --top 0 --order-by count", "--top: expected a number from 1, found \"0\""),
    (
        "--tumbling 1m -g page --top 2 --order-by count --top-by pag",
        "--top-by: there is no key \"pag\"\n  hint: keys are page",
    ),
    (
        "--tumbling 1m --top 2 --order-by count --top-by page",
        "--top-by: there is no key \"page\"\n  hint: --by 'page' makes it one",
    ),
    ("--tumbling 1m --fill last", "--fill: expected zero or null or previous, found \"last\""),
    (
        "--tumbling 1m --fill zero --top 3 --order-by count -d 1m",
        "--delay writes the ranks of --top before it is known which rows --fill adds: leave out one of the three",
    ),
    ("--tumbling 1m --fill zero --fill-max 0", "--fill-max: expected a number from 1, found \"0\""),
    (
        "--tumbling 1m -g rank --top 2 --order-by count",
        "--by, --agg: \"rank\" is a column that --top adds\n  hint: give yours another name: rank AS other",
    ),
    (
        "--tumbling 1m -a 'count(*) AS op' --mode update",
        "--by, --agg: \"op\" is a column that --mode update adds\n  hint: give yours another name: op AS other",
    ),
    (
        "--tumbling 1m --mode complete --trigger count:2 -O parquet",
        "--mode complete writes the whole table at each trigger, and parquet on standard output holds one: add -o FILE",
    ),
    (
        "--tumbling 1d --week-start sunday",
        "--week-start moves windows of weeks, and --tumbling 1d has none\n  hint: weeks are sizes such as 1w",
    ),
    ("--tumbling 1w --week-start friday", "--week-start: expected monday or sunday, found \"friday\""),
    (
        "--tumbling 1m --delay 5",
        "--delay: expected a duration with a unit, found \"5\"\n  hint: 5s is in seconds, 5m in minutes",
    ),
    (
        "--tumbling 1m --late l",
        "--late needs a moving watermark: add --delay\n  \
         hint: --delay 1m waits a minute for late events; without it nothing is late",
    ),
    (
        "--tumbling 1m --watermark-policy max",
        "--watermark-policy needs a moving watermark: add --delay\n  \
         hint: --delay 1m waits a minute for late events; without it nothing is late",
    ),
    (
        "--tumbling 1m -d 1m --watermark-by host",
        "--watermark-by needs --idle-after, or a value that stops coming holds the watermark back for ever\n  \
         hint: --idle-after 1h goes on without what is an hour behind the others",
    ),
    (
        "--tumbling 1m -d 1m --concat --idle-after 1h",
        "--idle-after compares inputs, and --concat makes one of them\n  \
         hint: --watermark-by FIELD tells apart what is in them",
    ),
    ("--tumbling 1m -d 1m --watermark-policy avg", "--watermark-policy: expected min or max, found \"avg\""),
    ("--tumbling 1m -d 1m --outliers x", "--outliers: expected a whole number, found \"x\""),
    ("--tumbling 1m -d 1m --late-details", "--late-details adds to late records: add --late FILE"),
    (
        "--tumbling 1m -d 1m --max-late x",
        "--max-late: expected a number or a percentage, found \"x\"\n  hint: such as 100 or 0.5%",
    ),
    ("--tumbling 1m -S 2026-01-02 -U 2026-01-01", "--since is not before --until, so no window can start between them"),
    (
        "--tumbling 1m -S noon",
        "--since: expected a time, found \"noon\"\n  hint: 2024-05-01T12:00, 2024-05-01, yesterday and -1h are times",
    ),
    (
        "--tumbling 1m -t a..b",
        "--time: expected a field, found \"a..b\"\n  \
         hint: a dotted path reaches into records: actor.login; odd names stand in double quotes",
    ),
    ("--tumbling 1m -i jsnol", "--input-format: expected a format, found \"jsnol\"\n  hint: did you mean jsonl?"),
    ("--tumbling 1m -q -v", "--quiet and --verbose say the opposite: leave one out"),
    ("--tumbling 1m --summary -", "--summary -: standard output is for the results: name a file"),
    ("--tumbling 1m -j 0", "--threads: expected a number from 1, found \"0\""),
    ("--tumbling 1m -n many", "--limit: expected a whole number, found \"many\""),
    ("--tumbling 1m -", "- is given twice, and standard input can be read once"),
    (
        "--tumbling 1m --delimiter ab",
        "--delimiter: expected one ASCII character, not a quote or line end, found \"ab\"\n  hint: write a tab as tab",
    ),
    ("--tumbling 1m -o x --bad x", "--bad x: this is --output too"),
    ("--tumbling 1m in.csv -o in.csv", "--output in.csv: this is an input too"),
    ("--tumbling 1m -o ''", "--output needs a value\n  hint: write --output FILE"),
    ("--tumbling 1m ''", "an empty argument names no file"),
];

#[test]
fn every_refusal_says_what_to_do() {
    for (flags, expected) in REFUSALS {
        assert_eq!(refused(format!("window - {flags}").trim_end()), *expected, "{flags}");
    }
}

/// Flags that ask for an operation of the table of modes.
fn flags_for(operation: &str) -> &'static str {
    match operation {
        "--tumbling" => "--tumbling 1m",
        "--sliding" => "--sliding 10m/1m",
        "--cumulate" => "--cumulate 10m/1m",
        "--session" => "--session 1m",
        "--count" => "--count 10",
        "--global" => "--global",
        "--purge" => "--purge",
        "--delay" => "--delay 1m",
        "--trigger count" => "--trigger count:2",
        "--trigger event-time" => "--trigger event-time:1h",
        "--trigger wall" => "--trigger wall:1s",
        "--trigger when" => "--trigger when:done",
        "--allowed-lateness" => "--allowed-lateness 5m",
        "--keep" => "--keep 1d",
        "--late" => "--late l.jsonl",
        "--max-late" => "--max-late 5",
        "--where" => "--where ok",
        "--having" => "--having count",
        "--order-by" => "--order-by count",
        "--top" => "--top 3",
        "--top-by" => "--by page --top-by page",
        "--fill" => "--fill zero",
        "--fill-max" => "--fill-max 9",
        "--since" => "--since 2026-01-01",
        "--until" => "--until 2026-01-01",
        "--limit" => "--limit 5",
        other => panic!("{other}: say how it is asked for"),
    }
}

/// The operation and all that it needs in a mode, but for one need of it that is left unmet.
fn all_needed(first: &'static str, mode: usize, without: Option<&modes::Need>) -> Vec<&'static str> {
    let mut asked = vec![first];
    add_needs(&mut asked, mode, without);
    if !asked.iter().any(|name| crate::window::find(name.trim_start_matches('-')).is_some()) {
        let kinds = ["--tumbling", "--session", "--count", "--global"];
        let refused = |kind: &str| {
            let mut rows = modes::OPERATIONS.iter().filter(|row| row.name == kind);
            rows.any(|row| matches!(row.cells[mode], modes::Cell::No(_)))
        };
        let mut fitting = kinds.into_iter().filter(|kind| without.is_none_or(|need| !need.any.contains(kind)));
        asked.extend(fitting.find(|kind| !refused(kind)));
        add_needs(&mut asked, mode, without);
    }
    asked
}

fn add_needs(asked: &mut Vec<&'static str>, mode: usize, without: Option<&modes::Need>) {
    let left_out = |need: &modes::Need| without.is_some_and(|without| without.any == need.any);
    let unmet = |asked: &[&str]| {
        let rows = modes::OPERATIONS.iter().filter(|row| asked.contains(&row.name));
        let needs = rows.flat_map(|row| if let modes::Cell::Yes(needs) = row.cells[mode] { needs } else { &[] });
        let open = |need: &&modes::Need| !left_out(need) && !need.any.iter().any(|name| asked.contains(name));
        needs.into_iter().find(open).map(|need| need.any[0])
    };
    while let Some(more) = unmet(asked) {
        asked.push(more);
    }
}

fn in_mode(mode: usize, asked: &[&str]) -> String {
    let flags: Vec<_> = asked.iter().map(|name| flags_for(name)).collect();
    format!("- --mode {} {} -o out.jsonl", modes::MODES[mode].0, flags.join(" "))
}

#[test]
fn every_cell_of_the_table_of_modes_holds() {
    let mut tried = 0;
    for operation in modes::OPERATIONS {
        for (mode, cell) in operation.cells.iter().enumerate() {
            let refusal = |text: &str| text.replace("FLAG", operation.name);
            let needs = match cell {
                modes::Cell::No(sentence) => {
                    let line = in_mode(mode, &all_needed(operation.name, mode, None));
                    let error = refused(&format!("window {line}"));
                    assert_eq!(error.lines().next(), Some(refusal(sentence).as_str()), "{line}");
                    tried += 1;
                    continue;
                }
                modes::Cell::Yes(needs) => {
                    plan(&in_mode(mode, &all_needed(operation.name, mode, None)));
                    needs
                }
            };
            for need in needs.iter() {
                let line = in_mode(mode, &all_needed(operation.name, mode, Some(need)));
                let error = refused(&format!("window {line}"));
                assert_eq!(error.lines().next(), Some(refusal(need.refusal).as_str()), "{line}");
                tried += 1;
            }
        }
    }
    assert!(tried > 40, "{tried} refusals");
}

#[test]
fn what_rows_hold_reaches_the_plan() {
    let job = plan(
        "- -t ts --tumbling 1m -g country -g page -w ok -a 'count(*) AS n' -a 'sum(x) AS total' --having n \
         --order-by 'n DESC' --order-by total --top 3 --top-by page,country --top-by page",
    );
    assert_eq!(job.filter.unwrap().shown(), "ok");
    assert_eq!(job.selection.outputs.iter().map(|output| output.name.as_str()).collect::<Vec<_>>(), ["n", "total"]);
    assert!(job.finish.having.is_some());
    assert_eq!(job.finish.order.iter().map(|order| order.descending).collect::<Vec<_>>(), [true, false]);
    assert_eq!(job.finish.top, Some(Top { rows: 3, by: vec![0, 1] }));
    assert_eq!(job.finish.fill, None);
    let fill = |flags: &str| plan(&format!("- --tumbling 1m --fill {flags}")).finish.fill;
    assert_eq!(fill("Previous"), Some(Fill { with: Filling::Previous, max: 1_000 }));
    assert_eq!(fill("zero --fill-max 5"), Some(Fill { with: Filling::Zero, max: 5 }));
}

#[test]
fn when_rows_are_written_reaches_the_plan() {
    let job = |flags: &str| plan(&format!("- -t ts {flags}"));
    let minutes = |n: i64| Span::from_secs(60 * n);
    assert_eq!(job("--tumbling 1m").mode, Mode::Append);
    assert_eq!(job("--tumbling 1m --mode update").mode, Mode::Update { lateness: Span::ZERO });
    let late = job("--session 1m --mode update -d 1m --allowed-lateness 5m");
    assert_eq!(late.mode, Mode::Update { lateness: minutes(5) });
    assert_eq!(job("--tumbling 1m --mode complete").mode, Mode::Complete { keep: None });
    assert_eq!(job("--tumbling 1m --mode complete -d 1m --keep 2m").mode, Mode::Complete { keep: Some(minutes(2)) });
    let trigger = |text: &str| job(&format!("--tumbling 1m --mode update -d 1m --trigger '{text}'")).trigger;
    assert!(matches!(trigger("count:1_000"), Some(Trigger::Count(1_000))));
    assert!(matches!(trigger("event-time:2m"), Some(Trigger::EventTime(d)) if d == minutes(2)));
    assert!(matches!(trigger("WALL: 1m"), Some(Trigger::Wall(d)) if d == minutes(1)));
    assert!(matches!(trigger("when:done"), Some(Trigger::When(_))));
    assert!(job("--tumbling 1m --mode update").trigger.is_none());
    let purged = job("--global --purge --trigger count:2").grouping;
    assert!(matches!(purged, Grouping::Global { purge: true }));
    assert!(matches!(job("--global --trigger count:2 --mode update").grouping, Grouping::Global { purge: false }));
    assert!(matches!(job("--count 1_000").grouping, Grouping::Count(1_000)));
}

#[test]
fn the_table_of_one_run_is_a_parquet_file() {
    plan("- --tumbling 1m --mode complete -O parquet");
    plan("- --tumbling 1m --mode complete --trigger count:2 -o out.parquet");
    plan("- --tumbling 1m --mode complete --trigger count:2");
}

#[test]
fn the_time_is_a_field_or_computed() {
    let time =
        |text: &str| plan(&format!("- --tumbling 1m -t \u{1}{text}\u{1}").replace('\u{1}', "'")).input.time.unwrap();
    for name in ["ts", "Flight Date", "user-agent", "Date/Time", "Time (UTC)", "@timestamp", "created at"] {
        assert_eq!(time(name).as_field().map(|path| path.name()), Some(name.to_owned()));
    }
    for text in ["sent - 3600", "sent*1000", "date || time", "case when a then b else c end", "ts::timestamp"] {
        assert!(time(text).as_field().is_none(), "{text}");
    }
    assert_eq!(time("items[0].ts").shown(), "items[0].ts");
    let error = refused("window - --tumbling 1m -t date||");
    assert!(error.starts_with("--time: expected an expression, found the end"), "{error}");
}

#[test]
fn names_are_taken_only_where_they_are_added() {
    plan("- --tumbling 1m -g op,pane,rank -a 'count(*) AS revision'");
    plan("- --tumbling 1m -g rank --mode update");
    plan("- --tumbling 1m -g op --mode complete --top 1 --order-by count");
}

#[test]
fn commands_are_checked_too() {
    assert_eq!(refused("windw"), "unknown command windw\n  hint: did you mean window?");
    assert_eq!(refused("help widnow"), "unknown command widnow\n  hint: did you mean window?");
    assert_eq!(refused("completions csh"), "completions: expected bash, zsh or fish, found \"csh\"");
    assert_eq!(refused("completions"), "completions: expected bash, zsh or fish, found nothing");
    let nothing = parse(words("windrow").into_iter(), &environment()).map(|_| ()).unwrap_err().to_string();
    assert_eq!(nothing, "no command given\n  hint: windrow window --help shows the main one");
}

#[test]
fn an_error_in_a_file_of_flags_names_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("job.args");
    let path = file.display();
    for (text, expected) in [
        (
            "--tumbling 1m\n-d 5x",
            "2: --delay: expected a duration, found \"5x\"\n  hint: write it as 500ms, 30s, 5m, 1h30m or 1d",
        ),
        ("# a job\n--tumling 1m", "2: unexpected flag --tumling\n  hint: did you mean --tumbling?"),
        ("--tumbling 1m --by 'a", "1: a quote is opened and never closed"),
    ] {
        std::fs::write(&file, text).unwrap();
        assert_eq!(refused(&format!("window - @{path}")), format!("{path}:{expected}"));
    }
    std::fs::write(&file, "--tumbling 1m\n-d 5m").unwrap();
    assert_eq!(plan(&format!("- @{path} -d 6m")).clock.delay, Some(Span::from_secs(360)));
}

#[test]
fn help_is_one_screen_or_all() {
    for (line, file) in [
        ("--help", "help/windrow.txt"),
        ("window -h", "help/window-short.txt"),
        ("window --help", "help/window.txt"),
        ("join -h", "help/join-short.txt"),
        ("join --help", "help/join.txt"),
        ("lookup -h", "help/lookup-short.txt"),
        ("lookup --help", "help/lookup.txt"),
        ("dedup -h", "help/dedup-short.txt"),
        ("dedup --help", "help/dedup.txt"),
        ("completions --help", "help/completions.txt"),
    ] {
        let text = printed(line);
        let wide = text.lines().find(|line| line.chars().count() > 100);
        assert_eq!(wide, None, "{line}: a line over 100 columns");
        same_as_committed(&format!("testdata/{file}"), &text);
    }
    for command in ["window", "join", "lookup", "dedup"] {
        assert!(printed(&format!("{command} -h")).lines().count() <= 40, "{command} -h fits a screen");
    }
    assert_eq!(printed("help window"), printed("window --help"));
    assert_eq!(printed("-V"), format!("windrow {}\n", env!("CARGO_PKG_VERSION")));
}

/// Whatever can be called is told of: help and man page come from the tables.
#[test]
fn every_function_and_aggregate_is_in_help_and_man_page() {
    let (help, man) = (printed("window --help"), printed("man window").replace("\\-", "-").replace("\\(aq", "'"));
    let calls = crate::expr::functions::FUNCTIONS.iter().map(|kind| kind.usage);
    for usage in calls.chain(crate::aggregate::AGGREGATES.iter().map(|kind| kind.usage)) {
        assert!(help.contains(&format!("\n  {usage}")) && man.contains(&format!("\\fB{usage}\\fR")), "{usage}");
    }
    for title in ["EXPRESSIONS", "FUNCTIONS", "AGGREGATES", "UPDATING RESULTS", "WHAT GOES TOGETHER"] {
        assert!(man.contains(&format!(".SH {title}\n")), "{title}");
    }
}

#[test]
fn every_kind_of_join_is_in_help_and_man_page() {
    let (help, man) = (printed("join --help"), printed("man join").replace("\\-", "-"));
    let short = printed("join -h");
    for kind in crate::pairing::JOINS {
        assert!(help.contains(&format!("\n  --how {} ", kind.name)), "{}", kind.name);
        assert!(man.contains(&format!("\\fB--how {}\\fR", kind.name)) && short.contains(kind.name), "{}", kind.name);
    }
}

/// The commands under "Examples" of a help text.
fn examples(command: &str) -> Vec<String> {
    let help = printed(&format!("{command} --help"));
    let (_, examples) = help.split_once("Examples:\n").unwrap();
    examples.lines().filter_map(|line| line.strip_prefix("    ")).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn every_example_makes_a_plan() {
    let piped = Environment { stdin_is_terminal: false, ..environment() };
    for command in ["window", "join", "lookup", "dedup"] {
        let all = examples(command);
        assert!(all.len() >= 3, "{command}: {all:?}");
        for example in all {
            let line = example.split(" | ").last().unwrap();
            let parsed = parse(words(line).into_iter(), &piped);
            assert!(matches!(parsed, Ok(ref plan) if !matches!(plan, Command::Print(_))), "{line}: {:?}", parsed.err());
        }
    }
}

#[test]
fn man_pages_are_those_committed() {
    same_as_committed("man/windrow.1", &printed("man"));
    for command in ["window", "join", "lookup", "dedup", "completions"] {
        same_as_committed(&format!("man/windrow-{command}.1"), &printed(&format!("man {command}")));
    }
}

#[test]
fn completions_know_every_flag() {
    for shell in ["bash", "zsh", "fish"] {
        let script = printed(&format!("completions {shell}"));
        for flag in ["tumbling", "late-details", "output-format", "left-delay", "as-of", "duplicates"] {
            assert!(script.contains(flag), "{shell} {flag}");
        }
    }
}

#[test]
fn clap_agrees_with_itself() {
    command().debug_assert();
}

#[test]
fn every_flag_has_a_line_that_fits() {
    for sub in command().get_subcommands().filter(|sub| !sub.is_hide_set()) {
        for arg in sub.get_arguments() {
            let line = arg.get_help().map(ToString::to_string).unwrap_or_default();
            assert!(!line.is_empty() && line.len() <= 69 && !line.ends_with('.'), "{}: {line}", arg.get_id());
        }
    }
}

/// Compares with a committed file; `WINDROW_UPDATE=1` writes it instead.
fn same_as_committed(path: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("WINDROW_UPDATE").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(committed == text, "{path} is out of date: WINDROW_UPDATE=1 cargo test --lib cli writes it anew");
}
