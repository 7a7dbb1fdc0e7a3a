//! Real flights and the weather at their airports (`testdata/weather`), joined as DuckDB joins them.

use crate::folder::Folder;
use std::path::Path;

/// When a flight was to leave.
const LEAVES: &str = "epoch(CAST(time_hour AS timestamp)) + minute * 60";

/// A folder with the files, and the lines of one that holds an answer.
fn files(answer: &str) -> (Folder, Vec<String>) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/weather");
    let folder = Folder::new();
    for name in ["flights.csv", "weather.csv"] {
        folder.put(name, std::fs::read(source.join(name)).unwrap());
    }
    (folder, lines(&std::fs::read_to_string(source.join(answer)).unwrap()))
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

#[test]
fn flights_find_the_last_weather_before_them() {
    let (folder, want) = files("backward.csv");
    let job = "--on origin --as-of time_hour --select 'l.id, r.time_hour AS observed, r.temp, r.wind_speed'";
    let got = folder.sh(&format!("windrow lookup flights.csv -t '{LEAVES}' --table weather.csv {job} -O csv")).ok();
    assert_eq!(lines(&got), want);
}

#[test]
fn flights_find_the_nearest_weather_within_half_an_hour() {
    let (folder, want) = files("nearest.csv");
    let job = "--on origin --as-of time_hour --direction nearest --tolerance 30m --how inner \
               --select 'l.id, r.time_hour AS observed'";
    let got = folder.sh(&format!("windrow lookup flights.csv -t '{LEAVES}' --table weather.csv {job} -O csv")).ok();
    assert_eq!(lines(&got), want);
}

/// Pairs come with their second record; DuckDB's are in the order of flights.
#[test]
fn flights_meet_the_weather_of_two_hours() {
    let (folder, want) = files("within.csv");
    let job = "--on origin --within=-2h..15m --select 'l.id, r.time_hour AS observed' --right-time time_hour";
    let got = folder.sh(&format!("windrow join flights.csv weather.csv --left-time '{LEAVES}' {job} -O csv")).ok();
    let (mut got, mut want) = (lines(&got), want);
    assert_eq!(got.remove(0), want.remove(0));
    got.sort();
    want.sort();
    assert_eq!(got, want);
}
