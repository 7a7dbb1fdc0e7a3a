//! Where bytes go: files that appear whole or not at all, pipes and devices that take them as they come.
//!
//! Must not know operators or windows. Invariant: a file's name appears only when its content is complete and synced.
//!
//! ```text
//! batches -> ResultWriter -> encoder -\                     /-> atomic  hidden file, renamed over the target
//!                                      buffer -> [compress] +
//! late, bad records -> SideFile ------/                     \-> direct  stdout, FIFO, device, socket
//! ```
//!
//! At the end of a run [`commit_all`] prepares every output before it commits the first, so that they appear together.

mod atomic;
mod buffer;
mod compress;
mod details;
mod direct;
mod open;
mod results;
mod same;
mod side;

pub use details::{DETAIL_NAMES, Details};
pub use open::{Opened, open};
pub use results::ResultWriter;
pub use same::refuse_same_files;
pub use side::{SideFile, SideInput};

use crate::error::Result;

/// The two steps at the end of an output, so that several outputs of one job appear together: first all are prepared
/// (complete and synced under a temporary name), then all are committed (renamed).
/// Dropped before that, an output leaves nothing behind.
pub trait Commit {
    /// Makes all that was written durable. Nothing is written after it.
    fn prepare(&mut self) -> Result<()>;

    /// Makes the prepared content appear.
    fn commit(&mut self) -> Result<()>;
}

/// A place for bytes.
pub trait Sink: Commit + Send {
    /// Takes bytes in.
    fn write(&mut self, bytes: &[u8]) -> Result<()>;

    /// Hands on to the system what a reader may be waiting for; a file that nobody can see yet does nothing.
    fn flush(&mut self) -> Result<()>;
}

/// Makes all outputs of a job appear: a failure of any to become durable (a full disk) leaves every target untouched.
/// Between the renames of two files lies no other work, but they are two steps to the file system.
pub fn commit_all(outputs: &mut [&mut dyn Commit]) -> Result<()> {
    outputs.iter_mut().try_for_each(|output| output.prepare())?;
    outputs.iter_mut().try_for_each(|output| output.commit())
}

/// Writes a text to standard output: help, completions.
pub fn print(text: &str) -> Result<()> {
    let mut out = open(None)?.sink;
    out.write(text.as_bytes())?;
    commit_all(&mut [&mut out])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn when_one_output_cannot_be_prepared_none_appears() {
        let dir = tempfile::tempdir().unwrap();
        let good = dir.path().join("good.jsonl");
        let mut first = open(Some(&good)).unwrap().sink;
        let mut second = Failing;
        first.write(b"{}\n").unwrap();
        assert!(commit_all(&mut [&mut first, &mut second]).is_err());
        drop(first);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn all_outputs_appear() {
        let dir = tempfile::tempdir().unwrap();
        let paths = [dir.path().join("a"), dir.path().join("b")];
        let mut sinks: Vec<_> = paths.iter().map(|path| open(Some(path)).unwrap().sink).collect();
        let [a, b] = &mut sinks[..] else { unreachable!() };
        commit_all(&mut [a, b]).unwrap();
        assert!(paths.iter().all(|path| path.exists()));
    }

    struct Failing;

    impl Commit for Failing {
        fn prepare(&mut self) -> Result<()> {
            Err(crate::error::Error::failed("no space left on device"))
        }

        fn commit(&mut self) -> Result<()> {
            Ok(())
        }
    }
}
