//! The slow, obvious model: every record is compared with all that wait, one by one.

use super::*;
use proptest::prelude::*;
use proptest::sample::select;

struct Waiting {
    event: Event,
    arrival: usize,
    last: Ts,
    matched: bool,
}

struct Model<'a> {
    job: &'a Job,
    marks: [Watermark; 2],
    common: Watermark,
    waiting: [Vec<Waiting>; 2],
    lines: Vec<String>,
    ledgers: [[u64; 3]; 2],
}

impl Model<'_> {
    fn new(job: &Job) -> Model<'_> {
        let marks = [Watermark::NEVER; 2];
        let waiting = [Vec::new(), Vec::new()];
        Model { job, marks, common: Watermark::NEVER, waiting, lines: Vec::new(), ledgers: [[0; 3]; 2] }
    }

    fn run(&mut self, events: &[Event]) {
        for (arrival, event) in events.iter().enumerate() {
            self.take(event, arrival);
            self.move_mark(event.side, mark(event.mark));
        }
        self.move_mark(Left, Watermark::END);
        self.move_mark(Right, Watermark::END);
    }

    fn take(&mut self, event: &Event, arrival: usize) {
        let side = event.side;
        let own = self.marks[side.index()];
        let own =
            if own == Watermark::NEVER { own } else { Watermark::at(Ts::from_micros(own.ts().micros() + event.ahead)) };
        let judge = if self.job.watermark == JoinWatermark::Own { own } else { self.common };
        let ts = Ts::from_micros(event.ts);
        if !event.selected {
            self.ledgers[side.index()][0] += 1;
            return;
        }
        if self.job.bounds.is_late(ts, judge) {
            self.ledgers[side.index()][1] += 1;
            return;
        }
        self.ledgers[side.index()][2] += 1;
        let (from, last) = self.job.bounds.partners(side, ts);
        let mut waiting = Waiting { event: event.clone(), arrival, last, matched: false };
        let mut others = std::mem::take(&mut self.waiting[side.other().index()]);
        for other in others.iter_mut().filter(|_| event.key.is_some()) {
            let time = Ts::from_micros(other.event.ts);
            if from <= time && time <= last && other.event.key == event.key {
                let (l, r) = if side == Left { (&mut waiting, other) } else { (other, &mut waiting) };
                self.pair(l, r);
            }
        }
        self.waiting[side.other().index()] = others;
        if event.key.is_none() || self.is_past(side, last) {
            self.release(&waiting);
        } else {
            self.waiting[side.index()].push(waiting);
        }
    }

    fn pair(&mut self, l: &mut Waiting, r: &mut Waiting) {
        if self.job.condition.is_some() && l.event.n >= r.event.n {
            return;
        }
        match self.job.how {
            "semi" if !l.matched => self.write(Some(&l.event), None),
            "semi" | "anti" => {}
            _ => self.write(Some(&l.event), Some(&r.event)),
        }
        (l.matched, r.matched) = (true, true);
    }

    fn release(&mut self, waiting: &Waiting) {
        let hows: &[&str] = if waiting.event.side == Left { &["left", "full", "anti"] } else { &["right", "full"] };
        if !waiting.matched && hows.contains(&self.job.how) {
            match waiting.event.side {
                Left => self.write(Some(&waiting.event), None),
                Right => self.write(None, Some(&waiting.event)),
            }
        }
    }

    fn write(&mut self, left: Option<&Event>, right: Option<&Event>) {
        let mut parts = Vec::new();
        if let Bounds::Window(windower) = &self.job.bounds {
            let window = windower.pane_of(Ts::from_micros(left.or(right).unwrap().ts));
            parts.extend([window.start.micros().to_string(), window.end.micros().to_string()]);
        }
        let mut fields = |event: Option<&Event>| {
            parts.push(event.and_then(|event| event.key).unwrap_or("-").to_owned());
            parts.push(event.map_or("-".to_owned(), |event| event.n.to_string()));
        };
        fields(left);
        if self.job.kind().pairs {
            fields(right);
        }
        self.lines.push(parts.join(" "));
    }

    fn is_past(&self, side: Side, last: Ts) -> bool {
        let mark = match self.job.watermark {
            JoinWatermark::Own => self.marks[side.other().index()],
            _ => self.common,
        };
        mark == Watermark::END || mark.ts() > last
    }

    fn move_mark(&mut self, side: Side, to: Watermark) {
        self.marks[side.index()] = self.marks[side.index()].max(to);
        let going: Vec<Watermark> = self.marks.into_iter().filter(|mark| *mark != Watermark::END).collect();
        let now = match self.job.watermark {
            JoinWatermark::Min => going.iter().min(),
            _ => going.iter().max(),
        };
        self.common = self.common.max(now.copied().unwrap_or(Watermark::END));
        let mut gone = Vec::new();
        for side in Side::BOTH {
            let all = std::mem::take(&mut self.waiting[side.index()]);
            let (past, rest) = all.into_iter().partition(|waiting| self.is_past(side, waiting.last));
            let past: Vec<Waiting> = past;
            self.waiting[side.index()] = rest;
            gone.extend(past);
        }
        gone.sort_by_key(|waiting| (waiting.last, waiting.event.side, waiting.arrival));
        gone.iter().for_each(|waiting| self.release(waiting));
    }
}

