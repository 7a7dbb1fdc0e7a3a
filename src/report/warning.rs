//! What needs the user's attention after a run, and the advice that fits the flags already given.
//!
//! Must not print: [`Reporter`](super::Reporter) does. One row per kind of trouble, each text pinned by a test.

use super::human::{count, counted, flag_span, instant, quoted, span};
use super::{Empty, Given, GivenSide, LateSide, Part, Summary, Unlisted, Unseen, Widened};
use crate::account::Jump;
use crate::time::{Span, Ts};

/// Something that needs attention, though the run went on.
#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    /// The ledger does not add up: a fault of ours.
    Unbalanced {
        /// The input whose records do not add up.
        input: String,
    },
    /// Records were late.
    Late {
        /// The side they are of, where there are two.
        side: Option<Part>,
        /// How many.
        late: u64,
        /// Of how many read.
        read: u64,
        /// The furthest behind.
        most: Span,
        /// What 99 of 100 of them did not exceed.
        most_99: Span,
        /// Where they are kept.
        file: Option<String>,
        /// The delay to advise; none when a jump of the clock is to blame.
        delay: Option<Span>,
        /// The flag that keeps them.
        keep: String,
    },
    /// Records were late for some of their windows, and counted in the others.
    PartiallyLate {
        /// How many.
        records: u64,
        /// The delay to advise.
        delay: Option<Span>,
    },
    /// One record moved the clock far ahead.
    Jumped {
        /// Its input.
        input: String,
        /// The record and what it did.
        jump: Jump,
        /// The `--outliers` that would have let it pass.
        outliers: usize,
        /// Its event time as shown.
        time: String,
    },
    /// Records were bad, and allowed.
    Bad {
        /// How many.
        bad: u64,
        /// Of how many read.
        read: u64,
        /// Where they are kept.
        file: Option<String>,
        /// The first, as an error would say it.
        first: Option<String>,
    },
    /// Partitions ran ahead of the others.
    Skewed {
        /// Their names.
        names: Vec<String>,
        /// `--max-skew`.
        limit: Span,
    },
    /// Partitions fell behind, did not hold the watermark any more, and records were late.
    Idle {
        /// Their names.
        names: Vec<String>,
        /// `--idle-after`.
        limit: Span,
    },
    /// A column became another type.
    Widened(Widened),
    /// A field that the job uses was in no record looked at.
    Unseen(Unseen),
    /// An input has no records.
    Empty(Empty),
    /// A field came too late to be in the output.
    Unlisted(Unlisted),
}

impl Summary {
    /// What needs attention, most urgent first.
    pub fn warnings(&self, given: &Given) -> Vec<Warning> {
        let unbalanced = self.inputs.iter().filter(|input| !input.ledger.balances());
        let mut all: Vec<_> = unbalanced.map(|input| Warning::Unbalanced { input: input.name.clone() }).collect();
        all.extend(self.bad_warning(given));
        all.extend(self.late_warnings(given));
        all.extend(self.partially_late_warning());
        all.extend(self.jump_warnings(given));
        all.extend(self.partition_warnings(given));
        all.extend(self.widened.iter().cloned().map(Warning::Widened));
        all.extend(self.unseen.iter().cloned().map(Warning::Unseen));
        all.extend(self.empty.iter().cloned().map(Warning::Empty));
        all.extend(self.unlisted.iter().cloned().map(Warning::Unlisted));
        all
    }

    fn bad_warning(&self, given: &Given) -> Option<Warning> {
        let total = self.total();
        let (file, first) = (given.bad_file.clone(), self.first_bad.clone());
        (total.bad > 0).then_some(Warning::Bad { bad: total.bad, read: total.read, file, first })
    }

    fn late_warnings(&self, given: &Given) -> Vec<Warning> {
        let warnings = match (&self.sides, &given.sides) {
            (Some(sides), Some(said)) => vec![sides[0].warning(Part::Left, said), sides[1].warning(Part::Right, said)],
            _ => vec![self.late_warning(given)],
        };
        warnings.into_iter().flatten().collect()
    }

