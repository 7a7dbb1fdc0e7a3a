//! clap's errors in the manner of the house: one sentence, one hint, no dump of the usage.
//!
//! Must not print. Errors about flags from a file of flags get the place they stand at.

use super::argfile::Argument;
use crate::error::{Error, ErrorKind};
use clap::error::{ContextKind, ContextValue, ErrorKind as Clap};

/// Flags that other tools, or other commands of ours, have for what a command calls otherwise.
const MEANT: &[(&str, &[&str], &str)] = &[
    (
        "join",
        &["--where", "-w"],
        "--left-where and --right-where judge the records of a side; what a pair has to meet stands in --on",
    ),
    ("join", &["--tumbling"], "--window SIZE joins what lies in the same window of SIZE"),
    ("join", &["--by", "-g"], "--on says what is equal"),
    ("join", &["--as-of"], "windrow lookup has --as-of: the row of a table that was in force"),
    ("lookup", &["--within"], "--tolerance D finds no row that is further than D from the event"),
    ("lookup", &["--by", "-g"], "--on says what is equal"),
    ("dedup", &["--on"], "--by says what makes two events the same"),
];

/// Commands that other tools have.
const COMMANDS: &[(&str, &str)] = &[
    ("asof", "windrow lookup EVENTS --table FILE --on KEYS --as-of FIELD finds the row that was in force"),
    ("as-of", "windrow lookup EVENTS --table FILE --on KEYS --as-of FIELD finds the row that was in force"),
    ("asof-join", "windrow lookup EVENTS --table FILE --on KEYS --as-of FIELD finds the row that was in force"),
    ("uniq", "windrow dedup drops events that have been there before"),
    ("distinct", "windrow dedup drops events that have been there before"),
];

/// What a clap error about the flags of a command says.
pub(super) fn explain(error: &clap::Error, command: &str) -> Error {
    let said = |kind| context(error, kind);
    let flag = said(ContextKind::InvalidArg).map(|arg| bare(&arg)).unwrap_or_default();
    match error.kind() {
        Clap::UnknownArgument => unknown_flag(error, &flag, command),
        Clap::InvalidSubcommand => {
            let name = said(ContextKind::InvalidSubcommand).unwrap_or_default();
            let unknown = Error::usage(format!("unknown command {name}"));
            match COMMANDS.iter().find(|(other, _)| *other == name) {
                Some((_, hint)) => unknown.hint(*hint),
                None => with_suggestion(unknown, said(ContextKind::SuggestedSubcommand)),
            }
        }
        Clap::InvalidValue if !flag.starts_with('-') => Error::usage("an empty argument names no file"),
        Clap::InvalidValue if said(ContextKind::InvalidValue).is_none_or(|value| value.is_empty()) => {
            Error::usage(format!("{flag} needs a value")).hint(example(error))
        }
        Clap::InvalidUtf8 => Error::usage("an argument is not UTF-8, where only file names may be otherwise"),
        Clap::TooManyValues => {
            let value = said(ContextKind::InvalidValue).unwrap_or_default();
            Error::usage(format!("{flag} takes no value, found \"{value}\""))
        }
        _ => Error::usage(first_line(error)),
    }
}

fn unknown_flag(error: &clap::Error, flag: &str, command: &str) -> Error {
    let what = if flag.starts_with('-') { "flag" } else { "argument" };
    let unexpected = Error::usage(format!("unexpected {what} {flag}"));
    let meant = MEANT.iter().find(|(of, flags, _)| *of == command && flags.contains(&flag));
    if let Some((.., hint)) = meant {
        return unexpected.hint(*hint);
    }
    match context(error, ContextKind::SuggestedArg) {
        Some(near) => with_suggestion(unexpected, Some(bare(&near))),
        None if flag.starts_with('-') => unexpected.hint("--help lists all flags; a file of this name goes behind --"),
        None => unexpected,
    }
}

fn with_suggestion(error: Error, near: Option<String>) -> Error {
    match near.filter(|near| !near.is_empty()) {
        Some(near) => error.hint(format!("did you mean {near}?")),
        None => error.hint("windrow --help lists what there is"),
    }
}

fn context(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => texts.first().cloned(),
        _ => None,
    }
}

/// `--delay <D>` or `--delay=5m` without the value.
fn bare(arg: &str) -> String {
    let name = arg.split(' ').next().unwrap_or(arg);
    match name.split_once('=') {
        Some((long, _)) if long.starts_with("--") => long.to_owned(),
        _ => name.to_owned(),
    }
}

/// How the flag is written: `--delay D`.
fn example(error: &clap::Error) -> String {
    let arg = context(error, ContextKind::InvalidArg).unwrap_or_default();
    format!("write {}", arg.replace(['<', '>'], ""))
}

/// What clap says, for the kinds that have no words of ours.
fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.trim_start_matches("error: ").to_owned()
}

/// The same error with the place of the flag it is about, if that stood in a file of flags.
pub(super) fn with_place(error: Error, args: &[Argument], command: &clap::Command) -> Error {
    let Some(flag) = error.message().split([' ', ':', '=']).find(|word| word.starts_with('-')).map(str::to_owned)
    else {
        return error;
    };
    let names = spellings(&flag, command);
    let is_it = |arg: &&Argument| names.iter().any(|name| spells(&arg.text.to_string_lossy(), name));
    match args.iter().rev().find(is_it).and_then(|arg| arg.place.as_ref()) {
        Some(place) if error.kind() == ErrorKind::Usage => error.at(place),
        _ => error,
    }
}

/// The flag itself, and its short form.
fn spellings(flag: &str, command: &clap::Command) -> Vec<String> {
    let args = command.get_subcommands().flat_map(clap::Command::get_arguments);
    let same = args.filter(|arg| arg.get_long().is_some_and(|long| flag == format!("--{long}")));
    let shorts = same.filter_map(|arg| arg.get_short()).map(|short| format!("-{short}"));
    std::iter::once(flag.to_owned()).chain(shorts).collect()
}

fn spells(arg: &str, name: &str) -> bool {
    match name.strip_prefix("--") {
        Some(_) => arg == name || arg.strip_prefix(name).is_some_and(|rest| rest.starts_with('=')),
        None => arg.starts_with(name),
    }
}
