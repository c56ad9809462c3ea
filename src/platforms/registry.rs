//! `PlatformRegistry`: the platforms that this program crawls, each with its adapter, data and limits.
//!
//! In: the configuration and the data files. Out: an entry for each [`Platform`]; a platform without an entry
//! does not compile.

use std::collections::BTreeMap;
use std::sync::Arc;

use strum::VariantArray;
use thiserror::Error;
use tokio::sync::OnceCell;

use super::dutchie::{BadBaseUrl, DutchieData};
use super::dutchie_plus::DutchiePlusData;
use super::{Adapter, CrawlLimits, DiscoveryPoint, Dutchie, DutchiePlus, Query, QueryForm, grid};
use crate::stealth::{FetchError, Request, States};
use domain::query_hash::QueryHash;
use domain::store::Platform;
use settings::Config;

/// The data files of the platforms, one field each.
pub struct PlatformData {
    pub dutchie: DutchieData,
    pub dutchie_plus: DutchiePlusData,
}

pub struct PlatformRegistry {
    dutchie: PlatformEntry,
    dutchie_plus: PlatformEntry,
}

pub struct PlatformEntry {
    pub adapter: Arc<dyn Adapter>,
    /// Hosts of its API, beside the hosts that stores' rows name.
    pub api_hosts: Vec<String>,
    /// Points at which to look for its stores, by state. Each state has one at least.
    pub discovery_points: BTreeMap<String, Vec<DiscoveryPoint>>,
    /// The hashes of the platform's data file, newest first.
    pub shipped_hashes: Vec<QueryHash>,
    /// Cell that is set once this process has added the shipped hashes that the table lacks.
    pub hashes_added: OnceCell<()>,
    pub limits: CrawlLimits,
}

/// A platform's configuration that the adapter does not take.
#[derive(Debug, Error)]
pub enum BadPlatform {
    #[error("platform.dutchie.base_url: {0}")]
    Dutchie(BadBaseUrl),
    #[error("platform.dutchie_plus.base_url: {0}")]
    DutchiePlus(url::ParseError),
}

impl PlatformRegistry {
    /// Fails when a configured base address is not one of a web server.
    pub fn new(config: &Config, data: PlatformData, states: &States) -> Result<PlatformRegistry, BadPlatform> {
        Ok(PlatformRegistry {
            dutchie: dutchie(config, data.dutchie, states).map_err(BadPlatform::Dutchie)?,
            dutchie_plus: dutchie_plus(config, data.dutchie_plus).map_err(BadPlatform::DutchiePlus)?,
        })
    }

    /// API hosts of all platforms.
    pub fn api_hosts(&self) -> impl Iterator<Item = &String> {
        Platform::VARIANTS.iter().flat_map(|platform| &self.get(*platform).api_hosts)
    }

    pub fn get(&self, platform: Platform) -> &PlatformEntry {
        match platform {
            Platform::Dutchie => &self.dutchie,
            Platform::DutchiePlus => &self.dutchie_plus,
        }
    }
}

impl PlatformEntry {
    /// A request as any visitor makes it, to check a proxy with: for the stores around `point`. None when
    /// neither a hash nor a document is shipped for it.
    pub fn probe(&self, point: &DiscoveryPoint) -> Result<Option<(Query, Request)>, FetchError> {
        let query = self.adapter.discovery_query(point)?;
        let hash = self.shipped_hashes.iter().find(|known| known.operation == query.operation);
        let form = hash.map_or(QueryForm::FullText, |known| QueryForm::Persisted(&known.hash));
        Ok(self.adapter.request(&query, form).map(|request| (query, request)))
    }
}

fn dutchie(config: &Config, data: DutchieData, states: &States) -> Result<PlatformEntry, BadBaseUrl> {
    let settings = &config.platform.dutchie;
    let shipped_hashes = data.hashes().to_vec();
    let adapter = Dutchie::new(settings, data)?;
    Ok(PlatformEntry {
        api_hosts: adapter.api_host().map(str::to_owned).into_iter().collect(),
        discovery_points: points_of_states(states),
        adapter: Arc::new(adapter),
        shipped_hashes,
        hashes_added: OnceCell::new(),
        limits: CrawlLimits { max_pages: config.http.max_pages as usize, min_coverage: settings.min_coverage },
    })
}

/// One answer is the whole menu; it need not announce a total.
fn dutchie_plus(config: &Config, data: DutchiePlusData) -> Result<PlatformEntry, url::ParseError> {
    let settings = &config.platform.dutchie_plus;
    let adapter = DutchiePlus::new(settings, data)?;
    Ok(PlatformEntry {
        api_hosts: adapter.api_host().map(str::to_owned).into_iter().collect(),
        discovery_points: BTreeMap::new(),
        adapter: Arc::new(adapter),
        shipped_hashes: Vec::new(),
        hashes_added: OnceCell::new(),
        limits: CrawlLimits { max_pages: 1, min_coverage: settings.min_coverage },
    })
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
        let (dutchie, dutchie_plus) = (DutchieData::load(None).unwrap(), DutchiePlusData::load(None).unwrap());
        let data = PlatformData { dutchie, dutchie_plus };
        let registry = PlatformRegistry::new(&config, data, &States::load(None).unwrap()).unwrap();
        let of = |platform| registry.get(platform).limits.min_coverage;
        assert_eq!([of(Platform::Dutchie), of(Platform::DutchiePlus)], expected);
    }
}
