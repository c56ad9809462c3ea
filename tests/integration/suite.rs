//! What the suite checks at the end of each test, seen to fail.

use drover::domain::role::Role;

use crate::support::{Child, Farm, PATIENCE};

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
