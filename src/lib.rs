//! windrow: watermarked windows over event files, from the shell.

pub mod account;
pub mod aggregate;
pub mod bind;
pub mod cli;
pub mod clock;
pub mod error;
pub mod event;
pub mod expr;
pub mod format;
pub mod input;
pub mod keys;
pub mod operator;
pub mod output;
pub mod panics;
pub mod plan;
pub mod report;
pub mod run;
pub mod schema;
pub mod signals;
pub mod time;
pub mod window;
