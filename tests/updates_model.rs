//! The slow, obvious model of SPEC section 5: results that update, record by record: apply it, move the watermark, fire
//! what is final, then what is triggered. Must not use the program's own code.

use crate::model::{self, Event, Job, Kind, NEVER, Place, Step};
use crate::rows_model::{Bounds, Cell, HAVINGS, Query, Row};
use std::collections::BTreeMap;

/// How records are put together.
#[derive(Clone, Debug)]
pub enum Shape {
    /// As the kind of the clock's job says.
    Timed,
    Global {
        purge: bool,
    },
    Count(usize),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    Append,
    Update,
    Complete,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trigger {
    None,
    Count(u64),
    EventTime(i64),
    /// One of [`HAVINGS`].
    When(usize),
}

/// A job of this model.
#[derive(Clone, Debug)]
pub struct Updating {
    pub clock: Job,
    pub shape: Shape,
    pub mode: Mode,
    pub trigger: Trigger,
    pub lateness: i64,
    pub keep: Option<i64>,
    pub query: Query,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pane {
    Early,
    OnTime,
    Late,
}

/// A row that is written: an upsert or a delete, or a row of a mode without either.
#[derive(Clone, Debug)]
pub struct Written {
    pub delete: bool,
    pub pane: Pane,
    pub revision: u64,
    pub row: Row,
}

/// What the model says.
#[derive(Debug, Default)]
pub struct Answer {
    /// Each firing's rows, in their order. In complete mode a firing is a table.
    pub firings: Vec<Vec<Written>>,
    pub late: Vec<Place>,
    pub used: u64,
    pub filtered: u64,
}

/// A window of a key, with all that is known of it.
struct Window {
    keys: Vec<Cell>,
    span: Span,
    rows: Vec<(Place, Event)>,
    /// Something came since it was last written.
    changed: bool,
    /// It was written as final, so that only late events write it again.
    closed: bool,
    /// The rows that stand in the result.
    standing: BTreeMap<Bounds, Row>,
    revisions: BTreeMap<Bounds, u64>,
}

/// When it begins and ends.
#[derive(Clone, Copy, PartialEq)]
enum Span {
    Fixed(i64, i64),
    Session { first: i64, last: i64 },
    Endless,
    Counted,
}

impl Window {
    fn new(keys: Vec<Cell>, span: Span) -> Self {
        let (standing, revisions) = (BTreeMap::new(), BTreeMap::new());
        Self { keys, span, rows: Vec::new(), changed: false, closed: false, standing, revisions }
    }

    fn bounds(&self, gap: i64) -> Bounds {
        match self.span {
            Span::Fixed(start, end) => (Some(start), Some(end)),
            Span::Session { first, last } => (Some(first), Some(last + gap)),
            Span::Endless => (None, None),
            Span::Counted => (self.rows.iter().map(|r| r.1.t).min(), self.rows.iter().map(|r| r.1.t).max()),
        }
    }

    /// Whether it is final once kept for `longer`.
    fn is_final(&self, mark: i64, gap: i64, longer: i64) -> bool {
        mark != NEVER
            && match self.span {
                Span::Fixed(_, end) => mark >= end + longer,
                Span::Session { last, .. } => mark > last + gap + longer,
                Span::Endless | Span::Counted => false,
            }
    }

