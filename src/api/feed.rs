//! `Feed`: what happens to runs, workers, schedules and proxies, as numbered events. One for each process, whoever listens.
//!
//! In: the database, looked at every [`TICK`]. Out: the latest [`MAX_EVENTS`], from which each listener reads what it has not seen; a
//! listener that fell behind further than that is told so.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use strum::{Display, IntoStaticStr, VariantArray};
use tokio::sync::watch;
use utoipa::ToSchema;

use crate::db::task_views::activity::Activity;
use crate::db::task_views::counts::{self, Counts};
use crate::db::{Client, Db, DbError, proxies, schedules, workers};
use crate::domain::proxy::PoolState;
use crate::events;

const TICK: Duration = Duration::from_secs(1);
/// Some minutes of a busy farm.
const MAX_EVENTS: usize = 4_096;

/// What an event is about.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    Display,
    IntoStaticStr,
    VariantArray,
    ToSchema,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Topic {
    /// A run began or ended.
    Task,
    /// How many tasks there are, by status.
    Counts,
    /// A worker as its heartbeat describes it, or that it is gone.
    Worker,
    /// A schedule, or that it is gone.
    Schedule,
    /// How many proxies there are, by state.
    Proxies,
}

#[derive(Debug)]
pub struct FeedEvent {
    pub number: u64,
    pub topic: Topic,
    /// One line of JSON.
    pub data: String,
}

pub struct Feed {
    /// Tells this process's numbers from those of another.
    pub process: String,
    latest: Mutex<VecDeque<Arc<FeedEvent>>>,
    /// The number of the newest event.
    newest: watch::Sender<u64>,
}

/// The events that a listener asks for are not kept any more.
#[derive(Debug, PartialEq, Eq)]
pub struct TooOld;

impl Default for Feed {
    fn default() -> Self {
        let process = format!("{:08x}", rand::random::<u32>());
        Feed { process, latest: Mutex::default(), newest: watch::Sender::new(0) }
    }
}

impl Feed {
    /// Looks and tells, for ever. Without the database it tells nothing.
    pub async fn run(&self, db: &Db) {
        let mut known = Known::default();
        let mut looked = Instant::now();
        loop {
            tokio::time::sleep(TICK).await;
            let elapsed = looked.elapsed();
            looked = Instant::now();
            match look(db, &mut known, elapsed).await {
                Ok(news) => self.publish(news),
                Err(error) => {
                    events::feed_interrupted(&error);
                    known = Known::default();
                }
            }
        }
    }

    /// Changes when there are events that a listener has not seen.
    pub fn newest(&self) -> watch::Receiver<u64> {
        self.newest.subscribe()
    }

    /// The events after `number`, oldest first.
    pub fn after(&self, number: u64) -> Result<Vec<Arc<FeedEvent>>, TooOld> {
        let latest = self.latest();
        let newest = latest.back().map_or(0, |event| event.number);
        let oldest = latest.front().map_or(1, |event| event.number);
        if number > newest || number + 1 < oldest {
            return Err(TooOld);
        }
        Ok(latest.iter().filter(|event| event.number > number).cloned().collect())
    }

    pub fn publish(&self, news: Vec<(Topic, Value)>) {
        if news.is_empty() {
            return;
        }
        let mut latest = self.latest();
        let mut number = latest.back().map_or(0, |event| event.number);
        for (topic, data) in news {
            number += 1;
            latest.push_back(Arc::new(FeedEvent { number, topic, data: data.to_string() }));
        }
        let beyond = latest.len().saturating_sub(MAX_EVENTS);
        latest.drain(..beyond);
        self.newest.send_replace(number);
    }

