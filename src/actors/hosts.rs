//! `SharedHosts`: what the processes know of hosts, shared through the table `hosts`; and the loop that adds what was not shared at
//! once.
//!
//! In: reports of sessions. Out: the state after them. The rules are `domain::host`.

use std::time::Duration;

use futures_util::future::BoxFuture;

use super::lifecycle::{Lifecycle, Phase};
use crate::config::Config;
use crate::db::{self, Db};
use crate::domain::host::{HostLimits, HostReport};
use crate::stealth::{Exchanged, HostTable, Sessions};

pub struct SharedHosts {
    db: Db,
    limits: HostLimits,
    /// Names this process beside others.
    process: String,
}

impl SharedHosts {
    pub fn new(db: &Db, config: &Config) -> Self {
        SharedHosts {
            db: db.clone(),
            limits: config.politeness.host_limits(config.http.whole_timeout),
            process: format!("{:016x}", rand::random::<u64>()),
        }
    }
}

impl HostTable for SharedHosts {
    fn exchange(&self, host: &str, report: HostReport) -> BoxFuture<'static, Result<Exchanged, String>> {
        let (db, limits, process, host) = (self.db.clone(), self.limits.clone(), self.process.clone(), host.to_owned());
        Box::pin(async move {
            let change = db::hosts::exchange(&db, &host, |state, now| state.apply(&process, &report, &limits, now));
            let (row, applied) = change.await.map_err(|error| error.to_string())?;
            Ok(Exchanged { state: row.state, now: row.now, applied })
        })
    }
}

/// Shares what sessions saw, `every` so often, until the process is over.
pub async fn keep_sharing(sessions: Sessions, every: Duration, lifecycle: Lifecycle) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(every) => sessions.exchange_hosts().await,
            () = lifecycle.reached(Phase::Over) => return,
        }
    }
}
