//! The slow, obvious model of SPEC section 7's joins, record by record: the next record of all files, late or not, the
//! held rows it goes with, its side's watermark, and what no partner can come for any more. Must not use the program's
//! own code.

use crate::model::{Clock, Event, Job, Kind, NEVER, Place};
use crate::rows_model::Cell;

/// Plus infinity: the watermark of a side that has ended.
pub const FOR_EVER: i64 = i64::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    Left,
    Right,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    Inner,
    Left,
    Right,
    Full,
    Semi,
    Anti,
}

/// Every kind of join.
pub const HOWS: [How; 6] = [How::Inner, How::Left, How::Right, How::Full, How::Semi, How::Anti];

impl How {
    /// Whether rows of a side come out without a partner.
    pub fn unmatched(self, side: Side) -> bool {
        match side {
            Side::Left => matches!(self, How::Left | How::Full | How::Anti),
            Side::Right => matches!(self, How::Right | How::Full),
        }
    }

    /// Whether pairs come out.
    pub fn pairs(self) -> bool {
        !matches!(self, How::Semi | How::Anti)
    }
}

/// `--join-watermark`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    Own,
    Min,
    Max,
}

/// Which times go together, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bounds {
    Within { lo: i64, hi: i64, open_lo: bool, open_hi: bool },
    Window(i64),
}

impl Bounds {
    fn pair(self, l: i64, r: i64) -> bool {
        match self {
            Bounds::Within { lo, hi, open_lo, open_hi } => {
                let above = if open_lo { r > l + lo } else { r >= l + lo };
                above && if open_hi { r < l + hi } else { r <= l + hi }
            }
            Bounds::Window(size) => l.div_euclid(size) == r.div_euclid(size),
        }
    }

    /// The last instant at which a partner can come.
    pub fn last(self, side: Side, t: i64) -> i64 {
        match (self, side) {
            (Bounds::Within { hi, open_hi, .. }, Side::Left) => t + hi - i64::from(open_hi),
            (Bounds::Within { lo, open_lo, .. }, Side::Right) => t - lo - i64::from(open_lo),
            (Bounds::Window(size), _) => (t.div_euclid(size) + 1) * size - 1,
        }
    }

    fn late(self, t: i64, mark: i64) -> bool {
        match self {
            Bounds::Within { .. } => t < mark,
            Bounds::Window(size) => (t.div_euclid(size) + 1) * size <= mark,
        }
    }
}

/// `--on`: as it is typed, the keys of each side, and what else is asked of a pair.
#[derive(Clone, Copy)]
pub struct On {
    pub text: &'static str,
    pub left: fn(&Event) -> Vec<Cell>,
    pub right: fn(&Event) -> Vec<Cell>,
    pub rest: fn(&Event, &Event) -> Option<bool>,
}

impl On {
    fn keys(&self, side: Side, e: &Event) -> Vec<Cell> {
        match side {
            Side::Left => (self.left)(e),
            Side::Right => (self.right)(e),
        }
    }
}

fn k(e: &Event) -> Cell {
    Cell::text(e.key.as_deref())
}

fn d(e: &Event) -> Cell {
    Cell::Int(e.device.into())
}

fn v(e: &Event) -> Cell {
    e.v.map_or(Cell::Null, Cell::Int)
}

fn always(_: &Event, _: &Event) -> Option<bool> {
    Some(true)
}

