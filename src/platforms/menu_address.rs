//! Addresses of menus as people type them.

use url::Url;

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
