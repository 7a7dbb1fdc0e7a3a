//! Several inputs as one sequence: the next record is the one that moves its input's progress least far.
//!
//! Progress is the greatest event time an input has delivered, so ten hosts' logs of one day and ten days' rotated
//! logs both come out with every input about equally far. It is the progress *after* the record that counts: going by
//! the progress before it, an input would be read across a quiet night that all of them share while others still have
//! records of the evening, and would seem to have left those behind.
//!
//! The order depends on the records alone: an input's turn is decided record by record, and chunks only decide how
//! much is copied at once. Consecutive records of one input are handed on without a copy; short runs of several are
//! gathered into one batch.

use super::pool::{Chunk, Piece, Pool, Taken};
use crate::clock::Greatest;
use crate::error::{Error, Result};
use crate::event::{Position, Positions, Raw, Times};
use crate::format::{BadRecord, Before, Rows, Unlisted, lines_of};
use crate::schema::{FieldType, Layout};
use crate::time::{Ts, Unit};
use arrow::array::{ArrayRef, AsArray, RecordBatch};
use arrow::buffer::BooleanBuffer;
use arrow::compute::{cast, interleave};
use arrow::datatypes::{DataType, Field, Schema, TimestampMicrosecondType};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::OnceLock;
use std::time::Instant;

/// Short runs are gathered up to this many rows.
const BLOCK: usize = 8_192;

/// A run at least this long is handed on by itself, without a copy.
const LONG_RUN: usize = 1_024;

/// Unlisted fields told of one input at most.
const MOST_UNLISTED: usize = 100;

/// The column of the event time: the first of every job.
const TIME: usize = 0;

/// What comes next of all inputs.
pub enum Item {
    /// Rows, in merge order.
    Rows(Merged),
    /// A record that could not become a row.
    Bad(BadItem),
    /// Records that were not read because they cannot matter (their times lie outside of the range asked for): input and number.
    Skipped(usize, u64),
    /// The columns of the rows to come have other types.
    Types {
        /// The types of all columns.
        types: Vec<FieldType>,
        /// The input whose record made it so.
        input: usize,
        /// That record's number in it, from 1.
        record: u64,
    },
    /// An input has ended.
    Finished(usize),
    /// Nothing: somebody may still write the next record, and the caller does not wait any longer.
    Waiting,
}

/// Rows of one or several inputs.
pub struct Merged {
    /// The job's columns.
    pub rows: RecordBatch,
    /// The event times.
    pub times: Times,
    /// Each row's place among all records.
    pub positions: Positions,
    /// The rows to be used, if not all are.
    pub selected: Option<BooleanBuffer>,
    /// Which inputs' records stand where.
    runs: Vec<Run>,
}

/// Consecutive rows of one decoded batch.
struct Run {
    input: usize,
    source: Arc<Source>,
    start: usize,
    len: usize,
}

/// A decoded batch and where it came from.
struct Source {
    rows: Rows,
    first_record: u64,
    first_line: u64,
    /// The lines of its rows within the piece, once somebody asked.
    lines: OnceLock<Vec<u32>>,
}

/// A bad record, whole.
pub struct BadItem {
    /// Its input's index.
    pub input: usize,
    /// Its line in the input (from 1; of a columnar format: its row).
    pub line: u64,
    /// What is wrong with it.
    pub message: String,
    /// As it stood.
    pub raw: RawRecord,
}

/// One record as it stood in its input.
#[derive(Clone, Debug)]
pub enum RawRecord {
    /// Its bytes, without the line end.
    Text(Vec<u8>),
    /// Its whole row.
    Row(RecordBatch),
    /// Not kept.
    None,
}

/// Where a row came from.
pub struct Origin<'a> {
    /// Its input's index.
    pub input: usize,
    source: &'a Source,
    row: usize,
}

