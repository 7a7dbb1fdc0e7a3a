//! The fields that two rows side by side need of each side, for what is written of them and asked of them.
//!
//! Must not know how the rows find each other.

use super::Asking;
use crate::error::{Error, Result};
use crate::event::Side;
use crate::expr::{Output, PairColumn, Scalar, Use, on_side, side_of};
use crate::operator::{Pair, PairField};
use crate::plan::PairColumns;
use crate::schema::{FieldPath, Role};
use crate::time::Zone;
use std::collections::HashSet;

/// What is put side by side.
pub(super) struct Sides<'a> {
    /// The top-level fields of each side, as far as they are known.
    pub(super) names: [&'a [FieldPath]; 2],
    /// What is written.
    pub(super) columns: &'a PairColumns,
    /// What must be true of a pair.
    pub(super) condition: Option<&'a Scalar>,
    /// Only left rows are written, unless a selection says otherwise.
    pub(super) left_only: bool,
    /// Results stand in windows.
    pub(super) windows: bool,
    /// The zone of times in expressions.
    pub(super) zone: &'a Zone,
}

/// A field of one side, and in what role it is read.
struct Needed {
    field: PairField,
    role: Role,
}

impl Sides<'_> {
    /// What pairs are made of, and the columns that each side's program gives for it.
    pub(super) fn ask(&self, asking: &mut [Asking<'_>; 2]) -> Result<(Pair, [Vec<usize>; 2])> {
        let select = self.selection()?;
        let needed = self.needed(select.as_deref())?;
        let mut columns = [Vec::new(), Vec::new()];
        for side in Side::BOTH {
            let flag = if select.is_some() { "--select" } else { "--on, beside its keys" };
            let all = self.takes_all(side);
            let each = needed[side.index()].iter();
            columns[side.index()] =
                each.map(|n| asking[side.index()].want(&Scalar::field(n.field.path.clone()), n.role, flag)).collect();
            if all {
                asking[side.index()].all_fields();
            }
        }
        let fields = needed.map(|all| all.into_iter().map(|needed| needed.field).collect());
        let condition = self.condition.cloned();
        Ok((Pair { fields, condition, select, windows: self.windows, zone: self.zone.clone() }, columns))
    }

    /// The selection with the names of its columns.
    fn selection(&self) -> Result<Option<Vec<Output>>> {
        let Some(select) = &self.columns.select else { return Ok(None) };
        let listed = self.listed(select)?;
        let mut taken: HashSet<String> = bounds(self.windows);
        let mut outputs = Vec::new();
        for (at, (output, side)) in listed.iter().enumerate() {
            let clashes = |(other, (column, of)): (usize, &(Output, Option<Side>))| {
                other != at && column.name == output.name && (of.is_none() || of != side)
            };
            let is_taken = taken.contains(&output.name) || listed.iter().enumerate().any(clashes);
            let name = match side {
                Some(side) if is_taken => format!("{}{}", self.prefix(*side), output.name),
                _ => output.name.clone(),
            };
            if !taken.insert(name.clone()) {
                return Err(Error::usage(format!("--select: two columns would be called \"{name}\""))
                    .hint("name one of them with AS, or leave it out: 'l.* EXCLUDE (a)'"));
            }
            outputs.push(Output { expr: output.expr.clone(), name });
        }
        Ok(Some(outputs))
    }

    /// All columns one by one, with the side of those that are fields called as there: a prefix tells them from
    /// others, while an alias stays.
    fn listed(&self, select: &[PairColumn]) -> Result<Vec<(Output, Option<Side>)>> {
        let mut listed = Vec::new();
        for column in select {
            match column {
                PairColumn::One(output) => {
                    let field = output.expr.as_field().map_or(Ok(None), |path| self.resolve(path))?;
                    let side = field.filter(|(_, path)| path.name() == output.name).map(|(side, _)| side);
                    listed.push((output.clone(), side));
                }
                PairColumn::All { side, but } => self.every(*side, but, &mut listed)?,
            }
        }
        Ok(listed)
    }

    /// The fields of one side, or of all that are shown, but for some.
    fn every(&self, only: Option<usize>, but: &[String], listed: &mut Vec<(Output, Option<Side>)>) -> Result<()> {
        let sides =
            || Side::BOTH.into_iter().filter(|side| self.shows(*side) && only.is_none_or(|o| o == side.index()));
        let known =
            |name: &String| sides().any(|side| self.names[side.index()].iter().any(|path| path.name() == *name));
        let named = sides().all(|side| !self.names[side.index()].is_empty());
        if let Some(name) = but.iter().find(|name| named && !known(name)) {
            return Err(Error::usage(format!("--select: EXCLUDE leaves out \"{name}\", which is no field there")));
        }
        for side in sides() {
            for path in self.names[side.index()].iter().filter(|path| !but.contains(&path.name())) {
                let expr = Scalar::field(on_side(side.index(), path));
                listed.push((Output { expr, name: path.name() }, Some(side)));
            }
        }
        Ok(())
    }

    fn shows(&self, side: Side) -> bool {
        !(self.left_only && side == Side::Right)
    }

    /// Whether all fields of a side are written, as far as they are known.
    fn takes_all(&self, side: Side) -> bool {
        let all = |column: &PairColumn| match column {
            PairColumn::All { side: only, .. } => only.is_none_or(|only| only == side.index()),
            PairColumn::One(_) => false,
        };
        self.shows(side) && self.columns.select.as_ref().is_none_or(|select| select.iter().any(all))
    }

    fn prefix(&self, side: Side) -> &str {
        match side {
            Side::Left => &self.columns.left_prefix,
            Side::Right => &self.columns.right_prefix,
        }
    }

    fn needed(&self, select: Option<&[Output]>) -> Result<[Vec<Needed>; 2]> {
        let mut needed = match select {
            Some(_) => [Vec::new(), Vec::new()],
            None => self.all_fields()?,
        };
        for output in select.unwrap_or_default() {
            match output.expr.as_field() {
                Some(path) => self.need(path, Role::Whole, &mut needed)?,
                None => self.need_all(&output.expr, &mut needed)?,
            }
        }
        if let Some(condition) = self.condition {
            self.need_all(condition, &mut needed)?;
        }
        Ok(needed)
    }

    /// All fields of both sides under names that can be told apart.
    fn all_fields(&self) -> Result<[Vec<Needed>; 2]> {
        let shown = |side: Side| if self.left_only && side == Side::Right { &[] } else { self.names[side.index()] };
        let mut taken = bounds(self.windows);
        let mut all = [Vec::new(), Vec::new()];
        for side in Side::BOTH {
            for path in shown(side) {
                let name = path.name();
                let clashes = shown(side.other()).iter().any(|other| other.name() == name);
                let name = if clashes { format!("{}{name}", self.prefix(side)) } else { name };
                if !taken.insert(name.clone()) {
                    return Err(Error::usage(format!("two columns would be called \"{name}\"")).hint(
                        "--left-prefix and --right-prefix tell names of both sides apart, --select picks columns",
                    ));
                }
                all[side.index()]
                    .push(Needed { field: PairField { path: path.clone(), shown: Some(name) }, role: Role::Whole });
            }
        }
        Ok(all)
    }

    fn need_all(&self, expr: &Scalar, needed: &mut [Vec<Needed>; 2]) -> Result<()> {
        for (path, used) in expr.fields() {
            let role = if used == Use::Number { Role::Number } else { Role::Value };
            self.need(path, role, needed)?;
        }
        Ok(())
    }

    /// A field that is calculated with is read so wherever it stands.
    fn need(&self, path: &FieldPath, role: Role, needed: &mut [Vec<Needed>; 2]) -> Result<()> {
        let Some((side, path)) = self.resolve(path)? else { return Ok(()) };
        let all = &mut needed[side.index()];
        match all.iter_mut().find(|known| known.field.path == path) {
            Some(known) if strength(role) > strength(known.role) => known.role = role,
            Some(_) => {}
            None => all.push(Needed { field: PairField { path, shown: None }, role }),
        }
        Ok(())
    }

    /// Which side's field a name is; none: a bound of the window.
    fn resolve(&self, path: &FieldPath) -> Result<Option<(Side, FieldPath)>> {
        let first = &path.parts()[0];
        if self.windows && path.parts().len() == 1 && bounds(true).contains(first) {
            return Ok(None);
        }
        if let Some((side, path)) = side_of(path) {
            return Ok(Some((Side::BOTH[side], path)));
        }
        let on = |side: Side| self.names[side.index()].iter().any(|name| name.parts()[0] == *first);
        match (on(Side::Left), on(Side::Right)) {
            (true, false) => Ok(Some((Side::Left, path.clone()))),
            (false, true) => Ok(Some((Side::Right, path.clone()))),
            (true, true) => Err(Error::usage(format!("both sides have a field \"{path}\""))
                .hint(format!("l.{path} is the left one, r.{path} the right one"))),
            (false, false) => Err(Error::usage(format!("neither side is known to have a field \"{path}\""))
                .hint(format!("say which side's it is: l.{path} or r.{path}"))),
        }
    }
}

fn bounds(windows: bool) -> HashSet<String> {
    match windows {
        true => ["window_start", "window_end"].into_iter().map(str::to_owned).collect(),
        false => HashSet::new(),
    }
}

fn strength(role: Role) -> u8 {
    match role {
        Role::Number => 2,
        Role::Whole => 0,
        _ => 1,
    }
}
