//! `HeldTasks`: the tasks that this process holds. It is outside of every actor, so that no task is forgotten
//! when an actor dies.
//!
//! In: claims, beats, renewals, losses, ends. Out: the stop signals of bodies, and leases to be renewed,
//! released or recovered, always by (task, fence): a worker's id may be used again. It must not know the
//! database.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{oneshot, watch};

use domain::task::{TaskId, TaskLease};

/// Why a body is stopped from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The run may not write any more: its lease is gone, or its task is being put back.
    Lost,
    /// The process ends: the task goes back at no cost.
    Release,
}

/// A task actor within its worker; never used again there, so that a late message of a dead one is not taken
/// for its successor's.
pub type TaskActorId = usize;

/// Held without a task actor: its run has ended, and what is left is to write that.
pub const NO_TASK_ACTOR: TaskActorId = 0;

/// A claimed task.
#[derive(Clone, Debug)]
pub struct HeldTask {
    pub lease: TaskLease,
    pub task_actor: TaskActorId,
    /// Whether it was lost twice: a process runs one such task at a time.
    pub is_suspect: bool,
    /// Time when its body stops by itself, unless the lease is renewed.
    pub stop_at: Instant,
}

/// A task actor runs its task still.
#[derive(Clone, Debug)]
pub struct Beat {
    pub lease: TaskLease,
    /// One heartbeat after the previous one, or after the claim.
    pub due: Instant,
}

/// Leases by whether their task actors were heard of within the grace time.
#[derive(Debug, Default)]
pub struct LeaseLiveness {
    /// Leases to renew, with the ages of their latest beats.
    pub beating: Vec<(TaskLease, Duration)>,
    /// Silent now, and not at the look before. They are not renewed, and their bodies stop by themselves.
    pub fallen_silent: Vec<(TaskLease, Duration)>,
}

/// Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct HeldTasks {
    inner: Arc<Mutex<Inner>>,
    /// Tasks held, and drain holds.
    count: Arc<watch::Sender<usize>>,
}

#[derive(Default)]
struct Inner {
    entries: HashMap<TaskId, Entry>,
    drain_holds: usize,
    /// Stop that is set once every body has to stop, including later ones.
    stop_all: Option<Stop>,
}

/// A claim, or the recovery of taken leases, is under way: a drain waits for it.
pub struct DrainHold(HeldTasks);

struct Entry {
    task: HeldTask,
    /// Its claim, or the latest beat of its task actor.
    beaten_at: Instant,
    is_silent: bool,
    stop_signal: Option<oneshot::Sender<Stop>>,
}

impl Default for HeldTasks {
    fn default() -> Self {
        HeldTasks { inner: Arc::default(), count: Arc::new(watch::Sender::new(0)) }
    }
}

impl HeldTasks {
    /// Notes a claimed task and returns the stop signal of its body.
    pub fn enter(&self, task: HeldTask) -> oneshot::Receiver<Stop> {
        let (sender, stop_signal) = oneshot::channel();
        let mut entry = Entry { task, beaten_at: Instant::now(), is_silent: false, stop_signal: Some(sender) };
        self.change(|inner| {
            if let Some(reason) = inner.stop_all {
                entry.stop(reason);
            }
            inner.entries.insert(entry.task.lease.id, entry)
        });
        stop_signal
    }

    /// Puts a chained task of the same slot in the place of its parent, whose run has ended. None: the parent
    /// was taken meanwhile.
    pub fn replace(&self, parent: &TaskLease, lease: TaskLease, stop_at: Instant) -> Option<oneshot::Receiver<Stop>> {
        let task_actor = self.change(|inner| inner.remove(parent))?.task.task_actor;
        Some(self.enter(HeldTask { lease, task_actor, is_suspect: false, stop_at }))
    }

    /// Delays a drain. The caller keeps it from before a claim is decided upon until its tasks are entered.
    pub fn hold_drain(&self) -> DrainHold {
        self.change(|inner| inner.drain_holds += 1);
        DrainHold(self.clone())
    }

    /// Notes that the body of a run has ended and its slot is free. The task is held, and beats by itself, until its
    /// end is written.
    pub fn leave_slot(&self, lease: &TaskLease) {
        if let Some(entry) = self.lock().entry(lease) {
            entry.task.task_actor = NO_TASK_ACTOR;
        }
    }

    /// Forgets a run that has ended; a later run of the same task has another fence and stays.
    pub fn leave(&self, lease: &TaskLease) {
        self.change(|inner| drop(inner.remove(lease)));
    }

    /// Notes that these task actors are alive. A beat of an earlier run of a task counts for nothing.
    pub fn note_beats(&self, beats: &[Beat], now: Instant) {
        let mut inner = self.lock();
        for beat in beats {
            if let Some(entry) = inner.entry(&beat.lease) {
                entry.beaten_at = now;
            }
        }
    }

