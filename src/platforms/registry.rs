//! `PlatformRegistry`: the platforms that this program crawls, each with its adapter, data and limits.
//!
//! In: the configuration with the data files that it names. Out: an entry for each [`Platform`].

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::OnceCell;

use super::definition::{AdapterResult, BadPlatform};
use super::{Adapter, CrawlLimits, DiscoveryPoint, PersistedQueries, Query, definition, grid};
use crate::stealth::{FetchError, IdentityKind, Request, States};
use domain::query_hash::QueryHash;
use domain::store::Platform;
use domain::store::per_platform::PerPlatform;
use settings::{Config, ConfigErrors, PlatformSettings, Secret};

pub struct PlatformRegistry(PerPlatform<PlatformEntry>);

pub struct PlatformEntry {
    pub adapter: Arc<dyn Adapter>,
    /// Points at which to look for its stores, by state. Each state has one at least.
    pub discovery_points: BTreeMap<String, Vec<DiscoveryPoint>>,
    /// Cell that is set once this process has added the shipped hashes that the table lacks.
    pub hashes_added: OnceCell<()>,
    pub limits: CrawlLimits,
    /// The operator's key; empty where there is none.
    pub key: Secret,
    identity: Result<IdentityKind, FetchError>,
}

impl PlatformRegistry {
    /// Fails with all faults of the settings and of the data files.
    pub fn new(config: &Config, states: &States) -> Result<PlatformRegistry, ConfigErrors> {
        let mut errors = ConfigErrors::default();
        let entries = PerPlatform::made(|platform| match PlatformEntry::new(platform, config, states) {
            Ok(entry) => Some(entry),
            Err(BadPlatform::BaseUrl(why)) => {
                errors.push("", format!("platform.{platform}.base_url"), why);
                None
            }
            Err(BadPlatform::Data(why)) => {
                let file = config.overlays.platforms.of(platform);
                let name =
                    file.as_ref().map_or_else(|| format!("{platform}.toml"), |file| file.path.display().to_string());
                errors.push(name, "", why);
                None
            }
        });
        entries.all().map(PlatformRegistry).ok_or(errors)
    }

    /// API hosts of all platforms that may be asked.
    pub fn api_hosts(&self) -> impl Iterator<Item = String> {
        let asked = self.0.iter().filter(|(_, entry)| entry.identity.is_ok());
        asked.flat_map(|(_, entry)| entry.adapter.api_hosts())
    }

    pub fn get(&self, platform: Platform) -> &PlatformEntry {
        self.0.of(platform)
    }
}

impl PlatformEntry {
    /// The known hashes of its persisted queries, newest first within an operation.
    pub fn shipped_hashes(&self) -> &[QueryHash] {
        self.adapter.persisted().map_or(&[], PersistedQueries::shipped_hashes)
    }

    /// The client that it is asked as. `NotAllowed` while it is switched off, or while it is to be asked under drover's own
    /// name and drover has no contact.
    pub fn identity(&self) -> Result<IdentityKind, FetchError> {
        self.identity.clone()
    }

    fn new(platform: Platform, config: &Config, states: &States) -> Result<PlatformEntry, BadPlatform> {
        let adapter = adapter(platform, config)?;
        Ok(PlatformEntry {
            discovery_points: if adapter.lists_stores() { points_of_states(states) } else { BTreeMap::new() },
            adapter,
            hashes_added: OnceCell::new(),
            limits: limits(config, config.platform.of(platform)),
            key: config.platform.of(platform).key.clone(),
            identity: identity(platform, config),
        })
    }

    /// A request as any visitor makes it, to check a proxy with: for the stores around `point`. None when
    /// neither a hash nor a document is shipped for it.
    pub fn probe(&self, point: &DiscoveryPoint) -> Result<Option<(Query, Request)>, FetchError> {
        let query = self.adapter.discovery_query(point)?;
        Ok(visitor_request(self.adapter.as_ref(), &query).map(|request| (query, request)))
    }
}

/// The query as any visitor sends it: by the newest shipped hash, otherwise whole. None when neither is shipped for it.
pub fn visitor_request(adapter: &dyn Adapter, query: &Query) -> Option<Request> {
    let by_hash = || {
        let persisted = adapter.persisted()?;
        let known = persisted.shipped_hashes().iter().find(|known| known.operation == query.operation)?;
        Some(persisted.request_by_hash(query, &known.hash))
    };
    by_hash().or_else(|| adapter.request(query))
}

