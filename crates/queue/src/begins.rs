//! `Begins`: begins the claimed tasks of a process, many with one statement, beside its claims: a body that is about to
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
pub struct Begins {
    requests: mpsc::Sender<Request>,
}

struct Request {
    lease: TaskLease,
    answer: oneshot::Sender<Result<bool, DbError>>,
}

struct BeginLoop {
    db: Db,
    inbox: mpsc::Receiver<Request>,
}

impl Begins {
    /// Starts the loop on the current runtime; it ends when the last handle is dropped.
    pub fn start(db: &Db, background: &Background) -> Begins {
        let (requests, inbox) = mpsc::channel(MAX_QUEUED_REQUESTS);
        background.start("begins", BeginLoop { db: db.clone(), inbox });
        Begins { requests }
    }

    /// Begins a claimed task. `false`: nothing was written; its lease is lost, or another session has its row
    /// locked. An error: it may be written.
    pub async fn begin(&self, lease: TaskLease) -> Result<bool, DbError> {
        let stopped = || DbError::Unavailable("the loop that begins tasks has stopped".to_owned());
        let (answer, begun) = oneshot::channel();
        self.requests.send(Request { lease, answer }).await.map_err(|_| stopped())?;
        begun.await.map_err(|_| stopped())?
    }
}

impl BackgroundLoop for BeginLoop {
    async fn run(&mut self) {
        let mut requests = Vec::with_capacity(MAX_BATCH);
        while self.inbox.recv_many(&mut requests, MAX_BATCH).await > 0 {
            self.begin(std::mem::take(&mut requests)).await;
        }
    }
}

impl BeginLoop {
    async fn begin(&self, requests: Vec<Request>) {
        let leases: Vec<TaskLease> = requests.iter().map(|request| request.lease.clone()).collect();
        let begun = async { tasks::begin(&self.db.client().await?, &leases).await };
        let begun = begun.await;
        for Request { lease, answer } in requests {
            let is_begun = match &begun {
                Ok(begun) => Ok(begun.contains(&lease)),
                Err(error) => Err(DbError::Unavailable(error.to_string())),
            };
            let _ = answer.send(is_begun);
        }
    }
}
