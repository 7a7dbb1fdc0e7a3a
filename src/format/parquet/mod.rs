//! Parquet: row groups to columns, columns to row groups.
//!
//! A file is opened once by its footer ([`ParquetInput`]); its row groups are [`Piece`]s that several threads decode
//! at once. Timestamps and dates carry their own unit and zone, so no time format is needed for them. Must not know
//! files: bytes come through a [`ChunkReader`], and an error names the row group and column, never a path.

mod convert;
mod fields;
mod read;
mod rows;
#[cfg(test)]
mod tests;
mod text;
mod times;
mod write;

pub use self::read::{ParquetInput, Piece};
pub use self::write::rows_encoder;
pub use ::parquet::file::reader::{ChunkReader, Length};

use super::{FormatKind, Read};
use ::parquet::errors::ParquetError;

/// The first and last bytes of a Parquet file.
const MAGIC: &[u8] = b"PAR1";

/// Parquet's row in the table of formats.
pub static PARQUET: FormatKind = FormatKind {
    name: "parquet",
    extensions: &["parquet", "pq"],
    doc: "Apache Parquet: columns, typed and compressed; times carry their own unit and zone",
    sniff: |head| head.starts_with(MAGIC),
    read: Read::Columns,
    write: Some(write::results),
};

/// The library's words for an error, without its names of error kinds.
fn reason(error: &ParquetError) -> String {
    let text = match error {
        ParquetError::General(text)
        | ParquetError::NYI(text)
        | ParquetError::EOF(text)
        | ParquetError::ArrowError(text) => text.clone(),
        other => other.to_string(),
    };
    let text = text.trim().trim_end_matches('.');
    ["Parquet error: ", "Parquet argument error: ", "Arrow: ", "External: ", "EOF: "]
        .iter()
        .fold(text, |text, prefix| text.strip_prefix(prefix).unwrap_or(text))
        .to_owned()
}
