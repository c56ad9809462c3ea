//! `Background`: loops of a process that are not actors, such as the one that reads the pauses.
//!
//! In: a loop and its name. Out: a loop that runs again after a panic, on the state that it had; too many
//! panics within the window end the process, naming the loop. It must not know what a loop does.

use std::panic::AssertUnwindSafe;
use std::time::Instant;

use futures_util::FutureExt;
use thiserror::Error;
use tokio::task::JoinHandle;

use super::lifecycle::Lifecycle;
use super::{RestartPolicy, panics, pause};
use telemetry::events;

/// Work that continues until it has nothing more to do.
pub trait BackgroundLoop: Send + 'static {
    /// Runs to the end of the work. After a panic it is called again, on the same state.
    fn run(&mut self) -> impl Future<Output = ()> + Send;
}

impl<F, R> BackgroundLoop for F
where
    F: FnMut() -> R + Send + 'static,
    R: Future<Output = ()> + Send,
{
    fn run(&mut self) -> impl Future<Output = ()> + Send {
        self()
    }
}

/// A loop panicked too often; the process is ending.
#[derive(Debug, Error)]
#[error("the loop panicked too often")]
pub struct GivenUp;

/// Cheap to clone.
#[derive(Clone)]
pub struct Background {
    policy: RestartPolicy,
    lifecycle: Lifecycle,
}

impl Background {
    pub fn new(config: &settings::Supervision, lifecycle: Lifecycle) -> Background {
        Background { policy: config.into(), lifecycle }
    }

    pub fn lifecycle(&self) -> &Lifecycle {
        &self.lifecycle
    }

    /// Starts a loop on the current runtime.
    pub fn start(&self, name: &'static str, mut body: impl BackgroundLoop) -> JoinHandle<()> {
        let background = self.clone();
        tokio::spawn(async move {
            // the lifecycle has the cause
            let _ = background.run(name, &mut body).await;
        })
    }

    /// Runs work that cannot begin again, such as a server that owns its listener: a panic ends the process.
    pub async fn run_once(self, name: &'static str, work: impl Future<Output = ()> + Send) {
        if let Err(panic) = AssertUnwindSafe(work).catch_unwind().await {
            self.lifecycle.fail(format!("{name} failed: panic: {}", panics::text(panic.as_ref())));
        }
    }

    /// Runs a loop to its end. The first restart is at once, the next ones come after a growing pause.
    pub async fn run(&self, name: &'static str, body: &mut impl BackgroundLoop) -> Result<(), GivenUp> {
        let mut failures = self.policy.restart_limit.clone();
        while let Err(panic) = AssertUnwindSafe(body.run()).catch_unwind().await {
            let text = panics::text(panic.as_ref());
            if failures.record_failure(Instant::now()) {
                self.lifecycle.fail_too_often(name, &format_args!("panic: {text}"));
                return Err(GivenUp);
            }
            events::actor_restarted(name, name, &text);
            tokio::time::sleep(pause(&self.policy, failures.count())).await;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::lifecycle::Phase;
    use super::super::restart_limit::RestartLimit;
    use super::*;

    fn background(restarts: usize) -> Background {
        let policy = RestartPolicy {
            restart_limit: RestartLimit::new(restarts, Duration::from_secs(60)),
            window: Duration::from_secs(60),
            backoff: Duration::from_millis(1),
            backoff_max: Duration::from_millis(1),
            tick_interval: Duration::from_secs(1),
        };
        Background { policy, lifecycle: Lifecycle::default() }
    }

    /// Panics in its first runs.
    struct Counter {
        runs: u32,
        panics: u32,
    }

    impl BackgroundLoop for Counter {
        async fn run(&mut self) {
            self.runs += 1;
            assert!(self.runs > self.panics, "planted");
        }
    }

    #[tokio::test]
    async fn a_loop_that_panics_goes_on_with_its_state() {
        let (background, mut counter) = (background(2), Counter { runs: 0, panics: 2 });
        background.run("counter", &mut counter).await.unwrap();
        assert_eq!((counter.runs, background.lifecycle.phase()), (3, Phase::Running));
    }

    #[tokio::test]
    async fn work_that_cannot_begin_again_ends_the_process_with_its_first_panic() {
        let background = background(2);
        background.clone().run_once("server", async { panic!("planted") }).await;
        let cause = background.lifecycle.cause().unwrap();
        assert!(cause.starts_with("server failed: panic: planted"), "{cause}");
    }

    #[tokio::test]
    async fn a_loop_that_panics_too_often_ends_the_process_by_name() {
        let background = background(2);
        background.start("counter", Counter { runs: 0, panics: 3 }).await.unwrap();
        let cause = background.lifecycle.cause().unwrap();
        assert!(cause.starts_with("counter failed too often; the last failure: panic: planted"), "{cause}");
        assert_eq!(background.lifecycle.phase(), Phase::Draining);
    }
}
