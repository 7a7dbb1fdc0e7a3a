//! The rows of one side that still count, and what is known of each: its columns, its key, whether it waits and
//! whether it was matched.
//!
//! Rows stay in the columns that they came in, a segment per batch. A segment goes once no partner can come for any of
//! its rows. Those of a segment that others keep alive are told apart by a sweep now and then; once most of a segment
//! is of no use the rest is copied, and small neighbours become one. So memory follows the rows that wait, and those
//! that wait for the sweep. A row keeps its id all the while. Must not know windows, marks or kinds of join.

use super::index::Keyed;
use super::segment::{Incoming, Segment};
use crate::error::Result;
use crate::schema::FieldType;
use crate::time::Ts;
use std::num::NonZeroU64;

/// Neighbours of at most this many rows together become one segment.
const SMALL: usize = 4_096;

/// A row of one side. Ids grow with arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RowId(NonZeroU64);

impl RowId {
    /// The first one there is.
    pub(super) const FIRST: RowId = RowId(NonZeroU64::MIN);
    /// After all others.
    pub(super) const LAST: RowId = RowId(NonZeroU64::MAX);

    /// The row so many rows after this one.
    #[inline]
    pub(super) fn plus(self, rows: usize) -> Self {
        RowId(self.0.saturating_add(rows as u64))
    }

    /// How many rows after an earlier one this is.
    #[inline]
    pub(super) fn since(self, earlier: RowId) -> usize {
        (self.0.get() - earlier.0.get()) as usize
    }
}

/// Where a row is: the segment's and the row's index.
pub(super) type Place = (usize, usize);

/// The rows of one side.
pub(super) struct Store {
    segments: Vec<Segment>,
    /// The first id of each segment, to find rows by.
    firsts: Vec<RowId>,
    next: RowId,
    waiting: usize,
    /// Rows that ceased to wait since segments were looked through.
    gone: usize,
    /// The last segment is that of the batch at hand.
    is_fresh: bool,
}

impl Store {
    /// No rows.
    pub(super) fn new() -> Self {
        Store { segments: Vec::new(), firsts: Vec::new(), next: RowId::FIRST, waiting: 0, gone: 0, is_fresh: false }
    }

    /// Takes in the rows of a batch, none of which waits yet; the first one's id.
    pub(super) fn open(&mut self, incoming: Incoming) -> RowId {
        let first = self.next;
        let segment = Segment::new(first, incoming);
        self.next = first.plus(segment.len());
        self.firsts.push(first);
        self.is_fresh = true;
        self.segments.push(segment);
        first
    }

    /// All segments.
    pub(super) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// How many rows wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    /// Where a row is. Rows that ceased to wait before the last [`Store::tidy`] are nowhere.
    #[inline]
    pub(super) fn place(&self, id: RowId) -> Option<Place> {
        let segment = self.firsts.partition_point(|first| *first <= id).checked_sub(1)?;
        Some((segment, self.segments[segment].row_of(id)?))
    }

    /// The rows of the batch at hand.
    #[inline]
    pub(super) fn fresh(&self) -> Option<&Segment> {
        self.segments.last()
    }

    /// Whether a row has a key of these bytes.
    #[inline]
    pub(super) fn has_key(&self, id: RowId, key: &[u8]) -> bool {
        self.place(id).is_some_and(|(segment, row)| self.segments[segment].key(row) == key)
    }

