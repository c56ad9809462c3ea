//! Makes the snapshots' partitions of this month and the next.

use std::time::Duration;

use super::{Changed, Scope, Turn};
use db::products;
use settings::Config;

pub(super) const SCOPE: Scope = Scope::EveryProcess;

pub(super) fn interval(_: &Config) -> Duration {
    Duration::from_secs(6 * 3600)
}

pub(super) async fn turn(Turn { db, .. }: Turn<'_>) -> Changed {
    let made = products::snapshots::ensure_partitions(&db.client().await?).await?;
    Ok(Some(u64::try_from(made).unwrap_or(0)))
}
