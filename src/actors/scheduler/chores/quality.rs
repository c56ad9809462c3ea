//! Looks which stores have faulty data.

use std::time::Duration;

use super::{Changed, Scope, Turn};
use db::stores;
use settings::Config;
use telemetry::events;

pub(super) const SCOPE: Scope = Scope::EveryProcess;

pub(super) fn interval(_: &Config) -> Duration {
    Duration::from_secs(60)
}

pub(super) async fn turn(Turn { db, interval, .. }: Turn<'_>) -> Changed {
    let client = db.client().await?;
    let changes = stores::quality::look_unless_recent(&client, interval).await?;
    if changes.is_some() {
        stores::quality::note_faults(&client).await?;
    }
    for change in changes.iter().flatten() {
        match change.begins {
            true => events::quality_fault_began(change.store, &change.kind, &change.detail),
            false => events::quality_fault_ended(change.store, &change.kind),
        }
    }
    // the gauge of each process shows all findings
    for count in stores::quality::counts(&client).await? {
        events::quality_counted(&count.kind.to_string(), count.stores);
    }
    Ok(changes.map(|changes| changes.len() as u64))
}
