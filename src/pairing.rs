//! Which instants of two sides belong together, and what becomes of rows with and without a partner: the kinds of join
//! and their bounds, as data and pure arithmetic.
//!
//! Must not know rows, keys or files. Invariant: `partners` is symmetric: r lies in the partners of l exactly if l lies
//! in those of r; and no partner of a row comes after its `last_partner`.

use crate::error::{Error, Result};
use crate::event::{Side, Watermark};
use crate::time::{Span, Ts};
use crate::window::{Window, Windower};
use std::fmt;
use std::sync::Arc;

/// A row of the table of joins: which rows come out.
#[derive(Debug)]
pub struct JoinKind {
    /// Its name for `--how`.
    pub name: &'static str,
    /// One line for help.
    pub doc: &'static str,
    /// Pairs are written. Otherwise left rows alone are.
    pub pairs: bool,
    /// Left rows without a partner are written.
    pub unmatched_left: bool,
    /// Right rows without a partner are written.
    pub unmatched_right: bool,
    /// A left row is written once, with its first partner.
    pub left_once: bool,
}

/// Every kind of join.
pub static JOINS: &[&JoinKind] = &[&INNER, &LEFT, &RIGHT, &FULL, &SEMI, &ANTI];

static INNER: JoinKind = JoinKind {
    name: "inner",
    doc: "pairs that match",
    pairs: true,
    unmatched_left: false,
    unmatched_right: false,
    left_once: false,
};
static LEFT: JoinKind =
    JoinKind { name: "left", doc: "and left rows without a partner", unmatched_left: true, ..INNER };
static RIGHT: JoinKind =
    JoinKind { name: "right", doc: "and right rows without a partner", unmatched_right: true, ..INNER };
static FULL: JoinKind = JoinKind {
    name: "full",
    doc: "and rows of both sides without a partner",
    unmatched_left: true,
    unmatched_right: true,
    ..INNER
};
static SEMI: JoinKind =
    JoinKind { name: "semi", doc: "left rows that have a partner, once", pairs: false, left_once: true, ..INNER };
static ANTI: JoinKind =
    JoinKind { name: "anti", doc: "left rows that have none", pairs: false, unmatched_left: true, ..INNER };

/// The join of this name.
pub fn find(name: &str) -> Option<&'static JoinKind> {
    JOINS.iter().copied().find(|kind| kind.name.eq_ignore_ascii_case(name))
}

impl JoinKind {
    /// Whether rows of a side come out without a partner.
    pub fn unmatched(&self, side: Side) -> bool {
        match side {
            Side::Left => self.unmatched_left,
            Side::Right => self.unmatched_right,
        }
    }
}

/// Which watermark late records are told by and rows are forgotten by (SPEC section 7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JoinWatermark {
    /// Each side's own.
    #[default]
    Own,
    /// The smaller of the two, for both sides.
    Min,
    /// The greater of the two, for both sides.
    Max,
}

/// How far the times of a pair may be apart.
#[derive(Clone, Debug)]
pub enum Bounds {
    /// By a distance.
    Within(Within),
    /// Both lie in one window of these, which do not overlap.
    Window(Arc<dyn Windower>),
}

/// `l.time + lo <= r.time <= l.time + hi`, where an end that is exclusive was moved by a microsecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Within {
    lo: Span,
    hi: Span,
}

impl Within {
    /// The right row's time behind the left one's, at least and at most.
    pub fn new(lo: Span, hi: Span) -> Self {
        Within { lo, hi }
    }

    /// Reads `0s..30m`, `-5m..5m`, `[0s..30m)`, `(0s..30m]`.
    pub fn parse(text: &str) -> Result<Self> {
        let (body, open_lo) = strip(text.trim(), '[', '(', true);
        let (body, open_hi) = strip(body, ']', ')', false);
        let Some((lo, hi)) = body.split_once("..") else { return Err(not_a_range(text)) };
        if lo.trim().is_empty() || hi.trim().is_empty() {
            return Err(not_a_range(text));
        }
        let (lo, hi) = (Span::parse_signed(lo.trim())?, Span::parse_signed(hi.trim())?);
        let micro = |open: bool| i64::from(open);
        let within = Within {
            lo: Span::from_micros(lo.micros().saturating_add(micro(open_lo))),
            hi: Span::from_micros(hi.micros().saturating_sub(micro(open_hi))),
        };
        match within.lo <= within.hi {
            true => Ok(within),
            false => {
                Err(Error::usage(format!("nothing lies within {text}")).hint("the smaller end comes first: 0s..30m"))
            }
        }
    }
}

/// Takes a bracket off one end of a text: the rest, and whether the bracket leaves that end out.
fn strip(text: &str, closed: char, open: char, front: bool) -> (&str, bool) {
    let off = |bracket: char| if front { text.strip_prefix(bracket) } else { text.strip_suffix(bracket) };
    match (off(closed), off(open)) {
        (Some(rest), _) => (rest, false),
        (_, Some(rest)) => (rest, true),
        (None, None) => (text, false),
    }
}

