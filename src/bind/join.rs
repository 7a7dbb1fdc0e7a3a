//! Names to columns of `windrow join`: what each side's records give, and the operator over both.
//!
//! Must not know how columns are computed; that is [`Program`](super::Program)'s.

use super::pairs::Sides;
use super::{Asking, KeySide, Names, ON, Program, keys, own_names, time_of};
use crate::error::Result;
use crate::event::Side;
use crate::operator::{Equality, Join, JoinSetup, JoinSide, Pair};
use crate::plan::JoinPlan;
use crate::schema::FieldType;
use std::sync::Arc;

/// The flags of each side's condition.
const WHERE: [&str; 2] = ["--left-where", "--right-where"];

/// The flags of each side's event time.
const TIME: [&str; 2] = ["--left-time", "--right-time"];

/// A join's columns, and what each is for.
pub struct Joining {
    /// What is computed of the records of each side.
    pub programs: [Arc<Program>; 2],
    keys: [Vec<usize>; 2],
    payload: [Vec<usize>; 2],
    pair: Pair,
}

impl Joining {
    /// What a plan asks for, given the top-level fields of both sides.
    pub fn of(plan: &JoinPlan, names: [&Names; 2]) -> Result<Self> {
        let mut asking = [side_of(plan, Side::Left, names)?, side_of(plan, Side::Right, names)?];
        let [left, right] = &mut asking;
        let keys = plan.on.keys.iter();
        let keys: (Vec<usize>, Vec<usize>) = keys.map(|(l, r)| (left.key(l, ON), right.key(r, ON))).unzip();
        let sides = Sides {
            names: names.map(|names| names.all.as_slice()),
            columns: &plan.columns,
            condition: plan.on.condition.as_ref(),
            left_only: !plan.kind.pairs,
            windows: plan.bounds.has_windows(),
            zone: &plan.output.zone,
        };
        let (pair, payload) = sides.ask(&mut asking)?;
        let [mut left, mut right] = asking;
        left.partition(plan.sides[0].clock.by.as_ref());
        right.partition(plan.sides[1].clock.by.as_ref());
        let programs = [left, right].map(|asking| Arc::new(asking.program(&plan.output.zone)));
        Ok(Self { programs, keys: keys.into(), payload, pair })
    }

    /// Gives keys that no record looked at has the types of their partners.
    pub fn agree(&self, mut sides: [KeySide<'_>; 2]) -> Result<()> {
        keys::agree(&mut sides, &self.keys)
    }

    /// The operator over columns of these types.
    pub fn operator(&self, plan: &JoinPlan, types: [Vec<FieldType>; 2]) -> Result<Join> {
        for side in Side::BOTH {
            self.programs[side.index()].check_conditions(&types[side.index()], [])?;
        }
        let columns = self.keys[0].iter().zip(&self.keys[1]);
        let on = plan.on.keys.iter().zip(columns).map(|((l, r), (&left, &right))| Equality {
            names: [l.with_side(0).shown(), r.with_side(1).shown()],
            columns: [left, right],
        });
        let [left, right] = types;
        let side = |side: Side, types: Vec<FieldType>| JoinSide { types, payload: self.payload[side.index()].clone() };
        Join::new(JoinSetup {
            kind: plan.kind,
            bounds: plan.bounds.clone(),
            watermark: plan.watermark,
            sides: [side(Side::Left, left), side(Side::Right, right)],
            on: on.collect(),
            pair: self.pair.clone(),
        })
    }
}

/// What is asked of one side by itself.
fn side_of<'a>(plan: &'a JoinPlan, side: Side, names: [&'a Names; 2]) -> Result<Asking<'a>> {
    let at = side.index();
    let side_plan = &plan.sides[at];
    let mut asking = Asking::of(&side_plan.input, time_of(&side_plan.input));
    let filter =
        side_plan.filter.as_ref().map(|filter| own_names(filter, side, &names[at].all, WHERE[at])).transpose()?;
    asking.fixed = &names[at].fixed;
    asking.select(filter.as_ref(), WHERE[at]);
    asking.own_time(plan.sides[side.other().index()].input.time.as_ref().map(|_| TIME[at]));
    Ok(asking)
}
