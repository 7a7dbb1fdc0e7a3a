//! Where records come from: inputs opened, sniffed and sampled, decoded by several threads, merged by event time.
//!
//! Must not know watermarks or operators. Adds path and line to errors. Invariants: records of one input come in
//! their order, whatever thread decoded them; the merge depends on the data alone, never on read sizes or on who was
//! quicker; the number of open files is bounded, whatever the number of inputs.

mod bytes;
mod columns;
mod merge;
mod pool;
mod prepare;
mod sides;
#[cfg(test)]
mod tests;

pub use bytes::name;
pub use merge::{BadItem, Item, Merge, Merged, Origin, RawRecord};
pub use pool::{Pool, Traffic};
pub use prepare::{Decode, Prepared, Start, Streams, prepare, start};
pub use sides::{SidedItem, SidedRows, Sides};
