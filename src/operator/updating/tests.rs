//! Each rule of updating results and whole tables, over a few records: (second, key, value), one partition.

use super::*;
use crate::event::{Marks, Position, Positions, Times};
use crate::expr::Selection;
use crate::operator::{Aggregates, CallOver, Finish, Range};
use crate::plan::{FinishPlan, Top};
use crate::time::Zone;
use crate::window::{self, Grid};
use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, TimestampMicrosecondArray};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::TimestampMicrosecondType;
use arrow::util::display::{ArrayFormatter, FormatOptions};

const SECOND: i64 = 1_000_000;
const UPDATE: Mode = Mode::Update { lateness: Span::ZERO };
const TABLES: Mode = Mode::Complete { keep: None };

fn within(seconds: i64) -> Mode {
    Mode::Update { lateness: Span::from_secs(seconds) }
}

/// A job over the columns `t`, `k`, `v`.
struct Job {
    grouping: Grouping,
    mode: Mode,
    trigger: Option<Trigger>,
    calls: &'static str,
    keyed: bool,
    delay: Option<i64>,
    range: Range,
    finish: FinishPlan,
    selection: Selection,
    filtered: Vec<usize>,
}

impl Job {
    fn new(grouping: Grouping, mode: Mode) -> Self {
        let mut selection = Selection::default();
        selection.add_outputs("sum(v) AS s").unwrap();
        let (range, finish) = (Range::default(), FinishPlan::default());
        let (calls, trigger, filtered) = ("s", None, Vec::new());
        Self { grouping, mode, trigger, calls, keyed: true, delay: Some(0), range, finish, selection, filtered }
    }

    fn of(kind: &str, size: &str, mode: Mode) -> Self {
        Self::new((window::find(kind).unwrap().parse)(size, &Grid::default()).unwrap(), mode)
    }

    fn trigger(self, trigger: Trigger) -> Self {
        Self { trigger: Some(trigger), ..self }
    }

    fn when(mut self, text: &str) -> Self {
        let condition = self.selection.condition(text, "a condition").unwrap();
        self.trigger(Trigger::When(condition))
    }

    fn delay(self, seconds: i64) -> Self {
        Self { delay: Some(seconds), ..self }
    }

    fn without_delay(self) -> Self {
        Self { delay: None, ..self }
    }

    fn range(self, since: i64, until: i64) -> Self {
        let at = |second: i64| Ts::from_micros(second.saturating_mul(SECOND));
        Self { range: Range { since: at(since), until: at(until) }, ..self }
    }

    fn having(mut self, text: &str) -> Self {
        self.finish.having = Some(self.selection.condition(text, "a condition").unwrap());
        self
    }

    fn top(mut self, rows: usize, order: &str) -> Self {
        self.finish.order = self.selection.order(order).unwrap();
        self.finish.top = Some(Top { rows, by: Vec::new() });
        self
    }

    fn operator(&self) -> Updating {
        let types = vec![FieldType::Time, FieldType::Int, FieldType::Int];
        let mut aggregates = Aggregates::default();
        for call in &self.selection.calls {
            let columns = call.arguments.iter().map(|_| (2, FieldType::Int)).collect();
            aggregates.add(CallOver { call, columns, filter: None, field: "v".to_owned() });
        }
        let when = match &self.trigger {
            Some(Trigger::When(condition)) => Some(condition.clone()),
            _ => None,
        };
        let names = if self.keyed { vec!["k".to_owned()] } else { Vec::new() };
        let finish = Finish::new(names, self.selection.clone(), self.finish.clone(), when, Zone::UTC);
        let keys = if self.keyed { vec![1] } else { Vec::new() };
        let setup = Setup { range: self.range, types, keys, aggregates, fill: None, finish };
        Updating::of(&self.grouping, self.mode, self.trigger.as_ref(), setup).unwrap()
    }

    /// The marks before each event, and behind the last.
    fn marks(&self, events: &[(i64, i64, i64)]) -> Vec<Watermark> {
        let mut mark = Watermark::NEVER;
        let mut all = vec![mark];
        for (second, ..) in events {
            if let Some(delay) = self.delay {
                mark = mark.max(Watermark::at(Ts::from_micros((second - delay) * SECOND)));
            }
            all.push(mark);
        }
        all
    }

    /// Takes in events, `size` at a time, and lets all fire.
    fn run_by(&self, size: usize, events: &[(i64, i64, i64)]) -> (Told, Updating) {
        let (mut operator, mut told) = (self.operator(), Told::default());
        let marks = self.marks(events);
        for first in (0..events.len()).step_by(size) {
            let behind = (first + size).min(events.len());
            let selected: BooleanBuffer = (first..behind).map(|row| !self.filtered.contains(&row)).collect();
            let batch = EventBatch {
                selected: Some(selected),
                ..batch(&events[first..behind], &marks[first..=behind], first as u64)
            };
            operator.on_batch(&batch, &mut told).unwrap();
        }
        operator.on_watermark(Watermark::END, &mut told).unwrap();
        (told, operator)
    }

