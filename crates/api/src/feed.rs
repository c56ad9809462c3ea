//! `Feed`: changes of runs, workers, schedules and proxies, as numbered events. One for each process.
//!
//! In: the database, polled every [`TICK`] while there are listeners, and for [`IDLE_AFTER`] longer. Out: the
//! latest [`MAX_EVENTS`], from which each listener reads the ones it has not seen. A listener that fell
//! behind further, or comes back after a pause, learns so, as do all listeners after a time without the
//! database.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::{Notify, watch};

use super::ApiState;
use contract::changes::ChangePlace;
use contract::pauses::Pause;
use contract::position::Position;
use contract::quality::QualityCount;
use contract::tasks::Counts;
use db::counts::charts::WrittenMinutes;
use db::tasks::views::activity::Activity;
use db::{Client, Db, DbError, counts, proxies, schedules, stores, tasks, workers};
use domain::proxy::HealthCounts;
use domain::vocabulary::vocabulary;
use telemetry::events;

const TICK: Duration = Duration::from_secs(1);
/// A page that is loaded again, or a client that lost its connection, comes back within this time, and misses
/// nothing.
const IDLE_AFTER: Duration = Duration::from_secs(60);
/// Maximum time a listener waits for the first poll after an idle time; without the database it continues without it.
const MAX_WAKE: Duration = Duration::from_secs(2);
/// Number of kept events: some minutes of a busy farm.
const MAX_EVENTS: usize = 4_096;

vocabulary! {
    /// The subject of an event.
    pub enum Topic {
        /// A run began or ended.
        Task,
        /// How many tasks there are, by status.
        Counts,
        /// A worker as its heartbeat describes it, or that it is gone.
        Worker,
        /// A schedule, or that it is gone.
        Schedule,
        /// How many proxies there are, by health.
        Proxies,
        /// A minute of the counts that charts are made of was written.
        Rollups,
        /// How many stores have faulty data, by kind.
        Quality,
        /// The pauses in force.
        Pauses,
        /// Changes of prices and stock were published.
        Changes,
    }
}

#[derive(Debug)]
pub struct FeedEvent {
    pub number: u64,
    pub topic: Topic,
    /// One line of JSON.
    pub data: String,
}

pub struct Feed {
    /// Id that distinguishes this process's numbers from another's.
    pub process: String,
    latest: Mutex<VecDeque<Arc<FeedEvent>>>,
    /// The number of the newest event. Each listener has a receiver.
    newest: watch::Sender<u64>,
    /// A listener has come.
    called: Notify,
    /// False from the beginning of an idle time until the first poll after it.
    is_watching: watch::Sender<bool>,
    tick: Duration,
    idle_after: Duration,
}

/// Source of events.
trait Source {
    /// Changes since the last poll, `elapsed` ago.
    fn poll(&mut self, elapsed: Duration) -> impl Future<Output = Result<Vec<(Topic, Value)>, DbError>> + Send;
    /// Reset: the next poll reports no differences.
    fn reset(&mut self);
}

/// The events that a listener asks for are not kept any more.
#[derive(Debug, PartialEq, Eq)]
pub struct TooOld;

impl Default for Feed {
    fn default() -> Self {
        let process = format!("{:08x}", rand::random::<u32>());
        Feed {
            process,
            latest: Mutex::default(),
            newest: watch::Sender::new(0),
            called: Notify::new(),
            is_watching: watch::Sender::new(false),
            tick: TICK,
            idle_after: IDLE_AFTER,
        }
    }
}

/// Polls and publishes while there are listeners, until the server ends; publishes nothing while the database
/// is down.
pub async fn run(api: ApiState) {
    let source = Tables { db: &api.db, known: PublishedRows::default() };
    // None: the server ends
    let _ = api.stop.run_until_cancelled(api.feed.follow(source)).await;
}

impl Feed {
    async fn follow(&self, mut source: impl Source) {
        loop {
            self.idle().await;
            self.watch(&mut source).await;
            source.reset();
        }
    }

    /// Returns once there is a listener.
    async fn idle(&self) {
        self.is_watching.send_replace(false);
        self.skip();
        while self.newest.receiver_count() == 0 {
            self.called.notified().await;
        }
    }

