//! `windrow dedup`: its flags, and the [`DedupPlan`] that they mean.
//!
//! Must not open files. Only `--within` and what moves a watermark depend on times.

use super::window::{ClockFlags, InputFlags, OutputFlags, ReportFlags, TimeFlags};
use super::{Environment, planning, rows, text};
use crate::error::Result;
use crate::expr;
use crate::plan::{DedupPlan, SidePlan};
use crate::time::Span;
use clap::{Arg, Args};
use std::path::PathBuf;

/// Drop events that have been there before.
///
/// Reads events, one record each, and writes the first of those with the same keys; the others are duplicates, and are
/// counted. With --within only those are duplicates whose times lie close to a record that was written, and with
/// --delay keys are forgotten as soon as no duplicate can come, so memory does not grow with the input. A duplicate
/// never counts as late, as what is delivered again is old.
#[derive(Args, Clone)]
#[command(args_override_self = true, disable_help_flag = true)]
#[command(mut_arg("tz", zone), mut_arg("time", time), mut_arg("delay", delay), mut_arg("late_details", late_details))]
pub(super) struct DedupArgs {
    /// Files to read; - or nothing is standard input
    ///
    /// Formats are told by the extension, else by the first bytes; .gz and .zst are decompressed. Several files are
    /// read by event time, or one after another without --time. An argument @FILE stands for the flags in FILE: words
    /// as in a shell, with quotes and # comments.
    #[arg(value_name = "INPUT", help_heading = "Inputs")]
    inputs: Vec<PathBuf>,
    /// What makes two events the same: 'id', 'lower(email), day'
    ///
    /// A list of expressions as in SQL; dotted names reach into nested records, odd names stand in double quotes. An
    /// event of which all are null is never a duplicate. May be given more than once. Without it, all of the record
    /// as it stands.
    #[arg(short = 'g', long, value_name = "LIST", help_heading = "Duplicates")]
    by: Vec<String>,
    /// Only events at most D apart are duplicates
    ///
    /// By event time, D included. Without it keys are remembered to the end of the input.
    #[arg(long, value_name = "D", help_heading = "Duplicates")]
    within: Option<String>,
    /// Keep duplicates here, as they were
    #[arg(long, value_name = "FILE", help_heading = "Duplicates")]
    duplicates: Option<PathBuf>,
    /// Use only events for which this is true
    ///
    /// Such as "event_type = 'click' AND amount > 0". Others still move the watermark, and are counted as filtered.
    #[arg(short = 'w', long = "where", value_name = "EXPR", allow_hyphen_values = true, help_heading = "Results")]
    filter: Option<String>,
    /// At most N rows
    #[arg(short = 'n', long, value_name = "N", help_heading = "Results")]
    limit: Option<String>,
    #[command(flatten, next_help_heading = "Time")]
    time: TimeFlags,
    #[command(flatten, next_help_heading = "Lateness")]
    clock: ClockFlags,
    #[command(flatten, next_help_heading = "Input")]
    input: InputFlags,
    #[command(flatten, next_help_heading = "Output")]
    output: OutputFlags,
    #[command(flatten, next_help_heading = "Report")]
    pub(super) report: ReportFlags,
}

fn zone(arg: Arg) -> Arg {
    arg.help("Zone of the output [UTC]").long_help("Zone of the output [UTC]\n\nAn IANA name such as Europe/Vienna.")
}

fn time(arg: Arg) -> Arg {
    arg.help("The field with the event time, for --within and --delay")
}

fn delay(arg: Arg) -> Arg {
    arg.help("Forget keys as soon as events are at most D late").long_help(
        "Forget keys as soon as events are at most D late\n\nD is how far an event may be behind the greatest event \
         time before it: 30s, 5m, 1h30m. Without it keys are kept to the end of the input, and nothing is late.",
    )
}

fn late_details(arg: Arg) -> Arg {
    arg.long_help(
        "Add to each late record where it stood and how late it was\n\nAdds _file, _line, _lateness and _watermark, \
         which are ignored when the file is read again.",
    )
}

/// The plan that the flags of `windrow dedup` mean.
pub(super) fn plan(args: &DedupArgs, env: &Environment) -> Result<DedupPlan> {
    let zone = planning::zone("tz", args.time.tz.as_deref())?;
    let plan = DedupPlan {
        events: events(args, env)?,
        keys: text::lists("by", &args.by, expr::parse_list)?,
        within: text::optional("within", args.within.as_deref(), Span::parse)?,
        duplicates: planning::side_file("duplicates", &args.duplicates)?,
        bad: planning::bad(&args.input)?,
        output: planning::output(&args.output, args.limit.as_deref(), zone, env)?,
        report: planning::report(&args.report)?,
        threads: planning::threads(args.input.threads.as_deref(), env)?,
    };
    let files = [("--late", plan.events.late.path.as_deref()), ("--duplicates", plan.duplicates.as_deref())];
    planning::one_place_each(&plan.events.input.paths, &files, &plan.output, &plan.bad, &plan.report)?;
    Ok(plan)
}

/// The events. Where nothing depends on their time, none is needed and they are read as they stand; else a missing one
/// is found when their first records are seen, which tell what it may be called.
fn events(args: &DedupArgs, env: &Environment) -> Result<SidePlan> {
    let paths = planning::paths("dedup", &args.inputs, env)?;
    let concat = args.clock.concat || args.time.time.is_none();
    Ok(SidePlan {
        input: planning::input(paths, &args.input, &args.time, concat)?,
        clock: planning::clock(&args.clock)?,
        filter: rows::filter("where", args.filter.as_deref())?,
        late: planning::late(&args.clock)?,
    })
}
