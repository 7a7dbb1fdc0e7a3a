//! What the first records show: which fields there are, of what types, and in what unit times come.
//!
//! Reads by the general path alone: it is done once per input. Bad records are counted and passed over. Must not know
//! what a later value that does not fit means.

use super::decode::records_of;
use super::general;
use super::tree::Tree;
use crate::format::json::{self, Cell};
use crate::format::number::{is_long_integer, number_kind};
use crate::schema::{FieldInfo, FieldPath, FieldType, Role, SAMPLE_RECORDS, Sample, Wanted};
use crate::time::{DayCache, TimeReader};

/// Fields listed at most.
const MOST_FIELDS: usize = 500;
/// Names at the top that are told beyond those.
const MOST_NAMES: usize = 5_000;
/// Levels of nesting that fields are listed from.
const MOST_LEVELS: usize = 16;

/// Looks at the first records among whole lines.
pub(super) fn sample(bytes: &[u8], wanted: &[Wanted], time: &TimeReader) -> Sample {
    let tree = Tree::new(wanted.iter().map(|wanted| &wanted.path));
    let mut cells = vec![Cell::Absent; tree.len()];
    let mut sample = Sample { types: vec![None; wanted.len()], ..Sample::default() };
    let mut long = vec![false; wanted.len()];
    let mut fields = Fields::new(time);
    for line in records_of(bytes).take(SAMPLE_RECORDS) {
        sample.records += 1;
        let line = &bytes[line];
        if general::record(line, &tree, &mut cells).is_err() {
            continue;
        }
        for (index, wanted) in wanted.iter().enumerate() {
            let cell = cells[tree.slot(index)].inside(wanted.path.inside());
            json::add_type(&mut sample.types[index], cell, wanted.role);
            long[index] |= wanted.role == Role::Whole && matches!(cell, Cell::Number(text) if is_long_integer(text));
            if wanted.role == Role::Time && sample.time_unit.is_none() {
                sample.time_unit = json::time_unit(cell, time);
            }
        }
        fields.add(line);
    }
    for (ty, long) in sample.types.iter_mut().zip(long) {
        // As a double it would lose digits.
        if long && *ty == Some(FieldType::Double) {
            *ty = Some(FieldType::Json);
        }
    }
    sample.names = fields.names();
    sample.fields = fields.finish();
    sample
}

/// The tree of all fields, in the order of their appearance.
struct Fields<'t> {
    nodes: Vec<FieldNode>,
    /// Names at the top beyond the fields that are listed.
    more_names: Vec<String>,
    time: &'t TimeReader,
    cache: DayCache,
}

/// One field or object.
#[derive(Default)]
struct FieldNode {
    parent: usize,
    key: String,
    children: Vec<usize>,
    ty: Option<FieldType>,
    looks_like_time: bool,
}

impl<'t> Fields<'t> {
    fn new(time: &'t TimeReader) -> Self {
        Fields { nodes: vec![FieldNode::default()], more_names: Vec::new(), time, cache: DayCache::default() }
    }

    /// Adds the fields of a record, which was checked before.
    fn add(&mut self, line: &[u8]) {
        if let Ok(text) = std::str::from_utf8(line) {
            self.add_object(0, text, 1);
        }
    }

    fn add_object(&mut self, parent: usize, object: &str, level: usize) {
        let mut guess = 0;
        let walked = general::each_member(object, |key, value| {
            let Some(field) = self.child(parent, key, &mut guess) else { return };
            match value.as_bytes() {
                [b'{', inside @ .., _] if level < MOST_LEVELS && !inside.trim_ascii().is_empty() => {
                    self.add_object(field, value, level + 1);
                }
                value => self.add_value(field, Cell::of(value)),
            }
        });
        debug_assert!(walked.is_ok(), "the record was checked");
    }

    /// The node of a member; most likely the one behind the last, `guess`.
    fn child(&mut self, parent: usize, key: &str, guess: &mut usize) -> Option<usize> {
        let children = &self.nodes[parent].children;
        let is_it = |&at: &usize| self.nodes[children[at]].key == key;
        let found = Some(*guess).filter(|at| *at < children.len()).filter(is_it);
        let found = found.or_else(|| (0..children.len()).find(is_it)).map(|at| (at, children[at]));
        let (at, child) = found.or_else(|| self.new_child(parent, key))?;
        *guess = at + 1;
        Some(child)
    }

    fn new_child(&mut self, parent: usize, key: &str) -> Option<(usize, usize)> {
        if self.nodes.len() > MOST_FIELDS {
            if parent == 0 && self.more_names.len() < MOST_NAMES && !self.more_names.iter().any(|name| name == key) {
                self.more_names.push(key.to_owned());
            }
            return None;
        }
        let child = self.nodes.len();
        self.nodes.push(FieldNode { parent, key: key.to_owned(), ..FieldNode::default() });
        self.nodes[parent].children.push(child);
        Some((self.nodes[parent].children.len() - 1, child))
    }

    fn add_value(&mut self, field: usize, cell: Cell<'_>) {
        if self.nodes[field].ty.is_none() {
            self.nodes[field].looks_like_time = looks_like_time(cell, self.time, &mut self.cache);
        }
        json::add_type(&mut self.nodes[field].ty, cell, Role::Value);
    }

    /// The names at the top, in the order of their appearance.
    fn names(&self) -> Vec<String> {
        let listed = self.nodes[0].children.iter().map(|&child| &self.nodes[child].key);
        listed.chain(&self.more_names).cloned().collect()
    }

    /// All leaves, depth first: as they stand in a record that has them all.
    fn finish(self) -> Vec<FieldInfo> {
        let mut fields = Vec::new();
        self.list(0, &mut fields);
        fields
    }

