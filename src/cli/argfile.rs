//! Flags that stand in a file: `@job.args` (SPEC section 8), spliced in before clap sees the command line.
//!
//! The one file that cli reads. Must not know any flag by name: which arguments are values of a flag, and so no file
//! (`--time @timestamp`), is asked of clap's own table. Every argument keeps the place it came from, for errors.

use crate::error::{Error, Result, io_reason};
use clap::Command;
use std::ffi::{OsStr, OsString};

/// One argument and, when it came from a file, `job.args:3`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Argument {
    pub(super) text: OsString,
    pub(super) place: Option<String>,
}

/// Replaces every `@file` that is not the value of a flag by the arguments in the file.
pub(super) fn expand(args: impl Iterator<Item = OsString>, command: &Command) -> Result<Vec<Argument>> {
    let mut out = Vec::new();
    let mut state = State::Free;
    for text in args {
        match file_name(&text).filter(|_| state == State::Free) {
            Some(path) => out.extend(read(path, command)?),
            None => {
                state = state.after(&text, command);
                out.push(Argument { text, place: None });
            }
        }
    }
    Ok(out)
}

fn file_name(text: &OsStr) -> Option<&str> {
    text.to_str()?.strip_prefix('@').filter(|path| !path.is_empty())
}

fn read(path: &str, command: &Command) -> Result<Vec<Argument>> {
    let text = std::fs::read_to_string(path).map_err(|e| unreadable(path, &e))?;
    let mut state = State::Free;
    let mut out = Vec::new();
    for (line, word) in split(&text).map_err(|(line, why)| Error::usage(why).at(format_args!("{path}:{line}")))? {
        let text = OsString::from(word);
        if state == State::Free && file_name(&text).is_some() {
            return Err(Error::usage("a file of flags cannot name another").at(format_args!("{path}:{line}")));
        }
        state = state.after(&text, command);
        out.push(Argument { text, place: Some(format!("{path}:{line}")) });
    }
    Ok(out)
}

fn unreadable(path: &str, error: &std::io::Error) -> Error {
    Error::usage(format!("@{path}: cannot read flags: {}", io_reason(error)))
        .hint(format!("@FILE stands for the flags in FILE; an input of this name is ./@{path}"))
}

/// What the next argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// A flag, an input or a file of flags.
    Free,
    /// The value of the flag before it.
    Value,
    /// An input: `--` stood before.
    Input,
}

impl State {
    fn after(self, text: &OsStr, command: &Command) -> State {
        match (self, text.to_str().unwrap_or_default()) {
            (State::Input, _) => State::Input,
            (State::Free, "--") => State::Input,
            (State::Free, flag) if awaits_value(flag, command) => State::Value,
            _ => State::Free,
        }
    }
}

/// Whether the next argument belongs to this one: `--time`, `-t`, `-qt`, but not `--time=x` or `-tx`.
fn awaits_value(text: &str, command: &Command) -> bool {
    if let Some(long) = text.strip_prefix("--") {
        return args_of(command).any(|arg| arg.get_long() == Some(long) && arg.get_action().takes_values());
    }
    let takes = |c| args_of(command).any(|arg| arg.get_short() == Some(c) && arg.get_action().takes_values());
    match text.strip_prefix('-') {
        Some(cluster) => cluster.chars().position(takes).is_some_and(|at| at + 1 == cluster.chars().count()),
        None => false,
    }
}

/// The flags of the command and its subcommands: no two of the same name differ in whether they take a value.
fn args_of(command: &Command) -> impl Iterator<Item = &clap::Arg> {
    command.get_arguments().chain(command.get_subcommands().flat_map(Command::get_arguments))
}

type Words = Vec<(usize, String)>;

/// Splits as a shell does: blanks between words, `'...'`, `"..."` and backslashes, `#` comments. Each word comes with
/// its line, from 1.
fn split(text: &str) -> Result<Words, (usize, &'static str)> {
    let mut words = Words::new();
    let mut chars = Chars { rest: text, line: 1 };
    while let Some(c) = chars.peek() {
        match c {
            '#' => chars.skip_while(|c| c != '\n'),
            c if c.is_whitespace() => chars.skip_while(char::is_whitespace),
            _ => words.push((chars.line, chars.word()?)),
        }
    }
    Ok(words)
}

