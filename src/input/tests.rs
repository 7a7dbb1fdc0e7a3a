//! What must hold of many inputs at once and shows in no result.

use super::*;
use crate::format::TextOptions;
use crate::plan::{InputPath, InputPlan};
use crate::schema::{Column, FieldPath, FieldType, Layout, Role, Wanted};
use crate::time::{TimeFormat, TimeReader, Zone};
use std::path::Path;
use std::sync::Arc;

/// How many files of a folder this process has open.
fn open_files(folder: &Path) -> usize {
    let links = std::fs::read_dir("/proc/self/fd").unwrap();
    let targets = links.filter_map(|link| std::fs::read_link(link.ok()?.path()).ok());
    targets.filter(|target| target.starts_with(folder)).count()
}

fn plan(paths: Vec<InputPath>) -> InputPlan {
    InputPlan {
        paths,
        concat: false,
        format: None,
        text: TextOptions { delimiter: None, header: true, nulls: Vec::new() },
        declared: Vec::new(),
        time: None,
        time_format: TimeFormat::Auto,
        zone: Zone::UTC,
        chunk: None,
    }
}

/// Starts on files of 200 records each, the next record always being another file's.
fn started(folder: &Path, files: i64, chunk: usize) -> Merge {
    let path = |file: i64| {
        let path = folder.join(format!("{file}.jsonl"));
        let lines = (0..200).map(|n| format!("{{\"ts\":{}}}\n", 1_772_355_600 + n * files + file));
        std::fs::write(&path, lines.collect::<String>()).unwrap();
        InputPath::File(path)
    };
    let (traffic, field) = (Traffic::default(), FieldPath::parse("ts").unwrap());
    let wanted = [Wanted { path: field.clone(), role: Role::Time, declared: None }];
    let inputs = prepare(&plan((0..files).map(path).collect()), &wanted, &traffic).unwrap();
    let column = Column { path: field, role: Role::Time, ty: FieldType::Time, declared: false };
    let time_reader = TimeReader::new(TimeFormat::Auto, Zone::UTC);
    let layout =
        Arc::new(Layout { columns: vec![column], time: Some(0), time_reader, keep_raw: false, names_all: false });
    let layouts = vec![layout; inputs.len()];
    let how = layouts.into_iter().map(|layout| Decode { layout, derive: None }).collect();
    start(inputs, how, &Start { threads: 1, outliers: 0, concat: false, chunk: Some(chunk) }, None).unwrap()
}

#[test]
fn files_that_take_turns_are_not_all_open() {
    let folder = tempfile::tempdir().unwrap();
    let mut merge = started(folder.path(), 100, 400);
    let (mut rows, mut most) = (0, open_files(folder.path()));
    assert_eq!(most, 0);
    while let Some(item) = merge.next_item(None).unwrap() {
        most = most.max(open_files(folder.path()));
        rows += if let Item::Rows(merged) = item { merged.times.len() } else { 0 };
    }
    assert_eq!(rows, 20_000);
    assert!((1..=pool::MAX_OPEN).contains(&most), "{most} open");
}

/// What was read ahead for the sample is cut like everything behind it; tests of small chunks rely on that.
#[test]
fn chunks_are_as_small_as_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let mut merge = started(folder.path(), 1, 64);
    let mut sizes = Vec::new();
    while let Some(item) = merge.next_item(None).unwrap() {
        sizes.extend(if let Item::Rows(merged) = item { Some(merged.times.len()) } else { None });
    }
    assert_eq!(sizes.iter().sum::<usize>(), 200);
    assert!(sizes.iter().all(|&rows| (1..=3).contains(&rows)), "{sizes:?}");
}