fn and(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn less(a: Option<i64>, b: Option<i64>) -> Option<bool> {
    Some(a? < b?)
}

fn either(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    and(a.map(|a| !a), b.map(|b| !b)).map(|none| !none)
}

fn same_key(l: &Event, r: &Event) -> Option<bool> {
    Some(l.key.as_ref()? == r.key.as_ref()?)
}

/// Conditions of every shape: short and long, several keys, computed keys, sides the other way round, conditions over
/// one side, over both, and over the times.
pub const ONS: &[On] = &[
    On { text: "k", left: |e| vec![k(e)], right: |e| vec![k(e)], rest: always },
    On { text: "d", left: |e| vec![d(e)], right: |e| vec![d(e)], rest: always },
    On { text: "k, d", left: |e| vec![k(e), d(e)], right: |e| vec![k(e), d(e)], rest: always },
    On { text: "l.v = r.d", left: |e| vec![v(e)], right: |e| vec![d(e)], rest: always },
    On { text: "l.d = r.d AND l.v < r.v", left: |e| vec![d(e)], right: |e| vec![d(e)], rest: |l, r| less(l.v, r.v) },
    On {
        text: "upper(l.k) = r.k AND l.t <= r.t",
        left: |e| vec![Cell::text(e.key.as_ref().map(|k| k.to_uppercase()).as_deref())],
        right: |e| vec![k(e)],
        rest: |l, r| Some(l.t <= r.t),
    },
    On {
        text: "r.d = l.d AND (l.k = r.k OR l.v + r.v > 0)",
        left: |e| vec![d(e)],
        right: |e| vec![d(e)],
        rest: |l, r| either(same_key(l, r), l.v.zip(r.v).map(|(a, b)| a + b > 0)),
    },
    On {
        text: "r.v + 1 = l.v AND r.k = l.k AND l.d <> r.d",
        left: |e| vec![v(e), k(e)],
        right: |e| vec![e.v.map_or(Cell::Null, |v| Cell::Int(v + 1)), k(e)],
        rest: |l, r| Some(l.device != r.device),
    },
    On { text: "l.v > 0 AND l.k = r.k", left: |e| vec![k(e)], right: |e| vec![k(e)], rest: |l, _| l.v.map(|v| v > 0) },
    On { text: "l.k = r.k AND r.d = 1", left: |e| vec![k(e)], right: |e| vec![k(e)], rest: |_, r| Some(r.device == 1) },
    On {
        text: "l.k = r.k AND l.v = l.d",
        left: |e| vec![k(e)],
        right: |e| vec![k(e)],
        rest: |l, _| l.v.map(|v| v == i64::from(l.device)),
    },
    On {
        text: "l.d = r.d AND r.v NOT BETWEEN l.v - 1 AND l.v + 1",
        left: |e| vec![d(e)],
        right: |e| vec![d(e)],
        rest: |l, r| either(less(r.v, l.v.map(|v| v - 1)), less(l.v.map(|v| v + 1), r.v)),
    },
];

/// A condition on one side, as in [`crate::rows_model::CONDITIONS`].
pub type Condition = (&'static str, fn(&Event) -> Option<bool>);

/// A job of this model.
#[derive(Clone)]
pub struct Join<'a> {
    pub how: How,
    pub on: &'a On,
    pub bounds: Bounds,
    /// Of the left and the right side.
    pub delays: [Option<i64>; 2],
    pub idle_after: Option<i64>,
    pub marks: Marks,
    pub wheres: [Option<Condition>; 2],
}

impl std::fmt::Debug for Join<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let wheres = self.wheres.map(|w| w.map(|w| w.0));
        write!(f, "{:?} on {:?} {:?} ", self.how, self.on.text, self.bounds)?;
        write!(f, "delays {:?} idle {:?} {:?} where {wheres:?}", self.delays, self.idle_after, self.marks)
    }
}

/// The files of both sides.
#[derive(Clone, Debug)]
pub struct Files {
    /// Left files, then right ones.
    pub all: Vec<Vec<Event>>,
    /// How many are left ones.
    pub left: usize,
}

impl Files {
    /// Those of two sides.
    pub fn new(left: Vec<Vec<Event>>, right: Vec<Vec<Event>>) -> Self {
        let n = left.len();
        Self { all: left.into_iter().chain(right).collect(), left: n }
    }

    pub fn side(&self, file: usize) -> Side {
        if file < self.left { Side::Left } else { Side::Right }
    }

    /// The record at a place.
    pub fn at(&self, (file, row): Place) -> &Event {
        &self.all[file][row]
    }
}

/// What is taken next: a record of a file, or that file's end.
pub type Next = (usize, Option<usize>);

/// The next record is the one that leaves its file's greatest time least; files that are equal in that go by their
/// order on the command line. A file ends when its turn comes and it has none.
pub fn merged(files: &[Vec<Event>]) -> Vec<Next> {
    let mut taken: Vec<Option<usize>> = vec![Some(0); files.len()];
    let mut greatest = vec![NEVER; files.len()];
    let mut order = Vec::new();
    let after = |file: usize, at: usize, greatest: i64| files[file].get(at).map_or(greatest, |e| greatest.max(e.t));
    while let Some((_, file, at)) =
        (0..files.len()).filter_map(|f| taken[f].map(|at| (after(f, at, greatest[f]), f, at))).min()
    {
        greatest[file] = after(file, at, greatest[file]);
        let row = (at < files[file].len()).then_some(at);
        taken[file] = row.map(|at| at + 1);
        order.push((file, row));
    }
    order
}

