//! Records to windows that are known from each event alone, for results that are written more than once: each window
//! has its own groups, since each is read as it grows.
//!
//! Must not know what is written, or when.

use super::core::{Core, Event};
use super::held::{GroupId, KeyId};
use super::updating::{Assign, Keep, Place};
use crate::error::Result;
use crate::event::Watermark;
use crate::window::{Window, Windower};
use hashbrown::HashMap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Groups by window and key.
pub(super) struct Windows {
    windower: Arc<dyn Windower>,
    keep: Keep,
    groups: HashMap<(Window, KeyId), GroupId, foldhash::fast::FixedState>,
    /// Windows that are not final, by (end, start).
    open: BTreeMap<Window, Vec<GroupId>>,
    /// Windows that are, but are kept for late data.
    kept: BTreeMap<Window, Vec<GroupId>>,
    scratch: Vec<Window>,
}

impl Windows {
    /// The windows of `windower`, kept for `keep` behind their ends.
    pub(super) fn new(windower: Arc<dyn Windower>, keep: Keep) -> Self {
        let groups = HashMap::with_hasher(foldhash::fast::FixedState::default());
        Self { windower, keep, groups, open: BTreeMap::new(), kept: BTreeMap::new(), scratch: Vec::new() }
    }

    fn group(&mut self, window: Window, key: KeyId, core: &mut Core) -> GroupId {
        if let Some(&id) = self.groups.get(&(window, key)) {
            return id;
        }
        let id = core.open(key, window);
        self.groups.insert((window, key), id);
        // Late data may open a window that is final already.
        let fired = core.mark.has_reached(window.end);
        core.held.get_mut(id).fired = fired;
        let windows = if fired { &mut self.kept } else { &mut self.open };
        windows.entry(window).or_default().push(id);
        id
    }

    fn place_in(&mut self, windows: &[Window], event: &Event, core: &mut Core) -> Place {
        let late = windows.iter().take_while(|w| self.keep.is_over(event.judge, w.end)).count();
        if late == windows.len() {
            return Place::Late(windows.last().map_or(event.ts, |w| w.end));
        }
        if late > 0 {
            core.tally.input(event.input).partially_late += 1;
            let behind = event.judge.ts().since(event.ts);
            core.tally.partly_behind = core.tally.partly_behind.max(Some(behind));
        }
        let range = core.range;
        for window in windows[late..].iter().filter(|w| range.holds(w.start)) {
            let id = self.group(*window, event.key, core);
            core.touched.push(id);
            if core.held.get(id).fired {
                core.urge(id);
            }
        }
        if core.touched.is_empty() { Place::Outside } else { Place::Groups }
    }
}

impl Assign for Windows {
    fn place(&mut self, event: &Event, core: &mut Core) -> Result<Place> {
        let mut windows = std::mem::take(&mut self.scratch);
        windows.clear();
        self.windower.windows_of(event.ts, &mut windows);
        let place = self.place_in(&windows, event, core);
        self.scratch = windows;
        Ok(place)
    }

    fn take_final(&mut self, mark: Watermark, _: &Core, groups: &mut Vec<GroupId>) -> u64 {
        let mut windows = 0;
        while let Some(entry) = self.open.first_entry().filter(|entry| mark.has_reached(entry.key().end)) {
            let (window, ids) = entry.remove_entry();
            groups.extend(&ids);
            self.kept.insert(window, ids);
            windows += 1;
        }
        windows
    }

    fn take_spent(&mut self, mark: Watermark, core: &Core, groups: &mut Vec<GroupId>) {
        let is_over = |end| mark == Watermark::END || self.keep.is_over(mark, end);
        while let Some(entry) = self.kept.first_entry().filter(|entry| is_over(entry.key().end)) {
            let (window, ids) = entry.remove_entry();
            for id in ids {
                self.groups.remove(&(window, core.held.get(id).key));
                groups.push(id);
            }
        }
    }

    fn windows(&self, _: &Core) -> usize {
        self.open.len() + self.kept.len()
    }
}
