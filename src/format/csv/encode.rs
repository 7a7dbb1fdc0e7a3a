//! Columns to CSV.
//!
//! Must not know windows or files. A header comes first, also when no row follows; lines end in `\n`; a text is quoted
//! only where it must be. Nothing at all is a null and `""` an empty text, as the decoder reads them; a row that is one
//! null is written `""`, since nobody can see an empty line.

use crate::error::Result;
use crate::format::plain::PlainColumn;
use crate::format::{EncodeOptions, Encoder};
use crate::time::Zone;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

/// Makes an encoder with commas.
pub(super) fn csv(schema: &SchemaRef, options: &EncodeOptions) -> Result<Box<dyn Encoder>> {
    Ok(Box::new(Delimited::new(schema, options, b',')))
}

/// Makes an encoder with tabs.
pub(super) fn tsv(schema: &SchemaRef, options: &EncodeOptions) -> Result<Box<dyn Encoder>> {
    Ok(Box::new(Delimited::new(schema, options, b'\t')))
}

struct Delimited {
    delimiter: u8,
    zone: Zone,
    /// The columns' names until they were written.
    header: Option<Vec<String>>,
    scratch: Vec<u8>,
}

impl Delimited {
    fn new(schema: &SchemaRef, options: &EncodeOptions, delimiter: u8) -> Self {
        let names = schema.fields().iter().map(|field| field.name().clone()).collect();
        Delimited { delimiter, zone: options.zone.clone(), header: Some(names), scratch: Vec::new() }
    }

    fn write_header(&mut self, out: &mut Vec<u8>) {
        let Some(names) = self.header.take() else { return };
        for (index, name) in names.iter().enumerate() {
            self.separate(index, out);
            append_text(name.as_bytes(), self.delimiter, out);
        }
        out.push(b'\n');
    }

    fn write_row(&mut self, columns: &[PlainColumn<'_>], row: usize, out: &mut Vec<u8>) -> Result<()> {
        for (index, column) in columns.iter().enumerate() {
            self.separate(index, out);
            if !column.is_free_text() {
                column.append(row, out)?;
                continue;
            }
            self.scratch.clear();
            if column.append(row, &mut self.scratch)? {
                append_text(&self.scratch, self.delimiter, out);
            }
        }
        Ok(())
    }

    fn separate(&self, index: usize, out: &mut Vec<u8>) {
        if index > 0 {
            out.push(self.delimiter);
        }
    }
}

impl Encoder for Delimited {
    fn write(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        self.write_header(out);
        let zone = self.zone.clone();
        let columns = batch.columns().iter().map(|column| PlainColumn::new(column.as_ref(), &zone));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        for row in 0..batch.num_rows() {
            let start = out.len();
            self.write_row(&columns, row, out)?;
            if out.len() == start {
                out.extend_from_slice(b"\"\"");
            }
            out.push(b'\n');
        }
        Ok(())
    }