fn not_a_range(text: &str) -> Error {
    let error = Error::usage(format!("expected two durations such as 0s..30m, found \"{text}\""));
    match text.trim().split_once("..").map(|(lo, hi)| (lo.trim(), hi.trim())) {
        Some(("", hi)) => return error.hint(format!("0s..{hi} begins at the left row's time")),
        Some((lo, "")) => {
            return error.hint(format!("without an end rows would wait for a match for ever: {lo}..1h"));
        }
        _ => {}
    }
    match Span::parse(text.trim()) {
        Ok(_) => {
            error.hint(format!("0s..{0} means up to {0} after the left row, -{0}..{0} on either side", text.trim()))
        }
        Err(_) => error.hint("-5m..30m: from 5 minutes before the left row to 30 minutes after it"),
    }
}

impl fmt::Display for Within {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.lo, self.hi)
    }
}

impl Bounds {
    /// The first and last instant that a partner of a row of `side` may have, both inclusive.
    pub fn partners(&self, side: Side, ts: Ts) -> (Ts, Ts) {
        match (self, side) {
            (Bounds::Within(Within { lo, hi }), Side::Left) => (ts.saturating_add(*lo), ts.saturating_add(*hi)),
            (Bounds::Within(Within { lo, hi }), Side::Right) => (ts.saturating_sub(*hi), ts.saturating_sub(*lo)),
            (Bounds::Window(windower), _) => {
                let window = windower.pane_of(ts);
                (window.start, window.end.saturating_sub(Span::from_micros(1)))
            }
        }
    }

    /// Whether a row is late by the mark that it is judged by.
    pub fn is_late(&self, ts: Ts, mark: Watermark) -> bool {
        match self {
            Bounds::Within(_) => mark.is_after(ts),
            Bounds::Window(windower) => mark.has_reached(windower.pane_of(ts).end),
        }
    }

    /// The window that both rows of a pair lie in, where there are windows.
    pub fn window_of(&self, ts: Ts) -> Option<Window> {
        match self {
            Bounds::Within(_) => None,
            Bounds::Window(windower) => Some(windower.pane_of(ts)),
        }
    }

    /// Whether results stand in windows.
    pub fn has_windows(&self) -> bool {
        matches!(self, Bounds::Window(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::{Grid, Grouping};

    fn within(text: &str) -> (i64, i64) {
        let within = Within::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        (within.lo.micros(), within.hi.micros())
    }

    #[test]
    fn ranges_are_inclusive_unless_a_bracket_says_otherwise() {
        assert_eq!(within("0s..30m"), (0, 1_800_000_000));
        assert_eq!(within(" -5s .. 5s "), (-5_000_000, 5_000_000));
        assert_eq!(within("[0s..1s)"), (0, 999_999));
        assert_eq!(within("(0s..1s]"), (1, 1_000_000));
        assert_eq!(within("0s..0s"), (0, 0));
    }

    #[test]
    fn what_is_no_range_is_refused_with_what_to_write() {
        let error = |text: &str| Within::parse(text).unwrap_err().to_string();
        assert!(error("30m").contains("hint: 0s..30m means up to 30m after the left row"), "{}", error("30m"));
        assert!(error("30m..0s").starts_with("nothing lies within 30m..0s"));
        assert!(error("(0s..0s]").starts_with("nothing lies within"));
        assert!(error("soon").starts_with("expected two durations such as 0s..30m, found \"soon\""));
    }

    #[test]
    fn partners_are_each_others() {
        let Ok(Grouping::Windows(windower)) = (crate::window::find("tumbling").unwrap().parse)("7us", &Grid::default())
        else {
            panic!("no windower")
        };
        let within = |lo, hi| Bounds::Within(Within::new(Span::from_micros(lo), Span::from_micros(hi)));
        for bounds in [within(0, 5), within(-3, 2), within(2, 4), within(-6, -2), Bounds::Window(windower)] {
            for (l, r) in (-20..20).flat_map(|l| (-20..20).map(move |r| (Ts::from_micros(l), Ts::from_micros(r)))) {
                let of_left = bounds.partners(Side::Left, l);
                let of_right = bounds.partners(Side::Right, r);
                assert_eq!(
                    of_left.0 <= r && r <= of_left.1,
                    of_right.0 <= l && l <= of_right.1,
                    "{bounds:?} {l:?} {r:?}"
                );
            }
        }
    }

    #[test]
    fn every_join_has_a_name_of_its_own_and_says_what_it_is() {
        for (i, kind) in JOINS.iter().enumerate() {
            assert!(!kind.doc.is_empty() && JOINS[..i].iter().all(|other| other.name != kind.name), "{}", kind.name);
            assert!(std::ptr::eq(find(&kind.name.to_uppercase()).unwrap(), *kind));
        }
    }
}
