//! `windrow lookup`: its flags, and the [`LookupPlan`] that they mean.
//!
//! Must not open files. A table without time asks for no event time either: events pass as they come.

use super::join::PairFlags;
use super::window::{InputFlags, OutputFlags, ReportFlags, TimeFlags};
use super::{Environment, joining, planning, rows, text};
use crate::error::{Error, Result};
use crate::expr::{self, On};
use crate::format::FormatKind;
use crate::plan::{AsOf, ClockPlan, Direction, InputPlan, LatePlan, LookupKind, LookupPlan, Pick, SidePlan};
use crate::time::{Span, TimeFormat};
use clap::Args;
use std::path::PathBuf;

/// Add columns of a table to events.
///
/// Reads events, one record each, and writes each with the fields of the row of a table that has the same keys; with
/// --as-of, of the row that was in force at the event's time. The table is read first and held in memory; events are
/// not.
#[derive(Args, Clone)]
#[command(args_override_self = true, disable_help_flag = true)]
#[command(mut_args(|arg| text::reworded(arg, WORDS)))]
pub(super) struct LookupArgs {
    /// Files with events; - or nothing is standard input
    ///
    /// Formats are told by the extension, else by the first bytes; .gz and .zst are decompressed. Several files are
    /// read one after another, with --as-of by event time. An argument @FILE stands for the flags in FILE: words as in
    /// a shell, with quotes and # comments.
    #[arg(value_name = "EVENTS", help_heading = "Inputs")]
    inputs: Vec<PathBuf>,
    #[command(flatten, next_help_heading = "Table")]
    table: TableFlags,
    #[command(flatten, next_help_heading = "As of a time")]
    as_of: AsOfFlags,
    #[command(flatten, next_help_heading = "Results")]
    results: PairFlags,
    /// left, inner or anti: which events are written [left]
    ///
    /// left writes all, with nulls where there is no row; inner those that have one; anti those that have none, with
    /// the event's columns alone.
    #[arg(long, value_name = "KIND", help_heading = "Results")]
    how: Option<String>,
    /// Use only events for which this is true
    ///
    /// Over the event's own fields: "amount > 0". Others are counted as filtered.
    #[arg(short = 'w', long = "where", value_name = "EXPR", allow_hyphen_values = true, help_heading = "Results")]
    filter: Option<String>,
    /// At most N rows
    #[arg(short = 'n', long, value_name = "N", help_heading = "Results")]
    limit: Option<String>,
    #[command(flatten, next_help_heading = "Time")]
    time: TimeFlags,
    #[command(flatten, next_help_heading = "Input")]
    input: InputFlags,
    /// Read the files one after another
    ///
    /// Otherwise events that have a time are read by it.
    #[arg(long, help_heading = "Input", hide_short_help = true)]
    concat: bool,
    #[command(flatten, next_help_heading = "Output")]
    output: OutputFlags,
    #[command(flatten, next_help_heading = "Report")]
    pub(super) report: ReportFlags,
}

/// What the table is and which of its rows belong to an event.
#[derive(Args, Clone)]
struct TableFlags {
    /// The file with the table
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// What is equal: 'l.user_id = r.id', or id for both
    ///
    /// Equalities of fields of the event (l.user_id) and the table (r.id), with AND between: 'l.country = r.country
    /// AND lower(l.plan) = r.plan'. A list of names is short for equal ones: 'country, plan'. Null equals nothing.
    #[arg(long, value_name = "KEYS")]
    on: Option<String>,
    /// Of rows with the same keys use the first in the table
    ///
    /// Without it, or --all or --as-of, two rows with the same keys are an error.
    #[arg(long)]
    first: bool,
    /// Of rows with the same keys use every one
    ///
    /// An event is then written once for each, in the table's order.
    #[arg(long)]
    all: bool,
    /// Use only rows of the table for which this is true
    ///
    /// Over the table's own fields: 'active', "country = 'AT'". Other rows are counted as filtered, and no event finds
    /// them.
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    table_where: Option<String>,
    /// Format of the table, if the name does not tell
    #[arg(long, alias = "table-input-format", value_name = "FORMAT", hide_short_help = true)]
    table_format: Option<String>,
    /// Types of the table's fields: 'id bigint'
    #[arg(long, value_name = "LIST", hide_short_help = true)]
    table_schema: Vec<String>,
    /// How the times of --as-of are written [--time-format]
    #[arg(long, value_name = "FORMAT", hide_short_help = true)]
    table_time_format: Option<String>,
}

