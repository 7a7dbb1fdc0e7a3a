//! The slow, obvious model: SPEC sections 3 and 4 written down once more, record by record, without any of the
//! program's own code. Tests hold the program against it.

use crate::rows_model::Cell;
use std::collections::BTreeMap;

/// One record of the model: time in microseconds, key, value, and the value of the partition field.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub t: i64,
    pub key: Option<String>,
    pub v: Option<i64>,
    pub device: u8,
}

/// A kind of window, in microseconds.
#[derive(Clone, Debug)]
pub enum Kind {
    Tumbling { size: i64, offset: i64 },
    Sliding { size: i64, slide: i64, offset: i64 },
    Cumulate { size: i64, step: i64, offset: i64 },
    Session { gap: i64 },
}

/// A job of the model.
#[derive(Clone, Debug)]
pub struct Job {
    pub kind: Kind,
    pub keyed: bool,
    pub delay: Option<i64>,
    pub outliers: usize,
    pub idle_after: Option<i64>,
    pub max_skew: Option<i64>,
    pub max_policy: bool,
    pub by_device: bool,
    pub concat: bool,
    pub since: Option<i64>,
    pub until: Option<i64>,
}

/// Where a record stands: file and number in it.
pub type Place = (usize, usize);

/// The rows of a window.
pub type Rows = Vec<(Place, Event)>;

/// What is asked of records before they get to windows.
pub struct Gate<'a> {
    /// `--where`
    pub keep: &'a dyn Fn(&Event) -> bool,
    /// The values of the keys.
    pub keys: &'a dyn Fn(&Event) -> Vec<Cell>,
}

/// What happens next: a record, or the end of a file; and the watermarks around it.
#[derive(Clone, Debug)]
pub struct Step {
    pub record: Option<(Place, Event)>,
    /// What the record is judged by.
    pub judge: i64,
    /// The job's watermark before.
    pub before: i64,
    /// The job's watermark after.
    pub after: i64,
}

/// What the model says.
#[derive(Debug, Default, PartialEq)]
pub struct Answer {
    /// (end, start, keys) to the rows in the window, as (place, event).
    pub windows: BTreeMap<(i64, i64, Vec<Cell>), Rows>,
    /// Late records, in merge order.
    pub late: Vec<Place>,
    pub used: u64,
    pub filtered: u64,
    pub outside: u64,
    pub partially_late: u64,
    pub watermark: i64,
    /// The job's watermark after each step.
    pub marks: Vec<i64>,
}

/// Minus infinity.
pub const NEVER: i64 = i64::MIN;

#[derive(Clone, Debug)]
struct Partition {
    seen: Vec<i64>,
    finished: bool,
    idle: bool,
    exists: bool,
}

impl Partition {
    fn new() -> Self {
        Self { seen: Vec::new(), finished: false, idle: false, exists: true }
    }

    /// The (n+1)-th greatest time seen.
    fn m(&self, outliers: usize) -> i64 {
        let mut seen = self.seen.clone();
        seen.sort_unstable_by(|a, b| b.cmp(a));
        seen.get(outliers).copied().unwrap_or(NEVER)
    }
}

impl Partition {
    /// The time after one more event, if there is one.
    fn m_after(&self, next: Option<&Event>, outliers: usize) -> i64 {
        let mut after = self.clone();
        after.seen.extend(next.map(|event| event.t));
        after.m(outliers)
    }
}

struct Session {
    keys: Vec<Cell>,
    first: i64,
    last: i64,
    rows: Rows,
}

/// The files' records in the order in which they are taken, and the watermarks around each.
pub fn steps(job: &Job, files: &[Vec<Event>]) -> Vec<Step> {
    let mut clock = Clock::new(job, files.len());
    let mut steps = Vec::new();
    let mut taken = vec![0; files.len()];
    let mut ended = vec![false; files.len()];
    let mut progress: Vec<Partition> = (0..files.len()).map(|_| Partition::new()).collect();
    while let Some(file) = (0..files.len())
        .filter(|&f| !ended[f])
        .min_by_key(|&f| (if job.concat { 0 } else { progress[f].m_after(files[f].get(taken[f]), job.outliers) }, f))
    {
        let before = clock.w;
        let next = files[file].get(taken[file]);
        let judge = match next {
            Some(event) => {
                progress[file].seen.push(event.t);
                clock.record(file, event)
            }
            None => {
                ended[file] = true;
                clock.end(file);
                before
            }
        };
        let record = next.map(|event| ((file, taken[file]), event.clone()));
        taken[file] += 1;
        steps.push(Step { record, judge, before, after: clock.w });
    }
    steps
}