    /// What is written, however records are cut into batches.
    fn run(&self, events: &[(i64, i64, i64)]) -> Vec<String> {
        self.run_with_operator(events).0.rows
    }

    fn run_with_operator(&self, events: &[(i64, i64, i64)]) -> (Told, Updating) {
        let (told, operator) = self.run_by(events.len(), events);
        for size in [1, 2, 3] {
            assert_eq!(self.run_by(size, events).0.rows, told.rows, "{} with {size} records a batch", self.calls);
        }
        let state = operator.state();
        assert_eq!((state.windows, state.groups), (0, 0), "what is held at the end");
        let ledger = &operator.tally().inputs[0];
        let all = ledger.used + ledger.late + ledger.outside + ledger.filtered;
        assert_eq!(all, events.len() as u64, "{ledger:?}");
        (told, operator)
    }
}

fn batch(events: &[(i64, i64, i64)], marks: &[Watermark], first: u64) -> EventBatch {
    let times: Vec<i64> = events.iter().map(|event| event.0 * SECOND).collect();
    let column = |of: fn(&(i64, i64, i64)) -> i64| -> ArrayRef {
        Arc::new(events.iter().map(|e| Some(of(e))).collect::<Int64Array>())
    };
    let time: ArrayRef = Arc::new(TimestampMicrosecondArray::from(times.clone()).with_timezone("UTC"));
    EventBatch {
        rows: RecordBatch::try_from_iter([("t", time), ("k", column(|e| e.1)), ("v", column(|e| e.2))]).unwrap(),
        times: Times::new(times.into()),
        marks: Marks::single(marks[..events.len()].to_vec()),
        last_mark: marks[events.len()],
        positions: Positions::Run(Position::new(0, first)),
        selected: None,
    }
}

/// What an operator gave out: rows as text, with seconds for bounds.
#[derive(Default)]
struct Told {
    rows: Vec<String>,
    late: Vec<(usize, i64)>,
}

impl Emit for Told {
    fn rows(&mut self, rows: RecordBatch) -> Result<()> {
        let options = FormatOptions::default().with_null("-");
        let format = |column: &ArrayRef, row: usize| match column.as_primitive_opt::<TimestampMicrosecondType>() {
            Some(bound) if bound.is_valid(row) => format!("{:02}", bound.value(row) / SECOND),
            Some(_) => "-".to_owned(),
            None => ArrayFormatter::try_new(column, &options).unwrap().value(row).to_string(),
        };
        for row in 0..rows.num_rows() {
            self.rows.push(rows.columns().iter().map(|column| format(column, row)).collect::<Vec<_>>().join(" "));
        }
        Ok(())
    }

    fn table(&mut self) -> Result<()> {
        self.rows.push("table".to_owned());
        Ok(())
    }

    fn late(&mut self, late: Late) -> Result<()> {
        self.late.push((late.row, late.window_end.micros() / SECOND));
        Ok(())
    }
}

#[test]
fn every_record_writes_its_window_and_every_final_window_is_written() {
    let job = Job::of("tumbling", "10s", UPDATE);
    assert_eq!(
        job.run(&[(1, 7, 1), (2, 7, 2), (3, 8, 3), (12, 7, 4)]),
        [
            "00 10 7 1 upsert early 0",
            "00 10 7 3 upsert early 1",
            "00 10 8 3 upsert early 0",
            "00 10 7 3 upsert on_time 2",
            "00 10 8 3 upsert on_time 1",
            "10 20 7 4 upsert early 0",
            "10 20 7 4 upsert on_time 1",
        ]
    );
}

/// The record at 10 makes its own late-opened window final, too: it is written once.
#[test]
fn a_window_that_just_fired_writes_no_early_row() {
    let job = Job::of("tumbling", "10s", within(100)).delay(-20);
    assert_eq!(job.run(&[(5, 7, 1)]), ["00 10 7 1 upsert on_time 0"]);
}

#[test]
fn a_count_fires_what_changed_since_it_fired_last() {
    let job = Job::of("tumbling", "10s", UPDATE).trigger(Trigger::Count(3)).delay(50);
    let rows = job.run(&[(1, 7, 1), (2, 7, 2), (3, 8, 3), (4, 8, 4), (5, 8, 5), (6, 8, 6), (7, 7, 7)]);
    let early: Vec<&String> = rows.iter().filter(|row| row.contains("early")).collect();
    assert_eq!(early, ["00 10 7 3 upsert early 0", "00 10 8 3 upsert early 0", "00 10 8 18 upsert early 1"]);
    assert_eq!(rows[3..], ["00 10 7 10 upsert on_time 1", "00 10 8 18 upsert on_time 2"]);
}

