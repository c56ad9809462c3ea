//! The heartbeat of a process: renews all of its leases in one statement, and stops the bodies whose lease
//! may end.
//!
//! It has a thread, a runtime and a connection of its own: neither a busy runtime nor a full pool nor an
//! actor that hangs makes a lease run out. When a running task is cancelled somewhere, the server notifies that
//! connection, and the next renewal, which finds the lease lost, comes at once. In: [`HeldTasks`]. Out: leases
//! that are renewed there, and stop signals. It knows nothing of what the tasks do.

use std::collections::HashSet;
use std::future::poll_fn;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio_postgres::AsyncMessage;

use super::held_tasks::HeldTasks;
use db::connection::server::Server;
use db::tasks;
use domain::task::{LeaseTimes, TaskId, TaskLease};
use supervision::background::{Background, BackgroundLoop};
use supervision::lifecycle::{Lifecycle, Phase};
use telemetry::events;

/// Lease while the process drains: it may be killed at any moment, and its tasks should not wait for a long lease to run out.
const DRAINING_LEASE: Duration = Duration::from_secs(30);
/// Minimum time between two renewals, however many tasks are cancelled.
const MIN_PAUSE: Duration = Duration::from_secs(1);
/// A body stops at most this long after its `stop_at`; must stay below the smallest margin of
/// [`LeaseTimes::self_stop`].
const STOP_PRECISION: Duration = Duration::from_millis(50);

pub struct Heartbeat {
    pub server: Server,
    pub times: LeaseTimes,
    /// How long after its task actor's last beat a lease is still renewed.
    pub beat_grace: Duration,
    pub background: Background,
    pub held_tasks: HeldTasks,
}

impl BackgroundLoop for Heartbeat {
    /// Returns when the process is over.
    async fn run(&mut self) {
        tokio::select! {
            () = self.renew_all() => {}
            () = self.stop_overdue() => {}
            () = self.lifecycle().reached(Phase::Over) => {}
        }
    }
}

impl Heartbeat {
    /// Starts the thread; it ends when the process is over.
    pub fn start(mut self) -> std::io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        thread::Builder::new().name("heartbeat".to_owned()).spawn(move || {
            let background = self.background.clone();
            if runtime.block_on(background.run("heartbeat", &mut self)).is_err() {
                // without renewals no task may run on for the grace time
                background.lifecycle().advance(Phase::Releasing);
            }
        })?;
        Ok(())
    }

    fn lifecycle(&self) -> &Lifecycle {
        self.background.lifecycle()
    }

    async fn renew_all(&self) {
        let mut connection = Connection { server: self.server.clone(), client: None, cancels: Arc::default() };
        // the first renewal, amid the first tasks, would be late by the time that connecting takes. Should it
        // fail, that one tries again
        let deadline = deadline(self.times);
        let _ = tokio::time::timeout(deadline, connection.renew(&[], self.times.lease, deadline)).await;
        let mut due = Instant::now();
        loop {
            let is_running = self.lifecycle().is_running();
            let times = if is_running { self.times } else { lease_times_while_draining(self.times) };
            let leases = self.beating_leases();
            if !leases.is_empty() {
                fail::fail_point!("heartbeat");
                self.renew(&mut connection, leases, times, due).await;
            }
            due = Instant::now() + times.heartbeat;
            let cancelled = async {
                tokio::time::sleep(MIN_PAUSE).await;
                connection.cancels.notified().await;
            };
            tokio::select! {
                () = tokio::time::sleep(times.heartbeat) => {}
                () = cancelled => due = Instant::now(),
                // the leases are shortened at once
                () = self.lifecycle().reached(Phase::Draining), if is_running => {}
            }
        }
    }

    /// Leases to renew. A silent actor's lease runs out, and its body stops by itself before that.
    fn beating_leases(&self) -> Vec<(TaskLease, Duration)> {
        let heard_of = self.held_tasks.heard_of(self.beat_grace, Instant::now());
        for (lease, silence) in &heard_of.fallen_silent {
            events::task_actor_silent(lease.id, *silence);
        }
        heard_of.beating
    }

    async fn renew(
        &self,
        connection: &mut Connection,
        leases: Vec<(TaskLease, Duration)>,
        times: LeaseTimes,
        due: Instant,
    ) {
        let deadline = deadline(times);
        let sent = Instant::now();
        let renew = async {
            let Renewals { renewed, lost } = connection.renew(&leases, times.lease, deadline).await?;
            events::leases_renewed(due.elapsed());
            lost.iter().for_each(|lease| self.held_tasks.stop_lost(lease));
            connection.flush().await?;
            self.held_tasks.extend(&renewed, sent + times.self_stop());
            Ok(())
        };
        let error = match tokio::time::timeout(deadline, renew).await {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error,
            Err(_) => format!("no answer within {deadline:?}"),
        };
        // the next renewal connects again; meanwhile bodies stop before their leases end
        connection.client = None;
        events::heartbeat_failed(&error);
    }

    async fn stop_overdue(&self) {
        loop {
            self.held_tasks.stop_overdue(Instant::now());
            tokio::time::sleep(STOP_PRECISION).await;
        }
    }
}