    fn late_warning(&self, given: &Given) -> Option<Warning> {
        let total = self.total();
        (total.late > 0).then(|| Warning::Late {
            side: None,
            late: total.late,
            read: total.read,
            most: self.late.max(),
            most_99: self.late.quantile(0.99),
            file: given.late_file.clone(),
            delay: self.advised_delay(),
            keep: "late".to_owned(),
        })
    }

    fn partially_late_warning(&self) -> Option<Warning> {
        let records = self.total().partially_late;
        (records > 0).then(|| Warning::PartiallyLate { records, delay: self.advised_delay() })
    }

    /// No delay is worth advising when most late records came behind one stray record.
    fn advised_delay(&self) -> Option<Span> {
        let late = self.total().late;
        let blamed = self.jump.as_ref().is_some_and(|jump| jump.late.saturating_mul(2) > late);
        (!blamed && self.delay_to_keep_all > Span::ZERO).then(|| self.delay_to_keep_all.round_up_friendly())
    }

    /// Each side has a clock of its own.
    fn jump_warnings(&self, given: &Given) -> Vec<Warning> {
        let jumps = match &self.sides {
            Some([left, right]) => [left.jump.as_ref(), right.jump.as_ref()],
            None => [self.jump.as_ref(), None],
        };
        jumps.into_iter().flatten().filter_map(|jump| self.jump_warning(jump, given)).collect()
    }

    fn jump_warning(&self, jump: &Jump, given: &Given) -> Option<Warning> {
        let jump = Some(jump.clone()).filter(|jump| jump.late > 0)?;
        let input = self.inputs.get(jump.input).map_or_else(|| "-".into(), |input| input.name.clone());
        let time = shown(jump.time, given);
        Some(Warning::Jumped { input, jump, outliers: given.outliers + 1, time })
    }

    fn partition_warnings(&self, given: &Given) -> impl Iterator<Item = Warning> {
        let limits = (given.max_skew.unwrap_or_default(), given.idle_after.unwrap_or_default());
        let skewed = Warning::Skewed { names: self.skewed.clone(), limit: limits.0 };
        let idle = Warning::Idle { names: self.idle.clone(), limit: limits.1 };
        let any_late = self.total().late > 0;
        let skewed = (!self.skewed.is_empty()).then_some(skewed);
        skewed.into_iter().chain((any_late && !self.idle.is_empty()).then_some(idle))
    }
}

impl LateSide {
    fn warning(&self, side: Part, given: &[GivenSide; 2]) -> Option<Warning> {
        let (late, most) = (self.total.late, self.late.max());
        let blamed = self.jump.as_ref().is_some_and(|jump| jump.late.saturating_mul(2) > late);
        let own = &given[usize::from(side == Part::Right)];
        let keep = match given.iter().all(|side| side.late_file.is_none()) {
            true => "late".to_owned(),
            false => format!("late-{}", side.name()),
        };
        (late > 0).then(|| Warning::Late {
            side: Some(side),
            late,
            read: self.total.read,
            most,
            most_99: self.late.quantile(0.99),
            file: own.late_file.clone(),
            delay: (!blamed && most > Span::ZERO).then(|| most.round_up_friendly()),
            keep,
        })
    }
}

/// An instant in the zone of the output.
pub(super) fn shown(ts: Ts, given: &Given) -> String {
    instant(ts, &given.zone)
}

/// A few names, and how many more there are: `a, b, c and 4 more`.
pub(super) fn names(all: &[String]) -> String {
    const SHOWN: usize = 3;
    match all {
        [rest @ .., last] if all.len() <= SHOWN && !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ if all.len() <= SHOWN => all.join(", "),
        _ => format!("{} and {} more", all[..SHOWN].join(", "), count((all.len() - SHOWN) as u64)),
    }
}

fn were(n: usize) -> &'static str {
    if n == 1 { "was" } else { "were" }
}

