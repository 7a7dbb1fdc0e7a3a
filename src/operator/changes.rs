//! What changes in the output: rows that are written again, and rows that no longer stand.
//!
//! Firings are collected and made into columns at once, in their order. What stands in the output is known by
//! [`Standing`]: one for each identity (bounds and keys) that was evaluated, for as long as its group is held. Must not
//! know when rows are written, or how they are grouped by time.

use super::base::{Base, together};
use super::ranks::{Lines, Ranks};
use super::{Emit, Finish, Tally};
use crate::error::Result;
use crate::schema::FieldType;
use crate::window::Window;
use arrow::array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray, new_null_array};
use arrow::compute::interleave;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use std::sync::Arc;

/// Firings are collected up to about this many rows, or this many bytes of values.
const BATCH: usize = 8_192;
const BATCH_BYTES: usize = 32 << 20;

/// The columns behind a row that may be written again.
const OP: &str = "op";
const PANE: &str = "pane";
const REVISION: &str = "revision";

/// What stands in the output of one identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Standing(u32);

impl Standing {
    /// Its index: small, as the place of one that is forgotten is used again.
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// When a row was written, seen from its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pane {
    /// Before it was final.
    Early,
    /// As it became final.
    OnTime,
    /// Behind that.
    Late,
}

impl Pane {
    fn name(self) -> &'static str {
        match self {
            Pane::Early => "early",
            Pane::OnTime => "on_time",
            Pane::Late => "late",
        }
    }
}

#[derive(Default)]
struct Stands {
    revision: i64,
    written: bool,
}

/// What is to be done with an identity, in order.
struct Step {
    firing: u32,
    standing: Standing,
    pane: Pane,
    what: What,
}

enum What {
    /// It is no more: what stands of it is deleted. Its head is the one of this index.
    Gone(usize),
    /// It was evaluated: row of the base. `due`: it is written even if it looks as it did.
    Evaluated { row: usize, due: bool },
    /// Nobody will ask for it again.
    Forgotten,
}

/// A row of the output.
struct Line {
    /// Its index among the shown rows, or among the heads of those that are gone.
    at: Result<usize, usize>,
    pane: Pane,
    revision: i64,
}

/// What a line says of itself.
pub(super) struct Told {
    /// It stands from here on: else it is deleted.
    pub(super) stands: bool,
    pub(super) pane: Pane,
    pub(super) revision: i64,
}

/// A row that no longer stands: a head of the base or of those gone.
#[derive(Clone, Copy)]
enum Head {
    Base(usize),
    Gone(usize),
}

/// Changes on their way out.
pub(super) struct Changes {
    /// Whether rows say what they are: else each is written once.
    told: bool,
    /// Where rows that are told are compared with others of their window.
    ranks: Option<Ranks>,
    firing: u32,
    steps: Vec<Step>,
    pub(super) base: Base,
    gone: super::base::Heads,
    /// The step of each row of the base.
    step_of: Vec<usize>,
    stands: Vec<Stands>,
    free: Vec<Standing>,
}

impl Changes {
    /// Rows say what they are (`told`), or each is written once. `most`: so many of each ranking are shown.
    pub(super) fn new(told: bool, most: Option<usize>) -> Self {
        Self {
            told,
            ranks: most.filter(|_| told).map(Ranks::new),
            firing: 0,
            steps: Vec::new(),
            base: Base::default(),
            gone: Default::default(),
            step_of: Vec::new(),
            stands: vec![Stands::default()],
            free: Vec::new(),
        }
    }

    /// The schema of what is written, given that of shown rows.
    pub(super) fn schema(&self, shown: SchemaRef) -> SchemaRef {
        if !self.told {
            return shown;
        }
        let told = [(OP, DataType::Utf8), (PANE, DataType::Utf8), (REVISION, DataType::Int64)];
        let told = told.map(|(name, ty)| Arc::new(Field::new(name, ty, true)));
        Arc::new(Schema::new(shown.fields().iter().cloned().chain(told).collect::<Vec<_>>()))
    }

    /// A firing begins. Its rows must come ordered by (end, start, key).
    pub(super) fn begin(&mut self) {
        self.firing += 1;
    }

    /// A row of the firing, whose values will be read. Gives back what stands of it, to be kept.
    pub(super) fn row(
        &mut self,
        window: Window,
        key: &[u8],
        stands: Option<Standing>,
        pane: Pane,
        due: bool,
    ) -> Standing {
        let standing = stands.unwrap_or_else(|| self.stand());
        let row = self.base.heads.push(window, key);
        self.step_of.push(self.steps.len());
        self.step(standing, pane, What::Evaluated { row, due });
        standing
    }

    /// An identity that is no more.
    pub(super) fn gone(&mut self, window: Window, key: &[u8], standing: Standing, pane: Pane) {
        if !self.told {
            return;
        }
        let head = self.gone.push(window, key);
        self.step(standing, pane, What::Gone(head));
        self.forget(standing);
    }

