//! `proxy_benches`: benches of proxies at single hosts, which processes write for others to see. Benches everywhere
//! are part of `proxies`; [`list`] gives both.
//!
//! In: changes of benches, with the counters of a process. Out: the benches that have time left, by the
//! database's clock. It must not know why a proxy is benched.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::statements::{column, named, read_all, rows, sql};
use crate::{Client, DbError};
use contract::proxies::ProxyBench;
use domain::proxy::{CounterDelta, HostBench, HostCooldown, ProxyId};

struct ListedBench {
    proxy_id: ProxyId,
    bench: ProxyBench,
}

/// The benches of these proxies, the one everywhere first.
pub(crate) async fn list(client: &Client, proxies: &[ProxyId]) -> Result<HashMap<ProxyId, Vec<ProxyBench>>, DbError> {
    let rows = client.query(sql!("proxies/benches/list.sql"), &[&proxies]).await?;
    let mut by_proxy: HashMap<ProxyId, Vec<ProxyBench>> = HashMap::new();
    for ListedBench { proxy_id, bench } in read_all(&rows)? {
        by_proxy.entry(proxy_id).or_default().push(bench);
    }
    Ok(by_proxy)
}

/// Benches at single hosts, for the pool of a process.
pub(crate) async fn load(client: &Client) -> Result<HashMap<ProxyId, Vec<HostCooldown>>, DbError> {
    let mut by_proxy: HashMap<ProxyId, Vec<HostCooldown>> = HashMap::new();
    for row in &client.query(sql!("proxies/benches/load.sql"), &[]).await? {
        let left = Duration::try_from_secs_f64(row.try_get("left_s")?).unwrap_or(Duration::ZERO);
        by_proxy.entry(row.try_get("proxy_id")?).or_default().push(HostCooldown {
            host: row.try_get("host")?,
            left,
            is_best_effort: row.try_get("is_best_effort")?,
        });
    }
    Ok(by_proxy)
}

/// Writes the changes in `deltas`; writing them again changes little. `now` converts ends to remaining times.
pub(crate) async fn flush(client: &Client, deltas: &[CounterDelta], now: Instant) -> Result<(), DbError> {
    let changes: Vec<_> = deltas.iter().flat_map(changes_of).collect();
    if changes.is_empty() {
        return Ok(());
    }
    let ended: Vec<_> = changes.iter().filter(|(.., bench)| **bench == HostBench::Ended).collect();
    let remove = sql!("proxies/benches/remove.sql");
    client.execute(remove, &[&column(&ended, |(proxy, ..)| proxy), &column(&ended, |(_, host, _)| host)]).await?;
    let begun: Vec<_> = changes.iter().filter_map(|(proxy, host, bench)| begun(*proxy, host, bench, now)).collect();
    named!(client.execute(
        "proxies/benches/write.sql",
        proxies = column(&begun, |begun| begun.proxy),
        hosts = column(&begun, |begun| begun.host),
        cooldowns = column(&begun, |begun| begun.seconds),
        reasons = column(&begun, |begun| begun.reason),
        is_best_effort = column(&begun, |begun| begun.is_best_effort)
    ))
    .await?;
    Ok(())
}

struct BegunBench<'a> {
    proxy: ProxyId,
    host: &'a str,
    seconds: f64,
    reason: &'a str,
    is_best_effort: bool,
}

fn changes_of(delta: &CounterDelta) -> impl Iterator<Item = (ProxyId, &str, &HostBench)> {
    delta.host_benches.iter().map(|(host, bench)| (delta.proxy, host.as_str(), bench))
}

fn begun<'a>(proxy: ProxyId, host: &'a str, bench: &'a HostBench, now: Instant) -> Option<BegunBench<'a>> {
    let HostBench::Until { until, reason, is_best_effort } = bench else { return None };
    let seconds = until.saturating_duration_since(now).as_secs_f64();
    Some(BegunBench { proxy, host, seconds, reason, is_best_effort: *is_best_effort })
}

rows! {
    ListedBench { proxy_id, bench: row }
    ProxyBench { host, until, reason }
}
