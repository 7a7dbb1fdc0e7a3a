//! Flags of `windrow join` to a [`JoinPlan`]: two sides, what belongs together, and what is written of it.
//!
//! Must not open files. What a side comes to is [`sides`](super::sides)' to say.

use super::join::{JoinArgs, PairFlags, PairingFlags};
use super::sides::{Plain, Side};
use super::window::GridFlags;
use super::{Environment, planning, text};
use crate::error::{Error, Result};
use crate::expr::{self, On, Output};
use crate::pairing::{self, Bounds, JOINS, JoinKind, JoinWatermark, Within};
use crate::plan::{InputPath, JoinPlan, PairColumns, SidePlan};
use crate::time::Zone;
use crate::window::{self, Grid, Grouping};
use std::path::{Path, PathBuf};

/// How inputs are named.
const INPUTS: &str =
    "windrow join LEFT RIGHT, or --left FILE --right FILE, each perhaps more than once; - is standard input";

/// The plan that the flags of `windrow join` mean.
pub(super) fn plan(args: &JoinArgs, env: &Environment) -> Result<JoinPlan> {
    let zone = planning::zone("tz", args.time.tz.as_deref())?;
    let paths = paths(args)?;
    let on = on("join", args.pairing.on.as_deref())?;
    let kind = kind(args.pairing.how.as_deref())?;
    let bounds = bounds(&args.pairing, &args.grid, &zone)?;
    let columns = columns(&args.results)?;
    fits(&columns, kind, &bounds)?;
    let watermark = watermark(args)?;
    let plan = JoinPlan {
        sides: sides(args, paths)?,
        on,
        bounds,
        kind,
        watermark,
        columns,
        bad: planning::bad(&args.input)?,
        output: planning::output(&args.output, args.limit.as_deref(), zone, env)?,
        report: planning::report(&args.report)?,
        threads: planning::threads(args.input.threads.as_deref(), env)?,
    };
    one_place_each(args, &plan)?;
    Ok(plan)
}

/// The inputs of both sides.
fn paths(args: &JoinArgs) -> Result<[Vec<InputPath>; 2]> {
    let given = |files: &[PathBuf]| files.iter().map(planning::input_path).collect::<Vec<_>>();
    let named = [given(&args.left), given(&args.right)];
    let paths = match (args.inputs.as_slice(), named) {
        ([], [left, right]) if !left.is_empty() && !right.is_empty() => [left, right],
        ([left, right], [a, b]) if a.is_empty() && b.is_empty() => {
            [vec![planning::input_path(left)], vec![planning::input_path(right)]]
        }
        (inputs, named) => return Err(wrong_inputs(inputs.len(), named.map(|files| !files.is_empty()))),
    };
    planning::stdin_once(paths.iter().flatten())?;
    Ok(paths)
}

fn wrong_inputs(plain: usize, named: [bool; 2]) -> Error {
    let error = match (plain, named) {
        (0, [true, false]) => Error::usage("the right side has no input: add --right FILE"),
        (0, [false, true]) => Error::usage("the left side has no input: add --left FILE"),
        (0, _) => Error::usage("no input: a join reads a left and a right side"),
        (_, [true, _]) => Error::usage("--left names inputs, and so do arguments without a flag: use one way"),
        (_, [_, true]) => Error::usage("--right names inputs, and so do arguments without a flag: use one way"),
        (1, _) => Error::usage("a join reads a left and a right side, found one input"),
        (n, _) => Error::usage(format!("a join reads a left and a right side, found {n} inputs")),
    };
    error.hint(INPUTS)
}

/// The condition of a join or lookup.
pub(super) fn on(command: &str, text: Option<&str>) -> Result<On> {
    text::optional("on", text, On::parse)?.ok_or_else(|| {
        Error::usage(format!("a {command} needs --on, which says what must be equal"))
            .hint("--on id, or --on 'l.id = r.click_id' where names differ")
    })
}

fn kind(how: Option<&str>) -> Result<&'static JoinKind> {
    let how = how.unwrap_or("inner");
    pairing::find(how).ok_or_else(|| {
        let names: Vec<_> = JOINS.iter().map(|kind| kind.name).collect();
        let error = Error::usage(format!("--how: expected a kind of join, found \"{how}\""));
        match text::similar(how, names.iter().copied()) {
            Some(near) => error.hint(format!("did you mean {near}?")),
            None => error.hint(format!("kinds are {}", names.join(", "))),
        }
    })
}

fn bounds(flags: &PairingFlags, grid: &GridFlags, zone: &Zone) -> Result<Bounds> {
    match (flags.within.as_deref(), flags.window.as_deref()) {
        (Some(_), Some(_)) => {
            Err(Error::usage("--within and --window both say how far times may be apart: leave one out"))
        }
        (None, Some(size)) => windows(size, grid, zone),
        (Some(range), None) => {
            no_grid(grid)?;
            Ok(Bounds::Within(Within::parse(range).map_err(|e| text::in_flag("within", &e))?))
        }
        (None, None) => Err(Error::usage("a join needs --within, or rows would wait for a match for ever")
            .hint("--within '0s..30m' matches right rows up to 30 minutes after the left one")),
    }
}

fn no_grid(grid: &GridFlags) -> Result<()> {
    let moved = [("offset", grid.offset.is_some()), ("week-start", grid.week_start.is_some())];
    match moved.into_iter().find(|(_, given)| *given) {
        Some((flag, _)) => Err(Error::usage(format!("--{flag} moves windows: use it with --window SIZE"))),
        None => Ok(()),
    }
}

