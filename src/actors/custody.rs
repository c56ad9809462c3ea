//! `Custody`: the right and the duty to run one claimed task. Its ledger entry lives exactly as long.
//!
//! Whoever is handed one and dies before the run has begun need not know what to do: the drop gives the task back. Once it
//! has begun, the drop only says that the run is over, however it ended.

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::ledger::{Ledger, Stop};
use crate::db::Db;
use crate::db::tasks::{self, Settlement};
use crate::domain::task::Held;
use crate::events;

pub struct Custody {
    pub held: Held,
    /// Tells the body to stop.
    pub stop: oneshot::Receiver<Stop>,
    ledger: Ledger,
    /// Where the task goes back to, while its run has not begun.
    unbegun: Option<Db>,
}

impl Custody {
    /// Enters a claimed task into the ledger.
    pub fn take(held: Held, suspect: bool, ledger: &Ledger, db: &Db) -> Custody {
        let stop = ledger.enter(held.clone(), suspect);
        Custody { held, stop, ledger: ledger.clone(), unbegun: Some(db.clone()) }
    }

    /// From now on the run itself writes down how it ended.
    pub fn begin(&mut self) {
        self.unbegun = None;
    }
}

impl Drop for Custody {
    fn drop(&mut self) {
        let (held, ledger) = (self.held.clone(), self.ledger.clone());
        match (self.unbegun.take(), Handle::try_current()) {
            (Some(db), Ok(runtime)) => drop(runtime.spawn(give_back(db, ledger, held))),
            // without a runtime the process is at its end, and the lease decides
            _ => ledger.leave(&held),
        }
    }
}

async fn give_back(db: Db, ledger: Ledger, held: Held) {
    let settlement = Settlement::released("its worker was gone");
    let released = async { tasks::settle(&db.client().await?, &held, &settlement).await };
    if let Err(error) = released.await {
        events::settle_failed(held.id, &error);
    }
    ledger.leave(&held);
}
