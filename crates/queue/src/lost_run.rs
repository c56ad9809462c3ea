//! The end of a run that has lost its lease: nothing of it is written. Where its task was cancelled, the
//! store is released now.
//!
//! In: a run whose body has stopped, or may not stop. Out: an event, and the store's reservation for the next
//! task. It must not know how other runs end.

use std::time::Duration;

use super::execute::{Executor, Run};
use db::{DbError, tasks};
use domain::retry;
use supervision::lifecycle::Phase;
use telemetry::events;

const RETRY_BASE: Duration = Duration::from_millis(100);
const RETRY_CAP: Duration = Duration::from_secs(1);
/// Maximum time that a process which gives its tasks back continues with it. Afterwards the store is free when the lease would
/// have run out.
const MAX_TIME_WHEN_RELEASING: Duration = Duration::from_secs(5);

impl Run {
    /// Its body was stopped, because its lease was lost.
    pub async fn end_lost(&self) {
        match self.was_cancelled().await {
            true => self.report_cancelled(),
            false => self.report_lost(),
        }
    }

    /// Its body ended, and its lease was lost before that could be written: the fence refused it.
    pub async fn end_fenced(&self) {
        match self.was_cancelled().await {
            true => self.report_cancelled(),
            false => self.report_fenced(),
        }
    }

    /// Lets the store go, where the lease was lost because the task was cancelled. The body must have
    /// stopped. It is tried for as long as a lease lasts: then the store is free without it.
    pub async fn was_cancelled(&self) -> bool {
        fail::fail_point!("execute.before_stop_is_noted");
        let Executor { config, lifecycle, .. } = &self.executor;
        let is_releasing = async {
            lifecycle.reached(Phase::Releasing).await;
            tokio::time::sleep(MAX_TIME_WHEN_RELEASING).await;
        };
        let noted = tokio::select! {
            noted = tokio::time::timeout(config.current().config.queue.lease, self.note_stop()) => noted.ok(),
            () = is_releasing => None,
        };
        match noted {
            Some(Ok(was_cancelled)) => return was_cancelled,
            Some(Err(error)) => events::stop_not_noted(self.task.lease.id, &error),
            None => events::stop_not_noted(self.task.lease.id, &"the database gave no answer in time"),
        }
        false
    }

    async fn note_stop(&self) -> Result<bool, DbError> {
        let mut tries = 0;
        loop {
            let noted = async { tasks::run_stopped(&self.executor.db.client().await?, &self.task.lease).await };
            match noted.await {
                Err(error) if error.is_transient() => {
                    tokio::time::sleep(retry::doubling(RETRY_BASE, RETRY_CAP, tries)).await;
                    tries += 1;
                }
                answer => return answer,
            }
        }
    }

    pub fn report_cancelled(&self) {
        events::task_cancelled(&self.event(), "by request", self.elapsed());
    }

    pub fn report_lost(&self) {
        events::task_lost(&self.event(), self.elapsed());
    }

    pub fn report_fenced(&self) {
        events::task_fenced(&self.event(), self.elapsed());
    }
}
