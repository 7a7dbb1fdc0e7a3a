//! What the first records of a CSV input tell about its fields.
//!
//! Must not know how columns are built. Every field is looked at, wanted or not: the planner answers a wrong name with
//! the names there are, and a missing time field with those that look like times.

use super::decode::{Decoder, Source};
use super::value::{is_number, narrowest, not_finite};
use crate::format::json::{self, Cell};
use crate::format::number::is_long_integer;
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
    /// Whether one was a JSON object or array.
    nested: bool,
    /// Whether there was an integer that a double would take digits from.
    long: bool,
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
            if let Some(text) = decoder.text(bytes, record, &ends, field, &mut scratch) {
                looker.look(field, text);
            }
        }
    }
    looker.finish(decoder, wanted, looked_at)
}

struct Looker<'a> {
    seen: Vec<Seen>,
    /// Where the wanted fields are, and the types of those that are inside a field's text.
    sources: Vec<Option<Source>>,
    inside: Vec<Option<FieldType>>,
    /// Which of them is the time.
    time: Option<usize>,
    reader: &'a TimeReader,
    auto: TimeReader,
    cache: DayCache,
    unit: Option<Unit>,
}

impl<'a> Looker<'a> {
    fn new(decoder: &Decoder, wanted: &[Wanted], reader: &'a TimeReader) -> Self {
        Looker {
            seen: vec![Seen::default(); decoder.names().len()],
            sources: wanted.iter().map(|field| decoder.find(&field.path)).collect(),
            inside: vec![None; wanted.len()],
            time: wanted.iter().position(|field| field.role == Role::Time),
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
        self.seen[field].long |= is_long_integer(text);
        self.seen[field].ty = Some(self.seen[field].ty.map_or(ty, |before| before.unify(ty)));
        if let (None, Some(time)) = (self.unit, self.time)
            && self.sources[time].as_ref().is_some_and(|source| source.field == field && source.steps.is_empty())
        {
            self.unit = self.reader.text(text, &mut self.cache).ok().and_then(|reading| reading.unit);
        }
        if let (FieldType::Text, Some(nested @ Cell::Nested(_))) = (ty, Cell::of_text(text)) {
            self.seen[field].nested = true;
            self.look_inside(field, nested);
        }
    }

    fn look_inside(&mut self, field: usize, nested: Cell<'_>) {
        for (index, source) in self.sources.iter().enumerate() {
            let Some(source) = source.as_ref().filter(|source| source.field == field && !source.steps.is_empty())
            else {
                continue;
            };
            let cell = nested.inside(&source.steps);
            json::add_type(&mut self.inside[index], cell, Role::Value);
            if self.unit.is_none() && self.time == Some(index) {
                self.unit = json::time_unit(cell, self.reader);
            }
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
            nested: seen.nested,
        };
        let type_of = |(source, inside): (&Option<Source>, &Option<FieldType>)| match source {
            Some(source) if source.steps.is_empty() => self.seen[source.field].ty(),
            _ => *inside,
        };
        let types = wanted.iter().zip(self.sources.iter().zip(&self.inside));
        let types = types.map(|(wanted, (source, inside))| match (type_of((source, inside)), source) {
            (Some(FieldType::Double), Some(source)) if wanted.role == Role::Whole && self.seen[source.field].long => {
                Some(FieldType::Json)
            }
            (ty, _) => ty,
        });
        Sample {
            fields: decoder.names().iter().zip(&self.seen).map(info).collect(),
            names: decoder.names().to_vec(),
            types: types.collect(),
            time_unit: self.unit,
            records,
        }
    }
}
