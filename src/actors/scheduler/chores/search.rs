//! Copies the names of new products to where they are searched.

use std::time::Duration;

use super::{Changed, Scope, Turn};
use db::products;
use settings::Config;

pub(super) const SCOPE: Scope = Scope::EveryProcess;
/// A twentieth of the interval: finding new products early is worth no more.
const MAX_COPY_TIME: Duration = Duration::from_millis(500);

pub(super) fn interval(_: &Config) -> Duration {
    Duration::from_secs(10)
}

pub(super) async fn turn(Turn { db, interval, .. }: Turn<'_>) -> Changed {
    Ok(products::search::copy_names_unless_recent(db, MAX_COPY_TIME, interval).await?)
}
