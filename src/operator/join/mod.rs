//! The interval join: rows of two sides with equal keys whose times lie within bounds of each other.
//!
//! A batch is gone through twice. The walk goes record by record in the order of arrival: it finds candidates, moves
//! the watermarks and forgets rows, and notes what might come out. Then the condition is asked of all candidates at
//! once, what comes out is settled in the order noted, and columns are put together. So a batch costs a handful of
//! column operations and no row is ever an object of its own.
//!
//! That a row is past is seen at once only where it shows: rows that come out without a partner stand in a queue. No
//! record in time meets a row that is past, so all others may be forgotten later: segments as a whole, the rest in
//! sweeps. What is held is what waits, and at most about as much again until the next sweep.
//!
//! Must not know files, flags or expressions. Invariant: what comes out, and its order, depends on the order of
//! records and their marks only; not on batches, nor on when notes are settled.

mod clocks;
mod expiry;
mod gather;
mod index;
mod ordered;
mod segment;
mod store;

#[cfg(test)]
mod tests;

use super::sides::{Equalities, SideKeys};
use super::{BoundPair, Emit, Equality, Late, Pair, Tally};
use crate::account::StateSize;
use crate::error::Result;
use crate::event::{EventBatch, Side, TwoSided, Watermark};
use crate::pairing::{Bounds, JoinKind, JoinWatermark};
use crate::schema::FieldType;
use crate::time::{Span, Ts};
use arrow::array::ArrayRef;
use arrow::buffer::NullBuffer;
use arrow::datatypes::SchemaRef;
use clocks::Clocks;
use expiry::Expiry;
use gather::Pairing;
use index::{Index, Weights, Wish};
use segment::Incoming;
use store::{RowId, Store};

/// How many notes are settled at once, so that a hot key cannot fill the memory.
const SETTLED: usize = 16_384;

/// What a join is made of.
pub struct JoinSetup {
    /// Which rows come out.
    pub kind: &'static JoinKind,
    /// How far apart the times of a pair may be.
    pub bounds: Bounds,
    /// Which watermark rows are judged and forgotten by.
    pub watermark: JoinWatermark,
    /// The columns of the left and the right side.
    pub sides: [JoinSide; 2],
    /// What must be equal; at least one.
    pub on: Vec<Equality>,
    /// What is asked of pairs and written of them.
    pub pair: Pair,
}

/// The columns of one side.
#[derive(Clone, Debug)]
pub struct JoinSide {
    /// The types of the batches' columns.
    pub types: Vec<FieldType>,
    /// The column of each field of pairs.
    pub payload: Vec<usize>,
}

impl JoinSide {
    fn payload_types(&self) -> Vec<FieldType> {
        self.payload.iter().map(|&column| self.types[column]).collect()
    }
}

/// An interval join.
pub struct Join {
    kind: &'static JoinKind,
    bounds: Bounds,
    sides: [JoinSide; 2],
    types: [Vec<FieldType>; 2],
    on: Equalities,
    pair: Pair,
    bound: BoundPair,
    clocks: Clocks,
    stores: [Store; 2],
    /// Rows that come out if they have no partner by then.
    expiry: [Expiry; 2],
    indexes: [Index; 2],
    /// The store is to be swept as the index was.
    swept: [bool; 2],
    weights: Weights,
    /// The rows of the batch at hand.
    batch: [Rows; 2],
    /// What might come out: candidates, and rows without one.
    notes: Vec<Pairing>,
    /// Nobody wants more rows, nor to know what becomes of records.
    is_done: bool,
    found: Vec<RowId>,
    tallies: [Tally; 2],
}

/// The rows of one side of a batch.
struct Rows {
    first: RowId,
    /// Rows whose keys have no null in them; none: all.
    keyed: Option<NullBuffer>,
}

/// About how long after its own time a row of a side is past.
fn wait_of(side: Side, bounds: &Bounds) -> Span {
    let any = Ts::from_micros(0);
    bounds.partners(side, any).1.since(any)
}

impl Join {
    /// A join of nothing yet.
    pub fn new(setup: JoinSetup) -> Result<Self> {
        let JoinSetup { kind, bounds, watermark, sides, on, pair } = setup;
        let types = [sides[0].payload_types(), sides[1].payload_types()];
        let rows = || Rows { first: RowId::FIRST, keyed: None };
        Ok(Join {
            kind,
            on: Equalities::new(on, [&sides[0].types, &sides[1].types])?,
            bound: pair.bind([&types[0], &types[1]])?,
            sides,
            types,
            pair,
            clocks: Clocks::new(watermark),
            stores: [Store::new(), Store::new()],
            expiry: Side::BOTH.map(|side| Expiry::new(wait_of(side, &bounds))),
            bounds,
            indexes: [Index::default(), Index::default()],
            swept: [false; 2],
            weights: Weights::default(),
            batch: [rows(), rows()],
            notes: Vec::new(),
            is_done: false,
            found: Vec::new(),
            tallies: [Tally::default(), Tally::default()],
        })
    }

