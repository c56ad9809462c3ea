//! `HeldTasks`: the tasks that this process holds: the one place that knows, outside of every actor, so that none is forgotten
//! when an actor dies.
//!
//! In: claims, renewals, losses, ends. Out: the stop signals of bodies, and leases to be renewed, released or recovered, always by
//! (task, fence): a worker's name may be used again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::{oneshot, watch};

use crate::domain::task::{TaskId, TaskLease};

/// Why a body is stopped from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The lease is gone: nothing may be written.
    Lost,
    /// The process ends: the task goes back at no cost.
    Release,
}

/// A claimed task on its way into [`HeldTasks`].
#[derive(Clone, Debug)]
pub struct NewEntry {
    pub lease: TaskLease,
    /// The slot of its worker that runs it.
    pub slot: usize,
    pub is_suspect: bool,
    /// When its body stops by itself, unless the lease is renewed.
    pub stop_at: Instant,
}

/// Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct HeldTasks {
    inner: Arc<Mutex<Inner>>,
    /// Tasks held, and claims that may bring some.
    open: Arc<watch::Sender<usize>>,
}

#[derive(Default)]
struct Inner {
    entries: HashMap<TaskId, Entry>,
    claims: usize,
    /// Set once every body is to stop, those that are still to come too.
    closed: Option<Stop>,
}

/// A claim is under way: there may be a held task until its answer is entered, or has failed to come.
pub struct ClaimInProgress(HeldTasks);

struct Entry {
    task: NewEntry,
    stop_signal: Option<oneshot::Sender<Stop>>,
}

impl Default for HeldTasks {
    fn default() -> Self {
        HeldTasks { inner: Arc::default(), open: Arc::new(watch::Sender::new(0)) }
    }
}

impl HeldTasks {
    /// Notes a claimed task and returns the stop signal of its body.
    pub fn enter(&self, task: NewEntry) -> oneshot::Receiver<Stop> {
        let (sender, stop_signal) = oneshot::channel();
        let mut entry = Entry { task, stop_signal: Some(sender) };
        self.change(|inner| {
            if let Some(reason) = inner.closed {
                entry.stop(reason);
            }
            inner.entries.insert(entry.task.lease.id, entry)
        });
        stop_signal
    }

    /// To be kept from before a claim is decided upon until what it brought is entered.
    pub fn claiming(&self) -> ClaimInProgress {
        self.change(|inner| inner.claims += 1);
        ClaimInProgress(self.clone())
    }

    /// Forgets a run that has ended; a later run of the same task has another fence and stays.
    pub fn leave(&self, lease: &TaskLease) {
        self.change(|inner| drop(inner.remove(lease)));
    }

    /// Every lease that is held, for the heartbeat.
    pub fn leases(&self) -> Vec<TaskLease> {
        self.lock().entries.values().map(|entry| entry.task.lease.clone()).collect()
    }

    /// These leases were renewed: their bodies may run until `stop_at`.
    pub fn renewed(&self, leases: &[TaskLease], stop_at: Instant) {
        let mut inner = self.lock();
        for lease in leases {
            if let Some(entry) = inner.entry(lease) {
                entry.task.stop_at = stop_at;
            }
        }
    }

    /// Stops the body of a lease that is gone; its entry stays until the run has ended.
    pub fn lost(&self, lease: &TaskLease) {
        if let Some(entry) = self.lock().entry(lease) {
            entry.stop(Stop::Lost);
        }
    }

    /// Stops the bodies whose lease may end before it is renewed. Returns when the next one is due.
    pub fn stop_overdue(&self, now: Instant) -> Option<Instant> {
        let mut inner = self.lock();
        inner.entries.values_mut().filter(|entry| entry.task.stop_at <= now).for_each(|entry| entry.stop(Stop::Lost));
        inner.entries.values().map(|entry| entry.task.stop_at).filter(|stop_at| *stop_at > now).min()
    }

    /// Stops every body, and those that are still to come.
    pub fn close(&self, reason: Stop) {
        let mut inner = self.lock();
        inner.closed = Some(reason);
        inner.entries.values_mut().for_each(|entry| entry.stop(reason));
    }

    /// Takes what a dead worker held: bodies are stopped, and the leases are the caller's to recover.
    pub fn take_from_worker(&self, worker_id: &str) -> Vec<TaskLease> {
        self.take(|task| task.lease.worker_id == worker_id)
    }

    /// Takes what a dead task actor held, like [`HeldTasks::take_from_worker`].
    pub fn take_from_slot(&self, worker_id: &str, slot: usize) -> Vec<TaskLease> {
        self.take(|task| task.lease.worker_id == worker_id && task.slot == slot)
    }

    /// Takes everything that is left, to be put back.
    pub fn take_all(&self) -> Vec<TaskLease> {
        self.take(|_| true)
    }

    fn take(&self, which: impl Fn(&NewEntry) -> bool) -> Vec<TaskLease> {
        self.change(|inner| {
            let taken = inner.entries.extract_if(|_, entry| which(&entry.task));
            taken.map(|(_, entry)| entry.abandon()).collect()
        })
    }

    pub fn count(&self) -> usize {
        self.lock().entries.len()
    }

