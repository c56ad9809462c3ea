//! `Claimer`: one for a process; answers the claims of many task actors with one statement, and completes in
//! the same round trip runs without effects. Claimed tasks start beside that (`starter`).
//!
//! In: claims and completions. Out: grants and answers. It knows when claiming makes no sense (draining, no
//! proxy, a pause, a suspect running here already), but not what a task does.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot, watch};

use super::held_tasks::{DrainHold, HeldTask, HeldTasks, NO_TASK_ACTOR, TaskActorId};
use super::starter::Starter;
use super::task_guard::TaskGuard;
use crate::HandOver;
use db::tasks::{self, ClaimBatch, ClaimBatchResult, ClaimToken, ClaimedTask, Completion};
use db::{Db, DbError};
use domain::proxy::PoolState;
use domain::retry;
use domain::task::pause::Pauses;
use domain::task::role::{Role, RoleSet};
use domain::task::{LeaseTimes, TaskId, TaskLease};
use supervision::background::{Background, BackgroundLoop};
use telemetry::events;

/// Maximum number of requests that one statement answers.
const MAX_BATCH: usize = 500;
const MAX_QUEUED_REQUESTS: usize = 1024;

/// A claimed task on its way to its run. Dropped unused, the task goes back.
pub struct TaskGrant {
    pub task: ClaimedTask,
    pub guard: TaskGuard,
    /// Only with a chained task that its parent's run has started in its slot: the task is running, and that
    /// run has left this for it.
    pub hand_over: Option<HandOver>,
}

#[derive(Clone)]
pub struct Claimer {
    requests: mpsc::Sender<Request>,
    starter: Starter,
}

/// A task of one of `roles`, for a task actor of a worker.
#[derive(Clone, Debug)]
pub struct ClaimRequest {
    pub roles: RoleSet,
    pub worker_id: String,
    pub task_actor: TaskActorId,
}

/// Whether a completion was written.
pub(crate) type Answer = oneshot::Receiver<Result<bool, DbError>>;

enum Request {
    Claim(ClaimRequest, oneshot::Sender<Option<TaskGrant>>),
    Complete(Completion, oneshot::Sender<Result<bool, DbError>>),
}

/// Inputs of the claimer's decisions.
pub struct ClaimerDeps {
    pub db: Db,
    pub times: LeaseTimes,
    pub background: Background,
    pub held_tasks: HeldTasks,
    /// State of the proxies: while none is usable, roles that need one are not claimed.
    pub proxies: watch::Receiver<PoolState>,
    /// Whether payloads can be written: while not, roles that need a proxy are not claimed, for each fetch would only find that out again.
    pub can_write_payloads: watch::Receiver<bool>,
    /// Paused roles are not claimed.
    pub pauses: watch::Receiver<Pauses>,
}

impl Claimer {
    /// Starts it on the current runtime; it ends when the last handle is dropped.
    pub fn start(deps: ClaimerDeps) -> Claimer {
        let (requests, inbox) = mpsc::channel(MAX_QUEUED_REQUESTS);
        let background = deps.background.clone();
        let starter = Starter::new(&deps.db, &background);
        background.start("claimer", ClaimLoop { deps, inbox, unanswered: None });
        Claimer { requests, starter }
    }

    /// A task, if one may be claimed now.
    pub async fn claim(&self, request: ClaimRequest) -> Option<TaskGrant> {
        let (answer, grant) = oneshot::channel();
        self.requests.send(Request::Claim(request, answer)).await.ok()?;
        grant.await.ok()?
    }

    pub(crate) fn starter(&self) -> &Starter {
        &self.starter
    }

    /// Queues the completion of a run without effects, before later claims. Returns its answer: `false` means that
    /// nothing was written, since its lease is lost, or another session has its row locked; no answer means the
    /// same as an error.
    pub(crate) async fn complete(&self, completion: Completion) -> Answer {
        let (answer, settled) = oneshot::channel();
        // the drop of a claimer that has stopped is the answer
        let _ = self.requests.send(Request::Complete(completion, answer)).await;
        settled
    }
}

/// A claim of a batch, and where its answer goes.
struct Claim {
    worker_id: String,
    task_actor: TaskActorId,
    answer: oneshot::Sender<Option<TaskGrant>>,
}

/// The requests of one statement.
#[derive(Default)]
struct Batch {
    roles: Vec<Role>,
    claims: Vec<Claim>,
    done: Vec<(Completion, oneshot::Sender<Result<bool, DbError>>)>,
}

struct ClaimLoop {
    deps: ClaimerDeps,
    inbox: mpsc::Receiver<Request>,
    unanswered: Option<UnansweredClaim>,
}

/// A claim that may have been committed although its answer did not arrive.
struct UnansweredClaim {
    token: ClaimToken,
    tries: u32,
    /// A drain waits until it is given back.
    _drain_hold: DrainHold,
}

const RETRY_BASE: Duration = Duration::from_millis(50);
const RETRY_CAP: Duration = Duration::from_secs(1);

impl BackgroundLoop for ClaimLoop {
    /// A panic costs the batch in which it happens, whose requests stay without an answer, and no more.
    async fn run(&mut self) {
        let mut requests = Vec::with_capacity(MAX_BATCH);
        loop {
            let tries = self.unanswered.as_ref().map_or(0, |claim| claim.tries);
            let received = tokio::select! {
                received = self.inbox.recv_many(&mut requests, MAX_BATCH) => received,
                () = tokio::time::sleep(retry::doubling(RETRY_BASE, RETRY_CAP, tries)), if self.unanswered.is_some() => {
                    // an error is tried again after a longer pause
                    let _ = self.give_back_unanswered().await;
                    continue;
                }
            };
            if received == 0 {
                return;
            }
            fail::fail_point!("claimer");
            self.answer(std::mem::take(&mut requests)).await;
        }
    }
}

