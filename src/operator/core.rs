//! The heart of an updating aggregation: groups and their aggregates, rows that wait to be taken in, and what is to be
//! written of them.
//!
//! Rows wait until values are read or slots merged. Must not know windows, sessions or triggers.

use super::aggregates::Feed;
use super::base::{Base, ENDLESS};
use super::changes::{Changes, Pane};
use super::heavy::Heavy;
use super::held::{GroupId, Held, KeyId};
use super::results::HEAVIEST;
use super::{Aggregates, Emit, Finish, Range, Setup, Tally};
use crate::aggregate::Slot;
use crate::error::Result;
use crate::event::{EventBatch, Watermark};
use crate::keys::{self, Keys};
use crate::schema::FieldType;
use crate::time::Ts;
use crate::window::Window;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use std::collections::HashMap;
use std::sync::Arc;

/// A record to be placed.
pub(super) struct Event {
    pub(super) ts: Ts,
    pub(super) key: KeyId,
    /// The mark it is judged by.
    pub(super) judge: Watermark,
    /// Its row in the batch.
    pub(super) row: usize,
    pub(super) input: usize,
}

/// Groups with all that belongs to them.
pub(super) struct Core {
    pub(super) range: Range,
    pub(super) held: Held,
    pub(super) tally: Tally,
    /// The job's watermark.
    pub(super) mark: Watermark,
    /// The groups of the record at hand.
    pub(super) touched: Vec<GroupId>,
    /// Groups that late data changed: they are written at once.
    urgent: Vec<GroupId>,
    /// The bounds of groups move, so that what becomes of a record is known only when they are dropped.
    pub(super) moves: bool,
    told: bool,
    types: Vec<FieldType>,
    key_columns: Vec<usize>,
    key_types: Vec<FieldType>,
    aggregates: Aggregates,
    finish: Finish,
    changes: Changes,
    heavy: Heavy,
    feed: Option<Feed>,
    /// Rows that are not taken in yet, and their slots.
    rows: Vec<u32>,
    slots: Vec<Slot>,
    /// Groups whose values are to be read as they are, and their slots.
    awaited: Vec<GroupId>,
    awaited_slots: Vec<Slot>,
    /// Slots to give back once that is done.
    spent: Vec<Slot>,
    /// Groups that changed since they were written, and perhaps others.
    changed: Vec<GroupId>,
    /// Rows by input of groups that move, kept only when not every window is written.
    by_input: HashMap<GroupId, Vec<(u32, u64)>>,
}

impl Core {
    /// As a setup says; `told`: rows say what they are.
    pub(super) fn new(told: bool, setup: Setup) -> Result<Self> {
        let Setup { range, types, keys, aggregates, mut finish, .. } = setup;
        let key_types: Vec<FieldType> = keys.iter().map(|&column| types[column]).collect();
        finish.bind(&key_types, &aggregates.types())?;
        Ok(Self {
            range,
            held: Held::new(told && finish.most().is_some()),
            tally: Tally::default(),
            mark: Watermark::NEVER,
            touched: Vec::new(),
            urgent: Vec::new(),
            moves: false,
            told,
            types,
            key_columns: keys,
            key_types,
            aggregates,
            changes: Changes::new(told, finish.most()),
            finish,
            heavy: Heavy::default(),
            feed: None,
            rows: Vec::new(),
            slots: Vec::new(),
            awaited: Vec::new(),
            awaited_slots: Vec::new(),
            spent: Vec::new(),
            changed: Vec::new(),
            by_input: HashMap::new(),
        })
    }

    /// A batch begins; its keys.
    pub(super) fn begin(&mut self, batch: &EventBatch) -> Keys {
        self.feed = Some(self.aggregates.feed(batch));
        let columns = self.key_columns.iter().map(|&column| Arc::clone(batch.rows.column(column)));
        Keys::encode(&columns.collect::<Vec<_>>(), batch.times.len())
    }

    /// The batch has ended: it may be let go.
    pub(super) fn end(&mut self) {
        self.feed = None;
    }

