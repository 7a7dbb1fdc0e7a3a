//! Flags to a [`Plan`]: every value is read and every combination judged before anything is opened.
//!
//! Must not open files or know arrow. What depends on the machine (terminals, cores, the clock) comes as an
//! [`Environment`], so that planning is a function. A refusal is one sentence that says what to use.

use super::modes;
use super::window::{ClockFlags, GridFlags, InputFlags, OutputFlags, ReportFlags, ResultFlags, TimeFlags, WindowArgs};
use super::{Environment, rows, text, updating};
use crate::error::{Error, Result};
use crate::expr;
use crate::format::{self, FORMATS, FormatKind, Read, TextOptions};
use crate::plan::{BadPlan, ClockPlan, InputPath, InputPlan, LatePlan, Mode, OutputPlan, Plan, Policy, ReportPlan};
use crate::schema::{FieldPath, FieldType};
use crate::time::{Span, TimeFormat, Ts, Zone};
use crate::window::{Grid, Grouping};
use std::path::{Path, PathBuf};

/// The plan that the flags of `windrow window` mean.
pub(super) fn plan(args: &WindowArgs, env: &Environment) -> Result<Plan> {
    let zone = zone("tz", args.time.tz.as_deref())?;
    let (since, until) = range(&args.results, &zone, env.now)?;
    let grouping = grouping(args, &zone)?;
    let mode = updating::mode_name(args)?;
    modes::check(mode, &asked(args)?)?;
    ranks_whole_windows(args)?;
    let keys = rows::keys(&args.results.by)?;
    let mut selection = rows::selection(&args.results.agg)?;
    let finish = rows::finish(&args.results, &keys, &mut selection)?;
    let trigger = updating::trigger(args, &mut selection)?;
    rows::check_names(&keys, &selection, finish.top.is_some(), mode)?;
    let plan = Plan {
        grouping,
        since,
        until,
        keys,
        filter: rows::filter("where", args.results.filter.as_deref())?,
        selection,
        finish,
        mode: updating::mode(mode, args)?,
        trigger,
        clock: clock(&args.clock)?,
        late: late(&args.clock)?,
        bad: bad(&args.input)?,
        output: output(&args.output, args.results.limit.as_deref(), zone, env)?,
        report: report(&args.report)?,
        threads: threads(args.input.threads.as_deref(), env)?,
        input: input(paths("window", &args.inputs, env)?, &args.input, &args.time, args.clock.concat)?,
    };
    one_table_a_file(&plan)?;
    one_place_each(&plan.input.paths, &[("--late", plan.late.path.as_deref())], &plan.output, &plan.bad, &plan.report)?;
    Ok(plan)
}

/// What was asked for, by the names of the table of modes.
fn asked(args: &WindowArgs) -> Result<Vec<&'static str>> {
    let WindowArgs { results, updates, clock, .. } = args;
    let flags = [
        ("--delay", clock.delay.is_some()),
        ("--purge", updates.purge),
        ("--allowed-lateness", updates.allowed_lateness.is_some()),
        ("--keep", updates.keep.is_some()),
        ("--late", clock.late.is_some()),
        ("--max-late", clock.max_late.is_some()),
        ("--where", results.filter.is_some()),
        ("--having", results.having.is_some()),
        ("--order-by", !results.order_by.is_empty()),
        ("--top", results.top.is_some()),
        ("--top-by", !results.top_by.is_empty()),
        ("--fill", results.fill.is_some()),
        ("--fill-max", results.fill_max.is_some()),
        ("--since", results.since.is_some()),
        ("--until", results.until.is_some()),
        ("--limit", results.limit.is_some()),
    ];
    let kind = args.kinds.name().and_then(modes::kind_name);
    let given = flags.into_iter().filter(|(_, given)| *given).map(|(name, _)| name);
    Ok(given.chain(kind).chain(updating::trigger_name(args)?).collect())
}

