//! Wake-ups: coalesced, and back after the connection was lost.

use std::time::Duration;

use db::connection::listen::Listener;
use db::connection::server::Server;
use tokio::sync::watch;
use tokio::time::timeout;

const SOON: Duration = Duration::from_secs(60);

async fn woken(wakes: &mut watch::Receiver<u64>) {
    timeout(SOON, wakes.changed()).await.expect("a wake-up").unwrap();
}

#[tokio::test]
async fn a_notification_wakes_every_receiver() {
    let database = testkit::database().await;
    let mut wakes = wake_ups(database.db.server());
    let mut others = wakes.clone();
    woken(&mut wakes).await; // it is connected
    others.mark_unchanged();
    database.raw.batch_execute("NOTIFY test_channel, 'a'; NOTIFY test_channel, 'b'").await.unwrap();
    woken(&mut wakes).await;
    woken(&mut others).await;
}

#[tokio::test]
async fn a_lost_connection_comes_back_and_wakes_for_what_was_missed() {
    let database = testkit::database().await;
    let mut wakes = wake_ups(database.db.server());
    woken(&mut wakes).await;
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN test_channel'";
    assert_eq!(database.raw.query(cut, &[]).await.unwrap().len(), 1);
    woken(&mut wakes).await;
    database.raw.batch_execute("NOTIFY test_channel").await.unwrap();
    woken(&mut wakes).await;
}

#[tokio::test]
async fn without_receivers_the_connection_closes() {
    let database = testkit::database().await;
    let mut wakes = wake_ups(database.db.server());
    woken(&mut wakes).await;
    drop(wakes);
    let listening = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN test_channel'";
    testkit::until("the connection is closed", SOON, async || {
        database.raw.query(listening, &[]).await.unwrap().is_empty()
    })
    .await;
}

fn wake_ups(server: &Server) -> watch::Receiver<u64> {
    let (listener, wakes) = Listener::new(server, "test_channel");
    tokio::spawn(listener.run());
    wakes
}
