//! What `_file`, `_line`, `_lateness`, `_watermark` and `_window_end` say beside a record in a side file, and how each
//! format carries it: members at the end of a JSON object, columns at the end of a CSV record or of a batch.
//!
//! Must not know where records go. The lateness is in seconds, as an exact decimal number; instants are RFC 3339 in
//! UTC. Details of an earlier pass are replaced, so that a record does not grow each time it is set aside.

use crate::error::{Error, Result};
use crate::time::{Span, Ts, Zone, format_rfc3339};
use arrow::array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use std::sync::Arc;

/// Where a record set aside comes from, and by what it was judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Details {
    /// Its input's path as given, or `-`.
    pub file: String,
    /// Its first line there, from 1 (of a columnar input: its row).
    pub line: u64,
    /// How far it was behind the greatest event time of its partition.
    pub lateness: Span,
    /// The watermark it was judged by.
    pub watermark: Ts,
    /// The end of the last window it would have been in; none for a session.
    pub window_end: Option<Ts>,
}

/// The names of the details, in the order they are written.
pub const DETAIL_NAMES: [&str; 5] = ["_file", "_line", "_lateness", "_watermark", "_window_end"];

impl Details {
    /// The texts of all details but the file's name; none is null.
    fn numbers_and_times(&self) -> [Option<String>; 4] {
        let instants = [Some(self.watermark), self.window_end].map(|ts| ts.and_then(rfc3339));
        let [watermark, window_end] = instants;
        [Some(self.line.to_string()), Some(seconds(self.lateness)), watermark, window_end]
    }
}

/// A span in seconds without rounding: `12.345`.
fn seconds(span: Span) -> String {
    let micros = span.micros().unsigned_abs();
    let sign = if span.micros() < 0 { "-" } else { "" };
    let text = format!("{sign}{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// An instant in UTC with none, 3 or 6 fraction digits; none for the ends of the line, which have no year.
fn rfc3339(ts: Ts) -> Option<String> {
    let mut text = Vec::new();
    format_rfc3339(ts, &Zone::UTC, &mut text);
    ts.is_in_range().then(|| String::from_utf8_lossy(&text).into_owned())
}

/// Appends a JSON record with details as its last members. What is not an object is left as it is.
pub(super) fn write_json(record: &[u8], details: &Details, out: &mut Vec<u8>) -> Result<()> {
    let trimmed = record.trim_ascii_end();
    let Some(members) = trimmed.strip_suffix(b"}") else {
        out.extend_from_slice(record);
        return Ok(());
    };
    let members = without_json_details(members).trim_ascii_end();
    out.extend_from_slice(members);
    let values = details.numbers_and_times();
    let mut separator = if members.ends_with(b"{") { "" } else { "," };
    let file = serde_json::to_string(&details.file).map_err(|error| Error::failed(error.to_string()))?;
    let values = std::iter::once(Some(file)).chain(quoted_times(values));
    for (name, value) in DETAIL_NAMES.iter().zip(values) {
        let value = value.as_deref().unwrap_or("null");
        out.extend_from_slice(format!("{separator}\"{name}\":{value}").as_bytes());
        separator = ",";
    }
    out.push(b'}');
    Ok(())
}

/// Numbers stand for themselves in JSON, instants are text.
fn quoted_times([line, lateness, watermark, window_end]: [Option<String>; 4]) -> [Option<String>; 4] {
    let quote = |time: Option<String>| time.map(|time| format!("\"{time}\""));
    [line, lateness, quote(watermark), quote(window_end)]
}

/// An object's text without its closing brace, cut before details of an earlier pass if it ends in exactly those.
fn without_json_details(members: &[u8]) -> &[u8] {
    // Inside a JSON text the quote behind the name would be escaped, so this is a member's name for certain.
    let Some(at) = memchr::memmem::rfind(members, b"\"_file\":") else { return members };
    if !are_json_details(&members[at..]) {
        return members;
    }
    let before = &members[..at];
    before.strip_suffix(b",").or_else(|| before.ends_with(b"{").then_some(before)).unwrap_or(members)
}

/// Whether this is what [`write_json`] appends, to the last byte.
fn are_json_details(mut rest: &[u8]) -> bool {
    for (i, name) in DETAIL_NAMES.iter().enumerate() {
        let label = if i == 0 { format!("\"{name}\":") } else { format!(",\"{name}\":") };
        let Some(after) = rest.strip_prefix(label.as_bytes()) else { return false };
        let Some(length) = scalar_length(after) else { return false };
        rest = &after[length..];
    }
    rest.is_empty()
}

/// The length of the JSON scalar at the start.
fn scalar_length(text: &[u8]) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<&serde_json::value::RawValue>();
    let value = values.next()?.ok()?.get();
    // A raw value has no white space around it, so its length is the text's own only if none stood before it.
    let is_scalar = !value.starts_with(['{', '[']) && text.starts_with(value.as_bytes());
    is_scalar.then_some(value.len())
}

/// How the records of one separated input (CSV, TSV) get their details.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Separated {
    separator: u8,
    /// How many columns the header names, not counting details of an earlier pass; none without a header.
    columns: Option<usize>,
    /// Whether details of an earlier pass follow them.
    has_details: bool,
}

