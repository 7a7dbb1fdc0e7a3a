//! What a job is, once the command line has been understood: plain data, made by `cli`, carried out by `run`.
//!
//! Nothing here opens a file. What a flag is called is known to `cli` alone.

use crate::expr::{Key, On, Order, PairColumn, Scalar, Selection};
use crate::format::{FormatKind, TextOptions};
use crate::pairing::{Bounds, JoinKind, JoinWatermark};
use crate::schema::{FieldPath, FieldType};
use crate::time::{Span, TimeFormat, Ts, Zone};
use crate::window::Grouping;
use std::fmt;
use std::path::PathBuf;

/// A whole `window` job.
pub struct Plan {
    /// Where records come from.
    pub input: InputPlan,
    /// How event times become watermarks.
    pub clock: ClockPlan,
    /// How time is cut.
    pub grouping: Grouping,
    /// Windows are written when their start is at or after this.
    pub since: Option<Ts>,
    /// Windows are written when their start is before this.
    pub until: Option<Ts>,
    /// What records are grouped by.
    pub keys: Vec<Key>,
    /// Only records for which this is true are used.
    pub filter: Option<Scalar>,
    /// What is computed.
    pub selection: Selection,
    /// Which rows are written, and in what order those of one window.
    pub finish: FinishPlan,
    /// When rows are written.
    pub mode: Mode,
    /// What else makes rows be written, if anything does.
    pub trigger: Option<Trigger>,
    /// Where results go.
    pub output: OutputPlan,
    /// What becomes of late records.
    pub late: LatePlan,
    /// What becomes of bad records.
    pub bad: BadPlan,
    /// What people get to see.
    pub report: ReportPlan,
    /// Threads that decode and aggregate; at least 1.
    pub threads: usize,
}

/// A whole `join` job.
pub struct JoinPlan {
    /// The left and the right side.
    pub sides: [SidePlan; 2],
    /// What makes two rows a pair, beside their times.
    pub on: On,
    /// How far their times may be apart.
    pub bounds: Bounds,
    /// Which rows come out.
    pub kind: &'static JoinKind,
    /// Which watermark counts.
    pub watermark: JoinWatermark,
    /// What is written of them.
    pub columns: PairColumns,
    /// What becomes of bad records.
    pub bad: BadPlan,
    /// Where results go.
    pub output: OutputPlan,
    /// What people get to see.
    pub report: ReportPlan,
    /// Threads that decode; at least 1.
    pub threads: usize,
}

/// A whole `lookup` job.
pub struct LookupPlan {
    /// The events.
    pub events: SidePlan,
    /// The table. Its time is the column of `--as-of`, or none.
    pub table: InputPlan,
    /// Which rows of the table belong to an event. It has no condition beside equalities.
    pub on: On,
    /// Which of several rows counts.
    pub pick: Pick,
    /// Only rows of the table for which this is true are in it.
    pub table_filter: Option<Scalar>,
    /// Which events are written.
    pub kind: LookupKind,
    /// What is written of them.
    pub columns: PairColumns,
    /// What becomes of bad events; bad rows of the table stop the run, unless there is a bound that allows for them.
    pub bad: BadPlan,
    /// Where results go.
    pub output: OutputPlan,
    /// What people get to see.
    pub report: ReportPlan,
    /// Threads that decode; at least 1.
    pub threads: usize,
}

/// Which events a lookup writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LookupKind {
    /// All, with nulls where there is no row.
    #[default]
    Left,
    /// Those that have a row.
    Inner,
    /// Those that have none, alone.
    Anti,
}

/// Which of several rows of a table with one key counts.
#[derive(Clone)]
pub enum Pick {
    /// There may be only one.
    Only,
    /// The first in the table.
    First,
    /// Every one, in the table's order.
    All,
    /// The one nearest in time.
    AsOf(AsOf),
}

/// `--as-of`
#[derive(Clone)]
pub struct AsOf {
    /// Where it may lie.
    pub direction: Direction,
    /// At most this far from the event, inclusive.
    pub tolerance: Option<Span>,
    /// A row for which this is true ends the version before it, and is none itself.
    pub delete_when: Option<Scalar>,
}

/// Where the row of a table may lie that is nearest to an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Not after the event; of equal ones the last in the table.
    #[default]
    Backward,
    /// Not before the event; of equal ones the first in the table.
    Forward,
    /// On either side; equally distant ones: backward.
    Nearest,
}

/// A whole `dedup` job.
pub struct DedupPlan {
    /// The events.
    pub events: SidePlan,
    /// What makes two records the same; nothing: all of the record as it stands.
    pub keys: Vec<Key>,
    /// How far the times of two records with one key may be apart; none: any distance.
    pub within: Option<Span>,
    /// Duplicates are kept here.
    pub duplicates: Option<PathBuf>,
    /// What becomes of bad records.
    pub bad: BadPlan,
    /// Where results go.
    pub output: OutputPlan,
    /// What people get to see.
    pub report: ReportPlan,
    /// Threads that decode; at least 1.
    pub threads: usize,
}

/// One side of a join, or the only one of another job: what is read, and how its watermark moves.
#[derive(Clone)]
pub struct SidePlan {
    /// Where records come from.
    pub input: InputPlan,
    /// How event times become watermarks.
    pub clock: ClockPlan,
    /// Only records for which this is true are used.
    pub filter: Option<Scalar>,
    /// What becomes of late records.
    pub late: LatePlan,
}

/// What is written of two rows side by side.
#[derive(Clone)]
pub struct PairColumns {
    /// What is computed of them, over fields of `l.` and `r.`; none: all fields of both.
    pub select: Option<Vec<PairColumn>>,
    /// What is put before a left name that both have.
    pub left_prefix: String,
    /// What is put before a right name that both have.
    pub right_prefix: String,
}

