//! The axis that windows are laid out on: whole cells, microseconds for fixed sizes, and days, months or steps of a
//! day for calendar ones. On it every kind of window is plain integer arithmetic.
//!
//! Must not know kinds of windows. Arithmetic saturates at the ends of the line, thousands of years beyond any event.

use super::{Grid, Window};
use crate::error::{Error, Result};
use crate::time::{CalendarLine, CalendarUnit, Span, Ts, WindowSize};

/// Most windows an instant may lie in: beyond it a job could only run out of memory.
const MOST_WINDOWS: i64 = 100_000;

/// Numbers the cells of the line of instants.
#[derive(Debug)]
pub(super) enum Axis {
    /// A cell is a microsecond; the one with number 0 is this long after the epoch.
    Fixed(Span),
    /// A cell is what a calendar line counts.
    Calendar(CalendarLine),
}

impl Axis {
    /// The cell that holds an instant.
    #[inline]
    pub(super) fn cell_of(&self, ts: Ts) -> i64 {
        match self {
            Axis::Fixed(origin) => ts.saturating_sub(*origin).micros(),
            Axis::Calendar(line) => line.cell_of(ts),
        }
    }

    /// The first instant of a cell.
    #[inline]
    pub(super) fn instant(&self, cell: i64) -> Ts {
        match self {
            Axis::Fixed(origin) => Ts::from_micros(cell).saturating_add(*origin),
            Axis::Calendar(line) => line.instant(cell),
        }
    }

    /// The window of `size` cells from a cell on.
    #[inline]
    pub(super) fn window(&self, start: i64, size: i64) -> Window {
        Window::new(self.instant(start), self.instant(start.saturating_add(size)))
    }
}

/// The greatest multiple of `step` not above `cell`; saturates.
#[inline]
pub(super) fn floor(cell: i64, step: i64) -> i64 {
    cell.saturating_sub(cell.rem_euclid(step))
}

/// The axis for windows of one size, and that size in its cells.
pub(super) fn of_size(size: WindowSize, grid: &Grid) -> (Axis, i64) {
    match size {
        WindowSize::Fixed(size) => (fixed(size, grid), size.micros()),
        WindowSize::Calendar { unit, n } => (calendar(unit, grid), unit.count() * i64::from(n)),
    }
}

/// A size and a step on the axis they share, in its cells.
pub(super) struct Laid {
    pub(super) axis: Axis,
    pub(super) size: i64,
    pub(super) step: i64,
}

/// The axis for windows of a size that move or grow by a step. `anchor` is the one of the two whose multiples the grid
/// is made of.
pub(super) fn of_pair(size: WindowSize, step: WindowSize, anchor: WindowSize, grid: &Grid) -> Result<Laid> {
    let cells = |size: WindowSize| of_size(size, grid).1;
    match (size, step) {
        (WindowSize::Fixed(_), WindowSize::Fixed(_)) => {}
        (WindowSize::Calendar { unit: a, .. }, WindowSize::Calendar { unit: b, .. }) => {
            if a.is_of_months() != b.is_of_months() {
                return Err(mixed(size, step, "a month is not a number of days"));
            }
        }
        (WindowSize::Calendar { unit: CalendarUnit::Day, n }, WindowSize::Fixed(length)) => {
            return steps_of_days(size, i64::from(n), length, grid);
        }
        _ => return Err(mixed(size, step, "a calendar size needs a step of its own kind")),
    }
    Ok(Laid { axis: of_size(anchor, grid).0, size: cells(size), step: cells(step) })
}

/// Days that move or grow by a length of time: cells are those lengths on the day's wall clock.
fn steps_of_days(size: WindowSize, days: i64, length: Span, grid: &Grid) -> Result<Laid> {
    const DAY: Span = Span::from_secs(86_400);
    let whole_days = length.micros() / DAY.micros();
    if length.micros() % DAY.micros() == 0 && whole_days > days {
        // Let the kind say that the step is longer than the window.
        return Ok(Laid { axis: calendar(CalendarUnit::Day, grid), size: days, step: whole_days });
    }
    match CalendarLine::steps(length, grid.zone.clone(), grid.offset) {
        Some(line) => {
            let size = (DAY.micros() / length.micros()).saturating_mul(days);
            Ok(Laid { axis: Axis::Calendar(line), size, step: 1 })
        }
        None => Err(Error::usage(format!("{length} does not divide a day, which {size} with a fixed step needs"))),
    }
}

fn mixed(size: WindowSize, step: WindowSize, why: &str) -> Error {
    Error::usage(format!("{size} and {step} cannot be mixed: {why}"))
        .hint("months go with months, quarters and years; days with weeks, days, or a length of time that divides 24h")
}

/// The grid of fixed sizes: the offset beyond whole steps changes nothing.
fn fixed(step: Span, grid: &Grid) -> Axis {
    Axis::Fixed(Span::from_micros(grid.offset.micros().rem_euclid(step.micros())))
}

fn calendar(unit: CalendarUnit, grid: &Grid) -> Axis {
    // Days count from Thursday 1970-01-01, weeks from the Monday or Sunday before.
    let first_day = match unit {
        CalendarUnit::Week if grid.sunday_weeks => -4,
        CalendarUnit::Week => -3,
        _ => 0,
    };
    Axis::Calendar(if unit.is_of_months() {
        CalendarLine::months(grid.zone.clone(), grid.offset)
    } else {
        CalendarLine::days(first_day, grid.zone.clone(), grid.offset)
    })
}

/// Splits `SIZE/STEP` and reads both.
pub(super) fn pair(text: &str, form: &str, hint: &str) -> Result<(WindowSize, WindowSize)> {
    match text.split_once('/') {
        Some((size, step)) => Ok((WindowSize::parse(size)?, WindowSize::parse(step)?)),
        None => Err(Error::usage(format!("expected {form}, found \"{text}\"")).hint(hint)),
    }
}

/// Refuses a layout that puts each instant into more windows than any memory holds.
pub(super) fn bounded(windows: i64) -> Result<()> {
    if windows <= MOST_WINDOWS {
        return Ok(());
    }
    Err(Error::usage(format!("every event would be in {windows} windows, at most {MOST_WINDOWS} can be kept"))
        .hint("take a longer step"))
}
