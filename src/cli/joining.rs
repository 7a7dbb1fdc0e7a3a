//! Flags of `windrow join` to a [`JoinPlan`]: two sides, what belongs together, and what is written of it.
//!
//! Must not open files. What a side comes to is [`sides`](super::sides)' to say.

use super::join::{JoinArgs, PairFlags, PairingFlags};
use super::sides::{Plain, Side};
use super::window::GridFlags;
use super::{Environment, planning, text};
use crate::error::{Error, Result};
use crate::expr::{self, On, PairColumn};
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
    let given = |files: &[PathBuf]| files.iter().map(|file| planning::input_path(file)).collect::<Vec<_>>();
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
        (_, [true, _]) => return mixed("left"),
        (_, [_, true]) => return mixed("right"),
        (1, _) => Error::usage("a join reads a left and a right side, found one input"),
        (n, _) => Error::usage(format!("a join reads a left and a right side, found {n} inputs")),
    };
    error.hint(INPUTS)
}

/// A pattern that the shell makes several names of leaves all but the first without a flag.
fn mixed(side: &str) -> Error {
    Error::usage(format!("--{side} names inputs, and so do arguments without a flag: use one way"))
        .hint(format!("each file needs its own flag, also where a pattern stands for several: --{side} a --{side} b"))
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
        if how.eq_ignore_ascii_case("outer") {
            return error.hint("full writes what has no partner on either side, left and right that of one");
        }
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
    let select = select(&flags.select)?;
    let names_all = select.iter().flatten().all(|column| matches!(column, PairColumn::One(_)));
    if let Some((side, _)) = prefixed.into_iter().find(|(_, given)| *given && select.is_some() && names_all) {
        return Err(Error::usage(format!("--select names all columns itself: leave --{side}-prefix out, or use AS")));
    }
    let columns = PairColumns {
        select,
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
fn select(lists: &[String]) -> Result<Option<Vec<PairColumn>>> {
    let columns = text::lists("select", lists, expr::parse_pair_columns)?;
    Ok((!lists.is_empty()).then_some(columns))
}

/// Refuses columns that rows of this kind do not have, or that are there already.
fn fits(columns: &PairColumns, kind: &JoinKind, bounds: &Bounds) -> Result<()> {
    if !kind.pairs {
        left_alone(columns, kind.name)?;
    }
    for column in columns.select.iter().flatten() {
        let PairColumn::One(column) = column else { continue };
        if bounds.has_windows() && ["window_start", "window_end"].contains(&column.name.as_str()) {
            return Err(Error::usage(format!("--select: \"{}\" is a column that --window adds", column.name))
                .hint(format!("give yours another name: {} AS other", column.expr.shown())));
        }
    }
    Ok(())
}

/// Refuses columns of the right side where only left rows are written.
pub(super) fn left_alone(columns: &PairColumns, how: &str) -> Result<()> {
    let of_right = columns.select.iter().flatten().find_map(|column| match column {
        PairColumn::One(column) => column.expr.sides()[1].then(|| format!("\"{}\"", column.name)),
        PairColumn::All { side, .. } => (*side == Some(1)).then(|| "r.*".to_owned()),
    });
    match of_right {
        Some(column) => Err(Error::usage(format!(
            "--select: {column} is of the right side, and --how {how} writes left rows alone"
        ))
        .hint("--how inner writes pairs")),
        None => Ok(()),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Command;
    use crate::cli::tests::{parse_line, refused};
    use crate::plan::{Bound, Policy};
    use crate::time::Span;

    fn plan(flags: &str) -> JoinPlan {
        match parse_line(&format!("join {flags}")) {
            Ok(Command::Join(plan)) => *plan,
            Ok(_) => panic!("{flags}: another command"),
            Err(error) => panic!("{flags}: {error}"),
        }
    }

    fn file(path: &str) -> InputPath {
        InputPath::File(path.into())
    }

    #[test]
    fn the_least_that_makes_a_join() {
        let plan = plan("a.jsonl b.csv -t ts --on id --within 0s..30m");
        assert_eq!(plan.sides.each_ref().map(|side| side.input.paths.clone()), [[file("a.jsonl")], [file("b.csv")]]);
        for side in &plan.sides {
            assert_eq!(side.input.time.as_ref().unwrap().shown(), "ts");
            assert!(side.clock.delay.is_none() && side.filter.is_none() && side.late.path.is_none());
        }
        assert_eq!((plan.on.keys.len(), plan.on.condition.is_some(), plan.kind.name), (1, false, "inner"));
        assert_eq!(plan.watermark, JoinWatermark::Own);
        let columns = &plan.columns;
        assert!(columns.select.is_none());
        assert_eq!((columns.left_prefix.as_str(), columns.right_prefix.as_str()), ("", "right_"));
        assert_eq!((plan.threads, plan.output.format.name, plan.output.limit), (3, "jsonl", None));
    }

    #[test]
    fn every_flag_reaches_the_plan() {
        let plan = plan(
            "a b --on 'l.a = r.b AND l.c < r.d' --within [-5m..5m) --how ANTI --left-where x --right-where 'y > 1' \
             --left-prefix l_ --right-prefix r_ -n 9 -t ts --time-format unix-ms --input-tz Europe/Vienna --tz Asia/Tokyo \
             -d 1m --late l --late-details --max-late 5% --watermark-by host --idle-after 1h --max-skew 2h --outliers 2 \
             --watermark-policy max --concat --join-watermark min -i csv --schema 'x double' --delimiter ; --no-header \
             --null NA --bad bad --max-bad 7 -j 8 -o out.csv -O jsonl --summary s.json -q",
        );
        let Bounds::Within(within) = plan.bounds else { panic!("windows") };
        assert_eq!(within, Within::parse("[-5m..5m)").unwrap());
        assert_eq!((plan.on.keys.len(), plan.on.condition.unwrap().shown()), (1, "l.c < r.d".to_owned()));
        assert_eq!((plan.kind.name, plan.watermark), ("anti", JoinWatermark::Min));
        let filters = plan.sides.each_ref().map(|side| side.filter.as_ref().unwrap().shown());
        assert_eq!(filters, ["x", "y > 1"]);
        assert_eq!((plan.columns.left_prefix.as_str(), plan.columns.right_prefix.as_str()), ("l_", "r_"));
        for SidePlan { input, clock, late, .. } in &plan.sides {
            assert_eq!((input.time_format.to_string().as_str(), input.zone.name()), ("unix-ms", "Europe/Vienna"));
            assert!(input.concat && input.format.unwrap().name == "csv" && input.declared.len() == 1);
            assert_eq!((input.text.delimiter, input.text.header, input.text.nulls.len()), (Some(b';'), false, 1));
            assert_eq!((clock.delay, clock.idle_after), (Some(Span::from_secs(60)), Some(Span::from_secs(3_600))));
            assert_eq!((clock.max_skew, clock.outliers, clock.policy), (Some(Span::from_secs(7_200)), 2, Policy::Max));
            assert_eq!(clock.by.as_ref().unwrap().name(), "host");
            assert_eq!((late.path.as_deref(), late.details), (Some(Path::new("l")), true));
            assert_eq!(late.max, Some(Bound::Percent(5.0)));
        }
        assert_eq!((plan.bad.path.as_deref(), plan.bad.max), (Some(Path::new("bad")), Some(Bound::Count(7))));
        assert_eq!(
            (plan.output.zone.name(), plan.output.limit, plan.output.format.name),
            ("Asia/Tokyo", Some(9), "jsonl")
        );
        assert!(plan.report.quiet && plan.report.summary == Some("s.json".into()) && plan.threads == 8);
    }

    #[test]
    fn a_side_may_differ_in_each_of_its_flags() {
        let plan = plan(
            "a b --on id --within 0s..1m -t ts --left-time 'l t' --left-time-format unix-s --left-input-tz CET \
             --left-delay 5m --left-watermark-by host --left-idle-after 1h --left-input-format csv --left-schema 'x double' \
             --right-time r.t --right-time-format unix-ms --right-input-tz UTC --right-delay 6m --right-watermark-by dev \
             --right-idle-after 2h --right-format tsv --right-schema 'x text, y text' --late-left l --late-right r",
        );
        let of = |side: &SidePlan| {
            let SidePlan { input, clock, late, .. } = side;
            (
                (input.time.as_ref().unwrap().shown(), input.time_format.to_string(), input.zone.name().to_owned()),
                (clock.delay.unwrap(), clock.by.as_ref().unwrap().name(), clock.idle_after.unwrap()),
                (input.format.unwrap().name, input.declared.len(), late.path.clone().unwrap()),
            )
        };
        let minutes = |n: i64| Span::from_secs(60 * n);
        let text = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
        assert_eq!(
            of(&plan.sides[0]),
            (text("\"l t\"", "unix-s", "CET"), (minutes(5), "host".to_owned(), minutes(60)), ("csv", 1, "l".into()))
        );
        assert_eq!(
            of(&plan.sides[1]),
            (text("r.t", "unix-ms", "UTC"), (minutes(6), "dev".to_owned(), minutes(120)), ("tsv", 2, "r".into()))
        );
    }

    #[test]
    fn plain_flags_about_lateness_mean_the_sides_with_a_delay() {
        let plan = plan(
            "a b --on id --within 0s..1m --left-delay 5m --late l --late-details --max-late 3 --outliers 1 --idle-after 1h",
        );
        let [left, right] = &plan.sides;
        assert!(left.late.path.is_some() && left.late.details && left.late.max.is_some() && left.clock.outliers == 1);
        assert!(right.late.path.is_none() && !right.late.details && right.late.max.is_none());
        assert_eq!((right.clock.outliers, right.clock.idle_after, right.clock.delay), (0, None, None));
    }

    #[test]
    fn sides_have_several_files_or_the_same() {
        let inputs = |flags: &str| plan(&format!("{flags} --on id --window 1h")).sides.map(|side| side.input.paths);
        assert_eq!(inputs("--left a --right c --left b"), [vec![file("a"), file("b")], vec![file("c")]]);
        assert_eq!(inputs("x x"), [vec![file("x")], vec![file("x")]]);
        assert_eq!(inputs("x -"), [vec![file("x")], vec![InputPath::Stdin]]);
        assert_eq!(inputs("--left - --right x"), [vec![InputPath::Stdin], vec![file("x")]]);
    }

    #[test]
    fn windows_are_laid_out_as_tumbling_ones() {
        let ts = crate::time::Ts::from_micros(0);
        let window = |flags: &str| plan(&format!("a b --on id {flags}")).bounds.window_of(ts).unwrap();
        let tumbling = window("--window 1h");
        assert_eq!((tumbling.start.micros(), tumbling.end.micros()), (0, 3_600_000_000));
        assert_eq!(window("--window 1h --offset 10m").end.micros(), 600_000_000);
        assert_eq!(window("--window 1d --tz Europe/Vienna").start.micros(), -3_600_000_000);
        assert_ne!(window("--window 1w"), window("--window 1w --week-start sunday"));
    }

    #[test]
    fn columns_are_selected_by_one_or_more_lists() {
        let plan = plan("a b --on id --within 0s..1m --select 'l.id, r.ts - l.ts AS wait' --select r.x");
        let columns = plan.columns.select.unwrap().into_iter();
        let names: Vec<_> =
            columns.map(|column| if let PairColumn::One(one) = column { one.name } else { panic!() }).collect();
        assert_eq!(names, ["id", "wait", "x"]);
    }

    /// Flags behind `join`, and the refusal in full.
    const REFUSALS: &[(&str, &str)] = &[
        (
            "a b --on id",
            "a join needs --within, or rows would wait for a match for ever\n  \
             hint: --within '0s..30m' matches right rows up to 30 minutes after the left one",
        ),
        (
            "a b --within 0s..1m",
            "a join needs --on, which says what must be equal\n  \
             hint: --on id, or --on 'l.id = r.click_id' where names differ",
        ),
        (
            "a b --on id --within 0s..1m --window 1m",
            "--within and --window both say how far times may be apart: leave one out",
        ),
        (
            "a b --on id --within 30m",
            "--within: expected two durations such as 0s..30m, found \"30m\"\n  \
             hint: 0s..30m means up to 30m after the left row, -30m..30m on either side",
        ),
        ("a b --on id --within 0s..1m --offset 1m", "--offset moves windows: use it with --window SIZE"),
        (
            "a b --on id --window 1h --week-start sunday",
            "--week-start moves windows of weeks, and --window 1h has none\n  hint: weeks are sizes such as 1w",
        ),
        (
            "a b --on id --window 5",
            "--window 5: expected a duration with a unit, found \"5\"\n  hint: 5s is in seconds, 5m in minutes",
        ),
        (
            "a b --on id --how iner --window 1m",
            "--how: expected a kind of join, found \"iner\"\n  hint: did you mean inner?",
        ),
        (
            "a b --on id --how outer --window 1m",
            "--how: expected a kind of join, found \"outer\"\n  \
             hint: full writes what has no partner on either side, left and right that of one",
        ),
        (
            "a b --on 'Airport Name' --window 1m",
            "--on: what is compared has no name of its own\n  Airport Name\n  ^\n  \
             hint: a comma stands between two names: 'Airport, Name'; one with a blank in double quotes: '\"Airport Name\"'",
        ),
        (
            "a b --on 'left.x = b.y' --window 1m",
            "--on: which side is left.x of?\n  left.x = b.y\n  ^\n  \
             hint: the sides are called l and r: l.x or r.x; where left is a record, l.left.x",
        ),
        (
            "a b --on 'l.id = r.id AND l.kind = \"pickup\"' --window 1m",
            "--on: which side is pickup of?\n  l.id = r.id AND l.kind = \"pickup\"\n                           ^\n  \
             hint: text takes single quotes: 'pickup'; if it is a name: write l.pickup for the left side's, or r.pickup \
             for the right side's",
        ),
        (
            "a b --on id --window 1m --how anti --select 'r.*'",
            "--select: r.* is of the right side, and --how anti writes left rows alone\n  hint: --how inner writes pairs",
        ),
        (
            "a b --on id --window 1m --select 'x.*'",
            "--select: there is no side x\n  x.*\n  ^\n  \
             hint: the sides are called l and r: l.* are all fields of the left one",
        ),
        (
            "a b --on id --within ..5m",
            "--within: expected two durations such as 0s..30m, found \"..5m\"\n  \
             hint: 0s..5m begins at the left row's time",
        ),
        (
            "a b --on id --within 5m..",
            "--within: expected two durations such as 0s..30m, found \"5m..\"\n  \
             hint: without an end rows would wait for a match for ever: 5m..1h",
        ),
        (
            "a b --on id --how cross --window 1m",
            "--how: expected a kind of join, found \"cross\"\n  hint: kinds are inner, left, right, full, semi, anti",
        ),
        (
            "a b --on 'l.a = r.b AND c > 1' --window 1m",
            "--on: which side is c of?\n  l.a = r.b AND c > 1\n                ^\n  \
             hint: write l.c for the left side's, or r.c for the right side's",
        ),
        (
            "a b --on 'l.a < r.b' --window 1m",
            "--on: an equality of both sides is needed, by which rows are found\n  l.a < r.b\n  ^\n  \
             hint: such as l.id = r.id; what else must be true stands beside it with AND",
        ),
        ("- - --on id --window 1m", "- is given twice, and standard input can be read once"),
        ("--left - --right a --right - --on id --window 1m", "- is given twice, and standard input can be read once"),
        (
            "a b --on id --window 1m --select id",
            "--select: which side is id of?\n  id\n  ^\n  \
             hint: write l.id for the left side's, or r.id for the right side's",
        ),
        (
            "a b --on id --window 1m --select l.window_end",
            "--select: \"window_end\" is a column that --window adds\n  \
             hint: give yours another name: l.window_end AS other",
        ),
        (
            "a b --on id --window 1m --how semi --select 'l.a, r.b AS c'",
            "--select: \"c\" is of the right side, and --how semi writes left rows alone\n  hint: --how inner writes pairs",
        ),
        (
            "a b --on id --window 1m --select l.a --right-prefix x",
            "--select names all columns itself: leave --right-prefix out, or use AS",
        ),
        (
            "a b --on id --window 1m --right-prefix ''",
            "--left-prefix and --right-prefix are both \"\", so names on both sides could not be told apart",
        ),
        (
            "a b --on id --window 1m --late l",
            "--late needs a moving watermark: add --delay\n  \
             hint: --delay 1m waits a minute for late events; without it nothing is late",
        ),
        (
            "a b --on id --window 1m --left-delay 1m --late-right l",
            "--late-right needs a moving watermark: add --delay\n  \
             hint: --delay 1m waits a minute for late events; without it nothing is late",
        ),
        (
            "a b --on id --window 1m --left-delay 1m --right-idle-after 1h",
            "--right-idle-after needs a moving watermark: add --delay\n  \
             hint: --delay 1m waits a minute for late events; without it nothing is late",
        ),
        (
            "a b --on id --window 1m --join-watermark min",
            "--join-watermark needs a moving watermark: add --delay\n  \
             hint: --delay 1m waits a minute for late events; without it nothing is late",
        ),
        (
            "a b --on id --window 1m -d 1m --join-watermark avg",
            "--join-watermark: expected own or min or max, found \"avg\"",
        ),
        ("a b --on id --window 1m -d 1m --late-details", "--late-details adds to late records: add --late FILE"),
        (
            "a b --on id --window 1m --right-delay 5",
            "--right-delay: expected a duration with a unit, found \"5\"\n  hint: 5s is in seconds, 5m in minutes",
        ),
        (
            "a b --on id --window 1m --left-input-format jsnol",
            "--left-input-format: expected a format, found \"jsnol\"\n  hint: did you mean jsonl?",
        ),
        (
            "a b --on id --window 1m --left-where ' '",
            "--left-where: expected a condition such as amount > 0 AND status = 'paid', found nothing",
        ),
        ("a b --on id --window 1m -d 1m --late x -o x", "--late x: this is --output too"),
        ("a b --on id --window 1m -d 1m --late-right b", "--late-right b: this is an input too"),
        ("a b --on id --window 1m --left-dely 1m", "unexpected flag --left-dely\n  hint: did you mean --left-delay?"),
    ];

    #[test]
    fn every_refusal_says_what_to_do() {
        for (flags, expected) in REFUSALS {
            assert_eq!(refused(&format!("join {flags}")), *expected, "{flags}");
        }
    }

    #[test]
    fn inputs_that_do_not_make_two_sides_are_refused() {
        for (inputs, expected) in [
            ("", "no input: a join reads a left and a right side"),
            ("a", "a join reads a left and a right side, found one input"),
            ("a b c", "a join reads a left and a right side, found 3 inputs"),
            ("--left a", "the right side has no input: add --right FILE"),
            ("--right a", "the left side has no input: add --left FILE"),
        ] {
            let error = refused(format!("join --on id --window 1m {inputs}").trim_end());
            assert_eq!(error, format!("{expected}\n  hint: {INPUTS}"), "{inputs}");
        }
        for (inputs, side) in [("--left a b --right c", "left"), ("a b --right c", "right")] {
            let expected = format!(
                "--{side} names inputs, and so do arguments without a flag: use one way\n  \
                 hint: each file needs its own flag, also where a pattern stands for several: --{side} a --{side} b"
            );
            assert_eq!(refused(&format!("join --on id --window 1m {inputs}")), expected, "{inputs}");
        }
    }
}
