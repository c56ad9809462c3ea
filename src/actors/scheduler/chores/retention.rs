//! Removes payloads and snapshots that are older than the operator wants.

use std::time::Duration;

use super::{Changed, Scope, Turn};
use crate::handlers::retention::RetentionRun;
use db::retention_runs;
use domain::retention::RetentionKind;
use settings::Config;
use telemetry::events;

pub(super) const SCOPE: Scope = Scope::EveryProcess;

pub(super) fn interval(_: &Config) -> Duration {
    Duration::from_secs(3600)
}

pub(super) async fn turn(Turn { config, db, housekeeping, .. }: Turn<'_>) -> Changed {
    let run = RetentionRun { ages: &config.retention, dry_run: false, goes_on: &|_| true };
    let report = housekeeping.retain(run).await?;
    events::retention_applied(report.payloads.files, report.payloads.bytes, report.partitions.len());
    retention_runs::note(&db.client().await?, RetentionKind::CrawledData, report.changed()).await?;
    Ok(Some(report.changed()))
}
