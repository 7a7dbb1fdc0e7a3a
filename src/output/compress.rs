//! Compression on the way out, told by the last extension of the target's name.
//!
//! Must not know where the bytes go. The same bytes in give the same bytes out on every machine: no time, no name and
//! no system stand in a gzip header.

use super::{Commit, Sink};
use crate::error::{Error, Result};
use flate2::write::GzEncoder;
use std::io::{self, Write};
use std::path::Path;

/// A way to compress output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    /// `.gz`
    Gzip,
    /// `.zst`
    Zstd,
}

impl Compression {
    /// What the extension of `path` asks for.
    pub(super) fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "gz" => Some(Self::Gzip),
            "zst" => Some(Self::Zstd),
            _ => None,
        }
    }
}

/// The level that `zstd` itself uses when it is not told.
const ZSTD_LEVEL: i32 = 3;

enum Codec {
    Gzip(GzEncoder<Vec<u8>>),
    Zstd(zstd::Encoder<'static, Vec<u8>>),
}

impl Codec {
    fn new(compression: Compression) -> io::Result<Self> {
        Ok(match compression {
            Compression::Gzip => Self::Gzip(GzEncoder::new(Vec::new(), flate2::Compression::default())),
            Compression::Zstd => {
                let mut encoder = zstd::Encoder::new(Vec::new(), ZSTD_LEVEL)?;
                encoder.include_checksum(true)?;
                Self::Zstd(encoder)
            }
        })
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Gzip(encoder) => encoder,
            Self::Zstd(encoder) => encoder,
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        match self {
            Self::Gzip(encoder) => encoder.try_finish(),
            Self::Zstd(encoder) => encoder.do_finish(),
        }
    }

    fn done(&mut self) -> &mut Vec<u8> {
        match self {
            Self::Gzip(encoder) => encoder.get_mut(),
            Self::Zstd(encoder) => encoder.get_mut(),
        }
    }
}

/// A sink in front of another that gets the bytes compressed.
pub(super) struct Compressed<S> {
    codec: Codec,
    to: S,
}

impl<S: Sink> Compressed<S> {
    /// Compresses all that goes to `to`.
    pub(super) fn new(compression: Compression, to: S) -> Result<Self> {
        let codec = Codec::new(compression).map_err(|error| Error::io("compression", &error))?;
        Ok(Self { codec, to })
    }

    fn step(&mut self, step: impl FnOnce(&mut Codec) -> io::Result<()>) -> Result<()> {
        step(&mut self.codec).map_err(|error| Error::io("compression", &error))?;
        let done = self.codec.done();
        if !done.is_empty() {
            self.to.write(done)?;
            done.clear();
        }
        Ok(())
    }
}

impl<S: Sink> Commit for Compressed<S> {
    fn prepare(&mut self) -> Result<()> {
        self.step(Codec::finish)?;
        self.to.prepare()
    }

    fn commit(&mut self) -> Result<()> {
        self.to.commit()
    }
}

impl<S: Sink> Sink for Compressed<S> {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.step(|codec| codec.writer().write_all(bytes))
    }

    fn flush(&mut self) -> Result<()> {
        self.step(|codec| codec.writer().flush())?;
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Memory(Arc<Mutex<Vec<u8>>>);

    impl Commit for Memory {
        fn prepare(&mut self) -> Result<()> {
            Ok(())
        }

        fn commit(&mut self) -> Result<()> {
            Ok(())
        }
    }

    impl Sink for Memory {
        fn write(&mut self, bytes: &[u8]) -> Result<()> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(())
        }

        fn flush(&mut self) -> Result<()> {
            Ok(())
        }
    }

    fn unpacked(compression: Compression, bytes: &[u8]) -> Vec<u8> {
        let mut text = Vec::new();
        match compression {
            Compression::Gzip => flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut text).map(drop).unwrap(),
            Compression::Zstd => text = zstd::decode_all(bytes).unwrap(),
        }
        text
    }

    #[test]
    fn the_last_extension_tells_the_compression() {
        assert_eq!(Compression::of(Path::new("a/out.jsonl.gz")), Some(Compression::Gzip));
        assert_eq!(Compression::of(Path::new("out.csv.ZST")), Some(Compression::Zstd));
        assert_eq!(Compression::of(Path::new("a.gz/out.jsonl")), None);
    }

    #[test]
    fn what_was_written_can_be_unpacked() {
        for compression in [Compression::Gzip, Compression::Zstd] {
            let memory = Memory::default();
            let mut sink = Compressed::new(compression, memory.clone()).unwrap();
            let text = b"{\"a\":1}\n".repeat(50_000);
            text.chunks(77_777).for_each(|chunk| sink.write(chunk).unwrap());
            sink.prepare().unwrap();
            let packed = memory.0.lock().unwrap().clone();
            assert!(packed.len() < text.len() / 50);
            assert_eq!(unpacked(compression, &packed), text, "{compression:?}");
        }
    }

    #[test]
    fn nothing_written_is_still_a_whole_file() {
        for compression in [Compression::Gzip, Compression::Zstd] {
            let memory = Memory::default();
            Compressed::new(compression, memory.clone()).unwrap().prepare().unwrap();
            assert_eq!(unpacked(compression, &memory.0.lock().unwrap()), b"", "{compression:?}");
        }
    }

    #[test]
    fn a_gzip_header_names_neither_time_nor_file_nor_system() {
        let memory = Memory::default();
        Compressed::new(Compression::Gzip, memory.clone()).unwrap().prepare().unwrap();
        assert_eq!(memory.0.lock().unwrap()[..10], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
    }

    #[test]
    fn a_flush_lets_a_reader_see_all_so_far() {
        let memory = Memory::default();
        let mut sink = Compressed::new(Compression::Gzip, memory.clone()).unwrap();
        sink.write(b"first\n").unwrap();
        sink.flush().unwrap();
        let packed = memory.0.lock().unwrap().clone();
        let mut seen = [0; 6];
        flate2::read::GzDecoder::new(&packed[..]).read_exact(&mut seen).unwrap();
        assert_eq!(&seen, b"first\n");
    }
}