/// Records that are not used do not count, but they move the watermark.
#[test]
fn filtered_records_only_move_the_watermark() {
    let job = Job { filtered: vec![1, 2], ..Job::of("tumbling", "10s", UPDATE).trigger(Trigger::Count(2)) };
    let rows = job.run(&[(1, 7, 1), (2, 7, 50), (15, 7, 50), (16, 7, 2), (17, 7, 3)]);
    assert_eq!(rows, ["00 10 7 1 upsert on_time 0", "10 20 7 2 upsert early 0", "10 20 7 5 upsert on_time 1"]);
}

#[test]
fn event_time_fires_once_however_many_multiples_it_crossed() {
    let job = Job::of("tumbling", "50s", UPDATE).trigger(Trigger::EventTime(Span::from_secs(5)));
    assert_eq!(
        job.run(&[(1, 7, 1), (4, 7, 2), (5, 7, 3), (6, 7, 4), (31, 7, 5), (31, 8, 6)]),
        [
            "00 50 7 6 upsert early 0",
            "00 50 7 15 upsert early 1",
            "00 50 7 15 upsert on_time 2",
            "00 50 8 6 upsert on_time 0",
        ]
    );
}

#[test]
fn a_condition_fires_the_groups_it_is_true_for() {
    let job = Job::of("tumbling", "50s", UPDATE).when("sum(v) >= 10");
    assert_eq!(
        job.run(&[(1, 7, 9), (2, 8, 10), (3, 7, 1), (4, 8, -5)]),
        [
            "00 50 8 10 upsert early 0",
            "00 50 7 10 upsert early 0",
            "00 50 7 10 upsert on_time 1",
            "00 50 8 5 upsert on_time 1",
        ]
    );
}

#[test]
fn a_tick_writes_what_changed() {
    let job = Job::of("tumbling", "50s", UPDATE).trigger(Trigger::Wall(Span::from_secs(1))).delay(5);
    let (mut operator, mut told) = (job.operator(), Told::default());
    let events = [(1, 7, 1), (2, 7, 2), (3, 8, 3)];
    operator.on_batch(&batch(&events, &job.marks(&events), 0), &mut told).unwrap();
    assert!(told.rows.is_empty());
    operator.on_tick(&mut told).unwrap();
    operator.on_tick(&mut told).unwrap();
    assert_eq!(told.rows, ["00 50 7 3 upsert early 0", "00 50 8 3 upsert early 0"]);
}

#[test]
fn late_data_within_the_allowed_lateness_is_written_at_once() {
    let job = Job::of("tumbling", "10s", within(10));
    let events = [(1, 7, 1), (12, 7, 2), (3, 7, 3), (4, 8, 4), (20, 7, 5), (5, 7, 6), (19, 7, 7)];
    let (told, operator) = job.run_with_operator(&events);
    assert_eq!(
        told.rows,
        [
            "00 10 7 1 upsert early 0",
            "00 10 7 1 upsert on_time 1",
            "10 20 7 2 upsert early 0",
            "00 10 7 4 upsert late 2",
            "00 10 8 4 upsert late 0",
            "10 20 7 2 upsert on_time 1",
            "20 30 7 5 upsert early 0",
            "10 20 7 9 upsert late 2",
            "20 30 7 5 upsert on_time 1",
        ]
    );
    assert_eq!(told.late, [(5, 10)], "5 s comes as the mark has reached 20 s");
    assert_eq!((operator.tally().inputs[0].used, operator.tally().inputs[0].late), (6, 1));
}

/// Its slot of [0, 10) is over, that of [5, 15) is final and kept, [10, 20) is open.
#[test]
fn a_record_goes_to_the_windows_that_it_is_not_late_for() {
    let job = Job::of("sliding", "10s/5s", within(2)).trigger(Trigger::Count(100));
    let (told, operator) = job.run_with_operator(&[(13, 7, 1), (16, 7, 2), (9, 7, 4), (12, 7, 8)]);
    assert_eq!(told.late, []);
    assert_eq!(
        told.rows,
        [
            "05 15 7 1 upsert on_time 0",
            "05 15 7 5 upsert late 1",
            "05 15 7 13 upsert late 2",
            "10 20 7 11 upsert on_time 0",
            "15 25 7 2 upsert on_time 0",
        ]
    );
    assert_eq!(operator.tally().inputs[0].partially_late, 1);
    assert_eq!(operator.tally().partly_behind, Some(Span::from_secs(7)));
}

#[test]
fn a_session_that_grew_is_deleted_and_written_anew() {
    let job = Job::of("session", "5s", UPDATE).delay(9);
    assert_eq!(
        job.run(&[(10, 7, 1), (12, 7, 2), (12, 7, 3)]),
        [
            "10 15 7 1 upsert early 0",
            "10 15 7 - delete early 1",
            "10 17 7 3 upsert early 0",
            "10 17 7 6 upsert early 1",
            "10 17 7 6 upsert on_time 2",
        ]
    );
}

