//! `Chore`: a kind of periodic work of a process, with its interval and one turn of it (one execution).
//!
//! A turn is idempotent and may be interrupted anywhere: the next one does the rest. In: the database and the
//! payload files. Out: a [`ChoreStatus`]. It must not know its caller, or when it runs.

use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use strum::IntoStaticStr;

use super::prune;
use crate::handlers::housekeeping::Housekeeping;
use crate::handlers::media::sweep_work;
use crate::handlers::retention::RetentionRun;
use db::stats_minute::{self, StatsTurn};
use db::{
    Client, Db, DbError, indexes, operations, pauses, product_search, quality, retention_runs, schedules, snapshots,
    tasks, workers,
};
use domain::retention::RetentionKind;
use queue::TaskError;
use settings::{Config, LiveConfig};
use supervision::panics;
use telemetry::events;

/// Minimum time that the frequent sweep looks back. The full sweep finds the rest.
const MIN_SWEEP_WINDOW: Duration = Duration::from_secs(30);
/// A pause that is over ends within a second.
const PAUSES_INTERVAL: Duration = Duration::from_millis(500);
const OPERATIONS_INTERVAL: Duration = Duration::from_secs(1);
const INDEXES_INTERVAL: Duration = Duration::from_secs(600);
/// With the scheduler's own interval, a silent worker is offline within 5 s.
const REGISTRY_INTERVAL: Duration = Duration::from_secs(4);
const SEARCH_INTERVAL: Duration = Duration::from_secs(10);
const QUALITY_INTERVAL: Duration = Duration::from_secs(60);
/// A twentieth of the interval: finding new products early is worth no more.
const MAX_COPY_TIME: Duration = Duration::from_millis(500);
const STATS_INTERVAL: Duration = Duration::from_secs(30);
/// For the way of a commit, beside the time that a transaction may last.
const STATS_GRACE: Duration = Duration::from_secs(60);
const STORAGE_INTERVAL: Duration = Duration::from_secs(10);
const TOTALS_INTERVAL: Duration = Duration::from_secs(30);
const FILES_INTERVAL: Duration = Duration::from_secs(3600);
const PARTITIONS_INTERVAL: Duration = Duration::from_secs(6 * 3600);
/// As many schedules as one turn runs: the others are due again at the next one.
const MAX_SCHEDULES: usize = 100;
/// Maximum batches of one turn.
const MAX_OPERATION_BATCHES: usize = 10_000;
/// A turn that takes longer is cut off; the next one goes on where it was.
const MAX_TURN_TIME: Duration = Duration::from_secs(15 * 60);

#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Chore {
    /// Makes tasks ready that became due.
    SweepDue,
    /// Makes tasks ready that a sweep by time cannot see: rows written by hand, dependencies, missed
    /// wake-ups.
    SweepAll,
    /// Ends pauses whose time is over.
    Pauses,
    /// Puts back tasks past their lease.
    Recover,
    /// Runs schedules that are due.
    Schedules,
    /// Works off bulk operations on tasks.
    Operations,
    /// Makes indexes that are missing, while the queue works.
    Indexes,
    /// Marks silent workers offline and removes old ones.
    Registry,
    /// Counts ended tasks by role and status.
    Totals,
    /// Counts ended runs by minute.
    Stats,
    /// Deletes data past its retention, including old finished tasks.
    Prune,
    /// Sets payload files without a row aside.
    Files,
    /// Removes payloads and snapshots that are older than the operator wants.
    Retention,
    /// Looks whether payloads can be written again.
    Storage,
    /// Makes the snapshots' partitions of this month and the next.
    Partitions,
    /// Looks which stores have faulty data.
    Quality,
    /// Copies the names of new products to where they are searched.
    Search,
    /// Removes what stopped downloads of media have left on this machine.
    MediaWork,
}

/// How the latest turn of a chore ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChoreStatus {
    /// `changed`: rows, files or partitions.
    Done {
        changed: u64,
    },
    /// Another process has just done the same.
    Skipped,
    Failed {
        error: String,
    },
}

/// Dependencies of the chores of a process. Cheap to clone.
#[derive(Clone)]
pub struct ChoreDeps {
    pub live: LiveConfig,
    pub db: Db,
    pub housekeeping: Housekeeping,
}

