//! `--on`: the condition of a join, taken apart into the keys of both sides and what is left.
//!
//! Must not know columns: names start with `l.` or `r.`, and which fields there are is found later. Invariant: keys
//! are over their side's own names, without `l.` and `r.`; the condition and columns of pairs keep them.

use super::parse::Parse;
use super::sql::{Item, Selected, Sql, Star};
use super::tree::{Expr, Node, Operator, path_text};
use super::{Output, Scalar, literal};
use crate::error::{Error, Result};
use crate::schema::{FieldPath, Literal};
use std::collections::HashSet;

/// What fields of the left and the right record start with, where both are in sight.
pub const SIDES: [&str; 2] = ["l", "r"];

/// When two rows belong together, as far as their fields go.
#[derive(Clone)]
pub struct On {
    /// What must be equal: an expression over fields of the left record, and one over fields of the right. At least one.
    pub keys: Vec<(Scalar, Scalar)>,
    /// What else must be true, over fields named `l.` and `r.`.
    pub condition: Option<Scalar>,
}

impl On {
    /// Reads a condition over `l.` and `r.`, or a list of what both sides have: `id`, `a, lower(b)`.
    pub fn parse(text: &str) -> Result<On> {
        let sql = Sql { text, takes: "a condition such as l.id = r.id" };
        let mut trees = Vec::new();
        for item in sql.items()? {
            if let Some(alias) = &item.alias {
                let error = sql.error(item.start, "what is compared has no name of its own");
                return Err(match item.says_as(sql) {
                    true => error.hint("leave AS out; --select names columns"),
                    false => error.hint(two_words(&item.typed, alias)),
                });
            }
            trees.push(Parse::of(sql).expr(&item.expr, item.start)?);
        }
        if trees.iter().all(|tree| !is_condition(tree) && sides(tree) == [false; 2]) {
            return trees.into_iter().map(|tree| same_on_both(sql, tree)).collect::<Result<_>>().map(On::of_keys);
        }
        match <[Expr; 1]>::try_from(trees) {
            Ok([tree]) => condition(sql, tree),
            Err(trees) => {
                let at = trees.into_iter().nth(1).map_or_else(sqlparser::tokenizer::Location::empty, |tree| tree.at);
                let error = sql.error(at, "expected AND between conditions, found a comma");
                Err(error.hint("l.a = r.a AND l.b = r.b; 'a, b' alone is short for it"))
            }
        }
    }

    fn of_keys(keys: Vec<(Scalar, Scalar)>) -> On {
        On { keys, condition: None }
    }
}

/// The side that a field is of, and the field there; none without `l.` or `r.` in front.
pub fn side_of(path: &FieldPath) -> Option<(usize, FieldPath)> {
    let (first, rest) = path.parts().split_first()?;
    let side = SIDES.iter().position(|name| name == first)?;
    (!rest.is_empty()).then(|| (side, FieldPath::new(rest.to_vec()).into_array(path.inside().to_vec())))
}

/// A field of a side as it is called where both are in sight.
pub fn on_side(side: usize, path: &FieldPath) -> FieldPath {
    let parts = std::iter::once(SIDES[side].to_owned()).chain(path.parts().iter().cloned()).collect();
    FieldPath::new(parts).into_array(path.inside().to_vec())
}

/// A column of two rows side by side, or several.
#[derive(Clone, Debug, PartialEq)]
pub enum PairColumn {
    /// An expression with its name.
    One(Output),
    /// The fields of one side, or of both, but for some.
    All {
        /// Which; none: both.
        side: Option<usize>,
        /// Names that are left out.
        but: Vec<String>,
    },
}

