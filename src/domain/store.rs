//! `Store`: a shop whose menu is watched.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub type StoreId = i64;

/// A menu platform that has an adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Platform {
    Dutchie,
}

impl Platform {
    pub const ALL: [Platform; 1] = [Platform::Dutchie];

    /// What a request means that names none.
    pub const DEFAULT: Platform = Platform::Dutchie;

    pub fn name(self) -> &'static str {
        match self {
            Platform::Dutchie => "dutchie",
        }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Debug, Error, PartialEq, Eq)]
#[error("unknown platform '{given}': the platforms are dutchie")]
pub struct UnknownPlatform {
    pub given: String,
}

impl FromStr for Platform {
    type Err = UnknownPlatform;

    fn from_str(text: &str) -> Result<Self, UnknownPlatform> {
        Platform::ALL
            .into_iter()
            .find(|platform| platform.name() == text)
            .ok_or_else(|| UnknownPlatform { given: text.to_owned() })
    }
}

/// What a crawl needs to know of a shop. The rest of the row is shown, not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    pub id: StoreId,
    pub name: String,
    pub platform: Platform,
    pub platform_dispensary_id: Option<String>,
    pub slug: Option<String>,
    pub menu_url: Option<String>,
    /// Host, and port where it is not the scheme's own, of the store's API; none = the platform's.
    pub api_host: Option<String>,
    pub api_path: Option<String>,
    pub state: Option<String>,
    pub timezone: Option<String>,
    pub crawl_enabled: bool,
}

impl Store {
    /// Crawlable = enabled and known to its platform.
    pub fn is_crawlable(&self) -> bool {
        self.crawl_enabled && self.platform_dispensary_id.is_some()
    }
}

/// A store as discovery saw it, before anyone decided whether it becomes a dispensary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundStore {
    pub platform_dispensary_id: String,
    pub name: String,
    pub slug: Option<String>,
    pub menu_url: Option<String>,
    pub api_host: Option<String>,
    pub address: Option<String>,
    pub city: Option<String>,
    pub state: Option<String>,
    pub zip: Option<String>,
    pub latitude: Option<f64>,
    pub longitude: Option<f64>,
    pub phone: Option<String>,
    pub timezone: Option<String>,
    pub is_recreational: Option<bool>,
    pub is_medical: Option<bool>,
    pub status: Option<String>,
    /// Why it must not be promoted (sandbox name, closed, no US state …); none = valid.
    pub rejection_reason: Option<String>,
}
