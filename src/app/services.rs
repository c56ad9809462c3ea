//! What the handlers of a process share, made of the configuration and its data files.

use std::sync::Arc;

use thiserror::Error;

use super::data::DataFiles;
use crate::clock::Clock;
use crate::config::{Config, Faults};
use crate::db::Db;
use crate::handlers::{HashAlarm, Services};
use crate::platforms::dutchie::BadBaseUrl;
use crate::platforms::{Dutchie, Limits};
use crate::stealth::{self, AllowList, ProxySource, Sessions, TlsSetupError};
use crate::storage::Payloads;

#[derive(Debug, Error)]
pub enum ServicesError {
    #[error(transparent)]
    Data(#[from] Faults),
    #[error("platform.dutchie.base_url: {0}")]
    BaseUrl(BadBaseUrl),
    #[error("http.extra_ca_file: {0}")]
    Tls(TlsSetupError),
}

pub fn services(
    config: &Config,
    db: &Db,
    clock: &Clock,
    proxies: Arc<dyn ProxySource>,
) -> Result<Services, ServicesError> {
    let DataFiles { identities, states, dutchie: data } = DataFiles::load(config)?;
    let sessions = Sessions::new(stealth::Parts {
        proxies,
        identities,
        states: states.clone(),
        allowed_hosts: AllowList::new(allowed_hosts(config)),
        http: config.http.clone(),
        rotations: config.proxies.clone(),
        politeness: config.politeness.clone(),
        clock: clock.clone(),
    })
    .map_err(ServicesError::Tls)?;
    Ok(Services {
        db: db.clone(),
        sessions,
        payloads: Payloads::new(config.storage_root()),
        clock: clock.clone(),
        shipped_hashes: data.hashes().to_vec(),
        hash_alarm: HashAlarm::default(),
        dutchie: Dutchie::new(&config.platform.dutchie, data).map_err(ServicesError::BaseUrl)?,
        limits: Limits {
            max_pages: config.http.max_pages as usize,
            min_coverage: config.platform.dutchie.min_coverage,
        },
        states,
    })
}

/// The platform's own host and those the operator adds; a store's registered hosts come with its sessions.
fn allowed_hosts(config: &Config) -> Vec<String> {
    let platform = url::Url::parse(&config.platform.dutchie.base_url).ok();
    let own = platform.as_ref().and_then(url::Url::host_str).map(str::to_owned);
    own.into_iter().chain(config.http.host_allowlist.iter().cloned()).collect()
}