impl Separated {
    /// From the input's header without its line end, empty if there is none.
    pub(super) fn new(separator: u8, header: &[u8]) -> Self {
        let starts = field_starts(header, separator);
        let has_details = ends_in_details(header, separator, &starts);
        let named = (!header.is_empty()).then_some(starts.len());
        let columns = named.map(|named| if has_details { named - DETAIL_NAMES.len() } else { named });
        Self { separator, columns, has_details }
    }

    /// The header with the details' names at its end; nothing for no header.
    pub(super) fn header(&self, header: &[u8]) -> Vec<u8> {
        let mut new = header.to_vec();
        if !header.is_empty() && !self.has_details {
            for name in DETAIL_NAMES {
                new.push(self.separator);
                new.extend_from_slice(name.as_bytes());
            }
        }
        new
    }

    /// Appends a record with its details in the columns that the header names so.
    pub(super) fn write(&self, record: &[u8], details: &Details, out: &mut Vec<u8>) {
        let starts = field_starts(record, self.separator);
        let columns = self.columns.unwrap_or(starts.len());
        let own = if self.has_details && starts.len() > columns { &record[..starts[columns] - 1] } else { record };
        out.extend_from_slice(own);
        // A record that is short of fields must not have its details read as those.
        out.extend(std::iter::repeat_n(self.separator, columns.saturating_sub(starts.len())));
        out.push(self.separator);
        self.write_text(details.file.as_bytes(), out);
        for value in details.numbers_and_times() {
            out.push(self.separator);
            out.extend_from_slice(value.unwrap_or_default().as_bytes());
        }
    }

    /// Appends a text, quoted if it must be.
    fn write_text(&self, text: &[u8], out: &mut Vec<u8>) {
        if !text.iter().any(|&byte| byte == self.separator || matches!(byte, b'"' | b'\n' | b'\r')) {
            return out.extend_from_slice(text);
        }
        out.push(b'"');
        for &byte in text {
            out.extend(std::iter::repeat_n(byte, if byte == b'"' { 2 } else { 1 }));
        }
        out.push(b'"');
    }
}

/// Where the fields of a record start.
fn field_starts(record: &[u8], separator: u8) -> Vec<usize> {
    let (mut starts, mut place) = (vec![0], Place::Start);
    for (at, &byte) in record.iter().enumerate() {
        place = match (place, byte) {
            (Place::Start | Place::Closed, b'"') => Place::Quoted,
            (Place::Quoted, b'"') => Place::Closed,
            (Place::Quoted, _) => Place::Quoted,
            (_, byte) if byte == separator => {
                starts.push(at + 1);
                Place::Start
            }
            _ => Place::Plain,
        };
    }
    starts
}

/// Where in a field the next byte stands. A quote opens at the start of a field only; one behind a closing quote is
/// the second half of a doubled one.
#[derive(Clone, Copy)]
enum Place {
    Start,
    Plain,
    Quoted,
    Closed,
}

