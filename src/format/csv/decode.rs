//! CSV chunks to columns.
//!
//! Must not know files. Every record of a chunk is checked in full (its number of fields, its quotes, its UTF-8)
//! whatever fields are asked for, and only those are read. UTF-8 is checked in one sweep over the chunk, and record by
//! record only when that finds something.

use super::header::{self, Header};
use super::sample;
use super::scan::{Record, Records, field_text, open_quote, whole_records};
use super::value::{self, Value};
use crate::error::Result;
use crate::format::build::{Assembly, Place};
use crate::format::json::Cell;
use crate::format::number::shown;
use crate::format::{BadRecord, Decoded, TextDecoder, TextOptions};
use crate::schema::{FieldPath, Layout, Sample, Step, Wanted};
use crate::time::TimeReader;
use memchr::memchr_iter;
use std::sync::Arc;

/// Reads one CSV input.
#[derive(Debug)]
pub(super) struct Decoder {
    header: Header,
    nulls: Vec<String>,
}

impl Decoder {
    /// Reads the header in `head`, see [`header::read`].
    pub(super) fn new(head: &[u8], last: bool, options: &TextOptions, usual: u8, guess: bool) -> Result<Self> {
        let header = header::read(head, last, options, usual, guess)?;
        Ok(Decoder { header, nulls: options.nulls.clone() })
    }

    /// The fields' names, in order.
    pub(super) fn names(&self) -> &[String] {
        &self.header.names
    }

    /// The index of the field with this name.
    pub(super) fn index_of(&self, name: &str) -> Option<usize> {
        self.header.names.iter().position(|field| field == name)
    }

    /// Where a path leads: to the field of that name, or into the JSON text of one.
    pub(super) fn find(&self, path: &FieldPath) -> Option<Source> {
        if let Some(field) = self.index_of(&path.name()) {
            return Some(Source { field, steps: Vec::new() });
        }
        (1..=path.parts().len()).rev().find_map(|parts| {
            let field = self.index_of(&path.parts()[..parts].join("."))?;
            Some(Source { field, steps: path.steps_behind(parts) })
        })
    }

    /// The records in `bytes`.
    pub(super) fn records<'a>(&self, bytes: &'a [u8]) -> Records<'a> {
        Records::new(bytes, self.header.delimiter)
    }

    /// What is wrong with a record, whatever is asked of it. `checked`: its UTF-8 was seen to be right.
    #[inline]
    pub(super) fn fault(&self, bytes: &[u8], record: Record, ends: &[usize], checked: bool) -> Option<String> {
        let right = ends.len() == self.header.names.len() && !record.unclosed;
        if right && (checked || simdutf8::basic::from_utf8(&bytes[record.start..record.end]).is_ok()) {
            return None;
        }
        Some(self.explain(bytes, record, ends))
    }

    #[cold]
    fn explain(&self, bytes: &[u8], record: Record, ends: &[usize]) -> String {
        if record.unclosed {
            return self.explain_quote(&bytes[record.start..record.end]);
        }
        let expected = self.header.names.len();
        if ends.len() != expected {
            let plural = if expected == 1 { "" } else { "s" };
            return format!("expected {expected} field{plural}, found {}", ends.len());
        }
        self.explain_utf8(bytes, record, ends)
    }

    /// The text of a field; none for a null.
    #[inline]
    pub(super) fn text<'a>(
        &self,
        bytes: &'a [u8],
        record: Record,
        ends: &[usize],
        field: usize,
        scratch: &'a mut Vec<u8>,
    ) -> Option<&'a [u8]> {
        let (text, quoted) = field_text(raw_field(bytes, record, ends, field), scratch);
        Value { text, quoted }.present(&self.nulls)
    }

    /// That a text which is to be gone into begins as JSON and is none.
    #[inline]
    fn no_json(
        &self,
        bytes: &[u8],
        record: Record,
        ends: &[usize],
        inside: &[&Source],
        scratch: &mut Vec<u8>,
    ) -> Option<String> {
        inside.iter().find_map(|source| {
            let text = self.text(bytes, record, ends, source.field, scratch)?;
            let name = || &self.header.names[source.field];
            let wrong = Cell::of_text(text).is_none();
            wrong.then(|| format!("column \"{}\": expected JSON, found `{}`", name(), shown(text)))
        })
    }

    fn explain_quote(&self, record: &[u8]) -> String {
        let place = match memchr_iter(b'\n', &record[..open_quote(record, self.header.delimiter)]).count() {
            0 => "on this line".to_owned(),
            1 => "one line below".to_owned(),
            below => format!("{below} lines below"),
        };
        format!("expected a closing quote for the one that opens {place}, found the end of the input")
    }

    fn explain_utf8(&self, bytes: &[u8], record: Record, ends: &[usize]) -> String {
        let text = &bytes[record.start..record.end];
        let wrong = record.start + std::str::from_utf8(text).err().map_or(0, |error| error.valid_up_to());
        let field = ends.iter().position(|&end| wrong < end).unwrap_or(0);
        format!("column \"{}\": expected UTF-8 text, found the byte 0x{:02x}", self.header.names[field], bytes[wrong])
    }
}

