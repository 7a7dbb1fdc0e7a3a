//! Which fields of a record a job uses, and of what type each is.
//!
//! Decoders, the planner and the loop share these words. A [`Layout`] is all a decoder needs beside the bytes, so
//! decoding a chunk is a pure function that may run anywhere and be run again. Must not know files, windows or flags.
//!
//! Types are inferred from the first [`SAMPLE_RECORDS`] records of each input and unified over the inputs. What
//! happens to a later value that does not fit is [`Column::misfit`]'s to say, in one place for all formats.

use crate::time::TimeReader;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use std::fmt;
use std::sync::Arc;

/// How many records of each input the types are inferred from. A count, so that read sizes never matter.
pub const SAMPLE_RECORDS: usize = 1_000;

/// A path into a record: `actor.login`, one odd name in double quotes, or into an array: `items[0].sku`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldPath {
    /// Names of members, outermost first, up to the first array.
    parts: Vec<String>,
    /// The way from there: an index first, if there is any.
    inside: Vec<Step>,
}

/// A step into a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Step {
    /// The element of an array, from 0; negative from its end (-1 is the last). Null where there is none.
    Index(i64),
    /// The member of an object.
    Member(String),
}

impl FieldPath {
    /// A path from its parts, outermost first; never empty.
    pub fn new(parts: Vec<String>) -> Self {
        debug_assert!(!parts.is_empty());
        Self { parts, inside: Vec::new() }
    }

    /// The same path followed further into its value, by an index first.
    #[must_use]
    pub fn into_array(mut self, inside: Vec<Step>) -> Self {
        debug_assert!(matches!(inside.first(), None | Some(Step::Index(_))));
        self.inside = inside;
        self
    }

    /// Reads `a.b.c`; a part in double quotes may hold any character (`""` is one quote).
    /// Anything else stands for itself, so `@timestamp` and `Flight Date` need no quotes here.
    /// `None` for an empty part or an unclosed quote.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = Vec::new();
        let mut rest = text.trim();
        loop {
            let (part, after) = match rest.strip_prefix('"') {
                Some(quoted) => unquote(quoted)?,
                None => {
                    let end = rest.find('.').unwrap_or(rest.len());
                    (rest[..end].to_owned(), &rest[end..])
                }
            };
            if part.is_empty() {
                return None;
            }
            parts.push(part);
            match after.strip_prefix('.') {
                Some(next) => rest = next,
                None if after.is_empty() => return Some(Self::new(parts)),
                None => return None,
            }
        }
    }

    /// The names of members, outermost first, up to the first array.
    pub fn parts(&self) -> &[String] {
        &self.parts
    }

    /// The way from the member that the first `parts` of its names lead to.
    pub fn steps_behind(&self, parts: usize) -> Vec<Step> {
        let members = self.parts.iter().skip(parts).cloned().map(Step::Member);
        members.chain(self.inside.iter().cloned()).collect()
    }

    /// The way on from there, into an array: empty for most paths.
    pub fn inside(&self) -> &[Step] {
        &self.inside
    }

    /// The name a column of this field has in the output: the parts joined by dots, indices in brackets.
    pub fn name(&self) -> String {
        let mut name = self.parts.join(".");
        for step in &self.inside {
            match step {
                Step::Index(index) => name.push_str(&format!("[{index}]")),
                Step::Member(member) => name.push_str(&format!(".{member}")),
            }
        }
        name
    }
}

