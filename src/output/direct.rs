//! Standard output, pipes, devices and sockets: bytes leave as they are written, and cannot be taken back.
//!
//! Must not know what the bytes mean. Writes go straight to the descriptor: std's stdout would cut them at newlines.

use super::{Commit, Sink};
use crate::error::{Error, Result};
use crate::signals;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::time::Duration;

/// A descriptor that takes bytes as they come.
pub(super) struct Direct {
    name: String,
    file: File,
}

impl Direct {
    /// Writes to `file`, called `name` in messages.
    pub(super) fn new(name: impl Into<String>, file: File) -> Self {
        Self { name: name.into(), file }
    }
}

impl Commit for Direct {
    fn prepare(&mut self) -> Result<()> {
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Sink for Direct {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        write_all(&mut self.file, bytes).map_err(|failure| match failure {
            Failure::Io(error) => Error::io(&self.name, &error),
            Failure::Asked(error) => error,
        })
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

/// What a pipe takes without waiting, once it takes anything at all.
const PIPE_BUF: usize = 4_096;

/// As `Write::write_all`, but patient with a pipe that another process has set to non-blocking (ssh and node do), and
/// never waiting for a reader without looking for a signal that asks to stop.
fn write_all(to: &mut File, mut bytes: &[u8]) -> Result<(), Failure> {
    while !bytes.is_empty() {
        wait_for_reader(to)?;
        match to.write(&bytes[..bytes.len().min(PIPE_BUF)]) {
            Ok(0) => return Err(Failure::Io(ErrorKind::WriteZero.into())),
            Ok(taken) => bytes = &bytes[taken..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(Duration::from_millis(1)),
            Err(error) => return Err(Failure::Io(error)),
        }
    }
    Ok(())
}

/// Why bytes could not be written.
enum Failure {
    Io(io::Error),
    Asked(Error),
}

fn wait_for_reader(to: &File) -> Result<(), Failure> {
    let patience = Timespec::try_from(signals::TICK).ok();
    loop {
        // When it cannot be asked, the write itself will tell.
        let mut fds = [PollFd::new(to, PollFlags::OUT)];
        if poll(&mut fds, patience.as_ref()) != Ok(0) {
            return Ok(());
        }
        signals::check().map_err(Failure::Asked)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind as Kind;
    use std::fs::OpenOptions;
    use std::io::Read;

    #[test]
    fn a_full_device_is_an_error_that_names_it() {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let error = Direct::new("/dev/full", full).write(b"x").unwrap_err();
        assert_eq!(error.message(), "/dev/full: no space left on device");
        assert_eq!(error.kind(), Kind::Failed);
    }

    #[test]
    fn a_reader_that_left_is_a_closed_pipe() {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let file = File::from(std::os::fd::OwnedFd::from(writer));
        let error = Direct::new("standard output", file).write(b"x").unwrap_err();
        assert_eq!((error.kind(), error.exit_code()), (Kind::ClosedPipe, 0));
    }

    #[test]
    fn a_pipe_that_would_block_is_waited_for() {
        let (reader, writer) = std::os::unix::net::UnixStream::pair().unwrap();
        writer.set_nonblocking(true).unwrap();
        let mut sink = Direct::new("socket", File::from(std::os::fd::OwnedFd::from(writer)));
        let reading = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(5));
            let mut all = Vec::new();
            let mut reader = reader;
            reader.read_to_end(&mut all).unwrap();
            all.len()
        });
        sink.write(&vec![b'x'; 2 << 20]).unwrap();
        drop(sink);
        assert_eq!(reading.join().unwrap(), 2 << 20);
    }
}
