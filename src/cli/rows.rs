//! What a row holds and which rows are written, as flags say it: keys, aggregates, conditions, orders, fillings.
//!
//! Must not know when rows are written. Expressions are read here and judged by [`expr`](crate::expr).

use super::modes::ModeName;
use super::text;
use super::window::ResultFlags;
use crate::error::{Error, Result};
use crate::expr::{self, Key, Order, Scalar, Selection};
use crate::plan::{Fill, Filling, FinishPlan, Top};
use crate::schema::FieldPath;

/// Gaps longer than this are counted instead of filled, unless `--fill-max` says otherwise.
const FILL_MAX: u64 = 1_000;

/// What records are grouped by.
pub(super) fn keys(lists: &[String]) -> Result<Vec<Key>> {
    text::lists("by", lists, expr::parse_keys)
}

/// The output columns.
pub(super) fn selection(lists: &[String]) -> Result<Selection> {
    let mut selection = Selection::default();
    if lists.is_empty() {
        selection.add_outputs("count(*) AS count").map_err(|e| text::in_flag("agg", &e))?;
    }
    for list in lists {
        selection.add_outputs(list).map_err(|e| text::in_flag("agg", &e))?;
    }
    Ok(selection)
}

/// Which records are used.
pub(super) fn filter(flag: &str, text: Option<&str>) -> Result<Option<Scalar>> {
    text::optional(flag, text, |text| expr::parse_scalar(text, "a condition such as amount > 0 AND status = 'paid'"))
}

/// Which rows are written and in what order. Conditions and orders may need further aggregates.
pub(super) fn finish(flags: &ResultFlags, keys: &[Key], selection: &mut Selection) -> Result<FinishPlan> {
    let having = text::optional("having", flags.having.as_deref(), |text| {
        selection.condition(text, "a condition such as count(*) > 100")
    })?;
    let order = order(&flags.order_by, selection)?;
    Ok(FinishPlan { having, order, top: top(flags, keys)?, fill: fill(flags)? })
}

fn order(lists: &[String], selection: &mut Selection) -> Result<Vec<Order>> {
    let mut all = Vec::new();
    for list in lists {
        all.extend(selection.order(list).map_err(|e| text::in_flag("order-by", &e))?);
    }
    Ok(all)
}

fn top(flags: &ResultFlags, keys: &[Key]) -> Result<Option<Top>> {
    let by = text::lists("top-by", &flags.top_by, |text| Ok(vec![text.to_owned()]))?;
    let by = by.iter().map(|list| ranked_by(list, keys).map_err(|e| text::in_flag("top-by", &e)));
    let mut by = by.collect::<Result<Vec<_>>>()?.concat();
    by.sort_unstable();
    by.dedup();
    let rows = text::optional("top", flags.top.as_deref(), text::positive)?;
    let rows = rows.map(|rows| usize::try_from(rows).unwrap_or(usize::MAX));
    Ok(rows.map(|rows| Top { rows, by }))
}

/// The keys named by their output columns.
fn ranked_by(list: &str, keys: &[Key]) -> Result<Vec<usize>> {
    let find = |named: Key| {
        keys.iter().position(|key| key.name == named.name).ok_or_else(|| {
            let error = Error::usage(format!("there is no key \"{}\"", named.name));
            match keys {
                [] => error.hint(format!("--by '{}' makes it one", named.name)),
                keys => {
                    let names: Vec<_> = keys.iter().map(|key| key.name.as_str()).collect();
                    error.hint(format!("keys are {}", names.join(", ")))
                }
            }
        })
    };
    expr::parse_keys(list)?.into_iter().map(find).collect()
}

fn fill(flags: &ResultFlags) -> Result<Option<Fill>> {
    let words = [("zero", Filling::Zero), ("null", Filling::Null), ("previous", Filling::Previous)];
    let with = text::choice("fill", flags.fill.as_deref(), &words)?;
    let max = text::optional("fill-max", flags.fill_max.as_deref(), text::positive)?.unwrap_or(FILL_MAX);
    Ok(with.map(|with| Fill { with, max }))
}

