//! Records that do not become results: late, bad and duplicate ones, in files as they stood, and what they tell.
//!
//! Must not know what rows mean. Inputs are numbered through: those of the left side, then those of the right.

use crate::account::Lateness;
use crate::error::{Error, ErrorKind, Result};
use crate::event::Side;
use crate::input::{BadItem, Merged, Origin, Prepared, RawRecord};
use crate::operator::Late;
use crate::output::{Commit, Details, SideFile, SideInput};
use crate::plan::{BadPlan, Bound, InputPlan, LatePlan};
use crate::report::check_bad;
use crate::time::Span;
use std::path::Path;

/// What is read on a side, and what becomes of its late records.
#[derive(Clone, Copy)]
pub(super) struct SideInputs<'a> {
    pub(super) plan: &'a InputPlan,
    pub(super) inputs: &'a [Prepared],
    pub(super) late: &'a LatePlan,
    pub(super) delay: Span,
    /// It is a table: its bad records are not kept with those of the events.
    pub(super) table: bool,
}

/// The files of a job beside its results, and what went there.
pub(super) struct SideFiles {
    names: Vec<String>,
    /// The number of the right side's first input.
    right: usize,
    late_files: Vec<SideFile>,
    late: Vec<LateRecords>,
    bad_file: Option<SideFile>,
    bad: BadRecords,
    /// The number of the first input that is a table.
    table: usize,
    duplicates: Option<SideFile>,
}

/// The late records of a side.
struct LateRecords {
    /// Their file, and the number of the side's first input in it.
    file: Option<(usize, usize)>,
    details: bool,
    delay: Span,
    lateness: Lateness,
}

/// What bad records have told so far.
struct BadRecords {
    plan: BadPlan,
    count: u64,
    first: Option<String>,
}

