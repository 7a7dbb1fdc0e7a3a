//! Event times to watermarks (SPEC section 3): partitions, idleness, outliers, skew, and how late records were.
//!
//! Must not know windows or operators. Invariants: the marks of a row depend on the rows before it alone; a watermark
//! never falls. Partitions are kept sorted by progress in a vector: with up to some thousand of them moving one along
//! is a short memmove, which a tree does not beat; the median and both ends are at fixed indices.

use crate::account::{Jump, Lateness};
use crate::event::{Marks, Position, Positions, Times, Watermark};
use crate::keys::Keys;
use crate::plan::{ClockPlan, Policy};
use crate::time::{Span, Ts};
use std::collections::HashMap;

/// How many names of idle values are kept for the summary.
const NAMES: usize = 20;

/// The (n+1)-th greatest event time seen, so that n stray records cannot move it.
#[derive(Clone, Debug)]
pub struct Greatest {
    /// The greatest n+1 times, ascending; fewer until that many were seen.
    top: Vec<Ts>,
    keep: usize,
}

impl Greatest {
    /// Ignores the `outliers` greatest times; equal times count separately.
    pub fn new(outliers: usize) -> Self {
        Self { top: Vec::with_capacity(outliers.min(1 << 10) + 1), keep: outliers.saturating_add(1) }
    }

    /// The time itself; `Ts::MIN` before there is one.
    #[inline]
    pub fn get(&self) -> Ts {
        if self.top.len() == self.keep { self.top[0] } else { Ts::MIN }
    }

    /// What the time would be after an event.
    #[inline]
    pub fn with(&self, ts: Ts) -> Ts {
        match (self.top.len(), self.keep) {
            (seen, keep) if seen + 1 < keep => Ts::MIN,
            (seen, keep) if seen < keep => self.top.first().map_or(ts, |&least| least.min(ts)),
            _ if ts <= self.top[0] => self.top[0],
            _ => self.top.get(1).map_or(ts, |&second| second.min(ts)),
        }
    }

    /// Takes in an event; whether that moved the time.
    #[inline]
    pub fn observe(&mut self, ts: Ts) -> bool {
        let before = self.get();
        if self.top.len() == self.keep {
            if ts <= before {
                return false;
            }
            self.top.remove(0);
        }
        let at = self.top.partition_point(|&other| other <= ts);
        self.top.insert(at, ts);
        self.get() > before
    }
}