    /// Nobody will ask for this again.
    pub(super) fn forget(&mut self, standing: Standing) {
        if self.told {
            self.step(standing, Pane::Early, What::Forgotten);
        }
    }

    fn step(&mut self, standing: Standing, pane: Pane, what: What) {
        self.steps.push(Step { firing: self.firing, standing, pane, what });
    }

    /// A new standing; where rows are written once, they share one that says nothing.
    fn stand(&mut self) -> Standing {
        if !self.told {
            return Standing(0);
        }
        self.free.pop().unwrap_or_else(|| {
            self.stands.push(Stands::default());
            Standing(self.stands.len() as u32 - 1)
        })
    }

    /// Whether enough was collected to be written.
    pub(super) fn is_full(&self) -> bool {
        self.steps.len() >= BATCH || self.base.bytes() >= BATCH_BYTES
    }

    /// Writes what was collected.
    pub(super) fn write(
        &mut self,
        finish: &Finish,
        keys: &[FieldType],
        tally: &mut Tally,
        out: &mut dyn Emit,
    ) -> Result<()> {
        if self.steps.is_empty() {
            return Ok(());
        }
        let whole = self.base.whole(finish, keys)?;
        match self.ranks.take() {
            Some(mut ranks) => {
                let written = self.write_ranked(&mut ranks, &whole, finish, keys, tally, out);
                self.ranks = Some(ranks);
                written?;
            }
            None => self.write_each(&whole, finish, keys, tally, out)?,
        }
        self.steps.clear();
        self.base.clear();
        self.gone = Default::default();
        self.step_of.clear();
        Ok(())
    }

    fn write_each(
        &mut self,
        whole: &RecordBatch,
        finish: &Finish,
        keys: &[FieldType],
        tally: &mut Tally,
        out: &mut dyn Emit,
    ) -> Result<()> {
        let ranked = self.base.ranked(whole, finish, |row| self.starts_firing(row))?;
        let shown = Base::shown(whole, finish, &ranked)?;
        let lines = self.resolve(&ranked);
        self.count(&lines, &ranked, tally);
        if lines.is_empty() { Ok(()) } else { out.rows(self.batch(&lines, &shown, keys)?) }
    }

    fn write_ranked(
        &mut self,
        ranks: &mut Ranks,
        whole: &RecordBatch,
        finish: &Finish,
        keys: &[FieldType],
        tally: &mut Tally,
        out: &mut dyn Emit,
    ) -> Result<()> {
        let rows = ranks.evaluate(whole, finish)?;
        let mut lines = Lines::default();
        let mut hand_on = |lines: &mut Lines, ranks: &Ranks| {
            let lines = std::mem::take(lines);
            lines.count(tally);
            let columns = ranks.columns(&lines, keys)?;
            out.rows(self.with_told(columns, &lines.told, finish.schema())?)
        };
        for steps in self.steps.chunk_by(|a, b| a.firing == b.firing) {
            ranks.begin();
            for step in steps {
                match step.what {
                    What::Gone(head) => ranks.gone(step.standing, self.gone.key(head), step.pane),
                    What::Evaluated { row, due } => ranks.take(step.standing, &self.base, row, step.pane, due, &rows),
                    What::Forgotten => {}
                }
            }
            ranks.end(&mut lines);
            if lines.is_full() {
                hand_on(&mut lines, ranks)?;
            }
            let forgotten = steps.iter().filter(|step| matches!(step.what, What::Forgotten));
            forgotten.for_each(|step| ranks.forget(step.standing));
        }
        if !lines.told.is_empty() {
            hand_on(&mut lines, ranks)?;
        }
        self.free.extend(self.steps.iter().filter(|s| matches!(s.what, What::Forgotten)).map(|s| s.standing));
        Ok(())
    }

    /// Columns have other types from here on; all was written. Whether every row has to be evaluated again.
    pub(super) fn retype(&mut self) -> bool {
        self.ranks.as_mut().map(Ranks::retype).is_some()
    }

    /// Bytes of memory held between writes.
    pub(super) fn bytes(&self) -> usize {
        self.stands.capacity() * size_of::<Stands>() + self.ranks.as_ref().map_or(0, Ranks::bytes)
    }

    fn starts_firing(&self, row: usize) -> bool {
        row > 0 && self.steps[self.step_of[row]].firing != self.steps[self.step_of[row - 1]].firing
    }

