//! What help and man pages say of `join`, `lookup` and `dedup` beside the flags: rules, kinds of join, examples.
//!
//! Must not know how it is set, as [`prose`](super::prose) must not. Kinds of join come from their table.

use super::prose::{Paragraph, Section, code, durations, exit_status, formats, item, section, streams};
use crate::pairing::JOINS;

/// The sections at the end of `windrow join --help`.
pub(super) fn join_help() -> Vec<Section> {
    vec![kinds(), columns(), expressions(), durations(), formats(), join_examples()]
}

/// The sections of windrow-join(1).
pub(super) fn join_page() -> Vec<Section> {
    vec![
        matching(),
        kinds(),
        columns(),
        late_and_kept(),
        expressions(),
        durations(),
        formats(),
        streams(),
        exit_status(),
        join_examples(),
    ]
}

/// The sections at the end of `windrow lookup --help`.
pub(super) fn lookup_help() -> Vec<Section> {
    vec![columns(), expressions(), formats(), lookup_examples()]
}

/// The sections of windrow-lookup(1).
pub(super) fn lookup_page() -> Vec<Section> {
    vec![rows_found(), versions(), columns(), expressions(), formats(), streams(), exit_status(), lookup_examples()]
}

/// The sections at the end of `windrow dedup --help`.
pub(super) fn dedup_help() -> Vec<Section> {
    vec![expressions(), durations(), formats(), dedup_examples()]
}

/// The sections of windrow-dedup(1).
pub(super) fn dedup_page() -> Vec<Section> {
    vec![duplicates(), keys_kept(), expressions(), durations(), formats(), streams(), exit_status(), dedup_examples()]
}

fn kinds() -> Section {
    let pairs = JOINS.first().map(|kind| kind.doc).unwrap_or_default();
    let text = |doc: &str| if doc.starts_with("and ") { format!("{pairs}, {doc}") } else { doc.to_owned() };
    let mut all: Vec<_> = JOINS.iter().map(|kind| item(&format!("--how {}", kind.name), &text(kind.doc))).collect();
    all.push(Paragraph::Text(
        "A record that was written in a pair is never written without a partner as well, and one without a partner is \
         written once.",
    ));
    section("KINDS OF JOIN", all)
}

fn matching() -> Section {
    section(
        "WHAT BELONGS TOGETHER",
        vec![
            Paragraph::Text(
                "Two records are a pair when the condition of --on is true of them and their times lie close enough \
                 together. The equalities between the two sides are the keys by which rows are found; a side of one is \
                 any expression over that side's fields. Null equals nothing, so a record with a null key has no \
                 partner. Whatever else stands in --on is tried for each two records with equal keys: a record for \
                 which it is true of none has no partner.",
            ),
            Paragraph::Text(
                "With --within LO..HI the right record's time lies between the left one's time plus LO and plus HI, \
                 both included: 0s..30m is up to half an hour after it, -5m..5m five minutes on either side. A round \
                 bracket leaves an end out: '[0s..30m)'.",
            ),
            Paragraph::Text(
                "With --window SIZE both lie in the same window, as of windrow-window(1) --tumbling, with --offset, \
                 --week-start and --tz as there. Rows begin with window_start and window_end.",
            ),
            Paragraph::Text(
                "One of the two is needed: where keys alone decide, a row could never be forgotten, as a partner might \
                 still come.",
            ),
            Paragraph::Text(
                "For each event the one row that is nearest in time, as an ASOF join has it, is what windrow-lookup(1) \
                 finds with --as-of.",
            ),
            Paragraph::Text(
                "Both sides are read by event time. A pair is written when its second record is read, a record without \
                 a partner as soon as none can come. The same input and flags give the same bytes.",
            ),
        ],
    )
}

fn columns() -> Section {
    section(
        "COLUMNS",
        vec![Paragraph::Text(
            "A row has the left record's fields and then the right one's; those of a record that is not there are \
             null. Names that both have get --left-prefix (none) and --right-prefix (right_) in front. --select writes \
             a list of expressions instead, over fields with l. or r. in front: 'l.id, r.price * l.n AS total'; a name \
             without AS is the field's own. l.* stands for all fields of the left record, r.* for those of the right \
             and * for both; 'l.* EXCLUDE (a, b)' leaves some out.",
        )],
    )
}

fn late_and_kept() -> Section {
    section(
        "WHAT IS LATE, AND HOW LONG ROWS ARE KEPT",
        vec![
            Paragraph::Text(
                "Each side has its own watermark, by its own --delay, over its own inputs, as windrow-window(1) has \
                 it. With --within a record that is behind it is late; with --window a record is late once its \
                 window's end has been reached. A late record is counted, kept by --late, and never in the output. \
                 Without --delay nothing is late.",
            ),
            Paragraph::Text(
                "A left row is forgotten once the right side's watermark is past its time plus HI, a right row once \
                 the left side's is past its time less LO; with --window, once the other side's has reached the \
                 window's end. If it found no partner it is written at that moment, where the kind of join has such \
                 rows. So what is held is bounded by the interval and the delay: it is what may still find a partner, \
                 and at most about as much again that is not cleared away yet. A side without a delay reaches its end \
                 first.",
            ),
            Paragraph::Text(
                "--join-watermark min or max makes both sides go by the smaller or the greater of the two watermarks, \
                 for lateness and for forgetting. Which records are late then depends on how the two sides are read \
                 together.",
            ),
            Paragraph::Text(
                "Flags of time, lateness and input serve both sides; with left- or right- in front of their names they \
                 serve that side instead: --left-time ts --right-time clicked_at, --right-delay 1h.",
            ),
        ],
    )
}

