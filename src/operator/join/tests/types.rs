//! One rule at a time.
use super::*;