impl SideFiles {
    /// Opens what the plans of one or two sides ask for.
    pub(super) fn open(sides: &[SideInputs<'_>], bad: &BadPlan, duplicates: Option<&Path>) -> Result<Self> {
        let each: Vec<Vec<SideInput>> = sides.iter().map(|side| side_inputs(side.plan, side.inputs)).collect();
        let all = each.concat();
        let table = sides.iter().zip(&each).filter(|(side, _)| !side.table).map(|(_, inputs)| inputs.len()).sum();
        let keep = |path: &Path| SideFile::create(path, &all[..table], false);
        let mut files = Self {
            names: all.iter().map(|input| input.name.clone()).collect(),
            right: each[0].len(),
            late_files: Vec::new(),
            late: Vec::new(),
            bad_file: bad.path.as_deref().map(keep).transpose()?,
            bad: BadRecords { plan: bad.clone(), count: 0, first: None },
            duplicates: duplicates.map(keep).transpose()?,
            table,
        };
        files.open_late(sides, &each)?;
        Ok(files)
    }

    /// Two sides that name one file share it.
    fn open_late(&mut self, sides: &[SideInputs<'_>], each: &[Vec<SideInput>]) -> Result<()> {
        let shared = sides.len() == 2 && sides[0].late.path == sides[1].late.path;
        for (at, side) in sides.iter().enumerate() {
            let file = match &side.late.path {
                None => None,
                Some(_) if shared && at == 1 => Some((0, each[0].len())),
                Some(path) => {
                    let inputs = if shared { each.concat() } else { each[at].clone() };
                    self.late_files.push(SideFile::create(path, &inputs, side.late.details)?);
                    Some((self.late_files.len() - 1, 0))
                }
            };
            self.late.push(LateRecords {
                file,
                details: side.late.details,
                delay: side.delay,
                lateness: Lateness::default(),
            });
        }
        Ok(())
    }

    /// The number of an input of a side.
    fn number(&self, side: Side, input: usize) -> usize {
        match side {
            Side::Left => input,
            Side::Right => self.right + input,
        }
    }

    /// Sets a bad record aside, or stops the run.
    pub(super) fn bad(&mut self, side: Side, bad: &BadItem) -> Result<()> {
        let input = self.number(side, bad.input);
        let place = format!("{}:{}", self.names[input], bad.line);
        let said = Error::failed(bad.message.clone()).at(place);
        if input >= self.table && self.bad.plan.max.is_none() {
            return Err(
                said.hint("events that need this row would find another or none; --max-bad N goes on without it")
            );
        }
        if self.bad.plan.path.is_none() && self.bad.plan.max.is_none() {
            return Err(said.hint(match bad.message.contains("expected a time, found \"") {
                true => "--time-format reads other forms, such as '%Y/%m/%d %H:%M'; --bad FILE sets such records aside",
                false => "--bad FILE sets such records aside and goes on",
            }));
        }
        self.bad.count += 1;
        self.bad.first.get_or_insert_with(|| said.message().to_owned());
        if let Some(file) = self.bad_file.as_mut().filter(|_| input < self.table) {
            keep(file, input, &bad.raw, None)?;
        }
        match self.bad.plan.max {
            Some(Bound::Count(most)) if self.bad.count > most => Err(too_many_bad(most, &said)),
            _ => Ok(()),
        }
    }

    /// Whether the share of bad records, known at the end only, is within its bound.
    pub(super) fn check_bad(&self, bad: u64, read: u64) -> Result<()> {
        check_bad(self.bad.plan.max, bad, read).map_err(|error| match &self.bad.first {
            Some(first) => error.hint(format!("the first is {first}; no output was written")),
            None => error,
        })
    }

    /// The first bad record, as an error would have said it.
    pub(super) fn first_bad(&self) -> Option<String> {
        self.bad.first.clone()
    }

    /// Takes in a late row of a side. `window`: what it would have counted in has an end that is known.
    pub(super) fn late(&mut self, late: Late, window: bool, merged: &Merged) -> Result<()> {
        let told = &mut self.late[late.side.index()];
        let lateness = late.mark.ts().saturating_add(told.delay).since(merged.times.get(late.row));
        told.lateness.record(lateness);
        let (Some((file, first)), Some(origin)) = (told.file, merged.origin(late.row)) else { return Ok(()) };
        let details = told.details.then(|| Details {
            file: self.names[self.number(late.side, origin.input)].clone(),
            line: origin.line(),
            lateness,
            watermark: late.mark.ts(),
            window_end: window.then_some(late.window_end),
        });
        keep(&mut self.late_files[file], first + origin.input, &origin.raw(), details)
    }

    /// Keeps a duplicate, if somebody wants them.
    pub(super) fn duplicate(&mut self, origin: &Origin<'_>) -> Result<()> {
        match &mut self.duplicates {
            Some(file) => keep(file, origin.input, &origin.raw(), None),
            None => Ok(()),
        }
    }

    /// Lateness of all late records.
    pub(super) fn lateness(&self) -> Lateness {
        let mut all = Lateness::default();
        self.late.iter().for_each(|late| all.add(&late.lateness));
        all
    }

    /// That of the late records of a side.
    pub(super) fn lateness_of(&self, side: Side) -> Lateness {
        self.late.get(side.index()).map_or_else(Lateness::default, |late| late.lateness.clone())
    }

    /// How many records were late.
    pub(super) fn late_count(&self) -> u64 {
        self.late.iter().map(|late| late.lateness.total()).sum()
    }

    /// What is to be committed.
    pub(super) fn all(&mut self) -> impl Iterator<Item = &mut dyn Commit> {
        let files = self.late_files.iter_mut().chain(&mut self.bad_file).chain(&mut self.duplicates);
        files.map(|file| file as &mut dyn Commit)
    }
}

/// What side files must know of a side's inputs.
pub(super) fn side_inputs(plan: &InputPlan, inputs: &[Prepared]) -> Vec<SideInput> {
    let each = inputs.iter().map(|input| SideInput {
        name: input.name.clone(),
        format: input.format,
        delimiter: plan.text.delimiter,
        header: input.header.clone(),
        schema: input.schema.clone(),
    });
    each.collect()
}

/// `--max-bad N` stops at the first record beyond it.
fn too_many_bad(most: u64, last: &Error) -> Error {
    let message = format!("{}; that is more than --max-bad {most} allows", last.message());
    Error::new(ErrorKind::Bound, message).hint("no output was written")
}

/// Keeps a record in a side file.
fn keep(file: &mut SideFile, input: usize, raw: &RawRecord, details: Option<Details>) -> Result<()> {
    match raw {
        RawRecord::Text(bytes) => file.text(input, bytes, details.as_ref()),
        RawRecord::Row(row) => file.rows(input, row, details.as_slice()),
        RawRecord::None => Ok(()),
    }
}
