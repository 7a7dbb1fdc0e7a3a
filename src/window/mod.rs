//! Which windows an instant lies in: pure arithmetic, half-open `[start, end)`.
//!
//! Must not know rows, keys or aggregates. Invariant: every window of `windows_of(ts)` holds `ts`. A kind of window is
//! one row of [`WINDOWS`] with its own file; nothing else in the crate lists the kinds.

use crate::error::Result;
use crate::time::{Span, Ts, Zone};
use std::fmt::Debug;

/// A half-open stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Window {
    /// Its exclusive end. First, so that windows sort by (end, start).
    pub end: Ts,
    /// Its first instant.
    pub start: Ts,
}

impl Window {
    /// The window `[start, end)`.
    pub fn new(start: Ts, end: Ts) -> Self {
        Window { end, start }
    }

    /// Whether `ts` lies in it.
    pub fn holds(self, ts: Ts) -> bool {
        self.start <= ts && ts < self.end
    }
}

/// Assigns instants to windows that are known from the instant alone.
pub trait Windower: Debug + Send + Sync {
    /// Appends every window that holds `ts`, ascending by (end, start). Never appends nothing.
    fn windows_of(&self, ts: Ts, out: &mut Vec<Window>);

    /// A stretch around `ts` all of whose instants lie in exactly the same windows. Records of one pane are
    /// aggregated once and shared by the windows; the longer the pane, the fewer there are. Panes never overlap:
    /// any two instants of one pane name the same pane.
    fn pane_of(&self, ts: Ts) -> Window;
}

/// What a job groups by time.
#[derive(Debug)]
pub enum Grouping {
    /// Windows known from each event alone.
    Windows(Box<dyn Windower>),
    /// Sessions: events of a key at most `gap` apart.
    Session {
        /// The greatest distance between two neighbours of one session.
        gap: Span,
    },
}

/// What windows are laid out by, beside their sizes.
#[derive(Clone, Debug)]
pub struct Grid {
    /// The zone whose wall clock calendar windows follow (`--tz`).
    pub zone: Zone,
    /// Moves the grid (`--offset`).
    pub offset: Span,
    /// Whether weeks start on Sunday instead of Monday.
    pub sunday_weeks: bool,
}

/// A kind of window: what it is called, what it means, and how its sizes are read.
pub struct WindowKind {
    /// The flag's name, also its name in the table.
    pub name: &'static str,
    /// The form of its value, for help: `SIZE`, `SIZE/SLIDE`.
    pub value: &'static str,
    /// One line for `-h`.
    pub doc: &'static str,
    /// Reads the value. The error says which size is wrong and why, without naming the flag.
    pub parse: fn(text: &str, grid: &Grid) -> Result<Grouping>,
}

/// Every kind of window there is.
pub static WINDOWS: &[&WindowKind] = &[];