impl ClaimLoop {
    async fn answer(&mut self, requests: Vec<Request>) {
        let _drain_hold = self.deps.held_tasks.hold_drain();
        for batch in self.batches(requests) {
            self.round_trip(batch).await;
        }
    }

    /// Claims of the same roles share a statement; completions go with the first.
    fn batches(&self, requests: Vec<Request>) -> Vec<Batch> {
        let mut by_roles: HashMap<Vec<Role>, Batch> = HashMap::new();
        let mut done = Vec::new();
        for request in requests {
            let (claim, answer) = match request {
                Request::Claim(claim, answer) => (claim, answer),
                Request::Complete(completion, answer) => {
                    done.push((completion, answer));
                    continue;
                }
            };
            let roles = self.claimable(&claim.roles);
            if roles.is_empty() {
                let _ = answer.send(None);
                continue;
            }
            let ClaimRequest { worker_id, task_actor, .. } = claim;
            let batch = by_roles.entry(roles.clone()).or_insert_with(|| Batch { roles, ..Batch::default() });
            batch.claims.push(Claim { worker_id, task_actor, answer });
        }
        let mut batches: Vec<Batch> = by_roles.into_values().collect();
        if batches.is_empty() && !done.is_empty() {
            batches.push(Batch::default());
        }
        if let Some(first) = batches.first_mut() {
            first.done = done;
        }
        batches
    }

    fn claimable(&self, roles: &RoleSet) -> Vec<Role> {
        if !self.deps.background.lifecycle().is_running() {
            return Vec::new();
        }
        let can_fetch = self.deps.proxies.borrow().usable > 0 && *self.deps.can_write_payloads.borrow();
        let possible = if can_fetch { roles.roles().to_vec() } else { roles.without_proxy_roles() };
        self.deps.pauses.borrow().claimable(&possible)
    }

    async fn round_trip(&mut self, batch: Batch) {
        let Batch { roles, claims, done } = batch;
        let (done, settle_answers): (Vec<_>, Vec<_>) = done.into_iter().unzip();
        let settled_ids: Vec<TaskId> = done.iter().map(|completion: &Completion| completion.lease.id).collect();
        let batch = ClaimBatch {
            done,
            roles,
            workers: claims.iter().map(|claim| claim.worker_id.clone()).collect(),
            lease: self.deps.times.lease,
            allow_suspect: !self.deps.held_tasks.holds_suspect(),
            token: ClaimToken::random(),
        };
        let sent = Instant::now();
        match self.send(&batch).await {
            Ok(ClaimBatchResult { settled, claimed }) => {
                for (id, answer) in settled_ids.iter().zip(settle_answers) {
                    let _ = answer.send(Ok(settled.contains(id)));
                }
                self.hand_out(claimed, claims, sent);
                self.unanswered = None;
            }
            Err(error) => {
                events::claim_failed(&error);
                let text = error.to_string();
                for answer in settle_answers {
                    let _ = answer.send(Err(DbError::Unavailable(text.clone())));
                }
            }
        }
    }

    /// Claims nothing more until an earlier claim's tasks are known: each lost answer would block a batch of tasks for the
    /// length of a lease.
    async fn send(&mut self, batch: &ClaimBatch) -> Result<ClaimBatchResult, DbError> {
        self.give_back_unanswered().await?;
        let client = self.deps.db.client().await?;
        if !batch.workers.is_empty() {
            let drain_hold = self.deps.held_tasks.hold_drain();
            self.unanswered = Some(UnansweredClaim { token: batch.token, tries: 0, _drain_hold: drain_hold });
        }
        tasks::settle_and_claim(&client, batch).await
    }

    /// Gives back the tasks of a claim without an answer.
    async fn give_back_unanswered(&mut self) -> Result<(), DbError> {
        let Some(claim) = &mut self.unanswered else { return Ok(()) };
        claim.tries += 1;
        let tasks = give_back(&self.deps.db, claim.token).await?;
        if tasks > 0 {
            events::unanswered_claim_given_back(tasks);
        }
        self.unanswered = None;
        Ok(())
    }

    /// Every claimed task is among the held tasks before its claim is answered. One whose actor has died
    /// meanwhile goes back.
    fn hand_out(&self, claimed: Vec<ClaimedTask>, mut claims: Vec<Claim>, sent: Instant) {
        for task in claimed {
            let claim = claims.iter().position(|claim| claim.worker_id == task.lease.worker_id);
            let claim = claim.map(|index| claims.swap_remove(index));
            let (lease, is_suspect) = (task.lease.clone(), task.is_suspect());
            let task_actor = claim.as_ref().map_or(NO_TASK_ACTOR, |claim| claim.task_actor);
            let entry = HeldTask { lease, task_actor, is_suspect, stop_at: sent + self.deps.times.self_stop() };
            let guard = TaskGuard::enter(entry, &self.deps.held_tasks, &self.deps.db);
            // a grant whose receiver is gone is dropped, which gives its task back
            if let Some(claim) = claim {
                let _ = claim.answer.send(Some(TaskGrant { task, guard, hand_over: None }));
            }
        }
        for claim in claims {
            let _ = claim.answer.send(None);
        }
    }
}

/// Returns how many tasks were given back. They were never begun, so their loss counts for nothing.
async fn give_back(db: &Db, token: ClaimToken) -> Result<i32, DbError> {
    let client = db.client().await?;
    let claimed = tasks::claimed_with(&client, token).await?;
    let leases: Vec<TaskLease> = claimed.into_iter().map(|task| task.lease).collect();
    if leases.is_empty() {
        return Ok(0);
    }
    tasks::release_unstarted(&client, &leases).await
}