    /// Takes in rows of both sides, and gives out what they bring about. Late rows are told at once.
    pub fn on_batch(&mut self, batch: &TwoSided, out: &mut dyn Emit) -> Result<()> {
        for side in Side::BOTH {
            self.open(side, &batch.sides[side.index()]);
        }
        let mut done = [0; 2];
        for &(side, rows) in &batch.runs {
            let from = done[side.index()];
            done[side.index()] += rows as usize;
            for row in from..done[side.index()] {
                self.take_record(side, row, &batch.sides[side.index()], out)?;
                if self.is_done {
                    return Ok(());
                }
            }
        }
        self.end(out)
    }

    /// Moves a side's watermark, to [`Watermark::END`] when it has ended, and gives out what is forgotten for it.
    pub fn on_watermark(&mut self, side: Side, mark: Watermark, out: &mut dyn Emit) -> Result<()> {
        self.advance(side, mark, out)?;
        Side::BOTH.into_iter().for_each(|side| self.sweep(side));
        self.end(out)?;
        if self.clocks.have_ended() {
            for side in Side::BOTH {
                self.tallies[side.index()].heaviest = self.weights.heaviest(side, self.on.types());
            }
        }
        Ok(())
    }

    /// The columns of a side's batches to come have these types.
    pub fn retype(&mut self, side: Side, types: &[FieldType]) -> Result<()> {
        let at = side.index();
        self.sides[at].types = types.to_vec();
        self.types[at] = self.sides[at].payload_types();
        self.stores[at].retype(&self.types[at])?;
        let old = self.on.types().to_vec();
        if self.on.retype([&self.sides[0].types, &self.sides[1].types]) {
            self.stores.iter_mut().for_each(|store| store.rekey(&old, self.on.types()));
            self.rebuild_index();
        }
        self.bound = self.pair.bind([&self.types[0], &self.types[1]])?;
        Ok(())
    }

    /// The schema of the results as it is now.
    pub fn schema(&self) -> SchemaRef {
        self.bound.schema()
    }

    /// How much is held: `groups` are the rows that wait, or wait for a sweep.
    pub fn state(&self) -> StateSize {
        let rows: usize = self.stores.iter().map(Store::waiting).sum();
        let stores: usize = self.stores.iter().map(Store::bytes).sum();
        let expiry: usize = self.expiry.iter().map(Expiry::bytes).sum();
        let indexes: usize = self.indexes.iter().map(Index::bytes).sum();
        StateSize { windows: 0, groups: 0, rows: rows as u64, bytes: (stores + expiry + indexes) as u64 }
    }

    /// What became of a side's rows, and its keys with the most rows. Result rows are counted on the left.
    pub fn tally(&self, side: Side) -> &Tally {
        &self.tallies[side.index()]
    }

    /// The keys whose rows met the most of the other side, and how many they met at least. Told once both sides ended.
    pub fn costliest(&self) -> Vec<(String, u64)> {
        self.weights.costliest(self.on.types())
    }

    /// Takes in the columns of a batch's rows, none of which waits yet.
    fn open(&mut self, side: Side, batch: &EventBatch) {
        let at = side.index();
        if batch.times.is_empty() {
            return;
        }
        let SideKeys { keys, nulls: keyed } = self.on.encode(side, &batch.rows);
        let columns = self.sides[at].payload.iter().map(|&column| ArrayRef::clone(batch.rows.column(column)));
        let incoming = Incoming { times: batch.times.micros().to_vec(), keys, columns: columns.collect() };
        self.batch[at] = Rows { first: self.stores[at].open(incoming), keyed };
    }

    fn take_record(&mut self, side: Side, row: usize, batch: &EventBatch, out: &mut dyn Emit) -> Result<()> {
        if row == 0 {
            self.advance(side, batch.marks.job(0), out)?;
        }
        if let Some(ts) = self.admit(side, row, batch, out)? {
            let rows = &self.batch[side.index()];
            match rows.keyed.as_ref().is_none_or(|keyed| keyed.is_valid(row)) {
                true => self.meet(side, ts, row, out)?,
                false => self.let_out(side, rows.first.plus(row), out)?,
            }
        }
        self.advance(side, batch.mark_after(row), out)
    }

