//! Whole tables and wall-clock triggers as they reach the outputs: files that are replaced, pipes that go on.

use crate::helpers::{self, Ran};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const COUNTS: [&str; 6] = ["window", "-t=t", "--time-format=unix-s", "--tumbling=10s", "--mode=complete", "--by=k"];

fn records(n: usize) -> String {
    (0..n).map(|i| format!("{{\"t\":{},\"k\":\"{}\"}}\n", i / 2, i % 2)).collect()
}

fn run(folder: &Path, args: &[&str], input: &str) -> Ran {
    fs::write(folder.join("in.jsonl"), input).unwrap();
    let mut command = helpers::windrow();
    command.current_dir(folder).args(COUNTS).args(args).args(["-q", "in.jsonl"]);
    Ran::of(format!("{args:?}"), folder, command.output().unwrap())
}

#[test]
fn a_file_holds_the_last_table() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["out.jsonl", "out.csv", "out.jsonl.gz", "out.parquet"] {
        run(folder.path(), &["-o", name], &records(4)).ok();
        let once = fs::read(folder.path().join(name)).unwrap();
        for threads in ["-j=1", "-j=2"] {
            run(folder.path(), &["-o", name, "--trigger=count:1", threads], &records(4)).ok();
            assert_eq!(fs::read(folder.path().join(name)).unwrap(), once, "{name} {threads}");
        }
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 5, "nothing is left behind");
}

#[test]
fn on_standard_output_tables_follow_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let text = run(folder.path(), &["-O=csv", "--trigger=count:2", "--tz=UTC"], &records(4)).ok();
    let counts: Vec<&str> = text.lines().skip(1).filter_map(|line| line.rsplit(',').next()).collect();
    assert_eq!(counts, ["1", "1", "2", "2", "2", "2"]);
}

/// A run that fails leaves the last whole table.
#[test]
fn a_failure_leaves_the_last_table() {
    let folder = tempfile::tempdir().unwrap();
    let input = records(9_000) + "broken\n";
    run(folder.path(), &["-o", "out.csv", "--trigger=count:4000"], &input).expect(1);
    let text = fs::read_to_string(folder.path().join("out.csv")).unwrap();
    let total: u64 = text.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!(total, 8_000);
}

#[test]
fn a_field_that_widens_changes_the_tables_behind_it() {
    let folder = tempfile::tempdir().unwrap();
    let input: String = (0..3_000)
        .map(|i| format!("{{\"t\":1,\"k\":\"a\",\"v\":{}}}\n", if i == 2_500 { "0.5" } else { "1" }))
        .collect();
    let args = ["-o", "out.csv", "--trigger=count:1000", "-a=sum(v) AS s"];
    run(folder.path(), &args, &input).ok();
    let text = fs::read_to_string(folder.path().join("out.csv")).unwrap();
    assert!(text.ends_with(",a,2999.5\n"), "{text}");
}

/// A run whose input stays open.
struct Live(Child);

impl Live {
    fn start(folder: &Path, args: &[&str]) -> Self {
        let mut command = helpers::windrow();
        command.current_dir(folder).args(COUNTS).args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
        Self(command.spawn().unwrap())
    }

    fn write(&mut self, text: &str) {
        self.0.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn end(mut self) {
        drop(self.0.stdin.take());
        assert!(self.0.wait().unwrap().success());
    }
}

/// Waits for something that should come soon.
fn soon<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < Duration::from_secs(20), "it did not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn the_wall_clock_writes_tables_while_the_input_is_silent() {
    let folder = tempfile::tempdir().unwrap();
    let mut live = Live::start(folder.path(), &["--trigger=wall:20ms", "-q", "-o", "out.csv", "-"]);
    live.write(&records(1_002));
    let path = folder.path().join("out.csv");
    let shows = |text: &str| fs::read_to_string(&path).ok().filter(|all| all.contains(text));
    soon(|| shows("T00:08:20Z,1970-01-01T00:08:30Z,1,1"));
    live.write("{\"t\":500,\"k\":\"1\"}\n");
    soon(|| shows("T00:08:20Z,1970-01-01T00:08:30Z,1,2"));
    live.end();
}

#[test]
fn the_wall_clock_writes_changed_windows_while_the_input_is_silent() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--mode=update", "--delay=1h", "--trigger=wall:20ms", "-q", "-O=csv", "-"];
    let mut command = helpers::windrow();
    command.current_dir(folder.path()).args(COUNTS.iter().filter(|arg| !arg.contains("mode"))).args(args);
    let mut live = Live(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap());
    live.write(&records(1_002));
    let mut lines = BufReader::new(live.0.stdout.take().unwrap()).lines();
    assert!(lines.by_ref().map(|line| line.unwrap()).any(|line| line.contains("T00:08:20Z") && line.contains("early")));
    drop(lines);
    live.end();
}
