//! `MenuAddresses`: the addresses of menus that the platforms know with a configuration.
//!
//! In: the settings of the platforms. Out: [`MenuUrls`] for the API, the command line and discovery.

use strum::VariantArray;

use super::{definition, menu_key};
use domain::store::Platform;
use domain::store::menu_urls::MenuUrls;
use domain::store::per_platform::PerPlatform;
use settings::{Config, PlatformSettings};

#[derive(Clone, Debug)]
pub struct MenuAddresses(PerPlatform<PlatformSettings>);

impl MenuAddresses {
    pub fn of(config: &Config) -> MenuAddresses {
        MenuAddresses(config.platform.clone())
    }
}

impl MenuUrls for MenuAddresses {
    fn key(&self, platform: Platform, menu_url: &str) -> Option<String> {
        menu_key(platform, menu_url)
    }

    fn fault(&self, platform: Platform, menu_url: &str, api_host: Option<&str>) -> Option<String> {
        (definition(platform).menu_url_fault)(self.0.of(platform), menu_url, api_host)
    }

    fn platform_of(&self, menu_url: &str, api_host: Option<&str>) -> Option<Platform> {
        let has_such = |platform: &Platform| {
            self.key(*platform, menu_url).is_some() && self.fault(*platform, menu_url, api_host).is_none()
        };
        Platform::VARIANTS.iter().copied().find(has_such)
    }
}
