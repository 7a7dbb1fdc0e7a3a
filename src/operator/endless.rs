//! Records to windows that do not depend on the watermark: one endless window per key, or every so many records of a
//! key. Nothing is late for them.
//!
//! Must not know what is written, or when.

use super::base::ENDLESS;
use super::core::{Core, Event};
use super::held::{GroupId, KeyId};
use super::updating::{Assign, Keep, Place};
use crate::error::Result;
use crate::event::Watermark;
use crate::time::Ts;
use crate::window::Window;
use hashbrown::HashMap;
use std::collections::BTreeSet;

/// Groups by key. The order of a walk over it repeats from run to run.
type ByKey = HashMap<KeyId, GroupId, foldhash::fast::FixedState>;

/// One endless window per key.
#[derive(Default)]
pub(super) struct Global {
    groups: ByKey,
}

impl Assign for Global {
    fn place(&mut self, event: &Event, core: &mut Core) -> Result<Place> {
        let id = *self.groups.entry(event.key).or_insert_with(|| core.open(event.key, ENDLESS));
        core.touched.push(id);
        Ok(Place::Groups)
    }

    /// All that holds a row is final at the end.
    fn take_final(&mut self, mark: Watermark, core: &Core, groups: &mut Vec<GroupId>) -> u64 {
        if mark != Watermark::END {
            return 0;
        }
        let before = groups.len();
        groups.extend(self.groups.values().copied().filter(|id| core.held.get(*id).rows > 0));
        (groups.len() - before) as u64
    }

    fn take_spent(&mut self, mark: Watermark, _: &Core, groups: &mut Vec<GroupId>) {
        if mark == Watermark::END {
            groups.extend(self.groups.drain().map(|(_, id)| id));
        }
    }

    fn windows(&self, core: &Core) -> usize {
        core.held.len()
    }

    fn is_endless(&self) -> bool {
        true
    }
}

/// Every so many records of a key. A window's bounds are the least and the greatest event time in it.
pub(super) struct Counted {
    every: u64,
    /// Full windows are kept, for as long as this says; none: they are let go as soon as they were written.
    keep: Option<Keep>,
    /// The windows that are not full.
    current: ByKey,
    /// Those that the last record filled.
    full: Vec<GroupId>,
    kept: BTreeSet<(Ts, GroupId)>,
}

impl Counted {
    /// Windows of `every` records.
    pub(super) fn new(every: u64, keep: Option<Keep>) -> Self {
        let (current, full, kept) = (ByKey::default(), Vec::new(), BTreeSet::new());
        Self { every: every.max(1), keep, current, full, kept }
    }
}

impl Assign for Counted {
    fn place(&mut self, event: &Event, core: &mut Core) -> Result<Place> {
        let at = Window::new(event.ts, event.ts);
        let id = *self.current.entry(event.key).or_insert_with(|| core.open(event.key, at));
        let group = core.held.get(id);
        let window = Window::new(group.window.start.min(event.ts), group.window.end.max(event.ts));
        let is_full = group.rows + 1 >= self.every;
        if window != group.window {
            core.move_to(id, window);
        }
        if is_full {
            self.current.remove(&event.key);
            self.full.push(id);
        }
        core.touched.push(id);
        Ok(Place::Groups)
    }

    fn take_final(&mut self, mark: Watermark, core: &Core, groups: &mut Vec<GroupId>) -> u64 {
        if mark == Watermark::END {
            self.full.extend(self.current.drain().map(|(_, id)| id));
        }
        self.kept.extend(self.full.iter().map(|id| (core.held.get(*id).window.end, *id)));
        groups.extend(&self.full);
        self.full.drain(..).len() as u64
    }

    fn take_spent(&mut self, mark: Watermark, _: &Core, groups: &mut Vec<GroupId>) {
        let is_over = |end| mark == Watermark::END || self.keep.is_none_or(|keep| keep.is_over(mark, end));
        while let Some(&(_, id)) = self.kept.first().filter(|(end, _)| is_over(*end)) {
            self.kept.pop_first();
            groups.push(id);
        }
    }

    fn windows(&self, core: &Core) -> usize {
        core.held.len()
    }

    fn moves(&self) -> bool {
        true
    }
}
