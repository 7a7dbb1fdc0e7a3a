//! Regular expressions. They run in time linear in the text, so no pattern of a user can hang a run.

use super::rows::{constant, each, needs_text, texts};
use super::{Argument, FunctionKind};
use crate::schema::FieldType::{Int, Text};
use regex::Regex;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The functions of this family.
pub(super) static PATTERN: &[FunctionKind] = &[
    FunctionKind {
        name: "regexp_matches",
        aliases: &[],
        usage: "regexp_matches(text, pattern)",
        doc: "whether a part of the text matches the regular expression",
        example: ("regexp_matches('GET /a', '^GET')", "true"),
        least: 2,
        most: 2,
        resolve: |a, _| {
            let pattern = Pattern::of(a)?;
            Ok(each(&[Text, Text], move |row| pattern.with(row.text(1), |regex| regex.is_match(row.text(0))).map(Some)))
        },
    },
    FunctionKind {
        name: "regexp_full_match",
        aliases: &[],
        usage: "regexp_full_match(text, pattern)",
        doc: "whether the whole text matches the regular expression",
        example: ("regexp_full_match('abc', 'a.c')", "true"),
        least: 2,
        most: 2,
        resolve: |a, _| {
            let pattern = Pattern::of(a)?;
            Ok(each(&[Text, Text], move |row| {
                let text = row.text(0);
                let whole = |regex: &Regex| regex.find_iter(text).any(|found| found.len() == text.len());
                pattern.with(row.text(1), whole).map(Some)
            }))
        },
    },
    FunctionKind {
        name: "regexp_extract",
        aliases: &[],
        usage: "regexp_extract(text, pattern [, group])",
        doc: "the first match of the regular expression, or a group of it; '' where there is none",
        example: ("regexp_extract('/user/42/x', '/user/([0-9]+)', 1)", "\"42\""),
        least: 2,
        most: 3,
        resolve: |a, _| {
            let pattern = Pattern::of(a)?;
            Ok(texts(&[Text, Text, Int][..a.len()], move |row, out| {
                let group = if row.len() > 2 { usize::try_from(row.int(2)).unwrap_or(usize::MAX) } else { 0 };
                pattern.with(row.text(1), |regex| {
                    let found = regex.captures(row.text(0)).and_then(|found| found.get(group));
                    out.push_str(found.map_or("", |found| found.as_str()));
                })?;
                Ok(true)
            }))
        },
    },
    FunctionKind {
        name: "regexp_replace",
        aliases: &[],
        usage: "regexp_replace(text, pattern, by)",
        doc: "the text with the first match replaced; \\1 in the replacement is the first group",
        example: ("regexp_replace('a1b2', '[0-9]', '#')", "\"a#b2\""),
        least: 3,
        most: 3,
        resolve: |a, _| {
            let pattern = Pattern::of(a)?;
            Ok(texts(&[Text, Text, Text], move |row, out| {
                let by = replacement(row.text(2));
                pattern.with(row.text(1), |regex| out.push_str(&regex.replace(row.text(0), by.as_str())))?;
                Ok(true)
            }))
        },
    },
];

/// `\1` as the library writes it: `${1}`.
fn replacement(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some(digit)) if digit.is_ascii_digit() => {
                out.push_str(&format!("${{{digit}}}"));
                chars.next();
            }
            ('\\', Some('\\')) => {
                out.push('\\');
                chars.next();
            }
            ('$', _) => out.push_str("$$"),
            _ => out.push(c),
        }
    }
    out
}

/// A pattern that is compiled once, or one in each row.
enum Pattern {
    One(Regex),
    /// Compiled when it is met, and kept; a column of patterns has few.
    Many(Mutex<HashMap<String, Regex>>),
}

/// Patterns kept of a column of them.
const KEPT: usize = 1_000;

impl Pattern {
    fn of(arguments: &[Argument<'_>]) -> Result<Self, String> {
        needs_text(arguments, 0)?;
        needs_text(arguments, 1)?;
        match constant(arguments, 1) {
            Some(pattern) => compile(pattern).map(Pattern::One),
            None => Ok(Pattern::Many(Mutex::default())),
        }
    }

    fn with<T>(&self, pattern: &str, use_it: impl FnOnce(&Regex) -> T) -> Result<T, String> {
        match self {
            Pattern::One(regex) => Ok(use_it(regex)),
            Pattern::Many(known) => {
                let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(regex) = known.get(pattern) {
                    return Ok(use_it(regex));
                }
                let regex = compile(pattern)?;
                if known.len() >= KEPT {
                    known.clear();
                }
                Ok(use_it(known.entry(pattern.to_owned()).or_insert(regex)))
            }
        }
    }
}

/// A pattern in which `\w`, `\d` and `\s` mean ASCII alone, as in RE2, which DuckDB has.
fn ascii_classes(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    let mut in_class = false;
    while let Some(c) = chars.next() {
        let class = match (c, chars.clone().next()) {
            ('\\', Some('w')) => "[:word:]",
            ('\\', Some('W')) => "[:^word:]",
            ('\\', Some('d')) => "[:digit:]",
            ('\\', Some('D')) => "[:^digit:]",
            ('\\', Some('s')) => "[:space:]",
            ('\\', Some('S')) => "[:^space:]",
            ('\\', _) => {
                out.push(c);
                out.extend(chars.next());
                continue;
            }
            _ => {
                in_class = (in_class || c == '[') && c != ']';
                out.push(c);
                continue;
            }
        };
        chars.next();
        match in_class {
            true => out.push_str(class),
            false => out.push_str(&format!("[{class}]")),
        }
    }
    out
}

fn compile(pattern: &str) -> Result<Regex, String> {
    Regex::new(&ascii_classes(pattern)).map_err(|error| {
        let text = error.to_string();
        let reason = text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        format!("cannot read the regular expression '{pattern}': {reason}")
    })
}
