//! The registry of workers, and the commands that they get.

use db::workers;
use domain::worker::{Resources, WorkerCommand, WorkerDocument, WorkerStatus};

use super::*;

const HEARTBEAT: Duration = Duration::from_secs(30);

pub fn worker(id: &str, pod: &str) -> WorkerDocument {
    WorkerDocument {
        worker_id: id.to_owned(),
        current_task_id: Some(456),
        current_task_ids: vec![456, 457],
        active_task_count: 2,
        max_concurrent_tasks: 3,
        status: WorkerStatus::Active,
        resources: Resources { memory_mb: 256, ..Resources::default() },
        friendly_name: format!("{pod}-1"),
        pod: pod.to_owned(),
        role: "any".to_owned(),
        roles: vec!["payload_fetch".to_owned()],
        last_heartbeat_at: None,
        started_at: None,
    }
}

impl Queue {
    async fn beat(&self, document: &WorkerDocument) {
        workers::upsert(&self.client().await, document, HEARTBEAT, None).await.unwrap();
    }

    async fn silent_for(&self, seconds: u32) {
        self.sql(&format!("UPDATE worker_registry SET last_heartbeat_at = now() - interval '{seconds} seconds'")).await;
    }

    async fn workers(&self) -> Vec<WorkerDocument> {
        workers::list(&self.client().await).await.unwrap()
    }

    async fn sweep_registry(&self) -> u64 {
        workers::sweep(&self.client().await).await.unwrap()
    }
}

#[tokio::test]
async fn a_heartbeat_document_comes_back_as_it_went() {
    let queue = Queue::new().await;
    let document = worker("w", "Aethelgard");
    queue.beat(&document).await;
    let mut found = queue.workers().await.remove(0);
    assert!(found.last_heartbeat_at.take().is_some() && found.started_at.take().is_some());
    assert_eq!(found, document);
}

#[tokio::test]
async fn a_worker_is_offline_after_three_missed_heartbeats() {
    let queue = Queue::new().await;
    queue.beat(&worker("w", "Aethelgard")).await;
    queue.silent_for(89).await;
    assert_eq!(queue.sweep_registry().await, 0);
    queue.silent_for(91).await;
    assert_eq!(queue.sweep_registry().await, 1);
    let found = &queue.workers().await[0];
    assert_eq!((found.status, found.active_task_count), (WorkerStatus::Offline, 0));
    assert!(workers::live(&queue.client().await).await.unwrap().is_empty(), "its pod's name is free");
}

#[tokio::test]
async fn a_heartbeat_brings_it_back() {
    let queue = Queue::new().await;
    queue.beat(&worker("w", "Aethelgard")).await;
    queue.silent_for(91).await;
    queue.sweep_registry().await;
    queue.beat(&worker("w", "Aethelgard")).await;
    assert_eq!(queue.workers().await[0].status, WorkerStatus::Active);
    assert_eq!(workers::live(&queue.client().await).await.unwrap()[0].pod, "Aethelgard");
}

/// A worker of this name whose process started now.
async fn started(queue: &Queue, id: &str) -> WorkerDocument {
    let started_at = Some(workers::now(&queue.client().await).await.unwrap());
    WorkerDocument { started_at, ..worker(id, "Aethelgard") }
}

#[tokio::test]
async fn a_successor_of_the_same_name_replaces_its_silent_predecessor_at_once() {
    let queue = Queue::new().await;
    let killed = started(&queue, "killed").await;
    queue.beat(&killed).await;
    queue.beat(&started(&queue, "successor").await).await;
    let listed: Vec<(String, WorkerStatus)> =
        queue.workers().await.into_iter().map(|worker| (worker.worker_id, worker.status)).collect();
    assert_eq!(listed, [("successor".to_owned(), WorkerStatus::Active)]);
    let slots = "SELECT sum(max_concurrent_tasks) FROM worker_registry WHERE status <> 'offline'";
    assert_eq!(queue.number(slots).await, 3, "the killed one is no capacity");
}

#[tokio::test]
async fn of_several_processes_of_one_name_that_died_only_the_last_is_listed() {
    let queue = Queue::new().await;
    for id in ["first", "second", "third"] {
        queue.beat(&started(&queue, id).await).await;
    }
    queue.silent_for(91).await;
    queue.sweep_registry().await;
    let listed: Vec<String> = queue.workers().await.into_iter().map(|worker| worker.worker_id).collect();
    assert_eq!(listed, ["third"]);
}

#[tokio::test]
async fn a_living_namesake_is_listed_again_with_its_next_heartbeat() {
    let queue = Queue::new().await;
    let here = started(&queue, "here").await;
    queue.beat(&here).await;
    let elsewhere = started(&queue, "elsewhere").await;
    queue.beat(&elsewhere).await;
    queue.beat(&here).await;
    queue.beat(&elsewhere).await;
    assert!(queue.workers().await.iter().all(|worker| worker.status == WorkerStatus::Active));
    assert_eq!(queue.workers().await.len(), 2);
}

#[tokio::test]
async fn the_long_gone_are_forgotten() {
    let queue = Queue::new().await;
    queue.beat(&worker("w", "Aethelgard")).await;
    queue.silent_for(25 * 3600).await;
    queue.sweep_registry().await;
    queue.sweep_registry().await;
    assert!(queue.workers().await.is_empty());
}

#[tokio::test]
async fn a_worker_that_leaves_in_good_order_is_forgotten_at_once() {
    let queue = Queue::new().await;
    queue.beat(&worker("goes", "Aethelgard")).await;
    queue.beat(&worker("stays", "Xylos")).await;
    workers::deregister(&queue.client().await, &["goes".to_owned()]).await.unwrap();
    assert_eq!(queue.workers().await[0].worker_id, "stays");
}

#[tokio::test]
async fn commands_come_in_order_until_they_are_taken_and_never_those_for_a_predecessor() {
    let queue = Queue::new().await;
    let since = workers::now(&queue.client().await).await.unwrap();
    queue.sql("INSERT INTO worker_commands (worker_id, command, created_at) VALUES ('w', 'decommission', now() - interval '1 minute')").await;
    queue.sql("INSERT INTO worker_commands (worker_id, command) VALUES ('w', 'pause'), ('w', 'resume'), ('other', 'decommission')").await;
    let open = async || workers::open_commands(&queue.client().await, &["w".to_owned()], since).await.unwrap();
    let commands = open().await;
    let words: Vec<WorkerCommand> = commands.iter().map(|open| open.command).collect();
    assert_eq!(words, [WorkerCommand::Pause, WorkerCommand::Resume]);
    assert_eq!(open().await, commands, "one whose delivery was not confirmed is delivered again");
    workers::mark_taken(&queue.client().await, &commands).await.unwrap();
    assert!(open().await.is_empty());
}
