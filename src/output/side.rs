//! Files for records that are set aside (late, bad), verbatim and in the format they came in, so that they can be fed
//! again. Inputs of one format and header share a file; others need a folder with a file for each.
//!
//! Must not know why a record is set aside. Records come without their line end and get a line feed, also where they
//! had carriage return and line feed. A file is made even when no record is set aside, with its header: whoever reads
//! it next need not ask whether it is there.

use super::buffer::{Buffer, LARGE, SMALL};
use super::details::{Details, Separated, columns_with_details, schema_with_details, write_json};
use super::open::{open, open_parked};
use super::{Commit, Opened, refuse_same_files};
use crate::error::{Error, Result};
use crate::format::{EncodeOptions, Encoder, FormatKind, by_extension};
use crate::time::Zone;
use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema, SchemaRef};
use std::collections::HashSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a side file must know of an input.
#[derive(Clone)]
pub struct SideInput {
    /// Its path as given, or `-`.
    pub name: String,
    /// Its format.
    pub format: &'static FormatKind,
    /// The byte between fields where the flags gave one; only of interest to separated formats.
    pub delimiter: Option<u8>,
    /// What stands before its first record (a CSV header), with or without its line end.
    pub header: Vec<u8>,
    /// All its columns, if the format is columnar.
    pub schema: Option<SchemaRef>,
}

/// Keeps records that are set aside. Dropped before it is committed, it leaves nothing behind.
pub struct SideFile {
    files: Vec<Shared>,
    /// For each input its file and how its records get their details.
    inputs: Vec<(usize, Style)>,
    written: u64,
    /// Last, so that it is dropped when the files in it are gone.
    _folder: Option<NewFolder>,
}

impl SideFile {
    /// Opens the file, or with a folder for `path` (it exists, or ends in `/` and is made) one file for each input.
    /// Refuses a file that is one of the inputs. `details`: records will come with [`Details`].
    pub fn create(path: &Path, inputs: &[SideInput], details: bool) -> Result<Self> {
        let shapes = inputs.iter().map(|input| Shape::of(input, details)).collect::<Result<Vec<_>>>()?;
        if !is_folder(path) {
            refuse_other_format(path, inputs)?;
            return Self::one(Some(path), shapes);
        }
        let folder = NewFolder::ensure(path)?;
        Self::many(path, inputs, shapes, folder)
    }

    /// Opens the file (none: standard output) for records of all inputs; they must be of one format and header.
    pub fn for_all(path: Option<&Path>, inputs: &[SideInput]) -> Result<Self> {
        let shapes = inputs.iter().map(|input| Shape::of(input, false)).collect::<Result<Vec<_>>>()?;
        Self::one(path, shapes)
    }

    /// Whether records of all inputs may stand in one file.
    pub fn can_share(inputs: &[SideInput]) -> bool {
        let mut kinds = inputs.iter().map(|input| Shape::of(input, false).map(|shape| shape.kind));
        let Some(Ok(first)) = kinds.next() else { return false };
        kinds.try_fold(first, |all, kind| all.join(kind.ok()?)).is_some()
    }

    fn one(path: Option<&Path>, shapes: Vec<Shape>) -> Result<Self> {
        let (kinds, styles): (Vec<_>, Vec<_>) = shapes.into_iter().map(|shape| (shape.kind, shape.style)).unzip();
        let mut kinds = kinds.into_iter();
        let first = kinds.next().ok_or_else(|| Error::failed("there is no input"))?;
        let path_shown = path.unwrap_or(Path::new("-"));
        let kind = kinds.try_fold(first, Kind::join).ok_or_else(|| cannot_share(path_shown))?;
        let inputs = styles.into_iter().map(|style| (0, style)).collect();
        let file = Shared::new(open(path)?, LARGE, kind)?;
        Ok(Self { files: vec![file], inputs, written: 0, _folder: None })
    }

    fn many(path: &Path, inputs: &[SideInput], shapes: Vec<Shape>, folder: Option<NewFolder>) -> Result<Self> {
        let paths: Vec<_> = file_names(inputs).into_iter().map(|name| path.join(name)).collect();
        refuse_inputs(&paths, inputs)?;
        let mut side = Self { files: Vec::new(), inputs: Vec::new(), written: 0, _folder: folder };
        for (file, (path, shape)) in paths.iter().zip(shapes).enumerate() {
            side.files.push(Shared::new(open_parked(path)?, SMALL, shape.kind)?);
            side.inputs.push((file, shape.style));
        }
        Ok(side)
    }

