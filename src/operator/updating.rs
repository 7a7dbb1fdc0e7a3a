//! Aggregation whose results are written more than once: again as they change, or as a whole table.
//!
//! Records go one by one: a record is taken in, the watermark moves, what is final is written, then what a trigger
//! asks for. Rows are handed to the aggregates in runs, though, and results are made into columns in runs: the values
//! of a group are read only when it is about to change again. How records are grouped by time is an [`Assign`]'s to
//! say.

use super::changes::Pane;
use super::core::{Core, Event};
use super::endless::{Counted, Global};
use super::held::{GroupId, KeyId};
use super::updating_sessions::Sessions;
use super::updating_windows::Windows;
use super::{Emit, Late, Operator, Setup, Tally};
use crate::account::StateSize;
use crate::error::Result;
use crate::event::{EventBatch, Side, Watermark};
use crate::plan::{Mode, Trigger};
use crate::schema::FieldType;
use crate::time::{Span, Ts};
use crate::window::Grouping;
use arrow::datatypes::SchemaRef;
use std::sync::Arc;

/// Rows of a table are handed on in batches of about this many.
const BATCH: usize = 8_192;

/// After so many records it is asked whether to go on.
const ROWS_AT_ONCE: usize = 256;

/// Where a record goes.
pub(super) enum Place {
    /// To the groups in [`Core::touched`].
    Groups,
    /// Its windows are not written.
    Outside,
    /// Late for all its windows, of which the last ends here.
    Late(Ts),
}

/// How records are grouped by time.
pub(super) trait Assign: Send {
    /// Finds, or opens, the groups of a record.
    fn place(&mut self, event: &Event, core: &mut Core) -> Result<Place>;

    /// Adds the groups that are final at `mark`, each once; how many windows they are.
    fn take_final(&mut self, mark: Watermark, core: &Core, groups: &mut Vec<GroupId>) -> u64;

    /// Adds the groups, final before, that need not be kept any longer at `mark`.
    fn take_spent(&mut self, mark: Watermark, core: &Core, groups: &mut Vec<GroupId>);

    /// How many windows are held.
    fn windows(&self, core: &Core) -> usize;

    /// Whether the bounds of a group change as it takes in records.
    fn moves(&self) -> bool {
        false
    }

    /// Whether there is one group for each key, which never ends.
    fn is_endless(&self) -> bool {
        false
    }
}

/// How long windows are kept behind their ends; none: for ever, so that nothing is late.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keep(pub(super) Option<Span>);

impl Keep {
    /// Whether a window that ends here is kept no longer.
    pub(super) fn is_over(self, mark: Watermark, end: Ts) -> bool {
        self.0.is_some_and(|keep| mark.has_reached(end.saturating_add(keep)))
    }

    /// The same for a session, whose end still belongs to it.
    pub(super) fn is_past(self, mark: Watermark, end: Ts) -> bool {
        self.0.is_some_and(|keep| mark.has_passed(end.saturating_add(keep)))
    }
}

/// What makes rows be written before they are final.
enum Fires {
    Never,
    /// Every so many used records; `per_key`: of each key.
    Count {
        every: u64,
        per_key: bool,
    },
    EventTime(Span),
    When,
}

/// What a record, or the mark behind it, has set off.
enum Due {
    Nothing,
    Everything,
    These(Vec<GroupId>),
}

/// The aggregation.
pub struct Updating {
    core: Core,
    assign: Box<dyn Assign>,
    mode: Mode,
    fires: Fires,
    /// Groups are emptied once they were written.
    purges: bool,
    used: u64,
    /// Something changed since the last table.
    dirty: bool,
}

impl Updating {
    /// What `grouping`, `mode` and `trigger` say.
    pub fn of(grouping: &Grouping, mode: Mode, trigger: Option<&Trigger>, setup: Setup) -> Result<Self> {
        let keep = Keep(match mode {
            Mode::Append => Some(Span::ZERO),
            Mode::Update { lateness } => Some(lateness),
            Mode::Complete { keep } => keep,
        });
        let tables = matches!(mode, Mode::Complete { .. });
        let assign: Box<dyn Assign> = match grouping {
            Grouping::Windows(windower) => Box::new(Windows::new(Arc::clone(windower), keep)),
            Grouping::Session { gap } => Box::new(Sessions::new(*gap, keep)),
            Grouping::Global { .. } => Box::new(Global::default()),
            Grouping::Count(every) => Box::new(Counted::new(*every, tables.then_some(keep))),
        };
        let purges = matches!(grouping, Grouping::Global { purge: true }) && !tables;
        Self::new(assign, mode, trigger, purges, setup)
    }