    /// Polls until there was no listener for some time.
    async fn watch(&self, source: &mut impl Source) {
        let (mut polled, mut listened) = (Instant::now(), Instant::now());
        let mut is_interrupted = false;
        loop {
            let elapsed = polled.elapsed();
            polled = Instant::now();
            match source.poll(elapsed).await {
                Ok(changes) => {
                    if std::mem::take(&mut is_interrupted) {
                        // events of the interruption are not among the changes
                        self.skip();
                    }
                    self.publish(changes);
                    self.is_watching.send_replace(true);
                }
                Err(error) => {
                    events::feed_interrupted(&error);
                    source.reset();
                    is_interrupted = true;
                }
            }
            tokio::time::sleep(self.tick).await;
            if self.newest.receiver_count() > 0 {
                listened = Instant::now();
            } else if listened.elapsed() >= self.idle_after {
                return;
            }
        }
    }

    /// Subscribes, and returns once polling has started, so no later event is missed. The receiver changes
    /// when there are events that the listener has not seen; while it is kept, the feed keeps polling.
    pub async fn listen(&self) -> watch::Receiver<u64> {
        let newest = self.newest.subscribe();
        self.called.notify_one();
        let mut is_watching = self.is_watching.subscribe();
        // too late is not an error: events are published once the database is back
        let _ = tokio::time::timeout(MAX_WAKE, is_watching.wait_for(|is_watching| *is_watching)).await;
        newest
    }

    /// The events after `number`, oldest first.
    pub fn after(&self, number: u64) -> Result<Vec<Arc<FeedEvent>>, TooOld> {
        let latest = self.latest();
        let newest = *self.newest.borrow();
        let oldest = latest.front().map_or(newest + 1, |event| event.number);
        if number > newest || number + 1 < oldest {
            return Err(TooOld);
        }
        Ok(latest.iter().filter(|event| event.number > number).cloned().collect())
    }

    pub fn publish(&self, changes: Vec<(Topic, Value)>) {
        if changes.is_empty() {
            return;
        }
        let mut latest = self.latest();
        let mut number = *self.newest.borrow();
        for (topic, data) in changes {
            number += 1;
            latest.push_back(Arc::new(FeedEvent { number, topic, data: data.to_string() }));
        }
        let beyond = latest.len().saturating_sub(MAX_EVENTS);
        latest.drain(..beyond);
        self.newest.send_replace(number);
    }

    /// Leaves a number out, so that a listener with an earlier one learns that it may have missed something.
    fn skip(&self) {
        self.latest().clear();
        self.newest.send_modify(|number| *number += 1);
    }

    fn latest(&self) -> MutexGuard<'_, VecDeque<Arc<FeedEvent>>> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Tables<'a> {
    db: &'a Db,
    known: PublishedRows,
}

impl Source for Tables<'_> {
    fn poll(&mut self, elapsed: Duration) -> impl Future<Output = Result<Vec<(Topic, Value)>, DbError>> + Send {
        poll(self.db, &mut self.known, elapsed)
    }

    fn reset(&mut self) {
        self.known = PublishedRows::default();
    }
}

/// Rows that were published last.
#[derive(Default)]
struct PublishedRows {
    activity: Option<Activity>,
    counts: Option<Counts>,
    proxies: Option<HealthCounts>,
    written: Option<WrittenMinutes>,
    quality: Option<Vec<QualityCount>>,
    pauses: Option<Vec<Pause>>,
    changes: Option<ChangePlace>,
    workers: BTreeMap<String, Value>,
    schedules: BTreeMap<String, Value>,
}