    /// A row that waits.
    #[inline]
    pub(super) fn waits(&self, id: RowId) -> Option<Keyed<'_>> {
        let (segment, row) = self.place(id)?;
        let segment = &self.segments[segment];
        segment.waits(row).then(|| segment.keyed(row, id))
    }

    /// Whether a row waits that has no partner.
    #[inline]
    pub(super) fn is_alone(&self, id: RowId) -> bool {
        let is_alone = |(segment, row): Place| {
            let segment: &Segment = &self.segments[segment];
            segment.waits(row) && !segment.is_matched(row)
        };
        self.place(id).is_some_and(is_alone)
    }

    /// Lets a row of the batch at hand wait for partners until `last`.
    #[inline]
    pub(super) fn keep(&mut self, row: usize, last: Ts) {
        if let Some(segment) = self.segments.last_mut() {
            segment.keep(row, last);
            self.waiting += 1;
        }
    }

    /// A row waits no more.
    #[inline]
    pub(super) fn drop_row(&mut self, id: RowId) {
        if let Some((segment, row)) = self.place(id) {
            self.segments[segment].drop_row(row);
            self.waiting -= 1;
            self.gone += 1;
        }
    }

    /// Remembers that a row has a partner. Whether it is the first.
    #[inline]
    pub(super) fn matched(&mut self, id: RowId) -> bool {
        self.place(id).is_some_and(|(segment, row)| self.segments[segment].matched(row))
    }

    /// Whether a row has a partner.
    #[inline]
    pub(super) fn is_matched(&self, id: RowId) -> bool {
        self.place(id).is_some_and(|(segment, row)| self.segments[segment].is_matched(row))
    }

    /// The rows whose times are past wait no more.
    pub(super) fn sweep(&mut self, is_past: impl Fn(Ts) -> bool) {
        let before = self.waiting;
        self.segments.iter_mut().for_each(|segment| segment.sweep(&is_past));
        self.waiting = self.segments.iter().map(Segment::waiting).sum();
        self.gone += before - self.waiting;
    }

    /// Lets go of what no row needs that waits, and of segments whose rows wait until an instant that is over. No other
    /// row is looked for after this.
    pub(super) fn tidy(&mut self, is_over: impl Fn(Ts) -> bool) -> Result<()> {
        self.segments.retain(|segment| segment.waiting() > 0 && !is_over(segment.last()));
        self.waiting = self.segments.iter().map(Segment::waiting).sum();
        let (is_fresh, next) = (std::mem::take(&mut self.is_fresh), self.next);
        if let Some(last) = self.segments.last_mut().filter(|last| is_fresh && last.first().plus(last.len()) == next) {
            last.settle()?;
        }
        // Looking through all segments is paid for by as many rows that went.
        let all = self.gone >= self.segments.len();
        if all {
            self.gone = 0;
            self.segments.iter_mut().try_for_each(Segment::shrink)?;
        }
        self.merge(all)?;
        self.firsts.clear();
        self.firsts.extend(self.segments.iter().map(Segment::first));
        Ok(())
    }

    /// Makes small neighbours one, from the end to the beginning or to the first that are large.
    fn merge(&mut self, all: bool) -> Result<()> {
        let mut at = self.segments.len();
        while at > 1 {
            at -= 1;
            if self.are_small(at) {
                let after = self.segments.remove(at);
                self.segments[at - 1].append(&after)?;
            } else if !all {
                break;
            }
        }
        Ok(())
    }

    /// Whether a segment and the one before it are small. One much smaller is not added to, so that adding row by row
    /// copies a row only now and then.
    fn are_small(&self, at: usize) -> bool {
        let (before, after) = (&self.segments[at - 1], &self.segments[at]);
        before.len() + after.len() <= SMALL && before.len() <= 2 * after.len() && before.reaches(after)
    }

    /// The rows that wait, in the order of their arrival.
    pub(super) fn all_waiting(&self) -> impl Iterator<Item = RowId> + '_ {
        self.segments.iter().flat_map(|segment| segment.all_waiting())
    }

    /// Columns have other types from now on.
    pub(super) fn retype(&mut self, types: &[FieldType]) -> Result<()> {
        self.segments.iter_mut().try_for_each(|segment| segment.retype(types))
    }

    /// Keys have other types from now on.
    pub(super) fn rekey(&mut self, from: &[FieldType], to: &[FieldType]) {
        self.segments.iter_mut().for_each(|segment| segment.rekey(from, to));
    }

    /// Bytes of memory held.
    pub(super) fn bytes(&self) -> usize {
        self.segments.iter().map(Segment::bytes).sum()
    }
}
