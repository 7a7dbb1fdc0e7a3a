//! What must hold of many inputs at once and shows in no result.

use super::*;
use crate::event::Side;
use crate::format::TextOptions;
use crate::plan::{InputPath, InputPlan};
use crate::schema::{Column, FieldPath, FieldType, Layout, Role, Wanted};
use crate::time::{TimeFormat, TimeReader, Zone};
use proptest::prelude::*;
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

/// What is seen at first of inputs.
fn looked_at(plan: &InputPlan, wanted: &[Wanted]) -> Vec<Prepared> {
    prepare(plan, Streams::open(plan).unwrap(), wanted, &Traffic::default()).unwrap()
}

/// Starts on files of 200 records each, the next record always being another file's.
fn started(folder: &Path, files: i64, chunk: usize) -> Merge {
    let path = |file: i64| {
        let path = folder.join(format!("{file}.jsonl"));
        let lines = (0..200).map(|n| format!("{{\"ts\":{}}}\n", 1_772_355_600 + n * files + file));
        std::fs::write(&path, lines.collect::<String>()).unwrap();
        InputPath::File(path)
    };
    let paths = (0..files).map(path).collect();
    merged(paths, Start { threads: 1, outliers: 0, concat: false, chunk: Some(chunk) })
}

/// Starts on files that have nothing but times.
fn merged(paths: Vec<InputPath>, how: Start) -> Merge {
    let field = FieldPath::parse("ts").unwrap();
    let wanted = [Wanted { path: field.clone(), role: Role::Time, declared: None }];
    let inputs = looked_at(&plan(paths), &wanted);
    let column = Column { path: field, role: Role::Time, ty: FieldType::Time, declared: false };
    let time_reader = TimeReader::new(TimeFormat::Auto, Zone::UTC);
    let layout =
        Arc::new(Layout { columns: vec![column], time: Some(0), time_reader, keep_raw: false, names_all: false });
    let layouts = vec![layout; inputs.len()];
    let decode = layouts.into_iter().map(|layout| Decode { layout, derive: None }).collect();
    start(inputs, decode, &how, None).unwrap()
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

/// What two merged sides tell: `(file, record)` of each row, files of the right side numbered on; a file's end is its
/// record 999.
fn told(paths: &[InputPath], left: usize, how: Start) -> Vec<(usize, u64)> {
    let (l, r) = paths.split_at(left);
    let merges = [merged(l.to_vec(), how), merged(r.to_vec(), how)];
    let concat = [how.concat; 2];
    let mut sides = Sides::new(merges, [l.len(), r.len()], [how.outliers; 2], concat);
    let number = |side: Side, file: usize| if side == Side::Left { file } else { left + file };
    let mut all = Vec::new();
    while let Some(item) = sides.next_item().unwrap() {
        match item {
            SidedItem::Rows(SidedRows { parts, runs }) => {
                let mut at = [0, 0];
                for (side, rows) in runs {
                    let part = parts[side.index()].as_ref().unwrap();
                    for _ in 0..rows {
                        let position = part.positions.get(at[side.index()]);
                        let origin = part.origin(at[side.index()]).unwrap();
                        assert_eq!(origin.input, position.input());
                        all.push((number(side, position.input()), position.record()));
                        at[side.index()] += 1;
                    }
                }
                for (part, at) in parts.iter().zip(at) {
                    assert_eq!(part.as_ref().map_or(0, |part| part.times.len()), at);
                }
            }
            SidedItem::Other(side, Item::Finished(file)) => all.push((number(side, file), 999)),
            SidedItem::Other(..) => panic!("neither rows nor an end"),
        }
    }
    all
}

/// What one merge of all files tells.
fn told_flat(paths: &[InputPath], how: Start) -> Vec<(usize, u64)> {
    let mut merge = merged(paths.to_vec(), how);
    let mut all = Vec::new();
    while let Some(item) = merge.next_item(None).unwrap() {
        match item {
            Item::Rows(rows) => {
                let each = (0..rows.times.len()).map(|row| rows.positions.get(row));
                all.extend(each.map(|position| (position.input(), position.record())));
            }
            Item::Finished(file) => all.push((file, 999)),
            _ => panic!("neither rows nor an end"),
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    /// Files come in one order, whichever sides they are on and however they are cut.
    #[test]
    fn two_sides_come_in_the_order_of_all_their_files(
        files in proptest::collection::vec(proptest::collection::vec(0..20i64, 0..25), 2..5),
        left in 1..4usize,
        outliers in 0..3usize,
        chunk in 16..300usize,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<InputPath> = files.iter().enumerate().map(|(i, times)| {
            let path = folder.path().join(format!("{i}.jsonl"));
            let lines = times.iter().map(|ts| format!("{{\"ts\":{}}}\n", 1_772_355_600 + ts));
            std::fs::write(&path, lines.collect::<String>()).unwrap();
            InputPath::File(path)
        }).collect();
        let how = |chunk| Start { threads: 2, outliers, concat: false, chunk: Some(chunk) };
        let left = left.min(files.len() - 1);
        let flat = told_flat(&paths, how(1 << 16));
        prop_assert_eq!(&told(&paths, left, how(1 << 16)), &flat);
        prop_assert_eq!(&told(&paths, left, how(chunk)), &flat);
    }
}

fn wanted(name: &str) -> Wanted {
    Wanted { path: FieldPath::new(vec![name.into()]), role: Role::Whole, declared: None }
}

/// The fields of the first input in a folder with others, and their types by a second look.
fn names_and_types(paths: Vec<InputPath>) -> Vec<(String, Option<FieldType>)> {
    let mut inputs = looked_at(&plan(paths), &[]);
    let names: Vec<String> = inputs[0].field_names().iter().map(FieldPath::name).collect();
    let all: Vec<Wanted> = names.iter().map(|name| wanted(name)).collect();
    inputs[0].sample_again(&all).unwrap();
    names.into_iter().zip(inputs[0].sample.types.clone()).collect()
}

#[test]
fn fields_that_were_not_known_before_are_sampled_from_what_was_read() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        InputPath::File(path)
    };
    let jsonl = write("a.jsonl", b"{\"a.b\":1,\"o\":{\"x\":1}}\n{\"late\":\"s\",\"a.b\":2}\n");
    let expected = [("a.b", FieldType::Int), ("o", FieldType::Json), ("late", FieldType::Text)]
        .map(|(n, ty)| (n.to_owned(), Some(ty)));
    assert_eq!(names_and_types(vec![jsonl.clone()]), expected);
    // Of more files than are kept open each is opened again.
    assert_eq!(names_and_types(vec![jsonl; pool::MAX_OPEN + 1]), expected);
    let csv = write("a.csv", b"a.b,\"o\",o\n1,x,\n");
    let expected = [("a.b", Some(FieldType::Int)), ("o", Some(FieldType::Text)), ("o_1", None)];
    assert_eq!(names_and_types(vec![csv]), expected.map(|(name, ty)| (name.to_owned(), ty)));
    let parquet = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/parquet/int96.parquet")).unwrap();
    let found = names_and_types(vec![write("a.parquet", &parquet)]);
    assert!(found.iter().any(|(name, ty)| name == "t" && *ty == Some(FieldType::Time)), "{found:?}");
}

#[test]
fn a_field_that_comes_later_is_told_with_its_input_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, more: &str| {
        let path = folder.path().join(name);
        let lines = (0..50).map(|n| format!("{{\"ts\":{}}}\n", 1_772_355_600 + n)).collect::<String>();
        std::fs::write(&path, lines + more).unwrap();
        InputPath::File(path)
    };
    let paths =
        vec![path("a.jsonl", ""), path("b.jsonl", "\n{\"ts\":1772355700,\"new\":1}\n{\"ts\":1772355701,\"new\":1}\n")];
    let field = FieldPath::parse("ts").unwrap();
    let wanted = [Wanted { path: field.clone(), role: Role::Time, declared: None }];
    let inputs = looked_at(&plan(paths), &wanted);
    let column = Column { path: field, role: Role::Time, ty: FieldType::Time, declared: false };
    let time_reader = TimeReader::new(TimeFormat::Auto, Zone::UTC);
    let layout = Layout { columns: vec![column], time: Some(0), time_reader, keep_raw: false, names_all: true };
    let how = (0..2).map(|_| Decode { layout: Arc::new(layout.clone()), derive: None }).collect();
    let mut merge =
        start(inputs, how, &Start { threads: 1, outliers: 0, concat: false, chunk: Some(64) }, None).unwrap();
    while merge.next_item(None).unwrap().is_some() {}
    assert_eq!(merge.unlisted(), [("new", 1, 52)]);
}
