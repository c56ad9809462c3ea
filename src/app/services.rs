//! What the handlers of a process share, made of the configuration and its data files.

use std::sync::Arc;

use thiserror::Error;

use crate::clock::Clock;
use crate::config::{Config, Faults, Overlay, Overlays};
use crate::db::Db;
use crate::handlers::{HashAlarm, Services};
use crate::platforms::dutchie::{BadBaseUrl, DataError, DutchieData};
use crate::platforms::{Dutchie, Limits};
use crate::stealth::{self, AllowList, BadFile, Identities, ProxySource, Sessions, States, TlsSetupError};
use crate::storage::Payloads;

#[derive(Debug, Error)]
pub enum ServicesError {
    #[error(transparent)]
    BadFile(#[from] BadFile),
    #[error(transparent)]
    Dutchie(#[from] DataError),
    #[error(transparent)]
    BaseUrl(#[from] BadBaseUrl),
    #[error(transparent)]
    Tls(#[from] TlsSetupError),
}

pub fn services(
    config: &Config,
    db: &Db,
    clock: &Clock,
    proxies: Arc<dyn ProxySource>,
) -> Result<Services, ServicesError> {
    let data = DutchieData::load(Overlay::text(&config.overlays.dutchie))?;
    let states = States::load(Overlay::text(&config.overlays.states))?;
    let sessions = Sessions::new(stealth::Parts {
        proxies,
        identities: Identities::load(Overlay::text(&config.overlays.identities))?,
        states: states.clone(),
        allowed_hosts: AllowList::new(allowed_hosts(config)),
        http: config.http.clone(),
        rotations: config.proxies.clone(),
        politeness: config.politeness.clone(),
        clock: clock.clone(),
    })?;
    Ok(Services {
        db: db.clone(),
        sessions,
        payloads: Payloads::new(config.storage_root()),
        clock: clock.clone(),
        shipped_hashes: data.hashes().to_vec(),
        hash_alarm: HashAlarm::default(),
        dutchie: Dutchie::new(&config.platform.dutchie, data)?,
        limits: Limits {
            max_pages: config.http.max_pages as usize,
            min_coverage: config.platform.dutchie.min_coverage,
        },
        states,
    })
}

/// What is wrong with the data files, which only their owners can tell.
pub fn data_faults(config: &Config) -> Faults {
    let Overlays { identities, states, dutchie } = &config.overlays;
    let found = [
        (identities, Identities::load(Overlay::text(identities)).err().map(|bad| bad.faults)),
        (states, States::load(Overlay::text(states)).err().map(|bad| bad.faults)),
        (dutchie, DutchieData::load(Overlay::text(dutchie)).err().map(|bad| vec![bad.to_string()])),
    ];
    let mut faults = Faults::default();
    for (overlay, problems) in found {
        let file = overlay.as_ref().map_or_else(String::new, |overlay| overlay.path.display().to_string());
        for problem in problems.unwrap_or_default() {
            faults.push(&file, "", problem.trim_end());
        }
    }
    faults
}

/// The platform's own host and those the operator adds; a store's registered hosts come with its sessions.
fn allowed_hosts(config: &Config) -> Vec<String> {
    let platform = url::Url::parse(&config.platform.dutchie.base_url).ok();
    let own = platform.as_ref().and_then(url::Url::host_str).map(str::to_owned);
    own.into_iter().chain(config.http.host_allowlist.iter().cloned()).collect()
}
