//! What goes together: every operation of a `window` job against every output mode, as data.
//!
//! One table serves the check before anything is read, the man page, and the test that tries each cell. Must not know
//! the values of flags, only which were given.

use super::prose::Paragraph;
use crate::error::{Error, Result};

/// What a person says of when rows are written, by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ModeName {
    /// Each window once.
    #[default]
    Append,
    /// Windows that changed.
    Update,
    /// The whole table.
    Complete,
}

/// Every mode, in the order of the table's columns, as it is typed.
pub(super) const MODES: [(&str, ModeName); 3] =
    [("append", ModeName::Append), ("update", ModeName::Update), ("complete", ModeName::Complete)];

/// A row of the table.
pub(super) struct Operation {
    /// The flag as it is asked for, with a word where that makes a difference: `--trigger count`.
    pub(super) name: &'static str,
    /// The form of its value, for people.
    value: &'static str,
    /// What it comes to in each mode.
    pub(super) cells: [Cell; 3],
}

/// Whether an operation goes with a mode.
#[derive(Clone, Copy)]
pub(super) enum Cell {
    /// Always, or if all these are met.
    Yes(&'static [Need]),
    /// Never. The sentence says why and what to use; `FLAG` in it is the operation's name.
    No(&'static str),
}

/// What an operation needs beside it.
#[derive(Clone, Copy)]
pub(super) struct Need {
    /// One of these operations must be asked for.
    pub(super) any: &'static [&'static str],
    /// Stands for the need in the table.
    letter: char,
    /// What the letter means.
    legend: &'static str,
    /// The refusal; `FLAG` in it is the operation's name.
    pub(super) refusal: &'static str,
}

const TRIGGERS: &[&str] = &["--trigger count", "--trigger event-time", "--trigger wall", "--trigger when"];
const ENDING: &[&str] = &["--tumbling", "--sliding", "--cumulate", "--session"];
const STARTING: &[&str] = &["--tumbling", "--sliding", "--cumulate", "--session", "--count"];

const DELAY: Need = Need {
    any: &["--delay"],
    letter: 'D',
    legend: "with --delay",
    refusal: "FLAG needs a moving watermark: add --delay",
};
const TRIGGER: Need = Need {
    any: TRIGGERS,
    letter: 'T',
    legend: "with --trigger",
    refusal: "FLAG needs --trigger, as an endless window is never final: --trigger event-time:1h writes it every hour",
};
const PURGED: Need = Need {
    any: &["--purge"],
    letter: 'P',
    legend: "with --purge",
    refusal: "FLAG in --mode append writes each record's share once: add --purge, or use --mode update or complete",
};
const GLOBAL: Need = Need {
    any: &["--global"],
    letter: 'G',
    legend: "with --global",
    refusal: "--purge empties an endless window: use it with --global",
};
const ENDLESS: Need = Need {
    any: &["--global"],
    letter: 'G',
    legend: "with --global",
    refusal: "--trigger writes windows before they are final, and --mode append writes each once: use --mode update or \
              complete, or --global --purge",
};
const ENDS: Need = Need {
    any: ENDING,
    letter: 'W',
    legend: "with --tumbling, --sliding, --cumulate or --session",
    refusal: "FLAG is about late records, and with --global or --count nothing is late: leave it out, or use windows \
              of time",
};
const KEPT: Need = Need {
    any: ENDING,
    letter: 'W',
    legend: "with --tumbling, --sliding, --cumulate or --session",
    refusal: "--keep is about windows that end: use it with --tumbling, --sliding, --cumulate or --session",
};
const STARTS: Need = Need {
    any: STARTING,
    letter: 'S',
    legend: "with any windows but --global",
    refusal: "FLAG goes by the start of a window, and an endless one has none: use --where on the time instead",
};
const GRID: Need = Need {
    any: &["--tumbling", "--sliding"],
    letter: 'R',
    legend: "with --tumbling or --sliding",
    refusal: "--fill needs windows that follow each other: use it with --tumbling or --sliding",
};
const FILLED: Need = Need {
    any: &["--fill"],
    letter: 'F',
    legend: "with --fill",
    refusal: "--fill-max bounds what --fill writes: add --fill zero, null or previous",
};
const ORDERED: Need = Need {
    any: &["--order-by"],
    letter: 'O',
    legend: "with --order-by",
    refusal: "--top needs to know what is greatest: add --order-by 'count DESC'",
};
const TOPPED: Need = Need {
    any: &["--top"],
    letter: 'N',
    legend: "with --top",
    refusal: "--top-by ranks the rows of each key by themselves: add --top N",
};
const RANKED: Need = Need {
    any: &["--tumbling", "--sliding", "--cumulate", "--session", "--global"],
    letter: 'M',
    legend: "with any windows but --count",
    refusal: "FLAG ranks the keys of a window, and each window of --count has a single one: use windows of time, or \
              --global",
};
const KEEPING: Need = Need {
    any: &["--keep"],
    letter: 'K',
    legend: "with --keep",
    refusal: "FLAG is about late records, and in --mode complete nothing is late: add --keep, or leave it out",
};

const YES: Cell = Cell::Yes(&[]);
/// Every need there is, for the legend.
const NEEDS: [Need; 12] =
    [DELAY, TRIGGER, PURGED, GLOBAL, ENDS, STARTS, GRID, FILLED, ORDERED, TOPPED, RANKED, KEEPING];

const LATE: [Cell; 3] = [Cell::Yes(&[ENDS, DELAY]), Cell::Yes(&[ENDS, DELAY]), Cell::Yes(&[ENDS, KEEPING, DELAY])];
const FILL: [Cell; 3] = [
    Cell::Yes(&[GRID]),
    Cell::No("FLAG writes windows that stay empty, which is known when they are final: use --mode append"),
    Cell::No("FLAG writes windows that stay empty, which is known when they are final: use --mode append"),
];
const SINCE: [Cell; 3] = [Cell::Yes(&[STARTS]); 3];

const fn row(name: &'static str, value: &'static str, cells: [Cell; 3]) -> Operation {
    Operation { name, value, cells }
}

/// Every operation that a mode, or another operation, can stand in the way of. Refusals come in this order.
pub(super) static OPERATIONS: &[Operation] = &[
    row("--tumbling", "SIZE", [YES; 3]),
    row("--sliding", "SIZE/SLIDE", [YES; 3]),
    row("--cumulate", "SIZE/STEP", [YES; 3]),
    row("--session", "GAP", [YES; 3]),
    row(
        "--count",
        "N",
        [
            YES,
            Cell::No(
                "--mode update tells rows apart by window and key, and two windows of --count may have the same \
                      first and last time: use --mode append or complete",
            ),
            YES,
        ],
    ),
    row("--global", "", [Cell::Yes(&[TRIGGER, PURGED]), Cell::Yes(&[TRIGGER]), Cell::Yes(&[])]),
    row(
        "--purge",
        "",
        [
            Cell::Yes(&[GLOBAL]),
            Cell::Yes(&[GLOBAL]),
            Cell::No("--purge forgets rows, and --mode complete writes all of them: use --mode append or update"),
        ],
    ),
    row("--trigger count", ":N", [Cell::Yes(&[ENDLESS]), YES, YES]),
    row("--trigger event-time", ":D", [Cell::Yes(&[ENDLESS, DELAY]), Cell::Yes(&[DELAY]), Cell::Yes(&[DELAY])]),
    row("--trigger wall", ":D", [Cell::Yes(&[ENDLESS]), YES, YES]),
    row("--trigger when", ":EXPR", [Cell::Yes(&[ENDLESS]), YES, YES]),
    row("--late", "FILE", LATE),
    row("--max-late", "N|P%", LATE),
    row(
        "--allowed-lateness",
        "D",
        [
            Cell::No(
                "--allowed-lateness corrects rows, and --mode append writes each once: use --mode update, or a \
                      longer --delay",
            ),
            Cell::Yes(&[ENDS, DELAY]),
            Cell::No(
                "--allowed-lateness is for --mode update: --mode complete takes late records in as it is, and \
                      --keep says for how long",
            ),
        ],
    ),
    row(
        "--keep",
        "D",
        [
            Cell::No("--keep bounds the table of --mode complete: use it with that mode"),
            Cell::No("--keep bounds the table of --mode complete: use --allowed-lateness in --mode update"),
            Cell::Yes(&[KEPT, DELAY]),
        ],
    ),
    row("--where", "EXPR", [YES; 3]),
    row("--having", "EXPR", [YES; 3]),
    row("--order-by", "LIST", [YES; 3]),
    row("--top", "N", [Cell::Yes(&[RANKED, ORDERED]), Cell::Yes(&[ORDERED]), Cell::Yes(&[RANKED, ORDERED])]),
    row("--top-by", "KEYS", [Cell::Yes(&[TOPPED]); 3]),
    row("--fill", "zero|null|previous", FILL),
    row("--fill-max", "N", [Cell::Yes(&[FILLED]), FILL[1], FILL[2]]),
    row("--since", "T", SINCE),
    row("--until", "T", SINCE),
    row(
        "--limit",
        "N",
        [YES, YES, Cell::No("--limit would cut a table off, and --mode complete writes whole ones: use --top N")],
    ),
];

/// Refuses what cannot be had together. `asked`: the names of the operations given, and `--delay`.
pub(super) fn check(mode: ModeName, asked: &[&str]) -> Result<()> {
    OPERATIONS.iter().filter(|operation| asked.contains(&operation.name)).try_for_each(|operation| {
        match operation.cells[mode as usize] {
            Cell::No(refusal) => Err(refused(operation, refusal)),
            Cell::Yes(needs) => match needs.iter().find(|need| !need.any.iter().any(|name| asked.contains(name))) {
                Some(need) => Err(refused(operation, need.refusal)),
                None => Ok(()),
            },
        }
    })
}

fn refused(operation: &Operation, refusal: &str) -> Error {
    let error = Error::usage(refusal.replace("FLAG", operation.name));
    match refusal == DELAY.refusal {
        true => error.hint("--delay 1m waits a minute for late events; without it nothing is late"),
        false => error,
    }
}

/// A kind of window as the table has it.
pub(super) fn kind_name(kind: &str) -> Option<&'static str> {
    OPERATIONS.iter().map(|operation| operation.name).find(|name| name.strip_prefix("--") == Some(kind))
}

