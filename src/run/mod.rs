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
mod table;
mod ticker;
mod two;

use crate::bind::{self, Deduping, Joining, LookingUp, Names, Program, Windowing};
use crate::error::Result;
use crate::event::Side;
use crate::input::{self, Prepared, Streams, Traffic};
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
    let windowing = Windowing::of(&plan);
    windowing.check_unread(&plan)?;
    watched(reporter, &given, &plan.output, |seen| {
        let ready = Ready::open(&plan.input, &plan.bad, Arc::clone(&windowing.program), seen.traffic)?;
        let types = ready.types()?;
        windowing.check(&plan, &types, &ready.inputs)?;
        let operator = windowing.operator(&plan, types)?;
        let files = side_files(&stream, &ready)?;
        let outputs =
            Outputs::new(stream.rows_target(operator.as_ref())?, files, stream.windows, stream.stops_when_full());
        one::carry_out(One { stream, ready, operator, outputs, before: None }, seen)
    })
}

/// Carries out a dedup job.
pub fn dedup(plan: DedupPlan, reporter: &Reporter) -> Result<()> {
    let side = &plan.events;
    let given = Given::of(&side.clock, &side.late, &plan.bad, "row", &plan.output.zone);
    let kept = [side.late.path.as_deref(), plan.duplicates.as_deref()];
    refuse_same_files(&[&side.input], &plan.output, &kept, &plan.bad, &plan.report)?;
    watched(reporter, &given, &plan.output, |seen| {
        let mut inputs = input::prepare(&side.input, Streams::open(&side.input)?, &[], seen.traffic)?;
        let as_they_stand = side_files::side_inputs(&side.input, &inputs);
        let verbatim = inputs.iter().all(|input| input.format.name == plan.output.format.name)
            && SideFile::can_share(&as_they_stand);
        let text = inputs.iter().all(|input| input.schema.is_none());
        let deduping = Deduping::of(&plan, &field_names(&side.input, &inputs).all, verbatim, text);
        sample_again(&mut inputs, &deduping.program)?;
        let ready = Ready::of(inputs, &plan.bad, Arc::clone(&deduping.program))?;
        let operator = Box::new(deduping.operator(&plan, ready.types()?)?);
        let stream = Stream {
            duplicates: plan.duplicates.as_deref(),
            unbounded: remembered(&plan),
            verbatim,
            ..Stream::of(side, &plan.bad, &plan.output, &plan.report, plan.threads)
        };
        let files = side_files(&stream, &ready)?;
        let target = match verbatim {
            false => stream.rows_target(operator.as_ref())?,
            true => Target::Records(Records {
                file: SideFile::for_all(plan.output.path.as_deref(), &as_they_stand)?,
                limit: plan.output.limit.unwrap_or(u64::MAX),
            }),
        };
        let outputs = Outputs::new(target, files, false, stream.stops_when_full());
        one::carry_out(One { stream, ready, operator, outputs, before: None }, seen)
    })
}

/// Carries out a lookup job: the table is read to its end, then the events go by.
pub fn lookup(plan: LookupPlan, reporter: &Reporter) -> Result<()> {
    let side = &plan.events;
    let given = Given::of(&side.clock, &side.late, &plan.bad, "row", &plan.output.zone);
    refuse_same_files(&[&side.input, &plan.table], &plan.output, &[], &plan.bad, &plan.report)?;
    watched(reporter, &given, &plan.output, |seen| {
        let [mut events, mut table] = prepare_both([&side.input, &plan.table], seen.traffic)?;
        let looking_up = LookingUp::of(&plan, [&field_names(&side.input, &events), &field_names(&plan.table, &table)])?;
        let [program, of_table] = &looking_up.programs;
        sample_again(&mut events, program)?;
        sample_again(&mut table, of_table)?;
        let mut ready = Ready::of(events, &plan.bad, Arc::clone(program))?.of_two();
        let mut table = Ready::of(table, &plan.bad, Arc::clone(of_table))?.of_two();
        looking_up.agree([ready.key_side(), table.key_side()])?;
        looking_up.check_table(&table.types()?)?;
        let of = |plan, inputs, table| SideInputs { plan, inputs, late: &side.late, delay: Span::ZERO, table };
        let both = [of(&side.input, &ready.inputs, false), of(&plan.table, &table.inputs, true)];
        let mut files = SideFiles::open(&both, &plan.bad, None)?;
        let table = table::read(&plan, table, &mut files, seen)?;
        let operator = looking_up.operator(&plan, ready.types()?, table.types, table.rows)?;
        let stream = Stream::of(side, &plan.bad, &plan.output, &plan.report, plan.threads);
        let operator = Box::new(operator);
        let outputs = Outputs::new(stream.rows_target(operator.as_ref())?, files, false, stream.stops_when_full());
        one::carry_out(One { stream, ready, operator, outputs, before: Some(table.account) }, seen)
    })
}

