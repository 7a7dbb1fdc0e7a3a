//! A file that appears whole or not at all: written under a hidden name in the target's own folder, synced, and
//! renamed over the target. Whatever ends the run before that, the target's name still shows what it showed before.
//!
//! Must not know what the bytes mean. An existing file's mode and owner are kept (the owner as far as we may); its
//! access lists, extended attributes and further hard links are not.

use super::{Commit, Sink};
use crate::error::{Error, Result, io_reason};
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// What a leftover of a killed run starts and ends with; globs like `*.jsonl` do not see it.
const PREFIX: &str = ".windrow-";
const SUFFIX: &str = ".tmp";

/// A file in the making.
pub(super) struct AtomicFile {
    /// The path as given, for messages.
    shown: PathBuf,
    /// The path with all links followed: what the rename replaces.
    target: PathBuf,
    /// The hidden file; none once committed. Removes the file when dropped.
    hidden: Option<TempPath>,
    /// None while parked.
    file: Option<File>,
    /// Close the file between writes.
    parks: bool,
}

impl AtomicFile {
    /// Starts a file that will replace `target` (`old`: what stands there now). `shown` is the path as given.
    pub(super) fn create(shown: &Path, target: PathBuf, old: Option<&Metadata>) -> Result<Self> {
        if old.is_some() {
            refuse_read_only(shown, &target)?;
        }
        let (file, hidden) = hidden_file(shown, &target, old)?;
        Ok(Self { shown: shown.to_owned(), target, hidden: Some(hidden), file: Some(file), parks: false })
    }

    /// The same file holding a descriptor only while it writes: thousands of side files must not need thousands.
    pub(super) fn parked(mut self) -> Self {
        self.parks = true;
        self.file = None;
        self
    }

    /// Runs `action` on the file, opening it first if it is parked.
    fn with_file(&mut self, action: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
        let done = self.opened().and_then(action);
        if self.parks {
            self.file = None;
        }
        done.map_err(|error| self.failure(&error))
    }

    fn opened(&mut self) -> io::Result<&mut File> {
        if self.file.is_none() {
            let hidden = self.hidden.as_ref().ok_or(ErrorKind::NotFound)?;
            self.file = Some(OpenOptions::new().append(true).open(hidden)?);
        }
        self.file.as_mut().ok_or_else(|| ErrorKind::NotFound.into())
    }

    fn failure(&self, error: &io::Error) -> Error {
        let failure = Error::io(self.shown.display(), error);
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                failure.hint("nothing was left behind there: make room and run it again")
            }
            // A single file that a container mounts cannot be renamed over.
            ErrorKind::ResourceBusy => {
                failure.hint(format!("it is a mount point: redirect, > {}", self.shown.display()))
            }
            _ => failure,
        }
    }
}

impl Commit for AtomicFile {
    fn prepare(&mut self) -> Result<()> {
        self.with_file(|file| file.sync_all())
    }

    fn commit(&mut self) -> Result<()> {
        let Some(hidden) = self.hidden.take() else { return Ok(()) };
        self.file = None;
        hidden.persist(&self.target).map_err(|failed| self.failure(&failed.error))?;
        sync_folder(folder_of(&self.target)).map_err(|error| self.failure(&error))
    }
}

impl Sink for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.with_file(|file| file.write_all(bytes))
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

/// The folder a file stands in.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A rename would replace a write-protected file without a word; writing to it would have failed, and so do we.
fn refuse_read_only(shown: &Path, target: &Path) -> Result<()> {
    OpenOptions::new().write(true).open(target).map(drop).map_err(|error| Error::io(shown.display(), &error))
}

/// Makes the hidden file beside the target, already with the mode and owner it will have.
fn hidden_file(shown: &Path, target: &Path, old: Option<&Metadata>) -> Result<(File, TempPath)> {
    let folder = folder_of(target);
    // A new file gets what the umask leaves of 0666; one that replaces another stays closed until it has its owner.
    let mode = if old.is_some() { 0o600 } else { 0o666 };
    // The builder wraps the system's error in one that shows the hidden name; the reader wants the one below.
    let mut code = None;
    let made = tempfile::Builder::new().prefix(PREFIX).suffix(SUFFIX).rand_bytes(12).make_in(folder, |path| {
        let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
        file.inspect_err(|error| code = error.raw_os_error())
    });
    let made = made.map_err(|error| code.map_or(error, io::Error::from_raw_os_error));
    let made = made.map_err(|error| cannot_create(shown, folder, old.is_some(), &error))?;
    if let Some(old) = old {
        take_after(made.as_file(), old).map_err(|error| Error::io(shown.display(), &error))?;
    }
    Ok(made.into_parts())
}

fn cannot_create(shown: &Path, folder: &Path, replaces: bool, error: &io::Error) -> Error {
    let place = folder.display();
    match error.kind() {
        ErrorKind::NotFound => Error::failed(format!("there is no folder {place}"))
            .at(shown.display())
            .hint(format!("make it first: mkdir -p {place}")),
        ErrorKind::NotADirectory => Error::failed(format!("{place} is not a folder")).at(shown.display()),
        _ => {
            let what = format!("cannot make a file in the folder {place}: {}", io_reason(error));
            let failure = Error::failed(what).at(shown.display());
            match replaces {
                true => failure.hint(format!(
                    "the file is replaced as a whole, which needs its folder; redirecting (> {}) does not",
                    shown.display()
                )),
                false => failure,
            }
        }
    }
}

/// Gives the file the owner, group and permissions of the one it will replace. Set-user-id and set-group-id bits are
/// not kept: writing to the old file would have cleared them as well.
fn take_after(file: &File, old: &Metadata) -> io::Result<()> {
    // Only the superuser gives files away; others may still set a group they are in, and go on if they are not.
    drop(fchown(file, Some(old.uid()), Some(old.gid())).or_else(|_| fchown(file, None, Some(old.gid()))));
    file.set_permissions(Permissions::from_mode(old.mode() & 0o777))
}

/// Makes a rename in this folder durable. A folder that may not be read, or a file system that does not sync folders,
/// is no failure: the file is complete and in place.
fn sync_folder(folder: &Path) -> io::Result<()> {
    let Ok(folder) = File::open(folder) else { return Ok(()) };
    match folder.sync_all() {
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
        done => done,
    }
}

/// Follows symbolic links at the end of `path`: a link is kept and what it leads to is replaced, or made.
/// Stops early where `stop` says so.
pub(super) fn follow(path: &Path, stop: impl Fn(&Path) -> bool) -> io::Result<PathBuf> {
    /// As many as Linux follows.
    const MOST: usize = 40;
    let mut at = path.to_owned();
    for _ in 0..MOST {
        if stop(&at) || !fs::symlink_metadata(&at).is_ok_and(|data| data.is_symlink()) {
            return Ok(at);
        }
        at = folder_of(&at).join(fs::read_link(&at)?);
    }
    Err(io::Error::other("too many levels of symbolic links"))
}
