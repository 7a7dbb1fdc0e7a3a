//! Names to columns: which fields a job reads, of what types, what is computed of them, and the operator that works on
//! the result.
//!
//! Happens between looking at the inputs and reading them, so every error that depends on names and types alone is
//! found here. Must not know formats by name, or how anything is read.
//!
//! There are two sets of columns. A decoder makes one for each *field* of [`Program::fields`]. Of these the job's
//! *columns* are computed, piece by piece: the event time first, then one for each different expression. A job of plain
//! fields has nothing to compute: its columns are its fields.

mod check;
mod derive;
mod open;

use crate::error::{Error, Result};
use crate::expr::{Bound, Scalar, Scope, Use};
use crate::format::Derive;
use crate::input::Prepared;
use crate::operator::{Aggregates, CallOver, Called, Finish, Operator, Range, Sessions, Setup, Updating, Windowed};
use crate::plan::{Mode, Plan, Trigger};
use crate::report::Unseen;
use crate::schema::{Column, FieldPath, FieldType, Layout, Role, Wanted};
use crate::time::{TimeFormat, TimeReader, Ts, Zone};
use crate::window::Grouping;
use derive::Derivation;
use open::OpenFields;
use std::sync::Arc;

/// Columns that tell where a record stands.
const FILE: &str = "_file";
const LINE: &str = "_line";

/// Flags that messages name.
const TIME: &str = "--time";
const WHERE: &str = "--where";
const AGG: &str = "--agg";
const OVER_RESULTS: Called = Called { outputs: AGG, having: "--having", order: "--order-by", when: "--trigger when" };

/// What a job computes of every record, before the inputs are known.
pub struct Program {
    /// The fields it reads. The event time is the first, unless it is computed.
    pub fields: Vec<Wanted>,
    time: Scalar,
    columns: Vec<Computation>,
    filter: Option<usize>,
    keys: Vec<usize>,
    arguments: Vec<Vec<usize>>,
    filters: Vec<Option<usize>>,
    partition: Option<usize>,
    zone: Zone,
}

/// A column of the job.
#[derive(Clone, PartialEq)]
struct Computation {
    expr: Scalar,
    /// What it is for: a field alone is read in this role.
    role: Role,
    /// The flag that first asked for it, for messages.
    flag: &'static str,
}

/// A program over fields of known types.
pub(crate) struct BoundProgram {
    /// The event time, if it is not the first field.
    time: Option<Bound>,
    /// The columns behind the event time.
    columns: Vec<Bound>,
}

impl Program {
    /// What the job computes.
    pub fn of(plan: &Plan) -> Self {
        let time = plan.input.time.clone().unwrap_or_else(|| Scalar::field(FieldPath::new(vec![String::new()])));
        let mut columns = Columns { time: time.as_field().cloned(), all: Vec::new() };
        let filter = plan.filter.as_ref().map(|filter| columns.want(filter, Role::Value, WHERE));
        let keys = plan.keys.iter().map(|key| columns.want(&key.expr, Role::Key, "--by")).collect();
        let calls = plan.selection.calls.iter();
        let arguments = calls.clone().map(|call| {
            let each = call.arguments.iter().enumerate();
            each.map(|(place, argument)| columns.want(argument, role_of(call, place), AGG)).collect()
        });
        let arguments = arguments.collect();
        let filters =
            calls.map(|call| call.filter.as_ref().map(|filter| columns.want(filter, Role::Value, AGG))).collect();
        let partition =
            plan.clock.by.clone().map(|path| columns.want(&Scalar::field(path), Role::Key, "--watermark-by"));
        let mut program = Self {
            fields: Vec::new(),
            time,
            columns: columns.all,
            filter,
            keys,
            arguments,
            filters,
            partition,
            zone: plan.output.zone.clone(),
        };
        program.fields = program.wanted(plan);
        program
    }

    /// Every field and role once.
    fn wanted(&self, plan: &Plan) -> Vec<Wanted> {
        let mut fields: Vec<Wanted> = Vec::new();
        let mut want = |path: &FieldPath, role: Role| {
            let known = fields.iter().any(|w| w.path == *path && (w.role == role || w.role == Role::Time));
            if known || is_origin(path) {
                return;
            }
            let declared = plan.input.declared.iter().find(|(p, _)| p == path).map(|(_, ty)| *ty);
            let declared = declared.filter(|_| role != Role::Time);
            fields.push(Wanted { path: path.clone(), role, declared });
        };
        match self.time.as_field() {
            Some(path) => want(path, Role::Time),
            None => self.time.fields().into_iter().for_each(|(path, used)| want(path, role_in(used))),
        }
        for Computation { expr, role, .. } in &self.columns {
            match expr.as_field() {
                Some(path) => want(path, *role),
                None => expr.fields().into_iter().for_each(|(path, used)| want(path, role_in(used))),
            }
        }
        fields
    }

