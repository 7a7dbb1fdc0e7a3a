//! Types of keys that no record looked at has: each is what it is compared with, so that values which come later, or
//! never, do not make two sides strangers.
//!
//! Must not know how keys are compared.

use super::{Program, types_of};
use crate::error::Result;
use crate::event::Side;
use crate::input::Prepared;
use crate::schema::{Column, FieldType, Role};

/// One side as far as its keys need it.
pub struct KeySide<'a> {
    /// What is computed of its records.
    pub program: &'a Program,
    /// Its inputs, looked at.
    pub inputs: &'a [Prepared],
    /// Its fields with their types.
    pub fields: &'a mut [Column],
}

/// Gives every key that nothing is known of the type of its partner. `keys`: the columns of both sides, pair by pair.
pub(super) fn agree(sides: &mut [KeySide<'_>; 2], keys: &[Vec<usize>; 2]) -> Result<()> {
    for (&left, &right) in keys[0].iter().zip(&keys[1]) {
        let pair = [left, right];
        let open = Side::BOTH.map(|side| sides[side.index()].open(pair[side.index()]));
        for side in Side::BOTH {
            let other = side.other().index();
            if let (Some(field), None) = (open[side.index()], open[other]) {
                let ty = sides[other].column_type(pair[other])?;
                sides[side.index()].fields[field].ty = ty;
            }
        }
    }
    Ok(())
}

impl KeySide<'_> {
    /// The field that a key column is, if it stands alone, was not declared, and no record looked at has a value of it.
    fn open(&self, column: usize) -> Option<usize> {
        let path = self.program.columns.get(column.checked_sub(1)?)?.expr.as_field()?;
        let field = self.fields.iter().position(|field| field.path == *path && field.role == Role::Key)?;
        let seen = self.inputs.iter().any(|input| input.sample.types.get(field).is_some_and(Option::is_some));
        (!seen && !self.fields[field].declared).then_some(field)
    }

    fn column_type(&self, column: usize) -> Result<FieldType> {
        let types = self.program.column_types(&types_of(self.fields))?;
        Ok(types.get(column).copied().unwrap_or(FieldType::Text))
    }
}