impl Origin<'_> {
    /// The record of a text format as it stood.
    pub fn text(&self) -> Option<&[u8]> {
        match &self.source.rows.raw {
            Raw::Text(chunk, spans) => {
                let (start, end) = spans[self.row];
                Some(&chunk[start as usize..end as usize])
            }
            Raw::Rows(_) | Raw::None => None,
        }
    }

    /// The record as it stood.
    pub fn raw(&self) -> RawRecord {
        match &self.source.rows.raw {
            Raw::Text(chunk, spans) => {
                let (start, end) = spans[self.row];
                RawRecord::Text(chunk[start as usize..end as usize].to_vec())
            }
            Raw::Rows(rows) => RawRecord::Row(rows.slice(self.row, 1)),
            Raw::None => RawRecord::None,
        }
    }

    /// Its line in the input (from 1; of a columnar format: its row).
    pub fn line(&self) -> u64 {
        match &self.source.rows.raw {
            Raw::Text(chunk, spans) => {
                let lines = self.source.lines.get_or_init(|| lines_of(chunk, spans));
                self.source.first_line + u64::from(lines[self.row]) + 1
            }
            _ => self.source.first_record + u64::from(self.source.rows.record(self.row)) + 1,
        }
    }
}

/// A lane's batch at hand and how far it was taken.
struct Head {
    source: Arc<Source>,
    row: usize,
    bad: usize,
}

struct LaneState {
    /// The layout behind the piece at hand.
    layout: Arc<Layout>,
    /// The layout before it.
    decoded_with: Arc<Layout>,
    head: Option<Head>,
    /// Batches of the piece at hand behind the head.
    batches: VecDeque<Rows>,
    /// What the piece at hand was decoded from, to decode it again when the types change.
    chunk: Option<Chunk>,
    /// Records and lines of this input before the piece at hand.
    records: u64,
    lines: u64,
    /// Records and lines of the piece at hand.
    piece_records: u64,
    piece_lines: u64,
    greatest: Greatest,
    /// Fields that its layout does not list though it is meant to list all, with the lines (from 1) they came first.
    unlisted: Vec<(String, u64)>,
}

/// All inputs, merged.
pub struct Merge {
    pool: Pool,
    lanes: Vec<LaneState>,
    types: Vec<FieldType>,
    concat: bool,
    /// Unfinished inputs by the progress their next record makes (at least: what is not read yet is not known), then
    /// order on the command line.
    turns: BinaryHeap<Reverse<(Ts, usize)>>,
    /// What was found while a block was being gathered.
    next: VecDeque<Item>,
}

/// What stopped a lane's turn.
enum Stop {
    /// Another input is behind it now, or the block is full.
    Turn,
    /// Something must be told before the next row.
    Told,
    /// It has ended.
    Ended,
    /// It gave nothing until the deadline.
    Waiting,
}

/// What a lane has to offer.
enum Ahead {
    Record,
    End,
    /// Nobody knows yet.
    Unknown,
}

impl Merge {
    /// Merges the pool's lanes, whose layouts agree on the types. `first_lines[i]`: lines of input i before its first
    /// record. `outliers` greatest times do not count as progress. `concat`: one input after the other instead.
    pub(super) fn new(
        pool: Pool,
        layouts: Vec<Arc<Layout>>,
        first_lines: &[u64],
        outliers: usize,
        concat: bool,
    ) -> Self {
        let types = layouts[0].types();
        let lane = |(layout, &lines): (Arc<Layout>, &u64)| LaneState {
            decoded_with: Arc::clone(&layout),
            layout,
            head: None,
            batches: VecDeque::new(),
            chunk: None,
            records: 0,
            lines,
            piece_records: 0,
            piece_lines: 0,
            greatest: Greatest::new(outliers),
            unlisted: Vec::new(),
        };
        let turns = (0..layouts.len()).map(|i| Reverse((Ts::MIN, i))).collect();
        let lanes = layouts.into_iter().zip(first_lines).map(lane).collect();
        Self { pool, lanes, types, concat, turns, next: VecDeque::new() }
    }

    /// The unit in which each input's time numbers are read, as far as one was said or found.
    pub fn units(&self) -> impl Iterator<Item = Option<Unit>> {
        self.lanes.iter().map(|lane| lane.layout.time_reader.unit)
    }

    /// Fields that the layouts do not list though they are [meant to list all](Layout::names_all), of the pieces taken
    /// so far: each name once, by the input and the line (from 1) that had it first.
    pub fn unlisted(&self) -> Vec<(&str, usize, u64)> {
        let mut told = HashSet::new();
        let lanes = self.lanes.iter().enumerate();
        let all = lanes.flat_map(|(input, lane)| lane.unlisted.iter().map(move |(name, line)| (&**name, input, *line)));
        all.filter(|(name, ..)| told.insert(*name)).collect()
    }

