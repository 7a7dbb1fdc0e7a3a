//! The slow, obvious model of `windrow lookup` (SPEC section 7): every event against every row of the table. Must not
//! use the program's own code.

use crate::join_model::{On, merged};
use crate::model::{Event, Place};
use crate::rows_model::Cell;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Backward,
    Forward,
    Nearest,
}

/// What becomes of several rows of a key in a table without times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Several {
    First,
    All,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    Static(Option<Several>),
    AsOf { direction: Direction, tolerance: Option<i64>, deletes: bool },
}

/// A job of this model. A version with `v = 0` is an end, where the job deletes.
#[derive(Clone, Copy)]
pub struct Lookup<'a> {
    pub on: &'a On,
    pub way: Way,
    /// `left`, `inner` or `anti`.
    pub how: &'static str,
    /// Only rows of the table with `v > 0` are in it.
    pub positive: bool,
}

impl std::fmt::Debug for Lookup<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} on {:?} {} {}", self.way, self.on.text, self.how, self.positive)
    }
}

/// An event, and the row of the table that it got.
pub type Found = (Place, Option<usize>);

/// Events in merge order, each with what it got.
pub fn answer(job: &Lookup<'_>, events: &[Vec<Event>], table: &[Event]) -> Vec<Found> {
    let mut found = Vec::new();
    for (file, row) in merged(events) {
        let Some(row) = row else { continue };
        let got = rows_for(job, &events[file][row], table);
        found.extend((got.is_empty() && job.how != "inner").then_some(((file, row), None)));
        found.extend(got.into_iter().filter(|_| job.how != "anti").map(|at| ((file, row), Some(at))));
    }
    found
}

/// Whether two rows of the table have one key.
pub fn has_duplicates(on: &On, table: &[Event]) -> bool {
    let keys: Vec<Vec<Cell>> = table.iter().map(on.right).filter(|keys| !keys.contains(&Cell::Null)).collect();
    (1..keys.len()).any(|i| keys[..i].contains(&keys[i]))
}

fn rows_for(job: &Lookup<'_>, event: &Event, table: &[Event]) -> Vec<usize> {
    let keys = (job.on.left)(event);
    let same = |at: &usize| (job.on.right)(&table[*at]) == keys && !keys.contains(&Cell::Null);
    let is_in = |at: &usize| !job.positive || table[*at].v.is_some_and(|v| v > 0);
    let candidates: Vec<usize> = (0..table.len()).filter(same).filter(is_in).collect();
    match job.way {
        Way::Static(Some(Several::All)) => candidates,
        Way::Static(_) => candidates.into_iter().take(1).collect(),
        Way::AsOf { direction, tolerance, deletes } => {
            let away = |at: usize| (table[at].t - event.t).abs();
            let before =
                candidates.iter().copied().filter(|at| table[*at].t <= event.t).max_by_key(|at| (table[*at].t, *at));
            let after =
                candidates.iter().copied().filter(|at| table[*at].t >= event.t).min_by_key(|at| (table[*at].t, *at));
            let got = match direction {
                Direction::Backward => before,
                Direction::Forward => after,
                // Equally distant: backward.
                Direction::Nearest => [before, after].into_iter().flatten().min_by_key(|at| away(*at)),
            };
            let near = |at: &usize| tolerance.is_none_or(|most| away(*at) <= most);
            let lives = |at: &usize| !(deletes && table[*at].v == Some(0));
            got.filter(near).filter(lives).into_iter().collect()
        }
    }
}
