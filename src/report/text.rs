//! The summary for a terminal: aligned, short, and only lines that say something.
//!
//! Must not decide whether it is shown. Each line is made by one function that returns nothing when it has nothing
//! to say.

use super::human::{byte_rate, bytes, count, counted, flag_span, rate, seconds, span};
use super::warning::{names, shown};
use super::{Given, Heavy, InputSummary, Summary};
use crate::account::Ledger;
use crate::time::{Span, Unit};

/// How many inputs are listed; the JSON summary lists all.
const LISTED: usize = 12;

/// The width of the labels in front of the lines.
const LABEL: usize = 12;

type Line = (&'static str, String);

impl Summary {
    /// The whole summary, each line ended.
    pub fn print(&self, given: &Given) -> String {
        let mut text = self.headline();
        let lines = self.account_lines(given).into_iter().chain(self.other_lines(given));
        for (label, line) in lines {
            text.push_str(format!("  {label:LABEL$}{line}").trim_end());
            text.push('\n');
        }
        text
    }

    fn headline(&self) -> String {
        let (read, size, time) = (self.total().read, self.bytes(), self.elapsed);
        let speed = format!("{}, {}", rate(read, "record", time), byte_rate(size, time));
        format!("{}, {} in {} ({speed})\n", counted(read, "record"), bytes(size), seconds(time))
    }

    fn account_lines(&self, given: &Given) -> Vec<Line> {
        let total = self.total();
        let mut lines = vec![("account", proof(&total))];
        if total.partially_late > 0 {
            let late = counted(total.partially_late, "record");
            lines.push(("", format!("{late} used in some {}s and late for others", given.window)));
        }
        if self.inputs.len() > 1 {
            lines.extend(ledger_table(&self.inputs, &total).into_iter().enumerate().map(|(i, row)| match i {
                0 => ("inputs", row),
                _ => ("", row),
            }));
        }
        lines
    }

    fn other_lines(&self, given: &Given) -> impl Iterator<Item = Line> {
        let lines = [
            ("times", self.times(given)),
            ("units", self.units()),
            (plural(given.window), self.fired()),
            ("watermark", self.held(given)),
            ("idle", (!self.idle.is_empty()).then(|| names(&self.idle))),
            ("state", self.state(given)),
            ("heaviest", self.heaviest_keys()),
            ("costliest", self.costliest_keys()),
            ("filled", self.unfilled()),
            ("lateness", self.percentiles()),
            ("output", self.disorder()),
        ];
        lines.into_iter().filter_map(|(label, line)| Some((label, line?)))
    }

    fn times(&self, given: &Given) -> Option<String> {
        let times = self.inputs.iter().filter_map(|input| input.times);
        let (first, last) = times.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
        Some(format!("{} to {}", shown(first, given), shown(last, given)))
    }

    /// The units that were guessed: by input, where they differ.
    fn units(&self) -> Option<String> {
        let units: Vec<_> = self.inputs.iter().filter_map(|input| Some((input, input.time_unit?))).collect();
        let (_, first) = units.first()?;
        if units.iter().all(|(_, unit)| unit == first) {
            return Some(format!("time numbers are {}, by their size", first.name()));
        }
        let one = |(input, unit): &(&InputSummary, Unit)| format!("{} {}", unit.name(), input.name);
        Some(format!("time numbers by their size: {}", names(&units.iter().map(one).collect::<Vec<_>>())))
    }

    fn fired(&self) -> Option<String> {
        let by = |n: u64, what: &str| (n > 0).then(|| format!("{} closed by {what}", count(n)));
        let fired = [by(self.fired_by_watermark, "the watermark"), by(self.fired_by_end, "the end of the input")];
        let rows = format!("{} written", counted(self.rows, "row"));
        Some(fired.into_iter().flatten().chain([rows]).collect::<Vec<_>>().join(", "))
    }

    fn held(&self, given: &Given) -> Option<String> {
        let mark = shown(self.watermark?, given);
        Some(match &self.held_by {
            Some(partition) => format!("{mark} before the end, held back by {partition}"),
            None => format!("{mark} before the end"),
        })
    }

    fn state(&self, given: &Given) -> Option<String> {
        let peak = self.peak;
        let held = match (peak.rows, peak.groups + peak.windows) {
            (0, 0) => return None,
            (0, _) => format!("{}, {}", counted(peak.windows, given.window), counted(peak.groups, "group")),
            (rows, _) => counted(rows, "row"),
        };
        let size = format!("at most {held}, {}", bytes(peak.bytes));
        Some(match self.unbounded {
            Some(why) => format!("{size}; not bounded: {why}"),
            None => size,
        })
    }

    fn heaviest_keys(&self) -> Option<String> {
        let one = |heavy: &Heavy| {
            let side = heavy.side.map_or_else(String::new, |side| format!(", {side}"));
            format!("{} ({}{side})", heavy.key, counted(heavy.records, "record"))
        };
        let keys: Vec<_> = self.heaviest.iter().take(3).map(one).collect();
        (!keys.is_empty()).then(|| keys.join(", "))
    }

    fn costliest_keys(&self) -> Option<String> {
        let one = |(key, met): &(String, u64)| format!("{key} ({} held together)", counted(*met, "pair"));
        let keys: Vec<_> = self.costliest.iter().take(3).map(one).collect();
        (!keys.is_empty()).then(|| keys.join(", "))
    }

    fn unfilled(&self) -> Option<String> {
        let gaps = counted(self.gaps, "gap");
        (self.gaps > 0).then(|| format!("{gaps} between windows of a key left open, longer than --fill-max"))
    }

    fn percentiles(&self) -> Option<String> {
        let max = self.lateness.max();
        let at = |(name, share): (&str, f64)| format!("{name} {}", span(self.lateness.quantile(share)));
        let shares = PERCENTILES.map(at).join(", ");
        (max > Span::ZERO).then(|| format!("{shares}, at most {}", span(max)))
    }

    fn disorder(&self) -> Option<String> {
        let delay = flag_span(self.output_disorder.round_up_friendly());
        (self.output_disorder > Span::ZERO).then(|| format!("a next windrow over it needs --delay {delay}"))
    }
}

/// The percentiles of lateness that are shown: name and share.
pub(super) const PERCENTILES: [(&str, f64); 4] = [("50%", 0.5), ("90%", 0.9), ("99%", 0.99), ("99.9%", 0.999)];

fn plural(window: &str) -> &'static str {
    match window {
        "session" => "sessions",
        "row" => "rows",
        _ => "windows",
    }
}

