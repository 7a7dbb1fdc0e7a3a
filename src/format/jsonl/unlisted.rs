//! Fields at the top of records that a layout of all fields does not list: each is told once a chunk, with its line.
//!
//! A record that has one is noticed by its [own cell](super::scan::Scanner), which costs nothing where none has; only
//! then is the line walked over for names. Must not know what is done about them.

use super::general;
use super::tree::{ROOT, Tree};
use crate::format::Unlisted;

/// Names told of one chunk at most.
const MOST: usize = 100;

/// What was found so far.
#[derive(Default)]
pub(super) struct Found(Vec<Unlisted>);

impl Found {
    /// Whether nothing more is to be found out about a field.
    pub(super) fn knows(&self, name: &[u8]) -> bool {
        self.is_full() || self.0.iter().any(|unlisted| unlisted.name.as_bytes() == name)
    }

    /// Whether no other name is told.
    pub(super) fn is_full(&self) -> bool {
        self.0.len() >= MOST
    }

    /// Adds the names in a record, which was checked before.
    #[cold]
    pub(super) fn add(&mut self, record: &[u8], line: u64, tree: &Tree) {
        let Ok(text) = std::str::from_utf8(record) else { return };
        let walked = general::each_member(text, |name, _| {
            if tree.child(ROOT, name.as_bytes()).is_none() && !self.knows(name.as_bytes()) {
                self.0.push(Unlisted { name: name.to_owned(), line });
            }
        });
        debug_assert!(walked.is_ok(), "the record was checked");
    }

    /// All of them.
    pub(super) fn into_all(self) -> Vec<Unlisted> {
        self.0
    }
}