/// A row that came out, and with which step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    pub left: Option<Place>,
    pub right: Option<Place>,
    pub at: usize,
}

impl Row {
    /// Without the moment.
    pub fn places(&self) -> (Option<Place>, Option<Place>) {
        (self.left, self.right)
    }
}

/// What the model says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// In their order.
    pub rows: Vec<Row>,
    /// Late records, in merge order.
    pub late: Vec<Place>,
    /// Records that take part, in merge order.
    pub used: Vec<Place>,
    pub filtered: Vec<Place>,
    /// The two watermarks put together, after each step.
    pub marks: Vec<i64>,
}

impl Answer {
    /// Of a file: read, used, filtered, late.
    pub fn ledger(&self, file: usize) -> [u64; 4] {
        let count = |places: &[Place]| places.iter().filter(|place| place.0 == file).count() as u64;
        let (used, filtered, late) = (count(&self.used), count(&self.filtered), count(&self.late));
        [used + filtered + late, used, filtered, late]
    }

    /// The rows without their moments, in any order.
    pub fn set(&self) -> Vec<(Option<Place>, Option<Place>)> {
        let mut rows: Vec<_> = self.rows.iter().map(Row::places).collect();
        rows.sort_unstable();
        rows
    }
}

/// A row that waits.
struct Held {
    side: Side,
    place: Place,
    event: Event,
    keys: Vec<Cell>,
    matched: bool,
}

struct World<'a> {
    job: &'a Join<'a>,
    files: &'a Files,
    clocks: [Clock<'a>; 2],
    /// Files of each side that have not ended.
    open: [usize; 2],
    /// The smaller or greater of the two watermarks, if they are put together.
    together: i64,
    /// In order of arrival.
    held: Vec<Held>,
    at: usize,
    answer: Answer,
}

/// What the clock needs to know of a side.
fn clock_of(delay: Option<i64>, idle_after: Option<i64>) -> Job {
    Job {
        kind: Kind::Session { gap: 0 },
        keyed: false,
        delay,
        outliers: 0,
        idle_after: idle_after.filter(|_| delay.is_some()),
        max_skew: None,
        max_policy: false,
        by_device: false,
        concat: false,
        since: None,
        until: None,
    }
}

/// What the files come to, read in the order of [`merged`].
pub fn answer(job: &Join<'_>, files: &Files) -> Answer {
    answer_in(job, files, &merged(&files.all))
}

/// The same in any order that keeps that of each file.
pub fn answer_in(job: &Join<'_>, files: &Files, order: &[Next]) -> Answer {
    let [left, right] = job.delays.map(|delay| clock_of(delay, job.idle_after));
    let right_files = files.all.len() - files.left;
    let mut world = World {
        job,
        files,
        clocks: [Clock::new(&left, files.left), Clock::new(&right, right_files)],
        open: [files.left, right_files],
        together: NEVER,
        held: Vec::new(),
        at: 0,
        answer: Answer::default(),
    };
    for (at, next) in order.iter().enumerate() {
        world.at = at;
        world.step(*next);
    }
    world.answer
}

