//! Where result rows go: one output from beginning to end, or one table after another.
//!
//! A file that appears by rename holds one table at a time, which takes the place of the one before; to whoever reads
//! rows as they come, tables follow each other. Must not know what the rows mean.

use crate::error::{Error, Result};
use crate::format::EncodeOptions;
use crate::output::{self, Commit, ResultWriter};
use crate::plan::OutputPlan;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

/// The output of a job's results.
pub(super) struct Results {
    plan: OutputPlan,
    threaded: bool,
    schema: SchemaRef,
    /// None between two tables.
    writer: Option<ResultWriter>,
    /// Each table is an output of its own.
    replaces: bool,
    /// The writer holds a table.
    holds_table: bool,
    /// Rows of tables that were written.
    rows: u64,
}

impl Results {
    /// Opens it.
    ///
    /// `threaded`: it is written beside the loop. `tables`: one whole table after another.
    pub(super) fn open(plan: &OutputPlan, schema: &SchemaRef, threaded: bool, tables: bool) -> Result<Self> {
        let (writer, seen) = writer(plan, schema, threaded)?;
        let (plan, schema, replaces) = (plan.clone(), schema.clone(), tables && !seen);
        Ok(Self { plan, threaded, schema, writer: Some(writer), replaces, holds_table: false, rows: 0 })
    }

    /// The rows to come are a table, which takes the place of the one before.
    pub(super) fn begin_table(&mut self) -> Result<()> {
        self.end_table()?;
        if self.writer.is_none() {
            self.writer = Some(writer(&self.plan, &self.schema, self.threaded)?.0);
        }
        self.holds_table = true;
        Ok(())
    }

    /// Lets readers see the table so far written, if there is one.
    pub(super) fn end_table(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.holds_table) {
            return Ok(());
        }
        if !self.replaces {
            return self.flush();
        }
        if let Some(mut writer) = self.writer.take() {
            self.rows = writer.rows_written();
            output::commit_all(&mut [&mut writer])?;
        }
        Ok(())
    }

    /// Writes rows.
    pub(super) fn write(&mut self, rows: &RecordBatch) -> Result<()> {
        self.writer.as_mut().map_or(Ok(()), |writer| writer.write(rows))
    }

    /// Lets a reader see all rows so far.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.writer.as_mut().map_or(Ok(()), ResultWriter::flush)
    }

    /// Rows have another schema from here on.
    pub(super) fn schema_changed(&mut self, schema: &SchemaRef) -> Result<()> {
        self.schema = schema.clone();
        match &mut self.writer {
            // Nothing was written yet that the new schema would have to fit.
            Some(_) if self.replaces && !self.holds_table => self.writer = None,
            Some(writer) => writer.schema_changed(schema)?,
            None => {}
        }
        Ok(())
    }

    /// Rows written; of tables that replace each other, those of the last.
    pub(super) fn rows_written(&self) -> u64 {
        self.writer.as_ref().map_or(self.rows, ResultWriter::rows_written)
    }

    /// Whether nothing more will be written.
    pub(super) fn is_full(&self) -> bool {
        self.writer.as_ref().is_some_and(ResultWriter::is_full)
    }

    /// What is still to be committed.
    pub(super) fn rest(&mut self) -> Option<&mut dyn Commit> {
        self.writer.as_mut().map(|writer| writer as &mut dyn Commit)
    }
}

/// A writer, and whether what it writes is seen before it is committed.
fn writer(plan: &OutputPlan, schema: &SchemaRef, threaded: bool) -> Result<(ResultWriter, bool)> {
    let options = EncodeOptions { zone: plan.zone.clone(), width: plan.width };
    let encoder = match plan.format.write {
        Some(write) => write(schema, &options)?,
        None => return Err(Error::usage(format!("{} is an input format only", plan.format.name))),
    };
    let opened = output::open(plan.path.as_deref())?;
    let seen = opened.seen;
    Ok((ResultWriter::new(encoder, opened, plan.limit, threaded)?, seen))
}
