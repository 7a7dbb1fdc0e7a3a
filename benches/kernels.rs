//! Criterion kernels: the pieces that every record goes through, each by itself.
//!
//! Run `cargo bench`, or one of them: `cargo bench -- jsonl/decode`. Inputs are made here, so that figures of two
//! machines are figures of the same work.

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::sync::Arc;
use windrow::error::Result;
use windrow::event::{EventBatch, Marks, Position, Positions, Side, Times, TwoSided, Watermark};
use windrow::format::{self, EncodeOptions, Read, TextDecoder, TextOptions};
use windrow::operator::{Emit, Equality, Join, JoinSetup, JoinSide, Late, Pair, PairField};
use windrow::pairing::{self, Bounds, JoinWatermark, Within};
use windrow::schema::{Column, FieldPath, FieldType, Layout, Role, Wanted};
use windrow::time::{Span, TimeFormat, TimeReader, Ts, Zone};

/// Bytes of one chunk, as the input hands them over.
const CHUNK: usize = 1 << 20;

/// Click events of about 290 bytes and eight fields, as many as fill a chunk.
fn events() -> Vec<u8> {
    let mut text = String::with_capacity(CHUNK + 400);
    let mut random = 1_u64;
    while text.len() < CHUNK {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (user, page, millis) = (random >> 40, random >> 54, random >> 30 & 0xFFFF);
        text.push_str(&format!(
            "{{\"event_time\":\"2026-03-01T00:{:02}:{:02}.{:03}Z\",\"user_id\":\"u{user:08}\",\"page_id\":\"page-{page:04}\",\
             \"event_type\":\"page_view\",\"amount\":{}.{:02},\"status\":200,\
             \"trace_id\":\"{random:016x}-4516-40be-836d-ed897f3e46e6\",\
             \"user_agent\":\"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) \
             Chrome/100.0.0.0 Safari/537.36\"}}\n",
            millis >> 10 & 31, millis >> 5 & 31, millis & 511, page & 63, millis % 100,
        ));
    }
    text.into_bytes()
}

fn column(name: &str, role: Role, ty: FieldType) -> Column {
    Column { path: FieldPath::new(vec![name.to_owned()]), role, ty, declared: false }
}

fn layout() -> Layout {
    let columns = vec![
        column("event_time", Role::Time, FieldType::Time),
        column("page_id", Role::Key, FieldType::Text),
        column("amount", Role::Number, FieldType::Double),
    ];
    Layout {
        columns,
        time: Some(0),
        time_reader: TimeReader::new(TimeFormat::Auto, Zone::UTC),
        keep_raw: false,
        names_all: false,
    }
}

#[expect(clippy::expect_used, reason = "a kernel that cannot start is to say so")]
fn decoder(name: &str, head: &[u8]) -> Box<dyn TextDecoder> {
    let options = TextOptions { delimiter: None, header: true, nulls: Vec::new() };
    match format::find(name).map(|kind| kind.read) {
        Some(Read::Text(open)) => open(head, false, &options).expect("the head is of this format"),
        _ => panic!("{name} is no text format"),
    }
}

fn jsonl(c: &mut Criterion) {
    let chunk = Arc::new(events());
    let layout = layout();
    let decoder = decoder("jsonl", &chunk);
    let mut group = c.benchmark_group("jsonl");
    group.throughput(Throughput::Bytes(chunk.len() as u64));
    group.bench_function("decode", |b| b.iter(|| decoder.decode(Arc::clone(black_box(&chunk)), &layout)));
    let wanted: Vec<Wanted> = layout.columns.iter().map(wanted).collect();
    group.bench_function("sample", |b| {
        b.iter(|| decoder.sample(black_box(&chunk), false, &wanted, &layout.time_reader))
    });
    let decoded = decoder.decode(Arc::clone(&chunk), &layout);
    group.throughput(Throughput::Elements(decoded.records));
    group.bench_function("encode", |b| b.iter(|| encode("jsonl", black_box(&decoded))));
    group.finish();
}

fn wanted(column: &Column) -> Wanted {
    Wanted { path: column.path.clone(), role: column.role, declared: None }
}

#[expect(clippy::expect_used, reason = "a kernel that cannot start is to say so")]
fn encode(name: &str, decoded: &format::Decoded) -> Vec<u8> {
    let options = EncodeOptions { zone: Zone::UTC, width: None };
    let rows = &decoded.batches[0].columns;
    let make = format::find(name).and_then(|kind| kind.write).expect("an output format");
    let mut out = Vec::new();
    make(&rows.schema(), &options).and_then(|mut encoder| encoder.write(rows, &mut out)).expect("every type is known");
    out
}

