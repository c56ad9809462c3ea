//! Counts ended runs by minute.

use std::time::Duration;

use super::{Changed, Scope, Turn};
use db::counts;
use db::counts::stats_minute::StatsTurn;
use settings::Config;

pub(super) const SCOPE: Scope = Scope::EveryProcess;
/// Time for a commit to arrive, beside the time that a transaction may last.
const COMMIT_GRACE: Duration = Duration::from_secs(60);

pub(super) fn interval(_: &Config) -> Duration {
    Duration::from_secs(30)
}

pub(super) async fn turn(Turn { config, db, interval, .. }: Turn<'_>) -> Changed {
    // a run that ended comes to light when its transaction commits
    let grace = config.database.transaction_timeout + COMMIT_GRACE;
    Ok(counts::stats_minute::count(db, StatsTurn { every: interval, grace, keep: config.retention.stats }).await?)
}
