//! `Registry`: the platforms that this program crawls, each with what a process must know of it.
//!
//! In: the configuration and the platforms' data files. Out: an entry for each [`Platform`]; a platform without an entry does not compile.

use std::sync::Arc;

use tokio::sync::OnceCell;

use super::dutchie::{BadBaseUrl, DutchieData};
use super::{Adapter, CrawlLimits, DiscoveryPoint, Dutchie, Query, QueryForm};
use crate::config::Config;
use crate::domain::query_hash::QueryHash;
use crate::domain::store::Platform;
use crate::stealth::{FetchError, Request};

pub struct Registry {
    dutchie: PlatformEntry,
}

pub struct PlatformEntry {
    pub adapter: Arc<dyn Adapter>,
    /// The hashes of the platform's data file, newest first.
    pub shipped_hashes: Vec<QueryHash>,
    /// Set once this process has added the shipped hashes that the table lacks.
    pub hashes_added: OnceCell<()>,
    pub limits: CrawlLimits,
}

impl Registry {
    /// Fails when the configured base address is not one of a web server.
    pub fn new(config: &Config, dutchie: DutchieData) -> Result<Registry, BadBaseUrl> {
        let settings = &config.platform.dutchie;
        Ok(Registry {
            dutchie: PlatformEntry {
                shipped_hashes: dutchie.hashes().to_vec(),
                adapter: Arc::new(Dutchie::new(settings, dutchie)?),
                hashes_added: OnceCell::new(),
                limits: CrawlLimits { max_pages: config.http.max_pages as usize, min_coverage: settings.min_coverage },
            },
        })
    }

    pub fn get(&self, platform: Platform) -> &PlatformEntry {
        match platform {
            Platform::Dutchie => &self.dutchie,
        }
    }
}

impl PlatformEntry {
    /// A request as any visitor makes it, to check a proxy with: for the stores around `point`. None when neither a hash nor a
    /// document is shipped for it.
    pub fn probe(&self, point: &DiscoveryPoint) -> Result<Option<(Query, Request)>, FetchError> {
        let query = self.adapter.discovery_query(point)?;
        let hash = self.shipped_hashes.iter().find(|known| known.operation == query.operation);
        let form = hash.map_or(QueryForm::FullText, |known| QueryForm::Persisted(&known.hash));
        Ok(self.adapter.request(&query, form).map(|request| (query, request)))
    }
}