impl World<'_> {
    fn step(&mut self, (file, row): Next) {
        let side = self.files.side(file);
        let own = if side == Side::Left { file } else { file - self.files.left };
        let clock = &mut self.clocks[side as usize];
        if let Some(row) = row {
            let event = &self.files.all[file][row];
            let judge = clock.record(own, event);
            let judge = if self.job.marks == Marks::Own { judge } else { self.together };
            self.record(side, (file, row), event.clone(), judge);
        } else {
            clock.end(own);
            self.open[side as usize] -= 1;
        }
        self.put_together();
        self.release();
    }

    /// The gates, in their order; then the held rows it goes with.
    fn record(&mut self, side: Side, place: Place, event: Event, judge: i64) {
        if self.job.wheres[side as usize].is_some_and(|(_, holds)| holds(&event) != Some(true)) {
            return self.answer.filtered.push(place);
        }
        if self.job.bounds.late(event.t, judge) {
            return self.answer.late.push(place);
        }
        self.answer.used.push(place);
        let keys = self.job.on.keys(side, &event);
        if keys.contains(&Cell::Null) {
            if self.job.how.unmatched(side) {
                self.write_alone(side, place);
            }
            return;
        }
        let mut new = Held { side, place, event, keys, matched: false };
        for i in 0..self.held.len() {
            if self.held[i].side != side && self.go_together(&new, &self.held[i]) {
                self.pair(&mut new, i);
            }
        }
        self.held.push(new);
    }

    fn go_together(&self, a: &Held, b: &Held) -> bool {
        let (l, r) = if a.side == Side::Left { (a, b) } else { (b, a) };
        let fits = l.keys == r.keys && self.job.bounds.pair(l.event.t, r.event.t);
        fits && (self.job.on.rest)(&l.event, &r.event) == Some(true)
    }

    fn pair(&mut self, new: &mut Held, i: usize) {
        let old = &mut self.held[i];
        let (l, r) = if new.side == Side::Left { (&mut *new, old) } else { (old, &mut *new) };
        let first = !l.matched;
        (l.matched, r.matched) = (true, true);
        let (left, right) = (l.place, r.place);
        if self.job.how.pairs() {
            self.answer.rows.push(Row { left: Some(left), right: Some(right), at: self.at });
        } else if self.job.how == How::Semi && first {
            self.write_alone(Side::Left, left);
        }
    }

    fn write_alone(&mut self, side: Side, place: Place) {
        let only = |wanted: Side| (side == wanted).then_some(place);
        self.answer.rows.push(Row { left: only(Side::Left), right: only(Side::Right), at: self.at });
    }

    /// A side's watermark: plus infinity once it has ended.
    fn mark(&self, side: Side) -> i64 {
        if self.open[side as usize] == 0 { FOR_EVER } else { self.clocks[side as usize].w }
    }

    /// A side that has ended is left out, unless both have.
    fn put_together(&mut self) {
        let mut marks = [Side::Left, Side::Right].map(|side| self.mark(side)).to_vec();
        marks.sort_unstable();
        if marks[0] != FOR_EVER {
            marks.retain(|&mark| mark != FOR_EVER);
        }
        let now = if self.job.marks == Marks::Max { marks[marks.len() - 1] } else { marks[0] };
        self.together = self.together.max(now);
        self.answer.marks.push(self.together);
    }

    /// Forgets rows for which no partner can come any more; those that had none come out.
    fn release(&mut self) {
        let marks = match self.job.marks {
            // A left row waits for the right side.
            Marks::Own => [self.mark(Side::Right), self.mark(Side::Left)],
            _ => [self.together; 2],
        };
        let bounds = self.job.bounds;
        let (gone, held) = std::mem::take(&mut self.held)
            .into_iter()
            .partition::<Vec<_>, _>(|h| marks[h.side as usize] > bounds.last(h.side, h.event.t));
        self.held = held;
        let mut alone: Vec<Held> = gone.into_iter().filter(|h| !h.matched && self.job.how.unmatched(h.side)).collect();
        // In order of arrival so far.
        alone.sort_by_key(|h| (bounds.last(h.side, h.event.t), h.side));
        alone.iter().for_each(|h| self.write_alone(h.side, h.place));
    }
}

/// What SQL says of the records that are not late: every pair that fits, and what has none.
pub fn sql(job: &Join<'_>, files: &Files, used: &[Place]) -> Vec<(Option<Place>, Option<Place>)> {
    let of = |wanted: Side| used.iter().copied().filter(move |place| files.side(place.0) == wanted);
    let fits = |l: Place, r: Place| {
        let (l, r) = (files.at(l), files.at(r));
        let (a, b) = ((job.on.left)(l), (job.on.right)(r));
        let equal = a == b && !a.contains(&Cell::Null);
        equal && job.bounds.pair(l.t, r.t) && (job.on.rest)(l, r) == Some(true)
    };
    let mut rows = Vec::new();
    for l in of(Side::Left) {
        let partners: Vec<Place> = of(Side::Right).filter(|r| fits(l, *r)).collect();
        let alone = match job.how {
            How::Semi => !partners.is_empty(),
            how => how.unmatched(Side::Left) && partners.is_empty(),
        };
        rows.extend(alone.then_some((Some(l), None)));
        rows.extend(partners.into_iter().filter(|_| job.how.pairs()).map(|r| (Some(l), Some(r))));
    }
    if job.how.unmatched(Side::Right) {
        let alone = of(Side::Right).filter(|r| !of(Side::Left).any(|l| fits(l, *r)));
        rows.extend(alone.map(|r| (None, Some(r))));
    }
    rows.sort_unstable();
    rows
}
