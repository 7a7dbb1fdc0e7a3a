//! The summary for programs: one JSON object with a version, keys always in the same order.
//!
//! Lengths of time are seconds, instants RFC 3339 in UTC, sizes bytes; each name says so. Fields may be added within a
//! version; a changed meaning makes a new one. The man page lists them.

use super::human::instant;
use super::warning::Warning;
use super::{Given, Heavy, InputSummary, Summary};
use crate::account::{Jump, Lateness, Ledger, StateSize};
use crate::time::{Span, Ts, Zone};

/// The version in the object's first field.
const VERSION: u64 = 1;

enum Json {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(&'static str, Json)>),
}

impl Summary {
    /// The whole summary as a JSON text with a line end.
    pub fn to_json(&self, given: &Given) -> String {
        let mut out = String::new();
        self.object(given).write(&mut out, 0);
        out.push('\n');
        out
    }

    fn object(&self, given: &Given) -> Json {
        Json::Object(vec![
            ("version", number(VERSION)),
            ("elapsed_seconds", Json::Number(format!("{:.6}", self.elapsed))),
            ("total", ledger(&self.total())),
            ("inputs", Json::List(self.inputs.iter().map(input).collect())),
            ("watermark", time(self.watermark)),
            ("left_watermark", time(self.watermarks.and_then(|both| both[0]))),
            ("right_watermark", time(self.watermarks.and_then(|both| both[1]))),
            ("held_by", optional(&self.held_by)),
            ("fired_by_watermark", number(self.fired_by_watermark)),
            ("fired_by_end", number(self.fired_by_end)),
            ("rows", number(self.rows)),
            ("peak", state(self.peak)),
            ("unbounded", self.unbounded.map_or(Json::Null, text)),
            ("heaviest", Json::List(self.heaviest.iter().map(heavy).collect())),
            ("costliest", Json::List(self.costliest.iter().map(costly).collect())),
            ("lateness", lateness(&self.lateness)),
            ("late", lateness(&self.late)),
            ("delay_to_keep_all_seconds", length(self.delay_to_keep_all)),
            ("output_disorder_seconds", length(self.output_disorder)),
            ("unfilled_gaps", number(self.gaps)),
            ("jump", self.jump.as_ref().map_or(Json::Null, |jump| self.jump_object(jump))),
            ("skewed", texts(&self.skewed)),
            ("idle", texts(&self.idle)),
            ("warnings", Json::List(self.warnings(given).iter().map(warning).collect())),
        ])
    }

    fn jump_object(&self, jump: &Jump) -> Json {
        Json::Object(vec![
            ("input", self.inputs.get(jump.input).map_or(Json::Null, |input| text(&input.name))),
            ("record", number(jump.record + 1)),
            ("time", time(Some(jump.time))),
            ("by_seconds", length(jump.by)),
            ("late", number(jump.late)),
        ])
    }
}

fn input(input: &InputSummary) -> Json {
    let types = input.types.iter().map(|(name, ty)| Json::Object(vec![("name", text(name)), ("type", text(ty))]));
    Json::Object(vec![
        ("name", text(&input.name)),
        ("format", text(input.format)),
        ("bytes", number(input.bytes)),
        ("ledger", ledger(&input.ledger)),
        ("time_unit", input.time_unit.map_or(Json::Null, |unit| text(unit.name()))),
        ("first_time", time(input.times.map(|times| times.0))),
        ("last_time", time(input.times.map(|times| times.1))),
        ("columns", Json::List(types.collect())),
    ])
}

fn ledger(ledger: &Ledger) -> Json {
    Json::Object(vec![
        ("read", number(ledger.read)),
        ("used", number(ledger.used)),
        ("filtered", number(ledger.filtered)),
        ("late", number(ledger.late)),
        ("bad", number(ledger.bad)),
        ("duplicate", number(ledger.duplicate)),
        ("outside", number(ledger.outside)),
        ("partially_late", number(ledger.partially_late)),
        ("balances", Json::Bool(ledger.balances())),
    ])
}

fn state(size: StateSize) -> Json {
    Json::Object(vec![
        ("windows", number(size.windows)),
        ("groups", number(size.groups)),
        ("rows", number(size.rows)),
        ("bytes", number(size.bytes)),
    ])
}

fn heavy(heavy: &Heavy) -> Json {
    let side = heavy.side.map_or(Json::Null, text);
    Json::Object(vec![("key", text(&heavy.key)), ("records", number(heavy.records)), ("side", side)])
}

fn costly((key, pairs): &(String, u64)) -> Json {
    Json::Object(vec![("key", text(key)), ("pairs", number(*pairs))])
}

fn lateness(lateness: &Lateness) -> Json {
    let at = |share| match lateness.total() {
        0 => Json::Null,
        _ => length(lateness.quantile(share)),
    };
    Json::Object(vec![
        ("records", number(lateness.total())),
        ("p50_seconds", at(0.5)),
        ("p90_seconds", at(0.9)),
        ("p99_seconds", at(0.99)),
        ("p999_seconds", at(0.999)),
        ("max_seconds", at(1.0)),
    ])
}

fn warning(warning: &Warning) -> Json {
    Json::Object(vec![("message", text(&warning.message())), ("hint", optional(&warning.hint()))])
}

fn number(n: u64) -> Json {
    Json::Number(n.to_string())
}

fn text(value: &str) -> Json {
    Json::Text(value.to_owned())
}

fn texts(values: &[String]) -> Json {
    Json::List(values.iter().map(|value| text(value)).collect())
}

fn optional(value: &Option<String>) -> Json {
    value.as_deref().map_or(Json::Null, text)
}

fn time(ts: Option<Ts>) -> Json {
    ts.map_or(Json::Null, |ts| Json::Text(instant(ts, &Zone::UTC)))
}

/// Seconds, exact to the microsecond.
fn length(span: Span) -> Json {
    let (micros, sign) = (span.micros().unsigned_abs(), if span.micros() < 0 { "-" } else { "" });
    let decimal = format!("{sign}{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    Json::Number(decimal.trim_end_matches('0').trim_end_matches('.').to_owned())
}

impl Json {
    fn write(&self, out: &mut String, depth: usize) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Json::Number(digits) => out.push_str(digits),
            Json::Text(value) => out.push_str(&serde_json::Value::from(value.as_str()).to_string()),
            Json::List(items) => write_items(out, depth, ['[', ']'], items, |item, out| item.write(out, depth + 1)),
            Json::Object(members) => write_items(out, depth, ['{', '}'], members, |(name, value), out| {
                out.push_str(&format!("\"{name}\": "));
                value.write(out, depth + 1);
            }),
        }
    }
}

