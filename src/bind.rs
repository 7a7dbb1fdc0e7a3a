//! Names to columns: which fields a job reads, of what types, and the operator that works on them.
//!
//! Happens between looking at the inputs and reading them, so every error that depends on names and types alone is
//! found here. Must not know formats by name, or how anything is read.

use crate::aggregate::Takes;
use crate::error::{Error, Result};
use crate::expr::Call;
use crate::input::Prepared;
use crate::operator::{Aggregates, Operator, Range, Sessions, Windowed};
use crate::plan::Plan;
use crate::report::Unseen;
use crate::report::human::quoted;
use crate::schema::{Column, FieldInfo, FieldPath, FieldType, Layout, Role, Wanted};
use crate::time::{TimeFormat, TimeReader, Ts};
use crate::window::Grouping;
use std::sync::Arc;

/// What a job asks of every record, before the inputs are known.
pub struct Wants {
    /// The fields. The event time is the first.
    pub fields: Vec<Wanted>,
    keys: Vec<usize>,
    arguments: Vec<Option<usize>>,
    /// The field whose values are the partitions.
    pub partition: Option<usize>,
}

/// What the job reads, each field and role once.
pub fn wants(plan: &Plan) -> Wants {
    let time = plan.input.time.clone().unwrap_or_else(|| FieldPath::new(vec![String::new()]));
    let mut fields = vec![Wanted { path: time.clone(), role: Role::Time, declared: None }];
    let mut want = |path: &FieldPath, role: Role| -> usize {
        if *path == time {
            return 0;
        }
        if let Some(at) = fields.iter().position(|w| w.path == *path && w.role == role) {
            return at;
        }
        let declared = plan.input.declared.iter().find(|(p, _)| p == path).map(|(_, ty)| *ty);
        fields.push(Wanted { path: path.clone(), role, declared });
        fields.len() - 1
    };
    let keys = plan.keys.iter().map(|key| want(&key.path, Role::Key)).collect();
    let arguments = plan.calls.iter().map(|call| call.argument.as_ref().map(|path| want(path, role_of(call))));
    let arguments = arguments.collect();
    let partition = plan.clock.by.as_ref().map(|path| want(path, Role::Key));
    Wants { fields, keys, arguments, partition }
}

fn role_of(call: &Call) -> Role {
    if call.kind.takes == Takes::Number { Role::Number } else { Role::Value }
}

impl Wants {
    /// The columns, typed over all inputs alike.
    pub fn columns(&self, inputs: &[Prepared]) -> Vec<Column> {
        let each = self.fields.iter().enumerate();
        each.map(|(i, wanted)| {
            let seen = inputs.iter().filter_map(|input| input.sample.types.get(i).copied().flatten());
            let inferred = seen.reduce(FieldType::unify).unwrap_or_else(|| self.type_by_use(wanted));
            let ty = if wanted.role == Role::Time { FieldType::Time } else { wanted.declared.unwrap_or(inferred) };
            Column { path: wanted.path.clone(), role: wanted.role, ty, declared: wanted.declared.is_some() }
        })
        .collect()
    }

    /// The type of a field that no sampled record has: a number if anything calculates with it, else text.
    fn type_by_use(&self, wanted: &Wanted) -> FieldType {
        let mut same = self.fields.iter().filter(|other| other.path == wanted.path);
        match wanted.role != Role::Key && same.any(|other| other.role == Role::Number) {
            true => FieldType::Int,
            false => FieldType::Text,
        }
    }

    /// Each input's layout.
    pub fn layouts(&self, plan: &Plan, columns: &[Column], inputs: &[Prepared], keep_raw: bool) -> Vec<Arc<Layout>> {
        let each = inputs.iter().map(|input| {
            let mut time_reader = TimeReader::new(plan.input.time_format.clone(), plan.input.zone.clone());
            time_reader.unit = time_reader.unit.or(input.sample.time_unit);
            Arc::new(Layout { columns: columns.to_vec(), time: 0, time_reader, keep_raw })
        });
        each.collect()
    }

