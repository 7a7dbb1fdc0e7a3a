//! Makes events for the comparison: the same rows, seed and platform's `ln` give the same bytes.
//!
//! `rustc -O generate.rs`, then one of the kinds of `USAGE`; each PREFIX becomes PREFIX.jsonl and PREFIX.csv. No
//! dependencies. Arrival i of events is at START + 60 s + i * 8.64 ms, so 10 million rows are 24 hours and 1 million the
//! first 2.4 of them; impressions fill 24 hours whatever their number. An event happened some delay before it arrived:
//! 99.2 % within 5 s (exponential, mean 0.9 s), the rest up to 60 s. Users and pages are zipf. Deliveries are the events,
//! 5 % of which arrive once more within 10 minutes, as they were. The order in which random numbers are drawn is part of
//! the format: keep it.

#![forbid(unsafe_code)]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

/// 2026-03-01T00:00:00Z, in milliseconds since 1970.
const START: i64 = 1_772_323_200_000;
const USERS: u64 = 100_000;
const PAGES: u64 = 1000;
const SLOT_MS: u64 = 45 * 60_000;
const DAY_MS: i64 = 86_400_000;
/// How long after an impression its click still counts.
const CLICK_WITHIN_MS: i64 = 30 * 60_000;
const REDELIVERED: f64 = 0.05;
const REDELIVERED_WITHIN_MS: u64 = 10 * 60_000;
const EVENT_HEADER: &str = "event_time,user_id,page_id,event_type,amount,status,trace_id,user_agent";
const NARROW_HEADER: &str = "event_time,trace_id,amount";
const USAGE: &str = "usage: generate events ROWS PREFIX [SEED]
       generate deliveries ROWS PREFIX [SEED]
       generate narrow ROWS PREFIX [SEED]
       generate join IMPRESSIONS CLICKS IMPRESSIONS_PREFIX CLICKS_PREFIX [SEED]";
