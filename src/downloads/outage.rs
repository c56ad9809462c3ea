//! `Outage`: whether a lane's images are not to be had now, for a reason that is not theirs: no proxy is
//! free, a host is on hold, the disk is full.
//!
//! Each such image takes as long as the wait that failed, and thousands may be queued: after some of them in
//! a row the others are put off at once, for a while.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::fetch::Outcome;

/// Maximum number of postponed images in a row.
const MAX_POSTPONED: usize = 5;
const PAUSE: Duration = Duration::from_secs(60);

#[derive(Default)]
pub struct Outage(Mutex<State>);

#[derive(Default)]
struct State {
    postponed: usize,
    since: Option<Instant>,
}

impl Outage {
    pub fn is_on(&self) -> bool {
        self.state().since.is_some_and(|since| since.elapsed() < PAUSE)
    }

    pub fn note(&self, outcome: &Outcome) {
        let mut state = self.state();
        match outcome {
            Outcome::Postponed { .. } => state.postponed += 1,
            _ => *state = State::default(),
        }
        if state.postponed >= MAX_POSTPONED {
            state.since = Some(Instant::now());
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_on_after_some_postponed_images_in_a_row_and_off_after_another_end() {
        let outage = Outage::default();
        let postponed = Outcome::Postponed { detail: "no proxy came free".to_owned() };
        for _ in 1..MAX_POSTPONED {
            outage.note(&postponed);
        }
        assert!(!outage.is_on());
        outage.note(&postponed);
        assert!(outage.is_on());
        outage.note(&Outcome::Found { path: String::new() });
        assert!(!outage.is_on());
    }
}
