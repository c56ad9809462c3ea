//! Addresses of menus as people type them, and the sites on which a platform has menus.

use url::Url;

use domain::store::Platform;

/// An http or https address, which may lack its scheme.
pub fn parse(text: &str) -> Option<Url> {
    let text = text.trim();
    let has_scheme = text.split_once("://").is_some_and(|(scheme, _)| !scheme.contains(['/', '?', '#']));
    let url = if has_scheme { Url::parse(text) } else { Url::parse(&format!("https://{text}")) }.ok()?;
    matches!(url.scheme(), "http" | "https").then_some(url)
}

/// Whether a part of a path may name a store: a slug or an id.
pub fn is_name(name: &str) -> bool {
    (1..=200).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
        && name.bytes().any(|byte| byte.is_ascii_alphanumeric())
}

/// Why a store of the platform cannot have this menu URL, if it cannot: it is on none of `sites`, each of which has
/// subdomains of its own.
pub fn fault(platform: Platform, menu_url: &str, sites: impl IntoIterator<Item = String>) -> Option<String> {
    let host = host_of(menu_url)?;
    let mut known: Vec<String> = sites.into_iter().collect();
    known.dedup();
    (!known.iter().any(|site| is_within(&host, site))).then(|| {
        format!(
            "menu_url {menu_url} is on {host}, which {platform} does not know (it knows {}): name another platform, or \
             give the store's slug or its platform_dispensary_id instead (--platform NAME, --slug SLUG, --platform-id ID)",
            known.join(", ")
        )
    })
}

/// Whether the host is the site or one of its subdomains.
pub fn is_within(host: &str, site: &str) -> bool {
    host.strip_suffix(site).is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

pub fn host_of(url: &str) -> Option<String> {
    Url::parse(url).ok()?.host_str().map(str::to_owned)
}
