//! `MenuUrl`: the addresses under which people know a menu of Jane. The number in them is the store's id.

use url::Url;

use crate::platforms::menu_address;

/// A store as its menu's address names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MenuUrl {
    pub id: String,
    pub slug: Option<String>,
}

/// The platform's own site; its subdomains belong to it.
const SITE: &str = "iheartjane.com";
const EXAMPLE: &str = "https://www.iheartjane.com/stores/5876/copper-fern/menu";

impl MenuUrl {
    /// None when it is not an address of a menu: `/stores/5876/copper-fern/menu`, `/embed/stores/5876`, `/v1/stores/5876/embed.js`.
    pub fn parse(text: &str) -> Option<MenuUrl> {
        let url: Url = menu_address::parse(text)?;
        let parts: Vec<&str> = url.path_segments()?.filter(|part| !part.is_empty()).collect();
        let parts = match parts.as_slice() {
            ["stores", parts @ ..] | ["embed" | "v1", "stores", parts @ ..] => parts,
            _ => return None,
        };
        let id = parts.first().filter(|id| is_id(id))?;
        let slug = parts.get(1).filter(|slug| menu_address::is_name(slug) && !matches!(**slug, "menu" | "embed.js"));
        Some(MenuUrl { id: (*id).to_owned(), slug: slug.map(|slug| (*slug).to_owned()) })
    }
}

/// The store's number in the address of its menu, the same in all forms of the address.
pub fn key(menu_url: &str) -> Option<String> {
    MenuUrl::parse(menu_url).map(|menu| menu.id)
}

/// Why a store cannot have this menu URL, if it cannot. A shop's own site has the number in its pages alone.
pub fn fault(menu_url: &str, page_url: &str) -> Option<String> {
    let host_of = |text: &str| menu_address::parse(text).and_then(|url| url.host_str().map(str::to_owned));
    let host = host_of(menu_url).unwrap_or_default();
    let is_known = menu_address::is_within(&host, SITE) || host_of(page_url).is_some_and(|own| own == host);
    let is_good = is_known && MenuUrl::parse(menu_url).is_some();
    (!is_good).then(|| {
        format!(
            "menu_url {menu_url} names no store of jane: an address such as {EXAMPLE} has its number; or give the number as its \
             platform_dispensary_id instead (--platform-id ID)"
        )
    })
}

/// Whether it may be a store's number, which stands in filters of the index as it is.
pub fn is_id(text: &str) -> bool {
    (1..=12).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::a_menu("https://www.iheartjane.com/stores/5876/copper-fern/menu", Some(("5876", Some("copper-fern"))))]
    #[case::of_a_product("https://www.iheartjane.com/stores/5876/copper-fern/menu?product_id=1", Some(("5876", Some("copper-fern"))))]
    #[case::without_a_slug("iheartjane.com/stores/5876/menu", Some(("5876", None)))]
    #[case::embedded("https://www.iheartjane.com/embed/stores/5876/menu/flower", Some(("5876", None)))]
    #[case::the_script("https://api.iheartjane.com/v1/stores/5876/embed.js", Some(("5876", None)))]
    #[case::no_number("https://www.iheartjane.com/stores/copper-fern", None)]
    #[case::another_page("https://www.iheartjane.com/products/5876", None)]
    #[case::a_filter("https://www.iheartjane.com/stores/1%20OR%202/menu", None)]
    #[case::another_scheme("ftp://iheartjane.com/stores/5876", None)]
    fn an_address_names_its_store(#[case] address: &str, #[case] expected: Option<(&str, Option<&str>)>) {
        let found = MenuUrl::parse(address);
        assert_eq!(found.as_ref().map(|menu| (menu.id.as_str(), menu.slug.as_deref())), expected);
        assert_eq!(key(address).as_deref(), expected.map(|(id, _)| id));
    }

    #[rstest]
    #[case::its_site("https://www.iheartjane.com/stores/5876", true)]
    #[case::a_staging_site("http://127.0.0.1:9000/stores/5876", true)]
    #[case::a_shops_own_site("https://shop.copperfern.example/stores/5876", false)]
    #[case::alike("https://notiheartjane.com/stores/5876", false)]
    #[case::without_a_number("https://www.iheartjane.com/stores/copper-fern", false)]
    fn a_menu_url_is_on_the_platforms_site_and_has_a_number(#[case] menu_url: &str, #[case] is_good: bool) {
        assert_eq!(fault(menu_url, "http://127.0.0.1:9000").is_none(), is_good);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*") {
            let _ = (MenuUrl::parse(&text), fault(&text, &text));
        }
    }
}