    /// Keeps a record of a text input, given without its line end.
    pub fn text(&mut self, input: usize, record: &[u8], details: Option<&Details>) -> Result<()> {
        let (file, style) = &self.inputs[input];
        self.written += 1;
        self.files[*file].text(record, details.map(|details| (style, details)))
    }

    /// Keeps rows of a columnar input; `details` has one for each row, or none at all.
    pub fn rows(&mut self, input: usize, rows: &RecordBatch, details: &[Details]) -> Result<()> {
        self.written += rows.num_rows() as u64;
        self.files[self.inputs[input].0].rows(rows, details)
    }

    /// Lets a reader see all records so far, where the file is a pipe or a device.
    pub fn flush(&mut self) -> Result<()> {
        self.files.iter_mut().try_for_each(|file| file.buffer.flush())
    }

    /// How many records were kept.
    pub fn written(&self) -> u64 {
        self.written
    }
}

impl Commit for SideFile {
    fn prepare(&mut self) -> Result<()> {
        self.files.iter_mut().try_for_each(Shared::prepare)
    }

    fn commit(&mut self) -> Result<()> {
        self.files.iter_mut().try_for_each(|file| file.buffer.commit())
    }
}

fn is_folder(path: &Path) -> bool {
    path.as_os_str().as_bytes().ends_with(b"/") || path.is_dir()
}

fn cannot_share(path: &Path) -> Error {
    let folder = path.with_extension("");
    Error::failed("the inputs differ in format or header, so their records cannot share one file")
        .at(path.display())
        .hint(format!("name a folder, and each input gets a file of its own in it: {}/", folder.display()))
}

fn refuse_inputs(paths: &[PathBuf], inputs: &[SideInput]) -> Result<()> {
    let outputs: Vec<_> = paths.iter().map(|path| Some(path.as_path())).collect();
    let inputs: Vec<_> = inputs.iter().map(|input| (input.name != "-").then(|| Path::new(&input.name))).collect();
    refuse_same_files(&outputs, &inputs)
}

/// A folder that did not exist before; gone again unless something was committed into it.
struct NewFolder(PathBuf);

impl NewFolder {
    /// Makes the folder if there is none.
    fn ensure(path: &Path) -> Result<Option<Self>> {
        if path.is_dir() {
            return Ok(None);
        }
        fs::create_dir(path).map_err(|error| Error::io(path.display(), &error))?;
        Ok(Some(Self(path.to_owned())))
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        // It fails when the folder has files in it, and then it is to stay.
        drop(fs::remove_dir(&self.0));
    }
}

/// For each input the name of its file in the folder: its own, without a compression's extension, made different
/// where inputs from several folders have one name.
fn file_names(inputs: &[SideInput]) -> Vec<String> {
    let mut taken = HashSet::new();
    inputs.iter().map(|input| unique(&file_name(input), &mut taken)).collect()
}

fn file_name(input: &SideInput) -> String {
    let name = match input.name.as_str() {
        "-" => "stdin",
        path => Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or("input"),
    };
    let plain = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(name);
    match (Path::new(plain).extension(), input.format.extensions.first()) {
        (None, Some(extension)) => format!("{plain}.{extension}"),
        _ => plain.to_owned(),
    }
}

fn unique(name: &str, taken: &mut HashSet<String>) -> String {
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let numbered = (2..).map(|n| format!("{stem}-{n}.{extension}"));
    let free = std::iter::once(name.to_owned()).chain(numbered).find(|name| taken.insert(name.clone()));
    free.unwrap_or_default()
}

/// How one input's records look in its file.
struct Shape {
    kind: Kind,
    style: Style,
}