/// Growing between two firings leaves nothing to delete.
#[test]
fn only_what_was_written_is_deleted() {
    let job = Job::of("session", "5s", UPDATE).delay(9).trigger(Trigger::Count(3));
    assert_eq!(
        job.run(&[(10, 7, 1), (12, 7, 2), (13, 7, 3), (14, 7, 4)]),
        ["10 18 7 6 upsert early 0", "10 18 7 - delete on_time 1", "10 19 7 10 upsert on_time 0"]
    );
}

#[test]
fn sessions_that_merge_are_deleted_before_the_merged_one_is_written() {
    let job = Job::of("session", "5s", UPDATE).delay(99);
    assert_eq!(
        job.run(&[(10, 7, 1), (20, 7, 2), (15, 8, 9), (15, 7, 4)]),
        [
            "10 15 7 1 upsert early 0",
            "20 25 7 2 upsert early 0",
            "15 20 8 9 upsert early 0",
            "10 15 7 - delete early 1",
            "20 25 7 - delete early 1",
            "10 25 7 7 upsert early 0",
            "15 20 8 9 upsert on_time 1",
            "10 25 7 7 upsert on_time 1",
        ]
    );
}

/// Deletes and upserts of several sessions in one firing: deletes first, each by (end, start, key).
#[test]
fn one_firing_deletes_first() {
    let job = Job::of("session", "5s", UPDATE).delay(99).trigger(Trigger::Count(2));
    assert_eq!(
        job.run(&[(10, 8, 1), (10, 7, 1), (12, 8, 1), (11, 7, 1)])[2..6],
        [
            "10 15 7 - delete early 1",
            "10 15 8 - delete early 1",
            "10 16 7 2 upsert early 0",
            "10 17 8 2 upsert early 0",
        ]
    );
}

#[test]
fn late_data_that_grows_a_final_session_is_late_if_the_session_still_is_final() {
    let job = Job::of("session", "5s", within(30)).trigger(Trigger::Count(100));
    assert_eq!(
        job.run(&[(10, 7, 1), (25, 8, 2), (12, 7, 4), (13, 9, 8)]),
        [
            "10 15 7 1 upsert on_time 0",
            "10 15 7 - delete late 1",
            "10 17 7 5 upsert late 0",
            "13 18 9 8 upsert late 0",
            "25 30 8 2 upsert on_time 0",
        ]
    );
}

/// The final session [10, 15) is joined with one that goes on: it is open again, and fires when it is final.
#[test]
fn late_data_that_joins_a_final_session_to_an_open_one_is_early() {
    let job = Job::of("session", "5s", within(30)).trigger(Trigger::Count(100));
    assert_eq!(
        job.run(&[(10, 7, 1), (20, 7, 2), (15, 7, 4), (40, 8, 8)]),
        [
            "10 15 7 1 upsert on_time 0",
            "10 15 7 - delete early 1",
            "10 25 7 7 upsert early 0",
            "10 25 7 7 upsert on_time 1",
            "40 45 8 8 upsert on_time 0",
        ]
    );
}

#[test]
fn a_session_event_is_late_when_what_it_forms_is_kept_no_longer() {
    let job = Job::of("session", "5s", within(10)).trigger(Trigger::Count(100));
    let (told, operator) = job.run_with_operator(&[(10, 7, 1), (26, 8, 2), (10, 7, 4), (11, 9, 8)]);
    assert_eq!(told.rows, ["10 15 7 1 upsert on_time 0", "11 16 9 8 upsert late 0", "26 31 8 2 upsert on_time 0"]);
    assert_eq!((told.late, operator.tally().inputs[0].late), (vec![(2, 15)], 1));
}

#[test]
fn what_no_longer_passes_is_deleted_and_comes_back() {
    let job = Job::of("tumbling", "50s", UPDATE).having("sum(v) < 5");
    assert_eq!(
        job.run(&[(1, 7, 1), (2, 7, 5), (3, 7, 5), (4, 7, -9), (5, 8, 9)]),
        [
            "00 50 7 1 upsert early 0",
            "00 50 7 - delete early 1",
            "00 50 7 2 upsert early 2",
            "00 50 7 2 upsert on_time 3",
        ]
    );
}

#[test]
fn a_row_that_leaves_the_top_is_deleted_and_others_move() {
    let job = Job::of("tumbling", "50s", UPDATE).top(2, "s DESC");
    assert_eq!(
        job.run(&[(1, 7, 1), (2, 8, 2), (3, 9, 3), (4, 6, 0), (5, 9, 1)]),
        [
            "00 50 7 1 1 upsert early 0",
            "00 50 8 2 1 upsert early 0",
            "00 50 7 1 2 upsert early 1",
            "00 50 7 - - delete early 2",
            "00 50 9 3 1 upsert early 0",
            "00 50 8 2 2 upsert early 1",
            "00 50 9 4 1 upsert early 1",
            "00 50 9 4 1 upsert on_time 2",
            "00 50 8 2 2 upsert on_time 2",
        ]
    );
}