    /// A record is to be placed.
    pub(super) fn begin_row(&mut self) {
        self.touched.clear();
        self.urgent.clear();
    }

    /// Opens a group.
    pub(super) fn open(&mut self, key: KeyId, window: Window) -> GroupId {
        let slot = self.aggregates.open();
        self.held.open(key, window, slot)
    }

    /// Gives a group other bounds.
    pub(super) fn move_to(&mut self, id: GroupId, window: Window) {
        self.held.move_to(id, window);
    }

    /// Adds the rows of `from`, which is no more, to `into`.
    pub(super) fn merge(&mut self, into: GroupId, from: GroupId) -> Result<()> {
        self.read()?;
        let old = self.held.get_mut(from);
        let (slot, rows, changed, window) = (old.slot, old.rows, old.changed, old.window);
        let mut stale = std::mem::take(&mut old.stale);
        stale.extend(old.standing.take().map(|standing| (window, standing)));
        self.held.drop_group(from);
        for (input, rows) in self.by_input.remove(&from).unwrap_or_default() {
            add_rows(self.by_input.entry(into).or_default(), input, rows);
        }
        if changed {
            self.mark_changed(into);
        }
        let group = self.held.get_mut(into);
        group.stale.extend(stale);
        group.rows += rows;
        self.aggregates.merge(group.slot, slot);
        self.aggregates.release(slot);
        Ok(())
    }

    /// A group is to be written at once, as late data changed it.
    pub(super) fn urge(&mut self, id: GroupId) {
        self.urgent.push(id);
    }

    pub(super) fn has_urgent(&self) -> bool {
        !self.urgent.is_empty()
    }

    /// Takes a record into the groups that it touched.
    pub(super) fn take_row(&mut self, event: &Event) -> Result<()> {
        if self.touched.iter().any(|id| self.held.get(*id).awaited) {
            self.read()?;
        }
        for i in 0..self.touched.len() {
            let id = self.touched[i];
            self.mark_changed(id);
            let group = self.held.get_mut(id);
            group.rows += 1;
            self.slots.push(group.slot);
            self.rows.push(event.row as u32);
        }
        self.held.count(event.key);
        self.count(event);
        Ok(())
    }

    fn count(&mut self, event: &Event) {
        match self.touched.first() {
            Some(id) if self.is_undecided(*id) => {
                add_rows(self.by_input.entry(*id).or_default(), event.input as u32, 1)
            }
            _ => self.tally.input(event.input).used += 1,
        }
    }

    /// Whether it may still turn out that a group is not written.
    fn is_undecided(&self, id: GroupId) -> bool {
        self.moves && !self.range.is_everything() && self.held.get(id).window != ENDLESS
    }

    fn mark_changed(&mut self, id: GroupId) {
        if self.held.change(id) {
            self.changed.push(id);
        }
        if self.changed.len() > 2 * self.held.len() + 1_024 {
            let mut changed = std::mem::take(&mut self.changed);
            changed.sort_unstable();
            changed.dedup();
            changed.retain(|id| self.held.is_held(*id) && self.held.get(*id).changed);
            self.changed = changed;
        }
    }

    /// The groups that changed since they were written.
    pub(super) fn take_changed(&mut self) -> Vec<GroupId> {
        let mut changed = std::mem::take(&mut self.changed);
        changed.sort_unstable();
        changed.dedup();
        changed
    }

    /// Whether the rows of a group are written at all.
    pub(super) fn is_written(&self, id: GroupId) -> bool {
        let group = self.held.get(id);
        group.window == ENDLESS || self.range.holds(group.window.start)
    }

    /// Writes what late data changed.
    pub(super) fn fire_urgent(&mut self) -> Result<()> {
        let mut groups = std::mem::take(&mut self.urgent);
        groups.retain(|id| self.held.is_held(*id));
        self.fire(&mut groups, None)
    }

