//! Whether the fields a job asks for exist, and what to say where they do not.
//!
//! Must not know what is computed of them.

use crate::error::{Error, Result};
use crate::expr::or_text;
use crate::input::Prepared;
use crate::report::Unseen;
use crate::report::human::quoted;
use crate::schema::{FieldInfo, FieldPath, FieldType, Role, Wanted};

/// Checks that fields exist where an input lists them all. Fields that only might
/// be missing are told.
///
/// `goes_on`: bad records do not stop the run. `text`: what may have been meant as text instead of a name; `result`: what
/// is known of a name that is one of the result.
pub(super) fn fields(
    wanted: &[Wanted],
    goes_on: bool,
    inputs: &[Prepared],
    text: impl Fn(&FieldPath) -> Option<String>,
    result: impl Fn(&FieldPath) -> Option<String>,
) -> Result<Vec<Unseen>> {
    let mut unseen = Vec::new();
    for wanted in wanted {
        if inputs.iter().any(|input| has(input, &wanted.path)) {
            continue;
        }
        let fields: Vec<&FieldInfo> = inputs.iter().flat_map(|input| &input.sample.fields).collect();
        let similar = similar(&wanted.path, &fields);
        if let Some(input) = inputs.iter().find(|input| input.lists_all_fields()) {
            let error = no_such_column(input, wanted, similar.as_deref());
            return Err(match (text(&wanted.path), result(&wanted.path)) {
                (Some(text), _) => or_text(error, &text),
                (None, Some(result)) => error.hint(result),
                (None, None) => error,
            });
        }
        if fields.is_empty() {
            // Nothing was readable: the first malformed record will tell.
            continue;
        }
        let records: usize = inputs.iter().map(|input| input.sample.records).sum();
        if wanted.role == Role::Time && records > 0 && !goes_on {
            return Err(no_time_in_records(&inputs[0], &wanted.path, similar.as_deref(), &fields));
        }
        let told = Unseen {
            field: wanted.path.name(),
            input: None,
            similar,
            text: text(&wanted.path),
            result: result(&wanted.path),
        };
        if records > 0 && !unseen.contains(&told) {
            unseen.push(told);
        }
    }
    Ok(unseen)
}

/// Checks that the event time was named. `own`: the flag that names that of this side, where the other has one.
pub(super) fn time(wanted: &[Wanted], own: Option<&str>, inputs: &[Prepared]) -> Result<()> {
    match wanted.iter().any(|wanted| wanted.role == Role::Time && wanted.path.name().is_empty()) {
        true => Err(no_time_field(own, inputs)),
        false => Ok(()),
    }
}

/// Checks that at least one field of a key is in some record looked at, or was declared.
pub(super) fn key(wanted: &[Wanted], key: &[&FieldPath], inputs: &[Prepared]) -> Result<()> {
    let fields: Vec<&FieldInfo> = inputs.iter().flat_map(|input| &input.sample.fields).collect();
    let is_open = inputs.iter().all(|input| !input.lists_all_fields()) && !fields.is_empty();
    let declared = |path: &FieldPath| wanted.iter().any(|w| w.path == *path && w.declared.is_some());
    let is_there =
        |path: &FieldPath| super::is_origin(path) || declared(path) || inputs.iter().any(|input| has(input, path));
    match key.first() {
        Some(first) if is_open && !key.iter().any(|path| is_there(path)) => {
            Err(no_field_in_records(inputs, first, &fields))
        }
        _ => Ok(()),
    }
}

/// Whether a field, or a part of it, is among those seen.
///
/// Where names do not nest (a CSV header) a name with dots is found without quotes too; or the path goes into JSON text.
fn has(input: &Prepared, path: &FieldPath) -> bool {
    let parts = path.parts();
    let whole_names = !input.header.is_empty();
    input.sample.fields.iter().any(|field| match whole_names {
        true => field.path.name() == path.name() || goes_into(path, field),
        false => field.path.parts().starts_with(parts),
    })
}

/// Whether a path goes on inside the texts of a column, which are JSON as far as there are any.
fn goes_into(path: &FieldPath, column: &FieldInfo) -> bool {
    let name = column.path.name();
    let begins = (1..=path.parts().len()).any(|parts| path.parts()[..parts].join(".") == name);
    begins && (column.nested || column.ty.is_none())
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
pub(super) fn typed(name: &str) -> String {
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

fn no_time_field(own: Option<&str>, inputs: &[Prepared]) -> Error {
    let fields: Vec<&FieldInfo> = inputs.iter().take(1).flat_map(|input| &input.sample.fields).collect();
    let error = match (own, inputs.first()) {
        (Some(flag), Some(input)) => {
            Error::usage(format!("which field of {} is the event time? {flag} FIELD names it", input.name))
        }
        _ => Error::usage("which field is the event time? --time FIELD names it"),
    };
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

/// `record`, `12 records`
fn of_records(records: usize) -> String {
    if records == 1 { "record".to_owned() } else { crate::report::human::counted(records as u64, "record") }
}

fn no_field_in_records(inputs: &[Prepared], path: &FieldPath, fields: &[&FieldInfo]) -> Error {
    let records: usize = inputs.iter().map(|input| input.sample.records).sum();
    let error = Error::failed(format!("{}: no field \"{path}\" in the first {}", inputs[0].name, of_records(records)));
    match similar(path, fields) {
        Some(similar) => error.hint(format!("did you mean {}?", quoted(&similar))),
        None => error.hint(format!(
            "the fields are {}; --schema '{} text' declares one that comes later",
            names(fields),
            typed(&path.name())
        )),
    }
}

fn no_time_in_records(input: &Prepared, path: &FieldPath, similar: Option<&str>, fields: &[&FieldInfo]) -> Error {
    let first = of_records(input.sample.records);
    let error = Error::failed(format!("{}: no field \"{path}\" in the first {first}", input.name));
    match (similar, time_like(fields).as_slice()) {
        (Some(similar), _) => error.hint(format!("did you mean {}?", quoted(similar))),
        (None, []) => error.hint(format!("the fields are {}", names(fields))),
        (None, times) => error.hint(format!("these look like times: {}", times.join(", "))),
    }
}
