//! When the operator is told that time has passed by the wall clock. Only a job that asked for it has a ticker that
//! ticks; nothing else in a run depends on the wall clock.

use crate::plan::Trigger;
use std::time::{Duration, Instant};

/// Ticks every so often, or never.
pub(super) struct Ticker {
    every: Duration,
    next: Option<Instant>,
}

impl Ticker {
    /// As a trigger asks for it, from now on.
    pub(super) fn of(trigger: Option<&Trigger>) -> Self {
        let every = match trigger {
            Some(Trigger::Wall(every)) => Some(Duration::from_micros(every.micros().max(1) as u64)),
            _ => None,
        };
        Self::new(every)
    }

    fn new(every: Option<Duration>) -> Self {
        let next = every.and_then(|every| Instant::now().checked_add(every));
        Self { every: every.unwrap_or_default(), next }
    }

    /// When the next tick is due.
    pub(super) fn next(&self) -> Option<Instant> {
        self.next
    }

    /// Whether a tick is due; the next is then as far from now as this was from the one before.
    pub(super) fn is_due(&mut self) -> bool {
        let now = Instant::now();
        let due = self.next.is_some_and(|next| next <= now);
        if due {
            self.next = now.checked_add(self.every);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ticks_once_each_time_and_only_where_it_was_asked_for() {
        let mut never = Ticker::new(None);
        assert!(never.next().is_none() && !never.is_due());
        let mut often = Ticker::new(Some(Duration::from_millis(20)));
        assert!(!often.is_due());
        std::thread::sleep(Duration::from_millis(21));
        assert!(often.is_due() && !often.is_due());
        assert!(often.next().is_some_and(|next| next > Instant::now()));
    }
}
