//! `count(*), sum(amount) AS total, count(DISTINCT user_id)`: the aggregates of a job.
//!
//! Must not know any one function: what a call may look like is a row of the table of aggregates. A call is named by
//! its alias, else as it was typed, with the function in lower case and without spare spaces.

use super::sql::{Item, Sql, field, nearest, quoted};
use super::tree::{Expr as Tree, Node};
use super::{Call, Output, Scalar, Selection, check_names};
use crate::aggregate::{self, AGGREGATES, AggregateKind};
use crate::error::{Error, Result};
use crate::schema::FieldPath;
use sqlparser::ast::{
    DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments,
};
use sqlparser::tokenizer::Location;

/// What stands in the brackets of a call.
enum Argument {
    /// `*` or nothing.
    Rows,
    /// A field.
    Field(Vec<String>),
}

/// Reads a list of calls with optional names. The error shows the place; the flag's name is the caller's to add.
pub fn parse_calls(text: &str) -> Result<Selection> {
    let sql = Sql { text, takes: "a call like sum(amount)" };
    let mut selection = Selection::default();
    for item in sql.items()? {
        let (call, name) = call(sql, item)?;
        let root = Tree { node: Node::Aggregate(selection.calls.len()), at: Location::empty() };
        selection.outputs.push(Output { expr: Scalar { text: text.into(), root }, name });
        selection.calls.push(call);
    }
    check_names(&[], &selection.outputs)?;
    Ok(selection)
}

fn call(sql: Sql<'_>, item: Item) -> Result<(Call, String)> {
    let start = item.start;
    let (function, arguments) = match &item.expr {
        Expr::Function(function) => match &function.args {
            FunctionArguments::List(arguments) if is_plain(function, arguments) => (function, arguments),
            FunctionArguments::None => return Err(not_a_call(sql, &item.expr, start)),
            _ => return Err(sql.unsupported(start)),
        },
        other => return Err(not_a_call(sql, other, start)),
    };
    let kind = named(sql, &function.name.to_string(), start)?;
    let distinct = arguments.duplicate_treatment == Some(DuplicateTreatment::Distinct);
    let argument = argument(sql, kind, &arguments.args, start)?;
    check_distinct(sql, kind, distinct, &argument, start)?;
    let shown = typed(kind, distinct, &argument);
    let name = item.alias.unwrap_or_else(|| shown.clone());
    let arguments = match argument {
        Argument::Rows => Vec::new(),
        Argument::Field(parts) => vec![Scalar::field(FieldPath::new(parts))],
    };
    Ok((Call { kind, arguments, constants: Vec::new(), distinct, filter: None, shown }, name))
}

/// Whether the call is a name and arguments, without clauses.
fn is_plain(function: &Function, arguments: &FunctionArgumentList) -> bool {
    let Function { uses_odbc_syntax, parameters, within_group, filter, null_treatment, over, .. } = function;
    let clauses = within_group.is_empty() && filter.is_none() && null_treatment.is_none() && over.is_none();
    clauses && !uses_odbc_syntax && *parameters == FunctionArguments::None && arguments.clauses.is_empty()
}

fn named(sql: Sql<'_>, name: &str, start: Location) -> Result<&'static AggregateKind> {
    aggregate::find(name).map(|named| named.kind).ok_or_else(|| {
        let names = || AGGREGATES.iter().map(|kind| kind.name);
        let guess = nearest(name, names()).map_or_else(String::new, |near| format!("did you mean {near}? "));
        let all = names().collect::<Vec<_>>().join(", ");
        sql.error(start, format!("there is no aggregate \"{name}\"")).hint(format!("{guess}aggregates are {all}"))
    })
}

fn argument(sql: Sql<'_>, kind: &AggregateKind, args: &[FunctionArg], start: Location) -> Result<Argument> {
    let rows = kind.rows;
    let found = match args {
        [] if rows => return Ok(Argument::Rows),
        [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)] if rows => return Ok(Argument::Rows),
        [FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))] => {
            return field(expr).map(Argument::Field).ok_or_else(|| sql.unsupported(sql.place(expr, start)));
        }
        [] => "none".to_owned(),
        [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)] => "*".to_owned(),
        [_] => return Err(sql.unsupported(start)),
        several => several.len().to_string(),
    };
    Err(sql.error(start, format!("{} takes one field, found {found}", kind.name)).hint(usage(kind)))
}

fn check_distinct(
    sql: Sql<'_>,
    kind: &AggregateKind,
    distinct: bool,
    argument: &Argument,
    start: Location,
) -> Result<()> {
    match (distinct, kind.distinct, argument) {
        (false, ..) | (true, true, Argument::Field(_)) => Ok(()),
        (true, true, Argument::Rows) => Err(sql.error(start, "DISTINCT needs a field").hint(usage(kind))),
        (true, false, _) => Err(sql.error(start, format!("{} does not take DISTINCT", kind.name)).hint(usage(kind))),
    }
}

fn usage(kind: &AggregateKind) -> String {
    format!("write {}", kind.usage)
}

fn not_a_call(sql: Sql<'_>, expr: &Expr, start: Location) -> Error {
    match field(expr) {
        Some(parts) => {
            let path = path_as_typed(&parts);
            sql.error(start, format!("{path} is a field, not a call"))
                .hint(format!("say what is wanted of it: sum({path}), max({path}), count(DISTINCT {path})"))
        }
        None => sql.unsupported(start),
    }
}