    /// Groups as `assign` says, written as `mode` and `trigger` say.
    fn new(assign: Box<dyn Assign>, mode: Mode, trigger: Option<&Trigger>, purges: bool, setup: Setup) -> Result<Self> {
        let fires = match trigger {
            Some(Trigger::Count(every)) => Fires::Count { every: (*every).max(1), per_key: assign.is_endless() },
            Some(Trigger::EventTime(every)) => Fires::EventTime(*every),
            Some(Trigger::When(_)) => Fires::When,
            Some(Trigger::Wall(_)) => Fires::Never,
            None if matches!(mode, Mode::Update { .. }) => Fires::Count { every: 1, per_key: assign.is_endless() },
            None => Fires::Never,
        };
        let told = matches!(mode, Mode::Update { .. });
        let mut core = Core::new(told, setup)?;
        core.moves = assign.moves();
        Ok(Self { core, assign, mode, fires, purges, used: 0, dirty: false })
    }

    fn writes_tables(&self) -> bool {
        matches!(self.mode, Mode::Complete { .. })
    }

    /// Takes in a record; whether it is used.
    fn take_row(&mut self, event: &Event, batch: &EventBatch, out: &mut dyn Emit) -> Result<bool> {
        self.core.begin_row();
        match self.assign.place(event, &mut self.core)? {
            Place::Late(window_end) => {
                self.core.tally.input(event.input).late += 1;
                self.core.forget_key(event.key);
                out.late(Late { side: Side::Left, row: event.row, mark: batch.marks.judge(event.row), window_end })?;
                return Ok(false);
            }
            Place::Outside => {
                self.core.tally.input(event.input).outside += 1;
                self.core.forget_key(event.key);
                return Ok(false);
            }
            Place::Groups => {}
        }
        self.core.take_row(event)?;
        self.dirty = true;
        if !self.writes_tables() && self.core.has_urgent() {
            self.core.fire_urgent()?;
        }
        Ok(true)
    }

    /// The mark moves: what is final is written, what is not needed any longer is forgotten. Then come triggers.
    fn advance(&mut self, mark: Watermark, used: bool, out: &mut dyn Emit) -> Result<()> {
        let before = self.core.mark;
        self.core.mark = before.max(mark);
        let mark = self.core.mark;
        let mut groups = Vec::new();
        let windows = self.assign.take_final(mark, &self.core, &mut groups);
        self.core.tally.fired(mark, windows);
        if self.writes_tables() {
            groups.iter().for_each(|id| self.core.held.get_mut(*id).fired = true);
            if mark == Watermark::END {
                self.table(out)?;
            }
        } else if !groups.is_empty() {
            self.core.fire(&mut groups, Some(Pane::OnTime))?;
        }
        groups.clear();
        self.assign.take_spent(mark, &self.core, &mut groups);
        self.dirty |= !groups.is_empty();
        groups.into_iter().for_each(|id| self.core.drop_group(id));
        let due = self.due(before, used)?;
        self.set_off(due, out)
    }

    /// What the last record and the mark behind it set off.
    fn due(&mut self, before: Watermark, used: bool) -> Result<Due> {
        let mark = self.core.mark;
        if mark == Watermark::END {
            return Ok(Due::Nothing);
        }
        Ok(match self.fires {
            Fires::Never => Due::Nothing,
            Fires::EventTime(every) => match crosses(before, mark, every) {
                true => Due::Everything,
                false => Due::Nothing,
            },
            Fires::Count { every, per_key: false } => {
                self.used += u64::from(used);
                if used && self.used.is_multiple_of(every) { Due::Everything } else { Due::Nothing }
            }
            Fires::Count { every, per_key: true } if used => {
                let touched = self.core.touched.iter().copied();
                Due::These(touched.filter(|id| self.core.held.get(*id).rows.is_multiple_of(every)).collect())
            }
            Fires::When if used => Due::These(self.core.asked_for(!self.writes_tables())?),
            Fires::Count { .. } | Fires::When => Due::Nothing,
        })
    }

