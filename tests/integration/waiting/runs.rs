//! `Runs`: the claimer and the executor of a process, whose work is a function of the test.

use std::sync::Arc;
use std::time::Duration;

use db::tasks::{self, ClaimedTask, NewTask};
use db::{Client, Db};
use domain::proxy::PoolState;
use domain::task::pause::Pauses;
use domain::task::role::{Role, RoleSet};
use domain::task::{LeaseTimes, TaskId};
use futures_util::future::{BoxFuture, join_all};
use queue::claimer::{ClaimRequest, Claimer, ClaimerDeps};
use queue::execute::{Executor, SlotOwner};
use queue::held_tasks::HeldTasks;
use queue::{Body, FollowUp, HandOver, Outcome, TaskError, Work};
use serde_json::{Value, json};
use settings::LiveConfig;
use supervision::background::Background;
use supervision::lifecycle::Lifecycle;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

const LEASE: Duration = Duration::from_secs(600);

pub struct Runs {
    pub held_tasks: HeldTasks,
    executor: Executor,
    claimer: Claimer,
}

/// One run, as a test's function sees it.
#[derive(Clone)]
pub struct TaskRun {
    pub db: Db,
    pub task: ClaimedTask,
    pub stop: CancellationToken,
}

type Script = dyn Fn(TaskRun) -> BoxFuture<'static, Result<Outcome, TaskError>> + Send + Sync;

struct Scripted {
    db: Db,
    script: Box<Script>,
}

struct ScriptedRun {
    work: Arc<Scripted>,
    run: TaskRun,
}

impl Work for Scripted {
    fn body(self: Arc<Self>, task: &ClaimedTask, stop: CancellationToken) -> Arc<dyn Body> {
        let run = TaskRun { db: self.db.clone(), task: task.clone(), stop };
        Arc::new(ScriptedRun { work: self, run })
    }
}

impl Body for ScriptedRun {
    fn run(self: Arc<Self>, _: Option<HandOver>) -> BoxFuture<'static, Result<Outcome, TaskError>> {
        (self.work.script)(self.run.clone())
    }

    fn detail(&self) -> Value {
        json!({})
    }
}

impl Runs {
    pub fn new<F>(db: &Db, script: impl Fn(TaskRun) -> F + Send + Sync + 'static) -> Runs
    where
        F: Future<Output = Result<Outcome, TaskError>> + Send + 'static,
    {
        Runs::configured(db, &[], script)
    }

    pub fn configured<F>(
        db: &Db,
        settings: &[(&'static str, &str)],
        script: impl Fn(TaskRun) -> F + Send + Sync + 'static,
    ) -> Runs
    where
        F: Future<Output = Result<Outcome, TaskError>> + Send + 'static,
    {
        let (lifecycle, held_tasks) = (Lifecycle::default(), HeldTasks::default());
        let pauses = watch::channel(Pauses::default()).1;
        let claimer = Claimer::start(ClaimerDeps {
            db: db.clone(),
            times: LeaseTimes { lease: LEASE, heartbeat: Duration::from_secs(30) },
            background: Background::new(&testkit::config(settings).supervision, lifecycle.clone()),
            held_tasks: held_tasks.clone(),
            proxies: watch::channel(PoolState { usable: 1, ..PoolState::default() }).1,
            can_write_payloads: watch::channel(true).1,
            pauses: pauses.clone(),
        });
        let work = Arc::new(Scripted { db: db.clone(), script: Box::new(move |run| Box::pin(script(run))) });
        let config = LiveConfig::fixed(testkit::config(settings));
        let executor = Executor::new(db.clone(), claimer.clone(), work, config, lifecycle, pauses);
        Runs { held_tasks, executor, claimer }
    }

    /// Claims a task and runs it until its end is written, as are those of all runs. False: there was none.
    pub async fn run_one(&self) -> bool {
        let ran = self.run_in_slot().await;
        self.held_tasks.until_empty().await;
        ran
    }

    /// Claims a task and runs it until its slot is free. False: there was none.
    pub async fn run_in_slot(&self) -> bool {
        let roles: RoleSet = "any,media".parse().unwrap();
        let request = ClaimRequest { roles: roles.clone(), worker_id: "scripted".to_owned(), task_actor: 1 };
        let Some(grant) = self.claimer.claim(request).await else { return false };
        let (current, _) = watch::channel(grant.task.lease.clone());
        let owner = SlotOwner { name: "Scripted".to_owned(), roles };
        self.executor.run(grant, &owner, &current).await;
        true
    }

    /// Runs all that can be claimed, and what becomes ready meanwhile, on some slots at once.
    pub async fn run_all(&self, client: &Client) {
        const SLOTS: usize = 32;
        loop {
            let ran = join_all((0..SLOTS).map(|_| self.run_in_slot())).await.contains(&true);
            self.held_tasks.until_empty().await;
            if tasks::sweep_all(client).await.unwrap() == 0 && !ran {
                return;
            }
        }
    }
}

/// A sync of creators, as a job.
pub fn sync() -> NewTask {
    NewTask { platform: Some("site".to_owned()), ..NewTask::new(Role::PaidContentSync) }
}

/// A child for one creator.
pub fn creator(number: usize) -> FollowUp {
    let account = Some(format!("creator-{number}"));
    FollowUp { account, ..FollowUp::new(Role::PaidContentCreator, json!({ "creator_id": number })) }
}

pub async fn enqueue(client: &Client, task: NewTask) -> TaskId {
    tasks::enqueue(client, &[task]).await.unwrap()[0]
}

/// The body of a sync of that many creators: it makes its children, and sums them up when they have ended.
pub async fn sync_of(run: TaskRun, creators: usize) -> Result<Outcome, TaskError> {
    let children = tasks::children_of(&run.db.client().await?, run.task.lease.id).await?;
    if children.is_empty() {
        return Ok(Outcome::wait_for((0..creators).map(creator).collect()).into());
    }
    let ended = |status: &str| {
        let has = |child: &&tasks::AwaitedChild| child.status.as_ref().is_some_and(|word| word.to_string() == status);
        children.iter().filter(has).count()
    };
    let counts = json!({
        "completed": ended("completed"),
        "failed": ended("failed"),
        "cancelled": ended("cancelled"),
        "deleted": children.iter().filter(|child| child.status.is_none()).count(),
    });
    Ok(Outcome::done(counts).into())
}

/// A sync of that many creators whose children end by themselves.
pub async fn sync_or_creator(run: TaskRun, creators: usize) -> Result<Outcome, TaskError> {
    match run.task.role {
        Role::PaidContentSync => sync_of(run, creators).await,
        _ => Ok(Outcome::done(json!({ "items": 3 })).into()),
    }
}