/// A session leaves the window that it shared with another key's: that one moves up.
#[test]
fn the_sessions_of_a_window_are_ranked_together() {
    let job = Job::of("session", "5s", UPDATE).top(1, "s DESC").delay(99);
    assert_eq!(
        job.run(&[(10, 7, 1), (10, 8, 2), (11, 8, 3)])[1..5],
        [
            "10 15 7 - - delete early 1",
            "10 15 8 2 1 upsert early 0",
            "10 15 8 - - delete early 1",
            "10 15 7 1 1 upsert early 2",
        ]
    );
}

#[test]
fn windows_outside_of_the_range_are_not_written() {
    let job = Job::of("tumbling", "10s", UPDATE).range(10, 20);
    let (told, operator) = job.run_with_operator(&[(9, 7, 1), (10, 7, 2), (20, 7, 3)]);
    assert_eq!(told.rows, ["10 20 7 2 upsert early 0", "10 20 7 2 upsert on_time 1"]);
    assert_eq!((operator.tally().inputs[0].used, operator.tally().inputs[0].outside), (1, 2));
}

/// A session that grows to begin before the range is no longer written; one that grows into it is.
#[test]
fn a_session_is_written_while_its_start_lies_in_the_range() {
    let job = Job::of("session", "5s", UPDATE).range(10, 20).delay(99);
    let (told, operator) = job.run_with_operator(&[(11, 7, 1), (8, 7, 2), (22, 8, 4), (18, 8, 8)]);
    assert_eq!(
        told.rows,
        [
            "11 16 7 1 upsert early 0",
            "11 16 7 - delete early 1",
            "18 27 8 12 upsert early 0",
            "18 27 8 12 upsert on_time 1"
        ]
    );
    assert_eq!((operator.tally().inputs[0].used, operator.tally().inputs[0].outside), (2, 2));
}

#[test]
fn an_endless_window_fires_by_key_and_every_key_at_the_end() {
    let job = Job::new(Grouping::Global { purge: false }, UPDATE).trigger(Trigger::Count(2));
    assert_eq!(
        job.run(&[(1, 7, 1), (2, 8, 2), (3, 7, 3), (4, 9, 4), (5, 7, 5), (6, 7, 6)]),
        [
            "- - 7 4 upsert early 0",
            "- - 7 15 upsert early 1",
            "- - 7 15 upsert on_time 2",
            "- - 8 2 upsert on_time 0",
            "- - 9 4 upsert on_time 0",
        ]
    );
}

#[test]
fn nothing_is_late_for_an_endless_window() {
    let job = Job::new(Grouping::Global { purge: false }, UPDATE).trigger(Trigger::EventTime(Span::from_secs(10)));
    let (told, _) = job.run_with_operator(&[(1, 7, 1), (25, 7, 2), (3, 8, 3), (30, 7, 4)]);
    assert!(told.late.is_empty());
    assert_eq!(
        told.rows,
        [
            "- - 7 3 upsert early 0",
            "- - 7 7 upsert early 1",
            "- - 8 3 upsert early 0",
            "- - 7 7 upsert on_time 2",
            "- - 8 3 upsert on_time 1",
        ]
    );
}

#[test]
fn a_purged_window_begins_anew() {
    let events = [(1, 7, 1), (2, 8, 2), (3, 7, 3), (5, 7, 5), (6, 7, 6), (7, 7, 7)];
    let append = Job::new(Grouping::Global { purge: true }, Mode::Append).trigger(Trigger::Count(2));
    assert_eq!(append.run(&events), ["- - 7 4", "- - 7 11", "- - 7 7", "- - 8 2"]);
    let update = Job::new(Grouping::Global { purge: true }, UPDATE).trigger(Trigger::Count(2));
    assert_eq!(
        update.run(&events),
        ["- - 7 4 upsert early 0", "- - 7 11 upsert early 1", "- - 7 7 upsert on_time 2", "- - 8 2 upsert on_time 0"]
    );
    let condition = Job::new(Grouping::Global { purge: true }, Mode::Append).when("sum(v) > 4");
    assert_eq!(condition.run(&events), ["- - 7 9", "- - 7 6", "- - 7 7", "- - 8 2"]);
    let all = Job::new(Grouping::Global { purge: true }, Mode::Append).trigger(Trigger::EventTime(Span::from_secs(3)));
    assert_eq!(all.run(&events), ["- - 7 4", "- - 8 2", "- - 7 11", "- - 7 7"]);
}

