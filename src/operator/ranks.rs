//! What stands of windows whose rows are ranked against each other, and so may move because others do.
//!
//! The ranking of each window is kept: what is evaluated anew takes its place, and only rows that this moves are
//! written again, from what was remembered of them. Groups that did not change need not be evaluated. Must not know when
//! rows are written, or how they are grouped by time.

use super::base::{Base, Heads, together};
use super::changes::{Pane, Standing, Told};
use super::finish::Failed;
use super::{Finish, Tally};
use crate::error::Result;
use crate::keys::Keys;
use crate::schema::FieldType;
use crate::window::Window;
use arrow::array::{ArrayRef, Int64Array, RecordBatch, UInt64Array};
use arrow::compute::take;
use arrow::error::ArrowError;
use arrow::row::{RowConverter, SortField};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Lines are handed on in batches of about this many, or of this many bytes.
const BATCH: usize = 8_192;
const BATCH_BYTES: usize = 32 << 20;

/// The rankings of all windows.
pub(super) struct Ranks {
    most: usize,
    /// By window, and then by the keys that have a ranking each.
    windows: HashMap<Window, HashMap<Box<[u8]>, Ranking>>,
    /// By standing.
    rows: Vec<Row>,
    /// Makes bytes of shown values, and these of bytes.
    converter: Option<RowConverter>,
    firing: u32,
    /// Rankings that the firing has changed.
    changed: BTreeSet<(Window, Box<[u8]>)>,
    /// Rows that may have lost their place in the firing.
    fallen: Vec<Standing>,
    bytes: usize,
}

/// A row's place in its ranking: what it is ordered by, ending with its key.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Place(Arc<[u8]>, Standing);

/// The first rows of a ranking, and those behind.
#[derive(Default)]
struct Ranking {
    first: Vec<Place>,
    rest: BTreeSet<Place>,
    /// The first rank that may be another's than before.
    changed: Option<usize>,
}

/// What is remembered of a row.
struct Row {
    window: Window,
    key: Box<[u8]>,
    /// Which of its window's rankings it is in.
    by: Box<[u8]>,
    /// What it is ordered by, while it is ranked.
    order: Option<Arc<[u8]>>,
    /// Its shown values.
    content: Arc<[u8]>,
    /// The values and the rank that stand in the output.
    written: Option<(Arc<[u8]>, usize)>,
    revision: i64,
    /// When it was evaluated last, and as what.
    firing: u32,
    pane: Pane,
    /// It is written even if it looks as it did.
    due: bool,
}

impl Default for Row {
    fn default() -> Self {
        Self {
            window: super::base::ENDLESS,
            key: Box::default(),
            by: Box::default(),
            order: None,
            content: Arc::default(),
            written: None,
            revision: 0,
            firing: 0,
            pane: Pane::Early,
            due: false,
        }
    }
}

impl Row {
    /// The pane of a line in this firing. A row that moves because of others is late if it was final before.
    fn pane(&self, firing: u32) -> Pane {
        match self.pane {
            pane if self.firing == firing => pane,
            Pane::Early => Pane::Early,
            Pane::OnTime | Pane::Late => Pane::Late,
        }
    }

    fn bytes(&self) -> usize {
        self.key.len() + self.content.len() + self.order.as_ref().map_or(0, |order| order.len() + size_of::<Place>())
    }
}

impl Ranking {
    /// Puts a row in its place. A row that is behind the first for that, if any.
    fn insert(&mut self, place: Place, most: usize) -> Option<Standing> {
        let at = self.first.partition_point(|other| *other < place);
        let fallen = if at < most {
            self.first.insert(at, place);
            self.changes(at);
            if self.first.len() > most { self.first.pop() } else { None }
        } else {
            Some(place)
        };
        let standing = fallen.as_ref().map(|place| place.1);
        self.rest.extend(fallen);
        standing
    }

    fn remove(&mut self, place: &Place) {
        match self.first.binary_search(place) {
            Ok(at) => {
                self.first.remove(at);
                self.first.extend(self.rest.pop_first());
                self.changes(at);
            }
            Err(_) => {
                self.rest.remove(place);
            }
        }
    }

    fn changes(&mut self, at: usize) {
        self.changed = Some(self.changed.map_or(at, |before| before.min(at)));
    }

    fn is_empty(&self) -> bool {
        self.first.is_empty()
    }
}

/// Rows of the base as they are ranked and shown.
pub(super) struct Evaluated {
    /// What each is ordered by; none: it does not pass.
    orders: Vec<Option<Vec<u8>>>,
    /// Which ranking of its window each is in.
    by: Keys,
    contents: Vec<Arc<[u8]>>,
}

/// Lines on their way out.
#[derive(Default)]
pub(super) struct Lines {
    heads: Heads,
    /// The rank and values; none: what stands is deleted.
    shown: Vec<Option<(usize, Arc<[u8]>)>>,
    pub(super) told: Vec<Told>,
    bytes: usize,
}

impl Lines {
    /// Whether enough was collected to be written.
    pub(super) fn is_full(&self) -> bool {
        self.shown.len() >= BATCH || self.bytes >= BATCH_BYTES
    }

