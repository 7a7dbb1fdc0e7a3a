//! All outputs of a job: results, late and bad records, the summary; opened together and committed together.
//!
//! Must not know what the rows mean.

use super::results::Results;
use crate::account::Lateness;
use crate::error::{Error, ErrorKind, Result};
use crate::event::Times;
use crate::input::{BadItem, Merged, Prepared, RawRecord};
use crate::operator::{Emit, Late};
use crate::output::{self, Commit, Details, SideFile, SideInput, commit_all};
use crate::plan::{BadPlan, Bound, Plan};
use crate::report::{Summary, check_bad};
use crate::signals;
use crate::time::Span;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use std::path::Path;

/// The side files, opened while the inputs are still at hand.
pub(super) struct Sides {
    late: Option<SideFile>,
    bad: Option<SideFile>,
    names: Vec<String>,
}

impl Sides {
    /// Opens what the plan asks for.
    pub(super) fn open(plan: &Plan, inputs: &[Prepared]) -> Result<Self> {
        let sides: Vec<SideInput> = inputs.iter().map(|input| side_input(plan, input)).collect();
        let late =
            plan.late.path.as_deref().map(|path| SideFile::create(path, &sides, plan.late.details)).transpose()?;
        let bad = plan.bad.path.as_deref().map(|path| SideFile::create(path, &sides, false)).transpose()?;
        Ok(Self { late, bad, names: inputs.iter().map(|input| input.name.clone()).collect() })
    }
}

fn side_input(plan: &Plan, input: &Prepared) -> SideInput {
    SideInput {
        name: input.name.clone(),
        format: input.format,
        delimiter: plan.input.text.delimiter,
        header: input.header.clone(),
        schema: input.schema.clone(),
    }
}

/// Everything a job writes.
pub(super) struct Outputs {
    results: Results,
    sides: Sides,
    late: LateRecords,
    bad: BadRecords,
    /// Result rows that a reader was let see.
    flushed: u64,
}

/// What late records have told so far.
struct LateRecords {
    details: bool,
    delay: Span,
    lateness: Lateness,
    session: bool,
}

/// What bad records have told so far.
struct BadRecords {
    plan: BadPlan,
    count: u64,
    first: Option<String>,
}

impl Outputs {
    /// Opens the results' output.
    pub(super) fn open(plan: &Plan, sides: Sides, schema: &SchemaRef) -> Result<Self> {
        let late = LateRecords {
            details: plan.late.details,
            delay: plan.clock.delay.unwrap_or(Span::ZERO),
            lateness: Lateness::default(),
            session: plan.is_session(),
        };
        let bad = BadRecords { plan: plan.bad.clone(), count: 0, first: None };
        let results = Results::open(plan, schema)?;
        Ok(Self { results, sides, late, bad, flushed: 0 })
    }

    /// Where results of a batch go, and its late rows.
    pub(super) fn of<'a>(&'a mut self, merged: &'a Merged) -> Out<'a> {
        Out { outputs: self, merged: Some(merged), times: Some(&merged.times) }
    }

