//! From a path to a sink: which outputs are replaced as a whole and which are written as they come.
//!
//! Must not know what the bytes mean. Regular files, and names that do not exist yet, are replaced by rename; whatever
//! cannot be renamed over (devices, FIFOs, sockets, the process's own descriptors) is written directly.

use super::atomic::{AtomicFile, folder_of, follow};
use super::compress::{Compressed, Compression};
use super::direct::Direct;
use super::{Commit, Sink};
use crate::error::{Error, Result, io_reason};
use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// What standard output is called in messages.
const STDOUT: &str = "standard output";

/// An open output.
pub struct Opened {
    /// Takes the bytes. It does not gather small writes.
    pub sink: Box<dyn Sink>,
    /// Whether a reader may see the bytes before they are committed: a pipe, a device, standard output.
    pub seen: bool,
    /// What it is called in messages: the path as given.
    pub name: String,
}

impl Opened {
    /// A file that appears whole.
    fn hidden(path: &Path, sink: Box<dyn Sink>) -> Self {
        Self { sink, seen: false, name: path.display().to_string() }
    }

    /// A place that shows bytes at once.
    fn shown(name: &str, file: File) -> Self {
        Self { sink: Box::new(Direct::new(name, file)), seen: true, name: name.to_owned() }
    }

    fn compressed(self, path: &Path) -> Result<Self> {
        match Compression::of(path) {
            Some(compression) => Ok(Self { sink: Box::new(Compressed::new(compression, self.sink)?), ..self }),
            None => Ok(self),
        }
    }
}

impl Commit for Box<dyn Sink> {
    fn prepare(&mut self) -> Result<()> {
        (**self).prepare()
    }

    fn commit(&mut self) -> Result<()> {
        (**self).commit()
    }
}

impl Sink for Box<dyn Sink> {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        (**self).write(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        (**self).flush()
    }
}

/// Opens an output; none: standard output. A name that ends in `.gz` or `.zst` is compressed.
///
/// A file's target is not touched before it is committed. Opening a FIFO waits for its reader, as in the shell.
pub fn open(path: Option<&Path>) -> Result<Opened> {
    let Some(path) = path else {
        let file = duplicate(io::stdout()).map_err(|error| Error::io(STDOUT, &error))?;
        return Ok(Opened::shown(STDOUT, file));
    };
    match destination(path)? {
        Destination::File(target, old) => {
            Opened::hidden(path, Box::new(AtomicFile::create(path, target, old.as_ref())?)).compressed(path)
        }
        Destination::Descriptor(at) => direct(path, open_descriptor(&at)),
        Destination::Special(at, kind) => direct(path, open_special(&at, kind)),
    }
}

/// As [`open`], for one of many files: an atomic file holds a descriptor only while it writes.
pub(super) fn open_parked(path: &Path) -> Result<Opened> {
    match destination(path)? {
        Destination::File(target, old) => {
            Ok(Opened::hidden(path, Box::new(AtomicFile::create(path, target, old.as_ref())?.parked())))
        }
        _ => open(Some(path)),
    }
}

fn direct(path: &Path, file: io::Result<File>) -> Result<Opened> {
    let file = file.map_err(|error| Error::io(path.display(), &error))?;
    Opened::shown(&path.display().to_string(), file).compressed(path)
}

/// What a path leads to.
enum Destination {
    /// A regular file, or none yet.
    File(PathBuf, Option<Metadata>),
    /// One of the process's own descriptors: `/dev/stdout`, `/dev/fd/63`, `>(...)`.
    Descriptor(PathBuf),
    /// A device, FIFO or socket.
    Special(PathBuf, FileType),
}

fn destination(path: &Path) -> Result<Destination> {
    if path.as_os_str().as_bytes().ends_with(b"/") {
        return Err(is_folder(path));
    }
    let at = follow(path, is_descriptor).map_err(|error| Error::io(path.display(), &error))?;
    if is_descriptor(&at) {
        return Ok(Destination::Descriptor(at));
    }
    match fs::metadata(&at) {
        Ok(data) if data.is_dir() => Err(is_folder(path)),
        Ok(data) if data.is_file() => Ok(Destination::File(at, Some(data))),
        Ok(data) => Ok(Destination::Special(at, data.file_type())),
        // A missing or unusable folder is explained where the file is made.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Destination::File(at, None))
        }
        Err(error) => Err(Error::failed(io_reason(&error)).at(path.display())),
    }
}

