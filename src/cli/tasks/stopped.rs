//! Why pending tasks are not claimed. In: the pauses in force and the resting proxies, from the API. Out: reasons, task by task.

use crate::cli::ApiClient;
use contract::pauses::{Pause, PauseList};
use contract::proxies::ProxyPage;
use contract::tasks::{StoppedClaims, TaskView};
use domain::task::pause::PauseTarget;
use domain::task::shown_status::ShownStatus;
use domain::vocabulary::Word;

/// Reads why tasks are not claimed, as a page of tasks shows it.
pub async fn read(api: &ApiClient) -> anyhow::Result<StoppedClaims> {
    let PauseList { pauses } = api.get("/api/pauses").await?;
    let ProxyPage { resting: resting_proxies, .. } = api.get("/api/proxies?limit=1").await?;
    Ok(StoppedClaims { pauses, resting_proxies })
}

/// The pauses that the task waits for, as `role payload_fetch is paused: a new parser`, and the rest of the proxies.
pub fn reasons(stopped: &StoppedClaims, task: &TaskView) -> Vec<String> {
    if task.status != Word::Known(ShownStatus::Pending) {
        return Vec::new();
    }
    let StoppedClaims { pauses, resting_proxies: resting } = stopped;
    let stops = |pause: &&Pause| match (pause.parsed(), &task.role) {
        (Some(PauseTarget::Store(id)), _) => task.dispensary_id == Some(id),
        (Some(target), Word::Known(role)) => target.stops_role(*role),
        _ => false,
    };
    let paused = pauses.iter().filter(stops).map(|pause| format!("{} is paused: {}", pause.target(), pause.reason));
    let needs_proxy = matches!(task.role, Word::Known(role) if role.kind().needs_proxy);
    let rest = (needs_proxy && resting.is_all()).then(|| resting.to_string());
    paused.chain(rest).collect()
}
