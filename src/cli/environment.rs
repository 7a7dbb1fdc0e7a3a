//! What planning has to know about the machine, as plain data.
//!
//! Must not know flags. The clock is read here once: only words such as `yesterday` depend on it.

use crate::time::Ts;
use std::io::IsTerminal;

/// Where the program runs.
#[derive(Clone, Debug)]
pub struct Environment {
    /// Whether a person types on standard input.
    pub stdin_is_terminal: bool,
    /// Whether a person reads standard output.
    pub stdout_is_terminal: bool,
    /// Whether a person reads standard error.
    pub stderr_is_terminal: bool,
    /// Columns of the terminal on standard output.
    pub width: Option<usize>,
    /// Threads that run at once.
    pub cores: usize,
    /// The wall clock.
    pub now: Ts,
}

impl Environment {
    /// Asks the system.
    pub fn detect() -> Self {
        let stdout_is_terminal = std::io::stdout().is_terminal();
        Self {
            stdin_is_terminal: std::io::stdin().is_terminal(),
            stdout_is_terminal,
            stderr_is_terminal: std::io::stderr().is_terminal(),
            width: if stdout_is_terminal { width() } else { None },
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            now: now(),
        }
    }
}

fn width() -> Option<usize> {
    terminal_size::terminal_size().map(|(terminal_size::Width(columns), _)| usize::from(columns))
}

#[expect(clippy::disallowed_methods, reason = "`--since yesterday` is what a person means by the wall clock")]
fn now() -> Ts {
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Ts::from_micros(i64::try_from(since_epoch.as_micros()).unwrap_or(i64::MAX))
}
