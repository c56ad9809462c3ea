//! All at once: enqueuers, claimers by role sets, people at psql, a sweeper. No two tasks of a store run at
//! the same time, each task is done once, no call fails, and nothing is left.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use chrono::TimeDelta;
use db::tasks::{AttemptOutcome, Completion};
use db::{Db, PoolSizes};
use domain::task::TaskLease;
use foundation::clock::Clock;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::json;

use super::*;

const TASKS: usize = 3000;
const STORES: i64 = 12;
const RACING: Duration = Duration::from_secs(8);
const DRAINING: Duration = Duration::from_secs(60);

struct Race {
    db: Db,
    made: AtomicUsize,
    stop: AtomicBool,
    doubles: AtomicU64,
    done: Mutex<HashMap<TaskId, usize>>,
    errors: Mutex<Vec<String>>,
}

impl Race {
    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn note<T>(&self, who: &str, answer: Result<T, DbError>) -> Option<T> {
        answer.map_err(|error| self.errors.lock().unwrap().push(format!("{who}: {error}"))).ok()
    }

    async fn client(&self) -> Client {
        self.db.client().await.unwrap()
    }

    async fn enqueuer(self: Arc<Self>, seed: u64, until: Instant) {
        let mut random = StdRng::seed_from_u64(seed);
        while self.made.load(Ordering::Relaxed) < TASKS && Instant::now() < until {
            let count = [1, 1, 3, 20][random.random_range(0..4)];
            let tasks: Vec<NewTask> = (0..count).map(|_| any_task(&mut random)).collect();
            self.made.fetch_add(count, Ordering::Relaxed);
            self.note("enqueue", tasks::enqueue(&self.client().await, &tasks).await);
            tokio::task::yield_now().await;
        }
    }

    async fn claimer(self: Arc<Self>, seed: u64) {
        let mut random = StdRng::seed_from_u64(100 + seed);
        let sets: [&[Role]; 4] =
            [&[Role::PayloadFetch], &[Role::ProductRefresh], &[Role::PayloadFetch, Role::ProductRefresh], &Role::CRAWL];
        let roles = sets[seed as usize % sets.len()];
        let mut done: Vec<Completion> = Vec::new();
        while !self.is_over() || !done.is_empty() {
            let count = if self.is_over() { 0 } else { [1, 1, 4, 16][random.random_range(0..4)] };
            let workers = vec![format!("worker-{seed}"); count];
            let batch = ClaimBatch { done: std::mem::take(&mut done), roles: roles.to_vec(), workers, ..asks(0) };
            let Some(answer) = self.note("claim", tasks::settle_and_claim(&self.client().await, &batch).await) else {
                continue;
            };
            for completion in &batch.done {
                let id = completion.lease.id;
                if answer.settled.contains(&id) || self.settle(&completion.lease).await {
                    *self.done.lock().unwrap().entry(id).or_default() += 1;
                }
            }
            done = answer.claimed.into_iter().map(completed).collect();
            tokio::task::yield_now().await;
        }
    }

    /// Settles a run that a batch left out: a person has the row, or cancelled the task.
    async fn settle(&self, lease: &TaskLease) -> bool {
        let completed = Settlement::new(AttemptOutcome::Completed, None);
        match tasks::settle(&self.client().await, lease, &completed).await {
            Err(DbError::Missing(_)) => {
                self.note("stop", tasks::run_stopped(&self.client().await, lease).await);
                false
            }
            answer => self.note("settle", answer).is_some(),
        }
    }

    /// People who insert and cancel at psql, without any of drover's functions.
    async fn hand(self: Arc<Self>, until: Instant) {
        let mut random = StdRng::seed_from_u64(5);
        while self.made.load(Ordering::Relaxed) < TASKS && Instant::now() < until {
            let statement = if random.random_bool(0.5) {
                let store = random.random_range(1..=3);
                format!(
                    "INSERT INTO worker_tasks (role, dispensary_id, priority) VALUES ('product_resync', {store}, 20)"
                )
            } else {
                "UPDATE worker_tasks SET status = 'cancelled' WHERE id = (SELECT id FROM worker_tasks WHERE status IN ('pending', 'claimed') ORDER BY random() LIMIT 1) AND status IN ('pending', 'claimed')".to_owned()
            };
            self.note("hand", self.client().await.batch(&statement).await);
        }
    }

