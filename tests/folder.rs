//! A folder of files to run commands in, as a person with a shell would. Knows nothing about what is tested.

use crate::helpers::Ran;
use arrow::array::{ArrayRef, RecordBatch};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A folder that goes away with the test.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder with files, each with its text.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self::new();
        files.iter().for_each(|(name, text)| folder.put(name, text));
        folder
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Writes a file, and the folders it stands in.
    pub fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.at(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    #[track_caller]
    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.at(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    #[track_caller]
    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    #[track_caller]
    pub fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_slice(&self.bytes(name)).unwrap()
    }

    /// The names in the folder, sorted: to see that nothing was left behind.
    pub fn names(&self) -> Vec<String> {
        self.names_in("")
    }

    /// The names in a folder of it, sorted.
    pub fn names_in(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.at(folder)).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs a shell command in the folder; `windrow` is the binary. Standard input is empty unless redirected.
    pub fn sh(&self, command: &str) -> Ran {
        let output = shell(self.path(), command).output().expect("the shell starts");
        Ran::of(command.to_owned(), self.path(), output)
    }
}

/// `sh -c COMMAND` in a folder, with the binary on the path and the machine's locale out of the way.
pub fn shell(folder: &Path, command: &str) -> Command {
    let binaries = Path::new(env!("CARGO_BIN_EXE_windrow")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).current_dir(folder).stdin(Stdio::null());
    shell.env("PATH", format!("{}:{path}", binaries.display())).env("LC_ALL", "C");
    shell
}

/// Gzip as one member.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Zstandard as one frame.
pub fn zst(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

/// A Parquet file of columns, in row groups of at most `group` rows.
pub fn parquet(columns: &[(&str, ArrayRef)], group: usize) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter(columns.iter().cloned()).unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(group)).build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}