fn is_folder(path: &Path) -> Error {
    let inside = path.join("out.jsonl");
    Error::failed("is a folder").at(path.display()).hint(format!("name a file in it: {}", inside.display()))
}

/// Whether this is a name of an open descriptor. Its target must not be renamed over even when it is a regular file:
/// the shell that opened it would keep the old one.
fn is_descriptor(path: &Path) -> bool {
    let folder = folder_of(path);
    let real = fs::canonicalize(folder);
    let folder = real.as_deref().unwrap_or(folder);
    folder == Path::new("/dev/fd") || (folder.starts_with("/proc") && folder.ends_with("fd"))
}

fn open_descriptor(path: &Path) -> io::Result<File> {
    let own = fs::canonicalize(folder_of(path)).ok() == fs::canonicalize("/dev/fd").ok();
    match path.file_name().and_then(|name| name.to_str()) {
        Some("1") if own => duplicate(io::stdout()),
        Some("2") if own => duplicate(io::stderr()),
        // Opening it anew starts at its beginning; appending is right behind `3>file` and behind `3>>file`.
        _ => OpenOptions::new().append(fs::metadata(path)?.is_file()).write(true).open(path),
    }
}

fn open_special(path: &Path, kind: FileType) -> io::Result<File> {
    match kind.is_socket() {
        true => Ok(File::from(OwnedFd::from(UnixStream::connect(path)?))),
        false => OpenOptions::new().write(true).open(path),
    }
}

