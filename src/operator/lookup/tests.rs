//! Every rule of lookups by itself, and the ones that go by time against a slow model.

use super::*;
use crate::event::{Marks, Position, Positions, Times};
use crate::operator::{Late, PairField};
use crate::plan::{AsOf, Direction, LookupKind};
use crate::schema::FieldPath;
use crate::time::{Span, Ts, Zone};
use arrow::array::{
    Array, AsArray, BooleanArray, DictionaryArray, Float64Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::{Int32Type, Int64Type};
use proptest::prelude::*;
use std::sync::Arc;

/// Result rows: the event's number, the table row's.
#[derive(Default)]
struct Told(Vec<(i64, Option<i64>)>);

impl Emit for Told {
    fn rows(&mut self, rows: RecordBatch) -> Result<()> {
        assert!(rows.num_rows() > 0);
        let number = rows.column(0).as_primitive::<Int64Type>();
        let found = rows.column(1).as_primitive::<Int64Type>();
        self.0.extend(number.values().iter().copied().zip(found.iter()));
        Ok(())
    }

    fn late(&mut self, _: Late) -> Result<()> {
        panic!("nothing is late for a table")
    }
}

type Key = Option<&'static str>;

fn text(keys: &[Key]) -> ArrayRef {
    Arc::new(StringArray::from(keys.to_vec()))
}

fn numbers(from: usize, count: usize) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values((from as i64..).take(count)))
}

fn rows(columns: Vec<ArrayRef>) -> RecordBatch {
    RecordBatch::try_from_iter(columns.into_iter().enumerate().map(|(i, c)| (i.to_string(), c))).unwrap()
}

/// Events: their keys, and a number each.
fn events(keys: ArrayRef, times: Option<&[i64]>, first: usize) -> EventBatch {
    let count = keys.len();
    EventBatch {
        rows: rows(vec![keys, numbers(first, count)]),
        times: Times::new(times.unwrap_or_default().to_vec().into()),
        marks: Marks::never(),
        last_mark: Watermark::NEVER,
        positions: Positions::Run(Position::new(0, first as u64)),
        selected: None,
    }
}

/// A table of (time, number, key, end), cut into batches.
fn table(all: &[(i64, Key, bool)], cut: usize) -> TableRows {
    let batches = all.chunks(cut).enumerate().map(|(i, some)| {
        let times = TimestampMicrosecondArray::from_iter_values(some.iter().map(|row| row.0)).with_timezone("UTC");
        let keys = text(&some.iter().map(|row| row.1).collect::<Vec<_>>());
        let ends: BooleanArray = some.iter().map(|row| row.2.then_some(true)).collect();
        rows(vec![Arc::new(times), numbers(i * cut, some.len()), keys, Arc::new(ends)])
    });
    let positions = (0..all.len().div_ceil(cut)).map(|i| Positions::Run(Position::new(0, (i * cut) as u64)));
    TableRows {
        first_types: vec![FieldType::Time, FieldType::Int, FieldType::Text, FieldType::Bool],
        types: vec![FieldType::Time, FieldType::Int, FieldType::Text, FieldType::Bool],
        batches: batches.collect(),
        delete: Some(3),
        payload: vec![1],
        positions: positions.collect(),
        names: vec!["users.csv".into()],
    }
}

fn setup(table: TableRows, pick: Pick, kind: LookupKind) -> LookupSetup {
    let field = |name: &str| PairField { path: FieldPath::parse(name).unwrap(), shown: Some(name.to_owned()) };
    LookupSetup {
        types: vec![FieldType::Text, FieldType::Int],
        payload: vec![1],
        on: vec![Equality { names: ["l.id".into(), "r.user".into()], columns: [0, 2] }],
        table,
        pick,
        kind,
        pair: Pair {
            fields: [vec![field("n")], vec![field("row")]],
            condition: None,
            select: None,
            windows: false,
            zone: Zone::UTC,
        },
    }
}