    /// What is written, firing by firing. A deleted row comes before every other of its firing.
    fn resolve(&mut self, ranked: &[(usize, i64)]) -> Vec<Line> {
        let mut shown_of = vec![None; self.base.heads.len()];
        ranked.iter().enumerate().for_each(|(at, (row, _))| shown_of[*row] = Some(at));
        let (mut lines, mut rest, mut first) = (Vec::with_capacity(self.steps.len()), ranked, 0);
        let mut shown = 0;
        while first < self.steps.len() {
            let firing = self.steps[first].firing;
            let behind = first + self.steps[first..].partition_point(|step| step.firing == firing);
            self.resolve_deletes(first..behind, &shown_of, &mut lines);
            let here = rest.iter().take_while(|(row, _)| self.step_of[*row] < behind).count();
            for (at, (row, _)) in rest[..here].iter().enumerate() {
                let step = &self.steps[self.step_of[*row]];
                let What::Evaluated { due, .. } = step.what else { continue };
                let stands = &mut self.stands[step.standing.index()];
                if due || !stands.written {
                    lines.push(Line { at: Ok(shown + at), pane: step.pane, revision: stands.revision });
                    stands.revision += 1;
                    stands.written = true;
                }
            }
            (rest, shown) = (&rest[here..], shown + here);
            self.resolve_forgotten(first..behind);
            first = behind;
        }
        lines
    }

    /// Rows of a firing that no longer stand, by (end, start, key).
    fn resolve_deletes(&mut self, steps: std::ops::Range<usize>, shown_of: &[Option<usize>], lines: &mut Vec<Line>) {
        if !self.told {
            return;
        }
        let mut deleted: Vec<(Head, Standing, Pane)> = Vec::new();
        for step in &self.steps[steps] {
            let head = match step.what {
                What::Gone(head) => Head::Gone(head),
                What::Evaluated { row, .. } if shown_of[row].is_none() => Head::Base(row),
                _ => continue,
            };
            if self.stands[step.standing.index()].written {
                deleted.push((head, step.standing, step.pane));
            }
        }
        deleted.sort_by(|a, b| self.order(a.0).cmp(&self.order(b.0)));
        for (head, standing, pane) in deleted {
            let at = match head {
                Head::Gone(head) => head,
                Head::Base(row) => {
                    let (window, key) = self.base.heads.order(row);
                    self.gone.push(window, key)
                }
            };
            let stands = &mut self.stands[standing.index()];
            lines.push(Line { at: Err(at), pane, revision: stands.revision });
            *stands = Stands { revision: stands.revision + 1, written: false };
        }
    }

    fn order(&self, head: Head) -> (Window, &[u8]) {
        match head {
            Head::Base(row) => self.base.heads.order(row),
            Head::Gone(row) => self.gone.order(row),
        }
    }

    fn resolve_forgotten(&mut self, steps: std::ops::Range<usize>) {
        for step in self.steps[steps].iter().filter(|step| matches!(step.what, What::Forgotten)) {
            self.stands[step.standing.index()] = Stands::default();
            self.free.push(step.standing);
        }
    }

    fn count(&self, lines: &[Line], ranked: &[(usize, i64)], tally: &mut Tally) {
        for line in lines {
            let window = match line.at {
                Ok(shown) => self.base.heads.window(ranked[shown].0),
                Err(gone) => self.gone.window(gone),
            };
            tally.row_in(window);
        }
    }

    fn batch(&self, lines: &[Line], shown: &RecordBatch, keys: &[FieldType]) -> Result<RecordBatch> {
        let columns = self.columns(lines, shown, keys)?;
        if !self.told {
            return RecordBatch::try_new(shown.schema(), columns).map_err(|e| together(&e));
        }
        let told = lines.iter().map(|&Line { at, pane, revision }| Told { stands: at.is_ok(), pane, revision });
        self.with_told(columns, &told.collect::<Vec<_>>(), shown.schema())
    }

    /// Shown columns, and behind them what lines say of themselves.
    fn with_told(&self, mut columns: Vec<ArrayRef>, told: &[Told], shown: SchemaRef) -> Result<RecordBatch> {
        let op = told.iter().map(|told| if told.stands { "upsert" } else { "delete" });
        columns.push(Arc::new(StringArray::from_iter_values(op)));
        columns.push(Arc::new(StringArray::from_iter_values(told.iter().map(|told| told.pane.name()))));
        columns.push(Arc::new(Int64Array::from_iter_values(told.iter().map(|told| told.revision))));
        RecordBatch::try_new(self.schema(shown), columns).map_err(|e| together(&e))
    }

    /// Shown rows as they are, and of those that are gone the bounds and keys alone.
    fn columns(&self, lines: &[Line], shown: &RecordBatch, keys: &[FieldType]) -> Result<Vec<ArrayRef>> {
        if lines.len() == shown.num_rows() && lines.iter().enumerate().all(|(i, line)| line.at == Ok(i)) {
            return Ok(shown.columns().to_vec());
        }
        let heads = self.gone.columns(0..self.gone.len(), keys);
        let each = shown.columns().iter().enumerate().map(|(i, column)| {
            let (gone, is_head) = match heads.get(i) {
                Some(head) => (Arc::clone(head), true),
                None => (new_null_array(column.data_type(), 1), false),
            };
            let place = |line: &Line| match line.at {
                Ok(row) => (0, row),
                Err(row) => (1, if is_head { row } else { 0 }),
            };
            let indices: Vec<(usize, usize)> = lines.iter().map(place).collect();
            interleave(&[column.as_ref(), gone.as_ref()], &indices)
        });
        each.collect::<Result<_, _>>().map_err(|e| together(&e))
    }
}
