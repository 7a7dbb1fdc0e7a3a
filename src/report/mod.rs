//! What people see beside the data: progress, summary, warnings. The only writer to stderr.
//!
//! Must not know arrow values. No number is printed without a unit.

use crate::account::{Jump, Lateness, Ledger, StateSize};
use crate::time::{Span, Ts, Unit};

/// All that is known about a run at its end.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The inputs in command-line order.
    pub inputs: Vec<InputSummary>,
    /// The job's watermark before the end of the input closed all windows.
    pub watermark: Option<Ts>,
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
    pub heaviest: Vec<(String, u64)>,
    /// How far records were behind the greatest time before them in their partition.
    pub lateness: Lateness,
    /// The greatest distance a late record was behind the greatest time of its partition: the delay that would have
    /// kept them all.
    pub delay_to_keep_all: Span,
    /// Lateness of the late records alone.
    pub late: Lateness,
    /// The jump of the clock that made most records late.
    pub jump: Option<Jump>,
    /// How far the output's own `window_start` steps back: the delay that a next job over it needs.
    pub output_disorder: Span,
    /// The state was not bounded, and why.
    pub unbounded: Option<&'static str>,
    /// Wall-clock time the run took, in seconds.
    pub elapsed: f64,
    /// Partitions set aside for running ahead of the others, by name.
    pub skewed: Vec<String>,
    /// Partitions left out for having fallen behind, by name.
    pub idle: Vec<String>,
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
