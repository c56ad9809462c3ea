//! Many cancel, retry, delete and change the tasks of a few stores while workers run them: no two bodies of a
//! store run at the same time, a status changes in legal ways only, no call fails, and nothing is left.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use contract::task_changes::TaskChange;
use db::tasks::{AttemptOutcome, ChangeError};
use db::{Db, PoolSizes};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::*;

const STORES: i64 = 3;
const RACING: Duration = Duration::from_secs(6);
/// Minimum number of changes that make it a race. On a busy machine it continues until they are made.
const MIN_CHANGES: usize = 200;
const MAX_RACING: Duration = Duration::from_secs(60);
const DRAINING: Duration = Duration::from_secs(60);

const NOTE_TRANSITIONS: &str = "
    CREATE TABLE transitions (was text, is_now text);
    CREATE FUNCTION note_transition() RETURNS trigger LANGUAGE plpgsql AS $f$
    BEGIN INSERT INTO transitions VALUES (OLD.status, NEW.status); RETURN NULL; END $f$;
    CREATE TRIGGER note AFTER UPDATE OF status ON worker_tasks
      FOR EACH ROW WHEN (OLD.status <> NEW.status) EXECUTE FUNCTION note_transition()";
const LEGAL: [(&str, &str); 12] = [
    ("pending", "claimed"),
    ("pending", "cancelled"),
    ("claimed", "running"),
    ("claimed", "cancelled"),
    ("claimed", "pending"),
    ("running", "completed"),
    ("running", "failed"),
    ("running", "cancelled"),
    ("running", "pending"),
    ("failed", "pending"),
    ("cancelled", "pending"),
    ("claimed", "failed"),
];

struct Race {
    db: Db,
    is_over: AtomicBool,
    /// Bodies that run now, by store.
    bodies: Mutex<HashMap<StoreId, TaskId>>,
    overlaps: AtomicUsize,
    changes: AtomicUsize,
    errors: Mutex<Vec<String>>,
}

