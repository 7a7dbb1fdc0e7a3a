//! The flags of the kinds of windows, made from the table of kinds, so that a new kind needs no line here.

use super::text;
use crate::error::{Error, Result};
use crate::window::{Grid, Grouping, WINDOWS, WindowKind};
use clap::error::Error as ClapError;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

/// The kinds given with their values (empty for a kind that takes none), in the table's order.
#[derive(Clone, Default)]
pub(super) struct KindFlags(Vec<(&'static WindowKind, String)>);

impl KindFlags {
    /// Reads the one kind given.
    pub(super) fn grouping(&self, grid: &Grid) -> Result<Grouping> {
        match self.0.as_slice() {
            [(kind, value)] => (kind.parse)(value, grid).map_err(|e| text::in_flag(with_value(kind.name, value), &e)),
            [] => Err(Error::usage("a job needs one kind of window").hint(choices())),
            [(a, _), (b, _), ..] => {
                Err(Error::usage(format!("--{} and --{} are two kinds of window, and a job has one", a.name, b.name)))
            }
        }
    }

    /// The name of the kind given.
    pub(super) fn name(&self) -> Option<&'static str> {
        self.0.first().map(|(kind, _)| kind.name)
    }

    /// The flag given, as it was typed.
    pub(super) fn typed(&self) -> String {
        self.0.first().map(|(kind, value)| format!("--{}", with_value(kind.name, value))).unwrap_or_default()
    }
}

fn with_value(name: &str, value: &str) -> String {
    format!("{name} {value}").trim_end().to_owned()
}

/// `--tumbling SIZE, --sliding SIZE/SLIDE or --count N`.
fn choices() -> String {
    let all: Vec<_> = WINDOWS.iter().map(|kind| format!("--{}", with_value(kind.name, kind.value))).collect();
    match all.as_slice() {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => all.concat(),
    }
}

fn arg(kind: &'static WindowKind) -> Arg {
    let arg = Arg::new(kind.name).long(kind.name).help(text::sentence(kind.doc));
    match kind.value {
        "" => arg.action(ArgAction::SetTrue),
        value => arg.value_name(value).allow_hyphen_values(true),
    }
}

impl Args for KindFlags {
    fn augment_args(command: Command) -> Command {
        command.args(WINDOWS.iter().map(|kind| arg(kind)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for KindFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, ClapError> {
        let value = |kind: &&'static WindowKind| match kind.value {
            "" => matches.get_flag(kind.name).then(|| (*kind, String::new())),
            _ => Some((*kind, matches.get_one::<String>(kind.name)?.clone())),
        };
        Ok(Self(WINDOWS.iter().filter_map(value).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), ClapError> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
