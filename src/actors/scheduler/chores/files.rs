//! Sets payload files without a row aside, and removes images that no row names.

use std::time::Duration;

use super::{Changed, Scope, Turn};
use settings::Config;
use telemetry::events;

pub(super) const SCOPE: Scope = Scope::EveryProcess;

pub(super) fn interval(_: &Config) -> Duration {
    Duration::from_secs(3600)
}

pub(super) async fn turn(Turn { config, housekeeping, .. }: Turn<'_>) -> Changed {
    let swept = housekeeping.sweep_files(config.queue.lease).await?;
    events::payloads_swept(swept.set_aside, swept.removed);
    let images = housekeeping.sweep_images().await?;
    events::images_swept(images);
    Ok(Some((swept.set_aside + swept.removed + images) as u64))
}
