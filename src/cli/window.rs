//! The flags of `windrow window`: what a person types, with the text that explains it. Groups of flags that other
//! commands have too are here; where a text fits windows alone, those commands put their own in its place.
//!
//! Nothing is checked here; that is [`super::planning`]'s task. The first paragraph of a doc comment is the line of
//! `-h`, all of it the text of `--help` and the man page.

use super::kinds::KindFlags;
use clap::Args;
use std::path::PathBuf;

/// Count and aggregate events in windows of time.
///
/// Reads events, one record each, from files or standard input, and writes one row per window and key. Without --delay
/// every window is exact and is written at the end of the input. With --delay a window is written as soon as no event
/// can be in it any more, in memory that does not grow with the input; events that come later than that are late, and
/// are counted and reported.
#[derive(Args, Clone)]
#[command(args_override_self = true, disable_help_flag = true)]
pub(super) struct WindowArgs {
    /// Files to read; - or nothing is standard input
    ///
    /// Formats are told by the extension, else by the first bytes; .gz and .zst are decompressed. Several files are
    /// read by event time, so hosts' logs of one day and days of one log both come out right. An argument @FILE stands
    /// for the flags in FILE: words as in a shell, with quotes and # comments.
    #[arg(value_name = "INPUT", help_heading = "Inputs")]
    pub(super) inputs: Vec<PathBuf>,
    #[command(flatten, next_help_heading = "Windows (one of)")]
    pub(super) kinds: KindFlags,
    #[command(flatten, next_help_heading = "Results")]
    pub(super) results: ResultFlags,
    #[command(flatten, next_help_heading = "Updating results")]
    pub(super) updates: UpdateFlags,
    #[command(flatten, next_help_heading = "Time")]
    pub(super) time: TimeFlags,
    #[command(flatten, next_help_heading = "Time")]
    pub(super) grid: GridFlags,
    #[command(flatten, next_help_heading = "Lateness")]
    pub(super) clock: ClockFlags,
    #[command(flatten, next_help_heading = "Input")]
    pub(super) input: InputFlags,
    #[command(flatten, next_help_heading = "Output")]
    pub(super) output: OutputFlags,
    #[command(flatten, next_help_heading = "Report")]
    pub(super) report: ReportFlags,
}

/// What is computed.
#[derive(Args, Clone)]
pub(super) struct ResultFlags {
    /// What to group by: 'page, lower(country) AS country'
    ///
    /// A list of expressions as in SQL; dotted names reach into nested records, odd names stand in double quotes. Null
    /// is a group of its own. May be given more than once.
    #[arg(short = 'g', long = "by", value_name = "LIST", allow_hyphen_values = true)]
    pub(super) by: Vec<String>,
    /// What to compute: 'count(*) AS n, sum(price * qty)'
    ///
    /// A list of expressions over aggregates as in SQL, each perhaps with a name:
    /// 'sum(price * qty) FILTER (WHERE status = 200) / count(*) AS mean'. Without it, 'count(*) AS count'. May be given
    /// more than once.
    #[arg(short = 'a', long = "agg", value_name = "LIST", allow_hyphen_values = true)]
    pub(super) agg: Vec<String>,
    /// Use only records for which this is true
    ///
    /// Such as "event_type = 'click' AND amount > 0". Other records still move the watermark, and are counted as
    /// filtered, never as late.
    #[arg(short = 'w', long = "where", value_name = "EXPR", allow_hyphen_values = true)]
    pub(super) filter: Option<String>,
    /// Write only rows for which this is true
    ///
    /// Over aggregates, keys and columns of the row: 'count(*) > 50', 'failures / clicks > 0.1'.
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    pub(super) having: Option<String>,
    /// The order of the rows of one window: 'clicks DESC'
    ///
    /// A list of expressions over what --having may use. Nulls come last, unless NULLS FIRST says otherwise; ties are
    /// ordered by keys. May be given more than once.
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub(super) order_by: Vec<String>,
    /// Write the first N rows of each window, ranked
    ///
    /// In the order of --order-by, which it needs, and after --having. Adds the column rank, from 1.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(super) top: Option<String>,
    /// Rank the rows of each of these keys by themselves
    ///
    /// Names of columns of --by: --by 'country, page' --top 3 --top-by country writes three pages of each country. May
    /// be given more than once.
    #[arg(long, value_name = "KEYS", allow_hyphen_values = true, hide_short_help = true)]
    pub(super) top_by: Vec<String>,
    /// Write a key's empty windows too: zero, null or previous
    ///
    /// zero puts 0 into numbers and null into all else, null is null everywhere, previous repeats the key's row before.
    /// The windows between two rows of a key are filled when the second is written; with --since and --until, all of
    /// that range. For tumbling and sliding windows; with --top, only without --delay.
    #[arg(long, value_name = "WITH", hide_short_help = true)]
    pub(super) fill: Option<String>,
    /// Fill at most N windows in a row [1000]
    ///
    /// Longer gaps are left as they are, and counted.
    #[arg(long, value_name = "N", allow_hyphen_values = true, hide_short_help = true)]
    pub(super) fill_max: Option<String>,
    /// Only windows that start at T or later
    ///
    /// T is an instant (2026-01-31T12:00:00Z), a day (2026-01-31), yesterday, or relative to now (-1h). Events are
    /// never cut: a window that starts in the range is whole.
    #[arg(short = 'S', long = "since", value_name = "T", allow_hyphen_values = true)]
    pub(super) since: Option<String>,
    /// Only windows that start before T
    #[arg(short = 'U', long = "until", value_name = "T", allow_hyphen_values = true)]
    pub(super) until: Option<String>,
    /// At most N rows
    #[arg(short = 'n', long = "limit", value_name = "N", allow_hyphen_values = true)]
    pub(super) limit: Option<String>,
}

