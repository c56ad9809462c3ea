//! `MenuUrl`: the addresses under which people know a menu, on dutchie.com or on a store's own host.

use url::Url;

/// A menu's address and its name of the store: a slug, which may be a vanity one, or an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MenuUrl {
    pub url: Url,
    pub name_or_id: String,
}

/// The words before a store's name in a path.
const PATH_PREFIXES: [&str; 3] = ["dispensary", "embedded-menu", "stores"];

impl MenuUrl {
    /// None when it is not an address of a menu.
    pub fn parse(text: &str) -> Option<MenuUrl> {
        let text = text.trim();
        let has_scheme = text.split_once("://").is_some_and(|(scheme, _)| !scheme.contains(['/', '?', '#']));
        let url = if has_scheme { Url::parse(text) } else { Url::parse(&format!("https://{text}")) }.ok()?;
        if !matches!(url.scheme(), "http" | "https") {
            return None;
        }
        let mut parts = url.path_segments()?.filter(|part| !part.is_empty());
        let kind = parts.next().filter(|kind| PATH_PREFIXES.contains(kind))?;
        let name = parts.next()?;
        let name = if kind == "embedded-menu" { name.strip_suffix(".js").unwrap_or(name) } else { name };
        is_name(name).then(|| MenuUrl { name_or_id: name.to_owned(), url: url.clone() })
    }
}

fn is_name(name: &str) -> bool {
    (1..=200).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
        && name.bytes().any(|byte| byte.is_ascii_alphanumeric())
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

    proptest! {
        #[test]
        fn no_text_panics(text in ".*") {
            let _ = MenuUrl::parse(&text);
        }
    }
}