    /// Adds what becomes of a row in this firing.
    fn push(&mut self, row: &mut Row, firing: u32, shown: Option<(usize, Arc<[u8]>)>) {
        self.heads.push(row.window, &row.key);
        self.told.push(Told { stands: shown.is_some(), pane: row.pane(firing), revision: row.revision });
        self.bytes += shown.as_ref().map_or(0, |(_, content)| content.len());
        self.shown.push(shown);
        row.revision += 1;
    }

    /// Counts the lines.
    pub(super) fn count(&self, tally: &mut Tally) {
        (0..self.heads.len()).for_each(|row| tally.row_in(self.heads.window(row)));
    }
}

impl Ranks {
    /// The first `most` rows of each ranking are shown.
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            windows: HashMap::new(),
            rows: Vec::new(),
            converter: None,
            firing: 0,
            changed: BTreeSet::new(),
            fallen: Vec::new(),
            bytes: 0,
        }
    }

    /// Columns have other types from here on: every row has to be evaluated again.
    pub(super) fn retype(&mut self) {
        self.windows.clear();
        self.changed.clear();
        self.converter = None;
        self.rows.iter_mut().for_each(|row| row.order = None);
        self.bytes = self.rows.iter().map(Row::bytes).sum();
    }

    /// Bytes of memory held.
    pub(super) fn bytes(&self) -> usize {
        self.rows.capacity() * size_of::<Row>() + self.bytes
    }

    /// What the rows of the base come to.
    pub(super) fn evaluate(&mut self, whole: &RecordBatch, finish: &Finish) -> Result<Evaluated> {
        let failed = |(row, what): Failed| finish.failed(whole.columns(), row, &what);
        let passing = finish.passing(whole).map_err(failed)?;
        let orders = finish.orders(whole).map_err(failed)?.into_iter().enumerate();
        let orders = orders.map(|(row, order)| passing.value(row).then_some(order)).collect();
        Ok(Evaluated { orders, by: finish.rankings(whole), contents: self.contents(finish.outputs(whole))? })
    }

    /// The values of each row, as bytes that are equal when the values are.
    fn contents(&mut self, columns: &[ArrayRef]) -> Result<Vec<Arc<[u8]>>> {
        let converter = match &mut self.converter {
            Some(converter) => converter,
            none => {
                let fields = columns.iter().map(|column| SortField::new(column.data_type().clone())).collect();
                none.insert(RowConverter::new(fields).map_err(|e| together(&e))?)
            }
        };
        let rows = converter.convert_columns(columns).map_err(|e| together(&e))?;
        Ok(rows.iter().map(|row| row.as_ref().into()).collect())
    }

    /// A firing begins.
    pub(super) fn begin(&mut self) {
        self.firing += 1;
    }

    /// Takes in a row that was evaluated: `at` among those of the base.
    pub(super) fn take(&mut self, standing: Standing, base: &Base, at: usize, pane: Pane, due: bool, rows: &Evaluated) {
        self.leave(standing);
        let (content, key) = (Arc::clone(&rows.contents[at]), base.heads.key(at));
        let by = rows.by.key(rows.by.index(at));
        self.bytes -= self.row(standing).bytes();
        let row = self.row(standing);
        if *row.key != *key {
            row.key = key.into();
        }
        if *row.by != *by {
            row.by = by.into();
        }
        row.window = base.heads.window(at);
        row.due = due || row.written.as_ref().is_some_and(|(written, _)| *written != content);
        row.content = content;
        row.order = rows.orders[at].as_deref().map(Arc::from);
        self.bytes += self.row(standing).bytes();
        self.enter(standing);
        self.told(standing, pane);
    }

    /// What stands of a row is deleted. Its key may have another type than when it was evaluated.
    pub(super) fn gone(&mut self, standing: Standing, key: &[u8], pane: Pane) {
        self.leave(standing);
        self.bytes -= self.row(standing).bytes();
        self.row(standing).key = key.into();
        self.bytes += self.row(standing).bytes();
        self.fallen.push(standing);
        self.told(standing, pane);
    }

    /// Nobody will ask for a row again.
    pub(super) fn forget(&mut self, standing: Standing) {
        self.leave(standing);
        self.bytes -= self.row(standing).bytes();
        *self.row(standing) = Row::default();
    }

    fn told(&mut self, standing: Standing, pane: Pane) {
        let firing = self.firing;
        let row = self.row(standing);
        (row.firing, row.pane) = (firing, pane);
    }

    fn row(&mut self, standing: Standing) -> &mut Row {
        if self.rows.len() <= standing.index() {
            self.rows.resize_with(standing.index() + 1, Row::default);
        }
        &mut self.rows[standing.index()]
    }

    /// Takes a row out of its ranking.
    fn leave(&mut self, standing: Standing) {
        let row = self.row(standing);
        let (window, before) = (row.window, row.bytes());
        let Some(order) = row.order.take() else { return };
        let (by, after) = (row.by.clone(), row.bytes());
        self.bytes = self.bytes - before + after;
        let Some(rankings) = self.windows.get_mut(&window) else { return };
        let Some(ranking) = rankings.get_mut(&by) else { return };
        ranking.remove(&Place(order, standing));
        let (is_empty, is_changed) = (ranking.is_empty(), ranking.changed.is_some());
        if is_empty {
            rankings.remove(&by);
        }
        if rankings.is_empty() {
            self.windows.remove(&window);
        }
        if is_changed {
            self.changed.insert((window, by));
        }
    }

    /// Puts a row into its ranking, if it passes.
    fn enter(&mut self, standing: Standing) {
        let row = &self.rows[standing.index()];
        let Some(order) = row.order.clone() else { return self.fallen.push(standing) };
        let rankings = self.windows.entry(row.window).or_default();
        let ranking = match rankings.get_mut(&row.by) {
            Some(ranking) => ranking,
            None => rankings.entry(row.by.clone()).or_default(),
        };
        self.fallen.extend(ranking.insert(Place(order, standing), self.most));
        if ranking.changed.is_some() {
            self.changed.insert((row.window, row.by.clone()));
        }
    }

    /// A firing ends: its lines, the deleted ones first.
    pub(super) fn end(&mut self, lines: &mut Lines) {
        self.delete(lines);
        let changed: Vec<(Window, Box<[u8]>)> = std::mem::take(&mut self.changed).into_iter().collect();
        for rankings in changed.chunk_by(|(a, _), (b, _)| a == b) {
            let mut moved = Vec::new();
            rankings.iter().for_each(|(window, by)| self.take_moved(*window, by, &mut moved));
            moved.sort_unstable_by(|(_, a), (_, b)| a.cmp(b));
            moved.into_iter().for_each(|(rank, place)| self.upsert(rank, place.1, lines));
        }
    }

    /// Deletes rows that have no place any more, by (end, start, key).
    fn delete(&mut self, lines: &mut Lines) {
        let mut fallen = std::mem::take(&mut self.fallen);
        fallen.retain(|standing| self.rows[standing.index()].written.is_some() && !self.is_first(*standing));
        fallen.sort_unstable_by(|a, b| {
            let order = |standing: &Standing| {
                let row = &self.rows[standing.index()];
                (row.window, &row.key, *standing)
            };
            order(a).cmp(&order(b))
        });
        fallen.dedup();
        for standing in fallen {
            let row = &mut self.rows[standing.index()];
            (row.written, row.due) = (None, false);
            lines.push(row, self.firing, None);
        }
    }

    fn is_first(&self, standing: Standing) -> bool {
        let row = &self.rows[standing.index()];
        let Some(order) = row.order.clone() else { return false };
        let ranking = self.windows.get(&row.window).and_then(|rankings| rankings.get(&row.by));
        ranking.is_some_and(|ranking| ranking.first.binary_search(&Place(order, standing)).is_ok())
    }

    /// Adds the rows of a ranking that are written again, with their ranks.
    fn take_moved(&mut self, window: Window, by: &[u8], moved: &mut Vec<(usize, Place)>) {
        let Some(ranking) = self.windows.get_mut(&window).and_then(|rankings| rankings.get_mut(by)) else { return };
        let from = ranking.changed.take().unwrap_or(0);
        let is_moved = |(rank, place): &(usize, &Place)| {
            let row = &self.rows[place.1.index()];
            row.due || row.written.as_ref().is_none_or(|(_, before)| before != rank)
        };
        let places = ranking.first.iter().enumerate().skip(from).map(|(at, place)| (at + 1, place));
        moved.extend(places.filter(is_moved).map(|(rank, place)| (rank, place.clone())));
    }

    fn upsert(&mut self, rank: usize, standing: Standing, lines: &mut Lines) {
        let row = &mut self.rows[standing.index()];
        (row.written, row.due) = (Some((Arc::clone(&row.content), rank)), false);
        let shown = Some((rank, Arc::clone(&row.content)));
        lines.push(row, self.firing, shown);
    }

    /// The columns of lines: bounds, keys, shown values and ranks.
    pub(super) fn columns(&self, lines: &Lines, keys: &[FieldType]) -> Result<Vec<ArrayRef>> {
        let mut columns = lines.heads.columns(0..lines.heads.len(), keys);
        columns.extend(self.values(lines).map_err(|e| together(&e))?);
        let ranks = lines.shown.iter().map(|shown| shown.as_ref().map(|(rank, _)| *rank as i64));
        columns.push(Arc::new(ranks.collect::<Int64Array>()));
        Ok(columns)
    }

    fn values(&self, lines: &Lines) -> Result<Vec<ArrayRef>, ArrowError> {
        let Some(converter) = &self.converter else { return Ok(Vec::new()) };
        let parser = converter.parser();
        let shown = lines.shown.iter().flatten();
        let values = converter.convert_rows(shown.map(|(_, content)| parser.parse(content)))?;
        if lines.shown.iter().all(Option::is_some) {
            return Ok(values);
        }
        let mut next = 0..;
        let indices = lines.shown.iter().map(|shown| shown.as_ref().and_then(|_| next.next()));
        let indices: UInt64Array = indices.collect();
        values.iter().map(|column| take(column, &indices, None)).collect()
    }
}
