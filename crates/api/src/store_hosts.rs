//! The hosts that crawlable stores are asked at. In: the stores by platform and host. Out: the same by host alone, without
//! a port, as requests are counted.

use std::collections::BTreeMap;

use url::Url;

use super::ApiState;
use contract::verdict::StoresOfHost;
use db::schedules::forecast::HostStores;
use db::{Client, DbError, schedules};

/// Counts stores by the names of their hosts.
pub async fn read(api: &ApiState, client: &Client) -> Result<Vec<StoresOfHost>, DbError> {
    let mut hosts = BTreeMap::<String, StoresOfHost>::new();
    for group in schedules::forecast::stores_by_host(client).await? {
        let host = host_of(api, &group);
        let known = hosts.entry(host.clone()).or_insert(StoresOfHost { host, stores: 0, paused: 0 });
        known.stores += group.stores;
        known.paused += group.paused;
    }
    Ok(hosts.into_values().collect())
}

fn host_of(api: &ApiState, stores: &HostStores) -> String {
    let base = match &stores.api_host {
        Some(host) => format!("https://{host}"),
        None => api.crawl_limits.base_urls.get(&stores.platform).cloned().unwrap_or_default(),
    };
    let host = Url::parse(&base).ok().and_then(|url| url.host_str().map(str::to_owned));
    host.unwrap_or_else(|| stores.platform.clone())
}
