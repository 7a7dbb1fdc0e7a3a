//! Lists and single expressions as flags take them: keys, output columns, conditions, orders.
//!
//! Must not know flags. The error shows the place in the text; the flag's name is the caller's to add.

use super::on::two_words;
use super::parse::Parse;
use super::sql::Sql;
use super::tree::{Expr, Node};
use super::{Call, Key, Order, Output, Scalar, Selection, check_names, literal};
use crate::error::Result;
use crate::schema::FieldType;
use sqlparser::ast::OrderBySort;

/// Reads what is grouped by: a list of expressions over fields, with optional names, which no column has yet.
pub fn parse_keys(text: &str) -> Result<Vec<Key>> {
    let keys = parse_list(text)?;
    check_names(&keys, &[])?;
    Ok(keys)
}

/// Reads a list of expressions over fields, with optional names.
pub fn parse_list(text: &str) -> Result<Vec<Key>> {
    let sql = Sql { text, takes: "a field" };
    let keys = sql.items()?.into_iter().map(|item| {
        let root = Parse::of(sql).expr(&item.expr, item.start)?;
        if item.alias.is_none() {
            no_number(sql, &root)?;
        }
        let expr = Scalar { text: text.into(), root };
        let name = item.alias.clone().unwrap_or_else(|| match expr.as_field() {
            Some(path) => path.name(),
            None => item.typed.clone(),
        });
        Ok(Key { expr, name })
    });
    keys.collect()
}

/// Reads a list of expressions over fields that have no names of their own; `what` they are.
pub fn parse_unnamed(text: &str, what: &str) -> Result<Vec<Key>> {
    let sql = Sql { text, takes: "a field" };
    for item in sql.items()? {
        if let Some(alias) = &item.alias {
            let error = sql.error(item.start, format!("{what} has no name of its own"));
            return Err(match item.says_as(sql) {
                true => error.hint("leave AS out"),
                false => error.hint(two_words(&item.typed, alias)),
            });
        }
    }
    parse_list(text)
}

/// SQL counts columns by numbers in some places. Here they would silently be constants.
fn no_number(sql: Sql<'_>, root: &Expr) -> Result<()> {
    match &root.node {
        Node::Literal(number) if literal::type_of(number).is_some_and(FieldType::is_number) => Err(sql
            .error(root.at, format!("{} is a number and no column", literal::shown(number)))
            .hint("columns go by their names; an odd name stands in double quotes: \"2xx\"")),
        _ => Ok(()),
    }
}

/// Reads one expression over fields of a record; `takes`: what it should be.
pub fn parse_scalar(text: &str, takes: &'static str) -> Result<Scalar> {
    let sql = Sql { text, takes };
    let (ast, start) = sql.expression()?;
    let root = Parse::of(sql).expr(&ast, start)?;
    Ok(Scalar { text: text.into(), root })
}

/// Reads output columns: [`Selection::add_outputs`] to nothing.
pub fn parse_calls(text: &str) -> Result<Selection> {
    let mut selection = Selection::default();
    selection.add_outputs(text)?;
    Ok(selection)
}

impl Selection {
    /// Reads a list of expressions over aggregate calls, with optional names.
    pub fn add_outputs(&mut self, text: &str) -> Result<()> {
        let sql = Sql { text, takes: "a call like sum(amount)" };
        for item in sql.items()? {
            let root = Parse::gathering(sql, &mut self.calls).expr(&item.expr, item.start)?;
            let name = match (&item.alias, &root.node) {
                (Some(alias), _) => alias.clone(),
                (None, Node::Aggregate(_, shown)) => shown.clone(),
                (None, Node::Field(path)) => path.name(),
                (None, _) => item.typed.clone(),
            };
            self.outputs.push(Output { expr: Scalar { text: text.into(), root }, name });
        }
        check_names(&[], &self.outputs)
    }

    /// Reads a condition over results; the calls in it are added to the others.
    pub fn condition(&mut self, text: &str, takes: &'static str) -> Result<Scalar> {
        let sql = Sql { text, takes };
        let (ast, start) = sql.expression()?;
        let root = Parse::gathering(sql, &mut self.calls).expr(&ast, start)?;
        Ok(Scalar { text: text.into(), root })
    }

