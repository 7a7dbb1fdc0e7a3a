//! The slow, obvious model of SPEC section 6 and of what section 4 says of `--having`, `--top`, `--order-by` and
//! `--fill`: SQL texts, each with the plain function that gives the same, and what becomes of the rows of a window.
//! Must not use the program's own code. All values are integers, so that what is expected is exact.

use crate::helpers::instant;
use crate::model::{Event, Kind, Place};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;

/// A value of a key or of a result, in the order of keys: nulls first, false before true, text by bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cell {
    Null,
    Bool(bool),
    Int(i64),
    Text(String),
    List(Vec<Cell>),
}

impl Cell {
    /// A text that may be missing.
    pub fn text(text: Option<&str>) -> Self {
        text.map_or(Cell::Null, |text| Cell::Text(text.to_owned()))
    }

    fn int(n: Option<i64>) -> Self {
        n.map_or(Cell::Null, Cell::Int)
    }

    fn bool(b: Option<bool>) -> Self {
        b.map_or(Cell::Null, Cell::Bool)
    }

    /// As it is written.
    pub fn json(&self) -> Value {
        match self {
            Cell::Null => Value::Null,
            Cell::Bool(b) => (*b).into(),
            Cell::Int(n) => (*n).into(),
            Cell::Text(text) => text.as_str().into(),
            Cell::List(cells) => cells.iter().map(Cell::json).collect(),
        }
    }
}

/// What is expected of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Want {
    Is(Cell),
    /// A double, to 1e-12 of its size.
    Near(f64),
    /// Which of several is not said.
    OneOf(Vec<Cell>),
    /// An approximation, bounds included.
    Between(f64, f64),
}

impl Want {
    fn near(x: Option<f64>) -> Self {
        x.map_or(Want::Is(Cell::Null), Want::Near)
    }

    /// Whether a value that was written is as expected.
    pub fn holds(&self, got: &Value) -> bool {
        match self {
            Want::Is(cell) => cell.json() == *got,
            Want::Near(x) => got.as_f64().is_some_and(|y| (x - y).abs() <= 1e-12 * x.abs().max(1.0)),
            Want::OneOf(cells) => cells.iter().any(|cell| cell.json() == *got),
            Want::Between(low, high) => got.as_f64().is_some_and(|x| (*low..=*high).contains(&x)),
        }
    }
}

/// The rows an aggregate is over, by time, then position.
pub type Ordered<'a> = [&'a Event];

