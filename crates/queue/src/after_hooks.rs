//! `AfterHooks`: runs a handler's hooks after the commit of its run, when the task is completed and its lease
//! has ended.
//!
//! Best effort: at most [`MAX_HOOKS`] at once, each with a time limit; one that finds no place is left out,
//! and none outlives the process. It must not know what the hooks do.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::Semaphore;
use tracing::Instrument;

use crate::{AfterHook, Committed};
use domain::task::TaskId;
use supervision::panics;
use telemetry::events;

const MAX_HOOKS: usize = 64;
const MAX_HOOK_TIME: Duration = Duration::from_secs(60);

/// Cheap to clone.
#[derive(Clone)]
pub struct AfterHooks {
    places: Arc<Semaphore>,
    time_limit: Duration,
}

impl Default for AfterHooks {
    fn default() -> Self {
        AfterHooks { places: Arc::new(Semaphore::new(MAX_HOOKS)), time_limit: MAX_HOOK_TIME }
    }
}

impl AfterHooks {
    /// Starts `hook` on the current runtime.
    pub fn spawn(&self, task: TaskId, hook: AfterHook, committed: Committed) {
        let Ok(permit) = self.places.clone().try_acquire_owned() else {
            return events::after_hook_failed(task, &format!("{MAX_HOOKS} others are running"));
        };
        let time_limit = self.time_limit;
        let limited = async move {
            let _permit = permit;
            let hook = tokio::time::timeout(time_limit, async { hook(committed).await });
            match AssertUnwindSafe(hook).catch_unwind().await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => events::after_hook_failed(task, &format!("it ran longer than {time_limit:?}")),
                Err(panic) => events::after_hook_failed(task, &panics::text(panic.as_ref())),
            }
        };
        tokio::spawn(limited.in_current_span());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tokio::sync::mpsc;

    use super::*;
    use crate::{Done, Outcome};

    fn committed(result: Value) -> Committed {
        Committed { result, next: Vec::new(), data: None, started: None }
    }

    fn hook(done: Done) -> AfterHook {
        done.after.unwrap()
    }

    #[tokio::test]
    async fn a_hook_sees_what_was_committed() {
        let (seen, mut results) = mpsc::channel(1);
        let done =
            Outcome::done(json!({})).after(|committed| async move { seen.send(committed.result).await.unwrap() });
        AfterHooks::default().spawn(1, hook(done), committed(json!({ "bytes": 3 })));
        assert_eq!(results.recv().await, Some(json!({ "bytes": 3 })));
    }

    #[tokio::test]
    async fn hooks_that_panic_or_hang_give_their_places_back() {
        let hooks = AfterHooks { time_limit: Duration::from_millis(1), ..AfterHooks::default() };
        for n in 0..MAX_HOOKS {
            let done = Outcome::done(json!({})).after(move |_| async move {
                match n % 2 {
                    0 => std::panic::panic_any("planted"),
                    _ => std::future::pending().await,
                }
            });
            hooks.spawn(1, hook(done), committed(Value::Null));
        }
        assert!(hooks.places.try_acquire().is_err(), "one more is left out");
        assert!(hooks.places.acquire_many(MAX_HOOKS as u32).await.is_ok());
    }
}
