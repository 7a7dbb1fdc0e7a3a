//! The one error type: what a person reads and the exit status that goes with it.
//!
//! A message says where, what was expected and what was found, in lower case and without a full stop; the hint says
//! what to do next. Rooms below add what they know (`format` the column, `input` the path) with [`Error::at`].

use std::fmt;

/// What went wrong, as the exit status tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The run failed: exit 1.
    Failed,
    /// The command line cannot mean anything: exit 2.
    Usage,
    /// A bound the user set did not hold (`--max-bad`, `--max-late`): exit 3.
    Bound,
    /// The reader of our output went away, which is no error to a filter: exit 0, silently.
    ClosedPipe,
    /// A signal asked us to stop: exit 128 + its number.
    Interrupted(i32),
}

/// An error with its hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
}

/// The result of anything that can fail with an [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// A failure while running.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Failed, message)
    }

    /// A command line that cannot mean anything.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// An error of a given kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None }
    }

    /// The same error with a next step for the reader.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same error with a place in front: `orders.csv:12: ...`.
    #[must_use]
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        self.message = format!("{place}: {}", self.message);
        self
    }

    /// An input/output failure while doing `what`; a closed pipe keeps its own kind.
    pub fn io(what: impl fmt::Display, error: &std::io::Error) -> Self {
        let kind = match error.kind() {
            std::io::ErrorKind::BrokenPipe => ErrorKind::ClosedPipe,
            _ => ErrorKind::Failed,
        };
        Self::new(kind, format!("{what}: {}", io_reason(error)))
    }

    /// What kind of failure this is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The message without the hint.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The next step, if one is known.
    pub fn hint_text(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The exit status of a process that ends with this error.
    pub fn exit_code(&self) -> u8 {
        match self.kind {
            ErrorKind::ClosedPipe => 0,
            ErrorKind::Failed => 1,
            ErrorKind::Usage => 2,
            ErrorKind::Bound => 3,
            ErrorKind::Interrupted(signal) => u8::try_from(128 + signal).unwrap_or(255),
        }
    }
}

/// The system's words for an error, without Rust's `(os error 2)` and in lower case.
pub fn io_reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut chars = text.chars();
    match chars.next() {
        Some(first) if chars.clone().next().is_some_and(char::is_lowercase) => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_message_and_hint_stand_in_order() {
        let e = Error::failed("expected a time").hint("--bad FILE").at("a.csv:3");
        assert_eq!(e.to_string(), "a.csv:3: expected a time\n  hint: --bad FILE");
        assert_eq!(e.exit_code(), 1);
    }

    #[test]
    fn a_closed_pipe_is_not_a_failure() {
        let e = Error::io("stdout", &std::io::Error::from_raw_os_error(32));
        assert_eq!((e.kind(), e.exit_code()), (ErrorKind::ClosedPipe, 0));
    }
}