    /// The next item, or none when all inputs have ended. With a deadline an input that gives nothing is not waited for
    /// any longer than until then.
    pub fn next_item(&mut self, deadline: Option<Instant>) -> Result<Option<Item>> {
        if let Some(item) = self.next.pop_front() {
            return Ok(Some(item));
        }
        let mut block: Vec<Run> = Vec::new();
        let mut rows = 0;
        while let Some(Reverse((least, lane))) = self.turns.pop() {
            if !block.is_empty() && !self.lanes[lane].has_record() {
                // What was gathered does not wait for a piece that somebody may still have to write.
                self.turns.push(Reverse((least, lane)));
                break;
            }
            let (run, stop) = self.turn(lane, BLOCK - rows, deadline)?;
            if matches!(stop, Stop::Waiting) {
                self.turns.push(Reverse((least, lane)));
                return Ok(Some(self.next.pop_front().unwrap_or(Item::Waiting)));
            }
            let long = run.as_ref().is_some_and(|run| run.len >= LONG_RUN);
            if let Some(run) = run {
                rows += run.len;
                block.push(run);
            }
            if matches!(stop, Stop::Ended) {
                self.next.push_back(Item::Finished(lane));
            } else {
                let progress = if self.concat { Ts::MIN } else { self.lanes[lane].next_progress() };
                self.turns.push(Reverse((progress, lane)));
            }
            if !self.next.is_empty() || long || rows >= BLOCK {
                break;
            }
        }
        if !block.is_empty() {
            let merged = Item::Rows(self.gather(block)?);
            return Ok(Some(merged));
        }
        Ok(self.next.pop_front())
    }

    /// Takes rows of a lane until another input's next record comes first, at most about `most` if there are others.
    fn turn(&mut self, lane: usize, most: usize, deadline: Option<Instant>) -> Result<(Option<Run>, Stop)> {
        match self.ensure_head(lane, deadline)? {
            Ahead::Record => {}
            Ahead::End => return Ok((None, Stop::Ended)),
            Ahead::Unknown => return Ok((None, Stop::Waiting)),
        }
        if !self.next.is_empty() || self.tell(lane)? {
            return Ok((None, Stop::Told));
        }
        let limit = self.turns.peek().map(|turn| turn.0).filter(|_| !self.concat);
        let state = &mut self.lanes[lane];
        let Some(head) = &mut state.head else { return Ok((None, Stop::Turn)) };
        let start = head.row;
        let until = head.source.rows.bad.get(head.bad).map_or(head.source.rows.times.len(), |bad| bad.before_row);
        match limit {
            None => head.row = until,
            Some(limit) => {
                while head.row < until && head.row - start < most.max(1) {
                    let ts = head.source.rows.times.get(head.row);
                    if (state.greatest.with(ts), lane) > limit {
                        break;
                    }
                    state.greatest.observe(ts);
                    head.row += 1;
                }
            }
        }
        let run = Run { input: lane, source: Arc::clone(&head.source), start, len: head.row - start };
        Ok(((run.len > 0).then_some(run), Stop::Turn))
    }

    /// Makes sure that a lane has a record at hand, unless it has ended or the deadline has come.
    fn ensure_head(&mut self, lane: usize, deadline: Option<Instant>) -> Result<Ahead> {
        loop {
            let state = &mut self.lanes[lane];
            if state.has_record() {
                return Ok(Ahead::Record);
            }
            if let Some(rows) = state.batches.pop_front() {
                state.set_head(rows);
                continue;
            }
            state.leave_piece();
            let layout = Arc::clone(&state.layout);
            let before = Before { lines: state.lines, records: state.records };
            let piece = match self.pool.take(lane, &layout, before, deadline)? {
                Taken::Piece(piece) => piece,
                Taken::End => return Ok(Ahead::End),
                Taken::Nothing => return Ok(Ahead::Unknown),
            };
            self.lanes[lane].decoded_with = layout;
            self.enter_piece(lane, piece);
        }
    }

