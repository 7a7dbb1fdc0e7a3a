//! Aligned columns for a terminal.
//!
//! Must not know files. Widths are taken from the first rows and grow when a later row needs more. Control characters
//! in values are escaped: no input may drive the terminal.

use super::plain::{PlainColumn, is_number};
use super::{EncodeOptions, Encoder, FormatKind, Read};
use crate::error::Result;
use crate::time::Zone;
use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, SchemaRef};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Aligned columns, to look at.
pub static TABLE: FormatKind = FormatKind {
    name: "table",
    extensions: &[],
    doc: "aligned columns, to look at",
    sniff: |_| false,
    read: Read::No,
    write: Some(encoder),
};

/// How many rows are kept until the widths are settled.
const SIZING_ROWS: usize = 1_000;
/// Text columns are not made narrower than this to fit a line.
const LEAST_WIDTH: usize = 10;
const GAP: &str = "  ";

fn encoder(schema: &SchemaRef, options: &EncodeOptions) -> Result<Box<dyn Encoder>> {
    Ok(Box::new(Table::new(schema, options)))
}

struct Table {
    zone: Zone,
    /// The width of the terminal.
    limit: Option<usize>,
    columns: Vec<TableColumn>,
    /// The cells of rows that were not written yet, row by row.
    cells: Vec<String>,
    /// Whether the widths are settled and the header is written.
    begun: bool,
}

struct TableColumn {
    name: String,
    number: bool,
    /// Whether its values may be cut to fit: half a number or an instant is worse than none.
    elastic: bool,
    width: usize,
}

impl TableColumn {
    fn new(field: &Field) -> Self {
        let name = printable(field.name());
        let mut column = TableColumn { width: name.width(), name, number: false, elastic: false };
        column.set_type(field.data_type());
        column
    }

    fn set_type(&mut self, ty: &DataType) {
        self.number = is_number(ty);
        self.elastic = !self.number && !matches!(ty, DataType::Timestamp(..) | DataType::Boolean);
    }
}

impl Table {
    fn new(schema: &SchemaRef, options: &EncodeOptions) -> Self {
        let columns = schema.fields().iter().map(|field| TableColumn::new(field)).collect();
        Table { zone: options.zone.clone(), limit: options.width, columns, cells: Vec::new(), begun: false }
    }

    fn take_cells(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = batch.columns().iter().map(|column| PlainColumn::new(column.as_ref(), &self.zone));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let mut text = Vec::new();
        for row in 0..batch.num_rows() {
            for column in &columns {
                text.clear();
                let cell = match column.append(row, &mut text)? {
                    true => printable(&String::from_utf8_lossy(&text)),
                    false => "null".to_owned(),
                };
                self.cells.push(cell);
            }
        }
        Ok(())
    }

    /// Writes the rows at hand, below a header if there was none yet.
    fn write_rows(&mut self, out: &mut Vec<u8>) {
        let cells = std::mem::take(&mut self.cells);
        for row in cells.chunks(self.columns.len().max(1)) {
            for (column, cell) in self.columns.iter_mut().zip(row) {
                column.width = column.width.max(cell.width());
            }
        }
        self.fit();
        if !std::mem::replace(&mut self.begun, true) {
            self.write_line(self.columns.iter().map(|column| column.name.as_str()), out);
            let rules: Vec<_> = self.columns.iter().map(|column| "─".repeat(column.width)).collect();
            self.write_line(rules.iter().map(String::as_str), out);
        }
        for row in cells.chunks(self.columns.len().max(1)) {
            self.write_line(row.iter().map(String::as_str), out);
        }
    }

    /// Makes text columns narrower, always the widest, until a line fits or none can give any more.
    fn fit(&mut self) {
        let Some(limit) = self.limit else { return };
        for column in self.columns.iter_mut().filter(|column| column.elastic) {
            column.width = column.width.min(limit);
        }
        let gaps = GAP.len() * self.columns.len().saturating_sub(1);
        let mut width = gaps + self.columns.iter().map(|column| column.width).sum::<usize>();
        while width > limit {
            let narrowable = self.columns.iter_mut().filter(|column| column.elastic && column.width > LEAST_WIDTH);
            let Some(widest) = narrowable.max_by_key(|column| column.width) else { return };
            widest.width -= 1;
            width -= 1;
        }
    }

    fn write_line<'a>(&self, cells: impl Iterator<Item = &'a str>, out: &mut Vec<u8>) {
        let mut line = String::new();
        for (index, (column, cell)) in self.columns.iter().zip(cells).enumerate() {
            if index > 0 {
                line.push_str(GAP);
            }
            let cell = if column.elastic { cut(cell, column.width) } else { cell.to_owned() };
            let padding = " ".repeat(column.width.saturating_sub(cell.width()));
            match column.number {
                true => line.extend([padding, cell]),
                false => line.extend([cell, padding]),
            }
        }
        let line = cut(line.trim_end_matches(' '), self.limit.unwrap_or(usize::MAX));
        out.extend_from_slice(line.as_bytes());
        out.push(b'\n');
    }
}

impl Encoder for Table {
    fn write(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        self.take_cells(batch)?;
        if self.begun || self.cells.len() >= SIZING_ROWS * self.columns.len() {
            self.write_rows(out);
        }
        Ok(())
    }

