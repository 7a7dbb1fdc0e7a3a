//! `-h` on one screen and `--help` with examples, both from the same clap definitions.
//!
//! Not clap's own rendering: that spends a blank line per flag and changes with its version and the terminal, while
//! these texts are committed and compared. `-h` leaves out flags that are hidden from it, `--help` leaves out none.

use super::prose::{self, Section};
use super::{Command, command, text};
use crate::error::{Error, Result};
use clap::Arg;

/// The width texts are filled to.
pub(super) const WIDTH: usize = 100;
/// Where `-h` puts what a flag does.
const COLUMN: usize = 31;

/// How much to tell.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    /// One screen.
    Short,
    /// All of it.
    Long,
}

/// The help of a command.
pub(super) fn of(name: &str, length: Length) -> Result<Command> {
    match visible().find(|sub| sub.get_name() == name) {
        Some(sub) => Ok(Command::Print(match length {
            Length::Short => short(&sub),
            Length::Long => long(&sub),
        })),
        None => {
            let names: Vec<_> = visible().map(|sub| sub.get_name().to_owned()).collect();
            let near = text::similar(name, names.iter().map(String::as_str));
            let hint =
                near.map_or_else(|| format!("commands are {}", names.join(", ")), |n| format!("did you mean {n}?"));
            Err(Error::usage(format!("unknown command {name}")).hint(hint))
        }
    }
}

/// The commands people are told of.
pub(super) fn visible() -> impl Iterator<Item = clap::Command> {
    command().get_subcommands().filter(|sub| !sub.is_hide_set()).cloned().collect::<Vec<_>>().into_iter()
}

/// What `windrow --help` says.
pub(super) fn overview() -> String {
    let top = command();
    let mut out = format!("{}\n\nUsage: windrow COMMAND [FLAGS] [INPUT]...\n\nCommands:\n", about(&top));
    for sub in visible() {
        out.push_str(&entry(&format!("  {}", sub.get_name()), &about(&sub), 17));
    }
    out.push_str("\nFlags:\n");
    out.push_str(&entry("  -h, --help", "This text", 17));
    out.push_str(&entry("  -V, --version", "The version", 17));
    out.push_str("\nwindrow COMMAND -h shows a command's flags on one screen, --help all of them with examples.\n");
    out
}

fn about(command: &clap::Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

/// One paragraph, one line per flag.
pub(super) fn short(sub: &clap::Command) -> String {
    let mut out = format!("{}\nUsage: {}\n", about(sub), synopsis(sub));
    for (heading, args) in groups(sub) {
        let shown: Vec<_> =
            args.into_iter().filter(|arg| !arg.is_hide_short_help_set() && !arg.is_positional()).collect();
        if !shown.is_empty() {
            out.push_str(&format!("{heading}:\n"));
        }
        for arg in shown {
            out.push_str(&entry(&format!("  {}", spelling(arg)), &one_line(arg), COLUMN));
        }
    }
    out
}

/// All there is to say, with examples.
pub(super) fn long(sub: &clap::Command) -> String {
    let name = sub.get_name();
    let mut out = format!("{}\n\nUsage: {}\n\n", fill(&full_about(sub), 0), synopsis(sub));
    for (heading, args) in groups(sub) {
        out.push_str(&format!("{heading}:\n"));
        for arg in args {
            out.push_str(&format!("  {}\n{}\n", spelling(arg), fill(&full_text(arg), 10)));
        }
        out.push('\n');
    }
    for Section { title, paragraphs } in prose::help_sections(name) {
        out.push_str(&format!("{}:\n", text::sentence(&title.to_lowercase())));
        paragraphs.iter().for_each(|paragraph| out.push_str(&paragraph.plain(2)));
        out.push('\n');
    }
    out.push_str(&format!("windrow-{name}(1), the man page, has the rules in full.\n"));
    out
}

/// How the command is written.
pub(super) fn synopsis(sub: &clap::Command) -> String {
    let flags = if sub.get_opts().next().is_some() { " [FLAGS]" } else { "" };
    let inputs = sub.get_positionals().map(|arg| match takes_any_number(arg) {
        true => format!(" [{}]...", value(arg)),
        false => format!(" {}", value(arg)),
    });
    format!("windrow {}{flags}{}", sub.get_name(), inputs.collect::<String>())
}

/// Whether an argument may stand any number of times; one with several names stands once for each.
pub(super) fn takes_any_number(arg: &Arg) -> bool {
    let names = arg.get_value_names().map_or(0, <[_]>::len);
    names < 2 && arg.get_num_args().is_some_and(|range| range.max_values() > 1)
}

/// The flags under their headings, in the order they are defined in.
pub(super) fn groups(sub: &clap::Command) -> Vec<(String, Vec<&Arg>)> {
    let mut groups: Vec<(String, Vec<&Arg>)> = Vec::new();
    for arg in sub.get_arguments().filter(|arg| !arg.is_hide_set()) {
        let heading = arg.get_help_heading().unwrap_or(if arg.is_positional() { "Arguments" } else { "Flags" });
        match groups.iter_mut().find(|(name, _)| name == heading) {
            Some((_, args)) => args.push(arg),
            None => groups.push((heading.to_owned(), vec![arg])),
        }
    }
    groups
}

/// `-t, --time FIELD`; flags without a short form are set in line with the others.
fn spelling(arg: &Arg) -> String {
    let value = if arg.get_action().takes_values() { format!(" {}", value(arg)) } else { String::new() };
    match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long}{value}"),
        (Some(short), None) => format!("-{short}{value}"),
        (None, Some(long)) => format!("    --{long}{value}"),
        (None, None) => value.trim_start().to_owned(),
    }
}

/// The name of an argument's value.
pub(super) fn value(arg: &Arg) -> String {
    let names = arg.get_value_names().unwrap_or_default();
    names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

fn one_line(arg: &Arg) -> String {
    arg.get_help().map(ToString::to_string).unwrap_or_default()
}

/// All paragraphs about a command.
pub(super) fn full_about(sub: &clap::Command) -> String {
    sub.get_long_about().or(sub.get_about()).map(ToString::to_string).unwrap_or_default()
}

/// All paragraphs about a flag; its first line, which `-h` shows by itself, becomes a sentence.
pub(super) fn full_text(arg: &Arg) -> String {
    let text = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    match text.split_once("\n\n") {
        Some((first, rest)) => format!("{first}. {rest}"),
        None => format!("{text}."),
    }
}

/// A label and what it means, continued below itself when it is long.
fn entry(label: &str, text: &str, column: usize) -> String {
    let gap = column.saturating_sub(label.chars().count()).max(2);
    let filled = fill(text, column);
    format!("{label}{:gap$}{}\n", "", filled.trim_start())
}

/// Paragraphs broken into lines of at most [`WIDTH`], each behind `indent` blanks.
pub(super) fn fill(text: &str, indent: usize) -> String {
    let paragraphs = text.split("\n\n").map(|paragraph| fill_paragraph(paragraph, indent));
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

fn fill_paragraph(text: &str, indent: usize) -> String {
    let margin = " ".repeat(indent);
    let mut lines = vec![margin.clone()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        let line = &mut lines[last];
        if line.len() > indent && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(format!("{margin}{word}"));
        } else if line.len() > indent {
            line.push(' ');
            line.push_str(word);
        } else {
            line.push_str(word);
        }
    }
    lines.join("\n")
}
