//! `PlatformSettings`: the settings of a menu platform. It has the keys that the `defaults.toml` of its folder lists; the others are
//! empty.

use serde::Deserialize;
use url::Url;

use super::Secret;
use domain::for_each_platform;

/// Words of [`PlatformSettings::identity`].
pub(crate) const IDENTITIES: [&str; 2] = ["browser", OWN_IDENTITY];
const OWN_IDENTITY: &str = "own";

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlatformSettings {
    /// Whether its stores are crawled.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// Client that it is asked as: `own` = drover itself, by the name of `[http] own_name`; otherwise a browser.
    #[serde(default)]
    pub identity: String,
    /// Scheme, host and port of the platform's API.
    pub base_url: String,
    pub api_path: String,
    /// Path at which stores are asked for, where it is another one.
    #[serde(default)]
    pub stores_path: String,
    /// Scheme, host and port at which stores are asked for, where they are not those of the API.
    #[serde(default)]
    pub stores_url: String,
    /// Scheme, host and port of the pages that people visit, where they are not those of the API.
    #[serde(default)]
    pub page_url: String,
    /// Id of the application that a hosted search serves.
    #[serde(default)]
    pub application_id: String,
    /// Products requested per page; 0 = one answer is the whole menu.
    #[serde(default)]
    pub per_page: u32,
    /// Maximum number of pages of a menu; 0 = `http.max_pages`.
    #[serde(default)]
    pub max_pages: u32,
    /// A crawl that holds less of the announced products fails.
    pub min_coverage: f64,
    /// Hosts from which images of products and brands may be downloaded.
    #[serde(default)]
    pub image_hosts: Vec<String>,
    /// Key of a platform that asks for one; empty = it is read from a page, or its stores are not crawled.
    #[serde(default)]
    pub key: Secret,
}

impl PlatformSettings {
    /// The address of the API. Errors: a text with the reason.
    pub fn parse_base_url(&self) -> Result<Url, String> {
        parse_site(&self.base_url)
    }

    /// The address of the pages. Errors: a text with the reason.
    pub fn parse_page_url(&self) -> Result<Url, String> {
        parse_site(&self.page_url)
    }

    /// The address at which stores are asked for. Errors: a text with the reason.
    pub fn parse_stores_url(&self) -> Result<Url, String> {
        parse_site(&self.stores_url)
    }

    pub fn has_own_identity(&self) -> bool {
        self.identity == OWN_IDENTITY
    }
}

/// Platforms are crawled where their `defaults.toml` does not say otherwise.
fn yes() -> bool {
    true
}

fn parse_site(text: &str) -> Result<Url, String> {
    let bad = |why: &str| format!("'{text}' is not the address of a web server: {why}");
    let url = Url::parse(text).map_err(|error| bad(&error.to_string()))?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        _ => Err(bad("it is neither http nor https")),
    }
}

macro_rules! defaults {
    ($($variant:ident = $folder:ident,)+) => {
        /// The manual and schema of all settings, with those of the platforms behind the others.
        pub(crate) const DEFAULTS: &str = concat!(
            include_str!("../../../config/default.toml"),
            $("\n", include_str!(concat!("../../../src/platforms/", stringify!($folder), "/defaults.toml")),)+
        );
    };
}

for_each_platform!(defaults);