/// A ranking needs all rows of a window at once, and an empty window of a key is known when the key's next row comes.
fn ranks_whole_windows(args: &WindowArgs) -> Result<()> {
    let WindowArgs { results, clock, .. } = args;
    match results.fill.is_some() && results.top.is_some() && clock.delay.is_some() {
        true => Err(Error::usage(
            "--delay writes the ranks of --top before it is known which rows --fill adds: leave out one of the three",
        )),
        false => Ok(()),
    }
}

/// A format with an end of its own cannot hold one table behind another.
fn one_table_a_file(plan: &Plan) -> Result<()> {
    let again = matches!(plan.mode, Mode::Complete { .. }) && plan.trigger.is_some();
    match plan.output.path {
        None if again && matches!(plan.output.format.read, Read::Columns) => Err(Error::usage(format!(
            "--mode complete writes the whole table at each trigger, and {} on standard output holds one: add -o FILE",
            plan.output.format.name
        ))),
        _ => Ok(()),
    }
}

pub(super) fn zone(flag: &str, value: Option<&str>) -> Result<Zone> {
    Ok(text::optional(flag, value, Zone::parse)?.unwrap_or(Zone::UTC))
}

fn field(flag: &str, value: Option<&str>) -> Result<Option<FieldPath>> {
    text::optional(flag, value, rows::field)
}

pub(super) fn span(flag: &str, value: Option<&str>) -> Result<Option<Span>> {
    text::optional(flag, value, Span::parse)
}

fn range(flags: &ResultFlags, zone: &Zone, now: Ts) -> Result<(Option<Ts>, Option<Ts>)> {
    let read = |flag, value: &Option<String>| text::optional(flag, value.as_deref(), |t| Ts::parse_flag(t, zone, now));
    match (read("since", &flags.since)?, read("until", &flags.until)?) {
        (Some(since), Some(until)) if since >= until => {
            Err(Error::usage("--since is not before --until, so no window can start between them"))
        }
        range => Ok(range),
    }
}

fn grouping(args: &WindowArgs, zone: &Zone) -> Result<Grouping> {
    let (flags, kinds) = (&args.grid, &args.kinds);
    match on_grid(flags, zone, &kinds.typed(), |grid| kinds.grouping(grid))? {
        Grouping::Session { .. } if flags.offset.is_some() => {
            Err(Error::usage("--offset moves a grid of windows, and sessions have none"))
        }
        Grouping::Global { .. } | Grouping::Count(_) if flags.offset.is_some() => {
            Err(Error::usage(format!("--offset moves a grid of windows, and {} has none", kinds.typed())))
        }
        Grouping::Global { .. } => Ok(Grouping::Global { purge: args.updates.purge }),
        grouping => Ok(grouping),
    }
}

/// Windows, `typed` so, as the grid has them.
pub(super) fn on_grid(
    flags: &GridFlags,
    zone: &Zone,
    typed: &str,
    grouping: impl Fn(&Grid) -> Result<Grouping>,
) -> Result<Grouping> {
    let sunday_weeks = week_start(flags)?;
    let offset = text::optional("offset", flags.offset.as_deref(), Span::parse_signed)?.unwrap_or_default();
    let grid = Grid { zone: zone.clone(), offset, sunday_weeks };
    let windows = grouping(&grid)?;
    let other = || grouping(&Grid { sunday_weeks: !sunday_weeks, ..grid.clone() });
    if flags.week_start.is_some() && !follows_weeks(&windows, &other()?) {
        return Err(Error::usage(format!("--week-start moves windows of weeks, and {typed} has none"))
            .hint("weeks are sizes such as 1w"));
    }
    Ok(windows)
}

/// Whether the windows are others than those with weeks from the other day.
fn follows_weeks(grouping: &Grouping, other: &Grouping) -> bool {
    let windows = |grouping: &Grouping| match grouping {
        Grouping::Session { .. } | Grouping::Global { .. } | Grouping::Count(_) => Vec::new(),
        Grouping::Windows(windower) => {
            let mut out = Vec::new();
            windower.windows_of(Ts::from_micros(0), &mut out);
            out
        }
    };
    windows(other) != windows(grouping)
}

fn week_start(flags: &GridFlags) -> Result<bool> {
    let sunday = text::choice("week-start", flags.week_start.as_deref(), &[("monday", false), ("sunday", true)])?;
    Ok(sunday.unwrap_or_default())
}

