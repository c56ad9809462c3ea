//! `Listener`: wake-ups of one NOTIFY channel, on a connection of its own that comes back by itself.
//!
//! A wake-up says only "look now": several at once become one, and any may be missed while the connection
//! is down. So receivers also poll. Behind a pooler nothing is listened to: receivers are woken every
//! second, and look.

use std::convert::Infallible;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::{AsyncMessage, Client};

use super::server::{Connection, Server};
use crate::error::DbError;
use telemetry::events;

const MIN_PAUSE: Duration = Duration::from_millis(200);
const MAX_PAUSE: Duration = Duration::from_secs(30);
/// Detects a connection that is dead without an error, and would bring no wake-ups.
const PING_INTERVAL: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(5);
/// Interval of polls behind a pooler, where LISTEN does not work.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Counts wake-ups of one channel; [`Listener::run`] is to be started by the caller.
#[derive(Clone)]
pub struct Listener {
    server: Server,
    channel: &'static str,
    wake: Arc<watch::Sender<u64>>,
}

impl Listener {
    /// `channel`: a plain lower-case name. `changed()` of the receiver also fires after each reconnection,
    /// since a wake-up may have been missed.
    pub fn new(server: &Server, channel: &'static str) -> (Listener, watch::Receiver<u64>) {
        let (wake, wakes) = watch::channel(0);
        (Listener { server: server.clone(), channel, wake: Arc::new(wake) }, wakes)
    }

    /// Listens until the last receiver is dropped.
    pub async fn run(self) {
        let Listener { server, channel, wake } = &self;
        let wake_up = async {
            match server.is_pooled() {
                true => wake_regularly(wake).await,
                false => stay_connected(server, channel, wake).await,
            }
        };
        tokio::select! {
            () = wake.closed() => {}
            never = wake_up => match never {},
        }
    }
}

async fn wake_regularly(wake: &watch::Sender<u64>) -> Infallible {
    loop {
        wake.send_modify(|count| *count += 1);
        sleep(POLL_INTERVAL).await;
    }
}

async fn stay_connected(server: &Server, channel: &str, wake: &watch::Sender<u64>) -> Infallible {
    let mut pause = MIN_PAUSE;
    loop {
        fail::fail_point!("listen");
        let begun = Instant::now();
        let Err(error) = listen_until_lost(server, channel, wake).await;
        events::listen_lost(channel, &error);
        if begun.elapsed() > MAX_PAUSE {
            pause = MIN_PAUSE;
        }
        sleep(pause).await;
        pause = (pause * 2).min(MAX_PAUSE);
    }
}

async fn listen_until_lost(server: &Server, channel: &str, wake: &watch::Sender<u64>) -> Result<Infallible, DbError> {
    let (client, connection) = server.connect("drover listen", PING_TIMEOUT).await?;
    tokio::select! {
        lost = forward(connection, wake) => lost,
        failed = subscribe(&client, channel, wake) => failed,
    }
}

async fn forward(mut connection: Connection, wake: &watch::Sender<u64>) -> Result<Infallible, DbError> {
    loop {
        match poll_fn(|context| connection.poll_message(context)).await {
            Some(Ok(AsyncMessage::Notification(_))) => wake.send_modify(|count| *count += 1),
            Some(Ok(_)) => {}
            Some(Err(error)) => return Err(error.into()),
            None => return Err(DbError::Unavailable("the connection was closed".to_owned())),
        }
    }
}

async fn subscribe(client: &Client, channel: &str, wake: &watch::Sender<u64>) -> Result<Infallible, DbError> {
    within(client, &format!("LISTEN {channel}")).await?;
    wake.send_modify(|count| *count += 1);
    loop {
        sleep(PING_INTERVAL).await;
        within(client, "SELECT 1").await?;
    }
}

async fn within(client: &Client, sql: &str) -> Result<(), DbError> {
    match timeout(PING_TIMEOUT, client.batch_execute(sql)).await {
        Ok(answer) => Ok(answer?),
        Err(_) => Err(DbError::Unavailable(format!("the server did not answer within {PING_TIMEOUT:?}"))),
    }
}