    /// Whether the job's columns are its fields as they are.
    fn is_plain(&self) -> bool {
        let fields = self.columns.iter().all(|c| c.expr.as_field().is_some_and(|path| !is_origin(path)));
        fields && self.filter.is_none() && self.time.as_field().is_some()
    }

    fn needs_places(&self) -> bool {
        self.reads(LINE)
    }

    fn names_file(&self) -> bool {
        self.reads(FILE)
    }

    fn reads(&self, name: &str) -> bool {
        let all = self.columns.iter().map(|column| &column.expr).chain([&self.time]);
        all.flat_map(|expr| expr.fields()).any(|(path, _)| is_named(path, name))
    }

    /// The column whose values are the partitions.
    pub fn partition(&self) -> Option<usize> {
        self.partition
    }

    /// The field whose values are the partitions.
    pub fn partition_field(&self) -> Option<usize> {
        let path = self.columns.get(self.partition?.checked_sub(1)?)?.expr.as_field()?;
        self.fields.iter().position(|field| field.path == *path && field.role == Role::Key)
    }

    /// The fields as columns, typed over all inputs alike.
    pub fn columns(&self, inputs: &[Prepared]) -> Vec<Column> {
        let known = self.fields.iter().enumerate().map(|(i, wanted)| {
            let seen = inputs.iter().filter_map(|input| input.sample.types.get(i).copied().flatten());
            let time = (wanted.role == Role::Time).then_some(FieldType::Time);
            time.or(wanted.declared).or_else(|| seen.reduce(FieldType::unify))
        });
        let types = self.by_use(known.collect());
        let column = |(wanted, ty): (&Wanted, Option<FieldType>)| Column {
            path: wanted.path.clone(),
            role: wanted.role,
            ty: ty.unwrap_or(FieldType::Text),
            declared: wanted.declared.is_some(),
        };
        self.fields.iter().zip(types).map(column).collect()
    }

    /// The types with those of fields that no sampled record has, as far as their use tells. One may tell another's.
    fn by_use(&self, mut types: Vec<Option<FieldType>>) -> Vec<Option<FieldType>> {
        while types.contains(&None) {
            let mut fields = OpenFields::new(&self.fields, &types);
            // What cannot be is refused when types are known.
            let _ = self.time.check(&fields, &self.zone, None);
            for (i, column) in self.columns.iter().enumerate() {
                fields = fields.in_role(column.role);
                let _ = column.expr.check(&fields, &self.zone, self.taken_as(i + 1));
            }
            match fields.more() {
                Some(more) => types = more,
                None => break,
            }
        }
        types
    }

    /// What a column must be, if that is known.
    fn taken_as(&self, column: usize) -> Option<FieldType> {
        match self.columns.get(column.checked_sub(1)?)?.role {
            _ if self.is_condition(column) => Some(FieldType::Bool),
            Role::Number => Some(FieldType::Int),
            _ => None,
        }
    }

    /// Whether a column says which rows count.
    fn is_condition(&self, column: usize) -> bool {
        self.filter == Some(column) || self.filters.contains(&Some(column))
    }

    /// Checks what no input is needed for: what fails whatever the fields are, and names of results.
    pub fn check_unread(&self, plan: &Plan) -> Result<()> {
        let types = vec![None; self.fields.len()];
        let mut fields = OpenFields::new(&self.fields, &types);
        self.time.check(&fields, &self.zone, None).map_err(|e| e.at(TIME))?;
        for (i, column) in self.columns.iter().enumerate() {
            fields = fields.in_role(column.role);
            let condition = self.is_condition(i + 1).then_some(FieldType::Bool);
            column.expr.check(&fields, &self.zone, condition).map_err(|e| e.at(column.flag))?;
        }
        self.finish(plan).check()
    }

    /// Each input's layout.
    pub fn layouts(&self, plan: &Plan, columns: &[Column], inputs: &[Prepared], keep_raw: bool) -> Vec<Arc<Layout>> {
        let keep_raw = keep_raw || self.needs_places();
        let time = self.time.as_field().map(|_| 0);
        let each = inputs.iter().map(|input| {
            let mut time_reader = TimeReader::new(plan.input.time_format.clone(), plan.input.zone.clone());
            time_reader.unit = time_reader.unit.or(input.sample.time_unit);
            Arc::new(Layout { columns: columns.to_vec(), time, time_reader, keep_raw })
        });
        each.collect()
    }