/// Splits `rest` (just after an opening quote) into the quoted text and what follows the closing quote.
fn unquote(rest: &str) -> Option<(String, &str)> {
    let mut text = String::new();
    let mut from = 0;
    loop {
        let at = from + rest[from..].find('"')?;
        text.push_str(&rest[from..at]);
        if rest[at + 1..].starts_with('"') {
            text.push('"');
            from = at + 2;
        } else {
            return Some((text, &rest[at + 1..]));
        }
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

/// The types a column of a job can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FieldType {
    /// 64-bit signed integer.
    Int,
    /// Double.
    Double,
    /// True or false.
    Bool,
    /// Text; a JSON scalar of another type is its JSON text, an object or array its text as it stands.
    Text,
    /// Exact decimal number.
    Decimal {
        /// Digits in all, at most 38.
        precision: u8,
        /// Digits behind the point.
        scale: i8,
    },
    /// An instant (microseconds, UTC).
    Time,
    /// A value of any kind as its JSON text, on one line: an object or array, or scalars of several kinds. Only a
    /// [`Role::Whole`] column has it. To an expression it is a text.
    Json,
    /// A list of values of one of the other types: only results have it. See [`FieldType::list`].
    List(&'static FieldType),
}

/// A list of lists there is not.
static LISTS: [FieldType; 5] = [FieldType::Int, FieldType::Double, FieldType::Bool, FieldType::Text, FieldType::Time];
/// Every decimal type, by precision (from 1) and scale (from 0).
static DECIMALS: [[FieldType; 39]; 38] = decimals();

const fn decimals() -> [[FieldType; 39]; 38] {
    let mut all = [[FieldType::Int; 39]; 38];
    let mut precision = 0;
    while precision < 38 {
        let mut scale = 0;
        while scale < 39 {
            all[precision][scale] = FieldType::Decimal { precision: precision as u8 + 1, scale: scale as i8 };
            scale += 1;
        }
        precision += 1;
    }
    all
}

impl FieldType {
    /// The Arrow type of a column of this type.
    pub fn arrow(self) -> DataType {
        match self {
            FieldType::Int => DataType::Int64,
            FieldType::Double => DataType::Float64,
            FieldType::Bool => DataType::Boolean,
            FieldType::Text => DataType::Utf8,
            FieldType::Decimal { precision, scale } => DataType::Decimal128(precision, scale),
            FieldType::Time => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            // No other column of ours is of this type, which tells JSON from text wherever only arrays are at hand.
            FieldType::Json => DataType::LargeUtf8,
            FieldType::List(item) => DataType::List(Arc::new(Field::new_list_field(item.arrow(), true))),
        }
    }

    /// The type of lists of these values; none for a list, as there are no lists of lists.
    pub fn list(self) -> Option<FieldType> {
        match self {
            FieldType::List(_) => None,
            FieldType::Decimal { precision, scale } => {
                let scales = DECIMALS.get(usize::from(precision).checked_sub(1)?)?;
                scales.get(usize::try_from(scale).ok()?).map(FieldType::List)
            }
            plain => LISTS.iter().find(|item| **item == plain).map(FieldType::List),
        }
    }

    /// The type of a column that a decoder made; a dictionary of text is text.
    pub fn of(ty: &DataType) -> Self {
        match ty {
            DataType::Int64 => FieldType::Int,
            DataType::Float64 => FieldType::Double,
            DataType::Boolean => FieldType::Bool,
            DataType::Decimal128(precision, scale) => FieldType::Decimal { precision: *precision, scale: *scale },
            DataType::Timestamp(..) => FieldType::Time,
            DataType::LargeUtf8 => FieldType::Json,
            _ => FieldType::Text,
        }
    }

    /// The type under the name the user knows it by (`--schema`).
    pub fn name(self) -> String {
        match self {
            FieldType::Int => "bigint".into(),
            FieldType::Double => "double".into(),
            FieldType::Bool => "boolean".into(),
            FieldType::Text => "text".into(),
            FieldType::Decimal { precision, scale } => format!("decimal({precision},{scale})"),
            FieldType::Time => "timestamp".into(),
            FieldType::Json => "json".into(),
            FieldType::List(item) => format!("{}[]", item.name()),
        }
    }

    /// Whether arithmetic may be done on it.
    pub fn is_number(self) -> bool {
        matches!(self, FieldType::Int | FieldType::Double | FieldType::Decimal { .. })
    }

    /// The type as expressions know it: to them JSON is a text.
    #[must_use]
    pub fn in_expressions(self) -> FieldType {
        if self == FieldType::Json { FieldType::Text } else { self }
    }

    /// The narrowest type that holds values of both: of two inputs, or of a sample. JSON holds every value.
    pub fn unify(self, other: FieldType) -> FieldType {
        use FieldType::{Decimal, Double, Int, Json, Text};
        match (self, other) {
            (a, b) if a == b => a,
            (Json, _) | (_, Json) => Json,
            (Int | Double, Int | Double) => Double,
            (Int, Decimal { precision, scale }) | (Decimal { precision, scale }, Int) => {
                let _ = precision;
                Decimal { precision: 38, scale }
            }
            (Decimal { scale: a, .. }, Decimal { scale: b, .. }) => Decimal { precision: 38, scale: a.max(b) },
            (Double, Decimal { .. }) | (Decimal { .. }, Double) => Double,
            _ => Text,
        }
    }
}

/// The text of a double where its column becomes text: a whole number as an integer, which it most likely was before
/// the column met a fraction; else the shortest text that reads back as the same double.
pub fn number_text(value: f64) -> String {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value.fract() == 0.0 && value.abs() < EXACT {
        true => format!("{value:.0}"),
        false => zmij::Buffer::new().format(value).to_owned(),
    }
}

/// A value written in an expression, or a constant argument of a function.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `NULL`
    Null,
    /// An integer of 64 bits.
    Int(i64),
    /// A number with an exponent, or beyond 38 digits.
    Double(f64),
    /// `TRUE`, `FALSE`
    Bool(bool),
    /// Text in single quotes.
    Text(String),
    /// A number with a point: `value * 10^-scale`.
    Decimal {
        /// All digits.
        value: i128,
        /// How many of them stand behind the point.
        scale: i8,
    },
    /// `TIMESTAMP '2026-01-31 12:00'`
    Time(crate::time::Ts),
}

/// What a job does with a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// It is the event time.
    Time,
    /// Records are grouped by it.
    Key,
    /// It is aggregated, of any type.
    Value,
    /// It is aggregated and must be a number.
    Number,
    /// It is passed on as it is, whatever it is. See [`Column::misfit`].
    Whole,
}