/// Reads the output columns of a pair: a list of expressions over `l.` and `r.`, with optional names, and of `l.*`.
pub fn parse_pair_columns(text: &str) -> Result<Vec<PairColumn>> {
    let sql = Sql { text, takes: "a column such as l.id" };
    let mut names = HashSet::new();
    let mut columns = Vec::new();
    for selected in sql.columns()? {
        let item = match selected {
            Selected::One(item) => item,
            Selected::All(star) => {
                columns.push(all_of_side(sql, star)?);
                continue;
            }
        };
        let root = Parse::of(sql).expr(&item.expr, item.start)?;
        all_sided(sql, &root)?;
        let expr = Scalar { text: text.into(), root };
        let own = || expr.as_field().and_then(side_of).map_or_else(|| item.typed.clone(), |(_, path)| path.name());
        let name = item.alias.clone().unwrap_or_else(own);
        // Fields of both sides with one name are told apart by a prefix.
        let is_field = item.alias.is_none() && expr.as_field().is_some();
        if !is_field && !names.insert(name.clone()) {
            let error = sql.error(item.start, format!("two columns would be called \"{name}\""));
            return Err(error.hint("name one of them with AS, or leave one out"));
        }
        columns.push(PairColumn::One(Output { expr, name }));
    }
    Ok(columns)
}

fn all_of_side(sql: Sql<'_>, star: Star) -> Result<PairColumn> {
    let side = match &star.of {
        None => None,
        Some(name) => Some(SIDES.iter().position(|side| side == name).ok_or_else(|| {
            sql.error(star.start, format!("there is no side {name}"))
                .hint("the sides are called l and r: l.* are all fields of the left one")
        })?),
    };
    Ok(PairColumn::All { side, but: star.but })
}

/// What may be meant by two words without AS between them.
pub(super) fn two_words(first: &str, second: &str) -> String {
    format!(
        "a comma stands between two names: '{first}, {second}'; one with a blank in double quotes: '\"{first} {second}\"'"
    )
}

impl Item {
    /// Whether AS stands before its name.
    pub(super) fn says_as(&self, sql: Sql<'_>) -> bool {
        let Some(alias) = &self.alias else { return false };
        let text = sql.text.to_lowercase();
        let words: Vec<&str> = text.split([' ', '\t', '\n', ',']).filter(|word| !word.is_empty()).collect();
        let alias = alias.to_lowercase();
        words.windows(2).any(|pair| pair[0] == "as" && pair[1].trim_matches('"') == alias)
    }
}

impl Scalar {
    /// The same over a side's own names: `l.x` is `x` on the left.
    #[must_use]
    pub fn without_side(&self, side: usize) -> Scalar {
        let mut own = self.clone();
        rename(&mut own.root, &|path| side_of(path).filter(|(of, _)| *of == side).map(|(_, own)| own));
        own
    }

    /// The same as it is called where both sides are in sight: `x` is `l.x` on the left.
    #[must_use]
    pub fn with_side(&self, side: usize) -> Scalar {
        let mut both = self.clone();
        rename(&mut both.root, &|path| Some(on_side(side, path)));
        both
    }

    /// Which of the two sides it has fields of.
    pub fn sides(&self) -> [bool; 2] {
        sides(&self.root)
    }
}

/// `a` is short for `l.a = r.a`.
fn same_on_both(sql: Sql<'_>, tree: Expr) -> Result<(Scalar, Scalar)> {
    if fields(&tree).is_empty() {
        return Err(sql
            .error(tree.at, "expected a field, found a constant")
            .hint("--on id: both sides have this field"));
    }
    let key = scalar(sql, tree);
    Ok((key.clone(), key))
}

fn condition(sql: Sql<'_>, tree: Expr) -> Result<On> {
    all_sided(sql, &tree)?;
    let at = tree.at;
    let (mut keys, mut rest) = (Vec::new(), Vec::new());
    for part in conjuncts(tree) {
        match equality(part) {
            Ok((left, right)) => keys.push((scalar(sql, left), scalar(sql, right))),
            Err(part) => rest.push(part),
        }
    }
    match keys.is_empty() {
        true => Err(sql
            .error(at, "an equality of both sides is needed, by which rows are found")
            .hint("such as l.id = r.id; what else must be true stands beside it with AND")),
        false => Ok(On { keys, condition: all_of(rest).map(|tree| scalar(sql, tree)) }),
    }
}

