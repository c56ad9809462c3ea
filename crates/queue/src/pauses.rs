//! `watch_pauses`: the pauses in force, as one process sees them.
//!
//! In: the table `pauses`, read twice a second. Out: the latest [`Pauses`], which the claimer, runs and workers
//! look at. While the database does not answer, the latest ones hold: nothing can be claimed meanwhile.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use db::{Db, DbError, tasks};
use domain::task::pause::{PauseTarget, Pauses};
use supervision::background::Background;
use supervision::lifecycle::{Lifecycle, Phase};
use telemetry::events;

/// A pause is obeyed within a second.
const INTERVAL: Duration = Duration::from_millis(500);

/// Reads them until the process is over. Until the first read has succeeded, everything is paused.
pub async fn watch_pauses(db: &Db, background: &Background) -> watch::Receiver<Pauses> {
    let first = read(db).await.unwrap_or_else(|error| {
        events::pauses_not_read(&error);
        Pauses::new(vec![PauseTarget::All])
    });
    let (sender, pauses) = watch::channel(first);
    let (db, lifecycle) = (db.clone(), background.lifecycle().clone());
    let sender = Arc::new(sender);
    background.start("pauses", move || keep_reading(db.clone(), sender.clone(), lifecycle.clone()));
    pauses
}

async fn keep_reading(db: Db, sender: Arc<watch::Sender<Pauses>>, lifecycle: Lifecycle) {
    let mut is_read = true;
    loop {
        tokio::select! {
            () = tokio::time::sleep(INTERVAL) => {}
            () = lifecycle.reached(Phase::Over) => return,
        }
        let read = read(&db).await;
        if let (Err(error), true) = (&read, is_read) {
            events::pauses_not_read(error);
        }
        is_read = read.is_ok();
        if let Ok(pauses) = read {
            sender.send_if_modified(|known| {
                let is_new = *known != pauses;
                *known = pauses;
                is_new
            });
        }
    }
}

async fn read(db: &Db) -> Result<Pauses, DbError> {
    fail::fail_point!("pauses.read");
    tasks::pauses::in_force(&db.client().await?).await
}