pub(super) fn events() -> impl Strategy<Value = Vec<Event>> {
    let one = (any::<bool>(), -8..8i64, 0..7usize, 0..10u8, 0..4i64, 0..12i64);
    (proptest::collection::vec(one, 0..60), 0..12i64).prop_map(|(all, delay)| {
        let (mut greatest, mut now) = ([NEVER; 2], 0);
        let event = |(n, (right, step, key, chance, ahead, _)): (usize, (bool, i64, usize, u8, i64, i64))| {
            now += i64::from(chance % 3);
            let (side, ts) = (if right { Right } else { Left }, now + step);
            let greatest = &mut greatest[side.index()];
            *greatest = (*greatest).max(ts);
            let key = [Some("a"), Some("a"), Some("a"), Some("b"), Some("b"), Some("cc"), None][key];
            let ahead = if chance == 1 { ahead } else { 0 };
            Event { side, ts, key, n: (n as i64 * 7) % 11, selected: chance != 0, ahead, mark: *greatest - delay }
        };
        all.into_iter().enumerate().map(event).collect()
    })
}

pub(super) fn jobs() -> impl Strategy<Value = Job> {
    let how = select(vec!["inner", "left", "right", "full", "semi", "anti"]);
    let bounds = select(vec![within(0, 5), within(-3, 2), within(2, 4), within(-6, -2), within(0, 0), tumbling("6us")]);
    let watermark = select(vec![JoinWatermark::Own, JoinWatermark::Min, JoinWatermark::Max]);
    let condition = select(vec![None, Some("l.n < r.n")]);
    (how, bounds, watermark, condition).prop_map(|(how, bounds, watermark, condition)| Job {
        how,
        bounds,
        watermark,
        condition,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_join_gives_what_the_model_gives_however_it_is_cut(
        job in jobs(), events in events(), sizes in proptest::collection::vec(1..9usize, 1..6)
    ) {
        let mut model = Model::new(&job);
        model.run(&events);
        prop_assert_eq!(&job.run(&events), &model.lines);
        prop_assert_eq!(&job.run_in(&events, &[1]), &model.lines);
        prop_assert_eq!(&job.run_in(&events, &sizes), &model.lines);
    }

    #[test]
    fn every_record_is_counted_once(job in jobs(), events in events()) {
        let (mut join, mut told) = (job.join(), Told::default());
        join.on_batch(&two_sided(&events, &mut [NEVER; 2]), &mut told).unwrap();
        let mut model = Model::new(&job);
        model.run(&events);
        for side in Side::BOTH {
            let ledger = join.tally(side).inputs.first().cloned().unwrap_or_default();
            prop_assert_eq!([ledger.filtered, ledger.late, ledger.used], model.ledgers[side.index()]);
        }
        let late: u64 = model.ledgers.iter().map(|ledger| ledger[1]).sum();
        prop_assert_eq!(told.late.len() as u64, late);
    }
}