    async fn sweeper(self: Arc<Self>) {
        let mut ticks = tokio::time::interval(Duration::from_millis(50));
        while !self.is_over() {
            ticks.tick().await;
            let client = self.client().await;
            self.note("sweep", tasks::sweep_due(&client, BACK).await);
            self.note("sweep", tasks::sweep_all(&client).await);
            self.note("recover", tasks::recover(&client, None).await);
        }
    }

    /// Checks the unique index's promise from outside.
    async fn watcher(self: Arc<Self>) {
        let sql = "SELECT count(*) FROM (SELECT FROM worker_tasks WHERE status IN ('claimed', 'running') AND dispensary_id IS NOT NULL GROUP BY dispensary_id HAVING count(*) > 1) twice";
        while !self.is_over() {
            let seen: i64 = self.client().await.query_one(sql, &[]).await.unwrap().get(0);
            self.doubles.fetch_add(seen as u64, Ordering::Relaxed);
            tokio::task::yield_now().await;
        }
    }
}

fn any_task(random: &mut StdRng) -> NewTask {
    let role = if random.random_bool(0.7) { Role::PayloadFetch } else { Role::ProductRefresh };
    let store = random.random_range(0..=STORES);
    let later =
        random.random_bool(0.1).then(|| Clock::system().utc() + TimeDelta::milliseconds(random.random_range(0..800)));
    NewTask {
        dispensary_id: (store > 0).then_some(store),
        priority: [0, 0, 10, 20][random.random_range(0..4)],
        scheduled_for: later,
        ..NewTask::new(role)
    }
}

fn completed(task: ClaimedTask) -> Completion {
    Completion { lease: task.lease, result: json!({}), detail: json!({}) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn all_at_once_never_run_two_tasks_of_a_store() {
    let queue = Queue::new().await;
    let db = Db::new(&queue.database.url, &testkit::database_settings(), PoolSizes { work: 14, api: 1 }).unwrap();
    let race = Arc::new(Race {
        db,
        made: AtomicUsize::new(0),
        stop: AtomicBool::new(false),
        doubles: AtomicU64::new(0),
        done: Mutex::default(),
        errors: Mutex::default(),
    });
    let until = Instant::now() + RACING;
    let mut workers: Vec<_> = (0..6).map(|seed| tokio::spawn(race.clone().claimer(seed))).collect();
    workers.push(tokio::spawn(race.clone().sweeper()));
    workers.push(tokio::spawn(race.clone().watcher()));
    let mut makers: Vec<_> = (0..4).map(|seed| tokio::spawn(race.clone().enqueuer(seed, until))).collect();
    makers.push(tokio::spawn(race.clone().hand(until)));
    for maker in makers {
        maker.await.unwrap();
    }

    let open = "SELECT count(*) FROM worker_tasks WHERE status NOT IN ('completed', 'cancelled')";
    testkit::until("the queue is drained", DRAINING, async || queue.number(open).await == 0).await;
    race.stop.store(true, Ordering::Relaxed);
    for worker in workers {
        worker.await.unwrap();
    }

    assert_eq!(*race.errors.lock().unwrap(), Vec::<String>::new());
    assert_eq!(race.doubles.load(Ordering::Relaxed), 0);
    let done = race.done.lock().unwrap().clone();
    assert!(done.values().all(|times| *times == 1));
    assert_eq!(done.len() as i64, queue.number("SELECT count(*) FROM worker_tasks WHERE status = 'completed'").await);
    assert!(done.len() > 300, "{} tasks are no race", done.len());
    let open_attempts = "SELECT count(*) FROM task_attempts WHERE outcome IS NULL OR finished_at IS NULL";
    assert_eq!(queue.number(open_attempts).await, 0);
}
