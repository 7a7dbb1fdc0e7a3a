//! Man pages from the clap definitions and [`prose`](super::prose), as roff that `mandoc -T lint` has no word against.
//!
//! Not by clap_mangen, which sorts flags by name, drops the names of values from the synopsis and knows no headings.
//! The pages are committed under `man/`; a test compares.

use super::command;
use super::help::{full_about, full_text, groups, takes_any_number, value, visible};
use super::prose::{self, Paragraph, Section};
use super::{Error, Result};
use crate::window::WINDOWS;
use clap::Arg;

/// The date on the pages, changed by hand: a page that changes with the day it was made could not be compared.
const DATE: &str = "2026-11-30";

/// The page of `windrow`, or of one of its commands.
pub(super) fn page(name: &str) -> Result<String> {
    if name == "windrow" {
        return Ok(main_page());
    }
    match visible().find(|sub| sub.get_name() == name) {
        Some(sub) => Ok(command_page(&sub)),
        None => Err(Error::usage(format!("no man page {name}"))),
    }
}

fn main_page() -> String {
    let top = command();
    let mut page = head("windrow", &about(&top));
    page.section("SYNOPSIS");
    page.line("\\fBwindrow\\fR \\fIcommand\\fR [\\fIflags\\fR] [\\fIinput\\fR ...]");
    page.section("DESCRIPTION");
    page.paragraphs(&full_about(&top));
    page.section("COMMANDS");
    for sub in visible() {
        page.item(&format!("\\fBwindrow\\-{}\\fR(1)", sub.get_name()), &about(&sub));
    }
    page.section("OPTIONS");
    page.item("\\fB\\-h\\fR, \\fB\\-\\-help\\fR", "What there is.");
    page.item("\\fB\\-V\\fR, \\fB\\-\\-version\\fR", "The version.");
    prose::man_sections("windrow").iter().for_each(|section| page.prose(section));
    page.see_also(visible().map(|sub| format!("windrow\\-{}", sub.get_name())));
    page.0
}

fn command_page(sub: &clap::Command) -> String {
    let name = sub.get_name();
    let mut page = head(&format!("windrow-{name}"), &about(sub));
    page.section("SYNOPSIS");
    page.line(&roff_synopsis(sub));
    page.section("DESCRIPTION");
    page.paragraphs(&full_about(sub));
    page.section("OPTIONS");
    for (heading, args) in groups(sub) {
        page.line(&format!(".SS {}", escape(&heading)));
        args.iter().for_each(|arg| page.flag(arg));
    }
    prose::man_sections(name).iter().for_each(|section| page.prose(section));
    let others = visible().map(|other| other.get_name().to_owned()).filter(|other| other != name);
    page.see_also(std::iter::once("windrow".to_owned()).chain(others.map(|other| format!("windrow\\-{other}"))));
    page.0
}

