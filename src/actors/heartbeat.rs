//! `Heartbeat`: one for a process; renews all of its leases in one statement, from a thread, a runtime and a connection of its own.
//!
//! So neither a busy runtime nor a full pool makes a lease run out. Beats come in from WorkerActors; what was renewed and what
//! was lost goes back to them. It knows nothing of what the tasks do.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

use actix::prelude::*;
use tokio::sync::mpsc;

use super::cell::panic_text;
use super::intensity::Intensity;
use super::lifecycle::Lifecycle;
use crate::db::connect::Server;
use crate::db::tasks;
use crate::domain::task::{Held, LeaseTimes, TaskId};
use crate::{config, events};

const QUEUE: usize = 4096;

/// A lease to be renewed, and the worker to be told.
pub struct Beat {
    pub held: Held,
    pub worker: Recipient<Beaten>,
}

/// What became of a worker's beats.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Beaten {
    pub renewed: Vec<TaskId>,
    pub lost: Vec<TaskId>,
    /// When the renewal was sent: the leases count from here.
    pub sent: Instant,
}

#[derive(Clone)]
pub struct Heartbeat {
    beats: mpsc::Sender<Beat>,
}

impl Heartbeat {
    /// Starts the thread; it ends when the last handle is dropped. After too many panics it fails the process.
    pub fn start(
        server: Server,
        times: LeaseTimes,
        limits: &config::Supervision,
        lifecycle: Lifecycle,
    ) -> std::io::Result<Heartbeat> {
        let (beats, mut inbox) = mpsc::channel(QUEUE);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut intensity = Intensity::from(limits);
        thread::Builder::new().name("heartbeat".to_owned()).spawn(move || {
            loop {
                let mut heart = Heart { server: server.clone(), times, connection: None };
                let beating = catch_unwind(AssertUnwindSafe(|| runtime.block_on(heart.beat(&mut inbox))));
                let Err(panic) = beating else { return };
                let text = panic_text(panic.as_ref());
                events::actor_restarted("heartbeat", "heartbeat", &text);
                if intensity.is_exceeded_by_failure_at(Instant::now()) {
                    lifecycle.fail(format!("heartbeat failed too often, at last: panic: {text}"));
                    return;
                }
            }
        })?;
        Ok(Heartbeat { beats })
    }

    /// Never blocks. A beat that finds the queue full is dropped: the next one is soon.
    pub fn beat(&self, beat: Beat) {
        let _ = self.beats.try_send(beat);
    }
}

struct Heart {
    server: Server,
    times: LeaseTimes,
    connection: Option<tokio_postgres::Client>,
}

impl Heart {
    async fn beat(&mut self, inbox: &mut mpsc::Receiver<Beat>) {
        while let Some(first) = inbox.recv().await {
            // beats of many tasks come close together: one statement renews them all
            tokio::time::sleep(self.gathering()).await;
            fail::fail_point!("heartbeat");
            let mut beats = HashMap::from([key(first)]);
            while let Ok(beat) = inbox.try_recv() {
                beats.extend([key(beat)]);
            }
            self.renew(beats.into_values().collect()).await;
        }
    }

    fn gathering(&self) -> Duration {
        (self.times.heartbeat / 10).min(Duration::from_millis(100))
    }

    async fn renew(&mut self, beats: Vec<Beat>) {
        let held: Vec<Held> = beats.iter().map(|beat| beat.held.clone()).collect();
        let deadline = (self.times.lease / 4).min(Duration::from_secs(5));
        let sent = Instant::now();
        let answer = tokio::time::timeout(deadline, self.ask(&held)).await;
        match answer {
            Ok(Ok((renewed, lost))) => tell(beats, &renewed, &lost, sent),
            Ok(Err(why)) => self.hang_up(&why),
            Err(_) => self.hang_up("no answer in time"),
        }
    }

    /// The next beat connects anew; meanwhile each body watches its own lease.
    fn hang_up(&mut self, why: &str) {
        self.connection = None;
        events::heartbeat_failed(&why);
    }

    async fn ask(&mut self, held: &[Held]) -> Result<(Vec<TaskId>, Vec<TaskId>), String> {
        let lease = self.times.lease;
        let client = self.connected().await?;
        let renewed = tasks::renew(client, held, lease).await.map_err(|error| error.to_string())?;
        let known: HashSet<TaskId> = renewed.iter().copied().collect();
        let missing: Vec<Held> = held.iter().filter(|held| !known.contains(&held.id)).cloned().collect();
        if missing.is_empty() {
            return Ok((renewed, Vec::new()));
        }
        let client = self.connected().await?;
        let lost = tasks::lost(client, &missing).await.map_err(|error| error.to_string())?;
        Ok((renewed, lost))
    }

    async fn connected(&mut self) -> Result<&tokio_postgres::Client, String> {
        let open = self.connection.take().filter(|client| !client.is_closed());
        let client = match open {
            Some(client) => client,
            None => {
                let (client, connection) = self.server.connect().await.map_err(|error| error.to_string())?;
                tokio::spawn(connection);
                client
            }
        };
        Ok(self.connection.insert(client))
    }
}

fn key(beat: Beat) -> ((TaskId, i64), Beat) {
    ((beat.held.id, beat.held.fence), beat)
}

fn tell(beats: Vec<Beat>, renewed: &[TaskId], lost: &[TaskId], sent: Instant) {
    let mut by_worker: HashMap<String, (Recipient<Beaten>, Beaten)> = HashMap::new();
    for Beat { held, worker } in beats {
        let (_, beaten) = by_worker
            .entry(held.worker_id)
            .or_insert_with(|| (worker, Beaten { renewed: Vec::new(), lost: Vec::new(), sent }));
        if renewed.contains(&held.id) {
            beaten.renewed.push(held.id);
        } else if lost.contains(&held.id) {
            beaten.lost.push(held.id);
        }
    }
    for (worker, beaten) in by_worker.into_values() {
        worker.do_send(beaten);
    }
}