/// What the content of a side file is; inputs share one when theirs can be joined.
#[derive(Clone)]
enum Kind {
    /// Records of a text format, by its name, behind a header that may be empty.
    Text { format: &'static str, header: Vec<u8> },
    /// Rows of a columnar format with these columns.
    Rows { format: &'static FormatKind, schema: SchemaRef },
}

/// How details are added to a record of text.
enum Style {
    Members,
    Columns(Separated),
}

impl Shape {
    fn of(input: &SideInput, details: bool) -> Result<Self> {
        if let Some(schema) = &input.schema {
            let schema = if details { schema_with_details(schema) } else { Ok(schema.clone()) };
            let schema = schema.map_err(|error| error.at(&input.name))?;
            return Ok(Self { kind: Kind::Rows { format: input.format, schema }, style: Style::Members });
        }
        let header = without_line_end(&input.header);
        let style = match separator(input) {
            Some(separator) => Style::Columns(Separated::new(separator, header)),
            None => Style::Members,
        };
        let header = match &style {
            Style::Columns(separated) if details => separated.header(header),
            _ => header.to_vec(),
        };
        Ok(Self { kind: Kind::Text { format: input.format.name, header }, style })
    }
}

/// Records stay in the format they came in; under another format's extension nobody could read them again.
fn refuse_other_format(path: &Path, inputs: &[SideInput]) -> Result<()> {
    let said = by_extension(path);
    match (said, inputs.first()) {
        (Some(said), Some(input)) if said.name != input.format.name => {
            let message = format!("{}: these records stay {}, as they came", path.display(), input.format.name);
            Err(Error::usage(message).hint(format!("give the file the extension .{}", input.format.extensions[0])))
        }
        _ => Ok(()),
    }
}

/// The byte between the fields of an input's records; none when they are JSON.
fn separator(input: &SideInput) -> Option<u8> {
    match input.format.name {
        "csv" => Some(input.delimiter.unwrap_or(b',')),
        "tsv" => Some(input.delimiter.unwrap_or(b'\t')),
        _ => None,
    }
}

/// A header without its line end, be it `\n` or `\r\n`.
fn without_line_end(header: &[u8]) -> &[u8] {
    let line = header.strip_suffix(b"\n").unwrap_or(header);
    line.strip_suffix(b"\r").unwrap_or(line)
}

impl Kind {
    /// The content that holds both, if one can.
    fn join(self, other: Kind) -> Option<Kind> {
        match (self, other) {
            (Kind::Text { format, header }, Kind::Text { format: f, header: h }) => {
                (format == f && header == h).then_some(Kind::Text { format, header })
            }
            (Kind::Rows { format, schema }, Kind::Rows { format: f, schema: s }) if format.name == f.name => {
                Some(Kind::Rows { format, schema: join_schemas(&schema, &s)? })
            }
            _ => None,
        }
    }
}

/// The schema that holds rows of both: same names and types in the same order. What a file says about its columns
/// beside that is no reason to refuse.
fn join_schemas(a: &Schema, b: &Schema) -> Option<SchemaRef> {
    let fields = a.fields().iter().zip(b.fields()).map(|(a, b)| join_fields(a, b)).collect::<Option<Vec<_>>>()?;
    let joined = Schema::new_with_metadata(fields, a.metadata().clone());
    (a.fields().len() == b.fields().len()).then(|| Arc::new(joined))
}

fn join_fields(a: &Field, b: &Field) -> Option<Field> {
    let same = a.name() == b.name() && a.data_type() == b.data_type();
    same.then(|| a.clone().with_nullable(a.is_nullable() || b.is_nullable()))
}

/// One file with what is needed to write to it.
struct Shared {
    name: String,
    buffer: Buffer,
    rows: Option<(Box<dyn Encoder>, SchemaRef)>,
}

impl Shared {
    fn new(opened: Opened, gathered: usize, kind: Kind) -> Result<Self> {
        let name = opened.name.clone();
        let mut shared = Self { name, buffer: Buffer::new(opened, gathered), rows: None };
        match kind {
            Kind::Text { header, .. } if header.is_empty() => {}
            Kind::Text { header, .. } => shared.buffer.bytes().extend(header.into_iter().chain([b'\n'])),
            Kind::Rows { format, schema } => {
                let encoder = encoder(format, &schema).map_err(|error| error.at(&shared.name))?;
                shared.rows = Some((encoder, schema));
            }
        }
        Ok(shared)
    }

    fn text(&mut self, record: &[u8], details: Option<(&Style, &Details)>) -> Result<()> {
        if self.rows.is_some() {
            return Err(Error::failed("text cannot be written to a file of rows").at(&self.name));
        }
        let out = self.buffer.bytes();
        match details {
            None => out.extend_from_slice(record),
            Some((Style::Members, details)) => write_json(record, details, out)?,
            Some((Style::Columns(separated), details)) => separated.write(record, details, out),
        }
        out.push(b'\n');
        self.buffer.settle()
    }

    fn rows(&mut self, rows: &RecordBatch, details: &[Details]) -> Result<()> {
        let Some((encoder, schema)) = &mut self.rows else {
            return Err(Error::failed("rows cannot be written to a file of text").at(&self.name));
        };
        let columns = if details.is_empty() { rows.columns().to_vec() } else { columns_with_details(rows, details) };
        let rows = RecordBatch::try_new(schema.clone(), columns)
            .map_err(|error| Error::failed(format!("rows do not fit the file's columns: {error}")));
        let written = rows.and_then(|rows| encoder.write(&rows, self.buffer.bytes()));
        written.map_err(|error| error.at(&self.name))?;
        self.buffer.settle()
    }

    fn prepare(&mut self) -> Result<()> {
        if let Some((encoder, _)) = &mut self.rows {
            encoder.finish(self.buffer.bytes()).map_err(|error| error.at(&self.name))?;
        }
        self.buffer.prepare()
    }
}

/// An encoder of the input's own format: instants stay in UTC, as they are stored.
fn encoder(format: &'static FormatKind, schema: &SchemaRef) -> Result<Box<dyn Encoder>> {
    let write = format.write.ok_or_else(|| Error::failed(format!("the format {} cannot be written", format.name)))?;
    write(schema, &EncodeOptions { zone: Zone::UTC, width: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Read;
    use crate::time::{Span, Ts};
    use arrow::array::{ArrayRef, Int64Array};

    const fn kind(name: &'static str, extensions: &'static [&'static str]) -> FormatKind {
        FormatKind { name, extensions, doc: "", sniff: |_| false, read: Read::No, write: None }
    }

    static JSONL: FormatKind = kind("jsonl", &["jsonl"]);
    static CSV: FormatKind = kind("csv", &["csv"]);
    static TSV: FormatKind = kind("tsv", &["tsv"]);
    static ROWS: FormatKind =
        FormatKind { write: Some(|schema, _| Ok(Box::new(Shown(schema.clone())))), ..kind("rows", &["rows"]) };

    /// Writes names, then how many rows there are in each batch.
    struct Shown(SchemaRef);

    impl Encoder for Shown {
        fn write(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
            assert_eq!(batch.schema(), self.0);
            out.extend_from_slice(format!("{} rows\n", batch.num_rows()).as_bytes());
            Ok(())
        }

        fn schema_changed(&mut self, _: &SchemaRef) -> Result<()> {
            Ok(())
        }

        fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
            let names: Vec<_> = self.0.fields().iter().map(|field| field.name().as_str()).collect();
            out.extend_from_slice(names.join(" ").as_bytes());
            Ok(())
        }
    }

    fn input(name: &str, format: &'static FormatKind, header: &str) -> SideInput {
        SideInput { name: name.into(), format, delimiter: None, header: header.into(), schema: None }
    }

    fn rows_input(rows: &RecordBatch) -> SideInput {
        SideInput { schema: Some(rows.schema()), ..input("x.rows", &ROWS, "") }
    }

    fn details() -> Details {
        Details {
            file: "a.csv".into(),
            line: 3,
            lateness: Span::from_micros(1_500_000),
            watermark: Ts::from_micros(0),
            window_end: Some(Ts::from_micros(60_000_000)),
        }
    }

    fn finish(mut side: SideFile) {
        side.prepare().unwrap();
        side.commit().unwrap();
    }

    fn names_in(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn inputs_of_one_format_and_header_share_a_file_word_for_word() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("late.csv");
        let inputs = [input("a.csv", &CSV, "t,\"x\"\n"), input("b.csv", &CSV, "t,\"x\"\r\n")];
        let mut side = SideFile::create(&path, &inputs, false).unwrap();
        side.text(0, b"1,\"a\nb\"", None).unwrap();
        side.text(1, b"2, x ", None).unwrap();
        assert_eq!(side.written(), 2);
        finish(side);
        assert_eq!(fs::read_to_string(&path).unwrap(), "t,\"x\"\n1,\"a\nb\"\n2, x \n");
    }

    #[test]
    fn a_file_without_records_has_its_header() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("late.csv");
        finish(SideFile::create(&path, &[input("a.csv", &CSV, "t,x\n")], false).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "t,x\n");
    }

    #[test]
    fn inputs_that_differ_need_a_folder() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("late.csv");
        for other in [input("b.csv", &CSV, "t,y\n"), input("b.jsonl", &JSONL, ""), input("b.tsv", &TSV, "t,x\n")] {
            let inputs = [input("a.csv", &CSV, "t,x\n"), other];
            let error = SideFile::create(&path, &inputs, false).err().unwrap();
            let expected = "the inputs differ in format or header, so their records cannot share one file";
            assert_eq!(error.message(), format!("{}: {expected}", path.display()));
            assert!(error.hint_text().unwrap().ends_with("/late/"));
        }
        assert_eq!(names_in(dir.path()), [""; 0]);
    }

    #[test]
    fn a_folder_has_a_file_for_each_input() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("late/");
        let names = ["in/x.jsonl.gz", "other/x.jsonl", "-", "/dev/fd/63", "x-2.jsonl"];
        let mut inputs: Vec<_> = names.iter().map(|name| input(name, &JSONL, "")).collect();
        inputs.push(input("y.csv.zst", &CSV, "a\n"));
        let mut side = SideFile::create(&folder, &inputs, false).unwrap();
        (0..6).for_each(|i| side.text(i, i.to_string().as_bytes(), None).unwrap());
        finish(side);
        let expected = ["63.jsonl", "stdin.jsonl", "x-2-2.jsonl", "x-2.jsonl", "x.jsonl", "y.csv"];
        assert_eq!(names_in(&folder), expected);
        assert_eq!(fs::read_to_string(folder.join("x-2.jsonl")).unwrap(), "1\n");
        assert_eq!(fs::read_to_string(folder.join("y.csv")).unwrap(), "a\n5\n");
    }

    #[test]
    fn a_file_in_a_folder_takes_many_records_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let mut side = SideFile::create(dir.path(), &[input("a.jsonl", &JSONL, "")], false).unwrap();
        let expected: String = (0..20_000).map(|i| format!("{i}\n")).collect();
        expected.lines().for_each(|line| side.text(0, line.as_bytes(), None).unwrap());
        finish(side);
        assert_eq!(fs::read_to_string(dir.path().join("a.jsonl")).unwrap(), expected);
    }

