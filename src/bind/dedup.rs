//! Names to columns of `windrow dedup`: what makes two records the same, and what is written of them.
//!
//! Must not know how columns are computed; that is [`Program`](super::Program)'s.

use super::{Asking, Program, RECORD, time_of, time_or_none};
use crate::error::Result;
use crate::expr::{Key, SIDES, Scalar};
use crate::operator::{Dedup, DedupOutput, DedupSetup};
use crate::plan::DedupPlan;
use crate::schema::{FieldPath, FieldType, Role};
use std::sync::Arc;

/// A dedup's columns, and what each is for.
pub struct Deduping {
    /// What is computed of every record.
    pub program: Arc<Program>,
    keys: Vec<usize>,
    shown: Option<Vec<(usize, String)>>,
}

impl Deduping {
    /// What a plan asks for, given the top-level fields of the inputs. `verbatim`: records are passed on as they stand.
    /// `text`: whole records are compared as text, where there are no keys.
    pub fn of(plan: &DedupPlan, names: &[FieldPath], verbatim: bool, text: bool) -> Self {
        let timed = plan.within.is_some() || plan.events.clock.delay.is_some();
        let time = if timed { time_of(&plan.events.input) } else { time_or_none(&plan.events.input) };
        let mut asking = Asking::of(&plan.events.input, time);
        asking.select(plan.events.filter.as_ref(), "--where");
        let mut field = |path: &FieldPath, role: Role| asking.want(&Scalar::field(path.clone()), role, "--by");
        let keys = match (plan.keys.is_empty(), text) {
            (true, true) => vec![field(&FieldPath::new(vec![RECORD.to_owned()]), Role::Value)],
            (true, false) => names.iter().map(|path| field(path, Role::Whole)).collect(),
            (false, _) => {
                let own = |key: &Key| {
                    if names.iter().any(|path| path.parts()[0] == SIDES[0]) {
                        key.expr.clone()
                    } else {
                        key.expr.without_side(0)
                    }
                };
                plan.keys.iter().map(|key| asking.key(&own(key), "--by")).collect()
            }
        };
        let shown = (!verbatim).then(|| {
            let each = names.iter();
            each.map(|p| (asking.want(&Scalar::field(p.clone()), Role::Whole, "--output"), p.name())).collect()
        });
        if shown.is_some() {
            asking.all_fields();
        }
        asking.partition(plan.events.clock.by.as_ref());
        Self { program: Arc::new(asking.program(&plan.output.zone)), keys, shown }
    }

    /// The operator over columns of these types.
    pub fn operator(&self, plan: &DedupPlan, types: Vec<FieldType>) -> Result<Dedup> {
        self.program.check_conditions(&types, [])?;
        Dedup::new(DedupSetup {
            types,
            keys: self.keys.clone(),
            all_null_passes: !plan.keys.is_empty(),
            within: plan.within,
            output: match &self.shown {
                None => DedupOutput::Verbatim,
                Some(columns) => DedupOutput::Columns(columns.clone()),
            },
        })
    }
}