/// When rows are written.
#[derive(Args, Clone)]
pub(super) struct UpdateFlags {
    /// append, update or complete: when rows are written [append]
    ///
    /// append writes each window once, when it is final. update writes a window whenever it changed and once more when
    /// it is final, with columns that say what happened. complete writes the whole table again each time, and replaces
    /// the file of --output as a whole.
    #[arg(long, value_name = "MODE")]
    pub(super) mode: Option<String>,
    /// count:N, event-time:D, wall:D or when:EXPR: when to write early
    ///
    /// Every N used records (with --global, of a key), when the watermark crosses a multiple of D, every D by the wall
    /// clock, or when the expression is true of a key's row. Without it, --mode update writes after each record and
    /// --mode complete at the end of the input.
    #[arg(long, value_name = "WHEN", hide_short_help = true)]
    pub(super) trigger: Option<String>,
    /// Correct windows for events up to D later still
    ///
    /// A window that is final is kept for D more by the watermark; an event that comes in that time is not late, but
    /// writes the window again. Needs --mode update.
    #[arg(long, value_name = "D", allow_hyphen_values = true, hide_short_help = true)]
    pub(super) allowed_lateness: Option<String>,
    /// Drop windows from the table D behind the watermark
    ///
    /// Bounds what --mode complete keeps, which is otherwise every window.
    #[arg(long, value_name = "D", allow_hyphen_values = true, hide_short_help = true)]
    pub(super) keep: Option<String>,
    /// Empty the endless windows of --global when they are written
    ///
    /// Each row then stands for the records since the row before it; the last comes at the end of the input.
    #[arg(long, hide_short_help = true)]
    pub(super) purge: bool,
}

/// How event times are read and written.
#[derive(Args, Clone)]
pub(super) struct TimeFlags {
    /// The field with the event time, or an expression
    ///
    /// A dotted path reaches into nested records; in it anything stands for itself, so Flight Date and user-agent need
    /// no quotes. It is read as an expression if it has a text in single quotes, a call, ||, ::, * or an index, or if
    /// it has blanks and is one: "date || ' ' || time", 'coalesce(ts, received)', 'sent - 3600'. Without it, the error
    /// names the fields that look like times.
    #[arg(short = 't', long = "time", value_name = "FIELD")]
    pub(super) time: Option<String>,
    /// auto, rfc3339, unix-s|ms|us|ns or a strptime pattern [auto]
    ///
    /// auto reads RFC 3339 and ISO 8601 text, and numbers whose unit is told by the size of the first
    /// one. A pattern is as in strptime: '%d/%b/%Y:%H:%M:%S %z'.
    #[arg(long, value_name = "FORMAT")]
    pub(super) time_format: Option<String>,
    /// Zone of times without an offset [UTC]
    ///
    /// An IANA name such as Europe/Vienna.
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true)]
    pub(super) input_tz: Option<String>,
    /// Zone of calendar windows and of the output [UTC]
    ///
    /// An IANA name such as Europe/Vienna. Days, weeks, months, quarters and years begin by this zone's wall clock.
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true)]
    pub(super) tz: Option<String>,
}

/// How windows are laid out.
#[derive(Args, Clone)]
pub(super) struct GridFlags {
    /// Moves the grid of windows by D
    ///
    /// --tumbling 1d --offset 6h: days from six to six. D may be negative.
    #[arg(long, value_name = "D", allow_hyphen_values = true, hide_short_help = true)]
    pub(super) offset: Option<String>,
    /// monday or sunday [monday]
    #[arg(long, value_name = "DAY", hide_short_help = true)]
    pub(super) week_start: Option<String>,
}

