//! `Definition`: all that a platform is, beside its word. Each folder of `src/platforms/` has one.
//!
//! In: the platform's settings, and the text of a data file that replaces the shipped one. Out: its adapter. It must not know
//! which platforms there are.

use std::sync::Arc;

use thiserror::Error;

use super::Adapter;
use domain::menu::{NormalMenu, NormaliseError};
use domain::payload::StoredPage;
use domain::task::kind::DefaultSchedule;
use domain::task::role::Role;
use settings::PlatformSettings;

pub struct Definition {
    /// Makes the adapter. In: the settings, and the text of the data file that replaces the shipped one.
    pub adapter: fn(&PlatformSettings, Option<&str>) -> AdapterResult,
    /// Turns the answers of a whole crawl into products. CPU work.
    pub normalise: fn(&[StoredPage<'_>]) -> Result<NormalMenu, NormaliseError>,
    /// Schedules that a new installation has for it.
    pub default_schedules: &'static [(Role, DefaultSchedule)],
    /// The name or id of the store in the address of a menu; none when it is no such address.
    pub menu_key: fn(&str) -> Option<String>,
    /// Why a store cannot have this menu URL, if it cannot. In: the settings, the URL, and the host of the store's API where it has
    /// one of its own.
    pub menu_url_fault: fn(&PlatformSettings, &str, Option<&str>) -> Option<String>,
}

/// An adapter, or the fault of its settings or data.
pub type AdapterResult = Result<Arc<dyn Adapter>, BadPlatform>;

/// Settings or data that no adapter can be made of.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum BadPlatform {
    /// The address in `base_url`, with the reason.
    #[error("base_url: {0}")]
    BaseUrl(String),
    /// A fault of the data file.
    #[error("{0}")]
    Data(String),
}

/// The answers alone, of a platform whose answers say all.
pub fn bodies<'a>(pages: &[StoredPage<'a>]) -> Vec<&'a [u8]> {
    pages.iter().map(|page| page.body).collect()
}
