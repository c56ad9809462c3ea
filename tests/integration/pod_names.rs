//! Names of pods that start at once: each is given once.

use std::collections::BTreeSet;

use drover::actors::names;
use testkit::{Child, Farm};

const TRIES: usize = 100;
const STARTERS: usize = 4;

#[tokio::test]
async fn pods_that_start_at_once_have_names_of_their_own() {
    let database = testkit::database().await;
    let config = testkit::config(&[]);
    for _ in 0..TRIES {
        let take = || names::take(&database.db, "here", |in_use| names::pods(&config, 1, in_use));
        let taken = futures_util::future::join_all((0..STARTERS).map(|_| take())).await;
        let names: BTreeSet<String> = taken.into_iter().map(|pods| pods.unwrap()[0].name.clone()).collect();
        assert_eq!(names.len(), STARTERS, "{names:?}");
        database.raw.batch_execute("DELETE FROM pod_names").await.unwrap();
    }
}

#[tokio::test]
async fn processes_that_start_at_once_show_their_workers_by_different_names() {
    let farm = Farm::with_stores(1).await.without_schedules().await;
    let start = || Child::spawn(&mut farm.drover(&["worker", "--workers", "1"]));
    let _workers: Vec<Child> = (0..STARTERS).map(|_| start()).collect();
    let named = "SELECT count(DISTINCT friendly_name) FROM worker_registry";
    farm.until_counted("every worker has a name of its own", named, STARTERS as i64).await;
    assert_eq!(farm.count("SELECT count(DISTINCT pod) FROM worker_registry").await, STARTERS as i64);
}

#[tokio::test]
async fn a_name_is_free_once_its_process_has_ended() {
    let database = testkit::database().await;
    let config = testkit::config(&[]);
    let gone = "INSERT INTO pod_names (name, host, pid, pid_space, until)
                SELECT 'Aethelgard', host, 4194304, pid_space, until FROM pod_names";
    let take = async || names::take(&database.db, "here", |in_use| names::pods(&config, 1, in_use)).await.unwrap();
    assert_eq!(take().await[0].name, "Aethelgard");
    assert_eq!(take().await[0].name, "Xylos", "this process runs");
    database.raw.batch_execute(&format!("DELETE FROM pod_names WHERE name = 'Aethelgard'; {gone}")).await.unwrap();
    assert_eq!(take().await[0].name, "Aethelgard");
}