fn duplicate(of: impl AsFd) -> io::Result<File> {
    of.as_fd().try_clone_to_owned().map(File::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use std::process::Command;

    fn write(path: &Path, text: &str) -> Result<()> {
        let mut sink = open(Some(path))?.sink;
        sink.write(text.as_bytes())?;
        sink.flush()?;
        sink.prepare()?;
        sink.commit()
    }

    fn message(path: &Path) -> String {
        write(path, "x").unwrap_err().message().replace(path.to_str().unwrap(), "PATH")
    }

    fn count(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_file_appears_at_commit_with_the_mode_the_umask_leaves() {
        let dir = tempfile::tempdir().unwrap();
        let (path, plain) = (dir.path().join("out"), dir.path().join("plain"));
        let mut sink = open(Some(&path)).unwrap().sink;
        sink.write(b"new").unwrap();
        sink.prepare().unwrap();
        assert!(!path.exists());
        sink.commit().unwrap();
        fs::write(&plain, "").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::metadata(&path).unwrap().mode(), fs::metadata(&plain).unwrap().mode());
        assert_eq!(count(dir.path()), 2);
    }

    #[test]
    fn the_hidden_file_is_hidden_and_dropping_it_leaves_the_old_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        fs::write(&path, "old").unwrap();
        let mut sink = open(Some(&path)).unwrap().sink;
        sink.write(b"new").unwrap();
        sink.prepare().unwrap();
        let names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(names.iter().any(|name| name.to_str().unwrap().starts_with(".windrow-")), "{names:?}");
        drop(sink);
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), count(dir.path())), ("old", 1));
    }

    #[test]
    fn mode_and_owner_of_an_existing_file_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        // Only the superuser may give it to another; anyone else keeps what they have.
        drop(std::os::unix::fs::chown(&path, Some(4242), Some(4243)));
        let before = fs::metadata(&path).unwrap();
        write(&path, "new").unwrap();
        let after = fs::metadata(&path).unwrap();
        assert_ne!(before.ino(), after.ino());
        assert_eq!((before.mode(), before.uid(), before.gid()), (after.mode(), after.uid(), after.gid()));
    }

    #[test]
    fn a_link_is_kept_and_its_target_replaced_or_made() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("real")).unwrap();
        fs::write(dir.path().join("real/out"), "old").unwrap();
        for (name, to) in [("link", "real/out"), ("chain", "link"), ("dangling", "real/new")] {
            let link = dir.path().join(name);
            symlink(to, &link).unwrap();
            write(&link, name).unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(fs::read_to_string(&link).unwrap(), name);
        }
        assert_eq!(count(&dir.path().join("real")), 2);
        symlink("loop", dir.path().join("loop")).unwrap();
        assert_eq!(message(&dir.path().join("loop")), "PATH: too many levels of symbolic links");
    }

    #[test]
    fn a_name_as_long_as_the_system_allows_works() {
        let dir = tempfile::tempdir().unwrap();
        write(&dir.path().join("n".repeat(255)), "x").unwrap();
    }

    #[test]
    fn folders_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(message(dir.path()), "PATH: is a folder");
        assert_eq!(message(&dir.path().join("results/")), "PATH: is a folder");
    }

    #[test]
    fn a_missing_folder_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let error = write(&dir.path().join("no/out"), "x").unwrap_err();
        let folder = dir.path().join("no");
        assert!(error.message().ends_with(&format!("out: there is no folder {}", folder.display())));
        assert_eq!(error.hint_text(), Some(format!("make it first: mkdir -p {}", folder.display()).as_str()));
        fs::write(&folder, "").unwrap();
        assert_eq!(message(&folder.join("out")), format!("PATH: {} is not a folder", folder.display()));
    }

    #[test]
    fn a_protected_file_or_folder_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        if OpenOptions::new().write(true).open(&path).is_ok() {
            return; // the superuser may write everywhere
        }
        assert_eq!(message(&path), "PATH: permission denied");
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o555)).unwrap();
        let new = message(&dir.path().join("new"));
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(new, format!("PATH: cannot make a file in the folder {}: permission denied", dir.path().display()));
    }

    #[test]
    fn devices_take_bytes_directly() {
        write(Path::new("/dev/null"), "x").unwrap();
        assert!(open(Some(Path::new("/dev/null"))).unwrap().seen);
        assert_eq!(message(Path::new("/dev/full")), "PATH: no space left on device");
    }

    #[test]
    fn a_fifo_takes_bytes_directly_and_stays_one() {
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("fifo");
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let reader = std::thread::spawn({
            let fifo = fifo.clone();
            move || fs::read_to_string(fifo).unwrap()
        });
        write(&fifo, "through").unwrap();
        assert_eq!(reader.join().unwrap(), "through");
        assert!(fs::metadata(&fifo).unwrap().file_type().is_fifo());
    }

    #[test]
    fn a_socket_is_connected_to() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("socket");
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        write(&path, "hello").unwrap();
        let mut text = String::new();
        listener.accept().unwrap().0.read_to_string(&mut text).unwrap();
        assert_eq!(text, "hello");
    }

    #[test]
    fn a_descriptor_of_a_regular_file_is_appended_to_and_not_replaced() {
        use std::os::fd::AsRawFd;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        fs::write(&path, "before,").unwrap();
        let file = File::open(&path).unwrap();
        let inode = file.metadata().unwrap().ino();
        let link = dir.path().join("link");
        symlink(format!("/dev/fd/{}", file.as_raw_fd()), &link).unwrap();
        for path in [PathBuf::from(format!("/dev/fd/{}", file.as_raw_fd())), link] {
            assert!(open(Some(&path)).unwrap().seen);
            write(&path, "more,").unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "before,more,more,");
        assert_eq!(fs::metadata(&path).unwrap().ino(), inode);
    }

    #[test]
    fn an_extension_compresses() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out.csv.gz");
        write(&path, "a,b\n").unwrap();
        let mut text = String::new();
        flate2::read::GzDecoder::new(File::open(&path).unwrap()).read_to_string(&mut text).unwrap();
        assert_eq!(text, "a,b\n");
    }

    #[test]
    fn a_parked_file_is_the_same_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        let mut sink = open_parked(&path).unwrap().sink;
        ["a", "b", "c"].iter().for_each(|text| sink.write(text.as_bytes()).unwrap());
        sink.prepare().unwrap();
        assert!(!path.exists());
        sink.commit().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "abc");
    }
}
