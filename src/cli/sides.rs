//! The two sides of a join: `--left-time` beside `--time`, made from the flags that serve both, and what they come to.
//!
//! Must not know what is joined. A flag of one side counts for that side instead of the plain one; which flags there
//! are for one side is in one list.

use super::window::{ClockFlags, InputFlags, TimeFlags};
use super::{planning, rows};
use crate::error::{Error, Result};
use crate::plan::{InputPath, SidePlan};
use clap::error::Error as ClapError;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use std::path::PathBuf;

/// The sides by name.
pub(super) const SIDES: [&str; 2] = ["left", "right"];

/// The flags that may be said of one side.
const SIDED: [&str; 8] =
    ["time", "time-format", "input-tz", "delay", "watermark-by", "idle-after", "input-format", "schema"];

/// The one that `-h` shows for all of them.
const SHOWN: &str = "left-time";

/// Values of flags of one side, by side and flag.
#[derive(Clone, Default)]
pub(super) struct SideFlags(Vec<(usize, &'static str, Vec<String>)>);

/// All that is said of one side.
pub(super) struct Side<'a> {
    /// 0 is left, 1 is right.
    pub(super) index: usize,
    /// Its inputs.
    pub(super) paths: Vec<InputPath>,
    /// `--left-where`
    pub(super) filter: Option<&'a str>,
    /// `--late-left`
    pub(super) late: Option<&'a PathBuf>,
    /// Flags of this side.
    pub(super) own: &'a SideFlags,
}

/// Flags that serve both sides.
pub(super) struct Plain<'a> {
    pub(super) time: &'a TimeFlags,
    pub(super) clock: &'a ClockFlags,
    pub(super) input: &'a InputFlags,
}

impl SideFlags {
    fn list(&self, side: usize, flag: &str) -> Option<&[String]> {
        self.0.iter().find(|(of, name, _)| *of == side && *name == flag).map(|(.., values)| values.as_slice())
    }

    /// The value for a side, if one was given for it alone.
    pub(super) fn value(&self, side: usize, flag: &str) -> Option<&String> {
        self.list(side, flag)?.last()
    }

    fn over(&self, side: usize, flag: &str, plain: Option<&String>) -> Option<String> {
        self.value(side, flag).or(plain).cloned()
    }
}

impl Side<'_> {
    /// What is read of this side, and how its watermark moves. `other_moves`: the other side has a delay, so that
    /// plain flags about lateness need not mean this one.
    pub(super) fn plan(self, plain: &Plain<'_>, other_moves: bool) -> Result<SidePlan> {
        let (time, input) = (self.time(plain.time), self.input(plain.input));
        let clock = self.clock(plain.clock, other_moves);
        let filter = rows::filter(&format!("{}-where", SIDES[self.index]), self.filter)?;
        let plan = |paths| {
            Ok(SidePlan {
                input: planning::input(paths, &input, &time, clock.concat)?,
                clock: planning::clock(&clock)?,
                filter,
                late: planning::late(&clock)?,
            })
        };
        plan(self.paths.clone()).map_err(|error| self.named(error))
    }

    fn over(&self, flag: &str, plain: Option<&String>) -> Option<String> {
        self.own.over(self.index, flag, plain)
    }

    fn time(&self, plain: &TimeFlags) -> TimeFlags {
        TimeFlags {
            time: self.over("time", plain.time.as_ref()),
            time_format: self.over("time-format", plain.time_format.as_ref()),
            input_tz: self.over("input-tz", plain.input_tz.as_ref()),
            ..plain.clone()
        }
    }

    fn input(&self, plain: &InputFlags) -> InputFlags {
        InputFlags {
            input_format: self.over("input-format", plain.input_format.as_ref()),
            schema: self.own.list(self.index, "schema").map_or_else(|| plain.schema.clone(), <[_]>::to_vec),
            ..plain.clone()
        }
    }

    fn clock(&self, plain: &ClockFlags, other_moves: bool) -> ClockFlags {
        let delay = self.over("delay", plain.delay.as_ref());
        let still = ClockFlags { concat: plain.concat, ..ClockFlags::default() };
        let plain = if delay.is_none() && other_moves { &still } else { plain };
        let late = self.late.or(plain.late.as_ref()).cloned();
        ClockFlags {
            delay,
            watermark_by: self.over("watermark-by", plain.watermark_by.as_ref()),
            idle_after: self.over("idle-after", plain.idle_after.as_ref()),
            late_details: plain.late_details && late.is_some(),
            late,
            ..plain.clone()
        }
    }

    /// An error about `--delay`, where this side's own was given, is about `--left-delay`.
    fn named(&self, error: Error) -> Error {
        let side = SIDES[self.index];
        let Some(rest) = error.message().strip_prefix("--") else { return error };
        let end = rest.find([' ', ':']).unwrap_or(rest.len());
        let (flag, rest) = rest.split_at(end);
        let own = match flag {
            "late" if self.late.is_some() => format!("late-{side}"),
            flag if self.own.value(self.index, flag).is_some() => format!("{side}-{flag}"),
            _ => return error,
        };
        let renamed = Error::usage(format!("--{own}{rest}"));
        match error.hint_text() {
            Some(hint) => renamed.hint(hint),
            None => renamed,
        }
    }
}

/// The plain flags, as they are defined for all commands.
fn plain_args() -> Vec<Arg> {
    let command = InputFlags::augment_args(ClockFlags::augment_args(TimeFlags::augment_args(Command::new("plain"))));
    let find = |flag: &str| command.get_arguments().find(|arg| arg.get_long() == Some(flag)).cloned();
    SIDED.iter().filter_map(|flag| find(flag)).collect()
}

/// `--delay` of one side.
fn of_side(arg: Arg, side: &str) -> Arg {
    let flag = arg.get_long().unwrap_or_default().to_owned();
    let name = format!("{side}-{flag}");
    let text = match name.as_str() {
        SHOWN => "--time of the left side; likewise --left-delay, --right-time".to_owned(),
        _ => format!("--{flag} of the {side} side"),
    };
    let arg = arg.id(name.clone()).short(None).hide_short_help(name != SHOWN);
    let arg = arg.help_heading("One side by itself");
    let arg = if flag == "input-format" { arg.alias(format!("{side}-format")) } else { arg };
    arg.long(name).help(text.clone()).long_help(text)
}

impl Args for SideFlags {
    fn augment_args(command: Command) -> Command {
        let plain = plain_args();
        command.args(SIDES.iter().flat_map(|side| plain.iter().map(move |arg| of_side(arg.clone(), side))))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SideFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, ClapError> {
        let value = |side: usize, flag: &'static str| {
            let values = matches.get_many::<String>(&format!("{}-{flag}", SIDES[side]))?;
            Some((side, flag, values.cloned().collect()))
        };
        let all = (0..SIDES.len()).flat_map(|side| SIDED.iter().filter_map(move |flag| value(side, flag)));
        Ok(Self(all.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), ClapError> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
