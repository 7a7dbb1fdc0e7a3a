//! Where bytes go: files that appear whole or not at all, pipes and devices that take them as they come.
//!
//! Must not know operators or windows. Invariant: a file's name appears only when its content is complete and synced.

use crate::error::Result;

/// A place for bytes. Two steps at the end, so that several outputs of one job appear together: first all are
/// prepared (complete and synced under a temporary name), then all are committed (renamed).
/// Dropped before that, it leaves nothing behind.
pub trait Sink: Send {
    /// Takes bytes in.
    fn write(&mut self, bytes: &[u8]) -> Result<()>;

    /// Hands on to the system what a reader may be waiting for; a file that nobody can see yet does nothing.
    fn flush(&mut self) -> Result<()>;

    /// Makes all that was written durable. Nothing is written after it.
    fn prepare(&mut self) -> Result<()>;

    /// Makes the prepared content appear.
    fn commit(&mut self) -> Result<()>;
}
