//! Functions of text. Positions and lengths count characters (code points), not bytes.
//!
//! Must not know patterns; those are in `pattern.rs`. Case is changed character by character, as DuckDB does, so a
//! text keeps its number of characters.

use super::json::CARDINALITY;
use super::kernel::{Outcome, TextOut, What, resolved, takes, text_to_text, texts, texts_to_truth, truths, values};
use super::{Argument, FunctionKind, Resolved};
use crate::schema::FieldType;
use crate::time::Zone;
use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::Int64Type;
use memchr::memmem::Finder;
use std::sync::Arc;

/// `lower`
pub(super) static LOWER: FunctionKind = FunctionKind {
    name: "lower",
    aliases: &["lcase"],
    usage: "lower(text)",
    doc: "the text in lower case",
    example: ("lower('Ärger')", "\"ärger\""),
    least: 1,
    most: 1,
    resolve: |arguments, _| cased(arguments, <[u8]>::make_ascii_lowercase, lower_char),
};

/// `upper`
pub(super) static UPPER: FunctionKind = FunctionKind {
    name: "upper",
    aliases: &["ucase"],
    usage: "upper(text)",
    doc: "the text in upper case",
    example: ("upper('get')", "\"GET\""),
    least: 1,
    most: 1,
    resolve: |arguments, _| cased(arguments, <[u8]>::make_ascii_uppercase, upper_char),
};

/// `trim`
pub(super) static TRIM: FunctionKind = FunctionKind {
    name: "trim",
    aliases: &[],
    usage: "trim(text [, characters])",
    doc: "the text without spaces, or these characters, at both ends",
    example: ("trim('--a-b-', '-')", "\"a-b\""),
    least: 1,
    most: 2,
    resolve: |arguments, _| trimmed(arguments, |text, set| text.trim_matches(|c| set.contains(c))),
};

/// `ltrim`
pub(super) static LTRIM: FunctionKind = FunctionKind {
    name: "ltrim",
    aliases: &[],
    usage: "ltrim(text [, characters])",
    doc: "the text without spaces, or these characters, at its start",
    example: ("ltrim('007', '0')", "\"7\""),
    least: 1,
    most: 2,
    resolve: |arguments, _| trimmed(arguments, |text, set| text.trim_start_matches(|c| set.contains(c))),
};

/// `rtrim`
pub(super) static RTRIM: FunctionKind = FunctionKind {
    name: "rtrim",
    aliases: &[],
    usage: "rtrim(text [, characters])",
    doc: "the text without spaces, or these characters, at its end",
    example: ("rtrim('/a/b/', '/')", "\"/a/b\""),
    least: 1,
    most: 2,
    resolve: |arguments, _| trimmed(arguments, |text, set| text.trim_end_matches(|c| set.contains(c))),
};

/// `length`
pub(super) static LENGTH: FunctionKind = FunctionKind {
    name: "length",
    aliases: &["len", "char_length", "character_length"],
    usage: "length(text)",
    doc: "how many characters it has, or elements a list; arrays in fields: cardinality",
    example: ("length('größe')", "5"),
    least: 1,
    most: 1,
    resolve: length,
};

/// `substr`
pub(super) static SUBSTR: FunctionKind = FunctionKind {
    name: "substr",
    aliases: &["substring"],
    usage: "substr(text, start [, length])",
    doc: "the part from a character on, the first being 1; from the end if negative",
    example: ("substr('2026-01-31', 6, 2)", "\"01\""),
    least: 2,
    most: 3,
    resolve: substr,
};

/// `left`
pub(super) static LEFT: FunctionKind = FunctionKind {
    name: "left",
    aliases: &[],
    usage: "left(text, n)",
    doc: "the first n characters; all but the last n if negative",
    example: ("left('error: disk', 5)", "\"error\""),
    least: 2,
    most: 2,
    resolve: |arguments, _| text_and_int(arguments, |text, n, out| out.add(left(text, n))),
};

/// `right`
pub(super) static RIGHT: FunctionKind = FunctionKind {
    name: "right",
    aliases: &[],
    usage: "right(text, n)",
    doc: "the last n characters; all but the first n if negative",
    example: ("right('4111111111111111', 4)", "\"1111\""),
    least: 2,
    most: 2,
    resolve: |arguments, _| text_and_int(arguments, |text, n, out| out.add(right(text, n))),
};

