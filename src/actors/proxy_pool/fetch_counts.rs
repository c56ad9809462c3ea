//! Writes the counts of this process's requests to hosts, by minute, and by store and day: while it runs, and
//! when it ends.
//!
//! In: a [`FetchMeter`]. Out: rows of this process. A killed process loses its counts since the last write.

use std::time::Duration;

use crate::stealth::FetchMeter;
use db::{Db, DbError, counts};
use supervision::lifecycle::{Lifecycle, Phase};
use telemetry::events;

/// Flush interval; charts lag by at most this.
const WRITE_EVERY: Duration = Duration::from_secs(20);

/// Cheap to clone.
#[derive(Clone)]
pub struct FetchCountsWriter {
    db: Db,
    meter: FetchMeter,
    /// Names this process beside others.
    process: i64,
}

impl FetchCountsWriter {
    pub fn new(db: &Db, meter: &FetchMeter) -> Self {
        FetchCountsWriter { db: db.clone(), meter: meter.clone(), process: rand::random() }
    }

    pub fn meter(&self) -> &FetchMeter {
        &self.meter
    }

    /// Writes again and again, until the process is over.
    pub async fn keep_writing(self, lifecycle: Lifecycle) {
        let mut has_failed = false;
        loop {
            tokio::select! {
                () = tokio::time::sleep(WRITE_EVERY) => {}
                () = lifecycle.reached(Phase::Over) => return,
            }
            let written = self.write().await;
            if let Err(error) = &written {
                events::fetch_counts_not_written(error, has_failed);
            }
            has_failed = written.is_err();
        }
    }

    pub async fn write(&self) -> Result<(), DbError> {
        let (totals, stores) = (self.meter.totals(), self.meter.store_totals());
        if totals.is_empty() && stores.is_empty() {
            return Ok(());
        }
        let client = self.db.client().await?;
        counts::fetch_minute::write(&client, self.process, &totals).await?;
        self.meter.written(&totals);
        counts::fetch_store_day::write(&client, self.process, &stores).await?;
        self.meter.stores_written(&stores);
        Ok(())
    }
}
