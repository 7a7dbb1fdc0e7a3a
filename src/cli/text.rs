//! Values of flags: texts to numbers, bounds and choices, with errors that name the flag.
//!
//! Must not know what a flag means.

use crate::error::{Error, Result};
use crate::plan::Bound;
use clap::Arg;
use std::fmt::Display;
use std::str::FromStr;

/// The same error as one of usage, behind the flag it came from: `--delay: expected ...`.
pub(super) fn in_flag(flag: impl Display, error: &Error) -> Error {
    let usage = Error::usage(format!("--{flag}: {}", error.message()));
    match error.hint_text() {
        Some(hint) => usage.hint(hint),
        None => usage,
    }
}

/// Reads a flag's value, if it was given.
pub(super) fn optional<T>(flag: &str, value: Option<&str>, read: impl FnOnce(&str) -> Result<T>) -> Result<Option<T>> {
    value.map(|text| read(text).map_err(|e| in_flag(flag, &e))).transpose()
}

/// Reads a flag that may be given several times, each time with a list.
pub(super) fn lists<T>(flag: &str, values: &[String], read: fn(&str) -> Result<Vec<T>>) -> Result<Vec<T>> {
    let mut all = Vec::new();
    for text in values {
        all.extend(read(text).map_err(|e| in_flag(flag, &e))?);
    }
    Ok(all)
}

/// Reads one of a few words.
pub(super) fn choice<T: Copy>(flag: &str, value: Option<&str>, choices: &[(&str, T)]) -> Result<Option<T>> {
    optional(flag, value, |text| match choices.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)) {
        Some((_, meaning)) => Ok(*meaning),
        None => {
            let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
            Err(Error::usage(format!("expected {}, found \"{text}\"", names.join(" or "))))
        }
    })
}

/// Reads a whole number.
pub(super) fn number<T: FromStr>(text: &str) -> Result<T> {
    text.replace('_', "").parse().map_err(|_| {
        let expected = if text.starts_with('-') { "a whole number of zero or more" } else { "a whole number" };
        Error::usage(format!("expected {expected}, found \"{text}\""))
    })
}

/// Reads a whole number from 1.
pub(super) fn positive(text: &str) -> Result<u64> {
    match number(text)? {
        0 => Err(Error::usage(format!("expected a number from 1, found \"{text}\""))),
        n => Ok(n),
    }
}

/// Reads `N` or `P%`.
pub(super) fn bound(text: &str) -> Result<Bound> {
    let wrong =
        || Error::usage(format!("expected a number or a percentage, found \"{text}\"")).hint("such as 100 or 0.5%");
    match text.strip_suffix('%').map(str::trim) {
        None => number(text).map(Bound::Count).map_err(|_| wrong()),
        Some(percent) => match percent.parse::<f64>() {
            Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(Bound::Percent(percent)),
            _ => Err(wrong()),
        },
    }
}

/// The same text with a capital letter at the start, as `-h` has its lines.
pub(super) fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect()
}

/// A flag with what a command says of it itself. One paragraph takes the place of the flag's first line, several take
/// that of all it says.
pub(super) fn reworded(arg: Arg, words: &[(&str, &str)]) -> Arg {
    let Some((_, text)) = words.iter().find(|(id, _)| arg.get_id() == *id) else { return arg };
    let line = text.split("\n\n").next().unwrap_or(text).to_owned();
    let rest = arg.get_long_help().map(ToString::to_string).unwrap_or_default();
    let full = match (text.contains("\n\n"), rest.split_once("\n\n")) {
        (false, Some((_, rest))) => format!("{text}\n\n{rest}"),
        _ => (*text).to_owned(),
    };
    arg.help(line).long_help(full)
}

/// The name that was probably meant.
pub(super) fn similar<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let scored = names.map(|name| (strsim::jaro_winkler(&text.to_ascii_lowercase(), name), name));
    scored.filter(|(score, _)| *score > 0.8).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_numbers_or_percentages() {
        assert_eq!(bound("100"), Ok(Bound::Count(100)));
        assert_eq!(bound("1_000"), Ok(Bound::Count(1_000)));
        assert_eq!(bound("0.5%"), Ok(Bound::Percent(0.5)));
        for wrong in ["", "%", "x", "-1", "101%", "NaN%", "1.5"] {
            let text = format!("expected a number or a percentage, found \"{wrong}\"\n  hint: such as 100 or 0.5%");
            assert_eq!(bound(wrong).map_err(|e| e.to_string()), Err(text));
        }
    }

    #[test]
    fn what_is_near_is_what_was_meant() {
        assert_eq!(similar("JSNOL", ["jsonl", "csv"].into_iter()), Some("jsonl"));
        assert_eq!(similar("xml", ["jsonl", "csv"].into_iter()), None);
    }
}
