//! `--on`: the condition of a join, taken apart into the keys of both sides and what is left.
//!
//! Must not know columns: names start with `l.` or `r.`, and which fields there are is found later.

use super::Scalar;

/// When two rows belong together, as far as their fields go.
#[derive(Clone)]
pub struct On {
    /// What must be equal: an expression over fields of the left record, and one over fields of the right. At least one.
    pub keys: Vec<(Scalar, Scalar)>,
    /// What else must be true, over fields named `l.` and `r.`.
    pub condition: Option<Scalar>,
}
