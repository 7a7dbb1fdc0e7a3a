//! The examples of the README and of the help are run, in a folder as they assume it.

use crate::folder::{Folder, gzip, parquet};
use arrow::array::{ArrayRef, Float64Array, TimestampSecondArray};
use std::path::Path;
use std::sync::Arc;

/// A fenced block: what it is (`sh`, `text`) and its lines.
struct Block {
    kind: String,
    text: String,
}

/// The fenced blocks of a Markdown text, each with whether it follows the one before with only blank lines between.
fn blocks(markdown: &str) -> Vec<(Block, bool)> {
    let (mut all, mut open, mut adjacent): (Vec<(Block, bool)>, Option<Block>, bool) = (Vec::new(), None, false);
    for line in markdown.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => {
                all.extend(open.take().map(|block| (block, adjacent)));
                adjacent = true;
            }
            (Some(kind), None) => open = Some(Block { kind: kind.to_owned(), text: String::new() }),
            (None, Some(block)) => block.text += &format!("{line}\n"),
            (None, None) => adjacent &= line.is_empty(),
        }
    }
    all
}

/// A folder with the files of `testdata`.
fn testdata() -> Folder {
    let folder = Folder::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    for entry in std::fs::read_dir(source).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), folder.at(entry.file_name().to_str().unwrap())).unwrap();
        }
    }
    folder
}

/// Every command of the README prints what the block after it shows; a command with no such block only succeeds. They
/// run one after another, as a reader would type them.
#[test]
fn the_readme_tells_the_truth() {
    let folder = testdata();
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let blocks = blocks(&readme);
    let mut shown = 0;
    for (i, (block, _)) in blocks.iter().enumerate() {
        if block.kind != "sh" || block.text.starts_with("cargo ") {
            continue;
        }
        let ran = folder.sh(&block.text);
        let want = blocks.get(i + 1).filter(|(next, adjacent)| *adjacent && next.kind != "sh");
        match want {
            Some((want, _)) => {
                shown += 1;
                assert_eq!(ran.stdout() + &ran.stderr(), want.text, "{}", block.text);
            }
            None => drop(ran.expect(0)),
        }
    }
    assert!(shown >= 5, "only {shown} examples show their output");
}

/// The files that the examples of the help and the man pages name.
fn example_files() -> Folder {
    let folder = testdata();
    folder.put("clicks.jsonl.gz", gzip(&folder.bytes("clicks.jsonl")));
    let csv = "time,user,page,amount\n2026-03-01T09:00:00Z,a,home,1.5\n2026-03-01T09:10:00Z,a,search,2\n";
    ["web1.csv", "web2.csv"].iter().for_each(|name| folder.put(name, csv));
    folder.put("access.csv", "when,path\n10/Oct/2025:13:55:36 -0700,/\n");
    let time: ArrayRef = Arc::new(TimestampSecondArray::from(vec![1_772_355_600, 1_772_355_690]));
    let amount: ArrayRef = Arc::new(Float64Array::from(vec![1.5, 2.0]));
    folder.put("sales.parquet", parquet(&[("time", time), ("amount", amount)], 10));
    folder
}

/// The commands whose examples are run.
const COMMANDS: &[&str] = &["window", "join", "lookup", "dedup"];

/// The commands under "Examples" of a command's help: the indented ones.
fn help_examples(folder: &Folder, command: &str) -> Vec<String> {
    let help = folder.sh(&format!("windrow {command} --help")).ok();
    let examples = help.split_once("Examples:\n").unwrap().1;
    let commands = examples.lines().filter(|line| line.starts_with("    ")).map(|line| line.trim().to_owned());
    commands.collect()
}

#[test]
fn the_examples_of_the_help_run() {
    let folder = example_files();
    for command in COMMANDS {
        let examples = help_examples(&folder, command);
        assert!(examples.len() >= 3, "{examples:?}");
        for example in examples {
            folder.sh(&example).expect(0);
        }
    }
}

/// The man pages show the same commands, so they run too.
#[test]
fn the_man_page_has_the_examples_of_the_help() {
    let folder = Folder::new();
    for command in COMMANDS {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("man/windrow-{command}.1"));
        let man = std::fs::read_to_string(page).unwrap();
        let plain = man.replace("\\-", "-").replace("\\(aq", "'").replace("\\e", "\\").replace("\\&", "");
        for example in help_examples(&folder, command) {
            assert!(plain.contains(&example), "{example}");
        }
    }
}