    /// The time of a record that passes all gates. The others are counted.
    fn admit(&mut self, side: Side, row: usize, batch: &EventBatch, out: &mut dyn Emit) -> Result<Option<Ts>> {
        let ledger = self.tallies[side.index()].input(batch.positions.get(row).input());
        if !batch.is_selected(row) {
            ledger.filtered += 1;
            return Ok(None);
        }
        let ts = batch.times.get(row);
        let mark = self.clocks.judge(batch.marks.judge(row));
        if self.bounds.is_late(ts, mark) {
            ledger.late += 1;
            let window_end = self.bounds.window_of(ts).map_or(ts, |window| window.end);
            out.late(Late { side, row, mark, window_end })?;
            return Ok(None);
        }
        ledger.used += 1;
        Ok(Some(ts))
    }

    /// Finds a row's candidates. It waits for more if there may be any.
    fn meet(&mut self, side: Side, ts: Ts, row: usize, out: &mut dyn Emit) -> Result<()> {
        let partners = self.bounds.partners(side, ts);
        let id = self.batch[side.index()].first.plus(row);
        let waits = self.find(side, row, id, partners);
        for side in Side::BOTH {
            if self.indexes[side.index()].is_due() {
                self.sweep(side);
            }
        }
        let mut found = std::mem::take(&mut self.found);
        for other in found.drain(..) {
            let pair = if side == Side::Left { [id, other] } else { [other, id] };
            self.note_candidate(pair, out)?;
        }
        self.found = found;
        if waits { Ok(()) } else { self.let_out(side, id, out) }
    }

    /// Finds a row's candidates, and lets it be found unless it has enough or none can come. Whether it waits.
    #[inline]
    fn find(&mut self, side: Side, row: usize, id: RowId, partners: (Ts, Ts)) -> bool {
        let (at, of) = (side.index(), side.other().index());
        // A left row that is written or left out for its first partner needs no other, if that is known now.
        let is_first_enough = side == Side::Left && !self.kind.pairs && !self.bound.asks();
        let enough = if is_first_enough { 1 } else { usize::MAX };
        let Some(fresh) = self.stores[at].fresh() else { return false };
        let (keyed, others) = (fresh.keyed(row, id), &self.stores[of]);
        let has_key = |other| others.has_key(other, keyed.key);
        self.indexes[of].find(keyed, Wish { partners, enough }, has_key, &mut self.found);
        if self.found.len() >= enough || self.clocks.forgets(side, partners.1) {
            return false;
        }
        self.indexes[at].insert(keyed);
        self.stores[at].keep(row, partners.1);
        if self.kind.unmatched(side) {
            self.expiry[at].push((partners.1, id));
        }
        true
    }

    /// Lets go of all rows of a side that no partner can come for, once the batch has ended.
    fn sweep(&mut self, side: Side) {
        let (clocks, bounds) = (&self.clocks, &self.bounds);
        let is_past = |ts| clocks.forgets(side, bounds.partners(side, ts).1);
        self.indexes[side.index()].sweep(is_past, side, &mut self.weights);
        self.swept[side.index()] = true;
    }

    /// Moves a side's watermark and lets out the rows whose partners are all past, in the order in which that happened.
    #[inline]
    fn advance(&mut self, side: Side, mark: Watermark, out: &mut dyn Emit) -> Result<()> {
        if !self.clocks.advance(side, mark) {
            return Ok(());
        }
        while let Some((side, id)) = self.next_due() {
            if self.stores[side.index()].is_alone(id) {
                self.note_alone(side, id, out)?;
            }
        }
        Ok(())
    }

    /// The next row of those in queues that no partner can come for.
    fn next_due(&mut self) -> Option<(Side, RowId)> {
        let due = |side: Side| {
            let (last, id) = self.expiry[side.index()].first(|last| self.clocks.forgets(side, last))?;
            Some((last, side, id))
        };
        let (_, side, id) = Side::BOTH.into_iter().filter_map(due).min()?;
        self.expiry[side.index()].pop();
        Some((side, id))
    }

    /// A left row that is decided waits no more.
    fn forget(&mut self, left: RowId) {
        let Some(row) = self.stores[0].waits(left) else { return };
        self.indexes[0].remove(row, Side::Left, &mut self.weights);
        self.stores[0].drop_row(left);
    }

    fn note_candidate(&mut self, [left, right]: [RowId; 2], out: &mut dyn Emit) -> Result<()> {
        let pair = match self.bound.asks() {
            true => Some([Some(left), Some(right)]),
            false => self.settle_pair(left, right),
        };
        pair.map_or(Ok(()), |pair| self.note(pair, out))
    }

