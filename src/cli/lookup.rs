//! `windrow lookup`: its flags, and the [`LookupPlan`] that they mean.
//!
//! Must not open files. A table without time asks for no event time either: events pass as they come.

use super::join::PairFlags;
use super::window::{InputFlags, OutputFlags, ReportFlags, TimeFlags};
use super::{Environment, joining, planning, rows, text};
use crate::error::{Error, Result};
use crate::expr::{self, On};
use crate::format::FormatKind;
use crate::plan::{AsOf, ClockPlan, Direction, InputPlan, LatePlan, LookupPlan, Pick, SidePlan};
use crate::time::{Span, TimeFormat};
use clap::{Arg, Args};
use std::path::PathBuf;

/// Add columns of a table to events.
///
/// Reads events, one record each, and writes each with the fields of the row of a table that has the same keys; with
/// --as-of, of the row that was in force at the event's time. The table is read first and held in memory; events are
/// not.
#[derive(Args, Clone)]
#[command(args_override_self = true, disable_help_flag = true)]
#[command(mut_arg("tz", zone), mut_arg("time", time), mut_arg("select", select))]
#[command(mut_arg("left_prefix", event_prefix), mut_arg("right_prefix", table_prefix))]
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
    /// left or inner: whether events without a row are written [left]
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
    #[arg(long, value_name = "WHERE", hide_short_help = true)]
    direction: Option<String>,
    /// Find no row that is further than D from the event
    #[arg(long, value_name = "D", hide_short_help = true)]
    tolerance: Option<String>,
    /// A row for which this is true ends the version before it
    ///
    /// Over the table's own fields: 'deleted', "op = 'delete'". An event after it finds nothing until the next version.
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true, hide_short_help = true)]
    delete_when: Option<String>,
}

fn zone(arg: Arg) -> Arg {
    arg.help("Zone of the output [UTC]").long_help("Zone of the output [UTC]\n\nAn IANA name such as Europe/Vienna.")
}

fn time(arg: Arg) -> Arg {
    arg.help("The field with the event time, or an expression; for --as-of")
}

fn select(arg: Arg) -> Arg {
    arg.help("Columns to write: 'l.ts, r.country'").long_help(
        "Columns to write: 'l.ts, r.country'\n\nA list of expressions over fields of the event (l) and the table (r), \
         each perhaps with a name. Without it, all fields of the event and then all of the table.",
    )
}

fn event_prefix(arg: Arg) -> Arg {
    arg.help("Put before an event's name that the table has too []")
}

fn table_prefix(arg: Arg) -> Arg {
    arg.help("Put before a table's name that the event has too [right_]")
}

/// The plan that the flags of `windrow lookup` mean.
pub(super) fn plan(args: &LookupArgs, env: &Environment) -> Result<LookupPlan> {
    let zone = planning::zone("tz", args.time.tz.as_deref())?;
    let table = table(args)?;
    let on = equalities(args.table.on.as_deref())?;
    let pick = pick(args)?;
    let plan = LookupPlan {
        events: events(args, env)?,
        table,
        on,
        pick,
        keeps_unmatched: text::choice("how", args.how.as_deref(), &[("left", true), ("inner", false)])?.unwrap_or(true),
        columns: joining::columns(&args.results)?,
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
