//! Works off bulk operations on tasks.

use std::time::Duration;

use super::{Changed, Scope, Turn};
use db::tasks;
use settings::Config;

pub(super) const SCOPE: Scope = Scope::Schedulers;
/// Maximum number of batches of one turn. The next turn does the rest.
const MAX_BATCHES: usize = 10_000;

pub(super) fn interval(_: &Config) -> Duration {
    Duration::from_secs(1)
}

pub(super) async fn turn(Turn { db, .. }: Turn<'_>) -> Changed {
    let mut changed = 0;
    for _ in 0..MAX_BATCHES {
        let Some(batch) = tasks::operations::run_batch(db).await? else { break };
        changed += batch.done as u64;
    }
    Ok(Some(changed))
}