fn write_items<T>(
    out: &mut String,
    depth: usize,
    [open, close]: [char; 2],
    items: &[T],
    write: impl Fn(&T, &mut String),
) {
    out.push(open);
    for (i, item) in items.iter().enumerate() {
        out.push_str(if i == 0 { "\n" } else { ",\n" });
        out.push_str(&"  ".repeat(depth + 1));
        write(item, out);
    }
    if !items.is_empty() {
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    }
    out.push(close);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary() -> Summary {
        let ledger = Ledger { read: 10, used: 8, late: 1, bad: 1, ..Ledger::default() };
        let input = InputSummary {
            name: "a \"b\".jsonl".into(),
            format: "jsonl",
            ledger,
            bytes: 1_000,
            times: Some((Ts::from_micros(0), Ts::from_micros(1_500_000))),
            types: vec![("page".into(), "text".into())],
            ..InputSummary::default()
        };
        let mut late = Lateness::default();
        late.record(Span::from_micros(1_250_000));
        let delay = Span::from_micros(1_250_000);
        let jump = Jump { input: 0, record: 4, time: Ts::from_micros(9_000_000), by: Span::from_secs(8), late: 1 };
        Summary {
            inputs: vec![input],
            late,
            delay_to_keep_all: delay,
            jump: Some(jump),
            heaviest: vec![Heavy { key: "x".into(), records: 3, side: None }],
            elapsed: 0.25,
            ..Summary::default()
        }
    }

    #[test]
    fn the_object_is_valid_and_its_keys_keep_their_order() {
        let json = summary().to_json(&Given::default());
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value["version"], 1);
        assert_eq!(value["inputs"][0]["name"], "a \"b\".jsonl");
        assert_eq!(value["late"]["max_seconds"].to_string(), "1.25");
        assert_eq!(value["jump"]["record"], 5);
        assert_eq!(value["total"]["balances"], true);
        assert_eq!(value["inputs"][0]["last_time"], "1970-01-01T00:00:01.500Z");
        assert!(
            json.starts_with(
                "{\n  \"version\": 1,\n  \"elapsed_seconds\": 0.250000,\n  \"total\": {\n    \"read\": 10,"
            )
        );
    }

    #[test]
    fn lengths_are_exact_seconds() {
        let shown = |micros| match length(Span::from_micros(micros)) {
            Json::Number(text) => text,
            _ => String::new(),
        };
        assert_eq!([shown(0), shown(1), shown(-1_500_000), shown(60_000_000)], ["0", "0.000001", "-1.5", "60"]);
    }
}
