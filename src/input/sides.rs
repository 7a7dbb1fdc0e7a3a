//! Two sides as one sequence: the next record is the one that moves its file's progress least far, whichever side the
//! file is on. Files of the left side go first where that is equal.
//!
//! Each side comes merged already, and the next record of a side is that of its file with the least progress, so
//! comparing the two sides' next records gives the same order as merging all files at once. What is told beside rows
//! keeps its place in the sequence: a file's end comes when nothing with less progress is left on the other side. The
//! order depends on the records alone. Must not know what the sides are for.

use super::merge::{Item, Merge, Merged};
use crate::clock::Greatest;
use crate::error::Result;
use crate::event::Side;
use crate::time::{Ts, Unit};

/// At most this many rows are handed over at once.
const BLOCK: usize = 16_384;

/// What comes next of both sides.
pub enum SidedItem {
    /// Rows of one or both sides, in one order.
    Rows(SidedRows),
    /// Something else from one of them.
    Other(Side, Item),
}

/// Rows of both sides.
pub struct SidedRows {
    /// Those of the left and the right side, if there are any.
    pub parts: [Option<Merged>; 2],
    /// Which side's next rows come next, and how many.
    pub runs: Vec<(Side, u32)>,
}

/// Two sides, merged.
pub struct Sides {
    lanes: [SideLane; 2],
}

/// One side and what it has to offer.
struct SideLane {
    merge: Merge,
    progress: Progress,
    head: Head,
}

enum Head {
    /// Nobody knows yet.
    Unknown,
    /// Rows, and how many of them were taken.
    Rows {
        merged: Merged,
        keys: Vec<Ts>,
        taken: usize,
    },
    /// Something that comes at a progress.
    Other(Item, Ts),
    Ended,
}

/// How far the files of a side are.
struct Progress {
    files: Vec<Greatest>,
    /// The same where no record is passed over.
    plain: Option<Vec<Ts>>,
    /// All files are one.
    concat: bool,
}

impl Progress {
    fn new(files: usize, outliers: usize, concat: bool) -> Self {
        let files = if concat { 1 } else { files };
        Self {
            files: vec![Greatest::new(outliers); files],
            plain: (outliers == 0).then(|| vec![Ts::MIN; files]),
            concat,
        }
    }

    /// The progress that a record makes its file have.
    fn observe(&mut self, file: usize, ts: Ts) -> Ts {
        let file = if self.concat { 0 } else { file };
        match &mut self.plain {
            Some(greatest) => {
                greatest[file] = greatest[file].max(ts);
                greatest[file]
            }
            None => {
                self.files[file].observe(ts);
                self.files[file].get()
            }
        }
    }

    fn of(&self, file: usize) -> Ts {
        let file = if self.concat { 0 } else { file };
        self.plain.as_ref().map_or_else(|| self.files[file].get(), |greatest| greatest[file])
    }

    fn keys(&mut self, merged: &Merged) -> Vec<Ts> {
        match merged.only_input() {
            Some(file) => merged.times.iter().map(|ts| self.observe(file, ts)).collect(),
            None => {
                let each = merged.inputs().into_iter().zip(merged.times.iter());
                each.map(|(file, ts)| self.observe(file as usize, ts)).collect()
            }
        }
    }
}

impl SideLane {
    /// Looks at what comes next, unless that is known.
    fn look(&mut self) -> Result<()> {
        if !matches!(self.head, Head::Unknown) {
            return Ok(());
        }
        self.head = match self.merge.next_item(None)? {
            None => Head::Ended,
            Some(Item::Rows(merged)) => {
                let keys = self.progress.keys(&merged);
                Head::Rows { merged, keys, taken: 0 }
            }
            Some(Item::Finished(file)) => Head::Other(Item::Finished(file), self.progress.of(file)),
            // What was found in front of a record belongs to what was taken before it.
            Some(other) => Head::Other(other, Ts::MIN),
        };
        Ok(())
    }

    /// The progress at which what comes next has its place.
    fn key(&self, taken: usize) -> Option<Ts> {
        match &self.head {
            Head::Rows { keys, .. } => keys.get(taken).copied(),
            Head::Other(_, key) => Some(*key),
            Head::Unknown | Head::Ended => None,
        }
    }

