//! Names to columns of `windrow window`: conditions, keys and arguments of aggregates, and the operator over them.
//!
//! Must not know how columns are computed; that is [`Program`](super::Program)'s.

use super::{Asking, Program, check};
use crate::aggregate::Takes;
use crate::error::{Error, Result};
use crate::expr::{Call, Scalar};
use crate::input::Prepared;
use crate::operator::{Aggregates, CallOver, Called, Finish, Operator, Range, Sessions, Setup, Updating, Windowed};
use crate::plan::{Mode, Plan, Trigger};
use crate::schema::{FieldType, Role};
use crate::time::Ts;
use crate::window::Grouping;
use std::sync::Arc;

/// Flags that messages name.
const WHERE: &str = "--where";
const AGG: &str = "--agg";
const OVER_RESULTS: Called = Called { outputs: AGG, having: "--having", order: "--order-by", when: "--trigger when" };

/// A window job's columns, and what each is for.
pub struct Windowing {
    /// What is computed of every record.
    pub program: Arc<Program>,
    keys: Vec<usize>,
    arguments: Vec<Vec<usize>>,
    filters: Vec<Option<usize>>,
}

impl Windowing {
    /// What a plan asks for.
    pub fn of(plan: &Plan) -> Self {
        let mut asking = Asking::of(&plan.input, super::time_of(&plan.input));
        asking.select(plan.filter.as_ref(), WHERE);
        let keys = plan.keys.iter().map(|key| asking.want(&key.expr, Role::Key, "--by")).collect();
        let calls = plan.selection.calls.iter();
        let arguments = calls.clone().map(|call| {
            let each = call.arguments.iter().enumerate();
            each.map(|(place, argument)| asking.want(argument, role_of(call, place), AGG)).collect()
        });
        let arguments = arguments.collect();
        let filters = calls.map(|call| call.filter.as_ref().map(|filter| asking.condition(filter, AGG))).collect();
        asking.partition(plan.clock.by.as_ref());
        results(plan, &mut asking);
        Self { program: Arc::new(asking.program(&plan.output.zone)), keys, arguments, filters }
    }

    /// Checks what no input is needed for: what fails whatever the fields are, and names of results.
    pub fn check_unread(&self, plan: &Plan) -> Result<()> {
        self.program.check_unread()?;
        finish(plan).check()
    }

    /// Checks that functions get what they take, given the types of the columns.
    pub fn check(&self, plan: &Plan, types: &[FieldType], inputs: &[Prepared]) -> Result<()> {
        for (call, columns) in plan.selection.calls.iter().zip(&self.arguments) {
            for (place, (argument, &column)) in call.arguments.iter().zip(columns).enumerate() {
                let (shown, ty) = (argument.shown(), types[column]);
                call.kind.check(place, &shown, ty).map_err(|what| {
                    let error = Error::failed(what);
                    match (ty, argument.as_field()) {
                        (FieldType::Text, Some(path)) if path.inside().is_empty() => {
                            let field = check::typed(&path.name());
                            let hint = format!("--schema '{field} double' reads it as a number");
                            super::with_nulls(error.hint(hint), inputs)
                        }
                        (FieldType::Text, _) => {
                            error.hint(format!("TRY_CAST({shown} AS double) makes a number of what reads as one"))
                        }
                        _ => error,
                    }
                })?;
            }
        }
        Ok(())
    }

    /// The operator of the job, over columns of these types.
    pub fn operator(&self, plan: &Plan, types: Vec<FieldType>) -> Result<Box<dyn Operator>> {
        let mut aggregates = Aggregates::default();
        let calls = plan.selection.calls.iter().zip(&self.arguments).zip(&self.filters);
        for ((call, columns), filter) in calls {
            let field = call.arguments.first().map(Scalar::shown).unwrap_or_default();
            let columns = columns.iter().map(|&column| (column, types[column])).collect();
            aggregates.add(CallOver { call, columns, filter: *filter, field });
        }
        let setup = Setup {
            range: Range { since: plan.since.unwrap_or(Ts::MIN), until: plan.until.unwrap_or(Ts::MAX) },
            types,
            keys: self.keys.clone(),
            aggregates,
            fill: plan.finish.fill,
            finish: finish(plan),
        };
        Ok(match (&plan.grouping, plan.mode) {
            (Grouping::Windows(windower), Mode::Append) => Box::new(Windowed::new(Arc::clone(windower), setup)?),
            (Grouping::Session { gap }, Mode::Append) => Box::new(Sessions::new(*gap, setup)?),
            (grouping, mode) => Box::new(Updating::of(grouping, mode, plan.trigger.as_ref(), setup)?),
        })
    }
}

/// What the rows of windows go through.
fn finish(plan: &Plan) -> Finish {
    let names = plan.keys.iter().map(|key| key.name.clone()).collect();
    let when = match &plan.trigger {
        Some(Trigger::When(condition)) => Some(condition.clone()),
        _ => None,
    };
    let finish = Finish::new(names, plan.selection.clone(), plan.finish.clone(), when, plan.output.zone.clone());
    finish.called(OVER_RESULTS)
}

/// The names that rows of the result have and records have not.
fn results(plan: &Plan, asking: &mut Asking<'_>) {
    for name in ["window_start", "window_end", "window_seconds"] {
        let places = format!("in --having and --order-by, and outside of calls in {AGG}");
        asking.result(name, format!("{name} is known after aggregation only: {places}"));
    }
    for key in plan.keys.iter().filter(|key| key.expr.as_field().is_none_or(|path| path.name() != key.name)) {
        let (name, expr) = (&key.name, key.expr.shown());
        asking.result(name, format!("{name} is a key of the result and no field: over records, write {expr} itself"));
    }
    for output in &plan.selection.outputs {
        let (name, expr) = (&output.name, output.expr.shown());
        asking.result(name, format!("{name} is known after aggregation only, as {expr}: --having asks for it"));
    }
}

fn role_of(call: &Call, place: usize) -> Role {
    match call.kind.takes.get(place) {
        Some(Takes::Number | Takes::Measure) => Role::Number,
        _ => Role::Value,
    }
}

/// Event times that can matter to a window that is written: without a delay a whole stretch of input whose times all
/// lie outside need not be read. With one, every record moves the watermark.
pub fn matter(plan: &Plan) -> Option<(Ts, Ts)> {
    let Grouping::Windows(windower) = &plan.grouping else { return None };
    if plan.clock.delay.is_some() || (plan.since.is_none() && plan.until.is_none()) {
        return None;
    }
    let until = plan.until.map(|until| {
        let mut windows = Vec::new();
        windower.windows_of(Ts::from_micros(until.micros().saturating_sub(1)), &mut windows);
        windows.iter().map(|w| w.end).max().unwrap_or(Ts::MAX)
    });
    Some((plan.since.unwrap_or(Ts::MIN), until.unwrap_or(Ts::MAX)))
}
