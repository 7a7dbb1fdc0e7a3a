//! Who may know what: each room's `crate::` uses against the table of the crate's documentation. A new dependency
//! between rooms is a decision, made here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Room, and the rooms it may use. Plain data (`error`, `schema`, `time`, `event`, `account`) is used widely; nothing
/// points back up the flow.
const MAY_USE: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("time", &["error"]),
    ("schema", &["time", "error"]),
    ("json", &["time"]),
    ("account", &["time"]),
    ("event", &["time"]),
    ("keys", &["json", "schema", "time"]),
    ("clock", &["account", "event", "keys", "plan", "time"]),
    ("window", &["error", "time"]),
    ("pairing", &["error", "event", "time", "window"]),
    ("aggregate", &["error", "schema"]),
    ("expr", &["aggregate", "error", "json", "keys", "schema", "time"]),
    ("format", &["error", "event", "json", "schema", "time"]),
    (
        "operator",
        &[
            "account",
            "aggregate",
            "error",
            "event",
            "expr",
            "json",
            "keys",
            "pairing",
            "plan",
            "schema",
            "time",
            "window",
        ],
    ),
    ("input", &["clock", "error", "event", "format", "panics", "plan", "schema", "signals", "time"]),
    ("output", &["error", "format", "signals", "time"]),
    ("report", &["account", "error", "plan", "time", "window"]),
    ("plan", &["expr", "format", "pairing", "schema", "time", "window"]),
    (
        "bind",
        &[
            "aggregate",
            "error",
            "event",
            "expr",
            "format",
            "input",
            "operator",
            "pairing",
            "plan",
            "report",
            "schema",
            "time",
            "window",
        ],
    ),
    ("cli", &["aggregate", "error", "expr", "format", "pairing", "plan", "schema", "time", "window"]),
    (
        "run",
        &[
            "account", "bind", "clock", "error", "event", "format", "input", "keys", "operator", "output", "plan",
            "report", "schema", "signals", "time", "window",
        ],
    ),
    ("panics", &["error"]),
    ("signals", &["error"]),
];

/// Words that belong to one room.
const ONLY_IN: &[(&str, &[&str])] = &[
    ("eprintln!(", &[]),
    ("eprint!(", &[]),
    ("std::fs::rename", &["output"]),
    ("io::stderr()", &["report", "cli", "output"]),
    ("io::stdout()", &["output", "cli"]),
    ("SystemTime::now", &["cli"]),
    ("process::exit", &[]),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// Each room's text outside of its tests.
fn rooms() -> BTreeMap<String, Vec<(PathBuf, String)>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut rooms: BTreeMap<String, Vec<(PathBuf, String)>> = BTreeMap::new();
    for path in files {
        let inside = path.strip_prefix(&root).unwrap();
        let room = inside.components().next().unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned();
        if room == "lib" || room == "main" || inside.ends_with("tests.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let text = text.split("#[cfg(test)]").next().unwrap_or_default().to_owned();
        rooms.entry(room).or_default().push((path, text));
    }
    rooms
}

/// The rooms a text uses: `crate::room`, also within `crate::{a, b}`.
fn used(text: &str) -> BTreeSet<String> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code: String = code.collect::<Vec<_>>().join("\n");
    let each = code.match_indices("crate::").map(|(at, word)| {
        let rest = &code[at + word.len()..];
        rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect::<String>()
    });
    each.filter(|room| !room.is_empty()).collect()
}

#[test]
fn rooms_know_only_what_they_may() {
    for (room, files) in rooms() {
        let Some((_, may)) = MAY_USE.iter().find(|(name, _)| *name == room) else {
            panic!("src/{room} is a new room: say in tests/arch.rs what it may use");
        };
        for (path, text) in files {
            for other in used(&text).into_iter().filter(|other| *other != room) {
                assert!(may.contains(&other.as_str()), "{}: {room} must not know {other}", path.display());
            }
        }
    }
}

#[test]
fn some_words_belong_to_one_room() {
    for (room, files) in rooms() {
        for (path, text) in &files {
            for (word, homes) in ONLY_IN {
                let at_home = homes.contains(&room.as_str());
                assert!(at_home || !text.contains(word), "{}: {word} belongs to {homes:?}", path.display());
            }
        }
    }
}

#[test]
fn every_file_says_what_it_is_for() {
    for (path, text) in rooms().into_values().flatten() {
        assert!(text.starts_with("//! "), "{} has no head comment", path.display());
    }
}
