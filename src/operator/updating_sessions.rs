//! Records to sessions, for results that are written more than once: events of a key at most a gap apart.
//!
//! The sessions of a key that are held never touch each other, so one that a record touches is a neighbour of it by
//! time. A session's window is `[first, last + gap)`. Must not know what is written, or when.

use super::core::{Core, Event};
use super::held::{GroupId, KeyId};
use super::updating::{Assign, Keep, Place};
use crate::error::Result;
use crate::event::Watermark;
use crate::time::{Span, Ts};
use crate::window::Window;
use std::collections::{BTreeMap, BTreeSet};

/// Groups by key and start.
pub(super) struct Sessions {
    gap: Span,
    keep: Keep,
    starts: BTreeMap<(KeyId, Ts), GroupId>,
    /// Sessions that are not final, by their ends.
    open: BTreeSet<(Ts, GroupId)>,
    /// Sessions that are, but are kept for late data.
    kept: BTreeSet<(Ts, GroupId)>,
}

impl Sessions {
    /// Sessions with this gap, kept for `keep` behind their ends.
    pub(super) fn new(gap: Span, keep: Keep) -> Self {
        Self { gap, keep, starts: BTreeMap::new(), open: BTreeSet::new(), kept: BTreeSet::new() }
    }

    /// The sessions that an event would join: two at most.
    fn touched(&self, key: KeyId, ts: Ts, core: &Core) -> Vec<GroupId> {
        let from = (key, Ts::MIN);
        let to = (key, ts.saturating_add(self.gap));
        let near = self.starts.range(from..=to).rev().map(|(_, id)| *id);
        near.take_while(|id| core.held.get(*id).window.end >= ts).collect()
    }

    /// Opens a session, or gives one other bounds; whether it is final is known from them.
    fn bound(&mut self, key: KeyId, id: Option<GroupId>, window: Window, core: &mut Core) -> GroupId {
        let id = match id {
            None => core.open(key, window),
            Some(id) => {
                self.forget(id, core);
                core.move_to(id, window);
                id
            }
        };
        let fired = core.mark.has_passed(window.end);
        core.held.get_mut(id).fired = fired;
        self.starts.insert((key, window.start), id);
        if fired { &mut self.kept } else { &mut self.open }.insert((window.end, id));
        id
    }

    fn forget(&mut self, id: GroupId, core: &Core) {
        let group = core.held.get(id);
        self.starts.remove(&(group.key, group.window.start));
        self.open.remove(&(group.window.end, id));
        self.kept.remove(&(group.window.end, id));
    }
}

impl Assign for Sessions {
    fn place(&mut self, event: &Event, core: &mut Core) -> Result<Place> {
        let touched = self.touched(event.key, event.ts, core);
        let whole = Window::new(event.ts, event.ts.saturating_add(self.gap));
        let whole = touched.iter().fold(whole, |whole, id| {
            let window = core.held.get(*id).window;
            Window::new(whole.start.min(window.start), whole.end.max(window.end))
        });
        if self.keep.is_past(event.judge, whole.end) {
            return Ok(Place::Late(whole.end));
        }
        let was_final = touched.iter().any(|id| core.held.get(*id).fired);
        let into = touched.first().copied();
        for from in touched.iter().skip(1) {
            self.forget(*from, core);
            core.merge(touched[0], *from)?;
        }
        let id = match into.filter(|id| core.held.get(*id).window == whole) {
            Some(id) => id,
            None => self.bound(event.key, into, whole, core),
        };
        core.touched.push(id);
        if was_final || core.held.get(id).fired {
            core.urge(id);
        }
        Ok(Place::Groups)
    }

    fn take_final(&mut self, mark: Watermark, _: &Core, groups: &mut Vec<GroupId>) -> u64 {
        let before = groups.len();
        while let Some(&(end, id)) =
            self.open.first().filter(|(end, _)| mark == Watermark::END || mark.has_passed(*end))
        {
            self.open.pop_first();
            self.kept.insert((end, id));
            groups.push(id);
        }
        (groups.len() - before) as u64
    }

    fn take_spent(&mut self, mark: Watermark, core: &Core, groups: &mut Vec<GroupId>) {
        let is_over = |end| mark == Watermark::END || self.keep.is_past(mark, end);
        while let Some(&(_, id)) = self.kept.first().filter(|(end, _)| is_over(*end)) {
            self.kept.pop_first();
            let group = core.held.get(id);
            self.starts.remove(&(group.key, group.window.start));
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
