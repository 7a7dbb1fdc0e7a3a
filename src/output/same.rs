//! Refuses outputs that would destroy an input or each other, before anything is opened for writing.
//!
//! Must not know what is in the files. Two names are the same file when they lead, links followed, to the same inode,
//! or to the same name that does not exist yet. Devices and pipes hold nothing that could be lost and may repeat.

use super::atomic::{folder_of, follow};
use crate::error::{Error, Result};
use std::collections::{HashMap, HashSet};
use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Identity {
    /// A file or folder: device and inode.
    Existing(u64, u64),
    /// A file that would be made here.
    Missing(PathBuf),
}

/// Refuses an output (results, late, bad, summary; none: standard output) that is also an input (none: standard
/// input), or that stands twice among the outputs.
pub fn refuse_same_files(outputs: &[Option<&Path>], inputs: &[Option<&Path>]) -> Result<()> {
    let inputs: HashSet<_> =
        inputs.iter().filter_map(|path| path.map_or_else(|| of_stream(io::stdin()), of_path)).collect();
    let mut seen = HashMap::new();
    for path in outputs {
        let shown = path.map_or("standard output".into(), |path| path.display().to_string());
        let Some(identity) = path.map_or_else(|| of_stream(io::stdout()), of_path) else { continue };
        if inputs.contains(&identity) {
            return Err(on_input(shown));
        }
        if let Some(other) = seen.insert(identity, shown.clone()) {
            return Err(twice(shown, &other));
        }
    }
    Ok(())
}

fn on_input(shown: String) -> Error {
    Error::usage("is also an input, and would be overwritten while it is read")
        .at(shown)
        .hint("write to another file, and rename it when the run is done")
}

fn twice(shown: String, other: &str) -> Error {
    let what = if shown == other { "two outputs".to_owned() } else { format!("another output ({other})") };
    Error::usage(format!("is the file of {what}, and one would overwrite the other")).at(shown)
}

fn of_path(path: &Path) -> Option<Identity> {
    match fs::metadata(path) {
        Ok(data) => of_metadata(&data),
        Err(_) => {
            let target = follow(path, |_| false).ok()?;
            let folder = folder_of(&target);
            let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
            Some(Identity::Missing(folder.join(target.file_name()?)))
        }
    }
}

fn of_stream(stream: impl AsFd) -> Option<Identity> {
    let file = File::from(stream.as_fd().try_clone_to_owned().ok()?);
    of_metadata(&file.metadata().ok()?)
}

fn of_metadata(data: &Metadata) -> Option<Identity> {
    (data.is_file() || data.is_dir()).then(|| Identity::Existing(data.dev(), data.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn refusal(outputs: &[&Path], inputs: &[&Path]) -> Option<String> {
        let outputs: Vec<_> = outputs.iter().copied().map(Some).collect();
        let inputs: Vec<_> = inputs.iter().copied().map(Some).collect();
        refuse_same_files(&outputs, &inputs).err().map(|error| error.message().to_owned())
    }

    #[test]
    fn an_output_on_an_input_is_refused_through_links_too() {
        let dir = tempfile::tempdir().unwrap();
        let (input, soft, hard) = (dir.path().join("in"), dir.path().join("soft"), dir.path().join("hard"));
        fs::write(&input, "").unwrap();
        symlink("in", &soft).unwrap();
        fs::hard_link(&input, &hard).unwrap();
        for output in [&input, &soft, &hard] {
            let expected = format!("{}: is also an input, and would be overwritten while it is read", output.display());
            assert_eq!(refusal(&[output], &[&input]), Some(expected));
        }
        assert_eq!(refusal(&[&dir.path().join("out")], &[&input]), None);
    }

    #[test]
    fn an_output_named_twice_is_refused_before_it_exists() {
        let dir = tempfile::tempdir().unwrap();
        let (name, around) = (dir.path().join("out"), dir.path().join("../").join(dir.path().file_name().unwrap()));
        let link = dir.path().join("link");
        symlink("out", &link).unwrap();
        for other in [name.clone(), around.join("out"), link] {
            assert!(refusal(&[&name, &other], &[]).unwrap().ends_with("one would overwrite the other"), "{other:?}");
        }
    }

    #[test]
    fn a_folder_for_two_kinds_of_side_files_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        assert!(refusal(&[dir.path(), dir.path()], &[]).is_some());
        let missing = (dir.path().join("late/"), dir.path().join("late"));
        assert!(refusal(&[&missing.0, &missing.1], &[]).is_some());
    }

    #[test]
    fn devices_may_repeat() {
        let null = Path::new("/dev/null");
        assert_eq!(refusal(&[null, null], &[null]), None);
    }
}