    /// Writes groups as they are now. Of what is final by itself (no pane given), and of others that are compared with
    /// them, the pane follows from whether they are.
    pub(super) fn fire(&mut self, groups: &mut [GroupId], pane: Option<Pane>) -> Result<()> {
        self.changes.begin();
        let mut all = groups.to_vec();
        if self.held.compares() {
            self.add_compared(&mut all);
        }
        self.held.sort(&mut all);
        groups.sort_unstable();
        let is_fired = |id: &GroupId| groups.binary_search(id).is_ok();
        let panes: Vec<Pane> = match pane {
            Some(pane) if all.len() == groups.len() => vec![pane; all.len()],
            _ => {
                let own = |id: &GroupId| if self.held.get(*id).fired { Pane::Late } else { Pane::Early };
                all.iter().map(|id| pane.filter(|_| is_fired(id)).unwrap_or_else(|| own(id))).collect()
            }
        };
        for (id, pane) in all.iter().zip(panes) {
            self.write_group(*id, pane);
        }
        Ok(())
    }

    /// The other groups that changed of the windows that these have, or had when they were written.
    fn add_compared(&self, all: &mut Vec<GroupId>) {
        let mut windows: Vec<Window> = Vec::new();
        for id in all.iter() {
            let group = self.held.get(*id);
            windows.push(group.window);
            windows.extend(group.stale.iter().map(|(window, _)| *window));
        }
        windows.sort_unstable();
        windows.dedup();
        all.extend(windows.iter().flat_map(|window| self.held.awaiting(*window)));
        all.sort_unstable();
        all.dedup();
    }

    fn write_group(&mut self, id: GroupId, pane: Pane) {
        let is_written = self.is_written(id);
        let due = self.held.settle(id) || pane == Pane::OnTime;
        let group = self.held.get_mut(id);
        group.fired |= pane == Pane::OnTime;
        let (key, window, slot, standing) = (group.key, group.window, group.slot, group.standing);
        for (window, standing) in std::mem::take(&mut group.stale) {
            self.changes.gone(window, self.held.key(key), standing, pane);
        }
        if !is_written {
            return;
        }
        let standing = self.changes.row(window, self.held.key(key), standing, pane, due || !self.told);
        let group = self.held.get_mut(id);
        group.standing = self.told.then_some(standing);
        group.awaited = true;
        self.awaited.push(id);
        self.awaited_slots.push(slot);
    }

    /// The groups of the record at hand that the trigger's condition is true for; `fresh`: that were not written since.
    pub(super) fn asked_for(&mut self, fresh: bool) -> Result<Vec<GroupId>> {
        self.read()?;
        let asked = |id: &GroupId| {
            let group = self.held.get(*id);
            self.held.is_held(*id) && (!fresh || group.changed && !group.fired) && self.is_written(*id)
        };
        let groups: Vec<GroupId> = self.touched.iter().copied().filter(asked).collect();
        if groups.is_empty() {
            return Ok(groups);
        }
        let base = self.base_of(&groups)?;
        let columns = base.columns(&self.key_types)?;
        let failed = |(row, what): (usize, String)| self.finish.failed(&columns, row, &what);
        let whole = self.finish.whole(columns.clone()).map_err(failed)?;
        let holds = self.finish.holds(&whole).map_err(failed)?;
        Ok(groups.into_iter().enumerate().filter(|(i, _)| holds.value(*i)).map(|(_, id)| id).collect())
    }

    /// The shown rows of these groups, which come ordered and are whole windows.
    pub(super) fn rows_of(&self, groups: &[GroupId]) -> Result<RecordBatch> {
        let base = self.base_of(groups)?;
        let whole = base.whole(&self.finish, &self.key_types)?;
        let ranked = base.ranked(&whole, &self.finish, |_| false)?;
        Base::shown(&whole, &self.finish, &ranked)
    }

    fn base_of(&self, groups: &[GroupId]) -> Result<Base> {
        let mut base = Base::default();
        for id in groups {
            let group = self.held.get(*id);
            base.heads.push(group.window, self.held.key(group.key));
        }
        let slots: Vec<Slot> = groups.iter().map(|id| self.held.get(*id).slot).collect();
        base.add_values(self.aggregates.values(&slots), slots.len(), &self.finish, &self.key_types)?;
        Ok(base)
    }