impl Race {
    async fn client(&self) -> Client {
        self.db.client().await.unwrap()
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Keeps the error.
    fn note<T>(&self, who: &str, answer: Result<T, DbError>) -> Option<T> {
        answer.map_err(|error| self.errors.lock().unwrap().push(format!("{who}: {error}"))).ok()
    }

    async fn worker(self: Arc<Self>, seed: u64) {
        let mut random = StdRng::seed_from_u64(seed);
        while !self.is_over() {
            let batch = ClaimBatch { workers: vec![format!("worker-{seed}")], ..asks(0) };
            let claimed = self.note("claim", tasks::settle_and_claim(&self.client().await, &batch).await);
            for task in claimed.map(|answer| answer.claimed).unwrap_or_default() {
                self.run(&task, &mut random).await;
            }
            tokio::task::yield_now().await;
        }
    }

    /// A body does not notice that it was cancelled before it ends.
    async fn run(&self, task: &ClaimedTask, random: &mut StdRng) {
        let store = task.dispensary_id.unwrap();
        if self.bodies.lock().unwrap().insert(store, task.lease.id).is_some() {
            self.overlaps.fetch_add(1, Ordering::Relaxed);
        }
        let begun = self.note("start", tasks::start(&self.client().await, &task.lease).await).unwrap_or(false);
        tokio::time::sleep(Duration::from_millis(random.random_range(0..20))).await;
        self.bodies.lock().unwrap().remove(&store);
        let outcome =
            [AttemptOutcome::Completed, AttemptOutcome::Permanent, AttemptOutcome::Failed][random.random_range(0..3)];
        let settled = match begun {
            true => tasks::settle(&self.client().await, &task.lease, &Settlement::new(outcome, None)).await,
            false => Err(DbError::Missing("a lease".to_owned())),
        };
        if matches!(settled, Err(DbError::Missing(_))) {
            self.note("stop", tasks::run_stopped(&self.client().await, &task.lease).await);
        } else {
            self.note("settle", settled);
        }
    }

    /// Runs until the time is over and enough changes were made.
    fn goes_on(&self, begun: Instant) -> bool {
        let has_enough = self.changes.load(Ordering::Relaxed) >= MIN_CHANGES;
        begun.elapsed() < if has_enough { RACING } else { MAX_RACING }
    }

    async fn requester(self: Arc<Self>, seed: u64, begun: Instant) {
        let mut random = StdRng::seed_from_u64(100 + seed);
        let mut made: Vec<TaskId> = Vec::new();
        while self.goes_on(begun) {
            let client = self.client().await;
            let priority = random.random_range(0..3);
            let new = NewTask { priority, ..fetch(random.random_range(1..=STORES)) };
            made.extend(self.note("enqueue", tasks::enqueue(&client, &[new]).await).unwrap_or_default());
            for _ in 0..3 {
                // mostly the latest, which are still open
                let id = made[made.len() - 1 - random.random_range(0..made.len().min(8))];
                let change = TaskChange { priority: Some(random.random_range(0..9)), scheduled_for: Some(None) };
                let answer = match random.random_range(0..8) {
                    0..3 => tasks::cancel(&client, id).await.map(drop),
                    3..6 => tasks::retry(&client, id).await.map(drop),
                    6 => tasks::delete(&client, id).await.map(drop),
                    _ => tasks::change(&client, id, &change, None).await,
                };
                match answer {
                    Ok(()) => {
                        self.changes.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(ChangeError::Db(error)) => {
                        self.note::<()>("request", Err(error));
                    }
                    Err(_) => {}
                }
            }
        }
    }

    async fn sweeper(self: Arc<Self>) {
        let mut ticks = tokio::time::interval(Duration::from_millis(50));
        while !self.is_over() {
            ticks.tick().await;
            let client = self.client().await;
            self.note("sweep", tasks::sweep_due(&client, BACK).await);
            self.note("sweep", tasks::sweep_all(&client).await);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whatever_is_requested_no_two_bodies_of_a_store_run_at_once() {
    let queue = Queue::new().await;
    queue.sql(NOTE_TRANSITIONS).await;
    let db = Db::new(&queue.database.url, &testkit::database_settings(), PoolSizes { work: 14, api: 1 }).unwrap();
    let race = Arc::new(Race {
        db,
        is_over: AtomicBool::new(false),
        bodies: Mutex::default(),
        overlaps: AtomicUsize::new(0),
        changes: AtomicUsize::new(0),
        errors: Mutex::default(),
    });
    let begun = Instant::now();
    let mut workers: Vec<_> = (0..5).map(|seed| tokio::spawn(race.clone().worker(seed))).collect();
    workers.push(tokio::spawn(race.clone().sweeper()));
    let requesters: Vec<_> = (0..5).map(|seed| tokio::spawn(race.clone().requester(seed, begun))).collect();
    for requester in requesters {
        requester.await.unwrap();
    }
    // retries after a back-off are not awaited
    queue.sql("UPDATE worker_tasks SET status = 'cancelled' WHERE status = 'pending'").await;
    let open = "SELECT (SELECT count(*) FROM worker_tasks WHERE status IN ('claimed', 'running')) + (SELECT count(*) FROM stopping_runs)";
    testkit::until("the last bodies have ended", DRAINING, async || queue.number(open).await == 0).await;
    race.is_over.store(true, Ordering::Relaxed);
    for worker in workers {
        worker.await.unwrap();
    }

    assert_eq!(*race.errors.lock().unwrap(), Vec::<String>::new());
    assert_eq!(race.overlaps.load(Ordering::Relaxed), 0);
    assert!(race.changes.load(Ordering::Relaxed) >= MIN_CHANGES, "{:?} changes are no race", race.changes);
    let rows = queue.database.raw.query("SELECT DISTINCT was, is_now FROM transitions", &[]).await.unwrap();
    let illegal: Vec<(String, String)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    let illegal: Vec<_> = illegal.into_iter().filter(|(was, now)| !LEGAL.contains(&(was, now))).collect();
    assert_eq!(illegal, []);
}