    fn taken(&self) -> usize {
        if let Head::Rows { taken, .. } = self.head { taken } else { 0 }
    }

    fn is_rows(&self) -> bool {
        matches!(self.head, Head::Rows { .. })
    }

    /// Takes rows up to `until` off.
    fn take(&mut self, until: usize) -> Option<Merged> {
        let Head::Rows { merged, keys, taken } = &mut self.head else { return None };
        let part = (until > *taken).then(|| merged.slice(*taken, until - *taken));
        *taken = until;
        if until == keys.len() {
            self.head = Head::Unknown;
        }
        part
    }
}

impl Sides {
    /// Puts two merged sides together, given how many files each has, how many of the greatest times do not count as
    /// progress, and whether its files are one.
    pub fn new(merges: [Merge; 2], files: [usize; 2], outliers: [usize; 2], concat: [bool; 2]) -> Self {
        let mut at = 0;
        let lanes = merges.map(|merge| {
            let progress = Progress::new(files[at], outliers[at], concat[at]);
            at += 1;
            SideLane { merge, progress, head: Head::Unknown }
        });
        Self { lanes }
    }

    /// The next item, or none when both sides have ended.
    pub fn next_item(&mut self) -> Result<Option<SidedItem>> {
        self.lanes[0].look()?;
        self.lanes[1].look()?;
        let Some(side) = self.first(self.lanes[0].taken(), self.lanes[1].taken()) else { return Ok(None) };
        let lane = &mut self.lanes[side.index()];
        if !lane.is_rows() {
            let Head::Other(item, _) = std::mem::replace(&mut lane.head, Head::Unknown) else { return Ok(None) };
            return Ok(Some(SidedItem::Other(side, item)));
        }
        let (until, runs) = self.walk();
        let parts = [self.lanes[0].take(until[0]), self.lanes[1].take(until[1])];
        Ok(Some(SidedItem::Rows(SidedRows { parts, runs })))
    }

    /// The unit in which time numbers of a side's files are read, as far as one was said or found.
    pub fn units(&self, side: Side) -> impl Iterator<Item = Option<Unit>> {
        self.lanes[side.index()].merge.units()
    }

    /// Fields of a side's files that are not listed though all should be: see [`Merge::unlisted`].
    pub fn unlisted(&self, side: Side) -> Vec<(&str, usize, u64)> {
        self.lanes[side.index()].merge.unlisted()
    }

    /// Whether a side has nothing left. Looks at what comes next of it, if nobody knows.
    pub fn has_ended(&mut self, side: Side) -> Result<bool> {
        let lane = &mut self.lanes[side.index()];
        lane.look()?;
        Ok(matches!(lane.head, Head::Ended))
    }

    /// The side that comes first, given how many rows of each were taken.
    fn first(&self, left: usize, right: usize) -> Option<Side> {
        match (self.lanes[0].key(left), self.lanes[1].key(right)) {
            (Some(left), Some(right)) => Some(if left <= right { Side::Left } else { Side::Right }),
            (Some(_), None) => Some(Side::Left),
            (None, Some(_)) => Some(Side::Right),
            (None, None) => None,
        }
    }

    /// Goes through the rows at hand until one side has none left that is known: how far, and in what order.
    fn walk(&self) -> ([usize; 2], Vec<(Side, u32)>) {
        let mut at = [self.lanes[0].taken(), self.lanes[1].taken()];
        let most = at[0] + at[1] + BLOCK;
        let mut runs: Vec<(Side, u32)> = Vec::new();
        while at[0] + at[1] < most {
            let Some(side) = self.first(at[0], at[1]) else { break };
            let Head::Rows { keys, .. } = &self.lanes[side.index()].head else { break };
            let limit = self.lanes[side.other().index()].key(at[side.other().index()]);
            let start = at[side.index()];
            let end = keys.len().min(start + most - at[0] - at[1]);
            let ahead = |key: Ts| limit.is_none_or(|limit| if side == Side::Left { key <= limit } else { key < limit });
            let until = (start..end).find(|&row| !ahead(keys[row])).unwrap_or(end);
            runs.push((side, (until - start) as u32));
            at[side.index()] = until;
            if until == keys.len() {
                break;
            }
        }
        (at, runs)
    }
}
