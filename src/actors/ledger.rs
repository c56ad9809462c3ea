//! `Ledger`: the tasks that this process holds, outside of any actor, so that nothing is forgotten when one dies.
//!
//! What is released or recovered goes by (task, fence) from here, never by a worker's name, which may be used again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{oneshot, watch};

use crate::domain::task::{Held, TaskId};

/// Why a body is stopped from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The lease is gone: nothing may be written.
    Lost,
    /// The process leaves: the task goes back at no cost.
    Release,
}

#[derive(Clone)]
pub struct Ledger {
    entries: Arc<Mutex<HashMap<TaskId, Entry>>>,
    count: Arc<watch::Sender<usize>>,
}

struct Entry {
    held: Held,
    suspect: bool,
    stop: Option<oneshot::Sender<Stop>>,
}

impl Default for Ledger {
    fn default() -> Self {
        Ledger { entries: Arc::default(), count: Arc::new(watch::Sender::new(0)) }
    }
}

impl Ledger {
    /// Notes a claimed task and returns the ear of its body.
    pub fn enter(&self, held: Held, suspect: bool) -> oneshot::Receiver<Stop> {
        let (stop, ear) = oneshot::channel();
        self.change(|entries| entries.insert(held.id, Entry { held, suspect, stop: Some(stop) }));
        ear
    }

    /// Forgets a run that has ended; a later run of the same task is another fence and stays.
    pub fn leave(&self, held: &Held) {
        self.change(|entries| {
            if entries.get(&held.id).is_some_and(|entry| entry.held.fence == held.fence) {
                entries.remove(&held.id);
            }
        });
    }

    /// Tells one body to stop; its entry stays until it has.
    pub fn stop(&self, held: &Held, why: Stop) {
        if let Some(entry) = self.lock().get_mut(&held.id).filter(|entry| entry.held.fence == held.fence) {
            entry.tell(why);
        }
    }

    /// Tells every body to stop.
    pub fn stop_all(&self, why: Stop) {
        self.lock().values_mut().for_each(|entry| entry.tell(why));
    }

    /// Stops everything that a dead worker held and hands it over for recovery.
    pub fn take_from(&self, worker_id: &str) -> Vec<Held> {
        self.change(|entries| {
            let ids: Vec<TaskId> =
                entries.values().filter(|entry| entry.held.worker_id == worker_id).map(|entry| entry.held.id).collect();
            ids.iter().filter_map(|id| entries.remove(id)).map(Entry::abandoned).collect()
        })
    }

    /// Stops everything and hands it over for recovery.
    pub fn take_all(&self) -> Vec<Held> {
        self.change(|entries| entries.drain().map(|(_, entry)| entry.abandoned()).collect())
    }

    /// Stops one run of a dead actor; none when it had ended already.
    pub fn take(&self, held: &Held) -> Option<Held> {
        self.change(|entries| {
            let entry = entries.remove(&held.id)?;
            if entry.held.fence != held.fence {
                entries.insert(held.id, entry);
                return None;
            }
            Some(entry.abandoned())
        })
    }

    pub fn count(&self) -> usize {
        *self.count.borrow()
    }

    /// A process runs at most one suspect at a time.
    pub fn holds_suspect(&self) -> bool {
        self.lock().values().any(|entry| entry.suspect)
    }

    /// Comes back once nothing is held.
    pub async fn empty(&self) {
        let _ = self.count.subscribe().wait_for(|count| *count == 0).await;
    }

    fn change<T>(&self, change: impl FnOnce(&mut HashMap<TaskId, Entry>) -> T) -> T {
        let mut entries = self.lock();
        let answer = change(&mut entries);
        self.count.send_replace(entries.len());
        answer
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TaskId, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn tell(&mut self, why: Stop) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(why);
        }
    }

    fn abandoned(mut self) -> Held {
        self.tell(Stop::Lost);
        self.held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(id: TaskId, fence: i64, worker: &str) -> Held {
        Held { id, fence, worker_id: worker.to_owned() }
    }

    #[test]
    fn a_late_goodbye_does_not_remove_the_next_run() {
        let ledger = Ledger::default();
        let _first = ledger.enter(held(1, 1, "a"), false);
        let _second = ledger.enter(held(1, 2, "b"), false);
        ledger.leave(&held(1, 1, "a"));
        assert_eq!(ledger.count(), 1);
    }

    #[test]
    fn a_dead_workers_tasks_are_stopped_and_handed_over() {
        let ledger = Ledger::default();
        let mut ear = ledger.enter(held(1, 1, "a"), false);
        let mut other = ledger.enter(held(2, 1, "b"), true);
        assert_eq!(ledger.take_from("a"), vec![held(1, 1, "a")]);
        assert_eq!(ear.try_recv(), Ok(Stop::Lost));
        assert!(other.try_recv().is_err() && ledger.holds_suspect());
    }
}
