//! Regular expressions: RE2's syntax as DuckDB has it, matched in linear time by the `regex` crate.
//!
//! What the two read differently is rewritten by [`translated`]: `\d`, `\w`, `\s` and `\b` are about ASCII, a brace or
//! a bracket that begins nothing stands for itself. Must not know other functions of text.

use super::kernel::{Compiled, TextOut, What, resolved, takes, texts, truths, truths_or_failures};
use super::{Argument, FunctionKind, Resolved};
use crate::schema::{FieldType, Literal};
use crate::time::Zone;
use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use regex::{CaptureLocations, Regex, RegexBuilder};

/// `regexp_matches`
pub(super) static REGEXP_MATCHES: FunctionKind = FunctionKind {
    name: "regexp_matches",
    aliases: &[],
    usage: "regexp_matches(text, pattern [, options])",
    doc: "whether the pattern is found in the text; option 'i' ignores case",
    example: ("regexp_matches('GET /api/7', '/api/\\d+$')", "true"),
    least: 2,
    most: 3,
    resolve: |arguments, _| matches(arguments, Options::default()),
};

/// `regexp_full_match`
pub(super) static REGEXP_FULL_MATCH: FunctionKind = FunctionKind {
    name: "regexp_full_match",
    aliases: &[],
    usage: "regexp_full_match(text, pattern [, options])",
    doc: "whether the pattern is the whole text",
    example: ("regexp_full_match('1234', '\\d{3}')", "false"),
    least: 2,
    most: 3,
    resolve: |arguments, _| matches(arguments, Options { whole: true, ..Options::default() }),
};

/// `regexp_extract`
pub(super) static REGEXP_EXTRACT: FunctionKind = FunctionKind {
    name: "regexp_extract",
    aliases: &[],
    usage: "regexp_extract(text, pattern [, group [, options]])",
    doc: "what the pattern, or a group of it, first matched; empty if nothing",
    example: ("regexp_extract('took 35 ms', '(\\d+) ms', 1)", "\"35\""),
    least: 2,
    most: 4,
    resolve: extract,
};

/// `regexp_replace`
pub(super) static REGEXP_REPLACE: FunctionKind = FunctionKind {
    name: "regexp_replace",
    aliases: &[],
    usage: "regexp_replace(text, pattern, by [, options])",
    doc: "the first match replaced, or all with option 'g'; \\1 is a group",
    example: ("regexp_replace('/user/17/cart/4', '\\d+', '*', 'g')", "\"/user/*/cart/*\""),
    least: 3,
    most: 4,
    resolve: replace,
};

/// How a pattern is to be matched.
#[derive(Clone, Copy, Default)]
struct Options {
    any_case: bool,
    literal: bool,
    dot_is_any: bool,
    all: bool,
    whole: bool,
}

impl Options {
    /// Reads the constant that options are.
    fn of(argument: Option<&Argument<'_>>) -> Result<Self, String> {
        let text = match argument.map(|argument| (argument.ty, argument.literal)) {
            None | Some((None, _)) => "",
            Some((_, Some(Literal::Text(text)))) => text.as_str(),
            Some(_) => return Err("needs its options as a constant text such as 'i'".into()),
        };
        let mut options = Options::default();
        for c in text.chars() {
            match c {
                'c' => options.any_case = false,
                'i' => options.any_case = true,
                'l' => options.literal = true,
                's' => options.dot_is_any = true,
                'm' | 'n' | 'p' => options.dot_is_any = false,
                'g' => options.all = true,
                _ => return Err(format!("knows the options i, c, l, s, m and g, but found '{c}'")),
            }
        }
        Ok(options)
    }

    /// The same where there is no more than one match.
    fn of_one(argument: Option<&Argument<'_>>) -> Result<Self, String> {
        let options = Self::of(argument)?;
        match options.all {
            true => Err("does not take option 'g', which is for regexp_replace".into()),
            false => Ok(options),
        }
    }

    fn compile(self, pattern: &str) -> Result<Regex, String> {
        let mut text = if self.literal { regex::escape(pattern) } else { translated(pattern) };
        if self.whole {
            text = format!("^(?:{text})$");
        }
        let built =
            RegexBuilder::new(&text).case_insensitive(self.any_case).dot_matches_new_line(self.dot_is_any).build();
        built.map_err(|error| format!("cannot read the pattern '{pattern}': {}", reason(&error)))
    }
}

/// The crate's words without its drawing of the place, which shows the rewritten pattern.
fn reason(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(_) => "it is too big".into(),
        error => {
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default();
            last.trim_start_matches("error: ").trim_end_matches('.').to_owned()
        }
    }
}