impl Role {
    /// The type of a column in which values of both types were seen: the narrowest that holds both
    /// ([`FieldType::unify`]), or for a field that is passed on the narrowest that loses nothing of either.
    pub fn unify(self, a: FieldType, b: FieldType) -> FieldType {
        use FieldType::{Decimal, Double, Int, Json};
        match (self, a, b) {
            (Role::Whole, Int | Decimal { .. }, Int | Decimal { .. }) | (Role::Whole, Int | Double, Int | Double) => {
                a.unify(b)
            }
            (Role::Whole, a, b) if a != b => Json,
            _ => a.unify(b),
        }
    }
}

/// One field that a job asks for, before any input is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Where it is in a record.
    pub path: FieldPath,
    /// What it is for.
    pub role: Role,
    /// Its type, where `--schema` says it.
    pub declared: Option<FieldType>,
}

/// One column of a decoder's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Where its field is in a record.
    pub path: FieldPath,
    /// What it is for.
    pub role: Role,
    /// Its type now.
    pub ty: FieldType,
    /// Declared by the user: it never changes, a misfit is a bad record.
    pub declared: bool,
}

/// What was found where a value of another type was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A number with a fraction or an exponent.
    Fraction,
    /// An integer beyond 64 bits.
    BigInteger,
    /// A value of any other type.
    Other,
}

/// What to do with a value that does not fit its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// From this record on the column has this type.
    Widen(FieldType),
    /// The record is bad.
    Bad,
}