/// Whether the last columns of a header are exactly our details.
fn ends_in_details(header: &[u8], separator: u8, starts: &[usize]) -> bool {
    let Some(first) = starts.len().checked_sub(DETAIL_NAMES.len()).filter(|&first| first > 0) else { return false };
    let names = DETAIL_NAMES.join(char::from(separator).encode_utf8(&mut [0; 4]));
    header[starts[first]..] == *names.as_bytes()
}

/// A columnar schema with the details' columns at its end. A column of its own with such a name is an error.
pub(super) fn schema_with_details(schema: &Schema) -> Result<SchemaRef> {
    let own = schema.fields().len() - detail_columns(schema);
    let mut fields: Vec<_> = schema.fields()[..own].to_vec();
    if let Some(field) = fields.iter().find(|field| DETAIL_NAMES.contains(&field.name().as_str())) {
        let what = format!("the input has a column \"{}\" of its own, so details cannot be added", field.name());
        return Err(Error::failed(what));
    }
    let types = [DataType::Utf8, DataType::Int64, DataType::Float64, instant(), instant()];
    fields.extend(DETAIL_NAMES.iter().zip(types).map(|(name, ty)| Arc::new(Field::new(*name, ty, true))));
    Ok(Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone())))
}

fn instant() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
}

/// How many columns at the end of a schema are details of an earlier pass: all or none.
fn detail_columns(schema: &Schema) -> usize {
    let count = DETAIL_NAMES.len();
    let Some(first) = schema.fields().len().checked_sub(count) else { return 0 };
    let same = schema.fields()[first..].iter().zip(DETAIL_NAMES).all(|(field, name)| field.name() == name);
    if same { count } else { 0 }
}

