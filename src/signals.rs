//! Signals that ask for a clean stop: the run notices them between two batches and drops what it has not committed.
//!
//! A second signal ends the process at once, as people who press ^C twice expect.

use crate::error::{Error, Result};
use crate::input::Traffic;
use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Registers for SIGINT and SIGTERM.
pub fn watch() -> Result<Traffic> {
    let traffic = Traffic::default();
    let failed = |e: std::io::Error| Error::io("cannot listen for signals", &e);
    for signal in [SIGINT, SIGTERM] {
        let again = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&again)).map_err(failed)?;
        signal_hook::flag::register(signal, again).map_err(failed)?;
        signal_hook::flag::register_usize(signal, Arc::clone(&traffic.stop), signal as usize).map_err(failed)?;
    }
    // Left alone it would kill the process; ignored, a file beyond the limit is an error like a full disk.
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).map_err(failed)?;
    Ok(traffic)
}
