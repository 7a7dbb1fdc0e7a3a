//! Aggregate functions: what one is, and the table of them.
//!
//! Must not know windows, keys, time or files. Invariants: state is indexed by slot, `merge` is associative and
//! commutative, and a result is a function of the rows alone, not of their order or of how they were split. Where a
//! function needs an order (`first`), the caller passes it as further argument columns.

mod approx_distinct;
mod approx_quantile;
mod array_agg;
mod cells;
mod collected;
mod column;
mod count;
mod datum;
mod distinct;
mod distinct_of;
mod double_sum;
mod exact_sum;
mod extremum;
#[cfg(test)]
mod facts;
mod first_last;
mod integer_sum;
mod min_by;
mod mode;
mod power_sums;
mod quantile;
mod saved;
mod string_agg;
mod sum;
#[cfg(test)]
mod tests;
mod value;
mod value_map;
mod variance;

use crate::error::Result;
use crate::schema::{FieldType, Literal};
use arrow::array::ArrayRef;

/// A place in an accumulator's state: one group of one pane, window or session. Slots are dense and recycled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u32);

impl Slot {
    /// As an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The running state of one aggregate over many groups.
pub trait Accumulator: Send {
    /// Makes `slot` the state of no rows, growing the state if need be. A slot may be opened again after it was used.
    fn open(&mut self, slot: Slot);

    /// Takes in rows: row `rows[i]` of the argument columns goes to `slots[i]`.
    ///
    /// `args` are the argument columns and, for functions that [need an order](AggregateKind::ordered), behind them the
    /// event time (`Int64`, microseconds) and the position (`UInt64`).
    fn update(&mut self, slots: &[Slot], rows: &[u32], args: &[ArrayRef]) -> Result<()>;

    /// Adds the rows of `from` to `into`; `from` stays as it is.
    fn merge(&mut self, into: Slot, from: Slot);

    /// The argument columns have these types from now on (an integer column met a fraction, a key column became text).
    fn widen(&mut self, arguments: &[FieldType]) -> Result<()>;

    /// The results of these slots, in this order, of the type [`Accumulator::output`] tells.
    /// An `Err` tells the index into `slots` whose result cannot be represented.
    fn values(&self, slots: &[Slot]) -> Result<ArrayRef, OutOfRange>;

    /// The type of the results.
    fn output(&self) -> FieldType;

    /// What these slots hold, one row each, for [`Accumulator::load`].
    fn save(&self, slots: &[Slot]) -> Result<ArrayRef>;

    /// Makes these slots, which were opened, hold what was saved by a state of the same call and argument types.
    /// A column that is no such thing is an error; the slots are to be opened again then.
    fn load(&mut self, slots: &[Slot], saved: &ArrayRef) -> Result<()>;

    /// Bytes of memory held, as far as they are known.
    fn bytes(&self) -> usize;
}

/// A result that its type cannot hold. The caller, who knows window and key, makes the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfRange {
    /// Which of the slots asked for.
    pub index: usize,
    /// What does not fit: `sum 9223372036854775808 does not fit a 64-bit integer`.
    pub what: String,
    /// What the user can do about it; `FIELD` stands for the argument's name.
    pub hint: &'static str,
}

/// What a function takes in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// A column of any type.
    Anything,
    /// A column of numbers.
    Number,
    /// A column of numbers or instants: values between two values there are.
    Measure,
    /// A column of truth values.
    Truth,
    /// A column of anything that is written as text as it stands; instants would need a zone.
    Words,
    /// A constant from 0 to 1.
    Share,
    /// A constant text.
    Text,
}

impl Takes {
    /// Whether the argument is a constant, known when the state is made, and no column.
    pub fn is_constant(self) -> bool {
        matches!(self, Takes::Share | Takes::Text)
    }
}

/// What the state of a call is made for.
#[derive(Clone, Copy, Debug)]
pub struct Arguments<'a> {
    /// The types of the argument columns; none for `count(*)`.
    pub types: &'a [FieldType],
    /// The constant arguments, in order.
    pub constants: &'a [Literal],
    /// `DISTINCT` stood before the arguments.
    pub distinct: bool,
}

impl Arguments<'_> {
    /// The type of the first argument column, if there is one.
    pub fn first(&self) -> Option<FieldType> {
        self.types.first().copied()
    }
}

