//! The addresses under which people know a menu: on weedmaps.com, or on a host of wm.store.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString};
use url::Url;

use crate::platforms::menu_address;
use domain::store::Platform;

/// A listing: the platform has storefronts and couriers, and both may have the same slug.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing {
    pub kind: ListingKind,
    pub slug: String,
}

/// Kind of a listing, by the word in its addresses.
#[derive(Clone, Copy, Debug, Display, EnumString, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum ListingKind {
    Dispensaries,
    Deliveries,
}

/// Sites of the platform; their subdomains belong to them.
const SITE: &str = "weedmaps.com";
const SHOPS_SITE: &str = "wm.store";

impl Listing {
    /// The listing in the address of a menu; none when it is no such address.
    pub fn of_url(text: &str) -> Option<Listing> {
        let url = menu_address::parse(text)?;
        on_a_page(&url).or_else(|| on_a_host(&url)).filter(|listing| menu_address::is_name(&listing.slug))
    }

    pub fn is_courier(&self) -> bool {
        self.kind == ListingKind::Deliveries
    }

    /// `dispensaries/copper-fern`, as in addresses.
    pub fn path(&self) -> String {
        format!("{}/{}", self.kind, self.slug)
    }
}

fn on_a_page(url: &Url) -> Option<Listing> {
    let mut parts = url.path_segments()?.filter(|part| !part.is_empty());
    let kind = parts.next()?.parse().ok()?;
    Some(Listing { kind, slug: parts.next()?.to_owned() })
}

/// `copper-fern.wm.store`: such a shop is a storefront.
fn on_a_host(url: &Url) -> Option<Listing> {
    let slug = url.host_str()?.strip_suffix(SHOPS_SITE)?.strip_suffix('.')?;
    let is_shop = !slug.contains('.') && slug != "www";
    is_shop.then(|| Listing { kind: ListingKind::Dispensaries, slug: slug.to_owned() })
}

/// The store's name in the address of its menu: its slug, and for a courier its kind, too.
pub fn key(menu_url: &str) -> Option<String> {
    let listing = Listing::of_url(menu_url)?;
    Some(if listing.is_courier() { listing.path() } else { listing.slug })
}

/// Why a store cannot have this menu URL, if it cannot. `page_url`: the configured site of its pages.
pub fn fault(menu_url: &str, page_url: &str) -> Option<String> {
    let own = menu_address::host_of(page_url).filter(|host| host != SITE);
    let sites = [SITE, SHOPS_SITE].map(str::to_owned).into_iter().chain(own);
    menu_address::fault(Platform::Weedmaps, menu_url, sites)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::a_storefront("https://weedmaps.com/dispensaries/copper-fern", Some("dispensaries/copper-fern"))]
    #[case::its_menu(
        "https://weedmaps.com/dispensaries/copper-fern/menu/flower?x=1#y",
        Some("dispensaries/copper-fern")
    )]
    #[case::a_courier("weedmaps.com/deliveries/copper-fern/", Some("deliveries/copper-fern"))]
    #[case::a_shop("https://copper-fern.wm.store/products", Some("dispensaries/copper-fern"))]
    #[case::a_staging_site("http://127.0.0.1:8080/deliveries/copper-fern", Some("deliveries/copper-fern"))]
    #[case::the_shops_site("https://wm.store/", None)]
    #[case::the_front_of_the_shops_site("https://www.wm.store/", None)]
    #[case::further_below("https://a.b.wm.store/", None)]
    #[case::alike("https://notwm.store/", None)]
    #[case::a_brand("https://weedmaps.com/brands/tin-lantern", None)]
    #[case::no_slug("https://weedmaps.com/dispensaries/", None)]
    #[case::not_a_slug("https://weedmaps.com/dispensaries/a%20b", None)]
    #[case::dots("https://weedmaps.com/dispensaries/...", None)]
    fn an_address_names_its_listing(#[case] address: &str, #[case] expected: Option<&str>) {
        assert_eq!(Listing::of_url(address).map(|listing| listing.path()).as_deref(), expected);
        let name = expected.map(|path| path.strip_prefix("dispensaries/").unwrap_or(path));
        assert_eq!(key(address).as_deref(), name, "a storefront and a courier of one slug are two stores");
    }

    #[rstest]
    #[case::its_site("https://weedmaps.com/dispensaries/a", true)]
    #[case::a_subdomain("https://www.weedmaps.com/dispensaries/a", true)]
    #[case::a_shop("https://a.wm.store/", true)]
    #[case::the_configured_site("http://127.0.0.1:8080/dispensaries/a", true)]
    #[case::foreign("https://copperfern.example/dispensaries/a", false)]
    #[case::alike("https://notweedmaps.com/dispensaries/a", false)]
    fn a_menu_url_is_on_a_site_that_the_platform_knows(#[case] menu_url: &str, #[case] is_known: bool) {
        assert_eq!(fault(menu_url, "http://127.0.0.1:9000").is_none(), is_known);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*") {
            let _ = Listing::of_url(&text);
        }
    }
}