/// `repeat`
pub(super) static REPEAT: FunctionKind = FunctionKind {
    name: "repeat",
    aliases: &[],
    usage: "repeat(text, n)",
    doc: "the text n times",
    example: ("repeat('ab', 3)", "\"ababab\""),
    least: 2,
    most: 2,
    resolve: |arguments, _| {
        text_and_int(arguments, |text, n, out| out.add_times(text, usize::try_from(n).unwrap_or(0)))
    },
};

/// `reverse`
pub(super) static REVERSE: FunctionKind = FunctionKind {
    name: "reverse",
    aliases: &[],
    usage: "reverse(text)",
    doc: "its characters from the last to the first",
    example: ("reverse('abc')", "\"cba\""),
    least: 1,
    most: 1,
    resolve: |arguments, _| text_to_text(arguments, |text, out| text.chars().rev().for_each(|c| out.add_char(c))),
};

/// `lpad`
pub(super) static LPAD: FunctionKind = FunctionKind {
    name: "lpad",
    aliases: &[],
    usage: "lpad(text, n, fill)",
    doc: "filled at its start, or cut at its end, to n characters",
    example: ("lpad('7', 3, '0')", "\"007\""),
    least: 3,
    most: 3,
    resolve: |arguments, _| padded(arguments, End::Start),
};

/// `rpad`
pub(super) static RPAD: FunctionKind = FunctionKind {
    name: "rpad",
    aliases: &[],
    usage: "rpad(text, n, fill)",
    doc: "filled, or cut, at its end to n characters",
    example: ("rpad('7', 3, '.')", "\"7..\""),
    least: 3,
    most: 3,
    resolve: |arguments, _| padded(arguments, End::End),
};

/// `replace`
pub(super) static REPLACE: FunctionKind = FunctionKind {
    name: "replace",
    aliases: &[],
    usage: "replace(text, part, by)",
    doc: "the text with every occurrence of a part replaced",
    example: ("replace('1,5', ',', '.')", "\"1.5\""),
    least: 3,
    most: 3,
    resolve: replace,
};

/// `split_part`
pub(super) static SPLIT_PART: FunctionKind = FunctionKind {
    name: "split_part",
    aliases: &[],
    usage: "split_part(text, separator, n)",
    doc: "the n-th part, from 1 on, or from the end if negative; empty if none",
    example: ("split_part('a/b/c', '/', -1)", "\"c\""),
    least: 3,
    most: 3,
    resolve: split_part,
};

/// `starts_with`
pub(super) static STARTS_WITH: FunctionKind = FunctionKind {
    name: "starts_with",
    aliases: &["prefix"],
    usage: "starts_with(text, part)",
    doc: "whether the text begins with a part",
    example: ("starts_with('/api/users', '/api')", "true"),
    least: 2,
    most: 2,
    resolve: |arguments, _| texts_to_truth(arguments, |text, part| text.starts_with(part)),
};

/// `ends_with`
pub(super) static ENDS_WITH: FunctionKind = FunctionKind {
    name: "ends_with",
    aliases: &["suffix"],
    usage: "ends_with(text, part)",
    doc: "whether the text ends with a part",
    example: ("ends_with('logo.png', '.png')", "true"),
    least: 2,
    most: 2,
    resolve: |arguments, _| texts_to_truth(arguments, |text, part| text.ends_with(part)),
};

/// `contains`
pub(super) static CONTAINS: FunctionKind = FunctionKind {
    name: "contains",
    aliases: &[],
    usage: "contains(text, part)",
    doc: "whether the part is in the text",
    example: ("contains('disk full', 'full')", "true"),
    least: 2,
    most: 2,
    resolve: contains,
};

/// `strpos`
pub(super) static STRPOS: FunctionKind = FunctionKind {
    name: "strpos",
    aliases: &["instr", "position"],
    usage: "strpos(text, part)",
    doc: "where the part first is, the first character being 1; 0 if nowhere",
    example: ("strpos('user@host', '@')", "5"),
    least: 2,
    most: 2,
    resolve: strpos,
};