    /// What computes the columns of each input; nothing where the fields are the columns.
    pub fn derivations(self: &Arc<Self>, inputs: &[Prepared]) -> Vec<Option<Arc<dyn Derive>>> {
        let of = |input: &Prepared| -> Option<Arc<dyn Derive>> {
            (!self.is_plain())
                .then(|| Arc::new(Derivation::new(Arc::clone(self), input.name.clone())) as Arc<dyn Derive>)
        };
        inputs.iter().map(of).collect()
    }

    /// Finds columns and types, given those of the fields.
    pub(crate) fn bind(&self, fields: &[(FieldPath, Role, FieldType)]) -> Result<BoundProgram> {
        let scope = |role: Role| Fields { fields, role };
        let time = match self.time.as_field() {
            Some(_) => None,
            None => Some(self.time.bind(&scope(Role::Value), &self.zone).map_err(|e| e.at(TIME))?),
        };
        let columns = self.columns.iter().enumerate().map(|(i, column)| {
            let bound = match self.is_condition(i + 1) {
                true => column.expr.bind_condition(&scope(column.role), &self.zone),
                false => column.expr.bind(&scope(column.role), &self.zone),
            };
            bound.map_err(|e| e.at(column.flag))
        });
        let columns = columns.collect::<Result<_>>()?;
        Ok(BoundProgram { time, columns })
    }

    /// The fields with other types.
    pub(crate) fn typed(&self, types: &[FieldType]) -> Vec<(FieldPath, Role, FieldType)> {
        self.fields.iter().zip(types).map(|(field, ty)| (field.path.clone(), field.role, *ty)).collect()
    }

    /// The types of the job's columns, given those of the fields. The event time is the first.
    pub fn column_types(&self, fields: &[FieldType]) -> Result<Vec<FieldType>> {
        let bound = self.bind(&self.typed(fields))?;
        let types = std::iter::once(FieldType::Time).chain(bound.columns.iter().map(Bound::ty)).collect::<Vec<_>>();
        Ok(types)
    }

    /// Checks what can be known before reading: that fields exist where an input lists them all, and that functions
    /// get what they take. Fields that only might be missing are told.
    pub fn check(&self, plan: &Plan, columns: &[Column], inputs: &[Prepared]) -> Result<Vec<Unseen>> {
        let text = |field: &FieldPath| self.columns.iter().find_map(|column| column.expr.as_text(field));
        let unseen = check::fields(&self.fields, plan, inputs, text, |field| name_of_result(plan, field))?;
        let types: Vec<FieldType> = columns.iter().map(|column| column.ty).collect();
        let bound = self.bind(&self.typed(&types)).map_err(|error| with_nulls(error, inputs))?;
        if let Some(time) = bound.time.as_ref().filter(|time| time.ty() == FieldType::Bool) {
            return Err(Error::usage(format!(
                "{TIME}: expected a time, text or a number, found a {}",
                time.ty().name()
            )));
        }
        let types = self.column_types(&types)?;
        self.check_arguments(plan, &types, inputs)?;
        Ok(unseen)
    }

