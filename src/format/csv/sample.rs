//! What the first records of a CSV input tell about its fields.
//!
//! Must not know how columns are built. Every field is looked at, wanted or not: the planner answers a wrong name with
//! the names there are, and a missing time field with those that look like times.

use super::decode::{Decoder, raw_field};
use super::scan::field_text;
use super::value::{Value, is_number, narrowest, not_finite};
use crate::schema::{FieldInfo, FieldPath, FieldType, Role, SAMPLE_RECORDS, Sample, Wanted};
use crate::time::{DayCache, TimeFormat, TimeReader, Ts, Unit};

/// Numbers look like times when they fall into the years 2001 to 2100.
const PLAUSIBLE: std::ops::Range<Ts> = Ts::from_micros(978_307_200_000_000)..Ts::from_micros(4_133_980_800_000_000);

/// What is known about a field so far.
#[derive(Clone, Debug, Default)]
struct Seen {
    ty: Option<FieldType>,
    /// Whether there were quotes around nothing, which fit any type.
    empty: bool,
    /// Whether there was `nan` or `inf`: a double where others are numbers, else a text.
    not_finite: bool,
    looks_like_time: bool,
}

impl Seen {
    /// The narrowest type that holds all of it. Where there was nothing but `nan` its use decides, as if it were absent.
    fn ty(&self) -> Option<FieldType> {
        match self.ty {
            Some(ty) if self.not_finite && ty.is_number() => Some(FieldType::Double),
            Some(_) if self.not_finite => Some(FieldType::Text),
            None if self.not_finite => None,
            ty => ty.or(self.empty.then_some(FieldType::Text)),
        }
    }
}

/// Looks at the first of `bytes`' whole records.
pub(super) fn sample(decoder: &Decoder, bytes: &[u8], wanted: &[Wanted], time: &TimeReader) -> Sample {
    let mut looker = Looker::new(decoder, wanted, time);
    let (mut records, mut ends, mut scratch) = (decoder.records(bytes), Vec::new(), Vec::new());
    let mut looked_at = 0;
    while looked_at < SAMPLE_RECORDS {
        let Some(record) = records.next(&mut ends) else { break };
        looked_at += 1;
        if decoder.fault(bytes, record, &ends, false).is_some() {
            continue;
        }
        for field in 0..ends.len() {
            let (text, quoted) = field_text(raw_field(bytes, record, &ends, field), &mut scratch);
            if let Some(text) = (Value { text, quoted }).present(decoder.nulls()) {
                looker.look(field, text);
            }
        }
    }
    looker.finish(decoder, wanted, looked_at)
}

struct Looker<'a> {
    seen: Vec<Seen>,
    time_field: Option<usize>,
    reader: &'a TimeReader,
    auto: TimeReader,
    cache: DayCache,
    unit: Option<Unit>,
}

impl<'a> Looker<'a> {
    fn new(decoder: &Decoder, wanted: &[Wanted], reader: &'a TimeReader) -> Self {
        let time = wanted.iter().find(|field| field.role == Role::Time);
        Looker {
            seen: vec![Seen::default(); decoder.names().len()],
            time_field: time.and_then(|field| decoder.index_of(&field.path.name())),
            reader,
            auto: TimeReader::new(TimeFormat::Auto, reader.zone.clone()),
            cache: DayCache::default(),
            unit: None,
        }
    }

    fn look(&mut self, field: usize, text: &[u8]) {
        if text.is_empty() {
            self.seen[field].empty = true;
            return;
        }
        if self.seen[field].ty.is_none() {
            self.seen[field].looks_like_time = self.looks_like_time(text);
        }
        if not_finite(text).is_some() {
            self.seen[field].not_finite = true;
            return;
        }
        let ty = narrowest(text);
        self.seen[field].ty = Some(self.seen[field].ty.map_or(ty, |before| before.unify(ty)));
        if self.unit.is_none() && self.time_field == Some(field) {
            self.unit = self.reader.text(text, &mut self.cache).ok().and_then(|reading| reading.unit);
        }
    }

    fn looks_like_time(&mut self, text: &[u8]) -> bool {
        let reading = self.auto.text(text, &mut DayCache::default());
        reading.is_ok_and(|reading| !is_number(text) || PLAUSIBLE.contains(&reading.ts))
    }

    fn finish(self, decoder: &Decoder, wanted: &[Wanted], records: usize) -> Sample {
        let info = |(name, seen): (&String, &Seen)| FieldInfo {
            path: FieldPath::new(vec![name.clone()]),
            ty: seen.ty(),
            looks_like_time: seen.looks_like_time,
        };
        let type_of = |field: &Wanted| decoder.index_of(&field.path.name()).and_then(|index| self.seen[index].ty());
        Sample {
            fields: decoder.names().iter().zip(&self.seen).map(info).collect(),
            types: wanted.iter().map(type_of).collect(),
            time_unit: self.unit,
            records,
        }
    }
}
