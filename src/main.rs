//! parse -> plan -> run -> exit status; nothing else.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use windrow::cli::{self, Command, Environment};
use windrow::error::Result;
use windrow::plan::ReportPlan;
use windrow::report::Reporter;
use windrow::{output, panics, run, signals};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    panics::remember();
    let env = Environment::detect();
    let mut reporter = Reporter::new(&ReportPlan::default(), env.stderr_is_terminal);
    let carried_out = AssertUnwindSafe(|| carry_out(&env, &mut reporter));
    match catch_unwind(carried_out).unwrap_or_else(|_| Err(panics::last())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            reporter.error(&error);
            ExitCode::from(error.exit_code())
        }
    }
}

fn carry_out(env: &Environment, reporter: &mut Reporter) -> Result<()> {
    match cli::parse(std::env::args_os(), env)? {
        Command::Print(text) => output::print(&text),
        Command::Window(plan) => {
            start(reporter, &plan.report, env)?;
            run::window(*plan, reporter)
        }
        Command::Join(plan) => {
            start(reporter, &plan.report, env)?;
            run::join(*plan, reporter)
        }
        Command::Lookup(plan) => {
            start(reporter, &plan.report, env)?;
            run::lookup(*plan, reporter)
        }
        Command::Dedup(plan) => {
            start(reporter, &plan.report, env)?;
            run::dedup(*plan, reporter)
        }
    }
}

/// A job begins: what people see of it, and what stops it.
fn start(reporter: &mut Reporter, plan: &ReportPlan, env: &Environment) -> Result<()> {
    *reporter = Reporter::new(plan, env.stderr_is_terminal);
    signals::watch()
}
