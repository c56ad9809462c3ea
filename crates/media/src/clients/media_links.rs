//! Links of a post to media.
//!
//! In: the element of the post, and the places where its software has links. Out: whole addresses, in their
//! order. It must not know which forum it is.

use scraper::ElementRef;
use url::Url;

use super::selectors::Part;
use domain::forum::MediaLink;
use domain::media_item::ItemKind;

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
    base.join(link).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
}