/// Deadline of one renewal.
fn deadline(times: LeaseTimes) -> Duration {
    (times.lease / 4).min(Duration::from_secs(5))
}

fn lease_times_while_draining(times: LeaseTimes) -> LeaseTimes {
    let lease = times.lease.min(DRAINING_LEASE);
    LeaseTimes { lease, heartbeat: times.heartbeat.min(LeaseTimes::default_heartbeat(lease)) }
}

struct Connection {
    server: Server,
    client: Option<tokio_postgres::Client>,
    /// Notified when a running task was cancelled, whoever runs it.
    cancels: Arc<Notify>,
}

/// A task in neither list is being settled right now.
struct Renewals {
    renewed: Vec<TaskLease>,
    lost: Vec<TaskLease>,
}

impl Connection {
    async fn renew(
        &mut self,
        leases: &[(TaskLease, Duration)],
        lease: Duration,
        deadline: Duration,
    ) -> Result<Renewals, String> {
        let client = self.client(deadline).await?;
        let renewed = tasks::renew(client, leases, lease).await.map_err(|error| error.to_string())?;
        let leases: Vec<TaskLease> = leases.iter().map(|(lease, _)| lease.clone()).collect();
        let (renewed, missing) = partition(&leases, &renewed);
        if missing.is_empty() {
            return Ok(Renewals { renewed, lost: missing });
        }
        let lost = tasks::lost(client, &missing).await.map_err(|error| error.to_string())?;
        Ok(Renewals { renewed, lost: partition(&missing, &lost).0 })
    }

    /// Makes the renewals durable. Until it returns, a server that crashes may forget them: no body may count on them.
    async fn flush(&self) -> Result<(), String> {
        let client = self.client.as_ref().ok_or("not connected")?;
        tasks::flush_renewals(client).await.map_err(|error| error.to_string())
    }

    async fn client(&mut self, deadline: Duration) -> Result<&tokio_postgres::Client, String> {
        let open = self.client.take().filter(|client| !client.is_closed());
        let client = match open {
            Some(client) => client,
            None => {
                let connected = self.server.connect("drover heartbeat", deadline).await;
                let (client, connection) = connected.map_err(|error| error.to_string())?;
                tokio::spawn(forward_cancels(connection, Arc::clone(&self.cancels)));
                if !self.server.is_pooled() {
                    tasks::listen_for_cancels(&client).await.map_err(|error| error.to_string())?;
                }
                client
            }
        };
        Ok(self.client.insert(client))
    }
}

/// Drives the connection to its end.
async fn forward_cancels(mut connection: db::connection::server::Connection, cancels: Arc<Notify>) {
    while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
        if matches!(message, AsyncMessage::Notification(_)) {
            cancels.notify_one();
        }
    }
}

/// Leases whose ids are among `ids`, and the others.
fn partition(leases: &[TaskLease], ids: &[TaskId]) -> (Vec<TaskLease>, Vec<TaskLease>) {
    let ids: HashSet<TaskId> = ids.iter().copied().collect();
    leases.iter().cloned().partition(|lease| ids.contains(&lease.id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draining_process_holds_short_leases_and_renews_them_in_time() {
        let minutes = LeaseTimes { lease: Duration::from_secs(600), heartbeat: Duration::from_secs(30) };
        let short = lease_times_while_draining(minutes);
        assert_eq!(short.lease, DRAINING_LEASE);
        assert!(short.heartbeat <= short.lease / 4);
        let seconds = LeaseTimes { lease: Duration::from_secs(2), heartbeat: Duration::from_millis(500) };
        assert_eq!(lease_times_while_draining(seconds).lease, seconds.lease);
    }

    #[test]
    fn a_renewal_has_its_leases_by_the_ids_of_the_answer() {
        let lease = |id| TaskLease { id, fence: 1, worker_id: "w".to_owned() };
        assert_eq!(partition(&[lease(1), lease(2)], &[2, 3]), (vec![lease(2)], vec![lease(1)]));
    }
}
