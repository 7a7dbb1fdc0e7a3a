//! Names to columns: which fields a job reads, of what types, what is computed of them, and the operator that works on
//! the result.
//!
//! Happens between looking at the inputs and reading them, so every error that depends on names and types alone is
//! found here. Must not know formats by name, or how anything is read.
//!
//! There are two sets of columns. A decoder makes one for each *field* of [`Program::fields`]. Of these the job's
//! *columns* are computed, piece by piece: the event time first, then one for each different expression. A job of plain
//! fields has nothing to compute: its columns are its fields.

mod asking;
mod check;
mod dedup;
mod derive;
mod join;
mod keys;
mod lookup;
mod open;
mod pairs;
mod window;

pub use dedup::Deduping;
pub use join::Joining;
pub use keys::KeySide;
pub use lookup::{LookingUp, WholeTable};
pub use window::{Windowing, matter};

use crate::error::{Error, Result};
use crate::event::Side;
use crate::expr::{Bound, SIDES, Scalar, Scope, Use, side_of};
use crate::format::Derive;
use crate::input::Prepared;
use crate::plan::InputPlan;
use crate::report::Unseen;
use crate::schema::{Column, FieldPath, FieldType, Layout, Literal, Role, Wanted};
use crate::time::{TimeFormat, TimeReader, Ts, Zone};
use asking::Asking;
use derive::Derivation;
use open::OpenFields;
use std::sync::Arc;

/// Columns that tell where a record stands.
const FILE: &str = "_file";
const LINE: &str = "_line";
/// The column of a record as it stands; no field can be called that.
const RECORD: &str = "\0record";

/// A flag that messages name.
const TIME: &str = "--time";
const ON: &str = "--on";

/// What a job computes of every record, before the inputs are known.
pub struct Program {
    /// The fields it reads. The event time is the first, unless it is computed.
    pub fields: Vec<Wanted>,
    time: Scalar,
    columns: Vec<Computation>,
    filter: Option<usize>,
    /// Columns that say which rows count.
    conditions: Vec<usize>,
    partition: Option<usize>,
    /// Columns that have to be of something: keys that join, or tell duplicates.
    keyed: Vec<usize>,
    /// Names of results, and what to say where a record is asked for them.
    results: Vec<(String, String)>,
    zone: Zone,
    /// Its fields are meant to be all there are.
    names_all: bool,
    /// What names the event time of this side alone, where the other has one.
    own_time: Option<&'static str>,
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
    /// Nothing but the event time.
    fn of(time: Scalar) -> Self {
        Self {
            fields: Vec::new(),
            time,
            columns: Vec::new(),
            filter: None,
            conditions: Vec::new(),
            partition: None,
            keyed: Vec::new(),
            results: Vec::new(),
            zone: Zone::UTC,
            names_all: false,
            own_time: None,
        }
    }

