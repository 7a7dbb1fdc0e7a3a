//! THE LOOP of a job with two sides: both inputs in one order -> a clock for each -> the operator over both -> outputs.
//!
//! Must not know names of formats or flags: what differs between kinds was decided before.

use super::one::Seen;
use super::outputs::Outputs;
use super::side::{Ready, SideRun};
use crate::error::Result;
use crate::event::{EventBatch, Side, TwoSided, Watermark};
use crate::input::{Item, Merged, Prepared, SidedItem, SidedRows, Sides, Start};
use crate::operator::Join;
use crate::plan::JoinPlan;
use crate::report::{Part, Summary, check_late};
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

/// A running join.
struct Job {
    sides: [SideRun; 2],
    operator: Join,
    outputs: Outputs,
    /// Somebody may be writing an input as it is read, and waiting for the results.
    live: bool,
}

/// Carries a join out and tells what there is to tell.
pub(super) fn carry_out(
    plan: &JoinPlan,
    ready: [Ready; 2],
    operator: Join,
    outputs: Outputs,
    seen: &Seen<'_>,
) -> Result<()> {
    let [left, right] = &ready;
    let sizes = [Prepared::total_size(&left.inputs), Prepared::total_size(&right.inputs)];
    let total = if sizes.contains(&0) { 0 } else { sizes.iter().sum() };
    seen.progress.total_bytes.store(total, Relaxed);
    let unbounded = |side: Side| {
        plan.sides[side.other().index()]
            .clock
            .delay
            .is_none()
            .then_some("without --delay rows wait for the end of the input")
    };
    let run = |side: Side, ready: &Ready| {
        let side_plan = &plan.sides[side.index()];
        SideRun::new(&side_plan.input, &side_plan.clock, ready, unbounded(side))
    };
    let mut job = Job {
        sides: [run(Side::Left, left), run(Side::Right, right)],
        operator,
        outputs,
        live: left.is_live() || right.is_live(),
    };
    let mut merge = start(plan, ready)?;
    job.go(&mut merge, seen)?;
    drop(merge);
    drop(seen.watch.take());
    let summary = job.finish(seen, plan.report.summary.as_deref())?;
    seen.reporter.finish(&summary, seen.given);
    let total = summary.total();
    let max = plan.sides.iter().find_map(|side| side.late.max);
    check_late(max, total.late, total.read)
}

/// Puts the inputs of both sides to work.
fn start(plan: &JoinPlan, ready: [Ready; 2]) -> Result<Sides> {
    let files = [ready[0].inputs.len(), ready[1].inputs.len()];
    let [left, right] = ready;
    let merge = |side: Side, ready: Ready| {
        let side_plan = &plan.sides[side.index()];
        let kept = side_plan.late.path.is_some() || plan.bad.path.is_some();
        let how = ready.decode(&side_plan.input, kept);
        ready.start(how, &Start::of(&side_plan.input, &side_plan.clock, plan.threads), None)
    };
    let merges = [merge(Side::Left, left)?, merge(Side::Right, right)?];
    let of = |side: Side| &plan.sides[side.index()];
    let outliers = Side::BOTH.map(|side| of(side).clock.outliers);
    let concat = Side::BOTH.map(|side| of(side).input.concat);
    Ok(Sides::new(merges, files, outliers, concat))
}

impl Job {
    /// Takes in everything there is, then lets what waits come out.
    fn go(&mut self, merge: &mut Sides, seen: &Seen<'_>) -> Result<()> {
        let mut open = [true; 2];
        while let Some(item) = merge.next_item()? {
            match item {
                SidedItem::Rows(rows) => self.rows(&rows)?,
                SidedItem::Other(side, item) => self.other(side, item)?,
            }
            for side in Side::BOTH {
                if open[side.index()] && merge.has_ended(side)? {
                    open[side.index()] = false;
                    self.end(side, merge)?;
                }
            }
            self.tell(seen);
            if self.outputs.is_done() {
                self.sides.iter_mut().for_each(|side| side.account.stopped());
                break;
            }
        }
        Side::BOTH.into_iter().filter(|side| open[side.index()]).try_for_each(|side| self.end(side, merge))
    }

    fn other(&mut self, side: Side, item: Item) -> Result<()> {
        let run = &mut self.sides[side.index()];
        match item {
            Item::Bad(bad) => {
                run.account.bad(&bad);
                self.outputs.bad(side, &bad)
            }
            Item::Skipped(input, records) => {
                run.account.skipped(input, records);
                Ok(())
            }
            Item::Types { types, input, record } => {
                let types = run.retype(&types, input, record)?;
                let before = self.operator.schema();
                self.operator.retype(side, &types)?;
                self.outputs.follow(&before, &self.operator.schema())
            }
            Item::Finished(input) => match run.finish(input) {
                Some(mark) => self.advance(side, mark),
                None => Ok(()),
            },
            Item::Rows(_) | Item::Waiting => Ok(()),
        }
    }

    /// A batch of both sides through their clocks and the operator.
    fn rows(&mut self, rows: &SidedRows) -> Result<()> {
        let [left, right] = &mut self.sides;
        let batch = TwoSided {
            sides: [stamped(left, rows.parts[0].as_ref()), stamped(right, rows.parts[1].as_ref())],
            runs: rows.runs.clone(),
        };
        self.operator.on_batch(&batch, &mut self.outputs.of_both(&rows.parts))?;
        self.let_see()?;
        let state = self.operator.state();
        self.sides.iter_mut().for_each(|side| side.account.state(state));
        Ok(())
    }

    fn advance(&mut self, side: Side, mark: Watermark) -> Result<()> {
        self.operator.on_watermark(side, mark, &mut self.outputs.without_rows())?;
        self.let_see()
    }

    /// All files of a side have ended: no partner will come from there.
    fn end(&mut self, side: Side, merge: &Sides) -> Result<()> {
        let run = &mut self.sides[side.index()];
        run.account.ended(&run.clock, merge.units(side));
        run.account.unlisted(merge.unlisted(side));
        self.advance(side, Watermark::END)
    }

    /// Lets readers see what was written so far.
    fn let_see(&mut self) -> Result<()> {
        if self.live { self.outputs.flush() } else { Ok(()) }
    }

    fn tell(&self, seen: &Seen<'_>) {
        let marks = self.sides.iter().map(|side| side.clock.mark());
        seen.tell_read(self.sides.iter().map(|side| side.account.read()).sum());
        seen.progress.watermark.store(marks.min().map_or(i64::MIN, |mark| mark.ts().micros()), Relaxed);
        seen.progress.open.store(self.operator.state().rows, Relaxed);
        seen.progress.late.store(self.outputs.late_count(), Relaxed);
    }

    /// Makes the outputs appear and gives the account of both sides.
    fn finish(self, seen: &Seen<'_>, file: Option<&Path>) -> Result<Summary> {
        let of = |side: Side, part: Part| {
            let run = &self.sides[side.index()];
            Summary { empty: run.empty(part).into_iter().collect(), ..run.summary(self.operator.tally(side)) }
        };
        let mut summary = of(Side::Left, Part::Left).beside(of(Side::Right, Part::Right));
        summary.costliest = self.operator.costliest();
        self.outputs.finish(summary, seen, file)
    }
}

/// A side's rows with their marks; none at all where it has none at hand.
fn stamped(run: &mut SideRun, merged: Option<&Merged>) -> EventBatch {
    match merged {
        Some(merged) => run.stamp(merged),
        None => EventBatch::empty(run.clock.mark()),
    }
}
