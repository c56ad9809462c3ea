//! `Stopped`: why pending tasks are not claimed. In: the pauses in force and the resting proxies, from the API.
//! Out: reasons, task by task.

use crate::cli::client::ApiClient;
use contract::pauses::{Pause, PauseList};
use contract::proxies::ProxyPage;
use contract::tasks::{StoppedClaims, TaskView};
use domain::pause::PauseTarget;
use domain::proxy::RestingProxies;
use domain::shown_status::ShownStatus;
use domain::vocabulary::Word;

#[derive(Debug)]
pub struct Stopped {
    pauses: Vec<Pause>,
    resting: RestingProxies,
}

impl Stopped {
    pub fn of(claims: StoppedClaims) -> Stopped {
        Stopped { pauses: claims.pauses, resting: claims.resting_proxies }
    }

    pub async fn read(api: &ApiClient) -> anyhow::Result<Stopped> {
        let PauseList { pauses } = api.get("/api/pauses").await?;
        let ProxyPage { resting, .. } = api.get("/api/proxies?limit=1").await?;
        Ok(Stopped { pauses, resting })
    }

    /// The pauses that the task waits for, as `role payload_fetch is paused: a new parser`, and the rest of the proxies.
    pub fn reasons(&self, task: &TaskView) -> Vec<String> {
        if task.status != Word::Known(ShownStatus::Pending) {
            return Vec::new();
        }
        let stops = |pause: &&Pause| match (pause.parsed(), &task.role) {
            (Some(PauseTarget::Store(id)), _) => task.dispensary_id == Some(id),
            (Some(target), Word::Known(role)) => target.stops_role(*role),
            _ => false,
        };
        let pauses =
            self.pauses.iter().filter(stops).map(|pause| format!("{} is paused: {}", pause.target(), pause.reason));
        let needs_proxy = matches!(task.role, Word::Known(role) if role.spec().needs_proxy);
        let rest = (needs_proxy && self.resting.is_all()).then(|| self.resting.to_string());
        pauses.chain(rest).collect()
    }
}
