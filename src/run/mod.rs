//! THE LOOP: inputs -> clock -> operator -> outputs, and the account of it.
//!
//! Must not know names of formats, windows or flags: what differs between kinds was decided before. Outputs appear
//! together at the end, or not at all.

mod ledger;
mod outputs;
mod results;
mod ticker;

use crate::bind::{self, Program};
use crate::clock::{Clock, Sources};
use crate::error::Result;
use crate::event::{EventBatch, Watermark};
use crate::input::{self, Decode, Item, Merge, Merged, Prepared, Start, Traffic};
use crate::keys::Keys;
use crate::operator::Operator;
use crate::output;
use crate::plan::{Bound, InputPath, Plan};
use crate::report::{Given, Progress, Reporter, check_late};
use crate::schema::{Column, FieldType};
use ledger::Account;
use outputs::Outputs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;
use ticker::Ticker;

/// Carries out a window job. What people should see goes through `reporter`.
pub fn run(plan: Plan, reporter: &Reporter) -> Result<()> {
    let traffic = &Traffic::default();
    let started = Instant::now();
    let given = Given::of(&plan);
    refuse_same_files(&plan)?;
    let progress = Arc::new(Progress::default());
    let watch = reporter.watch(&progress, &given, plan.output.width.is_some());
    let program = Arc::new(Program::of(&plan));
    program.check_unread(&plan)?;
    let inputs = input::prepare(&plan.input, &program.fields, traffic)?;
    let columns = program.columns(&inputs);
    let unseen = program.check(&plan, &columns, &inputs)?;
    progress.total_bytes.store(Prepared::total_size(&inputs), Relaxed);
    let (max_late, summary_file) = (plan.late.max, plan.report.summary.clone());
    let (mut job, mut merge) = Job::start(&plan, program, columns, inputs)?;
    job.go(&mut merge, &progress, traffic)?;
    drop(merge);
    drop(watch);
    let mut summary = job.finish(&given, summary_file.as_deref(), started)?;
    summary.unseen = unseen;
    reporter.finish(&summary, &given);
    let total = summary.total();
    check_late(max_late, total.late, total.read)
}

/// An output on top of an input, or of another output, is refused before anything is opened.
fn refuse_same_files(plan: &Plan) -> Result<()> {
    let side = [&plan.late.path, &plan.bad.path, &plan.report.summary];
    let side = side.into_iter().flatten().map(|path| Some(path.as_path()));
    let outputs: Vec<Option<&Path>> = std::iter::once(plan.output.path.as_deref()).chain(side).collect();
    let inputs: Vec<Option<&Path>> = plan.input.paths.iter().map(InputPath::path).collect();
    output::refuse_same_files(&outputs, &inputs)
}

/// A running job.
struct Job {
    clock: Clock,
    operator: Box<dyn Operator>,
    outputs: Outputs,
    account: Account,
    program: Arc<Program>,
    /// The fields of the inputs, with their types as they are now.
    fields: Vec<Column>,
    /// The column whose values are the partitions.
    partition: Option<usize>,
    concat: bool,
    /// Somebody may be writing the input as it is read, and waiting for the results.
    live: bool,
    /// Once the row limit is reached nothing is left to do: nobody asked for an account of the rest.
    stops_when_full: bool,
    ticker: Ticker,
}

impl Job {
    fn start(plan: &Plan, program: Arc<Program>, fields: Vec<Column>, inputs: Vec<Prepared>) -> Result<(Self, Merge)> {
        let keep_raw = plan.late.path.is_some() || plan.bad.path.is_some();
        let layouts = program.layouts(plan, &fields, &inputs, keep_raw);
        let derive = program.derivations(&inputs);
        let how = layouts.into_iter().zip(derive).map(|(layout, derive)| Decode { layout, derive }).collect();
        let account = Account::new(plan, &inputs);
        let live = inputs.iter().any(Prepared::is_stream);
        let clock = Clock::new(&plan.clock, if plan.input.concat { 1 } else { inputs.len() });
        let sides = outputs::Sides::open(plan, &inputs)?;
        let merge = input::start(inputs, how, &Start::of(plan), bind::matter(plan))?;
        let (concat, partition) = (plan.input.concat, program.partition());
        let stops_when_full = !keep_raw && plan.report.summary.is_none() && !bounded(plan.late.max, plan.bad.max);
        let operator = program.operator(plan, program.column_types(&types_of(&fields))?)?;
        let outputs = Outputs::open(plan, sides, &operator.schema())?;
        let ticker = Ticker::of(plan);
        let job = Self {
            clock,
            operator,
            outputs,
            account,
            program,
            fields,
            partition,
            concat,
            live,
            stops_when_full,
            ticker,
        };
        Ok((job, merge))
    }

