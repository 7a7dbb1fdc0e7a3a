//! What all integration tests share: running a job in this process or as a process, and showing what went wrong.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use windrow::cli::{self, Environment};
use windrow::plan::{Plan, ReportPlan};
use windrow::report::Reporter;
use windrow::time::Ts;

/// The environment of a script: no terminal anywhere, a fixed clock.
pub fn script() -> Environment {
    Environment {
        stdin_is_terminal: false,
        stdout_is_terminal: false,
        stderr_is_terminal: false,
        width: None,
        cores: 2,
        now: Ts::from_micros(1_772_323_200_000_000),
    }
}

/// The plan of `windrow ARGS`.
pub fn plan(args: &[String]) -> windrow::error::Result<Plan> {
    match command(args)? {
        cli::Command::Window(plan) => Ok(*plan),
        _ => panic!("not a window job: {args:?}"),
    }
}

fn command(args: &[String]) -> windrow::error::Result<cli::Command> {
    let all = std::iter::once("windrow").chain(args.iter().map(String::as_str)).map(OsString::from);
    cli::parse(all, &script())
}

/// Runs a job of any command in this process, read in chunks of about `chunk` bytes.
pub fn run(args: &[String], chunk: Option<usize>) -> windrow::error::Result<()> {
    let quiet = ReportPlan { quiet: true, ..ReportPlan::default() };
    let reporter = Reporter::new(&quiet, false);
    match command(args)? {
        cli::Command::Window(mut plan) => {
            plan.input.chunk = chunk;
            windrow::run::window(*plan, &reporter)
        }
        cli::Command::Join(mut plan) => {
            plan.sides.iter_mut().for_each(|side| side.input.chunk = chunk);
            windrow::run::join(*plan, &reporter)
        }
        cli::Command::Lookup(mut plan) => {
            (plan.events.input.chunk, plan.table.chunk) = (chunk, chunk);
            windrow::run::lookup(*plan, &reporter)
        }
        cli::Command::Dedup(mut plan) => {
            plan.events.input.chunk = chunk;
            windrow::run::dedup(*plan, &reporter)
        }
        cli::Command::Print(text) => panic!("not a job: {text}"),
    }
}

/// An instant as output has it: with none, 3 or 6 fraction digits.
pub fn instant(micros: i64) -> String {
    let precision = match (micros % 1_000_000, micros % 1_000) {
        (0, _) => 0,
        (_, 0) => 3,
        _ => 6,
    };
    format!("{:.precision$}", jiff::Timestamp::from_microsecond(micros).unwrap())
}

/// The binary.
pub fn windrow() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_windrow"));
    command.stdin(Stdio::null());
    command
}

/// A run of the binary that ended.
pub struct Ran {
    what: String,
    folder: String,
    output: Output,
}

impl Ran {
    pub fn of(what: String, folder: &Path, output: Output) -> Self {
        Self { what, folder: folder.display().to_string(), output }
    }

    pub fn code(&self) -> i32 {
        self.output.status.code().unwrap_or(-1)
    }

    pub fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.output.stdout).into_owned()
    }

    /// What was said to people, with the folder's name taken out.
    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).replace(&format!("{}/", self.folder), "")
    }

    /// Panics with command, folder, status and both streams unless the run ended with `code`.
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code(), code, "{self}");
        self
    }

    /// A quiet success, and its standard output.
    #[track_caller]
    pub fn ok(self) -> String {
        let ran = self.expect(0);
        assert!(ran.output.stderr.is_empty(), "{ran}");
        ran.stdout()
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "\n$ {}   (in {})\nstatus {}", self.what, self.folder, self.code())?;
        writeln!(f, "--- stdout\n{}--- stderr\n{}---", self.stdout(), self.stderr())
    }
}