pub(super) fn clock(flags: &ClockFlags) -> Result<ClockPlan> {
    let policies = [("min", Policy::Min), ("max", Policy::Max)];
    let plan = ClockPlan {
        delay: span("delay", flags.delay.as_deref())?,
        by: field("watermark-by", flags.watermark_by.as_deref())?,
        idle_after: span("idle-after", flags.idle_after.as_deref())?,
        outliers: text::optional("outliers", flags.outliers.as_deref(), text::number)?.unwrap_or(0),
        max_skew: span("max-skew", flags.max_skew.as_deref())?,
        policy: text::choice("watermark-policy", flags.watermark_policy.as_deref(), &policies)?.unwrap_or_default(),
    };
    moving_watermark(flags)?;
    several_partitions(flags)?;
    Ok(plan)
}

/// Without a delay the watermark does not move before the end of the input: what depends on it is refused.
fn moving_watermark(flags: &ClockFlags) -> Result<()> {
    let needy = [
        ("late", flags.late.is_some()),
        ("late-details", flags.late_details),
        ("max-late", flags.max_late.is_some()),
        ("watermark-by", flags.watermark_by.is_some()),
        ("idle-after", flags.idle_after.is_some()),
        ("max-skew", flags.max_skew.is_some()),
        ("outliers", flags.outliers.is_some()),
        ("watermark-policy", flags.watermark_policy.is_some()),
    ];
    match needy.into_iter().find(|(_, given)| *given) {
        Some((flag, _)) if flags.delay.is_none() => {
            Err(Error::usage(format!("--{flag} needs a moving watermark: add --delay"))
                .hint("--delay 1m waits a minute for late events; without it nothing is late"))
        }
        _ => Ok(()),
    }
}

/// What compares partitions needs more than one, and what makes values partitions needs to know when one is over.
fn several_partitions(flags: &ClockFlags) -> Result<()> {
    if flags.watermark_by.is_some() && flags.idle_after.is_none() {
        return Err(Error::usage(
            "--watermark-by needs --idle-after, or a value that stops coming holds the watermark back for ever",
        )
        .hint("--idle-after 1h goes on without what is an hour behind the others"));
    }
    let comparing = [
        ("idle-after", flags.idle_after.is_some()),
        ("max-skew", flags.max_skew.is_some()),
        ("watermark-policy", flags.watermark_policy.is_some()),
    ];
    match comparing.into_iter().find(|(_, given)| *given) {
        Some((flag, _)) if flags.concat && flags.watermark_by.is_none() => {
            Err(Error::usage(format!("--{flag} compares inputs, and --concat makes one of them"))
                .hint("--watermark-by FIELD tells apart what is in them"))
        }
        _ => Ok(()),
    }
}

pub(super) fn late(flags: &ClockFlags) -> Result<LatePlan> {
    if flags.late_details && flags.late.is_none() {
        return Err(Error::usage("--late-details adds to late records: add --late FILE"));
    }
    let max = text::optional("max-late", flags.max_late.as_deref(), text::bound)?;
    Ok(LatePlan { path: side_file("late", &flags.late)?, details: flags.late_details, max })
}

pub(super) fn bad(flags: &InputFlags) -> Result<BadPlan> {
    let max = text::optional("max-bad", flags.max_bad.as_deref(), text::bound)?;
    Ok(BadPlan { path: side_file("bad", &flags.bad)?, max })
}

pub(super) fn report(flags: &ReportFlags) -> Result<ReportPlan> {
    if flags.quiet && flags.verbose {
        return Err(Error::usage("--quiet and --verbose say the opposite: leave one out"));
    }
    let summary = side_file("summary", &flags.summary)?;
    Ok(ReportPlan { quiet: flags.quiet, verbose: flags.verbose, summary })
}

/// A file beside the results, which have standard output for themselves.
pub(super) fn side_file(flag: &str, path: &Option<PathBuf>) -> Result<Option<PathBuf>> {
    match path.as_deref() {
        Some(path) if path == Path::new("-") => {
            Err(Error::usage(format!("--{flag} -: standard output is for the results: name a file")))
        }
        path => Ok(path.map(Path::to_owned)),
    }
}