/// The call as its column is called by default.
fn typed(kind: &AggregateKind, distinct: bool, argument: &Argument) -> String {
    let distinct = if distinct { "DISTINCT " } else { "" };
    match argument {
        Argument::Rows => format!("{}(*)", kind.name),
        Argument::Field(parts) => format!("{}({distinct}{})", kind.name, path_as_typed(parts)),
    }
}

fn path_as_typed(parts: &[String]) -> String {
    parts.iter().map(|part| quoted(part)).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(text: &str) -> Vec<String> {
        let calls = parse_calls(text).unwrap_or_else(|error| panic!("{error}"));
        let show = |(call, output): (Call, Output)| {
            let argument = call.arguments.first().map(|argument| argument.as_field().unwrap().parts().join("|"));
            format!("{} {} {} {}", call.kind.name, argument.unwrap_or("-".into()), call.distinct, output.name)
        };
        calls.calls.into_iter().zip(calls.outputs).map(show).collect()
    }

    fn error(text: &str) -> String {
        parse_calls(text).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn calls_have_names() {
        assert_eq!(
            calls("count(*), sum(amount) AS total, count(DISTINCT user_id)"),
            ["count - false count(*)", "sum amount false total", "count user_id true count(DISTINCT user_id)"]
        );
        assert_eq!(
            calls(" SUM ( Amount ) ,Count( distinct a.b ) n"),
            ["sum Amount false sum(Amount)", "count a|b true n"]
        );
        assert_eq!(
            calls("max(\"Flight Delay\"), min(@timestamp)"),
            ["max Flight Delay false max(\"Flight Delay\")", "min @timestamp false min(@timestamp)"]
        );
        assert_eq!(calls("count(), count(ALL x)"), ["count - false count(*)", "count x false count(x)"]);
    }

    #[test]
    fn every_aggregate_can_be_called_and_fields_may_be_keywords() {
        for kind in AGGREGATES {
            for word in ["x", "user", "date", "order", "timestamp", "end", "case", "interval", "from"] {
                assert_eq!(calls(&format!("{}({word})", kind.name)).len(), 1, "{} {word}", kind.name);
            }
        }
        assert_eq!(calls("count(DISTINCT user)"), ["count user true count(DISTINCT user)"]);
        assert_eq!(calls("last(user) AS user"), ["last user false user"]);
    }

    #[test]
    fn an_unknown_function_names_the_known_ones() {
        assert_eq!(
            error("count(*), summ(x)"),
            "there is no aggregate \"summ\"\n  count(*), summ(x)\n            ^\n  \
             hint: did you mean sum? aggregates are count, sum, avg, min, max, first, last"
        );
        assert_eq!(
            error("median(x)"),
            "there is no aggregate \"median\"\n  median(x)\n  ^\n  \
             hint: aggregates are count, sum, avg, min, max, first, last"
        );
    }

    #[test]
    fn calls_with_other_arguments_are_refused() {
        assert_eq!(error("sum(*)"), "sum takes one field, found *\n  sum(*)\n  ^\n  hint: write sum(x)");
        assert_eq!(error("avg()"), "avg takes one field, found none\n  avg()\n  ^\n  hint: write avg(x)");
        assert_eq!(error("min(a, b)"), "min takes one field, found 2\n  min(a, b)\n  ^\n  hint: write min(x)");
        assert_eq!(
            error("sum(DISTINCT x)"),
            "sum does not take DISTINCT\n  sum(DISTINCT x)\n  ^\n  hint: write sum(x)"
        );
        assert_eq!(
            error("count(DISTINCT *)"),
            "DISTINCT needs a field\n  count(DISTINCT *)\n  ^\n  hint: write count(*), count(x) or count(DISTINCT x)"
        );
    }

    #[test]
    fn expressions_are_refused_where_they_stand() {
        let hint = "\n  hint: give a call like sum(amount); an odd name goes in double quotes: \"user-agent\"";
        for (text, column) in [
            ("sum(a + 1)", 4),
            ("sum(a) + 1", 0),
            ("count(*) FILTER (WHERE x > 1)", 0),
            ("sum(x) OVER ()", 0),
            ("first(x ORDER BY y)", 0),
            ("first(x) IGNORE NULLS", 0),
            ("sum(user-id)", 4),
            ("sum(1)", 4),
            ("count(*), sum(items[0])", 14),
            ("sum((SELECT 1))", 5),
            ("*", 0),
        ] {
            let caret = " ".repeat(column);
            let found = error(text);
            assert_eq!(found, format!("expressions are not supported here yet\n  {text}\n  {caret}^{hint}"));
        }
    }

    #[test]
    fn a_field_alone_is_no_call() {
        assert_eq!(
            error("count(*), a.\"b c\""),
            "a.\"b c\" is a field, not a call\n  count(*), a.\"b c\"\n            ^\n  \
             hint: say what is wanted of it: sum(a.\"b c\"), max(a.\"b c\"), count(DISTINCT a.\"b c\")"
        );
    }

    #[test]
    fn broken_text_is_shown() {
        assert_eq!(error("sum(amout"), "expected ), found the end\n  sum(amout\n           ^");
        assert_eq!(error(""), "expected a call like sum(amount), found nothing");
        assert_eq!(error("count(*) AS n, sum(x) AS n").lines().next(), Some("two columns would be called \"n\""));
        assert_eq!(error("count(*); sum(x)"), "expected a comma or the end, found ;\n  count(*); sum(x)\n          ^");
    }
}
