//! `ChangePublisher`: publishes the batches of changes that committed refreshes added.
//!
//! In: a wake-up after a refresh of this process; the batches of others are found at the next look. Out: numbered batches.
//! One a process, and any number of processes: they take turns. It must not know what changes are.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use db::Db;
use telemetry::events;

/// Time between two looks for batches of processes that were killed before they published them.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Time until the next look while the database is away.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// Cheap to clone.
#[derive(Clone)]
pub struct ChangePublisher {
    db: Db,
    wake: Arc<Notify>,
}

impl ChangePublisher {
    pub fn new(db: Db) -> ChangePublisher {
        ChangePublisher { db, wake: Arc::default() }
    }

    /// Lets it look at once.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// Publishes until it is dropped. Batches that it does not publish before are published by the next process.
    pub async fn run(self) {
        let mut pause = LOOK_EVERY;
        loop {
            // a wake-up says that the database answers
            let _ = tokio::time::timeout(pause, self.wake.notified()).await;
            fail::fail_point!("changes.publish");
            pause = match db::changes::publisher::publish(&self.db).await {
                Ok(_) => LOOK_EVERY,
                Err(error) => {
                    events::changes_not_published(&error);
                    (2 * pause).min(MAX_PAUSE)
                }
            };
        }
    }
}