    /// A row comes out without a partner, if it has none and its side's rows do.
    fn let_out(&mut self, side: Side, id: RowId, out: &mut dyn Emit) -> Result<()> {
        let may_come_out =
            self.kind.unmatched(side) && (self.bound.asks() || !self.stores[side.index()].is_matched(id));
        if may_come_out { self.note_alone(side, id, out) } else { Ok(()) }
    }

    fn note_alone(&mut self, side: Side, id: RowId, out: &mut dyn Emit) -> Result<()> {
        match side {
            Side::Left => self.note([Some(id), None], out),
            Side::Right => self.note([None, Some(id)], out),
        }
    }

    fn note(&mut self, pair: Pairing, out: &mut dyn Emit) -> Result<()> {
        self.notes.push(pair);
        if self.notes.len() >= SETTLED { self.settle(out) } else { Ok(()) }
    }

    /// What comes out for a pair that matches.
    fn settle_pair(&mut self, left: RowId, right: RowId) -> Option<Pairing> {
        if self.kind.pairs {
            for (side, id) in Side::BOTH.into_iter().zip([left, right]) {
                if self.kind.unmatched(side) {
                    self.stores[side.index()].matched(id);
                }
            }
            return Some([Some(left), Some(right)]);
        }
        let is_first = self.stores[0].matched(left);
        if is_first {
            self.forget(left);
        }
        (is_first && self.kind.left_once).then_some([Some(left), None])
    }

    /// Settles what was noted and writes what comes out.
    fn settle(&mut self, out: &mut dyn Emit) -> Result<()> {
        if self.notes.is_empty() {
            return Ok(());
        }
        let notes = std::mem::take(&mut self.notes);
        let written = if self.bound.asks() { self.settle_asked(&notes)? } else { notes };
        self.write(&written, out)?;
        self.is_done = out.is_done();
        self.notes = written;
        self.notes.clear();
        Ok(())
    }

    /// Of what was noted, what comes out by the condition.
    fn settle_asked(&mut self, notes: &[Pairing]) -> Result<Vec<Pairing>> {
        let candidates: Vec<Pairing> = notes.iter().copied().filter(|pair| pair.iter().all(Option::is_some)).collect();
        let holds = match candidates.is_empty() {
            true => Vec::new(),
            false => self.bound.holds(&self.columns_of(&candidates)?, candidates.len())?.iter().collect(),
        };
        let mut holds = holds.into_iter();
        let mut written = Vec::with_capacity(notes.len());
        for &note in notes {
            written.extend(match note {
                [Some(left), Some(right)] if holds.next() == Some(true) => self.settle_pair(left, right),
                [Some(_), Some(_)] => None,
                [Some(left), None] => (!self.stores[0].is_matched(left)).then_some(note),
                [None, Some(right)] => (!self.stores[1].is_matched(right)).then_some(note),
                [None, None] => None,
            });
        }
        Ok(written)
    }

    fn write(&mut self, pairs: &[Pairing], out: &mut dyn Emit) -> Result<()> {
        if pairs.is_empty() {
            return Ok(());
        }
        self.tallies[0].rows += pairs.len() as u64;
        out.rows(self.bound.rows(&self.columns_of(pairs)?, pairs.len())?)
    }

    /// The columns of pairs: the bounds if there are windows, the left's, the right's.
    fn columns_of(&self, pairs: &[Pairing]) -> Result<Vec<ArrayRef>> {
        let mut columns = gather::bounds_of(pairs, &self.stores, &self.bounds);
        for side in [0, 1] {
            let (store, types) = (&self.stores[side], &self.types[side]);
            columns.extend(gather::columns_of(pairs.iter().map(|pair| pair[side]), store, types)?);
        }
        Ok(columns)
    }

    /// A batch has ended: nothing is left to settle, and what no row needs that waits is let go.
    fn end(&mut self, out: &mut dyn Emit) -> Result<()> {
        self.settle(out)?;
        let (clocks, bounds) = (&self.clocks, &self.bounds);
        for side in Side::BOTH {
            let store = &mut self.stores[side.index()];
            if std::mem::take(&mut self.swept[side.index()]) {
                store.sweep(|ts| clocks.forgets(side, bounds.partners(side, ts).1));
            }
            store.tidy(|last| clocks.forgets(side, last))?;
        }
        Ok(())
    }

    /// The keys have other bytes now.
    fn rebuild_index(&mut self) {
        self.weights = Weights::default();
        for (index, store) in self.indexes.iter_mut().zip(&self.stores) {
            *index = Index::default();
            for row in store.all_waiting().filter_map(|id| store.waits(id)) {
                index.insert(row);
            }
        }
    }
}