impl Column {
    /// SPEC section 6: an integer column that meets a fraction widens to double, a key column that meets a misfit
    /// becomes text, any other value that does not fit is a bad record.
    ///
    /// A field that is only passed on makes no record bad and loses nothing: whatever does not fit, from that record on
    /// its column is JSON, where each value stands as it was, numbers with all their digits and texts in quotes. (As a
    /// double, which a fraction asks for, an integer beyond 2^53 would lose digits.) What a format has no JSON for
    /// gets one: a cell of CSV is the number or truth value that it reads as, else a text.
    pub fn misfit(&self, found: Found) -> Misfit {
        match (self.declared, self.ty, found, self.role) {
            (true, ..) | (_, FieldType::Json, ..) => Misfit::Bad,
            (_, _, _, Role::Whole) => Misfit::Widen(FieldType::Json),
            (_, FieldType::Int, Found::Fraction, _) => Misfit::Widen(FieldType::Double),
            (_, _, _, Role::Key) => Misfit::Widen(FieldType::Text),
            _ => Misfit::Bad,
        }
    }
}

/// All a decoder needs to know to turn bytes into columns.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The columns, in the order of the output batch. The one at `time` is the event time.
    pub columns: Vec<Column>,
    /// Index of the event time in `columns`; that column never holds a null. None when the time is computed from
    /// other columns: a decoder then leaves [`Rows::times`](crate::format::Rows::times) empty.
    pub time: Option<usize>,
    /// How this input writes its event time. A unit that was found on the way is kept here.
    pub time_reader: TimeReader,
    /// Whether each record's own bytes (or whole row) are wanted beside the columns, for side files and lines.
    pub keep_raw: bool,
    /// Whether the columns are meant to be all fields at the top of a record, so that others are to be
    /// [told](crate::format::Decoded::unlisted).
    pub names_all: bool,
}

impl Layout {
    /// The Arrow schema of batches decoded with this layout.
    pub fn schema(&self) -> SchemaRef {
        let fields = self.columns.iter().enumerate().map(|(i, c)| {
            let is_time = self.time == Some(i);
            let ty = if is_time { FieldType::Time } else { c.ty };
            Field::new(c.path.name(), ty.arrow(), !is_time)
        });
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    }

    /// The same layout with one column of another type.
    #[must_use]
    pub fn with_type(&self, column: usize, ty: FieldType) -> Self {
        let mut new = self.clone();
        new.columns[column].ty = ty;
        new
    }

    /// The types of the columns alone.
    pub fn types(&self) -> Vec<FieldType> {
        self.columns.iter().map(|c| c.ty).collect()
    }
}

/// A field as the sample of one input shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldInfo {
    /// Where it is.
    pub path: FieldPath,
    /// The narrowest type of its values; none when all were null.
    pub ty: Option<FieldType>,
    /// Whether its first value reads as a time.
    pub looks_like_time: bool,
    /// Whether its values are texts, and one of them a JSON object or array.
    pub nested: bool,
}

