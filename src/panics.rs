//! Panics as errors: nobody is shown a backtrace, and a bug says where it is.
//!
//! Some are expected (a library that panics on damaged files is caught where it is called), so a panic is only
//! remembered; whoever ends the run because of it tells.

use crate::error::Error;
use std::sync::{Mutex, PoisonError};

static LAST: Mutex<Option<String>> = Mutex::new(None);

/// From now on panics are remembered instead of printed.
pub fn remember() {
    std::panic::set_hook(Box::new(|info| {
        let text = info.payload().downcast_ref::<&str>().copied();
        let message = text.or_else(|| info.payload().downcast_ref::<String>().map(String::as_str));
        let message = message.unwrap_or("no message");
        let place = info.location().map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(format!("{message}{place}"));
    }));
}

/// The last panic as an error.
pub fn last() -> Error {
    let last = LAST.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Error::failed(format!("internal error: {}", last.unwrap_or_else(|| "unknown".to_owned())))
        .hint("this is a fault of windrow, not of your data: please report it with the flags you gave")
}