    /// Takes in everything there is, then lets all windows fire.
    fn go(&mut self, merge: &mut Merge, progress: &Progress, traffic: &Traffic) -> Result<()> {
        while let Some(item) = merge.next_item(self.ticker.next())? {
            match item {
                Item::Waiting => {}
                Item::Rows(merged) => self.rows(&merged)?,
                Item::Bad(bad) => {
                    self.account.bad(&bad);
                    self.outputs.bad(&bad)?;
                }
                Item::Skipped(input, records) => self.account.skipped(input, records),
                Item::Types { types, input, record } => self.retype(&types, input, record)?,
                Item::Finished(input) if !self.concat => {
                    self.clock.finish(input);
                    self.advance(self.clock.mark())?;
                    self.let_see()?;
                }
                Item::Finished(_) => {}
            }
            if self.ticker.is_due() {
                self.operator.on_tick(&mut self.outputs.without_rows())?;
                self.let_see()?;
            }
            self.tell(progress, traffic);
            if self.stops_when_full && self.outputs.is_full() {
                break;
            }
        }
        self.account.ended(&self.clock, merge.units());
        self.advance(Watermark::END)
    }

    /// One batch through the clock and the operator.
    fn rows(&mut self, merged: &Merged) -> Result<()> {
        self.account.rows(merged);
        let inputs;
        let values;
        let sources = match (self.partition, merged.only_input()) {
            (Some(column), _) => {
                values = Keys::encode(&[Arc::clone(merged.rows.column(column))], merged.times.len());
                Sources::Named(&values)
            }
            (None, _) if self.concat => Sources::One(0),
            (None, Some(input)) => Sources::One(input),
            (None, None) => {
                inputs = merged.inputs();
                Sources::Each(&inputs)
            }
        };
        let marks = self.clock.stamp(&merged.times, sources, &merged.positions);
        let batch = EventBatch {
            rows: merged.rows.clone(),
            times: merged.times.clone(),
            marks,
            last_mark: self.clock.mark(),
            positions: merged.positions.clone(),
            selected: merged.selected.clone(),
        };
        self.operator.on_batch(&batch, &mut self.outputs.of(merged))?;
        self.let_see()?;
        self.account.state(self.operator.state());
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

    /// Some columns became wider with a record: state and output follow.
    fn retype(&mut self, types: &[FieldType], input: usize, record: u64) -> Result<()> {
        self.account.widened(&self.fields, types, input, record);
        self.fields.iter_mut().zip(types).for_each(|(column, ty)| column.ty = *ty);
        let before = self.operator.schema();
        self.operator.retype(&self.program.column_types(types)?)?;
        let after = self.operator.schema();
        if before != after { self.outputs.schema_changed(&after) } else { Ok(()) }
    }

    fn tell(&self, progress: &Progress, traffic: &Traffic) {
        progress.bytes.store(traffic.read.load(Relaxed), Relaxed);
        progress.records.store(self.account.read(), Relaxed);
        progress.watermark.store(self.clock.mark().ts().micros(), Relaxed);
        progress.open.store(self.account.open_windows(), Relaxed);
        progress.late.store(self.outputs.late_count(), Relaxed);
    }

    /// Makes the outputs appear and gives the account.
    fn finish(self, given: &Given, summary_file: Option<&Path>, started: Instant) -> Result<crate::report::Summary> {
        let mut summary =
            self.account.summary(&self.clock, self.operator.tally(), &self.fields, self.program.partition_field());
        self.outputs.fill(&mut summary);
        let total = summary.total();
        self.outputs.check_bad(total.bad, total.read)?;
        summary.elapsed = started.elapsed().as_secs_f64();
        let json = summary_file.map(|path| (path, summary.to_json(given)));
        self.outputs.commit(json)?;
        Ok(summary)
    }
}

fn types_of(fields: &[Column]) -> Vec<FieldType> {
    fields.iter().map(|field| field.ty).collect()
}

fn bounded(late: Option<Bound>, bad: Option<Bound>) -> bool {
    late.is_some() || bad.is_some()
}