fn as_of(direction: Direction, tolerance: Option<i64>) -> Pick {
    Pick::AsOf(AsOf { direction, tolerance: tolerance.map(Span::from_micros), delete_when: None })
}

fn users(keys: &[Key]) -> TableRows {
    let rows: Vec<_> = keys.iter().map(|key| (0, *key, false)).collect();
    TableRows { delete: None, ..table(&rows, 2) }
}

fn refused(setup: LookupSetup) -> String {
    Lookup::new(setup).err().expect("a refusal").to_string()
}

fn looked_up(setup: LookupSetup, keys: &[Key]) -> Vec<(i64, Option<i64>)> {
    let (mut lookup, mut told) = (Lookup::new(setup).unwrap(), Told::default());
    lookup.on_batch(&events(text(keys), None, 0), &mut told).unwrap();
    assert_eq!(lookup.tally().rows as usize, told.0.len());
    assert_eq!(lookup.tally().inputs[0].used as usize, keys.len());
    told.0
}

const A: Key = Some("a");
const B: Key = Some("b");
const C: Key = Some("c");

#[test]
fn events_keep_their_order_and_those_without_a_row_have_nulls_or_go() {
    let keys = [B, C, A, None, B];
    let found = [(0, Some(1)), (1, None), (2, Some(0)), (3, None), (4, Some(1))];
    assert_eq!(looked_up(setup(users(&[A, B, None]), Pick::Only, LookupKind::Left), &keys), found);
    assert_eq!(
        looked_up(setup(users(&[A, B, None]), Pick::Only, LookupKind::Inner), &keys),
        [(0, Some(1)), (2, Some(0)), (4, Some(1))]
    );
    assert_eq!(looked_up(setup(users(&[]), Pick::Only, LookupKind::Left), &[A]), [(0, None)]);
    assert_eq!(looked_up(setup(users(&[]), Pick::Only, LookupKind::Inner), &[A]), []);
}

#[test]
fn of_several_rows_the_first_counts_or_all_in_the_tables_order() {
    let keys = [A, B, A, A, B];
    assert_eq!(
        looked_up(setup(users(&keys), Pick::First, LookupKind::Left), &[B, C, A]),
        [(0, Some(1)), (1, None), (2, Some(0))]
    );
    assert_eq!(
        looked_up(setup(users(&keys), Pick::All, LookupKind::Left), &[B, C, A]),
        [(0, Some(1)), (0, Some(4)), (1, None), (2, Some(0)), (2, Some(2)), (2, Some(3))]
    );
}

#[test]
fn two_rows_of_one_key_are_refused_with_both_their_places() {
    let hint = "\n  hint: --first takes the first row of a key, --all every one";
    assert_eq!(
        refused(setup(users(&[A, None, B, None, B]), Pick::Only, LookupKind::Left)),
        format!("users.csv: records 3 and 5 have the same key: r.user = b{hint}")
    );
    let mut two = users(&[A, B, A]);
    two.names.push("more.csv".into());
    two.positions[1] = Positions::Run(Position::new(1, 0));
    assert_eq!(
        refused(setup(two, Pick::Only, LookupKind::Left)),
        format!("users.csv: record 1 and more.csv: record 1 have the same key: r.user = a{hint}")
    );
    let unknown = TableRows { positions: Vec::new(), ..users(&[A, A]) };
    assert_eq!(
        refused(setup(unknown, Pick::Only, LookupKind::Left)),
        format!("users.csv: two rows have the same key: r.user = a{hint}")
    );
}

#[test]
fn rows_that_are_filtered_are_counted_and_nothing_else() {
    let (mut lookup, mut told) =
        (Lookup::new(setup(users(&[A]), Pick::Only, LookupKind::Left)).unwrap(), Told::default());
    let mut batch = events(text(&[A, A, B]), None, 0);
    batch.selected = Some(BooleanBuffer::from(vec![false, true, true]));
    lookup.on_batch(&batch, &mut told).unwrap();
    assert_eq!(told.0, [(1, Some(0)), (2, None)]);
    let ledger = &lookup.tally().inputs[0];
    assert_eq!((ledger.filtered, ledger.used, ledger.late), (1, 2, 0));
}

