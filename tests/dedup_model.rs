//! The slow, obvious model of `windrow dedup` (SPEC section 7), record by record. Must not use the program's own code.

use crate::join_model::Condition;
use crate::model::{Event, Job, Place, steps};
use crate::rows_model::Cell;

/// What a record is known by.
pub type KeyOf = (&'static str, fn(&Event) -> Vec<Cell>);

/// A job of this model. Without a key, records are known by all they are.
#[derive(Clone)]
pub struct Dedup {
    pub clock: Job,
    pub by: Option<KeyOf>,
    pub within: Option<i64>,
    pub keep: Option<Condition>,
}

impl std::fmt::Debug for Dedup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (by, keep) = (self.by.map(|by| by.0), self.keep.map(|keep| keep.0));
        write!(f, "by {by:?} within {:?} where {keep:?} {:?}", self.within, self.clock)
    }
}

/// Where records went, each in merge order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    pub passed: Vec<Place>,
    pub duplicate: Vec<Place>,
    pub late: Vec<Place>,
    pub filtered: Vec<Place>,
}

impl Answer {
    /// Of a file: read, used, filtered, late, duplicate.
    pub fn ledger(&self, file: usize) -> [u64; 5] {
        let count = |places: &[Place]| places.iter().filter(|place| place.0 == file).count() as u64;
        let [used, filtered, late, duplicate] =
            [&self.passed, &self.filtered, &self.late, &self.duplicate].map(|places| count(places));
        [used + filtered + late + duplicate, used, filtered, late, duplicate]
    }
}

/// All of a record.
fn whole(e: &Event) -> Vec<Cell> {
    vec![Cell::Int(e.t), Cell::Int(e.device.into()), Cell::text(e.key.as_deref()), e.v.map_or(Cell::Null, Cell::Int)]
}

/// What the files come to.
pub fn answer(job: &Dedup, files: &[Vec<Event>]) -> Answer {
    let mut answer = Answer::default();
    // The keys and times of records that passed and are remembered.
    let mut kept: Vec<(Vec<Cell>, i64)> = Vec::new();
    for step in steps(&job.clock, files) {
        let Some((place, event)) = step.record else {
            forget(&mut kept, job.within, step.after);
            continue;
        };
        let keys = job.by.map_or(whole as fn(&Event) -> Vec<Cell>, |by| by.1)(&event);
        let same = |(other, t): &(Vec<Cell>, i64)| {
            *other == keys && job.within.is_none_or(|within| (event.t - t).abs() <= within)
        };
        let nameless = keys.iter().all(|key| *key == Cell::Null);
        if job.keep.is_some_and(|(_, holds)| holds(&event) != Some(true)) {
            answer.filtered.push(place);
        } else if !nameless && kept.iter().any(same) {
            answer.duplicate.push(place);
        } else if event.t < step.judge {
            answer.late.push(place);
        } else {
            answer.passed.push(place);
            kept.push((keys, event.t));
        }
        forget(&mut kept, job.within, step.after);
    }
    answer
}

fn forget(kept: &mut Vec<(Vec<Cell>, i64)>, within: Option<i64>, mark: i64) {
    if let Some(within) = within {
        kept.retain(|(_, t)| mark <= t + within);
    }
}