#[test]
fn a_counted_window_is_written_when_it_is_full() {
    let job = Job::new(Grouping::Count(2), Mode::Append);
    assert_eq!(
        job.run(&[(5, 7, 1), (3, 8, 2), (1, 7, 4), (9, 7, 8), (2, 9, 16), (4, 6, 32)]),
        ["01 05 7 5", "02 02 9 16", "03 03 8 2", "04 04 6 32", "09 09 7 8"]
    );
    let every = Job::new(Grouping::Count(1), Mode::Append);
    assert_eq!(every.run(&[(5, 7, 1), (5, 7, 2)]), ["05 05 7 1", "05 05 7 2"]);
}

#[test]
fn a_counted_window_that_grew_is_deleted_and_written_anew() {
    let job = Job::new(Grouping::Count(3), UPDATE);
    assert_eq!(
        job.run(&[(5, 7, 1), (5, 7, 2), (1, 7, 4), (9, 7, 8)]),
        [
            "05 05 7 1 upsert early 0",
            "05 05 7 3 upsert early 1",
            "05 05 7 - delete on_time 2",
            "01 05 7 7 upsert on_time 0",
            "09 09 7 8 upsert early 0",
            "09 09 7 8 upsert on_time 1",
        ]
    );
}

#[test]
fn a_counted_window_is_written_if_it_begins_in_the_range() {
    let job = Job::new(Grouping::Count(2), Mode::Append).range(3, 100);
    let (told, operator) = job.run_with_operator(&[(5, 7, 1), (3, 7, 2), (2, 8, 4), (6, 8, 8), (7, 7, 16)]);
    assert_eq!(told.rows, ["03 05 7 3", "07 07 7 16"]);
    assert_eq!((operator.tally().inputs[0].used, operator.tally().inputs[0].outside), (3, 2));
}

#[test]
fn a_table_is_all_there_is_in_order() {
    let events = [(12, 7, 1), (1, 8, 2), (1, 7, 4), (30, 7, 8), (2, 7, 16)];
    let windows = ["table", "00 10 7 20", "00 10 8 2", "10 20 7 1", "30 40 7 8"];
    assert_eq!(Job::of("tumbling", "10s", TABLES).run(&events), windows);
    assert_eq!(Job::of("tumbling", "10s", TABLES).without_delay().run(&events), windows);
    let sessions = Job::of("session", "5s", TABLES).run(&events);
    assert_eq!(sessions, ["table", "01 06 8 2", "01 07 7 20", "12 17 7 1", "30 35 7 8"]);
    let global = Job::new(Grouping::Global { purge: false }, TABLES).run(&events);
    assert_eq!(global, ["table", "- - 7 29", "- - 8 2"]);
    let counted = Job::new(Grouping::Count(2), TABLES).run(&events);
    assert_eq!(counted, ["table", "01 01 8 2", "01 12 7 5", "02 30 7 24"]);
}

#[test]
fn a_table_comes_at_each_trigger_and_at_the_end() {
    let events = [(1, 7, 1), (2, 8, 2), (3, 7, 4)];
    let job = Job::of("tumbling", "10s", TABLES).trigger(Trigger::Count(2));
    assert_eq!(job.run(&events), ["table", "00 10 7 1", "00 10 8 2", "table", "00 10 7 5", "00 10 8 2"]);
    let job = Job::new(Grouping::Global { purge: false }, TABLES).trigger(Trigger::Count(2));
    assert_eq!(job.run(&events), ["table", "- - 7 5", "- - 8 2", "table", "- - 7 5", "- - 8 2"]);
    let job = Job::of("tumbling", "10s", TABLES).when("sum(v) > 4");
    assert_eq!(job.run(&events)[..3], ["table", "00 10 7 5", "00 10 8 2"]);
    let job = Job::of("tumbling", "10s", TABLES).trigger(Trigger::EventTime(Span::from_secs(2)));
    assert_eq!(job.run(&events)[..3], ["table", "00 10 7 1", "00 10 8 2"]);
}

#[test]
fn a_table_of_nothing_is_a_table() {
    let (mut operator, mut told) = (Job::of("tumbling", "10s", TABLES).operator(), Told::default());
    operator.on_watermark(Watermark::END, &mut told).unwrap();
    assert_eq!(told.rows, ["table"]);
}

#[test]
fn a_tick_writes_a_table_if_anything_changed() {
    let job = Job::of("tumbling", "10s", TABLES).trigger(Trigger::Wall(Span::from_secs(1)));
    let (mut operator, mut told) = (job.operator(), Told::default());
    let events = [(1, 7, 1)];
    operator.on_batch(&batch(&events, &job.marks(&events), 0), &mut told).unwrap();
    operator.on_tick(&mut told).unwrap();
    operator.on_tick(&mut told).unwrap();
    assert_eq!(told.rows, ["table", "00 10 7 1"]);
}

