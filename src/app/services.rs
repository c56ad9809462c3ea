//! Builds the handlers' [`TaskServices`] from the configuration and its data files.

use std::sync::Arc;

use thiserror::Error;

use super::data::DataFiles;
use super::hosts::SharedHosts;
use super::media_hosts::MediaHosts;
use super::robots::SharedRobots;
use crate::downloads::{DownloadDeps, DownloadQueue, ImageSites};
use crate::handlers::media::MediaServices;
use crate::handlers::{ChangePublisher, ExhaustedHashAlarm, KnownHashes, PlatformKeys, TaskServices};
use crate::platforms::PlatformRegistry;
use crate::stealth::{self, AllowList, FetchError, ProxySource, Sessions, TlsSetupError};
use db::Db;
use domain::store::Platform;
use foundation::clock::Clock;
use public_http::{Http, HttpError};
use settings::{Config, ConfigErrors, LiveConfig, PlatformSettings};
use storage::{Images, Payloads};

#[derive(Debug, Error)]
pub enum ServicesError {
    #[error(transparent)]
    Data(#[from] ConfigErrors),
    #[error("the platform's address: {0}")]
    Address(#[from] FetchError),
    #[error("extra_ca_file: {0}")]
    Tls(TlsSetupError),
    #[error(transparent)]
    Http(#[from] HttpError),
}

pub fn services(
    live: &LiveConfig,
    db: &Db,
    payloads: Payloads,
    clock: &Clock,
    proxies: Arc<dyn ProxySource>,
) -> Result<TaskServices, ServicesError> {
    let loaded = live.current();
    let config = &loaded.config;
    let DataFiles { identities, states, platforms, categories } = DataFiles::load(config)?;
    let politeness = live.part(|config| config.politeness.clone());
    let sessions = Sessions::new(stealth::SessionConfig {
        proxies: Arc::clone(&proxies),
        identities,
        states,
        allowed_hosts: allowed_hosts(config, &platforms),
        http: config.http.clone(),
        proxy_config: live.part(|config| config.proxies.clone()),
        politeness: politeness.clone(),
        host_table: Some(Arc::new(SharedHosts::new(db, politeness, config.http.whole_timeout))),
        robots_table: Some(Arc::new(SharedRobots::new(db))),
        clock: clock.clone(),
    })
    .map_err(ServicesError::Tls)?;
    let strangers = Http::new(config.media.allow_private)?;
    let http = strangers.clone().through(Arc::new(MediaHosts(sessions.host_limits())));
    Ok(TaskServices {
        db: db.clone(),
        media: MediaServices::new(config, &payloads, strangers, proxies),
        http,
        keys: config.secrets.keys(),
        sessions,
        payloads,
        clock: clock.clone(),
        hash_alarm: ExhaustedHashAlarm::default(),
        known_hashes: KnownHashes::default(),
        platform_keys: PlatformKeys::default(),
        change_publisher: ChangePublisher::new(db.clone()),
        categories: Arc::new(categories),
        low_stock: live.part(|config| config.changes.low_stock),
        downloads: config.images.download.then(DownloadQueue::default),
        platforms,
    })
}

/// Queue and dependencies of the downloads of images, where this process has any. Errors: an address of the
/// platform that cannot be asked.
pub fn downloads(
    config: &Config,
    services: &TaskServices,
) -> Result<Option<(DownloadQueue, DownloadDeps)>, ServicesError> {
    let Some(queue) = &services.downloads else { return Ok(None) };
    let site = |(platform, settings): (Platform, &PlatformSettings)| {
        let page = services.platforms.get(platform).adapter.page()?;
        Ok((settings.image_hosts.clone(), page))
    };
    let sites: Vec<_> = config.platform.iter().map(site).collect::<Result<_, FetchError>>()?;
    let deps = DownloadDeps {
        db: services.db.clone(),
        sessions: services.sessions.clone(),
        images: Images::beside(&services.payloads),
        config: config.images.clone(),
        sites: ImageSites::new(sites),
    };
    Ok(Some((queue.clone(), deps)))
}

/// The platforms' own hosts and those the operator adds; a store's registered hosts come with its sessions.
fn allowed_hosts(config: &Config, platforms: &PlatformRegistry) -> AllowList {
    AllowList::new(platforms.api_hosts().chain(config.http.host_allowlist.iter().cloned()))
}

#[cfg(test)]
mod tests {
    use strum::VariantArray;

    use super::*;
    use domain::store::Platform;

    #[test]
    fn every_platforms_api_may_be_asked_and_so_may_the_operators_hosts() {
        let set = [
            ("http.host_allowlist", "menu.example"),
            ("http.own_contact", "https://copperfern.example/crawler"),
            ("platform.dutchie_plus.key", "a-key"),
            ("platform.weedmaps.enabled", "true"),
        ];
        let config = Config::with(&set).unwrap();
        let DataFiles { platforms, .. } = DataFiles::load(&config).unwrap();
        let allowed = allowed_hosts(&config, &platforms);
        for platform in Platform::VARIANTS {
            let api = platforms.get(*platform).adapter.endpoint(None).unwrap();
            assert!(allowed.check(&api).is_ok(), "{api}");
        }
        assert!(allowed.check(&"https://menu.example/graphql".parse().unwrap()).is_ok());
        assert!(allowed.check(&"https://elsewhere.example/graphql".parse().unwrap()).is_err());
    }
}