async fn poll(db: &Db, known: &mut PublishedRows, elapsed: Duration) -> Result<Vec<(Topic, Value)>, DbError> {
    let client = db.api_client().await?;
    let mut changes = runs(&client, &mut known.activity, elapsed).await?;
    let counted = tasks::views::counts::counts(&client).await?.all;
    if known.counts.replace(counted) != Some(counted) {
        changes.push((Topic::Counts, json!(counted)));
    }
    let pool = proxies::count(&client).await?;
    if known.proxies.replace(pool) != Some(pool) {
        changes.push((Topic::Proxies, json!(pool)));
    }
    let written = counts::charts::written(&client).await?;
    if known.written.replace(written) != Some(written) {
        changes.push((Topic::Rollups, json!(written)));
    }
    let faulty = stores::quality::counts(&client).await?;
    if known.quality.as_ref() != Some(&faulty) {
        changes.push((Topic::Quality, json!(faulty)));
        known.quality = Some(faulty);
    }
    let pauses = tasks::pauses::list(&client).await?;
    if known.pauses.as_ref() != Some(&pauses) {
        changes.push((Topic::Pauses, json!({ "pauses": pauses })));
        known.pauses = Some(pauses);
    }
    let newest = db::changes::feed::newest(&client).await?;
    if known.changes.as_ref() != Some(&newest) {
        changes.push((Topic::Changes, json!({ "newest": Position(&newest).text() })));
        known.changes = Some(newest);
    }
    let workers = workers::list(&client).await?.into_iter().map(|worker| (worker.worker_id.clone(), json!(worker)));
    changes.extend(differences(Topic::Worker, "worker_id", &mut known.workers, workers.collect()));
    let schedules =
        schedules::list(&client).await?.into_iter().map(|schedule| (schedule.name.clone(), json!(schedule)));
    changes.extend(differences(Topic::Schedule, "name", &mut known.schedules, schedules.collect()));
    Ok(changes)
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

/// New, changed and removed entries.
fn differences(
    topic: Topic,
    key: &str,
    known: &mut BTreeMap<String, Value>,
    now: BTreeMap<String, Value>,
) -> Vec<(Topic, Value)> {
    let gone = known.keys().filter(|name| !now.contains_key(*name)).map(|name| json!({ key: name, "gone": true }));
    let differ = now.iter().filter(|(name, value)| known.get(*name) != Some(value)).map(|(_, value)| value.clone());
    let differences = gone.chain(differ).map(|value| (topic, value)).collect();
    *known = now;
    differences
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

    /// Publishes one event at each poll, and the number of polls.
    struct PollCount(watch::Sender<u64>);

    impl Source for PollCount {
        async fn poll(&mut self, _: Duration) -> Result<Vec<(Topic, Value)>, DbError> {
            self.0.send_modify(|polls| *polls += 1);
            Ok(vec![(Topic::Task, json!(null))])
        }

        fn reset(&mut self) {}
    }

    /// Waits until this holds for the source's count, or for whether the feed polls.
    async fn until<T>(mut watched: watch::Receiver<T>, holds: impl FnMut(&T) -> bool) {
        let wait = watched.wait_for(holds);
        tokio::time::timeout(Duration::from_secs(20), wait).await.expect("within the deadline").unwrap();
    }

    #[tokio::test]
    async fn it_rests_while_nobody_listens_and_who_comes_back_then_has_missed_something() {
        let quick = Feed { tick: Duration::from_millis(1), idle_after: Duration::ZERO, ..Feed::default() };
        let feed = Arc::new(quick);
        let (polls, polled) = watch::channel(0);
        let running = tokio::spawn({
            let feed = feed.clone();
            async move { feed.follow(PollCount(polls)).await }
        });
        let listener = feed.listen().await;
        until(polled.clone(), |polls| *polls >= 3).await;
        let seen = *listener.borrow();
        assert!(feed.after(seen).is_ok());

        drop(listener);
        until(feed.is_watching.subscribe(), |is_watching| !is_watching).await;
        assert_eq!(feed.after(seen).unwrap_err(), TooOld);
        let before = *polled.borrow();
        let listener = feed.listen().await;
        assert!(*polled.borrow() > before, "it looks before anybody is told to have listened");
        assert!(feed.after(*listener.borrow()).is_ok());
        running.abort();
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
        let found = differences(Topic::Worker, "worker_id", &mut known, named(&[("b", 2), ("c", 4), ("d", 5)]));
        let told: Vec<Value> = found.into_iter().map(|(_, value)| value).collect();
        assert_eq!(told, [json!({"worker_id": "a", "gone": true}), json!(4), json!(5)]);
        assert!(differences(Topic::Worker, "worker_id", &mut known, named(&[("b", 2), ("c", 4), ("d", 5)])).is_empty());
    }
}