/// A pattern in RE2's syntax as one in the crate's.
fn translated(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut rest = pattern;
    let mut in_class = false;
    while let Some(c) = rest.chars().next() {
        let used = match c {
            '\\' => escape(rest, in_class, &mut out),
            '[' if in_class => bracket(rest, &mut out),
            '[' => class_start(rest, &mut in_class, &mut out),
            '&' | '~' if in_class => push(&mut out, &['\\', c], 1),
            '{' if !in_class && !is_repetition(rest) => push(&mut out, &['\\', c], 1),
            _ => {
                in_class &= c != ']';
                push(&mut out, &[c], c.len_utf8())
            }
        };
        rest = &rest[used..];
    }
    out
}

fn push(out: &mut String, chars: &[char], used: usize) -> usize {
    out.extend(chars);
    used
}

/// A backslash and what follows it; tells how many bytes that was.
fn escape(rest: &str, in_class: bool, out: &mut String) -> usize {
    let Some(c) = rest[1..].chars().next() else { return push(out, &['\\'], 1) };
    if let Some(quoted) = rest.strip_prefix("\\Q") {
        let end = quoted.find("\\E").unwrap_or(quoted.len());
        out.push_str(&regex::escape(&quoted[..end]));
        return (2 + end + 2).min(rest.len());
    }
    let replaced = match (c, in_class) {
        ('d', true) => "0-9",
        ('w', true) => "0-9A-Za-z_",
        ('s', true) => r"\t\n\f\r ",
        ('d', false) => "[0-9]",
        ('w', false) => "[0-9A-Za-z_]",
        ('s', false) => r"[\t\n\f\r ]",
        ('D', _) => "[^0-9]",
        ('W', _) => "[^0-9A-Za-z_]",
        ('S', _) => r"[^\t\n\f\r ]",
        ('b', false) => r"(?-u:\b)",
        ('B', false) => r"(?-u:\B)",
        // The crate's own word boundaries; to RE2 they are plain characters.
        ('<', _) => "<",
        ('>', _) => ">",
        ('p' | 'P' | 'x', _) if rest[2..].starts_with('{') => {
            let end = rest.find('}').map_or(rest.len(), |end| end + 1);
            out.push_str(&rest[..end]);
            return end;
        }
        _ => return push(out, &['\\', c], 1 + c.len_utf8()),
    };
    out.push_str(replaced);
    2
}

/// A bracket inside of a class: a named class, or itself.
fn bracket(rest: &str, out: &mut String) -> usize {
    match rest.starts_with("[:").then(|| rest.find(":]")).flatten() {
        Some(end) => {
            out.push_str(&rest[..end + 2]);
            end + 2
        }
        None => push(out, &['\\', '['], 1),
    }
}

/// The start of a class, with a bracket that stands for itself because it comes first.
fn class_start(rest: &str, in_class: &mut bool, out: &mut String) -> usize {
    *in_class = true;
    let start = if rest.starts_with("[^") { "[^" } else { "[" };
    out.push_str(start);
    match rest[start.len()..].starts_with(']') {
        true => push(out, &['\\', ']'], start.len() + 1),
        false => start.len(),
    }
}

