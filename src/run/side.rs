//! One side of a job as it runs: its inputs until they are read, its clock, its account.
//!
//! Must not know what is done with the rows.

use super::ledger::Account;
use crate::bind::{KeySide, Program};
use crate::clock::{Clock, Sources};
use crate::error::Result;
use crate::event::{EventBatch, Watermark};
use crate::input::{self, Decode, Merge, Merged, Prepared, Start, Streams, Traffic};
use crate::keys::Keys;
use crate::operator::Tally;
use crate::plan::{BadPlan, ClockPlan, InputPlan};
use crate::report::{Empty, Part, Summary, Unseen};
use crate::schema::{Column, FieldType};
use crate::time::Ts;
use std::sync::Arc;

/// Inputs that were looked at, and what is computed of their records.
pub(super) struct Ready {
    pub(super) inputs: Vec<Prepared>,
    pub(super) program: Arc<Program>,
    pub(super) fields: Vec<Column>,
    pub(super) unseen: Vec<Unseen>,
}

impl Ready {
    /// Opens the inputs of a program whose fields are known by name.
    pub(super) fn open(plan: &InputPlan, bad: &BadPlan, program: Arc<Program>, traffic: &Traffic) -> Result<Self> {
        let inputs = input::prepare(plan, Streams::open(plan)?, &program.fields, traffic)?;
        Self::of(inputs, bad, program)
    }

    /// Finds types, and checks what can be checked before reading.
    pub(super) fn of(inputs: Vec<Prepared>, bad: &BadPlan, program: Arc<Program>) -> Result<Self> {
        let fields = program.columns(&inputs);
        let goes_on = bad.path.is_some() || bad.max.is_some();
        let unseen = program.check(goes_on, &fields, &inputs)?;
        Ok(Self { inputs, program, fields, unseen })
    }

    /// The same as one of two sides: what is told of its fields names it.
    pub(super) fn of_two(mut self) -> Self {
        let name = self.inputs.first().map(|input| input.name.clone());
        self.unseen.iter_mut().for_each(|unseen| unseen.input.clone_from(&name));
        self
    }

    /// The types of the job's columns.
    pub(super) fn types(&self) -> Result<Vec<FieldType>> {
        self.program.column_types(&types_of(&self.fields))
    }

    /// What its keys are told by.
    pub(super) fn key_side(&mut self) -> KeySide<'_> {
        KeySide { program: &self.program, inputs: &self.inputs, fields: &mut self.fields }
    }

    /// Whether somebody may be writing an input as it is read.
    pub(super) fn is_live(&self) -> bool {
        self.inputs.iter().any(Prepared::is_stream)
    }

    /// How the inputs' bytes become columns. `keep_raw`: records are wanted as they stood.
    pub(super) fn decode(&self, plan: &InputPlan, keep_raw: bool) -> Vec<Decode> {
        let layouts = self.program.layouts(plan, &self.fields, &self.inputs, keep_raw);
        let derive = self.program.derivations(&self.inputs);
        layouts.into_iter().zip(derive).map(|(layout, derive)| Decode { layout, derive }).collect()
    }

    /// Puts the inputs to work. Times outside of `matter` need not be read.
    pub(super) fn start(self, how: Vec<Decode>, start: &Start, matter: Option<(Ts, Ts)>) -> Result<Merge> {
        input::start(self.inputs, how, start, matter)
    }
}

/// A side whose inputs are being read.
pub(super) struct SideRun {
    pub(super) clock: Clock,
    pub(super) account: Account,
    program: Arc<Program>,
    /// The fields of the inputs, with their types as they are now.
    fields: Vec<Column>,
    concat: bool,
    unseen: Vec<Unseen>,
    nameless: bool,
}

impl SideRun {
    /// At its beginning. `unbounded`: why the job's state may grow with its input, if it may.
    pub(super) fn new(plan: &InputPlan, clock: &ClockPlan, ready: &Ready, unbounded: Option<&'static str>) -> Self {
        Self {
            clock: Clock::new(clock, if plan.concat { 1 } else { ready.inputs.len() }),
            account: Account::new(plan, &ready.inputs, clock.delay, unbounded),
            program: Arc::clone(&ready.program),
            fields: ready.fields.clone(),
            concat: plan.concat,
            unseen: ready.unseen.clone(),
            nameless: ready.program.lists_nothing(),
        }
    }

    /// Rows with the marks before each.
    pub(super) fn stamp(&mut self, merged: &Merged) -> EventBatch {
        self.account.rows(merged);
        let inputs;
        let values;
        let sources = match (self.program.partition(), merged.only_input()) {
            (Some(column), _) => {
                values = Keys::encode(&[Arc::clone(merged.rows.column(column))], merged.times.len());
                Sources::Named(&values)
            }
            (None, _) if self.concat => Sources::One(0),
            (None, Some(input)) => Sources::One(input),
            (None, None) => {
                inputs = merged.inputs();
                Sources::Each(&inputs)
            }
        };
        let marks = self.clock.stamp(&merged.times, sources, &merged.positions);
        EventBatch {
            rows: merged.rows.clone(),
            times: merged.times.clone(),
            marks,
            last_mark: self.clock.mark(),
            positions: merged.positions.clone(),
            selected: merged.selected.clone(),
        }
    }

    /// An input has ended: the watermark since, if it counts.
    pub(super) fn finish(&mut self, input: usize) -> Option<Watermark> {
        if self.concat {
            return None;
        }
        self.clock.finish(input);
        Some(self.clock.mark())
    }

    /// Some fields became wider with a record: the types of the job's columns since.
    pub(super) fn retype(&mut self, types: &[FieldType], input: usize, record: u64) -> Result<Vec<FieldType>> {
        self.account.widened(&self.fields, types, input, record);
        self.fields.iter_mut().zip(types).for_each(|(column, ty)| column.ty = *ty);
        self.program.column_types(types)
    }

    /// The account, given what the operator knows.
    pub(super) fn summary(&self, tally: &Tally) -> Summary {
        let summary = self.account.summary(&self.clock, tally, &self.fields, self.program.partition_field());
        Summary { unseen: self.unseen.clone(), ..summary }
    }

    /// What there is to tell of a side without records. One whose columns are known is nothing odd, but in a table.
    pub(super) fn empty(&self, part: Part) -> Option<Empty> {
        let is_odd = self.account.read() == 0 && (self.nameless || part == Part::Table);
        is_odd.then(|| Empty { input: self.account.first_name(), part, nameless: self.nameless })
    }
}

fn types_of(fields: &[Column]) -> Vec<FieldType> {
    fields.iter().map(|field| field.ty).collect()
}
