//! `Starter`: starts the claimed tasks of a process, many with one statement, beside its claims: a body that is about to
//! run does not wait for the disk, as claims do.
//!
//! In: leases of claimed tasks. Out: whether their bodies may run. It must not know what a task does.

use tokio::sync::{mpsc, oneshot};

use db::{Db, DbError, tasks};
use domain::task::TaskLease;
use supervision::background::{Background, BackgroundLoop};

/// Maximum number of requests that one statement answers.
const MAX_BATCH: usize = 500;
const MAX_QUEUED_REQUESTS: usize = 1024;

#[derive(Clone)]
pub struct Starter {
    requests: mpsc::Sender<Request>,
}

type Answer = oneshot::Sender<Result<bool, DbError>>;

struct Request {
    lease: TaskLease,
    answer: Answer,
}

struct StartLoop {
    db: Db,
    inbox: mpsc::Receiver<Request>,
}

impl Starter {
    /// Starts the loop on the current runtime; it ends when the last handle is dropped.
    pub fn new(db: &Db, background: &Background) -> Starter {
        let (requests, inbox) = mpsc::channel(MAX_QUEUED_REQUESTS);
        background.start("starter", StartLoop { db: db.clone(), inbox });
        Starter { requests }
    }

    /// Starts a claimed task. `false`: nothing was written; its lease is lost, or another session has its row
    /// locked. An error: it may be written.
    pub async fn start(&self, lease: TaskLease) -> Result<bool, DbError> {
        let stopped = || DbError::Unavailable("the loop that starts tasks has stopped".to_owned());
        let (answer, started) = oneshot::channel();
        self.requests.send(Request { lease, answer }).await.map_err(|_| stopped())?;
        started.await.map_err(|_| stopped())?
    }
}

impl BackgroundLoop for StartLoop {
    async fn run(&mut self) {
        let mut requests = Vec::with_capacity(MAX_BATCH);
        while self.inbox.recv_many(&mut requests, MAX_BATCH).await > 0 {
            self.start(requests.drain(..)).await;
        }
    }
}

impl StartLoop {
    async fn start(&self, requests: impl Iterator<Item = Request>) {
        let (leases, answers): (Vec<TaskLease>, Vec<Answer>) =
            requests.map(|request| (request.lease, request.answer)).unzip();
        let started = async { tasks::start_many(&self.db.client().await?, &leases).await };
        match started.await {
            Ok(started) => {
                answers.into_iter().zip(started).for_each(|(answer, started)| drop(answer.send(Ok(started))));
            }
            Err(error) => {
                let text = error.to_string();
                answers.into_iter().for_each(|answer| drop(answer.send(Err(DbError::Unavailable(text.clone())))));
            }
        }
    }
}