    /// Writes what is due, unless it is final already.
    fn set_off(&mut self, due: Due, out: &mut dyn Emit) -> Result<()> {
        let mut groups = match due {
            Due::Nothing => return Ok(()),
            Due::These(groups) if groups.is_empty() => return Ok(()),
            _ if self.writes_tables() => return self.table(out),
            Due::Everything => self.core.take_changed(),
            Due::These(groups) => groups,
        };
        groups.retain(|id| {
            let group = self.core.held.get(*id);
            self.core.held.is_held(*id) && group.changed && !group.fired
        });
        if groups.is_empty() {
            return Ok(());
        }
        self.core.fire(&mut groups, Some(Pane::Early))?;
        if self.purges {
            groups.into_iter().for_each(|id| self.core.purge(id));
        }
        Ok(())
    }

    /// Writes all there is.
    fn table(&mut self, out: &mut dyn Emit) -> Result<()> {
        self.core.read()?;
        out.table()?;
        self.dirty = false;
        let mut groups = self.core.held.all();
        groups.retain(|id| self.core.is_written(*id));
        self.core.held.sort(&mut groups);
        let mut rest = groups.as_slice();
        while !rest.is_empty() {
            // The rows of one window may be compared, and so stay together.
            let window = |id: &GroupId| self.core.held.get(*id).window;
            let least = BATCH.min(rest.len());
            let more = rest[least..].iter().take_while(|id| window(id) == window(&rest[least - 1])).count();
            let (part, behind) = rest.split_at(least + more);
            part.iter().for_each(|id| self.core.tally.row_in(self.core.held.get(*id).window));
            let rows = self.core.rows_of(part)?;
            if rows.num_rows() > 0 {
                out.rows(rows)?;
            }
            rest = behind;
        }
        Ok(())
    }

    fn write(&mut self, out: &mut dyn Emit) -> Result<()> {
        self.core.read()?;
        self.core.write(out)
    }
}

/// Whether a multiple of `every` lies between two marks. Nothing is crossed where nothing was promised before.
fn crosses(before: Watermark, mark: Watermark, every: Span) -> bool {
    let multiple = |mark: Watermark| mark.ts().micros().div_euclid(every.micros().max(1));
    before != Watermark::NEVER && multiple(mark) > multiple(before)
}

impl Operator for Updating {
    fn on_batch(&mut self, batch: &EventBatch, out: &mut dyn Emit) -> Result<()> {
        let rows = batch.times.len();
        if rows > 0 {
            self.advance(batch.marks.job(0), false, out)?;
        }
        let keys = self.core.begin(batch);
        let mut known: Vec<Option<KeyId>> = Vec::new();
        for row in 0..rows {
            if row % ROWS_AT_ONCE == 0 {
                out.go_on()?;
            }
            let input = batch.positions.get(row).input();
            let used = match batch.is_selected(row) {
                false => {
                    self.core.tally.input(input).filtered += 1;
                    false
                }
                true => {
                    let key = self.core.held.key_of_row(&keys, row, &mut known);
                    let event = Event { ts: batch.times.get(row), key, judge: batch.marks.judge(row), row, input };
                    self.take_row(&event, batch, out)?
                }
            };
            self.advance(batch.mark_after(row), used, out)?;
            if self.core.is_full() {
                self.write(out)?;
            }
        }
        self.write(out)?;
        self.core.end();
        Ok(())
    }

    fn on_watermark(&mut self, mark: Watermark, out: &mut dyn Emit) -> Result<()> {
        self.advance(mark, false, out)?;
        self.write(out)?;
        if mark == Watermark::END {
            self.core.weigh_all();
        }
        Ok(())
    }

    fn on_tick(&mut self, out: &mut dyn Emit) -> Result<()> {
        if self.dirty {
            self.set_off(Due::Everything, out)?;
            self.dirty = false;
        }
        self.write(out)
    }

    fn retype(&mut self, types: &[FieldType]) -> Result<()> {
        self.core.retype(types)
    }

    fn schema(&self) -> SchemaRef {
        self.core.schema()
    }

    fn state(&self) -> StateSize {
        let windows = self.assign.windows(&self.core) as u64;
        StateSize { windows, groups: self.core.held.len() as u64, rows: 0, bytes: self.core.bytes() as u64 }
    }

    fn tally(&self) -> &Tally {
        &self.core.tally
    }
}

#[cfg(test)]
mod tests;
