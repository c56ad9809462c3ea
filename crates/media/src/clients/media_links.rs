//! Links of a post to media.
//!
//! In: the element of the post, and the places where its software has links. Out: whole addresses, in their
//! order. It must not know which forum it is.

use scraper::ElementRef;
use url::Url;

use super::selectors::Part;
use domain::media::forum::MediaLink;
use domain::media::item::ItemKind;

/// Maximum bytes of an address.
const MAX_URL: usize = 4_000;
/// Maximum number of links of a post that are kept.
const MAX_LINKS: usize = 200;

/// The links at these places of a post, each once. Links that are not of the web are left out.
pub fn links(element: ElementRef<'_>, base: &Url, places: &[Part]) -> Vec<MediaLink> {
    let mut links: Vec<MediaLink> = Vec::new();
    for place in places {
        for found in place.elements(element) {
            let kind = if found.value().name() == "iframe" { ItemKind::Page } else { ItemKind::File };
            let urls = place.value(found).and_then(|link| web_address(base, &link));
            let Some(url) = urls.filter(|url| !links.iter().any(|known| known.url == *url)) else { continue };
            if links.len() == MAX_LINKS {
                return links;
            }
            links.push(MediaLink { url, kind });
        }
    }
    links
}

pub(super) fn web_address(base: &Url, link: &str) -> Option<Url> {
    let url = base.join(link).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    url.map(without_session).filter(|url| url.as_str().len() <= MAX_URL)
}

/// phpBB gives each guest an id, and writes it into all links of a page: two readings would have two addresses.
fn without_session(mut url: Url) -> Url {
    let is_session =
        |name: &str, id: &str| name == "sid" && id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !url.query_pairs().any(|(name, id)| is_session(&name, &id)) {
        return url;
    }
    let kept: Vec<(String, String)> = url
        .query_pairs()
        .filter(|(name, id)| !is_session(name, id))
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    url.set_query(None);
    if !kept.is_empty() {
        url.query_pairs_mut().extend_pairs(kept);
    }
    url
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::a_session("./file.php?id=9&sid=0123456789abcdef0123456789abcdef", Some("https://f.example/file.php?id=9"))]
    #[case::a_session_alone("/x?sid=0123456789abcdef0123456789abcdef", Some("https://f.example/x"))]
    #[case::another_sid("/x?sid=7", Some("https://f.example/x?sid=7"))]
    #[case::no_address_of_the_web("javascript:alert(1)", None)]
    fn a_link_is_the_same_in_every_reading(#[case] link: &str, #[case] address: Option<&str>) {
        let base = "https://f.example/".parse().unwrap();
        assert_eq!(web_address(&base, link).as_ref().map(Url::as_str), address);
    }

    #[test]
    fn an_address_without_an_end_is_left_out() {
        assert_eq!(web_address(&"https://f.example/".parse().unwrap(), &"a".repeat(MAX_URL)), None);
    }
}