fn scalar(sql: Sql<'_>, root: Expr) -> Scalar {
    Scalar { text: sql.text.into(), root }
}

/// Whether it can be nothing but true, false or null.
fn is_condition(tree: &Expr) -> bool {
    match &tree.node {
        Node::Binary(operator, ..) => operator.compares() || matches!(operator, Operator::And | Operator::Or),
        Node::Not(_) | Node::IsNull(_) | Node::Is(..) | Node::In(..) | Node::Like { .. } => true,
        _ => false,
    }
}

/// Every field and where it stands.
fn fields(tree: &Expr) -> Vec<(&FieldPath, &Expr)> {
    match &tree.node {
        Node::Field(path) => vec![(path, tree)],
        node => node.parts().into_iter().flat_map(fields).collect(),
    }
}

fn sides(tree: &Expr) -> [bool; 2] {
    let mut found = [false; 2];
    fields(tree).into_iter().filter_map(|(path, _)| side_of(path)).for_each(|(side, _)| found[side] = true);
    found
}

/// Refuses names of which nobody knows the side.
fn all_sided(sql: Sql<'_>, tree: &Expr) -> Result<()> {
    match fields(tree).into_iter().find(|(path, _)| side_of(path).is_none()) {
        Some((path, field)) => Err(without_side(sql, path, field)),
        None => Ok(()),
    }
}

fn without_side(sql: Sql<'_>, path: &FieldPath, field: &Expr) -> Error {
    let name = path_text(path);
    let first = path.parts().first().map(|part| part.to_lowercase()).unwrap_or_default();
    let error = sql.error(field.at, format!("which side is {name} of?"));
    let error = match path.parts() {
        _ if SIDES.contains(&first.as_str()) => {
            error.hint("l.id is a field of the left side and r.id one of the right, both in small letters")
        }
        [_, rest @ ..] if !rest.is_empty() => {
            let own = path_text(&FieldPath::new(rest.to_vec()));
            error.hint(format!("the sides are called l and r: l.{own} or r.{own}; where {first} is a record, l.{name}"))
        }
        _ => error.hint(format!("write l.{name} for the left side's, or r.{name} for the right side's")),
    };
    match sql.is_quoted(field.at) && path.parts().len() == 1 {
        true => literal::or_text(error, &literal::shown(&Literal::Text(path.name()))),
        false => error,
    }
}

/// What must be true at once, in the order of the text.
fn conjuncts(tree: Expr) -> Vec<Expr> {
    match tree.node {
        Node::Binary(Operator::And, a, b) => conjuncts(*a).into_iter().chain(conjuncts(*b)).collect(),
        node => vec![Expr { node, at: tree.at }],
    }
}

/// The left and the right key of an equality between the sides; else it as it was.
fn equality(tree: Expr) -> Result<(Expr, Expr), Expr> {
    let Expr { node: Node::Binary(Operator::Equal, a, b), at } = tree else { return Err(tree) };
    match (sides(&a), sides(&b)) {
        ([true, false], [false, true]) => Ok((without_prefix(*a), without_prefix(*b))),
        ([false, true], [true, false]) => Ok((without_prefix(*b), without_prefix(*a))),
        _ => Err(Expr { node: Node::Binary(Operator::Equal, a, b), at }),
    }
}

/// The same over the side's own names.
fn without_prefix(mut tree: Expr) -> Expr {
    rename(&mut tree, &|path| side_of(path).map(|(_, own)| own));
    tree
}

/// Puts other fields in the place of those that `f` has another for.
fn rename(tree: &mut Expr, f: &dyn Fn(&FieldPath) -> Option<FieldPath>) {
    match &mut tree.node {
        Node::Field(path) => *path = f(path).unwrap_or_else(|| path.clone()),
        node => node.parts_mut().into_iter().for_each(|part| rename(part, f)),
    }
}