    fn next_revision(&mut self, bounds: Bounds) -> u64 {
        let next = self.revisions.entry(bounds).or_default();
        *next += 1;
        *next - 1
    }
}

/// What the files' records come to.
pub fn answer(job: &Updating, files: &[Vec<Event>]) -> Answer {
    let gap = match job.clock.kind {
        Kind::Session { gap } => gap,
        _ => 0,
    };
    let (windows, seen, purged) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut world = World { job, gap, windows, opened: 0, seen, purged, answer: Answer::default() };
    for step in model::steps(&job.clock, files) {
        world.step(&step);
    }
    world.flush();
    world.answer
}

/// A window's number: as many were opened before it.
type Id = usize;

struct World<'a> {
    job: &'a Updating,
    gap: i64,
    windows: BTreeMap<Id, Window>,
    opened: usize,
    /// Used records of each key.
    seen: BTreeMap<Vec<Cell>, u64>,
    /// What was written of windows that were purged: what is purged is their content, the row in the result is the same.
    purged: BTreeMap<Vec<Cell>, Window>,
    answer: Answer,
}

/// A record's windows, and what each is written as at once, if it is.
type Touched = Vec<(Id, Option<Pane>)>;

impl World<'_> {
    /// Apply it, move the watermark, fire what is final, then what is triggered.
    fn step(&mut self, step: &Step) {
        let touched = match &step.record {
            Some((place, event)) => self.record(*place, event, step),
            None => None,
        };
        if self.job.mode != Mode::Complete {
            let mut firing: BTreeMap<Id, Pane> = self.finals(step.after);
            firing.extend(touched.iter().flatten().filter_map(|&(id, pane)| Some((id, pane?))));
            self.fire(&firing);
        }
        self.expire(step.after);
        let due = self.due(step, touched.as_deref());
        match due {
            Some(_) if self.job.mode == Mode::Complete => self.table(),
            Some(ids) => {
                let changed = |id: &Id| self.windows.get(id).is_some_and(|w| w.changed);
                self.fire(&ids.into_iter().filter(changed).map(|id| (id, Pane::Early)).collect());
            }
            None => {}
        }
    }

    /// At the end all is final.
    fn flush(&mut self) {
        if self.job.mode == Mode::Complete {
            return self.table();
        }
        let open = self.windows.iter().filter(|(_, w)| !w.closed).map(|(&id, _)| (id, Pane::OnTime));
        let open = open.collect();
        self.fire(&open);
    }

    /// The windows the record went to; none when it is not used.
    fn record(&mut self, place: Place, event: &Event, step: &Step) -> Option<Touched> {
        if !self.job.query.keeps(event) {
            self.answer.filtered += 1;
            return None;
        }
        let keys = self.job.query.keys_of(event);
        let row = (place, event.clone());
        let touched = match (&self.job.shape, &self.job.clock.kind) {
            (Shape::Global { .. }, _) => self.endless(&keys, row),
            (Shape::Count(n), _) => self.counted(&keys, row, *n),
            (Shape::Timed, Kind::Session { .. }) => self.session(&keys, row, step),
            (Shape::Timed, _) => self.fixed(&keys, row, step),
        };
        if touched.is_empty() {
            self.answer.late.push(place);
            return None;
        }
        self.answer.used += 1;
        *self.seen.entry(keys).or_default() += 1;
        Some(touched)
    }

    /// How long windows are kept behind their end; none: for ever.
    fn longer(&self) -> Option<i64> {
        match self.job.mode {
            Mode::Append => Some(0),
            Mode::Update => Some(self.job.lateness),
            Mode::Complete => self.job.keep,
        }
    }

    fn too_late(&self, window: &Window, judge: i64) -> bool {
        self.longer().is_some_and(|longer| window.is_final(judge, self.gap, longer))
    }

    fn find(&self, holds: impl Fn(&Window) -> bool) -> Option<Id> {
        self.windows.iter().find(|(_, w)| holds(w)).map(|(&id, _)| id)
    }

    fn open(&mut self, window: Window) -> Id {
        self.opened += 1;
        self.windows.insert(self.opened, window);
        self.opened
    }

    fn add(&mut self, id: Id, row: (Place, Event)) {
        if let Some(window) = self.windows.get_mut(&id) {
            window.rows.push(row);
            window.changed = true;
        }
    }

    fn endless(&mut self, keys: &[Cell], row: (Place, Event)) -> Touched {
        let id = self.find(|w| w.keys == keys).unwrap_or_else(|| {
            let new = Window::new(keys.to_vec(), Span::Endless);
            let purged = self.purged.remove(keys).map(|old| Window { rows: Vec::new(), closed: false, ..old });
            self.open(purged.unwrap_or(new))
        });
        self.add(id, row);
        vec![(id, None)]
    }

    fn counted(&mut self, keys: &[Cell], row: (Place, Event), n: usize) -> Touched {
        let id = self
            .find(|w| w.keys == keys && !w.closed)
            .unwrap_or_else(|| self.open(Window::new(keys.to_vec(), Span::Counted)));
        self.add(id, row);
        let full = self.windows[&id].rows.len() == n;
        if full && self.job.mode == Mode::Complete {
            self.windows.entry(id).and_modify(|w| w.closed = true);
        }
        vec![(id, full.then_some(Pane::OnTime))]
    }

