//! `DownloadQueue`: the stores whose images are to be looked at, and downloads under way. Cheap to clone; all
//! clones are one.
//!
//! Bounded: a store that finds no room is left out. Each store is in it once.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, watch};

use super::progress::DownloadProgress;
use domain::menu::image::ImageOwner;
use domain::store::StoreId;
use telemetry::events;

/// Maximum number of stores that wait.
const MAX_STORES: usize = 10_000;

/// Guard of a task's run: most downloads give way to it.
pub struct RunGuard(Arc<Shared>);

impl Drop for RunGuard {
    fn drop(&mut self) {
        self.0.runs.send_modify(|runs| *runs -= 1);
    }
}

/// A store whose images are to be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreAsk {
    pub store: StoreId,
    /// Includes images that are stored already, or were given up.
    pub refetch: bool,
    /// Maximum number of its images.
    pub limit: Option<usize>,
}

/// An image between the search for it and its row. Dropped without an end, it counts as postponed.
pub(super) struct UnderWay {
    queue: DownloadQueue,
    owner: ImageOwner,
}

impl UnderWay {
    pub fn end(self, note: impl FnOnce(&mut DownloadProgress)) {
        self.queue.end(self.owner, note);
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.queue.end(self.owner, |progress| progress.postponed += 1);
    }
}

#[derive(Clone, Default)]
pub struct DownloadQueue(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    added: Notify,
    /// Tasks that this process runs.
    runs: watch::Sender<usize>,
    progress: watch::Sender<DownloadProgress>,
}

#[derive(Default)]
struct State {
    stores: VecDeque<StoreAsk>,
    queued: HashSet<StoreId>,
    /// Images between a lane and the database.
    begun: HashSet<ImageOwner>,
    is_looking: bool,
}

impl Default for Shared {
    fn default() -> Self {
        let (runs, progress) = (watch::Sender::default(), watch::Sender::default());
        Shared { state: Mutex::default(), added: Notify::new(), runs, progress }
    }
}

impl DownloadQueue {
    /// A store whose products were written. It never waits.
    pub fn add(&self, store: StoreId) {
        self.ask(StoreAsk { store, refetch: false, limit: None });
    }

    pub fn ask(&self, ask: StoreAsk) {
        let mut state = self.state();
        if state.stores.len() >= MAX_STORES {
            drop(state);
            return events::images_left_out(ask.store, MAX_STORES);
        }
        if state.queued.insert(ask.store) {
            state.stores.push_back(ask);
            self.show(&state);
            drop(state);
            self.0.added.notify_one();
        }
    }

    /// A task begins to run in this process.
    pub fn begin_run(&self) -> RunGuard {
        self.0.runs.send_modify(|runs| *runs += 1);
        RunGuard(Arc::clone(&self.0))
    }

    /// Waits until no task runs.
    pub(super) async fn until_no_run(&self) {
        // the sender lives as long as this handle
        let _ = self.0.runs.subscribe().wait_for(|runs| *runs == 0).await;
    }

    /// Progress until now; changes wake its waiters.
    pub fn progress(&self) -> watch::Receiver<DownloadProgress> {
        self.0.progress.subscribe()
    }

    /// Waits until nothing is queued or under way.
    pub async fn until_idle(&self) {
        // the sender lives as long as this handle
        let _ = self.progress().wait_for(DownloadProgress::is_idle).await;
    }

    /// The next store; [`DownloadQueue::looked_up`] ends its turn.
    pub(super) async fn next(&self) -> StoreAsk {
        loop {
            let added = self.0.added.notified();
            if let Some(ask) = self.take() {
                return ask;
            }
            added.await;
        }
    }

    fn take(&self) -> Option<StoreAsk> {
        let mut state = self.state();
        let ask = state.stores.pop_front()?;
        state.queued.remove(&ask.store);
        state.is_looking = true;
        Some(ask)
    }

    /// All images of the last store are with the lanes.
    pub(super) fn looked_up(&self) {
        let mut state = self.state();
        state.is_looking = false;
        self.show(&state);
    }

    /// None while the same image is under way already.
    pub(super) fn begin(&self, owner: ImageOwner) -> Option<UnderWay> {
        let mut state = self.state();
        let is_new = state.begun.insert(owner);
        self.show(&state);
        is_new.then(|| UnderWay { queue: self.clone(), owner })
    }

    /// An image is stored, or is not to be had for now.
    fn end(&self, owner: ImageOwner, note: impl FnOnce(&mut DownloadProgress)) {
        let mut state = self.state();
        if state.begun.remove(&owner) {
            self.change(&state, note);
        }
    }

    fn show(&self, state: &State) {
        self.change(state, |_| {});
    }

    /// Its waiters see both at once.
    fn change(&self, state: &State, note: impl FnOnce(&mut DownloadProgress)) {
        let (stores, images) = (state.stores.len() + usize::from(state.is_looking), state.begun.len());
        self.0.progress.send_modify(|progress| {
            note(progress);
            (progress.stores, progress.images) = (stores, images);
        });
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_store_that_waits_already_is_not_added_again() {
        let queue = DownloadQueue::default();
        queue.add(1);
        queue.add(1);
        queue.add(2);
        assert_eq!((queue.next().await.store, queue.next().await.store), (1, 2));
        assert!(queue.take().is_none());
    }

    #[test]
    fn a_full_queue_leaves_stores_out() {
        let queue = DownloadQueue::default();
        (0..MAX_STORES as i64 + 10).for_each(|store| queue.add(store));
        assert_eq!(queue.progress().borrow().stores, MAX_STORES);
    }

    #[tokio::test]
    async fn no_task_runs_once_the_last_of_them_has_ended() {
        let queue = DownloadQueue::default();
        let runs = [queue.begin_run(), queue.begin_run()];
        assert!(queue.until_no_run().now_or_never().is_none());
        drop(runs);
        queue.until_no_run().await;
    }

    #[tokio::test]
    async fn it_is_idle_once_the_last_image_has_ended() {
        let queue = DownloadQueue::default();
        queue.add(1);
        queue.next().await;
        let image = ImageOwner::Product(7);
        let under_way = queue.begin(image).unwrap();
        assert!(queue.begin(image).is_none());
        queue.looked_up();
        assert!(!queue.progress().borrow().is_idle());
        under_way.end(|progress| progress.stored += 1);
        queue.until_idle().await;
        assert_eq!(queue.progress().borrow().stored, 1);
    }

    #[tokio::test]
    async fn an_image_that_is_dropped_on_the_way_is_postponed() {
        let queue = DownloadQueue::default();
        drop(queue.begin(ImageOwner::Product(7)));
        queue.until_idle().await;
        assert_eq!(queue.progress().borrow().postponed, 1);
    }
}
