//! Limits of a continuous demo: its directory stays small, however long it runs.
//!
//! In: its configuration, and the end of each crawl. Out: short retention, and rows and files deleted. The
//! simulated history stays. It must not know how a crawl is made.

use std::time::Duration;

use crate::handlers::housekeeping::Housekeeping;
use crate::handlers::retention::RetentionRun;
use db::{Db, demo, schema};
use settings::{Config, Retention};
use storage::{Payloads, Place};

/// Retention of enough crawls for differences between payloads.
const PAYLOADS: Duration = Duration::from_secs(40);
const SNAPSHOTS: Duration = Duration::from_secs(120);
/// Images are kept for as long as their products, and debug code takes a minute for ten thousand.
pub const PICTURE_PERCENT: u64 = 20;
/// The figures of the last hour count the tasks themselves.
const COMPLETED: Duration = Duration::from_secs(3600);
const FAILED: Duration = Duration::from_secs(24 * 3600);
/// Retention as long as the simulated history, and its oldest hour more.
const STATS: Duration = Duration::from_secs((7 * 24 + 1) * 3600);
const PRUNE_EVERY: Duration = Duration::from_secs(60);
const IMAGE_CACHE: usize = 16 << 20;

/// Settings of the private server: a small log of writes, and dead rows removed soon.
const SERVER: [&str; 4] =
    ["max_wal_size=32MB", "min_wal_size=32MB", "autovacuum_naptime=10s", "autovacuum_vacuum_scale_factor=0.1"];

pub fn server_settings() -> Vec<String> {
    SERVER.map(str::to_owned).to_vec()
}

pub fn adapt(config: &mut Config) {
    let retention = &mut config.retention;
    retention.payloads = Some(PAYLOADS);
    retention.completed = retention.completed.min(COMPLETED);
    retention.failed = retention.failed.min(FAILED);
    retention.stats = retention.stats.min(STATS);
    retention.prune_every = retention.prune_every.min(PRUNE_EVERY);
    config.images.cache_bytes = config.images.cache_bytes.min(IMAGE_CACHE);
}

/// Deletes what is too old, at the end of a crawl: the hourly turn of retention would come too late.
pub async fn apply(db: &Db, config: &Config) -> anyhow::Result<()> {
    let owner = schema::installation::storage_owner(&db.client().await?).await?;
    let housekeeping = Housekeeping { db: db.clone(), payloads: Payloads::new(Place::of(config)?, owner) };
    let ages = Retention { snapshots: None, ..config.retention.clone() };
    housekeeping.retain(RetentionRun { ages: &ages, dry_run: false, goes_on: &|_| true }).await?;
    demo::limits::apply(db, SNAPSHOTS).await?;
    Ok(())
}