/// Carries out a join.
pub fn join(plan: JoinPlan, reporter: &Reporter) -> Result<()> {
    let [left, right] = &plan.sides;
    let window = if plan.bounds.has_windows() { "window" } else { "row" };
    let given = Given::of(&left.clock, &left.late, &plan.bad, window, &plan.output.zone);
    let given = given.of_sides([&left.late, &right.late]);
    let late = if left.late.path == right.late.path {
        [None, right.late.path.as_deref()]
    } else {
        [left.late.path.as_deref(), right.late.path.as_deref()]
    };
    refuse_same_files(&[&left.input, &right.input], &plan.output, &late, &plan.bad, &plan.report)?;
    watched(reporter, &given, &plan.output, |seen| {
        let mut inputs = prepare_both([&left.input, &right.input], seen.traffic)?;
        let joining =
            Joining::of(&plan, [&field_names(&left.input, &inputs[0]), &field_names(&right.input, &inputs[1])])?;
        sample_again(&mut inputs[0], &joining.programs[0])?;
        sample_again(&mut inputs[1], &joining.programs[1])?;
        let [of_left, of_right] = inputs;
        let mut ready = [
            Ready::of(of_left, &plan.bad, Arc::clone(&joining.programs[0]))?.of_two(),
            Ready::of(of_right, &plan.bad, Arc::clone(&joining.programs[1]))?.of_two(),
        ];
        let [left_side, right_side] = &mut ready;
        joining.agree([left_side.key_side(), right_side.key_side()])?;
        let operator = joining.operator(&plan, [ready[0].types()?, ready[1].types()?])?;
        let sides = Side::BOTH.map(|side| {
            let side_plan = &plan.sides[side.index()];
            let delay = side_plan.clock.delay.unwrap_or(Span::ZERO);
            SideInputs {
                plan: &side_plan.input,
                inputs: &ready[side.index()].inputs,
                late: &side_plan.late,
                delay,
                table: false,
            }
        });
        let files = SideFiles::open(&sides, &plan.bad, None)?;
        let results = Results::open(&plan.output, &operator.schema(), plan.threads > 1, false)?;
        let stops = one::stops_when_full(&[&left.late, &right.late], &plan.bad, &plan.report);
        let outputs = Outputs::new(Target::Rows(Box::new(results)), files, plan.bounds.has_windows(), stops);
        two::carry_out(&plan, ready, operator, outputs, seen)
    })
}

/// The top-level fields of all inputs, in the order in which they appear, then those that are only declared.
fn field_names(plan: &InputPlan, inputs: &[Prepared]) -> Names {
    let mut names: Vec<FieldPath> = Vec::new();
    // What was added to late records is ignored when they are read again.
    let is_detail = |path: &FieldPath| output::DETAIL_NAMES.contains(&path.name().as_str());
    let declared = plan.declared.iter().map(|(path, _)| path.clone()).filter(|path| path.parts().len() == 1);
    for name in inputs.iter().flat_map(Prepared::field_names).chain(declared) {
        if !names.contains(&name) && !is_detail(&name) {
            names.push(name);
        }
    }
    let fixed = names.iter().filter(|name| inputs.iter().all(|input| input.is_fixed(name))).cloned().collect();
    Names { all: names, fixed }
}

/// Looks at the inputs of two sides. Pipes of both are open before the first is waited for.
fn prepare_both(plans: [&InputPlan; 2], traffic: &Traffic) -> Result<[Vec<Prepared>; 2]> {
    let (left, right) = (Streams::open(plans[0])?, Streams::open(plans[1])?);
    Ok([input::prepare(plans[0], left, &[], traffic)?, input::prepare(plans[1], right, &[], traffic)?])
}

/// Looks at the first records again, for the fields of a program that was made of what the first look showed.
fn sample_again(inputs: &mut [Prepared], program: &Program) -> Result<()> {
    inputs.iter_mut().try_for_each(|input| input.sample_again(&program.fields))
}

/// Why the keys of a dedup may grow with its input, if they may.
fn remembered(plan: &DedupPlan) -> Option<&'static str> {
    match (plan.within, plan.events.clock.delay) {
        (None, _) => Some("without --within every key is remembered"),
        (Some(_), None) => Some("without --delay keys are remembered to the end of the input"),
        (Some(_), Some(_)) => None,
    }
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
    let side = SideInputs { plan: stream.input, inputs: &ready.inputs, late: stream.late, delay, table: false };
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
