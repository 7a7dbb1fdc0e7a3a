//! What people see beside the data: progress, summary, warnings. The only writer to stderr.
//!
//! Must not know arrow values. No number is printed without a unit. The loop fills a [`Summary`] and a [`Progress`];
//! what of it is shown, and where, is decided in [`Reporter`] alone.

mod bound;
pub mod human;
mod json;
mod progress;
mod reporter;
mod text;
mod warning;

pub use bound::{check_bad, check_late};
pub use progress::{Progress, Watch};
pub use reporter::Reporter;
pub use warning::Warning;

use crate::account::{Jump, Lateness, Ledger, StateSize};
use crate::plan::{BadPlan, ClockPlan, LatePlan};
use crate::time::{Span, Ts, Unit, Zone};

/// What the user already said, as far as advice and words depend on it.
#[derive(Clone, Debug)]
pub struct Given {
    /// `--delay`.
    pub delay: Option<Span>,
    /// `--late FILE`.
    pub late_file: Option<String>,
    /// `--bad FILE`.
    pub bad_file: Option<String>,
    /// What was said of the left and the right side, where there are two.
    pub sides: Option<[GivenSide; 2]>,
    /// `--outliers N`.
    pub outliers: usize,
    /// `--max-skew D`.
    pub max_skew: Option<Span>,
    /// `--idle-after D`.
    pub idle_after: Option<Span>,
    /// What windows are called: `window`, `session`.
    pub window: &'static str,
    /// The zone instants are shown in.
    pub zone: Zone,
}

/// What the user said of one of two sides.
#[derive(Clone, Debug, Default)]
pub struct GivenSide {
    /// `--late FILE`, or the side's own.
    pub late_file: Option<String>,
}

impl Given {
    /// What plans say. `window`: what windows are called.
    pub fn of(clock: &ClockPlan, late: &LatePlan, bad: &BadPlan, window: &'static str, zone: &Zone) -> Self {
        let shown = |path: &Option<std::path::PathBuf>| path.as_ref().map(|p| p.display().to_string());
        Self {
            delay: clock.delay,
            late_file: shown(&late.path),
            sides: None,
            bad_file: shown(&bad.path),
            outliers: clock.outliers,
            max_skew: clock.max_skew,
            idle_after: clock.idle_after,
            window,
            zone: zone.clone(),
        }
    }

    /// The same for a job with two sides, which plans say.
    #[must_use]
    pub fn of_sides(self, late: [&LatePlan; 2]) -> Self {
        let side = |late: &LatePlan| GivenSide { late_file: late.path.as_ref().map(|path| path.display().to_string()) };
        Self { sides: Some(late.map(side)), ..self }
    }
}

impl Default for Given {
    fn default() -> Self {
        Self {
            delay: None,
            late_file: None,
            sides: None,
            bad_file: None,
            outliers: 0,
            max_skew: None,
            idle_after: None,
            window: "window",
            zone: Zone::UTC,
        }
    }
}

/// All that is known about a run at its end.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The inputs in command-line order.
    pub inputs: Vec<InputSummary>,
    /// The job's watermark before the end of the input closed all windows.
    pub watermark: Option<Ts>,
    /// Each side's watermark, where there are two.
    pub watermarks: Option<[Option<Ts>; 2]>,
    /// The partition that held the watermark back, if there were several.
    pub held_by: Option<String>,
    /// Windows (or sessions) written because the watermark passed them.
    pub fired_by_watermark: u64,
    /// Windows (or sessions) written because the input ended.
    pub fired_by_end: u64,
    /// Result rows written.
    pub rows: u64,
    /// Greatest state held at a time.
    pub peak: StateSize,
    /// The keys with the most records, and how many (at least) each had.
    pub heaviest: Vec<Heavy>,
    /// The keys whose records met the most records of the other side, and how many (at least) they met.
    pub costliest: Vec<(String, u64)>,
    /// How far records were behind the greatest time before them in their partition.
    pub lateness: Lateness,
    /// The greatest distance a late record was behind the greatest time of its partition: the delay that would have
    /// kept them all.
    pub delay_to_keep_all: Span,
    /// Lateness of the late records alone.
    pub late: Lateness,
    /// The jump of the clock that made most records late.
    pub jump: Option<Jump>,
    /// The late records of each side, where there are two.
    pub sides: Option<[LateSide; 2]>,
    /// How far the output's own `window_start` steps back: the delay that a next job over it needs.
    pub output_disorder: Span,
    /// Gaps between windows of a key that were too long to be filled.
    pub gaps: u64,
    /// The state was not bounded, and why.
    pub unbounded: Option<&'static str>,
    /// Wall-clock time the run took, in seconds.
    pub elapsed: f64,
    /// Partitions set aside for running ahead of the others, by name.
    pub skewed: Vec<String>,
    /// Partitions left out for having fallen behind, by name.
    pub idle: Vec<String>,
    /// The first bad record, as the error would have said it: `a.csv:12: column "ts": expected a time, found "n/a"`.
    pub first_bad: Option<String>,
    /// Columns that became another type on the way.
    pub widened: Vec<Widened>,
    /// Fields the job uses that no sampled record has.
    pub unseen: Vec<Unseen>,
    /// Inputs without a record, where one was needed.
    pub empty: Vec<Empty>,
    /// Fields that are not in the output, though all are meant to be: they came first behind the records looked at.
    pub unlisted: Vec<Unlisted>,
}

