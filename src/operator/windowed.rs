//! Aggregation over windows that are known from each event alone: tumbling, sliding, cumulating.
//!
//! Rows are aggregated per *pane*, a stretch of time whose instants all lie in the same windows; a window that fires
//! merges its panes. Panes with a last-pane cache make a tumbling window one table that a run of rows goes to.
//!
//! A row that is late for some of its windows must not reach those, even when they have not fired yet (its own
//! partition may be ahead of the job). So a pane is known by its start and by the window end from which its rows
//! count; nearly all rows count in all their windows.

use super::fill::Filler;
use super::frame::Frame;
use super::groups::Groups;
use super::{Aggregates, Emit, Late, Operator, Setup, Tally};
use crate::account::StateSize;
use crate::aggregate::Slot;
use crate::error::Result;
use crate::event::{EventBatch, Positions, Side, Watermark};
use crate::keys::Keys;
use crate::schema::FieldType;
use crate::time::Ts;
use crate::window::{Window, Windower};
use arrow::datatypes::SchemaRef;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// What a pane is known by. Ordered by start, so that the panes of a window stand together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct PaneKey {
    start: Ts,
    /// The pane's rows count in windows that end after this.
    counts_after: Ts,
}

struct Pane {
    /// The end of the last window that its rows are in.
    last_end: Ts,
    groups: Groups,
}

/// The windowed aggregation.
pub struct Windowed {
    windower: Arc<dyn Windower>,
    frame: Frame,
    panes: BTreeMap<PaneKey, Pane>,
    /// Windows to be written that hold a row, by (end, start).
    open: BTreeSet<Window>,
    table_bytes: usize,
    /// Tables of closed panes, used again.
    spare: Vec<Groups>,
    scratch: Groups,
}

/// Tables kept for use again; more would only hold memory.
const SPARE: usize = 4;

/// A pane while a batch goes through it.
struct Touched {
    key: PaneKey,
    stretch: Window,
    /// The end of the first window its rows count in: once a mark has reached it, rows of this stretch differ.
    first_end: Ts,
    /// The end of the last window.
    last_end: Ts,
    /// None when no window of it is written.
    groups: Option<Groups>,
    /// Group of each key of the batch plus one, when rows share keys.
    seen: Vec<u32>,
    rows: u64,
}

/// Where a row goes.
enum Place {
    Pane(usize),
    Late(Ts),
}

impl Windowed {
    /// An aggregation over `windower`'s windows.
    pub fn new(windower: Arc<dyn Windower>, mut setup: Setup) -> Result<Self> {
        let fill = setup.fill.take();
        let mut frame = Frame::new(setup)?;
        if let Some(fill) = fill {
            frame.results.fill(Filler::new(fill, Arc::clone(&windower), frame.range))?;
        }
        Ok(Self {
            windower,
            frame,
            panes: BTreeMap::new(),
            open: BTreeSet::new(),
            table_bytes: 0,
            spare: Vec::new(),
            scratch: Groups::default(),
        })
    }

    /// The place of a row at `ts`, judged by `judge`, when the last row's pane is not its own.
    fn place(&mut self, ts: Ts, judge: Watermark, sweep: &mut Sweep) -> Place {
        self.windower.windows_of(ts, sweep.windows());
        let windows = &sweep.windows;
        let late = windows.iter().take_while(|w| judge.has_reached(w.end)).count();
        let Some(first) = windows.get(late) else {
            return Place::Late(windows.last().map_or(ts, |w| w.end));
        };
        let stretch = self.windower.pane_of(ts);
        let counts_after = if late == 0 { Ts::MIN } else { windows[late - 1].end };
        let key = PaneKey { start: stretch.start, counts_after };
        if let Some(&at) = sweep.places.get(&key) {
            return Place::Pane(at);
        }
        let (first_end, last_end) = (first.end, windows.last().map_or(first.end, |w| w.end));
        let written = windows[late..].iter().any(|w| self.frame.range.holds(w.start));
        let groups = written.then(|| self.take_pane(key, &windows[late..]));
        sweep.places.insert(key, sweep.touched.len());
        sweep.touched.push(Touched { key, stretch, first_end, last_end, groups, seen: Vec::new(), rows: 0 });
        Place::Pane(sweep.touched.len() - 1)
    }

    /// Takes a pane's groups out for the sweep; a new pane opens its windows.
    fn take_pane(&mut self, key: PaneKey, windows: &[Window]) -> Groups {
        match self.panes.remove(&key) {
            Some(pane) => {
                self.table_bytes -= pane.groups.bytes();
                pane.groups
            }
            None => {
                let range = self.frame.range;
                self.open.extend(windows.iter().filter(|w| range.holds(w.start)));
                self.spare.pop().unwrap_or_default()
            }
        }
    }

