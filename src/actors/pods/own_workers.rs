//! `OwnWorkers`: the workers of this process, their ids, and the number of their runs.
//!
//! In: workers that start, runs that end, and workers whose rows are gone from the registry. Out: new ids, and the workers that there are.
//! Once the last one of a process without schedules has left, or `worker.recycle_after` runs have ended, the process drains, without a
//! cause: it exits 0.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rand::Rng;
use tokio::sync::watch;

use crate::actors::plan::{Plan, PodPlan, WorkerPlan};
use settings::Config;
use supervision::lifecycle::{Lifecycle, Phase};
use telemetry::events;

/// Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct OwnWorkers {
    by_id: watch::Sender<BTreeMap<String, WorkerPlan>>,
    /// `WORKER_ID`; empty: ids are generated.
    configured_id: String,
    ended_runs: Arc<AtomicUsize>,
    /// `worker.recycle_after`; 0: the process continues.
    recycle_after: usize,
    /// Ends the process with its workers; None where schedules run too: such a process continues without workers.
    lifecycle: Option<Lifecycle>,
}

impl OwnWorkers {
    pub fn new(config: &Config, plan: &Plan, lifecycle: Lifecycle) -> Self {
        OwnWorkers {
            by_id: watch::Sender::new(BTreeMap::new()),
            configured_id: config.worker.id.clone(),
            ended_runs: Arc::default(),
            recycle_after: config.worker.recycle_after,
            lifecycle: (!plan.schedules).then_some(lifecycle),
        }
    }

    /// Adds a worker under an id that no other one of this process has.
    pub fn add(&self, pod: &PodPlan, number: usize) -> WorkerPlan {
        let mut worker = pod.worker(number, String::new());
        self.by_id.send_modify(|by_id| {
            worker.id = self.free_id(by_id, pod);
            by_id.insert(worker.id.clone(), worker.clone());
        });
        worker
    }

    /// May be called again for the same worker.
    pub fn remove(&self, id: &str) {
        let mut is_last = false;
        self.by_id.send_if_modified(|by_id| {
            let is_removed = by_id.remove(id).is_some();
            is_last = is_removed && by_id.is_empty();
            is_removed
        });
        if let Some(lifecycle) = self.lifecycle.as_ref().filter(|_| is_last) {
            lifecycle.advance(Phase::Draining);
        }
    }

    /// Counts ended runs of any of them.
    pub fn count_runs(&self, runs: usize) {
        let ended = self.ended_runs.fetch_add(runs, Ordering::Relaxed) + runs;
        let Some(lifecycle) = self.lifecycle.as_ref().filter(|lifecycle| lifecycle.is_running()) else { return };
        if self.recycle_after > 0 && ended >= self.recycle_after {
            events::process_recycled(ended);
            lifecycle.advance(Phase::Draining);
        }
    }

    pub fn all(&self) -> Vec<WorkerPlan> {
        self.by_id.borrow().values().cloned().collect()
    }

    /// Changes with each worker that is added or removed.
    pub fn subscribe(&self) -> watch::Receiver<BTreeMap<String, WorkerPlan>> {
        self.by_id.subscribe()
    }

    /// The configured id, with `-2` and so on from the second worker on; otherwise generated.
    fn free_id(&self, by_id: &BTreeMap<String, WorkerPlan>, pod: &PodPlan) -> String {
        let id = |n: usize| match (self.configured_id.as_str(), n) {
            ("", _) => generated_id(pod),
            (id, 1) => id.to_owned(),
            (id, n) => format!("{id}-{n}"),
        };
        (1..).map(id).find(|id| !by_id.contains_key(id)).unwrap_or_else(|| generated_id(pod))
    }
}

fn generated_id(pod: &PodPlan) -> String {
    format!("worker-{}-{:08x}", pod.roles.label(), rand::rng().random::<u32>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workers(settings: &[(&'static str, &str)], schedules: bool) -> (OwnWorkers, Lifecycle) {
        let (config, lifecycle) = (Config::with(settings).unwrap(), Lifecycle::default());
        let plan = Plan { schedules, ..Plan::default() };
        (OwnWorkers::new(&config, &plan, lifecycle.clone()), lifecycle)
    }

    fn pod(roles: &str) -> PodPlan {
        PodPlan { name: "Nova".to_owned(), roles: roles.parse().unwrap(), workers: 2 }
    }

    #[test]
    fn a_configured_id_is_numbered_when_there_are_several_workers() {
        let (workers, _) = workers(&[("worker.id", "me")], true);
        let ids = [1, 2, 3].map(|number| workers.add(&pod("any"), number).id);
        assert_eq!(ids, ["me", "me-2", "me-3"]);
        workers.remove("me-2");
        assert_eq!(workers.add(&pod("any"), 2).id, "me-2", "it is free again");
    }

    #[test]
    fn a_generated_id_names_the_role() {
        let (workers, _) = workers(&[], true);
        let worker = workers.add(&pod("payload_fetch"), 3);
        assert!(worker.id.starts_with("worker-payload_fetch-"), "{}", worker.id);
        assert_eq!(worker.friendly_name, "Nova-3");
        let worker = workers.add(&pod("product_resync"), 1);
        assert!(worker.id.starts_with("worker-product_resync-"), "{}", worker.id);
    }

    #[test]
    fn a_process_without_schedules_drains_after_its_last_run() {
        for (recycle_after, schedules, is_running) in [("3", false, false), ("3", true, true), ("0", false, true)] {
            let (workers, lifecycle) = workers(&[("worker.recycle_after", recycle_after)], schedules);
            workers.count_runs(0);
            workers.clone().count_runs(2);
            assert!(lifecycle.is_running(), "one run is left");
            workers.count_runs(2);
            assert_eq!(lifecycle.is_running(), is_running, "{recycle_after} {schedules}");
        }
    }

    #[test]
    fn a_process_without_schedules_drains_when_its_last_worker_has_left() {
        for (schedules, is_running) in [(false, false), (true, true)] {
            let (workers, lifecycle) = workers(&[], schedules);
            let [first, second] = [1, 2].map(|number| workers.add(&pod("any"), number).id);
            workers.remove(&first);
            workers.remove(&first);
            assert!(lifecycle.is_running(), "one is left");
            workers.remove(&second);
            assert_eq!(lifecycle.is_running(), is_running);
        }
    }
}
