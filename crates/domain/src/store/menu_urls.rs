//! `MenuUrls`: the platforms' rules about the addresses of their menus.
//!
//! In: an address as a person or a platform gave it. Out: which platform and which store it names, and why a store cannot have it.
//! It must not know the platforms.

use super::Platform;

/// The name or id of a store in an address of its menu; none when it is no address of a menu of the platform.
pub type MenuKey<'a> = dyn Fn(Platform, &str) -> Option<String> + Send + Sync + 'a;

pub trait MenuUrls: Send + Sync {
    /// The same as [`MenuKey`].
    fn key(&self, platform: Platform, menu_url: &str) -> Option<String>;

    /// Why a store of the platform cannot have this menu URL, if it cannot. `api_host`: the host of the store's API where it has one of
    /// its own.
    fn fault(&self, platform: Platform, menu_url: &str, api_host: Option<&str>) -> Option<String>;

    /// The first platform that has such menus; none when it is on a site that no platform knows.
    fn platform_of(&self, menu_url: &str, api_host: Option<&str>) -> Option<Platform>;
}