fn about(command: &clap::Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

fn head(name: &str, about: &str) -> Page {
    let version = env!("CARGO_PKG_VERSION");
    let mut page = Page(String::new());
    page.line(&format!(".TH {} 1 {DATE} \"windrow {version}\" \"windrow manual\"", escape(&name.to_uppercase())));
    page.section("NAME");
    page.line(&format!("{} \\- {}", escape(name), escape(about)));
    page
}

/// The command, flags that it needs, the kinds of windows of which there is one, the other flags, and what they work
/// on.
fn roff_synopsis(sub: &clap::Command) -> String {
    let (kinds, flags): (Vec<&Arg>, Vec<&Arg>) = sub.get_opts().partition(|arg| is_kind(sub, arg));
    let (needed, flags): (Vec<&Arg>, Vec<&Arg>) = flags.into_iter().partition(|arg| is_needed(arg));
    let kinds: Vec<_> = kinds.into_iter().map(short_term).collect();
    let mut parts = vec![format!("\\fB{}\\fR", escape(&format!("windrow {}", sub.get_name())))];
    parts.extend(needed.into_iter().map(short_term));
    if !kinds.is_empty() {
        parts.push(kinds.join(" | "));
    }
    parts.extend(flags.into_iter().filter(|arg| !arg.is_hide_set()).map(|arg| format!("[{}]", short_term(arg))));
    parts.extend(sub.get_positionals().map(|arg| match takes_any_number(arg) {
        true => format!("[\\fI{}\\fR ...]", escape(&value(arg))),
        false => format!("\\fI{}\\fR", escape(&value(arg))),
    }));
    parts.join("\n")
}

/// Whether it is one of several of which the command needs one.
fn is_kind(sub: &clap::Command, arg: &Arg) -> bool {
    let bounds: &[&str] = if sub.get_name() == "join" { &["within", "window"] } else { &[] };
    WINDOWS.iter().map(|kind| kind.name).chain(bounds.iter().copied()).any(|name| arg.get_id() == name)
}

/// Whether its command does nothing without it. clap is not told so, as our words for what is missing are better.
fn is_needed(arg: &Arg) -> bool {
    ["on", "table"].iter().any(|name| arg.get_id() == name)
}

/// `-t FIELD`, or `--tz ZONE` where there is no short form.
fn short_term(arg: &Arg) -> String {
    let name = match (arg.get_short(), arg.get_long()) {
        (Some(short), _) => format!("-{short}"),
        (None, long) => format!("--{}", long.unwrap_or_default()),
    };
    let value =
        if arg.get_action().takes_values() { format!(" \\fI{}\\fR", escape(&value(arg))) } else { String::new() };
    format!("\\fB{}\\fR{value}", escape(&name))
}

struct Page(String);

impl Page {
    fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    fn section(&mut self, title: &str) {
        self.line(&format!(".SH {}", escape(title)));
    }

    fn paragraphs(&mut self, text: &str) {
        for (i, paragraph) in text.split("\n\n").enumerate() {
            if i > 0 {
                self.line(".PP");
            }
            self.text(paragraph);
        }
    }

    /// One source line per sentence, as roff wants it.
    fn text(&mut self, paragraph: &str) {
        let words = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut rest = words.as_str();
        while let Some(end) = rest.find(". ") {
            self.sentence(&rest[..=end]);
            rest = &rest[end + 2..];
        }
        self.sentence(rest);
    }

    fn sentence(&mut self, text: &str) {
        self.line(&escape(text));
    }

    fn item(&mut self, term: &str, text: &str) {
        self.line(".TP");
        self.line(term);
        self.text(text);
    }

    fn flag(&mut self, arg: &Arg) {
        self.line(".TP");
        self.line(&term(arg));
        for (i, paragraph) in full_text(arg).split("\n\n").enumerate() {
            if i > 0 {
                self.line(".sp");
            }
            self.text(paragraph);
        }
    }

    fn prose(&mut self, section: &Section) {
        self.section(section.title);
        let mut after_item = false;
        for (i, paragraph) in section.paragraphs.iter().enumerate() {
            match paragraph {
                Paragraph::Item(term, text) => self.item(&format!("\\fB{}\\fR", escape(term)), text),
                Paragraph::Code(code) => self.code(code),
                Paragraph::Text(text) => {
                    if i > 0 || after_item {
                        self.line(".PP");
                    }
                    self.text(text);
                }
            }
            after_item = matches!(paragraph, Paragraph::Item(..));
        }
    }

    fn code(&mut self, code: &str) {
        self.line(".RS 4");
        self.line(".nf");
        code.lines().for_each(|line| self.line(&escape(line)));
        self.line(".fi");
        self.line(".RE");
    }

    fn see_also(&mut self, pages: impl Iterator<Item = String>) {
        self.section("SEE ALSO");
        let names = pages.map(|name| format!("\\fB{name}\\fR(1)"));
        self.line(&names.collect::<Vec<_>>().join(",\n"));
    }
}

/// `-t, --time FIELD` in bold and italics.
fn term(arg: &Arg) -> String {
    let short = arg.get_short().map(|short| format!("\\fB\\-{short}\\fR"));
    let long = arg.get_long().map(|long| format!("\\fB{}\\fR", escape(&format!("--{long}"))));
    let names = short.into_iter().chain(long).collect::<Vec<_>>().join(", ");
    match value(arg) {
        value if arg.get_action().takes_values() => {
            format!("{names} \\fI{}\\fR", escape(&value)).trim_start().to_owned()
        }
        _ => names,
    }
}

/// Text as roff shows it: hyphens stay hyphens, and no line is taken for a request.
fn escape(text: &str) -> String {
    let escaped = text.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    match escaped.starts_with('.') {
        true => format!("\\&{escaped}"),
        false => escaped,
    }
}
