//! The integration tests, in one crate so that everything is linked once.

mod arch;
mod cases;
mod helpers;
mod model;
mod oracle;
