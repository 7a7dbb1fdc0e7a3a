//! One rule at a time, at its boundary.

use super::*;

/// Pairs of the right rows at these times with a left row at 100, by how `--within` is written.
fn partners(text: &str, times: &[i64]) -> Vec<i64> {
    let job = Job::new("inner", Bounds::Within(Within::parse(text).unwrap()));
    let left = [event(Left, 100, "a", 0)];
    let right = times.iter().map(|&ts| event(Right, ts, "a", ts));
    let lines = job.run(&left.into_iter().chain(right).collect::<Vec<_>>());
    lines.iter().map(|line| line.rsplit(' ').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn both_ends_count_unless_a_bracket_leaves_them_out() {
    let times = [99, 100, 101, 109, 110, 111];
    assert_eq!(partners("0us..10us", &times), [100, 101, 109, 110]);
    assert_eq!(partners("[0us..10us)", &times), [100, 101, 109]);
    assert_eq!(partners("(0us..10us]", &times), [101, 109, 110]);
    assert_eq!(partners("(0us..10us)", &times), [101, 109]);
    assert_eq!(partners("-1us..0us", &times), [99, 100]);
    assert_eq!(partners("-10us..-1us", &[89, 90, 99, 100]), [90, 99]);
}

#[test]
fn each_kind_writes_the_rows_that_it_is_for() {
    let events = [
        event(Left, 10, "a", 1),
        event(Left, 10, "b", 2),
        event(Right, 11, "a", 3),
        event(Right, 11, "c", 4),
        event(Right, 12, "a", 5),
    ];
    let run = |how| Job::new(how, within(0, 5)).run(&events);
    assert_eq!(run("inner"), ["a 1 a 3", "a 1 a 5"]);
    assert_eq!(run("left"), ["a 1 a 3", "a 1 a 5", "b 2 - -"]);
    assert_eq!(run("right"), ["a 1 a 3", "a 1 a 5", "- - c 4"]);
    assert_eq!(run("full"), ["a 1 a 3", "a 1 a 5", "- - c 4", "b 2 - -"]);
    assert_eq!(run("semi"), ["a 1"]);
    assert_eq!(run("anti"), ["b 2"]);
}

#[test]
fn pairs_come_with_their_second_record_by_the_arrival_of_the_first() {
    let events = [
        event(Left, 12, "a", 1),
        event(Left, 10, "a", 2),
        event(Left, 11, "a", 3),
        event(Right, 12, "a", 4),
        event(Left, 12, "a", 5),
    ];
    let lines = Job::new("inner", within(0, 5)).run(&events);
    assert_eq!(lines, ["a 1 a 4", "a 2 a 4", "a 3 a 4", "a 5 a 4"]);
}

/// Steps one after another, each as a batch of its own: what each of them brought about.
fn step_by_step(job: &Job, events: &[Event]) -> Vec<Vec<String>> {
    let (mut join, mut told, mut marks) = (job.join(), Told::default(), [NEVER; 2]);
    let each = events.iter().map(|event| {
        join.on_batch(&two_sided(std::slice::from_ref(event), &mut marks), &mut told).unwrap();
        std::mem::take(&mut told.lines)
    });
    each.collect()
}

#[test]
fn an_unmatched_row_comes_out_once_the_other_sides_mark_is_past_its_last_partner() {
    let events = [
        event(Left, 10, "a", 1).then(1_000),
        event(Right, 20, "b", 2).then(15),
        event(Right, 20, "b", 3).then(16),
        event(Right, 20, "b", 4).then(17),
    ];
    let steps = step_by_step(&Job::new("left", within(0, 5)), &events);
    assert_eq!(steps, [vec![], vec![], vec!["a 1 - -".to_owned()], vec![]]);
}

#[test]
fn a_match_at_the_last_instant_still_counts() {
    let events = [event(Left, 10, "a", 1), event(Right, 15, "a", 2).then(15), event(Right, 15, "a", 3).then(16)];
    assert_eq!(Job::new("left", within(0, 5)).run(&events), ["a 1 a 2", "a 1 a 3"]);
}

#[test]
fn a_row_that_no_partner_can_come_for_is_matched_and_not_held() {
    let job = Job::new("full", within(-5, 5));
    let (mut join, mut told) = (job.join(), Told::default());
    let events = [
        event(Right, 30, "a", 1).then(20),
        event(Left, 14, "b", 2),
        event(Left, 15, "b", 3),
        event(Left, 25, "a", 4).then(NEVER),
    ];
    join.on_batch(&two_sided(&events, &mut [NEVER; 2]), &mut told).unwrap();
    assert_eq!(told.lines, ["b 2 - -", "a 4 a 1"]);
    assert_eq!(join.state().rows, 3);
}

#[test]
fn a_null_key_matches_none_and_is_not_held() {
    let events = [event(Left, 10, "", 1).null(), event(Right, 10, "", 2).null(), event(Left, 10, "", 3)];
    let job = Job::new("full", within(0, 5));
    let (mut join, mut told) = (job.join(), Told::default());
    join.on_batch(&two_sided(&events, &mut [NEVER; 2]), &mut told).unwrap();
    assert_eq!(told.lines, ["- 1 - -", "- - - 2"]);
    assert_eq!((join.state().rows, join.tally(Left).inputs[0].used), (1, 2));
    assert!(Job::new("inner", within(0, 5)).run(&events).is_empty());
    assert_eq!(Job::new("anti", within(0, 5)).run(&events), ["- 1", " 3"]);
}

#[test]
fn a_row_whose_candidates_all_fail_the_condition_is_unmatched() {
    let job = Job { condition: Some("l.n < r.n"), ..Job::new("full", within(0, 5)) };
    let events = [event(Left, 10, "a", 5), event(Right, 11, "a", 4), event(Right, 11, "a", 5)];
    assert_eq!(job.run(&events), ["- - a 4", "- - a 5", "a 5 - -"]);
    let job = Job { condition: Some("l.n < r.n"), ..Job::new("semi", within(0, 5)) };
    let events =
        [event(Left, 10, "a", 5), event(Right, 11, "a", 4), event(Right, 11, "a", 6), event(Right, 11, "a", 7)];
    assert_eq!(job.run(&events), ["a 5"]);
}

#[test]
fn rows_released_at_one_moment_come_by_instant_then_side_then_arrival() {
    let job = Job { watermark: JoinWatermark::Max, ..Job::new("full", within(0, 2)) };
    let events = [
        event(Right, 12, "r", 1),
        event(Right, 10, "r", 2),
        event(Left, 10, "l", 3),
        event(Left, 8, "l", 4),
        event(Left, 10, "m", 5),
        event(Left, 30, "x", 6).then(30),
    ];
    let lines = job.run(&events);
    assert_eq!(lines, ["l 4 - -", "- - r 2", "l 3 - -", "m 5 - -", "- - r 1", "x 6 - -"]);
}

#[test]
fn a_side_is_late_by_its_own_mark_or_by_the_common_one() {
    let events = [
        event(Left, 50, "a", 1).then(50),
        event(Right, 20, "a", 2).then(20),
        event(Left, 49, "a", 3).then(50),
        event(Right, 20, "a", 4).then(20),
        event(Right, 19, "a", 5).then(20),
    ];
    let late = |watermark| {
        let (mut join, mut told) = (Job { watermark, ..Job::new("inner", within(0, 5)) }.join(), Told::default());
        join.on_batch(&two_sided(&events, &mut [NEVER; 2]), &mut told).unwrap();
        told.late
    };
    let of = |side, row, mark, ts| Late {
        side,
        row,
        mark: Watermark::at(Ts::from_micros(mark)),
        window_end: Ts::from_micros(ts),
    };
    assert_eq!(late(JoinWatermark::Own), [of(Left, 1, 50, 49), of(Right, 2, 20, 19)]);
    assert_eq!(late(JoinWatermark::Min), [of(Right, 2, 20, 19)]);
    let all = [of(Right, 0, 50, 20), of(Left, 1, 50, 49), of(Right, 1, 50, 20), of(Right, 2, 50, 19)];
    assert_eq!(late(JoinWatermark::Max), all);
}

#[test]
fn a_partition_that_is_ahead_of_its_side_judges_its_own_records() {
    let ahead = Event { ahead: 5, ..event(Left, 54, "a", 2) };
    let events = [event(Left, 50, "a", 1).then(50), ahead];
    let (mut join, mut told) = (Job::new("inner", within(0, 5)).join(), Told::default());
    join.on_batch(&two_sided(&events, &mut [NEVER; 2]), &mut told).unwrap();
    assert_eq!(told.late.len(), 1);
    assert_eq!(told.late[0].mark, Watermark::at(Ts::from_micros(55)));
}

#[test]
fn in_windows_rows_pair_inside_and_are_late_once_theirs_is_final() {
    let job = Job::new("full", tumbling("10us"));
    let events = [
        event(Left, 9, "a", 1),
        event(Right, 0, "a", 2),
        event(Right, 10, "a", 3).then(9),
        event(Left, 5, "b", 4).then(10),
        event(Left, 19, "b", 5),
        event(Left, 9, "b", 6),
        event(Right, 11, "c", 7).then(10),
    ];
    let (mut join, mut told) = (job.join(), Told::default());
    join.on_batch(&two_sided(&events, &mut [NEVER; 2]), &mut told).unwrap();
    assert_eq!(told.lines, ["0 10 a 1 a 2", "0 10 b 4 - -"]);
    assert_eq!((told.late.len(), told.late[0].row, told.late[0].window_end), (1, 3, Ts::from_micros(10)));
    assert_eq!(join.schema().field(0).name(), "window_start");
}

#[test]
fn a_side_that_has_ended_lets_the_others_rows_go() {
    let job = Job::new("right", within(0, 5));
    let (mut join, mut told, mut marks) = (job.join(), Told::default(), [NEVER; 2]);
    join.on_batch(&two_sided(&[event(Right, 10, "a", 1)], &mut marks), &mut told).unwrap();
    join.on_watermark(Left, Watermark::END, &mut told).unwrap();
    assert_eq!((told.lines.len(), join.state().rows), (1, 0));
    join.on_batch(&two_sided(&[event(Right, 10, "a", 2)], &mut marks), &mut told).unwrap();
    assert_eq!((told.lines.as_slice(), join.state().rows), (&["- - a 1".to_owned(), "- - a 2".to_owned()][..], 0));
}

#[test]
fn a_left_row_that_is_decided_is_not_held() {
    for how in ["semi", "anti"] {
        let (mut join, mut told) = (Job::new(how, within(-5, 5)).join(), Told::default());
        let events = [event(Left, 10, "a", 1), event(Right, 11, "a", 2), event(Left, 12, "a", 3)];
        join.on_batch(&two_sided(&events, &mut [NEVER; 2]), &mut told).unwrap();
        assert_eq!(join.state().rows, 1, "{how}");
    }
}

#[test]
fn a_hot_key_is_searched_by_time_and_named() {
    let mut events: Vec<Event> = (0..3_000).map(|i| event(Left, i * 7 % 3_000, "hot", i)).collect();
    events.extend((0..3_000).map(|i| event(Right, i * 11 % 3_000, "hot", i)));
    events.push(event(Left, 5, "cold", 0));
    let (mut join, mut told) = (Job::new("inner", within(0, 0)).join(), Told::default());
    join.on_batch(&two_sided(&events, &mut [NEVER; 2]), &mut told).unwrap();
    assert_eq!(told.rows, 3_000);
    Side::BOTH.iter().for_each(|&side| join.on_watermark(side, Watermark::END, &mut told).unwrap());
    assert_eq!(join.tally(Left).heaviest, [("hot".to_owned(), 3_000)]);
    assert_eq!(join.tally(Right).heaviest, [("hot".to_owned(), 3_000)]);
    assert_eq!(join.costliest(), [("hot".to_owned(), 3_000)]);
}

/// One right row for more left rows than are settled at once.
#[test]
fn settling_in_the_middle_of_a_record_changes_nothing() {
    let rows = SETTLED as i64 + 100;
    let mut events: Vec<Event> = (0..rows).map(|i| event(Left, 10, "a", i)).collect();
    events.extend([event(Right, 10, "a", rows), event(Right, 11, "a", rows)]);
    let each = |suffix: &str| (0..rows).map(|i| format!("a {i}{suffix}")).collect::<Vec<_>>();
    for condition in [None, Some("l.n < r.n")] {
        let run = |how| Job { condition, ..Job::new(how, within(0, 5)) }.run(&events);
        assert!(run("semi") == each(""));
        assert!(run("anti").is_empty());
        let pairs = each(&format!(" a {rows}"));
        assert!(run("full") == [pairs.clone(), pairs].concat());
    }
}

#[test]
fn memory_follows_the_rows_that_wait() {
    let (mut join, mut told, mut marks) = (Job::new("left", within(0, 100)).join(), Told::default(), [NEVER; 2]);
    let mut most = [0, 0];
    for i in 0..8_000_i64 {
        // Every hundredth row lies far ahead and stays.
        let ts = if i % 100 == 0 { 1_000_000 } else { i };
        let events = [event(Left, ts, "a", i).then(i - 10), event(Right, i, "b", i).then(i - 10)];
        join.on_batch(&two_sided(&events, &mut marks), &mut told).unwrap();
        let half = usize::from(i >= 4_000);
        most[half] = most[half].max(join.state().bytes);
    }
    let segments = join.stores[0].segments().len();
    assert!(segments < 40, "{segments} segments");
    assert!(most[1] < 2 * most[0] && most[0] < 200_000, "{most:?} bytes");
}

#[test]
fn a_slice_of_something_large_is_copied() {
    let events: Vec<Event> = (0..10_000).map(|i| event(Left, i, "a", i)).collect();
    let mut batch = two_sided(&events, &mut [NEVER; 2]);
    let left = &mut batch.sides[0];
    left.rows = left.rows.slice(5_000, 100);
    left.times = left.times.slice(5_000, 100);
    left.selected = None;
    batch.runs = vec![(Left, 100)];
    let (mut join, mut told) = (Job::new("left", within(0, 5)).join(), Told::default());
    join.on_batch(&batch, &mut told).unwrap();
    assert_eq!(join.state().rows, 100);
    assert!(join.state().bytes < 40_000, "{} bytes", join.state().bytes);
    join.on_watermark(Right, Watermark::END, &mut told).unwrap();
    assert_eq!((told.lines[0].as_str(), told.lines.len()), ("a 5000 - -", 100));
}

/// One record a batch, each side's mark ten behind its greatest time: the state after each.
fn states(how: &'static str, events: &[Event]) -> Vec<StateSize> {
    let (mut join, mut told, mut marks) = (Job::new(how, within(0, 100)).join(), Told::default(), [NEVER; 2]);
    let each = events.iter().map(|event| {
        join.on_batch(&two_sided(std::slice::from_ref(event), &mut marks), &mut told).unwrap();
        join.state()
    });
    each.collect()
}

#[test]
fn rows_that_are_past_are_swept_out_in_time() {
    const KEYS: [&str; 4] = ["a", "b", "c", "d"];
    for how in ["inner", "full", "semi"] {
        // About 110 left rows and 10 right ones may still find a partner.
        let both = |i: i64| {
            let key = KEYS[i as usize % 4];
            [event(Left, i, key, i).then(i - 10), event(Right, i, "x", i).then(i - 10)]
        };
        let events: Vec<Event> = (0..2_000).flat_map(both).collect();
        let states = states(how, &events);
        let most = states.iter().map(|state| state.rows).max().unwrap();
        assert!((120..1_000).contains(&most), "{how}: {most} rows");
        let bytes = |range: std::ops::Range<usize>| states[range].iter().map(|state| state.bytes).max().unwrap();
        assert!(bytes(2_000..4_000) < 2 * bytes(0..2_000), "{how}: {} bytes", bytes(2_000..4_000));
    }
}

#[test]
fn state_shrinks_back_after_a_burst_though_its_side_is_silent_since() {
    for how in ["inner", "full"] {
        let burst = (0..2_000).map(|i| event(Left, 0, if i % 2 == 0 { "a" } else { "b" }, i));
        let after = (0..9_000).map(|i| event(Right, 1_000 + i, "x", i).then(1_000 + i));
        let left = [event(Left, 1_000_000, "a", 0).then(900_000)];
        let states = states(how, &burst.chain(left).chain(after).collect::<Vec<_>>());
        let (full, last) = (states[2_000], states[states.len() - 1]);
        assert_eq!(full.rows, 2_001);
        assert!(last.rows < 300 && last.bytes * 3 < full.bytes, "{how}: {full:?} {last:?}");
    }
}

/// In one batch, so that the row that stays lies among those that go.
#[test]
fn a_row_far_ahead_does_not_keep_its_whole_segment() {
    let mut events: Vec<Event> = (0..4_000).map(|i| event(Left, i, "a", i)).collect();
    events[1_000].ts = 1_000_000;
    let (mut join, mut told, mut marks) = (Job::new("inner", within(0, 100)).join(), Told::default(), [NEVER; 2]);
    join.on_batch(&two_sided(&events, &mut marks), &mut told).unwrap();
    let before = join.state();
    let later: Vec<Event> = (0..4_100).map(|i| event(Left, 10_000 + i, "b", i)).collect();
    join.on_batch(&two_sided(&[event(Right, 9_000, "x", 0).then(9_000)], &mut marks), &mut told).unwrap();
    join.on_batch(&two_sided(&later, &mut marks), &mut told).unwrap();
    assert_eq!((before.rows, join.state().rows), (4_000, 4_102));
    let first = &join.stores[0].segments()[0];
    assert_eq!((first.len(), first.waiting()), (1, 1));
    join.on_batch(&two_sided(&[event(Right, 1_000_000, "a", 7)], &mut marks), &mut told).unwrap();
    assert_eq!(told.lines, ["a 1000 a 7"]);
}