impl Warning {
    /// What happened, in one sentence.
    pub fn message(&self) -> String {
        match self {
            Warning::Unbalanced { input } => {
                format!("{input}: the records read and the records accounted for differ, which is a fault of windrow")
            }
            Warning::Late { side, late, read, most, most_99, file, .. } => {
                let of_side = side.map_or_else(String::new, |side| format!(" of the {} side", side.name()));
                let fate = file.as_ref().map_or("dropped".into(), |file| format!("kept in {file}"));
                let were = were(*late as usize);
                let lateness = lateness(*late, *most, *most_99);
                let (late, read) = (count(*late), counted(*read, "event"));
                format!("{late} of {read}{of_side} {were} late, {lateness}, and {were} {fate}")
            }
            Warning::PartiallyLate { records, .. } => {
                let were = were(*records as usize);
                format!(
                    "{} {were} late for some of their windows, and counted in the others",
                    counted(*records, "event")
                )
            }
            Warning::Jumped { input, jump, time, .. } => {
                let (record, by) = (count(jump.record + 1), span(jump.by));
                let (late, were) = (counted(jump.late, "event"), were(jump.late as usize));
                format!(
                    "{input}: record {record} moved the clock ahead by {by}, to {time}, \
                     and {late} behind it {were} late"
                )
            }
            Warning::Bad { bad, read, file, .. } => {
                let fate = file.as_ref().map_or("skipped".into(), |file| format!("kept in {file}"));
                let were = were(*bad as usize);
                format!("{} of {} {were} bad, and {were} {fate}", count(*bad), counted(*read, "record"))
            }
            Warning::Skewed { names: all, limit } => {
                let (names, were) = (names(all), were(all.len()));
                format!("{names} {were} more than {} ahead of the others, and left out of the watermark", span(*limit))
            }
            Warning::Idle { names: all, limit } => {
                let names = names(all);
                format!("{names} fell more than {} behind the others, which did not wait", span(*limit))
            }
            Warning::Widened(Widened { column, from, to, place }) => {
                format!("{place}: column \"{column}\" was {from} and became {to}")
            }
            Warning::Unseen(Unseen { field, input: Some(input), .. }) => {
                format!("{input}: none of the first records has a field \"{field}\"; where it is absent it is null")
            }
            Warning::Unseen(Unseen { field, .. }) => {
                format!("none of the first records has a field \"{field}\"; where it is absent it is null")
            }
            Warning::Empty(Empty { input, nameless, .. }) => match nameless {
                true => format!("{input} has no records, so the output has no columns of it"),
                false => format!("{input} has no records"),
            },
            Warning::Unlisted(Unlisted { field, place }) => {
                format!("{place}: the field \"{field}\" is in none of the first 1,000 records, and not in the output")
            }
        }
    }

    /// The next step, if there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Warning::Unbalanced { .. } => {
                Some("please report it with the flags you gave; do not rely on this result".into())
            }
            Warning::Late { side, file, delay, keep, .. } => {
                let keep = file.is_none().then(|| format!("--{keep} FILE keeps them"));
                let flag = side.map_or_else(|| "delay".to_owned(), |side| format!("{}-delay", side.name()));
                let delay = delay.map(|delay| format!("--{flag} {} would have kept them all", flag_span(delay)));
                join_hints(delay, keep)
            }
            Warning::PartiallyLate { delay, .. } => {
                delay.map(|delay| format!("--delay {} would have counted them in all", flag_span(delay)))
            }
            Warning::Jumped { outliers, .. } => {
                let records = if *outliers == 1 { "one stray record" } else { "that many stray records" };
                Some(format!("--outliers {outliers} keeps {records} from moving the clock"))
            }
            Warning::Bad { file, first, .. } => {
                let keep = file.is_none().then(|| "--bad FILE keeps them".to_owned());
                join_hints(first.as_ref().map(|first| format!("the first is {first}")), keep)
            }
            Warning::Skewed { .. } => Some("check the clocks behind them".into()),
            Warning::Idle { .. } => Some("a greater --idle-after waits longer for them".into()),
            Warning::Widened(w) => {
                Some(format!("--schema '{} {}' makes it so from the start", in_schema(&w.column), w.to))
            }
            Warning::Unseen(Unseen { result: Some(result), .. }) => Some(result.clone()),
            Warning::Unseen(Unseen { similar, text, .. }) => join_hints(
                text.as_ref().map(|text| format!("text takes single quotes: {text}")),
                similar.as_ref().map(|similar| format!("did you mean {}?", quoted(similar))),
            ),
            Warning::Empty(Empty { nameless, part, .. }) => {
                nameless.then(|| format!("--{}-schema 'id bigint, name text' makes them columns", part.name()))
            }
            Warning::Unlisted(Unlisted { field, .. }) => {
                Some(format!("--schema '{} text' makes it a column", in_schema(field)))
            }
        }
    }
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Part::Left => "left",
            Part::Right => "right",
            Part::Table => "table",
        }
    }
}

