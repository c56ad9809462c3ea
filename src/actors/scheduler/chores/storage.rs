//! Looks whether payloads can be written again.

use std::time::Duration;

use super::{Changed, Scope, Turn};
use settings::Config;

pub(super) const SCOPE: Scope = Scope::Workers;

pub(super) fn interval(_: &Config) -> Duration {
    Duration::from_secs(10)
}

pub(super) async fn turn(Turn { housekeeping, .. }: Turn<'_>) -> Changed {
    housekeeping.check_storage().await?;
    Ok(Some(0))
}