    /// Takes in the rows that wait, and reads the values that are awaited.
    pub(super) fn read(&mut self) -> Result<()> {
        if let Some(feed) = self.feed.as_ref().filter(|_| !self.rows.is_empty()) {
            self.aggregates.take(&self.slots, &self.rows, feed)?;
            self.slots.clear();
            self.rows.clear();
        }
        if !self.awaited_slots.is_empty() {
            let values = self.aggregates.values(&self.awaited_slots);
            self.changes.base.add_values(values, self.awaited_slots.len(), &self.finish, &self.key_types)?;
            self.awaited_slots.clear();
            self.awaited.drain(..).for_each(|id| self.held.get_mut(id).awaited = false);
        }
        self.spent.drain(..).for_each(|slot| self.aggregates.release(slot));
        Ok(())
    }

    /// Whether enough was collected to be written.
    pub(super) fn is_full(&self) -> bool {
        self.changes.is_full()
    }

    /// Writes what was collected, all of which was read.
    pub(super) fn write(&mut self, out: &mut dyn Emit) -> Result<()> {
        self.changes.write(&self.finish, &self.key_types, &mut self.tally, out)
    }

    /// Forgets a group.
    pub(super) fn drop_group(&mut self, id: GroupId) {
        let is_written = self.is_written(id);
        let group = self.held.get_mut(id);
        self.spent.push(group.slot);
        let (key, standing, stale) = (group.key, group.standing.take(), std::mem::take(&mut group.stale));
        let stale = stale.into_iter().map(|(_, standing)| standing);
        standing.into_iter().chain(stale).for_each(|standing| self.changes.forget(standing));
        for (input, rows) in self.by_input.remove(&id).unwrap_or_default() {
            let ledger = self.tally.input(input as usize);
            *if is_written { &mut ledger.used } else { &mut ledger.outside } += rows;
        }
        self.held.drop_group(id);
        self.forget_key(key);
    }

    /// Empties a group.
    pub(super) fn purge(&mut self, id: GroupId) {
        let slot = self.aggregates.open();
        let group = self.held.get_mut(id);
        group.rows = 0;
        self.spent.push(std::mem::replace(&mut group.slot, slot));
    }

    /// Forgets a key that has no group.
    pub(super) fn forget_key(&mut self, key: KeyId) {
        if let Some(gone) = self.held.forget_key(key)
            && !self.key_types.is_empty()
            && gone.rows > 0
        {
            self.heavy.add(gone.hash, &gone.bytes, gone.rows);
        }
    }

    /// Tells the heaviest keys, all of which are forgotten.
    pub(super) fn weigh_all(&mut self) {
        let top = self.heavy.top(HEAVIEST).into_iter();
        self.tally.heaviest = top.map(|(key, rows)| (keys::show(key, &self.key_types), rows)).collect();
    }

    /// Columns of the batches to come have these types.
    pub(super) fn retype(&mut self, types: &[FieldType]) -> Result<()> {
        self.aggregates.retype(&self.types, types)?;
        self.types = types.to_vec();
        let keys: Vec<FieldType> = self.key_columns.iter().map(|&column| types[column]).collect();
        if keys != self.key_types {
            self.held.rekey(&self.key_types, &keys);
            self.heavy.clear();
            self.key_types = keys;
        }
        if self.changes.retype() {
            self.held.revisit_all();
        }
        self.finish.bind(&self.key_types, &self.aggregates.types())
    }

    /// The schema of the results.
    pub(super) fn schema(&self) -> SchemaRef {
        self.changes.schema(self.finish.schema())
    }

    /// Bytes of memory held.
    pub(super) fn bytes(&self) -> usize {
        self.aggregates.bytes()
            + self.held.bytes()
            + self.changes.bytes()
            + self.changed.capacity() * size_of::<GroupId>()
    }
}

fn add_rows(inputs: &mut Vec<(u32, u64)>, input: u32, rows: u64) {
    match inputs.iter_mut().find(|(other, _)| *other == input) {
        Some((_, count)) => *count += rows,
        None => inputs.push((input, rows)),
    }
}
