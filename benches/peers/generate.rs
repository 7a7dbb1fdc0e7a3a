//! Makes click events for the comparison: the same rows, seed and platform's `ln` give the same bytes.
//!
//! `rustc -O generate.rs`, then `generate ROWS PREFIX [SEED]` writes PREFIX.jsonl and PREFIX.csv. No dependencies.
//! Arrival i is at START + 60 s + i * 8.64 ms, so 10 million rows are 24 hours and 1 million the first 2.4 of them.
//! An event happened some delay before it arrived: 99.2 % within 5 s (exponential, mean 0.9 s), the rest up to 60 s.
//! Users and pages are zipf. The order in which random numbers are drawn is part of the format: keep it.

#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

/// 2026-03-01T00:00:00Z, in milliseconds since 1970.
const START: i64 = 1_772_323_200_000;
const USERS: u64 = 100_000;
const PAGES: u64 = 1000;
const SLOT_MS: u64 = 45 * 60_000;
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
    let Some((rows, prefix, seed)) = arguments(&args) else {
        eprintln!("usage: generate ROWS PREFIX [SEED]");
        return ExitCode::from(2);
    };
    match write_events(rows, prefix, seed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("generate: {prefix}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn arguments(args: &[String]) -> Option<(u64, &str, u64)> {
    match args {
        [rows, prefix] => Some((rows.parse().ok()?, prefix, 42)),
        [rows, prefix, seed] => Some((rows.parse().ok()?, prefix, seed.parse().ok()?)),
        _ => None,
    }
}

fn write_events(rows: u64, prefix: &str, seed: u64) -> io::Result<()> {
    let mut jsonl = BufWriter::with_capacity(1 << 20, File::create(format!("{prefix}.jsonl"))?);
    let mut csv = BufWriter::with_capacity(1 << 20, File::create(format!("{prefix}.csv"))?);
    csv.write_all(b"event_time,user_id,page_id,event_type,amount,status,trace_id,user_agent\n")?;
    let world = World::new();
    let mut rng = Rng(seed);
    for i in 0..rows {
        let event = world.event(i, &mut rng);
        event.write_jsonl(&mut jsonl)?;
        event.write_csv(&mut csv)?;
    }
    jsonl.flush()?;
    csv.flush()
}

struct Event<'a> {
    time: String,
    user: u64,
    page: u64,
    kind: &'static str,
    cents: u64,
    status: u16,
    trace: String,
    agent: &'a str,
}

impl Event<'_> {
    fn write_jsonl(&self, out: &mut impl Write) -> io::Result<()> {
        let Event { time, user, page, kind, cents, status, trace, agent } = self;
        let (whole, hundredths) = (cents / 100, cents % 100);
        write!(out, r#"{{"event_time":"{time}","user_id":"u{user:06}","page_id":"page-{page:04}","#)?;
        write!(out, r#""event_type":"{kind}","amount":{whole}.{hundredths:02},"status":{status},"#)?;
        writeln!(out, r#""trace_id":"{trace}","user_agent":"{agent}"}}"#)
    }

    fn write_csv(&self, out: &mut impl Write) -> io::Result<()> {
        let Event { time, user, page, kind, cents, status, trace, agent } = self;
        let (whole, hundredths) = (cents / 100, cents % 100);
        write!(out, "{time},u{user:06},page-{page:04},{kind},{whole}.{hundredths:02},{status},{trace},\"{agent}\"\n")
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
        let arrival = START + 60_000 + (i as i64 * 864) / 100;
        let time = timestamp(arrival - delay_ms(rng));
        let user = self.user(arrival as u64 / SLOT_MS, rng);
        let page = self.pages.draw(rng) as u64;
        Event {
            time,
            // Scattered, so that the order of the ids is not the order of their frequency.
            user: (user * 7919 + 13) % USERS,
            page: (page * 367 + 5) % PAGES,
            kind: EVENT_TYPES[self.kinds.draw(rng)],
            status: STATUSES[self.statuses.draw(rng)],
            cents: (exponential(rng) * 2500.0) as u64 + 1,
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
        if rng.unit() < self.keep[i] { i } else { self.other[i] }
    }
}

/// RFC 3339 in UTC with milliseconds.
fn timestamp(ms: i64) -> String {
    let (year, month, day) = civil(ms.div_euclid(86_400_000));
    let ms = ms.rem_euclid(86_400_000);
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
