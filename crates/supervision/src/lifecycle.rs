//! `Lifecycle`: whether this process runs, drains or releases its tasks, since when, and why it failed; and
//! how long its drain may take.
//!
//! In: signals and failures. Out: the phase, for every part of the process. It must not know what the parts
//! do about it.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use settings::Config;
use telemetry::events;

/// How far the process is on its way out; only ever moves down this list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    Running,
    /// Claims nothing more, lets its tasks finish.
    Draining,
    /// Gives its tasks back at once.
    Releasing,
    /// The last writes are done; threads end when they see this.
    Over,
}

/// Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct Lifecycle {
    state: Arc<watch::Sender<(Phase, Instant)>>,
    cause: Arc<Mutex<Option<String>>>,
}

impl Default for Lifecycle {
    fn default() -> Self {
        Lifecycle { state: Arc::new(watch::Sender::new((Phase::Running, Instant::now()))), cause: Arc::default() }
    }
}

impl Lifecycle {
    pub fn phase(&self) -> Phase {
        self.state.borrow().0
    }

    /// How long the process has been in its phase.
    pub fn phase_age(&self) -> Duration {
        self.state.borrow().1.elapsed()
    }

    pub fn is_running(&self) -> bool {
        self.phase() == Phase::Running
    }

    pub fn is_over(&self) -> bool {
        self.phase() == Phase::Over
    }

    /// Moves on to `phase`; a step back is ignored.
    pub fn advance(&self, phase: Phase) {
        self.state.send_if_modified(|now| {
            let is_later = phase > now.0;
            if is_later {
                *now = (phase, Instant::now());
            }
            is_later
        });
    }

    /// Ends the process, which drains and exits non-zero, because something cannot be repaired in it. The first cause is
    /// kept.
    pub fn fail(&self, cause: String) {
        // the log comes last: no writer of it may keep the process from ending
        self.cause.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| cause.clone());
        self.advance(Phase::Draining);
        events::process_ending(&cause);
    }

    /// [`Lifecycle::fail`] for something that restarts do not repair.
    pub fn fail_too_often(&self, name: &str, last: &dyn fmt::Display) {
        self.fail(format!("{name} failed too often; the last failure: {last}"));
    }

    pub fn cause(&self) -> Option<String> {
        self.cause.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns once the process is at `phase` or further.
    pub async fn reached(&self, phase: Phase) {
        let mut state = self.state.subscribe();
        // an error means that the sender is gone, and the process with it
        let _ = state.wait_for(|now| now.0 >= phase).await;
    }
}

/// How long the last writes of a process may take together.
pub const MAX_LAST_WRITES: Duration = Duration::from_secs(5);

/// How long a drain may take.
#[derive(Clone, Copy, Debug)]
pub struct DrainLimits {
    /// Maximum time for tasks to finish.
    pub grace: Duration,
    /// Maximum time after that for bodies to stop and settlements to end.
    pub stop_grace: Duration,
}

impl DrainLimits {
    /// Time from the end of the grace time to the end of the process.
    pub fn after_grace(&self) -> Duration {
        self.stop_grace + MAX_LAST_WRITES
    }
}

impl From<&Config> for DrainLimits {
    fn from(config: &Config) -> Self {
        DrainLimits { grace: config.worker.grace, stop_grace: config.supervision.stop_grace }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_never_moves_back() {
        let lifecycle = Lifecycle::default();
        lifecycle.advance(Phase::Releasing);
        lifecycle.advance(Phase::Draining);
        assert_eq!(lifecycle.phase(), Phase::Releasing);
    }

    #[test]
    fn the_first_cause_is_kept() {
        let lifecycle = Lifecycle::default();
        lifecycle.fail("first".to_owned());
        lifecycle.fail("second".to_owned());
        assert_eq!((lifecycle.cause(), lifecycle.phase()), (Some("first".to_owned()), Phase::Draining));
    }
}