/// A row of the table of aggregates.
pub struct AggregateKind {
    /// Its SQL name, in lower case.
    pub name: &'static str,
    /// The form of a call, for help: `count(DISTINCT x)`.
    pub usage: &'static str,
    /// One line of what it gives, and over nothing.
    pub doc: &'static str,
    /// Other names it is known by, in lower case.
    pub aliases: &'static [&'static str],
    /// What it takes: columns first, then constants.
    pub takes: &'static [Takes],
    /// How many of the last arguments may be left out.
    pub optional: usize,
    /// Whether it may be called over rows: `count(*)`.
    pub rows: bool,
    /// Whether `DISTINCT` may stand before the argument.
    pub distinct: bool,
    /// Whether its result depends on event time and position, which are then passed as further arguments.
    pub ordered: bool,
    /// Makes the state, for arguments that were [checked](AggregateKind::check).
    pub build: fn(arguments: Arguments<'_>) -> Box<dyn Accumulator>,
}

impl std::fmt::Debug for AggregateKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Every aggregate there is.
pub static AGGREGATES: &[&AggregateKind] = &[
    &count::COUNT,
    &sum::SUM,
    &sum::AVG,
    &extremum::MIN,
    &extremum::MAX,
    &first_last::FIRST,
    &first_last::LAST,
    &min_by::MIN_BY,
    &min_by::MAX_BY,
    &first_last::ANY_VALUE,
    &variance::STDDEV,
    &variance::STDDEV_POP,
    &variance::VARIANCE,
    &variance::VAR_POP,
    &quantile::MEDIAN,
    &quantile::QUANTILE_CONT,
    &quantile::QUANTILE_DISC,
    &approx_quantile::APPROX_QUANTILE,
    &approx_distinct::APPROX_DISTINCT,
    &mode::MODE,
    &array_agg::ARRAY_AGG,
    &string_agg::STRING_AGG,
    &extremum::BOOL_AND,
    &extremum::BOOL_OR,
];

/// A function as it was called: `p95` is a function with a constant in its name.
#[derive(Clone, Debug)]
pub struct Named {
    /// The function.
    pub kind: &'static AggregateKind,
    /// Constants that its name stands for, behind those given.
    pub preset: Vec<Literal>,
    /// The name, where it stands for constants.
    pub called: Option<String>,
}

impl Named {
    /// What it was called by: the function's name, or the one that stands for constants too.
    pub fn name(&self) -> &str {
        self.called.as_deref().unwrap_or(self.kind.name)
    }
}

impl AggregateKind {
    /// Refuses an argument column of a type it cannot take, naming it as it was typed:
    /// `sum needs a number, but "page" is text`.
    pub fn check(&self, place: usize, shown: &str, ty: FieldType) -> Result<(), String> {
        match self.takes.get(place) {
            Some(Takes::Number) if !ty.is_number() => {
                Err(format!("{} needs a number, but \"{shown}\" is {}", self.name, with_article(ty)))
            }
            Some(Takes::Measure) if !ty.is_number() && ty != FieldType::Time => {
                Err(format!("{} needs a number or a time, but \"{shown}\" is {}", self.name, with_article(ty)))
            }
            Some(Takes::Words) if ty == FieldType::Time => {
                Err(format!("{} needs text, but \"{shown}\" is {}", self.name, with_article(ty)))
            }
            Some(Takes::Truth) if ty != FieldType::Bool => {
                Err(format!("{} needs true or false, but \"{shown}\" is {}", self.name, with_article(ty)))
            }
            _ => Ok(()),
        }
    }
}

fn with_article(ty: FieldType) -> String {
    match ty {
        FieldType::Text => "text".into(),
        other => format!("a {}", other.name()),
    }
}

/// The aggregate of this name, in any case.
pub fn find(name: &str) -> Option<Named> {
    let name = name.to_ascii_lowercase();
    if let Some(share) = percentile(&name) {
        return Some(Named {
            kind: &quantile::QUANTILE_CONT,
            preset: vec![Literal::Double(share)],
            called: Some(name),
        });
    }
    let kind = AGGREGATES.iter().copied().find(|kind| kind.name == name || kind.aliases.contains(&name.as_str()))?;
    Some(Named { kind, preset: Vec::new(), called: None })
}

/// The share that `p50` to `p99` stand for.
fn percentile(name: &str) -> Option<f64> {
    let digits = name.strip_prefix('p').filter(|digits| digits.len() == 2)?;
    let hundredths: u8 = digits.parse().ok()?;
    (50..=99).contains(&hundredths).then(|| f64::from(hundredths) / 100.0)
}

/// Makes `slot` hold what `empty` makes, growing the states if need be.
#[inline]
fn reset<T>(states: &mut Vec<T>, slot: Slot, empty: impl Fn() -> T) {
    if slot.index() >= states.len() {
        states.resize_with(slot.index() + 1, &empty);
    }
    states[slot.index()] = empty();
}