/// The table for people, and what its letters mean.
pub(super) fn table() -> Vec<Paragraph> {
    let mut lines = line("", MODES.map(|(name, _)| name.to_owned()));
    for operation in OPERATIONS {
        let gap = if operation.name.starts_with("--trigger") { "" } else { " " };
        let name = format!("{}{gap}{}", operation.name, operation.value);
        lines.push_str(&line(&name, operation.cells.map(shown)));
    }
    let legend = NEEDS.iter().map(|need| Paragraph::Item(need.letter.to_string(), need.legend.to_owned()));
    std::iter::once(Paragraph::Code(lines)).chain(legend).collect()
}

fn line(name: &str, cells: [String; 3]) -> String {
    let line = cells.iter().fold(format!("{name:27}"), |line, cell| format!("{line}{cell:8}"));
    format!("{}\n", line.trim_end())
}

fn shown(cell: Cell) -> String {
    match cell {
        Cell::Yes([]) => "yes".to_owned(),
        Cell::Yes(needs) => needs.iter().map(|need| need.letter.to_string()).collect::<Vec<_>>().join(" "),
        Cell::No(_) => "no".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::WINDOWS;
    use std::collections::BTreeMap;

    #[test]
    fn every_kind_of_window_is_an_operation() {
        for kind in WINDOWS {
            let name = format!("--{}", kind.name);
            let found = OPERATIONS.iter().find(|operation| operation.name == name);
            assert_eq!(found.map(|operation| operation.value), Some(kind.value), "{name}");
        }
    }

    #[test]
    fn a_letter_means_one_thing_and_all_needs_can_be_met() {
        let mut letters = BTreeMap::new();
        for need in NEEDS {
            assert_eq!(letters.insert(need.letter, need.legend), None, "{}", need.letter);
        }
        for operation in OPERATIONS {
            for need in operation.cells.iter().flat_map(|cell| if let Cell::Yes(needs) = cell { *needs } else { &[] }) {
                assert_eq!(letters.get(&need.letter), Some(&need.legend), "{}", operation.name);
                for name in need.any {
                    assert!(*name == "--delay" || OPERATIONS.iter().any(|other| other.name == *name), "{name}");
                }
            }
        }
    }

    #[test]
    fn a_refusal_is_one_sentence() {
        let needs = OPERATIONS.iter().flat_map(|operation| &operation.cells).flat_map(|cell| match cell {
            Cell::Yes(needs) => needs.iter().map(|need| need.refusal).collect(),
            Cell::No(refusal) => vec![*refusal],
        });
        for refusal in needs {
            assert!(refusal.starts_with("--") || refusal.starts_with("FLAG"), "{refusal}");
            assert!(!refusal.contains(". ") && !refusal.ends_with('.') && refusal.contains(':'), "{refusal}");
        }
    }
}