/// What becomes of the rows of a window before they are written.
#[derive(Clone, Default)]
pub struct FinishPlan {
    /// Only rows for which this is true are written. Over [`Selection::calls`] and all columns of a row.
    pub having: Option<Scalar>,
    /// What rows of one window are ordered by; ties by keys.
    pub order: Vec<Order>,
    /// How many rows of a window (and group of keys) are written, with a column `rank`.
    pub top: Option<Top>,
    /// A key's windows without rows are written too.
    pub fill: Option<Fill>,
}

/// `--top N`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Top {
    /// How many.
    pub rows: usize,
    /// Indices of the keys that have a ranking each; none: the window has one.
    pub by: Vec<usize>,
}

/// `--fill`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// What stands in a filled row.
    pub with: Filling,
    /// At most this many windows in a row; longer gaps are counted.
    pub max: u64,
}

/// What stands in a filled row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filling {
    /// Numbers are 0, all else is null.
    Zero,
    /// Everything is null.
    Null,
    /// The values of the key's row before it.
    Previous,
}

/// When rows are written (SPEC section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Each window once, when it is final.
    Append,
    /// Windows that changed, at each trigger and when final.
    Update {
        /// How long a window is kept behind its end for late events.
        lateness: Span,
    },
    /// The whole table at each trigger.
    Complete {
        /// How long windows are kept behind the watermark; none: for ever.
        keep: Option<Span>,
    },
}

/// What makes rows be written before windows are final.
#[derive(Clone)]
pub enum Trigger {
    /// Every so many used records; per key where windows are endless.
    Count(u64),
    /// When the watermark crosses a multiple of this.
    EventTime(Span),
    /// Every so often by the wall clock.
    Wall(Span),
    /// When this is true of a key's row. Over [`Selection::calls`] and all columns of a row.
    When(Scalar),
}

/// One input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputPath {
    /// Standard input.
    Stdin,
    /// A file, FIFO or device.
    File(PathBuf),
}

/// Where records come from and how they are read.
#[derive(Clone)]
pub struct InputPlan {
    /// The inputs in command-line order; never empty.
    pub paths: Vec<InputPath>,
    /// Read one after another as one partition.
    pub concat: bool,
    /// The format, where it was said.
    pub format: Option<&'static FormatKind>,
    /// Details of text formats.
    pub text: TextOptions,
    /// Declared types.
    pub declared: Vec<(FieldPath, FieldType)>,
    /// The event time; none when the flag was missing: the run then names the fields that look like times.
    pub time: Option<Scalar>,
    /// How it is written.
    pub time_format: TimeFormat,
    /// The zone of local times.
    pub zone: Zone,
    /// Bytes read at a time; none: as fits the inputs. No result depends on it, which tests try.
    pub chunk: Option<usize>,
}

/// How event times become watermarks (SPEC section 3).
#[derive(Clone, Debug, Default)]
pub struct ClockPlan {
    /// How late events may come; none: wait for the end of the input.
    pub delay: Option<Span>,
    /// The field whose values are the partitions; none: each input is one.
    pub by: Option<FieldPath>,
    /// Leave a partition out of the minimum once the median is this far ahead of it.
    pub idle_after: Option<Span>,
    /// How many stray records cannot move a partition's mark.
    pub outliers: usize,
    /// Leave a partition alone that is this far ahead of the median.
    pub max_skew: Option<Span>,
    /// Which partition decides.
    pub policy: Policy,
}

/// Which partition decides how far the job is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// The one furthest behind.
    #[default]
    Min,
    /// The one furthest ahead.
    Max,
}

/// Where results go.
#[derive(Clone)]
pub struct OutputPlan {
    /// The file; none: standard output.
    pub path: Option<PathBuf>,
    /// The format.
    pub format: &'static FormatKind,
    /// The width of the terminal that shows it; none when it is not shown on one.
    pub width: Option<usize>,
    /// At most this many rows.
    pub limit: Option<u64>,
    /// The zone of output times.
    pub zone: Zone,
}

/// What becomes of late records.
#[derive(Clone, Debug, Default)]
pub struct LatePlan {
    /// Kept here.
    pub path: Option<PathBuf>,
    /// With where, how late and why.
    pub details: bool,
    /// More of them is an error, found at the end.
    pub max: Option<Bound>,
}

/// What becomes of bad records.
#[derive(Clone, Debug, Default)]
pub struct BadPlan {
    /// Kept here.
    pub path: Option<PathBuf>,
    /// More of them is an error.
    pub max: Option<Bound>,
}

/// A bound on a number of records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// This many.
    Count(u64),
    /// This share of all records read, in percent.
    Percent(f64),
}

impl Plan {
    /// Whether it groups by sessions.
    pub fn is_session(&self) -> bool {
        matches!(self.grouping, Grouping::Session { .. })
    }
}

impl InputPath {
    /// Its path; none for standard input.
    pub fn path(&self) -> Option<&std::path::Path> {
        match self {
            InputPath::Stdin => None,
            InputPath::File(path) => Some(path),
        }
    }
}

impl Bound {
    /// Whether `n` of `read` records are within the bound.
    pub fn holds(self, n: u64, read: u64) -> bool {
        match self {
            Bound::Count(most) => n <= most,
            Bound::Percent(most) => n as f64 * 100.0 <= most * read as f64,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Count(most) => write!(f, "{most}"),
            Bound::Percent(most) => write!(f, "{most}%"),
        }
    }
}

/// What people get to see.
#[derive(Clone, Debug, Default)]
pub struct ReportPlan {
    /// Nothing but errors.
    pub quiet: bool,
    /// The whole summary wherever it goes.
    pub verbose: bool,
    /// The summary as JSON, here.
    pub summary: Option<PathBuf>,
}
