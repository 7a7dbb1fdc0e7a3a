//! `page_id, actor.login AS login, "Flight Date"`: the fields that records are grouped by.
//!
//! Must not know aggregates. A key is named by its alias, else by its path with dots.

use super::sql::{Sql, field};
use super::{Key, Scalar, check_names};
use crate::error::Result;
use crate::schema::FieldPath;

/// Reads a list of fields with optional names. The error shows the place; the flag's name is the caller's to add.
pub fn parse_keys(text: &str) -> Result<Vec<Key>> {
    let sql = Sql { text, takes: "a field" };
    let items = sql.items()?.into_iter().map(|item| {
        let parts = field(&item.expr).ok_or_else(|| sql.unsupported(sql.place(&item.expr, item.start)))?;
        let path = FieldPath::new(parts);
        let name = item.alias.unwrap_or_else(|| path.name());
        Ok(Key { expr: Scalar::field(path), name })
    });
    let keys = items.collect::<Result<Vec<_>>>()?;
    check_names(&keys, &[])?;
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn anything_but_a_field_is_refused_with_its_place() {
        let hint = "\n  hint: give a field; an odd name goes in double quotes: \"user-agent\"";
        let place = |text: &str, column: usize| {
            format!("expressions are not supported here yet\n  {text}\n  {}^{hint}", " ".repeat(column))
        };
        for (text, column) in
            [("a, lower(b)", 3), ("user-agent", 0), ("a, 'x'", 3), ("*", 0), ("a, items[0]", 3), ("a.*", 0), ("1", 0)]
        {
            assert_eq!(parse_keys(text).unwrap_err().to_string(), place(text, column));
        }
    }

    #[test]
    fn lists_that_are_empty_or_repeat_are_refused() {
        assert_eq!(parse_keys("").unwrap_err().to_string(), "expected a field, found nothing");
        assert!(parse_keys("a, a").is_err() && parse_keys("\"\"").is_err() && parse_keys("a AS \"\"").is_err());
        assert!(parse_keys("a, A, a AS b").is_ok());
    }
}