fn expressions() -> Section {
    section(
        "EXPRESSIONS",
        vec![Paragraph::Text(
            "Conditions, keys and columns are SQL expressions with the operators and functions that windrow-window(1) \
             lists. A name is a field of the record: a.b reaches into nested records, items[0].sku into arrays, and an \
             odd name stands in double quotes: \"user-agent\".",
        )],
    )
}

fn rows_found() -> Section {
    section(
        "WHICH ROW IS FOUND",
        vec![
            Paragraph::Text(
                "A row of the table belongs to an event when all keys of --on are equal. Null equals nothing. Two rows \
                 of the table with the same keys are an error, unless --first takes the first of them or --all every \
                 one. An event for which there is no row is written with nulls, or not at all with --how inner; --how anti \
                 writes these events alone, without columns of the table. A row for which --table-where is not true is \
                 not in the table.",
            ),
            Paragraph::Text(
                "The table is held in memory as a whole; events are not, and are written in the order they are read. \
                 Without --as-of no event time is needed. --bad keeps malformed events; a malformed row of the \
                 table stops the run, unless --max-bad allows for it.",
            ),
        ],
    )
}

fn versions() -> Section {
    section(
        "AS OF A TIME",
        vec![
            Paragraph::Text(
                "With --as-of the table has a row for each version, from the time in that field on. An event finds one \
                 of the rows with its keys by its own time, --time:",
            ),
            item("--direction backward", "the newest that is not after it; of equally old ones the last in the table"),
            item("--direction forward", "the oldest that is not before it; of equally old ones the first"),
            item("--direction nearest", "the closer of both, and backward if both are as close"),
            Paragraph::Text(
                "--tolerance D leaves out rows that are further than D from the event. A row for which --delete-when \
                 is true ends the version before it and is none itself.",
            ),
        ],
    )
}

fn duplicates() -> Section {
    section(
        "WHAT IS A DUPLICATE",
        vec![
            Paragraph::Text(
                "The first event of each key is written as it was, in the order in which events are read; later ones \
                 with equal keys are duplicates. Without --by the whole record as it stands is the key. An event whose \
                 keys are all null is never a duplicate.",
            ),
            Paragraph::Text(
                "An output in the format of the inputs, which have to have one header too, holds the records byte for \
                 byte. In another format they are written anew, column by column: 9.00 may become 9.0, and a time has \
                 as many digits as it needs.",
            ),
            Paragraph::Text(
                "With --within D an event is a duplicate only if its time is at most D from that of an event with the \
                 same keys that was written. It is one also when it is behind the watermark, so what is delivered \
                 again is not counted as late.",
            ),
            Paragraph::Text("--duplicates keeps duplicates in the input's own format, so that they can be read again."),
        ],
    )
}

fn keys_kept() -> Section {
    section(
        "HOW LONG KEYS ARE KEPT",
        vec![Paragraph::Text(
            "Keys are kept to the end of the input, unless both --within and --delay are given: a key is then \
             forgotten once the watermark is past the time of its event by more than --within, and an event that is \
             behind the watermark and no duplicate is late. The watermark is as windrow-window(1) has it.",
        )],
    )
}

fn join_examples() -> Section {
    section(
        "EXAMPLES",
        vec![
            Paragraph::Text("Advertisements and the clicks on them up to half an hour later:"),
            code("windrow join ads.jsonl hits.jsonl -t ts --on 'l.id = r.ad' --within 0s..30m"),
            Paragraph::Text("Those that nobody clicked, each as soon as that is sure:"),
            code("windrow join ads.jsonl hits.jsonl -t ts -d 1m --on 'l.id = r.ad' --within 0s..30m --how anti"),
            Paragraph::Text("In each hour, who clicked what:"),
            code("windrow join ads.jsonl hits.jsonl -t ts --on 'l.id = r.ad' --window 1h --select 'r.user, l.name'"),
            Paragraph::Text("Clicks of a user within ten seconds of each other, from one file:"),
            code("windrow join clicks.jsonl clicks.jsonl -t ts --on user --within '(0s..10s]'"),
            Paragraph::Text("Sides that call the time differently:"),
            code("windrow join web1.csv hits.jsonl --left-time time --right-time ts --on user --within 0s..1h"),
        ],
    )
}

fn lookup_examples() -> Section {
    section(
        "EXAMPLES",
        vec![
            Paragraph::Text("Clicks with the country of the user:"),
            code("windrow lookup clicks.jsonl --table users.csv --on user"),
            Paragraph::Text("Only those of known users, and the columns that matter:"),
            code("windrow lookup clicks.jsonl --table users.csv --on user --how inner --select 'l.ts, r.country'"),
            Paragraph::Text("Orders at the rate that was in force when they were made:"),
            code("windrow lookup orders.csv -t time --table rates.csv --on shop --as-of valid_from --bad bad.csv"),
        ],
    )
}

fn dedup_examples() -> Section {
    section(
        "EXAMPLES",
        vec![
            Paragraph::Text("Records that stand twice in a log, as they are:"),
            code("cat clicks.jsonl clicks.jsonl | windrow dedup"),
            Paragraph::Text("One click per user, page and ten seconds, in memory that does not grow:"),
            code("windrow dedup clicks.jsonl --by 'user, page' -t ts --within 10s --delay 1m"),
            Paragraph::Text("The first click of each user, with the others kept aside:"),
            code("windrow dedup clicks.jsonl --by user --duplicates others.jsonl -o first.jsonl"),
        ],
    )
}