struct Chars<'a> {
    rest: &'a str,
    line: usize,
}

impl Chars<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = &self.rest[c.len_utf8()..];
        self.line += usize::from(c == '\n');
        Some(c)
    }

    fn skip_while(&mut self, skip: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&skip) {
            self.next();
        }
    }

    fn word(&mut self) -> Result<String, (usize, &'static str)> {
        let mut word = String::new();
        while let Some(c) = self.peek().filter(|c| !c.is_whitespace()) {
            let line = self.line;
            self.next();
            match c {
                '\'' | '"' => self.quoted(c, &mut word).ok_or((line, "a quote is opened and never closed"))?,
                '\\' => word.extend(self.next().filter(|c| *c != '\n')),
                _ => word.push(c),
            }
        }
        Ok(word)
    }

    /// Up to the closing quote; in double quotes a backslash keeps `"`, `\`, `$` and a backquote as they are.
    fn quoted(&mut self, quote: char, word: &mut String) -> Option<()> {
        loop {
            match self.next()? {
                c if c == quote => return Some(()),
                '\\' if quote == '"' => match self.next()? {
                    c @ ('"' | '\\' | '$' | '`') => word.push(c),
                    '\n' => {}
                    c => word.extend(['\\', c]),
                },
                c => word.push(c),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn words(text: &str) -> Vec<(usize, String)> {
        split(text).unwrap()
    }

    fn expand_text(args: &[&str]) -> Result<Vec<String>> {
        let command = super::super::command();
        let all = expand(args.iter().map(OsString::from), &command)?;
        Ok(all.into_iter().map(|a| a.text.into_string().unwrap()).collect())
    }

    #[test]
    fn words_are_split_as_a_shell_does() {
        let text = "--delay 5m # how late\n\n-a 'sum(x) AS \"s\"' --by \"a \\\"b\\\"\"\n a\\ b'c'\"d\" x#y ''";
        let expected = [
            (1, "--delay"),
            (1, "5m"),
            (3, "-a"),
            (3, "sum(x) AS \"s\""),
            (3, "--by"),
            (3, "a \"b\""),
            (4, "a bcd"),
            (4, "x#y"),
            (4, ""),
        ];
        assert_eq!(words(text), expected.map(|(line, word)| (line, word.to_owned())));
        assert_eq!(words("\"a\nb\" c"), [(1, "a\nb".into()), (2, "c".into())]);
        assert_eq!(split("a\n'b"), Err((2, "a quote is opened and never closed")));
    }

    #[test]
    fn a_value_that_starts_with_an_at_sign_is_no_file() {
        for args in [
            &["windrow", "window", "--time", "@timestamp"][..],
            &["windrow", "window", "-qt", "@timestamp"],
            &["windrow", "window", "-t@timestamp", "--time=@timestamp"],
            &["windrow", "window", "--", "@file"],
            &["windrow", "window", "@"],
        ] {
            assert_eq!(expand_text(args).unwrap(), args);
        }
    }

    #[test]
    fn a_file_of_flags_is_spliced_in() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(file, "-t @timestamp # the time\n--delay 5m").unwrap();
        let name = format!("@{}", file.path().display());
        let all = expand(["windrow", "window", &name, "-q"].into_iter().map(OsString::from), &super::super::command());
        let all = all.unwrap();
        let texts: Vec<_> = all.iter().map(|a| a.text.to_str().unwrap()).collect();
        assert_eq!(texts, ["windrow", "window", "-t", "@timestamp", "--delay", "5m", "-q"]);
        assert_eq!(all[4].place, Some(format!("{}:2", file.path().display())));
        assert_eq!(all[6].place, None);
    }

    #[test]
    fn a_file_that_cannot_be_used_is_a_usage_error() {
        let error = expand_text(&["windrow", "@no/such.args"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "@no/such.args: cannot read flags: no such file or directory\n  \
             hint: @FILE stands for the flags in FILE; an input of this name is ./@no/such.args"
        );
        assert_eq!(error.exit_code(), 2);
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(file, "--quiet\n@other.args").unwrap();
        let path = file.path().display().to_string();
        let error = expand_text(&["windrow", &format!("@{path}")]).unwrap_err();
        assert_eq!(error.to_string(), format!("{path}:2: a file of flags cannot name another"));
    }
}