    fn enter_piece(&mut self, lane: usize, piece: Piece) {
        let state = &mut self.lanes[lane];
        state.piece_records = piece.decoded.records;
        state.piece_lines = piece.decoded.lines;
        let told: u64 = piece.decoded.batches.iter().map(|b| (b.times.len() + b.bad.len()) as u64).sum();
        if told == 0 && piece.decoded.records > 0 {
            self.next.push_back(Item::Skipped(lane, piece.decoded.records));
        }
        state.note_unlisted(piece.decoded.unlisted);
        state.batches = piece.decoded.batches.into();
        state.chunk = Some(piece.chunk);
        if let Some(layout) = piece.decoded.layout {
            state.layout = Arc::clone(&layout);
            self.pool.set_layout(lane, layout);
        }
    }

    /// Queues what must be told before the lane's next row: other types, a bad record. Whether there was something.
    fn tell(&mut self, lane: usize) -> Result<bool> {
        self.agree_on_types(lane)?;
        let state = &mut self.lanes[lane];
        let chunk = state.chunk.as_ref();
        if let Some(head) = &mut state.head
            && let Some(bad) = head.source.rows.bad.get(head.bad).filter(|bad| bad.before_row <= head.row)
        {
            let item = head.source.bad_item(lane, bad, chunk);
            head.bad += 1;
            self.next.push_back(Item::Bad(item));
        }
        Ok(!self.next.is_empty())
    }

    /// A lane's turn has come: either its batch has wider types, which all take over, or it is decoded again with
    /// those that others have made wider since.
    fn agree_on_types(&mut self, lane: usize) -> Result<()> {
        let Some(head) = &self.lanes[lane].head else { return Ok(()) };
        let found = self.types_of(&head.source.rows);
        if found == self.types {
            return Ok(());
        }
        let wider: Vec<FieldType> = self.types.iter().zip(&found).map(|(a, b)| a.unify(*b)).collect();
        if wider != self.types {
            self.types = wider.clone();
            let record = head.source.first_record + u64::from(head.record()) + 1;
            self.next.push_back(Item::Types { types: wider, input: lane, record });
            (0..self.lanes.len()).for_each(|i| self.widen_lane(i));
        }
        if found != self.types { self.decode_again(lane) } else { Ok(()) }
    }

    /// The types of the fields that a batch was made of. Every event time is of one type.
    fn types_of(&self, rows: &Rows) -> Vec<FieldType> {
        match &rows.types {
            Some(types) => types.to_vec(),
            None => {
                let mut types = rows.field_types();
                types[TIME] = self.types[TIME];
                types
            }
        }
    }

    fn widen_lane(&mut self, lane: usize) {
        let state = &mut self.lanes[lane];
        let layout = with_types(&state.layout, &self.types);
        if layout.types() != state.layout.types() {
            state.layout = Arc::new(layout);
            self.pool.set_layout(lane, Arc::clone(&state.layout));
        }
    }