/// More threads than any machine has use for.
const MOST_THREADS: usize = 1_024;

pub(super) fn threads(value: Option<&str>, env: &Environment) -> Result<usize> {
    match text::optional("threads", value, text::number)? {
        Some(0) => Err(Error::usage("--threads: expected a number from 1, found \"0\"")),
        Some(threads) if threads > MOST_THREADS => {
            Err(Error::usage(format!("--threads: expected at most {MOST_THREADS}, found {threads}")))
        }
        threads => Ok(threads.unwrap_or(env.cores.min(MOST_THREADS)).max(1)),
    }
}

pub(super) fn input(paths: Vec<InputPath>, flags: &InputFlags, time: &TimeFlags, concat: bool) -> Result<InputPlan> {
    Ok(InputPlan {
        chunk: None,
        paths,
        concat,
        format: text::optional("input-format", flags.input_format.as_deref(), input_format)?,
        text: text_options(flags)?,
        declared: declared(&flags.schema)?,
        time: rows::time("time", time.time.as_deref())?,
        time_format: text::optional("time-format", time.time_format.as_deref(), TimeFormat::parse)?.unwrap_or_default(),
        zone: zone("input-tz", time.input_tz.as_deref())?,
    })
}

/// The inputs of a command that takes any number of them.
pub(super) fn paths(command: &str, given: &[PathBuf], env: &Environment) -> Result<Vec<InputPath>> {
    if given.is_empty() && env.stdin_is_terminal {
        return Err(Error::usage("no input: name files, or pipe records in")
            .hint(format!("windrow {command} FILE... reads files; - is standard input")));
    }
    if given.is_empty() {
        return Ok(vec![InputPath::Stdin]);
    }
    let paths: Vec<_> = given.iter().map(|path| input_path(path)).collect();
    stdin_once(&paths)?;
    Ok(paths)
}

/// The input that an argument names.
pub(super) fn input_path(path: &Path) -> InputPath {
    match path.to_str() {
        Some("-") => InputPath::Stdin,
        _ => InputPath::File(path.to_owned()),
    }
}

/// Standard input has one reader.
pub(super) fn stdin_once<'a>(paths: impl IntoIterator<Item = &'a InputPath>) -> Result<()> {
    match paths.into_iter().filter(|path| **path == InputPath::Stdin).count() {
        0 | 1 => Ok(()),
        _ => Err(Error::usage("- is given twice, and standard input can be read once")),
    }
}

pub(super) fn text_options(flags: &InputFlags) -> Result<TextOptions> {
    Ok(TextOptions {
        delimiter: text::optional("delimiter", flags.delimiter.as_deref(), delimiter)?,
        header: !flags.no_header,
        nulls: flags.null.iter().flat_map(|list| list.split(',')).map(str::to_owned).collect(),
    })
}

fn delimiter(value: &str) -> Result<u8> {
    match value.as_bytes() {
        _ if value == "tab" || value == "\\t" => Ok(b'\t'),
        [byte] if !matches!(byte, b'"' | b'\n' | b'\r') && byte.is_ascii() => Ok(*byte),
        _ => Err(Error::usage(format!("expected one ASCII character, not a quote or line end, found \"{value}\""))
            .hint("write a tab as tab")),
    }
}

pub(super) fn declared(lists: &[String]) -> Result<Vec<(FieldPath, FieldType)>> {
    text::lists("schema", lists, expr::parse_schema)
}

pub(super) fn input_format(name: &str) -> Result<&'static FormatKind> {
    named_format(name, |kind| !matches!(kind.read, Read::No), "read")
}

fn output_format(name: &str) -> Result<&'static FormatKind> {
    named_format(name, is_written, "written")
}

