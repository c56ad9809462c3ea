//! `ImageSites`: the hosts that images may be on, and the pages that show them.
//!
//! In: the hosts and the page of each platform. Out: the page from which a browser would ask for an image. It must not know the
//! platforms.

use std::sync::Arc;

use url::Url;

use crate::stealth::AllowList;

#[derive(Clone, Debug)]
pub struct ImageSites {
    sites: Arc<[Site]>,
}

#[derive(Debug)]
struct Site {
    hosts: Vec<String>,
    allowed: AllowList,
    /// Origin of the pages.
    page: Url,
}

impl ImageSites {
    /// Sites of the platforms: the hosts of images, and the origin of the pages that show them.
    pub fn new(sites: impl IntoIterator<Item = (Vec<String>, Url)>) -> ImageSites {
        let site = |(hosts, page): (Vec<String>, Url)| Site { allowed: AllowList::new(hosts.clone()), hosts, page };
        ImageSites { sites: sites.into_iter().map(site).collect() }
    }

    pub fn hosts(&self) -> Vec<String> {
        self.sites.iter().flat_map(|site| &site.hosts).cloned().collect()
    }

    /// The page from which a browser would ask for the image; none when it is on none of the hosts.
    pub fn page_of(&self, image: &Url) -> Option<&Url> {
        self.sites.iter().find(|site| site.allowed.check(image).is_ok()).map(|site| &site.page)
    }
}