fn lateness(late: u64, most: Span, most_99: Span) -> String {
    match (late, span(most), span(most_99)) {
        (1, most, _) => format!("by {most}"),
        (_, most, share) if share == most => format!("by up to {most}"),
        (_, most, share) => format!("by up to {most} (99% by less than {share})"),
    }
}

/// A field as --schema takes it.
fn in_schema(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    if name.chars().all(plain) { name.to_owned() } else { format!("\"{name}\"") }
}

fn join_hints(first: Option<String>, second: Option<String>) -> Option<String> {
    match (first, second) {
        (Some(first), Some(second)) => Some(format!("{first}; {second}")),
        (first, second) => first.or(second),
    }
}

#[cfg(test)]
mod tests {
    use super::super::InputSummary;
    use super::*;
    use crate::account::{Lateness, Ledger};

    fn show(summary: &Summary, given: &Given) -> Vec<String> {
        let line = |w: &Warning| match w.hint() {
            Some(hint) => format!("{}\n  hint: {hint}", w.message()),
            None => w.message(),
        };
        summary.warnings(given).iter().map(line).collect()
    }

    fn with(ledger: Ledger) -> Summary {
        let input = InputSummary { name: "a.jsonl".into(), ledger, ..InputSummary::default() };
        Summary { inputs: vec![input], ..Summary::default() }
    }

    fn late_summary() -> Summary {
        let mut late = Lateness::default();
        (0..1_200).for_each(|_| late.record(Span::from_secs(60)));
        (0..4).for_each(|_| late.record(Span::from_secs(432)));
        let ledger = Ledger { read: 2_310_551, used: 2_309_347, late: 1_204, ..Ledger::default() };
        Summary { late, delay_to_keep_all: Span::from_secs(432), ..with(ledger) }
    }

    #[test]
    fn a_clean_run_warns_of_nothing() {
        assert_eq!(show(&with(Ledger { read: 2, used: 2, ..Ledger::default() }), &Given::default()), [""; 0]);
    }

    #[test]
    fn late_records_are_dropped_or_kept_and_the_advice_fits() {
        let summary = late_summary();
        assert_eq!(
            show(&summary, &Given::default()),
            ["1,204 of 2,310,551 events were late, by up to 7m 12s (99% by less than 1m 1s), and were dropped\n  \
              hint: --delay 8m would have kept them all; --late FILE keeps them"]
        );
        let given = Given { late_file: Some("late.jsonl".into()), ..Given::default() };
        assert_eq!(
            show(&summary, &given),
            ["1,204 of 2,310,551 events were late, by up to 7m 12s (99% by less than 1m 1s), and were kept in \
              late.jsonl\n  hint: --delay 8m would have kept them all"]
        );
    }

    #[test]
    fn one_late_record_is_one() {
        let mut late = Lateness::default();
        late.record(Span::from_secs(90));
        let ledger = Ledger { read: 10, used: 9, late: 1, ..Ledger::default() };
        let summary = Summary { late, delay_to_keep_all: Span::from_secs(90), ..with(ledger) };
        assert_eq!(
            show(&summary, &Given::default()),
            ["1 of 10 events was late, by 1m 30s, and was dropped\n  \
              hint: --delay 2m would have kept them all; --late FILE keeps them"]
        );
    }

