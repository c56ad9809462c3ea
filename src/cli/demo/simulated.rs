//! What a simulated world offers, as an operator would list it: its stores and proxies. Also for tests and benches.

use sim::{ProxyAddress, StoreSeed};

use crate::db::stores::NewStore;
use crate::domain::proxy::ProxyEntry;
use crate::domain::proxy::ProxyProtocol;
use crate::domain::store::Platform;

pub fn proxy(address: ProxyAddress) -> ProxyEntry {
    ProxyEntry {
        protocol: match address.protocol {
            sim::ProxyProtocol::Http => ProxyProtocol::Http,
            sim::ProxyProtocol::Socks5 => ProxyProtocol::Socks5,
        },
        host: address.host,
        port: address.port,
        username: address.username,
        password: address.password,
        state_code: None,
        timezone: None,
    }
}

pub fn store(seed: &StoreSeed) -> NewStore {
    NewStore {
        name: seed.name.clone(),
        platform: Platform::Dutchie,
        platform_dispensary_id: Some(seed.platform_dispensary_id.clone()),
        slug: Some(seed.slug.clone()),
        menu_url: Some(seed.menu_url.clone()),
        api_host: None,
        api_path: seed.api_path.clone(),
        city: Some(seed.city.clone()),
        state: Some(seed.state.clone()),
        timezone: Some(seed.timezone.clone()),
    }
}