    fn fixed(&mut self, keys: &[Cell], row: (Place, Event), step: &Step) -> Touched {
        let mut touched = Vec::new();
        for (start, end) in model::windows_of(&self.job.clock.kind, row.1.t) {
            let new = Window::new(keys.to_vec(), Span::Fixed(start, end));
            if self.too_late(&new, step.judge) {
                continue;
            }
            let late = new.is_final(step.before, self.gap, 0);
            let id = self.find(|w| w.keys == keys && w.span == new.span).unwrap_or_else(|| self.open(new));
            self.add(id, row.clone());
            touched.push((id, late.then_some(Pane::Late)));
        }
        touched
    }

    /// The session an event forms is that of all it touches. Where one of these was written as final, the rows are set
    /// right at once.
    fn session(&mut self, keys: &[Cell], row: (Place, Event), step: &Step) -> Touched {
        let t = row.1.t;
        let near = |w: &Window| match w.span {
            Span::Session { first, last } => w.keys == keys && t >= first - self.gap && t <= last + self.gap,
            _ => false,
        };
        let near: Vec<Id> = self.windows.iter().filter(|(_, w)| near(w)).map(|(&id, _)| id).collect();
        let mut merged = Window::new(keys.to_vec(), Span::Session { first: t, last: t });
        near.iter().for_each(|id| merged.span = hull(merged.span, self.windows[id].span));
        if self.too_late(&merged, step.judge) {
            return Vec::new();
        }
        let mut was_final = false;
        for old in near.iter().filter_map(|id| self.windows.remove(id)) {
            was_final |= old.closed;
            merged.rows.extend(old.rows);
            merged.standing.extend(old.standing);
            merged.revisions.extend(old.revisions);
        }
        let pane = match merged.is_final(step.before, self.gap, 0) {
            true => Some(Pane::Late),
            false => was_final.then_some(Pane::Early),
        };
        let id = self.open(merged);
        self.add(id, row);
        vec![(id, pane)]
    }

    fn finals(&self, mark: i64) -> BTreeMap<Id, Pane> {
        let is_final = |w: &Window| !w.closed && w.is_final(mark, self.gap, 0);
        self.windows.iter().filter(|(_, w)| is_final(w)).map(|(&id, _)| (id, Pane::OnTime)).collect()
    }

    fn expire(&mut self, mark: i64) {
        if let Some(longer) = self.longer() {
            let gap = self.gap;
            self.windows.retain(|_, w| !w.is_final(mark, gap, longer));
        }
    }

    /// The windows a trigger would write; none when nothing triggers.
    fn due(&self, step: &Step, touched: Option<&[(Id, Option<Pane>)]>) -> Option<Vec<Id>> {
        let all = || self.windows.keys().copied().collect();
        let own = || touched.into_iter().flatten().map(|(id, _)| *id);
        let trigger = match self.job.trigger {
            Trigger::None if self.job.mode == Mode::Update => Trigger::Count(1),
            other => other,
        };
        match (trigger, &self.job.shape) {
            (Trigger::Count(n), Shape::Global { .. }) => {
                let (_, event) = step.record.as_ref().filter(|_| touched.is_some())?;
                let seen = self.seen.get(&self.job.query.keys_of(event))?;
                (seen % n == 0).then(|| own().collect())
            }
            (Trigger::Count(n), _) => (touched.is_some() && self.answer.used.is_multiple_of(n)).then(all),
            (Trigger::EventTime(d), _) => {
                let crossed = step.before != NEVER && step.before.div_euclid(d) != step.after.div_euclid(d);
                crossed.then(all)
            }
            (Trigger::When(at), _) => {
                let holds: Vec<Id> = own().filter(|id| self.is_true(*id, at)).collect();
                (!holds.is_empty()).then_some(holds)
            }
            (Trigger::None, _) => None,
        }
    }

    fn is_true(&self, id: Id, at: usize) -> bool {
        self.windows.get(&id).is_some_and(|w| {
            let row = self.row(w);
            HAVINGS[at].1(row.n, row.s)
        })
    }

    fn row(&self, w: &Window) -> Row {
        self.job.query.row(w.bounds(self.gap), w.keys.clone(), &w.rows)
    }

