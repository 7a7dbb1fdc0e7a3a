//! THE LOOP of a job with one side: inputs -> clock -> operator -> outputs.
//!
//! Must not know names of formats, windows or flags: what differs between kinds was decided before.

use super::outputs::{Outputs, Target};
use super::results::Results;
use super::side::{Ready, SideRun};
use super::ticker::Ticker;
use crate::error::Result;
use crate::event::{Side, Watermark};
use crate::input::{Item, Merge, Merged, Prepared, Start, Traffic};
use crate::operator::Operator;
use crate::plan::{BadPlan, ClockPlan, InputPlan, LatePlan, OutputPlan, ReportPlan, SidePlan, Trigger};
use crate::report::{Given, Progress, Reporter, Summary, Watch, check_late};
use crate::time::Ts;
use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// What every job with one side says in its plan.
#[derive(Clone, Copy)]
pub(super) struct Stream<'a> {
    pub(super) input: &'a InputPlan,
    pub(super) clock: &'a ClockPlan,
    pub(super) late: &'a LatePlan,
    pub(super) duplicates: Option<&'a Path>,
    pub(super) bad: &'a BadPlan,
    pub(super) output: &'a OutputPlan,
    pub(super) report: &'a ReportPlan,
    pub(super) threads: usize,
    pub(super) trigger: Option<&'a Trigger>,
    /// Results are one whole table after another.
    pub(super) tables: bool,
    /// Why the state may grow with the input, if it may.
    pub(super) unbounded: Option<&'static str>,
    /// What a late record would have counted in has an end that is known.
    pub(super) windows: bool,
    /// Records are passed on as they stood.
    pub(super) verbatim: bool,
    /// Times outside of it need not be read.
    pub(super) matter: Option<(Ts, Ts)>,
}

/// A job with one side, ready to go.
pub(super) struct One<'a> {
    pub(super) stream: Stream<'a>,
    pub(super) ready: Ready,
    pub(super) operator: Box<dyn Operator>,
    pub(super) outputs: Outputs,
    /// The account of what was read before: a table.
    pub(super) before: Option<Summary>,
}

impl<'a> Stream<'a> {
    /// Rows of which each stands for itself, in bounded state.
    pub(super) fn of(
        side: &'a SidePlan,
        bad: &'a BadPlan,
        output: &'a OutputPlan,
        report: &'a ReportPlan,
        threads: usize,
    ) -> Self {
        Self {
            input: &side.input,
            clock: &side.clock,
            late: &side.late,
            duplicates: None,
            bad,
            output,
            report,
            threads,
            trigger: None,
            tables: false,
            unbounded: None,
            windows: false,
            verbatim: false,
            matter: None,
        }
    }

    /// Whether records are wanted as they stood.
    pub(super) fn keeps_raw(&self) -> bool {
        self.late.path.is_some() || self.bad.path.is_some() || self.duplicates.is_some() || self.verbatim
    }

    /// Whether nobody asked for an account of what comes behind the last row that is written.
    pub(super) fn stops_when_full(&self) -> bool {
        self.duplicates.is_none() && stops_when_full(&[self.late], self.bad, self.report)
    }

    /// Rows that are encoded; written beside the loop, if there are threads to spare.
    pub(super) fn rows_target(&self, operator: &dyn Operator) -> Result<Target> {
        let results = Results::open(self.output, &operator.schema(), self.threads > 1, self.tables)?;
        Ok(Target::Rows(Box::new(results)))
    }
}

/// Whether nobody asked for an account of what comes behind the last row that is written.
pub(super) fn stops_when_full(late: &[&LatePlan], bad: &BadPlan, report: &ReportPlan) -> bool {
    let late_counts = late.iter().any(|late| late.path.is_some() || late.max.is_some());
    !late_counts && bad.path.is_none() && bad.max.is_none() && report.summary.is_none()
}

/// A running job.
struct Job {
    side: SideRun,
    operator: Box<dyn Operator>,
    outputs: Outputs,
    /// Somebody may be writing the input as it is read, and waiting for the results.
    live: bool,
    ticker: Ticker,
}

/// What people see while a job runs.
pub(super) struct Seen<'a> {
    pub(super) reporter: &'a Reporter,
    pub(super) given: &'a Given,
    pub(super) progress: &'a Arc<Progress>,
    pub(super) traffic: &'a Traffic,
    pub(super) started: Instant,
    /// Shows progress until it is taken.
    pub(super) watch: RefCell<Option<Watch>>,
}