    fn list(&self, at: usize, fields: &mut Vec<FieldInfo>) {
        let node = &self.nodes[at];
        if at != 0 && (node.ty.is_some() || node.children.is_empty()) {
            fields.push(FieldInfo {
                path: self.path(at),
                ty: node.ty,
                looks_like_time: node.looks_like_time,
                nested: false,
            });
        }
        node.children.iter().for_each(|&child| self.list(child, fields));
    }

    fn path(&self, mut at: usize) -> FieldPath {
        let mut parts = Vec::new();
        while at != 0 {
            parts.push(self.nodes[at].key.clone());
            at = self.nodes[at].parent;
        }
        parts.reverse();
        FieldPath::new(parts)
    }
}

/// Text that reads as a time and is no mere number, or a number that is an instant of this century in some unit.
fn looks_like_time(cell: Cell<'_>, time: &TimeReader, cache: &mut DayCache) -> bool {
    match cell {
        Cell::Number(text) => number_looks_like_time(text),
        Cell::Text(text) => number_kind(text).is_none() && time.text(text, cache).is_ok(),
        _ => false,
    }
}

/// 2001 to 2100 in seconds, milliseconds, microseconds or nanoseconds.
fn number_looks_like_time(text: &[u8]) -> bool {
    let seconds = 1e9..4.102_444_8e9;
    let Ok(value) = crate::format::number::double(text) else { return false };
    [1.0, 1e3, 1e6, 1e9].iter().any(|unit| seconds.contains(&(value / unit)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::{TimeFormat, Unit, Zone};

    fn look(text: &str, paths: &[&str]) -> Sample {
        let wanted = |(i, path): (usize, &&str)| Wanted {
            path: FieldPath::parse(path).unwrap(),
            role: if i == 0 { Role::Time } else { Role::Value },
            declared: None,
        };
        let wanted: Vec<_> = paths.iter().enumerate().map(wanted).collect();
        sample(text.as_bytes(), &wanted, &TimeReader::new(TimeFormat::Auto, Zone::UTC))
    }

    fn type_of_values(values: &[&str]) -> Option<FieldType> {
        let text: String = values.iter().map(|value| format!("{{\"x\":{value}}}\n")).collect();
        look(&text, &["t", "x"]).types[1]
    }

    #[test]
    fn the_narrowest_type_that_holds_all_values_is_found() {
        let big = FieldType::Decimal { precision: 38, scale: 0 };
        for (values, expected) in [
            (&["1", "null", "-2"][..], Some(FieldType::Int)),
            (&["1", "2.0"], Some(FieldType::Double)),
            (&["-0"], Some(FieldType::Double)),
            (&["1", "9223372036854775808"], Some(big)),
            (&["9223372036854775808", "0.5"], Some(FieldType::Double)),
            (&["1000000000000000000000000000000000000000"], Some(FieldType::Double)),
            (&["true", "false"], Some(FieldType::Bool)),
            (&["true", "1"], Some(FieldType::Text)),
            (&["\"1\""], Some(FieldType::Text)),
            (&["[1]"], Some(FieldType::Text)),
            (&["null"], None),
            (&[], None),
        ] {
            assert_eq!(type_of_values(values), expected, "{values:?}");
        }
    }

    #[test]
    fn bad_records_are_counted_and_passed_over() {
        let sample = look("{\"x\":1}\n\n{\"x\":\"a\"\n[1]\n{\"x\":2}", &["t", "x"]);
        assert_eq!((sample.records, sample.types[1]), (4, Some(FieldType::Int)));
    }

    #[test]
    fn the_unit_comes_from_the_first_usable_number_that_is_not_zero() {
        let unit = |text: &str| look(text, &["t"]).time_unit;
        assert_eq!(unit("{\"t\":0}\n{\"t\":\"n/a\"}\n{\"t\":1772323200000}\n{\"t\":1}"), Some(Unit::Millis));
        assert_eq!(unit("{\"t\":\"1772323200\"}"), Some(Unit::Seconds));
        assert_eq!(unit("{\"t\":\"2026-03-01T00:00:00Z\"}"), None);
    }

    #[test]
    fn only_so_many_records_are_looked_at() {
        let text = "{\"x\":1}\n".repeat(SAMPLE_RECORDS) + "{\"x\":\"a\"}\n";
        let sample = look(&text, &["t", "x"]);
        assert_eq!((sample.records, sample.types[1]), (SAMPLE_RECORDS, Some(FieldType::Int)));
    }

    #[test]
    fn leaf_fields_are_listed_in_order_with_those_that_look_like_times() {
        let text = r#"{"at":"2026-03-01T00:00:00Z","a":{"b":1,"c":null},"e":{},"ms":1772323200000,"n":5}
            {"new":true,"a":{"d":"x"},"at":1}"#;
        let fields = look(text, &[]).fields;
        let shown: Vec<_> = fields.iter().map(|field| (field.path.name(), field.ty, field.looks_like_time)).collect();
        let expected = [
            ("at", Some(FieldType::Text), true),
            ("a.b", Some(FieldType::Int), false),
            ("a.c", None, false),
            ("a.d", Some(FieldType::Text), false),
            ("e", Some(FieldType::Text), false),
            ("ms", Some(FieldType::Int), true),
            ("n", Some(FieldType::Int), false),
            ("new", Some(FieldType::Bool), false),
        ];
        assert_eq!(shown, expected.map(|(name, ty, time)| (name.to_owned(), ty, time)));
    }

    #[test]
    fn endlessly_many_fields_are_not_listed() {
        let text: String = (0..2 * MOST_FIELDS).map(|i| format!("{{\"k{i}\":1}}\n")).collect();
        assert_eq!(look(&text, &[]).fields.len(), MOST_FIELDS);
    }
}