    fn flush(&mut self, out: &mut Vec<u8>) -> Result<()> {
        if !self.cells.is_empty() {
            self.write_rows(out);
        }
        Ok(())
    }

    fn schema_changed(&mut self, schema: &SchemaRef) -> Result<()> {
        for (column, field) in self.columns.iter_mut().zip(schema.fields()) {
            column.set_type(field.data_type());
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        if !self.begun || !self.cells.is_empty() {
            self.write_rows(out);
        }
        Ok(())
    }
}

/// A text that fits a width, its end replaced by `…` if it must.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut left = width.saturating_sub(1);
    let fits = |c: &char| {
        let width = c.width().unwrap_or(0);
        let fits = width <= left;
        left = left.saturating_sub(width);
        fits
    };
    let mut kept: String = text.chars().take_while(fits).collect();
    if width > 0 {
        kept.push('…');
    }
    kept
}

/// A text without anything that a terminal obeys: control characters, and marks that turn the direction of a line.
fn printable(text: &str) -> String {
    if text.bytes().all(|b| (0x20..0x7f).contains(&b)) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_control() => shown.extend(c.escape_default()),
            '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                shown.extend(c.escape_unicode());
            }
            c => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, Float64Array, Int64Array, StringArray, TimestampMicrosecondArray};
    use std::sync::Arc;

    fn table(columns: &[(&str, ArrayRef)], width: Option<usize>) -> String {
        let batch = RecordBatch::try_from_iter(columns.iter().cloned()).unwrap();
        let mut encoder = Table::new(&batch.schema(), &EncodeOptions { zone: Zone::UTC, width });
        let mut out = Vec::new();
        encoder.write(&batch, &mut out).unwrap();
        encoder.finish(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn texts(values: &[&str]) -> ArrayRef {
        Arc::new(StringArray::from(values.to_vec()))
    }

    #[test]
    fn columns_line_up_with_numbers_at_the_right() {
        let times = TimestampMicrosecondArray::from(vec![Some(0), None]).with_timezone("UTC");
        let shown = table(
            &[
                ("window_start", Arc::new(times)),
                ("page", texts(&["日本", "a"])),
                ("n", Arc::new(Int64Array::from(vec![Some(5), Some(1234)]))),
                ("avg", Arc::new(Float64Array::from(vec![Some(1.0), None]))),
            ],
            None,
        );
        let expected = "\
window_start          page     n   avg
────────────────────  ────  ────  ────
1970-01-01T00:00:00Z  日本     5   1.0
null                  a     1234  null
";
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_line_fits_the_terminal() {
        let long = "x".repeat(30);
        let shown = table(&[("a", texts(&[&long])), ("n", Arc::new(Int64Array::from(vec![7])))], Some(20));
        assert_eq!(shown.lines().nth(2), Some("xxxxxxxxxxxxxxxx…  7"));
        let shown = table(&[("a", texts(&[&long])), ("b", texts(&[&long]))], Some(15));
        assert!(
            shown.lines().all(|line| line.width() <= 15 && line.ends_with('…') || line.starts_with('a')),
            "{shown}"
        );
    }

    #[test]
    fn an_instant_is_never_cut_for_a_texts_sake() {
        let times: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![0]).with_timezone("UTC"));
        let shown = table(&[("t", times), ("a", texts(&[&"x".repeat(30)]))], Some(34));
        assert_eq!(shown.lines().nth(2), Some("1970-01-01T00:00:00Z  xxxxxxxxxxx…"));
    }

    #[test]
    fn a_wide_character_is_not_cut_in_half() {
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("ab", 1), "…");
        assert_eq!(cut("ab", 0), "");
    }

    #[test]
    fn values_cannot_drive_the_terminal() {
        let shown = table(&[("a\u{7}", texts(&["\u{1b}[2J\n", "\u{202e}x\u{9b}"]))], None);
        assert!(!shown.chars().any(|c| c != '\n' && c.is_control() || c == '\u{202e}'), "{shown:?}");
        assert!(shown.contains("\\u{1b}[2J\\n") && shown.lines().count() == 4);
    }

    #[test]
    fn nothing_is_still_a_header() {
        assert_eq!(table(&[("a", texts(&[]))], Some(80)), "a\n─\n");
    }

    #[test]
    fn later_rows_widen_the_columns() {
        let first =
            RecordBatch::try_from_iter([("a", texts(&vec!["x"; SIZING_ROWS])), ("b", texts(&vec!["y"; SIZING_ROWS]))]);
        let first = first.unwrap();
        let second = RecordBatch::try_from_iter([("a", texts(&["wide"])), ("b", texts(&["y"]))]).unwrap();
        let mut encoder = Table::new(&first.schema(), &EncodeOptions { zone: Zone::UTC, width: None });
        let (mut out, mut more) = (Vec::new(), Vec::new());
        encoder.write(&first, &mut out).unwrap();
        assert!(out.ends_with(b"x  y\n"));
        encoder.write(&second, &mut more).unwrap();
        encoder.finish(&mut more).unwrap();
        assert_eq!(more, b"wide  y\n");
    }
}
