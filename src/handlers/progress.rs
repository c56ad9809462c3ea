//! `RunProgress`: how far a run is, reported while its work continues.
//!
//! In: the steps of the work, as often as they come. Out: the task's `progress_percent` and
//! `progress_message`, seldom. Best effort: a failed write does not fail the run. It must not know what the
//! work is.

use std::future::{Future, pending};
use std::time::Duration;

use tokio::sync::watch;

use super::Context;

/// Minimum time between two writes; a shorter run writes nothing.
const GAP: Duration = Duration::from_secs(2);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunProgress {
    /// Percentage; None where the total is unknown.
    pub percent: Option<u8>,
    pub message: String,
}

impl RunProgress {
    /// `done` of `total`.
    pub fn of(done: usize, total: usize, message: String) -> RunProgress {
        let percent = u8::try_from(100 * done.min(total) / total.max(1)).unwrap_or(100);
        RunProgress { percent: Some(percent), message }
    }
}

/// Does `work`, and reports its newest step.
pub async fn report_progress_while<S, T>(
    ctx: &Context,
    mut steps: watch::Receiver<S>,
    describe: fn(&S) -> RunProgress,
    work: impl Future<Output = T>,
) -> T {
    let report = async {
        loop {
            tokio::time::sleep(GAP).await;
            if steps.changed().await.is_err() {
                return pending().await;
            }
            let RunProgress { percent, message } = describe(&steps.borrow_and_update());
            ctx.progress(percent, message).await;
        }
    };
    tokio::select! {
        result = work => result,
        never = report => never,
    }
}
