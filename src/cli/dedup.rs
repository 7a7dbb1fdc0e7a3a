//! `windrow dedup`: its flags, and the [`DedupPlan`] that they mean.
//!
//! Must not open files. Only `--within` and what moves a watermark depend on times.

use super::window::{ClockFlags, InputFlags, OutputFlags, ReportFlags, TimeFlags};
use super::{Environment, planning, rows, text};
use crate::error::Result;
use crate::expr;
use crate::plan::{DedupPlan, SidePlan};
use crate::time::Span;
use clap::Args;
use std::path::PathBuf;

/// Drop events that have been there before.
///
/// Reads events, one record each, and writes the first of those with the same keys; the others are duplicates, and are
/// counted. With --within only those are duplicates whose times lie close to a record that was written, and with
/// --delay keys are forgotten as soon as no duplicate can come, so memory does not grow with the input. A duplicate
/// never counts as late, as what is delivered again is old.
#[derive(Args, Clone)]
#[command(args_override_self = true, disable_help_flag = true)]
#[command(mut_args(|arg| text::reworded(arg, WORDS)))]
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

/// What flags mean that other commands have too.
const WORDS: &[(&str, &str)] = &[
    ("tz", "Zone of the output [UTC]\n\nAn IANA name such as Europe/Vienna."),
    ("time", "The field with the event time, for --within and --delay"),
    (
        "delay",
        "Forget keys as soon as events are at most D late\n\nD is how far an event may be behind the greatest event \
         time before it: 30s, 5m, 1h30m. Without it keys are kept to the end of the input, and nothing is late.",
    ),
    (
        "late_details",
        "Add to each late record where it stood and how late it was\n\nAdds _file, _line, _lateness, _watermark and \
         _window_end (which is null), ignored when the file is read again.",
    ),
];

/// The plan that the flags of `windrow dedup` mean.
pub(super) fn plan(args: &DedupArgs, env: &Environment) -> Result<DedupPlan> {
    let zone = planning::zone("tz", args.time.tz.as_deref())?;
    let plan = DedupPlan {
        events: events(args, env)?,
        keys: text::lists("by", &args.by, |text| expr::parse_unnamed(text, "what makes events the same"))?,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Command;
    use crate::cli::tests::{parse_line, refused};
    use crate::plan::{Bound, InputPath, Policy};
    use std::path::Path;

    fn plan(flags: &str) -> DedupPlan {
        match parse_line(&format!("dedup {flags}")) {
            Ok(Command::Dedup(plan)) => *plan,
            Ok(_) => panic!("{flags}: another command"),
            Err(error) => panic!("{flags}: {error}"),
        }
    }

    #[test]
    fn the_least_is_an_input() {
        let plan = plan("-");
        assert_eq!(plan.events.input.paths, [InputPath::Stdin]);
        assert!(plan.keys.is_empty() && plan.within.is_none() && plan.duplicates.is_none());
        assert!(plan.events.input.time.is_none() && plan.events.input.concat);
    }

    #[test]
    fn every_flag_reaches_the_plan() {
        let plan = plan(
            "a b -g id -g 'lower(x), window_start' --within 10m --duplicates dup -w ok -n 9 -t ts --time-format unix-ms \
             --input-tz CET --tz Asia/Tokyo -d 1m --late l --late-details --max-late 5% --watermark-by host --idle-after 1h \
             --max-skew 2h --outliers 2 --watermark-policy max -i csv --schema 'x double' --delimiter ; --no-header --null NA \
             --bad bad --max-bad 7 -j 8 -o out.csv -O jsonl --summary s.json -q",
        );
        let SidePlan { input, clock, filter, late } = &plan.events;
        assert_eq!((input.paths.len(), input.time.as_ref().unwrap().shown()), (2, "ts".into()));
        assert_eq!((input.time_format.to_string().as_str(), input.zone.name()), ("unix-ms", "CET"));
        assert!(!input.concat && input.format.unwrap().name == "csv" && input.declared.len() == 1);
        assert_eq!((input.text.delimiter, input.text.header, input.text.nulls.len()), (Some(b';'), false, 1));
        assert_eq!((clock.delay, clock.idle_after), (Some(Span::from_secs(60)), Some(Span::from_secs(3_600))));
        assert_eq!((clock.max_skew, clock.outliers, clock.policy), (Some(Span::from_secs(7_200)), 2, Policy::Max));
        assert_eq!(clock.by.as_ref().unwrap().name(), "host");
        assert_eq!((late.path.as_deref(), late.details), (Some(Path::new("l")), true));
        assert_eq!((late.max, filter.as_ref().unwrap().shown()), (Some(Bound::Percent(5.0)), "ok".into()));
        let keys: Vec<_> = plan.keys.iter().map(|key| key.expr.shown()).collect();
        assert_eq!(keys, ["id", "lower(x)", "window_start"]);
        assert_eq!((plan.within, plan.duplicates.as_deref()), (Some(Span::from_secs(600)), Some(Path::new("dup"))));
        assert_eq!((plan.bad.path.as_deref(), plan.bad.max), (Some(Path::new("bad")), Some(Bound::Count(7))));
        assert_eq!(
            (plan.output.zone.name(), plan.output.limit, plan.output.format.name),
            ("Asia/Tokyo", Some(9), "jsonl")
        );
        assert!(plan.report.quiet && plan.report.summary == Some("s.json".into()) && plan.threads == 8);
    }

    #[test]
    fn every_refusal_says_what_to_do() {
        let needs = "needs a moving watermark: add --delay\n  \
                     hint: --delay 1m waits a minute for late events; without it nothing is late";
        for (flags, expected) in [
            (
                "--within 5",
                "--within: expected a duration with a unit, found \"5\"\n  hint: 5s is in seconds, 5m in minutes",
            ),
            ("--by ' '", "--by: expected a field, found nothing"),
            (
                "--by 'msg level'",
                "--by: what makes events the same has no name of its own\n  msg level\n  ^\n  \
                 hint: a comma stands between two names: 'msg, level'; one with a blank in double quotes: '\"msg level\"'",
            ),
            (
                "--by 'id, lower(x) as y'",
                "--by: what makes events the same has no name of its own\n  id, lower(x) as y\n      ^\n  \
                 hint: leave AS out",
            ),
            ("--late l", &format!("--late {needs}")),
            ("--within 1m --max-late 5", &format!("--max-late {needs}")),
            ("--duplicates -", "--duplicates -: standard output is for the results: name a file"),
            ("--duplicates x -o x", "--duplicates x: this is --output too"),
            ("-d 1m --late x --duplicates x", "--duplicates x: this is --late too"),
        ] {
            assert_eq!(refused(&format!("dedup - {flags}")), expected, "{flags}");
        }
        assert_eq!(
            refused("dedup"),
            "no input: name files, or pipe records in\n  hint: windrow dedup FILE... reads files; - is standard input"
        );
    }
}
