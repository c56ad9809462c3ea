//! `Lifecycle`: whether this process runs, drains or releases, and why it failed, for everyone to see.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use crate::events;

/// How far the process is on its way out; only ever moves down this list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    Running,
    /// Claims nothing more, lets its tasks finish.
    Draining,
    /// Gives its tasks back at once.
    Releasing,
    Over,
}

#[derive(Clone)]
pub struct Lifecycle {
    phase: Arc<watch::Sender<Phase>>,
    cause: Arc<Mutex<Option<String>>>,
}

impl Default for Lifecycle {
    fn default() -> Self {
        Lifecycle { phase: Arc::new(watch::Sender::new(Phase::Running)), cause: Arc::default() }
    }
}

impl Lifecycle {
    pub fn phase(&self) -> Phase {
        *self.phase.borrow()
    }

    pub fn is_running(&self) -> bool {
        self.phase() == Phase::Running
    }

    pub fn is_over(&self) -> bool {
        self.phase() == Phase::Over
    }

    /// Moves on to `phase`; a step back is ignored.
    pub fn advance(&self, phase: Phase) {
        self.phase.send_if_modified(|now| {
            let later = phase > *now;
            *now = phase.max(*now);
            later
        });
    }

    /// Something cannot be mended in this process: it drains and exits non-zero. The first cause is kept.
    pub fn fail(&self, cause: String) {
        events::process_ending(&cause);
        self.cause.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(cause);
        self.advance(Phase::Draining);
    }

    pub fn cause(&self) -> Option<String> {
        self.cause.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Comes back once the process is at `phase` or further.
    pub async fn reached(&self, phase: Phase) {
        let mut seen = self.phase.subscribe();
        // an error means that the sender is gone, which is as far as a process gets
        let _ = seen.wait_for(|now| *now >= phase).await;
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