    /// Where results go when no batch is at hand.
    pub(super) fn without_rows(&mut self) -> Out<'_> {
        Out { outputs: self, merged: None, times: None }
    }

    pub(super) fn is_full(&self) -> bool {
        self.results.is_full()
    }

    pub(super) fn late_count(&self) -> u64 {
        self.late.lateness.total()
    }

    /// Lets readers of a pipe see what has fired so far.
    pub(super) fn flush(&mut self) -> Result<()> {
        let rows = self.results.rows_written();
        if rows > self.flushed {
            self.flushed = rows;
            self.results.flush()?;
        }
        Ok(())
    }

    /// Lets readers see the table that was written, if there is one.
    pub(super) fn end_table(&mut self) -> Result<()> {
        self.results.end_table()
    }

    pub(super) fn schema_changed(&mut self, schema: &SchemaRef) -> Result<()> {
        self.results.schema_changed(schema)
    }

    /// Sets a bad record aside, or stops the run.
    pub(super) fn bad(&mut self, bad: &BadItem) -> Result<()> {
        let place = format!("{}:{}", self.sides.names[bad.input], bad.line);
        let said = Error::failed(bad.message.clone()).at(place);
        if self.bad.plan.path.is_none() && self.bad.plan.max.is_none() {
            return Err(said.hint(match bad.message.contains("expected a time, found \"") {
                true => "--time-format reads other forms, such as '%Y/%m/%d %H:%M'; --bad FILE sets such records aside",
                false => "--bad FILE sets such records aside and goes on",
            }));
        }
        self.bad.count += 1;
        self.bad.first.get_or_insert_with(|| said.message().to_owned());
        if let Some(file) = &mut self.sides.bad {
            keep(file, bad.input, &bad.raw, None)?;
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

    /// Adds what the outputs know to the summary.
    pub(super) fn fill(&self, summary: &mut Summary) {
        summary.late = self.late.lateness.clone();
        summary.delay_to_keep_all = summary.delay_to_keep_all.max(self.late.lateness.max());
        summary.first_bad.clone_from(&self.bad.first);
        summary.rows = self.results.rows_written();
    }

    /// Makes everything appear; `summary` is a file and its content.
    pub(super) fn commit(mut self, summary: Option<(&Path, String)>) -> Result<()> {
        let mut account = None;
        if let Some((path, text)) = summary {
            let mut sink = output::open(Some(path))?.sink;
            sink.write(text.as_bytes())?;
            account = Some(sink);
        }
        let mut all: Vec<&mut dyn Commit> = self.results.rest().into_iter().collect();
        all.extend(self.sides.late.as_mut().map(|file| file as &mut dyn Commit));
        all.extend(self.sides.bad.as_mut().map(|file| file as &mut dyn Commit));
        all.extend(account.as_mut().map(|sink| sink as &mut dyn Commit));
        commit_all(&mut all)
    }
}

/// `--max-bad N` stops at the first record beyond it.
fn too_many_bad(most: u64, last: &Error) -> Error {
    let message = format!("{}; that is more than --max-bad {most} allows", last.message());
    Error::new(ErrorKind::Bound, message).hint("no output was written")
}

/// The outputs as an operator sees them.
pub(super) struct Out<'a> {
    outputs: &'a mut Outputs,
    merged: Option<&'a Merged>,
    times: Option<&'a Times>,
}

impl Emit for Out<'_> {
    fn go_on(&mut self) -> Result<()> {
        signals::check()
    }

    fn rows(&mut self, rows: RecordBatch) -> Result<()> {
        // All windows of a long input may fire at once, with no input left to wait for.
        signals::check()?;
        self.outputs.results.write(&rows)
    }

    fn table(&mut self) -> Result<()> {
        self.outputs.results.begin_table()
    }

    fn late(&mut self, late: Late) -> Result<()> {
        let Some(time) = self.times.map(|times| times.get(late.row)) else { return Ok(()) };
        let told = &mut self.outputs.late;
        let lateness = late.mark.ts().saturating_add(told.delay).since(time);
        told.lateness.record(lateness);
        let Some(file) = &mut self.outputs.sides.late else { return Ok(()) };
        let Some(origin) = self.merged.and_then(|merged| merged.origin(late.row)) else { return Ok(()) };
        let details = told.details.then(|| Details {
            file: self.outputs.sides.names[origin.input].clone(),
            line: origin.line(),
            lateness,
            watermark: late.mark.ts(),
            window_end: (!told.session).then_some(late.window_end),
        });
        keep(file, origin.input, &origin.raw(), details)
    }
}

/// Keeps a record in a side file.
fn keep(file: &mut SideFile, input: usize, raw: &RawRecord, details: Option<Details>) -> Result<()> {
    match raw {
        RawRecord::Text(bytes) => file.text(input, bytes, details.as_ref()),
        RawRecord::Row(row) => file.rows(input, row, details.as_slice()),
        RawRecord::None => Ok(()),
    }
}