    /// Reads what rows are ordered by: `clicks DESC NULLS FIRST, page`. Nulls come last unless it is said.
    pub fn order(&mut self, text: &str) -> Result<Vec<Order>> {
        let sql = Sql { text, takes: "a column" };
        let items = sql.orders()?;
        let each = items.into_iter().map(|(item, start)| {
            let root = Parse::gathering(sql, &mut self.calls).expr(&item.expr, start)?;
            no_number(sql, &root)?;
            Ok(Order {
                expr: Scalar { text: text.into(), root },
                descending: matches!(item.options.sort, Some(OrderBySort::Desc)),
                nulls_first: item.options.nulls_first.unwrap_or(false),
            })
        });
        each.collect()
    }
}

impl Call {
    /// Whether it is the same call, wherever it was typed.
    pub(super) fn same(&self, other: &Call) -> bool {
        self.kind.name == other.kind.name
            && self.distinct == other.distinct
            && self.arguments == other.arguments
            && self.constants == other.constants
            && self.filter == other.filter
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::{AGGREGATES, Takes};

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
                let arguments = kind.takes.iter().map(|takes| match takes {
                    Takes::Share => "0.5",
                    Takes::Text => "','",
                    _ => word,
                });
                let text = format!("{}({})", kind.name, arguments.collect::<Vec<_>>().join(", "));
                assert_eq!(parse_calls(&text).unwrap().calls.len(), 1, "{text}");
            }
        }
        assert_eq!(calls("count(DISTINCT user)"), ["count user true count(DISTINCT user)"]);
        assert_eq!(calls("last(user) AS user"), ["last user false user"]);
    }

    #[test]
    fn an_unknown_function_is_named_with_one_that_is_near() {
        assert_eq!(
            error("count(*), summ(x)"),
            "there is no function \"summ\"\n  count(*), summ(x)\n            ^\n  hint: did you mean sum?"
        );
        assert!(error("cuont(*)").ends_with("hint: did you mean count?"));
        let far = "there is no function \"frobnicate\"\n  frobnicate(x)\n  ^\n  \
                   hint: windrow-window(1) lists all functions and aggregates";
        assert_eq!(error("frobnicate(x)"), far);
    }

    #[test]
    fn calls_with_other_arguments_are_refused() {
        assert_eq!(error("sum(*)"), "sum takes a field, found *\n  sum(*)\n  ^\n  hint: write sum(x)");
        assert_eq!(error("avg()"), "avg takes one argument, found none\n  avg()\n  ^\n  hint: write avg(x)");
        assert_eq!(error("min(a, b)"), "min takes one argument, found 2\n  min(a, b)\n  ^\n  hint: write min(x)");
        assert_eq!(
            error("count(DISTINCT *)"),
            "DISTINCT needs a field\n  count(DISTINCT *)\n  ^\n  hint: write count(*), count(x) or count(DISTINCT x)"
        );
        assert!(error("sum(sum(x))").starts_with("sum is an aggregate, which cannot stand here"));
        assert!(error("sum(x) OVER ()").starts_with("sum takes no OVER"));
        assert!(error("first(x ORDER BY y)").starts_with("first takes no OVER"));
    }

    #[test]
    fn a_call_that_stands_twice_is_computed_once() {
        let selection = parse_calls("sum(a) / count(*) AS mean, sum( a ), count(*) FILTER (WHERE a>1) AS n").unwrap();
        let shown: Vec<&str> = selection.calls.iter().map(|call| call.shown.as_str()).collect();
        assert_eq!(shown, ["sum(a)", "count(*)", "count(*) FILTER (WHERE a > 1)"]);
        let names: Vec<&str> = selection.outputs.iter().map(|output| output.name.as_str()).collect();
        assert_eq!(names, ["mean", "sum(a)", "n"]);
    }

    #[test]
    fn aggregates_stand_where_results_are() {
        assert!(parse_keys("sum(x)").is_err() && parse_scalar("sum(x) > 1", "a condition").is_err());
        let mut selection = parse_calls("count(*) AS n").unwrap();
        selection.condition("max(x) > 3 AND n > 1", "a condition").unwrap();
        let orders = selection.order("max(x) DESC NULLS FIRST, n").unwrap();
        assert_eq!((selection.calls.len(), selection.outputs.len()), (2, 1));
        assert!(orders[0].descending && orders[0].nulls_first && !orders[1].descending && !orders[1].nulls_first);
    }

    #[test]
    fn broken_text_is_shown() {
        assert_eq!(error("sum(amout"), "expected ), found the end\n  sum(amout\n           ^");
        assert_eq!(error(""), "expected a call like sum(amount), found nothing");
        assert_eq!(error("count(*) AS n, sum(x) AS n").lines().next(), Some("two columns would be called \"n\""));
        assert_eq!(error("count(*); sum(x)"), "expected a comma or the end, found ;\n  count(*); sum(x)\n          ^");
    }

    fn keys(text: &str) -> Vec<(String, String)> {
        let keys = parse_keys(text).unwrap_or_else(|error| panic!("{error}"));
        keys.into_iter().map(|key| (key.expr.as_field().unwrap().parts().join("|"), key.name)).collect()
    }

    fn key(path: &str, name: &str) -> (String, String) {
        (path.into(), name.into())
    }

    #[test]
    fn fields_paths_aliases_and_odd_names() {
        let expected = [key("page_id", "page_id"), key("actor|login", "login"), key("Flight Date", "Flight Date")];
        assert_eq!(keys("page_id, actor.login AS login, \"Flight Date\""), expected);
        assert_eq!(keys("\"a.b\".C x"), [key("a.b|C", "x")]);
        assert_eq!(keys("\"a\"\"b\""), [key("a\"b", "a\"b")]);
        assert_eq!(keys("@timestamp,_file"), [key("@timestamp", "@timestamp"), key("_file", "_file")]);
        assert_eq!(keys("a.b.c"), [key("a|b|c", "a.b.c")]);
        let names = |text: &str| parse_keys(text).unwrap().into_iter().map(|key| key.name).collect::<Vec<_>>();
        assert_eq!(names("lower( user ), a+1, x::bigint"), ["lower(user)", "a + 1", "x::BIGINT"]);
        assert_eq!(names("user || '\"user\"'"), ["\"user\" || '\"user\"'"]);
    }

    #[test]
    fn keywords_are_names_where_only_a_name_can_stand() {
        for word in [
            "user",
            "date",
            "time",
            "timestamp",
            "order",
            "group",
            "from",
            "to",
            "end",
            "case",
            "interval",
            "left",
            "type",
            "select",
            "table",
            "array",
            "not",
            "exists",
            "current_user",
            "values",
            "where",
            "limit",
            "all_",
            "desc",
            "Key",
        ] {
            assert_eq!(keys(word), [key(word, word)]);
            assert_eq!(
                keys(&format!("{word} AS x, a.{word} AS {word}")),
                [key(word, "x"), key(&format!("a|{word}"), word)]
            );
        }
        assert_eq!(keys("user u"), [key("user", "u")]);
    }

    #[test]
    fn a_number_is_no_column() {
        let mut selection = parse_calls("count(*) AS n").unwrap();
        assert_eq!(
            selection.order("n, 2 desc").unwrap_err().to_string(),
            "2 is a number and no column\n  n, 2 desc\n     ^\n  \
             hint: columns go by their names; an odd name stands in double quotes: \"2xx\""
        );
        assert!(parse_keys("page, 1").is_err() && selection.order("-1.5").is_err());
        assert!(parse_keys("1 AS one, 'x' AS text, \"2\"").is_ok() && selection.order("n + 1").is_ok());
    }

    #[test]
    fn lists_that_are_empty_or_repeat_are_refused() {
        assert_eq!(parse_keys("").unwrap_err().to_string(), "expected a field, found nothing");
        assert!(parse_keys("a, a").is_err() && parse_keys("\"\"").is_err() && parse_keys("a AS \"\"").is_err());
        assert!(parse_keys("a, A, a AS b").is_ok());
    }
}
