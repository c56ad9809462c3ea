//! A pod as a picture of the queue shows it: its workers, and how it is as a whole. In: the workers'
//! heartbeat documents. Out: pods.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{WorkerDocument, WorkerStatus};

/// A pod as shown to users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub enum PodStatus {
    Normal,
    #[serde(rename = "Backing off")]
    BackingOff,
    Paused,
    Draining,
    Offline,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Pod {
    pub name: String,
    pub status: PodStatus,
    /// Value of its process, as reported by the worker with the highest value.
    pub memory_percent: f64,
    pub cpu_percent: f64,
    pub workers: Vec<WorkerDocument>,
}

/// Groups workers by pod, in the order of names; the workers of a pod stay in their order.
pub fn pods(workers: Vec<WorkerDocument>) -> Vec<Pod> {
    let mut by_name: BTreeMap<String, Vec<WorkerDocument>> = BTreeMap::new();
    for worker in workers {
        by_name.entry(worker.pod.clone()).or_default().push(worker);
    }
    by_name.into_iter().map(|(name, workers)| Pod::new(name, workers)).collect()
}

impl Pod {
    fn new(name: String, workers: Vec<WorkerDocument>) -> Pod {
        let live = || workers.iter().filter(|worker| worker.status != WorkerStatus::Offline);
        let most = |percent: fn(&WorkerDocument) -> f64| live().map(percent).fold(0.0, f64::max);
        let (memory_percent, cpu_percent) =
            (most(|worker| worker.resources.memory_percent), most(|worker| worker.resources.cpu_percent));
        Pod { name, status: status_of(live().map(|worker| worker.status)), memory_percent, cpu_percent, workers }
    }
}

/// Status by the workers that are not offline. One that backs off shows that its whole process lacks
/// resources; any other status must hold for all.
fn status_of(live: impl Iterator<Item = WorkerStatus> + Clone) -> PodStatus {
    let all = |status| live.clone().all(|other| other == status);
    match live.clone().next() {
        None => PodStatus::Offline,
        Some(_) if live.clone().any(|status| status == WorkerStatus::BackingOff) => PodStatus::BackingOff,
        Some(_) if all(WorkerStatus::Paused) => PodStatus::Paused,
        Some(_) if all(WorkerStatus::Draining) => PodStatus::Draining,
        Some(_) => PodStatus::Normal,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::worker::Resources;

    fn worker(pod: &str, status: WorkerStatus, memory_percent: f64) -> WorkerDocument {
        WorkerDocument {
            worker_id: format!("worker-{pod}-{memory_percent}"),
            current_task_id: None,
            current_task_ids: Vec::new(),
            active_task_count: 0,
            max_concurrent_tasks: 3,
            status,
            resources: Resources { memory_percent, ..Resources::default() },
            friendly_name: format!("{pod}-1"),
            pod: pod.to_owned(),
            role: "any".to_owned(),
            roles: Vec::new(),
            last_heartbeat_at: None,
            started_at: None,
        }
    }

    use WorkerStatus::{Active, BackingOff, Draining, Offline, Paused};

    #[rstest]
    #[case::all_work(&[Active, Active], PodStatus::Normal)]
    #[case::one_backs_off(&[Active, BackingOff, Draining], PodStatus::BackingOff)]
    #[case::some_are_paused(&[Active, Paused], PodStatus::Normal)]
    #[case::all_are_paused(&[Paused, Paused], PodStatus::Paused)]
    #[case::all_drain(&[Draining, Offline], PodStatus::Draining)]
    #[case::one_went_silent(&[Active, Offline], PodStatus::Normal)]
    #[case::all_are_silent(&[Offline, Offline], PodStatus::Offline)]
    fn a_pod_is_as_its_workers_are(#[case] workers: &[WorkerStatus], #[case] status: PodStatus) {
        let pods = pods(workers.iter().map(|status| worker("Kryll", *status, 10.0)).collect());
        assert_eq!((pods.len(), pods[0].status), (1, status));
    }

    #[test]
    fn pods_come_by_name_with_their_own_workers_and_the_memory_of_live_ones() {
        let pods =
            pods(vec![worker("Xylos", Active, 30.0), worker("Kryll", Active, 50.0), worker("Kryll", Offline, 90.0)]);
        let shown: Vec<_> = pods.iter().map(|pod| (pod.name.as_str(), pod.workers.len(), pod.memory_percent)).collect();
        assert_eq!(shown, [("Kryll", 2, 50.0), ("Xylos", 1, 30.0)]);
    }
}