const EVENT_TYPES: [&str; 5] = ["page_view", "click", "add_to_cart", "purchase", "error"];
const STATUSES: [u16; 5] = [200, 301, 404, 500, 503];
const PLATFORMS: [&str; 5] = [
    "Windows NT 10.0; Win64; x64",
    "Macintosh; Intel Mac OS X 10_15_7",
    "X11; Linux x86_64",
    "iPhone; CPU iPhone OS 17_5 like Mac OS X",
    "Linux; Android 14; Pixel 8",
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match run(&args) {
        Some(Ok(())) => ExitCode::SUCCESS,
        Some(Err(error)) => {
            eprintln!("generate: {}: {error}", args.join(" "));
            ExitCode::FAILURE
        }
        None => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// None if the arguments make no sense.
fn run(args: &[&str]) -> Option<io::Result<()>> {
    let number = |text: &str| text.parse::<u64>().ok();
    let seed = |rest: &[&str], default| match rest {
        [] => Some(default),
        [seed] => number(seed),
        _ => None,
    };
    Some(match args {
        ["events", rows, prefix, rest @ ..] => write_events(number(rows)?, prefix, seed(rest, 42)?),
        ["deliveries", rows, prefix, rest @ ..] => {
            let files = || Files::create(prefix, EVENT_HEADER);
            write_deliveries(number(rows)?, files, |event, out| event.write(out), seed(rest, 42)?)
        }
        ["narrow", rows, prefix, rest @ ..] => {
            let files = || Files::create(prefix, NARROW_HEADER);
            write_deliveries(number(rows)?, files, |event, out| event.write_narrow(out), seed(rest, 42)?)
        }
        ["join", impressions, clicks, left, right, rest @ ..] => {
            let seed = seed(rest, 43)?;
            write_join([number(impressions)?, number(clicks)?], [left, right], seed)
        }
        _ => return None,
    })
}

/// The two files of one set of records.
struct Files {
    jsonl: BufWriter<File>,
    csv: BufWriter<File>,
}

impl Files {
    fn create(prefix: &str, header: &str) -> io::Result<Self> {
        let file =
            |ending| Ok::<_, io::Error>(BufWriter::with_capacity(1 << 20, File::create(format!("{prefix}.{ending}"))?));
        let mut files = Files { jsonl: file("jsonl")?, csv: file("csv")? };
        writeln!(files.csv, "{header}")?;
        Ok(files)
    }

    fn finish(mut self) -> io::Result<()> {
        self.jsonl.flush()?;
        self.csv.flush()
    }
}

fn write_events(rows: u64, prefix: &str, seed: u64) -> io::Result<()> {
    let mut files = Files::create(prefix, EVENT_HEADER)?;
    let world = World::new();
    let mut rng = Rng(seed);
    for i in 0..rows {
        world.event(i, &mut rng).write(&mut files)?;
    }
    files.finish()
}

/// The events of the same seed, some of them twice; `write` chooses the columns.
fn write_deliveries(
    rows: u64,
    files: impl FnOnce() -> io::Result<Files>,
    write: impl Fn(&Event, &mut Files) -> io::Result<()>,
    seed: u64,
) -> io::Result<()> {
    let mut files = files()?;
    let world = World::new();
    // Draws of its own, so that the first deliveries are the bytes of `events`.
    let (mut rng, mut again) = (Rng(seed), Rng(mix(seed)));
    // Arrival, number, and the state of the generator that makes the event once more.
    let mut waiting: BinaryHeap<Reverse<(i64, u64, u64)>> = BinaryHeap::new();
    for i in 0..rows {
        while let Some(Reverse((_, i, state))) = pop_arrived(&mut waiting, arrival_ms(i)) {
            write(&world.event(i, &mut Rng(state)), &mut files)?;
        }
        let state = rng.0;
        write(&world.event(i, &mut rng), &mut files)?;
        if again.unit() < REDELIVERED {
            let arrival = arrival_ms(i) + 1 + again.below(REDELIVERED_WITHIN_MS) as i64;
            waiting.push(Reverse((arrival, i, state)));
        }
    }
    while let Some(Reverse((_, i, state))) = waiting.pop() {
        write(&world.event(i, &mut Rng(state)), &mut files)?;
    }
    files.finish()
}

/// The next of those that wait, if it is there at `now`.
fn pop_arrived(waiting: &mut BinaryHeap<Reverse<(i64, u64, u64)>>, now: i64) -> Option<Reverse<(i64, u64, u64)>> {
    let arrived = waiting.peek().is_some_and(|Reverse((arrival, ..))| *arrival <= now);
    if arrived {
        waiting.pop()
    } else {
        None
    }
}

fn write_join([impressions, clicks]: [u64; 2], [left, right]: [&str; 2], seed: u64) -> io::Result<()> {
    let mut rng = Rng(seed);
    let shown = write_impressions(impressions, left, seed, &mut rng)?;
    write_clicks(clicks, right, seed, &shown, &mut rng)
}

/// The times of the impressions, in the order in which they arrive.
fn write_impressions(rows: u64, prefix: &str, seed: u64, rng: &mut Rng) -> io::Result<Vec<i64>> {
    let mut files = Files::create(prefix, "imp_id,imp_time,user_id,page_id,campaign,price")?;
    let (users, pages) = (Alias::zipf(USERS as usize, 0.8), Alias::zipf(PAGES as usize, 0.9));
    let step = DAY_MS as f64 / rows as f64;
    let mut shown = Vec::new();
    for i in 0..rows {
        let at = START + 60_000 + (i as f64 * step) as i64 - delay_ms(rng);
        shown.push(at);
        let (id, time) = (impression_id(i, seed), timestamp(at));
        let (user, page) = (scattered_user(users.draw(rng) as u64), scattered_page(pages.draw(rng) as u64));
        let (campaign, price) = (rng.below(50), Money(rng.below(500)));
        write!(
            files.jsonl,
            r#"{{"imp_id":"{id}","imp_time":"{time}","user_id":"u{user:06}","page_id":"page-{page:04}","#
        )?;
        writeln!(files.jsonl, r#""campaign":"camp-{campaign:02}","price":{price}}}"#)?;
        writeln!(files.csv, "{id},{time},u{user:06},page-{page:04},camp-{campaign:02},{price}")?;
    }
    files.finish()?;
    Ok(shown)
}

/// 90 % of the clicks within half an hour of their impression, 5 % up to two hours, 5 % of an impression not there.
fn write_clicks(rows: u64, prefix: &str, seed: u64, shown: &[i64], rng: &mut Rng) -> io::Result<()> {
    let mut files = Files::create(prefix, "click_id,imp_id,click_time,amount")?;
    let mut clicks: Vec<(i64, i64, u64)> = (0..rows).map(|k| click(k, shown, rng)).collect();
    clicks.sort_unstable();
    for (_, at, impression) in clicks {
        let (impression, time) = (impression_id(impression, seed), timestamp(at));
        let (id, amount) = (uuid(rng.next(), rng.next()), Money(rng.below(10_000)));
        write!(files.jsonl, r#"{{"click_id":"{id}","imp_id":"{impression}","click_time":"{time}","#)?;
        writeln!(files.jsonl, r#""amount":{amount}}}"#)?;
        writeln!(files.csv, "{id},{impression},{time},{amount}")?;
    }
    files.finish()
}

/// When a click arrives, when it happened, and the number of its impression.
fn click(k: u64, shown: &[i64], rng: &mut Rng) -> (i64, i64, u64) {
    let kind = rng.unit();
    let i = rng.below(shown.len() as u64);
    let after = if (0.90..0.95).contains(&kind) {
        CLICK_WITHIN_MS + 1 + rng.below(5_400_000) as i64
    } else {
        loop {
            let after = (240_000.0 * exponential(rng)) as i64;
            if after <= CLICK_WITHIN_MS {
                break after;
            }
        }
    };
    let at = shown[i as usize] + after;
    let impression = if kind < 0.95 { i } else { u64::MAX - 1 - k };
    (at + delay_ms(rng), at, impression)
}

fn impression_id(i: u64, seed: u64) -> String {
    uuid(mix(i ^ (seed << 40)), mix(!i ^ (seed << 40)))
}

/// Scattered, so that the order of the ids is not the order of their frequency.
fn scattered_user(rank: u64) -> u64 {
    (rank * 7919 + 13) % USERS
}

fn scattered_page(rank: u64) -> u64 {
    (rank * 367 + 5) % PAGES
}

fn arrival_ms(i: u64) -> i64 {
    START + 60_000 + (i as i64 * 864) / 100
}

/// Hundredths, written with a point.
struct Money(u64);

impl std::fmt::Display for Money {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:02}", self.0 / 100, self.0 % 100)
    }
}

struct Event<'a> {
    time: String,
    user: u64,
    page: u64,
    kind: &'static str,
    amount: Money,
    status: u16,
    trace: String,
    agent: &'a str,
}

impl Event<'_> {
    fn write(&self, files: &mut Files) -> io::Result<()> {
        let Event { time, user, page, kind, amount, status, trace, agent } = self;
        write!(files.jsonl, r#"{{"event_time":"{time}","user_id":"u{user:06}","page_id":"page-{page:04}","#)?;
        write!(files.jsonl, r#""event_type":"{kind}","amount":{amount},"status":{status},"#)?;
        writeln!(files.jsonl, r#""trace_id":"{trace}","user_agent":"{agent}"}}"#)?;
        writeln!(files.csv, "{time},u{user:06},page-{page:04},{kind},{amount},{status},{trace},\"{agent}\"")
    }

    fn write_narrow(&self, files: &mut Files) -> io::Result<()> {
        let Event { time, trace, amount, .. } = self;
        writeln!(files.jsonl, r#"{{"event_time":"{time}","trace_id":"{trace}","amount":{amount}}}"#)?;
        writeln!(files.csv, "{time},{trace},{amount}")
    }
}

/// What events are drawn from.
struct World {
    users: Alias,
    pages: Alias,
    kinds: Alias,
    statuses: Alias,
    agents: Vec<String>,
    agent: Alias,
}

impl World {
    fn new() -> Self {
        let agents = user_agents();
        World {
            users: Alias::zipf(USERS as usize, 0.8),
            pages: Alias::zipf(PAGES as usize, 0.9),
            kinds: Alias::new(&[70.0, 20.0, 6.0, 3.0, 1.0]),
            statuses: Alias::new(&[94.0, 2.0, 2.5, 1.0, 0.5]),
            agent: Alias::zipf(agents.len(), 1.0),
            agents,
        }
    }

    fn event(&self, i: u64, rng: &mut Rng) -> Event<'_> {
        let arrival = arrival_ms(i);
        let time = timestamp(arrival - delay_ms(rng));
        let user = self.user(arrival as u64 / SLOT_MS, rng);
        let page = self.pages.draw(rng) as u64;
        Event {
            time,
            user: scattered_user(user),
            page: scattered_page(page),
            kind: EVENT_TYPES[self.kinds.draw(rng)],
            status: STATUSES[self.statuses.draw(rng)],
            amount: Money((exponential(rng) * 2500.0) as u64 + 1),
            trace: uuid(rng.next(), rng.next()),
            agent: &self.agents[self.agent.draw(rng)],
        }
    }

    /// A user is active in about one third of its slots of 45 minutes, so that its visits have ends.
    fn user(&self, slot: u64, rng: &mut Rng) -> u64 {
        let mut user = self.users.draw(rng) as u64;
        for _ in 0..6 {
            if mix((user << 32) ^ slot) % 3 == 0 {
                break;
            }
            user = self.users.draw(rng) as u64;
        }
        user
    }
}

fn user_agents() -> Vec<String> {
    let of_platform = |(i, platform): (usize, &&str)| {
        let engine = "AppleWebKit/537.36 (KHTML, like Gecko)";
        let safari = 36 + i;
        let agent = |v| format!("Mozilla/5.0 ({platform}) {engine} Chrome/{v}.0.0.0 Safari/537.{safari}");
        (100..140).map(agent).collect::<Vec<_>>()
    };
    PLATFORMS.iter().enumerate().flat_map(of_platform).collect()
}

/// splitmix64.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From 0 to below 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }
}

fn mix(seed: u64) -> u64 {
    Rng(seed).next()
}

/// Exponential with mean 1.
fn exponential(rng: &mut Rng) -> f64 {
    -(1.0 - rng.unit()).ln()
}

fn delay_ms(rng: &mut Rng) -> i64 {
    if rng.unit() >= 0.992 {
        let u = rng.unit();
        return (5000.0 + 54_990.0 * u * u) as i64;
    }
    loop {
        let delay = 900.0 * exponential(rng);
        if delay < 5000.0 {
            return delay as i64;
        }
    }
}

/// Draws an index by weight in constant time: Walker's alias method.
struct Alias {
    keep: Vec<f64>,
    other: Vec<usize>,
}

impl Alias {
    fn new(weights: &[f64]) -> Self {
        let n = weights.len();
        let sum: f64 = weights.iter().sum();
        let mut share: Vec<f64> = weights.iter().map(|w| w * n as f64 / sum).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| share[i] < 1.0);
        let mut alias = Alias { keep: vec![1.0; n], other: (0..n).collect() };
        while let (Some(poor), Some(&rich)) = (small.pop(), large.last()) {
            alias.keep[poor] = share[poor];
            alias.other[poor] = rich;
            share[rich] -= 1.0 - share[poor];
            if share[rich] < 1.0 {
                large.pop();
                small.push(rich);
            }
        }
        alias
    }

    fn zipf(n: usize, exponent: f64) -> Self {
        Self::new(&(1..=n).map(|rank| (rank as f64).powf(-exponent)).collect::<Vec<_>>())
    }

    fn draw(&self, rng: &mut Rng) -> usize {
        let i = rng.below(self.keep.len() as u64) as usize;
        if rng.unit() < self.keep[i] {
            i
        } else {
            self.other[i]
        }
    }
}

/// RFC 3339 in UTC with milliseconds.
fn timestamp(ms: i64) -> String {
    let (year, month, day) = civil(ms.div_euclid(DAY_MS));
    let ms = ms.rem_euclid(DAY_MS);
    let (hour, minute, second, ms) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60, ms % 1000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// Days since 1970 to year, month and day, by eras of 400 years that start in March.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// A version 4 UUID of these bits.
fn uuid(high: u64, low: u64) -> String {
    let high = (high & !0xf000) | 0x4000;
    let low = (low & !(3 << 62)) | (2 << 62);
    let (a, b, c) = (high >> 32, (high >> 16) & 0xffff, high & 0xffff);
    format!("{a:08x}-{b:04x}-{c:04x}-{:04x}-{:012x}", low >> 48, low & 0xffff_ffff_ffff)
}