/// Where a value is found in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// The index of the field.
    pub(super) field: usize,
    /// The way into its text, which is JSON then; none for the text itself.
    pub(super) steps: Vec<Step>,
}

/// The bytes of a field as they stand.
#[inline]
pub(super) fn raw_field<'a>(bytes: &'a [u8], record: Record, ends: &[usize], index: usize) -> &'a [u8] {
    let start = if index == 0 { record.start } else { ends[index - 1] + 1 };
    &bytes[start..ends[index]]
}

impl TextDecoder for Decoder {
    fn preamble(&self) -> usize {
        self.header.preamble
    }

    fn preamble_lines(&self) -> u64 {
        self.header.lines
    }

    fn frame(&self, bytes: &[u8], last: bool) -> usize {
        if last { bytes.len() } else { whole_records(bytes, self.header.delimiter) }
    }

    fn sample(&self, bytes: &[u8], last: bool, wanted: &[Wanted], time: &TimeReader) -> Sample {
        sample::sample(self, &bytes[..self.frame(bytes, last)], wanted, time)
    }

    fn decode(&self, chunk: Arc<Vec<u8>>, layout: &Layout) -> Decoded {
        let bytes = chunk.as_slice();
        let checked = simdutf8::basic::from_utf8(bytes).is_ok();
        let lines = memchr_iter(b'\n', bytes).count();
        let sources: Vec<_> = layout.columns.iter().map(|column| self.find(&column.path)).collect();
        let inside: Vec<&Source> = sources.iter().flatten().filter(|source| !source.steps.is_empty()).collect();
        let mut assembly = Assembly::new(Arc::clone(&chunk), layout, lines + 1);
        let (mut records, mut ends, mut scratch) = (self.records(bytes), Vec::new(), Vec::new());
        let mut number = 0;
        while let Some(record) = records.next(&mut ends) {
            let place = Place { record: number, line: 0, bytes: record.start..record.end };
            number += 1;
            let fault = self.fault(bytes, record, &ends, checked);
            match fault.or_else(|| self.no_json(bytes, record, &ends, &inside, &mut scratch)) {
                Some(message) => assembly.bad(place, message),
                None => assembly.row(place, |at, builder, times| {
                    let Some(source) = &sources[at.index] else { return value::push(None, at, builder, times) };
                    let text = self.text(bytes, record, &ends, source.field, &mut scratch);
                    match source.steps.as_slice() {
                        [] => value::push(text, at, builder, times),
                        steps => {
                            text.and_then(Cell::of_text).unwrap_or_default().inside(steps).push(at, builder, times)
                        }
                    }
                }),
            }
        }
        let mut decoded = assembly.finish(u64::from(number), lines as u64);
        number_lines(bytes, decoded.batches.iter_mut().flat_map(|rows| rows.bad.iter_mut()));
        decoded
    }

    fn header(&self) -> &[u8] {
        &self.header.verbatim
    }
}

