//! How far a run is: counters that the loop feeds and a bar that a terminal shows.
//!
//! Must not know files or windows. A run shorter than half a second shows nothing, and one without a terminal does
//! not even start a thread.

use super::human::{byte_rate, bytes, count, counted, instant, seconds};
use super::reporter::print;
use crate::time::{Ts, Zone};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Before this nothing is shown.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often the bar is drawn.
const TICK: Duration = Duration::from_millis(200);
/// When a pipe without a delay gets its one hint (SPEC section 1.4).
const HINT_AFTER: Duration = Duration::from_secs(10);

/// Counters shared by the threads of a run. All are monotonic enough for a bar; none decides anything.
#[derive(Debug)]
pub struct Progress {
    /// Bytes read so far, before decompression.
    pub bytes: AtomicU64,
    /// Bytes of all inputs; 0 while unknown (a pipe).
    pub total_bytes: AtomicU64,
    /// Records read so far.
    pub records: AtomicU64,
    /// The job's watermark in microseconds since the epoch; `i64::MIN` while there is none.
    pub watermark: AtomicI64,
    /// Windows or sessions open.
    pub open: AtomicU64,
    /// Records that were late.
    pub late: AtomicU64,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            bytes: AtomicU64::new(0),
            total_bytes: AtomicU64::new(0),
            records: AtomicU64::new(0),
            watermark: AtomicI64::new(i64::MIN),
            open: AtomicU64::new(0),
            late: AtomicU64::new(0),
        }
    }
}

impl Progress {
    /// The bar, where the total is known, and what it says beside itself.
    fn line(&self, elapsed: Duration, window: &str, zone: &Zone) -> String {
        let (read, total) = (self.bytes.load(Relaxed), self.total_bytes.load(Relaxed));
        let time = elapsed.as_secs_f64();
        let size = match total {
            0 => format!("{}, {}", bytes(read), counted(self.records.load(Relaxed), "record")),
            _ => format!("{} {} of {}", gauge(read, total), bytes(read), bytes(total)),
        };
        let mut parts = vec![size, byte_rate(read, time)];
        parts.extend(left(read, total, time).map(|left| format!("{} left", seconds(left))));
        parts.extend(self.instant().map(|ts| format!("watermark {}", instant(ts, zone))));
        parts.extend(some(&self.open).map(|n| format!("{} open", counted(n, window))));
        parts.extend(some(&self.late).map(|n| format!("{} late", count(n))));
        parts.join(", ")
    }

    /// The watermark to the second, for the eye.
    fn instant(&self) -> Option<Ts> {
        let micros = self.watermark.load(Relaxed);
        (micros != i64::MIN && micros != i64::MAX).then(|| Ts::from_micros(micros - micros.rem_euclid(1_000_000)))
    }
}

fn some(counter: &AtomicU64) -> Option<u64> {
    Some(counter.load(Relaxed)).filter(|n| *n > 0)
}

/// Whole seconds until the end, at the speed so far.
fn left(read: u64, total: u64, seconds: f64) -> Option<f64> {
    let share = read as f64 / total as f64;
    (total > 0 && read > 0 && read <= total).then(|| (seconds / share - seconds).ceil())
}

/// The bar of a run, on a thread of its own; dropped, it is cleared from the screen.
#[derive(Default)]
pub struct Watch {
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Watch {
    /// Shows nothing: no terminal, or told to be quiet.
    pub(super) fn none() -> Self {
        Self::default()
    }

    /// Watches `progress` on the terminal; without a bar where rows go to the same terminal, as they would write over
    /// each other. `hint` is printed once if a pipe is still running after 10 s.
    pub(super) fn start(
        progress: Arc<Progress>,
        window: &'static str,
        zone: Zone,
        hint: Option<String>,
        has_bar: bool,
    ) -> Self {
        let (stop, stopped) = channel();
        let started = Instant::now();
        let thread = std::thread::Builder::new().spawn(move || {
            let mut screen = Screen { progress, started, window, zone, has_bar, bar: None, hint };
            let mut wait = PATIENCE;
            while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                screen.draw();
                wait = TICK;
            }
            screen.clear();
        });
        // Without a thread to spare there is no bar.
        Self { running: thread.ok().map(|thread| (stop, thread)) }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.running.take() {
            drop(stop);
            // A panic while drawing has been printed already; the run's result does not depend on it.
            drop(thread.join());
        }
    }
}

struct Screen {
    progress: Arc<Progress>,
    started: Instant,
    window: &'static str,
    zone: Zone,
    has_bar: bool,
    bar: Option<ProgressBar>,
    hint: Option<String>,
}

impl Screen {
    fn draw(&mut self) {
        if self.has_bar {
            let line = self.progress.line(self.started.elapsed(), self.window, &self.zone);
            // One call: each setter of the bar draws it anew.
            self.bar.get_or_insert_with(new_bar).set_message(line);
        }
        if self.progress.total_bytes.load(Relaxed) == 0
            && self.started.elapsed() >= HINT_AFTER
            && let Some(hint) = self.hint.take()
        {
            match &self.bar {
                Some(bar) => bar.println(hint),
                None => print(&format!("{hint}\n")),
            }
        }
    }

    fn clear(&self) {
        self.bar.iter().for_each(ProgressBar::finish_and_clear);
    }
}

/// A line that is cut at the terminal's width.
fn new_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{wide_msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
    ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style)
}

/// `[=====>    ]`: how much of the bytes is read.
fn gauge(read: u64, total: u64) -> String {
    const WIDTH: usize = 20;
    let done = ((read as f64 / total.max(1) as f64).min(1.0) * WIDTH as f64) as usize;
    let head = if done < WIDTH { ">" } else { "" };
    format!("[{:WIDTH$}]", "=".repeat(done) + head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_has_what_is_known() {
        let progress = Progress::default();
        progress.bytes.store(1_000_000_000, Relaxed);
        progress.records.store(3_400_000, Relaxed);
        let line = |p: &Progress| p.line(Duration::from_secs(2), "window", &Zone::UTC);
        assert_eq!(line(&progress), "1.0 GB, 3,400,000 records, 500 MB/s");
        progress.total_bytes.store(3_000_000_000, Relaxed);
        progress.watermark.store(1_767_225_600_500_000, Relaxed);
        progress.open.store(1, Relaxed);
        progress.late.store(1_204, Relaxed);
        assert_eq!(
            line(&progress),
            "[======>             ] 1.0 GB of 3.0 GB, 500 MB/s, 4s left, watermark 2026-01-01T00:00:00Z, 1 window open, 1,204 late"
        );
    }

    #[test]
    fn the_gauge_is_as_wide_at_every_share() {
        assert_eq!(gauge(0, 10), "[>                   ]");
        assert_eq!(gauge(10, 10), "[====================]");
        assert_eq!(gauge(11, 10), gauge(10, 10));
    }

    #[test]
    fn a_short_run_ends_at_once() {
        let started = Instant::now();
        drop(Watch::start(Arc::default(), "window", Zone::UTC, None, true));
        assert!(started.elapsed() < PATIENCE);
    }
}