/// What the files' records come to.
pub fn answer(job: &Job, files: &[Vec<Event>]) -> Answer {
    let keys = |e: &Event| if job.keyed { vec![Cell::text(e.key.as_deref())] } else { Vec::new() };
    answer_through(job, files, &Gate { keep: &|_| true, keys: &keys })
}

/// What the files' records come to behind a condition, with computed keys.
pub fn answer_through(job: &Job, files: &[Vec<Event>], gate: &Gate<'_>) -> Answer {
    let mut world = World { job, gate, w: NEVER, sessions: Vec::new(), answer: Answer::default() };
    for step in steps(job, files) {
        world.w = step.before;
        if let Some((place, event)) = &step.record {
            world.record(*place, event, step.judge);
        }
        world.answer.watermark = step.after;
        world.answer.marks.push(step.after);
    }
    world.finish()
}

/// SPEC section 3.
pub struct Clock<'a> {
    job: &'a Job,
    partitions: Vec<Partition>,
    /// The watermark of all partitions.
    pub w: i64,
}

impl<'a> Clock<'a> {
    /// The clock of this many files.
    pub fn new(job: &'a Job, files: usize) -> Self {
        let n = if job.by_device {
            256
        } else if job.concat {
            1
        } else {
            files
        };
        let mut partitions = vec![Partition::new(); n];
        if job.by_device {
            partitions.iter_mut().for_each(|p| p.exists = false);
        }
        Self { job, partitions, w: NEVER }
    }

    /// Moves the watermark by a record; gives what the record is judged by.
    pub fn record(&mut self, file: usize, event: &Event) -> i64 {
        let p = if self.job.by_device {
            event.device as usize
        } else if self.job.concat {
            0
        } else {
            file
        };
        if !self.partitions[p].exists {
            self.partitions[p] = Partition::new();
        }
        let before = self.partitions[p].m(self.job.outliers);
        let own = match self.job.delay {
            Some(delay) if before != NEVER => before - delay,
            _ => NEVER,
        };
        let judge = own.max(self.w);
        self.partitions[p].idle = false;
        self.partitions[p].seen.push(event.t);
        if self.partitions[p].m(self.job.outliers) > before {
            self.advance();
        }
        judge
    }

    /// A file has ended.
    pub fn end(&mut self, file: usize) {
        if !self.job.by_device && !self.job.concat {
            self.partitions[file].finished = true;
            self.advance();
        }
    }

    /// Section 3: the minimum (or maximum) over partitions neither finished nor idle; it never falls.
    fn advance(&mut self) {
        let Some(delay) = self.job.delay else { return };
        let n = self.job.outliers;
        let m = |p: &Partition| p.m(n);
        if !self.partitions.iter().any(|p| p.exists && !p.finished && !p.idle) {
            self.partitions.iter_mut().for_each(|p| p.idle = false);
        }
        if let Some(limit) = self.job.idle_after {
            loop {
                let mut active: Vec<(i64, usize)> = (0..self.partitions.len())
                    .filter(|&i| self.is_active(i))
                    .map(|i| (m(&self.partitions[i]), i))
                    .collect();
                active.sort_unstable();
                let Some(&(least, at)) = active.first() else { break };
                let median = active[active.len() / 2].0;
                if least == NEVER || median - least <= limit {
                    break;
                }
                self.partitions[at].idle = true;
                if self.job.by_device {
                    self.partitions[at].exists = false;
                }
            }
        }
        let mut active: Vec<i64> =
            (0..self.partitions.len()).filter(|&i| self.is_active(i)).map(|i| m(&self.partitions[i])).collect();
        active.sort_unstable();
        let Some(&median) = active.get(active.len() / 2) else { return };
        let fair = |m: &&i64| median == NEVER || self.job.max_skew.is_none_or(|limit| **m - median <= limit);
        let leader = if self.job.max_policy { active.iter().rfind(fair) } else { active.first() };
        if let Some(&m) = leader.filter(|m| **m != NEVER) {
            self.w = self.w.max(m - delay);
        }
    }

