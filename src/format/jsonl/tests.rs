//! Chunks to columns, by the fast path and by the definition.