    /// Decodes the piece at hand again and goes to where it was.
    fn decode_again(&mut self, lane: usize) -> Result<()> {
        let state = &self.lanes[lane];
        let (Some(chunk), Some(head)) = (&state.chunk, &state.head) else { return Ok(()) };
        let record = head.record();
        let layout = with_types(&state.decoded_with, &self.types);
        let before = Before { lines: state.lines, records: state.records };
        let decoded = self.pool.decode(lane, chunk, &layout, before)?;
        let state = &mut self.lanes[lane];
        state.batches = decoded.batches.into();
        state.head = None;
        while let Some(rows) = state.batches.pop_front() {
            state.set_head(rows);
            if let Some(head) = &mut state.head {
                head.skip_to(record);
                if !head.is_spent() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// One batch of runs: a slice of one, or the rows of several put side by side.
    fn gather(&self, runs: Vec<Run>) -> Result<Merged> {
        if let [run] = runs.as_slice() {
            let rows = run.source.rows.columns.slice(run.start, run.len);
            let times = run.source.rows.times.slice(run.start, run.len);
            let positions = run.positions();
            let selected = run.source.rows.selected.as_ref().map(|all| all.slice(run.start, run.len));
            return Ok(Merged { rows, times, positions, selected, runs });
        }
        let rows = self.interleaved(&runs)?;
        let times = Times::new(rows.column(TIME).as_primitive::<TimestampMicrosecondType>().values().clone());
        let each = runs.iter().flat_map(|run| (0..run.len).map(|i| run.position(i)));
        let positions = Positions::Each(each.collect());
        let selected = selected_of(&runs);
        Ok(Merged { rows, times, positions, selected, runs })
    }

    fn interleaved(&self, runs: &[Run]) -> Result<RecordBatch> {
        let mut sources: Vec<&Arc<Source>> = Vec::new();
        let mut indices = Vec::new();
        let mut at_of: Vec<(usize, usize)> = Vec::new();
        for run in runs {
            let pointer = Arc::as_ptr(&run.source).addr();
            let at = match at_of.iter().find(|(known, _)| *known == pointer) {
                Some((_, at)) => *at,
                None => {
                    sources.push(&run.source);
                    at_of.push((pointer, sources.len() - 1));
                    sources.len() - 1
                }
            };
            indices.extend((run.start..run.start + run.len).map(|row| (at, row)));
        }
        let put = |e: arrow::error::ArrowError| Error::failed(format!("cannot merge rows of several inputs: {e}"));
        let columns = (0..sources[0].rows.columns.num_columns()).map(|i| {
            let parts: Vec<ArrayRef> = sources.iter().map(|source| plain(source.rows.columns.column(i))).collect();
            let parts: Vec<&dyn arrow::array::Array> = parts.iter().map(|part| part.as_ref()).collect();
            interleave(&parts, &indices)
        });
        let columns: Vec<ArrayRef> = columns.collect::<Result<_, _>>().map_err(put)?;
        let names = sources[0].rows.columns.schema();
        let fields = names.fields().iter().zip(&columns);
        let fields = fields.map(|(f, c)| Field::new(f.name(), c.data_type().clone(), f.is_nullable()));
        RecordBatch::try_new(Arc::new(Schema::new(fields.collect::<Vec<_>>())), columns).map_err(put)
    }
}

/// The selected rows of several runs, unless all are.
fn selected_of(runs: &[Run]) -> Option<BooleanBuffer> {
    runs.iter().any(|run| run.source.rows.selected.is_some()).then(|| {
        let each = runs.iter().flat_map(|run| {
            let selected = run.source.rows.selected.as_ref();
            (run.start..run.start + run.len).map(move |row| selected.is_none_or(|all| all.value(row)))
        });
        each.collect()
    })
}

/// A layout whose columns are at least as wide as `types`.
fn with_types(layout: &Layout, types: &[FieldType]) -> Layout {
    let mut layout = layout.clone();
    layout.columns.iter_mut().zip(types).for_each(|(column, ty)| column.ty = column.ty.unify(*ty));
    layout
}

/// A column without its dictionary: parts of several inputs have to be of one type.
fn plain(column: &ArrayRef) -> ArrayRef {
    match column.data_type() {
        DataType::Dictionary(_, values) => cast(column, values).unwrap_or_else(|_| Arc::clone(column)),
        _ => Arc::clone(column),
    }
}

impl LaneState {
    /// Keeps what a piece, whose lines follow those before it, has of fields that are not listed.
    fn note_unlisted(&mut self, found: Vec<Unlisted>) {
        for Unlisted { name, line } in found {
            if self.unlisted.len() < MOST_UNLISTED && !self.unlisted.iter().any(|(known, _)| *known == name) {
                self.unlisted.push((name, self.lines + line + 1));
            }
        }
    }

    fn set_head(&mut self, rows: Rows) {
        let source = Source { rows, first_record: self.records, first_line: self.lines, lines: OnceLock::new() };
        self.head = Some(Head { source: Arc::new(source), row: 0, bad: 0 });
    }

    /// Whether a record is at hand.
    fn has_record(&self) -> bool {
        self.head.as_ref().is_some_and(|head| !head.is_spent())
    }

    /// The progress after the next record, as far as that is known; a bad record makes none.
    fn next_progress(&self) -> Ts {
        let Some(head) = &self.head else { return self.greatest.get() };
        let bad_first = head.source.rows.bad.get(head.bad).is_some_and(|bad| bad.before_row <= head.row);
        match head.row < head.source.rows.times.len() && !bad_first {
            true => self.greatest.with(head.source.rows.times.get(head.row)),
            false => self.greatest.get(),
        }
    }

    fn leave_piece(&mut self) {
        self.head = None;
        self.chunk = None;
        self.records += std::mem::take(&mut self.piece_records);
        self.lines += std::mem::take(&mut self.piece_lines);
    }
}

impl Head {
    fn is_spent(&self) -> bool {
        self.row == self.source.rows.times.len() && self.bad == self.source.rows.bad.len()
    }

    /// The number, within the piece, of the next record that is a row or bad.
    fn record(&self) -> u32 {
        let rows = &self.source.rows;
        let row = (self.row < rows.times.len()).then(|| rows.record(self.row));
        let bad = rows.bad.get(self.bad).map(|bad| bad.record);
        row.into_iter().chain(bad).min().unwrap_or(u32::MAX)
    }

    fn skip_to(&mut self, record: u32) {
        let rows = &self.source.rows;
        while self.row < rows.times.len() && rows.record(self.row) < record {
            self.row += 1;
        }
        self.bad = rows.bad.iter().take_while(|bad| bad.record < record).count();
    }
}

impl Run {
    fn position(&self, row: usize) -> Position {
        let record = self.source.rows.record(self.start + row);
        Position::new(self.input, self.source.first_record + u64::from(record))
    }

    fn positions(&self) -> Positions {
        match self.source.rows.records {
            None => Positions::Run(self.position(0)),
            Some(_) => Positions::Each((0..self.len).map(|row| self.position(row)).collect()),
        }
    }
}

impl Source {
    fn bad_item(&self, input: usize, bad: &BadRecord, chunk: Option<&Chunk>) -> BadItem {
        let raw = match (chunk, &bad.row) {
            (_, Some(row)) => RawRecord::Row(row.clone()),
            (Some(Chunk::Text(bytes)), None) => RawRecord::Text(bytes[bad.bytes.clone()].to_vec()),
            _ => RawRecord::None,
        };
        BadItem { input, line: self.first_line + bad.line + 1, message: bad.message.clone(), raw }
    }
}

impl Merged {
    /// Whether all rows are of one input, and which.
    pub fn only_input(&self) -> Option<usize> {
        let first = self.runs.first()?.input;
        self.runs.iter().all(|run| run.input == first).then_some(first)
    }

    /// Rows `start .. start + len` of these.
    #[must_use]
    pub fn slice(&self, start: usize, len: usize) -> Self {
        let mut runs = Vec::new();
        let mut before = 0;
        for run in &self.runs {
            let (from, to) = (start.max(before), (start + len).min(before + run.len));
            if from < to {
                let source = Arc::clone(&run.source);
                runs.push(Run { input: run.input, source, start: run.start + from - before, len: to - from });
            }
            before += run.len;
        }
        Self {
            rows: self.rows.slice(start, len),
            times: self.times.slice(start, len),
            positions: self.positions.slice(start, len),
            selected: self.selected.as_ref().map(|all| all.slice(start, len)),
            runs,
        }
    }

    /// The input of each row.
    pub fn inputs(&self) -> Vec<u32> {
        self.runs.iter().flat_map(|run| std::iter::repeat_n(run.input as u32, run.len)).collect()
    }

    /// Tells where each of some rows came from; they ascend.
    pub fn each_origin(&self, rows: &[u32], mut tell: impl FnMut(Origin<'_>) -> Result<()>) -> Result<()> {
        let (mut runs, mut before) = (self.runs.iter().peekable(), 0);
        for &row in rows {
            while runs.peek().is_some_and(|run| row as usize >= before + run.len) {
                before += runs.next().map_or(0, |run| run.len);
            }
            let Some(run) = runs.peek() else { break };
            tell(Origin { input: run.input, source: &run.source, row: run.start + row as usize - before })?;
        }
        Ok(())
    }

    /// Where a row came from.
    pub fn origin(&self, row: usize) -> Option<Origin<'_>> {
        let mut before = 0;
        for run in &self.runs {
            if row < before + run.len {
                return Some(Origin { input: run.input, source: &run.source, row: run.start + row - before });
            }
            before += run.len;
        }
        None
    }
}