    /// Checks what can be known before reading: that fields exist where an input lists them all, and that functions
    /// get what they take. Fields that only might be missing are told.
    pub fn check(&self, plan: &Plan, columns: &[Column], inputs: &[Prepared]) -> Result<Vec<Unseen>> {
        if plan.input.time.is_none() {
            return Err(no_time_field(inputs));
        }
        let mut unseen = Vec::new();
        for wanted in &self.fields {
            if inputs.iter().any(|input| has(input, &wanted.path)) {
                continue;
            }
            let fields: Vec<&FieldInfo> = inputs.iter().flat_map(|input| &input.sample.fields).collect();
            let similar = similar(&wanted.path, &fields);
            if let Some(input) = inputs.iter().find(|input| input.lists_all_fields()) {
                return Err(no_such_column(input, wanted, similar.as_deref()));
            }
            if fields.is_empty() {
                // Nothing was readable: the first malformed record will tell.
                continue;
            }
            let records: usize = inputs.iter().map(|input| input.sample.records).sum();
            let goes_on = plan.bad.path.is_some() || plan.bad.max.is_some();
            if wanted.role == Role::Time && records > 0 && !goes_on {
                return Err(no_time_in_records(&inputs[0], &wanted.path, similar.as_deref(), &fields));
            }
            let told = Unseen { field: wanted.path.name(), similar };
            if records > 0 && !unseen.contains(&told) {
                unseen.push(told);
            }
        }
        self.check_arguments(plan, columns, inputs)?;
        Ok(unseen)
    }

    fn check_arguments(&self, plan: &Plan, columns: &[Column], inputs: &[Prepared]) -> Result<()> {
        for (call, argument) in plan.calls.iter().zip(&self.arguments) {
            let Some(column) = argument.map(|at| &columns[at]) else { continue };
            call.kind.check(&column.path.name(), Some(column.ty)).map_err(|what| {
                let field = typed(&column.path.name());
                let nulls = inputs.iter().any(|input| !input.header.is_empty());
                let nulls = if nulls { "; texts that mean nothing: --null NA" } else { "" };
                match column.ty {
                    FieldType::Text => {
                        Error::failed(what).hint(format!("--schema '{field} double' reads it as a number{nulls}"))
                    }
                    _ => Error::failed(what),
                }
            })?;
        }
        Ok(())
    }

    /// The operator of the job.
    pub fn operator(&self, plan: &Plan, columns: &[Column]) -> Box<dyn Operator> {
        let mut aggregates = Aggregates::default();
        for (call, argument) in plan.calls.iter().zip(&self.arguments) {
            let argument = argument.map(|at| (columns[at].path.name(), at, columns[at].ty));
            aggregates.add(call.name.clone(), call.kind, argument, call.distinct);
        }
        let keys = plan.keys.iter().zip(&self.keys).map(|(key, &column)| (key.name.clone(), column)).collect();
        let types = columns.iter().map(|column| column.ty).collect();
        let range = Range { since: plan.since.unwrap_or(Ts::MIN), until: plan.until.unwrap_or(Ts::MAX) };
        match &plan.grouping {
            Grouping::Windows(windower) => {
                Box::new(Windowed::new(Arc::clone(windower), range, types, keys, aggregates))
            }
            Grouping::Session { gap } => Box::new(Sessions::new(*gap, range, types, keys, aggregates)),
        }
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

/// Whether a field, or a part of it, is among those seen.
///
/// Where names do not nest (a CSV header) a name with dots is found without quotes too.
fn has(input: &Prepared, path: &FieldPath) -> bool {
    let parts = path.parts();
    let whole_names = !input.header.is_empty();
    input.sample.fields.iter().any(|field| {
        let seen = field.path.parts();
        seen.starts_with(parts) || (whole_names && field.path.name() == path.name())
    })
}

fn similar(path: &FieldPath, fields: &[&FieldInfo]) -> Option<String> {
    let name = path.name();
    let scored = fields.iter().map(|field| {
        let other = field.path.name();
        let score = strsim::jaro_winkler(&name.to_lowercase(), &other.to_lowercase());
        // A name with a dot in it is not a path, however alike they look.
        let odd = field.path.parts().iter().any(|part| part.contains('.'));
        (score, if odd { format!("'\"{other}\"'") } else { other })
    });
    scored.filter(|(score, _)| *score > 0.8).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, other)| other)
}