    /// The ids of one worker's tasks by slot.
    pub fn of_worker(&self, worker_id: &str) -> HashMap<usize, TaskId> {
        let inner = self.lock();
        let own = inner.entries.values().filter(|entry| entry.task.lease.worker_id == worker_id);
        own.map(|entry| (entry.task.slot, entry.task.lease.id)).collect()
    }

    /// A process runs at most one suspect at a time.
    pub fn holds_suspect(&self) -> bool {
        self.lock().entries.values().any(|entry| entry.task.is_suspect)
    }

    /// Returns once nothing is held and no claim is under way.
    pub async fn empty(&self) {
        let _ = self.open.subscribe().wait_for(|open| *open == 0).await;
    }

    fn change<T>(&self, change: impl FnOnce(&mut Inner) -> T) -> T {
        let mut inner = self.lock();
        let answer = change(&mut inner);
        self.open.send_replace(inner.entries.len() + inner.claims);
        answer
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ClaimInProgress {
    fn drop(&mut self) {
        self.0.change(|inner| inner.claims -= 1);
    }
}

impl Inner {
    fn entry(&mut self, lease: &TaskLease) -> Option<&mut Entry> {
        self.entries.get_mut(&lease.id).filter(|entry| entry.task.lease == *lease)
    }

    fn remove(&mut self, lease: &TaskLease) -> Option<Entry> {
        self.entry(lease)?;
        self.entries.remove(&lease.id)
    }
}

impl Entry {
    fn stop(&mut self, reason: Stop) {
        if let Some(signal) = self.stop_signal.take() {
            let _ = signal.send(reason);
        }
    }

    fn abandon(mut self) -> TaskLease {
        self.stop(Stop::Lost);
        self.task.lease
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::FutureExt;

    use super::*;

    fn lease(id: TaskId, fence: i64, worker: &str) -> TaskLease {
        TaskLease { id, fence, worker_id: worker.to_owned() }
    }

    fn entry(lease: TaskLease) -> NewEntry {
        NewEntry { lease, slot: 1, is_suspect: false, stop_at: Instant::now() + Duration::from_secs(60) }
    }

    #[test]
    fn the_late_end_of_a_run_does_not_remove_the_next_one() {
        let held_tasks = HeldTasks::default();
        let _first = held_tasks.enter(entry(lease(1, 1, "a")));
        let _second = held_tasks.enter(entry(lease(1, 2, "b")));
        held_tasks.leave(&lease(1, 1, "a"));
        assert_eq!(held_tasks.count(), 1);
    }

    #[test]
    fn a_dead_workers_tasks_are_stopped_and_handed_over() {
        let held_tasks = HeldTasks::default();
        let mut stop_signal = held_tasks.enter(entry(lease(1, 1, "a")));
        let mut other = held_tasks.enter(NewEntry { is_suspect: true, ..entry(lease(2, 1, "b")) });
        assert_eq!(held_tasks.take_from_worker("a"), vec![lease(1, 1, "a")]);
        assert_eq!(stop_signal.try_recv(), Ok(Stop::Lost));
        assert!(other.try_recv().is_err() && held_tasks.holds_suspect());
    }

    #[test]
    fn a_dead_task_actor_leaves_the_other_slots_alone() {
        let held_tasks = HeldTasks::default();
        let _first = held_tasks.enter(entry(lease(1, 1, "a")));
        let _second = held_tasks.enter(NewEntry { slot: 2, ..entry(lease(2, 1, "a")) });
        assert_eq!(held_tasks.take_from_slot("a", 2), vec![lease(2, 1, "a")]);
        assert_eq!(held_tasks.of_worker("a"), HashMap::from([(1, 1)]));
    }

    #[test]
    fn a_body_stops_before_its_lease_can_end_unless_it_is_renewed() {
        let (held_tasks, now) = (HeldTasks::default(), Instant::now());
        let later = now + Duration::from_secs(10);
        let mut lapsed = held_tasks.enter(NewEntry { stop_at: now, ..entry(lease(1, 1, "a")) });
        let mut renewed = held_tasks.enter(NewEntry { stop_at: now, ..entry(lease(2, 1, "a")) });
        held_tasks.renewed(&[lease(2, 1, "a"), lease(1, 7, "a")], later);
        assert_eq!(held_tasks.stop_overdue(now), Some(later));
        assert_eq!(lapsed.try_recv(), Ok(Stop::Lost));
        assert!(renewed.try_recv().is_err());
    }

    #[test]
    fn a_claim_that_is_answered_after_the_close_is_stopped_at_once() {
        let held_tasks = HeldTasks::default();
        let claiming = held_tasks.claiming();
        held_tasks.close(Stop::Release);
        let mut stop_signal = held_tasks.enter(entry(lease(1, 1, "a")));
        drop(claiming);
        assert_eq!(stop_signal.try_recv(), Ok(Stop::Release));
    }

    #[tokio::test]
    async fn held_tasks_with_a_claim_under_way_are_not_empty() {
        let held_tasks = HeldTasks::default();
        let claiming = held_tasks.claiming();
        assert!(held_tasks.empty().now_or_never().is_none());
        drop(claiming);
        assert!(held_tasks.empty().now_or_never().is_some());
    }
}