/// The gates behind `read`, in the order of the proof.
fn gates(ledger: &Ledger) -> [(&'static str, u64); 6] {
    [
        ("used", ledger.used),
        ("filtered", ledger.filtered),
        ("late", ledger.late),
        ("bad", ledger.bad),
        ("duplicate", ledger.duplicate),
        ("outside", ledger.outside),
    ]
}

/// `read 10 = used 9 + late 1`: what is zero is left out, but never `used`.
fn proof(ledger: &Ledger) -> String {
    let terms = gates(ledger).into_iter().filter(|(name, n)| *name == "used" || *n > 0);
    let terms: Vec<_> = terms.map(|(name, n)| format!("{name} {}", count(n))).collect();
    let equals = if ledger.balances() { "=" } else { "is not" };
    format!("read {} {equals} {}", count(ledger.read), terms.join(" + "))
}

/// One row per input under a head row; columns that are zero everywhere are left out.
fn ledger_table(inputs: &[InputSummary], total: &Ledger) -> Vec<String> {
    let kept: Vec<usize> = (0..6).filter(|i| *i == 0 || gates(total)[*i].1 > 0).collect();
    let head = kept.iter().map(|i| gates(total)[*i].0.to_owned());
    let mut rows: Vec<(String, Vec<String>)> =
        vec![(String::new(), ["read".to_owned()].into_iter().chain(head).collect())];
    for input in inputs.iter().take(LISTED) {
        let gates = gates(&input.ledger);
        let cells = kept.iter().map(|i| count(gates[*i].1));
        rows.push((input.name.clone(), [count(input.ledger.read)].into_iter().chain(cells).collect()));
    }
    let mut lines = align(&rows);
    if inputs.len() > LISTED {
        lines.push(format!("and {} more (--summary FILE lists all)", count((inputs.len() - LISTED) as u64)));
    }
    lines
}

/// Names to the left, numbers to the right.
fn align(rows: &[(String, Vec<String>)]) -> Vec<String> {
    let name = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let cell = rows.iter().flat_map(|(_, cells)| cells).map(String::len).max().unwrap_or(0);
    let line = |(label, cells): &(String, Vec<String>)| {
        cells.iter().fold(format!("{label:name$}"), |line, text| format!("{line}  {text:>cell$}"))
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::{Lateness, StateSize};
    use crate::time::Ts;

    fn heavy(key: &str, records: u64) -> Heavy {
        Heavy { key: key.to_owned(), records, side: None }
    }

    fn input(name: &str, ledger: Ledger) -> InputSummary {
        InputSummary { name: name.into(), format: "jsonl", ledger, bytes: 1_500_000, ..InputSummary::default() }
    }

    fn at(seconds: i64) -> Ts {
        Ts::from_micros(1_767_225_600_000_000 + seconds * 1_000_000)
    }

    #[test]
    fn a_small_clean_run_is_a_few_lines() {
        let one = InputSummary {
            times: Some((at(0), at(90))),
            time_unit: Some(Unit::Millis),
            ..input("-", Ledger { read: 12, used: 12, ..Ledger::default() })
        };
        let summary = Summary { inputs: vec![one], fired_by_end: 2, rows: 3, elapsed: 0.5, ..Summary::default() };
        assert_eq!(
            summary.print(&Given::default()),
            "12 records, 1.5 MB in 500ms (24 records/s, 3.0 MB/s)\n\
             \x20 account     read 12 = used 12\n\
             \x20 times       2026-01-01T00:00:00Z to 2026-01-01T00:01:30Z\n\
             \x20 units       time numbers are milliseconds, by their size\n\
             \x20 windows     2 closed by the end of the input, 3 rows written\n"
        );
    }

    #[test]
    fn a_streaming_run_over_several_inputs_tells_all() {
        let mut lateness = Lateness::default();
        (0..1000).for_each(|i| lateness.record(Span::from_secs(if i == 0 { 432 } else { 0 })));
        let ledgers = [
            Ledger { read: 1_155_000, used: 1_153_800, late: 1_200, partially_late: 12, ..Ledger::default() },
            Ledger { read: 555, used: 544, late: 4, bad: 7, ..Ledger::default() },
        ];
        let summary = Summary {
            inputs: vec![input("a.jsonl", ledgers[0].clone()), input("long/name.jsonl", ledgers[1].clone())],
            watermark: Some(at(60)),
            held_by: Some("a.jsonl".into()),
            fired_by_watermark: 1_234,
            fired_by_end: 60,
            rows: 4_321,
            peak: StateSize { windows: 12, groups: 3_400, rows: 0, bytes: 1_200_000 },
            heaviest: vec![heavy("home", 120_000), heavy("\"a b\"", 1)],
            lateness,
            output_disorder: Span::from_secs(281),
            elapsed: 4.2,
            idle: vec!["long/name.jsonl".into()],
            ..Summary::default()
        };
        assert_eq!(
            summary.print(&Given { window: "session", ..Given::default() }),
            "1,155,555 records, 3.0 MB in 4.2s (275,000 records/s, 714 kB/s)\n\
             \x20 account     read 1,155,555 = used 1,154,344 + late 1,204 + bad 7\n\
             \x20             12 records used in some sessions and late for others\n\
             \x20 inputs                            read       used       late        bad\n\
             \x20             a.jsonl          1,155,000  1,153,800      1,200          0\n\
             \x20             long/name.jsonl        555        544          4          7\n\
             \x20 sessions    1,234 closed by the watermark, 60 closed by the end of the input, 4,321 rows written\n\
             \x20 watermark   2026-01-01T00:01:00Z before the end, held back by a.jsonl\n\
             \x20 idle        long/name.jsonl\n\
             \x20 state       at most 12 sessions, 3,400 groups, 1.2 MB\n\
             \x20 heaviest    home (120,000 records), \"a b\" (1 record)\n\
             \x20 lateness    50% 0s, 90% 0s, 99% 0s, 99.9% 0s, at most 7m 12s\n\
             \x20 output      a next windrow over it needs --delay 5m\n"
        );
    }

    #[test]
    fn an_account_that_does_not_balance_says_so() {
        assert_eq!(proof(&Ledger { read: 3, bad: 1, ..Ledger::default() }), "read 3 is not used 0 + bad 1");
    }

    #[test]
    fn units_that_differ_and_unbounded_state_are_told() {
        let unit = |name: &str, unit| InputSummary { time_unit: Some(unit), ..input(name, Ledger::default()) };
        let summary = Summary {
            inputs: vec![unit("a", Unit::Seconds), unit("b", Unit::Nanos)],
            peak: StateSize { windows: 1, groups: 1, rows: 0, bytes: 10 },
            unbounded: Some("without --delay every window waits for the end"),
            ..Summary::default()
        };
        assert_eq!(summary.units().as_deref(), Some("time numbers by their size: seconds a and nanoseconds b"));
        assert_eq!(
            summary.state(&Given::default()).as_deref(),
            Some("at most 1 window, 1 group, 10 bytes; not bounded: without --delay every window waits for the end")
        );
    }

    #[test]
    fn many_inputs_are_not_all_listed() {
        let inputs: Vec<_> = (0..40).map(|i| input(&format!("{i}"), Ledger::default())).collect();
        let table = ledger_table(&inputs, &Ledger::default());
        assert_eq!(table.len(), 14);
        assert_eq!(table[13], "and 28 more (--summary FILE lists all)");
    }
}
