//! The claimer of a process when the network loses its answers.

use std::time::Duration;

use db::tasks::{self, NewTask};
use db::{Db, PoolSizes};
use domain::proxy::PoolState;
use domain::task::LeaseTimes;
use domain::task::pause::Pauses;
use domain::task::role::{Role, RoleSet};
use futures_util::future::join_all;
use queue::claimer::{ClaimRequest, Claimer, ClaimerDeps};
use queue::held_tasks::HeldTasks;
use supervision::background::Background;
use supervision::lifecycle::Lifecycle;
use tokio::sync::watch;

use testkit::{FaultProxy, TestDatabase, database, database_settings, until};

/// Number of lost answers of each claimer.
const LOST_ANSWERS: usize = 50;
/// Number of claimers, with a database each, side by side.
const CLAIMERS: usize = 4;
const LOST_IN_A_ROW: usize = 3;
const TASKS: usize = 4;
const WORKER: &str = "worker-without-answers";

#[tokio::test]
async fn a_claim_whose_answer_is_lost_is_given_back_within_seconds_without_blame() {
    join_all((0..CLAIMERS).map(|_| lose_answers())).await;
}

async fn lose_answers() {
    let database = database().await;
    let network = FaultProxy::start(&database.url).await;
    let held_tasks = HeldTasks::default();
    let claimer = claimer(&network, &held_tasks);
    enqueue(&database, TASKS).await;

    for lost in 1..=LOST_ANSWERS {
        network.lose_answer_with(WORKER);
        ask_for_tasks(&claimer).await;
        assert_eq!(network.lost_answers(), lost);
        until_all_are_back(&database, TASKS).await;
    }
    let blamed = "SELECT count(*) FROM worker_tasks WHERE loss_count + crash_count + retry_count > 0";
    assert_eq!(count(&database, blamed).await, 0);
    assert_eq!(held_tasks.count(), 0);
}

#[tokio::test]
async fn answers_that_are_lost_in_a_row_keep_no_more_tasks_than_one() {
    let database = database().await;
    let network = FaultProxy::start(&database.url).await;
    let held_tasks = HeldTasks::default();
    let claimer = claimer(&network, &held_tasks);
    // a claim that was sent while another one is unanswered would get tasks of its own
    enqueue(&database, LOST_IN_A_ROW * TASKS).await;

    network.lose_answers_with(WORKER, LOST_IN_A_ROW);
    for _ in 0..LOST_IN_A_ROW {
        ask_for_tasks(&claimer).await;
    }
    until_all_are_back(&database, LOST_IN_A_ROW * TASKS).await;
    assert_eq!(network.lost_answers(), LOST_IN_A_ROW);
    assert_eq!(held_tasks.count(), 0);
}

/// One request for each of `TASKS` task actors. Their tasks go back when the answer is dropped.
async fn ask_for_tasks(claimer: &Claimer) {
    let claims = (0..TASKS).map(|task_actor| {
        let (roles, worker_id) = (RoleSet::any(), WORKER.to_owned());
        claimer.claim(ClaimRequest { roles, worker_id, task_actor })
    });
    drop(join_all(claims).await);
}

async fn enqueue(database: &TestDatabase, count: usize) {
    let new: Vec<NewTask> = (0..count).map(|_| NewTask::new(Role::AnalyticsRefresh)).collect();
    tasks::enqueue(&database.db.client().await.unwrap(), &new).await.unwrap();
}

async fn until_all_are_back(database: &TestDatabase, tasks: usize) {
    let pending = "SELECT count(*) FROM worker_tasks WHERE status = 'pending' AND ready";
    until("every task is back", Duration::from_secs(60), async || count(database, pending).await == tasks as i64).await;
}

fn claimer(network: &FaultProxy, held_tasks: &HeldTasks) -> Claimer {
    let (proxies, pool_state) = watch::channel(PoolState { usable: 1, ..PoolState::default() });
    let (disk, can_write_payloads) = watch::channel(true);
    // the claimer reads the last values
    drop((proxies, disk));
    Claimer::start(ClaimerDeps {
        db: Db::new(&network.url(), &database_settings(), PoolSizes { work: 2, api: 1 }).unwrap(),
        times: LeaseTimes { lease: Duration::from_secs(600), heartbeat: Duration::from_secs(30) },
        background: Background::new(&testkit::config(&[]).supervision, Lifecycle::default()),
        held_tasks: held_tasks.clone(),
        proxies: pool_state,
        can_write_payloads,
        pauses: watch::channel(Pauses::default()).1,
    })
}

async fn count(database: &TestDatabase, sql: &str) -> i64 {
    database.raw.query_one(sql, &[]).await.unwrap().get(0)
}
