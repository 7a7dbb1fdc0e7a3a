//! Events side by side with the rows of a table that have their key (SPEC section 7).
//!
//! The table is whole before the first event, and nothing of an event is remembered, so events come out in their order
//! and none is late. Times are looked at only where the lookup goes by time: else there may be none.

mod as_of;
mod table;
#[cfg(test)]
mod tests;

pub use table::TableRows;

use super::gather::{Picked, gather};
use super::sides::{Equalities, Equality, SideKeys};
use super::{BoundPair, Emit, Operator, Pair, Tally};
use crate::account::StateSize;
use crate::error::Result;
use crate::event::{EventBatch, Side, Watermark};
use crate::plan::{LookupKind, Pick};
use crate::schema::FieldType;
use arrow::array::ArrayRef;
use arrow::datatypes::SchemaRef;
use table::{Index, Place};

/// So many rows are written at a time: an event may have any number of them.
const ROWS: usize = 1 << 15;

/// What a lookup is made of.
pub struct LookupSetup {
    /// The types of the event batches' columns.
    pub types: Vec<FieldType>,
    /// The columns of the fields that a pair has of the events.
    pub payload: Vec<usize>,
    /// What must be equal: columns of the events, and of the table.
    pub on: Vec<Equality>,
    /// The table.
    pub table: TableRows,
    /// Which of several rows counts.
    pub pick: Pick,
    /// Which events are written.
    pub kind: LookupKind,
    /// What is written.
    pub pair: Pair,
}

/// Puts rows of a table beside events.
pub struct Lookup {
    finder: Finder,
    tally: Tally,
}

/// Finds the rows of a table that belong to events, and writes both.
struct Finder {
    setup: LookupSetup,
    on: Equalities,
    index: Index,
    /// The columns of the table that a pair has: batch by batch, and a null behind them.
    columns: Vec<Vec<ArrayRef>>,
    bound: BoundPair,
    table_bytes: usize,
}

/// The keys of a batch of events, and which list of the table each has.
struct Asked {
    side: SideKeys,
    lists: Vec<Option<u32>>,
}

/// Pairs that were found and not written yet: rows of the batch, and where the table's rows stand.
#[derive(Default)]
struct Found {
    events: Vec<u32>,
    rows: Vec<(usize, usize)>,
}

impl Lookup {
    /// As a setup says. Refuses a table with several rows of one key where there may be one only.
    pub fn new(mut setup: LookupSetup) -> Result<Self> {
        setup.table = setup.table.plain()?;
        let mut on = Equalities::new(setup.on.clone(), [&setup.types, &setup.table.first_types])?;
        on.retype([&setup.types, &setup.table.types]);
        let index = Index::new(&setup.table, &on, &setup.pick)?;
        let (columns, bound, table_bytes) = (setup.table.columns(), setup.bind()?, setup.table.bytes());
        Ok(Self { finder: Finder { setup, on, index, columns, bound, table_bytes }, tally: Tally::default() })
    }
}

impl LookupSetup {
    fn bind(&self) -> Result<BoundPair> {
        let types = |columns: &[usize], types: &[FieldType]| columns.iter().map(|&at| types[at]).collect::<Vec<_>>();
        self.pair.bind([&types(&self.payload, &self.types), &types(&self.table.payload, &self.table.types)])
    }
}

impl Finder {
    /// Writes the events of a batch with their rows.
    fn write(&self, batch: &EventBatch, tally: &mut Tally, out: &mut dyn Emit) -> Result<()> {
        let (asked, kind) = (self.asked(batch), self.setup.kind);
        let mut found = Found::default();
        for row in (0..batch.rows.num_rows()).filter(|&row| batch.is_selected(row)) {
            let places = self.places(&asked, batch, row);
            let is_unmatched = places.is_empty();
            let places = if kind == LookupKind::Anti { &[] } else { places };
            for some in places.chunks(ROWS) {
                found.add(row, some);
                self.write_if(found.events.len() >= ROWS, batch, &mut found, tally, out)?;
                if out.is_done() {
                    return Ok(());
                }
            }
            if is_unmatched && kind != LookupKind::Inner {
                found.add_unmatched(row, self.setup.table.batches.len());
            }
        }
        self.write_if(!found.events.is_empty(), batch, &mut found, tally, out)
    }

