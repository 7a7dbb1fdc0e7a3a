//! Signals that ask for a clean stop: whoever may wait for long looks here, and the run drops what it has not
//! committed.
//!
//! A second signal ends the process at once, as people who press ^C twice expect.

use crate::error::{Error, ErrorKind, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// The signal that asked to stop; 0 while none has.
static ASKED: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// How often somebody who waits looks here.
pub const TICK: Duration = Duration::from_millis(100);

/// Registers for the signals that end a process, but for those that its parent had it ignore (`nohup`).
pub fn watch() -> Result<()> {
    let failed = |e: std::io::Error| Error::io("cannot listen for signals", &e);
    let ignored = ignored();
    for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0) {
        let again = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&again)).map_err(failed)?;
        signal_hook::flag::register(signal, again).map_err(failed)?;
        signal_hook::flag::register_usize(signal, Arc::clone(&ASKED), signal as usize).map_err(failed)?;
    }
    // Left alone it would kill the process; ignored, a file beyond the limit is an error like a full disk.
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).map_err(failed)?;
    Ok(())
}

/// The error of a run that was asked to stop, if it was.
pub fn check() -> Result<()> {
    match ASKED.load(Ordering::Relaxed) {
        0 => Ok(()),
        signal => Err(Error::new(ErrorKind::Interrupted(signal as i32), "interrupted")),
    }
}

/// Signals that are ignored, as a mask; where the system does not tell, none.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