/// What the first records of an input tell.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// Every leaf field seen, in the order of appearance (nested ones by their dotted path).
    pub fields: Vec<FieldInfo>,
    /// The names of all fields at the top of the records, in the order of appearance (or the header's, the schema's).
    pub names: Vec<String>,
    /// For each wanted field, in order: the narrowest type seen, none when absent or null so far.
    pub types: Vec<Option<FieldType>>,
    /// The event times' unit, when they are numbers and one was usable and not zero.
    pub time_unit: Option<crate::time::Unit>,
    /// How many records were looked at.
    pub records: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Option<Vec<String>> {
        FieldPath::parse(text).map(|p| p.parts)
    }

    #[test]
    fn a_path_is_split_at_dots_outside_quotes() {
        assert_eq!(parts("a.b"), Some(vec!["a".into(), "b".into()]));
        assert_eq!(parts("\"a.b\".c"), Some(vec!["a.b".into(), "c".into()]));
        assert_eq!(parts("\"say \"\"x\"\"\""), Some(vec!["say \"x\"".into()]));
        assert_eq!(parts("@timestamp"), Some(vec!["@timestamp".into()]));
        for bad in ["", "a.", ".a", "a..b", "\"a", "\"a\"b"] {
            assert_eq!(parts(bad), None, "{bad}");
        }
    }

    #[test]
    fn only_integers_widen_and_only_keys_become_text() {
        let column = |role, ty, declared| Column { path: FieldPath::new(vec!["x".into()]), role, ty, declared };
        let int = column(Role::Number, FieldType::Int, false);
        assert_eq!(int.misfit(Found::Fraction), Misfit::Widen(FieldType::Double));
        assert_eq!(int.misfit(Found::BigInteger), Misfit::Bad);
        assert_eq!(column(Role::Key, FieldType::Int, false).misfit(Found::Other), Misfit::Widen(FieldType::Text));
        assert_eq!(column(Role::Key, FieldType::Int, true).misfit(Found::Other), Misfit::Bad);
        assert_eq!(column(Role::Key, FieldType::Int, false).misfit(Found::Fraction), Misfit::Widen(FieldType::Double));
        assert_eq!(column(Role::Key, FieldType::Double, false).misfit(Found::Other), Misfit::Widen(FieldType::Text));
    }

    #[test]
    fn what_is_passed_on_becomes_json_rather_than_bad() {
        let whole = |ty, declared| Column { path: FieldPath::new(vec!["x".into()]), role: Role::Whole, ty, declared };
        for ty in [FieldType::Int, FieldType::Double, FieldType::Bool, FieldType::Text, FieldType::Time] {
            for found in [Found::Fraction, Found::BigInteger, Found::Other] {
                assert_eq!(whole(ty, false).misfit(found), Misfit::Widen(FieldType::Json), "{ty:?}");
                assert_eq!(whole(ty, true).misfit(found), Misfit::Bad, "{ty:?}");
            }
        }
    }

    #[test]
    fn what_is_passed_on_loses_nothing_when_types_meet() {
        use FieldType::{Bool, Decimal, Double, Int, Json, Text, Time};
        let big = Decimal { precision: 38, scale: 0 };
        for (a, b, both) in [
            (Int, Int, Int),
            (Int, Double, Double),
            (Int, big, big),
            (Double, big, Json),
            (Int, Text, Json),
            (Bool, Int, Json),
            (Time, Text, Json),
            (Text, Json, Json),
        ] {
            assert_eq!((Role::Whole.unify(a, b), Role::Whole.unify(b, a)), (both, both), "{a:?} {b:?}");
        }
        assert_eq!(Role::Value.unify(Double, big), Double);
    }

    #[test]
    fn json_is_told_from_text_by_its_arrow_type() {
        assert_eq!(FieldType::of(&FieldType::Json.arrow()), FieldType::Json);
        assert_ne!(FieldType::Json.arrow(), FieldType::Text.arrow());
        assert_eq!((FieldType::Json.name().as_str(), FieldType::Json.list()), ("json", None));
    }

    #[test]
    fn types_unify_to_the_narrowest_that_holds_both() {
        let decimal = |precision, scale| FieldType::Decimal { precision, scale };
        for (a, b, both) in [
            (FieldType::Int, FieldType::Int, FieldType::Int),
            (FieldType::Int, FieldType::Double, FieldType::Double),
            (FieldType::Int, decimal(9, 2), decimal(38, 2)),
            (decimal(9, 2), decimal(18, 4), decimal(38, 4)),
            (decimal(9, 2), FieldType::Double, FieldType::Double),
            (FieldType::Bool, FieldType::Int, FieldType::Text),
            (FieldType::Time, FieldType::Double, FieldType::Text),
            (FieldType::Text, FieldType::Int, FieldType::Text),
            (FieldType::Json, FieldType::Int, FieldType::Json),
            (FieldType::Json, FieldType::Text, FieldType::Json),
        ] {
            assert_eq!((a.unify(b), b.unify(a)), (both, both), "{a:?} {b:?}");
        }
    }
}