/// The columns of rows, with their details at the end.
pub(super) fn columns_with_details(rows: &RecordBatch, details: &[Details]) -> Vec<ArrayRef> {
    let own = rows.num_columns() - detail_columns(&rows.schema());
    let instants = |values: Vec<Option<i64>>| TimestampMicrosecondArray::from(values).with_timezone("UTC");
    let known = |ts: Ts| rfc3339(ts).map(|_| ts.micros());
    let mut columns = rows.columns()[..own].to_vec();
    columns.push(Arc::new(details.iter().map(|d| Some(&d.file)).collect::<StringArray>()));
    columns.push(Arc::new(Int64Array::from_iter_values(details.iter().map(|d| d.line as i64))));
    columns.push(Arc::new(Float64Array::from_iter_values(details.iter().map(|d| d.lateness.as_secs_f64()))));
    columns.push(Arc::new(instants(details.iter().map(|d| known(d.watermark)).collect())));
    columns.push(Arc::new(instants(details.iter().map(|d| d.window_end.and_then(known)).collect())));
    debug_assert!(columns.iter().all(|column| column.len() == rows.num_rows()));
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    fn details(file: &str, micros: i64) -> Details {
        Details {
            file: file.into(),
            line: 7,
            lateness: Span::from_micros(micros),
            watermark: Ts::from_micros(1_500_000),
            window_end: None,
        }
    }

    fn json(record: &str, details: &Details) -> String {
        let mut out = Vec::new();
        write_json(record.as_bytes(), details, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    const OURS: &str =
        r#""_file":"a.jsonl","_line":7,"_lateness":2.5,"_watermark":"1970-01-01T00:00:01.500Z","_window_end":null}"#;

    #[test]
    fn a_json_record_gets_members_at_its_end() {
        let d = details("a.jsonl", 2_500_000);
        assert_eq!(json(r#"{"x":1}"#, &d), format!(r#"{{"x":1,{OURS}"#));
        assert_eq!(json(r#"{"x":1 } "#, &d), format!(r#"{{"x":1,{OURS}"#));
        assert_eq!(json("{ }", &d), format!("{{{OURS}"));
        assert_eq!(json("not json", &d), "not json");
    }

    #[test]
    fn a_json_record_does_not_grow_from_pass_to_pass() {
        let awkward = details("say \"x\",\\\"_file\":{}.jsonl", 1);
        for record in [r#"{"x":1}"#, "{}", r#"{"y":{"_file":"mine"}}"#] {
            let once = json(record, &awkward);
            assert!(serde_json::from_str::<serde_json::Value>(&once).is_ok(), "{once}");
            assert_eq!(json(&once, &details("a.jsonl", 2_500_000)), json(record, &details("a.jsonl", 2_500_000)));
        }
    }

    #[test]
    fn only_exactly_our_members_are_replaced() {
        let d = details("a.jsonl", 0);
        for own in [r#"{"_file":"mine"}"#, r#"{"x":{"_file":"a","_line":7}}"#, r#"{"_file":"a","_line":[7]}"#] {
            assert!(json(own, &d).starts_with(own.strip_suffix('}').unwrap()), "{own}");
        }
    }

    fn csv(header: &str, record: &str, separator: u8) -> (String, String) {
        let shape = Separated::new(separator, header.as_bytes());
        let mut out = Vec::new();
        shape.write(record.as_bytes(), &details("b,\"c\".csv", -500_000), &mut out);
        (String::from_utf8(shape.header(header.as_bytes())).unwrap(), String::from_utf8(out).unwrap())
    }

    const NAMES: &str = "_file,_line,_lateness,_watermark,_window_end";
    const VALUES: &str = "\"b,\"\"c\"\".csv\",7,-0.5,1970-01-01T00:00:01.500Z,";

    #[test]
    fn a_csv_record_gets_columns_at_its_end() {
        assert_eq!(csv("a,b", "1,2", b','), (format!("a,b,{NAMES}"), format!("1,2,{VALUES}")));
        assert_eq!(csv("a,b", "\"1,\n\"\"\",2", b',').1, format!("\"1,\n\"\"\",2,{VALUES}"));
        assert_eq!(csv("", "1,2", b','), (String::new(), format!("1,2,{VALUES}")));
        assert!(csv("a\tb", "1\t2", b'\t').1.starts_with("1\t2\t\"b,\"\"c\"\".csv\"\t7"));
    }

    #[test]
    fn details_stand_under_their_names_beside_a_short_record() {
        assert_eq!(csv("a,b,c", "1", b',').1, format!("1,,,{VALUES}"));
    }

    #[test]
    fn details_of_an_earlier_pass_are_replaced() {
        let header = format!("a,b,{NAMES}");
        assert_eq!(csv(&header, "1,2,old.csv,1,2,3,4", b','), (header.clone(), format!("1,2,{VALUES}")));
        assert_eq!(csv(&header, "1,2", b',').1, format!("1,2,{VALUES}"));
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(256))]
        #[test]
        fn fields_are_where_the_definition_of_csv_finds_them(record in "[a,\" ]{0,12}") {
            let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(record.as_bytes());
            let mut row = csv::ByteRecord::new();
            if reader.read_byte_record(&mut row).unwrap() {
                proptest::prop_assert_eq!(field_starts(record.as_bytes(), b',').len(), row.len());
            }
        }
    }

    #[test]
    fn times_and_spans_are_written_exactly() {
        assert_eq!(seconds(Span::from_micros(12_000_000)), "12");
        assert_eq!(seconds(Span::from_micros(1)), "0.000001");
        assert_eq!(seconds(Span::from_micros(i64::MIN)), "-9223372036854.775808");
        assert_eq!(rfc3339(Ts::from_micros(-1)).unwrap(), "1969-12-31T23:59:59.999999Z");
        assert_eq!(rfc3339(Ts::from_micros(2_000_000)).unwrap(), "1970-01-01T00:00:02Z");
        assert_eq!(rfc3339(Ts::MIN), None);
    }

    #[test]
    fn rows_get_columns_and_do_not_grow() {
        let column: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
        let rows = RecordBatch::try_from_iter([("x", column)]).unwrap();
        let all = [details("p", 1_500_000), details("q", 0)];
        let schema = schema_with_details(&rows.schema()).unwrap();
        let once = RecordBatch::try_new(schema.clone(), columns_with_details(&rows, &all)).unwrap();
        assert_eq!(once.num_columns(), 6);
        assert_eq!(schema_with_details(&schema).unwrap(), schema);
        assert_eq!(columns_with_details(&once, &all), once.columns());
        let own = Schema::new(vec![Field::new("_line", DataType::Int64, true), Field::new("x", DataType::Int64, true)]);
        assert!(schema_with_details(&own).is_err());
    }
}
