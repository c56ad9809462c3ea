//! Removes leftovers of stopped media downloads from this machine.

use std::time::Duration;

use super::{Changed, Scope, Turn};
use crate::handlers::media::sweep_work;
use settings::Config;

pub(super) const SCOPE: Scope = Scope::EveryProcess;

pub(super) fn interval(_: &Config) -> Duration {
    Duration::from_secs(3600)
}

pub(super) async fn turn(Turn { config, .. }: Turn<'_>) -> Changed {
    Ok(Some(sweep_work(config).await?))
}