    fn asked(&self, batch: &EventBatch) -> Asked {
        let side = self.on.encode(Side::Left, &batch.rows);
        let lists = (0..side.keys.len()).map(|key| self.index.find(side.keys.hash(key), side.keys.key(key)));
        Asked { lists: lists.collect(), side }
    }

    /// Where the rows of an event stand.
    fn places(&self, asked: &Asked, batch: &EventBatch, row: usize) -> &[Place] {
        let list = asked.lists[asked.side.keys.index(row)].filter(|_| asked.side.is_valid(row));
        let Some(list) = list else { return &[] };
        let places = self.index.places(list);
        match &self.setup.pick {
            Pick::Only | Pick::First | Pick::All => places,
            Pick::AsOf(as_of) => {
                let versions = self.index.versions(list);
                let picked = versions.pick(as_of.direction, as_of.tolerance, batch.times.get(row));
                picked.map_or(&[], |at| &places[at..=at])
            }
        }
    }

    fn write_if(
        &self,
        is_due: bool,
        batch: &EventBatch,
        found: &mut Found,
        tally: &mut Tally,
        out: &mut dyn Emit,
    ) -> Result<()> {
        if !is_due {
            return Ok(());
        }
        let Found { events, rows } = std::mem::take(found);
        match self.setup.pick {
            Pick::AsOf(_) => events.iter().for_each(|&row| tally.row_at(batch.times.get(row as usize))),
            _ => tally.rows += events.len() as u64,
        }
        let picked = Picked::new(&events, batch.rows.num_rows());
        let left = self.setup.payload.iter().map(|&column| picked.of(&batch.rows, column));
        let right = self.columns.iter().map(|pieces| gather(pieces, &rows));
        let columns = left.chain(right).collect::<Result<Vec<_>>>()?;
        out.rows(self.bound.rows(&columns, events.len())?)
    }

    fn retype(&mut self, types: &[FieldType]) -> Result<()> {
        self.setup.types = types.to_vec();
        if self.on.retype([types, &self.setup.table.types]) {
            self.index = Index::new(&self.setup.table, &self.on, &self.setup.pick)?;
        }
        self.bound = self.setup.bind()?;
        Ok(())
    }
}

impl Found {
    fn add(&mut self, row: usize, places: &[Place]) {
        self.events.extend(std::iter::repeat_n(row as u32, places.len()));
        self.rows.extend(places.iter().map(|place| (place.batch as usize, place.row as usize)));
    }

    /// Nulls stand behind all batches of the table.
    fn add_unmatched(&mut self, row: usize, batches: usize) {
        self.events.push(row as u32);
        self.rows.push((batches, 0));
    }
}

impl Operator for Lookup {
    fn on_batch(&mut self, batch: &EventBatch, out: &mut dyn Emit) -> Result<()> {
        for row in 0..batch.rows.num_rows() {
            let ledger = self.tally.input(batch.positions.get(row).input());
            match batch.is_selected(row) {
                true => ledger.used += 1,
                false => ledger.filtered += 1,
            }
        }
        self.finder.write(batch, &mut self.tally, out)
    }

    fn on_watermark(&mut self, _: Watermark, _: &mut dyn Emit) -> Result<()> {
        Ok(())
    }

    fn retype(&mut self, types: &[FieldType]) -> Result<()> {
        self.finder.retype(types)
    }

    fn schema(&self) -> SchemaRef {
        self.finder.bound.schema()
    }

    fn state(&self) -> StateSize {
        let bytes = (self.finder.table_bytes + self.finder.index.bytes()) as u64;
        StateSize { rows: self.finder.index.rows() as u64, bytes, ..StateSize::default() }
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }
}