/// Which partition each row of a batch belongs to.
#[derive(Clone, Copy, Debug)]
pub enum Sources<'a> {
    /// All to one input.
    One(usize),
    /// Each to an input.
    Each(&'a [u32]),
    /// Each to the value of the partition field.
    Named(&'a Keys),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Active,
    Idle,
    Finished,
}

#[derive(Clone, Debug)]
struct Partition {
    greatest: Greatest,
    state: State,
    was_skewed: bool,
    was_idle: bool,
    leader: Leader,
    /// The value of the partition field.
    name: Option<Box<[u8]>>,
}

/// The record that last moved a partition, and how many came since that are late because of it alone.
#[derive(Clone, Copy, Debug)]
struct Leader {
    row: Position,
    time: Ts,
    by: Span,
    /// The greatest time of all others so far: where the partition would be without it.
    without: Ts,
    behind: u64,
}

impl Leader {
    /// Takes in a record that did not move the partition. One that would be late all the same is not the leader's doing.
    #[inline]
    fn passed(&mut self, ts: Ts, own: Watermark, delay: Span) {
        if own.is_after(ts) && !Watermark::after(self.without, delay).is_after(ts) {
            self.behind += 1;
        }
        self.without = self.without.max(ts);
    }
}

/// Turns event times into the marks they are judged by.
pub struct Clock {
    delay: Option<Span>,
    plan: ClockPlan,
    partitions: Vec<Partition>,
    /// Active partitions by (greatest time, index).
    order: Vec<(Ts, u32)>,
    mark: Watermark,
    /// Partition values to indices, when a field names the partitions.
    values: HashMap<Box<[u8]>, u32>,
    /// Indices of dropped values, to be used again.
    free: Vec<u32>,
    /// Some of the values that were left out for having fallen behind.
    idle_names: Vec<Box<[u8]>>,
    lateness: Lateness,
    jump: Option<Jump>,
    /// Who held the watermark back when an input ended.
    held_last: Option<usize>,
}

impl Clock {
    /// A clock over `inputs` partitions, or over none yet when a field's values are the partitions.
    pub fn new(plan: &ClockPlan, inputs: usize) -> Self {
        let mut clock = Self {
            delay: plan.delay,
            plan: plan.clone(),
            partitions: Vec::new(),
            order: Vec::new(),
            mark: Watermark::NEVER,
            values: HashMap::new(),
            free: Vec::new(),
            idle_names: Vec::new(),
            lateness: Lateness::default(),
            jump: None,
            held_last: None,
        };
        if plan.by.is_none() {
            (0..inputs).for_each(|_| {
                clock.add(None);
            });
        }
        clock
    }

    fn add(&mut self, name: Option<Box<[u8]>>) -> u32 {
        let leader = Leader { row: Position::new(0, 0), time: Ts::MIN, by: Span::ZERO, without: Ts::MIN, behind: 0 };
        let greatest = Greatest::new(self.plan.outliers);
        let partition = Partition { greatest, state: State::Active, was_skewed: false, was_idle: false, leader, name };
        let index = match self.free.pop() {
            Some(index) => {
                self.partitions[index as usize] = partition;
                index
            }
            None => {
                self.partitions.push(partition);
                self.partitions.len() as u32 - 1
            }
        };
        self.enter(index);
        index
    }

    /// Puts a partition among the active ones.
    fn enter(&mut self, index: u32) {
        let entry = (self.partitions[index as usize].greatest.get(), index);
        let at = self.order.partition_point(|&other| other < entry);
        self.order.insert(at, entry);
    }

    /// The partition that a row belongs to; a value not seen, or dropped, makes a new one.
    fn resolve(&mut self, sources: Sources<'_>, row: usize) -> usize {
        match sources {
            Sources::One(partition) => partition,
            Sources::Each(all) => all[row] as usize,
            Sources::Named(keys) => {
                let value = keys.key(keys.index(row));
                match self.values.get(value) {
                    Some(&index) => index as usize,
                    None => {
                        let index = self.add(Some(value.into()));
                        self.values.insert(value.into(), index);
                        index as usize
                    }
                }
            }
        }
    }

    /// The job's watermark now.
    pub fn mark(&self) -> Watermark {
        self.mark
    }

    /// Lateness of all records so far.
    pub fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    /// Stamps a batch: the marks in force before each row. Afterwards [`Clock::mark`] is the mark behind the last row.
    pub fn stamp(&mut self, times: &Times, sources: Sources<'_>, positions: &Positions) -> Marks {
        match (self.delay, sources) {
            (Some(delay), Sources::One(only)) if self.partitions.len() == 1 && self.plan.outliers == 0 => {
                Marks::single(self.stamp_single(times, only, delay, positions))
            }
            (Some(_), _) => self.stamp_each(times, sources, positions),
            (None, _) => {
                self.watch(times, sources);
                Marks::never()
            }
        }
    }

    /// One partition without exceptions: the common case, a running maximum.
    fn stamp_single(&mut self, times: &Times, only: usize, delay: Span, positions: &Positions) -> Vec<Watermark> {
        let partition = &mut self.partitions[only];
        let mut greatest = partition.greatest.get();
        let mut mark = self.mark;
        let mut marks = Vec::with_capacity(times.len());
        for (row, ts) in times.iter().enumerate() {
            marks.push(mark);
            if ts > greatest {
                self.lateness.record(Span::ZERO);
                let by = if greatest == Ts::MIN { Span::ZERO } else { ts.since(greatest) };
                lead(&mut partition.leader, &mut self.jump, positions, row, ts, by);
                greatest = ts;
                mark = mark.max(Watermark::after(ts, delay));
            } else {
                self.lateness.record(greatest.since(ts));
                partition.leader.passed(ts, mark, delay);
            }
        }
        if greatest > Ts::MIN {
            partition.greatest.observe(greatest);
            self.order[0].0 = greatest;
        }
        self.mark = mark;
        marks
    }

    fn stamp_each(&mut self, times: &Times, sources: Sources<'_>, positions: &Positions) -> Marks {
        let (mut judge, mut job) = (Vec::with_capacity(times.len()), Vec::with_capacity(times.len()));
        for (row, ts) in times.iter().enumerate() {
            let index = self.resolve(sources, row);
            let own = self.own_mark(index).max(self.mark);
            judge.push(own);
            job.push(self.mark);
            self.count(index, ts, own);
            self.observe(index, ts, positions, row);
        }
        Marks::partitioned(judge, job)
    }

    /// Without a delay only lateness and progress are followed.
    fn watch(&mut self, times: &Times, sources: Sources<'_>) {
        for (row, ts) in times.iter().enumerate() {
            let index = self.resolve(sources, row);
            self.count(index, ts, Watermark::NEVER);
            self.partitions[index].greatest.observe(ts);
        }
    }

    fn own_mark(&self, partition: usize) -> Watermark {
        let partition = &self.partitions[partition];
        match (partition.state, partition.greatest.get(), self.delay) {
            (State::Active | State::Idle, greatest, Some(delay)) if greatest > Ts::MIN => {
                Watermark::after(greatest, delay)
            }
            _ => Watermark::NEVER,
        }
    }

    fn count(&mut self, partition: usize, ts: Ts, own: Watermark) {
        let partition = &mut self.partitions[partition];
        let greatest = partition.greatest.get();
        let behind = if greatest > ts { greatest.since(ts) } else { Span::ZERO };
        self.lateness.record(behind);
        partition.leader.passed(ts, own, self.delay.unwrap_or_default());
    }

    /// Moves a partition on and derives the job's mark anew.
    fn observe(&mut self, index: usize, ts: Ts, positions: &Positions, row: usize) {
        self.wake(index);
        let partition = &mut self.partitions[index];
        let before = partition.greatest.get();
        if partition.greatest.observe(ts) {
            let by = if before == Ts::MIN { Span::ZERO } else { partition.greatest.get().since(before) };
            lead(&mut partition.leader, &mut self.jump, positions, row, ts, by);
            let after = partition.greatest.get();
            self.reorder(index as u32, before, after);
            self.advance();
        }
    }

    /// An idle partition that delivers is active again.
    fn wake(&mut self, index: usize) {
        if self.partitions[index].state == State::Idle {
            self.partitions[index].state = State::Active;
            self.enter(index as u32);
        }
    }

    fn reorder(&mut self, index: u32, before: Ts, after: Ts) {
        let from = self.order.partition_point(|&entry| entry < (before, index));
        let to = self.order.partition_point(|&entry| entry < (after, index));
        self.order[from] = (after, index);
        self.order[from..to].rotate_left(1);
    }

    /// The watermark as the active partitions have it now.
    fn advance(&mut self) {
        self.set_idle();
        self.note_skew();
        let Some(delay) = self.delay else { return };
        let greatest = match self.plan.policy {
            Policy::Min => self.order.first().map(|entry| entry.0),
            Policy::Max => self.order[..self.not_skewed()].last().map(|entry| entry.0),
        };
        if let Some(greatest) = greatest.filter(|&g| g > Ts::MIN) {
            self.mark = self.mark.max(Watermark::after(greatest, delay));
        }
    }

    fn median(&self) -> Ts {
        self.order[self.order.len() / 2].0
    }

    /// Takes partitions out of the minimum that have fallen too far behind the median. One without an event yet is
    /// not behind: it holds the watermark until it delivers or ends.
    fn set_idle(&mut self) {
        let Some(limit) = self.plan.idle_after else { return };
        while let Some(&(least, index)) = self.order.first() {
            if least == Ts::MIN || self.median().since(least) <= limit {
                return;
            }
            self.order.remove(0);
            let partition = &mut self.partitions[index as usize];
            partition.state = State::Idle;
            partition.was_idle = true;
            if let Some(name) = partition.name.take() {
                self.drop_value(index, name);
            }
        }
    }

    /// An idle value's entry is dropped, so that values that never come back hold no state; one that does is new.
    fn drop_value(&mut self, index: u32, name: Box<[u8]>) {
        self.values.remove(&name);
        self.free.push(index);
        if self.idle_names.len() < NAMES && !self.idle_names.contains(&name) {
            self.idle_names.push(name);
        }
    }

    /// How many of the ordered partitions are not too far ahead of the median.
    fn not_skewed(&self) -> usize {
        match (self.plan.max_skew, self.order.is_empty()) {
            (Some(limit), false) => {
                let median = self.median();
                self.order.partition_point(|entry| median == Ts::MIN || entry.0.since(median) <= limit)
            }
            _ => self.order.len(),
        }
    }

    fn note_skew(&mut self) {
        if self.plan.max_skew.is_some() {
            for i in self.not_skewed()..self.order.len() {
                self.partitions[self.order[i].1 as usize].was_skewed = true;
            }
        }
    }

    /// An input has ended: it no longer holds the watermark back. Once only idle partitions are left they count again.
    pub fn finish(&mut self, index: usize) {
        if self.plan.by.is_some() {
            return;
        }
        self.held_last = self.furthest_behind().or(self.held_last);
        let entry = (self.partitions[index].greatest.get(), index as u32);
        self.partitions[index].state = State::Finished;
        self.order.retain(|&other| other != entry);
        if self.order.is_empty() {
            (0..self.partitions.len()).for_each(|i| self.wake(i));
        }
        self.advance();
    }

    /// The partition that holds the watermark back; once all but one have ended, the last that did.
    pub fn held_by(&self) -> Option<usize> {
        self.furthest_behind().or(self.held_last)
    }

    fn furthest_behind(&self) -> Option<usize> {
        (self.order.len() > 1).then(|| self.order[0].1 as usize)
    }

    /// The value that names a partition, when a field does.
    pub fn value_of(&self, partition: usize) -> Option<&[u8]> {
        self.partitions[partition].name.as_deref()
    }

    /// Partitions that were set aside at some time for running ahead.
    pub fn skewed(&self) -> Vec<usize> {
        self.those(|p| p.was_skewed)
    }

    /// Inputs that were left out at some time for having fallen behind.
    pub fn idle(&self) -> Vec<usize> {
        self.those(|p| p.was_idle && p.name.is_none() && self.plan.by.is_none())
    }

    /// The first few values that were left out at some time for having fallen behind.
    pub fn idle_values(&self) -> &[Box<[u8]>] {
        &self.idle_names
    }

    fn those(&self, which: impl Fn(&Partition) -> bool) -> Vec<usize> {
        let all = self.partitions.iter().enumerate();
        all.filter(|(_, p)| which(p)).map(|(i, _)| i).collect()
    }

    /// The jump of a partition's clock with the most records behind the mark after it.
    pub fn jump(&self) -> Option<Jump> {
        let mut jump = self.jump.clone();
        self.partitions.iter().for_each(|p| keep_worst(&mut jump, &p.leader));
        jump
    }
}

/// A new record leads its partition; the one before is remembered if it left the most records behind.
fn lead(leader: &mut Leader, jump: &mut Option<Jump>, positions: &Positions, row: usize, time: Ts, by: Span) {
    if leader.behind > 0 {
        keep_worst(jump, leader);
    }
    let without = if by == Span::ZERO { Ts::MIN } else { time.saturating_sub(by) };
    *leader = Leader { row: positions.get(row), time, by, without, behind: 0 };
}

fn keep_worst(jump: &mut Option<Jump>, leader: &Leader) {
    if leader.behind > 0 && jump.as_ref().is_none_or(|j| j.late < leader.behind) {
        *jump = Some(Jump {
            input: leader.row.input(),
            record: leader.row.record(),
            time: leader.time,
            by: leader.by,
            late: leader.behind,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, StringArray};
    use std::sync::Arc;

    /// A clock whose delay is 10 microseconds.
    fn clock(inputs: usize, plan: ClockPlan) -> Clock {
        Clock::new(&ClockPlan { delay: Some(Span::from_micros(10)), ..plan }, inputs)
    }

    /// The job's mark after events at these microseconds.
    fn mark(clock: &mut Clock, sources: Sources<'_>, times: &[i64]) -> i64 {
        clock.stamp(&Times::new(times.to_vec().into()), sources, &Positions::Run(Position::new(0, 0)));
        clock.mark().ts().micros()
    }

    #[test]
    fn an_event_as_late_as_the_leader_takes_nothing_from_it() {
        for sources in [Sources::One(0), Sources::Each(&[0; 5])] {
            let mut clock = clock(1, ClockPlan::default());
            mark(&mut clock, sources, &[1_000, 1_100, 1_001, 1_002, 1_100]);
            let jump = clock.jump().unwrap();
            assert_eq!((jump.record, jump.by, jump.late), (1, Span::from_micros(100), 2));
        }
    }

    /// What would be late without the leader too is not its doing: a file that starts again has no stray record.
    #[test]
    fn a_file_that_starts_again_blames_nobody() {
        for sources in [Sources::One(0), Sources::Each(&[0; 9])] {
            let mut clock = clock(1, ClockPlan::default());
            mark(&mut clock, sources, &[1_000, 1_015, 1_030, 900, 915, 930, 945, 960, 1_015]);
            assert_eq!(clock.jump().map(|jump| (jump.record, jump.late)), Some((2, 1)));
        }
    }

    /// The second event is late by its own partition's mark while the job still waits for the other.
    #[test]
    fn a_first_event_is_no_jump_however_many_are_behind_it() {
        let mut clock = clock(2, ClockPlan::default());
        mark(&mut clock, Sources::Each(&[0, 0, 0]), &[1_000, 5, 6]);
        let jump = clock.jump().unwrap();
        assert_eq!((jump.record, jump.by, jump.late), (0, Span::ZERO, 2));
    }

    #[test]
    fn the_worst_jump_is_remembered_when_others_lead() {
        for sources in [Sources::One(0), Sources::Each(&[0; 7])] {
            let mut clock = clock(1, ClockPlan::default());
            mark(&mut clock, sources, &[1_000, 2_000, 1_001, 1_002, 2_001, 7, 2_002]);
            let jump = clock.jump().unwrap();
            assert_eq!((jump.record, jump.by, jump.late), (1, Span::from_micros(1_000), 2));
        }
    }

    #[test]
    fn a_partition_exactly_at_the_skew_is_not_beyond_it() {
        let max_skew = Some(Span::from_micros(20));
        let mut clock = clock(3, ClockPlan { max_skew, policy: Policy::Max, ..ClockPlan::default() });
        assert_eq!(mark(&mut clock, Sources::Each(&[0, 1, 2]), &[100, 100, 120]), 110);
        assert_eq!(clock.skewed(), Vec::<usize>::new());
        assert_eq!(mark(&mut clock, Sources::Each(&[2]), &[121]), 110);
        assert_eq!(clock.skewed(), [2]);
    }

    #[test]
    fn lateness_is_behind_the_own_partition() {
        for delay in [Some(Span::from_micros(10)), None] {
            let mut clock = Clock::new(&ClockPlan { delay, ..ClockPlan::default() }, 2);
            mark(&mut clock, Sources::Each(&[0, 1, 0, 1, 1]), &[1_000, 50, 970, 60, 60]);
            assert_eq!((clock.lateness().total(), clock.lateness().max()), (5, Span::from_micros(30)));
            assert!(delay.is_none() || clock.held_by() == Some(1));
        }
    }

    #[test]
    fn idle_inputs_count_again_once_no_others_are_left() {
        let idle_after = Some(Span::from_micros(50));
        let mut clock = clock(5, ClockPlan { idle_after, ..ClockPlan::default() });
        assert_eq!(mark(&mut clock, Sources::Each(&[0, 1, 2, 3, 4]), &[900, 945, 960, 1_000, 1_000]), 950);
        assert_eq!(clock.idle(), [0, 1]);
        [3, 4, 2].into_iter().for_each(|input| clock.finish(input));
        assert_eq!(mark(&mut clock, Sources::Each(&[0]), &[970]), 950);
        assert_eq!(mark(&mut clock, Sources::Each(&[1]), &[965]), 955);
    }

    #[test]
    fn a_value_that_fell_behind_holds_no_state() {
        let (by, idle_after) = (crate::schema::FieldPath::parse("d"), Some(Span::from_micros(50)));
        let mut clock = clock(1, ClockPlan { by, idle_after, ..ClockPlan::default() });
        for i in 0..100 {
            let value: ArrayRef = Arc::new(StringArray::from(vec![format!("d{i}")]));
            mark(&mut clock, Sources::Named(&Keys::encode(&[value], 1)), &[i * 100]);
        }
        assert_eq!((clock.values.len(), clock.partitions.len()), (1, 2));
        assert_eq!(clock.idle_values().len(), NAMES);
    }
}
