//! The account of a run as it goes on: what the loop itself counts, and the summary made of it at the end.
//!
//! Must not know where rows go.

use crate::account::{Jump, Ledger, StateSize};
use crate::bind;
use crate::clock::Clock;
use crate::event::{Times, Watermark};
use crate::input::{BadItem, Merged, Prepared};
use crate::keys;
use crate::operator::Tally;
use crate::output::DETAIL_NAMES;
use crate::plan::InputPlan;
use crate::report::{Heavy, InputSummary, Summary, Unlisted, Widened};
use crate::schema::{Column, FieldType};
use crate::time::{Span, Ts, Unit};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What the loop counts.
pub(super) struct Account {
    inputs: Vec<Input>,
    widened: Vec<Widened>,
    unlisted: Vec<Unlisted>,
    /// Records have a time of their own.
    timed: bool,
    stopped: bool,
    peak: StateSize,
    open: u64,
    watermark: Option<Ts>,
    held_by: Option<usize>,
    delay: Option<Span>,
    unbounded: Option<&'static str>,
    /// Units of time numbers are found, not said.
    guesses_units: bool,
}

struct Input {
    name: String,
    format: &'static str,
    bytes: Arc<AtomicU64>,
    guessed_unit: Option<Unit>,
    read: u64,
    bad: u64,
    skipped: u64,
    times: Option<(Ts, Ts)>,
}

impl Account {
    /// `delay`: of the side's clock. `unbounded`: why its state may grow with its input, if it may.
    pub(super) fn new(
        plan: &InputPlan,
        inputs: &[Prepared],
        delay: Option<Span>,
        unbounded: Option<&'static str>,
    ) -> Self {
        let input = |input: &Prepared| Input {
            name: input.name.clone(),
            format: input.format.name,
            bytes: input.bytes_read(),
            guessed_unit: None,
            read: 0,
            bad: 0,
            skipped: 0,
            times: None,
        };
        Self {
            inputs: inputs.iter().map(input).collect(),
            widened: Vec::new(),
            unlisted: Vec::new(),
            timed: plan.time.is_some(),
            stopped: false,
            peak: StateSize::default(),
            open: 0,
            watermark: None,
            held_by: None,
            delay,
            unbounded,
            guesses_units: bind::guesses_unit(plan),
        }
    }

    pub(super) fn rows(&mut self, merged: &Merged) {
        match merged.only_input() {
            Some(input) => {
                let input = &mut self.inputs[input];
                input.read += merged.times.len() as u64;
                input.times = reach(input.times, &merged.times);
            }
            None => {
                for (row, input) in merged.inputs().into_iter().enumerate() {
                    let input = &mut self.inputs[input as usize];
                    input.read += 1;
                    input.times = reach(input.times, &merged.times.slice(row, 1));
                }
            }
        }
    }

    pub(super) fn bad(&mut self, bad: &BadItem) {
        self.inputs[bad.input].read += 1;
        self.inputs[bad.input].bad += 1;
    }

    pub(super) fn skipped(&mut self, input: usize, records: u64) {
        self.inputs[input].read += records;
        self.inputs[input].skipped += records;
    }

    pub(super) fn state(&mut self, state: StateSize) {
        self.open = state.windows;
        self.peak = self.peak.max(state);
    }

    pub(super) fn widened(&mut self, columns: &[Column], types: &[FieldType], input: usize, record: u64) {
        let place = format!("{}: record {record}", self.inputs[input].name);
        for (column, ty) in columns.iter().zip(types).filter(|(column, ty)| column.ty != **ty) {
            let (column, from, to) = (column.path.name(), column.ty.name(), ty.name());
            let widened = Widened { column, from, to, place: place.clone() };
            // A field that is a key and an argument is two columns.
            let is_told = |told: &Widened| told.column == widened.column && told.place == widened.place;
            if !self.widened.iter().any(is_told) {
                self.widened.push(widened);
            }
        }
    }

    /// Nothing more is wanted, and the operator may have left a batch in the middle.
    pub(super) fn stopped(&mut self) {
        self.stopped = true;
    }

    /// Fields of an input that are not listed though all should be.
    pub(super) fn unlisted(&mut self, found: Vec<(&str, usize, u64)>) {
        let fields = found.into_iter().filter(|(field, ..)| !DETAIL_NAMES.contains(field));
        let told = fields.map(|(field, input, line)| Unlisted {
            field: field.to_owned(),
            place: format!("{}:{line}", self.inputs[input].name),
        });
        self.unlisted = told.collect();
    }