/// Which version of a row was in force.
#[derive(Args, Clone)]
struct AsOfFlags {
    /// The table's field with the time from which a row holds
    ///
    /// A field or an expression, as for --time. The table then has a row for each version, and an event finds the
    /// newest of its keys that is not after it.
    #[arg(long, value_name = "FIELD")]
    as_of: Option<String>,
    /// backward, forward or nearest: where to look [backward]
    ///
    /// backward finds the newest row not after the event, the last in the table of equal ones; forward the oldest not
    /// before it, the first of equal ones; nearest the closer of the two, backward when both are as close.
    #[arg(long, value_name = "WHERE")]
    direction: Option<String>,
    /// Find no row that is further than D from the event
    #[arg(long, value_name = "D")]
    tolerance: Option<String>,
    /// A row for which this is true ends the version before it
    ///
    /// Over the table's own fields: 'deleted', "op = 'delete'". An event after it finds nothing until the next version.
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true, hide_short_help = true)]
    delete_when: Option<String>,
}

/// What flags mean that other commands have too.
const WORDS: &[(&str, &str)] = &[
    ("tz", "Zone of the output [UTC]\n\nAn IANA name such as Europe/Vienna."),
    ("time", "The field with the event time, or an expression; for --as-of"),
    (
        "select",
        "Columns to write: 'l.ts, r.country'\n\nA list of expressions over fields of the event (l) and the table (r), \
         each perhaps with a name. l.* are all fields of the event, 'r.* EXCLUDE (a, b)' all of the table but these. \
         Without it, all fields of the event and then all of the table.",
    ),
    ("left_prefix", "Put before an event's name that the table has too []"),
    ("right_prefix", "Put before a table's name that the event has too [right_]"),
];

/// The plan that the flags of `windrow lookup` mean.
pub(super) fn plan(args: &LookupArgs, env: &Environment) -> Result<LookupPlan> {
    let zone = planning::zone("tz", args.time.tz.as_deref())?;
    let table = table(args)?;
    let on = equalities(args.table.on.as_deref())?;
    let pick = pick(args)?;
    let kinds = [("left", LookupKind::Left), ("inner", LookupKind::Inner), ("anti", LookupKind::Anti)];
    let kind = text::choice("how", args.how.as_deref(), &kinds)?.unwrap_or_default();
    let columns = joining::columns(&args.results)?;
    if kind == LookupKind::Anti {
        joining::left_alone(&columns, "anti")?;
    }
    let plan = LookupPlan {
        events: events(args, env)?,
        table,
        on,
        pick,
        table_filter: rows::filter("table-where", args.table.table_where.as_deref())?,
        kind,
        columns,
        bad: planning::bad(&args.input)?,
        output: planning::output(&args.output, args.limit.as_deref(), zone, env)?,
        report: planning::report(&args.report)?,
        threads: planning::threads(args.input.threads.as_deref(), env)?,
    };
    let inputs = plan.events.input.paths.iter().chain(&plan.table.paths);
    planning::stdin_once(inputs.clone())?;
    planning::one_place_each(inputs, &[], &plan.output, &plan.bad, &plan.report)?;
    Ok(plan)
}

/// The events. Without `--as-of` nothing depends on their time, so that none is needed and they are read as they
/// stand; with it a missing one is found when their first records are seen, which tell what it may be called.
fn events(args: &LookupArgs, env: &Environment) -> Result<SidePlan> {
    let paths = planning::paths("lookup", &args.inputs, env)?;
    let concat = args.concat || args.time.time.is_none();
    Ok(SidePlan {
        input: planning::input(paths, &args.input, &args.time, concat)?,
        clock: ClockPlan::default(),
        filter: rows::filter("where", args.filter.as_deref())?,
        late: LatePlan::default(),
    })
}

fn table(args: &LookupArgs) -> Result<InputPlan> {
    let flags = &args.table;
    let Some(path) = &flags.table else {
        return Err(Error::usage("a lookup needs --table, the file to look up in")
            .hint("windrow lookup events.jsonl --table users.csv --on user_id"));
    };
    let own = |text: &Option<String>| text.clone().or_else(|| args.time.time_format.clone());
    let format = |text: &str| planning::input_format(text);
    let said: Option<&'static FormatKind> = text::optional("table-format", flags.table_format.as_deref(), format)?;
    let time_format = text::optional("table-time-format", own(&flags.table_time_format).as_deref(), TimeFormat::parse);
    Ok(InputPlan {
        chunk: None,
        paths: vec![planning::input_path(path)],
        concat: true,
        format: said,
        text: planning::text_options(&args.input)?,
        declared: text::lists("table-schema", &flags.table_schema, expr::parse_schema)?,
        time: rows::time("as-of", args.as_of.as_of.as_deref())?,
        time_format: time_format?.unwrap_or_default(),
        zone: planning::zone("input-tz", args.time.input_tz.as_deref())?,
    })
}