impl Seen<'_> {
    /// Shows how much was read so far.
    pub(super) fn tell_read(&self, records: u64) {
        self.progress.bytes.store(self.traffic.read.load(Relaxed), Relaxed);
        self.progress.records.store(records, Relaxed);
    }
}

/// Carries a job out and tells what there is to tell.
pub(super) fn carry_out(one: One<'_>, seen: &Seen<'_>) -> Result<()> {
    let One { stream, ready, operator, outputs, before } = one;
    seen.progress.total_bytes.store(Prepared::total_size(&ready.inputs), Relaxed);
    let mut job = Job {
        side: SideRun::new(stream.input, stream.clock, &ready, stream.unbounded),
        operator,
        outputs,
        live: ready.is_live(),
        ticker: Ticker::of(stream.trigger),
    };
    let how = ready.decode(stream.input, stream.keeps_raw());
    let start = Start::of(stream.input, stream.clock, stream.threads);
    let mut merge = ready.start(how, &start, stream.matter)?;
    job.go(&mut merge, seen)?;
    drop(merge);
    drop(seen.watch.take());
    let summary = job.finish(before, seen, stream.report.summary.as_deref())?;
    seen.reporter.finish(&summary, seen.given);
    let total = summary.total();
    check_late(stream.late.max, total.late, total.read)
}

impl Job {
    /// Takes in everything there is, then lets all windows fire.
    fn go(&mut self, merge: &mut Merge, seen: &Seen<'_>) -> Result<()> {
        while let Some(item) = merge.next_item(self.ticker.next())? {
            match item {
                Item::Waiting => {}
                Item::Rows(merged) => self.rows(&merged)?,
                Item::Bad(bad) => {
                    self.side.account.bad(&bad);
                    self.outputs.bad(Side::Left, &bad)?;
                }
                Item::Skipped(input, records) => self.side.account.skipped(input, records),
                Item::Types { types, input, record } => {
                    let types = self.side.retype(&types, input, record)?;
                    let before = self.operator.schema();
                    self.operator.retype(&types)?;
                    self.outputs.follow(&before, &self.operator.schema())?;
                }
                Item::Finished(input) => {
                    if let Some(mark) = self.side.finish(input) {
                        self.advance(mark)?;
                        self.let_see()?;
                    }
                }
            }
            if self.ticker.is_due() {
                self.operator.on_tick(&mut self.outputs.without_rows())?;
                self.let_see()?;
            }
            self.tell(seen);
            if self.outputs.is_done() {
                self.side.account.stopped();
                break;
            }
        }
        self.side.account.ended(&self.side.clock, merge.units());
        self.side.account.unlisted(merge.unlisted());
        self.advance(Watermark::END)
    }

    /// One batch through the clock and the operator.
    fn rows(&mut self, merged: &Merged) -> Result<()> {
        let batch = self.side.stamp(merged);
        self.operator.on_batch(&batch, &mut self.outputs.of(merged))?;
        self.let_see()?;
        self.side.account.state(self.operator.state());
        Ok(())
    }

    /// Lets readers see what was written so far.
    fn let_see(&mut self) -> Result<()> {
        self.outputs.end_table()?;
        if self.live { self.outputs.flush() } else { Ok(()) }
    }

    fn advance(&mut self, mark: Watermark) -> Result<()> {
        self.operator.on_watermark(mark, &mut self.outputs.without_rows())
    }

    fn tell(&self, seen: &Seen<'_>) {
        seen.tell_read(self.side.account.read());
        seen.progress.watermark.store(self.side.clock.mark().ts().micros(), Relaxed);
        seen.progress.open.store(self.side.account.open_windows(), Relaxed);
        seen.progress.late.store(self.outputs.late_count(), Relaxed);
    }

    /// Makes the outputs appear and gives the account.
    fn finish(self, before: Option<Summary>, seen: &Seen<'_>, file: Option<&Path>) -> Result<Summary> {
        let summary = self.side.summary(self.operator.tally());
        let summary = match before {
            Some(table) => summary.behind(table),
            None => summary,
        };
        self.outputs.finish(summary, seen, file)
    }
}