    #[test]
    fn a_jump_is_blamed_instead_of_the_delay() {
        let time = Ts::from_micros(1_767_225_600_000_000);
        let jump = Jump { input: 0, record: 1_041, time, by: Span::from_secs(86_400 * 300), late: 1_200 };
        let summary = Summary { jump: Some(jump), ..late_summary() };
        assert_eq!(
            show(&summary, &Given { outliers: 1, late_file: Some("l".into()), ..Given::default() }),
            [
                "1,204 of 2,310,551 events were late, by up to 7m 12s (99% by less than 1m 1s), and were kept in l",
                "a.jsonl: record 1,042 moved the clock ahead by 300d, to 2026-01-01T00:00:00Z, and 1,200 events \
                 behind it were late\n  hint: --outliers 2 keeps that many stray records from moving the clock",
            ]
        );
    }

    #[test]
    fn partially_late_events_are_told() {
        let ledger = Ledger { read: 10, used: 10, partially_late: 3, ..Ledger::default() };
        let summary = Summary { delay_to_keep_all: Span::from_secs(50), ..with(ledger) };
        assert_eq!(
            show(&summary, &Given::default()),
            ["3 events were late for some of their windows, and counted in the others\n  \
              hint: --delay 50s would have counted them in all"]
        );
    }

    #[test]
    fn bad_records_show_the_first() {
        let ledger = Ledger { read: 100, used: 93, bad: 7, ..Ledger::default() };
        let first_bad = Some("a.csv:12: column \"ts\": expected a time, found \"n/a\"".into());
        let summary = Summary { first_bad, ..with(ledger) };
        assert_eq!(
            show(&summary, &Given::default()),
            ["7 of 100 records were bad, and were skipped\n  \
              hint: the first is a.csv:12: column \"ts\": expected a time, found \"n/a\"; --bad FILE keeps them"]
        );
        let given = Given { bad_file: Some("bad.csv".into()), ..Given::default() };
        let summary = Summary { first_bad: None, ..summary };
        assert_eq!(show(&summary, &given), ["7 of 100 records were bad, and were kept in bad.csv"]);
    }

    #[test]
    fn partitions_are_named() {
        let letters = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let ledger = Ledger { read: 1, used: 1, ..Ledger::default() };
        let given =
            Given { max_skew: Some(Span::from_secs(300)), idle_after: Some(Span::from_secs(600)), ..Given::default() };
        let summary = Summary { skewed: letters("b"), idle: letters("c"), ..with(ledger) };
        assert_eq!(
            show(&summary, &given),
            ["b was more than 5m ahead of the others, and left out of the watermark\n  \
              hint: check the clocks behind them"]
        );
        let summary = Summary { idle: letters("c d e f g"), ..late_summary() };
        assert_eq!(
            show(&summary, &given)[1..],
            ["c, d, e and 2 more fell more than 10m behind the others, which did not wait\n  \
              hint: a greater --idle-after waits longer for them"]
        );
        assert_eq!(names(&letters("a b")), "a and b");
    }

    #[test]
    fn a_column_of_another_type_is_told() {
        let widened = |column: &str| Widened {
            column: column.into(),
            from: "bigint".into(),
            to: "double".into(),
            place: "a.jsonl:1041".into(),
        };
        let ledger = Ledger { read: 1, used: 1, ..Ledger::default() };
        let summary = Summary { widened: vec![widened("amount"), widened("Amount paid")], ..with(ledger) };
        assert_eq!(
            show(&summary, &Given::default()),
            [
                "a.jsonl:1041: column \"amount\" was bigint and became double\n  \
                 hint: --schema 'amount double' makes it so from the start",
                "a.jsonl:1041: column \"Amount paid\" was bigint and became double\n  \
                 hint: --schema '\"Amount paid\" double' makes it so from the start",
            ]
        );
    }

    #[test]
    fn an_account_that_does_not_balance_is_our_fault() {
        let summary = with(Ledger { read: 3, used: 2, ..Ledger::default() });
        assert_eq!(
            show(&summary, &Given::default()),
            ["a.jsonl: the records read and the records accounted for differ, which is a fault of windrow\n  \
              hint: please report it with the flags you gave; do not rely on this result"]
        );
    }
}