fn identity(platform: Platform, config: &Config) -> Result<IdentityKind, FetchError> {
    let settings = config.platform.of(platform);
    let not_allowed = |reason| Err(FetchError::NotAllowed { what: platform.to_string(), reason });
    if !settings.enabled {
        return not_allowed(format!("platform.{platform}.enabled is false; set it to true to crawl its stores"));
    }
    if !settings.has_own_identity() {
        return Ok(IdentityKind::Browser);
    }
    if config.http.own_contact.is_empty() {
        return not_allowed("it is asked under drover's own name, and http.own_contact is not set".to_owned());
    }
    Ok(IdentityKind::Own)
}

fn limits(config: &Config, settings: &PlatformSettings) -> CrawlLimits {
    let max_pages = match (settings.per_page, settings.max_pages) {
        // where a page has no size, one answer is the whole menu
        (0, _) => 1,
        (_, 0) => config.http.max_pages,
        (_, own) => own,
    };
    CrawlLimits { max_pages: max_pages as usize, min_coverage: settings.min_coverage }
}

/// The adapter of a platform, with its settings and data.
pub fn adapter(platform: Platform, config: &Config) -> AdapterResult {
    let data = config.overlays.platforms.of(platform).as_ref().map(|file| file.text.as_str());
    (definition(platform).adapter)(config.platform.of(platform), data)
}

/// The points of states.toml, for platforms that find stores around a point: the written ones, otherwise a
/// grid.
fn points_of_states(states: &States) -> BTreeMap<String, Vec<DiscoveryPoint>> {
    let points = states.iter().map(|(code, state)| {
        let written: Vec<DiscoveryPoint> = state.points.iter().map(DiscoveryPoint::from).collect();
        let grid = || state.bounds.as_ref().map(grid::over).unwrap_or_default();
        (code.to_owned(), if written.is_empty() { grid() } else { written })
    });
    points.filter(|(_, points)| !points.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::of_dutchie("platform.dutchie.min_coverage", [0.5, 0.995])]
    #[case::of_dutchie_plus("platform.dutchie_plus.min_coverage", [0.995, 0.5])]
    fn each_platform_has_a_coverage_of_its_own(#[case] setting: &'static str, #[case] expected: [f64; 2]) {
        let config = Config::with(&[(setting, "0.5")]).unwrap();
        let registry = PlatformRegistry::new(&config, &States::load(None).unwrap()).unwrap();
        let of = |platform| registry.get(platform).limits.min_coverage;
        assert_eq!([of(Platform::Dutchie), of(Platform::DutchiePlus)], expected);
    }

    #[rstest]
    #[case::its_own("7", 7)]
    #[case::that_of_all("0", 33)]
    fn a_platform_may_have_a_maximum_of_pages_of_its_own(#[case] own: &'static str, #[case] expected: usize) {
        let config = Config::with(&[("platform.jane.max_pages", own), ("http.max_pages", "33")]).unwrap();
        let registry = PlatformRegistry::new(&config, &States::load(None).unwrap()).unwrap();
        let of = |platform| registry.get(platform).limits.max_pages;
        let of_all = [of(Platform::Jane), of(Platform::Dutchie), of(Platform::DutchiePlus)];
        assert_eq!(of_all, [expected, 33, 1]);
    }

    const ON: (&str, &str) = ("platform.weedmaps.enabled", "true");
    const CONTACT: (&str, &str) = ("http.own_contact", "https://copperfern.example/crawler");

    #[rstest]
    #[case::as_a_browser(Platform::Dutchie, &[], Ok(IdentityKind::Browser))]
    #[case::switched_off(Platform::Dutchie, &[("platform.dutchie.enabled", "false")], Err("platform.dutchie.enabled is false"))]
    #[case::switched_off_as_shipped(Platform::Weedmaps, &[CONTACT], Err("platform.weedmaps.enabled is false"))]
    #[case::without_a_contact(Platform::Weedmaps, &[ON], Err("http.own_contact is not set"))]
    #[case::under_its_own_name(Platform::Weedmaps, &[ON, CONTACT], Ok(IdentityKind::Own))]
    #[case::as_a_browser_by_choice(Platform::Weedmaps, &[ON, ("platform.weedmaps.identity", "browser")], Ok(IdentityKind::Browser))]
    fn a_platform_is_asked_as_its_settings_say_or_not_at_all(
        #[case] platform: Platform,
        #[case] set: &[(&'static str, &str)],
        #[case] expected: Result<IdentityKind, &str>,
    ) {
        let registry = PlatformRegistry::new(&Config::with(set).unwrap(), &States::load(None).unwrap()).unwrap();
        let entry = registry.get(platform);
        match (entry.identity(), expected) {
            (Err(error), Err(reason)) => assert!(error.to_string().contains(reason), "{error}"),
            (identity, expected) => assert_eq!(identity.ok(), expected.ok()),
        }
        let host = entry.adapter.api_hosts().remove(0);
        assert_eq!(registry.api_hosts().any(|known| known == host), expected.is_ok());
    }
}
