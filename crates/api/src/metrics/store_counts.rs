//! `StoreCounts` for scrapes: read from the database once a minute at most, since the state of 10,000 stores takes
//! it a second.

use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use contract::overview::StoreCounts;
use db::{Client, DbError, tasks};
use telemetry::events;

const MAX_AGE: Duration = Duration::from_secs(60);
/// The rest of a scrape does not wait for longer.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// The latest counts of this process.
#[derive(Default)]
pub struct LatestStoreCounts(Mutex<Latest>);

#[derive(Default)]
struct Latest {
    read_at: Option<Instant>,
    counts: Option<StoreCounts>,
}

impl LatestStoreCounts {
    /// Reads the counts; None if the database took too long.
    pub async fn read(&self, client: &Client) -> Result<Option<StoreCounts>, DbError> {
        let mut latest = self.0.lock().await;
        if latest.read_at.is_some_and(|at| at.elapsed() < MAX_AGE) {
            return Ok(latest.counts.clone());
        }
        let read = tokio::time::timeout(MAX_WAIT, tasks::overview::stores(client, 0)).await;
        *latest = Latest { read_at: Some(Instant::now()), counts: None };
        match read {
            Ok(counts) => latest.counts = Some(counts?),
            Err(_) => events::scrape_incomplete(&format_args!("the stores were not counted within {MAX_WAIT:?}")),
        }
        Ok(latest.counts.clone())
    }
}