    /// Held leases by whether a beat came within `grace`. A lease that stays silent is named once.
    pub fn heard_of(&self, grace: Duration, now: Instant) -> LeaseLiveness {
        let mut heard_of = LeaseLiveness::default();
        for entry in self.lock().entries.values_mut() {
            if entry.task.task_actor == NO_TASK_ACTOR {
                entry.beaten_at = now;
            }
            let age = now.saturating_duration_since(entry.beaten_at);
            let was_silent = std::mem::replace(&mut entry.is_silent, age > grace);
            match (entry.is_silent, was_silent) {
                (false, _) => heard_of.beating.push((entry.task.lease.clone(), age)),
                (true, false) => heard_of.fallen_silent.push((entry.task.lease.clone(), age)),
                (true, true) => {}
            }
        }
        heard_of
    }

    /// Notes that these leases were renewed: their bodies may run until `stop_at`.
    pub fn extend(&self, leases: &[TaskLease], stop_at: Instant) {
        let mut inner = self.lock();
        for lease in leases {
            if let Some(entry) = inner.entry(lease) {
                entry.task.stop_at = stop_at;
            }
        }
    }

    /// Stops the body of a lease that is gone; its entry stays until the run has ended.
    pub fn stop_lost(&self, lease: &TaskLease) {
        if let Some(entry) = self.lock().entry(lease) {
            entry.stop(Stop::Lost);
        }
    }

    /// Stops the bodies whose lease may end before it is renewed.
    pub fn stop_overdue(&self, now: Instant) {
        let mut inner = self.lock();
        inner.entries.values_mut().filter(|entry| entry.task.stop_at <= now).for_each(|entry| entry.stop(Stop::Lost));
    }

    /// Stops every body, including later ones.
    pub fn stop_all(&self, reason: Stop) {
        let mut inner = self.lock();
        inner.stop_all = Some(reason);
        inner.entries.values_mut().for_each(|entry| entry.stop(reason));
    }

    /// Takes a dead worker's tasks: bodies are stopped, and the leases are the caller's to recover. The ends of its
    /// other runs are written without it.
    pub fn take_from_worker(&self, worker_id: &str) -> Vec<TaskLease> {
        self.take(|task| task.lease.worker_id == worker_id && task.task_actor != NO_TASK_ACTOR)
    }

    /// Takes a dead task actor's task, like [`HeldTasks::take_from_worker`].
    pub fn take_from_task_actor(&self, worker_id: &str, task_actor: TaskActorId) -> Vec<TaskLease> {
        self.take(|task| task.lease.worker_id == worker_id && task.task_actor == task_actor)
    }

    /// Takes everything that is left, to be put back.
    pub fn take_all(&self) -> Vec<TaskLease> {
        self.take(|_| true)
    }

    fn take(&self, which: impl Fn(&HeldTask) -> bool) -> Vec<TaskLease> {
        self.change(|inner| {
            let taken = inner.entries.extract_if(|_, entry| which(&entry.task));
            taken.map(|(_, entry)| entry.stop_and_take()).collect()
        })
    }

    pub fn count(&self) -> usize {
        self.lock().entries.len()
    }

    /// The ids of the tasks in one worker's slots by task actor.
    pub fn of_worker(&self, worker_id: &str) -> HashMap<TaskActorId, TaskId> {
        let inner = self.lock();
        let tasks = inner.entries.values().map(|entry| &entry.task);
        let own = tasks.filter(|task| task.lease.worker_id == worker_id && task.task_actor != NO_TASK_ACTOR);
        own.map(|task| (task.task_actor, task.lease.id)).collect()
    }

    /// A process runs at most one suspect at a time.
    pub fn holds_suspect(&self) -> bool {
        self.lock().entries.values().any(|entry| entry.task.is_suspect)
    }

    /// Returns once nothing is held and no claim or recovery is under way.
    pub async fn until_empty(&self) {
        let _ = self.count.subscribe().wait_for(|count| *count == 0).await;
    }

