//! The integration tests, in one crate so that everything is linked once.
#![expect(unreachable_pub, reason = "nothing is reachable in a test")]
#![expect(clippy::unwrap_used, reason = "a test that panics is a test that fails")]

mod arch;
mod cases;
mod dedup_model;
mod dedups;
mod errors;
mod expressions;
mod folder;
mod helpers;
mod inputs;
mod join_cases;
mod join_model;
mod join_runs;
mod joins;
mod lookup_model;
mod lookups;
mod model;
mod oracle;
mod outputs;
mod queries;
mod readme;
mod rows_model;
mod sides;
mod tables;
mod updates;
mod updates_model;
mod weather;
