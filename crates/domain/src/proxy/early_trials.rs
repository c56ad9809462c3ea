//! `EarlyTrials`: when a benched proxy is tried before its cooldown is over.
//!
//! A cooldown doubles up to half an hour, and a proxy that has healed should not be out of use for that long.
//! Therefore one benched proxy after another is tried early: one at a time, which bounds the cost of dead
//! ones to one request every `revive_every`, however many there are. When one comes back, the cause that it
//! shared with others may be gone: these others are tried at once, each once. Pure. In: revivals, and how
//! long the first in turn has been benched. Out: whether it is tried now. It must not know proxies.

use std::time::Instant;

use super::health::BenchLimits;

#[derive(Debug, Default)]
pub struct EarlyTrials {
    next: Option<Instant>,
    last_revival: Option<Instant>,
}

impl EarlyTrials {
    pub fn note_revival(&mut self, now: Instant) {
        self.last_revival = Some(now);
    }

    /// A trial is under way, or none is needed: the next one is due `revive_every` later.
    pub fn postpone(&mut self) {
        self.next = None;
    }

    /// Whether the one that was benched or tried last at `since` is tried now; none has been benched for
    /// longer. While others are usable it is spared for as long as a first bench lasts.
    pub fn is_due(&mut self, since: Instant, has_usable: bool, limits: &BenchLimits, now: Instant) -> bool {
        let next = *self.next.get_or_insert(now + limits.revive_every);
        let rested = if has_usable { since + limits.bench_base } else { since };
        let another_came_back = self.last_revival.is_some_and(|at| since < at);
        let is_due = another_came_back || next.max(rested) <= now;
        if is_due {
            self.next = None;
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::proxy::health::tests::limits;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_trial_that_is_postponed_is_due_one_interval_later() {
        let (mut trials, start) = (EarlyTrials::default(), Instant::now());
        let is_due = |trials: &mut EarlyTrials, second| trials.is_due(start, false, &limits(), start + second * SECOND);
        assert!(!is_due(&mut trials, 0));
        trials.postpone();
        assert_eq!([10, 19, 20].map(|second| is_due(&mut trials, second)), [false, false, true]);
    }

    #[test]
    fn only_one_that_was_benched_before_another_came_back_is_tried_at_once() {
        let (mut trials, start) = (EarlyTrials::default(), Instant::now());
        let now = start + 5 * SECOND;
        trials.note_revival(now);
        assert_eq!([now, start].map(|since| trials.is_due(since, true, &limits(), now)), [false, true]);
    }
}
