//! `Claimer`: one for a process; answers the asks of many task actors with one statement, and completes in the same round
//! trip what is done and has nothing to write.
//!
//! It knows when claiming makes no sense (draining, no proxy, a suspect running here already), but not who runs what.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use tokio::sync::{mpsc, oneshot, watch};

use super::cell::panic_text;
use super::custody::Custody;
use super::intensity::Intensity;
use super::ledger::Ledger;
use super::lifecycle::Lifecycle;
use crate::db::tasks::{self, Claimed, Completed, Exchange, Exchanged};
use crate::db::{Db, DbError};
use crate::domain::proxy::PoolState;
use crate::domain::role::{Role, RoleSet};
use crate::domain::task::TaskId;
use crate::events;

/// As many asks as one statement answers.
const BATCH: usize = 64;
const QUEUE: usize = 1024;

/// A claimed task in its actor's hands. Dropped unused, it goes back.
pub struct Granted {
    pub task: Claimed,
    /// When the claim was sent: the lease counts from here.
    pub sent: Instant,
    pub custody: Custody,
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
    /// How often it may panic before the process gives up.
    pub intensity: Intensity,
}

impl Claimer {
    /// Starts it on the current runtime; it ends when the last handle is dropped.
    pub fn start(rules: Rules) -> Claimer {
        let (asks, inbox) = mpsc::channel(QUEUE);
        tokio::spawn(rules.serve_whatever_happens(inbox));
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

/// A worker's id, and where its task actor waits.
type ClaimAsk = (String, oneshot::Sender<Option<Granted>>);

/// The asks of one statement.
#[derive(Default)]
struct Round {
    roles: Vec<Role>,
    claims: Vec<ClaimAsk>,
    done: Vec<(Completed, oneshot::Sender<Result<bool, DbError>>)>,
}

impl Rules {
    /// A panic costs the batch that it met, whose askers hear that nobody answers, and no more.
    async fn serve_whatever_happens(mut self, mut inbox: mpsc::Receiver<Ask>) {
        loop {
            let Err(panic) = AssertUnwindSafe(self.serve(&mut inbox)).catch_unwind().await else { return };
            let text = panic_text(panic.as_ref());
            events::actor_restarted("claimer", "claimer", &text);
            if self.intensity.is_exceeded_by_failure_at(Instant::now()) {
                self.lifecycle.fail(format!("claimer failed too often, at last: panic: {text}"));
                return;
            }
        }
    }

    async fn serve(&self, inbox: &mut mpsc::Receiver<Ask>) {
        let mut batch = Vec::with_capacity(BATCH);
        while inbox.recv_many(&mut batch, BATCH).await > 0 {
            fail::fail_point!("claimer");
            self.answer(std::mem::take(&mut batch)).await;
        }
    }

    async fn answer(&self, batch: Vec<Ask>) {
        let _claiming = self.ledger.claiming();
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
        let workers = claims.iter().map(|(worker_id, _)| worker_id.clone()).collect();
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
                self.hand_out(claimed, claims, sent);
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
    fn hand_out(&self, claimed: Vec<Claimed>, mut asks: Vec<ClaimAsk>, sent: Instant) {
        for task in claimed {
            let custody = Custody::take(task.held.clone(), task.is_suspect(), &self.ledger, &self.db);
            let asker = asks.iter().position(|(worker_id, _)| *worker_id == task.held.worker_id);
            let granted = Granted { task, sent, custody };
            if let Some(place) = asker {
                // refused, it is dropped, and that gives it back
                let _ = asks.swap_remove(place).1.send(Some(granted));
            }
        }
        for (_, answer) in asks {
            let _ = answer.send(None);
        }
    }
}
