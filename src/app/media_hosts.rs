//! `MediaHosts`: the limits of hosts, as media requests meet them: the same that the crawl's requests pass.
//!
//! In: a host that is to be asked without a proxy. Out: a turn, whose outcome goes to the host's shared state. It must
//! not know how limits are kept, nor media.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::stealth::{FetchError, HostRateLimits};
use domain::task::disposition::{Disposition, HasDisposition};
use public_http::host_gate::{HeldHost, HostGate, Turn};

pub struct MediaHosts(pub Arc<HostRateLimits>);

impl HostGate for MediaHosts {
    fn turn<'a>(&'a self, host: &'a str, min_interval: Duration) -> BoxFuture<'a, Result<Turn, HeldHost>> {
        let limits = &self.0;
        Box::pin(async move {
            let permit = limits.permit_spaced(host, min_interval).await.map_err(held)?;
            let limits = Arc::clone(limits);
            let turn: Turn =
                Box::new(move |outcome| async move { limits.note(permit, outcome).await }.map(drop).boxed());
            Ok(turn)
        })
    }
}

fn held(error: FetchError) -> HeldHost {
    let reason = error.to_string();
    match error.disposition() {
        Disposition::Snooze { after, host } => HeldHost { reason, after, until_closed: host },
        Disposition::Retry | Disposition::Permanent => HeldHost { reason, after: None, until_closed: None },
    }
}