    /// Puts the panes of a sweep back.
    fn put_back(&mut self, touched: Vec<Touched>) {
        for pane in touched {
            if let Some(groups) = pane.groups {
                self.table_bytes += groups.bytes();
                self.panes.insert(pane.key, Pane { last_end: pane.last_end, groups });
            }
        }
    }

    /// Finds each row's slot; late rows are told.
    fn sweep(&mut self, batch: &EventBatch, out: &mut dyn Emit) -> Result<Sweep> {
        let keys = self.frame.keys_of(batch);
        let mut sweep = Sweep::new(batch);
        let mut last = usize::MAX;
        for (row, ts) in batch.times.iter().enumerate() {
            if !batch.is_selected(row) {
                self.frame.tally.input(batch.positions.get(row).input()).filtered += 1;
                continue;
            }
            let judge = batch.marks.judge(row);
            if !sweep.touched.get(last).is_some_and(|pane| pane.takes(ts, judge)) {
                match self.place(ts, judge, &mut sweep) {
                    Place::Pane(at) => last = at,
                    Place::Late(window_end) => {
                        self.frame.tally.input(batch.positions.get(row).input()).late += 1;
                        out.late(Late { side: Side::Left, row, mark: judge, window_end })?;
                        continue;
                    }
                }
            }
            if sweep.touched[last].is_partial() {
                let behind = judge.ts().since(ts);
                self.frame.tally.partly_behind = self.frame.tally.partly_behind.max(Some(behind));
            }
            sweep.take_row(last, row, &keys, &mut self.frame.aggregates);
        }
        Ok(sweep)
    }

    /// Counts what became of the rows of a sweep.
    fn account(&mut self, sweep: &Sweep, batch: &EventBatch) {
        if let Positions::Run(first) = &batch.positions {
            let ledger = self.frame.tally.input(first.input());
            for pane in &sweep.touched {
                match pane.groups {
                    Some(_) => ledger.used += pane.rows,
                    None => ledger.outside += pane.rows,
                }
                ledger.partially_late += if pane.is_partial() { pane.rows } else { 0 };
            }
            return;
        }
        for (row, at) in sweep.each.iter().flatten() {
            let ledger = self.frame.tally.input(batch.positions.get(*row as usize).input());
            let pane = &sweep.touched[*at as usize];
            match pane.groups {
                Some(_) => ledger.used += 1,
                None => ledger.outside += 1,
            }
            ledger.partially_late += u64::from(pane.is_partial());
        }
    }

    fn fire(&mut self, window: Window) {
        let from = PaneKey { start: window.start, counts_after: Ts::MIN };
        let to = PaneKey { start: window.end, counts_after: Ts::MIN };
        let counts = |(key, _): &(&PaneKey, &Pane)| key.counts_after < window.end;
        let mut panes = self.panes.range(from..to).filter(counts);
        match (panes.next(), panes.next()) {
            (Some((_, only)), None) => {
                for group in only.groups.sorted() {
                    self.frame.results.push(window, only.groups.key(group), group.slot, false);
                }
            }
            _ => self.fire_merged(window, from, to),
        }
    }

    fn fire_merged(&mut self, window: Window, from: PaneKey, to: PaneKey) {
        self.scratch.clear();
        for (_, pane) in self.panes.range(from..to).filter(|(key, _)| key.counts_after < window.end) {
            for group in pane.groups.iter() {
                let key = pane.groups.key(group);
                let at = self.scratch.find_or_insert(Groups::hash(group), key, || self.frame.aggregates.open());
                self.frame.aggregates.merge(self.scratch.group(at).slot, group.slot);
            }
        }
        for group in self.scratch.sorted() {
            self.frame.results.push(window, self.scratch.key(group), group.slot, true);
        }
    }

    /// Fires as if each row had come alone: rows of empty windows are ordered within one firing, so a batch must not
    /// make one of several. What later rows brought is in no window that is final by then.
    fn fire_row_by_row(&mut self, batch: &EventBatch, out: &mut dyn Emit) -> Result<()> {
        for row in 0..batch.times.len() {
            let mark = batch.mark_after(row);
            if self.open.first().is_some_and(|window| mark.has_reached(window.end)) {
                self.on_watermark(mark, out)?;
            }
        }
        Ok(())
    }

    /// Forgets the panes all of whose windows are final. Later panes never end earlier.
    fn drop_panes(&mut self, mark: Watermark) {
        while let Some(entry) = self.panes.first_entry().filter(|entry| mark.has_reached(entry.get().last_end)) {
            let mut groups = entry.remove().groups;
            self.table_bytes -= groups.bytes();
            for group in groups.iter() {
                self.frame.results.weigh(Groups::hash(group), groups.key(group), u64::from(group.rows));
                self.frame.aggregates.release(group.slot);
            }
            if self.spare.len() < SPARE && mark != Watermark::END {
                groups.clear();
                self.spare.push(groups);
            }
        }
    }
}