impl Chore {
    /// Chores of every process.
    pub const COMMON: [Chore; 14] = [
        Chore::SweepDue,
        Chore::SweepAll,
        Chore::Pauses,
        Chore::Recover,
        Chore::Registry,
        Chore::Totals,
        Chore::Stats,
        Chore::Prune,
        Chore::Files,
        Chore::Retention,
        Chore::Partitions,
        Chore::Search,
        Chore::Quality,
        Chore::MediaWork,
    ];

    /// As metrics and the log have it.
    pub fn name(self) -> &'static str {
        self.into()
    }

    pub fn interval(self, config: &Config) -> Duration {
        match self {
            Chore::SweepDue => config.queue.sweep_due,
            Chore::SweepAll => config.queue.sweep_all,
            Chore::Recover => config.queue.recovery_tick,
            Chore::Schedules => config.queue.schedule_tick,
            Chore::Pauses => PAUSES_INTERVAL,
            Chore::Operations => OPERATIONS_INTERVAL,
            Chore::Indexes => INDEXES_INTERVAL,
            Chore::Registry => REGISTRY_INTERVAL,
            Chore::Totals => TOTALS_INTERVAL,
            Chore::Stats => STATS_INTERVAL,
            Chore::Prune => config.retention.prune_every,
            Chore::Files | Chore::Retention | Chore::MediaWork => FILES_INTERVAL,
            Chore::Search => SEARCH_INTERVAL,
            Chore::Quality => QUALITY_INTERVAL,
            Chore::Storage => STORAGE_INTERVAL,
            Chore::Partitions => PARTITIONS_INTERVAL,
        }
    }

    /// One turn, within its time limit; a panic is a failure.
    pub async fn run(self, deps: &ChoreDeps) -> ChoreStatus {
        let begun = Instant::now();
        let turn = AssertUnwindSafe(self.turn(deps)).catch_unwind();
        let status = match tokio::time::timeout(MAX_TURN_TIME, turn).await {
            Ok(Ok(Ok(Some(changed)))) => ChoreStatus::Done { changed },
            Ok(Ok(Ok(None))) => ChoreStatus::Skipped,
            Ok(Ok(Err(error))) => ChoreStatus::Failed { error: error.to_string() },
            Ok(Err(panic)) => ChoreStatus::Failed { error: panics::text(panic.as_ref()) },
            Err(_) => ChoreStatus::Failed { error: format!("not done within {MAX_TURN_TIME:?}") },
        };
        match &status {
            ChoreStatus::Done { changed } => events::chore_done(self.name(), *changed, begun.elapsed()),
            ChoreStatus::Skipped => events::chore_skipped(self.name()),
            ChoreStatus::Failed { error } => events::chore_failed(self.name(), error),
        }
        status
    }

    /// How much was changed; none: another process has just done the same.
    async fn turn(self, deps: &ChoreDeps) -> Result<Option<u64>, TaskError> {
        fail::fail_point!("chore");
        let ChoreDeps { live, db, housekeeping } = deps;
        let config = &live.current().config;
        let interval = self.interval(config);
        let changed = match self {
            Chore::SweepDue => return counted(sweep_due(&db.client().await?, interval).await?),
            Chore::SweepAll => return counted(tasks::sweep_all_unless_recent(&db.client().await?, interval).await?),
            Chore::Indexes => return Ok(indexes::ensure(db).await?),
            Chore::Totals => return Ok(tasks::refresh_totals_unless_recent(&db.client().await?, interval).await?),
            Chore::Stats => return Ok(stats_minute::count(db, stats_turn(config)).await?),
            Chore::Search => return Ok(product_search::copy_names_unless_recent(db, MAX_COPY_TIME, interval).await?),
            Chore::Quality => return Ok(look_at_quality(db, interval).await?),
            Chore::Pauses => pauses::sweep(&db.client().await?).await?,
            Chore::Recover => recover(db, config).await?,
            Chore::Schedules => run_schedules(db).await?,
            Chore::Operations => run_operations(db).await?,
            Chore::Registry => workers::sweep(&db.client().await?).await?,
            Chore::Prune => {
                let removed = prune::prune(db, &config.retention).await?;
                retention_runs::note(&db.client().await?, RetentionKind::EndedWork, removed).await?;
                removed
            }
            Chore::Files => {
                let swept = housekeeping.sweep_files(config.queue.lease).await?;
                events::payloads_swept(swept.set_aside, swept.removed);
                let images = housekeeping.sweep_images().await?;
                events::images_swept(images);
                (swept.set_aside + swept.removed + images) as u64
            }
            Chore::MediaWork => sweep_work(config).await?,
            Chore::Retention => {
                let run = RetentionRun { ages: &config.retention, dry_run: false, goes_on: &|_| true };
                let report = housekeeping.retain(run).await?;
                events::retention_applied(report.payloads.files, report.payloads.bytes, report.partitions.len());
                retention_runs::note(&db.client().await?, RetentionKind::CrawledData, report.changed()).await?;
                report.changed()
            }
            Chore::Storage => housekeeping.check_storage().await.map(|()| 0)?,
            Chore::Partitions => u64::try_from(snapshots::ensure_partitions(&db.client().await?).await?).unwrap_or(0),
        };
        Ok(Some(changed))
    }
}