    /// The rows that are written of all windows with the same bounds as one of these, by window.
    fn shown(&self, ids: &BTreeMap<Id, Pane>) -> BTreeMap<Id, (Row, Pane)> {
        let mut groups: BTreeMap<Bounds, Vec<(Id, Pane)>> = BTreeMap::new();
        for (id, pane) in ids {
            groups.entry(self.windows[id].bounds(self.gap)).or_default().push((*id, *pane));
        }
        let mut shown = BTreeMap::new();
        for (bounds, group) in groups {
            let mut members = group.clone();
            if self.job.query.top.is_some() {
                let other = |(id, w): (&Id, &Window)| {
                    (w.bounds(self.gap) == bounds && !ids.contains_key(id)).then_some((*id, group[0].1))
                };
                members.extend(self.windows.iter().filter_map(other));
            }
            let rows = members.iter().map(|(id, _)| self.row(&self.windows[id])).collect();
            for row in self.job.query.finish(rows) {
                let member =
                    members.iter().find(|(id, _)| self.windows[id].keys == row.keys && !shown.contains_key(id));
                shown.extend(member.map(|&(id, pane)| (id, (row, pane))));
            }
        }
        shown
    }

    /// Writes windows: deletes first, then upserts, each by end, start, order and keys.
    fn fire(&mut self, ids: &BTreeMap<Id, Pane>) {
        let shown = self.shown(ids);
        let bounds: Vec<Bounds> = ids.keys().map(|id| self.windows[id].bounds(self.gap)).collect();
        let ranked = self.job.query.top.is_some();
        let gap = self.gap;
        let mut firing = Vec::new();
        for (id, window) in &mut self.windows {
            let own = window.bounds(gap);
            let selected = ids.get(id).copied();
            let beside = ranked.then(|| bounds.iter().position(|b| *b == own)).flatten();
            let Some(pane) = selected.or_else(|| ids.values().nth(beside?).copied()) else { continue };
            let row = shown.get(id).map(|(row, _)| row);
            let stands = |at: &Bounds| *at == own && row.is_some();
            for (at, old) in std::mem::take(&mut window.standing) {
                if stands(&at) {
                    window.standing.insert(at, old);
                } else {
                    let revision = window.next_revision(at);
                    firing.push(Written { delete: true, pane, revision, row: Row { bounds: at, ..old } });
                }
            }
            if let Some(row) = row.filter(|row| selected.is_some() || window.standing.get(&own) != Some(row)) {
                let revision = window.next_revision(own);
                // What is appended stands for good.
                if self.job.mode == Mode::Update {
                    window.standing.insert(own, row.clone());
                }
                firing.push(Written { delete: false, pane, revision, row: row.clone() });
            }
            if selected.is_some() {
                window.changed = false;
                window.closed |= pane != Pane::Early;
            }
        }
        self.forget(ids);
        self.write(firing);
    }

    /// A count window is over when it was written as final; with `--purge` every window is when it was written.
    fn forget(&mut self, ids: &BTreeMap<Id, Pane>) {
        let over = |id: &Id| match self.job.shape {
            Shape::Global { purge } => purge,
            Shape::Count(_) => ids[id] == Pane::OnTime,
            Shape::Timed => false,
        };
        for id in ids.keys().filter(|id| over(id)) {
            if let Some(window) = self.windows.remove(id).filter(|window| window.span == Span::Endless) {
                self.purged.insert(window.keys.clone(), window);
            }
        }
    }

    fn table(&mut self) {
        let all = self.windows.keys().map(|&id| (id, Pane::OnTime)).collect();
        let rows = self.shown(&all).into_values();
        let firing = rows.map(|(row, pane)| Written { delete: false, pane, revision: 0, row }).collect();
        self.write(firing);
    }

    fn write(&mut self, mut firing: Vec<Written>) {
        let query = &self.job.query;
        firing.sort_by_key(|w| (!w.delete, w.row.bounds.1, w.row.bounds.0, query.place(&w.row)));
        self.answer.firings.push(firing);
    }
}

fn hull(a: Span, b: Span) -> Span {
    match (a, b) {
        (Span::Session { first: f, last: l }, Span::Session { first, last }) => {
            Span::Session { first: f.min(first), last: l.max(last) }
        }
        _ => a,
    }
}
