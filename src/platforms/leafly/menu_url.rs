//! The addresses under which people know a menu: on leafly.com.

use crate::platforms::menu_address;
use domain::store::Platform;

/// The platform's own site; its subdomains belong to it.
const SITE: &str = "leafly.com";
/// The word before a store's slug in a path.
const PATH_PREFIX: &str = "dispensary-info";

/// The store's slug in the address of its menu; none when it is no such address.
pub fn key(menu_url: &str) -> Option<String> {
    let url = menu_address::parse(menu_url)?;
    let mut parts = url.path_segments()?.filter(|part| !part.is_empty());
    parts.next().filter(|word| *word == PATH_PREFIX)?;
    parts.next().filter(|slug| menu_address::is_name(slug)).map(str::to_owned)
}

/// Why a store cannot have this menu URL, if it cannot. `page_url`: the configured site of its pages.
pub fn fault(menu_url: &str, page_url: &str) -> Option<String> {
    let own = menu_address::host_of(page_url).filter(|host| !host.ends_with(SITE));
    menu_address::fault(Platform::Leafly, menu_url, [SITE.to_owned()].into_iter().chain(own))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::a_store("https://www.leafly.com/dispensary-info/copper-fern", Some("copper-fern"))]
    #[case::its_menu("leafly.com/dispensary-info/copper-fern/menu?page=1#x", Some("copper-fern"))]
    #[case::a_staging_site("http://127.0.0.1:8080/dispensary-info/copper-fern", Some("copper-fern"))]
    #[case::no_slug("https://www.leafly.com/dispensary-info/", None)]
    #[case::not_a_slug("https://www.leafly.com/dispensary-info/a%20b", None)]
    #[case::another_page("https://www.leafly.com/strains/copper-fern", None)]
    fn an_address_names_its_store(#[case] address: &str, #[case] expected: Option<&str>) {
        assert_eq!(key(address).as_deref(), expected);
    }

    #[rstest]
    #[case::its_site("https://leafly.com/dispensary-info/a", true)]
    #[case::a_subdomain("https://www.leafly.com/dispensary-info/a", true)]
    #[case::the_configured_site("http://127.0.0.1:8080/dispensary-info/a", true)]
    #[case::foreign("https://copperfern.example/dispensary-info/a", false)]
    #[case::alike("https://notleafly.com/dispensary-info/a", false)]
    fn a_menu_url_is_on_a_site_that_the_platform_knows(#[case] menu_url: &str, #[case] is_known: bool) {
        assert_eq!(fault(menu_url, "http://127.0.0.1:9000").is_none(), is_known);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*") {
            let _ = key(&text);
        }
    }
}
