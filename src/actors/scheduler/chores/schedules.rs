//! Runs schedules that are due.

use std::time::Duration;

use super::{Changed, Scope, Turn};
use db::schedules;
use settings::Config;
use telemetry::events;

pub(super) const SCOPE: Scope = Scope::Schedulers;
/// Maximum number of schedules of one turn: the others are due again at the next one.
const MAX_SCHEDULES: u64 = 100;

pub(super) fn interval(config: &Config) -> Duration {
    config.queue.schedule_tick
}

pub(super) async fn turn(Turn { db, .. }: Turn<'_>) -> Changed {
    for schedule in schedules::hasten_analytics(&db.client().await?).await? {
        events::schedule_hastened(&schedule);
    }
    for ran in 0..MAX_SCHEDULES {
        let Some(run) = schedules::run_due(db).await? else { return Ok(Some(ran)) };
        match &run.fault {
            Some(fault) => events::schedule_failed(&run.schedule, fault),
            None if !run.already_made => events::schedule_generated(&run.schedule, run.tasks as u64),
            None => {}
        }
    }
    Ok(Some(MAX_SCHEDULES))
}