/// Refuses columns that cannot be told apart, or that the job adds itself.
pub(super) fn check_names(keys: &[Key], selection: &Selection, top: bool, mode: ModeName) -> Result<()> {
    expr::check_names(keys, &selection.outputs).map_err(|e| e.at("--by, --agg"))?;
    let added = match mode {
        ModeName::Update => &["op", "pane", "revision"][..],
        ModeName::Append | ModeName::Complete => &[],
    };
    let added = added.iter().map(|name| (*name, "--mode update")).chain(top.then_some(("rank", "--top")));
    let names: Vec<_> = keys.iter().map(|k| &k.name).chain(selection.outputs.iter().map(|o| &o.name)).collect();
    for (name, flag) in added {
        if names.iter().any(|taken| *taken == name) {
            return Err(Error::usage(format!("--by, --agg: \"{name}\" is a column that {flag} adds"))
                .hint(format!("give yours another name: {name} AS other")));
        }
    }
    Ok(())
}

/// The event time: a field, or an expression.
///
/// Names of fields in event files are often no SQL (`Flight Date`, `user-agent`, `Date/Time`), and need no quotes here.
/// So a text is an expression only where it says so: by a text in single quotes, a call, `||`, `::`, `*` or an index; or
/// by blanks, if it then reads as one and is no field (`sent - delay`).
pub(super) fn time(flag: &str, text: Option<&str>) -> Result<Option<Scalar>> {
    text::optional(flag, text, |text| {
        let bare = without_quoted(text);
        if says_expression(&bare) {
            return expr::parse_scalar(text, "a time");
        }
        let computed = || expr::parse_scalar(text, "a time").ok().filter(|scalar| scalar.as_field().is_none());
        match bare.trim().contains(char::is_whitespace).then(computed).flatten() {
            Some(scalar) => Ok(scalar),
            None => field(text).map(Scalar::field),
        }
    })
}

/// A dotted path in which anything stands for itself.
pub(super) fn field(text: &str) -> Result<FieldPath> {
    FieldPath::parse(text).ok_or_else(|| {
        Error::usage(format!("expected a field, found \"{text}\""))
            .hint("a dotted path reaches into records: actor.login; odd names stand in double quotes")
    })
}

fn says_expression(bare: &str) -> bool {
    let call = |(at, _)| bare[..at].chars().next_back().is_none_or(|c| c.is_alphanumeric() || "_(,".contains(c));
    let index = |(at, _): (usize, _)| bare[at + 1..].starts_with(|c: char| c.is_ascii_digit() || c == '-');
    ["'", "||", "::", "*"].iter().any(|mark| bare.contains(mark))
        || bare.match_indices('(').any(call)
        || bare.match_indices('[').any(index)
}

/// The text with a plain letter for each name in double quotes.
fn without_quoted(text: &str) -> String {
    text.split('"').enumerate().map(|(i, part)| if i % 2 == 0 { part } else { "x" }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_it_is_an_expression_and_what_is_a_name() {
        for text in
            ["date || ' ' || time", "a||b", "coalesce(ts, received)", "ts::timestamp", "items[0].ts", "ts*1000", "(ts)"]
        {
            assert!(says_expression(&without_quoted(text)), "{text}");
        }
        for text in ["ts", "a.b", "@timestamp", "user-agent", "Date/Time", "Time (UTC)", "time [s]", "\"it's (b)\".c"] {
            assert!(!says_expression(&without_quoted(text)), "{text}");
        }
    }

    #[test]
    fn odd_names_are_fields_without_quotes() {
        for (text, parts) in [
            ("Flight Date", &["Flight Date"][..]),
            ("a.Flight Date", &["a", "Flight Date"]),
            ("@timestamp", &["@timestamp"]),
            ("user-agent", &["user-agent"]),
            ("Date/Time", &["Date/Time"]),
            ("Time (UTC)", &["Time (UTC)"]),
            ("time [s]", &["time [s]"]),
            ("date", &["date"]),
            ("\"it's\".c", &["it's", "c"]),
        ] {
            let time = time("time", Some(text)).unwrap().unwrap();
            assert_eq!(
                time.as_field().map(FieldPath::parts),
                Some(parts).map(|p| p.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>()).as_deref(),
                "{text}"
            );
        }
    }
}