#[test]
fn an_event_with_very_many_rows_is_written_in_pieces() {
    let many: Vec<Key> = vec![A; ROWS + 7];
    let found = looked_up(setup(users(&many), Pick::All, LookupKind::Left), &[A, B, A]);
    assert_eq!(found.len(), 2 * (ROWS + 7) + 1);
    assert_eq!(found[ROWS + 6..ROWS + 9], [(0, Some(ROWS as i64 + 6)), (1, None), (2, Some(0))]);
}

#[test]
fn rows_that_share_keys_find_the_same() {
    let words: DictionaryArray<Int32Type> = ["a", "b", "a", "a"].into_iter().map(Some).chain([None]).collect();
    let (mut lookup, mut told) =
        (Lookup::new(setup(users(&[B, A]), Pick::Only, LookupKind::Left)).unwrap(), Told::default());
    lookup.on_batch(&events(Arc::new(words), None, 0), &mut told).unwrap();
    assert_eq!(told.0, [(0, Some(1)), (1, Some(0)), (2, Some(1)), (3, Some(1)), (4, None)]);
}

#[test]
fn a_dictionary_in_the_table_is_the_text_it_stands_for() {
    let mut table = users(&[A, B]);
    let words: DictionaryArray<Int32Type> = ["b", "c"].into_iter().collect();
    table.batches.push(rows(vec![
        Arc::clone(table.batches[0].column(0)),
        numbers(2, 2),
        Arc::new(words),
        Arc::clone(table.batches[0].column(3)),
    ]));
    assert_eq!(looked_up(setup(table, Pick::First, LookupKind::Left), &[B, C]), [(0, Some(1)), (1, Some(3))]);
}

#[test]
fn key_types_must_go_together_until_a_column_becomes_text() {
    let of = |ty| LookupSetup {
        types: vec![ty, FieldType::Int],
        ..setup(users(&[Some("1"), Some("x")]), Pick::Only, LookupKind::Left)
    };
    assert!(refused(of(FieldType::Int)).starts_with("--on: l.id is a bigint, r.user is text, which are never equal"));

    let mut table = users(&[A, B]);
    table.types[2] = FieldType::Int;
    table.first_types[2] = FieldType::Int;
    table.batches[0] = rows(vec![
        Arc::clone(table.batches[0].column(0)),
        numbers(0, 2),
        Arc::new(Int64Array::from(vec![7, 8])),
        Arc::clone(table.batches[0].column(3)),
    ]);
    let ints = LookupSetup { types: vec![FieldType::Int; 2], ..setup(table, Pick::Only, LookupKind::Left) };
    let (mut lookup, mut told) = (Lookup::new(ints).unwrap(), Told::default());
    let mut see = |lookup: &mut Lookup, keys: ArrayRef| {
        told.0.clear();
        lookup.on_batch(&events(keys, None, 0), &mut told).unwrap();
        told.0.iter().map(|row| row.1).collect::<Vec<_>>()
    };
    assert_eq!(see(&mut lookup, Arc::new(Int64Array::from(vec![8, 9]))), [Some(1), None]);
    lookup.retype(&[FieldType::Double, FieldType::Int]).unwrap();
    assert_eq!(see(&mut lookup, Arc::new(Float64Array::from(vec![7.0, 7.5]))), [Some(0), None]);
    lookup.retype(&[FieldType::Text, FieldType::Int]).unwrap();
    assert_eq!(see(&mut lookup, text(&[Some("8"), Some("x")])), [Some(1), None]);
}

#[test]
fn a_widened_column_of_the_events_shows_in_the_results() {
    let mut lookup = Lookup::new(setup(users(&[A]), Pick::Only, LookupKind::Left)).unwrap();
    lookup.retype(&[FieldType::Text, FieldType::Double]).unwrap();
    assert_eq!(lookup.schema().field(0).data_type(), &FieldType::Double.arrow());
    assert_eq!(lookup.schema().field(1).data_type(), &FieldType::Int.arrow());
}