    fn schema_changed(&mut self, _schema: &SchemaRef) -> Result<()> {
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        self.write_header(out);
        Ok(())
    }
}

/// Appends a text, in quotes if it is empty or holds what would end it or open quotes.
fn append_text(text: &[u8], delimiter: u8, out: &mut Vec<u8>) {
    let special = |&b: &u8| b == delimiter || b == b'"' || b == b'\n' || b == b'\r';
    if !text.is_empty() && !text.iter().any(special) {
        return out.extend_from_slice(text);
    }
    out.push(b'"');
    for (index, piece) in text.split(|&b| b == b'"').enumerate() {
        if index > 0 {
            out.extend_from_slice(b"\"\"");
        }
        out.extend_from_slice(piece);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{
        ArrayRef, BooleanArray, Decimal128Array, DictionaryArray, Float64Array, Int64Array, StringArray,
        StringViewArray, TimestampMicrosecondArray, UInt64Array,
    };
    use arrow::datatypes::Int32Type;
    use proptest::prelude::*;
    use std::sync::Arc;

    fn encoded(columns: &[(&str, ArrayRef)], delimiter: u8) -> String {
        let batch = RecordBatch::try_from_iter(columns.iter().cloned()).unwrap();
        let options = EncodeOptions { zone: Zone::UTC, width: None };
        let mut encoder = Delimited::new(&batch.schema(), &options, delimiter);
        let mut out = Vec::new();
        encoder.write(&batch, &mut out).unwrap();
        encoder.finish(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn texts(values: &[Option<&str>]) -> ArrayRef {
        Arc::new(StringArray::from(values.to_vec()))
    }

    #[test]
    fn texts_are_quoted_only_where_they_must() {
        let column = texts(&[Some("a b"), Some("a,b"), Some("a\tb"), Some("\"x\""), Some("a\nb\r"), Some(""), None]);
        let second: ArrayRef = Arc::new(Int64Array::from(vec![1; 7]));
        let columns = [("na,me", column), ("n", second)];
        let expected = "\"na,me\",n\na b,1\n\"a,b\",1\na\tb,1\n\"\"\"x\"\"\",1\n\"a\nb\r\",1\n\"\",1\n,1\n";
        assert_eq!(encoded(&columns, b','), expected);
        let expected = "na,me\tn\na b\t1\na,b\t1\n\"a\tb\"\t1\n\"\"\"x\"\"\"\t1\n\"a\nb\r\"\t1\n\"\"\t1\n\t1\n";
        assert_eq!(encoded(&columns, b'\t'), expected);
    }

    #[test]
    fn every_type_has_its_text() {
        let decimal = Decimal128Array::from(vec![-1250]).with_precision_and_scale(10, 2).unwrap();
        let dictionary: DictionaryArray<Int32Type> = vec!["d,d"].into_iter().collect();
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("t", Arc::new(TimestampMicrosecondArray::from(vec![1_500_000]).with_timezone("UTC"))),
            ("i", Arc::new(Int64Array::from(vec![i64::MIN]))),
            ("u", Arc::new(UInt64Array::from(vec![u64::MAX]))),
            ("b", Arc::new(BooleanArray::from(vec![true]))),
            ("m", Arc::new(decimal)),
            ("v", Arc::new(StringViewArray::from(vec!["view"]))),
            ("d", Arc::new(dictionary)),
            ("o", Arc::new(arrow::array::Int8Array::from(vec![-8]))),
        ];
        let expected = "t,i,u,b,m,v,d,o\n\
            1970-01-01T00:00:01.500Z,-9223372036854775808,18446744073709551615,true,-12.50,view,\"d,d\",-8\n";
        assert_eq!(encoded(&columns, b','), expected);
    }

    #[test]
    fn doubles_are_the_shortest_text_and_keep_their_point() {
        let values = vec![1.0, 0.1, -0.0, 1e300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        let column: ArrayRef = Arc::new(Float64Array::from(values));
        assert_eq!(encoded(&[("x", column)], b','), "x\n1.0\n0.1\n-0.0\n1e+300\nNaN\ninf\n-inf\n");
    }

    #[test]
    fn a_lone_null_can_be_seen() {
        assert_eq!(encoded(&[("x", texts(&[None, Some("a")]))], b','), "x\n\"\"\na\n");
    }

    #[test]
    fn the_header_comes_once_and_also_without_rows() {
        let batch = RecordBatch::try_from_iter([("x", texts(&[Some("a")]))]).unwrap();
        let options = EncodeOptions { zone: Zone::UTC, width: None };
        let mut encoder = csv(&batch.schema(), &options).unwrap();
        let mut out = Vec::new();
        encoder.write(&batch, &mut out).unwrap();
        encoder.write(&batch, &mut out).unwrap();
        encoder.finish(&mut out).unwrap();
        assert_eq!(out, b"x\na\na\n");
        out.clear();
        csv(&batch.schema(), &options).unwrap().finish(&mut out).unwrap();
        assert_eq!(out, b"x\n");
    }

    fn texts_of_two() -> impl Strategy<Value = (String, String)> {
        ("[a,;\t\"\r\né]{0,6}", "[a,\t\"\r\n]{0,6}")
    }

    proptest! {
        #[test]
        fn texts_read_back_as_they_were(rows in prop::collection::vec(texts_of_two(), 0..8)) {
            let column = |texts: Vec<String>| Arc::new(StringArray::from(texts)) as ArrayRef;
            let (left, right): (Vec<_>, Vec<_>) = rows.iter().cloned().unzip();
            for delimiter in [b',', b'\t'] {
                let text = encoded(&[("l", column(left.clone())), ("r", column(right.clone()))], delimiter);
                let mut reader = ::csv::ReaderBuilder::new().delimiter(delimiter).from_reader(text.as_bytes());
                let read: Vec<(String, String)> = reader.deserialize().map(|row| row.unwrap()).collect();
                prop_assert_eq!(&read, &rows);
            }
        }
    }
}