/// A key with many records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heavy {
    /// The key, as people read it.
    pub key: String,
    /// How many records it had, at least.
    pub records: u64,
    /// Of which side, where there are two.
    pub side: Option<&'static str>,
}

/// What is known of the late records of a side.
#[derive(Clone, Debug, Default)]
pub struct LateSide {
    /// Where the records of the side went.
    pub total: Ledger,
    /// How far the late ones were behind.
    pub late: Lateness,
    /// The jump of the side's clock that made most of them late.
    pub jump: Option<Jump>,
}

/// An input without records that was to be put beside others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Empty {
    /// Its name.
    pub input: String,
    /// What it is in the job.
    pub part: Part,
    /// No columns of it are known either, so that the output has none.
    pub nameless: bool,
}

/// What an input is in a job with two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The left side.
    Left,
    /// The right side.
    Right,
    /// The table.
    Table,
}

/// A field that came too late to be in the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unlisted {
    /// The field.
    pub field: String,
    /// The record that had it first: `a.jsonl:1041`.
    pub place: String,
}

/// A field that no sampled record has, though records need not have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unseen {
    /// The field.
    pub field: String,
    /// The side that it was asked of, by its first input, where there are two.
    pub input: Option<String>,
    /// A field with a similar name.
    pub similar: Option<String>,
    /// The text that may have been meant, as it should be typed.
    pub text: Option<String>,
    /// What to say of it if it is a name of the result.
    pub result: Option<String>,
}

/// A column that became another type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Widened {
    /// The column's name.
    pub column: String,
    /// Its type before, as `--schema` calls it.
    pub from: String,
    /// Its type since.
    pub to: String,
    /// The record that did not fit: `a.jsonl:1041`.
    pub place: String,
}

impl Summary {
    /// The ledgers of all inputs together.
    pub fn total(&self) -> Ledger {
        let mut total = Ledger::default();
        self.inputs.iter().for_each(|input| total.add(&input.ledger));
        total
    }

    /// The account of two sides, of which this is the left one.
    #[must_use]
    pub fn beside(mut self, right: Summary) -> Self {
        let before = self.inputs.len();
        let [left_total, right_total] = [self.total(), right.total()];
        self.inputs.extend(right.inputs);
        self.watermarks = Some([self.watermark, right.watermark]);
        self.watermark = self.watermark.min(right.watermark);
        self.held_by = self.held_by.or(right.held_by);
        self.fired_by_watermark += right.fired_by_watermark;
        self.fired_by_end += right.fired_by_end;
        self.peak = self.peak.max(right.peak);
        let of = |side| move |heavy: Heavy| Heavy { side: Some(side), ..heavy };
        let (left, right_ones) =
            (self.heaviest.into_iter().map(of("left")), right.heaviest.into_iter().map(of("right")));
        self.heaviest = left.chain(right_ones).collect();
        self.heaviest.sort_by_key(|heavy| std::cmp::Reverse(heavy.records));
        self.lateness.add(&right.lateness);
        let jump = right.jump.map(|jump| Jump { input: jump.input + before, ..jump });
        self.sides = Some([
            LateSide { total: left_total, jump: self.jump.clone(), ..LateSide::default() },
            LateSide { total: right_total, jump: jump.clone(), ..LateSide::default() },
        ]);
        self.jump = self.jump.into_iter().chain(jump).max_by_key(|jump| jump.late);
        self.unbounded = self.unbounded.or(right.unbounded);
        self.skewed.extend(right.skewed);
        self.idle.extend(right.idle);
        self.widened.extend(right.widened);
        self.unseen.extend(right.unseen);
        self.empty.extend(right.empty);
        self.unlisted.extend(right.unlisted);
        self
    }

    /// The account with that of a table, which was read before.
    #[must_use]
    pub fn behind(mut self, table: Summary) -> Self {
        self.inputs.extend(table.inputs);
        self.widened.extend(table.widened);
        self.unseen.extend(table.unseen);
        self.empty.extend(table.empty);
        self.unlisted.extend(table.unlisted);
        self
    }

    /// Bytes read from all inputs, before decompression.
    pub fn bytes(&self) -> u64 {
        self.inputs.iter().map(|input| input.bytes).sum()
    }
}

/// One input's part.
#[derive(Clone, Debug, Default)]
pub struct InputSummary {
    /// Its path as given, or `-`.
    pub name: String,
    /// Its format's name.
    pub format: &'static str,
    /// Where its records went.
    pub ledger: Ledger,
    /// The unit of its event times, when they are numbers and the unit was found by their size.
    pub time_unit: Option<Unit>,
    /// Least and greatest event time.
    pub times: Option<(Ts, Ts)>,
    /// Bytes read, before decompression.
    pub bytes: u64,
    /// Column types as inferred, by name.
    pub types: Vec<(String, String)>,
}
