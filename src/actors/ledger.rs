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
    book: Arc<Mutex<Book>>,
    /// Tasks held, and claims that may bring some.
    open: Arc<watch::Sender<usize>>,
}

#[derive(Default)]
struct Book {
    entries: HashMap<TaskId, Entry>,
    claims: usize,
    /// Whoever enters now is told so at once.
    closed: Option<Stop>,
}

/// A claim is under way: the ledger is not empty until its answer is written down, or has failed to come.
pub struct Claiming(Ledger);

struct Entry {
    held: Held,
    suspect: bool,
    stop: Option<oneshot::Sender<Stop>>,
}

impl Default for Ledger {
    fn default() -> Self {
        Ledger { book: Arc::default(), open: Arc::new(watch::Sender::new(0)) }
    }
}

impl Ledger {
    /// Notes a claimed task and returns the ear of its body.
    pub fn enter(&self, held: Held, suspect: bool) -> oneshot::Receiver<Stop> {
        let (stop, ear) = oneshot::channel();
        let mut entry = Entry { held, suspect, stop: Some(stop) };
        self.change(|book| {
            if let Some(why) = book.closed {
                entry.tell(why);
            }
            book.entries.insert(entry.held.id, entry)
        });
        ear
    }

    /// To be held from before a claim is decided upon until what it brought is entered.
    pub fn claiming(&self) -> Claiming {
        self.change(|book| book.claims += 1);
        Claiming(self.clone())
    }

    /// Forgets a run that has ended; a later run of the same task is another fence and stays.
    pub fn leave(&self, held: &Held) {
        self.change(|Book { entries, .. }| {
            if entries.get(&held.id).is_some_and(|entry| entry.held.fence == held.fence) {
                entries.remove(&held.id);
            }
        });
    }

    /// Tells one body to stop; its entry stays until it has.
    pub fn stop(&self, held: &Held, why: Stop) {
        if let Some(entry) = self.lock().entries.get_mut(&held.id).filter(|entry| entry.held.fence == held.fence) {
            entry.tell(why);
        }
    }

    /// Tells every body to stop, and those that are still to come.
    pub fn close(&self, why: Stop) {
        let mut book = self.lock();
        book.closed = Some(why);
        book.entries.values_mut().for_each(|entry| entry.tell(why));
    }

    /// Stops everything that a dead worker held and hands it over for recovery.
    pub fn take_from(&self, worker_id: &str) -> Vec<Held> {
        self.change(|Book { entries, .. }| {
            let ids: Vec<TaskId> =
                entries.values().filter(|entry| entry.held.worker_id == worker_id).map(|entry| entry.held.id).collect();
            ids.iter().filter_map(|id| entries.remove(id)).map(Entry::abandoned).collect()
        })
    }

    /// Stops everything that is left, and hands it over to be put back.
    pub fn take_all(&self) -> Vec<Held> {
        self.change(|Book { entries, .. }| entries.drain().map(|(_, entry)| entry.abandoned()).collect())
    }

    /// Stops one run of a dead actor; none when it had ended already.
    pub fn take(&self, held: &Held) -> Option<Held> {
        self.change(|Book { entries, .. }| {
            let entry = entries.remove(&held.id)?;
            if entry.held.fence != held.fence {
                entries.insert(held.id, entry);
                return None;
            }
            Some(entry.abandoned())
        })
    }

    pub fn count(&self) -> usize {
        self.lock().entries.len()
    }

    /// A process runs at most one suspect at a time.
    pub fn holds_suspect(&self) -> bool {
        self.lock().entries.values().any(|entry| entry.suspect)
    }

    /// Comes back once nothing is held and no claim is under way.
    pub async fn empty(&self) {
        let _ = self.open.subscribe().wait_for(|open| *open == 0).await;
    }

    fn change<T>(&self, change: impl FnOnce(&mut Book) -> T) -> T {
        let mut book = self.lock();
        let answer = change(&mut book);
        self.open.send_replace(book.entries.len() + book.claims);
        answer
    }

    fn lock(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Claiming {
    fn drop(&mut self) {
        self.0.change(|book| book.claims -= 1);
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

    #[test]
    fn a_claim_that_comes_back_after_the_close_is_told_at_once() {
        let ledger = Ledger::default();
        let claiming = ledger.claiming();
        ledger.close(Stop::Release);
        let mut ear = ledger.enter(held(1, 1, "a"), false);
        drop(claiming);
        assert_eq!(ear.try_recv(), Ok(Stop::Release));
    }

    #[tokio::test]
    async fn a_ledger_with_a_claim_under_way_is_not_empty() {
        let ledger = Ledger::default();
        let claiming = ledger.claiming();
        assert!(futures_util::FutureExt::now_or_never(ledger.empty()).is_none());
        drop(claiming);
        assert!(futures_util::FutureExt::now_or_never(ledger.empty()).is_some());
    }
}