/// Tells bad records, which come in order, their lines. Counting is left to this, since most chunks have none.
fn number_lines<'a>(bytes: &[u8], bad: impl Iterator<Item = &'a mut BadRecord>) {
    let (mut line, mut counted) = (0, 0);
    for record in bad {
        line += memchr_iter(b'\n', &bytes[counted..record.bytes.start]).count() as u64;
        counted = record.bytes.start;
        record.line = line;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Raw;
    use crate::format::plain::PlainColumn;
    use crate::schema::{Column, FieldType, Role};
    use crate::time::{TimeFormat, Ts, Unit, Zone};
    use arrow::array::RecordBatch;
    use proptest::prelude::*;

    fn options() -> TextOptions {
        TextOptions { delimiter: None, header: true, nulls: vec!["NA".into()] }
    }

    fn decoder(head: &str) -> Decoder {
        Decoder::new(head.as_bytes(), true, &options(), b',', true).unwrap()
    }

    fn column(name: &str, role: Role, ty: FieldType) -> Column {
        Column { path: FieldPath::parse(name).unwrap(), role, ty, declared: false }
    }

    fn reader() -> TimeReader {
        TimeReader::new(TimeFormat::Auto, Zone::UTC)
    }

    /// The time in `ts`, and these columns behind it.
    fn layout(columns: impl IntoIterator<Item = Column>) -> Layout {
        let time = column("ts", Role::Time, FieldType::Time);
        let columns = std::iter::once(time).chain(columns).collect();
        Layout { columns, time: Some(0), time_reader: reader(), keep_raw: true, names_all: false }
    }

    const TS: &str = "2026-03-01T00:00:00Z";

    /// The input's records with `T` for a time.
    fn decode(input: &str, layout: &Layout) -> Decoded {
        let input = input.replace("T,", &format!("{TS},"));
        let decoder = decoder(&input);
        decoder.decode(Arc::new(input.as_bytes()[decoder.preamble()..].to_vec()), layout)
    }

    /// Each batch's types and rows without the time; `ø` is a null.
    fn shown(decoded: &Decoded) -> Vec<String> {
        let batches = decoded.batches.iter().filter(|rows| rows.columns.num_rows() > 0);
        batches.map(|rows| shown_rows(&rows.columns)).collect()
    }

    fn shown_rows(batch: &RecordBatch) -> String {
        static UTC: Zone = Zone::UTC;
        let columns: Vec<_> =
            batch.columns()[1..].iter().map(|c| PlainColumn::new(c.as_ref(), &UTC).unwrap()).collect();
        let cell = |column: &PlainColumn<'_>, row| {
            let mut text = Vec::new();
            match column.append(row, &mut text).unwrap() {
                true => String::from_utf8(text).unwrap(),
                false => "ø".to_owned(),
            }
        };
        let row = |row| columns.iter().map(|c| cell(c, row)).collect::<Vec<_>>().join(",");
        (0..batch.num_rows()).map(row).collect::<Vec<_>>().join("|")
    }

    fn messages(decoded: &Decoded) -> Vec<(u32, u64, String)> {
        let bad = decoded.batches.iter().flat_map(|rows| &rows.bad);
        bad.map(|bad| (bad.record, bad.line, bad.message.clone())).collect()
    }

    fn text(name: &str) -> Column {
        column(name, Role::Key, FieldType::Text)
    }

    #[test]
    fn nothing_and_null_texts_are_null_and_quotes_around_nothing_an_empty_text() {
        let of = |ty| layout([column("v", Role::Value, ty)]);
        let input = "ts,v\nT,\nT,\"\"\nT,NA\nT,\"NA\"\n";
        assert_eq!(shown(&decode(input, &of(FieldType::Text))), ["ø||ø|NA"]);
        let input = "ts,v\nT,\nT,\"\"\nT,NA\n";
        for ty in [FieldType::Int, FieldType::Double, FieldType::Bool, FieldType::Time] {
            assert_eq!(shown(&decode(input, &of(ty))), ["ø|ø|ø"]);
        }
    }

    #[test]
    fn values_are_read_by_their_columns_type() {
        let decimal = FieldType::Decimal { precision: 10, scale: 2 };
        let all = layout([
            column("i", Role::Value, FieldType::Int),
            column("d", Role::Value, FieldType::Double),
            column("b", Role::Value, FieldType::Bool),
            column("m", Role::Value, decimal),
            column("\"a b\"", Role::Value, FieldType::Text),
            column("nested.name", Role::Value, FieldType::Text),
            column("absent", Role::Value, FieldType::Int),
            column("ts", Role::Value, FieldType::Time),
        ]);
        let input = "i,\"a b\",d,b,m,nested.name,ts\n\"-7\", x ,.5,TRUE,1.5,\"q\"\"q\",2026-01-01T00:00:00Z\n";
        let decoded = decode(input, &all);
        assert_eq!(shown(&decoded), ["-7,0.5,true,1.50, x ,q\"q,ø,2026-01-01T00:00:00Z"]);
        assert_eq!(decoded.batches[0].times.get(0).micros(), 1_767_225_600_000_000);
        assert!(decoded.layout.is_none());
    }

    #[test]
    fn an_integer_column_that_meets_a_fraction_widens_from_there_on() {
        let int = layout([column("v", Role::Number, FieldType::Int)]);
        let decoded = decode("ts,v\nT,1\nT,x\nT,2.5\nT,3\n", &int);
        assert_eq!(shown(&decoded), ["1", "2.5|3.0"]);
        assert_eq!(decoded.layout.as_ref().unwrap().columns[1].ty, FieldType::Double);
        assert_eq!(messages(&decoded), [(1, 1, "column \"v\": expected a bigint, found \"x\"".into())]);
        assert_eq!((decoded.batches[1].first, decoded.records, decoded.lines), (2, 4, 4));
        assert_eq!(shown(&decode("ts,v\nT,1\nT,-.5\n", &int)), ["1", "-0.5"]);
    }

    #[test]
    fn a_key_column_becomes_text_and_texts_keep_their_zeros() {
        let key = layout([column("v", Role::Key, FieldType::Int)]);
        assert_eq!(shown(&decode("ts,v\nT,8123\nT,08123\nT,9\n", &key)), ["8123", "08123|9"]);
    }

    #[test]
    fn a_value_that_does_not_fit_makes_a_bad_record() {
        let int = layout([text("k"), column("v", Role::Number, FieldType::Int)]);
        let decoded = decode("ts,k,v\nT,a,1\nT,b,99999999999999999999\nT,c,\"a\nb\"\nT,d,4\n", &int);
        assert_eq!(shown(&decoded), ["a,1|d,4"]);
        let expected = [
            (1, 1, "column \"v\": expected a bigint, found \"99999999999999999999\"".into()),
            (2, 2, "column \"v\": expected a bigint, found \"a\\nb\"".into()),
        ];
        assert_eq!(messages(&decoded), expected);
        assert_eq!(decoded.batches[0].records.as_deref(), Some([0, 3].as_slice()));
    }

    #[test]
    fn a_record_without_a_time_is_bad() {
        let decoded = decode("ts,k\n,a\n\"\",b\nNA,c\nn/a,d\nT,e\n", &layout([text("k")]));
        let found = messages(&decoded).into_iter().map(|(.., message)| message).collect::<Vec<_>>();
        let nothing = "column \"ts\": expected a time, found nothing";
        assert_eq!(found, [nothing, nothing, nothing, "column \"ts\": expected a time, found \"n/a\""]);
        assert_eq!(shown(&decoded), ["e"]);
        let without = decode("k\na\n", &layout([text("k")]));
        assert_eq!(messages(&without), [(0, 0, nothing.into())]);
    }

    #[test]
    fn a_malformed_record_is_found_whatever_is_asked_for() {
        let input =
            b"ts,x,y\n2026-03-01T00:00:00Z,1\n2026-03-01T00:00:00Z,\"\n\n\",2,3\n2026-03-01T00:00:00Z,1,caf\xe9\n\
            2026-03-01T00:00:00Z,1,caf\xc3\xa9\n2026-03-01T00:00:00Z,\"\n,\"\"\n";
        let decoder = Decoder::new(input, true, &options(), b',', true).unwrap();
        let decoded = decoder.decode(Arc::new(input[7..].to_vec()), &layout([]));
        let expected = [
            (0, 0, "expected 3 fields, found 2".to_owned()),
            (1, 1, "expected 3 fields, found 4".into()),
            (2, 4, "column \"y\": expected UTF-8 text, found the byte 0xe9".into()),
            (4, 6, "expected a closing quote for the one that opens on this line, found the end of the input".into()),
        ];
        assert_eq!(messages(&decoded), expected);
        let bad = &decoded.batches[0].bad;
        assert_eq!(&input[7..][bad[0].bytes.clone()], b"2026-03-01T00:00:00Z,1");
        assert_eq!(&input[7..][bad[3].bytes.clone()], b"2026-03-01T00:00:00Z,\"\n,\"\"\n");
        assert_eq!(bad.iter().map(|bad| bad.before_row).collect::<Vec<_>>(), [0, 0, 0, 1]);
        assert_eq!((decoded.records, decoded.lines), (5, 8));
    }

    #[test]
    fn a_quote_left_open_further_down_is_found_there() {
        let decoded = decode("ts,x,y\nT,\"a\n\",\"b\n", &layout([]));
        let (.., message) = &messages(&decoded)[0];
        assert_eq!(
            message,
            "expected a closing quote for the one that opens one line below, found the end of the input"
        );
    }

    #[test]
    fn raw_spans_are_the_records_without_line_ends() {
        let input = "k,ts\r\n\"a\r\nb\",2026-03-01T00:00:00Z\r\n\r\nc,2026-03-01T00:00:00Z";
        let decoded = decode(input, &layout([text("k")]));
        let Raw::Text(chunk, spans) = &decoded.batches[0].raw else { panic!("no raw") };
        let texts: Vec<_> = spans.iter().map(|&(from, to)| &chunk[from as usize..to as usize]).collect();
        assert_eq!(texts, [b"\"a\r\nb\",2026-03-01T00:00:00Z".as_slice(), b"c,2026-03-01T00:00:00Z"]);
        assert_eq!(decoded.batches[0].records, None);
    }

    #[test]
    fn a_header_alone_has_no_records() {
        for input in ["ts,k\n", "ts,k", "", "\n\n"] {
            let decoded = decode(input, &layout([text("k")]));
            assert_eq!((decoded.records, decoded.batches.len()), (0, 0), "{input:?}");
        }
    }

    fn wanted(name: &str, role: Role) -> Wanted {
        Wanted { path: FieldPath::parse(name).unwrap(), role, declared: None }
    }

    #[test]
    fn a_sample_tells_types_and_what_looks_like_a_time() {
        let input = format!(
            "ts,i,d,zip,big,none,e,q\n{TS},1,1,8123,1,,\"\",\"5\"\nx\n{TS},2,.5,08123,{},NA,,6",
            "9".repeat(20)
        );
        let decoder = decoder(&input);
        let bytes = &input.as_bytes()[decoder.preamble()..];
        let asked = ["ts", "q", "absent"].map(|name| wanted(name, Role::Value));
        let sample = decoder.sample(bytes, true, &asked, &reader());
        let big = FieldType::Decimal { precision: 38, scale: 0 };
        let (int, double, text) = (Some(FieldType::Int), Some(FieldType::Double), Some(FieldType::Text));
        let types: Vec<_> = sample.fields.iter().map(|field| field.ty).collect();
        assert_eq!(types, [text, int, double, text, Some(big), None, text, int]);
        assert_eq!(sample.types, [text, int, None]);
        let times: Vec<_> = sample.fields.iter().map(|field| field.looks_like_time).collect();
        assert_eq!(times, [true, false, false, false, false, false, false, false]);
        assert_eq!(sample.records, 3);
        assert_eq!(decoder.sample(bytes, false, &asked, &reader()).records, 2);
    }

    #[test]
    fn a_sample_is_a_thousand_records_and_not_one_more() {
        let input = format!("a\n{}x\n", "1\n".repeat(1_000));
        let decoder = decoder(&input);
        let sample = decoder.sample(&input.as_bytes()[2..], true, &[wanted("a", Role::Value)], &reader());
        assert_eq!((sample.records, sample.types), (1_000, vec![Some(FieldType::Int)]));
    }

    #[test]
    fn the_unit_of_numeric_times_is_found_and_kept() {
        let input = "ts,n,m\n0,5,1\n1700000000000,1700000000,1\n1700000001000,7,1\n";
        let decoder = decoder(input);
        let bytes = &input.as_bytes()[decoder.preamble()..];
        let sample = decoder.sample(bytes, true, &[wanted("ts", Role::Time)], &reader());
        assert_eq!(sample.time_unit, Some(Unit::Millis));
        let times: Vec<_> = sample.fields.iter().map(|field| field.looks_like_time).collect();
        assert_eq!(times, [false, false, false]);
        assert!(decoder.sample(&bytes[6..], true, &[], &reader()).fields[1].looks_like_time);
        let decoded = decoder.decode(Arc::new(bytes.to_vec()), &layout([]));
        assert_eq!(decoded.layout.unwrap().time_reader.unit, Some(Unit::Millis));
        let times: Vec<_> = decoded.batches[0].times.iter().map(Ts::micros).collect();
        assert_eq!(times, [0, 1_700_000_000_000_000, 1_700_000_001_000_000]);
    }

    /// Inputs with good and bad records of three fields.
    fn records() -> impl Strategy<Value = String> {
        let field =
            prop::sample::select(vec!["1", "2.5", "x", "\"a\nb\"", "\"q\"\"\"", "", "\"\"", "a\"b", "1\r", "é"]);
        let ts = prop::sample::select(vec![TS, TS, TS, "n/a", ""]);
        let record = (ts, prop::collection::vec(field, 1..4), prop::sample::select(vec!["\n", "\r\n", "\n\n"]))
            .prop_map(|(ts, fields, end)| format!("{ts},{}{end}", fields.join(",")));
        prop::collection::vec(record, 0..12).prop_map(|records| records.concat())
    }

    /// All that was decoded, as text: each row with its types, each bad record with its line.
    fn account(parts: &[Decoded]) -> (Vec<String>, Vec<String>, u64, u64) {
        let (mut rows, mut bad, mut records, mut lines) = (Vec::new(), Vec::new(), 0, 0);
        for part in parts {
            for batch in &part.batches {
                let types = batch.columns.schema().field(1).data_type().to_string();
                let all = shown_rows(&batch.columns);
                rows.extend(
                    all.split('|').filter(|_| batch.columns.num_rows() > 0).map(|row| format!("{types} {row}")),
                );
                bad.extend(
                    batch
                        .bad
                        .iter()
                        .map(|b| format!("{} {} {}", records + u64::from(b.record), lines + b.line, b.message)),
                );
            }
            records += part.records;
            lines += part.lines;
        }
        (rows, bad, records, lines)
    }

    proptest! {
        #[test]
        fn frames_at_any_cut_decode_to_the_same(records in records(), cut in any::<prop::sample::Index>()) {
            let decoder = decoder("ts,v,k\n");
            let first = layout([column("v", Role::Number, FieldType::Int), column("k", Role::Key, FieldType::Int)]);
            let bytes = records.as_bytes();
            let whole = decoder.decode(Arc::new(bytes.to_vec()), &first);
            let cut = decoder.frame(&bytes[..cut.index(bytes.len() + 1)], false);
            let before = decoder.decode(Arc::new(bytes[..cut].to_vec()), &first);
            let next = before.layout.clone().unwrap_or_else(|| Arc::new(first.clone()));
            let after = decoder.decode(Arc::new(bytes[cut..].to_vec()), &next);
            let types = |decoded: &Decoded, before: &Layout| decoded.layout.as_deref().unwrap_or(before).types();
            prop_assert_eq!(types(&after, &next), types(&whole, &first));
            prop_assert_eq!(account(&[before, after]), account(&[whole]));
        }
    }
}