#[test]
fn a_table_is_ranked_and_filtered_as_other_results_are() {
    let events = [(1, 7, 1), (2, 8, 2), (3, 9, 4), (13, 7, 1)];
    let top = Job::of("tumbling", "10s", TABLES).top(2, "s DESC").run(&events);
    assert_eq!(top, ["table", "00 10 9 4 1", "00 10 8 2 2", "10 20 7 1 1"]);
    let having = Job::of("tumbling", "10s", TABLES).having("sum(v) = 1").run(&events);
    assert_eq!(having, ["table", "00 10 7 1", "10 20 7 1"]);
}

/// At 22 s the window that ended at 10 s is dropped, and a record of it is late.
#[test]
fn what_ended_long_ago_is_not_kept_in_the_table() {
    let job = Job::of("tumbling", "10s", Mode::Complete { keep: Some(Span::from_secs(10)) });
    let (told, operator) = job.run_with_operator(&[(1, 7, 1), (19, 7, 2), (2, 7, 4), (22, 7, 8), (3, 7, 16)]);
    assert_eq!(told.rows, ["table", "10 20 7 2", "20 30 7 8"]);
    assert_eq!((told.late, operator.tally().inputs[0].used), (vec![(4, 10)], 4));
    let sessions = Job::of("session", "5s", Mode::Complete { keep: Some(Span::from_secs(10)) });
    let (told, _) = sessions.run_with_operator(&[(1, 7, 1), (16, 7, 2), (2, 7, 4), (18, 7, 8), (2, 8, 16)]);
    assert_eq!(told.rows, ["table", "16 23 7 10"]);
    assert_eq!(told.late, [(4, 7)]);
}

/// A job of one key: all rows have the same, of no bytes.
#[test]
fn a_job_without_keys_has_one_group() {
    let job = Job { keyed: false, ..Job::of("tumbling", "10s", UPDATE) };
    assert_eq!(
        job.run(&[(1, 7, 1), (2, 8, 2), (12, 7, 4)]),
        [
            "00 10 1 upsert early 0",
            "00 10 3 upsert early 1",
            "00 10 3 upsert on_time 2",
            "10 20 4 upsert early 0",
            "10 20 4 upsert on_time 1"
        ]
    );
}

#[test]
fn what_is_kept_no_longer_holds_no_memory() {
    for (kind, size) in [("tumbling", "10s"), ("sliding", "10s/5s"), ("session", "2s")] {
        let job = Job::of(kind, size, within(10));
        let (mut operator, mut told) = (job.operator(), Told::default());
        let events: Vec<_> = (0..3_000).map(|i| (i, i, 1)).collect();
        let marks = job.marks(&events);
        let mut sizes = Vec::new();
        for i in 0..events.len() {
            operator.on_batch(&batch(&events[i..=i], &marks[i..=i + 1], i as u64), &mut told).unwrap();
            sizes.push(operator.state().bytes);
        }
        let (first, rest) = sizes.split_at(1_500);
        assert!(rest.iter().max() <= first.iter().max(), "{kind}: {:?} {:?}", first.iter().max(), rest.iter().max());
    }
}

#[test]
fn the_heaviest_keys_are_told_once_for_each_record() {
    let job = Job::of("sliding", "10s/5s", UPDATE);
    let (_, operator) = job.run_with_operator(&[(1, 7, 1), (2, 8, 2), (12, 7, 4)]);
    assert_eq!(operator.tally().heaviest, [("7".to_owned(), 2), ("8".to_owned(), 1)]);
}

#[test]
fn keys_and_values_of_another_type_go_on_in_their_groups() {
    for grouping in
        [Grouping::Global { purge: false }, Grouping::Session { gap: Span::from_secs(5) }, Grouping::Count(9)]
    {
        let job = Job::new(grouping, UPDATE);
        let (mut operator, mut told) = (job.operator(), Told::default());
        let (first, second) = ([(1, 7, 1)], [(1, 7, 2)]);
        let marks = [Watermark::NEVER, Watermark::NEVER];
        operator.on_batch(&batch(&first, &marks, 0), &mut told).unwrap();
        operator.retype(&[FieldType::Time, FieldType::Text, FieldType::Double]).unwrap();
        let mut wider = batch(&second, &marks, 1);
        let as_type = |i: usize, ty: FieldType| arrow::compute::cast(wider.rows.column(i), &ty.arrow()).unwrap();
        let columns = [
            ("t", Arc::clone(wider.rows.column(0))),
            ("k", as_type(1, FieldType::Text)),
            ("v", as_type(2, FieldType::Double)),
        ];
        wider.rows = RecordBatch::try_from_iter(columns).unwrap();
        operator.on_batch(&wider, &mut told).unwrap();
        assert!(told.rows[1].ends_with(" 7 3.0 upsert early 1"), "{:?}", told.rows);
    }
}

#[test]
fn a_sum_that_does_not_fit_names_window_and_key() {
    let job = Job::of("tumbling", "10s", UPDATE);
    let (mut operator, mut told) = (job.operator(), Told::default());
    let events = [(1, 7, i64::MAX), (2, 8, 1), (3, 7, 1)];
    let error = operator.on_batch(&batch(&events, &job.marks(&events), 0), &mut told).unwrap_err();
    let place = "window 1970-01-01T00:00:00Z to 1970-01-01T00:00:10Z, key 7: sum(v): ";
    assert!(error.message().starts_with(place), "{error}");
}

