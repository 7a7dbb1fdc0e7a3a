//! windrow: watermarked windows, sessions and interval joins over event files, from the shell.
//!
//! This page is the architecture: how data flows, who may know what, and what stops the design from going faster.
//!
//! # The flow
//!
//! ```text
//! bytes -> format -> computed columns -> merge -> clock -> EventBatch (+ marks per row) -> operator -> RecordBatch -> format -> atomic file
//!          (several threads, in order)                                                      \-> late rows -> side file
//! ```
//!
//! Nothing points back. The loop is in [`run`]; it reads like the line above:
//!
//! 1. [`cli`] turns what was typed into a [`plan::Plan`], plain data, before anything is opened.
//! 2. [`input::prepare`] opens the inputs and looks at their first records; [`bind`] turns names into columns with
//!    types, finds what is computed of them, and makes the operator.
//! 3. [`input::Merge`] hands over rows of all inputs in one order that depends on the data alone. Chunks are decoded
//!    by whatever thread is free, and there the event time, conditions, keys and arguments are computed
//!    ([`format::Derive`]); all of it is a pure function of a chunk and a [`schema::Layout`]. A record for which an
//!    expression fails is a bad record, as one that cannot be read.
//! 4. [`clock::Clock`] stamps each row with the watermarks in force before it.
//! 5. An [`operator::Operator`] takes the batch in, passes over rows that are not selected, tells late rows, and gives
//!    out what has become final (or has changed, where results update). [`operator::Finish`] makes the rows that are
//!    shown of what the aggregates came to.
//! 6. [`output`] encodes and writes beside the loop, and makes all files of a job appear together at the end.
//!
//! A join has two of everything up to the operator: each side has its merge, its clock and its account.
//! [`input::Sides`] puts the two merges in one order, again by the data alone, and hands over rows of both sides with the
//! order of their runs ([`event::TwoSided`]), so [`operator::Join`] goes through them record by record without a batch
//! of its own for each run. A lookup reads its table to the end first. Jobs that write whole records ask for all fields
//! ([`schema::Role::Whole`]) once the first look at the inputs has told their names; a dedup whose output has the format
//! of its input asks for nothing but its keys and passes the bytes on.
//!
//! # The rooms
//!
//! | room | is about | must never know |
//! |---|---|---|
//! | [`time`] | instants, spans, zones, calendars | batches, files, flags, the wall clock |
//! | [`schema`] | which fields a job uses, and their types | files, windows, flags |
//! | [`json`] | columns of JSON texts, and other columns as such | records, formats |
//! | [`event`], [`clock`] | events and the marks they are judged by | windows, operators |
//! | [`keys`] | key columns as ordered bytes | windows, files |
//! | [`expr`] | SQL text to trees, trees to bound expressions, and their values over columns | windows, files |
//! | [`aggregate`] | functions: state indexed by slot | windows, keys, time, files |
//! | [`window`] | which windows an instant lies in | rows, keys, aggregates |
//! | [`pairing`] | which instants of two sides belong together, and the kinds of join | rows, keys |
//! | [`operator`] | windows, sessions, joins, lookups and dedup over marked events | formats, files, flags, the wall clock |
//! | [`format`](mod@format) | bytes to columns and back, no IO | files, watermarks, operators |
//! | [`input`] | sources, threads, the merge | watermarks, operators |
//! | [`output`] | atomic files, pipes, side files | operators, windows |
//! | [`report`] | summary, warnings, progress; the only writer to stderr | arrow values |
//! | [`cli`] | the only place where a flag is spelled | record batches |
//! | [`run`] | the loop and the account | names of formats, windows, flags |
//!
//! `tests/arch.rs` holds the `crate::` uses of each room against this table.
//!
//! # Why results cannot depend on batches, threads or read sizes
//!
//! Every row carries the marks that were in force before it ([`event::Marks`]), so whether it is late is decided by
//! the rows before it alone. What is final is decided by window ends, and fired windows are ordered by (end, start,
//! key), so firing once behind a batch writes the same bytes as firing behind each record. Sums of doubles are exact
//! ([`aggregate`]), so their order does not matter. Where types change in the middle of the input, batches are cut at
//! that record. Random small jobs are held against a slow model in `tests/oracle.rs`.
//!
//! # A new kind of ...
//!
//! - window: one file in `window/` and its line in [`window::WINDOWS`];
//! - aggregate: one file in `aggregate/` and its line in [`aggregate::AGGREGATES`];
//! - function: a row in its family's table [`expr::functions::FUNCTIONS`];
//! - format: one folder in `format/` and its line in [`format::FORMATS`];
//! - join: a row of [`pairing::JOINS`];
//! - job: an [`operator::Operator`], its columns in `bind/`, a command in `cli/` and a few lines in [`run`].
//!
//! # Where time goes, and 16 or 64 cores
//!
//! Of the main job over JSONL (260 ns of CPU a record of 293 bytes, 10 million records, 1,000 keys, `perf record` on an
//! AMD EPYC) the kernel's copy is about 45 ns and scanning, checking and column building about 150; any number of
//! threads do these at once, and a chunk is handed over as a pointer. Writing has a thread of its own. What remains in
//! order on one thread is stamping, finding groups and adding: a tenth of the samples, 30 to 40 ns a row. So the ordered
//! stage should stop the whole at about 25 million rows a second, which takes some six to eight cores of decoding;
//! beyond them, more threads only wait. Only two cores were at hand: what goes beyond them is reckoned, not measured.
//!
//! The next steps, in order: encode and hash keys where chunks are decoded (they are pure functions of a batch). Then
//! split the ordered stage itself by key: marks are computed once per batch (3 ns a row, still in order), each of k
//! operators takes the rows of its share of the keys (by hash) and fires at the same marks, and their outputs, each
//! ordered by (end, start, key), are merged. No operator changes for that: it sees a batch with fewer rows. Jobs without
//! keys are served by partial aggregates per chunk instead, which [`aggregate::Accumulator::merge`] allows since it is
//! associative and commutative. At 64 cores the limit is then the reading of one file under its lane's lock (some 7 GB/s
//! out of the page cache; one gzip or zstd stream is decompressed by one core at well under 1 GB/s, which no number of
//! cores can help) and, beyond that, memory bandwidth.

pub mod account;
pub mod aggregate;
pub mod bind;
pub mod cli;
pub mod clock;
pub mod error;
pub mod event;
pub mod expr;
pub mod format;
pub mod input;
pub mod json;
pub mod keys;
pub mod operator;
pub mod output;
pub mod pairing;
pub mod panics;
pub mod plan;
pub mod report;
pub mod run;
pub mod schema;
pub mod signals;
pub mod time;
pub mod window;