/// How event times become watermarks.
#[derive(Args, Clone, Default)]
pub(super) struct ClockFlags {
    /// Write windows as soon as events are at most D late
    ///
    /// D is how far an event may be behind the greatest event time before it: 30s, 5m, 1h30m. Without it windows are
    /// exact and wait for the end of the input.
    #[arg(short = 'd', long, value_name = "D", allow_hyphen_values = true)]
    pub(super) delay: Option<String>,
    /// Keep late records here, as they were
    ///
    /// In the input's own format, so that they can be read again; inputs of several formats or headers need a folder.
    /// Without it late records are counted and dropped.
    #[arg(long, value_name = "FILE")]
    pub(super) late: Option<PathBuf>,
    /// Add to each late record where it stood and how late it was
    ///
    /// Adds _file, _line, _lateness, _watermark and _window_end, which are ignored when the file is read again.
    #[arg(long, hide_short_help = true)]
    pub(super) late_details: bool,
    /// Exit with 3 when more than N records (or P%) are late
    ///
    /// The output is written all the same.
    #[arg(long, value_name = "N|P%", allow_hyphen_values = true, hide_short_help = true)]
    pub(super) max_late: Option<String>,
    /// Read the inputs one after another as one
    ///
    /// Otherwise each input keeps its own watermark, and they are read by event time.
    #[arg(long, hide_short_help = true)]
    pub(super) concat: bool,
    /// Keep a watermark for each value of this field
    ///
    /// A device, a host, a Kafka partition. Needs --idle-after, as a value never ends.
    #[arg(long, value_name = "FIELD", hide_short_help = true)]
    pub(super) watermark_by: Option<String>,
    /// Do not wait for what falls D behind the others
    ///
    /// An input (or value of --watermark-by) whose greatest event time is more than D behind the median does not hold
    /// the watermark back until it has caught up.
    #[arg(long, value_name = "D", allow_hyphen_values = true, hide_short_help = true)]
    pub(super) idle_after: Option<String>,
    /// Ignore what runs D ahead of the others
    ///
    /// An input (or value of --watermark-by) that is more than D ahead of the median neither moves nor holds the
    /// watermark, and is named in the summary.
    #[arg(long, value_name = "D", allow_hyphen_values = true, hide_short_help = true)]
    pub(super) max_skew: Option<String>,
    /// Let N stray records pass without moving the watermark [0]
    ///
    /// The watermark follows the (N+1)-th greatest event time, so that a few records with a broken clock do not make
    /// all that follow late.
    #[arg(long, value_name = "N", allow_hyphen_values = true, hide_short_help = true)]
    pub(super) outliers: Option<String>,
    /// min or max: which input the watermark follows [min]
    ///
    /// min waits for the input furthest behind; max follows the one furthest ahead.
    #[arg(long, value_name = "POLICY", hide_short_help = true)]
    pub(super) watermark_policy: Option<String>,
}

/// How records are read.
#[derive(Args, Clone)]
pub(super) struct InputFlags {
    /// Format of the inputs, if the name does not tell
    #[arg(short = 'i', long, value_name = "FORMAT")]
    pub(super) input_format: Option<String>,
    /// Types of fields: 'amount double, id bigint'
    ///
    /// A list of names and SQL types. Other fields are typed by their first 1,000 records.
    #[arg(long, value_name = "LIST", hide_short_help = true)]
    pub(super) schema: Vec<String>,
    /// The character between CSV fields
    ///
    /// One character, or tab.
    #[arg(long, value_name = "C", allow_hyphen_values = true, hide_short_help = true)]
    pub(super) delimiter: Option<String>,
    /// The first CSV record is data, not names
    ///
    /// The fields are then called column0, column1 and so on.
    #[arg(long, hide_short_help = true)]
    pub(super) no_header: bool,
    /// CSV texts that mean null: NA,-
    #[arg(long, value_name = "LIST", allow_hyphen_values = true, hide_short_help = true)]
    pub(super) null: Option<String>,
    /// Keep malformed records here and go on
    ///
    /// Without it, or --max-bad, the first malformed record stops the run.
    #[arg(long, value_name = "FILE")]
    pub(super) bad: Option<PathBuf>,
    /// Skip up to N (or P%) malformed records; exit with 3 beyond
    ///
    /// N stops at once, P% is judged at the end. Beyond it no output is written.
    #[arg(long, value_name = "N|P%", allow_hyphen_values = true, hide_short_help = true)]
    pub(super) max_bad: Option<String>,
    /// Threads [the number of cores]
    #[arg(short = 'j', long, value_name = "N", allow_hyphen_values = true, hide_short_help = true)]
    pub(super) threads: Option<String>,
}

/// Where results go.
#[derive(Args, Clone)]
pub(super) struct OutputFlags {
    /// Write to this file, whole or not at all
    ///
    /// The file is replaced when all is done; .gz and .zst are compressed. Devices, FIFOs and >(...) are written as
    /// rows come.
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Format of the output
    ///
    /// Otherwise by the extension of --output; where it tells none, as in out.log, JSONL is written. Without --output a
    /// terminal gets a table and a pipe JSONL.
    #[arg(short = 'O', long, value_name = "FORMAT")]
    pub(super) output_format: Option<String>,
}

/// What people get to see.
#[derive(Args, Clone)]
pub(super) struct ReportFlags {
    /// Write the summary here as JSON
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(super) summary: Option<PathBuf>,
    /// Print nothing but errors
    #[arg(short = 'q', long)]
    pub(super) quiet: bool,
    /// Print the summary even if nobody watches
    ///
    /// Otherwise it is printed when standard error is a terminal; elsewhere only what needs attention is.
    #[arg(short = 'v', long)]
    pub(super) verbose: bool,
    /// These flags on one screen
    #[arg(short = 'h')]
    pub(super) short_help: bool,
    /// All flags, with examples
    #[arg(long = "help")]
    pub(super) long_help: bool,
}