type Condition = (&'static str, fn(&Event) -> Option<bool>);
type KeyOf = (&'static str, &'static str, fn(&Event) -> Cell);
type Aggregate = (&'static str, &'static str, fn(&Ordered<'_>) -> Want);
type Having = (&'static str, fn(n: Option<i64>, s: Option<i64>) -> bool);
type OrderBy = (&'static str, fn(n: Option<i64>, s: Option<i64>) -> Vec<(bool, i64)>);

fn and(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn or(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    and(a.map(|a| !a), b.map(|b| !b)).map(|both| !both)
}

/// `--where`, in SQL's three-valued logic.
pub const CONDITIONS: &[Condition] = &[
    ("v > 0", |e| e.v.map(|v| v > 0)),
    ("NOT (v > 0)", |e| e.v.map(|v| v <= 0)),
    ("v IS NOT NULL AND d <> 1", |e| Some(e.v.is_some() && e.device != 1)),
    ("k LIKE 'a%' OR v = 2", |e| or(e.key.as_ref().map(|k| k.starts_with('a')), e.v.map(|v| v == 2))),
    ("v BETWEEN -1 AND d", |e| e.v.map(|v| v >= -1 && v <= i64::from(e.device))),
    ("v IN (1, 2, NULL)", |e| e.v.and_then(|v| if v == 1 || v == 2 { Some(true) } else { None })),
    ("v NOT IN (1, 2)", |e| e.v.map(|v| v != 1 && v != 2)),
    ("length(coalesce(k, 'zz')) = 2", |e| Some(e.key.as_ref().is_none_or(|k| k.chars().count() == 2))),
    ("v IS DISTINCT FROM d", |e| Some(e.v != Some(i64::from(e.device)))),
    ("CASE WHEN d = 0 THEN v > 0 WHEN d = 1 THEN TRUE END", |e| match e.device {
        0 => e.v.map(|v| v > 0),
        1 => Some(true),
        _ => None,
    }),
    ("(v > 0 AND k = 'a') IS NOT FALSE", |e| {
        Some(and(e.v.map(|v| v > 0), e.key.as_ref().map(|k| k == "a")) != Some(false))
    }),
    ("abs(v) // 2 = 1", |e| e.v.map(|v| v.abs() / 2 == 1)),
];

/// `--by`: the name of the column, the SQL, the value.
pub const KEYS: &[KeyOf] = &[
    ("k", "k", |e| Cell::text(e.key.as_deref())),
    ("d", "d", |e| Cell::Int(e.device.into())),
    ("parity", "v % 2 AS parity", |e| Cell::int(e.v.map(|v| v % 2))),
    ("u", "upper(k) AS u", |e| Cell::text(e.key.as_ref().map(|k| k.to_uppercase()).as_deref())),
    ("vd", "coalesce(v, 10) + d AS vd", |e| Cell::Int(e.v.unwrap_or(10) + i64::from(e.device))),
    ("positive", "v > 0 AS positive", |e| Cell::bool(e.v.map(|v| v > 0))),
    ("zk", "CASE WHEN d = 0 THEN 'zero' ELSE k END AS zk", |e| match e.device {
        0 => Cell::text(Some("zero")),
        _ => Cell::text(e.key.as_deref()),
    }),
    ("kk", "k || '-' || d AS kk", |e| Cell::text(e.key.as_ref().map(|k| format!("{k}-{}", e.device)).as_deref())),
];

fn values(rows: &Ordered<'_>) -> Vec<i64> {
    rows.iter().filter_map(|e| e.v).collect()
}

fn sorted(rows: &Ordered<'_>) -> Vec<i64> {
    let mut all = values(rows);
    all.sort_unstable();
    all
}

fn distinct(rows: &Ordered<'_>) -> Vec<i64> {
    let mut all = sorted(rows);
    all.dedup();
    all
}

fn int(n: Option<i64>) -> Want {
    Want::Is(Cell::int(n))
}

fn count(n: usize) -> Want {
    int(i64::try_from(n).ok())
}

fn sum(all: &[i64]) -> Option<i64> {
    (!all.is_empty()).then(|| all.iter().sum())
}

fn ratio(top: i64, bottom: i64) -> Option<f64> {
    (bottom != 0).then(|| top as f64 / bottom as f64)
}

fn mean(all: &[i64]) -> Option<f64> {
    ratio(all.iter().sum(), all.len() as i64)
}

/// n * sum(v^2) - (sum v)^2, over n * (n - less): exact but for the last division.
fn variance(all: &[i64], less: i64) -> Option<f64> {
    let n = all.len() as i64;
    let total: i64 = all.iter().sum();
    (n > less).then(|| (n * all.iter().map(|v| v * v).sum::<i64>() - total * total) as f64 / (n * (n - less)) as f64)
}

/// Between the two values around the rank `q * (n - 1)`.
fn continuous(rows: &Ordered<'_>, q: f64) -> Option<f64> {
    let all = sorted(rows);
    let at = q * (all.len().checked_sub(1)? as f64);
    let (low, high) = (all[at.floor() as usize] as f64, all[at.ceil() as usize] as f64);
    Some(low + (high - low) * (at - at.floor()))
}

/// The value of the least rank that covers `q`; `q` is a fraction of integers, so that no rounding decides.
fn discrete(rows: &Ordered<'_>, (part, whole): (usize, usize)) -> Option<i64> {
    let all = sorted(rows);
    let rank = (all.len() * part).div_ceil(whole).max(1);
    all.get(rank - 1).copied()
}

/// `k` of the rows with this `v`; rows where either is null do not count.
fn keys_where(rows: &Ordered<'_>, best: fn(&[i64]) -> Option<i64>) -> Want {
    let full: Vec<(&String, i64)> = rows.iter().filter_map(|e| Some((e.key.as_ref()?, e.v?))).collect();
    let all: Vec<i64> = full.iter().map(|(_, v)| *v).collect();
    match best(&all) {
        None => Want::Is(Cell::Null),
        Some(v) => Want::OneOf(full.iter().filter(|f| f.1 == v).map(|f| Cell::text(Some(f.0))).collect()),
    }
}

/// The most frequent, of several the smallest.
fn mode(rows: &Ordered<'_>) -> Option<i64> {
    let all = values(rows);
    let often = |v: &i64| all.iter().filter(|w| *w == v).count();
    let most = all.iter().map(often).max()?;
    distinct(rows).into_iter().find(|v| often(v) == most)
}

fn text(rows: &Ordered<'_>, separator: &str) -> Want {
    let all: Vec<&str> = rows.iter().filter_map(|e| e.key.as_deref()).collect();
    Want::Is(Cell::text((!all.is_empty()).then(|| all.join(separator)).as_deref()))
}

/// The median of a few values: what an approximation may give is near it.
fn around_the_median(rows: &Ordered<'_>) -> Want {
    let all = sorted(rows);
    let Some(last) = all.len().checked_sub(1) else { return Want::Is(Cell::Null) };
    let (low, high) = ((last / 2).saturating_sub(1), (last.div_ceil(2) + 1).min(last));
    Want::Between(all[low] as f64, all[high] as f64)
}

fn filtered<'a>(rows: &Ordered<'a>, keep: fn(&Event) -> Option<bool>) -> Vec<&'a Event> {
    rows.iter().copied().filter(|e| keep(e) == Some(true)).collect()
}

fn all_of(rows: &Ordered<'_>, holds: fn(i64) -> bool) -> Option<bool> {
    let all = values(rows);
    (!all.is_empty()).then(|| all.into_iter().all(holds))
}

fn any_of(rows: &Ordered<'_>, holds: fn(i64) -> bool) -> Option<bool> {
    let all = values(rows);
    (!all.is_empty()).then(|| all.into_iter().any(holds))
}

/// `--agg`: the name, the SQL, and the same over the rows. Every function of SPEC section 6 is here.
pub const AGGREGATES: &[Aggregate] = &[
    ("c", "count(v)", |r| count(values(r).len())),
    ("cd", "count(DISTINCT v)", |r| count(distinct(r).len())),
    ("sd", "sum(DISTINCT v)", |r| int(sum(&distinct(r)))),
    ("ad", "avg(DISTINCT v)", |r| Want::near(mean(&distinct(r)))),
    ("a", "avg(v)", |r| Want::near(mean(&values(r)))),
    ("lo", "min(v)", |r| int(values(r).into_iter().min())),
    ("hi", "max(v)", |r| int(values(r).into_iter().max())),
    ("klo", "min(k)", |r| Want::Is(Cell::text(r.iter().filter_map(|e| e.key.as_deref()).min()))),
    ("khi", "max(k)", |r| Want::Is(Cell::text(r.iter().filter_map(|e| e.key.as_deref()).max()))),
    ("f", "first(v)", |r| int(values(r).first().copied())),
    ("l", "last(v)", |r| int(values(r).last().copied())),
    ("fk", "first(k)", |r| Want::Is(Cell::text(r.iter().find_map(|e| e.key.as_deref())))),
    ("kmin", "min_by(k, v)", |r| keys_where(r, |all| all.iter().min().copied())),
    ("kmax", "max_by(k, v)", |r| keys_where(r, |all| all.iter().max().copied())),
    ("av", "any_value(v)", |r| match values(r) {
        none if none.is_empty() => int(None),
        some => Want::OneOf(some.into_iter().map(Cell::Int).collect()),
    }),
    ("dev", "stddev(v)", |r| Want::near(variance(&values(r), 1).map(f64::sqrt))),
    ("devp", "stddev_pop(v)", |r| Want::near(variance(&values(r), 0).map(f64::sqrt))),
    ("var", "variance(v)", |r| Want::near(variance(&values(r), 1))),
    ("varp", "var_pop(v)", |r| Want::near(variance(&values(r), 0))),
    ("med", "median(v)", |r| Want::near(continuous(r, 0.5))),
    ("qc", "quantile_cont(v, 0.25)", |r| Want::near(continuous(r, 0.25))),
    ("qd", "quantile_disc(v, 0.25)", |r| int(discrete(r, (1, 4)))),
    ("q", "quantile(v, 0.75)", |r| int(discrete(r, (3, 4)))),
    ("p95", "p95(v)", |r| Want::near(continuous(r, 0.95))),
    ("p50", "p50(v)", |r| Want::near(continuous(r, 0.5))),
    ("aq", "approx_quantile(v, 0.5)", around_the_median),
    ("adi", "approx_distinct(v)", |r| {
        let n = distinct(r).len() as f64;
        Want::Between((n - 1.0).max(n.min(1.0)), n + n.min(1.0))
    }),
    ("m", "mode(v)", |r| int(mode(r))),
    ("list", "array_agg(v)", |r| match r {
        [] => int(None),
        some => Want::Is(Cell::List(some.iter().map(|e| Cell::int(e.v)).collect())),
    }),
    ("texts", "string_agg(k, '|')", |r| text(r, "|")),
    ("all", "bool_and(v > 0)", |r| Want::Is(Cell::bool(all_of(r, |v| v > 0)))),
    ("some", "bool_or(v > 2)", |r| Want::Is(Cell::bool(any_of(r, |v| v > 2)))),
    ("nf", "count(*) FILTER (WHERE d = 1)", |r| count(filtered(r, |e| Some(e.device == 1)).len())),
    ("sf", "sum(v) FILTER (WHERE v > 0)", |r| int(sum(&values(&filtered(r, |e| e.v.map(|v| v > 0)))))),
    ("lf", "array_agg(v) FILTER (WHERE v > 1)", |r| match filtered(r, |e| e.v.map(|v| v > 1)) {
        none if none.is_empty() => int(None),
        some => Want::Is(Cell::List(some.iter().map(|e| Cell::int(e.v)).collect())),
    }),
    ("cdf", "count(DISTINCT v) FILTER (WHERE d <> 0)", |r| {
        count(distinct(&filtered(r, |e| Some(e.device != 0))).len())
    }),
    ("svd", "sum(v * 2 + d)", |r| {
        int(sum(&r.iter().filter_map(|e| Some(e.v? * 2 + i64::from(e.device))).collect::<Vec<_>>()))
    }),
    ("share", "sum(v) / count(*)", |r| Want::near(sum(&values(r)).and_then(|s| ratio(s, r.len() as i64)))),
    ("per", "sum(v) / count(v)", |r| Want::near(mean(&values(r)))),
    ("range", "coalesce(max(v), 0) - coalesce(min(v), 0)", |r| {
        int(Some(values(r).into_iter().max().unwrap_or(0) - values(r).into_iter().min().unwrap_or(0)))
    }),
    ("cased", "CASE WHEN count(v) > 1 THEN max(v) END", |r| {
        int(values(r).into_iter().max().filter(|_| values(r).len() > 1))
    }),
    ("lens", "sum(length(k))", |r| {
        int(sum(&r.iter().filter_map(|e| Some(e.key.as_ref()?.chars().count() as i64)).collect::<Vec<_>>()))
    }),
];

/// `--having`, over `n` (the count, never null but in filled rows) and `s` (the sum).
pub const HAVINGS: &[Having] = &[
    ("n > 1", |n, _| n.is_some_and(|n| n > 1)),
    ("s > 0", |_, s| s.is_some_and(|s| s > 0)),
    ("s IS NULL OR s < 2", |_, s| s.is_none_or(|s| s < 2)),
    ("n % 2 = 1 AND s <> 0", |n, s| n.is_some_and(|n| n % 2 == 1) && s.is_some_and(|s| s != 0)),
];

/// A place in the order: nulls last, in either direction.
fn asc(x: Option<i64>) -> (bool, i64) {
    (x.is_none(), x.unwrap_or(0))
}

fn desc(x: Option<i64>) -> (bool, i64) {
    (x.is_none(), -x.unwrap_or(0))
}

/// `--order-by`
pub const ORDERS: &[OrderBy] = &[
    ("n DESC", |n, _| vec![desc(n)]),
    ("s", |_, s| vec![asc(s)]),
    ("s DESC, n", |n, s| vec![desc(s), asc(n)]),
    ("n + s DESC", |n, s| vec![desc(n.zip(s).map(|(n, s)| n + s))]),
    ("s DESC NULLS FIRST", |_, s| vec![(s.is_some(), -s.unwrap_or(0))]),
];

/// `--fill`
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Filling {
    Zero,
    Null,
    Previous,
}

/// What is asked of the rows of a job: places in the tables above.
#[derive(Clone, Debug, Default)]
pub struct Query {
    pub condition: Option<usize>,
    pub keys: Vec<usize>,
    pub aggregates: Vec<usize>,
    pub having: Option<usize>,
    pub order: Option<usize>,
    pub top: Option<usize>,
    /// `--top-by` the first key.
    pub top_by: bool,
    pub fill: Option<(Filling, usize)>,
}

impl Query {
    /// Whether a record gets to the windows.
    pub fn keeps(&self, event: &Event) -> bool {
        self.condition.is_none_or(|at| CONDITIONS[at].1(event) == Some(true))
    }

    /// The keys of a record.
    pub fn keys_of(&self, event: &Event) -> Vec<Cell> {
        self.keys.iter().map(|&at| KEYS[at].2(event)).collect()
    }

    /// Its flags.
    pub fn args(&self) -> Vec<String> {
        let mut all = Vec::new();
        all.extend(self.condition.map(|at| format!("--where={}", CONDITIONS[at].0)));
        let keys: Vec<_> = self.keys.iter().map(|&at| KEYS[at].1).collect();
        all.extend((!keys.is_empty()).then(|| format!("--by={}", keys.join(", "))));
        let calls = self.aggregates.iter().map(|&at| format!(", {} AS \"{}\"", AGGREGATES[at].1, AGGREGATES[at].0));
        all.push(format!("--agg=count(*) AS n, sum(v) AS s{}", calls.collect::<String>()));
        all.extend(self.having.map(|at| format!("--having={}", HAVINGS[at].0)));
        all.extend(self.order.map(|at| format!("--order-by={}", ORDERS[at].0)));
        all.extend(self.top.map(|n| format!("--top={n}")));
        all.extend(self.top_by.then(|| format!("--top-by={}", KEYS[self.keys[0]].0)));
        if let Some((filling, max)) = self.fill {
            all.push(format!("--fill={}", format!("{filling:?}").to_lowercase()));
            all.push(format!("--fill-max={max}"));
        }
        all
    }

    /// The row of a window and group of keys.
    pub fn row(&self, bounds: Bounds, keys: Vec<Cell>, rows: &[(Place, Event)]) -> Row {
        let mut ordered: Vec<&(Place, Event)> = rows.iter().collect();
        ordered.sort_by_key(|(place, e)| (e.t, *place));
        let ordered: Vec<&Event> = ordered.into_iter().map(|(_, e)| e).collect();
        let n = i64::try_from(rows.len()).ok();
        let wants = self.aggregates.iter().map(|&at| AGGREGATES[at].2(&ordered)).collect();
        Row { bounds, keys, n, s: sum(&values(&ordered)), wants, rank: None }
    }

    /// Whether `--having` (or `when:`, which reads the same) is true of a row.
    pub fn has(&self, row: &Row) -> bool {
        self.having.is_none_or(|at| HAVINGS[at].1(row.n, row.s))
    }

    /// A row's place among those of its window.
    pub fn place(&self, row: &Row) -> (Vec<(bool, i64)>, Vec<Cell>) {
        (self.order.map_or(Vec::new(), |at| ORDERS[at].1(row.n, row.s)), row.keys.clone())
    }

    /// Of the rows of one window those that are written, in their order.
    pub fn finish(&self, mut rows: Vec<Row>) -> Vec<Row> {
        rows.retain(|row| self.has(row));
        rows.sort_by_key(|row| self.place(row));
        let Some(top) = self.top else { return rows };
        let mut ranks: BTreeMap<Option<Cell>, usize> = BTreeMap::new();
        for row in &mut rows {
            let rank = ranks.entry(self.top_by.then(|| row.keys[0].clone())).or_default();
            *rank += 1;
            row.rank = Some(*rank);
        }
        rows.retain(|row| row.rank.is_some_and(|rank| rank <= top));
        rows
    }

    /// A row of a window without rows. `before` is the key's row before it.
    pub fn filled(&self, filling: Filling, bounds: Bounds, keys: Vec<Cell>, before: Option<&Row>) -> Row {
        let zero = |at: &usize| match AGGREGATES[*at].0 {
            "klo" | "khi" | "fk" | "kmin" | "kmax" | "list" | "lf" | "texts" | "all" | "some" => int(None),
            "a" | "ad" | "dev" | "devp" | "var" | "varp" | "med" | "qc" | "p95" | "p50" | "share" | "per" | "aq" => {
                Want::Near(0.0)
            }
            _ => int(Some(0)),
        };
        let (n, wants) = match filling {
            Filling::Zero => (Some(0), self.aggregates.iter().map(zero).collect()),
            Filling::Null => (None, vec![int(None); self.aggregates.len()]),
            Filling::Previous => match before {
                Some(row) => return Row { bounds, ..row.clone() },
                None => (None, vec![int(None); self.aggregates.len()]),
            },
        };
        Row { bounds, keys, n, s: n, wants, rank: None }
    }
}

/// Start and end; null for endless windows.
pub type Bounds = (Option<i64>, Option<i64>);

/// A row of a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub bounds: Bounds,
    pub keys: Vec<Cell>,
    pub n: Option<i64>,
    pub s: Option<i64>,
    pub wants: Vec<Want>,
    pub rank: Option<usize>,
}

impl Row {
    /// The columns and what is expected of each.
    pub fn columns(&self, query: &Query) -> Vec<(String, Want)> {
        let at = |t: Option<i64>| Want::Is(t.map_or(Cell::Null, |t| Cell::Text(instant(t))));
        let mut all =
            vec![("window_start".to_owned(), at(self.bounds.0)), ("window_end".to_owned(), at(self.bounds.1))];
        all.extend(query.keys.iter().zip(&self.keys).map(|(&k, cell)| (KEYS[k].0.to_owned(), Want::Is(cell.clone()))));
        all.push(("n".to_owned(), int(self.n)));
        all.push(("s".to_owned(), int(self.s)));
        all.extend(
            query.aggregates.iter().zip(&self.wants).map(|(&a, want)| (AGGREGATES[a].0.to_owned(), want.clone())),
        );
        all.extend(self.rank.map(|rank| ("rank".to_owned(), count(rank))));
        all
    }
}

/// What is wrong with a line that was written; none when it has these columns and nothing else.
pub fn differs(columns: &[(String, Want)], line: &Value) -> Option<String> {
    let got = line.as_object()?;
    if got.len() != columns.len() {
        return Some(format!("columns {:?}", got.keys().collect::<Vec<_>>()));
    }
    let wrong = columns.iter().find(|(name, want)| !got.get(name).is_some_and(|value| want.holds(value)));
    wrong.map(|(name, want)| format!("{name}: expected {want:?}"))
}

/// How far windows that follow each other lie apart; none for kinds that cannot be filled.
pub fn slide(kind: &Kind) -> Option<i64> {
    match *kind {
        Kind::Tumbling { size, .. } => Some(size),
        Kind::Sliding { slide, .. } => Some(slide),
        Kind::Cumulate { .. } | Kind::Session { .. } => None,
    }
}

fn some_of(table: usize, weight: f64) -> impl Strategy<Value = Option<usize>> {
    proptest::option::weighted(weight, 0..table)
}

/// Random queries. Keys are at most two different ones.
pub fn query() -> impl Strategy<Value = Query> {
    let keys = proptest::sample::subsequence((0..KEYS.len()).collect::<Vec<_>>(), 0..3);
    let aggregates = proptest::sample::subsequence((0..AGGREGATES.len()).collect::<Vec<_>>(), 0..8);
    let rank = (some_of(ORDERS.len(), 0.4), proptest::option::weighted(0.5, 1..4usize), any::<bool>());
    (some_of(CONDITIONS.len(), 0.5), keys, aggregates, some_of(HAVINGS.len(), 0.3), rank).prop_map(
        |(condition, keys, aggregates, having, (order, top, by))| {
            let order = order.filter(|_| !keys.is_empty());
            let top = top.filter(|_| order.is_some());
            Query { condition, top_by: by && top.is_some(), keys, aggregates, having, order, top, fill: None }
        },
    )
}

/// Random fillings.
pub fn filling() -> impl Strategy<Value = (Filling, usize)> {
    (prop_oneof![Just(Filling::Zero), Just(Filling::Null), Just(Filling::Previous)], prop_oneof![1..6usize, Just(1000)])
}
