//! When rows are written, as flags say it: `--mode`, `--trigger` and what goes with them.
//!
//! Must not know what a row holds. Which of them go together is [`modes`](super::modes)' to say.

use super::modes::{MODES, ModeName};
use super::text;
use super::window::WindowArgs;
use crate::error::{Error, Result};
use crate::expr::Selection;
use crate::plan::{Mode, Trigger};
use crate::time::Span;

/// What a trigger is called, before its value is read.
const TRIGGERS: [(&str, Build); 4] = [("count", count), ("event-time", event_time), ("wall", wall), ("when", when)];

type Build = fn(&str, &mut Selection) -> Result<Trigger>;

/// The mode by name.
pub(super) fn mode_name(args: &WindowArgs) -> Result<ModeName> {
    Ok(text::choice("mode", args.updates.mode.as_deref(), &MODES)?.unwrap_or_default())
}

/// The mode with its bound.
pub(super) fn mode(name: ModeName, args: &WindowArgs) -> Result<Mode> {
    let flags = &args.updates;
    let lateness = text::optional("allowed-lateness", flags.allowed_lateness.as_deref(), Span::parse)?;
    let keep = text::optional("keep", flags.keep.as_deref(), Span::parse)?;
    Ok(match name {
        ModeName::Append => Mode::Append,
        ModeName::Update => Mode::Update { lateness: lateness.unwrap_or_default() },
        ModeName::Complete => Mode::Complete { keep },
    })
}

/// The trigger, if one was given; its condition may need further aggregates.
pub(super) fn trigger(args: &WindowArgs, selection: &mut Selection) -> Result<Option<Trigger>> {
    text::optional("trigger", args.updates.trigger.as_deref(), |value| {
        let (_, build, rest) = split(value)?;
        build(rest, selection)
    })
}

/// The trigger given as the table of modes has it.
pub(super) fn trigger_name(args: &WindowArgs) -> Result<Option<&'static str>> {
    text::optional("trigger", args.updates.trigger.as_deref(), |value| {
        Ok(match split(value)?.0 {
            "count" => "--trigger count",
            "event-time" => "--trigger event-time",
            "wall" => "--trigger wall",
            _ => "--trigger when",
        })
    })
}

fn split(value: &str) -> Result<(&'static str, Build, &str)> {
    let (word, rest) = value.split_once(':').unwrap_or((value, ""));
    let known = TRIGGERS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word.trim()));
    known.map(|(name, build)| (*name, *build, rest.trim())).ok_or_else(|| {
        Error::usage(format!("expected count:N, event-time:D, wall:D or when:EXPR, found \"{value}\""))
            .hint("count:1000 is every 1,000 records, event-time:1h every hour of the events, wall:1m every minute")
    })
}

fn count(text: &str, _: &mut Selection) -> Result<Trigger> {
    text::positive(text).map(Trigger::Count)
}

fn event_time(text: &str, _: &mut Selection) -> Result<Trigger> {
    period(text).map(Trigger::EventTime)
}

fn wall(text: &str, _: &mut Selection) -> Result<Trigger> {
    period(text).map(Trigger::Wall)
}

fn when(text: &str, selection: &mut Selection) -> Result<Trigger> {
    selection.condition(text, "a condition such as count(*) > 100").map(Trigger::When)
}

fn period(text: &str) -> Result<Span> {
    match Span::parse(text)? {
        Span::ZERO => Err(Error::usage(format!("expected a duration longer than zero, found \"{text}\""))),
        period => Ok(period),
    }
}
