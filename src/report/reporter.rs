//! The only writer to stderr, and the one place that decides what is shown.
//!
//! On a terminal people see everything; elsewhere (cron) only what needs attention. `-q`: errors alone. `-v`:
//! everything everywhere (SPEC section 8).

use super::progress::{Progress, Watch};
use super::{Given, Summary};
use crate::error::{Error, ErrorKind};
use crate::plan::ReportPlan;
use std::io::Write;
use std::sync::Arc;

/// Prints for people.
#[derive(Clone, Debug)]
pub struct Reporter {
    quiet: bool,
    verbose: bool,
    terminal: bool,
}

impl Reporter {
    /// A reporter for what a plan says and where stderr goes.
    pub fn new(plan: &ReportPlan, stderr_is_terminal: bool) -> Self {
        Self { quiet: plan.quiet, verbose: plan.verbose, terminal: stderr_is_terminal }
    }

    /// Prints an error; a closed pipe is none.
    pub fn error(&self, error: &Error) {
        if error.kind() != ErrorKind::ClosedPipe {
            print(&format!("windrow: {error}\n"));
        }
    }

    /// Prints what a run that ended has to tell.
    pub fn finish(&self, summary: &Summary, given: &Given) {
        print(&self.finish_text(summary, given));
    }

    /// Shows progress until the returned value is dropped.
    /// `rows_on_terminal`: results go to a terminal too, and leave no place for a bar.
    pub fn watch(&self, progress: &Arc<Progress>, given: &Given, rows_on_terminal: bool) -> Watch {
        if self.quiet || !self.terminal {
            return Watch::none();
        }
        let hint = given.delay.is_none().then(|| format!("windrow: {WAITING_PIPE}"));
        Watch::start(progress.clone(), given.window, given.zone.clone(), hint, !rows_on_terminal)
    }

    fn finish_text(&self, summary: &Summary, given: &Given) -> String {
        if self.quiet {
            return String::new();
        }
        let warnings = summary.warnings(given);
        let mut text: String = warnings.iter().map(|w| notice(&w.message(), w.hint().as_deref())).collect();
        if self.terminal || self.verbose {
            text.push_str(&summary.print(given));
        }
        text
    }
}

/// What a pipe that does not end is told, once.
const WAITING_PIPE: &str = "still reading: without --delay every window waits for the end of the input\n  \
                            hint: --delay 1m writes each window as soon as no event can be in it any more";

fn notice(message: &str, hint: Option<&str>) -> String {
    match hint {
        Some(hint) => format!("windrow: {message}\n  hint: {hint}\n"),
        None => format!("windrow: {message}\n"),
    }
}

/// Text of files and names of files may hold anything; none of it drives the terminal.
fn harmless(text: &str) -> String {
    let each = text.chars().map(|c| match c {
        '\n' => c.to_string(),
        c if c.is_control() => c.escape_default().to_string(),
        c => c.to_string(),
    });
    each.collect()
}

/// Writes to stderr.
pub(super) fn print(text: &str) {
    let text = harmless(text);
    // Not eprint!, which panics when nobody reads stderr any more; a lost message must not stop the run.
    std::io::stderr().write_all(text.as_bytes()).ok();
}

#[cfg(test)]
mod tests {
    use super::super::InputSummary;
    use super::*;
    use crate::account::Ledger;

    fn text(quiet: bool, verbose: bool, terminal: bool, bad: u64) -> String {
        let ledger = Ledger { read: 4, used: 4 - bad, bad, ..Ledger::default() };
        let inputs = vec![InputSummary { name: "a".into(), ledger, ..InputSummary::default() }];
        let summary = Summary { inputs, elapsed: 1.0, ..Summary::default() };
        let plan = ReportPlan { quiet, verbose, summary: None };
        Reporter::new(&plan, terminal).finish_text(&summary, &Given::default())
    }

    #[test]
    fn a_terminal_sees_all_and_cron_only_what_needs_attention() {
        assert!(text(false, false, true, 0).starts_with("4 records, 0 bytes in 1s"));
        assert_eq!(text(false, false, false, 0), "");
        assert_eq!(
            text(false, false, false, 1),
            "windrow: 1 of 4 records was bad, and was skipped\n  hint: --bad FILE keeps them\n"
        );
    }

    #[test]
    fn quiet_is_quiet_and_verbose_is_not() {
        assert_eq!(text(true, false, true, 1), "");
        assert!(text(false, true, false, 0).contains("account"));
    }
}
