//! Functions on text. Places and lengths count characters, from 1, as in DuckDB.

use super::FunctionKind;
use super::rows::{each, needs_text, texts, texts_with_nulls};
use crate::schema::FieldType::{Int, Text};

/// The functions of this family.
pub(super) static TEXT: &[FunctionKind] = &[
    FunctionKind {
        name: "lower",
        aliases: &["lcase"],
        usage: "lower(text)",
        doc: "the text in lower case",
        example: ("lower('ÄB')", "\"äb\""),
        least: 1,
        most: 1,
        resolve: |a, _| {
            needs_text(a, 0)?;
            Ok(texts(&[Text], |row, out| {
                let text = row.text(0);
                match text.is_ascii() {
                    true => out.extend(text.bytes().map(|b| char::from(b.to_ascii_lowercase()))),
                    false => out.extend(text.chars().map(|c| one_of(c, c.to_lowercase()))),
                }
                Ok(true)
            }))
        },
    },
    FunctionKind {
        name: "upper",
        aliases: &["ucase"],
        usage: "upper(text)",
        doc: "the text in upper case",
        example: ("upper('äb')", "\"ÄB\""),
        least: 1,
        most: 1,
        resolve: |a, _| {
            needs_text(a, 0)?;
            Ok(texts(&[Text], |row, out| {
                let text = row.text(0);
                match text.is_ascii() {
                    true => out.extend(text.bytes().map(|b| char::from(b.to_ascii_uppercase()))),
                    false => out.extend(text.chars().map(|c| one_of(c, c.to_uppercase()))),
                }
                Ok(true)
            }))
        },
    },
    FunctionKind {
        name: "trim",
        aliases: &[],
        usage: "trim(text [, characters])",
        doc: "the text without spaces (or these characters) at both ends",
        example: ("trim('  a ')", "\"a\""),
        least: 1,
        most: 2,
        resolve: |a, _| trimmed(a, true, true),
    },
    FunctionKind {
        name: "ltrim",
        aliases: &[],
        usage: "ltrim(text [, characters])",
        doc: "the text without spaces (or these characters) at its start",
        example: ("ltrim('xxa', 'x')", "\"a\""),
        least: 1,
        most: 2,
        resolve: |a, _| trimmed(a, true, false),
    },
    FunctionKind {
        name: "rtrim",
        aliases: &[],
        usage: "rtrim(text [, characters])",
        doc: "the text without spaces (or these characters) at its end",
        example: ("rtrim('a  ')", "\"a\""),
        least: 1,
        most: 2,
        resolve: |a, _| trimmed(a, false, true),
    },
    FunctionKind {
        name: "length",
        aliases: &["len", "char_length", "character_length"],
        usage: "length(text)",
        doc: "the number of characters",
        example: ("length('äb')", "2"),
        least: 1,
        most: 1,
        resolve: |a, _| {
            needs_text(a, 0)?;
            Ok(each(&[Text], |row| Ok(Some(row.text(0).chars().count() as i64))))
        },
    },
    FunctionKind {
        name: "substr",
        aliases: &["substring"],
        usage: "substr(text, start [, length])",
        doc: "the part from a character on (from 1; negative: from the end), of at most so many characters",
        example: ("substr('hello', 2, 3)", "\"ell\""),
        least: 2,
        most: 3,
        resolve: |a, _| {
            needs_text(a, 0)?;
            let takes = [Text, Int, Int];
            Ok(texts(&takes[..a.len()], |row, out| {
                let length = if row.len() > 2 { Some(row.int(2)) } else { None };
                part(row.text(0), row.int(1), length, out);
                Ok(true)
            }))
        },
    },
    FunctionKind {
        name: "left",
        aliases: &[],
        usage: "left(text, n)",
        doc: "the first n characters (negative: all but the last n)",
        example: ("left('hello', 2)", "\"he\""),
        least: 2,
        most: 2,
        resolve: |a, _| {
            needs_text(a, 0)?;
            Ok(texts(&[Text, Int], |row, out| {
                let (text, n) = (row.text(0), row.int(1));
                let keep = if n >= 0 { n } else { (text.chars().count() as i64).saturating_add(n).max(0) };
                out.extend(text.chars().take(usize::try_from(keep).unwrap_or(usize::MAX)));
                Ok(true)
            }))
        },
    },
    FunctionKind {
        name: "right",
        aliases: &[],
        usage: "right(text, n)",
        doc: "the last n characters (negative: all but the first n)",
        example: ("right('hello', 2)", "\"lo\""),
        least: 2,
        most: 2,
        resolve: |a, _| {
            needs_text(a, 0)?;
            Ok(texts(&[Text, Int], |row, out| {
                let (text, n) = (row.text(0), row.int(1));
                let skip =
                    if n >= 0 { (text.chars().count() as i64).saturating_sub(n).max(0) } else { n.saturating_neg() };
                out.extend(text.chars().skip(usize::try_from(skip).unwrap_or(usize::MAX)));
                Ok(true)
            }))
        },
    },
    FunctionKind {
        name: "replace",
        aliases: &[],
        usage: "replace(text, what, by)",
        doc: "the text with every occurrence replaced",
        example: ("replace('a-b-c', '-', '+')", "\"a+b+c\""),
        least: 3,
        most: 3,
        resolve: |a, _| {
            needs_text(a, 0)?;
            Ok(texts(&[Text, Text, Text], |row, out| {
                match row.text(1) {
                    "" => out.push_str(row.text(0)),
                    what => out.push_str(&row.text(0).replace(what, row.text(2))),
                }
                Ok(true)
            }))
        },
    },
    FunctionKind {
        name: "split_part",
        aliases: &[],
        usage: "split_part(text, separator, n)",
        doc: "the n-th part between separators (from 1; negative: from the end), '' where there is none",
        example: ("split_part('a/b/c', '/', 2)", "\"b\""),
        least: 3,
        most: 3,
        resolve: |a, _| {
            needs_text(a, 0)?;
            Ok(texts(&[Text, Text, Int], |row, out| {
                out.push_str(nth_part(row.text(0), row.text(1), row.int(2)));
                Ok(true)
            }))
        },
    },
    FunctionKind {
        name: "starts_with",
        aliases: &["prefix"],
        usage: "starts_with(text, start)",
        doc: "whether the text begins with another",
        example: ("starts_with('/api/v1', '/api')", "true"),
        least: 2,
        most: 2,
        resolve: |a, _| {
            needs_text(a, 0)?;
            Ok(each(&[Text, Text], |row| Ok(Some(row.text(0).starts_with(row.text(1))))))
        },
    },
    FunctionKind {
        name: "ends_with",
        aliases: &["suffix"],
        usage: "ends_with(text, end)",
        doc: "whether the text ends with another",
        example: ("ends_with('a.png', '.png')", "true"),
        least: 2,
        most: 2,
        resolve: |a, _| {
            needs_text(a, 0)?;
            Ok(each(&[Text, Text], |row| Ok(Some(row.text(0).ends_with(row.text(1))))))
        },
    },
    FunctionKind {
        name: "contains",
        aliases: &[],
        usage: "contains(text, part)",
        doc: "whether another text is somewhere in it",
        example: ("contains('hello', 'ell')", "true"),
        least: 2,
        most: 2,
        resolve: |a, _| {
            needs_text(a, 0)?;
            Ok(each(&[Text, Text], |row| Ok(Some(row.text(0).contains(row.text(1))))))
        },
    },
    FunctionKind {
        name: "strpos",
        aliases: &["instr"],
        usage: "strpos(text, part)",
        doc: "the place of another text in it, from 1; 0 where it is not",
        example: ("strpos('hello', 'l')", "3"),
        least: 2,
        most: 2,
        resolve: |a, _| {
            needs_text(a, 0)?;
            Ok(each(&[Text, Text], |row| {
                let text = row.text(0);
                Ok(Some(text.find(row.text(1)).map_or(0, |at| text[..at].chars().count() as i64 + 1)))
            }))
        },
    },
    FunctionKind {
        name: "reverse",
        aliases: &[],
        usage: "reverse(text)",
        doc: "the characters in reverse",
        example: ("reverse('abc')", "\"cba\""),
        least: 1,
        most: 1,
        resolve: |a, _| {
            needs_text(a, 0)?;
            Ok(texts(&[Text], |row, out| {
                out.extend(row.text(0).chars().rev());
                Ok(true)
            }))
        },
    },
    FunctionKind {
        name: "concat",
        aliases: &[],
        usage: "concat(a, b, ...)",
        doc: "all arguments as one text; nulls are left out (|| makes null of them)",
        example: ("concat('a', NULL, 1)", "\"a1\""),
        least: 1,
        most: usize::MAX,
        resolve: |a, _| {
            Ok(texts_with_nulls(&vec![Text; a.len()], |row, out| {
                (0..row.len()).filter(|&i| !row.is_null(i)).for_each(|i| out.push_str(row.text(i)));
                Ok(true)
            }))
        },
    },
    FunctionKind {
        name: "concat_ws",
        aliases: &[],
        usage: "concat_ws(separator, a, b, ...)",
        doc: "all further arguments with the separator between them; nulls are left out",
        example: ("concat_ws('-', 'a', NULL, 'b')", "\"a-b\""),
        least: 2,
        most: usize::MAX,
        resolve: |a, _| {
            Ok(texts_with_nulls(&vec![Text; a.len()], |row, out| {
                if row.is_null(0) {
                    return Ok(false);
                }
                for (n, i) in (1..row.len()).filter(|&i| !row.is_null(i)).enumerate() {
                    if n > 0 {
                        out.push_str(row.text(0));
                    }
                    out.push_str(row.text(i));
                }
                Ok(true)
            }))
        },
    },
];