impl Operator for Windowed {
    fn on_batch(&mut self, batch: &EventBatch, out: &mut dyn Emit) -> Result<()> {
        let sweep = self.sweep(batch, out)?;
        self.frame.aggregates.update(&sweep.slots, &sweep.rows, batch)?;
        self.account(&sweep, batch);
        self.put_back(sweep.touched);
        if self.frame.results.goes_by_firing() {
            self.fire_row_by_row(batch, out)?;
        }
        self.on_watermark(batch.last_mark, out)
    }

    fn on_watermark(&mut self, mark: Watermark, out: &mut dyn Emit) -> Result<()> {
        while let Some(window) = self.open.first().copied().filter(|w| mark.has_reached(w.end)) {
            self.open.pop_first();
            self.frame.tally.fired(mark, 1);
            self.fire(window);
            if self.frame.results.is_full() {
                self.frame.write(false, out)?;
            }
        }
        self.frame.write(mark == Watermark::END, out)?;
        self.drop_panes(mark);
        if mark == Watermark::END {
            self.frame.tally.heaviest = self.frame.results.heaviest();
        }
        Ok(())
    }

    fn retype(&mut self, types: &[FieldType]) -> Result<()> {
        let keys = self.frame.widen(types)?;
        if let Some(to) = &keys {
            for pane in self.panes.values_mut() {
                let groups = pane.groups.rekeyed(self.frame.results.key_types(), to, &mut self.frame.aggregates);
                self.table_bytes = self.table_bytes + groups.bytes() - pane.groups.bytes();
                pane.groups = groups;
            }
        }
        self.frame.rebind(keys)
    }

    fn schema(&self) -> SchemaRef {
        self.frame.schema()
    }

    fn state(&self) -> StateSize {
        StateSize {
            windows: self.open.len() as u64,
            groups: self.frame.aggregates.len() as u64,
            rows: 0,
            bytes: (self.frame.aggregates.bytes() + self.table_bytes) as u64,
        }
    }

    fn tally(&self) -> &Tally {
        &self.frame.tally
    }
}

/// What a pass over a batch has found so far.
struct Sweep {
    touched: Vec<Touched>,
    places: HashMap<PaneKey, usize>,
    windows: Vec<Window>,
    slots: Vec<Slot>,
    rows: Vec<u32>,
    /// Rows and panes, for the account of a batch of several inputs; none for one input.
    each: Option<Vec<(u32, u32)>>,
}

impl Sweep {
    fn new(batch: &EventBatch) -> Self {
        let rows = batch.times.len();
        Self {
            touched: Vec::new(),
            places: HashMap::new(),
            windows: Vec::new(),
            slots: Vec::with_capacity(rows),
            rows: Vec::with_capacity(rows),
            each: matches!(batch.positions, Positions::Each(_)).then(Vec::new),
        }
    }

    /// The list of windows, emptied.
    fn windows(&mut self) -> &mut Vec<Window> {
        self.windows.clear();
        &mut self.windows
    }

    /// Gives a row of pane `at` its slot.
    #[inline]
    fn take_row(&mut self, at: usize, row: usize, keys: &Keys, aggregates: &mut Aggregates) {
        let pane = &mut self.touched[at];
        pane.rows += 1;
        if let Some(each) = &mut self.each {
            each.push((row as u32, at as u32));
        }
        if let Some(slot) = pane.slot_of(keys, keys.index(row), aggregates) {
            self.slots.push(slot);
            self.rows.push(row as u32);
        }
    }
}

impl Touched {
    /// Whether a row belongs here for sure: it lies in the stretch and is late for exactly the windows that the
    /// pane's rows do not count in.
    #[inline]
    fn takes(&self, ts: Ts, judge: Watermark) -> bool {
        self.stretch.holds(ts) && !judge.has_reached(self.first_end) && judge.has_reached(self.key.counts_after)
    }

    fn is_partial(&self) -> bool {
        self.key.counts_after > Ts::MIN
    }

    #[inline]
    fn slot_of(&mut self, keys: &Keys, key: usize, aggregates: &mut Aggregates) -> Option<Slot> {
        let groups = self.groups.as_mut()?;
        if keys.is_shared() {
            self.seen.resize(keys.len(), 0);
            if self.seen[key] > 0 {
                let group = groups.group(self.seen[key] as usize - 1);
                group.rows += 1;
                return Some(group.slot);
            }
        }
        let at = groups.find_or_insert(keys.hash(key), keys.key(key), || aggregates.open());
        if keys.is_shared() {
            self.seen[key] = at as u32 + 1;
        }
        let group = groups.group(at);
        group.rows += 1;
        Some(group.slot)
    }
}