/// A run that ended comes to light when its transaction commits.
fn stats_turn(config: &Config) -> StatsTurn {
    let grace = config.database.transaction_timeout + STATS_GRACE;
    StatsTurn { every: STATS_INTERVAL, grace, keep: config.retention.stats }
}

/// Looks back over several intervals, so that a late turn misses nothing.
async fn sweep_due(client: &Client, interval: Duration) -> Result<Option<i64>, DbError> {
    tasks::sweep_due_unless_recent(client, MIN_SWEEP_WINDOW.max(3 * interval), interval).await
}

fn counted(swept: Option<i64>) -> Result<Option<u64>, TaskError> {
    Ok(swept.map(|swept| u64::try_from(swept).unwrap_or(0)))
}

/// Puts back tasks past their lease; returns how many.
pub async fn recover(db: &Db, config: &Config) -> Result<u64, DbError> {
    let client = db.client().await?;
    sweep_due(&client, config.queue.sweep_due).await?;
    let recovered = tasks::recover(&client, None).await?;
    let (requeued, failed) = (recovered.requeued as u64, recovered.failed as u64);
    events::tasks_recovered(requeued, failed);
    Ok(requeued + failed)
}

/// Logs the findings that began or ended, and returns their number. The gauge of each process shows all
/// findings.
async fn look_at_quality(db: &Db, interval: Duration) -> Result<Option<u64>, DbError> {
    let client = db.client().await?;
    let changes = quality::look_unless_recent(&client, interval).await?;
    if changes.is_some() {
        quality::note_faults(&client).await?;
    }
    for change in changes.iter().flatten() {
        match change.begins {
            true => events::quality_fault_began(change.store, &change.kind, &change.detail),
            false => events::quality_fault_ended(change.store, &change.kind),
        }
    }
    for count in quality::counts(&client).await? {
        events::quality_counted(&count.kind.to_string(), count.stores);
    }
    Ok(changes.map(|changes| changes.len() as u64))
}

/// How many ran.
async fn run_schedules(db: &Db) -> Result<u64, DbError> {
    for schedule in schedules::hasten_analytics(&db.client().await?).await? {
        events::schedule_hastened(&schedule);
    }
    for ran in 0..MAX_SCHEDULES {
        let Some(run) = schedules::run_due(db).await? else { return Ok(ran as u64) };
        match &run.fault {
            Some(fault) => events::schedule_failed(&run.schedule, fault),
            None if !run.already_made => events::schedule_generated(&run.schedule, run.tasks as u64),
            None => {}
        }
    }
    Ok(MAX_SCHEDULES as u64)
}

/// Number of changed tasks. The next turn does the rest.
async fn run_operations(db: &Db) -> Result<u64, DbError> {
    let mut changed = 0;
    for _ in 0..MAX_OPERATION_BATCHES {
        let Some(batch) = operations::run_batch(db).await? else { break };
        changed += batch.done as u64;
    }
    Ok(changed)
}