/// The other case of a character where that is one character too; so a text keeps its length, as in DuckDB.
fn one_of(c: char, mut cased: impl Iterator<Item = char>) -> char {
    match (c, cased.next(), cased.next()) {
        (_, Some(one), None) => one,
        ('ß', ..) => 'ẞ',
        _ => c,
    }
}

fn trimmed(arguments: &[super::Argument<'_>], start: bool, end: bool) -> Result<super::Resolved, String> {
    needs_text(arguments, 0)?;
    Ok(texts(&[Text, Text][..arguments.len()], move |row, out| {
        let characters = if row.len() > 1 { row.text(1) } else { " " };
        let is_spare = |c: char| characters.contains(c);
        let mut text = row.text(0);
        if start {
            text = text.trim_start_matches(is_spare);
        }
        if end {
            text = text.trim_end_matches(is_spare);
        }
        out.push_str(text);
        Ok(true)
    }))
}

/// SQL's substring: characters `start .. start + length` where the first has place 1, as far as there are any. A
/// negative length reaches backwards.
fn part(text: &str, start: i64, length: Option<i64>, out: &mut String) {
    let count = text.chars().count() as i64;
    let start = if start < 0 { count.saturating_add(start).saturating_add(1) } else { start };
    let end = length.map_or(i64::MAX, |length| start.saturating_add(length));
    let (start, end) = (start.min(end), start.max(end));
    let skip = usize::try_from(start - 1).unwrap_or(0);
    let take = usize::try_from(end.saturating_sub(start.max(1))).unwrap_or(0);
    out.extend(text.chars().skip(skip).take(take));
}

fn nth_part<'a>(text: &'a str, separator: &str, n: i64) -> &'a str {
    if separator.is_empty() {
        let mut parts = text.char_indices().map(|(at, c)| &text[at..at + c.len_utf8()]);
        let nth = usize::try_from(n.unsigned_abs()).unwrap_or(usize::MAX).wrapping_sub(1);
        let part = if n > 0 { parts.nth(nth) } else { parts.rev().nth(nth) };
        return part.unwrap_or("");
    }
    match usize::try_from(n.unsigned_abs()).unwrap_or(usize::MAX) {
        0 => "",
        n_th if n > 0 => text.split(separator).nth(n_th - 1).unwrap_or(""),
        n_th => text.rsplit(separator).nth(n_th - 1).unwrap_or(""),
    }
}