    /// Every field and role once.
    fn wanted(&self, declared: &[(FieldPath, FieldType)]) -> Vec<Wanted> {
        let mut fields: Vec<Wanted> = Vec::new();
        let mut want = |path: &FieldPath, role: Role| {
            let known = fields.iter().any(|w| w.path == *path && (w.role == role || w.role == Role::Time));
            if known || is_origin(path) {
                return;
            }
            let declared = declared.iter().find(|(p, _)| p == path).map(|(_, ty)| *ty);
            // To an expression a value of any kind is a text or what it looks like.
            let declared = declared.filter(|ty| role != Role::Time && (*ty != FieldType::Json || role == Role::Whole));
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

    /// Whether all fields are meant, and none is known.
    pub fn lists_nothing(&self) -> bool {
        self.names_all && !self.fields.iter().any(|field| field.role == Role::Whole)
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
            let fixed = match wanted.role {
                Role::Time => Some(FieldType::Time),
                _ => wanted.declared,
            };
            let seen = || seen.reduce(|a, b| wanted.role.unify(a, b));
            // What is only passed on may be anything.
            fixed.or_else(seen).or((wanted.role == Role::Whole).then_some(FieldType::Json))
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
            _ if self.conditions.contains(&column) => Some(FieldType::Bool),
            Role::Number => Some(FieldType::Int),
            _ => None,
        }
    }

    /// Checks what no input is needed for: what fails whatever the fields are.
    pub fn check_unread(&self) -> Result<()> {
        let types = vec![None; self.fields.len()];
        let mut fields = OpenFields::new(&self.fields, &types);
        self.time.check(&fields, &self.zone, None).map_err(|e| e.at(TIME))?;
        for (i, column) in self.columns.iter().enumerate() {
            fields = fields.in_role(column.role);
            let condition = self.conditions.contains(&(i + 1)).then_some(FieldType::Bool);
            column.expr.check(&fields, &self.zone, condition).map_err(|e| e.at(column.flag))?;
        }
        Ok(())
    }

    /// Each input's layout.
    pub fn layouts(
        &self,
        plan: &InputPlan,
        columns: &[Column],
        inputs: &[Prepared],
        keep_raw: bool,
    ) -> Vec<Arc<Layout>> {
        let keep_raw = keep_raw || self.needs_places() || self.reads(RECORD);
        let time = self.time.as_field().map(|_| 0);
        let each = inputs.iter().map(|input| {
            let mut time_reader = TimeReader::new(plan.time_format.clone(), plan.zone.clone());
            time_reader.unit = time_reader.unit.or(input.sample.time_unit);
            Arc::new(Layout { columns: columns.to_vec(), time, time_reader, keep_raw, names_all: self.names_all })
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
            let bound = match self.conditions.contains(&(i + 1)) {
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
        let fields = self.typed(fields);
        let bound = self.bind(&fields)?;
        let each = self.columns.iter().zip(&bound.columns).map(|(column, bound)| match column.expr.as_field() {
            // To an expression a JSON value is a text; passed on it stays what it is.
            Some(path) => Fields { fields: &fields, role: column.role }.field(path).map(|(_, ty)| ty),
            None => Ok(bound.ty()),
        });
        std::iter::once(Ok(FieldType::Time)).chain(each).collect()
    }

    /// Checks what can be known before reading: that fields exist where an input lists them all, and that the event
    /// time can be one. Fields that only might be missing are told.
    pub fn check(&self, goes_on: bool, columns: &[Column], inputs: &[Prepared]) -> Result<Vec<Unseen>> {
        let text = |field: &FieldPath| self.columns.iter().find_map(|column| column.expr.as_text(field));
        let result = |field: &FieldPath| {
            let name = field.name();
            self.results.iter().find(|(known, _)| *known == name).map(|(_, what)| what.clone())
        };
        // A key of nothing that any record has would make a job of nothing.
        for column in self.keyed.iter().map(|&column| &self.columns[column - 1]) {
            let fields: Vec<&FieldPath> = column.expr.fields().into_iter().map(|(path, _)| path).collect();
            check::key(&self.fields, &fields, inputs).map_err(|error| error.at(column.flag))?;
        }
        check::time(&self.fields, self.own_time, inputs)?;
        let unseen = check::fields(&self.fields, goes_on, inputs, text, result)?;
        let bound = self.bind(&self.typed(&types_of(columns))).map_err(|error| with_nulls(error, inputs))?;
        match bound.time.as_ref().map(Bound::ty) {
            Some(FieldType::Bool) => Err(Error::usage(format!(
                "{TIME}: expected a time, text or a number, found a {}",
                FieldType::Bool.name()
            ))),
            _ => Ok(unseen),
        }
    }

    /// Checks that columns which decide something are conditions, given the types of the job's columns.
    fn check_conditions(&self, types: &[FieldType], columns: impl IntoIterator<Item = usize>) -> Result<()> {
        for column in self.filter.into_iter().chain(columns) {
            let flag = self.columns[column - 1].flag;
            if types[column] != FieldType::Bool {
                return Err(Error::usage(format!("{flag}: expected a condition, found a {}", types[column].name()))
                    .hint("a condition is true or false: amount > 0"));
            }
        }
        Ok(())
    }
}

/// The top-level fields of a side's inputs.
#[derive(Default)]
pub struct Names {
    /// All that are known, in the order in which they appear.
    pub all: Vec<FieldPath>,
    /// Those whose values are of one type for good, and no lists or objects: read as a key they are what they are read
    /// as when they are only passed on.
    pub fixed: Vec<FieldPath>,
}

/// The event time of an input; where none was named, a field that no record has.
fn time_of(input: &InputPlan) -> Scalar {
    input.time.clone().unwrap_or_else(|| Scalar::field(FieldPath::new(vec![String::new()])))
}

/// The event time of an input that needs none: without it all records are of one instant.
fn time_or_none(input: &InputPlan) -> Scalar {
    input.time.clone().unwrap_or_else(|| Scalar::literal(Literal::Time(Ts::from_micros(0))))
}

/// A condition of one side, whose fields may be called as where both are in sight: `l.x` is `x`, unless there is a
/// field `l`. One of the other side is refused.
fn own_names(expr: &Scalar, side: Side, names: &[FieldPath], flag: &str) -> Result<Scalar> {
    let [own, other] = [side, side.other()].map(|side| SIDES[side.index()]);
    let is_there = |letter: &str| names.iter().any(|path| path.parts()[0] == letter);
    let expr = if is_there(own) { expr.clone() } else { expr.without_side(side.index()) };
    match expr.fields().into_iter().find(|(path, _)| side_of(path).is_some_and(|(of, _)| of == side.other().index())) {
        Some((path, _)) if !names.is_empty() && !is_there(other) => {
            Err(Error::usage(format!("{flag}: {path} is a field of the other side"))
                .hint(format!("{flag} judges records by their own fields, before they have a partner")))
        }
        _ => Ok(expr),
    }
}

fn types_of(columns: &[Column]) -> Vec<FieldType> {
    columns.iter().map(|column| column.ty).collect()
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

/// Whether it is no field of the record, but tells where or how it stands.
fn is_origin(path: &FieldPath) -> bool {
    [FILE, LINE, RECORD].iter().any(|name| is_named(path, name))
}

/// The error about a text that should be something else: a column may be text for what stands for nothing in it.
fn with_nulls(error: Error, inputs: &[Prepared]) -> Error {
    let in_columns = inputs.iter().any(|input| !input.header.is_empty());
    let is_text = |hint: &&str| in_columns && ["TRY_CAST(", "--schema "].iter().any(|start| hint.starts_with(start));
    match error.hint_text().filter(is_text) {
        Some(hint) => {
            let hint = format!("{hint}; texts that mean nothing: --null NA");
            error.hint(hint)
        }
        None => error,
    }
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

/// What names of fields stand for: the columns of the layout, and behind them the file's name, the line, the record.
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
        if is_named(path, RECORD) {
            return Ok((self.fields.len() + 2, FieldType::Text));
        }
        let index = position(self.fields.iter().map(|(path, role, _)| (path, *role)), path, self.role)?;
        Ok((index, self.fields[index].2))
    }

    fn aggregate(&self, _: usize) -> Result<(usize, FieldType)> {
        Err(Error::usage("an aggregate cannot stand here"))
    }
}

/// Whether a reader guesses a unit, so that the summary should tell it.
pub fn guesses_unit(plan: &InputPlan) -> bool {
    plan.time_format == TimeFormat::Auto
}
