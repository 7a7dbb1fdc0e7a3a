//! The flags of `windrow join`: what a person types, with the text that explains it.
//!
//! Nothing is checked here; that is [`super::joining`]'s task. Flags that other commands have too come from
//! [`super::window`], with other words where theirs are about windows.

use super::sides::SideFlags;
use super::text;
use super::window::{ClockFlags, GridFlags, InputFlags, OutputFlags, ReportFlags, TimeFlags};
use clap::Args;
use std::path::PathBuf;

/// Join the events of two inputs by keys and time.
///
/// Reads two sides, one record each, and writes a row for every two records that have equal keys and whose times lie
/// close enough together; and, if asked for, records that found no partner. Pairs are written as they are found.
/// Without --delay no record is late, and those without a partner are written when the other side has ended. With
/// --delay a record is forgotten, and written if it found no partner, as soon as none can come that is not late, so
/// memory does not grow with the input.
#[derive(Args, Clone)]
#[command(args_override_self = true, disable_help_flag = true)]
#[command(mut_args(|arg| text::reworded(arg, WORDS)))]
pub(super) struct JoinArgs {
    /// The left and the right file; - is standard input
    ///
    /// Formats are told by the extension, else by the first bytes; .gz and .zst are decompressed. Both may be the same
    /// file. An argument @FILE stands for the flags in FILE: words as in a shell, with quotes and # comments.
    #[arg(value_names = ["LEFT", "RIGHT"], help_heading = "Inputs")]
    pub(super) inputs: Vec<PathBuf>,
    /// A file of the left side, instead of LEFT; several if repeated
    ///
    /// Several files of a side are read by event time.
    #[arg(long, value_name = "FILE", help_heading = "Inputs")]
    pub(super) left: Vec<PathBuf>,
    /// A file of the right side, instead of RIGHT; several if repeated
    #[arg(long, value_name = "FILE", help_heading = "Inputs")]
    pub(super) right: Vec<PathBuf>,
    #[command(flatten, next_help_heading = "What belongs together")]
    pub(super) pairing: PairingFlags,
    #[command(flatten, next_help_heading = "Results")]
    pub(super) results: PairFlags,
    /// Use only left records for which this is true
    ///
    /// Over the left record's own fields: "kind = 'impression'". Other records still move the watermark, and are
    /// counted as filtered. A record that is not used has no partner and is not written without one either, unlike one
    /// for which a condition of --on is not true.
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true, help_heading = "Results")]
    pub(super) left_where: Option<String>,
    /// Use only right records for which this is true
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true, help_heading = "Results")]
    pub(super) right_where: Option<String>,
    /// At most N rows
    #[arg(short = 'n', long = "limit", value_name = "N", help_heading = "Results")]
    pub(super) limit: Option<String>,
    #[command(flatten, next_help_heading = "Time")]
    pub(super) time: TimeFlags,
    #[command(flatten, next_help_heading = "Time")]
    pub(super) grid: GridFlags,
    #[command(flatten, next_help_heading = "Lateness")]
    pub(super) clock: ClockFlags,
    /// Keep late records of the left side here
    #[arg(long, value_name = "FILE", help_heading = "Lateness", hide_short_help = true)]
    pub(super) late_left: Option<PathBuf>,
    /// Keep late records of the right side here
    #[arg(long, value_name = "FILE", help_heading = "Lateness", hide_short_help = true)]
    pub(super) late_right: Option<PathBuf>,
    /// own, min or max: the watermark a side goes by [own]
    ///
    /// own judges the records of each side by its own watermark, and forgets them by the other's, so the rows do not
    /// depend on how the sides come together. min uses the smaller of the two for both, max the greater.
    #[arg(long, value_name = "WHICH", help_heading = "Lateness", hide_short_help = true)]
    pub(super) join_watermark: Option<String>,
    #[command(flatten, next_help_heading = "One side by itself")]
    pub(super) sides: SideFlags,
    #[command(flatten, next_help_heading = "Input")]
    pub(super) input: InputFlags,
    #[command(flatten, next_help_heading = "Output")]
    pub(super) output: OutputFlags,
    #[command(flatten, next_help_heading = "Report")]
    pub(super) report: ReportFlags,
}

/// What makes two records a pair.
#[derive(Args, Clone)]
pub(super) struct PairingFlags {
    /// What is equal: 'l.id = r.click_id', or id for both
    ///
    /// A condition as behind SQL's ON, over fields of the left record (l.id) and the right one (r.click_id). Its
    /// equalities between the sides are the keys, of which there is at least one: 'l.id = r.id AND lower(l.page) =
    /// r.page'. What else stands beside them with AND must be true as well: 'l.id = r.id AND r.price < l.limit'. A list
    /// of names is short for equal ones: 'id, page'. Null equals nothing.
    #[arg(long, value_name = "CONDITION")]
    pub(super) on: Option<String>,
    /// How far the right time may be from the left: 0s..30m, -5m..5m
    ///
    /// The right record's time less the left one's, both ends included; '[0s..30m)' leaves an end out.
    #[arg(long, value_name = "LO..HI", allow_hyphen_values = true)]
    pub(super) within: Option<String>,
    /// Or: both in the same window of SIZE, such as 1h
    ///
    /// 5m, 1h, 1d, 1mo: one after another, as those of windrow-window(1) --tumbling. Rows begin with window_start and window_end.
    #[arg(long, value_name = "SIZE")]
    pub(super) window: Option<String>,
    /// inner, left, right, full, semi or anti: which rows [inner]
    #[arg(long, value_name = "KIND")]
    pub(super) how: Option<String>,
}

/// What is written of two records side by side.
#[derive(Args, Clone)]
pub(super) struct PairFlags {
    /// Columns to write: 'l.page, r.price * l.n AS total'
    ///
    /// A list of expressions over fields of l and r, each perhaps with a name. l.* are all fields of the left record,
    /// 'l.* EXCLUDE (a, b)' all but these. Without it, all fields of the left record and then all of the right.
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub(super) select: Vec<String>,
    /// Put before a left name that both sides have []
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, hide_short_help = true)]
    pub(super) left_prefix: Option<String>,
    /// Put before a right name that both sides have [right_]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, hide_short_help = true)]
    pub(super) right_prefix: Option<String>,
}

/// What flags mean that other commands have too.
const WORDS: &[(&str, &str)] = &[
    (
        "delay",
        "Forget rows as soon as events are at most D late\n\nD is how far an event may be behind the greatest event \
         time before it on its side: 30s, 5m, 1h30m. Without it no event is late. A side without a delay holds the \
         other's rows until it ends.",
    ),
    (
        "late",
        "Keep late records of both sides here, as they were\n\nIn the input's own format, so that they can be read \
         again; inputs of several formats or headers need a folder, or --late-left and --late-right. Without it late \
         records are counted and dropped.",
    ),
    (
        "late_details",
        "Add to each late record where it stood and how late it was\n\nAdds _file, _line, _lateness, _watermark and \
         _window_end (null without --window), which are ignored when the file is read again.",
    ),
    ("tz", "Zone of the output, and of --window in calendar units [UTC]"),
    (
        "offset",
        "Moves the windows of --window by D\n\n--window 1d --offset 6h: days from six to six. D may be negative.",
    ),
];
