//! `MenuUrl`: the addresses under which people know a menu, on dutchie.com or on a store's own host.

use url::Url;

use crate::platforms::menu_address;
use crate::platforms::menu_address::host_of;
use domain::store::Platform;

/// A menu's address and its name of the store: a slug, which may be a vanity one, or an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MenuUrl {
    pub url: Url,
    pub name_or_id: String,
}

/// The platform's own site; its subdomains belong to it.
const SITE: &str = "dutchie.com";

/// The words before a store's name in a path.
const PATH_PREFIXES: [&str; 3] = ["dispensary", "embedded-menu", "stores"];

impl MenuUrl {
    /// None when it is not an address of a menu.
    pub fn parse(text: &str) -> Option<MenuUrl> {
        let url = menu_address::parse(text)?;
        let mut parts = url.path_segments()?.filter(|part| !part.is_empty());
        let kind = parts.next().filter(|kind| PATH_PREFIXES.contains(kind))?;
        let name = parts.next()?;
        let name = if kind == "embedded-menu" { name.strip_suffix(".js").unwrap_or(name) } else { name };
        menu_address::is_name(name).then(|| MenuUrl { name_or_id: name.to_owned(), url: url.clone() })
    }
}

/// The store's name in the address.
pub fn key(menu_url: &str) -> Option<String> {
    MenuUrl::parse(menu_url).map(|menu| menu.name_or_id)
}

/// Why a store cannot have this menu URL, if it cannot. The name in it is one of the platform's only on the
/// platform's site, on the site of `base_url`, or on the host of the store's own API.
pub fn fault(menu_url: &str, base_url: &str, api_host: Option<&str>) -> Option<String> {
    let own = api_host.and_then(|host| host_of(&format!("https://{host}")));
    let sites = [Some(SITE.to_owned()), host_of(base_url), own];
    menu_address::fault(Platform::Dutchie, menu_url, sites.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::the_vector("https://dutchie.com/embedded-menu/deeply-rooted", "deeply-rooted")]
    #[case::dispensary("https://dutchie.com/dispensary/deeply-rooted", "deeply-rooted")]
    #[case::further_in("https://dutchie.com/dispensary/deeply-rooted/products/flower", "deeply-rooted")]
    #[case::embedded_further_in("https://dutchie.com/embedded-menu/deeply-rooted/menu", "deeply-rooted")]
    #[case::by_id("https://dutchie.com/embedded-menu/6405ef617056e8014d79101b", "6405ef617056e8014d79101b")]
    #[case::the_script("https://dutchie.com/embedded-menu/6405ef617056e8014d79101b.js", "6405ef617056e8014d79101b")]
    #[case::stores("https://dutchie.com/stores/deeply-rooted", "deeply-rooted")]
    #[case::www("https://www.dutchie.com/stores/deeply-rooted", "deeply-rooted")]
    #[case::own_host("https://shop.deeplyrooted.example/stores/deeply-rooted", "deeply-rooted")]
    #[case::query("https://dutchie.com/dispensary/deeply-rooted?utm=1&x=/stores/other", "deeply-rooted")]
    #[case::fragment("https://dutchie.com/dispensary/deeply-rooted#menu", "deeply-rooted")]
    #[case::trailing_slashes("https://dutchie.com/dispensary/deeply-rooted//", "deeply-rooted")]
    #[case::plain_http("http://dutchie.com/dispensary/deeply-rooted", "deeply-rooted")]
    #[case::no_scheme("dutchie.com/dispensary/deeply-rooted", "deeply-rooted")]
    #[case::no_scheme_and_an_address_in_the_query(
        "dutchie.com/dispensary/deeply-rooted?ref=https://x",
        "deeply-rooted"
    )]
    #[case::blanks("  https://dutchie.com/dispensary/deeply-rooted ", "deeply-rooted")]
    #[case::with_a_port("http://127.0.0.1:8080/stores/a1", "a1")]
    fn an_address_names_its_store(#[case] address: &str, #[case] name_or_id: &str) {
        assert_eq!(MenuUrl::parse(address).map(|menu| menu.name_or_id).as_deref(), Some(name_or_id));
    }

    #[rstest]
    #[case::front_page("https://dutchie.com/")]
    #[case::no_name("https://dutchie.com/dispensary/")]
    #[case::another_page("https://dutchie.com/about/team")]
    #[case::only_the_script_suffix("https://dutchie.com/embedded-menu/.js")]
    #[case::another_scheme("ftp://dutchie.com/dispensary/a")]
    #[case::script("javascript:alert(1)")]
    #[case::not_a_slug("https://dutchie.com/dispensary/a%20b")]
    #[case::dots("https://dutchie.com/dispensary/...")]
    #[case::empty("")]
    fn other_addresses_are_refused(#[case] address: &str) {
        assert_eq!(MenuUrl::parse(address), None);
    }

    #[rstest]
    #[case::its_site("https://dutchie.com/stores/a", None, true)]
    #[case::a_subdomain("https://www.DUTCHIE.com/stores/a", None, true)]
    #[case::a_staging_site("http://127.0.0.1:8080/stores/a", None, true)]
    #[case::the_stores_own("https://menu.example.com/stores/a", Some("menu.example.com:8443"), true)]
    #[case::foreign("https://shop.example.com/stores/a", Some("menu.example.com"), false)]
    #[case::alike("https://notdutchie.com/stores/a", None, false)]
    #[case::as_a_part("https://dutchie.com.example/stores/a", None, false)]
    fn a_menu_url_is_on_a_host_that_the_platform_knows(
        #[case] menu_url: &str,
        #[case] api_host: Option<&str>,
        #[case] is_known: bool,
    ) {
        assert_eq!(fault(menu_url, "http://127.0.0.1:9000", api_host).is_none(), is_known);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*") {
            let _ = MenuUrl::parse(&text);
        }
    }
}