    fn change<T>(&self, change: impl FnOnce(&mut Inner) -> T) -> T {
        let mut inner = self.lock();
        let answer = change(&mut inner);
        self.count.send_replace(inner.entries.len() + inner.drain_holds);
        answer
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for DrainHold {
    fn drop(&mut self) {
        self.0.change(|inner| inner.drain_holds -= 1);
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

    fn stop_and_take(mut self) -> TaskLease {
        self.stop(Stop::Lost);
        self.task.lease
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn lease(id: TaskId, fence: i64, worker: &str) -> TaskLease {
        TaskLease { id, fence, worker_id: worker.to_owned() }
    }

    fn entry(lease: TaskLease) -> HeldTask {
        HeldTask { lease, task_actor: 1, is_suspect: false, stop_at: Instant::now() + Duration::from_secs(60) }
    }

    #[test]
    fn the_late_end_of_a_run_does_not_remove_the_next_one() {
        let held_tasks = HeldTasks::default();
        let _first = held_tasks.enter(entry(lease(1, 1, "a")));
        let _second = held_tasks.enter(entry(lease(1, 2, "b")));
        held_tasks.leave(&lease(1, 1, "a"));
        assert_eq!(held_tasks.count(), 1);
        held_tasks.leave(&lease(1, 2, "b"));
        assert_eq!(held_tasks.count(), 0);
    }

    #[test]
    fn a_lost_lease_stops_its_own_run_which_is_held_until_its_end() {
        let held_tasks = HeldTasks::default();
        let mut stop_signal = held_tasks.enter(entry(lease(1, 2, "a")));
        held_tasks.stop_lost(&lease(1, 1, "a"));
        assert!(stop_signal.try_recv().is_err());
        held_tasks.stop_lost(&lease(1, 2, "a"));
        assert_eq!((stop_signal.try_recv(), held_tasks.count()), (Ok(Stop::Lost), 1));
    }

    #[test]
    fn a_dead_workers_tasks_are_stopped_and_handed_over() {
        let held_tasks = HeldTasks::default();
        let mut stop_signal = held_tasks.enter(entry(lease(1, 1, "a")));
        let mut other = held_tasks.enter(HeldTask { is_suspect: true, ..entry(lease(2, 1, "b")) });
        assert_eq!(held_tasks.take_from_worker("a"), vec![lease(1, 1, "a")]);
        assert_eq!(stop_signal.try_recv(), Ok(Stop::Lost));
        assert!(other.try_recv().is_err() && held_tasks.holds_suspect());
    }

    #[test]
    fn a_dead_task_actor_leaves_the_others_alone() {
        let held_tasks = HeldTasks::default();
        let _first = held_tasks.enter(entry(lease(1, 1, "a")));
        let _second = held_tasks.enter(HeldTask { task_actor: 2, ..entry(lease(2, 1, "a")) });
        assert_eq!(held_tasks.take_from_task_actor("a", 2), vec![lease(2, 1, "a")]);
        assert_eq!(held_tasks.of_worker("a"), HashMap::from([(1, 1)]));
    }

    #[test]
    fn a_body_stops_before_its_lease_can_end_unless_it_is_renewed() {
        let (held_tasks, now) = (HeldTasks::default(), Instant::now());
        let later = now + Duration::from_secs(10);
        let mut lapsed = held_tasks.enter(HeldTask { stop_at: now, ..entry(lease(1, 1, "a")) });
        let mut renewed = held_tasks.enter(HeldTask { stop_at: now, ..entry(lease(2, 1, "a")) });
        held_tasks.extend(&[lease(2, 1, "a"), lease(1, 7, "a")], later);
        held_tasks.stop_overdue(now);
        assert_eq!(lapsed.try_recv(), Ok(Stop::Lost));
        assert!(renewed.try_recv().is_err());
    }

    #[test]
    fn a_lease_is_silent_when_no_beat_of_its_run_came_within_the_grace() {
        let (held_tasks, begun) = (HeldTasks::default(), Instant::now());
        let at = |seconds| begun + Duration::from_secs(seconds);
        let _stop_signal = held_tasks.enter(entry(lease(1, 2, "a")));
        let grace = Duration::from_secs(50);
        held_tasks.note_beats(&[Beat { lease: lease(1, 1, "a"), due: at(40) }], at(40));
        let silent = held_tasks.heard_of(grace, at(60));
        assert!(silent.beating.is_empty() && silent.fallen_silent.len() == 1, "{silent:?}");
        let still_silent = held_tasks.heard_of(grace, at(70));
        assert!(still_silent.beating.is_empty() && still_silent.fallen_silent.is_empty(), "{still_silent:?}");
        held_tasks.note_beats(&[Beat { lease: lease(1, 2, "a"), due: at(70) }], at(70));
        assert_eq!(held_tasks.heard_of(grace, at(120)).beating, [(lease(1, 2, "a"), grace)]);
    }

    #[test]
    fn a_task_that_has_left_its_slot_is_held_and_renewed_although_its_task_actor_and_its_worker_die() {
        let (held_tasks, begun) = (HeldTasks::default(), Instant::now());
        let _stop_signal = held_tasks.enter(entry(lease(1, 1, "a")));
        held_tasks.leave_slot(&lease(1, 1, "a"));
        assert!(held_tasks.take_from_task_actor("a", 1).is_empty() && held_tasks.take_from_worker("a").is_empty());
        assert!(held_tasks.of_worker("a").is_empty());
        let late = begun + Duration::from_secs(600);
        assert_eq!(held_tasks.heard_of(Duration::from_secs(50), late).beating, [(lease(1, 1, "a"), Duration::ZERO)]);
        assert_eq!(held_tasks.take_all(), vec![lease(1, 1, "a")]);
    }

    #[test]
    fn a_claim_that_is_answered_after_the_stop_of_all_is_stopped_at_once() {
        let held_tasks = HeldTasks::default();
        let drain_hold = held_tasks.hold_drain();
        held_tasks.stop_all(Stop::Release);
        let mut stop_signal = held_tasks.enter(entry(lease(1, 1, "a")));
        drop(drain_hold);
        assert_eq!(stop_signal.try_recv(), Ok(Stop::Release));
    }

    #[tokio::test]
    async fn held_tasks_with_a_claim_under_way_are_not_empty() {
        let held_tasks = HeldTasks::default();
        let drain_hold = held_tasks.hold_drain();
        assert!(held_tasks.until_empty().now_or_never().is_none());
        drop(drain_hold);
        assert!(held_tasks.until_empty().now_or_never().is_some());
    }
}