/// Rows of one side of a batch: (microsecond, id); its mark follows them 10 s behind.
fn side(rows: &[(i64, u64)], greatest: &mut i64) -> EventBatch {
    let mark = |greatest: i64| Watermark::after(Ts::from_micros(greatest), Span::from_secs(10));
    let times: Vec<i64> = rows.iter().map(|row| row.0).collect();
    let mut marks = Vec::with_capacity(rows.len());
    for &time in &times {
        marks.push(mark(*greatest));
        *greatest = time.max(*greatest);
    }
    let ids: StringArray = rows.iter().map(|(_, id)| Some(format!("imp-{id:09}"))).collect();
    let columns: [(&str, ArrayRef); 3] = [
        ("time", Arc::new(TimestampMicrosecondArray::from(times.clone()).with_timezone("UTC"))),
        ("id", Arc::new(ids)),
        ("n", Arc::new(rows.iter().map(|(time, _)| Some(time % 100)).collect::<Int64Array>())),
    ];
    EventBatch {
        rows: columns_of(columns),
        times: Times::new(times.into()),
        marks: Marks::single(marks),
        last_mark: mark(*greatest),
        positions: Positions::Run(Position::new(0, 0)),
        selected: None,
    }
}

#[expect(clippy::expect_used, reason = "a kernel that cannot start is to say so")]
fn columns_of(columns: [(&str, ArrayRef); 3]) -> RecordBatch {
    RecordBatch::try_from_iter(columns).expect("columns are of one length")
}

/// A million impressions, 23 a second, and half as many clicks up to half an hour behind theirs, in order of time.
fn impressions_and_clicks() -> Vec<TwoSided> {
    let mut all: Vec<(i64, u64, Side)> = Vec::new();
    let mut random = 1_u64;
    for id in 0..1_000_000_u64 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let time = id as i64 * 43_000;
        all.push((time, id, Side::Left));
        if random >> 63 == 1 {
            all.push((time + (random >> 24) as i64 % 2_000_000_000, id, Side::Right));
        }
    }
    all.sort_unstable_by_key(|row| (row.0, row.1));
    let mut greatest = [i64::MIN; 2];
    let batch = |rows: &[(i64, u64, Side)]| {
        let of = |side: Side| rows.iter().filter(|row| row.2 == side).map(|row| (row.0, row.1)).collect::<Vec<_>>();
        let runs = rows.chunk_by(|a, b| a.2 == b.2).map(|run| (run[0].2, run.len() as u32)).collect();
        let sides = Side::BOTH.map(|at| side(&of(at), &mut greatest[at.index()]));
        TwoSided { sides, runs }
    };
    all.chunks(8_192).map(batch).collect()
}

#[expect(clippy::expect_used, reason = "a kernel that cannot start is to say so")]
fn join_of(how: &str) -> Join {
    let field = |name: &str| PairField { path: FieldPath::new(vec![name.to_owned()]), shown: Some(name.to_owned()) };
    let side = || JoinSide { types: vec![FieldType::Time, FieldType::Text, FieldType::Int], payload: vec![0, 1, 2] };
    let fields = || vec![field("time"), field("id"), field("n")];
    let setup = JoinSetup {
        kind: pairing::find(how).expect("a kind of join"),
        bounds: Bounds::Within(Within::new(Span::ZERO, Span::from_secs(1_800))),
        watermark: JoinWatermark::Own,
        sides: [side(), side()],
        on: vec![Equality { names: ["l.id".to_owned(), "r.id".to_owned()], columns: [1, 1] }],
        pair: Pair { fields: [fields(), fields()], condition: None, select: None, windows: false, zone: Zone::UTC },
    };
    Join::new(setup).expect("the keys are of one type")
}

/// Counts what comes out.
#[derive(Default)]
struct Counted(usize);

impl Emit for Counted {
    fn rows(&mut self, rows: RecordBatch) -> Result<()> {
        self.0 += rows.num_rows();
        Ok(())
    }

    fn late(&mut self, _: Late) -> Result<()> {
        Ok(())
    }
}

#[expect(clippy::expect_used, reason = "a kernel that fails is to say so")]
fn joined(how: &str, batches: &[TwoSided]) -> usize {
    let (mut join, mut out) = (join_of(how), Counted::default());
    batches.iter().for_each(|batch| join.on_batch(batch, &mut out).expect("rows join"));
    Side::BOTH.iter().for_each(|&side| join.on_watermark(side, Watermark::END, &mut out).expect("rows are let go"));
    out.0
}

fn join(c: &mut Criterion) {
    let batches = impressions_and_clicks();
    let rows: usize = batches.iter().flat_map(|batch| &batch.sides).map(|side| side.times.len()).sum();
    let mut group = c.benchmark_group("join");
    group.throughput(Throughput::Elements(rows as u64)).sample_size(10);
    for how in ["inner", "full", "semi"] {
        group.bench_function(how, |b| b.iter(|| joined(how, black_box(&batches))));
    }
    group.finish();
}

criterion_group!(kernels, jsonl, join);
criterion_main!(kernels);
