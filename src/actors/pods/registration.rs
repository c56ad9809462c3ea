//! `Registration`: a worker's row of the registry, written in the order in which the worker asks for it.
//!
//! In: the worker's document, or its end. Out: a row, or none. Best effort: a worker whose row cannot be
//! written works on. It must not know what the document says.

use std::time::Duration;

use tokio::sync::watch;

use super::deps::ActorDeps;
use crate::actors::plan::WorkerPlan;
use db::{Db, DbError, workers};
use domain::worker::WorkerDocument;
use foundation::process::ProcessIdentity;
use supervision::background::BackgroundLoop;
use supervision::lifecycle::{Lifecycle, Phase};
use telemetry::events;

/// Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct Registration {
    wanted: watch::Sender<DesiredRow>,
}

/// Desired content of the registry; only the latest counts.
#[derive(Clone)]
enum DesiredRow {
    Unchanged,
    /// `every`: the time to the next write; a worker that misses three is offline.
    Row {
        document: Box<WorkerDocument>,
        every: Duration,
    },
    NoRow,
}

impl Registration {
    /// Starts to write in the background, one statement at a time, so that none overtakes an earlier one;
    /// ends with the last clone.
    pub fn new(deps: &ActorDeps, plan: &WorkerPlan) -> Registration {
        let (wanted, changes) = watch::channel(DesiredRow::Unchanged);
        let (plan, process) = (plan.clone(), ProcessIdentity::own(&deps.config.worker.host));
        let writer = Writer { deps: deps.clone(), plan, process, changes };
        let _runtime = deps.runtime.enter();
        deps.background.start("writer of a worker's row", writer);
        Registration { wanted }
    }

    pub fn write(&self, document: WorkerDocument, every: Duration) {
        self.wanted.send_replace(DesiredRow::Row { document: Box::new(document), every });
    }

    pub fn remove(&self) {
        self.wanted.send_replace(DesiredRow::NoRow);
    }
}

struct Writer {
    deps: ActorDeps,
    plan: WorkerPlan,
    process: ProcessIdentity,
    changes: watch::Receiver<DesiredRow>,
}

impl BackgroundLoop for Writer {
    async fn run(&mut self) {
        // a row whose write panicked is written again
        self.changes.mark_changed();
        while self.changes.changed().await.is_ok() {
            // a write that is still under way when the drain removes the rows would bring its row back
            let _writes = self.deps.registry.read().await;
            fail::fail_point!("registration");
            let wanted = self.changes.borrow_and_update().clone();
            let is_end = matches!(wanted, DesiredRow::NoRow);
            apply(&self.deps.db, &self.deps.lifecycle, &self.plan, &self.process, wanted).await;
            if is_end {
                self.deps.own_workers.remove(&self.plan.id);
            }
        }
    }
}

async fn apply(db: &Db, lifecycle: &Lifecycle, plan: &WorkerPlan, process: &ProcessIdentity, wanted: DesiredRow) {
    match wanted {
        DesiredRow::Unchanged => {}
        DesiredRow::Row { document, every } => {
            // the drain removes the rows of all workers
            if lifecycle.phase() >= Phase::Releasing {
                return;
            }
            let written = async { workers::upsert(&db.client().await?, &document, every, Some(process)).await };
            if let Err(error) = written.await {
                events::worker_not_registered(&plan.id, &plan.friendly_name, &error);
            }
        }
        DesiredRow::NoRow => {
            if let Err(error) = deregister(db, std::slice::from_ref(plan)).await {
                events::workers_not_deregistered(&plan.friendly_name, &error);
            }
        }
    }
}

/// Removes workers that have ended in good order.
pub async fn deregister(db: &Db, plans: &[WorkerPlan]) -> Result<(), DbError> {
    let ids: Vec<String> = plans.iter().map(|plan| plan.id.clone()).collect();
    workers::deregister(&db.client().await?, &ids).await
}
