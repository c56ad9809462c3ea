//! `Store`: a shop whose menu is watched.

pub mod group;
pub mod menu_urls;
pub mod per_platform;
pub mod place;
pub mod quality;
pub mod state_code;
pub mod us_states;

use serde::{Deserialize, Serialize};
use strum::{Display, IntoStaticStr, VariantArray};

use super::platform_list::for_each_platform;
use super::vocabulary::{from_text, vocabulary};

pub type StoreId = i64;

macro_rules! platform {
    ($($variant:ident = $folder:ident,)+) => {
        vocabulary! {
            /// A menu platform that has an adapter.
            pub enum Platform {
                $($variant,)+
            }
        }
    };
}

for_each_platform!(platform);

/// Number of crawls in a row without a product after which a person has to look (in SQL: v_store_statuses).
pub const EMPTY_MENUS: i64 = 3;

vocabulary! {
    /// The state of a store's crawls: the first that applies.
    pub enum StoreStatus {
        /// Its id at the platform is not known yet, so its menu cannot be asked for.
        NeedsMenuId,
        /// Its task waits for a host that takes no requests now.
        Held,
        /// [`EMPTY_MENUS`] crawls in a row found no product, and no operator has accepted it.
        EmptyMenu,
        /// No complete crawl has ended yet.
        NeverCrawled,
        /// Its last complete crawl is older than its interval by more than a quarter.
        Late,
        /// All is well.
        Fresh,
    }
}

impl Platform {
    /// The platform of a request that names none.
    pub const DEFAULT: Platform = Platform::VARIANTS[0];
}

from_text! { Platform: UnknownPlatform, "platform", "platforms" }

/// A store as a crawl needs it. The rest of the row is shown, not used.
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

/// A store to be added, by hand or from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewStore {
    pub name: String,
    pub platform: Platform,
    pub platform_dispensary_id: Option<String>,
    pub slug: Option<String>,
    pub menu_url: Option<String>,
    pub api_host: Option<String>,
    pub api_path: Option<String>,
    pub city: Option<String>,
    pub state: Option<String>,
    pub timezone: Option<String>,
    /// Names without semicolons.
    pub groups: Vec<String>,
}

/// A store as discovery saw it. Where it has no rejection reason, it is promoted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// Numbers of its licences.
    pub licences: Vec<String>,
    /// Its own site, not its menu.
    pub website: Option<String>,
    pub email: Option<String>,
    pub status: Option<String>,
    /// None = it may be promoted.
    pub rejection_reason: Option<RejectionReason>,
}

/// Why a found store must not be promoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Display, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum RejectionReason {
    NoName,
    /// A sandbox, demo or test.
    NotAStore,
    NotOpen,
    /// The platform's word for its state is missing, or none that is known. A known store keeps its last known state.
    UnknownStatus,
    NoUsState,
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::known_and_enabled(true, Some("s1"), true)]
    #[case::switched_off(false, Some("s1"), false)]
    #[case::not_known_to_its_platform(true, None, false)]
    fn a_store_is_crawled_when_it_is_enabled_and_known(
        #[case] crawl_enabled: bool,
        #[case] platform_id: Option<&str>,
        #[case] is_crawlable: bool,
    ) {
        let store = Store {
            id: 1,
            name: "Garden".to_owned(),
            platform: Platform::DEFAULT,
            platform_dispensary_id: platform_id.map(str::to_owned),
            slug: None,
            menu_url: None,
            api_host: None,
            api_path: None,
            state: None,
            timezone: None,
            crawl_enabled,
        };
        assert_eq!(store.is_crawlable(), is_crawlable);
    }
}
