//! Names of functions that there are not, and what to use instead.
//!
//! Must not know what a call's arguments are.

use super::functions::FUNCTIONS;
use super::sql::{Sql, nearest};
use crate::aggregate::AGGREGATES;
use crate::error::{Error, Result};
use sqlparser::tokenizer::Location;

/// Names of the wall clock, with and without brackets.
const CLOCK: [&str; 4] = ["current_timestamp", "current_date", "current_time", "localtimestamp"];
/// Those that are calls.
const CALLS: [&str; 5] = ["now", "today", "get_current_timestamp", "transaction_timestamp", "getdate"];

/// Functions of other dialects, and what does the same here.
static INSTEAD: &[(&[&str], &str)] = &[
    (&["if", "iif", "decode"], "CASE WHEN a THEN b ELSE c END chooses"),
    (&["date", "to_date"], "x::date and date_trunc('day', x) are the start of its day"),
    (
        &["count_if", "countif", "sum_if"],
        "count(*) FILTER (WHERE a) counts what a is true for; other calls take FILTER too",
    ),
    (
        &["date_diff", "datediff", "date_sub", "datesub", "age", "timestampdiff"],
        "epoch(b) - epoch(a) is what lies between them, in seconds",
    ),
    (&["date_add", "dateadd", "timestampadd"], "a time is moved by an interval: ts + INTERVAL 5 MINUTE"),
    (&["nvl", "isnull"], "coalesce(a, b) is the first that is not null"),
    (&["isnan"], "x = 'nan' is true of NaN"),
    (
        &["json_value", "get_json_object", "json_extract_scalar"],
        "json_extract_string(json, path) is a value inside JSON",
    ),
    (
        &["time_bucket", "tumble", "hop", "window"],
        "windows are what windrow's flags say; date_trunc('hour', x) cuts a time",
    ),
    (
        &["row_number", "rank", "dense_rank", "lag", "lead"],
        "--top ranks the rows of a window; no function looks at other records",
    ),
    (&["corr", "covar_samp", "covar_pop", "regr_slope"], ALL),
    (&["unnest", "explode"], "no function makes several records of one"),
    (&["random", "rand", "uuid", "gen_random_uuid"], "results do not depend on chance: hash(x) spreads values evenly"),
];

const ALL: &str = "windrow-window(1) lists all functions and aggregates";

/// The error about a function of this name.
pub(super) fn function(sql: Sql<'_>, name: &str, at: Location) -> Error {
    let lower = name.to_lowercase();
    if CALLS.contains(&lower.as_str()) || CLOCK.contains(&lower.as_str()) {
        return wall_clock(sql, &lower, at);
    }
    let error = sql.error(at, format!("there is no function \"{name}\""));
    if let Some((_, hint)) = INSTEAD.iter().find(|(names, _)| names.contains(&lower.as_str())) {
        return error.hint(*hint);
    }
    let scalar = FUNCTIONS.iter().copied().flat_map(|kind| kind.aliases.iter().copied().chain([kind.name]));
    let aggregate = AGGREGATES.iter().flat_map(|kind| kind.aliases.iter().copied().chain([kind.name]));
    match nearest(name, aggregate.chain(scalar)) {
        Some(near) => error.hint(format!("did you mean {near}?")),
        None => error.hint(ALL),
    }
}

/// Refuses a name that SQL reads as the wall clock.
pub(super) fn no_clock(sql: Sql<'_>, name: &str, at: Location) -> Result<()> {
    match CLOCK.iter().find(|clock| name.eq_ignore_ascii_case(clock)) {
        Some(clock) => Err(wall_clock(sql, clock, at)),
        None => Ok(()),
    }
}

fn wall_clock(sql: Sql<'_>, name: &str, at: Location) -> Error {
    let field = if CLOCK.contains(&name) {
        format!("; a field of this name stands in double quotes: \"{name}\"")
    } else {
        String::new()
    };
    sql.error(at, format!("{name} is the wall clock, which would make each run give something else"))
        .hint(format!("write the time: TIMESTAMP '2026-01-31 12:00'{field}"))
}

#[cfg(test)]
mod tests {
    use crate::expr::parse_calls;

    fn error(text: &str) -> String {
        parse_calls(text).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn what_other_dialects_have_is_told_as_it_is_done_here() {
        for (text, hint) in [
            ("max(if(a, 1, 2))", "CASE WHEN"),
            ("max(date(ts))", "x::date"),
            ("count_if(a)", "count(*) FILTER"),
            ("max(DATE_DIFF('s', a, b))", "epoch(b) - epoch(a)"),
            ("corr(a, b)", "windrow-window(1) lists"),
            ("countt(a)", "did you mean count?"),
            ("sum(lenght(a))", "did you mean length?"),
            ("max(nvl(a, b))", "coalesce(a, b)"),
        ] {
            let error = error(text);
            assert!(error.starts_with("there is no function") && error.contains(&format!("hint: {hint}")), "{error}");
        }
    }

    #[test]
    fn the_wall_clock_is_refused_by_name() {
        for text in
            ["max(now())", "max(current_timestamp)", "max(CURRENT_DATE)", "max(current_timestamp())", "max(today())"]
        {
            assert!(error(text).contains("is the wall clock"), "{text}: {}", error(text));
        }
        assert!(error("max(current_date)").contains("stands in double quotes: \"current_date\""));
        assert!(parse_calls("max(\"current_date\"), max(a.current_date), max(now)").is_ok());
    }
}