fn windows(size: &str, grid: &GridFlags, zone: &Zone) -> Result<Bounds> {
    let typed = format!("window {size}");
    let read = |grid: &Grid| {
        let tumbling = window::find("tumbling").ok_or_else(|| Error::usage("--window: there are no windows"))?;
        (tumbling.parse)(size, grid).map_err(|e| text::in_flag(&typed, &e))
    };
    match planning::on_grid(grid, zone, &format!("--{typed}"), read)? {
        Grouping::Windows(windower) => Ok(Bounds::Window(windower)),
        _ => Err(Error::usage(format!("--{typed}: expected a size of windows"))),
    }
}

/// What is written of two rows side by side.
pub(super) fn columns(flags: &PairFlags) -> Result<PairColumns> {
    let prefixed = [("left", flags.left_prefix.is_some()), ("right", flags.right_prefix.is_some())];
    if let Some((side, _)) = prefixed.into_iter().find(|(_, given)| *given && !flags.select.is_empty()) {
        return Err(Error::usage(format!("--select names all columns itself: leave --{side}-prefix out, or use AS")));
    }
    let columns = PairColumns {
        select: select(&flags.select)?,
        left_prefix: flags.left_prefix.clone().unwrap_or_default(),
        right_prefix: flags.right_prefix.clone().unwrap_or_else(|| "right_".to_owned()),
    };
    if columns.left_prefix == columns.right_prefix {
        return Err(Error::usage(format!(
            "--left-prefix and --right-prefix are both \"{}\", so names on both sides could not be told apart",
            columns.left_prefix
        )));
    }
    Ok(columns)
}

/// The lists of all flags together; none where none was given.
fn select(lists: &[String]) -> Result<Option<Vec<Output>>> {
    let columns = text::lists("select", lists, expr::parse_pair_columns)?;
    for (i, column) in columns.iter().enumerate() {
        if columns[..i].iter().any(|other| other.name == column.name) {
            return Err(Error::usage(format!("--select: two columns would be called \"{}\"", column.name))
                .hint("name one of them with AS, or leave one out"));
        }
    }
    Ok((!lists.is_empty()).then_some(columns))
}

/// Refuses columns that rows of this kind do not have, or that are there already.
fn fits(columns: &PairColumns, kind: &JoinKind, bounds: &Bounds) -> Result<()> {
    for column in columns.select.iter().flatten() {
        if !kind.pairs && column.expr.sides()[1] {
            return Err(Error::usage(format!(
                "--select: \"{}\" is of the right side, and --how {} writes left rows alone",
                column.name, kind.name
            ))
            .hint("--how inner writes pairs"));
        }
        if bounds.has_windows() && ["window_start", "window_end"].contains(&column.name.as_str()) {
            return Err(Error::usage(format!("--select: \"{}\" is a column that --window adds", column.name))
                .hint(format!("give yours another name: {} AS other", column.expr.shown())));
        }
    }
    Ok(())
}

fn watermark(args: &JoinArgs) -> Result<JoinWatermark> {
    let choices = [("own", JoinWatermark::Own), ("min", JoinWatermark::Min), ("max", JoinWatermark::Max)];
    let which = text::choice("join-watermark", args.join_watermark.as_deref(), &choices)?;
    match (which, moves(args, 0) || moves(args, 1)) {
        (Some(_), false) => Err(Error::usage("--join-watermark needs a moving watermark: add --delay")
            .hint("--delay 1m waits a minute for late events; without it nothing is late")),
        (which, _) => Ok(which.unwrap_or_default()),
    }
}

/// Whether the watermark of a side moves before its end.
fn moves(args: &JoinArgs, side: usize) -> bool {
    args.clock.delay.is_some() || args.sides.value(side, "delay").is_some()
}

fn sides(args: &JoinArgs, paths: [Vec<InputPath>; 2]) -> Result<[SidePlan; 2]> {
    let plain = Plain { time: &args.time, clock: &args.clock, input: &args.input };
    let filters = [args.left_where.as_deref(), args.right_where.as_deref()];
    let late = [args.late_left.as_ref(), args.late_right.as_ref()];
    let any_late = args.clock.late.is_some() || late.iter().any(Option::is_some);
    if args.clock.late_details && !any_late {
        return Err(Error::usage("--late-details adds to late records: add --late FILE"));
    }
    let [left, right] = paths;
    let side = |index: usize, paths| {
        let side = Side { index, paths, filter: filters[index], late: late[index], own: &args.sides };
        side.plan(&plain, moves(args, 1 - index))
    };
    Ok([side(0, left)?, side(1, right)?])
}

/// Late records of both sides may share a file; nothing else may.
fn one_place_each(args: &JoinArgs, plan: &JoinPlan) -> Result<()> {
    let [left, right] = [&plan.sides[0].late.path, &plan.sides[1].late.path].map(|path| path.as_deref());
    let flag = |own: &Option<PathBuf>, name| if own.is_some() { name } else { "--late" };
    let mut files: Vec<(&str, Option<&Path>)> = vec![(flag(&args.late_left, "--late-left"), left)];
    if left != right {
        files.push((flag(&args.late_right, "--late-right"), right));
    }
    let inputs = plan.sides.iter().flat_map(|side| &side.input.paths);
    planning::one_place_each(inputs, &files, &plan.output, &plan.bad, &plan.report)
}
