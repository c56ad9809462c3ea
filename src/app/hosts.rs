//! `SharedHosts`: the states of hosts, shared by all processes through the table `hosts`.
//!
//! In: reports of sessions. Out: the state after them. The rules are `domain::host`. It must not know when it
//! is asked.

use futures_util::future::BoxFuture;

use crate::stealth::{ExchangeResult, HostTable};
use db::Db;
use domain::host::{HostLimits, HostReport};
use settings::Config;

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
    fn exchange(&self, host: &str, report: HostReport) -> BoxFuture<'static, Result<ExchangeResult, String>> {
        let (db, limits, process, host) = (self.db.clone(), self.limits.clone(), self.process.clone(), host.to_owned());
        Box::pin(async move {
            let change = db::hosts::exchange(&db, &host, |state, now| state.apply(&process, &report, &limits, now));
            let (row, applied) = change.await.map_err(|error| error.to_string())?;
            Ok(ExchangeResult { state: row.state, now: row.now, applied })
        })
    }
}