/// All of them with AND between, as a tree that is not deep.
fn all_of(mut trees: Vec<Expr>) -> Option<Expr> {
    let behind = trees.split_off(trees.len().div_ceil(2));
    if behind.is_empty() {
        return trees.pop();
    }
    let (a, b) = (all_of(trees)?, all_of(behind)?);
    Some(Expr { at: a.at, node: Node::Binary(Operator::And, Box::new(a), Box::new(b)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(text: &str) -> (Vec<(String, String)>, Option<String>) {
        let on = On::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let keys = on.keys.iter().map(|(left, right)| (left.shown(), right.shown())).collect();
        (keys, on.condition.map(|condition| condition.shown()))
    }

    fn keys(text: &str) -> Vec<(String, String)> {
        let (keys, rest) = on(text);
        assert_eq!(rest, None, "{text}");
        keys
    }

    fn error(text: &str) -> String {
        On::parse(text).map(|_| ()).unwrap_err().to_string()
    }

    fn pair(left: &str, right: &str) -> (String, String) {
        (left.into(), right.into())
    }

    #[test]
    fn equalities_between_the_sides_are_keys_either_way_round() {
        assert_eq!(keys("l.id = r.click_id"), [pair("id", "click_id")]);
        assert_eq!(keys("r.click_id = l.id"), [pair("id", "click_id")]);
        assert_eq!(keys("l.a = r.x AND (r.y = l.b AND l.c = r.z)"), [pair("a", "x"), pair("b", "y"), pair("c", "z")]);
    }

    #[test]
    fn keys_are_nested_computed_and_oddly_named() {
        assert_eq!(keys("l.actor.login = r.user"), [pair("actor.login", "user")]);
        assert_eq!(keys("lower(l.email) = r.mail"), [pair("lower(email)", "mail")]);
        assert_eq!(keys("l.items[0].sku = r.\"stock no\""), [pair("items[0].sku", "\"stock no\"")]);
        assert_eq!(keys("l.l.id = r.r.l"), [pair("l.id", "r.l")]);
        assert_eq!(keys("l.a + l.b = r.c * 2"), [pair("a + b", "c * 2")]);
        assert_eq!(keys("l.date = r.user"), [pair("date", "user")]);
        assert_eq!(keys("l.@timestamp = r._line"), [pair("@timestamp", "_line")]);
    }

    #[test]
    fn everything_else_is_left_over_and_keeps_its_sides() {
        for rest in [
            "r.price > l.limit",
            "l.x = 1",
            "l.a = l.b",
            "l.a = r.b + l.c",
            "l.a = r.b OR l.c = r.d",
            "l.a IS NOT DISTINCT FROM r.a",
            "NOT (l.a = r.a)",
            "l.ok",
            "CASE WHEN l.a THEN r.b END",
        ] {
            let shown = crate::expr::parse_scalar(rest, "").unwrap().shown();
            let (keys, left) = on(&format!("l.id = r.id AND ({rest})"));
            assert_eq!((keys, left), (vec![pair("id", "id")], Some(shown)), "{rest}");
        }
        let (keys, rest) = on("l.n > 1 AND l.a = r.a AND l.n < r.n AND l.m <> r.m AND l.b = r.b");
        assert_eq!(keys.len(), 2);
        assert_eq!(rest.as_deref(), Some("(l.n > 1) AND (l.n < r.n) AND (l.m <> r.m)"));
        assert_eq!(On::parse("l.a = r.a AND l.n > 1").unwrap().condition.unwrap().sides(), [true, false]);
    }

    #[test]
    fn equal_names_have_a_short_form() {
        assert_eq!(keys("id"), [pair("id", "id")]);
        assert_eq!(keys("a, actor.login"), [pair("a", "a"), pair("actor.login", "actor.login")]);
        assert_eq!(
            keys("lower(email), \"odd name\""),
            [pair("lower(email)", "lower(email)"), pair("\"odd name\"", "\"odd name\"")]
        );
        assert_eq!(keys("l"), [pair("l", "l")]);
        assert_eq!(keys("user, date"), [pair("user", "user"), pair("date", "date")]);
    }

    #[test]
    fn a_name_in_a_condition_says_its_side() {
        assert_eq!(
            error("l.id = user_id"),
            "which side is user_id of?\n  l.id = user_id\n         ^\n  \
             hint: write l.user_id for the left side's, or r.user_id for the right side's"
        );
        assert!(error("a = b").starts_with("which side is a of?"), "{}", error("a = b"));
        assert_eq!(
            error("l.a = r.a AND r.b > lower(L.c)"),
            "which side is L.c of?\n  l.a = r.a AND r.b > lower(L.c)\n                            ^\n  \
             hint: l.id is a field of the left side and r.id one of the right, both in small letters"
        );
        assert!(error("l.a = l").starts_with("which side is l of?"));
    }

    #[test]
    fn without_an_equality_rows_cannot_be_found() {
        let none = "an equality of both sides is needed, by which rows are found";
        let hint = "hint: such as l.id = r.id; what else must be true stands beside it with AND";
        assert_eq!(error("l.a < r.b"), format!("{none}\n  l.a < r.b\n  ^\n  {hint}"));
        for text in ["l.a = r.a OR l.b = r.b", "l.a = l.b", "l.a = 1", "l.id", "NOT l.a = r.a", "l.a = r.a + l.b"] {
            assert!(error(text).starts_with(none), "{text}");
        }
    }

    #[test]
    fn what_is_no_condition_points_at_the_place() {
        assert_eq!(error(""), "expected a condition such as l.id = r.id, found nothing");
        assert_eq!(error("l.id ="), "expected an expression, found the end\n  l.id =\n        ^");
        assert_eq!(
            error("l.a = r.a, l.b = r.b"),
            "expected AND between conditions, found a comma\n  l.a = r.a, l.b = r.b\n             ^\n  \
             hint: l.a = r.a AND l.b = r.b; 'a, b' alone is short for it"
        );
        assert_eq!(
            error("id AS x"),
            "what is compared has no name of its own\n  id AS x\n  ^\n  hint: leave AS out; --select names columns"
        );
        assert_eq!(
            error("a, 1"),
            "expected a field, found a constant\n  a, 1\n     ^\n  hint: --on id: both sides have this field"
        );
        assert!(error("sum(l.a) = r.a").starts_with("sum is an aggregate, which cannot stand here"));
    }

    #[test]
    fn columns_of_pairs_have_names_without_sides() {
        let columns = |text: &str| {
            let columns = parse_pair_columns(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let each = columns.into_iter().map(|column| match column {
                PairColumn::One(column) => (column.name, column.expr.shown()),
                PairColumn::All { side, but } => (format!("{side:?}"), but.join(" ")),
            });
            each.collect::<Vec<_>>()
        };
        assert_eq!(columns("l.id, r.user.name"), [pair("id", "l.id"), pair("user.name", "r.user.name")]);
        assert_eq!(
            columns("r.ts AS clicked, l.a + r.b, r.x y"),
            [pair("clicked", "r.ts"), pair("l.a + r.b", "l.a + r.b"), pair("y", "r.x")]
        );
        assert_eq!(
            columns("*, l.*, r.* EXCLUDE (a, \"b c\"), r.x"),
            [pair("None", ""), pair("Some(0)", ""), pair("Some(1)", "a b c"), pair("x", "r.x")]
        );
        let error = |text: &str| parse_pair_columns(text).map(|_| ()).unwrap_err().to_string();
        assert!(error("l.* REPLACE (1 AS a)").starts_with("expected * alone, or with EXCLUDE (a, b)"));
        assert_eq!(
            error("l.id AS a, r.id AS a"),
            "two columns would be called \"a\"\n  l.id AS a, r.id AS a\n             ^\n  \
             hint: name one of them with AS, or leave one out"
        );
        assert!(error("id").starts_with("which side is id of?"));
        assert!(error("").starts_with("expected a column such as l.id, found nothing"));
    }
}
