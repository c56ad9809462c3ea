//! `Claimer`: one for a process; answers the asks of many task actors with one statement, and completes in the same round
//! trip what is done and has nothing to write.
//!
//! It knows when claiming makes no sense (draining, no proxy, a suspect running here already), but not who runs what.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot, watch};

use super::ledger::{Ledger, Stop};
use super::lifecycle::Lifecycle;
use crate::db::tasks::{self, Claimed, Completed, Exchange, Exchanged, Settlement};
use crate::db::{Db, DbError};
use crate::domain::proxy::PoolState;
use crate::domain::role::{Role, RoleSet};
use crate::domain::task::TaskId;
use crate::events;

/// As many asks as one statement answers.
const BATCH: usize = 64;
const QUEUE: usize = 1024;

/// A claimed task in its actor's hands.
pub struct Granted {
    pub task: Claimed,
    /// When the claim was sent: the lease counts from here.
    pub sent: Instant,
    pub stop: oneshot::Receiver<Stop>,
}

impl Granted {
    pub fn named(&self) -> events::Run<'_> {
        let task = &self.task;
        events::Run {
            task: task.held.id,
            fence: task.held.fence,
            role: task.role,
            dispensary: task.dispensary_id,
            worker: &task.held.worker_id,
        }
    }
}

#[derive(Clone)]
pub struct Claimer {
    asks: mpsc::Sender<Ask>,
}

enum Ask {
    Claim { roles: RoleSet, worker_id: String, answer: oneshot::Sender<Option<Granted>> },
    Complete { completed: Completed, answer: oneshot::Sender<Result<bool, DbError>> },
}

/// What the claimer decides by.
pub struct Rules {
    pub db: Db,
    pub lease: Duration,
    pub lifecycle: Lifecycle,
    pub ledger: Ledger,
    /// While no proxy is active, roles that need one are not claimed.
    pub proxies: watch::Receiver<PoolState>,
}

impl Claimer {
    /// Starts it on the current runtime; it ends when the last handle is dropped.
    pub fn start(rules: Rules) -> Claimer {
        let (asks, mut inbox) = mpsc::channel(QUEUE);
        tokio::spawn(async move {
            let mut batch = Vec::with_capacity(BATCH);
            while inbox.recv_many(&mut batch, BATCH).await > 0 {
                rules.answer(std::mem::take(&mut batch)).await;
            }
        });
        Claimer { asks }
    }

    /// A task of one of these roles, if one may be claimed now.
    pub async fn claim(&self, roles: &RoleSet, worker_id: &str) -> Option<Granted> {
        let (answer, granted) = oneshot::channel();
        let ask = Ask::Claim { roles: roles.clone(), worker_id: worker_id.to_owned(), answer };
        self.asks.send(ask).await.ok()?;
        granted.await.ok()?
    }

    /// Completes a run that has nothing to write; `false`: its lease was lost.
    pub async fn complete(&self, completed: Completed) -> Result<bool, DbError> {
        let gone = || DbError::Unavailable("the claimer has stopped".to_owned());
        let (answer, settled) = oneshot::channel();
        self.asks.send(Ask::Complete { completed, answer }).await.map_err(|_| gone())?;
        settled.await.map_err(|_| gone())?
    }
}

/// The asks of one statement.
#[derive(Default)]
struct Round {
    roles: Vec<Role>,
    claims: Vec<(String, oneshot::Sender<Option<Granted>>)>,
    done: Vec<(Completed, oneshot::Sender<Result<bool, DbError>>)>,
}

impl Rules {
    async fn answer(&self, batch: Vec<Ask>) {
        for round in self.rounds(batch) {
            self.exchange(round).await;
        }
    }

    /// Asks with the same roles share a statement; what is to be completed goes with the first.
    fn rounds(&self, batch: Vec<Ask>) -> Vec<Round> {
        let mut by_roles: HashMap<Vec<Role>, Round> = HashMap::new();
        let mut done = Vec::new();
        for ask in batch {
            match ask {
                Ask::Complete { completed, answer } => done.push((completed, answer)),
                Ask::Claim { roles, worker_id, answer } => {
                    let roles = self.claimable(&roles);
                    if roles.is_empty() {
                        let _ = answer.send(None);
                        continue;
                    }
                    let round = by_roles.entry(roles.clone()).or_default();
                    round.roles = roles;
                    round.claims.push((worker_id, answer));
                }
            }
        }
        let mut rounds: Vec<Round> = by_roles.into_values().collect();
        if rounds.is_empty() && !done.is_empty() {
            rounds.push(Round::default());
        }
        if let Some(first) = rounds.first_mut() {
            first.done = done;
        }
        rounds
    }

    fn claimable(&self, roles: &RoleSet) -> Vec<Role> {
        if !self.lifecycle.is_running() {
            return Vec::new();
        }
        if self.proxies.borrow().active > 0 { roles.roles().to_vec() } else { roles.without_proxy_roles() }
    }

    async fn exchange(&self, round: Round) {
        let Round { roles, claims, done } = round;
        let (completed, settle_answers): (Vec<_>, Vec<_>) = done.into_iter().unzip();
        let (workers, claim_answers): (Vec<_>, Vec<_>) = claims.into_iter().unzip();
        let asked: Vec<TaskId> = completed.iter().map(|completed: &Completed| completed.held.id).collect();
        let exchange = Exchange {
            done: completed,
            roles,
            workers,
            lease: self.lease,
            allow_suspect: !self.ledger.holds_suspect(),
        };
        let sent = Instant::now();
        match self.send(&exchange).await {
            Ok(Exchanged { settled, claimed }) => {
                for (id, answer) in asked.iter().zip(settle_answers) {
                    let _ = answer.send(Ok(settled.contains(id)));
                }
                self.hand_out(claimed, claim_answers, sent);
            }
            Err(error) => {
                events::claim_failed(&error);
                let text = error.to_string();
                for answer in settle_answers {
                    let _ = answer.send(Err(DbError::Unavailable(text.clone())));
                }
            }
        }
    }

    async fn send(&self, exchange: &Exchange) -> Result<Exchanged, DbError> {
        let client = self.db.client().await?;
        tasks::settle_and_claim(&client, exchange).await
    }

    /// Every claimed task is in the ledger before anyone hears of it. One whose actor has died meanwhile goes back.
    fn hand_out(&self, claimed: Vec<Claimed>, answers: Vec<oneshot::Sender<Option<Granted>>>, sent: Instant) {
        let mut answers = answers.into_iter();
        for task in claimed {
            let stop = self.ledger.enter(task.held.clone(), task.is_suspect());
            let granted = Granted { task, sent, stop };
            let refused = match answers.next() {
                Some(answer) => answer.send(Some(granted)).err().flatten(),
                None => Some(granted),
            };
            if let Some(granted) = refused {
                self.give_back(granted);
            }
        }
        for answer in answers {
            let _ = answer.send(None);
        }
    }

    fn give_back(&self, granted: Granted) {
        let (db, ledger) = (self.db.clone(), self.ledger.clone());
        tokio::spawn(async move {
            let held = granted.task.held;
            let settlement = Settlement::released("its worker was gone");
            let released = async { tasks::settle(&db.client().await?, &held, &settlement).await };
            if let Err(error) = released.await {
                events::settle_failed(held.id, &error);
            }
            ledger.leave(&held);
        });
    }
}
