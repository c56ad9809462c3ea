//! The suite's checks at the end of each test, seen to fail; and that a failure states its reason.

use std::process::Command;

use domain::task::role::Role;
use supervision::panics;

use testkit::{Child, Farm, PATIENCE};

#[tokio::test]
#[should_panic(expected = "unexpected errors in the child's log")]
async fn an_error_that_the_test_does_not_allow_fails_it() {
    let farm = Farm::with_stores(1).await;
    farm.db.client().await.unwrap().execute("DELETE FROM proxies", &[]).await.unwrap();
    let mut worker = Child::spawn(&mut farm.drover(&["worker"]));
    worker.ended(PATIENCE).await;
}

#[tokio::test]
#[should_panic(expected = "the test leaves open tasks")]
async fn a_task_that_is_left_open_fails_the_test() {
    let farm = Farm::with_stores(1).await;
    farm.enqueue(Role::AnalyticsRefresh).await;
}

#[test]
fn a_failure_is_shown_after_an_actor_has_begun_in_the_same_process() {
    let mut test = Command::new(std::env::current_exe().unwrap());
    let ended = test.args(["--exact", "suite::a_test_that_fails", "--ignored"]).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(said.contains("this is why"), "{said}");
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn a_test_that_fails() {
    panics::install_hook();
    panic!("this is why");
}
