//! What a person types, turned into what is needed: the only place where a flag is spelled.
//!
//! Must not know record batches or open anything but files of flags. The way is: arguments, with `@file`s spliced in
//! (`argfile`), through clap (`window`) to a checked [`Plan`] (`planning`). Help, man pages and completions are made
//! from the same clap definitions and the tables of kinds.

mod argfile;
mod dedup;
mod environment;
mod help;
mod join;
mod joining;
mod kinds;
mod lookup;
mod man;
mod modes;
mod pairs;
mod planning;
mod prose;
mod rows;
mod sides;
mod text;
mod updating;
mod usage;
mod window;

pub use environment::Environment;

use crate::error::{Error, Result};
use crate::plan::{DedupPlan, JoinPlan, LookupPlan, Plan};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;
use dedup::DedupArgs;
use join::JoinArgs;
use lookup::LookupArgs;
use std::ffi::OsString;
use window::{ReportFlags, WindowArgs};

/// What the program is to do.
pub enum Command {
    /// Aggregate in windows.
    Window(Box<Plan>),
    /// Join two sides.
    Join(Box<JoinPlan>),
    /// Look events up in a table.
    Lookup(Box<LookupPlan>),
    /// Drop duplicates.
    Dedup(Box<DedupPlan>),
    /// Write this text to standard output: help, version, completions, a man page.
    Print(String),
}

/// Watermarked windows and joins over event files, from the shell.
///
/// Counts and aggregates the events of JSONL, CSV and Parquet files in windows of time, joins them by keys and time,
/// looks them up in tables and drops duplicates: exactly when all of the input is there, or as soon as a result is
/// final, with all late events accounted for.
#[derive(Parser)]
#[command(name = "windrow", version, disable_help_flag = true, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    task: Option<Task>,
    /// What there is
    #[arg(short = 'h', long = "help")]
    help: bool,
}

#[derive(Subcommand)]
enum Task {
    Window(Box<WindowArgs>),
    Join(Box<JoinArgs>),
    Lookup(Box<LookupArgs>),
    Dedup(Box<DedupArgs>),
    /// Print completions for a shell.
    ///
    /// bash: windrow completions bash > ~/.local/share/bash-completion/completions/windrow
    ///
    /// zsh: windrow completions zsh > a folder of $fpath/_windrow
    ///
    /// fish: windrow completions fish > ~/.config/fish/completions/windrow.fish
    #[command(disable_help_flag = true)]
    Completions {
        /// bash, zsh or fish
        #[arg(value_name = "SHELL")]
        shell: Option<String>,
        /// What this does
        #[arg(short = 'h', long = "help")]
        help: bool,
    },
    /// Print the help of a command.
    #[command(disable_help_flag = true, hide = true)]
    Help {
        /// The command
        command: Option<String>,
    },
    /// Print a man page.
    #[command(disable_help_flag = true, hide = true)]
    Man {
        /// windrow, or one of its commands
        command: Option<String>,
    },
}

/// Turns the arguments, the program's name first, into what is to be done.
pub fn parse(args: impl Iterator<Item = OsString>, env: &Environment) -> Result<Command> {
    let mut command = command();
    let args = argfile::expand(args, &command)?;
    run(&args, &mut command, env).map_err(|error| usage::with_place(error, &args, &command))
}

fn run(args: &[argfile::Argument], command: &mut clap::Command, env: &Environment) -> Result<Command> {
    let parsed = command.try_get_matches_from_mut(args.iter().map(|arg| &arg.text));
    let parsed = parsed.and_then(|matches| Cli::from_arg_matches(&matches));
    match parsed {
        Ok(cli) => perform(cli, env),
        Err(error) if error.kind() == clap::error::ErrorKind::DisplayVersion => {
            Ok(Command::Print(error.render().to_string()))
        }
        Err(error) => {
            let name = args.get(1).map(|arg| arg.text.to_string_lossy().into_owned()).unwrap_or_default();
            Err(usage::explain(&error, &name))
        }
    }
}

fn perform(cli: Cli, env: &Environment) -> Result<Command> {
    if let Some((name, length)) = cli.task.as_ref().and_then(help_asked) {
        return help::of(name, length);
    }
    match cli.task {
        Some(Task::Window(args)) => planning::plan(&args, env).map(Box::new).map(Command::Window),
        Some(Task::Join(args)) => joining::plan(&args, env).map(Box::new).map(Command::Join),
        Some(Task::Lookup(args)) => lookup::plan(&args, env).map(Box::new).map(Command::Lookup),
        Some(Task::Dedup(args)) => dedup::plan(&args, env).map(Box::new).map(Command::Dedup),
        Some(Task::Completions { shell, .. }) => completions(shell.as_deref()),
        Some(Task::Help { command: Some(name) }) => help::of(&name, help::Length::Long),
        Some(Task::Man { command }) => man::page(command.as_deref().unwrap_or("windrow")).map(Command::Print),
        None if !cli.help => Err(Error::usage("no command given").hint("windrow window --help shows the main one")),
        Some(Task::Help { command: None }) | None => Ok(Command::Print(help::overview())),
    }
}

/// The command whose help is asked for, and how much of it.
fn help_asked(task: &Task) -> Option<(&'static str, help::Length)> {
    let of = |name, flags: &ReportFlags| match (flags.short_help, flags.long_help) {
        (true, _) => Some((name, help::Length::Short)),
        (_, true) => Some((name, help::Length::Long)),
        _ => None,
    };
    match task {
        Task::Window(args) => of("window", &args.report),
        Task::Join(args) => of("join", &args.report),
        Task::Lookup(args) => of("lookup", &args.report),
        Task::Dedup(args) => of("dedup", &args.report),
        Task::Completions { help, .. } => help.then_some(("completions", help::Length::Long)),
        Task::Help { .. } | Task::Man { .. } => None,
    }
}

fn completions(shell: Option<&str>) -> Result<Command> {
    let shells = [("bash", Shell::Bash), ("zsh", Shell::Zsh), ("fish", Shell::Fish)];
    let named = |name: &str| shells.into_iter().find(|(known, _)| *known == name);
    let Some((_, shell)) = shell.and_then(named) else {
        let found = shell.map_or_else(|| "nothing".to_owned(), |name| format!("\"{name}\""));
        return Err(Error::usage(format!("completions: expected bash, zsh or fish, found {found}")));
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(), "windrow", &mut script);
    Ok(Command::Print(String::from_utf8_lossy(&script).into_owned()))
}

/// All that clap knows of the command line.
fn command() -> clap::Command {
    Cli::command()
}

#[cfg(test)]
mod tests;