/// A condition beside the keys would need every row of the table to be tried.
fn equalities(text: Option<&str>) -> Result<On> {
    let on = joining::on("lookup", text)?;
    match &on.condition {
        Some(condition) => {
            Err(Error::usage(format!("--on: a table is looked up by equalities alone, found {}", condition.shown()))
                .hint("--where judges events, and --as-of finds the row of a time; windrow join takes any condition"))
        }
        None => Ok(on),
    }
}

fn pick(args: &LookupArgs) -> Result<Pick> {
    let flags = &args.table;
    let versions = versions(args)?;
    match (versions, flags.first, flags.all) {
        (_, true, true) => Err(Error::usage("--first and --all say the opposite: leave one out")),
        (Some(versions), false, false) => Ok(Pick::AsOf(versions)),
        (Some(_), first, _) => Err(Error::usage(format!(
            "--{} is for a table without times, and --as-of finds one row by its time: leave one out",
            if first { "first" } else { "all" }
        ))),
        (None, true, _) => Ok(Pick::First),
        (None, _, true) => Ok(Pick::All),
        (None, false, false) => Ok(Pick::Only),
    }
}

/// Which version of a row counts; none for a table without times.
fn versions(args: &LookupArgs) -> Result<Option<AsOf>> {
    let flags = &args.as_of;
    let dependent = [
        ("direction", flags.direction.is_some()),
        ("tolerance", flags.tolerance.is_some()),
        ("delete-when", flags.delete_when.is_some()),
        ("table-time-format", args.table.table_time_format.is_some()),
    ];
    if flags.as_of.is_none() {
        return match dependent.into_iter().find(|(_, given)| *given) {
            Some((flag, _)) => {
                Err(Error::usage(format!("--{flag} is about the time of the table's rows: add --as-of FIELD")))
            }
            None => Ok(None),
        };
    }
    let directions =
        [("backward", Direction::Backward), ("forward", Direction::Forward), ("nearest", Direction::Nearest)];
    Ok(Some(AsOf {
        direction: text::choice("direction", flags.direction.as_deref(), &directions)?.unwrap_or_default(),
        tolerance: text::optional("tolerance", flags.tolerance.as_deref(), Span::parse)?,
        delete_when: rows::filter("delete-when", flags.delete_when.as_deref())?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Command;
    use crate::cli::tests::{parse_line, refused};
    use crate::plan::{Bound, InputPath};
    use std::path::Path;

    fn plan(flags: &str) -> LookupPlan {
        match parse_line(&format!("lookup {flags}")) {
            Ok(Command::Lookup(plan)) => *plan,
            Ok(_) => panic!("{flags}: another command"),
            Err(error) => panic!("{flags}: {error}"),
        }
    }

    #[test]
    fn the_least_that_makes_a_lookup() {
        let plan = plan("e.jsonl --table u.csv --on id");
        assert_eq!(plan.events.input.paths, [InputPath::File("e.jsonl".into())]);
        assert_eq!(plan.table.paths, [InputPath::File("u.csv".into())]);
        assert!(plan.events.input.time.is_none() && plan.events.input.concat && plan.table.time.is_none());
        assert!(matches!(plan.pick, Pick::Only) && plan.kind == LookupKind::Left);
        assert_eq!((plan.columns.left_prefix.as_str(), plan.columns.right_prefix.as_str()), ("", "right_"));
        assert!(plan.events.clock.delay.is_none() && plan.events.late.path.is_none());
    }

    #[test]
    fn every_flag_reaches_the_plan() {
        let plan = plan(
            "a b --table t --on 'l.u = r.id' --table-format csv --table-schema 'id bigint' --table-time-format unix-s \
             --as-of valid_from --direction nearest --tolerance 1m --delete-when gone --table-where 'y > 2' --how inner -w 'x > 1' -n 3 \
             --left-prefix l_ --right-prefix r_ -t ts --time-format unix-ms --input-tz CET --tz Asia/Tokyo -i jsonl \
             --schema 'x double' --delimiter ; --no-header --null NA --concat --bad bad --max-bad 7 -j 8 -o out.csv -O jsonl \
             --summary s.json -q",
        );
        let (events, table) = (&plan.events.input, &plan.table);
        assert_eq!(events.paths.len(), 2);
        assert_eq!(
            (events.time.as_ref().unwrap().shown(), events.time_format.to_string()),
            ("ts".into(), "unix-ms".into())
        );
        assert_eq!(
            (table.time.as_ref().unwrap().shown(), table.time_format.to_string()),
            ("valid_from".into(), "unix-s".into())
        );
        assert_eq!((events.zone.name(), table.zone.name()), ("CET", "CET"));
        assert_eq!((events.format.unwrap().name, table.format.unwrap().name), ("jsonl", "csv"));
        assert!(events.concat && events.declared.len() == 1 && table.declared.len() == 1);
        for text in [&events.text, &table.text] {
            assert_eq!((text.delimiter, text.header, text.nulls.len()), (Some(b';'), false, 1));
        }
        let (left, right) = &plan.on.keys[0];
        assert_eq!((left.shown(), right.shown()), ("u".into(), "id".into()));
        let Pick::AsOf(as_of) = &plan.pick else { panic!("no time") };
        assert_eq!((as_of.direction, as_of.tolerance), (Direction::Nearest, Some(Span::from_secs(60))));
        assert_eq!(as_of.delete_when.as_ref().unwrap().shown(), "gone");
        assert!(plan.kind == LookupKind::Inner && plan.table_filter.is_some() && plan.events.filter.is_some());
        assert_eq!((plan.columns.left_prefix.as_str(), plan.columns.right_prefix.as_str()), ("l_", "r_"));
        assert_eq!((plan.bad.path.as_deref(), plan.bad.max), (Some(Path::new("bad")), Some(Bound::Count(7))));
        assert_eq!(
            (plan.output.zone.name(), plan.output.limit, plan.output.format.name),
            ("Asia/Tokyo", Some(3), "jsonl")
        );
        assert!(plan.report.quiet && plan.report.summary == Some("s.json".into()) && plan.threads == 8);
    }

    #[test]
    fn rows_with_the_same_keys_are_picked() {
        let pick = |flags: &str| plan(&format!("e --table t --on id {flags}")).pick;
        assert!(matches!(pick("--first"), Pick::First) && matches!(pick("--all"), Pick::All));
        assert!(matches!(pick("--as-of t"), Pick::AsOf(AsOf { direction: Direction::Backward, tolerance: None, .. })));
        let own = plan("e -t ts --time-format unix-s --table t --on id --as-of t --select 'l.a, r.b'");
        assert_eq!(own.table.time_format.to_string(), "unix-s");
        assert!(!own.events.input.concat && own.columns.select.unwrap().len() == 2);
    }

    /// Flags behind `lookup e`, and the refusal in full.
    const REFUSALS: &[(&str, &str)] = &[
        (
            "--on id",
            "a lookup needs --table, the file to look up in\n  \
             hint: windrow lookup events.jsonl --table users.csv --on user_id",
        ),
        (
            "--table t",
            "a lookup needs --on, which says what must be equal\n  \
             hint: --on id, or --on 'l.id = r.click_id' where names differ",
        ),
        (
            "--table t --on 'l.a = r.a AND r.b > 1'",
            "--on: a table is looked up by equalities alone, found r.b > 1\n  \
             hint: --where judges events, and --as-of finds the row of a time; windrow join takes any condition",
        ),
        ("--table t --on id --first --all", "--first and --all say the opposite: leave one out"),
        (
            "--table t --on id --all --as-of t",
            "--all is for a table without times, and --as-of finds one row by its time: leave one out",
        ),
        ("--table t --on id --tolerance 1m", "--tolerance is about the time of the table's rows: add --as-of FIELD"),
        (
            "--table t --on id --as-of t --direction up",
            "--direction: expected backward or forward or nearest, found \"up\"",
        ),
        ("--table t --on id --how right", "--how: expected left or inner or anti, found \"right\""),
        (
            "--table t --on id --table-format x",
            "--table-format: expected a format, found \"x\"\n  hint: formats are jsonl, parquet, csv, tsv",
        ),
        ("- --table - --on id", "- is given twice, and standard input can be read once"),
        ("--table t --on id -o t", "--output t: this is an input too"),
        (
            "--table t --on id --as-of a..b",
            "--as-of: expected a field, found \"a..b\"\n  \
             hint: a dotted path reaches into records: actor.login; odd names stand in double quotes",
        ),
    ];

    #[test]
    fn every_refusal_says_what_to_do() {
        for (flags, expected) in REFUSALS {
            assert_eq!(refused(&format!("lookup e {flags}")), *expected, "{flags}");
        }
    }
}
