//! Names to columns of `windrow lookup`: what the events and the table give, and the operator over both.
//!
//! Must not know how columns are computed; that is [`Program`](super::Program)'s.

use super::pairs::Sides;
use super::{Asking, KeySide, Names, ON, Program, keys, own_names, time_of, time_or_none};
use crate::error::Result;
use crate::event::{Positions, Side};
use crate::expr::Scalar;
use crate::operator::{Equality, Lookup, LookupSetup, Pair, TableRows};
use crate::plan::{LookupKind, LookupPlan, Pick};
use crate::schema::{FieldType, Role};
use arrow::array::RecordBatch;
use std::sync::Arc;

/// Flags that messages name.
const TABLE_WHERE: &str = "--table-where";
const DELETE_WHEN: &str = "--delete-when";

/// A lookup's columns, and what each is for.
pub struct LookingUp {
    /// What is computed of events and of rows of the table.
    pub programs: [Arc<Program>; 2],
    keys: [Vec<usize>; 2],
    payload: [Vec<usize>; 2],
    delete: Option<usize>,
    pair: Pair,
}

impl LookingUp {
    /// What a plan asks for, given the top-level fields of the events and the table.
    pub fn of(plan: &LookupPlan, names: [&Names; 2]) -> Result<Self> {
        let time = match plan.pick {
            Pick::AsOf(_) => time_of(&plan.events.input),
            Pick::Only | Pick::First | Pick::All => time_or_none(&plan.events.input),
        };
        let mut events = Asking::of(&plan.events.input, time);
        events.fixed = &names[0].fixed;
        let own = |filter: Option<&Scalar>, side: Side, flag: &str| {
            filter.map(|filter| own_names(filter, side, &names[side.index()].all, flag)).transpose()
        };
        events.select(own(plan.events.filter.as_ref(), Side::Left, "--where")?.as_ref(), "--where");
        let mut table = Asking::of(&plan.table, time_or_none(&plan.table));
        table.fixed = &names[1].fixed;
        table.select(own(plan.table_filter.as_ref(), Side::Right, TABLE_WHERE)?.as_ref(), TABLE_WHERE);
        let keys = plan.on.keys.iter();
        let keys: (Vec<usize>, Vec<usize>) = keys.map(|(l, r)| (events.key(l, ON), table.key(r, ON))).unzip();
        let delete = own(delete_when(&plan.pick), Side::Right, DELETE_WHEN)?;
        let delete = delete.map(|delete| table.want(&delete, Role::Value, DELETE_WHEN));
        let sides = Sides {
            names: names.map(|names| names.all.as_slice()),
            columns: &plan.columns,
            condition: None,
            left_only: plan.kind == LookupKind::Anti,
            windows: false,
            zone: &plan.output.zone,
        };
        let mut both = [events, table];
        let (pair, payload) = sides.ask(&mut both)?;
        let programs = both.map(|asking| Arc::new(asking.program(&plan.output.zone)));
        Ok(Self { programs, keys: keys.into(), payload, delete, pair })
    }

    /// Gives keys that no record looked at has the types of their partners.
    pub fn agree(&self, mut sides: [KeySide<'_>; 2]) -> Result<()> {
        keys::agree(&mut sides, &self.keys)
    }

    /// Checks conditions of the table, given the types of its columns.
    pub fn check_table(&self, types: &[FieldType]) -> Result<()> {
        self.programs[1].check_conditions(types, self.delete)
    }

    /// The operator over events with columns of these types, and a table read to its end.
    pub fn operator(
        &self,
        plan: &LookupPlan,
        types: Vec<FieldType>,
        table_types: Vec<FieldType>,
        rows: WholeTable,
    ) -> Result<Lookup> {
        self.programs[0].check_conditions(&types, [])?;
        let columns = self.keys[0].iter().zip(&self.keys[1]);
        let on = plan.on.keys.iter().zip(columns).map(|((l, r), (&left, &right))| Equality {
            names: [l.with_side(0).shown(), r.with_side(1).shown()],
            columns: [left, right],
        });
        let [payload, table_payload] = self.payload.clone();
        let table = TableRows {
            first_types: rows.first_types,
            types: table_types,
            batches: rows.batches,
            delete: self.delete,
            payload: table_payload,
            positions: rows.positions,
            names: rows.names,
        };
        Lookup::new(LookupSetup {
            types,
            payload,
            on: on.collect(),
            table,
            pick: plan.pick.clone(),
            kind: plan.kind,
            pair: self.pair.clone(),
        })
    }
}

/// All rows of a table.
#[derive(Default)]
pub struct WholeTable {
    /// In order, all of the same types.
    pub batches: Vec<RecordBatch>,
    /// Where each batch's rows stand in the inputs.
    pub positions: Vec<Positions>,
    /// What the inputs are called.
    pub names: Vec<String>,
    /// The types of its columns, as the first rows had them.
    pub first_types: Vec<FieldType>,
}

fn delete_when(pick: &Pick) -> Option<&Scalar> {
    match pick {
        Pick::AsOf(as_of) => as_of.delete_when.as_ref(),
        Pick::Only | Pick::First | Pick::All => None,
    }
}