/// `concat`
pub(super) static CONCAT: FunctionKind = FunctionKind {
    name: "concat",
    aliases: &[],
    usage: "concat(x, ...)",
    doc: "all values as one text; nulls are left out",
    example: ("concat('a', NULL, 1)", "\"a1\""),
    least: 1,
    most: usize::MAX,
    resolve: concat,
};

/// `concat_ws`
pub(super) static CONCAT_WS: FunctionKind = FunctionKind {
    name: "concat_ws",
    aliases: &[],
    usage: "concat_ws(separator, x, ...)",
    doc: "all values as one text with a separator between; nulls are left out",
    example: ("concat_ws(', ', 'a', NULL, 'b')", "\"a, b\""),
    least: 2,
    most: usize::MAX,
    resolve: concat_ws,
};

type Resolving = Result<Resolved, String>;

/// Changes case: of all bytes at once where a column is ASCII.
fn cased(arguments: &[Argument<'_>], ascii: fn(&mut [u8]), other: fn(char) -> char) -> Resolving {
    resolved(takes(arguments, &[What::Text])?, FieldType::Text, move |columns, rows, failures| {
        let text = columns[0].as_string::<i32>();
        if let Some(done) = ascii_cased(text, ascii) {
            return Ok(done);
        }
        texts(columns, rows, failures, |row, out| {
            text.value(row).chars().for_each(|c| out.add_char(other(c)));
            Ok(Some(()))
        })
    })
}

/// The column with its bytes changed, if all of them are ASCII.
fn ascii_cased(text: &StringArray, change: fn(&mut [u8])) -> Option<ArrayRef> {
    let offsets = text.value_offsets();
    let (first, last) = (*offsets.first()?, *offsets.last()?);
    let used = &text.value_data()[first as usize..last as usize];
    if !used.is_ascii() {
        return None;
    }
    let mut bytes = used.to_vec();
    change(&mut bytes);
    let offsets: ScalarBuffer<i32> = offsets.iter().map(|offset| offset - first).collect();
    let nulls = text.nulls().cloned();
    StringArray::try_new(OffsetBuffer::new(offsets), Buffer::from_vec(bytes), nulls).ok().map(|a| Arc::new(a) as _)
}

/// One character for one: the only lower case of two characters loses its dot.
fn lower_char(c: char) -> char {
    if c.is_ascii() { c.to_ascii_lowercase() } else { single(c.to_lowercase()).unwrap_or('i') }
}

/// One character for one: those that would become several stay, but for the sharp s, which has a capital.
fn upper_char(c: char) -> char {
    match c {
        'ß' => 'ẞ',
        c if c.is_ascii() => c.to_ascii_uppercase(),
        c => single(c.to_uppercase()).unwrap_or(c),
    }
}

fn single(mut chars: impl ExactSizeIterator<Item = char>) -> Option<char> {
    if chars.len() == 1 { chars.next() } else { None }
}

fn trimmed(arguments: &[Argument<'_>], trim: for<'a> fn(&'a str, &str) -> &'a str) -> Resolving {
    resolved(takes(arguments, &[What::Text])?, FieldType::Text, move |columns, rows, failures| {
        let text = columns[0].as_string::<i32>();
        let set = columns.get(1).map(|column| column.as_string::<i32>());
        texts(columns, rows, failures, |row, out| {
            out.add(trim(text.value(row), set.map_or(" ", |set| set.value(row))));
            Ok(Some(()))
        })
    })
}

fn length(arguments: &[Argument<'_>], zone: &Zone) -> Resolving {
    if let Some(FieldType::List(_)) = arguments[0].ty {
        return (CARDINALITY.resolve)(arguments, zone);
    }
    resolved(takes(arguments, &[What::Text])?, FieldType::Int, |columns, rows, failures| {
        let text = columns[0].as_string::<i32>();
        let count = |row| Ok(Some(text.value(row).chars().count() as i64));
        Ok(Arc::new(values::<Int64Type>(columns, rows, failures, count)))
    })
}

/// A function of a text and an integer.
fn text_and_int(arguments: &[Argument<'_>], f: fn(&str, i64, &mut TextOut)) -> Resolving {
    resolved(takes(arguments, &[What::Text, What::Int])?, FieldType::Text, move |columns, rows, failures| {
        let (text, n) = (columns[0].as_string::<i32>(), columns[1].as_primitive::<Int64Type>());
        texts(columns, rows, failures, |row, out| {
            f(text.value(row), n.value(row), out);
            Ok(Some(()))
        })
    })
}

fn substr(arguments: &[Argument<'_>], _: &Zone) -> Resolving {
    resolved(takes(arguments, &[What::Text, What::Int])?, FieldType::Text, |columns, rows, failures| {
        let (text, start) = (columns[0].as_string::<i32>(), columns[1].as_primitive::<Int64Type>());
        let length = columns.get(2).map(|column| column.as_primitive::<Int64Type>());
        texts(columns, rows, failures, |row, out| {
            let length = length.map_or(i64::MAX, |length| length.value(row));
            out.add(part(text.value(row), start.value(row), length));
            Ok(Some(()))
        })
    })
}

/// Positions count from 1, negative ones from behind the end; what lies before the text is counted but not there. A
/// negative length reaches to the left.
fn part(text: &str, start: i64, length: i64) -> &str {
    let from = match start {
        1.. => start - 1,
        0 => -1,
        _ => characters(text).saturating_add(start),
    };
    let to = from.saturating_add(length);
    between(text, from.min(to), from.max(to))
}

fn characters(text: &str) -> i64 {
    text.chars().count() as i64
}

/// The characters from one (the first is 0) to another, exclusive, as far as they are there.
fn between(text: &str, from: i64, to: i64) -> &str {
    let from = usize::try_from(from).unwrap_or(0);
    let to = usize::try_from(to).unwrap_or(0);
    let start = byte_of(text, from);
    let end = byte_of(&text[start..], to.saturating_sub(from));
    &text[start..start + end]
}

/// The byte at which a character begins; the end if there is none.
fn byte_of(text: &str, character: usize) -> usize {
    // Of a text no longer than that in bytes no character needs to be looked at.
    if character >= text.len() {
        return text.len();
    }
    match text.as_bytes()[..character].is_ascii() {
        true => character,
        false => text.char_indices().nth(character).map_or(text.len(), |(byte, _)| byte),
    }
}

fn left(text: &str, n: i64) -> &str {
    let to = if n < 0 { characters(text).saturating_add(n) } else { n };
    between(text, 0, to)
}

fn right(text: &str, n: i64) -> &str {
    let from = if n < 0 { n.saturating_neg() } else { characters(text).saturating_sub(n) };
    between(text, from, i64::MAX)
}

/// At which end a text is filled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Start,
    End,
}

fn padded(arguments: &[Argument<'_>], end: End) -> Resolving {
    let wanted = [What::Text, What::Int, What::Text];
    resolved(takes(arguments, &wanted)?, FieldType::Text, move |columns, rows, failures| {
        let (text, n) = (columns[0].as_string::<i32>(), columns[1].as_primitive::<Int64Type>());
        let fill = columns[2].as_string::<i32>();
        texts(columns, rows, failures, |row, out| pad(text.value(row), n.value(row), fill.value(row), end, out))
    })
}

fn pad(text: &str, n: i64, fill: &str, end: End, out: &mut TextOut) -> Outcome<()> {
    let missing = n.saturating_sub(characters(text));
    if missing <= 0 {
        out.add(left(text, n.max(0)));
        return Ok(Some(()));
    }
    if fill.is_empty() {
        return Err(format!("nothing to fill \"{text}\" with"));
    }
    if end == End::End {
        out.add(text);
    }
    let of_fill = characters(fill);
    out.add_times(fill, usize::try_from(missing / of_fill).unwrap_or(usize::MAX));
    out.add(left(fill, missing % of_fill));
    if end == End::Start {
        out.add(text);
    }
    Ok(Some(()))
}

/// Finders of the parts in a column: made anew only where a part differs from that of the row before.
struct Finders<'a> {
    parts: &'a StringArray,
    last: Option<Finder<'a>>,
}

impl<'a> Finders<'a> {
    fn of(parts: &'a ArrayRef) -> Self {
        Self { parts: parts.as_string::<i32>(), last: None }
    }

    fn at(&mut self, row: usize) -> &Finder<'a> {
        let part = self.parts.value(row).as_bytes();
        if self.last.as_ref().is_some_and(|last| last.needle() != part) {
            self.last = None;
        }
        self.last.get_or_insert_with(|| Finder::new(part))
    }
}

fn replace(arguments: &[Argument<'_>], _: &Zone) -> Resolving {
    resolved(takes(arguments, &[What::Text])?, FieldType::Text, |columns, rows, failures| {
        let (text, by) = (columns[0].as_string::<i32>(), columns[2].as_string::<i32>());
        let mut finders = Finders::of(&columns[1]);
        texts(columns, rows, failures, |row, out| {
            replaced(text.value(row), finders.at(row), by.value(row), out);
            Ok(Some(()))
        })
    })
}

fn replaced(text: &str, part: &Finder<'_>, by: &str, out: &mut TextOut) {
    let mut from = 0;
    if !part.needle().is_empty() {
        for at in part.find_iter(text.as_bytes()) {
            out.add(&text[from..at]);
            out.add(by);
            from = at + part.needle().len();
        }
    }
    out.add(&text[from..]);
}

fn contains(arguments: &[Argument<'_>], _: &Zone) -> Resolving {
    resolved(takes(arguments, &[What::Text, What::Text])?, FieldType::Bool, |columns, rows, _| {
        let text = columns[0].as_string::<i32>();
        let mut finders = Finders::of(&columns[1]);
        Ok(truths(columns, rows, |row| finders.at(row).find(text.value(row).as_bytes()).is_some()))
    })
}

fn strpos(arguments: &[Argument<'_>], _: &Zone) -> Resolving {
    resolved(takes(arguments, &[What::Text, What::Text])?, FieldType::Int, |columns, rows, failures| {
        let text = columns[0].as_string::<i32>();
        let mut finders = Finders::of(&columns[1]);
        Ok(Arc::new(values::<Int64Type>(columns, rows, failures, |row| {
            let text = text.value(row);
            let at = finders.at(row).find(text.as_bytes());
            Ok(Some(at.map_or(0, |at| characters(&text[..at]) + 1)))
        })))
    })
}

fn split_part(arguments: &[Argument<'_>], _: &Zone) -> Resolving {
    let wanted = [What::Text, What::Text, What::Int];
    resolved(takes(arguments, &wanted)?, FieldType::Text, |columns, rows, failures| {
        let (text, n) = (columns[0].as_string::<i32>(), columns[2].as_primitive::<Int64Type>());
        let separator = columns[1].as_string::<i32>();
        texts(columns, rows, failures, |row, out| {
            out.add(nth_part(text.value(row), separator.value(row), n.value(row)));
            Ok(Some(()))
        })
    })
}

/// Nothing separates every character.
fn nth_part<'a>(text: &'a str, separator: &str, n: i64) -> &'a str {
    let count = usize::try_from(n.unsigned_abs()).unwrap_or(usize::MAX);
    let place = match (n, separator.is_empty()) {
        (0, _) => None,
        (_, true) => return part(text, n, 1),
        (1.., _) => Some(count - 1),
        // Not rsplit: a separator that overlaps itself is found from the left.
        _ => text.split(separator).count().checked_sub(count),
    };
    place.and_then(|place| text.split(separator).nth(place)).unwrap_or_default()
}

fn concat(arguments: &[Argument<'_>], _: &Zone) -> Resolving {
    resolved(takes(arguments, &[What::AsText])?, FieldType::Text, |columns, rows, failures| {
        let columns: Vec<&StringArray> = columns.iter().map(|column| column.as_string::<i32>()).collect();
        texts(&[], rows, failures, |row, out| {
            columns.iter().filter(|column| column.is_valid(row)).for_each(|column| out.add(column.value(row)));
            Ok(Some(()))
        })
    })
}

fn concat_ws(arguments: &[Argument<'_>], _: &Zone) -> Resolving {
    resolved(takes(arguments, &[What::AsText])?, FieldType::Text, |columns, rows, failures| {
        let all: Vec<&StringArray> = columns.iter().map(|column| column.as_string::<i32>()).collect();
        texts(&columns[..1], rows, failures, |row, out| {
            let mut between = "";
            for column in all[1..].iter().filter(|column| column.is_valid(row)) {
                out.add(between);
                out.add(column.value(row));
                between = all[0].value(row);
            }
            Ok(Some(()))
        })
    })
}
