//! `ChangePublisher`: publishes the batches of changes that committed refreshes added, and lets the rules of changes follow.
//!
//! In: a wake-up after a refresh of this process; the batches of others are found at the next look. Out: numbered batches,
//! and notifications of rules. One a process, and any number of processes: they take turns. It must not know what changes
//! are.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use db::changes::{publisher, rules};
use db::{Db, DbError};
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
        let (mut pause, mut stuck) = (LOOK_EVERY, HashSet::new());
        loop {
            // a wake-up says that the database answers
            let _ = tokio::time::timeout(pause, self.wake.notified()).await;
            fail::fail_point!("changes.publish");
            pause = match self.publish(&mut stuck).await {
                Ok(()) => LOOK_EVERY,
                Err(error) => {
                    events::changes_not_published(&error);
                    (2 * pause).min(MAX_PAUSE)
                }
            };
        }
    }

    /// `stuck`: rules that could not follow at the last look.
    async fn publish(&self, stuck: &mut HashSet<i64>) -> Result<(), DbError> {
        publisher::publish(&self.db).await?;
        let due = rules::due(&self.db.client().await?).await?;
        for rule in due {
            // a rule that fails does not hold back the others
            match rules::follow(&self.db, rule).await {
                Ok(_) => drop(stuck.remove(&rule)),
                Err(error) if stuck.insert(rule) => events::rule_not_followed(rule, &error),
                Err(_) => {}
            }
        }
        Ok(())
    }
}
