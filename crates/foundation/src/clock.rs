//! `Clock`: the system's time, or a time that a test moves; the only caller of `now()` in Rust.
//!
//! Times that SQL compares come from the database, never from here.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};

#[derive(Clone, Debug, Default)]
pub struct Clock(Option<Arc<Mutex<Manual>>>);

#[derive(Debug)]
struct Manual {
    utc: DateTime<Utc>,
    instant: Instant,
}

impl Clock {
    pub fn system() -> Self {
        Clock(None)
    }

    /// A clock that moves only by [`Clock::advance`].
    pub fn manual(start: DateTime<Utc>) -> Self {
        Clock(Some(Arc::new(Mutex::new(Manual { utc: start, instant: Instant::now() }))))
    }

    /// Wall-clock time, for people.
    #[expect(clippy::disallowed_methods, reason = "the one place that asks the system")]
    pub fn utc(&self) -> DateTime<Utc> {
        match &self.0 {
            None => Utc::now(),
            Some(manual) => manual.lock().unwrap_or_else(PoisonError::into_inner).utc,
        }
    }

    /// Monotonic time, for measurements.
    pub fn instant(&self) -> Instant {
        match &self.0 {
            None => Instant::now(),
            Some(manual) => manual.lock().unwrap_or_else(PoisonError::into_inner).instant,
        }
    }

    /// Moves a manual clock on; the system's clock moves by itself.
    pub fn advance(&self, by: Duration) {
        if let Some(manual) = &self.0 {
            let mut manual = manual.lock().unwrap_or_else(PoisonError::into_inner);
            manual.instant += by;
            manual.utc += by;
        }
    }
}
