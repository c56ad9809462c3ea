//! Builds the handlers' [`Services`] from the configuration and its data files.

use std::sync::Arc;

use thiserror::Error;

use super::data::DataFiles;
use crate::clock::Clock;
use crate::config::{Config, ConfigErrors};
use crate::db::Db;
use crate::handlers::{ExhaustedHashAlarm, Services};
use crate::platforms::Registry;
use crate::platforms::dutchie::BadBaseUrl;
use crate::stealth::{self, AllowList, ProxySource, Sessions, TlsSetupError};
use crate::storage::Payloads;

#[derive(Debug, Error)]
pub enum ServicesError {
    #[error(transparent)]
    Data(#[from] ConfigErrors),
    #[error("platform.dutchie.base_url: {0}")]
    BaseUrl(BadBaseUrl),
    #[error("http.extra_ca_file: {0}")]
    Tls(TlsSetupError),
}

pub fn services(
    config: &Config,
    db: &Db,
    payloads: Payloads,
    clock: &Clock,
    proxies: Arc<dyn ProxySource>,
) -> Result<Services, ServicesError> {
    let DataFiles { identities, states, dutchie: data } = DataFiles::load(config)?;
    let sessions = Sessions::new(stealth::SessionConfig {
        proxies,
        identities,
        states: states.clone(),
        allowed_hosts: AllowList::new(allowed_hosts(config)),
        http: config.http.clone(),
        proxy_config: config.proxies.clone(),
        politeness: config.politeness.clone(),
        clock: clock.clone(),
    })
    .map_err(ServicesError::Tls)?;
    Ok(Services {
        db: db.clone(),
        sessions,
        payloads,
        clock: clock.clone(),
        hash_alarm: ExhaustedHashAlarm::default(),
        platforms: Registry::new(config, data).map_err(ServicesError::BaseUrl)?,
        states,
    })
}

/// The platform's own host and those the operator adds; a store's registered hosts come with its sessions.
fn allowed_hosts(config: &Config) -> Vec<String> {
    let platform = url::Url::parse(&config.platform.dutchie.base_url).ok();
    let own = platform.as_ref().and_then(url::Url::host_str).map(str::to_owned);
    own.into_iter().chain(config.http.host_allowlist.iter().cloned()).collect()
}
