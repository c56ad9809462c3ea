//! Makes indexes that are missing, while the queue works.

use std::time::Duration;

use super::{Changed, Scope, Turn};
use db::schema;
use settings::Config;

pub(super) const SCOPE: Scope = Scope::Schedulers;

pub(super) fn interval(_: &Config) -> Duration {
    Duration::from_secs(600)
}

pub(super) async fn turn(Turn { db, .. }: Turn<'_>) -> Changed {
    Ok(schema::indexes::ensure(db).await?)
}