/// Whether a brace begins `{2}`, `{2,}` or `{2,3}`.
fn is_repetition(rest: &str) -> bool {
    let Some((inner, _)) = rest[1..].split_once('}') else { return false };
    let (least, most) = inner.split_once(',').unwrap_or((inner, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    !least.is_empty() && digits(least) && digits(most)
}

type Resolving = Result<Resolved, String>;

fn matches(arguments: &[Argument<'_>], how: Options) -> Resolving {
    let options = Options { whole: how.whole, ..Options::of_one(arguments.get(2))? };
    let takes = takes(arguments, &[What::Text])?;
    let pattern = Compiled::new(&arguments[1], move |text| options.compile(text))?;
    resolved(takes, FieldType::Bool, move |columns, rows, failures| {
        let text = columns[0].as_string::<i32>();
        if let Compiled::Constant(pattern) = &pattern {
            return Ok(truths(&columns[..1], rows, |row| pattern.is_match(text.value(row))));
        }
        let mut patterns = pattern.reader(columns[1].as_string());
        Ok(truths_or_failures(&columns[..2], rows, failures, |row| Ok(patterns.get(row)?.is_match(text.value(row)))))
    })
}

/// DuckDB has no groups beyond the ninth.
const GROUPS: std::ops::RangeInclusive<i64> = 0..=9;

fn extract(arguments: &[Argument<'_>], _: &Zone) -> Resolving {
    let takes = takes(arguments, &[What::Text, What::Text, What::Int, What::Text])?;
    let options = Options::of_one(arguments.get(3))?;
    if let Some(Some(Literal::Int(group))) = arguments.get(2).map(|argument| argument.literal) {
        group_in_range(*group)?;
    }
    let pattern = Compiled::new(&arguments[1], move |text| options.compile(text))?;
    resolved(takes, FieldType::Text, move |columns, rows, failures| {
        let text = columns[0].as_string::<i32>();
        let groups = columns.get(2).map(|column| column.as_primitive::<Int64Type>());
        let mut patterns = pattern.reader(columns[1].as_string());
        let mut kept = match &pattern {
            Compiled::Constant(pattern) => Some(pattern.capture_locations()),
            Compiled::PerText(_) => None,
        };
        texts(&columns[..columns.len().min(3)], rows, failures, |row, out| {
            let pattern = patterns.get(row)?;
            let group = group_in_range(groups.map_or(0, |groups| groups.value(row)))?;
            let mut new = None;
            let locations = kept.as_mut().unwrap_or_else(|| new.insert(pattern.capture_locations()));
            out.add(matched(pattern, text.value(row), group, locations).unwrap_or_default());
            Ok(Some(()))
        })
    })
}

fn group_in_range(group: i64) -> Result<usize, String> {
    let wrong = || format!("needs a group from 0 to 9, but found {group}");
    usize::try_from(group).ok().filter(|_| GROUPS.contains(&group)).ok_or_else(wrong)
}

/// What a group of the first match holds.
fn matched<'a>(pattern: &Regex, text: &'a str, group: usize, locations: &mut CaptureLocations) -> Option<&'a str> {
    if group == 0 {
        return pattern.find(text).map(|found| found.as_str());
    }
    pattern.captures_read(locations, text)?;
    locations.get(group).map(|(start, end)| &text[start..end])
}

/// What a match is replaced by.
struct Template {
    parts: Vec<Part>,
    /// The greatest number of a group in it.
    groups: usize,
}

/// A part of a template.
enum Part {
    Text(String),
    Group(usize),
}

impl Template {
    /// Reads `\0` to `\9` as groups, `\\` as a backslash.
    fn parse(text: &str) -> Result<Self, String> {
        let mut template = Template { parts: Vec::new(), groups: 0 };
        let mut chars = text.chars();
        let mut plain = String::new();
        while let Some(c) = chars.next() {
            match (c, if c == '\\' { chars.next() } else { None }) {
                ('\\', Some('\\')) => plain.push('\\'),
                ('\\', Some(digit @ '0'..='9')) => {
                    let group = digit as usize - '0' as usize;
                    template.parts.push(Part::Text(std::mem::take(&mut plain)));
                    template.parts.push(Part::Group(group));
                    template.groups = template.groups.max(group);
                }
                ('\\', _) => {
                    return Err(format!("cannot read '{text}': behind a backslash stands a digit or another one"));
                }
                _ => plain.push(c),
            }
        }
        template.parts.push(Part::Text(plain));
        Ok(template)
    }

    /// Checks that a pattern has the groups.
    fn fits(&self, pattern: &Regex) -> Result<(), String> {
        match pattern.captures_len() - 1 {
            groups if self.groups > groups => {
                Err(format!("puts group {} in, but the pattern has {groups}", self.groups))
            }
            _ => Ok(()),
        }
    }

    fn has_groups(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Group(_)))
    }

    /// Writes it for one match, of which `group` gives the parts.
    fn write<'a>(&self, group: impl Fn(usize) -> Option<&'a str>, out: &mut TextOut) {
        for part in &self.parts {
            match part {
                Part::Text(text) => out.add(text),
                Part::Group(number) => out.add(group(*number).unwrap_or_default()),
            }
        }
    }
}

fn replace(arguments: &[Argument<'_>], _: &Zone) -> Resolving {
    let takes = takes(arguments, &[What::Text])?;
    let options = Options::of(arguments.get(3))?;
    let pattern = Compiled::new(&arguments[1], move |text| options.compile(text))?;
    let template = Compiled::new(&arguments[2], Template::parse)?;
    if let (Compiled::Constant(pattern), Compiled::Constant(template)) = (&pattern, &template) {
        template.fits(pattern)?;
    }
    let most = if options.all { usize::MAX } else { 1 };
    resolved(takes, FieldType::Text, move |columns, rows, failures| {
        let text = columns[0].as_string::<i32>();
        let mut patterns = pattern.reader(columns[1].as_string());
        let mut templates = template.reader(columns[2].as_string());
        texts(&columns[..3], rows, failures, |row, out| {
            let (pattern, template) = (patterns.get(row)?, templates.get(row)?);
            template.fits(pattern)?;
            replaced(text.value(row), pattern, template, most, out);
            Ok(Some(()))
        })
    })
}

fn replaced(text: &str, pattern: &Regex, template: &Template, most: usize, out: &mut TextOut) {
    let mut from = 0;
    if template.has_groups() {
        for found in pattern.captures_iter(text).take(most) {
            let whole = found.get_match();
            out.add(&text[from..whole.start()]);
            template.write(|group| found.get(group).map(|group| group.as_str()), out);
            from = whole.end();
        }
    } else {
        for whole in pattern.find_iter(text).take(most) {
            out.add(&text[from..whole.start()]);
            template.write(|_| None, out);
            from = whole.end();
        }
    }
    out.add(&text[from..]);
}
