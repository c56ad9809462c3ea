//! The periodic work of a process, and its scheduler's view of it.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};

use actix::Addr;
use db::retention_runs;
use drover::actors::scheduler::chore::{Chore, ChoreDeps, ChoreStatus};
use drover::actors::scheduler::{ChoreView, SchedulerActor, SchedulerDeps};
use drover::handlers::housekeeping::Housekeeping;
use media::tool::WorkDirectory;
use settings::LiveConfig;
use storage::Payloads;
use supervision::messages::Observe;
use supervision::runner::RunnerHandle;
use telemetry::metrics;
use tokio::runtime::Handle;

use testkit::{PATIENCE, TestDatabase, config, database, start_actor, until};

fn chore_deps(database: &TestDatabase, storage: &Path, settings: &[(&'static str, &str)]) -> ChoreDeps {
    let payloads = Payloads::new(storage, "the test's");
    ChoreDeps {
        live: LiveConfig::fixed(config(settings)),
        db: database.db.clone(),
        housekeeping: Housekeeping { db: database.db.clone(), payloads },
    }
}

/// The scheduler of one process.
struct Scheduler {
    actor: Addr<SchedulerActor>,
    _runner: RunnerHandle,
    _storage: tempfile::TempDir,
}

impl Scheduler {
    fn start(database: &TestDatabase) -> Scheduler {
        let storage = tempfile::tempdir().unwrap();
        let settings = [("queue.sweep_all", "60s"), ("queue.recovery_tick", "500ms")];
        let deps = SchedulerDeps {
            chores: chore_deps(database, storage.path(), &settings),
            runs_schedules: false,
            runs_tasks: true,
            runtime: Handle::current(),
        };
        let (actor, runner) = start_actor(move || SchedulerActor::new(deps));
        Scheduler { actor, _runner: runner, _storage: storage }
    }

    async fn chores(&self) -> Vec<ChoreView> {
        self.actor.send(Observe::default()).await.unwrap().chores
    }

    async fn status(&self, chore: Chore) -> Option<ChoreStatus> {
        self.chores().await.into_iter().find(|observed| observed.chore == chore).unwrap().last
    }

    /// The first status that was seen of each: one may have another turn while others have their first.
    async fn first_turns(&self) -> Vec<(Chore, ChoreStatus)> {
        let mut first: Vec<(Chore, ChoreStatus)> = Vec::new();
        until("every chore has had a turn", PATIENCE, async || {
            let chores = self.chores().await;
            let seen = chores.iter().filter_map(|observed| Some((observed.chore, observed.last.clone()?)));
            for (chore, status) in seen {
                if first.iter().all(|(known, _)| *known != chore) {
                    first.push((chore, status));
                }
            }
            first.len() == chores.len()
        })
        .await;
        first
    }
}

#[actix::test]
async fn a_scheduler_shows_what_each_chore_did() {
    let database = database().await;
    let ended_long_ago = "INSERT INTO worker_tasks (role, status, completed_at)
                          SELECT 'payload_fetch', 'completed', now() - interval '1 year' FROM generate_series(1, 3)";
    database.raw.batch_execute(ended_long_ago).await.unwrap();
    let silent = "INSERT INTO worker_registry (worker_id, friendly_name, pod, role, roles, status, max_concurrent_tasks, last_heartbeat_at)
                  VALUES ('w', 'Xylos-1', 'Xylos', 'any', '{}', 'active', 3, now() - interval '1 hour')";
    database.raw.batch_execute(silent).await.unwrap();

    let first = Scheduler::start(&database);
    let turns = first.first_turns().await;
    let turn = |of: Chore| turns.iter().find(|(chore, _)| *chore == of).map(|(_, status)| status.clone());
    assert_eq!(turn(Chore::Prune), Some(ChoreStatus::Done { changed: 3 }));
    let runs = retention_runs::list(&database.db.client().await.unwrap()).await.unwrap();
    let pruned = runs.iter().find(|run| run.kind.to_string() == "ended_work").unwrap();
    assert_eq!(pruned.removed, 3);
    assert_eq!(turn(Chore::Registry), Some(ChoreStatus::Done { changed: 1 }));
    assert!(matches!(turn(Chore::SweepAll), Some(ChoreStatus::Done { .. })));

    let second = Scheduler::start(&database);
    second.first_turns().await;
    assert_eq!(second.status(Chore::SweepAll).await, Some(ChoreStatus::Skipped), "the first process has just done it");
}

#[test]
fn a_silent_worker_is_swept_within_five_seconds() {
    // the scheduler looks every second at most
    assert!(Chore::Registry.interval(&config(&[])) + Duration::from_secs(1) <= Duration::from_secs(5));
}

#[actix::test]
async fn a_chore_that_fails_is_shown_and_counted_and_done_again() {
    let database = database().await;
    let scheduler = Scheduler::start(&database);
    scheduler.first_turns().await;

    database.shut().await;
    until("the recovery failed", PATIENCE, async || {
        matches!(scheduler.status(Chore::Recover).await, Some(ChoreStatus::Failed { .. }))
    })
    .await;
    let counted = metrics::render().unwrap();
    assert!(counted.contains("drover_chore_turns_total{chore=\"recover\",result=\"failed\"}"), "{counted}");

    database.reopen().await;
    until("the recovery works again", Duration::from_secs(60), async || {
        matches!(scheduler.status(Chore::Recover).await, Some(ChoreStatus::Done { .. }))
    })
    .await;
}

#[actix::test]
async fn a_sweep_that_comes_seldom_looks_back_over_all_the_time_since_the_last_one() {
    let database = database().await;
    let due = "INSERT INTO worker_tasks (role, status, scheduled_for) VALUES ('analytics_refresh', 'pending', now() + interval '1 day');
               UPDATE worker_tasks SET scheduled_for = now() - interval '50 seconds'";
    database.raw.batch_execute(due).await.unwrap();
    let storage = tempfile::tempdir().unwrap();
    let deps = chore_deps(&database, storage.path(), &[("queue.sweep_due", "60s")]);
    assert_eq!(Chore::SweepDue.run(&deps).await, ChoreStatus::Done { changed: 1 });
}

#[actix::test]
async fn names_of_products_are_copied_to_where_they_are_searched() {
    let database = database().await;
    let crawled = "INSERT INTO dispensaries (id, name, last_payload_id) VALUES (1, 'Store', 7);
                   INSERT INTO store_products (dispensary_id, provider, provider_product_id, name_raw, is_on_special, quantity_censored,
                                               is_in_stock, stock_status, first_seen_at, last_seen_at)
                   SELECT 1, 'dutchie', n::text, 'Product ' || n, false, false, true, 'in_stock', now(), now() FROM generate_series(1, 3) n";
    database.raw.batch_execute(crawled).await.unwrap();
    let storage = tempfile::tempdir().unwrap();
    let deps = chore_deps(&database, storage.path(), &[]);
    assert_eq!(Chore::Search.run(&deps).await, ChoreStatus::Done { changed: 3 });
    assert_eq!(Chore::Search.run(&deps).await, ChoreStatus::Skipped, "it has just been done");
}

#[tokio::test]
async fn what_a_download_left_is_removed_after_a_day_unless_a_run_has_it() {
    let database = database().await;
    let dir = tempfile::tempdir().unwrap();
    let work = dir.path().join("media-work");
    let part = |name: &str| {
        let directory = WorkDirectory::lock(&work, name).unwrap();
        std::fs::write(directory.path().join("part"), "half of a file").unwrap();
        directory
    };
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let age = |name: &str| File::options().write(true).open(work.join(name)).unwrap().set_modified(long_ago).unwrap();
    drop((part("item-1"), part("item-2")));
    let running = part("item-3");
    age("item-1.lock");
    age("item-3.lock");

    let work_dir: &'static str = Box::leak(work.to_str().unwrap().to_owned().into_boxed_str());
    let deps = chore_deps(&database, dir.path(), &[("media.work_dir", work_dir)]);
    assert_eq!(Chore::MediaWork.run(&deps).await, ChoreStatus::Done { changed: 1 });
    let stays = |name: &str| work.join(name).join("part").is_file();
    assert_eq!((stays("item-1"), stays("item-2"), stays("item-3")), (false, true, true));
    drop(running);
}