    fn is_active(&self, i: usize) -> bool {
        let p = &self.partitions[i];
        p.exists && !p.finished && !p.idle
    }
}

struct World<'a> {
    job: &'a Job,
    gate: &'a Gate<'a>,
    /// The watermark before the record at hand.
    w: i64,
    sessions: Vec<Session>,
    answer: Answer,
}

impl World<'_> {
    fn record(&mut self, place: Place, event: &Event, judge: i64) {
        if !(self.gate.keep)(event) {
            self.answer.filtered += 1;
            return;
        }
        match self.job.kind {
            Kind::Session { gap } => self.session(place, event, gap, judge),
            _ => self.windows(place, event, judge),
        }
    }

    fn windows(&mut self, place: Place, event: &Event, judge: i64) {
        let all = windows_of(&self.job.kind, event.t);
        let good: Vec<_> = all.iter().filter(|w| w.1 > judge).collect();
        if good.is_empty() {
            self.answer.late.push(place);
            return;
        }
        self.answer.partially_late += u64::from(good.len() < all.len());
        let written: Vec<_> = good.into_iter().filter(|w| self.in_range(w.0)).collect();
        if written.is_empty() {
            self.answer.outside += 1;
            return;
        }
        self.answer.used += 1;
        for (start, end) in written {
            let keys = (self.gate.keys)(event);
            self.answer.windows.entry((*end, *start, keys)).or_default().push((place, event.clone()));
        }
    }

    fn session(&mut self, place: Place, event: &Event, gap: i64, judge: i64) {
        let keys = (self.gate.keys)(event);
        let touches = |s: &Session, w: i64| {
            s.keys == keys && w <= s.last + gap && event.t >= s.first - gap && event.t <= s.last + gap
        };
        let w = self.w;
        let touched: Vec<usize> = (0..self.sessions.len()).filter(|&i| touches(&self.sessions[i], w)).collect();
        let last = touched.iter().map(|&i| self.sessions[i].last).chain([event.t]).max().unwrap();
        if judge > last + gap {
            self.answer.late.push(place);
            return;
        }
        let mut new = Session { keys, first: event.t, last: event.t, rows: vec![(place, event.clone())] };
        for i in touched.into_iter().rev() {
            let old = self.sessions.remove(i);
            new.first = new.first.min(old.first);
            new.last = new.last.max(old.last);
            new.rows.extend(old.rows);
        }
        self.sessions.push(new);
    }

    fn in_range(&self, start: i64) -> bool {
        self.job.since.is_none_or(|s| start >= s) && self.job.until.is_none_or(|u| start < u)
    }

    fn finish(mut self) -> Answer {
        if let Kind::Session { gap } = self.job.kind {
            for session in std::mem::take(&mut self.sessions) {
                let rows = session.rows.len() as u64;
                if self.in_range(session.first) {
                    self.answer.used += rows;
                    let at = (session.last + gap, session.first, session.keys);
                    self.answer.windows.insert(at, session.rows);
                } else {
                    self.answer.outside += rows;
                }
            }
        }
        self.answer
    }
}

/// Every window that holds `t`, found by trying all that could.
pub fn windows_of(kind: &Kind, t: i64) -> Vec<(i64, i64)> {
    let grid = |step: i64, offset: i64, reach: i64| -> Vec<i64> {
        let first = (t - offset - reach).div_euclid(step) - 1;
        let last = (t - offset).div_euclid(step) + 1;
        (first..=last).map(|k| k * step + offset).collect()
    };
    let mut all: Vec<(i64, i64)> = match *kind {
        Kind::Tumbling { size, offset } => grid(size, offset, size).into_iter().map(|s| (s, s + size)).collect(),
        Kind::Sliding { size, slide, offset } => grid(slide, offset, size).into_iter().map(|s| (s, s + size)).collect(),
        Kind::Cumulate { size, step, offset } => grid(size, offset, size)
            .into_iter()
            .flat_map(|s| (1..=size / step).map(move |i| (s, s + i * step)))
            .collect(),
        Kind::Session { .. } => Vec::new(),
    };
    all.retain(|(start, end)| *start <= t && t < *end);
    all.sort_unstable_by_key(|(start, end)| (*end, *start));
    all
}