#[test]
fn the_state_is_the_table() {
    let lookup = Lookup::new(setup(users(&[A, B, None]), Pick::Only, LookupKind::Left)).unwrap();
    let state = lookup.state();
    assert_eq!((state.rows, state.windows), (2, 0));
    assert!(state.bytes > 3 * 8 && state.bytes < 2_000, "{}", state.bytes);
}

/// What the specification says of a row of a table, one by one.
fn model(
    table: &[(i64, Key, bool)],
    direction: Direction,
    tolerance: Option<i64>,
    (ts, key): (i64, Key),
) -> Option<i64> {
    let of_key = || table.iter().enumerate().filter(|(_, row)| key.is_some() && row.1 == key);
    let before = of_key().filter(|(_, row)| row.0 <= ts).max_by_key(|(at, row)| (row.0, *at));
    let before = before.filter(|(_, row)| !row.2);
    let after = of_key().filter(|(_, row)| row.0 >= ts && !row.2).min_by_key(|(at, row)| (row.0, *at));
    let far = |found: &(usize, &(i64, Key, bool))| (found.1.0 - ts).abs();
    let found = match direction {
        Direction::Backward => before,
        Direction::Forward => after,
        Direction::Nearest => [before, after].into_iter().flatten().min_by_key(far),
    };
    found.filter(|found| tolerance.is_none_or(|most| far(found) <= most)).map(|found| found.0 as i64)
}

fn keys() -> impl Strategy<Value = Key> {
    prop_oneof![4 => Just(A), 2 => Just(B), 1 => Just(None)]
}

proptest! {
    #[test]
    fn as_of_is_as_the_specification_says_for_any_cut(
        all in proptest::collection::vec((-20..20i64, keys(), proptest::bool::weighted(0.25)), 0..30),
        asked in proptest::collection::vec((-25..25i64, keys()), 1..20),
        direction in prop_oneof![Just(Direction::Backward), Just(Direction::Forward), Just(Direction::Nearest)],
        tolerance in proptest::option::of(0..12i64),
        (keeps, ends) in (any::<bool>(), any::<bool>()),
        (table_cut, cut) in (1..12usize, 1..12usize),
    ) {
        let all: Vec<_> = all.into_iter().map(|(ts, key, end)| (ts, key, end && ends)).collect();
        let mut rows = table(&all, table_cut);
        rows.delete = rows.delete.filter(|_| ends);
        let mut lookup = Lookup::new(setup(rows, as_of(direction, tolerance), if keeps { LookupKind::Left } else { LookupKind::Inner })).unwrap();
        let mut told = Told::default();
        for (i, some) in asked.chunks(cut).enumerate() {
            let (times, keys): (Vec<i64>, Vec<Key>) = some.iter().copied().unzip();
            lookup.on_batch(&events(text(&keys), Some(&times), i * cut), &mut told).unwrap();
        }
        let want = asked.iter().enumerate().map(|(i, event)| (i as i64, model(&all, direction, tolerance, *event)));
        let want: Vec<_> = want.filter(|(_, found)| keeps || found.is_some()).collect();
        prop_assert_eq!(told.0, want);
    }
}

#[test]
fn times_are_told_by_and_the_disorder_of_events_is_seen() {
    let table = table(&[(10, A, false), (20, A, false)], 9);
    let mut lookup = Lookup::new(setup(table, as_of(Direction::Backward, None), LookupKind::Left)).unwrap();
    let mut told = Told::default();
    let keys = text(&[A, A, A]);
    lookup.on_batch(&events(keys, Some(&[25, 12, 9]), 0), &mut told).unwrap();
    assert_eq!(told.0, [(0, Some(1)), (1, Some(0)), (2, None)]);
    assert_eq!((lookup.tally().rows, lookup.tally().disorder), (3, Ts::from_micros(25).since(Ts::from_micros(9))));
}
