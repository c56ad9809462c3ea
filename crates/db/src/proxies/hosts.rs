//! `proxy_hosts`: the record of each proxy at each host, to which several processes add.
//!
//! In: requests by host, with the counters of a process. Out: the records. It must not know how a proxy is judged.

use std::collections::HashMap;

use crate::statements::{column, named, read_all, rows, sql};
use crate::{Client, DbError};
use contract::proxies::ProxyHost;
use domain::proxy::{CounterDelta, HostRecord, ProxyId, RecentRequests, recent_requests};

/// Maximum number of hosts that are shown of one proxy.
const MAX_SHOWN: i64 = 16;

struct ListedHost {
    proxy_id: ProxyId,
    host: String,
    is_best_effort: bool,
    recent: RecentRequests,
}

/// The hosts of these proxies: those of the crawl first.
pub(crate) async fn list(client: &Client, proxies: &[ProxyId]) -> Result<HashMap<ProxyId, Vec<ProxyHost>>, DbError> {
    let rows = client.query(sql!("proxies/hosts/list.sql"), &[&proxies, &MAX_SHOWN]).await?;
    let mut by_proxy: HashMap<ProxyId, Vec<ProxyHost>> = HashMap::new();
    for ListedHost { proxy_id, host, is_best_effort, recent } in read_all(&rows)? {
        let record = HostRecord { recent, is_best_effort };
        let shown = ProxyHost { host, health: record.shown_health(), is_best_effort };
        by_proxy.entry(proxy_id).or_default().push(shown);
    }
    Ok(by_proxy)
}

/// Adds the requests in `deltas`, and forgets hosts that these proxies do not ask any more.
pub(crate) async fn flush(client: &Client, deltas: &[CounterDelta]) -> Result<(), DbError> {
    let counted: Vec<_> =
        deltas.iter().flat_map(|delta| delta.hosts.iter().map(|(host, of)| (delta.proxy, host, of))).collect();
    if counted.is_empty() {
        return Ok(());
    }
    named!(client.execute(
        "proxies/hosts/write.sql",
        proxies = column(&counted, |(proxy, ..)| *proxy),
        hosts = column(&counted, |(_, host, _)| host.as_str()),
        is_best_effort = column(&counted, |(.., of)| of.is_best_effort),
        requests = column(&counted, |(.., of)| of.recent.requests),
        refused = column(&counted, |(.., of)| of.recent.refused),
        failed = column(&counted, |(.., of)| of.recent.failed),
        max_requests = recent_requests::MAX_REQUESTS
    ))
    .await?;
    client.execute(sql!("proxies/hosts/forget.sql"), &[&column(deltas, |delta| delta.proxy)]).await?;
    Ok(())
}

rows! {
    ListedHost { proxy_id, host, is_best_effort, recent: row }
}