    fn latest(&self) -> MutexGuard<'_, VecDeque<Arc<FeedEvent>>> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What was told last.
#[derive(Default)]
struct Known {
    activity: Option<Activity>,
    counts: Option<Counts>,
    proxies: Option<PoolState>,
    workers: BTreeMap<String, Value>,
    schedules: BTreeMap<String, Value>,
}

async fn look(db: &Db, known: &mut Known, elapsed: Duration) -> Result<Vec<(Topic, Value)>, DbError> {
    let client = db.api_client().await?;
    let mut news = runs(&client, &mut known.activity, elapsed).await?;
    let counted = counts::counts(&client).await?.all;
    if known.counts.replace(counted) != Some(counted) {
        news.push((Topic::Counts, json!(counted)));
    }
    let pool = proxies::count(&client).await?;
    if known.proxies.replace(pool) != Some(pool) {
        news.push((Topic::Proxies, json!(pool)));
    }
    let workers = workers::list(&client).await?.into_iter().map(|worker| (worker.worker_id.clone(), json!(worker)));
    news.extend(changes(Topic::Worker, "worker_id", &mut known.workers, workers.collect()));
    let schedules =
        schedules::list(&client).await?.into_iter().map(|schedule| (schedule.name.clone(), json!(schedule)));
    news.extend(changes(Topic::Schedule, "name", &mut known.schedules, schedules.collect()));
    Ok(news)
}

async fn runs(
    client: &Client,
    activity: &mut Option<Activity>,
    elapsed: Duration,
) -> Result<Vec<(Topic, Value)>, DbError> {
    let activity = match activity {
        Some(activity) => activity,
        None => activity.insert(Activity::begin(client).await?),
    };
    let runs = activity.poll(client, elapsed).await?;
    Ok(runs.iter().map(|run| (Topic::Task, json!(run))).collect())
}

/// What is new or differs, and what is gone.
fn changes(
    topic: Topic,
    key: &str,
    known: &mut BTreeMap<String, Value>,
    now: BTreeMap<String, Value>,
) -> Vec<(Topic, Value)> {
    let gone = known.keys().filter(|name| !now.contains_key(*name)).map(|name| json!({ key: name, "gone": true }));
    let differ = now.iter().filter(|(name, value)| known.get(*name) != Some(value)).map(|(_, value)| value.clone());
    let news = gone.chain(differ).map(|value| (topic, value)).collect();
    *known = now;
    news
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(events: &[Arc<FeedEvent>]) -> Vec<u64> {
        events.iter().map(|event| event.number).collect()
    }

    #[test]
    fn a_listener_reads_what_it_has_not_seen() {
        let feed = Feed::default();
        assert_eq!(numbers(&feed.after(0).unwrap()), [0; 0]);
        feed.publish(vec![(Topic::Task, json!(1)), (Topic::Worker, json!(2))]);
        assert_eq!(numbers(&feed.after(0).unwrap()), [1, 2]);
        assert_eq!(numbers(&feed.after(1).unwrap()), [2]);
        assert_eq!(feed.after(3).unwrap_err(), TooOld, "it is of another process");
    }

    #[test]
    fn only_the_latest_events_are_kept() {
        let feed = Feed::default();
        for _ in 0..3 {
            feed.publish(vec![(Topic::Task, json!(null)); MAX_EVENTS / 2]);
        }
        let oldest = (MAX_EVENTS / 2) as u64;
        assert_eq!(feed.after(oldest).unwrap().len(), MAX_EVENTS);
        assert_eq!(feed.after(oldest - 1).unwrap_err(), TooOld);
    }

    #[test]
    fn what_came_changed_or_went_is_told_once() {
        let named =
            |pairs: &[(&str, i32)]| pairs.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        let mut known = named(&[("a", 1), ("b", 2), ("c", 3)]);
        let news = changes(Topic::Worker, "worker_id", &mut known, named(&[("b", 2), ("c", 4), ("d", 5)]));
        let told: Vec<Value> = news.into_iter().map(|(_, value)| value).collect();
        assert_eq!(told, [json!({"worker_id": "a", "gone": true}), json!(4), json!(5)]);
        assert!(changes(Topic::Worker, "worker_id", &mut known, named(&[("b", 2), ("c", 4), ("d", 5)])).is_empty());
    }
}