/// Results do not depend on where values are read: an early row of each record is that of a run with one record less.
#[test]
fn every_early_row_is_what_a_table_would_show_then() {
    let mut state = 1u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % below) as i64
    };
    let events: Vec<_> = (0..40).map(|i| (i / 2 + random(8), random(3), random(9))).collect();
    for (kind, size) in [("tumbling", "10s"), ("sliding", "10s/4s"), ("session", "2s")] {
        stands_as_a_table(|mode| Job::of(kind, size, mode).delay(999), &events);
    }
}

/// What stands of rows that are written again is what a table shows.
fn stands_as_a_table(job: impl Fn(Mode) -> Job, events: &[(i64, i64, i64)]) {
    let mut standing = std::collections::BTreeMap::new();
    for row in job(UPDATE).run(events) {
        let words: Vec<&str> = row.split(' ').collect();
        let (shown, told) = words.split_at(words.len() - 3);
        match told[0] {
            "delete" => standing.remove(&shown[..3].join(" ")),
            _ => standing.insert(shown[..3].join(" "), shown.join(" ")),
        };
    }
    let tables = job(TABLES).run(events);
    let mut table = tables.rsplit(|row| row == "table").next().unwrap_or_default().to_vec();
    table.sort();
    assert_eq!(standing.into_values().collect::<Vec<_>>(), table);
}

/// A row takes its place by itself, whoever is moved by that.
#[test]
fn what_is_ranked_record_by_record_is_what_a_table_ranks_then() {
    let mut state = 7u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % below) as i64
    };
    for round in 0..12 {
        let events: Vec<_> = (0..60).map(|i| (i / 3 + random(6), random(7), random(9))).collect();
        let ranked = |mode, kind: &str, size: &str| {
            let mut job = Job::of(kind, size, mode).delay(999).top(1 + round % 4, "s % 5 DESC, s");
            if round % 3 == 1 {
                job.finish.top = Some(Top { rows: 1 + round % 4, by: vec![0] });
            }
            if round % 2 == 1 { job.having("s % 4 <> 0") } else { job }
        };
        for (kind, size) in [("tumbling", "10s"), ("sliding", "10s/4s"), ("session", "2s"), ("session", "1s")] {
            stands_as_a_table(|mode| ranked(mode, kind, size), &events);
        }
        stands_as_a_table(|mode| ranked(mode, "tumbling", "9s").trigger(Trigger::Count(7)), &events);
        let when = |mode| ranked(mode, "session", "2s").when("s > 9");
        assert!(when(UPDATE).run(&events).len() > 1);
    }
}

/// Were all groups of a window ranked for each record, or dropped one by one, this would take minutes.
#[test]
fn a_record_costs_no_more_however_many_groups_its_window_has() {
    let events: Vec<_> = (0..20_000).map(|i| (1, i * 7_919 % 20_000, 1)).collect();
    let job = Job::of("tumbling", "10s", UPDATE).top(3, "s DESC");
    let (told, _) = job.run_by(4_096, &events);
    assert!(told.rows.ends_with(&[
        "00 10 0 1 1 upsert on_time 1".to_owned(),
        "00 10 1 1 2 upsert on_time 1".to_owned(),
        "00 10 2 1 3 upsert on_time 2".to_owned(),
    ]));
}

/// A ranking whose columns become wider is made anew, of the rows as they are.
#[test]
fn a_ranking_goes_on_with_keys_and_values_of_another_type() {
    let job = Job::of("tumbling", "10s", UPDATE).top(2, "s DESC").trigger(Trigger::Count(3));
    let (mut operator, mut told) = (job.operator(), Told::default());
    let marks = [Watermark::NEVER; 4];
    operator.on_batch(&batch(&[(1, 7, 1), (1, 8, 2), (1, 9, 3)], &marks, 0), &mut told).unwrap();
    let wide = [FieldType::Time, FieldType::Text, FieldType::Double];
    operator.retype(&wide).unwrap();
    let mut wider = batch(&[(1, 7, 4), (1, 6, 0), (1, 6, 1)], &marks, 3);
    let columns = wider.rows.columns().iter().zip(wide);
    let columns = columns.map(|(column, ty)| arrow::compute::cast(column, &ty.arrow()).unwrap());
    wider.rows = RecordBatch::try_from_iter(["t", "k", "v"].into_iter().zip(columns)).unwrap();
    operator.on_batch(&wider, &mut told).unwrap();
    assert_eq!(
        told.rows[2..],
        ["00 10 8 - - delete early 1", "00 10 7 5.0 1 upsert early 0", "00 10 9 3.0 2 upsert early 1"]
    );
}