    /// The input has ended; windows still open are written because of that. `units`: of each input's time numbers.
    pub(super) fn ended(&mut self, clock: &Clock, units: impl Iterator<Item = Option<Unit>>) {
        for (input, unit) in self.inputs.iter_mut().zip(units) {
            input.guessed_unit = unit.filter(|_| self.guesses_units);
        }
        self.watermark = Some(clock.mark()).filter(|mark| *mark != Watermark::NEVER).map(Watermark::ts);
        self.held_by = clock.held_by();
    }

    /// What the first input is called.
    pub(super) fn first_name(&self) -> String {
        self.inputs.first().map_or_else(|| "-".to_owned(), |input| input.name.clone())
    }

    /// Records read so far.
    pub(super) fn read(&self) -> u64 {
        self.inputs.iter().map(|input| input.read).sum()
    }

    pub(super) fn open_windows(&self) -> u64 {
        self.open
    }

    /// The account, given what the clock and the operator know.
    pub(super) fn summary(
        &self,
        clock: &Clock,
        tally: &Tally,
        columns: &[Column],
        partition: Option<usize>,
    ) -> Summary {
        let name = |value: &[u8]| match partition.map(|column| &columns[column]) {
            Some(column) => format!("{} {}", column.path, keys::show(value, &[column.ty])),
            None => String::new(),
        };
        let called = |index: usize| match clock.value_of(index) {
            Some(value) => name(value),
            None => self.inputs.get(index).map_or_else(String::new, |input| input.name.clone()),
        };
        let idle = clock.idle().into_iter().map(called).chain(clock.idle_values().iter().map(|v| name(v)));
        let shown: Vec<(String, String)> = columns.iter().map(|c| (c.path.name(), c.ty.name())).collect();
        let inputs = self.inputs.iter().enumerate();
        Summary {
            inputs: inputs.map(|(i, input)| self.input(input, tally.inputs.get(i), shown.clone())).collect(),
            watermark: self.watermark,
            held_by: self.held_by.map(called),
            fired_by_watermark: tally.fired_by_watermark,
            fired_by_end: tally.fired_by_end,
            peak: self.peak,
            heaviest: tally.heaviest.iter().map(heavy).collect(),
            lateness: clock.lateness().clone(),
            jump: self.jump(clock, tally),
            output_disorder: tally.disorder,
            delay_to_keep_all: self.delay_for_partly_late(tally),
            gaps: tally.gaps,
            unbounded: self.unbounded,
            skewed: clock.skewed().into_iter().map(called).collect(),
            idle: idle.collect(),
            widened: self.widened.clone(),
            unlisted: self.unlisted.clone(),
            ..Summary::default()
        }
    }
}

impl Account {
    /// The delay with which no record would have been late for some of its windows.
    fn delay_for_partly_late(&self, tally: &Tally) -> Span {
        let delay = self.delay.unwrap_or_default().micros();
        tally.partly_behind.map_or(Span::ZERO, |behind| Span::from_micros(behind.micros().saturating_add(delay)))
    }

    fn input(&self, input: &Input, operator: Option<&Ledger>, types: Vec<(String, String)>) -> InputSummary {
        let mut ledger = operator.cloned().unwrap_or_default();
        ledger.read = input.read;
        ledger.bad = input.bad;
        ledger.outside += input.skipped;
        if self.stopped {
            // What was read beyond the last record that was looked at counts as not read.
            ledger.read = ledger.taken();
        }
        InputSummary {
            name: input.name.clone(),
            format: input.format,
            ledger,
            time_unit: input.guessed_unit,
            times: input.times.filter(|_| self.timed),
            bytes: input.bytes.load(Relaxed),
            types,
        }
    }

    /// A jump of the clock, if one is to blame for most of the late records: it went further than the delay.
    fn jump(&self, clock: &Clock, tally: &Tally) -> Option<Jump> {
        let late: u64 = tally.inputs.iter().map(|ledger| ledger.late).sum();
        let jump = clock.jump().filter(|jump| self.delay.is_some_and(|delay| jump.by > delay))?;
        (jump.late.saturating_mul(2) > late && late > 0).then(|| Jump { late: jump.late.min(late), ..jump })
    }
}

fn heavy((key, records): &(String, u64)) -> Heavy {
    Heavy { key: key.clone(), records: *records, side: None }
}

/// The least and greatest time so far.
fn reach(so_far: Option<(Ts, Ts)>, times: &Times) -> Option<(Ts, Ts)> {
    times.iter().fold(so_far, |so_far, ts| match so_far {
        Some((least, greatest)) => Some((least.min(ts), greatest.max(ts))),
        None => Some((ts, ts)),
    })
}