    fn check_arguments(&self, plan: &Plan, types: &[FieldType], inputs: &[Prepared]) -> Result<()> {
        for (call, columns) in plan.selection.calls.iter().zip(&self.arguments) {
            for (place, (argument, &column)) in call.arguments.iter().zip(columns).enumerate() {
                let (shown, ty) = (argument.shown(), types[column]);
                call.kind.check(place, &shown, ty).map_err(|what| {
                    let error = Error::failed(what);
                    match (ty, argument.as_field()) {
                        (FieldType::Text, Some(path)) if path.inside().is_empty() => {
                            let field = check::typed(&path.name());
                            let hint = format!("--schema '{field} double' reads it as a number");
                            with_nulls(error.hint(hint), inputs)
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

    /// What the rows of windows go through.
    fn finish(&self, plan: &Plan) -> Finish {
        let names = plan.keys.iter().map(|key| key.name.clone()).collect();
        let when = match &plan.trigger {
            Some(Trigger::When(condition)) => Some(condition.clone()),
            _ => None,
        };
        Finish::new(names, plan.selection.clone(), plan.finish.clone(), when, self.zone.clone()).called(OVER_RESULTS)
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
            finish: self.finish(plan),
        };
        Ok(match (&plan.grouping, plan.mode) {
            (Grouping::Windows(windower), Mode::Append) => Box::new(Windowed::new(Arc::clone(windower), setup)?),
            (Grouping::Session { gap }, Mode::Append) => Box::new(Sessions::new(*gap, setup)?),
            (grouping, mode) => Box::new(Updating::of(grouping, mode, plan.trigger.as_ref(), setup)?),
        })
    }
}

/// The error about a text that should be something else: a column may be text for what stands for nothing in it.
fn with_nulls(error: Error, inputs: &[Prepared]) -> Error {
    let in_columns = inputs.iter().any(|input| !input.header.is_empty());
    match error.hint_text().filter(|hint| in_columns && ["TRY_CAST(", "--schema "].iter().any(|s| hint.starts_with(s)))
    {
        Some(hint) => {
            let hint = format!("{hint}; texts that mean nothing: --null NA");
            error.hint(hint)
        }
        None => error,
    }
}

/// What to say of a field that no input has, if its name is one that rows of the result have.
fn name_of_result(plan: &Plan, field: &FieldPath) -> Option<String> {
    let name = field.name();
    if ["window_start", "window_end", "window_seconds"].contains(&name.as_str()) {
        return Some(format!(
            "{name} is known after aggregation only: in --having and --order-by, and outside of calls in {AGG}"
        ));
    }
    if let Some(key) = plan.keys.iter().find(|key| key.name == name && key.expr.as_field() != Some(field)) {
        return Some(format!(
            "{name} is a key of the result and no field: over records, write {} itself",
            key.expr.shown()
        ));
    }
    let output = plan.selection.outputs.iter().find(|output| output.name == name)?;
    Some(format!("{name} is known after aggregation only, as {}: --having asks for it", output.expr.shown()))
}

/// The columns of a job as they are asked for.
struct Columns {
    time: Option<FieldPath>,
    all: Vec<Computation>,
}

impl Columns {
    /// The index of a column, behind the event time.
    fn want(&mut self, expr: &Scalar, role: Role, flag: &'static str) -> usize {
        if self.time.is_some() && expr.as_field() == self.time.as_ref() {
            return 0;
        }
        let at = self.all.iter().position(|known| same(known, expr, role));
        at.unwrap_or_else(|| {
            self.all.push(Computation { expr: expr.clone(), role, flag });
            self.all.len() - 1
        }) + 1
    }
}

/// Whether a column is what is asked for, wherever it was typed.
fn same(known: &Computation, expr: &Scalar, role: Role) -> bool {
    match (known.expr.as_field(), expr.as_field()) {
        (Some(a), Some(b)) => a == b && known.role == role,
        (None, None) => known.expr == *expr,
        _ => false,
    }
}

fn role_of(call: &crate::expr::Call, place: usize) -> Role {
    match call.kind.takes.get(place) {
        Some(crate::aggregate::Takes::Number | crate::aggregate::Takes::Measure) => Role::Number,
        _ => Role::Value,
    }
}

fn role_in(used: Use) -> Role {
    match used {
        Use::Value => Role::Value,
        Use::Number => Role::Number,
    }
}

fn is_named(path: &FieldPath, name: &str) -> bool {
    path.inside().is_empty() && path.parts() == [name]
}

/// Whether it tells where a record stands.
fn is_origin(path: &FieldPath) -> bool {
    is_named(path, FILE) || is_named(path, LINE)
}

/// Where a field is among others: in this role if it is there, else in any but that of a key.
fn position<'a>(
    fields: impl Iterator<Item = (&'a FieldPath, Role)> + Clone,
    path: &FieldPath,
    wanted: Role,
) -> Result<usize> {
    let named = || fields.clone().enumerate().filter(|(_, (known, _))| *known == path);
    let exact = named().find(|(_, (_, role))| *role == wanted || *role == Role::Time);
    let found = exact.or_else(|| named().find(|(_, (_, role))| *role != Role::Key));
    found.map(|(index, _)| index).ok_or_else(|| Error::failed(format!("no field \"{path}\" was asked for")))
}

/// What names of fields stand for: the columns of the layout, and behind them the file's name and the line.
struct Fields<'a> {
    fields: &'a [(FieldPath, Role, FieldType)],
    /// The role in which a field is read that stands alone.
    role: Role,
}

impl Scope for Fields<'_> {
    fn field(&self, path: &FieldPath) -> Result<(usize, FieldType)> {
        if is_named(path, FILE) {
            return Ok((self.fields.len(), FieldType::Text));
        }
        if is_named(path, LINE) {
            return Ok((self.fields.len() + 1, FieldType::Int));
        }
        let index = position(self.fields.iter().map(|(path, role, _)| (path, *role)), path, self.role)?;
        Ok((index, self.fields[index].2))
    }

    fn aggregate(&self, _: usize) -> Result<(usize, FieldType)> {
        Err(Error::usage("an aggregate cannot stand here"))
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

/// Whether a reader guesses a unit, so that the summary should tell it.
pub fn guesses_unit(plan: &Plan) -> bool {
    plan.input.time_format == TimeFormat::Auto
}