fn named_format(name: &str, fits: fn(&FormatKind) -> bool, what: &str) -> Result<&'static FormatKind> {
    match format::find(name) {
        Some(kind) if fits(kind) => Ok(kind),
        Some(kind) => Err(Error::usage(format!("{} cannot be {what}", kind.name)).hint(formats(fits))),
        None => {
            let names = FORMATS.iter().filter(|kind| fits(kind)).map(|kind| kind.name);
            let hint = text::similar(name, names).map_or_else(|| formats(fits), |near| format!("did you mean {near}?"));
            Err(Error::usage(format!("expected a format, found \"{name}\"")).hint(hint))
        }
    }
}

fn formats(fits: fn(&FormatKind) -> bool) -> String {
    let names: Vec<_> = FORMATS.iter().filter(|kind| fits(kind)).map(|kind| kind.name).collect();
    format!("formats are {}", names.join(", "))
}

pub(super) fn output(flags: &OutputFlags, limit: Option<&str>, zone: Zone, env: &Environment) -> Result<OutputPlan> {
    let path = flags.output.clone().filter(|path| path != Path::new("-"));
    let said = text::optional("output-format", flags.output_format.as_deref(), output_format)?;
    if let Some(path) = path.as_deref().filter(|_| said.is_none()) {
        refuse_foreign(path)?;
    }
    let to_terminal = path.is_none() && env.stdout_is_terminal;
    let format = match said.or_else(|| path.as_deref().and_then(format::by_extension)) {
        Some(kind) => kind,
        None => default_format(to_terminal)?,
    };
    if to_terminal && matches!(format.read, Read::Columns) {
        return Err(Error::usage(format!("{} is not text, and would garble the terminal: add -o FILE", format.name)));
    }
    if let Some(path) =
        path.as_deref().filter(|path| matches!(format.read, Read::Columns) && format::is_compressed(path))
    {
        return Err(Error::usage(format!("{}: {} is compressed inside", path.display(), format.name))
            .hint("leave the last extension out"));
    }
    let limit = text::optional("limit", limit, text::number)?;
    Ok(OutputPlan { path, format, limit, zone, width: to_terminal.then_some(env.width).flatten() })
}

/// Extensions of files that are something else, and would not be read as what they say.
const FOREIGN: &[&str] = &[
    "xlsx", "xls", "ods", "avro", "orc", "arrow", "feather", "db", "sqlite", "duckdb", "xml", "yaml", "yml", "html",
    "md", "bz2", "xz", "zip",
];

/// A name that says another format is a wish that cannot be met; any other name is only a name.
fn refuse_foreign(path: &Path) -> Result<()> {
    let named = if format::is_compressed(path) { path.file_stem().map(Path::new).unwrap_or(path) } else { path };
    let extension = named.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).unwrap_or_default();
    match FOREIGN.contains(&extension.as_str()) {
        true => Err(Error::usage(format!("--output {}: .{extension} is no format that is written", path.display()))
            .hint(format!("{}; --output-format FORMAT writes one of them under any name", formats(is_written)))),
        false => Ok(()),
    }
}

fn is_written(kind: &FormatKind) -> bool {
    kind.write.is_some()
}

/// What people read on a terminal, and programs in a pipe or file.
fn default_format(to_terminal: bool) -> Result<&'static FormatKind> {
    output_format(if to_terminal { "table" } else { "jsonl" })
}

/// No file may take two kinds of records, or be read and written.
pub(super) fn one_place_each<'a>(
    inputs: impl IntoIterator<Item = &'a InputPath>,
    side_files: &[(&'static str, Option<&'a Path>)],
    output: &'a OutputPlan,
    bad: &'a BadPlan,
    report: &'a ReportPlan,
) -> Result<()> {
    let mut outputs = vec![("--output", output.path.as_deref())];
    outputs.extend(side_files);
    outputs.extend([("--bad", bad.path.as_deref()), ("--summary", report.summary.as_deref())]);
    let mut taken: Vec<(&str, &Path)> = inputs.into_iter().filter_map(|p| Some(("an input", p.path()?))).collect();
    for (flag, path) in outputs {
        let Some(path) = path.filter(|path| !path.starts_with("/dev")) else { continue };
        if let Some((other, _)) = taken.iter().find(|(_, used)| *used == path) {
            return Err(Error::usage(format!("{flag} {}: this is {other} too", path.display())));
        }
        taken.push((flag, path));
    }
    Ok(())
}
