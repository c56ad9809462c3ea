//! `SharedHosts`: the states of hosts, shared by all processes through the table `hosts`.
//!
//! In: reports of sessions. Out: the state after them. The rules are `domain::host`. It must not know when it
//! is asked.

use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::stealth::{ExchangeResult, HostTable};
use db::Db;
use domain::host::HostReport;
use settings::Live;

pub struct SharedHosts {
    db: Db,
    politeness: Live<settings::Politeness>,
    /// How long a probe may take.
    probe_time: Duration,
    /// Names this process beside others.
    process: String,
}

impl SharedHosts {
    pub fn new(db: &Db, politeness: impl Into<Live<settings::Politeness>>, probe_time: Duration) -> Self {
        SharedHosts {
            db: db.clone(),
            politeness: politeness.into(),
            probe_time,
            process: format!("{:016x}", rand::random::<u64>()),
        }
    }
}

impl HostTable for SharedHosts {
    fn exchange(&self, host: &str, report: HostReport) -> BoxFuture<'static, Result<ExchangeResult, String>> {
        let limits = self.politeness.current().host_limits(self.probe_time);
        let (db, process, host) = (self.db.clone(), self.process.clone(), host.to_owned());
        Box::pin(async move {
            let change = db::hosts::exchange(&db, &host, |state, now| state.apply(&process, &report, &limits, now));
            let (row, applied) = change.await.map_err(|error| error.to_string())?;
            Ok(ExchangeResult { state: row.state, now: row.now, applied })
        })
    }
}