fn time_like(fields: &[&FieldInfo]) -> Vec<String> {
    let mut likely: Vec<&&FieldInfo> = fields.iter().filter(|field| may_be_time(field)).collect();
    likely.sort_by_key(|field| field.path.parts().len());
    let mut names: Vec<String> = Vec::new();
    for field in likely {
        if !names.contains(&field.path.name()) {
            names.push(field.path.name());
        }
    }
    names.truncate(8);
    names
}

/// Text that reads as a time may well be one; a number of the right size needs a name that says so.
fn may_be_time(field: &FieldInfo) -> bool {
    const WORDS: [&str; 8] = ["time", "date", "ts", "stamp", "epoch", "when", "_at", "created"];
    let name = field.path.parts().last().map_or_else(String::new, |part| part.to_lowercase());
    let says_so = name == "t" || WORDS.iter().any(|word| name.contains(word));
    match field.ty {
        Some(FieldType::Time) => true,
        Some(ty) if ty.is_number() => field.looks_like_time && says_so,
        _ => field.looks_like_time,
    }
}

/// A field as it is typed where SQL is read: odd names stand in double quotes.
fn typed(name: &str) -> String {
    let plain = |part: &str| {
        let mut chars = part.chars();
        chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
            && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    match name.split('.').all(plain) {
        true => name.to_owned(),
        false => format!("\"{name}\""),
    }
}

fn no_time_field(inputs: &[Prepared]) -> Error {
    let fields: Vec<&FieldInfo> = inputs.iter().take(1).flat_map(|input| &input.sample.fields).collect();
    let error = Error::usage("which field is the event time? --time FIELD names it");
    match time_like(&fields).as_slice() {
        [] => error.hint(format!("no field of the first record looks like a time; the fields are {}", names(&fields))),
        [one] => error.hint(format!("this one looks like a time: {one}")),
        several => error.hint(format!("these look like times: {}", several.join(", "))),
    }
}

/// Up to a dozen field names.
fn names(fields: &[&FieldInfo]) -> String {
    let mut shown: Vec<String> = fields.iter().take(12).map(|field| field.path.name()).collect();
    if fields.len() > shown.len() {
        shown.push(format!("{} more", fields.len() - shown.len()));
    }
    shown.join(", ")
}

fn no_such_column(input: &Prepared, wanted: &Wanted, similar: Option<&str>) -> Error {
    let error = Error::failed(format!("{}: there is no column \"{}\"", input.name, wanted.path));
    let fields: Vec<&FieldInfo> = input.sample.fields.iter().collect();
    match (similar, wanted.role, time_like(&fields).as_slice()) {
        (Some(similar), Role::Time, _) => error.hint(format!("did you mean {}?", quoted(similar))),
        (Some(similar), ..) if typed(similar) == similar => error.hint(format!("did you mean {}?", quoted(similar))),
        (Some(similar), ..) => {
            error.hint(format!("did you mean {0}? such a name stands in double quotes: '{0}'", typed(similar)))
        }
        (None, Role::Time, [_, ..]) => error.hint(format!("these look like times: {}", time_like(&fields).join(", "))),
        _ if fields.is_empty() => error.hint("the file is empty"),
        _ => error.hint(format!("the columns are {}", names(&fields))),
    }
}

fn no_time_in_records(input: &Prepared, path: &FieldPath, similar: Option<&str>, fields: &[&FieldInfo]) -> Error {
    let first = crate::report::human::counted(input.sample.records as u64, "record");
    let error = Error::failed(format!("{}: no field \"{path}\" in the first {first}", input.name));
    match (similar, time_like(fields).as_slice()) {
        (Some(similar), _) => error.hint(format!("did you mean {}?", quoted(similar))),
        (None, []) => error.hint(format!("the fields are {}", names(fields))),
        (None, times) => error.hint(format!("these look like times: {}", times.join(", "))),
    }
}

/// Whether a reader guesses a unit, so that the summary should tell it.
pub fn guesses_unit(plan: &Plan) -> bool {
    plan.input.time_format == TimeFormat::Auto
}
