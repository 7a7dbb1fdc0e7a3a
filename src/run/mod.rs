//! THE LOOP, for each kind of job: inputs -> clock -> operator -> outputs, and the account of it.
//!
//! Must not know names of formats, windows or flags: what differs between kinds was decided before. Outputs appear
//! together at the end, or not at all.

mod ledger;
mod one;
mod outputs;
mod results;
mod side;
mod side_files;
mod ticker;

use crate::bind::{self, Windowing};
use crate::error::Result;
use crate::event::Side;
use crate::input::{self, Prepared, Traffic};
use crate::output::{self, SideFile};
use crate::plan::{BadPlan, DedupPlan, InputPath, InputPlan, JoinPlan, LookupPlan, Mode, OutputPlan, Plan, ReportPlan};
use crate::report::{Given, Progress, Reporter};
use crate::schema::FieldPath;
use crate::time::Span;
use crate::window::Grouping;
use one::{One, Seen, Stream};
use outputs::{Outputs, Records, Target};
use results::Results;
use side::Ready;
use side_files::{SideFiles, SideInputs};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Carries out a window job. What people should see goes through `reporter`.
pub fn window(plan: Plan, reporter: &Reporter) -> Result<()> {
    let given = Given::of(&plan.clock, &plan.late, &plan.bad, plan.grouping.noun(), &plan.output.zone);
    let late = plan.late.path.as_deref();
    refuse_same_files(&[&plan.input], &plan.output, &[late], &plan.bad, &plan.report)?;
    let stream = Stream {
        input: &plan.input,
        clock: &plan.clock,
        late: &plan.late,
        duplicates: None,
        bad: &plan.bad,
        output: &plan.output,
        report: &plan.report,
        threads: plan.threads,
        trigger: plan.trigger.as_ref(),
        tables: matches!(plan.mode, Mode::Complete { .. }),
        unbounded: unbounded(&plan),
        windows: !plan.is_session(),
        verbatim: false,
        matter: bind::matter(&plan),
    };
    watched(reporter, &given, &plan.output, |seen| {
        let windowing = Windowing::of(&plan);
        let ready = Ready::open(&plan.input, &plan.bad, Arc::clone(&windowing.program), seen.traffic)?;
        let types = ready.types()?;
        windowing.check(&plan, &types, &ready.inputs)?;
        let operator = windowing.operator(&plan, types)?;
        let files = side_files(&stream, &ready)?;
        let outputs = Outputs::new(stream.rows_target(operator.as_ref())?, files, stream.windows);
        one::carry_out(One { stream, ready, operator, outputs, before: Vec::new() }, seen)
    })
}

/// Does something under the eyes of whoever looks at the terminal.
fn watched(
    reporter: &Reporter,
    given: &Given,
    output: &OutputPlan,
    carry_out: impl FnOnce(&Seen<'_>) -> Result<()>,
) -> Result<()> {
    let started = Instant::now();
    let progress = Arc::new(Progress::default());
    let watch = reporter.watch(&progress, given, output.width.is_some());
    let traffic = &Traffic::default();
    carry_out(&Seen { reporter, given, progress: &progress, traffic, started, watch: Some(watch).into() })
}

/// The side files of a job with one side.
fn side_files(stream: &Stream<'_>, ready: &Ready) -> Result<SideFiles> {
    let delay = stream.clock.delay.unwrap_or(Span::ZERO);
    let side = SideInputs { plan: stream.input, inputs: &ready.inputs, late: stream.late, delay };
    SideFiles::open(&[side], stream.bad, stream.duplicates)
}

/// An output on top of an input, or of another output, is refused before anything is opened.
fn refuse_same_files(
    inputs: &[&InputPlan],
    output: &OutputPlan,
    kept: &[Option<&Path>],
    bad: &BadPlan,
    report: &ReportPlan,
) -> Result<()> {
    let side = kept.iter().copied().chain([bad.path.as_deref(), report.summary.as_deref()]).flatten().map(Some);
    let outputs: Vec<Option<&Path>> = std::iter::once(output.path.as_deref()).chain(side).collect();
    let inputs: Vec<Option<&Path>> = inputs.iter().flat_map(|input| &input.paths).map(InputPath::path).collect();
    output::refuse_same_files(&outputs, &inputs)
}

/// Why the state of a job may grow with its input, if it may (SPEC section 1.3).
fn unbounded(plan: &Plan) -> Option<&'static str> {
    match (&plan.grouping, plan.mode) {
        (Grouping::Global { purge: false }, _) => Some("--global keeps every key"),
        (Grouping::Global { .. } | Grouping::Count(_), Mode::Append | Mode::Update { .. }) => {
            Some("every key has a window that waits for more records")
        }
        (_, Mode::Complete { keep: None }) => Some("--mode complete keeps every window; --keep bounds it"),
        _ if plan.clock.delay.is_none() => Some("without --delay every window waits for the end of the input"),
        _ if plan.finish.fill.is_some() => Some("--fill remembers every key"),
        _ => None,
    }
}
