//! windrow: watermarked windows over event files, from the shell.

pub mod account;
pub mod aggregate;
pub mod cli;
pub mod error;
pub mod event;
pub mod expr;
pub mod format;
pub mod output;
pub mod plan;
pub mod report;
pub mod schema;
pub mod time;
pub mod window;