    #[test]
    fn what_is_dropped_leaves_neither_files_nor_folder() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["late/", "late.jsonl"] {
            let mut side = SideFile::create(&dir.path().join(name), &[input("a", &JSONL, "")], false).unwrap();
            side.text(0, &[b'x'; 300_000], None).unwrap();
            drop(side);
            assert_eq!(names_in(dir.path()), [""; 0]);
        }
    }

    #[test]
    fn a_folder_that_holds_an_input_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        fs::write(&path, "{}\n").unwrap();
        let inputs = [input(path.to_str().unwrap(), &JSONL, "")];
        let error = SideFile::create(dir.path(), &inputs, false).err().unwrap();
        assert!(error.message().contains("is also an input"), "{error}");
    }

    #[test]
    fn details_stand_behind_the_record() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("late");
        let names = "_file,_line,_lateness,_watermark,_window_end";
        // The second input was set aside by an earlier pass; both share the file again.
        let inputs = [input("a.csv", &CSV, "t,x\n"), input("b.csv", &CSV, &format!("t,x,{names}\n"))];
        let mut side = SideFile::create(&path, &inputs, true).unwrap();
        side.text(0, b"1,2", Some(&details())).unwrap();
        side.text(1, b"3,4,old,1,1,,", Some(&details())).unwrap();
        finish(side);
        let values = "a.csv,3,1.5,1970-01-01T00:00:00Z,1970-01-01T00:01:00Z";
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("t,x,{names}\n1,2,{values}\n3,4,{values}\n"));

        let mut side = SideFile::create(&path, &[input("a", &JSONL, "")], true).unwrap();
        side.text(0, b"{}", Some(&details())).unwrap();
        finish(side);
        assert!(fs::read_to_string(&path).unwrap().starts_with("{\"_file\":\"a.csv\",\"_line\":3,"));
    }

    #[test]
    fn the_given_delimiter_separates_details_too() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("late");
        let inputs = [SideInput { delimiter: Some(b';'), ..input("a.csv", &CSV, "t;x") }];
        let mut side = SideFile::create(&path, &inputs, true).unwrap();
        side.text(0, b"1;2", Some(&details())).unwrap();
        finish(side);
        assert!(fs::read_to_string(&path).unwrap().contains("\n1;2;a.csv;3;1.5;"));
    }

    #[test]
    fn rows_are_written_in_their_own_format() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("late");
        let column: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
        let rows = RecordBatch::try_from_iter_with_nullable([("x", column, false)]).unwrap();
        let mut other = rows_input(&rows);
        other.schema = Some(Arc::new(Schema::new(vec![Field::new("x", arrow::datatypes::DataType::Int64, true)])));
        for (with, expected) in [(false, "2 rows\nx"), (true, "2 rows\nx _file _line _lateness _watermark _window_end")]
        {
            let mut side = SideFile::create(&path, &[rows_input(&rows), other.clone()], with).unwrap();
            let details = vec![details(); if with { 2 } else { 0 }];
            side.rows(0, &rows, &details).unwrap();
            assert!(side.text(0, b"x", None).is_err());
            finish(side);
            assert_eq!(fs::read_to_string(&path).unwrap(), expected);
        }
    }

    #[test]
    fn the_extension_of_one_file_compresses_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("late.jsonl.zst");
        let mut side = SideFile::create(&path, &[input("a.jsonl", &JSONL, "")], false).unwrap();
        side.text(0, b"{}", None).unwrap();
        finish(side);
        assert_eq!(zstd::decode_all(&fs::read(&path).unwrap()[..]).unwrap(), b"{}\n");
    }
}
