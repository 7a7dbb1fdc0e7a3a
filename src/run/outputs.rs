//! All outputs of a job: results, late, bad and duplicate records, the summary; committed together.
//!
//! Must not know what the rows mean.

use super::one::Seen;
use super::results::Results;
use super::side_files::SideFiles;
use crate::error::Result;
use crate::event::Side;
use crate::input::{BadItem, Merged, RawRecord};
use crate::operator::{Emit, Late};
use crate::output::{self, Commit, SideFile, commit_all};
use crate::report::Summary;
use crate::signals;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use std::path::Path;

/// Everything a job writes.
pub(super) struct Outputs {
    target: Target,
    files: SideFiles,
    /// Late records would have counted in something whose end is known.
    windows: bool,
    /// Once the row limit is reached nothing is left to do: nobody asked for an account of the rest.
    stops_when_full: bool,
    /// Result rows that a reader was let see.
    flushed: u64,
}

/// Where results go.
pub(super) enum Target {
    /// Rows, encoded.
    Rows(Box<Results>),
    /// Records of the input as they stood.
    Records(Records),
}

/// Records that are passed on as they stood.
pub(super) struct Records {
    pub(super) file: SideFile,
    /// At most this many.
    pub(super) limit: u64,
}

impl Outputs {
    /// Everything, opened. `windows`: late records would have counted in something whose end is known.
    pub(super) fn new(target: Target, files: SideFiles, windows: bool, stops_when_full: bool) -> Self {
        Self { target, files, windows, stops_when_full, flushed: 0 }
    }

    /// Where results of a batch of one side go, and its late rows.
    pub(super) fn of<'a>(&'a mut self, merged: &'a Merged) -> Out<'a> {
        Out { outputs: self, parts: [Some(merged), None] }
    }

    /// The same for a batch of two sides.
    pub(super) fn of_both<'a>(&'a mut self, parts: &'a [Option<Merged>; 2]) -> Out<'a> {
        Out { outputs: self, parts: [parts[0].as_ref(), parts[1].as_ref()] }
    }

    /// Where results go when no batch is at hand.
    pub(super) fn without_rows(&mut self) -> Out<'_> {
        Out { outputs: self, parts: [None, None] }
    }

    /// Whether there is nothing left to do.
    pub(super) fn is_done(&self) -> bool {
        self.stops_when_full
            && match &self.target {
                Target::Rows(results) => results.is_full(),
                Target::Records(records) => records.file.written() >= records.limit,
            }
    }

    fn rows_written(&self) -> u64 {
        match &self.target {
            Target::Rows(results) => results.rows_written(),
            Target::Records(records) => records.file.written(),
        }
    }

    pub(super) fn late_count(&self) -> u64 {
        self.files.late_count()
    }

    /// Lets readers of a pipe see what has fired so far.
    pub(super) fn flush(&mut self) -> Result<()> {
        let rows = self.rows_written();
        if rows == self.flushed {
            return Ok(());
        }
        self.flushed = rows;
        match &mut self.target {
            Target::Rows(results) => results.flush(),
            Target::Records(records) => records.file.flush(),
        }
    }

    /// Lets readers see the table that was written, if there is one.
    pub(super) fn end_table(&mut self) -> Result<()> {
        match &mut self.target {
            Target::Rows(results) => results.end_table(),
            Target::Records(_) => Ok(()),
        }
    }

    /// Rows have another schema from here on, if it is another.
    pub(super) fn follow(&mut self, before: &SchemaRef, after: &SchemaRef) -> Result<()> {
        match &mut self.target {
            Target::Rows(results) if before != after => results.schema_changed(after),
            Target::Rows(_) | Target::Records(_) => Ok(()),
        }
    }

    /// Sets a bad record aside, or stops the run.
    pub(super) fn bad(&mut self, side: Side, bad: &BadItem) -> Result<()> {
        self.files.bad(side, bad)
    }

    /// Makes everything appear, and gives the whole account. `file` takes it too.
    pub(super) fn finish(self, mut summary: Summary, seen: &Seen<'_>, file: Option<&Path>) -> Result<Summary> {
        summary.late = self.files.lateness();
        let sides = summary.sides.iter_mut().flatten().zip(Side::BOTH);
        sides.for_each(|(told, side)| told.late = self.files.lateness_of(side));
        summary.delay_to_keep_all = summary.delay_to_keep_all.max(summary.late.max());
        summary.first_bad = self.files.first_bad();
        summary.rows = self.rows_written();
        let total = summary.total();
        self.files.check_bad(total.bad, total.read)?;
        summary.elapsed = seen.started.elapsed().as_secs_f64();
        let json = file.map(|path| (path, summary.to_json(seen.given)));
        self.commit(json)?;
        Ok(summary)
    }

    /// Makes everything appear; `summary` is a file and its content.
    fn commit(mut self, summary: Option<(&Path, String)>) -> Result<()> {
        let mut account = None;
        if let Some((path, text)) = summary {
            let mut sink = output::open(Some(path))?.sink;
            sink.write(text.as_bytes())?;
            account = Some(sink);
        }
        let mut all: Vec<&mut dyn Commit> = match &mut self.target {
            Target::Rows(results) => results.rest().into_iter().collect(),
            Target::Records(records) => vec![&mut records.file],
        };
        all.extend(self.files.all());
        all.extend(account.as_mut().map(|sink| sink as &mut dyn Commit));
        commit_all(&mut all)
    }
}

/// The outputs as an operator sees them.
pub(super) struct Out<'a> {
    outputs: &'a mut Outputs,
    /// The batch at hand: the rows of each side, if it has any.
    parts: [Option<&'a Merged>; 2],
}

impl Emit for Out<'_> {
    fn is_done(&self) -> bool {
        self.outputs.is_done()
    }

    fn go_on(&mut self) -> Result<()> {
        signals::check()
    }

    fn rows(&mut self, rows: RecordBatch) -> Result<()> {
        // All windows of a long input may fire at once, with no input left to wait for.
        signals::check()?;
        match &mut self.outputs.target {
            Target::Rows(results) => results.write(&rows),
            Target::Records(_) => Ok(()),
        }
    }

    fn table(&mut self) -> Result<()> {
        match &mut self.outputs.target {
            Target::Rows(results) => results.begin_table(),
            Target::Records(_) => Ok(()),
        }
    }

    fn late(&mut self, late: Late) -> Result<()> {
        let windows = self.outputs.windows;
        self.parts[late.side.index()].map_or(Ok(()), |merged| self.outputs.files.late(late, windows, merged))
    }

    fn pass(&mut self, rows: &[u32]) -> Result<()> {
        let (Some(merged), Target::Records(records)) = (self.parts[0], &mut self.outputs.target) else {
            return Ok(());
        };
        signals::check()?;
        let left = usize::try_from(records.limit.saturating_sub(records.file.written())).unwrap_or(usize::MAX);
        merged.each_origin(&rows[..rows.len().min(left)], |origin| match origin.text() {
            Some(text) => records.file.text(origin.input, text, None),
            None => match origin.raw() {
                RawRecord::Row(row) => records.file.rows(origin.input, &row, &[]),
                _ => Ok(()),
            },
        })
    }

    fn duplicate(&mut self, row: u32) -> Result<()> {
        let origin = self.parts[0].and_then(|merged| merged.origin(row as usize));
        origin.map_or(Ok(()), |origin| self.outputs.files.duplicate(&origin))
    }
}
