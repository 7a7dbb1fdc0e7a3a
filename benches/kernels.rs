//! Criterion kernels: the pieces that every record goes through, each by itself.
//!
//! Run `cargo bench`, or one of them: `cargo bench -- jsonl/decode`. Inputs are made here, so that figures of two
//! machines are figures of the same work.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::sync::Arc;
use windrow::format::{self, EncodeOptions, Read, TextDecoder, TextOptions};
use windrow::schema::{Column, FieldPath, FieldType, Layout, Role, Wanted};
use windrow::time::{TimeFormat, TimeReader, Zone};

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

criterion_group!(kernels, jsonl);
criterion_main!(kernels);
