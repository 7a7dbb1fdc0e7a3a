//! Fields whose types are still to be told: before any input is looked at all of them, afterwards those that no
//! sampled record has, which are of the type that they are used as.
//!
//! Must not know what is computed of them.

use super::{FILE, LINE, RECORD, is_named, position};
use crate::error::{Error, Result};
use crate::expr::Scope;
use crate::schema::{FieldPath, FieldType, Role, Wanted};
use std::cell::RefCell;

/// The fields of a job, some of known types.
pub(super) struct OpenFields<'a> {
    fields: &'a [Wanted],
    types: &'a [Option<FieldType>],
    /// The role in which a field is read that stands alone.
    role: Role,
    taken: RefCell<Vec<Option<FieldType>>>,
}

impl<'a> OpenFields<'a> {
    /// Nothing is known of what they are taken as.
    pub(super) fn new(fields: &'a [Wanted], types: &'a [Option<FieldType>]) -> Self {
        Self { fields, types, role: Role::Value, taken: RefCell::new(vec![None; fields.len()]) }
    }

    /// The same fields, for an expression of another role.
    pub(super) fn in_role(self, role: Role) -> Self {
        Self { role, ..self }
    }

    /// The types with those that fields are taken as; nothing where no more are known than before.
    pub(super) fn more(self) -> Option<Vec<Option<FieldType>>> {
        let taken = self.taken.into_inner();
        let mut types = self.types.to_vec();
        for (i, field) in self.fields.iter().enumerate().filter(|(i, _)| self.types[*i].is_none()) {
            let mut same = self.fields.iter().zip(&taken).filter(|(other, _)| other.path == field.path);
            if !matches!(field.role, Role::Key | Role::Whole) {
                types[i] =
                    same.find_map(|(other, taken)| taken.or((other.role == Role::Number).then_some(FieldType::Int)));
            }
        }
        (types != self.types).then_some(types)
    }
}

impl Scope for OpenFields<'_> {
    fn field(&self, path: &FieldPath) -> Result<(usize, FieldType)> {
        if is_named(path, FILE) {
            return Ok((self.fields.len(), FieldType::Text));
        }
        if is_named(path, LINE) {
            return Ok((self.fields.len() + 1, FieldType::Int));
        }
        if is_named(path, RECORD) {
            return Ok((self.fields.len() + 2, FieldType::Text));
        }
        let at = position(self.fields.iter().map(|field| (&field.path, field.role)), path, self.role)?;
        Ok((at, self.types[at].unwrap_or(FieldType::Text)))
    }

    fn aggregate(&self, _: usize) -> Result<(usize, FieldType)> {
        Err(Error::usage("an aggregate cannot stand here"))
    }

    fn is_open(&self, column: usize) -> bool {
        self.types.get(column).is_some_and(Option::is_none)
    }

    /// Any number is an integer until a fraction comes; what is taken as text stays open to all else.
    fn taken_as(&self, column: usize, ty: FieldType) {
        let ty = if ty.is_number() { FieldType::Int } else { ty };
        if let Some(taken) = self.taken.borrow_mut().get_mut(column)
            && !matches!(ty, FieldType::Text | FieldType::List(_))
        {
            taken.get_or_insert(ty);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::parse_scalar;
    use crate::time::Zone;

    fn wanted(name: &str) -> Wanted {
        Wanted { path: FieldPath::new(vec![name.into()]), role: Role::Value, declared: None }
    }

    /// What `z` is taken as, beside an integer, a double and a time.
    fn taken(text: &str) -> Option<FieldType> {
        let fields = ["n", "amt", "ts", "z", "y"].map(wanted);
        let types = [Some(FieldType::Int), Some(FieldType::Double), Some(FieldType::Time), None, None];
        let open = OpenFields::new(&fields, &types);
        let scalar = parse_scalar(text, "an expression").unwrap();
        scalar.check(&open, &Zone::UTC, None).unwrap_or_else(|error| panic!("{error}"));
        open.more().and_then(|types| types[3])
    }

    #[test]
    fn a_field_is_of_the_type_of_what_it_stands_beside() {
        for text in [
            "coalesce(z, 0)",
            "CASE WHEN n > 1 THEN z ELSE 0 END",
            "CASE WHEN n > 1 THEN z END + 1",
            "greatest(1, n, z)",
            "nullif(n, z)",
            "nullif(z, n)",
            "n = z",
            "z < amt",
            "n IN (z)",
            "z IN (1.5, 2)",
            "z BETWEEN n AND 5",
            "coalesce(z, y) > 1.5",
            "substr('abc', z)",
            "-z > y",
        ] {
            assert_eq!(taken(text), Some(FieldType::Int), "{text}");
        }
        for text in
            ["date_trunc('day', z)", "z > ts", "z + INTERVAL 1 DAY", "coalesce(z, ts)", "z > '2026-01-01'::date"]
        {
            assert_eq!(taken(text), Some(FieldType::Time), "{text}");
        }
        for text in ["NOT z", "z AND n > 1", "CASE WHEN z THEN 1 END"] {
            assert_eq!(taken(text), Some(FieldType::Bool), "{text}");
        }
        for text in ["z || 'x'", "lower(z) LIKE 'a%'", "z = 'x'", "z = y", "CAST(z AS double)", "z IS NULL", "n > 1"] {
            assert_eq!(taken(text), None, "{text}");
        }
    }

    #[test]
    fn what_depends_on_types_is_not_judged_before_they_are_known() {
        for text in [
            "date_trunc('day', coalesce(z, '2026-01-01'))",
            "greatest(z, '2026-01-01') > ts",
            "hour(CASE WHEN n > 1 THEN z ELSE '2026-01-01' END)",
            "abs(z) = n",
            "coalesce(z, '5') = n",
            "epoch(z - y) > 1",
            "z * 1 = '1e30'",
        ] {
            taken(text);
        }
    }
}
