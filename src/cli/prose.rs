//! What help and man pages say beside the flags: rules, tables of kinds, examples.
//!
//! Must not know how it is set; [`help`](super::help) and [`man`](super::man) do. Functions, aggregates,
//! formats and what goes together come from their tables, so a new one is documented by being there.

use super::help::fill;
use super::{modes, pairs};
use crate::aggregate::AGGREGATES;
use crate::expr::functions;
use crate::format::{FORMATS, Read};

/// A titled part of a page.
pub(super) struct Section {
    pub(super) title: &'static str,
    pub(super) paragraphs: Vec<Paragraph>,
}

/// A piece of a section.
pub(super) enum Paragraph {
    /// Text to be filled.
    Text(&'static str),
    /// Lines to be set as they are.
    Code(String),
    /// A term and what it means.
    Item(String, String),
}

impl Paragraph {
    /// As plain text behind `indent` blanks, with a line end.
    pub(super) fn plain(&self, indent: usize) -> String {
        match self {
            Paragraph::Text(text) => format!("{}\n", fill(text, indent)),
            Paragraph::Code(code) => code.lines().map(|line| format!("{:indent$}  {line}\n", "")).collect(),
            Paragraph::Item(term, text) => {
                let column = indent + 24;
                let text = fill(text, column);
                match column.checked_sub(indent + term.len()) {
                    Some(gap) if gap >= 2 => format!("{:indent$}{term}{:gap$}{}\n", "", "", text.trim_start()),
                    _ => format!("{:indent$}{term}\n{text}\n", ""),
                }
            }
        }
    }
}

/// The sections at the end of a command's `--help`.
pub(super) fn help_sections(command: &str) -> Vec<Section> {
    match command {
        "window" => vec![durations(), expressions(), functions(), aggregates(), updating(), formats(), examples()],
        "join" => pairs::join_help(),
        "lookup" => pairs::lookup_help(),
        "dedup" => pairs::dedup_help(),
        _ => Vec::new(),
    }
}

/// The sections of a command's man page behind its flags.
pub(super) fn man_sections(command: &str) -> Vec<Section> {
    match command {
        "windrow" => vec![streams(), exit_status(), examples()],
        "window" => vec![
            time(),
            watermark(),
            windows(),
            durations(),
            expressions(),
            functions(),
            aggregates(),
            rows(),
            updating(),
            together(),
            types(),
            formats(),
            account(),
            summary_file(),
            streams(),
            exit_status(),
            examples(),
        ],
        "join" => pairs::join_page(),
        "lookup" => pairs::lookup_page(),
        "dedup" => pairs::dedup_page(),
        _ => vec![exit_status()],
    }
}

pub(super) fn section(title: &'static str, paragraphs: Vec<Paragraph>) -> Section {
    Section { title, paragraphs }
}

pub(super) fn code(lines: &str) -> Paragraph {
    Paragraph::Code(lines.to_owned())
}

pub(super) fn item(term: &str, text: &str) -> Paragraph {
    Paragraph::Item(term.to_owned(), text.to_owned())
}

fn time() -> Section {
    section(
        "TIME",
        vec![
            Paragraph::Text(
                "An instant is a whole number of microseconds; finer input is rounded down. The event time is the \
                 field named by --time. Text is RFC 3339 or ISO 8601, with T or a space, an optional fraction and \
                 offset; a date alone is the start of that day. A number's unit is told by the size of the first one \
                 in each input (below 1e11 seconds, below 1e14 milliseconds, below 1e17 microseconds, else \
                 nanoseconds) and is shown in the summary; a later number of another size is a bad record.",
            ),
            Paragraph::Text(
                "Times without an offset are read in --input-tz. A local time that daylight saving skips moves forward \
                 by the gap, one that comes twice is the earlier. The output is RFC 3339 in --tz. Zones are compiled \
                 in, so the machine does not matter.",
            ),
            Paragraph::Text("A record whose time is null, missing or unreadable is a bad record."),
        ],
    )
}

fn watermark() -> Section {
    section(
        "WHAT IS LATE",
        vec![
            Paragraph::Text(
                "Without --delay nothing is late: all windows are exact, and are written at the end of the input.",
            ),
            Paragraph::Text(
                "With --delay D, each input has a watermark: the greatest event time seen so far, less D. An event at \
                 or after the watermark, as it stood before the event, is on time. The watermark of the job is the \
                 least of all inputs that have not ended, and never moves back. A window is written when it has \
                 reached the window's end, a session when it has passed the session's last event by more than the \
                 gap. So a delay that covers the disorder gives the same rows as no delay.",
            ),
            Paragraph::Text(
                "An event is late when all its windows were final by the greater of its own input's watermark and the \
                 job's. It is late by its own input's order, so how several inputs interleave never changes which \
                 events are late. An event that is late for some of its sliding windows counts in the others.",
            ),
            Paragraph::Text(
                "Several inputs are read by event time: next comes the record that leaves its input's greatest time \
                 least far ahead, so a quiet night that all inputs share makes nobody late. --concat makes one of them, --watermark-by one per value of a field. --idle-after, --max-skew and \
                 --outliers keep a silent input, a fast clock or a stray record from spoiling the watermark.",
            ),
        ],
    )
}

fn windows() -> Section {
    section(
        "WINDOWS AND ROWS",
        vec![
            Paragraph::Text(
                "Windows hold their start and not their end. Fixed sizes are laid out from 1970-01-01T00:00:00Z, also \
                 before it. Sizes of one whole unit from days upwards (1d, 2w, 3 months, 1 quarter, 1y) follow the \
                 calendar in --tz: days count from 1970-01-01, weeks from Monday 1969-12-29 (see --week-start), \
                 months, quarters and years from January 1970. A session belongs to one key, and ends a gap after its \
                 last event.",
            ),
            Paragraph::Text(
                "A row has window_start, window_end, the keys and the aggregates. Rows are ordered by end, start and \
                 keys, nulls first. The same input and flags give the same bytes, whatever the number of threads and \
                 the format of the input.",
            ),
        ],
    )
}

pub(super) fn durations() -> Section {
    section(
        "DURATIONS",
        vec![Paragraph::Text(
            "500ms, 30s, 5m, 1h30m, 1d, '2 hours' or PT5M. Only the sizes of windows know months, quarters and years, \
             and days that follow a zone; everywhere else 1d is 24 hours.",
        )],
    )
}

fn expressions() -> Section {
    section(
        "EXPRESSIONS",
        vec![
            Paragraph::Text(
                "--where, --by, --agg, --having, --order-by, --trigger when: and --time take SQL expressions, with \
                 names and results as in DuckDB. Every error that does not depend on data is found before any input is \
                 read.",
            ),
            item("+ - * %", "arithmetic; an integer beyond 64 bits is an error, and the record a bad one"),
            item("/ //", "true division, and division to a whole number; by zero is null"),
            item("= <> < <= > >=", "comparison; also BETWEEN a AND b, IN (a, b), IS [NOT] DISTINCT FROM"),
            item("AND OR NOT", "of true, false and null"),
            item("LIKE ILIKE", "patterns with % and _; ILIKE in any case; ESCAPE names a character"),
            item("||", "puts texts together"),
            item("IS [NOT] NULL", "also IS [NOT] TRUE, IS [NOT] FALSE"),
            item("CASE WHEN a THEN b ELSE c END", "the first branch that is true; the others are not computed"),
            item("COALESCE(a, b) NULLIF(a, b)", "the first that is not null; null where both are equal"),
            item("CAST(x AS type) x::type", "an error where it cannot be; TRY_CAST gives null there"),
            Paragraph::Text(
                "Null is neither true nor false: what is computed with null is null, null = null is null, and a \
                 condition that is null does not hold. NULL OR TRUE is true, NULL AND FALSE is false.",
            ),
            Paragraph::Text(
                "Types are bigint, double, decimal(p,s), boolean, text and timestamp. 'a' is a text, 1.5 an exact \
                 decimal, 1e3 a double, TIMESTAMP '2026-01-31 12:00' an instant in --tz. A date is the instant \
                 at which its day starts in --tz: x::date and DATE '2026-01-31' cut times to days, so ts::date = \
                 '2026-01-31' is all of that day. Decimals are added, subtracted and multiplied exactly. An array or \
                 object of a field is its JSON text, so length(items) counts characters: cardinality(items) counts \
                 elements. No text that an expression makes may be longer than 256 MB. The field of --time is the instant itself.",
            ),
            Paragraph::Text(
                "A name is a field of the record: a.b reaches into nested records, items[0].sku into arrays (from 0; \
                 -1 is the last), both also into a CSV column whose texts are JSON; an odd name stands in double quotes: \"user-agent\". Capitals matter in names of \
                 fields. _file and _line name the record's origin. After aggregation (--agg around calls, --having, \
                 --order-by, when:) the names are the columns of the row, with window_start, window_end and \
                 window_seconds.",
            ),
        ],
    )
}

fn functions() -> Section {
    let text = |kind: &crate::expr::functions::FunctionKind| {
        let (call, gives) = kind.example;
        let also = match kind.aliases {
            [] => String::new(),
            names => format!("; also {}", names.join(", ")),
        };
        format!("{}{also}: {call} is {gives}", kind.doc)
    };
    section("FUNCTIONS", functions::FUNCTIONS.iter().copied().map(|kind| item(kind.usage, &text(kind))).collect())
}

fn aggregates() -> Section {
    let text = |kind: &crate::aggregate::AggregateKind| match kind.aliases {
        [] => kind.doc.to_owned(),
        names => format!("{}; also {}", kind.doc, names.join(", ")),
    };
    let mut all = vec![Paragraph::Text(
        "Nulls are skipped, unless said otherwise. FILTER (WHERE ...) behind a call lets it count only some records. \
         Results do not depend on the order of the input.",
    )];
    all.extend(AGGREGATES.iter().map(|kind| item(kind.usage, &text(kind))));
    section("AGGREGATES", all)
}

fn rows() -> Section {
    section(
        "WHICH ROWS ARE WRITTEN",
        vec![
            Paragraph::Text(
                "A record for which --where is not true is not used. A row for which --having is not true is not \
                 written. --order-by orders the rows of one window, nulls last and ties by keys; --top N writes the \
                 first N of them, exactly, with a column rank; with --top-by the first N of each of these keys.",
            ),
            Paragraph::Text(
                "--fill writes the windows of a key in which nothing happened together with its next row, at most \
                 --fill-max of them; longer gaps are left and counted. Rows of windows are then in order within \
                 those written at one time only. Filled rows pass --having, and are ranked by --top among the rows \
                 of their window, like others; for that all windows have to be written at once, so --top and --fill \
                 together go without --delay.",
            ),
            Paragraph::Text(
                "--count N makes a window of every N used records of a key, as they come; the last may have fewer. It \
                 is bounded by its first and last event times, which several windows of a key may share: --mode update \
                 then writes each of them under the same bounds from revision 0. --global makes one endless window per key, whose bounds \
                 are null.",
            ),
        ],
    )
}

fn updating() -> Section {
    section(
        "UPDATING RESULTS",
        vec![
            item("--mode append", "each window once, when it is final; rows never change"),
            item(
                "--mode update",
                "at each trigger the windows that changed, and each when it is final; then again for each late event \
                 within --allowed-lateness",
            ),
            item(
                "--mode complete",
                "at each trigger the whole table; nothing is late, and with --output the file is replaced as a whole",
            ),
            Paragraph::Text(
                "A row of --mode update has the columns op (upsert, or delete where a row that was written no longer \
                 stands: a session that grew or merged, a row that --having or --top lets go), pane (early, on_time \
                 or late) and revision (0, 1 and so on, of the rows with the same window_start, window_end and keys). \
                 The last row of each is what holds.",
            ),
            item(
                "--trigger count:N",
                "every N used records; with --global, of a key. In --mode update, count:1 is what happens without --trigger",
            ),
            item("--trigger event-time:D", "when the watermark crosses a multiple of D"),
            item("--trigger wall:D", "every D by the wall clock: not the same rows each time"),
            item("--trigger when:EXPR", "when it is true of a key's row, such as when:'count(*) > 100'"),
            Paragraph::Text(
                "A record is taken in, then moves the watermark, then final windows are written, then those of the \
                 trigger, each at most once.",
            ),
        ],
    )
}

fn together() -> Section {
    let mut all = vec![Paragraph::Text(
        "Flags that stand here with no, or without what their letters ask for, are refused before any input is read.",
    )];
    all.extend(modes::table());
    section("WHAT GOES TOGETHER", all)
}

fn types() -> Section {
    section(
        "TYPES",
        vec![Paragraph::Text(
            "A field is typed by the first 1,000 records of each input, or by --schema. One that none of these has is \
             typed by its use: a number beside numbers, a time where a time is taken, else text. An integer field that meets a \
             fraction becomes a double, a key that meets another type becomes text; any other value that does not fit \
             makes a bad record. A field that changes so far down the input is told on stderr: rows written before \
             have the old type, so here alone a run with --delay and one without may write a value differently (1 and \
             1.0). Integers add up exactly, and a sum that does not fit 64 bits is an error. JSON has no NaN or \
             infinity: they are written as null.",
        )],
    )
}

pub(super) fn formats() -> Section {
    let ways = |kind: &crate::format::FormatKind| match (kind.read, kind.write) {
        (Read::No, _) => " (output)",
        (_, None) => " (input)",
        _ => "",
    };
    section("FORMATS", FORMATS.iter().map(|kind| item(kind.name, &format!("{}{}", kind.doc, ways(kind)))).collect())
}

fn account() -> Section {
    section(
        "THE ACCOUNT",
        vec![
            Paragraph::Text(
                "Every record read is counted once, at the first of these that holds, for each input, and the summary \
                 shows that they add up: read = bad + filtered + late + outside + used.",
            ),
            item("bad", "malformed, without a usable time, or with a value that does not fit its column"),
            item("filtered", "--where is not true; it moved the watermark all the same"),
            item("late", "late for all its windows"),
            item("outside", "in no window that --since and --until let be written"),
            item("used", "in at least one row; partially late when it was late for some of its windows"),
            Paragraph::Text(
                "With --since or --until and without --delay, row groups of a Parquet file whose times all lie outside \
                 of what is written are not read. Their records all count as outside, even those that --where would \
                 have filtered or a value would have made bad: results are the same for every format, but how the \
                 unused records are divided is not.",
            ),
            Paragraph::Text(
                "The first bad record stops the run, unless --bad or --max-bad allows it. Late records are dropped, \
                 unless --late keeps them; the files of --bad and --late hold records as they stood, and can be read \
                 as input again.",
            ),
        ],
    )
}

fn summary_file() -> Section {
    section(
        "THE SUMMARY FILE",
        vec![
            Paragraph::Text(
                "--summary FILE writes one JSON object. Fields may be added; a field that changes its meaning raises \
                 version. Instants are RFC 3339 in UTC.",
            ),
            item("version", "1"),
            item("elapsed_seconds", "how long the run took"),
            item(
                "total",
                "the account of all inputs: read, used, filtered, late, bad, duplicate, outside, \
                           partially_late, balances",
            ),
            item(
                "inputs",
                "for each input: name, format, bytes, ledger (as total), time_unit, first_time, last_time, \
                            columns (name, type)",
            ),
            item("watermark, held_by", "the watermark before the end of the input, and the input that held it back"),
            item("left_watermark, right_watermark", "of a join, those of its sides; watermark is then the smaller"),
            item("fired_by_watermark, fired_by_end", "windows written, by what closed them"),
            item("rows", "rows written"),
            item(
                "peak",
                "the most windows, groups and bytes held at a time; of a join the rows that wait, of a dedup the keys, \
                 of a lookup the table's rows",
            ),
            item("unbounded", "why the state could grow with the input, or null"),
            item("heaviest", "the keys with the most records: key, records, and of a join the side"),
            item(
                "costliest",
                "of a join, the keys whose records met the most records of the other side, and how many pairs were \
                 looked at",
            ),
            item(
                "lateness, late",
                "records, p50_seconds, p90_seconds, p99_seconds, p999_seconds, max_seconds: how \
                                    far records, and late records alone, were behind the greatest time before them",
            ),
            item("delay_to_keep_all_seconds", "the --delay that would have kept all late records"),
            item("output_disorder_seconds", "the --delay that a windrow reading this output by window_start needs"),
            item("unfilled_gaps", "gaps between windows of a key that were longer than --fill-max"),
            item("jump", "the record that made many others late: input, record, time, by_seconds, late; or null"),
            item("skewed, idle", "names of inputs set aside by --max-skew and --idle-after"),
            item("warnings", "what needs attention: message, hint"),
        ],
    )
}

pub(super) fn streams() -> Section {
    section(
        "FILES AND STREAMS",
        vec![
            Paragraph::Text(
                "Results go to standard output, or to --output, which appears whole or not at all. All that is for \
                 people goes to standard error: progress and a summary when it is a terminal, elsewhere only what \
                 needs attention, so that cron is silent when all is well. When the reader of the output goes away, as \
                 head does, the run ends quietly.",
            ),
            Paragraph::Text(
                "@FILE among the arguments stands for the flags in FILE: words as in a shell, on any number of lines, \
                 with quotes, backslashes and # comments. Of a flag that is given twice and takes one value, the last \
                 counts.",
            ),
        ],
    )
}

pub(super) fn exit_status() -> Section {
    section(
        "EXIT STATUS",
        vec![
            item("0", "done"),
            item("1", "the run failed; no output file was touched (with --mode complete the last whole table stays)"),
            item("2", "the flags cannot mean anything"),
            item("3", "a bound did not hold: --max-bad, --max-late"),
            item("130, 143", "interrupted, after a clean stop"),
        ],
    )
}

fn examples() -> Section {
    section(
        "EXAMPLES",
        vec![
            Paragraph::Text("Clicks per page and minute, exactly:"),
            code("windrow window clicks.jsonl.gz -t ts --tumbling 1m -g page"),
            Paragraph::Text("In constant memory, with what comes more than a minute late kept aside:"),
            code("zcat clicks.jsonl.gz | windrow window -t ts --tumbling 1m -g page -d 1m --late late.jsonl"),
            Paragraph::Text("Sums in a window of ten minutes that moves by one, as CSV:"),
            code("windrow window sales.parquet -t time --sliding 10m/1m -a 'sum(amount)' -o totals.csv"),
            Paragraph::Text("Visits, as stretches without a break of half an hour:"),
            code("windrow window web*.csv -t time --session 30m -g user -a 'count(*) AS clicks, last(page)'"),
            Paragraph::Text("The share of paying clicks, and the three best pages of each hour:"),
            code("windrow window clicks.jsonl -t ts --tumbling 1h -a 'count(amount) / count(*) AS paying'"),
            code("windrow window clicks.jsonl -t ts --tumbling 1h -g page --top 3 --order-by 'count DESC'"),
            Paragraph::Text("Counts as they grow, corrected for what comes up to ten minutes later still:"),
            code("windrow window clicks.jsonl -t ts --tumbling 1m -d 2s --mode update --allowed-lateness 10m"),
            Paragraph::Text("Days by the clock of Central Europe, from a log that writes times in its own way:"),
            code("windrow window access.csv -t when --tumbling 1d --tz CET --time-format '%d/%b/%Y:%H:%M:%S %z'"),
        ],
    )
}
